"""Wrappers, called by native code, of the functions of CPython that take the interpreter lock (`_GATED` in loader.py).

A daemon thread may run native code without the lock while the interpreter ends. CPython ends a thread that then asks
for the lock, by pthread_exit, and after the interpreter has ended PyGILState_Ensure reads freed memory. Both are fatal
here: other threads may work on arrays in the frame of a thread that is ended. So such a thread waits until the process
ends. CPython does the same from 3.14 on. In C, with a `gate` for each function:

    struct { int closed, inside; pthread_t closer; } state;

    void *gate(void *argument) {
        struct _pthread_cleanup_buffer buffer;
        state.inside += 1;                                              // atomically
        _pthread_cleanup_push(&buffer, leave, NULL);                    // where CPython ends the thread
        if (state.closed && pthread_self() != state.closer) leave(NULL);
        void *result = function(argument);
        _pthread_cleanup_pop(&buffer, 0);
        state.inside -= 1;
        return result;
    }
    void leave(void *nothing) { state.inside -= 1; for (;;) pause(); }
    void park(void *nothing) { for (;;) pause(); }                      // `pyjitc_park`: for parallel regions

    void shut(PyObject *capsule) {
        state.closer = pthread_self();
        state.closed = 1;
        for (int turns = 1000; turns && state.inside > 0; turns--) usleep(1000);
    }

`shut` is the destructor of a capsule in the interpreter's own dictionary. That is cleared when no other thread can get
the lock any more, and before the interpreter's memory is freed. A thread that is inside a gate then leaves it at once:
it is ended by CPython, and waits. So no thread can be between the test of `closed` and the function when memory is
freed.
"""
from __future__ import annotations

import ctypes
import os

from .thunks import never_freed, place, quad

__all__ = ["address"]

_GATE = """
    48b8 {inside} 55 53 4889fb 4883ec28 f08300 01 31d2 48bd {leave} 48b8 {_pthread_cleanup_push} 4889ee 4889e7 ffd0
    a1 {closed} 85c0 7422 48b8 {pthread_self} ffd0 4889c2 48a1 {closer} 4839c2 7404 31ff ffd5 48b8 {function} 4889df
    ffd0 31f6 4889e7 4889c3 48b8 {_pthread_cleanup_pop} ffd0 48b8 {inside} f08328 01 4883c428 4889d8 5b 5d c3
"""
_LEAVE = "48b8 {inside} 53 f08328 01 48bb {pause} ffd3 ffd3 ebfa"
_PARK = "53 48bb {pause} ffd3 ffd3 ebfa"
_SHUT = """
    48b8 {pthread_self} 55 53 4883ec08 ffd0 48ba {closed} 48a3 {closer} b801000000 8702 bbe8030000 48bd {usleep} eb0c
    bfe8030000 ffd5 83eb01 740d a1 {inside} 85c0 7fe7 4883c408 5b 5d c3
"""


class _State(ctypes.Structure):
    _fields_ = [("closed", ctypes.c_int32), ("inside", ctypes.c_int32), ("closer", ctypes.c_uint64)]


def address(name: str) -> int:
    """The address of the gate for a function of CPython, or of `pyjitc_park`."""
    if name == "pyjitc_park":
        return place(_PARK, **_filled)
    return place(_GATE, function=quad(_of(ctypes.pythonapi, name)), **_filled)


def _of(library, name: str) -> int:
    return ctypes.addressof(ctypes.c_char.in_dll(library, name))


def _fill(state: _State) -> dict[str, bytes]:
    filled = {word: quad(ctypes.addressof(state) + getattr(_State, word).offset) for word, _ in _State._fields_}
    libc = ctypes.CDLL(None)
    for name in ("_pthread_cleanup_push", "_pthread_cleanup_pop", "pthread_self", "pause", "usleep"):
        filled[name] = quad(_of(libc, name))
    filled["leave"] = quad(place(_LEAVE, **filled))
    return filled


def _shut_at_the_end(shut: int) -> None:
    python = ctypes.pythonapi
    capsule, own, current = python.PyCapsule_New, python.PyInterpreterState_GetDict, python.PyInterpreterState_Get
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    own.restype, own.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    current.restype = ctypes.c_void_p
    # ctypes would release a result of type py_object, which is borrowed here
    borrowed = ctypes.cast(own(current()), ctypes.py_object)
    borrowed.value[f"{__name__} {shut}"] = capsule(shut, None, shut)


def _nobody_inside() -> None:
    """Reset the counter in a child of fork(), which has none of the parent's other threads."""
    _state.inside = 0


_state = _State()
never_freed(_state)
_filled = _fill(_state)
_shut_at_the_end(place(_SHUT, **_filled))
os.register_at_fork(after_in_child=_nobody_inside)
