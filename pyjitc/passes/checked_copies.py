"""Make functions of the copies of loops in which the checks remain.

Runs directly after versioning, which leaves each nest twice: the copy without checks, and behind the guard the loop as
it was, which almost never runs. As a function of its own, the second copy is compiled by LLVM's short pipeline of
passes; the default pipeline spent half of its time on it. A failure in the new function is reported in the frame of the
function from which it was taken. The passes before this one have already run over its code.
Before:  guard: branch {likely} g -> fast header(i, left), header(i, left)     header(i, left): ... exit(x)
After:   guard: branch {likely} g -> fast header(i, left), checked()
         checked(): x = invoke {callee: f.checked} a, i, left ; jump exit(x)
         fn f.checked(a, i, left): the loop; done(x): return x
A loop stays where it is if it is small, if an exception in it has a handler, or if it is left in several ways that lead
to different places; ways that only raise are copied into the function.
Needs: SSA, the marks of versioning.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest
from . import versioning
from .outline import Outliner

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    if fn.library or fn.flags.parallel:
        return
    nest = LoopNest(fn)
    large: list[Loop] = []
    covered: set[ir.Block] = set()
    for loop in nest.loops:  # outer loops first
        if loop.header not in covered and all(["novectorize" in b.insts[-1].attrs for b in loop.latches]):
            covered.update(loop.blocks)
            if sum([len(b.insts) for b in loop.blocks]) >= versioning.LEAST:
                large.append(loop)
    if not large:
        return
    outliner = Outliner(fn, nest)
    for loop in large:
        outliner.outline(loop, "checked", novectorize=True)
    outliner.finish()
