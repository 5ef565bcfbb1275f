"""What values have from classes of the program: named tuples, enum members, and objects of classes that have a kind of
their own. Methods, properties and operators are compiled where they are used.
"""
from __future__ import annotations

import enum
import inspect
from types import FunctionType

from ...base.errors import did_you_mean
from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, ClassAttribute, Const, Expr, Mismatch, Throw
from ...ops import structure
from ...runtime.dispatcher import Callable_
from ...types.classes import UNWRITTEN, OPERATORS, fields, is_built_in_record, own, refused_method
from ...types.kinds import Attributes, Bool, Int, Singleton, Str, Tuple
from ..build import MIRRORED, mismatch
from ..intrinsics import iterate
from ..protocol import Protocol, protocol_of, text_by_python
from .objects import Known

tuples = lazy("pyjitc.lib.py.tuples")

__all__ = ["OfClass", "PROTOCOLS", "attribute", "binary", "enum_item", "enum_member", "enum_members", "method",
           "named_tuple", "unary"]

_REFLECTED = {f"__{name}__": f"__r{name}__" for name in OPERATORS.values()}
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def _class_of(x: Expr) -> type | None:
    """The class that says what `x` can do: of a named tuple, of an enum member, or one that has a kind of its own."""
    t = x.type
    return (t.cls if isinstance(t, Tuple) else t.python_class if isinstance(t, Attributes) else type(t.value)
            if isinstance(t, Singleton) and hasattr(type(t.value), "_member_map_") else None)


def named_tuple(cls: type, args, kwargs) -> Expr:
    name = refused_method(cls)
    if name:
        raise Mismatch(f"'{cls.__qualname__}' has its own {name}, which compiled code does not ask",
                       "use a tuple, or a function for it")
    slots = dict(zip(cls._fields, args))
    for field, value in kwargs.items():
        if field in slots or field not in cls._fields:
            wrong = "multiple values for" if field in slots else "an unexpected keyword"
            raise Mismatch(f"{cls.__name__}.__new__() got {wrong} argument '{field}'",
                           "" if field in slots else did_you_mean(field, cls._fields))
        slots[field] = value
    for field, value in cls._field_defaults.items():
        slots.setdefault(field, constant(value))
    if len(args) > len(cls._fields) or len(slots) < len(cls._fields):
        given = len(args) + len(kwargs)
        raise Mismatch(f"{cls.__name__}() takes the fields {', '.join(cls._fields)}; {given} were given")
    return Apply(structure.TUPLE_MAKE, *(slots[n] for n in cls._fields), cls=cls)


class _EnumClass(Known):
    """The class itself."""

    def contains(self, x, item):
        if isinstance(item.type, Singleton) and isinstance(item.type.value, enum.Enum):
            return Const(Bool, item.type.value in enum_members(x.type.value))
        raise Mismatch("`in` of an enum class is compiled for members of a plain enum",
                       "compare with the members, or with their values")

    def length(self, x):
        return Const(Int, len(enum_members(x.type.value)))

    def getitem(self, x, i):
        return enum_item(x.type.value, i)

    def is_iterable(self, x):
        return True

    def iterate(self, x):
        members = constant(enum_members(x.type.value))
        return protocol_of(members.type).iterate(members)

    def call(self, x, args, kwargs):
        return enum_member(x.type.value, args, kwargs)


class _EnumMember(Known):
    def known_attribute(self, x, name):
        if name in ("value", "name", "_value_", "_name_"):
            value = getattr(x.type.value, name)
            return constant(value) if type(value) in (bool, int, float, str) else Const(Singleton(value), value)
        return super().known_attribute(x, name)


PROTOCOLS = {enum.EnumMeta: _EnumClass(), enum.Enum: _EnumMember()}


def enum_members(cls: enum.EnumMeta) -> tuple:
    """In the order of their definition."""
    if type(cls) is not enum.EnumMeta or issubclass(cls, enum.Flag):
        raise Mismatch(f"the members of '{cls.__qualname__}' are not compiled",
                       "only those of a plain enum are: make a tuple of them outside")
    return tuple(cls)


def enum_member(cls: enum.EnumMeta, args, kwargs) -> Expr:
    """cls(value)"""
    members = enum_members(cls)
    if kwargs or len(args) != 1:
        raise Mismatch(f"{cls.__qualname__}(value) is compiled with one value")
    if own(cls, "_missing_") is not UNWRITTEN or own(cls, "__eq__") is not UNWRITTEN:
        raise Mismatch(f"'{cls.__qualname__}' says itself which member belongs to a value, which compiled code does "
                       f"not ask", "pass the member")
    (x,) = args
    if not x.known:
        return Call(tuples.enum_member, constant(members), x, constant(cls.__qualname__))
    try:
        return constant(cls(x.value))
    except ValueError as error:
        return Throw(ValueError, str(error))


def enum_item(cls: enum.EnumMeta, name: Expr) -> Expr:
    """cls["name"]"""
    enum_members(cls)
    if name.type is not Str or not name.known:
        raise Mismatch(f"the name of a member of '{cls.__qualname__}' must be a constant", "pass the member")
    found = cls.__members__.get(name.value)
    if found is None:
        raise Mismatch(repr(name.value), "", KeyError)
    return constant(found)


def _replace(x: Expr, args, kwargs) -> Expr:
    names = x.type.cls._fields
    if args:
        raise Mismatch(f"{x.type.cls.__name__}._replace() takes the fields by name")
    unknown = [name for name in kwargs if name not in names]
    if unknown:
        raise Mismatch(f"Got unexpected field names: {unknown!r}", "", ValueError)
    return Apply(structure.TUPLE_MAKE, *(kwargs.get(n) or Apply(structure.TUPLE_GET, x, index=i)
                                         for i, n in enumerate(names)), cls=x.type.cls)


def attribute(x: Expr, name: str) -> Expr | None:
    """What the class of `x` says under `name`; None where it says nothing."""
    cls = _class_of(x)
    if cls is None:
        return None
    value = own(cls, name)
    if isinstance(x.type, Tuple):
        if value is UNWRITTEN and name in fields(cls):
            return Apply(structure.TUPLE_GET, x, index=fields(cls).index(name))
        # an item beside those of the tuple
        if is_built_in_record(cls) and x.known and name in vars(cls) and not callable(vars(cls)[name]):
            return constant(getattr(x.value, name))
        if value is UNWRITTEN and name == "_replace" and hasattr(cls, name):
            return Apply(structure.METHOD_MAKE, x, name=name)
        if name == "_fields" and hasattr(cls, name):
            return constant(cls._fields)
    if value is UNWRITTEN:
        return None
    if type(value) is property and value.fget is not None:
        return CallValue(constant(value.fget), x)
    if type(value) is FunctionType or isinstance(value, Callable_) or type(value) is classmethod:
        return Apply(structure.METHOD_MAKE, x, name=name)
    if type(value) is staticmethod:
        return constant(value.__func__)
    return None if hasattr(type(value), "__get__") else constant(value)


def method(x: Expr, name: str, args, kwargs) -> Expr | None:
    """A call of a method that the class of `x` has itself."""
    cls = x.type.value if isinstance(x.type, Singleton) and isinstance(x.type.value, type) else _class_of(x)
    value = UNWRITTEN if cls is None else own(cls, name)
    if value is UNWRITTEN:
        return _replace(x, args, kwargs) if isinstance(x.type, Tuple) and name == "_replace" else None
    if type(value) is classmethod:
        return CallValue(constant(value.__func__), Const(Singleton(cls), cls), *args, keywords=kwargs)
    return CallValue(constant(value), x, *args, keywords=kwargs)


def binary(op: str, x: Expr, y: Expr, inplace: bool) -> Expr | None:
    """The operator as a class of named tuples says it; None where none does."""
    name = f"__{OPERATORS[op]}__"
    first, second = _own(x, name), _own(y, _REFLECTED[name])
    if inplace:
        first = _own(x, f"__i{OPERATORS[op]}__") or first
    if first is None and second is None:
        return None
    return _answer(first, second, x, y, constant(mismatch(op, x, y, inplace=inplace).message))


def _answer(first, second, x: Expr, y: Expr, otherwise: Expr) -> Expr:
    """What first(x, y), or else second(y, x), gives; one of them may be None, or give NotImplemented. otherwise: what
    it is then, or the message of the TypeError that is raised."""
    a, b = _class_of(x), _class_of(y)
    swap = second is not None and (first is None or a is not b and issubclass(b, a))
    one, other = ((second, y, x), (first, x, y)) if swap else ((first, x, y), (second, y, x))
    if other[0] is None or first is not None and a is b:  # Python asks a class once
        return Call(asked, *one, otherwise)
    return Call(asked_twice, one[0], other[0], *one[1:], otherwise)


def unary(op: str, x: Expr) -> Expr | None:
    function = _own(x, _UNARY.get(op, ""))
    return None if function is None else CallValue(function, x)


def _own(x: Expr, name: str) -> ClassAttribute | None:
    """The function that the class of `x` has for an operation; None where the program has not written one."""
    cls = None if isinstance(x.type, Singleton) else _class_of(x)
    value = UNWRITTEN if cls is None else own(cls, name)
    return None if value is UNWRITTEN or value is None else ClassAttribute(cls, name)


def asked(function, x, y, otherwise):
    result = function(x, y)
    if result is NotImplemented:
        if otherwise is False:
            return False
        raise TypeError(otherwise)
    return result


def asked_twice(function, other, x, y, otherwise):
    result = function(x, y)
    if result is NotImplemented:
        return asked(other, y, x, otherwise)
    return result


def iterated(function, x):
    return iterate(function(x))


# ---------------------------------------------------------------- objects of a class that has a kind of its own

_COMPARED = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
# What Python asks the class of the first argument of a function for.
_ASKED_BY = {abs: "__abs__", int: "__int__", float: "__float__", complex: "__complex__", round: "__round__",
             hash: "__hash__"}


def _asks(function, name):
    def rule(args, kwargs):
        found = _own(args[0], name)
        if found is None:
            raise Mismatch(f"{function.__name__}() of a '{_class_of(args[0]).__name__}' object is not compiled",
                           f"define {name} in its class")
        return CallValue(found, *args, keywords=kwargs)

    return rule


class OfClass(Protocol):
    """Objects that are nothing but their attributes: the class says by its methods what they do, which is compiled.

    A kind of such objects needs no other protocol. One with a meaning of its own for some operations, or for functions
    that do not ask classes, is declared as a subclass of this one."""

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
        return binary(op, x, y, inplace)

    reflected = binary

    def unary(self, op, x):
        found = unary(op, x)
        return super().unary(op, x) if found is None else found

    def compare(self, op, x, y):
        first, second = _own(x, _COMPARED[op]), _own(y, _COMPARED[MIRRORED[op]])
        if first is not None or second is not None:
            otherwise = constant(False if op == "==" else mismatch(op, x, y).message)
            return _answer(first, second, x, y, otherwise)
        if op == "!=":
            return Call(differ, x, y)
        if op == "==":
            raise Mismatch(f"'{_class_of(x).__name__}' has no __eq__, and its objects no identity in compiled code",
                           "define __eq__ in the class")
        return None

    def compared(self, op, x, y):
        return self.compare(op, x, y)

    def truth(self, x):
        function, length = _own(x, "__bool__"), _own(x, "__len__")
        return (CallValue(function, x) if function is not None else super().truth(x) if length is None
                else Call(is_not_empty, x))

    def contains(self, x, item):
        function = _own(x, "__contains__")
        return super().contains(x, item) if function is None else Call(bool, CallValue(function, x, item))

    def length(self, x):
        function = _own(x, "__len__")
        return super().length(x) if function is None else CallValue(function, x)

    def getitem(self, x, i):
        function = _own(x, "__getitem__")
        return super().getitem(x, i) if function is None else CallValue(function, x, i)

    def is_iterable(self, x):
        return _own(x, "__iter__") is not None

    def iterate(self, x):
        function = _own(x, "__iter__")
        return super().iterate(x) if function is None else Call(iterated, function, x)

    def reversed(self, x):
        function = _own(x, "__reversed__")
        return super().reversed(x) if function is None else Call(iterated, function, x)

    def attribute(self, x, name):
        return Apply(structure.STRUCT_GET, x, field=name) if name in x.type.names else attribute(x, name)

    def method(self, x, name, args, kwargs):
        return method(x, name, args, kwargs)

    def call(self, x, args, kwargs):
        function = _own(x, "__call__")
        return super().call(x, args, kwargs) if function is None else CallValue(function, x, *args, keywords=kwargs)


def is_not_empty(x):
    return len(x) != 0


def differ(x, y):
    return not x == y


PROTOCOLS[Attributes] = OfClass()
