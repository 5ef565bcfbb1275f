"""The rules of ufuncs by the kind of their operands, as expressions of one element: those of operators (arithmetic.py)
and those of functions."""
from __future__ import annotations

import math
from typing import Callable

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Call, Const
from ....ops import math as m
from ....ops.arith import (
    BAND, BNOT, BOR, BXOR, COMPLEX_MAKE, FADD, FDIV, FEQ, FGE, FGT, FLE, FLT, FMUL, FNE, FNEG, FREM, FSUB, IABS,
    IGE, IGT, ILE, ILT, IMAG, IMOD, IMUL, INE, INEG, IEQ, ISUB, REAL,
)
from ....ops.structure import SELECT
from ....types import kinds as k
from ....types.lattice import dtype_of
from ...build import apply, cast
from . import arithmetic, operators
from .arithmetic import called, constant, of, of_operator, same

numbers = lazy("pyjitc.lib.np.elementwise.numbers")

__all__ = ["RULES"]


def _power(x, y):
    """The rule of np.power for elements of arrays. NumPy computes float32 in float32; a power of two scalars is rounded
    from double precision (operators.py)."""
    if x.type is k.float32 and not y.known:
        return apply(m.POW, x, y)
    return operators.BINARY["f"]["**"](x, y)


def _floats(op, complex_op=None):
    rules = {"f": of(op)}
    if complex_op is not None:
        rules["c"] = of(complex_op)
    return rules


def _answer(value):
    """The rule of a test whose result does not depend on the operand's value."""
    return lambda x: Const(k.bool_, np.bool_(value))


def _test(floating, other, both):
    """The rule of a predicate of floats; `both` combines the results for the parts of a complex number: all or any."""

    def of_complex(x):
        return cast(apply(both, floating(apply(REAL, x)), floating(apply(IMAG, x))), k.bool_)

    return {"f": lambda x: cast(floating(x), k.bool_), "c": of_complex, **{kind: _answer(other) for kind in "biu"}}


def _isnan(x):
    return apply(FNE, x, x)


def _isinf(x):
    return apply(FEQ, apply(m.FABS, x), constant(x.type, np.inf))


def _isfinite(x):
    return apply(FLT, apply(m.FABS, x), constant(x.type, np.inf))


def _choice(relation):
    """x where relation(x, y), else y."""
    return lambda x, y: apply(SELECT, apply(relation, x, y), x, y)


def _bounded(relation, nan_of_first):
    """The rule of maximum, fmax and similar functions: x where relation(x, y), else y, apart from nan. nan_of_first: x
    is also the result where x is nan (as for maximum); else it is the result where y is nan (as for fmax)."""

    def rule(x, y):
        nan = x if nan_of_first else y
        return apply(SELECT, apply(BOR, apply(relation, x, y), apply(FNE, nan, nan)), x, y)

    return rule


def _complex_bounded(symbol, nan_of_first):
    first = operators.complex_relation(symbol, as_loop=True)

    def rule(x, y):
        z = x if nan_of_first else y
        nan = apply(BOR, _isnan(apply(REAL, z)), _isnan(apply(IMAG, z)))
        return apply(SELECT, apply(BOR, first(x, y), nan), x, y)

    return rule


def _extreme(symbol, integer, floating, logical, nan_of_first):
    return {"b": of(logical), "i": _choice(integer), "f": _bounded(floating, nan_of_first),
            "c": _complex_bounded(symbol, nan_of_first)}


def _sign(x):
    zero, one = constant(x.type, 0), constant(x.type, 1)
    if k.is_float(x.type):
        below = apply(SELECT, apply(FLT, x, zero), constant(x.type, -1), apply(SELECT, apply(FEQ, x, zero), zero, x))
        return apply(SELECT, apply(FGT, x, zero), one, below)
    negative = zero if not x.type.signed else apply(SELECT, apply(ILT, x, zero), constant(x.type, -1), zero)
    return apply(SELECT, apply(IGT, x, zero), one, negative)


def _reciprocal(x):
    if k.is_float(x.type):
        return apply(FDIV, constant(x.type, 1), x)
    return cast(apply(FDIV, constant(k.float64, 1), cast(x, k.float64)), x.type)


def _fmod(x, y):
    """C's %: the sign is that of x; 0 where y is 0."""
    if not x.type.signed:
        return apply(IMOD, x, y)
    rest = apply(IMOD, apply(IABS, x), apply(IABS, y))
    least = constant(x.type, np.iinfo(dtype_of(x.type)).min)
    plain = apply(SELECT, apply(ILT, x, constant(x.type, 0)), apply(INEG, rest), rest)
    return apply(SELECT, apply(BOR, apply(IEQ, x, least), apply(IEQ, y, least)), _fmod_by_floor(x, y), plain)


def _fmod_by_floor(x, y):
    rest = apply(IMOD, x, y)
    zero = constant(x.type, 0)
    flip = apply(BAND, apply(INE, rest, zero), apply(BXOR, apply(ILT, x, zero), apply(ILT, y, zero)))
    return apply(SELECT, flip, apply(ISUB, rest, y), rest)


def _scaled(factor):
    """The rule of a multiplication by a constant, which is rounded to the operand's type first."""

    def rule(x):
        if x.type is k.float16:
            return cast(rule(cast(x, k.float32)), k.float16)
        return apply(FMUL, x, constant(x.type, factor(dtype_of(x.type).type)))

    return rule


def _by_type(**names):
    return lambda x: Call(getattr(numbers, names[x.type.text]), x)


def _divmod(x, y):
    if isinstance(x.type, k.NpInt):
        return Call(numbers.int_divmod, x, y)
    return Call(numbers.half_divmod if x.type is k.float16 else numbers.float_divmod, x, y)


def _unsigned(name):
    """The rule of gcd or lcm, computed on absolute values."""

    def rule(x, y):
        t, function = x.type, getattr(numbers, name)
        if not t.signed:
            return Call(function, x, y)
        wide = k.NpInt(t.bits, False)
        return cast(Call(function, *(cast(apply(IABS, z), wide) for z in (x, y))), t)

    return rule


def _logical(op):
    rule = of(op)
    return {kind: lambda *xs: rule(*[cast(x, k.bool_) for x in xs]) for kind in "biufc"}


def _each_part(rule):
    return lambda x: apply(COMPLEX_MAKE, rule(apply(REAL, x)), rule(apply(IMAG, x)))


def _times(factor):
    return _each_part(lambda part: apply(FMUL, part, constant(part.type, factor)))


def _complex_log1p(x):
    re, im = apply(FADD, apply(REAL, x), constant(apply(REAL, x).type, 1)), apply(IMAG, x)
    return apply(COMPLEX_MAKE, apply(m.LOG, apply(m.HYPOT, re, im)), apply(m.ATAN2, im, re))


def _complex_expm1(x):
    re, im = apply(REAL, x), apply(IMAG, x)
    a = apply(m.SIN, apply(FMUL, im, constant(im.type, 0.5)))
    twice = apply(FMUL, constant(a.type, 2), apply(FMUL, a, a))
    return apply(COMPLEX_MAKE, apply(FSUB, apply(FMUL, apply(m.EXPM1, re), apply(m.COS, im)), twice),
                 apply(FMUL, apply(m.EXP, re), apply(m.SIN, im)))


def _conjugate(x):
    return apply(COMPLEX_MAKE, apply(REAL, x), apply(FNEG, apply(IMAG, x)))


def _heaviside(x, middle):
    zero = constant(x.type, 0)
    above = apply(SELECT, apply(FGT, x, zero), constant(x.type, 1), apply(SELECT, apply(FEQ, x, zero), middle, x))
    return apply(SELECT, apply(FLT, x, zero), zero, above)


def _in_single(name):
    """The rule for half-precision operands, computed in single precision as in NumPy's loops."""

    def rule(x, y):
        function = getattr(numbers, name)
        if x.type is k.float16:
            return cast(Call(function, cast(x, k.float32), cast(y, k.float32)), k.float16)
        return Call(function, x, y)

    return rule


RULES: dict[np.ufunc, dict[str, Callable]] = {
    **arithmetic.RULES,
    np.power: {**of_operator("**"), "f": _power},
    np.float_power: {**_floats(m.POW), "c": called("complex_pow")},
    np.fmod: {"i": _fmod, "f": of(FREM)}, np.divmod: {"i": _divmod, "f": _divmod},
    np.absolute: {"b": same, "i": of(IABS), "f": of(m.FABS),
                  "c": lambda x: RULES[np.hypot]["f"](apply(REAL, x), apply(IMAG, x))},
    np.fabs: _floats(m.FABS), np.sign: {"i": _sign, "f": _sign, "c": called("complex_sign")},
    np.square: {"i": lambda x: apply(IMUL, x, x), "f": lambda x: apply(FMUL, x, x),
                "c": lambda x: Call(numbers.complex_mul, x, x)},
    np.reciprocal: {"i": _reciprocal, "f": _reciprocal, "c": called("complex_reciprocal")},
    np.conjugate: {"b": same, "i": same, "f": same, "c": _conjugate},
    np.sqrt: _floats(m.SQRT, m.CSQRT), np.cbrt: _floats(m.CBRT),
    np.exp: _floats(m.EXP, m.CEXP),
    np.exp2: {**_floats(m.EXP2), "c": lambda x: apply(m.CEXP, _times(math.log(2.0))(x))},
    np.expm1: {**_floats(m.EXPM1), "c": _complex_expm1}, np.log: _floats(m.LOG, m.CLOG),
    np.log2: {**_floats(m.LOG2), "c": lambda x: _times(1.0 / math.log(2.0))(apply(m.CLOG, x))},
    np.log10: {**_floats(m.LOG10), "c": lambda x: _times(math.log10(math.e))(apply(m.CLOG, x))},
    np.log1p: {**_floats(m.LOG1P), "c": _complex_log1p}, np.sin: _floats(m.SIN, m.CSIN),
    np.cos: _floats(m.COS, m.CCOS), np.tan: _floats(m.TAN, m.CTAN),
    np.arcsin: _floats(m.ASIN, m.CASIN), np.arccos: _floats(m.ACOS, m.CACOS),
    np.arctan: _floats(m.ATAN, m.CATAN), np.sinh: _floats(m.SINH, m.CSINH),
    np.cosh: _floats(m.COSH, m.CCOSH), np.tanh: _floats(m.TANH, m.CTANH),
    np.arcsinh: _floats(m.ASINH, m.CASINH), np.arccosh: _floats(m.ACOSH, m.CACOSH),
    np.arctanh: _floats(m.ATANH, m.CATANH), np.arctan2: _floats(m.ATAN2),
    np.hypot: _floats(m.HYPOT), np.copysign: _floats(m.COPYSIGN), np.nextafter: _floats(m.NEXTAFTER),
    np.logaddexp: {"f": _in_single("logaddexp")}, np.logaddexp2: {"f": _in_single("logaddexp2")},
    np.degrees: {"f": _scaled(lambda t: t(180.0) / t(np.pi))},
    np.radians: {"f": _scaled(lambda t: t(np.pi) / t(180.0))},
    np.rad2deg: {"f": _scaled(lambda t: t(180.0) / t(np.pi))},
    np.deg2rad: {"f": _scaled(lambda t: t(np.pi) / t(180.0))},
    np.floor: {"f": of(m.FLOOR), "i": same, "b": same}, np.ceil: {"f": of(m.CEIL), "i": same, "b": same},
    np.trunc: {"f": of(m.TRUNC), "i": same, "b": same}, np.rint: {"f": of(m.RINT), "c": _each_part(of(m.RINT))},
    np.isnan: _test(_isnan, False, BOR), np.isinf: _test(_isinf, False, BOR), np.isfinite: _test(_isfinite, True, BAND),
    np.signbit: {"f": lambda x: cast(apply(m.SIGNBIT, x), k.bool_)},
    np.spacing: {"f": called("spacing")}, np.heaviside: {"f": _heaviside},
    np.modf: {"f": called("modf")},
    np.frexp: {"f": _by_type(float64="frexp", float32="frexp32", float16="frexp16")},
    np.ldexp: {"f": lambda x, n: apply(m.LDEXP, x, cast(n, k.Int))},
    np.maximum: _extreme(">=", IGE, FGT, BOR, True), np.minimum: _extreme("<=", ILE, FLT, BAND, True),
    np.fmax: _extreme(">=", IGE, FGE, BOR, False), np.fmin: _extreme("<=", ILE, FLE, BAND, False),
    np.logical_and: _logical(BAND), np.logical_or: _logical(BOR), np.logical_xor: _logical(BXOR),
    np.logical_not: _logical(BNOT),
    np.gcd: {"i": _unsigned("gcd")}, np.lcm: {"i": _unsigned("lcm")},
}
RULES[np.isnat] = {}  # only dates and durations have rules: dates/rules.py
if hasattr(np, "bitwise_count"):  # NumPy 2.0
    RULES[np.bitwise_count] = {"i": called("bit_count")}
