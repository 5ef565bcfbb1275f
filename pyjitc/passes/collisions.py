"""Which accesses to elements of an array are certain to reach the same element in two iterations of a parallel loop.

Counters of loops inside are ranges of indices. Where an index is not known, or a test on data decides whether an
iteration makes an access, nothing is certain.
"""
from __future__ import annotations

from math import gcd
from typing import Any, cast

from ..ir import core as ir
from ..ir.cfg import successors
from ..ops import control
from ..ops.arith import INTEGER_COMPARISONS
from . import counted
from .reached import Access, Reached

__all__ = ["Collisions"]

FAR = 64  # iterations that a loop is assumed to make at least


class Collisions:
    """Finds the collisions in the loop of a region (parallel.py) among the accesses that are `reached`."""

    def __init__(self, region, reached: Reached):
        self.region, self.defs, self.affine = region, region.defs, reached.likely
        self.reached, self.is_either = reached, reached.is_either
        self.inner, self.same = region.inner_counters(), dict[ir.Value, bool]()  # for `is_same` of the region
        self.made: dict[Access, bool] = {}  # whether iterations are certain to make an access
        self.ranges: dict = {}  # counter of a loop inside -> (first value, step, trips or None)
        for p, (one, step) in reached.inner.items():
            left, first = self.affine(one.start[one.left]), self.affine(one.start[p])
            trips = left.constant if not left.terms and left.constant > 0 else None
            if not all(map(self.is_same, left.terms)) or self.may_be_left(one):
                continue  # what it reaches is not the same in all iterations
            if all([v not in region.defined or trips is not None and v in region.counters for v in first.terms]):
                self.ranges[p] = first, step, trips

    def may_be_left(self, one: counted.Counted) -> bool:
        """Whether an iteration may leave a loop inside before its end, and go on."""
        return any(edge is not one.exit and edge.block in self.region.loop.blocks and edge.block not in one.loop.blocks
                   for block in one.loop.blocks for edge in block.edges())

    def collide(self, one: Access, two: Access) -> bool:
        """Whether two accesses are certain to reach the same element in two different iterations, if the loop and those
        inside make many."""
        if self.is_either(one, two) or any((test, not yes) in two.conditions for test, yes in one.conditions
                                           if self.is_same(test)):
            return False
        trips = self.defs.constant(self.region.count.start[self.region.count.left])
        far = FAR if trips is None else min(trips, FAR)
        distances, meets = None, False
        for axis in range(one.root.type.ndim):
            if axis not in one.likely or axis not in two.likely:
                return False
            found = self.along(one.likely[axis], two.likely[axis], far)
            if found is None:
                return False
            if found == "anywhere":
                meets = True
            elif found != "equal":
                distances = found if distances is None else distances & found
        if distances is None:
            return meets and far > 1 and one.always and two.always
        return not meets and bool(distances - {0}) and self.is_certain(one) and self.is_certain(two)

    def is_certain(self, one: Access) -> bool:
        """Whether iterations, but for a few, are certain to make an access, or another one to the same elements, if the
        loop and those inside make many, and tests whose outcome is the same in all iterations have that which leads to
        it."""
        if one.always:
            return True
        if one not in self.made:
            place = self.place(one)
            self.made[one] = self.come_to([two.inst for two in self.reached.of[one.root] if two is one or (
                place is not None and two.stores is one.stores and self.place(two) == place)])
        return self.made[one]

    def place(self, one: Access):
        """A key of the elements that iterations reach, or None where it is not known."""
        found = []
        for axis in range(one.root.type.ndim):
            known = self.parts(one.likely[axis]) if axis in one.likely else None
            if known is None:
                return None
            step, rest, ranges = known
            found.append((step, rest.constant, frozenset(rest.terms.items()), *ranges))
        return found

    def come_to(self, insts: list[ir.Inst]) -> bool:
        """Whether each iteration comes to one of these instructions, as `is_certain` says."""
        ends = []
        for block in self.region.loop.blocks:
            if not set(insts).isdisjoint(block.insts):
                for loop in reversed(self.reached.loops.get(block, ())):
                    if not self.is_passed(loop, [block]):
                        break
                    block = loop.header
                else:
                    ends.append(block)
        return self.is_passed(self.region.loop, ends)

    def is_passed(self, loop, blocks: list[ir.Block]) -> bool:
        """Whether each iteration of a loop that is not left passes one of these blocks."""
        past: set[ir.Block] = set()  # from which the end of an iteration may be reached on another way
        found = True
        while found and loop.header not in past:
            found = False
            for block in loop.blocks:
                if block not in past and block not in blocks:
                    ways = [to is loop.header or to in past for to in self.following(block)]
                    branch = block.terminator
                    if all(ways) if branch.op is control.BRANCH and self.is_same(branch.args[0]) else any(ways):
                        past.add(block)
                        found = True
        return loop.header not in past

    def following(self, block: ir.Block) -> list[ir.Block]:
        """The blocks to which most iterations go from a block."""
        branch = block.terminator
        outcome = self.usual(branch.args[0]) if branch.op is control.BRANCH else None
        return list(successors(block)) if outcome is None else [branch.targets[not outcome].block]

    def is_same(self, v: ir.Value) -> bool:
        """Whether a value is computed in the same way in every iteration."""
        return self.region.is_same(v, self.inner, self.same)

    def usual(self, test: ir.Value) -> bool | None:
        """The outcome in most iterations of a test that compares the number of the iteration with a constant."""
        made = test.inst
        if made is None or made.op not in INTEGER_COMPARISONS or {v.type for v in made.args} - counted.WIDE:
            return None
        one, two = map(self.reached.form, made.args)
        gap = one.plus(two, -1)
        c, holds = gap.terms.get(self.reached.number, 0), cast(Any, made.op.eval)
        outcomes = [holds(gap.constant + c * n, 0) for n in (FAR // 2, FAR - 1)]
        return outcomes[0] if c and len(gap.terms) == 1 and outcomes[0] is outcomes[1] else None

    def along(self, x, y, far: int):
        """How two indices meet along an axis: at distances of iterations (a set), 'equal' in all iterations, 'anywhere'
        in some iterations that differ, or None where they never do, or nothing is certain."""
        one, two = self.parts(x), self.parts(y)
        if one is None or two is None:
            return None
        (moved, rest, ranges), (moved_2, rest_2, ranges_2) = one, two
        gap = rest_2.plus(rest, -1)
        if moved == moved_2:
            if gap.terms:
                return None
            if not moved:
                return "equal" if _reach(gap.constant, ranges, ranges_2) else None
            if not ranges and not ranges_2:
                distance, between = divmod(gap.constant, moved)
                return {distance} if not between and abs(distance) < far else None
            return {d for d in range(1 - far, far) if _reach(gap.constant - d * moved, ranges, ranges_2, 2)}
        if any(v in self.region.defined for form in (rest, rest_2) for v in form.terms):
            return None
        if moved and moved_2:
            return "anywhere" if moved == -moved_2 and not ranges and not ranges_2 and self.turns(gap, moved) else None
        own, others, start = (ranges, ranges_2, gap) if moved else (ranges_2, ranges, gap.times(-1))
        if start.terms or own:
            return None
        step = moved or moved_2
        hits = [p for p in range(far) if _reach(start.constant - p * step, [], others)]
        return "anywhere" if hits else None

    def turns(self, gap, step: int) -> bool:
        """Whether one index runs through the same elements as the other in the opposite order."""
        count = self.region.count
        trips = self.affine(counted.trips_of(count, self.defs))
        rest = gap.plus(trips.plus(counted.Affine(1, {}), -1).times(step), -1)
        return not rest.terms and rest.constant % step == 0 and abs(rest.constant // step) < 8

    def parts(self, form):
        """(step from one iteration to the next, the form in the first iteration without ranges, ranges), or None."""
        step, ranges = 0, []
        for v, c in form.terms.items():
            if v in self.ranges:
                first, by, trips = self.ranges[v]
                form = form.plus(first.times(c), 1).plus(counted.Affine(0, {v: c}), -1)
                ranges.append((c * by, trips))
        rest = counted.Affine(form.constant, {})
        for v, c in form.terms.items():
            if v in self.region.counters:
                if type(self.region.counters[v]) is not int:
                    return None
                step += c * self.region.counters[v]
                rest = rest.plus(self.affine(self.region.count.start[v]).times(c), 1)
            else:
                rest = rest.plus(counted.Affine(0, {v: c}), 1)
        return step, rest, ranges


def _reach(gap: int, ranges, ranges_2, unknown: int = FAR) -> bool:
    """Whether sums of multiples of steps, each of fewer than its number of trips, differ by `gap` between two
    accesses. unknown: stands for a number of trips that is not known."""
    low = high = common = 0
    for sign, some in ((1, ranges), (-1, ranges_2)):
        for step, trips in some:
            end = sign * step * ((unknown if trips is None else trips) - 1)
            low, high, common = low + min(0, end), high + max(0, end), gcd(common, step)
    return low <= gap <= high and (gap % common == 0 if common else gap == 0)
