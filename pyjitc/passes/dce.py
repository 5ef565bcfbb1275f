"""Remove operations and block parameters whose value nobody reads, and branches whose ways do nothing before they join.

Runs after simplify, which leaves dead operands behind. An allocation whose result is unused is removed; operations that
may raise or write stay, and so do loop nests whose element function may raise. A branch whose arms have both become
empty, since the check in one of them cannot fail, would make a second copy of a loop around it (choices.py).
Before:  y = iadd x, c ; return x      After:  return x
Needs: SSA, references not yet counted.  Keeps: all other control flow.
"""
from __future__ import annotations

from typing import Any

from ..ir.cfg import in_edges
from ..ir.core import ONLY_MEMORY_ERROR, PURE, RAISES, TERMINATOR, WRITES, Block, Edge, Function, Inst, Value
from ..ops import control
from ..ops.nest import NEST, fails
from ..ops.pyobject import PY_BOX
from ..types.kinds import is_scalar
from .rewrite import remove_params, remove_unreachable

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
    idle = [block for block in fn.blocks if len(block.insts) == 1 and block.insts[0].op is control.JUMP]
    if idle and _join(fn, set(idle)):
        remove_unreachable(fn)
        remove_unread(fn, in_edges(fn.blocks))


def _join(fn: Function, idle: set[Block]) -> bool:
    """Turn branches both of whose ways lead to the same edge, through blocks that only jump, into jumps."""
    found = False
    for block in fn.blocks:
        last = block.insts[-1]
        if last.op is control.BRANCH and not idle.isdisjoint([edge.block for edge in last.targets]):
            one, other = (_way(edge, idle) for edge in last.targets)
            if one.block is other.block and one.args == other.args:
                block.insts[-1] = Inst(control.JUMP, (), {}, None, last.loc, [Edge(one.block, list(one.args))])
                found = True
    return found


def _way(edge: Edge, idle: set[Block]) -> Edge:
    """The last edge of the chain that starts at `edge` and goes through blocks without parameters that only jump."""
    seen = set()
    while edge.block in idle and not edge.block.params and edge.block not in seen:
        seen.add(edge.block)
        edge = edge.block.insts[0].targets[0]
    return edge


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
