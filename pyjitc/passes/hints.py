"""Hints for LLVM about innermost loops: whether it vectorises a loop, with how many vectors, and whether it unrolls it.

Used by polling, which decides the form of each loop. The hints are attributes of the terminators that jump back to the
header of a loop (control.LOOP_HINTS). Accesses down a column get offsets that go from row to row (`walk`).
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import closure
from ..ops import control
from ..ops.arith import CAST, FADD, FMUL, FSUB, IADD, IFLOORDIV, IGT, IMOD, IMUL, ISUB
from ..ops.memory import (
    ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE, ARRAY_STRIDE, ARRAY_VIEW, CHECK_INDEX, POLL, item_bytes,
)
from ..ops.structure import DUAL_MAKE, DUAL_WIDE
from ..types.kinds import Array, Float, Int, NpBool, NpFloat, NpInt, is_scalar
from .counted import FEW, WIDE, affine
from .rewrite import Builder

__all__ = ["adds_in_order", "in_order", "is_independent_nest", "is_straight_line", "is_strided", "note", "note_columns",
           "note_independent", "note_ordered", "note_vectors", "of_numbers", "one_by_one", "only_counts", "packs",
           "size", "strided_accesses", "sums_integers", "waits_for_sum", "walk", "worth_unrolling"]

_TIGHT = 18  # most instructions of a loop with index checks that is unrolled
_BRANCHY = 32  # most operations of a loop that branches and is unrolled
# Most operations of a loop with polynomials that keeps four vectors in flight, or two of short elements; a larger one
# keeps half as many.
_SMALL = 42
_HIDDEN = 2  # most checks of indices in a trip that waits for a sum
# What else such a trip may consist of: all but divisions and functions, which LLVM computes in vectors.
_BESIDE_SUM = frozenset((control.CONST, IADD, ISUB, IGT, FADD, FSUB, FMUL, ARRAY_LOAD, CAST, DUAL_MAKE, DUAL_WIDE))
# What a loop that only adds up integers consists of.
_OF_SUM = frozenset((control.CONST, control.JUMP, control.BRANCH, IADD, IGT, ARRAY_LOAD, CAST))
_TINY = 14  # most operations of a loop that keeps two vectors in flight, because its loop overhead would be noticeable


def packs(loop) -> bool:
    """Whether a loop stores at least FEW numbers to one array in each iteration, which LLVM may combine to a vector."""
    count: dict[ir.Value, int] = {}
    if loop.has_hint("novectorize"):
        return False
    for block in loop.blocks:
        for inst in block.insts:
            if inst.op is CHECK_INDEX:
                return False
            if inst.op is ARRAY_STORE:
                count[inst.args[0]] = count.get(inst.args[0], 0) + 1
    return any(n >= FEW for n in count.values())


def is_independent_nest(loop) -> bool:
    """Whether the memory accesses of a loop, among them a store, all belong to one nest: no iteration accesses an
    element that another writes (see ops/nest.py)."""
    accesses = [inst for block in loop.blocks for inst in block.insts
                if inst.op.effects & (ir.READS | ir.WRITES) and inst.op is not POLL]
    return (all(inst.attrs.get("parallel") for inst in accesses)
            and any(inst.op is ARRAY_STORE for inst in accesses))


def is_strided(loop) -> bool:
    """Whether a loop is the copy of the loop of a nest for arbitrary strides."""
    return any(inst.attrs.get("strided") for block in loop.blocks for inst in block.insts)


def note_independent(loop, short, in_order) -> None:
    """Set the hint `parallel` on a loop that LLVM may vectorise without a test."""
    if in_order or is_strided(loop):
        note(loop, "novectorize")
    elif is_independent_nest(loop):
        for block in loop.latches:
            last = block.insts[-1]
            last.attrs = {**last.attrs, "parallel": True, "interleave": _interleave(loop, short)}


def is_straight_line(loop) -> bool:
    """Whether an innermost loop, which LLVM may vectorise, stores elements that it computes without branches, and
    carries nothing but its counters from trip to trip. Short rows of an array with strides of its own are slower when
    LLVM has not simplified them with all of its passes, and so are loops in loops of the program, of which LLVM
    computes more vectors at once."""
    return (len(loop.blocks) == 2 and len(loop.latches) == 1 and loop.latches[0] is not loop.header
            and not loop.has_hint("unroll") and not loop.has_hint("ordered")
            and all(p.type is Int for p in loop.header.params)
            and any(i.op is ARRAY_STORE for i in loop.latches[0].insts)
            and not any(i.op.effects & ~(ir.READS | ir.WRITES | ir.TERMINATOR)
                        or (i.op is ARRAY_LOAD or i.op is ARRAY_STORE) and _is_slow_in_vectors(loop, i)
                        for b in loop.blocks for i in b.insts))


def _is_slow_in_vectors(loop, access) -> bool:
    array = access.args[0]
    if loop.parent is None or access.attrs.get("parallel"):
        return array.type.layout == "A" and array.type.ndim > 1
    return array.inst is None or array.inst.op is not ARRAY_VIEW  # the cores of a generalised ufunc are such views


def only_counts(loop) -> bool:
    """Whether a loop consists of the loops inside it, of arithmetic on numbers, and of views and loads, as in an array
    expression or a generalised ufunc, so that LLVM has little to move out of it. An innermost loop need not."""
    inside = {block for one in loop.inner for block in one.blocks}
    return not loop.inner or not any(
        i.op is not POLL and i.op.effects & ~(ir.TERMINATOR | ir.READS)
        or i.result is not None and not is_scalar(i.result.type) and i.op is not ARRAY_VIEW
        for block in loop.blocks if block not in inside for i in block.insts)


def note_vectors(loops) -> None:
    """Set the hint `vectors` on such loops."""
    for loop in loops:
        attrs = loop.latches[0].insts[-1].attrs
        count = attrs["interleave"] if "interleave" in attrs else _interleave(loop, loop.parent is not None)
        if _is_short(loop) and not _polynomials(loop):  # with polynomials `_interleave` has halved the number
            count = max(1, count // 2)
        note(loop, "vectors", count)


def note_columns(loop, defs) -> list[ir.Inst]:
    """Mark the accesses that stay in a column and go from row to row, so that they are distinguished from others, and
    return them. Excepted are reads of a few columns with constant numbers, such as the coordinates of points: these
    elements are contiguous, and faster to load one by one."""
    columns: dict[ir.Value, list[ir.Inst]] = {}
    for inst in strided_accesses(loop, defs):
        if inst.args[0].type.layout != "A":
            columns.setdefault(inst.args[0], []).append(inst)
    noted = []
    for insts in columns.values():
        places = {inst.args[1:][_last(inst.args[0].type)] for inst in insts}
        if len(places) == 1 or any(defs.constant(v) is None for v in places):
            for inst in insts:
                inst.attrs = {**inst.attrs, "column": True}
            noted += insts
    return noted


def one_by_one(loop, options) -> bool:
    """Whether LLVM does not vectorise a loop: it leaves the loop in several places, or accumulates floats in order."""
    return sum(edge.block not in loop.blocks for b in loop.blocks for edge in b.edges()) > 1 or in_order(loop, options)


def strided_accesses(loop, defs) -> list[ir.Inst]:
    """The accesses to elements that are not neighbours from trip to trip, as far as is known, of arrays that stay the
    same: one that a trip makes or chooses may have strides of its own."""
    found = []
    for block in loop.blocks:
        for inst in block.insts:
            if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE:
                array = inst.args[0].type
                changing = [defs.block_of.get(v) in loop.blocks for v in inst.args[1:1 + array.ndim]]
                if (any(changing) and (array.layout == "A" or not changing[_last(array)])
                        and defs.block_of[inst.args[0]] not in loop.blocks):
                    found.append(inst)
    return found


def walk(fn, loop, accesses, defs) -> None:
    """For accesses down a column, maintain an offset in bytes from the row in which the loop starts, instead of
    multiplying the number of each row by the length of a row: processors multiply vectors of 64-bit integers slowly.
    Before:  header(i): ... array_load a, i, k                after: header(i, off): ... array_load a, start, k, off
             jump header(i + 1)                                      jump header(i + 1, off + length)"""
    if not accesses:
        return
    header = loop.header
    ways = [(block, block.insts[-1], edge) for block in fn.blocks for edge in block.edges() if edge.block is header]
    outside = [way for way in ways if way[0] not in loop.blocks]
    inside = [way for way in ways if way[0] in loop.blocks]
    if len(outside) != 1 or len(inside) != 1:
        return
    (entry_block, entry_inst, entry), (latch, back_inst, back) = outside[0], inside[0]
    loc = back_inst.loc
    offsets: dict[tuple[ir.Value, int, int], ir.Value] = {}
    changing = {v for b in loop.blocks for v in b.values()}
    for access in accesses:
        array, *indices = access.args
        stored = indices[array.type.ndim:]
        del indices[array.type.ndim:]
        axes = [axis for axis, v in enumerate(indices) if v in changing]
        p, constant = _sum(indices[axes[0]], defs)
        if len(axes) != 1 or p not in header.params:
            continue
        k, axis = header.params.index(p), axes[0]
        following, step = _sum(back.args[k], defs)
        if following is not p or not step:
            continue
        offset = offsets.get((array, axis, step))
        if offset is None:
            b = Builder([], loc)
            if array.type.layout == "A":
                length = b.int(IMUL, b.int(ARRAY_STRIDE, array, axis=axis), b.const(Int, step), flags="nsw")
            else:
                length = b.const(Int, step * item_bytes(array.type.dtype))
                for other in range(axis + 1, array.type.ndim) if array.type.layout == "C" else range(axis):
                    length = b.int(IMUL, b.int(ARRAY_DIM, array, axis=other), length, flags="nsw")
            offset = offsets[array, axis, step] = ir.Value(Int, "off")
            following = b.int(IADD, offset, length, flags="nsw")
            latch.insts[-1:-1] = b.insts
            header.params.append(offset)
            back.args.append(following)
            zero = ir.Value(Int)
            entry_block.insts.insert(entry_block.insts.index(entry_inst),
                                     ir.Inst(control.CONST, (), {"value": 0}, zero, loc))
            entry.args.append(zero)
        start = entry.args[k]
        if constant:
            more, first = ir.Value(Int), ir.Value(Int)
            block = next(b for b in loop.blocks if access in b.insts)
            here = block.insts.index(access)
            block.insts[here:here] = [ir.Inst(control.CONST, (), {"value": constant}, more, loc),
                                      ir.Inst(IADD, (start, more), {"flags": "nsw"}, first, loc)]
            start = first
        indices[axis] = start
        access.args = [array, *indices, offset, *stored]
        access.attrs = {**access.attrs, "walk": axis}


def _sum(value, defs) -> tuple[ir.Value, int]:
    """(another value, a constant) whose sum is `value`."""
    inst = value.inst
    if inst is not None and inst.op in (IADD, ISUB):
        c = defs.constant(inst.args[1])
        if c is not None:
            return inst.args[0], c if inst.op is IADD else -c
    return value, 0


def _last(array) -> int:
    """The axis whose elements are contiguous."""
    return array.ndim - 1 if array.layout == "C" else 0


def note(loop, name, value=True) -> None:
    """Set a hint (control.LOOP_HINTS) on the terminators that jump back to the header of a loop."""
    for block in loop.latches:
        block.insts[-1].attrs = {**block.insts[-1].attrs, name: value}


def _interleave(loop, short) -> int:
    """The number of vectors that one iteration should process. The steps of an elementary function depend on each
    other, and a processor looks ahead only 100 or 200 instructions, not far enough to overlap two iterations.
    Iterations of other loops overlap, and more vectors would only make the remainder longer. So they would in rows,
    which may be short: a remainder of elementary functions takes much longer than several vectors save. A vector
    holds twice as many short elements, so half as many vectors process them. Constants are no steps."""
    insts = [inst for block in loop.blocks for inst in block.insts if inst.op is not control.CONST]
    polynomials = _polynomials(loop)
    size = len(insts) + sum(len(inst.attrs["coefficients"]) for inst in polynomials)
    if polynomials:
        count = 4 if size <= _SMALL else 2
        return 1 if _is_row(loop) else count // 2 if _is_short(loop) else count
    if any((inst.op is IMOD or inst.op is IFLOORDIV) and inst.result.type in WIDE
           and (inst.args[1].inst or inst).op is not control.CONST for inst in insts):
        return 1  # no vector divides these, and each division has branches
    return 1 if short or size > _TINY or _is_row(loop) else 2


def _polynomials(loop) -> list[ir.Inst]:
    return [inst for block in loop.blocks for inst in block.insts if "coefficients" in inst.attrs]


def _is_short(loop) -> bool:
    """Whether all elements that a loop loads and stores have less than eight bytes."""
    types = [inst.args[0].type.dtype for block in loop.blocks for inst in block.insts
             if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE]
    return all([t is NpBool or isinstance(t, (NpInt, NpFloat)) and t.bits < 64 for t in types])


def _is_row(loop) -> bool:
    """Whether a loop goes over elements of one row, whose number the loop around counts."""
    rows = loop.parent.header.params if loop.parent is not None else ()
    return any([not set(rows).isdisjoint(inst.args) for block in loop.blocks for inst in block.insts
                if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE])


def sums_integers(loop) -> bool:
    """Whether a loop in another one only adds up elements that are NumPy's integers."""
    return loop.parent is not None and any([isinstance(p.type, NpInt) for p in loop.header.params]) and all(
        [inst.op in _OF_SUM for block in loop.blocks for inst in block.insts])


def size(loop) -> int:
    """The number of operations of a loop."""
    return sum(i.op is not control.CONST and i.op is not control.JUMP for b in loop.blocks for i in b.insts)


def in_order(loop, options) -> bool:
    """Whether LLVM cannot vectorise a loop because it may raise, or must not because it accumulates floats in order."""
    if any(i.op.effects & ir.RAISES or "strided" in i.attrs for b in loop.blocks for i in b.insts):
        return True
    return adds_in_order(loop, options)


def adds_in_order(loop, options) -> bool:
    """Whether a loop accumulates floats, or has another chain of operations that round, so that the order of its trips
    counts."""
    return not options.fastmath and bool(_chained(loop))


def waits_for_sum(header, options) -> bool:
    """Whether each trip of the loop with this header waits for the sum of floats that the trip before computes, and
    consists of so little else that a processor has done that by then: neither checks of indices nor the jump back take
    time."""
    body = next((edge.block for edge in header.edges() if [one.block for one in edge.block.edges()] == [header]), None)
    if body is None or options.fastmath:
        return False
    insts = header.insts[:-1] + body.insts[:-1]
    inside = {*header.params, *[inst.result for inst in insts]}
    return (any([v.inst in body.insts and v.inst.op in (FADD, FSUB) and p in v.inst.args
                 for p, v in zip(header.params, body.insts[-1].targets[0].args)])
            and all([_is_beside_sum(inst) and (inst.op is control.CONST or not inside.isdisjoint(inst.args))
                     for inst in insts])
            and sum([inst.op is CHECK_INDEX for inst in insts]) <= _HIDDEN)


def _is_beside_sum(inst) -> bool:
    """Whether an instruction may be part of a trip that `waits_for_sum` accepts."""
    return inst.op in _BESIDE_SUM or inst.op is CHECK_INDEX and bool(inst.attrs.get("nonnegative"))


def _chained(loop) -> set[ir.Value]:
    """The header's parameters that a chain of operations that round changes from trip to trip."""
    parts: dict[ir.Value, list[ir.Value]] = {}  # value -> the values inside the loop from which it is computed
    sums = set()
    for block in loop.blocks:
        for inst in block.insts:
            if inst.result is not None:
                parts[inst.result] = inst.args
                if inst.op.traits & ir.INEXACT and "loose" not in inst.attrs:
                    sums.add(inst.result)
            for edge in inst.edges():
                for p, v in zip(edge.block.params, edge.args, strict=True):
                    if edge.block in loop.blocks:
                        parts.setdefault(p, []).append(v)
    return {p for p in loop.header.params if any(p in _made_of(v, parts) for v in sums & _made_of(p, parts))}


def note_ordered(loop, in_order, options) -> bool:
    """Let LLVM vectorise a loop that sums floats in order, if its terms are expensive: they are computed in vectors,
    whose elements are added one after the other. More than one vector in flight gains little, and takes LLVM much
    longer. Returns whether it is such a loop."""
    if (in_order or options.fastmath or loop.has_hint("novectorize") or len(loop.latches) != 1
            or any(i.op.effects & ir.RAISES or "strided" in i.attrs for b in loop.blocks for i in b.insts)):
        return False
    insts = [i for b in loop.blocks for i in b.insts]
    if sum(map(_work, insts)) < ir.EXPENSIVE:
        return False
    back = next(edge for edge in loop.latches[0].edges() if edge.block is loop.header)
    read = {v for i in insts for v in i.args}
    elsewhere = {v for i in insts if i.result is None or i.result in read for v in i.args}
    chained = _chained(loop)
    sums = [v for p, v in zip(loop.header.params, back.args) if p in chained and v not in read
            and p not in elsewhere and v.inst is not None and v.inst.op is FADD and v.inst.args.count(p) == 1]
    if not sums or len(sums) < len(chained):
        return False
    note(loop, "ordered")
    note(loop, "interleave", 1)
    return True


def _work(inst) -> int:
    """The cost of what is worth being computed in vectors: divisions, square roots, polynomials."""
    return inst.op.cost if inst.op.cost >= ir.EXPENSIVE else len(inst.attrs.get("coefficients", ()))


def _made_of(value, parts) -> set[ir.Value]:
    """All values that `value` is computed from, directly or through others. parts: value -> its operands; these may
    form cycles."""
    return set(closure(parts.get(value, ()), lambda v: parts.get(v, ())))


def worth_unrolling(counted, defs) -> bool | str:
    """Whether to unroll a loop, "branches" where it is one with branches, and "look-ups" where it looks up bytes: it is
    a chain of steps that cannot be vectorised, and short enough for its own overhead to count. Such are loops with
    computed indices, look-ups in tables of bytes, sums of floats and running sums inside another loop, loops of scalars
    (whose steps LLVM can combine), and loops of a few operations that branch. Unrolling others only costs compile
    time."""
    loop = counted.loop
    if _branches(counted):
        return "branches"
    ops = [i.op for b in loop.blocks for i in b.insts]
    if CHECK_INDEX in ops:
        return len(ops) <= _TIGHT
    if size(loop) <= _TIGHT and _looks_up(counted, defs):
        return "look-ups"
    if size(loop) <= _TIGHT and loop.parent is not None and _chains(counted, defs):
        return True
    carried = {p.type for p in loop.header.params if p not in counted.steps}
    held = [i for b in loop.blocks for i in b.insts if i.op is ARRAY_STORE and i.attrs.get("held")]
    carried.update(i.args[-1].type for i in held)
    if len(ops) > 40 or not carried or sum(
            bool(op.effects & (ir.WRITES | ir.RAISES)) for op in ops) > len(held):
        return False
    return (ARRAY_LOAD not in ops or loop.parent is not None
            and any(t is Float or isinstance(t, NpFloat) for t in carried))


def _looks_up(counted, defs) -> bool:
    """Whether a loop loads elements of one or two bytes at indices that it computes: no processor gathers those."""
    loop = counted.loop
    return any(
        v not in counted.steps and defs.block_of.get(v) in loop.blocks
        for b in loop.blocks for i in b.insts if i.op is ARRAY_LOAD and item_bytes(i.args[0].type.dtype) <= 2
        for index in i.args[1:] for v in affine(index, defs, loop.blocks, {}).terms)


def _chains(counted, defs) -> bool:
    """Whether a loop updates elements whose indices it computes, or stores values that it computes from a running count
    or sum, which LLVM does not vectorise."""
    loop = counted.loop
    insts = [i for b in loop.blocks for i in b.insts]
    loaded = {i.args[0] for i in insts if i.op is ARRAY_LOAD}
    back = next(edge for edge in loop.latches[0].edges() if edge.block is loop.header)
    summed = {p for p, v in zip(loop.header.params, back.args)
              if p not in counted.steps and v.inst is not None and p in v.inst.args}
    for inst in insts:
        if inst.result is not None and not summed.isdisjoint(inst.args):
            summed.add(inst.result)
    for store in insts:
        if store.op is ARRAY_STORE:
            array, *indices, value = store.args
            if value in summed:
                return True
            terms = [v for index in indices for v in affine(index, defs, loop.blocks, {}).terms]
            if array in loaded and any(v not in counted.steps and defs.block_of.get(v) in loop.blocks for v in terms):
                return True
    return False


def _branches(counted) -> bool:
    """Whether a loop is a few operations with branches that LLVM cannot vectorise. The jump back to its header is then
    a large part of its time, and each copy of a branch has its own history in the branch predictor."""
    loop = counted.loop
    ops = [i for b in loop.blocks for i in b.insts if i.op is not control.CONST and i.op is not control.JUMP]
    if (len(ops) > _BRANCHY or not of_numbers(ops)
        or not any(i.op is control.BRANCH and b is not loop.header for b in loop.blocks for i in b.insts)):
        return False
    if any(i.op.effects & ir.RAISES and i.op is not CHECK_INDEX for i in ops):
        return True
    loaded: dict[ir.Value, set] = {}
    for inst in ops:
        if inst.op is ARRAY_LOAD:
            loaded.setdefault(inst.args[0], set()).add(tuple(inst.args[1:]))
    if any(inst.op is ARRAY_STORE and loaded.get(inst.args[0], set()) - {tuple(inst.args[1:-1])} for inst in ops):
        return True  # an iteration may load what an earlier one has stored
    carried = [p for p in loop.header.params if p not in counted.steps and p is not counted.left]
    ops = _needed(loop) if carried else []
    reads = [[i.op for i in ops if p in i.args] for p in carried]
    return any(len(ops) > 1 or control.BRANCH in ops for ops in reads)


def of_numbers(insts) -> bool:
    """Whether instructions have only numbers and arrays as operands. The code of others, such as those on texts, may
    contain calls and loops, and LLVM then does not unroll the loop around it, and says so on stderr."""
    return all(is_scalar(v.type) or isinstance(v.type, Array) for inst in insts for v in inst.args)


def _needed(loop) -> list[ir.Inst]:
    """The instructions of a loop without those whose results are read only after it."""
    needed = closure([i for b in loop.blocks for i in b.insts if i.op.effects or i.op is control.BRANCH], lambda inst: [
        v.inst for v in (*inst.args, *(v for e in inst.edges() if e.block in loop.blocks for v in e.args))
        if v.inst is not None])
    return [i for b in loop.blocks for i in b.insts if i in needed]
