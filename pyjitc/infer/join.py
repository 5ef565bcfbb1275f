"""Joins of control flow: the type and constant that cover both values.

The rules, in order: two equal types join to that type; a Python number and a wider number type that can represent it
exactly, to a dual (types/kinds.py), which has both types; arrays that differ only in layout, to an array that covers
both layouts; exceptions, to a common base; tuples are joined element by element. All other types join to a union of at
most MAX_UNION members; a larger one is an error.

Library functions that implement NumPy in the compiled subset start their sums from `0`: in them a constant gets the
NumPy type of the other value (`absorb`).
"""
from __future__ import annotations

import math

import numpy as np

from ..types.kinds import (
    MAX_UNION, Bool, Complex, Composite, Container, Dual, Float, Int, List, ListDisplay, NpBool, NpComplex, NpFloat,
    NpInt, Object, Type, Unbound, Undefined, any_part, is_complex, is_float, is_number,
    is_python_number, members_of, together, union_of, wider,
)
from ..types.lattice import COUNTERPART, fits
from .meaning import UNKNOWN, NeedsList, NotNative

__all__ = ["AV", "join", "same_constant", "constant_as", "join_types", "link_alike", "with_objects", "MAX_UNION"]

AV = tuple  # abstract value: (Type, constant or UNKNOWN)


def same_constant(x, y) -> bool:
    """Whether two constants are equal: same class, same value; 0.0 and -0.0 differ, and NaN equals NaN."""
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
    except Exception:  # an array, or an object whose __eq__ raises
        return False


def constant_as(value, target: Type):
    """The Python constant `value` as a constant of number type `target`, or UNKNOWN where it does not fit exactly."""
    kind = type(value)
    if kind is bool:
        return value if target is NpBool else UNKNOWN
    if kind not in (int, float, complex) or not is_number(target) or not fits(value, target):
        return UNKNOWN
    return complex(value) if is_complex(target) else float(value) if is_float(target) else value


def _absorbed(x: AV, y: AV, header: bool):
    """In a library function: the type of `y`, if `x` is a Python constant that fits in it; else None."""
    t, value = x
    if value is UNKNOWN or not (t is Int or t is Float or t is Bool):
        return None
    other = y[0]
    if isinstance(other, (NpInt, NpFloat, NpComplex)) or header and other is Float and t is Int:
        return other if constant_as(value, other) is not UNKNOWN else None
    return None


_WIDER = {Int: (Float, Complex), Float: (Complex,)}  # Python's wider types, besides NumPy's


def _dual(x: AV, y: AV) -> Dual | None:
    """The dual of a Python number `x` and a number `y` of a type that can represent it exactly, or None."""
    narrow, wide = x[0], y[0]
    if isinstance(wide, Dual):
        if narrow is wide.wide:
            return wide
        if isinstance(narrow, Dual):
            if narrow.narrow is not wide.narrow or narrow.wide is not wide.wide:
                return None
            return _bounded(wide, narrow.low, narrow.high)
        if narrow is not wide.narrow or not _exact(x, wide.wide):
            return None
        return _bounded(wide, x[1], x[1]) if type(x[1]) is int else Dual(narrow, wide.wide)
    if not (is_python_number(narrow) and (is_number(wide) and not is_python_number(wide)
                                          or wide in _WIDER.get(narrow, ()))):
        return None
    bounds = (x[1], x[1]) if type(x[1]) is int else ()
    return Dual(narrow, wide, *bounds) if _exact(x, wide) else None


def _bounded(t: Dual, low, high) -> Dual:
    """The dual with bounds extended to ints from `low` to `high`, where these are known."""
    if t.low is None or low is None:
        return Dual(t.narrow, t.wide)
    return Dual(t.narrow, t.wide, min(t.low, low), max(t.high, high))


def _exact(x: AV, wide: Type) -> bool:
    t, constant = x[:2]
    return (COUNTERPART[t] is wide
            or constant is not UNKNOWN and (type(constant) is not bool or wide is NpBool) and fits(constant, wide))


def join(x: AV, y: AV, absorb: bool = False, header: bool = False) -> AV:
    """The least abstract value that covers both. absorb: in a library function; header: at a loop header."""
    tx, ty = x[0], y[0]
    if tx is ty:
        return x if x[1] is not UNKNOWN and y[1] is not UNKNOWN and same_constant(x[1], y[1]) else (tx, UNKNOWN)
    if tx is Undefined or ty is Undefined:
        return (ty, UNKNOWN) if tx is Undefined else (tx, UNKNOWN)
    found = _absorbed(x, y, header) or _absorbed(y, x, header) if absorb else _dual(x, y) or _dual(y, x)
    if found is not None:
        return (found, UNKNOWN)
    return (join_types(tx, ty), UNKNOWN)


def join_types(tx: Type, ty: Type) -> Type:
    if tx is not ty and Undefined not in (tx, ty) and (Object in members_of(tx) or Object in members_of(ty)):
        return with_objects((*members_of(tx), *members_of(ty)))
    union = together(tx, ty, join_types)
    members = members_of(union)
    if len(members) > 1:
        if any([type(m) is ListDisplay for m in members]) and any([type(m) is List for m in members]):
            raise NeedsList
        if sum([not m.unlimited for m in members]) > MAX_UNION:
            raise NotNative(f"one value here may have any of {len(members)} types: {union}",
                            f"at most {MAX_UNION} may meet: convert them to one type where they are made, such as "
                            f"float(x), or use a variable for each")
    return union


def link_alike(known: Type, new: Type) -> None:
    """Unify the type variables of containers that are at the same place in values of two types; other parts may
    differ."""
    for mine in members_of(known):
        for its in members_of(new):
            if type(mine) is List and type(its) is ListDisplay:
                raise NeedsList
            if mine is its or type(mine) is not type(its) or not mine.varying:
                continue
            if isinstance(mine, Container):
                mine.joined(its, wider)
            elif isinstance(mine, Composite) and mine.is_like(its):
                for one, other in zip(mine.parts or (), its.parts or ()):
                    link_alike(one, other)


def with_objects(members) -> Type:
    """The union of Object and those `members` whose values have no Python objects."""
    return union_of([Object, *[m for m in members if any_part(m, lambda part: part.inner or part is Unbound)]])
