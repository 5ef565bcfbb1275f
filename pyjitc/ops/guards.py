"""The guard of an index that is a sum of multiples of counters: one test before a loop for all of its trips.

Only programs in which versioning copies a loop load this module.
"""
from __future__ import annotations

from ..ir.core import EXPENSIVE, PURE, Op
from ..types.kinds import Bool
from .effects import NONDIFF

__all__ = ["GUARD_OPS"]

# kind of term of AFFINE_IN_RANGE -> the number of its operands
_OPERANDS = {"value": 1, "counter": 2, "product": 2, "scaled": 3, "strided": 3}
_SMALL = 30  # the bits that each operand may have where values are multiplied, which is enough for most arrays
_ROOMY = 48  # the bits that each operand must have at least where they are only added, which is enough for any array


def _affine_values(args, terms):
    """(lowest, highest, whether some loop makes no trip) of the sum of the terms."""
    low = high = 0
    at = 0
    idle = False
    for kind, coefficient, *step in terms:
        first, *rest = args[at:at + _OPERANDS[kind]]
        at += _OPERANDS[kind]
        last, factor = first, 1
        if kind != "value" and kind != "counter":
            factor = rest.pop()
        if rest:
            trips, = rest
            idle |= trips <= 0
            if not step:
                step, factor = [factor], 1
            last = first + step[0] * (trips - 1)
        ends = coefficient * first * factor, coefficient * last * factor
        low, high = low + min(ends), high + max(ends)
    return low, high, idle


def _affine_in_range(*args, constant, terms, limited):
    low, high, idle = _affine_values(args, terms)
    low, high = low + constant, high + constant
    if idle:
        return True
    if not {kind for kind, *_ in terms} <= {"value", "counter"} and any(
            not -1 << _SMALL <= x < 1 << _SMALL for x in (args[:-1] if limited else args)):
        return False
    return 0 <= low and high < args[-1] if limited else -(1 << 63) <= low and high < 1 << 63


def _unit_lower(e, args, counter, constant, limited):
    """The guard of the most frequent indices, value + constant and counter + constant, in 64 bits: arithmetic on wider
    ints costs LLVM milliseconds. For values beyond 2**61 the guard may be false although the index is in range."""
    if not limited:
        far = 1 << 61
        middle = e.assign(f"add i64 {args[0]}, {far}")
        result = e.assign(f"icmp ult i64 {middle}, {2 * far}")
        if counter:
            few = e.assign(f"icmp slt i64 {args[1]}, {far}")
            result = e.assign(f"and i1 {result}, {few}")
        return result
    above = e.assign(f"icmp sge i64 {args[0]}, {-constant}")
    if not counter:
        top = args[-1] if constant == 0 else e.assign(f"sub i64 {args[-1]}, {constant}")
        return e.assign(f"and i1 {above}, {e.assign(f'icmp slt i64 {args[0]}, {top}')}")
    first = args[0] if constant == 0 else e.assign(f"add i64 {args[0]}, {constant}")
    # Where the first index is not negative, the end is less than 2**64. Guards of one loop share all but the last test.
    end = e.assign(f"add i64 {first}, {args[1]}")
    below = e.assign(f"icmp ule i64 {end}, {args[-1]}")
    usual = e.assign(f"icmp sge i64 {args[-1]}, 0")  # this is always true of a length, but LLVM does not know that
    result = e.assign(f"and i1 {e.assign(f'and i1 {above}, {usual}')}, {below}")
    return e.assign(f"or i1 {result}, {e.assign(f'icmp sle i64 {args[1]}, 0')}")


def _bits_of(terms) -> int:
    """The number of bits, besides the sign bit, that the sum of the terms needs if every operand has `_SMALL` bits."""
    most = 0
    for kind, coefficient, *step in terms:
        ends = abs(coefficient) * (1 + sum(map(abs, step)) if kind in ("counter", "scaled") else 1)
        most += ends << (_SMALL if kind in ("value", "counter") else 2 * _SMALL)
        most += ends << _SMALL  # the start of a counter with any step
    return most.bit_length()


def _room(terms, constant) -> int:
    """The number of bits that the guard allows each operand, so that sums and products do not wrap; 0: any number. The
    sum of values with small coefficients has room for nearly all 64-bit ints, and is computed in 64 bits: arithmetic on
    wider ints takes longer, and the copy of the loop that keeps its checks is there for others."""
    if not {kind for kind, *_ in terms} <= {"value", "counter"}:
        return _SMALL
    ends = 1 + sum(abs(coefficient) * (1 + sum(map(abs, step))) for _, coefficient, *step in terms)
    found = 62 - ends.bit_length()
    return found if terms and found >= _ROOMY and abs(constant) < 1 << 31 else 0


def _affine_lower(e, inst, *operands):
    """The guard, in 64 bits where the sum cannot wrap if all operands are small. Otherwise it is computed in 128 bits:
    four terms of 64-bit values times coefficients below 2**40 cannot wrap."""
    args = [x[0] for x in operands]
    limited = inst.attrs["limited"]
    terms, constant = inst.attrs["terms"], inst.attrs["constant"]
    if len(terms) == 1 and terms[0][1] == 1 and terms[0][0] in ("value", "counter") and terms[0][2:] in ((), (1,)) \
            and abs(constant) < 1 << 31:
        return [_unit_lower(e, args, len(terms[0]) == 3, constant, limited)]
    low = high = str(constant)
    idle = small = None
    at = 0
    room = _room(terms, constant)
    bits = 64 if room and (room > _SMALL or _bits_of(terms) < 63) and abs(constant) < 1 << 31 else 128

    def wide(x):
        return x if bits == 64 else e.assign(f"sext i64 {x} to i128")

    def add(x, y):
        return e.assign(f"add i{bits} {x}, {y}")

    def times(x, y):
        return x if y == 1 else e.assign(f"mul i{bits} {x}, {y}")

    if room:
        joined = None
        for x in dict.fromkeys(args[:-1] if limited else args):
            shifted = e.assign(f"add i64 {x}, {1 << room}")
            joined = shifted if joined is None else e.assign(f"or i64 {joined}, {shifted}")
        small = e.assign(f"icmp ult i64 {joined}, {2 << room}")
    for kind, coefficient, *step in terms:
        first, *rest = args[at:at + _OPERANDS[kind]]
        at += _OPERANDS[kind]
        factor = None if kind in ("value", "counter") else wide(rest.pop())
        start = times(wide(first), coefficient)
        if not rest:
            if factor is not None:
                start = times(start, factor)
            low, high = add(low, start), add(high, start)
            continue
        trips, = rest
        none = e.assign(f"icmp sle i64 {trips}, 0")
        idle = none if idle is None else e.assign(f"or i1 {idle}, {none}")
        span = e.assign(f"sub i{bits} {wide(trips)}, 1")
        if kind == "counter":
            end = add(start, times(span, coefficient * step[0]))
            if coefficient * step[0] < 0:
                start, end = end, start
        else:
            if kind == "strided":
                end = add(start, times(times(span, coefficient), factor))
            else:
                start, end = times(start, factor), times(add(start, times(span, coefficient * step[0])), factor)
            less = e.assign(f"icmp slt i{bits} {start}, {end}")
            start, end = (e.assign(f"select i1 {less}, i{bits} {x}, i{bits} {y}")
                          for x, y in ((start, end), (end, start)))
        low, high = add(low, start), add(high, end)
    inside = None
    if limited:
        above = e.assign(f"icmp sge i{bits} {low}, 0")
        below = e.assign(f"icmp slt i{bits} {high}, {wide(args[-1])}")
        inside = e.assign(f"and i1 {above}, {below}")
    elif bits == 128:
        above = e.assign(f"icmp sge i128 {low}, {-(1 << 63)}")
        below = e.assign(f"icmp slt i128 {high}, {1 << 63}")
        inside = e.assign(f"and i1 {above}, {below}")
    if small is not None:
        inside = small if inside is None else e.assign(f"and i1 {inside}, {small}")
    return [inside if idle is None else e.assign(f"or i1 {inside}, {idle}")]


AFFINE_IN_RANGE = Op("affine_in_range", lambda types, attrs: Bool, PURE, eval=_affine_in_range, eval_attrs=True,
                     lower=_affine_lower, partials=NONDIFF,
                     doc="whether {constant} + {terms} stays in 0..limit-1 ({limited}: limit is the last operand), "
                     "or else in 64 bits, in every iteration: a term is (value, coefficient) or (counter, coefficient, "
                     "step) of (start, trips), or one of these and a factor: (product, coefficient) of (value, "
                     "factor), (scaled, coefficient, step) of (start, trips, factor), or (strided, coefficient) of "
                     "(start, trips, step). With such a term it is false where an operand needs more than 30 bits",
                     cost=EXPENSIVE)

GUARD_OPS = {AFFINE_IN_RANGE.name: AFFINE_IN_RANGE}
