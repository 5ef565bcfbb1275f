"""The index along each axis of an array of an element that is accessed through views of the array.

A view has an offset and a stride for each of its axes, all in bytes: multiples of the strides of the array, or sums of
such. For `row = o[i]; row[j]` the offset is i times the stride of axis 0, and j is multiplied by the stride of axis 1:
the element has the indices i and j. `reached.py` describes the accesses of a parallel loop by these indices.
"""
from __future__ import annotations

from typing import Any

from ..ir import core as ir
from ..ops import arith as a
from ..ops import control, memory
from ..ops.structure import SELECT
from ..types import kinds as k
from .counted import Affine
from .selected import literal

__all__ = ["indices_of"]


def indices_of(root: ir.Value, views, forms, affine, begin) -> dict[Any, Affine]:
    """The index along each axis of `root` of an element of the last of some views of it, each of which is taken of the
    one before. Axes along which it is not known are left out. forms: the indices of the element in the last view;
    affine: returns the affine form of a value; begin: returns the value that counts as the start of a slice."""
    if not views:
        return dict(enumerate(forms))
    if type(root.type) is not k.Array:
        return {}
    found: dict[Any, Affine] = {axis: Affine(0, {}) for axis in range(root.type.ndim)}
    names = {root, views[0].inst.args[0]}  # the latter may be a choice between arrays, of which this one is chosen
    row = False  # whether the view before is a row or column, in which all views of it are
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
        if root.type.ndim > 1 and not row:
            n = view.type.ndim
            if not any([axis is not None and form is not None and (form.terms or form.constant)
                        for axis, form in moves[:len(moves) - (n if view is views[-1] else 0)]]) and not all(
                    [_is_within(*one, root, names) for one in zip(sizes[:n], sizes[n:])]):
                return {}
            row = n == 1
        for axis, form in moves:
            if axis is None:
                return {}
            if form is None:
                found.pop(axis, None)
            elif axis in found:
                found[axis] = found[axis].plus(form, 1)
    return found


def _summands(v: ir.Value) -> list[ir.Value]:
    """The values of which a value is the sum."""
    if v.inst is not None and v.inst.op in (a.IADD, a.IADD_CK):
        return [x for part in v.inst.args for x in _summands(part)]
    return [v]


def _moved(v: ir.Value, root: ir.Value, names, affine, begin) -> tuple[int | None, Affine | None]:
    """(axis, number of elements) of a summand of an offset; None for what is not known."""
    axis, factor = _along(v, root, names)
    if factor is not None:
        return axis, Affine(factor, {})
    made = v.inst
    if made is not None and made.op in (a.IMUL, a.IMUL_CK):
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
    if made.op is a.INEG:
        axis, factor = _along(made.args[0], root, names)
        return axis, None if factor is None else -factor
    if made.op in (a.IMUL, a.IMUL_CK):
        for x, other in (made.args, made.args[::-1]):
            axis, factor = _along(other, root, names)
            if axis is not None:
                by = literal(x)
                return axis, None if factor is None or by is None else factor * by
    if made.op is SELECT:  # a length of one is repeated by steps of no bytes
        found = [one for x in made.args[1:] if (one := _along(x, root, names)) != (0, 0)]
        return found[0] if len(found) == 1 else (None, None)
    return None, None


def _is_within(length: ir.Value, stride: ir.Value, root: ir.Value, names) -> bool:
    """Whether a view that steps over neighbouring elements stays in one row, as far as is known: not that of `ravel`,
    whose length is a product."""
    made = length.inst
    if stride.inst is None or stride.inst.op is not control.CONST or (
            root.inst is not None and root.inst.op is memory.ARRAY_NEW and length in root.inst.args):
        return True
    if made is None:
        return False
    if made.op is memory.ARRAY_DIM:
        return made.args[0] in names or made.args[0].inst is not None and made.args[0].inst.op is memory.ARRAY_VIEW
    if made.op is control.CONST:
        return made.attrs["value"] in (0, 1)
    if made.op is SELECT:
        return all([literal(x) is not None or _is_within(x, stride, root, names) for x in made.args[1:]])
    return made.op in (a.ISUB, a.ISUB_CK, a.IADD, a.IADD_CK, a.IFLOORDIV, a.ISHR) and any(
        [_is_within(x, stride, root, names) for x in made.args])
