"""Restore SSA after values got further definitions (a copied loop, a copied branch): each use gets the definition that
reaches it.

A block gets a parameter where definitions meet (the iterated dominance frontier of their blocks), if a use needs it.
Every other use gets the nearest definition above it in the dominator tree. Source: Cytron et al., "Efficiently
computing static single assignment form" (1991).
Needs: every path to a use passes one of the definitions.  Keeps: everything else.
"""
from __future__ import annotations

from ..ir.cfg import Dominators, in_edges, reverse_postorder
from ..ir.core import Block, Function, Value

__all__ = ["repair"]


def repair(fn: Function, definitions: dict[Value, dict[Block, Value]]) -> None:
    """definitions: old value -> {block: the value that holds at the end of it}. Rewrites the uses of each old value
    outside the blocks that define it. One call for many values costs little more than one for a single value."""
    if not definitions:
        return
    reads: dict[Value, dict[Block, None]] = {}
    for block in reverse_postorder(fn):
        for inst in block.insts:
            for v in inst.uses():
                if v in definitions and block not in definitions[v]:
                    reads.setdefault(v, {})[block] = None
    if not reads:
        return
    dom = Dominators(fn)
    edges = in_edges(dom.order)
    frontiers = dom.frontiers()
    found: dict[Block, dict[Value, Value]] = {}  # block -> replacements for its uses
    for old, blocks in reads.items():
        for block, new in _one(old, definitions[old], blocks, dom.idom, edges, frontiers):
            if new is not old:
                found.setdefault(block, {})[old] = new
    for block, new in found.items():
        _replace(block, new)
    # the value at the end of a copy may itself have further definitions
    again = {v: definitions[v] for ends in definitions.values() for v in ends.values() if v in definitions
             and definitions[v] is not ends}
    if again:
        assert len(again) < len(definitions)
        repair(fn, again)


def _one(old, ends, blocks, idom, edges, frontiers):
    """(block, the value at its start) for each of `blocks`; joins that need one get a parameter."""
    joins: dict[Block, None] = {}
    work = [block for block in ends if block in idom]
    while work:
        for block in frontiers.get(work.pop(), ()):
            if block not in joins and block not in ends:
                joins[block] = None
                work.append(block)
    start: dict[Block, Value] = {}
    asked: list[Block] = []

    def at_start(block):
        path = []
        while block not in start:
            if block in joins:
                start[block] = Value(old.type, old.name)
                asked.append(block)
                break
            path.append(block)
            above = idom[block]
            if above in ends:
                start[block] = ends[above]
                break
            assert above is not block, f"a use of {old} is reached without a definition"
            block = above
        new = start[block]
        for one in path:
            start[one] = new
        return new

    here = [(block, at_start(block)) for block in blocks]
    for block in asked:  # appended to during the iteration
        block.params.append(start[block])
        for source, _, edge in edges[block]:
            edge.args.append(ends[source] if source in ends else at_start(source))
    return here


def _replace(block, new):
    get = new.get
    for inst in block.insts:
        if not new.keys().isdisjoint(inst.args):
            inst.args = [get(v, v) for v in inst.args]
        for edge in inst.edges():
            if not new.keys().isdisjoint(edge.args):
                edge.args = [get(v, v) for v in edge.args]
