"""Sets of numbers: unique, intersect1d, union1d, setdiff1d, setxor1d, isin, in1d; all by sorting."""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import CallValue, Const, NotNative, Throw
from ....ops.arith import IADD, ISUB
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....types.kinds import Bool, DType, Int
from ....types.lattice import dtype_of, kind_of
from ...build import by_value, no_records, outlined, promoted
from ...rule import ArrayLike, Constant, rule
from ...intrinsics import as_type, strided
from ..indexing.masks import count_true
from ..reductions.reductions import AxisError
from .sorting import count_up, flat_copy, sort_keys, spare_for

__all__ = ["CALLS"]


# -- unique

@outlined
def new_ones(a, mask, equal_nan):
    """Set mask[i] to whether the sorted a[i] differs from the element before; returns how many do."""
    n = 0
    for i in range(len(a)):
        fresh = True
        if i > 0:
            x, y = ARRAY_LOAD(a, ISUB(i, 1)), ARRAY_LOAD(a, i)
            fresh = bool(x != y)
            if a.dtype.kind in "fcmM" and equal_nan:
                fresh = fresh and not (x != x and y != y)
        ARRAY_STORE(mask, i, np.bool_(fresh))
        if fresh:
            n = IADD(n, 1)
    return n


def kept(a, mask, n):
    out = np.empty(n, a.dtype)
    at = 0
    for i in range(len(a)):
        if ARRAY_LOAD(mask, i):
            ARRAY_STORE(out, at, ARRAY_LOAD(a, i))
            at = IADD(at, 1)
    return out


@outlined
def sorted_copy(a):
    """All elements in order."""
    b = flat_copy(a)
    sort_keys(b, spare_for(b), None, None, len(b))
    return b


@outlined
def sorted_places(a):
    """(all elements in order, the place of each in `a`)"""
    b = flat_copy(a)
    places = np.empty(len(b), np.int64)
    count_up(places)
    sort_keys(b, spare_for(b), places, spare_for(places), len(b))
    return b, places


by_value("np.sorting.rules", sorted_copy, sorted_places)


def distinct(a, equal_nan):
    b = sorted_copy(a)
    mask = np.empty(len(b), np.bool_)
    n = new_ones(b, mask, equal_nan)
    return kept(b, mask, n)


def put_inverse(out, flat, at):
    if out.ndim == 1:
        for i in range(len(out)):
            out[i] = ARRAY_LOAD(flat, IADD(at, i))
        return IADD(at, len(out))
    for i in range(len(out)):
        at = put_inverse(out[i], flat, at)
    return at


def inverse_of(a, mask, places):
    flat = np.empty(len(mask), np.int64)
    rank = -1
    for i in range(len(mask)):
        if ARRAY_LOAD(mask, i):
            rank = IADD(rank, 1)
        ARRAY_STORE(flat, int(ARRAY_LOAD(places, i)), np.int64(rank))
    if a.ndim == 1:
        return flat
    out = np.empty(a.shape, np.int64)
    if a.ndim == 0:
        out[()] = flat[0]
    else:
        put_inverse(out, flat, 0)
    return out


def counts_of(mask, n):
    out = np.empty(n, np.int64)
    at = -1
    for i in range(len(mask)):
        if ARRAY_LOAD(mask, i):
            at = IADD(at, 1)
            ARRAY_STORE(out, at, np.int64(0))
        ARRAY_STORE(out, at, IADD(ARRAY_LOAD(out, at), np.int64(1)))
    return out


def unique(ar, return_index, return_inverse, return_counts, equal_nan):
    if not return_index and not return_inverse and not return_counts:
        return distinct(ar, equal_nan)
    if return_index or return_inverse:
        b, places = sorted_places(ar)
        mask = np.empty(len(b), np.bool_)
        n = new_ones(b, mask, equal_nan)
        found = (kept(b, mask, n),) + ((kept(places, mask, n),) if return_index else ())
        found = found + ((inverse_of(ar, mask, places),) if return_inverse else ())
        return found + ((counts_of(mask, n),) if return_counts else ())
    b = sorted_copy(ar)
    mask = np.empty(len(b), np.bool_)
    n = new_ones(b, mask, equal_nan)
    return kept(b, mask, n), counts_of(mask, n)


# -- two sets

def cast_into(out, a, at):
    """Store the elements of the 1-d array a, converted, in out[at:]."""
    for i in range(len(a)):
        ARRAY_STORE(out, IADD(at, i), as_type(ARRAY_LOAD(a, i), out.dtype))


def joined(a, b, t):
    out = np.empty(a.size + b.size, t)
    cast_into(out, a, 0)
    cast_into(out, b, a.size)
    return out


def flat(a):
    return a if a.ndim == 1 else flat_copy(a)


def union1d(a, b, t):
    return distinct(joined(flat(a), flat(b), t), True)


def as_set(a, assume_unique):
    return flat_copy(a) if assume_unique else distinct(a, True)


def setxor1d(a, b, assume_unique, t):
    both = sorted_copy(joined(as_set(a, assume_unique), as_set(b, assume_unique), t))
    n = len(both)
    mask = np.empty(n, np.bool_)
    total = 0
    for i in range(n):
        alone = (i == 0 or bool(both[i - 1] != both[i])) and (i == n - 1 or bool(both[i] != both[i + 1]))
        ARRAY_STORE(mask, i, np.bool_(alone))
        if alone:
            total = IADD(total, 1)
    return kept(both, mask, total)


def intersect1d(a, b, assume_unique, return_indices, t):
    if return_indices:
        return intersect_places(flat(a), flat(b), assume_unique, t)
    both = sorted_copy(joined(as_set(a, assume_unique), as_set(b, assume_unique), t))
    mask = np.empty(len(both), np.bool_)
    return kept(both, mask, twice(both, mask))


def twice(both, mask):
    """Set mask[i] to whether the sorted both[i] equals the next element; returns how many do."""
    total = 0
    for i in range(len(both)):
        same = i + 1 < len(both) and bool(both[i] == both[i + 1])
        ARRAY_STORE(mask, i, np.bool_(same))
        if same:
            total = IADD(total, 1)
    return total


def intersect_places(a, b, assume_unique, t):
    if assume_unique:
        return common(a, b, None, None, t)
    first = unique(a, True, False, False, True)
    second = unique(b, True, False, False, True)
    return common(first[0], second[0], first[1], second[1], t)


def common(a, b, a_places, b_places, t):
    both, places = sorted_places(joined(a, b, t))
    n = len(both)
    mask = np.empty(n, np.bool_)
    total = twice(both, mask)
    first, second = np.empty(total, np.int64), np.empty(total, np.int64)
    at = 0
    for i in range(n):
        if mask[i]:
            p, q = places[i], places[i + 1] - len(a)
            first[at] = p if a_places is None else a_places[p]
            second[at] = q if b_places is None else b_places[q]
            at += 1
    return kept(both, mask, total), first, second


# -- membership

@outlined
def contains(test, x):
    """Whether the sorted array `test` contains x."""
    low = 0
    n = len(test)
    while n > 0:
        half = n >> 1
        y = ARRAY_LOAD(test, IADD(low, half))
        if y < x:
            low = IADD(IADD(low, half), 1)
            n = ISUB(ISUB(n, half), 1)
        else:
            n = half
    return low < len(test) and bool(ARRAY_LOAD(test, low) == x)


def mark(out, a, test, few, invert, t):
    if a.ndim == 0:
        out[()] = has(test, as_type(a[()], t), few) != invert
    elif a.ndim == 1:
        for i in range(len(a)):
            ARRAY_STORE(out, i, np.bool_(has(test, as_type(a[i], t), few) != invert))
    else:
        for i in range(len(a)):
            mark(out[i], a[i], test, few, invert, t)


def has(test, x, few):
    if test.dtype.kind == "c" or few:
        found = False
        for i in range(len(test)):
            found = bool(found | (ARRAY_LOAD(test, i) == x))
        return found
    return contains(test, x)


def isin(element, test_elements, invert, t):
    out = np.empty(element.shape, np.bool_)
    mark_all(out, element, test_elements, invert, t)
    return out


def mark_all(out, element, test_elements, invert, t):
    test = np.empty(test_elements.size, t)
    flat_test = flat(test_elements)
    cast_into(test, flat_test, 0)
    few = len(test) <= 8
    if not few and test.dtype.kind in "iu" and test.dtype != np.uint64 and mark_in_table(out, element, test, invert):
        return
    if not few and test.dtype.kind != "c":
        sort_keys(test, np.empty(len(test), t), None, None, len(test))
        n = len(test)
        while n > 0 and bool(test[n - 1] != test[n - 1]):  # NaNs are equal to nothing
            n -= 1
        mark(out, element, test[:n], False, invert, t)
    else:
        mark(out, element, test, True, invert, t)


def mark_in_table(out, element, test, invert):
    """Find the elements of `element` in a lookup table over the range of `test`, as NumPy does where that range is
    small. Returns whether it was small enough."""
    low, high = int(ARRAY_LOAD(test, 0)), int(ARRAY_LOAD(test, 0))
    for i in range(len(test)):
        x = int(ARRAY_LOAD(test, i))
        low, high = min(low, x), max(high, x)
    if float(high) - float(low) > 6.0 * (len(test) + element.size):
        return False
    table = np.zeros(high - low + 1, np.bool_)
    for i in range(len(test)):
        ARRAY_STORE(table, ISUB(int(ARRAY_LOAD(test, i)), low), np.bool_(True))
    look_up(out, element, table, low, high, invert)
    return True


def look_up(out, a, table, low, high, invert):
    if a.ndim == 0:
        out[()] = in_table(table, int(a[()]), low, high) != invert
    elif a.ndim == 1:
        for i in range(len(a)):
            ARRAY_STORE(out, i, np.bool_(in_table(table, int(a[i]), low, high) != invert))
    else:
        for i in range(len(a)):
            look_up(out[i], a[i], table, low, high, invert)


def in_table(table, x, low, high):
    return low <= x and x <= high and bool(ARRAY_LOAD(table, ISUB(x, low)))


def setdiff1d(a, b, assume_unique, t):
    source = as_set(a, assume_unique)
    mask = np.empty(len(source), np.bool_)
    mark_all(mask, source, b, True, t)
    return kept(source, mask, count_true(mask))


# -- along an axis

def unique_rows(a, index, inverse, counts, axis):
    """np.unique along an axis: the parts sorted lexicographically; nan differs from nan."""
    if not -a.ndim <= axis < a.ndim:
        raise AxisError(axis, a.ndim)
    place = axis % a.ndim
    moved = np.moveaxis(a, place, 0)
    n = len(moved)
    rows = strided(np.reshape(moved, (n, a.size // max(n, 1))))
    order, first = np.arange(n), np.empty(n, np.bool_)
    count = sort_rows(rows, order, first)
    found = np.empty((count,) + moved.shape[1:], a.dtype)
    places, numbers, sizes = np.empty(count, np.int64), np.empty(n, np.int64), np.zeros(count, np.int64)
    at = -1
    for i in range(n):
        if first[i]:
            at += 1
            found[at] = moved[order[i]]
            places[at] = order[i]
        numbers[order[i]] = at
        sizes[at] += 1
    values = np.moveaxis(found, 0, place)
    more = ((places,) if index else ()) + ((numbers,) if inverse else ()) + ((sizes,) if counts else ())
    return (values,) + more if len(more) else values


@outlined
def sort_rows(rows, order, first):
    """Sort rows by a stable sort of each column from the last: `order` gets the order, `first` whether a row differs
    from the one before. Returns the number of different rows."""
    for j in range(rows.shape[1] - 1, -1, -1):
        order[:] = order[np.argsort(rows[order, j], kind="stable")]
    count = 0
    for i in range(len(order)):
        first[i] = i == 0
        for j in range(rows.shape[1] if i else 0):
            if rows[order[i], j] != rows[order[i - 1], j]:
                first[i] = True
        count += 1 if first[i] else 0
    return count


# -- rules

def _common(name, a, b):
    """The common type of the elements of two sets. Dates are equal to no duration, but have a common type with them."""
    no_records(f"np.{name}", a.type, b.type)
    if {kind_of(x.type.dtype) for x in (a, b)} == {"m", "M"}:
        raise NotNative(f"np.{name} of dates and durations is not compiled")
    return promoted(a.type.dtype, b.type.dtype)


@rule("np.unique")
def _unique(ar: ArrayLike, return_index: Constant = False, return_inverse: Constant = False,
            return_counts: Constant = False, axis: Constant = None, *, equal_nan: Constant = True,
            sorted: Constant = True):
    no_records("np.unique", ar.type)
    flags = [Const(Bool, bool(x)) for x in (return_index, return_inverse, return_counts)]
    if axis is not None:
        return CallValue(constant(unique_rows), ar, *flags, Const(Int, axis))
    return CallValue(constant(unique), ar, *flags, Const(Bool, bool(equal_nan)))


def _two(function, signature="ar1: ArrayLike, ar2: ArrayLike"):
    @rule(f"np.{function.__name__}", signature)
    def found(ar1, ar2, *flags):
        t = _common(function.__name__, ar1, ar2)
        return CallValue(constant(function), ar1, ar2, *[Const(Bool, bool(x)) for x in flags],
                         Const(DType(t), dtype_of(t)))

    return found


@rule("np.isin")
def _isin(element: ArrayLike, test_elements: ArrayLike, assume_unique=False, invert: Constant = False, *,
          kind: Constant = None):
    if kind not in (None, "sort", "table"):
        return Throw(ValueError, f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    a, b = element, test_elements
    if kind == "table" and not all(kind_of(x.type.dtype) in "biu" for x in (a, b)):
        return Throw(ValueError, "The 'table' method is only supported for boolean or integer arrays. Please "
                                 "select 'sort' or None for kind.")
    t = _common("isin", a, b)
    return CallValue(constant(isin), a, b, Const(Bool, bool(invert)), Const(DType(t), dtype_of(t)))


_UNIQUE = "ar1: ArrayLike, ar2: ArrayLike, assume_unique: Constant = False"
CALLS = {
    np.unique: _unique, np.union1d: _two(union1d), np.setxor1d: _two(setxor1d, _UNIQUE),
    np.setdiff1d: _two(setdiff1d, _UNIQUE),
    np.intersect1d: _two(intersect1d, f"{_UNIQUE}, return_indices: Constant = False"), np.isin: _isin,
}
