"""Work that takes more of the stack than some threads have: LLVM's passes, and the code of a block of threads.

A program chooses how large the stacks of its threads are (`threading.stack_size`), and what is too large for one ends
the process. The first thread's grows by itself.
"""
from __future__ import annotations

import os
import sys
from _thread import _local, allocate_lock, get_ident, get_native_id

from .lazy import lazy

__all__ = ["COMPILING", "DEPTH", "with_room"]

COMPILING = 1 << 20  # bytes: inference and the passes of LLVM call themselves
# and calls of Python functions inside each other: a recursion that has come far may be what compiles another function
DEPTH = 600

ctypes, threading = lazy("ctypes"), lazy("threading")

_MARGIN = 1 << 17  # bytes, for what this thread has called so far, and for what the work calls
_LARGE = 1 << 24  # of a thread for such work alone, at least
_here = _local()
_starting = allocate_lock()  # the size is a setting of the process
_first: list[int] = []  # the first thread; in a child it is the parent's: another one that forked keeps its stack


def _first_thread() -> int:
    if not _first:
        # Linux has the number of the process for it, which spares a first call the import of `threading`.
        is_here = sys.platform == "linux" and get_native_id() == os.getpid()
        _first.append(get_ident() if is_here else threading.main_thread().ident)
    return _first[0]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: "threading" in sys.modules and _first_thread(),
                        after_in_child=_starting._at_fork_reinit)


def with_room(size: int, function, *args, calls: int = 0):
    """function(*args), which takes `size` bytes of the stack and `calls` calls of Python functions inside each other:
    in a thread of its own where this one has less."""
    large = get_ident() == _first_thread() or _stack_of_this_thread() >= size + _MARGIN
    if large and not (calls and _is_deep(calls)):
        return function(*args)
    done: list = []

    def run():
        try:
            done.append((function(*args), None))
        except BaseException as error:
            done.append((None, error))

    worker = threading.Thread(target=run, name="pyjitc-room")
    with _starting:
        usual = threading.stack_size(max(_LARGE, size + _MARGIN + 0xFFFF & ~0xFFFF))
        try:
            worker.start()
        finally:
            threading.stack_size(usual)
    worker.join()
    result, error = done.pop()
    try:
        if error is not None:
            raise error
        return result
    finally:
        del error  # which knows this frame


def _is_deep(calls: int) -> bool:
    """Whether this thread is so deep that fewer calls than these are left of the recursion limit; False where the limit
    itself is no larger."""
    left = limit = sys.getrecursionlimit()
    frame = sys._getframe()
    while frame is not None and left >= calls:
        left -= 1
        frame = frame.f_back
    return left < calls < limit


def _stack_of_this_thread() -> int:
    """In bytes; where the system does not say, as much as anybody asks for."""
    if not hasattr(_here, "size"):
        _here.size = sys.maxsize
        library = ctypes.CDLL(None) if sys.platform == "linux" else None
        ask = getattr(library, "pthread_getattr_np", None)
        if ask is not None:
            about, address, size = (ctypes.c_long * 16)(), ctypes.c_void_p(), ctypes.c_size_t()
            if ask(ctypes.c_ulong(get_ident()), about) == 0:
                if library.pthread_attr_getstack(about, ctypes.byref(address), ctypes.byref(size)) == 0:
                    _here.size = size.value
                library.pthread_attr_destroy(about)
    return _here.size
