"""SSA again after values got further definitions (a copied loop, a copied branch): uses find the one that reaches them.

Walks back from the uses to the definitions, without recursion, and makes a parameter wherever control joins on the
way: as many as could be needed, and simplify removes those that were not.
Needs: every path to a use passes one of the definitions.  Keeps: everything else.
"""
from __future__ import annotations

from ..ir.cfg import in_edges, reverse_postorder
from ..ir.core import Block, Function, Value

__all__ = ["repair"]


def repair(fn: Function, definitions: dict[Value, dict[Block, Value]]) -> None:
    """definitions: old value -> {block: the value that holds at the end of it}. Rewrites the uses of each old value
    outside the blocks that define it."""
    order = reverse_postorder(fn)
    edges = in_edges(order)
    reads: dict[Value, dict[Block, None]] = {}
    for block in order:
        for inst in block.insts:
            for values in (inst.args, *(e.args for e in inst.edges())):
                for v in values:
                    if v in definitions and block not in definitions[v]:
                        reads.setdefault(v, {})[block] = None
    for old, blocks in reads.items():
        _one(old, definitions[old], blocks, order, edges)


def _one(old, ends, blocks, order, edges):
    region: set[Block] = set()  # where the value is wanted at the start
    work = list(blocks)
    while work:
        block = work.pop()
        if block not in region and block not in ends:
            region.add(block)
            work += [source for source, _, _ in edges[block]]
    start: dict[Block, Value] = {}
    joins: list[Block] = []
    for block in order:
        if block not in region:
            continue
        if len(edges[block]) == 1:
            source = edges[block][0][0]
            start[block] = ends[source] if source in ends else start[source]
        else:
            start[block] = Value(old.type, old.name)
            joins.append(block)
    for block in blocks:
        new = start[block]
        if new is not old:
            _replace(block, old, new)
    for block in joins:
        block.params.append(start[block])
        for source, _, edge in edges[block]:
            edge.args.append(ends[source] if source in ends else start[source])


def _replace(block, old, new):
    for inst in block.insts:
        if old in inst.args:
            inst.args = [new if v is old else v for v in inst.args]
        for edge in inst.edges():
            if old in edge.args:
                edge.args = [new if v is old else v for v in edge.args]
