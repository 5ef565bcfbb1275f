"""Simpler loops over the threads of a block: what all threads decide stands in front, and threads without work are left out.

Runs after grid, before versioning; then the loops vectorise.
Before:  loop t: ... branch go -> work, end        After:  branch go -> (loop t: ... work), (loop t: ... end)
         loop t in 0..n: if t < m: work                    loop t in 0..min(n, m): work
What computes a condition moves in front of the loop with it. A check moves only when every thread makes it; where it fails,
it fails for the whole block. Stores of what is the same for all threads, to a slot of the block, move as well.
Needs: SSA; loops that grid marked `parallel`, which run at least once.  Keeps: SSA; grows the code, up to a limit.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges, reverse_postorder
from ..ops import arith as a
from ..ops import control, gpu, grid, structure
from ..types.kinds import Bool, Int
from .counted import Definitions, find
from .repair import repair
from .rewrite import clone_blocks, remove_unreachable, split_edge

__all__ = ["run"]

MAX_INSTS = 300  # of a loop that is copied
_TIMES = 6  # loops that are copied in one function
_MOVED = {a.IADD, a.ISUB, a.IMUL, a.INEG, a.IAND, a.IOR, a.IXOR, a.ISHR, a.IEQ, a.INE, a.ILT, a.ILE, a.IGT, a.IGE, a.BAND, a.BOR, a.BNOT, a.CAST,
          control.CONST}
_CHECKED = {a.IADD_CK, a.ISUB_CK, a.IMUL_CK, a.INEG_CK}


def run(fn: ir.Function, options=None) -> None:
    for _ in range(_TIMES):
        fn.blocks = reverse_postorder(fn)
        nest = LoopNest(fn)
        defs, edges = Definitions(fn), in_edges(fn.blocks)
        if not any(_unswitch(fn, loop, columns, nest, defs, edges) for columns in nest.loops if _is_of_threads(columns)
                   for loop in (columns.parent, columns)):
            break
    remove_unreachable(fn)
    nest = LoopNest(fn)
    for loop in nest.loops:
        if _is_of_threads(loop):
            _shorten(fn, loop, nest, Definitions(fn), in_edges(fn.blocks))


def _is_of_threads(loop: Loop) -> bool:
    return loop.parent is not None and any(b.insts[-1].attrs.get("parallel") for b in loop.latches)


def _unswitch(fn, loop: Loop, columns: Loop, nest, defs, edges) -> bool:
    """Whether a branch was taken out of `loop`: over the rows of threads, or the columns of one row."""
    outside = loop.entries(edges)
    if len(outside) != 1 or sum(len(b.insts) for b in loop.blocks) > MAX_INSTS:
        return False
    source, inst, entry = outside[0]
    if entry is inst.unwind:
        return False
    for block in nest.dom.order:
        branch = block.insts[-1]
        if block not in columns.blocks or block is columns.header or branch.op is not control.BRANCH or branch.targets[0].block is branch.targets[1].block:
            continue
        moved: dict[ir.Inst, None] = {}
        if _is_fixed(branch.args[0], loop, columns, nest, defs, moved, 8):
            _split(fn, loop, block, branch, source, inst, entry, moved, defs)
            return True
    return False


def _is_fixed(value, loop, columns, nest, defs, moved, depth) -> bool:
    """Whether `value` is the same in all iterations; `moved` gets what computes it, operands first."""
    home = defs.block_of.get(value)
    if home not in loop.blocks:
        return True
    inst = defs.inst_of.get(value)
    if inst is None or not depth:
        return False
    if inst.op in _CHECKED:
        if nest.of[home] is not columns or not all(nest.dom.dominates(home, latch) for latch in columns.latches):
            return False
    elif inst.op not in _MOVED:
        return False
    if not all(_is_fixed(x, loop, columns, nest, defs, moved, depth - 1) for x in inst.args):
        return False
    moved[inst] = None
    return True


def _split(fn, loop, block, branch, source, inst, entry, moved, defs) -> None:
    before = ir.Block("unswitch")
    for one in moved:
        defs.block_of[one.result].insts.remove(one)
        if one.unwind is not None:
            nobody, failed = ir.Value(Int), ir.Block("failed")
            failed.insts += [ir.Inst(control.CONST, (), {"value": -1}, nobody, one.loc), ir.Inst(grid.FAIL, (nobody,), loc=one.loc)]
            fn.blocks.append(failed)
            one.unwind = ir.Edge(failed)
        before.insts.append(one)
    order = [b for b in fn.blocks if b in loop.blocks]
    defined = [v for b in order for v in [*b.params, *(i.result for i in b.insts if i.result is not None)]]
    home = {v: b for b in order for v in [*b.params, *(i.result for i in b.insts if i.result is not None)]}
    used: set[ir.Value] = set()
    for other in fn.blocks:
        if other not in loop.blocks:
            for one in other.insts:
                used.update(one.args)
                for edge in one.edges():
                    used.update(edge.args)
    values: dict[ir.Value, ir.Value] = {}
    copies = clone_blocks(order, values)
    condition = branch.args[0]
    for which, where in ((0, block), (1, copies[block])):
        last = where.insts[-1]
        where.insts[-1] = ir.Inst(control.JUMP, (), {}, None, last.loc, [last.targets[which]])
    before.insts.append(ir.Inst(control.BRANCH, (condition,), {}, None, inst.loc, [
        ir.Edge(loop.header, entry.args), ir.Edge(copies[loop.header], entry.args)]))
    entry.block, entry.args = before, []
    fn.blocks = [*fn.blocks, before, *copies.values()]
    remove_unreachable(fn)
    reached = set(fn.blocks)
    definitions = {v: {b: w for b, w in ((home[v], v), (copies[home[v]], values[v])) if b in reached} for v in defined if v in used}
    if definitions:
        repair(fn, definitions)


# ---------------------------------------------------------------- threads without work


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
