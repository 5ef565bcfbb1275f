"""The numbers of NumPy's dates and durations, and their units.

A value is a 64-bit number of units; the least int64 stands for NaT. The cast to an int is free at run time. The result
of an operation is NaT if an operand is NaT. `converted` changes units.
"""
from __future__ import annotations

import functools
import math

import numpy as np

from ....infer.constants import apply
from ....infer.meaning import Const, Expr, Mismatch
from ....ops.arith import (BOR, CAST, IADD, IADD_CK, IEQ, IFLOORDIV, ILT, IMUL, IMUL_CK, ISUB, ISUB_CK, ITRUNCDIV)
from ....ops.structure import SELECT
from ....types import kinds as k
from ....types.kinds import NpTime, int64
from ....types.lattice import dtype_of

__all__ = ["AS_NUMBER", "NAT", "ONE", "ZERO", "any_nat", "computed", "converted", "is_nat", "number_of",
           "overflow_text", "retyped", "sound"]

NAT = Const(int64, np.int64(-(1 << 63)))
ZERO, ONE = Const(int64, np.int64(0)), Const(int64, np.int64(1))
AS_NUMBER = "x.astype(np.int64) is the number of units"


_CHECKED = {IADD: (IADD_CK, np.add, 1), ISUB: (ISUB_CK, np.subtract, -1), IMUL: (IMUL_CK, np.multiply, 2)}


@functools.cache
def overflow_text(op, kinds: str) -> str | None:
    """NumPy's message where the operation overflows 64 bits; None where it wraps, as before NumPy 2.5. kinds: the dtype
    kinds of the operands, "" for a conversion of units."""
    top = np.int64((1 << 63) - 1)
    try:
        if kinds:
            x, y = (n.view(f"{kind}8[s]") if kind in "mM" else n
                    for n, kind in zip((top, np.int64(_CHECKED[op][2])), kinds))
            _CHECKED[op][1](x, y)
        else:
            top.view("m8[D]").astype("m8[s]")
    except OverflowError as error:
        return str(error)
    return None


def computed(op, kinds: str, a: Expr, b: Expr) -> Expr:
    """The operation on numbers that are not NaT, with an overflow check where NumPy has one."""
    text = overflow_text(op, kinds)
    if text is None:
        return apply(op, a, b)
    return retyped(apply(_CHECKED[op][0], retyped(a, k.Int), retyped(b, k.Int), message=text), int64)


def sound(a: Expr, wrong: Expr, checks: str | None) -> Expr:
    """The number `a`; 0 in place of NaT (where `wrong` is true) if the operation is checked."""
    return a if checks is None else apply(SELECT, wrong, ZERO, a)


def retyped(x: Expr, t: k.Type) -> Expr:
    """A number as a date, or a date as a number."""
    return x if x.type is t else apply(CAST, x, type=t)


def number_of(x: Expr) -> Expr:
    return retyped(x, int64)


def is_nat(a: Expr) -> Expr:
    return apply(IEQ, a, NAT)


def any_nat(*numbers: Expr) -> Expr:
    found = is_nat(numbers[0])
    for a in numbers[1:]:
        found = apply(BOR, found, is_nat(a))
    return found


_PER = {"W": 7 * 86400, "D": 86400, "h": 3600, "m": 60, "s": 1}  # seconds in a unit
_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}  # units in a second
_MONTHS = {"Y": 12, "M": 1}
_CYCLE_DAYS, _CYCLE_MONTHS = 146097, 4800  # the calendar repeats after 400 years


def _ratio(s: str, t: str) -> tuple[int, int]:
    """One unit of s in units of t, as a fraction. A month of a duration is the mean month of the calendar."""
    if s in _MONTHS and t in _MONTHS:
        return _MONTHS[s], _MONTHS[t]
    if s in _MONTHS:
        up, down = _ratio("D", t)
        return _MONTHS[s] * _CYCLE_DAYS * up, _CYCLE_MONTHS * down
    if t in _MONTHS:
        return _ratio(t, s)[::-1]
    up, down = _PER.get(s, 1) * _PARTS.get(t, 1), _PER.get(t, 1) * _PARTS.get(s, 1)
    return up // math.gcd(up, down), down // math.gcd(up, down)


def _scaled(a: Expr, up: int, down: int) -> Expr:
    """a * up / down, rounded down, as NumPy's casts compute it: the product may wrap, and the sign of `a` decides how
    the quotient is rounded."""
    negative = apply(ILT, a, ZERO)
    common = math.gcd(up, down)
    if up != common:
        a = computed(IMUL, "", a, _of(up // common))
    if down == common:
        return a
    lower = apply(SELECT, negative, apply(ISUB, a, _of(down // common - 1)), a)
    return apply(ITRUNCDIV, lower, _of(down // common))


def converted(x: Expr, t: NpTime) -> Expr:
    """A date or duration in another unit, as astype converts it: rounding down. Between dates and durations, and from
    or to the generic unit, the number stays."""
    s = x.type
    if (s.unit, s.count) == (t.unit, t.count) or s.kind != t.kind or "generic" in (s.unit, t.unit):
        return retyped(number_of(x), t)
    try:
        np.empty(0, dtype_of(s)).astype(dtype_of(t))
    except OverflowError as error:
        raise Mismatch(str(error), exception=OverflowError) from None
    number = number_of(x)
    a = sound(number, is_nat(number), overflow_text(IMUL, ""))
    if s.kind == "M" and (s.unit in _MONTHS) != (t.unit in _MONTHS):
        if s.unit in _MONTHS:
            days = _days(_by(a, _MONTHS[s.unit] * s.count))
            up, down = _ratio("D", t.unit)
            found = _over(_over(_by(days, up), down), t.count)  # NumPy does not check this product
        else:
            up, down = _ratio(s.unit, "D")
            found = _over(_months(_over(_by(a, up * s.count), down)), _MONTHS[t.unit] * t.count)
    else:
        up, down = _ratio(s.unit, t.unit)
        found = _scaled(a, up * s.count, down * t.count)
    return retyped(apply(SELECT, is_nat(number), NAT, found), t)


# The civil calendar by cycles of 400 years that begin on the first of March (H. Hinnant, chrono-compatible date
# algorithms).
# These functions are expressions, not library functions in the compiled subset: a call of such a function has no type
# before inference has analysed it, and rules need the types of dates.

def _days(months: Expr) -> Expr:
    """The days from 1970-01-01 to the first day of a month, which is given as a number of months since January 1970."""
    m = _plus(months, 23638)  # from March of the year 0
    year = _over(m, 12)
    cycle = _over(year, 400)
    of_cycle = _plus(year, _by(cycle, -400))
    leaps = _plus(_over(of_cycle, 4), _by(_over(of_cycle, 100), -1))
    of_year = _over(_plus(_by(_plus(m, _by(year, -12)), 153), 2), 5)
    return _plus(_plus(_plus(_by(cycle, 146097), _by(of_cycle, 365)), _plus(leaps, of_year)), -719468)


def _months(days: Expr) -> Expr:
    """The months from January 1970 to the month of a day, which is given as a number of days since 1970-01-01."""
    d = _plus(days, 719468)
    cycle = _over(d, 146097)
    day = _plus(d, _by(cycle, -146097))
    leaps = _plus(_plus(_over(day, 36524), _by(_over(day, 1460), -1)), _by(_over(day, 146096), -1))
    year = _over(_plus(day, leaps), 365)
    of_year = _plus(_plus(day, _by(year, -365)), _plus(_over(year, 100), _by(_over(year, 4), -1)))
    month = _over(_plus(_by(of_year, 5), 2), 153)
    return _plus(_plus(_by(cycle, 4800), _by(year, 12)), _plus(month, -23638))


def _of(x) -> Expr:
    return x if isinstance(x, Expr) else Const(int64, np.int64(x))


def _plus(x, y):
    return apply(IADD, x, _of(y))


def _by(x, y):
    return x if y == 1 else apply(IMUL, x, _of(y))


def _over(x, y):
    return x if y == 1 else apply(IFLOORDIV, x, _of(y))
