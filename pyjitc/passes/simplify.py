"""Simplify instructions by one table of rules, and the control flow that becomes simpler by that.

Runs after inlining, which leaves constants, tuples that are packed and unpacked in one function, and chains of blocks;
and once on every library function before it is inlined anywhere.
Before:  p = tuple_make c, x ; q = tuple_get {0} p ; branch q, a, b     After (c is True):  jump a
- folds pure operations on constants (`eval`) and applies passes/rules.py;
- removes block parameters that get the same value on all edges or have a type with one value, and splits aggregates;
- removes branches on constants, empty blocks, unreachable blocks, branches whose outcome an incoming edge decides, and
  handlers that only raise again; merges blocks with their only predecessor.
Needs: SSA.  Keeps: SSA, effects and their order. Constants without references, and the lengths of arrays that are
arguments, end up at the start of the entry, one instruction for each.
"""
from __future__ import annotations

from typing import Any

from ..ir.cfg import in_edges, reverse_postorder
from ..ir.core import PURE, TERMINATOR, Block, Edge, Function, Inst, Value
from ..ops.arith import BNOT, LIKELY
from ..ops.control import BRANCH, CONST, JUMP, RERAISE, SWITCH
from ..ops.exceptions import EXC_FETCH
from ..ops.memory import ARRAY_DIM
from ..ops.structure import UNDEF
from ..types.kinds import is_refcounted
from . import dce, flatten, jump_threading
from .rewrite import remove_params, remove_unreachable, resolve, substitute
from .rules import Facts, simplify_inst

__all__ = ["run"]

ROUNDS = 12  # Every round finds work for the next; real functions need three or four.


def run(fn: Function, options: Any = None) -> None:
    facts = Facts(fn)
    remove_unreachable(fn)
    threaded, left = 0, ROUNDS
    for _ in range(ROUNDS):
        changed = _fold(fn, facts)
        edges: dict = {}
        if len(fn.blocks) > 1:
            straightened, edges = _straighten(fn, changed or threaded > 0)
            changed |= straightened | _parameters(fn, facts, edges)
            flattened = flatten.flatten(fn, facts)
            threaded = jump_threading.thread(fn, facts, left)
            left -= threaded
            if flattened or threaded:
                changed, edges = True, in_edges(fn.blocks)
        dce.remove_unread(fn, edges)
        if not changed:
            break
    fn.entry.insts[:0] = [*facts.constants, *facts.lengths.values()]


def _fold(fn: Function, facts: Facts) -> bool:
    """Apply the rules to every instruction, operands first."""
    changed = False
    mapping: dict[Value, Value] = {}
    fresh = facts.fresh
    given = set(fn.entry.params)
    for block in reverse_postorder(fn):
        kept: list[Inst] = []
        for inst in block.insts:
            op, result = inst.op, inst.result
            if op is CONST:
                if is_refcounted(result.type):  # constants that are objects stay where they are used
                    kept.append(inst)
                else:
                    mapping[result] = facts.constant(result.type, inst.attrs["value"])
                continue
            if inst.args:
                inst.args = [resolve(mapping, v) if v in mapping else v for v in inst.args]
            if inst.targets or inst.unwind is not None:
                for edge in inst.edges():
                    if edge.args:
                        edge.args = [resolve(mapping, v) if v in mapping else v for v in edge.args]
            if result is None:
                if op.effects & TERMINATOR:
                    changed |= _terminator(facts, inst)
                kept.append(inst)
                continue
            better = simplify_inst(facts, inst)
            if fresh:
                kept += fresh
                fresh.clear()
            if better is not None:  # rules know the unchecked forms of operations, and checks that hold
                mapping[result] = better
                changed = True
                continue
            unit = facts.unit(result.type)
            if unit is not None:
                mapping[result] = unit
                if op.effects == PURE:
                    continue
            if op is ARRAY_DIM and inst.args[0] in given:
                one = facts.length(inst)
                if one is not result:
                    mapping[result] = one
                continue
            kept.append(inst)
        block.insts = kept
    return changed


def _terminator(facts: Facts, inst: Inst) -> bool:
    """Simplify a branch or switch on a known value, or with only one destination."""
    if inst.op is BRANCH:
        known = facts.known(inst.args[0])
        yes, no = inst.targets
        if known is not None:
            _jump(inst, yes if known.attrs["value"] else no)
        elif yes.block is no.block and yes.args == no.args:
            _jump(inst, yes)
        elif (hint := facts.defined_by(inst.args[0], LIKELY)) is not None:
            inst.args, inst.attrs = [hint.args[0]], {**inst.attrs, "likely": True}
        else:
            negated = facts.defined_by(inst.args[0], BNOT)
            if negated is None:
                return False
            inst.args = [negated.args[0]]
            inst.targets = [no, yes]
            if inst.attrs.get("likely") is not None:
                inst.attrs = {**inst.attrs, "likely": not inst.attrs["likely"]}
        return True
    if inst.op is SWITCH:
        known = facts.known(inst.args[0])
        if known is not None:
            value, cases = known.attrs["value"], inst.attrs["cases"]
            _jump(inst, inst.targets[1 + cases.index(value) if value in cases else 0])
            return True
    return False


def _jump(inst: Inst, edge: Edge) -> None:
    inst.op, inst.args, inst.attrs, inst.targets = JUMP, [], {}, [edge]


def _straighten(fn: Function, folded: bool) -> tuple[bool, dict]:
    """Skip empty blocks, merge chains of blocks, remove unreachable blocks. folded: whether blocks may already
    be unreachable. Returns whether there was a change, and what `in_edges` found before blocks were merged."""
    changed = _skip_handlers(fn) | _skip_empty(fn)
    if changed or folded:
        changed |= remove_unreachable(fn)
    edges = in_edges(fn.blocks)
    mapping: dict[Value, Value] = {}
    gone: set[Block] = set()
    for block in fn.blocks:
        if block in gone:
            continue
        while True:
            last = block.insts[-1]
            if last.op is not JUMP:
                break
            target = last.targets[0].block
            if target is fn.entry or target is block or len(edges[target]) != 1 or target in gone:
                break
            for param, arg in zip(target.params, last.targets[0].args):
                mapping[param] = arg
            block.insts.pop()
            block.insts += target.insts
            gone.add(target)
    if gone:
        fn.blocks = [block for block in fn.blocks if block not in gone]
        substitute(fn.blocks, mapping)
    return changed or bool(gone), edges


def _skip_handlers(fn: Function) -> bool:
    """Redirect exceptions past handlers that only raise them again, such as those around the comprehensions of Python
    3.12 and later."""
    again = {block: inst for block in fn.blocks
             if len(block.insts) == 2 and (inst := _raised_again(block)) is not None}
    changed = False
    for block in fn.blocks if again else ():
        for inst in block.insts:
            if inst.unwind is not None and inst.unwind.block in again:
                handler, outer = inst.unwind, again[inst.unwind.block].unwind
                given = dict(zip(handler.block.params, handler.args))
                inst.unwind = None if outer is None else Edge(outer.block, [given.get(v, v) for v in outer.args])
                changed = True
    return changed


def _raised_again(block: Block) -> Inst | None:
    """The instruction that raises the exception of a handler again, if the handler, of two instructions, does nothing
    else; else None."""
    if block.insts[0].op is not EXC_FETCH or block.insts[0].unwind is not None:
        return None
    arrived, last = block.insts[0].result, block.insts[1]
    if last.op is JUMP and last.targets[0].args == [arrived]:
        arrived, last = last.targets[0].block.params[0], last.targets[0].block.insts[0]
    return last if last.op is RERAISE and last.args == [arrived] and (
        last.unwind is None or arrived not in last.unwind.args) else None


def _skip_empty(fn: Function) -> bool:
    """Redirect edges to a block that only jumps to the target of the jump, if nothing else reads its parameters."""
    empty = {b for b in fn.blocks if len(b.insts) == 1 and b.insts[0].op is JUMP and b is not fn.entry
             and b.insts[0].targets[0].block is not b}
    if not empty:
        return False
    owner = {p: b for b in empty for p in b.params}
    if owner:
        for block in fn.blocks:
            for inst in block.insts:
                for v in inst.uses():
                    home = owner.get(v)
                    if home is not None and home is not block:
                        empty.discard(home)
    changed = False
    for edge in [edge for block in fn.blocks for edge in block.edges() if edge.block in empty]:
        seen = set()
        while edge.block in empty and edge.block not in seen:
            middle = edge.block
            seen.add(middle)
            onward = middle.insts[0].targets[0]
            here = dict(zip(middle.params, edge.args))
            edge.args = [here.get(v, v) for v in onward.args]
            edge.block = onward.block
            changed = True
    return changed


def _parameters(fn: Function, facts: Facts, edges) -> bool:
    """Remove block parameters that are the same value on every incoming edge, or whose type has only one value."""
    mapping: dict[Value, Value] = {}
    changed = True
    while changed:
        changed = False
        for block in fn.blocks:
            if not block.params or block is fn.entry:
                continue
            arriving = edges[block]
            dead = []
            for position, param in enumerate(block.params):
                only = (facts.unit(param.type)
                        or _only(param, (e.args[position] for _, _, e in arriving), mapping, facts))
                if only is not None:
                    mapping[param] = only
                    dead.append(position)
            if dead:
                changed = True
                remove_params(block, dead, arriving)
    substitute(fn.blocks, mapping)
    return bool(mapping)


def _only(param: Value, args, mapping, facts: Facts) -> Value | None:
    """The only value that the edges pass, apart from the parameter itself and undefined values; None where there are
    several."""
    only = undefined = None
    several = False  # whether there are several undefined values, each of which is defined on its own path only
    for arg in args:
        arg = resolve(mapping, arg)
        if arg is param or arg is only:
            continue
        made = arg.inst
        if made is not None and made.op is UNDEF:
            several |= undefined is not None and undefined is not arg
            undefined = arg
        elif only is None:
            only = arg
        else:
            return None
    if only is None:
        return None if several else undefined
    if undefined is not None and only not in facts.fn.params and (
            facts.known(only) is None or is_refcounted(only.type)):
        return None  # it may not be defined on the other edges; constants that are objects stay in their blocks, too
    return only
