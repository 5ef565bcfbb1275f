"""Shape and order of arrays: reshape, transposed and flipped views, joining, tiling, rolling.

Functions return a view where NumPy's do, with one exception: reshape of a read-only array that is not contiguous and
has several axes copies (docs/semantics.md).
"""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative, Throw
from ....ops.arith import IADD, IMUL
from ....ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE, ARRAY_STRIDE, ARRAY_VIEW
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, Int, NoneType, NpInt
from ....types.lattice import dtype_of, numpy_counterpart
from ...build import apply, cast, compiled, is_sequence, no_shape, outlined, promoted, type_name
from ...rule import Constant, NONE, intrinsic, methods, rule
from ...py import conversions
from ..arrays import creation
from ..indexing import subscripts
from . import views
from ..reductions.reductions import axes_of
from .views import each, elements, is_contiguous, is_writable, view_as

__all__ = ["CALLS", "METHODS"]

Slice_ = k.Slice(NoneType, NoneType, NoneType)


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def _int(x):
    if x.type is Int:
        return x
    if isinstance(x.type, NpInt):
        return cast(x, Int)
    if conversions.holds_one(x.type):
        return conversions.to_index(x)
    if subscripts.is_power(x.type):
        return Call(creation.whole_size, x)
    raise no_shape(x.type)


# ---------------------------------------------------------------- reshape


@rule("np.reshape")
def _reshape(a, /, shape, order: Constant = "C", *, copy: Constant = None):
    return _reshaped(a, elements(shape), order, copy)


@rule("np.ndarray.reshape")
def _reshape_method(a, *shape, order: Constant = "C", copy: Constant = None):
    return _reshaped(a, elements(shape[0]) if len(shape) == 1 else shape, order, copy)


def _reshaped(a, parts, order, copy):
    order = order or "C"
    if order not in ("C", "F", "A"):
        return Throw(ValueError, "order 'K' is not permitted for reshaping" if order == "K" else
                     f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    return Call(reshaped, a, _tuple([_int(x) for x in parts]), Const(k.Str, order),
                NONE if copy is None else Const(k.Bool, bool(copy)))


def reshaped(a, shape, order="C", copy=None):
    if not isinstance(a, np.ndarray):
        return reshaped(np.asarray(a), shape, order, copy)
    found = resolved(shape, a.size, known_part(shape, 0, 1), unknowns(shape, 0))
    if order == "F" or order == "A" and is_fortran(a):
        return np.transpose(viewed(np.transpose(a), backwards(found, 0), copy))
    if order == "A" and not is_contiguous(a):
        if a.size and columns_first(a, 0, a.itemsize):
            return np.transpose(viewed(np.transpose(a), backwards(found, 0), copy))[...]
    return viewed(a, found, copy)


def columns_first(a, axis, step):
    """Whether the elements are contiguous with the first axis fastest."""
    if axis == a.ndim:
        return True
    return (a.shape[axis] == 1 or a.strides[axis] == step) and columns_first(a, axis + 1, step * a.shape[axis])


def backwards(shape, j):
    return () if j == len(shape) else backwards(shape, j + 1) + (shape[j],)


def viewed(a, shape, copy=None):
    """The elements in C order under another shape; a view where that is possible."""
    if copy is not True and (a.ndim == 1 or is_contiguous(a)):
        return view_as(a, shape)
    # whether it is a view or a copy must follow from the type: views of a read-only array are read-only, copies are not
    if copy is not True and is_writable(a) and a.size:
        strides = np.empty(len(shape), np.int64)
        if strides_found(strides, np.asarray(shape, np.int64), np.asarray(a.shape), np.asarray(a.strides)):
            return strided_view(a, shape, strides)
    if copy is False:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return view_as(views.duplicate(a), shape)


@outlined
def strides_found(found, shape, old, steps):
    """Whether one stride for each new axis reaches the same elements in the same order. Old axes that are contiguous
    relative to each other form one run of elements; the new axes, from the last, must end where the runs end."""
    j, left, step = len(old) - 1, 1, 0
    for back in range(len(shape)):
        i = len(shape) - 1 - back
        n = int(ARRAY_LOAD(shape, i))
        if n != 1 and left == 1:
            while j > 0 and ARRAY_LOAD(old, j) == 1:
                j -= 1
            left, step = int(ARRAY_LOAD(old, j)), int(ARRAY_LOAD(steps, j))
            j -= 1
            while j >= 0 and (ARRAY_LOAD(old, j) == 1 or ARRAY_LOAD(steps, j) == IMUL(left, step)):
                left = IMUL(left, int(ARRAY_LOAD(old, j)))
                j -= 1
        if left % n:
            return False
        ARRAY_STORE(found, i, np.int64(step))
        step = IMUL(step, n)
        left = left // n
    return True


@intrinsic
def strided_view(a, shape, strides):
    """The elements of `a` under a shape with strides in an array."""
    parts = elements(shape)
    return Apply(ARRAY_VIEW, a, views.ZERO, *parts,
                 *(cast(Apply(ARRAY_LOAD, strides, Const(Int, i)), Int) for i in range(len(parts))),
                 type=Array(a.type.dtype, len(parts), "A", a.type.writable, a.type.aligned))


def known_part(shape, k, total):
    if k == len(shape):
        return total
    return known_part(shape, k + 1, total if shape[k] < 0 else total * shape[k])


def unknowns(shape, k):
    if k == len(shape):
        return 0
    return (1 if shape[k] < 0 else 0) + unknowns(shape, k + 1)


def resolved(shape, size, known, missing):
    if missing > 1:
        raise ValueError("can only specify one unknown dimension")
    if missing == 1:
        if known == 0 or size % known != 0:
            cannot_reshape(size, shape)
        return filled_in(shape, size // known, 0)
    if known != size:
        cannot_reshape(size, shape)
    return shape


@outlined
def cannot_reshape(size, shape):
    raise_cannot_reshape(size, shape, 0)


def raise_cannot_reshape(size, shape, j):
    """Raise ValueError for a shape with at most one unknown length, which is that of axis j or a later one. Each raise
    is one call that formats all lengths."""
    if j < len(shape) and shape[j] >= 0:
        raise_cannot_reshape(size, shape, j + 1)
    raise ValueError(f"cannot reshape array of size {size} into shape {reshape_text(shape, j, 0)}")


def filled_in(shape, n, k):
    if k == len(shape):
        return ()
    return (n if shape[k] < 0 else shape[k],) + filled_in(shape, n, k + 1)


def reshape_text(shape, j, k):
    """NumPy's text of a shape from axis k on. The length j is not known: it is left out if it is the first."""
    if len(shape) == 0:
        return "()"
    if k == len(shape):
        return ",)" if k == 1 else ")"
    if k == j:
        return reshape_text(shape, j, k + 1) if k == 0 else f",newaxis{reshape_text(shape, j, k + 1)}"
    if k == 0 or k == 1 and j == 0:
        return f"({shape[k]}{reshape_text(shape, j, k + 1)}"
    return f",{shape[k]}{reshape_text(shape, j, k + 1)}"


@intrinsic
def is_fortran(a):
    """Whether the type says that the array is in Fortran order."""
    return Const(k.Bool, a.type.layout == "F")


def in_fortran_order(a, order):
    """Whether the elements are taken with the first axis fastest."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    if order == "K" and not descending(a.strides, 0):
        if not is_fortran(a):
            raise NotImplementedError("order='K' of an array whose axes are turned is not compiled: write order='C' "
                                      "or 'F'")
        return True
    return order == "F" or order == "A" and is_fortran(a)


def descending(strides, j):
    """Whether the strides of the axes are descending."""
    if j + 1 >= len(strides):
        return True
    return abs(strides[j]) >= abs(strides[j + 1]) and descending(strides, j + 1)


def ravel(a, order="C"):
    if not isinstance(a, np.ndarray):
        return ravel(np.asarray(a), order)
    if a.ndim == 1:
        in_fortran_order(a, order)
        return a[...] if is_contiguous(a) else unstrided(a)
    if order != "C" and in_fortran_order(a, order):
        return raveled(np.transpose(a))
    return raveled(a)


def raveled(a):
    return view_as(a if is_contiguous(a) else views.duplicate(a), (a.size,))


def unstrided(a):
    """A copy of `a`, unless its elements are contiguous although the type does not say so."""
    return a[...] if len(a) < 2 or a.strides[0] == a.itemsize else views.duplicate(a)


def flatten(a, order="C"):
    if order != "C" and in_fortran_order(a, order):
        return view_as(views.duplicate(np.transpose(a)), (a.size,))
    return view_as(views.duplicate(a), (a.size,))


# ---------------------------------------------------------------- views


def permute(a: Expr, order) -> Expr:
    """The view whose axis j is axis order[j] of `a`."""
    t, n = a.type, a.type.ndim
    order = tuple(order)
    if order == tuple(range(n)):
        layout = t.layout
    elif order == tuple(range(n - 1, -1, -1)):
        layout = {"C": "F", "F": "C", "A": "A"}[t.layout]
    else:
        layout = "A"
    made = Array(t.dtype, n, layout, t.writable, t.aligned)
    return Apply(ARRAY_VIEW, a, views.ZERO, *(Apply(ARRAY_DIM, a, axis=j) for j in order),
                 *(Apply(ARRAY_STRIDE, a, axis=j) for j in order), type=made)


def _constants(x: Expr, what) -> tuple[int, ...]:
    if not x.known or not (type(x.value) is int or isinstance(x.value, tuple)):
        raise NotConstant(f"{what} must be known at compile time", "write a tuple of constants, as in (1, 0)"
                          if isinstance(x.type, k.Struct) else
                          "write it as a constant")
    return (x.value,) if type(x.value) is int else x.value


@rule("np.transpose")
def _transpose(a, axes=None):
    return _transposed(a, [axes] if axes else [])


@rule("np.ndarray.transpose")
def _transpose_method(a, *axes):
    return _transposed(a, [x for x in axes if x.type is not NoneType])


def _transposed(a, axes):
    if not axes:
        return views.transpose(a)
    order = _constants(axes[0], "axes") if len(axes) == 1 else tuple(n for x in axes for n in _constants(x, "axes"))
    n = a.type.ndim
    if len(order) != n:
        return Throw(ValueError, "axes don't match array")
    checked = axes_of(Const(k.Tuple((Int,) * n), order), n)
    if isinstance(checked, Expr):
        return checked if type(checked) is not Throw else Throw(ValueError, "repeated axis in transpose")
    return permute(a, [j % n for j in order])


def swapped(sizes, i, j, at):
    """A tuple with the items i and j in each other's place."""
    if at == len(sizes):
        return ()
    return (sizes[j if at == i else i if at == j else at],) + swapped(sizes, i, j, at + 1)


def with_swapped_axes(a, axis1, axis2):
    n = a.ndim
    if not -n <= axis1 < n:
        raise np.exceptions.AxisError(axis1, n, "axis1")
    if not -n <= axis2 < n:
        raise np.exceptions.AxisError(axis2, n, "axis2")
    i, j = int(axis1) % n, int(axis2) % n
    return np.lib.stride_tricks.as_strided(a, swapped(a.shape, i, j, 0), swapped(a.strides, i, j, 0))


@rule("np.swapaxes")
def _swapaxes(a, axis1, axis2):
    n = a.type.ndim
    numbers = k.is_integer(axis1.type) and k.is_integer(axis2.type)
    if n and numbers and not (axis1.known and axis2.known):
        return Call(with_swapped_axes, a, axis1, axis2)
    order = list(range(n))
    found = []
    for name, x in (("axis1", axis1), ("axis2", axis2)):
        axis = axes_of(x, n, name)
        if isinstance(axis, Expr):
            return axis
        if is_sequence(x.type):
            raise Mismatch(f"'{type_name(x.type)}' object cannot be interpreted as an integer")
        found.append(axis[0])
    order[found[0]], order[found[1]] = found[1], found[0]
    return permute(a, order)


@rule("np.moveaxis")
def _moveaxis(a, source, destination):
    n = a.type.ndim
    for name, x in (("source", source), ("destination", destination)):
        checked = axes_of(x, n, name)
        if isinstance(checked, Expr):
            return checked
    source = [j % n for j in _constants(source, "source")]
    target = [j % n for j in _constants(destination, "destination")]
    if len(source) != len(target):
        return Throw(ValueError, "`source` and `destination` arguments must have the same number of elements")
    order = [j for j in range(n) if j not in source]
    for to, of in sorted(zip(target, source)):
        order.insert(to, of)
    return permute(a, order)


@rule("np.expand_dims")
def _expand_dims(a, axis):
    axes = _constants(axis, "axis")
    n = a.type.ndim + len(axes)
    checked = axes_of(Const(k.Tuple((Int,) * len(axes)), axes), n)
    if isinstance(checked, Expr):
        return checked
    return views.view(a, [Const(NoneType, None) if j in checked else Const(Slice_, slice(None)) for j in range(n)],
                      False)


@rule("np.squeeze")
def _squeeze(a, axis=None):
    if k.is_numpy_scalar(a.type) and (axis is None or axis.value in (0, -1)):
        return a
    if not isinstance(a.type, Array):
        whole = CallValue(constant(np.asarray), a)
        return CallValue(constant(np.squeeze), whole, axis or NONE)
    if a.type.ndim == 0 and (axis is None or axis.value in (0, -1)):
        return Call(squeezed, a, Const(k.Tuple(()), ()))
    if axis is None:
        raise NotNative("squeeze() without axis gives a number of axes that is not known at compile time",
                        "give the axis")
    axes = axes_of(axis, a.type.ndim)
    if isinstance(axes, Expr):
        return axes
    return Call(squeezed, a, Const(k.Tuple((Int,) * len(axes)), axes))


def squeezed(a, axes):
    check_single(a, axes, 0)
    if a.ndim and len(axes) == a.ndim:  # a 0-d array: the result is an array, not its element
        return view_as(without(a, axes[:-1], 0), ())
    return without(a, axes, 0)


def check_single(a, axes, k):
    if k < len(axes):
        if a.shape[axes[k]] != 1:
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        check_single(a, axes, k + 1)


def without(a, axes, k):
    if k == len(axes):
        return a
    return without(permuted_item(a, axes[k] - k), axes, k + 1)


def permuted_item(a, axis):
    """a with the first item along `axis` removed."""
    if axis == 0:
        return a[0]
    if axis == 1:
        return a[:, 0]
    if axis == 2:
        return a[:, :, 0]
    return np.moveaxis(a, axis, 0)[0]


@rule("np.flip")
def _flip(m, axis=None):
    a = m
    axes = axes_of(axis, a.type.ndim)
    if isinstance(axes, Expr):
        return axes
    if a.type.ndim == 0:
        return Apply(ARRAY_LOAD, a)  # an element, as m[()] gives it
    return _flipped(a, range(a.type.ndim) if axes is None else axes)


def _flipped(a, axes):
    back = Const(k.Slice(NoneType, NoneType, Int), slice(None, None, -1))
    return views.view(a, [back if j in axes else Const(Slice_, slice(None)) for j in range(a.type.ndim)], False)


def fliplr(m):
    if not isinstance(m, np.ndarray):
        return fliplr(np.asarray(m))
    return m[:, ::-1]


def flipud(m):
    if not isinstance(m, np.ndarray):
        return flipud(np.asarray(m))
    return m[::-1]


def rot90(m, k=1, axes=(0, 1)):
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == m.ndim:
        raise ValueError("Axes must be different.")
    if axes[0] >= m.ndim or axes[0] < -m.ndim or axes[1] >= m.ndim or axes[1] < -m.ndim:
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    k = k % 4
    if k == 0:
        return m[:]
    if k == 2:
        return np.flip(np.flip(m, axes[0]), axes[1])
    if k == 1:
        return np.swapaxes(np.flip(m, axes[1]), axes[0], axes[1])
    return np.flip(np.swapaxes(m, axes[0], axes[1]), axes[1])


@rule("np.broadcast_to")
def _broadcast_to(array, shape, subok=False):
    return Call(broadcast, array, _tuple([_int(x) for x in elements(shape)]))


def broadcast(a, shape):
    if not isinstance(a, np.ndarray):
        return broadcast(np.asarray(a), shape)
    if len(shape) == 0 and a.ndim:
        raise ValueError("cannot broadcast a non-scalar to a scalar array")
    for n in shape:
        if n < 0:
            raise ValueError("all elements of broadcast shape must be non-negative")
    if a.ndim > len(shape):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    check_fits(a.shape, shape, 0)
    return stretch(a, shape)


def check_fits(shape, target, k):
    if k < len(shape):
        n = shape[len(shape) - 1 - k]
        if n != 1 and n != target[len(target) - 1 - k]:
            raise ValueError(f"operands could not be broadcast together with remapped shapes [original->remapped]: "
                             f"{views.shape_text(shape)}  and requested shape {views.shape_text(target)}")
        check_fits(shape, target, k + 1)


@intrinsic
def stretch(a, shape):
    """The read-only view of `a` broadcast to a shape that fits."""
    parts = elements(shape)
    first = len(parts) - a.type.ndim
    strides = [views.ZERO] * first
    for j in range(a.type.ndim):
        strides.append(Call(stride_or_zero, Apply(ARRAY_DIM, a, axis=j), Apply(ARRAY_STRIDE, a, axis=j)))
    return Apply(ARRAY_VIEW, a, views.ZERO, *parts, *strides,
                 type=Array(a.type.dtype, len(parts), "A", False, a.type.aligned))


def stride_or_zero(n, stride):
    return 0 if n == 1 else stride


def atleast_1d(*arys):
    return of_rank(arys[0], 1) if len(arys) == 1 else each(of_rank, arys, 1)


def atleast_2d(*arys):
    return of_rank(arys[0], 2) if len(arys) == 1 else each(of_rank, arys, 2)


def atleast_3d(*arys):
    return of_rank(arys[0], 3) if len(arys) == 1 else each(of_rank, arys, 3)


def of_rank(x, rank):
    a = np.asarray(x)
    if a.ndim >= rank:
        return a
    if a.ndim == 0:
        return a[(None,) * rank]
    if rank == 2:
        return a[None]
    return a[None, :, None] if a.ndim == 1 else a[:, :, None]


# ---------------------------------------------------------------- what others use


@intrinsic
def common_dtype(parts):
    """The common dtype of arrays and numbers."""
    found = None
    for x in elements(parts):
        if isinstance(x.type, k.Union):
            raise NotNative(f"the dtype of one of the arrays depends on the path that led here: {x.type}",
                            "give it one dtype on all of them, as in x.astype(np.float64)")
        t = x.type.dtype if isinstance(x.type, Array) else numpy_counterpart(x.type) if k.is_scalar(x.type) else x.type
        if found is not None and found is not t and (isinstance(found, k.Record) or isinstance(t, k.Record)):
            raise NotNative("a common dtype of structured arrays is not compiled", "convert the fields")
        found = t if found is None or found is t else promoted(found, t)
    return Const(k.DType(found), dtype_of(found))


def window(a, axis, start, stop):
    if axis == 0:
        return a[start:stop]
    if axis == 1:
        return a[:, start:stop]
    if axis == 2:
        return a[:, :, start:stop]
    return np.moveaxis(np.moveaxis(a, axis, 0)[start:stop], 0, axis)


# ---------------------------------------------------------------- repeating


def roll(a, shift, axis=None):
    if not isinstance(a, np.ndarray):
        return roll(np.asarray(a), shift, axis)
    if isinstance(shift, (tuple, list)) or isinstance(axis, (tuple, list)):
        return roll_axes(a, shift, axis, 0)
    if axis is None:
        flat = np.ravel(a)
        return viewed(rolled(flat, shift), a.shape)
    if not -a.ndim <= axis < a.ndim:
        raise np.exceptions.AxisError(axis, a.ndim, None)
    out = np.empty_like(a)
    fill_rolled(np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0), shift)
    return out


def roll_axes(a, shift, axis, j):
    """np.roll along one axis after the other; a single shift or axis is used for all."""
    count = len(shift) if isinstance(shift, (tuple, list)) else len(axis)
    if isinstance(shift, (tuple, list)) and isinstance(axis, (tuple, list)) and len(shift) != len(axis):
        raise NotImplementedError("roll with tuples of unlike lengths is not compiled")
    if j == count:
        return a
    return roll_axes(roll(a, shift[j] if isinstance(shift, (tuple, list)) else shift, axis[j]
                          if isinstance(axis, (tuple, list)) else axis),
                     shift, axis, j + 1)


def rolled(a, shift):
    out = np.empty(a.shape, a.dtype)
    fill_rolled(out, a, shift)
    return out


def fill_rolled(out, a, shift):
    n = len(a)
    if n:
        s = shift % n
        out[s:] = a[:n - s]
        out[:s] = a[n - s:]


def repeat(a, repeats, axis=None):
    if not isinstance(a, np.ndarray):
        return repeat(np.asarray(a), repeats, axis)
    if axis is None:
        return repeat(np.ravel(np.atleast_1d(a)), repeats, 0)
    if isinstance(repeats, (tuple, list)):
        return repeat(a, np.asarray(repeats, np.int64), axis)
    if isinstance(repeats, np.ndarray) and not np.can_cast(repeats.dtype, np.int64, "safe"):
        raise TypeError(f"Cannot cast {'array data' if repeats.ndim else 'scalar'} from {repeats.dtype!r} to "
                        "dtype('int64') according to the rule 'safe'")
    if isinstance(repeats, np.ndarray) and repeats.ndim == 0:
        return repeat(a, int(repeats), axis)
    if a.ndim == 0:
        return repeat(np.ravel(a), repeats, axis)
    if not isinstance(repeats, np.ndarray):
        if axis < -a.ndim or axis >= a.ndim:
            raise np.exceptions.AxisError(axis, a.ndim, None)
        return all_repeated(a, repeats, axis + a.ndim if axis < 0 else axis)
    if axis == 0:
        return repeated(a, repeats)
    return views.duplicate(np.moveaxis(repeated(np.moveaxis(a, axis, 0), repeats), 0, axis))


def all_repeated(a, repeats, axis):
    """Every element repeated the same number of times: one assignment that is broadcast along a new axis."""
    if repeats < 0 and a.shape[axis] > 0:
        raise ValueError("negative dimensions are not allowed")
    out = np.empty(with_length(a.shape, axis, a.shape[axis] * repeats, 0), a.dtype)
    view_as(out, a.shape[:axis + 1] + (int(repeats),) + a.shape[axis + 1:])[...] = np.expand_dims(a, axis + 1)
    return out


def repeated(a, repeats):
    n = len(a)
    if len(repeats) != n and len(repeats) != 1:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({len(repeats)},)")
    total = 0
    for i in range(n):
        r = int(repeats[i if len(repeats) == n else 0])
        if r < 0:
            raise ValueError("negative dimensions are not allowed" if len(repeats) == 1 else
                             "repeats may not contain negative values.")
        total = IADD(total, r)
    out = np.empty((total,) + a.shape[1:], a.dtype)
    at = 0
    for i in range(n):
        for _ in range(int(repeats[i if len(repeats) == n else 0])):
            out[at] = a[i]
            at = IADD(at, 1)
    return out


def tile(A, reps):
    if not isinstance(A, np.ndarray):
        return tile(np.asarray(A), reps)
    if isinstance(reps, list):
        return tiled(A, tuple(reps), len(reps) - 1)
    if isinstance(reps, tuple):
        return tiled(A, reps, len(reps) - 1)
    return tiled(A, (reps,), 0)


def tiled(a, reps, k):
    if a.ndim < len(reps):
        return tiled(a[None], reps, k)
    if k < 0:
        return views.duplicate(a)
    axis = a.ndim - len(reps) + k
    if len(reps) == 1 or k == 0:
        return copies(a, reps[k], axis)
    return tiled(copies(a, reps[k], axis), reps, k - 1)


def copies(a, n, axis):
    length = a.shape[axis]
    out = np.empty(with_length(a.shape, axis, length * n, 0), a.dtype)
    for i in range(n):
        window(out, axis, IMUL(i, length), IMUL(IADD(i, 1), length))[...] = a
    return out


def with_length(shape, axis, n, k):
    if k == len(shape):
        return ()
    return (n if k == axis else shape[k],) + with_length(shape, axis, n, k + 1)


# ---------------------------------------------------------------- parts of matrices


def tri(N, M=None, k=0, dtype=None, *, like=None):
    columns = max(N if M is None else M, 0)
    out = np.zeros((max(N, 0), columns), dtype, like=like)
    for i in range(N):
        out[i, :max(0, min(columns, i + k + 1))] = 1
    return out


def tril(m, k=0):
    m = triangle_of(m)
    out = np.zeros(m.shape, m.dtype)
    rows = m.shape[-2]
    for i in range(rows):
        stop = max(0, min(m.shape[-1], i + k + 1))
        out[..., i, :stop] = m[..., i, :stop]
    return out


def triangle_of(m):
    """The row m repeated as often as it has elements, as a matrix."""
    if not isinstance(m, np.ndarray):
        return triangle_of(np.asarray(m))
    if m.ndim == 0:
        raise TypeError("tri() missing 1 required positional argument: 'N'")
    return np.broadcast_to(m, (len(m), len(m))) if m.ndim == 1 else m


def triu(m, k=0):
    m = triangle_of(m)
    out = np.zeros(m.shape, m.dtype)
    rows = m.shape[-2]
    for i in range(rows):
        start = max(0, min(m.shape[-1], i + k))
        out[..., i, start:] = m[..., i, start:]
    return out


def eye(N, M=None, k=0, dtype=None, order="C", *, device=None, like=None):
    columns = N if M is None else M
    out = np.zeros((N, columns), dtype, order, device=device, like=like)
    for i in range(max(0, -k), min(N, columns - k)):
        out[i, i + k] = 1
    return out


def identity(n, dtype=None, *, like=None):
    return eye(n, None, 0, dtype, like=like)


def diag(v, k=0):
    if not isinstance(v, np.ndarray):
        return diag(np.asarray(v), k)
    if v.ndim != 1 and v.ndim != 2:
        raise ValueError("Input must be 1- or 2-d.")
    if v.ndim == 1:
        n = len(v) + abs(k)
        out = np.zeros((n, n), v.dtype)
        for i in range(len(v)):
            out[i + max(0, -k), i + max(0, k)] = v[i]
        return out
    return np.diagonal(v, k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    if axis1 != 0 or axis2 != 1 or a.ndim != 2:
        return diagonal_of(np.moveaxis(a, (axis1, axis2), (0, 1)), offset)
    return diagonal_of(a, offset)


def diagonal_of(a, offset):
    n = min(a.shape[0] + min(offset, 0), a.shape[1] - max(offset, 0))
    return on_diagonal(a[max(0, -offset):, max(0, offset):], max(n, 0))


@intrinsic
def on_diagonal(a, n):
    """The read-only view of the n elements a[i, i], along with all further axes."""
    t = a.type
    made = Array(t.dtype, t.ndim - 1, "A", False, t.aligned)
    step = Apply(IADD, Apply(ARRAY_STRIDE, a, axis=0), Apply(ARRAY_STRIDE, a, axis=1))
    return Apply(ARRAY_VIEW, a, views.ZERO, *(Apply(ARRAY_DIM, a, axis=j) for j in range(2, t.ndim)), n,
                 *(Apply(ARRAY_STRIDE, a, axis=j) for j in range(2, t.ndim)), step, type=made)


def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if isinstance(val, (tuple, list)):
        return fill_diagonal(a, np.asarray(val), wrap)
    if a.ndim > 2 and not alike(a.shape, 1):
        raise ValueError("All dimensions of input must be of equal length")
    if isinstance(val, np.ndarray) and val.ndim > 1:
        return fill_diagonal(a, np.ravel(val), wrap)
    rows = a.shape[0] if a.ndim == 2 and wrap else min(a.shape[0], a.shape[1])
    at = count = 0
    for i in range(rows):
        if at < a.shape[1]:
            a[(i,) + (at,) * (a.ndim - 1)] = item_at(val, count)
            count += 1
        # the diagonal continues after one row without an element
        at = 0 if at == a.shape[1] else at + 1
    return None


def alike(shape, j):
    return j == len(shape) or (shape[j] == shape[0] and alike(shape, j + 1))


def item_at(val, i):
    if isinstance(val, np.ndarray):
        return val[()] if val.ndim == 0 else val[i % len(val)]
    return val


# ---------------------------------------------------------------- sizes


def shape(a):
    return np.asarray(a).shape


def ndim(a):
    return np.asarray(a).ndim


@rule("np.size")
def _size(a, axis=None):
    if not isinstance(a.type, Array):
        return Call(size_of, a, Const(Int, axis.value) if axis else NONE)
    axes = axes_of(axis, a.type.ndim)
    if isinstance(axes, Expr):
        return axes if type(axes) is not Throw else Throw(ValueError, "repeated axis")
    total = views.ONE
    for j in range(a.type.ndim) if axes is None else axes:
        total = apply(IMUL, total, Apply(ARRAY_DIM, a, axis=j))
    return total


def size_of(a, axis):
    return np.size(np.asarray(a), axis)


CALLS = {
    np.reshape: _reshape, np.ravel: compiled(ravel), np.transpose: _transpose,
    np.permute_dims: _transpose.named("np.permute_dims"),
    np.swapaxes: _swapaxes, np.moveaxis: _moveaxis, np.expand_dims: _expand_dims, np.squeeze: _squeeze, np.flip: _flip,
    np.fliplr: compiled(fliplr), np.flipud: compiled(flipud), np.rot90: compiled(rot90), np.broadcast_to: _broadcast_to,
    np.atleast_1d: compiled(atleast_1d), np.atleast_2d: compiled(atleast_2d), np.atleast_3d: compiled(atleast_3d),
    np.roll: compiled(roll), np.repeat: compiled(repeat), np.tile: compiled(tile), np.tri: compiled(tri),
    np.tril: compiled(tril), np.triu: compiled(triu), np.eye: compiled(eye), np.identity: compiled(identity),
    np.diag: compiled(diag), np.diagonal: compiled(diagonal), np.fill_diagonal: compiled(fill_diagonal),
    np.shape: compiled(shape), np.ndim: compiled(ndim), np.size: _size,
}
METHODS = methods(
    reshape=_reshape_method, transpose=_transpose_method, ravel=CALLS[np.ravel], flatten=compiled(flatten),
    swapaxes=_swapaxes, squeeze=_squeeze, repeat=CALLS[np.repeat], diagonal=CALLS[np.diagonal],
)
