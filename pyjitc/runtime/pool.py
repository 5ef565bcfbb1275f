"""The threads that parallel regions of compiled code and kernels on the CPU share: their state and their number.

The code of the pool is native (codegen/pool.py) and starts the threads when a region first wants them. Its state is
memory that this module owns, so that all code in the process shares it: the words of `STATE`, then `SLOTS` records of
running regions, with the fields `SLOT`. The record of a thread (`RECORD`) is thread-specific data of the C library: its
number, the region in which it works, and the number of threads that the regions which it starts may use.
A child of fork() has none of the threads: its pool is empty at first.
"""
from __future__ import annotations

import atexit
import os

from ..base.lazy import lazy
from ..base.options import environment

ctypes = lazy("ctypes")

__all__ = ["CHUNKS", "RECORD", "RECORD_BYTES", "SLOT", "SLOTS", "SLOTS_AT", "SLOT_BYTES", "STACK", "STATE", "address",
           "get_num_threads", "get_parallel_chunksize", "get_thread_id", "most_threads", "parallel_chunksize", "prange",
           "set_num_threads", "set_parallel_chunksize"]

# Offsets in bytes. epoch: counts the regions that were opened, workers sleep on it; sleepers: number of sleeping
# workers; workers: number of started workers; starting: whether a thread is about to start workers; most: the largest
# number of threads, callers included; resting: number of workers without work; key: key of the C library for RECORD;
# closed: whether the interpreter is ending, so that regions run on their caller only; interpreter: the address of
# Python's state; spare: a RECORD where there is no memory for one; last: when the last region ended, in ticks of the
# processor, away from the words that waiting workers read; gap: the ticks from the end of a region to the start of the
# last one.
STATE = {"epoch": 0, "sleepers": 4, "workers": 8, "starting": 12, "most": 16, "resting": 20, "key": 24,
         "closed": 28, "interpreter": 32, "spare": 64, "last": 112, "gap": 120}
# state: 0 free, 1 taken, 2 open to workers; refs: workers inside; function: i32 (ptr frame, i64 chunk); chunks: number
# of chunks; limit: threads with a lower number may help; waits: whether the caller sleeps until refs is 0; error: the
# exception of the first failed chunk, with its number; parent: the region around it, in which the caller works on
# parent_chunk; failed: the first failed chunk, -1 if all must stop; stop: null, or a word that is set to a large number
# if all must stop; taken: for each share of the chunks, on a cache line of its own, how many of it are taken; shares:
# number of shares.
SLOT = {"state": 0, "refs": 4, "function": 8, "frame": 16, "chunks": 24, "limit": 32, "waits": 36, "error": 40,
        "error_chunk": 48, "parent": 56, "parent_chunk": 64, "stop": 72, "taken": 80, "shares": 88, "failed": 128}
# number: 0 for a thread of the program, 1 and up for workers; region: the innermost region in which it works, and its
# chunk; limit: the largest number of threads in regions that it starts; size: the iterations of a chunk in these, 0
# where the compiler chooses.
RECORD = {"number": 0, "region": 8, "chunk": 16, "limit": 24, "size": 32}
RECORD_BYTES = 48
SLOTS, SLOT_BYTES, SLOTS_AT = 32, 256, 128
STACK = 64 << 20  # bytes of a worker's stack; only pages that are used take memory
CHUNKS = 256  # the maximum number of chunks of a parallel loop, which must not depend on the number of threads

_found: list = []  # the memory, once it was allocated


def prange(*arguments: int) -> range:
    """`range` whose iterations do not depend on each other, so that compiled code under `njit(parallel=True)` may
    divide them among threads. The interpreter and other compiled code run them in order. The arguments, and the errors,
    are those of `range`."""
    return range(*arguments)


def most_threads() -> int:
    """The largest number of threads: PYJITC_NUM_THREADS, or the number of processors that this process may use."""
    asked = environment("PYJITC_NUM_THREADS")
    if asked:
        if not asked.isdecimal() or not 0 < int(asked) <= 4096:
            raise ValueError(f"PYJITC_NUM_THREADS={asked!r}: must be a number of threads from 1 to 4096")
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def address() -> int:
    """Address of the pool's state."""
    if not _found:
        size = SLOTS_AT + SLOTS * SLOT_BYTES
        memory = ctypes.create_string_buffer(size + 128)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))  # its threads use it until the process ends
        start = (ctypes.addressof(memory) + 127) // 128 * 128
        libc = ctypes.CDLL(None)
        key = ctypes.c_uint32()
        if libc.pthread_key_create(ctypes.byref(key), ctypes.cast(libc.free, ctypes.c_void_p)):
            raise MemoryError("the system gives no more keys for data of threads")
        ctypes.pythonapi.PyInterpreterState_Get.restype = ctypes.c_void_p
        _put(start + STATE["interpreter"], ctypes.c_uint64, ctypes.pythonapi.PyInterpreterState_Get())
        _put(start + STATE["key"], ctypes.c_uint32, key.value)
        _begin(start)
        _found[:] = (memory, start, libc, key.value)
        os.register_at_fork(after_in_child=_empty)
        atexit.register(_close)
    return _found[1]


def _put(at: int, kind, value: int) -> None:
    kind.from_address(at).value = value


def _begin(start: int) -> None:
    most = most_threads()
    _put(start + STATE["most"], ctypes.c_uint32, most)
    _put(start + STATE["spare"] + RECORD["limit"], ctypes.c_uint64, most)


def _close() -> None:
    """Let regions run on their caller only while the interpreter ends: a worker would wait for ever (gates.py)."""
    _put(_found[1] + STATE["closed"], ctypes.c_uint32, 1)


def _empty() -> None:
    """Reset the pool in a child process, which has none of the parent's threads."""
    start = _found[1]
    for name in ("epoch", "sleepers", "workers", "starting", "resting"):
        _put(start + STATE[name], ctypes.c_uint32, 0)
    ctypes.memset(start + SLOTS_AT, 0, SLOTS * SLOT_BYTES)


def _record():
    """The address of this thread's record, which is made if there is none."""
    start = address()
    libc, key = _found[2:]
    libc.pthread_getspecific.restype = libc.calloc.restype = ctypes.c_void_p
    found = libc.pthread_getspecific(key)
    if not found:
        found = libc.calloc(1, RECORD_BYTES)
        if not found:
            raise MemoryError
        _put(found + RECORD["limit"], ctypes.c_uint64, ctypes.c_uint32.from_address(start + STATE["most"]).value)
        libc.pthread_setspecific(key, ctypes.c_void_p(found))
    return found


def set_num_threads(n: int) -> None:
    """Let parallel regions that this thread starts use at most `n` threads, including this one. Raises ValueError if
    `n` is less than 1 or more than the largest number of threads (PYJITC_NUM_THREADS, or else the number of
    processors)."""
    if type(n) is bool or not hasattr(n, "__index__"):
        raise TypeError(f"The number of threads specified must be an integer, not {type(n).__name__}")
    most = ctypes.c_uint32.from_address(address() + STATE["most"]).value
    if not 1 <= n.__index__() <= most:
        raise ValueError(f"The number of threads must be between 1 and {most}")
    _put(_record() + RECORD["limit"], ctypes.c_uint64, n.__index__())


def get_num_threads() -> int:
    """The number of threads, an int, that the parallel regions which this thread starts may use."""
    return ctypes.c_uint64.from_address(_record() + RECORD["limit"]).value


def get_thread_id() -> int:
    """The number of the thread that runs this code, an int from 0 to get_num_threads() - 1: no two threads that work on
    one region have the same number. 0 outside of regions."""
    return ctypes.c_uint64.from_address(_record() + RECORD["number"]).value


def set_parallel_chunksize(n: int) -> int:
    """Let a chunk of the loops over `prange` that this thread starts have `n` iterations, an int; with 0, the default,
    the number depends on the cost of an iteration. A thread that has finished a chunk takes the next free one. Returns
    the number before. Raises ValueError for a negative `n`."""
    if type(n) is bool or not hasattr(n, "__index__"):
        raise TypeError(f"The parallel chunksize must be an integer, not {type(n).__name__}")
    if not 0 <= n.__index__() < 1 << 63:
        raise ValueError("chunksize must be greater than or equal to zero")
    before = get_parallel_chunksize()
    _put(_record() + RECORD["size"], ctypes.c_uint64, n.__index__())
    return before


def get_parallel_chunksize() -> int:
    """The number that `set_parallel_chunksize` has set in this thread, an int."""
    return ctypes.c_uint64.from_address(_record() + RECORD["size"]).value


class parallel_chunksize:
    """Context manager that sets the chunk size: `with parallel_chunksize(n):`, see `set_parallel_chunksize`."""

    def __init__(self, n: int):
        self.n = n

    def __enter__(self):
        self.before = set_parallel_chunksize(self.n)
        return self

    def __exit__(self, *error):
        set_parallel_chunksize(self.before)
