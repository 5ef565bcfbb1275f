"""Make functions of the loops of a very large function.

LLVM's passes over loops do work at each loop that is in proportion to the function (rotation updates the dominators of
all blocks, and the vectoriser verifies the function), so that their time is in proportion to the number of loops times
the size of the function. Where that is large, the loops become functions, each a part of the other one as in
`checked_copies`: LLVM's time is linear. If each loop that stays calls a function in every iteration, no pass over loops
gains anything in what is left, and that gets LLVM's short pipeline.
Runs directly after that pass, before those that prepare single loops for the code generator, which run over the parts.
Before:  entry: jump header(0, n)     header(i, left): ... exit(s)     exit(s): ...          and many more loops
After:   entry: jump part()           part(): s = invoke {callee: f.part} a, n ; jump exit(s)
         fn f.part(a, n): the loop; done(s): return s
A nest of loops stays together unless it is large itself: then the nests in it become functions. The copy of a loop that
keeps its checks gets LLVM's short pipeline, as in `checked_copies`.
Needs: SSA, `latches`.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ops.control import INVOKE
from .outline import Outliner
from .rewrite import split_edge

__all__ = ["run"]

_LARGE = 1500  # the most instructions of a nest that becomes one function


def run(fn: ir.Function, options=None) -> None:
    if fn.library or fn.flags.parallel:
        return
    nest = LoopNest(fn)
    if _separate(fn, nest):
        nest = LoopNest(fn)
    outliner, covered = Outliner(fn, nest), set[ir.Block]()
    for loop in nest.loops:  # outer loops first
        checked = all(["novectorize" in b.insts[-1].attrs for b in loop.latches])
        if (loop.header not in covered and sum([len(b.insts) for b in loop.blocks]) <= _LARGE
                and outliner.outline(loop, "part", novectorize=checked)):
            covered.update(loop.blocks)
    outliner.finish()
    if outliner.made and not _computes(LoopNest(fn)):
        fn.flags = fn.flags._replace(novectorize=True)


def _computes(nest: LoopNest) -> bool:
    """Whether there is an innermost loop that does not call a function in each iteration."""
    return any([not any([inst.op is INVOKE and inst.attrs["callee"].flags.noinline
                         for block in loop.blocks if all([nest.dom.dominates(block, latch) for latch in loop.latches])
                         for inst in block.insts]) for loop in nest.loops if not loop.inner])


def _separate(fn: ir.Function, nest: LoopNest) -> bool:
    """Put a block on each edge that leads from one loop directly to another; returns whether there was one."""
    edges, before = in_edges(nest.dom.order), len(fn.blocks)
    for loop in nest.loops:
        for source, _, edge in loop.entries(edges):
            if nest.of.get(source) is not loop.parent:
                fn.blocks.append(split_edge(edge, "between"))
    return len(fn.blocks) > before
