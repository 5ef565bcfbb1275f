"""Small functions that call others: unique_all and its like, sort_complex, rollaxis, isfortran, iterable,
frombuffer."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Mismatch, NotNative, Throw
from ....ops import pyobject
from ....types import kinds as k
from ....types.kinds import Array, Bool, Int
from ...build import a_type, compiled
from ...rule import Constant, intrinsic, rule
from ..reductions.reductions import AxisError
from ..reductions.scans import check_axis
from ..shapes import arrange
from . import attributes
from .bits import python_call

__all__ = ["CALLS", "METHODS"]

_RESULTS = np.lib._arraysetops_impl if hasattr(np.lib, "_arraysetops_impl") else np.lib.arraysetops
UniqueAllResult, UniqueCountsResult, UniqueInverseResult = (_RESULTS.UniqueAllResult, _RESULTS.UniqueCountsResult,
                                                            _RESULTS.UniqueInverseResult)


# ---------------------------------------------------------------- the array API's forms of unique


def unique_all(x):
    values, places, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True,
                                                equal_nan=False)
    return UniqueAllResult(values, places, inverse, counts)


def unique_counts(x):
    values, counts = np.unique(x, return_counts=True, equal_nan=False)
    return UniqueCountsResult(values, counts)


def unique_inverse(x):
    values, inverse = np.unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverseResult(values, inverse)


def unique_values(x):
    return np.unique(x, equal_nan=False)


# ---------------------------------------------------------------- sorting and axes


def sort_complex(a):
    b = np.sort(a)
    if b.dtype.kind == "c":
        return b
    if b.dtype.kind != "f" and b.dtype.kind != "b" and b.itemsize < 4:
        return b.astype(np.complex64)
    return b.astype(np.complex128)


@rule("np.rollaxis")
def _rollaxis(a, axis: Constant, start: Constant = 0):
    n = a.type.ndim
    for name, value in (("axis", axis), ("start", start)):
        if not hasattr(value, "__index__"):
            raise Mismatch(f"{name}= of np.rollaxis must be an int")
    axis, start = int(axis), int(start)
    if not -n <= axis < n:
        return Call(wrong_axis, Const(Int, axis), Const(Int, n))
    axis %= n
    given, start = start, start + n if start < 0 else start
    if not 0 <= start < n + 1:
        return Throw(AxisError,
                     f"'start' arg requires {-n} <= start < {n + 1}, but {start if given < 0 else given} was passed in")
    if axis < start:
        start -= 1
    order = [j for j in range(n) if j != axis]
    order.insert(start, axis)
    return arrange.permute(a, order)


def wrong_axis(axis, ndim):
    check_axis(axis, ndim)


# ---------------------------------------------------------------- predicates


def isfortran(a):
    return a.flags.fnc


@rule("np.iterable")
def _iterable(y):
    t = y.type
    if isinstance(t, Array):
        return Const(Bool, t.ndim > 0)
    return Const(Bool, isinstance(t, (k.Tuple, k.Struct, k.Iterator)) or t in (k.Range, k.Str, k.Bytes))


# ---------------------------------------------------------------- memory


@rule("np.frombuffer")
def _frombuffer(buffer, dtype=None, count=-1, offset=0, *, like=None):
    x = buffer
    t = dtype or Const(k.Singleton(float), float)
    if x.type is k.MemoryView:
        return Call(from_view, x, t, count, offset)
    if x.type in (k.Bytes, k.ByteArray):
        x = _bytes_of(x, x.type is k.ByteArray)
    if not isinstance(x.type, Array):
        raise NotNative(f"np.frombuffer of {a_type(x.type)} is not compiled", "pass an array or bytes")
    return Call(from_memory, x, t, count, offset)


def _bytes_of(x, writable):
    """The array of the bytes of an object of the interpreter."""
    return Apply(pyobject.PY_UNBOX, python_call(np.frombuffer, x, Const(k.Singleton(np.uint8), np.uint8)),
                 type=Array(k.uint8, 1, "C", writable))


def from_view(view, dtype, count, offset):
    """The array in the memory of a memoryview, whose type does not say whether it may be written."""
    if view.readonly:
        return from_memory(constant_bytes(view), dtype, count, offset)
    return from_memory(writable_bytes(view), dtype, count, offset)


@intrinsic
def constant_bytes(view):
    """The bytes of a memoryview that may not be written."""
    return _bytes_of(view, False)


@intrinsic
def writable_bytes(view):
    """The bytes of a memoryview that may be written."""
    return _bytes_of(view, True)


def from_memory(a, dtype, count, offset):
    if not attributes.rows_first(a):
        raise ValueError("ndarray is not C-contiguous")
    size = np.empty(0, dtype).itemsize
    if offset < 0 or offset > a.nbytes:
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({a.nbytes})")
    left = a.nbytes - offset
    if count < 0:
        if left % size != 0:
            raise ValueError("buffer size must be a multiple of element size")
        return whole(a)[offset:].view(dtype)
    if left < count * size:
        raise ValueError("buffer is smaller than requested size")
    return whole(a)[offset:offset + count * size].view(dtype)


def whole(a):
    return a.reshape(-1).view(np.uint8)


CALLS = {
    np.unique_all: compiled(unique_all), np.unique_counts: compiled(unique_counts),
    np.unique_inverse: compiled(unique_inverse),
    np.unique_values: compiled(unique_values), np.sort_complex: compiled(sort_complex), np.rollaxis: _rollaxis,
    np.isfortran: compiled(isfortran), np.iterable: _iterable, np.frombuffer: _frombuffer,
}
METHODS = {}
