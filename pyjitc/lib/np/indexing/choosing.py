"""Choosing elements among arrays, and indices of grids: choose, select, ix_, unravel_index, ravel_multi_index."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.memory import ARRAY_STORE
from ....ops.structure import TUPLE_MAKE
from ....runtime.repeatable import works_on_operands
from ....types import kinds as k
from ....types.kinds import Array, DType, Int, NpBool, NpInt, is_integer
from ....types.lattice import dtype_of, kind_of, numpy_counterpart
from ...build import is_sequence, promoted, a_type
from ...protocol import by_python
from ...rule import Constant, methods, rule
from ...intrinsics import as_type
from ..elementwise import elementwise
from ..shapes.arrange import stretch
from ..shapes.views import each, elements
from .indexing import arrayed
from ..sorting.searching import flatnonzero
from ..shapes.splitting import joint_shape_of

__all__ = ["CALLS", "METHODS"]


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def _common(name, parts):
    """The common dtype of several operands; Python numbers are weak, as in NumPy's arithmetic."""
    for x in parts:
        if not isinstance(x.type, Array) and not k.is_scalar(x.type):
            raise NotNative(f"np.{name} of {a_type(x.type)} is not compiled", "use arrays and numbers")
    t = parts[0].type.dtype if isinstance(parts[0].type, Array) else parts[0].type
    for x in parts[1:]:
        t = promoted(t, x.type.dtype if isinstance(x.type, Array) else x.type)
    for x in parts if name == "select" else ():
        one = x.type.dtype if isinstance(x.type, Array) else x.type
        if k.is_time(one) and kind_of(one) != kind_of(t):
            raise Mismatch(f"Cannot cast array data from {dtype_of(one)!r} to {dtype_of(t)!r} according to the rule "
                           "'same_kind'")
    return numpy_counterpart(t) if not k.is_numpy_scalar(t) else t


def _dtype(t):
    return Const(DType(t), dtype_of(t))


def _shape_of(parts):
    """The broadcast shape of the arrays among the operands, as a tuple."""
    arrays = [x for x in parts if isinstance(x.type, Array)]
    return _tuple(elementwise.shape_of(arrays)) if arrays else Const(k.Tuple(()), ())


def stretched(parts, shape, j):
    """The operands from number j on: arrays broadcast to this shape, and numbers."""
    if j == len(parts):
        return ()
    if isinstance(parts[j], np.ndarray) and parts[j].ndim > 0:
        return (stretch(parts[j], shape),) + stretched(parts, shape, j + 1)
    if isinstance(parts[j], np.ndarray):
        return (parts[j][()],) + stretched(parts, shape, j + 1)
    return (parts[j],) + stretched(parts, shape, j + 1)


def at(parts, i, j):
    """The tuple of the item i of every operand."""
    if j == len(parts):
        return ()
    return (parts[j][i] if isinstance(parts[j], np.ndarray) else parts[j],) + at(parts, i, j + 1)


# ---------------------------------------------------------------- choose


def wrapped(j, n, mode, what):
    if mode == "wrap":
        return j % n
    if mode == "clip":
        return 0 if j < 0 else n - 1 if j >= n else j
    if j < 0 or j >= n:
        raise ValueError(f"invalid entry in {what} array")
    return j


def one_of(j, parts, dtype, k):
    if k == len(parts) - 1:
        return as_type(parts[k], dtype)
    if j == k:
        return as_type(parts[k], dtype)
    return one_of(j, parts, dtype, k + 1)


def fill_chosen(out, which, parts, mode):
    if out.ndim == 0:
        out[()] = one_of(wrapped(int(which), len(parts), mode, "choice"), parts, out.dtype, 0)
    else:
        for i in range(len(out)):
            if out.ndim == 1:
                j = int(which[i] if isinstance(which, np.ndarray) else which)
                ARRAY_STORE(out, i, one_of(wrapped(j, len(parts), mode, "choice"), at(parts, i, 0), out.dtype, 0))
            else:
                fill_chosen(out[i], which[i] if isinstance(which, np.ndarray) else which, at(parts, i, 0), mode)


def chosen_from(shape, dtype, which, choices, mode):
    out = np.empty(shape, dtype)
    everything = stretched((which,) + choices, shape, 0)
    fill_chosen(out, everything[0], everything[1:], mode)
    return out[()] if out.ndim == 0 else out


def _rows(x: Expr, name: str):
    if not is_sequence(x.type):
        raise NotNative(f"np.{name} of choices in one array is not compiled", "write a tuple of arrays")
    return elements(x)


@rule("np.choose")
def _choose(a, choices, out=None, mode: Constant = "raise"):
    which = arrayed(a)
    if out:
        raise NotNative("np.choose with out= is not compiled", "write out[...] = np.choose(...)")
    if mode not in ("raise", "wrap", "clip"):
        raise NotNative("mode= of np.choose must be the constant 'raise', 'wrap' or 'clip'")
    choices = _rows(choices, "choose")
    if not choices:
        return Throw(ValueError, "invalid entry in choice array")
    t = which.type
    kind = None if t is None else t.dtype if isinstance(t, Array) else t
    if kind is not None and not (isinstance(kind, NpInt) or kind is NpBool or is_integer(kind)):
        raise Mismatch(f"np.choose takes an array of integers first, not {a_type(t)}")
    if kind is k.uint64:
        raise Mismatch("Cannot cast array data from dtype('uint64') to dtype('int64') according to the rule 'safe'")
    dtype = _common("choose", choices)
    if which.type is None:
        raise NotNative("np.choose with a list of indices is not compiled", "make an array of it")
    return Call(chosen_from, _shape_of([which, *choices]), _dtype(dtype), which, _tuple(choices), Const(k.Str, mode))


# ---------------------------------------------------------------- select


def fill_first(out, conditions, choices):
    for i in range(len(out)):
        if out.ndim == 1:
            ARRAY_STORE(out, i, first_true(at(conditions, i, 0), at(choices, i, 0), out.dtype, 0))
        else:
            fill_first(out[i], at(conditions, i, 0), at(choices, i, 0))


def first_true(conditions, choices, dtype, j):
    if j == len(conditions):
        return as_type(choices[j], dtype)
    if conditions[j]:
        return as_type(choices[j], dtype)
    return first_true(conditions, choices, dtype, j + 1)


def select(conditions, choices, dtype, axes, axes_of_choices):
    """np.select: the conditions are broadcast together, then the choices, then both."""
    first = joint_shape_of(each(np.shape, conditions), axes)
    second = joint_shape_of(each(np.shape, choices), axes_of_choices)
    return selected(joint_shape_of((first, second), max(axes, axes_of_choices)), dtype, conditions, choices)


def selected(shape, dtype, conditions, choices):
    out = np.empty(shape, dtype)
    if len(shape) == 0:
        out[()] = first_true(stretched(conditions, shape, 0), stretched(choices, shape, 0), dtype, 0)
    else:
        fill_first(out, stretched(conditions, shape, 0), stretched(choices, shape, 0))
    return out


@rule("np.select")
def _select(condlist, choicelist, default=0):
    conditions, choices = _rows(condlist, "select"), _rows(choicelist, "select")
    if len(conditions) != len(choices):
        return Throw(ValueError, "list of cases must be same length as list of conditions")
    if not conditions:
        return Throw(ValueError, "select with an empty condition list is not possible")
    for i, x in enumerate(conditions):
        t = x.type.dtype if isinstance(x.type, Array) else x.type
        if t is not NpBool and t is not k.Bool:
            return Throw(TypeError, f"invalid entry {i} in condlist: should be boolean ndarray")
    choices.append(default)
    dtype = _common("select", choices)
    axes = [Const(Int, max(x.type.ndim if isinstance(x.type, Array) else 0 for x in parts))
            for parts in (conditions, choices)]
    return Call(select, _tuple(conditions), _tuple(choices), _dtype(dtype), *axes)


# ---------------------------------------------------------------- ix_


def axis_of(x, n, j):
    if x.ndim != 1:
        raise ValueError("Cross index must be 1 dimensional")
    places = flatnonzero(x) if x.dtype == np.bool_ else x
    return places.reshape((1,) * j + (len(places),) + (1,) * (n - 1 - j))


@rule("np.ix_")
def _ix(*args):
    for x in args:
        if not isinstance(x.type, Array) and not is_sequence(x.type):
            raise NotNative(f"np.ix_ of {a_type(x.type)} is not compiled", "use arrays or lists of integers")
    return _tuple([Call(axis_of, arrayed(x), Const(Int, len(args)), Const(Int, j)) for j, x in enumerate(args)])


# ---------------------------------------------------------------- flat indices and grids


def volume(dims, j):
    if j == len(dims):
        return 1
    return dims[j] * volume(dims, j + 1)


def coordinates(i, dims, order, total):
    if i < 0 or i >= total:
        raise ValueError(f"index {i} is out of bounds for array with size {total}")
    return from_first(i, dims, 0) if order == "F" else from_last(i, dims, len(dims))


def from_last(i, dims, j):
    if j == 0:
        return ()
    return from_last(i // dims[j - 1], dims, j - 1) + (np.int64(i % dims[j - 1]),)


def from_first(i, dims, j):
    if j == len(dims):
        return ()
    return (np.int64(i % dims[j]),) + from_first(i // dims[j], dims, j + 1)


def columns(shape, n):
    if n == 0:
        return ()
    return (np.empty(shape, np.int64),) + columns(shape, n - 1)


def put_each(outs, i, values, j):
    if j < len(outs):
        ARRAY_STORE(outs[j], i, values[j])
        put_each(outs, i, values, j + 1)


def fill_coordinates(outs, x, dims, order, total):
    for i in range(len(x)):
        if x.ndim == 1:
            put_each(outs, i, coordinates(int(x[i]), dims, order, total), 0)
        else:
            fill_coordinates(at(outs, i, 0), x[i], dims, order, total)


def unraveled(x, dims, order):
    total = volume(dims, 0)
    if not isinstance(x, np.ndarray):
        return coordinates(int(x), dims, order, total)
    if x.ndim == 0:
        return coordinates(int(x[()]), dims, order, total)
    outs = columns(x.shape, len(dims))
    fill_coordinates(outs, x, dims, order, total)
    return outs


def _dims(x: Expr):
    parts = elements(x) if is_sequence(x.type) else [x]
    for p in parts:
        if not is_integer(p.type):
            raise Mismatch("the shape must be a tuple of integers")
    return Call(as_ints, _tuple(parts))


def as_ints(x):
    return each(int, x)


def _order(order):
    if order not in ("C", "F"):
        raise NotNative("order= must be the constant 'C' or 'F'")
    return Const(k.Str, order)


def _integers(x: Expr):
    x = arrayed(x)
    t = x.type
    if t is None:
        raise NotNative("a list of indices is not compiled here", "make an array of it")
    if not (isinstance(t, Array) and isinstance(t.dtype, NpInt) or is_integer(t) or kind_of(t) in "iu"):
        raise Mismatch("only int indices permitted")
    return x


@rule("np.unravel_index")
def _unravel_index(indices, shape, order: Constant = "C"):
    return Call(unraveled, _integers(indices), _dims(shape), _order(order))


def flat_of(index, dims, modes, order, j, total):
    """Horner's scheme from the slowest axis."""
    if j == len(dims):
        return total
    a = len(dims) - 1 - j if order == "F" else j
    i = wrapped(int(index[a]), dims[a], modes[a], "coordinates")
    return flat_of(index, dims, modes, order, j + 1, total * dims[a] + i)


def fill_flat(out, index, dims, modes, order):
    for i in range(len(out)):
        if out.ndim == 1:
            ARRAY_STORE(out, i, np.int64(flat_of(at(index, i, 0), dims, modes, order, 0, 0)))
        else:
            fill_flat(out[i], at(index, i, 0), dims, modes, order)


def raveled(shape, index, dims, modes, order):
    everything = stretched(index, shape, 0)
    if len(shape) == 0:
        return np.int64(flat_of(everything, dims, modes, order, 0, 0))
    out = np.empty(shape, np.int64)
    fill_flat(out, everything, dims, modes, order)
    return out


works_on_operands(np.ravel_multi_index)


@rule("np.ravel_multi_index")
def _ravel_multi_index(multi_index, dims, mode: Constant = "raise", order: Constant = "C"):
    t = multi_index.type
    if isinstance(t, Array) and isinstance(t.dtype, NpInt) and t.ndim in (1, 2) and isinstance(mode, str):
        # how many axes the indices are for is known at run time only
        return by_python(np.ravel_multi_index, multi_index, dims, Const(k.Str, mode), _order(order),
                         type=k.int64 if t.ndim == 1 else Array(k.int64, 1))
    if not is_sequence(t):
        raise NotNative(f"np.ravel_multi_index of {a_type(t)} is not compiled", "write a tuple of arrays")
    parts = [_integers(x) for x in elements(multi_index)]
    n = len(elements(dims)) if is_sequence(dims.type) else 1
    if n != len(parts):
        return Throw(ValueError, f"parameter multi_index must be a sequence of length {n}")
    modes = mode if isinstance(mode, tuple) else (mode,) * n
    if len(modes) != n or any(m not in ("raise", "wrap", "clip") for m in modes):
        raise NotNative("mode= of np.ravel_multi_index must be 'raise', 'wrap' or 'clip', or one for each axis")
    return Call(raveled, _shape_of(parts), _tuple(parts), _dims(dims), Const(k.Tuple((k.Str,) * n), tuple(modes)),
                _order(order))


CALLS = {np.choose: _choose, np.select: _select, np.ix_: _ix, np.unravel_index: _unravel_index,
         np.ravel_multi_index: _ravel_multi_index}
METHODS = methods(choose=_choose)
