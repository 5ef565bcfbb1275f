"""Operations in the code that passes/grid.py makes of a kernel, in which one CPU thread runs a block of threads.

A *slot* keeps one value for each thread of the block. A thread's *state* is the region that it enters next, or negative
when it has returned: -1, or with `debug` -1 - the line where it ran to the end of the kernel. Lowerings:
codegen/grid.py. The first operand of most is the linear number of the thread in its block.
"""
from __future__ import annotations

from functools import partial

from ..ir.core import ELEMENTS, ERRORS, PURE, RAISES, READS, SLOTS, TERMINATOR, WRITES, Op, reads, writes
from ..types.kinds import Bool, Int
from .effects import NO_RULE, NONDIFF

__all__ = ["GRID_OPS"]


def _op(name, rule, effects, doc, partials=NO_RULE):
    return Op(name, rule, effects, partials=partials, lower=_nowhere, doc=doc)


_counting = partial(_op, partials=NONDIFF)  # no number of the program is a result or is stored


def _nowhere(e, inst, *operands):
    raise AssertionError(f"{inst.op.name} outside of a grid on the CPU")


SLOT_LOAD = _op("slot_load", lambda types, attrs: attrs["type"], reads(SLOTS),
                "what the thread keeps in {slot}, of {type}; {common}: one for all threads")
SLOT_STORE = _op("slot_store", lambda types, attrs: None, writes(SLOTS),
                 "(thread, value): keep the value in {slot}; {common}: one for all threads")
STATE_IS = _counting("state_is", lambda types, attrs: Bool, reads(SLOTS), "whether the thread waits to enter {region}")
STATE_STORE = _counting("state_store", lambda types, attrs: None, writes(SLOTS),
                        "the thread waits to enter {region}, or has returned: negative")
NEXT = _counting("next_region", lambda types, attrs: Int, reads(SLOTS) | writes(SLOTS, ERRORS) | RAISES,
                 "the region to run now, -1: all have returned; error where threads wait for each other in different "
                 "places. {warps}: regions below wait for their warp, others for the block; {lines}: of the places "
                 "where threads wait, by region")
GRID_WAIT = _counting("wait_for_grid", lambda types, attrs: Int, READS | WRITES | RAISES,
                      "the other blocks of the grid arrive; gives 0. Leaves where one has "
                      "failed, error where one has ended")
COUNT = _counting("count_threads", lambda types, attrs: Int, reads(SLOTS),
                  "how many threads that are here keep true in {slot}; 'and', 'or' of them: {how}; {masked}: some "
                  "may have returned")
LANES = _op("lanes", lambda types, attrs: attrs["type"], reads(SLOTS),
            "(thread, mask, rest...): what a warp operation {how} of {what} gives the thread, from its warp's values "
            "in {slot}; {masked}: some may be elsewhere; {width}: of a shuffle; {type} of the result")
TOUCH = _counting("touch", lambda types, attrs: None, reads(ELEMENTS, SLOTS) | writes(SLOTS, ERRORS) | RAISES,
                  "(thread, array, index...[, value]): with `debug`, the thread is about to {what} the element: 0 "
                  "read, 1 write the value, 2 change by an atomic operation; error where that is a race, or nothing "
                  "was written, in shared memory; {unit}: bytes that have a record each")
LANES_ARE_HERE = _counting("lanes_are_here", lambda types, attrs: None, reads(SLOTS) | writes(ERRORS) | RAISES,
                           "(thread, mask): with `debug`, error where a lane in the mask "
                           "waits elsewhere, or the thread is not in it")
RUN = _counting("threads_of_run", lambda types, attrs: Int, PURE,
                "threads along x of all blocks that run as one: those of a block, or of several neighbours")
LOCAL = _op("local_of", lambda types, attrs: attrs["type"], PURE,
            "the thread's array of {type} and {shape} at {offset} of its memory")
FAIL = _counting("fail_thread", lambda types, attrs: None, TERMINATOR | writes(ERRORS),
                 "leave: the error was this thread's, -1: of the whole block")

GRID_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
