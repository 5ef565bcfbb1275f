"""Making arrays: np.empty, zeros, ones, full and their _like forms, with shapes known only at run time."""
from __future__ import annotations

import operator

import numpy as np

from ....base.errors import did_you_mean
from ....infer.meaning import UNKNOWN, Apply, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative
from ....infer.constants import constant, scalar_type
from ....ops.memory import ARRAY_DIM, ARRAY_NEW
from ....ops.structure import STRUCT_GET
from ....types import kinds
from ....types.kinds import Array, DType, Float, Int, NpInt, Singleton, Str, Tuple, is_integer, is_numpy_scalar
from ....types.lattice import COUNTERPART, dtype_of, named_dtype
from ....types.typeof import record_type
from ...build import is_sequence, no_shape
from ...protocol import protocol_of
from ...rule import Constant, NONE, rule
from ...py import conversions
from ..indexing import subscripts
from ..shapes import views

__all__ = ["CALLS", "only_cpu", "scalar_of"]

_PYTHON = {float: kinds.float64, int: kinds.int64, bool: kinds.NpBool, complex: kinds.complex128}


def scalar_of(x: Expr):
    """The NumPy scalar type that a dtype argument names; raises Mismatch for others."""
    if isinstance(x.type, DType):
        return x.type.scalar
    if kinds.is_numpy_scalar(x.type):  # a number of NumPy has a dtype
        return x.type
    value = x.type.value if isinstance(x.type, Singleton) else x.value
    if is_integer(x.type):
        raise Mismatch(f"Cannot interpret {'an int' if value is UNKNOWN else repr(str(value))} as a data type",
                       "this argument is the dtype; several lengths go into a tuple, as in np.zeros((3, 3))")
    try:
        if value is UNKNOWN:
            raise TypeError
        dtype = named_dtype(value)
        found = scalar_type(dtype) or record_type(dtype)
    except TypeError as error:
        if type(value) is str:
            near = did_you_mean(value, [str(t) for t in kinds.NUMPY_SCALARS.values()])
            raise Mismatch(str(error), near or "write np.float64, np.int32, ... or a constant string") from None
        found = None
    if found is None and is_sequence(x.type):
        raise NotNative("a dtype with fields is not made in compiled code",
                        "make it outside the function, as in RECORD = np.dtype([...]), and write dtype=RECORD")
    if found is None:
        raise NotConstant("the dtype must be known at compile time and numeric",
                          "write np.float64, np.int32, ... or a constant string")
    return found


def whole_size(x):
    if isinstance(x, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    return int(x) if isinstance(x, (int, np.integer)) else operator.index(x)


def whole_shape(shape, k=0):
    return () if k == len(shape) else (whole_size(shape[k]),) + whole_shape(shape, k + 1)


def _converted(shape: Expr) -> Expr | None:
    """A shape with lengths that are only known to be ints at run time, or that objects of the program are by
    `__index__`, as ints; None for other shapes."""
    t = shape.type
    if isinstance(t, kinds.ObjectOf):
        return Call(whole_size, shape)
    if subscripts.has_power(t) or isinstance(t, Tuple) and any(isinstance(x, kinds.ObjectOf) for x in t.elements):
        return Call(whole_shape, shape)
    return None


def _shape(x: Expr) -> list[Expr]:
    parts = protocol_of(x.type).elements(x) if is_sequence(x.type) else [x]
    parts = [constant(int(p.type.value)) if isinstance(p.type, Singleton) and isinstance(p.type.value, int) else p
             for p in parts]  # members of an IntEnum
    for part in parts:
        t = part.type
        if not (t is Int or isinstance(t, NpInt) or conversions.holds_one(t)):
            raise no_shape(t)
    return [p if p.type is Int else conversions.to_index(p) for p in parts]


def only_cpu(name, device, like):
    """The error for the arguments `device` (a constant) and `like` of a function that makes an array, if they are
    used."""
    if device is not None and device != "cpu":
        raise Mismatch(f'Device not understood. Only "cpu" is allowed, but received: {device}', exception=ValueError)
    if like is not None:
        raise NotNative(f"np.{name} with like= is not compiled")


def _layout(order, a=None):
    """'C' or 'F': the layout that `order` asks for. a: the array whose order is kept by default."""
    if order is None or a is not None and order in ("K", "A"):
        return "C" if a is None or a.type.layout != "F" else "F"
    if order not in ("C", "F"):
        raise Mismatch("order must be 'C' or 'F'" if a is None else "order must be 'C', 'F', 'A' or 'K'",
                       exception=ValueError)
    return order


def _new(shape, dtype, layout, zero=False):
    return Apply(ARRAY_NEW, *shape, type=Array(dtype, len(shape), layout if len(shape) > 1 else "C"), zero=zero)


def _creator(name, zero, value=None):
    function = getattr(np, name)

    @rule(f"np.{name}")
    def found(shape, dtype=None, order: Constant = "C", *, device: Constant = None, like=None):
        only_cpu(name, device, like)
        t = scalar_of(dtype) if dtype else kinds.float64
        ints = _converted(shape)
        if ints is not None:
            return Call(function, ints, Const(DType(t), dtype_of(t)), Const(Str, _layout(order)))
        fresh = _new(_shape(shape), t, _layout(order), zero)
        return fresh if value is None else _filled(fresh, Const(Int, value), t)

    return found


@rule("np.ndarray")
def _ndarray(shape, dtype=None, buffer=None, offset=0, strides=None, order: Constant = None):
    if buffer or strides:
        raise NotNative("np.ndarray() with a buffer, an offset or strides is not compiled",
                        "slice an array, or use np.empty")
    return _creator("empty", False).function(shape, dtype, order)


def _like(name, zero, value=None):
    @rule(f"np.{name}", "{}, {}dtype=None, order: Constant = 'K', subok=True, shape=None, *, device: Constant = None"
          .format("prototype, /" if name == "empty_like" else "a", "fill_value, " if name == "full_like" else ""))
    def found(a, *given):
        *fill, dtype, order, subok, shape, device = given
        only_cpu(name, device, None)
        if isinstance(a.type, kinds.RecordView):
            a = Apply(STRUCT_GET, a, field=a.type.members[0][0])  # the array of one record
        if not isinstance(a.type, Array):
            keywords = {"dtype": dtype or NONE, "order": Const(Str, order or "K"), "shape": shape or NONE}
            return CallValue(constant(_AS_ARRAY[name]), a, *fill, keywords=keywords)
        t = scalar_of(dtype) if dtype else a.type.dtype
        dims = _shape(shape) if shape else [Apply(ARRAY_DIM, a, axis=k) for k in range(a.type.ndim)]
        same_rank = len(dims) == a.type.ndim
        layout = _layout(order, a) if same_rank or order in ("C", "F") else "C"
        fresh = _new(dims, t, layout, zero)
        filling = fill[0] if fill else value and Const(Int, value)
        return fresh if filling is None else _filled(fresh, filling, t)

    return found


def empty_like(a, dtype=None, order="C", shape=None, subok=True):
    return np.empty_like(np.asarray(a), dtype=dtype, order=order, shape=shape)


def zeros_like(a, dtype=None, order="C", shape=None, subok=True):
    return np.zeros_like(np.asarray(a), dtype=dtype, order=order, shape=shape)


def ones_like(a, dtype=None, order="C", shape=None, subok=True):
    return np.ones_like(np.asarray(a), dtype=dtype, order=order, shape=shape)


def full_like(a, fill_value, dtype=None, order="C", shape=None, subok=True):
    return np.full_like(np.asarray(a), fill_value, dtype=dtype, order=order, shape=shape)


_AS_ARRAY = {"empty_like": empty_like, "zeros_like": zeros_like, "ones_like": ones_like, "full_like": full_like}


def _filled(fresh, value, dtype):
    of_records = isinstance(dtype, kinds.Record) and not dtype.is_text
    if of_records or isinstance(value.type, (Array, Tuple, kinds.Struct)):
        return Call(filled_with, fresh, value)
    if value.type is Float:  # an int is checked to fit
        value = conversions.of_numpy(value)
    return Call(filled, fresh, conversions.discarding(value, dtype, conversions.assign(value, dtype)))


@rule("np.full")
def _full(shape, fill_value, dtype=None, order: Constant = "C", *, device: Constant = None, like=None):
    only_cpu("full", device, like)
    value = fill_value
    natural = COUNTERPART.get(value.type)
    if natural is None and is_numpy_scalar(value.type):
        natural = value.type
    if isinstance(value.type, Array):
        natural = value.type.dtype
    if isinstance(value.type, (Tuple, kinds.Struct)):
        return CallValue(constant(full_of), shape, value, dtype or NONE, Const(Str, order or "C"))
    if natural is None and conversions.is_wide(value):
        natural = kinds.uint64
    if natural is None:
        raise NotNative(f"np.full() with a fill value of type {value.type} is not compiled")
    t = scalar_of(dtype) if dtype else natural
    ints = _converted(shape)
    if ints is not None:
        return Call(np.full, ints, value, Const(DType(t), dtype_of(t)), Const(Str, _layout(order)))
    return _filled(_new(_shape(shape), t, _layout(order)), value, t)


def full_of(shape, values, dtype=None, order="C"):
    return np.full(shape, np.asarray(values), dtype, order)


def filled_with(a, values):
    a[...] = values
    return a


def filled(a, value):
    views.fill(a, value)
    return a


CALLS = {
    np.empty: _creator("empty", False), np.ndarray: _ndarray, np.zeros: _creator("zeros", True),
    np.ones: _creator("ones", False, 1), np.full: _full, np.full_like: _like("full_like", False),
    np.empty_like: _like("empty_like", False), np.zeros_like: _like("zeros_like", True),
    np.ones_like: _like("ones_like", False, 1),
}
