"""How messages name what a value is."""
from __future__ import annotations

from ..types.kinds import Generator, Type, any_part
from .meaning import Expr, Mismatch

__all__ = ["describe", "has_generator", "with_object"]


def describe(t: Type) -> str:
    """How CPython names the type of a value of type `t`, in quotes."""
    return f"'{t.class_name}'"


def with_object(x: Expr) -> Expr:
    """`x`, where the interpreter can be given an object for it."""
    if x.type.inner:
        raise Mismatch(f"a {describe(x.type)[1:-1]} of compiled code cannot be handed to the interpreter",
                       "pass numbers, arrays, tuples or strings")
    return x


def has_generator(t: Type) -> bool:
    return any_part(t, lambda part: isinstance(part, Generator))
