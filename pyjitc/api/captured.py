"""The types of local functions with captured values or defaults that are items of containers, or attributes, among the
arguments of a call: a program may make these again for each call, with other values."""
from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import Callable

from ..front.functions import prototype_of
from ..types.kinds import (
    Attributes, Container, DictDisplay, Function, FunctionObject, Iterator, Object, ObjectOf, Tuple, Type, any_part,
)
from ..types.typeof import typeof

__all__ = ["Captured"]


class Captured:
    """Such functions among the arguments of one call. read: the cells from which compiled code reads, by identity;
    assigned: those to which some of the functions assign."""

    def __init__(self) -> None:
        self.read: set[int] = set()
        self.assigned: set[int] = set()

    @property
    def changes(self) -> bool:
        """Whether one function assigns a variable that another one reads: its type may change during the call."""
        return not self.read.isdisjoint(self.assigned)

    def type_of(self, function: FunctionType, other: Callable) -> Type | None:
        """The type of all functions with the code of this one, and with captured values and defaults of the same types;
        None where the function assigns a captured variable, or where such a value is anything but a number, a text, an
        array, a function or a tuple of these. other: see `typeof`."""
        cells = function.__closure__ or ()
        assigned = _assigned(function.__code__)
        self.assigned.update([id(cell) for name, cell in zip(function.__code__.co_freevars, cells) if name in assigned])
        parts: dict[str, Type] = {}
        try:
            if function.__defaults__:
                parts["defaults"] = typeof(function.__defaults__, other)
            if function.__kwdefaults__:
                parts["kwdefaults"] = DictDisplay.of(
                    [(name, typeof(value, other)) for name, value in function.__kwdefaults__.items()])
            if cells:
                contents = tuple([cell.cell_contents for cell in cells])
                if any([content is function for content in contents]):
                    return None
                parts["closure"] = Tuple([typeof(content, other) for content in contents])
        except (ValueError, TypeError, OverflowError, RecursionError):
            return None
        if assigned or any([any_part(t, _is_shared) for t in parts.values()]):
            return None
        self.read.update(map(id, cells))
        return FunctionObject(Function(prototype_of(function), tuple(parts.values()), tuple(parts)))


def _is_shared(t: Type) -> bool:
    return isinstance(t, (Attributes, Container, Iterator, ObjectOf)) or t is Object


def _assigned(code: CodeType) -> set[str]:
    """The variables of the functions around it that a function with this code, or one inside it, assigns or deletes."""
    found = {x.argval for x in dis.get_instructions(code) if x.opname in ("STORE_DEREF", "DELETE_DEREF")}
    for part in code.co_consts:
        if type(part) is CodeType:
            found |= _assigned(part)
    return found.intersection(code.co_freevars)
