"""Compares calls of the methods of Python's own types in the interpreter and compiled. Each call ends as one of

same     value, type and what became of the object
raises   the same exception in both, with the same text
message  an exception of the same class with another text
refused  compiled code refuses it with a located error where Python has a result
DIFFERS  anything else: a bug
"""
from __future__ import annotations

import ast
import copy
import random
import warnings
from typing import Any, NamedTuple

from pyjitc import njit
from pyjitc.base.errors import PyjitcError

from .cases import TYPES, Cases

__all__ = ["Outcome", "calls_of", "page", "results", "run", "section", "state"]

LEAST = 30  # sets of arguments of a method
_COMPILED = 3  # sets of types of an expression: each is compiled
_GAPS = "what is refused, or differs"


class Outcome(NamedTuple):
    """How one call ended. call: the expression with its values."""

    call: str
    status: str
    detail: str


def variables(text: str, cases: Cases) -> list[str]:
    """The variables of an expression, the object first."""
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} & set(cases.values)
    return sorted(names | {"s"}, key=lambda name: (name != "s", name))


def calls_of(cases: Cases, name: str, short: bool = False):
    """(expression, variables, values of each) for at least LEAST sets of arguments. short: only the first expression,
    without values of wrong types."""
    texts = cases.calls[name][:1 if short else None]
    for number, text in enumerate(texts):
        names = variables(text, cases)
        choice = random.Random(f"{cases.cls.__name__} {name} {number}")
        wanted, types = max(-(-LEAST // len(texts)), 10), set()
        found: dict = {}  # compared as text, so that True and 1 are different
        for _ in range(40 * wanted):
            values = tuple([choice.choice(cases.values[n]) for n in names])
            kinds = tuple(map(type, values))
            if len(found) < wanted and (kinds in types or len(types) < _COMPILED or len(names) == 1):
                types.add(kinds)
                found[repr([bytes(v) if type(v) is memoryview else v for v in values])] = values
        for values in found.values():
            yield text, names, values
        if len(names) > 1 and not short:
            for values in list(found.values())[:2]:
                wrong = list(values)
                wrong[choice.randrange(1, len(names))] = choice.choice(cases.wrong)
                yield text, names, tuple(wrong)
    function = f"s.{name}("
    if texts[0].startswith(function) and not short:  # a wrong number of arguments
        for text in (f"{function})", f"{function}1, 2, 3, 4, 5)"):
            for value in cases.values["s"][:LEAST if len(cases.values) == 1 else 2]:
                yield text, ["s"], (value,)


def function_of(text: str, names: list[str], space: dict[str, Any]):
    space = dict(space)
    is_expression = type(ast.parse(text).body[0]) is ast.Expr
    body = f"return {text}" if is_expression else f"{text}; return s"
    exec(compile(f"def f({', '.join(names)}):\n    {body}\n", "<conformance>", "exec"), space)
    return space["f"]


def attempt(function, values):
    given = [copied(x) for x in values]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "returns", function(*given), given
        except Exception as error:
            return "raises", error, given


def copied(x):
    if type(x) is memoryview:
        return memoryview(bytes(x) if x.readonly else bytearray(x))
    return copy.copy(x)


def compared(expected, actual) -> tuple[str, str]:
    """(status, detail)"""
    how, value, after = expected
    how2, value2, after2 = actual
    if how2 == "raises" and isinstance(value2, PyjitcError):
        text = str(value2).splitlines()
        if "internal" in str(value2).lower() or "in the compiler" in text[0] or "defect" in str(value2):
            return "DIFFERS", " ".join(text)
        if how == "raises":
            return ("raises", "") if text[0] == str(value) else (
                "message", f"Python says {value!s}, compiled code {text[0]}")
        return "refused", text[0]
    if how != how2 and type(value2) is OverflowError and type(value) is int and not -(1 << 63) <= value < 1 << 63:
        return "raises", ""  # docs/semantics.md: ints have 64 bits
    if how != how2:
        return "DIFFERS", f"Python {how} {value!r}, compiled code {how2} {value2!r}"
    if how == "raises":
        if type(value) is not type(value2):
            return "DIFFERS", f"Python raises {value!r}, compiled code {value2!r}"
        return ("raises", "") if str(value) == str(value2) else ("message", f"Python {value!r}, compiled {value2!r}")
    if not alike(value, value2) or not alike(after, after2):
        return "DIFFERS", f"Python gives {value!r} and leaves {after!r}, compiled code {value2!r} and {after2!r}"
    return "same", ""


def alike(x, y) -> bool:
    if type(x) is not type(y):
        return False
    if type(x) in (tuple, list):
        return len(x) == len(y) and all(map(alike, x, y))
    return x == y or x != x and y != y


def run(cases: Cases, name: str, short: bool = False) -> list[Outcome]:
    """One compiled function for each expression, for all of its values."""
    compiled: dict[str, tuple] = {}
    found = []
    for text, names, values in calls_of(cases, name, short):
        if text not in compiled:
            plain = function_of(text, names, cases.space)
            compiled[text] = plain, njit(plain)
        plain, fast = compiled[text]
        shown = f"{text} of {', '.join(map(repr, values))}"
        found.append(Outcome(shown, *compared(attempt(plain, values), attempt(fast, values))))
    return found


def results(types=TYPES, short: bool = False) -> dict[str, dict[str, list[Outcome]]]:
    return {name: {method: run(cases, method, short) for method in cases.calls} for name, cases in types.items()}


def state(outcomes: list[Outcome]) -> str:
    """The entry of the table for a method."""
    ended = [o.status for o in outcomes]
    if "DIFFERS" in ended:
        return "differs"
    if "refused" in ended:
        return "not" if all(s in ("refused", "raises", "message") for s in ended) else "partly"
    return "yes"


def page(found: dict[str, dict[str, list[Outcome]]]) -> str:
    """docs/python.md: which methods of Python's own types, and which functions of its modules, are compiled."""
    states = [state(outcomes) for methods in found.values() for outcomes in methods.values()]
    lines = ["# Python's own types and modules, function by function", "",
             "Written by `python docs/python_types.py`, which calls every method and operator of these types, and the "
             "functions of", "these modules, compiled and in the interpreter, with at least 30 sets of arguments where "
             "there are so many: empty and", "non-ASCII text, wrong types, places beyond the ends. Values, types, "
             "exceptions with their texts, and what becomes of", "the object are compared. *partly*: some calls are "
             "refused with a located error, of which the first stands beside it.", "",
             f"{states.count('yes')} of {len(states)} are compiled for all calls. Of modules such as `re`, `decimal` "
             "and `datetime` the interpreter", "runs the functions, at the price that they have there; of the others "
             "most are native code.", ""]
    for name, methods in found.items():
        lines += section(name, methods)
    return "\n".join(lines)


def section(name: str, methods: dict[str, list[Outcome]]) -> list[str]:
    states = [state(outcomes) for outcomes in methods.values()]
    lines = [f"## {name}", "", f"{states.count('yes')} of {len(states)} are compiled for all calls.", "",
             f"| | compiled | {_GAPS} |", "|---|---|---|"]
    for method, outcomes in methods.items():
        gap = next((f"`{o.call.replace('|', chr(92) + '|')}`: {o.detail}" for o in outcomes
                    if o.status in ("refused", "DIFFERS")), "")
        # the name of an operator may have the bar that ends a cell
        lines.append(f"| `{method.replace('|', chr(92) + '|')}` | {state(outcomes)} | {gap} |")
    return [*lines, ""]
