"""Look ahead whether what a loop computes from its elements could fail, so that LLVM can make vectors of the loop that
stores it.

Runs after versioning, on innermost counted loops without index checks that carry nothing from trip to trip. Where what
they write does not overlap what they read, they run in blocks: a loop that only asks, a loop that only computes, in
turn. From the first block in which something would fail, the loop as it was goes on, and fails where it always did,
after the same writes.
Before:  header(i, left): ... y = truncate x ; z = narrow y ; array_store b, i, z
After:   block(i, left): take = min(left, 256) ; branch left > 0 -> scan(i, take, 0), header(i, left)
         scan(i, take, bad): ... bad |= y does not fit ...
             then: branch bad = 0 -> fast(i, take), header(i, left)
         fast(i, take): ... y = whole x ; z = cast y ; array_store b, i, z
             then: block(i, left - take)
         header: as before
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order; three copies of a small loop.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith as a
from ..ops import control
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE
from ..ops.structure import SELECT
from ..types.kinds import Bool, Float, Int, is_float
from .alias import Aliases
from .counted import Definitions, find
from .repair import repair
from .rewrite import clone_blocks
from .versioning import MAX_ARRAYS, no_overlap

__all__ = ["run"]

BLOCK = 256  # trips that are looked at before they are made: what they read stays in the first cache
LEAST = 16  # trips of a loop for which this is worth it
MAX_INSTS = 60
_CHECKS = {*a.CONVERSIONS, a.IADD_CK, a.ISUB_CK, a.INEG_CK}
_ACCESSES = {ARRAY_LOAD, ARRAY_STORE}
_UNCHECKED = {a.NARROW: a.CAST, a.TRUNCATE: a.WHOLE, a.FIT: a.FITTED}  # conversions of what is known to fit


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    defs, edges = Definitions(fn), in_edges(fn.blocks)
    changed = False
    for loop in nest.loops:
        plan = _plan(fn, loop, nest, defs, edges)
        if plan is not None:
            _split(fn, *plan)
            changed = True
    if changed:
        fn.blocks = reverse_postorder(fn)


def _plan(fn, loop, nest, defs, edges):
    """(counted, checks, arrays that must not overlap, blocks that each trip passes) of a loop that this is for, or
    None."""
    insts = [i for b in fn.blocks if b in loop.blocks for i in b.insts]
    checks = [i for i in insts if i.op in _CHECKS]
    if loop.inner or len(insts) > MAX_INSTS or not any(i.op in a.CONVERSIONS for i in checks):
        return None
    if len(loop.latches) != 1 or loop.latches[0].insts[-1].attrs.get("novectorize"):
        return None
    known = _ACCESSES | _CHECKS
    if not any(i.op is ARRAY_STORE for i in insts) or any(
            i.unwind is not None or i.op.effects & ~ir.TERMINATOR and i.op not in known for i in insts):
        return None
    if any(i.op is a.TRUNCATE and i.args[0].type is not Float and i.args[0].type.bits < 32 for i in checks):
        return None
    counted = find(loop, defs, edges)
    if counted is None or set(loop.header.params) - set(counted.steps) or any(
            edge.block not in loop.blocks and edge is not counted.exit for b in loop.blocks for edge in b.edges()):
        return None
    distinct = _required_distinct(insts, loop, defs)
    always = {b for b in loop.blocks if nest.dom.dominates(b, loop.latches[0])}
    return None if distinct is None else (counted, set(checks), distinct, always)


def _required_distinct(insts, loop, defs):
    """Array -> the others that it must share no memory with; None where reading ahead may read something else."""
    reads: dict[ir.Value, list] = {}
    writes: dict[ir.Value, list] = {}
    for inst in insts:
        if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE:
            array = inst.args[0]
            if defs.block_of.get(array) in loop.blocks:
                return None
            reads.setdefault(array, [])
            if inst.op is ARRAY_LOAD:
                reads[array].append(inst.args[1:])
            else:
                writes.setdefault(array, []).append(inst.args[1:-1])
    if len(reads) > MAX_ARRAYS:
        return None
    if any(indices != writes[x][0] for x in writes for indices in (*reads[x], *writes[x])) or any(
            x.type.layout == "A" for x in writes if reads[x]):
        return None  # what is read is written in the same trip, after it
    return {x: others for x in reads if (others := [y for y in reads if y is not x and (x in writes or y in writes)])}


def _split(fn, counted, checks, distinct, always) -> None:
    loop, header = counted.loop, counted.loop.header
    order = [b for b in fn.blocks if b in loop.blocks]
    at = header.params.index(counted.left)
    loc = counted.entry_inst.loc

    def make(block, op, *args, type=Int, **attrs):
        block.insts.append(ir.Inst(op, args, attrs, ir.Value(type), loc))
        return block.insts[-1].result

    def branch(block, condition, yes, no, **attrs):
        block.insts.append(ir.Inst(control.BRANCH, (condition,), attrs, None, loc, [yes, no]))

    # the way in
    guard, outer = ir.Block("guard"), ir.Block("block", [ir.Value(p.type, p.name) for p in header.params])
    entry = counted.entry
    enough = make(guard, a.IGE, entry.args[at], make(guard, control.CONST, value=LEAST), type=Bool)
    known = _known_distinct(order)
    if distinct and not known:
        enough = no_overlap(guard, distinct, enough, loc, Aliases(fn))
    branch(guard, enough, ir.Edge(outer, entry.args), ir.Edge(header, entry.args), likely=True)
    entry.block, entry.args = guard, []
    # a block of trips
    left = outer.params[at]
    limit, zero = make(outer, control.CONST, value=BLOCK), make(outer, control.CONST, value=0)
    take = make(outer, SELECT, make(outer, a.ILT, left, limit, type=Bool), left, limit)
    starts = [take if k == at else p for k, p in enumerate(outer.params)]
    more = make(outer, a.IGT, left, zero, type=Bool)
    # what asks
    values: dict = {}
    scan = clone_blocks(order, values)
    bad = ir.Value(Int, "bad")
    scan[header].params.append(bad)
    verdict = ir.Block("verdict")
    narrowed = _narrowed(order)
    wrongs: dict[ir.Value, ir.Block] = {}
    for block in order:
        kept: list[ir.Inst] = []
        for original, inst in zip(block.insts, scan[block].insts):
            if inst.op is ARRAY_STORE or original.result in narrowed and original.op is a.NARROW:
                continue
            if original in checks:
                wrongs[_ask(kept, inst, loc, narrowed.get(original.result))] = block
            kept.append(inst)
        scan[block].insts = kept
    latch = scan[loop.latches[0]]
    jump, last = latch.insts.pop(), bad
    for wrong in wrongs:
        last = make(latch, a.IOR, last, wrong)
    latch.insts.append(jump)
    jump.targets[0].args.append(last)
    scan[header].insts[-1].targets[1] = ir.Edge(verdict)
    branch(outer, more, ir.Edge(scan[header], [*starts, zero]), ir.Edge(header, outer.params))
    # what computes
    values = {}
    fast = clone_blocks(order, values)
    rest = ir.Block("rest")
    if distinct and not known:
        group = fn.flags.alias_groups + 1
        fn.flags = fn.flags._replace(alias_groups=group)
        names = {x: n for n, x in enumerate(distinct)}
    for block in order:
        for whole, inst in zip(block.insts, fast[block].insts):
            if inst.op in _CHECKS:
                _make_plain(inst, narrowed.get(whole.result))
            elif (inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE) and inst.args[0] in distinct and not known:
                numbers = (names[x] for x in (inst.args[0], *distinct[inst.args[0]]))
                inst.attrs = {**inst.attrs, "noalias": (group, *numbers)}
    fast[header].insts[-1].targets[1] = ir.Edge(rest)
    after = make(rest, a.ISUB, left, take, flags="nuw nsw")
    onward = ir.Edge(outer, [after if k == at else p for k, p in enumerate(fast[header].params)])
    rest.insts.append(ir.Inst(control.JUMP, (), {}, None, loc, [onward]))
    good = make(verdict, a.IEQ, bad, make(verdict, control.CONST, value=0), type=Bool)
    branch(verdict, good, ir.Edge(fast[header], starts), ir.Edge(header, outer.params), likely=True)
    fn.blocks += [guard, outer, *scan.values(), verdict, *fast.values(), rest]
    none = ir.Value(Int)  # of a check that a trip goes round
    scan[header].insts.insert(0, ir.Inst(control.CONST, (), {"value": 0}, none, loc))
    repair(fn, {wrong: {scan[block]: wrong, scan[header]: none}
                for wrong, block in wrongs.items() if block not in always})


def _known_distinct(blocks) -> bool:
    """Whether the guard of the nest has asked it."""
    return all("noalias" in i.attrs for b in blocks for i in b.insts if i.op is ARRAY_LOAD or i.op is ARRAY_STORE)


def _ends(t) -> tuple[int, int]:
    return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, min((1 << t.bits) - 1, a.INT_MAX))


def _narrowed(blocks) -> dict:
    """Results of `truncate`, and of the `narrow` that is all they are read by -> the type of that; shorter than the
    float is exact."""
    readers: dict[ir.Value, list] = {}
    for block in blocks:
        for inst in block.insts:
            for v in (*inst.args, *(v for edge in inst.edges() for v in edge.args)):
                readers.setdefault(v, []).append(inst)
    found = {}
    for block in blocks:
        for inst in block.insts:
            if inst.op is a.TRUNCATE and [i.op for i in readers.get(inst.result, ())] == [a.NARROW]:
                narrow = readers[inst.result][0]
                if narrow.result.type.bits < (64 if inst.args[0].type is Float else inst.args[0].type.bits):
                    if all(i.op is ARRAY_STORE and i.args[-1] is narrow.result for i in readers.get(narrow.result, ())):
                        found[inst.result] = found[narrow.result] = narrow.result.type
    return found


def _make_plain(inst, narrowed=None) -> None:
    if inst.op is a.TRUNCATE:
        short = "short" in inst.attrs.get("flags", "") or narrowed is not None and _ends(narrowed)[1] < 1 << 31
        inst.attrs = {"flags": "short"} if short else {}
    else:
        inst.attrs = {"type": inst.attrs["type"]} if "type" in inst.attrs else {}
    inst.op = inst.op.wrapping or _UNCHECKED[inst.op]


def _ask(insts, check, loc, narrowed) -> ir.Value:
    """An int that is not 0 where a check would raise; the check becomes the plain operation. What that gives in bad
    trips is not used. narrowed: the type of integers that a truncated float goes to, which no other instruction
    reads."""
    def make(op, *args, type=Int, **attrs):
        insts.append(ir.Inst(op, args, attrs, ir.Value(type), loc))
        return insts[-1].result

    def number(value, type=Int):
        plain = type is Int or type is Float
        return make(control.CONST, type=type, value=value if plain else a.numpy_class(type)(value))

    def both(x, one, low, other, high):
        ends = make(one, x, number(low, x.type), type=Bool), make(other, x, number(high, x.type), type=Bool)
        return make(a.BAND, *ends, type=Bool)

    op, args = check.op, check.args
    x = args[0]
    if op is a.TRUNCATE:
        if narrowed is not None:
            low, high = _ends(narrowed)
            good = both(x, a.FGT, low - 1.0, a.FLT, high + 1.0)
        elif "bounded" in check.attrs.get("flags", ""):
            good = make(a.FEQ, x, x, type=Bool)
        else:
            good = both(x, a.FGE, -2.0**63, a.FLT, 2.0**63)
        if narrowed is None:  # else nobody reads it
            check.args = [make(SELECT, good, x, number(0.0, x.type), type=x.type)]
        wrong = make(SELECT, good, number(0), number(1))
    elif op is a.FIT:
        good = ir.Value(Bool)
        insts.append(ir.Inst(a.FITS, (x,), {"type": check.result.type}, good, loc))
        if is_float(x.type):  # a conversion of what does not fit would be undefined
            check.args = [make(SELECT, good, x, number(0.0, x.type), type=x.type)]
        wrong = make(SELECT, good, number(0), number(1))
    elif op is a.NARROW:
        low, high = _ends(check.result.type)
        good = both(x, a.IGE, low, a.ILE, high)
        wrong = make(SELECT, good, number(0), number(1))
    else:
        result = make(op.wrapping, *args)
        if op is a.INEG_CK:
            signs = make(a.IAND, x, result)
        else:
            y = args[1]
            pairs = ((x, y), (x, result)) if op is a.ISUB_CK else ((x, result), (y, result))
            signs = make(a.IAND, *(make(a.IXOR, *pair) for pair in pairs))
        wrong = make(a.ISHR, signs, number(63))
    _make_plain(check)
    return wrong
