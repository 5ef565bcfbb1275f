"""Meanings of functions under Numba's semantics where they differ: loaded when the first such function is compiled."""
from __future__ import annotations

import dis
from types import FunctionType

from ..base.errors import CompileError
from ..base.lazy import lazy
from ..infer.constants import constant
from ..infer.meaning import Call, FieldNotConstant, Mismatch, NotConstant
from ..lib import extended
from ..lib.rule import Rule
from ..types.kinds import Bool, Bytes, Str, is_float, is_integer
from . import special

__all__ = ["NoOverload", "literal_names", "passed_to_literally", "unrolled_constants", "wants_literals", "wants_name"]

iteration = lazy("pyjitc.lib.py.iteration")


class NoOverload(Mismatch):
    """Raised where no overload accepts the types of a call; some may accept constants."""


def _range(args, kwargs):
    """range(2.5): floats are truncated, as programs that are written for Numba expect."""
    if not extended.is_as_in_numba() or not any(is_float(x.type) for x in args) or kwargs or len(args) > 3:
        return None
    ends = [constant(0), *args] if len(args) == 1 else args
    return Call(iteration.range_of_numbers, *ends, *[constant(1)] * (3 - len(ends)))


def _literally(args, kwargs):
    """The value itself, if it is a constant; otherwise the calling function is compiled again with arguments as
    constants."""
    if len(args) != 1 or kwargs:
        raise Mismatch("literally() takes exactly one positional argument")
    if (is_integer(args[0].type) or args[0].type in (Str, Bytes, Bool)) and not args[0].known:
        raise NotConstant("literally() is called with a value that is not known at compile time",
                          "pass an argument of the compiled function that is called, or a constant")
    return args[0]


def _literal_unroll(args, kwargs):
    """The container itself. If the constants of calls are passed on, an overload that accepts nothing but constants
    compares an item with those of the container: see `unrolled_constants`."""
    container = Rule(lambda container: container, "literal_unroll", "container")(args, kwargs)
    semantics = extended.semantics()
    if semantics is not None and semantics.option == "constants" and container.known:
        known = semantics.unrolled
        known.extend([x for x in container.value if type(x) in (str, int) and x not in known])
    return container


def unrolled_constants() -> tuple:
    """The constants with which an item of a container that a loop unrolls may be compared."""
    semantics = extended.semantics()
    return tuple(semantics.unrolled) if semantics is not None else ()


extended.FUNCTIONS.setdefault(id(range), _range)
extended.FUNCTIONS[id(special.literal_unroll)] = _literal_unroll
extended.OF_CONSTANTS.add(id(special.literal_unroll))
extended.FUNCTIONS[id(special.literally)] = _literally


def wants_literals(error: CompileError) -> bool:
    """Whether an error says that a value must be a constant: the argument of literally(), an axis, the name of a
    field."""
    return error.reason is not None and issubclass(error.reason, NotConstant)


def wants_name(error: CompileError) -> bool:
    """Whether an error says that the name of a field must be a constant."""
    return error.reason is FieldNotConstant


def can_be_literal(value) -> bool:
    return type(value) in (int, str, bool, bytes) or type(value) is tuple and all(map(can_be_literal, value))


def passed_to_literally(function: FunctionType) -> list[str]:
    """The variables that a function passes to literally()."""
    found, expected = [], False
    for instruction in dis.get_instructions(function):
        if instruction.argval == "literally":
            expected = True
        elif expected and instruction.opname.startswith("LOAD_FAST"):
            found.append(instruction.argval)
            expected = False
        elif instruction.opname not in ("PUSH_NULL", "CACHE", "PRECALL"):
            expected = False
    return found


def literal_names(function: FunctionType, given: dict) -> list[tuple[str, ...]]:
    """The parameters whose values may have to become constants, in a function whose compilation failed because a value
    is no constant: if it passes parameters to literally(), these together; otherwise each parameter whose value can be
    a constant, and then all of them together. given: the arguments."""
    found = passed_to_literally(function)
    names = tuple(name for name, value in given.items() if can_be_literal(value))
    passed = tuple(name for name in names if name in found)
    if passed or len(names) < 2:
        return [passed or names] if names else []
    return [*((name,) for name in names), names]
