"""Type rules of operations, written as text: `"x: F, y: F -> F"`.

A pattern is a type name (`int`, `float64`, `bool`), alternatives (`I | B`), an attribute (`{type}`, results only) or a
letter, which stands for the same type wherever it occurs: F any float, I any integer (Python's or NumPy's),
C any complex, B bool or bool_, N any number, S any number, date or duration, T any type. A digit makes it another
variable: `x: F1, y: F2 -> F1`.
Texts are parsed at the first use, and results are cached per tuple of operand types: importing the op
tables costs nothing, and a second application is one dictionary look-up.
"""
from __future__ import annotations

from typing import Callable

from ..types.kinds import (
    NUMPY_SCALARS, Bool, ByteArray, Bytes, Complex, Float, Int, MemoryView, NoneType, NpBool, Object, Range, Str, Type,
    is_complex, is_float, is_integer, is_number, is_scalar,
)

__all__ = ["signature"]

_NAMED = {t.text: t for t in (Int, Float, Bool, Complex, NoneType, Str, Bytes, ByteArray, MemoryView, Object, Range,
                              *NUMPY_SCALARS.values())}

_CLASSES: dict[str, Callable[[Type], bool]] = {
    "F": is_float,
    "I": is_integer,
    "C": is_complex,
    "B": lambda t: t is Bool or t is NpBool,
    "N": is_number,
    "S": is_scalar,
    "T": lambda t: True,
}


def signature(text: str) -> Callable:
    """The rule (operand types, attrs) -> result type or None that `text` describes."""
    known: dict[tuple, Type | None] = {}
    parsed: list = []

    def rule(types, attrs):
        try:
            return known[types]
        except KeyError:
            pass
        if not parsed:
            parsed.extend(_parse(text))
        names, patterns, result = parsed
        if len(types) != len(patterns):
            raise TypeError(f"expected {len(patterns)} operands ({text}), got {len(types)}")
        bound: dict[str, Type] = {}
        for name, pattern, t in zip(names, patterns, types):
            if t is None or not _matches(pattern, t, bound):
                raise TypeError(f"operand {name} is {t}: expected {text}")
        if result is None:
            answer = None
        elif result[0] == "{":
            return attrs[result[1:-1]]
        else:
            answer = bound.get(result) or _NAMED[result]
        known[types] = answer
        return answer

    rule.text = text  # type: ignore[attr-defined]  # for messages and documentation
    return rule


def _parse(text: str):
    left, arrow, right = text.partition("->")
    names, patterns = [], []
    for part in filter(None, map(str.strip, left.split(","))):
        name, colon, pattern = part.partition(":")
        if not colon:
            raise SyntaxError(f"operand without a type in {text!r}")
        names.append(name.strip())
        patterns.append(pattern.strip())
        for alternative in patterns[-1].split("|"):
            _class_of(alternative.strip(), text)
    result = right.strip() if arrow else ""
    if result and result[0] != "{" and result not in patterns and result not in _NAMED:
        raise SyntaxError(f"unknown result type in {text!r}")
    return names, patterns, result or None


def _class_of(pattern: str, text: str):
    if pattern in _NAMED:
        return _NAMED[pattern].__eq__
    found = _CLASSES.get(pattern[:1]) if len(pattern) == 1 or pattern[1:].isdigit() else None
    if found is None:
        raise SyntaxError(f"unknown type {pattern!r} in {text!r}")
    return found


def _matches(pattern: str, t: Type, bound: dict[str, Type]) -> bool:
    if pattern in bound:
        return bound[pattern] is t
    for alternative in pattern.split("|"):
        alternative = alternative.strip()
        named = _NAMED.get(alternative)
        if t is named or named is None and _CLASSES[alternative[0]](t):
            bound[pattern] = t
            return True
    return False
