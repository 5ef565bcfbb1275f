"""Loop-invariant loads of a loop nest, and values computed from them: limits, shapes, factors.

Called by `versioning.py` before it copies a nest. A load from an array or a cell is invariant where its address is and
nothing in the nest writes that memory; for arrays that may overlap, the guard before the fast copy tests it. The loads
are hoisted to just before the fast copy, so that the limits of inner loops are known there:
Before:  head(i): ... n = array_load a, 0 ; inner(j, n): ... array_store b, i, j, x
After:   guard: a and b are disjoint ; 0 < length of a      read: n = array_load a, 0 ; the other conditions
         fast copy(i): ... inner(j, n): ... array_store b, i, j, x                    and the nest as before
Only where every loop of the nest is counted: a loop that waits for an element to change must read it again.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import closure
from ..ops import control
from ..ops.arith import (
    BAND, CAST, FGE, FLT, IADD, IADD_CK, ILE, ILT, ISUB, ISUB_CK, NARROW, SUMS, TRUNCATE, WHOLE, numpy_class,
)
from ..ops.guards import AFFINE_IN_RANGE
from ..ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE, ARRAY_VIEW, CELL_LOAD, CHECK_INDEX
from ..ops.structure import SELECT, UNION_GET, UNION_IS
from ..types.kinds import Float, Int, is_float, is_refcounted
from .alias import Aliases, root_of
from .counted import Definitions, find
from .gvn import MOVED
from .rewrite import Builder, clone_inst, drop_flags

__all__ = ["Invariant", "find_invariant"]

MOST = 12  # the most loads that are hoisted out of a nest
_CHECKED = {IADD_CK: IADD, ISUB_CK: ISUB, TRUNCATE: WHOLE}
_SUMMED = SUMS | {CAST, NARROW}  # sums, and conversions of their operands
_PURE = MOVED | {control.CONST, UNION_IS, UNION_GET}


class Invariant:
    """early: instructions that can run before the guard, in order; late: the loads and what is computed from them;
    distinct: array -> the arrays that must share no memory with it."""

    def __init__(self, early: list[ir.Inst], late: list[ir.Inst], distinct: dict[ir.Value, list[ir.Value]]):
        self.early, self.late, self.distinct = early, late, distinct
        self.insts = dict.fromkeys([*early, *late])

    def ask(self, b: Builder, values: dict) -> ir.Value | None:
        """Append copies of the early instructions, and return the test whether all indices of the loads are in range.
        values: the results of the copies are added."""
        condition = None
        for inst in self.early:
            if inst.op is not CHECK_INDEX:
                _copy(b, inst, values)
                continue
            i, n = (values.get(v, v) for v in inst.args)
            if not inst.attrs.get("nonnegative"):
                negative = b.test(ILT, i, b.const(Int, 0))
                i = b.int(SELECT, negative, b.int(IADD, i, n), i)
            values[inst.result] = i
            condition = _inside(b, condition, i, n)
        for load in self.late:
            if load.op is ARRAY_LOAD:
                array = values.get(load.args[0], load.args[0])
                for axis, v in enumerate(load.args[1:]):
                    check = v.inst if v.inst in self.insts and v.inst.op is CHECK_INDEX else None
                    if check is None or not _is_length(check.args[1], load, axis):
                        condition = _inside(b, condition, values.get(v, v), b.int(ARRAY_DIM, array, axis=axis))
        return condition

    def read(self, b: Builder, values: dict) -> ir.Value | None:
        """Append the loads and the instructions that are computed from them, and return the test whether sums and
        conversions to int fit."""
        condition = None
        for inst in self.late:
            if inst.op is TRUNCATE:
                x = values.get(inst.args[0], inst.args[0])
                number = float if x.type is Float else numpy_class(x.type)
                zero, *ends = (b.const(x.type, number(end)) for end in (0.0, -2.0**63, 2.0**63))
                fits = b.test(BAND, *(b.test(op, x, end) for op, end in zip((FGE, FLT), ends)))
                # converting a number that does not fit would be undefined behaviour
                values[inst.result] = b.int(WHOLE, b.op(SELECT, fits, x, zero, type=x.type))
                condition = b.both(condition, fits)
            elif inst.op in _CHECKED:
                x, y = (values.get(v, v) for v in inst.args)
                values[inst.result] = b.int(_CHECKED[inst.op], x, y)
                terms = ("value", 1), ("value", 1 if inst.op is IADD_CK else -1)
                fits = b.test(AFFINE_IN_RANGE, x, y, constant=0, terms=terms, limited=False)
                condition = b.both(condition, fits)
            else:
                _copy(b, inst, values)
        return condition


def _inside(b, condition, i, n):
    """The test `condition` and 0 <= i < n."""
    condition = b.both(condition, b.test(ILE, b.const(Int, 0), i))
    return b.both(condition, b.test(ILT, i, n))


def _is_length(n, load, axis) -> bool:
    """Whether `n` is the length of an axis of the array that a load reads."""
    made = n.inst
    return made is not None and made.op is ARRAY_DIM and made.args[0] is load.args[0] and made.attrs["axis"] == axis


def _copy(b: Builder, inst, values):
    copy = clone_inst(inst, values, {})
    b.add(copy)
    drop_flags(copy)


def find_invariant(loop, defs: Definitions, edges, aliases: Aliases, distinct: dict) -> Invariant | None:
    """The invariant loads of a loop, or None where hoisting them is not worth it. distinct: array -> others with which
    the guard compares it anyway."""
    insts = [i for b in loop.blocks for i in b.insts]
    lengths: dict[ir.Value, None] = {}
    if not _lengths(loop, loop, defs, edges, lengths):
        return None
    writers = [i for i in insts if i.op.effects & ir.WRITES]
    pairs: dict[ir.Inst, list[ir.Value]] = {}  # load -> the arrays that must share no memory with its own
    found: dict[ir.Inst, bool] = {}  # invariant value -> whether it depends on a load

    def same(v):
        return v.inst in found or defs.block_of.get(v) not in loop.blocks

    for inst in insts:
        if inst.result is None or not all(map(same, inst.args)):
            continue
        after = any(found.get(v.inst) for v in inst.args)
        if inst.op in _PURE or inst.op in _CHECKED and after and _is_wide(inst.args[0].type):
            found[inst] = after
        # views at other offsets may reach outside the array
        elif inst.op is ARRAY_VIEW and defs.constant(inst.args[1]) is not None:
            found[inst] = after
        elif inst.op is CHECK_INDEX and not after:
            found[inst] = False
        elif inst.op is ARRAY_LOAD and not after or inst.op is CELL_LOAD and not is_refcounted(inst.result.type):
            compared = _compared(inst, writers, same, aliases)
            if compared is not None:
                pairs[inst] = compared
                found[inst] = True
    # Only loads of limits and indices are worth comparisons of arrays; loads that need none are hoisted too.
    wanted = _made_of([*lengths, *(v for i in insts if i.op is CHECK_INDEX for v in (*_terms(i.args[0]), i.args[1]))],
                      found)
    needed = {load: others for load, others in pairs.items() if load in wanted or all(
        y in distinct.get(load.args[0], ()) for y in others)}
    if not needed or len(needed) > MOST:
        return None
    kept = _made_of([i.result for i in needed], found)
    kept.update((i, None) for i in found if i in wanted and all(load in needed for load in _made_of([i.result], found)
                                                                 if load in pairs))
    order = [i for i in insts if i in kept]
    tests: dict[ir.Value, list[ir.Value]] = {}
    for load, others in needed.items():
        for y in others:
            for x, z in ((load.args[0], y), (y, load.args[0])):
                if z not in tests.setdefault(x, []):
                    tests[x].append(z)
    return Invariant([i for i in order if not found[i]], [i for i in order if found[i]], tests)


def _terms(v, depth=4) -> list[ir.Value]:
    """A value and the terms of which it is a sum."""
    if not depth or v.inst is None or v.inst.op not in _SUMMED:
        return [v]
    return [v, *(one for x in v.inst.args for one in _terms(x, depth - 1))]


def _is_wide(t) -> bool:
    return t is Int or t is Float or is_float(t) and t.bits >= 32


def _lengths(loop, top, defs, edges, found) -> bool:
    """Add the starts and numbers of trips of the counters of inner loops to `found`; return False where a loop is not
    counted."""
    for one in loop.inner:
        counted = find(one, defs, edges)
        if counted is None or not _lengths(one, top, defs, edges, found):
            return False
        found.update(dict.fromkeys([counted.start[counted.left], *(counted.start[p] for p in counted.steps)]))
    return True


def _compared(load, writers, same, aliases) -> list[ir.Value] | None:
    """The arrays that must share no memory with the one that is read; None where such a test would not be enough."""
    found: dict[ir.Value, None] = {}
    for inst in writers:
        if not aliases.may_change(inst, load):
            continue
        if load.op is not ARRAY_LOAD or inst.op is not ARRAY_STORE:
            return None
        array = inst.args[0]
        if not same(array) or root_of(array) is root_of(load.args[0]):
            return None
        found[array] = None
    return list(found)


def _made_of(values, found) -> dict[ir.Inst, None]:
    """The instructions in `found` from which these values are computed, directly or indirectly."""
    def among(values) -> list[ir.Inst]:
        return [v.inst for v in values if v.inst in found]

    return closure(among(values), lambda inst: among(inst.args))
