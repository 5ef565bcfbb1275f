"""Methods of ufuncs: outer, reduce, accumulate, reduceat, at.

NumPy is asked for the loop of a reduction, its start value and whether its axes may be reduced in any order. Sums,
products and the like are done by reductions.py; the loops here are for all other ufuncs, one axis after the other.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, Throw
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....ops.structure import TUPLE_GET
from ....types import kinds as k
from ....types.lattice import dtype_of, kind_of, numpy_counterpart
from ...build import outlined
from ...intrinsics import as_type, insert_axes
from ...rule import NONE, ArrayLike, Constant, rule
from . import elementwise
from ..reductions import reductions
from ..shapes.arrange import window
from ..arrays.creation import scalar_of
from .elementwise import constant_of, is_array
from ..indexing.indexing import flat_item, set_flat
from ..shapes.views import unaliased
from .ufuncs import fold_loop, loop, typed

__all__ = ["method"]

_REDUCTIONS = {np.add: "sum", np.multiply: "prod", np.minimum: "min", np.maximum: "max", np.logical_or: "any",
               np.logical_and: "all"}


def method(receiver: Expr, name: str, args, kwargs) -> Expr:
    function = receiver.type.value
    if function.signature:
        raise Mismatch("Reduction not defined on ufunc with signature", exception=RuntimeError)
    if name == "at":
        return _at([receiver, *args], kwargs)
    if function.nin != 2:
        raise Mismatch("outer product only supported for binary functions" if name == "outer" else
                       f"{name} only supported for binary functions", exception=ValueError)
    if name == "outer":
        return _outer([receiver, *args], kwargs)
    if function.nout != 1:
        raise Mismatch(f"{name} only supported for functions returning a single value", exception=ValueError)
    array = args[0] if args else kwargs.get("array")
    if name != "reduceat" and array is not None and not is_array(array) and len(args) + len(kwargs) == 1:
        # its numbers may be of two types
        return Call(of_sequence, receiver, Const(k.Bool, name == "reduce"), array)
    return _RULES[name]([receiver, *args], kwargs)


def of_sequence(f, reduce, a):
    return f.reduce(np.asarray(a)) if reduce else f.accumulate(np.asarray(a))


# ---------------------------------------------------------------- outer


@rule("np.ufunc.outer")
def _outer(ufunc, *operands, **options):
    if len(operands) != 2:
        raise Mismatch("exactly two arguments expected")
    return CallValue(constant_of(outer), ufunc, *operands, keywords=options)


def outer(f, x, y, out=None, where=True, casting="same_kind", order="K", dtype=None, subok=True):
    if isinstance(x, (tuple, list)):
        return outer(f, np.asarray(x), y, out, where, casting, order, dtype)
    if isinstance(y, (tuple, list)):
        return outer(f, x, np.asarray(y), out, where, casting, order, dtype)
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        if x.ndim == 1 and y.ndim == 1:
            x, y = copied_row(x), copied_row(y)
        x = extended(x, y.ndim)
    if out is None and where is True and dtype is None and casting == "same_kind" and order == "K":
        return f(x, y)
    return f(x, y, out=out, where=where, casting=casting, order=order, dtype=dtype)


@outlined
def copied_row(x):
    """A copy of an operand of `outer`, which is cheap next to the product. The result may then be written over the
    array of which x is a part (`a[:] = np.add.outer(a[0], a[1])`) without a temporary array."""
    fresh = np.empty(len(x), x.dtype)
    for i in range(len(x)):
        ARRAY_STORE(fresh, i, ARRAY_LOAD(x, i))
    return fresh


def extended(x, n):
    """x with n more axes of length 1 at the end."""
    return x if n == 0 else extended(x[..., None], n - 1)


# ---------------------------------------------------------------- reduce


def _place(out):
    """The array that `out` names, or None."""
    if out is not None and isinstance(out.type, k.Tuple):
        if len(out.type.elements) != 1:
            raise Mismatch("The 'out' tuple must have exactly one entry", exception=ValueError)
        out = Apply(TUPLE_GET, out, index=0)
    if out is not None and not is_array(out):
        raise Mismatch("output must be an array")
    return out


def _resolved(function, name, a, dtype, out):
    """(the loop of the reduction, the array for its result or None)"""
    out = _place(out)
    found = fold_loop(function, a.type.dtype, None if dtype is None else scalar_of(dtype), out and out.type.dtype)
    types = (*found.inputs, *found.outputs)
    if types[0] is not types[2] or name != "reduce" and types[0] is not types[1]:
        raise Mismatch(f"the resolved dtypes are not compatible with {function.__name__}.{name}. Resolved "
                       f"{tuple(map(dtype_of, types))}")
    if out is not None and not out.type.writable:
        return found, Throw(ValueError, "output array is read-only")
    return found, out


@rule("np.ufunc.reduce")
def _reduce(ufunc, array: ArrayLike, axis=0, dtype=None, out=None, keepdims: Constant = False, initial=...,
            where=np._NoValue):
    a, function = array, ufunc.type.value
    no_initial = initial.type is k.NoneType
    if no_initial or initial.type is k.Ellipsis_ or isinstance(initial.type, k.Singleton):
        initial = None
    axis = axis if axis.type is not k.NoneType else None
    name = _REDUCTIONS.get(function)
    if name and _place(out) is None and a.type.ndim and not no_initial and (
            dtype is None or name in ("sum", "prod")) and (initial is None or name not in ("any", "all")):
        return reductions.reduced(name, a, axis, dtype, None, keepdims, initial, where)
    found, out = _resolved(function, "reduce", a, dtype, out)
    if isinstance(out, Throw):
        return out
    axes = reductions.axes_given(axis, a.type.ndim)
    if isinstance(axes, Expr):
        return axes
    axes = tuple(range(a.type.ndim)) if axes is None else axes
    t, name = found.outputs[0], function.__name__
    if len(axes) > 1 and not _any_order(function, t):
        return Throw(ValueError,
                     f"reduction operation '{name}' is not reorderable, so at most one axis may be specified")
    keep = bool(keepdims)
    if out is not None and out.type.ndim != a.type.ndim - (0 if keep else len(axes)):
        more = " (must match the operand's when keepdims=True)" if keep else ""
        return Throw(ValueError, f"output parameter for reduction operation {name} has the wrong number of dimensions: "
                                 f"Found {out.type.ndim} but expected {a.type.ndim - (0 if keep else len(axes))}{more}")
    if where is not None and where.known and where.value is True:
        where = None
    start = (NONE if function.identity is None or no_initial
             else _dtype_constant(t, function.identity))
    if where is not None and start is NONE and initial is None:
        return Throw(ValueError, f"reduction operation '{name}' does not have an identity, so to use a where mask one "
                                 f"has to specify 'initial'")
    return Call(reduce, constant_of(typed(function, found)), Const(k.Str, name), a,
                Const(k.Tuple((k.Int,) * len(axes)), axes), Const(k.DType(t), dtype_of(t)), Const(k.Bool, keep), start,
                initial or NONE, where or NONE, out or NONE)


def _dtype_constant(t, value):
    return Const(t, np.array(value).astype(dtype_of(t))[()])


def _any_order(function, t):
    try:
        function.reduce(np.ones((1, 1), dtype_of(t)), axis=(0, 1))
    except (ValueError, TypeError):
        return False
    return True


def reduce(f, name, a, axes, t, keepdims, identity, initial, where, out):
    if where is not None:
        reductions.check_where(a, where)
        result = reduce_axes(f, name, a, axes, t, initial if identity is None else identity, initial,
                             np.broadcast_to(where, a.shape))
    else:
        result = reduce_axes(f, name, a, axes, t, identity, initial, None)
    if keepdims:
        result = (insert_axes(result, axes) if isinstance(result, np.ndarray) else np.full((1,) * a.ndim, result)
                  if a.ndim else result)
    if out is None:
        return result
    out[...] = result
    return out


def reduce_axes(f, name, a, axes, t, identity, initial, where):
    """The reduction along several axes, one after the other, the last one first; `initial` is used once."""
    if len(axes) == 0:
        if initial is None:
            return a[...].astype(t) if a.ndim else as_type(a[()], t)
        out = np.full(a.shape, reductions.first_value(initial, t))
        combine(f, out, a, where)
        return out if a.ndim else out[()]
    if len(axes) == 1:
        start = identity if initial is None else reductions.first_value(initial, t)
        return reduce_axis(f, name, a, axes[0], t, start, where)
    return reduce_axes(f, name, reduce_axis(f, name, a, axes[-1], t, identity, where), axes[:-1], t, identity, initial,
                       None)


def reduce_axis(f, name, a, axis, t, start, where):
    if start is None:
        n = a.shape[axis]
        if n == 0:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        first = np.moveaxis(a, axis, 0)[0]
        if a.ndim == 1:
            return fold_row(f, as_type(first, t), a[1:], None)
        out = first.astype(t)
        fold(f, out, window(a, axis, 1, n), axis, None)
        return out
    if a.ndim == 1:
        return fold_row(f, start, a, where)
    out = np.full(without(a.shape, axis, 0), start)
    fold(f, out, a, axis, where)
    return out


def without(shape, axis, j):
    if j == len(shape):
        return ()
    return (() if j == axis else (shape[j],)) + without(shape, axis, j + 1)


def fold_row(f, total, a, where):
    if where is None:
        for j in range(len(a)):
            total = f(total, a[j])
    else:
        for j in range(len(a)):
            if where[j]:
                total = f(total, a[j])
    return total


def fold(f, out, a, axis, where):
    """out = f(out, each item of a along the axis); a has one axis more than out."""
    if axis == 0:
        for i in range(len(a)):
            combine(f, out, a[i], where if where is None else where[i])
    elif a.ndim == 2:
        for i in range(len(a)):
            out[i] = fold_row(f, out[i], a[i], where if where is None else where[i])
    else:
        for i in range(len(a)):
            fold(f, out[i], a[i], axis - 1, where if where is None else where[i])


def combine(f, out, a, where):
    """out = f(out, a) element by element, where the mask is true."""
    if a.ndim == 0:
        if where is None or where[()]:
            out[()] = f(out[()], a[()])
    elif a.ndim == 1:
        for j in range(len(a)):
            if where is None or where[j]:
                out[j] = f(out[j], a[j])
    else:
        for i in range(len(a)):
            combine(f, out[i], a[i], where if where is None else where[i])


# ---------------------------------------------------------------- accumulate, reduceat


@rule("np.ufunc.accumulate")
def _accumulate(ufunc, array: ArrayLike, axis=0, dtype=None, out=None):
    return _along(ufunc.type.value, "accumulate", array, axis, dtype, out)


@rule("np.ufunc.reduceat")
def _reduceat(ufunc, array: ArrayLike, indices, axis=0, dtype=None, out=None):
    return _along(ufunc.type.value, "reduceat", array, axis, dtype, out, indices)


def _along(function, name, a, axis, dtype, out, indices=None):
    found, out = _resolved(function, name, a, dtype, out)
    if isinstance(out, Throw):
        return out
    t = found.outputs[0]
    if a.type.ndim == 0:
        raise Mismatch(f"cannot {name} on a scalar")
    axes = reductions.axes_of(axis if axis.type is not k.NoneType else None, a.type.ndim)
    if isinstance(axes, Expr):
        return axes
    if axes is None and a.type.ndim == 1:
        axes = (0,)
    if axes is None or len(axes) != 1:
        raise Mismatch(f"{name} does not allow multiple axes", exception=ValueError)
    axis = Const(k.Int, axes[0])
    fixed = [constant_of(typed(function, found)), a, axis, Const(k.DType(t), dtype_of(t)), out or NONE]
    if name == "accumulate":
        return Call(accumulate, *fixed)
    return Call(reduceat, *fixed, indices, Const(k.Str, function.__name__))


def accumulate(f, a, axis, t, out):
    if out is not None:
        out[...] = accumulate(f, a, axis, t, None)
        return out
    out = np.empty(a.shape, t)
    if a.shape[axis] != 0:
        run(f, out, a, axis)
    return out


def run(f, out, a, axis):
    if a.ndim == 1:
        total = as_type(a[0], out.dtype)
        out[0] = total
        for j in range(1, len(a)):
            total = f(total, a[j])
            out[j] = total
    elif axis == 0:
        out[0] = a[0]
        for i in range(1, len(a)):
            next_row(f, out[i], out[i - 1], a[i])
    else:
        for i in range(len(a)):
            run(f, out[i], a[i], axis - 1)


def next_row(f, out, before, a):
    if a.ndim == 1:
        for j in range(len(a)):
            out[j] = f(before[j], a[j])
    else:
        for i in range(len(a)):
            next_row(f, out[i], before[i], a[i])


def reduceat(f, a, axis, t, out, indices, name):
    if out is not None:
        out[...] = reduceat(f, a, axis, t, None, indices, name)
        return out
    if not isinstance(indices, np.ndarray):
        return reduceat(f, a, axis, t, None, np.asarray(indices), name)
    n = a.shape[axis]
    for i in range(len(indices)):
        if not 0 <= indices[i] < n:
            raise IndexError(f"index {indices[i]} out-of-bounds in {name}.reduceat [0, {n})")
    if a.ndim == 1:
        out = np.empty(len(indices), t)
        for i in range(len(indices)):
            start, stop = int(indices[i]), int(indices[i + 1]) if i + 1 < len(indices) else n
            out[i] = fold_row(f, as_type(a[start], t), a[start + 1:max(stop, start + 1)], None)
        return out
    moved = np.moveaxis(a, axis, 0)
    out = np.empty((len(indices),) + moved.shape[1:], t)
    for i in range(len(indices)):
        start, stop = int(indices[i]), int(indices[i + 1]) if i + 1 < len(indices) else n
        out[i] = moved[start]
        fold(f, out[i], moved[start + 1:max(stop, start + 1)], 0, None)
    return np.ascontiguousarray(np.moveaxis(out, 0, axis))


# ---------------------------------------------------------------- at


@rule("np.ufunc.at")
def _at(ufunc, a, indices, operand=None, /):
    function = ufunc.type.value
    if function.nout != 1:
        raise Mismatch("Only single output ufuncs supported at this time", exception=ValueError)
    if function.nin == 1 and operand:
        raise Mismatch("second operand provided when ufunc is unary", exception=ValueError)
    if function.nin == 2 and not operand:
        raise Mismatch("second operand needed for ufunc", exception=ValueError)
    if not is_array(a):
        raise Mismatch("first operand must be array")
    if not a.type.writable:
        return Throw(ValueError, "array is read-only")
    for one in indices.type.elements if isinstance(indices.type, k.Tuple) else (indices.type,):
        item = one.dtype if isinstance(one, k.Array) else one.item if isinstance(one, k.List) else None
        if item is not None and k.is_number(item) and kind_of(item) not in "biu":
            raise Mismatch("arrays used as indices must be of integer (or boolean) type", exception=IndexError)
    operand = operand or NONE
    if isinstance(operand.type, (k.Tuple, k.Struct, k.List)):
        return CallValue(constant_of(at_sequence), constant_of(function), a, indices, operand)
    types = (a.type.dtype,)
    if operand is not NONE:
        t = elementwise.element_type(operand)
        types += (numpy_counterpart(t) if k.is_python_number(t) else t,)  # Python's numbers are not weak here
    found = loop(function, types)  # the result is converted as assignment converts
    return Call(at, constant_of(typed(function, found)), a, indices, operand)


def at_sequence(f, a, indices, operand):
    f.at(a, indices, np.asarray(operand))


def at(f, a, indices, operand):
    """Do a[indices] = f(a[indices], operand) for every index in turn, so that repeated indices take effect each
    time."""
    if isinstance(indices, (tuple, list)) and a.ndim == 1 and not isinstance(indices, tuple):
        at(f, a, np.asarray(indices), operand)
    elif a.ndim == 1 and isinstance(indices, np.ndarray) and indices.ndim == 1 and indices.dtype.kind != "b":
        n = len(a)
        places = np.empty(len(indices), np.int64)  # a copy, since the indices may be in the array that is written
        for i in range(len(indices)):
            j = int(indices[i])
            if not -n <= j < n:
                raise IndexError(f"index {j} is out of bounds for axis 0 with size {n}")
            ARRAY_STORE(places, i, np.int64(j + n if j < 0 else j))
        values = spread(operand, a, places)
        for i in range(len(places)):
            j = int(ARRAY_LOAD(places, i))
            a[j] = as_type(step(f, a[j], values, i), a.dtype)
    else:
        places = np.arange(a.size).reshape(a.shape)[indices]
        if isinstance(places, np.ndarray):
            values = spread(operand, a, places)
            flat = np.ravel(places)
            for i in range(len(flat)):
                j = int(flat[i])
                set_flat(a, j, as_type(step(f, flat_item(a, j), values, i), a.dtype))
        else:
            values = spread(operand, a, np.zeros(1, np.int64))
            set_flat(a, int(places), as_type(step(f, flat_item(a, int(places)), values, 0), a.dtype))


def step(f, x, values, i):
    if values is None:
        return f(x)
    if isinstance(values, np.ndarray):
        return f(x, values[i])
    return f(x, values)


def spread(operand, a, places):
    """The operand repeated for each index, as a 1-d array; a copy where it shares memory with the array that is
    written."""
    if not isinstance(operand, np.ndarray):
        return operand
    if operand.ndim > places.ndim or not fits(operand.shape, places.shape, 1):
        raise ValueError("array is not broadcastable to correct shape")
    return np.ravel(np.broadcast_to(unaliased(operand, a), places.shape))


def fits(shape, target, j):
    """Whether a shape can be broadcast to the target, which has at least as many axes."""
    if j > len(shape):
        return True
    return (shape[-j] == 1 or shape[-j] == target[-j]) and fits(shape, target, j + 1)


_RULES = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat}
