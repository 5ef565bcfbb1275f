"""Library functions of Python's numbers, in the compiled subset: those that need more than one operation.

They are specialised on the operand types, so one function serves float and the NumPy floats. Each follows CPython's C
code step by step (Objects/floatobject.c, complexobject.c, longobject.c).
"""
from __future__ import annotations

import operator

import numpy as np

from ...ops.arith import (
    CAST, CLZ, COMPLEX_MAKE, FDIV, FMUL, FREM, IADD, IFLOORDIV, IFLOORDIV_CK, IMAG, IMOD, IMUL, IMUL_CK, ISUB, NARROW,
    POPC, REAL, TRUNCATE,
)
from ...ops.math import (
    ATAN2, BITS, COPYSIGN, COS, EXP, FABS, FLOOR, FMA, FROM_BITS, HYPOT, LOG, POW, RINT, ROUND_DIGITS, SIN, STOPPED,
    TRUNC,
)
from ...types.kinds import Float, Int, uint64
from ..build import outlined, provoked

INF = float("inf")
NAN = float("nan")

# Messages of this interpreter: they differ between versions.
INT_DIVISION = provoked(operator.truediv, 1, 0)
INT_FLOORDIV = provoked(operator.floordiv, 1, 0)
INT_MODULO = provoked(operator.mod, 1, 0)
INT_DIVMOD = provoked(divmod, 1, 0)
TO_LONG = provoked(np.int64, 1e300)
FLOAT_DIVISION = provoked(operator.truediv, 1.0, 0.0)
FLOAT_FLOORDIV = provoked(operator.floordiv, 1.0, 0.0)
FLOAT_MODULO = provoked(operator.mod, 1.0, 0.0)
FLOAT_DIVMOD = provoked(divmod, 1.0, 0.0)
INT_POWER = provoked(operator.pow, 0, -1)
FLOAT_POWER = provoked(operator.pow, 0.0, -1.0)
FLOAT_OVERFLOW = provoked(operator.pow, 1e200, 2.0)
COMPLEX_DIVISION = provoked(operator.truediv, 1j, 0j)
COMPLEX_POWER = provoked(operator.pow, 0j, -1)
COMPLEX_OVERFLOW = provoked(operator.pow, 10j, 400)
NEGATIVE_SHIFT = provoked(operator.lshift, 1, -1)
POW_MODULUS = provoked(pow, 2, 3, 0)
POW_INVERSE = provoked(pow, 2, -1, 4)
ABS_OVERFLOW = provoked(abs, complex(1.7e308, 1.7e308))
COMPLEX_RESULT = "a negative number to a fractional power is complex: write complex(x) ** y"
ERANGE = 34

# ---------------------------------------------------------------- float


def float_rem(x, y):
    """C's fmod. For quotients below 2**52 one fused multiply-add gives the exact remainder; the truncated quotient may
    be too great by one, never too small."""
    size, unit = FABS(x), FABS(y)
    if size < unit:
        return x
    if size < unit * 4503599627370496.0:
        rest = FMA(-TRUNC(FDIV(size, unit)), unit, size)
        if rest < 0.0:
            rest = rest + unit
        return COPYSIGN(rest, x)
    return FREM(x, y)


def float_floordiv(x, y):
    """Floor of the exact quotient: x / y itself may round up to a whole number. With error_model='numpy' y may be 0."""
    if y == 0.0:
        return FDIV(x, y)
    return floor_of_quotient(x, y, float_rem(x, y))


def floor_of_quotient(x, y, mod):
    """The floor of x / y, where `mod` is C's fmod(x, y) and y is not 0."""
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
    """x - floor(x / y) * y, with the sign of y."""
    return with_sign_of(y, float_rem(x, y))


def with_sign_of(y, mod):
    """The remainder of a floor division by y, where `mod` is that of C's fmod."""
    if mod != 0.0:
        if (y < 0.0) != (mod < 0.0):
            mod = mod + y
        return mod
    return COPYSIGN(mod, y)


def float_divmod(x, y):
    return float_floordiv(x, y), float_mod(x, y)


def float_pow(x, y):
    result = POW(x, y)
    if FABS(result) < INF:
        return result
    return float_pow_special(x, y, result)


def float_pow_special(x, y, result):
    """The result of pow where it is infinite or nan: some of these cases raise."""
    if FABS(x) < INF and FABS(y) < INF:
        if x == 0.0:
            raise ZeroDivisionError(FLOAT_POWER)
        if x < 0.0 and FLOOR(y) != y:
            raise ValueError(COMPLEX_RESULT)
        raise OverflowError(ERANGE, FLOAT_OVERFLOW)
    return result


def float_square(x):
    result = FMUL(x, x)
    if FABS(result) == INF and FABS(x) < INF:
        raise OverflowError(ERANGE, FLOAT_OVERFLOW)
    return result


def float_round_digits(x, n):
    """round(x, n). Scaled by an exact power of ten where that is certain to give the nearest decimal; else by dtoa."""
    if 0 <= n <= 22:
        power = POW(10.0, CAST(n, type=Float))
        scaled = x * power
        if FABS(scaled) < 4503599627370496.0:
            whole = RINT(scaled)
            margin = 0.5 - FABS(scaled - whole)
            if margin > FABS(scaled) * 2.3e-16:
                return COPYSIGN(FDIV(whole, power), x)
    return ROUND_DIGITS(x, n)


def float_ratio(x):
    """(numerator, denominator) of float.as_integer_ratio; OverflowError where they do not fit in 64 bits."""
    if x != x:
        raise ValueError("cannot convert NaN to integer ratio")
    if FABS(x) == INF:
        raise OverflowError("cannot convert Infinity to integer ratio")
    denominator = 1
    while FLOOR(x) != x:
        x = x * 2.0
        denominator = denominator * 2
    return TRUNCATE(x), denominator


# ---------------------------------------------------------------- int


def int_power(x, n):
    """x ** n for n >= 0."""
    result = 1
    while True:
        if n & 1:
            result = IMUL_CK(result, x)
        n >>= 1
        if n == 0:
            return result
        x = IMUL_CK(x, x)


def int_power_any(x, n):
    """x ** n where the sign of n is not known at compile time: an int or a float, as in CPython."""
    if n < 0:
        if x == 0:
            raise ZeroDivisionError(INT_POWER)
        return negative_power(x, n)
    return int_power(x, n)


@outlined
def negative_power(x, n):
    return float_pow(CAST(x, type=Float), CAST(n, type=Float))


def int_divmod(x, y):
    """divmod of ints; y is not 0."""
    return IFLOORDIV_CK(x, y), IMOD(x, y)


def uint64_to_int(x):
    result = CAST(x, type=Int)
    if result < 0:
        raise OverflowError("integer overflow: int() of this uint64 does not fit in 64 bits")
    return result


def float_to_uint64(x):
    """np.uint64(float), which converts by way of a Python int."""
    if 9223372036854775808.0 <= x < 18446744073709551616.0:
        return CAST(x, type=uint64)
    return NARROW(TRUNCATE(x, message=TO_LONG), type=uint64)


def int_pow_mod(x, n, m):
    if m == 0:
        raise ValueError(POW_MODULUS)
    negative = m < 0
    modulus = CAST(m, type=uint64)
    if negative:
        modulus = CAST(0, type=uint64) - modulus
    base = CAST(remainder(x, modulus), type=uint64)
    if n < 0:
        base = inverse(base, modulus)
        if n == -9223372036854775808:
            base = multiply_mod(base, base, modulus)
            n = 4611686018427387904
        else:
            n = -n
    result = CAST(1, type=uint64) % modulus
    while n > 0:
        if n & 1:
            result = multiply_mod(result, base, modulus)
        base = multiply_mod(base, base, modulus)
        n >>= 1
    if negative and result != 0:
        return CAST(result, type=Int) + m
    return CAST(result, type=Int)


def remainder(x, modulus):
    """x mod a positive modulus up to 2**63, both as uint64 bits."""
    if x >= 0:
        return CAST(x, type=uint64) % modulus
    rest = (CAST(0, type=uint64) - CAST(x, type=uint64)) % modulus
    if rest == 0:
        return rest
    return modulus - rest


def multiply_mod(x, y, modulus):
    """x * y % modulus without 128-bit integers; modulus <= 2**63."""
    if modulus <= 4294967296:
        return x * y % modulus
    result = CAST(0, type=uint64)
    while y > 0:
        if y & 1:
            result = (result + x) % modulus
        x = (x + x) % modulus
        y >>= 1
    return result


def inverse(x, modulus):
    """The modular inverse, by the extended Euclidean algorithm with reduced coefficients."""
    r0, r1 = modulus, x
    t0, t1 = CAST(0, type=uint64), CAST(1, type=uint64) % modulus
    while r1 != 0:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        step = multiply_mod(q % modulus, t1, modulus)
        t0, t1 = t1, (t0 + (modulus - step)) % modulus
    if r0 != 1:
        raise ValueError(POW_INVERSE)
    return t0


def int_round_digits(x, n):
    """round(int, n): to a multiple of 10 ** -n, half to even."""
    if n >= 0:
        return x
    if n < -19:
        return 0
    if n == -19:  # half of 10**19 is 5 * 10**18
        if -5000000000000000000 <= x <= 5000000000000000000:
            return 0
        raise OverflowError("integer overflow: round() does not fit in 64 bits")
    unit = int_power(10, -n)
    rest = IMOD(x, unit)
    half = IFLOORDIV(unit, 2)
    if rest > half or rest == half and IFLOORDIV(x, unit) & 1:
        return x + (unit - rest)
    return x - rest


def int_bit_length(x):
    """Number of bits of |x|."""
    size = CAST(x, type=uint64)
    if x < 0:
        size = CAST(0, type=uint64) - size
    return ISUB(64, CLZ(size))


def int_bit_count(x):
    """Number of ones in |x|."""
    size = CAST(x, type=uint64)
    if x < 0:
        size = CAST(0, type=uint64) - size
    return POPC(size)


# ---------------------------------------------------------------- complex


def complex_mul(x, y):
    a, b, c, d = REAL(x), IMAG(x), REAL(y), IMAG(y)
    return COMPLEX_MAKE(a * c - b * d, a * d + b * c)


def complex_div(x, y):
    """Smith's method, as _Py_c_quot."""
    a, b, c, d = REAL(x), IMAG(x), REAL(y), IMAG(y)
    if FABS(c) >= FABS(d):
        if c == 0.0:
            raise ZeroDivisionError(COMPLEX_DIVISION)
        ratio = FDIV(d, c)
        scale = c + d * ratio
        return COMPLEX_MAKE(FDIV(a + b * ratio, scale), FDIV(b - a * ratio, scale))
    if FABS(d) >= FABS(c):
        ratio = FDIV(c, d)
        scale = c * ratio + d
        return COMPLEX_MAKE(FDIV(a * ratio + b, scale), FDIV(b * ratio - a, scale))
    return COMPLEX_MAKE(NAN, NAN)


def complex_pow(x, y):
    if IMAG(y) == 0.0 and REAL(y) == FLOOR(REAL(y)) and FABS(REAL(y)) <= 100.0:
        result = complex_pow_whole(x, TRUNCATE(REAL(y)))
    else:
        result = complex_pow_polar(x, y)
    if FABS(REAL(result)) == INF or FABS(IMAG(result)) == INF:
        raise OverflowError(COMPLEX_OVERFLOW)
    return result


def complex_pow_whole(x, n):
    """c_powi: squarings; a negative power is the reciprocal."""
    count = n if n > 0 else -n
    result, power = COMPLEX_MAKE(1.0, 0.0), x
    while count > 0:
        if count & 1:
            result = complex_mul(result, power)
        power = complex_mul(power, power)
        count >>= 1
    if n > 0:
        return result
    if REAL(result) == 0.0 and IMAG(result) == 0.0:
        raise ZeroDivisionError(COMPLEX_POWER)
    return complex_div(COMPLEX_MAKE(1.0, 0.0), result)


def complex_pow_polar(x, y):
    """CPython's _Py_c_pow."""
    if REAL(y) == 0.0 and IMAG(y) == 0.0:
        return COMPLEX_MAKE(1.0, 0.0)
    if REAL(x) == 0.0 and IMAG(x) == 0.0:
        if IMAG(y) != 0.0 or REAL(y) < 0.0:
            raise ZeroDivisionError(COMPLEX_POWER)
        return COMPLEX_MAKE(0.0, 0.0)
    size = HYPOT(REAL(x), IMAG(x))
    length = POW(size, REAL(y))
    angle = ATAN2(IMAG(x), REAL(x))
    phase = angle * REAL(y)
    if IMAG(y) != 0.0:
        length = FDIV(length, EXP(angle * IMAG(y)))
        phase = phase + IMAG(y) * LOG(size)
    if FABS(phase) == INF:  # the C library's cos sets errno to EDOM, which complex_pow takes for a zero division
        raise ZeroDivisionError(COMPLEX_POWER)
    return COMPLEX_MAKE(length * COS(phase), length * SIN(phase))


def complex_abs(x):
    """_Py_c_abs: OverflowError where hypot overflows."""
    result = HYPOT(REAL(x), IMAG(x))
    if result == INF and FABS(REAL(x)) < INF and FABS(IMAG(x)) < INF:
        raise OverflowError(ABS_OVERFLOW)
    return result


# ---------------------------------------------------------------- hash


def int_hash(x):
    if x >= 0:
        return IMOD(x, 2305843009213693951)
    if x == -9223372036854775808:
        return -4
    result = -IMOD(-x, 2305843009213693951)
    return -2 if result == -1 else result


def float_hash(x):
    """_Py_HashDouble: the value modulo 2**61 - 1, read 28 bits at a time."""
    if FABS(x) == INF:
        return 314159 if x > 0.0 else -314159
    if x != x or x == 0.0:
        return 0
    mantissa, exponent = float_parts(FABS(x))
    result = 0
    while mantissa != 0.0:
        result = ((result & 8589934591) << 28) | result >> 33
        mantissa = mantissa * 268435456.0
        exponent = exponent - 28
        digit = TRUNCATE(mantissa)
        mantissa = mantissa - CAST(digit, type=Float)
        result = result + digit
        if result >= 2305843009213693951:
            result = result - 2305843009213693951
    shift = IMOD(exponent, 61)
    result = ((result & ((1 << (61 - shift)) - 1)) << shift) | result >> (61 - shift)
    if x < 0.0:
        result = -result
    return -2 if result == -1 else result


def float_parts(x):
    """frexp of a finite x > 0: (fraction in [0.5, 1), exponent)."""
    extra = 0
    if x < 1e-290:
        x = x * 18014398509481984.0
        extra = 54
    # products with powers of 2 are exact; the exponent does not vary
    exponent = ((BITS(STOPPED(x)) >> 52) & 2047) - 1022
    return x * 0.25 * FROM_BITS(1025 - exponent << 52), exponent - extra


def complex_hash(x):
    result = IADD(float_hash(CAST(REAL(x), type=Float)), IMUL(1000003, float_hash(CAST(IMAG(x), type=Float))))
    return -2 if result == -1 else result


def uint64_hash(x):
    return CAST(x % 2305843009213693951, type=Int)


def float_is_whole(x):
    return FABS(x) < INF and FLOOR(x) == x
