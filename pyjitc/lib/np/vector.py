"""Elementary functions without branches, so that loops over arrays vectorise: exp, exp2, log, tanh of float64 and float32.

Written in the compiled subset on Python floats: the same source serves scalars, arrays and other targets. float32 is
computed in double, so its results are correctly rounded but for rare ties. Errors: docs/vector_math.md.
"""
from __future__ import annotations

import math

from ...ops.arith import FEQ, FGT, FLT, IADD, IAND, ISHL, ISHR, ISUB
from ...ops.math import BITS, COPYSIGN, FABS, FROM_BITS
from ...ops.structure import SELECT
from .vector_parts import add as FADD, div as FDIV, fma as FMA, mul as FMUL, sub as FSUB

__all__ = ["exp", "exp_single", "exp2", "exp2_single", "log", "log_single", "tanh", "tanh_single"]

MAGIC = 1.5 * 2.0**52  # added to a small number, leaves it rounded to an integer in the low bits
MAGIC_BITS = 0x4338000000000000
LOG2E, LN2 = 1.4426950408889634, 0.6931471805599453
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45")  # ln 2; the first ends in zeros
F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13 = (1.0 / math.factorial(n) for n in range(2, 14))
# log(1+f): coefficients of FreeBSD's e_log.c
L1, L2, L3, L4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
L5, L6, L7 = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
ONE_BITS = 0x3FF0000000000000
INF, NAN = math.inf, math.nan


def power_of_two(k):
    """2.0 ** k for -1022 <= k <= 1023."""
    return FROM_BITS(ISHL(IADD(k, 1023), 52))


def tail(r):
    """(e**r - 1 - r) / r**2 for |r| <= ln(2) / 2, by Taylor's series."""
    p = FMA(F13, r, F12)
    p = FMA(p, r, F11)
    p = FMA(p, r, F10)
    p = FMA(p, r, F9)
    p = FMA(p, r, F8)
    p = FMA(p, r, F7)
    p = FMA(p, r, F6)
    p = FMA(p, r, F5)
    p = FMA(p, r, F4)
    p = FMA(p, r, F3)
    return FMA(p, r, F2)


def short_tail(r):
    """The same to float32's accuracy."""
    p = FMA(F8, r, F7)
    p = FMA(p, r, F6)
    p = FMA(p, r, F5)
    p = FMA(p, r, F4)
    p = FMA(p, r, F3)
    return FMA(p, r, F2)


def clipped(x, limit):
    """x between -limit and limit; nan stays."""
    y = SELECT(FGT(x, limit), limit, x)
    return SELECT(FLT(y, -limit), -limit, y)


def scaled(p, shifted):
    """p times 2 to the integer in the low bits of `shifted`, in two steps: it may leave the range of exponents."""
    k = ISUB(BITS(shifted), MAGIC_BITS)
    half = ISHR(k, 1)
    return FMUL(FMUL(p, power_of_two(half)), power_of_two(ISUB(k, half)))


def exp(x):
    y = clipped(x, 800.0)
    shifted = FMA(y, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, -LN2_LOW, FMA(n, -LN2_HIGH, y))
    return scaled(FADD(1.0, FMA(FMUL(r, r), tail(r), r)), shifted)


def exp_single(x):
    y = clipped(x, 200.0)
    shifted = FMA(y, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, -LN2, y)
    p = FADD(1.0, FMA(FMUL(r, r), short_tail(r), r))
    return FMUL(p, power_of_two(ISUB(BITS(shifted), MAGIC_BITS)))


def exp2(x):
    y = clipped(x, 1200.0)
    shifted = FADD(y, MAGIC)
    r = FMUL(FSUB(y, FSUB(shifted, MAGIC)), LN2)
    return scaled(FADD(1.0, FMA(FMUL(r, r), tail(r), r)), shifted)


def exp2_single(x):
    y = clipped(x, 300.0)
    shifted = FADD(y, MAGIC)
    r = FMUL(FSUB(y, FSUB(shifted, MAGIC)), LN2)
    p = FADD(1.0, FMA(FMUL(r, r), short_tail(r), r))
    return FMUL(p, power_of_two(ISUB(BITS(shifted), MAGIC_BITS)))


def log(x):
    """Source: FreeBSD e_log.c, the argument reduced to sqrt(1/2) .. sqrt(2)."""
    small = FLT(x, 2.2250738585072014e-308)
    y = SELECT(small, FMUL(x, 18014398509481984.0), x)
    u = IADD(BITS(y), ONE_BITS - ROOT_HALF_BITS)
    k = ISUB(ISUB(ISHR(u, 52), 1023), SELECT(small, 54, 0))
    f = FSUB(FROM_BITS(IADD(IAND(u, 0x000FFFFFFFFFFFFF), ROOT_HALF_BITS)), 1.0)
    s = FDIV(f, FADD(2.0, f))
    z = FMUL(s, s)
    w = FMUL(z, z)
    odd = FMUL(z, FMA(w, FMA(w, FMA(w, L7, L5), L3), L1))
    even = FMUL(w, FMA(w, FMA(w, L6, L4), L2))
    half = FMUL(FMUL(0.5, f), f)
    n = FSUB(FROM_BITS(IADD(k, MAGIC_BITS)), MAGIC)
    low = FMA(n, LN2_LOW, FMUL(s, FADD(half, FADD(odd, even))))
    found = FMA(n, LN2_HIGH, FSUB(f, FSUB(half, low)))
    found = SELECT(FLT(x, INF), found, x)  # inf and nan
    found = SELECT(FEQ(x, 0.0), -INF, found)
    return SELECT(FLT(x, 0.0), NAN, found)


def log_single(x):
    """A float32 is no subnormal double, and needs fewer terms."""
    u = IADD(BITS(x), ONE_BITS - ROOT_HALF_BITS)
    k = ISUB(ISHR(u, 52), 1023)
    f = FSUB(FROM_BITS(IADD(IAND(u, 0x000FFFFFFFFFFFFF), ROOT_HALF_BITS)), 1.0)
    s = FDIV(f, FADD(2.0, f))
    z = FMUL(s, s)
    terms = FMUL(z, FMA(z, FMA(z, FMA(z, L4, L3), L2), L1))
    half = FMUL(FMUL(0.5, f), f)
    n = FSUB(FROM_BITS(IADD(k, MAGIC_BITS)), MAGIC)
    found = FMA(n, LN2, FSUB(f, FSUB(half, FMUL(s, FADD(half, terms)))))
    found = SELECT(FLT(x, INF), found, x)
    found = SELECT(FEQ(x, 0.0), -INF, found)
    return SELECT(FLT(x, 0.0), NAN, found)


def tanh(x):
    y = FABS(x)
    y = SELECT(FGT(y, 22.0), 44.0, FADD(y, y))
    shifted = FMA(y, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, -LN2_LOW, FMA(n, -LN2_HIGH, y))
    s = power_of_two(ISUB(BITS(shifted), MAGIC_BITS))
    e = FMA(s, FMA(FMUL(r, r), tail(r), r), FSUB(s, 1.0))  # e**y - 1
    return COPYSIGN(FDIV(e, FADD(e, 2.0)), x)


def tanh_single(x):
    y = FABS(x)
    y = SELECT(FGT(y, 10.0), 20.0, FADD(y, y))
    shifted = FMA(y, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, -LN2, y)
    s = power_of_two(ISUB(BITS(shifted), MAGIC_BITS))
    e = FMA(s, FMA(FMUL(r, r), short_tail(r), r), FSUB(s, 1.0))
    return COPYSIGN(FDIV(e, FADD(e, 2.0)), x)
