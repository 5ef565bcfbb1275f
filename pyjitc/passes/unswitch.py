"""Loop unswitching: hoist uniform branches out of the loop over the threads of a block, with a copy of the loop for
each target.

Runs after grid, before versioning; then the loops vectorise.
Before:  loop t: ... branch go -> work, end        After:  branch go -> (loop t: ... work), (loop t: ... end)
The instructions that compute a condition are hoisted with it. A check is hoisted only if every thread makes it; where
it fails, it fails for the whole block.
Needs: SSA; loops that grid marked `parallel`, which run at least once.  Keeps: SSA; grows the code, up to a limit.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges, reverse_postorder
from ..ops import control, grid
from ..types.kinds import Int
from .counted import Definitions
from .repair import repair
from .rewrite import clone_blocks, read_outside, remove_unreachable

__all__ = ["is_of_threads", "run"]

MAX_INSTS = 300  # the most instructions of a loop that is copied
_TIMES = 6  # the most loops that are copied in one function


def run(fn: ir.Function, options=None) -> None:
    for _ in range(_TIMES):
        fn.blocks = reverse_postorder(fn)
        nest = LoopNest(fn)
        defs, edges = Definitions(fn), in_edges(fn.blocks)
        if not any(_unswitch(fn, loop, columns, nest, defs, edges) for columns in nest.loops if is_of_threads(columns)
                   for loop in (columns.parent, columns) if loop is not None):
            break
    remove_unreachable(fn)


def is_of_threads(loop: Loop) -> bool:
    """Whether a loop is the inner loop over the threads of a block."""
    return loop.parent is not None and any(b.insts[-1].attrs.get("parallel") for b in loop.latches)


def _unswitch(fn, loop: Loop, columns: Loop, nest, defs, edges) -> bool:
    """Hoist a branch out of `loop`, over the rows of threads or the columns of one row; return whether there was
    one."""
    outside = loop.entries(edges)
    if len(outside) != 1 or sum(len(b.insts) for b in loop.blocks) > MAX_INSTS:
        return False
    source, inst, entry = outside[0]
    if entry is inst.unwind:
        return False
    for block in nest.dom.order:
        branch = block.insts[-1]
        if (block not in columns.blocks or block is columns.header or branch.op is not control.BRANCH
            or branch.targets[0].block is branch.targets[1].block):
            continue
        moved: dict[ir.Inst, None] = {}
        if _is_fixed(branch.args[0], loop, columns, nest, defs, moved, 8):
            _split(fn, loop, block, branch, source, inst, entry, moved, defs)
            return True
    return False


def _is_fixed(value, loop, columns, nest, defs, moved, depth) -> bool:
    """Whether `value` is invariant in the loop; the instructions that compute it are added to `moved`, operands
    first."""
    home = defs.block_of.get(value)
    if home not in loop.blocks:
        return True
    inst = value.inst
    if inst is None or not depth:
        return False
    if inst.op.wrapping is not None:
        if nest.of[home] is not columns or not all(nest.dom.dominates(home, latch) for latch in columns.latches):
            return False
    elif inst.op.effects != ir.PURE or inst.op.cost > ir.CHEAP:
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
            failed.insts += [ir.Inst(control.CONST, (), {"value": -1}, nobody, one.loc),
                             ir.Inst(grid.FAIL, (nobody,), loc=one.loc)]
            fn.blocks.append(failed)
            one.unwind = ir.Edge(failed)
        before.insts.append(one)
    order = [b for b in fn.blocks if b in loop.blocks]
    defined = [v for b in order for v in [*b.params, *(i.result for i in b.insts if i.result is not None)]]
    home = {v: b for b in order for v in [*b.params, *(i.result for i in b.insts if i.result is not None)]}
    used = read_outside(fn, loop.blocks)
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
    definitions = {v: {b: w for b, w in ((home[v], v), (copies[home[v]], values[v])) if b in reached} for v in defined
                   if v in used}
    if definitions:
        repair(fn, definitions)
