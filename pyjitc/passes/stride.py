"""Interchange loops in which the threads of a block stride over data with the loop over threads.

Runs in grid, before kernels are cut. The order of threads between waits is not specified: here each thread takes its
next step when all have taken theirs, so that neighbouring threads access neighbouring elements, as on a GPU.
Before:  for i in range(base + thread, stop, step): work            (or the same by while i < stop)
After:   j = base ; while j < stop: barrier ; i = j + thread ; if i < stop: work ; j += step
Needs: SSA; a first loop that all threads enter, without waits, over a range whose stop and step are the same for all.
Keeps: SSA, what each thread does, in its order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ir.uses import read_outside
from ..ops import arith as a
from ..ops import control, gpu, memory, structure
from ..types.kinds import Int
from .counted import Definitions, counts_down
from .rewrite import Builder

__all__ = ["run"]


def run(fn: ir.Function, start: ir.Block) -> None:
    """start: the block with the uniform instructions that were hoisted out of `fn`."""
    if any(i.op in gpu.WARP_OPS for b in fn.blocks for i in b.insts):
        return
    edges, defs, nest = in_edges(fn.blocks), Definitions(fn), LoopNest(fn)
    before = fn.blocks[0]
    while before.insts[-1].op is control.JUMP and len(edges[before.insts[-1].targets[0].block]) == 1:
        before = before.insts[-1].targets[0].block
    loop = next((one for one in nest.loops if any(edge.block is one.header for edge in before.insts[-1].targets)), None)
    if (loop is None or len(loop.entries(edges)) != 1
        or any(i.op in gpu.CONVERGENT for b in loop.blocks for i in b.insts)):
        return
    found = (_range if before.insts[-1].op is control.JUMP else _while)(loop, before, edges, defs)
    uniform = {inst.result for inst in start.insts} | set(start.params)
    if found is not None and found.fits(fn, loop, defs, uniform):
        found.rewrite(fn, loop, before, nest, start.insts)


def _range(loop, before, edges, defs) -> _Loop | None:
    """Match `for i in range(start, stop, step)`: the header leaves when no trips are left."""
    header, parts = loop.header, counts_down(loop, defs, edges)
    if (parts is None or [edge for _, edge in loop.exits()] != [parts[2]]
        or any(i.op.effects for i in header.insts[:-1])):
        return None
    found = _Loop(loop, edges, defs)
    left, found.body, found.leave = parts
    less = [edge.args[header.params.index(left)].inst for edge in found.back]
    found.needless = [header.insts[-1].args[0].inst, *less]
    for i in header.params:
        if i is not left and found.counts(i):
            found.stop = _stop_of_range(found.start[i], found.start[left], found.step, defs)
            found.counters = [i, left]
            return found if found.stop is not None else None
    return None


def _while(loop, before, edges, defs) -> _Loop | None:
    """Match `while i < stop`, tested before the loop, and again at the end of each trip."""
    header, exits, asks = loop.header, loop.exits(), before.insts[-1]
    if len(exits) != 1 or len(loop.latches) != 1 or exits[0][0] is not loop.latches[0] or asks.op is not control.BRANCH:
        return None
    asks_again = loop.latches[0].insts[-1]
    first, again = (inst.args[0].inst for inst in (asks, asks_again))
    if any(t is None or t.op is not a.ILT for t in (first, again)) or first.args[1] is not again.args[1] or \
            asks.targets[0].block is not header or asks_again.targets[0].block is not header:
        return None
    found = _Loop(loop, edges, defs)
    found.stop, found.needless, found.body = again.args[1], [again], None
    i = next((p for p, v in zip(header.params, found.back[0].args) if v is again.args[0]
              and found.start[p] is first.args[0]), None)
    if i is None or not found.counts(i):
        return None
    found.counters = [i]
    # both exits, without a trip and after some, must go to the same block, with the values of the header's parameters
    past, out = asks.targets[1], exits[0][1]
    if (past.block is not out.block
        and not all(len(b.insts) == 1 and b.insts[0].op is control.RETURN for b in (past.block, out.block))):
        return None
    args = []
    for none, some in zip(past.args, out.args):
        kept = next((p for p, v in zip(header.params, found.back[0].args) if v is some and found.start[p] is none
                     and p is not i), None)
        if kept is None and (none is not some or defs.block_of.get(some) in loop.blocks):
            return None
        args.append(none if kept is None else kept)
    found.leave = ir.Edge(past.block, args)
    return found


class _Loop:
    """entry: the edge into the loop; start: parameter of the header -> its first value; back: the back edges; counters:
    the parameters that only count, `i` first; advances: the instructions that add `step` to `i`; needless: other
    instructions that only count; body: the edge to the body, None where that is the header; leave: the edge out of the
    loop, with arguments expressed by the header's parameters."""

    counters: list[ir.Value]
    needless: list[ir.Inst]
    stop: ir.Value
    body: ir.Edge | None
    leave: ir.Edge

    def __init__(self, loop, edges, defs):
        self.header, self.defs = loop.header, defs
        ((_, _, self.entry),) = loop.entries(edges)
        self.start = dict(zip(loop.header.params, self.entry.args))
        self.back = [edge for source, _, edge in edges[loop.header] if source in loop.blocks]

    def counts(self, i) -> bool:
        """Whether all back edges add the same value to `i`, and `i` starts at the thread's position."""
        k = self.header.params.index(i)
        made = [edge.args[k].inst for edge in self.back]
        if (any(one is None or one.op not in (a.IADD, a.IADD_CK) or one.args[0] is not i for one in made)
            or len({one.args[1] for one in made}) != 1):
            return False
        self.advances, self.step = made, made[0].args[1]
        self.base, self.thread = _place(self.start[i], self.defs)
        return self.thread is not None

    def fits(self, fn, loop, defs, uniform) -> bool:
        """Whether stop and step are uniform, and the counters are used in the loop only."""
        if (self.stop not in uniform or not _is_size(self.step, defs) or self.base is not None
            and self.base not in uniform):
            return False
        insts = [one for block in loop.blocks for one in block.insts]
        outside = {v for v, block in defs.block_of.items() if block in loop.blocks} & read_outside(fn, loop.blocks)
        if self.body is None and outside:  # the values of the last trip would be needed after the loop
            return False
        if not outside | (set(self.leave.args) & {v for v, block in defs.block_of.items() if block in loop.blocks}) <= {
                p for p in self.header.params if p not in self.counters}:
            return False
        counting = {*self.counters[1:], *(one.result for one in self.needless)}
        passed = {v for edge in self.back for p, v in zip(self.header.params, edge.args) if p not in self.counters}
        reads = ({v for one in insts if one not in self.needless and one.op is not control.BRANCH for v in one.args}
                 | passed)
        branches = [one for one in insts if one.op is control.BRANCH and one.args[0] in counting]
        if counting & reads or len(branches) != 1:
            return False
        self.needless += [one for one in self.advances if one.result not in reads]
        return True

    def rewrite(self, fn, loop, before, nest, common: list[ir.Inst]) -> None:
        header, i, loc = self.header, self.counters[0], self.advances[0].loc
        carried = [p for p in header.params if p not in self.counters]
        work, last = ir.Block("stride"), ir.Block("next_stride")
        j, base = ir.Value(Int, "base"), self.base
        if base is None:
            base = Builder(common, loc).const(Int, 0)
        for block in loop.blocks:
            block.insts = [one for one in block.insts if one not in self.needless
                           and not (one.op is memory.POLL and nest.of[block] is loop)]
        body = self.body
        computed = header.insts[:-1] if body is not None else []
        if body is None:
            body = ir.Edge(ir.Block(header.name))
            body.block.insts = header.insts
            fn.blocks.append(body.block)
            latch = body.block if loop.latches[0] is header else loop.latches[0]
            latch.insts[-1] = ir.Inst(control.JUMP, (), {}, None, loc, self.back)
            before.insts[-1] = ir.Inst(control.JUMP, (), {}, None, loc, [self.entry])
        work.insts = [ir.Inst(gpu.BARRIER, loc=loc), ir.Inst(a.IADD, (j, self.thread), {"flags": "nuw nsw"}, i, loc),
                      *computed]
        b = Builder(work.insts, loc)
        b.branch(b.test(a.ILT, i, self.stop), ir.Edge(body.block, body.args), ir.Edge(last, carried))
        last.params = [ir.Value(p.type, p.name) for p in carried]
        b = Builder(last.insts, loc)
        b.jump(ir.Edge(header, [b.int(a.IADD, j, self.step), *last.params]))
        for edge in self.back:
            edge.args = [x for p, x in zip(header.params, edge.args) if p not in self.counters]
            edge.block = last
        self.entry.args = [base, *(self.start[p] for p in carried)]
        header.params = [j, *carried]
        header.insts = []
        b = Builder(header.insts, loc)
        b.branch(b.test(a.ILT, j, self.stop), ir.Edge(work), self.leave)
        fn.blocks += [work, last]


def _place(value, defs):
    """(base or None, thread) where a value is the thread's number along x, alone or added to a base of its block; else
    (None, None)."""
    inst = value.inst
    if _is_thread(inst):
        return None, value
    if inst is not None and inst.op is a.IADD:
        for base, thread in (inst.args, inst.args[::-1]):
            first = base.inst
            if _is_thread(thread.inst) and first is not None and first.op is a.IMUL:
                return base, thread
    return None, None


def _is_thread(inst) -> bool:
    return inst is not None and inst.op is gpu.THREAD_ID and inst.attrs["axis"] == 0


def _is_size(v, defs) -> bool:
    """Whether a step is a number of threads or a small constant, so that adding it to a position does not overflow."""
    inst = v.inst
    if inst is not None and inst.op is a.IMUL:
        return all(x.inst is not None and x.inst.op in (gpu.BLOCK_DIM, gpu.GRID_DIM)
                   for x in inst.args)
    constant = defs.constant(v)
    return (inst is not None and inst.op in (gpu.BLOCK_DIM, gpu.GRID_DIM) or constant is not None
            and 1 < constant < 1 << 31)


def _stop_of_range(start, trips, step, defs):
    """n where `trips` is the length of range(start, n, step), with a positive step; else None."""
    chosen = trips.inst
    if chosen is None or chosen.op is not structure.SELECT or defs.constant(chosen.args[2]) != 0:
        return None
    some, count = (v.inst for v in chosen.args[:2])
    if (some is None or some.op is not a.ILT or some.args[0] is not start or count is None or count.op is not a.IADD
        or defs.constant(count.args[1]) != 1):
        return None
    stop = some.args[1]
    quotient = count.args[0].inst
    if quotient is None or quotient.op is not a.IFLOORDIV or quotient.args[1] is not step:
        return None
    span = quotient.args[0].inst
    if span is None or span.op is not a.ISUB or span.args[1] is not start:
        return None
    last = span.args[0].inst
    return (stop if last is not None and last.op is a.IADD and last.args[0] is stop
            and defs.constant(last.args[1]) == -1 else None)
