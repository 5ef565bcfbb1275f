"""Rules of NumPy's ufuncs for dates and durations, by the kinds of the operands of their loops.

A rule computes with the integers behind the dates; the result is NaT where an operand is. Operands have been converted
to the units of NumPy's loop, which NumPy itself is asked for (elementwise/ufuncs.py).
"""
from __future__ import annotations

from typing import Callable

import numpy as np

from ....infer.meaning import Apply, Const
from ....ops.arith import (BAND, BOR, FDIV, FMUL, IABS, IADD, IEQ, IFLOORDIV, IGE, IGT, ILE, ILT, IMOD, IMUL, INE, INEG,
                           ISUB, ITRUNCDIV)
from ....ops.structure import SELECT, TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import NpTime, float64, int64
from ...build import apply, cast
from .units import NAT, ONE, ZERO, any_nat, computed, is_nat, number_of, overflow_text, sound

__all__ = ["RULES"]

NAN = Const(float64, np.float64("nan"))


def duration(t: NpTime) -> NpTime:
    """The type of a difference of dates."""
    return NpTime("m", t.unit, t.count)


def _with_nat(op, result):
    """An integer operation whose result is NaT where an operand is NaT. result: the type of the result, given those of
    the operands."""

    def rule(*xs):
        numbers, kinds = [number_of(x) for x in xs], "".join([x.type.kind for x in xs])
        wrong, checks = any_nat(*numbers), overflow_text(op, kinds)
        found = apply(SELECT, wrong, NAT, computed(op, kinds, *[sound(a, wrong, checks) for a in numbers]))
        return cast(found, result(*[x.type for x in xs]))

    return rule


def _plain(op):
    """An integer operation that yields NaT for NaT without a test."""
    return lambda *xs: cast(apply(op, *map(number_of, xs)), xs[0].type)


def _relation(op):
    """A comparison, false where an operand is NaT. NaT is below all other numbers."""
    lower_first = op in (ILT, ILE, IEQ)

    def rule(x, y):
        a, b = number_of(x), number_of(y)
        return cast(apply(BAND, apply(op, a, b), apply(INE, a if lower_first else b, NAT)), k.bool_)

    return rule


def _differs(x, y):
    a, b = number_of(x), number_of(y)
    return cast(apply(BOR, apply(INE, a, b), is_nat(a)), k.bool_)


def _extreme(op, nat_is_greatest):
    """Maximum or minimum. nat_is_greatest: NaT compares above all numbers; then the numbers less one are compared,
    which wraps NaT to the largest, in a form that LLVM recognises as a maximum."""

    def rule(x, y):
        a, b = number_of(x), number_of(y)
        if not nat_is_greatest:
            return cast(apply(SELECT, apply(op, a, b), a, b), x.type)
        p, q = apply(ISUB, a, ONE), apply(ISUB, b, ONE)
        return cast(apply(IADD, apply(SELECT, apply(op, p, q), p, q), ONE), x.type)

    return rule


def _times_int(x, n):
    a = number_of(x)
    found = computed(IMUL, "mi", sound(a, is_nat(a), overflow_text(IMUL, "mi")), n)
    return cast(apply(SELECT, is_nat(a), NAT, found), x.type)


def _by_int(x, n):
    """Division by an int, rounded towards zero; NaT where n is 0."""
    a = number_of(x)
    return cast(apply(SELECT, apply(BOR, is_nat(a), apply(IEQ, n, ZERO)), NAT, apply(ITRUNCDIV, a, n)), x.type)


def _with_float(op):
    """The operation in floats; NaT where the result is not finite or too large, since the cast gives NaT then."""

    def rule(x, y):
        a = number_of(x)
        return cast(apply(SELECT, is_nat(a), NAT, cast(apply(op, cast(a, float64), y), int64)), x.type)

    return rule


def _ratio_of(x, y):
    a, b = number_of(x), number_of(y)
    return apply(SELECT, any_nat(a, b), NAN, apply(FDIV, cast(a, float64), cast(b, float64)))


def _quotient(x, y):
    a, b = number_of(x), number_of(y)
    return apply(SELECT, any_nat(a, b), ZERO, apply(IFLOORDIV, a, b))


def _remainder(x, y):
    a, b = number_of(x), number_of(y)
    return cast(apply(SELECT, apply(BOR, any_nat(a, b), apply(IEQ, b, ZERO)), NAT, apply(IMOD, a, b)), x.type)


_SIGN_IS_FLOAT = np.sign(np.timedelta64(1, "D")).dtype.kind == "f"  # from NumPy 2.5 on


def _sign(x):
    a = number_of(x)
    if _SIGN_IS_FLOAT:
        above, below = (apply(relation, a, ZERO) for relation in (IGT, ILT))
        found = apply(SELECT, above, Const(float64, np.float64(1)),
                      apply(SELECT, below, Const(float64, np.float64(-1)), Const(float64, np.float64(0))))
        return apply(SELECT, is_nat(a), NAN, found)
    below = apply(SELECT, apply(ILT, a, ZERO), Const(int64, np.int64(-1)), ZERO)
    return cast(apply(SELECT, apply(IGT, a, ZERO), ONE, below), x.type)


def _mirrored(rule):
    return lambda x, y: rule(y, x)


def _first(x, y):
    return x


def _second(x, y):
    return y


def _alike(rule) -> dict[str, Callable]:
    """The rule for two dates or two durations."""
    return {"MM": rule, "mm": rule}


def _either(rule):
    return {"M": rule, "m": rule}


# ufunc -> kinds of the operands of its loop -> rule
RULES: dict[np.ufunc, dict[str, Callable]] = {
    np.add: {"Mm": _with_nat(IADD, _first), "mM": _with_nat(IADD, _second), "mm": _with_nat(IADD, _first)},
    np.subtract: {"Mm": _with_nat(ISUB, _first), "mm": _with_nat(ISUB, _first),
                  "MM": _with_nat(ISUB, lambda s, t: duration(s))},
    np.multiply: {"mi": _times_int, "im": _mirrored(_times_int), "mf": _with_float(FMUL),
                  "fm": _mirrored(_with_float(FMUL))},
    np.divide: {"mi": _by_int, "mf": _with_float(FDIV), "mm": _ratio_of},
    np.floor_divide: {"mi": _by_int, "mf": _with_float(FDIV), "mm": _quotient},
    np.remainder: {"mm": _remainder},
    np.divmod: {"mm": lambda x, y: Apply(TUPLE_MAKE, _quotient(x, y), _remainder(x, y), cls=None)},
    np.negative: {"m": _plain(INEG)}, np.positive: {"m": lambda x: x}, np.absolute: {"m": _plain(IABS)},
    np.sign: {"m": _sign}, np.isnat: _either(lambda x: cast(is_nat(number_of(x)), k.bool_)),
    np.isnan: _either(lambda x: cast(is_nat(number_of(x)), k.bool_)),
    np.isfinite: _either(lambda x: cast(apply(INE, number_of(x), NAT), k.bool_)),
    np.isinf: _either(lambda x: Const(k.bool_, np.bool_(False))), np.less: _alike(_relation(ILT)),
    np.less_equal: _alike(_relation(ILE)), np.greater: _alike(_relation(IGT)), np.greater_equal: _alike(_relation(IGE)),
    np.equal: _alike(_relation(IEQ)), np.not_equal: _alike(_differs), np.maximum: _alike(_extreme(IGE, True)),
    np.minimum: _alike(_extreme(ILE, False)), np.fmax: _alike(_extreme(IGE, False)),
    np.fmin: _alike(_extreme(ILE, True)),
}
