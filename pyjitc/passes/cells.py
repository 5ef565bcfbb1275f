"""Give each iteration of a parallel loop a cell of its own for a variable that it sets before it reads it.

A variable that a comprehension, a generator expression or a lambda reads is in a cell of the whole function, the
variable of the loop among them; all iterations would change that one cell. Where no iteration reads what an earlier one
has stored, a new cell in each iteration has the same effect. Where each iteration stores into its cell, and the
variable is read after the loop, the content of the last iteration's cell is carried out of the loop.
Called by independent, for functions that have parallel loops and make cells.
Before:  c = cell_new x ; loop i: cell_store c, i ; f = function_make c ; invoke f
After:   c = cell_new x ; loop i: d = cell_new x ; cell_store d, i ; f = function_make d ; invoke f
         (where c is read after the loop: loop i, last: ... ; last = cell_load d  after it: cell_store c, last)
Needs: SSA, references not yet counted.  Keeps: SSA, everything else.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop, predecessors
from ..ops.memory import CELL_LOAD, CELL_NEW, CELL_STORE
from ..types.kinds import holds_cell
from .counted import Counted
from .rewrite import growing, split_edge, substitute

__all__ = ["run"]


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
        """Whether every iteration stores into the cell before it reads it, and no code outside the loop reads what an
        iteration has stored when the loop is left before its end."""
        return all([_is_set_first(edge, cell, holders) for edge in (self.loop.body, *self.after)
                    if edge is not self.loop.exit])

    def is_read_after(self, cell: ir.Value, holders) -> bool:
        return not _is_set_first(self.loop.exit, cell, holders)

    def always_sets(self, cell: ir.Value) -> bool:
        """Whether each iteration that runs to its end has stored into the cell."""
        seen = {self.loop.body.block: None}
        for block in growing(seen):
            if not any([inst.op is CELL_STORE and inst.args[0] is cell for inst in block.insts]):
                seen.update({edge.block: None for edge in block.edges() if edge.block in self.loop.loop.blocks})
        return self.loop.loop.header not in seen

    def unwind(self):
        """The edge on which exceptions leave the iterations for a handler around the loop, and whose arguments are not
        computed in the iterations; None if there is no handler, False if there is one but no such edge."""
        edges = [inst.unwind for inst in self.insts if inst.unwind is not None and inst.unwind.block not in self.blocks]
        return next((edge for edge in edges if self.own.isdisjoint(edge.args)), False) if edges else None


def _separate(fn: ir.Function, region: _Region, regions: list[_Region]) -> None:
    """Give each iteration of one loop its own cells, for those cells where this has the same effect."""
    unwind = region.unwind()
    if unwind is False:
        return
    replace, carried = {}, []
    others = [one for one in regions if one.blocks.keys().isdisjoint(region.blocks)]
    for cell in dict.fromkeys([v for inst in region.insts for v in inst.args]):
        made = cell.inst
        if made is not None and made.op is CELL_NEW and cell not in region.own:
            holders = _holders(fn, cell)
            is_read = region.is_read_after(cell, holders)
            if (not is_read or region.always_sets(cell)) and _may_be_own(fn, cell, holders, region, others):
                new = ir.Inst(CELL_NEW, made.args, made.attrs, ir.Value(cell.type, cell.name), made.loc)
                new.unwind = None if unwind is None else ir.Edge(unwind.block, unwind.args)
                replace[cell] = new
                if is_read:
                    carried.append(cell)
    if replace:
        substitute(region.blocks, {cell: new.result for cell, new in replace.items()})
        _put_on(fn, region.loop.body, region.loop.loop, "own_cells").insts[:0] = replace.values()
        if carried:
            _carry(fn, region.loop, {cell: replace[cell].result for cell in carried})


def _put_on(fn: ir.Function, edge: ir.Edge, loop: Loop | None, name: str) -> ir.Block:
    """A new block on an edge in a loop."""
    block = split_edge(edge, name)
    fn.blocks.append(block)
    while loop is not None:
        loop.blocks[block] = None
        loop = loop.parent
    return block


def _carry(fn: ir.Function, counted: Counted, own: dict[ir.Value, ir.Value]) -> None:
    """Store the content that the own cell has at the end of the last iteration into the function's cell after the loop.
    own: cell of the function -> cell of the iteration."""
    loop = counted.loop
    into = [(edge, block in loop.blocks) for block in list(fn.blocks) for edge in block.edges()
            if edge.block is loop.header]
    values = {cell: ir.Value(cell.type.content, str(cell.type.site)) for cell in own}
    for edge, inside in into:
        block = _put_on(fn, edge, loop if inside else loop.parent, "carried")
        for cell in own:
            made = ir.Value(values[cell].type, values[cell].name)
            loaded = ir.Inst(CELL_LOAD, (own[cell] if inside else cell,), {}, made)
            block.insts.insert(-1, loaded)
            block.terminator.targets[0].args.append(made)
    loop.header.params += values.values()
    after = _put_on(fn, counted.exit, loop.parent, "carried")
    after.insts[:0] = [ir.Inst(CELL_STORE, (cell, value), {}, None) for cell, value in values.items()]


def _may_be_own(fn: ir.Function, cell: ir.Value, holders, region: _Region, others: list[_Region]) -> bool:
    """Whether each iteration may have its own cell: iterations of the region, and of all other regions that capture the
    cell, store into it before they read it; and no value that has captured the cell, such as a function, is used
    outside the iteration that captured it, since it could read the cell later."""
    home: dict[ir.Value, _Region] = {}
    spaces = [one for one in (region, *others) if one is region or one.sets_first(cell, holders)
              and not one.is_read_after(cell, holders)]
    of_block = {block: one for one in spaces for block in one.blocks}
    for block in fn.blocks:
        for v in block.values():
            if v in holders:
                if block not in of_block or block is of_block[block].loop.loop.header:
                    return False
                home[v] = of_block[block]
    return region.sets_first(cell, holders) and all([
        home[v] is of_block.get(block) for block in fn.blocks for inst in block.insts
        for v in inst.uses() if v in home])


def _holders(fn: ir.Function, cell: ir.Value) -> set[ir.Value]:
    """The values that have captured the cell, and those to which such values may be passed."""
    found: dict[ir.Value, None] = {cell: None}
    for v in growing(found):
        for block in fn.blocks:
            for inst in block.insts:
                if v in inst.args and inst.result is not None and holds_cell(inst.result.type):
                    found[inst.result] = None
                for edge in inst.edges():
                    found.update({p: None for x, p in zip(edge.args, edge.block.params) if x is v})
    return set(found) - {cell}


def _is_set_first(start: ir.Edge, cell: ir.Value, holders) -> bool:
    """Whether on all paths from an edge on a store into the cell precedes every read of it. Capturing the cell is no
    read."""
    if cell in start.args or not holders.isdisjoint(start.args):
        return False
    seen = {start.block: None}
    for block in growing(seen):
        for inst in block.insts:
            if inst.op is CELL_STORE and inst.args[0] is cell:
                break
            if not inst.op.traits & ir.PACKS and (cell in inst.args or not holders.isdisjoint(inst.args)):
                return False
        else:
            for edge in block.edges():
                if cell in edge.args or not holders.isdisjoint(edge.args):
                    return False
                seen[edge.block] = None
    return True
