"""Replace dicts and sets that do not escape by tables of native keys and values: those that one function works on (for
others see `sharedtables`).

Runs after library functions are inlined and before gvn shares loads: a search of a local table counts as a load, so
that `d[k] = d.get(k, 0) + 1` searches once. A dict or a set is local where every use of it, and of the block parameters
to which it is passed, is an operation on it with keys and values of its own types. It may escape, into a result or
another object, where that is its last use: there it becomes a Python object (`local_leave`), once. A set that escapes
gets its items in the order in which they were added, so that its order is CPython's; sets from which items are removed
therefore must not escape, and sets that are iterated over stay Python objects. So do dicts that are both iterated over
and removed from, whose slots would move, and dicts of texts or of objects that are only filled before they escape,
which would be built twice; a dict of numbers is filled faster than the interpreter's one.
`defaultdict(int)`, `defaultdict(float)` and `Counter()` are dicts whose missing values are zero, and those of
`defaultdict(list)` are new lists.
Before:  d = dict_new ; v = dict_has d, k              After:  d = local_table ; s = local_slot d, k ; v = ige s, 0
Needs: SSA, references not yet counted.  Keeps: SSA, control flow.
"""
from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Callable

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import LoopNest
from ..ir.uses import live_in
from ..ops import localtables as t
from ..ops import tables as of
from ..ops.arith import IGE
from ..ops.containers import HOLDS
from ..ops.control import CONST
from ..ops.pyobject import PY_CALL, PY_UNBOX
from ..ops.structure import SELECT, TUPLE_GET
from ..types.kinds import (
    Bool, CounterDict, DefaultDict, Dict, Float, Int, List, NativeList, NativeTable, Set, Tuple, Type,
)
from .rewrite import substitute

__all__ = ["Group", "begin", "is_operation", "leaves_of", "of_lists", "rewrite", "run"]

independent = lazy(f"{__package__}.independent")  # only functions with parallel loops need it

_NEW = frozenset((of.DICT_NEW, of.SET_NEW))
_LONG = 64  # keys and values of a display that stays an object: code that stores each in a local table takes too long
# Operations on a table whose other operands are a key and, for some, a value.
_KEYED = frozenset((of.DICT_GET, of.DICT_ASK, of.DICT_FIND, of.DICT_HAS, of.DICT_SET, of.DICT_DELETE, of.SET_HAS,
                    of.SET_ADD, of.SET_DISCARD))
_OTHERS = frozenset((of.DICT_LEN, of.DICT_NEXT, of.DICT_HOLD, of.SET_LEN))
_ZEROS = {int: Int, float: Float}  # factories of defaultdicts -> the types of the values that they make
_REMOVES = frozenset((of.DICT_DELETE, of.SET_DISCARD))
_READS = frozenset((of.DICT_GET, of.DICT_ASK, of.DICT_FIND, of.DICT_HAS, of.DICT_NEXT, of.SET_HAS))


def run(fn: ir.Function, options=None) -> None:
    leaving: dict[ir.Inst, list[ir.Value]] = {}  # instruction -> its operands that escape there
    local: set[ir.Value] = set()
    factories: dict[ir.Value, Any] = {}  # table -> the factory of its missing values
    for group in _groups(fn):
        leaves = _leaves(fn, group)
        if leaves is not None:
            local |= group.values
            factories.update(dict.fromkeys(group.values, group.factory))
            for inst, value in leaves:
                leaving.setdefault(inst, []).append(value)
    if local:
        _Rewrite(fn, local, leaving, factories).run()


def rewrite(fn: ir.Function, local: dict[ir.Value, Any], leaving: dict[ir.Inst, list[ir.Value]]) -> None:
    """Replace the operations on tables in a function. local: the values that are tables, each with the factory of its
    missing values; leaving: instruction -> its operands that escape there."""
    _Rewrite(fn, set(local), leaving, local).run()


def of_lists(fn: ir.Function, has_lists: Callable) -> list[set[ir.Value]]:
    """For each dict of a function that does not escape, and whose values have a type with lists in it: the set of SSA
    values that refer to it."""
    return [group.values for group in _groups(fn) if isinstance(group.type, Dict) and has_lists(group.type.values)
            and _leaves(fn, group) == []]


class Group:
    """A set of values that may refer to one dict or set."""

    def __init__(self, t: Any):
        self.values: set[ir.Value] = set()
        self.type = t
        self.types = (t.keys, t.values) if isinstance(t, Dict) else (t.item,)
        self.factory: Any = None  # the factory of its missing values
        self.mixed = False  # whether these values may also refer to another object
        self.uses: list[tuple[ir.Block, ir.Inst]] = []


def _groups(fn: ir.Function) -> list[Group]:
    """The dicts and sets that a function makes, each as a group of all values that may refer to it. A group is left out
    if one of its values may refer to another object as well."""
    of_value: dict[ir.Value, Group] = {}
    uses = None

    def used_once(value) -> bool:
        nonlocal uses
        if uses is None:
            uses = Counter(v for block in fn.blocks for inst in block.insts for v in inst.uses())
        return uses[value] == 1

    for block in fn.blocks:
        for inst in block.insts:
            if inst.op in _NEW or inst.op is PY_UNBOX and isinstance(inst.result.type, (DefaultDict, CounterDict)):
                group = Group(inst.result.type)
                if begin(inst, group, used_once):
                    group.values.add(inst.result)
                    of_value[inst.result] = group
    edges = [edge for block in fn.blocks for inst in block.insts for edge in inst.edges()] if of_value else []
    loops = [inside for _, inside in independent.defined(fn)] if of_value and fn.flags.parallel else ()
    passed = [pair for edge in edges for pair in zip(edge.args, edge.block.params)]
    passed += [(inst.args[0], inst.result) for block in fn.blocks for inst in block.insts if inst.op is HOLDS]
    while any([_pass(of_value, *pair) for pair in passed]):
        pass
    for block in fn.blocks if of_value else ():
        for inst in block.insts:
            for group in dict.fromkeys(of_value[v] for v in inst.args if v in of_value):
                group.uses.append((block, inst))
    # Tables that are used both in a parallel iteration and outside stay Python objects: table references have no lock.
    return [group for group in dict.fromkeys(of_value.values()) if not group.mixed and all(
        [group.values <= inside or group.values.isdisjoint(inside) for inside in loops])]


def _pass(of_value: dict[ir.Value, Group], value: ir.Value, param: ir.Value) -> bool:
    """Record that `value` is passed to `param`; return whether that added to a group."""
    group, other = of_value.get(value), of_value.get(param)
    if group is other:
        return False
    if group is None:
        assert other is not None
        other.mixed = True
        return False
    if other is None:
        if param.type is not group.type:
            group.mixed = True
            return False
        of_value[param] = group
        group.values.add(param)
        return True
    group.mixed |= other.mixed
    group.values |= other.values
    of_value.update(dict.fromkeys(other.values, group))
    return True


def _made_by(inst: ir.Inst):
    """(the call that makes an empty defaultdict or Counter, the factory of its missing values), or (None, None)."""
    made = inst.args[0].inst
    if made is None or made.op is not PY_CALL or made.attrs.get("kwnames"):
        return None, None
    given: list[Any] = [v.inst.attrs["value"] if v.inst is not None and v.inst.op is CONST else None for v in made.args]
    if given == [Counter] and inst.result.type.values is Int:
        return made, Counter
    if len(given) == 2 and given[0] is defaultdict and (
            type(inst.result.type.values) in (List, NativeList) if given[1] is list
            else _ZEROS.get(given[1]) is inst.result.type.values):
        return made, given[1]
    return None, None


def _is_possible(table: Any) -> bool:
    if type(table) in (Dict, DefaultDict, CounterDict):
        return t.can_be_key(table.keys) and t.can_be_value(table.values)
    return type(table) is Set and t.can_be_key(table.item)


def is_operation(inst: ir.Inst, group: Group) -> bool:
    """Whether an instruction is an operation on the table that keeps no reference to it."""
    if inst.args[0] not in group.values or not group.values.isdisjoint(inst.args[1:]):
        return False
    if inst.op in _OTHERS or inst.op is HOLDS:
        return True
    return inst.op in _KEYED and all(v.type is given for v, given in zip(inst.args[1:], group.types))


def begin(inst: ir.Inst, group: Group, used_once: Callable) -> bool:
    """Whether an instruction makes a dict or set that can be a local table; sets the factory of the group."""
    if not _is_possible(group.type):
        return False
    if inst.op is PY_UNBOX and isinstance(group.type, (DefaultDict, CounterDict)):
        made, factory = _made_by(inst)
        if made is None or not used_once(made.result):
            return False
        group.factory = factory
        return True
    return inst.op in _NEW and len(inst.args) <= _LONG


def _leaves(fn: ir.Function, group: Group):
    """[(instruction, operand)] where a table escapes; None where it cannot be local."""
    operations = {inst.op for _, inst in group.uses if is_operation(inst, group)}
    others = [(block, inst) for block, inst in group.uses if not is_operation(inst, group)]
    return leaves_of(group, fn, operations, others, group.values)


def leaves_of(group: Group, fn: ir.Function, operations: set[ir.Op], others, holders: set[ir.Value]):
    """[(instruction, operand)] for the uses of a group among `others` that make the table escape; None where the group
    cannot be a local table. others: [(block, instruction)] of the uses that are not operations on a table; operations:
    the operations that the group is used by; holders: the values through which the table can be reached."""
    for value in group.values:
        made = value.inst
        if made is not None and made.op in _NEW and any(
                v.type is not group.types[n % len(group.types)] for n, v in enumerate(made.args)):
            return None
    removes = not operations.isdisjoint(_REMOVES)
    if removes and (of.DICT_NEXT in operations or others and type(group.type) is Set):
        return None
    if not others:
        return []
    if of.DICT_HOLD in operations or operations.isdisjoint(_READS) and not (
            t.fills(group.type) and not _loops(fn).isdisjoint([
                block for block, inst in group.uses if inst.op is of.DICT_SET])):
        return None
    live = live_in(fn, holders.__contains__)
    found = []
    for block, inst in others:
        given = group.values.intersection(inst.args)
        after = set()
        for edge in block.insts[-1].targets if inst is not block.insts[-1] else inst.targets:
            after |= _needed(edge, live, holders)
        for later in reversed(block.insts[block.insts.index(inst) + 1:]):
            if later.unwind is not None:
                after |= _needed(later.unwind, live, holders)
            after |= holders.intersection(later.args)
            after.discard(later.result)
        if inst.unwind is not None:
            after |= _needed(inst.unwind, live, holders)
        if after or len(given) > 1:
            return None
        found += [(inst, value) for value in given]
    return found


def _loops(fn: ir.Function) -> set[ir.Block]:
    """The blocks that are in a loop."""
    return {block for loop in LoopNest(fn).loops for block in loop.blocks}


def _needed(edge: ir.Edge, live, values) -> set:
    return values.intersection(edge.args).union(live[edge.block])


class _Rewrite:
    def __init__(self, fn: ir.Function, local: set[ir.Value], leaving, factories):
        self.fn, self.local, self.leaving, self.factories = fn, local, leaving, factories
        self.mapping: dict[ir.Value, ir.Value] = {}
        self.out: list[ir.Inst] = []
        self.constants: dict[int, ir.Inst] = {}

    def run(self) -> None:
        calls = {v.inst.args[0].inst for v in self.local if v.inst is not None and v.inst.op is PY_UNBOX}
        for block in self.fn.blocks:
            self.out = []
            for inst in block.insts:
                if inst in calls:
                    continue
                for value in self.leaving.get(inst, ()):
                    left = self.make(t.LOCAL_LEAVE, [value], inst, value.type, factory=self.factories[value])
                    inst.args = [left if v is value else v for v in inst.args]
                rule = _RULES.get(inst.op) if inst.result in self.local or (
                    inst.args and inst.args[0] in self.local) else None
                if rule is None:
                    self.out.append(inst)
                else:
                    rule(self, inst)
            block.insts = self.out
        for value in self.local:
            value.type = NativeTable(value.type)
            if value.inst is not None and value.inst.op is t.LOCAL_NEW:
                value.inst.attrs["type"] = value.type
        self.fn.entry.insts[:0] = self.constants.values()
        substitute(self.fn.blocks, self.mapping)

    def make(self, op, args, of, type: Type | None = None, **attrs) -> Any:
        """Add an instruction in the place of another one; returns its result."""
        result = None if type is None else ir.Value(type)
        unwind = ir.Edge(of.unwind.block, of.unwind.args) if of.unwind is not None and op.effects & ir.RAISES else None
        self.out.append(ir.Inst(op, args, attrs, result, of.loc, (), unwind))
        return result

    def become(self, inst: ir.Inst, op, args, **attrs) -> None:
        """Replace an instruction by another operation with the same result value."""
        if not op.effects & ir.RAISES:
            inst.unwind = None
        inst.op, inst.args, inst.attrs = op, list(args), attrs
        self.out.append(inst)

    def constant(self, value: int) -> ir.Value:
        if value not in self.constants:
            self.constants[value] = ir.Inst(CONST, (), {"value": value}, ir.Value(Int))
        return self.constants[value].result

    def slot(self, inst, x, key) -> ir.Value:
        return self.make(t.LOCAL_SLOT, [x, key], inst, Int)

    def put(self, inst, x, key, *value) -> None:
        slot = self.make(t.LOCAL_CLAIM, [x, self.slot(inst, x, key), key], inst, Int)
        if value:
            self.make(t.LOCAL_STORE, [x, slot, *value], inst)

    def new(self, inst) -> None:
        items, each = inst.args, 2 if inst.op is of.DICT_NEW else 1
        if inst.op is PY_UNBOX:
            items = []
        self.become(inst, t.LOCAL_NEW, (), type=inst.result.type, factory=self.factories[inst.result])
        for n in range(0, len(items), each):
            self.put(inst, inst.result, *items[n:n + each])

    def has(self, inst) -> None:
        slot = self.slot(inst, *inst.args)
        self.become(inst, IGE, [slot, self.constant(0)])

    def get(self, inst) -> None:
        x, key = inst.args
        self.become(inst, t.LOCAL_GET, [x, self.slot(inst, x, key), key])

    def ask(self, inst) -> None:
        x, key = inst.args
        slot = self.slot(inst, x, key)
        if isinstance(x.type, CounterDict):  # a lookup in a Counter does not store the missing key
            found = self.make(t.LOCAL_FIND, [x, slot], inst, Tuple((Bool, Int)))
            there = self.make(TUPLE_GET, [found], inst, Bool, index=0)
            value = self.make(TUPLE_GET, [found], inst, Int, index=1)
            inst.unwind = None
            self.become(inst, SELECT, [there, value, self.constant(0)])
        elif self.factories[x] is list:
            native = isinstance(x.type.values, NativeList)
            self.become(inst, t.LOCAL_ASK if native else t.LOCAL_ASK_LIST, [x, slot, key])
        else:
            slot = self.make(t.LOCAL_CLAIM, [x, slot, key], inst, Int)  # the value in a claimed slot is zero
            self.become(inst, t.LOCAL_GET, [x, slot, key])

    def same(self, inst) -> None:
        self.mapping[inst.result] = inst.args[0]

    def find(self, inst) -> None:
        x, key = inst.args
        self.become(inst, t.LOCAL_FIND, [x, self.slot(inst, x, key)])

    def store(self, inst) -> None:
        self.put(inst, *inst.args)

    def remove(self, inst) -> None:
        x, key = inst.args
        # removing a missing key from a Counter is no error
        must = inst.attrs.get("must", True) and not isinstance(x.type, CounterDict)
        self.become(inst, t.LOCAL_REMOVE, [x, self.slot(inst, x, key), key], must=must)

    def length(self, inst) -> None:
        self.become(inst, t.LOCAL_LEN, inst.args)

    def step(self, inst) -> None:
        self.become(inst, t.LOCAL_NEXT, inst.args[:3], what=inst.attrs["what"])

    def nothing(self, inst) -> None:
        pass


_RULES = {
    of.DICT_NEW: _Rewrite.new, of.SET_NEW: _Rewrite.new, of.DICT_LEN: _Rewrite.length, of.SET_LEN: _Rewrite.length,
    of.DICT_GET: _Rewrite.get, of.DICT_FIND: _Rewrite.find, of.DICT_HAS: _Rewrite.has, of.SET_HAS: _Rewrite.has,
    of.DICT_SET: _Rewrite.store, of.SET_ADD: _Rewrite.store, of.DICT_DELETE: _Rewrite.remove,
    of.SET_DISCARD: _Rewrite.remove, of.DICT_NEXT: _Rewrite.step, of.DICT_HOLD: _Rewrite.nothing,
    of.DICT_ASK: _Rewrite.ask, HOLDS: _Rewrite.same, PY_UNBOX: _Rewrite.new,
}
