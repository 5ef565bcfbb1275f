"""The threads that parallel regions of compiled code and kernels on the CPU share: their state, and how many they are.

The code of the pool is native (codegen/pool.py) and starts the threads when a region first wants them. Its state is
memory that this module owns, so that it is one for the process, whatever code uses it: the words of `STATE`, then
`SLOTS` records of regions that run, of which `SLOT` says the fields. What a thread knows (`RECORD`) hangs on a key of
the C library: its number, the region in which it works, and how many threads the regions that it starts may use.
A child of fork() has none of the threads: it begins with an empty pool.
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

# Offsets in bytes. epoch: counts regions that were opened, workers sleep on it; sleepers: how many do; workers: how
# many were started; starting: whether a thread is about to start them; most: how many threads there may be, callers
# among them; resting: how many workers have no work; key: of the C library, for RECORD; closed: whether the
# interpreter ends, so that regions run on their caller alone; interpreter: the address of Python's state; spare: a
# RECORD where there is no memory for one.
STATE = {"epoch": 0, "sleepers": 4, "workers": 8, "starting": 12, "most": 16, "resting": 20, "key": 24,
         "closed": 28, "interpreter": 32, "spare": 64}
# state: 0 free, 1 taken, 2 open to workers; refs: workers inside; function: i32 (ptr frame, i64 chunk); chunks: how
# many; limit: threads with a lower number may help; waits: whether the caller sleeps until refs is 0; error: the
# exception of the first chunk that failed, with its number; parent: the region around it, in which the caller works
# on parent_chunk; failed: the first chunk that failed, -1 where all are to stop; stop: null, or a word that gets a
# large number when all are to stop; taken: for each share of the chunks, on a cache line of its own, how many of it
# are taken; shares: how many there are.
SLOT = {"state": 0, "refs": 4, "function": 8, "frame": 16, "chunks": 24, "limit": 32, "waits": 36, "error": 40,
        "error_chunk": 48, "parent": 56, "parent_chunk": 64, "stop": 72, "taken": 80, "shares": 88, "failed": 128}
# number: 0 of a thread of the program, 1 and up of workers; region: the innermost in which it works, and the chunk
# of it; limit: how many threads the regions that it starts may use; size: how many iterations are a chunk of these, 0
# where the compiler chooses.
RECORD = {"number": 0, "region": 8, "chunk": 16, "limit": 24, "size": 32}
RECORD_BYTES = 48
SLOTS, SLOT_BYTES, SLOTS_AT = 32, 256, 128
STACK = 64 << 20  # bytes of a worker's stack; only pages that are touched take memory
CHUNKS = 256  # most parts of a parallel loop: their number must not depend on how many threads there are

_found: list = []  # the memory, once there is one


def prange(*arguments: int) -> range:
    """`range` whose iterations do not depend on each other, so that compiled code under `njit(parallel=True)` may
    share them among threads. The interpreter, and other compiled code, run them in order."""
    return range(*arguments)


def most_threads() -> int:
    """How many threads there may be: PYJITC_NUM_THREADS, or the processors that this process may use."""
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
    """While the interpreter ends, regions run on their caller alone: a worker would wait for ever (gates.py)."""
    _put(_found[1] + STATE["closed"], ctypes.c_uint32, 1)


def _empty() -> None:
    """The pool of a child: the parent's threads are not there."""
    start = _found[1]
    for name in ("epoch", "sleepers", "workers", "starting", "resting"):
        _put(start + STATE[name], ctypes.c_uint32, 0)
    ctypes.memset(start + SLOTS_AT, 0, SLOTS * SLOT_BYTES)


def _record():
    """Address of what this thread knows; made where there is none."""
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
    """Let parallel regions that this thread starts use at most `n` threads, this one among them. ValueError for less
    than 1 and for more than there may be (PYJITC_NUM_THREADS, else the number of processors)."""
    if type(n) is bool or not hasattr(n, "__index__"):
        raise TypeError(f"the number of threads must be an int, not {type(n).__name__}")
    most = ctypes.c_uint32.from_address(address() + STATE["most"]).value
    if not 1 <= n.__index__() <= most:
        raise ValueError(f"The number of threads must be between 1 and {most}")
    _put(_record() + RECORD["limit"], ctypes.c_uint64, n.__index__())


def get_num_threads() -> int:
    """How many threads the parallel regions that this thread starts may use."""
    return ctypes.c_uint64.from_address(_record() + RECORD["limit"]).value


def get_thread_id() -> int:
    """The number of the thread that runs this code, from 0 to get_num_threads() - 1: no two threads that work on one
    region have the same. 0 outside of regions."""
    return ctypes.c_uint64.from_address(_record() + RECORD["number"]).value


def set_parallel_chunksize(n: int) -> int:
    """Let a chunk of the loops over `prange` that this thread starts be `n` iterations; with 0, as in the beginning,
    how many depends on what an iteration costs. A thread that is done takes the next chunk that nobody has taken.
    Returns the number before."""
    if type(n) is bool or not hasattr(n, "__index__"):
        raise TypeError(f"The parallel chunksize must be an integer, not {type(n).__name__}")
    if not 0 <= n.__index__() < 1 << 63:
        raise ValueError("chunksize must be greater than or equal to zero")
    before = get_parallel_chunksize()
    _put(_record() + RECORD["size"], ctypes.c_uint64, n.__index__())
    return before


def get_parallel_chunksize() -> int:
    """What `set_parallel_chunksize` has set in this thread."""
    return ctypes.c_uint64.from_address(_record() + RECORD["size"]).value


class parallel_chunksize:
    """`with parallel_chunksize(n):` sets it for the block."""

    def __init__(self, n: int):
        self.n = n

    def __enter__(self):
        self.before = set_parallel_chunksize(self.n)
        return self

    def __exit__(self, *error):
        set_parallel_chunksize(self.before)
