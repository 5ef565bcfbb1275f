"""Remove operations and block parameters whose value nobody reads.

Runs after simplify, which leaves dead operands behind. An allocation whose result is unused is removed; operations that
may raise or write stay, and so do loop nests whose element function may raise.
Before:  y = iadd x, c ; return x      After:  return x
Needs: SSA, references not yet counted.  Keeps: control flow.
"""
from __future__ import annotations

from typing import Any

from ..ir.cfg import in_edges
from ..ir.core import ONLY_MEMORY_ERROR, PURE, RAISES, TERMINATOR, WRITES, Block, Function, Inst, Value
from ..ops.nest import NEST, fails
from ..ops.pyobject import PY_BOX
from ..types.kinds import is_scalar
from .rewrite import remove_params

__all__ = ["remove_unread", "run"]


def is_droppable(inst: Inst) -> bool:
    """Whether the instruction may be removed when its result is unused."""
    effects = inst.op.effects
    if effects & (WRITES | TERMINATOR):
        return False
    return not effects & RAISES or bool(inst.op.traits & ONLY_MEMORY_ERROR) or \
        inst.op is PY_BOX and is_scalar(inst.args[0].type) or \
        inst.op is NEST and inst.attrs["shape"] is not None and not fails(inst.attrs["tree"])


def run(fn: Function, options: Any = None) -> None:
    remove_unread(fn, in_edges(fn.blocks))


def remove_unread(fn: Function, edges) -> None:
    """`run`, given what `in_edges` finds; only the edges themselves are read, not where they start."""
    entry = fn.entry
    defs: dict[Value, Inst] = {}
    params: dict[Value, tuple[Block, int]] = {}
    live: set[Value] = set()
    work: list[Value] = []
    for block in fn.blocks:
        if block is not entry:
            for position, param in enumerate(block.params):
                params[param] = block, position
        for inst in block.insts:
            if inst.op.effects == PURE or is_droppable(inst):
                if inst.result is not None:
                    defs[inst.result] = inst
            elif inst.args:
                work += inst.args
    while work:
        value = work.pop()
        if value in live:
            continue
        live.add(value)
        made = defs.get(value)
        if made is not None:
            work += made.args
        elif value in params:
            block, position = params[value]
            for _, _, edge in edges[block]:
                work.append(edge.args[position])
    if not defs.keys() <= live:
        for block in fn.blocks:
            block.insts = [i for i in block.insts if i.result not in defs or i.result in live]
    if not params.keys() <= live:
        for block in fn.blocks:
            if block is not entry:
                dead = [position for position, param in enumerate(block.params) if param not in live]
                if dead:
                    remove_params(block, dead, edges[block])
