"""Reading and writing with integer arrays and boolean masks as indices, and the functions that use it.

Source of the rules: NumPy user guide, "Indexing on ndarrays", advanced indexing. The index becomes a basic view, in
which every advanced item stands as a whole axis, and one integer (or array of integers) for each such axis; the axes
move to the front, the indices are broadcast, and items are copied one by one.
"""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative, Throw
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE, CHECK_INDEX
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, Bool, Int, NoneType, NpBool, NpInt, Slice
from ....types.lattice import dtype_of
from ...build import cast, compiled, is_list, is_sequence
from ...intrinsics import as_type, strided
from ...rule import call, expression, intrinsic, methods, rule
from . import subscripts
from ..shapes import views
from ..shapes.arrange import permute, stretch
from ..arrays.creation import scalar_of
from .masks import fill_masked, masked, positions, put_selected
from ..shapes.views import elements, is_writable, unaliased

__all__ = ["CALLS", "METHODS", "getitem", "setitem"]

_WHOLE = Const(Slice(NoneType, NoneType, NoneType), slice(None))


def _is_mask(t):
    return isinstance(t, Array) and t.dtype is NpBool or t is Bool or t is NpBool


# ---------------------------------------------------------------- the parts of an index


def _parts(a: Array, i: Expr):
    """(the items of the index, each with its own type; the number of dimensions that they index)"""
    items = elements(i) if isinstance(i.type, k.Tuple) else [i]
    found = []
    for x in items:
        t = x.type
        if is_list(t):
            x = Call(listed, Apply(TUPLE_MAKE, *elements(x), cls=None))
        elif t is Bool or t is NpBool or isinstance(t, Array) and t.dtype is NpBool and t.ndim == 0:
            raise NotNative("indexing with a truth value beside other indices is not compiled", "use an array of bools")
        elif isinstance(t, Array) and not isinstance(t.dtype, NpInt) and t.dtype is not NpBool:
            raise Mismatch("arrays used as indices must be of integer (or boolean) type", exception=IndexError)
        elif isinstance(t, Array) and t.ndim == 0:
            x = Apply(ARRAY_LOAD, x)  # an integer, but the result is a copy and no view
        found.append(x)
    return found


def _flag(i: Expr):
    """The truth value that is the whole index, as in a[True]; None for any other index."""
    parts = elements(i) if isinstance(i.type, k.Tuple) else [i]
    if len(parts) != 1 or not _is_mask(parts[0].type) or isinstance(parts[0].type, Array) and parts[0].type.ndim:
        return None
    return Apply(ARRAY_LOAD, parts[0]) if isinstance(parts[0].type, Array) else parts[0]


def flag_places(flag):
    return np.zeros(1 if flag else 0, np.int64)


def _of_flag(a: Expr, flag: Expr):
    """a[flag], which is a[np.newaxis][[0] or []]."""
    items = [Const(NoneType, None)] + [_WHOLE] * a.type.ndim
    return views.view(a, items, False), Apply(TUPLE_MAKE, Call(flag_places, flag), cls=None)


def _is_basic(items) -> bool:
    return not any(x.type is None or isinstance(x.type, Array) for x in items)


def listed(items):
    return np.empty(0, np.int64) if len(items) == 0 else np.array(items)


def listed_as(items, dtype):
    return np.array(items, dtype)


def arrayed(x: Expr) -> Expr:
    """A tuple or list display as an array; any other value unchanged."""
    if is_sequence(x.type):
        return Call(listed, Apply(TUPLE_MAKE, *elements(x), cls=None))
    return x


def _of_arrays(function, values=None, axis=None):
    """The rule of a library function whose operands may be lists. values: the position of the operand whose items,
    where it is a list, are converted to the dtype of the first operand one by one. axis: that of the operand on which
    the number of axes of the result depends."""
    @rule(f"np.{function.__name__}", function)
    def found(*operands):
        given = [expression(x) for x in operands]
        if axis is not None and k.is_integer(given[axis].type) and not given[axis].known:
            raise NotConstant("the axis must be known at compile time", "write it as a constant")
        if values is not None and isinstance(given[0].type, Array) and (
                is_sequence(given[values].type) or isinstance(given[values].type, k.List)):
            t = given[0].type.dtype
            given[values] = Call(items_of_dtype, given[values], Const(k.DType(t), dtype_of(t)))
        return call(function, *[CallValue(constant(np.asarray), x) if isinstance(x.type, k.List) else arrayed(x)
                                for x in given])

    return found


def items_of_dtype(x, dtype):
    return np.array(x, dtype=dtype)


def getitem(a: Expr, i: Expr) -> Expr:
    flag = _flag(i)
    if flag is not None:
        return Call(get_with, *_of_flag(a, flag))
    items = _parts(a.type, i)
    if _is_basic(items):
        found = subscripts.getitem(a, Apply(TUPLE_MAKE, *items, cls=None))
        return Call(views.duplicate, found) if isinstance(found.type, Array) else found
    return Call(get_with, a, Apply(TUPLE_MAKE, *items, cls=None))


def setitem(a: Expr, i: Expr, v: Expr) -> Expr:
    if not a.type.writable:
        return Throw(ValueError, "assignment destination is read-only")
    if is_sequence(v.type):
        v = Call(listed_as, Apply(TUPLE_MAKE, *elements(v), cls=None),
                 Const(k.DType(a.type.dtype), dtype_of(a.type.dtype)))
    elif not isinstance(v.type, Array) and not k.is_scalar(v.type):
        raise NotNative(f"assigning a value of type {v.type} through an index array is not compiled")
    flag = _flag(i)
    if flag is not None:
        return Call(set_with, *_of_flag(a, flag), v)
    items = _parts(a.type, i)
    if _is_basic(items):
        return Call(subscripts.set_item_of, a, Apply(TUPLE_MAKE, *items, cls=None), v)
    return Call(set_with, a, Apply(TUPLE_MAKE, *items, cls=None), v)


def get_with(a, items):
    if only_mask(a, items):
        check_mask(a.shape, items[0].shape, 0, 0)
        return masked(a, items[0])
    check_masks(a.shape, items)
    return taken(a, without_masks(items, 0))


def set_with(a, items, value):
    if only_mask(a, items):
        check_mask(a.shape, items[0].shape, 0, 0)
        if isinstance(value, np.ndarray) and value.ndim > 0:
            put_selected(a, items[0], value)
        else:
            value = as_type(value[()] if isinstance(value, np.ndarray) else value, a.dtype)
            fill_masked(a, unaliased(items[0], a), value)
    else:
        check_masks(a.shape, items)
        put_taken(a, without_masks(items, 0), value)


@intrinsic
def only_mask(a, items):
    """Whether the index is one mask that covers all dimensions."""
    return Const(Bool, len(items.type.elements) == 1 and isinstance(items.type.elements[0], Array)
                 and items.type.elements[0].dtype is NpBool and items.type.elements[0].ndim == a.type.ndim)


# ---------------------------------------------------------------- masks


def check_mask(shape, mask, axis, j):
    if j < len(mask):
        if shape[axis + j] != mask[j]:
            raise IndexError(f"boolean index did not match indexed array along axis {axis + j}; size of axis is "
                             f"{shape[axis + j]} but size of corresponding boolean axis is {mask[j]}")
        check_mask(shape, mask, axis, j + 1)


@intrinsic
def check_masks(shape, items):
    """Raise where the shape of a mask differs from the axes that it indexes."""
    parts = elements(items)
    used = sum(x.type.ndim if _is_mask(x.type) else 1 for x in parts if x.type is not NoneType
               and x.type is not k.Ellipsis_)
    rank = len(shape.type.elements)
    if used > rank:
        raise Mismatch(f"too many indices for array: array is {rank}-dimensional, but {used} were indexed",
                       exception=IndexError)
    axis, checks = 0, []
    for x in parts:
        if x.type is k.Ellipsis_:
            axis += rank - used
        elif _is_mask(x.type):
            checks.append(Call(check_mask_of, shape, x, Const(Int, axis)))
            axis += x.type.ndim
        elif x.type is not NoneType:
            axis += 1
    return Call(done, Apply(TUPLE_MAKE, *checks, cls=None))


def check_mask_of(shape, mask, axis):
    check_mask(shape, mask.shape, axis, 0)
    return mask.size  # a constant would let the compiler drop the call


def done(x):
    return x


def all_unaliased(indices, target, i):
    if i == len(indices):
        return ()
    if isinstance(indices[i], np.ndarray):
        return (unaliased(indices[i], target),) + all_unaliased(indices, target, i + 1)
    return (indices[i],) + all_unaliased(indices, target, i + 1)


def without_masks(items, i):
    """The index with each mask replaced by the positions of its true elements."""
    if i == len(items):
        return ()
    x = items[i]
    if isinstance(x, np.ndarray) and x.dtype == np.bool_:
        return positions(x) + without_masks(items, i + 1)
    return (x,) + without_masks(items, i + 1)


# ---------------------------------------------------------------- integers


class _Plan:
    """How an index without masks is applied to an array: a basic view, the index arrays, and the position of their axes
    in the result."""

    def __init__(self, a: Expr, items: Expr):
        parts = elements(items)
        rank = a.type.ndim
        used = sum(x.type is not NoneType and x.type is not k.Ellipsis_ for x in parts)
        if used > rank:
            raise Mismatch(f"too many indices for array: array is {rank}-dimensional, but {used} were indexed",
                           exception=IndexError)
        dots = [j for j, x in enumerate(parts) if x.type is k.Ellipsis_]
        if len(dots) > 1:
            raise Mismatch("an index can only have a single ellipsis ('...')", exception=IndexError)
        at = dots[0] if dots else len(parts)
        parts[at:at + len(dots)] = [_WHOLE] * (rank - used)
        basic, self.indices, self.axes, axis, self.own = [], [], [], 0, []
        for x in parts:
            if isinstance(x.type, Array) or x.type is Int or isinstance(x.type, NpInt):
                self.indices.append(x if isinstance(x.type, Array) else cast(x, Int))
                self.axes.append(len(basic))
                self.own.append(axis)
                basic.append(_WHOLE)
            elif x.type is NoneType or isinstance(x.type, Slice):
                basic.append(x)
            else:
                raise subscripts.no_index(x.type)
            axis += x.type is not NoneType
        rest = [j for j in range(len(basic)) if j not in self.axes]
        adjacent = self.axes == list(range(self.axes[0], self.axes[0] + len(self.axes)))
        self.first = self.axes[0] if adjacent else 0
        self.order = self.axes + rest
        self.basic = basic


@intrinsic
def front(a, items):
    """(the view with the indexed axes at the front, the indices)"""
    plan = _Plan(a, items)
    return Call(front_of, views.view(a, plan.basic, False), Apply(TUPLE_MAKE, *plan.indices, cls=None),
                Const(k.Tuple((Int,) * len(plan.order)), tuple(plan.order)))


def front_of(view, indices, order):
    return np.transpose(view, order), indices


@intrinsic
def place_of(a, items):
    """The position of the index arrays' axes among the axes of the result."""
    return Const(Int, _Plan(a, items).first)


@intrinsic
def axes_in(a, items):
    """The axes of `a` that are indexed, for error messages."""
    own = _Plan(a, items).own
    return Const(k.Tuple((Int,) * len(own)), tuple(own))


def taken(a, items):
    view, indices = front(a, items)
    shape = common_shape(indices)
    own = axes_in(a, items)
    out = np.empty(shape + view.shape[len(indices):], a.dtype)
    even = same_shapes(indices, shape, 0)
    if view.ndim == len(indices) == 1:
        gather_simple(out, view, even[0], own[0])
    else:
        check_numbers(view, indices, own, 0)
        check_all(view, even, shape, own, ())
        gather(out, view, even, shape, ())
    if place_of(a, items) == 0 or len(shape) == 0:
        return scalar_or(out)
    return moved_back(out, len(shape), place_of(a, items))


def scalar_or(out):
    if out.ndim == 0:
        return out[()]
    return out


@intrinsic
def moved_back(a, count, place):
    """`a` with axes 0..count-1 moved to place..place+count-1."""
    count, place = count.value, place.value
    order = list(range(count, count + place)) + list(range(count)) + list(range(count + place, a.type.ndim))
    return permute(a, order)


@intrinsic
def moved_front(a, count, place):
    count, place = count.value, place.value
    axes = list(range(place, place + count))
    return permute(a, axes + [j for j in range(a.type.ndim) if j not in axes])


def common_shape(indices):
    return shape_from(indices, (), 0)


def shape_from(indices, shape, i):
    if i == len(indices):
        return shape
    if isinstance(indices[i], np.ndarray):
        return shape_from(indices, merged(shape, indices[i].shape, indices), i + 1)
    return shape_from(indices, shape, i + 1)


def merged(x, y, indices):
    if len(x) < len(y):
        return y[:len(y) - len(x)] + merged_same(x, y[len(y) - len(x):], indices, 0)
    return x[:len(x) - len(y)] + merged_same(x[len(x) - len(y):], y, indices, 0)


def merged_same(x, y, indices, j):
    if j == len(x):
        return ()
    if x[j] != y[j] and x[j] != 1 and y[j] != 1:
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes "
                         f"{shapes_text(indices, 0)}")
    return (y[j] if x[j] == 1 else x[j],) + merged_same(x, y, indices, j + 1)


def shapes_text(indices, i):
    if i == len(indices):
        return ""
    if isinstance(indices[i], np.ndarray):
        return f"{views.shape_text(indices[i].shape)} {shapes_text(indices, i + 1)}"
    return f"() {shapes_text(indices, i + 1)}"


def same_shapes(indices, shape, i):
    if i == len(indices):
        return ()
    x = indices[i]
    if isinstance(x, np.ndarray) and x.ndim < len(shape) or isinstance(x, np.ndarray) and x.ndim > 1:
        return (stretch(x, shape),) + same_shapes(indices, shape, i + 1)
    if isinstance(x, np.ndarray):
        return (x,) + same_shapes(indices, shape, i + 1)
    return (x,) + same_shapes(indices, shape, i + 1)


def index_at(index, place):
    """The index of one item of the result, as an int."""
    if isinstance(index, np.ndarray):
        if len(place) == 1 and len(index) == 1:
            return int(ARRAY_LOAD(index, 0))
        return int(ARRAY_LOAD(index, *place))
    return index


def gather_simple(out, view, index, axis):
    n = len(view)
    if isinstance(index, np.ndarray):
        if index.ndim == 1:
            for i in range(len(out)):
                j = CHECK_INDEX(int(ARRAY_LOAD(index, i)), n, axis=axis)
                ARRAY_STORE(out, i, ARRAY_LOAD(view, j))
        else:
            for i in range(len(out)):
                gather_simple(out[i], view, index[i], axis)
    else:
        ARRAY_STORE(out, ARRAY_LOAD(view, CHECK_INDEX(index, n, axis=axis)))


def check_numbers(view, indices, own, i):
    """Raise for integers in the index that are out of bounds. NumPy checks them even where the index arrays are
    empty."""
    if i < len(indices):
        if not isinstance(indices[i], np.ndarray):
            CHECK_INDEX(indices[i], view.shape[i], axis=own[i])
        check_numbers(view, indices, own, i + 1)


def volume(shape):
    return 1 if len(shape) == 0 else shape[0] * volume(shape[1:])


def check_all(view, indices, shape, own, place):
    if len(place) == len(shape):
        check_one(view, indices, own, place, 0)
    else:
        for i in range(shape[len(place)]):
            check_all(view, indices, shape, own, place + (i,))


def check_one(view, indices, own, place, i):
    if i < len(indices):
        CHECK_INDEX(index_at(indices[i], place), view.shape[i], axis=own[i])
        check_one(view, indices, own, place, i + 1)


def item_of(view, indices, place, i):
    if i == len(indices):
        return view
    j = index_at(indices[i], place)
    return item_of(view[j], indices, place, i + 1)


def gather(out, view, indices, shape, place):
    if len(place) == len(shape):
        out[place] = item_of(view, indices, place, 0)
    else:
        for i in range(shape[len(place)]):
            gather(out, view, indices, shape, place + (i,))


def put_taken(a, items, value):
    view, given = front(a, items)
    indices = all_unaliased(given, a, 0)
    shape = common_shape(indices)
    own = axes_in(a, items)
    even = same_shapes(indices, shape, 0)
    if isinstance(value, np.ndarray) and value.ndim > 0:
        source = unaliased(value, a)
        result = result_shape(shape, view.shape[len(indices):], place_of(a, items))
        check_value(source, result)
        check_numbers(view, indices, own, 0)
        check_all(view, even, shape, own, ())
        if volume(result) == 0:
            return
        spread = stretch(trimmed(source, len(result)), result)
        scatter(view, even, shape, (), moved_front(spread, len(shape), place_of(a, items)))
    else:
        check_numbers(view, indices, own, 0)
        check_all(view, even, shape, own, ())
        scatter(view, even, shape, (), as_type(value[()] if isinstance(value, np.ndarray) else value, a.dtype))


def trimmed(value, n):
    """The value with leading axes of length 1 removed."""
    if value.ndim > n:
        return trimmed(value[0], n)
    return value


def result_shape(shape, rest, place):
    return rest[:place] + shape + rest[place:]


def check_value(value, result):
    if not fits(value.shape, result, 0, False):
        raise ValueError(f"shape mismatch: value array of shape {views.shape_text(value.shape)} could not be broadcast "
                         f"to indexing result of shape {views.shape_text(result)}")


def fits(shape, target, j, empty):
    """Whether a shape fits the target. empty: whether an axis before has length 0; an empty value may have additional
    leading axes."""
    if j == len(shape):
        return True
    n = shape[len(shape) - 1 - j]
    if j >= len(target):
        return (n == 1 or empty) and fits(shape, target, j + 1, empty)
    return (n == 1 or n == target[len(target) - 1 - j]) and fits(shape, target, j + 1, empty or n == 0)


def scatter(view, indices, shape, place, value):
    if len(place) == len(shape):
        put_item(view, indices, place, 0, value)
    else:
        for i in range(shape[len(place)]):
            scatter(view, indices, shape, place + (i,), value[i] if isinstance(value, np.ndarray) else value)


def put_item(view, indices, place, i, value):
    j = index_at(indices[i], place)
    if i == len(indices) - 1:
        view[j] = value
    else:
        put_item(view[j], indices, place, i + 1, value)


# ---------------------------------------------------------------- functions


def take(a, indices, axis=None, out=None, mode="raise"):
    if out is not None:
        if axis is None and np.shape(indices) != out.shape:
            raise ValueError("output array does not match result of ndarray.take")
        found = take(a, indices, axis, None, mode)
        if np.shape(found) != out.shape:
            raise ValueError("output array does not match result of ndarray.take")
        out[...] = found
        return out
    if indices is None:
        raise TypeError("int() argument must be a string, a bytes-like object or a real number, not 'NoneType'")
    if axis is None:
        flat = np.ravel(a)
        check_nonempty(len(flat), indices)
        return flat[moded(indices, len(flat), mode)]
    if a.ndim == 0:
        return take(np.ravel(a), indices, axis, None, mode)
    if not -a.ndim <= axis < a.ndim:
        raise np.exceptions.AxisError(axis, a.ndim, None)
    check_nonempty(a.shape[axis], indices)
    if not isinstance(indices, np.ndarray) and a.ndim > 1:
        return np.moveaxis(a, axis, 0)[moded(indices, a.shape[axis], mode)].copy()
    if axis == 0:
        return a[moded(indices, a.shape[0], mode)]
    if axis < 0:
        return take(a, indices, axis + a.ndim, None, mode)
    places = moded(indices, a.shape[axis], mode)
    check_places(places, a.shape[axis], axis)
    out = np.empty(a.shape[:axis] + places.shape + a.shape[axis + 1:], a.dtype)
    take_into(out, a, places, axis)
    return out


def check_places(places, n, axis):
    for i in range(places.size):
        j = int(flat_item(places, i))
        if not -n <= j < n:
            raise IndexError(f"index {j} is out of bounds for axis {axis} with size {n}")


def take_into(out, a, places, axis):
    """The rows of `a` along the axis, in C order."""
    if axis > 0:
        for i in range(len(a)):
            take_into(out[i], a[i], places, axis - 1)
    elif places.ndim == 1:
        for i in range(len(places)):
            out[i] = a[places[i]]
    else:
        for i in range(len(places)):
            take_into(out[i], a, places[i], 0)


def check_nonempty(n, indices):
    if n == 0 and (not isinstance(indices, np.ndarray) or indices.size > 0):
        raise IndexError("cannot do a non-empty take from an empty axes.")


def check_mode(mode):
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")


def moded(indices, n, mode):
    check_mode(mode)
    if isinstance(indices, tuple):
        return moded(np.array(indices), n, mode)
    if isinstance(indices, np.ndarray):
        if indices.dtype == np.bool_:  # take() treats masks as numbers
            return moded(indices.astype(np.int64), n, mode)
    elif isinstance(indices, (bool, np.bool_)):
        return moded(int(indices), n, mode)
    if mode == "wrap":
        return indices % n
    if mode == "clip":
        return np.clip(indices, 0, n - 1)
    return indices


def put(a, ind, v, mode="raise"):
    check_mode(mode)
    if not is_writable(a):
        raise ValueError("put: output array is read-only")
    check_safe(ind, np.int64)
    if a.size == 0 and np.size(ind):
        raise IndexError("cannot replace elements of an empty array")
    if isinstance(v, np.ndarray):
        if v.size > 0:
            put_items(a, ind, unaliased(v, a), mode)
    else:
        put_items(a, ind, v, mode)


def put_items(a, ind, v, mode):
    if isinstance(ind, np.ndarray):
        where = unaliased(ind, a)
        for i in range(where.size):
            put_one(a, int(flat_item(where, i)), v, i, mode)
    else:
        put_one(a, int(ind), v, 0, mode)


def put_one(a, j, v, i, mode):
    n = a.size
    if mode == "wrap":
        j = j % n
    elif mode == "clip":
        j = min(max(j, 0), n - 1)
    elif not -n <= j < n:
        raise IndexError(f"index {j} is out of bounds for axis 0 with size {n}")
    set_flat(a, j if j >= 0 else j + n, flat_item(v, i % v.size) if isinstance(v, np.ndarray) else v)


def flat_item(a, i):
    if a.ndim == 0:
        return a[()]
    if a.ndim == 1:
        return a[i]
    inner = a[0].size if len(a) else 1
    return flat_item(a[i // inner], i % inner)


def set_flat(a, i, value):
    if a.ndim == 0:
        a[()] = value
    elif a.ndim == 1:
        a[i] = value
    else:
        inner = a.size // len(a)
        set_flat(a[i // inner], i % inner, value)


def place(arr, mask, vals):
    """np.place. Where the elements of the array are contiguous NumPy writes into the array itself, so that a contiguous
    mask and contiguous values that share memory with it are read after earlier writes; otherwise NumPy works on
    copies."""
    if not is_writable(arr):
        raise ValueError("WRITEBACKIFCOPY base is read-only")
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    check_safe(vals, arr.dtype)
    placed(arr, read_for(arr, mask, mask.dtype == np.bool_),
           read_for(arr, vals, vals.dtype == arr.dtype) if isinstance(vals, np.ndarray) else vals)


def read_for(arr, a, same):
    """`a` in the state in which NumPy reads it while it writes into `arr`. same: whether its elements need no
    conversion."""
    if same and arr.flags.c_contiguous and a.flags.c_contiguous:
        return strided(a)
    return strided(unaliased(a, arr))


def placed(arr, mask, vals):
    n = 0
    for i in range(arr.size):
        if flat_item(mask, i):
            if isinstance(vals, np.ndarray) and vals.size == 0:
                raise ValueError("Cannot insert from an empty array!")
            set_flat(arr, i, flat_item(vals, n % vals.size) if isinstance(vals, np.ndarray) else vals)
            n += 1


def putmask(a, mask, values):
    if not is_writable(a):
        raise ValueError("putmask: output array is read-only")
    if mask.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    check_safe(values, a.dtype)
    if isinstance(values, np.ndarray):
        if values.size > 0:
            put_where(a, mask, unaliased(values, a))
    else:
        put_where(a, mask, values)


@intrinsic
def check_safe(values, dtype):
    """Raise where NumPy refuses to convert an array of `values` to `dtype`; it converts numbers without a check."""
    dtype = dtype_of(scalar_of(dtype))
    if isinstance(values.type, Array) and not np.can_cast(dtype_of(values.type.dtype), dtype, "safe"):
        raise Mismatch(f"Cannot cast array data from {dtype_of(values.type.dtype)!r} to {dtype!r} according to the "
                       f"rule 'safe'")
    return Const(k.NoneType, None)


def put_where(a, mask, values):
    for i in range(a.size):
        if flat_item(mask, i):
            set_flat(a, i, flat_item(values, i % values.size) if isinstance(values, np.ndarray) else values)


def compress(condition, a, axis=None, out=None):
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    found = np.flatnonzero(condition)
    return take(a, found, axis, out)


def take_along_axis(arr, indices, axis=-1):
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return np.ravel(arr)[indices]
    check_along(arr, indices, axis)
    source, at = np.moveaxis(arr, axis, -1), np.moveaxis(indices, axis, -1)
    out = np.empty(along_shape(arr, indices, source.shape, at.shape, axis % arr.ndim, 0), arr.dtype)
    along(out, source, at, axis % arr.ndim)
    return np.moveaxis(out, -1, axis)


def check_along(arr, indices, axis):
    if not is_integer_array(indices):
        raise IndexError("`indices` must be an integer array")
    if not -arr.ndim <= axis < arr.ndim:
        raise np.exceptions.AxisError(axis, arr.ndim)
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")


@intrinsic
def is_integer_array(x):
    return Const(Bool, isinstance(x.type, Array) and isinstance(x.type.dtype, NpInt))


def along_shape(arr, indices, x, y, axis, j):
    """The broadcast shape of arr and indices, where the last axis has the length of the indices."""
    if j == len(x) - 1:
        return (y[j],)
    if x[j] != y[j] and x[j] != 1 and y[j] != 1:
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes "
                         f"{along_text(arr, indices, axis, 0)}")
    return (y[j] if x[j] == 1 else x[j],) + along_shape(arr, indices, x, y, axis, j + 1)


def along_text(arr, indices, axis, j):
    if j == arr.ndim:
        return ""
    if j == axis:
        return f"{views.shape_text(indices.shape)} {along_text(arr, indices, axis, j + 1)}"
    return (f"{views.shape_text((1,) * j + (arr.shape[j],) + (1,) * (arr.ndim - 1 - j))} "
            f"{along_text(arr, indices, axis, j + 1)}")


def along(out, source, at, axis):
    if out.ndim == 1:
        for i in range(len(out)):
            out[i] = source[CHECK_INDEX(int(at[i]), len(source), axis=axis)]
    else:
        for i in range(len(out)):
            along(out[i], source[i if len(source) > 1 else 0], at[i if len(at) > 1 else 0], axis)


def put_along_axis(arr, indices, values, axis):
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        put(arr, indices, values)
        return
    check_along(arr, indices, axis)
    if not is_writable(arr):
        raise ValueError("assignment destination is read-only")
    target, at = np.moveaxis(arr, axis, -1), np.moveaxis(unaliased(indices, arr), axis, -1)
    shape = along_shape(arr, indices, target.shape, at.shape, axis % arr.ndim, 0)
    check_indices(at, target.shape[-1], axis % arr.ndim)
    if isinstance(values, np.ndarray):
        wanted = moved_last(shape, axis % arr.ndim)
        check_value(values, wanted)
        source = stretch(trimmed(unaliased(values, arr), len(wanted)), wanted)
        write_along(target, at, np.moveaxis(source, axis, -1), shape)
    else:
        write_along(target, at, values, shape)


def moved_last(shape, axis):
    """The shape in which `axis` was moved to the end."""
    return shape[:axis] + shape[-1:] + shape[axis:-1]


def check_indices(at, n, axis):
    if at.ndim == 1:
        for i in range(len(at)):
            CHECK_INDEX(int(at[i]), n, axis=axis)
    else:
        for i in range(len(at)):
            check_indices(at[i], n, axis)


def write_along(target, at, values, shape):
    if at.ndim == 1:
        for i in range(len(at)):
            target[at[i]] = values[i] if isinstance(values, np.ndarray) else values
    else:
        for i in range(shape[0]):
            write_along(target[i if len(target) > 1 else 0], at[i if len(at) > 1 else 0],
                        values[i] if isinstance(values, np.ndarray) else values, shape[1:])


def truth(a):
    """bool(a)"""
    if a.size == 1:
        return bool(flat_item(a, 0))
    if a.size == 0:
        raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array "
                         "is not empty.")
    raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")


def contains(a, x):
    """x in a"""
    return bool(np.any(a == x))


CALLS = {
    np.take: _of_arrays(take, axis=2), np.put: _of_arrays(put, 2), np.place: _of_arrays(place, 2),
    np.putmask: _of_arrays(putmask, 2), np.compress: _of_arrays(compress),
    np.take_along_axis: compiled(take_along_axis),
    np.put_along_axis: _of_arrays(put_along_axis),
}


def compress_method(a, condition, axis=None, out=None):
    return np.compress(condition, a, axis, out)


METHODS = methods(take=CALLS[np.take], put=CALLS[np.put], compress=compiled(compress_method))
