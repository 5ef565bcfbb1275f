"""Estimate the work of an iteration of a parallel loop, from which `divide` (ops/parallel.py) computes how many
iterations a chunk has.

The work is a number of cheap operations. Where an inner loop makes a number of trips that follows from values before
the parallel loop and from its counters, the work is computed at run time, for the iteration in the middle. Where the
number follows from anything else (elements of arrays, a condition that ends the loop), it is assumed to be small.
"""
from __future__ import annotations

from typing import Any

from ..ir import core as ir
from ..ir.cfg import Loop
from ..ops import arith as a
from ..ops import control
from ..ops.memory import CHECK_INDEX
from ..ops.structure import DUAL_WIDE, RANGE_GET, SELECT, UNION_GET
from ..types import kinds as k
from . import counted, gvn
from .rewrite import Builder, clone_inst, drop_flags

__all__ = ["Cost", "greater", "lesser"]

_ASSUMED = 16  # trips of an inner loop about which nothing is known
_VECTOR = 4  # a loop of one block is vectorised, in all likelihood
_TRIPS, _MOST = 1 << 18, 1 << 40  # limits of numbers of trips and of work, so that products do not wrap
_FEW = 40  # the most instructions that compute the numbers of trips
# What may be computed where the program does not: arithmetic is total, and nothing here reads memory, such as the
# length of a list that the program asks for only where there is a list.
_COPIED = {*a.ARITH_OPS.values(), *gvn.MOVED, control.CONST, DUAL_WIDE, RANGE_GET, UNION_GET}


class Cost:
    """The work of an iteration. region: the `_Region` of parallel.py; b: builds before the loop; trips: the iterations
    of the loop.

    work: an int, or a value of the program; known: whether nothing was assumed; even: whether all iterations have the
    same work, as far as it is known."""

    def __init__(self, region: Any, b: Builder, trips: ir.Value):
        self.region, self.b, self.left = region, b, _FEW
        self.known = self.even = True
        self.middles: dict[ir.Value, ir.Value | None] = {}
        self.counts: dict[ir.Value, tuple[ir.Value, ir.Value, Any]] = {  # counter -> (start, trips, step)
            p: (region.count.start[p], trips, step) for p, step in region.counters.items()}
        work = self.of(region.loop)
        if isinstance(work, ir.Value):
            self.work: int | ir.Value = greater(b, work, b.const(k.Int, 1))
        else:
            self.work = max(work // _VECTOR if self.known and len(region.loop.blocks) <= 2 else work, 1)

    def of(self, loop: Loop) -> int | ir.Value:
        """The work of one trip of a loop."""
        b = self.b
        inner = {block for one in loop.inner for block in one.blocks}
        own = [inst for block in loop.blocks if block not in inner for inst in block.insts]
        self.known = self.known and not any(inst.op is control.INVOKE for inst in own)
        total: int | ir.Value = sum(max(inst.op.cost, 0) for inst in own)
        for one in loop.inner:
            trips = self.trips(one)
            work = self.of(one)
            if type(trips) is int and type(work) is int:
                product: int | ir.Value = trips * work
            else:
                if type(work) is int and len(one.blocks) <= 2:
                    work = max(work // _VECTOR, 1)
                product = lesser(b, b.int(a.IMUL, self.value(trips), self.value(work)), b.const(k.Int, _MOST))
            if type(total) is int and type(product) is int:
                total += product
            else:
                total = b.int(a.IADD, self.value(total), self.value(product))
        return total

    def value(self, n: int | ir.Value) -> ir.Value:
        return n if isinstance(n, ir.Value) else self.b.const(k.Int, n)

    def trips(self, loop: Loop) -> int | ir.Value:
        """How many trips an inner loop makes, in the middle iterations of the loops around it."""
        b, region = self.b, self.region
        one = counted.find(loop, region.defs, region.edges)
        if one is not None:
            known = region.defs.constant(one.start[one.left])
            if known is not None:
                return max(1, min(known, 1 << 12))
            middle = self.middle(one.start[one.left])
            if middle is not None:
                trips = greater(b, lesser(b, middle, b.const(k.Int, _TRIPS)), b.const(k.Int, 0))
                for p, step in (*one.steps.items(), *one.strides.items()):
                    self.counts[p] = one.start[p], trips, step
                return trips
        self.known = False
        return _ASSUMED

    def middle(self, v: ir.Value) -> ir.Value | None:
        """The value before the loop that `v` has in the middle iteration, or None."""
        if v not in self.region.defined:
            return v
        if v not in self.middles:
            self.middles[v] = None  # while it is computed
            self.middles[v] = self.counter(*self.counts[v], v) if v in self.counts else self.computed(v.inst)
        return self.middles[v]

    def counter(self, start: ir.Value, trips: ir.Value, step, v: ir.Value) -> ir.Value | None:
        b = self.b
        self.even = self.even and v not in self.region.counters
        first, by = self.middle(start), b.const(k.Int, step) if type(step) is int else self.middle(step)
        if first is None or by is None:
            return None
        half = b.int(a.ISHR, trips, b.const(k.Int, 1))
        return b.int(a.IADD, first, b.int(a.IMUL, half, by))

    def computed(self, inst: ir.Inst | None) -> ir.Value | None:
        """The result of a copy of an instruction of `_COPIED` that has no effects and cannot fail."""
        self.left -= 1
        if inst is None or self.left < 0:
            return None
        if inst.op in (a.CHECK_NONNEG, CHECK_INDEX):
            return self.middle(inst.args[0])
        if inst.op not in _COPIED or inst.op.effects and inst.op.wrapping is None:
            return None
        values: dict[ir.Value, ir.Value] = {}
        for x in inst.args:
            middle = self.middle(x)
            if middle is None:
                return None
            values[x] = middle
        copy = clone_inst(inst, values, {})
        if inst.op.wrapping is not None:
            copy.op, copy.attrs, copy.unwind = inst.op.wrapping, {}, None
        drop_flags(copy)
        return self.b.add(copy)


def greater(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    return b.int(SELECT, b.test(a.IGT, x, y), x, y)


def lesser(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    return b.int(SELECT, b.test(a.ILT, x, y), x, y)
