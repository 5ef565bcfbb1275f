"""np.histogram: bins of equal width by arithmetic and a correction at the edges, given edges by bisection."""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import CallValue, Const, NotNative, Throw
from ....ops.arith import CAST, IADD, ISUB
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....ops.structure import CHOOSE
from ....types import kinds as k
from ....types.kinds import Array, Bool, DType, Int, NoneType, Tuple, is_integer, is_number
from ....types.lattice import dtype_of, kind_of, promote
from ...build import outlined, type_name
from ...rule import ArrayLike, Constant, NONE, NumberOrArray, rule
from ...intrinsics import as_type
from .bin_widths import ESTIMATORS, bins_for
from ..sorting.searching import place
from ..sorting.sorting import flat_copy

__all__ = ["CALLS"]

BLOCK = 65536  # weights are summed in blocks, as in NumPy
AT_ONCE = 1024  # elements whose bins are found before they are counted; a divisor of BLOCK


def flat(a):
    return a if a.ndim == 1 else flat_copy(a)


def as_edge(x):
    """A bound of the range; integers are converted to the float type of the edges."""
    if isinstance(x, np.floating):
        return x
    return float(x)


def extremes(a, t):
    return as_type(np.min(a), t), as_type(np.max(a), t)


def outer(a, limits, t):
    """The first and the last edge."""
    if limits is not None:
        first, last = as_edge(limits[0]), as_edge(limits[1])
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{limits[0]}, {limits[1]}] is not finite")
        if first == last:
            return first - 0.5, last + 0.5
        return first, last
    if len(a) == 0:
        return as_type(0.0, t), as_type(1.0, t)
    first, last = extremes(a, t)
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        return first - as_type(0.5, t), last + as_type(0.5, t)
    return first, last


def spaced(first, last, n, t):
    """n + 1 equally spaced edges."""
    edges = np.empty(n + 1, t)
    span = last - first
    step = span / n
    for i in range(n):
        edges[i] = as_type((as_type(i, t) if isinstance(step, np.floating) else float(i)) * step + first if step != 0
                           else as_type(i, t) / n * span + first, t)
    edges[n] = as_type(last, t)
    for i in range(n):
        if edges[i] >= edges[i + 1]:
            raise ValueError(f"Too many bins for data range. Cannot create {n} finite-sized bins.")
    return edges


def bin_of(x, first, span, scale, starts, n):
    """The bin of x: arithmetic finds a bin next to it, and comparisons with the edges correct that. The last edge in
    `starts` is infinite."""
    y = as_type(x, starts.dtype)
    by_scale = starts.dtype == np.float64 and n < 1000000 and bool(np.isfinite(scale))
    i = CAST((y - first) * scale if by_scale else ((y - first) / span) * n, type=Int)
    if i < 0 or i > n:  # the width of the range is not finite
        i = 0
    i = ISUB(i, CAST(bool(y < ARRAY_LOAD(starts, i)), type=Int))
    i = IADD(i, CAST(bool(y >= ARRAY_LOAD(starts, IADD(i, 1))), type=Int))
    return i if i > 0 else 0


@outlined
def find_bins(places, a, start, count, first, last, span, scale, starts, n):
    """Store the bins of `count` elements from `start` on; n for elements in no bin. With `scale` the arithmetic is a
    loop without branches, which leaves out elements so near to an edge that rounding could decide: the bin number and
    the edges have errors of some units in the last place of the larger bound."""
    doubt = (abs(first) + abs(last)) * scale * 2.0**-46
    sure = starts.dtype == np.float64 and n < 1000000 and bool(doubt < 0.25)
    least = 0
    if sure:
        for i in range(count):
            x = ARRAY_LOAD(a, IADD(start, i))
            inside = (x >= first) & (x <= last)
            y = CHOOSE(bool(inside), (as_type(x, starts.dtype) - first) * scale, as_type(0.5, starts.dtype))
            bin = CAST(y, type=k.int32)
            part = y - CAST(bin, type=k.float64)
            near = (part < doubt) | (part > 1 - doubt)
            found = CHOOSE(bool(near), -1, CHOOSE(bool(inside), CAST(bin, type=Int), n))
            ARRAY_STORE(places, i, np.int64(found))
            least = min(least, found)
    if least < 0 or not sure:
        for i in range(count):
            if not sure or ARRAY_LOAD(places, i) < 0:
                x = ARRAY_LOAD(a, IADD(start, i))
                if x >= first and x <= last:
                    ARRAY_STORE(places, i, np.int64(bin_of(x, first, span, scale, starts, n)))
                else:
                    ARRAY_STORE(places, i, np.int64(n))


def even(a, n, limits, weights, t, result):
    """Counts and edges of n bins of equal width."""
    if n < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = outer(a, limits, t)
    edges = spaced(first, last, n, t)
    starts = edges.copy()
    starts[n] = as_type(np.inf, t)
    span = last - first
    scale = n / span
    places = np.empty(AT_ONCE, np.int64)
    counts = np.zeros(n + 1, result)  # the last count is that of elements in no bin
    if weights is None:
        for start in range(0, len(a), AT_ONCE):
            some = min(AT_ONCE, len(a) - start)
            find_bins(places, a, start, some, first, last, span, scale, starts, n)
            for i in range(some):
                j = int(ARRAY_LOAD(places, i))
                ARRAY_STORE(counts, j, IADD(ARRAY_LOAD(counts, j), np.int64(1)))
    else:
        part = np.empty(n + 1, np.float64)
        for block in range(0, len(a), BLOCK):
            for j in range(n + 1):
                part[j] = 0.0
            for start in range(block, min(block + BLOCK, len(a)), AT_ONCE):
                some = min(AT_ONCE, len(a) - start)
                find_bins(places, a, start, some, first, last, span, scale, starts, n)
                for i in range(some):
                    j = int(ARRAY_LOAD(places, i))
                    ARRAY_STORE(part, j, ARRAY_LOAD(part, j) + as_type(ARRAY_LOAD(weights, IADD(start, i)), part.dtype))
            for j in range(n):
                counts[j] += as_type(part[j], counts.dtype)
    return counts[:n], edges


def given(a, edges, weights, t, result):
    """Counts of bins with given edges."""
    if edges.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    for i in range(1, len(edges)):
        if edges[i - 1] > edges[i]:
            raise ValueError("`bins` must increase monotonically, when an array")
    n = max(len(edges) - 1, 0)
    counts = np.zeros(n, result)
    if n == 0:
        return counts
    bounds = np.empty(n + 1, t)
    for i in range(n + 1):
        bounds[i] = as_type(edges[i], t)
    for i in range(len(a)):
        x = as_type(a[i], t)
        j = n - 1 if x == bounds[n] else int(place(bounds, x, True, None)) - 1
        if j >= 0 and j < n:
            counts[j] += as_type(1 if weights is None else weights[i], counts.dtype)
    return counts


def density_of(counts, edges):
    out = np.empty(len(counts), np.float64)
    total = np.sum(counts)
    for i in range(len(counts)):
        out[i] = counts[i] / np.float64(edges[i + 1] - edges[i]) / total
    return out


def histogram(a, bins, limits, density, weights, t, result):
    if weights is not None and weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    w = None if weights is None else flat(weights)
    if isinstance(bins, np.ndarray):
        counts = given(flat(a), bins, w, t, result)
        return (density_of(counts, bins) if density else counts), bins
    if isinstance(bins, str):
        first, last = outer(flat(a), limits, t)
        counts, edges = even(flat(a), bins_for(flat(a), bins, limits, first, last), limits, w, t, result)
    else:
        counts, edges = even(flat(a), bins, limits, w, t, result)
    return (density_of(counts, edges) if density else counts), edges


@rule("np.histogram")
def _histogram(a: ArrayLike, bins: NumberOrArray = 10, range=None, density: Constant = None, weights: ArrayLike = None):
    if range and isinstance(range.type, k.Struct):
        limits = CallValue(constant(tuple), range)
        return CallValue(constant(np.histogram), a, bins, limits,
                         Const(Bool, bool(density)), weights or NONE)
    limits, weights = range or NONE, weights or NONE
    kind = kind_of(a.type.dtype)
    if kind in "bc" or weights.type is not NoneType and kind_of(weights.type.dtype) in "bc":
        raise NotNative(f"np.histogram with elements of type {a.type.dtype} and such weights is not compiled",
                        "use integers or floats")
    parts = [dtype_of(a.type.dtype)]
    if isinstance(bins.type, Array):
        if kind_of(bins.type.dtype) == "c":
            raise NotNative("np.histogram with complex edges is not compiled")
        t = promote(a.type.dtype, bins.type.dtype)
    elif is_integer(bins.type) or bins.type is k.Str:
        if bins.type is k.Str:
            if not bins.known or bins.value == "stone":
                raise NotNative("np.histogram with this estimator for bins is not compiled",
                                f"write one of {', '.join(ESTIMATORS)}")
            if bins.value not in ESTIMATORS:
                return Throw(ValueError, f"{bins.value!r} is not a valid estimator for `bins`")
            if weights.type is not NoneType:
                return Throw(TypeError, "Automated estimation of the number of bins is not supported for weighted data")
        if limits.type is not NoneType:
            if (not isinstance(limits.type, Tuple) or len(limits.type.elements) != 2
                or not all(map(is_number, limits.type.elements))):
                raise NotNative("range= of np.histogram must be a pair of numbers", "write it as a tuple")
            parts += [dtype_of(e) for e in limits.type.elements if k.is_numpy_scalar(e)]
        found = np.result_type(*parts)
        t = (k.float64 if found.kind in "iub"
             else next(f for f in (k.float16, k.float32, k.float64) if dtype_of(f) == found))
    elif is_number(bins.type):
        return Throw(TypeError, "`bins` must be an integer, a string, or an array")
    else:
        raise NotNative(f"np.histogram with bins of type {type_name(bins.type)} is not compiled",
                        "make an array of the edges")
    result = k.int64 if weights.type is NoneType else weights.type.dtype
    return CallValue(constant(histogram), a, bins, limits,
                     Const(Bool, bool(density)), weights,
                     Const(DType(t), dtype_of(t)), Const(DType(result), dtype_of(result)))


CALLS = {np.histogram: _histogram}
