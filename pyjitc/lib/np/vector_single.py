"""Functions of float32 computed in float32, twice as many at once as in double: those that arrays are full of.

The algorithms are those of vector_exp and vector_log; errors reach two units in the last place.
"""
from __future__ import annotations

import numpy as np

from ...ops.arith import FEQ, FGT, FLT, IADD, IAND, ISHL, ISHR, ISUB
from ...ops.math import BITS_SINGLE, COPYSIGN, FABS, FROM_BITS_SINGLE, POLYNOMIAL
from ...ops.structure import SELECT
from .vector import add, div, fma, mul, sub

__all__ = ["exp", "exp2", "log", "tanh"]

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
