"""The rules of `prange` and of functions about threads (runtime/pool.py)."""
from __future__ import annotations

import operator

from ...infer.meaning import Apply, Call, Mismatch
from ...ops.parallel import (
    GET_CHUNK_SIZE, GET_NUM_THREADS, GET_THREAD_ID, INDEPENDENT, SET_CHUNK_SIZE, SET_NUM_THREADS,
)
from ...runtime import pool
from ...types import kinds as k
from . import ranges

__all__ = ["CALLS"]


def _prange(args, kwargs):
    """The rule of `prange`: a range whose end passes through an operation that marks its iterations as independent."""
    args = list(args)
    if not kwargs and 1 <= len(args) <= 3:
        end = 0 if len(args) == 1 else 1
        if isinstance(args[end].type, k.NpInt):
            return Call(to_end if end == 0 else between, *args)
        args[end] = Apply(INDEPENDENT, ranges.index(args[end]))
    return ranges.CALLS[range](args, kwargs)


def to_end(stop):
    return pool.prange(operator.index(stop))


def between(start, stop, step=1):
    return pool.prange(start, operator.index(stop), step)


def _of_threads(op, name: str, count: int):
    def rule(args, kwargs):
        if kwargs or len(args) != count:
            raise Mismatch(f"{name}() takes {count or 'no'} argument{'s' if count == 0 else ''}",
                           f"write {name}(n)" if count else f"write {name}()")
        return Apply(op, *map(ranges.index, args))

    return rule


class Chunksize:
    """The context manager of `with parallel_chunksize(n)` in compiled code. n: the size to set; before: the size to
    restore."""

    def __init__(self, n, before):
        self.n, self.before = n, before

    def __enter__(self):
        pool.set_parallel_chunksize(self.n)
        return self

    def __exit__(self, kind, error, trace):
        pool.set_parallel_chunksize(self.before)


class _ChunksizeType(k.Attributes):
    __slots__ = fields = ("n", "before")
    python_class = Chunksize


def chunksize(n):
    return Chunksize(n, pool.get_parallel_chunksize())


def _parallel_chunksize(args, kwargs):
    if kwargs or len(args) != 1:
        raise Mismatch("parallel_chunksize() takes 1 argument", "write parallel_chunksize(n)")
    return Call(chunksize, *args)


CALLS = {
    pool.prange: _prange, pool.parallel_chunksize: _parallel_chunksize,
    pool.get_thread_id: _of_threads(GET_THREAD_ID, "get_thread_id", 0),
    pool.get_num_threads: _of_threads(GET_NUM_THREADS, "get_num_threads", 0),
    pool.set_num_threads: _of_threads(SET_NUM_THREADS, "set_num_threads", 1),
    pool.get_parallel_chunksize: _of_threads(GET_CHUNK_SIZE, "get_parallel_chunksize", 0),
    pool.set_parallel_chunksize: _of_threads(SET_CHUNK_SIZE, "set_parallel_chunksize", 1),
}
