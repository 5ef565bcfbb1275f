"""The meaning of the generic operations on attributes: of modules, classes and other constants, and of values."""
from __future__ import annotations

import enum
import functools
import sys
import types as pytypes
from typing import Any

from ..base.errors import did_you_mean
from ..base.lazy import lazy
from ..ops import pyobject, structure
from ..types.classes import (
    FIXED_MODULES, OWN_MODULES, fields, is_descriptor, is_fixed, is_of_library, is_part_of_library, namespace, own,
)
from ..types.kinds import (
    Attributes, Function, FunctionObject, NoneType, Object, ObjectOf, Singleton, Super, Tuple, closed,
)
from ..types.typeof import variable_type
from .constants import constant, plain_value
from .meaning import UNKNOWN, Apply, CallValue, ClassAttribute, Const, Expr, Mismatch, NotNative
from .variables import Variables

interpreted = lazy("pyjitc.runtime.interpreted")
boxed = lazy(f"{__package__}.boxed")  # only programs that need the interpreter load it

__all__ = ["OfAttributes"]

_STREAMS = ("stdin", "stdout", "stderr")  # attributes of sys that programs replace


def _no_manager(cls: type) -> Mismatch | None:
    """The error for a `with` statement of an object of a class that is no context manager; None if it is one."""
    error = interpreted.no_manager(cls)
    return None if error is None else Mismatch(str(error), exception=type(error))


class OfAttributes(Variables):
    """The meaning of the operations on attributes: a part of `Operations`."""

    library: Any

    def getattr_(self, inst, operands):
        try:
            return self.attribute(operands[0], inst.attrs["name"])
        except Mismatch:
            cls = operands[0].type.python_class
            error = _no_manager(cls) if "managed" in inst.attrs and isinstance(cls, type) else None
            if error is not None:
                raise error from None
            raise

    def attribute(self, x: Expr, name: str):
        try:
            return self.known_attribute(x, name)
        except Mismatch as error:
            if error.exception is AttributeError:
                error.name = name
                if not self.analysis.spec.proto.library and boxed.is_boxable(x.type):
                    error.obj = x
                if not error.hint and "has no attribute" in error.message:
                    error.hint = self.library.other_attribute(x, name)
            raise

    def may_change(self, holder) -> bool:
        """Whether attributes of a module are compared before each call: programs assign them, and tests patch functions
        of Python's library and of NumPy, such as time.time. This package and its library assume that nobody does."""
        return not self.analysis.spec.proto.library and holder.__name__.partition(".")[0] not in OWN_MODULES

    def known_attribute(self, x: Expr, name: str):
        """The attribute `name` of x, with guards for what it depends on and the program may change."""
        if isinstance(x.type, Singleton):
            found = self.attribute_of_constant(x, name)
            if found is not None:
                return found
        elif isinstance(x.type, Tuple) and x.type.cls is not None and name not in fields(x.type.cls):
            self.class_attribute(x.type.cls, name)
        elif isinstance(x.type, Attributes) and name not in x.type.names:
            self.class_attribute(x.type.python_class, name)
        elif isinstance(x.type, ObjectOf):
            variable = self.class_variable(x.type.cls, name)
            if variable is not None:
                stored = self.session.attributes.get((x.type.cls, name))
                return self.read_class_variable(x, name, variable, Object if stored else variable.content)
            self.class_attribute(x.type.cls, name)
        elif isinstance(x.type, Super):
            receiver: Any = x.type.receiver
            for cls in receiver.cls.__mro__:
                if not is_fixed(cls):
                    self.session.depend(namespace(cls), name, vars(cls).get(name, UNKNOWN))
        return self.library.getattr(x, name)

    def attribute_of_constant(self, x: Expr, name: str):
        """The attribute of an object that is a constant of the compile: a module, a class, a member of an enumeration
        and their like. None where the protocol of its type gives the meaning."""
        found = self.library.known_attribute(x, name)
        if found is not None:
            return found
        holder = x.type.value
        if holder is sys and name in _STREAMS:
            return Apply(pyobject.PY_GETATTR, Const(Object, sys), name=name)
        if isinstance(holder, pytypes.ModuleType) or _has_variables(holder, name):
            return self.variable_of(holder, name)
        if isinstance(holder, type):
            return self.attribute_of_class(x, holder, name)
        return self.attribute_of_member(x, holder, name) if isinstance(holder, enum.Enum) else None

    def variable_of(self, holder, name: str):
        """The variable `name` of a module, or of an object that has variables as a module has."""
        if (id(vars(holder)), name) in self.session.outer:
            return self.variable_value(self.session.outer[id(vars(holder)), name], False)
        self.session.readers.setdefault((id(vars(holder)), name), {})[self.analysis, self.block] = None
        try:
            value = getattr(holder, name)
        except AttributeError as error:
            if self.may_change(holder):
                self.session.depend(vars(holder), name, UNKNOWN)
            # A message of another form already says what is wrong.
            hint = did_you_mean(name, dir(holder)) if "has no attribute" in str(error) else ""
            raise Mismatch(str(error), hint, AttributeError) from None
        if name in vars(holder) and self.may_change(holder) and not is_part_of_library(holder, name, value):
            self.session.depend(vars(holder), name, value)
        return self.held_constant(value)

    def attribute_of_class(self, x: Expr, holder: type, name: str):
        """The attribute `name` of a class, bound as a class binds it."""
        variable = self.class_variable(holder, name)
        if variable is not None:
            return self.read_class_variable(x, name, variable, variable.content)
        value = self.class_attribute(holder, name)
        if value is UNKNOWN:
            return self.attribute_of_metaclass(holder, name)
        if type(value) is classmethod and own(holder, name) is value:
            return Apply(structure.METHOD_MAKE, x, name=name)
        if type(value) is classmethod or type(value) is pytypes.ClassMethodDescriptorType:
            value = _bound(holder, name, value)
        if is_descriptor(value):
            given = constant(value), constant(None), x
            return CallValue(ClassAttribute(type(value), "__get__"), *given)
        if isinstance(value, (staticmethod, property)) or hasattr(type(value), "__set__"):
            value = getattr(holder, name)
        elif is_of_library(type(value).__module__) and type(
                getattr(type(value), "__get__", None)) is pytypes.FunctionType:
            raise NotNative(f"attribute '{name}' of a class, a {type(value).__name__}, is not compiled",
                            "call it on an object of the class")
        return self.held_constant(value)

    def attribute_of_metaclass(self, holder: type, name: str):
        """An attribute that a class has from its metaclass, such as its name."""
        if not hasattr(holder, name):
            raise Mismatch(f"type object '{holder.__name__}' has no attribute '{name}'", "", AttributeError)
        if (is_fixed(holder) or name in ("__name__", "__qualname__", "__module__")) and isinstance(
                getattr(holder, name), str):
            return constant(getattr(holder, name))
        if name in ("__mro__", "__bases__", "__base__"):
            return self.held_constant(getattr(holder, name))
        raise NotNative(f"attribute '{name}' of a class is not compiled",
                        "read it outside the compiled function", AttributeError)

    def attribute_of_member(self, x: Expr, holder: enum.Enum, name: str):
        """The attribute of a member of an enumeration, if the member stores it, or inherits it from the class of its
        value, which the enumeration extends; None for any other attribute."""
        if name in vars(holder) and name[0] != "_":
            self.session.depend(vars(holder), name, vars(holder)[name])
            return constant(vars(holder)[name])
        value = self.class_attribute(type(holder), name)
        plain = plain_value(x)
        if plain is not x and name[0] != "_" and value is vars(plain.type.python_class).get(name):
            return self.library.getattr(plain, name)
        return None

    def class_attribute(self, cls, name):
        """The attribute that `cls.name` finds before it is bound; where the program may change it, the value is
        guarded."""
        for base in cls.__mro__:
            value = vars(base).get(name, UNKNOWN)
            if not is_fixed(base):
                space = namespace(base)
                self.session.depend(space, name, value)
                self.session.readers.setdefault((id(space), name), {})[self.analysis, self.block] = None
            if value is not UNKNOWN:
                return value
        return UNKNOWN

    def class_variable(self, cls, name):
        """The attribute that `cls.name` finds, as a variable where the program assigns it while compiled code runs;
        else None."""
        for base in cls.__mro__ if self.session.outer else ():
            found = None if is_fixed(base) else self.session.outer.get((id(namespace(base)), name))
            if found is not None or name in vars(base):
                return found
        return None

    def read_class_variable(self, x, name, variable, content):
        variable.readers[self.analysis, self.block] = None
        found = boxed.get_attribute(x, name)
        if content is None or content is Object:
            return found
        return Apply(pyobject.PY_UNBOX, found, type=content, otherwise=(
            "TypeError", f"the attribute '{name}' of the class was of type {closed(content)} when this was compiled, "
                         f"and is something else now"))

    def set_class_attribute(self, cls, name, value):
        """Assign an attribute of a class: cls.name = value."""
        space = namespace(cls)
        # A second visit must not depend on the value, which the assignment changes.
        visited = (id(space), name) in self.session.outer
        old = vars(cls).get(name, UNKNOWN) if visited else self.class_attribute(cls, name)
        metaclass: Any = type(cls)
        if (metaclass.__setattr__ is not type.__setattr__ or name[:2] == name[-2:] == "__"
                or hasattr(type(old), "__get__") or isinstance(value.type, (Function, FunctionObject, Singleton))):
            raise NotNative(f"this assignment to '{cls.__qualname__}.{name}' is not compiled: it may change what "
                            f"objects of the class can do", "assign outside the compiled function")
        variable = self.session.outer_variable(space, name, name)
        if variable.content is None and old is not UNKNOWN:  # before the assignment a base class has the attribute
            self.session.grow(variable, variable_type({name: old}, name) or Object)
        self.session.grow(variable, value.type)
        return boxed.by_python(setattr, Const(Object, cls), Const(Object, name), value, type=NoneType)

    def setattr_(self, inst, operands):
        if isinstance(operands[0].type, ObjectOf):
            for name in (inst.attrs["name"], "__setattr__"):
                self.class_attribute(operands[0].type.cls, name)
        if operands[0].type is Object:
            self.session.store_in_any(inst.attrs["name"], operands[1].type)
        holder = operands[0].type.value if isinstance(operands[0].type, Singleton) else None
        if isinstance(holder, type) and not is_fixed(holder):
            if any([made.cls is holder for made in self.session.findings.classes.values()]):
                raise NotNative(f"an attribute of {holder.__name__}, which a function defines, is assigned",
                                "define the class outside the function")
            return self.set_class_attribute(holder, inst.attrs["name"], operands[1])
        if (isinstance(holder, pytypes.ModuleType) and holder.__name__.split(".")[0] not in FIXED_MODULES
                or _has_variables(holder, inst.attrs["name"])):
            name = inst.attrs["name"]
            return self.store_variable(self.session.outer_variable(vars(holder), name, name), operands[1])
        if isinstance(holder, pytypes.ModuleType):
            raise NotNative(f"this assignment to '{holder.__name__}.{inst.attrs['name']}' is not compiled: compiled "
                            f"code takes the attributes of this module for constants",
                            "assign outside the compiled function")
        return self.library.setattr(operands[0], inst.attrs["name"], operands[1])

    def delattr_(self, inst, operands):
        holder = operands[0].type.value if isinstance(operands[0].type, Singleton) else None
        if isinstance(holder, pytypes.ModuleType):
            raise NotNative(f"the deletion of '{holder.__name__}.{inst.attrs['name']}' is not compiled",
                            "delete it outside the compiled function")
        return self.library.delete_attribute(operands[0], inst.attrs["name"])


@functools.lru_cache(1024)
def _bound(holder, name, found):
    """The class method that the class stores as `found`, bound to `holder`. The cache returns one object for all uses,
    so that inference finds the same type each time."""
    return getattr(holder, name)


def _has_variables(holder, name: str) -> bool:
    """Whether `holder` is a function of the program, so that its attribute of this name is a variable, like an
    attribute of a module."""
    return type(holder) is pytypes.FunctionType and not hasattr(pytypes.FunctionType, name) and str(
        holder.__module__).split(".")[0] not in FIXED_MODULES
