"""How messages name what a value is."""
from __future__ import annotations

from ..types.kinds import (Exception_, Function, Generator, Instance, Iterator, Method, NoneType, Singleton, Str,
                           Struct, Tuple, Type, Union)
from .meaning import Expr, Mismatch

__all__ = ["describe", "has_generator", "with_object"]


def describe(t: Type) -> str:
    """How CPython names the type of a value of type `t`, in quotes."""
    return f"'{_NAMES.get(t) or _class_name(t)}'"


_NAMES = {NoneType: "NoneType", Str: "str"}


def _class_name(t):
    if isinstance(t, Tuple):
        return t.cls.__name__ if t.cls else "tuple"
    if isinstance(t, Singleton):
        return type(t.value).__name__
    if isinstance(t, Function):
        return "function"
    if isinstance(t, Method):
        return "builtin_function_or_method"
    if isinstance(t, (Exception_, Instance)):
        return t.cls.__name__
    if isinstance(t, Iterator):
        return "generator" if has_generator(t.state) else "iterator"
    if isinstance(t, Generator):
        return "generator"
    if type(t).__name__ == "Array":
        return "numpy.ndarray"
    if type(t).__name__ == "Slice":
        return "slice"
    if isinstance(t, Struct):
        return t.name
    text = str(t)
    if type(t).__name__ == "NpTime":
        return f"numpy.{text.partition('[')[0]}"
    return f"numpy.{text}" if type(t).__name__.startswith("Np") else text


def with_object(x: Expr) -> Expr:
    """`x`, where the interpreter can be given an object for it."""
    if isinstance(x.type, (Function, Method, Generator, Iterator)):
        raise Mismatch(f"a {describe(x.type)[1:-1]} of compiled code cannot be handed to the interpreter",
                       "pass numbers, arrays, tuples or strings")
    return x


def has_generator(t: Type) -> bool:
    if isinstance(t, (Tuple, Union)):
        return any(map(has_generator, t.elements if isinstance(t, Tuple) else t.members))
    return isinstance(t, Generator) or isinstance(t, Struct) and any(has_generator(m) for _, m in t.members)
