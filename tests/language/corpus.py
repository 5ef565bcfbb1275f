"""Tables of functions with arguments: each function is run in CPython and compiled, and both must do the same.

A corpus module writes `case, CASES = corpus()`, puts `@case(args, args, ...)` on its functions, and hands CASES to one
parametrised test; tests/front runs the same tables through the front end alone.
"""
from __future__ import annotations

import pytest

from pyjitc import njit
from tests.oracle import agree

__all__ = ["corpus", "each", "check"]


def corpus():
    """(decorator, table): `@case((1, 2), (3, 4))` adds a row with two calls; `@case()` one call without arguments."""
    cases = []

    def case(*calls):
        def register(function):
            cases.append((function, calls or ((),)))
            return function

        return register

    return case, cases


def each(cases):
    """Parametrise a test over a table."""
    return pytest.mark.parametrize("function, calls", [pytest.param(*row, id=row[0].__name__) for row in cases])


def check(function, calls):
    compiled = njit(function)
    for args in calls:
        agree(function, *args, compiled=compiled)
    assert compiled.signatures, "the interpreter was not left to do it"
