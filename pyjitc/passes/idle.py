"""Threads of a block that have nothing to do are left out of the loop over them.

Runs after unswitch and simplify, before versioning, which then finds that indices stay in range.
Before:  loop t in 0..n: if t < m: work        After:  loop t in 0..min(n, m): work
A store of what is the same for all threads, to a slot of the block, is no work of theirs: it stands in front.
Needs: SSA, the loops of grid.  Keeps: SSA, effects.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges
from ..ops import arith as a
from ..ops import control, gpu, grid, structure
from ..types.kinds import Bool, Int
from .counted import Definitions, find
from .rewrite import split_edge
from .unswitch import is_of_threads

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    for loop in nest.loops:
        if is_of_threads(loop):
            _shorten(fn, loop, nest, Definitions(fn), in_edges(fn.blocks))


def _shorten(fn, columns: Loop, nest, defs, edges) -> None:
    loop = columns.parent
    counted = find(columns, defs, edges)
    outside = loop.entries(edges)
    if counted is None or len(outside) != 1 or len(columns.latches) != 1 or counted.start[counted.left] in _inside(loop, defs):
        return
    front = split_edge(outside[0][2], "front")  # the loop's own: a branch may lead to others
    fn.blocks.append(front)
    (latch,) = columns.latches
    for block in list(columns.blocks):  # stores of what is the same for all
        if all(nest.dom.dominates(columns.header, b) for b in loop.latches) and nest.of[block] is columns and nest.dom.dominates(block, latch):
            for one in list(block.insts):
                if one.op is grid.SLOT_STORE and one.attrs.get("common") and defs.block_of.get(one.args[1]) not in loop.blocks:
                    block.insts.remove(one)
                    front.insts.insert(-1, ir.Inst(one.op, (counted.start[counted.left], one.args[1]), one.attrs, None, one.loc))
    body = counted.body.block
    branch = body.insts[-1]
    if body.params or branch.op is not control.BRANCH or any(i.op.effects & ~ir.READS for i in body.insts[:-1]) or latch.params or any(
            i.op.effects for i in latch.insts[:-1]):
        return
    test = defs.inst_of.get(branch.args[0])
    if test is None or test not in body.insts or test.op not in _LIMITS:
        return
    left, work = _LIMITS[test.op]
    place, limit = test.args if left else test.args[::-1]
    work = branch.targets[work]
    idle = branch.targets[1 - branch.targets.index(work)]
    if idle.block is not latch or work.block is latch or defs.block_of.get(limit) in loop.blocks:
        return
    x = next((p for p, step in counted.steps.items() if p is not counted.left and step == 1), None)
    start = _offset(place, x, defs, loop)
    if x is None or start is None or defs.constant(counted.start[x]) != 0:
        return

    def make(op, *args, type=Int, **attrs):
        result = ir.Value(type)
        front.insts.insert(-1, ir.Inst(op, args, attrs, result, test.loc))
        return result

    zero, width = make(control.CONST, value=0), counted.start[counted.left]
    limit = make(structure.SELECT, make(a.ILT, limit, zero, type=Bool), zero, limit)
    room = limit if start is x else make(a.ISUB, limit, start)
    trips = make(structure.SELECT, make(a.ILT, room, width, type=Bool), room, width)
    counted.entry.args[columns.header.params.index(counted.left)] = trips
    body.insts[-1] = ir.Inst(control.JUMP, (), {}, None, branch.loc, [work])


# comparison -> (whether the thread stands on the left of it, target of the threads with work)
_LIMITS = {a.ILT: (True, 0), a.IGE: (True, 1), a.IGT: (False, 0), a.ILE: (False, 1)}


def _offset(place, x, defs, loop):
    """k where `place` is k + x, for the first thread's number k in the grid; x itself where that is all; else None."""
    if place is x:
        return x
    inst = defs.inst_of.get(place)
    if inst is None or inst.op is not a.IADD or x not in inst.args:
        return None
    first = inst.args[1 - inst.args.index(x)]
    made = defs.inst_of.get(first)
    if made is None or made.op is not a.IMUL or defs.block_of[first] in loop.blocks or any(
            defs.inst_of.get(v) is None or defs.inst_of[v].op not in (gpu.BLOCK_ID, gpu.BLOCK_DIM) for v in made.args):
        return None
    return first


def _inside(loop, defs):
    return {v for v, block in defs.block_of.items() if block in loop.blocks}
