"""Inference under `njit` of a program that uses what Python's own library has, and no native form: the interpreter
runs that, and nothing else.

`Evaluator` refuses such a program. Inference then begins again with `InterpretedLibrary`, which does by the
interpreter's C API

- calls of functions and classes of Python's library (`re.match`, `Decimal`, `datetime.now`, `ChainMap`), of functions
  of the program that its decorators have wrapped (`contextlib.contextmanager`, `functools.singledispatch`), and
  attributes of its modules and of its objects that are known when the function is compiled;
- every operation on a value that came from there, which is a Python object for compiled code;
- generators that take values or exceptions, and objects of classes that have their own `__new__` or `__getattr__`, or
  are subclasses of built-in ones such as list: it is the interpreter's machinery that makes and calls those.

That is what CPython would do there, at its price: such code is in C, or in Python that is not the program's. Everything
else is refused as before, so that what the program itself computes is native code.
"""
from __future__ import annotations

import builtins
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from ..base.lazy import lazy
from ..ops import generic
from ..types.classes import is_fixed, is_of_library
from ..types.kinds import (
    Container, Generator, Iterator, Method, Object, ObjectOf, Singleton, all_parts, any_part, members_of,
)
from .evaluate import Evaluator, UserCall
from .forgiving import INSTALLED, Forgiving
from .join import AV
from .meaning import Mismatch, NotNative, RecursiveGenerator, Restart, Share
from .names import is_of_python

leaving = lazy(f"{__package__}.leaving")

__all__ = ["InterpretedLibrary"]

_STORES = (generic.SETATTR, generic.SETITEM, generic.LIST, generic.LIST_APPEND, generic.SET, generic.SET_ADD,
           generic.DICT, generic.DICT_SET)
_BUILT_IN = (list, dict, set, tuple, str, bytes, int, float)  # the interpreter runs the methods of their subclasses


class InterpretedLibrary(Forgiving):
    def instead(self, inst, operands, error):
        findings = self.session.findings
        if not findings.generators and any([any_part(x.type, _is_generator) for x in operands]):
            findings.generators = True
            raise Restart
        if _stores(inst, operands) and any([isinstance(x.type, (Generator, Iterator)) for x in operands]):
            try:  # what is kept is an object of the interpreter, with compiled steps
                return Evaluator.handled(self, inst, list(map(self.as_object, operands)))
            except Mismatch:
                raise error from None
        if not any([_is_object(x.type) for x in operands]) and not (
                type(error) is RecursiveGenerator or self.concerns_library(inst, operands)
                and (isinstance(error, NotNative) or _is_written_in_python(operands[0].type))):
            raise error
        return super().instead(inst, operands, error)

    def as_object(self, x):
        if isinstance(x.type, Generator):
            x = self.settle(Share(x))[0]
        return leaving.handed_out(self, x) if isinstance(x.type, Iterator) else x

    def concerns_library(self, inst, operands) -> bool:
        """Whether it is something of Python's own library that does an operation."""
        first = operands[0].type if operands else None
        if inst.op in (generic.CALL, generic.CALL_STAR):
            return isinstance(first, Singleton) and _asked(first.value) or self.is_generator(first) or (
                not isinstance(first, Method) and any([_is_known(x.type) for x in operands[1:]]))
        if inst.op is generic.GETATTR and isinstance(first, Iterator):
            return True
        if inst.op is generic.GETATTR and isinstance(first, ObjectOf):
            return any(["__getattr__" in vars(cls) or "__getattribute__" in vars(cls)
                        for cls in first.cls.__mro__[:-1]])
        if inst.op is generic.GETATTR and isinstance(first, Singleton):
            if not hasattr(first.value, inst.attrs["name"]):
                return False  # it is misspelt
            if isinstance(first.value, ModuleType):
                return is_of_library(first.value.__name__)
        return any([_is_known(x.type) for x in operands])

    def is_generator(self, t) -> bool:
        function = self.session.function_of(t.value) if isinstance(t, Singleton) else None
        proto = getattr(getattr(t, "function", t), "proto", None)
        code = function.__code__ if function is not None else proto.code if proto is not None else None
        return code is not None and bool(code.co_flags & 0x20)  # inspect.CO_GENERATOR

    def split_call(self, on, callee, args, kwargs):
        return Evaluator.split_call(self, on, callee, args, kwargs)

    def settle(self, meaning):
        if type(meaning) is UserCall and not is_of_python(meaning.spec.proto):
            return Evaluator.settle(self, meaning)
        return super().settle(meaning)

    def constant_of(self, inst, value):
        return Evaluator.constant_of(self, inst, value)

    def met(self, x: AV, y: AV, error: Mismatch) -> AV:
        if not (_is_object(x[0]) or _is_object(y[0])):
            raise error
        return super().met(x, y, error)


def _is_object(t) -> bool:
    return any([part is Object for member in members_of(t) for part in all_parts(member)])


def _is_generator(t) -> bool:
    return isinstance(t, Generator) and not t.step.library or isinstance(t, Iterator) and any_part(
        t.state, _is_generator)


def _asked(target) -> bool:
    """Whether the interpreter is asked where this is called."""
    if getattr(builtins, getattr(target, "__name__", ""), None) is target:  # `open` is of io
        return False
    if isinstance(target, FunctionType):  # `__module__` of a wrapper is that of what it wraps
        wrapped = getattr(target, "__wrapped__", None)
        return is_of_library(target.__globals__.get("__name__")) and not (
            isinstance(wrapped, FunctionType) and any([folder in wrapped.__code__.co_filename for folder in INSTALLED]))
    owner = getattr(target, "__self__", None) if isinstance(target, (BuiltinFunctionType, MethodType)) else None
    if owner is not None and not isinstance(owner, ModuleType):  # a method
        return _asked(owner if isinstance(owner, type) else type(owner))
    if isinstance(target, type):
        return any([is_of_library(cls.__module__) for cls in target.__mro__]) or _has_own_new(target) or issubclass(
            target, _BUILT_IN) and not is_fixed(target)
    return is_of_library(getattr(target, "__module__", None) if callable(target) else None) or _is_of_library(target)


def _is_written_in_python(t) -> bool:
    """Whether it is a Python function, whose own code may be what an error is of."""
    return isinstance(t, Singleton) and isinstance(t.value, FunctionType)


def _has_own_new(cls) -> bool:
    """Whether a class of the program, which is no exception, makes its objects itself."""
    found = next((one for one in cls.__mro__ if "__new__" in vars(one)), object)
    return type(vars(found)["__new__"]) is staticmethod and not is_fixed(found) and not issubclass(cls, BaseException)


def _is_of_library(value) -> bool:
    """Whether an object that is known when a function is compiled is of a class of Python's library."""
    return is_of_library(type(value).__module__) and not isinstance(
        value, (type, ModuleType, FunctionType, BuiltinFunctionType))


def _stores(inst, operands) -> bool:
    """Whether an operation stores its operands: in an attribute, a variable of functions, or a container."""
    return inst.op in _STORES or inst.op is generic.CALL and isinstance(operands[0].type, Method) and isinstance(
        operands[0].type.receiver, Container)


def _is_known(t) -> bool:
    return isinstance(t, Singleton) and _is_of_library(t.value)
