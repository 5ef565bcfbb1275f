"""Library functions of NumPy scalars, in the compiled subset, after NumPy's npy_math and its scalar loops."""
from __future__ import annotations

import operator

import numpy as np

from ...ops.arith import CAST, COMPLEX_MAKE, FDIV, FREM, IMAG, REAL, TRUNCATE
from ...ops.math import ATAN2, COPYSIGN, COS, EXP, FABS, FLOOR, HYPOT, LOG, POW, RINT, SIN
from ...types.kinds import Float, float16, float32, float64
from ..build import provoked

INF = float("inf")
NEGATIVE_POWER = provoked(operator.pow, np.int8(2), -1)


def float_floordiv(x, y):
    """npy_floor_divide."""
    if y == 0.0:
        return FDIV(x, y)
    mod = FREM(x, y)
    div = FDIV(x - mod, y)
    if mod != 0.0 and (y < 0.0) != (mod < 0.0):
        div = div - 1.0
    if div != 0.0:
        floor = FLOOR(div)
        if div - floor > 0.5:
            floor = floor + 1.0
        return floor
    return COPYSIGN(div, FDIV(x, y))


def float_mod(x, y):
    """npy_remainder: nan for y == 0."""
    mod = FREM(x, y)
    if y == 0.0:
        return mod
    if mod != 0.0:
        if (y < 0.0) != (mod < 0.0):
            mod = mod + y
        return mod
    return COPYSIGN(mod, y)


def half_floordiv(x, y):
    return CAST(float_floordiv(CAST(x, type=float32), CAST(y, type=float32)), type=float16)


def half_mod(x, y):
    return CAST(float_mod(CAST(x, type=float32), CAST(y, type=float32)), type=float16)


def float_divmod(x, y):
    return float_floordiv(x, y), float_mod(x, y)


def half_divmod(x, y):
    return half_floordiv(x, y), half_mod(x, y)


def int_divmod(x, y):
    return x // y, x % y


def int_power(x, n, one):
    """x ** n, wrapping; `one` is 1 of their type."""
    if n < 0:
        raise ValueError(NEGATIVE_POWER)
    result = one
    while n != 0:
        if n & 1 != 0:
            result = result * x
        x = x * x
        n = n >> 1
    return result


def complex_mul(x, y):
    a, b, c, d = REAL(x), IMAG(x), REAL(y), IMAG(y)
    return COMPLEX_MAKE(a * c - b * d, a * d + b * c)


def complex_div(x, y):
    """Smith's method as the loops of NumPy write it."""
    a, b, c, d = REAL(x), IMAG(x), REAL(y), IMAG(y)
    if FABS(c) >= FABS(d):
        if c == 0.0 and d == 0.0:
            zero = FABS(c)
            return COMPLEX_MAKE(FDIV(a, zero), FDIV(b, zero))
        ratio = FDIV(d, c)
        scale = 1.0 / (c + d * ratio)
        return COMPLEX_MAKE((a + b * ratio) * scale, (b - a * ratio) * scale)
    ratio = FDIV(c, d)
    scale = 1.0 / (d + c * ratio)
    return COMPLEX_MAKE((a * ratio + b) * scale, (b * ratio - a) * scale)


def complex_pow(x, y):
    """npy_cpow: whole powers by squaring, up to 100."""
    a, b, c, d = REAL(x), IMAG(x), REAL(y), IMAG(y)
    if c == 0.0 and d == 0.0:
        return COMPLEX_MAKE(FABS(c) + 1.0, FABS(d))
    if a == 0.0 and b == 0.0:
        if c > 0.0:
            return COMPLEX_MAKE(FABS(a), FABS(b))
        nan = FDIV(FABS(a), FABS(a))
        return COMPLEX_MAKE(nan, nan)
    if d == 0.0 and c == FLOOR(c) and FABS(c) < 100.0:
        n = TRUNCATE(c)
        if n == 1:
            return x
        if n == 2:
            return complex_mul(x, x)
        if n == 3:
            return complex_mul(x, complex_mul(x, x))
        count = n if n > 0 else -n
        result, power = COMPLEX_MAKE(FABS(d) + 1.0, FABS(d)), x
        while True:
            if count & 1:
                result = complex_mul(result, power)
            count >>= 1
            if count == 0:
                break
            power = complex_mul(power, power)
        if n < 0:
            return complex_div(COMPLEX_MAKE(FABS(d) + 1.0, FABS(d)), result)
        return result
    return complex_pow_polar(x, y)


def complex_pow_polar(x, y):
    """exp(y * log(x))."""
    size = HYPOT(REAL(x), IMAG(x))
    angle = ATAN2(IMAG(x), REAL(x))
    length = POW(size, REAL(y)) * EXP(-(angle * IMAG(y)))
    phase = angle * REAL(y) + IMAG(y) * LOG(size)
    return COMPLEX_MAKE(length * COS(phase), length * SIN(phase))


def float_round(x, digits):
    """np.round: scale by a power of ten, round half to even, scale back."""
    power = POW(10.0, CAST(digits if digits >= 0 else -digits, type=Float))
    if digits >= 0:
        return RINT(x * power) / power
    return RINT(x / power) * power


def int_round(x, digits):
    """np.round of an integer to tens, as a float64."""
    power = POW(10.0, CAST(-digits, type=Float))
    return RINT(CAST(x, type=float64) / power) * power
