"""Circular functions and their inverses, see vector.py."""
from __future__ import annotations

from ...ops.arith import FEQ, FGT, IADD, IAND, ISHL, IXOR
from ...ops.math import BITS, COS, FABS, FROM_BITS, POLYNOMIAL, SIN, TAN
from ...ops.structure import SELECT
from .vector import MAGIC, add, div, fma, is_odd, mul, sub

__all__ = ["sin", "sin_single", "cos", "cos_single", "tan", "tan_single"]

TWO_OVER_PI, ONE_OVER_PI = 0.6366197723675814, 0.3183098861837907
HALF_PI = 1.5707963267948966  # pi / 2 in three parts
HALF_PI_2 = 6.123233995736766e-17
HALF_PI_3 = -1.4973849048591698e-33
LIMIT = 2.0**43  # above, the reduction by three parts is not enough

# (sin(r) / r - 1) / r**2 and (cos(r) - 1) / r**2 in r**2, |r| <= pi / 4
SINE = (-0.16666666666666666, 0.008333333333330925, -0.00019841269836722437, 2.755731608382574e-06, -2.505112794596564e-08,
        1.591784866512194e-10)
COSINE = (-0.5, 0.041666666666666664, -0.0013888888888887382, 2.480158729874308e-05, -2.755731726001471e-07,
          2.0876143829213935e-09, -1.1382456865840483e-11)
SINE_TAN = (1.0, -0.16666666663832777, 0.008333331865963797, -0.00019840082015127998, 2.72493143604168e-06)  # to float32's accuracy
COSINE_TAN = (1.0, -0.5, 0.04166666666430242, -0.0013888887664717277, 2.4800596437593728e-05, -2.73004488746506e-07)
SINE_SINGLE = (0.999999999982817, -0.16666666616567571, 0.008333330964838084, -0.0001984085996542722, 2.752520661631257e-06,
               -2.3888080388298648e-08)  # sin(r) / r, |r| <= pi / 2


def quarter(x):
    """(r, k): x = r + k * pi / 2, |r| <= pi / 4, k in the low bits. The first product and its difference are exact (Cody and
    Waite's reduction, which the fma makes good for |x| up to LIMIT)."""
    shifted = fma(x, TWO_OVER_PI, MAGIC)
    n = sub(shifted, MAGIC)
    return fma(n, -HALF_PI_3, fma(n, -HALF_PI_2, fma(n, -HALF_PI, x))), BITS(shifted)


def half_single(x, n):
    """sin(x - n * pi / 2), |x - n * pi / 2| <= pi / 2"""
    r = fma(n, -HALF_PI_2, fma(n, -HALF_PI, x))
    return mul(r, POLYNOMIAL(mul(r, r), coefficients=SINE_SINGLE))


def sine(r):
    z = mul(r, r)
    return fma(mul(z, POLYNOMIAL(z, coefficients=SINE)), r, r)


def cosine(r):
    z = mul(r, r)
    return fma(z, POLYNOMIAL(z, coefficients=COSINE), 1.0)


def turned(k, even, odd):
    """The value in quarter k: every second is the other function, every second pair is negative."""
    return FROM_BITS(IXOR(BITS(SELECT(is_odd(k), odd, even)), ISHL(IAND(k, 2), 62)))


def sin(x):
    r, k = quarter(x)
    y = SELECT(FEQ(x, 0.0), x, turned(k, sine(r), cosine(r)))
    if FGT(FABS(x), LIMIT):
        y = SIN(x, rare=True)
    return y


def sin_single(x):
    shifted = fma(x, ONE_OVER_PI, MAGIC)
    y = half_single(x, mul(2.0, sub(shifted, MAGIC)))
    y = FROM_BITS(IXOR(BITS(y), ISHL(BITS(shifted), 63)))
    if FGT(FABS(x), LIMIT):
        y = SIN(x, rare=True)
    return y


def cos(x):
    r, k = quarter(x)
    y = turned(IADD(k, 1), sine(r), cosine(r))
    if FGT(FABS(x), LIMIT):
        y = COS(x, rare=True)
    return y


def cos_single(x):
    shifted = add(fma(x, ONE_OVER_PI, -0.5), MAGIC)
    y = half_single(x, fma(2.0, sub(shifted, MAGIC), 1.0))
    y = FROM_BITS(IXOR(BITS(y), ISHL(IADD(BITS(shifted), 1), 63)))
    if FGT(FABS(x), LIMIT):
        y = COS(x, rare=True)
    return y


def tan(x):
    """With what the reduction leaves out: r + low."""
    shifted = fma(x, TWO_OVER_PI, MAGIC)
    n = sub(shifted, MAGIC)
    first, step = fma(n, -HALF_PI, x), mul(n, -HALF_PI_2)
    r = add(first, step)
    low = fma(n, -HALF_PI_3, sub(add(sub(first, r), step), fma(n, HALF_PI_2, step)))
    z = mul(r, r)
    s = add(r, fma(mul(z, POLYNOMIAL(z, coefficients=SINE)), r, fma(low, mul(z, 0.66), low)))  # the effect of low on both
    c = fma(z, POLYNOMIAL(z, coefficients=COSINE), 1.0)
    y = SELECT(FEQ(x, 0.0), x, ratio(BITS(shifted), s, c))
    if FGT(FABS(x), LIMIT):
        y = TAN(x, rare=True)
    return y


def tan_single(x):
    shifted = fma(x, TWO_OVER_PI, MAGIC)
    n = sub(shifted, MAGIC)
    r = fma(n, -HALF_PI_2, fma(n, -HALF_PI, x))
    z = mul(r, r)
    y = ratio(BITS(shifted), mul(r, POLYNOMIAL(z, coefficients=SINE_TAN)), POLYNOMIAL(z, coefficients=COSINE_TAN))
    if FGT(FABS(x), LIMIT):
        y = TAN(x, rare=True)
    return y


def ratio(k, s, c):
    """s / c, or -c / s in every second quarter."""
    odd = is_odd(k)
    return FROM_BITS(IXOR(BITS(div(SELECT(odd, c, s), SELECT(odd, s, c))), ISHL(k, 63)))
