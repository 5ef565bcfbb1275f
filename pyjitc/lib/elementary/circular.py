"""Circular functions and their inverses, see blocks.py."""
from __future__ import annotations

from ...ops.arith import BAND, COMPLEX_MAKE, FEQ, FGT, FLT, FNE, IADD, IAND, ILT, IMAG, ISHL, IXOR, REAL
from ...ops.math import BITS, COPYSIGN, COS, FABS, FROM_BITS, POLYNOMIAL, SIN, TAN
from ...ops.structure import SELECT
from .blocks import MAGIC, add, div, fma, is_odd, mul, neg, quotient, sqrt, sub
from .exponential import exp

__all__ = ["sin", "cos", "tan", "tan_single", "asin", "asin_single", "acos", "acos_single",
           "atan", "atan_single", "atan2", "atan2_single", "complex_exp"]

TWO_OVER_PI = 0.6366197723675814
HALF_PI = 1.5707963267948966  # pi / 2 in three parts
HALF_PI_2 = 6.123233995736766e-17
HALF_PI_3 = -1.4973849048591698e-33
LIMIT = 2.0**43  # for larger arguments the reduction by three parts is not accurate

# (sin(r) / r - 1) / r**2 and (cos(r) - 1) / r**2 in r**2, |r| <= pi / 4
SINE = (-0.16666666666666666, 0.008333333333330925, -0.00019841269836722437, 2.755731608382574e-06,
        -2.505112794596564e-08, 1.591784866512194e-10)
COSINE = (-0.5, 0.041666666666666664, -0.0013888888888887382, 2.480158729874308e-05, -2.755731726001471e-07,
          2.0876143829213935e-09, -1.1382456865840483e-11)
# to float32's accuracy
SINE_TAN = (1.0, -0.16666666663832777, 0.008333331865963797, -0.00019840082015127998, 2.72493143604168e-06)
COSINE_TAN = (1.0, -0.5, 0.04166666666430242, -0.0013888887664717277, 2.4800596437593728e-05, -2.73004488746506e-07)
# asin(s) / s - 1 and atan(t) / t - 1 over the square, in the square, s and t <= 1/2; the quotients themselves to
# float32's accuracy
ARC_SINE = (0.16666666666666669, 0.07499999999998425, 0.04464285714637338, 0.030381944137085216, 0.022372173002005596,
            0.017352391265909227, 0.013971235301124539, 0.011478952690257387, 0.010324318288744113, 0.00545087818772055,
            0.017419357964884856, -0.014881409392818066, 0.02877844261259304)
ARC_TANGENT = (-0.33333333333333326, 0.19999999999991433, -0.14285714284077702, 0.11111110988233033,
               -0.09090904305375164, 0.07692197165867068, -0.06665037048227497, 0.05866372266802917,
               -0.051568882636820045, 0.04281616534792999, -0.02891895079990045, 0.01112665995931184)
ARC_SINE_SINGLE = (0.9999999999861052, 0.1666666737546815, 0.07499941088043721, 0.04466135996271218,
                   0.030099714623009526, 0.02466882957826492, 0.007344132727956895, 0.03481868237992498)
ARC_TANGENT_SINGLE = (0.9999999999878052, -0.3333333270912428, 0.19999947208385455, -0.14283999194555463,
                      0.11083426618220973, -0.08843533383690869, 0.06421514856078504, -0.029550183919889804)
EXP_700 = 1.0142320547350045e304
PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
QUARTER_PI, QUARTER_PI_LOW = 0.7853981633974483, 3.061616997868383e-17
INF = float("inf")


def quarter(x):
    """(r, k): x = r + k * pi / 2, |r| <= pi / 4, k in the low bits. The first product and its difference are exact
    (Cody and Waite's reduction, which fma makes accurate for |x| up to LIMIT)."""
    shifted = fma(x, TWO_OVER_PI, MAGIC)
    n = sub(shifted, MAGIC)
    return fma(n, -HALF_PI_3, fma(n, -HALF_PI_2, fma(n, -HALF_PI, x))), BITS(shifted)


def sine(r):
    z = mul(r, r)
    return fma(mul(z, POLYNOMIAL(z, coefficients=SINE)), r, r)


def cosine(r):
    z = mul(r, r)
    return fma(z, POLYNOMIAL(z, coefficients=COSINE), 1.0)


def turned(k, even, odd):
    """The value of a circular function in quarter k: odd quarters use the cofunction, quarters 2 and 3 change the
    sign."""
    return FROM_BITS(IXOR(BITS(SELECT(is_odd(k), odd, even)), ISHL(IAND(k, 2), 62)))


def sin(x):
    r, k = quarter(x)
    y = SELECT(FEQ(x, 0.0), x, turned(k, sine(r), cosine(r)))
    if FGT(FABS(x), LIMIT):
        y = SIN(x, rare=True)
    return y


def complex_exp(z):
    """e**z: the sine and the cosine share their argument reduction; a large factor is multiplied in two steps, in case
    one of them is small."""
    x, y = REAL(z), IMAG(z)
    far = FGT(x, 700.0)
    size, rest = exp(SELECT(far, sub(x, 700.0), x)), SELECT(far, EXP_700, 1.0)
    r, k = quarter(y)
    s, c = sine(r), cosine(r)
    s, c = turned(k, s, c), turned(IADD(k, 1), s, c)
    if FGT(FABS(y), LIMIT):
        s = SIN(y, rare=True)
    if FGT(FABS(y), LIMIT):
        c = COS(y, rare=True)
    real, imag = mul(size, mul(rest, c)), mul(size, mul(rest, s))
    lost = FNE(c, c)  # the direction is unknown: y is not finite
    real = SELECT(lost, SELECT(FEQ(FABS(x), INF), size, real), real)
    imag = SELECT(lost, SELECT(FEQ(x, -INF), COPYSIGN(0.0, y), imag), imag)
    return COMPLEX_MAKE(real, SELECT(FEQ(y, 0.0), y, imag))


def cos(x):
    r, k = quarter(x)
    y = turned(IADD(k, 1), sine(r), cosine(r))
    if FGT(FABS(x), LIMIT):
        y = COS(x, rare=True)
    return y


def tan(x):
    """The tangent of r + low, where low is the remainder that the reduced argument r leaves out."""
    shifted = fma(x, TWO_OVER_PI, MAGIC)
    n = sub(shifted, MAGIC)
    first, step = fma(n, -HALF_PI, x), mul(n, -HALF_PI_2)
    r = add(first, step)
    low = fma(n, -HALF_PI_3, sub(add(sub(first, r), step), fma(n, HALF_PI_2, step)))
    z = mul(r, r)
    # the first-order effect of low on both
    s = add(r, fma(mul(z, POLYNOMIAL(z, coefficients=SINE)), r, fma(low, mul(z, 0.66), low)))
    c = fma(z, POLYNOMIAL(z, coefficients=COSINE), 1.0)
    y = SELECT(FEQ(x, 0.0), x, ratio(BITS(shifted), s, c))
    if FGT(FABS(x), LIMIT):
        y = TAN(x, rare=True)
    return y


def tan_single(x):
    shifted = fma(x, TWO_OVER_PI, MAGIC)
    n = sub(shifted, MAGIC)
    r = fma(n, -HALF_PI_2, fma(n, -HALF_PI, x))
    z = mul(r, r)
    y = ratio(BITS(shifted), mul(r, POLYNOMIAL(z, coefficients=SINE_TAN)), POLYNOMIAL(z, coefficients=COSINE_TAN))
    if FGT(FABS(x), LIMIT):
        y = TAN(x, rare=True)
    return y


def ratio(k, s, c):
    """s / c, or -c / s in every second quarter."""
    odd = is_odd(k)
    return FROM_BITS(IXOR(BITS(quotient(SELECT(odd, c, s), SELECT(odd, s, c))), ISHL(k, 63)))


def asin(x):
    """pi / 2 - 2 * asin(sqrt((1 - x) / 2)) for x > 1/2."""
    a = FABS(x)
    large, s, w = half_angle(a)
    found = SELECT(large, sub(fma(-2.0, s, HALF_PI), fma(2.0, w, -HALF_PI_2)), add(s, w))
    return COPYSIGN(found, x)


def acos(x):
    a = FABS(x)
    large, s, w = half_angle(a)
    near = add(s, w)
    negative = FLT(x, 0.0)
    far = SELECT(negative, sub(fma(-2.0, s, PI), fma(2.0, w, -PI_LOW)), add(near, near))
    s, w = COPYSIGN(s, x), COPYSIGN(w, x)
    return SELECT(large, far, sub(HALF_PI, add(s, sub(w, HALF_PI_2))))


def half_angle(a):
    """(whether a > 1/2, s, asin(s) - s), s is a or sqrt((1 - a) / 2)."""
    large = FGT(a, 0.5)
    z = SELECT(large, mul(0.5, sub(1.0, a)), mul(a, a))
    s = SELECT(large, sqrt(z), a)
    return large, s, mul(mul(s, z), POLYNOMIAL(z, coefficients=ARC_SINE))


def asin_single(x):
    large, y = half_angle_single(FABS(x))
    return COPYSIGN(SELECT(large, fma(-2.0, y, HALF_PI), y), x)


def acos_single(x):
    large, y = half_angle_single(FABS(x))
    far = SELECT(FLT(x, 0.0), fma(-2.0, y, PI), add(y, y))
    return SELECT(large, far, sub(HALF_PI, COPYSIGN(y, x)))


def half_angle_single(a):
    large = FGT(a, 0.5)
    z = SELECT(large, mul(0.5, sub(1.0, a)), mul(a, a))
    return large, mul(SELECT(large, sqrt(z), a), POLYNOMIAL(z, coefficients=ARC_SINE_SINGLE))


def atan(x):
    return COPYSIGN(angle(FABS(x), 1.0), x)


def atan_single(x):
    return COPYSIGN(angle_single(FABS(x), 1.0), x)


def angle(b, a):
    """atan(b / a) for a and b >= 0: of the quotient itself, or pi / 4 + atan((b - a) / (b + a)), or pi / 2 - atan(a /
    b)."""
    t, middle, steep = reduced_quotient(b, a)
    z = mul(t, t)
    high = SELECT(steep, HALF_PI, SELECT(middle, QUARTER_PI, 0.0))
    low = SELECT(steep, HALF_PI_2, SELECT(middle, QUARTER_PI_LOW, 0.0))
    return add(high, add(t, fma(mul(z, t), POLYNOMIAL(z, coefficients=ARC_TANGENT), low)))


def angle_single(b, a):
    t, middle, steep = reduced_quotient(b, a)
    high = SELECT(steep, HALF_PI, SELECT(middle, QUARTER_PI, 0.0))
    return fma(t, POLYNOMIAL(mul(t, t), coefficients=ARC_TANGENT_SINGLE), high)


def reduced_quotient(b, a):
    middle, steep = FGT(b, mul(0.5, a)), FGT(b, add(a, a))
    top = SELECT(steep, neg(a), SELECT(middle, sub(b, a), b))
    return div(top, SELECT(steep, b, SELECT(middle, add(b, a), a))), middle, steep


def atan2(y, x):
    b, a = FABS(y), FABS(x)
    scale = SELECT(FGT(add(b, a), 1e300), 0.25, 1.0)
    b, a = mul(b, scale), mul(a, scale)
    b, a = SELECT(BAND(FEQ(b, INF), FEQ(a, INF)), 1.0, b), SELECT(BAND(FEQ(b, INF), FEQ(a, INF)), 1.0, a)
    a = SELECT(BAND(FEQ(b, 0.0), FEQ(a, 0.0)), 1.0, a)
    found = angle(b, a)
    found = SELECT(ILT(BITS(x), 0), sub(PI, sub(found, PI_LOW)), found)
    return COPYSIGN(found, y)


def atan2_single(y, x):
    b, a = FABS(y), FABS(x)
    both = BAND(FEQ(b, INF), FEQ(a, INF))
    b, a = SELECT(both, 1.0, b), SELECT(both, 1.0, a)
    a = SELECT(BAND(FEQ(b, 0.0), FEQ(a, 0.0)), 1.0, a)
    found = angle_single(b, a)
    return COPYSIGN(SELECT(ILT(BITS(x), 0), sub(PI, found), found), y)
