"""Functions that apply a function: apply_along_axis, apply_over_axes, fromfunction, piecewise, vectorize; arrays from
iteration: fromiter.

The applied function is compiled into the loop.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.structure import METHOD_MAKE, TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, DType, Int, NoneType
from ....types.lattice import dtype_of
from ...build import compiled, is_sequence, type_name
from ...intrinsics import as_element, as_type
from ...rule import Constant, intrinsic, rule
from ..elementwise import elementwise
from ..shapes.views import each, elements, place
from ..arrays.creation import scalar_of
from ..arrays.positions import indices
from ..reductions.scans import check_axis
from ..shapes.splitting import spread

__all__ = ["CALLS", "METHODS", "call_vectorized", "common_shape", "rows_at"]


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


# ---------------------------------------------------------------- along axes


def apply_along_axis(func1d, axis, arr, *args):
    a = np.asarray(arr)
    return applied(func1d, np.moveaxis(a, check_axis(axis, a.ndim), -1), check_axis(axis, a.ndim), args)


def applied(f, rows, axis, args):
    outer = rows.shape[:-1]
    count = total(outer, 0)
    if count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = np.asarray(f(rows[place(outer, 0, len(outer))], *args))
    out = np.empty(outer + first.shape, first.dtype)
    out[place(outer, 0, len(outer)) + (...,)] = first
    for i in range(1, count):
        out[place(outer, i, len(outer)) + (...,)] = np.asarray(f(rows[place(outer, i, len(outer))], *args))
    return put_back(out, axis, len(outer), first.ndim)


def total(shape, j):
    return 1 if j == len(shape) else shape[j] * total(shape, j + 1)


def put_back(out, axis, at, n):
    """The result with the n axes from `at` on moved to `axis`."""
    if n == 0 or at == axis:
        return out
    return put_back(np.moveaxis(out, at, axis), axis + 1, at + 1, n - 1)


@rule("np.apply_over_axes")
def _apply_over_axes(func, a, axes: Constant):
    axes = axes if isinstance(axes, tuple) else (axes,)
    return Call(over_axes, func, a, Const(k.Tuple((Int,) * len(axes)), axes), Const(Int, 0))


def over_axes(func, a, axes, j):
    if not isinstance(a, np.ndarray):
        return over_axes(func, np.asarray(a), axes, j)
    if j == len(axes):
        return a
    return over_axes(func, restored(func(a, axes[j] + a.ndim if axes[j] < 0 else axes[j]), a.ndim, axes[j]), axes,
                     j + 1)


def restored(result, ndim, axis):
    """The result of a reduction with the reduced axis as an axis of length 1."""
    if not isinstance(result, np.ndarray):
        return restored(np.asarray(result), ndim, axis)
    if result.ndim == ndim:
        return result
    if result.ndim + 1 != ndim:
        raise ValueError("function is not returning an array of the correct shape")
    return np.expand_dims(result, axis)


# ---------------------------------------------------------------- from a function of indices


@rule("np.fromfunction")
def _fromfunction(function, shape, *, dtype=None, like=None, **kwargs):
    if kwargs:
        raise NotNative("np.fromfunction is compiled with the arguments function, shape and dtype",
                        "let the function capture the others")
    t = scalar_of(dtype) if dtype else k.float64
    return Call(of_indices, function, _tuple(elements(shape)), Const(DType(t), dtype_of(t)))


def of_indices(function, shape, dtype):
    grid = indices(shape, dtype)
    return function(*rows_of(grid, 0, len(shape)))


def rows_of(grid, j, n):
    return () if j == n else (grid[j],) + rows_of(grid, j + 1, n)


# ---------------------------------------------------------------- piecewise


@rule("np.piecewise")
def _piecewise(x, condlist, funclist, *more, **kw):
    if kw:
        raise NotNative("np.piecewise is compiled with x, condlist, funclist and arguments by position")
    conditions, functions = condlist, funclist
    if not is_sequence(functions.type):
        raise NotNative("the functions of np.piecewise must be written out", "write a list of functions and numbers")
    scalar = isinstance(x.type, Array) and x.type.ndim == 0 or k.is_number(x.type)
    if is_sequence(conditions.type):
        conditions = elements(conditions)
        if not scalar and conditions and k.is_number(conditions[0].type):
            conditions = [condlist]
    elif isinstance(conditions.type, Array) and conditions.type.ndim > 1:
        raise NotNative("np.piecewise with the conditions in one array is not compiled", "write a list of conditions")
    else:
        conditions = [conditions]
    functions, n = elements(functions), len(conditions)
    if len(functions) not in (n, n + 1):
        return Throw(ValueError, f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    return Call(pieces, x, _tuple(conditions), _tuple(functions), _tuple(more))


def pieces(x, conditions, functions, args):
    a = np.asarray(x)
    masks = as_masks(conditions, 0)
    if len(functions) > len(masks):
        masks = masks + (~either(masks, 0),)
    out = np.zeros_like(a)
    if a.ndim == 0:
        put_pieces(out[None], a[None], lifted(masks, 0), functions, args, 0)
    else:
        put_pieces(out, a, masks, functions, args, 0)
    return out


def as_masks(conditions, j):
    if j == len(conditions):
        return ()
    return (np.asarray(conditions[j], dtype=np.bool_),) + as_masks(conditions, j + 1)


def either(masks, j):
    return masks[j] if j + 1 == len(masks) else masks[j] | either(masks, j + 1)


def lifted(masks, j):
    return () if j == len(masks) else (np.ravel(np.asarray(masks[j])),) + lifted(masks, j + 1)


def put_pieces(out, a, masks, functions, args, j):
    if j < len(masks):
        f = functions[j]
        if isinstance(f, (int, float, complex, np.generic)):
            out[masks[j]] = f
        else:
            values = a[masks[j]]
            if values.size > 0:
                out[masks[j]] = f(values, *args)
        put_pieces(out, a, masks, functions, args, j + 1)


# ---------------------------------------------------------------- vectorize


@rule("np.vectorize")
def _vectorize(pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
    for name, x in (("excluded", excluded), ("signature", signature)):
        if x:
            raise NotNative(f"np.vectorize with {name}= is not compiled", "write the loop")
    if otypes:
        raise NotNative("np.vectorize with otypes= inside a compiled function is not compiled", "make it outside")
    return Apply(METHOD_MAKE, pyfunc, name="vectorize")


def call_vectorized(target: Expr, args, kwargs) -> Expr:
    """A call of np.vectorize(f): target is f, or the object when it was made outside."""
    if kwargs:
        raise NotNative("a function made by np.vectorize takes no keywords in compiled code")
    dtypes = Const(NoneType, None)
    function = target
    if isinstance(target.type, k.Singleton) and isinstance(target.type.value, np.vectorize):
        made = target.type.value
        if made.signature is not None or made.excluded:
            raise NotNative("np.vectorize with excluded= or signature= is not compiled", "write the loop")
        function = Const(k.Singleton(made.pyfunc), made.pyfunc)
        if made.otypes is not None:
            types = [scalar_of(Const(k.Str, code)) for code in made.otypes]
            dtypes = _tuple([Const(DType(t), dtype_of(t)) for t in types])
    if not args:
        raise Mismatch("cannot call `vectorize` without arguments")
    return Call(vectorized, function, _tuple(args), dtypes)


def vectorized(f, args, dtypes):
    arrays = each(np.asarray, args)
    shape = common_shape(arrays)
    if total(shape, 0) == 0:
        if dtypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        return results(new_empty(shape, dtypes, 0))
    spreads = each(spread, arrays, shape)
    first = as_results(f(*first_of(spreads, place(shape, 0, len(shape)), 0)))  # its types are those of the results
    outs = new_results(first, shape, dtypes, 0)
    put_calls(outs, spreads, f)
    return results(outs)


@intrinsic
def common_shape(arrays):
    """The common shape of arrays."""
    return _tuple(elementwise.shape_of(elements(arrays)))


def results(outs):
    return outs[0] if len(outs) == 1 else outs


def as_results(x):
    return x if isinstance(x, tuple) else (x,)


def new_empty(shape, dtypes, j):
    return () if j == len(dtypes) else (np.empty(shape, dtypes[j]),) + new_empty(shape, dtypes, j + 1)


def first_of(arrays, at, j):
    return () if j == len(arrays) else (arrays[j][at],) + first_of(arrays, at, j + 1)


def items_at(arrays, at, j):
    """The items of arrays as Python numbers, which NumPy passes to the function, too."""
    return () if j == len(arrays) else (arrays[j][at].item(),) + items_at(arrays, at, j + 1)


def new_results(first, shape, dtypes, j):
    if j == len(first):
        return ()
    return (np.empty(shape, np.asarray(first[j]).dtype if dtypes is None else dtypes[j]),
            ) + new_results(first, shape, dtypes, j + 1)


def put_calls(outs, arrays, f):
    if outs[0].ndim == 0:
        put_results(outs, (), as_results(f(*items_at(arrays, (), 0))), 0)
    elif outs[0].ndim == 1:
        for i in range(len(outs[0])):
            put_results(outs, (i,), as_results(f(*items_at(arrays, (i,), 0))), 0)
    else:
        for i in range(len(outs[0])):
            put_calls(rows_at(outs, i, 0), rows_at(arrays, i, 0), f)


def rows_at(arrays, i, j):
    return () if j == len(arrays) else (arrays[j][i],) + rows_at(arrays, i, j + 1)


def put_results(outs, at, values, j):
    if j < len(outs):
        outs[j][at] = as_type(values[j], outs[j].dtype)
        put_results(outs, at, values, j + 1)


# ---------------------------------------------------------------- from iteration


@rule("np.fromiter")
def _fromiter(iter, dtype, count=-1, *, like=None):
    t, x = scalar_of(dtype), iter
    if isinstance(x.type, Array) and x.type.ndim > 1:
        return Throw(ValueError, "setting an array element with a sequence.")
    if k.is_number(x.type):
        raise Mismatch(f"'{type_name(x.type)}' object is not iterable")
    return Call(collected, x, Const(DType(t), dtype_of(t)), count)


def collected(items, dtype, count):
    out = np.empty(count if count >= 0 else 8, dtype)
    n = 0
    if count != 0:
        for x in items:
            if n == len(out):
                more = np.empty(2 * n, dtype)
                more[:n] = out
                out = more
            out[n] = as_element(x, dtype)
            n += 1
            if n == count:
                break
    if n < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {n} items.")
    return out if n == len(out) else out[:n].copy()


CALLS = {
    np.apply_along_axis: compiled(apply_along_axis), np.apply_over_axes: _apply_over_axes,
    np.fromfunction: _fromfunction, np.piecewise: _piecewise, np.vectorize: _vectorize, np.fromiter: _fromiter,
}
METHODS = {}
