"""Library functions of NumPy scalars, in the compiled subset, after NumPy's npy_math and its scalar loops."""
from __future__ import annotations

import operator

import numpy as np

from ....ops.arith import CAST, COMPLEX_MAKE, FDIV, FREM, IABS, IMAG, POPC, REAL, TRUNCATE
from ....ops.math import COPYSIGN, CPOW, EXP, EXP2, FABS, FLOOR, HYPOT, LOG1P, NEXTAFTER, POW, RINT, TRUNC
from ....types.kinds import Float, float16, float32, float64, int32, uint8, uint64
from ...build import NUMPY, outlined, provoked
from ...intrinsics import as_type
from ...py.numbers import float_parts
from ...py.numbers import float_ratio as py_float_ratio
from ...py.numbers import complex_mul, float_rem as py_float_rem, floor_of_quotient, with_sign_of

INF, PI = np.inf, np.pi
# whether `a ** -1.0` of complex elements is np.reciprocal(a), as `a ** -1` is
FLOATS_ARE_WHOLE_POWERS = NUMPY < (2, 3)
NEGATIVE_POWER = provoked(operator.pow, np.int8(2), -1)


def float_rem(x, y):
    """C's fmod, which is exact: all types compute it in double."""
    if isinstance(x, np.float64):
        return py_float_rem(x, y)
    if isinstance(x, np.float32):
        return CAST(py_float_rem(CAST(x, type=float64), CAST(y, type=float64)), type=float32)
    return FREM(x, y)


def float_floordiv(x, y):
    """NumPy's npy_floor_divide."""
    if y == 0.0:
        return FDIV(x, y)
    return floor_of_quotient(x, y, float_rem(x, y))


def float_mod(x, y):
    """npy_remainder: nan for y == 0."""
    mod = float_rem(x, y)
    return mod if y == 0.0 else with_sign_of(y, mod)


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
    return CPOW(x, y)


def complex_power_of_int(x, n):
    """x ** n of an element and a Python int that is not constant, with the fast paths of NumPy's operator. The square
    is that of np.power."""
    if n == -1:
        return np.reciprocal(x)
    return np.power(x, n)


def complex_power_of_float(x, y):
    """x ** y of an element and a Python float that is not constant, with the fast paths of NumPy's operator."""
    if y == 0.5:
        return np.sqrt(x)
    if FLOATS_ARE_WHOLE_POWERS and y == -1.0:
        return np.reciprocal(x)
    return np.power(x, y)


def power_of_ten(n):
    return POW(10.0, CAST(n, type=Float)) if n <= 22 else great_power_of_ten(n)


@outlined
def great_power_of_ten(n):
    """10.0**n computed factor by factor, as NumPy does; it is not always the nearest float."""
    power = 1e22
    for _ in range(min(n, 310) - 22):
        power *= 10.0
    return power


def float_round(x, digits):
    """np.round: scale by a power of ten, round half to even, scale back."""
    if digits > 2147483647:
        raise OverflowError("signed integer is greater than maximum")
    if digits < -2147483648:
        raise OverflowError("signed integer is less than minimum")
    power = power_of_ten(digits if digits >= 0 else -digits)
    if digits >= 0:
        return RINT(x * power) / power
    return RINT(x / power) * power


def int_round(x, digits):
    """np.round of an integer to tens, as a float64."""
    power = POW(10.0, CAST(-digits, type=Float))
    return RINT(CAST(x, type=float64) / power) * power


def int_round_any(x, digits):
    """np.round of an integer to digits that are known when it runs."""
    if digits >= 0:
        return x
    return as_type(int_round(x, digits), x.dtype)


# ---------------------------------------------------------------- ufunc loops of more than one operation


def logaddexp(x, y):
    if x == y:
        return x + 0.693147180559945309417232121458176568
    difference = x - y
    if difference > 0.0:
        return x + LOG1P(EXP(-difference))
    if difference <= 0.0:
        return y + LOG1P(EXP(difference))
    return difference


def logaddexp2(x, y):
    if x == y:
        return x + 1.0
    difference = x - y
    if difference > 0.0:
        return x + log2_1p(EXP2(-difference))
    if difference <= 0.0:
        return y + log2_1p(EXP2(difference))
    return difference


def log2_1p(x):
    return 1.442695040888963407359924681001892137 * LOG1P(x)


def spacing(x):
    """The distance from x to the next float away from zero, with the sign of x; for float16 the distance to the next
    float above."""
    if FABS(x) == INF:
        return x - x
    x = x + 0.0
    return NEXTAFTER(x, infinite(x) if x.dtype == np.float16 else COPYSIGN(infinite(x), x)) - x


def infinite(x):
    return FABS(x) * 0.0 + INF


def modf(x):
    whole = TRUNC(x)
    rest = x - whole
    if FABS(x) == INF:
        rest = 1.0 / x
    return COPYSIGN(rest, x), whole


def frexp(x):
    wide = CAST(x, type=float64)
    if wide == 0.0 or not FABS(wide) < INF:
        return x, CAST(0, type=int32)
    fraction, exponent = float_parts(CAST(FABS(wide), type=Float))
    return COPYSIGN(CAST(fraction, type=float64), wide), CAST(exponent, type=int32)


def frexp32(x):
    fraction, exponent = frexp(CAST(x, type=float64))
    return CAST(fraction, type=float32), exponent


def frexp16(x):
    fraction, exponent = frexp(CAST(x, type=float64))
    return CAST(fraction, type=float16), exponent


def gcd(x, y):
    """The greatest common divisor of unsigned integers."""
    while y != 0:
        x, y = y, x % y
    return x


def lcm(x, y):
    return x // gcd(x, y) * y  # 0 // 0 is 0


def bit_count(x):
    size = CAST(IABS(x), type=uint64)
    if x < 0:
        size = CAST(0, type=uint64) - CAST(x, type=uint64)
    return CAST(POPC(size), type=uint8)


def complex_sign(x):
    """x / |x|; 0 for 0."""
    size = HYPOT(REAL(x), IMAG(x))
    if size == 0.0:
        return COMPLEX_MAKE(FABS(REAL(x)), FABS(IMAG(x)))
    if size == INF:
        a, b = FABS(REAL(x)) == INF, FABS(IMAG(x)) == INF
        if a and b:
            nan = size - size
            return COMPLEX_MAKE(nan, nan)
        if a:
            return COMPLEX_MAKE(COPYSIGN(1.0 / size + 1.0, REAL(x)), COPYSIGN(1.0 / size, IMAG(x)))
        return COMPLEX_MAKE(COPYSIGN(1.0 / size, REAL(x)), COPYSIGN(1.0 / size + 1.0, IMAG(x)))
    return COMPLEX_MAKE(REAL(x) / size, IMAG(x) / size)


def complex_reciprocal(x):
    a, b = REAL(x), IMAG(x)
    if FABS(b) <= FABS(a):
        ratio = b / a
        size = a + b * ratio
        return COMPLEX_MAKE(1.0 / size, -ratio / size)
    ratio = a / b
    size = a * ratio + b
    return COMPLEX_MAKE(ratio / size, -1.0 / size)


def float_ratio(x):
    return py_float_ratio(CAST(x, type=Float))
