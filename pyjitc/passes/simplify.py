"""Replace instructions by what they are worth, drop those nobody reads, and straighten the control flow.

Runs after inlining and splitting, which leave makes beside gets, jumps to jumps and parameters that are copies.
The rules for single instructions stand in `rules.py`.
Before:  t = tuple_make x, y ; z = tuple_get t {index: 0} ; return z          After:  return x
Needs: SSA.  Keeps: effects, exceptions, positions.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import in_edges, reverse_postorder
from ..ops import control
from .rewrite import resolve, substitute
from .rules import Facts, const_key, simplify_inst

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    for _ in range(4):  # each round can open the way for the next; loops settle in two
        changed = _instructions(fn)
        changed |= _parameters(fn)
        changed |= _merge(fn)
        if not changed:
            break
    _drop_dead(fn)


def _instructions(fn: ir.Function) -> bool:
    facts = Facts(fn)
    mapping: dict[ir.Value, ir.Value] = {}
    fn.blocks = blocks = reverse_postorder(fn)
    for block in blocks:
        for inst in block.insts:
            if inst.result is not None:
                facts.defs[inst.result] = inst
    changed = False
    entry = fn.entry
    get = mapping.get
    for block in blocks:
        kept: list[ir.Inst] = []
        for inst in block.insts:
            if mapping:
                inst.args = [resolve(mapping, v) if v in mapping else v for v in inst.args]
            if inst.op is control.CONST:
                key = const_key(inst.result.type, inst.attrs["value"])
                pooled = facts.pool.get(key)
                if pooled is None:
                    facts.pool[key] = inst.result
                    if block is entry:
                        kept.append(inst)
                    else:
                        facts.fresh_constants.append(inst)
                elif pooled is not inst.result:
                    mapping[inst.result] = pooled
                else:
                    kept.append(inst)
                continue
            if inst.op is control.BRANCH:
                known = facts.known(inst.args[0])
                if known is not None:
                    edge = inst.targets[0 if known.attrs["value"] else 1]
                    inst.op, inst.args, inst.targets = control.JUMP, [], [edge]
                    changed = True
                elif inst.targets[0].block is inst.targets[1].block and inst.targets[0].args == inst.targets[1].args:
                    inst.op, inst.args, inst.targets = control.JUMP, [], [inst.targets[0]]
                    changed = True
            better = simplify_inst(facts, inst)
            if facts.fresh:
                kept += facts.fresh
                facts.fresh.clear()
            if better is not None:
                mapping[inst.result] = resolve(mapping, better)
                changed = True
                continue
            kept.append(inst)
        block.insts = kept
    if facts.fresh_constants:
        entry.insts[:0] = facts.fresh_constants
    substitute(blocks, mapping)
    return changed or bool(mapping)


def _parameters(fn: ir.Function) -> bool:
    """Remove parameters that every edge gives the same value."""
    fn.blocks = blocks = reverse_postorder(fn)
    edges = in_edges(blocks)
    mapping: dict[ir.Value, ir.Value] = {}
    changed = True
    any_change = False
    while changed:
        changed = False
        for block in blocks[1:]:
            for k, p in enumerate(block.params):
                if p in mapping:
                    continue
                same = None
                for _, _, edge in edges[block]:
                    value = resolve(mapping, edge.args[k])
                    if value is p or value is same:
                        continue
                    if same is not None:
                        same = None
                        break
                    same = value
                else:
                    if same is not None:
                        mapping[p] = same
                        changed = any_change = True
    if mapping:
        for block in blocks[1:]:
            gone = {k for k, p in enumerate(block.params) if p in mapping}
            if gone:
                block.params = [p for k, p in enumerate(block.params) if k not in gone]
                for _, _, edge in edges[block]:
                    edge.args = [a for k, a in enumerate(edge.args) if k not in gone]
        substitute(blocks, mapping)
    return any_change


def _merge(fn: ir.Function) -> bool:
    """Append a block to its only predecessor, and lead edges past empty blocks that only jump."""
    changed = False
    for block in fn.blocks:
        for inst in block.insts:
            for edge in inst.targets if inst.op is not control.SWITCH else ():
                for _ in range(8):
                    target = edge.block
                    if len(target.insts) != 1 or target.insts[0].op is not control.JUMP or target.params or edge.args:
                        break
                    onward = target.insts[0].targets[0]
                    if onward.block is target:
                        break
                    if inst.op is control.BRANCH and any(e is not edge and e.block is onward.block for e in inst.targets) and onward.args:
                        break  # two edges of one branch with different arguments need a block of their own
                    edge.block, edge.args = onward.block, list(onward.args)
                    changed = True
    fn.blocks = reverse_postorder(fn)
    edges = in_edges(fn.blocks)
    mapping: dict[ir.Value, ir.Value] = {}
    gone: set[ir.Block] = set()
    for block in fn.blocks:
        if block in gone:
            continue
        while True:
            last = block.insts[-1]
            if last.op is not control.JUMP:
                break
            edge = last.targets[0]
            target = edge.block
            if target is block or target is fn.entry or len(edges[target]) != 1 or target in gone:
                break
            mapping.update(zip(target.params, edge.args))
            block.insts.pop()
            block.insts += target.insts
            gone.add(target)
            changed = True
    if gone:
        fn.blocks = [b for b in fn.blocks if b not in gone]
        substitute(fn.blocks, mapping)
    return changed


def _drop_dead(fn: ir.Function) -> None:
    """Remove instructions without effects, and block parameters, whose result nobody reads."""
    edges = in_edges(fn.blocks)
    defs: dict[ir.Value, ir.Inst] = {}
    arrives: dict[ir.Value, tuple[ir.Block, int]] = {}
    for block in fn.blocks:
        if block is not fn.entry:
            for k, p in enumerate(block.params):
                arrives[p] = (block, k)
        for inst in block.insts:
            if inst.result is not None:
                defs[inst.result] = inst
    work = []
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op.effects & (ir.RAISES | ir.WRITES | ir.TERMINATOR):
                work += inst.args
    live: set[ir.Value] = set()
    while work:
        v = work.pop()
        if v in live:
            continue
        live.add(v)
        inst = defs.get(v)
        if inst is not None:
            if not inst.op.effects & (ir.RAISES | ir.WRITES):
                work += inst.args
        elif v in arrives:
            block, k = arrives[v]
            work += [edge.args[k] for _, _, edge in edges[block]]
    for block in fn.blocks:
        block.insts = [i for i in block.insts if i.result is None or i.result in live
                       or i.op.effects & (ir.RAISES | ir.WRITES | ir.TERMINATOR)]
        if block is not fn.entry:
            dead = {k for k, p in enumerate(block.params) if p not in live}
            if dead:
                block.params = [p for k, p in enumerate(block.params) if k not in dead]
                for _, _, edge in edges[block]:
                    edge.args = [a for k, a in enumerate(edge.args) if k not in dead]
