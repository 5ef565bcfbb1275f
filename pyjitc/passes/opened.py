"""A copy of a function in which calls in a parallel loop are replaced by the bodies of the functions that they call.

`elements.py` asks the copy which elements of arrays iterations share: `deposit(grid, i)` changes elements as statements
in the loop do. The function itself keeps its calls, which are frames of tracebacks.
Before:  for i: invoke {callee: deposit} (grid, i)         the copy:  for i: x = array_load grid, i ; ...
A function that calls itself, one of the library and a large one stay calls in the copy: their effects on elements are
unknown.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, closure, reverse_postorder
from ..ops import control
from ..types import kinds as k
from . import dce, gvn, inline, ranges, simplify
from .rewrite import clone_blocks, copy_of, substitute

__all__ = ["accesses", "opened"]

_ROOM = 3_000  # the most instructions that calls may add to the copy


def opened(fn: ir.Function, loop, aliases) -> tuple | None:
    """(the copy, its loop, value of the copy -> that of the function); None where there is no such call in the loop."""
    if not any(accesses(inst, aliases) for block in loop.blocks for inst in block.insts):
        return None
    values: dict[ir.Value, ir.Value] = {}
    copies = clone_blocks(reverse_postorder(fn), values)
    new = ir.Function(fn.name, fn.qualname, fn.filename, fn.firstlineno, fn.library)
    new.result, new.flags, new.blocks = fn.result, fn.flags, list(copies.values())
    if not _open(new, {copies[block] for block in loop.blocks}, aliases):
        return None
    for one in (simplify, gvn, ranges, gvn, dce):
        one.run(new)
    header = copies[loop.header]
    found = next((one for one in LoopNest(new).loops if one.header is header), None)
    return None if found is None else (new, found, {copy: v for v, copy in values.items()})


def accesses(inst: ir.Inst, aliases) -> bool:
    """Whether an instruction calls a function of the program that accesses elements of arrays."""
    if inst.op is not control.INVOKE or "chunks" in inst.attrs or inst.attrs["callee"].library:
        return False
    effects = aliases.effects(inst)
    return bool((ir.regions_read(effects) | ir.regions_written(effects)) & ir.ELEMENTS) and any(
        k.any_part(v.type, lambda t: isinstance(t, k.Array)) for v in inst.args)


def _open(fn: ir.Function, inside: set[ir.Block], aliases) -> bool:
    """Replace the calls in the blocks `inside`, and those in what replaces them, as long as there is room. Returns
    whether there was one."""
    bodies: dict[ir.Function, ir.Function | None] = {}
    replace: dict[ir.Value, ir.Value] = {}
    room, again = _ROOM, True
    while again:
        again = False
        for block in list(inside):
            insts, block.insts = block.insts, []
            here = block.insts
            for inst in insts:
                body = _body(inst.attrs["callee"], bodies) if accesses(inst, aliases) else None
                size = 0 if body is None else sum(len(one.insts) for one in body.blocks)
                if body is None or size > room:
                    here.append(inst)
                    continue
                room, again = room - size, True
                inst.attrs = {**inst.attrs, "callee": body}
                made: list[ir.Block] = []
                after = inline.splice(inst, here, made, replace)
                fn.blocks += made
                inside.update(made)
                if after is None:  # the function never returns
                    break
                here = after
    substitute(fn.blocks, replace)
    fn.blocks = reverse_postorder(fn)
    return room < _ROOM


def _body(callee: ir.Function, bodies: dict) -> ir.Function | None:
    """A copy of a function whose instructions record from which function they are; None where it may call itself."""
    if callee not in bodies:
        again = callee in closure(inline.callees(callee), inline.callees)
        bodies[callee] = None if again else copy_of(callee)
        if not again:
            inline.note_origin(bodies[callee])
    return bodies[callee]
