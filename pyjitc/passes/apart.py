"""Whether two accesses of a parallel loop reach different elements in any two iterations: `a[i]` and `a[i]`, `a[2 * i]`
and `a[2 * i + 1]`, `a[i]` and `a[n - 1 - i]` for i < n // 2, two elements of the row `a[i]`, `a[i * m:(i + 1) * m]`.

That is so where, along some axis, their indices move alike, by more than the rest of them varies; where all indices of
one are below all of the other; or where the axes contradict each other, as for `a[i, k - i]` and `a[i - 1, k - i]`.
Where it depends on numbers that are known when the loop begins, the answer is what is to be tested then.
"""
from __future__ import annotations

from ..ops.memory import ARRAY_DIM
from .counted import Affine
from .reached import Access, Reached

__all__ = ["ways_apart"]


def ways_apart(one: Access, two: Access, reached: Reached) -> bool | list[list[Affine]]:
    """Whether two accesses to one array never reach the same element in two iterations; or, for each way to be certain
    of it, the forms of values from before the loop that must then not be negative."""
    if reached.is_either(one, two) or _of_threads(one, two, reached) or _of_one(one, two, reached) or (
            _differ(one, two, reached) or _differ(two, one, reached)):
        return True
    assumed = {axis: _over_all([*one.assumed[axis], *two.assumed[axis]], reached)
               for axis in one.ends if axis in two.ends}
    axes = [axis for axis, forms in assumed.items() if forms is not None]
    ways = [[*way, *(assumed[axis] or ())] for axis in axes
            for way in _along(*one.ends[axis], *two.ends[axis], reached)]
    ways += [way for axis, form in one.index.items() if axis in two.index
             for way in _of_remainders(form, two.index[axis], one.stores and two.stores, reached)]
    if len(axes) > 1 and _contradict([(one.ends[axis], two.ends[axis]) for axis in axes], reached):
        ways.append([form for axis in axes for form in assumed[axis] or ()])
    possible = []
    for way in ways:
        signs = [_sign(form, reached) for form in way]
        if False not in signs:
            if None not in signs:
                return True
            possible.append([form for form, sign in zip(way, signs) if sign is None])
    return possible or False


def _sign(form: Affine, reached: Reached) -> bool | None:
    """Whether a form is not negative in a loop that makes iterations; None where that is not known, or is so only where
    an array is empty."""
    up = any([c > 0 for c in form.terms.values()])
    end = form.constant
    for v, c in form.terms.items():
        if (c > 0) != up or v not in reached.least and (v.inst is None or v.inst.op is not ARRAY_DIM):
            return None
        end += c * reached.least.get(v, 0 if up else 1)
    return end >= 0 if not form.terms or (end >= 0) == up else None


def _along(low, high, low_2, high_2, reached: Reached) -> list[list[Affine]]:
    """As `ways_apart`, along one axis. (low, high), (low_2, high_2): the ends of the indices in an iteration."""
    step, ways = _common_move((low, high, low_2, high_2), reached), []
    if step is not None:
        # the first index is in the range of the second one, which is `distance` iterations later, where
        # least <= step * distance <= greatest
        least, greatest, one = low.plus(high_2, -1), high.plus(low_2, -1), Affine(-1, {})
        if not step.terms and not step.constant:
            return [[least.plus(one, 1)], [greatest.times(-1).plus(one, 1)]]
        ways = [[by.plus(greatest, -1).plus(one, 1), by.plus(least, 1).plus(one, 1)] for by in (step, step.times(-1))]
    for below, above in ((high, low_2), (high_2, low)):
        tops = [reached.over_all(below, last) for last in _turns(below, True, reached)]
        bottoms = [reached.over_all(above, last) for last in _turns(above, False, reached)]
        if None not in tops and None not in bottoms:
            ways.append([x.plus(y, -1).plus(Affine(-1, {}), 1) for x in bottoms if x for y in tops if y])
    return ways


def _of_remainders(form: Affine, other: Affine, stores: bool, reached: Reached) -> list[list[Affine]]:
    """As `ways_apart`, where both indices are one remainder of what moves by one: `o[(i + k) % n]` has n elements.
    (Where iterations also read `o[i % 50]`, they are meant to share it.)"""
    gap = form.plus(other, -1)
    for v, c in form.terms.items():
        x, factor = reached.products.parts.get(v, (v, None))
        if x in reached.quotients and not gap.terms and not gap.constant:
            whole, divisor = reached.quotients[x]
            step = reached.move(whole)
            rest = form.plus(whole, -1).plus(Affine(0, {v: c}), -1)
            if (divisor is factor if factor is not None else divisor == -c) and (c == -1 or factor is None) and (
                    stores or factor is not None) and (
                    not step.terms and abs(step.constant) == 1 and not any(map(reached.varies, rest.terms)) and all(
                        [reached.moved(y) or not reached.varies(y) for y in whole.terms])):
                size = Affine(0, {factor: 1}) if factor is not None else Affine(divisor, {})
                return [[size.plus(reached.trips, -1)]]
    return []


def _turns(form: Affine, high: bool, reached: Reached) -> tuple[bool, ...]:
    """Whether a form is greatest (high) or least in the last iteration: (True,), in the first: (False,), or either."""
    step = reached.move(form)
    if step.terms:
        return False, True
    return ((step.constant > 0) == high,) if step.constant else (False,)


def _common_move(forms, reached: Reached) -> Affine | None:
    """By how much all of some forms move from one iteration to the next, or None where they move differently."""
    moves = [{v: c for v, c in form.terms.items() if reached.moved(v)} for form in forms]
    return reached.move(forms[0]) if all([one == moves[0] for one in moves]) else None


def _contradict(axes, reached: Reached) -> bool:
    """Whether no two iterations have indices that meet along all axes, where distances are constants."""
    first, last = None, None
    for (low, high), (low_2, high_2) in axes:
        step = _common_move((low, high, low_2, high_2), reached)
        least, greatest = low.plus(high_2, -1), high.plus(low_2, -1)
        if step is None or step.terms or not step.constant or least.terms or greatest.terms:
            continue
        ends = least.constant, greatest.constant
        by = step.constant
        if by < 0:
            by, ends = -by, (-ends[1], -ends[0])
        here = -(-ends[0] // by), ends[1] // by
        first = here[0] if first is None else max(first, here[0])
        last = here[1] if last is None else min(last, here[1])
    return first is not None and (first > last or first == last == 0)


def _over_all(forms: list[Affine], reached: Reached) -> list[Affine] | None:
    """The forms that must not be negative for others not to be negative in any iteration."""
    found: dict[tuple, Affine] = {}
    for form in forms:
        for last in _turns(form, False, reached):
            end = reached.over_all(form, last)
            if end is None:
                return None
            if not _sign(end, reached):
                found[end.constant, frozenset(end.terms.items())] = end
    return list(found.values())


def _differ(one: Access, two: Access, reached: Reached) -> bool:
    """Whether the first access is made only where its index is not that of the second, which is the same in each
    iteration."""
    for axis, (low, high) in two.ends.items():
        index = one.index.get(axis)
        if index is not None and low.terms == high.terms == two.index[axis].terms and low.constant == high.constant \
                and not any(map(reached.moved, low.terms)):
            gap = index.plus(two.index[axis], -1)
            for form in one.differ:
                for sign in (1, -1):
                    rest = form.plus(gap, sign)
                    if not rest.terms and not rest.constant:
                        return True
    return False


def _of_one(one: Access, two: Access, reached: Reached) -> bool:
    """Whether both accesses are made in the same single iteration, as behind `if i == 0`."""
    return any(form.terms == other.terms and form.constant == other.constant and _vanishes_once(form, reached)
               for form in one.equal for other in two.equal)


def _vanishes_once(form: Affine, reached: Reached) -> bool:
    """Whether a form is 0 in one iteration at most."""
    step = reached.move(form)
    return not step.terms and step.constant != 0 and all([
        reached.moved(v) or not reached.varies(v) for v in form.terms])


def _of_threads(one: Access, two: Access, reached: Reached) -> bool:
    """Whether each thread accesses elements of its own: along an axis the index is the number of the thread."""
    return any(axis in two.index and form.terms == two.index[axis].terms and form.constant == two.index[axis].constant
               and len(form.terms) == 1 and reached.is_thread(next(iter(form.terms)))
               for axis, form in one.index.items())
