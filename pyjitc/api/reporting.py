"""A report of the costs of compiled code in each line of its source, as data and as a page.

It is made from the typed IR (types), from the IR after all passes (Python objects, memory, remaining checks) and from
LLVM's remarks on loops. The page is the template report.html, for jinja2 (the extra `report`).
"""
from __future__ import annotations

import ast
import importlib
import inspect
import linecache
import os
import pathlib
import re
import textwrap
from functools import cached_property
from typing import NamedTuple

from ..base.errors import CompileError
from ..codegen import link, located
from ..codegen.compile import module_text
from ..ir import core as ir
from ..ir.cfg import LoopNest
from ..ops import arith, control, memory, pyobject
from ..passes import hints
from ..passes.derivatives import tape
from ..pipeline import stages

__all__ = ["Fact", "FunctionReport", "Line", "Report", "Reports", "page", "report", "with_profile"]

# Kinds of facts, the most expensive ones first -> text for a line of this kind.
KINDS = {
    "python": "the interpreter does this, as slowly as in plain Python",
    "boxed": "a value becomes a Python object or comes out of one",
    "memory": "memory is taken from the heap",
    "loop": "whether LLVM made it work on several elements at once",
    "check": "a comparison that raises the exception of Python where it fails: it costs little, but may keep LLVM "
             "from vectorising a loop",
    "parallel": "iterations are shared out among threads",
    "derivative": "the variables through which a derivative by reverse mode goes (active), and what each loop keeps "
                  "for the way back because it cannot be computed again cheaply",
}
TEMPLATE = pathlib.Path(__file__).with_name("report.html")


class Fact(NamedTuple):
    """Something that costs time, or no longer does. kind: one of KINDS; good: whether it costs nothing."""

    kind: str
    text: str
    good: bool = False


class Line:
    """A line of source, with the types of the values that it computes and the facts about it."""

    def __init__(self, number: int, source: str):
        self.number = number
        self.source = source
        self.types: dict[str, str] = {}  # name -> its types, in the order of the code
        self.facts: dict[Fact, int] = {}  # fact -> number of occurrences
        self.share: float | None = None  # share of the time, where a profile was made

    @property
    def weight(self) -> int:
        """The shade of the line: the number of facts that cost time."""
        return min(sum(not fact.good for fact in self.facts), 4)


class FunctionReport:
    def __init__(self, name: str, filename: str, lines: list[Line]):
        self.name = name
        self.filename = filename
        self.lines = lines
        self.by_number = {line.number: line for line in lines}
        self.names = frozenset(word for line in lines for word in re.findall(r"\w+", line.source))
        self.loops = _loops(filename, lines)

    @property
    def head(self) -> int:
        """The number of the line with `def`, behind the decorators."""
        return next((line.number for line in self.lines if line.source.lstrip().startswith(("def ", "async def "))),
                    self.lines[0].number if self.lines else 0)

    @property
    def summary(self) -> dict[str, int]:
        """Kind -> number of lines with a fact of this kind that costs time, the most expensive kind first."""
        kinds = [{fact.kind for fact in line.facts if not fact.good} for line in self.lines]
        return {kind: n for kind in KINDS if (n := sum(kind in found for found in kinds))}

    def note(self, number: int, fact: Fact) -> None:
        line = self.by_number.get(number)
        if line is not None:
            line.facts[fact] = line.facts.get(fact, 0) + 1

    def loop_of(self, number: int) -> int:
        """The line of the innermost loop around a line; the line itself where there is none."""
        around = [(last - first, first) for first, last in self.loops if first <= number <= last]
        return min(around)[1] if around else number


class Report(str):
    """The text of `f.report(types)`; in a notebook, the page. functions: the reports of the function and of the
    program's functions that it calls, made at their first use."""

    title: str
    asked: tuple

    @cached_property
    def functions(self) -> list[FunctionReport]:
        try:
            return _functions(*self.asked)
        except CompileError:  # the text contains the error
            return []

    def _repr_html_(self) -> str | None:
        return _page_if_there([self])


class Reports(dict):
    """Argument types -> Report; in a notebook, one page."""

    def _repr_html_(self) -> str | None:
        return _page_if_there(list(self.values()))


def report(function, types, options) -> Report:
    """The report for one signature."""
    made = Report(stages.report(function, types, options))
    made.title = f"{function.__qualname__}({', '.join(map(str, types))})"
    made.asked = function, types, options
    return made


def _page_if_there(reports) -> str | None:
    """The page; None where jinja2 is not installed, for which a notebook shows the text."""
    try:
        return page(reports)
    except ImportError:
        return None


def with_profile(made: Report, profile) -> None:
    """Add the share of the time of each line (sampling.py)."""
    for function in made.functions:
        for line in function.lines:
            line.share = profile.lines[function.filename, line.number] / max(profile.total, 1)


def page(reports: list[Report]) -> str:
    """The page of some reports, as HTML without scripts."""
    try:
        jinja2 = importlib.import_module("jinja2")
    except ImportError:
        raise ImportError("the page of a report needs jinja2: pip install pyjitc[report]") from None
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(TEMPLATE.read_text()).render(reports=reports, kinds=KINDS, basename=os.path.basename)


# ---------------------------------------------------------------- collecting


def _functions(function, types, options) -> list[FunctionReport]:
    typed = stages.infer(function, types, options)
    own = [fn for fn in typed.functions if not fn.library]
    found: dict[tuple[str, int], FunctionReport] = {}  # a derivative has the source of its function
    for fn in own:
        key = fn.filename, fn.firstlineno
        if key not in found:
            found[key] = FunctionReport(fn.qualname, fn.filename, _source(fn))
        _types(fn, found[key])
    by_file: dict[str, list[FunctionReport]] = {}
    for (filename, _), one in found.items():
        by_file.setdefault(filename, []).append(one)
    for remark in typed.spec.remarks:
        _note(by_file, remark.proto.code.co_filename, remark.loc.line,
              Fact("python", f"the interpreter does this: {remark.reason}"))
    module = stages.optimise(typed.functions, options,
                             lambda functions, name: _tapes(functions, by_file) if name == "derivatives" else None)
    for fn in module:
        for line, text in fn.memo.get("parallel", ()):
            _note(by_file, fn.filename, line, Fact("parallel", text.partition(": ")[2], True))
        _costs(fn, by_file)
        _in_order(fn, options, by_file)
    target = link.host_target()
    text, *_ = module_text(module, stages.calling(function, typed), target, options, emitter=located.LocatedEmitter)
    _vectorised(located.remarks(text, target), by_file)
    return list(found.values())


def _source(fn: ir.Function) -> list[Line]:
    every = linecache.getlines(fn.filename)
    block = inspect.getblock(every[fn.firstlineno - 1:]) if every else []
    first = fn.firstlineno
    return [Line(first + n, source.rstrip("\n")) for n, source in enumerate(block)]


def _loops(filename: str, lines: list[Line]) -> list[tuple[int, int]]:
    """First and last line of each loop."""
    try:
        tree = ast.parse(textwrap.dedent("\n".join(line.source for line in lines)))
    except SyntaxError:  # a lambda, or lines that are no statement
        return []
    before = lines[0].number - 1 if lines else 0
    return [(node.lineno + before, (node.end_lineno or node.lineno) + before) for node in ast.walk(tree)
            if isinstance(node, (ast.For, ast.While))]


def _types(fn: ir.Function, into: FunctionReport) -> None:
    def add(number: int, name: str, t) -> None:
        line = into.by_number.get(number)
        if line is None or name not in into.names:
            return
        known = line.types.get(name)
        if known is None:
            line.types[name] = str(t)
        elif str(t) not in known.split(" | "):
            line.types[name] = f"{known} | {t}"

    for p in fn.params:
        add(into.head, p.name, p.type)
    for block in fn.blocks:
        for inst in block.insts:
            if inst.result is not None:
                add(inst.loc.line, inst.result.name, inst.result.type)


def _note(by_file, filename: str, number: int, fact: Fact) -> None:
    for one in by_file.get(filename, ()):
        one.note(number, fact)


def _tapes(functions, by_file) -> None:
    """What the derivatives among some functions go through, and what their loops keep."""
    for fn in functions:
        heads = [one.head for one in by_file.get(fn.filename, ()) if fn.firstlineno in one.by_number]
        for line, names in tape.active(fn).items():
            for number in (line,) if line else heads:
                _note(by_file, fn.filename, number, Fact("derivative", f"active: {', '.join(names)}", True))
        for line, text in tape.told(fn):
            for one in by_file.get(fn.filename, ()):
                one.note(one.loop_of(line), Fact("derivative", f"the loop {text}", "keeps nothing" in text))


def _costs(fn: ir.Function, by_file) -> None:
    """Note the Python objects, memory and checks in the code of a function at their lines in the source."""
    slow = _checked_copies(fn)
    for block in fn.blocks:
        for inst in block.insts:
            _, filename = inst.attrs.get("origin") or (fn.qualname, fn.filename)
            fact = _fact(inst, block in slow)
            if fact is not None:
                _note(by_file, filename, inst.loc.line, fact)


def _checked_copies(fn: ir.Function) -> set[ir.Block]:
    """The blocks of loops that have a copy without checks, which runs where a guard allows."""
    return {inside for loop in LoopNest(fn).loops
            if any(inst.attrs.get("novectorize") for block in loop.blocks for inst in block.insts)
            for inside in loop.blocks}


def _in_order(fn: ir.Function, options, by_file) -> None:
    """Note loops that accumulate floats in order: LLVM's remarks say less about these, or nothing."""
    for loop in LoopNest(fn).loops:
        if not loop.inner and not loop.has_hint("ordered") and hints.adds_in_order(loop, options):
            _, filename = loop.header.insts[-1].attrs.get("origin") or (fn.qualname, fn.filename)
            for one in by_file.get(filename, ()):
                number = one.loop_of(loop.header.insts[-1].loc.line)
                if number in one.by_number and _ORDERED not in one.by_number[number].facts:
                    one.note(number, _ORDERED)


_ORDERED = Fact("loop", "not vectorised: its sum of floats would be added up in another order; fastmath={'reassoc'} "
                        "allows that, and np.sum is fast as it is")
_BOXES = {pyobject.PY_BOX: "a value becomes a Python object",
          pyobject.PY_UNBOX: "a value is taken out of a Python object"}
_CHECKS = {memory.CHECK_INDEX: "the index is compared with the length",
           arith.CHECK_NONZERO: "a divisor is compared with 0",
           arith.CHECK_NONNEG: "the sign of a number is checked",
           **dict.fromkeys((arith.NARROW, arith.FIT), "a number is compared with the range of its type")}
_OVERFLOW = "the result is checked for overflow of 64 bits"


def _fact(inst: ir.Inst, slow: bool) -> Fact | None:
    op, name = inst.op, inst.op.name
    if op in _BOXES:
        return Fact("boxed", _BOXES[op])
    if op.effects & ir.HOST and name.partition("_")[0] not in ("exc", "reraise"):
        kind = "memory" if op.effects & ir.ALLOCATES and name.endswith("_new") else "python"
        return Fact(kind, f"{_said(inst)} (a call of the interpreter)" if kind == "python" else _said(inst))
    if op is memory.FRAME_ARRAY:
        return Fact("memory", "a new array in the frame of the function, which costs nothing", True)
    if op is memory.ARRAY_NEW:
        small = bool(inst.attrs.get("frame"))
        return Fact("memory", "a new array, in the frame of the function where it is small" if small
                    else "a new array", small)
    if op.effects & ir.RAISES and (op.wrapping is not None or op in _CHECKS):
        what = _CHECKS.get(op, _OVERFLOW)
        if slow:
            return Fact("check", f"{what}: only in the copy of the loop for what a test before it does not allow", True)
        return Fact("check", f"{what}: {_why(inst)}")
    return None


def _said(inst: ir.Inst) -> str:
    """The description of an operation, from its record."""
    text = inst.op.doc or inst.op.name
    if text.startswith(f"{inst.op.name} "):
        text = text.partition("): ")[2] or text
    def shown(m):
        value = inst.attrs.get(m[1], m[1])
        return value.__qualname__ if isinstance(value, type) else str(value)

    text = re.sub(r"\{(\w+)\}", shown, re.split(r"[;:]", text)[0])
    return text.strip()


def _why(inst: ir.Inst) -> str:
    """The reason why a check remained, found from the origin of its operand."""
    given = [a for a in inst.args if a.inst is None or a.inst.op is not control.CONST]
    made = given[0].inst if given else None
    while made is not None and made.op in (arith.CAST, memory.CHECK_INDEX) and made.args[0].inst is not None:
        made = made.args[0].inst
    if made is None:
        return "nothing is known of a value that is given, or that goes round a loop"
    if made.op is memory.ARRAY_LOAD:
        return "it is read from an array, whose elements may have any value"
    if made.op is control.INVOKE:
        return "it is the result of a call"
    return "its range is not known"


def _vectorised(told, by_file) -> None:
    """Note LLVM's remarks on each loop, except for copies with checks, which are not meant to be vectorised."""
    loops: dict[tuple[str, int], list[str]] = {}
    for remark in told:
        if "explicitly disabled" in remark.message:
            continue
        for one in by_file.get(remark.filename, ()):
            if remark.line in one.by_number:
                # a vectorised loop is reported at its start, in the line of an array's statement where that is the loop
                start = remark.message.startswith(_VECTORISED)
                number = remark.line if start else one.loop_of(remark.line)
                loops.setdefault((remark.filename, number), []).append(remark.message)
    for (filename, number), messages in loops.items():
        good = [m for m in messages if m.startswith(_VECTORISED)]
        if good:
            text = good[0].replace(f"{_VECTORISED} (vectorization width: ", "vectorised: ").replace(
                ", interleaved count: ", " elements at once, interleaved ").rstrip(")")
            _note(by_file, filename, number, Fact("loop", text, True))
            continue
        if not any(_ORDERED in one.by_number[number].facts for one in by_file[filename] if number in one.by_number):
            _note(by_file, filename, number, Fact("loop", f"not vectorised: {_reason(messages)}"))


_VECTORISED = "vectorized loop"
# LLVM's remark on a loop -> its meaning in terms of Python, and advice. A remark hides those that come after it.
_REASONS = (
    ("call instruction cannot be vectorized",
     "for each element it calls a function or the interpreter, or checks an index that may be negative"),
    ("instruction return type cannot be vectorized", "it calls a function for each element, which may raise"),
    ("could not determine number of loop iterations",
     "how often it runs is not known before it starts, as with `while` or `break`"),
    ("early exit", "an exception, `break` or `return` may leave it half way"),
    ("unsafe dependent memory operations", "an iteration reads what an earlier one has written"),
    ("cannot identify array bounds", "an array is read or written at places that are not known before it starts, and "
                                     "another one may share its memory"),
    ("could not be identified as reduction", "a value goes from one iteration to the next, and is no sum, product, "
                                             "minimum or maximum"),
    ("loop induction variable could not be identified", "no variable counts its iterations"),
    ("Control flow cannot be substituted for a select", "a branch in it does more than choose between two values"),
    ("not beneficial", "LLVM estimates that it would be no faster"),
)


def _reason(messages: list[str]) -> str:
    """The most important reason why LLVM did not vectorise a loop, in terms of Python; LLVM's own text for unknown
    reasons."""
    said = [message.removeprefix("loop not vectorized").lstrip(": ") for message in messages]
    for known, text in _REASONS:
        for message in said:
            if known in message:
                line = re.search(r"Memory location is the same as accessed at .*?:(\d+):\d+", message)
                return f"{text} (the other access is in line {line[1]})" if line else text
    return next((f"LLVM says: {text}" for text in said if text), "LLVM gives no reason")
