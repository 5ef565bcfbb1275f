"""Protocols of enum classes and their members, which are known when a function is compiled."""
from __future__ import annotations

import enum
import operator

from ...base.lazy import lazy
from ...infer.constants import FLAG_OPERATORS, constant, plain_values
from ...infer.meaning import UNKNOWN, Call, Const, Expr, Mismatch, NotNative, Throw
from ...types import kinds as k
from ...types.classes import UNWRITTEN, own
from ...types.kinds import Bool, Int, NoneType, Object, Singleton, Str, union_of
from ..build import SYMBOLS
from ..operations import fixed
from ..protocol import by_python, protocol_of, text_by_python
from . import classes
from .instances import ByMethods
from .objects import Known

__all__ = ["PROTOCOLS"]

tuples = lazy("pyjitc.lib.py.tuples")


class _EnumClass(Known):
    """The protocol of an enum class."""

    def known_attribute(self, x, name):
        if name == "__members__":  # a read-only view of a dict
            return by_python(getattr, Const(Object, x.type.value), Const(Str, name))
        return super().known_attribute(x, name)

    def contains(self, x, item):
        if isinstance(item.type, Singleton) and isinstance(item.type.value, enum.Enum):
            return Const(Bool, item.type.value in _members(x.type.value))
        raise NotNative("`in` of an enum class is compiled for members of a plain enum",
                        "compare with the members, or with their values")

    def length(self, x):
        return Const(Int, len(_members(x.type.value)))

    def getitem(self, x, i):
        return _member_named(x.type.value, i)

    def is_iterable(self, x):
        return True

    def iterate(self, x):
        members = constant(_members(x.type.value))
        return protocol_of(members.type).iterate(members)

    def call(self, x, args, kwargs):
        return _member_with_value(x.type.value, args, kwargs)


def _members(cls: enum.EnumMeta) -> tuple:
    """The members of an enum in the order of their definition."""
    if type(cls) is not enum.EnumMeta:
        raise NotNative(f"the members of '{cls.__qualname__}' are not compiled",
                        "only those of a plain enum are: make a tuple of them outside")
    return tuple(cls)


def _member_with_value(cls: enum.EnumMeta, args, kwargs) -> Expr:
    """cls(value)"""
    members = _members(cls)
    if kwargs or len(args) != 1:
        raise NotNative(f"{cls.__qualname__}(value) is compiled with one value")
    if own(cls, "_missing_") is not UNWRITTEN or own(cls, "__eq__") is not UNWRITTEN:
        raise NotNative(f"'{cls.__qualname__}' has its own lookup of members, which compiled code does not call",
                        "pass the member")
    (x,) = args
    if not x.known and issubclass(cls, enum.Flag):
        raise NotNative(f"'{cls.__qualname__}' of a value that is known at run time only is not compiled",
                        "pass the member")
    if not x.known:
        return Call(tuples.enum_member, constant(members), x, constant(cls.__qualname__))
    try:
        return constant(cls(x.value))
    except ValueError as error:
        return Throw(ValueError, str(error))


def _member_named(cls: enum.EnumMeta, name: Expr) -> Expr:
    """cls["name"]"""
    _members(cls)
    if name.type is Str and not name.known:
        return by_python(operator.getitem, Const(Singleton(cls), cls), name,
                         type=union_of([Singleton(member) for member in cls.__members__.values()]))
    if name.type is not Str:
        raise NotNative(f"the name of a member of '{cls.__qualname__}' must be a str", "pass the member")
    found = cls.__members__.get(name.value)
    if found is None:
        raise Mismatch(repr(name.value), "", KeyError)
    return constant(found)


class _EnumMember(ByMethods, Known):
    """The protocol of enum members: the methods of the class, and what Enum, int and Flag define."""

    text = text_by_python
    functions = {hash: lambda args, kwargs: by_python(hash, *args, type=Int)}

    def compare(self, op, x, y):
        found = classes.compared(op, x, y)
        if found is not None:
            return found
        plain = k.is_number(y.type) or y.type in (k.Str, k.Bytes, NoneType)
        if plain and op in ("==", "!=") and type(x.type.value).__eq__ is object.__eq__:
            return Const(Bool, op == "!=")
        return super().compare(op, x, y)

    def binary(self, op, x, y, inplace):
        found = classes.binary(op, x, y, inplace)
        if found is not None:
            return found
        if _flag(x) is None and _flag(y) is None:
            return super().binary(op, x, y, inplace)
        if op not in FLAG_OPERATORS:
            return None
        a, b = map(fixed, plain_values((x, y), op))
        if a is UNKNOWN or b is UNKNOWN:
            raise NotNative(f"`{op}` of a flag and a value that is known at run time only is not compiled",
                            "use the ints: flag.value")
        try:
            return constant(SYMBOLS[op](a, b))
        except TypeError:
            return None

    def reflected(self, op, x, y, inplace):
        return self.binary(op, x, y, inplace)

    def unary(self, op, x):
        if op == "~" and _flag(x) is not None and classes.unary(op, x) is None:
            return constant(~_flag(x))
        return super().unary(op, x)

    def contains(self, x, item):
        if _flag(x) is not None and _flag(item) is not None and classes.own_method(x, "__contains__") is None:
            return Const(Bool, _flag(item) in _flag(x))
        return super().contains(x, item)

    def known_attribute(self, x, name):
        if name in ("value", "name", "_value_", "_name_"):
            value = getattr(x.type.value, name)
            plain = type(value) in (bool, int, float, complex, str, bytes, tuple, type(None))
            return constant(value) if plain else Const(Singleton(value), value)
        return super().known_attribute(x, name)


def _flag(x):
    """A flag member whose class defines its operators; None for any other value."""
    value = x.type.value if isinstance(x.type, Singleton) else None
    return value if isinstance(value, enum.Flag) else None


PROTOCOLS = {enum.EnumMeta: _EnumClass(), enum.Enum: _EnumMember()}
