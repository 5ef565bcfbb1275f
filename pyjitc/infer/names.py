"""How messages name what a value is."""
from __future__ import annotations

from ..types.classes import FIXED_MODULES
from ..types.kinds import Generator, Type, Unbound, any_part
from .meaning import Expr, Mismatch

__all__ = ["describe", "has_generator", "is_of_python", "with_object"]


def describe(t: Type) -> str:
    """How CPython names the type of a value of type `t`, in quotes."""
    return f"'{t.class_name}'"


def with_object(x: Expr) -> Expr:
    """`x`, where the interpreter can be given an object for it."""
    if any_part(x.type, lambda part: part.inner or part is Unbound):
        raise Mismatch(f"a {describe(x.type)[1:-1]} of compiled code cannot be handed to the interpreter",
                       "pass numbers, arrays, tuples or strings")
    return x


def is_of_python(proto) -> bool:
    """Whether a function is of Python's library or of this package: no reader of the program knows its lines."""
    return proto.library or str(proto.globals.get("__name__")).partition(".")[0] in FIXED_MODULES


def has_generator(t: Type) -> bool:
    return any_part(t, lambda part: isinstance(part, Generator))
