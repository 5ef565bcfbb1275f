"""The protocols of tuples, and of list and dict displays, whose number of items is part of their type."""
from __future__ import annotations

from ...base.lazy import lazy
from ...infer.constants import constant
from ...infer.expressions import dict_of, key_error, list_of, members_of
from ...infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NeedsDisplays, NeedsList, NotNative, Throw
from ...infer.names import describe
from ...ops.arith import BNOT
from ...ops.structure import METHOD_MAKE, PACK, STRUCT_GET, TUPLE_GET, TUPLE_MAKE
from ...types.classes import COMPARISONS, MIRRORED, is_written, stands_for
from ...types.kinds import (
    Bool, Dict, DictDisplay, DictItems, DictKeys, DictValues, Ended, Int, Iterator, List, ListDisplay, NoneType,
    ObjectOf, Slice, Str, Tuple, any_part, is_integer,
)
from ..build import number, whole_number
from ..protocol import Protocol, text_by_python, uncallable
from ..rule import Rule, expression
from . import ranges

__all__ = ["PROTOCOLS"]

classes, iteration, membership = (lazy("pyjitc.lib.py.classes"), lazy("pyjitc.lib.py.iteration"),
                                  lazy("pyjitc.lib.py.membership"))
dataclasses = lazy("dataclasses")  # only for arguments of derivatives
any_length, conversions = lazy("pyjitc.lib.py.any_length"), lazy("pyjitc.lib.py.conversions")
builtins = lazy("pyjitc.lib.py.builtins")
refusals, tuples = lazy("pyjitc.lib.refusals"), lazy("pyjitc.lib.py.tuples")


def _item_of(x: Expr, i: Expr, name: str) -> Expr:
    """x[i] of a tuple that represents a sequence; `name`: its class in error messages."""
    length = len(x.type.elements)
    if isinstance(i.type, Slice):
        if not i.known:
            if not all([is_integer(t) or t is Bool or t is NoneType for t in i.type.parts or ()]):
                raise Mismatch("slice indices must be integers or None or have an __index__ method")
            return any_length.part(x, i)
        return Apply(TUPLE_MAKE, *(Apply(TUPLE_GET, x, index=k) for k in range(length)[i.value]), cls=None)
    if not is_integer(i.type) and i.type is not Bool:
        raise Mismatch(f"{name} indices must be integers or slices, not {describe(i.type)[1:-1]}",
                       whole_number(i.type))
    i, message = ranges.index(i), f"{name} index out of range"
    if i.known:
        k = i.value + length if i.value < 0 else i.value
        return Apply(TUPLE_GET, x, index=k) if 0 <= k < length else Throw(IndexError, message)
    if not length:
        return Throw(IndexError, message)
    return Call(tuples.item, x, i, constant(message))


def _is_count(t) -> bool:
    return is_integer(t) or t is Bool


class _Tuple(Protocol):
    """The protocol of tuples, and of named tuples, whose class may define operations."""

    text = text_by_python

    def binary(self, op, x, y, inplace):
        if x.type.cls is not None or isinstance(y.type, Tuple) and y.type.cls is not None:
            found = classes.binary(op, x, y, inplace)
            if found is not None or _is_object(x) or _is_object(y):
                return found
        if op == "+" and isinstance(y.type, Tuple):
            return Apply(TUPLE_MAKE, *self.elements(x), *self.elements(y), cls=None)
        return self._repeated(x, y) if op == "*" and _is_count(y.type) else None

    def reflected(self, op, x, y, inplace):
        found = None if y.type.cls is None else classes.binary(op, x, y, inplace)
        return self._repeated(y, x) if found is None and op == "*" and _is_count(x.type) and not _is_object(y) else (
            found)

    def _repeated(self, x, n):
        if not n.known:
            return any_length.repeated(x, n)
        return Apply(TUPLE_MAKE, *self.elements(x) * int(n.value), cls=None)

    def unsupported(self, op, x, y, inplace):
        if _is_object(x):
            return super().unsupported(op, x, y, inplace)
        if op == "+":
            return Mismatch(f'can only concatenate tuple (not "{describe(y.type).strip(chr(39))}") to tuple')
        return super().unsupported(op, x, y, inplace)

    def unary(self, op, x):
        found = None if x.type.cls is None else classes.unary(op, x)
        return super().unary(op, x) if found is None else found

    def compare(self, op, x, y):
        if not isinstance(y.type, Tuple):
            if isinstance(y.type, ObjectOf) and stands_for(x.type.cls) is y.type.cls:
                raise NotNative(f"an argument of a derivative or batch is compared with {describe(y.type)} here, which "
                                "is not compiled yet", "compare their attributes")
            return None
        if _is_object(x, COMPARISONS[op]) or _is_object(y, COMPARISONS[MIRRORED[op]]):
            return _compared_as_objects(op, x, y)
        if op == "==":
            return Call(tuples.equal, x, y)
        if op == "!=":
            return Apply(BNOT, Call(tuples.equal, x, y))
        return Call(tuples.ordered, x, y, Const(Bool, op in ("<", "<=")), Const(Bool, op in ("<", ">")))

    def truth(self, x):
        if _is_object(x, "__bool__", "__len__"):
            return super().truth(x)
        return number(bool(x.type.elements))

    def contains(self, x, item):
        if _is_object(x, "__contains__", "__iter__"):
            return super().contains(x, item)
        return membership.contains(x, item)

    def length(self, x):
        if _is_object(x, "__len__"):
            return super().length(x)
        return number(len(x.type.elements))

    def getitem(self, x, i):
        if _is_object(x, "__getitem__"):
            return super().getitem(x, i)
        return _item_of(x, i, "tuple")

    def elements(self, x):
        if _is_object(x):
            return None
        return [Const(t, x.value[i]) if x.known else Apply(TUPLE_GET, x, index=i)
                for i, t in enumerate(x.type.elements)]

    def is_iterable(self, x):
        return not _is_object(x, "__iter__")

    def iterate(self, x):
        if _is_object(x, "__iter__"):
            return super().iterate(x)
        return Call(iteration.tuple_iterate, x) if x.type.elements else Apply(PACK, x, name=Ended.role)

    def reversed(self, x):
        if _is_object(x, "__reversed__"):
            return super().reversed(x)
        return Call(iteration.tuple_reversed, x) if x.type.elements else self.iterate(x)

    def attribute(self, x, name):
        found = None if x.type.cls is None else classes.attribute(x, name)
        return Apply(METHOD_MAKE, x, name=name) if found is None and name in ("index", "count", "__hash__") else found

    def set_attribute(self, x, name, value):
        if _is_object(x):
            raise NotNative(f"an attribute of {describe(x.type)} is assigned, which is an argument of a derivative or "
                            "batch: these have no attributes that change", "make a new object, as in p = "
                            f"dataclasses.replace(p, {name}=value)")
        return super().set_attribute(x, name, value)

    def method(self, x, name, args, kwargs):
        found = None if x.type.cls is None else classes.method(x, name, args, kwargs)
        return found or _searched(x, name, args, kwargs)

    def call(self, x, args, kwargs):
        function = None if x.type.cls is None else classes.own_method(x, "__call__")
        if function is None:
            raise uncallable(x, args)
        return CallValue(function, x, *args, keywords=kwargs)


def _is_object(x: Expr, *names: str) -> bool:
    """Whether x is a named tuple that stands for an object of a dataclass, for which operations mean what they mean for
    objects. Raises NotNative where the dataclass has one of these special methods, which says what the operation
    means."""
    cls = x.type.cls if isinstance(x.type, Tuple) else None
    dataclass = stands_for(cls)
    if dataclass is None or dataclass is cls:
        return False
    for name in names:
        if is_written(dataclass, name):
            raise NotNative(f"'{dataclass.__qualname__}' has its own {name}, which compiled code does not call for an "
                            "argument of a derivative or batch", "write a method of another name")
    return True


def _compared_as_objects(op: str, x: Expr, y: Expr) -> Expr | None:
    """`x op y`, where one of the two stands for an object of a dataclass, as dataclass() defines it."""
    cls = stands_for(x.type.cls)
    if x.type.cls is not y.type.cls:
        return number(op == "!=") if op in ("==", "!=") else None
    params = getattr(cls, "__dataclass_params__")
    if not (params.eq if op in ("==", "!=") else params.order):
        if op not in ("==", "!="):
            return None
        raise NotNative(f"'{cls.__qualname__}' objects are compared by their identity, which an argument of a "
                        "derivative or batch does not have", "compare their attributes")
    fields = [field for field in dataclasses.fields(cls)]
    x, y = (Apply(TUPLE_MAKE, *[Apply(TUPLE_GET, one, index=n) for n, field in enumerate(fields) if field.compare],
                  cls=None) for one in (x, y))
    if op in ("==", "!="):
        found = Call(tuples.equal, x, y)
        return found if op == "==" else Apply(BNOT, found)
    return Call(tuples.ordered, x, y, Const(Bool, op in ("<", "<=")), Const(Bool, op in ("<", ">")))


def _searched(x, name, args, kwargs):
    """x.count(value), x.index(value, start, stop), x.__hash__()"""
    if kwargs:
        raise Mismatch(f"{'wrapper ' if name == '__hash__' else 'tuple.'}{name}() takes no keyword arguments")
    if name == "__hash__":
        if args:
            raise Mismatch(f"expected 0 arguments, got {len(args)}")
        return builtins.hash_of(x)
    if name == "count":
        if len(args) != 1:
            raise Mismatch(f"tuple.count() takes exactly one argument ({len(args)} given)")
        return Call(tuples.count, x, *args)
    if not 1 <= len(args) <= 3:
        raise Mismatch(f"index expected at {'least 1 argument' if not args else 'most 3 arguments'}, got {len(args)}")
    if len(args) == 1:
        return Call(tuples.index, x, args[0])
    return Call(tuples.index_between, x, args[0], *map(conversions.to_bound, args[1:]))


class _Display(Protocol):
    """The protocol of list and dict displays: their number of items is part of their type."""

    def truth(self, x):
        return Const(Bool, bool(x.type.members))

    def length(self, x):
        return Const(Int, len(x.type.members))


class _List(_Display):
    """Operations on a list display for which its type is enough. For all others it must become a list, whose protocol
    is in lists.py: see infer/displays.py."""

    def binary(self, op, x, y, inplace):
        if op == "*" and y.known and any_part(x.type, lambda part: isinstance(part, Iterator)):
            # for zip(*[iter(x)] * n): a Python list cannot hold such iterators
            return list_of(self.elements(x) * y.value)
        if op in "+*":
            raise NeedsList
        return None

    reflected = binary

    def compare(self, op, x, y):
        if isinstance(y.type, (ListDisplay, List)):
            raise NeedsList
        return None

    def identical(self, x, y):
        if isinstance(y.type, (ListDisplay, List)) and isinstance(x.type, (ListDisplay, List)):
            raise NeedsList
        return None

    def elements(self, x):
        return [Apply(STRUCT_GET, x, field=name) for name, _ in x.type.members]

    def as_tuple(self, x):
        return Apply(TUPLE_MAKE, *self.elements(x), cls=None)

    def contains(self, x, item):
        return membership.contains(self.as_tuple(x), item)

    def getitem(self, x, i):
        if isinstance(i.type, Slice) and not i.known:
            raise NeedsList
        found = _item_of(self.as_tuple(x), i, "list")
        return list_of(found.operands) if isinstance(i.type, Slice) else found

    def setitem(self, x, i, value, asks):
        raise NeedsList

    def delitem(self, x, i):
        raise NeedsList

    def iterate(self, x):
        items = self.as_tuple(x)
        return PROTOCOLS[Tuple].iterate(items)

    def reversed(self, x):
        return self.iterate(list_of(self.elements(x)[::-1]))

    def attribute(self, x, name):
        if hasattr(list, name):
            raise NeedsList
        return None


class _Dict(_Display):
    def binary(self, op, x, y, inplace):
        if op == "|" and isinstance(y.type, DictDisplay) and not inplace:
            return dict_of({**members_of(x), **members_of(y)}.items())
        if op == "|" and isinstance(y.type, Dict):
            raise NeedsDisplays("`|` of a dict whose keys are part of its type and one that is an object of Python is "
                                "not compiled", "write {**p, **q}, or make both by dict(...)")
        if op == "*" and is_integer(y.type) or isinstance(y.type, (ListDisplay, DictDisplay)):
            raise refusals.not_yet(x.type, f"`{op}` of")
        return None

    def reflected(self, op, x, y, inplace):
        if op == "*" and is_integer(x.type):
            raise refusals.not_yet(y.type, "`*` of")
        return None

    def setitem(self, x, i, value, asks):
        key = repr(i.value) if i.known else "key"
        raise NotNative("assigning to an item of a dict is not compiled yet where its keys are part of its type, as in "
                        "a derivative or batch, and another function has made it",
                        f"return a new dict, and assign that: return {{**p, {key}: x}} in the function, p = change(p) "
                        "where it is called")

    def delitem(self, x, i):
        raise refusals.not_yet(x.type, "deletion of an item of")

    def attribute(self, x, name):
        return Apply(METHOD_MAKE, x, name=name) if name in _READS else None

    def method(self, x, name, args, kwargs):
        return Rule(_READS[name][1], f"dict.{name}", _READS[name][0])([x, *args], kwargs)

    def contains(self, x, item):
        if not item.known:
            return membership.contains(_keys(x), item)
        return Const(Bool, item.value in dict(x.type.members))

    def getitem(self, x, i):
        if not i.known:
            if i.type is not Str or not x.type.names:
                raise refusals.not_yet(x.type, "indexing of")
            values = [Apply(STRUCT_GET, x, field=name) for name in x.type.names]
            return Call(tuples.of_key, _keys(x), Apply(TUPLE_MAKE, *values, cls=None), i)
        return Apply(STRUCT_GET, x, field=i.value) if i.value in dict(x.type.members) else key_error(i)

    def iterate(self, x):
        return PROTOCOLS[Tuple].iterate(_keys(x))

    def reversed(self, x):
        return PROTOCOLS[Tuple].reversed(_keys(x))


def _keys(x):
    return Apply(TUPLE_MAKE, *map(constant, x.type.names), cls=None)


def _view(kind):
    return "self, /", lambda x: Apply(PACK, x, name=kind.role)


def _get(x, key, default=None):
    if not key.known:
        raise refusals.not_yet(x.type, "get() with a key that is not known of")
    return Apply(STRUCT_GET, x, field=key.value) if key.value in x.type.names else expression(default)


# method of dict displays -> (its parameters, its meaning)
_READS = {"keys": _view(DictKeys), "values": _view(DictValues), "items": _view(DictItems),
          "get": ("self, key, default=None, /", _get), "copy": ("self, /", lambda x: dict_of(members_of(x).items()))}

PROTOCOLS = {Tuple: _Tuple(), ListDisplay: _List(), DictDisplay: _Dict()}
