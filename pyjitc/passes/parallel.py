"""Run loops whose iterations are independent in chunks, on several threads.

Runs when loops have their final form and before they are versioned and vectorised. The body of a loop is outlined: it
becomes a function that runs one chunk of the iterations, whose loop is then optimised like any other.
Before:  header(i, left, s): branch {independent} left > 0 -> body, exit      body: ... jump header(i + 1, left - 1, t)
After:   chunks, size, short = divide (trips, the cost of an iteration: chunk_cost.py, ...); parts = array_new chunks
         invoke {callee: chunk, chunks} (chunks, short, size, trips, i, ..., parts)
         for each chunk in order: s = s + parts[chunk]; jump header(i + trips, 0, s)       header(...): jump exit
         fn chunk(k, short, size, trips, i, ..., parts): loop from i + k * size, min(size, trips - k * size) iterations;
                                                  parts[k] = what it has added up
The number of chunks depends on the number of iterations and on their cost, not on the number of threads, so that sums
of floats are the same with any number of threads. A loop with little work is one chunk, which the calling thread runs.

A value that is carried across iterations must be one of these: a counter; a reduction (+ * & | ^, also under a
condition; min or max, and values assigned together with them, such as the position of the minimum); a flag that is only
ever set to one value; or a value that no iteration reads, whose last value remains: see `carried.py`. Anything else is
an error that names it. So is an element that all iterations write, or that one writes and another reads: see
`elements.py`. Where it is not known whether iterations share elements, tests are made when the loop begins, and let one
thread run it (`tested.py`); where no test can be made, one thread always runs it, with a warning. A loop that needs the
interpreter (printing, objects) runs on one thread, with a warning. The loops of derivatives of such loops ('kept' in
forward mode and the forward part of reverse mode, 'adjoint' in the backward part) run on one thread where they are not
understood, without a warning.
Needs: SSA, `independent` on headers (`independent.py`, nests.py).  Keeps: SSA.
"""
from __future__ import annotations

import warnings

import numpy as np

from ..base.errors import Diagnostic, ParallelWarning, UnsupportedError
from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, closure, in_edges, predecessors, reverse_postorder
from ..ir.uses import read_outside
from ..ops import arith as a
from ..ops import control, exceptions, memory, random
from ..ops.structure import UNION_MAKE
from ..types import kinds as k
from . import counted, dce, inline, opened
from .alias import Aliases
from .carried import Serial, element_type
from .chunks import SHAPES, Chunks, unmark
from .elements import Elements, shares
from .operands import constant_of
from .rewrite import Builder, clone_blocks, growing, join_edges, substitute

__all__ = ["run"]

_EXCEPTIONS = frozenset(op for op in exceptions.EXCEPTION_OPS.values())
# operations on objects that make no new object, or only an exception
_OF_OBJECTS = {control.CONST, random.RANDOM_GLOBAL, *_EXCEPTIONS}
_OF_CONTAINERS = ir.LISTS | ir.ITEMS | ir.TABLES


def run(fn: ir.Function, options=Options()) -> None:
    while True:
        loops = LoopNest(fn).loops
        marked = [loop for loop in loops if "independent" in loop.header.terminator.attrs]
        if not marked:
            return
        loop = marked[0]  # outer loops come first
        branch = loop.header.terminator
        kind = branch.attrs["independent"]
        try:
            if kind == "nest" and _fork(fn, loop, marked):
                continue
            region = _Region(fn, loop, kind, options.races or kind == "parts", not options.numba)
            region.outline()
            _note(fn, branch, kind, "runs on several threads", region.details())
        except _Gone:
            unmark(branch)
        except Serial as found:
            inst, why, hint = found.args
            unmark(branch)
            if kind == "prange":
                _warn(fn, inst or branch, why, hint)
            _note(fn, branch, kind, "runs on one thread", [why])


def _note(fn, branch, kind: str, how: str, details) -> None:
    """Record what `parallel_diagnostics` reports of a loop."""
    what = {"prange": "the loop over prange", "kept": "the loop over prange",
            "adjoint": "the reversed loop over prange"}.get(kind, "the loop of a whole-array statement")
    text = f"line {branch.loc.line or fn.firstlineno}: {what} {how}" + "".join(f"; {one}" for one in details if one)
    fn.memo.setdefault("parallel", []).append((branch.loc.line, text))


def _fork(fn: ir.Function, loop, marked) -> bool:
    """Version a nest of loops: where it makes one trip, as for contiguous arrays, the elements of the row are divided
    among threads, otherwise the rows. Returns whether the loop was changed.
    After:  branch trips <= 1 -> a copy in which the loop inside is marked, the loop in which none is"""
    inner = [one for one in marked if one is not loop and one.header in loop.blocks]
    if not inner:
        return False
    edges = in_edges(fn.blocks)
    count = counted.find(loop, counted.Definitions(fn), edges)
    defined = {v for block in loop.blocks for v in block.values()}
    if count is not None and defined.isdisjoint(read_outside(fn, loop.blocks)) and defined.isdisjoint(count.exit.args):
        copies = clone_blocks([block for block in reverse_postorder(fn) if block in loop.blocks], {})
        unmark(copies[loop.header].terminator)
        guard = ir.Block("rows")
        b = Builder(guard.insts, loop.header.terminator.loc, None)
        few = b.test(a.ILE, count.start[count.left], b.const(k.Int, 1))
        args = count.entry.args
        Builder(guard.insts, b.loc).branch(few, ir.Edge(copies[loop.header], args), ir.Edge(loop.header, args))
        count.entry.block, count.entry.args = guard, []
        fn.blocks += [guard, *copies.values()]
        fn.blocks = reverse_postorder(fn)
    for one in inner:
        unmark(one.header.terminator)
    return True


def _warn(fn, inst, why: str, hint: str) -> None:
    _, filename = inst.attrs.get("origin") or (fn.qualname, fn.filename)
    warnings.warn_explicit(f"this loop over prange runs on one thread: {why}" + (f"; {hint}" if hint else ""),
                           ParallelWarning, filename, inst.loc.line or fn.firstlineno)


def _forget_entries(fn: ir.Function, outer) -> None:
    """Let loops inside, which make a constant number of iterations, begin with zeros for the variables that an
    iteration assigns without reading them, so that no value of an iteration of the outer loop is needed."""
    inner = [loop for loop in LoopNest(fn).loops if loop is not outer and loop.header in outer.blocks]
    defs, edges = counted.Definitions(fn), in_edges(fn.blocks) if inner else None
    forgotten = False
    for loop in inner:
        count = counted.find(loop, defs, edges)
        if count is not None and (defs.constant(count.start[count.left]) or 0) > 0:
            forgotten |= _forget_entry(count, edges)
    if forgotten:
        dce.run(fn)


def _forget_entry(count: counted.Counted, edges) -> bool:
    header = count.loop.header
    again = [edge for source, _, edge in edges[header] if source in count.loop.blocks]
    read = _read_before_the_end(count)
    changed = False
    for n, p in enumerate(header.params):
        if p not in read and all([edge.args[n] is not p for edge in again]):
            b = Builder([], count.entry_inst.loc, None)
            zero = _zero(b, p.type)
            if zero is not None:
                count.entry.args[n] = zero
                count.entry_block.insts[-1:-1] = b.insts
                changed = True
    return changed


def _read_before_the_end(count: counted.Counted) -> set[ir.Value]:
    """The values that are read in a loop, or after it has been left before its last iteration ended."""
    inside = dict.fromkeys(count.loop.blocks)
    work = dict(inside)
    for block in growing(work):
        if block in inside or block is not count.loop.header:
            work.update(dict.fromkeys([edge.block for edge in block.edges() if edge is not count.exit]))
    return {v for block in work for inst in block.insts
            for v in (*inst.args, *(x for edge in inst.edges() if edge is not count.exit for x in edge.args))}


def _zero(b: Builder, t) -> ir.Value | None:
    """A value of a type of numbers, or of a union with such a type, or None."""
    if type(t) is k.Union:
        zero = next((zero for zero in (_zero(b, member) for member in t.members) if zero is not None), None)
        return None if zero is None else b.make(UNION_MAKE, t, zero, type=t)
    return b.const(t, constant_of(t, 0)) if element_type(t) is not None else None


class _Gone(Exception):
    """Raised where a loop can make no iterations."""


class _Region(Elements):
    """One loop that is being outlined."""

    def __init__(self, fn: ir.Function, loop, kind: str, single: bool, refuses: bool):
        self.fn, self.loop, self.kind = fn, loop, kind
        self.refuses = refuses
        self.opens = kind != "adjoint"  # whether the functions that it calls are looked into
        self.single = single  # whether each iteration is a chunk of its own
        self.header = loop.header
        self.branch = self.header.terminator
        _forget_entries(fn, loop)
        self.enter_once()
        self.analyse()
        count = counted.find(loop, self.defs, self.edges)
        test = self.branch.args[0].inst
        if test is not None and test.op is control.CONST:
            raise _Gone
        if count is None or any(inst.op.effects & ~ir.TERMINATOR for inst in self.header.insts):
            raise Serial(self.branch, "it does not count its iterations in a way that is understood",
                          "loop over prange(...) itself")
        self.count = count
        back = [edge for source, _, edge in self.edges[self.header] if source in loop.blocks]
        if len(back) != 1:
            raise Serial(self.branch, "it goes on from several places", "")
        self.back = back[0]
        self.count_beside(test)
        self.hoist_views()
        self.nested = any("independent" in block.insts[-1].attrs for block in loop.blocks if block is not self.header)
        self.users = {}
        self.generators: dict[ir.Value, None] = {}

    def analyse(self) -> None:
        self.defs = counted.Definitions(self.fn)
        self.edges = in_edges(self.fn.blocks)
        self.aliases = Aliases(self.fn)

    def enter_once(self) -> None:
        """Let the loop be entered from one block."""
        entries = self.loop.entries(in_edges(self.fn.blocks))
        if len(entries) < 2:
            return
        self.fn.blocks.append(join_edges([edge for _, _, edge in entries], "enter"))

    def hoist_views(self) -> None:
        """Let views with elements of another type that are the same in each iteration, as `z.real`, be made before the
        loop, so that they are arrays of their own; and let arrays be read there from variables that closures share."""
        inside = {v: block for v, block in self.defs.block_of.items() if block in self.loop.blocks}
        moved: dict[ir.Inst, None] = {}
        if any(inst.op is memory.CELL_LOAD for block in self.loop.blocks for inst in block.insts):
            called = closure([inst.attrs["callee"] for block in self.loop.blocks for inst in block.insts
                              if inst.op is control.INVOKE], inline.callees)
            written = {inst.args[0].type for block in (*self.loop.blocks, *(b for fn in called for b in fn.blocks))
                       for inst in block.insts if inst.op is memory.CELL_STORE}

        def is_same(v: ir.Value) -> bool:
            made = v.inst
            if v not in inside or made in moved:
                return True
            if made is None or made.op is not control.CONST and made.op not in SHAPES and not (
                    made.op is memory.CELL_LOAD and made.args[0].type not in written) or not all(
                    [is_same(x) for x in made.args]):
                return False
            moved[made] = None
            return True

        for block in self.loop.blocks:
            for inst in block.insts:
                if inst.op is memory.CELL_LOAD and type(inst.result.type) is k.Array or (
                        inst.op is memory.ARRAY_VIEW and type(of := inst.args[0].type) is k.Array
                        and of.dtype is not inst.result.type.dtype):
                    is_same(inst.result)
        if moved:
            for block in self.loop.blocks:
                block.insts = [inst for inst in block.insts if inst not in moved]
            before = self.count.entry_block.insts
            replace: dict[ir.Value, ir.Value] = {}
            known: dict[ir.Value, ir.Value] = {}  # cell -> what has been read from it at the end of the block
            for inst in [*before[:-1], *moved]:
                if inst.op is memory.CELL_LOAD and (inst not in moved or type(inst.result.type) is k.Array):
                    first = known.setdefault(inst.args[0], inst.result)
                    if first is not inst.result and inst in moved:
                        replace[inst.result] = first
                elif ir.regions_written(self.aliases.effects(inst)) & ir.CELLS:
                    known.clear()
            before[-1:-1] = [inst for inst in moved if inst.result not in replace]
            substitute(self.fn.blocks, replace)
            self.analyse()

    def count_beside(self, test: ir.Inst | None) -> None:
        """Where an iteration reads the number of those that are left, which in a chunk are fewer, let it read another
        counter."""
        left = self.count.left
        kept = [(inst, inst.args.index(left)) for inst in (test,) if inst is not None and left in inst.args]
        readers = [inst for block in self.loop.blocks for inst in block.insts if inst is not test and (
            left in inst.args or any(left in edge.args for edge in inst.edges()))]
        at = self.header.params.index(left)
        step = self.back.args[at].inst
        read = [self.back.args[at] in inst.uses()
                for block in self.loop.blocks for inst in block.insts]
        if readers == [step] and sum(read) == 1:
            return
        beside = ir.Value(left.type, "k")
        substitute(self.loop.blocks, {left: beside})
        for inst, n in kept:
            inst.args[n] = left
        self.header.params.append(beside)
        self.count.entry.args.append(self.count.entry.args[at])
        latch = next(block for block in self.loop.blocks if self.back in block.edges())
        self.back.args.append(self.back.args[at])
        b = Builder([], latch.terminator.loc, None)
        self.back.args[at] = b.int(a.IADD, left, b.const(k.Int, -1))
        latch.insts[-1:-1] = b.insts
        self.analyse()
        count = counted.find(self.loop, self.defs, self.edges)
        assert count is not None and count.left is left
        self.count = count

    # -- errors

    def error(self, inst: ir.Inst, message: str, hint: str) -> Exception:
        if self.kind != "prange" or not self.refuses:
            return Serial(inst, message, hint)
        fn, loc = self.fn, inst.loc if inst.loc.line else self.branch.loc
        qualname, filename = inst.attrs.get("origin") or (fn.qualname, fn.filename)
        return UnsupportedError(Diagnostic(message, filename, loc.line or fn.firstlineno, loc.end_line, loc.col,
                                           loc.end_col, qualname, hint=hint))

    # -- blocks of the loop

    def outline(self) -> None:
        self.find_blocks()
        self.check_effects()
        self.find_users()
        self.classify()
        self.check_elements()
        for one, at in (*self.tests, *self.meetings):
            if not one.is_possible(at):
                raise shares(one.inst, one.array, not all([access.stores for access in one.accesses]))
        Chunks(self).build()

    def find_blocks(self) -> None:
        """Find the blocks of a chunk: those of the loop, and those on paths out of it that only raise. `unwind`: the
        edge on which exceptions leave to a handler around the loop."""
        loop, header = self.loop, self.header
        inside = dict.fromkeys(loop.blocks)
        defined = {v for v, block in self.defs.block_of.items() if block in inside}
        self.unwind = None
        self.unwinds: set[int] = set()  # edges on which exceptions leave the chunk
        work = list(loop.blocks)
        while work:
            block = work.pop()
            for inst in block.insts:
                for edge in inst.edges():
                    if edge.block in inside or edge is self.count.exit:
                        continue
                    closure, ends = self.closure(edge.block, inside)
                    raising = edge is inst.unwind
                    uses = {v for v in edge.args if v in defined} or any(
                        v in defined for b in closure for i in b.insts for v in i.uses())
                    if raising and not uses:
                        same = self.unwind
                        if same is not None and (same.block is not edge.block or same.args != edge.args):
                            raise Serial(inst, "exceptions leave it to several handlers", "handle them in one place")
                        self.unwind = edge
                        self.unwinds.add(id(edge))
                        continue
                    if ends or header in closure:
                        what = "an exception handler around it reads what an iteration has computed" if raising else \
                            "break or return leaves it before its end"
                        raise Serial(inst, what, "a parallel loop makes all of its iterations")
                    for one in closure:
                        inside[one] = None
                        defined.update(one.params)
                        defined.update(i.result for i in one.insts if i.result is not None)
                    work += closure
        if self.unwind is not None:  # all exceptions must leave to the same handler
            for block in inside:
                for inst in block.insts:
                    if inst.op.effects & ir.RAISES and inst.unwind is None:
                        raise Serial(inst, "exceptions leave it in several ways", "handle them in one place")
        self.inside, self.defined = inside, defined

    def closure(self, start: ir.Block, inside) -> tuple[list[ir.Block], bool]:
        """(the blocks that are reached from a block outside the loop, whether one of them returns or continues after
        the loop)"""
        found, ends = {start: None}, False
        for block in growing(found):
            last = block.insts[-1].op
            ends |= last is control.RETURN or block is self.count.exit.block
            for edge in block.edges():
                if edge.block not in inside:
                    found[edge.block] = None
                elif edge.block in self.loop.blocks:
                    ends = True
        return list(found), ends

    def check_effects(self) -> None:
        """Raise Serial where an instruction needs Python or writes memory other than elements of arrays."""
        for block in self.inside:
            for inst in block.insts:
                effects = self.aliases.effects(inst)
                written = ir.regions_written(effects)
                if inst.op is control.INVOKE and "chunks" in inst.attrs:
                    continue
                if block in self.loop.blocks and inst.op not in _EXCEPTIONS and effects & ir.HOST and (
                        inst.op is not control.INVOKE or _needs_python(inst.attrs["callee"], set())):
                    raise Serial(inst, "it needs Python for this, and threads of a region run without",
                                  "print, and use Python objects, before or after the loop")
                if block not in self.loop.blocks or inst.op in _EXCEPTIONS or inst.op is control.RERAISE:
                    continue
                if inst.result is not None and memory.holds_object(inst.result.type) and inst.op not in _OF_OBJECTS:
                    raise Serial(inst, "it makes a Python object here, and threads of a region run without Python",
                                 "do that before or after the loop")
                if written & ir.CELLS and not self.own_cells(inst):
                    cells = [one for v in inst.args if v not in self.defined for one in _cells(v.type)]
                    name = repr(str(cells[0].site)) if len(cells) == 1 else "a variable"
                    raise self.error(inst, f"an iteration of a parallel loop changes {name}, which a function, a "
                                           "lambda or a comprehension shares with the other iterations",
                                     "set it first in each iteration and let nothing keep the function for later; or "
                                     "pass the value to the function as an argument")
                if written & ir.RANDOM:
                    self.find_generators(inst)
                rest = written & ~(ir.ELEMENTS | ir.COUNTS | ir.ERRORS | ir.CELLS | ir.SLOTS | ir.RANDOM)
                if rest & _OF_CONTAINERS and self.own_containers(inst):
                    rest &= ~_OF_CONTAINERS
                if rest and inst.op is not control.INVOKE:
                    raise Serial(inst, "an iteration changes what the others may see", "write into arrays")

    def find_generators(self, inst: ir.Inst) -> None:
        """Find the random generators from which an instruction draws: each chunk uses a stream of its own in place of
        each."""
        found = [v for v in inst.args if isinstance(v.type, k.Instance)]
        hidden = inst.op is control.INVOKE and _asks_for_global(inst.attrs["callee"], set())
        if inst.op is control.INVOKE and not _draws(inst.attrs["callee"], set()):
            return
        for v in found:
            if (v.type.cls not in (np.random.Generator, np.random.RandomState)
                or v in self.defined and (v.inst is None or v.inst.op is not random.RANDOM_GLOBAL)):
                hidden = True
        if hidden or not found:
            raise Serial(inst, "it draws random numbers from a generator that is not known before the loop",
                         "make the generator before the loop, or draw into an array there")
        self.generators.update(dict.fromkeys(found))

    def own_cells(self, inst: ir.Inst) -> bool:
        """Whether every cell that an instruction writes was made in the same iteration."""
        return all(v in self.defined for v in inst.args if k.holds_cell(v.type))

    def own_containers(self, inst: ir.Inst) -> bool:
        """Whether every native list, object, dict and set that an instruction changes was made in the same
        iteration."""
        return all(v in self.defined for v in inst.args
                   if isinstance(v.type, (k.NativeList, k.NativeObject, k.NativeTable)))

    def find_users(self) -> None:
        for block in self.inside:
            for inst in block.insts:
                for v in dict.fromkeys(inst.args):
                    self.users.setdefault(v, []).append((block, inst, None, -1))
                for edge in inst.edges():
                    for n, v in enumerate(edge.args):
                        self.users.setdefault(v, []).append((block, inst, edge, n))

    def opened(self) -> tuple[Elements, dict[ir.Value, ir.Value]] | None:
        found = opened.opened(self.fn, self.loop, self.aliases)
        if found is None:
            return None
        fn, loop, values = found
        try:
            region = _Region(fn, loop, self.kind, self.single, self.refuses)
            region.opens = False
            region.find_blocks()
            region.find_users()
            region.classify()
        except (Serial, UnsupportedError, _Gone):
            return None
        return region, values

    # -- report

    def details(self) -> list[str]:
        """The report of `parallel_diagnostics`: how carried values and inner loops are handled."""
        found = []
        names: set[str] = set()
        for part in sorted(self.parts, key=lambda part: part.shown_last):  # a flag may be a component of another part
            if not names.issuperset(part.names()):
                found.append(str(part))
            names.update(part.names())
        found += [f"one thread where a test at the beginning finds that iterations may share elements of "
                  f"{one.array.name or 'an array'}"
                  for one, _ in self.tests]
        found += [f"each chunk adds to a copy of {root.name or 'an array'}" for root in self.shared]
        if self.nested:
            found.append("the marked loops in it run on the thread of their chunk")
        return found

def _asks_for_global(fn: ir.Function, seen: set) -> bool:
    """Whether a function, or one that it calls, draws from the generator of np.random."""
    if fn in seen:
        return False
    seen.add(fn)
    return any(inst.op is random.RANDOM_GLOBAL or inst.op is control.INVOKE
               and _asks_for_global(inst.attrs["callee"], seen) for block in fn.blocks for inst in block.insts)


def _draws(fn: ir.Function, seen: set) -> bool:
    """Whether a function, or one that it calls, may draw random numbers."""
    if fn in seen:
        return False
    seen.add(fn)
    return any(_draws(inst.attrs["callee"], seen) if inst.op is control.INVOKE
               else ir.regions_written(inst.op.effects) & ir.RANDOM and inst.op not in _EXCEPTIONS
               and inst.op is not control.RERAISE for block in fn.blocks for inst in block.insts)


def _cells(t) -> list[k.Cell]:
    return [t] if isinstance(t, k.Cell) else [one for part in t.parts or () for one in _cells(part)]


def _needs_python(fn: ir.Function, seen: set) -> bool:
    """Whether a function, or one that it calls, works on Python objects other than to raise."""
    if fn in seen:
        return False
    seen.add(fn)
    returning = _returning(fn)
    return any(memory.effects_of(inst) & ir.HOST and inst.op not in _EXCEPTIONS or inst.op is control.INVOKE
               and _needs_python(inst.attrs["callee"], seen) for block in returning for inst in block.insts)


def _returning(fn: ir.Function) -> set[ir.Block]:
    """The blocks from which a return can be reached."""
    before = predecessors(fn.blocks)
    return set(closure([block for block in fn.blocks if block.insts[-1].op is control.RETURN], before.__getitem__))
