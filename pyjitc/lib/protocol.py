"""What a kind of values means: one `Protocol` for each kind, which says what operators, items, iteration, length,
truth, comparison, attributes, methods and functions do with a value of that kind.

operations.py finds the protocols of the operands by their types and asks them. `declare` adds that of a kind, and
`declare_object` that of objects which are known when a function is compiled. The package declares its own in kinds.py,
so that a compile loads the protocols of the kinds that it meets.
"""
from __future__ import annotations

from typing import Callable

from ..infer.boxed import boxed, by_python
from ..infer.meaning import Call, Const, Expr, Mismatch
from ..infer.names import describe
from ..types import kinds as k
from ..types.kinds import Bool, Object, Str, Struct, Type
from .build import MIRRORED, mismatch
from .intrinsics import same

__all__ = ["Protocol", "State", "boxed", "by_python", "declare", "declare_object", "protocol_of", "protocol_of_kind",
           "rule_of_kinds", "text_by_python"]


class Protocol:
    """The meaning of a kind of values. Every method gets the operands as expressions and returns an expression, or
    raises Mismatch; what stands here is what CPython does with an object whose class does not say it.

    `binary`, `reflected`, `compare`, `compared`, `identical` and `attribute` may return None, as methods of Python
    return NotImplemented: the other operand's protocol is asked then, and after it the message of CPython is raised.
    """

    # What functions mean where an argument is of this kind: callable -> rule (args, kwargs) -> Expr. It comes before
    # the meaning of the function itself.
    functions: dict = {}
    # Whether `is` tells more of two values of this kind than `==` does.
    has_identity = False

    # -- operators

    def binary(self, op: str, x: Expr, y: Expr, inplace: bool) -> Expr | None:
        """`x op y`, where x is of this kind."""
        return None

    def reflected(self, op: str, x: Expr, y: Expr, inplace: bool) -> Expr | None:
        """`x op y`, where y is of this kind and the kind of x has no meaning for it."""
        return None

    def unsupported(self, op: str, x: Expr, y: Expr, inplace: bool) -> Mismatch:
        """What to say of `x op y` where neither kind has a meaning for it, and x is of this kind."""
        return mismatch(op, x, y, inplace=inplace)

    def unary(self, op: str, x: Expr) -> Expr:
        """`-x`, `+x`, `~x`."""
        raise mismatch(op, x)

    def compare(self, op: str, x: Expr, y: Expr) -> Expr | None:
        """`x op y` for ==, !=, <, <=, > and >=, where x is of this kind."""
        return None

    def compared(self, op: str, x: Expr, y: Expr) -> Expr | None:
        """The same, where y is of this kind and the kind of x has no meaning for it."""
        return self.compare(MIRRORED[op], y, x)

    def identical(self, x: Expr, y: Expr) -> Expr | None:
        """`x is y`, where one of the two is of this kind."""
        return None

    def truth(self, x: Expr) -> Expr:
        """What `if x` tests, a Bool."""
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
        """`x[i] = value`. asks: whether a number of NumPy's must fit in an element, as in the program; functions of the
        library, which store the elements of arrays one by one, cast them."""
        raise Mismatch(f"{describe(x.type)} object does not support item assignment")

    def delitem(self, x: Expr, i: Expr) -> Expr:
        """`del x[i]`"""
        raise Mismatch(f"{describe(x.type)} object doesn't support item deletion")

    def delete_attribute(self, x: Expr, name: str) -> Expr:
        """`del x.name`"""
        raise _without_place(x, name) or Mismatch(
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
        raise Mismatch(f"{describe(x.type)} object is not iterable")

    def step(self, state: Expr) -> Expr:
        """(has, item, next state) of a state of this kind."""
        raise Mismatch(f"{describe(state.type)} object is not an iterator")

    def reversed(self, x: Expr) -> Expr:
        """The state of a loop over `reversed(x)`."""
        raise Mismatch(f"{describe(x.type)} object is not reversible")

    # -- attributes, methods, text

    def attribute(self, x: Expr, name: str) -> Expr | None:
        return None

    def known_attribute(self, x: Expr, name: str) -> Expr | None:
        """The attribute of an object that is known when the function is compiled; None: it is read from the object."""
        return None

    def set_attribute(self, x: Expr, name: str, value: Expr) -> Expr:
        raise _without_place(x, name) or Mismatch(
            f"attributes of {describe(x.type)} objects cannot be assigned in compiled code",
            "return the value and assign it outside, or write it into an array")

    def method(self, x: Expr, name: str, args: list[Expr], kwargs: dict[str, Expr]) -> Expr:
        """A call of what `attribute` gave as METHOD_MAKE."""
        raise Mismatch(f"{describe(x.type)} object has no attribute '{name}'", "", AttributeError)

    def call(self, x: Expr, args: list[Expr], kwargs: dict[str, Expr]) -> Expr | None:
        raise Mismatch(f"{describe(x.type)} object is not callable")

    def text(self, function, x: Expr) -> Expr:
        """`str(x)`, `repr(x)` or `ascii(x)`: as the interpreter makes it."""
        return by_python(function, x, type=Str)


def _without_place(x: Expr, name: str) -> Mismatch | None:
    """What the interpreter says of a store in, or the deletion of, an attribute that no object of the class has."""
    cls = x.type.python_class
    if cls is None or cls.__module__ != "builtins" or hasattr(cls, name):
        return None
    try:
        setattr(0, name, None)
    except AttributeError as error:
        return Mismatch(f"'{cls.__name__}'" + str(error).removeprefix("'int'"), "", AttributeError)


class State(Protocol):
    """An iteration state: `function` is the library function of a state that makes a step, None for no steps at all."""

    def __init__(self, function=None):
        self.function = function

    def iterate(self, x):
        return x

    def step(self, state):
        return Call(self.function, state)


class _Nothing(Protocol):
    """For types that have no values in Python."""

    def truth(self, x):
        raise Mismatch(f"a value of type {x.type} has no truth value in compiled code")


def among(iterable, item):
    for x in iterable:
        if same(x, item):
            return True
    return False


def text_by_python(self, function, x: Expr) -> Expr:
    """`Protocol.text` of a kind whose values the interpreter can be given."""
    return by_python(function, x, type=Str)


# ---------------------------------------------------------------- which kind has which protocol

# What tells kinds apart: the class of their types, or the name of a Struct; and the class of an object that is known
# when a function is compiled, or one that it is made from. A protocol stands there itself, or what gives it at its
# first use.
_kinds: dict[type | str, Protocol | Callable[[], Protocol]] = {}
_of_objects: dict[type, Protocol | Callable[[], Protocol]] = {}
_functions: dict[int, Callable] = {}  # by identity: those that some kind has a meaning of its own for
_NOTHING = _Nothing()


def protocol_of(t: Type) -> Protocol:
    """What the values of type t can do."""
    key = type(t)
    if key is k.Singleton:
        for key in type(t.value).__mro__:
            if key in _of_objects:
                return _loaded(_of_objects, key)
    if key is Struct:
        key = t.name
    return protocol_of_kind(key)


def protocol_of_kind(key) -> Protocol:
    """What the values of a kind can do. key: the class of its types, or the name of a Struct."""
    if key not in _kinds and isinstance(key, type) and issubclass(key, k.Attributes):
        key = k.Attributes
    return _loaded(_kinds, key) if key in _kinds else _NOTHING


def _loaded(table, key) -> Protocol:
    found = table[key]
    if not isinstance(found, Protocol):
        found = table[key] = found()
    return found


def rule_of_kinds(target, args: list[Expr]):
    """The rule of a function that the kind of an argument has a meaning of its own for, or None."""
    for x in args:
        if id(target) in _functions or x.type is Object or isinstance(x.type, (k.Attributes, k.ObjectOf)) or (
                target is hash and type(x.type) is k.Singleton):
            try:
                rule = protocol_of(x.type).functions.get(target)
            except TypeError:  # a function of ctypes has no hash
                return None
            if rule is not None:
                return rule
    return None


def declare(kind, protocol: Protocol | Callable[[], Protocol]) -> None:
    """Say what the values of a kind mean. kind: the class of its types, one of those types, or the name of a Struct;
    protocol: the record, or what gives it when it is asked for first."""
    _kinds[type(kind) if isinstance(kind, Type) else kind] = protocol
    if isinstance(protocol, Protocol):
        _functions.update({id(function): function for function in protocol.functions})


def declare_object(cls: type, protocol: Protocol | Callable[[], Protocol]) -> None:
    """Say what objects of this class mean where they are known when a function is compiled."""
    _of_objects[cls] = protocol
