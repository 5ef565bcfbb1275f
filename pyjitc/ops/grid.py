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
                "the value of {type} that the thread keeps in {slot}; {common}: one for all threads")
SLOT_STORE = _op("slot_store", lambda types, attrs: None, writes(SLOTS),
                 "(thread, value): keep the value in {slot}; {common}: one for all threads")
STATE_IS = _counting("state_is", lambda types, attrs: Bool, reads(SLOTS), "whether the thread waits to enter {region}")
STATE_STORE = _counting("state_store", lambda types, attrs: None, writes(SLOTS),
                        "let the thread wait to enter {region}; negative: it has returned")
NEXT = _counting("next_region", lambda types, attrs: Int, reads(SLOTS) | writes(SLOTS, ERRORS) | RAISES,
                 "the region to run now, -1 where all threads have returned; raises where threads wait for each other "
                 "in different places. {warps}: threads before regions below this number wait for their warp, others "
                 "for the block; {lines}: the lines where threads wait, by region")
GRID_WAIT = _counting("wait_for_grid", lambda types, attrs: Int, READS | WRITES | RAISES,
                      "wait until the other blocks of the grid arrive, and return 0; leaves where a block has failed, "
                      "raises where one has ended")
COUNT = _counting("count_threads", lambda types, attrs: Int, reads(SLOTS),
                  "the number of threads here that keep true in {slot}, or the 'and' or 'or' of what they keep: "
                  "{how}; {masked}: some threads may have returned")
LANES = _op("lanes", lambda types, attrs: attrs["type"], reads(SLOTS),
            "(thread, mask, rest...): the result for the thread of a warp operation {how} of {what}, from the values "
            "of its warp in {slot}; {masked}: some threads may be elsewhere; {width}: of a shuffle; {type} of the "
            "result")
TOUCH = _counting("touch", lambda types, attrs: None, reads(ELEMENTS, SLOTS) | writes(SLOTS, ERRORS) | RAISES,
                  "(thread, array, index...[, value]): with `debug`, record that the thread is about to {what} the "
                  "element: 0 read, 1 write the value, 2 change by an atomic operation; raises where that is a race, "
                  "or a read of shared memory that nothing has written; {unit}: bytes that have a record each")
LANES_ARE_HERE = _counting("lanes_are_here", lambda types, attrs: None, reads(SLOTS) | writes(ERRORS) | RAISES,
                           "(thread, mask): with `debug`, raise where a lane in the mask waits elsewhere, or the "
                           "thread is not in the mask")
RUN = _counting("threads_of_run", lambda types, attrs: Int, PURE,
                "number of threads along x of all blocks that run as one: those of a block, or of several neighbours")
LOCAL = _op("local_of", lambda types, attrs: attrs["type"], PURE,
            "the thread's array of {type} and {shape} at {offset} of its memory")
FAIL = _counting("fail_thread", lambda types, attrs: None, TERMINATOR | writes(ERRORS),
                 "leave with the error of the given thread; -1: of the whole block")

GRID_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
