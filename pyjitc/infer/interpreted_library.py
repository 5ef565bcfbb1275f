"""Inference under `njit` of a program that uses parts of Python's own library which have no native form: the
interpreter runs these parts and nothing else.

`Evaluator` refuses such a program. Inference then begins again with `InterpretedLibrary`, which compiles the following
to calls of the interpreter's C API:

- calls of functions and classes of Python's library (`re.match`, `Decimal`, `datetime.now`, `ChainMap`), of functions
  of the program that its decorators have wrapped (`contextlib.contextmanager`, `functools.singledispatch`), and
  attributes of its modules and of its objects that are known when the function is compiled;
- attributes that an object of the library in a class of the program finds (`functools.singledispatchmethod`);
- every operation on a value that such a call returned, which is a Python object for compiled code, and next() of an
  iterator that a global or captured variable has;
- generators that take values or exceptions, and objects of classes that have their own `__new__` or `__getattr__`, or
  are subclasses of built-in classes such as list: the interpreter makes these and calls their methods.

These operations take as long as in CPython: the code that they run is in C, or in Python outside of the program.
Everything else is refused as before, so that the program's own computations are native code.
"""
from __future__ import annotations

import builtins
from collections import deque
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from ..ops import generic
from ..types.classes import is_fixed, is_of_library, own
from ..types.kinds import Generator, Iterator, Method, Object, ObjectOf, Singleton, all_parts, any_part, members_of
from .evaluate import Evaluator, UserCall
from .forgiving import INSTALLED, Forgiving, is_iterator
from .join import AV
from .meaning import Mismatch, NotNative, RecursiveGenerator, Restart
from .names import is_of_python

__all__ = ["InterpretedLibrary"]

_MAP, _FILTER, _ITER = Singleton(map), Singleton(filter), Singleton(iter)
_BY_NAME = Singleton(getattr), Singleton(hasattr)
# they store the items of an iterator, which may be iterators, too, as those of groupby()
_COLLECTING = frozenset(map(Singleton, (list, tuple, deque, sorted)))
_BUILT_IN = (list, dict, set, tuple, str, bytes, int, float)  # the interpreter runs the methods of their subclasses


class InterpretedLibrary(Forgiving):
    def instead(self, inst, operands, error):
        findings = self.session.findings
        if not findings.generators and any([any_part(x.type, _is_generator) for x in operands]):
            findings.generators = True
            raise Restart
        found = self.stored_as_objects(inst, operands)
        if found is not None:
            return found
        if not any([_is_object(x.type) for x in operands]) and not (
                type(error) is RecursiveGenerator or self.concerns_library(inst, operands)
                and (isinstance(error, NotNative) or _is_written_in_python(operands[0].type))):
            raise error
        return super().instead(inst, operands, error)

    def handled(self, inst, operands):
        if inst.op is generic.CALL and self.applies_library(operands):
            return Forgiving.instead(self, inst, operands, NotNative("a function of the library has no native form"))
        return super().handled(inst, operands)

    def applies_library(self, operands) -> bool:
        """Whether a call is one of map() or filter() with a function or class of the library that the interpreter runs,
        or with iter(), whose results are objects that containers keep."""
        function = operands[1].type if operands[0].type in (_MAP, _FILTER) and len(operands) > 1 else None
        return function is _ITER or self.is_left(function)

    def is_left(self, t) -> bool:
        """Whether a callable of type t is one of the library that has no native form."""
        return isinstance(t, Singleton) and _asked(t.value) and self.library.rule_for(t.value) is None

    def waits(self, inst, operands, error) -> bool:
        return False

    def concerns_library(self, inst, operands) -> bool:
        """Whether the operation of `inst` on these operands is one that the interpreter does: see the list at the
        beginning of this module."""
        first = operands[0].type if operands else None
        if inst.op in (generic.CALL, generic.CALL_STAR):
            by_name = first in _BY_NAME and len(operands) > 1 and _finds_attributes(operands[1].type)
            if isinstance(first, Method) and isinstance(first.receiver, ObjectOf):
                return _asked(own(first.receiver.cls, first.name)) or self.is_generator(first)
            return isinstance(first, Singleton) and _asked(first.value) or self.is_generator(first) or by_name or (
                not isinstance(first, Method) and any([
                    _is_known(x.type) or self.is_left(x.type) or first in _COLLECTING and is_iterator(x.type)
                    for x in operands[1:]]))
        if inst.op is generic.GETATTR and isinstance(first, Iterator):
            return True
        if inst.op is generic.GETATTR and isinstance(first, ObjectOf):
            name = inst.attrs["name"]
            return name == "__dict__" or _finds_attributes(first) or _is_of_library(own(first.cls, name))
        if inst.op is generic.GETATTR and isinstance(first, Singleton):
            if not hasattr(first.value, inst.attrs["name"]):
                return False  # it is misspelt
            if isinstance(first.value, ModuleType):
                return is_of_library(first.value.__name__)
            if isinstance(first.value, type):
                return _is_of_library(own(first.value, inst.attrs["name"]))
        return any([_is_known(x.type) for x in operands])

    def is_generator(self, t) -> bool:
        function = (self.session.function_of(t.value) if isinstance(t, Singleton) else
                    t.function if isinstance(t, Method) else None)
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


def _finds_attributes(t) -> bool:
    """Whether t is the type of objects whose class has code of its own that finds attributes."""
    return isinstance(t, ObjectOf) and any([
        "__getattr__" in vars(cls) or "__getattribute__" in vars(cls) for cls in t.cls.__mro__[:-1]])


def _is_generator(t) -> bool:
    return isinstance(t, Generator) and not t.step.library or isinstance(t, Iterator) and any_part(
        t.state, _is_generator)


def _asked(target) -> bool:
    """Whether the interpreter does a call of `target`."""
    if getattr(builtins, getattr(target, "__name__", ""), None) is target:  # `__module__` of `open` is "io"
        return target is vars
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
    """Whether a callable of type t is a Python function: then an error may come from the function's own code."""
    return isinstance(t, Singleton) and isinstance(t.value, FunctionType)


def _has_own_new(cls) -> bool:
    """Whether a class of the program, which is no exception, makes its objects itself."""
    found = next((one for one in cls.__mro__ if "__new__" in vars(one)), object)
    return type(vars(found)["__new__"]) is staticmethod and not is_fixed(found) and not issubclass(cls, BaseException)


def _is_of_library(value) -> bool:
    """Whether an object that is known when a function is compiled is of a class of Python's library."""
    return is_of_library(type(value).__module__) and not isinstance(
        value, (type, ModuleType, FunctionType, BuiltinFunctionType))


def _is_known(t) -> bool:
    """Whether a type is that of an object of the library, or of an iterator of the interpreter's own classes, that the
    program has as a global or captured value."""
    return isinstance(t, Singleton) and (
        _is_of_library(t.value) or type(t.value).__module__ == "builtins" and hasattr(type(t.value), "__next__"))
