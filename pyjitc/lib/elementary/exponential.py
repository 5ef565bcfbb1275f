"""Exponentials and hyperbolic functions, see blocks.py."""
from __future__ import annotations

from ...ops.arith import FGT, FLT, IGT, ISHR, ISUB
from ...ops.math import COPYSIGN, FABS, POLYNOMIAL
from ...ops.structure import SELECT
from .blocks import LN2, LN2_HIGH, LN2_LOW, MAGIC, add, fma, integer, mul, power_of_two, quotient, sub

__all__ = ["exp", "exp_single", "exp2", "exp2_single", "expm1", "expm1_single", "sinh", "sinh_single", "cosh",
           "cosh_single", "tanh", "tanh_single"]

LOG2E, INF = 1.4426950408889634, float("inf")

# (e**r - 1 - r) / r**2; sinh(r) / r - 1 and cosh(r) - 1 over r**2, in r**2; |r| <= ln(2) / 2
TAIL = (0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717,
        0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06, 2.7620088445409746e-07,
        2.510038549551032e-08)
LONG_TAIL = (0.5, 0.16666666666666605, 0.041666666666702684, 0.008333333332524348, 0.0013888888981973058,
             0.0001984126360203977, 2.4801847493537505e-05, 2.7550372053187136e-06, 2.767586079542944e-07,
             2.3808870715059308e-08, 2.805876036644438e-09)  # the first of these for 0 <= r <= ln(2)
ODD = (0.16666666666666669, 0.008333333333330062, 0.00019841269863053618, 2.7557268459997064e-06, 2.510038549551032e-08)
EVEN = (0.5, 0.04166666666666668, 0.0013888888888879073, 2.4801587336442236e-05, 2.75572632790885e-07,
        2.0918137737642736e-09)
# e**r, (e**r - 1) / r, sinh(r) / r, cosh(r), to float32's accuracy
EXP_SINGLE = (1.0, 1.0, 0.500000001346581, 0.16666666681623232, 0.041666464925285904, 0.0083333109254809,
              0.0013933649996309251, 0.00019890990824673654)
EXPM1_SINGLE = EXP_SINGLE[1:]
SINH_SINGLE = (1.0, 0.16666666681623232, 0.0083333109254809, 0.00019890990824673654)
COSH_SINGLE = (1.0, 0.4999999999995507, 0.041666666786337556, 0.001388883909064138, 2.4867883453521802e-05)


def clipped(x, limit):
    """x clamped to -limit and limit; nan is unchanged."""
    y = SELECT(FGT(x, limit), limit, x)
    return SELECT(FLT(y, -limit), -limit, y)


def one_more_scaled(t, k, x, least, limit):
    """(1 + t) * 2**k, for |t| < 1/2; 0 where x is less than `least`, and inf where it is greater than `limit`, whatever
    t and k are there. The comparisons are made beside the polynomial, not before it: a single exponential is often
    waited for. The sum is computed with the first of two factors, since 2**k or the result may exceed the range of
    exponents. A product that underflows would be 0, too, but takes ten times as long: the second factor is 0 there."""
    small = FLT(x, least)
    half = ISHR(k, 1)
    s = power_of_two(half)
    found = mul(fma(t, s, s), SELECT(small, 0.0, power_of_two(ISUB(k, half))))
    return SELECT(small, 0.0, SELECT(FGT(x, limit), INF, found))


def reduced(y):
    """(r, low, k): y = r + low + k * ln(2), |r| <= ln(2) / 2, k an int."""
    shifted = fma(y, LOG2E, MAGIC)
    n = sub(shifted, MAGIC)
    high, rest = fma(n, -LN2_HIGH, y), mul(n, LN2_LOW)
    r = sub(high, rest)
    return r, sub(sub(high, r), rest), integer(shifted)


def reduced_single(y):
    shifted = fma(y, LOG2E, MAGIC)
    return fma(sub(shifted, MAGIC), -LN2, y), integer(shifted)


def small_rise(r):
    """e**r - 1, |r| <= ln(2) / 2, to add to 1"""
    return fma(mul(r, r), POLYNOMIAL(r, coefficients=TAIL), r)


def small_exp(r):
    """e**r, |r| <= ln(2) / 2"""
    return add(1.0, small_rise(r))


def rise_parts(y):
    """(t, k): e**y = (1 + t) * 2**k, -2046 * ln(2) <= y <= 800."""
    shifted = fma(y, LOG2E, MAGIC)
    n = sub(shifted, MAGIC)
    return small_rise(fma(n, -LN2_LOW, fma(n, -LN2_HIGH, y))), integer(shifted)


def exp_parts(y):
    """(p, k): e**y = p * 2**k, -2046 * ln(2) <= y <= 800."""
    t, k = rise_parts(y)
    return add(1.0, t), k


def exp(x):
    t, k = rise_parts(x)
    return one_more_scaled(t, k, x, -746.0, 800.0)


def exp_single(x):
    r, k = reduced_single(clipped(x, 200.0))
    return mul(POLYNOMIAL(r, coefficients=EXP_SINGLE), power_of_two(k))


def exp2(x):
    shifted = add(x, MAGIC)
    r = mul(sub(x, sub(shifted, MAGIC)), LN2)
    return one_more_scaled(small_rise(r), integer(shifted), x, -1076.0, 1200.0)


def exp2_single(x):
    y = clipped(x, 300.0)
    shifted = add(y, MAGIC)
    r = mul(sub(y, sub(shifted, MAGIC)), LN2)
    return mul(POLYNOMIAL(r, coefficients=EXP_SINGLE), power_of_two(integer(shifted)))


def minus_one(r, low, s):
    """s * e**(r + low) - 1, s a power of two."""
    rest = fma(mul(r, r), POLYNOMIAL(r, coefficients=TAIL), low)
    p = add(r, rest)
    return fma(s, add(sub(r, p), rest), fma(s, p, sub(s, 1.0)))


def expm1(x):
    y = SELECT(FGT(x, 710.0), 710.0, x)
    y = SELECT(FLT(y, -60.0), -60.0, y)
    r, low, k = reduced(y)
    large = FGT(y, 709.0)  # for larger y, 2**k may overflow
    found = mul(minus_one(r, low, power_of_two(ISUB(k, SELECT(large, 1, 0)))), SELECT(large, 2.0, 1.0))
    return SELECT(FLT(FABS(x), 2.0**-54), x, found)


def expm1_single(x):
    r, k = reduced_single(clipped(x, 200.0))
    s = power_of_two(k)
    return COPYSIGN(fma(s, mul(r, POLYNOMIAL(r, coefficients=EXPM1_SINGLE)), sub(s, 1.0)), x)


def mixed(p, q, r, low):
    """p * cosh(r + low) + q * sinh(r + low)"""
    z = mul(r, r)
    high = fma(q, r, p)
    rest = fma(p, mul(z, POLYNOMIAL(z, coefficients=EVEN)),
               mul(q, fma(mul(z, r), POLYNOMIAL(z, coefficients=ODD), low)))
    return add(high, add(fma(q, r, sub(p, high)), rest))


def sinh(x):
    y = FABS(x)
    r, low, k = reduced(SELECT(FGT(y, 710.6), 710.6, y))
    up, down = power_of_two(ISUB(k, 2)), power_of_two(ISUB(-2, SELECT(IGT(k, 64), 64, k)))
    found = mixed(sub(up, down), add(up, down), r, low)
    return SELECT(FLT(y, 2.0**-28), x, COPYSIGN(add(found, found), x))


def cosh(x):
    y = FABS(x)
    r, low, k = reduced(SELECT(FGT(y, 710.6), 710.6, y))
    up, down = power_of_two(ISUB(k, 2)), power_of_two(ISUB(-2, SELECT(IGT(k, 64), 64, k)))
    found = mixed(add(up, down), sub(up, down), r, low)
    return add(found, found)


def sinh_single(x):
    y = FABS(x)
    r, k = reduced_single(SELECT(FGT(y, 100.0), 100.0, y))
    up, down = power_of_two(ISUB(k, 1)), power_of_two(ISUB(-1, k))
    z = mul(r, r)
    found = fma(sub(up, down), POLYNOMIAL(z, coefficients=COSH_SINGLE),
                mul(mul(add(up, down), r), POLYNOMIAL(z, coefficients=SINH_SINGLE)))
    return COPYSIGN(found, x)


def cosh_single(x):
    y = FABS(x)
    r, k = reduced_single(SELECT(FGT(y, 100.0), 100.0, y))
    up, down = power_of_two(ISUB(k, 1)), power_of_two(ISUB(-1, k))
    z = mul(r, r)
    return fma(add(up, down), POLYNOMIAL(z, coefficients=COSH_SINGLE),
               mul(mul(sub(up, down), r), POLYNOMIAL(z, coefficients=SINH_SINGLE)))


def tanh(x):
    """e / (e + 2), e = exp(2 * |x|) - 1"""
    a = FABS(x)
    y = add(a, a)
    y = SELECT(FGT(y, 44.0), 44.0, y)
    shifted = add(fma(y, LOG2E, -0.5), MAGIC)
    n = sub(shifted, MAGIC)
    s = power_of_two(integer(shifted))
    r = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, y))
    e = fma(s, fma(mul(r, r), POLYNOMIAL(r, coefficients=LONG_TAIL), r), sub(s, 1.0))
    return COPYSIGN(quotient(e, add(e, 2.0)), x)


def tanh_single(x):
    y = FABS(x)
    r, k = reduced_single(SELECT(FGT(y, 10.0), 20.0, add(y, y)))
    s = power_of_two(k)
    e = fma(s, mul(r, POLYNOMIAL(r, coefficients=EXPM1_SINGLE)), sub(s, 1.0))
    return COPYSIGN(quotient(e, add(e, 2.0)), x)
