"""Histograms of several variables: np.histogram2d and np.histogramdd; np.histogram_bin_edges."""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.expressions import list_of
from ....infer.meaning import Apply, Call, CallValue, Const, Mismatch, NotNative
from ....ops.structure import TUPLE_GET, TUPLE_MAKE
from ....types import kinds as k
from ....types.lattice import dtype_of, kind_of, promote
from ...build import a_type, compiled, is_sequence, outlined, type_name
from ...protocol import protocol_of
from ...intrinsics import as_type, fail
from ...rule import Constant, NONE, intrinsic, rule
from ..sorting.searching import place

__all__ = ["CALLS"]


@intrinsic
def common_dtype(arrays):
    """The common dtype of arrays."""
    found = None
    for t in arrays.type.elements:
        if kind_of(t.dtype) == "c":
            raise NotNative("histograms of complex numbers are not compiled")
        found = t.dtype if found is None else promote(found, t.dtype)
    return Const(k.DType(found), dtype_of(found))


# -- edges

def outer(a, limits):
    """The first and the last edge."""
    if limits is not None:
        if limits[0] > limits[1]:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(limits[0]) and np.isfinite(limits[1])):
            raise ValueError(f"supplied range of [{limits[0]}, {limits[1]}] is not finite")
        return widened(float(limits[0]), float(limits[1]))
    if len(a) == 0:
        return a.dtype.type(0), a.dtype.type(1)
    first, last = np.min(a), np.max(a)
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    return first, last


def widened(first, last):
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def edges_of(a, bins, limits, axis):
    if isinstance(bins, np.ndarray):
        if bins.ndim != 1:
            fail(ValueError, f"`bins[{axis}]` must be a scalar or 1d array")
        for i in range(1, len(bins)):
            if bins[i - 1] > bins[i]:
                raise ValueError(f"`bins[{axis}]` must be monotonically increasing, when an array")
        return bins
    if bins < 1:
        raise ValueError(f"`bins[{axis}]` must be positive, when an integer")
    if limits is None and a.dtype.kind == "f" and a.dtype != np.float64:
        if len(a) == 0:
            raise NotImplementedError("histograms of no samples in short floats are not compiled: give a range")
    first, last = outer(a, limits)
    if first == last:
        return np.linspace(first - 0.5, last + 0.5, bins + 1)
    return np.linspace(first, last, bins + 1)


def all_edges(columns, bins, limits, n):
    if n == len(columns):
        return ()
    return (edges_of(columns[n], bins[n], None if limits is None else limits[n], n),
            ) + all_edges(columns, bins, limits, n + 1)


# -- counts

def bin_of(column, i, edges):
    """The bin of sample i, where the last bin is closed; a negative number for a sample outside all bins."""
    last = len(edges) - 1
    if last < 0:
        return -1
    x = as_type(column[i], common_dtype((column, edges)))
    at = int(place(edges, x, True, None))
    if at <= last:
        return at - 1
    return last - 1 if x == edges[last] else -1


def flat_bin(columns, edges, i, n, total):
    """The position of sample i in the flat histogram; negative for a sample outside."""
    if n == len(columns):
        return total
    found = bin_of(columns[n], i, edges[n])
    if found < 0:
        return -1
    return flat_bin(columns, edges, i, n + 1, total * (len(edges[n]) - 1) + found)


def shape_of(edges, n):
    return () if n == len(edges) else (len(edges[n]) - 1,) + shape_of(edges, n + 1)


def per_volume(hist, edges, n):
    if n == len(edges):
        return hist
    return per_volume(np.moveaxis(np.moveaxis(hist, n, -1) / np.diff(edges[n]), -1, n), edges, n + 1)


@outlined
def add_samples(flat, columns, edges, weights):
    for i in range(len(columns[0])):
        at = flat_bin(columns, edges, i, 0, 0)
        if at >= 0:
            flat[at] += 1.0 if weights is None else float(weights[i])


def count(columns, bins, limits, density, weights):
    edges = all_edges(columns, bins, limits, 0)
    hist = np.zeros(shape_of(edges, 0), np.float64)
    flat = np.reshape(hist, -1)
    if weights is not None and len(weights) != len(columns[0]):
        raise ValueError("The weights and list don't have the same length.")
    add_samples(flat, columns, edges, weights)
    if density:
        return np.ascontiguousarray(per_volume(hist, edges, 0)) / np.sum(hist), edges
    return hist, edges


def converted(columns, t, n):
    return () if n == len(columns) else (columns[n].astype(t),) + converted(columns, t, n + 1)


def check_lengths(columns, n):
    if n < len(columns):
        if len(columns[n]) != len(columns[0]):
            raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape "
                             f"after 1 dimensions. The detected shape was ({len(columns)},) + inhomogeneous part.")
        check_lengths(columns, n + 1)


def histogramdd(columns, bins, limits, density, weights):
    check_lengths(columns, 1)
    hist, edges = count(converted(columns, common_dtype(columns), 0), bins, limits, density, weights)
    return hist, as_list(edges)


@intrinsic
def as_list(parts):
    """A tuple as the list that NumPy returns."""
    return list_of([Apply(TUPLE_GET, parts, index=i) for i in range(len(parts.type.elements))])


def histogram2d(columns, bins, limits, density, weights):
    if len(columns[0]) != len(columns[1]):
        raise ValueError("x and y must have the same length.")
    if isinstance(bins, np.ndarray):
        if len(bins) == 1 or len(bins) == 2:
            raise NotImplementedError("np.histogram2d with an array of one or two bins is not compiled: write the "
                                      "numbers as a tuple")
        both = (bins, bins)
    elif isinstance(bins, tuple):
        both = bins
    else:
        both = (bins, bins)
    hist, edges = count(converted(columns, common_dtype(columns), 0), both, limits, density, weights)
    return hist, edges[0], edges[1]


# -- rules

def _parts(x):
    return protocol_of(x.type).elements(x) if is_sequence(x.type) else None


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def _pairs(x):
    """The limits, with lists converted to tuples."""
    parts = _parts(x)
    return x if parts is None else _tuple([_pairs(part) for part in parts])


def _made(function, columns, bins, limits, density, weights):
    return CallValue(constant(function), _tuple(columns), bins, _pairs(limits or NONE), Const(k.Bool, bool(density)),
                     weights or NONE)


def _check(name, columns, weights):
    for x in columns:
        if not isinstance(x.type, k.Array) or x.type.ndim != 1:
            raise NotNative(f"np.{name} of {a_type(x.type)} is not compiled", "pass arrays of one dimension")
    if weights and not (isinstance(weights.type, k.Array) and weights.type.ndim == 1):
        raise NotNative(f"np.{name} with weights of type {type_name(weights.type)} is not compiled",
                        "pass an array of one dimension")


def _bins(name, bins, count):
    """The bins argument as a tuple of numbers of bins and arrays of edges."""
    parts = _parts(bins)
    if parts is None:
        return bins
    if len(parts) != count:
        raise Mismatch("The dimension of bins must be equal to the dimension of the sample x.", exception=ValueError)
    for x in parts:
        if not k.is_integer(x.type) and not isinstance(x.type, k.Array):
            raise NotNative(f"np.{name} with bins of type {type_name(x.type)} is not compiled",
                            "pass ints or arrays of edges")
    return _tuple(parts)


@rule("np.histogram2d")
def _histogram2d(x, y, bins=10, range=None, density: Constant = None, weights=None):
    _check("histogram2d", [x, y], weights)
    bins = _bins("histogram2d", bins, 2)
    if not k.is_integer(bins.type) and not isinstance(bins.type, (k.Array, k.Tuple)):
        raise NotNative(f"np.histogram2d with bins of type {type_name(bins.type)} is not compiled",
                        "pass an int, an array or a pair of them")
    return _made(histogram2d, [x, y], bins, range, density, weights)


def columns_of(a, count):
    if a.shape[1] != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return column_from(a, count, 0)


def column_from(a, count, n):
    return () if n == count else (a[:, n],) + column_from(a, count, n + 1)


@rule("np.histogramdd")
def _histogramdd(sample, bins=10, range=None, density: Constant = None, weights=None):
    columns = _parts(sample)
    t = sample.type
    if isinstance(t, k.Array):
        many = _parts(bins) or _parts(range or NONE) if t.ndim == 2 else [NONE] if t.ndim == 1 else None
        if many is None:
            raise NotNative(f"np.histogramdd of an array of {t.ndim} dimensions needs to know how many columns it has",
                            "give bins= or range= as a tuple, or the columns as a tuple of arrays")
        if t.ndim == 1:
            columns = [sample]
        else:
            columns = Call(columns_of, sample, Const(k.Int, len(many)))
            return CallValue(constant(np.histogramdd), columns, bins, range or NONE, Const(k.Bool, bool(density)),
                             weights or NONE)
    if columns is None:
        raise NotNative(f"np.histogramdd of {a_type(t)} is not compiled", "pass the columns as a tuple of arrays")
    _check("histogramdd", columns, weights)
    if k.is_integer(bins.type):
        bins = _tuple([bins] * len(columns))
    elif _parts(bins) is None:
        raise NotNative(f"np.histogramdd with bins of type {type_name(bins.type)} is not compiled",
                        "pass an int or a tuple of ints and arrays")
    return _made(histogramdd, columns, _bins("histogramdd", bins, len(columns)), range, density, weights)


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    x = np.asarray(a)
    if weights is not None:
        if np.asarray(weights).shape != x.shape:
            raise ValueError("weights should have the same shape as a.")
        if isinstance(bins, str):
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    return np.histogram(x, bins, range)[1]


CALLS = {np.histogram2d: _histogram2d, np.histogramdd: _histogramdd,
         np.histogram_bin_edges: compiled(histogram_bin_edges)}
