"""Remove block parameters that always get the same value, and unreachable blocks; reverse post-order.

Construction makes every live local and stack slot a parameter; most of them are copies. Source: Braun et al., "Simple
and efficient construction of SSA form" (2013).
Needs: SSA with block parameters.  Keeps: everything else.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import reverse_postorder

__all__ = ["prune"]


def prune(fn: ir.Function) -> None:
    fn.blocks = reverse_postorder(fn)
    incoming: dict[ir.Block, list[ir.Edge]] = {block: [] for block in fn.blocks}
    for block in fn.blocks:
        for edge in block.edges():
            incoming[edge.block].append(edge)
    replaced: dict[ir.Value, ir.Value] = {}

    def find(value):
        root = value
        while root in replaced:
            root = replaced[root]
        while value in replaced and replaced[value] is not root:
            replaced[value], value = root, replaced[value]
        return root

    changed = True
    while changed:  # two or three rounds, in reverse postorder
        changed = False
        for block in fn.blocks[1:]:
            edges = incoming[block]
            for k, p in enumerate(block.params):
                if p in replaced:
                    continue
                same = None
                for edge in edges:
                    value = edge.args[k]
                    if value in replaced:
                        value = find(value)
                    if value is p or value is same:
                        continue
                    if same is not None:
                        same = None
                        break
                    same = value
                if same is not None:
                    replaced[p] = same
                    changed = True
                    if not same.name:
                        same.name = p.name
    for block in fn.blocks:
        kept = [k for k, p in enumerate(block.params) if p not in replaced]
        if len(kept) < len(block.params):
            block.params = [block.params[k] for k in kept]
            for edge in incoming[block]:
                edge.args = [edge.args[k] for k in kept]
        for inst in block.insts:
            inst.args = [find(v) for v in inst.args]
    for edges in incoming.values():
        for edge in edges:
            edge.args = [find(v) for v in edge.args]
