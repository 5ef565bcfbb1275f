"""SSA again after a value got a second definition (a copied loop): uses find the one that reaches them.

Parameters are made where different definitions meet. Source: Braun et al., "Simple and efficient construction of SSA
form" (2013), on demand.
Needs: every path to a use passes one of the definitions.  Keeps: everything else.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import in_edges

__all__ = ["repair"]


def repair(fn: ir.Function, definitions: dict[ir.Value, dict[ir.Block, ir.Value]]) -> None:
    """definitions: old value -> {block: the value that holds at the end of it}. Rewrites the uses of each old value
    outside the blocks that define it."""
    edges = in_edges(fn.blocks)
    for old, ends in definitions.items():
        _one(fn, old, ends, edges)


def _one(fn, old, ends, edges):
    at_start: dict[ir.Block, ir.Value] = {}

    def at_end(block):
        found = ends.get(block)
        return found if found is not None else start(block)

    def start(block):
        found = at_start.get(block)
        if found is not None:
            return found
        into = edges[block]
        if len(into) == 1:
            found = at_start[block] = at_end(into[0][0])
            return found
        p = at_start[block] = ir.Value(old.type, old.name)
        block.params.append(p)
        for source, _, edge in into:
            edge.args.append(at_end(source))
        return p

    for block in fn.blocks:
        if block in ends:
            # before its own definition a block cannot read `old`; after it, the definition is `old` itself or a copy
            new = ends[block]
            if new is not old and old not in (i.result for i in block.insts) and old not in block.params:
                _replace(block, old, new)
            continue
        if any(old in i.args or any(old in e.args for e in i.edges()) for i in block.insts):
            new = start(block)
            if new is not old:
                _replace(block, old, new)


def _replace(block, old, new):
    for inst in block.insts:
        if old in inst.args:
            inst.args = [new if v is old else v for v in inst.args]
        for edge in inst.edges():
            if old in edge.args:
                edge.args = [new if v is old else v for v in edge.args]
