"""Which arrays have elements that no two iterations of a parallel loop share, because every access has an index that
moves with the loop by more than the rest of that index can vary: `a[i]`, `a[i, j]`, `a[2 * i + 1]`, or an element of
the row `a[i]`.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops import arith, control, memory
from ..ops.structure import SELECT
from . import counted

__all__ = ["are_apart", "places", "spans"]


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


def places(root: ir.Value, views, forms, affine, begin) -> dict[int, counted.Affine]:
    """The index along axes of `root` of an element at the indices `forms` of the last of some views of it, each of
    which is taken of the one before; axes along which it is not known are left out. affine: the affine form of a value;
    begin: the value that is taken for the start of a slice."""
    if not views:
        return dict(enumerate(forms))
    found: dict[int, counted.Affine] = {axis: counted.Affine(0, {}) for axis in range(root.type.ndim)}
    names = {root, views[0].inst.args[0]}  # the latter may be a choice between arrays, of which this one is chosen
    for view in views:
        made = view.inst
        if made is None or made.op is not memory.ARRAY_VIEW or view.type.dtype is not root.type.dtype:
            return {}
        _, offset, *sizes = made.args
        moves = [_moved(x, root, names, affine, begin) for x in _summands(offset)]
        if view is views[-1]:
            for stride, form in zip(sizes[view.type.ndim:], forms):
                axis, factor = _along(stride, root, names)
                moves.append((axis, None if factor is None else form.times(factor)))
        for axis, form in moves:
            if axis is None:
                return {}
            if form is None:
                found.pop(axis, None)
            elif axis in found:
                found[axis] = found[axis].plus(form, 1)
    return found


def _summands(v: ir.Value) -> list[ir.Value]:
    if v.inst is not None and v.inst.op in (arith.IADD, arith.IADD_CK):
        return [x for part in v.inst.args for x in _summands(part)]
    return [v]


def _moved(v: ir.Value, root: ir.Value, names, affine, begin) -> tuple[int | None, counted.Affine | None]:
    """(axis, number of elements) of a summand of an offset; None for what is not known."""
    axis, factor = _along(v, root, names)
    if factor is not None:
        return axis, counted.Affine(factor, {})
    made = v.inst
    if made is not None and made.op in (arith.IMUL, arith.IMUL_CK):
        for x, stride in (made.args, made.args[::-1]):
            along, factor = _along(stride, root, names)
            if factor is not None:
                return along, affine(begin(x)).times(factor)
    return axis, None


def _along(stride: ir.Value, root: ir.Value, names) -> tuple[int | None, int | None]:
    """(axis of `root`, number of elements) of a step of so many bytes; None for what is not known. names: the values
    that are `root`."""
    made = stride.inst
    if made is None:
        return None, None
    if made.op is memory.ARRAY_STRIDE and made.args[0] in names:
        return made.attrs["axis"], 1
    if made.op is control.CONST:
        axis, item = {"C": root.type.ndim - 1, "F": 0}.get(root.type.layout), memory.item_bytes(root.type.dtype)
        value = made.attrs["value"]
        return (0, 0) if value == 0 else (None, None) if axis is None or value % item else (axis, value // item)
    if made.op is arith.INEG:
        axis, factor = _along(made.args[0], root, names)
        return axis, None if factor is None else -factor
    if made.op in (arith.IMUL, arith.IMUL_CK):
        for x, other in (made.args, made.args[::-1]):
            axis, factor = _along(other, root, names)
            if axis is not None:
                by = x.inst.attrs["value"] if x.inst is not None and x.inst.op is control.CONST else None
                return axis, None if factor is None or by is None else factor * by
    if made.op is SELECT:  # a length of one is repeated by steps of no bytes
        found = [one for x in made.args[1:] if (one := _along(x, root, names)) != (0, 0)]
        return found[0] if len(found) == 1 else (None, None)
    return None, None


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
