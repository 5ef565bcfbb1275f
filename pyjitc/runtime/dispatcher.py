"""The native callable: a Python object whose calls go straight to machine code.

A dispatcher has a *vectorcall word*, the address CPython jumps to when the object is called. It points to a chain of
stubs, one per compiled signature, newest first:

    ptr stub(ptr self, ptr args, i64 nargsf, ptr kwnames)

A stub checks the arguments and either runs its function or tail-calls the next stub, whose address is in a data word of
its image. The last one is the slow path, which calls `prepare` in Python.

The type is made with ctypes alone: a Python base class gives slots, methods and `__dict__`; a leaf made by
PyType_FromSpecWithBases adds the vectorcall word and binding as a method.

Fields of `self` that a stub may read, at fixed offsets (set by `describe`):
    DEFAULTS (24): the function's `__defaults__`, a tuple (never null): parameter i of n that was not given is
        item i - (n - size), where that is not negative;
    CLOSURE (16): the function's `__closure__`, a tuple of cells (never null).
So one stub serves every function object that has the same code.
"""
from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_ssize_t, c_uint, c_void_p, py_object
from types import FunctionType
from typing import Any

from . import thunks
from .platform import member_offset

__all__ = ["CLOSURE", "DEFAULTS", "RETRY", "Anew", "Callable_", "Slot", "TypeSpec", "leaf", "describe", "update",
           "slow_path", "entry", "set_entry"]

CLOSURE = 16
DEFAULTS = 24


class _Retry:
    """The result by which `prepare` requests that the native call is repeated."""

    __slots__ = ()

    def __repr__(self):
        return "<retry the call>"


RETRY = _Retry()


class Anew(BaseException):
    """Raised where compiled code has met an object of a class for which it was not compiled, before it changed
    anything: its stub then passes the call to the next one. It never leaves compiled code."""


class Callable_:
    """The fields of a dispatcher that stubs read: they are first in memory, at fixed offsets."""

    __slots__ = ("_closure", "_defaults")  # their order in memory is alphabetical
    py_func: Any  # defined by subclasses

    def converting(self) -> list:
        """The declared signatures by which calls from compiled code convert arguments and results."""
        return []

    def conversions(self, operands) -> tuple:
        """The arguments of a call from compiled code, converted for a signature of `converting`; and a function that
        converts the result, or None."""
        return operands, None


class ByCount:
    """A callable that has a separate compiled function for each number of arguments."""

    def for_count(self, count: int):
        """The function for so many positional arguments."""
        raise NotImplementedError

    def around(self):
        """A Python function with `*args` that calls this one."""
        raise NotImplementedError


# Stubs trust these two fields, so other code cannot set them.
_closure, _defaults = Callable_._closure, Callable_._defaults
del Callable_._closure, Callable_._defaults


class Slot(Structure):
    _fields_ = [("slot", c_int), ("value", c_void_p)]


class TypeSpec(Structure):
    _fields_ = [("name", c_char_p), ("basicsize", c_int), ("itemsize", c_int), ("flags", c_uint),
                ("slots", POINTER(Slot))]


class _Member(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("offset", c_ssize_t), ("flags", c_int), ("doc", c_char_p)]


_TP_DESCR_GET, _TP_MEMBERS = 54, 72
_T_PYSSIZET, _READONLY = 19, 1
_HAVE_VECTORCALL, _METHOD_DESCRIPTOR, _DEFAULT = 1 << 11, 1 << 17, 1 << 18
_keep: list = []  # objects to which types and thunks refer


def leaf(base: type, prepare, name: str) -> type:
    """The callable type over `base` (a subclass of Callable_). A call that no stub accepts runs
    `prepare(self, *args, **kwargs)`: its result is the call's, unless it is RETRY.

    `name`: dotted name of the type. Do not give the leaf a `__call__` of its own, nor assign `base.__call__` later: the
    first would recurse, the second clears the vectorcall flag.
    """
    offset = base.__basicsize__
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _T_PYSSIZET, offset, _READONLY, None), _Member())
    get_slot = ctypes.pythonapi.PyType_GetSlot
    get_slot.restype, get_slot.argtypes = c_void_p, [py_object, c_int]
    # Binding as a method is what plain functions do; their slot works for any callable.
    slots = (Slot * 3)(Slot(_TP_MEMBERS, ctypes.cast(members, c_void_p)),
                        Slot(_TP_DESCR_GET, get_slot(FunctionType, _TP_DESCR_GET)), Slot())
    spec = TypeSpec(name.encode(), offset + 8, 0, _DEFAULT | _HAVE_VECTORCALL | _METHOD_DESCRIPTOR, slots)
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = py_object, [POINTER(TypeSpec), py_object]
    cls = make(ctypes.byref(spec), (base,))
    if (member_offset(_closure), member_offset(_defaults)) != (CLOSURE, DEFAULTS):
        raise RuntimeError("unexpected layout of slots")
    slow = thunks.slow_path(prepare, RETRY, offset)
    _keep.append((members, slots, spec, prepare))
    _words[cls] = (offset, slow)
    return cls


_words: dict[type, tuple[int, int]] = {}  # leaf type -> (offset of its vectorcall word, address of its slow path)


def describe(self: Callable_, function) -> None:
    """Make `self` represent `function`, without stubs: every call takes the slow path."""
    _closure.__set__(self, function.__closure__ or ())
    update(self, function)
    set_entry(self, slow_path(type(self)))


def update(self: Callable_, function) -> bool:
    """Copy the function's defaults, which a program may assign; returns whether they have changed."""
    defaults = function.__defaults__ or ()
    try:
        if _defaults.__get__(self) is defaults:
            return False
    except AttributeError:  # not set yet
        pass
    _defaults.__set__(self, defaults)
    return True


def slow_path(cls: type) -> int:
    return _words[cls][1]


def entry(self: Callable_) -> int:
    """The vectorcall word: address of the first stub, or of the slow path."""
    return c_void_p.from_address(id(self) + _words[type(self)][0]).value or 0


def set_entry(self: Callable_, address: int) -> None:
    """Send calls to `address`. The caller must keep the code alive as long as `self` may jump there."""
    c_void_p.from_address(id(self) + _words[type(self)][0]).value = address
