"""Differences along axes and related functions: diff, ediff1d, gradient, trapezoid, unwrap."""
from __future__ import annotations

import operator

import numpy as np

from ....infer.meaning import Apply, Call, Const, NotNative, Throw
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ...build import compiled
from ...rule import Constant, expression, rule
from ...intrinsics import fail
from ..shapes.arrange import is_fortran, window
from ..reductions.reductions import AxisError
from ..reductions.scans import check_axis

__all__ = ["CALLS"]


def diff(a, n=1, axis=-1, prepend=None, append=None):
    n = operator.index(n)
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    x = np.asarray(a)
    if x.ndim == 0:
        fail(ValueError, "diff requires input that is at least one dimensional")
    place = check_axis(axis, x.ndim)
    if prepend is not None and append is not None:
        return differences(np.concatenate((beside(x, prepend, place), x, beside(x, append, place)), place), n, place)
    if prepend is not None:
        return differences(np.concatenate((beside(x, prepend, place), x), place), n, place)
    if append is not None:
        return differences(np.concatenate((x, beside(x, append, place)), place), n, place)
    return differences(x, n, place)


def beside(a, value, axis):
    """The array that is joined to `a` before or after it: a number is repeated along the other axes."""
    x = np.asarray(value)
    if x.ndim == 0:
        return np.full(a.shape[:axis] + (1,) + a.shape[axis + 1:], x[()])
    return x


def differences(a, n, axis):
    if n == 0:
        return a
    if is_fortran(a):  # the result is in the same order
        return differences(a.T, n, a.ndim - 1 - axis).T
    later, earlier = window(a, axis, 1, None), window(a, axis, None, -1)
    if a.dtype == np.bool_:
        return differences(later != earlier, n - 1, axis)
    return differences(later - earlier, n - 1, axis)


def ediff1d(ary, to_end=None, to_begin=None):
    flat = np.ravel(ary)
    found = flat[1:] - flat[:-1]
    if to_begin is not None:
        found = np.concatenate((edge(to_begin, flat.dtype, "to_begin"), found))
    if to_end is not None:
        found = np.concatenate((found, edge(to_end, flat.dtype, "to_end")))
    return found


def edge(x, dtype, name):
    """The values before or after the differences, converted to the dtype of the differences."""
    values = np.ravel(np.atleast_1d(x))
    if not np.can_cast(values.dtype, dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    return values.astype(dtype)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    a = np.asarray(y)
    if not -a.ndim <= axis < a.ndim:
        raise IndexError("list assignment index out of range")
    moved = np.moveaxis(a, axis, -1)
    if x is None:
        return np.sum(dx * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)
    points = np.asarray(x)
    if points.ndim == 1:
        return np.sum((points[1:] - points[:-1]) * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)
    along = np.moveaxis(points, check_axis(axis, points.ndim), -1)
    return np.sum((along[..., 1:] - along[..., :-1]) * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)


# ---------------------------------------------------------------- gradient


def spacing(f, x, axis):
    """The distance between neighbours along the axis, or an array of distances."""
    if not isinstance(x, np.ndarray):
        return x
    if x.ndim == 0:
        return x[()]
    if x.ndim != 1:
        fail(ValueError, "distances must be either scalars or 1d")
    if len(x) != f.shape[axis]:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if x.dtype.kind in "iu":
        return np.diff(x.astype(np.float64))
    return np.diff(x)


def all_same(d):
    for i in range(len(d)):
        if d[i] != d[0]:
            return False
    return True


def along(f, d, axis, edge_order):
    """The derivative along one axis."""
    if f.shape[axis] < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
                         "elements are required.")
    out = np.empty(f.shape, f.dtype if f.dtype.kind in "fc" else np.float64)
    a, result = np.moveaxis(f, axis, -1), np.moveaxis(out, axis, -1)
    if not isinstance(d, np.ndarray):
        even(result, a, d, edge_order)
    elif all_same(d):
        even(result, a, d[0], edge_order)
    else:
        uneven(result, a, d, edge_order)
    return out


def even(out, a, d, edge_order):
    out[..., 1:-1] = (a[..., 2:] - a[..., :-2]) / (2.0 * d)
    if edge_order == 1:
        out[..., :1] = (a[..., 1:2] - a[..., :1]) / d
        out[..., -1:] = (a[..., -1:] - a[..., -2:-1]) / d
    else:
        out[..., :1] = -1.5 / d * a[..., :1] + 2.0 / d * a[..., 1:2] + -0.5 / d * a[..., 2:3]
        out[..., -1:] = 0.5 / d * a[..., -3:-2] + -2.0 / d * a[..., -2:-1] + 1.5 / d * a[..., -1:]


def uneven(out, a, d, edge_order):
    before, after = d[:-1], d[1:]
    out[..., 1:-1] = (-after / (before * (before + after)) * a[..., :-2]
                      + (after - before) / (before * after) * a[..., 1:-1]
                      + before / (after * (before + after)) * a[..., 2:])
    if edge_order == 1:
        out[..., :1] = (a[..., 1:2] - a[..., :1]) / d[0]
        out[..., -1:] = (a[..., -1:] - a[..., -2:-1]) / d[-1]
    else:
        x, y = d[0], d[1]
        out[..., :1] = (-(2.0 * x + y) / (x * (x + y)) * a[..., :1] + (x + y) / (x * y) * a[..., 1:2]
                        + -x / (y * (x + y)) * a[..., 2:3])
        x, y = d[-2], d[-1]
        out[..., -1:] = y / (x * (x + y)) * a[..., -3:-2] + -(y + x) / (x * y) * a[..., -2:-1] + \
            (2.0 * y + x) / (y * (x + y)) * a[..., -1:]


def spacings(f, steps, axes, n):
    if n == len(axes):
        return ()
    return (spacing(f, steps[n], axes[n]),) + spacings(f, steps, axes, n + 1)


def all_along(f, distances, axes, edge_order, n):
    if n == len(axes):
        return ()
    return (along(f, distances[n], axes[n], edge_order),) + all_along(f, distances, axes, edge_order, n + 1)


def gradient(f, steps, axes, edge_order):
    distances = spacings(f, steps, axes, 0)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    found = all_along(f.astype(np.float64) if f.dtype.kind in "iu" else f, distances, axes, edge_order, 0)
    return found[0] if len(axes) == 1 else found


@rule("np.gradient")
def _gradient(f, *varargs, axis: Constant = None, edge_order=1):
    steps = list(varargs)
    if k.is_number(f.type):
        return Const(k.Tuple(()), ())
    if any(isinstance(x.type, (k.Tuple, k.Struct)) for x in (f, *steps)):
        return Call(gradient_of_arrays, _tuple([f, *steps]), expression(axis), edge_order)
    if not isinstance(f.type, k.Array):
        raise NotNative(f"np.gradient of a value of type {f.type} is not compiled", "pass an array")
    ndim = f.type.ndim
    axes = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for n in axes:
        if not -ndim <= n < ndim:
            return Call(wrong_axis, Const(k.Int, n), Const(k.Int, ndim))
    axes = tuple(n % ndim for n in axes)
    if len(set(axes)) < len(axes):
        return Throw(ValueError, "repeated axis")
    if not steps:
        steps = [Const(k.Float, 1.0)] * len(axes)
    elif (len(steps) == 1
          and (k.is_number(steps[0].type) or isinstance(steps[0].type, k.Array) and steps[0].type.ndim == 0)):
        steps = steps * len(axes)
    elif len(steps) != len(axes):
        return Throw(TypeError, "invalid number of arguments")
    if not axes:
        return Const(k.Tuple(()), ())
    return Call(gradient, f, _tuple(steps), Const(k.Tuple((k.Int,) * len(axes)), axes), edge_order)


def wrong_axis(axis, ndim):
    raise AxisError(axis, ndim, None)


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def as_arrays(parts, n):
    if n == len(parts):
        return ()
    x = parts[n]
    return ((x if isinstance(x, (int, float)) else np.asarray(x)),) + as_arrays(parts, n + 1)


def gradient_of_arrays(parts, axis, edge_order):
    return np.gradient(*as_arrays(parts, 0), axis=axis, edge_order=edge_order)


# ---------------------------------------------------------------- unwrap


def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    a = np.asarray(p)
    if a.ndim == 0:
        fail(ValueError, "diff requires input that is at least one dimensional")
    place = check_axis(axis, a.ndim)
    x = np.moveaxis(a, place, -1)
    d = x[..., 1:] - x[..., :-1]
    if a.dtype.kind in "iu" and isinstance(period, int):
        high, ambiguous = period // 2, period % 2 == 0
    else:
        high, ambiguous = period / 2, True
    folded = np.mod(d - -high, period) + -high
    if ambiguous:
        folded = np.where((folded == -high) & (d > 0), high, folded)
    correction = np.where(np.abs(d) < (period / 2 if discont is None else discont), 0, folded - d)
    out = np.empty(a.shape, correction.dtype)
    result = np.moveaxis(out, place, -1)
    result[..., :1] = x[..., :1]
    result[..., 1:] = x[..., 1:] + np.cumsum(correction, axis=-1)
    return out


CALLS = {
    np.diff: compiled(diff), np.ediff1d: compiled(ediff1d), np.trapezoid: compiled(trapezoid), np.gradient: _gradient,
    np.unwrap: compiled(unwrap),
}
