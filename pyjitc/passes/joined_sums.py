"""Compute the sums of a few trips of an outer loop in one inner loop.

Runs when versioning has made the copies of loops without checks, and before polling. In `for i: t = 0.0; for j: t +=
a[i, j] * x[j]` each addition waits for the one before. An inner loop for four trips over i has four sums, which do not
wait for each other, and loads each x[j] once. In a copy of the outer loop every fourth trip enters that loop, takes the
first sum, and keeps the others for the next three trips. All else is done once per trip as before, in any form: calls,
stores, branches, exceptions. Every sum gets the same terms in the same order.
Before:  outer(i, left): ... inner(t = 0.0, j): ... t1 = fadd t, f(i, j) ; jump inner(t1, j + 1)        after: ... t
After:   outer'(i, left, todo, kept, s1, s2, s3): branch todo > 0 -> ..., outer(i, left)
         ...: branch kept > 0 -> found(s1, kept - 1, s2, s3, s3), joined(0.0, 0.0, 0.0, 0.0, j)
         joined(t0, t1, t2, t3, j): ... jump joined(fadd t0, f(i, j), fadd t1, f(i + 1, j), ...)
                                                                  at its end: found(t0, 3, t1, t2, t3)
         found(t, kept, s1, s2, s3): ... after': ... t                          and the loops as they were, for the rest
Where the code around the inner loop is short, a copy of it for each of the trips follows the joined loop:
After:   outer'(i, groups): branch groups > 0 -> joined(0.0, 0.0, 0.0, 0.0, j), outer(i, left)
         joined(t0, t1, t2, t3, j): ...        at its end: ... t0 ... t1 ... t2 ... t3 ; jump outer'(i + 4, groups - 1)
More than four trips are joined if they read neighbouring elements, which LLVM then loads as a vector.
The joined loop reads elements for later trips before the outer loop reaches these trips. So nothing in the outer loop
may write these elements; where its stores might, the arrays are compared before the loop. And no exit of the outer loop
may depend on its counter: such an exit may be what keeps the indices of later trips within bounds.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, the value of each sum, effects and their order.
"""
from __future__ import annotations

import math

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith, control
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE, ARRAY_VIEW, OF_ONE_RUN, item_bytes
from ..ops.structure import SELECT
from ..types import kinds as k
from .alias import Aliases
from .counted import MOST_UNROLLED, Counted, Definitions, affine, find
from .guarding import no_overlap
from .hints import adds_in_order
from .jam import chain, group_header
from .rewrite import Builder, clone_blocks, clone_inst

__all__ = ["run"]

_TIMES = 4  # trips whose sums are computed together
_BYTES, _MOST = 64, 16  # where these trips read neighbouring elements: the bytes of the elements, the most trips
_ROOM = 16  # the most operations of the inner loop
_BRIEF = 2  # inner loops of at most this many trips are faster one after the other
_AROUND = 80  # the most operations of the outer loop outside of it, which are copied
_COPIED = 128  # the most operations in the copies of that code, one for each trip
_PAIRS = 6  # the most pairs of a store and a load whose arrays are compared before the loop
_SUMS = 2  # the most sums of the inner loop


def run(fn: ir.Function, options=Options()) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    outer = [loop for loop in LoopNest(fn).loops if len(loop.inner) == 1 and not loop.inner[0].inner
             and any([k.is_float(p.type) for p in loop.inner[0].header.params])]
    if not outer:
        return
    defs, edges, aliases = Definitions(fn), in_edges(fn.blocks), Aliases(fn)
    found = [one for one in [_Sums.of(fn, loop, defs, edges, aliases, options) for loop in outer] if one is not None]
    for one in found:
        fn.blocks += one.join_groups() if one.copied else one.join()
        fn.flags = fn.flags._replace(steps=True, packs=fn.flags.packs or one.copied and one.in_vectors)
    if found:
        fn.blocks = reverse_postorder(fn)


class _Sums:
    """outer, inner: the two loops; body: the instructions of the inner one; start, again: the edges into the inner loop
    and to its next trip; sums: what the inner loop carries, as positions of parameters; ahead: the instructions of the
    outer loop that compute what the inner loop needs; counters: the parameters of its header that these need; distinct:
    array -> others, with which it must share no memory; times: the number of trips whose sums are computed together;
    in_vectors: whether LLVM may compute them in vectors; copied: whether the code around the inner loop is copied for
    each of these trips."""

    def __init__(self, fn: ir.Function, outer: Counted, inner: Counted, defs: Definitions, aliases: Aliases):
        self.blocks, self.of_library = fn.blocks[:], fn.library
        self.outer, self.inner, self.defs, self.aliases = outer, inner, defs, aliases
        self.around = [block for block in outer.loop.blocks if block not in inner.loop.blocks]
        self.ahead: dict[ir.Inst, None] = {}
        self.counters: dict[ir.Value, None] = {}
        self.distinct: dict[ir.Value, list[ir.Value]] = {}

    @classmethod
    def of(cls, fn, loop, defs, edges, aliases, options) -> _Sums | None:
        outer, inner = find(loop, defs, edges), find(loop.inner[0], defs, edges)
        if outer is None or inner is None:
            return None
        trips, rows = (defs.constant(one.start[one.left]) for one in (inner, outer))
        if (trips is not None and trips <= MOST_UNROLLED or rows is not None and rows < _TIMES
                or not adds_in_order(loop.inner[0], options)):
            return None
        found = cls(fn, outer, inner, defs, aliases)
        if not found.follow() or not found.is_fit():
            return None
        found.choose_times()
        return found

    def follow(self) -> bool:
        """Find the instructions; False where the loops have another form."""
        before, body = chain(self.outer.body, self.inner.loop.header), chain(self.inner.body, self.inner.loop.header)
        if before is None or not body or not body[0] or len(body[0]) + 1 != len(self.inner.loop.blocks):
            return False
        if "novectorize" in self.outer.loop.header.terminator.attrs.keys() | self.inner.loop.header.terminator.attrs:
            return False
        self.start, self.again = before[1], body[1]
        self.body = [inst for block in body[0] for inst in block.insts[:-1]]
        self.latch = body[0][-1].terminator
        return True

    def is_fit(self) -> bool:
        header, inner = self.inner.loop.header, self.inner
        self.sums = [n for n, p in enumerate(header.params) if p not in inner.steps]
        insts = [*header.insts[:-1], *self.body]
        if (not 1 <= len(self.sums) <= _SUMS or not all([k.is_float(header.params[n].type) for n in self.sums])
            or any([made is None or made.op is SELECT for made in [self.again.args[n].inst for n in self.sums]])
            or sum(inst.op is not control.CONST for inst in insts) > _ROOM + 3):
            return False
        if any([inst.op.cost >= ir.CALL or inst.op.effects and inst.op is not ARRAY_LOAD
                or not OF_ONE_RUN.isdisjoint(inst.attrs) for inst in insts]):
            return False
        if any([self.varies(v) for p, v in inner.start.items() if p in inner.steps]):
            return False
        needed = [v for inst in insts for v in inst.args]
        # `vectorise` handles loads that are the same for all trips
        if not any([inst.op is ARRAY_LOAD and any(map(self.is_of_trip, inst.args))
                    and any([self.defs.block_of.get(v) in inner.loop.blocks for v in inst.args])
                    for inst in self.body]) or not all(
                [self.collect(v) for v in [*needed, *[self.start.args[n] for n in self.sums]]]):
            return False
        return self.may_be_copied() and self.may_read_ahead(
            [inst for inst in [*self.ahead, *insts] if inst.op is ARRAY_LOAD])

    def is_inside(self, v: ir.Value) -> bool:
        """Whether the outer loop defines a value, outside of the inner one."""
        block = self.defs.block_of.get(v)
        return block in self.outer.loop.blocks and block not in self.inner.loop.blocks

    def varies(self, v: ir.Value) -> bool:
        """Whether a value differs between trips of the outer loop."""
        return self.is_inside(v) and (v.inst is None or bool(v.inst.op.effects) or any(map(self.varies, v.inst.args)))

    def is_of_trip(self, v: ir.Value) -> bool:
        """Whether a value of the inner loop differs between trips of the outer one, as the sum of both counters."""
        if v.inst is not None and self.defs.block_of.get(v) in self.inner.loop.blocks:
            return any(map(self.is_of_trip, v.inst.args))
        return self.varies(v)

    def collect(self, v: ir.Value) -> bool:
        """Put the instructions that compute a value in each trip in `ahead`; False where it is not known before the
        trip."""
        if not self.is_inside(v) or v.inst in self.ahead:
            return True
        if v.inst is None:
            self.counters[v] = None
            return v in self.outer.steps or v in self.outer.strides
        if v.inst.op.effects and v.inst.op is not ARRAY_LOAD or not OF_ONE_RUN.isdisjoint(v.inst.attrs) or (
                v.inst.op.cost >= ir.CALL or not all(map(self.collect, v.inst.args))):
            return False
        self.ahead[v.inst] = None
        return True

    def may_be_copied(self) -> bool:
        """Whether the code around the inner loop is small, reads no values of the inner loop but the sums, and either
        leaves the loop only at the header or defines no values that are read after the loop."""
        header, outer = self.inner.loop.header, self.outer.loop
        insts = [inst for block in self.around for inst in block.insts]
        own = {v for block in self.inner.loop.blocks for v in block.values()} - {header.params[n] for n in self.sums}
        if (sum(inst.op is not control.CONST for inst in insts) > _AROUND
            or any([inst.op.effects for inst in outer.header.insts[:-1]])
            or not own.isdisjoint(self.inner.exit.args) or any([v in own for inst in insts for v in inst.uses()])):
            return False
        if all([block is outer.header for block, _ in outer.exits()]):
            return True
        made = {v for block in outer.blocks for v in block.values()}
        return not any([v in made for block in self.blocks if block not in outer.blocks
                        for inst in block.insts for v in inst.uses()])

    def may_read_ahead(self, loads) -> bool:
        """Whether trips of the outer loop change nothing that the loads read, where the arrays in `distinct` share no
        memory, and no trip decides by its counter that there is no next one."""
        for block in self.around:
            for inst in block.insts:
                if not all([self.may_precede(load, inst) for load in loads if self.aliases.may_change(inst, load)]):
                    return False
                leaves = inst.op.effects & ir.RAISES or any(
                    [edge.block not in self.outer.loop.blocks for edge in inst.edges()])
                if leaves and inst is not self.outer.loop.header.terminator and any(
                        [self.is_counted(v) for v in inst.args]):
                    return False
        return True

    def may_precede(self, load: ir.Inst, inst: ir.Inst) -> bool:
        """Whether a load may be done before `inst`, which may change what it reads, where the arrays share no memory;
        then they are added to `distinct`. In loops of the library, which multiply small matrices, the test would take
        longer than it saves."""
        if inst.op is not ARRAY_STORE or self.of_library:
            return False
        x, y = self.outside(inst.args[0]), self.outside(load.args[0])
        if x is y or self.is_inside(x) or self.is_inside(y):
            return False
        self.distinct.setdefault(x, []).append(y)
        return sum(map(len, self.distinct.values())) <= _PAIRS

    def outside(self, array: ir.Value) -> ir.Value:
        """The array from outside of the outer loop that an array is a view of, or this array."""
        while self.is_inside(array) and array.inst is not None and array.inst.op is ARRAY_VIEW:
            array = array.inst.args[0]
        return array

    def is_counted(self, v: ir.Value) -> bool:
        """Whether a value may be computed from counters of the outer loop."""
        if not self.is_inside(v) or k.is_float(v.type):
            return False
        return v.inst is None or any(map(self.is_counted, v.inst.args))

    def choose_times(self) -> None:
        """Choose how many trips are joined, and whether the code around the inner loop is copied for each of them."""
        size = sum([inst.op not in (control.CONST, control.JUMP) and inst not in self.ahead
                    for block in self.around for inst in block.insts])
        width = self.moves_by()
        self.in_vectors = width > 0
        times = min(_BYTES // width, _MOST) if width else _TIMES
        while times > _TIMES and times * size > _COPIED:
            times //= 2
        self.copied = times * size <= _COPIED
        self.times = times if self.copied else _TIMES

    def moves_by(self) -> int:
        """The size of an element in bytes if the trips of the outer loop read neighbouring elements, so that LLVM may
        load the elements of several trips as a vector; otherwise 0."""
        sizes = {0}
        for inst in self.body:
            if inst.op is ARRAY_LOAD and any(map(self.is_of_trip, inst.args)):
                array, *indices = inst.args
                size, step = item_bytes(array.type.dtype), 0.0
                if array.type.layout == "C" and self.is_of_trip(indices[-1]):
                    step = self.advance(indices.pop()) * size
                while self.is_inside(array) and array.inst is not None and array.inst.op is ARRAY_VIEW:
                    array, offset, *others = array.inst.args
                    step += self.advance(offset)
                    indices += others
                if step != size or any(map(self.is_of_trip, [array, *indices])):
                    return 0
                sizes.add(size)
        return max(sizes)

    def advance(self, v: ir.Value) -> float:
        """By how much a value grows from one trip of the outer loop to the next; NaN where that is not known."""
        terms, steps = affine(v, self.defs, self.outer.loop.blocks, {}).terms, self.outer.steps
        return sum([c * steps[x] if x in steps else math.nan if self.is_of_trip(x) else 0 for x, c in terms.items()])

    # -- rewriting

    def join_groups(self) -> list[ir.Block]:
        """Put a loop over groups of trips before the outer loop; returns its blocks."""
        outer, loc = self.outer.loop.header, self.latch.loc
        first, joined, body, found = (ir.Block(f"sums.{name}") for name in ("first", "joined", "body", "found"))
        head, now, more, fewer = group_header("sums.groups", self.outer, loc)
        entry = self.enter(head, self.times.bit_length() - 1, lambda b: [])
        Builder(head.insts, loc).branch(more, ir.Edge(first), ir.Edge(outer, now), **outer.terminator.attrs)
        values = dict(zip(outer.params, now))
        first.insts += [clone_inst(inst, values, {}) for inst in self.ahead]
        trips, sums, more = self.write(first, joined, body, values)
        self.leave(joined, more, body, ir.Edge(found))
        for trip, one in zip(trips, sums):
            trip |= {self.inner.loop.header.params[n]: v for n, v in zip(self.sums, one)}
        copies = [self.copy_trip(trip) for trip in trips]
        Builder(found.insts, loc).jump(ir.Edge(copies[0][outer], now))
        for own, (others, given) in zip(copies, [*((one, []) for one in copies[1:]), ({outer: head}, [fewer])]):
            for edge in [edge for block in own.values() for edge in block.edges() if edge.block is outer]:
                edge.block, edge.args = others[outer], [*edge.args, *given]
        return [*entry, head, first, joined, body, found, *[block for own in copies for block in own.values()]]

    def copy_trip(self, trip: dict[ir.Value, ir.Value]) -> dict[ir.Block, ir.Block]:
        """Copy the blocks around the inner loop for a trip whose sums are known; returns old -> new. trip: the values
        of this trip that have been computed."""
        outer, inner = self.outer, self.inner
        copies = {block: ir.Block(block.name) for block in self.around}
        for block, copy in copies.items():
            copy.params = [ir.Value(p.type, p.name) for p in block.params]
            trip |= {p: v for p, v in zip(block.params, copy.params) if p not in self.counters}
        for block, copy in copies.items():
            copy.insts = [clone_inst(inst, trip, copies) for inst in block.insts if inst not in self.ahead]
        # this trip is made, and its inner loop has been
        last = copies[outer.loop.header].insts.pop()
        (edge,) = [edge for edge, of in zip(last.targets, outer.loop.header.terminator.targets) if of is outer.body]
        Builder(copies[outer.loop.header].insts, last.loc).jump(edge)
        for edge in [edge for copy in copies.values() for edge in copy.edges()]:
            if edge.block is inner.loop.header:
                edge.block = copies.get(inner.exit.block, inner.exit.block)
                edge.args = [trip.get(v, v) for v in inner.exit.args]
            if edge.block is copies[outer.loop.header]:
                edge.block = outer.loop.header
        return copies

    def enter(self, head: ir.Block, shift: int, others) -> list[ir.Block]:
        """Blocks that enter `head` in place of the outer loop. Its arguments are those of the loop, the number of trips
        in whole groups, divided by 1 << shift, and `others`, a function of a builder. The number is 0 where the inner
        loop is too short, or arrays overlap; that is tested only if there is a whole group."""
        entry, args = ir.Block("sums.entry"), self.outer.entry.args
        self.outer.entry.block, self.outer.entry.args = entry, []
        blocks, b = [entry], Builder(entry.insts, self.latch.loc, None)
        left, trips = (one.start[one.left] for one in (self.outer, self.inner))
        enough, none = b.test(arith.IGT, trips, b.const(k.Int, _BRIEF)), b.const(k.Int, 0)
        if self.distinct:
            group = b.both(enough, b.test(arith.IGT, left, b.const(k.Int, self.times - 1)))
            apart = ir.Block("sums.apart")
            b.branch(group, ir.Edge(apart), ir.Edge(head, [*args, none, *others(b)]))
            blocks.append(apart)
            b = Builder(apart.insts, self.latch.loc, None)
            enough = no_overlap(b, self.distinct, group, self.aliases)
        whole = b.int(SELECT, enough, b.int(arith.IAND, left, b.const(k.Int, -self.times)), none)
        if shift:
            whole = b.int(arith.ISHR, whole, b.const(k.Int, shift))
        b.jump(ir.Edge(head, [*args, whole, *others(b)]))
        return blocks

    def join(self) -> list[ir.Block]:
        """Put the copy with the joined loop before the outer loop; returns its blocks."""
        outer, inner, loc = self.outer.loop.header, self.inner.loop.header, self.latch.loc
        params = [inner.params[n] for n in self.sums]
        ask, first, joined, body, found = (ir.Block(f"sums.{name}") for name in (
            "ask", "first", "joined", "body", "found"))
        kept = [ir.Value(k.Int), *[ir.Value(p.type) for _ in range(_TIMES - 1) for p in params]]
        after = [ir.Value(v.type) for v in (*params, *kept)]
        values = dict(zip(params, after))
        copies = clone_blocks(self.around, values)
        head, todo = copies[outer], ir.Value(k.Int)

        def nothing(b):
            none = {t: b.const(t, 0 if t is k.Int else 0.0) for t in dict.fromkeys(v.type for v in kept)}
            return [none[v.type] for v in kept]

        # into the copy, and from there to the loop as it was
        entry = self.enter(head, 0, nothing)
        branch = head.insts.pop()
        b = Builder(head.insts, loc, None)
        more = b.test(arith.IGT, todo, b.const(k.Int, 0))
        rest = b.int(arith.IADD, todo, b.const(k.Int, -1))
        (on,) = [edge for edge in branch.targets if edge.block is not self.outer.exit.block]
        b.branch(more, on, ir.Edge(outer, head.params[:]), **branch.attrs)
        head.params += [todo, *kept]
        found.params = after
        Builder(found.insts, loc).jump(ir.Edge(copies[self.inner.exit.block],
                                               [values.get(v, v) for v in self.inner.exit.args]))
        for block in [*copies.values(), found]:
            for edge in block.edges():
                if edge.block is head:
                    edge.args += [rest, *after[len(params):]]
                elif edge.block is inner:
                    edge.block, edge.args = ask, []
        b = Builder(ask.insts, loc, None)
        some = b.test(arith.IGT, kept[0], b.const(k.Int, 0))
        fewer = b.int(arith.IADD, kept[0], b.const(k.Int, -1))
        shifted = [*kept[1:], *kept[-len(params):]]
        b.branch(some, ir.Edge(found, [*shifted[:len(params)], fewer, *shifted[len(params):]]), ir.Edge(first, []))
        _, (own, *others), more = self.write(first, joined, body, values)
        three = Builder(joined.insts, loc).const(k.Int, _TIMES - 1)
        self.leave(joined, more, body, ir.Edge(found, [*own, three, *[v for one in others for v in one]]))
        return [*entry, *copies.values(), ask, first, joined, body, found]

    def write(self, first, joined, body, values) -> tuple:
        """Write the joined loop, but for the branch of its header. first: the block before it; values: those of the
        copy of the outer loop, in its present trip. Returns (the values of each trip, the sums of each trip, whether
        the joined loop goes on)."""
        inner, loc, start = self.inner.loop.header, self.latch.loc, self.start.args
        b, trips = Builder(first.insts, loc, None), [dict(values)]
        for n in range(1, self.times):
            for p in self.counters:
                by = b.const(k.Int, self.outer.steps[p]) if p in self.outer.steps else self.outer.strides[p]
                values[p] = b.int(arith.IADD, values[p], by)
            trip = dict(values)
            first.insts += [clone_inst(inst, trip, {}) for inst in self.ahead]
            trips.append(trip)
        counters = [n for n in range(len(inner.params)) if n not in self.sums]
        sums = [[ir.Value(inner.params[n].type, inner.params[n].name) for n in self.sums] for _ in trips]
        shared = {inner.params[n]: ir.Value(inner.params[n].type, inner.params[n].name) for n in counters}
        joined.params = [*shared.values(), *[v for one in sums for v in one]]
        begin = [*[values.get(start[n], start[n]) for n in counters],
                 *[trip.get(start[n], start[n]) for trip in trips for n in self.sums]]
        b.jump(ir.Edge(joined, begin))
        joined.insts = [clone_inst(inst, shared, {}) for inst in inner.insts[:-1]]
        (more,) = [shared.get(v, v) for v in inner.terminator.args]
        known: dict[tuple, ir.Value] = {}  # an instruction and its operands -> its result, which trips share
        after = []
        for trip, one in zip(trips, sums):
            trip |= shared | {inner.params[n]: v for n, v in zip(self.sums, one)}
            for inst in self.body:
                key = inst, *[trip.get(v, v) for v in inst.args]
                if key not in known:
                    body.insts.append(clone_inst(inst, trip, {}))
                    known[key] = trip[inst.result]
                trip[inst.result] = known[key]
            after += [trip.get(self.again.args[n], self.again.args[n]) for n in self.sums]
        # unrolled, this loop would take as long, and the other one has few trips left: both would be slow to compile
        self.latch.attrs["novectorize"] = True
        again = [trips[0].get(self.again.args[n], self.again.args[n]) for n in counters]
        # the loop has few instructions, and was seen to take 15 % longer where it begins elsewhere in a line
        Builder(body.insts, loc).jump(ir.Edge(joined, [*again, *after]), **self.latch.attrs, line=True)
        return trips, sums, more

    def leave(self, joined, more: ir.Value, body, after: ir.Edge) -> None:
        """Write the branch of the header of the joined loop."""
        branch = self.inner.loop.header.terminator
        Builder(joined.insts, branch.loc).branch(more, ir.Edge(body), after, **branch.attrs)
