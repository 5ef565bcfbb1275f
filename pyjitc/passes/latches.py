"""Give every loop one back edge.

Runs before the passes over loops. CPython's bytecode jumps back from every arm of an `if` at the end of a loop; LLVM
treats these back edges as nested loops, and then does not find the select in `if c: n += 1`.
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
        back = [(source, inst, edge) for source, inst, edge in edges[loop.header] if source in loop.blocks]
        if len(back) < 2 or any(edge is inst.unwind for _, inst, edge in back):
            continue
        latch = ir.Block("latch")
        args, kept = [], []
        for k, p in enumerate(loop.header.params):
            first = back[0][2].args[k]
            if all(edge.args[k] is first for _, _, edge in back):
                args.append(first)
            else:
                merged = ir.Value(p.type, p.name)
                latch.params.append(merged)
                args.append(merged)
                kept.append(k)
        for _, _, edge in back:
            edge.block, edge.args = latch, [edge.args[k] for k in kept]
        latch.insts.append(ir.Inst(control.JUMP, (), {}, None, back[-1][1].loc, [ir.Edge(loop.header, args)]))
        fn.blocks.append(latch)
    fn.blocks = reverse_postorder(fn)
