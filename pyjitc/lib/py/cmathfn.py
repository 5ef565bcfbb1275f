"""Library functions of the `cmath` module, in the compiled subset, after CPython's Modules/cmathmodule.c.

Infinities and nans are rare and their tables large: for such arguments the interpreter's own function is called, which
is the last operand of `called` and of the functions of two numbers.
"""
from __future__ import annotations

import cmath
import math

from ...ops.arith import COMPLEX_MAKE, FDIV, IMAG, REAL
from ...ops.math import (
    ASINH, ATAN2, COPYSIGN, COS, COSH, EXP, FABS, HYPOT, LDEXP, LOG, LOG1P, SIN, SINH, SQRT, TAN, TANH,
)
from ...ops.pyobject import PY_BOX, PY_CALL, PY_UNBOX
from ...types.kinds import Complex
from ..build import derivatives, outlined, provoked
from .mathfn import RANGE, TOLERANCE

INF, NAN, E, PI, LN2, LN10 = math.inf, math.nan, math.e, math.pi, math.log(2.0), math.log(10.0)
LEAST = 2.2250738585072014e-308
LARGE = 1.7976931348623157e308 / 4.0
SQRT_LARGE, LOG_LARGE, SQRT_LEAST = math.sqrt(LARGE), math.log(LARGE), math.sqrt(LEAST)
DOMAIN = provoked(cmath.log, 0)


def is_special(z):
    return not (FABS(REAL(z)) < INF and FABS(IMAG(z)) < INF)


@outlined
def special(z, function):
    return PY_UNBOX(PY_CALL(function, PY_BOX(z), kwnames=()), type=Complex)


def special_tangent(z, function, z_t, function_t):
    return COMPLEX_MAKE(NAN, NAN)


def special_adjoint(z, function, z_, function_, g):
    return COMPLEX_MAKE(NAN, NAN), None


derivatives(special, special_tangent, special_adjoint, of_complex=True)


def called(finite, z, function):
    """A function of `cmath`. finite: the library function for finite numbers."""
    if is_special(z):
        return special(z, function)
    return finite(z)


def checked(z):
    if FABS(REAL(z)) == INF or FABS(IMAG(z)) == INF:
        raise OverflowError(RANGE)
    return z


def turned(z):
    """i * z, computed by parts."""
    return COMPLEX_MAKE(-IMAG(z), REAL(z))


def turned_back(z):
    return COMPLEX_MAKE(IMAG(z), -REAL(z))


def sqrt(z):
    if REAL(z) == 0.0 and IMAG(z) == 0.0:
        return COMPLEX_MAKE(0.0, IMAG(z))
    ax, ay = FABS(REAL(z)), FABS(IMAG(z))
    if ax < LEAST and ay < LEAST:
        ax = LDEXP(ax, 53)
        s = LDEXP(SQRT(ax + HYPOT(ax, LDEXP(ay, 53))), -27)
    else:
        ax = FDIV(ax, 8.0)
        s = 2.0 * SQRT(ax + HYPOT(ax, FDIV(ay, 8.0)))
    d = FDIV(ay, 2.0 * s)
    if REAL(z) >= 0.0:
        return COMPLEX_MAKE(s, COPYSIGN(d, IMAG(z)))
    return COMPLEX_MAKE(d, COPYSIGN(s, IMAG(z)))


def exp(z):
    if REAL(z) > LOG_LARGE:
        size = EXP(REAL(z) - 1.0)
        return checked(COMPLEX_MAKE(size * COS(IMAG(z)) * E, size * SIN(IMAG(z)) * E))
    size = EXP(REAL(z))
    return checked(COMPLEX_MAKE(size * COS(IMAG(z)), size * SIN(IMAG(z))))


def log(z):
    ax, ay = FABS(REAL(z)), FABS(IMAG(z))
    if ax > LARGE or ay > LARGE:
        size = LOG(HYPOT(FDIV(ax, 2.0), FDIV(ay, 2.0))) + LN2
    elif ax < LEAST and ay < LEAST:
        if ax == 0.0 and ay == 0.0:
            raise ValueError(DOMAIN)
        size = LOG(HYPOT(LDEXP(ax, 53), LDEXP(ay, 53))) - 53.0 * LN2
    else:
        h = HYPOT(ax, ay)
        if 0.71 <= h <= 1.73:
            am = ax if ax > ay else ay
            an = ay if ax > ay else ax
            size = FDIV(LOG1P((am - 1.0) * (am + 1.0) + an * an), 2.0)
        else:
            size = LOG(h)
    return COMPLEX_MAKE(size, ATAN2(IMAG(z), REAL(z)))


def log_base(z, base, function):
    """log(z, base); where an argument is not finite, the interpreter's own function is called."""
    if is_special(z) or is_special(base):
        return PY_UNBOX(PY_CALL(function, PY_BOX(z), PY_BOX(base), kwnames=()), type=Complex)
    if REAL(z) == 0.0 and IMAG(z) == 0.0:  # in CPython the second call overwrites C's errno of the first
        x = COMPLEX_MAKE(-INF, ATAN2(IMAG(z), REAL(z)))
    else:
        x = log(z)
    y = log(base)
    a, b, c, d = REAL(x), IMAG(x), REAL(y), IMAG(y)
    if c == 0.0 and d == 0.0:
        raise ValueError(DOMAIN)
    if FABS(c) >= FABS(d):
        ratio = FDIV(d, c)
        scale = c + d * ratio
        return COMPLEX_MAKE(FDIV(a + b * ratio, scale), FDIV(b - a * ratio, scale))
    ratio = FDIV(c, d)
    scale = c * ratio + d
    return COMPLEX_MAKE(FDIV(a * ratio + b, scale), FDIV(b * ratio - a, scale))


def log10(z):
    result = log(z)
    return COMPLEX_MAKE(FDIV(REAL(result), LN10), FDIV(IMAG(result), LN10))


def acos(z):
    x, y = REAL(z), IMAG(z)
    if FABS(x) > LARGE or FABS(y) > LARGE:
        size = LOG(HYPOT(FDIV(x, 2.0), FDIV(y, 2.0))) + LN2 * 2.0
        if x < 0.0:
            return COMPLEX_MAKE(ATAN2(FABS(y), x), -COPYSIGN(size, y))
        return COMPLEX_MAKE(ATAN2(FABS(y), x), COPYSIGN(size, -y))
    s1 = sqrt(COMPLEX_MAKE(1.0 - x, -y))
    s2 = sqrt(COMPLEX_MAKE(1.0 + x, y))
    return COMPLEX_MAKE(2.0 * ATAN2(REAL(s1), REAL(s2)), ASINH(REAL(s2) * IMAG(s1) - IMAG(s2) * REAL(s1)))


def acosh(z):
    x, y = REAL(z), IMAG(z)
    if FABS(x) > LARGE or FABS(y) > LARGE:
        return COMPLEX_MAKE(LOG(HYPOT(FDIV(x, 2.0), FDIV(y, 2.0))) + LN2 * 2.0, ATAN2(y, x))
    s1 = sqrt(COMPLEX_MAKE(x - 1.0, y))
    s2 = sqrt(COMPLEX_MAKE(x + 1.0, y))
    return COMPLEX_MAKE(ASINH(REAL(s1) * REAL(s2) + IMAG(s1) * IMAG(s2)), 2.0 * ATAN2(IMAG(s1), REAL(s2)))


def asinh(z):
    x, y = REAL(z), IMAG(z)
    if FABS(x) > LARGE or FABS(y) > LARGE:
        size = LOG(HYPOT(FDIV(x, 2.0), FDIV(y, 2.0))) + LN2 * 2.0
        if y >= 0.0:
            return COMPLEX_MAKE(COPYSIGN(size, x), ATAN2(y, FABS(x)))
        return COMPLEX_MAKE(-COPYSIGN(size, -x), ATAN2(y, FABS(x)))
    s1 = sqrt(COMPLEX_MAKE(1.0 + y, -x))
    s2 = sqrt(COMPLEX_MAKE(1.0 - y, x))
    return COMPLEX_MAKE(ASINH(REAL(s1) * IMAG(s2) - REAL(s2) * IMAG(s1)),
                        ATAN2(y, REAL(s1) * REAL(s2) - IMAG(s1) * IMAG(s2)))


def asin(z):
    return turned_back(asinh(turned(z)))


def atanh(z):
    if COPYSIGN(1.0, REAL(z)) < 0.0:
        result = atanh_right(COMPLEX_MAKE(-REAL(z), -IMAG(z)))
        return COMPLEX_MAKE(-REAL(result), -IMAG(result))
    return atanh_right(z)


def atanh_right(z):
    """atanh of a number with a real part that is not negative."""
    x, y = REAL(z), IMAG(z)
    ay = FABS(y)
    if x > SQRT_LARGE or ay > SQRT_LARGE:
        h = HYPOT(FDIV(x, 2.0), FDIV(y, 2.0))
        return COMPLEX_MAKE(FDIV(FDIV(FDIV(x, 4.0), h), h), -COPYSIGN(FDIV(PI, 2.0), -y))
    if x == 1.0 and ay < SQRT_LEAST:
        if ay == 0.0:
            raise ValueError(DOMAIN)
        return COMPLEX_MAKE(-LOG(FDIV(SQRT(ay), SQRT(HYPOT(ay, 2.0)))), COPYSIGN(FDIV(ATAN2(2.0, -ay), 2.0), y))
    return COMPLEX_MAKE(FDIV(LOG1P(FDIV(4.0 * x, (1.0 - x) * (1.0 - x) + ay * ay)), 4.0),
                        FDIV(-ATAN2(-2.0 * y, (1.0 - x) * (1.0 + x) - ay * ay), 2.0))


def atan(z):
    return turned_back(atanh(turned(z)))


def cosh(z):
    x, y = REAL(z), IMAG(z)
    if FABS(x) > LOG_LARGE:
        less = x - COPYSIGN(1.0, x)
        return checked(COMPLEX_MAKE(COS(y) * COSH(less) * E, SIN(y) * SINH(less) * E))
    return checked(COMPLEX_MAKE(COS(y) * COSH(x), SIN(y) * SINH(x)))


def cos(z):
    return cosh(turned(z))


def sinh(z):
    x, y = REAL(z), IMAG(z)
    if FABS(x) > LOG_LARGE:
        less = x - COPYSIGN(1.0, x)
        return checked(COMPLEX_MAKE(COS(y) * SINH(less) * E, SIN(y) * COSH(less) * E))
    return checked(COMPLEX_MAKE(COS(y) * SINH(x), SIN(y) * COSH(x)))


def sin(z):
    return turned_back(sinh(turned(z)))


def tanh(z):
    x, y = REAL(z), IMAG(z)
    if FABS(x) > LOG_LARGE:
        return COMPLEX_MAKE(COPYSIGN(1.0, x), 4.0 * SIN(y) * COS(y) * EXP(-2.0 * FABS(x)))
    tx, ty = TANH(x), TAN(y)
    cx = FDIV(1.0, COSH(x))
    both = tx * ty
    below = 1.0 + both * both
    return COMPLEX_MAKE(FDIV(tx * (1.0 + ty * ty), below), FDIV(ty, below) * cx * cx)


def tan(z):
    return turned_back(tanh(turned(z)))


def polar(z):
    size = HYPOT(REAL(z), IMAG(z))
    if size == INF and not is_special(z):
        raise OverflowError(RANGE)
    return size, ATAN2(IMAG(z), REAL(z))


def rect(r, phi, function):
    if FABS(r) < INF and FABS(phi) < INF:
        if phi == 0.0:
            return COMPLEX_MAKE(r, r * phi)
        return COMPLEX_MAKE(r * COS(phi), r * SIN(phi))
    return special_rect(r, phi, function)


@outlined
def special_rect(r, phi, function):
    return PY_UNBOX(PY_CALL(function, PY_BOX(r), PY_BOX(phi), kwnames=()), type=Complex)


def special_rect_tangent(r, phi, function, r_t, phi_t, function_t):
    return COMPLEX_MAKE(NAN, NAN)


def special_rect_adjoint(r, phi, function, r_, phi_, function_, g):
    return NAN, NAN, None


derivatives(special_rect, special_rect_tangent, special_rect_adjoint, of_complex=True)


def isclose(a, b, relative, absolute):
    if relative < 0.0 or absolute < 0.0:
        raise ValueError(TOLERANCE)
    if REAL(a) == REAL(b) and IMAG(a) == IMAG(b):
        return True
    if FABS(REAL(a)) == INF or FABS(IMAG(a)) == INF or FABS(REAL(b)) == INF or FABS(IMAG(b)) == INF:
        return False
    distance = HYPOT(REAL(a) - REAL(b), IMAG(a) - IMAG(b))
    sizes = relative * HYPOT(REAL(a), IMAG(a)), relative * HYPOT(REAL(b), IMAG(b))
    return distance <= sizes[0] or distance <= sizes[1] or distance <= absolute
