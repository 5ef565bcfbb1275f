"""Objects of classes of a program: which classes are supported, the attributes that an object stores, and its type.

An object is inspected without creating its `__dict__`, which would move its attributes away from the place where
compiled code (and the interpreter) reads them fastest.
"""
from __future__ import annotations

import ctypes
import enum
import weakref
from types import MemberDescriptorType, MethodType
from typing import Any, Callable

from ..types.classes import is_fixed
from ..types.kinds import (
    Method, NoneType, Object, ObjectOf, Type, Undefined, Union, kind_of_class, members_of, union_of, wider,
)
from . import platform

__all__ = ["attributes_of", "classes_in", "declare_object_class", "hides", "is_object_class", "slots_of", "type_of",
           "type_of_object", "with_attributes", "with_parts"]

_MOST_LOOKED_AT = 1024  # the maximum number of objects inspected for one type; compiled code checks the others
_known: dict[type, bool] = {}
_declared: weakref.WeakSet = weakref.WeakSet()
# objects with these attributes are passed as the array that they stand for
_SERIES = "numpy.polynomial."  # the modules of NumPy whose classes are like those of programs
_ARRAYS = ("to_numpy", "__array__", "__cuda_array_interface__")


def is_object_class(cls: type) -> bool:
    """Whether objects of `cls` are defined by class statements alone, so that they have only slots and a dict."""
    found = _known.get(cls)
    if found is None:
        found = _is_object_class(cls)
        if len(_known) > 4096:
            _known.clear()  # a class that is no longer used must not be kept alive
        _known[cls] = found
    return found


def declare_object_class(cls: type) -> None:
    """Take objects of `cls` and its subclasses as objects, also where NumPy can make arrays of them."""
    _known.pop(cls, None)
    _declared.add(cls)


def _is_object_class(cls: type) -> bool:
    if is_fixed(cls) and not cls.__module__.startswith(_SERIES) or kind_of_class(cls) is not None:
        return False
    if issubclass(cls, (type, enum.Enum, BaseException)) or getattr(cls, "__pyjitc_constant__", False):
        return False
    if (_declared.isdisjoint(cls.__mro__) and not hasattr(cls, "_numba_type_")
            and any(hasattr(cls, name) for name in _ARRAYS)):
        return False
    base: Any = cls
    while base is not object:
        if not _made_by_statement(base):
            return False
        base = base.__base__
    return all(_made_by_statement(base) for base in cls.__mro__ if base is not object)


class _Plain:
    """A class as a class statement makes it."""


def _word(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def _made_by_statement(cls: type) -> bool:
    """Whether no code in C defines the behaviour of objects of the class."""
    return bool(cls.__flags__ & _HEAP_TYPE) and (_word(id(cls) + platform.TYPE_DEALLOC)
                                                 == _word(id(_Plain) + platform.TYPE_DEALLOC))


_HEAP_TYPE = 1 << 9


def slots_of(cls: type) -> dict[str, int]:
    """The offsets of the attributes that are slots."""
    found: dict[str, int] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if type(value) is MemberDescriptorType and value.__objclass__ is base and _made_by_statement(base):
                found[name] = platform.member_offset(value)
            else:
                found.pop(name, None)
    return found


def attributes_of(value) -> list[str]:
    """The names of the attributes that an object stores; some may have been deleted."""
    cls = type(value)
    found = list(slots_of(cls))
    if not cls.__dictoffset__:
        return found
    where = platform.INLINE_VALUES
    if where is not None and cls.__flags__ & platform.INLINE_FLAG:
        if platform.PYTHON == (3, 12):
            inline = _word(id(value) + where) & 1
        else:
            inline = not _word(id(value) + platform.MANAGED_DICT)
        if inline:
            return found + shared_names(cls)
    return found + [name for name in object.__getattribute__(value, "__dict__") if type(name) is str]


def shared_names(cls: type) -> list[str]:
    """The names of the attributes that objects of the class store inline, in the order of their values."""
    keys = _word(id(cls) + platform.TYPE_CACHED_KEYS)
    if not keys:
        return []
    count = ctypes.c_ssize_t.from_address(keys + platform.KEYS["count"]).value
    first = keys + platform.KEYS["indices"] + (1 << ctypes.c_uint8.from_address(keys + platform.KEYS["bytes"]).value)
    return [ctypes.cast(_word(first + 16 * n), ctypes.py_object).value for n in range(count) if _word(first + 16 * n)]


def hides(cls: type, name: str) -> bool:
    """Whether the class has a data descriptor with the name of an attribute, which takes precedence over the
    object's."""
    for base in cls.__mro__:
        if name in vars(base):
            found = type(vars(base)[name])
            return found is not MemberDescriptorType and (hasattr(found, "__set__") or hasattr(found, "__delete__"))
    return False


def type_of(value, typeof: Callable, other: Callable | None = None) -> Type:
    """The type of a value, typeof(value, other), which for objects of the program's classes, also inside the value,
    includes the types of their attributes."""
    look = _Look(typeof, other)
    t = typeof(value, look.meet)
    return look.closed(t, ()) if look.looked() else t


class _Look:
    """One inspection of the objects that can be reached from a value. Each attribute of a class has one type for all
    objects."""

    def __init__(self, typeof: Callable, other: Callable | None):
        self.typeof, self.other = typeof, other
        self.found: dict[type, dict[str, Type]] = {}
        self.seen: dict[int, Any] = {}
        self.waiting: list = []
        self.all = True  # whether no object was left out

    def meet(self, value):
        """The type of an object, which is inspected later; for another value the result of `other`."""
        cls = type(value)
        if cls is MethodType and is_object_class(type(value.__self__)):
            found = Method(self.meet(value.__self__), value.__func__.__name__)
            return found if found.function is value.__func__ else None
        if not is_object_class(cls):
            return None if self.other is None else self.other(value)
        if id(value) not in self.seen:
            if len(self.seen) < _MOST_LOOKED_AT:
                self.seen[id(value)] = value
                self.waiting.append(value)
            else:
                self.all = False
        return ObjectOf(cls)

    def looked(self) -> bool:
        """Inspect all objects; returns whether there are any."""
        while self.waiting:
            self.look(self.waiting.pop(0))
        if not self.all:  # linked objects are followed up to a limit
            for fields in self.found.values():
                for name, t in fields.items():
                    if any(isinstance(member, ObjectOf) for member in members_of(t)):
                        fields[name] = wider(t, NoneType)
        return bool(self.seen)

    def look(self, value) -> None:
        cls = type(value)
        fields = self.found.setdefault(cls, {})
        for name in attributes_of(value):
            if hides(cls, name):
                continue
            try:
                held = object.__getattribute__(value, name)
            except AttributeError:
                continue
            fields[name] = wider(fields.get(name, Undefined), self.type_of(held))

    def type_of(self, held) -> Type:
        try:
            return self.typeof(held, self.meet)
        except (TypeError, OverflowError, RecursionError):
            return Object

    def closed(self, t: Type, above: tuple) -> Type:
        """A type with the attributes of the classes in it; where a class occurs again inside itself, without them."""
        if isinstance(t, ObjectOf):
            if t.cls in above:
                return t
            fields = self.found.get(t.cls, {})
            inner = (*above, t.cls)
            return ObjectOf(t.cls, [(name, self.closed(part, inner)) for name, part in sorted(fields.items())])
        return with_parts(t, lambda part: self.closed(part, above))


def with_parts(t: Type, change: Callable[[Type], Type]) -> Type:
    """The type with `change` applied to its parts; the type itself where they do not change."""
    if not t.passing:
        return t
    kind, *parts = t.key
    new = tuple([_changed(part, change) for part in parts])
    return t if new == tuple(parts) else union_of(new[0]) if kind is Union else kind(*new)


def _changed(part, change):
    if isinstance(part, Type):
        return change(part)
    return tuple([_changed(one, change) for one in part]) if type(part) is tuple else part


def type_of_object(value) -> Type | None:
    """The type of an object of a class of the program, without its attributes; None for any other value."""
    return ObjectOf(type(value)) if is_object_class(type(value)) else None


def classes_in(t: Type) -> list[type]:
    """The classes of the program whose objects a value of type `t` is or contains."""
    found: list[type] = []

    def note(part):
        if isinstance(part, ObjectOf):
            found.append(part.cls)
            for _, held in part.attributes:
                note(held)
        elif part.passing:
            with_parts(part, note)
        return part

    note(t)
    return list(dict.fromkeys(found))


def with_attributes(t: Type, note: Callable[[type, str, Type], None]) -> Type:
    """The type of the code for the type of an argument: objects without attributes, which are passed to `note(cls,
    name, type)`."""
    if isinstance(t, ObjectOf):
        for name, part in t.attributes:
            note(t.cls, name, with_attributes(part, note))
        return ObjectOf(t.cls)
    return with_parts(t, lambda part: with_attributes(part, note))
