"""Attributes, methods and operators from classes of the program: those of named tuples, enum members, and objects of
classes that have a kind of their own. Methods, properties and operators are compiled where they are used.
"""
from __future__ import annotations

from types import FunctionType

from ...base.lazy import lazy
from ...infer.bind import slots_of
from ...infer.constants import constant
from ...infer.meaning import Apply, Call, CallValue, ClassAttribute, Const, Expr, Fresh, Mismatch, NotNative
from ...ops import structure
from ...runtime.dispatcher import Callable_
from ...types.classes import (
    COMPARISONS, MIRRORED, OPERATORS, UNARY, UNWRITTEN, fields, is_built_in_record, is_property, own,
    refused_method,
)
from ...types.kinds import Attributes, Dict, ObjectOf, Singleton, Str, Tuple
from ..build import mismatch
from ..protocol import by_python, unsupported

lists = lazy("pyjitc.lib.py.lists")

__all__ = ["answer", "attribute", "binary", "class_of", "compared", "method", "named_tuple", "own_method", "unary"]

_REFLECTED = {f"__{name}__": f"__r{name}__" for name in OPERATORS.values()}


def class_of(x: Expr) -> type | None:
    """The class that defines the operations on `x`: that of a named tuple or enum member, or one that has a kind of its
    own."""
    t = x.type
    if isinstance(t, (Tuple, ObjectOf)):
        return t.cls
    return (t.python_class if isinstance(t, Attributes) else type(t.value)
            if isinstance(t, Singleton) and hasattr(type(t.value), "_member_map_") else None)


def named_tuple(cls: type, args, kwargs) -> Expr:
    name = refused_method(cls)
    if name:
        raise NotNative(f"'{cls.__qualname__}' has its own {name}, which compiled code does not call",
                        "use a tuple, or a function for it")
    made = cls.__new__
    defaults = {name: constant(value) for name, value in cls._field_defaults.items()}
    slots, _, _ = slots_of(made.__code__, made.__qualname__, (constant(cls), *args), kwargs, defaults)
    fields = {**defaults, **slots}
    return Apply(structure.TUPLE_MAKE, *(fields[n] for n in cls._fields), cls=cls)


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
    """The expression of the attribute `name` where the class of `x` defines it; else None."""
    cls = class_of(x)
    if cls is None:
        return None
    value = own(cls, name)
    if isinstance(x.type, Tuple):
        if value is UNWRITTEN and name in fields(cls):
            return Apply(structure.TUPLE_GET, x, index=fields(cls).index(name))
        # an attribute besides the items of the tuple
        if is_built_in_record(cls) and x.known and name in vars(cls) and not callable(vars(cls)[name]):
            return constant(getattr(x.value, name))
        if value is UNWRITTEN and name in ("_replace", "_asdict") and hasattr(cls, name):
            return Apply(structure.METHOD_MAKE, x, name=name)
        if name == "_fields" and hasattr(cls, name):
            return constant(cls._fields)
    if value is UNWRITTEN:
        return None
    if is_property(value) and value.fget is not None:
        return CallValue(constant(value.fget), x)
    if type(value) is FunctionType or isinstance(value, Callable_) or type(value) is classmethod:
        return Apply(structure.METHOD_MAKE, x, name=name)
    if type(value) is staticmethod:
        return constant(value.__func__)
    return None if hasattr(type(value), "__get__") else constant(value)


def method(x: Expr, name: str, args, kwargs) -> Expr | None:
    """A call of a method where the class of `x` defines it; else None."""
    cls = x.type.value if isinstance(x.type, Singleton) and isinstance(x.type.value, type) else class_of(x)
    value = UNWRITTEN if cls is None else own(cls, name)
    if value is UNWRITTEN:
        if isinstance(x.type, Tuple) and name == "_asdict" and not args and not kwargs:
            held = (Str, lists.item_of(x.type))
            return None if held[1] is None else Fresh(
                Dict, held, lambda t: by_python(x.type.cls._asdict, x, type=t))
        return _replace(x, args, kwargs) if isinstance(x.type, Tuple) and name == "_replace" else None
    if type(value) is classmethod:
        return CallValue(constant(value.__func__), Const(Singleton(cls), cls), *args, keywords=kwargs)
    return CallValue(constant(value), x, *args, keywords=kwargs)


def binary(op: str, x: Expr, y: Expr, inplace: bool) -> Expr | None:
    """A binary operator where a class of named tuples defines it; else None."""
    name = f"__{OPERATORS[op]}__"
    first, second = own_method(x, name), own_method(y, _REFLECTED[name])
    if inplace:
        first = own_method(x, f"__i{OPERATORS[op]}__") or first
    if first is None and second is None:
        return None
    # a class with an __add__ of its own does not join sequences
    error = mismatch(op, x, y, inplace=inplace) if op == "+" and first is not None else unsupported(op, x, y, inplace)
    return answer(first, second, x, y, constant(error.message))


def answer(first, second, x: Expr, y: Expr, otherwise: Expr, always: bool = False) -> Expr:
    """The result of first(x, y), or of second(y, x) if the first call returns NotImplemented, in the order in which the
    interpreter calls the two methods; one of them may be None.

    otherwise: False or None (then the result is `x is y`) if neither method returns a result; or a text, the message of
    the TypeError that is raised then. always: whether the second object is asked even if both have one class, as in
    comparisons."""
    one, other = _in_order((first, x, y), (second, y, x))
    if other[0] is None or first is not None and not always and class_of(x) is class_of(y):
        return Call(asked, *one, otherwise)
    return Call(asked_twice, one[0], other[0], *one[1:], otherwise)


def compared(op: str, x: Expr, y: Expr, identity: bool = True) -> Expr | None:
    """A comparison where a class of the program defines it; else None.

    Both objects are asked, also where they have one class. An object whose class has no `__ne__` answers `!=` by its
    `__eq__`. identity: whether the objects have one, by which they are equal or not where neither method answers."""
    first, second = own_method(x, COMPARISONS[op]), own_method(y, COMPARISONS[MIRRORED[op]])
    if op == "!=":
        return _unequal(first, second, x, y, identity)
    if first is None and second is None:
        return None
    otherwise = constant(mismatch(op, x, y).message if op != "==" else None if identity else False)
    return answer(first, second, x, y, otherwise, always=True)


def _unequal(first, second, x: Expr, y: Expr, identity: bool) -> Expr | None:
    by_equal = first is None, second is None
    first, second = first or own_method(x, "__eq__"), second or own_method(y, "__eq__")
    if first is None and second is None:
        return None
    one, other = _in_order((first, constant(by_equal[0]), x, y), (second, constant(by_equal[1]), y, x))
    if other[0] is None:
        return Call(unequal, *one, constant(identity))
    return Call(unequal_to_either, *one, *other[:2], constant(identity))


def _in_order(one: tuple, other: tuple) -> tuple[tuple, tuple]:
    """Two ways to ask, (method or None, ..., self, operand), in the order of the interpreter: the object of a derived
    class is asked first."""
    a, b = class_of(one[-2]), class_of(one[-1])
    swap = other[0] is not None and (one[0] is None or a is not b and issubclass(b, a))
    return (other, one) if swap else (one, other)


def unary(op: str, x: Expr) -> Expr | None:
    function = own_method(x, UNARY.get(op, ""))
    return None if function is None else CallValue(function, x)


def own_method(x: Expr, name: str) -> ClassAttribute | None:
    """The function by which the class of `x` defines an operation; None where the program has written none."""
    cls = class_of(x)
    value = UNWRITTEN if cls is None else own(cls, name)
    return None if value is UNWRITTEN or value is None else ClassAttribute(cls, name)


def asked(function, x, y, otherwise):
    result = function(x, y)
    if result is NotImplemented:
        if otherwise is False:
            return False
        if otherwise is None:
            return x is y
        raise TypeError(otherwise)
    return result


def unequal(function, by_equal, x, y, identity):
    """x != y, where x is asked by `function`, its `__ne__`, or its `__eq__` if by_equal."""
    result = function(x, y)
    if result is NotImplemented:
        return x is not y if identity else True
    return not result if by_equal else result


def unequal_to_either(function, by_equal, x, y, other, other_by_equal, identity):
    """x != y, where x is asked first and then y."""
    result = function(x, y)
    if result is NotImplemented:
        return unequal(other, other_by_equal, y, x, identity)
    return not result if by_equal else result


def asked_twice(function, other, x, y, otherwise):
    result = function(x, y)
    if result is NotImplemented:
        return asked(other, y, x, otherwise)
    return result
