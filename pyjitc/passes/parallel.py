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
an error that names it; so is an element that all iterations write, or that one writes and another reads. What an access
reaches says `reached.py`, whether two of them reach different elements `apart.py`, and whether they are certain to
reach the same one `collisions.py`. Where neither is known, tests are made when the loop begins, and let one thread run
it (`tested.py`); where none can be made, one thread always runs it, with a warning. A loop that needs the interpreter
(printing, objects) runs on one thread, with a warning. The loops of derivatives of such loops ('kept' in forward mode
and the forward part of reverse mode, 'adjoint' in the backward part) run on one thread, without a word, where they are
not understood.
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
from . import counted, dce, inline, opened, tested
from .alias import Aliases, root_of
from .apart import ways_apart
from .carried import LEFT_ONLY, SUMS, Carried, Serial, element_type
from .chunks import SHAPES, Chunks, unmark
from .collisions import Collisions
from .operands import constant_of
from .reached import Access, Reached
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


def _is_made(v: ir.Value) -> bool:
    """Whether an instruction makes this array."""
    return v.inst is not None and v.inst.op in (memory.ARRAY_NEW, memory.ARRAY_COPY)


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


def _unsure(reached: Reached, root: ir.Value) -> list:
    """What `ways_apart` says of each pair of accesses to an array that are not certain to be apart, until one can
    never be."""
    accesses = list({one.key: one for one in reached.of[root]}.values())
    found: list = []
    for n, one in enumerate(accesses):
        for two in accesses[n:]:
            if one.stores or two.stores:
                ways = ways_apart(one, two, reached)
                if ways is not True:
                    found.append(ways)
                if ways is False:
                    return found
    return found


def _name(root: ir.Value) -> str:
    return repr(root.name) if root.name else "an array"


def _shares(inst: ir.Inst, root: ir.Value, reads: bool) -> Serial:
    """What is raised where iterations may share elements of an array."""
    if reads:
        return Serial(inst, f"iterations change elements of {_name(root)} that they also read, at places that may be "
                            "the same", "only sums, products and bits are combined: a[j] += x, or -=, *=, |=, &=, ^=")
    return Serial(inst, f"iterations may write the same elements of {_name(root)}",
                  "let each iteration write its own elements")


class _Gone(Exception):
    """Raised where a loop can make no iterations."""


class _Region(Carried):
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
                raise _shares(one.inst, one.array, not all([access.stores for access in one.accesses]))
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

    # -- array elements

    def check_elements(self) -> None:
        """Raise for elements that are known to be accessed by two iterations, one of which writes, and Serial where
        that may be so and no test can tell. Arrays to whose elements iterations only add, or which they only multiply,
        get a copy for each chunk: `self.shared`, array -> (operation, neutral element). What is to be tested when the
        loop begins: `self.tests`, `self.meetings`, each with a function from a value to that from before the loop."""
        self.shared: dict[ir.Value, tuple] = {}
        self.tests: list[tuple] = []
        self.meetings: list[tuple] = []
        if self.kind == "adjoint":
            self.check_adjoints()
        if self.kind not in ("prange", "kept") or self.opens and self.checked_with_calls():
            return
        reached = Reached(self)
        stored = dict.fromkeys([one.root for one in reached.accesses if one.stores])
        unsure = {root: pairs for root in stored if (pairs := _unsure(reached, root))}
        inner = self.inner_counters()
        same: dict[ir.Value, bool] = {}
        for root, pairs in list(unsure.items()):
            stores = [one for one in reached.of[root] if one.stores]
            if root not in self.defined and any([self.is_same(one.array, inner, same) for one in stores]):
                op = self.added_up(root, reached.accesses)
                if op is not None:
                    self.shared[root] = op
                    del unsure[root]
                    continue
            changed = any([not one.stores and not reached.moves(one) for one in reached.of[root]])
            for one in stores:
                if not one.whole and all([self.is_same(v, inner, same) for v in (one.array, *one.inst.args[1:-1])]):
                    raise self.error(one.inst, "every iteration of a parallel loop writes the same elements of "
                                               f"{_name(root)}",
                                     "add to them in one form alone, as in a[j] += x, or write range for prange")
                if changed and False in pairs and not reached.moves(one):
                    raise _shares(one.inst, root, True)
        self.check_collisions(reached, unsure)
        if reached.unknown:
            raise Serial(reached.unknown[0], "a function that it calls may change elements of arrays that iterations "
                         "share", "pass the arrays to the function as arguments")
        if not self.single:
            self.meetings = [(one, lambda v: v) for one in tested.meetings(reached, stored)]
            for root, pairs in unsure.items():
                self.find_tests(reached, root, pairs, stored)

    def find_tests(self, reached: Reached, root: ir.Value, pairs: list, stored) -> None:
        """Find what tells, when the loop begins, whether iterations share elements of an array."""
        accesses = reached.of[root]
        if False not in pairs:
            self.tests.append((tested.Ends(reached, accesses, pairs), lambda v: v))
            return
        for one in accesses:
            if one.stores and reached.halves(one):
                raise Serial(one.inst, f"iterations write the same elements of {_name(root)}",
                             "let each iteration write its own elements")
            if one.whole:
                raise _shares(one.inst, root, not all([two.stores for two in accesses]))
        self.tests.append((tested.Inspection(reached, accesses, stored), lambda v: v))

    def checked_with_calls(self) -> bool:
        """Whether `check_elements` has been done for a copy in which the calls of the loop are opened."""
        found = opened.opened(self.fn, self.loop, self.aliases)
        if found is None:
            return False
        fn, loop, values = found
        try:
            region = _Region(fn, loop, self.kind, self.single, self.refuses)
            region.opens = False
            region.find_blocks()
            region.find_users()
            region.classify()
        except (Serial, UnsupportedError, _Gone):
            return False  # the copy is not of a form that is understood
        region.check_elements()

        def outside(v: ir.Value) -> ir.Value | None:
            v = values.get(v)
            return None if v in self.defined else v

        self.tests = [(one, outside) for one, _ in region.tests]
        self.meetings = [(one, outside) for one, _ in region.meetings]
        if region.shared and any(opened.accesses(inst, self.aliases) and any(
                v not in self.defined and type(v.type) is not k.Array and k.any_part(
                    v.type, lambda part: type(part) is k.Array) for v in inst.args)
                for block in self.loop.blocks for inst in block.insts):
            raise Serial(self.branch, "a function or tuple from before the loop holds arrays to which iterations add",
                         "pass the arrays to the function as arguments")
        for root, op in region.shared.items():
            array = values.get(root)
            if array is None or type(array.type) is not k.Array or array.type.layout != "C":
                raise Serial(self.branch, "a function that it calls adds to elements of an array that may not be "
                                          "contiguous", "pass a contiguous array")
            self.shared[array] = op
        return True

    def check_collisions(self, reached: Reached, unsure) -> None:
        """Raise for an element that is certain to be accessed by two iterations, one of which writes."""
        found = Collisions(self, reached)
        for root in unsure:
            for one in reached.of[root]:
                for two in reached.of[root] if one.stores else ():
                    if found.collide(one, two):
                        what = "writes" if two.stores else "reads"
                        raise self.error(two.inst, f"an iteration of a parallel loop {what} an element of "
                                                   f"{_name(root)} that another iteration writes, at line "
                                                   f"{one.inst.loc.line}",
                                         "write into another array, or write range for prange")

    def check_adjoints(self) -> None:
        """As `check_elements`, of a reversed loop. The program guarantees nothing about it: where iterations read the
        same element, the reversed ones add to the adjoint of it. So each access must be known to be to elements of its
        own iteration, or all must be sums."""
        memo: dict = {}
        accesses = []
        for block in self.loop.blocks:
            for inst in block.insts:
                if inst.op in memory.ACCESSES and ((root := root_of(inst.args[0])) not in self.defined
                                                   or not _is_made(root)):
                    one = Access(inst, inst.args[0], root, inst.op is memory.ARRAY_STORE, {}, False)
                    one.index = {n: counted.affine(v, self.defs, self.loop.blocks, memo)
                                 for n, v in enumerate(inst.args[1:1 + one.array.type.ndim])}
                    accesses.append(one)
        stored = dict.fromkeys([one.root for one in accesses if one.stores])
        hint = "index the arrays by the loop variable, or use whole-array expressions"
        for block in self.loop.blocks:
            for inst in block.insts:
                written = ir.regions_written(self.aliases.effects(inst)) & ir.ELEMENTS
                if inst.op in memory.ACCESSES or not written and inst.op in SHAPES:
                    continue
                for root in [root_of(v) for v in inst.args if type(v.type) is k.Array]:
                    if root in stored or written and not (root in self.defined and _is_made(root)):
                        raise Serial(inst, "iterations may write the same elements of adjoints", hint)
        for root in stored:
            if root in self.defined or not (_is_made(root) or root in self.fn.params):
                raise Serial(self.branch, "which array of adjoints is written depends on the iteration", hint)
            own = [(one.array, one.index) for one in accesses if one.root is root]
            if self.is_own(own):
                continue
            op = self.added_up(root, accesses)
            if op is None:
                raise Serial(self.branch, "iterations may write the same elements of adjoints", hint)
            self.shared[root] = op

    def is_own(self, accesses) -> bool:
        """Whether all accesses of an array have the same index along some axis, which moves with the loop."""
        array, first = accesses[0]
        if array in self.defined or any(one is not array for one, _ in accesses):
            return False
        for axis, form in first.items():
            moved = [c * step for v, c in form.terms.items() if type(step := self.counters.get(v)) is int]
            rest = [v for v in form.terms if v in self.defined and v not in self.counters]
            if len(moved) == 1 and moved[0] and not rest and all(
                    places[axis].terms == form.terms and places[axis].constant == form.constant
                    for _, places in accesses):
                return True
        return False

    def is_same(self, v: ir.Value, inner, known) -> bool:
        """Whether a value is computed in the same way in every iteration, from invariant values and counters of inner
        loops."""
        if v not in self.defined or v in inner or v in self.fixed:
            return True
        found = known.get(v)
        if found is None:
            known[v] = False
            found = known[v] = (v.inst is not None and not v.inst.op.effects & ~ir.RAISES
                                and v.inst.op is not control.INVOKE
                                and all(self.is_same(x, inner, known) for x in v.inst.args))
        return found

    def added_up(self, root: ir.Value, accesses) -> tuple | None:
        """(the operation by which iterations update elements of an array, its neutral element), where iterations use
        the array for nothing else; else None."""
        if root.type.layout == "F" or root.type.ndim > 3:
            return None
        op, known = None, set()
        for one in accesses:
            inst = one.inst
            if one.root is not root or not one.stores:
                continue
            if one.whole:
                return None
            value = inst.args[-1]
            made = value.inst
            if made is None or made.op not in SUMS or op not in (None, SUMS[made.op]):
                return None
            op = SUMS[made.op]
            load = next((x.inst for n, x in enumerate(made.args) if x.inst is not None
                         and x.inst.op is memory.ARRAY_LOAD and x.inst.args[1:] == inst.args[1:-1]
                         and (x.inst.args[0] is inst.args[0]
                              or _whole(x.inst.args[0], root) and _whole(inst.args[0], root))
                         and (n == 0 or made.op not in LEFT_ONLY)), None)
            if (load is None or made.args[0] is made.args[1]
                or [one for _, one, _, _ in self.users[load.result]] != [made]):
                return None
            known |= {inst, load, made}
        views = {root: None}
        for v in growing(views):
            for _, inst, edge, _ in self.users.get(v, ()):
                if edge is not None:
                    return None
                if inst.op is memory.ARRAY_VIEW:
                    views[inst.result] = None
                elif inst.op is memory.ARRAY_LOAD and inst not in known:
                    return None
                elif inst not in known and inst.op not in (memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ARRAY_DATA):
                    return None
        return op

    def inner_counters(self) -> set[ir.Value]:
        """Counters of inner loops whose start and step are the same in each iteration."""
        found: set[ir.Value] = set()
        work = list(self.loop.inner)
        while work:
            loop = work.pop()
            work += loop.inner
            one = counted.find(loop, self.defs, self.edges)
            if one is None:
                continue
            for p in one.steps:
                if all(v not in self.defined or self.defs.constant(v) is not None
                       for v in (one.start[p], one.start[one.left])):
                    found.add(p)
        return found

    # -- outlining

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

# ---------------------------------------------------------------- arrays to which iterations add


def _whole(v: ir.Value, root: ir.Value) -> bool:
    """Whether a view covers all elements of an array, in the same order."""
    if v is root:
        return True
    made = v.inst
    if made is None or made.op is not memory.ARRAY_VIEW or not _whole(made.args[0], root):
        return False
    offset, n = made.args[1].inst, root.type.ndim
    if offset is None or offset.op is not control.CONST or offset.attrs["value"] != 0 or v.type.ndim != n:
        return False
    lengths = [_length(root, axis) for axis in range(n)]
    strides = [x.inst for x in made.args[2 + n:]]
    item = memory.item_bytes(root.type.dtype)
    return all(one in own for one, own in zip(made.args[2:2 + n], lengths)) and all(
        x is not None and (x.op is memory.ARRAY_STRIDE and x.args[0] is root and x.attrs["axis"] == axis
                           or axis == n - 1 and x.op is control.CONST and x.attrs["value"] == item
                           and root.type.layout == "C") for axis, x in enumerate(strides))


def _length(root: ir.Value, axis: int):
    """The values that are known to equal a length of an array."""
    made = root.inst
    known = [made.args[axis]] if made is not None and made.op is memory.ARRAY_NEW else []
    return _Lengths(root, axis, known)


class _Lengths:
    def __init__(self, root, axis, known):
        self.root, self.axis, self.known = root, axis, known

    def __contains__(self, v):
        made = v.inst
        return v in self.known or (made is not None and made.op is memory.ARRAY_DIM and made.args[0] is self.root
                                   and made.attrs["axis"] == self.axis)


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
