"""Sorting: np.sort, argsort, lexsort, partition, argpartition and the ndarray methods.

Every kind is stable: few elements are sorted by insertion, numbers and dates by radix sort (radix.py), complex numbers
by merging neighbouring chunks in the order of a binary counter, from both ends and without branches on the data (the
bidirectional merge of quadsort and driftsort). Partitions use quickselect, also without branches on the data (Lomuto's
scheme). NaNs and NaT are moved to the end first.
"""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import CallValue, Expr, NotNative, Throw
from ....ops.arith import CAST, IADD, IAND, IMUL, ISHL, ISHR, ISUB
from ....ops.math import STOPPED
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE, ROW_COPY
from ....ops.structure import CHOOSE
from ....types.kinds import Array, Int, Tuple, is_integer
from ...build import batched, by_value, no_records, outlined, provoked, unoptimised, unvectorised
from ...rule import ArrayLike, Constant, call, methods, rule
from ...intrinsics import as_type
from .radix import radix_sort, with_bits
from ..shapes.views import is_contiguous

__all__ = ["CALLS", "METHODS", "checked", "flat_copy", "flat_into", "less", "normal_axis", "sort_keys", "select_key",
           "copy_row", "spare_for"]

AxisError = np.exceptions.AxisError
CHUNK = 12
SMALL = 24  # up to this length quickselect takes any pivot

_KINDS = ("quicksort", "stable", "mergesort", "heapsort", "quick", "merge", "heap", "q", "s", "m", "h")


def less(x, y):
    """The order of elements that are not NaN; complex numbers with NaN in a part are last."""
    if x.dtype.kind == "c":
        return less_complex(x, y)
    return x < y


def less_complex(x, y):
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if a < c:
        return b == b or d != d
    if a > c:
        return d != d and b == b
    if a == c or a != a and c != c:
        return b < d or d != d and b == b
    return c != c


def move(places, i, new_places, j):
    if places is not None:
        ARRAY_STORE(new_places, j, ARRAY_LOAD(places, i))


@unvectorised
def merge(source, target, places, new_places, low, middle, high):
    """Merge source[low:middle] and source[middle:high] into target; places are permuted alike."""
    front_l, front_r = low, middle
    if not less(ARRAY_LOAD(source, middle), ARRAY_LOAD(source, ISUB(middle, 1))):
        for i in range(low, high):
            ARRAY_STORE(target, i, ARRAY_LOAD(source, i))
        if places is not None:
            for i in range(low, high):
                ARRAY_STORE(new_places, i, ARRAY_LOAD(places, i))
        return
    half = min(ISUB(middle, low), ISUB(high, middle))
    back_l, back_r = ISUB(middle, 1), ISUB(high, 1)
    for i in range(half):
        x, y = ARRAY_LOAD(source, front_l), ARRAY_LOAD(source, front_r)
        right = bool(less(y, x))
        ARRAY_STORE(target, IADD(low, i), CHOOSE(right, y, x))
        move(places, CHOOSE(right, front_r, front_l), new_places, IADD(low, i))
        front_r = IADD(front_r, CAST(right, type=Int))
        front_l = IADD(front_l, CAST(not right, type=Int))
        x, y = ARRAY_LOAD(source, back_l), ARRAY_LOAD(source, back_r)
        left = bool(less(y, x))
        at = ISUB(ISUB(high, 1), i)
        ARRAY_STORE(target, at, CHOOSE(left, x, y))
        move(places, CHOOSE(left, back_l, back_r), new_places, at)
        back_l = ISUB(back_l, CAST(left, type=Int))
        back_r = ISUB(back_r, CAST(not left, type=Int))
    if front_l <= back_l:  # one element is left over where the lengths differ
        ARRAY_STORE(target, IADD(low, half), ARRAY_LOAD(source, front_l))
        move(places, front_l, new_places, IADD(low, half))
    elif front_r <= back_r:
        ARRAY_STORE(target, IADD(low, half), ARRAY_LOAD(source, front_r))
        move(places, front_r, new_places, IADD(low, half))


@unvectorised
def insertion(a, places, low, high):
    """Sort a[low:high]."""
    for i in range(IADD(low, 1), high):
        x = ARRAY_LOAD(a, i)
        p = None if places is None else ARRAY_LOAD(places, i)
        j = i
        while j > low and less(x, ARRAY_LOAD(a, ISUB(j, 1))):
            ARRAY_STORE(a, j, ARRAY_LOAD(a, ISUB(j, 1)))
            move(places, ISUB(j, 1), places, j)
            j = ISUB(j, 1)
        ARRAY_STORE(a, j, x)
        if places is not None:
            ARRAY_STORE(places, j, p)


def bound(i, n, depth):
    """Start of chunk i of 2**depth chunks, whose lengths differ by at most one."""
    rest = IAND(n, ISUB(ISHL(1, depth), 1))
    return IADD(IMUL(i, ISHR(n, depth)), ISHR(IMUL(i, rest), depth))


def nans_last(a, places, spare_places, n):
    """Move NaNs to the end without changing the order of other elements; returns the number of others."""
    kept = 0
    gone = 0
    i = 0
    while i < n:
        x = ARRAY_LOAD(a, i)
        if x == x:
            ARRAY_STORE(a, kept, x)
            move(places, i, places, kept)
            kept = IADD(kept, 1)
        else:
            move(places, i, spare_places, gone)
            gone = IADD(gone, 1)
        i = IADD(i, 1)
    nan = as_type(None, a.dtype)
    while gone > 0:
        n = ISUB(n, 1)
        gone = ISUB(gone, 1)
        ARRAY_STORE(a, n, nan)
        move(spare_places, gone, places, n)
    return kept


@unvectorised
def sort_keys(a, spare, places, spare_places, n):
    """Sort the first n elements of the contiguous array a; places, if any, are permuted alike."""
    if n < 2:
        return
    if a.dtype.kind in "biufmM":
        radix_sort(with_bits(a), with_bits(spare), places, spare_places, n, "m" if a.dtype.kind == "M"
                   else a.dtype.kind)
        return
    depth = 0  # an even number, so that the last merges store in a
    while ISHR(n, depth) > CHUNK:
        depth = IADD(depth, 2)
    end = 0
    high = 0
    while high < n:
        end = IADD(end, 1)
        low = high
        high = bound(end, n, depth)
        insertion(a, places, low, high)
        level = 0
        while level < depth and not IAND(end, ISUB(ISHL(2, level), 1)):
            low = bound(ISUB(end, ISHL(2, level)), n, depth)
            middle = bound(ISUB(end, ISHL(1, level)), n, depth)
            if IAND(level, 1):
                merge(spare, a, spare_places, places, low, middle, high)
            else:
                merge(a, spare, places, spare_places, low, middle, high)
            level = IADD(level, 1)


def middle_of(x, y, z):
    if less(y, x):
        x, y = y, x
    return y if less(y, z) else x if less(z, x) else z


def triple(a, i, step):
    return middle_of(ARRAY_LOAD(a, i), ARRAY_LOAD(a, IADD(i, step)), ARRAY_LOAD(a, IADD(i, IMUL(step, 2))))


@unvectorised
def select_key(a, places, k, n):
    """Move the k-th smallest of the first n elements of the contiguous array a, which has no NaNs, to position k;
    places, if any, are permuted alike."""
    low, high = 0, n
    random = 1
    pivot = ARRAY_LOAD(a, k)
    equal = False  # whether no element was below the pivot: then elements equal to it are moved to the front
    while ISUB(high, low) > 1:
        if ISUB(high, low) <= SMALL:
            pivot = pivot if equal else ARRAY_LOAD(a, k)
        elif not equal:
            # the median of medians of three, at positions that no regular pattern in the data matches
            step = ISUB(high, low) // 9
            random = IADD(IMUL(random, 6364136223846793005), 1442695040888963407)
            at = IADD(low, ISHR(IAND(random, 9223372036854775807), 32) % step)
            pivot = middle_of(triple(a, at, step), triple(a, IADD(at, IMUL(step, 3)), step),
                              triple(a, IADD(at, IMUL(step, 6)), step))
        split = low
        for i in range(low, high):
            x = ARRAY_LOAD(a, i)
            ARRAY_STORE(a, i, ARRAY_LOAD(a, split))
            ARRAY_STORE(a, split, x)
            if places is not None:
                p = ARRAY_LOAD(places, i)
                ARRAY_STORE(places, i, ARRAY_LOAD(places, split))
                ARRAY_STORE(places, split, p)
            split = IADD(split, CAST(CHOOSE(equal, not less(pivot, x), bool(less(x, pivot))), type=Int))
        if k < split:
            if equal:
                return
            high = split
        else:
            equal = split == low
            low = split


# -- rows

def normal_axis(axis, ndim):
    if axis < -ndim or axis >= ndim:
        raise AxisError(axis, ndim, None)
    return axis + ndim if axis < 0 else axis


def flat_into(out, a, at):
    """Store the elements of a, in C order, in out[at:]; returns the next position."""
    if a.ndim == 0:
        ARRAY_STORE(out, at, a[()])
        return IADD(at, 1)
    if a.ndim == 1:
        for i in range(len(a)):
            ARRAY_STORE(out, IADD(at, i), ARRAY_LOAD(a, i))
        return IADD(at, len(a))
    for i in range(len(a)):
        at = flat_into(out, a[i], at)
    return at


def flat_copy(a):
    out = np.empty(a.size, a.dtype)
    if a.ndim == 1:
        copy_row(out, a)
    else:
        flat_into(out, a, 0)
    return out


def copy_row(target, source):
    if target.dtype == source.dtype and is_contiguous(target) and is_contiguous(source):
        ROW_COPY(target, source, len(source))
    else:
        copy_any_row(target, source)


@unoptimised
def copy_any_row(target, source):
    n = len(source)
    if target.dtype != source.dtype:
        target[...] = source
    elif target.strides[0] == target.itemsize and source.strides[0] == source.itemsize:
        ROW_COPY(target, source, n)
    else:
        for i in range(n):
            ARRAY_STORE(target, i, ARRAY_LOAD(source, i))


def count_up(places):
    for i in range(len(places)):
        ARRAY_STORE(places, i, np.int64(i))


def sort_along(out, a, axis, row, spare, places, spare_places, k):
    """Sort (k is None) or partition the rows of a into out, or the positions of their elements where there are
    places."""
    if a.ndim == 1:
        if places is None or a.dtype.kind != "f":
            copy_row(row, a)
        else:
            for n in range(len(a)):
                row[n] = STOPPED(a[n])  # positions do not vary with the elements
        if places is not None:
            count_up(places)
        if k is None:
            sort_keys(row, spare, places, spare_places, len(row))
        else:
            n = nans_last(row, places, spare_places, len(row)) if row.dtype.kind in "fmM" else len(row)
            if k < n:
                select_key(row, places, k, n)
        copy_row(out, row if places is None else places)
    elif axis == 0:
        for j in range(a.shape[-1]):
            sort_along(out[..., j], a[..., j], 0, row, spare, places, spare_places, k)
    else:
        for i in range(len(a)):
            sort_along(out[i], a[i], axis - 1, row, spare, places, spare_places, k)


BOTH_KINDS = provoked(lambda: np.sort(np.zeros(1), kind="stable", stable=True))  # its message differs between versions


def check_kind(kind, order, stable):
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None and stable is not None:
        raise ValueError(BOTH_KINDS)
    if kind is not None and kind not in _KINDS:
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')")


def sort_rows(out, a, axis, k):
    n = a.shape[axis]
    sort_along(out, a, axis, np.empty(n, a.dtype), np.empty(n if k is None else 0, a.dtype), None, None, k)


def sort(a: ArrayLike, axis: Constant = -1, kind: Constant = None, order: Constant = None, *, stable: Constant = None):
    if axis is None:
        return sort(flat_copy(a), -1, kind, order, stable=stable)
    check_kind(kind, order, stable)
    axis = normal_axis(axis, a.ndim)
    if axis == a.ndim - 1:
        return sorted_last(a)
    out = np.empty_like(a)
    np.moveaxis(out, axis, -1)[...] = sorted_last(np.moveaxis(a, axis, -1))
    return out


def spare_for(a):
    """The second array for `sort_keys`; few elements need none."""
    return a if len(a) <= CHUNK else np.empty(len(a), a.dtype)


@outlined
def sorted_last(a):
    """A copy that is sorted along the last axis."""
    if a.ndim == 1:
        out = flat_copy(a)
        sort_keys(out, spare_for(out), None, None, len(out))
        return out
    out = np.empty_like(a)
    sort_rows(out, a, a.ndim - 1, None)
    return out


batched(sorted_last, sorted_last)


def sort_in_place(a, axis: Constant = -1, kind: Constant = None, order: Constant = None, *, stable: Constant = None):
    check_kind(kind, order, stable)
    sort_rows(a, a, normal_axis(axis, a.ndim), None)


def argsort(a: ArrayLike, axis: Constant = -1, kind: Constant = None, order: Constant = None, *,
            stable: Constant = None):
    if axis is None:
        return argsort(flat_copy(a), -1, kind, order, stable=stable)
    check_kind(kind, order, stable)
    if a.ndim == 0 and (axis == 0 or axis == -1):
        return np.zeros(1, np.int64)
    n = a.shape[normal_axis(axis, a.ndim)]
    out = np.empty(a.shape, np.int64)
    if a.ndim == 1:
        count_up(out)
        row = flat_copy(a)
        sort_keys(row, spare_for(row), out, spare_for(out), n)
    else:
        sort_along(out, a, normal_axis(axis, a.ndim), np.empty(n, a.dtype), np.empty(n, a.dtype),
                   np.empty(n, np.int64), np.empty(n, np.int64), None)
    return out


def lexsort_key(a, out, spare_places):
    n = len(a)
    if n != len(out):
        raise ValueError("all keys need to be the same shape")
    row = np.empty(n, a.dtype)
    for i in range(n):
        ARRAY_STORE(row, i, a[int(ARRAY_LOAD(out, i))])
    sort_keys(row, np.empty(n, a.dtype), out, spare_places, n)


def lexsort_keys(keys, k, out, spare_places):
    if k < len(keys):
        lexsort_key(keys[k], out, spare_places)
        lexsort_keys(keys, k + 1, out, spare_places)


def lexsort(keys, axis=-1):
    if len(keys) == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    n = len(keys[0])
    out = np.empty(n, np.int64)
    count_up(out)
    if isinstance(keys, tuple):
        lexsort_keys(keys, 0, out, np.empty(n, np.int64))
    else:
        for i in range(len(keys)):
            lexsort_key(keys[i], out, np.empty(n, np.int64))
    return out


def kth_of(kth, n):
    if kth < -n or kth >= n:
        raise ValueError(f"kth(={kth}) out of bounds ({n})")
    return kth + n if kth < 0 else kth


def check_partition(kth, kind, order):
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got '{kind}')")


def check_kths(kth, k, n):
    if not isinstance(kth, tuple):
        if kth.ndim > 1:
            raise ValueError("object too deep for desired array")
        for one in kth.flat:
            kth_of(one, n)
    elif k < len(kth):
        kth_of(kth[k], n)
        check_kths(kth, k + 1, n)


def partition_rows(out, a, kth, axis):
    if not isinstance(kth, (int, np.integer)):  # a sorted array is partitioned at all positions
        check_kths(kth, 0, a.shape[axis])
        sort_rows(out, a, axis, None)
    else:
        sort_rows(out, a, axis, kth_of(kth, a.shape[axis]))


def partition(a: ArrayLike, kth, axis: Constant = -1, kind: Constant = "introselect", order: Constant = None):
    if axis is None:
        return partition(flat_copy(a), kth, -1, kind, order)
    check_partition(kth, kind, order)
    out = np.empty_like(a)
    if a.size == 0:
        return out
    partition_rows(out, a, kth, normal_axis(axis, a.ndim))
    return out


def partition_in_place(a, kth, axis: Constant = -1, kind: Constant = "introselect", order: Constant = None):
    check_partition(kth, kind, order)
    if a.size == 0:
        return None
    partition_rows(a, a, kth, normal_axis(axis, a.ndim))


def argpartition(a: ArrayLike, kth, axis: Constant = -1, kind: Constant = "introselect", order: Constant = None):
    if axis is None:
        return argpartition(flat_copy(a), kth, -1, kind, order)
    check_partition(kth, kind, order)
    if a.size == 0:
        return np.empty(a.shape, np.int64)
    if a.ndim == 0:
        raise ValueError(f"kth(={kth}) out of bounds (1)")
    n = a.shape[normal_axis(axis, a.ndim)]
    if not isinstance(kth, (int, np.integer)):
        check_kths(kth, 0, n)
        return argsort(a, axis)
    out = np.empty(a.shape, np.int64)
    sort_along(out, a, normal_axis(axis, a.ndim), np.empty(n, a.dtype), None, np.empty(n, np.int64),
               np.empty(n, np.int64), kth_of(kth, n))
    return out


# -- rules

def checked(function, writes=False):
    """The rule of a library function whose annotations say which parameters are arrays and which are constants."""
    name = function.__name__.removesuffix("_in_place")
    names = function.__code__.co_varnames

    @rule(f"np.{'ndarray.' if writes else ''}{name}", function)
    def found(a, *more):
        for where, x in zip(names, (a, *more)):
            if isinstance(x, Expr) and isinstance(x.type, Array):
                no_records(f"np.{name}", x.type)
            if where == "kth" and not (
                    is_integer(x.type) or isinstance(x.type, Tuple) and all(map(is_integer, x.type.elements))
                    or isinstance(x.type, Array) and is_integer(x.type.dtype)):
                raise NotNative(f"kth= of np.{name} must be an integer, or a tuple or an array of integers, here")
            if where == "axis" and not isinstance(x, int) and x is not None:
                raise NotNative(f"axis= of np.{name} must be an integer or None")
        if writes and not a.type.writable:
            return Throw(ValueError, f"{name} array is read-only")
        return call(function, a, *more)

    return found


@rule("np.lexsort")
def _lexsort(keys, axis: Constant = -1):
    elements = keys.type.elements if isinstance(keys.type, Tuple) else [keys.type]
    wanted = 1 if isinstance(keys.type, Tuple) else 2
    if any(not isinstance(t, Array) or t.ndim != wanted for t in elements):
        raise NotNative("np.lexsort takes a tuple of 1-d arrays or a 2-d array here")
    no_records("np.lexsort", *elements)
    if axis not in (-1, 0):
        raise NotNative("axis= of np.lexsort must be -1 here")
    return CallValue(constant(lexsort), keys)


by_value("np.sorting.rules", sorted_last)

CALLS = {
    np.sort: checked(sort), np.argsort: checked(argsort), np.lexsort: _lexsort, np.partition: checked(partition),
    np.argpartition: checked(argpartition),
}
METHODS = methods(
    sort=checked(sort_in_place, writes=True), argsort=CALLS[np.argsort],
    partition=checked(partition_in_place, writes=True), argpartition=CALLS[np.argpartition],
)
