"""Elementary functions of float32 that GPUs compute in single precision, and CPUs in double: on a GPU doubles cost up
to 64 times as much.

The methods are those of Cephes's single precision library and of msun.
"""
from __future__ import annotations

import numpy as np

from ...ops.arith import BAND, BOR, BXOR, FEQ, FGT, FLT, IADD, IAND, INE, ISHL, IXOR
from ...ops.gpu import RECIPROCAL
from ...ops.math import BITS32, COPYSIGN, COS, FABS, FROM_BITS32, POLYNOMIAL, SIGNBIT, SIN, TAN
from ...ops.structure import SELECT
from .blocks import add, div, fma, mul, neg, quotient, sqrt, sub
from .exponential import clipped
from .single import (HALF_PI, HALF_PI_2, LARGE, at_ends, cosine, exp, integer, log, power_of_two, quarter, reduced,
                     sine, small_cos, small_expm1, small_sin, split)

__all__ = ["expm1", "log1p", "cbrt", "sinh", "cosh", "log2", "log10", "sin", "cos", "tan", "atan", "atan2", "asin",
           "acos", "erf", "erfc", "hypot", "nextafter"]

F, N = np.float32, np.int32
INF, ZERO, ONE, TWO, HALF = F(np.inf), F(0), F(1), F(2), F(0.5)
N31, N1, N0 = N(31), N(1), N(0)
FORTY, EIGHTY = F(40.0), F(87.0)


def expm1(x):
    r, shifted = reduced(clipped(x, EIGHTY))
    s = power_of_two(integer(shifted))
    small = fma(s, small_expm1(r), sub(s, ONE))
    return SELECT(FGT(FABS(x), FORTY), sub(exp(x), ONE), SELECT(FEQ(x, ZERO), x, small))


LOG_TAIL = (0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841)


def log_rest(f):
    """(h, r): log(1 + f) = f - (h - r)."""
    s = quotient(f, add(TWO, f))
    z = mul(s, s)
    half = mul(mul(HALF, f), f)
    return half, mul(s, fma(z, POLYNOMIAL(z, coefficients=LOG_TAIL), half))


INV_LN2_HIGH, INV_LN2_LOW = F(1.4428710938e+00), F(-1.7605285393e-04)
INV_LN10_HIGH, INV_LN10_LOW, LOG10_2_HIGH, LOG10_2_LOW = (F(4.3432617188e-01), F(-3.1689971365e-05),
                                                          F(3.0102920532e-01), F(7.9034151668e-07))
UPPER = N(-0x1000)


def scaled_log(f, high, low):
    """log(1 + f) / log(base), in two parts."""
    half, rest = log_rest(f)
    large = FROM_BITS32(IAND(BITS32(sub(f, half)), UPPER))
    small = add(sub(sub(f, large), half), rest)
    return mul(large, high), add(mul(add(small, large), low), mul(small, high))


def log2(x):
    f, n = split(x)
    large, small = scaled_log(f, INV_LN2_HIGH, INV_LN2_LOW)
    total = add(n, large)
    return at_ends(add(add(small, add(sub(n, total), large)), total), x)


def log10(x):
    f, n = split(x)
    large, small = scaled_log(f, INV_LN10_HIGH, INV_LN10_LOW)
    y = mul(n, LOG10_2_HIGH)
    total = add(y, large)
    return at_ends(add(add(fma(n, LOG10_2_LOW, small), add(sub(y, total), large)), total), x)


SLIGHT, THIRD = F(3e-8), F(0.3333333333333333)


def log1p(x):
    u = add(ONE, x)
    lost = SELECT(FGT(FABS(x), ONE), sub(ONE, sub(u, x)), sub(x, sub(u, ONE)))
    found = add(log(u), mul(lost, RECIPROCAL(u)))
    found = SELECT(FLT(FABS(x), SLIGHT), x, found)
    return SELECT(FLT(x, INF), SELECT(FEQ(x, neg(ONE)), neg(INF), found), x)


def cbrt(x):
    size = FABS(x)
    y = exp(mul(log(size), THIRD))
    y = sub(y, mul(fma(mul(y, y), y, neg(size)), mul(THIRD, RECIPROCAL(mul(y, y)))))
    return SELECT(FGT(size, ZERO), SELECT(FLT(size, INF), COPYSIGN(y, x), x), x)


def sinh(x):
    a = FABS(x)
    e = expm1(SELECT(FGT(a, FORTY), ZERO, a))
    large = exp(mul(a, HALF))
    found = SELECT(FGT(a, FORTY), mul(mul(HALF, large), large), mul(HALF, add(e, quotient(e, add(e, ONE)))))
    return COPYSIGN(found, x)


def cosh(x):
    a = FABS(x)
    e = exp(SELECT(FGT(a, FORTY), ZERO, a))
    large = exp(mul(a, HALF))
    return SELECT(FGT(a, FORTY), mul(mul(HALF, large), large), add(mul(HALF, e), quotient(HALF, e)))


def sin(x):
    found = small_sin(x)
    if FGT(FABS(x), LARGE):
        found = F(SIN(float(x)))
    return found


def cos(x):
    found = small_cos(x)
    if FGT(FABS(x), LARGE):
        found = F(COS(float(x)))
    return found


def tan(x):
    r, k = quarter(x)
    s, c, odd = sine(r), cosine(r), INE(IAND(k, N1), N0)
    ratio = quotient(SELECT(odd, c, s), SELECT(odd, s, c))
    found = SELECT(FEQ(x, ZERO), x, FROM_BITS32(IXOR(BITS32(ratio), ISHL(k, N31))))
    if FGT(FABS(x), LARGE):
        found = F(TAN(float(x)))
    return found




ATAN = (-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2)
TAN_3PI8, TAN_PI8, QUARTER_PI, PI, PI_2 = (F(2.414213562373095), F(0.4142135623730950), F(0.7853981633974483),
                                           F(3.1415927410125732), F(-8.742277657347586e-08))


def atan(x):
    a = FABS(x)
    large, middle = FGT(a, TAN_3PI8), FGT(a, TAN_PI8)
    base = SELECT(large, HALF_PI, SELECT(middle, QUARTER_PI, ZERO))
    y = div(SELECT(large, neg(ONE), SELECT(middle, sub(a, ONE), a)),
             SELECT(large, a, SELECT(middle, add(a, ONE), ONE)))
    z = mul(y, y)
    return COPYSIGN(add(base, fma(mul(z, POLYNOMIAL(z, coefficients=ATAN)), y, y)), x)


def atan2(y, x):
    a, b = FABS(x), FABS(y)
    swap = FGT(b, a)
    below = SELECT(swap, b, a)
    t = div(SELECT(swap, a, b), below)
    t = SELECT(FEQ(below, ZERO), ZERO, SELECT(FEQ(a, b), ONE, t))
    r = atan(t)
    r = SELECT(swap, add(sub(HALF_PI, r), HALF_PI_2), r)
    r = SELECT(SIGNBIT(x), add(sub(PI, r), PI_2), r)
    return SELECT(BAND(FEQ(x, x), FEQ(y, y)), COPYSIGN(r, y), add(x, y))


ASIN_P, ASIN_Q = (1.6666586697e-01, -4.2743422091e-02, -8.6563630030e-03), F(-7.0662963390e-01)


def arc_tail(z):
    return mul(z, quotient(POLYNOMIAL(z, coefficients=ASIN_P), fma(z, ASIN_Q, ONE)))


def asin(x):
    a = FABS(x)
    near = fma(a, arc_tail(mul(a, a)), a)
    z = mul(HALF, sub(ONE, a))
    s = sqrt(z)
    half = fma(s, arc_tail(z), s)
    far = add(sub(HALF_PI, add(half, half)), HALF_PI_2)
    return COPYSIGN(SELECT(FLT(a, HALF), near, far), x)


def acos(x):
    a = FABS(x)
    near = sub(HALF_PI, sub(x, sub(HALF_PI_2, mul(x, arc_tail(mul(a, a))))))
    z = mul(HALF, sub(ONE, a))
    s = sqrt(z)
    half = fma(s, arc_tail(z), s)
    twice = add(half, half)
    return SELECT(FLT(a, HALF), near, SELECT(FLT(x, ZERO), add(sub(PI, twice), PI_2), twice))


ERF = (1.1283791261787373, -0.37612343775327806, 0.11280316652505075, -0.02671505423226643, 0.004921762027877231,
       -0.0005648059865503044)
ERFC = (1.2329951185139325, -0.13962107968637008, 0.01537970682194607, 0.06809498537387029, -0.10104215848619706,
        0.09376390773777747, -0.06627775569893443, 0.03699884419347667, -0.016536795680040395, 0.005291934408707516)
ELEVEN, FOUR, CLOSE = F(11.0), F(4.0), F(0.9)


def erfc_of_large(a):
    """erfc(a) for a >= 0.9."""
    a = SELECT(FGT(a, ELEVEN), ELEVEN, a)
    square = mul(a, a)
    lost = fma(a, a, neg(square))
    scale = exp(neg(square))
    t = quotient(sub(a, FOUR), add(a, FOUR))
    return mul(fma(neg(scale), lost, scale), quotient(POLYNOMIAL(t, coefficients=ERFC), fma(TWO, a, ONE)))


def erf(x):
    a = FABS(x)
    small = mul(x, POLYNOMIAL(mul(x, x), coefficients=ERF))
    return SELECT(FGT(a, ONE), COPYSIGN(sub(ONE, erfc_of_large(a)), x), small)


def erfc(x):
    a = FABS(x)
    small = sub(ONE, mul(x, POLYNOMIAL(mul(x, x), coefficients=ERF)))
    large = erfc_of_large(a)
    return SELECT(FGT(a, CLOSE), SELECT(FLT(x, ZERO), sub(TWO, large), large), small)


def hypot(x, y):
    x, y = FABS(x), FABS(y)
    swap = FGT(y, x)
    big, low = SELECT(swap, y, x), SELECT(swap, x, y)
    r = div(low, big)
    found = SELECT(FEQ(low, ZERO), big, mul(big, sqrt(fma(r, r, ONE))))
    return SELECT(BOR(FEQ(x, INF), FEQ(y, INF)), INF, found)


LEAST, BACK = F(1e-45), N(-1)


def nextafter(x, y):
    away = IADD(BITS32(x), SELECT(BXOR(FLT(x, y), FLT(x, ZERO)), N1, BACK))
    near = SELECT(FEQ(x, ZERO), COPYSIGN(LEAST, y), FROM_BITS32(away))
    return SELECT(BAND(FEQ(x, x), FEQ(y, y)), SELECT(FEQ(x, y), y, near), add(x, y))
