"""Functions along one axis: argmin and argmax, running sums and products."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Const, NotNative
from ....ops.arith import IADD, IAND, ILT, IMUL, ISUB
from ....ops.math import FMAX_NUMBER, FMIN_NUMBER
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....ops.parallel import INDEPENDENT
from ....ops.structure import SELECT
from ....types import kinds as k
from ....types.lattice import dtype_of
from ...build import batched, compiled, outlined
from ...rule import intrinsic
from ...intrinsics import as_type
from ..arrays.creation import scalar_of
from .folds import LARGE, LEVELS, PARTS
from .reductions import AxisError, axis_first, put_out
from ..elementwise.ufuncs import fold_loop

__all__ = ["CALLS", "METHODS"]


def check_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, None)
    return axis % ndim


# ---------------------------------------------------------------- argmin, argmax


def better(x, y, largest):
    """Whether x is a better extreme than y; the first nan is better than all others."""
    if x.dtype.kind == "c":
        if y.real != y.real or y.imag != y.imag:
            return False
        behind = x.real < y.real if largest else x.real > y.real
        return not (behind and x.imag == x.imag or x.real == y.real
                    and (x.imag <= y.imag if largest else x.imag >= y.imag))
    if x.dtype.kind in "mM":
        return (x > y if largest else x < y) or x != x and y == y
    return x > y if largest else x < y


BRIEF = 16


def best_of_all(a, largest):
    if a.ndim == 1 and a.dtype.kind in "iuf" and len(a) < BRIEF:
        return brief_best(a, largest)
    return best_of(np.ravel(a), largest)


def brief_best(row, largest):
    """The position of the extreme in a row that is shorter than a vector loop; the first nan wins."""
    best = ARRAY_LOAD(row, 0)
    at = 0
    if bool(best != best):
        return np.int64(0)
    for i in range(1, SELECT(ILT(len(row), BRIEF), len(row), BRIEF)):  # the compiler knows that the loop is short
        x = ARRAY_LOAD(row, i)
        if bool(x != x):
            return np.int64(i)
        better = bool(x > best if largest else x < best)
        best = SELECT(better, x, best)
        at = SELECT(better, i, at)
    return np.int64(at)


@outlined
def best_of(row, largest):
    if row.dtype.kind in "iuf":  # both loops are vectorised
        extreme = row[0]
        some_nan = False
        for i in range(len(row)):
            x = ARRAY_LOAD(row, i)
            extreme = further(extreme, x, largest)
            some_nan |= bool(x != x)
        return np.int64(first_of(row, SELECT(some_nan, row[0], extreme), some_nan))
    best = row[0]
    at = 0
    for i in range(1, len(row)):
        if better(row[i], best, largest):
            best = row[i]
            at = i
    return np.int64(at)


def first_of(row, value, nan):
    """The index of the first element equal to `value`, or of the first nan; one exists."""
    whole = ISUB(len(row), IAND(len(row), 63))
    for low in range(0, whole, 64):
        some = False
        for j in range(64):
            some |= is_it(ARRAY_LOAD(row, IADD(low, j)), value, nan)
        if some:
            return first_between(row, value, nan, low, IADD(low, 64))
    return first_between(row, value, nan, whole, len(row))


def first_between(row, value, nan, low, high):
    for i in range(low, high):
        if is_it(ARRAY_LOAD(row, i), value, nan):
            return i
    return 0


def is_it(x, value, nan):
    return bool(x != x) if nan else bool(x == value)


def further(x, y, largest):
    if x.dtype.kind == "f":
        return FMAX_NUMBER(x, y) if largest else FMIN_NUMBER(x, y)
    return SELECT(bool(y > x if largest else y < x), y, x)


def best_along(out, a, largest):
    best_rows(out, a, largest, 0, len(a))


def best_of_all_in_parts(a, largest):
    """`best_of_all` under `parallel=True`: the best of each part, and the first of the best among these."""
    if a.dtype.kind not in "iuf" or a.size < LARGE:
        return best_of(np.ravel(a), largest)
    row = np.ravel(a)
    found = np.empty(PARTS, np.int64)
    for part in range(INDEPENDENT(PARTS, parts=True)):
        low = IMUL(len(row), part) >> LEVELS
        high = IMUL(len(row), IADD(part, 1)) >> LEVELS
        ARRAY_STORE(found, part, best_of(row[low:high], largest) + low)
    at = found[0]
    for part in range(1, PARTS):
        x, best = row[found[part]], row[at]
        if best == best and (x != x or (x > best if largest else x < best)):
            at = found[part]
    return at


def best_along_in_parts(out, a, largest):
    if len(a) < 2 or a.size < LARGE:
        best_rows(out, a, largest, 0, len(a))
    else:
        for part in range(INDEPENDENT(PARTS, parts=True)):
            best_rows(out, a, largest, IMUL(len(a), part) >> LEVELS, IMUL(len(a), IADD(part, 1)) >> LEVELS)


def best_rows(out, a, largest, low, high):
    for i in range(low, high):
        if a.ndim == 2:
            out[i] = best_of(a[i], largest)
        else:
            best_rows(out[i], a[i], largest, 0, len(a[i]))


best_of_all.in_parts, best_along.in_parts = best_of_all_in_parts, best_along_in_parts


def check_places(out):
    if out is not None:
        if not np.can_cast(out.dtype, np.int64, "safe"):
            raise TypeError(f"Cannot cast array data from dtype('{out.dtype.name}') to dtype('int64') according to "
                            f"the rule 'safe'")


@intrinsic
def is_unknown(axis):
    """Whether an axis is a number that is known only at run time."""
    return Const(k.Bool, not axis.known and k.is_integer(axis.type))


def find_best(a, axis, out, keepdims, largest):
    if axis is None or a.ndim == 0 and (axis == 0 or axis == -1):
        if a.size == 0:
            raise ValueError(f"attempt to get {'argmax' if largest else 'argmin'} of an empty sequence")
        check_places(out)
        found = best_of_all(a, largest)
        return put_out(np.full((1,) * a.ndim, found) if keepdims and a.ndim else found, out)
    if a.ndim > 1 and is_unknown(axis) and not keepdims:
        return find_best(axis_first(a, axis), 0, out, False, largest)
    place = check_axis(axis, max(a.ndim, 1))
    if a.shape[place] == 0:
        raise ValueError(f"attempt to get {'argmax' if largest else 'argmin'} of an empty sequence")
    check_places(out)
    if a.ndim == 1:
        found = best_of_all(a, largest)
        return put_out(np.full((1,), found) if keepdims else found, out)
    moved = np.moveaxis(a, place, -1)
    result = np.empty(moved.shape[:-1], np.int64)
    best_along(result, moved, largest)
    return put_out(np.expand_dims(result, place) if keepdims else result, out)


def argmax(a, axis=None, out=None, *, keepdims=False):
    return find_best(np.asarray(a), axis, out, keepdims, True)


def argmin(a, axis=None, out=None, *, keepdims=False):
    return find_best(np.asarray(a), axis, out, keepdims, False)


def replaced(a, value):
    """The array with another number in place of nan."""
    if a.dtype.kind in "fc":
        return np.where(np.isnan(a), a.dtype.type(value), a)
    return a


def find_best_nan(x, axis, out, keepdims, largest):
    a = np.asarray(x)
    if a.dtype.kind in "fc":
        if a.size and np.any(np.all(np.isnan(a), axis=axis)):
            raise ValueError("All-NaN slice encountered")
        return find_best(replaced(a, -np.inf if largest else np.inf), axis, out, keepdims, largest)
    return find_best(a, axis, out, keepdims, largest)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    return find_best_nan(a, axis, out, keepdims, True)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    return find_best_nan(a, axis, out, keepdims, False)


# ---------------------------------------------------------------- running sums and products


@intrinsic
def scan_type(a, dtype, out, product):
    """The dtype of the running sums of `a`: the requested one, if any."""
    t, given = a.type.dtype, dtype
    # without a dtype the result has the dtype of `out`
    if given.type is k.NoneType and isinstance(out.type, k.Array) and not k.is_time(t):
        found = fold_loop(np.multiply if product.value else np.add, t, None, out.type.dtype).outputs[0]
        return Const(k.DType(found), dtype_of(found))
    if given.type is not k.NoneType:
        if k.is_time(t) or k.is_time(scalar_of(given)):
            raise NotNative("running sums of dates and durations with dtype= are not compiled",
                            "convert with a.astype(...) first")
        return given
    if t is k.bool_ or isinstance(t, k.NpInt) and t.bits < 64:
        t = k.uint64 if isinstance(t, k.NpInt) and not t.signed else k.int64
    return Const(k.DType(t), dtype_of(t))


def scan_row(out, a, product):
    if len(a) == 0:
        return
    total = as_type(a[0], out.dtype)
    out[0] = total
    for i in range(1, len(a)):
        total = total * as_type(a[i], out.dtype) if product else total + as_type(a[i], out.dtype)
        out[i] = total


def scan_rows(out, a, product):
    if a.ndim == 1:
        scan_row(out, a, product)
    else:
        for i in range(len(a)):
            scan_rows(out[i], a[i], product)


def scan(a, axis, dtype, out, product):
    t = scan_type(a, dtype, out, product)
    if axis is None or a.ndim == 0 and (axis == 0 or axis == -1):
        flat = np.ravel(a)
        result = np.empty(a.size, t)
        scan_row(result, flat, product)
        return put_out(result, out)
    place = check_axis(axis, max(a.ndim, 1))
    result = np.empty_like(a, dtype=t)
    scan_rows(np.moveaxis(result, place, -1), np.moveaxis(a, place, -1), product)
    return put_out(result, out)


def cumsum(a, axis=None, dtype=None, out=None):
    return scan(np.asarray(a), axis, dtype, out, False)


def cumprod(a, axis=None, dtype=None, out=None):
    return scan(np.asarray(a), axis, dtype, out, True)


def cumsum_of_batch(a, axis, dtype, out):
    return scan_of_batch(a, axis, dtype, out, False)


def cumprod_of_batch(a, axis, dtype, out):
    return scan_of_batch(a, axis, dtype, out, True)


def scan_of_batch(a, axis, dtype, out, product):
    if out is not None:
        return None
    if axis is None:
        return scan(a.reshape((len(a), -1)), 1, dtype, None, product)
    return scan(a, axis + 1 if axis >= 0 else axis, dtype, None, product)


batched(cumsum, cumsum_of_batch)
batched(cumprod, cumprod_of_batch)


def nancumsum(a, axis=None, dtype=None, out=None):
    return scan(np.where(np.isnan(a), a.dtype.type(0), a), axis, dtype, out, False)


def nancumprod(a, axis=None, dtype=None, out=None):
    return scan(np.where(np.isnan(a), a.dtype.type(1), a), axis, dtype, out, True)


def cumulative(x, axis, dtype, out, include_initial, product):
    a = np.atleast_1d(np.asarray(x))
    if axis is None:
        if a.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        return cumulative(a, 0, dtype, out, include_initial, product)
    if not include_initial:
        return scan(np.asarray(a), axis, dtype, out, product)
    place = check_axis(axis, a.ndim)
    result = np.empty(lengthened(a.shape, place, 0), scan_type(a, dtype, None, product))
    moved = np.moveaxis(result, place, 0)
    moved[:1] = 1 if product else 0
    np.moveaxis(moved[1:], 0, place)[...] = scan(a, axis, dtype, None, product)
    return put_out(result, out)


def lengthened(shape, axis, k):
    if k == len(shape):
        return ()
    return (shape[k] + 1 if k == axis else shape[k],) + lengthened(shape, axis, k + 1)


def cumulative_sum(x, *, axis=None, dtype=None, out=None, include_initial=False):
    return cumulative(x, axis, dtype, out, include_initial, False)


def cumulative_prod(x, *, axis=None, dtype=None, out=None, include_initial=False):
    return cumulative(x, axis, dtype, out, include_initial, True)


# ---------------------------------------------------------------- methods


def conj(a):
    return np.conjugate(a) if a.dtype.kind == "c" else a


CALLS = {
    np.argmax: compiled(argmax), np.argmin: compiled(argmin), np.cumsum: compiled(cumsum),
    np.cumprod: compiled(cumprod), np.nancumsum: compiled(nancumsum), np.nancumprod: compiled(nancumprod),
    np.nanargmax: compiled(nanargmax), np.nanargmin: compiled(nanargmin),
}
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    CALLS |= {np.cumulative_sum: compiled(cumulative_sum), np.cumulative_prod: compiled(cumulative_prod)}
METHODS = {
    "argmax": CALLS[np.argmax], "argmin": CALLS[np.argmin], "cumsum": CALLS[np.cumsum], "cumprod": CALLS[np.cumprod],
    "conj": compiled(conj), "conjugate": compiled(conj),
}
