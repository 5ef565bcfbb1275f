"""The rules of ufuncs that are operators, as expressions of one element. Array expressions need these; functions.py has
the rules of other ufuncs, and loads many more operations."""
from __future__ import annotations

from typing import Callable

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Call, Const
from ....ops.arith import BNOT, FDIV, FEQ, FGE, FGT, FLE, FLT, FNE, FNEG, INEG, INOT
from ....types import kinds as k
from ....types.lattice import dtype_of
from ...build import apply, cast
from . import operators

numbers = lazy("pyjitc.lib.np.elementwise.numbers")

__all__ = ["RULES", "called", "constant", "of", "of_operator", "same"]


def constant(t: k.Type, value) -> Const:
    with np.errstate(all="ignore"):
        return Const(t, dtype_of(t).type(value))


def of(op) -> Callable:
    """The rule that applies an operation."""
    return lambda *xs: apply(op, *xs)


def called(name: str) -> Callable:
    """The rule that calls a function of numbers.py, which is loaded when one of them is used."""
    return lambda *xs: Call(getattr(numbers, name), *xs)


def same(x):
    return x


def of_operator(symbol: str) -> dict[str, Callable]:
    """The rules of an operator by the kind of its operands."""
    return {kind: rules[symbol] for kind, rules in operators.BINARY.items() if symbol in rules}


def _relation(symbol, floating):
    def as_bool(rule):
        return lambda x, y: cast(rule(x, y), k.bool_)

    def mixed(x, y):
        return operators.find_compare(symbol, x.type, y.type)(x, y)

    return {"b": mixed, "i": mixed, "f": as_bool(of(floating)),
            "c": as_bool(operators.complex_relation(symbol, as_loop=True))}


RULES: dict[np.ufunc, dict[str, Callable]] = {
    np.add: of_operator("+"), np.subtract: of_operator("-"), np.multiply: of_operator("*"),
    np.floor_divide: of_operator("//"), np.divide: {"f": of(FDIV), "c": called("complex_div")},
    np.remainder: of_operator("%"), np.bitwise_and: of_operator("&"), np.bitwise_or: of_operator("|"),
    np.bitwise_xor: of_operator("^"), np.left_shift: of_operator("<<"), np.right_shift: of_operator(">>"),
    np.invert: {"b": of(BNOT), "i": of(INOT)},
    np.negative: {"i": of(INEG), "f": of(FNEG), "c": operators.UNARY["c"]["-"]},
    np.positive: {"i": same, "f": same, "c": same},
    np.equal: _relation("==", FEQ), np.not_equal: _relation("!=", FNE), np.less: _relation("<", FLT),
    np.less_equal: _relation("<=", FLE), np.greater: _relation(">", FGT), np.greater_equal: _relation(">=", FGE),
}
