"""The protocol of objects that consist of their attributes: the methods of their class are compiled and define all
operations."""
from __future__ import annotations

import inspect
import math
import operator

from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, Expr, Mismatch, NotNative
from ...ops import structure
from ...types.kinds import (
    Array, Attributes, Bytes, Container, DictDisplay, DictView, ListDisplay, Object, Str, Tuple,
)
from ..build import provoked, type_name
from ..intrinsics import iterate
from ..protocol import Protocol, text_by_python
from ..rule import intrinsic
from . import classes

__all__ = ["ByMethods", "OfClass", "PROTOCOLS", "hashed", "iterator"]

# Functions for which Python calls a method of the class of the first argument.
_ASKED_BY = {abs: "__abs__", int: "__int__", float: "__float__", complex: "__complex__", round: "__round__",
             hash: "__hash__", operator.index: "__index__", math.floor: "__floor__", math.ceil: "__ceil__",
             math.trunc: "__trunc__"}

# The methods that Python calls, in this order, where a class does not define the one in _ASKED_BY.
# The value is the function that checks the method's result.
_REAL: dict = {"__float__": float, "__index__": operator.index}
_ASKED_NEXT: dict = {complex: _REAL, float: {"__index__": operator.index},
                     int: {"__index__": operator.index, "__trunc__": None}, math.floor: _REAL, math.ceil: _REAL}


def _asks(function, name):
    def rule(args, kwargs):
        found = classes.own_method(args[0], name)
        if found is None and not kwargs and len(args) == 1:
            for other, asked in _ASKED_NEXT.get(function, {}).items():
                found = classes.own_method(args[0], other)
                if found is not None:
                    return Call(converted_by, constant(function), found if asked is None else constant(asked), *args)
        if found is None and function is not hash and len(args) == 1 and not kwargs:
            cls = classes.class_of(args[0])
            if not any([hasattr(cls, one) for one in (name, *_ASKED_NEXT.get(function, ()))]):
                raise Mismatch(provoked(function, type(cls.__name__, (), {})()), f"define {name} in the class")
        if found is None:
            raise NotNative(f"{function.__name__}() of a '{classes.class_of(args[0]).__name__}' object is not compiled",
                            f"define {name} in its class")
        if function is operator.index and len(args) == 1 and not kwargs:
            return Call(converted, found, *args, constant(int), constant("__index__ returned non-int (type "))
        if function in (int, float, complex) and len(args) == 1 and not kwargs:
            owner = f"{classes.class_of(args[0]).__name__}." if function is float else ""
            return Call(converted, found, *args, constant(function),
                        constant(f"{owner}{name} returned non-{function.__name__} (type "))
        return Call(hashed, found, *args) if function is hash else CallValue(found, *args, keywords=kwargs)

    return rule


class ByMethods(Protocol):
    """The operations that a method of the object's class defines. The next protocol in the order of base classes gives
    the meaning of operations that the class does not define."""

    def unary(self, op, x):
        found = classes.unary(op, x)
        return super().unary(op, x) if found is None else found

    def contains(self, x, item):
        function = classes.own_method(x, "__contains__")
        return super().contains(x, item) if function is None else Call(contained, function, x, item)

    def length(self, x):
        function = classes.own_method(x, "__len__")
        return super().length(x) if function is None else Call(measured, function, x)

    def getitem(self, x, i):
        function = classes.own_method(x, "__getitem__")
        return super().getitem(x, i) if function is None else CallValue(function, x, i)

    def is_iterable(self, x):
        return classes.own_method(x, "__iter__") is not None

    def iterate(self, x):
        function = classes.own_method(x, "__iter__")
        return super().iterate(x) if function is None else Call(begun, function, x)

    def call(self, x, args, kwargs):
        function = classes.own_method(x, "__call__")
        return super().call(x, args, kwargs) if function is None else CallValue(function, x, *args, keywords=kwargs)


class OfClass(ByMethods):
    """The protocol of objects that consist of their attributes: the methods of the class, which are compiled, define
    all operations.

    A kind of such objects needs no other protocol. A kind with its own meaning of some operations, or of functions that
    call no methods of classes, is declared with a subclass of this one."""

    text = text_by_python
    functions = {function: _asks(function, name) for function, name in _ASKED_BY.items()}

    def make(self, t: type[Attributes], args, kwargs) -> Expr:
        """A call of the class, whose parameters are the attributes."""
        try:
            bound = inspect.signature(t.python_class).bind(*args, **kwargs)
        except TypeError as error:
            raise Mismatch(f"{t.python_class.__name__}(): {error}") from None
        bound.apply_defaults()
        parts = [x if isinstance(x, Expr) else constant(x) for x in bound.arguments.values()]
        return Apply(structure.STRUCT_MAKE, *parts, type=t(*(x.type for x in parts)))

    def binary(self, op, x, y, inplace):
        return classes.binary(op, x, y, inplace)

    reflected = binary

    def compare(self, op, x, y):
        found = classes.compared(op, x, y, identity=False)
        if found is not None:
            return found
        if op in ("==", "!="):
            raise NotNative(f"'{classes.class_of(x).__name__}' has no __eq__, and its objects have no identity in "
                            f"compiled code", "define __eq__ in the class")
        return None

    def compared(self, op, x, y):
        return self.compare(op, x, y)

    def truth(self, x):
        function, length = classes.own_method(x, "__bool__"), classes.own_method(x, "__len__")
        return (Call(decided, function, x) if function is not None else super().truth(x) if length is None
                else Call(is_not_empty, x))

    def is_iterable(self, x):
        return super().is_iterable(x) or classes.own_method(x, "__getitem__") is not None

    def iterate(self, x):
        if classes.own_method(x, "__iter__") is None and classes.own_method(x, "__getitem__") is not None:
            return Call(iterated, constant(by_index), x)
        return super().iterate(x)

    def reversed(self, x):
        function, item = classes.own_method(x, "__reversed__"), classes.own_method(x, "__getitem__")
        return (Call(iterated, function, x) if function is not None else super().reversed(x) if item is None
                else self.length(x) if classes.own_method(x, "__len__") is None
                else Call(iterated, constant(by_falling_index), x))

    def attribute(self, x, name):
        return Apply(structure.STRUCT_GET, x, field=name) if name in x.type.names else classes.attribute(x, name)

    def method(self, x, name, args, kwargs):
        return classes.method(x, name, args, kwargs)


def is_not_empty(x):
    return len(x) != 0


# The results of special methods are checked as the interpreter does it.


def decided(function, x):
    found = function(x)
    if not isinstance(found, bool):
        raise TypeError("__bool__ should return bool, returned " + class_name(found))
    return found


def contained(function, x, item):
    return bool(function(x, item))


def measured(function, x):
    n = operator.index(function(x))
    if n < 0:
        raise ValueError("__len__() should return >= 0")
    return n


def converted(function, x, cls, message):
    found = function(x)
    if not isinstance(found, cls):
        raise TypeError(message + class_name(found) + ")")
    return cls(found)


def converted_by(function, method, x):
    """Apply `function` to the result of a method. The method is called even if its result is known."""
    return function(method(x))


def hashed(function, x):
    found = function(x)
    if not isinstance(found, int):
        raise TypeError("__hash__ method should return an integer")
    return -2 if found == -1 else int(found)


@intrinsic
def class_name(x):
    return Call(class_name_now, x) if x.type is Object else constant(type_name(x.type))


def class_name_now(x):
    return type(x).__name__


def iterated(function, x):
    return iterate(function(x))


def begun(function, x):
    return iterate(iterator(function(x)))


@intrinsic
def iterator(x):
    """The result of __iter__, which must be an iterator."""
    if isinstance(x.type, (Array, Container, DictDisplay, DictView, ListDisplay, Tuple)) or x.type in (Str, Bytes):
        raise Mismatch(f"iter() returned non-iterator of type '{type_name(x.type)}'")
    return x


def by_index(x):
    """The iterator over an object of a class with __getitem__ that has no __iter__."""
    i = 0
    while True:
        try:
            item = x[i]
        except (IndexError, StopIteration):
            return
        yield item
        i += 1


def by_falling_index(x):
    """`reversed(x)` of an object of a class with __len__ and __getitem__."""
    for i in range(len(x) - 1, -1, -1):
        try:
            item = x[i]
        except (IndexError, StopIteration):
            return
        yield item


PROTOCOLS = {Attributes: OfClass()}
