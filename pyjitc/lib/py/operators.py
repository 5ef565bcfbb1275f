"""Operators of Python's numbers, and the dispatch of all scalar operators.

`binary`, `unary`, `compare` and `truth` handle operands that are numbers, dates or durations; each rule is found in a
table by operator and common type, and cached per (operator, types). A meaning that needs more than one expression is a
library function of numbers.py. Operators of NumPy scalars are in lib/np/elementwise/operators.py.
"""
from __future__ import annotations

from typing import Callable

from ...base.lazy import lazy
from ...infer.meaning import Call, Const, Expr
from ...ops.arith import (
    BAND, BNOT, BOR, BXOR, CHECK_NONNEG, CHECK_NONZERO, COMPLEX_MAKE, FADD, FDIV, FEQ, FGE, FGT, FLE, FLT, FMUL, FNE,
    FNEG, FSUB, IADD_CK, IAND, IEQ, IFLOORDIV, IFLOORDIV_CK, IGE, IGT, ILE, ILT, IMAG, IMOD, IMUL_CK, INE, INEG_CK,
    INOT, IOR, ISHL_CK, ISHR, ISUB_CK, ITRUEDIV, IXOR, REAL,
)
from ...types import kinds as k
from ...types.classes import MIRRORED
from ...types.kinds import Bool, Complex, Float, Int, is_number, is_python_number, is_scalar, is_time
from ...types.lattice import python_promote
from ..build import applied as _of
from ..build import apply, by_parts as _parts, cast, mismatch, number

# modules that most functions do not need
numbers = lazy("pyjitc.lib.py.numbers")
np_operators = lazy("pyjitc.lib.np.elementwise.operators")
times = lazy("pyjitc.lib.np.dates.operators")

__all__ = ["binary", "unary", "compare", "truth", "as_int", "nonzero", "found_binary", "found_compare"]

Rule = Callable[..., Expr]

# ---------------------------------------------------------------- int


def nonzero(x: Expr, message: str) -> Expr:
    return x if x.known and x.value != 0 else apply(CHECK_NONZERO, x, message=message)


def _int_truediv(x, y):
    return apply(ITRUEDIV, x, nonzero(y, numbers.INT_DIVISION))


def _int_floordiv(x, y):
    op = IFLOORDIV if y.known and y.value not in (0, -1) or x.known and x.value != -(1 << 63) else IFLOORDIV_CK
    return apply(op, x, nonzero(y, numbers.INT_FLOORDIV))


def _int_mod(x, y):
    return apply(IMOD, x, nonzero(y, numbers.INT_MODULO))


def _int_pow(x, y):
    if not y.known:
        return Call(numbers.int_power_any, x, y)
    n = y.value
    if n < 0:
        return Call(numbers.int_power_any, x, y)
    if n > 3:
        return Call(numbers.int_power, x, y)
    if n == 0:
        return number(1)
    return x if n == 1 else apply(IMUL_CK, x if n == 2 else apply(IMUL_CK, x, x), x)


def _count(y: Expr) -> Expr:
    return y if y.known and y.value >= 0 else apply(CHECK_NONNEG, y, message=numbers.NEGATIVE_SHIFT)


def _int_shl(x, y):
    return apply(ISHL_CK, x, _count(y))


def _int_shr(x, y):
    return apply(ISHR, x, _count(y))


# ---------------------------------------------------------------- float


def _float_truediv(x, y):
    return apply(FDIV, x, nonzero(y, numbers.FLOAT_DIVISION))


def _float_floordiv(x, y):
    return Call(numbers.float_floordiv, x, nonzero(y, numbers.FLOAT_FLOORDIV))


def _float_mod(x, y):
    return Call(numbers.float_mod, x, nonzero(y, numbers.FLOAT_MODULO))


def _float_pow(x, y):
    if y.known:
        if y.value == 2.0:
            return Call(numbers.float_square, x)
        if y.value == 1.0:
            return x
        if y.value == 0.0:
            return number(1.0)
    return Call(numbers.float_pow, x, y)


# ---------------------------------------------------------------- complex


def _called(name: str) -> Rule:
    return lambda *operands: Call(getattr(numbers, name), *operands)


# operator -> common type of the operands -> rule; bools count as ints except for & | ^
BINARY: dict[str, dict[k.Type, Rule]] = {
    "+": {Int: _of(IADD_CK), Float: _of(FADD), Complex: _parts(FADD)},
    "-": {Int: _of(ISUB_CK), Float: _of(FSUB), Complex: _parts(FSUB)},
    "*": {Int: _of(IMUL_CK), Float: _of(FMUL), Complex: _called("complex_mul")},
    "/": {Int: _int_truediv, Float: _float_truediv, Complex: _called("complex_div")},
    "//": {Int: _int_floordiv, Float: _float_floordiv},
    "%": {Int: _int_mod, Float: _float_mod},
    "**": {Int: _int_pow, Float: _float_pow, Complex: _called("complex_pow")},
    "<<": {Int: _int_shl},
    ">>": {Int: _int_shr},
    "&": {Bool: _of(BAND), Int: _of(IAND)},
    "|": {Bool: _of(BOR), Int: _of(IOR)},
    "^": {Bool: _of(BXOR), Int: _of(IXOR)},
}

UNARY: dict[str, dict[k.Type, Rule]] = {
    "-": {Int: _of(INEG_CK), Float: _of(FNEG),
          Complex: lambda x: apply(COMPLEX_MAKE, apply(FNEG, apply(REAL, x)), apply(FNEG, apply(IMAG, x)))},
    "+": {Int: lambda x: x, Float: lambda x: x, Complex: lambda x: x},
    "~": {Int: _of(INOT)},
}

_INT_RELATIONS = {"==": IEQ, "!=": INE, "<": ILT, "<=": ILE, ">": IGT, ">=": IGE}
_FLOAT_RELATIONS = {"==": FEQ, "!=": FNE, "<": FLT, "<=": FLE, ">": FGT, ">=": FGE}

_rules: dict[tuple, Rule] = {}


def binary(op: str, x: Expr, y: Expr) -> Expr:
    return _required(found_binary(op, x, y), op, x, y)


def _required(found: Expr | None, op: str, *operands: Expr) -> Expr:
    if found is None:
        raise mismatch(op, *operands)
    return found


def found_binary(op: str, x: Expr, y: Expr) -> Expr | None:
    key = op, x.type, y.type
    rule = _rules.get(key)
    if rule is None:
        rule = _findfound_binary(op, x, y)
        if rule is None:
            return None
        _rules[key] = rule
    return rule(x, y)


def _findfound_binary(op, x, y):
    if is_scalar(x.type) and is_scalar(y.type) and (is_time(x.type) or is_time(y.type)):
        return times.find_binary(op, x.type, y.type)
    if not (is_number(x.type) and is_number(y.type)):
        return None
    if x.type is Complex and y.type is k.float64 and Complex in BINARY.get(op, {}):
        return lambda x, y: binary(op, x, cast(y, Float))  # np.float64 is a float, so that complex accepts it
    if not (is_python_number(x.type) and is_python_number(y.type)):
        return np_operators.find_binary(op, x.type, y.type)
    common = python_promote(x.type, y.type)
    table = BINARY.get(op, {})
    if common is Bool and Bool not in table:
        common = Int
    rule = table.get(common)
    if rule is None or x.type is y.type is common:
        return rule
    return lambda x, y: rule(cast(x, common), cast(y, common))


def unary(op: str, x: Expr) -> Expr:
    key = op, x.type
    rule = _rules.get(key)
    if rule is None:
        if is_python_number(x.type):
            common = Int if x.type is Bool else x.type
            found = UNARY[op].get(common)
            rule = found and (lambda x: found(cast(x, common)))
        elif is_number(x.type):
            rule = np_operators.find_unary(op, x.type)
        elif is_time(x.type):
            rule = times.find_unary(op, x.type)
        if rule is None:
            raise mismatch(op, x)
        _rules[key] = rule
    return rule(x)


# ---------------------------------------------------------------- comparison


def compare(op: str, x: Expr, y: Expr) -> Expr:
    return _required(found_compare(op, x, y), op, x, y)


def found_compare(op: str, x: Expr, y: Expr) -> Expr | None:
    key = op, x.type, y.type
    rule = _rules.get(key)
    if rule is None:
        rule = _find_compare(op, x.type, y.type)
        if rule is None:
            return None
        _rules[key] = rule
    return rule(x, y)


def _find_compare(op, s, t):
    if is_scalar(s) and is_scalar(t) and (is_time(s) or is_time(t)):
        return times.find_compare(op, s, t)
    if not (is_number(s) and is_number(t)):
        return None
    if s is Complex and t is k.float64 and op in ("==", "!="):
        return lambda x, y: compare(op, x, cast(y, Float))
    if not (is_python_number(s) and is_python_number(t)):
        return np_operators.find_compare(op, s, t)
    common = python_promote(s, t)
    if common is Complex:
        return _complex_equal(op) if op in ("==", "!=") else None
    if common is not Float:
        relation = _INT_RELATIONS[op]
        return lambda x, y: apply(relation, cast(x, Int), cast(y, Int))
    if s is t:
        return _of(_FLOAT_RELATIONS[op])
    if s is Float:
        mirrored = int_float(MIRRORED[op])
        return lambda x, y: mirrored(cast(y, Int), x)
    exact = int_float(op)
    return lambda x, y: exact(cast(x, Int), y)


def int_float(op: str) -> Rule:
    """The rule that compares an int with a float exactly. The int rounded to double decides unless it equals the float,
    which then is integral: then the ints decide, where 2.0**63 is above all ints."""
    strict, whole = _FLOAT_RELATIONS[op], _INT_RELATIONS[op]
    above = {"<": True, "<=": True, "!=": True}.get(op, False)

    def rule(x, y):
        rounded = cast(x, Float)
        if x.known and abs(x.value) <= 1 << 53:
            return apply(strict, rounded, y)
        tied = apply(FEQ, rounded, y)
        top = apply(FGE, y, number(2.0**63))
        exact = apply(whole, x, cast(y, Int))
        exact = apply(BOR, top, exact) if above else apply(BAND, apply(BNOT, top), exact)
        if op == "==":
            return apply(BAND, tied, exact)
        if op == "!=":
            return apply(BOR, apply(BNOT, tied), exact)
        sure = apply(FLT if op[0] == "<" else FGT, rounded, y)
        return apply(BOR, sure, apply(BAND, tied, exact))

    return rule


def _complex_equal(op):
    def rule(x, y):
        if x.type is not Complex:
            x, y = y, x
        if y.type is Complex:
            same = apply(BAND, apply(FEQ, apply(REAL, x), apply(REAL, y)), apply(FEQ, apply(IMAG, x), apply(IMAG, y)))
        else:
            same = apply(BAND, compare("==", apply(REAL, x), y), apply(FEQ, apply(IMAG, x), number(0.0)))
        return same if op == "==" else apply(BNOT, same)

    return rule


# ---------------------------------------------------------------- truth


def _complex_truth(x):
    zero = Const(apply(REAL, x).type, 0.0)
    return apply(BOR, apply(FNE, apply(REAL, x), zero), apply(FNE, apply(IMAG, x), zero))


_TRUTH = {Bool: lambda x: x, Int: lambda x: apply(INE, x, number(0)), Float: lambda x: apply(FNE, x, number(0.0)),
          Complex: _complex_truth}


def as_int(x: Expr) -> Expr:
    """An integer of any type as an int; OverflowError for one beyond 64 bits."""
    if x.type is Int:
        return x
    return Call(numbers.uint64_to_int, x) if x.type is k.uint64 else cast(x, Int)


def truth(x: Expr) -> Expr:
    """The truth of x, as `if x` tests it: a Bool."""
    rule = _TRUTH.get(x.type)
    return rule(x) if rule is not None else cast(x, Bool)
