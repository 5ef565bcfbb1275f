"""Meanings that programs register for functions, methods and attributes, by `overload` of pyjitc.numba.

A meaning is a rule, called with lists of expressions. It returns None where it does not apply: to the type of the
receiver of a method or attribute, or to the arguments of a function that has a rule of the library, which is used then.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Callable

from ..infer.meaning import Expr

__all__ = ["ATTRIBUTES", "FUNCTIONS", "METHODS", "OF_CONSTANTS", "OF_LIBRARY", "OPERATORS", "Semantics", "as_in_numba",
           "attribute", "is_as_in_numba", "method", "operation", "semantics"]

FUNCTIONS: dict[int, Callable] = {}  # key: the id of the function, which the rule keeps alive
OF_CONSTANTS: set[int] = set()  # keys of FUNCTIONS that take a list of constants as a tuple
OF_LIBRARY: list = []  # keys of FUNCTIONS that a program has added and that library functions may call
METHODS: dict[str, list[Callable]] = {}  # rule(args, kwargs) with the receiver first
ATTRIBUTES: dict[str, list[Callable]] = {}
_numba: list[Semantics] = []  # not empty while a function is compiled with the option `numba`
# key: the name of the function in module operator; rule(args, kwargs) may return None
OPERATORS: dict[str, list[Callable]] = {}


class Semantics:
    """option: `numba` of the options (base/options.py); unrolled: the constants of the containers that loops over
    literal_unroll(x) unroll."""

    __slots__ = ("option", "unrolled")

    def __init__(self, option):
        self.option = option
        self.unrolled: list = []


@contextmanager
def as_in_numba(option):
    """Context in which a function is compiled with the semantics of Numba. option: `numba` of its options."""
    _numba.append(Semantics(option))
    try:
        yield
    finally:
        _numba.pop()


def is_as_in_numba() -> bool:
    """Whether the function that is compiled has the option `numba`, which rules do not see: fields of any record are
    attributes, and ranges accept floats."""
    return bool(_numba)


def semantics() -> Semantics | None:
    """The semantics of Numba with which a function is compiled, or None."""
    return _numba[-1] if _numba else None


def operation(name: str, *operands: Expr) -> Expr | None:
    """The meaning that a program has registered for an operation on these operands, or None."""
    for rule in OPERATORS.get(name, ()):
        found = rule(operands, {})
        if found is not None:
            return found
    return None


def method(receiver: Expr, name: str, args, kwargs) -> Expr | None:
    for rule in METHODS[name]:
        found = rule([receiver, *args], kwargs)
        if found is not None:
            return found
    return None


def attribute(x: Expr, name: str) -> Expr | None:
    for rule in ATTRIBUTES[name]:
        found = rule([x], {})
        if found is not None:
            return found
    return None
