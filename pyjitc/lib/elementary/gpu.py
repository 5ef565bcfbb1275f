"""Elementary functions of GPUs in double precision, where a CPU calls the C library or has a function with tables.

The functions use arithmetic without tables, and branches only for rare arguments, so that threads do not diverge.
tests/cuda/test_elementary.py measures their errors.
"""
from __future__ import annotations

import math

import numpy as np

from ...ops import gpu
from ...ops.arith import (BAND, BNOT, BOR, BXOR, COMPLEX_MAKE, FEQ, FGE, FGT, FLT, FNE, IADD, IAND, IGT, ILT, IMAG,
                          ISHL, ISHR, ISUB, REAL)
from ...ops.gpu import RECIPROCAL
from ...ops.math import BITS, COPYSIGN, FABS, FROM_BITS, POLYNOMIAL, SIGNBIT, TRUNC
from ...ops.structure import SELECT
from ...types.kinds import Array, int32
from ..build import outlined
from .blocks import (LN2, LN2_HIGH, LN2_LOW, MAGIC, add, div, fma, integer, mul, neg, power_of_two, quotient, scaled,
                     sqrt, sub)
from .circular import HALF_PI, HALF_PI_2, LIMIT, atan2, cosine, ratio, sine, turned
from .exponential import LOG2E, clipped, exp, exp_parts, small_exp
from .logarithm import log, log1p, split_any
from .power import hypot

__all__ = ["pow", "pow_single", "sin_of_large", "cos_of_large", "tan_of_large", "erf", "erfc", "fmod", "remainder",
           "nextafter", "ldexp", "clog", "csqrt"]

INF, NAN = math.inf, math.nan


# ---------------------------------------------------------------- powers and roots


def two_product(x, y):
    p = mul(x, y)
    return p, fma(x, y, neg(p))


def fast_two_sum(x, y):
    s = add(x, y)
    return s, sub(y, sub(s, x))


POWER_TAIL = (2 / 5, 2 / 7, 2 / 9, 2 / 11, 2 / 13, 2 / 15, 2 / 17, 2 / 19, 2 / 21)


def exact_log(x):
    """log(x) of a positive number as (large, small), right to about 2**-66: 2 s + 2/3 s**3 in two parts, the rest in
    one."""
    f, n = split_any(x)
    d, d_low = fast_two_sum(2.0, f)
    inverse = RECIPROCAL(d)
    s = mul(f, inverse)
    s_low = mul(sub(fma(neg(s), d, f), mul(s, d_low)), inverse)
    z, z_low = two_product(s, s)
    z_low = fma(add(s, s), s_low, z_low)
    c, c_low = two_product(z, s)  # s**3
    c_low = add(c_low, add(mul(z_low, s), mul(z, s_low)))
    t, t_low = two_product(c, 0.6666666666666666)
    t_low = add(fma(c, 3.700743415417188e-17, mul(c_low, 0.6666666666666666)), t_low)
    t_low = add(t_low, mul(mul(c, z), POLYNOMIAL(z, coefficients=POWER_TAIL)))
    large, small = fast_two_sum(add(s, s), t)
    small = add(small, add(add(s_low, s_low), t_low))
    a, a_low = two_product(n, LN2)
    total = add(a, large)
    back = sub(total, a)
    lost = add(sub(a, sub(total, back)), sub(large, back))
    return fast_two_sum(total, add(lost, add(small, fma(n, 2.3190468138462996e-17, a_low))))


def pow(x, y):
    """x ** y by a logarithm in two parts. The special cases are those of IEEE 754."""
    size = FABS(x)
    large, small = exact_log(size)
    p, p_low = two_product(large, y)
    p_low = fma(small, y, p_low)
    p, p_low = fast_two_sum(clipped(p, 800.0), SELECT(FGT(FABS(p), 800.0), 0.0, p_low))
    shifted = fma(p, LOG2E, MAGIC)
    n = sub(shifted, MAGIC)
    r = add(fma(n, -LN2_LOW, fma(n, -LN2_HIGH, p)), p_low)
    found = scaled(small_exp(r), integer(shifted))
    return power_at_ends(x, y, found)


def pow_single(x, y):
    """The power of operands in single precision."""
    return power_at_ends(x, y, exp(mul(log(FABS(x)), y)))


def power_at_ends(x, y, found):
    """The special cases of a power; found: |x|**y elsewhere."""
    size = FABS(x)
    negative = FLT(y, 0.0)
    found = SELECT(FEQ(size, 0.0), SELECT(negative, INF, 0.0),
                   SELECT(FEQ(size, INF), SELECT(negative, 0.0, INF), found))
    half = mul(y, 0.5)
    whole = FEQ(TRUNC(y), y)
    odd = BAND(BAND(whole, FNE(TRUNC(half), half)), FLT(FABS(y), 9007199254740992.0))
    complex_ = BAND(BNOT(whole), BAND(FGT(size, 0.0), FLT(size, INF)))
    found = SELECT(SIGNBIT(x), SELECT(odd, neg(found), SELECT(complex_, NAN, found)), found)
    limit = SELECT(FEQ(size, 1.0), 1.0, SELECT(BXOR(FGT(size, 1.0), negative), INF, 0.0))
    found = SELECT(FEQ(FABS(y), INF), limit, found)
    found = SELECT(BAND(FEQ(x, x), FEQ(y, y)), found, add(x, y))
    return SELECT(BOR(FEQ(y, 0.0), FEQ(x, 1.0)), 1.0, found)


# ---------------------------------------------------------------- circular functions


def _two_over_pi(bits: int) -> int:
    """floor(2 / pi * 2**bits), by Machin's formula."""
    one = 1 << bits + 32

    def arctan(n: int) -> int:
        term = total = one // n
        k, sign = 1, -1
        while term:
            term //= n * n
            k += 2
            total += sign * (term // k)
            sign = -sign
        return total

    pi = 4 * (4 * arctan(5) - arctan(239))
    return (2 << 2 * (bits + 32)) // pi >> 32


_COUNT = 56  # digits of 24 bits, the first is 0
DIGITS = np.array([_two_over_pi(24 * _COUNT) >> 24 * (_COUNT - k) & 0xFFFFFF for k in range(_COUNT + 1)],
                  np.int32).tobytes().hex()
DIGITS_TYPE, DIGITS_SHAPE = Array(int32, 1, "C", False), (_COUNT + 1,)


@outlined
def quarter_of_large(x):
    """quarter(x) for a large finite x: the significant digits of 2 / pi, times x (Payne and Hanek, 1983)."""
    digits = gpu.CONSTANT_ARRAY(type=DIGITS_TYPE, shape=DIGITS_SHAPE, data=DIGITS)
    bits = BITS(FABS(x))
    mantissa = IADD(IAND(bits, 0xFFFFFFFFFFFFF), 0x10000000000000)
    e = ISHR(bits, 52) - 1075 + 22
    j, shift = e // 24, e % 24
    low = ISHL(IAND(mantissa, 0xFFFFFF), shift)
    middle = ISHL(IAND(ISHR(mantissa, 24), 0xFFFFFF), shift) + ISHR(low, 24)
    high = ISHL(ISHR(mantissa, 48), shift) + ISHR(middle, 24)
    m0, m1, m2, m3 = IAND(low, 0xFFFFFF), IAND(middle, 0xFFFFFF), IAND(high, 0xFFFFFF), ISHR(high, 24)
    carry = r0 = r1 = r2 = r3 = r4 = r5 = 0
    for p in range(8, -1, -1):  # digit p of the product weighs 2**(-22 - 24 p)
        at = j + p
        carry = (ISHR(carry, 24) + m0 * int(digits[at]) + m1 * int(digits[at + 1]) + m2 * int(digits[at + 2]) + m3
                 * int(digits[at + 3]))
        r5, r4, r3, r2, r1, r0 = r4, r3, r2, r1, r0, IAND(carry, 0xFFFFFF)
    k, r0 = ISHR(r0, 22), IAND(r0, 0x3FFFFF)
    sign = 1.0
    if r0 > 0x1FFFFF:  # nearer to the next quarter
        k, sign, r0, r1, r2, r3, r4, r5 = (k + 1, -1.0, r0 ^ 0x3FFFFF, r1 ^ 0xFFFFFF, r2 ^ 0xFFFFFF, r3 ^ 0xFFFFFF,
                                           r4 ^ 0xFFFFFF, r5 ^ 0xFFFFFF)
    first = float(r0 << 24 | r1) * 2.0**-46
    rest = float(r2 << 24 | r3) * 2.0**-94 + float(r4 << 24 | r5) * 2.0**-142
    f, f_low = fast_two_sum(first, rest)
    r = fma(f, HALF_PI, fma(f, HALF_PI_2, mul(f_low, HALF_PI))) * sign
    if x < 0.0:
        return -r, -k
    return r, k


def quarter(x):
    """(r, k): x = r + k * pi / 2, |r| <= pi / 4; r is nan where x is not finite."""
    finite = FLT(FABS(x), INF)
    r, k = quarter_of_large(SELECT(finite, x, LIMIT))
    return SELECT(finite, r, NAN), k


def sin_of_large(x):
    r, k = quarter(x)
    return turned(k, sine(r), cosine(r))


def cos_of_large(x):
    r, k = quarter(x)
    return turned(IADD(k, 1), sine(r), cosine(r))


def tan_of_large(x):
    r, k = quarter(x)
    return ratio(k, sine(r), cosine(r))


# ---------------------------------------------------------------- error functions

# Chebyshev fits of erf(x) / x in x**2 on 0..1, and of (1 + 2 x) exp(x**2) erfc(x) in (x - 4) / (x + 4) on 0..28 (the
# variables are those of Shepherd and Laframboise, 1981).
ERF = (1.1283791670955126, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777, 0.0052239776071164225,
       -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05, 1.6447424703317362e-06,
       -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10)
ERFC = (1.2329951186255526, -0.13962111684056253, 0.015379652102619558, 0.06809705425469323, -0.10103906603629459,
        0.09373283499833023, -0.0663303658124095, 0.03716751553777026, -0.01619773405599449, 0.005031969975753176,
        -0.0007577732973669146, -0.00019925668432389153, 0.00015062169704678355, -2.439924428312988e-05,
        -1.1222046316669005e-05, 5.709784760966506e-06, 2.9377854943443786e-07, -8.254699744871162e-07,
        7.471952780500971e-08, 1.1005996198640057e-07, -1.799947545903142e-08, -1.4091982822555755e-08,
        1.868487385473519e-09, 1.263782858042137e-09)


def erfc_of_positive(a):
    square = mul(a, a)
    p, k = exp_parts(neg(square))
    p = fma(neg(p), fma(a, a, neg(square)), p)
    if FLT(a, 26.0):  # a branch ends the life of most values
        scale = FROM_BITS(IADD(BITS(p), ISHL(k, 52)))
    else:
        scale = scaled(p, k)
    t = quotient(sub(a, 4.0), add(a, 4.0))
    r = quotient(POLYNOMIAL(t, coefficients=ERFC), fma(2.0, a, 1.0))
    return SELECT(FGT(a, 28.0), 0.0, mul(scale, r))


def erf(x):
    a = FABS(x)
    if FLT(a, 1.0):
        return mul(x, POLYNOMIAL(mul(x, x), coefficients=ERF))
    return COPYSIGN(sub(1.0, erfc_of_positive(a)), x)


def erfc(x):
    found = erfc_of_positive(FABS(x))
    return SELECT(FLT(x, 0.0), sub(2.0, found), found)


# ---------------------------------------------------------------- remainders, scaling


def less_multiples(r, d):
    """r - trunc(r / d) * d, exactly, for a quotient below 2**52: the computed quotient may be off by one."""
    r = fma(neg(TRUNC(div(r, d))), d, r)
    r = SELECT(FLT(r, 0.0), add(r, d), r)
    return SELECT(FGE(r, d), sub(r, d), r)


def fmod(x, y):
    r, d = FABS(x), FABS(y)
    if BNOT(BAND(FLT(r, INF), FGT(d, 0.0))):
        return NAN
    if FEQ(d, INF):
        return x
    far = mul(d, 1125899906842624.0)
    while FGE(r, far):
        step = far
        while FGE(r, mul(step, 1125899906842624.0)):
            step = mul(step, 1125899906842624.0)
        r = less_multiples(r, step)
    if FGE(r, d):
        r = less_multiples(r, d)
    return COPYSIGN(r, x)


def remainder(x, y):
    d = FABS(y)
    r = fmod(x, add(d, d)) if FLT(add(d, d), INF) else x
    a = FABS(r)
    if FLT(d, 4.450147717014403e-308):
        if FGT(add(a, a), d):
            a = sub(a, d)
            if FGE(add(a, a), d):
                a = sub(a, d)
    else:
        half = mul(0.5, d)
        if FGT(a, half):
            a = sub(a, d)
            if FGE(a, half):
                a = sub(a, d)
    found = SELECT(SIGNBIT(x), neg(a), a)
    return SELECT(BAND(FLT(FABS(x), INF), BAND(FGT(d, 0.0), FEQ(d, d))), found, NAN)


def ldexp(x, n):
    """x * 2**n in steps. Only the last one may round."""
    n = SELECT(IGT(n, 2200), 2200, SELECT(ILT(n, -2200), -2200, n))
    for _ in range(2):
        up, down = IGT(n, 1023), ILT(n, -1022)
        x = mul(x, SELECT(up, 8.98846567431158e307, SELECT(down, 2.004168360008973e-292, 1.0)))
        n = ISUB(n, SELECT(up, 1023, SELECT(down, -969, 0)))
    return mul(x, power_of_two(SELECT(IGT(n, 1023), 1023, SELECT(ILT(n, -1022), -1022, n))))


def nextafter(x, y):
    bits = BITS(x)
    away = IADD(bits, SELECT(BXOR(FLT(x, y), FLT(x, 0.0)), 1, -1))
    near = SELECT(FEQ(x, 0.0), COPYSIGN(5e-324, y), FROM_BITS(away))
    return SELECT(BAND(FEQ(x, x), FEQ(y, y)), SELECT(FEQ(x, y), y, near), add(x, y))


# ---------------------------------------------------------------- complex numbers


def clog(z):
    x, y = FABS(REAL(z)), FABS(IMAG(z))
    size = hypot(x, y)
    big, low = SELECT(FGT(y, x), y, x), SELECT(FGT(y, x), x, y)
    # log(size**2) / 2 where size is about 1
    near = mul(0.5, log1p(fma(sub(big, 1.0), add(big, 1.0), mul(low, low))))
    return COMPLEX_MAKE(SELECT(BAND(FGT(size, 0.7), FLT(size, 1.5)), near, log(size)), atan2(IMAG(z), REAL(z)))


def csqrt(z):
    x, y = REAL(z), IMAG(z)
    t = sqrt(add(mul(0.5, FABS(x)), mul(0.5, hypot(x, y))))
    other = SELECT(FEQ(t, 0.0), 0.0, mul(0.5, div(FABS(y), t)))
    found = COMPLEX_MAKE(SELECT(SIGNBIT(x), other, t), COPYSIGN(SELECT(SIGNBIT(x), t, other), y))
    return SELECT(FEQ(FABS(y), INF), COMPLEX_MAKE(INF, y), found)
