"""Making arrays: np.empty, zeros, ones, full and their _like forms, with shapes known only at run time."""
from __future__ import annotations

import numpy as np

from ...infer.meaning import UNKNOWN, Apply, Call, Const, Expr, Mismatch
from ...infer.constants import scalar_type
from ...ops.memory import ARRAY_DIM, ARRAY_NEW
from ...ops.structure import STRUCT_GET, TUPLE_GET
from ...types import kinds
from ...types.kinds import Array, Bool, Complex, DType, Float, Int, NpInt, Singleton, Str, Tuple, is_numpy_scalar
from ...types.lattice import dtype_of
from ..py import conversions
from . import views

__all__ = ["CALLS", "scalar_of"]

_PYTHON = {float: kinds.float64, int: kinds.int64, bool: kinds.NpBool, complex: kinds.complex128}


def scalar_of(x: Expr):
    """The NumPy scalar type that a dtype argument names, or raises Mismatch."""
    if isinstance(x.type, DType):
        return x.type.scalar
    value = x.type.value if isinstance(x.type, Singleton) else x.value
    try:
        if value is UNKNOWN:
            raise TypeError
        found = scalar_type(np.dtype(value))
    except TypeError:
        found = None
    if found is None:
        raise Mismatch("the dtype must be known at compile time and numeric", "write np.float64, np.int32, ... or a constant string")
    return found


def whole_size(x):
    if isinstance(x, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    return x


def whole_shape(shape, k=0):
    return () if k == len(shape) else (whole_size(shape[k]),) + whole_shape(shape, k + 1)


def _shape(x: Expr) -> list[Expr]:
    if isinstance(x.type, Tuple):
        parts = [Const(t, x.value[k]) if x.known else Apply(TUPLE_GET, x, index=k) for k, t in enumerate(x.type.elements)]
    elif isinstance(x.type, kinds.Struct) and x.type.name == "list":
        parts = [Apply(STRUCT_GET, x, field=name) for name, _ in x.type.members]
    else:
        parts = [x]
    for part in parts:
        if not (part.type is Int or isinstance(part.type, NpInt)):
            raise Mismatch(f"expected a sequence of integers or a single integer, got a value of type {part.type}")
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
    return slots


def _layout(slots):
    order = slots.get("order")
    if order is None:
        return "C"
    if not order.known or order.value not in ("C", "F"):
        raise Mismatch("order must be 'C' or 'F'")
    return order.value


def _new(shape, dtype, layout, zero=False):
    return Apply(ARRAY_NEW, *shape, type=Array(dtype, len(shape), layout if len(shape) > 1 else "C"), zero=zero)


def _creator(name, zero, value=None):
    function = getattr(np, name)

    def rule(args, kwargs):
        slots = _bind(name, ("shape", "dtype", "order"), args, kwargs)
        if "shape" not in slots:
            raise Mismatch(f"{name}() missing required argument 'shape' (pos 0)")
        dtype = scalar_of(slots["dtype"]) if "dtype" in slots and slots["dtype"].type is not kinds.NoneType else kinds.float64
        if views.has_power(slots["shape"].type):
            return Call(function, Call(whole_shape, slots["shape"]), Const(DType(dtype), dtype_of(dtype)), Const(Str, _layout(slots)))
        fresh = _new(_shape(slots["shape"]), dtype, _layout(slots), zero)
        if value is None:
            return fresh
        return Call(filled, fresh, conversions.assign(Const(Int, value), dtype))

    return rule


def _ndarray(args, kwargs):
    if len(args) > 2 or not {*kwargs} <= {"shape", "dtype", "order"}:
        raise Mismatch("np.ndarray() with a buffer, an offset or strides is not compiled", "slice an array, or use np.empty")
    return _creator("ndarray", False)(args, kwargs)


def _like(name, zero, value=None):
    def rule(args, kwargs):
        slots = _bind(name, ("prototype" if name == "empty_like" else "a", "dtype"), args, kwargs)
        a = slots["prototype" if name == "empty_like" else "a"]
        if not isinstance(a.type, Array):
            raise Mismatch(f"np.{name}() of {a.type} is not compiled", "pass an array")
        dtype = scalar_of(slots["dtype"]) if "dtype" in slots else a.type.dtype
        shape = [Apply(ARRAY_DIM, a, axis=k) for k in range(a.type.ndim)]
        layout = "F" if a.type.layout == "F" else "C"
        fresh = _new(shape, dtype, layout, zero)
        return fresh if value is None else Call(filled, fresh, conversions.assign(Const(Int, value), dtype))

    return rule


def _full(args, kwargs):
    slots = _bind("full", ("shape", "fill_value", "dtype", "order"), args, kwargs)
    value = slots["fill_value"]
    natural = {Int: kinds.int64, Float: kinds.float64, Bool: kinds.NpBool, Complex: kinds.complex128}.get(value.type)
    if natural is None and is_numpy_scalar(value.type):
        natural = value.type
    if natural is None:
        raise Mismatch(f"np.full() with a fill value of type {value.type} is not compiled")
    dtype = scalar_of(slots["dtype"]) if "dtype" in slots and slots["dtype"].type is not kinds.NoneType else natural
    fresh = _new(_shape(slots["shape"]), dtype, _layout(slots))
    return Call(filled, fresh, conversions.assign(value, dtype))


def _full_like(args, kwargs):
    slots = _bind("full_like", ("a", "fill_value", "dtype"), args, kwargs)
    a = slots["a"]
    dtype = scalar_of(slots["dtype"]) if "dtype" in slots else a.type.dtype
    fresh = _new([Apply(ARRAY_DIM, a, axis=k) for k in range(a.type.ndim)], dtype, "F" if a.type.layout == "F" else "C")
    return Call(filled, fresh, conversions.assign(slots["fill_value"], dtype))


def filled(a, value):
    views.fill(a, value)
    return a


CALLS = {
    np.empty: _creator("empty", False), np.ndarray: _ndarray, np.zeros: _creator("zeros", True), np.ones: _creator("ones", False, 1),
    np.full: _full, np.full_like: _full_like, np.empty_like: _like("empty_like", False),
    np.zeros_like: _like("zeros_like", True), np.ones_like: _like("ones_like", False, 1),
}
