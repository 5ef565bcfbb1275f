"""IR before and after passes: cases/PASS.ir. `python -m tests.passes.test_cases --update` rewrites what is expected.

A case: `# case: what it shows`, `# run: dce, simplify` where it is not the pass of the file alone, `# options:
overflow='wrap'` where they are not the usual ones, functions, and `# expect:` with functions, or `# expect: no change`.
Passes over one function run on each.
Every pass has at least five cases, with one that must not change.
"""
import copy
import itertools
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.oracle import same

from pyjitc.base.options import Options
from pyjitc.ir import core, interp, interp_kernel
from pyjitc.ir.parse import parse_module
from pyjitc.ir.show import show_module
from pyjitc.ir.verify import verify_module
from pyjitc.lib.elementary import table as implementations
from pyjitc.ops.control import JUMP
from pyjitc.ops.derivative import Request
from pyjitc.ops.elementary import provide
from pyjitc.ops.table import OPS
from pyjitc.passes import (
    batches, checked_copies, device, elementary, flatten, grid, idle_threads, inline, jump_threading, nans, natives,
    nests, parallel, pipeline, restarts, sharedtables, stride, unswitch, versioning,
)
from pyjitc.passes.derivatives import make, merged, transposed
from pyjitc.passes.rules import Facts
from pyjitc.types.kinds import Cell, Content, Int
from pyjitc.types.tangents import is_varying
from pyjitc.pipeline import stages

provide(implementations.meaning)  # elementary functions have the results of compiled code
FOLDER = Path(__file__).parent / "cases"
UNCHANGED = "no change"


def each(run):
    def over(functions, options):
        for fn in functions:
            run(fn, options)
        return functions

    return over


def step_of_simplify(step):
    def run(fn, options):
        facts = Facts(fn)
        while step(fn, facts):
            pass

    return each(run)


def strided(fn, options):
    """`stride` needs the result of `grid`, which separates the values of each thread from those that are the same for
    all threads."""
    parts = grid._Grid(fn, False)
    parts.enter()
    parts.hoist()
    stride.run(fn, parts.start)
    parts.start.insts += [*parts.own, core.Inst(JUMP, targets=[core.Edge(fn.entry)])]
    fn.blocks.insert(0, parts.start)


def expanded(functions, options):
    """`elementary`, with the library functions of the text as implementations of operations: `sin_float64` is that of
    sin."""
    bodies = {fn.name: fn for fn in functions if fn.library}

    def body(inst):
        t = inst.args[0].type if inst.args else None
        found = bodies.get(f"{inst.op.name}_{t}")
        return found and ((found.params[0].type,) if found.params[0].type is not t else (), found)

    functions = [fn for fn in functions if not fn.library]
    own = {fn: fn for fn in functions}
    for fn in functions:
        elementary.run(fn, body, own)
    return list(dict.fromkeys(own.values()))


def derived(functions, options):
    """`derivatives`: a function `f.push`, `f.pull` or `f.gradient` without a body is the derivative of `f` with respect
    to all floats."""
    named = {fn.name: fn for fn in functions}
    for fn in functions:
        primal, _, mode = fn.name.rpartition(".")
        if primal in named:
            wrt = tuple(k for k, p in enumerate(named[primal].params) if is_varying(p.type))
            fn.memo["derivative"] = Request(named[primal], mode, wrt, False)
    make.run(functions, options, stages._helper)
    return functions


def with_one_of_each(functions, options):
    """`merged`: `f` and `f.2` are one function of the library, inferred twice."""
    for fn in functions:
        fn.qualname = fn.name.partition(".")[0]
    return merged.run(functions)


def in_batches(functions, options):
    """`batches`, with the library functions of the text in place of those that it asks for: `batches:put_all` is that
    of lib/batches.py. The functions that the first one still calls, in order, then those that it calls now."""
    def helper(function, types):
        name = function if isinstance(function, str) else function[0]
        return next(fn for fn in functions if fn.name == name and tuple(p.type for p in fn.params) == types)

    batches.run(functions, options, helper)
    reached = functions[:1]
    for fn in reached:  # appended to during the iteration
        reached += [callee for callee in dict.fromkeys(inline.callees(fn)) if callee not in reached]
    return [*(fn for fn in functions if fn in reached), *(fn for fn in reached if fn not in functions)]


def lowered(functions, options):
    device.lower(functions)
    return functions


def outlined(functions, options):
    """The functions, followed by those that run chunks of their loops."""
    for fn in functions:
        parallel.run(fn, options)
    return list(dict.fromkeys([*functions, *(callee for fn in functions for callee in inline.callees(fn))]))


def apart(functions, options):
    """`checked_copies` for loops of any size, with the functions that it makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versioning, "LEAST", 1)
        for fn in functions:
            checked_copies.run(fn, options)
    return list(dict.fromkeys([*functions, *(callee for fn in functions for callee in inline.callees(fn))]))


def in_parts(functions, options):
    """`parts`, with the functions that it makes."""
    for fn in functions:
        pipeline.parts.run(fn, options)
    return list(dict.fromkeys([*functions, *(callee for fn in functions for callee in inline.callees(fn))]))


def with_native_lists(functions, options):
    """`natives`, with the functions that it inserts."""
    own = {fn: fn for fn in functions}
    natives.run(functions, stages._helper, own)
    return list(dict.fromkeys([*functions, *(callee for fn in functions for callee in inline.callees(fn))]))


PASSES = {one.__name__.rpartition(".")[2]: each(one.run) for one in (*pipeline.PASSES, grid, idle_threads, unswitch)}
PASSES |= {"inline": inline.run, "nests": nests.run,
           "restarts": lambda functions, options: restarts.run(functions) or functions,
           "sharedtables": lambda functions, options: sharedtables.run(functions) or functions,
           "nans": lambda functions, options: nans.run(functions) or functions,
           "natives": with_native_lists, "cells": each(pipeline.independent.run),
           "flatten": step_of_simplify(flatten.flatten), "jump_threading": step_of_simplify(jump_threading.thread),
           "derivatives": derived, "merged": with_one_of_each,
           "transposed": each(lambda fn, options: transposed.run(fn)), "batches": in_batches,
           "stride": each(strided), "parallel": outlined,
           "device": lowered, "elementary": expanded, "checked_copies": apart, "parts": in_parts}


class Case(NamedTuple):
    name: str
    passes: tuple
    options: Options
    head: str
    before: str
    after: str


def read(path):
    for text in re.split(r"(?m)^(?=# case: )", path.read_text())[1:]:
        head, fn, rest = text.partition("fn ")
        if head.endswith("library "):
            head, fn = head[:-8], "library fn "
        before, _, after = (fn + rest).partition("# expect:")
        passes = re.search(r"(?m)^# run: (.*)$", head)
        options = re.search(r"(?m)^# options: (.*)$", head)
        yield Case(re.search(r"# case: (.*)", head)[1], tuple(passes[1].split(", ")) if passes else (path.stem,),
                   Options(**eval(f"dict({options[1]})")) if options else Options(), head, before,
                   after.lstrip(" \n").rstrip() + "\n")


def objects(case):
    """The names that a text can use: exception classes, a dtype, and the type of a cell that contains an int."""
    return {"type cell[int]": Cell(Content("int", Int)), "<dtype('float64')>": np.dtype(float)} | {
        f"<{cls.__name__}>": cls for cls in vars(__import__("builtins")).values() if isinstance(cls, type)}


def result(case):
    functions = parse_module(case.before, OPS, objects(case))
    verify_module(functions, "reading")
    given = show_module(functions)
    for name in case.passes:
        functions = PASSES[name](functions, case.options)
        verify_module(functions, name)
    made = show_module(functions)
    assert show_module(parse_module(made, OPS, objects(case))) == made
    return given, made


CASES = {path.stem: list(read(path)) for path in sorted(FOLDER.glob("*.ir"))}


def numbered(text):
    """The text with the blocks that are named by places in bytecode, such as those of library functions that a pass
    calls, numbered in the order in which they appear: their names depend on the version of Python."""
    numbers = {}
    return re.sub(r"\bb\d+(?=\()", lambda m: f"b{numbers.setdefault(m[0], len(numbers))}", text)


@pytest.mark.parametrize("case", [case for cases in CASES.values() for case in cases],
                         ids=lambda case: f"{case.passes[-1]}: {case.name}")
def test_case(case):
    given, made = result(case)
    assert numbered(made) == numbered(given if case.after.strip() == UNCHANGED else case.after)


# ---------------------------------------------------------------- the same meaning

VALUES = {"str": ["a", "", "\u0119b", "b", "xyz"],
    "int": (-1, 0, 1, 6), "bool": (True, False), "float": (1.5, math.nan), "float64": (np.float64(2.5),),
    "int16": (np.int16(-300),), "float64[::1]": (np.arange(8.0), np.zeros(0)),
    "int64[::1]": (np.arange(8)[::-1].copy(),), "float64[:, ::1]": (np.ones((2, 3)), np.arange(12.0).reshape(6, 2)),
    "int64[:, ::1]": (np.arange(12).reshape(6, 2),),
    "float64[:, :, ::1]": (np.arange(18.0).reshape(1, 6, 3),),
    "uint8[:, ::1]": (np.arange(12, dtype=np.uint8).reshape(3, 4), np.zeros((2, 2), np.uint8)),
    "float64[::1, :]": (np.ones((3, 2)).T,),
    "float64[:]": (np.arange(16.0)[::2], np.broadcast_to(np.float64(3.0), 4).copy()[:2]),
    "uint8": (np.uint8(0), np.uint8(3)), "uint16": (np.uint16(0xAC1),), "int64": (np.int64(2),),
    "uint8[::1]": (np.zeros(8, np.uint8), np.arange(8, dtype=np.uint8)),
    "uint64[::1]": (np.array([13], np.uint64), np.array([0], np.uint64)),
    "(int, int)": ((3, 4),), "int8[::1]": (np.zeros(20, np.int8),),
    "int16[::1]": (np.arange(20, dtype=np.int16), np.arange(20, dtype=np.int16) * 7),
    "float32[::1]": (np.arange(20, dtype=np.float32) / 2, np.r_[np.zeros(17), math.nan, 3e9, 0.0].astype(np.float32)),
    "exception KeyError": (KeyError("x"),), "list[int]": ([4, 0, 2, 1] * 4, []),
    "list[str]": (["b", "\u0119", "", "a"] * 2,),
    "list[float]": ([0.5, -1.5, 2.0, 1e9, 0.0, -3.0],), "list[list[float]]": (
        [[i - k / 2 for k in range(6)] for i in range(3)], [[0.5] * 6] * 3, [[0.5] * 6, [1.5] * 5], []),
    "list[dict[int, int]]": ([],), "list[(int, int)]": ([(700, 2), (1, 0)] * 4, []), "set[int]": ({1, 6}, set()),
    "dict[int, int]": ({}, {4: 1}), "dict[(str, str), int]": ({("a", ""): 7, ("b", "b"): 1},),
    "dict[(int, int), int]": ({(6, 6): 3, (0, 1): 2},), "set[float]": ({2.5, 1.5}, set()), "object": (1000,)}


def meaning(functions, args, blocks, size):
    """The outcome in the IR interpreter (of a kernel with blocks of `size` threads), with the arguments afterwards;
    None where the program violates a precondition."""
    kernel = functions[0].name == "k"
    run = (interp_kernel.run_blocks if blocks else interp_kernel.run_kernel) if kernel else interp.run
    args = [x.copy() if isinstance(x, np.ndarray) else copy.deepcopy(x) if isinstance(x, (dict, list, set)) else x
            for x in args]
    try:
        found = run(functions, args, *([(2, 1, 1), size] if kernel else []), limit=20_000)
    except (AssertionError, interp.StepLimit):
        return None
    except Exception as error:
        found = type(error), str(error)
    return [found, *args]


@pytest.mark.parametrize("case",
                         [case for cases in CASES.values() for case in cases
                          if not {"relax", "nans", "derivatives"} & {*case.passes}],
                         ids=lambda case: f"{case.passes[-1]}: {case.name}")
def test_case_means_the_same(case):
    before, after = (parse_module(case.before, OPS, objects(case)) for _ in range(2))
    for name in case.passes:
        after = PASSES[name](after, case.options)
    size = (4, 1, 1) if "stride" in case.passes else (4, 2, 1)  # there two threads with the same index would race
    ran = 0
    for args in itertools.islice(itertools.product(*(VALUES[str(p.type)] for p in before[0].params)), 64):
        wanted = meaning(before, args, False, size)
        if wanted is not None:
            assert same(wanted, meaning(after, args, "grid" in case.passes, size)), args
            ran += 1
    assert ran


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_cases(name):
    assert len(CASES[name]) >= 5
    if name not in ("grid", "stride"):  # `grid` separates every kernel before these passes
        assert any(case.after.strip() == UNCHANGED for case in CASES[name])


def test_no_pass_is_forgotten():
    modules = Path(pipeline.__file__).parent.rglob("*.py")
    assert {path.stem for path in modules if "\ndef run(" in path.read_text()} - {"pipeline", "make"} <= {*PASSES}


def called(one):
    return one.__name__.rpartition(".")[2]


# passes that may leave a short function alone, since it would gain too little
SKIPPED = {"checked_copies", "choices", "flags", "parts", "polling", "ranges", "retests"}


@pytest.mark.parametrize("name", sorted({called(one) for one in pipeline.PASSES if one in (
    *pipeline._ASK, *pipeline._LOOK_FOR, *pipeline._IN_LOOPS)} - SKIPPED))
def test_a_pass_runs_over_functions_that_it_changes(name):
    for case in CASES[name]:
        if case.passes == (name,) and case.after.strip() != UNCHANGED:
            functions = parse_module(case.before, OPS, objects(case))
            assert any(name in map(called, pipeline._wanted(fn, Options())) for fn in functions), case.name


def test_passes_for_which_a_loop_has_nothing_are_not_loaded():
    text = """
fn f(a: float64[::1], limit: float64, n: int) -> float64:
  entry(a: float64[::1], limit: float64, n: int):
    zero = const 0 : int
    one = const 1 : int
    none = const float64(0.0) : float64
    jump head(none, zero)
  head(total: float64, i: int):
    more = ilt i, n : bool
    branch more -> body(), out()
  body():
    x = array_load a, i : float64
    large = fgt x, limit : bool
    next = fadd total, x : float64
    chosen = select large, next, total : float64
    i.1 = iadd i, one : int
    jump head(chosen, i.1)
  out():
    return total
"""
    fn, = parse_module(text, OPS)
    assert not {"extremes", "reload"} & set(map(called, pipeline._wanted(fn, Options())))


if __name__ == "__main__" and "--update" in sys.argv:
    for path in sorted(FOLDER.glob("*.ir")):
        parts = []
        for case in read(path):
            try:
                given, made = result(case)
            except Exception as error:
                print(f"{path.stem}: {case.name}: {error}")
                made, given = case.after, ""
            parts.append(f"{case.head}{case.before.rstrip()}\n# expect:"
                         + (f" {UNCHANGED}\n" if made == given else f"\n{made}"))
        text = "\n".join(parts)
        if text != path.read_text():
            path.write_text(text)
            print("rewritten:", path.name)
