"""Which accesses to elements of an array are certain to reach the same element in two iterations of a parallel loop.

Counters of loops inside are ranges of indices. Where an index is not known, nothing is certain.
"""
from __future__ import annotations

from math import gcd

from . import counted
from .reached import Access, Reached

__all__ = ["Collisions"]

FAR = 64  # iterations that a loop is assumed to make at least


class Collisions:
    """Finds the collisions in the loop of a region (parallel.py) among the accesses that are `reached`."""

    def __init__(self, region, reached: Reached):
        self.region, self.defs, self.affine = region, region.defs, reached.likely
        self.is_either = reached.is_either
        self.ranges: dict = {}  # counter of a loop inside -> (first value, step, trips or None)
        for p, (one, step) in reached.inner.items():
            left, first = self.affine(one.start[one.left]), self.affine(one.start[p])
            trips = left.constant if not left.terms and left.constant > 0 else None
            if any([v in region.counters for v in left.terms]):
                continue  # what it reaches is not the same in all iterations
            if all([v not in region.defined or trips is not None and v in region.counters for v in first.terms]):
                self.ranges[p] = first, step, trips

    def collide(self, one: Access, two: Access) -> bool:
        """Whether two accesses are certain to reach the same element in two different iterations, if the loop and those
        inside make many."""
        if self.is_either(one, two):
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
        return not meets and bool(distances - {0})

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
