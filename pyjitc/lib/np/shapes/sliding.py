"""Views whose elements share memory: sliding_window_view and as_strided of np.lib.stride_tricks."""
from __future__ import annotations

import operator

import numpy as np

from ....infer.meaning import Apply, Call, Const, NotConstant, NotNative
from ....ops.memory import ARRAY_STRIDE, ARRAY_VIEW
from ....types import kinds as k
from ...build import compiled
from ...rule import intrinsic
from . import views
from ..reductions.reductions import refuse_axis, wrong_axis
from .views import elements

__all__ = ["CALLS", "METHODS"]


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    if not isinstance(x, np.ndarray):
        return sliding_window_view(np.asarray(x), window_shape, axis, writeable=writeable)
    if isinstance(window_shape, np.ndarray):
        pass_a_tuple(window_shape)
    if not isinstance(window_shape, (tuple, list)):
        return sliding_window_view(x, (window_shape,), axis, writeable=writeable)
    check_not_negative(window_shape, 0, "`window_shape` cannot contain negative values")
    if axis is None and len(window_shape) != x.ndim:
        raise ValueError(f"Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
                         f"{len(window_shape)} window_shape elements and `x.ndim` is {x.ndim}.")
    axes = places(axis, x)
    if len(window_shape) != len(axes):
        raise ValueError(f"Must provide matching length window_shape and axis; got {len(window_shape)} window_shape "
                         f"elements and {len(axes)} axes elements.")
    return slid(x, trimmed(x.shape, window_shape, axes, 0), window_shape, axes, writeable)


@intrinsic
def pass_a_tuple(window_shape):
    raise NotNative("window_shape= of np.lib.stride_tricks.sliding_window_view cannot be an array: how many axes the "
                    "result has must be known",
                    "pass a tuple")


def check_not_negative(shape, j, message):
    if j < len(shape):
        if shape[j] < 0:
            raise ValueError(message)
        check_not_negative(shape, j + 1, message)


def trimmed(shape, window, axes, j):
    """The number of positions that a window can take along each axis."""
    if j == len(axes):
        return shape
    n = shape[axes[j]]
    if n < window[j]:
        raise ValueError("window shape cannot be larger than input array shape")
    return trimmed(shape[:axes[j]] + (n - operator.index(window[j]) + 1,) + shape[axes[j] + 1:], window, axes, j + 1)


@intrinsic
def places(axis, x):
    """The axes along which windows move, which may occur more than once."""
    n = x.type.ndim
    if axis.type is k.NoneType:
        found = tuple(range(n))
    elif (axis.known and all(type(x) is int or isinstance(x, np.integer)
                             for x in (axis.value if isinstance(axis.value, tuple) else (axis.value,)))):
        found = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    else:
        refuse_axis(axis.type)
        raise NotConstant("the axis must be known at compile time", "write it as a constant")
    for place in found:
        if not -n <= place < n:
            return Call(wrong_axis, Const(k.Int, place), Const(k.Int, n))
    found = tuple(place % n for place in found)
    return Const(k.Tuple((k.Int,) * len(found)), found)


@intrinsic
def slid(a, shape, window, axes, writeable):
    """The view whose element [i..., j...] is a[i + j], with j along `axes`."""
    if not writeable.known:
        raise NotConstant("writeable= of np.lib.stride_tricks.sliding_window_view must be a constant")
    strides = [Apply(ARRAY_STRIDE, a, axis=j) for j in range(a.type.ndim)]
    lengths = [Call(as_length, n) for n in elements(window)]
    t = k.Array(a.type.dtype, a.type.ndim + len(lengths), "A", bool(writeable.value) and a.type.writable,
                a.type.aligned)
    return Apply(ARRAY_VIEW, a, views.ZERO, *elements(shape), *lengths, *strides, *(strides[j] for j in axes.value),
                 type=t)


def as_length(n):
    return operator.index(n)


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """No bounds are checked, as in NumPy: the view may leave the memory of the array."""
    if not isinstance(x, np.ndarray):
        return as_strided(np.asarray(x), shape, strides, subok, writeable)
    if shape is None:
        return as_strided(x, x.shape, strides, subok, writeable)
    if not isinstance(shape, tuple):
        pass_tuples(shape)
    check_not_negative(shape, 0, "negative dimensions are not allowed")
    if strides is not None:
        if not isinstance(strides, tuple):
            pass_tuples(strides)
        if len(strides) != len(shape):
            raise ValueError("mismatch in length of strides and shape")
        return placed(x, shape, strides, writeable)
    if x.flags.c_contiguous:
        return placed(x, shape, rows_first(shape, x.itemsize, len(shape) - 1, ()), writeable)
    if len(shape) != x.ndim:
        raise ValueError("mismatch in length of strides and shape")
    return placed(x, shape, x.strides, writeable)


@intrinsic
def pass_tuples(given):
    raise NotNative("shape= and strides= of np.lib.stride_tricks.as_strided are tuples: how many axes the result has "
                    "must be known", "pass tuples")


def rows_first(shape, step, j, found):
    return found if j < 0 else rows_first(shape, step * shape[j], j - 1, (step, *found))


@intrinsic
def placed(a, shape, strides, writeable):
    if not writeable.known:
        raise NotConstant("writeable= of np.lib.stride_tricks.as_strided must be a constant", "write it as a constant")
    t = k.Array(a.type.dtype, len(elements(shape)), "A", bool(writeable.value) and a.type.writable, a.type.aligned)
    return Apply(ARRAY_VIEW, a, views.ZERO, *(Call(as_length, n) for n in (*elements(shape), *elements(strides))),
                 type=t)


CALLS = {np.lib.stride_tricks.sliding_window_view: compiled(sliding_window_view),
         np.lib.stride_tricks.as_strided: compiled(as_strided)}
METHODS: dict = {}
