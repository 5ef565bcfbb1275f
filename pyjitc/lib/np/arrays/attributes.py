"""Attributes of arrays that are objects, `a.flags` and `a.flat`, and assignment to attributes.

`a.flat` is a struct around the array: elements in C order whatever the strides; slices of it are copies.
"""
from __future__ import annotations

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotConstant, NotNative, Throw
from ....ops.structure import PACK, STRUCT_GET
from ....types import kinds as k
from ....types.kinds import Bool, Int, NpBool
from ....types.lattice import dtype_of
from ...build import is_sequence, provoked
from ...intrinsics import as_element, as_type
from ...protocol import Protocol
from ...py import conversions
from ...py.iteration import array_iterate
from ..indexing import indexing, subscripts
from ..shapes import views
from ..shapes.views import elements, is_contiguous, place, view_as
from .making import in_order

__all__ = ["PROTOCOLS", "of_array", "set_of_array"]

foreign = lazy("pyjitc.lib.py.foreign")
iterators = lazy("pyjitc.lib.np.iteration.iterators")  # only loops over `a.flat` need it


def of_array(a: Expr, name: str):
    """The expression of a.flags or a.flat; an error for an attribute that is not compiled; or None for all others."""
    if name in ("flags", "flat"):
        return Apply(PACK, a, name=name)
    if name == "ctypes":
        return foreign.pointer_to(a)
    if name in _REFUSED:
        raise NotNative(f"the array attribute '{name}' has no meaning in compiled code", _REFUSED[name], AttributeError)
    return None


_REFUSED = {"base": "pass both arrays, or use np.may_share_memory",
            "data": "use the array itself", "device": "arrays are on the CPU"}


def _array(x: Expr) -> Expr:
    return Apply(STRUCT_GET, x, field="0")


# ---------------------------------------------------------------- flags


def rows_first(a):
    return a.size == 0 or in_order(a, a.ndim - 1, -1, a.itemsize)


def columns_first(a):
    return a.size == 0 or in_order(a, 0, 1, a.itemsize)


def either_first(a):
    return rows_first(a) or columns_first(a)


def only_columns_first(a):
    return columns_first(a) and not rows_first(a)


def _owned(a):
    raise NotNative("whether an array owns its memory is not known in compiled code")


def _flag(value):
    return Const(Bool, value)


_FLAGS = {
    "C_CONTIGUOUS": lambda a: _flag(True) if a.type.layout == "C" else Call(rows_first, a),
    "F_CONTIGUOUS": lambda a: _flag(True) if a.type.layout == "F" else Call(columns_first, a),
    "WRITEABLE": lambda a: _flag(a.type.writable), "ALIGNED": lambda a: _flag(a.type.aligned),
    "WRITEBACKIFCOPY": lambda a: _flag(False), "FORC": lambda a: Call(either_first, a),
    "FNC": lambda a: Call(only_columns_first, a), "OWNDATA": _owned,
    "BEHAVED": lambda a: _flag(a.type.writable and a.type.aligned),
}
_FLAGS.update({short: _FLAGS[name] for short, name in (
    ("C", "C_CONTIGUOUS"), ("CONTIGUOUS", "C_CONTIGUOUS"), ("F", "F_CONTIGUOUS"), ("FORTRAN", "F_CONTIGUOUS"),
    ("W", "WRITEABLE"), ("A", "ALIGNED"), ("X", "WRITEBACKIFCOPY"), ("O", "OWNDATA"))})


class _Flags(Protocol):
    """a.flags"""

    def length(self, x):
        raise Mismatch("object of type 'numpy._core.multiarray.flagsobj' has no len()")

    def getitem(self, x, i):
        rule = _FLAGS.get(i.value) if i.known else None
        if rule is None:
            raise (Mismatch("Unknown flag", exception=KeyError) if i.known else
                   NotConstant("the name of a flag must be a constant"))
        return rule(_array(x))

    def setitem(self, x, i, value, asks):
        raise NotNative("flags of an array are part of its type in compiled code and cannot be changed")

    def is_iterable(self, x):
        return False

    def iterate(self, x):
        raise Mismatch("'numpy._core.multiarray.flagsobj' object is not iterable")

    def attribute(self, x, name):
        rule = _FLAGS.get(name.upper())
        if rule is None or name.upper() in ("C", "F", "A", "W", "X", "O"):
            raise Mismatch(f"'numpy._core.multiarray.flagsobj' object has no attribute '{name}'", "", AttributeError)
        return rule(_array(x))

    def set_attribute(self, x, name, value):
        self.setitem(x, None, value, True)


# ---------------------------------------------------------------- flat


def at(a, i):
    """Element i of the array `a`, counted in C order."""
    return a.ravel()[i] if is_contiguous(a) else a[place(a.shape, i, len(a.shape))]


# whether the message for reading names an axis, as in NumPy 2.2
AXIS_IN_TEXT = "axis" in provoked(lambda: np.zeros(1).flat[9])


def checked(i, n, named):
    if i < -n or i >= n:
        if named:
            raise IndexError(f"index {i} is out of bounds for axis 0 with size {n}")
        raise IndexError(f"index {i} is out of bounds for size {n}")
    return i + n if i < 0 else i


def flat_item(a, i):
    return at(a, checked(i, a.size, AXIS_IN_TEXT))


def flat_part(a, i):
    return a.ravel()[i].copy()


def put_at(a, i, x):
    if is_contiguous(a) or a.ndim == 0:
        view_as(a, (a.size,))[i] = x
    else:
        a[place(a.shape, i, len(a.shape))] = x


def put_one(a, i, x):
    j = checked(i, a.size, False)
    try:
        put_at(a, j, as_element(x, a.dtype))
    except (OverflowError, ValueError):
        raise ValueError("Error setting single item of array.") from None


def put_part(a, i, values):
    put_cyclic(a, np.arange(a.size)[i], values)


def put_cyclic(a, places, values):
    """Store the values one after the other, starting again with the first one when they run out."""
    flat = np.ravel(values)
    if len(flat) > 0:
        for j in range(len(places)):
            put_at(a, places[j], as_type(flat[j % len(flat)], a.dtype))


def put_every(a, values):
    flat = np.ravel(values)
    if len(flat) > 0:
        for j in range(a.size):
            put_at(a, j, as_type(flat[j % len(flat)], a.dtype))


def _is_index(t):
    return t is Int or isinstance(t, k.NpInt)


def _check_index(i):
    t = i.type
    if (t is k.Ellipsis_ or isinstance(t, k.Slice) or is_sequence(t) and isinstance(t, k.Struct)
            or isinstance(t, k.Array) and t.ndim == 1 and (isinstance(t.dtype, k.NpInt) or t.dtype is NpBool)):
        return
    raise Mismatch("unsupported iterator index", "index a.flat with an int, a slice or an array of ints", IndexError)


class _Flat(Protocol):
    """a.flat"""

    def length(self, x):
        return views.ATTRIBUTES["size"](_array(x))

    def getitem(self, x, i):
        if isinstance(i.type, k.Tuple) and len(i.type.elements) == 1:
            i = elements(i)[0]
        if _is_index(i.type):
            return Call(flat_item, _array(x), conversions.to_int(i))
        _check_index(i)
        return Call(flat_part, _array(x), i)

    def setitem(self, x, i, v, asks):
        a = _array(x)
        if not a.type.writable:
            return Throw(ValueError, "assignment destination is read-only")
        if _is_index(i.type) and k.is_scalar(v.type):
            return Call(put_one, a, conversions.to_int(i), v)
        if not isinstance(v.type, k.Array):
            v = Call(np.asarray, v, Const(k.DType(a.type.dtype), dtype_of(a.type.dtype)))
        if _is_index(i.type):
            raise Mismatch("Error setting single item of array.", exception=ValueError)
        _check_index(i)
        return Call(put_part, a, i, v)

    def iterate(self, x):
        a = _array(x)
        if a.type.layout == "C" and a.type.ndim or a.type.ndim == 1:
            return Call(in_a_row, a)
        return Call(iterators.items, a)

    def attribute(self, x, name):
        raise NotNative(f"the attribute '{name}' of a flat iterator is not compiled",
                        "write a.ravel(), or count with enumerate", AttributeError)


PROTOCOLS = {k.ArrayFlags: _Flags(), k.FlatArray: _Flat()}


def in_a_row(a):
    return array_iterate(view_as(a, (a.size,)))


# ---------------------------------------------------------------- assignment


def set_of_array(a: Expr, name: str, v: Expr) -> Expr:
    if name == "flat":
        if not a.type.writable:
            return Throw(ValueError, "assignment destination is read-only")
        if not isinstance(v.type, k.Array):
            v = Call(np.asarray, v, Const(k.DType(a.type.dtype), dtype_of(a.type.dtype)))
        return Call(put_every, a, v)
    if name in ("real", "imag"):
        if name == "imag" and not k.is_complex(a.type.dtype):
            raise Mismatch("array does not have imaginary part to set")
        part, whole = views.ATTRIBUTES[name](a), Const(k.Ellipsis_, ...)
        if k.is_scalar(v.type):
            v = conversions.of_numpy(v)
        return (indexing.setitem(part, whole, v) if is_sequence(v.type)
                else subscripts.setitem(part, whole, v, conversions.assign))
    if name == "shape":
        raise NotNative("assigning to the shape of an array is not compiled",
                        "write a = a.reshape(...): NumPy 2.5 deprecates the assignment")
    if name in ("dtype", "strides"):
        raise NotNative(f"assigning to the {name} of an array is not compiled", "write b = a.view(dtype)"
                        if name == "dtype" else "slice the array")
    raise Mismatch(f"attribute '{name}' of 'numpy.ndarray' objects is not writable" if hasattr(np.ndarray, name) else
                   f"'numpy.ndarray' object has no attribute '{name}'", "", AttributeError)
