"""Turn a kernel into a function that runs a whole block of threads on one CPU thread.

Barriers cut the kernel into *regions*: the code between them. Each region becomes a loop over the threads of the block,
and values that a thread needs in a later region are stored in a *slot*. Where threads may leave a region in different
ways, or wait for their warp only, every thread has a *state*, the region it enters next; a region runs the threads that
wait for it.
Before:  i = thread_id ; x = f(i) ; barrier ; y = g(x) ; return
After:   loop t: x = f(t) ; slot_store 0 (t, x)        loop t: x = slot_load 0 (t) ; y = g(x)        return
A kernel without waits whose threads only use their positions in the grid runs neighbouring blocks as one wide block.
Cheap values that are uniform (the same for all threads) are hoisted out of the loops; values that follow cheaply from
the thread's number are recomputed in each region. A warp operation is a wait, an exchange, and another wait.
Needs: SSA, everything that waits inlined, no handlers.  Keeps: checks; they leave through one block that says which
thread it was.
Source: Stratton, Stone, Hwu: MCUDA (2008); Karrenberg, Hack: Improving Performance of OpenCL on CPUs (2012).
"""
from __future__ import annotations

import linecache
import math
import re
from typing import Any

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import live_in
from ..ops import arith as a
from ..ops import gpu, grid, memory, structure
from ..ops.control import CONST, JUMP, RETURN
from ..types.kinds import Int
from . import (
    dce, elementary, gvn, idle_threads, inline, inspector, latches, pipeline, ranges, simplify, stride, unswitch,
    versioning,
)
from .counted import Definitions, find
from .region_loops import RegionLoop
from .repair import repair
from .rewrite import remove_unreachable, substitute
from .uniform import Uniformity

__all__ = ["run", "run_module", "Plan"]

MAX_THREADS = 1024
_UNIFORM = {CONST, gpu.BLOCK_ID, gpu.BLOCK_DIM, gpu.GRID_DIM, gpu.SHARED_ARRAY, gpu.DYNAMIC_SHARED, gpu.CONSTANT_ARRAY}
_OWN = {gpu.THREAD_ID, gpu.LANE_ID, grid.LOCAL}


# Run once the threads of a block are loops, which are then versioned like all loops.
PASSES = [simplify, latches, gvn, unswitch, simplify, idle_threads, latches, gvn, ranges, gvn, dce, elementary,
          versioning, inspector, dce]


def run_module(functions: list[ir.Function], options, body, recursive, check=None):
    """Turn the typed IR of a kernel, the first of `functions`, into ([the function that runs a block, ...], its plan).
    The other arguments are those of `pipeline.run`."""
    kernel = functions[0]
    inline_all(functions)
    fold_shapes(kernel)
    module = pipeline.run_device(functions, options, None, recursive, check)
    plan = run(kernel, options)
    if check:
        check([kernel], "grid")
    own = {fn: fn for fn in module}
    for one in PASSES:
        if one is elementary:
            for fn in module:  # appended to during the iteration
                one.run(fn, body, own)
                module += [callee for callee in inline.callees(fn) if callee not in module]
        else:
            one.run(kernel, options)
        if check:
            check([kernel], one.__name__.rpartition(".")[2])
    return module, plan


class Plan:
    """What the emitter needs to know about a block function. slots: the type of each slot; local_bytes: bytes of each
    thread's local arrays; masked: whether threads have states; cooperative: whether blocks wait for each other; wide:
    whether neighbouring blocks may run as one; lines: for each region the line where its threads wait."""

    def __init__(self):
        self.slots: list = []
        self.local_bytes = 0
        self.masked = False
        self.cooperative = False
        self.wide = False
        self.lines: list[int] = []


def inline_all(module: list[ir.Function]) -> None:
    """Mark the functions that a kernel calls to be inlined; instructions in them that may fail keep their source
    location."""
    for fn in module[1:]:
        if not fn.library:
            fn.flags = fn.flags._replace(inline=True)
            inline.note_origin(fn)


def fold_shapes(fn: ir.Function) -> None:
    """Replace the lengths of arrays whose shape is part of the code by constants."""
    shapes = {i.result: i.attrs["shape"] for b in fn.blocks for i in b.insts if i.op in gpu.MEMORIES
              and "shape" in i.attrs}
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is memory.ARRAY_DIM and inst.args[0] in shapes:
                inst.op, inst.attrs, inst.args = CONST, {"value": shapes[inst.args[0]][inst.attrs["axis"]]}, []


def run(fn: ir.Function, options=None) -> Plan:
    """Rewrite `fn`, a kernel, to run one block."""
    return _Grid(fn, bool(options and options.debug)).run()


class _Region:
    """The code from `entry` to the next waits. number: its state; warp: whether threads enter it warp by warp; line:
    where the threads wait for it; before: instructions that run once for the block, before its loop."""

    def __init__(self, entry: ir.Block, warp: bool, line: int, before=()):
        self.entry, self.warp, self.line, self.before = entry, warp, line, list(before)
        self.number = -1
        self.head: Any = None  # a Block, once all regions are known


class _Grid:
    def __init__(self, fn: ir.Function, debug: bool):
        self.fn = fn
        self.debug = debug
        self.plan = Plan()
        self.start = ir.Block("block")  # runs once
        self.own: list[ir.Inst] = []  # run for each thread at the start of each region
        self.linear = ir.Value(Int, "thread")  # stands for the number of the thread, before the loops are made
        self.new: list[ir.Block] = []

    def run(self) -> Plan:
        fn = self.fn
        self.enter()
        # a checked index that is not negative is unchanged, so that an index computed from the thread's number needs no
        # slot
        substitute(fn.blocks, {i.result: i.args[0] for b in fn.blocks for i in b.insts
                               if i.op is memory.CHECK_INDEX and i.attrs.get("nonnegative")})
        self.poll()
        self.hoist()
        self.unit = math.gcd(*(memory.item_bytes(i.args[0].type.dtype) for b in fn.blocks for i in b.insts
                               if i.op in _TOUCHES))
        if not self.debug:
            stride.run(fn, self.start)
        regions = self.cut()
        self.number(regions)
        exits = {r: self.exits(r) for r in regions}
        plan = self.plan
        plan.wide = len(regions) == 1 and not self.debug and self.asks_for_places()
        found = Uniformity(fn, {i.result for i in self.own}, _is_uniform)
        self.varying = found.varying
        plan.masked = found.parts and any(len(ways) > 1 for ways in exits.values()) or self.debug
        self.choice = self.slot(Int) if not plan.masked and any(len(ways) > 1 for ways in exits.values()) else None
        self.save(regions)
        self.failing = ir.Block("failed", [ir.Value(Int, "thread")])
        self.failing.insts.append(ir.Inst(grid.FAIL, self.failing.params))
        self.done = ir.Block("done")
        nothing = ir.Value(fn.result)
        self.done.insts += [ir.Inst(CONST, (), {"value": None}, nothing), ir.Inst(RETURN, (nothing,))]
        for region in regions:
            region.head = ir.Block(f"region{region.number}")
        definitions: dict = {}
        for region in regions:
            self.new += RegionLoop(self, region, regions, exits[region]).run(definitions)
        self.start.insts.append(ir.Inst(JUMP, targets=[ir.Edge(regions[0].head)]))
        fn.blocks = [self.start, *self.new, self.done, self.failing]
        remove_unreachable(fn)
        reached = set(fn.blocks)
        definitions = {v: {b: w for b, w in where.items() if b in reached} for v, where in definitions.items()}
        repair(fn, definitions)
        remove_unreachable(fn)
        plan.lines = [r.line for r in sorted(regions, key=lambda r: r.number)]
        return plan

    # -- before the kernel is cut

    def enter(self) -> None:
        """Give the parameters a block of their own."""
        fn = self.fn
        first = fn.blocks[0]
        self.start.params = first.params
        if any(edge.block is first for b in fn.blocks for edge in b.edges()):
            copies = {p: ir.Value(p.type, p.name) for p in first.params}
            self.start.params, first.params = first.params, list(copies.values())
            substitute(fn.blocks, dict(copies))
            self.first_args = list(copies)
        else:
            first.params = []
            self.first_args = []

    def poll(self) -> None:
        """Add polls for signals to loops of a thread that may take long: all but innermost counted ones, which are
        vectorised. Where threads wait inside a loop, the block polls between the regions."""
        nest = LoopNest(self.fn)
        if not nest.loops:
            return
        defs, edges = Definitions(self.fn), in_edges(self.fn.blocks)
        for loop in nest.loops:
            if not loop.inner and find(loop, defs, edges) is not None or any(
                    i.op in gpu.CONVERGENT for b in loop.blocks for i in b.insts):
                continue
            for block in loop.latches:
                block.insts.insert(len(block.insts) - 1,
                                   ir.Inst(memory.POLL, (), {"cost": 4}, None, block.insts[-1].loc))

    def hoist(self) -> None:
        """Hoist uniform instructions out of the loops over threads. Collect in `own` the cheap ones that depend only on
        uniform values and the thread's number, which are computed anew in each region."""
        fn, plan = self.fn, self.plan
        uniform = set(self.start.params)
        own: set[ir.Value] = set()
        for block in reverse_postorder(fn):
            kept = []
            for inst in block.insts:
                op = inst.op
                if op is gpu.LOCAL_ARRAY:
                    offset = -(-plan.local_bytes // 16) * 16
                    plan.local_bytes = offset + gpu.shape_bytes(inst.attrs["type"], inst.attrs["shape"])
                    op = inst.op = grid.LOCAL
                    inst.args, inst.attrs = [self.linear], {**inst.attrs, "offset": offset}
                cheap = op.effects == ir.PURE and op.cost <= ir.MODERATE and inst.args
                if op in _UNIFORM or cheap and all(v in uniform for v in inst.args):
                    uniform.add(inst.result)
                    self.start.insts.append(inst)
                elif op in _OWN or cheap and all(v in uniform or v in own for v in inst.args):
                    own.add(inst.result)
                    self.own.append(inst)
                else:
                    kept.append(inst)
            block.insts = kept
        plan.local_bytes = -(-plan.local_bytes // 16) * 16

    # -- cuts

    def slot(self, t) -> int:
        self.plan.slots.append(t)
        return len(self.plan.slots) - 1

    def asks_for_places(self) -> bool:
        """Whether threads use their number along x, and that of their block, only to compute their position in the
        grid, and blocks have no shared memory."""
        insts = [*self.start.insts, *self.own, *(i for b in self.fn.blocks for i in b.insts)]

        def along_x(v, op) -> bool:
            return v.inst is not None and v.inst.op is op and v.inst.attrs["axis"] == 0

        def is_base(v) -> bool:
            return v is not None and v.inst is not None and v.inst.op is a.IMUL and any(
                along_x(x, gpu.BLOCK_ID) and along_x(y, gpu.BLOCK_DIM) for x, y in (v.inst.args, v.inst.args[::-1]))

        def is_place(inst) -> bool:
            return (inst.op is a.IADD
                    and any(along_x(x, gpu.THREAD_ID) and is_base(y) for x, y in (inst.args, inst.args[::-1])))

        for inst in insts:
            if inst.op in (gpu.LANE_ID, gpu.SHARED_ARRAY, gpu.DYNAMIC_SHARED, grid.LOCAL):
                return False
            for v in inst.uses():
                if (along_x(v, gpu.BLOCK_ID) and not is_base(inst.result) or (along_x(v, gpu.THREAD_ID) or is_base(v))
                    and not is_place(inst)):
                    return False
        return True

    def cut(self) -> list[_Region]:
        """Split the kernel at each wait, and return the regions; that of the entry is the first."""
        regions = [_Region(self.fn.blocks[0], False, self.fn.firstlineno)]
        done, work = [], list(self.fn.blocks)
        while work:
            block = work.pop(0)
            done.append(block)
            at = next((k for k, inst in enumerate(block.insts) if inst.op in gpu.CONVERGENT), None)
            if at is None:
                continue
            inst, rest = block.insts[at], ir.Block(block.name)
            rest.insts = block.insts[at + 1:]
            del block.insts[at:]
            work.insert(0, rest)
            if inst.op is gpu.BARRIER:
                regions.append(self.wait(block, rest, False, inst.loc))
            elif inst.op is gpu.GRID_BARRIER:
                self.plan.cooperative = True
                regions.append(self.wait(block, rest, False, inst.loc,
                                         [ir.Inst(grid.GRID_WAIT, (), {}, ir.Value(Int), inst.loc)]))
            elif inst.op is gpu.BARRIER_REDUCE:
                slot, once = self.keep(block, inst.args[0], inst.loc), ir.Value(Int)
                rest.insts.insert(0, ir.Inst(structure.RETYPE, (once,), {"type": Int}, inst.result, inst.loc))
                count = ir.Inst(grid.COUNT, (), {"slot": slot, "how": inst.attrs["how"]}, once, inst.loc)
                regions.append(self.wait(block, rest, False, inst.loc, [count]))
            elif inst.op is gpu.WARP_BARRIER:
                regions.append(self.wait(block, rest, True, inst.loc))
            else:
                slot = self.keep(block, inst.args[1], inst.loc) if inst.args else -1
                exchange = ir.Block("exchange")
                how = inst.attrs.get("how", inst.op.name)
                attrs = {"slot": slot, "what": inst.op.name, "how": how, "type": inst.result.type,
                         "width": inst.attrs.get("width", 32)}
                exchange.insts.append(ir.Inst(grid.LANES, (self.linear, *inst.args[:1], *inst.args[2:]), attrs,
                                              inst.result, inst.loc))
                done.append(exchange)
                regions.append(self.wait(block, exchange, True, inst.loc))
                regions.append(self.wait(exchange, rest, True, inst.loc))
        self.fn.blocks = done
        return regions

    def keep(self, block: ir.Block, value: ir.Value, loc) -> int:
        slot = self.slot(value.type)
        block.insts.append(ir.Inst(grid.SLOT_STORE, (self.linear, value), {"slot": slot}, loc=loc))
        return slot

    def wait(self, block: ir.Block, rest: ir.Block, warp: bool, loc, before=()) -> _Region:
        region = _Region(rest, warp, loc.line, before)
        block.insts.append(ir.Inst(JUMP, (), {"wait": region}, loc=loc, targets=[ir.Edge(rest)]))
        return region

    def number(self, regions: list[_Region]) -> None:
        """Number the regions in program order; those that are entered warp by warp come first."""
        order = {block: k for k, block in enumerate(reverse_postorder(self.fn))}
        known = [r for r in regions if r.entry in order]
        regions[:] = known
        for k, region in enumerate(sorted(known[1:], key=lambda r: (not r.warp, order[r.entry]))):
            region.number = k
        known[0].number = len(known) - 1
        self.warps = sum(r.warp for r in known)

    def blocks_of(self, region: _Region) -> list[ir.Block]:
        """The blocks of a region in reverse postorder."""
        order, seen = [], {region.entry}
        stack = [(region.entry, iter(self.followers(region.entry)))]
        while stack:
            block, rest = stack[-1]
            for after in rest:
                if after not in seen:
                    seen.add(after)
                    stack.append((after, iter(self.followers(after))))
                    break
            else:
                stack.pop()
                order.append(block)
        return order[::-1]

    @staticmethod
    def followers(block: ir.Block):
        last = block.insts[-1]
        return [] if "wait" in last.attrs else [e.block for e in last.targets]

    def exits(self, region: _Region):
        """The regions that may follow; None stands for the end of the kernel."""
        found = set()
        for block in self.blocks_of(region):
            last = block.insts[-1]
            if "wait" in last.attrs:
                found.add(last.attrs["wait"])
            elif last.op is RETURN:
                found.add(None)
        return found

    def save(self, regions: list[_Region]) -> None:
        """Store values that are read after a wait in slots."""
        live = live_in(self.fn)
        slots: dict[ir.Value, int] = {}
        self.live: dict[_Region, list[tuple[ir.Value, int]]] = {}
        for region in regions:
            values = sorted(live[region.entry], key=lambda v: (v.name, str(v.type)))
            for v in values:
                if v not in slots:
                    slots[v] = self.slot(v.type)
            self.live[region] = [(v, slots[v]) for v in values]
        for block in self.fn.blocks:
            last = block.insts[-1]
            awaited = last.attrs.get("wait")
            if awaited is not None and awaited in self.live:
                block.insts[-1:-1] = [ir.Inst(grid.SLOT_STORE, (self.linear, v),
                                              {"slot": s, "common": self.is_common(v)}, loc=last.loc)
                                      for v, s in self.live[awaited]]

    def is_common(self, v: ir.Value) -> bool:
        """Whether one slot serves all threads of the block, since the value is uniform."""
        return not self.plan.masked and v not in self.varying

    def watched(self, inst: ir.Inst, linear: ir.Value) -> list[ir.Inst]:
        """An instruction, after the instructions that the option `debug` adds."""
        attrs = {"origin": inst.attrs["origin"]} if "origin" in inst.attrs else {}
        leave = ir.Edge(self.failing, [linear])
        if inst.op in _TOUCHES:
            touched = inst.args if inst.op is memory.ARRAY_STORE else inst.args[:1 + inst.args[0].type.ndim]
            attrs |= {"what": _TOUCHES[inst.op], "unit": self.unit}
            touch = ir.Inst(grid.TOUCH, (linear, *touched), attrs, None, inst.loc, unwind=leave)
            return [touch, inst]
        if inst.op is grid.LANES and len(inst.args) > 1:
            return [ir.Inst(grid.LANES_ARE_HERE, (linear, inst.args[1]), attrs, None, inst.loc, unwind=leave), inst]
        return [inst]

    def ended(self, last: ir.Inst) -> int:
        """The state of a thread that has finished: -1 after an early return. Of a thread that ran to the end of the
        kernel it is below -1 and encodes the line; no thread may do that while others of its block wait at a
        barrier."""
        line = last.loc.line if last.loc else 0
        text = linecache.getline(self.fn.filename, line) if self.debug else ""
        return -1 if not text or _SAYS_RETURN(text) else -1 - line


def _is_uniform(inst: ir.Inst) -> bool:
    """Whether the result is uniform where the operands are: the same for all threads."""
    return not inst.op.effects & (ir.READS | ir.WRITES | ir.ALLOCATES) or inst.op is structure.RETYPE


_SAYS_RETURN = re.compile(r"\breturn\b").search
_TOUCHES = {memory.ARRAY_LOAD: 0, memory.ARRAY_STORE: 1, gpu.ATOMIC: 2, gpu.ATOMIC_CAS: 2}


