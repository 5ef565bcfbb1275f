"""Let Python handle signals during loops, so that Ctrl-C works.

Runs after versioning. A counted loop without other loops or calls in it is cut into strips: the inner loop runs at most
`STRIP` iterations without a poll, so that it still vectorises; every other loop polls on its back edges. The polls of a
function share a counter, which stays from call to call, and cost a subtraction until it runs out.
Before:  header(i, left): branch left > 0 -> body, exit         body: ... jump header(i+1, left-1)
After:   strip(i, left): take = min(left, STRIP); poll; jump header(i, take)
         header(i, take): branch take > 0 -> body, rest         body: ... jump header(i+1, take-1)
         rest: more = left - take; branch more > 0 -> strip(i, more), exit
Where LLVM will not vectorise and the loop is seldom entered, one loop suffices, and LLVM compiles it in half the time:
it stops every `STRIP` iterations to poll.
After:   header(i, stop): branch i != stop -> go(stop), pause
         pause: rest = end - i; branch rest > 0 -> on, exit
         on: take = min(rest, STRIP); poll; jump go(i + take)
         (inside another loop it polls before the branch, for the trips of the loop around it)
         go(stop): body: ... jump header(i+1, stop)
An outermost loop of this form begins at a line of the cache: a few instructions in two lines take longer.
A row, an innermost loop that the guard before its nest has found short enough (`versioning.py`), or one that searches a
native list, whose items are in memory, runs to its end; the loop around it polls for the length of the row at each of
its steps. A loop that is known to make few trips does not poll, neither one of constant length nor one for which the
guard says so. The body of a loop of a few scalar operations is written four times, with one poll for all copies; twice
where the loop goes on while two elements are equal, since it mostly ends at once. So is the body of a small loop in
another around a row that searches, as in a sort of short rows: each copy has branches of its own, whose outcomes the
processor predicts better, also where code is badly placed in lines of its cache. Such copies count what they do, and
the last one polls. Tests that a carried number is small enough are made once for all copies (`grown.py`).
A function is flagged `skips_loop_passes` if all of its loops have the single-loop form above and recompute no invariant
value: the loop passes of LLVM would find nothing to do. The copy of a loop that keeps its checks has that form where
all other loops have it. An outer loop needs no poll of its own if no iteration can
finish without reaching the poll of an inner loop. Where an iteration may make an array, or copy or search an object of
the interpreter, which may be large, polls are closer together. A counted loop that has no effects and whose values are
unused is bypassed. Loops of library functions that must not handle signals (`unpolled`) have no poll.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from math import prod

from ..base.lazy import lazy
from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, closure, in_edges, reverse_postorder, successors
from ..ir.uses import readers as readers_of
from ..ops import control
from ..ops.arith import CAST, IADD, IAND, IEQ, IGT, ILT, IMUL, INE, ISHR, ISUB
from ..ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_NEW, ARRAY_STORE, FUEL, HIDDEN, POLL, item_bytes
from ..ops.structure import SELECT
from ..types.kinds import Int
from .counted import FEW, Definitions, affine, counts_down, find, step_of
from .hints import (
    in_order, is_straight_line, note, note_columns, note_independent, note_ordered, note_vectors, of_numbers,
    one_by_one, only_counts, packs, size, strided_accesses, sums_integers, waits_for_sum, walk, worth_unrolling,
)
from .rewrite import Builder, clone_blocks, split_edge

__all__ = ["run"]

repair = lazy(f"{__package__}.repair")  # only for loops whose bodies are copied
grown = lazy(f"{__package__}.grown")  # only where these compare a number with an interval

STRIP = 1 << 14  # iterations between two polls
_FEW_CALLS = 1 << 8  # iterations between two polls where each may make or copy something large
_CALL = FUEL // _FEW_CALLS  # units of work of such an iteration
_LONG_STEP = 1 << 40  # beyond it, the product of a step and the length of a strip may not fit
_BRIEF, _COPIES = 20, 4  # most operations of a loop whose body is written several times, and how often
_AROUND = 32  # most operations of such a loop around a row, with those of the row
_FEW = 16  # most loops of a function in which loops are unrolled: with hundreds, compiling would take too long
_SHORT = 256  # a loop that is known to make at most this many iterations does not poll
_NESTED = 1 << 12  # loops in loops do not poll either, if they make at most this many iterations together


def run(fn: ir.Function, options=Options()) -> None:
    _Polls(fn, options).run()


class _Polls:
    """Adds polls to the loops of a function, and hints for LLVM."""

    def __init__(self, fn: ir.Function, options):
        self.fn, self.options = fn, options
        self.paused: set[ir.Block] = set()  # headers of loops that stop to poll and recompute no invariant value
        self.pauses = False  # whether all loops but the copies that keep their checks do
        self.rows: dict[ir.Block, ir.Value] = {}  # header of a loop that runs to its end without a poll -> its length
        # header of a loop that is known to be short -> its most trips, with those of the loops inside
        self.short: dict[ir.Block, int] = {}
        self.varying: set[ir.Block] = set()  # headers of such loops whose length is not known
        self.polled: set[ir.Block] = set()  # headers whose loop is entered through a poll
        self.of_ranges: set[ir.Block] = set()  # headers of counted loops
        self.uneven: set[ir.Block] = set()  # headers of counted loops whose length changes with the loop around
        self.remaining: set[ir.Block] = set()  # headers of uneven loops down columns that LLVM may vectorise
        self.in_order = fn.flags.novectorize or fn.flags.optnone

    def run(self) -> None:
        if not self.remove_idle():
            self.fn.flags = self.fn.flags._replace(skips_loop_passes=True)
            return
        self.part_latches()
        nest = self.nest
        for loop in nest.loops:
            _cross(loop, self.edges, self.defs)
            _step_last(loop, nest, self.defs, self.readers)
        # the copies that keep their checks (versioning.py) are not unrolled, nor the parts of a very large function
        self.few = (not self.fn.flags.part
                    and _FEW >= sum(not loop.has_hint("novectorize") for loop in nest.loops))
        copies = [loop for loop in nest.loops
                  if loop.has_hint("novectorize") and loop.parent is None and not loop.inner]
        for loop in reversed(nest.loops):  # inner loops first
            if loop not in copies:
                self.add(loop)
        self.pauses = len(self.paused) == len(nest.loops) - len(copies)
        for loop in reversed(copies):
            self.add(loop)
        seen = {*self.short, *self.polled, *self.rows}
        tiny = {loop.header for loop in nest.loops if not loop.inner and loop.header not in seen and _scalar(loop)}
        tiny.update(loop.header for loop in nest.loops if self.few and self.is_around_search(loop))
        for block in nest.irreducible:
            block.insts.insert(0, ir.Inst(POLL, (), {"cost": 4}, None, block.insts[0].loc))
        innermost = [loop for loop in nest.loops if not loop.inner]
        for loop in innermost:
            self.hint(loop)
        if not self.in_order and any(packs(loop) for loop in innermost):
            self.fn.flags = self.fn.flags._replace(packs=True)
        if self.remaining and all(loop.header in self.remaining or not self.may_be_vectorised(loop)
                                  for loop in innermost):
            self.fn.flags = self.fn.flags._replace(narrow=True)
        if len(self.paused) == len(nest.loops) and not nest.irreducible:
            self.fn.flags = self.fn.flags._replace(skips_loop_passes=True)
        elif not (tiny or nest.irreducible or self.fn.flags.packs or self.fn.flags.narrow or self.in_order):
            vectors = [loop for loop in innermost if loop.header not in self.paused
                       and not loop.has_hint("novectorize")]
            if vectors and all(map(is_straight_line, vectors)) and all(map(only_counts, nest.loops)):
                note_vectors(vectors)
                self.fn.flags = self.fn.flags._replace(elementwise=True)
        self.fn.blocks = reverse_postorder(self.fn)
        if tiny:
            self.copy_bodies(tiny)

    def remove_idle(self) -> bool:
        """Remove the loops that do nothing. Returns whether any loop remains."""
        fn, idle = self.fn, True
        while idle:  # a loop may become idle when the idle loop inside it is removed
            fn.blocks = reverse_postorder(fn)
            self.look()
            if not self.nest.loops and not self.nest.irreducible:
                return False
            idle = any([_pass_by(loop, self.defs, self.edges, self.readers) for loop in self.nest.loops
                        if not loop.inner])
        return True

    def look(self) -> None:
        """Find the loops of the function as it is now."""
        fn = self.fn
        self.nest, self.defs = LoopNest(fn), Definitions(fn)
        self.edges, self.readers = in_edges(fn.blocks), readers_of(fn)

    def part_latches(self) -> None:
        """Give a counted loop whose last test leaves it (`if found: break`) a block after that test, where it counts.
        LLVM moves the test of the header to the end of the loop only if the block that jumps back does not leave the
        loop, and it moves loads out of a loop only if they are not behind the test of the header."""
        parted = False
        for loop in self.nest.loops:
            latch = loop.latches[0]
            if (len(loop.latches) == 1 and latch is not loop.header
                    and any(edge.block not in loop.blocks for edge in latch.edges())
                    and find(loop, self.defs, self.edges) is not None):
                (back,) = [edge for edge in latch.edges() if edge.block is loop.header]
                self.fn.blocks.append(split_edge(back, "latch"))
                parted = True
        if parted:
            self.fn.blocks = reverse_postorder(self.fn)
            self.look()

    def add(self, loop) -> None:
        """Let a loop poll, or find that it need not. The loops inside it are done."""
        if "unpolled" in loop.header.terminator.attrs:
            return
        if all(any(i.op is POLL for i in block.insts) for block in loop.latches):
            return  # the front end has added a poll inside `try`, whose exception the handlers can catch
        if not loop.inner and all(block.insts[-1].attrs.get("few_trips") for block in loop.latches):
            return  # it is short, and polls at every other iteration like others, which mispredicts fewer branches
        counted = find(loop, self.defs, self.edges)
        work = dict.fromkeys(self.rows[one.header] for one in loop.inner if one.header in self.rows)
        if counted is not None:
            if self.add_to_counted(loop, counted, work):
                return
        elif "no_poll" in loop.header.terminator.attrs:
            start = _falls_from(loop, self.nest, self.edges, self.defs)
            if start is not None:
                self.rows[loop.header] = start
                return
        unpolled = loop.blocks if work else _reached_without(loop, self.polled.intersection(_headers_in(loop)))
        for source, inst, edge in self.edges[loop.header]:
            if source in unpolled:
                _poll(self.fn, source, inst, edge, work, _CALL if _may_take_long(loop) else 4)

    def add_to_counted(self, loop, counted, work) -> bool:
        """Give a counted loop one of the forms above. Returns whether it has one, or needs no poll. work: the lengths
        of the rows in it."""
        header, defs = loop.header, self.defs
        self.of_ranges.add(header)
        length = counted.start[counted.left]
        if loop.parent is not None and defs.block_of.get(length) in loop.parent.blocks:
            self.uneven.add(header)
        trips = _at_most(length, defs)
        if trips is None:
            trips = header.terminator.attrs.get("most_trips")
        inside = max([self.short.get(one.header, 1) for one in loop.inner], default=1)
        if trips is not None and trips <= _SHORT and not work and trips * inside <= _NESTED:
            self.short[header] = max(trips, 1) * inside
            if defs.constant(length) is None:
                self.varying.add(header)
            # A vector load would wait until the stores of its elements have reached the cache, since single numbers
            # were stored there just before.
            if not loop.inner and trips <= FEW:
                note(loop, "novectorize")
            return True
        if (loop.parent is not None and _may_be_cut(loop) and defs.block_of.get(length) not in loop.parent.blocks
                and ("no_poll" in header.terminator.attrs or self.searches_list(loop, counted))):
            self.rows[header] = length
            _count_to_zero(counted, defs)
            if not note_ordered(loop, self.in_order, self.options) and self.few and worth_unrolling(counted, defs):
                note(loop, "unroll")
            return True
        once = sum(e[0] in loop.blocks for e in self.edges[header]) == 1
        if not loop.inner and _may_be_cut(loop) and once:
            ordered = note_ordered(loop, self.in_order, self.options)
            unroll = (not (ordered or self.pauses or loop.parent is None and waits_for_sum(header, self.options))
                      and self.few and worth_unrolling(counted, defs))
            if self.in_order or loop.parent is None and not unroll and not ordered and in_order(loop, self.options):
                if loop.parent is None and not loop.has_hint("novectorize"):
                    note(loop, "line")
                _pause(self.fn, counted, self.edges, self.defs, self.readers)
                if not _repeats(loop):
                    self.paused.add(header)
            else:
                _strip(self.fn, counted, self.edges, defs, self.readers, unroll)
            self.polled.add(header)
            return True
        if (loop.parent is None and once and _starts_pure(loop)
            and all(one.header in self.short or not one.inner and one.header not in self.of_ranges
                    for one in loop.inner)):
            # Every inner loop polls itself, or is short, and so do the functions that the loop may call.
            _pause(self.fn, counted, self.edges, self.defs, self.readers)
            self.polled.add(header)
            return True
        return False

    def is_around_search(self, loop) -> bool:
        """Whether a loop in another one consists of a few operations and of a row whose length depends on data."""
        return (len(loop.inner) == 1 and loop.inner[0].header in self.rows.keys() - self.of_ranges
                and loop.parent is not None and not loop.has_hint("novectorize") and size(loop) <= _AROUND)

    def searches_list(self, loop, counted) -> bool:
        """Whether a loop searches a native list, item by item: it makes no more trips than there are items, mostly few,
        and LLVM does not vectorise it."""
        of_item = ir.reads(ir.ITEMS)  # what only loads of items do; the module of native lists need not be loaded
        found = {b for b in loop.blocks for i in b.insts
                 if i.op.effects == of_item and len(i.args) == 2 and counted.steps.get(i.args[1]) == 1}
        return (any(all(self.nest.dom.dominates(b, latch) for latch in loop.latches) for b in found)
                and any(e.block not in loop.blocks for b in loop.blocks if b is not loop.header for e in b.edges()))

    def hint(self, loop) -> None:
        """Add hints for LLVM to an innermost loop."""
        as_written = self.in_order or loop.has_hint("novectorize")
        note_independent(loop, loop.header in self.short, self.in_order)
        if loop.header in self.varying:
            note(loop, "interleave", 1)  # more vectors in flight would often leave all iterations to the remainder
            if sums_integers(loop):  # computing its address takes a good part of the time of such a short row
                self.fn.flags = self.fn.flags._replace(steps=True)
        columns = note_columns(loop, self.defs)
        if columns and loop.header in self.uneven and not any("unroll" in b.insts[-1].attrs for b in loop.latches):
            # Elements of a column are loaded one by one, which keeps a processor busy with one vector. With two, or
            # with a longer one, more iterations of each row are left to the remainder.
            note(loop, "interleave", 1)
            if self.may_be_vectorised(loop):
                self.remaining.add(loop.header)
        if not as_written:
            walk(self.fn, loop, columns or one_by_one(loop, self.options) and strided_accesses(loop, self.defs)
                  or [],
                  self.defs)

    def may_be_vectorised(self, loop) -> bool:
        """Whether LLVM may vectorise an innermost loop, as far as its hints say."""
        return not (self.in_order or loop.has_hint("novectorize") or loop.has_hint("unroll")
                    or one_by_one(loop, self.options))

    def copy_bodies(self, tiny: set[ir.Block]) -> None:
        """Write the bodies of the loops with these headers several times, with one poll for all copies."""
        fn = self.fn
        loops = [loop for loop in LoopNest(fn).loops if loop.header in tiny and len(loop.latches) == 1]
        readers = readers_of(fn)
        number = {block: n for n, block in enumerate(fn.blocks)}
        definitions: dict[ir.Value, dict[ir.Block, ir.Value]] = {}
        bounded = False
        for loop in loops:
            bounds, count = None, _copies_of(loop)
            if any(block.insts[-1].attrs.get("likely") is True for block in loop.blocks):
                bounds = grown.find(loop, Definitions(fn), in_edges(fn.blocks), count)
            bounded |= bounds is not None
            definitions.update(_copied(fn, loop, count, number, readers, bounds))
        fn.blocks = reverse_postorder(fn)
        if bounded:  # the copies without tests do not reach the blocks behind these
            reached = set(fn.blocks)
            definitions = {v: {block: x for block, x in ends.items() if block in reached}
                           for v, ends in definitions.items()}
        repair.repair(fn, definitions)


def _falls_from(loop, nest, edges, defs):
    """The start of an int that falls on each trip of a loop and is not negative there; None where the start is not
    known wherever an iteration of the loop around it ends."""
    entries = loop.entries(edges)
    for k, p in enumerate(loop.header.params):
        if p.type is Int and len(entries) == 1 and (step_of(loop, edges, p, defs) or 0) < 0:
            start = entries[0][2].args[k]
            if all(nest.dom.dominates(defs.block_of[start], b) for b in loop.parent.latches):
                return start
    return None


def _headers_in(loop):
    """Iterate over the headers of the loops inside a loop."""
    for one in loop.inner:
        yield one.header
        yield from _headers_in(one)


def _reached_without(loop, headers) -> set[ir.Block]:
    """The blocks of a loop that can be reached from its header without passing a block of `headers`. (A guard
    selects one of two copies of an inner loop: each iteration runs one of these loops.)"""
    return set(closure([loop.header], lambda block: [
        succ for succ in successors(block) if succ in loop.blocks and succ not in headers]))


def _cross(loop, edges, defs) -> None:
    """Hide the start of an induction variable from LLVM where it is not negative and the first step takes it below 0.
    As an unsigned int it never wraps in two iterations, and LLVM 22.1.0 then mixes signed and unsigned comparisons of
    it (llvm-project issue 180870)."""
    for k, p in enumerate(loop.header.params):
        for source, inst, edge in edges[loop.header]:
            start = defs.constant(edge.args[k]) if source not in loop.blocks else None
            if start is not None and start >= 0 and start + (step_of(loop, edges, p, defs) or 0) < 0:
                hidden = ir.Value(Int)
                source.insts.insert(source.insts.index(inst), ir.Inst(HIDDEN, (edge.args[k],), {}, hidden, inst.loc))
                edge.args[k] = hidden


def _step_last(loop, nest, defs, readers) -> None:
    """Move instructions of the header whose results only the next iteration needs, such as `i + 1`, to the end of the
    iteration. In the header they are computed before the test that leaves the loop, and LLVM, which moves that test to
    the end, would then keep both `i` and `i + 1` alive from iteration to iteration."""
    header, latch = loop.header, loop.latches[0]
    if len(loop.latches) != 1 or latch is header or nest.of[latch] is not loop:
        return
    used = {v for i in latch.insts for v in (*i.args, *(() if i.unwind is None else i.unwind.args))}
    late = [i for i in header.insts[:-1] if i.op.effects == ir.PURE and i.op is not control.CONST
            and i.result not in used and all(reader is latch for reader in readers.get(i.result, (header,)))]
    if late:
        header.insts = [i for i in header.insts if i not in late]
        latch.insts[-1:-1] = late
        for inst in late:
            defs.block_of[inst.result] = latch
            for v in inst.args:
                readers.setdefault(v, []).append(latch)


def _pass_by(loop, defs, edges, readers) -> bool:
    """Remove a counted loop that has no effect and whose values are not used; return whether the loop was removed.
    readers: value -> blocks that read it."""
    if any(inst.op.effects & ~ir.TERMINATOR for block in loop.blocks for inst in block.insts):
        return False
    parts = counts_down(loop, defs, edges)
    if parts is None:
        return False
    exit = parts[2]
    if any(edge.block not in loop.blocks and edge is not exit for block in loop.blocks for edge in block.edges()):
        return False
    inside = ({p for block in loop.blocks for p in block.params}
              | {i.result for block in loop.blocks for i in block.insts})
    if (not inside.isdisjoint(exit.args)
        or any(reader not in loop.blocks for v in inside for reader in readers.get(v, ()))):
        return False
    for source, _, edge in edges[loop.header]:
        if source not in loop.blocks:
            edge.block, edge.args = exit.block, list(exit.args)
    return True


def _at_most(v, defs):
    """An upper bound of a number of trips, or None: 128 for min(x, 128), or for the length of range(i, i + 128). Where
    sums wrap the bound may be too small; then only a poll is missing."""
    inst = v.inst
    if inst is None:
        return None
    op, args = inst.op, inst.args
    if op is SELECT:
        test, x, y = args
        one, other = _at_most(x, defs), _at_most(y, defs)
        made = test.inst
        if made is not None and made.op in (ILT, IGT):
            smaller, larger = made.args if made.op is ILT else made.args[::-1]
            if one is None and smaller is x:
                one = _at_most(larger, defs)
            if other is None and larger is y:
                other = _at_most(smaller, defs)
        return None if one is None or other is None else max(one, other)
    if op is IADD or op is ISHR:
        x, y = _at_most(args[0], defs), _at_most(args[1], defs) if op is IADD else defs.constant(args[1])
        return None if x is None or y is None else x + y if op is IADD else x >> y
    if op is ISUB:
        least = args[1].inst
        positive = least is not None and least.op is IAND and (defs.constant(least.args[1]) or -1) >= 0
        x, y = _at_most(args[0], defs), 0 if positive else defs.constant(args[1])
        return None if x is None or y is None else x - y
    return defs.constant(v)


def _may_take_long(loop) -> bool:
    """Whether an iteration may take long without a poll: a list that it copies, or an array that it makes, may be
    large. Library functions on arrays poll themselves."""
    return any([inst.op is ARRAY_NEW and not _is_small(inst) or inst.op.effects & ir.HOST and inst.op.cost == ir.CALL
                or inst.op is control.INVOKE and inst.attrs["callee"].library and not of_numbers([inst])
                for block in loop.blocks for inst in block.insts])


def _is_small(new) -> bool:
    """Whether the shape of a new array is constant, and the array has few elements."""
    lengths = [v.inst.attrs["value"] for v in new.args if v.inst is not None and v.inst.op is control.CONST]
    return len(lengths) == len(new.args) and prod(lengths) < _NESTED


def _poll(fn, source, inst, edge, work, least):
    """Add a poll on a back edge, outside `try` (see generic.POLL). work: lengths of inner loops that do not poll;
    least: what an iteration costs without them."""
    insts: list[ir.Inst] = []
    cost: tuple = ()
    for length in work:
        if cost:
            insts.append(ir.Inst(IADD, (*cost, length), {}, ir.Value(Int), inst.loc))
            length = insts[-1].result
        cost = length,
    insts.append(ir.Inst(POLL, cost, {} if cost else {"cost": least}, None, inst.loc))
    if len(inst.targets) == 1:
        here = source.insts.index(inst)
        source.insts[here:here] = insts
    else:
        middle = split_edge(edge, "poll")
        middle.insts[:0] = insts
        middle.insts[-1].loc = inst.loc
        fn.blocks.append(middle)


def _scalar(loop) -> bool:
    """Whether a loop consists of a few operations on numbers, so that a poll in every iteration would noticeably slow
    it."""
    return size(loop) <= _BRIEF and all(
        i.unwind is None and i.op is not control.INVOKE
        and (i.op is ARRAY_STORE or not i.op.effects & (ir.WRITES | ir.ALLOCATES | ir.HOST))
        for b in loop.blocks for i in b.insts if i.op is not control.CONST and i.op is not control.JUMP)


def _copies_of(loop) -> int:
    """How many times the body of a loop is written."""
    return 2 if any([_goes_on_while_equal(block.insts[-1], loop) for block in loop.blocks]) else _COPIES


def _copied(fn, loop, count, number, readers, bounds) -> dict[ir.Value, dict[ir.Block, ir.Value]]:
    """Unroll a loop to `count` copies of its body, with one poll for all: each copy but the last continues with the
    next one.
    Before:  header: ... branch -> latch, out              latch: poll; jump header
    After:   header: ... branch -> latch, out              latch: jump header'
             header': ... branch -> latch', out            latch': poll; jump header
    Returns the new definitions of values that are used after the loop, for `repair`. number: block -> its place in the
    order. bounds: None, or the intervals from which no test of the copies can fail."""
    blocks = sorted(loop.blocks, key=number.__getitem__)
    values: list[dict[ir.Value, ir.Value]] = [{} for _ in range(count - 1)]
    copies = [dict(zip(blocks, blocks)), *[clone_blocks(blocks, one) for one in values]]
    more = [] if bounds is None else [bounds.apply(fn, copies, blocks)]
    for copy, following in zip(copies, [*copies[1:], copies[0]]):
        for edge in copy[loop.latches[0]].edges():
            if edge.block is copy[loop.header]:
                edge.block = following[loop.header]
        if following is not copies[0]:
            for block in copy.values():
                if not loop.inner:  # the copies together take less than what the poll counts for one
                    block.insts = [i for i in block.insts if i.op is not POLL]
                for inst in block.insts:
                    if inst.op is POLL:
                        inst.attrs = {**inst.attrs, "counts": True}
    ends = [*zip(copies, [{}, *values]), *more]
    return {v: {copy[block]: one.get(v, v) for copy, one in ends} for block in blocks
            for v in block.values()
            if any(reader not in loop.blocks for reader in readers.get(v, ()))}


def _goes_on_while_equal(branch, loop) -> bool:
    """Whether a branch leaves a loop unless two elements are equal, as in a comparison of texts."""
    test = branch.args[0].inst if branch.op is control.BRANCH else None
    if test is None or test.op not in (IEQ, INE) or not all([_is_element(v) for v in test.args]):
        return False
    equal, other = branch.targets if test.op is IEQ else branch.targets[::-1]
    return equal.block in loop.blocks and other.block not in loop.blocks


def _is_element(v) -> bool:
    while v.inst is not None and v.inst.op is CAST:
        v = v.inst.args[0]
    return v.inst is not None and v.inst.op is ARRAY_LOAD


def _may_be_cut(loop) -> bool:
    """Whether a loop has no calls and its header has no effects, so that it may be cut into strips."""
    return _starts_pure(loop) and all(i.op is not control.INVOKE for b in loop.blocks for i in b.insts)


def _starts_pure(loop) -> bool:
    """Whether the header of a loop has no effects, so that the loop may be left there and entered again."""
    return not any(i.op.effects for i in loop.header.insts[:-1])


def _count_to_zero(counted, defs) -> None:
    """Let the loop test `left != 0`, from which LLVM finds the number of trips most quickly."""
    branch = counted.loop.header.terminator
    if _not_negative(counted.start[counted.left], defs):
        b = Builder(counted.loop.header.insts, branch.loc, before_last=True)
        branch.args = [b.test(INE, counted.left, b.const(Int, 0))]


def _between_polls(loop) -> tuple[int, int]:
    """The most iterations of a loop between two polls, and the units of work of each."""
    return (_FEW_CALLS, _CALL) if _may_take_long(loop) else (STRIP, 1)


def _poll_for(b: Builder, left, loop) -> ir.Value:
    """Poll for the iterations until the next poll of a loop that has `left` iterations; returns how many they are."""
    most, cost = _between_polls(loop)
    limit = b.const(Int, most)
    take = b.int(SELECT, b.test(ILT, left, limit), left, limit)
    b.op(POLL, take if cost == 1 else b.int(IMUL, take, b.const(Int, cost)))
    return take


def _strip(fn, counted, edges, defs, readers, unroll):
    loop, header = counted.loop, counted.loop.header
    branch = header.terminator
    loc = branch.loc
    at = header.params.index(counted.left)
    spare = _only_counts(counted, readers)
    # before the loop: the length of the strip, and the poll
    strip = ir.Block("strip", [ir.Value(p.type, p.name) for p in header.params])
    left = strip.params[at]
    passed = [p for k, p in enumerate(strip.params) if k != at or not spare]
    b = Builder(strip.insts, loc)
    take = _poll_for(b, left, loop)
    take.name = "take"
    b.jump(ir.Edge(header, [*passed, take]))
    for source, inst, edge in edges[header]:
        if source in loop.blocks:  # the inner loop counts the strip down
            down, one = ir.Value(Int), ir.Value(Int)
            here = source.insts.index(inst)
            source.insts[here:here] = [ir.Inst(control.CONST, (), {"value": 1}, one, loc)]
            edge.args = [*(v for k, v in enumerate(edge.args) if k != at or not spare), down]
            counter_down = (source, inst, one, down)
            back = edge.args
            if unroll and not inst.attrs.get("novectorize"):
                inst.attrs = {**inst.attrs, "unroll": unroll}
        else:
            edge.block = strip
    counter = ir.Value(Int, "take")
    source, inst, one, down = counter_down
    source.insts.insert(source.insts.index(inst), ir.Inst(ISUB, (counter, one), {"flags": "nuw nsw"}, down, loc))
    if spare:
        _drop(counted)
    header.params.append(counter)
    # after the loop: the trips that remain after the strip
    # LLVM recognises the count fastest with `!=`
    test = INE if _not_negative(counted.start[counted.left], defs) else IGT
    b = Builder(header.insts, loc, before_last=True)
    branch.args = [b.test(test, counter, b.const(Int, 0))]
    after = ir.Block("rest")
    b = Builder(after.insts, loc)
    rest = b.int(ISUB, left, take, flags="nuw nsw")
    carried = header.params[:-1]
    if not unroll and not loop.has_hint("novectorize") and (
            _is_narrow(loop) or loop.parent is not None and not _goes_down(counted, defs)):
        carried = [_after_strip(*each, counted, take, b) for each in zip(carried, passed, back)]
    if spare:
        carried = [*carried[:at], rest, *carried[at:]]
    b.branch(b.test(IGT, rest, b.const(Int, 0)), ir.Edge(strip, carried), branch.targets[1], likely=False)
    branch.targets[1] = ir.Edge(after)
    fn.blocks += [strip, after]


def _is_narrow(loop) -> bool:
    """Whether a loop stores elements of one or two bytes, of which a vector holds many."""
    return any(i.op is ARRAY_STORE and item_bytes(i.args[0].type.dtype) <= 2 for b in loop.blocks for i in b.insts)


def _goes_down(counted, defs) -> bool:
    """Whether a loop accesses elements down a column, which its vectors collect one by one."""
    loop = counted.loop
    return any(v in counted.steps for b in loop.blocks for i in b.insts if i.op is ARRAY_LOAD or i.op is ARRAY_STORE
               for index in i.args[1:i.args[0].type.ndim] for v in affine(index, defs, loop.blocks, {}).terms)


def _after_strip(p, start, following, counted, take, b: Builder) -> ir.Value:
    """The value of the header's parameter p after a strip of `take` trips. `start` is its value before the strip; each
    trip replaces it by `following`. For an index, that is a sum, computed after the strip: LLVM vectorises the trips
    that a loop of long vectors leaves over, in shorter ones, only where nothing reads what the trips have counted. A
    first call takes longer for that, so only loops inside others, which may be short, and those of many lanes have
    it."""
    step = counted.steps.get(p)
    if step is None or abs(step) > _LONG_STEP:
        return p
    by = take if step == 1 else b.int(IMUL, take, b.const(Int, step), flags="nsw")
    return b.int(IADD, start, by, **({"flags": "nsw"} if "nsw" in following.inst.attrs.get("flags", "") else {}))


def _drop(counted) -> None:
    """Remove the parameter that counts down and the instructions that use it; the caller changes the edges into the
    header."""
    loose = {i.result for b in counted.loop.blocks for i in b.insts if counted.left in i.args}
    for b in counted.loop.blocks:
        b.insts = [i for i in b.insts if i.result is None or i.result not in loose]
    counted.loop.header.params.remove(counted.left)


def _repeats(loop) -> bool:
    """Whether a loop recomputes a value that is invariant."""
    inside = ({p for block in loop.blocks for p in block.params}
              | {i.result for block in loop.blocks for i in block.insts})
    return any(inst.args and inst.result is not None and inside.isdisjoint(inst.args) for block in loop.blocks
               for inst in block.insts)


def _pause(fn, counted, edges, defs, readers):
    loop, header = counted.loop, counted.loop.header
    branch = header.terminator
    loc = branch.loc
    at = header.params.index(counted.left)
    # An index with step one replaces `left` as the counter, where `left` has no other use.
    index = (next((p for p, step in counted.steps.items() if step == 1), None) if _only_counts(counted, readers)
             else None)
    # before the loop: set so that the first test leaves to the poll
    stop = ir.Value(Int, "stop")
    end = None
    for source, inst, edge in edges[header]:
        if source not in loop.blocks:
            if index is None:
                first = edge.args[at]
            else:
                first = edge.args[header.params.index(index)]
                b = Builder([], loc)
                end = edge.args[at]
                if defs.constant(first) != 0:
                    end = b.int(IADD, first, end)
                source.insts[source.insts.index(inst):source.insts.index(inst)] = b.insts
            edge.args = [*(v for k, v in enumerate(edge.args) if k != at or index is None), first]
    # the loop
    go, pause, on = ir.Block("go", [ir.Value(Int, "stop")]), ir.Block("pause"), ir.Block("on")
    for source, inst, edge in edges[header]:
        if source in loop.blocks:
            edge.args = [*(v for k, v in enumerate(edge.args) if k != at or index is None), go.params[0]]
    if index is not None:
        _drop(counted)
    header.params.append(stop)
    body, out = branch.targets
    b = Builder(header.insts, loc, before_last=True)
    more = b.test(IGT, counted.left, stop) if index is None else b.test(INE, index, stop)
    branch.args, branch.targets = [more], [ir.Edge(go, [stop]), ir.Edge(pause)]
    branch.attrs = {**branch.attrs, "likely": True}
    Builder(go.insts, loc).jump(body)
    b = Builder(pause.insts, loc)
    rest = counted.left if index is None else b.int(ISUB, end, index)
    # the loop around relies on this poll, also where this loop makes no trip
    take = _poll_for(b, rest, loop) if loop.parent is not None else None
    b.branch(b.test(IGT, rest, b.const(Int, 0)), ir.Edge(on), out)
    b = Builder(on.insts, loc)
    take = take or _poll_for(b, rest, loop)
    b.jump(ir.Edge(go, [b.int(ISUB, counted.left, take) if index is None else b.int(IADD, index, take)]))
    fn.blocks += [go, pause, on]


def _not_negative(value, defs) -> bool:
    """Whether `value` is the length of something: an extent, or `p - q if p > q else 0` for a `q` that is not
    negative."""
    inst = value.inst
    if inst is None:
        return False
    if inst.op is control.CONST:
        return inst.attrs["value"] >= 0
    if inst.op is not SELECT or defs.constant(inst.args[2]) != 0:
        return inst.op is ARRAY_DIM
    test, length = inst.args[0].inst, inst.args[1]
    if test is None or test.op is not IGT and test.op is not ILT:
        return False
    p, q = test.args if test.op is IGT else reversed(test.args)
    least, made = defs.constant(q), length.inst
    if least is None or least < 0:  # p - q may not fit
        return False
    return (length is p or made is not None and made.op is IADD and made.args[0] is p
            and defs.constant(made.args[1]) == -least)


def _only_counts(counted, readers) -> bool:
    """Whether only the loop test and its own decrement use `left`."""
    left, loop = counted.left, counted.loop
    derived = set()
    for block in loop.blocks:
        for inst in block.insts:
            if left in inst.args:
                if inst.result is None:
                    return False
                derived.add(inst.result)
            for edge in inst.edges():
                if left in edge.args:
                    return False
    if any(reader not in loop.blocks for v in derived for reader in readers.get(v, ())):
        return False
    k = loop.header.params.index(left)
    for block in loop.blocks:
        for inst in block.insts:
            if derived.intersection(inst.args) and inst is not loop.header.terminator:
                return False
            for edge in inst.edges():
                for j, v in enumerate(edge.args):
                    if v in derived and not (edge.block is loop.header and j == k):
                        return False
    return True
