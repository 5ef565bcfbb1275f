"""The tests of the guard that `versioning` puts before a nest, as instructions.

What a plan of `versioning` asks for is written here: forms that stay in range, sums that fit, loops that are short, and
arrays that share no memory, which `inspector` tests as well. Functions with a parameter `condition` (None: nothing is
tested yet) return the condition that it holds, and their own tests.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops.arith import BNOT, BOR, IADD, ILE, ILT, IMUL, ISUB
from ..ops.guards import AFFINE_IN_RANGE
from ..ops.memory import ARRAY_DATA, ARRAY_DIM, ARRAY_STRIDE, item_bytes
from ..ops.structure import SELECT
from ..types.kinds import Int
from .rewrite import Builder

__all__ = ["ROOM", "in_range", "no_overlap", "on_the_way", "short_enough", "strongest", "sum_up", "with_one_limit"]

ROOM = 1 << 62  # the bound for the start of a sum, and for what a loop adds to it


def on_the_way(b: Builder, plan, condition, loop, defs):
    """Append the test that `condition` holds, and that none of the branches with invariant conditions (`ways`) leaves
    the loop."""
    for asked, way in dict.fromkeys(plan.ways.values()):
        if defs.block_of.get(asked) in loop.blocks and (plan.fixed is None or asked.inst not in plan.fixed.insts):
            asked = b.test(asked.inst.op, *asked.inst.args)
        stays = b.test(BNOT, asked) if way else asked
        condition = b.both(condition, stays)
    return condition


def sum_up(b: Builder, plan, condition):
    """Append the test that `condition` holds and all sums fit in 64 bits until the loop ends."""
    for (start, lengths), most in plan.sums.items():
        trips = int((ROOM // most) ** (1 / len(lengths)))
        tests = []
        if start is not None:
            low, high = (b.const(Int, n) for n in (-ROOM, ROOM))
            tests = [b.test(ILE, low, start), b.test(ILE, start, high)]
        limit = b.const(Int, trips)
        for one in [*tests, *(b.test(ILE, length, limit) for length in lengths)]:
            condition = b.both(condition, one)
    return condition


def short_enough(b: Builder, rows, condition):
    """Append the test that `condition` holds and these loops are not longer than allowed."""
    for length, most in dict.fromkeys(rows.values()):
        condition = b.both(condition, b.test(ILE, length, b.const(Int, most)))
    return condition


def no_overlap(b: Builder, distinct, condition, aliases):
    """Append the test that `condition` holds and no two of these arrays share memory, where that is not known."""
    pairs: dict[frozenset, tuple] = {}
    for x, others in distinct.items():
        pairs.update((frozenset((x, y)), (x, y)) for y in others if frozenset((x, y)) not in pairs
                     and not aliases.distinct(x, y))
    spans = {}
    for array in dict.fromkeys(v for pair in pairs.values() for v in pair):
        low = high = b.int(ARRAY_DATA, array)
        zero, one = b.const(Int, 0), b.const(Int, 1)
        for axis in range(array.type.ndim):
            n, stride = b.int(ARRAY_DIM, array, axis=axis), b.int(ARRAY_STRIDE, array, axis=axis)
            reach = b.int(IMUL, b.int(ISUB, n, one), stride)
            if array.type.layout == "A":
                negative = b.test(ILT, reach, zero)
                low = b.int(IADD, low, b.int(SELECT, negative, reach, zero))
                reach = b.int(SELECT, negative, zero, reach)
            high = b.int(IADD, high, reach)
        spans[array] = low, b.int(IADD, high, b.const(Int, item_bytes(array.type.dtype)))
    for x, y in pairs.values():
        (low, high), (low_of, high_of) = spans[x], spans[y]
        clear = b.test(BOR, b.test(ILE, high, low_of), b.test(ILE, high_of, low))
        condition = b.both(condition, clear)
    return condition


def strongest(guards) -> list[tuple]:
    """The conditions without those that another one implies: of the constant limits of a form only the least counts,
    and a form that is below any limit fits in 64 bits."""
    limits: dict[tuple, list] = {}
    for constant, terms, limit in guards:
        limits.setdefault((constant, terms), []).append(limit)
    found = []
    for (constant, terms), asked in limits.items():
        constants = [limit for limit in asked if isinstance(limit, int)]
        kept: list = [min(constants)] if constants else []
        kept += [limit for limit in asked if isinstance(limit, ir.Value)]
        found += [(constant, terms, limit) for limit in kept or [None]]
    return found


def with_one_limit(b: Builder, guards) -> list[tuple]:
    """The conditions with one limit for each form, the least. Inside another loop, where the lengths of arrays do not
    change, it is computed before that loop, so that each run of the inner one makes a single comparison."""
    found: dict[tuple, ir.Value | int | None] = {}
    for constant, terms, limit in guards:
        other = found.get((constant, terms))
        if isinstance(other, int):
            other = b.const(Int, other)
        if other is not None:
            limit = b.int(SELECT, b.test(ILT, limit, other), limit, other)
        found[constant, terms] = limit
    return [(*form, limit) for form, limit in found.items()]


def in_range(b: Builder, constant, terms, limit, plan):
    """The test 0 <= form < limit (or: form fits in 64 bits) for every iteration that runs."""
    args: list[ir.Value] = []
    shape: list[tuple] = []
    for v, coefficient in terms:
        v, *factor = plan.products.parts.get(v, (v,))
        found = plan.counters.get(v)
        if found is None:
            shape.append(("product" if factor else "value", coefficient))
            args.append(v)
        else:
            counted, step = found
            args += [counted.start[v], counted.start[counted.left]]
            if isinstance(step, ir.Value):
                shape.append(("strided", coefficient))
                args.append(step)
            else:
                shape.append(("scaled" if factor else "counter", coefficient, step))
        args += factor
    if limit is not None:
        args.append(b.const(Int, limit) if isinstance(limit, int) else limit)
    return b.test(AFFINE_IN_RANGE, *args, constant=constant, terms=tuple(shape), limited=limit is not None)
