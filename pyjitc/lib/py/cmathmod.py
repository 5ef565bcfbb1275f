"""The functions of the `cmath` module: rules."""
from __future__ import annotations

import cmath

from ...infer.meaning import Call, Const, Expr, Mismatch
from ...ops.arith import BAND, BNOT, BOR, FEQ, FLT, IMAG, REAL
from ...ops.math import ATAN2, FABS
from ...types import kinds as k
from ...types.kinds import Complex, is_number
from ..build import apply, cast, number, provoked, type_name
from . import cmathfn
from .conversions import take
from .mathmod import real

__all__ = ["CALLS"]

_MUST_BE_COMPLEX = provoked(cmath.sqrt, None).replace("NoneType", "%s")
_INF = number(cmath.inf)


def _complex(x: Expr) -> Expr:
    if not is_number(x.type):
        raise Mismatch(_MUST_BE_COMPLEX % type_name(x.type))
    return cast(x, Complex)


def _one(name):
    """A library function of one complex, with the interpreter's own function for special values."""
    function, own = getattr(cmathfn, name), getattr(cmath, name)

    def rule(args, kwargs):
        (x,) = take(f"cmath.{name}", args, kwargs, 1, 1)
        return Call(function, _complex(x), Const(k.Object, own))

    return rule


def _log(args, kwargs):
    args = take("log", args, kwargs, 1, 2)
    if len(args) == 1:
        return Call(cmathfn.log, _complex(args[0]), Const(k.Object, cmath.log))
    return Call(cmathfn.log_base, _complex(args[0]), _complex(args[1]), Const(k.Object, cmath.log))


def _phase(args, kwargs):
    (x,) = take("cmath.phase", args, kwargs, 1, 1)
    x = _complex(x)
    return apply(ATAN2, apply(IMAG, x), apply(REAL, x))


def _polar(args, kwargs):
    (x,) = take("cmath.polar", args, kwargs, 1, 1)
    return Call(cmathfn.polar, _complex(x))


def _rect(args, kwargs):
    r, phi = take("rect", args, kwargs, 2, 2)
    return Call(cmathfn.rect, real(r), real(phi), Const(k.Object, cmath.rect))


def _test(name, of_part, join):
    def rule(args, kwargs):
        (x,) = take(f"cmath.{name}", args, kwargs, 1, 1)
        x = _complex(x)
        return apply(join, of_part(apply(REAL, x)), of_part(apply(IMAG, x)))

    return rule


def _isclose(args, kwargs):
    slots = dict(zip(("a", "b"), args))
    slots.update(kwargs)
    if len(args) > 2 or not {"a", "b"} <= set(slots) <= {"a", "b", "rel_tol", "abs_tol"}:
        raise Mismatch("isclose() takes the arguments a, b, rel_tol and abs_tol")
    return Call(cmathfn.isclose, _complex(slots["a"]), _complex(slots["b"]), real(slots.get("rel_tol", number(1e-09))),
                real(slots.get("abs_tol", number(0.0))))


CALLS = {
    **{getattr(cmath, name): _one(name) for name in (
        "sqrt", "exp", "log10", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh", "tan",
        "tanh")},
    cmath.log: _log, cmath.phase: _phase, cmath.polar: _polar, cmath.rect: _rect, cmath.isclose: _isclose,
    cmath.isnan: _test("isnan", lambda x: apply(BNOT, apply(FEQ, x, x)), BOR),
    cmath.isinf: _test("isinf", lambda x: apply(FEQ, apply(FABS, x), _INF), BOR),
    cmath.isfinite: _test("isfinite", lambda x: apply(FLT, apply(FABS, x), _INF), BAND),
}
