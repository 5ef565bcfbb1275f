"""Functions of float32 computed in float32, twice as many at once as in double: those that arrays are full of.

The algorithms are those of vector_exp, vector_log and vector_power; errors reach two units in the last place.
"""
from __future__ import annotations

import numpy as np

from ...ops.arith import BAND, BNOT, BOR, FEQ, FGE, FGT, FLT, FNE, IADD, IAND, ILT, ISHL, ISHR, ISUB
from ...ops.math import BITS_SINGLE, COPYSIGN, FABS, FROM_BITS_SINGLE, POLYNOMIAL, POW, RINT
from ...ops.structure import SELECT
from .vector import add, div, fma, mul, neg, sub

__all__ = ["exp", "exp2", "log", "tanh", "power"]

f32, i32 = np.float32, np.int32
ZERO, ONE, TWO, TWENTY = map(f32, (0.0, 1.0, 2.0, 20.0))
INF, MINUS_INF, NAN = map(f32, (np.inf, -np.inf, np.nan))
MAGIC, MAGIC_BITS = f32(1.5 * 2.0**23), i32(0x4B400000)
BIAS, FRACTION_BITS, NO, UNIT = map(i32, (127, 23, 0, 1))
LOG2E, LN2 = f32(1.4426950408889634), f32(0.6931471805599453)
LN2_HIGH, LN2_LOW = f32(0.693359375), f32(-2.12194440e-4)  # the first has 9 bits: its products are exact
MINUS_LN2_HIGH = -LN2_HIGH
MOST, LEAST, MOST_2, LEAST_2 = map(f32, (89.0, -104.0, 128.5, -150.5))

TAIL = (0.5, 0.16666576986698775, 0.041666554617204574, 0.008363179052722578, 0.0013926183587713494)
LOG = (-0.49999997120062994, 0.3333367128198419, -0.250011513077699, 0.19972012308746692, -0.16588335501840304, 0.14835124946650224,
       -0.141612040352545, 0.08788247451573125)
# (atanh(s) / s - 1) / z * 2 / ln(2), z = s**2
LOG2_TAIL = (0.9617967009544373, 0.5770731568336487, 0.4146918058395386)
HALF, MINUS_ONE, STEEP, LN2_REST = map(f32, (0.5, -1.0, 200.0, -1.904654299957768e-09))  # the last: ln(2) - LN2
TWO_LOG2E, TWO_LOG2E_LOW = map(f32, (2.885390043258667, 3.851926067000022e-08))
# 1 + f is multiplied by 3/4 or 5/4 where that brings it nearer to 1: from where on, and what log2 of it lacks then
UPPER, LOWER, LESS, MORE = map(f32, (1.1547, 0.866, 0.75, 1.25))
LESS_HIGH, LESS_LOW, MORE_HIGH, MORE_LOW = map(f32, (0.4150390625, -1.5632211561814537e-06, -0.3218994140625, -2.868082486234787e-05))
NORMAL, FINITE, LARGE = map(f32, (1.2e-38, 3.4e38, 2.0**100))
ROOT_HALF_BITS, ONE_LESS_ROOT_HALF = i32(0x3F3504F3), i32(0x3F800000 - 0x3F3504F3)
FRACTION, SMALLEST, MANY, MANY_BITS = i32(0x007FFFFF), f32(2.0**-126), f32(2.0**25), i32(25)


def power_of_two(k):
    return FROM_BITS_SINGLE(ISHL(IADD(k, BIAS), FRACTION_BITS))


def integer(shifted):
    return ISUB(BITS_SINGLE(shifted), MAGIC_BITS)


def scaled(p, k):
    half = ISHR(k, UNIT)
    return mul(mul(p, power_of_two(half)), power_of_two(ISUB(k, half)))


def exp(x):
    y = SELECT(FGT(x, MOST), MOST, x)
    y = SELECT(FLT(y, LEAST), LEAST, y)
    shifted = fma(y, LOG2E, MAGIC)
    n = sub(shifted, MAGIC)
    r = sub(fma(n, MINUS_LN2_HIGH, y), mul(n, LN2_LOW))
    return scaled(add(ONE, fma(mul(r, r), POLYNOMIAL(r, coefficients=TAIL), r)), integer(shifted))


def exp2(x):
    y = SELECT(FGT(x, MOST_2), MOST_2, x)
    y = SELECT(FLT(y, LEAST_2), LEAST_2, y)
    shifted = add(y, MAGIC)
    r = mul(sub(y, sub(shifted, MAGIC)), LN2)
    return scaled(add(ONE, fma(mul(r, r), POLYNOMIAL(r, coefficients=TAIL), r)), integer(shifted))


def tanh(x):
    """e / (e + 2), e = exp(2 * |x|) - 1"""
    a = FABS(x)
    y = add(a, a)
    y = SELECT(FGT(y, TWENTY), TWENTY, y)
    shifted = fma(y, LOG2E, MAGIC)
    n = sub(shifted, MAGIC)
    s = power_of_two(integer(shifted))
    r = sub(fma(n, MINUS_LN2_HIGH, y), mul(n, LN2_LOW))
    p = fma(mul(r, r), POLYNOMIAL(r, coefficients=TAIL), r)
    e = fma(s, p, sub(s, ONE))
    return COPYSIGN(div(e, add(e, TWO)), x)


def log(x):
    small = FLT(x, SMALLEST)
    u = IADD(BITS_SINGLE(SELECT(small, mul(x, MANY), x)), ONE_LESS_ROOT_HALF)
    k = ISUB(ISUB(ISHR(u, FRACTION_BITS), BIAS), SELECT(small, MANY_BITS, NO))
    n = sub(FROM_BITS_SINGLE(IADD(k, MAGIC_BITS)), MAGIC)
    f = sub(FROM_BITS_SINGLE(IADD(IAND(u, FRACTION), ROOT_HALF_BITS)), ONE)
    found = fma(n, LN2_HIGH, fma(mul(f, f), POLYNOMIAL(f, coefficients=LOG), fma(n, LN2_LOW, f)))
    found = SELECT(FLT(x, INF), found, x)
    found = SELECT(FEQ(x, ZERO), MINUS_INF, found)
    return SELECT(FLT(x, ZERO), NAN, found)


def power(x, y):
    """As in vector_power, with the logarithm and the product in twice the precision of float32. What is very large or small gives
    inf or 0 here; numbers that are not finite, or subnormal, and negative ones to fractional powers are the C library's."""
    a = FABS(x)
    u = IADD(BITS_SINGLE(a), ONE_LESS_ROOT_HALF)
    n = sub(FROM_BITS_SINGLE(IADD(ISUB(ISHR(u, FRACTION_BITS), BIAS), MAGIC_BITS)), MAGIC)
    m = FROM_BITS_SINGLE(IADD(IAND(u, FRACTION), ROOT_HALF_BITS))
    upper, lower = FGT(m, UPPER), FLT(m, LOWER)
    n = add(n, SELECT(upper, LESS_HIGH, SELECT(lower, MORE_HIGH, ZERO)))  # exact, as f is
    f = fma(m, SELECT(upper, LESS, SELECT(lower, MORE, ONE)), MINUS_ONE)
    d = add(TWO, f)
    lost = sub(f, sub(d, TWO))
    inverse = div(ONE, d)
    s = mul(f, inverse)
    s2 = mul(sub(fma(s, neg(d), f), mul(s, lost)), inverse)  # s + s2 = f / (2 + f)
    z = mul(s, s)
    c = mul(s, TWO_LOG2E)
    c2 = add(fma(s, TWO_LOG2E_LOW, fma(s, TWO_LOG2E, neg(c))), SELECT(upper, LESS_LOW, SELECT(lower, MORE_LOW, ZERO)))
    tail = fma(mul(s, z), POLYNOMIAL(z, coefficients=LOG2_TAIL), fma(s2, TWO_LOG2E, c2))
    whole = add(n, c)
    rest = add(add(sub(n, whole), c), tail)
    high = add(whole, rest)  # high + low = log2(a)
    low = add(sub(whole, high), rest)
    p = mul(high, y)
    rest = fma(low, y, fma(high, y, neg(p)))
    steep = FGT(FABS(p), STEEP)
    p, rest = SELECT(steep, COPYSIGN(STEEP, p), p), SELECT(steep, ZERO, rest)
    shifted = add(p, MAGIC)
    part = sub(p, sub(shifted, MAGIC))
    r = add(part, rest)
    t = mul(r, LN2)
    t2 = fma(add(sub(part, r), rest), LN2, fma(r, LN2_REST, fma(r, LN2, neg(t))))
    high = add(ONE, t)
    low = add(sub(t, sub(high, ONE)), fma(mul(t, t), POLYNOMIAL(t, coefficients=TAIL), fma(t, t2, t2)))
    found = scaled(add(high, low), integer(shifted))
    half = mul(HALF, y)
    found = SELECT(FEQ(x, ZERO), SELECT(FLT(y, ZERO), INF, ZERO), found)
    even = FEQ(RINT(half), half)
    natural = FEQ(RINT(y), y)
    found = SELECT(BAND(BAND(natural, BNOT(even)), ILT(BITS_SINGLE(x), NO)), neg(found), found)
    usual = BOR(BAND(FGT(a, NORMAL), FLT(a, FINITE)), BAND(FEQ(x, ZERO), FNE(y, ZERO)))
    if BNOT(BAND(BAND(usual, FLT(FABS(y), LARGE)), BOR(FGE(x, ZERO), natural))):
        found = POW(x, y, rare=True)
    return found
