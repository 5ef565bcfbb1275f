"""The parts of the methods of containers of `pyjitc.typed`, besides the functions on native lists: the native list or
table that an object owns, positions in it, and the conversion of what is stored to the type of its items."""
from __future__ import annotations

import numpy as np

from ...infer.constants import plain_value
from ...infer.meaning import Apply, Call, Const, Expr, Mismatch
from ...ops.localtables import LOCAL_REMOVE, key_type
from ...ops.memory import CHECK_INDEX
from ...ops.natives import NATIVE_LEN
from ...ops.objects import OBJECT_NEW
from ...ops.owned import NATIVE, OWNED_BEGIN, OWNED_GET, OWNED_KEY, OWNED_LAST, OWNED_SLOT
from ...ops.structure import TUPLE_GET, TUPLE_MAKE
from ...types import kinds as k
from ...types.kinds import Bool, Int, NativeList, NoneType, Slice, Str, Tuple, Type
from ..build import convert
from ..rule import intrinsic
from . import lists, natives
from .conversions import holds_one, to_index
from .operators import as_int

__all__ = ["as_item", "as_value", "begin", "can_ask", "delete", "empty", "extend", "found", "has_references",
           "is_dict", "is_like", "is_list", "is_set", "item_at", "like", "native", "put_at", "slot_of", "sought",
           "whole"]


@intrinsic
def begin(x):
    """Give a new object its native list or table."""
    return Apply(OWNED_BEGIN, x)


@intrinsic
def native(x):
    """The native list or table of an object."""
    return Apply(OWNED_GET, x)


@intrinsic
def like(x):
    """A new object of the class of `x`. If that is a class of the program, its base class in `pyjitc.typed` is used."""
    return Call(begun, Apply(OBJECT_NEW, cls=next(cls for cls in x.type.cls.__mro__ if NATIVE in vars(cls))))


def begun(x):
    begin(x)
    return x


@intrinsic
def is_like(x, other):
    """Whether another value is of the same class."""
    return Const(Bool, other.type is x.type)


@intrinsic
def is_list(x):
    """Whether a value is a list, of Python's or of `pyjitc.typed`."""
    return Const(Bool, isinstance(lists.real(x).type, k.List) or isinstance(_native(x.type), NativeList))


@intrinsic
def is_dict(x):
    """Whether a value is a dict, of Python's or of `pyjitc.typed`."""
    return Const(Bool, isinstance(x.type, (k.Dict, k.DictDisplay)) or isinstance(_held(x.type), k.Dict))


@intrinsic
def is_set(x):
    """Whether a value is a set, of Python's or of `pyjitc.typed`."""
    return Const(Bool, isinstance(x.type, (k.Set, k.FrozenSet)) or isinstance(_held(x.type), k.Set))


@intrinsic
def can_ask(x, other):
    """Whether another dict or set can be asked for the keys of `x`."""
    held = _held(other.type)
    return Const(Bool, held is None or key_type(held) is _type_of_items(x))


def _native(t: Type) -> Type | None:
    """The type of the native list or table that an object of type t owns; None where it owns none."""
    return getattr(t.cls, NATIVE, None) if isinstance(t, k.ObjectOf) else None


def _held(t: Type) -> Type | None:
    """The Python type (a dict or a set) of the table that an object of type t owns; None where it owns none."""
    found = _native(t)
    return found.of if isinstance(found, k.NativeTable) else None


# ---------------------------------------------------------------- what is stored


@intrinsic
def as_item(x, value):
    """A value in the type of the items of a list or set, or of the keys of a dict."""
    return fitted(plain_value(value), _type_of_items(x))


@intrinsic
def is_item(x, value):
    """Whether any value of this type could be an item of a list or set, or a key of a dict."""
    return Const(Bool, _fits(value.type, _type_of_items(x)) and value.type is not k.uint64)


def _type_of_items(x: Expr) -> Type:
    t = getattr(x.type.cls, NATIVE)
    return t.item if isinstance(t, NativeList) else key_type(t.of)


@intrinsic
def has_references(x):
    """Whether the items of a list have references, such as texts."""
    return natives.counted.rule([Apply(OWNED_GET, x)], {})


@intrinsic
def sought(x, value):
    """A value that is compared with items. The comparison must not run code that may change the list."""
    if k.any_part(value.type, lambda t: isinstance(t, k.ObjectOf) and not hasattr(t.cls, NATIVE) or t is k.Object):
        raise Mismatch(f"a value of type {value.type} is not compared with items of type {_type_of_items(x)}",
                       "compare them in a loop")
    return value


@intrinsic
def as_value(x, value):
    """A value in the type of the values of a dict."""
    return fitted(plain_value(value), getattr(x.type.cls, NATIVE).of.values)


def fitted(x: Expr, t: Type) -> Expr:
    """A value of type t: the value itself, or a number that is converted to one of the same or a wider kind."""
    if x.type is t:
        return x
    if not _fits(x.type, t):
        raise Mismatch(f"an item of type {t} cannot be a value of type {x.type}", "convert it")
    if isinstance(t, Tuple):
        return Apply(TUPLE_MAKE, *(fitted(Apply(TUPLE_GET, x, index=n), part) for n, part in enumerate(t.elements)),
                     cls=t.cls)
    return as_int(x) if t is Int else convert(x, t)


def _fits(given: Type, wanted: Type) -> bool:
    """Whether a value of type `given` has a place among items of type `wanted`."""
    if given is wanted:
        return True
    if isinstance(wanted, Tuple):
        return isinstance(given, Tuple) and given.cls is wanted.cls and len(given.elements) == len(
            wanted.elements) and all(map(_fits, given.elements, wanted.elements))
    kind, most = _kind(given), _kind(wanted)
    return kind is not None and most is not None and kind <= most


def _kind(t: Type) -> int | None:
    """The kind of a type of numbers: 0 bool, 1 integer, 2 float, 3 complex; None for other types."""
    if t is Bool or t is k.NpBool:
        return 0
    return 1 if k.is_integer(t) else 2 if k.is_float(t) else 3 if k.is_complex(t) else None


# ---------------------------------------------------------------- items of lists


@intrinsic
def item_at(x, i):
    """x[i]"""
    if isinstance(i.type, Slice):
        return Call(sliced, x, i)
    return Call(natives.get, Apply(OWNED_GET, x), _place(x, i, "list index out of range"))


@intrinsic
def put_at(x, i, value):
    """x[i] = value"""
    if isinstance(i.type, Slice):
        return Call(put_slice, x, i, value)
    return Call(natives.put, Apply(OWNED_GET, x), _place(x, i, "list assignment index out of range"),
                Call(as_item, x, value))


@intrinsic
def delete(x, i):
    """del x[i]"""
    if isinstance(i.type, Slice):
        return Call(natives.delete_part, Apply(OWNED_GET, x), i)
    return Call(natives.delete, Apply(OWNED_GET, x), _position(i))


@intrinsic
def whole(i):
    """An argument that must be an integer, as an int."""
    return lists.whole(i)


def _position(i: Expr) -> Expr:
    return lists.position(to_index(i) if holds_one(i.type) else plain_value(i))


def _place(x: Expr, i: Expr, message: str) -> Expr:
    length = Apply(NATIVE_LEN, Apply(OWNED_GET, x))
    return Apply(CHECK_INDEX, _position(i), length, axis=0, message=message)


def sliced(x, i):
    made = like(x)
    natives.extend_by(native(made), natives.part(native(x), i))
    return made


def put_slice(x, i, items):
    made = like(x)
    extend(made, items)
    natives.set_part(native(x), i, native(made))


def extend(x, items):
    """Append the items of an iterable."""
    if is_like(x, items):
        natives.extend_by(native(x), native(items))
    else:
        for item in items:
            natives.push(native(x), as_item(x, item))


# ---------------------------------------------------------------- tables


@intrinsic
def slot_of(x, key):
    """The slot of the key that is equal to a value, which may have another type; -1 where there is none."""
    t = _type_of_items(x)
    key = plain_value(key)
    if key.type is k.uint64:
        return Call(slot_of_uint64, x, key)
    if not _fits(key.type, t):
        if t is Int and k.is_float(key.type):
            return Call(slot_of_float, x, convert(key, k.Float))
        if t is Int and k.is_complex(key.type):
            return Call(slot_of_complex, x, convert(key, k.Complex))
        if _differ(key.type, t):
            return Const(Int, -1)
    return Apply(OWNED_SLOT, Apply(OWNED_GET, x), fitted(key, t))


def slot_of_uint64(x, key):
    return slot_of(x, np.int64(key)) if key < 1 << 63 else -1


def slot_of_float(x, key):
    if -9223372036854775808.0 <= key < 9223372036854775808.0:
        if int(key) == key:
            return slot_of(x, int(key))
    return -1


def slot_of_complex(x, key):
    return slot_of(x, key.real) if key.imag == 0 else -1


def _differ(x: Type, y: Type) -> bool:
    """Whether no value of a hashable type is equal to one of another."""
    if isinstance(x, Tuple) and isinstance(y, Tuple) and len(x.elements) == len(y.elements):
        return any(map(_differ, x.elements, y.elements))
    return None not in (_equality_key(x), _equality_key(y)) and _equality_key(x) != _equality_key(y)


def _equality_key(t: Type):
    """A key that two types share if a value of one may be equal to a value of the other; None where that is not
    known."""
    if isinstance(t, Tuple):
        return len(t.elements)
    return t if t in (Str, NoneType, k.Bytes) else None if _kind(t) is None else Int


def found(x, key):
    """The key that is equal to a value; KeyError where there is none."""
    if is_item(x, key):
        return as_item(x, key)
    at = slot_of(x, key)
    if at < 0:
        raise KeyError(key)
    return OWNED_KEY(native(x), at)


def empty(table):
    """Remove all keys."""
    at = OWNED_LAST(table)
    while at >= 0:
        LOCAL_REMOVE(table, at, OWNED_KEY(table, at), must=False)
        at = OWNED_LAST(table)
