"""Compute each pure value once: hoist loop-invariant values out of loops, and share common subexpressions.

Runs after simplify and before versioning, which relies on `a.shape[0]` in the loop and before it being one value.
Only cheap operations that cannot trap are hoisted; the rest is left to LLVM. An index check that is dominated by an
equal one is shared with it, and so is a load if no instruction between may have changed what it reads (`alias.py`).
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
from ..types.kinds import Array, ObjectOf, is_refcounted
from .rewrite import drop_flags, remove_unreachable, resolve, substitute

__all__ = ["run", "MOVED", "is_shared", "key_of", "loads"]

alias = lazy(f"{__package__}.alias")  # only where a load may repeat another
counted = lazy(f"{__package__}.counted")  # only for loops
objects = lazy("pyjitc.ops.objects")

# Only these of the cheap operations are hoisted: hoisting all of their cost class added branches to the loops of lu and
# ludcmp (bench/npbench).
MOVED = {memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ARRAY_STEP, arith.IADD, arith.ISUB, arith.IMUL, arith.INEG,
          arith.CAST, structure.TUPLE_GET, structure.RETYPE, structure.STRUCT_GET, structure.CAPTURE_GET,
          structure.SELECT, arith.ILT, arith.IGT, arith.ILE, arith.IGE}
_FAR = 16  # the most writes between two loads that are examined
_MOST_BLOCKS = 32  # the most blocks between a block and its immediate dominator that are examined
_SHARED_CHECKS = {BROADCAST, memory.CHECK_INDEX, arith.IADD_CK, arith.ISUB_CK, arith.IMUL_CK, arith.CHECK_NONZERO}


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    if nest.loops:
        _hoist(fn, nest)
    _share(fn, Dominators(fn, split=True), in_edges(fn.blocks))


def _hoist(fn, nest):
    defs = counted.Definitions(fn)
    edges = in_edges(fn.blocks)
    before: dict = {}
    for loop in nest.loops:
        outside = [e for e in edges[loop.header] if e[0] not in loop.blocks]
        usable = len(outside) == 1 and outside[0][1] is outside[0][0].insts[-1]
        before[loop] = outside[0][0] if usable else None
    if any([_is_of_attribute(inst, ir.LOAD) for loop in nest.loops for block in loop.blocks for inst in block.insts]):
        _hoist_arrays(fn, nest, before, defs)
    for block in nest.dom.order:
        innermost = nest.of.get(block)
        if innermost is None:
            continue
        kept = []
        for inst in block.insts:
            place = None
            if inst.op in MOVED or inst.op.traits & ir.ONE_FOR_ALL:
                loop = innermost
                while loop is not None and before[loop] is not None and all(
                        defs.block_of.get(a) not in loop.blocks for a in inst.args):
                    place = before[loop]
                    loop = loop.parent
            if place is None:
                kept.append(inst)
            else:
                drop_flags(inst)
                place.insts.insert(len(place.insts) - 1, inst)
                defs.block_of[inst.result] = place
        block.insts = kept


def _hoist_arrays(fn, nest, before, defs):
    """Hoist loads of arrays from attributes of objects out of loops that do not store another one there. An error that
    the load reports keeps the location in the loop."""
    aliases = None
    stores: dict = {}  # loop -> names of the attributes to which it stores
    taken: dict = {}  # (block, object, name, type) -> the hoisted array
    mapping: dict[ir.Value, ir.Value] = {}
    for block in nest.dom.order:
        innermost = nest.of.get(block)
        for n, inst in enumerate(block.insts if innermost is not None else ()):
            if not _is_of_attribute(inst, ir.LOAD) or type(inst.result.type) is not Array:
                continue
            (x,), name, place, loop = inst.args, inst.attrs["name"], None, innermost
            while loop is not None and before[loop] is not None and defs.block_of.get(x) not in loop.blocks:
                if loop not in stores:
                    aliases = aliases or alias.Aliases(fn)
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
    """The names of the attributes to which a loop stores; None where it may change any."""
    found = set()
    for block in loop.blocks:
        for inst in block.insts:
            if _is_of_attribute(inst, ir.WRITES_FIRST):
                found.add(inst.attrs["name"])
            elif ir.regions_written(aliases.effects(inst)) & ir.OBJECTS and not inst.op.traits & ir.STORES_ITEM:
                return None
    return found


def _is_of_attribute(inst: ir.Inst, trait: int) -> bool:
    """Whether an instruction loads (with the trait LOAD) or stores (WRITES_FIRST) an attribute of an object."""
    return bool(inst.op.traits & trait) and type(inst.args[0].type) is ObjectOf


def _share(fn, dom, edges):
    """Share equal instructions. dom: the dominator tree with split edges; edges: block -> its incoming edges."""
    # The state of memory at a point is a linked list of the writes before it: (instruction, state before it). At a join
    # it has the writes of all paths. It starts with a new, unknown state where those are too many.
    after: dict[ir.Block, tuple] = {}
    found_in: dict[ir.Inst, tuple] = {}  # load -> the state of memory that it reads
    mapping: dict[ir.Value, ir.Value] = {}
    aliases = None
    raising = False  # whether an instruction with a handler was left out
    root = dom.order[0]
    # one table, whose changes are undone on the way up the dominator tree; an entry of None ends a scope
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
            continue  # handlers are reached before the end of the block, where its values are not defined
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
            if is_shared(inst):
                key, reads = key_of(inst, inst.args), loads(inst)
                found = table.get(key)
                if reads:
                    found_in[inst] = state
                if found is not None and reads and state is not found_in[found]:
                    aliases = aliases or alias.Aliases(fn)
                if found is not None and not (reads and _changed(inst, state, found_in[found], aliases)):
                    if "flags" in found.attrs and found.attrs != inst.attrs:
                        found.attrs = {}  # it stands for both, and keeps only the flags that hold for both
                    mapping[inst.result] = found.result
                    raising = raising or inst.unwind is not None
                    continue
                undo.append((key, found))
                table[key] = inst
            kept.append(inst)
        block.insts = kept
        after[block] = state
    substitute(fn.blocks, mapping)
    if raising:
        remove_unreachable(fn)


def loads(inst: ir.Inst) -> bool:
    """Whether the result of an instruction depends on its operands and on the memory that it reads."""
    traits = inst.op.traits
    return bool(traits & ir.LOAD or traits & ir.LOAD_OF_NUMBERS and not is_refcounted(inst.result.type))


def is_shared(inst: ir.Inst) -> bool:
    """Whether an equal instruction after this one, which has completed, has the same result (that of a load, unless the
    memory has changed)."""
    return inst.result is not None and (inst.op.effects == ir.PURE or inst.op in _SHARED_CHECKS or loads(inst))


def key_of(inst: ir.Inst, args) -> tuple:
    """A key that is the same for equal instructions with these operands, wherever they come from."""
    return inst.op, *args, _attributes(inst.attrs) if inst.attrs else (), inst.result.type


_LOOP = object()


def _where_ways_meet(node, dom, edges, after):
    """The state of memory at the start of a block that several edges enter: the state at the end of its immediate
    dominator, and the writes of the blocks between. None where those are many, or where an exception leads to the
    block. A back edge counts as a write (`_LOOP`): handlers of signals run in loops, and a loop may wait for a change
    that a handler makes."""
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
            if source is top or source not in dom.number:  # an unreachable block writes nothing
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
    """Whether the result of a load in one state of memory may differ from that in the earlier state `then`."""
    for _ in range(_FAR):
        if state is then:
            return False
        inst, state = state
        if inst is _LOOP:
            if ir.regions_read(load.op.effects) != ir.TABLES:  # no other function can change a local table
                return True
        elif inst is None or aliases.may_change(inst, load):
            return True
    return True


def _attributes(attrs):
    """The attributes as a part of a key. Equal texts are two constants: `is` compares them."""
    if "flags" in attrs:
        return ()
    return tuple((k, v if isinstance(v, (int, str, tuple)) and not isinstance(v, bool) else (type(v), id(v)))
                 if k != "value" else (type(v), repr(v) if isinstance(v, (int, float, complex)) else id(v))
                 for k, v in attrs.items() if k not in ir.NOTES)
