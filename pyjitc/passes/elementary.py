"""Expand the operations of elementary functions into their code.

Runs late: fusion, the search for equal values and the passes over control flow see one operation for each function,
which has a derivative, instead of a polynomial and bit patterns. It runs before versioning and the other passes that
estimate the work of a loop.
Before:  y = sin x : float64        After:  a = cast x : float ; (the body of circular.sin) ; y = cast b : float64
Operations of Python floats stay on a CPU, where they are calls of the C library. A big body remains a call, of a copy
for this module, since passes change functions in place.
Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from typing import Callable

from ..ir.core import Function, Inst, Value
from ..ops.arith import CAST
from ..ops.control import INVOKE
from . import inline

__all__ = ["run"]


def run(fn: Function, body: Callable, own: dict[Function, Function]) -> None:
    """body: instruction -> (types that its operands are converted to, typed function), or None where it stays; own:
    function -> its copy in this module."""
    while called := _call(fn, body):
        inline.put_in(fn, called, own)


def _call(fn: Function, body: Callable) -> list[Function]:
    called: dict[Function, None] = {}
    for block in fn.blocks:
        if not any(body(inst) for inst in block.insts):
            continue
        insts, block.insts = block.insts, []
        for inst in insts:
            found = body(inst)
            if found is None:
                block.insts.append(inst)
            else:
                block.insts += _converted(inst, *found)
                called[found[1]] = None
    return list(called)


def _converted(inst: Inst, types, callee: Function) -> list[Inst]:
    """The call of the function that computes an operation, with the conversions of its operands and result."""
    made: list[Inst] = []

    def cast(x, t):
        made.append(Inst(CAST, [x], {"type": t}, Value(t), inst.loc))
        return made[-1].result

    given = inst.args[0].type
    operands = list(inst.args)
    for t in types:
        operands = [cast(x, t) if v.type is given else x for x, v in zip(operands, inst.args)]
    back = [given, *types][:-1] if types else []
    call = Inst(INVOKE, operands, {"callee": callee}, Value(callee.result) if types else inst.result, inst.loc)
    made.append(call)
    found = call.result
    for t in reversed(back):
        found = cast(found, t)
    made[-1].result = inst.result
    inst.result.inst = made[-1]
    return made
