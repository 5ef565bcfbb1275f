"""Find the loops over `prange`, and note on the test in their headers that their iterations are independent.

Runs once counted loops have their form, and before other passes look at how often loops run: the operation that marks
the end of the range would hide it from them. Without `parallel=True`, of the function or of one that calls it, the
mark is dropped, and `prange` is `range`.
Before:  stop = independent n; left = isub stop, start; jump header(left)    header(left): branch left > 0 -> body, exit
After:   left = isub n, start; jump header(left)        header(left): branch {independent: 'prange'} left > 0 -> ...
Needs: counted loops (`counted.py`).  Keeps: everything else.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ops.parallel import INDEPENDENT
from . import counted
from .rewrite import substitute

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    if fn.flags.parallel:
        defs, edges = counted.Definitions(fn), in_edges(fn.blocks)
        for loop in LoopNest(fn).loops:
            found = counted.find(loop, defs, edges)
            if found is not None and _is_marked(found.start[found.left], set()):
                branch = loop.header.terminator
                branch.attrs = {**branch.attrs, "independent": "prange"}
    replace = {}
    for block in fn.blocks:
        kept = []
        for inst in block.insts:
            if inst.op is INDEPENDENT:
                replace[inst.result] = inst.args[0]
            else:
                kept.append(inst)
        block.insts = kept
    substitute(fn.blocks, replace)


def _is_marked(v: ir.Value, seen: set[ir.Value]) -> bool:
    """Whether a number is computed from the end of a `prange`, by arithmetic alone."""
    if v in seen or len(seen) > 64:
        return False
    seen.add(v)
    inst = v.inst
    return inst is not None and (inst.op is INDEPENDENT or not inst.op.effects
                                 and any(_is_marked(x, seen) for x in inst.args))
