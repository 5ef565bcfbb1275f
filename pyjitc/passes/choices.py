"""Hoist a branch that chooses between inner loops, or between a call and other code, out of the loop around them, if
its condition is invariant.

Runs after versioning, whose copies without checks it copies again, and before polling: a loop that is left with short
loops alone needs no poll of its own on every trip. Library functions choose by the length of a row between a loop, or
straight code, for short rows and a loop or a call for long rows; the loop over the rows would test the length again for
each row. A loop without a call keeps its values in registers, and may be vectorised.
Before:  loop i: ... branch short -> one, other           After:  branch short -> (loop i: ... one), (loop i: ... other)
The instructions that compute a condition are hoisted with it.
Needs: SSA.  Keeps: SSA, effects and their order; grows the code, up to a limit.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import read_outside
from ..ops import control
from .counted import Definitions
from .repair import repair
from .rewrite import Builder, clone_blocks, remove_unreachable

__all__ = ["is_fixed", "run", "split"]

MAX_INSTS = 150  # the most instructions of a loop that is copied
_TIMES = 2  # the most loops that are copied in one function


def run(fn: ir.Function, options=None) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    for n in range(_TIMES):
        nest = LoopNest(fn)
        around = [loop for loop in nest.loops
                  if (loop.inner or any(map(_calls, loop.blocks))) and not _keeps_checks(loop)
                  and sum(len(block.insts) for block in loop.blocks) <= MAX_INSTS]
        if not around:
            return
        defs, edges = Definitions(fn), in_edges(fn.blocks)
        if not any(_choose(fn, loop, nest, defs, edges) for loop in around):
            return
        remove_unreachable(fn)
        fn.blocks = reverse_postorder(fn)


def _keeps_checks(loop) -> bool:
    """Whether a loop is the copy in which `versioning` has left the checks."""
    return loop.has_hint("novectorize")


def _calls(block) -> bool:
    """Whether a block calls a function that is worth optimising, not one for a rare case."""
    return any([inst.op is control.INVOKE and not inst.attrs["callee"].flags.optnone for inst in block.insts])


def _choose(fn, loop, nest, defs, edges) -> bool:
    """Hoist a branch between inner loops, or to a call, out of `loop`; return whether there was one."""
    entries = loop.entries(edges)
    if len(entries) != 1:
        return False
    _, inst, entry = entries[0]
    if entry is inst.unwind:
        return False
    costly = [inner.header for inner in loop.inner] + list(filter(_calls, loop.blocks))
    for block in nest.dom.order:
        branch = block.insts[-1]
        if (nest.of.get(block) is not loop or branch.op is not control.BRANCH or "likely" in branch.attrs
            or any(edge.block not in loop.blocks for edge in branch.targets)
            or not any(nest.dom.dominates(edge.block, one) for edge in branch.targets for one in costly)):
            continue
        moved: dict[ir.Inst, None] = {}
        if is_fixed(branch.args[0], loop, defs, moved):
            split(fn, loop, branch.args[0], inst, entry, moved, defs)
            return True
    return False


def is_fixed(value, loop, defs, moved, may_check=lambda inst: False, depth=8) -> bool:
    """Whether `value` is invariant in the loop; the instructions that compute it are added to `moved`, operands
    first. may_check: whether a check may be made before the loop."""
    if defs.block_of.get(value) not in loop.blocks:
        return True
    inst = value.inst
    if inst is None or not depth:
        return False
    if inst.op.wrapping is not None:
        if not may_check(inst):
            return False
    elif inst.op.effects != ir.PURE or inst.op.cost > ir.CHEAP:
        return False
    if not all(is_fixed(x, loop, defs, moved, may_check, depth - 1) for x in inst.args):
        return False
    moved[inst] = None
    return True


def split(fn, loop, condition, inst, entry, moved, defs) -> None:
    """Move `moved` before the loop, which the edge `entry` of `inst` enters, and let the condition of branches in it
    choose there between the loop and a copy of it."""
    before = ir.Block("unswitch")
    for one in moved:
        defs.block_of[one.result].insts.remove(one)
        before.insts.append(one)
    order = [b for b in fn.blocks if b in loop.blocks]
    home = {v: b for b in order for v in b.values()}
    used = read_outside(fn, loop.blocks)
    values: dict[ir.Value, ir.Value] = {}
    copies = clone_blocks(order, values)
    for each in order:
        if each.insts[-1].op is control.BRANCH and each.insts[-1].args[0] is condition:
            for which, where in ((0, each), (1, copies[each])):
                last = where.insts[-1]
                where.insts[-1] = ir.Inst(control.JUMP, (), {}, None, last.loc, [last.targets[which]])
    Builder(before.insts, inst.loc).branch(condition, ir.Edge(loop.header, entry.args),
                                           ir.Edge(copies[loop.header], entry.args))
    entry.block, entry.args = before, []
    fn.blocks = [*fn.blocks, before, *copies.values()]
    remove_unreachable(fn)
    reached = set(fn.blocks)
    definitions = {v: {b: w for b, w in ((home[v], v), (copies[home[v]], values[v])) if b in reached} for v in home
                   if v in used}
    if definitions:
        repair(fn, definitions)
