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
from ..ops.localtables import LOCAL_CLAIM, LOCAL_SLOT, LOCAL_STORE
from .alias import Aliases
from .rewrite import resolve, substitute

__all__ = ["run"]

_FAR = 4  # the most blocks that are searched backwards


def run(fn: ir.Function, options=None) -> None:
    search = _Search(fn)
    mapping: dict[ir.Value, ir.Value] = {}
    for block in fn.blocks:
        changed = False
        for inst in list(block.insts):
            if inst.op is LOCAL_SLOT:
                found = search.earlier(inst.args, block, block.insts.index(inst))
                if found is None and not changed:
                    found = search.merged(inst, block)
                if found is not None:
                    mapping[inst.result] = resolve(mapping, found)
                    block.insts.remove(inst)
            changed |= search.may_change(inst)
    substitute(fn.blocks, mapping)


class _Search:
    """Finds the slots that keys are known to have in the tables of one function."""

    def __init__(self, fn: ir.Function):
        self.edges = in_edges(fn.blocks)
        self.aliases = Aliases(fn)

    def may_change(self, inst: ir.Inst) -> bool:
        """Whether an instruction, such as a call of a function that shares a table, may change the slot of some key."""
        return inst.op is not LOCAL_STORE and bool(ir.regions_written(self.aliases.effects(inst)) & ir.TABLES)

    def merged(self, inst: ir.Inst, block: ir.Block) -> ir.Value | None:
        """Add a parameter to the block for the slot of a key, if every edge into the block can pass the slot; None
        otherwise."""
        arriving = self.edges[block]
        own = {i.result for i in block.insts}
        if len(arriving) < 2 or not own.isdisjoint(inst.args) or any(edge is i.unwind for _, i, edge in arriving):
            return None
        found = [self.earlier([edge.args[block.params.index(v)] if v in block.params else v for v in inst.args], source,
                              len(source.insts)) for source, _, edge in arriving]
        if None in found:
            return None
        slot = ir.Value(inst.result.type, inst.result.name)
        block.params.append(slot)
        for (_, _, edge), v in zip(arriving, found):
            assert v is not None
            edge.args.append(v)
        return slot

    def earlier(self, wanted: list[ir.Value], block: ir.Block, end: int) -> ir.Value | None:
        """The slot that a key is known to have before instruction `end` of a block, or None. wanted: (table, key)."""
        table, *key = wanted
        for _ in range(_FAR):
            for inst in reversed(block.insts[:end]):
                if inst.op is LOCAL_SLOT and inst.args == wanted or inst.op is LOCAL_CLAIM and (
                        inst.args[0] is table and inst.args[2:] == key):
                    return inst.result
                if self.may_change(inst):
                    return None
            arriving = self.edges[block]
            if len(arriving) != 1 or arriving[0][2] is arriving[0][1].unwind or (
                    not set(wanted).isdisjoint(block.params)):
                return None
            block = arriving[0][0]
            end = len(block.insts)
        return None
