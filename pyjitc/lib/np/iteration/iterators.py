"""Iteration over arrays and shapes: ndindex, ndenumerate, a.flat, nditer, np.broadcast. The first three have states and
steps, as in lib/py/iteration.py, the others are generators, compiled into the loop."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Expr, NotConstant, NotNative, Throw
from ....ops.arith import IADD, IMUL, ISUB, LIKELY
from ....ops.memory import ARRAY_LOAD, ARRAY_STRIDE, ARRAY_VIEW
from ....ops.structure import PACK, RETYPE, SELECT, STRUCT_GET, TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, Bool, Int
from ...build import is_sequence
from ...intrinsics import NOTHING
from ...protocol import Protocol, State
from ...rule import Constant, intrinsic, rule
from ..shapes import views
from .applying import common_shape, rows_at
from ..shapes.arrange import is_fortran, permute
from ..shapes.views import each, elements, is_contiguous, read_only, view_as
from ..arrays.making import as_array
from ..shapes.splitting import highest, joint_shape, spread

__all__ = ["CALLS", "METHODS", "PROTOCOLS", "items"]

MOST = 2 ** 63 - 1


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


# ---------------------------------------------------------------- indices


@rule("np.ndindex")
def _ndindex(*args):
    if len(args) == 1 and is_sequence(args[0].type):
        args = elements(args[0])
    if not all(k.is_integer(x.type) for x in args):
        raise NotNative("np.ndindex takes integers, or a tuple of them")
    return Call(places, Call(lengths, _tuple(args), Const(Int, 0)))


def lengths(shape, j):
    if j == len(shape):
        return ()
    if shape[j] < 0:
        raise ValueError("negative dimensions are not allowed")
    return (int(shape[j]),) + lengths(shape, j + 1)


def places(shape):
    return PACK(shape, zeros(len(shape)), count(shape, 0), name="ndindex")


def count(shape, j):
    """The product of the lengths; where it exceeds 64 bits, a count that no loop reaches."""
    if j == len(shape):
        return 1
    rest = count(shape, j + 1)
    if shape[j] != 0 and rest > MOST // shape[j]:
        return MOST
    return IMUL(shape[j], rest)


def zeros(n):
    return () if n == 0 else (0,) + zeros(n - 1)


def place_step(s):
    """A step of ndindex. The indices are incremented like digits, so that one loop visits all of them."""
    shape = STRUCT_GET(s, field="0")
    at = STRUCT_GET(s, field="1")
    left = STRUCT_GET(s, field="2")
    if left > 0:
        return True, at, PACK(shape, after(at, shape, len(at) - 1), one_less(left), name="ndindex")
    return False, NOTHING, s


def one_less(left):
    return ISUB(left, 1, flags="nuw nsw")


def after(at, shape, last):
    """The indices after these. A branch is predicted where rows are long, or all of one length, whereas the next step
    would wait for a selected index."""
    if last < 0:
        return ()
    i = IADD(at[last], 1)
    if last == 0:
        return (i,)
    if LIKELY(i != shape[last]):
        return at[:last] + (i,)
    return following(at, shape, last - 1, 1) + (0,)


def following(at, shape, k, carry):
    """The indices that follow `at` along the axes up to k, after `carry` was added to the last of these."""
    if k < 0:
        return ()
    i = IADD(at[k], carry)
    if k == 0:
        return (i,)
    full = i == shape[k]
    return following(at, shape, k - 1, SELECT(full, 1, 0)) + (SELECT(full, 0, i),)


@rule("np.ndenumerate")
def _ndenumerate(arr):
    x = arr
    return Call(numbered, x if isinstance(x.type, Array) else as_array("ndenumerate", x))


def numbered(a):
    return PACK(a, zeros(a.ndim), a.size, 0, name="ndenumerate")


def number_step(s):
    """A step of a loop over np.ndenumerate. The number of the element is counted beside the elements that are left:
    `left` then only counts the trips, and the loop keeps no counter of its own."""
    a = STRUCT_GET(s, field="0")
    at = STRUCT_GET(s, field="1")
    left = STRUCT_GET(s, field="2")
    number = STRUCT_GET(s, field="3")
    if left > 0:
        return True, (at, element_at(a, at, number)), PACK(
            a, after(at, a.shape, a.ndim - 1), one_less(left), IADD(number, 1, flags="nuw nsw"),
            name="ndenumerate")
    return False, NOTHING, s


def element_at(a, at, number):
    """The element at these indices, which is the one with this number in C order."""
    if a.ndim > 1 and in_c_order(a):
        return ARRAY_LOAD(view_as(a, (a.size,)), number)
    return ARRAY_LOAD(a, *at)


@intrinsic
def in_c_order(a):
    """Whether the type says that the elements are contiguous in C order."""
    return Const(Bool, a.type.layout == "C")


def item_step(s):
    """A step of a loop over `a.flat` where the elements may not be contiguous."""
    a = STRUCT_GET(s, field="0")
    at = STRUCT_GET(s, field="1")
    left = STRUCT_GET(s, field="2")
    if left > 0:
        return True, ARRAY_LOAD(a, *at), PACK(
            a, after(at, a.shape, a.ndim - 1), one_less(left), name="flatiter")
    return False, NOTHING, s


def items(a):
    return PACK(a, zeros(a.ndim), a.size, name="flatiter")


# ---------------------------------------------------------------- nditer


def _words(x: Expr, name: str):
    """The words of an argument such as `flags`, which must be a constant."""
    if isinstance(x.type, k.Struct):
        raise NotConstant(f"{name}= of np.nditer must be known at compile time", "write a tuple: ('readwrite',)")
    if not x.known:
        raise NotConstant(f"{name}= of np.nditer must be a constant")
    found = x.value if isinstance(x.value, tuple) else (x.value,)
    return found


@rule("np.nditer")
def _nditer(op, flags=None, op_flags=None, op_dtypes=None, order: Constant = "K", casting=None, op_axes=None,
            itershape=None, buffersize=None):
    for name, x in (("op_dtypes", op_dtypes), ("casting", casting), ("op_axes", op_axes), ("itershape", itershape),
                    ("buffersize", buffersize)):
        if x:
            raise NotNative(f"np.nditer with {name}= is not compiled")
    flags = _words(flags, "flags") if flags else ()
    access = _words(op_flags, "op_flags") if op_flags else ("readonly",)
    x = op
    if set(flags) - {"refs_ok", "zerosize_ok", "reduce_ok"}:
        raise NotNative(f"np.nditer with the flag '{flags[0]}' is not compiled", "np.ndenumerate gives the indices")
    if order not in ("C", "F", "K", "A"):
        raise NotNative("order= of np.nditer must be the constant 'C', 'F', 'A' or 'K'")
    several = is_sequence(x.type)
    parts = [y if isinstance(y.type, Array) else as_array("nditer", y) for y in (elements(x) if several else [x])]
    writes = ([w if isinstance(w, tuple) else (w,) for w in access] if any(isinstance(w, tuple) for w in access)
              else [access] * len(parts))
    if len(writes) != len(parts) or any(w[0] not in ("readonly", "readwrite", "writeonly") for w in writes):
        raise NotNative("op_flags= of np.nditer must be 'readonly', 'readwrite' or 'writeonly' for each operand")
    writable = tuple(w[0] != "readonly" for w in writes)
    for y, write in zip(parts, writable):
        if write and y.type is not None and not y.type.writable:
            return Throw(ValueError, "output array is read-only")
    if several and order in ("K", "A") and len(parts) > 1:
        order = _joint_order(order, [y.type for y in parts])
    empty = Const(Bool, "zerosize_ok" in flags)
    if not several:
        return Call(single, parts[0], Const(k.Str, order), empty, Const(Bool, writable[0]))
    return Call(joint, _tuple(parts), Const(k.Str, order), empty, Const(k.Tuple((Bool,) * len(parts)), writable))


def _joint_order(order: str, types: list) -> str:
    """The order of a loop over several arrays: K only where strides decide it at run time."""
    given = [t for t in types if t is not None and t.ndim > 0]  # None: an array that is made here, in C order
    if all(t.layout == "C" for t in given):
        return "C"
    return order if order == "K" else "F" if len(given) == len(types) and all(t.layout == "F" for t in given) else "C"


def check_filled(shape, empty):
    if not empty and 0 in shape:
        raise ValueError("Iteration of zero-sized operands is not enabled")


def single(a, order, empty, write):
    check_filled(a.shape, empty)
    return cells(in_order(a, order), write)


def in_order(a, order):
    """The view whose C order is the requested order."""
    if a.ndim == 0 or order == "C":
        return a
    if order == "F":
        return a.T
    if order == "A":
        return a.T if is_fortran(a) else a
    if is_contiguous(a):
        return a
    return sorted_axes(forward(a, 0), 0)


def forward(a, axis):
    """The view in which no axis runs backwards in memory."""
    if axis == a.ndim:
        return a
    way = -1 if a.strides[axis] < 0 else 1
    return forward(np.moveaxis(np.moveaxis(a, axis, 0)[::way], 0, axis), axis + 1)


def sorted_axes(a, done):
    """The view whose axes have descending strides: a bubble sort with a fixed sequence of conditional exchanges."""
    if done + 1 >= a.ndim:
        return a
    return sorted_axes(bubble(a, a.ndim - 1, done), done + 1)


def bubble(a, axis, stop):
    if axis == stop:
        return a
    return bubble(exchanged(a, axis - 1, abs(a.strides[axis - 1]) < abs(a.strides[axis]) and a.shape[axis] != 1),
                  axis - 1, stop)


@intrinsic
def exchanged(a, axis, turn):
    """`a` with this axis and the next exchanged where `turn` is true."""
    n, j = a.type.ndim, axis.value
    turned = permute(a, [*range(j), j + 1, j, *range(j + 2, n)])
    return Call(one_of, turn, _any_layout(turned), _any_layout(a))


def _any_layout(a):
    t = Array(a.type.dtype, a.type.ndim, "A", a.type.writable, a.type.aligned)
    return Apply(RETYPE, a, type=t) if a.type is not t else a


def one_of(turn, x, y):
    if turn:
        return x
    return y


def cells(a, write):
    if a.ndim == 0:
        yield a if write else read_only(a)
    elif a.ndim == 1:
        for i in range(len(a)):
            yield cell(a, i) if write else read_only(cell(a, i))
    else:
        for i in range(len(a)):
            for x in cells(a[i], write):
                yield x


@intrinsic
def cell(a, i):
    """Element i of a 1-D array as a 0-d array."""
    t = Array(a.type.dtype, 0, "C", a.type.writable, a.type.aligned)
    return Apply(ARRAY_VIEW, a, Apply(IMUL, i, Apply(ARRAY_STRIDE, a, axis=0)), type=t)


def joint(arrays, order, empty, writes):
    shape = common_shape(arrays)
    check_filled(shape, empty)
    arrays = each(spread, arrays, shape)
    if order == "K":
        return rows_of_cells(by_memory(forward_all(arrays, 0), 1), writes)
    return rows_of_cells(turned(arrays, order, 0), writes)


def forward_all(arrays, axis):
    """The views in which no axis runs backwards in all of the arrays that have a step along it."""
    if axis == arrays[0].ndim:
        return arrays
    way = -1 if runs_backwards(arrays, axis) else 1
    return forward_all(stepped(arrays, axis, way, 0), axis + 1)


def runs_backwards(arrays, axis):
    back = False
    for a in arrays:
        if a.strides[axis] > 0:
            return False
        if a.strides[axis] < 0:
            back = True
    return back


def stepped(arrays, axis, way, j):
    if j == len(arrays):
        return ()
    return (np.moveaxis(np.moveaxis(arrays[j], axis, 0)[::way], 0, axis),) + stepped(arrays, axis, way, j + 1)


def by_memory(arrays, k):
    """The views with their axes in NumPy's order for several arrays: an insertion sort from the last axis, in which
    arrays with a stride of zero have no say, and of arrays that disagree those in C order decide. k: how many axes from
    the end are in order."""
    if k >= arrays[0].ndim:
        return arrays
    axis = arrays[0].ndim - 1 - k
    return by_memory(moved_behind(arrays, axis, last_behind(arrays, axis)), k + 1)


def last_behind(arrays, axis):
    """The last of the axes after `axis` behind which it belongs; `axis` itself if there is none."""
    found = axis
    for other in range(axis + 1, arrays[0].ndim):
        order = compared(arrays, axis, other)
        if order < 0:
            return found
        if order > 0:
            found = other
    return found


def compared(arrays, axis, other):
    """1 if the axis belongs behind the other one, -1 if before it, 0 if no array has steps along both."""
    if arrays[0].shape[axis] == 1 or arrays[0].shape[other] == 1:
        return 0
    order = 0
    for a in arrays:
        step, inner = abs(a.strides[axis]), abs(a.strides[other])
        if step != 0 and inner != 0:
            if inner <= step:
                order = -1
            elif order == 0:
                order = 1
    return order


def moved_behind(arrays, axis, place):
    if axis + 1 >= arrays[0].ndim:
        return arrays
    return moved_behind(each(exchanged, arrays, axis, axis < place), axis + 1, place)


def turned(arrays, order, j):
    return () if j == len(arrays) else (arrays[j].T if order == "F" else arrays[j],) + turned(arrays, order, j + 1)


def rows_of_cells(arrays, writes):
    if arrays[0].ndim == 0:
        yield views_of(arrays, writes, 0)
    elif arrays[0].ndim == 1:
        for i in range(len(arrays[0])):
            yield cells_at(arrays, i, writes, 0)
    else:
        for i in range(len(arrays[0])):
            for x in rows_of_cells(rows_at(arrays, i, 0), writes):
                yield x


def cells_at(arrays, i, writes, j):
    if j == len(arrays):
        return ()
    return (cell(arrays[j], i) if writes[j] else read_only(cell(arrays[j], i)),) + cells_at(arrays, i, writes, j + 1)


def views_of(arrays, writes, j):
    if j == len(arrays):
        return ()
    return (arrays[j] if writes[j] else read_only(arrays[j]),) + views_of(arrays, writes, j + 1)


# ---------------------------------------------------------------- np.broadcast


@rule("np.broadcast")
def _broadcast(*args):
    if len(args) < 1 or len(args) > 32:
        return Throw(ValueError, "Need at least 0 and at most 32 array objects.")
    return Apply(PACK, Call(broadcast_parts, _tuple(args)), name=k.Broadcast.role)


def broadcast_parts(args):
    arrays = each(np.asarray, args)
    return each(spread, arrays, joint_shape(each(np.shape, arrays), highest(arrays, 0), 0))


class _Broadcast(Protocol):
    """np.broadcast(...)"""

    def attribute(self, x, name):
        parts = elements(Apply(STRUCT_GET, x, field="0"))
        if name in ("nd", "ndim", "numiter"):
            return Const(Int, len(parts) if name == "numiter" else parts[0].type.ndim)
        if name in ("shape", "size"):
            return views.ATTRIBUTES[name](parts[0])
        raise NotNative(f"the attribute '{name}' of np.broadcast is not compiled", "count with enumerate",
                        AttributeError)

    def iterate(self, x):
        return Call(rows_of_items, Apply(STRUCT_GET, x, field="0"))


def rows_of_items(arrays):
    if arrays[0].ndim == 0:
        yield items_at(arrays, (), 0)
    elif arrays[0].ndim == 1:
        for i in range(len(arrays[0])):
            yield items_at(arrays, (i,), 0)
    else:
        for i in range(len(arrays[0])):
            for x in rows_of_items(rows_at(arrays, i, 0)):
                yield x


def items_at(arrays, at, j):
    return () if j == len(arrays) else (arrays[j][at],) + items_at(arrays, at, j + 1)


CALLS = {np.ndindex: _ndindex, np.ndenumerate: _ndenumerate, np.nditer: _nditer, np.broadcast: _broadcast}
METHODS = {}

PROTOCOLS = {k.Broadcast: _Broadcast(), "ndindex": State(place_step), "ndenumerate": State(number_step),
             "flatiter": State(item_step)}
