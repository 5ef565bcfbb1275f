"""Powers and roots, see vector.py."""
from __future__ import annotations

from ...ops.arith import BAND, BNOT, BOR, FEQ, FGE, FGT, FLT, FNE, ILT
from ...ops.math import BITS, COPYSIGN, FABS, POLYNOMIAL, POW, RINT
from ...ops.structure import SELECT
from .vector import LN2, MAGIC, add, div, fma, integer, mul, neg, power_of_two, sqrt, sub
from .vector_exp import EXP_SINGLE, TAIL, clipped
from .vector_log import INV_LN2, series_single, split, split_any, to_float

__all__ = ["power", "power_single", "cbrt", "cbrt_single", "hypot", "hypot_single"]

# ((atanh(s) / s - 1) / z - 1/3) / z, z = s**2, s as in log(1 + f) = 2 * atanh(s)
ATANH = (0.2, 0.14285714285714685, 0.11111111110826383, 0.09090909168049924, 0.0769229744350359, 0.0666740439940617,
         0.05853063232281699, 0.058621635304233734)
THIRD, THIRD_LOW = 0.3333333333333333, 1.850371707708594e-17
TWO_LOG2E, TWO_LOG2E_LOW = 2.8853900817779268, 4.0710547481862066e-17
LN2_REST = 2.3190468138462996e-17  # ln(2) - LN2
INVERSE_CBRT = (1.53776026627287, -0.8012745696637373, 0.3118472681731596, -0.04863305334283885)  # m**(-1/3), 1 <= m <= 2
CBRT_2, CBRT_HALF = 1.2599210498948732, 0.7937005259840998
INF = float("inf")


def power(x, y):
    """2 ** (y * log2(|x|)), the logarithm and the product in twice the precision, so that exact results are exact. The C library
    has what is very small, very large or not finite, and negative numbers to fractional powers. (The limits are none that
    LLVM would take for tests of the class of a number: it has no vectors of those.)"""
    a = FABS(x)
    high, low = log2_exact(a)
    p = mul(high, y)
    rest = fma(low, y, fma(high, y, neg(p)))
    found = signed(exp2_exact(p, rest), x, y)
    if BNOT(usual(BAND(BAND(FGT(a, 2.0**-1020), FLT(a, 2.0**1020)), FLT(FABS(p), 1021.0)), x, y)):
        found = POW(x, y, rare=True)
    return found


def signed(found, x, y):
    """|x| ** y as x ** y, for 0 too."""
    half = mul(0.5, y)
    found = SELECT(FEQ(x, 0.0), SELECT(FLT(y, 0.0), INF, 0.0), found)
    odd = BAND(FEQ(RINT(y), y), FNE(RINT(half), half))
    return SELECT(BAND(odd, ILT(BITS(x), 0)), neg(found), found)


def usual(fits, x, y):
    """Whether x and y are none of the cases that are left to the C library."""
    zero = BAND(FEQ(x, 0.0), BAND(FNE(y, 0.0), FLT(FABS(y), 2.0**1020)))
    return BAND(BOR(fits, zero), BOR(FGE(x, 0.0), FEQ(RINT(y), y)))


def log2_exact(x):
    """log2 of a positive normal x as the sum of two numbers, to about 68 bits."""
    f, k = split(x)
    d = add(2.0, f)
    lost = sub(f, sub(d, 2.0))
    inverse = div(1.0, d)
    s = mul(f, inverse)
    s2 = mul(sub(fma(s, neg(d), f), mul(s, lost)), inverse)  # s + s2 = f / (2 + f)
    z = mul(s, s)
    z2 = fma(add(s, s), s2, fma(s, s, neg(z)))
    a = mul(z, POLYNOMIAL(z, coefficients=ATANH))
    t = add(THIRD, a)
    t2 = add(sub(a, sub(t, THIRD)), THIRD_LOW)
    w = mul(z, t)
    w2 = fma(z, t2, fma(z2, t, fma(z, t, neg(w))))
    v = add(1.0, w)
    v2 = add(sub(w, sub(v, 1.0)), w2)
    c = mul(s, TWO_LOG2E)
    c2 = fma(s2, TWO_LOG2E, fma(s, TWO_LOG2E_LOW, fma(s, TWO_LOG2E, neg(c))))
    g = mul(c, v)
    g2 = fma(c2, v, fma(c, v2, fma(c, v, neg(g))))
    n = to_float(k)
    high = add(n, g)
    return high, add(add(sub(n, high), g), g2)


def exp2_exact(p, rest):
    """2 ** (p + rest), |p| < 1022, a rest about the last place of p."""
    shifted = add(p, MAGIC)
    whole = sub(p, sub(shifted, MAGIC))
    r = add(whole, rest)
    t = mul(r, LN2)
    t2 = fma(add(sub(whole, r), rest), LN2, fma(r, LN2_REST, fma(r, LN2, neg(t))))
    high = add(1.0, t)
    low = add(sub(t, sub(high, 1.0)), fma(mul(t, t), POLYNOMIAL(t, coefficients=TAIL), fma(t, t2, t2)))
    return mul(add(high, low), power_of_two(integer(shifted)))


def power_single(x, y):
    a = FABS(x)
    f, k = split(a)
    p = clipped(mul(fma(series_single(f), INV_LN2, to_float(k)), y), 300.0)
    shifted = add(p, MAGIC)
    r = mul(sub(p, sub(shifted, MAGIC)), LN2)
    found = signed(mul(POLYNOMIAL(r, coefficients=EXP_SINGLE), power_of_two(integer(shifted))), x, y)
    if BNOT(usual(BAND(BAND(FGT(a, 1e-46), FLT(a, 1e39)), FLT(FABS(y), 1e39)), x, y)):
        found = POW(x, y, rare=True)
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
    """Halley's iteration for the inverse, then Newton's with the remainder in full."""
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
