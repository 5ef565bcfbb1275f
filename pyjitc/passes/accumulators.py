"""Mark the array elements in which a loop accumulates a sum, and the loads that never read such an element.

Runs before polling, when versioning has made the copies of loops without checks. In `a[i, j] -= a[i, k] * a[k, j]` over
k LLVM must assume that a[i, j] may alias the elements that are read, and so loads and stores it on every trip. The
ranges of the loop counters often prove that it does not: here k stays below j, or below i.
Before:  head(k): ... s = array_load a, i, j ; x = array_load a, i, k ; ... array_store a, i, j, t
After:   alone {group: 1}
         head(k): ... s = array_load a, i, j {held, alone: 1} ; x = array_load a, i, k {beside: (1,)}
                  ... array_store a, i, j, t {held, alone: 1}
The marks hold until the loop is entered again: then the sum is kept in another element, which may be one that was read.
Needs: SSA, counted loops (`counted.py`).  Keeps: everything; it only adds attributes.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ops.memory import ALONE_HERE, ARRAY_LOAD, ARRAY_STORE
from .alias import Aliases, marked_disjoint
from .counted import Affine, Counted, Definitions, affine, extremes, find, first_and_last

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    defs = Definitions(fn)
    edges = in_edges(nest.dom.order)
    aliases = Aliases(fn)
    inside = set(nest.dom.order)
    memo: dict[ir.Value, Affine] = {}
    for loop in nest.loops:
        found = None if loop.inner else _sums(loop, defs)
        counted = find(loop, defs, edges) if found else None
        if not found or counted is None:
            continue
        bounds: dict[ir.Value, tuple[Affine, Affine]] | None = None
        for store, same, others in found:
            others = [one for one in others if not marked_disjoint(store, one)]
            within = [one for one in others if one.args[0] is store.args[0]]
            if all(aliases.distinct(store.args[0], one.args[0]) for one in others if one not in within):
                if bounds is None and within:
                    bounds = _bounds(loop, defs, edges, inside, memo)
                if all(_never_equal(store, one, defs, inside, memo, bounds) for one in within):
                    _tell(fn, counted, same, others)


def _sums(loop, defs) -> list[tuple[ir.Inst, list[ir.Inst], list[ir.Inst]]]:
    """For each array element that the loop reads and writes at indices that do not change in the loop: (its store, all
    accesses to the element, all accesses to other elements of the loop). Loops with checks or calls have no such
    elements."""
    loads, stores = [], []
    for block in loop.blocks:
        for inst in block.insts:
            if inst.op is ARRAY_LOAD:
                loads.append(inst)
            elif inst.op is ARRAY_STORE:
                stores.append(inst)
            elif inst.op.effects & (ir.RAISES | ir.READS | ir.WRITES):
                return []
    found = []
    for store in stores:
        place = store.args[:-1]
        if any(load.args == place for load in loads) and not any(defs.block_of[v] in loop.blocks for v in place):
            same = [one for one in (*loads, *stores) if one.args[:len(place)] == place]
            others = [one for one in (*loads, *stores) if one not in same]
            if same[-1] is store:  # append the group of a store once, although the element may be stored several times
                found.append((store, same, others))
    return found


def _bounds(loop, defs, edges, inside, memo) -> dict[ir.Value, tuple[Affine, Affine]]:
    """The least and the largest values of the induction variables of a loop and of the loops around it; outer loops
    first."""
    around = []
    while loop is not None:
        around.append(loop)
        loop = loop.parent
    found = {}
    for one in reversed(around):
        counted = find(one, defs, edges)
        if counted is not None:
            for p, step in counted.steps.items():
                first, last = first_and_last(counted, p, defs, inside, memo)
                found[p] = (first, last) if step > 0 else (last, first)
    return found


def _never_equal(one, other, defs, inside, memo, bounds) -> bool:
    """Whether at least one index differs between two accesses to one array on every pair of trips."""
    rank = one.args[0].type.ndim
    for x, y in zip(one.args[1:1 + rank], other.args[1:1 + rank], strict=True):
        distance = affine(x, defs, inside, memo).plus(affine(y, defs, inside, memo), -1)
        least, most = extremes(distance, bounds)
        if not least.terms and least.constant > 0 or not most.terms and most.constant < 0:
            return True
    return False


def _tell(fn, counted: Counted, same, others) -> None:
    for inst in same:
        inst.attrs = {**inst.attrs, "held": True}
    if not others:
        return
    group = fn.flags.alias_groups + 1
    fn.flags = fn.flags._replace(alias_groups=group)
    before, last = counted.entry_block.insts, counted.entry_inst
    before.insert(before.index(last), ir.Inst(ALONE_HERE, (), {"group": group}, None, last.loc))
    for inst in same:
        inst.attrs = {**inst.attrs, "alone": group}
    for inst in others:
        inst.attrs = {**inst.attrs, "beside": (*inst.attrs.get("beside", ()), group)}
