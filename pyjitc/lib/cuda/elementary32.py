"""Elementary functions for GPUs in single precision, computed in single precision: doubles cost up to 64 times as much
there.

The methods are those of elementary.py with fewer terms; sources are Cephes's single precision library and msun.
Functions that are missing here are computed in double.
"""
from __future__ import annotations

import numpy as np

from ...ops.arith import (
    BAND, BOR, BXOR, FADD, FDIV, FEQ, FGT, FLT, FMUL, FNEG, FSUB, IADD, IAND, INE, ISHL, ISHR, ISUB, IXOR,
)
from ...ops.gpu import HORNER, RECIPROCAL
from ...ops.math import BITS32, COPYSIGN, COS, FABS, FMA, FROM_BITS32, SIGNBIT, SIN, SQRT, TAN
from ...ops.structure import SELECT

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "cbrt", "sinh", "cosh", "log2", "log10", "sin", "cos", "tan", "tanh",
           "atan", "atan2", "asin", "acos", "erf", "erfc", "hypot", "nextafter"]

F, N = np.float32, np.int32
INF, NAN, ZERO, ONE, TWO, HALF = F(np.inf), F(np.nan), F(0), F(1), F(2), F(0.5)
MAGIC, MAGIC_BITS = F(12582912.0), N(0x4B400000)
LOG2E, LN2_HIGH, LN2_LOW, LN2 = (F(1.4426950408889634), F(0.693145751953125), F(1.42860682030941723212e-6),
                                 F(0.6931471805599453))
TAYLOR = (0.5, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4)
CLIP, CLIP2 = F(104.0), F(150.0)
N23, N127, N1, N0 = N(23), N(127), N(1), N(0)


def power_of_two(k):
    return FROM_BITS32(ISHL(IADD(k, N127), N23))


def scaled(p, shifted):
    k = ISUB(BITS32(shifted), MAGIC_BITS)
    half = ISHR(k, N1)
    return FMUL(FMUL(p, power_of_two(half)), power_of_two(ISUB(k, half)))


def clipped(x, limit):
    y = SELECT(FGT(x, limit), limit, x)
    return SELECT(FLT(y, FNEG(limit)), FNEG(limit), y)


def quotient(x, y):
    """x / y within 1 ulp, where y, 1 / y and the result are normal numbers."""
    r = RECIPROCAL(y)
    q = FMUL(x, r)
    return FMA(FMA(FNEG(q), y, x), r, q)


def exp(x):
    y = clipped(x, CLIP)
    shifted = FMA(y, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, FNEG(LN2_LOW), FMA(n, FNEG(LN2_HIGH), y))
    return scaled(FADD(ONE, FMA(FMUL(r, r), HORNER(r, coefficients=TAYLOR), r)), shifted)


def exp2(x):
    y = clipped(x, CLIP2)
    shifted = FADD(y, MAGIC)
    r = FMUL(FSUB(y, FSUB(shifted, MAGIC)), LN2)
    return scaled(FADD(ONE, FMA(FMUL(r, r), HORNER(r, coefficients=TAYLOR), r)), shifted)


FORTY, EIGHTY = F(40.0), F(87.0)


def expm1(x):
    y = clipped(x, EIGHTY)
    shifted = FMA(y, LOG2E, MAGIC)
    n = FSUB(shifted, MAGIC)
    r = FMA(n, FNEG(LN2_LOW), FMA(n, FNEG(LN2_HIGH), y))
    s = power_of_two(ISUB(BITS32(shifted), MAGIC_BITS))
    small = FMA(s, FMA(FMUL(r, r), HORNER(r, coefficients=TAYLOR), r), FSUB(s, ONE))
    return SELECT(FGT(FABS(x), FORTY), FSUB(exp(x), ONE), SELECT(FEQ(x, ZERO), x, small))


LOG_TAIL = (0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841)
TINY, UP = F(1.17549435e-38), F(8388608.0)
OFFSET, ROOT_HALF, MANTISSA = N(0x3F800000 - 0x3F3504F3), N(0x3F3504F3), N(0x007FFFFF)


def parts(x):
    """(k, f): x = 2**k * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)."""
    small = FLT(x, TINY)
    u = IADD(BITS32(SELECT(small, FMUL(x, UP), x)), OFFSET)
    k = ISUB(ISUB(ISHR(u, N23), N127), SELECT(small, N23, N0))
    return FSUB(FROM_BITS32(IADD(k, MAGIC_BITS)), MAGIC), FSUB(FROM_BITS32(IADD(IAND(u, MANTISSA), ROOT_HALF)), ONE)


def log_rest(f):
    """(h, r): log(1 + f) = f - (h - r)."""
    s = quotient(f, FADD(TWO, f))
    z = FMUL(s, s)
    half = FMUL(FMUL(HALF, f), f)
    return half, FMUL(s, FMA(z, HORNER(z, coefficients=LOG_TAIL), half))


def at_ends(x, found):
    found = SELECT(FLT(x, INF), found, x)
    found = SELECT(FEQ(x, ZERO), FNEG(INF), found)
    return SELECT(FLT(x, ZERO), NAN, found)


def log(x):
    n, f = parts(x)
    half, rest = log_rest(f)
    return at_ends(x, FMA(n, LN2_HIGH, FSUB(f, FSUB(half, FMA(n, LN2_LOW, rest)))))


INV_LN2_HIGH, INV_LN2_LOW = F(1.4428710938e+00), F(-1.7605285393e-04)
INV_LN10_HIGH, INV_LN10_LOW, LOG10_2_HIGH, LOG10_2_LOW = (F(4.3432617188e-01), F(-3.1689971365e-05),
                                                          F(3.0102920532e-01), F(7.9034151668e-07))
UPPER = N(-0x1000)


def scaled_log(f, high, low):
    """log(1 + f) / log(base), in two parts."""
    half, rest = log_rest(f)
    large = FROM_BITS32(IAND(BITS32(FSUB(f, half)), UPPER))
    small = FADD(FSUB(FSUB(f, large), half), rest)
    return FMUL(large, high), FADD(FMUL(FADD(small, large), low), FMUL(small, high))


def log2(x):
    n, f = parts(x)
    large, small = scaled_log(f, INV_LN2_HIGH, INV_LN2_LOW)
    total = FADD(n, large)
    return at_ends(x, FADD(FADD(small, FADD(FSUB(n, total), large)), total))


def log10(x):
    n, f = parts(x)
    large, small = scaled_log(f, INV_LN10_HIGH, INV_LN10_LOW)
    y = FMUL(n, LOG10_2_HIGH)
    total = FADD(y, large)
    return at_ends(x, FADD(FADD(FMA(n, LOG10_2_LOW, small), FADD(FSUB(y, total), large)), total))


SLIGHT, THIRD = F(3e-8), F(0.3333333333333333)


def log1p(x):
    u = FADD(ONE, x)
    lost = SELECT(FGT(FABS(x), ONE), FSUB(ONE, FSUB(u, x)), FSUB(x, FSUB(u, ONE)))
    found = FADD(log(u), FMUL(lost, RECIPROCAL(u)))
    found = SELECT(FLT(FABS(x), SLIGHT), x, found)
    return SELECT(FLT(x, INF), SELECT(FEQ(x, FNEG(ONE)), FNEG(INF), found), x)


def cbrt(x):
    size = FABS(x)
    y = exp(FMUL(log(size), THIRD))
    y = FSUB(y, FMUL(FMA(FMUL(y, y), y, FNEG(size)), FMUL(THIRD, RECIPROCAL(FMUL(y, y)))))
    return SELECT(FGT(size, ZERO), SELECT(FLT(size, INF), COPYSIGN(y, x), x), x)


def sinh(x):
    a = FABS(x)
    e = expm1(SELECT(FGT(a, FORTY), ZERO, a))
    large = exp(FMUL(a, HALF))
    found = SELECT(FGT(a, FORTY), FMUL(FMUL(HALF, large), large), FMUL(HALF, FADD(e, quotient(e, FADD(e, ONE)))))
    return COPYSIGN(found, x)


def cosh(x):
    a = FABS(x)
    e = exp(SELECT(FGT(a, FORTY), ZERO, a))
    large = exp(FMUL(a, HALF))
    return SELECT(FGT(a, FORTY), FMUL(FMUL(HALF, large), large), FADD(FMUL(HALF, e), quotient(HALF, e)))


TWO_OVER_PI, HALF_PI, HALF_PI_2, HALF_PI_3 = (F(0.6366197723675814), F(1.5707963705062866), F(-4.371138828673793e-08),
                                              F(-1.7151245100058819e-15))
LARGE = F(100000.0)  # above it computed in double
SINE = (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4)
COSINE = (-0.5, 4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)
N30, N31, N2 = N(30), N(31), N(2)


def quarter(x):
    shifted = FMA(x, TWO_OVER_PI, MAGIC)
    n = FSUB(shifted, MAGIC)
    return FMA(n, FNEG(HALF_PI_3), FMA(n, FNEG(HALF_PI_2), FMA(n, FNEG(HALF_PI), x))), BITS32(shifted)


def sine(r):
    z = FMUL(r, r)
    return FMA(FMUL(z, HORNER(z, coefficients=SINE)), r, r)


def cosine(r):
    z = FMUL(r, r)
    return FMA(z, HORNER(z, coefficients=COSINE), ONE)


def turned(k, even, odd):
    return FROM_BITS32(IXOR(BITS32(SELECT(INE(IAND(k, N1), N0), odd, even)), ISHL(IAND(k, N2), N30)))


def sin(x):
    r, k = quarter(x)
    found = SELECT(FEQ(x, ZERO), x, turned(k, sine(r), cosine(r)))
    if FGT(FABS(x), LARGE):
        found = F(SIN(float(x)))
    return found


def cos(x):
    r, k = quarter(x)
    found = turned(IADD(k, N1), sine(r), cosine(r))
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


TANH = (-3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3)
NEAR, FAR = F(0.625), F(10.0)


def tanh(x):
    a = FABS(x)
    z = FMUL(x, x)
    small = FMA(FMUL(z, HORNER(z, coefficients=TANH)), x, x)
    b = SELECT(FGT(a, FAR), FAR, a)
    large = COPYSIGN(FSUB(ONE, FMUL(TWO, RECIPROCAL(FADD(exp(FADD(b, b)), ONE)))), x)
    return SELECT(FGT(a, NEAR), large, small)


ATAN = (-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2)
TAN_3PI8, TAN_PI8, QUARTER_PI, PI, PI_2 = (F(2.414213562373095), F(0.4142135623730950), F(0.7853981633974483),
                                           F(3.1415927410125732), F(-8.742277657347586e-08))


def atan(x):
    a = FABS(x)
    large, middle = FGT(a, TAN_3PI8), FGT(a, TAN_PI8)
    base = SELECT(large, HALF_PI, SELECT(middle, QUARTER_PI, ZERO))
    y = FDIV(SELECT(large, FNEG(ONE), SELECT(middle, FSUB(a, ONE), a)),
             SELECT(large, a, SELECT(middle, FADD(a, ONE), ONE)))
    z = FMUL(y, y)
    return COPYSIGN(FADD(base, FMA(FMUL(z, HORNER(z, coefficients=ATAN)), y, y)), x)


def atan2(y, x):
    a, b = FABS(x), FABS(y)
    swap = FGT(b, a)
    below = SELECT(swap, b, a)
    t = FDIV(SELECT(swap, a, b), below)
    t = SELECT(FEQ(below, ZERO), ZERO, SELECT(FEQ(a, b), ONE, t))
    r = atan(t)
    r = SELECT(swap, FADD(FSUB(HALF_PI, r), HALF_PI_2), r)
    r = SELECT(SIGNBIT(x), FADD(FSUB(PI, r), PI_2), r)
    return SELECT(BAND(FEQ(x, x), FEQ(y, y)), COPYSIGN(r, y), FADD(x, y))


ASIN_P, ASIN_Q = (1.6666586697e-01, -4.2743422091e-02, -8.6563630030e-03), F(-7.0662963390e-01)


def arc_tail(z):
    return FMUL(z, quotient(HORNER(z, coefficients=ASIN_P), FMA(z, ASIN_Q, ONE)))


def asin(x):
    a = FABS(x)
    near = FMA(a, arc_tail(FMUL(a, a)), a)
    z = FMUL(HALF, FSUB(ONE, a))
    s = SQRT(z)
    half = FMA(s, arc_tail(z), s)
    far = FADD(FSUB(HALF_PI, FADD(half, half)), HALF_PI_2)
    return COPYSIGN(SELECT(FLT(a, HALF), near, far), x)


def acos(x):
    a = FABS(x)
    near = FSUB(HALF_PI, FSUB(x, FSUB(HALF_PI_2, FMUL(x, arc_tail(FMUL(a, a))))))
    z = FMUL(HALF, FSUB(ONE, a))
    s = SQRT(z)
    half = FMA(s, arc_tail(z), s)
    twice = FADD(half, half)
    return SELECT(FLT(a, HALF), near, SELECT(FLT(x, ZERO), FADD(FSUB(PI, twice), PI_2), twice))


ERF = (1.1283791261787373, -0.37612343775327806, 0.11280316652505075, -0.02671505423226643, 0.004921762027877231,
       -0.0005648059865503044)
ERFC = (1.2329951185139325, -0.13962107968637008, 0.01537970682194607, 0.06809498537387029, -0.10104215848619706,
        0.09376390773777747, -0.06627775569893443, 0.03699884419347667, -0.016536795680040395, 0.005291934408707516)
ELEVEN, FOUR, CLOSE = F(11.0), F(4.0), F(0.9)


def erfc_of_large(a):
    """erfc(a) for a >= 0.9."""
    a = SELECT(FGT(a, ELEVEN), ELEVEN, a)
    square = FMUL(a, a)
    lost = FMA(a, a, FNEG(square))
    scale = exp(FNEG(square))
    t = quotient(FSUB(a, FOUR), FADD(a, FOUR))
    return FMUL(FMA(FNEG(scale), lost, scale), quotient(HORNER(t, coefficients=ERFC), FMA(TWO, a, ONE)))


def erf(x):
    a = FABS(x)
    small = FMUL(x, HORNER(FMUL(x, x), coefficients=ERF))
    return SELECT(FGT(a, ONE), COPYSIGN(FSUB(ONE, erfc_of_large(a)), x), small)


def erfc(x):
    a = FABS(x)
    small = FSUB(ONE, FMUL(x, HORNER(FMUL(x, x), coefficients=ERF)))
    large = erfc_of_large(a)
    return SELECT(FGT(a, CLOSE), SELECT(FLT(x, ZERO), FSUB(TWO, large), large), small)


def hypot(x, y):
    x, y = FABS(x), FABS(y)
    swap = FGT(y, x)
    big, low = SELECT(swap, y, x), SELECT(swap, x, y)
    r = FDIV(low, big)
    found = SELECT(FEQ(low, ZERO), big, FMUL(big, SQRT(FMA(r, r, ONE))))
    return SELECT(BOR(FEQ(x, INF), FEQ(y, INF)), INF, found)


LEAST, BACK = F(1e-45), N(-1)


def nextafter(x, y):
    away = IADD(BITS32(x), SELECT(BXOR(FLT(x, y), FLT(x, ZERO)), N1, BACK))
    near = SELECT(FEQ(x, ZERO), COPYSIGN(LEAST, y), FROM_BITS32(away))
    return SELECT(BAND(FEQ(x, x), FEQ(y, y)), SELECT(FEQ(x, y), y, near), FADD(x, y))
