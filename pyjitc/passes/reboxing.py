"""Reuse the object of a list item, where a number is read from one Python list and appended to another.

Runs after lists that do not escape have become native, and before references are counted: a reference costs less than
boxing the number and freeing the box. The object is loaded where the number is read, if the append is in the same loop,
so that it is seldom loaded in vain.
Before:  x = list_get l, i ; list_append m, x    After:  x = list_get l, i ; o = list_object l, i ; list_append m, o
Needs: SSA, references not yet counted.  Keeps: control flow.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest
from ..ops import containers as c
from ..types.kinds import Float, Int, Object

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    read = {inst.result: block for block in fn.blocks for inst in block.insts
            if inst.op is c.LIST_GET and inst.result.type in (Int, Float)}
    appends = [(block, inst) for block in fn.blocks for inst in block.insts
               if inst.op is c.LIST_APPEND and inst.args[1] in read]
    if not appends:
        return
    loops = LoopNest(fn).of
    objects: dict[ir.Value, ir.Value] = {}
    for block, inst in appends:
        number = inst.args[1]
        if loops.get(block) is loops.get(read[number]):
            if number not in objects:
                objects[number] = ir.Value(Object)
            inst.args[1] = objects[number]
    for block in set(map(read.__getitem__, objects)):
        kept = []
        for inst in block.insts:
            kept.append(inst)
            if inst.result in objects:
                kept.append(ir.Inst(c.LIST_OBJECT, inst.args, None, objects[inst.result], inst.loc))
        block.insts = kept
