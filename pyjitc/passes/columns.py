"""Copy an innermost loop for arrays whose number of columns is the largest constant column index plus one, so that LLVM
knows the distance between rows.

Runs after versioning, before polling. A loop that reads `p[i, 0]`, `p[i, 1]` and `p[i, 2]` nearly always does so from
an array of three columns. Where that is known LLVM loads whole vectors of neighbouring rows and permutes them, instead
of loading each number by itself.
Before:  header(i, left): ... x = array_load p, i, 0 ; y = array_load p, i, 1
After:   n = array_dim p {axis: 1} ; branch n == 2 and left >= 16 -> exact, header(i, left)
         exact: q = array_view p, 0, rows, 2 ; jump copy(i, left)       copy(i, left): ... x = array_load q, i, 0 ; ...
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order; grows the code by a small loop.
"""
from __future__ import annotations

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import read_outside
from ..ops.arith import BAND, IEQ, IGE
from ..ops.memory import ACCESSES, ARRAY_DIM, ARRAY_STRIDE, ARRAY_VIEW
from ..types.kinds import Int
from .counted import Definitions, find
from .hints import adds_in_order
from .repair import repair
from .rewrite import Builder, clone_blocks

__all__ = ["run"]

MAX_INSTS = 80  # the most instructions of a loop that is copied
MAX_LOOPS = 4  # the most loops of a function that are copied
MOST = 8  # the most columns
LEAST = 16  # the fewest trips for which vectors are faster


def run(fn: ir.Function, options=Options()) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    nest = LoopNest(fn)
    defs, edges = Definitions(fn), in_edges(fn.blocks)
    plans: list[tuple] = []
    for loop in nest.loops:
        if not loop.inner and len(plans) < MAX_LOOPS and (plan := _plan(loop, defs, edges, options)) is not None:
            plans.append(plan)
    if not plans:
        return
    fn.blocks = nest.dom.order
    definitions: dict[ir.Value, dict[ir.Block, ir.Value]] = {}
    for counted, exact in plans:
        definitions.update(_copy(fn, counted, exact))
    fn.blocks = reverse_postorder(fn)
    repair(fn, definitions)


def _plan(loop, defs, edges, options):
    """(counted, array -> its number of columns) of a loop that LLVM may then vectorise, or None."""
    insts = [i for block in loop.blocks for i in block.insts]
    if len(insts) > MAX_INSTS or loop.has_hint("novectorize"):
        return None
    if any(i.unwind is not None or i.op not in ACCESSES and i.op.effects & ~ir.TERMINATOR for i in insts):
        return None
    exact = _exact(insts, loop, defs)
    if not exact:
        return None
    counted = find(loop, defs, edges)
    if counted is None or adds_in_order(loop, options) or any(
            edge.block not in loop.blocks and edge is not counted.exit for b in loop.blocks for edge in b.edges()):
        return None
    return counted, exact


def _exact(insts, loop, defs) -> dict[ir.Value, int]:
    """Array defined outside the loop -> the number of columns up to the last one that the loop accesses. Only arrays of
    which several columns are accessed, all by constant indices, and in another row on each trip."""
    columns: dict[ir.Value, set] = {}
    moving: dict[ir.Value, bool] = {}
    for inst in insts:
        if inst.op in ACCESSES:
            array = inst.args[0]
            n = array.type.ndim
            if n > 1 and array.type.layout == "C" and defs.block_of[array] not in loop.blocks:
                columns.setdefault(array, set()).add(defs.constant(inst.args[n]))
                moves = defs.block_of[inst.args[n - 1]] in loop.blocks
                moving[array] = moving.get(array, True) and moves
    return {array: max(found) + 1 for array, found in columns.items()
            if moving[array] and None not in found and len(found) > 1 and min(found) >= 0 and max(found) < MOST}


def _copy(fn, counted, exact) -> dict[ir.Value, dict[ir.Block, ir.Value]]:
    """Copy a loop. Returns the new definitions of values that are used after it, for `repair`."""
    loop, entry, loc = counted.loop, counted.entry, counted.entry_inst.loc
    order = [b for b in fn.blocks if b in loop.blocks]
    used = read_outside(fn, loop.blocks)
    values: dict[ir.Value, ir.Value] = {}
    copies = clone_blocks(order, values)

    guard, start = ir.Block("columns"), ir.Block("exact")
    g, b = Builder(guard.insts, loc), Builder(start.insts, loc)
    trips = entry.args[loop.header.params.index(counted.left)]
    condition = g.test(IGE, trips, g.const(Int, LEAST))
    views: dict[ir.Value, ir.Value] = {}
    for array, n in exact.items():
        last = array.type.ndim - 1
        length = g.const(Int, n)
        one = g.test(IEQ, g.int(ARRAY_DIM, array, axis=last), length)
        condition = g.test(BAND, condition, one)
        dims = [b.int(ARRAY_DIM, array, axis=axis) for axis in range(last)]
        strides = [b.int(ARRAY_STRIDE, array, axis=axis) for axis in range(last + 1)]
        views[array] = b.make(ARRAY_VIEW, array.type, array, b.const(Int, 0), *dims, length, *strides, type=array.type)
    for block in copies.values():
        for inst in block.insts:
            if inst.op in ACCESSES:
                inst.args = [views.get(inst.args[0], inst.args[0]), *inst.args[1:]]
    b.jump(ir.Edge(copies[loop.header], entry.args))
    g.branch(condition, ir.Edge(start), ir.Edge(loop.header, entry.args), likely=True)
    entry.block, entry.args = guard, []
    fn.blocks += [guard, start, *copies.values()]
    return {v: {block: v, copies[block]: values[v]} for block in order
            for v in block.values() if v in used}
