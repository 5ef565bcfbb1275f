"""Operations for parallel loops and their threads, besides the calls that run them (`invoke {chunks}`,
ops/control.py)."""
from __future__ import annotations

from ..ir.core import CHEAP, PURE, RAISES, SLOTS, Op, reads, writes
from ..types.kinds import Int, NoneType
from .effects import NONDIFF

__all__ = ["GET_CHUNK_SIZE", "GET_NUM_THREADS", "GET_THREAD_ID", "INDEPENDENT", "PARALLEL_OPS", "SET_CHUNK_SIZE",
           "SET_NUM_THREADS", "SYMBOLS"]

# Queries about the pool of threads, which code without parallel loops may make as well.
SYMBOLS = tuple(f"pyjitc_{name}" for name in ("thread_id", "num_threads", "set_num_threads", "chunk_size",
                                              "set_chunk_size"))


def _ask(name: str):
    def lower(e, inst):
        return [e.assign(f"call i64 @pyjitc_{name}()")]

    return lower


def _set_lower(e, inst, n):
    most = e.assign(f"call i64 @pyjitc_set_num_threads(i64 {n[0]})")
    e.raise_unless(e.assign(f"icmp eq i64 {most}, 0"), inst, "ValueError",
                   "The number of threads must be between 1 and %lld", f"i64 {most}")
    return []


def _set_size_lower(e, inst, n):
    before = e.assign(f"call i64 @pyjitc_set_chunk_size(i64 {n[0]})")
    e.raise_unless(e.assign(f"icmp sge i64 {before}, 0"), inst, "ValueError",
                   "chunksize must be greater than or equal to zero")
    return [before]


INDEPENDENT = Op("independent", lambda types, attrs: Int, PURE, lower=lambda e, inst, x: [x[0]], partials=NONDIFF,
                 doc="the number, as the end of a loop whose iterations do not depend on each other: passes/"
                     "independent.py finds the loop, and leaves the number; {parts}: of a whole-array statement, which "
                     "one iteration does a part of", cost=CHEAP)
GET_THREAD_ID = Op("get_thread_id", lambda types, attrs: Int, reads(SLOTS), lower=_ask("thread_id"), partials=NONDIFF,
                   doc="the number of the thread that runs this (runtime/pool.py)", bounds=(0, 4096))
GET_NUM_THREADS = Op("get_num_threads", lambda types, attrs: Int, reads(SLOTS), lower=_ask("num_threads"),
                     partials=NONDIFF, doc="how many threads a region may use", bounds=(1, 4096))
SET_NUM_THREADS = Op("set_num_threads", lambda types, attrs: NoneType, RAISES | writes(SLOTS), lower=_set_lower,
                     partials=NONDIFF, doc="let regions that this thread starts use n threads; ValueError")
GET_CHUNK_SIZE = Op("get_chunk_size", lambda types, attrs: Int, reads(SLOTS), lower=_ask("chunk_size"),
                    partials=NONDIFF, doc="how many iterations are a chunk of a loop over prange, 0: as many as the "
                                          "compiler chooses", bounds=(0, (1 << 63) - 1))
SET_CHUNK_SIZE = Op("set_chunk_size", lambda types, attrs: Int, RAISES | writes(SLOTS), lower=_set_size_lower,
                    partials=NONDIFF, doc="let a chunk of loops that this thread starts be n iterations; what it was; "
                                          "ValueError")

PARALLEL_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
