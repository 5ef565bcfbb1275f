"""Unroll a loop around an innermost loop, and join the copies of the inner loop (unroll and jam).

Runs when versioning has made the copies of loops without checks, and before polling. In `s[j] += a[i, j]` over i and j
each trip over i loads and stores all of s, and waits for what the trip before has stored. The copies of a few trips,
joined in one loop over j, load and store each element once. Every element gets the same values in the same order.
Before:  outer(i): ... inner(j): x = array_load s, j ; y = f(x, i, j) ; array_store s, j, y
After:   outer(i): ... inner(j): x = array_load s, j ; y = f(x, i, j) ; z = f(y, i + 1, j) ; ... ; array_store s, j, ...
         and the loops as they were, for the trips that are left
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, the order of all writes of one element.
"""
from __future__ import annotations

from typing import Any

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith, control
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE, ARRAY_VIEW
from ..ops.structure import SELECT
from ..types import kinds as k
from .alias import Aliases
from .counted import MOST_UNROLLED, Counted, Definitions, affine, find
from .operands import Builder
from .rewrite import clone_inst

__all__ = ["run"]

_TIMES = 4  # trips that are joined
_ROOM = 24  # the most operations of the inner loop
_KEPT = frozenset(("held", "alone", "beside"))  # attributes whose facts hold for one run of the inner loop


def run(fn: ir.Function, options=Options()) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    nest = LoopNest(fn)
    outer = [loop for loop in nest.loops if len(loop.inner) == 1 and not loop.inner[0].inner]
    if not outer:
        return
    defs, edges, aliases = Definitions(fn), in_edges(fn.blocks), Aliases(fn)
    found = [one for one in [_Nest.of(loop, defs, edges, aliases) for loop in outer] if one is not None]
    for one in found:
        fn.blocks += one.jam()
    if found:
        fn.blocks = reverse_postorder(fn)


def _chain(edge: ir.Edge, stop: ir.Block) -> tuple[list[ir.Block], ir.Edge] | None:
    """The blocks through which `edge` leads to the block `stop`, each with one way on and no parameters, and the edge
    that arrives there."""
    blocks: list[ir.Block] = []
    while edge.block is not stop:
        last = edge.block.terminator
        if edge.block.params or last.op is not control.JUMP or "novectorize" in last.attrs or edge.block in blocks:
            return None
        blocks.append(edge.block)
        (edge,) = last.targets
    return blocks, edge


class _Nest:
    """outer, inner: the two loops; around: the instructions of the outer one in order; body: those of the inner one;
    next, start, again: the edges to the next trip of the outer loop, into the inner loop, and to its next trip; stores:
    the place of an element (see `place`) -> the last store to it."""

    def __init__(self, outer: Counted, inner: Counted, defs: Definitions, aliases: Aliases):
        self.outer, self.inner, self.defs, self.aliases = outer, inner, defs, aliases
        self.inside = outer.loop.blocks
        self.stores: dict[tuple, ir.Inst] = {}

    @classmethod
    def of(cls, loop, defs, edges, aliases) -> _Nest | None:
        outer, inner = find(loop, defs, edges), find(loop.inner[0], defs, edges)
        if outer is None or inner is None:
            return None
        trips = defs.constant(inner.start[inner.left])
        if trips is not None and trips <= MOST_UNROLLED:
            return None
        found = cls(outer, inner, defs, aliases)
        return found if found.follow() and found.is_fit() else None

    def follow(self) -> bool:
        """Find the instructions; False where the loops have another form."""
        outer, inner = self.outer.loop.header, self.inner.loop.header
        before, body, after = (_chain(self.outer.body, inner), _chain(self.inner.body, inner),
                               _chain(self.inner.exit, outer))
        if before is None or body is None or after is None or {"novectorize", "independent"} & {
                *outer.terminator.attrs, *inner.terminator.attrs}:
            return False
        if len(before[0]) + len(body[0]) + len(after[0]) + 2 != len(self.inside):
            return False
        self.start, self.again, self.next = before[1], body[1], after[1]
        self.around = [inst for block in (outer, *before[0], *after[0]) for inst in block.insts[:-1]]
        self.body = [inst for block in body[0] for inst in block.insts[:-1]]
        self.latch = body[0][-1].terminator if body[0] else inner.terminator
        return bool(body[0])

    # -- conditions

    def is_fit(self) -> bool:
        header = self.inner.loop.header
        insts = [*self.around, *header.insts[:-1], *self.body]
        loads = [inst for inst in insts if inst.op is ARRAY_LOAD]
        stores = [inst for inst in self.body if inst.op is ARRAY_STORE]
        if not stores or sum(inst.op is not control.CONST for inst in self.body) > _ROOM:
            return False
        if any([inst.op.effects and inst not in loads and inst not in stores or not _KEPT.isdisjoint(inst.attrs)
                for inst in insts]):
            return False
        if not all([p in self.inner.steps or self.is_fixed(self.inner.strides.get(p)) for p in header.params]):
            return False
        if not all([self.is_fixed(v) for v in self.inner.start.values()]):
            return False
        own = {v for block in self.inner.loop.blocks for v in block.values()}
        if not own.isdisjoint([*self.next.args, *[v for inst in self.around for v in inst.args]]):
            return False  # a result of the inner loop is used after it
        for store in stores:
            if not self.is_swept(store):
                return False
            self.stores[self.place(store)] = store
        summed = False
        for one in (*loads, *stores):
            place = self.place(one)
            if place in self.stores:
                summed |= one.op is ARRAY_LOAD
                if one.op is ARRAY_LOAD and (one not in self.body or one.result.type is not one.args[0].type.dtype):
                    return False
            if not all([place == other or self.aliases.are_disjoint(store, one)
                        for other, store in self.stores.items()]):
                return False
        return summed

    def is_fixed(self, v: ir.Value | None) -> bool:
        """Whether a value is the same on all trips of the outer loop."""
        if v is None:
            return False
        if self.defs.block_of.get(v) not in self.inside:
            return True
        inst = v.inst
        return inst is not None and not inst.op.effects and all([self.is_fixed(x) for x in inst.args])

    def is_swept(self, store: ir.Inst) -> bool:
        """Whether a store writes the same elements on all trips of the outer loop, and each of them on one trip of the
        inner loop."""
        array, *indices, value = store.args
        if not self.is_fixed(array) or array.type.dtype is not value.type:
            return False
        moves = False
        for index in indices:
            terms = affine(index, self.defs, self.inside, {}).terms
            counters = [v for v in terms if v in self.inner.steps]
            if not all([v in counters or self.is_fixed(v) for v in terms]):
                return False
            moves |= len(counters) == 1 and self.inner.steps[counters[0]] != 0
        return moves

    def place(self, access: ir.Inst) -> tuple:
        """A key for the element that a load or a store accesses: two accesses with one key access the same element."""
        array: Any = access.args[0]
        while (made := array.inst) is not None and made.op is ARRAY_VIEW and self.defs.constant(made.args[1]) == 0 and (
                array.type is made.args[0].type and array.type.ndim == 1 and array.type.layout == "C"):
            array = made.args[0]
        return array, *access.args[1:1 + array.type.ndim]

    # -- rewriting

    def jam(self) -> list[ir.Block]:
        """Put the joined loops before the loop; returns their blocks."""
        outer, inner = self.outer.loop.header, self.inner.loop.header
        entry, head, joined, body = (ir.Block(f"jam.{name}") for name in ("entry", "outer", "inner", "body"))
        loc = outer.terminator.loc
        b = Builder(entry.insts, loc, None)
        left = self.outer.entry.args[outer.params.index(self.outer.left)]
        some = b.op(arith.IGT, left, b.const(k.Int, 0), type=k.Bool)
        times = b.op(arith.ISHR, left, b.const(k.Int, _TIMES.bit_length() - 1), type=k.Int)
        count = b.op(SELECT, some, times, b.const(k.Int, 0), type=k.Int)
        b.op(control.JUMP)
        entry.insts[-1].targets = [ir.Edge(head, [*self.outer.entry.args, count])]
        self.outer.entry.block, self.outer.entry.args = entry, []
        # the outer loop: what it computes for each of the trips that are joined
        now: list[ir.Value] = [ir.Value(p.type, p.name) for p in outer.params]
        head.params = [*now, ir.Value(k.Int)]
        b = Builder(head.insts, loc, None)
        more = b.op(arith.IGT, head.params[-1], b.const(k.Int, 0), type=k.Bool)
        fewer = b.op(arith.IADD, head.params[-1], b.const(k.Int, -1), type=k.Int)
        first = ir.Block("jam.first")
        head.insts.append(ir.Inst(control.BRANCH, (more,), dict(outer.terminator.attrs), None, loc,
                                  [ir.Edge(first, []), ir.Edge(outer, now)]))
        trips: list[dict[ir.Value, ir.Value]] = []
        for _ in range(_TIMES):
            values = dict(zip(outer.params, now))
            first.insts += [clone_inst(inst, values, {}) for inst in self.around]
            now = [values.get(v, v) for v in self.next.args]
            trips.append(values)
        get = trips[0].get
        first.insts.append(ir.Inst(control.JUMP, (), {}, None, loc,
                                   [ir.Edge(joined, [get(v, v) for v in self.start.args])]))
        # the inner loop
        values = dict(trips[0])
        joined.params = [ir.Value(p.type, p.name) for p in inner.params]
        values.update(zip(inner.params, joined.params))
        joined.insts = [clone_inst(inst, values, {}) for inst in inner.insts[:-1]]
        branch = inner.terminator
        own = {v: values[v] for v in inner.values()}
        joined.insts.append(ir.Inst(control.BRANCH, [values.get(v, v) for v in branch.args], dict(branch.attrs), None,
                                    branch.loc, [ir.Edge(body, []), ir.Edge(head, [*now, fewer])]))
        stored: dict[tuple, ir.Value] = {}  # the place of an element -> its value
        for values in trips:
            values.update(own)
            for inst in self.body:
                if inst.op is ARRAY_STORE:
                    stored[self.place(inst)] = values.get(inst.args[-1], inst.args[-1])
                elif inst.op is ARRAY_LOAD and self.place(inst) in stored:
                    values[inst.result] = stored[self.place(inst)]
                else:
                    body.insts.append(clone_inst(inst, values, {}))
        for place, store in self.stores.items():
            body.insts.append(clone_inst(store, {**values, store.args[-1]: stored[place]}, {}))
        body.insts.append(ir.Inst(control.JUMP, (), dict(self.latch.attrs), None, self.latch.loc,
                                  [ir.Edge(joined, [values.get(v, v) for v in self.again.args])]))
        return [entry, head, first, joined, body]
