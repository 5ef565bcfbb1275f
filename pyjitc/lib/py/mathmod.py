"""The functions of the `math` module that take numbers: rules, with the checks of CPython's mathmodule.c.

A function of the C library is followed by check_domain (nan from a number is ValueError) and check_range (infinity
from a finite number is OverflowError, or ValueError at a pole). The texts are this interpreter's own.
"""
from __future__ import annotations

import math
import sys

from ...base.lazy import lazy
from ...infer.meaning import Call, Expr, Mismatch, NotConverted, NotNative
from ...ops import math as m
from ...ops.arith import BNOT, FEQ, FLT, FMUL, TRUNCATE
from ...ops.structure import TUPLE_GET
from ...types import kinds as k
from ...types.kinds import Bool, Complex, Float, Int, NpInt, is_complex, is_float, is_number
from ..build import a_type, apply, cast, number, provoked, type_name
from ..rule import rule
from . import builtins, mathfn
from .conversions import holds_one, to_float, to_index, to_int

iteration, sums = lazy("pyjitc.lib.py.iteration"), lazy("pyjitc.lib.py.sums")

__all__ = ["CALLS", "real"]

_MUST_BE_REAL = provoked(math.sin, 1j).replace("complex", "%s")


@rule("math.prod")
def _prod(iterable, /, *, start=1):
    return Call(sums.prod, iterable, start)


@rule("math.fsum")
def _fsum(seq, /):
    return Call(iteration.fsum, seq)


def real(x: Expr) -> Expr:
    """x as a C double, as the functions convert their arguments."""
    t = x.type
    if holds_one(t):
        return to_float(x)
    if is_number(t) and t is not Complex:
        if is_complex(t):
            from_part = apply(builtins.REAL, x)
            return cast(from_part, Float)
        return cast(x, Float)
    raise NotConverted(_MUST_BE_REAL % type_name(t), "", x, float)


def _domain(r: Expr, x: Expr) -> Expr:
    return apply(m.CHECK_DOMAIN, r, x, message=mathfn.DOMAIN)


def _pole(r: Expr, x: Expr) -> Expr:
    return apply(m.CHECK_RANGE, r, x, cls=ValueError, message=mathfn.DOMAIN)


def _overflow(r: Expr, x: Expr) -> Expr:
    return apply(m.CHECK_RANGE, r, x, cls=OverflowError, message=mathfn.RANGE)


def _unary(name, op, *checks):
    @rule(f"math.{name}")
    def found(x, /):
        x = real(x)
        result = apply(op, x)
        for check in checks:
            result = check(result, x)
        return result

    return found


def _called(name, function, signature="x, /"):
    """The rule of a library function of real arguments."""
    return rule(f"math.{name}", signature)(lambda *args: Call(function, *map(real, args)))


def _direct(name, op):
    return rule(f"math.{name}", "x, y, /")(lambda x, y: apply(op, real(x), real(y)))


def _test(name, build):
    return rule(f"math.{name}", "x, /")(lambda x: build(real(x)))


_INF = number(math.inf)


def _finite(x):
    return apply(FLT, apply(m.FABS, x), _INF)


# ---------------------------------------------------------------- integers


def _rounding(name, op):
    @rule(f"math.{name}")
    def found(x, /):
        t = x.type
        if name == "trunc" and (not is_number(t) or is_complex(t) or k.is_numpy_scalar(t) and t is not k.float64):
            raise Mismatch(f"type {type_name(t)} doesn't define __trunc__ method")
        if holds_one(t):
            x = to_float(x)
            t = Float
        if not is_number(t) or is_complex(t):
            raise Mismatch(_MUST_BE_REAL % type_name(t))
        if not is_float(t) and not (isinstance(t, NpInt) and t.bits == 64):
            return to_int(x)
        x = cast(x, Float)  # NumPy integers, too: they have no method of their own
        return apply(TRUNCATE, x if op is None else apply(op, x))

    return found


def _integers(name, function, empty):
    """The rule of a library function of two integers, applied from left to right to any number of them."""

    @rule(f"math.{name}")
    def found(*args):
        args = [to_index(x) for x in args]
        if not args:
            return number(empty)
        if len(args) == 1:
            return builtins.absolute(args[0])
        result = Call(function, args[0], args[1])
        for x in args[2:]:
            result = Call(function, result, x)
        return result

    return found


@rule("math.isqrt")
def _isqrt(n, /):
    return Call(mathfn.isqrt, to_index(n))


@rule("math.factorial")
def _factorial(n, /):
    return Call(mathfn.factorial, to_index(n))


@rule("math.comb")
def _comb(n, k, /):
    return Call(mathfn.comb, to_index(n), to_index(k))


@rule("math.perm")
def _perm(n, k=None, /):
    n = to_index(n)
    return Call(mathfn.factorial, n) if k is None else Call(mathfn.perm, n, to_index(k))


# ---------------------------------------------------------------- logarithms, powers, lengths


@rule("math.log")
def _log(x, base=..., /):
    x = _log_of(x, m.LOG, mathfn.LOG_DOMAIN)
    if base.type is k.Ellipsis_:
        return x
    return Call(mathfn.log_base, x, _log_of(base, m.LOG, mathfn.LOG_DOMAIN))


def _log_of(x, op, text):
    """The rule of the logarithm of a number: ValueError where it is not positive."""
    x = real(x)
    return apply(m.CHECK_RANGE, apply(m.CHECK_DOMAIN, apply(op, x), x, message=text), x, cls=ValueError, message=text)


def _log_rule(name, op):
    return rule(f"math.{name}", "x, /")(lambda x: _log_of(x, op, mathfn.LOG_DOMAIN))


@rule("math.hypot")
def _hypot(*coordinates):
    values = [apply(m.FABS, real(x)) for x in coordinates]
    if not values:
        return number(0.0)
    if len(values) == 1:
        return values[0]
    return Call(mathfn.vector_norm, apply(builtins.TUPLE_MAKE, *values, cls=None))


@rule("math.dist")
def _dist(p, q, /):
    for x in (p, q):
        if not isinstance(x.type, k.Tuple):
            raise NotNative(f"math.dist() of {a_type(x.type)} is not compiled", "pass tuples")
    if len(p.type.elements) != len(q.type.elements):
        raise Mismatch("both points must have the same number of dimensions", "", ValueError)
    if not p.type.elements:
        return number(0.0)
    count = range(len(p.type.elements))
    points = ([real(apply(TUPLE_GET, x, index=j)) for j in count] for x in (p, q))
    return Call(mathfn.dist, *(apply(builtins.TUPLE_MAKE, *point, cls=None) for point in points))


@rule("math.isclose")
def _isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    return Call(mathfn.isclose, real(a), real(b), real(rel_tol), real(abs_tol))


@rule("math.ldexp", "x, i, /")
def _ldexp(x, n):
    if n.type is not Int and n.type is not Bool:
        raise Mismatch(provoked(math.ldexp, 1.0, 1.0))
    return Call(mathfn.ldexp, real(x), to_index(n))


@rule("math.nextafter", "x, y, /" + (", *, steps=None" if sys.version_info >= (3, 12) else ""))
def _nextafter(x, y, steps=None):
    if steps:
        raise NotNative("math.nextafter(steps=) is not compiled", "call nextafter in a loop")
    return apply(m.NEXTAFTER, real(x), real(y))


_180 = 180.0
CALLS = {
    math.prod: _prod, math.fsum: _fsum,
    math.sqrt: _unary("sqrt", m.SQRT, _domain),
    math.exp: _unary("exp", m.EXP, _overflow), math.expm1: _unary("expm1", m.EXPM1, _overflow),
    math.sin: _unary("sin", m.SIN, _domain), math.cos: _unary("cos", m.COS, _domain),
    math.tan: _unary("tan", m.TAN, _domain),
    math.asin: _unary("asin", m.ASIN, _domain), math.acos: _unary("acos", m.ACOS, _domain),
    math.atan: _unary("atan", m.ATAN),
    math.sinh: _unary("sinh", m.SINH, _overflow), math.cosh: _unary("cosh", m.COSH, _overflow),
    math.tanh: _unary("tanh", m.TANH),
    math.asinh: _unary("asinh", m.ASINH), math.acosh: _unary("acosh", m.ACOSH, _domain),
    math.atanh: _unary("atanh", m.ATANH, _domain, _pole), math.log1p: _unary("log1p", m.LOG1P, _domain, _pole),
    math.erf: _unary("erf", m.ERF), math.erfc: _unary("erfc", m.ERFC), math.fabs: _unary("fabs", m.FABS),
    math.gamma: _called("gamma", mathfn.gamma), math.lgamma: _called("lgamma", mathfn.lgamma),
    math.atan2: _direct("atan2", m.ATAN2), math.copysign: _direct("copysign", m.COPYSIGN), math.nextafter: _nextafter,
    math.degrees: _test("degrees", lambda x: apply(FMUL, x, number(_180 / math.pi))),
    math.radians: _test("radians", lambda x: apply(FMUL, x, number(math.pi / _180))),
    math.isnan: _test("isnan", lambda x: apply(BNOT, apply(FEQ, x, x))), math.isfinite: _test("isfinite", _finite),
    math.isinf: _test("isinf", lambda x: apply(FEQ, apply(m.FABS, x), _INF)),
    math.floor: _rounding("floor", m.FLOOR), math.ceil: _rounding("ceil", m.CEIL), math.trunc: _rounding("trunc", None),
    math.gcd: _integers("gcd", mathfn.gcd, empty=0), math.lcm: _integers("lcm", mathfn.lcm, empty=1),
    math.isqrt: _isqrt, math.factorial: _factorial, math.comb: _comb, math.perm: _perm,
    math.log: _log, math.log2: _log_rule("log2", m.LOG2), math.log10: _log_rule("log10", m.LOG10),
    math.pow: _called("pow", mathfn.power, "x, y, /"), math.fmod: _called("fmod", mathfn.fmod, "x, y, /"),
    math.remainder: _called("remainder", mathfn.remainder, "x, y, /"), math.hypot: _hypot, math.dist: _dist,
    math.isclose: _isclose,
    math.modf: _called("modf", mathfn.modf), math.frexp: _called("frexp", mathfn.frexp), math.ldexp: _ldexp,
    math.ulp: _called("ulp", mathfn.ulp),
}
if hasattr(math, "cbrt"):  # 3.11
    CALLS[math.cbrt] = _unary("cbrt", m.CBRT)
    CALLS[math.exp2] = _unary("exp2", m.EXP2, _overflow)
if hasattr(math, "fma"):  # 3.13
    CALLS[math.fma] = _called("fma", mathfn.fma, "x, y, z, /")
