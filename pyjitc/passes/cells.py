"""Give each iteration of a parallel loop a cell of its own for a variable that it sets before it reads it.

A variable that a comprehension, a generator expression or a lambda reads is in a cell of the whole function, the
variable of the loop among them; all iterations would change that one cell. Where what the cell holds goes neither from
one iteration to the next nor out of the loop, a new one in each iteration does the same.
Called by independent, for functions that have parallel loops and make cells.
Before:  c = cell_new x ; loop i: cell_store c, i ; f = function_make c ; invoke f
After:   c = cell_new x ; loop i: d = cell_new x ; cell_store d, i ; f = function_make d ; invoke f
Needs: SSA, references not yet counted.  Keeps: SSA, everything else.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, predecessors
from ..ops.memory import CELL_NEW, CELL_STORE
from ..ops.structure import FUNCTION_MAKE, TUPLE_MAKE
from .counted import Counted
from .rewrite import growing, split_edge, substitute

__all__ = ["run"]

_CAPTURES = frozenset((TUPLE_MAKE, FUNCTION_MAKE))  # what holds a cell, and does not look into it


def run(fn: ir.Function, loops: list[Counted]) -> None:
    """loops: the parallel loops of the function, outer ones first."""
    for k in range(len(loops)):
        before = predecessors(fn.blocks)
        regions = [_Region(loop, before) for loop in loops]
        _separate(fn, regions[k], regions)


class _Region:
    """The iterations of a parallel loop. blocks: those of the loop, and those that control reaches from its iterations
    alone, such as the ones that raise; after: the edges that leave them; own: the values that they define."""

    def __init__(self, loop: Counted, before):
        self.loop = loop
        self.blocks = dict(loop.loop.blocks)
        for block in growing(self.blocks):
            for edge in block.edges():
                if edge is not loop.exit and all([one in self.blocks for one in before[edge.block]]):
                    self.blocks[edge.block] = None
        self.after = [edge for block in self.blocks for edge in block.edges() if edge.block not in self.blocks]
        self.insts = [inst for block in self.blocks for inst in block.insts]
        self.own = {inst.result for inst in self.insts}

    def sets_first(self, cell: ir.Value, holders) -> bool:
        """Whether iterations set the cell before they look into it, and leave nothing in it that somebody reads."""
        return all([_is_set_first(edge, cell, holders) for edge in (self.loop.body, *self.after)])

    def unwind(self):
        """The edge on which exceptions leave the iterations for a handler around the loop, with nothing that an
        iteration has computed; None if there is no handler, False if no edge is like that."""
        edges = [inst.unwind for inst in self.insts if inst.unwind is not None and inst.unwind.block not in self.blocks]
        return next((edge for edge in edges if self.own.isdisjoint(edge.args)), False) if edges else None


def _separate(fn: ir.Function, region: _Region, regions: list[_Region]) -> None:
    """Make the cells of one loop in its iterations, where that does the same."""
    unwind = region.unwind()
    if unwind is False:
        return
    replace = {}
    for cell in dict.fromkeys([v for inst in region.insts for v in inst.args]):
        made = cell.inst
        if made is not None and made.op is CELL_NEW and cell not in region.own and _may_be_own(
                fn, cell, region, [one for one in regions if one.blocks.keys().isdisjoint(region.blocks)]):
            new = ir.Inst(CELL_NEW, made.args, made.attrs, ir.Value(cell.type, cell.name), made.loc)
            new.unwind = None if unwind is None else ir.Edge(unwind.block, unwind.args)
            replace[cell] = new
    if replace:
        substitute(region.blocks, {cell: new.result for cell, new in replace.items()})
        first = split_edge(region.loop.body, "own_cells")
        first.insts[:0] = replace.values()
        fn.blocks.append(first)
        loop: Loop | None = region.loop.loop
        while loop is not None:
            loop.blocks[first] = None
            loop = loop.parent


def _may_be_own(fn: ir.Function, cell: ir.Value, region: _Region, others: list[_Region]) -> bool:
    """Whether iterations of the region set the cell first, and so do those of each other region that captures it: what
    is captured elsewhere leads to it for ever."""
    holders = _holders(fn, cell)
    captures = [block for block in fn.blocks for inst in block.insts if inst.result in holders]
    return region.sets_first(cell, holders) and all(
        [block in region.blocks or any([block in one.blocks and one.sets_first(cell, holders) for one in others])
         for block in captures])


def _holders(fn: ir.Function, cell: ir.Value) -> set[ir.Value]:
    """The values that have captured the cell."""
    found: dict[ir.Value, None] = {cell: None}
    for v in growing(found):
        found.update(dict.fromkeys([inst.result for block in fn.blocks for inst in block.insts
                                    if inst.op in _CAPTURES and v in inst.args]))
    return set(found) - {cell}


def _is_set_first(start: ir.Edge, cell: ir.Value, holders) -> bool:
    """Whether all ways from an edge on store into the cell before anything looks into it; to capture it does not."""
    if cell in start.args or not holders.isdisjoint(start.args):
        return False
    seen = {start.block: None}
    for block in growing(seen):
        for inst in block.insts:
            if inst.op is CELL_STORE and inst.args[0] is cell:
                break
            if inst.op not in _CAPTURES and (cell in inst.args or not holders.isdisjoint(inst.args)):
                return False
        else:
            for edge in block.edges():
                if cell in edge.args or not holders.isdisjoint(edge.args):
                    return False
                seen[edge.block] = None
    return True
