"""Special methods of built-in classes that a program uses by name instead of by an operator or a function:
`max(d, key=d.__getitem__)`, `filter(seen.__contains__, xs)`, `map(str.__len__, words)`.
"""
from __future__ import annotations

from ...infer.constants import constant
from ...infer.meaning import CallValue, Expr, NotNative
from ...infer.names import describe
from ...types.classes import COMPARISONS, OPERATORS, UNARY, is_fixed
from ...types.kinds import Singleton, Type, is_integer
from .. import operations
from ..protocol import protocol_of
from ..rule import Rule

__all__ = ["called", "is_known"]


def _function(function):
    return "self, /", lambda x: CallValue(constant(function), x)


def _unary(symbol: str):
    return "self, /", lambda x: operations.unary(symbol, x)


def _binary(symbol: str, operation):
    """A method that gives NotImplemented for operands of some classes, where the operator asks the other operand: it
    is compiled for two operands of one class, and for a sequence and a count."""
    def apply(x: Expr, value: Expr) -> Expr:
        one, other = x.type.python_class, value.type.python_class
        if one is not other and not (symbol == "*" and hasattr(one, "__len__") and is_integer(value.type)):
            raise NotNative(f"the method behind `{symbol}` of {describe(x.type)} is not compiled with "
                            f"{describe(value.type)}", f"write x {symbol} y")
        return operation(symbol, x, value)

    return "self, value, /", apply


# name -> (signature, function of the arguments as expressions)
_METHODS: dict = {
    "__getitem__": ("self, i, /", lambda x, i: protocol_of(x.type).getitem(x, i)),
    "__setitem__": ("self, i, value, /", lambda x, i, value: protocol_of(x.type).setitem(x, i, value, True)),
    "__delitem__": ("self, i, /", lambda x, i: protocol_of(x.type).delitem(x, i)),
    "__contains__": ("self, item, /", lambda x, item: protocol_of(x.type).contains(x, item)),
    **{f"__{f.__name__}__": _function(f) for f in (len, iter, reversed, str, repr, abs, bool, int, float)},
    **{name: _unary(symbol) for symbol, name in UNARY.items()},
    **{f"__{name}__": _binary(symbol, operations.binary) for symbol, name in OPERATORS.items()},
    **{name: _binary(symbol, operations.compare) for symbol, name in COMPARISONS.items()},
}


def is_known(t: Type, name: str) -> bool:
    """Whether values of type t have a method of this name from their built-in class."""
    cls = t.python_class
    return (name in _METHODS and cls is not None and not isinstance(t, Singleton) and is_fixed(cls)
            and hasattr(cls, name))


def called(x: Expr, name: str, args, kwargs) -> Expr:
    """x.name(*args, **kwargs) of such a method."""
    signature, function = _METHODS[name]
    return Rule(function, f"{x.type.python_class.__name__}.{name}", signature)([x, *args], kwargs)
