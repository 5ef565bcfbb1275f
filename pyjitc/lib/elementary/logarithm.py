"""Logarithms and inverse hyperbolic functions, see blocks.py.

log(1 + f) after FreeBSD's e_log.c: with s = f / (2 + f), it is f - f**2 / 2 + s * (f**2 / 2 + R(s**2)).
"""
from __future__ import annotations

from ...ops.arith import FEQ, FGT, FLT, IADD, IAND, IEQ, ILT, ISHR, ISUB
from ...ops.math import BITS, COPYSIGN, FABS, FROM_BITS, POLYNOMIAL
from ...ops.structure import SELECT
from .blocks import LN2, LN2_HIGH, LN2_LOW, MAGIC, MAGIC_BITS, add, div, fma, mul, neg, quotient, sqrt, sub

__all__ = ["log", "log_single", "log2", "log2_single", "log10", "log10_single", "log1p", "log1p_single", "asinh",
           "asinh_single", "acosh", "acosh_single", "atanh", "atanh_single", "split"]

# R(z) / z, coefficients of FreeBSD's e_log.c
SERIES = (6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
          1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01)
MINUS_SERIES = tuple(-c for c in SERIES)
SERIES_SINGLE = (0.6666666655404201, 0.4000012221181065, 0.28550778633191964, 0.23331614471843498)
INV_LN2, INV_LN2_LOW = 1.4426950408889634, 2.0355273740931033e-17
INV_LN10, INV_LN10_LOW = 0.4342944819032518, 1.098319650216765e-17
LOG10_2_HIGH, LOG10_2_LOW = 3.01029995663611771306e-01, 3.69423907715893078616e-13  # the first ends in zero bits
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
ONE_BITS = 0x3FF0000000000000
LEAST_NORMAL_BITS = 0x0010000000000000
INF, NAN = float("inf"), float("nan")


def split(x):
    """(f, k): x = 2**k * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for a positive normal x."""
    return split_bits(BITS(x))


def split_bits(bits):
    u = IADD(bits, ONE_BITS - ROOT_HALF_BITS)
    return sub(FROM_BITS(IADD(IAND(u, 0x000FFFFFFFFFFFFF), ROOT_HALF_BITS)), 1.0), ISUB(ISHR(u, 52), 1023)


def split_any(x):
    """(f, n): the same for any positive number, n = k as a float. Ints are compared, and one of two is chosen, in less
    time than floats."""
    bits = BITS(x)
    small = ILT(bits, LEAST_NORMAL_BITS)
    f, k = split_bits(SELECT(small, BITS(mul(x, 18014398509481984.0)), bits))
    return f, to_float(ISUB(k, SELECT(small, 54, 0)))


def to_float(k):
    return sub(FROM_BITS(IADD(k, MAGIC_BITS)), MAGIC)


def series(f):
    """(f**2 / 2, s * (f**2 / 2 + R(s**2)))"""
    s = quotient(f, add(2.0, f))
    z = mul(s, s)
    half = mul(mul(0.5, f), f)
    return half, mul(s, fma(z, POLYNOMIAL(z, coefficients=SERIES), half))


def series_single(f):
    """log(1 + f) to float32's accuracy."""
    s = quotient(f, add(2.0, f))
    z = mul(s, s)
    half = mul(mul(0.5, f), f)
    return sub(f, sub(half, mul(s, fma(z, POLYNOMIAL(z, coefficients=SERIES_SINGLE), half))))


def at_ends(found, x):
    """The logarithm of any x; `found` is its value if x is positive and finite."""
    found = SELECT(FLT(x, INF), found, x)  # inf and nan
    found = SELECT(FEQ(x, 0.0), -INF, found)
    return SELECT(FLT(x, 0.0), NAN, found)


def log(x):
    """log(1 + f) = f - s * (f - R(s**2)), written with fewer operations; n * log(2) is added in two parts so that no
    digits of it are lost."""
    f, n = split_any(x)
    s = quotient(f, sub(-2.0, f))
    z = mul(s, s)
    return at_ends(fma(n, LN2_HIGH, fma(s, fma(z, POLYNOMIAL(z, coefficients=MINUS_SERIES), f), fma(n, LN2_LOW, f))), x)


def log_single(x):
    """The logarithm of a float32, which as a double is never subnormal."""
    f, k = split(x)
    return at_ends(fma(to_float(k), LN2, series_single(f)), x)


def in_base(f, high, low):
    """log(1 + f) * (high + low) as the sum of two numbers."""
    half, rest = series(f)
    first = sub(f, half)
    second = add(sub(sub(f, first), half), rest)
    product = mul(first, high)
    return product, add(neg(fma(first, -high, product)), fma(second, high, mul(first, low)))


def log2(x):
    f, n = split_any(x)
    first, second = in_base(f, INV_LN2, INV_LN2_LOW)
    total = add(n, first)
    return at_ends(add(total, add(add(sub(n, total), first), second)), x)


def log2_single(x):
    f, k = split(x)
    return at_ends(fma(series_single(f), INV_LN2, to_float(k)), x)


def log10(x):
    f, n = split_any(x)
    first, second = in_base(f, INV_LN10, INV_LN10_LOW)
    whole = mul(n, LOG10_2_HIGH)
    total = add(whole, first)
    return at_ends(add(total, add(add(sub(whole, total), first), fma(n, LOG10_2_LOW, second))), x)


def log10_single(x):
    f, k = split(x)
    return at_ends(fma(to_float(k), LOG10_2_HIGH + LOG10_2_LOW, mul(series_single(f), INV_LN10)), x)


def one_more(x, low, doubled):
    """log(1 + x + low), plus ln(2) where `doubled`, for x > -1 and a `low` smaller than the last place of x."""
    u = add(1.0, x)
    back = sub(u, 1.0)
    lost = add(sub(1.0, sub(u, back)), sub(x, back))
    f, k = split(u)
    near = IEQ(k, 0)  # here x itself is f
    f = SELECT(near, x, f)
    low = div(add(SELECT(near, 0.0, lost), low), u)
    n = to_float(IADD(k, SELECT(doubled, 1, 0)))
    half, rest = series(f)
    return SELECT(FLT(x, INF), fma(n, LN2_HIGH, sub(f, sub(half, add(fma(n, LN2_LOW, rest), low)))), x)


def one_more_single(x):
    f, k = split(add(1.0, x))
    f = SELECT(IEQ(k, 0), x, f)
    return SELECT(FLT(x, INF), fma(to_float(k), LN2, series_single(f)), x)


def log1p(x):
    found = SELECT(FEQ(x, -1.0), -INF, one_more(x, 0.0, False))
    found = SELECT(FLT(x, -1.0), NAN, found)
    return SELECT(FLT(FABS(x), 2.0**-54), x, found)


def log1p_single(x):
    found = SELECT(FEQ(x, -1.0), -INF, one_more_single(x))
    found = SELECT(FLT(x, -1.0), NAN, found)
    return SELECT(FEQ(x, 0.0), x, found)


def asinh(x):
    """log(1 + t), t = |x| + x**2 / (1 + sqrt(1 + x**2)); of large x log(2 * |x|)."""
    a = FABS(x)
    square = mul(a, a)
    grown = div(square, add(1.0, sqrt(add(1.0, square))))
    t = add(a, grown)
    large = FGT(a, 2.0**28)
    found = one_more(SELECT(large, sub(a, 1.0), t), SELECT(large, 0.0, add(sub(a, t), grown)), large)
    return SELECT(FLT(a, 2.0**-28), x, COPYSIGN(found, x))


def asinh_single(x):
    a = FABS(x)
    square = mul(a, a)
    found = one_more_single(add(a, div(square, add(1.0, sqrt(add(1.0, square))))))
    return COPYSIGN(SELECT(FLT(a, INF), found, a), x)


def acosh(x):
    """log(1 + t + sqrt(t * (t + 2))), t = x - 1; of large x log(2 * x)."""
    t = sub(x, 1.0)
    root = sqrt(mul(t, add(t, 2.0)))
    total = add(root, t)
    large = FGT(x, 2.0**28)
    found = one_more(SELECT(large, t, total), SELECT(large, 0.0, add(sub(root, total), t)), large)
    return SELECT(FLT(x, 1.0), NAN, found)


def acosh_single(x):
    t = sub(x, 1.0)
    return SELECT(FLT(x, 1.0), NAN, one_more_single(add(t, sqrt(mul(t, add(t, 2.0))))))


def atanh(x):
    """log(1 + 2 * |x| / (1 - |x|)) / 2"""
    a = FABS(x)
    d = sub(1.0, a)
    inverse = div(1.0, d)
    q = mul(add(a, a), inverse)
    low = mul(fma(q, neg(sub(sub(1.0, d), a)), fma(q, neg(d), add(a, a))), inverse)
    found = SELECT(FGT(a, 1.0), NAN, mul(0.5, one_more(q, low, False)))
    return SELECT(FLT(a, 2.0**-28), x, COPYSIGN(found, x))


def atanh_single(x):
    a = FABS(x)
    found = mul(0.5, one_more_single(div(add(a, a), sub(1.0, a))))
    return COPYSIGN(SELECT(FGT(a, 1.0), NAN, found), x)
