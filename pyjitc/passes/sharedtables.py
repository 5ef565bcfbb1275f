"""Find the dicts and sets that several functions of a module work on and that nobody else sees: they become tables.

Before: a recursive function that remembers its results in a dict, which is its argument or which it captures; a helper
that is too large to be inlined and that fills a dict. `localtables` asks this of each function alone; here values in
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
from ..ops.containers import HOLDS
from ..ops.pyobject import PY_UNBOX
from ..types import kinds as k
from ..types.kinds import CounterDict, DefaultDict, Dict, NativeTable, Set, Type
from . import localtables

__all__ = ["may_share", "run"]

_TABLES = frozenset((Dict, DefaultDict, CounterDict, Set))
_FOLLOWED = (k.Tuple, k.Struct, k.Function, k.Method)
_MAKES = frozenset((structure.TUPLE_MAKE, structure.PACK, structure.STRUCT_MAKE, structure.FUNCTION_MAKE,
                    structure.METHOD_MAKE))
_GETS = {structure.TUPLE_GET: "index", structure.CAPTURE_GET: "index", structure.STRUCT_GET: "field",
         structure.METHOD_SELF: ""}
_SAME = {HOLDS: (0,), structure.RETYPE: (0,), structure.SELECT: (1, 2), structure.CHOOSE: (1, 2)}


def may_share(module: list[ir.Function]) -> bool:
    """Whether a function that is not the entry gets a dict or set, and some are made."""
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


def _tables_in(t: Type | None, path: tuple = ()) -> list[tuple[tuple, Type]]:
    """(path, type) of all dicts and sets in values of type t that can be followed."""
    if t is None or not t.sealed:
        return []
    if type(t) in _TABLES:
        return [(path, t)]
    if t.parts is None or not isinstance(t, _FOLLOWED):
        return []
    return [one for n, part in enumerate(t.parts) for one in _tables_in(part, (*path, n))]


class _Group(localtables.Group):
    """Values that may refer to one dict or set. holders: those, and the values of which it is a part; functions: where
    these are; given_up: whether it stays the interpreter's; others: (block, instruction) in the entry where it may
    leave; leaves: (instruction, operand) where it does."""

    def __init__(self, t: Any):
        super().__init__(t)
        self.into: _Group | None = None
        self.holders: set[ir.Value] = set()
        self.functions: set[ir.Function] = set()
        self.made = self.given_up = False
        self.operations: set[ir.Op] = set()
        self.others: list[tuple[ir.Block, ir.Inst]] = []
        self.leaves: list[tuple[ir.Inst, ir.Value]] = []

    @property
    def root(self) -> _Group:
        one = self
        while one.into is not None:
            one = one.into
        return one


class _Groups:
    def __init__(self, functions: list[ir.Function]):
        self.functions = functions
        self.known: dict[Type | None, list] = {}
        self.groups: dict[tuple[ir.Value, tuple], _Group] = {}
        self.returned = {fn: ir.Value(fn.result) for fn in functions if fn.result is not None}
        self.uses: dict[ir.Value, list[ir.Inst]] = {}
        self.of: dict[ir.Function, list[ir.Value]] = {fn: [] for fn in functions}  # its values that are dicts or sets
        for fn in functions:
            for block in fn.blocks:
                for inst in block.insts:
                    for v in (*inst.args, *[v for edge in inst.edges() for v in edge.args]):
                        self.uses.setdefault(v, []).append(inst)
        for fn in functions:
            self.look(fn)
        for fn in functions:
            for v in fn.values():
                for path, _ in self.tables(v.type):
                    if (v, path) in self.groups:
                        self.at(v, path).functions.add(fn)
                    if (v, path) in self.groups and not path:
                        self.of[fn].append(v)
        for group in {group.root for group in self.groups.values()}:
            group.given_up |= not self.settle(group)

    def local(self, fn: ir.Function) -> dict[ir.Value, _Group]:
        """The values in a function that become tables."""
        return {v: self.at(v) for v in self.of[fn] if not self.at(v).given_up}

    def retype(self) -> None:
        """Give the values that contain tables their new types; the tables themselves have theirs."""
        holders = {v for (v, _), group in self.groups.items() if not group.root.given_up}
        for v in holders:
            v.type = _with_tables(v.type, lambda path, v=v: not self.at(v, path).given_up)
        for fn in self.functions:
            if self.returned.get(fn) in holders:
                fn.result = self.returned[fn].type
            for block in fn.blocks:
                for inst in block.insts:
                    if inst.result in holders and "type" in inst.attrs:
                        inst.attrs = {**inst.attrs, "type": inst.result.type}

    # -- which values may be one

    def tables(self, t: Type | None) -> list[tuple[tuple, Type]]:
        found = self.known.get(t)
        if found is None:
            found = self.known[t] = _tables_in(t)
        return found

    def at(self, value: ir.Value, path: tuple = ()) -> _Group:
        found = self.groups.get((value, path))
        if found is None:
            found = self.groups[value, path] = _Group(dict(self.tables(value.type))[path])
            found.holders.add(value)
            if not path:
                found.values.add(value)
        return found.root

    def same(self, one: _Group, two: _Group) -> None:
        one, two = one.root, two.root
        if one is two:
            return
        two.into = one
        one.given_up |= two.given_up or one.type is not two.type
        one.factory = one.factory or two.factory  # which depends on the type
        one.made |= two.made
        one.values |= two.values
        one.holders |= two.holders
        one.operations |= two.operations
        one.others += two.others

    def joined(self, x: ir.Value, y: ir.Value) -> None:
        mine, its = self.tables(x.type), self.tables(y.type)
        if x.type is not y.type:
            self.give_up(x)
            self.give_up(y)
        elif mine and its:
            for path, _ in mine:
                self.same(self.at(x, path), self.at(y, path))

    def give_up(self, value: ir.Value) -> None:
        for path, _ in self.tables(value.type):
            self.at(value, path).given_up = True

    # -- what is done with them

    def look(self, fn: ir.Function) -> None:
        for p in fn.params:
            for path, _ in self.tables(p.type):
                self.at(p, path).given_up |= fn is self.functions[0]
        for block in fn.blocks:
            for inst in block.insts:
                for edge in inst.edges():
                    for v, p in zip(edge.args, edge.block.params):
                        self.joined(v, p)
                if self.tables(inst.result.type if inst.result is not None else None) or any(
                        [self.tables(v.type) for v in inst.args]):
                    self.instruction(fn, block, inst)

    def instruction(self, fn: ir.Function, block: ir.Block, inst: ir.Inst) -> None:
        op, args, result = inst.op, inst.args, inst.result
        entry = fn is self.functions[0]
        if op in _SAME:
            for n in _SAME[op]:
                self.joined(args[n], result)
        elif op is control.INVOKE and inst.attrs["callee"] in self.functions:
            callee = inst.attrs["callee"]
            for v, p in zip(args, callee.params):
                self.joined(v, p)
            if callee is self.functions[0]:
                for v in args:
                    self.give_up(v)
            if result is not None and callee in self.returned:
                self.joined(self.returned[callee], result)
        elif op is control.RETURN and not entry:
            self.joined(args[0], self.returned[fn])
        elif op in _MAKES and not (entry and self.only_returned(result)):
            for n, v in enumerate(args):
                for path, _ in self.tables(v.type):
                    self.same(self.at(v, path), self.at(result, (n, *path)))
        elif op in _GETS:
            n = _place(inst)
            for path, _ in self.tables(result.type):
                self.same(self.at(args[0], (n, *path)), self.at(result, path))
        elif op is not structure.DISCARD:
            self.other(block, inst, entry)

    def only_returned(self, value: ir.Value) -> bool:
        return all([inst.op is control.RETURN for inst in self.uses.get(value, ())])

    def other(self, block: ir.Block, inst: ir.Inst, entry: bool) -> None:
        """An instruction that makes a dict or set, works on one, or takes it away."""
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
                if not (entry and v.inst is not None and v.inst.op in _MAKES and self.only_returned(v)):
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
        """Whether a group consists of tables that several functions share."""
        if group.given_up or not group.made or len(group.functions) < 2:
            return False
        left = localtables.leaves_of(group, self.functions[0], group.operations, group.others,
                                     group.holders)
        if left is None or left and any([inst.op is control.INVOKE and inst.attrs["callee"] is self.functions[0]
                                         for fn in self.functions for block in fn.blocks for inst in block.insts]):
            return False
        group.leaves = left
        return True


def _place(inst: ir.Inst) -> int:
    name = _GETS[inst.op]
    if not name:
        return 0
    at = inst.attrs[name]
    return at if type(at) is int else inst.args[0].type.names.index(at)
