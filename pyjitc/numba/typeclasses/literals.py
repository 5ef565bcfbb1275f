"""Constants as types."""
from __future__ import annotations

from ...types import kinds
from .abstract import Dummy
from .arrays import Bytes
from .containers import BaseTuple, Tuple
from .scalars import Boolean, Integer, UnicodeType, boolean, float64, int64, unicode_type


class Literal(Dummy):
    """A constant as a type. `literal_value`: the constant; `literal_type`: the type of such values."""

    def __init__(self, value):
        self.literal_value = value
        super().__init__(f"Literal[{type(value).__name__}]({value})")

    @property
    def key(self):
        return self.literal_value, type(self.literal_value).__name__

    @property
    def literal_type(self):
        from_value = {bool: boolean, int: int64, str: unicode_type, bytes: Bytes()}
        return from_value.get(type(self.literal_value), float64)

    @property
    def type(self):
        return self.literal_type.type


class IntegerLiteral(Literal, Integer):
    def __init__(self, value):
        Literal.__init__(self, value)
        self._type = kinds.int64
        self.bitwidth, self.signed = 64, True


class BooleanLiteral(Literal, Boolean):
    def __init__(self, value):
        Literal.__init__(self, value)


class StringLiteral(Literal, UnicodeType):
    def __init__(self, value):
        Literal.__init__(self, value)


def literal(value):
    """The type of a constant."""
    classes = {bool: BooleanLiteral, int: IntegerLiteral, str: StringLiteral}
    if type(value) not in classes:
        raise TypeError(f"{type(value).__name__} cannot be used as a literal")
    return classes[type(value)](value)


def maybe_literal(value):
    return literal(value) if type(value) in (bool, int, str) else None


def unliteral(t):
    """The type of the values, without the constant."""
    if isinstance(t, Literal):
        return t.literal_type
    if isinstance(t, BaseTuple) and any(isinstance(x, Literal) for x in t.types):
        return Tuple([unliteral(x) for x in t.types])
    return t
