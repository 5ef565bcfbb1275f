"""The locks of compilation and of late imports, for which a fork waits.

The child of a fork has the memory of all threads, but only the thread that forked. A lock that another thread held is
never released there, and data that another thread was changing stays inconsistent: a library function that is half
simplified, LLVM's tables, a module that is being imported. So a fork waits until no thread compiles or imports.

Locks are taken in the order of this module: a compile holds COMPILE, takes LLVM, and imports.
"""
import os
from _thread import RLock, allocate_lock, get_ident
from time import monotonic, sleep

__all__ = ["COMPILE", "LLVM", "Importing"]

COMPILE = RLock()  # one compile at a time in a process; a finaliser that compiles may run inside
LLVM = RLock()  # the optimiser and the code generator are not thread-safe
_entering = allocate_lock()  # held by a fork: no import can start
_importing: dict[int, int] = {}  # thread -> number of imports that it is in
_LOCKS = COMPILE, LLVM, _entering
_LONGEST = 60.0  # the limit of a fork's wait in seconds: the other thread may wait for a lock of the forking one
_held: list = []  # the locks that the fork holds


class Importing:
    """`with Importing():` around a late import. Imports do not wait for each other: modules have locks of their own."""

    __slots__ = ("thread",)

    def __enter__(self):
        self.thread = thread = get_ident()
        if thread in _importing:
            _importing[thread] += 1
            return
        with _entering:
            _importing[thread] = 1

    def __exit__(self, *exception):
        if _importing[self.thread] == 1:
            del _importing[self.thread]
        else:
            _importing[self.thread] -= 1


def _before() -> None:
    end = monotonic() + _LONGEST
    for lock in _LOCKS:
        if lock.acquire(timeout=max(end - monotonic(), 0.0)):
            _held.append(lock)
    here = get_ident()
    while any(thread != here for thread in list(_importing)) and monotonic() < end:
        sleep(0.0005)


def _in_parent() -> None:
    while _held:
        _held.pop().release()


def _in_child() -> None:
    for lock in _LOCKS:
        if lock not in _held:
            lock._at_fork_reinit()
    for thread in [thread for thread in _importing if thread != get_ident()]:
        del _importing[thread]
    _in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
