"""Meanings that programs register for functions, methods and attributes, by `overload` of pyjitc.numba.

A meaning is a rule, called with lists of expressions. It returns None where it does not apply: to the type of the
receiver of a method or attribute, or to the arguments of a function that has a rule of the library, which is used then.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Callable

from ..infer.meaning import Expr

__all__ = ["ATTRIBUTES", "FUNCTIONS", "METHODS", "OPERATORS", "as_in_numba", "attribute", "has_computed_names",
           "is_as_in_numba", "method", "operation", "with_computed_names"]

FUNCTIONS: dict[int, Callable] = {}  # key: the id of the function, which the rule keeps alive
METHODS: dict[str, list[Callable]] = {}  # rule(args, kwargs) with the receiver first
ATTRIBUTES: dict[str, list[Callable]] = {}
_computed: list = []  # not empty while names of fields may be known only at run time
_numba: list = []  # not empty while a function is compiled with the option `numba`
# key: the name of the function in module operator; rule(args, kwargs) may return None
OPERATORS: dict[str, list[Callable]] = {}


@contextmanager
def as_in_numba():
    """Context in which a function is compiled with the semantics of Numba, because its options say so."""
    _numba.append(None)
    try:
        yield
    finally:
        _numba.pop()


def is_as_in_numba() -> bool:
    """Whether the function that is compiled has the option `numba`, which rules do not see: fields of any record are
    attributes, and ranges accept floats."""
    return bool(_numba)


@contextmanager
def with_computed_names():
    """Context in which a name of a field that no constant gives is compared with those of all fields, although these
    have several types."""
    _computed.append(None)
    try:
        yield
    finally:
        _computed.pop()


def has_computed_names() -> bool:
    return bool(_computed)


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
