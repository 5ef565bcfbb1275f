"""Numbers that a loop carries and that are small from the second trip on.

    x = seed
    for i in range(n): x = (x * 1103515245 + 12345) & 0x7fffffff

Nothing is known about `seed`, so that all trips check for overflow on account of the first one. Where every trip leaves
a small number in `x` (a mask, a remainder, an element of a narrow type), a guard that `seed` is small, too, makes the
checks of sums and products of such numbers needless. `versioning` asks for this module where a loop carries such a
number, and makes the guard.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops.arith import CAST, IADD, IAND, IMOD, IMUL, INT_MAX, INT_MIN, ISUB
from ..ops.control import CONST
from ..ops.structure import SELECT
from ..types.kinds import Int, NpInt

__all__ = ["find", "BOUND", "RANGES"]

BOUND = 1 << 32  # the first value of such a number lies between -BOUND and BOUND
_DEEP = 8  # the most instructions that are looked through


def find(loop, defs, edges) -> tuple[dict[ir.Value, ir.Value], dict[ir.Inst, list[ir.Value]]]:
    """The numbers of this kind that a loop carries, each with its first value, and the checked sums and products that
    cannot overflow where these first values are small, each with the numbers on which that depends."""
    starts: dict[ir.Value, ir.Value] = {}
    entries = loop.entries(edges)
    for k, p in enumerate(loop.header.params if len(entries) == 1 else ()):
        if p.type is Int and _stays_small(p, k, loop, defs, edges):
            starts[p] = entries[0][2].args[k]
    found: dict[ir.Inst, list[ir.Value]] = {}
    for inst in [inst for block in loop.blocks for inst in block.insts if starts]:
        if inst.op.wrapping in RANGES and inst.result.type is Int:
            used: list[ir.Value] = []
            interval = _interval(inst.result, starts, used, _DEEP)
            if used and interval is not None and INT_MIN <= interval[0] and interval[1] <= INT_MAX:
                found[inst] = used
    return starts, found


def _stays_small(p, k, loop, defs, edges) -> bool:
    """Whether every trip leaves a small number in the k-th parameter p of the header."""
    work, seen = [edge.args[k] for source, _, edge in edges[loop.header] if source in loop.blocks], {p}
    while work:
        v = work.pop()
        if v in seen:
            continue
        seen.add(v)
        home = defs.block_of.get(v)
        if v.inst is None and home in loop.blocks and home is not loop.header:
            work += [edge.args[home.params.index(v)] for _, _, edge in edges[home]]
        elif v.inst is not None and v.inst.op is SELECT:
            work += v.inst.args[1:]
        elif (interval := _interval(v, (), [], 1)) is None or interval[0] < -BOUND or interval[1] > BOUND:
            return False
    return len(seen) > 1


def _constant(v) -> int | None:
    return v.inst.attrs["value"] if v.type is Int and v.inst is not None and v.inst.op is CONST else None


def _interval(v, starts, used: list, depth: int):
    """The interval of a value where the numbers in `starts`, which are added to `used`, are small; None where it is not
    known."""
    if v in starts:
        used.append(v)
        return -BOUND, BOUND
    if isinstance(v.type, NpInt):
        bits = v.type.bits
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if v.type.signed else (0, (1 << bits) - 1)
    inst = v.inst
    if v.type is not Int or inst is None or not depth:
        return None
    constant = _constant(v)
    if constant is not None:
        return constant, constant
    if inst.op is CAST:
        return _interval(inst.args[0], starts, used, depth - 1) if isinstance(inst.args[0].type, NpInt) else None
    if inst.op is IAND:
        masks = [mask for mask in map(_constant, inst.args) if mask is not None and mask >= 0]
        return (0, min(masks)) if masks else None
    if inst.op is IMOD:
        divisor = _constant(inst.args[1])
        return (0, divisor - 1) if divisor is not None and divisor > 0 else None
    compute = RANGES.get(inst.op.wrapping or inst.op)
    if compute is None:
        return None
    x, y = (_interval(one, starts, used, depth - 1) for one in inst.args)
    return None if x is None or y is None else compute(x, y)


def _product(x, y):
    ends = [a * b for a in x for b in y]
    return min(ends), max(ends)


# the intervals of sums and products of numbers in two intervals
RANGES = {IADD: lambda x, y: (x[0] + y[0], x[1] + y[1]), ISUB: lambda x, y: (x[0] - y[1], x[1] - y[0]), IMUL: _product}
