"""The functions of the `math` module that take numbers: rules, with the checks of CPython's mathmodule.c.

A function of the C library is followed by check_domain (nan from a number is ValueError) and check_range (infinity
from a finite number is OverflowError, or ValueError at a pole). The texts are this interpreter's own.
"""
from __future__ import annotations

import math

from ...base.lazy import lazy
from ...infer.meaning import Call, Expr, Mismatch
from ...ops import math as m
from ...ops.arith import BNOT, FEQ, FLT, FMUL, TRUNCATE
from ...ops.structure import TUPLE_GET
from ...types import kinds as k
from ...types.kinds import Bool, Complex, Float, Int, NpInt, is_complex, is_float, is_number
from ..build import apply, cast, number, provoked, type_name
from . import builtins, mathfn
from .conversions import take, to_index, to_int

iteration = lazy("pyjitc.lib.py.iteration")

__all__ = ["CALLS", "real"]

_MUST_BE_REAL = provoked(math.sin, 1j).replace("complex", "%s")


def _prod(args, kwargs):
    (iterable,) = take("prod", args, {key: x for key, x in kwargs.items() if key != "start"}, 1, 1)
    return Call(iteration.prod, iterable, kwargs.get("start") or number(1))


def _fsum(args, kwargs):
    return Call(iteration.fsum, *take("fsum", args, kwargs, 1, 1))


def real(x: Expr) -> Expr:
    """x as the C double of an argument."""
    t = x.type
    if is_number(t) and t is not Complex:
        if is_complex(t):
            from_part = apply(builtins.REAL, x)
            return cast(from_part, Float)
        return cast(x, Float)
    raise Mismatch(_MUST_BE_REAL % type_name(t))


def _domain(r: Expr, x: Expr) -> Expr:
    return apply(m.CHECK_DOMAIN, r, x, message=mathfn.DOMAIN)


def _pole(r: Expr, x: Expr) -> Expr:
    return apply(m.CHECK_RANGE, r, x, cls=ValueError, message=mathfn.DOMAIN)


def _overflow(r: Expr, x: Expr) -> Expr:
    return apply(m.CHECK_RANGE, r, x, cls=OverflowError, message=mathfn.RANGE)


def _unary(name, op, *checks):
    def rule(args, kwargs):
        (x,) = take(f"math.{name}", args, kwargs, 1, 1)
        x = real(x)
        result = apply(op, x)
        for check in checks:
            result = check(result, x)
        return result

    return rule


def _called(name, function, low=1, high=None, keywords=()):
    """Real arguments to a library function."""

    def rule(args, kwargs):
        args = take(f"math.{name}" if low == 1 == (high or low) else name, args, kwargs, low, high or low)
        return Call(function, *map(real, args))

    return rule


def _direct(name, op):
    def rule(args, kwargs):
        args = take(name, args, kwargs, 2, 2)
        return apply(op, *map(real, args))

    return rule


def _test(name, build):
    def rule(args, kwargs):
        (x,) = take(f"math.{name}", args, kwargs, 1, 1)
        return build(real(x))

    return rule


_INF = number(math.inf)


def _finite(x):
    return apply(FLT, apply(m.FABS, x), _INF)


# ---------------------------------------------------------------- whole numbers


def _rounding(name, op):
    def rule(args, kwargs):
        (x,) = take(f"math.{name}", args, kwargs, 1, 1)
        t = x.type
        if name == "trunc" and (not is_number(t) or is_complex(t) or k.is_numpy_scalar(t) and t is not k.float64):
            raise Mismatch(f"type {type_name(t)} doesn't define __trunc__ method")
        if not is_number(t) or is_complex(t):
            raise Mismatch(_MUST_BE_REAL % type_name(t))
        if not is_float(t) and not (isinstance(t, NpInt) and t.bits == 64):
            return to_int(x)
        x = cast(x, Float)  # an integer of NumPy's, too: it has no method of its own
        return apply(TRUNCATE, x if op is None else apply(op, x))

    return rule


def _integers(name, function, low, high=None, empty=None, one=None):
    """Integer arguments to a library function of two, folded from the left."""

    def rule(args, kwargs):
        if kwargs:
            raise Mismatch(f"math.{name}() takes no keyword arguments")
        args = [to_index(x) for x in args]
        if not args:
            return number(empty)
        if len(args) == 1:
            return builtins.absolute(args[0])
        result = Call(function, args[0], args[1])
        for x in args[2:]:
            result = Call(function, result, x)
        return result

    return rule


def _isqrt(args, kwargs):
    (x,) = take("math.isqrt", args, kwargs, 1, 1)
    return Call(mathfn.isqrt, to_index(x))


def _factorial(args, kwargs):
    (x,) = take("math.factorial", args, kwargs, 1, 1)
    return Call(mathfn.factorial, to_index(x))


def _comb(args, kwargs):
    x, n = take("comb", args, kwargs, 2, 2)
    return Call(mathfn.comb, to_index(x), to_index(n))


def _perm(args, kwargs):
    args = take("perm", args, kwargs, 1, 2)
    n = to_index(args[0])
    if len(args) == 1 or args[1].type is k.NoneType:
        return Call(mathfn.factorial, n)
    return Call(mathfn.perm, n, to_index(args[1]))


# ---------------------------------------------------------------- logarithms, powers, lengths


def _log(args, kwargs):
    args = take("log", args, kwargs, 1, 2)
    x = _log_of(args[0], m.LOG, mathfn.LOG_DOMAIN)
    if len(args) == 1:
        return x
    return Call(mathfn.log_base, x, _log_of(args[1], m.LOG, mathfn.LOG_DOMAIN))


def _log_of(x, op, text):
    """log of a number: ValueError where it is not positive."""
    x = real(x)
    return apply(m.CHECK_RANGE, apply(m.CHECK_DOMAIN, apply(op, x), x, message=text), x, cls=ValueError, message=text)


def _log_rule(name, op):
    return lambda args, kwargs: _log_of(*take(f"math.{name}", args, kwargs, 1, 1), op, mathfn.LOG_DOMAIN)


def _hypot(args, kwargs):
    if kwargs:
        raise Mismatch("math.hypot() takes no keyword arguments")
    values = [apply(m.FABS, real(x)) for x in args]
    if not values:
        return number(0.0)
    if len(values) == 1:
        return values[0]
    return Call(mathfn.vector_norm, apply(builtins.TUPLE_MAKE, *values, cls=None))


def _dist(args, kwargs):
    p, q = take("dist", args, kwargs, 2, 2)
    for x in (p, q):
        if not isinstance(x.type, k.Tuple):
            raise Mismatch(f"math.dist() of a {type_name(x.type)} is not compiled", "pass tuples")
    if len(p.type.elements) != len(q.type.elements):
        raise Mismatch("both points must have the same number of dimensions", "", ValueError)
    if not p.type.elements:
        return number(0.0)
    count = range(len(p.type.elements))
    points = ([real(apply(TUPLE_GET, x, index=j)) for j in count] for x in (p, q))
    return Call(mathfn.dist, *(apply(builtins.TUPLE_MAKE, *point, cls=None) for point in points))


def _isclose(args, kwargs):
    slots = dict(zip(("a", "b"), args))
    slots.update(kwargs)
    if len(args) > 2 or not {"a", "b"} <= set(slots) <= {"a", "b", "rel_tol", "abs_tol"}:
        raise Mismatch("isclose() takes the arguments a, b, rel_tol and abs_tol")
    return Call(mathfn.isclose, real(slots["a"]), real(slots["b"]), real(slots.get("rel_tol", number(1e-09))),
                real(slots.get("abs_tol", number(0.0))))


def _ldexp(args, kwargs):
    x, n = take("ldexp", args, kwargs, 2, 2)
    if n.type is not Int and n.type is not Bool:
        raise Mismatch(provoked(math.ldexp, 1.0, 1.0))
    return Call(mathfn.ldexp, real(x), to_index(n))


def _nextafter(args, kwargs):
    steps = kwargs.get("steps")
    if steps is not None and steps.type is not k.NoneType:
        raise Mismatch("math.nextafter(steps=) is not compiled", "call nextafter in a loop")
    return _direct("nextafter", m.NEXTAFTER)(args, {})


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
    math.gcd: _integers("gcd", mathfn.gcd, 0, empty=0), math.lcm: _integers("lcm", mathfn.lcm, 0, empty=1),
    math.isqrt: _isqrt, math.factorial: _factorial, math.comb: _comb, math.perm: _perm,
    math.log: _log, math.log2: _log_rule("log2", m.LOG2), math.log10: _log_rule("log10", m.LOG10),
    math.pow: _called("pow", mathfn.power, 2), math.fmod: _called("fmod", mathfn.fmod, 2),
    math.remainder: _called("remainder", mathfn.remainder, 2), math.hypot: _hypot, math.dist: _dist,
    math.isclose: _isclose,
    math.modf: _called("modf", mathfn.modf), math.frexp: _called("frexp", mathfn.frexp), math.ldexp: _ldexp,
    math.ulp: _called("ulp", mathfn.ulp),
}
if hasattr(math, "cbrt"):  # 3.11
    CALLS[math.cbrt] = _unary("cbrt", m.CBRT)
    CALLS[math.exp2] = _unary("exp2", m.EXP2, _overflow)
if hasattr(math, "fma"):  # 3.13
    CALLS[math.fma] = _called("fma", mathfn.fma, 3)
