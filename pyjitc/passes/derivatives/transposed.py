"""Turn loops of the backward part of reverse mode that scatter, adding to several elements, into loops that gather.

The derivative of `v[i] = f(u[i - 1], u[i], u[i + 1])` adds to three elements of the adjoints of u in each trip, of
which the next trip changes two again: such a loop cannot be vectorised. The same sums are computed element by element.
Before:  for i = n ... 1:  g = v_[i] ; v_[i] = 0 ; u_[i - 1] += a * g ; u_[i] += b * g ; u_[i + 1] += c * g
After:   for t = 2 ... n - 1:  u_[t] += a * v_[t + 1] + b * v_[t] + c * v_[t - 1]
         the sums at both ends, which have fewer terms, one after the other
         for i = 1 ... n:  v_[i] = 0
Needs: loops as `canonicalise` leaves them, with a header that counts down and one block, whose trips may run in any
order.
Keeps: the original loop for few trips, where the sums at both ends need more. The terms of a sum are added in another
order.
"""
from __future__ import annotations

from typing import Any

from ...ir.cfg import in_edges
from ...ir.core import PURE, Block, Edge, Function, Inst, Value
from ...ops import arith as a
from ...ops import control as c
from ...ops import memory as mem
from ...types import kinds as k
from .activity import Classes
from ..rewrite import Appender
from .builder import Builder

__all__ = ["run"]

_WIDEST = 8  # elements between the first and the last that one trip adds to
_ENDS = 32  # sums at the ends, which are written out


def run(fn: Function) -> None:
    loops = _loops(fn)
    if not loops:
        return
    classes = Classes(fn)
    read: dict[Value, set[Block]] = {}
    for block in fn.blocks:
        for inst in block.insts:
            for x in inst.uses():
                read.setdefault(x, set()).add(block)
    for loop in loops:
        own = {loop.header, loop.body}
        if loop.read(classes) and all(read.get(x, own) <= own for x in (loop.n, *loop.made)):
            loop.write(fn)


def _loops(fn: Function) -> list[_Loop]:
    """The loops that consist of a header and one block, count down to 0 and carry no other value."""
    edges = in_edges(fn.blocks)
    found = []
    for header in fn.blocks:
        if len(header.params) != 1 or header.params[0].type is not k.Int or header.terminator.op is not c.BRANCH or any(
                inst.op.effects != PURE for inst in header.insts[:-1]):
            continue
        (n,) = header.params
        test = header.terminator.args[0].inst
        into, out = header.terminator.targets
        body = into.block
        if test is None or test.op is not a.IGT or test.args[0] is not n or not _is_number(test.args[1], 0):
            continue
        if into.args or body is header or len(edges[body]) != 1 or body.terminator.op is not c.JUMP:
            continue
        (back,) = body.terminator.targets
        arriving = [e for _, _, e in edges[header] if e is not back]
        if back.block is header and len(arriving) == 1 and _offset(back.args[0], n) == -1:
            found.append(_Loop(header, body, arriving[0], out))
    return found


def _is_number(x: Value, number: int) -> bool:
    return x.inst is not None and x.inst.op is c.CONST and x.inst.attrs["value"] == number


def _offset(x: Value, n: Value) -> int | None:
    """The number o where x is n + o."""
    total = 0
    while x is not n:
        i = x.inst
        if i is None or i.op is not a.IADD or i.args[1].inst is None or i.args[1].inst.op is not c.CONST:
            return None
        total += i.args[1].inst.attrs["value"]
        x = i.args[0]
    return total


class _Sum:
    """A store that adds to an element of an array. row: the array and all indices but the last; at: the last index
    minus the number of the trip."""

    def __init__(self, load, store, term, at):
        self.load, self.store, self.term, self.at = load, store, term, at
        self.row = (*load.args[:-1],)


class _Loop:
    """entry: the edge into the loop, with the number of its trips; out: the edge that leaves it."""

    def __init__(self, header, body, entry, out):
        self.header, self.body, self.entry, self.out = header, body, entry, out
        (self.n,) = header.params

    def read(self, classes: Classes) -> bool:
        """Whether the trips are independent except that several add to one element. Fills `sums` and `cleared`, the
        stores of 0."""
        insts = [*self.header.insts[:-1], *self.body.insts[:-1]]
        self.made = {i.result: i for i in insts if i.result is not None}
        self.sums: list[_Sum] = []
        self.cleared: list[Inst] = []
        uses: dict[Value, int] = {}
        for i in insts:
            for x in i.args:
                uses[x] = uses.get(x, 0) + 1
        for i in insts:
            if i.op is mem.ARRAY_STORE:
                if not self.understood(i, uses):
                    return False
            elif i.op is not mem.ARRAY_LOAD and i.op.effects != PURE or i.unwind is not None:
                return False
        if not self.sums:
            return False
        of = classes.of
        summed, cleared = {of(one.row[0]) for one in self.sums}, {of(i.args[0]) for i in self.cleared}
        arrays = {one.row[0] for one in self.sums} | {i.args[0] for i in self.cleared}
        if summed & cleared or not all(map(_is_new, arrays)):
            return False
        own = {one.load for one in self.sums}
        places = {i.args[0]: i.args[1:-1] for i in self.cleared}
        if len(places) < len(self.cleared):
            return False
        for i in insts:
            for x in i.args:
                if type(x.type) is not k.Array:
                    continue
                if of(x) in summed and (x not in arrays or i not in own and i not in [s.store for s in self.sums]):
                    return False
                if of(x) in cleared and (x not in places or i.op not in (mem.ARRAY_LOAD, mem.ARRAY_STORE)
                                         or i.args[1:1 + x.type.ndim] != places[x]):
                    return False
        # elements of a cleared array must be read before they are cleared
        for i in self.cleared:
            at = insts.index(i)
            if any(other.op is mem.ARRAY_LOAD and other.args[0] is i.args[0] for other in insts[at:]):
                return False
        return self.grouped()

    def understood(self, store: Inst, uses) -> bool:
        """Whether a store is one of the two kinds that the loop may have: it adds to the element at `trip number +
        constant`, or sets that element to 0."""
        if len(store.args) == 2:  # an array without axes
            return False
        *index, last = store.args[1:-1]
        at, x = _offset(last, self.n), store.args[-1]
        if at is None or any(y is self.n or y in self.made for y in index):
            return False
        if x.inst is not None and x.inst.op is c.CONST and x.inst.attrs["value"] == 0.0:
            self.cleared.append(store)
            return True
        total = self.made.get(x)
        if total is None or total.op is not a.FADD or uses.get(x) != 1:
            return False
        for before, term in (total.args, total.args[::-1]):
            load = self.made.get(before)
            if (load is not None and load.op is mem.ARRAY_LOAD and load.args == store.args[:-1] and uses[before] == 1):
                self.sums.append(_Sum(load, store, term, at))
                return True
        return False

    def grouped(self) -> bool:
        """Group the sums by row; returns whether the rows are narrow enough for the sums at both ends to be written
        out."""
        self.rows: dict[tuple, list[_Sum]] = {}
        for one in self.sums:
            self.rows.setdefault(one.row, []).append(one)
        ends, self.widest = 0, 0
        for sums in self.rows.values():
            places = [one.at for one in sums]
            wide = max(places) - min(places)
            ends += wide * len(sums)
            self.widest = max(self.widest, wide)
        return self.widest <= _WIDEST and ends <= _ENDS

    # -- the new loops

    def write(self, fn: Function) -> None:
        (trips,) = self.entry.args
        loc = self.body.terminator.loc
        start = here = Block(f"{self.header.name}.gathered")
        blocks = [start]
        self.marks = self.header.terminator.attrs  # whether the new loops may run on several threads
        if self.widest:
            ways = Block(f"{self.header.name}.ways")
            b = Builder(ways.insts, self.body.terminator)
            enough = b.op(a.IGT, trips, b.const(self.widest - 1, k.Int))
            b.branch(enough, Edge(start), Edge(self.header, [trips]))
            blocks.insert(0, ways)
            last = self.body.terminator
            last.attrs = {**last.attrs, "novectorize": True, "few_trips": True}
        self.entry.block, self.entry.args = blocks[0], []
        alike: list[list[_Sum]] = []  # rows in which each trip adds to one element: one loop serves all of them
        for sums in self.rows.values():
            low, high = min(one.at for one in sums), max(one.at for one in sums)
            if low == high:
                alike.append(sums)
                continue
            b = Builder(here.insts, self.body.terminator)
            for one in sums:
                for number in range(1, high - one.at + 1):
                    self.add(b, [one], b.const(number, k.Int), {})
                for less in range(one.at - low):
                    self.add(b, [one], b.op(a.ISUB, trips, b.const(less, k.Int)) if less else trips, {})
            many = b.op(a.ISUB, trips, b.const(high - low, k.Int))
            here = self.loop(b, here, blocks, many, lambda b, n, sums=sums: self.add(b, sums, n, {}), True)
        if alike or self.cleared:
            def straight(b, n):
                memos: dict[int, dict[Value, Value]] = {}
                for sums in alike:
                    self.add(b, sums, n, memos)
                for i in self.cleared:
                    self.copy(b, i, [self.again(b, x, memos.setdefault(0, {self.n: n})) for x in i.args])

            here = self.loop(Builder(here.insts, self.body.terminator), here, blocks, trips, straight)
        out = self.out  # the only edge that leaves, since it may be the one that enters the next loop
        keeps = self.widest > 1  # otherwise the original loop would never make a trip
        if self.widest:
            behind = Block(f"{self.header.name}.behind")
            Appender(behind.insts, loc).jump(out)
            blocks.append(behind)
            out = Edge(behind)
            if keeps:
                self.header.terminator.targets = [self.header.terminator.targets[0], Edge(behind)]
            else:
                blocks[0].terminator.targets = [Edge(start), Edge(behind)]
        Appender(here.insts, loc).jump(out)
        self.header.terminator.attrs = {}
        where = fn.blocks.index(self.header)
        fn.blocks[where:where] = blocks
        if not keeps:  # the new loops make all trips, also if there are none
            fn.blocks = [block for block in fn.blocks if block is not self.header and block is not self.body]

    def loop(self, b, here, blocks, trips, add, marked=False) -> Block:
        """Append a loop of `trips` trips to the block `here`; `add` writes the body for trip n, from 1, none of which
        touches an element that another one writes. marked: whether LLVM is told so, which saves it a test and a second
        loop; loops of one addition or store are slower with that. Returns the block after it."""
        header, body, behind = Block("up"), Block("trip"), Block("behind")
        header.params = [Value(k.Int, "n"), Value(k.Int, "left")]
        number, left = header.params
        b.jump(Edge(header, [b.const(1, k.Int), trips]))
        h = Builder(header.insts, self.body.terminator)
        h.branch(h.op(a.IGT, left, h.const(0, k.Int)), Edge(body), Edge(behind), **self.marks)
        t = Builder(body.insts, self.body.terminator)
        add(t, number)
        for inst in body.insts if marked else ():
            if inst.op is mem.ARRAY_LOAD or inst.op is mem.ARRAY_STORE:
                inst.attrs = {**inst.attrs, "parallel": True}
        one = t.const(1, k.Int)
        t.jump(Edge(header, [t.op(op, x, one, flags="nuw nsw") for op, x in ((a.IADD, number), (a.ISUB, left))]))
        blocks += [header, body, behind]
        return behind

    def add(self, b: Builder, sums: list[_Sum], n: Value, memos: dict[int, dict[Value, Value]]) -> None:
        """Add all terms of one element of a row at once. Trip n adds the first of these terms, that of the sum with the
        largest offset; later trips add the others. memos: k -> the values that have been computed for trip n + k."""
        total: Any = None
        last = None
        high = max(one.at for one in sums)
        for one in sums:
            less = high - one.at
            if less not in memos:
                memos[less] = {self.n: b.op(a.IADD, n, b.const(less, k.Int)) if less else n}
            memo = memos[less]
            term = self.again(b, one.term, memo)
            total = term if total is None else b.fadd(total, term)
            last = last or self.again(b, one.load.args[-1], memo)
        first, at = sums[0], [*sums[0].row, last]
        b.at(first.store)
        new = b.fadd(self.copy(b, first.load, at).result, total)
        self.copy(b, first.store, [*at, new])

    def copy(self, b: Builder, inst: Inst, args) -> Inst:
        new = Inst(inst.op, args, dict(inst.attrs), None if inst.result is None else Value(inst.result.type), inst.loc)
        b.insts.append(new)
        return new

    def again(self, b: Builder, x: Value, memo: dict[Value, Value]) -> Value:
        """A value of the loop, computed for another trip."""
        found = memo.get(x)
        if found is None:
            i = self.made.get(x)
            found = x if i is None else self.copy(b, i, [self.again(b, y, memo) for y in i.args]).result
            memo[x] = found
        return found


def _is_new(x: Value) -> bool:
    """Whether an array was made by the function, so that no other value is the same array under another name."""
    if x.inst is None or x.inst.op is not c.INVOKE:
        return x.inst is not None and x.inst.op is mem.ARRAY_NEW
    return x.inst.attrs["callee"].flags.returns in ("new", "copy")
