"""Iterators and generators of compiled code that the interpreter holds: Python objects with the state of an iteration.

A `NativeIterator` refers to the state, a cell of compiled code. `next` calls native code directly: the stub of a
compiled function that takes the object as its argument. The object keeps alive what it needs: the function that makes
its steps, and with it the code; the type of its state; and the objects to which the state refers. Its layout is that of
dispatchers (dispatcher.py): slots of a Python base class, followed by a word, the address of the cell.

The garbage collector does not visit the state: a generator with a reference cycle through its state is never freed.
"""
from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, byref, c_void_p, cast, py_object

from . import hooks, thunks
from .dispatcher import Slot, TypeSpec
from .platform import member_offset

__all__ = ["CELL", "NativeIterator", "TOKEN", "make", "token_of"]


def _ended(iterator):
    raise StopIteration


class _Base:
    """An iterator of compiled code. `close` ends it; it accepts no values by `send`."""

    __slots__ = ("_drop", "_handles", "_step", "_token", "__weakref__")  # their order in memory is alphabetical

    def __iter__(self):
        return self

    def send(self, value):
        if value is not None:
            raise TypeError("a generator of compiled code takes no values: pass them as arguments, or call the "
                            "function under pyjitc.jit")
        return next(self)

    def throw(self, error, value=None, traceback=None):
        if _handles.__get__(self):
            raise TypeError("an exception cannot be thrown into this generator of compiled code, which handles "
                            "exceptions: call the function under pyjitc.jit")
        self.close()
        if isinstance(error, type):
            error = error() if value is None else value if isinstance(value, error) else error(value)
        raise error if traceback is None else error.with_traceback(traceback)

    def close(self):
        address = id(self) + CELL
        if c_void_p.from_address(address).value:
            _drop.__get__(self)(self)
            c_void_p.from_address(address).value = None
            _step.__set__(self, _ended)

    def __del__(self):
        try:
            self.close()
        except Exception:
            if not sys.is_finalizing():  # else no code can be compiled any more, and the memory goes with the process
                raise

    def __repr__(self):
        return f"<{_token.__get__(self).class_name} of pyjitc at {id(self):#x}>"


_step, _drop, _token, _handles = _Base._step, _Base._drop, _Base._token, _Base._handles
STEP, TOKEN, CELL = member_offset(_step), member_offset(_token), _Base.__basicsize__
del _Base._step, _Base._drop, _Base._token, _Base._handles
_TP_ITERNEXT, _DEFAULT = 63, 1 << 18
_slots = (Slot * 2)(Slot(_TP_ITERNEXT, thunks.next_of(STEP)), Slot())
_spec = TypeSpec(b"pyjitc.NativeIterator", CELL + 8, 0, _DEFAULT, cast(_slots, POINTER(Slot)))
_make = ctypes.pythonapi.PyType_FromSpecWithBases
_make.restype, _make.argtypes = py_object, [POINTER(TypeSpec), py_object]
NativeIterator: type = _make(byref(_spec), (_Base,))

_MOST = 64  # types of iterators whose functions are known without a compile; an object keeps its own alive
_functions: dict = {}


def make(token, options):
    """The object for an iterator of type `token`, without its state."""
    functions = _functions.get((token, options))
    if functions is None:
        if len(_functions) >= _MOST:
            del _functions[next(iter(_functions))]
        functions = _functions[token, options] = hooks.of_iterator[0](token, options)
    made = NativeIterator()
    _step.__set__(made, functions[0])
    _drop.__set__(made, functions[1])
    _token.__set__(made, token)
    _handles.__set__(made, functions[2])
    return made


def token_of(value):
    """The type of an iterator; None if it is exhausted."""
    return _token.__get__(value) if c_void_p.from_address(id(value) + CELL).value else None
