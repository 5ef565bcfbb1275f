"""Dataclasses among the arguments of derivatives and batches: named tuples stand for them, with the same fields and
methods.

A call from Python converts arguments and results itself (api/trees.py). In compiled code an object is an object: the
functions here read its fields before a derivative or batch, and make objects of its results.
"""
from __future__ import annotations

import dataclasses
from collections import namedtuple

from ..infer.constants import constant
from ..infer.expressions import list_of
from ..infer.meaning import Apply, CallValue, Expr, FieldGet
from ..ops import structure as s
from ..types import kinds as k
from ..types.classes import STANDS_FOR, is_asked, stands_for
from .rule import intrinsic

__all__ = ["as_objects", "as_tuples", "holds_dataclass", "holds_objects", "holds_stand_in", "stand_in"]

_stand_ins: dict[type, type] = {}  # dataclass -> the named tuple that represents it


def stand_in(cls: type) -> type:
    """The named tuple with the fields and methods of a dataclass."""
    found = _stand_ins.get(cls)
    if found is None:
        base = namedtuple(cls.__name__, [field.name for field in dataclasses.fields(cls)])
        own = {name: x for one in reversed(cls.__mro__[:-1]) for name, x in vars(one).items()
               if name not in base._fields and (not name.startswith("__") or is_asked(name))}
        found = _stand_ins[cls] = type(cls.__name__, (base,), {
            **own, "__slots__": (), "__module__": cls.__module__, STANDS_FOR: cls})
    return found


def _parts(t) -> tuple:
    """The types of the items of a tuple or a display; none for other values."""
    return t.elements if type(t) is k.Tuple else t.parts if type(t) in (k.ListDisplay, k.DictDisplay) else ()


def _is_dataclass(t) -> bool:
    return type(t) is k.ObjectOf and hasattr(t.cls, "__dataclass_fields__")


def holds_dataclass(t) -> bool:
    """Whether a value of type t is an object of a dataclass, or a tuple or display that holds one, on some paths at
    least."""
    return _is_dataclass(t) or any(map(holds_dataclass, t.members if type(t) is k.Union else _parts(t)))


def holds_stand_in(t) -> bool:
    """Whether a value of type t is a named tuple that stands for an object, or a tuple or display that holds one."""
    return type(t) is k.Tuple and stands_for(t.cls) is not t.cls or any(map(holds_stand_in, _parts(t)))


@intrinsic
def holds_objects(x):
    return constant(holds_dataclass(x.type))


@intrinsic
def as_tuples(x):
    """The tree x with named tuples in the place of objects of dataclasses."""
    if _is_dataclass(x.type):
        items = [CallValue(constant(as_tuples), FieldGet(x, field.name)) for field in dataclasses.fields(x.type.cls)]
        return CallValue(constant(stand_in(x.type.cls)), *items)
    if not holds_dataclass(x.type):
        return x
    return CallValue(constant(each_as_tuples), x) if type(x.type) is k.Union else _with_items(x, as_tuples)


def each_as_tuples(x):
    return as_tuples(x)  # where x is an object on some paths and stands for one on others, a call for each


@intrinsic
def as_objects(x, args):
    """The tree x with objects in the place of those named tuples that have the types which a named tuple in `args` has.
    All objects of a class have attributes of the same types, so others, such as the Jacobians by a dataclass, stay
    named tuples: the interpreter gets objects for them, too."""
    if not holds_stand_in(x.type):
        return x
    if not any([_is_like(x.type, part) for part in k.all_parts(args.type)]):
        return x if type(x.type) is k.Tuple and stands_for(x.type.cls) is not x.type.cls else _with_items(
            x, as_objects, args)
    items = [CallValue(constant(as_objects), Apply(s.TUPLE_GET, x, index=n), args)
             for n in range(len(x.type.elements))]
    return CallValue(constant(stands_for(x.type.cls)), *items)


def _is_like(t, other) -> bool:
    """Whether two types are those of named tuples for objects of the same class, with attributes of the same types."""
    if type(t) is not k.Tuple or type(other) is not k.Tuple or t.cls is not other.cls or stands_for(t.cls) is t.cls:
        return False
    return all([a is b or _is_like(a, b) or type(a) is k.Array and type(b) is k.Array and (a.dtype, a.ndim) == (
        b.dtype, b.ndim) for a, b in zip(t.elements, other.elements)])


def _with_items(x: Expr, change, *more: Expr) -> Expr:
    """A tuple or display with change(item, *more) for each of its items."""
    t = x.type
    if type(t) is k.Tuple:
        items = [Apply(s.TUPLE_GET, x, index=n) for n in range(len(t.elements))]
    else:
        items = [Apply(s.STRUCT_GET, x, field=name) for name in t.names]
    return CallValue(constant(like), x, *[CallValue(constant(change), item, *more) for item in items])


def like(x, *items):
    """A tuple or display like x with other items."""


def _like(given, keywords):
    x, *items = given
    t = x.type
    if type(t) is k.Tuple:
        return Apply(s.TUPLE_MAKE, *items, cls=t.cls)
    if type(t) is k.ListDisplay:
        return list_of(items)
    return Apply(s.STRUCT_MAKE, *items, type=k.DictDisplay.of(list(zip(t.names, [item.type for item in items]))))


like.rule = _like  # type: ignore[attr-defined]  # read by inference
