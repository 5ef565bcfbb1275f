"""Convert branches that clear a flag into arithmetic on the flag.

The flag of a dual (types/kinds.py) is cleared where a number is added under a condition. LLVM vectorises a loop with
such a flag if it is computed by arithmetic, but not if it depends on control flow.
Before:  branch c -> add, on(flag)      add: ... ; jump on(false)
After:   n = bnot c ; f = band flag, n ; branch c -> add, on(f)      add: ... ; jump on(f)
Runs after the passes that copy loops. Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import in_edges
from ..ops import control
from ..ops.arith import BAND, BNOT, BOR
from ..types.kinds import Bool

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    known = {i.result: i.attrs["value"] for block in fn.blocks for i in block.insts
             if i.op is control.CONST and i.result.type is Bool}
    edges = in_edges(fn.blocks)
    for block in fn.blocks:
        branch = block.insts[-1]
        if branch.op is control.BRANCH:
            for taken in (0, 1):
                _compute(block, branch, taken, known, edges)


def _compute(block, branch, taken, known, edges) -> None:
    """Compute, before the branch, the flags that the block at `branch.targets[taken]` sets and the other edge passes
    on."""
    arm, past = branch.targets[taken].block, branch.targets[1 - taken]
    last = arm.insts[-1]
    if len(edges[arm]) != 1 or arm.params or last.op is not control.JUMP or last.targets[0].block is not past.block:
        return
    on = last.targets[0]
    for k, (value, flag) in enumerate(zip(on.args, past.args)):
        if value not in known or flag in known or flag.type is not Bool:
            continue
        condition = branch.args[0]
        if known[value] == (taken == 1):  # `flag and not condition`, or `flag or not condition`
            condition = _before(block, BNOT, condition)
        on.args[k] = past.args[k] = _before(block, BOR if known[value] else BAND, flag, condition)


def _before(block, op, *args) -> ir.Value:
    result = ir.Value(Bool)
    block.insts.insert(len(block.insts) - 1, ir.Inst(op, args, {}, result, block.insts[-1].loc))
    return result
