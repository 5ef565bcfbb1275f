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
The joined loop reads elements for later trips before the outer loop reaches these trips. So nothing in the outer loop
may write these elements, and no exit of the outer loop may depend on its counter: such an exit may be what keeps the
indices of later trips within bounds.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, the value of each sum, effects and their order.
"""
from __future__ import annotations

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith, control
from ..ops.memory import ARRAY_LOAD, OF_ONE_RUN
from ..ops.structure import SELECT
from ..types import kinds as k
from .alias import Aliases
from .counted import MOST_UNROLLED, Counted, Definitions, find
from .hints import adds_in_order
from .jam import chain
from .rewrite import Builder, clone_blocks, clone_inst

__all__ = ["run"]

_TIMES = 4  # trips whose sums are computed together
_ROOM = 16  # the most operations of the inner loop
_BRIEF = 2  # inner loops of at most this many trips are faster one after the other
_AROUND = 80  # the most operations of the outer loop outside of it, which are copied
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
        fn.blocks += one.join()
    if found:
        fn.blocks = reverse_postorder(fn)


class _Sums:
    """outer, inner: the two loops; body: the instructions of the inner one; start, again: the edges into the inner loop
    and to its next trip; sums: what the inner loop carries, as positions of parameters; ahead: the instructions of the
    outer loop that compute what the inner loop needs; counters: the parameters of its header that these need."""

    def __init__(self, fn: ir.Function, outer: Counted, inner: Counted, defs: Definitions, aliases: Aliases):
        self.blocks = fn.blocks[:]
        self.outer, self.inner, self.defs, self.aliases = outer, inner, defs, aliases
        self.around = [block for block in outer.loop.blocks if block not in inner.loop.blocks]
        self.ahead: dict[ir.Inst, None] = {}
        self.counters: dict[ir.Value, None] = {}

    @classmethod
    def of(cls, fn, loop, defs, edges, aliases, options) -> _Sums | None:
        outer, inner = find(loop, defs, edges), find(loop.inner[0], defs, edges)
        if outer is None or inner is None:
            return None
        trips = defs.constant(inner.start[inner.left])
        if trips is not None and trips <= MOST_UNROLLED or not adds_in_order(loop.inner[0], options):
            return None
        found = cls(fn, outer, inner, defs, aliases)
        return found if found.follow() and found.is_fit() else None

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
        """Whether trips of the outer loop change nothing that the loads read, and no trip decides by its counter that
        there is no next one."""
        for block in self.around:
            for inst in block.insts:
                if any([self.aliases.may_change(inst, load) for load in loads]):
                    return False
                leaves = inst.op.effects & ir.RAISES or any(
                    [edge.block not in self.outer.loop.blocks for edge in inst.edges()])
                if leaves and inst is not self.outer.loop.header.terminator and any(
                        [self.is_counted(v) for v in inst.args]):
                    return False
        return True

    def is_counted(self, v: ir.Value) -> bool:
        """Whether a value may be computed from counters of the outer loop."""
        if not self.is_inside(v) or k.is_float(v.type):
            return False
        return v.inst is None or any(map(self.is_counted, v.inst.args))

    # -- rewriting

    def join(self) -> list[ir.Block]:
        """Put the copy with the joined loop before the outer loop; returns its blocks."""
        outer, inner, loc = self.outer.loop.header, self.inner.loop.header, self.latch.loc
        params = [inner.params[n] for n in self.sums]
        entry, ask, first, joined, body, found = (ir.Block(f"sums.{name}") for name in (
            "entry", "ask", "first", "joined", "body", "found"))
        kept = [ir.Value(k.Int), *[ir.Value(p.type) for _ in range(_TIMES - 1) for p in params]]
        after = [ir.Value(v.type) for v in (*params, *kept)]
        values = dict(zip(params, after))
        copies = clone_blocks(self.around, values)
        head, todo = copies[outer], ir.Value(k.Int)
        # into the copy, and from there to the loop as it was
        b = Builder(entry.insts, loc, None)
        left, trips = (one.start[one.left] for one in (self.outer, self.inner))
        enough = b.test(arith.IGT, trips, b.const(k.Int, _BRIEF))
        whole = b.int(arith.IAND, left, b.const(k.Int, -_TIMES))
        none = {t: b.const(t, 0 if t is k.Int else 0.0) for t in dict.fromkeys(v.type for v in kept)}
        count = b.int(SELECT, enough, whole, none[k.Int])
        b.jump(ir.Edge(head, [*self.outer.entry.args, count, *[none[v.type] for v in kept]]))
        self.outer.entry.block, self.outer.entry.args = entry, []
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
        self.write(first, joined, body, found, values)
        return [entry, *copies.values(), ask, first, joined, body, found]

    def write(self, first, joined, body, found, values) -> None:
        """The instructions of the joined loop. first: the block before it; values: those of the copy of the outer loop,
        in its present trip."""
        inner, loc, start = self.inner.loop.header, self.latch.loc, self.start.args
        b, trips = Builder(first.insts, loc, None), [dict(values)]
        for n in range(1, _TIMES):
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
        branch, (own, *others) = inner.terminator, sums
        three = Builder(joined.insts, loc).const(k.Int, _TIMES - 1)
        (more,) = [shared.get(v, v) for v in branch.args]
        Builder(joined.insts, branch.loc).branch(
            more, ir.Edge(body), ir.Edge(found, [*own, three, *[v for one in others for v in one]]), **branch.attrs)
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
        Builder(body.insts, loc).jump(ir.Edge(joined, [*again, *after]), **self.latch.attrs)
