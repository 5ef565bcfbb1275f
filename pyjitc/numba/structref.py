"""numba.experimental.structref: mutable structures of a program's types, made and read by compiled code.

A structure is a Python object of its proxy class, and is passed without conversion. Its fields are attributes with
names such as `_field_x`, so that the proxy class may have properties with the names of the fields: the interpreter uses
these, and compiled code reads the fields.
"""
from __future__ import annotations

from functools import partial
from types import FunctionType

from ..base.lazy import lazy
from ..infer.constants import constant
from ..infer.meaning import Apply, CallValue, NotNative
from ..lib import extended
from ..ops.objects import OBJECT_NEW
from ..runtime.objects import attributes_of
from ..types.classes import HIDDEN_FIELDS, UNWRITTEN, own
from ..types.kinds import Singleton
from . import types
from .absent import module_attribute

__all__ = ["StructRefProxy", "define_attributes", "define_boxing", "define_constructor", "define_proxy", "new",
           "register"]

_decorators, _special = lazy("pyjitc.numba.decorators"), lazy("pyjitc.numba.special")


_PREFIX = "_field_"


class _Names:
    """The names under which structures of a class store their fields. fields: those of the constructor; none where the
    program defines its own."""

    def __init__(self, cls: type, fields=()):
        self.cls, self.fields = cls, frozenset(fields)

    def get(self, name: str) -> str | None:
        found = UNWRITTEN if name in self.fields else own(self.cls, name)
        if found is UNWRITTEN and name[:2] != "__" or type(found) is property and not self.fields:
            return _PREFIX + name
        return None


class StructRefProxy:
    """The base class of structures."""

    def __new__(cls, *args):
        """A structure with these fields, made as in compiled code."""
        make = vars(cls).get("_numba_constructor")
        if make is None:
            make = cls._numba_constructor = _decorators.njit(_maker(cls, len(args)))
        return make(*args)

    @property
    def _numba_type_(self):
        return _special.typeof(self)


def _maker(cls: type, count: int) -> FunctionType:
    """A function with `count` arguments that calls the class."""
    names = ", ".join(f"x{k}" for k in range(count))
    return _written(f"def make({names}):\n    return structure({names})", structure=cls)


def _written(text: str, **names) -> FunctionType:
    namespace = {"__name__": __name__, **names}
    exec(text, namespace)
    return next(value for value in namespace.values() if type(value) is FunctionType)


def register(struct_type):
    """Decorator that registers a class of types, a subclass of types.StructRef."""
    if struct_type is types.StructRef:
        raise ValueError(f"cannot register {types.StructRef}")
    proxy = type(struct_type.__name__, (StructRefProxy,), {"__module__": struct_type.__module__})
    _define(struct_type, proxy)
    return struct_type


def _define(struct_type, proxy: type, fields=()) -> None:
    setattr(proxy, HIDDEN_FIELDS, _Names(proxy, fields))
    struct_type.proxy, struct_type.declared = proxy, tuple(fields)
    types.REGISTERED[proxy] = partial(_type_of, struct_type)


def _type_of(struct_type, value, context=None):
    """The type of a structure, with the types of the fields that it has."""
    found = []
    for name in attributes_of(value):
        if name.startswith(_PREFIX) and hasattr(value, name):  # a structure may lack fields of others of its class
            found.append((name.removeprefix(_PREFIX), _special.typeof(getattr(value, name))))
    made = struct_type.__new__(struct_type)  # not by the program's __init__, which may add fields
    types.StructRef.__init__(made, found)
    return made


def define_attributes(struct_typeclass) -> None:
    """Does nothing: compiled code reads and writes the fields of every structure."""


def define_boxing(struct_type, obj_class) -> None:
    """Make structures of a type objects of `obj_class`, in the interpreter and in compiled code."""
    if struct_type is types.StructRef:
        raise ValueError(f"cannot register {types.StructRef}")
    if obj_class is not StructRefProxy:  # several types may be boxed as that class: each gets a class of its own
        _define(struct_type, obj_class)


def define_constructor(py_class, struct_typeclass, fields) -> None:
    """Make calls of `py_class` in compiled code make structures with `fields`."""
    text = f"def constructed({', '.join(['made', *fields])}):\n"
    text += "".join(f"    made.{name} = {name}\n" for name in fields)
    extended.FUNCTIONS[id(py_class)] = partial(_constructed, struct_typeclass, _written(f"{text}    return made"))


def _constructed(struct_type, function, args, kwargs):
    return CallValue(constant(function), Apply(OBJECT_NEW, cls=struct_type.proxy), *args, keywords=kwargs)


def define_proxy(py_class, struct_typeclass, fields) -> None:
    """Make `py_class`, a subclass of StructRefProxy, the class of structures of a type, with these fields."""
    _define(struct_typeclass, py_class, fields)
    define_constructor(py_class, struct_typeclass, fields)


def new(struct_type):
    """A structure whose fields are not set yet. Only in compiled code, for a type of types.StructRef."""
    raise NotImplementedError("structref.new() works only inside a function that njit compiles; in Python, call the "
                              "proxy class")


def _new(args, kwargs):
    t = args[0].type if len(args) == 1 and not kwargs else None
    if not isinstance(t, Singleton) or not isinstance(t.value, types.StructRef):
        raise NotNative("the argument of structref.new() must be a numba.types.StructRef type that is known at "
                        "compile time")
    return Apply(OBJECT_NEW, cls=type(t.value).proxy)


extended.FUNCTIONS[id(new)] = _new
__getattr__ = module_attribute("experimental.structref")
