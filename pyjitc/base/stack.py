"""Work that needs a larger stack than some threads have: LLVM's passes, and the code of a block of threads.

A program chooses the size of its threads' stacks (`threading.stack_size`), and a stack overflow ends the process. The
stack of the first thread grows automatically.
"""
from __future__ import annotations

import os
import sys
from _thread import _local, allocate_lock, get_ident, get_native_id

from .lazy import lazy

__all__ = ["COMPILING", "DEPTH", "bounds_of_this_thread", "with_stack"]

COMPILING = 1 << 20  # bytes of stack: inference and the passes of LLVM are recursive
# and nested calls of Python functions: a deep recursion of the program may compile another function
DEPTH = 600

ctypes, threading = lazy("ctypes"), lazy("threading")

_MARGIN = 1 << 17  # bytes of stack for the functions that this thread has called so far, and that the work calls
_LARGE = 1 << 24  # the minimum stack of a thread that runs only such work
_here = _local()
_starting = allocate_lock()  # the stack size is a setting of the process
# the first thread; in a child process that of the parent: another thread that forked keeps its stack
_first: list[int] = []


def _first_thread() -> int:
    if not _first:
        # On Linux its number is that of the process, which saves a first call the import of `threading`.
        is_here = sys.platform == "linux" and get_native_id() == os.getpid()
        _first.append(get_ident() if is_here else threading.main_thread().ident)
    return _first[0]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: "threading" in sys.modules and _first_thread(),
                        after_in_child=_starting._at_fork_reinit)


def with_stack(size: int, function, *args, calls: int = 0):
    """The result of function(*args), which needs `size` bytes of the stack and `calls` nested calls of Python
    functions: it runs in a new thread if this one has less."""
    large = get_ident() == _first_thread() or _stack_of_this_thread() >= size + _MARGIN
    if large and not (calls and _is_deep(calls)):
        return function(*args)
    done: list = []

    def run():
        try:
            done.append((function(*args), None))
        except BaseException as error:
            done.append((None, error))

    worker = threading.Thread(target=run, name="pyjitc-stack")
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
        del error  # it refers to this frame


def _is_deep(calls: int) -> bool:
    """Whether fewer than `calls` nested calls are left of this thread's recursion limit; False where the limit itself
    is no larger."""
    left = limit = sys.getrecursionlimit()
    frame = sys._getframe()
    while frame is not None and left >= calls:
        left -= 1
        frame = frame.f_back
    return left < calls < limit


def _stack_of_this_thread() -> int:
    """The bytes of this thread's stack; where the system does not report them, a very large number."""
    if not hasattr(_here, "size"):
        _here.size = bounds_of_this_thread()[1]
    return _here.size


def bounds_of_this_thread() -> tuple[int, int]:
    """(the lowest address, the bytes) of this thread's stack; 0 and a very large number where the system does not
    report them."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    ask = getattr(library, "pthread_getattr_np", None)
    about, address, size = (ctypes.c_long * 16)(), ctypes.c_void_p(), ctypes.c_size_t(sys.maxsize)
    if ask is not None and ask(ctypes.c_ulong(get_ident()), about) == 0:
        library.pthread_attr_getstack(about, ctypes.byref(address), ctypes.byref(size))
        library.pthread_attr_destroy(about)
    return address.value or 0, size.value
