"""The meaning of a kind of values: one `Protocol` for each kind, which says what operators, items, iteration, length,
truth, comparison, attributes, methods and functions do with a value of that kind.

operations.py finds the protocols of the operands by their types and calls them. `declare` registers the protocol of a
kind, and `declare_object` that of objects which are known when a function is compiled. The package's own protocols are
listed in kinds.py, so that a compile loads those of the kinds that it meets.
"""
from __future__ import annotations

import operator
from typing import Callable

from ..base.lazy import lazy
from ..infer.meaning import Call, Const, Expr, Mismatch, NotNative
from ..infer.names import describe
from ..types import kinds as k
from ..types.classes import MIRRORED
from ..types.kinds import Bool, Object, Str, Struct, Type
from .build import mismatch
from .intrinsics import same

__all__ = ["ByReference", "Protocol", "REPEATED", "State", "boxed", "by_python", "declare", "declare_object",
           "protocol_of", "protocol_of_kind", "rule_of_kinds", "text_by_python", "uncallable", "unsupported"]

_boxed = lazy("pyjitc.infer.boxed")  # only programs that need the interpreter load it


def boxed(x: Expr) -> Expr:
    """See infer/boxed.py."""
    return _boxed.boxed(x)


def by_python(function, *operands: Expr, type: Type = Object) -> Expr:
    """See infer/boxed.py."""
    return _boxed.by_python(function, *operands, type=type)


class Protocol:
    """The meaning of a kind of values. Every method gets the operands as expressions and returns an expression, or
    raises Mismatch. The methods of this base class do what CPython does with an object whose class does not define the
    operation.

    `binary`, `reflected`, `compare`, `compared`, `identical` and `attribute` may return None, as methods of Python
    return NotImplemented: then the other operand's protocol is called, and after it CPython's TypeError is raised.
    """

    # Meanings of functions where an argument is of this kind: callable -> rule (args, kwargs) -> Expr. They take
    # precedence over the meaning of the function itself.
    functions: dict = {}
    # Whether `is` may distinguish two equal values of this kind.
    has_identity = False

    # -- operators

    def binary(self, op: str, x: Expr, y: Expr, inplace: bool) -> Expr | None:
        """`x op y`, where x is of this kind."""
        return None

    def reflected(self, op: str, x: Expr, y: Expr, inplace: bool) -> Expr | None:
        """`x op y`, where y is of this kind and the kind of x does not define it."""
        return None

    def unsupported(self, op: str, x: Expr, y: Expr, inplace: bool) -> Mismatch:
        """The error of `x op y` where neither kind defines it, and x is of this kind."""
        return mismatch(op, x, y, inplace=inplace)

    def unary(self, op: str, x: Expr) -> Expr:
        """`-x`, `+x`, `~x`."""
        raise mismatch(op, x)

    def compare(self, op: str, x: Expr, y: Expr) -> Expr | None:
        """`x op y` for ==, !=, <, <=, > and >=, where x is of this kind."""
        return None

    def compared(self, op: str, x: Expr, y: Expr) -> Expr | None:
        """`x op y` for the operators of `compare`, where y is of this kind and the kind of x does not define it."""
        return self.compare(MIRRORED[op], y, x)

    def identical(self, x: Expr, y: Expr) -> Expr | None:
        """`x is y`, where one of the two is of this kind."""
        return None

    def truth(self, x: Expr) -> Expr:
        """The truth value that `if x` tests, a Bool."""
        return Const(Bool, True)

    # -- items

    def contains(self, x: Expr, item: Expr) -> Expr:
        """`item in x`"""
        if not self.is_iterable(x):
            raise Mismatch(f"argument of type {describe(x.type)} is not iterable")
        return Call(among, x, item)

    def length(self, x: Expr) -> Expr:
        raise Mismatch(f"object of type {describe(x.type)} has no len()")

    def getitem(self, x: Expr, i: Expr) -> Expr:
        raise Mismatch(f"{describe(x.type)} object is not subscriptable")

    def setitem(self, x: Expr, i: Expr, value: Expr, asks: bool) -> Expr:
        """`x[i] = value`. asks: whether a NumPy number must fit in an element, as in assignments of the program;
        functions of the library, which store the elements of arrays one by one, convert it without a check."""
        raise Mismatch(f"{describe(x.type)} object does not support item assignment")

    def delitem(self, x: Expr, i: Expr) -> Expr:
        """`del x[i]`"""
        is_sequence = hasattr(x.type.python_class, "__len__") and k.is_integer(i.type)
        does_not = "doesn't" if is_sequence else "does not"
        raise Mismatch(f"{describe(x.type)} object {does_not} support item deletion")

    def delete_attribute(self, x: Expr, name: str) -> Expr:
        """`del x.name`"""
        raise _without_place(x, name) or NotNative(
            f"attributes of {describe(x.type)} objects cannot be deleted in compiled code",
            "keep the object, and mark it by another value of the attribute")

    def elements(self, x: Expr) -> list[Expr] | None:
        """The items, where their number is part of the type; else None."""
        return None

    # -- iteration

    def is_iterable(self, x: Expr) -> bool:
        return type(self).iterate is not Protocol.iterate

    def iterate(self, x: Expr) -> Expr:
        """The state before the first step of a loop."""
        raise Mismatch(f"{describe(x.type)} object is not iterable",
                       "range(n) has the ints below n" if k.is_integer(x.type) else "")

    def step(self, state: Expr) -> Expr:
        """(has, item, next state) of a state of this kind."""
        raise Mismatch(f"{describe(state.type)} object is not an iterator")

    def last_step(self, state: Expr) -> Expr:
        """`step` for `yield from`, where an iterator may return something: (False, no item, state, that) at its end."""
        return self.step(state)

    def reversed(self, x: Expr) -> Expr:
        """The initial state of a loop over `reversed(x)`."""
        raise Mismatch(f"{describe(x.type)} object is not reversible")

    # -- attributes, methods, text

    def attribute(self, x: Expr, name: str) -> Expr | None:
        return None

    def known_attribute(self, x: Expr, name: str) -> Expr | None:
        """The attribute of an object that is known when the function is compiled; None where it is to be read from the
        object."""
        return None

    def set_attribute(self, x: Expr, name: str, value: Expr) -> Expr:
        raise _without_place(x, name) or NotNative(
            f"attributes of {describe(x.type)} objects cannot be assigned in compiled code",
            "return the value and assign it outside, or write it into an array")

    def method(self, x: Expr, name: str, args: list[Expr], kwargs: dict[str, Expr]) -> Expr:
        """A call of a method, where `attribute` has returned METHOD_MAKE."""
        raise Mismatch(f"{describe(x.type)} object has no attribute '{name}'", "", AttributeError)

    def call(self, x: Expr, args: list[Expr], kwargs: dict[str, Expr]) -> Expr | None:
        raise uncallable(x, args, k.is_number(x.type), "")

    def text(self, function, x: Expr) -> Expr:
        """`str(x)`, `repr(x)` or `ascii(x)`: the text that the interpreter makes."""
        return by_python(function, x, type=Str)


REPEATED = (list, tuple, str, bytes, bytearray)  # the classes whose objects `*` repeats


def unsupported(op: str, x: Expr, y: Expr, inplace: bool) -> Mismatch:
    """The error of `x op y` where neither kind defines it: for `*` that of a sequence, on whichever side it is."""
    of_program = inplace and isinstance(x.type, k.ObjectOf)  # CPython asks no other sequence then
    if op == "*" and (x.type.python_class in REPEATED or y.type.python_class in REPEATED and not of_program):
        count = y if x.type.python_class in REPEATED else x
        return Mismatch(f"can't multiply sequence by non-int of type {describe(count.type)}")
    return protocol_of(x.type).unsupported(op, x, y, inplace)


def uncallable(x: Expr, args: list[Expr], is_data: bool = True,
               hint: str = "an element is taken with brackets, as in a[i]") -> Mismatch:
    """The interpreter's error for a call of a value that is no function. hint: where there are arguments"""
    return Mismatch(f"{describe(x.type)} object is not callable",
                    hint if args or not is_data else "leave the parentheses out: this is a value, not a method")


def _without_place(x: Expr, name: str) -> Mismatch | None:
    """The interpreter's error for storing or deleting an attribute that no object of the class has."""
    cls = x.type.python_class
    if cls is None or cls.__module__ != "builtins" or hasattr(cls, name):
        return None
    try:
        setattr(0, name, None)
    except AttributeError as error:
        return Mismatch(f"'{cls.__name__}'" + str(error).removeprefix("'int'"), "", AttributeError)


class ByReference(Protocol):
    """The protocol of references to objects, which `is` compares."""

    has_identity = True

    def identical(self, x, y):
        return by_python(operator.is_, x, y, type=Bool) if type(x.type) is type(y.type) else None


class State(Protocol):
    """An iteration state. `function`: the library function that makes a step of a state; None where there are no
    steps."""

    def __init__(self, function=None):
        self.function = function

    def iterate(self, x):
        return x

    def step(self, state):
        return Call(self.function, state)


class _Nothing(Protocol):
    """The protocol of types that have no values in Python."""

    def truth(self, x):
        raise NotNative(f"a value of type {x.type} has no truth value in compiled code")


def among(iterable, item):
    for x in iterable:
        if same(x, item):
            return True
    return False


def text_by_python(self, function, x: Expr) -> Expr:
    """`Protocol.text` of a kind whose values can be passed to the interpreter."""
    return by_python(function, x, type=Str)


# ---------------------------------------------------------------- which kind has which protocol

# The key of a kind is the class of its types or the name of a Struct; of an object that is known when a function is
# compiled, its class or a base class. The value is a protocol, or a function that returns it at its first use.
_kinds: dict[type | str, Protocol | Callable[[], Protocol]] = {}
_of_objects: dict[type, Protocol | Callable[[], Protocol]] = {}
_functions: dict[int, Callable] = {}  # by identity: the functions for which some kind has a meaning of its own
_NOTHING = _Nothing()


def protocol_of(t: Type) -> Protocol:
    """The protocol of the values of type t."""
    key = type(t)
    if key is k.Singleton:
        for key in type(t.value).__mro__:
            if key in _of_objects:
                return _loaded(_of_objects, key)
    if key is Struct:
        key = t.name
    return protocol_of_kind(key)


def protocol_of_kind(key) -> Protocol:
    """The protocol of a kind. key: the class of its types, or the name of a Struct."""
    if key not in _kinds and isinstance(key, type) and issubclass(key, k.Attributes):
        key = k.Attributes
    return _loaded(_kinds, key) if key in _kinds else _NOTHING


def _loaded(table, key) -> Protocol:
    found = table[key]
    if not isinstance(found, Protocol):
        found = table[key] = found()
    return found


def rule_of_kinds(target, args: list[Expr]):
    """The rule of a function for which the kind of an argument has a meaning of its own, or None."""
    for x in args:
        if id(target) in _functions or x.type is Object or isinstance(x.type, (k.Attributes, k.ObjectOf)) or (
                target is hash and type(x.type) is k.Singleton):
            try:
                rule = protocol_of(x.type).functions.get(target)
            except TypeError:  # functions of ctypes cannot be hashed
                return None
            if rule is not None:
                return rule
    return None


def declare(kind, protocol: Protocol | Callable[[], Protocol]) -> None:
    """Register the protocol of a kind. kind: the class of its types, one of those types, or the name of a Struct;
    protocol: the record, or a function that returns it at its first use."""
    _kinds[type(kind) if isinstance(kind, Type) else kind] = protocol
    if isinstance(protocol, Protocol):
        _functions.update({id(function): function for function in protocol.functions})


def declare_object(cls: type, protocol: Protocol | Callable[[], Protocol]) -> None:
    """Register the protocol of objects of a class that are known when a function is compiled."""
    _of_objects[cls] = protocol
