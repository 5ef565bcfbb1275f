"""Unroll one or two loops around an innermost loop, and join the copies of the inner loop (unroll and jam).

Runs when versioning has made the copies of loops without checks, and before polling. In `s[j] += a[i, j]` over i and j
each trip over i loads and stores all of s, and waits for what the trip before has stored. The copies of a few trips,
joined in one loop over j, load and store each element once. Every element gets the same values in the same order.
Before:  outer(i): ... inner(j): x = array_load s, j ; y = f(x, i, j) ; array_store s, j, y
After:   outer(i): ... inner(j): x = array_load s, j ; y = f(x, i, j) ; z = f(y, i + 1, j) ; ... ; array_store s, j, ...
         and the loops as they were, for the trips that are left
In `c[i, j] += a[i, k] * b[k, j]` two trips of the loop over i are joined with them: they load each b[k, j] once.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, the order of all writes of one element.
"""
from __future__ import annotations

from typing import Any

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith, control
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE, ARRAY_VIEW, OF_ONE_RUN
from ..ops.structure import SELECT
from ..types import kinds as k
from .alias import Aliases
from .counted import MOST_UNROLLED, Counted, Definitions, affine, find
from .rewrite import Builder, clone_inst

__all__ = ["chain", "group_header", "run"]

_TIMES = 4  # trips that are joined
_ROWS = 2  # trips of the loop around that are joined with them
_ROOM = 24  # the most operations of the inner loop
_SMALL = 8  # the same where trips of the loop around are joined, too


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


def chain(edge: ir.Edge, stop: ir.Block) -> tuple[list[ir.Block], ir.Edge] | None:
    """(the blocks through which `edge` leads to the block `stop`, each without parameters and with one successor; the
    edge that arrives there)"""
    blocks: list[ir.Block] = []
    while edge.block is not stop:
        last = edge.block.terminator
        if edge.block.params or last.op is not control.JUMP or "novectorize" in last.attrs or edge.block in blocks:
            return None
        blocks.append(edge.block)
        (edge,) = last.targets
    return blocks, edge


def group_header(name: str, counted: Counted, loc: ir.Loc) -> tuple:
    """The header of a loop over groups of trips of a counted loop, its parameters without the number of groups, whether
    there is one more, and how many are left after it."""
    head = ir.Block(name)
    now = [ir.Value(p.type, p.name) for p in counted.loop.header.params]
    head.params = [*now, ir.Value(k.Int)]
    b = Builder(head.insts, loc, None)
    more = b.test(arith.IGT, head.params[-1], b.const(k.Int, 0))
    return head, now, more, b.int(arith.IADD, head.params[-1], b.const(k.Int, -1))


class _Nest:
    """outer, inner: the two loops; around: the instructions of the outer one in order; body: those of the inner one;
    next, start, again: the edges to the next trip of the outer loop, into the inner loop, and to its next trip; stores:
    the place of an element (see `place`) -> the last store to it."""

    def __init__(self, outer: Counted, inner: Counted, defs: Definitions, aliases: Aliases):
        self.outer, self.inner, self.defs, self.aliases = outer, inner, defs, aliases
        self.inside = outer.loop.blocks
        self.stores: dict[tuple, ir.Inst] = {}
        self.top: Counted | None = None
        self.around_top: list[ir.Inst] = []

    @classmethod
    def of(cls, loop, defs, edges, aliases) -> _Nest | None:
        outer, inner = find(loop, defs, edges), find(loop.inner[0], defs, edges)
        if outer is None or inner is None:
            return None
        trips = defs.constant(inner.start[inner.left])
        if trips is not None and trips <= MOST_UNROLLED:
            return None
        found = cls(outer, inner, defs, aliases)
        if not found.follow() or not found.is_fit():
            return None
        found.climb(loop.parent, edges)
        return found

    def follow(self) -> bool:
        """Find the instructions; False where the loops have another form."""
        outer, inner = self.outer.loop.header, self.inner.loop.header
        before, body, after = (chain(self.outer.body, inner), chain(self.inner.body, inner),
                               chain(self.inner.exit, outer))
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

    def climb(self, parent, edges) -> None:
        """Find the loop around the two, `top`, where trips of it can be joined: none writes an element that another one
        accesses, and all run the loops inside in the same way. around_top: its instructions; next_top: the edge to its
        next trip."""
        top = None if parent is None or len(parent.inner) > 1 else find(parent, self.defs, edges)
        if top is None or sum(inst.op is not control.CONST for inst in self.body) > _SMALL:
            return
        header, outer = top.loop.header, self.outer.loop.header
        before, after = chain(top.body, outer), chain(self.outer.exit, header)
        if (before is None or after is None or {"novectorize", "independent"} & header.terminator.attrs.keys()
            or len(before[0]) + len(after[0]) + len(self.inside) + 1 != len(parent.blocks)):
            return
        around = [inst for block in (header, *before[0], *after[0]) for inst in block.insts[:-1]]
        own = {v for block in self.inside for v in (*block.params, *[inst.result for inst in block.insts])}
        if not own.isdisjoint([*after[1].args, *[v for inst in around for v in inst.args]]) or any(
                inst.op.effects and inst.op is not ARRAY_LOAD or not OF_ONE_RUN.isdisjoint(inst.attrs)
                for inst in around):
            return
        if not all([self.aliases.are_disjoint(store, inst) for inst in around if inst.op is ARRAY_LOAD
                    for store in self.stores.values()]):
            return
        inside = parent.blocks
        counts = [*self.outer.start.values(), *self.inner.start.values(),
                  *[v for one in (self.outer, self.inner) for v in one.strides.values()]]
        if (all([p in self.outer.steps or p in self.outer.strides for p in outer.params])
            and all([self.is_fixed(v, inside) for v in counts])
            and all([self.writes_other_elements(store, top, inside) for store in self.stores.values()])):
            self.top, self.around_top, self.next_top = top, around, after[1]

    # -- conditions

    def is_fit(self) -> bool:
        header = self.inner.loop.header
        insts = [*self.around, *header.insts[:-1], *self.body]
        loads = [inst for inst in insts if inst.op is ARRAY_LOAD]
        stores = [inst for inst in self.body if inst.op is ARRAY_STORE]
        if not stores or sum(inst.op is not control.CONST for inst in self.body) > _ROOM:
            return False
        if any([inst.op.effects and inst not in loads and inst not in stores or not OF_ONE_RUN.isdisjoint(inst.attrs)
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

    def is_fixed(self, v: ir.Value | None, inside=None) -> bool:
        """Whether a value is the same on all trips of the outer loop, or of the loop with the blocks `inside`."""
        if v is None:
            return False
        if self.defs.block_of.get(v) not in (inside or self.inside):
            return True
        inst = v.inst
        return inst is not None and not inst.op.effects and all([self.is_fixed(x, inside) for x in inst.args])

    def writes_other_elements(self, store: ir.Inst, top: Counted, inside) -> bool:
        """Whether a store writes other elements on each trip of the loop around: one of its indices changes there, and
        only there."""
        array, *indices, _ = store.args
        if not self.is_fixed(array, inside) or array.type.layout != "C":
            return False  # elements of other layouts may overlap
        for index in indices:
            terms = affine(index, self.defs, inside, {}).terms
            counters = [v for v in terms if top.steps.get(v)]
            if len(counters) == 1 and all([v in counters or self.is_fixed(v, inside) for v in terms]):
                return True
        return False

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
        """Put the joined loops before the loop, or before the one around it; returns their blocks."""
        if self.top is not None:
            return self.jam_rows(self.top)
        entry, head, now, more, fewer = self.groups("jam", self.outer, _TIMES)
        return [entry, head, *self.join("jam", head, now, more, [fewer], [{}], _TIMES,
                                        ir.Edge(self.outer.loop.header, now))]

    def jam_rows(self, top: Counted) -> list[ir.Block]:
        """As `jam`, but join trips of the loop around, too, each of which accesses elements of its own."""
        entry, head, now, more, fewer = self.groups("jam.rows", top, _ROWS)
        first, rows, after = ir.Block("jam.rows.first"), [], now
        for _ in range(_ROWS):
            rows.append(dict(zip(top.loop.header.params, after)))
            first.insts += [clone_inst(inst, rows[-1], {}) for inst in self.around_top]
            after = [rows[-1].get(v, v) for v in self.next_top.args]
        Builder(head.insts, self.loc).branch(more, ir.Edge(first), ir.Edge(top.loop.header, now),
                                             **top.loop.header.terminator.attrs)
        start = [rows[0].get(v, v) for v in self.outer.entry.args]
        left = self.outer.loop.header.params.index(self.outer.left)
        b = Builder(first.insts, self.loc, None)
        count = self.times(b, start[left], _TIMES)
        b.op(control.JUMP)
        many, now, more, less = group_header("jam.outer", self.outer, self.loc)
        one, kept = ir.Block("jam.rest"), [ir.Value(p.type, p.name) for p in self.outer.loop.header.params]
        first.insts[-1].targets = [ir.Edge(many, [*start, count])]
        blocks = self.join("jam", many, now, more, [less], rows, _TIMES, ir.Edge(one, now))
        # the trips of the outer loop that are left
        one.params = kept
        b = Builder(one.insts, self.loc, None)
        more = b.test(arith.IGT, kept[left], b.const(k.Int, 0))
        return [entry, head, first, many, *blocks, one,
                *self.join("jam.rest", one, kept, more, [], rows, 1, ir.Edge(head, [*after, fewer]))]

    @property
    def loc(self) -> ir.Loc:
        return self.outer.loop.header.terminator.loc

    def times(self, b, left, times):
        """The number of whole groups of `times` trips in the `left` trips that remain."""
        some = b.test(arith.IGT, left, b.const(k.Int, 0))
        groups = b.int(arith.ISHR, left, b.const(k.Int, times.bit_length() - 1))
        return b.int(SELECT, some, groups, b.const(k.Int, 0))

    def groups(self, name, counted: Counted, times: int) -> tuple:
        """A block that enters a loop over groups of trips in place of a counted loop, and what `group_header`
        returns."""
        entry = ir.Block(f"{name}.entry")
        b = Builder(entry.insts, self.loc, None)
        count = self.times(b, counted.entry.args[counted.loop.header.params.index(counted.left)], times)
        b.op(control.JUMP)
        head, *more = group_header(f"{name}.outer", counted, self.loc)
        entry.insts[-1].targets = [ir.Edge(head, [*counted.entry.args, count])]
        counted.entry.block, counted.entry.args = entry, []
        return entry, head, *more

    def join(self, name, head: ir.Block, now, more, fewer, rows, times: int, other: ir.Edge) -> list[ir.Block]:
        """Let `head` lead to an inner loop for `times` trips of each row and back to itself, if there are more, or by
        the edge `other`; returns the new blocks. now, fewer: its parameters; rows: for each row, the values that have
        been computed."""
        outer, inner = self.outer.loop.header, self.inner.loop.header
        first, joined, body = (ir.Block(f"{name}.{one}") for one in ("first", "inner", "body"))
        Builder(head.insts, self.loc).branch(more, ir.Edge(first), other, **outer.terminator.attrs)
        trips: list[tuple[int, dict[ir.Value, ir.Value]]] = []
        for _ in range(times):
            for n, row in enumerate(rows):
                values = {**row, **dict(zip(outer.params, now))}
                first.insts += [clone_inst(inst, values, {}) for inst in self.around]
                trips.append((n, values))
            now = [values.get(v, v) for v in self.next.args]
        values = dict(trips[0][1])
        Builder(first.insts, self.loc).jump(ir.Edge(joined, [values.get(v, v) for v in self.start.args]))
        # the inner loop
        joined.params = [ir.Value(p.type, p.name) for p in inner.params]
        values.update(zip(inner.params, joined.params))
        joined.insts = [clone_inst(inst, values, {}) for inst in inner.insts[:-1]]
        branch = inner.terminator
        own = {v: values[v] for v in inner.values()}
        (again,) = [values.get(v, v) for v in branch.args]
        Builder(joined.insts, branch.loc).branch(again, ir.Edge(body), ir.Edge(head, [*now, *fewer]), **branch.attrs)
        stored: dict[tuple, ir.Value] = {}  # row and place of an element -> its value
        known: dict[tuple, ir.Value] = {}  # an instruction and its operands -> its result, which rows share
        for n, values in trips:
            values.update(own)
            for inst in self.body:
                place = (n, self.place(inst)) if inst.op is ARRAY_STORE or inst.op is ARRAY_LOAD else ()
                if inst.op is ARRAY_STORE:
                    stored[place] = values.get(inst.args[-1], inst.args[-1])
                elif place in stored:
                    values[inst.result] = stored[place]
                else:
                    key = inst, *[values.get(v, v) for v in inst.args]
                    if key in known:
                        values[inst.result] = known[key]
                    else:
                        body.insts.append(clone_inst(inst, values, {}))
                        known[key] = values[inst.result]
        for n, values in trips[-len(rows):]:
            for place, store in self.stores.items():
                body.insts.append(clone_inst(store, {**values, store.args[-1]: stored[n, place]}, {}))
        Builder(body.insts, self.latch.loc).jump(ir.Edge(joined, [values.get(v, v) for v in self.again.args]),
                                                 **self.latch.attrs)
        return [first, joined, body]
