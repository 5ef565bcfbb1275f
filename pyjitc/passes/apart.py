"""Which arrays have elements that no two iterations of a parallel loop share, because every access has an index that
moves with the loop by more than the rest of that index can vary: `a[i]`, `a[i, j]`, `a[2 * i + 1]`, or an element of
the row `a[i]`.
"""
from __future__ import annotations

from typing import Iterator

from ..ir import core as ir
from ..ops import arith, control, memory
from ..ops.structure import SELECT
from . import counted
from .alias import VIEW

__all__ = ["are_apart", "axis_of", "origins", "places", "spans", "summands"]


def spans(loop, defs, edges) -> dict[ir.Value, tuple[int, int]]:
    """The least and the greatest value of the counters of inner loops whose bounds are constants."""
    found = {}
    work = list(loop.inner)
    while work:
        inner = work.pop()
        work += inner.inner
        one = counted.find(inner, defs, edges)
        if one is None:
            continue
        trips = defs.constant(one.start[one.left])
        for p, step in one.steps.items():
            first = defs.constant(one.start[p])
            if first is not None and trips is not None and trips > 0:
                last = first + step * (trips - 1)
                found[p] = min(first, last), max(first, last)
    return found


def origins(array: ir.Value) -> Iterator[tuple[ir.Value, ir.Value]]:
    """The arrays whose elements `array` may have, each with the view by which it is seen; an array itself is its own
    view."""
    view, v = array, array
    while (made := v.inst) is not None and made.op.traits & VIEW:
        view, v = v, made.args[0]
    if v.inst is not None and v.inst.op is SELECT:
        for x in v.inst.args[1:]:
            yield from origins(x)
    else:
        yield v, view


def places(root: ir.Value, view: ir.Value, array: ir.Value, forms, affine) -> dict[int, counted.Affine]:
    """For axes of `root` the index that an access of `array` at the indices `forms` has there: all of them for the
    array itself, and for a view those at which it was taken by an index, as axis 0 in the row `root[i]`."""
    if array is root:
        return dict(enumerate(forms))
    made = view.inst
    if view is root or made is None or made.op is not memory.ARRAY_VIEW:
        return {}
    _, offset, *sizes = made.args
    kept = [_axis(x, root) for x in sizes[view.type.ndim:]]
    terms = [_term(x, root, affine) for x in summands(offset)]
    if None in kept or None in terms:
        return {}
    found: dict[int, counted.Affine] = {}
    for axis, form in terms:
        found[axis] = found[axis].plus(form, 1) if axis in found else form
    return {axis: form for axis, form in found.items() if axis not in kept}


def summands(v: ir.Value) -> list[ir.Value]:
    if v.inst is not None and v.inst.op in (arith.IADD, arith.IADD_CK):
        return [x for part in v.inst.args for x in summands(part)]
    return [v]


def _term(v: ir.Value, root: ir.Value, affine):
    """(axis, index) of a summand index * stride of an offset, or None; a constant one is along the contiguous axis."""
    made = v.inst
    if made is not None and made.op in (arith.IMUL, arith.IMUL_CK):
        for x, stride in (made.args, made.args[::-1]):
            axis = axis_of(stride, root)
            if axis is not None:
                return axis, affine(x)
    axis = _axis(v, root)
    return None if axis is None else (axis, counted.Affine(0, {v: 1}))


def axis_of(stride: ir.Value, root: ir.Value) -> int | None:
    """The axis whose stride a value is itself."""
    made = stride.inst
    return made.attrs["axis"] if made is not None and made.op is memory.ARRAY_STRIDE and made.args[0] is root else None


def _axis(stride: ir.Value, root: ir.Value) -> int | None:
    """The axis of `root` along which a step of so many bytes goes; -1 for no step at all, None where it is unknown."""
    made, axis = stride.inst, axis_of(stride, root)
    if axis is not None or made is None:
        return axis
    if made.op is control.CONST:
        contiguous = {"C": root.type.ndim - 1, "F": 0}.get(root.type.layout)
        return -1 if made.attrs["value"] == 0 else contiguous
    if made.op in (arith.IMUL, arith.IMUL_CK, arith.INEG):
        return next((axis for x in made.args if (axis := axis_of(x, root)) is not None), None)
    if made.op is SELECT:  # a length of one is repeated by steps of no bytes
        axes = {_axis(x, root) for x in made.args[1:]} - {-1}
        return axes.pop() if len(axes) == 1 else None
    return None


def are_apart(accesses: list[dict[int, counted.Affine]], region, inner) -> bool:
    """Whether two iterations never access the same element. accesses: the places of each; inner: of `spans`."""
    first, *others = accesses
    return any(all(axis in other for other in others) and _moves_apart([one[axis] for one in accesses], region, inner)
               for axis in first)


def _moves_apart(forms: list[counted.Affine], region, inner) -> bool:
    """Whether indices along an axis move from one iteration to the next by more than all the rest of them varies."""
    kinds, low, high = set(), [], []
    for form in forms:
        rest = {v: c for v, c in form.terms.items() if v not in inner}
        if any(v in region.defined and v not in region.counters for v in rest):
            return False
        kinds.add(frozenset(rest.items()))
        ends = [sorted((c * end for end in inner[v])) for v, c in form.terms.items() if v in inner]
        low.append(form.constant + sum(least for least, _ in ends))
        high.append(form.constant + sum(most for _, most in ends))
    moved = [(c, region.counters[v]) for v, c in next(iter(kinds)) if v in region.counters]
    if len(kinds) != 1 or len(moved) != 1:
        return False
    factor, step = moved[0]  # a step that is not a constant is not 0
    return max(high) - min(low) < abs(factor * (step if type(step) is int else 1))
