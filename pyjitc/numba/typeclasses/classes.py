"""The types of the classes that jitclass makes, of their objects, of structures, and types that are defined later."""
from __future__ import annotations

import types as pytypes

from ...types import kinds
from .abstract import Callable, Opaque, Type


class ClassType(Callable, Opaque):
    """The type of a class that jitclass makes."""

    def __init__(self, cls, struct):
        self.class_name, self.struct, self.cls = cls.__name__, dict(struct), cls
        found = vars(cls)
        self.methods = {name: value for name, value in found.items() if hasattr(value, "py_func")}
        self.jit_props = {name: value for name, value in found.items() if isinstance(value, property)}
        self.static_methods = {name: value for name, value in found.items() if isinstance(value, staticmethod)}
        self.instance_type = ClassInstanceType(self)
        super().__init__(f"jitclass.{self.class_name}#{id(self):x}<{','.join(f'{n}:{t}' for n, t in struct.items())}>")
        _CLASSES[self.name] = self

    @property
    def instance_type_class(self):
        return ClassInstanceType

    @property
    def type(self):
        return kinds.Singleton(self.cls)

    def __reduce__(self):
        return _class_type, (self.name,)


_CLASSES: dict[str, ClassType] = {}


def _class_type(name: str) -> ClassType:
    return _CLASSES[name]


class ClassInstanceType(Type):
    """The type of an object of a class that jitclass makes."""

    mutable = True

    def __init__(self, class_type):
        self.class_type = class_type

    @property
    def name(self):
        return f"instance.{self.class_type.name}"

    @property
    def classname(self):
        return self.class_type.class_name

    @property
    def struct(self):
        return self.class_type.struct

    @property
    def methods(self):
        return self.class_type.methods

    @property
    def type(self):
        return kinds.ObjectOf(self.class_type.cls)

    def __reduce__(self):
        return _instance_type, (self.class_type,)


def _instance_type(class_type):
    return class_type.instance_type


class FieldsWanted(Exception):
    """Raised where the fields of a structure's type are asked for, and not known yet."""


class StructRef(Type):
    """The type of structures, objects of the class `proxy`; see numba.experimental.structref.

    declared: the names of the fields, where the program has declared them. fields_known: False for the type of the
    structures of a class in compiled code, whose fields may have any types."""

    proxy: type | None = None
    declared: tuple[str, ...] = ()
    fields_known = True

    def __init__(self, fields):
        fields = tuple(map(_field, fields))
        self._fields = tuple(map(_field, self.preprocess_fields(fields)))
        super().__init__(f"numba.{type(self).__qualname__}{self._fields}")

    def preprocess_fields(self, fields):
        """The fields of the type; classes of programs override it to change them."""
        return fields

    @property
    def field_dict(self):
        if not self.fields_known:
            raise FieldsWanted
        return pytypes.MappingProxyType(dict(self._fields))

    @property
    def type(self):
        return super().type if self.proxy is None else kinds.ObjectOf(self.proxy)


def _field(pair):
    name, t = pair
    if not isinstance(name, str):
        raise ValueError("expecting a str for field name")
    if not isinstance(t, Type):
        raise ValueError("expecting a Numba Type for field type")
    return name, t


class DeferredType(Type):
    def __init__(self):
        self._defined = None
        super().__init__(f"DeferredType#{id(self)}")

    def define(self, typ):
        self._defined = typ

    def get(self):
        if self._defined is None:
            raise RuntimeError("deferred type not defined")
        return self._defined

    @property
    def type(self):
        return self.get().type
