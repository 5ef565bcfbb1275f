"""Replace the dicts and sets that several functions of a module use, and that no other code can use, by local tables.

Examples are a recursive function that stores its results in a dict, which is its argument or which it captures, and a
helper that is too large to be inlined and that fills a dict. `localtables` looks at each function alone; here values in
all functions of a module that may refer to one dict are a group, as in `natives`: arguments and parameters, results,
captured variables, parts of tuples. A group is given up where an operation that is not known here gets it in a function
other than the entry. In the entry, such an operation is where the dict leaves, if nothing uses the group after it.
Before:  d = dict_new ; f = function_make (d) ; x = invoke @f(f, n)          in @f:  v = dict_has d, k
After:   d = local_table ; f = function_make (d) ; x = invoke @f(f, n)       in @f:  s = local_slot d, k ; v = ige s, 0
Needs: SSA, references not yet counted, library functions and closures inlined.  Keeps: SSA, control flow.
"""
from __future__ import annotations

from typing import Any, Callable

from ..ir import core as ir
from ..ops import control, structure
from ..ops import tables as of
from ..ops.pyobject import PY_UNBOX
from ..types import kinds as k
from ..types.kinds import CounterDict, DefaultDict, Dict, NativeTable, Set, Type
from . import localtables
from .aliases import AliasClass, Aliases

__all__ = ["may_share", "run"]

_TABLES = frozenset((Dict, DefaultDict, CounterDict, Set))
_FOLLOWED = (k.Tuple, k.Struct, k.Function, k.Method)


def may_share(module: list[ir.Function]) -> bool:
    """Whether a function other than the entry has a dict or set as a parameter, and some function makes one."""
    return any([_tables_in(p.type) for fn in module[1:] for p in fn.params]) and any(
        [inst.op is of.DICT_NEW or inst.op is of.SET_NEW or inst.op is PY_UNBOX and type(inst.result.type) in _TABLES
         for fn in module for block in fn.blocks for inst in block.insts])


def run(functions: list[ir.Function]) -> None:
    """functions: a module, the entry first."""
    if any([fn.flags.parallel for fn in functions]):  # threads would count references to a table at the same time
        return
    found = _Groups(functions)
    for fn in functions:
        local = found.local(fn)
        leaving: dict[ir.Inst, list[ir.Value]] = {}
        for group in dict.fromkeys(local.values()) if fn is functions[0] else ():
            for inst, value in group.leaves:
                leaving.setdefault(inst, []).append(value)
        if local:
            localtables.rewrite(fn, {v: group.factory for v, group in local.items()}, leaving)
    found.retype()


def _with_tables(t: Type, is_table: Callable, path: tuple = ()) -> Type:
    """The type t with the types of the tables in it replaced. is_table: path -> bool."""
    if type(t) in _TABLES:
        return NativeTable(t) if is_table(path) else t
    if t.parts is None or not isinstance(t, _FOLLOWED):
        return t
    parts = [_with_tables(part, is_table, (*path, n)) for n, part in enumerate(t.parts)]
    return t if all([one is two for one, two in zip(parts, t.parts)]) else t.with_parts(parts)


def _tables_in(t: Type, path: tuple = ()) -> list[tuple[tuple, Type]]:
    """(path, type) of all dicts and sets in values of type t that can be followed."""
    if not t.sealed:
        return []
    if type(t) in _TABLES:
        return [(path, t)]
    if t.parts is None or not isinstance(t, _FOLLOWED):
        return []
    return [one for n, part in enumerate(t.parts) for one in _tables_in(part, (*path, n))]


class _Group(localtables.Group, AliasClass):
    """Values that may refer to one dict or set. holders: those values, and those of which they are parts; functions:
    the functions with such values; given_up: whether the dict or set must stay a Python object; others: [(block,
    instruction)] in the entry where it may escape; leaves: [(instruction, operand)] where it does escape."""

    def __init__(self, t: Any):
        AliasClass.__init__(self, t)
        localtables.Group.__init__(self, t)
        self.holders: set[ir.Value] = set()
        self.made = self.given_up = False
        self.operations: set[ir.Op] = set()
        self.others: list[tuple[ir.Block, ir.Inst]] = []
        self.leaves: list[tuple[ir.Inst, ir.Value]] = []


class _Groups(Aliases):
    def __init__(self, functions: list[ir.Function]):
        super().__init__(functions, _tables_in, _Group)
        self.of: dict[ir.Function, list[ir.Value]] = {fn: [] for fn in functions}  # its values that are dicts or sets
        for fn in functions:
            self.note_uses(fn.blocks)
        for self.fn in functions:
            self.look(self.fn)
        for self.fn in functions:
            for v in self.fn.values():
                for path, _ in self.places(v.type):
                    if (v, path) in self.classes:
                        self.at(v, path).functions.add(self.fn)
                        if not path:
                            self.of[self.fn].append(v)
        for group in {group.root for group in self.classes.values()}:
            group.given_up |= not self.settle(group)

    def local(self, fn: ir.Function) -> dict[ir.Value, _Group]:
        """The values in a function that become tables, with their groups."""
        return {v: self.at(v) for v in self.of[fn] if not self.at(v).given_up}

    def retype(self) -> None:
        """Update the types of the values that contain tables. (The types of the tables themselves are already up to
        date.)"""
        holders = {v for (v, _), group in self.classes.items() if not group.root.given_up}
        for v in holders:
            v.type = _with_tables(v.type, lambda path, v=v: not self.at(v, path).given_up)
        for fn in self.functions:
            if self.returned.get(fn) in holders:
                fn.result = self.returned[fn].type
            for block in fn.blocks:
                for inst in block.insts:
                    if inst.result in holders and "type" in inst.attrs:
                        inst.attrs = {**inst.attrs, "type": inst.result.type}

    # -- which values may refer to the same dict or set

    def at(self, value: ir.Value, path: tuple = ()) -> _Group:
        is_new = (value, path) not in self.classes
        found = super().at(value, path)
        if is_new:
            found.holders.add(value)
            if not path:
                found.values.add(value)
        return found

    def same(self, one: _Group, two: _Group) -> None:
        one, two = one.root, two.root
        if one is two:
            return
        two.into = one
        one.given_up |= two.given_up or one.type is not two.type
        one.factory = one.factory or two.factory  # equal for both, since the type determines it
        one.made |= two.made
        one.values |= two.values
        one.holders |= two.holders
        one.functions |= two.functions
        one.operations |= two.operations
        one.others += two.others

    def give_up(self, value: ir.Value) -> None:
        for path, _ in self.places(value.type):
            self.at(value, path).given_up = True

    # -- how dicts and sets are used

    def look(self, fn: ir.Function) -> None:
        for p in fn.params:
            for path, _ in self.places(p.type):
                self.at(p, path).given_up |= fn is self.functions[0]
        for block in fn.blocks:
            for inst in block.insts:
                for edge in inst.edges():
                    for v, p in zip(edge.args, edge.block.params):
                        self.joined(v, p)
                if self.places(inst.result.type if inst.result is not None else None) or any(
                        [self.places(v.type) for v in inst.args]):
                    self.instruction(fn, block, inst)

    def instruction(self, fn: ir.Function, block: ir.Block, inst: ir.Inst) -> None:
        entry = fn is self.functions[0]
        if entry and inst.op.traits & ir.PACKS and self.only_returned(inst.result) or not self.relates(inst) and (
                inst.op is not structure.DISCARD):
            self.other(block, inst, entry)

    def only_returned(self, value: ir.Value) -> bool:
        return all([inst.op is control.RETURN for inst in self.uses.get(value, ())])

    def other(self, block: ir.Block, inst: ir.Inst, entry: bool) -> None:
        """Record an instruction that makes a dict or set, operates on one, or lets one escape."""
        result: Any = inst.result
        if result is not None and type(result.type) in _TABLES:
            group = self.at(result)
            if localtables.begin(inst, group, lambda v: len(self.uses[v]) == 1):
                group.made = True
            else:
                group.given_up = True
        elif result is not None:
            self.give_up(result)
        for n, v in enumerate(inst.args):
            if type(v.type) not in _TABLES:
                if not (entry and v.inst is not None and v.inst.op.traits & ir.PACKS and self.only_returned(v)):
                    self.give_up(v)
                continue
            group = self.at(v)
            if n == 0 and localtables.is_operation(inst, group):
                group.operations.add(inst.op)
            elif entry:
                group.others.append((block, inst))
            else:
                group.given_up = True

    def settle(self, group: _Group) -> bool:
        """Whether all values of a group can refer to a local table that several functions share."""
        if group.given_up or not group.made or len(group.functions) < 2:
            return False
        left = localtables.leaves_of(group, self.functions[0], group.operations, group.others,
                                     group.holders)
        if left is None or left and any([inst.op is control.INVOKE and inst.attrs["callee"] is self.functions[0]
                                         for fn in self.functions for block in fn.blocks for inst in block.insts]):
            return False
        group.leaves = left
        return True
