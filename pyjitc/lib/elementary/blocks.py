"""Building blocks of the elementary functions in exponential, logarithm, power and circular, on CPUs and GPUs.

They are branch-free, so that loops over arrays vectorise, and written in the compiled subset on Python floats: the same
source serves scalars, arrays and other targets. Rare arguments that need another algorithm are passed to the C library
in a branch (see codegen/forms.py), on a GPU to a function of gpu.py. float32 is computed in double with fewer terms, so
that its results are correctly rounded but for rare ties, or in float32 (single, gpu_single). Errors:
docs/vector_math.md; coefficients: docs/vector_fits.py.

The arithmetic follows IEEE 754 under fastmath, too: operations that look redundant recover rounding errors.
"""
from __future__ import annotations

from functools import partial

from ...ops.arith import FADD, FDIV, FMUL, FNEG, FSUB, IADD, IAND, INE, ISHL, ISHR, ISUB
from ...ops.math import BITS, FMA, FROM_BITS, SQRT

__all__ = ["add", "sub", "mul", "div", "fma", "sqrt", "neg", "quotient", "MAGIC", "MAGIC_BITS", "LN2",
           "LN2_HIGH", "LN2_LOW", "power_of_two", "integer", "scaled", "is_odd"]

add, sub, mul, div, fma, sqrt, neg = (partial(op, exact=True) for op in (FADD, FSUB, FMUL, FDIV, FMA, SQRT, FNEG))
quotient = partial(FDIV, exact=True, normal=True)

MAGIC = 1.5 * 2.0**52  # adding it to a small number rounds that to an integer in the low bits of the sum
MAGIC_BITS = 0x4338000000000000
LN2 = 0.6931471805599453
# ln(2) in two parts, of which the first ends in zero bits
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45")


def integer(shifted):
    """The integer in the low bits of the sum of a number and MAGIC."""
    return ISUB(BITS(shifted), MAGIC_BITS)


def is_odd(k):
    return INE(IAND(k, 1), 0)


def power_of_two(k):
    """2.0 ** k for -1022 <= k <= 1023."""
    return FROM_BITS(ISHL(IADD(k, 1023), 52))


def scaled(p, k):
    """p * 2.0 ** k in two steps, since the power or the result may exceed the range of exponents."""
    half = ISHR(k, 1)
    return mul(mul(p, power_of_two(half)), power_of_two(ISUB(k, half)))
