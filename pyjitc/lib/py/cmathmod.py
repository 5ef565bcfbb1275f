"""The functions of the `cmath` module: rules."""
from __future__ import annotations

import cmath

from ...infer.constants import constant
from ...infer.meaning import Call, Const, Expr, Mismatch
from ...ops.arith import BAND, BNOT, BOR, FEQ, FLT, IMAG, REAL
from ...ops.math import ATAN2, FABS
from ...types import kinds as k
from ...types.kinds import Complex, is_number
from ..build import apply, cast, number, provoked, type_name
from ..rule import rule
from . import cmathfn
from .conversions import holds_one, to_complex
from .mathmod import real

__all__ = ["CALLS"]

_MUST_BE_COMPLEX = provoked(cmath.sqrt, None).replace("NoneType", "%s")
_INF = number(cmath.inf)


def _complex(x: Expr) -> Expr:
    if holds_one(x.type):
        return to_complex(x)
    if not is_number(x.type):
        raise Mismatch(_MUST_BE_COMPLEX % type_name(x.type))
    return cast(x, Complex)


def _called(name: str, z: Expr) -> Expr:
    """The call of a function of one complex number, for special values that of the interpreter."""
    return Call(cmathfn.called, constant(getattr(cmathfn, name)), _complex(z), Const(k.Object, getattr(cmath, name)))


def _one(name):
    @rule(f"cmath.{name}")
    def found(z, /):
        return _called(name, z)

    return found


@rule("cmath.log")
def _log(z, base=..., /):
    if base.type is k.Ellipsis_:
        return _called("log", z)
    return Call(cmathfn.log_base, _complex(z), _complex(base), Const(k.Object, cmath.log))


@rule("cmath.phase")
def _phase(z, /):
    z = _complex(z)
    return apply(ATAN2, apply(IMAG, z), apply(REAL, z))


@rule("cmath.polar")
def _polar(z, /):
    return Call(cmathfn.polar, _complex(z))


@rule("cmath.rect")
def _rect(r, phi, /):
    return Call(cmathfn.rect, real(r), real(phi), Const(k.Object, cmath.rect))


def _test(name, of_part, join):
    @rule(f"cmath.{name}")
    def found(z, /):
        z = _complex(z)
        return apply(join, of_part(apply(REAL, z)), of_part(apply(IMAG, z)))

    return found


@rule("cmath.isclose")
def _isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    return Call(cmathfn.isclose, _complex(a), _complex(b), real(rel_tol), real(abs_tol))


CALLS = {
    **{getattr(cmath, name): _one(name) for name in (
        "sqrt", "exp", "log10", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh", "tan",
        "tanh")},
    cmath.log: _log, cmath.phase: _phase, cmath.polar: _polar, cmath.rect: _rect, cmath.isclose: _isclose,
    cmath.isnan: _test("isnan", lambda x: apply(BNOT, apply(FEQ, x, x)), BOR),
    cmath.isinf: _test("isinf", lambda x: apply(FEQ, apply(FABS, x), _INF), BOR),
    cmath.isfinite: _test("isfinite", lambda x: apply(FLT, apply(FABS, x), _INF), BAND),
}
