"""Library functions of the `math` module, in the compiled subset, after CPython's Modules/mathmodule.c.

The messages differ between versions: they are this interpreter's.
"""
from __future__ import annotations

import math
import sys

from ...ops.arith import CAST, FDIV, FREM, IABS_CK, IFLOORDIV, IMUL_CK, TRUNCATE
from ...ops.math import (
    COPYSIGN, COS, EXP, FABS, FLOOR, FMA, LDEXP, LOG, NEXTAFTER, POW, REMAINDER, ROUND, SIN, SQRT, STOPPED, TRUNC,
)
from ...types.kinds import Float, Int, uint64
from ..build import by_value, outlined, provoked
from .numbers import FLOAT_DIVISION, float_parts, float_rem

INF, NAN, PI = math.inf, math.nan, math.pi
DOMAIN = provoked(math.sqrt, -1.0)
RANGE = provoked(math.exp, 1000.0)
LOG_DOMAIN = provoked(math.log, -1.0)
FACTORIAL = provoked(math.factorial, -1)
ISQRT = provoked(math.isqrt, -1)
COMB_N = provoked(math.comb, -1, 2)
COMB_K = provoked(math.comb, 1, -2)
PERM_N = provoked(math.perm, -1, 2)
PERM_K = provoked(math.perm, 1, -2)
TOLERANCE = provoked(lambda: math.isclose(1, 2, rel_tol=-1))
POLE_AT_MINUS_INFINITY = sys.version_info < (3, 11)
EXACT_NORM = sys.version_info >= (3, 12)

# ---------------------------------------------------------------- integers


def gcd(x, y):
    x, y = magnitude(x), magnitude(y)
    while y != 0:
        x, y = y, x % y
    if x > 9223372036854775807:
        raise OverflowError("integer overflow: gcd() does not fit in 64 bits")
    return CAST(x, type=Int)


def magnitude(x):
    """|x| as uint64, which has room for the magnitude of the least int, too."""
    bits = CAST(x, type=uint64)
    return bits if x >= 0 else CAST(0, type=uint64) - bits


def lcm(x, y):
    if x == 0 or y == 0:
        return 0
    return IABS_CK(IMUL_CK(IFLOORDIV(x, gcd(x, y)), y))


def isqrt(n):
    if n < 0:
        raise ValueError(ISQRT)
    root = TRUNCATE(SQRT(CAST(n, type=Float)))
    if root > 3037000499:
        root = 3037000499
    if root * root > n:
        root = root - 1
    elif root < 3037000499 and (root + 1) * (root + 1) <= n:
        root = root + 1
    return root


def factorial(n):
    if n < 0:
        raise ValueError(FACTORIAL)
    result = 1
    while n > 1:
        result = IMUL_CK(result, n)
        n = n - 1
    return result


def comb(n, k):
    if n < 0:
        raise ValueError(COMB_N)
    if k < 0:
        raise ValueError(COMB_K)
    if k > n:
        return 0
    if k > n - k:
        k = n - k
    result = 1
    i = 0
    while i < k:
        i = i + 1
        factor = n - k + i
        common = gcd(result, i)  # result * factor / i without an early overflow of 64 bits
        result = IMUL_CK(IFLOORDIV(result, common), IFLOORDIV(factor, IFLOORDIV(i, common)))
    return result


def perm(n, k):
    if n < 0:
        raise ValueError(PERM_N)
    if k < 0:
        raise ValueError(PERM_K)
    if k > n:
        return 0
    result = 1
    while k > 0:
        result = IMUL_CK(result, n)
        n = n - 1
        k = k - 1
    return result


# ---------------------------------------------------------------- floats


def log_base(x, base):
    if base == 0.0:
        raise ZeroDivisionError(FLOAT_DIVISION)
    return FDIV(x, base)


def power(x, y):
    """math_pow: C's pow, with the error that its errno would report."""
    result = POW(x, y)
    if FABS(result) < INF:
        return result
    if FABS(x) < INF and FABS(y) < INF:
        if result != result or x == 0.0:
            raise ValueError(DOMAIN)
        raise OverflowError(RANGE)
    if POLE_AT_MINUS_INFINITY and x == 0.0 and y == -INF:
        raise ValueError(DOMAIN)
    return result


def fmod(x, y):
    if FABS(y) == INF and FABS(x) < INF:
        return x
    result = float_rem(x, y)
    if result != result and x == x and y == y:
        raise ValueError(DOMAIN)
    return result


def remainder(x, y):
    result = REMAINDER(x, y)
    if result != result and x == x and y == y:
        raise ValueError(DOMAIN)
    return result


def fma(x, y, z):
    result = FMA(x, y, z)
    if FABS(result) < INF:
        return result
    if result != result:
        if x == x and y == y and z == z:
            raise ValueError("invalid operation in fma")
    elif FABS(x) < INF and FABS(y) < INF and FABS(z) < INF:
        raise OverflowError("overflow in fma")
    return result


def modf(x):
    if FABS(x) == INF:
        return COPYSIGN(0.0, x), x
    whole = TRUNC(x)
    return COPYSIGN(x - whole, x), whole


def frexp(x):
    if x == 0.0 or not FABS(x) < INF:
        return x, 0
    fraction, exponent = float_parts(FABS(x))
    return COPYSIGN(fraction, x), exponent


def ldexp(x, n):
    result = LDEXP(x, n)
    if FABS(result) == INF and FABS(x) < INF:
        raise OverflowError(RANGE)
    return result


def ulp(x):
    if x != x:
        return x
    x = FABS(x)
    if x == INF:
        return x
    above = NEXTAFTER(x, INF)
    if above == INF:
        return x - NEXTAFTER(x, -INF)
    return above - x


def isclose(a, b, relative, absolute):
    if relative < 0.0 or absolute < 0.0:
        raise ValueError(TOLERANCE)
    if a == b:
        return True
    if FABS(a) == INF or FABS(b) == INF:
        return False
    distance = FABS(b - a)
    return distance <= FABS(relative * b) or distance <= FABS(relative * a) or distance <= absolute


# ---------------------------------------------------------------- length of vectors


def dist(p, q):
    return vector_norm(differences(p, q, 0))


def differences(p, q, i):
    if i == len(p):
        return ()
    return (FABS(p[i] - q[i]),) + differences(p, q, i + 1)


def largest(values, i):
    """(greatest of values[i:], whether one is nan)."""
    if i == len(values):
        return 0.0, False
    top, nan = largest(values, i + 1)
    x = values[i]
    return (x if x > top else top), nan or x != x


def exact_norm(values, exponent):
    """`vector_norm` of values of which the largest has this exponent, as Python computes it since 3.12."""
    scale = LDEXP(1.0, -exponent)
    total, fraction1, fraction2, _ = squares_fma(values, scale, 0, 1.0, 0.0, 0.0)
    h = SQRT(total - 1.0 + (fraction1 + fraction2))
    product = -h * h
    rest = FMA(-h, h, -product)
    total, fraction1, fraction2 = add_square(total, fraction1, fraction2, product, rest)
    x = total - 1.0 + (fraction1 + fraction2)
    h = h + FDIV(x, 2.0 * h)
    return FDIV(h, scale)


def vector_norm(values):
    """Square root of the sum of squares of non-negative floats, with a correction that makes it nearly exact."""
    top, nan = largest(values, 0)
    if top == INF:
        return top
    if nan:
        return NAN
    if top == 0.0:
        return STOPPED(top)
    if len(values) <= 1:
        return top
    _, exponent = float_parts(STOPPED(top))  # derivatives are by the values, not by the scale
    if EXACT_NORM:
        if exponent >= -1023:
            return exact_norm(values, exponent)
        values = scaled(values, 2.2250738585072014e-308, 0)
        return 2.2250738585072014e-308 * exact_norm(values, float_parts(STOPPED(largest(values, 0)[0]))[1])
    if exponent >= -1023:
        scale = LDEXP(1.0, -exponent)
        total, fraction1, fraction2, fraction3 = squares_split(values, scale, 0, 1.0, 0.0, 0.0, 0.0)
        h = SQRT(total - 1.0 + (fraction1 + fraction2 + fraction3))
        high = split(h)
        low = h - high
        total, fraction1 = add_term(total, fraction1, -high * high)
        total, fraction2 = add_term(total, fraction2, -2.0 * high * low)
        total, fraction3 = add_term(total, fraction3, -low * low)
        x = total - 1.0 + (fraction1 + fraction2 + fraction3)
        return FDIV(h + FDIV(x, 2.0 * h), scale)
    total, fraction1 = squares_ratio(values, top, 0, 1.0, 0.0)
    return top * SQRT(total - 1.0 + fraction1)


def scaled(values, unit, i):
    if i == len(values):
        return ()
    return (FDIV(values[i], unit),) + scaled(values, unit, i + 1)


def add_square(total, fraction1, fraction2, product, rest):
    new = total + product
    return new, fraction1 + rest, fraction2 + ((total - new) + product)


def squares_fma(values, scale, i, total, fraction1, fraction2):
    if i == len(values):
        return total, fraction1, fraction2, i
    x = values[i] * scale
    product = x * x
    total, fraction1, fraction2 = add_square(total, fraction1, fraction2, product, FMA(x, x, -product))
    return squares_fma(values, scale, i + 1, total, fraction1, fraction2)


def split(x):
    """The leading 26 bits of x."""
    t = x * 134217729.0
    return t - (t - x)


def add_term(total, fraction, x):
    new = total + x
    return new, fraction + ((total - new) + x)


def squares_split(values, scale, i, total, fraction1, fraction2, fraction3):
    if i == len(values):
        return total, fraction1, fraction2, fraction3
    x = values[i] * scale
    high = split(x)
    low = x - high
    total, fraction1 = add_term(total, fraction1, high * high)
    total, fraction2 = add_term(total, fraction2, 2.0 * high * low)
    return squares_split(values, scale, i + 1, total, fraction1, fraction2, fraction3 + low * low)


def squares_ratio(values, top, i, total, fraction):
    if i == len(values):
        return total, fraction
    x = FDIV(values[i], top)
    total, fraction = add_term(total, fraction, x * x)
    return squares_ratio(values, top, i + 1, total, fraction)


# ---------------------------------------------------------------- gamma (Lanczos, as CPython's own)

# Coefficients of CPython's Lanczos approximation. The polynomials are written out: a table that is indexed at run time
# would compile to a switch.
NUMERATOR = (
    23531376880.41076, 42919803642.6491, 35711959237.35567, 17921034426.03721, 6039542586.352028,
    1439720407.3117216, 248874557.86205417, 31426415.585400194, 2876370.6289353725, 186056.26539522348,
    8071.672002365816, 210.82427775157936, 2.5066282746310002)
DENOMINATOR = (
    0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0,
    45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0,
    1925.0, 66.0, 1.0)
LANCZOS_G = 6.024680040776729583740234375
LANCZOS_G_MINUS_HALF = 5.524680040776729583740234375
LOG_PI = 1.144729885849400174143427351353058711647


def polynomial(c, x):
    total = c[12]
    total = total * x + c[11]
    total = total * x + c[10]
    total = total * x + c[9]
    total = total * x + c[8]
    total = total * x + c[7]
    total = total * x + c[6]
    total = total * x + c[5]
    total = total * x + c[4]
    total = total * x + c[3]
    total = total * x + c[2]
    total = total * x + c[1]
    total = total * x + c[0]
    return total


def polynomial_far(c, x):
    """The polynomial divided by x ** 12."""
    total = c[0]
    total = FDIV(total, x) + c[1]
    total = FDIV(total, x) + c[2]
    total = FDIV(total, x) + c[3]
    total = FDIV(total, x) + c[4]
    total = FDIV(total, x) + c[5]
    total = FDIV(total, x) + c[6]
    total = FDIV(total, x) + c[7]
    total = FDIV(total, x) + c[8]
    total = FDIV(total, x) + c[9]
    total = FDIV(total, x) + c[10]
    total = FDIV(total, x) + c[11]
    total = FDIV(total, x) + c[12]
    return total


def lanczos_sum(x):
    if x < 5.0:
        return FDIV(polynomial(NUMERATOR, x), polynomial(DENOMINATOR, x))
    return FDIV(polynomial_far(NUMERATOR, x), polynomial_far(DENOMINATOR, x))


@outlined
def whole_gamma(x):
    """(x - 1)!: exact in a double up to 22!."""
    result = 1.0
    while x > 2.0:
        x = x - 1.0
        result = result * x
    return result


by_value("py.gamma_rules", whole_gamma)


def sin_pi(x):
    """sin(pi * x), exact at whole numbers."""
    y = FREM(FABS(x), 2.0)
    n = TRUNCATE(ROUND(2.0 * y))
    if n == 0:
        r = SIN(PI * y)
    elif n == 1:
        r = COS(PI * (y - 0.5))
    elif n == 2:
        r = SIN(PI * (1.0 - y))
    elif n == 3:
        r = -COS(PI * (y - 1.5))
    else:
        r = SIN(PI * (y - 2.0))
    return COPYSIGN(1.0, x) * r


def gamma(x):
    """CPython's m_tgamma."""
    if not FABS(x) < INF:
        if x == -INF:
            raise ValueError(DOMAIN)
        return x
    if x == 0.0:
        raise ValueError(DOMAIN)
    if x == FLOOR(x):
        if x < 0.0:
            raise ValueError(DOMAIN)
        if x <= 23.0:
            return whole_gamma(x)
    size = FABS(x)
    if size < 1e-20:
        r = FDIV(1.0, x)
        if FABS(r) == INF:
            raise OverflowError(RANGE)
        return r
    if size > 200.0:
        if x < 0.0:
            return FDIV(0.0, sin_pi(x))
        raise OverflowError(RANGE)
    y = size + LANCZOS_G_MINUS_HALF
    if size > LANCZOS_G_MINUS_HALF:
        z = FDIV((y - size - LANCZOS_G_MINUS_HALF) * LANCZOS_G, y)
    else:
        z = FDIV((y - LANCZOS_G_MINUS_HALF - size) * LANCZOS_G, y)
    if x < 0.0:
        r = FDIV(FDIV(FDIV(-PI, sin_pi(size)), size) * EXP(y), lanczos_sum(size))
        r = r - z * r
        if size < 140.0:
            r = FDIV(r, POW(y, size - 0.5))
        else:
            root = POW(y, FDIV(size, 2.0) - 0.25)
            r = FDIV(FDIV(r, root), root)
    else:
        r = FDIV(lanczos_sum(size), EXP(y))
        r = r + z * r
        if size < 140.0:
            r = r * POW(y, size - 0.5)
        else:
            root = POW(y, FDIV(size, 2.0) - 0.25)
            r = r * root
            r = r * root
    if FABS(r) == INF:
        raise OverflowError(RANGE)
    return r


def lgamma(x):
    """CPython's m_lgamma."""
    if not FABS(x) < INF:
        return x if x != x else INF
    if x == FLOOR(x) and x <= 2.0:
        if x <= 0.0:
            raise ValueError(DOMAIN)
        return LOG(whole_gamma(x))  # 0.0, whose derivative is not
    size = FABS(x)
    if size < 1e-20:
        return -LOG(size)
    r = LOG(lanczos_sum(size)) - LANCZOS_G
    r = r + (size - 0.5) * (LOG(size + LANCZOS_G - 0.5) - 1.0)
    if x < 0.0:
        r = LOG_PI - LOG(FABS(sin_pi(size))) - LOG(size) - r
    if FABS(r) == INF:
        raise OverflowError(RANGE)
    return r
