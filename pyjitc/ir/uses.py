"""The uses of values, and where values are live.

A value knows its definition (`Value.inst`), and an instruction the values that it uses (`Inst.uses`). Like the
control-flow graph, the uses of a value are computed from the blocks at each call and kept nowhere: a pass that changes
instructions calls again.
"""
from __future__ import annotations

from typing import Callable, Iterable, Mapping

from .cfg import predecessors, reverse_postorder
from .core import Block, Edge, Function, Inst, Value

__all__ = ["live_in", "live_values", "passed", "read_outside", "readers", "resolve", "substitute", "used_from_outside",
           "users", "uses_of"]


def resolve(mapping: dict[Value, Value], value: Value) -> Value:
    """The final replacement of `value`. Chains of replacements are shortened on the way."""
    end = mapping.get(value)
    if end is None:
        return value
    while (after := mapping.get(end)) is not None:
        end = after
    while (after := mapping[value]) is not end:
        mapping[value] = end
        value = after
    return end


def substitute(blocks, mapping: dict[Value, Value]) -> None:
    """Replace every use of a key of `mapping` in `blocks` by its final replacement."""
    if not mapping:
        return
    for value in list(mapping):
        resolve(mapping, value)
    get = mapping.get
    for block in blocks:
        for inst in block.insts:
            if inst.args:
                inst.args = [get(v, v) for v in inst.args]
            for edge in inst.targets:
                if edge.args:
                    edge.args = [get(v, v) for v in edge.args]
            if inst.unwind is not None and inst.unwind.args:
                inst.unwind.args = [get(v, v) for v in inst.unwind.args]


def users(blocks: Iterable[Block]) -> dict[Value, list[Inst]]:
    """Value -> the instructions of `blocks` that use it, in order; an instruction occurs once for each use."""
    found: dict[Value, list[Inst]] = {}
    for block in blocks:
        for inst in block.insts:
            for v in inst.uses():
                found.setdefault(v, []).append(inst)
    return found


def passed(blocks: Iterable[Block]) -> dict[Value, list[Value]]:
    """Parameter of a block -> the values that the edges out of `blocks` pass to it, in order."""
    found: dict[Value, list[Value]] = {}
    for block in blocks:
        for edge in block.edges():
            for p, x in zip(edge.block.params, edge.args):
                found.setdefault(p, []).append(x)
    return found


def uses_of(block: Block) -> dict[Value, None]:
    """Every value that an instruction of `block` or an edge out of it reads, in order."""
    used: dict[Value, None] = {}
    for inst in block.insts:
        used.update(dict.fromkeys(inst.uses()))
    return used


def readers(fn: Function) -> dict[Value, list[Block]]:
    """Value -> the blocks with an instruction or edge that reads it."""
    found: dict[Value, list[Block]] = {}
    for block in fn.blocks:
        for v in uses_of(block):
            found.setdefault(v, []).append(block)
    return found


def read_outside(fn: Function, blocks) -> set[Value]:
    """The values that instructions and edges outside `blocks` read."""
    return {v for block in fn.blocks if block not in blocks for inst in block.insts for v in inst.uses()}


def used_from_outside(blocks: Iterable[Block], leaves: Callable[[Edge], bool] = lambda edge: False) -> list[Value]:
    """The values that the instructions of `blocks` use and that are not defined there, in the order of their first
    uses. leaves: edge -> whether the values that it passes do not count as uses."""
    blocks = list(blocks)
    defined = {p for block in blocks for p in block.params}
    defined.update([inst.result for block in blocks for inst in block.insts])
    found: dict[Value, None] = {}
    for block in blocks:
        for inst in block.insts:
            for values in (inst.args, *[edge.args for edge in inst.edges() if not leaves(edge)]):
                found.update(dict.fromkeys([v for v in values if v not in defined]))
    return list(found)


def live_in(fn: Function, wanted: Callable[[Value], bool] | None = None) -> dict[Block, dict[Value, None]]:
    """Block -> the values defined in other blocks that are live at its start; its own parameters are not among them.

    `wanted` restricts the values. A value read by a handler counts as live in all of the block that the exception
    leaves.
    """
    order = reverse_postorder(fn)
    home = {value: block for block in order for value in block.values()}
    return live_values(order, home, lambda block: [v for v in uses_of(block) if wanted is None or wanted(v)])


def live_values(order: list[Block], home: Mapping[Value, Block],
                used: Callable[[Block], Iterable[Value]]) -> dict[Block, dict[Value, None]]:
    """Block -> the values that are live at its start, in an order that depends only on the function. home: value -> the
    block that defines it; used: a function that returns the values that a block reads. It walks back from each use to
    the definition: the cost is the size of the result."""
    preds = predecessors(order)
    live: dict[Block, dict[Value, None]] = {block: {} for block in order}
    for block in order:
        for value in used(block):
            start = home.get(value)
            if start is block or start is None or value in live[block]:
                continue
            work = [block]
            while work:
                here = work.pop()
                if value not in live[here]:
                    live[here][value] = None
                    work += [pred for pred in preds[here] if pred is not start]
    return live
