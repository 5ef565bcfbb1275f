"""Calls of functions of the interpreter whose result type is known: functions on numbers and text, folded where all
operands are constants.
"""
from __future__ import annotations

from ...infer.boxed import direct
from ...infer.constants import constant
from ...infer.meaning import UNKNOWN, Apply, Const, Expr
from ...ops.pyobject import API
from ...ops.text import OBJECT_CALL, TEXT_CALL
from ...runtime.platform import PYTHON
from ...types import kinds as k
from ...types.kinds import (
    ByteArray, Bytes, List, ListDisplay, MemoryView, NoneType, Object, Slice, Str, Tuple, Type, is_numpy_scalar,
    is_scalar,
)
from ..protocol import boxed

__all__ = ["call_python", "folded", "is_object", "is_plain", "parsed"]

_MAX_FOLDED = 4096  # the most characters of a text that is computed at compile time


def is_plain(t: Type) -> bool:
    """Whether a value of type t consists of numbers, text and bytes, so that the interpreter's operations on it run no
    code of the program."""
    if isinstance(t, (Tuple, ListDisplay, Slice)):
        return all(map(is_plain, t.parts or ()))
    return is_scalar(t) or t in (Str, Bytes, NoneType)


def is_object(t: Type) -> bool:
    """Whether a value of type t can be converted to an object for the interpreter."""
    return not t.inner and (t.parts is None or isinstance(t, k.Struct) is isinstance(t, ListDisplay)
                            and all(map(is_object, t.parts)))


def call_python(function, *args: Expr, type: Type, kwargs: dict[str, Expr] | None = None, plain: bool = True,
                api: str | None = None) -> Expr:
    """A call of a function of the interpreter that returns a value of this type. plain: the call has no side effects
    where all its operands are plain (`is_plain`). api: the function of the C API that does the same with these
    operands."""
    given = [*args, *(kwargs or {}).values()]
    # collections during an allocation may run finalizers
    collects = isinstance(type, (List, Tuple)) and PYTHON < (3, 12)
    name = direct(function, len(given))
    if name in API and not API[name][1]:
        api = name
    op = TEXT_CALL if plain and not collects and all(is_plain(x.type) for x in given) else OBJECT_CALL
    return Apply(op, Const(Object, function), *map(_operand, given), type=type, kwnames=tuple(kwargs or ()),
                 api=api)


_OBJECTS = (int, float, bool, str, bytes, type(None))


def _operand(x: Expr) -> Expr:
    value = x.value if x.known else UNKNOWN
    parts = (value if type(value) is tuple else (value.start, value.stop, value.step) if type(value) is slice else
             (value,))
    if x.type is not Str and x.type is not Bytes and all(type(part) in _OBJECTS for part in parts) and not (
            isinstance(x.type, Tuple) and x.type.cls is not None) and not is_numpy_scalar(x.type):
        return Const(Object, value)  # one object for all calls
    return x if x.type in (Str, Bytes, ByteArray, MemoryView, Object) else boxed(x)


def folded(function, args, kwargs) -> Expr | None:
    """The result of a call whose operands are constants, as a constant; None where it raises or is too large."""
    given = [*args, *kwargs.values()]
    if not all(x.known and is_plain(x.type) for x in given):
        return None
    if any(type(x.value) is int and abs(x.value) > _MAX_FOLDED for x in given):
        return None
    try:
        value = function(*(x.value for x in args), **{name: x.value for name, x in kwargs.items()})
    except Exception:
        return None
    if type(value) is int and not -(1 << 63) <= value < 1 << 63:
        return None
    if type(value) in (str, bytes) and len(value) <= _MAX_FOLDED or type(value) in (int, float, complex, bool) or (
            type(value) is tuple and all(type(x) in (str, bytes) for x in value)):
        return constant(value)
    return None


def parsed(function, t: Type, x: Expr, base: Expr | None = None) -> Expr:
    """int(x), int(x, base), float(x) or complex(x) of text or bytes."""
    args = [x] if base is None else [x, base]
    return folded(function, args, {}) or call_python(function, *args, type=t)
