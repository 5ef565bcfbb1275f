"""Marks by which an operation record describes its derivative, in place of a function that returns partial derivatives.

Every record is in one of three states, which `derivative_of` distinguishes: it has a rule, which is a function or a
method of the transform for this operation; its derivative is always zero, for a reason that the record gives; or the
rule is not written yet. A request for a derivative that is not written is an error; it is never taken as zero.
"""
from __future__ import annotations

from typing import Any

__all__ = ["NONDIFF", "ROUNDING", "UNVARIED", "STRUCTURAL", "NO_RULE", "Zero", "NoDerivative", "derivative_of"]


class _Mark:
    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self):
        return self.text


class Zero(_Mark):
    """The derivative is zero wherever it exists. reason: why that is so for all operands."""

    __slots__ = ("reason",)

    def __init__(self, text: str, reason: str):
        super().__init__(text)
        self.reason = reason


NONDIFF = Zero("NONDIFF", "the result is an integer, a test, a text, a place or an exception, or there is none, and "
                          "nothing that a number is read from is written")
ROUNDING = Zero("ROUNDING", "the result is a float that is constant between jumps")
UNVARIED = Zero("UNVARIED", "no operand is a float that varies: they are integers, constants or the state of a "
                            "random generator")
STRUCTURAL = _Mark("STRUCTURAL")  # it moves values or control: the transform handles the operation by name
NO_RULE = _Mark("NO_RULE")  # the derivative is not written yet


class NoDerivative(Exception):
    """Raised where the derivative of an operation is requested and there is no rule for it yet."""


def derivative_of(op) -> Any:
    """The rule of an operation (a function, or STRUCTURAL), or its Zero. Raises NoDerivative."""
    if op.partials is NO_RULE:
        raise NoDerivative(f"there is no rule for the derivative of the operation {op.name!r} yet")
    return op.partials
