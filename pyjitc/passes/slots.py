"""Search a local table once where a key was searched or added on every path before.

Runs after the second gvn, which shares a search with one that dominates it. After `if k not in d: d[k] = []` there is
none: one path has searched the key, the other has added it.
Before:  b: s = local_slot d, k ; branch there -> e, c    c: n = local_claim d, s, k ; jump e    e: t = local_slot d, k
After:   b: s = local_slot d, k ; branch there -> e(s), c    c: n = local_claim d, s, k ; jump e(n)    e(t): ...
Needs: SSA, references not yet counted.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import in_edges
from ..ops.localtables import LOCAL_ASK, LOCAL_CLAIM, LOCAL_REMOVE, LOCAL_SLOT
from .rewrite import resolve, substitute

__all__ = ["run"]

_FAR = 4  # the most blocks that are searched backwards
_CHANGES = frozenset((LOCAL_ASK, LOCAL_CLAIM, LOCAL_REMOVE))  # what may change the slot of some key


def run(fn: ir.Function, options=None) -> None:
    edges = in_edges(fn.blocks)
    mapping: dict[ir.Value, ir.Value] = {}
    for block in fn.blocks:
        changed = False
        for inst in list(block.insts):
            if inst.op is LOCAL_SLOT:
                found = _earlier(edges, inst.args, block, block.insts.index(inst))
                if found is None and not changed:
                    found = _merged(edges, inst, block)
                if found is not None:
                    mapping[inst.result] = resolve(mapping, found)
                    block.insts.remove(inst)
            changed |= inst.op in _CHANGES
    substitute(fn.blocks, mapping)


def _merged(edges, inst: ir.Inst, block: ir.Block) -> ir.Value | None:
    """Add a parameter to the block for the slot of a key, if every edge into the block can pass the slot; None
    otherwise."""
    arriving = edges[block]
    own = {i.result for i in block.insts}
    if len(arriving) < 2 or not own.isdisjoint(inst.args) or any(edge is i.unwind for _, i, edge in arriving):
        return None
    found = [_earlier(edges, [edge.args[block.params.index(v)] if v in block.params else v for v in inst.args], source,
                      len(source.insts)) for source, _, edge in arriving]
    if None in found:
        return None
    slot = ir.Value(inst.result.type, inst.result.name)
    block.params.append(slot)
    for (_, _, edge), v in zip(arriving, found):
        assert v is not None
        edge.args.append(v)
    return slot


def _earlier(edges, wanted: list[ir.Value], block: ir.Block, end: int) -> ir.Value | None:
    """The slot that a key is known to have before instruction `end` of a block, or None. wanted: (table, key)."""
    table, *key = wanted
    for _ in range(_FAR):
        for inst in reversed(block.insts[:end]):
            if inst.op is LOCAL_SLOT and inst.args == wanted or inst.op is LOCAL_CLAIM and (
                    inst.args[0] is table and inst.args[2:] == key):
                return inst.result
            if inst.op in _CHANGES:
                return None
        arriving = edges[block]
        if len(arriving) != 1 or arriving[0][2] is arriving[0][1].unwind or not set(wanted).isdisjoint(block.params):
            return None
        block = arriving[0][0]
        end = len(block.insts)
    return None
