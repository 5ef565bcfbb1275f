"""Powers and roots, see blocks.py."""
from __future__ import annotations

from ...ops.arith import BAND, BNOT, BOR, FEQ, FGE, FGT, FLT, IADD, IAND, ISHL, ISHR, ISUB
from ...ops.math import BITS, COPYSIGN, FABS, FROM_BITS, LOOKUP, POLYNOMIAL, POW_REST
from ...ops.structure import SELECT
from .blocks import LN2, MAGIC, add, fma, integer, mul, neg, power_of_two, sqrt, sub
from .exponential import EXP_SINGLE
from .logarithm import INV_LN2, series_single, split, split_any, to_float

__all__ = ["pow", "pow_single", "cbrt", "cbrt_single", "hypot", "hypot_single"]

# Tables for log(x) and e**p. With i taken from the leading bits of x, x * INVERSES[i] is 1 + f, where f is small and
# exact, since the inverses have few bits; -log(INVERSES[i]) is LOGS[i] + LOGS_LOW[i], the first a multiple of 2**-42,
# like LN2_TOP. Index i counts steps of 2**49 in the bits of x from LOWEST, so that 1.0 lies inside an interval.
# POWERS[j] * (1 + POWERS_LOW[j]) is 2**(j / 8), with j subtracted from the last bits of the exponent.
LOWEST = 0x3FE6C22222222223
EXPONENT = -(1 << 52)
INVERSES = (1.375, 1.25, 1.125, 1.0625, 1.0, 0.90625, 0.8125, 0.75)
LOGS = (-0.31845373111855224, -0.22314355131425145, -0.11778303565643, -0.06062462181648698, 0.0, 0.09844007281321865,
        0.20763936477828793, 0.28768207245184385)
LOGS_LOW = (1.7625431312172662e-14, 4.169796584527195e-14, 4.654729747598445e-14, 5.213620639136504e-14, 0.0,
            3.3871241029241416e-14, -4.3425422595242564e-14, -6.292357389008195e-14)
POWERS = (1.0, 0.9827538663326288, 0.9696035575013605, 0.9609197773255048, 0.9571067811865476, 0.9586054127039704,
          0.9658964152537145, 0.9795040432046712)
POWERS_LOW = (0.0, -2.7939114859515733e-17, 3.3484623336251524e-17, 1.9572585293112036e-17, -6.835808657661922e-17,
              5.1548301170786783e-17, 4.875160526227062e-17, 1.790126907604513e-17)
THIRD = 0.3333333333333333
LN2_TOP, LN2_REST = 0.6931471805598903, 5.497923018708371e-14
# 8 / ln(2), and -ln(2) / 8 in two parts
EIGHTHS, MINUS_EIGHTH, MINUS_EIGHTH_LOW = 11.541560327111707, -0.08664339756978734, -2.0582436978621353e-13
LOG_REST = (0.3333333333333333, -0.2500000000000014, 0.2000000000000013, -0.16666666666051785, 0.14285714285140344,
            -0.12500000771274686, 0.11111111831028336, -0.09999605325655264, 0.09090540700173871, -0.08421586790405214,
            0.0777468233081675)  # (log(1 + f) - f + f**2 / 2) / f**3, |f| < 0.0669
EXP_REST = (0.5000000000000051, 0.16666666666666724, 0.0416666666173296, 0.008333333327851467, 0.0013889588505409305,
            0.00019842047189636849)  # (e**r - 1 - r) / r**2, |r| <= ln(2) / 16
# m**(-1/3), 1 <= m <= 2
INVERSE_CBRT = (1.53776026627287, -0.8012745696637373, 0.3118472681731596, -0.04863305334283885)
CBRT_2, CBRT_HALF = 1.2599210498948732, 0.7937005259840998
INF = float("inf")


def pow(x, y):
    """exp(y * log(x)), the logarithm and the product in twice the precision, so that exact results are exact, both by
    tables of eight; after glibc's e_pow.c. Very small, very large, non-finite and non-positive arguments are left to
    the caller.
    (The limits are chosen so that LLVM does not turn the tests into a class test of floats, which it cannot
    vectorise.)"""
    a = FABS(x)
    u = ISUB(BITS(a), LOWEST)
    n = to_float(ISHR(u, 52))
    i = ISHR(u, 49)
    f = fma(FROM_BITS(ISUB(BITS(a), IAND(u, EXPONENT))), LOOKUP(i, table=INVERSES), -1.0)
    t = fma(n, LN2_TOP, LOOKUP(i, table=LOGS))
    t2 = add(t, f)
    square = mul(f, f)
    high = fma(square, -0.5, t2)
    low = add(fma(n, LN2_REST, LOOKUP(i, table=LOGS_LOW)), add(sub(t, t2), f))
    low = fma(mul(square, f), POLYNOMIAL(f, coefficients=LOG_REST), fma(fma(f, f, neg(square)), -0.5, low))
    low = add(low, fma(square, -0.5, sub(t2, high)))  # high + low = log(a)
    p = mul(high, y)
    rest = fma(low, y, fma(high, y, neg(p)))
    whole = add(p, rest)
    shifted = fma(whole, EIGHTHS, MAGIC)
    k = sub(shifted, MAGIC)
    r = add(fma(k, MINUS_EIGHTH, p), fma(k, MINUS_EIGHTH_LOW, rest))
    j = BITS(shifted)
    s = FROM_BITS(IADD(BITS(LOOKUP(j, table=POWERS)), ISHL(j, 49)))
    tail = fma(mul(r, r), POLYNOMIAL(r, coefficients=EXP_REST), add(r, LOOKUP(j, table=POWERS_LOW)))
    found = fma(s, tail, s)
    if BNOT(BAND(BAND(FGE(x, 2.0**-1021), FLT(x, 2.0**1023)), FLT(FABS(whole), 708.3))):
        found = POW_REST(x, y, whole, found)
    return found


def pow_single(x, y):
    f, k = split(FABS(x))
    p = mul(fma(series_single(f), INV_LN2, to_float(k)), y)
    shifted = add(p, MAGIC)
    r = mul(sub(p, sub(shifted, MAGIC)), LN2)
    found = mul(POLYNOMIAL(r, coefficients=EXP_SINGLE), power_of_two(integer(shifted)))
    if BNOT(BAND(BAND(FGE(x, 2.0**-150), FLT(x, 2.0**129)), FLT(FABS(p), 1021.0))):
        found = POW_REST(x, y, mul(p, LN2), found)
    return found


def inverse_cbrt(f, n):
    """(d, x, k): 2**n * (1 + f) = d * 8**k, x is d ** (-1/3) to about 33 bits."""
    shifted = fma(n, THIRD, MAGIC)
    whole = sub(shifted, MAGIC)
    odd = sub(n, mul(3.0, whole))  # -1, 0 or 1
    m = add(1.0, f)
    low = FLT(m, 1.0)  # 1 + f is between sqrt(1/2) and sqrt(2)
    near = POLYNOMIAL(SELECT(low, add(m, m), m), coefficients=INVERSE_CBRT)
    x = mul(SELECT(low, mul(near, CBRT_2), near), SELECT(FGT(odd, 0.0), CBRT_HALF, SELECT(FLT(odd, 0.0), CBRT_2, 1.0)))
    d = mul(m, SELECT(FGT(odd, 0.0), 2.0, SELECT(FLT(odd, 0.0), 0.5, 1.0)))
    e = sub(1.0, mul(mul(d, x), mul(x, x)))
    return d, fma(mul(x, e), fma(e, 2.0 / 9.0, THIRD), x), integer(shifted)


def cbrt(x):
    """Halley's iteration for the inverse cube root, then a Newton step with the exact remainder."""
    f, n = split_any(FABS(x))
    d, inverse, k = inverse_cbrt(f, n)
    square = mul(inverse, inverse)
    y = mul(d, square)
    h = mul(y, y)
    remainder = sub(fma(neg(h), y, d), mul(fma(y, y, neg(h)), y))
    found = COPYSIGN(mul(fma(remainder, mul(square, THIRD), y), power_of_two(k)), x)
    return SELECT(FEQ(x, 0.0), x, SELECT(FLT(FABS(x), INF), found, x))


def cbrt_single(x):
    f, k = split(FABS(x))
    d, inverse, k = inverse_cbrt(f, to_float(k))
    found = COPYSIGN(mul(mul(d, mul(inverse, inverse)), power_of_two(k)), x)
    return SELECT(FEQ(x, 0.0), x, SELECT(FLT(FABS(x), INF), found, x))


def hypot(x, y):
    """The root of the sum of squares; numbers whose squares are too large or too small are scaled."""
    a, b = FABS(x), FABS(y)
    greater = SELECT(FGT(a, b), a, b)
    large, small = FGT(greater, 2.0**500), FLT(greater, 2.0**-450)
    scale = SELECT(large, 2.0**-600, SELECT(small, 2.0**600, 1.0))
    back = SELECT(large, 2.0**600, SELECT(small, 2.0**-600, 1.0))
    a, b = mul(a, scale), mul(b, scale)
    found = mul(sqrt(fma(a, a, mul(b, b))), back)
    return SELECT(BOR(FEQ(FABS(x), INF), FEQ(FABS(y), INF)), INF, found)


def hypot_single(x, y):
    return SELECT(BOR(FEQ(FABS(x), INF), FEQ(FABS(y), INF)), INF, sqrt(fma(x, x, mul(y, y))))
