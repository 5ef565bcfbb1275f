"""Stencils: a function of the neighbours of an element, which is called for each element that has all of them.

The function's arrays are windows: an index into a window is relative to the element. A window is a kind of value of its
own, an array and an index, so that it costs nothing where the function is inlined.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Call, Const
from ....types import kinds
from ....types.lattice import dtype_of, numpy_counterpart, type_of_dtype
from ...intrinsics import as_type
from ...protocol import declare
from ...py.instances import OfClass
from ...rule import intrinsic

__all__ = ["Window", "run", "run_into", "widths"]


class Window:
    """An array seen from one of its elements."""

    def __init__(self, array, at):
        self.array, self.at = array, at

    @property
    def ndim(self):
        return self.array.ndim

    @property
    def shape(self):
        return self.array.shape

    @property
    def size(self):
        return self.array.size

    @property
    def dtype(self):
        return self.array.dtype


class WindowType(kinds.Attributes):
    __slots__ = fields = ("array", "at")
    python_class = Window


class _Windows(OfClass):
    def getitem(self, x, i):
        return Call(neighbour, x, i)

    def length(self, x):
        return Call(window_length, x)


declare(WindowType, _Windows())


def neighbour(window, offset):
    return window.array[moved(window.at, offset, window.array.shape, 0)]


def window_length(window):
    return len(window.array)


def moved(at, offset, shape, k):
    """The absolute index of a neighbour."""
    if not isinstance(offset, tuple):
        return moved(at, (offset,), shape, k)
    if k == len(at):
        return ()
    return (step(at[k], offset[k], shape[k], k),) + moved(at, offset, shape, k + 1)


def step(i, offset, n, k):
    if isinstance(offset, slice):
        return slice(i + (0 if offset.start is None else offset.start), i + (0 if offset.stop is None else offset.stop))
    found = i + int(offset)
    if not 0 <= found < n:
        raise IndexError(f"index {found} is out of bounds for axis {k} with size {n}: the neighborhood of the stencil "
                         f"does not have the offset {offset}")
    return found


# -- the loop


def widths(neighborhood, k):
    """How many elements at the low (k = 0) or high (k = 1) end of each axis lack a neighbour. neighborhood: the first
    and last offset of each axis."""
    if len(neighborhood) == 0:
        return ()
    offset = neighborhood[0][k]
    return (max(0, offset if k == 1 else -offset),) + widths(neighborhood[1:], k)


def run(kernel, arguments, relative, low, high, border):
    """The array of kernel(...) for each element; elements without all neighbours get `border`."""
    shape = arguments[0].shape
    check_shapes(arguments, relative, shape, 1)
    if no_element(shape, low, high, 0):
        few = stand_ins(arguments, relative, low, high, 0)
        return np.full(shape, as_type(border, dtype_of_all((kernel(*operands(few, relative, low, 0)),))))
    out = np.full(shape, as_type(border, dtype_of_all((kernel(*operands(arguments, relative, low, 0)),))))
    fill(kernel, arguments, relative, low, high, shape, out, ())
    return out


@intrinsic
def dtype_of_all(returned):
    """The common dtype of the numbers that a kernel returns on any path. They are in a tuple, since the rule would be
    called for each type of a value with several types."""
    t = returned.type.elements[0]
    members = kinds.members_of(t.wide if isinstance(t, kinds.Dual) else t)
    if not all(map(kinds.is_number, members)):
        return Call(dtype_of_one, returned)
    found = np.result_type(*(dtype_of(numpy_counterpart(t)) for t in members))
    return Const(kinds.DType(type_of_dtype(found)), found)


def dtype_of_one(returned):
    return np.asarray(returned[0]).dtype


def stand_ins(arguments, relative, low, high, j):
    """Arrays in which one element has all neighbours, for calling the kernel where the given arrays have none."""
    if j == len(arguments):
        return ()
    one = arguments[j]
    return ((np.ones(extents(low, high, 0), one.dtype) if relative[j] else one,)
            + stand_ins(arguments, relative, low, high, j + 1))


def extents(low, high, k):
    return () if k == len(low) else (low[k] + high[k] + 1,) + extents(low, high, k + 1)


def run_into(kernel, arguments, relative, low, high, border, out):
    """As `run`, with the results stored in the array `out`. Its border is not changed if `border` is None."""
    shape = arguments[0].shape
    check_shapes(arguments, relative, shape, 1)
    if border is not None:
        out[...] = as_type(border, out.dtype)
    if not no_element(shape, low, high, 0):
        fill(kernel, arguments, relative, low, high, shape, out, ())
    return out


def check_shapes(arguments, relative, shape, j):
    if j < len(arguments):
        if relative[j]:
            if arguments[j].ndim != len(shape):
                raise ValueError("Secondary stencil array does not have same number of dimensions as the first stencil "
                                 "input.")
            if smaller(arguments[j].shape, shape, 0):
                raise ValueError("Secondary stencil array has some dimension smaller the same dimension in the first "
                                 "stencil input.")
        check_shapes(arguments, relative, shape, j + 1)


def smaller(one, other, k):
    return k < len(one) and (one[k] < other[k] or smaller(one, other, k + 1))


def no_element(shape, low, high, k):
    return k < len(shape) and (low[k] >= shape[k] - high[k] or no_element(shape, low, high, k + 1))


def operands(arguments, relative, at, j):
    if j == len(arguments):
        return ()
    one = arguments[j]
    return (Window(one, at) if relative[j] else one,) + operands(arguments, relative, at, j + 1)


def fill(kernel, arguments, relative, low, high, shape, out, at):
    k = len(at)
    if k == len(shape):
        out[at] = as_type(kernel(*operands(arguments, relative, at, 0)), out.dtype)
    else:
        for i in range(low[k], shape[k] - high[k]):
            fill(kernel, arguments, relative, low, high, shape, out, at + (i,))
