"""Narrow the loops over the threads of a block to threads, and rows of threads, that have work to do.

Runs after unswitch and simplify, before versioning, which then proves that indices stay in range.
Before:  loop y in 0..h: if first + y < m: loop t in 0..w: if k < t: work
After:   loop y in 0..min(h, m - first): loop t in max(0, k + 1)..w: work
A store of a uniform value to a slot of the block does not count as work of a thread: it is hoisted.
Needs: SSA, the loops of grid.  Keeps: SSA, effects.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges
from ..ir.uses import read_outside
from ..ops import arith as a
from ..ops import control, gpu, grid, structure
from ..types.kinds import Int
from .counted import Counted, Definitions, find
from .rewrite import Builder, remove_unreachable, split_edge
from .unswitch import is_of_threads

__all__ = ["run"]

_FAR = 1 << 62  # more than any position in the grid
_ORDERS = (a.ILT, a.ILE, a.IGT, a.IGE)


def run(fn: ir.Function, options=None) -> None:
    changed = True
    while changed:
        nest, defs, edges = LoopNest(fn), Definitions(fn), in_edges(fn.blocks)
        changed = False
        for loop in nest.loops:
            if is_of_threads(loop):
                _advance_stores(fn, loop, nest, defs, edges)
                assert loop.parent is not None
                changed = _narrow(fn, loop.parent, nest, defs, edges) or _narrow(fn, loop, nest, defs, edges)
                if changed:
                    remove_unreachable(fn)
                    break


def _advance_stores(fn, columns: Loop, nest, defs, edges) -> None:
    """Hoist stores of uniform values to slots of the block out of the loops over threads."""
    loop = columns.parent
    assert loop is not None
    outside = loop.entries(edges)
    if len(outside) != 1 or len(columns.latches) != 1:
        return
    (latch,) = columns.latches
    found = [(block, one) for block in columns.blocks
             if all(nest.dom.dominates(columns.header, b) for b in loop.latches) and nest.of[block] is columns
             and nest.dom.dominates(block, latch)
             for one in block.insts if one.op is grid.SLOT_STORE and one.attrs.get("common")
             and defs.block_of.get(one.args[1]) not in loop.blocks]
    if not found:
        return
    front = split_edge(outside[0][2], "front")  # only a block of this loop: a branch may lead to others, too
    fn.blocks.append(front)
    nobody = ir.Value(Int)
    front.insts.insert(0, ir.Inst(control.CONST, (), {"value": 0}, nobody, found[0][1].loc))
    for block, one in found:
        block.insts.remove(one)
        front.insts.insert(-1, ir.Inst(one.op, (nobody, one.args[1]), one.attrs, None, one.loc))
    edges.clear()
    edges.update(in_edges(fn.blocks))


def _narrow(fn, loop: Loop, nest, defs, edges) -> bool:
    """Turn a branch at the start of the loop body into a bound of the loop, and return whether there was one."""
    counted = find(loop, defs, edges)
    if counted is None or len(loop.latches) != 1:
        return False
    (latch,) = loop.latches
    if latch.params or _works(latch):
        return False
    block = counted.body.block
    while (block in loop.blocks and block is not latch and nest.of[block] is loop and not block.params
           and len(edges[block]) == 1 and not _works(block)):
        last = block.insts[-1]
        if last.op is control.JUMP:
            block = last.targets[0].block
            continue
        if last.op is not control.BRANCH:
            return False
        ways = [_beyond(fn, edge, loop, nest, defs, edges) is latch for edge in last.targets]
        if ways[0] != ways[1] and _bound(fn, counted, last, ways.index(False), nest, defs, edges):
            last.targets[:] = [last.targets[ways.index(False)]]
            block.insts[-1] = ir.Inst(control.JUMP, (), {}, None, last.loc, last.targets)
            return True
        return False
    return False


def _works(block: ir.Block) -> bool:
    return any(i.op.effects & ~ir.READS for i in block.insts[:-1])


def _beyond(fn, edge: ir.Edge, loop: Loop, nest, defs, edges) -> ir.Block:
    """The block that control reaches over an edge after blocks without effects."""
    while not edge.block.params or edge.block in {inner.header for inner in loop.inner}:
        block = edge.block
        inner = nest.of.get(block)
        if inner is not None and inner is not loop and inner.header is block:
            counted = find(inner, defs, edges)
            inside = {v for v, home in defs.block_of.items() if home in inner.blocks}
            if (counted is None or counted.exit.args or any(map(_works, inner.blocks))
                or inside & read_outside(fn, inner.blocks)):
                break
            edge = counted.exit
        elif (block in loop.blocks and len(block.insts) == 1 and block.insts[0].op is control.JUMP
              and block not in loop.latches):
            edge = block.insts[0].targets[0]
        else:
            break
    return edge.block


def _bound(fn, counted: Counted, branch, work: int, nest, defs, edges) -> bool:
    """Narrow the loop to the iterations in which the branch takes its target `work`, where it compares the thread's
    position; return whether that was possible."""
    test = branch.args[0].inst
    if test is None or test.op not in _ORDERS or any(v.type is not Int for v in test.args):
        return False
    loop = counted.loop
    x = next((p for p, step in counted.steps.items() if p is not counted.left and step == 1), None)
    if x is None:
        return False
    for op, place, limit in ((test.op, *test.args), (test.op.swapped, *test.args[::-1])):
        start = _offset(place, x, defs, loop)
        if start is not None and defs.block_of.get(limit) not in loop.blocks:
            break
    else:
        return False
    if work == 1:
        op = op.negated
    if op in (a.ILE, a.IGT) and start is not x and not _is_base(start):
        return False
    # before the outermost loop in which all of these are invariant
    needed = [limit, counted.start[x], counted.start[counted.left], *([] if start is x else [start])]
    outer, entry = loop, counted.entry
    while outer.parent is not None and all(defs.block_of.get(v) not in outer.parent.blocks for v in needed):
        outer = outer.parent
        (*_, entry), *more = outer.entries(edges)
        if more:
            return False
    front = split_edge(entry, "front")
    fn.blocks.append(front)

    b = Builder(front.insts, test.loc, before_last=True)

    def least(v, w):
        return b.int(structure.SELECT, b.test(a.ILT, v, w), v, w)

    def most(v, w):
        return b.int(structure.SELECT, b.test(a.ILT, v, w), w, v)

    # Positions are from 0 to far below _FAR: clamping the limit to that changes no comparison, and sums then cannot
    # overflow.
    limit = most(limit, b.const(Int, -1))
    if op is a.ILE or op is a.IGT:
        limit = b.int(a.IADD, least(limit, b.const(Int, _FAR)), b.const(Int, 1))
    if start is not x:
        limit = b.int(a.ISUB, limit, start)
    low, count = counted.start[x], counted.start[counted.left]
    if op is a.ILT or op is a.ILE:
        count = least(count, limit if defs.constant(low) == 0 else b.int(a.ISUB, limit, low))
    else:
        first = most(low, limit)
        count = b.int(a.ISUB, count, first if defs.constant(low) == 0 else b.int(a.ISUB, first, low))
        low = first
    if front.insts[-1].targets[0].block is loop.header:
        where = front.insts[-1].targets[0]
    else:
        where = counted.entry
    header = loop.header
    where.args[header.params.index(x)], where.args[header.params.index(counted.left)] = low, count
    return True


def _offset(place, x, defs, loop):
    """The value k where `place` is k + x and neither is negative; x itself where `place` is x; else None."""
    if place is x:
        return x
    inst = place.inst
    if inst is None or inst.op is not a.IADD or x not in inst.args:
        return None
    first = inst.args[1 - inst.args.index(x)]
    if defs.block_of.get(first) in loop.blocks or not (_is_base(first) or inst.attrs.get("flags") == "nuw nsw"):
        return None
    return first


def _is_base(v) -> bool:
    """Whether a value is the number of the first thread of a block in the grid, which is far below 2**62."""
    made = v.inst
    return made is not None and made.op is a.IMUL and all(
        x.inst is not None and x.inst.op in (gpu.BLOCK_ID, gpu.BLOCK_DIM) for x in made.args)
