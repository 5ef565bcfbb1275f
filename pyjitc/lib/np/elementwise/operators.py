"""Operators of NumPy scalars: one table per operator and kind of the common type (NEP 50).

Integers wrap, and division by zero gives 0, inf or nan: only conversions of Python ints raise. Half precision is
computed in single precision and rounded, as in NumPy's loops; half-precision instructions give the same results.
"""
from __future__ import annotations

from typing import Callable

from ....base.lazy import lazy
from ....infer.meaning import Call, Const, Expr
from ....ops.arith import (BAND, BNOT, BOR, BXOR, COMPLEX_MAKE, FADD, FDIV, FEQ, FGE, FGT, FLE, FLT, FMUL, FNE, FNEG,
                           FSUB, IADD, IAND, IEQ, IFLOORDIV, IGE, IGT, ILE, ILT, IMAG, IMOD, IMUL, INE, INEG, INOT, IOR,
                           ISHL, ISHR, ISUB, IXOR, REAL)
from ....ops.elementary import provide
from ....types import kinds as k
from ....types.classes import MIRRORED
from ....types.lattice import dtype_of, kind_of, promote
from ...build import applied as _of
from ...build import apply, by_parts as _parts, cast, convert

elementary = lazy("pyjitc.lib.elementary.table")  # most functions have neither powers nor elementary functions
math = lazy("pyjitc.ops.math")
numbers = lazy("pyjitc.lib.np.elementwise.numbers")

__all__ = ["find_binary", "find_unary", "find_compare", "rule_for"]

# constants of NumPy's types are folded by running the functions that compiled code calls
provide(lambda name, cls: elementary.meaning(name, cls))
Rule = Callable[[Expr, Expr], Expr]


def _called(name: str) -> Rule:
    return lambda *operands: Call(getattr(numbers, name), *operands)


def _in(t: k.Type, op) -> Rule:
    """The rule that converts both operands to type t and applies an operation to them."""
    return lambda x, y: apply(op, cast(x, t), cast(y, t))


def _half_or(half: str, full: str) -> Rule:
    return lambda x, y: Call(getattr(numbers, half if x.type is k.float16 else full), x, y)


def _float_pow(x, y):
    if y.known:
        if y.value == 1:
            return x
        if y.value == 2:
            return apply(FMUL, x, x)
        if y.value in (3, 4) and x.type is not k.float16:
            square = apply(FMUL, x, x)
            return apply(FMUL, square, x if y.value == 3 else square)
    return apply(math.POW if x.type is k.float64 else math.POW_IN_DOUBLE, x, y)


def _int_pow(x, y):
    if y.known:
        if y.value == 2:
            return apply(IMUL, x, x)
        if y.value == 1:
            return x
    return Call(numbers.int_power, x, y, _one(x.type))


def _bool_pow(x, y):
    x, y = cast(x, k.int8), cast(y, k.int8)
    return Call(numbers.int_power, x, y, _one(k.int8))


def _one(t: k.Type) -> Const:
    return Const(t, dtype_of(t).type(1))


_BYTE = k.int8
_INTEGER = {
    "+": _of(IADD), "-": _of(ISUB), "*": _of(IMUL), "/": _in(k.float64, FDIV), "//": _of(IFLOORDIV), "%": _of(IMOD),
    "**": _int_pow, "<<": _of(ISHL), ">>": _of(ISHR), "&": _of(IAND), "|": _of(IOR), "^": _of(IXOR),
}
# kind of the common type -> operator -> rule for two operands of that type
BINARY: dict[str, dict[str, Rule]] = {
    "b": {"+": _of(BOR), "*": _of(BAND), "/": _in(k.float64, FDIV), "//": _in(_BYTE, IFLOORDIV), "%": _in(_BYTE, IMOD),
          "**": _bool_pow, "<<": _in(_BYTE, ISHL), ">>": _in(_BYTE, ISHR), "&": _of(BAND), "|": _of(BOR),
          "^": _of(BXOR)},
    "i": _INTEGER,
    "u": _INTEGER,
    "f": {"+": _of(FADD), "-": _of(FSUB), "*": _of(FMUL), "/": _of(FDIV),
          "//": _half_or("half_floordiv", "float_floordiv"),
          "%": _half_or("half_mod", "float_mod"), "**": _float_pow},
    "c": {"+": _parts(FADD), "-": _parts(FSUB), "*": _called("complex_mul"), "/": _called("complex_div"),
          "**": _called("complex_pow")},
}

_NEGATED = {"-": lambda x: apply(COMPLEX_MAKE, apply(FNEG, apply(REAL, x)), apply(FNEG, apply(IMAG, x)))}
_SAME = {"+": lambda x: x}
UNARY = {
    "b": {"~": _of(BNOT)},
    "i": {"-": _of(INEG), "~": _of(INOT), **_SAME},
    "u": {"-": _of(INEG), "~": _of(INOT), **_SAME},
    "f": {"-": _of(FNEG), **_SAME},
    "c": {**_NEGATED, **_SAME},
}

_INT_RELATIONS = {"==": IEQ, "!=": INE, "<": ILT, "<=": ILE, ">": IGT, ">=": IGE}
_FLOAT_RELATIONS = {"==": FEQ, "!=": FNE, "<": FLT, "<=": FLE, ">": FGT, ">=": FGE}


def rule_for(op: str, common: k.Type) -> Rule | None:
    """The rule for two operands that are already of the NumPy type `common`; None: NumPy has no such operation."""
    return BINARY[kind_of(common)].get(op)


def find_binary(op: str, s: k.Type, t: k.Type) -> Rule | None:
    common = promote(s, t)
    rule = rule_for(op, common)
    if op == "/" and kind_of(common) in "iub":
        return _in(k.float64, FDIV)  # a Python int need not fit in the type of the other operand
    if rule is None or s is t is common:
        return rule
    if kind_of(common) == "f" and {kind_of(s), kind_of(t)} <= set("iub") and op in ("<<", ">>", "&", "|", "^"):
        return None  # uint64 with int64, whose common type is a float
    return lambda x, y: rule(convert(x, common), convert(y, common))


def find_unary(op: str, t: k.Type):
    return UNARY[kind_of(t)].get(op)


def find_compare(op: str, s: k.Type, t: k.Type) -> Rule | None:
    """The rule of a comparison; its result is bool_. Integers of any two types compare exactly, all others in the
    common type."""
    rule = _compare_rule(op, s, t)
    return rule and (lambda x, y: cast(rule(x, y), k.bool_))


def _compare_rule(op, s, t):
    if {kind_of(s), kind_of(t)} <= set("iub"):
        if s is t and kind_of(s) != "b":
            return _of(_INT_RELATIONS[op])
        if k.uint64 not in (s, t):
            relation = _INT_RELATIONS[op]
            return lambda x, y: apply(relation, cast(x, k.Int), cast(y, k.Int))
        if s is k.uint64:
            return _uint64_relation(op) if kind_of(t) == "i" else _in(k.uint64, _INT_RELATIONS[op])
        if kind_of(s) != "i":
            return _in(k.uint64, _INT_RELATIONS[op])
        mirrored = _uint64_relation(MIRRORED[op])
        return lambda x, y: mirrored(y, x)
    common = promote(s, t)
    if k.is_complex(common):
        rule = complex_relation(op, as_loop=s is k.bool_ or common is not s and common is not t)
    else:
        rule = _of(_FLOAT_RELATIONS[op])
    if s is t is common:
        return rule
    return lambda x, y: rule(convert(x, common), convert(y, common))


def _uint64_relation(op):
    """The rule that compares uint64 with a signed integer: a negative one is smaller."""
    relation = _INT_RELATIONS[op]
    below = op in ("!=", ">", ">=")  # the result where y < 0

    def rule(x, y):
        wide = cast(y, k.Int)
        same = apply(relation, x, cast(wide, k.uint64))
        if wide.known:
            return Const(k.Bool, below) if wide.value < 0 else same
        negative = apply(ILT, wide, Const(k.Int, 0))
        return apply(BOR, negative, same) if below else apply(BAND, apply(BNOT, negative), same)

    return rule


def complex_relation(op, as_loop: bool):
    """The rule that compares complex numbers lexicographically. In NumPy's loops (also for two scalars where neither
    has the common type) the real parts decide only where no imaginary part is nan; NumPy's scalars do not check
    that."""

    def rule(x, y):
        a, b, c, d = apply(REAL, x), apply(IMAG, x), apply(REAL, y), apply(IMAG, y)
        if op in ("==", "!="):
            same = apply(BAND, apply(FEQ, a, c), apply(FEQ, b, d))
            return same if op == "==" else apply(BNOT, same)
        strict = FLT if op[0] == "<" else FGT
        tied = apply(BAND, apply(FEQ, a, c), apply(_FLOAT_RELATIONS[op], b, d))
        first = apply(strict, a, c)
        if as_loop:
            first = apply(BAND, first, apply(BAND, apply(FEQ, b, b), apply(FEQ, d, d)))
        return apply(BOR, first, tied)

    return rule
