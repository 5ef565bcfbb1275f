"""Pass aggregates between blocks as their parts, so that loop state becomes scalar SSA values (a step of simplify).

Before:  jump loop(s)     loop(s: struct): i = struct_get {0} s
After:   i0 = struct_get {0} s ; jump loop(i0)     loop(i): s = struct_make i
The aggregate is rebuilt at the start of the block; the rules for projections and dce remove what is not needed. A union
whose member is the same on every way in is passed as a value of that member's type.
"""
from __future__ import annotations

from ..ir.cfg import in_edges
from ..ir.core import PACKS, UNPACKS, Block, Function, Inst, Value
from ..ops import structure as s
from ..ops.exceptions import EXC_FETCH
from ..types import kinds as k
from .rules import Facts

__all__ = ["flatten"]

MOST = 32  # the most parts of an aggregate that is passed as its parts
# beside those with the traits PACKS and UNPACKS, the operations on values of one kind
_MAKES = frozenset((s.SLICE_MAKE, s.RANGE_MAKE, s.DUAL_MAKE, s.UNION_MAKE, s.UNDEF))
_GETS = frozenset((s.SLICE_GET, s.RANGE_GET, s.DUAL_WIDE, s.DUAL_IS_NARROW))


def _is_wide(t: k.Type) -> bool:
    """Whether an aggregate has too many parts, or is nested too deeply, to be passed as its parts."""
    if t.size > 16 * MOST:
        return True
    leaves, work = 0, [t]
    while work:
        t = work.pop()
        if isinstance(t, k.Composite):
            work += t.parts
        else:
            leaves += 1
    return leaves > MOST


def flatten(fn: Function, facts: Facts) -> bool:
    wanted = [(b, p) for b in fn.blocks[1:] for p in b.params if isinstance(p.type, (k.Composite, k.Union))]
    if not wanted:
        return False
    read = {inst.args[0] for b in fn.blocks for inst in b.insts
            if inst.op.traits & UNPACKS or inst.op in _GETS}
    edges = in_edges(fn.blocks)
    before: dict[Inst, list[Inst]] = {}
    made: dict[Block, list[Inst]] = {}
    for block, param in wanted:
        position = block.params.index(param)
        arriving = edges[block]
        if isinstance(param.type, k.Union):
            leaf = _same_member(param, [e.args[position] for _, _, e in arriving], facts)
            if leaf is None:
                continue
            new = [Value(leaf, param.name)]
            rebuilt = Inst(s.UNION_MAKE, new, {"type": param.type}, param)
            steps = [rebuilt]
        else:
            if _is_wide(param.type) or not (param in read or any(
                    _is_made(facts, e.args[position]) for _, _, e in arriving)):
                continue
            new, steps = [], []
            _rebuild(param, param.type, new, steps)
        for _, inst, edge in arriving:
            arg = edge.args[position]
            if isinstance(param.type, k.Union):
                pieces = new if arg is param else [_payload(facts, arg, new[0].type)]
            else:
                pieces = new if arg is param else _take_apart(facts, arg)
            edge.args[position:position + 1] = pieces
            if facts.fresh:
                before.setdefault(inst, []).extend(facts.fresh)
                facts.fresh.clear()
        block.params[position:position + 1] = new
        made.setdefault(block, []).extend(steps)
    if not made:
        return False
    for block in fn.blocks:
        insts = block.insts
        if before:
            insts = [x for inst in insts for x in (*before.get(inst, ()), inst)]
        if block in made:
            at = 1 if insts[0].op is EXC_FETCH else 0
            insts = insts[:at] + made[block] + insts[at:]
        block.insts = insts
    return True


def _is_made(facts: Facts, value: Value) -> bool:
    inst = value.inst
    return inst is not None and (bool(inst.op.traits & PACKS) or inst.op in _MAKES)


def _take_apart(facts: Facts, value: Value) -> list[Value]:
    if not isinstance(value.type, k.Composite):
        return [value]
    pieces = []
    for op, attrs, t in s.takers(value.type):
        pieces += _take_apart(facts, facts.make(op, value, type=t, **attrs))
    return pieces


def _rebuild(value: Value, t: k.Composite, leaves: list[Value], steps: list[Inst]) -> None:
    """(new values for the leaves of `t`, the instructions that make `value` of them)"""
    pieces = []
    for n, e in enumerate(t.parts):
        piece = Value(e, f"{value.name}.{n}" if value.name else "")
        pieces.append(piece)
        if isinstance(e, k.Composite):
            _rebuild(piece, e, leaves, steps)
        else:
            leaves.append(piece)
    make, attrs = s.maker(t)
    steps.append(Inst(make, pieces, attrs, value))


def _same_member(param: Value, args, facts: Facts) -> k.Type | None:
    member = None
    for arg in args:
        if arg is param:
            continue
        made = facts.defined_by(arg, s.UNION_MAKE, s.UNDEF)
        if made is None:
            return None
        if made.op is s.UNDEF:
            continue
        t = made.args[0].type
        if member is not None and t is not member:
            return None
        member = t
    return member


def _payload(facts: Facts, arg: Value, t: k.Type) -> Value:
    made = facts.defined_by(arg, s.UNION_MAKE)
    return made.args[0] if made is not None else facts.make(s.UNDEF, type=t)
