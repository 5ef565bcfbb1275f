"""Run loops whose iterations are independent in chunks, on several threads.

Runs when loops have their final form and before they are versioned and vectorised. The body of a loop is outlined: it
becomes a function that runs one chunk of the iterations, whose loop is then optimised like any other.
Before:  header(i, left, s): branch {independent} left > 0 -> body, exit      body: ... jump header(i + 1, left - 1, t)
After:   size, chunks = (by the number of iterations alone); parts = array_new chunks
         invoke {callee: chunk, chunks} (chunks, size, trips, i, ..., parts)
         for each chunk in order: s = s + parts[chunk]; jump header(i + trips, 0, s)       header(...): jump exit
         fn chunk(k, size, trips, i, ..., parts): loop from i + k * size, min(size, trips - k * size) iterations;
                                                  parts[k] = what it has added up
The number of chunks depends on the number of iterations, not on that of threads, so that sums of floats are the same
with any number of threads. A loop with little work is one chunk, which the calling thread runs.

A value that is carried across iterations must be one of these: a counter; a reduction (+ * & | ^, also under a
condition; min or max, and values assigned together with them, such as the position of the minimum); a flag that is only
ever set to one value; or a value that no iteration reads, whose last value remains: see `carried.py`. Anything else is
an error that names it; so is an element that all iterations write, or that one writes and another reads. Where indices
are not known, the program guarantees that iterations are independent. A loop that needs the interpreter (printing,
objects) runs on one thread, with a warning. The loops of derivatives of such loops ('kept' in forward mode and the
forward part of reverse mode, 'adjoint' in the backward part) run on one thread, without a word, where they are not
understood.
Needs: SSA, `independent` on headers (`independent.py`, nests.py).  Keeps: SSA.
"""
from __future__ import annotations

import warnings
from itertools import combinations, product

import numpy as np

from ..base.errors import Diagnostic, ParallelWarning, UnsupportedError
from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import read_outside, used_from_outside
from ..ops import arith as a
from ..ops import control, exceptions, memory, random
from ..ops.parallel import GET_CHUNK_SIZE
from ..ops.structure import RETYPE, SELECT
from ..runtime.pool import CHUNKS
from ..types import kinds as k
from . import counted
from .alias import Aliases, root_of
from .carried import LEFT_ONLY, SUMS, Carried, Computed, Serial, element_type, typed
from .operands import Builder, constant_of
from .rewrite import clone_blocks, clone_inst, growing, remove_unreachable, substitute

__all__ = ["run"]

WORK = 1 << 14  # the least cost of a chunk, which is some microseconds of work
_FAR = 64  # iterations that a loop is assumed to make, in tests whether two of them access one element
_FEW = 8  # the number of chunks is a multiple of this, where iterations have the same cost
_LANES = 64  # iterations of a vectorised loop that run at once, at most
_INNER = 16  # iterations that an inner loop is assumed to make
_EXCEPTIONS = frozenset(op for op in exceptions.EXCEPTION_OPS.values())
# operations on objects that make no new object, or only an exception
_OF_OBJECTS = {control.CONST, random.RANDOM_GLOBAL, *_EXCEPTIONS}
_OF_CONTAINERS = ir.LISTS | ir.ITEMS | ir.TABLES
_ACCESSES = {memory.ARRAY_LOAD, memory.ARRAY_STORE}
_SHAPES = {memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ARRAY_VIEW, RETYPE}


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
            region = _Region(fn, loop, kind, options.races or kind == "parts")
            region.outline()
            _note(fn, branch, kind, "runs on several threads", region.details())
        except _Gone:
            _unmark(branch)
        except Serial as found:
            inst, why, hint = found.args
            _unmark(branch)
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
        _unmark(copies[loop.header].terminator)
        guard = ir.Block("rows")
        b = Builder(guard.insts, loop.header.terminator.loc, None)
        few = b.op(a.ILE, count.start[count.left], b.const(k.Int, 1), type=k.Bool)
        args = count.entry.args
        guard.insts.append(ir.Inst(control.BRANCH, (few,), {}, None, b.loc,
                                   [ir.Edge(copies[loop.header], args), ir.Edge(loop.header, args)]))
        count.entry.block, count.entry.args = guard, []
        fn.blocks += [guard, *copies.values()]
        fn.blocks = reverse_postorder(fn)
    for one in inner:
        _unmark(one.header.terminator)
    return True


def _unmark(branch: ir.Inst) -> None:
    branch.attrs = {name: value for name, value in branch.attrs.items() if name != "independent"}


def _warn(fn, inst, why: str, hint: str) -> None:
    _, filename = inst.attrs.get("origin") or (fn.qualname, fn.filename)
    warnings.warn_explicit(f"this loop over prange runs on one thread: {why}" + (f"; {hint}" if hint else ""),
                           ParallelWarning, filename, inst.loc.line or fn.firstlineno)


def _is_made(v: ir.Value) -> bool:
    """Whether an instruction makes this array."""
    return v.inst is not None and v.inst.op in (memory.ARRAY_NEW, memory.ARRAY_COPY)


class _Gone(Exception):
    """Raised where a loop can make no iterations."""


class _Region(Carried):
    """One loop that is being outlined."""

    def __init__(self, fn: ir.Function, loop, kind: str, single: bool):
        self.fn, self.loop, self.kind = fn, loop, kind
        self.single = single  # whether each iteration is a chunk of its own
        self.header = loop.header
        self.branch = self.header.terminator
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
        before = ir.Block("enter", [ir.Value(p.type, p.name) for p in self.header.params])
        before.insts.append(ir.Inst(control.JUMP, targets=[ir.Edge(self.header, before.params)]))
        for _, _, edge in entries:
            edge.block = before
        self.fn.blocks.append(before)

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
        self.back.args[at] = b.op(a.IADD, left, b.const(k.Int, -1), type=k.Int)
        latch.insts[-1:-1] = b.insts
        self.analyse()
        count = counted.find(self.loop, self.defs, self.edges)
        assert count is not None and count.left is left
        self.count = count

    # -- errors

    def error(self, inst: ir.Inst, message: str, hint: str) -> Exception:
        if self.kind != "prange":
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
        self.build()

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
        """Raise for elements that are known to be accessed by two iterations, one of which writes. Arrays to whose
        elements iterations only add, or which they only multiply, get a copy for each chunk: `self.shared`, array ->
        (operation, neutral element)."""
        self.shared: dict[ir.Value, tuple] = {}
        if self.kind not in ("prange", "kept", "adjoint"):
            return
        memo: dict = {}
        accesses = []
        for block in self.loop.blocks:
            for inst in block.insts:
                if inst.op is memory.ARRAY_LOAD or inst.op is memory.ARRAY_STORE:
                    root = root_of(inst.args[0])
                    if root in self.defined and (self.kind != "adjoint" or _is_made(root)):
                        continue
                    stores = inst.op is memory.ARRAY_STORE
                    indices = inst.args[1:-1] if stores else inst.args[1:]
                    forms = [counted.affine(v, self.defs, self.loop.blocks, memo) for v in indices]
                    accesses.append((inst, inst.args[0], root, stores, forms))
        if self.kind == "adjoint":
            self.check_adjoints(accesses)
            return
        inner = self.inner_counters()
        same: dict[ir.Value, bool] = {}
        for inst, array, root, stores, forms in accesses:
            if not stores or root in self.shared:
                continue
            moves = any(self.counters.get(v) for form in forms for v in form.terms)
            fixed = self.is_same(array, inner, same) and all(
                self.is_same(v, inner, same) for form in forms for v in form.terms)
            if fixed or not moves and self.is_same(array, inner, same):
                op = self.added_up(root, accesses)
                if op is not None:
                    self.shared[root] = op
                    continue
            name = repr(root.name) if root.name else "an array"
            if not fixed and not moves and any(whose is root and not writes and not any(
                    self.counters.get(v) for form in places for v in form.terms)
                    for _, _, whose, writes, places in accesses):
                raise Serial(inst, f"iterations change elements of {name} that they also read, at places that may be "
                                   "the same", "only sums, products and bits are combined: a[j] += x, or -=, *=, "
                                   "|=, &=, ^=")
            if fixed:
                raise self.error(inst, f"every iteration of a parallel loop writes the same elements of {name}",
                                 "add to them in one form alone, as in a[j] += x, or write range for prange")
            for other, array_2, root_2, _, forms_2 in accesses:
                if root_2 is root and array_2 is array and other is not inst and self.collide(forms, forms_2, inner):
                    what = "writes" if other.op is memory.ARRAY_STORE else "reads"
                    raise self.error(other, f"an iteration of a parallel loop {what} an element of {name} that another "
                                            f"iteration writes, at line {inst.loc.line}",
                                     "write into another array, or write range for prange")

    def check_adjoints(self, accesses) -> None:
        """As `check_elements`, of a reversed loop. The program guarantees nothing about it: where iterations read the
        same element, the reversed ones add to the adjoint of it. So each access must be known to be to elements of its
        own iteration, or all must be sums."""
        stored = {root for _, _, root, stores, _ in accesses if stores}
        hint = "index the arrays by the loop variable, or use whole-array expressions"
        for block in self.loop.blocks:
            for inst in block.insts:
                written = ir.regions_written(self.aliases.effects(inst)) & ir.ELEMENTS
                if inst.op in _ACCESSES or not written and inst.op in _SHAPES:
                    continue
                for v in inst.args:
                    root = root_of(v) if type(v.type) is k.Array else None
                    if root in stored or root is not None and written and not (
                            root in self.defined and _is_made(root)):
                        raise Serial(inst, "iterations may write the same elements of adjoints", hint)
        for root in stored:
            if root in self.defined or not (_is_made(root) or root in self.fn.params):
                raise Serial(self.branch, "which array of adjoints is written depends on the iteration", hint)
            own = [(array, forms) for _, array, whose, _, forms in accesses if whose is root]
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
        for axis, form in enumerate(first):
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
        for inst, array, whose, stores, _ in accesses:
            if whose is not root or not stores:
                continue
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

    def collide(self, one, two, inner) -> bool:
        """Whether two accesses are known to reach the same element in two different iterations."""
        distance = None
        for x, y in zip(one, two):
            difference = x.plus(y, -1)
            if difference.terms:
                return False
            moved = [(c, self.counters[v]) for v, c in x.terms.items() if v in self.counters]
            if not all(type(step) is int for _, step in moved):
                return False
            steps = sum(c * step for c, step in moved)
            if steps == 0:
                if difference.constant and not any(v in inner for v in x.terms):
                    return False
                continue
            if difference.constant % steps:
                return False
            apart = difference.constant // steps
            if distance is not None and distance != apart:
                return False
            distance = apart
        trips = self.defs.constant(self.count.start[self.count.left])
        return distance is not None and 0 < abs(distance) < (_FAR if trips is None else trips)

    # -- outlining

    def details(self) -> list[str]:
        """The report of `parallel_diagnostics`: how carried values and inner loops are handled."""
        found = []
        names: set[str] = set()
        for part in sorted(self.parts, key=lambda part: part.shown_last):  # a flag may be a component of another part
            if not names.issuperset(part.names()):
                found.append(str(part))
            names.update(part.names())
        found += [f"each chunk adds to a copy of {root.name or 'an array'}" for root in self.shared]
        if self.nested:
            found.append("the marked loops in it run on the thread of their chunk")
        return found

    def cost(self) -> tuple[int, bool]:
        """(the estimated cost of an iteration, whether it is known: an inner loop may make any number of trips)"""
        total, known = 0, True
        loops = {block: 1 for block in self.loop.blocks}
        work = list(self.loop.inner)
        while work:
            loop = work.pop()
            work += loop.inner
            one = counted.find(loop, self.defs, self.edges)
            trips = self.defs.constant(one.start[one.left]) if one is not None else None
            known = known and trips is not None
            for block in loop.blocks:
                loops[block] *= max(1, min(_INNER if trips is None else trips, 1 << 12))
        for block, times in loops.items():
            total += times * sum(max(inst.op.cost, 0) for inst in block.insts)
            known = known and not any(inst.op is control.INVOKE for inst in block.insts)
        if known and len(self.loop.blocks) <= 2:  # it is vectorised, in all likelihood
            total //= 4
        return max(total, 1), known

    def chunk_size(self, b: Builder, trips: ir.Value, least: int, known: bool) -> ir.Value:
        """How many iterations a chunk has: `least`, or more so that there are at most CHUNKS chunks. Where iterations
        have the same cost, there are few chunks, in a number that threads can share evenly, and a vectorised loop has
        no rest in any but the last."""
        def divided(x, n):
            return b.op(a.ISHR, b.op(a.IADD, x, b.const(k.Int, n - 1), type=k.Int),
                        b.const(k.Int, n.bit_length() - 1), type=k.Int)

        def at_least(x, y):
            return b.op(SELECT, b.op(a.IGT, x, y, type=k.Bool), x, y, type=k.Int)

        size = at_least(divided(trips, CHUNKS), b.const(k.Int, least))
        if not known:
            return size
        rounds = b.op(a.IADD, b.op(a.IFLOORDIV, trips, b.const(k.Int, 4 * _FEW * least), type=k.Int),
                      b.const(k.Int, 1), type=k.Int)
        share = b.op(a.IFLOORDIV, divided(trips, _FEW), rounds, type=k.Int)
        size = at_least(size, b.op(a.IADD, share, b.const(k.Int, 1), type=k.Int))
        if least < 8 * _LANES:
            return size
        return b.op(a.IMUL, divided(size, _LANES), b.const(k.Int, _LANES), type=k.Int)

    def build(self) -> None:
        fn, count, header = self.fn, self.count, self.header
        loc = self.branch.loc if self.branch.loc.line else count.entry_inst.loc
        chunk = ir.Function(f"{fn.name}.loop{loc.line}", fn.qualname, fn.filename, fn.firstlineno, fn.library)
        chunk.result = k.NoneType
        chunk.flags = fn.flags._replace(recursive=False)
        # before the loop: how it is divided
        before = ir.Block("region")
        b = Builder(before.insts, loc, self.unwind)
        zero, one = b.const(k.Int, 0), b.const(k.Int, 1)
        left = count.start[count.left]
        trips = b.op(SELECT, b.op(a.IGT, left, zero, type=k.Bool), left, zero, type=k.Int)
        cost, known = self.cost()
        least = max(1, -(-WORK // cost))
        size = one if self.single else self.chunk_size(b, trips, least, known)
        if self.kind == "prange" and not self.single:
            asked = b.op(GET_CHUNK_SIZE, type=k.Int)
            if self.parts or self.shared:  # one of each is stored for every chunk
                floor = b.op(a.IADD, b.op(a.ISHR, trips, b.const(k.Int, 16), type=k.Int), one, type=k.Int)
                floor = b.op(SELECT, b.op(a.IGT, asked, zero, type=k.Bool), floor, zero, type=k.Int)
                asked = b.op(SELECT, b.op(a.IGT, asked, floor, type=k.Bool), asked, floor, type=k.Int)
            size = b.op(SELECT, b.op(a.IGT, asked, zero, type=k.Bool), asked, size, type=k.Int)
        extents = {}
        for root in self.shared:  # combining the copies must not take longer than the loop
            extents[root] = [b.op(memory.ARRAY_DIM, root, type=k.Int, axis=n) for n in range(root.type.ndim)]
            floor = b.const(k.Int, 2)
            for n in extents[root]:
                floor = b.op(a.IMUL, floor, n, type=k.Int)
            if not self.single:
                size = b.op(SELECT, b.op(a.IGT, size, floor, type=k.Bool), size, floor, type=k.Int)
        chunks = b.op(a.IFLOORDIV, b.op(a.IADD, trips, b.op(a.ISUB, size, one, type=k.Int), type=k.Int), size,
                      type=k.Int)
        arrays = []  # (part, parameter, the arrays of its scalars)
        for part in self.parts:
            for p in part.stored:
                arrays.append((part, p, [typed(b, memory.ARRAY_NEW, chunks, k.Array(element_type(t), 1, "C"))
                                         for t in part.types(p)]))
        seeds = {}  # generator -> the number drawn from it as a seed; one for all uses of the generator of np.random
        for v in self.generators:
            shared = v.inst is not None and v.inst.op is random.RANDOM_GLOBAL
            key = v.type.cls if shared else v
            if key not in seeds:
                whole = _made(b, random.RANDOM_GLOBAL, v.type, cls=v.type.cls) if shared else v
                seeds[key] = b.op(random.RANDOM_NEXT, whole, type=k.uint64, kind="uint64")
        copies_of = {}
        for root, lengths in extents.items():
            t = k.Array(root.type.dtype, root.type.ndim + 1, "C")
            made = b.op(memory.ARRAY_NEW, chunks, *lengths, type=t)
            made.inst.attrs.update(type=t, zero=not self.shared[root][1])
            copies_of[root] = made
        # the function that runs a chunk
        starts = {p: count.start[p] for p in header.params if p is not count.left}
        live = self.live_ins(starts)
        number, size_in, trips_in = (ir.Value(k.Int, name) for name in ("chunk", "size", "trips"))
        entry = ir.Block("entry", [number, size_in, trips_in])
        chunk.blocks.append(entry)
        values: dict[ir.Value, ir.Value] = {}
        e = Builder(entry.insts, loc, None)
        given = []
        def take(v):
            """Recompute constants, and views that show the layout of arrays, in the chunk, so that passes can use them
            there."""
            if v not in values:
                inst = v.inst
                if inst is not None and (inst.op is control.CONST or inst.op in _SHAPES):
                    for x in inst.args:
                        take(x)
                    entry.insts.append(clone_inst(inst, values, {}))
                else:
                    values[v] = ir.Value(v.type, v.name)
                    entry.params.append(values[v])
                    given.append(v)

        for root, array in copies_of.items():
            whole = ir.Value(array.type, root.name)
            entry.params.append(whole)
            given.append(array)
            values[root] = _slice(e, whole, number)
        streams = {}
        for key, seed in seeds.items():
            seed_in = ir.Value(k.uint64, "seed")
            entry.params.append(seed_in)
            given.append(seed)
            cls = key if isinstance(key, type) else key.type.cls
            streams[key] = _made(e, random.CHUNK_RANDOM, k.Instance(cls), seed_in, number, cls=cls)
        for v in self.generators:
            if v not in self.defined:
                values[v] = streams[v.type.cls if v.inst is not None and v.inst.op is random.RANDOM_GLOBAL else v]
        for v in live:
            take(v)
        parts_in = []
        for part, p, its in arrays:
            inside = [ir.Value(array.type, p.name) for array in its]
            parts_in.append((part, p, inside))
            entry.params += inside
            given += its
        first = e.op(a.IMUL, number, size_in, type=k.Int, flags="nuw nsw")
        rest = e.op(a.ISUB, trips_in, first, type=k.Int)
        fewer = e.op(a.ILT, rest, size_in, type=k.Bool)
        here = e.op(SELECT, fewer, rest, size_in, type=k.Int)
        begin: dict[ir.Value, ir.Value] = {count.left: here}
        for p, start in starts.items():
            begin[p] = values.get(start, start)
        for p, step in self.counters.items():
            moved = first if step == 1 else e.op(
                a.IMUL, first, e.const(k.Int, step) if type(step) is int else values[step], type=k.Int)
            begin[p] = e.op(a.IADD, begin[p], moved, type=k.Int, flags="nsw")
        for part in self.parts:
            part.begin(e, begin)
        order = [block for block in reverse_postorder(fn) if block in self.inside]
        copies = clone_blocks(order, values)
        entry.insts.append(ir.Inst(control.JUMP, (), {}, None, loc,
                                   [ir.Edge(copies[header], [begin[p] for p in header.params])]))
        done = ir.Block("done")
        d = Builder(done.insts, loc, None)
        for part, p, its in parts_in:
            for array, value in zip(its, part.scalars(d, p, values[p])):
                element = array.type.dtype
                d.op(memory.ARRAY_STORE, array, number,
                     value if value.type is element else typed(d, a.CAST, value, element))
        none = d.const(k.NoneType, None)
        done.insts.append(ir.Inst(control.RETURN, (none,), {}, None, loc))
        head = copies[header].terminator
        _unmark(head)
        for n, edge in enumerate(self.branch.targets):
            if edge is count.exit:
                head.targets[n] = ir.Edge(done)
        for block in order:
            for inst, copy in zip(block.insts, copies[block].insts):
                if inst.unwind is not None and id(inst.unwind) in self.unwinds:
                    copy.unwind = None
                if "independent" in copy.attrs:  # an inner loop runs on the thread of its chunk
                    _unmark(copy)
        for part in self.parts:
            part.loosen(values)
        chunk.blocks += [copies[block] for block in order]
        replaced = {}
        for v in self.generators:
            if v in self.defined:
                replaced[values[v]] = streams[v.type.cls]
                for block in chunk.blocks:
                    block.insts = [inst for inst in block.insts if inst is not values[v].inst]
        substitute(chunk.blocks, replaced)
        chunk.blocks.append(done)
        chunk.blocks = reverse_postorder(chunk)
        arrays_in = [v for v in values if isinstance(v.type, k.Array) and values[v] in entry.params]
        old = {values[v] for v in arrays_in}
        new = [p for p in entry.params if isinstance(p.type, k.Array) and p not in old]  # allocated for this region
        chunk.memo["disjoint"] = frozenset(
            [frozenset((values[x], values[y])) for x, y in combinations(arrays_in, 2) if self.aliases.distinct(x, y)]
            + [frozenset(pair) for pair in (*combinations(new, 2), *product(new, old))])
        # the call, and its results
        blocks, ready = [before], before
        for root, array in copies_of.items():
            empty = self.shared[root][1]
            if empty:
                ready = _for_all(ready, blocks, [chunks, *extents[root]], loc, None, lambda b, *indices: b.op(
                    memory.ARRAY_STORE, array, *indices, b.const(root.type.dtype, constant_of(root.type.dtype, empty))))
        b = Builder(ready.insts, loc, b.unwind)
        result = ir.Value(k.NoneType)
        attrs = {"callee": chunk, "chunks": True}
        if known and not self.single:
            attrs["short"] = 4 * least
        ready.insts.append(ir.Inst(control.INVOKE, [chunks, size, trips, *given], attrs, result, loc, (),
                                   self.unwind and ir.Edge(self.unwind.block, self.unwind.args)))
        final: dict[ir.Value, ir.Value] = {count.left: zero, **starts}
        for p, step in self.counters.items():
            moved = trips if step == 1 else b.op(
                a.IMUL, trips, b.const(k.Int, step) if type(step) is int else step, type=k.Int)
            final[p] = b.op(a.IADD, starts[p], moved, type=k.Int)
        for part in self.parts:
            if isinstance(part, Computed):
                last = {p: b.op(a.ISUB, final[p], b.const(k.Int, step) if type(step) is int else step, type=k.Int)
                        for p, step in self.counters.items()}
                part.finish(b, last, b.op(a.IGT, trips, zero, type=k.Bool), final)
        where = ready
        if arrays:
            where = self.combine(ready, blocks, chunks, arrays, final, zero, one, loc)
        for root, array in copies_of.items():
            lengths = [chunks, *extents[root]]
            where = _add_up(where, blocks, root, array, self.shared[root][0], lengths, loc, self.unwind)
        where.insts.append(ir.Inst(control.JUMP, (), {}, None, loc,
                                   [ir.Edge(header, [final[p] for p in header.params])]))
        self.branch.op, self.branch.args, self.branch.attrs = control.JUMP, [], {}
        self.branch.targets = [count.exit]
        count.entry.block, count.entry.args = before, []
        fn.blocks += blocks
        remove_unreachable(fn)
        fn.blocks = reverse_postorder(fn)

    def live_ins(self, starts) -> list[ir.Value]:
        found = dict.fromkeys(used_from_outside(
            self.inside, lambda edge: edge is self.count.exit or id(edge) in self.unwinds))
        found.update(dict.fromkeys(step for step in self.counters.values() if type(step) is not int))
        found.update(dict.fromkeys(v for p, v in starts.items() if not any(p in part.params and part.starts_anew
                                                                          for part in self.parts)))
        return [v for v in found if v not in self.defined and v not in self.shared and v not in self.generators]

    def combine(self, before, blocks, chunks, arrays, final, zero, one, loc):
        """Make a loop that combines the chunks in order; returns the block after it. `final` gets the results."""
        params = [p for _, p, _ in arrays]
        head = ir.Block("combine", [ir.Value(k.Int, "chunk"), ir.Value(k.Int, "left"),
                                    *(ir.Value(p.type, p.name) for p in params)])
        body, after = ir.Block("part"), ir.Block("combined")
        at, left, *values = head.params
        h = Builder(head.insts, loc, None)
        nothing = h.const(k.Int, 0)
        more = h.op(a.IGT, left, nothing, type=k.Bool)
        head.insts.append(ir.Inst(control.BRANCH, (more,), {}, None, loc, [ir.Edge(body), ir.Edge(after)]))
        b = Builder(body.insts, loc, self.unwind)
        now = dict(zip(params, values))
        parts = {}
        for part, p, its in arrays:
            scalars = []
            for array, t in zip(its, part.types(p)):
                value = b.op(memory.ARRAY_LOAD, array, at, type=array.type.dtype)
                scalars.append(value if value.type is t else typed(b, a.CAST, value, t))
            parts[p] = part.from_scalars(b, p, scalars)
        new: dict[ir.Value, ir.Value] = {}
        for part in self.parts:
            if part.stored:
                part.combine(b, now, parts, new, final)
        steps = [b.op(a.IADD, at, b.const(k.Int, 1), type=k.Int, flags="nuw nsw"),
                 b.op(a.ISUB, left, b.const(k.Int, 1), type=k.Int, flags="nuw nsw")]
        body.insts.append(ir.Inst(control.JUMP, (), {}, None, loc,
                                  [ir.Edge(head, [*steps, *(new[p] for p in params)])]))
        before.insts.append(ir.Inst(control.JUMP, (), {}, None, loc,
                                    [ir.Edge(head, [zero, chunks, *(final[p] for p in params)])]))
        final.update(now)
        blocks += [head, body, after]
        return after


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


def _slice(b: Builder, whole: ir.Value, number: ir.Value) -> ir.Value:
    """whole[number]"""
    n = whole.type.ndim
    offset = b.op(a.IMUL, number, b.op(memory.ARRAY_STRIDE, whole, type=k.Int, axis=0), type=k.Int)
    parts = [b.op(op, whole, type=k.Int, axis=axis) for op in (memory.ARRAY_DIM, memory.ARRAY_STRIDE)
             for axis in range(1, n)]
    return typed(b, memory.ARRAY_VIEW, whole, k.Array(whole.type.dtype, n - 1, "C"), offset, *parts)


def _add_up(where: ir.Block, blocks, root, array, op, lengths, loc, unwind) -> ir.Block:
    """Make loops that add each chunk's copy, in order, to the array; returns the block after them."""
    def added(b, chunk, *indices):
        old = b.op(memory.ARRAY_LOAD, root, *indices, type=root.type.dtype)
        part = b.op(memory.ARRAY_LOAD, array, chunk, *indices, type=root.type.dtype)
        b.op(memory.ARRAY_STORE, root, *indices, b.op(op, old, part, type=root.type.dtype))

    return _for_all(where, blocks, lengths, loc, unwind, added)


def _for_all(where: ir.Block, blocks, lengths, loc, unwind, body) -> ir.Block:
    """Make loops over all indices below these lengths, for which body(builder, *indices) writes code; returns the block
    after them."""
    zero = None
    counters: list[ir.Value] = []
    latches: list[tuple] = []
    for length in lengths:
        b = Builder(where.insts, loc, None)
        zero = b.const(k.Int, 0)
        head = ir.Block("combine", [ir.Value(k.Int), ir.Value(k.Int)])
        inside, after = ir.Block("part"), ir.Block("combined")
        where.insts.append(ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(head, [zero, length])]))
        h = Builder(head.insts, loc, None)
        more = h.op(a.IGT, head.params[1], h.const(k.Int, 0), type=k.Bool)
        head.insts.append(ir.Inst(control.BRANCH, (more,), {}, None, loc, [ir.Edge(inside), ir.Edge(after)]))
        counters.append(head.params[0])
        latches.append((head, after))
        blocks += [head, inside, after]
        where = inside
    body(Builder(where.insts, loc, unwind), *counters)
    for head, after in reversed(latches):
        b = Builder(where.insts, loc, None)
        steps = [b.op(a.IADD, head.params[0], b.const(k.Int, 1), type=k.Int, flags="nuw nsw"),
                 b.op(a.ISUB, head.params[1], b.const(k.Int, 1), type=k.Int, flags="nuw nsw")]
        where.insts.append(ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(head, steps)]))
        where = after
    return where


def _made(b: Builder, op: ir.Op, t, *args, **attrs) -> ir.Value:
    result = b.op(op, *args, type=t)
    result.inst.attrs.update(attrs)
    return result


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
    before: dict[ir.Block, list[ir.Block]] = {}
    for block in fn.blocks:
        for edge in block.edges():
            before.setdefault(edge.block, []).append(block)
    found = {block for block in fn.blocks if block.insts[-1].op is control.RETURN}
    work = list(found)
    while work:
        for block in before.get(work.pop(), ()):
            if block not in found:
                found.add(block)
                work.append(block)
    return found
