"""What a kind of values means: one `Protocol` for each kind, which says what operators, items, iteration, length,
truth, comparison, attributes, methods and functions do with a value of that kind.

lib/table.py finds the protocols of the operands by their types and asks them. A module that has protocols lists them in
`PROTOCOLS`, and `_HOMES` says which module that is, so that a compile loads those of the kinds that it meets. A kind
that is declared elsewhere is added by `declare`, or `declare_object` for objects that are known when a function is
compiled.
"""
from __future__ import annotations

import enum

import numpy as np

from ..base.lazy import lazy
from ..infer.meaning import Apply, Call, Const, Expr, Mismatch
from ..infer.names import describe, with_object
from ..ops import pyobject
from ..types import kinds as k
from ..types.kinds import Bool, Object, Str, Struct, Type
from .build import MIRRORED, mismatch

refusals = lazy("pyjitc.lib.refusals")
iteration = lazy("pyjitc.lib.py.iteration")

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
        return Call(iteration.among, x, item)

    def length(self, x: Expr) -> Expr:
        raise Mismatch(f"object of type {describe(x.type)} has no len()")

    def getitem(self, x: Expr, i: Expr) -> Expr:
        raise Mismatch(f"{describe(x.type)} object is not subscriptable")

    def setitem(self, x: Expr, i: Expr, value: Expr, asks: bool) -> Expr:
        """`x[i] = value`. asks: whether a number of NumPy's must fit in an element, as in the program; functions of the
        library, which store the elements of arrays one by one, cast them."""
        raise Mismatch(f"{describe(x.type)} object does not support item assignment")

    def delitem(self, x: Expr) -> Expr:
        """`del x[i]` or `del x.name`"""
        raise Mismatch(f"{describe(x.type)} object doesn't support item deletion")

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
        raise Mismatch(f"attributes of {describe(x.type)} objects cannot be assigned in compiled code",
                       "return the value and assign it outside, or write it into an array")

    def method(self, x: Expr, name: str, args: list[Expr], kwargs: dict[str, Expr]) -> Expr:
        """A call of what `attribute` gave as METHOD_MAKE."""
        raise refusals.attribute(x, name)

    def call(self, x: Expr, args: list[Expr], kwargs: dict[str, Expr]) -> Expr:
        raise Mismatch(f"{describe(x.type)} object is not callable")

    def text(self, function, x: Expr) -> Expr:
        """`str(x)` or `repr(x)`."""
        raise Mismatch(f"{function.__name__}() of this value is not compiled yet",
                       "use an f-string in print or in an exception")


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


def boxed(x: Expr) -> Expr:
    return x if x.type is Object else Apply(pyobject.PY_BOX, with_object(x))


def by_python(function, *operands: Expr, type: Type = Object) -> Expr:
    """The operation as the interpreter does it, on Python objects; the result as a value of `type`."""
    found = Apply(pyobject.PY_CALL, Const(Object, function), *map(boxed, operands))
    return found if type is Object else Apply(pyobject.PY_UNBOX, found, type=type)


def text_by_python(self, function, x: Expr) -> Expr:
    """`Protocol.text` of a kind whose values the interpreter can be given."""
    return by_python(function, x, type=Str)


# ---------------------------------------------------------------- which kind has which protocol

_numbers, _objects, _texts = (lazy("pyjitc.lib.py.operators"), lazy("pyjitc.lib.py.objects"),
                              lazy("pyjitc.lib.py.texts"))
_ranges, _tuples = lazy("pyjitc.lib.py.ranges"), lazy("pyjitc.lib.py.tuples")
_arrays, _parts, _records = (lazy("pyjitc.lib.np.arrays.operations"), lazy("pyjitc.lib.np.arrays.attributes"),
                             lazy("pyjitc.lib.np.arrays.records"))
_iterators, _generators, _grids = (lazy("pyjitc.lib.np.iteration.iterators"), lazy("pyjitc.lib.np.random.random"),
                                   lazy("pyjitc.lib.np.arrays.grids"))
_scalars, _classes = lazy("pyjitc.lib.np.elementwise.operators"), lazy("pyjitc.lib.py.classes")

# What tells kinds apart is the class of the type, or the name of a Struct. Module -> the kinds whose protocols it has.
_HOMES: dict = {
    _numbers: (k.Int, k.Float, k.Bool, k.Complex),
    _scalars: (k.NpBool, k.NpInt, k.NpFloat, k.NpComplex, k.NpTime),
    _objects: (k.Object, k.NoneType, k.Ellipsis_, k.Slice, k.DType, k.Function, k.Method, k.Exception_, k.Iterator,
               k.Generator, "empty_iterator"),
    _texts: (k.Str, k.Bytes),
    _ranges: (k.Range, "range_iterator"),
    _tuples: (k.Tuple, "list", "dict"),
    iteration: ("tuple_iterator", "array_iterator", "enumerate", "zip", "zip_strict", "map", "filter"),
    _arrays: (k.Array,),
    _parts: ("flags", "flat"),
    _records: ("record",),
    _iterators: ("broadcast", "ndindex", "ndenumerate", "flatiter"),
    _generators: (k.Instance,),
    _classes: (k.Attributes,),
}
# Objects that are known when a function is compiled, by their class or one that it is made from.
_OBJECT_HOMES: dict = {
    _objects: (object, np.ufunc, np.finfo, np.iinfo, np.vectorize, dict, list, set, frozenset, bytearray),
    _classes: (enum.EnumMeta, enum.Enum),
    _grids: (type(np.mgrid), type(np.ogrid), type(np.r_), type(np.c_)),
}


def _key(kind):
    return type(kind) if isinstance(kind, Type) else kind


_kinds: dict = {_key(kind): home for home, listed in _HOMES.items() for kind in listed}
_of_objects: dict = {cls: home for home, listed in _OBJECT_HOMES.items() for cls in listed}
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
        found = table[key] = found.PROTOCOLS[key]
    return found


def rule_of_kinds(target, args: list[Expr]):
    """The rule of a function that the kind of an argument has a meaning of its own for, or None."""
    for x in args:
        if id(target) in _functions or isinstance(x.type, k.Attributes):
            rule = protocol_of(x.type).functions.get(target)
            if rule is not None:
                return rule
    return None


_functions: dict = {}  # by identity, of the functions that some kind has a meaning of its own for


def declare(kind, protocol: Protocol) -> None:
    """Say what the values of a kind mean. kind: the class of its types, one of those types, or the name of a Struct."""
    _kinds[_key(kind)] = protocol
    _functions.update({id(function): function for function in protocol.functions})


def declare_object(cls: type, protocol: Protocol) -> None:
    """Say what objects of this class mean where they are known when a function is compiled."""
    _of_objects[cls] = protocol
