"""split and its like, and broadcasting of arrays to a common shape.

The parts are views. Where their number is known at compile time (a constant number of sections, or a tuple or list
display of positions), it is part of the type of the result.
"""
from __future__ import annotations

import operator

import numpy as np

from ....infer.expressions import list_of
from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.memory import ARRAY_VIEW
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, Int
from ...build import is_sequence, provoked
from ...rule import intrinsic, rule
from ...py import conversions
from .arrange import stretch, window
from .views import each, elements
from ..reductions.reductions import axes_of

__all__ = ["CALLS", "METHODS", "as_list", "the_axis"]


@intrinsic
def as_list(parts):
    """The items of a tuple as a list."""
    return list_of(elements(parts))


def the_axis(x: Expr | None, ndim: int):
    """One axis that is known at compile time, 0 by default, or an expression that raises for a wrong one."""
    axes = axes_of(Const(Int, 0) if x is None else x, ndim)
    return axes if isinstance(axes, Expr) else axes[0]


# ---------------------------------------------------------------- split


def sections(a, axis, n, equal):
    length = a.shape[axis]
    each = length // n
    if equal and length % n != 0:
        raise ValueError("array split does not result in an equal division")
    return as_list(section(a, axis, n, each, length % n, 0, 0))


def section(a, axis, n, each, longer, k, start):
    if k == n:
        return ()
    stop = start + each + (1 if k < longer else 0)
    return (window(a, axis, start, stop),) + section(a, axis, n, each, longer, k + 1, stop)


def pieces(a, axis, places):
    return as_list(piece(a, axis, (0,) + places + (a.shape[axis],), 0))


def piece(a, axis, places, k):
    if k + 1 == len(places):
        return ()
    return (window(a, axis, places[k], places[k + 1]),) + piece(a, axis, places, k + 1)


def sections_in(a, axis, n, equal):
    """The parts, where their number is not known at compile time."""
    length = a.shape[axis]
    if equal and length % n != 0:
        raise ValueError("array split does not result in an equal division")
    if n <= 0:
        raise ValueError("number sections must be larger than 0.")
    found = []
    start = 0
    for part in range(n):
        stop = start + length // n + (1 if part < length % n else 0)
        found.append(window(a, axis, start, stop))
        start = stop
    return found


def pieces_at(a, axis, places):
    """The parts between the places in an array."""
    found = []
    start = 0
    for place in places:
        stop = int(place)
        found.append(window(a, axis, start, stop))
        start = stop
    found.append(window(a, axis, start, a.shape[axis]))
    return found


def _split(name, axis_of=None, rank=1):
    """The rule of a function that splits. axis_of: number of dimensions -> axis, for functions without a parameter
    axis."""

    @rule(f"np.{name}", f"ary, indices_or_sections{', axis=0' if axis_of is None else ''}")
    def found(a, where, axis=None):
        if not isinstance(a.type, Array):
            raise NotNative(f"np.{name} of a value of type {a.type} is not compiled", "pass an array")
        if a.type.ndim < rank:
            if name in ("split", "array_split"):
                return Throw(IndexError, "tuple index out of range")
            return Throw(ValueError, f"{name} only works on arrays of {rank} or more dimensions")
        if axis_of is None:
            axis = the_axis(axis, a.type.ndim)
            if isinstance(axis, Expr):
                return Throw(IndexError, "tuple index out of range")
        else:
            axis = axis_of(a.type.ndim)
        along = Const(Int, axis)
        if is_sequence(where.type):
            places = elements(where)
            if not all(k.is_integer(x.type) for x in places):
                raise Mismatch("slice indices must be integers or None or have an __index__ method")
            return Call(pieces, a, along, Apply(TUPLE_MAKE, *places, cls=None))
        equal = Const(k.Bool, name != "array_split")
        if isinstance(where.type, Array) and where.type.ndim == 1 or isinstance(where.type, k.List):
            if not k.is_integer(where.type.dtype if isinstance(where.type, Array) else where.type.item):
                raise Mismatch("slice indices must be integers or None or have an __index__ method")
            return Call(pieces_at, a, along, where)
        if not k.is_integer(where.type):
            raise NotNative(f"np.{name} into {where.type} sections is not compiled", "use an int or a list of ints")
        if not where.known:
            return Call(sections_in, a, along, conversions.to_int(where), equal)
        n = int(where.value)
        if n == 0 and name != "array_split":
            return Throw(ZeroDivisionError, provoked(operator.mod, 1, 0))
        if n <= 0:
            return Throw(ValueError, "number sections must be larger than 0.")
        return Call(sections, a, along, Const(Int, n), equal)

    return found


@rule("np.unstack")
def _unstack(x, /, *, axis=0):
    raise NotNative("np.unstack gives a number of arrays that is not known at compile time",
                    "iterate over np.moveaxis(x, axis, 0), or index it")


# ---------------------------------------------------------------- common shapes


@rule("np.broadcast_arrays")
def _broadcast_arrays(*args, subok=False):
    if not args:
        return Apply(TUPLE_MAKE, cls=None)
    return Call(stretched_all, Apply(TUPLE_MAKE, *args, cls=None))


def stretched_all(args):
    arrays = each(np.asarray, args)
    return each(spread, arrays, joint_shape(each(np.shape, arrays), highest(arrays, 0), 0))


def highest(arrays, k):
    return 0 if k == len(arrays) else max(arrays[k].ndim, highest(arrays, k + 1))


@intrinsic
def spread(a, shape):
    """The view of `a` broadcast to a shape, writable where `a` is."""
    view, t = stretch(a, shape), a.type
    return Apply(ARRAY_VIEW, *view.operands, type=Array(t.dtype, len(elements(shape)), "A", t.writable, t.aligned))


@rule("np.broadcast_shapes")
def _broadcast_shapes(*args):
    shapes = []
    for x in args:
        parts = elements(x) if is_sequence(x.type) else [x]
        if not all(k.is_integer(p.type) for p in parts):
            raise Mismatch("np.broadcast_shapes takes tuples of integers")
        shapes.append(Apply(TUPLE_MAKE, *parts, cls=None))
    ndim = max((len(s.operands) for s in shapes), default=0)
    return Call(joint_shape_of, Apply(TUPLE_MAKE, *shapes, cls=None), Const(Int, ndim))


def joint_shape_of(shapes, ndim):
    check_lengths(shapes, 0, 0)
    return joint_shape(shapes, ndim, 0)


def check_lengths(shapes, k, j):
    if k < len(shapes):
        if j == len(shapes[k]):
            check_lengths(shapes, k + 1, 0)
        else:
            if shapes[k][j] < 0:
                raise ValueError("negative dimensions are not allowed")
            check_lengths(shapes, k, j + 1)


def joint_shape(shapes, ndim, j):
    if j == ndim:
        return ()
    return (joint_length(shapes, ndim - j, 0, 1, 0),) + joint_shape(shapes, ndim, j + 1)


def joint_length(shapes, back, k, n, of):
    """The common length of the axis `back` positions from the end; n: that of the
    shapes before shape k; of: the number of the shape that has this length."""
    if k == len(shapes):
        return n
    if len(shapes[k]) < back:
        return joint_length(shapes, back, k + 1, n, of)
    m = int(shapes[k][len(shapes[k]) - back])
    if m != 1 and n != 1 and m != n:
        raise ValueError(f"shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg "
                         f"{of} with shape {text_of(shapes, of, 0)} and arg {k} with shape {shape_text(shapes[k], 0)}.")
    return joint_length(shapes, back, k + 1, n if m == 1 else m, of if m == 1 or n != 1 else k)


def text_of(shapes, of, k):
    if k + 1 == len(shapes) or k == of:
        return shape_text(shapes[k], 0)
    return text_of(shapes, of, k + 1)


def shape_text(shape, k):
    if len(shape) == 0:
        return "()"
    if k == len(shape):
        return ",)" if k == 1 else ")"
    return f"{'(' if k == 0 else ', '}{shape[k]}{shape_text(shape, k + 1)}"


CALLS = {
    np.split: _split("split"), np.array_split: _split("array_split"),
    np.hsplit: _split("hsplit", lambda n: 0 if n == 1 else 1), np.vsplit: _split("vsplit", lambda n: 0, 2),
    np.dsplit: _split("dsplit", lambda n: 2, 3), np.broadcast_arrays: _broadcast_arrays,
    np.broadcast_shapes: _broadcast_shapes,
}
if hasattr(np, "unstack"):  # NumPy 2.1
    CALLS[np.unstack] = _unstack
METHODS = {}
