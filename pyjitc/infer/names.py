"""Names of types in messages."""
from __future__ import annotations

from ..base.errors import with_article
from ..types.classes import FIXED_MODULES
from ..types.kinds import Cell, Function, Generator, Iterator, Method, Type, Unbound, any_part, all_parts
from .meaning import Expr, NotNative, NeedsObjects

__all__ = ["describe", "has_generator", "is_kept_as_object", "is_of_python", "needs_objects", "storable", "with_object"]


def describe(t: Type) -> str:
    """The name in CPython's messages of the type of a value of type `t`, in quotes."""
    return f"'{t.class_name}'"


def with_object(x: Expr) -> Expr:
    """The value x, after a check that the interpreter can have an object for it."""
    needs_objects(x.type)
    if any_part(x.type, lambda part: part.inner or part is Unbound):
        raise NotNative(f"{with_article(describe(x.type)[1:-1])} of compiled code cannot be passed to the interpreter",
                        "pass numbers, arrays, tuples or strings")
    return x


def needs_objects(t: Type) -> None:
    """Raise NeedsObjects if a value of type t, which is to be a Python object, contains functions."""
    if any_part(t, lambda part: isinstance(part, Cell) or isinstance(part, Function) and not part.proto.library):
        raise NeedsObjects(t)


def storable(t: Type) -> None:
    """Raise an error that says why a value of type t cannot be an item of a container in its present form."""
    needs_objects(t)
    found = next((part for part in all_parts(t) if is_kept_as_object(part)), None)
    if isinstance(found, Method):
        raise NotNative(f"a container that holds the method {found.name}() of {describe(found.receiver)} is not "
                        f"compiled", f"keep a function that calls it, such as lambda x: y.{found.name}(x)")
    if found is not None:
        is_group = isinstance(found, Iterator) and str(found.state).startswith("group{")
        raise NotNative(f"a container that holds {with_article(describe(found)[1:-1])} is not compiled",
                        "make a list of each group, which groupby() leaves empty when it goes on: "
                        "[(key, list(group)) for key, group in groupby(x)]" if is_group else
                        "keep what it iterates over: a list, or a function that makes it")


def is_kept_as_object(t: Type) -> bool:
    """Whether a container can hold only a Python object in place of a value of type t."""
    return isinstance(t, (Generator, Iterator)) or isinstance(t, Method) and t.inner


def is_of_python(proto) -> bool:
    """Whether a function belongs to Python's library or to this package: users do not know its lines."""
    return proto.library or str(proto.globals.get("__name__")).partition(".")[0] in FIXED_MODULES


def has_generator(t: Type) -> bool:
    return any_part(t, lambda part: isinstance(part, Generator))
