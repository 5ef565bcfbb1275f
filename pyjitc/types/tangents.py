"""The types of tangents, cotangents and gradients of values.

Floats and complex numbers vary, and so do elements of arrays of these, and the items of tuples of these. All other
values (integers, bools, texts, shapes) are constants of a derivative; in a tuple of tangents their tangents are None.
"""
from __future__ import annotations

from .kinds import (
    Array, DictDisplay, Dual, Float, ListDisplay, NoneType, Tuple, Type, Union, any_part, float32, float64, is_complex,
    is_float, is_integer,
)

__all__ = ["gradient_type", "holds_complex", "holds_display", "holds_one_of_numbers", "is_number_that_varies",
           "is_one_of_numbers", "is_varying", "tangent_type", "varies", "without_duals"]


def is_number_that_varies(t: Type) -> bool:
    return is_float(t) or is_complex(t)


def is_varying(t: Type) -> bool:
    """Whether a value of type t is a float or a complex number, a number that may be one, or an array of these."""
    if type(t) is Dual:
        return is_number_that_varies(t.wide)
    return is_number_that_varies(t.dtype if type(t) is Array else t)


def varies(t: Type) -> bool:
    """Whether a value of type t contains a float that can vary."""
    return is_varying(t) or type(t) is Tuple and any(map(varies, t.elements))


def is_one_of_numbers(t: Type) -> bool:
    """Whether t is a float64 on some paths, and an int or a float32 on others: a `sum` of no arrays, or a sum over a
    tree with float32 and float64 items, which becomes a float64 when the first of these is added."""
    return type(t) is Union and any(m in (Float, float64) for m in t.members) and all(
        is_integer(m) or m in (Float, float64, float32) for m in t.members)


def holds_one_of_numbers(t: Type) -> bool:
    """Whether t, or an item of a tuple or of tuples in it, is such a number."""
    return is_one_of_numbers(t) or type(t) is Tuple and any(map(holds_one_of_numbers, t.elements))


def holds_complex(t: Type) -> bool:
    """Whether a value of type t contains complex numbers."""
    return any_part(t, lambda part: is_complex(part.dtype if type(part) is Array else part))


def tangent_type(t: Type) -> Type:
    """The type of the tangent of a value of type t."""
    if type(t) is Dual:
        return t.wide if is_number_that_varies(t.wide) else NoneType
    if type(t) is Tuple:
        return Tuple(map(tangent_type, t.elements), t.cls)
    if type(t) is Array and is_number_that_varies(t.dtype):
        return Array(t.dtype, t.ndim, t.layout)
    return t if is_number_that_varies(t) else NoneType


def gradient_type(t: Type) -> Type:
    """The type of the gradient with respect to a value of type t, whose arrays reverse mode allocates: they are in C
    order."""
    t = tangent_type(t)
    if type(t) is Tuple:
        return Tuple(map(gradient_type, t.elements), t.cls)
    return Array(t.dtype, t.ndim) if type(t) is Array else t


def without_duals(t: Type) -> Type:
    """The type in which a result is returned together with its derivative: numbers of one type."""
    if type(t) is Dual:
        return t.wide
    return Tuple(map(without_duals, t.elements), t.cls) if type(t) is Tuple else t


def holds_display(t: Type) -> bool:
    """Whether a value of type t is a list or dict display, or a tuple that holds one, as trees of arguments do. A
    function that has captured one is no tree."""
    if type(t) is Tuple:
        return any(map(holds_display, t.elements))
    if type(t) is Union:
        return any(map(holds_display, t.members))
    return type(t) in (ListDisplay, DictDisplay)
