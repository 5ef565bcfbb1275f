"""Order statistics: median, percentile, quantile, and their variants that ignore nan; by quickselect, or by sorting
where many quantiles are wanted.

Source of the methods: R. J. Hyndman, Y. Fan, Sample quantiles in statistical packages (1996), as NumPy numbers them.
"""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Call, CallValue, Const, Expr, Mismatch, NotNative, Throw
from ....ops.arith import IADD, IAND
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE, SUM_EIGHTS
from ....types import kinds as k
from ....types.kinds import Array, DType, is_number
from ....types.lattice import dtype_of, kind_of, promote
from ...build import unvectorised
from ...rule import ArrayLike, Constant, NONE, NumberOrArray, rule
from ...intrinsics import as_type, insert_axes, warn
from ..reductions.reductions import EMPTY, axes_of, axes_size, put_out
from ..sorting.sorting import copy_row, flat_copy, less, normal_axis, select_key, sort_keys

__all__ = ["CALLS"]

METHODS_OF = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
              "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")
_DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
MANY = 8  # from so many quantiles on, sorting the row is cheaper


# -- median

def has_nan(row):
    if row.dtype.kind in "fcmM":
        start = 0
        if row.dtype.kind == "f" and row.dtype.itemsize > 2:
            eights = IAND(len(row), -8)
            total = SUM_EIGHTS(row, eights) if eights > 0 else as_type(0, row.dtype)
            if total == total:
                start = eights  # inf - inf is nan, too: then each element is tested
        for i in range(start, len(row)):
            x = ARRAY_LOAD(row, i)
            if x != x:
                return True
    return False


@unvectorised
def median_row(row, t):
    """The median of the contiguous row, whose elements are reordered; t: dtype of the result."""
    n = len(row)
    if n == 0:
        return as_type(complex(np.nan, np.nan) if t.kind == "c" else None, t)
    if has_nan(row):
        return last_in_order(row) if t.kind == "c" else as_type(None, t)
    half = n >> 1
    select_key(row, None, half, n)
    x = ARRAY_LOAD(row, half)
    if n & 1:  # NumPy divides the sum of one number by 1, which makes a nan of a complex infinity
        return as_type(x, t) / 1 if t.kind == "c" else as_type(x, t)
    y = ARRAY_LOAD(row, 0)
    for i in range(1, half):
        z = ARRAY_LOAD(row, i)
        if less(y, z):
            y = z
    if t == np.float16:
        return as_type((np.float32(y) + np.float32(x)) / 2, t)
    return (as_type(y, t) + as_type(x, t)) / 2


def last_in_order(row):
    found = ARRAY_LOAD(row, 0)
    for i in range(1, len(row)):
        x = ARRAY_LOAD(row, i)
        if less(found, x):
            found = x
    return found


def median_part(row, t, skip):
    """The median of the row. skip: nan elements are left out. If all elements are nan, the result is nan; for complex
    numbers it is the last element, as in NumPy."""
    numbers = numbers_of(row, skip)
    if skip and len(numbers) == 0 and len(row) > 0:
        warn(_ALL_NAN)
        if t.kind == "c":
            return ARRAY_LOAD(row, len(row) - 1)
    return median_row(numbers, t)


_ALL_NAN = "All-NaN slice encountered"
SMALL = 600  # for shorter axes NumPy uses masked arrays, whose result is another nan


def median_along(row, t, skip):
    if t.kind == "c" and skip and len(row) < SMALL:
        numbers = numbers_of(row, skip)
        if len(numbers) == 0:
            if len(row) > 0:
                warn(_ALL_NAN)
            return as_type(np.nan, t)
        return median_row(numbers, t)
    return median_part(row, t, skip)


def numbers_of(row, skip):
    """The row, or, to skip nan, the other elements moved to the front."""
    if not skip or row.dtype.kind not in "fc":
        return row
    count = 0
    for i in range(len(row)):
        x = ARRAY_LOAD(row, i)
        if x == x:
            ARRAY_STORE(row, count, x)
            count = IADD(count, 1)
    return row[:count]


def medians(out, a, axis, row, t, skip):
    if a.ndim == 1:
        copy_row(row, a)
        out[()] = median_along(row, t, skip)
    elif axis == 0:
        for j in range(a.shape[-1]):
            medians(out[..., j], a[..., j], 0, row, t, skip)
    else:
        for i in range(len(a)):
            medians(out[i, ...], a[i], axis - 1, row, t, skip)


def without(shape, axis, j):
    """The shape without `axis`."""
    if j == len(shape):
        return ()
    if j == axis:
        return without(shape, axis, j + 1)
    return (shape[j],) + without(shape, axis, j + 1)


def all_axes(ndim):
    return () if ndim == 0 else all_axes(ndim - 1) + (ndim - 1,)


def boxed(x):
    out = np.empty((), x.dtype)
    out[()] = x
    return out


def merged(a, axes):
    """The array with the given axes merged to one, the last."""
    moved = np.moveaxis(a, axes, last_axes(len(axes)))
    return np.reshape(moved, moved.shape[:a.ndim - len(axes)] + (axes_size(a, axes, 0),))


def last_axes(count):
    return () if count == 0 else (-count,) + last_axes(count - 1)


def kept(found, axes):
    return insert_axes(found if isinstance(found, np.ndarray) else boxed(found), axes)


def warn_of_nothing(a, n, skip):
    """Warn where there is nothing to take a median of. n: number of elements of a row."""
    if n == 0:
        if not skip:
            warn(EMPTY)
        elif a.size == 0:
            warn("Mean of empty slice")


def median(a, axis, keepdims, t, skip, out):
    if isinstance(axis, tuple):
        found = median(merged(a, axis), -1, False, t, skip, None)
        return put_out(kept(found, axis) if keepdims else found, out)
    if axis is None:
        warn_of_nothing(a, a.size, skip)
        found = median_part(flat_copy(a), t, skip)
        return put_out(kept(found, all_axes(a.ndim)) if keepdims and a.ndim > 0 else found, out)
    axis = normal_axis(axis, a.ndim)
    if skip and t.kind == "c" and a.size == 0:
        return np.mean(a, axis, None, out, keepdims)
    warn_of_nothing(a, a.shape[axis], skip)
    if a.ndim == 1:
        found = median_along(flat_copy(a), t, skip)
        return put_out(kept(found, (0,)) if keepdims else found, out)
    found = np.empty(without(a.shape, axis, 0), t)
    medians(found, a, axis, np.empty(a.shape[axis], a.dtype), t, skip)
    return put_out(insert_axes(found, (axis,)) if keepdims else found, out)


# -- quantiles

def general_index(n, q, alpha, beta):
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def boundary(v, previous):
    """The index below (`previous`) or above the position v."""
    low = np.floor(v)
    i = int(low) if previous else int(low) + 1
    return 0 if i < 0 else i


def discrete_index(n, q, method):
    if method == "inverted_cdf":
        v = n * q - 1
        return boundary(v, v - np.floor(v) == 0)
    if method == "closest_observation":
        v = n * q - 1 - 0.5
        return boundary(v, v - np.floor(v) == 0 and np.floor(v) % 2 == 1)
    if method == "lower":
        return int(np.floor((n - 1) * q))
    if method == "higher":
        return int(np.ceil((n - 1) * q))
    return int(np.rint((n - 1) * q))


def virtual_index(n, q, method):
    if method == "averaged_inverted_cdf":
        return n * q - 1
    if method == "interpolated_inverted_cdf":
        return general_index(n, q, 0, 1)
    if method == "hazen":
        return general_index(n, q, 0.5, 0.5)
    if method == "weibull":
        return general_index(n, q, 0, 0)
    if method == "median_unbiased":
        return general_index(n, q, 1 / 3.0, 1 / 3.0)
    if method == "normal_unbiased":
        return general_index(n, q, 3 / 8.0, 3 / 8.0)
    if method == "midpoint":
        return 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    return (n - 1) * q


def weight(v, previous, method):
    gamma = v - previous
    if method == "averaged_inverted_cdf":
        return as_type(0.5 if gamma == 0 else 1.0, v.dtype)
    if method == "midpoint":
        return as_type(0.0 if v % 1 == 0 else 0.5, v.dtype)
    return gamma


def between(x, y, t):
    """Linear interpolation that is exact at both ends."""
    d = y - x
    return y - d * (1 - t) if t >= 0.5 else x + d * t


def at_index(row, i, ordered):
    if not ordered:
        select_key(row, None, i, len(row))
    return ARRAY_LOAD(row, i)


def after_index(row, i, ordered):
    """The (i + 1)-th smallest element, where the i-th is in its place."""
    y = ARRAY_LOAD(row, IADD(i, 1))
    if not ordered:
        for j in range(IADD(i, 2), len(row)):
            z = ARRAY_LOAD(row, j)
            if less(z, y):
                y = z
    return y


@unvectorised
def quantile_row(row, q, ordered, method, weak, t):
    """One quantile of a contiguous row without NaNs, whose elements are reordered."""
    n = len(row)
    if q.dtype.kind in "iu" and method == "linear":
        return as_type(at_index(row, int((n - 1) * q), ordered), t)
    if method in _DISCRETE:
        i = discrete_index(n, q, method)
        return as_type(at_index(row, n - 1 if i >= n else i, ordered), t)
    v = virtual_index(n, q, method)
    if v >= n - 1:
        x = at_index(row, n - 1, ordered)
        gamma = weight(v, -1, method)
        return as_type(between(x, x, float(gamma) if weak else gamma), t)
    if v < 0:
        x = at_index(row, 0, ordered)
        gamma = weight(v, 0, method)
        return as_type(between(x, x, float(gamma) if weak else gamma), t)
    i = int(np.floor(v))
    gamma = weight(v, i, method)
    x = at_index(row, i, ordered)
    return as_type(between(x, after_index(row, i, ordered), float(gamma) if weak else gamma), t)


def quantile_rows(out, a, axis, row, spare, q, method, weak, t, skip):
    """out[j, ...] = quantile q[j] of the rows of a."""
    if a.ndim == 1:
        copy_row(row, a)
        if len(row) == 0:
            raise IndexError("index -1 is out of bounds for axis 0 with size 0")
        numbers = numbers_of(row, skip)
        if len(numbers) == 0 or not skip and has_nan(row):
            if skip:
                warn(_ALL_NAN)
            for j in range(len(q)):
                out[j] = as_type(np.nan, t)
        else:
            many = len(q) >= MANY
            if many:
                sort_keys(numbers, spare, None, None, len(numbers))
            for j in range(len(q)):
                out[j] = quantile_row(numbers, q[j], many, method, weak, t)
    elif axis == 0:
        for j in range(a.shape[-1]):
            quantile_rows(out[..., j], a[..., j], 0, row, spare, q, method, weak, t, skip)
    else:
        for i in range(len(a)):
            quantile_rows(out[:, i], a[i], axis - 1, row, spare, q, method, weak, t, skip)


def fractions(q, percent):
    """q as a 1-d array of fractions."""
    if isinstance(q, np.ndarray):
        if not percent:
            return q
        out = np.empty(len(q), np.float32 if q.dtype == np.float32 else np.float16 if q.dtype == np.float16
                       else np.float64)
        for j in range(len(q)):
            out[j] = q[j] / 100
        return out
    x = np.true_divide(q, 100) if percent else np.int64(q) if isinstance(q, int) else np.add(q, 0)
    out = np.empty(1, x.dtype)
    out[0] = x
    return out


def quantile(a, q, axis, method, keepdims, weak, percent, t, skip, out):
    return put_out(quantile_of(a, q, axis, method, keepdims, weak, percent, t, skip), out)


def quantile_of(a, q, axis, method, keepdims, weak, percent, t, skip):
    if isinstance(axis, tuple):
        found = quantile_of(merged(a, axis), q, -1, method, False, weak, percent, t, skip)
        return kept(found, after_first(axis) if isinstance(q, np.ndarray) else axis) if keepdims else found
    if axis is None:
        found = quantile_of(flat_copy(a), q, 0, method, False, weak, percent, t, skip)
        if not keepdims or a.ndim == 0:
            return found
        return kept(found, after_first(all_axes(a.ndim)) if isinstance(q, np.ndarray) else all_axes(a.ndim))
    axis = normal_axis(axis, a.ndim)
    p = fractions(q, percent)
    for j in range(len(p)):
        if not (p[j] >= 0 and p[j] <= 1):
            if percent:
                raise ValueError("Percentiles must be in the range [0, 100]")
            raise ValueError("Quantiles must be in the range [0, 1]")
    n = a.shape[axis]
    out = np.empty((len(p),) + without(a.shape, axis, 0), t)
    if skip and a.size == 0:
        if isinstance(q, np.ndarray) or out.dtype.kind in "biu":
            raise NotImplementedError("several quantiles of an empty array, without nan, are not compiled")
        if n == 0 and out.size > 0:
            warn("Mean of empty slice")
        out[...] = as_type(np.nan, t)
    else:
        quantile_rows(out, a, axis, np.empty(n, a.dtype), np.empty(n if len(p) >= MANY else 0, a.dtype), p, method,
                      weak, t, skip)
    if isinstance(q, np.ndarray):
        return insert_axes(out, (axis + 1,)) if keepdims else out
    return kept(out[0], (axis,)) if keepdims else out[0]


def after_first(axes):
    """The axes of the result, whose first axis numbers the quantiles."""
    return () if len(axes) == 0 else after_first(axes[:-1]) + (axes[-1] + 1,)


# -- rules

def _place(name, a, axis, out, weights=None):
    """The axis or axes of a call, checked together with its other arguments; or the expression of an error."""
    if weights:
        raise NotNative(f"np.{name} with weights= is not compiled yet")
    if axis and not (axis.known and isinstance(axis.value, (int, np.integer))):
        axes = axes_of(axis, a.type.ndim)
        if isinstance(axes, Expr):
            return Throw(ValueError, "repeated axis") if isinstance(axes, Throw) else axes
        axis = Const(k.Tuple((k.Int,) * len(axes)), axes)
    if out and not isinstance(out.type, Array):
        raise Mismatch(f"out= of np.{name} must be an array")
    return axis or NONE




def _dtype(t):
    return Const(DType(t), dtype_of(t))


def _median(name, skip):
    @rule(f"np.{name}")
    def found(a: ArrayLike, axis=None, out=None, overwrite_input=False, keepdims: Constant = np._NoValue):
        place = _place(name, a, axis, out)
        if isinstance(place, (Call, Throw)):
            return place
        t = a.type.dtype
        return CallValue(constant(median), a, place, Const(k.Bool, bool(keepdims)),
                         _dtype(k.float64 if kind_of(t) in "biu" else t), Const(k.Bool, skip), out or NONE)

    return found


def _quantile(name, percent, skip=False):
    @rule(f"np.{name}")
    def found(a: ArrayLike, q: NumberOrArray, axis=None, out=None, overwrite_input=False, method: Constant = "linear",
              keepdims: Constant = np._NoValue, *, weights=None):
        place = _place(name, a, axis, out, weights)
        if isinstance(place, (Call, Throw)):
            return place
        if kind_of(a.type.dtype) == "c":
            return Throw(TypeError, "a must be an array of real numbers")
        if method not in METHODS_OF:
            names = {name: None for name in METHODS_OF}
            return Throw(ValueError, f"{method!r} is not a valid method. Use one of: {names.keys()}")
        if isinstance(q.type, Array):
            if q.type.ndim != 1:
                raise NotNative(f"np.{name} with q of {q.type.ndim} dimensions is not compiled",
                                "q must be a number or 1-d")
            parts = [q.type.dtype]
        else:
            parts = [q.type]
        if not all(map(is_number, parts)):
            raise NotNative(f"np.{name} with q of type {q.type} is not compiled")
        weak = parts == [k.Int] or parts == [k.Float]
        weak = weak and is_number(q.type)
        strong = k.float64 if any(not isinstance(t, (k.NpFloat,)) for t in parts) else parts[0]
        source = a.type.dtype
        whole = not percent and method == "linear" and all(kind_of(t) in "biu" for t in parts)
        if method in _DISCRETE or whole:
            t = source
        elif kind_of(source) == "b":
            return Throw(TypeError, "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
                                    "the `^` operator, or the logical_xor function instead.")
        elif weak:
            t = source if kind_of(source) == "f" else k.float64
        else:
            t = promote(source, strong)
        if out and not np.can_cast(dtype_of(t), dtype_of(out.type.dtype), "same_kind"):
            raise Mismatch(f"Cannot cast ufunc 'add' output from {dtype_of(t)!r} to {dtype_of(out.type.dtype)!r} with "
                           f"casting rule 'same_kind'")
        return CallValue(constant(quantile), a, q, place, Const(k.Str, method), Const(k.Bool, bool(keepdims)),
                         Const(k.Bool, weak), Const(k.Bool, percent), _dtype(t), Const(k.Bool, skip), out or NONE)

    return found


CALLS = {
    np.median: _median("median", False), np.percentile: _quantile("percentile", True),
    np.quantile: _quantile("quantile", False), np.nanmedian: _median("nanmedian", True),
    np.nanpercentile: _quantile("nanpercentile", True, True), np.nanquantile: _quantile("nanquantile", False, True),
}
