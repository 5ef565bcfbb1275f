"""Joining arrays: concatenate, stack, vstack, hstack, dstack, column_stack, append, with out, dtype and casting."""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Const, Mismatch, NotConstant, NotNative
from ....ops.arith import IADD, IMUL
from ....types.kinds import Array, DType, NoneType, is_scalar
from ....types.lattice import dtype_of
from ...build import a_type, compiled, type_name
from ...rule import intrinsic
from . import views
from .arrange import common_dtype, window
from .views import each, elements
from ..arrays.creation import scalar_of
from ..reductions.reductions import refuse_axis
from ..reductions.scans import check_axis

__all__ = ["CALLS", "METHODS"]

_CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


# ---------------------------------------------------------------- the type of the result


@intrinsic
def target(parts, out, dtype, casting):
    """The dtype of the result, or the error for elements that cannot be converted to it."""
    if out.type is not NoneType and dtype.type is not NoneType:
        raise Mismatch("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if out.type is not NoneType and not isinstance(out.type, Array):
        raise Mismatch(f"'out' must be an array, not {a_type(out.type)}")
    if not casting.known:
        raise NotConstant("casting= must be a constant")
    if casting.value not in _CASTING:
        raise Mismatch(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '{casting.value}')",
                       exception=ValueError)
    t = out.type.dtype if out.type is not NoneType else scalar_of(dtype) if dtype.type is not NoneType else \
        common_dtype(parts).type.scalar
    for part in elements(parts):
        if part.type.dtype is not t and not np.can_cast(dtype_of(part.type.dtype), dtype_of(t), casting.value):
            raise Mismatch(f"Cannot cast array data from {dtype_of(part.type.dtype)!r} to {dtype_of(t)!r} according "
                           f"to the rule '{casting.value}'")
    return Const(DType(t), dtype_of(t))


@intrinsic
def check_is_axis(axis):
    """Raise where an axis is no integer."""
    refuse_axis(axis.type)
    if not isinstance(axis.type, Array) and not is_scalar(axis.type):
        raise Mismatch(f"'{type_name(axis.type)}' object cannot be interpreted as an integer")
    return Const(NoneType, None)


@intrinsic
def not_joined(name, x):
    """The error for an argument that is not a sequence."""
    raise NotNative(f"{name.value} of {a_type(x.type)} is not compiled", "pass a tuple of arrays")


@intrinsic
def order_of(parts):
    """The order of the elements of the result: that of Fortran if all parts have it."""
    return constant("F" if all([part.type.layout == "F" for part in elements(parts)]) else "C")


# ---------------------------------------------------------------- a tuple of arrays


def join(parts, axis, out, dtype, casting):
    check_parts(parts, 0)
    place = check_axis(axis, parts[0].ndim)
    check_joined(parts, place, 1, 0)
    return written(parts, place, joined_shape(parts, place, 0), out, target(parts, out, dtype, casting))


def written(parts, axis, shape, out, t):
    if out is None:
        fresh = np.empty(shape, t, order=order_of(parts))
        write_parts(fresh, parts, axis, 0, 0)
        return fresh
    if out.ndim != len(shape):
        raise ValueError("Output array has wrong dimensionality")
    if out.shape != shape:
        raise ValueError("Output array is the wrong shape")
    write_parts(out, parts, axis, 0, 0)
    return out


def join_flat(parts, out, dtype, casting):
    flat = each(np.ravel, parts)
    if out is not None:
        if out.ndim != 1:
            raise ValueError("Output array must be 1D")
        if len(out) != total_length(flat, 0, 0):
            raise ValueError("Output array is the wrong size")
    return join(flat, 0, out, dtype, casting)


def check_parts(parts, i):
    if len(parts) == 0:
        raise ValueError("need at least one array to concatenate")
    if i < len(parts):
        if parts[0].ndim == 0:
            raise ValueError("zero-dimensional arrays cannot be concatenated")
        if parts[i].ndim != parts[0].ndim:
            raise ValueError(f"all the input arrays must have same number of dimensions, but the array at index 0 has "
                             f"{parts[0].ndim} "
                             f"dimension(s) and the array at index {i} has {parts[i].ndim} dimension(s)")
        check_parts(parts, i + 1)


def check_joined(parts, axis, i, j):
    if i < len(parts):
        if j == parts[0].ndim:
            check_joined(parts, axis, i + 1, 0)
        else:
            if j != axis and parts[i].shape[j] != parts[0].shape[j]:
                raise ValueError(f"all the input array dimensions except for the concatenation axis must match "
                                 f"exactly, but along dimension {j}, the array at index 0 has size {parts[0].shape[j]} "
                                 f"and the array at index {i} has size {parts[i].shape[j]}")
            check_joined(parts, axis, i, j + 1)


def joined_shape(parts, axis, j):
    if j == parts[0].ndim:
        return ()
    return (total_length(parts, axis, 0) if j == axis else parts[0].shape[j],) + joined_shape(parts, axis, j + 1)


def total_length(parts, axis, i):
    if i == len(parts):
        return 0
    return IADD(parts[i].shape[axis], total_length(parts, axis, i + 1))


def write_parts(out, parts, axis, i, start):
    if i < len(parts):
        stop = IADD(start, parts[i].shape[axis])
        window(out, axis, start, stop)[...] = parts[i]
        write_parts(out, parts, axis, i + 1, stop)


# ---------------------------------------------------------------- an array, whose items are joined


def join_items(a, axis, out, dtype, casting):
    if a.ndim < 2:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if len(a) == 0:
        raise ValueError("need at least one array to concatenate")
    place = check_axis(axis, a.ndim - 1)
    moved = np.moveaxis(a, 0, place)
    shape = moved.shape[:place] + (IMUL(moved.shape[place], moved.shape[place + 1]),) + moved.shape[place + 2:]
    t = target((a,), out, dtype, casting)
    fresh = np.reshape(views.duplicate(moved), shape)
    if out is not None:
        return written((fresh,), 0, shape, out, t)
    return fresh.astype(t, copy=False)


def lifted_items(a, rank):
    """The array whose items have at least so many dimensions, with axes of length 1 added."""
    if rank == 1:
        return a[:, None] if a.ndim == 1 else a
    if rank == 2:
        return a[:, None, None] if a.ndim == 1 else a[:, None] if a.ndim == 2 else a
    if a.ndim == 1:
        return a[:, None, None, None]
    return a[:, None, :, None] if a.ndim == 2 else a[:, :, :, None] if a.ndim == 3 else a


# ---------------------------------------------------------------- the functions


def concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if isinstance(arrays, (tuple, list)):
        if axis is None:
            return join_flat(each(np.asarray, arrays), out, dtype, casting)
        check_is_axis(axis)
        return join(each(np.asarray, arrays), axis, out, dtype, casting)
    if not isinstance(arrays, np.ndarray):
        not_joined("np.concatenate", arrays)
    if axis is None:
        if len(arrays) == 0:
            raise ValueError("need at least one array to concatenate")
        return join_flat((arrays,), out, dtype, casting)
    check_is_axis(axis)
    return join_items(arrays, axis, out, dtype, casting)


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    check_is_axis(axis)
    if isinstance(arrays, (tuple, list)):
        parts = each(np.asarray, arrays)
        if len(parts) == 0:
            raise ValueError("need at least one array to stack")
        check_same_shape(parts, 1)
        place = check_axis(axis, parts[0].ndim + 1)
        return join(raised(parts, place, 0), place, out, dtype, casting)
    if not isinstance(arrays, np.ndarray):
        not_joined("np.stack", arrays)
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    return join_items(np.expand_dims(arrays, check_axis(axis, arrays.ndim) + 1), axis, out, dtype, casting)


def check_same_shape(parts, i):
    if i < len(parts):
        if parts[i].ndim != parts[0].ndim:
            raise ValueError("all input arrays must have the same shape")
        if parts[i].shape != parts[0].shape:
            raise ValueError("all input arrays must have the same shape")
        check_same_shape(parts, i + 1)


def raised(parts, axis, i):
    if i == len(parts):
        return ()
    return (np.expand_dims(parts[i], axis),) + raised(parts, axis, i + 1)


def lifted(parts, rank, i):
    if i == len(parts):
        return ()
    one = np.atleast_1d(parts[i]) if rank == 1 else np.atleast_2d(parts[i]) if rank == 2 else np.atleast_3d(parts[i])
    return (one,) + lifted(parts, rank, i + 1)


def columns(parts, i):
    if i == len(parts):
        return ()
    x = np.asarray(parts[i])
    return (x[None, None] if x.ndim == 0 else x[:, None] if x.ndim == 1 else x,) + columns(parts, i + 1)


def vstack(tup, *, dtype=None, casting="same_kind"):
    if isinstance(tup, (tuple, list)):
        return join(lifted(tup, 2, 0), 0, None, dtype, casting)
    if not isinstance(tup, np.ndarray):
        not_joined("np.vstack", tup)
    return join_items(lifted_items(tup, 2), 0, None, dtype, casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    if isinstance(tup, (tuple, list)):
        parts = lifted(tup, 1, 0)
        return join(parts, 0 if len(parts) == 0 or parts[0].ndim == 1 else 1, None, dtype, casting)
    if not isinstance(tup, np.ndarray):
        not_joined("np.hstack", tup)
    return join_items(lifted_items(tup, 1), 0 if tup.ndim < 3 else 1, None, dtype, casting)


def dstack(tup):
    if isinstance(tup, (tuple, list)):
        return join(lifted(tup, 3, 0), 2, None, None, "same_kind")
    if not isinstance(tup, np.ndarray):
        not_joined("np.dstack", tup)
    return join_items(lifted_items(tup, 3), 2, None, None, "same_kind")


def column_stack(tup):
    if isinstance(tup, (tuple, list)):
        return join(columns(tup, 0), 1, None, None, "same_kind")
    if not isinstance(tup, np.ndarray):
        not_joined("np.column_stack", tup)
    if tup.ndim == 2:
        return join_items(tup[:, :, None], 1, None, None, "same_kind")
    return join_items(lifted_items(tup, 2), 1, None, None, "same_kind")


def append(arr, values, axis=None):
    if axis is None:
        return concatenate((np.ravel(np.asarray(arr)), np.ravel(np.asarray(values))))
    return concatenate((arr, values), axis)


CALLS = {
    np.concatenate: compiled(concatenate), np.concat: compiled(concatenate), np.stack: compiled(stack),
    np.vstack: compiled(vstack), np.hstack: compiled(hstack), np.dstack: compiled(dstack),
    np.column_stack: compiled(column_stack), np.append: compiled(append),
}
if hasattr(np, "row_stack"):  # until NumPy 2.5 or so
    CALLS[np.row_stack] = CALLS[np.vstack]
METHODS: dict = {}
