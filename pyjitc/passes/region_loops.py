"""The loop over the threads of a block that runs one region of a kernel: see grid.py."""
from __future__ import annotations

from typing import Any

from ..ir import core as ir
from ..ops import arith as a
from ..ops import control, gpu, grid, memory, structure
from ..ops.control import CONST, JUMP, RETURN
from ..types.kinds import Bool, Int
from .rewrite import Builder, clone_blocks, clone_inst

__all__ = ["RegionLoop"]


class RegionLoop:
    """Makes the blocks that run a region for all threads of the block and continue with the next region.

    kernel: the `_Grid` of grid.py; exits: the regions in which threads may wait next, None for the end of the
    kernel."""

    def __init__(self, kernel: Any, region, regions, exits):
        self.kernel, self.plan = kernel, kernel.plan
        self.region, self.regions, self.exits = region, regions, exits
        self.head = region.head
        self.layers, self.layer, self.rows, self.row, self.columns, self.thread = map(ir.Block, (
            "layers", "layer", "rows", "row", "threads", "thread"))
        self.after, self.below, self.latch, self.after_all = map(ir.Block, (
            "next_row", "next_layer", "next_thread", "all"))
        self.begin = self.thread  # the block from which a thread enters the code of the region
        self.values: dict[ir.Value, ir.Value] = {}  # value of the kernel -> that of the thread in this region
        self.loc = ir.Loc(region.line, 0, -1, -1)

    def run(self, definitions) -> list[ir.Block]:
        """Make the blocks, and return them. definitions: extended by the new definitions of values, for `repair`."""
        width = self.once()
        place = self.threads(width)
        self.enter(place)
        copies = self.body(definitions)
        for block in copies.values():
            self.finish(block)
        if self.kernel.debug:
            self.latch.insts[-1].attrs = {}
        self.follow()
        return [self.head, *([self.layers, self.layer, self.below] if self.layers.insts else []), self.rows, self.row,
                self.columns, self.thread, *([self.begin] if self.begin is not self.thread else []), *copies.values(),
                self.latch, self.after, self.after_all]

    # -- instructions

    def make(self, block, op, *args, type=Int, **attrs):
        result = ir.Value(type)
        block.insts.append(ir.Inst(op, args, attrs, result, self.loc))
        return result

    def constant(self, block, value):
        return self.make(block, CONST, value=value)

    def jump(self, block, target, *args, **attrs):
        block.insts.append(ir.Inst(JUMP, (), attrs, loc=self.loc, targets=[ir.Edge(target, args)]))

    def no_thread(self, block) -> ir.Edge:
        """The edge for a failure that belongs to no thread."""
        return ir.Edge(self.kernel.failing, [self.constant(block, -1)])

    def counted(self, name, header, body, beyond, last, **attrs):
        """Make a loop that counts up, and return its counter. A jump to `header` with 0 and the number of trips enters
        it."""
        counter, left = ir.Value(Int, name), ir.Value(Int)
        header.params = [counter, left]
        header.insts.append(ir.Inst(control.BRANCH, (self.make(header, a.IGT, left, self.zero, type=Bool),), {}, None,
                                    self.loc, [ir.Edge(body), ir.Edge(beyond)]))
        self.jump(last, header, self.make(last, a.IADD, counter, self.one), self.make(last, a.ISUB, left, self.one),
                  **attrs)
        return counter

    # -- in the order of execution

    def once(self) -> tuple:
        """Emit the instructions that run once for the block. Returns the number of its threads along each axis."""
        head = self.head
        for inst in self.region.before:
            attrs = {**inst.attrs, "masked": self.plan.masked} if inst.op is grid.COUNT else inst.attrs
            copy = ir.Inst(inst.op, inst.args, attrs, ir.Value(inst.result.type, inst.result.name), inst.loc)
            if copy.op.effects & ir.RAISES:
                copy.unwind = self.no_thread(head)
            head.insts.append(copy)
            self.values[inst.result] = copy.result
        if self.region is not self.regions[0]:
            leave = self.no_thread(head)
            head.insts.append(ir.Inst(memory.POLL, (), {"cost": 64}, None, self.loc, unwind=leave))
        width, height, depth = (self.make(head, gpu.BLOCK_DIM, axis=k) if k or not self.plan.wide
                                else self.make(head, grid.RUN) for k in range(3))
        self.zero, self.one = self.constant(head, 0), self.constant(head, 1)
        return width, height, depth

    def threads(self, lengths) -> tuple:
        """The loops over the threads. Returns the position of the thread along each axis, and its number."""
        width, height, depth = lengths
        if any(inst.op is gpu.THREAD_ID and inst.attrs["axis"] for inst in self.kernel.own):
            self.jump(self.head, self.layers, self.zero, depth)
            z = self.counted("z", self.layers, self.layer, self.after_all, self.below)
            self.jump(self.layer, self.rows, self.zero, height)
            y = self.counted("y", self.rows, self.row, self.below, self.after)
            number = self.make(self.row, a.IADD, self.make(self.row, a.IMUL, z, height), y)
        else:
            self.jump(self.head, self.rows, self.zero, self.make(self.head, a.IMUL, height, depth))
            y = z = number = self.counted("row", self.rows, self.row, self.after_all, self.after)
        base = self.make(self.row, a.IMUL, number, width)
        self.jump(self.row, self.columns, self.zero, width)
        x = self.counted("x", self.columns, self.thread, self.after, self.latch, parallel=True)
        self.linear = self.make(self.thread, a.IADD, base, x)
        return x, y, z

    def enter(self, place) -> None:
        """Emit the first steps of a thread: the test whether it waits for this region, and the values that depend only
        on its position."""
        self.blocks = self.kernel.blocks_of(self.region)
        self.values[self.kernel.linear] = self.linear
        if self.plan.masked and self.region is not self.regions[0]:
            self.begin = ir.Block("waiting")
            here = self.make(self.thread, grid.STATE_IS, self.linear, type=Bool, region=self.region.number)
            Builder(self.thread.insts, self.loc).branch(here, ir.Edge(self.begin), ir.Edge(self.latch))
        for inst in self.kernel.own:
            if inst.op is gpu.THREAD_ID:
                self.values[inst.result] = place[inst.attrs["axis"]]
            elif inst.op is gpu.LANE_ID:
                mask = self.constant(self.begin, 31)
                self.values[inst.result] = self.make(self.begin, a.IAND, self.linear, mask)
            else:
                self.begin.insts.append(clone_inst(inst, self.values, {}))

    def load(self, v: ir.Value, slot: int) -> ir.Value:
        """Load a value that an earlier region has kept, before any thread stores it for a later region."""
        common = self.kernel.is_common(v)
        block, where = (self.head, self.zero) if common else (self.begin, self.linear)
        loaded = ir.Value(v.type, v.name)
        block.insts.append(ir.Inst(grid.SLOT_LOAD, (where,), {"slot": slot, "type": v.type, "common": common}, loaded,
                                   self.loc))
        if common:
            self.head.insts[-2:] = self.head.insts[:-3:-1]  # swap the load with the jump
            loaded = self.make(self.begin, structure.RETYPE, loaded, type=v.type)
            self.begin.insts[-1].attrs["type"] = v.type
        return loaded

    def body(self, definitions) -> dict[ir.Block, ir.Block]:
        """A copy of the code of the region for the thread. Returns block -> copy."""
        live = self.kernel.live[self.region]
        arriving = [(v, self.load(v, slot)) for v, slot in live]
        defined = {v: b for b in self.blocks for v in b.values()}
        for v, new in arriving:
            if v not in defined:
                self.values[v] = new
        self.unchanged = {(new, slot) for (v, slot), (_, new) in zip(live, arriving) if v not in defined}
        copies = clone_blocks(self.blocks, self.values)
        for v, new in arriving:
            if v in defined:  # there is a loop around the wait: repair finds which of the two values is read
                home, token = copies[defined[v]], ir.Value(v.type, v.name)
                definitions[token] = {self.begin: new, home: self.values[v]}
                for block in copies.values():
                    if block is not home:
                        _rename(block, (v, self.values[v]), token)
        self.jump(self.begin, copies[self.region.entry],
                  *[self.values.get(p, p) for p in (
                      self.kernel.first_args if self.region is self.regions[0] else ())])
        return copies

    def finish(self, block: ir.Block) -> None:
        """Let a copied block end where its thread waits or ends, and failures in it lead to the end of the kernel."""
        last = block.insts[-1]
        follower = last.attrs.get("wait")
        if follower is not None or last.op is RETURN:
            block.insts.pop()
            number = self.kernel.ended(last) if follower is None else follower.number
            if self.plan.masked:
                block.insts.append(ir.Inst(grid.STATE_STORE, (self.linear,), {"region": number}, loc=last.loc))
            elif len(self.exits) > 1:
                block.insts.append(ir.Inst(grid.SLOT_STORE, (self.linear, self.constant(block, number)),
                                           {"slot": self.kernel.choice, "common": True}, loc=last.loc))
            self.jump(block, self.latch)
        if not self.plan.masked:
            block.insts = [i for i in block.insts if i.op is not grid.SLOT_STORE
                           or (i.args[1], i.attrs["slot"]) not in self.unchanged]
        for inst in block.insts:
            if inst.op.effects & ir.RAISES and inst.unwind is None:
                inst.unwind = ir.Edge(self.kernel.failing, [self.linear])
            if inst.op is memory.ARRAY_LOAD or inst.op is memory.ARRAY_STORE:
                inst.attrs = {**inst.attrs, "parallel": True}
            elif inst.op is grid.LANES:
                inst.attrs = {**inst.attrs, "masked": self.plan.masked}
        if self.kernel.debug:
            block.insts = [new for inst in block.insts for new in self.kernel.watched(inst, self.linear)]

    def follow(self) -> None:
        """Continue with the region that runs next, once all threads are done."""
        after_all, exits = self.after_all, self.exits
        if not self.plan.masked and len(exits) < 2:
            (follower,) = exits or {None}
            self.jump(after_all, self.kernel.done if follower is None else follower.head)
        elif not self.plan.masked:
            chosen = self.make(after_all, grid.SLOT_LOAD, self.zero, slot=self.kernel.choice, common=True)
            after_all.insts[-1].attrs["type"] = Int
            others = sorted((r for r in exits if r is not None), key=lambda r: r.number)
            ends = [*(r.head for r in others), *([self.kernel.done] if None in exits else [])]
            after_all.insts.append(ir.Inst(control.SWITCH, (chosen,),
                                           {"cases": tuple(r.number for r in others)[:len(ends) - 1]}, None, self.loc,
                                           [ir.Edge(ends[-1]), *map(ir.Edge, ends[:-1])]))
        else:
            lines = tuple(r.line for r in sorted(self.regions, key=lambda r: r.number))
            leave = self.no_thread(after_all)
            chosen = self.make(after_all, grid.NEXT, warps=self.kernel.warps, lines=lines)
            after_all.insts[-1].unwind = leave
            others = sorted((r for r in self.regions[1:]), key=lambda r: r.number)
            after_all.insts.append(ir.Inst(control.SWITCH, (chosen,), {"cases": tuple(r.number for r in others)}, None,
                                           self.loc, [ir.Edge(self.kernel.done), *(ir.Edge(r.head) for r in others)]))


def _rename(block: ir.Block, old: tuple[ir.Value, ...], new: ir.Value) -> None:
    for inst in block.insts:
        inst.args = [new if v in old else v for v in inst.args]
        for edge in inst.edges():
            edge.args = [new if v in old else v for v in edge.args]
