"""Frequent functions of float32 computed in float32, whose vectors have twice as many elements as those of doubles.

The algorithms are those of circular, exponential, logarithm and power; errors reach 2.5 units in the last place.
"""
from __future__ import annotations

import numpy as np

from ...ops.arith import BAND, BNOT, FEQ, FGE, FGT, FLT, CAST, IADD, IAND, ILT, INE, ISHL, ISHR, ISUB, IXOR
from ...ops.math import BITS32, COPYSIGN, COS, FABS, FROM_BITS32, LOOKUP_SINGLE, POLYNOMIAL, POW_REST, SIN
from ...ops.structure import SELECT
from ...types.kinds import float32
from .blocks import add, fma, mul, neg, quotient, sub

__all__ = ["sin", "cos", "exp", "exp2", "log", "tanh", "pow"]

f32, i32 = np.float32, np.int32
ZERO, ONE, TWO, TWENTY = map(f32, (0.0, 1.0, 2.0, 20.0))
INF, MINUS_INF, NAN = map(f32, (np.inf, -np.inf, np.nan))
MAGIC, MAGIC_BITS = f32(1.5 * 2.0**23), i32(0x4B400000)
BIAS, FRACTION_BITS, HALF_BITS, ONE_BITS = map(i32, (127, 23, 22, 0x3F800000))
NO, UNIT, BIT, SIGN_BITS = map(i32, (0, 1, 2, 30))
LOG2E, LN2 = f32(1.4426950408889634), f32(0.6931471805599453)
LN2_HIGH, LN2_LOW = f32(0.693359375), f32(-2.12194440e-4)  # the first has 9 bits: its products are exact
MINUS_LN2_HIGH, MINUS_LN2_LOW = -LN2_HIGH, -LN2_LOW
MOST, LEAST, MOST_2, LEAST_2 = map(f32, (89.0, -104.0, 128.5, -150.5))

TWO_OVER_PI, HALF_PI, HALF_PI_2, HALF_PI_3 = map(f32, (0.6366197723675814, 1.5707963705062866, -4.371138828673793e-08,
                                                       -1.7151245100058819e-15))
LARGE = f32(100000.0)  # the reduction by three parts is not accurate for larger arguments
# (sin(r) / r - 1) / r**2 and (cos(r) - 1) / r**2 in r**2, |r| <= pi / 4
SINE = (-0.16666664650298102, 0.008332745937548115, -0.00019587387320241361)
COSINE = (-0.5, 0.04166666464746341, -0.0013888300698073966, 2.454743746250183e-05)
TAIL = (0.5, 0.16666576986698775, 0.041666554617204574, 0.008363179052722578, 0.0013926183587713494)
LOG = (-0.49999997120062994, 0.3333367128198419, -0.250011513077699, 0.19972012308746692, -0.16588335501840304,
       0.14835124946650224, -0.141612040352545, 0.08788247451573125)
# As in power, in float32: tables of sixteen, multiples of 2**-16
LOWEST, EXPONENT = i32(0x3F495DDE), i32(-(1 << 23))
INVERSES = (1.25, 1.1875, 1.15625, 1.125, 1.09375, 1.03125, 1.0, 0.96875, 0.90625, 0.859375, 0.8125, 0.78125, 0.734375,
            0.703125, 0.671875, 0.65625)
LOGS = (-0.22314453125, -0.171844482421875, -0.1451873779296875, -0.1177825927734375, -0.0896148681640625,
        -0.0307769775390625, 0.0, 0.0317535400390625, 0.0984344482421875, 0.15155029296875, 0.2076416015625,
        0.246856689453125, 0.3087310791015625, 0.3522186279296875, 0.3976898193359375, 0.4212188720703125)
LOGS_LOW = (9.799357485462679e-07, -5.774504643341061e-06, 5.368085112422705e-06, -4.428829356584174e-07,
            2.709474301809678e-06, 5.3188723541097715e-06, 0.0, -4.841724603465991e-06, 5.624571258522337e-06,
            -3.9484154967794893e-07, -2.236784212072962e-06, 3.388478489796398e-06, 4.40254825662123e-06,
            1.965659748748294e-06, -6.851669695606688e-06, -5.406994205259252e-06)
POWERS = (1.0, 0.9908868670463562, 0.9827538728713989, 0.9756442904472351, 0.9696035385131836, 0.9646788835525513,
          0.9609197974205017, 0.9583777785301208, 0.9571067690849304, 0.9571630954742432, 0.9586054086685181,
          0.9614951610565186, 0.9658964276313782, 0.9718760848045349, 0.9795040488243103, 0.9888532757759094)
POWERS_LOW = (0.0, 4.6285471455576044e-08, -1.199215748926008e-08, 4.7297824323777604e-08, 3.1934181521364735e-08,
              3.621057231839586e-08, -3.0990719324108795e-08, -7.475213337215791e-09, 1.7114270889351246e-08,
              -3.047683350132502e-08, 5.233334210430485e-09, 6.10759176566944e-09, -1.4719605090363075e-08,
              -5.258795177098818e-09, -6.128259677495862e-09, 5.140609271592211e-09)
LN2_TOP, LN2_REST = map(f32, (8.262941264547408e-08, 1.7030319754245127e-13))  # of ln(2) / 2**23
SIXTEENTHS, MINUS_SIXTEENTH, MINUS_SIXTEENTH_LOW = map(f32, (23.083120346069336, -0.0433197021484375,
                                                             -1.9966364561696537e-06))
LOG_REST = (0.33333328914414223, -0.2499999613331061, 0.20022482948524636, -0.16686339848459816)
EXP_REST = (0.5, 0.16668106725913803, 0.04166906674072523)
MINUS_HALF, MINUS_ONE, LIMIT, LEAST_X, MOST_X, TABLE_BITS = *map(f32, (-0.5, -1.0, 87.3, 2.0**-125, 2.0**127)), i32(19)
ROOT_HALF_BITS, ONE_LESS_ROOT_HALF = i32(0x3F3504F3), i32(0x3F800000 - 0x3F3504F3)
FRACTION, SMALLEST_BITS, MANY, MANY_BITS = i32(0x007FFFFF), i32(0x00800000), f32(2.0**25), i32(25)


def power_of_two(k):
    return FROM_BITS32(ISHL(IADD(k, BIAS), FRACTION_BITS))


def integer(shifted):
    return ISUB(BITS32(shifted), MAGIC_BITS)


def one_more_scaled(t, shifted):
    """(1 + t) * 2**k in two steps, for |t| < 1/2, since 2**k or the result may exceed the range of exponents. shifted:
    the sum of k and MAGIC, whose last bits are 0: none of its bits is left when k is at the place of the exponent."""
    bits = BITS32(shifted)
    half = IAND(ISHL(bits, HALF_BITS), EXPONENT)  # k // 2 at the place of the exponent
    s, rest = IADD(half, ONE_BITS), IADD(ISUB(ISHL(bits, FRACTION_BITS), half), ONE_BITS)
    return mul(fma(t, FROM_BITS32(s), FROM_BITS32(s)), FROM_BITS32(rest))


def reduced(y):
    """(r, k + MAGIC): y = r + k * ln(2), |r| <= ln(2) / 2."""
    shifted = fma(y, LOG2E, MAGIC)
    n = sub(shifted, MAGIC)
    return fma(n, MINUS_LN2_LOW, fma(n, MINUS_LN2_HIGH, y)), shifted


def small_expm1(r):
    """e**r - 1, |r| <= ln(2) / 2"""
    return fma(mul(r, r), POLYNOMIAL(r, coefficients=TAIL), r)


def exp(x):
    y = SELECT(FGT(x, MOST), MOST, x)
    y = SELECT(FLT(y, LEAST), LEAST, y)
    r, shifted = reduced(y)
    return one_more_scaled(small_expm1(r), shifted)


def exp2(x):
    y = SELECT(FGT(x, MOST_2), MOST_2, x)
    y = SELECT(FLT(y, LEAST_2), LEAST_2, y)
    shifted = add(y, MAGIC)
    r = mul(sub(y, sub(shifted, MAGIC)), LN2)
    return one_more_scaled(small_expm1(r), shifted)


def quarter(x):
    """(r, k): x = r + k * pi / 2, |r| <= pi / 4, k in the low bits, for |x| <= LARGE."""
    shifted = fma(x, TWO_OVER_PI, MAGIC)
    n = sub(shifted, MAGIC)
    return fma(n, neg(HALF_PI_3), fma(n, neg(HALF_PI_2), fma(n, neg(HALF_PI), x))), BITS32(shifted)


def sine(r):
    z = mul(r, r)
    return fma(mul(z, POLYNOMIAL(z, coefficients=SINE)), r, r)


def cosine(r):
    z = mul(r, r)
    return fma(z, POLYNOMIAL(z, coefficients=COSINE), ONE)


def turned(k, even, odd):
    """As in circular."""
    return FROM_BITS32(IXOR(BITS32(SELECT(INE(IAND(k, UNIT), NO), odd, even)), ISHL(IAND(k, BIT), SIGN_BITS)))


def small_sin(x):
    r, k = quarter(x)
    return SELECT(FEQ(x, ZERO), x, turned(k, sine(r), cosine(r)))


def small_cos(x):
    r, k = quarter(x)
    return turned(IADD(k, UNIT), sine(r), cosine(r))


def sin(x):
    y = small_sin(x)
    if FGT(FABS(x), LARGE):
        y = SIN(x, rare=True)
    return y


def cos(x):
    y = small_cos(x)
    if FGT(FABS(x), LARGE):
        y = COS(x, rare=True)
    return y


def tanh(x):
    """e / (e + 2), e = exp(2 * |x|) - 1"""
    a = FABS(x)
    y = add(a, a)
    y = SELECT(FGT(y, TWENTY), TWENTY, y)
    r, shifted = reduced(y)
    s = power_of_two(integer(shifted))
    e = fma(s, small_expm1(r), sub(s, ONE))
    return COPYSIGN(quotient(e, add(e, TWO)), x)


def split(x):
    """(f, n): x = 2**n * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for a positive x."""
    bits = BITS32(x)
    small = ILT(bits, SMALLEST_BITS)
    u = IADD(SELECT(small, BITS32(mul(x, MANY)), bits), ONE_LESS_ROOT_HALF)
    k = ISUB(ISUB(ISHR(u, FRACTION_BITS), BIAS), SELECT(small, MANY_BITS, NO))
    n = sub(FROM_BITS32(IADD(k, MAGIC_BITS)), MAGIC)
    return sub(FROM_BITS32(IADD(IAND(u, FRACTION), ROOT_HALF_BITS)), ONE), n


def at_ends(found, x):
    """The logarithm of any x; `found` is its value if x is positive and finite."""
    found = SELECT(FLT(x, INF), found, x)
    found = SELECT(FEQ(x, ZERO), MINUS_INF, found)
    return SELECT(FLT(x, ZERO), NAN, found)


def log(x):
    f, n = split(x)
    return at_ends(fma(n, LN2_HIGH, fma(mul(f, f), POLYNOMIAL(f, coefficients=LOG), fma(n, LN2_LOW, f))), x)


def pow(x, y):
    """As in power."""
    a = FABS(x)
    u = ISUB(BITS32(a), LOWEST)
    octave = IAND(u, EXPONENT)
    n = CAST(octave, type=float32)  # 2**23 times the exponent
    i = ISHR(u, TABLE_BITS)
    f = fma(FROM_BITS32(ISUB(BITS32(a), octave)), LOOKUP_SINGLE(i, table=INVERSES), MINUS_ONE)
    t = fma(n, LN2_TOP, LOOKUP_SINGLE(i, table=LOGS))
    t2 = add(t, f)
    square = mul(f, f)
    high = fma(square, MINUS_HALF, t2)
    low = add(fma(n, LN2_REST, LOOKUP_SINGLE(i, table=LOGS_LOW)), add(sub(t, t2), f))
    low = fma(mul(square, f), POLYNOMIAL(f, coefficients=LOG_REST), fma(fma(f, f, neg(square)), MINUS_HALF, low))
    low = add(low, fma(square, MINUS_HALF, sub(t2, high)))
    p = mul(high, y)
    rest = fma(low, y, fma(high, y, neg(p)))
    shifted = fma(p, SIXTEENTHS, MAGIC)
    k = sub(shifted, MAGIC)
    r = add(fma(k, MINUS_SIXTEENTH, p), fma(k, MINUS_SIXTEENTH_LOW, rest))
    j = BITS32(shifted)
    s = FROM_BITS32(IADD(BITS32(LOOKUP_SINGLE(j, table=POWERS)), ISHL(j, TABLE_BITS)))
    tail = fma(mul(r, r), POLYNOMIAL(r, coefficients=EXP_REST), add(r, LOOKUP_SINGLE(j, table=POWERS_LOW)))
    found = fma(s, tail, s)
    if BNOT(BAND(BAND(FGE(x, LEAST_X), FLT(x, MOST_X)), FLT(FABS(p), LIMIT))):
        found = POW_REST(x, y, p, found)
    return found
