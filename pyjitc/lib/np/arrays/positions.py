"""Arrays of indices: grids, diagonals, triangles."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Throw
from ....ops.structure import TUPLE_MAKE
from ....types.kinds import Bool
from ...build import compiled
from ...rule import Constant, rule
from ..shapes.arrange import stretch
from ..shapes.splitting import as_list, spread
from ..shapes.views import each

__all__ = ["CALLS", "METHODS"]


# ---------------------------------------------------------------- grids


@rule("np.meshgrid")
def _meshgrid(*xi, copy: Constant = True, sparse: Constant = False, indexing: Constant = "xy"):
    if indexing not in ("xy", "ij"):
        return Throw(ValueError, "Valid values for `indexing` are 'xy' and 'ij'.")
    flags = (bool(copy), bool(sparse), indexing == "xy" and len(xi) > 1)
    return Call(grid, Apply(TUPLE_MAKE, *xi, cls=None), *(Const(Bool, x) for x in flags))


SPARSE_TUPLE = type(np.meshgrid(0, sparse=True, copy=False)) is tuple  # the class of the result changed in NumPy 2.5


def grid(axes, fresh, sparse, swapped):
    arrays = each(np.asarray, axes)
    places = (1, 0) + counting(2, len(axes)) if swapped else counting(0, len(axes))
    open_ = opened(arrays, places, 0)
    if sparse:
        return copied(open_, 0) if fresh else open_ if SPARSE_TUPLE else as_list(open_)
    shape = lengths(arrays, places, 0)
    return each(repeated, open_, shape) if fresh else each(spread, open_, shape)


def counting(start, stop):
    return () if start >= stop else (start,) + counting(start + 1, stop)


def opened(arrays, places, j):
    """Each array reshaped along its own axis."""
    if j == len(arrays):
        return ()
    return (along(np.ravel(arrays[j]), places[j], len(arrays)),) + opened(arrays, places, j + 1)


def along(x, axis, ndim):
    return x.reshape((1,) * axis + (len(x),) + (1,) * (ndim - 1 - axis))


def lengths(arrays, places, j):
    if j == len(arrays):
        return ()
    return (arrays[places[j]].size,) + lengths(arrays, places, j + 1)


def copied(arrays, j):
    if j == len(arrays):
        return ()
    return (arrays[j].copy(),) + copied(arrays, j + 1)


def repeated(a, shape):
    out = np.empty(shape, a.dtype)
    out[...] = stretch(a, shape)
    return out


def indices(dimensions, dtype=np.int64, sparse=False):
    if sparse:
        return line(dimensions, dtype, 0)
    out = np.empty((len(dimensions),) + dimensions, dtype)
    put_lines(out, dimensions, dtype, 0)
    return out


def line(dimensions, dtype, j):
    if j == len(dimensions):
        return ()
    return (along(np.arange(dimensions[j], dtype=dtype), j, len(dimensions)),) + line(dimensions, dtype, j + 1)


def put_lines(out, dimensions, dtype, j):
    if j < len(dimensions):
        out[j] = along(np.arange(dimensions[j], dtype=dtype), j, len(dimensions))
        put_lines(out, dimensions, dtype, j + 1)


# ---------------------------------------------------------------- diagonals and triangles


def diag_indices(n, ndim=2):
    return (np.arange(n),) * ndim


def diag_indices_from(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    check_equal(arr.shape, 1)
    return diag_indices(arr.shape[0], arr.ndim)


def check_equal(shape, j):
    if j < len(shape):
        if shape[j] != shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
        check_equal(shape, j + 1)


def within(x, n):
    return 0 if x < 0 else n if x > n else x


def triangle(n, k, m, lower):
    """(rows, columns): the indices of the elements on and below (lower), or on and above, diagonal k."""
    width = n if m is None else m
    count = 0
    for i in range(n):
        edge = within(i + k + 1 if lower else i + k, width)
        count += edge if lower else width - edge
    rows, columns = np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for i in range(n):
        edge = within(i + k + 1 if lower else i + k, width)
        for j in range(0 if lower else edge, edge if lower else width):
            rows[at] = i
            columns[at] = j
            at += 1
    return rows, columns


def tril_indices(n, k=0, m=None):
    return triangle(n, k, m, True)


def triu_indices(n, k=0, m=None):
    return triangle(n, k, m, False)


def tril_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triangle(arr.shape[0], k, arr.shape[1], True)


def triu_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triangle(arr.shape[0], k, arr.shape[1], False)


def mask_indices(n, mask_func, k=0):
    return np.nonzero(mask_func(np.ones((n, n), np.int64), k) != 0)


def diagflat(v, k=0):
    flat = np.ravel(np.asarray(v))
    n = len(flat) + abs(k)
    out = np.zeros((n, n), flat.dtype)
    for i in range(len(flat)):
        out[i + max(0, -k), i + max(0, k)] = flat[i]
    return out


CALLS = {
    np.meshgrid: _meshgrid, np.indices: compiled(indices), np.diag_indices: compiled(diag_indices),
    np.diag_indices_from: compiled(diag_indices_from), np.tril_indices: compiled(tril_indices),
    np.triu_indices: compiled(triu_indices), np.tril_indices_from: compiled(tril_indices_from),
    np.triu_indices_from: compiled(triu_indices_from), np.mask_indices: compiled(mask_indices),
    np.diagflat: compiled(diagflat),
}
METHODS = {}
