"""Jump threading: let an edge into a block that only branches go to the known target (a step of simplify).

Before:  jump join(True, x)   join(has, item): branch has, body, exit      After:  jump body, with item = x
The branching block is copied for such an edge, so it must be short; loop headers are not threaded, because later passes
rely on the shape of loops. Values that the block defines get block parameters where both copies meet (`repair`).
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir.cfg import Dominators, in_edges
from ..ir.core import RAISES, WRITES, Block, Edge, Function, Inst, Value
from ..ops import arith as a
from ..ops import structure as s
from ..ops.control import BRANCH, SWITCH
from .rewrite import clone_inst, remove_unreachable
from .rules import Facts, simplify_inst

__all__ = ["thread"]

repair = lazy(f"{__package__}.repair")  # most functions have no such branch

LONGEST = 8  # the most instructions of a block that is copied
_DECIDES = frozenset((a.BNOT, *a.INTEGER_COMPARISONS, s.UNION_IS, s.TUPLE_GET))


def thread(fn: Function, facts: Facts) -> bool:
    candidates = [b for b in fn.blocks if b.params and len(b.insts) <= LONGEST and b.insts[-1].op in (BRANCH, SWITCH)
                  and b is not fn.entry and _condition(b, facts) is not None
                  and not any(i.op.effects & (RAISES | WRITES) for i in b.insts[:-1])]
    if not candidates:
        return False
    edges = in_edges(fn.blocks)
    if not any(_decided(b, inst, edge, facts) for b in candidates for _, inst, edge in edges[b]):
        return False
    dom = Dominators(fn)
    changed = False
    for block in candidates:
        arriving = edges[block]
        if any(dom.dominates(block, source) for source, _, _ in arriving):
            continue  # a loop header
        ways = [(inst, edge) for _, inst, edge in arriving if _decided(block, inst, edge, facts)]
        if not ways:
            continue
        _split(fn, block, ways, facts)
        changed = True
        break  # edges and dominators are stale: simplify runs this step again
    return changed


def _condition(block: Block, facts: Facts):
    """(parameter position, instruction between it and the branch or None) where a parameter decides the branch, or
    None."""
    value = block.insts[-1].args[0]
    if value in block.params:
        return block.params.index(value), None
    inst = facts.defs.get(value)
    if inst is None or inst.op not in _DECIDES or inst not in block.insts:
        return None
    if inst.args[0] in block.params and all(facts.known(v) is not None for v in inst.args[1:]):
        return block.params.index(inst.args[0]), inst
    return None


def _decided(block: Block, source: Inst, edge: Edge, facts: Facts) -> bool:
    """Whether the branch at the end of `block` is known for control that arrives on `edge`."""
    if source.unwind is edge:
        return False
    position, test = _condition(block, facts)
    arg = edge.args[position]
    if test is None:
        return facts.known(arg) is not None
    trial = Inst(test.op, [arg, *test.args[1:]], test.attrs, Value(test.result.type))
    better = simplify_inst(facts, trial)
    facts.fresh.clear()
    return better is not None and facts.known(better) is not None


def _split(fn: Function, block: Block, ways, facts: Facts) -> None:
    """Give each of the edges `ways` a copy of `block`, whose values may be used anywhere after it."""
    defined = [*block.params, *(i.result for i in block.insts if i.result is not None)]
    ends: dict[Value, dict[Block, Value]] = {v: {block: v} for v in defined}
    for _, edge in ways:
        copy = Block(block.name)
        values = dict(zip(block.params, edge.args))
        copy.insts = [clone_inst(inst, values, {}) for inst in block.insts]
        for inst in copy.insts:
            if inst.result is not None:
                facts.defs[inst.result] = inst
        edge.block, edge.args = copy, []
        fn.blocks.append(copy)
        for v in defined:
            ends[v][copy] = values[v]
    remove_unreachable(fn)
    repair.repair(fn, ends)
