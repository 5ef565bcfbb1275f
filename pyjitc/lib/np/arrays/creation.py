"""Making arrays: np.empty, zeros, ones, full and their _like forms, with shapes known only at run time."""
from __future__ import annotations

import numpy as np

from ....base.errors import did_you_mean
from ....infer.meaning import UNKNOWN, Apply, Call, CallValue, Const, Expr, Mismatch
from ....infer.constants import scalar_type
from ....ops.memory import ARRAY_DIM, ARRAY_NEW
from ....types import kinds
from ....types.kinds import Array, DType, Float, Int, NpInt, Singleton, Str, Tuple, is_integer, is_numpy_scalar
from ....types.lattice import dtype_of
from ....types.typeof import record_type
from ...build import is_sequence, whole_number
from ...protocol import protocol_of
from ...py import conversions
from ..indexing import subscripts
from ..shapes import views

__all__ = ["CALLS", "scalar_of"]

_PYTHON = {float: kinds.float64, int: kinds.int64, bool: kinds.NpBool, complex: kinds.complex128}


def scalar_of(x: Expr):
    """The NumPy scalar type that a dtype argument names, or raises Mismatch."""
    if isinstance(x.type, DType):
        return x.type.scalar
    value = x.type.value if isinstance(x.type, Singleton) else x.value
    if is_integer(x.type):
        raise Mismatch(f"Cannot interpret {'an int' if value is UNKNOWN else repr(str(value))} as a data type",
                       "this argument is the dtype; several lengths go into a tuple, as in np.zeros((3, 3))")
    try:
        if value is UNKNOWN:
            raise TypeError
        found = scalar_type(np.dtype(value)) or record_type(np.dtype(value))
    except TypeError as error:
        if type(value) is str:
            near = did_you_mean(value, [str(t) for t in kinds.NUMPY_SCALARS.values()])
            raise Mismatch(str(error), near or "write np.float64, np.int32, ... or a constant string") from None
        found = None
    if found is None:
        raise Mismatch("the dtype must be known at compile time and numeric",
                       "write np.float64, np.int32, ... or a constant string")
    return found


def whole_size(x):
    if isinstance(x, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    return int(x) if isinstance(x, (int, np.integer)) else x


def whole_shape(shape, k=0):
    return () if k == len(shape) else (whole_size(shape[k]),) + whole_shape(shape, k + 1)


def _shape(x: Expr) -> list[Expr]:
    parts = protocol_of(x.type).elements(x) if is_sequence(x.type) else [x]
    for part in parts:
        if not (part.type is Int or isinstance(part.type, NpInt)):
            raise Mismatch(f"expected a sequence of integers or a single integer, got a value of type {part.type}",
                           whole_number(part.type))
    return [p if p.type is Int else conversions.to_int(p) for p in parts]


def _bind(name, names, args, kwargs):
    if len(args) > len(names):
        raise Mismatch(f"np.{name}() takes at most {len(names)} arguments here ({len(args)} given)")
    slots = dict(zip(names, args))
    for key, value in kwargs.items():
        if key not in names:
            raise Mismatch(f"np.{name}() argument '{key}' is not compiled", f"it takes {', '.join(names)}")
        if key in slots:
            raise Mismatch(f"argument for {name}() given by name ('{key}') and position")
        slots[key] = value
    device = slots.pop("device", None)
    if device is not None and device.type is not kinds.NoneType and device.value != "cpu":
        raise Mismatch(f'Device not understood. Only "cpu" is allowed, but received: {device.value}',
                       exception=ValueError)
    like = slots.pop("like", None)
    if like is not None and like.type is not kinds.NoneType:
        raise Mismatch(f"np.{name}() with like= is not compiled")
    return {key: x for key, x in slots.items() if x.type is not kinds.NoneType}


def _layout(slots, a=None):
    """'C' or 'F'; a: the array whose order is kept unless another is given."""
    order = slots.get("order")
    if order is None:
        return "C" if a is None or a.type.layout != "F" else "F"
    if a is not None and order.known and order.value in ("K", "A"):
        return "F" if a.type.layout == "F" else "C"
    if not order.known or order.value not in ("C", "F"):
        raise Mismatch("order must be 'C' or 'F'" if a is None else "order must be 'C', 'F', 'A' or 'K'",
                       exception=ValueError)
    return order.value


def _new(shape, dtype, layout, zero=False):
    return Apply(ARRAY_NEW, *shape, type=Array(dtype, len(shape), layout if len(shape) > 1 else "C"), zero=zero)


def _creator(name, zero, value=None):
    function = getattr(np, name)

    def rule(args, kwargs):
        slots = _bind(name, ("shape", "dtype", "order", "device", "like"), args, kwargs)
        if "shape" not in slots:
            raise Mismatch(f"{name}() missing required argument 'shape' (pos 0)")
        dtype = scalar_of(slots["dtype"]) if "dtype" in slots else kinds.float64
        if subscripts.has_power(slots["shape"].type):
            return Call(function, Call(whole_shape, slots["shape"]), Const(DType(dtype), dtype_of(dtype)),
                        Const(Str, _layout(slots)))
        fresh = _new(_shape(slots["shape"]), dtype, _layout(slots), zero)
        if value is None:
            return fresh
        return Call(filled, fresh, conversions.assign(Const(Int, value), dtype))

    return rule


def _ndarray(args, kwargs):
    if len(args) > 2 or not {*kwargs} <= {"shape", "dtype", "order"}:
        raise Mismatch("np.ndarray() with a buffer, an offset or strides is not compiled",
                       "slice an array, or use np.empty")
    return _creator("ndarray", False)(args, kwargs)


def _like(name, zero, value=None):
    first = "prototype" if name == "empty_like" else "a"
    names = (first, *(("fill_value",) if name == "full_like" else ()), "dtype", "order", "subok", "shape", "device")

    def rule(args, kwargs):
        slots = _bind(name, names, args, kwargs)
        for required in (names[:2] if name == "full_like" else names[:1]):
            if required not in slots:
                raise Mismatch(f"{name}() missing 1 required positional argument: '{required}'")
        a = slots[first]
        if not isinstance(a.type, Array):
            keywords = {key: x for key, x in slots.items() if key != first}
            return CallValue(Const(Singleton(_AS_ARRAY[name]), _AS_ARRAY[name]), a, keywords=keywords)
        dtype = scalar_of(slots["dtype"]) if "dtype" in slots else a.type.dtype
        shape = (_shape(slots["shape"]) if "shape" in slots
                 else [Apply(ARRAY_DIM, a, axis=k) for k in range(a.type.ndim)])
        fresh = _new(shape, dtype, _layout(slots, a if len(shape) == a.type.ndim else None), zero)
        given = slots["fill_value"] if name == "full_like" else value and Const(Int, value)
        return fresh if given is None else _filled(fresh, given, dtype)

    return rule


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
    if isinstance(value.type, (Array, Tuple, kinds.Struct)):
        return Call(filled_with, fresh, value)
    if value.type is Float:  # an int is asked whether it fits
        value = conversions.of_numpy(value)
    return Call(filled, fresh, conversions.discarding(value, dtype, conversions.assign(value, dtype)))


def _full(args, kwargs):
    slots = _bind("full", ("shape", "fill_value", "dtype", "order", "device", "like"), args, kwargs)
    for required in ("shape", "fill_value"):
        if required not in slots:
            raise Mismatch(f"full() missing 1 required positional argument: '{required}'")
    value = slots["fill_value"]
    natural = conversions.NATURAL.get(value.type)
    if natural is None and is_numpy_scalar(value.type):
        natural = value.type
    if isinstance(value.type, Array):
        natural = value.type.dtype
    if isinstance(value.type, (Tuple, kinds.Struct)):
        return CallValue(Const(Singleton(full_of), full_of), slots["shape"], value,
                         keywords={n: slots[n] for n in ("dtype", "order") if n in slots})
    if natural is None and conversions.is_wide(value):
        natural = kinds.uint64
    if natural is None:
        raise Mismatch(f"np.full() with a fill value of type {value.type} is not compiled")
    dtype = scalar_of(slots["dtype"]) if "dtype" in slots else natural
    if subscripts.has_power(slots["shape"].type):
        return Call(np.full, Call(whole_shape, slots["shape"]), value, Const(DType(dtype), dtype_of(dtype)),
                    Const(Str, _layout(slots)))
    return _filled(_new(_shape(slots["shape"]), dtype, _layout(slots)), value, dtype)


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
