"""Bits and memory: packbits, unpackbits, whether arrays share memory, the same bytes under another dtype."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops import pyobject
from ....ops.memory import ARRAY_DATA, ARRAY_DIM, ARRAY_STRIDE, ARRAY_VIEW
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, Bool, Bytes, Int, NpBool, NpInt, Object
from ....types.lattice import kind_of
from ...build import a_type, type_name
from ...rule import NONE, Constant, intrinsic, rule
from ..shapes import views
from ..shapes.arrange import with_length
from .attributes import at, checked
from .creation import scalar_of
from .making import as_array
from ..reductions.scans import check_axis
from ..shapes.views import elements, high_address, item_bits, low_address, overlap

__all__ = ["CALLS", "METHODS"]


# ---------------------------------------------------------------- bits in bytes


@rule("np.packbits")
def _packbits(a, /, axis=None, bitorder: Constant = "big"):
    return _of_bits("packbits", packbits, a, [axis], bitorder, lambda t: t is NpBool or isinstance(t, NpInt),
                    "Expected an input array of integer or boolean data type")


@rule("np.unpackbits")
def _unpackbits(a, /, axis=None, count=None, bitorder: Constant = "big"):
    return _of_bits("unpackbits", unpackbits, a, [axis, count], bitorder, lambda t: t is k.uint8,
                    "Expected an input array of unsigned byte data type")


def _of_bits(name, function, a, rest, order, accepts, message):
    a = as_array(name, a) if not isinstance(a.type, Array) else a
    if a.type is not None and not accepts(a.type.dtype):
        return Throw(TypeError, message)
    if order not in ("big", "little"):
        return Throw(ValueError, "'order' must be either 'little' or 'big'")
    return Call(function, a, *(x or NONE for x in rest), Const(Bool, order == "big"))


def packbits(a, axis, big):
    if axis is None:
        flat = np.ravel(a)
        out = np.empty((len(flat) + 7) // 8, np.uint8)
        pack(out, flat, big)
        return out
    place = check_axis(axis, a.ndim)
    out = np.empty(with_length(a.shape, place, (a.shape[place] + 7) // 8, 0), np.uint8)
    pack_rows(np.moveaxis(out, place, -1), np.moveaxis(a, place, -1), big)
    return out


def pack_rows(out, a, big):
    if a.ndim == 1:
        pack(out, a, big)
    else:
        for i in range(len(a)):
            pack_rows(out[i], a[i], big)


def pack(out, a, big):
    for i in range(len(out)):
        byte = 0
        for j in range(8):
            at = 8 * i + j
            if at < len(a) and a[at] != 0:
                byte |= (128 >> j) if big else (1 << j)
        out[i] = byte


def unpackbits(a, axis, count, big):
    if axis is None:
        flat = np.ravel(a)
        out = np.zeros(bits_kept(len(flat), count), np.uint8)
        unpack(out, flat, big)
        return out
    place = check_axis(axis, a.ndim)
    out = np.zeros(with_length(a.shape, place, bits_kept(a.shape[place], count), 0), np.uint8)
    unpack_rows(np.moveaxis(out, place, -1), np.moveaxis(a, place, -1), big)
    return out


def bits_kept(n, count):
    if count is None:
        return 8 * n
    if count >= 0:
        return int(count)
    if 8 * n + count < 0:
        raise ValueError("-count larger than number of elements")
    return 8 * n + int(count)


def unpack_rows(out, a, big):
    if a.ndim == 1:
        unpack(out, a, big)
    else:
        for i in range(len(a)):
            unpack_rows(out[i], a[i], big)


def unpack(out, a, big):
    for i in range(min(len(out), 8 * len(a))):
        j = i & 7
        out[i] = (int(a[i >> 3]) >> (7 - j if big else j)) & 1


# ---------------------------------------------------------------- common memory


def may_share_memory(a, b):
    return overlap(a, b)


def shares_memory(a, b):
    """Whether an element of one lies in an element of the other."""
    return overlap(a, b) and meets(a, b)


def meets(a, b):
    if not overlap(a, b):
        return False
    if a.ndim == 0:
        return holds(b, low_address(a, 0, ARRAY_DATA(a)), high_address(a, 0, ARRAY_DATA(a)))
    return meets_row(a, b)


def meets_row(a, b):
    for i in range(len(a)):
        if meets(a[i:i + 1].reshape(()) if a.ndim == 1 else a[i], b):
            return True
    return False


def holds(b, low, high):
    """Whether an element of b overlaps the bytes from low to high."""
    if b.size == 0:
        return False
    if low_address(b, 0, ARRAY_DATA(b)) >= high or high_address(b, 0, ARRAY_DATA(b)) <= low:
        return False
    if b.ndim == 0:
        return True
    return holds_row(b, low, high)


def holds_row(b, low, high):
    for i in range(len(b)):
        if holds(b[i:i + 1].reshape(()) if b.ndim == 1 else b[i], low, high):
            return True
    return False


def _shared(name, function):
    @rule(f"np.{name}")
    def found(a, b, /, max_work=None):
        for x in (a, b):
            if not isinstance(x.type, Array):
                raise NotNative(f"np.{name} of {a_type(x.type)} is not compiled", "pass arrays")
        return Call(function, a, b)

    return found


# ---------------------------------------------------------------- another dtype


def _is_array_class(value):
    return isinstance(value, type) and issubclass(value, np.ndarray)


@rule("np.ndarray.view")
def _view(a, dtype=None, type=None):
    x = dtype
    for y in (x, type):
        if y is not None and isinstance(y.type, k.Singleton) and _is_array_class(y.type.value):
            if y.type.value is not np.ndarray:
                raise NotNative("views as subclasses of ndarray are not compiled")
            x = None if y is x else x
    t = a.type
    if x is None:
        return _same_bytes(a, t.dtype)
    dtype = scalar_of(x)
    old, new = item_bits(t.dtype) // 8, item_bits(dtype) // 8
    if old == new:
        return _same_bytes(a, dtype)
    if t.ndim == 0:
        return Throw(ValueError, "Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    return Call(resized_view, a, Const(k.DType(dtype), None), Const(Int, old), Const(Int, new))


def _same_bytes(a: Expr, dtype) -> Expr:
    t, axes = a.type, range(a.type.ndim)
    return Apply(ARRAY_VIEW, a, views.ZERO, *(Apply(ARRAY_DIM, a, axis=j) for j in axes),
                 *(Apply(ARRAY_STRIDE, a, axis=j) for j in axes),
                 type=Array(dtype, t.ndim, t.layout, t.writable, t.aligned))


def resized_view(a, dtype, old, new):
    if a.shape[a.ndim - 1] != 1 and a.size > 0 and a.strides[a.ndim - 1] != old:
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if new > old and a.shape[a.ndim - 1] * old % new != 0:
        raise ValueError("When changing to a larger dtype, its size must be a divisor of the total size in bytes of "
                         "the last axis of the array.")
    return other_items(a, dtype, a.shape[a.ndim - 1] * old // new)


@intrinsic
def other_items(a, dtype, n):
    """The bytes of `a` as n items of another size along the last axis."""
    t, dtype = a.type, dtype.type.scalar
    last = t.ndim - 1
    made_ = Array(dtype, t.ndim, "C" if t.layout == "C" else "A", t.writable, t.aligned)
    return Apply(ARRAY_VIEW, a, views.ZERO, *(Apply(ARRAY_DIM, a, axis=j) for j in range(last)), n, *(
        Apply(ARRAY_STRIDE, a, axis=j) for j in range(last)), Const(Int, item_bits(dtype) // 8), type=made_)


@rule("np.ndarray.byteswap")
def _byteswap(a, inplace: Constant = False):
    t = a.type.dtype
    if isinstance(t, k.Record):
        raise NotNative("byteswap() of arrays of records or strings is not compiled", "call it on the fields: a['x']")
    size = (item_bits(t) // 8) // (2 if k.is_complex(t) else 1)
    if inplace and not a.type.writable:
        return Throw(ValueError, "array is not writeable")
    return Call(swapped, a, Const(Int, size), Const(Bool, bool(inplace)))


def swapped(a, size, inplace):
    out = a if inplace else a.copy()
    if size > 1:
        swap_rows(out, size)
    return out


def swap_rows(a, size):
    if a.ndim == 0:
        swap_bytes(bytes_of(a), size)
    else:
        for i in range(len(a)):
            swap_rows(a[i:i + 1].reshape(()) if a.ndim == 1 else a[i], size)


@intrinsic
def bytes_of(a):
    """The bytes of a 0-d array."""
    return Apply(ARRAY_VIEW, a, views.ZERO, Const(Int, item_bits(a.type.dtype) // 8), views.ONE,
                 type=Array(k.uint8, 1, "C", a.type.writable))


def swap_bytes(b, size):
    for i in range(0, len(b), size):
        for j in range(size // 2):
            x = b[i + j]
            b[i + j] = b[i + size - 1 - j]
            b[i + size - 1 - j] = x


# ---------------------------------------------------------------- Python objects


def python_call(function, *args, **kwargs):
    """A call of a Python function that can be found by its name in any process."""
    boxed = (x if x.type is Object else Apply(pyobject.PY_BOX, x) for x in (*args, *kwargs.values()))
    return Apply(pyobject.PY_CALL, Const(Object, function), *boxed, kwnames=tuple(kwargs))


@rule("np.ndarray.tobytes")
def _tobytes(a, order="C"):
    return Apply(pyobject.PY_UNBOX, python_call(np.ndarray.tobytes, a, order), type=Bytes)


@rule("np.ndarray.dumps")
def _dumps(a):
    return Apply(pyobject.PY_UNBOX, python_call(np.ndarray.dumps, a), type=Bytes)


@rule("np.ndarray.tolist")
def _tolist(a):
    if a.type.ndim == 0:
        return Call(one_item, a)
    found, t = python_call(np.ndarray.tolist, a), _item_type(a.type.dtype)
    if t is Object:
        return found
    for _ in range(a.type.ndim):
        t = k.List(t)
    return Apply(pyobject.PY_UNBOX, found, type=t)


def _item_type(dtype) -> k.Type:
    """The type of what NumPy makes of an element for Python; Object where it is no number that fits in 64 bits."""
    if dtype is k.uint64 or not k.is_number(dtype):
        return Object
    return {"b": Bool, "i": Int, "u": Int, "f": k.Float, "c": k.Complex}[kind_of(dtype)]


@rule("np.ndarray.item")
def _item(a, *args):
    at = args
    if len(at) == 1 and isinstance(at[0].type, k.Tuple):
        at = elements(at[0])
        one = False
    else:
        one = len(at) == 1
    for x in at:
        if not k.is_integer(x.type):
            raise Mismatch(f"'{type_name(x.type)}' object cannot be interpreted as an integer")
    if not at:
        return Call(one_item if a.type.ndim == 0 else only_item, a)
    if one and a.type.ndim != 1:
        return Call(item_of_flat, a, at[0])
    if len(at) != a.type.ndim:
        return Throw(ValueError, "incorrect number of indices for array")
    return Call(item_at, a, Apply(TUPLE_MAKE, *at, cls=None))


def one_item(a):
    return a[()].item()


def only_item(a):
    if a.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return a.flat[0].item()


def item_of_flat(a, i):
    return at(a, checked(i, a.size, False)).item()


def item_at(a, at):
    return a[at].item()


@rule("np.ndarray.getfield")
def _getfield(a, dtype, offset: Constant = 0):
    return _field(a, dtype, offset)


@rule("np.ndarray.setfield")
def _setfield(a, val, dtype, offset: Constant = 0):
    place = _field(a, dtype, offset)
    return place if isinstance(place, Throw) else Call(put_all, place, val)


def _field(a, dtype, offset):
    """The view of the bytes of a field of each element."""
    t, dtype = a.type, scalar_of(dtype)
    old, new = item_bits(t.dtype) // 8, item_bits(dtype) // 8
    if offset < 0:
        return Throw(ValueError, "offset is negative")
    if new > old:
        return Throw(ValueError, "new type is larger than original type")
    if offset + new > old:
        return Throw(ValueError, "new type plus offset is larger than original type")
    axes = range(t.ndim)
    return Apply(ARRAY_VIEW, a, Const(Int, int(offset)), *(Apply(ARRAY_DIM, a, axis=j) for j in axes),
                 *(Apply(ARRAY_STRIDE, a, axis=j) for j in axes),
                 type=Array(dtype, t.ndim, "A", t.writable, t.aligned and offset % new == 0))


def put_all(a, value):
    a[...] = value


@rule("np.ndarray.to_device")
def _to_device(a, device: Constant, /, *, stream=None):
    if stream:
        raise NotNative("the array method to_device() is compiled with no stream")
    return a if device == "cpu" else Throw(ValueError, f"Unsupported device: {device}. Only 'cpu' is accepted.")


def _refused(name, hint):
    @rule(f"np.ndarray.{name}")
    def found(a, *args, **kwargs):
        raise NotNative(f"the array method {name}() is not compiled", hint)

    return found


_REFUSED = {
    "resize": "write np.resize(a, shape)", "setflags": "flags are part of the type of an array; pass a copy",
    "dump": "call it outside the compiled function", "tofile": "call it outside the compiled function",
}
CALLS = {
    np.packbits: _packbits, np.unpackbits: _unpackbits,
    np.may_share_memory: _shared("may_share_memory", may_share_memory),
    np.shares_memory: _shared("shares_memory", shares_memory),
}
METHODS = {
    "view": _view, "byteswap": _byteswap, "tobytes": _tobytes, "tolist": _tolist, "item": _item,
    "dumps": _dumps, "getfield": _getfield, "setfield": _setfield, "to_device": _to_device,
    **{name: _refused(name, hint) for name, hint in _REFUSED.items()},
}
