"""Meanings that programs give to functions, methods and attributes: what `overload` of pyjitc.numba registers.

A meaning is a rule, called with lists of expressions. It answers None where it is not for them: for the type of the
receiver of a method or an attribute, or for the arguments of a function that the library has a rule for, which then
says what the call means on its target.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Callable

from ..infer.meaning import Expr

__all__ = ["ATTRIBUTES", "FUNCTIONS", "METHODS", "OPERATORS", "WAYS", "as_in_numba", "attribute", "method", "operation"]

FUNCTIONS: dict[int, Callable] = {}  # by the id of the function, which the rule keeps alive
METHODS: dict[str, list[Callable]] = {}  # rule(args, kwargs) with the receiver first
ATTRIBUTES: dict[str, list[Callable]] = {}
WAYS: list = []  # not empty while a function is compiled in which some things mean what they mean in Numba
OPERATORS: dict[str, list[Callable]] = {}  # by the name that module operator has: rule(args, kwargs), or None


@contextmanager
def as_in_numba():
    """What is compiled meanwhile is written for Numba: fields of any record are attributes, and ranges take floats."""
    WAYS.append(None)
    try:
        yield
    finally:
        WAYS.pop()


def operation(name: str, *operands: Expr) -> Expr | None:
    """The meaning that a program has given to an operation of these operands, or None."""
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
