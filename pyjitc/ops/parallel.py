"""Operations for parallel loops and their threads, besides the calls that run them (`invoke {chunks}`,
ops/control.py)."""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir.core import CHEAP, EXPENSIVE, MARK, PURE, RAISES, SLOTS, Op, reads, writes
from ..types.kinds import Bool, Int, NoneType, Tuple
from .effects import NONDIFF

__all__ = ["COMBINED", "DIVIDE", "FEW", "GET_CHUNK_SIZE", "GET_NUM_THREADS", "GET_THREAD_ID", "INDEPENDENT", "LANES",
           "PARALLEL_OPS", "SET_CHUNK_SIZE", "SET_NUM_THREADS", "SHORT", "TRIES", "WORK"]

pool = lazy("pyjitc.runtime.pool")

WORK = 1 << 14  # the minimum cost of a chunk, which is some microseconds of work
SHORT = 4 * WORK  # the maximum cost of a chunk for which no sleeping thread is woken at once
FEW = 8  # the number of chunks is a multiple of this, where iterations have the same cost
LANES = 64  # iterations of a vectorised loop that run at once, at most
TRIES = 16  # the number of chunks at least, where the cost of an iteration is not known
COMBINED = 24  # the cost of zeroing and adding an element of a chunk's copy: copies are a small part of the work


def _ask(name: str):
    def lower(e, inst):
        return [e.assign(f"call i64 @pyjitc_pool_{name}()")]

    return lower


def _set_lower(e, inst, n):
    most = e.assign(f"call i64 @pyjitc_pool_set_num_threads(i64 {n[0]})")
    e.raise_unless(e.assign(f"icmp eq i64 {most}, 0"), inst, "ValueError",
                   "The number of threads must be between 1 and %lld", f"i64 {most}")
    return []


def _set_size_lower(e, inst, n):
    before = e.assign(f"call i64 @pyjitc_pool_set_chunk_size(i64 {n[0]})")
    e.raise_unless(e.assign(f"icmp sge i64 {before}, 0"), inst, "ValueError",
                   "chunksize must be greater than or equal to zero")
    return [before]


def _divide_eval(trips, work, copied, asked, *, known, even, stored):
    assumed = -(-WORK // work)
    # Where the cost is not known, few iterations may be much work: their number does not decide against threads.
    least = assumed if known else min(max(-(-trips // TRIES), 1), assumed)
    if asked > 0:
        size = max(asked, (trips >> 16) + 1) if stored else asked
    elif trips <= least:
        return min(trips, 1) if stored else 1, max(trips, 1), True
    else:
        size = max(-(-trips // pool.CHUNKS), least)
        if known and even:  # few chunks, in a number that threads can share evenly; whole vectors in all but the last
            rounds = trips // (4 * FEW * least) + 1
            size = max(size, -(-trips // (FEW * rounds)))
            if least >= 8 * LANES:
                size = -(-size // LANES) * LANES
    size = max(size, -(-COMBINED * copied // work))  # combining the copies must be little of the work
    # Where the cost is not known and there are very few iterations, each is worth a thread.
    short = size <= SHORT // work if known else trips >= TRIES and size < assumed
    return -(-trips // size), size, short


def _divide_lower(e, inst, trips, work, copied, asked):
    """A call of the pool's function. Where the cost is a constant, a comparison decides whether the loop is one chunk:
    it may be a statement of a few elements in another loop."""
    trips, work, copied, asked = trips[0], work[0], copied[0], asked[0]
    settled = inst.attrs["known"] and work.isdecimal() and asked == "0"
    if settled:
        ask, done = e.label("ask"), e.label("divided")
        one = e.assign(f"call i64 @llvm.umin.i64(i64 {trips}, i64 1)") if inst.attrs["stored"] else "1"
        whole = e.assign(f"call i64 @llvm.umax.i64(i64 {trips}, i64 1)")
        e.branch(e.assign(f"icmp ule i64 {trips}, {-(-WORK // int(work))}"), done, ask)
        before = e.current
        e.start(ask)
    flags = sum(inst.attrs[name] << place for place, name in enumerate(("known", "even", "stored")))
    found = e.assign(f"call {{i64, i64, i1}} @pyjitc_pool_divide(i64 {trips}, i64 {work}, i64 {copied}, i64 {asked}, "
                     f"i64 {flags}) nounwind willreturn memory(none)")
    parts = [e.assign(f"extractvalue {{i64, i64, i1}} {found}, {place}") for place in range(3)]
    if not settled:
        return parts
    at = e.current
    e.jump(done)
    e.start(done)
    return [e.phi(t, [(alone, before), (part, at)])
            for t, alone, part in zip(("i64", "i64", "i1"), (one, whole, "true"), parts)]


INDEPENDENT = Op("independent", lambda types, attrs: Int, PURE, lower=lambda e, inst, x: [x[0]], partials=NONDIFF,
                 doc="the operand, which is the end of a loop whose iterations do not depend on each other; "
                     "passes/independent.py marks the loop and removes this; {parts}: the loop belongs to a "
                     "whole-array statement, of which each iteration does a part", cost=CHEAP, traits=MARK)
GET_THREAD_ID = Op("get_thread_id", lambda types, attrs: Int, reads(SLOTS), lower=_ask("thread_id"), partials=NONDIFF,
                   doc="the number of the thread that runs this (runtime/pool.py)", bounds=(0, 4096))
GET_NUM_THREADS = Op("get_num_threads", lambda types, attrs: Int, reads(SLOTS), lower=_ask("num_threads"),
                     partials=NONDIFF, doc="the number of threads that a region may use", bounds=(1, 4096))
SET_NUM_THREADS = Op("set_num_threads", lambda types, attrs: NoneType, RAISES | writes(SLOTS), lower=_set_lower,
                     partials=NONDIFF, doc="let regions that this thread starts use n threads; ValueError")
GET_CHUNK_SIZE = Op("get_chunk_size", lambda types, attrs: Int, reads(SLOTS), lower=_ask("chunk_size"),
                    partials=NONDIFF, doc="the number of iterations in a chunk of a loop over prange, 0: the compiler "
                                          "chooses it", bounds=(0, (1 << 63) - 1))
SET_CHUNK_SIZE = Op("set_chunk_size", lambda types, attrs: Int, RAISES | writes(SLOTS), lower=_set_size_lower,
                    partials=NONDIFF, doc="let chunks of loops that this thread starts have n iterations, and return "
                                          "the number before; ValueError")
DIVIDE = Op("divide", lambda types, attrs: Tuple((Int, Int, Bool)), PURE, eval=_divide_eval, eval_attrs=True,
            lower=_divide_lower, partials=NONDIFF, cost=EXPENSIVE,
            doc="divide {known, even, stored} (trips, work, copied, asked) -> (chunks, size, short): how many chunks "
                "a loop of so many iterations has, how many iterations a chunk has, and whether it takes some "
                "microseconds at most. work: the cost of an iteration; known: the cost is no assumption; even: it is "
                "the same for all iterations; copied: the number of elements of which each chunk has copies; asked: "
                "the size that the program wants, or 0; stored: whether chunks store results; the code is in "
                "codegen/pool.py")

PARALLEL_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
