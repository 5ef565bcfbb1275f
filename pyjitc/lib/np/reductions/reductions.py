"""Reductions of arrays: sum, prod, min, max, any, all, mean, var, std and functions that use them, with axis, keepdims,
dtype, initial, where and out. The loops are templates (folds.py), so producers of the operand fuse into them."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, Nest, NotConstant, NotNative, Throw
from ....ops.memory import ARRAY_VIEW
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import DType, NoneType
from ....types.lattice import dtype_of, kind_of
from ...build import NUMPY, a_type, compiled, is_sequence, list_item, outlined, type_name
from ...rule import Constant, NONE, intrinsic, methods, rule
from ...intrinsics import (
    as_element, as_type, combine_with, fold, identity, insert_axes, mean_type, nan_identity, warn,
)
from ..elementwise import elementwise, loops
from . import folds
from ..shapes import views
from ..arrays.creation import scalar_of
from ..indexing.masks import count_true
from ..elementwise.ufuncs import fold_loop

__all__ = ["CALLS", "EMPTY", "METHODS", "RULES", "axes_of", "refuse_axis", "any_element"]

AxisError = np.exceptions.AxisError
EMPTY = "Mean of empty slice." if NUMPY < (2, 4) else "Mean of empty slice"
_COUNT = type(np.count_nonzero(np.zeros(1)))  # the result is an int before NumPy 2.3


def refuse_axis(t) -> None:
    """The error for an axis argument of type t, which is neither an axis nor a tuple of axes."""
    if isinstance(t, k.Array) and (t.ndim or not k.is_integer(t.dtype)):
        raise Mismatch("only integer scalar arrays can be converted to a scalar index",
                       "this argument is the axis; several arrays go into a tuple, as in np.concatenate((a, b))")
    if not isinstance(t, k.Array) and k.is_scalar(t) and not k.is_integer(t):
        raise Mismatch(f"'{type_name(t)}' object cannot be interpreted as an integer")


def axes_of(axis: Expr | None, ndim: int, name: str | None = None):
    """The axes to reduce, sorted; None for all; or an expression that raises for a wrong axis. name: the argument in
    its message."""
    if axis is None:
        return None
    parts = None
    if isinstance(axis.type, k.Tuple) and (axis.known or all(e is k.Int for e in axis.type.elements)):
        parts = axis.value if axis.known else None
    elif axis.known and type(axis.value) is int or isinstance(axis.value, np.integer):
        parts = (int(axis.value),)
    if parts is None:
        refuse_axis(axis.type)
        raise NotConstant("the axis must be known at compile time", "write a tuple of constants"
                          if isinstance(axis.type, k.Struct) else "write it as a constant")
    found = []
    for n in parts:
        if not -ndim <= n < ndim:
            return Call(wrong_axis, Const(k.Int, n), Const(k.Int, ndim), Const(k.Str, name) if name
                        else Const(NoneType, None))
        found.append(n % ndim)
    if len(set(found)) != len(found):
        return Throw(ValueError, "duplicate value in 'axis'")
    return tuple(sorted(found))


def axes_given(axis: Expr | None, ndim: int):
    """The axes of `ufunc.reduce`, which accepts axis 0 or -1 for a number."""
    if ndim == 0 and axis is not None and type(axis.value) is int and axis.value in (0, -1):
        axis = None
    return axes_of(axis, ndim)


def is_found_at_run_time(axis: Expr | None, a: Expr) -> bool:
    """Whether an axis is a number that is known only at run time. The functions then reduce the first axis of
    `axis_first(a, axis)`."""
    return axis is not None and not axis.known and k.is_integer(axis.type) and a.type.ndim > 0


def axis_first(a, axis):
    """The array with an axis moved to the front."""
    place = int(axis)
    if not -a.ndim <= place < a.ndim:
        wrong_axis(place, a.ndim)
    if place < 0:
        place += a.ndim
    return seen_along(a, (a.shape[place],) + others(a.shape, place, 0),
                      (a.strides[place],) + others(a.strides, place, 0))


@intrinsic
def seen_along(a, shape, strides):
    """The view of an array with another order of its axes, which is given by the shape and the strides."""
    t = k.Array(a.type.dtype, a.type.ndim, "A", False, a.type.aligned)
    return Apply(ARRAY_VIEW, a, views.ZERO, *views.elements(shape), *views.elements(strides), type=t)


def others(items, k, j):
    """The items except item k, in their order."""
    if j == len(items) - 1:
        return ()
    return (items[j + int(j >= k)],) + others(items, k, j + 1)


def wrong_axis(axis, ndim, name=None):
    raise AxisError(axis, ndim, name)


def _sum_type(t):
    if t is k.bool_ or isinstance(t, k.NpInt) and t.bits < 64:
        return k.uint64 if isinstance(t, k.NpInt) and not t.signed else k.int64
    return t


_TYPES = {"sum": _sum_type, "prod": _sum_type, "any": lambda t: k.bool_, "all": lambda t: k.bool_}
_UFUNC_NAMES = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum", "any": "logical_or",
                "all": "logical_and"}
_UFUNCS = {"min": "minimum", "max": "maximum"}


def _text(value):
    return Const(k.Str, value)


def _sum(how):
    @rule(f"np.{how}")
    def found(a, axis=None, dtype=None, out=None, keepdims: Constant = np._NoValue, initial=np._NoValue,
              where=np._NoValue):
        return reduced(how, a, axis, dtype, out, keepdims, initial, where)

    return found


def _extreme(how):
    @rule(f"np.{how}")
    def found(a, axis=None, out=None, keepdims: Constant = np._NoValue, initial=np._NoValue, where=np._NoValue):
        return reduced(how, a, axis, None, out, keepdims, initial, where)

    return found


def _truth(how):
    @rule(f"np.{how}")
    def found(a, axis=None, out=None, keepdims: Constant = np._NoValue, *, where=np._NoValue):
        return reduced(how, a, axis, None, out, keepdims, None, where)

    return found


def of_sequences(function, arrays):
    """The rule of a function that accepts numbers, tuples and lists, too; `arrays`: its rule for arrays."""

    def of_any(args, kwargs):
        a = args[0] if args else kwargs.get("a")
        if a is not None and (k.is_scalar(a.type) or is_sequence(a.type) or list_item(a.type) is not None):
            whole = CallValue(elementwise.constant_of(np.asarray), a)
            if args:
                return CallValue(elementwise.constant_of(function), whole, *args[1:], keywords=kwargs)
            return CallValue(elementwise.constant_of(function), keywords={**kwargs, "a": whole})
        return arrays(args, kwargs)

    return of_any


def check_out(out, how, ndim, keepdims):
    """A Throw or Mismatch where the result cannot be stored in `out`, else None. Reductions convert to any dtype."""
    name = _UFUNC_NAMES[how]
    if not elementwise.is_array(out):
        raise Mismatch("output must be an array")
    if out.type.ndim != ndim:
        return Throw(ValueError, f"output parameter for reduction operation {name} has the wrong number of "
                                 f"dimensions: Found {out.type.ndim} "
                     f"but expected {ndim}" + (" (must match the operand's when keepdims=True)" if keepdims else ""))
    return None if out.type.writable else Throw(ValueError, "output array is read-only")


def reduced(how, a, axis, dtype, out, keepdims, initial, where):
    if not elementwise.is_array(a):
        raise NotNative(f"np.{how} of {a_type(a.type)} is not compiled")
    if not keepdims and where is None and is_found_at_run_time(axis, a):
        given = {"dtype": dtype, "out": out, "initial": initial}
        return CallValue(elementwise.constant_of(getattr(np, how)), Call(axis_first, a, axis), keywords={
            "axis": Const(k.Int, 0), **{name: x for name, x in given.items() if x is not None}})
    axes = axes_given(axis, a.type.ndim)
    if isinstance(axes, Expr):
        return axes
    source = a.type.dtype
    keep = bool(keepdims)
    t = scalar_of(dtype) if dtype else _TYPES.get(how, lambda t: t)(source)
    if t is not source and how not in ("any", "all") and (k.is_time(t) or k.is_time(source)):
        raise NotNative(f"np.{how} of {source} as {t} is not compiled", "convert with a.astype(...) first")
    if out:
        if how in ("sum", "prod") and elementwise.is_array(out):
            t = fold_loop(np.add if how == "sum" else np.multiply, source, t if dtype else None,
                          out.type.dtype).outputs[0]
        wrong = check_out(out, how, a.type.ndim if keep else 0 if axes is None else a.type.ndim - len(axes),
                          keep)
        if wrong is not None:
            return wrong
    # NumPy adds and multiplies float16 in single precision where its inner loop runs over the elements of one result
    inner = axes is None or a.type.ndim - 1 in axes
    wide = k.float32 if t is k.float16 and how in ("sum", "prod") and inner else t
    if where is not None and where.known and where.value is True:
        where = None
    if where is not None and how in ("min", "max") and initial is None:
        return Throw(ValueError,
                     f"reduction operation '{_UFUNCS[how]}' does not have an identity, so to use a where mask "
                     "one has to specify 'initial'")
    if initial is not None and k.is_time(initial.type) and not k.is_time(t):
        raise NotNative(f"{a_type(initial.type)} as the initial value of numbers is not compiled")
    parts = [_text(how), a, Const(k.Tuple(()), ()) if axes is None else Const(k.Tuple((k.Int,) * len(axes)), axes),
             Const(k.Bool, axes is None), Const(DType(wide), dtype_of(wide)), Const(DType(t), dtype_of(t)),
             Const(k.Bool, keep), initial or NONE, where or NONE, out or NONE]
    half = t is k.float16 and how in ("sum", "prod") and not inner and where is None and out is None
    return Call(reduce_half if half else reduce_, *parts)


def reduce_half(how, a, axes, every, wide, t, keepdims, initial, where, out):
    """reduce_ of float16 along axes before the last. NumPy leaves out axes of length 1, so that another axis may be the
    last."""
    if a.shape[-1] != 1:
        return reduce_(how, a, axes, every, wide, t, keepdims, initial, where, out)
    rows = a[..., 0]
    if how == "sum":
        found = np.sum(rows, axes, t, None, keepdims, 0.0 if initial is None else initial)
    else:
        found = np.prod(rows, axes, t, None, keepdims, 1.0 if initial is None else initial)
    return np.expand_dims(np.asarray(found), -1)


def reduce_(how, a, axes, every, wide, t, keepdims, initial, where, out):
    if where is not None:
        check_where(a, where)
    if how == "min" or how == "max":
        if initial is None:
            check_not_empty(a, axes, every, how)
    if every or len(axes) == a.ndim:
        result = as_type(fold(how, a, where, wide), t)
        if initial is not None:
            result = combine_with(how, first_value(initial, t), result)
        if keepdims and a.ndim:
            result = np.full((1,) * a.ndim, result)
    else:
        result = fold_along(how, a, axes, where, wide, t)
        if initial is not None:
            first = first_value(initial, t)
            result = np.add(result, first) if how == "sum" else np.multiply(result, first) if how == "prod" else (
                np.minimum(result, first) if how == "min" else np.maximum(result, first))
        if keepdims:
            result = insert_axes(result, axes)
    if out is None:
        return result
    out[...] = result
    return out


def fold_along(how, a, axes, where, wide, t):
    result = fold(how, a, where, wide, axes)
    if wide == t:
        return result
    return result.astype(t)


def first_value(initial, t):
    """The value with which a reduction in the dtype t starts, converted as by an assignment."""
    return as_type(as_element(initial, t), t)


def check_where(a, where):
    """Raise what NumPy raises where the mask of a reduction is not broadcast to the operand."""
    if isinstance(where, np.ndarray):
        if where.ndim > a.ndim:
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        shape = mask_shape(a.shape, where.shape, a.ndim - where.ndim, 0)
        if shape != a.shape:
            raise ValueError(f"non-broadcastable operand with shape {views.shape_text(a.shape)} doesn't match the "
                             f"broadcast shape {views.shape_text(shape)}")


def mask_shape(shape, mask, more, j):
    """The shape to which an operand and a mask, which has `more` axes less, are broadcast, from axis j on."""
    if j == len(shape):
        return ()
    n = shape[j]
    if j >= more and mask[j - more] != 1:
        if n != 1 and n != mask[j - more]:
            raise ValueError(f"operands could not be broadcast together with remapped shapes [original->remapped]: "
                             f"{views.shape_text(shape)} {views.shape_text(mask)} ")
        n = mask[j - more]
    return (n,) + mask_shape(shape, mask, more, j + 1)


def check_not_empty(a, axes, every, how):
    if every:
        raise_for_none(a.size, how)
    else:
        check_row(reduced_size(a.shape, axes, 0), how)


@outlined
def check_row(n, how):
    """Raise ValueError if a row has no element. It is not inlined: where LLVM knows that a row has an element, it does
    not vectorise the loop that finds the extreme (`softmax` of the suite `npbench`)."""
    raise_for_none(n, how)


def raise_for_none(n, how):
    if n == 0:
        raise ValueError(f"zero-size array to reduction operation {'minimum' if how == 'min' else 'maximum'} which "
                         f"has no identity")


def reduced_size(shape, axes, k):
    if k == len(axes):
        return 1
    return shape[axes[k]] * reduced_size(shape, axes, k + 1)


@rule("fold")
def _fold(how, a, where, dtype, *axes):
    """fold(how, a, where, dtype[, axes]): the nest."""
    t = dtype.type.scalar
    operands = [a]
    if where.type is not NoneType:
        operands.append(where)
        kernel, fixed = loops.pick, [how, dtype]
    elif how.value in ("any", "all"):
        kernel, fixed = loops.truth, []
    else:
        kernel, fixed = loops.cast0, [dtype]
    shape = elementwise.shape_of(operands)
    if a.type.ndim == 0 and where.type is not NoneType:
        return Call(loops.pick, how, dtype, *map(elementwise.item, operands))
    if a.type.ndim == 0:
        if how.value in ("any", "all"):
            return Call(loops.truth, elementwise.item(a))
        alone = Call(loops.cast0, dtype, elementwise.item(a))
        # adding the neutral 0.0 makes -0.0 0.0
        return Call(folds.combine, how, Call(identity, how, dtype), alone) if how.value == "sum" else alone
    template, more = folds.folded, []
    turned = where.type is NoneType and a.type.layout == "F" and a.type.ndim > 1  # in the order of memory, as in NumPy
    if turned:
        operands = [elementwise.views.transpose(a)]
        shape.reverse()
    if axes:
        mask = tuple(j in axes[0].value for j in range(a.type.ndim))
        mask = mask[::-1] if turned else mask
        template, more = folds.folded_axes, [Const(k.Tuple((k.Bool,) * len(mask)), mask)]
    nest = Nest(template, [Apply(TUPLE_MAKE, *shape, cls=None), *more, how], kernel, fixed, operands, ndim=len(shape),
                dtype=t)
    return Call(elementwise.views.transposed, nest) if turned and axes else nest


def identity_of(how, t):
    """The constant of type t with which a fold starts."""
    d = dtype_of(t)
    if how in ("sum", "any"):
        value = 0
    elif how in ("prod", "all"):
        value = 1
    elif how in ("fmin", "fmax"):
        value = np.nan
    elif d.kind in "fc":
        value = np.inf if how == "min" else -np.inf
        value = value if d.kind == "f" else complex(value, value)
    elif d.kind in "mM":  # the least int64 is NaT, so the least date is one above it
        value = np.iinfo(np.int64).max if how == "min" else -np.iinfo(np.int64).max
    elif d.kind == "b":
        value = how == "min"
    else:
        value = np.iinfo(d).max if how == "min" else np.iinfo(d).min
    return Const(t, d.type(value, np.datetime_data(d)) if k.is_time(t) else d.type(value))


@rule("identity")
def _identity(how, dtype):
    return identity_of(how.value, dtype.type.scalar)


@rule("combine_with")
def _combine_with(how, x, y):
    return Call(folds.combine, how, x, y)


@rule("mean_type")
def _mean_type(a):
    """The dtype in which NumPy computes the mean of an array."""
    t = a.type.dtype
    if kind_of(t) in "biu":
        t = k.float64
    return Const(DType(t), dtype_of(t))


def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    t = mean_type(a) if dtype is None else dtype
    n = count(a, axis, where, keepdims)
    if any_element(n == 0):
        warn(EMPTY)
    if a.dtype == np.float16 and dtype is None:
        total = np.sum(a, axis, np.float32, None, keepdims, where=where)
        return (total / n).astype(np.float16) if out is None else divided(total, n, out)
    total = np.sum(a, axis, t, None, keepdims, where=where)
    return of_type(np.divide(total, as_divisor(n, total.dtype)), t) if out is None else divided(total, n, out)


def any_element(x):
    """np.any of an array; a single truth value unchanged."""
    return np.any(x) if isinstance(x, np.ndarray) else x


def as_divisor(n, dtype):
    """The count n as a divisor: for a complex dtype as a np.float64, so that NumPy divides in double precision."""
    return np.float64(n) if dtype.kind == "c" and not isinstance(n, np.ndarray) else n


def divided(total, n, out):
    """The quotient stored in `out`; both operands are first converted to its dtype, as in NumPy."""
    put_out(total, out)
    np.divide(out, as_divisor(n, out.dtype), out=out, casting="unsafe")
    return out


def of_type(x, t):
    """The result in the requested dtype, converted as NumPy's division in place does."""
    if x.dtype == t:
        return x
    return x.astype(t) if isinstance(x, np.ndarray) else as_type(x, np.dtype(t))


def check_inexact(dtype, out):
    if out is not None:
        if out.dtype.kind in "biu":
            raise TypeError("If a is inexact, then out must be inexact")
    if dtype is not None:
        if np.issubdtype(dtype, np.integer) or dtype == np.bool_:
            raise TypeError("If a is inexact, then dtype must be inexact")


def count(a, axis, where, keepdims):
    """The number of elements that are folded into one."""
    if where is not True:
        return np.sum(np.broadcast_to(where, a.shape), axis, np.float64, None, keepdims)
    if a.ndim == 0 and isinstance(axis, int):
        raise AxisError(axis, 0)
    if axis is None:
        return float(a.size)
    if isinstance(axis, tuple):
        return float(axes_size(a, axis, 0))
    if not -a.ndim <= axis < a.ndim:
        raise AxisError(axis, a.ndim, None)
    return float(a.shape[axis])


def axes_size(a, axes, k):
    if k == len(axes):
        return 1
    if not -a.ndim <= axes[k] < a.ndim:
        raise AxisError(axes[k], a.ndim, None)
    return a.shape[axes[k]] * axes_size(a, axes, k + 1)


def put_out(result, out, name="add"):
    """The result, stored in `out` if that is given; name: the ufunc that makes it in NumPy, for errors."""
    if out is None:
        return result
    shape = result.shape if isinstance(result, np.ndarray) else ()
    if out.ndim != len(shape):
        raise ValueError(wrong_dimensions(name, out.ndim, len(shape)))
    if out.shape != shape:
        raise ValueError(f"the output has shape {views.shape_text(out.shape)} where the result has "
                         f"{views.shape_text(shape)}")
    out[...] = result
    return out


def ddof_of(ddof, correction):
    """The `ddof` of a call; `correction` is its name in the array API."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    t = mean_type(a) if dtype is None else dtype
    lost = ddof_of(ddof, correction)
    keep = axis is not None  # for a scalar the array stays contiguous
    n = count(a, axis, where, keep)
    if any_element(n <= lost):
        warn("Degrees of freedom <= 0 for slice")
    if mean is not None:
        return spread(a, center_of(mean), axis, n, lost, keepdims, where, dtype if a.dtype.kind == "f" else t, out)
    total = np.sum(a, axis, t, None, keep, where=where)
    center = of_type(np.divide(total, as_divisor(n, total.dtype)), t)
    return spread(a, center, axis, n, lost, keepdims, where, t, out)


def center_of(mean):
    return np.asarray(mean) if isinstance(mean, (tuple, list)) else mean


def spread(a, center, axis, n, ddof, keepdims, where, t, out):
    x = a - center
    if x.dtype.kind == "c":
        total = np.sum(x.real * x.real + x.imag * x.imag, axis, None, None, keepdims, where=where)
    else:
        total = np.sum(x * x, axis, t, None, keepdims, where=where)
    if isinstance(n, np.ndarray):
        left = np.maximum(count(a, axis, where, keepdims) - ddof, 0.0)
        return of_type(np.divide(total, left), total.dtype) if out is None else divided(total, left, out)
    left = n - ddof if n - ddof > 0.0 else 0.0
    return of_type(np.divide(total, left), total.dtype) if out is None else divided(total, left, out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    found = var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    return root_of(found) if out is None else np.sqrt(found, out=found)


def root_of(x):
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fc":
        return np.sqrt(x, out=x)  # NumPy refuses this, too
    return of_type(np.sqrt(x), x.dtype)


def ptp(a, axis=None, out=None, keepdims=False):
    if out is None:
        return np.subtract(np.max(a, axis, None, keepdims), np.min(a, axis, None, keepdims))
    return np.subtract(np.max(a, axis, out, keepdims), np.min(a, axis, None, keepdims), out=out)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if axis is not None and not isinstance(axis, tuple) and not -a.ndim <= axis < a.ndim:
        raise AxisError(axis, a.ndim, "axis")
    if weights is None:
        found = np.mean(a, axis, None, None, keepdims)
        if returned:
            return found, np.sum(np.ones_like(a, found.dtype), axis, None, None, keepdims)
        return found
    if axis is not None and a.ndim != weights.ndim:
        if weights.ndim != 1 or not isinstance(axis, int) or weights.shape[0] != a.shape[axis]:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        return weighted(a, spread_axis(weights, axis % a.ndim, a.ndim), axis, returned, keepdims)
    if axis is None and a.ndim != weights.ndim:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    return weighted(a, weights, axis, returned, keepdims)


def spread_axis(w, axis, ndim):
    """A 1-d array as an array of ndim axes, along `axis`."""
    if ndim == axis + 1:
        return lead(w, axis)
    return spread_axis(w, axis, ndim - 1)[..., None]


def lead(w, n):
    return w if n == 0 else lead(w, n - 1)[None]


def weighted(a, w, axis, returned, keepdims):
    t = np.result_type(a, w, np.float64) if a.dtype.kind in "biu" else np.result_type(a, w)
    scale = np.sum(w + np.zeros_like(a, w.dtype), axis, t, None, keepdims)
    if np.any(scale == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    found = np.sum(np.multiply(a, w, dtype=t), axis, None, None, keepdims) / scale
    if returned:
        return found, scale
    return found


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    return np.sum(without_nan(a, "sum"), axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    return np.prod(without_nan(a, "prod"), axis, dtype, out, keepdims, initial, where)


def without_nan(a, how):
    if a.dtype.kind in "fc":
        return np.where(np.isnan(a), nan_identity(a, how), a)
    return a


def all_nan(result, a, axis, keepdims):
    """The result with nan where all elements are nan."""
    if a.dtype.kind in "fc":
        return np.where(np.all(np.isnan(a), axis, None, keepdims), nan_identity(a, "nan"), result)
    return result


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    check_dimensions(out, a, axis, keepdims, "fmin")
    return put_out(with_numbers(nan_extreme("min", a, axis, keepdims, initial, where)), out, "fmin")


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    check_dimensions(out, a, axis, keepdims, "fmax")
    return put_out(with_numbers(nan_extreme("max", a, axis, keepdims, initial, where)), out, "fmax")


def with_numbers(found):
    """The result of a reduction that ignores nan, after a warning if it contains nan, since all elements were nan."""
    if found.dtype.kind in "fc" and any_element(np.isnan(found)):
        warn("All-NaN slice encountered")
    return found


def check_dimensions(out, a, axis, keepdims, name):
    """Check the number of dimensions of `out`, which NumPy does before it checks that there are elements."""
    ndim = a.ndim if keepdims else 0 if axis is None else a.ndim - (len(axis) if isinstance(axis, tuple) else 1)
    if out is not None and out.ndim != ndim:
        raise ValueError(wrong_dimensions(name, out.ndim, ndim)
                         + (" (must match the operand's when keepdims=True)" if keepdims else ""))


def wrong_dimensions(name, found, expected):
    return (f"output parameter for reduction operation {name} has the wrong number of dimensions: Found {found} but "
            f"expected {expected}")


@intrinsic
def number_min(a, axis=None, keepdims: Constant = False):
    """The smallest element that is not nan."""
    return reduced("fmin", a, axis, None, None, keepdims, None, None)


@intrinsic
def number_max(a, axis=None, keepdims: Constant = False):
    """The greatest element that is not nan."""
    return reduced("fmax", a, axis, None, None, keepdims, None, None)


def nan_extreme(how, a, axis, keepdims, initial, where):
    if initial is None:
        check_any(a, axis, "fmin" if how == "min" else "fmax")
    if a.dtype.kind in "mM":
        return (np.fmin if how == "min" else np.fmax).reduce(a, axis, None, None, keepdims, initial, where)
    if a.dtype.kind not in "fc":
        return extreme(how, a, axis, keepdims, initial, where)
    if initial is None and where is True and a.dtype.kind == "f":
        return number_min(a, axis, keepdims) if how == "min" else number_max(a, axis, keepdims)
    if initial is None:
        return item_of(all_nan(extreme(how, without_nan(a, how), axis, keepdims, None, where), a, axis, keepdims))
    first = as_type(initial, a.dtype)
    if np.isnan(first):
        first = nan_identity(a, "nan")
        hidden = np.isnan(a) if where is True else np.logical_or(np.isnan(a), np.logical_not(where))
        return item_of(np.where(np.all(hidden, axis, None, keepdims), first,
                                extreme(how, without_nan(a, how), axis, keepdims, nan_identity(a, how), where)))
    return extreme(how, without_nan(a, how), axis, keepdims, first, where)


def extreme(how, a, axis, keepdims, initial, where):
    if how == "min":
        return np.min(a, axis, None, keepdims, initial, where)
    return np.max(a, axis, None, keepdims, initial, where)


def check_any(a, axis, name):
    """Raise where there are no elements; the message has the name of NumPy's ufunc."""
    if a.size == 0:
        if axis is None or count(a, axis, True, False) == 0.0:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")


def item_of(x):
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return x[()]
    return x


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    if a.dtype.kind not in "fc":
        return np.mean(a, axis, dtype, out, keepdims, where)
    found, n = mean_and_count(a, axis, dtype, out, keepdims, where)
    if any_element(n == 0):
        warn("Mean of empty slice")
    return put_out(found, out)


def mean_and_count(a, axis, dtype, out, keepdims, where):
    """(the mean of the elements that are not nan, their number)"""
    check_inexact(dtype, out)
    total = np.sum(without_nan(a, "sum"), axis, dtype, None, keepdims, where=where)
    n = numbers_among(a, axis, keepdims, where)
    return of_type(np.divide(total, n), total.dtype), n


def numbers_among(a, axis, keepdims, where):
    """The number of elements that are not nan, as a float. They are counted with ints, whose sum needs no order."""
    return np.float64(1) * np.sum(~np.isnan(a), axis, np.int64, None, keepdims, where=where)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    if a.dtype.kind not in "fc":
        return np.var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    check_inexact(dtype, out)
    good = ~np.isnan(a)
    center = mean_and_count(a, axis, dtype, None, True, where)[0] if mean is None else center_of(mean)
    x = of_type(np.where(good, a - center, nan_identity(a, "sum")), a.dtype)
    n = numbers_among(a, axis, keepdims, where)
    squares = np.multiply(x, np.conjugate(x)).real if a.dtype.kind == "c" else x * x
    total = np.sum(squares, axis, None if a.dtype.kind == "c" else dtype, None, keepdims, where=where)
    left = n - ddof_of(ddof, correction)
    if any_element(left <= 0):
        warn("Degrees of freedom <= 0 for slice.")
    return put_out(of_type(item_of(np.where(left > 0, np.divide(total, left), np.nan)), total.dtype), out)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    found = nanvar(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    return root_of(found) if out is None else np.sqrt(found, out=found)


def count_nonzero(a, axis=None, *, keepdims=False):
    if axis is None and not keepdims:
        if isinstance(a, np.ndarray) and a.dtype == np.bool_:
            return _COUNT(count_true(a))
        return _COUNT(np.sum(a != 0))
    return np.sum(a != 0, axis, np.int64, None, keepdims)


@rule("nan_identity")
def _nan_identity(a, how):
    t = a.type.dtype
    if how.value == "nan":
        return Const(t, dtype_of(t).type(np.nan))
    return identity_of(how.value, t)


@rule("insert_axes")
def _insert_axes(a, axes):
    ndim = a.type.ndim + len(axes.value)
    items = [Const(NoneType, None) if j in axes.value else Const(k.Slice(NoneType, NoneType, NoneType), slice(None))
             for j in range(ndim)]
    return elementwise.views.view(a, items, False)


RULES = {fold: _fold, identity: _identity, combine_with: _combine_with, mean_type: _mean_type,
         insert_axes: _insert_axes, nan_identity: _nan_identity}
CALLS = {
    np.amin: _extreme("min").named("np.amin"), np.amax: _extreme("max").named("np.amax"),
    np.sum: _sum("sum"), np.prod: _sum("prod"),
    np.min: _extreme("min"), np.max: _extreme("max"), np.any: _truth("any"), np.all: _truth("all"),
    np.mean: compiled(mean), np.var: compiled(var), np.std: compiled(std), np.ptp: compiled(ptp),
    np.average: compiled(average), np.nansum: compiled(nansum), np.nanprod: compiled(nanprod),
    np.nanmin: compiled(nanmin), np.nanmax: compiled(nanmax), np.nanmean: compiled(nanmean),
    np.nanvar: compiled(nanvar), np.nanstd: compiled(nanstd), np.count_nonzero: compiled(count_nonzero),
}
METHODS = methods(sum=CALLS[np.sum], prod=CALLS[np.prod], min=CALLS[np.min], max=CALLS[np.max], any=CALLS[np.any],
                  all=CALLS[np.all], mean=CALLS[np.mean], var=CALLS[np.var], std=CALLS[np.std])
CALLS = {function: of_sequences(function, arrays) for function, arrays in CALLS.items()}
