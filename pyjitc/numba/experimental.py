"""numba.experimental: `jitclass`, a class with declared fields.

Its objects are Python objects with slots, which compiled code accepts, makes and returns without conversion; values are
converted to the declared type when they are stored in a field, both by the interpreter and by compiled code. Its
methods and properties are compiled at their first call.
"""
from __future__ import annotations

import collections.abc
import importlib
import inspect
import re
import sys
import types as pytypes
import typing
from types import FunctionType

import numpy as np

from ..base.lazy import lazy
from ..types import kinds
from ..types.classes import DECLARED_FIELDS, DECLARED_TYPES
from . import config, types
from .absent import module_attribute
from .conversion import converted

__all__ = ["JitClassType", "as_numba_type", "jitclass"]

_decorators = lazy("pyjitc.numba.decorators")


class JitClassType(type):
    """The metaclass of classes that `jitclass` makes. class_type: the Numba type of the class."""

    def __new__(mcs, name, bases, namespace):
        if any(isinstance(base, JitClassType) for base in bases):
            raise TypeError("cannot subclass from a jitclass")
        return super().__new__(mcs, name, bases, namespace)


def jitclass(cls_or_spec=None, spec=None):
    """A class whose objects have the fields in `spec`, a dict or a list of (name, type), and the annotated ones of the
    class. Raises TypeError for an invalid specification::

        @jitclass([("value", int32), ("array", float64[:])])
        class Bag:
            def __init__(self, value):
                self.value = value
                self.array = np.zeros(value)
    """
    if isinstance(cls_or_spec, type):
        return _made(cls_or_spec, spec)
    if cls_or_spec is not None and spec is None:
        spec = cls_or_spec
    return lambda cls: _made(cls, spec)


def _made(cls: type, spec) -> type:
    if not isinstance(cls, type):
        raise TypeError(f"jitclass decorates a class, not {cls!r}")
    if config.DISABLE_JIT:
        return cls
    fields = _fields(cls, spec)
    compiled = _decorators.jit(nopython=True)
    module = cls.__module__

    def method(function):
        if type(function) is not FunctionType or function.__code__.co_flags & inspect.CO_GENERATOR:
            return function
        return compiled(function)

    namespace, kept = {"__slots__": tuple(fields)}, {}
    for base in cls.__mro__[-2::-1]:  # the last is object; Numba finds the methods of the bases, too
        kept.update((name, value) for name, value in vars(base).items() if base is cls or name not in _OF_CLASSES)
    for name, value in kept.items():
        if name in _OF_CLASSES or isinstance(value, (pytypes.MemberDescriptorType, pytypes.GetSetDescriptorType)):
            continue
        if isinstance(value, (staticmethod, classmethod)):
            value = type(value)(method(value.__func__))
        elif type(value) is property:
            if value.fdel is not None:
                raise TypeError(f"deleter is not supported: {name}")
            value = property(method(value.fget), method(value.fset), None, value.__doc__)
        elif name not in ("__repr__", "__str__", "__format__"):
            value = method(value)
        if name in fields:
            if isinstance(value, property) or callable(value):
                raise NameError(f"name shadowing: {name}")
            continue  # a default value, for which a slot has no room
        namespace[name] = value
    for name in ("__doc__", "__qualname__", "__annotations__"):
        if name in vars(cls):
            namespace[name] = vars(cls)[name]
    namespace["__module__"] = module
    types_of_fields = _Types(fields)
    namespace[DECLARED_FIELDS] = tuple((name, re.sub("#[0-9a-f]+", "", str(t))) for name, t in fields.items())
    if "__setattr__" not in namespace:
        namespace["__setattr__"] = _setter(types_of_fields)
    made = JitClassType(cls.__name__, tuple(base for base in cls.__bases__ if base is not object), namespace)
    setattr(made, DECLARED_TYPES, types_of_fields)
    made.class_type = types.ClassType(made, fields)
    made._numba_type_ = property(lambda self: type(self).class_type.instance_type)
    return made


# Attributes that every class has: those of base classes are not copied into the new class.
_OF_CLASSES = frozenset("__dict__ __weakref__ __slots__ __doc__ __qualname__ __annotations__ __module__ "
                        "__firstlineno__ __static_attributes__ __annotate__ __annotate_func__ "
                        "__annotations_cache__".split())


class _Types:
    """The types that fields have in compiled code, by name; a deferred type is defined after the class."""

    def __init__(self, fields: dict):
        self.fields, self.known = fields, {}

    def get(self, name: str):
        """The type of a stored field; None where it is not known."""
        if name not in self.known and name in self.fields:
            try:
                found = types.value_type(self.fields[name])
            except (TypeError, RuntimeError):  # compiled code has no values of this type
                found = None
            self.known[name] = kinds.Int if isinstance(found, kinds.NpInt) and found is not kinds.uint64 else found
        return self.known.get(name)

    def through(self, name: str):
        """The NumPy type to which a number is converted before it is stored, or None."""
        t = types.unliteral(self.fields[name])
        t = t.base if isinstance(t, types.Optional) else t
        return t.type if isinstance(t, (types.Number, types.Boolean)) else None


def _setter(declared: _Types):
    def __setattr__(self, name, value):
        t = declared.get(name)
        if t is not None and type(getattr(type(self), name, None)) is not property:
            value = converted(f"the field {name}", value, t, declared.fields[name])
        object.__setattr__(self, name, value)

    return __setattr__


def _fields(cls: type, spec) -> dict[str, types.Type]:
    """The fields with their types; those in `spec` come first."""
    items = spec.items() if isinstance(spec, collections.abc.Mapping) else spec or ()
    found: dict[str, types.Type] = {}
    for name, t in items:
        if not isinstance(name, str):
            raise TypeError(f"spec keys should be strings, got {name!r}")
        if not isinstance(t, types.Type):
            raise TypeError(f"spec values should be Numba type instances, got {t!r}")
        found[_mangled(cls, name)] = t
    for base in cls.__mro__[::-1]:
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if _mangled(cls, name) not in found:
                found[_mangled(cls, name)] = as_numba_type(_evaluated(annotation, base))
    return found


def _mangled(cls: type, name: str) -> str:
    if name.startswith("__") and not name.endswith("__"):
        return f"_{cls.__name__.lstrip('_')}{name}"
    return name


def _evaluated(annotation, cls: type):
    if isinstance(annotation, str):
        return eval(annotation, dict(vars(sys.modules[cls.__module__])), dict(vars(cls)))
    return annotation


class _AsNumbaType:
    """The Numba type for an annotation."""

    def __init__(self):
        self.known = {int: types.int64, float: types.float64, complex: types.complex128, bool: types.boolean,
                      str: types.unicode_type, None: types.none, type(None): types.none}
        self.functions = []

    def register(self, given, numba_type=None):
        """Register the Numba type of a class, or a function that returns it, or None where it knows none."""
        if numba_type is not None:
            self.known[given] = numba_type
        else:
            self.functions.append(given)
        return given

    def __call__(self, t) -> types.Type:
        if isinstance(t, types.Type):
            return t
        if t in self.known:
            return self.known[t]
        if isinstance(t, JitClassType):
            return t.class_type.instance_type
        if isinstance(t, type) and issubclass(t, np.generic):
            return types.from_dtype(np.dtype(t))
        home, parts = typing.get_origin(t), typing.get_args(t)
        if home is list:
            return types.ListType(self(*parts))
        if home is set:
            return types.Set(self(*parts))
        if home is dict:
            return types.DictType(*map(self, parts))
        if home is tuple:
            return types.Tuple([self(part) for part in parts])
        if home in (typing.Union, pytypes.UnionType):
            rest = [part for part in parts if part is not type(None)]
            if len(rest) == 1 and len(parts) == 2:
                return types.Optional(self(rest[0]))
        for function in self.functions:
            if (found := function(t)) is not None:
                return found
        raise types.errors.TypingError(f"Cannot infer Numba type of Python type {t}")


as_numba_type = _AsNumbaType()

_others = module_attribute("experimental", frozenset(("function_type",)))


def __getattr__(name: str):
    return importlib.import_module("pyjitc.numba.structref") if name == "structref" else _others(name)
