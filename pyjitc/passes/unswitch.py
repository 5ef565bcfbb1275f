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
from .choices import is_fixed, split
from .counted import Definitions
from .rewrite import remove_unreachable

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
    return loop.parent is not None and loop.has_hint("parallel")


def _unswitch(fn, loop: Loop, columns: Loop, nest, defs, edges) -> bool:
    """Hoist a branch out of `loop`, over the rows of threads or the columns of one row; return whether there was
    one."""
    outside = loop.entries(edges)
    if len(outside) != 1 or sum(len(b.insts) for b in loop.blocks) > MAX_INSTS:
        return False
    _, inst, entry = outside[0]
    if entry is inst.unwind:
        return False
    for block in nest.dom.order:
        branch = block.insts[-1]
        if (block not in columns.blocks or block is columns.header or branch.op is not control.BRANCH
            or branch.targets[0].block is branch.targets[1].block):
            continue
        moved: dict[ir.Inst, None] = {}
        if is_fixed(branch.args[0], loop, defs, moved, _always(columns, nest, defs)):
            for one in moved:
                if one.unwind is not None:
                    one.unwind = ir.Edge(_failed(fn, one.loc))
            split(fn, loop, branch.args[0], inst, entry, moved, defs)
            return True
    return False


def _always(columns, nest, defs):
    """Make a function that tells whether every thread executes an instruction."""
    def always(inst):
        home = defs.block_of[inst.result]
        return nest.of[home] is columns and all(nest.dom.dominates(home, latch) for latch in columns.latches)
    return always


def _failed(fn, loc) -> ir.Block:
    """A new block for a check that fails before the loop."""
    nobody, failed = ir.Value(Int), ir.Block("failed")
    failed.insts += [ir.Inst(control.CONST, (), {"value": -1}, nobody, loc), ir.Inst(grid.FAIL, (nobody,), loc=loc)]
    fn.blocks.append(failed)
    return failed
