"""Elementary functions for GPUs, in double precision: the implementations of the operations of ops/math.py, which have
no machine code there.

The functions use arithmetic without tables, and branches only for rare arguments, so that threads do not diverge. The
methods are those of Cephes and of FreeBSD's msun, as each function says; errors are at most 3 ulp, measured in
tests/cuda/test_elementary.py.
Single precision is in elementary32.py.
"""
from __future__ import annotations

import math

import numpy as np

from ...ops import gpu
from ...ops.arith import (
    BAND, BNOT, BOR, BXOR, COMPLEX_MAKE, FADD, FDIV, FEQ, FGE, FGT, FLT, FMUL, FNE, FNEG, FSUB, IADD, IAND, IGT,
    ILT, IMAG, INE, ISHL, ISHR, ISUB, IXOR, REAL,
)
from ...ops.gpu import HORNER, RECIPROCAL
from ...ops.math import BITS, COPYSIGN, FABS, FMA, FROM_BITS, SIGNBIT, SQRT, TRUNC
from ...ops.structure import SELECT
from ...types.kinds import Array, int32
from ..build import outlined

__all__ = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "pow_single", "cbrt", "hypot", "sin", "cos",
           "tan", "atan", "atan2", "asin", "acos", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
           "fmod", "remainder", "nextafter", "ldexp", "cexp", "clog", "csqrt"]

INF, NAN = math.inf, math.nan
MAGIC = 1.5 * 2.0**52  # adding it to a small number rounds that to an integer in the low bits of the sum
MAGIC_BITS = 0x4338000000000000
ONE_BITS, ROOT_HALF_BITS = 0x3FF0000000000000, 0x3FE6A09E667F3BCD
LOG2E, LN2 = 1.4426950408889634, 0.6931471805599453
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45")
HALF_PI, HALF_PI_2, HALF_PI_3 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
QUARTER_PI = HALF_PI / 2
TAYLOR = tuple(1.0 / math.factorial(n) for n in range(2, 14))  # (e**r - 1 - r) / r**2


def power_of_two(k):
    """2.0 ** k for -1022 <= k <= 1023."""
    return FROM_BITS(ISHL(IADD(k, 1023), 52))


def scaled(p, k):
    """p * 2.0 ** k in two steps: the result may leave the range of exponents."""
    half = ISHR(k, 1)
    return FMUL(FMUL(p, power_of_two(half)), power_of_two(ISUB(k, half)))


def quick_scaled(p, shifted):
    """p * 2.0 ** k, a normal number; k is in the low bits of `shifted`."""
    return FROM_BITS(IADD(BITS(p), ISHL(BITS(shifted), 52)))


def clipped(x, limit):
    """x clamped to -limit and limit; nan is unchanged."""
    y = SELECT(FGT(x, limit), limit, x)
    return SELECT(FLT(y, -limit), -limit, y)


def quotient(x, y):
    """x / y within 1 ulp, where y, 1 / y and the result are normal numbers. A division in full is a call of 30
    instructions."""
    r = RECIPROCAL(y)
    q = FMUL(x, r)
    return FMA(FMA(FNEG(q), y, x), r, q)


# ---------------------------------------------------------------- exp and log


def exp_parts(x):
    """(p, shifted): exp(x) = p * 2**k for |x| < 800, 0.7 < p < 1.5; k is in the low bits of `shifted`."""
    shifted = FMA(x, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, -LN2_LOW, FMA(n, -LN2_HIGH, x))
    return FADD(1.0, FMA(FMUL(r, r), HORNER(r, coefficients=TAYLOR), r)), shifted


def exp(x):
    p, shifted = exp_parts(x)
    if FLT(FABS(x), 708.0):
        return quick_scaled(p, shifted)
    return SELECT(FLT(FABS(x), 750.0), scaled(p, ISUB(BITS(shifted), MAGIC_BITS)),
                  SELECT(FLT(x, 0.0), 0.0, FADD(x, INF)))


def exp2(x):
    y = clipped(x, 1200.0)
    shifted = FADD(y, MAGIC)
    r = FMUL(FSUB(y, FSUB(shifted, MAGIC)), LN2)
    return scaled(FADD(1.0, FMA(FMUL(r, r), HORNER(r, coefficients=TAYLOR), r)), ISUB(BITS(shifted), MAGIC_BITS))


def expm1(x):
    y = clipped(x, 700.0)
    shifted = FMA(y, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, -LN2_LOW, FMA(n, -LN2_HIGH, y))
    s = power_of_two(ISUB(BITS(shifted), MAGIC_BITS))
    small = FMA(s, FMA(FMUL(r, r), HORNER(r, coefficients=TAYLOR), r), FSUB(s, 1.0))
    return SELECT(FGT(FABS(x), 40.0), FSUB(exp(x), 1.0), SELECT(FEQ(x, 0.0), x, small))


LOG_TAIL = (6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
            1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860510658591e-01)


def parts(x):
    """(k, f): x = 2**k * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)."""
    small = FLT(x, 2.2250738585072014e-308)
    u = IADD(BITS(SELECT(small, FMUL(x, 18014398509481984.0), x)), ONE_BITS - ROOT_HALF_BITS)
    k = ISUB(ISUB(ISHR(u, 52), 1023), SELECT(small, 54, 0))
    return (FSUB(FROM_BITS(IADD(k, MAGIC_BITS)), MAGIC),
            FSUB(FROM_BITS(IADD(IAND(u, 0x000FFFFFFFFFFFFF), ROOT_HALF_BITS)), 1.0))


def log_rest(f):
    """(h, r): log(1 + f) = f - (h - r). Source: msun's e_log.c."""
    s = quotient(f, FADD(2.0, f))
    z = FMUL(s, s)
    half = FMUL(FMUL(0.5, f), f)
    return half, FMUL(s, FMA(z, HORNER(z, coefficients=LOG_TAIL), half))


def is_inside(x):
    """Whether log(x) is neither inf nor nan."""
    return BAND(FGT(x, 0.0), FLT(x, INF))


def at_ends(x):
    """A logarithm where x is inf, nan, 0 or negative."""
    return SELECT(FEQ(x, 0.0), -INF, SELECT(FLT(x, 0.0), NAN, x))


def log(x):
    if BNOT(is_inside(x)):
        return at_ends(x)
    n, f = parts(x)
    half, rest = log_rest(f)
    return FMA(n, LN2_HIGH, FSUB(f, FSUB(half, FMA(n, LN2_LOW, rest))))


def scaled_log(x, n, f, high, low):
    """(high, low): 1 / log(base) in two parts; log(1 + f) / log(base), nearly exact, as (large, small)."""
    half, rest = log_rest(f)
    large = FROM_BITS(IAND(BITS(FSUB(f, half)), -0x100000000))
    small = FADD(FSUB(FSUB(f, large), half), rest)
    return FMUL(large, high), FADD(FMUL(FADD(small, large), low), FMUL(small, high))


INV_LN2_HIGH, INV_LN2_LOW = 1.44269504072144627571e+00, 1.67517131648865118353e-10
INV_LN10_HIGH, INV_LN10_LOW = 4.34294481878168880939e-01, 2.50829467116452752298e-11
LOG10_2_HIGH, LOG10_2_LOW = 3.01029995663611771306e-01, 3.69423907715893078616e-13


def log2(x):
    """Source: msun's e_log2.c."""
    if BNOT(is_inside(x)):
        return at_ends(x)
    n, f = parts(x)
    large, small = scaled_log(x, n, f, INV_LN2_HIGH, INV_LN2_LOW)
    total = FADD(n, large)
    return FADD(FADD(small, FADD(FSUB(n, total), large)), total)


def log10(x):
    """Source: msun's e_log10.c."""
    if BNOT(is_inside(x)):
        return at_ends(x)
    n, f = parts(x)
    large, small = scaled_log(x, n, f, INV_LN10_HIGH, INV_LN10_LOW)
    y = FMUL(n, LOG10_2_HIGH)
    total = FADD(y, large)
    return FADD(FADD(FMA(n, LOG10_2_LOW, small), FADD(FSUB(y, total), large)), total)


def log1p(x):
    u = FADD(1.0, x)
    lost = SELECT(FGT(FABS(x), 1.0), FSUB(1.0, FSUB(u, x)), FSUB(x, FSUB(u, 1.0)))
    found = FADD(log(u), FMUL(lost, RECIPROCAL(u)))
    found = SELECT(FLT(FABS(x), 1e-16), x, found)
    return SELECT(FLT(x, INF), SELECT(FEQ(x, -1.0), -INF, found), x)


# ---------------------------------------------------------------- powers and roots


def two_product(x, y):
    p = FMUL(x, y)
    return p, FMA(x, y, FNEG(p))


def fast_two_sum(x, y):
    s = FADD(x, y)
    return s, FSUB(y, FSUB(s, x))


POWER_TAIL = (2 / 5, 2 / 7, 2 / 9, 2 / 11, 2 / 13, 2 / 15, 2 / 17, 2 / 19, 2 / 21)


def exact_log(x):
    """log(x) of a positive number as (large, small), right to about 2**-66: 2 s + 2/3 s**3 in two parts, the rest in
    one."""
    n, f = parts(x)
    d, d_low = fast_two_sum(2.0, f)
    inverse = RECIPROCAL(d)
    s = FMUL(f, inverse)
    s_low = FMUL(FSUB(FMA(FNEG(s), d, f), FMUL(s, d_low)), inverse)
    z, z_low = two_product(s, s)
    z_low = FMA(FADD(s, s), s_low, z_low)
    c, c_low = two_product(z, s)  # s**3
    c_low = FADD(c_low, FADD(FMUL(z_low, s), FMUL(z, s_low)))
    t, t_low = two_product(c, 0.6666666666666666)
    t_low = FADD(FMA(c, 3.700743415417188e-17, FMUL(c_low, 0.6666666666666666)), t_low)
    t_low = FADD(t_low, FMUL(FMUL(c, z), HORNER(z, coefficients=POWER_TAIL)))
    large, small = fast_two_sum(FADD(s, s), t)
    small = FADD(small, FADD(FADD(s_low, s_low), t_low))
    a, a_low = two_product(n, LN2)
    total = FADD(a, large)
    back = FSUB(total, a)
    lost = FADD(FSUB(a, FSUB(total, back)), FSUB(large, back))
    return fast_two_sum(total, FADD(lost, FADD(small, FMA(n, 2.3190468138462996e-17, a_low))))


def pow(x, y):
    """By a logarithm in two parts. The special cases are those of IEEE 754."""
    size = FABS(x)
    large, small = exact_log(size)
    p, p_low = two_product(large, y)
    p_low = FMA(small, y, p_low)
    p, p_low = fast_two_sum(clipped(p, 800.0), SELECT(FGT(FABS(p), 800.0), 0.0, p_low))
    shifted = FMA(p, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FADD(FMA(n, -LN2_LOW, FMA(n, -LN2_HIGH, p)), p_low)
    found = scaled(FADD(1.0, FMA(FMUL(r, r), HORNER(r, coefficients=TAYLOR), r)), ISUB(BITS(shifted), MAGIC_BITS))
    return power_at_ends(x, y, found)


def pow_single(x, y):
    """The power of operands in single precision."""
    return power_at_ends(x, y, exp(FMUL(log(FABS(x)), y)))


def power_at_ends(x, y, found):
    """The special cases of a power; found: |x|**y elsewhere."""
    size = FABS(x)
    negative = FLT(y, 0.0)
    found = SELECT(FEQ(size, 0.0), SELECT(negative, INF, 0.0),
                   SELECT(FEQ(size, INF), SELECT(negative, 0.0, INF), found))
    half = FMUL(y, 0.5)
    whole = FEQ(TRUNC(y), y)
    odd = BAND(BAND(whole, FNE(TRUNC(half), half)), FLT(FABS(y), 9007199254740992.0))
    complex_ = BAND(BNOT(whole), BAND(FGT(size, 0.0), FLT(size, INF)))
    found = SELECT(SIGNBIT(x), SELECT(odd, FNEG(found), SELECT(complex_, NAN, found)), found)
    limit = SELECT(FEQ(size, 1.0), 1.0, SELECT(BXOR(FGT(size, 1.0), negative), INF, 0.0))
    found = SELECT(FEQ(FABS(y), INF), limit, found)
    found = SELECT(BAND(FEQ(x, x), FEQ(y, y)), found, FADD(x, y))
    return SELECT(BOR(FEQ(y, 0.0), FEQ(x, 1.0)), 1.0, found)


def cbrt(x):
    size = FABS(x)
    y = exp(FMUL(log(size), 0.3333333333333333))
    y = FSUB(y, FMUL(FMA(FMUL(y, y), y, FNEG(size)), FMUL(0.3333333333333333, RECIPROCAL(FMUL(y, y)))))
    return SELECT(FGT(size, 0.0), SELECT(FLT(size, INF), COPYSIGN(y, x), x), x)


def hypot(x, y):
    x, y = FABS(x), FABS(y)
    big, low = SELECT(FGT(y, x), y, x), SELECT(FGT(y, x), x, y)
    r = FDIV(low, big)
    found = SELECT(FEQ(low, 0.0), big, FMUL(big, SQRT(FMA(r, r, 1.0))))
    return SELECT(BOR(FEQ(x, INF), FEQ(y, INF)), INF, found)


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
LARGE = 2.0**40  # above, three parts of pi / 2 are not enough


@outlined
def quarter_of_large(x):
    """quarter(x) for large x: the significant digits of 2 / pi, times x (Payne and Hanek, 1983)."""
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
    r = FMA(f, HALF_PI, FMA(f, HALF_PI_2, FMUL(f_low, HALF_PI))) * sign
    if x < 0.0:
        return -r, -k
    return r, k


SINE = (-0.16666666666666666, 0.008333333333330925, -0.00019841269836722437, 2.755731608382574e-06,
        -2.505112794596564e-08, 1.591784866512194e-10)
COSINE = (-0.5, 0.041666666666666664, -0.0013888888888887382, 2.480158729874308e-05, -2.755731726001471e-07,
          2.0876143829213935e-09, -1.1382456865840483e-11)


def quarter(x):
    """(r, k): x = r + k * pi / 2, |r| <= pi / 4 (Cody and Waite's reduction, with fma)."""
    shifted = FMA(x, 0.6366197723675814, MAGIC)
    n = FSUB(shifted, MAGIC)
    r, k = FMA(n, -HALF_PI_3, FMA(n, -HALF_PI_2, FMA(n, -HALF_PI, x))), ISUB(BITS(shifted), MAGIC_BITS)
    if FGT(FABS(x), LARGE):
        r, k = quarter_of_large(SELECT(FLT(FABS(x), INF), x, LARGE))
        r = SELECT(FLT(FABS(x), INF), r, NAN)
    return r, k


def sine(r):
    z = FMUL(r, r)
    return FMA(FMUL(z, HORNER(z, coefficients=SINE)), r, r)


def cosine(r):
    z = FMUL(r, r)
    return FMA(z, HORNER(z, coefficients=COSINE), 1.0)


def turned(k, even, odd):
    """The value of a circular function in quarter k: odd quarters use the cofunction, quarters 2 and 3 change the
    sign."""
    return FROM_BITS(IXOR(BITS(SELECT(INE(IAND(k, 1), 0), odd, even)), ISHL(IAND(k, 2), 62)))


def sin(x):
    r, k = quarter(x)
    return SELECT(FEQ(x, 0.0), x, turned(k, sine(r), cosine(r)))


def cos(x):
    r, k = quarter(x)
    return turned(IADD(k, 1), sine(r), cosine(r))


def tan(x):
    r, k = quarter(x)
    s, c, odd = sine(r), cosine(r), INE(IAND(k, 1), 0)
    ratio = quotient(SELECT(odd, c, s), SELECT(odd, s, c))
    return SELECT(FEQ(x, 0.0), x, FROM_BITS(IXOR(BITS(ratio), ISHL(k, 63))))


ATAN_P = (-6.485021904942025371773e1, -1.228866684490136173410e2, -7.500855792314704667340e1,
          -1.615753718733365076637e1, -8.750608600031904122785e-1)
ATAN_Q = (1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2, 1.650270098316988542046e2,
          2.485846490142306297962e1, 1.0)


def atan(x):
    """Source: Cephes's atan.c."""
    a = FABS(x)
    large, middle = FGT(a, 2.41421356237309504880), FGT(a, 0.66)
    base = SELECT(large, HALF_PI, SELECT(middle, QUARTER_PI, 0.0))
    low = SELECT(large, HALF_PI_2, SELECT(middle, HALF_PI_2 / 2, 0.0))
    y = FDIV(SELECT(large, -1.0, SELECT(middle, FSUB(a, 1.0), a)), SELECT(large, a, SELECT(middle, FADD(a, 1.0), 1.0)))
    z = FMUL(y, y)
    q = FDIV(FMUL(z, HORNER(z, coefficients=ATAN_P)), HORNER(z, coefficients=ATAN_Q))
    return COPYSIGN(FADD(base, FADD(FMA(y, q, y), low)), x)


def atan2(y, x):
    a, b = FABS(x), FABS(y)
    swap = FGT(b, a)
    below = SELECT(swap, b, a)
    t = FDIV(SELECT(swap, a, b), below)
    t = SELECT(FEQ(below, 0.0), 0.0, SELECT(FEQ(a, b), 1.0, t))
    r = atan(t)
    r = SELECT(swap, FADD(FSUB(HALF_PI, r), HALF_PI_2), r)
    r = SELECT(SIGNBIT(x), FADD(FSUB(2 * HALF_PI, r), 2 * HALF_PI_2), r)
    return SELECT(BAND(FEQ(x, x), FEQ(y, y)), COPYSIGN(r, y), FADD(x, y))


ASIN_P = (1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01,
          -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05)
ASIN_Q = (1.0, -2.40339491173441421878e+00, 2.02094576023350569471e+00, -6.88283971605453293030e-01,
          7.70381505559019352791e-02)


def arc_tail(z):
    return FMUL(z, quotient(HORNER(z, coefficients=ASIN_P), HORNER(z, coefficients=ASIN_Q)))


def half_arc(a):
    """(s, r): the angle with the sine sqrt((1 - a) / 2) is s + r."""
    z = FMUL(0.5, FSUB(1.0, a))
    s = SQRT(z)
    high = FROM_BITS(IAND(BITS(s), -0x100000000))
    lost = SELECT(FGT(s, 0.0), FDIV(FMA(FNEG(high), high, z), FADD(s, high)), 0.0)
    return high, FMA(s, arc_tail(z), lost)


def asin(x):
    """Source: msun's e_asin.c."""
    a = FABS(x)
    near = FMA(a, arc_tail(FMUL(a, a)), a)
    s, r = half_arc(a)
    far = FSUB(QUARTER_PI, FSUB(FSUB(FADD(r, r), HALF_PI_2), FSUB(QUARTER_PI, FADD(s, s))))
    return COPYSIGN(SELECT(FLT(a, 0.5), near, far), x)


def acos(x):
    """Source: msun's e_acos.c."""
    a = FABS(x)
    near = FSUB(HALF_PI, FSUB(x, FSUB(HALF_PI_2, FMUL(x, arc_tail(FMUL(a, a))))))
    s, r = half_arc(a)
    angle = FADD(s, r)
    low = FSUB(2 * HALF_PI, FMUL(2.0, FADD(s, FSUB(r, HALF_PI_2))))
    return SELECT(FLT(a, 0.5), near, SELECT(FLT(x, 0.0), low, FADD(angle, angle)))


# ---------------------------------------------------------------- hyperbolic functions


def tanh(x):
    a = FABS(x)
    e = expm1(SELECT(FGT(a, 22.0), 44.0, FADD(a, a)))
    return COPYSIGN(SELECT(FEQ(x, x), quotient(e, FADD(e, 2.0)), x), x)


def sinh(x):
    a = FABS(x)
    e = expm1(SELECT(FGT(a, 40.0), 0.0, a))
    large = exp(FMUL(a, 0.5))
    found = SELECT(FGT(a, 40.0), FMUL(FMUL(0.5, large), large), FMUL(0.5, FADD(e, quotient(e, FADD(e, 1.0)))))
    return COPYSIGN(found, x)


def cosh(x):
    a = FABS(x)
    e = exp(SELECT(FGT(a, 40.0), 0.0, a))
    large = exp(FMUL(a, 0.5))
    return SELECT(FGT(a, 40.0), FMUL(FMUL(0.5, large), large), FADD(FMUL(0.5, e), quotient(0.5, e)))


def asinh(x):
    a = FABS(x)
    square = FMUL(a, a)
    found = log1p(FADD(a, FDIV(square, FADD(1.0, SQRT(FADD(square, 1.0))))))
    return COPYSIGN(SELECT(FGT(a, 1e8), FADD(log(a), LN2), found), x)


def acosh(x):
    t = FSUB(x, 1.0)
    return SELECT(FGT(x, 1e8), FADD(log(x), LN2), log1p(FADD(t, SQRT(FMA(t, t, FADD(t, t))))))


def atanh(x):
    a = FABS(x)
    return COPYSIGN(FMUL(0.5, log1p(FDIV(FADD(a, a), FSUB(1.0, a)))), x)


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
    square = FMUL(a, a)
    p, shifted = exp_parts(FNEG(square))
    p = FMA(FNEG(p), FMA(a, a, FNEG(square)), p)
    if FLT(a, 26.0):
        scale = quick_scaled(p, shifted)
    else:
        scale = scaled(p, ISUB(BITS(shifted), MAGIC_BITS))
    t = quotient(FSUB(a, 4.0), FADD(a, 4.0))
    r = quotient(HORNER(t, coefficients=ERFC), FMA(2.0, a, 1.0))
    return SELECT(FGT(a, 28.0), 0.0, FMUL(scale, r))


def erf(x):
    a = FABS(x)
    if FLT(a, 1.0):
        return FMUL(x, HORNER(FMUL(x, x), coefficients=ERF))
    return COPYSIGN(FSUB(1.0, erfc_of_positive(a)), x)


def erfc(x):
    found = erfc_of_positive(FABS(x))
    return SELECT(FLT(x, 0.0), FSUB(2.0, found), found)


# ---------------------------------------------------------------- remainders, scaling


def less_multiples(r, d):
    """r - trunc(r / d) * d, exactly, for a quotient below 2**52: the computed quotient may be off by one."""
    r = FMA(FNEG(TRUNC(FDIV(r, d))), d, r)
    r = SELECT(FLT(r, 0.0), FADD(r, d), r)
    return SELECT(FGE(r, d), FSUB(r, d), r)


def fmod(x, y):
    r, d = FABS(x), FABS(y)
    if BNOT(BAND(FLT(r, INF), FGT(d, 0.0))):
        return NAN
    if FEQ(d, INF):
        return x
    far = FMUL(d, 1125899906842624.0)
    while FGE(r, far):
        step = far
        while FGE(r, FMUL(step, 1125899906842624.0)):
            step = FMUL(step, 1125899906842624.0)
        r = less_multiples(r, step)
    if FGE(r, d):
        r = less_multiples(r, d)
    return COPYSIGN(r, x)


def remainder(x, y):
    d = FABS(y)
    r = fmod(x, FADD(d, d)) if FLT(FADD(d, d), INF) else x
    a = FABS(r)
    if FLT(d, 4.450147717014403e-308):
        if FGT(FADD(a, a), d):
            a = FSUB(a, d)
            if FGE(FADD(a, a), d):
                a = FSUB(a, d)
    else:
        half = FMUL(0.5, d)
        if FGT(a, half):
            a = FSUB(a, d)
            if FGE(a, half):
                a = FSUB(a, d)
    found = SELECT(SIGNBIT(x), FNEG(a), a)
    return SELECT(BAND(FLT(FABS(x), INF), BAND(FGT(d, 0.0), FEQ(d, d))), found, NAN)


def ldexp(x, n):
    """x * 2**n in steps, all of which but the last are exact."""
    n = SELECT(IGT(n, 2200), 2200, SELECT(ILT(n, -2200), -2200, n))
    for _ in range(2):
        up, down = IGT(n, 1023), ILT(n, -1022)
        x = FMUL(x, SELECT(up, 8.98846567431158e307, SELECT(down, 2.004168360008973e-292, 1.0)))
        n = ISUB(n, SELECT(up, 1023, SELECT(down, -969, 0)))
    return FMUL(x, power_of_two(SELECT(IGT(n, 1023), 1023, SELECT(ILT(n, -1022), -1022, n))))


def nextafter(x, y):
    bits = BITS(x)
    away = IADD(bits, SELECT(BXOR(FLT(x, y), FLT(x, 0.0)), 1, -1))
    near = SELECT(FEQ(x, 0.0), COPYSIGN(5e-324, y), FROM_BITS(away))
    return SELECT(BAND(FEQ(x, x), FEQ(y, y)), SELECT(FEQ(x, y), y, near), FADD(x, y))


# ---------------------------------------------------------------- complex numbers


def cexp(z):
    x, y = REAL(z), IMAG(z)
    half = exp(FMUL(0.5, x))  # used twice, so that a large factor is multiplied by a small cosine between
    far = FGT(x, 700.0)
    scale, rest = SELECT(far, half, exp(x)), SELECT(far, half, 1.0)
    if FEQ(y, 0.0):
        return COMPLEX_MAKE(FMUL(scale, rest), y)
    return COMPLEX_MAKE(FMUL(FMUL(scale, cos(y)), rest), FMUL(FMUL(scale, sin(y)), rest))


def clog(z):
    x, y = FABS(REAL(z)), FABS(IMAG(z))
    size = hypot(x, y)
    big, low = SELECT(FGT(y, x), y, x), SELECT(FGT(y, x), x, y)
    # log(size**2) / 2 where size is about 1
    near = FMUL(0.5, log1p(FMA(FSUB(big, 1.0), FADD(big, 1.0), FMUL(low, low))))
    return COMPLEX_MAKE(SELECT(BAND(FGT(size, 0.7), FLT(size, 1.5)), near, log(size)), atan2(IMAG(z), REAL(z)))


def csqrt(z):
    x, y = REAL(z), IMAG(z)
    t = SQRT(FADD(FMUL(0.5, FABS(x)), FMUL(0.5, hypot(x, y))))
    other = SELECT(FEQ(t, 0.0), 0.0, FMUL(0.5, FDIV(FABS(y), t)))
    found = COMPLEX_MAKE(SELECT(SIGNBIT(x), other, t), COPYSIGN(SELECT(SIGNBIT(x), t, other), y))
    return SELECT(FEQ(FABS(y), INF), COMPLEX_MAKE(INF, y), found)
