"""Give every loop one back edge, and one edge that enters it.

Runs before the passes over loops. CPython's bytecode jumps back from every arm of an `if` at the end of a loop; LLVM
treats these back edges as nested loops, and then does not find the select in `if c: n += 1`. The passes over counted
loops need one edge at which a counter starts; branches before a loop, such as those of a copy of a few elements, may
all lead to its header.
Before:  b: branch c -> header(n), d    d: jump header(m)         After:  b: branch c -> latch(n), d    d: jump latch(m)
         latch(x): jump header(x)
Needs: SSA.  Keeps: everything else.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import control

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    if not nest.loops:
        return
    edges = in_edges(fn.blocks)
    for loop in nest.loops:
        back = [entry for entry in edges[loop.header] if entry[0] in loop.blocks]
        for name, one in (("latch", back), ("enter", loop.entries(edges))):
            if len(one) > 1 and not any(edge is inst.unwind for _, inst, edge in one):
                _join(fn, loop.header, name, one)
    fn.blocks = reverse_postorder(fn)


def _join(fn, header, name, edges) -> None:
    """Let the edges lead to a new block, which jumps to the header."""
    joined = ir.Block(name)
    args, kept = [], []
    for k, p in enumerate(header.params):
        first = edges[0][2].args[k]
        if all(edge.args[k] is first for _, _, edge in edges):
            args.append(first)
        else:
            merged = ir.Value(p.type, p.name)
            joined.params.append(merged)
            args.append(merged)
            kept.append(k)
    for _, _, edge in edges:
        edge.block, edge.args = joined, [edge.args[k] for k in kept]
    joined.insts.append(ir.Inst(control.JUMP, (), {}, None, edges[-1][1].loc, [ir.Edge(header, args)]))
    fn.blocks.append(joined)
