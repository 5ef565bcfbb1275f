"""Parametrised classes such as `list[int]` and `int | None`, in annotations and as the second argument of isinstance.
They are known when a function is compiled."""
from __future__ import annotations

import functools
import operator
import types as pytypes
import typing

from ...infer.constants import constant
from ...infer.meaning import UNKNOWN, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative
from ...types import kinds as k
from ...types.kinds import ListDisplay, NoneType, Singleton, Tuple
from .. import operations
from ..protocol import protocol_of

__all__ = ["array_type", "called", "joined", "parametrised"]

_HINTS = (type, pytypes.GenericAlias, pytypes.UnionType, typing.TypeVar, type(typing.Any), type(typing.List),
          type(typing.List[int]), type(typing.Optional[int]), type(typing.Callable), type(typing.Union))


def _is_hint(value) -> bool:
    return isinstance(value, _HINTS) or type(value).__module__ == "typing"


def parametrised(x: Expr, item: Expr) -> Expr | None:
    """`x[item]` of a class or a form of `typing`; None where x is neither."""
    value = x.type.value
    if not _is_hint(value) or not hasattr(value, "__class_getitem__" if isinstance(value, type) else "__getitem__"):
        return None
    given = _value(item)
    if given is UNKNOWN:
        raise NotConstant(f"what {_name(value)}[...] is parametrised with must be known at compile time",
                          "write the class without brackets")
    return _known(_subscript, value, given)


def array_type(x: Expr, item: Expr) -> Expr | None:
    """`float64[:, ::1]` of a type in users' notation; None for other operands."""
    value = x.type.value
    return _known(operator.getitem, value, item.value) if item.known and hasattr(value, "__pyjitc_type__") else None


def _is_generic(cls) -> bool:
    """Whether objects of a class are made, and take attributes, as those of any class of a program."""
    return typing.Generic in cls.__mro__ and cls.__new__ is object.__new__ and cls.__setattr__ is object.__setattr__


def with_alias(x, alias):
    x.__orig_class__ = alias
    return x


def joined(x: Expr, y: Expr) -> Expr | None:
    """`x | y` of two classes, or of one and None; None for other operands."""
    a, b = operations.fixed(x), operations.fixed(y)
    if not all((t.type is NoneType or _is_hint(value)) for t, value in ((x, a), (y, b))) or a is b is None:
        return None
    return _known(_union, a, b)


def called(target, args, kwargs) -> Expr | None:
    """`deque[int](...)` of a container class, or `Cache[int](...)` of a generic class of the program; None for other
    targets."""
    if isinstance(target, type(typing.List[int])) and _is_generic(target.__origin__):
        made = CallValue(constant(target.__origin__), *args, keywords=kwargs)
        return Call(with_alias, made, constant(target)) if target.__origin__.__dictoffset__ else made
    if not isinstance(target, pytypes.GenericAlias):
        return None
    if target.__origin__ not in k.CONTAINERS and target.__origin__ is not tuple:
        raise NotNative(f"a call of {target} is not compiled", f"write {_name(target.__origin__)}(...)")
    return CallValue(constant(target.__origin__), *args, keywords=kwargs)


def _known(make, a, b) -> Expr:
    try:
        found = make(a, b)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise Mismatch(str(error)) from None
        raise NotNative(f"this parameter of {_name(a)} is not compiled", "write the class without brackets") from None
    return Const(Singleton(found), found)


@functools.lru_cache
def _subscript(value, item):
    """The parametrised class; the same object each time, since types are compared by the objects that they hold."""
    return value[item]


@functools.lru_cache
def _union(a, b):
    return a | b


def _value(x: Expr):
    """The value of a parameter, or a tuple of values: for several parameters, and for a list as in
    Callable[[int], int]."""
    if x.known:
        return x.value
    if isinstance(x.type, (Tuple, ListDisplay)):
        items = [_value(one) for one in protocol_of(x.type).elements(x)]
        return UNKNOWN if UNKNOWN in items else tuple(items)
    return operations.fixed(x)


def _name(value) -> str:
    return getattr(value, "__name__", None) or str(value)
