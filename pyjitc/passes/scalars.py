"""Split block parameters that are tuples or structs into their parts.

Runs before simplify, which then sees through the makes and gets: the state of a loop over a range becomes plain ints.
Before:  b(s: range_iterator{...}) ; x = struct_get s       After:  b(s0: int, s1: int, s2: int) ; s = pack s0, s1, s2 ; x = ...
Needs: SSA.  Keeps: control flow. Parameters of the function itself stay whole.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import in_edges
from ..ops.structure import STRUCT_GET, STRUCT_MAKE, TUPLE_GET, TUPLE_MAKE
from ..types.kinds import Struct, Tuple

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    todo = [b for b in fn.blocks[1:] if any(isinstance(p.type, (Struct, Tuple)) for p in b.params)]
    if not todo:
        return
    edges = in_edges(fn.blocks)
    for block in todo:
        prologue: list[ir.Inst] = []
        parts = [_leaves(p, prologue) for p in block.params]
        block.params = [leaf for leaves in parts for leaf in leaves]
        block.insts[:0] = prologue
    for block in todo:
        for source, inst, edge in edges[block]:
            made: list[ir.Inst] = []
            edge.args = [leaf for a in edge.args for leaf in _taken(a, made, inst.loc)]
            if made:
                at = source.insts.index(inst)
                source.insts[at:at] = made


def _leaves(p: ir.Value, prologue: list[ir.Inst]) -> list[ir.Value]:
    """New parameters for the parts of `p`, which `prologue` puts together again, outermost last."""
    t = p.type
    if isinstance(t, Tuple):
        members, op, attrs = t.elements, TUPLE_MAKE, {"cls": t.cls}
    elif isinstance(t, Struct):
        members, op, attrs = [m for _, m in t.members], STRUCT_MAKE, {"type": t}
    else:
        return [p]
    values = [ir.Value(m, p.name) for m in members]
    leaves = [leaf for v in values for leaf in _leaves(v, prologue)]
    prologue.append(ir.Inst(op, values, attrs, p))
    return leaves


def _taken(a: ir.Value, made: list[ir.Inst], loc) -> list[ir.Value]:
    t = a.type
    if isinstance(t, Tuple):
        gets = [(TUPLE_GET, {"index": i}, m) for i, m in enumerate(t.elements)]
    elif isinstance(t, Struct):
        gets = [(STRUCT_GET, {"field": name}, m) for name, m in t.members]
    else:
        return [a]
    leaves = []
    for op, attrs, m in gets:
        part = ir.Value(m, a.name)
        made.append(ir.Inst(op, (a,), attrs, part, loc))
        leaves += _taken(part, made, loc)
    return leaves
