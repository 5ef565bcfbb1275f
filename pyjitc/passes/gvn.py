"""Compute each pure value once: move what does not change out of loops, and share what is computed twice.

Runs after simplify and before versioning, which needs to see that `a.shape[0]` in the loop is the one before it.
Only cheap operations that cannot trap are moved; the rest is left to LLVM. An index check that a dominating one
made before is shared too, and a load where nothing on the way has written.
Before:  loop: n = array_dim a ; j = check_index i, n ; ... ; m = array_dim a ; k = check_index i, m
After:   n = array_dim a ; loop: j = check_index i, n ; ...
Needs: SSA.  Keeps: SSA, control flow. Source: Briggs, Cooper, Simpson, "Value numbering" (1997), dominator-based.
"""
from __future__ import annotations

from itertools import count

from ..ir import core as ir
from ..ir.cfg import Dominators, LoopNest, in_edges
from ..ops import arith, memory, structure
from ..ops.nest import BROADCAST
from .counted import Definitions
from .rewrite import resolve, substitute

__all__ = ["run"]

# These and no other cheap operations: to move all of them by their cost class added branches to the loops of lu and
# ludcmp (bench/npbench).
_MOVED = {memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ARRAY_STEP, arith.IADD, arith.ISUB, arith.IMUL, arith.INEG,
          arith.CAST, structure.TUPLE_GET, structure.RETYPE, structure.STRUCT_GET, structure.CAPTURE_GET,
          structure.SELECT, arith.ILT, arith.IGT, arith.ILE, arith.IGE}
_SHARED_CHECKS = {BROADCAST, memory.CHECK_INDEX, arith.IADD_CK, arith.ISUB_CK, arith.IMUL_CK, arith.CHECK_NONZERO}


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    if nest.loops:
        _hoist(fn, nest)
    _share(fn, Dominators(fn, split=True), in_edges(fn.blocks))


def _hoist(fn, nest):
    defs = Definitions(fn)
    edges = in_edges(fn.blocks)
    before: dict = {}
    for loop in nest.loops:
        outside = [e for e in edges[loop.header] if e[0] not in loop.blocks]
        usable = len(outside) == 1 and outside[0][1] is outside[0][0].insts[-1]
        before[loop] = outside[0][0] if usable else None
    for block in nest.dom.order:
        innermost = nest.of.get(block)
        if innermost is None:
            continue
        kept = []
        for inst in block.insts:
            place = None
            if inst.op in _MOVED or inst.op.name == "random_global":  # its reference is taken once
                loop = innermost
                while loop is not None and before[loop] is not None and all(
                        defs.block_of.get(a) not in loop.blocks for a in inst.args):
                    place = before[loop]
                    loop = loop.parent
            if place is None:
                kept.append(inst)
            else:
                if "flags" in inst.attrs:  # may hold in the loop only
                    inst.attrs = {}
                place.insts.insert(len(place.insts) - 1, inst)
                defs.block_of[inst.result] = place
        block.insts = kept


def _share(fn, dom, edges):
    """dom: the split dominator tree. edges: block -> those that enter it."""
    states = count()  # of memory: a new one after each write, and where paths meet
    after: dict[ir.Block, int] = {}
    mapping: dict[ir.Value, ir.Value] = {}
    root = dom.order[0]
    # One table, undone on the way up the dominator tree; an entry of None ends a scope.
    table: dict = {}
    undo: list = []
    work = [(root, False)]
    while work:
        node, leave = work.pop()
        if leave:
            while (entry := undo.pop()) is not None:
                if entry[1] is None:
                    table.pop(entry[0], None)
                else:
                    table[entry[0]] = entry[1]
            continue
        undo.append(None)
        work.append((node, True))
        work += [(child, False) for child in reversed(dom.children[node]) if child is not node]
        if node in dom.tails:
            continue  # handlers are reached before the block has run: its values belong to its tail
        block = getattr(node, "block", node)
        entered = edges.get(block, ())
        alone = len(entered) == 1 and entered[0][1].unwind is not entered[0][2]
        state = after.get(entered[0][0]) if alone else None
        if state is None:
            state = next(states)
        kept = []
        for inst in block.insts:
            if mapping:
                inst.args = [resolve(mapping, a) if a in mapping else a for a in inst.args]
            op = inst.op
            if op.effects & (ir.WRITES | ir.HOST):
                state = next(states)
            loads = op is memory.ARRAY_LOAD
            if inst.result is not None and (op.effects == ir.PURE or loads or op in _SHARED_CHECKS):
                key = (op, *inst.args, _attributes(inst.attrs), inst.result.type, loads and state)
                found = table.get(key)
                if found is not None:
                    if "flags" in found.attrs and found.attrs != inst.attrs:
                        found.attrs = {}  # it stands for both
                    mapping[inst.result] = found.result
                    continue
                undo.append((key, None))
                table[key] = inst
            kept.append(inst)
        block.insts = kept
        after[block] = state
    substitute(fn.blocks, mapping)


def _attributes(attrs):
    if not attrs or "flags" in attrs:
        return ()
    return tuple((k, v if isinstance(v, (int, str, tuple)) and not isinstance(v, bool) else (type(v), id(v)))
                 if k != "value" else (type(v), repr(v) if isinstance(v, (int, float, complex, str)) else id(v))
                 for k, v in attrs.items())
