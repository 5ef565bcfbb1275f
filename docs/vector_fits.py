"""Computes the coefficients of the elementary functions (pyjitc/lib/elementary) and compares them with
those in the source.

python docs/vector_fits.py [NAME ...]
Interpolation at Chebyshev's nodes, in 250 bits, comes within a factor of two of the best polynomial. Printed for each
table: the largest error of the polynomial with rounded coefficients, and how far the source is from it. Needs mpmath.
"""
import sys
from fractions import Fraction

import numpy as np
from mpmath import (asin, atan, atanh, cos, cosh, exp, inf, log, log1p, lu_solve, nint, matrix, mp, mpf, pi, polyval,
                    sin, sinh, sqrt)

from pyjitc.lib.elementary import circular, exponential, logarithm, power, single

mp.prec = 250
TINY = mpf(10) ** -25
HALF_LN2, EIGHTH = log(2) / 2 * mpf("1.0001"), (pi / 4) ** 2 * mpf("1.002")
QUOTIENT = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.001")  # s**2, s = f / (2 + f), sqrt(1/2) <= 1 + f <= sqrt(2)
NEAR, NEAR_SINGLE = mpf("0.0668"), mpf("0.03965")  # |f| where an inverse of the tables leaves 1 + f
ROOTS = sqrt(mpf(1) / 2) - 1 - mpf("1e-4"), sqrt(2) - 1 + mpf("1e-4")


def of_root(f):
    """f(sqrt(z)) / sqrt(z) as a function of z"""
    return lambda z: f(sqrt(z)) / sqrt(z)


def without(f, *first):
    """f less its first terms, over the next power."""
    def rest(x):
        x = x if abs(x) > TINY else TINY
        return (f(x) - sum(c * x**i for i, c in enumerate(first))) / x ** len(first)

    return rest


third = mpf(1) / 3
FITS = {  # module, table: (function, interval, terms that are given)
    (exponential, "TAIL"): (without(exp, 1, 1), (-HALF_LN2, HALF_LN2), ()),
    (exponential, "LONG_TAIL"): (without(exp, 1, 1), (mpf("-1e-9"), 2 * HALF_LN2), ()),
    (exponential, "EXP_SINGLE"): (without(exp, 1, 1), (-HALF_LN2, HALF_LN2), (1.0, 1.0)),
    (exponential, "ODD"): (without(of_root(sinh), 1), (TINY, HALF_LN2**2), ()),
    (exponential, "EVEN"): (without(lambda z: cosh(sqrt(z)), 1), (TINY, HALF_LN2**2), ()),
    (exponential, "SINH_SINGLE"): (without(of_root(sinh), 1), (TINY, HALF_LN2**2), (1.0,)),
    (exponential, "COSH_SINGLE"): (without(lambda z: cosh(sqrt(z)), 1), (TINY, HALF_LN2**2), (1.0,)),
    (logarithm, "SERIES_SINGLE"): (without(of_root(lambda s: 2 * atanh(s)), 2), (TINY, QUOTIENT), ()),
    (power, "LOG_REST"): (without(log1p, 0, 1, mpf(-1) / 2), (-NEAR, NEAR), ()),
    (power, "EXP_REST"): (without(exp, 1, 1), (-log(2) / 16 * mpf("1.001"), log(2) / 16 * mpf("1.001")), ()),
    (power, "INVERSE_CBRT"): (lambda m: m ** -third, (mpf(1), mpf(2)), ()),
    (single, "TAIL"): (without(exp, 1, 1), (-HALF_LN2, HALF_LN2), ()),
    (single, "LOG_REST"): (without(log1p, 0, 1, mpf(-1) / 2), (-NEAR_SINGLE, NEAR_SINGLE), ()),
    (single, "EXP_REST"): (without(exp, 1, 1), (mpf("-0.048"), mpf("0.048")), ()),
    (single, "LOG"): (without(lambda f: log(1 + f), 0, 1), ROOTS, ()),
    (single, "SINE"): (without(of_root(sin), 1), (TINY, EIGHTH), ()),
    (single, "COSINE"): (without(lambda z: cos(sqrt(z)), 1, mpf(-1) / 2), (TINY, EIGHTH), (-0.5,)),
    (circular, "SINE"): (without(of_root(sin), 1), (TINY, EIGHTH), ()),
    (circular, "COSINE"): (without(lambda z: cos(sqrt(z)), 1, mpf(-1) / 2), (TINY, EIGHTH), (-0.5,)),
    (circular, "SINE_TAN"): (without(of_root(sin), 1), (TINY, EIGHTH), (1.0,)),
    (circular, "COSINE_TAN"): (without(lambda z: cos(sqrt(z)), 1, mpf(-1) / 2), (TINY, EIGHTH), (1.0, -0.5)),
    (circular, "ARC_SINE"): (without(of_root(asin), 1), (TINY, mpf("0.2501")), ()),
    (circular, "ARC_SINE_SINGLE"): (of_root(asin), (TINY, mpf("0.2505")), ()),
    (circular, "ARC_TANGENT"): (without(of_root(atan), 1), (TINY, mpf("0.2505")), ()),
    (circular, "ARC_TANGENT_SINGLE"): (of_root(atan), (TINY, mpf("0.2505")), ()),
}


def fit(function, low, high, count):
    nodes = [(high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count)) + (high + low) / 2 for k in range(count)]
    powers = matrix(count, count)
    for i, x in enumerate(nodes):
        for j in range(count):
            powers[i, j] = x**j
    return [float(c) for c in lu_solve(powers, matrix([function(x) for x in nodes]))]


def error(function, low, high, coefficients):
    terms = [mpf(c) for c in reversed(coefficients)]
    return max(abs(polyval(terms, x) - function(x)) for x in (low + (high - low) * i / 200 for i in range(1, 201)))


def table_of_logarithms(inverses, step):
    """-log(inverse) as a multiple of step and the rest."""
    tops = [nint(-log(mpf(c)) / step) * step for c in inverses]
    return [float(t) for t in tops], [-log(mpf(c)) - t for c, t in zip(inverses, tops)]


def tables():
    """Largest error of what the tables of powers stand for, relative to a unit in the last place of their numbers."""
    for module, count, unit, bits, steps in ((power, 8, 2.0**-53, np.int64, 49),
                                             (single, 16, 2.0**-24, np.int32, 19)):
        kind = np.float64 if bits is np.int64 else np.float32
        tops, rests = table_of_logarithms(module.INVERSES, mpf(2) ** (-42 if kind is np.float64 else -16))
        assert tops == list(module.LOGS) and [float(kind(float(r))) for r in rests] == list(module.LOGS_LOW)
        for j, (whole_power, low) in enumerate(zip(module.POWERS, module.POWERS_LOW)):
            whole = (kind(whole_power).view(bits) + bits(j << steps)).view(kind)
            exact = mpf(2) ** (mpf(j) / count)
            assert abs(float(whole) * (1 + mpf(low)) / exact - 1) < mpf(unit) ** 1.9
        lowest = [kind(v).view(bits) for v in (1.0, 0.5)]
        assert lowest[1] < module.LOWEST < lowest[0]
        edges = [(bits(module.LOWEST) + bits(i << steps)).view(kind) for i in range(count + 1)]
        furthest = max(abs(Fraction(float(x)) * Fraction(c) - 1) for c, x, y in zip(module.INVERSES, edges, edges[1:])
                       for x in (x, np.nextafter(y, kind(0))))
        for c, low, high in zip(module.INVERSES, edges, edges[1:]):  # x * c - 1 is exact
            for x in (low, np.nextafter(high, kind(0))):
                f = Fraction(float(x)) * Fraction(c) - 1
                assert Fraction(float(kind(float(f)))) == f
        print(f"{module.__name__.rpartition('.')[2]}: tables of {count}, |f| < {float(furthest):.5f}")


def main(names):
    if not names:
        tables()
    for (module, name), (function, (low, high), given) in FITS.items():
        if names and name not in names:
            continue
        table = getattr(module, name)
        found = fit(function, low, high, len(table) - len(given))
        apart = max((abs(a / b - 1) for a, b in zip(found, table[len(given):])), default=inf)
        print(f"{module.__name__.rpartition('.')[2]}.{name}: error "
              f"2**{float(log(error(function, low, high, found), 2)):.1f}, "
              f"source differs by {apart:.1e}\n    {(*given, *found)}")
        assert tuple(table[:len(given)]) == given and apart < 1e-3, "the source has other coefficients"


if __name__ == "__main__":
    main(sys.argv[1:])
