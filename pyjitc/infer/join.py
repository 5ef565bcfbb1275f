"""Where two paths meet: the type and constant that hold for both, and how a value gets there.

Rules, in order: equal types; a Python constant takes the NumPy type of the other side where its value fits
exactly (at loop headers also the Python float: `s = 0` before `s += x`); arrays that differ in layout;
exceptions with a common base; tuples element by element; else a small union, or an error where it would be large. (docs/semantics lists the
constant rule: it is the one place where a type differs from CPython's.)
"""
from __future__ import annotations

import math

import numpy as np

from ..types.kinds import (
    Array, Bool, Exception_, Float, Function, Generator, Int, NoneType, NpBool, NpComplex, NpFloat, NpInt, Singleton, Tuple, Type, Unbound, Undefined, Union, union_of,
)
from .meaning import UNKNOWN, Mismatch

__all__ = ["AV", "join", "same_constant", "constant_as", "MAX_UNION"]

MAX_UNION = 8

AV = tuple  # abstract value: (Type, constant or UNKNOWN)


def same_constant(x, y) -> bool:
    """Equal as constants: same class, same value, signed zeros told apart, NaN like itself."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, (float, np.floating)):
        return (x == y or x != x and y != y) and math.copysign(1.0, x) == math.copysign(1.0, y)
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same_constant, x, y))
    if isinstance(x, (complex, np.complexfloating)):
        return same_constant(x.real, y.real) and same_constant(x.imag, y.imag)
    if isinstance(x, (np.datetime64, np.timedelta64)):
        return x.dtype == y.dtype and x.tobytes() == y.tobytes()
    try:
        return bool(x == y)
    except Exception:  # an array or an object with a hostile __eq__
        return False


_FLOAT_DIGITS = {16: 11, 32: 24, 64: 53}


def constant_as(value, target: Type):
    """The Python constant `value` as a constant of NumPy type `target` (or Float), or UNKNOWN where it does not fit exactly."""
    kind = type(value)
    if kind is int:
        if isinstance(target, NpInt):
            low = -(1 << target.bits - 1) if target.signed else 0
            return value if low <= value < low + (1 << target.bits) else UNKNOWN
        if isinstance(target, NpFloat) or target is Float:
            bits = target.bits if isinstance(target, NpFloat) else 64
            if abs(value) > 1 << _FLOAT_DIGITS[bits] or bits == 16 and abs(value) > 2048:
                return UNKNOWN
            return float(value)
        if isinstance(target, NpComplex):
            return complex(value) if abs(value) <= 1 << 24 else UNKNOWN
    elif kind is float:
        if isinstance(target, NpFloat) and target.bits == 64:
            return value
        if isinstance(target, NpFloat) and (value == 0 or math.isinf(value) or math.isnan(value) or float(int(value)) == value
                                            and abs(value) <= 1 << _FLOAT_DIGITS[target.bits] and abs(value) <= 2048):
            return value
        if isinstance(target, NpComplex) and target.bits == 128:
            return complex(value)
    elif kind is bool and target is NpBool:
        return value
    return UNKNOWN


def _absorb(x: AV, y: AV, header: bool):
    """`x` a Python constant, `y` the other side: the type of `y` if `x` fits, else None."""
    t, value = x
    if value is UNKNOWN or not (t is Int or t is Float or t is Bool):
        return None
    other = y[0]
    if isinstance(other, (NpInt, NpFloat, NpComplex)) or header and other is Float and t is Int:
        return other if constant_as(value, other) is not UNKNOWN else None
    return None


def join(x: AV, y: AV, header: bool = False) -> AV:
    """The least abstract value that covers both. header: whether the place is a loop header."""
    tx, ty = x[0], y[0]
    if tx is ty:
        return x if x[1] is not UNKNOWN and y[1] is not UNKNOWN and same_constant(x[1], y[1]) else (tx, UNKNOWN)
    if tx is Undefined or ty is Undefined:
        return (ty, UNKNOWN) if tx is Undefined else (tx, UNKNOWN)
    found = _absorb(x, y, header) or _absorb(y, x, header)
    if found is not None:
        return (found, UNKNOWN)
    return (join_types(tx, ty), UNKNOWN)


def join_types(tx: Type, ty: Type) -> Type:
    if tx is ty or ty is Undefined:
        return tx
    if tx is Undefined:
        return ty
    merged = _merged(tx, ty)
    if merged is not None:
        return merged
    members = list(tx.members if isinstance(tx, Union) else (tx,))
    for new in ty.members if isinstance(ty, Union) else (ty,):
        for i, old in enumerate(members):
            if old is new:
                break
            merged = _merged(old, new)
            if merged is not None:
                members[i] = merged
                break
        else:
            members.append(new)
    union = union_of(members)
    if sum(not (isinstance(m, (Singleton, Function, Generator)) or m is NoneType or m is Unbound) for m in members) > MAX_UNION:
        raise Mismatch(f"one value here may have any of {len(members)} types: {union}",
                       f"at most {MAX_UNION} may meet: convert them to one type where they are made, such as float(x), or use a variable for each")
    return union


def _merged(x: Type, y: Type) -> Type | None:
    """One type that is no union for two types of the same kind, or None."""
    if isinstance(x, Array) and isinstance(y, Array):
        return _join_arrays(x, y)
    if isinstance(x, Exception_) and isinstance(y, Exception_):
        return Exception_(next(c for c in x.cls.__mro__ if issubclass(y.cls, c)))
    if isinstance(x, Tuple) and isinstance(y, Tuple) and len(x.elements) == len(y.elements) and x.cls is y.cls:
        return Tuple(tuple(map(join_types, x.elements, y.elements)), x.cls)
    return None


def _join_arrays(x: Array, y: Array):
    if x.dtype is not y.dtype or x.ndim != y.ndim or x.writable != y.writable:
        return None
    return Array(x.dtype, x.ndim, x.layout if x.layout == y.layout else "A", x.writable, x.aligned and y.aligned)
