"""Searching and counting: searchsorted, digitize, nonzero and its like, extract, bincount, histogram."""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import CallValue, Const, Mismatch, NotNative, Throw
from ....ops.arith import CAST, IADD, ISUB
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....ops.structure import CHOOSE
from ....types.kinds import Array, Bool, DType, Int, NpInt, Str, is_integer, is_scalar
from ....types.lattice import dtype_of, kind_of, numpy_counterpart
from ...build import a_type, outlined, promoted, type_name
from ...rule import ArrayLike, Constant, NONE, NumberOrArray, methods, rule
from ...intrinsics import as_type
from ..indexing.masks import count_true, find_true, positions, truths
from .sorting import checked, flat_copy, less

__all__ = ["CALLS", "METHODS"]

FEW = 8  # the most elements among which a single number is searched one after the other


def goes_after(x, y, right):
    """Whether x belongs after the element y. x is not nan, and elements that are nan are last."""
    if x.dtype.kind == "c":
        return bool(not less(x, y)) if right else bool(less(y, x))
    return bool(y <= x) if right else bool(y < x)


def element(a, sorter, i, t):
    return as_type(ARRAY_LOAD(a, i) if sorter is None else a[int(sorter[i])], t)


@outlined
def place(a, x, right, sorter):
    """The position of x in the sorted array a; the number of steps does not depend on the elements."""
    low = 0
    n = len(a)
    if x.dtype.kind in "fmM" and x != x:
        if right:
            return np.int64(n)
        while n > 0:
            half = n >> 1
            y = element(a, sorter, IADD(low, half), x.dtype)
            if y == y:
                low = IADD(IADD(low, half), 1)
                n = ISUB(ISUB(n, half), 1)
            else:
                n = half
        return np.int64(low)
    while n > 1:
        half = n >> 1
        at = IADD(low, half)
        low = CHOOSE(goes_after(x, element(a, sorter, ISUB(at, 1), x.dtype), right), at, low)
        n = ISUB(n, half)
    if n == 1 and goes_after(x, element(a, sorter, low, x.dtype), right):
        low = IADD(low, 1)
    return np.int64(low)


@outlined
def place_of_one(a, x, right, sorter):
    """The position of a single number. In few elements the first that x does not belong after is looked for: where the
    branches are predicted, what depends on the position need not wait for it."""
    if sorter is None and len(a) <= FEW and x == x:
        low = 0
        while low < len(a) and goes_after(x, element(a, sorter, low, x.dtype), right):
            low = IADD(low, 1)
        return np.int64(low)
    return place(a, x, right, sorter)


def places(out, a, v, right, sorter, t):
    if v.ndim == 0:
        out[()] = place(a, as_type(v[()], t), right, sorter)
    elif v.ndim == 1:
        for i in range(len(v)):
            out[i] = place(a, as_type(ARRAY_LOAD(v, i), t), right, sorter)
    else:
        for i in range(len(v)):
            places(out[i], a, v[i], right, sorter, t)


def search(a, v, side, sorter, t):
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    if a.ndim != 1:
        raise ValueError("object too deep for desired array" if a.ndim > 1
                         else "object of too small depth for desired array")
    if sorter is not None and len(sorter) != len(a):
        raise ValueError("sorter.size must equal a.size")
    if not isinstance(v, np.ndarray):
        return place_of_one(a, as_type(v, t), side == "right", sorter)
    if v.ndim == 0:
        return place_of_one(a, as_type(v[()], t), side == "right", sorter)
    out = np.empty(v.shape, np.int64)
    places(out, a, v, side == "right", sorter, t)
    return out


def digit(x, bins, right, t):
    if bins.ndim != 1:
        raise ValueError("object too deep for desired array" if bins.ndim > 1
                         else "object of too small depth for desired array")
    up = True
    down = True
    for i in range(1, len(bins)):
        up = up and bins[i - 1] <= bins[i]
        down = down and bins[i - 1] >= bins[i]
    if not up and not down:
        raise ValueError("bins must be monotonically increasing or decreasing")
    if right:
        return digits(x, bins, up, "left", t)
    return digits(x, bins, up, "right", t)


def digits(x, bins, up, side, t):
    found = search(bins if up else bins[::-1], x, side, None, t)
    return found if up else len(bins) - found


# -- elements that are not zero

def nonzero(a: ArrayLike):
    if a.ndim == 0 and a.dtype == np.bool_:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. "
                         "If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.")
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return positions(a)


def flatnonzero(a: NumberOrArray):
    if not isinstance(a, np.ndarray):
        return np.arange(1 if a else 0)
    return positions(np.ravel(a))[0]


def columns_of(out, k, ndim):
    if k == ndim:
        return ()
    return (out[:, k],) + columns_of(out, k + 1, ndim)


def argwhere(a: NumberOrArray):
    if not isinstance(a, np.ndarray):
        return np.empty((1 if a else 0, 0), np.int64)
    if a.ndim == 0:
        return np.empty((1 if a[()] else 0, 0), np.int64)
    mask = truths(a)
    n = count_true(mask)
    if a.ndim == 1:
        out = np.empty((IADD(n, 1), 1), np.int64)
        find_true(columns_of(out, 0, a.ndim), mask, (), 0)
        return out[:n]
    rows = np.empty((a.ndim, IADD(n, 1)), np.int64)
    find_true(columns_of(np.transpose(rows), 0, a.ndim), mask, (), 0)
    return np.asfortranarray(np.transpose(rows)[:n])  # in NumPy's memory order


def extract(condition: ArrayLike, arr: ArrayLike):
    where = flatnonzero(condition)
    if arr.ndim == 1:
        return picked(where, arr)
    return picked(where, flat_copy(arr))


def picked(where, a):
    out = np.empty(len(where), a.dtype)
    for i in range(len(where)):
        out[i] = a[where[i]]
    return out


# -- counting

def largest(x):
    """One more than the largest element of x; raises for a negative element."""
    top = -1
    low = 0
    for i in range(len(x)):
        v = CAST(x[i], type=Int)
        top = v if v > top else top
        low = v if v < low else low
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    return IADD(top, 1)


def bincount(x, weights=None, minlength=0):
    if x.ndim != 1:
        raise ValueError("object too deep for desired array" if x.ndim > 1
                         else "object of too small depth for desired array")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is None:
        n = max(largest(x), minlength)
        counts = np.zeros(n, np.int64)
        for i in range(len(x)):
            v = CAST(x[i], type=Int)
            ARRAY_STORE(counts, v, IADD(ARRAY_LOAD(counts, v), np.int64(1)))
        return counts
    n = max(largest(x), minlength)
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n, np.float64)
    for i in range(len(x)):
        v = CAST(x[i], type=Int)
        ARRAY_STORE(sums, v, ARRAY_LOAD(sums, v) + as_type(weights[i], sums.dtype))
    return sums


def _common(name, x, y):
    """The dtype in which two operands are compared after conversion to arrays."""
    parts = []
    for z in (x, y):
        if not isinstance(z.type, Array) and not is_scalar(z.type):
            raise NotNative(f"np.{name} of {a_type(z.type)} is not compiled", "make an array of it")
        parts.append(z.type.dtype if isinstance(z.type, Array) else numpy_counterpart(z.type))
    t = promoted(*parts)
    for one in parts:
        if kind_of(one) == "m" and kind_of(t) == "M":
            raise Mismatch(f"Cannot cast array data from {dtype_of(one)!r} to {dtype_of(t)!r} according to the rule "
                           "'safe'")
    return Const(DType(t), dtype_of(t))


@rule("np.searchsorted")
def _searchsorted(a: ArrayLike, v: NumberOrArray, side: Constant = "left", sorter: ArrayLike = None):
    if sorter and not (isinstance(sorter.type.dtype, NpInt) and sorter.type.ndim == 1):
        return Throw(TypeError, "sorter must only contain integers")
    return CallValue(constant(search), a, v, Const(Str, side), sorter or NONE, _common("searchsorted", a, v))


@rule("np.digitize")
def _digitize(x: NumberOrArray, bins: ArrayLike, right: Constant = False):
    t = _common("digitize", bins, x)
    if (isinstance(x.type, Array) and kind_of(x.type.dtype) == "c" or not isinstance(x.type, Array)
        and kind_of(x.type) == "c"):
        return Throw(TypeError, "x may not be complex")
    if kind_of(bins.type.dtype) == "c":
        return Throw(TypeError,
                     "Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'")
    return CallValue(constant(digit), x, bins, Const(Bool, bool(right)), t)


@rule("np.bincount")
def _bincount(x: ArrayLike, /, weights: ArrayLike = None, minlength=0):
    if not is_integer(minlength.type):
        return Throw(TypeError, f"'{type_name(minlength.type)}' object cannot be interpreted as an integer")
    for z, t in ((x, np.dtype(np.int64)), (weights, np.dtype(np.float64))):
        if z is None:
            continue
        source = dtype_of(z.type.dtype)
        # uint64 elements above int64 count as negative
        if not np.can_cast(source, t, "safe") and not (z is x and source.kind == "u"):
            return Throw(TypeError,
                         f"Cannot cast array data from dtype('{source}') to dtype('{t}') according to the rule 'safe'")
    if weights and weights.type.ndim != 1:
        raise Mismatch("weights= of np.bincount must be a 1-d array")
    return CallValue(constant(bincount), x, weights or NONE, minlength)


CALLS = {
    np.searchsorted: _searchsorted, np.digitize: _digitize, np.nonzero: checked(nonzero),
    np.flatnonzero: checked(flatnonzero), np.argwhere: checked(argwhere), np.extract: checked(extract),
    np.bincount: _bincount,
}
METHODS = methods(searchsorted=_searchsorted, nonzero=CALLS[np.nonzero])
