"""Alias classes: which values in the functions of a module may refer to the same object.

`natives` uses this analysis for lists, `sharedtables` for dicts and sets. The objects may be parts of values; a *path*
says which part. Values are in one class where one may become the other: as the argument of a call, as its result, as an
argument of an edge, as a captured variable, or as a part of a tuple.
"""
from __future__ import annotations

from typing import Any, Callable

from ..ir import core as ir
from ..ops import control
from ..ops.containers import HOLDS
from ..types.kinds import Type

__all__ = ["AliasClass", "Aliases"]


class AliasClass:
    """Values that may refer to the same object. type: the type of the object; functions: where the values are."""

    __slots__ = ("functions", "into", "type")

    def __init__(self, t: Any):
        self.into: Any = None  # the class that this one has become a part of
        self.type = t
        self.functions: set[ir.Function] = set()

    @property
    def root(self) -> Any:
        one = self
        while one.into is not None:
            one = one.into
        if one is not self:
            self.into = one
        return one


class Aliases:
    """The alias classes of a module. functions: the entry first; find: type -> (path, type) of the objects in values of
    that type that can be followed; make: type -> a new class."""

    def __init__(self, functions: list[ir.Function], find: Callable, make: Callable):
        self.functions = functions
        self.fn = functions[0]  # the function that is looked at
        self.find, self.make = find, make
        self.known: dict[Type | None, list] = {None: []}
        self.classes: dict[tuple[ir.Value, tuple], Any] = {}
        self.returned = {fn: ir.Value(fn.result) for fn in functions if fn.result is not None}
        self.uses: dict[ir.Value, list[ir.Inst]] = {}

    def places(self, t: Type | None) -> list:
        """(path, type) of the objects in values of type t."""
        found = self.known.get(t)
        if found is None:
            found = self.known[t] = list(self.find(t))
        return found

    def at(self, value: ir.Value, path: tuple = ()) -> Any:
        """The alias class of the objects that the value has at a path."""
        found = self.classes.get((value, path))
        if found is None:
            found = self.classes[value, path] = self.make(dict(self.places(value.type))[path])
        found = found.root
        found.functions.add(self.fn)
        return found

    def same(self, one: Any, two: Any) -> None:
        """Merge two classes."""
        raise NotImplementedError

    def give_up(self, value: ir.Value) -> None:
        """Record that the objects in a value must remain objects of the interpreter."""
        raise NotImplementedError

    def joined(self, x: ir.Value, y: ir.Value) -> None:
        """Record that two values may refer to the same objects."""
        if x.type is y.type:
            for path, _ in self.places(x.type):
                self.same(self.at(x, path), self.at(y, path))
        elif self.places(x.type) or self.places(y.type):
            self.give_up(x)
            self.give_up(y)

    def note_uses(self, blocks: list[ir.Block]) -> None:
        for block in blocks:
            for inst in block.insts:
                for v in inst.uses():
                    self.uses.setdefault(v, []).append(inst)

    def relates(self, inst: ir.Inst) -> bool:
        """If an instruction of `self.fn` makes several values refer to the same objects, merge the classes of these
        values. Returns whether it is such an instruction."""
        op, args, result = inst.op, inst.args, inst.result
        if op is HOLDS or op.traits & ir.SAME_VALUE:
            self.joined(args[0], result)
        elif op.traits & ir.SELECTS:
            for v in args[1:]:
                self.joined(v, result)
        elif op is control.INVOKE and inst.attrs["callee"] in self.functions:
            callee = inst.attrs["callee"]
            for v, p in zip(args, callee.params):
                self.joined(v, p)
            if result is not None and callee in self.returned:
                self.joined(self.returned[callee], result)
        elif op is control.RETURN and self.fn is not self.functions[0]:
            self.joined(args[0], self.returned[self.fn])
        elif op.traits & ir.PACKS:
            for n, v in enumerate(args):
                for path, _ in self.places(v.type):
                    self.same(self.at(v, path), self.at(result, (n, *path)))
        elif op.traits & ir.UNPACKS:
            n = _place(inst)
            for path, _ in self.places(result.type):
                self.same(self.at(args[0], (n, *path)), self.at(result, path))
        else:
            return False
        return True


def _place(inst: ir.Inst) -> int:
    """The index of the part of its operand that an instruction reads."""
    if "field" in inst.attrs:
        return inst.args[0].type.place(inst.attrs["field"])
    return inst.attrs.get("index", 0)  # a bound method has one part
