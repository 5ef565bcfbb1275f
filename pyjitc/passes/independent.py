"""Mark the branch in the header of each loop over `prange`: its iterations are independent.

Runs once counted loops have their form, and before the passes that look at numbers of trips, from which the operation
`independent` would hide the end of the range. Unless the function, or one that calls it, has `parallel=True`, the
operation is removed without a mark, and `prange` is `range`.
Before:  stop = independent n; left = isub stop, start; jump header(left)    header(left): branch left > 0 -> body, exit
After:   left = isub n, start; jump header(left)        header(left): branch {independent: 'prange'} left > 0 -> ...
Needs: counted loops (`counted.py`).  Keeps: everything else.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import Loop, LoopNest, in_edges
from ..ir.uses import used_from_outside
from ..ops.control import INVOKE
from ..ops.memory import CELL_NEW
from ..ops.parallel import INDEPENDENT
from . import counted
from .rewrite import growing, substitute

__all__ = ["defined", "repeated", "run", "shared"]

cells = lazy(f"{__package__}.cells")  # functions that captured variables of a parallel loop are few


def run(fn: ir.Function, options=None) -> None:
    if fn.flags.parallel:
        defs, edges, loops = counted.Definitions(fn), in_edges(fn.blocks), []
        for loop in LoopNest(fn).loops:
            found = counted.find(loop, defs, edges)
            mark = _mark(found.start[found.left], set()) if found is not None else None
            if mark is not None:
                branch = loop.header.terminator
                kind = "parts" if mark.attrs.get("parts") else "prange"
                branch.attrs = {**branch.attrs, "independent": kind}
                loops.append(found)
        if loops and any(inst.op is CELL_NEW for block in fn.blocks for inst in block.insts):
            cells.run(fn, loops)
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


def shared(fn: ir.Function) -> list[ir.Value]:
    """The values that are defined outside of parallel loops and used in them. Lists and objects among these are
    Python's, unless iterations only read them (`repeated`)."""
    found: dict[ir.Value, None] = {}
    for loop in _marked(fn):
        found.update(dict.fromkeys(used_from_outside(_reached(loop))))
    return list(found)


def repeated(functions: list[ir.Function]) -> set[ir.Inst]:
    """The instructions that several threads may run at once: those of parallel loops, and of all functions that are
    called there."""
    found: set[ir.Inst] = set()
    blocks = dict.fromkeys([block for fn in functions if fn.flags.parallel for loop in _marked(fn)
                            for block in _reached(loop)])
    for block in growing(blocks):
        for inst in block.insts:
            found.add(inst)
            if inst.op is INVOKE:
                blocks.update(dict.fromkeys(inst.attrs["callee"].blocks))
    return found


def defined(fn: ir.Function) -> list[tuple[Loop, set[ir.Value]]]:
    """The parallel loops, each with the values that are defined in it."""
    return [(loop, {v for block in loop.blocks for v in block.values()})
            for loop in _marked(fn)]


def _marked(fn: ir.Function) -> list[Loop]:
    return [loop for loop in LoopNest(fn).loops if "independent" in loop.header.terminator.attrs]


def _reached(loop: Loop) -> dict[ir.Block, None]:
    """The blocks of a loop, and those on the ways out of it that raise."""
    found = dict(loop.blocks)
    for block in growing(found):
        if block is not loop.header:
            found.update(dict.fromkeys([edge.block for edge in block.terminator.targets]))
    return found


def _mark(v: ir.Value, seen: set[ir.Value]) -> ir.Inst | None:
    """The operation `independent` from which a number of trips is computed by arithmetic alone, or None."""
    inst = v.inst
    if v in seen or len(seen) > 64 or inst is None:
        return None
    seen.add(v)
    if inst.op is INDEPENDENT:
        return inst
    found = (_mark(x, seen) for x in inst.args) if not inst.op.effects else ()
    return next((mark for mark in found if mark is not None), None)
