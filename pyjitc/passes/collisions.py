"""Which accesses to elements of an array are certain to reach the same element in two iterations of a parallel loop.

An access is described by its index along each axis of the array, whether it is made through the array itself, a row, a
slice or another view: `o[i + 1]` and `o[1:][i]` are the same. Counters of loops inside are ranges of indices. Where an
index is not known, the program promises that iterations are independent, and nothing is certain.
"""
from __future__ import annotations

from math import gcd

from ..ir import core as ir
from ..ir.cfg import LoopNest
from ..ops import arith, control, memory
from ..ops.structure import SELECT, TUPLE_AT, TUPLE_GET, TUPLE_MAKE, UNION_GET
from ..types import kinds as k
from . import counted
from .alias import VIEW
from .apart import places

__all__ = ["Access", "Collisions"]

_PARTS = (TUPLE_AT, TUPLE_GET, UNION_GET)
FAR = 64  # iterations that a loop is assumed to make at least


class Access:
    """An access to elements of `root`. index: axis -> form, where known; facts: invariant condition -> the outcome
    under which the access is made."""

    def __init__(self, inst: ir.Inst, root: ir.Value, index: dict[int, counted.Affine], facts: dict, always: bool):
        self.inst, self.root, self.index, self.facts, self.always = inst, root, index, facts, always
        self.stores = inst.op is memory.ARRAY_STORE


class Collisions:
    """Finds the collisions in the loop of a region (parallel.py). exact: whether a remainder, a minimum and a maximum
    are what they are, and not the index that they mostly are."""

    def __init__(self, region, exact: bool = False):
        self.region, self.defs, self.exact = region, region.defs, exact
        nest = LoopNest(region.fn)
        self.dom = nest.dom
        self.loops: dict[ir.Block, list] = {}  # block of loops inside -> these, the outermost first
        self.latch = next(block for block in region.loop.blocks if region.back in block.edges())
        self.ranges: dict[ir.Value, tuple] = {}  # counter of a loop inside -> (first value, step, trips or None)
        self.blocks = dict.fromkeys(region.fn.blocks)
        self.memo: dict = {}
        work = list(region.loop.inner)
        for loop in work:
            work += loop.inner
            for block in loop.blocks:
                self.loops.setdefault(block, []).append(loop)
            self._add_counters(loop)

    def _add_counters(self, loop) -> None:
        one = counted.find(loop, self.defs, self.region.edges)
        if one is None:
            return
        left = self.affine(one.start[one.left])
        trips = left.constant if not left.terms and left.constant > 0 else None
        for p, step in one.steps.items():
            first = self.affine(one.start[p])
            if all([v not in self.region.defined or trips is not None and v in self.region.counters
                    for v in first.terms]):
                self.ranges[p] = first, step, trips

    def affine(self, v: ir.Value) -> counted.Affine:
        """The affine form of an index, also of one that is counted from the end where it is negative, or is repeated
        where a length is one."""
        form = counted.affine(v, self.defs, self.blocks, self.memo)
        for x, c in list(form.terms.items()):
            known = _index_of(x) or (None if self.exact else self.mostly(x))
            if known is not None:
                inside = self.affine(known)
                if inside.terms:
                    form = form.plus(counted.Affine(0, {x: c}), -1).plus(inside.times(c), 1)
        return form

    def mostly(self, v: ir.Value) -> ir.Value | None:
        """The index that is taken but for a few iterations: the remainder by a length, a minimum or a maximum."""
        if v not in self.region.defined:
            return None
        made = v.inst
        if made is not None and made.op is arith.IMOD:
            by = made.args[1]
            return made.args[0] if self.defs.constant(by) is None and not self.moves(by) else None
        ways = list(made.args[1:]) if made is not None and made.op is SELECT else []
        block = self.defs.block_of.get(v)
        if made is None and v not in self.ranges and v not in self.region.counters and not any(
                block is loop.header for loop in self.loops.get(block, ())):
            ways = [edge.args[block.params.index(v)] for _, _, edge in self.region.edges[block]]
        moving = [x for x in ways if self.moves(x)]
        return moving[0] if len(ways) == 2 and len(moving) == 1 else None

    def moves(self, v: ir.Value) -> bool:
        return any(x in self.region.counters for x in self.affine(v).terms)

    # -- accesses

    def accesses(self, block: ir.Block, inst: ir.Inst) -> list[Access]:
        """What a load or store may access of arrays from outside of the loop."""
        stores = inst.op is memory.ARRAY_STORE
        forms = [self.affine(v) for v in (inst.args[1:-1] if stores else inst.args[1:])]
        facts, always = self.facts(block), self.is_always(block)
        found = []
        for root, views, chosen in self.origins(inst.args[0], ()):
            if self.is_shared(root) and not any(facts.get(v, yes) is not yes for v, yes in chosen.items()):
                index = places(root, views, forms, self.affine, _unclipped)
                found.append(Access(inst, root, index, {**facts, **chosen}, always))
        return found

    def origins(self, array: ir.Value, seen):
        """(array, views by which it is seen, invariant conditions of that) of each array that `array` may be; choices
        that are made before the loop are not looked into."""
        made = array.inst
        if made is not None and made.op.traits & VIEW and not self.is_other(array):
            for root, views, chosen in self.origins(made.args[0], seen):
                yield root, [*views, array], chosen
        elif array not in self.region.defined or array in seen:
            yield array, [], {}
        elif made is None:
            seen = (*seen, array)
            block = self.defs.block_of[array]
            n = block.params.index(array)
            for source, branch, edge in self.region.edges[block]:
                facts = self.facts(source)
                if branch.op is control.BRANCH and branch.args[0] not in self.region.defined:
                    facts[branch.args[0]] = edge is branch.targets[0]
                for root, views, chosen in self.origins(edge.args[n], seen):
                    yield root, views, {**facts, **chosen}
        elif made.op is SELECT:
            for n, x in enumerate(made.args[1:]):
                for root, views, chosen in self.origins(x, seen):
                    fixed = made.args[0] not in self.region.defined
                    yield root, views, {**chosen, made.args[0]: n == 0} if fixed else chosen
        elif made.op in (TUPLE_AT, TUPLE_GET) and (items := _items(made.args[0])):
            for x in items if made.op is TUPLE_AT else items[made.attrs["index"]:][:1]:
                yield from self.origins(x, seen)
        else:
            yield array, [], {}

    def is_other(self, view: ir.Value) -> bool:
        """Whether a view from before the loop has elements of another type, so that they are not those of its array."""
        made = view.inst
        assert made is not None
        of = made.args[0]
        return view not in self.region.defined and not (
            type(of.type) is type(view.type) is k.Array and of.type.dtype is view.type.dtype)

    def is_shared(self, root: ir.Value) -> bool:
        """Whether an array is there before the loop: it, or a tuple of which it is an item, or a value that may be
        it."""
        made = root.inst
        return root not in self.region.defined or made is not None and made.op in _PARTS and (
            made.args[0] not in self.region.defined)

    def facts(self, block: ir.Block) -> dict[ir.Value, bool]:
        """The outcomes of conditions from before the loop with which a block is reached."""
        found = {}
        header = self.region.header
        while block is not header and block in self.dom.idom:
            above = self.dom.idom[block]
            branch = above.terminator
            if above is not header and branch.op is control.BRANCH and branch.args[0] not in self.region.defined:
                ways = [n for n, edge in enumerate(branch.targets) if edge.block is block]
                if len(ways) == 1 and len(self.region.edges[block]) == 1:
                    found[branch.args[0]] = ways[0] == 0
            block = above
        return found

    def is_always(self, block: ir.Block) -> bool:
        """Whether each iteration comes to a block, if loops inside make iterations."""
        for loop in reversed(self.loops.get(block, ())):
            again = [source for source, _, _ in self.region.edges[loop.header] if source in loop.blocks]
            if not all([self.dom.dominates(block, source) for source in again]):
                return False
            block = loop.header
        return self.dom.dominates(block, self.latch)

    # -- pairs

    def collide(self, one: Access, two: Access) -> bool:
        """Whether two accesses are certain to reach the same element in two different iterations, if the loop and those
        inside make many."""
        if any(two.facts.get(v, yes) is not yes for v, yes in one.facts.items()):
            return False
        trips = self.defs.constant(self.region.count.start[self.region.count.left])
        far = FAR if trips is None else min(trips, FAR)
        distances, meets = None, False
        for axis in range(one.root.type.ndim):
            if axis not in one.index or axis not in two.index:
                return False
            found = self.along(one.index[axis], two.index[axis], far)
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


def _items(v: ir.Value) -> list[ir.Value]:
    """The items of a tuple, where the instruction that makes it is known."""
    return list(v.inst.args) if v.inst is not None and v.inst.op is TUPLE_MAKE else []


def _index_of(v: ir.Value) -> ir.Value | None:
    """The index of which a value is the checked form, or the product with the step along a contiguous axis."""
    made = v.inst
    if made is not None and made.op is memory.CHECK_INDEX:
        return made.args[0]
    if made is not None and made.op in (arith.IMUL, arith.IMUL_CK):
        for x, step in (made.args, made.args[::-1]):
            one = step.inst
            if one is not None and one.op is memory.ARRAY_STEP and _literal(one.args[2]) == one.attrs["size"]:
                return x
    return None


def _unclipped(v: ir.Value) -> ir.Value:
    """The start of a slice, where the array is not so short that the slice is clipped: of select(length > 2, 2, length)
    the 2, of select(length < 1, 0, length - 1) the latter."""
    while (made := v.inst) is not None and made.op is SELECT:
        test, *ways = [_literal(x) for x in made.args]
        if test is not None:
            v = made.args[1 if test else 2]
        elif (ways[0] is None) != (ways[1] is None):
            v = made.args[1 if (ways[0] is None) == (0 in ways) else 2]
        else:
            rest = [x for x in made.args[1:] if x.inst is None or x.inst.op is not memory.ARRAY_DIM]
            if len(rest) != 1:
                break
            v = rest[0]
    return v


def _literal(v: ir.Value):
    return v.inst.attrs["value"] if v.inst is not None and v.inst.op is control.CONST else None
