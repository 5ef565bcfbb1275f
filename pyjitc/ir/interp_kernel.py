"""The reference interpreter of kernels: that of interp.py for the threads of a grid, and for block functions
(passes/grid.py).

`run_kernel` runs a function for each thread; the threads of a block take turns wherever they wait for each other or
work on memory that others may work on. `run_blocks` runs a block function once for each block. Shared memory is
initialised with ones.
"""
from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..types import kinds as k
from .core import Function, Inst
from .interp import StepLimit, Wait, _Machine, _scalar, enter

__all__ = ["run_kernel", "run_blocks"]

WARP = 32


def run_kernel(functions: list[Function], args, grid, block, shared: int = 0, limit: int = 10_000_000) -> None:
    """Run functions[0] for each thread of a grid. grid, block: numbers of blocks and threads on three axes; shared:
    bytes of dynamic shared memory. Raises the exception of the first thread that fails; RuntimeError for a deadlock."""
    entry = functions[0]
    given = [enter(x, p.type) for x, p in zip(args, entry.params, strict=True)]
    _run([_Block(place, grid, block, shared, limit).of_threads(entry, given) for place in _places(grid)])


def run_blocks(functions: list[Function], args, grid, block, shared: int = 0, limit: int = 10_000_000) -> None:
    """Run functions[0], a block function, for each block of a grid."""
    entry = functions[0]
    given = [enter(x, p.type) for x, p in zip(args, entry.params, strict=True)]
    _run([_Block(place, grid, block, shared, limit).whole(entry, given) for place in _places(grid)])


def _places(size):
    """(x, y, z) of all positions on three axes, x first."""
    return [place[::-1] for place in product(*map(range, reversed(size)))]


def _run(blocks) -> None:
    """Run blocks until each ends or waits for the others."""
    while blocks:
        waiting = [block for block in blocks if block.advance()]
        if len(waiting) not in (0, len(blocks)):
            raise RuntimeError("blocks wait for the whole grid, others have ended")
        for block in waiting:
            for thread in block.threads:
                thread.answer(0)
        blocks = waiting


class _Thread:
    """A running thread, or a block function. waits: the Wait that it has reached, None if it may continue; lane: its
    number in the block."""

    def __init__(self, block, lane: int, fn: Function, args):
        self.lane, self.ended, self.given = lane, False, None
        self.waits: Any = None
        self.steps = _KernelMachine(block, lane).steps(fn, args)

    def go(self) -> None:
        """Run until it waits for others, or ends."""
        self.waits = None
        given, self.given = self.given, None
        try:
            self.waits = self.steps.send(given)
        except StopIteration:
            self.ended = True

    def answer(self, value) -> None:
        self.given, self.waits = value, None


class _Block:
    """A block: its position, and the memory that its threads share. states, slots, arrived: the data of a block
    function (passes/grid.py)."""

    def __init__(self, place, grid, size, shared: int, limit: int):
        self.place, self.grid, self.size = place, grid, size
        self.count = prod(size)
        self.left = limit
        self.bytes: np.ndarray = np.full(shared, 255, np.uint8)
        self.arrays: dict = {}
        self.slots: dict = {}
        self.states: dict[int, int] = dict.fromkeys(range(self.count), 0)
        self.arrived = set(range(self.count))

    def of_threads(self, fn, args) -> _Block:
        self.threads = [_Thread(self, lane, fn, args) for lane in range(self.count)]
        return self

    def whole(self, fn, args) -> _Block:
        self.threads = [_Thread(self, -1, fn, args)]
        return self

    def advance(self) -> bool:
        """Run until all threads have ended (False), or wait for the grid (True)."""
        while True:
            self.threads = [t for t in self.threads if not t.ended]
            if not self.threads:
                return False
            ready = [t for t in self.threads if t.waits is None]
            for thread in ready:
                thread.go()
            if ready or self.turns() or self.warps():
                continue
            kinds = {t.waits.inst.op.name for t in self.threads}
            if kinds <= {"grid_barrier", "wait_for_grid"}:
                return True
            if not kinds <= {"barrier", "barrier_reduce"}:
                raise RuntimeError(f"threads wait for each other in vain: {', '.join(sorted(kinds))}")
            given = [bool(t.waits.args[0]) for t in self.threads if t.waits.args]
            found = {"count": sum(given), "and": int(all(given)), "or": int(any(given))}
            for thread in self.threads:
                thread.answer(found.get(thread.waits.inst.attrs.get("how")))

    def turns(self) -> bool:
        """Let threads continue that have only yielded; returns whether there were any."""
        found = [t for t in self.threads if t.waits.turn]
        for thread in found:
            thread.answer(thread.waits.value)
        return bool(found)

    def warps(self) -> bool:
        """Complete the warp operations whose lanes have all arrived; returns whether there were any."""
        found = False
        for first in range(0, self.count, WARP):
            here: dict[Inst, list[_Thread]] = {}
            for thread in self.threads:
                if first <= thread.lane < first + WARP and thread.waits.lanes:
                    here.setdefault(thread.waits.inst, []).append(thread)
            alive = {t.lane % WARP for t in self.threads if first <= t.lane < first + WARP}
            for inst, group in here.items():
                lanes = {t.lane % WARP: t for t in group}
                masks = {t.waits.args[0] for t in group if t.waits.args}
                if len(masks) < 2 and all(lane in lanes or lane not in alive or not mask >> lane & 1
                                          for mask in masks for lane in range(WARP)):
                    answers = {t: _lanes(inst.op.name, inst.attrs, lane,
                                         {n: x.waits.args[1] if len(x.waits.args) > 1 else None for n,
                                          x in lanes.items()},
                                         *t.waits.args[:1], *t.waits.args[2:]) for lane, t in lanes.items()}
                    for thread, value in answers.items():
                        thread.answer(value)
                    found = True
        return found


class _KernelMachine(_Machine):
    """Runs one thread, or a block function (lane -1). Raises StepLimit after the instructions that the block may
    run."""

    def __init__(self, block: _Block, lane: int):
        super().__init__(0)
        self.block, self.lane = block, lane

    @property
    def left(self):
        return self.block.left

    @left.setter
    def left(self, value):
        if value < 0:
            raise StepLimit
        if hasattr(self, "block"):
            self.block.left = value

    def do_invoke(self, inst, *args):
        return self.steps(inst.attrs["callee"], args)  # the callee may wait

    # -- places and memory

    def do_thread_id(self, inst):
        width, height, _ = self.block.size
        return (self.lane % width, self.lane // width % height, self.lane // (width * height))[inst.attrs["axis"]]

    def do_block_id(self, inst):
        return self.block.place[inst.attrs["axis"]]

    def do_block_dim(self, inst):
        return self.block.size[inst.attrs["axis"]]

    def do_grid_dim(self, inst):
        return self.block.grid[inst.attrs["axis"]]

    def do_threads_of_run(self, inst):
        return self.block.size[0]

    def do_lane_id(self, inst):
        return self.lane % WARP

    def array(self, key, t: k.Array, shape):
        found = self.block.arrays.get(key)
        if found is None:
            found = self.block.arrays[key] = np.empty(shape, _scalar(t.dtype))
            found.view(np.uint8)[...] = 255
        return found

    def do_shared_array(self, inst):
        return self.array(inst, inst.attrs["type"], inst.attrs["shape"])

    def do_dynamic_shared(self, inst):
        item = np.dtype(_scalar(inst.attrs["type"].dtype)).itemsize
        return self.block.bytes[:self.block.bytes.size // item * item].view(_scalar(inst.attrs["type"].dtype))

    def do_local_array(self, inst):
        return self.array((inst, self.lane), inst.attrs["type"], inst.attrs["shape"])

    def do_local_of(self, inst, thread):
        return self.array((inst.attrs["offset"], thread), inst.attrs["type"], inst.attrs["shape"])

    def do_constant_array(self, inst):
        found = np.frombuffer(bytes.fromhex(inst.attrs["data"]), _scalar(inst.attrs["type"].dtype))
        return found.reshape(inst.attrs["shape"])

    def do_atomic(self, inst, array, *rest):
        *index, value = rest
        old = array[tuple(index)]
        with np.errstate(all="ignore"):
            array[tuple(index)] = _ATOMICS[inst.attrs["how"]](old, value)
        return Wait(inst, (), turn=True, value=old)

    def do_atomic_cas(self, inst, array, *rest):
        *index, expected, value = rest
        old = array[tuple(index)]
        if old.tobytes() == expected.tobytes():
            array[tuple(index)] = value
        return Wait(inst, (), turn=True, value=old)

    # -- waiting

    def do_fence(self, inst, *args):
        return Wait(inst, args, turn=True)

    do_nanosleep = do_fence

    def do_barrier(self, inst, *args):
        return Wait(inst, args)

    do_barrier_reduce = do_grid_barrier = do_wait_for_grid = do_barrier

    def do_shuffle(self, inst, *args):
        return Wait(inst, args, lanes=True)

    do_vote = do_ballot = do_match_any = do_match_all = do_warp_reduce = do_warp_barrier = do_active_mask = do_shuffle

    # -- block functions

    def do_slot_load(self, inst, thread):
        return self.block.slots[inst.attrs["slot"], 0 if inst.attrs.get("common") else thread]

    def do_slot_store(self, inst, thread, value):
        self.block.slots[inst.attrs["slot"], 0 if inst.attrs.get("common") else thread] = value

    def do_state_is(self, inst, thread):
        return self.block.states[thread] == inst.attrs["region"]

    def do_state_store(self, inst, thread):
        self.block.states[thread] = inst.attrs["region"]

    def do_next_region(self, inst):
        states, warps = self.block.states, inst.attrs["warps"]
        here = [s for s in states.values() if s >= 0]
        found = min((s for s in here if s < warps), default=None)
        if found is None:
            if len(set(here)) > 1:
                raise RuntimeError("divergent barrier")
            found = here[0] if here else -1
        self.block.arrived = {thread for thread, s in states.items() if s == found}
        return found

    def do_count_threads(self, inst):
        found = [self.block.slots[inst.attrs["slot"], t] for t,
                 s in self.block.states.items() if s >= 0 or not inst.attrs["masked"]]
        return {"count": sum(found), "and": int(all(found)), "or": int(any(found))}[inst.attrs["how"]]

    def do_lanes(self, inst, thread, *rest):
        first, attrs = thread - thread % WARP, inst.attrs
        here = [t for t in range(first, min(first + WARP, self.block.count)) if t in self.block.arrived
                or not attrs["masked"]]
        values = {t - first: self.block.slots[attrs["slot"], t] if attrs["slot"] >= 0 else None for t in here}
        return _lanes(attrs["what"], attrs, thread - first, values, *rest)

    def do_lanes_are_here(self, inst, thread, mask):
        first = thread - thread % WARP
        if not mask >> thread - first & 1 or any(mask >> lane & 1 and first + lane not in self.block.arrived
                                                 for lane in range(WARP)):
            raise RuntimeError("a lane in the mask waits elsewhere")

    def do_touch(self, inst, thread, array, *rest):
        """Check nothing: here threads do not run concurrently, so there are no races."""

    def do_fail_thread(self, inst, thread):
        assert self.pending is not None
        raise self.pending


def _nan_or(function):
    """min or max in which a NaN wins."""
    return lambda old, new: old if old != old else new if new != new else function(old, new)


def _number_or(function):
    return lambda old, new: new if old != old else old if new != new else function(old, new)


_ATOMICS = {
    "add": lambda old, new: old + new, "sub": lambda old, new: old - new, "min": _nan_or(min), "max": _nan_or(max),
    "nanmin": _number_or(min), "nanmax": _number_or(max), "and": lambda old, new: old & new, "or": lambda old,
    new: old | new,
    "xor": lambda old, new: old ^ new, "exch": lambda old, new: new, "inc": lambda old,
    new: type(old)(0) if old >= new else old + type(old)(1),
    "dec": lambda old, new: new if old == 0 or old > new else old - type(old)(1),
}


def _lanes(what: str, attrs, lane: int, values: dict, mask=None, operand=None):
    """The result of a warp operation for `lane`; values: lane -> its value, for the lanes that take part."""
    own = values[lane]
    if what == "warp_barrier":
        return None
    if what == "shuffle":
        how, width = attrs["how"], attrs["width"]
        first = lane // width * width
        source = (first + operand % width if how == "idx" else lane - operand if how == "up" else lane + operand
                  if how == "down" else lane ^ operand)
        inside = source < first + width if how == "xor" else first <= source < first + width
        return values[source] if inside and source in values else own
    counted = [n for n in sorted(values) if mask is None or mask >> n & 1]
    there = sum(1 << n for n in counted)
    if what == "active_mask":
        return there
    if what == "warp_reduce":
        found = values[counted[0]]
        with np.errstate(all="ignore"):
            for n in counted[1:]:
                found = _REDUCTIONS[attrs["how"]](found, values[n])
        return enter(found, k.Int) if type(own) is int else found
    if what in ("match_any", "match_all"):
        same = sum(1 << n for n in counted if np.asarray(values[n]).tobytes() == np.asarray(own).tobytes())
        return same if what == "match_any" else there if same == there else 0
    yes = sum(1 << n for n in counted if values[n])
    if what == "ballot":
        return yes
    return {"all": yes == there, "any": yes != 0, "eq": yes in (0, there)}[attrs["how"]]


_REDUCTIONS = {"add": _ATOMICS["add"], "min": _ATOMICS["nanmin"], "max": _ATOMICS["nanmax"], "and": _ATOMICS["and"],
               "or": _ATOMICS["or"],
               "xor": _ATOMICS["xor"]}
