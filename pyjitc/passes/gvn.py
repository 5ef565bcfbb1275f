"""Compute each pure value once: move what does not change out of loops, and share what is computed twice.

Runs after simplify and before versioning, which needs to see that `a.shape[0]` in the loop is the one before it.
Only cheap operations that cannot trap are moved; the rest is left to LLVM. An index check that a dominating one
made before is shared too, and a load where nothing on the way may have changed what it reads (`alias.py`).
Before:  loop: n = array_dim a ; j = check_index i, n ; ... ; m = array_dim a ; k = check_index i, m
After:   n = array_dim a ; loop: j = check_index i, n ; ...
Needs: SSA.  Keeps: SSA, control flow. Source: Briggs, Cooper, Simpson, "Value numbering" (1997), dominator-based.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import Dominators, LoopNest, in_edges
from ..ops import arith, memory, structure
from ..ops.nest import BROADCAST
from ..types.kinds import Array, is_refcounted
from .alias import LOADS, Aliases
from .counted import Definitions
from .rewrite import resolve, substitute

__all__ = ["run", "MOVED"]

objects = lazy("pyjitc.ops.objects")

# These and no other cheap operations: to move all of them by their cost class added branches to the loops of lu and
# ludcmp (bench/npbench).
MOVED = {memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ARRAY_STEP, arith.IADD, arith.ISUB, arith.IMUL, arith.INEG,
          arith.CAST, structure.TUPLE_GET, structure.RETYPE, structure.STRUCT_GET, structure.CAPTURE_GET,
          structure.SELECT, arith.ILT, arith.IGT, arith.ILE, arith.IGE}
_FAR = 16  # writes between two loads that are looked at
_MOST_BLOCKS = 32  # between a block and the one that all ways to it come through
# By name: few programs load them. Of the items of lists those without references.
_MORE_LOADS = frozenset(("local_slot", "list_get", "field_get"))
_SHARED_CHECKS = {BROADCAST, memory.CHECK_INDEX, arith.IADD_CK, arith.ISUB_CK, arith.IMUL_CK, arith.CHECK_NONZERO}


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    if nest.loops:
        _hoist(fn, nest)
    _share(fn, Dominators(fn, split=True), in_edges(fn.blocks), Aliases(fn))


def _hoist(fn, nest):
    defs = Definitions(fn)
    edges = in_edges(fn.blocks)
    before: dict = {}
    for loop in nest.loops:
        outside = [e for e in edges[loop.header] if e[0] not in loop.blocks]
        usable = len(outside) == 1 and outside[0][1] is outside[0][0].insts[-1]
        before[loop] = outside[0][0] if usable else None
    if any([inst.op.name == "field_get" for loop in nest.loops for block in loop.blocks for inst in block.insts]):
        _hoist_arrays(fn, nest, before, defs)
    for block in nest.dom.order:
        innermost = nest.of.get(block)
        if innermost is None:
            continue
        kept = []
        for inst in block.insts:
            place = None
            if inst.op in MOVED or inst.op.name == "random_global":  # its reference is taken once
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


def _hoist_arrays(fn, nest, before, defs):
    """Arrays that objects hold are taken out of them once, before the loops that read them and do not store another.
    What there is to say against it is said where the loop would have read it."""
    aliases = Aliases(fn)
    stores: dict = {}  # loop -> names of the attributes that it stores
    taken: dict = {}  # (block, object, name, type) -> the array
    mapping: dict[ir.Value, ir.Value] = {}
    for block in nest.dom.order:
        innermost = nest.of.get(block)
        for n, inst in enumerate(block.insts if innermost is not None else ()):
            if inst.op.name != "field_get" or type(inst.result.type) is not Array:
                continue
            (x,), name, place, loop = inst.args, inst.attrs["name"], None, innermost
            while loop is not None and before[loop] is not None and defs.block_of.get(x) not in loop.blocks:
                if loop not in stores:
                    stores[loop] = _stored(loop, aliases)
                if stores[loop] is None or name in stores[loop]:
                    break
                place, loop = before[loop], loop.parent
            if place is None:
                continue
            attrs = {"name": name, "type": inst.result.type}
            found = taken.get((place, x, name, inst.result.type))
            if found is None:
                found = taken[place, x, name, inst.result.type] = ir.Value(inst.result.type, inst.result.name)
                place.insts.insert(len(place.insts) - 1, ir.Inst(objects.FIELD_PEEK, [x], attrs, found, inst.loc))
                defs.block_of[found] = place
            mapping[inst.result] = found
            block.insts[n] = ir.Inst(objects.FIELD_CHECK, [x, found], {"name": name}, None, inst.loc, (), inst.unwind)
    substitute(fn.blocks, mapping)


def _stored(loop, aliases):
    """The names of attributes that a loop stores; None where it may change any."""
    found = set()
    for block in loop.blocks:
        for inst in block.insts:
            if inst.op.name == "field_set":
                found.add(inst.attrs["name"])
            elif ir.regions_written(aliases.effects(inst)) & ir.OBJECTS and inst.op.name not in _OF_ITEMS:
                return None
    return found


_OF_ITEMS = frozenset(("list_set", "list_append"))


def _share(fn, dom, edges, aliases):
    """dom: the split dominator tree. edges: block -> those that enter it."""
    # Memory at a place is a chain of what has written on the way to it: (instruction, memory before it). Where ways
    # meet it is what has been written on any of them. It starts anew where that is much.
    after: dict[ir.Block, tuple] = {}
    found_in: dict[ir.Inst, tuple] = {}  # load -> the memory that it reads
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
            state = _where_ways_meet(node, dom, edges, after) or (None, block)
        kept = []
        for inst in block.insts:
            if mapping:
                inst.args = [resolve(mapping, a) if a in mapping else a for a in inst.args]
            op = inst.op
            if op.effects & ir.WRITES:
                state = inst, state
            loads = op in LOADS or op.name in _MORE_LOADS and (
                op.name != "list_get" or not is_refcounted(inst.result.type))
            if inst.result is not None and (op.effects == ir.PURE or loads or op in _SHARED_CHECKS):
                key = (op, *inst.args, _attributes(inst.attrs), inst.result.type)
                found = table.get(key)
                if loads:
                    found_in[inst] = state
                if found is not None and not (loads and _changed(inst, state, found_in[found], aliases)):
                    if "flags" in found.attrs and found.attrs != inst.attrs:
                        found.attrs = {}  # it stands for both
                    mapping[inst.result] = found.result
                    continue
                undo.append((key, found))
                table[key] = inst
            kept.append(inst)
        block.insts = kept
        after[block] = state
    substitute(fn.blocks, mapping)


_LOOP = object()


def _where_ways_meet(node, dom, edges, after):
    """The memory at the start of a block that several ways lead to: that at the end of the block which all of them come
    through, and what the blocks between write. None where these are many, or where an exception leads to the block.
    Handlers of signals run in loops, which end when what the handler changes is read again: `_LOOP`."""
    top = dom.idom[node]
    if node is not getattr(node, "block", node) or top in dom.tails or top is node:
        return None
    top = getattr(top, "block", top)
    state = after.get(top)
    if state is None or any(edge is inst.unwind for _, inst, edge in edges[node]):
        return None
    found: set[ir.Block] = set()
    work, writes = [node], 0
    while work:
        block = work.pop()
        for source, _, _ in edges.get(block, ()):
            if source is top or source not in dom.number:  # what cannot be reached writes nothing
                continue
            if dom.number[source] >= dom.number[block]:
                state = _LOOP, state
            if source not in found:
                found.add(source)
                work.append(source)
                for inst in source.insts:
                    if inst.op.effects & ir.WRITES:
                        state = inst, state
                        writes += 1
                if writes > _FAR or len(found) > _MOST_BLOCKS:
                    return None
    return state


def _changed(load, state, then, aliases) -> bool:
    """Whether what is read in one state of memory may differ from what was read in an earlier one."""
    for _ in range(_FAR):
        if state is then:
            return False
        inst, state = state
        if inst is _LOOP:
            if load.op.name != "local_slot":  # of a table that nobody else sees
                return True
        elif inst is None or aliases.may_change(inst, load):
            return True
    return True


def _attributes(attrs):
    if not attrs or "flags" in attrs:
        return ()
    return tuple((k, v if isinstance(v, (int, str, tuple)) and not isinstance(v, bool) else (type(v), id(v)))
                 if k != "value" else (type(v), repr(v) if isinstance(v, (int, float, complex, str)) else id(v))
                 for k, v in attrs.items())
