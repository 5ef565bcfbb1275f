"""Insert, delete, resize, trim_zeros, and block: arrays with parts added or removed, or built from nested lists."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Int
from ...build import compiled, is_list, a_type
from ...rule import Constant, rule
from ..shapes.arrange import is_fortran, window, with_length
from .making import raised
from ..reductions.reductions import AxisError, axes_of
from ..reductions.scans import check_axis
from ..shapes.views import each, elements, shape_text, slice_bounds

__all__ = ["CALLS", "METHODS"]


# ---------------------------------------------------------------- insert


def insert(arr, obj, values, axis=None):
    if not isinstance(arr, np.ndarray):
        return insert(np.asarray(arr), obj, values, axis)
    new = values if isinstance(values, np.ndarray) else np.asarray(values, arr.dtype)
    if axis is None:
        return insert_along(np.ravel(arr), obj, new, 0)
    return insert_along(arr, obj, new, check_axis(axis, arr.ndim))


def insert_along(a, obj, values, axis):
    if isinstance(obj, (int, np.integer)):
        return insert_one(a, int(obj), values, axis, True)
    if isinstance(obj, slice):
        first, step, count = slice_bounds(obj.start, obj.stop, obj.step, a.shape[axis])
        return insert_at(a, first + step * np.arange(count), values, axis)
    if not isinstance(obj, np.ndarray):
        if len(obj) == 0:
            return insert_at(a, np.empty(0, np.int64), values, axis)
        return insert_along(a, np.asarray(obj), values, axis)
    if obj.dtype == np.bool_:
        if obj.ndim != 1:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        return insert_at(a, np.flatnonzero(obj), values, axis)
    if obj.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if obj.ndim == 0:
        return insert_one(a, int(obj[()]), values, axis, True)
    if obj.dtype.kind not in "iu":
        if len(obj) == 1:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return insert_at(a, obj.astype(np.int64), values, axis)


def insert_one(a, i, values, axis, alone):
    """Insert values before index i. alone: the index is a number, and values have no axis for it."""
    n = a.shape[axis]
    if i < -n or i > n:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    at = i + n if i < 0 else i
    new = raised(values, a.ndim)
    if alone and a.ndim > 1 and axis != 0:
        new = np.moveaxis(new, 0, axis)
    more = new.shape[axis]
    out = np.empty(with_length(a.shape, axis, n + more, 0), a.dtype, order="F" if is_fortran(a) else "C")
    window(out, axis, 0, at)[...] = window(a, axis, 0, at)
    window(out, axis, at, at + more)[...] = new
    window(out, axis, at + more, n + more)[...] = window(a, axis, at, n)
    return out


def insert_at(a, places, values, axis):
    if len(places) == 1:
        return insert_one(a, int(places[0]), values, axis, False)
    n, more = a.shape[axis], len(places)
    total = n + more
    at = np.empty(more, np.int64)
    for i in range(more):
        at[i] = places[i] + n if places[i] < 0 else places[i]
    order = np.argsort(at, kind="stable")
    for i in range(more):
        at[order[i]] += i
    old = np.ones(total, np.bool_)
    for i in range(more):
        if at[i] < -total or at[i] >= total:
            raise IndexError(f"index {at[i]} is out of bounds for axis 0 with size {total}")
        old[at[i]] = False
    left = 0
    for i in range(total):
        left += 1 if old[i] else 0
    if left != n:
        raise ValueError(f"NumPy boolean array indexing assignment cannot assign {n} input values to the {left} "
                         f"output values where the mask is true")
    out = np.empty(with_length(a.shape, axis, total, 0), a.dtype, order="F" if is_fortran(a) else "C")
    rows, source = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)
    new = np.empty(with_length(a.shape, axis, more, 0), a.dtype)
    if not fits(values.shape, new.shape, 1):
        raise ValueError(f"shape mismatch: value array of shape {shape_text(values.shape)} could not be broadcast to "
                         f"indexing result of shape {shape_text(new.shape)}")
    new[...] = values
    new_rows = np.moveaxis(new, axis, 0)
    for i in range(more):
        rows[at[i]] = new_rows[i]
    j = 0
    for i in range(total):
        if old[i]:
            rows[i] = source[j]
            j += 1
    return out


def fits(shape, target, back):
    """Whether the last axes have the lengths of those of the target, or 1."""
    if back > len(shape):
        return True
    n = shape[len(shape) - back]
    if back > len(target):
        return n == 1 and fits(shape, target, back + 1)
    return (n == 1 or n == target[len(target) - back]) and fits(shape, target, back + 1)


# ---------------------------------------------------------------- delete


def delete(arr, obj, axis=None):
    if not isinstance(arr, np.ndarray):
        return delete(np.asarray(arr), obj, axis)
    if axis is None:
        return delete_along(np.ravel(arr), obj, 0)
    return delete_along(arr, obj, check_axis(axis, arr.ndim))


def delete_along(a, obj, axis):
    n = a.shape[axis]
    if isinstance(obj, (int, np.integer)):
        return delete_one(a, int(obj), axis)
    if isinstance(obj, slice):
        keep = np.ones(n, np.bool_)
        keep[obj] = False
        return kept(a, keep, axis)
    if not isinstance(obj, np.ndarray):
        if len(obj) == 0:
            return a.copy()
        return delete_along(a, np.asarray(obj), axis)
    if obj.dtype == np.bool_:
        if obj.ndim != 1:
            raise ValueError(f"boolean array argument obj to delete must be one dimensional and match the axis length "
                             f"of {n}")
        if len(obj) != n:
            raise ValueError(f"boolean array argument obj to delete must be one dimensional and match the axis length "
                             f"of {n}")
        return kept(a, ~obj, axis)
    if obj.size == 1:
        return delete_one(a, int(np.ravel(obj)[0]), axis)
    keep = np.ones(n, np.bool_)
    keep[obj] = False
    return kept(a, keep, axis)


def delete_one(a, i, axis):
    n = a.shape[axis]
    if i < -n or i >= n:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    at = i + n if i < 0 else i
    out = np.empty(with_length(a.shape, axis, n - 1, 0), a.dtype, order="F" if is_fortran(a) else "C")
    window(out, axis, 0, at)[...] = window(a, axis, 0, at)
    window(out, axis, at, n - 1)[...] = window(a, axis, at + 1, n)
    return out


def kept(a, keep, axis):
    count = 0
    for i in range(len(keep)):
        if keep[i]:
            count += 1
    out = np.empty(with_length(a.shape, axis, count, 0), a.dtype, order="F" if is_fortran(a) else "C")
    rows, source = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)
    j = 0
    for i in range(len(keep)):
        if keep[i]:
            rows[j] = source[i]
            j += 1
    return out


# ---------------------------------------------------------------- resize


def resize(a, new_shape):
    if isinstance(new_shape, (int, np.integer)):
        return resized(np.ravel(np.asarray(a)), (int(new_shape),))
    return resized(np.ravel(np.asarray(a)), each(int, new_shape))


def check_lengths(shape, j):
    if j < len(shape):
        if shape[j] < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
        check_lengths(shape, j + 1)


def resized(flat, shape):
    check_lengths(shape, 0)
    if len(flat) == 0:
        return np.zeros(shape, flat.dtype)
    out = np.empty(shape, flat.dtype)
    target = out.reshape(-1) if len(shape) != 1 else out
    j = 0
    for i in range(len(target)):
        target[i] = flat[j]
        j = 0 if j + 1 == len(flat) else j + 1
    return out


# ---------------------------------------------------------------- trim_zeros


@rule("np.trim_zeros")
def _trim_zeros(filt, trim: Constant = "fb", axis=None):
    a, trim = filt, trim.lower()
    if not isinstance(a.type, k.Array):
        raise NotNative(f"np.trim_zeros of {a_type(a.type)} is not compiled", "pass an array")
    if trim not in ("fb", "bf", "f", "b"):
        return Throw(ValueError, f"unexpected character(s) in `trim`: {trim!r}")
    axes = axes_of(axis, a.type.ndim)
    if isinstance(axes, Expr):
        return Call(wrong_axis, axes.operands[0], axes.operands[1]) if isinstance(axes, Call) else axes
    axes = tuple(range(a.type.ndim)) if axes is None else axes
    if not axes:
        return a
    return Call(trimmed, a, Const(k.Tuple((Int,) * len(axes)), axes), Const(k.Bool, "f" in trim),
                Const(k.Bool, "b" in trim))


def wrong_axis(axis, ndim):
    raise AxisError(axis, ndim, "axis")


def trimmed(a, axes, front, back):
    low, high = ends(a, axes, 0)
    return cut(a, axes, low, high, front, back, len(low) > 0 and high[0] < 0, 0)


def ends(a, axes, j):
    """The first and last index of elements that are not zero along each axis; last < 0 where there are none."""
    if j == len(axes):
        return (), ()
    low, high = a.shape[axes[j]], -1
    rows = np.moveaxis(a, axes[j], 0)
    for i in range(len(rows)):
        if some(rows[i]):
            low = min(low, i)
            high = i
    rest = ends(a, axes, j + 1)
    return (low,) + rest[0], (high,) + rest[1]


def some(x):
    return bool(np.any(x)) if isinstance(x, np.ndarray) else bool(x)


def cut(a, axes, low, high, front, back, empty, j):
    if j == len(axes):
        return a
    start = 0 if empty or not front else low[j]
    stop = 0 if empty else high[j] + 1 if back else a.shape[axes[j]]
    return cut(window(a, axes[j], start, stop), axes, low, high, front, back, empty, j + 1)


# ---------------------------------------------------------------- block


def _depth(x, path="arrays"):
    """(depth of the nested lists, largest number of axes of an array in them), or the Throw of NumPy's error."""
    if isinstance(x.type, k.Tuple):
        return Throw(TypeError, f"{path} is a tuple. Only lists can be used to arrange blocks, and np.block does not "
                                f"allow implicit conversion from tuple to ndarray.")
    if not is_list(x.type):
        if not isinstance(x.type, k.Array) and not k.is_number(x.type):
            raise NotNative(f"np.block of {a_type(x.type)} is not compiled", "use arrays and numbers in lists")
        return 0, x.type.ndim if isinstance(x.type, k.Array) else 0
    parts = elements(x)
    if not parts:
        return Throw(ValueError, f"List at {path} cannot be empty")
    found = [_depth(p, f"{path}[{i}]") for i, p in enumerate(parts)]
    wrong = [one for one in found if isinstance(one, Throw)]
    if wrong:
        return next((one for one in wrong if one.exception is TypeError), wrong[-1])
    for i, one in enumerate(found):
        if one[0] != found[0][0]:
            raise Mismatch(f"List depths are mismatched: {path}[{i}] is not as deep as the first", exception=ValueError)
    return found[0][0] + 1, max(one[1] for one in found)


@rule("np.block")
def _block(arrays):
    x = arrays
    found = _depth(x)
    if isinstance(found, Throw):
        return found
    depth, ndim = found[0], max(found)
    return Call(block_copy, x, Const(Int, ndim)) if depth == 0 else _joined(x, depth, ndim)


def _joined(x, depth, ndim):
    if depth == 0:
        return Call(block_of, x, Const(Int, ndim))
    return Call(np.concatenate, Apply(TUPLE_MAKE, *(_joined(p, depth - 1, ndim) for p in elements(x)), cls=None),
                Const(Int, ndim - depth))


def block_of(x, ndim):
    return raised(np.asarray(x), ndim)


def block_copy(x, ndim):
    return np.array(x)


CALLS = {
    np.insert: compiled(insert), np.delete: compiled(delete), np.resize: compiled(resize), np.trim_zeros: _trim_zeros,
    np.block: _block,
}
METHODS = {}
