"""Containers whose items have one type, and which stay native between calls: `List`, `Dict` and `Set`.

    from pyjitc.typed import List

    a = List[float]([1.5, 2.5])     # or List([1.5, 2.5])
    a.append(3)                     # 3.0

Items are stored without Python objects. Compiled code works on them where they are, as it does on lists and dicts that
do not leave it; the interpreter's methods are the same functions, compiled, and make the object of one item at a time.
"""
from __future__ import annotations

import collections.abc
import ctypes
import sys
from functools import partial
from inspect import CO_GENERATOR
from types import FunctionType, GenericAlias

import numpy as np

from .api.dispatch import CompiledFunction, dispatcher_class, own_files
from .api.jit import decorated
from .api.signature import signature_of
from .base.errors import CompileError
from .infer.constants import constant
from .infer.meaning import Call, CallValue, Mismatch
from .lib import extended
from .lib.py import typed
from .lib.py.lists import item_of, real
from .lib.py.ofclasses import make_as_type
from .ops.localtables import can_be_key, can_be_value
from .ops.natives import can_hold
from .ops.owned import NATIVE, SLOT
from .runtime.objects import declare_object_class
from .types import kinds
from .types.lattice import dtype_of, numpy_counterpart
from .types.text import parse, python_scalars
from .types.typeof import element_type, typeof

__all__ = ["Dict", "List", "Set"]

_made: dict = {}  # (base class, types of its items) -> class


def _item_type(given):
    """The type of items from a program's notation: a class, a NumPy dtype, tuple[int, float], a class of named tuples,
    a type of pyjitc or its text."""
    if isinstance(given, kinds.Type):
        return python_scalars(given)
    if isinstance(given, GenericAlias) and given.__origin__ is tuple:
        return kinds.Tuple(map(_item_type, given.__args__))
    if isinstance(given, tuple):
        return kinds.Tuple(map(_item_type, given))
    if isinstance(given, type):
        if issubclass(given, tuple) and hasattr(given, "_fields"):
            annotations = getattr(given, "__annotations__", {})
            if annotations.keys() != set(given._fields):
                raise TypeError(f"the fields of {given.__name__} have no types; derive it from typing.NamedTuple, or "
                                "make the container of items")
            return kinds.Tuple([_item_type(annotations[name]) for name in given._fields], given)
        if issubclass(given, _Owner) and NATIVE in vars(given):
            return kinds.ObjectOf(given)
        if issubclass(given, np.generic):
            given = np.dtype(given)
    if isinstance(given, np.dtype):
        found = element_type(given)
        if found is None:
            raise TypeError(f"items cannot have the dtype {given}")
        return found
    return signature_of((given,)).args[0]


def _as_declared(t):
    """A type as items have it: the attributes of objects are no part of it."""
    if isinstance(t, kinds.ObjectOf):
        return kinds.ObjectOf(t.cls)
    return t.with_parts(map(_as_declared, t.parts)) if isinstance(t, kinds.Tuple) else t


def _class_of(base: type, *given) -> type:
    """The class of containers with these types of items."""
    key = base, *given
    found = _made.get(key)
    if found is None:
        base._check(*given)
        name = f"{base.__name__}[{', '.join(map(str, given))}]"
        found = type(name, (base,), {"__slots__": (), "__module__": __name__,
                                     NATIVE: base._native_type(*given), "item_types": given})
        found = _made.setdefault(key, found)
        declare_object_class(found)
        extended.FUNCTIONS[id(found)] = partial(make_as_type, found)
        vars(sys.modules[__name__]).setdefault(name, found)
    return found


def __getattr__(name: str):
    """Classes of containers by their names, which the disk cache and pickle use: `List[int]`."""
    base, _, rest = name.partition("[")
    if base in _BASES and rest[-1:] == "]":
        try:
            types = parse(f"({rest[:-1]},)").parts
        except ValueError:
            types = ()
        if len(types) == _BASES[base]._count:
            return _class_of(globals()[base], *types)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Owner:
    """The common base class of the containers."""

    __slots__ = (SLOT,)  # no weak references: the release of a container runs no code of the program
    __hash__ = None
    _count = 1  # how many types its items have

    def __class_getitem__(cls, given):
        if hasattr(cls, NATIVE):
            raise TypeError(f"{cls.__name__} has its type")
        given = given if cls._count > 1 else (given,)
        if not isinstance(given, tuple) or len(given) != cls._count:
            raise TypeError(f"{cls.__name__} takes {cls._count} types in brackets")
        return _class_of(cls, *map(_item_type, given))

    def __new__(cls, items=None, *args, **kwargs):
        if hasattr(cls, NATIVE):
            made = object.__new__(cls)
            made._begin()
            return made
        if items is None:
            raise TypeError(f"{cls.__name__}() has no items that show their type: write {cls.__name__}[float]()")
        return cls.__new__(_class_of(cls, *cls._types_of(items)))

    def __repr__(self):
        return f"{type(self).__name__}({self._items()!r})"

    def __reduce__(self):
        return _restored, (*_maker(type(self)), self._items()), getattr(self, "__dict__", None)

    def _items(self):
        raise NotImplementedError


def _maker(cls: type) -> tuple[type, tuple]:
    """A class that pickle finds by its name, and the types of the items where it is the class without them."""
    return (cls.__mro__[1], cls.item_types) if NATIVE in vars(cls) else (cls, ())


def _restored(base: type, types: tuple, items):
    made = base.__new__(_class_of(base, *types) if types else base)
    next(cls for cls in type(made).__mro__ if NATIVE in vars(cls)).__init__(made, items)
    return made


class _CompiledMethod(CompiledFunction):
    """A method that the interpreter calls. An error of its compile is about the arguments, so it names the call."""

    __slots__ = ()

    def _answer(self, args, kwargs):
        try:
            return super()._answer(args, kwargs)
        except CompileError as error:
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename in own_files:
                frame = frame.f_back
            caller = frame.f_code
            raise type(error)(error.diagnostic._replace(
                filename=caller.co_filename, line=frame.f_lineno, end_line=0, col=-1, end_col=-1,
                function="" if caller.co_name == "<module>" else caller.co_name, notes=())) from None


_Method = dispatcher_class(_CompiledMethod, "pyjitc.typed.Method")


def _compiled(methods: type):
    """A decorator that gives a class the methods of the class `methods` and its base classes, compiled; generators
    remain as they are."""
    def decorate(cls):
        for base in reversed(methods.__mro__):
            for name, function in vars(base).items():
                if type(function) is FunctionType:
                    setattr(cls, name, function if function.__code__.co_flags & CO_GENERATOR
                            else decorated(function, (), {}, _Method))
        return cls

    return decorate


def _meaning(generator):
    """A decorator of a method: the interpreter runs the method, and compiled code calls `generator` in its place."""
    def decorate(function):
        function.rule = lambda args, kwargs: Call(generator, *args)
        return function

    return decorate


_sequence_iterator = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(("PySeqIter_New", ctypes.pythonapi))


def _steps(self):
    """The items of a dict or set, one after the other."""
    size, at = len(self), 0
    try:
        while True:
            at, item = self._following(at, size)
            yield item
    except StopIteration:
        pass


@_compiled(typed.List)
class List(_Owner):
    """A list with items of one type: `List[float]()`, `List[float](items)` or `List(items)`, where the first item
    determines the type. Its methods are those of list."""

    __slots__ = ()

    @_meaning(typed.items_of_list)
    def __iter__(self):
        return _sequence_iterator(self)

    def __array__(self, dtype=None, copy=None):
        item = type(self).item_types[0]
        if not self and dtype is None and kinds.is_scalar(item):
            dtype = dtype_of(numpy_counterpart(item))
        return np.array(self.tolist(), dtype)

    def _items(self):
        return self.tolist()

    @staticmethod
    def _check(item):
        if not can_hold(item) or kinds.any_part(item, _has_no_form):
            raise TypeError(f"items of a List cannot have the type {item}; use a list")

    @staticmethod
    def _native_type(item):
        return kinds.NativeList(item)

    @staticmethod
    def _types_of(items):
        return _type_of_first(items, "List[float]"),


@_compiled(typed.Dict)
class Dict(_Owner):
    """A dict with keys and values of one type each, in the order of insertion: `Dict[str, float]()`,
    `Dict[str, float](items)` or `Dict(items)`, where the first item determines the types. Its methods are those of
    dict."""

    __slots__ = ()
    _count = 2

    @_meaning(typed.keys_of_dict)
    def __iter__(self):
        return _steps(self)

    @_meaning(typed.view_of_keys)
    def keys(self):
        return collections.abc.KeysView(self)

    @_meaning(typed.view_of_values)
    def values(self):
        return collections.abc.ValuesView(self)

    @_meaning(typed.view_of_items)
    def items(self):
        return collections.abc.ItemsView(self)

    def _items(self):
        return self.todict()

    @staticmethod
    def _check(key, value):
        _check_key(key, "Dict", "dict")
        if not can_be_value(value) or kinds.any_part(value, _has_no_form):
            raise TypeError(f"values of a Dict cannot have the type {value}; use a dict")

    @staticmethod
    def _native_type(key, value):
        return kinds.NativeTable(kinds.Dict(key, value))

    @staticmethod
    def _types_of(items):
        pairs = items.items() if hasattr(items, "items") else items
        found = _type_of_first(pairs, "Dict[int, float]")
        if not isinstance(found, kinds.Tuple) or len(found.elements) != 2:
            raise TypeError("Dict() takes a dict, or pairs of a key and a value")
        return found.elements


@_compiled(typed.Set)
class Set(_Owner):
    """A set of items of one type, in the order of insertion: `Set[int]()`, `Set[int](items)` or `Set(items)`, where
    the first item determines the type. Its methods are those of set."""

    __slots__ = ()

    @_meaning(typed.items_of_set)
    def __iter__(self):
        return _steps(self)

    def __repr__(self):
        return f"{type(self).__name__}({'{' + ', '.join(map(repr, self)) + '}' if self else 'set()'})"

    def _items(self):
        return list(self)

    @staticmethod
    def _check(item):
        _check_key(item, "Set", "set")

    @staticmethod
    def _native_type(item):
        return kinds.NativeTable(kinds.Set(item))

    @staticmethod
    def _types_of(items):
        return _type_of_first(items, "Set[int]"),


def _has_no_form(t) -> bool:
    """Whether values of a type are of several types, or objects that may refer to the container."""
    return (isinstance(t, (kinds.Union, kinds.Container)) or t is kinds.NoneType or t is kinds.Object
            or isinstance(t, kinds.ObjectOf) and not issubclass(t.cls, _Owner))


def _check_key(key, name: str, plain: str) -> None:
    if not can_be_key(key):
        raise TypeError(f"keys of a {name} are ints, texts or tuples of two to four ints, not {key}; use a {plain}")


def _type_of_first(items, shown: str):
    if iter(items) is items:
        raise TypeError(f"an iterator shows the type of its items too late: write {shown}(items)")
    for item in items:
        return _as_declared(typeof(item, _type_of_container))
    raise TypeError(f"there are no items that show their type: write {shown}()")


def _type_of_container(value):
    """The type of a container of this module among the items of another one."""
    return kinds.ObjectOf(type(value)) if NATIVE in vars(type(value)) else None


def _made_of_items(base: type):
    """The rule of a call of `List`, without the types of its items."""
    def rule(args, kwargs):
        if len(args) != 1 or kwargs:
            raise Mismatch(f"{base.__name__}() takes the items", f"write {base.__name__}[float]() where there are none")
        t = real(args[0]).type
        if isinstance(t, kinds.ObjectOf) and issubclass(t.cls, _Owner):
            types = t.cls.item_types[:1] if base is not Dict else t.cls.item_types
        else:
            types = (t.keys, t.values) if isinstance(t, kinds.Dict) and base is Dict else (item_of(t),)
        if None in types or len(types) != base._count or any(t is kinds.Undefined or isinstance(t, kinds.Union)
                                                             for t in types):
            raise Mismatch("the type of the items is not known here", f"write {base.__name__}[...](items)")
        try:
            found = _class_of(base, *map(_as_declared, types))
        except TypeError as error:
            raise Mismatch(str(error)) from None
        return CallValue(constant(found), *args)

    return rule


_BASES = {"Dict": Dict, "List": List, "Set": Set}
for _base in _BASES.values():
    extended.FUNCTIONS[id(_base)] = _made_of_items(_base)
del _base
collections.abc.MutableSequence.register(List)
collections.abc.MutableMapping.register(Dict)
collections.abc.MutableSet.register(Set)
