"""Replace lists and objects that only this function uses by variables: one for each part of their items and attributes.

A list becomes its length and one array for each part of an item, with room for more; a list of arrays has their
elements one after the other in one array, and where each begins in another. An object of a class of the program becomes
one variable for each attribute. This is done for a group of values that may refer to the same lists or objects, if a
single instruction makes all of these, and if only operations that are known here use them.
Before:  s = list_new : list[float64] ; list_append s, x ; y = list_get s, i
After:   items = array_new 0 ; n = 0 ; items[n] = x ; n = n + 1 ; y = items[i]
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.cfg import Dominators, reverse_postorder
from ...ir.core import Block, Edge, Function, Inst, Value
from ...ir.uses import users
from ...ops import arith as a
from ...ops import containers as lists
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops import tables
from ...ops.nest import NEST
from ...ops.objects import FIELD_CHECK, FIELD_GET, FIELD_PEEK, FIELD_SET, OBJECT_NEW
from ...ops.pyobject import PY_API, PY_BOX, PY_CALL, PY_TEST, PY_UNBOX
from ...types import kinds as k
from ...types.lattice import dtype_of, type_of_dtype
from ...types.tangents import is_number_that_varies
from ..rewrite import substitute
from ..unions import Unions
from . import variables
from .activity import Classes
from .builder import Builder
from .opened import end_blocks_at_raises
from .targets import targets
from .variables import Variable, read, write

__all__ = ["open_owned"]

_MAKES = frozenset((lists.LIST_NEW, OBJECT_NEW, PY_API, tables.DICT_NEW))
_DICTS = frozenset((tables.DICT_GET, tables.DICT_SET, tables.DICT_FIND, tables.DICT_HAS, tables.DICT_LEN,
                    tables.DICT_NEXT, tables.DICT_HOLD))
_LISTS = frozenset((lists.LIST_GET, lists.LIST_SET, lists.LIST_APPEND, lists.LIST_POP, lists.LIST_LEN))
_NEW = frozenset((mem.ARRAY_NEW, NEST, c.INVOKE))
_OF_OBJECTS = frozenset((FIELD_CHECK, FIELD_GET, FIELD_PEEK, FIELD_SET))
_STACKED = {0: "stacked", 1: "stacked_at_1", -1: "stacked_at_end"}


def open_owned(fn: Function, helpers) -> bool:
    """Replace all lists and objects for which this is possible. Returns whether there were any."""
    if not any(inst.op in _MAKES for block in fn.blocks for inst in block.insts):
        return False
    return _write_out(fn, helpers) or _Pools(fn, helpers).run() or _Opening(fn, helpers).run()


# operation of the interpreter on lists -> the function of lib/listed.py that does the same
_WRITTEN_OUT = {"PyNumber_Add": "added", "PyNumber_InPlaceAdd": "extended", "PySequence_List": "list_of",
                "PyObject_GetItem": "part", "PyObject_DelItem": "delete"}


# method of lists that the interpreter is called for -> the same
_METHODS = {list.insert: "insert", list.pop: "pop_at", list.reverse: "reverse", list.clear: "clear_list",
            list.copy: "list_of"}


def _write_out(fn: Function, helpers) -> bool:
    """Replace calls of the interpreter that work on lists, and sorting, by loops.
    Before:  p = py_box x ; q = py_box y ; r = py_api p, q {PyNumber_Add} ; z = py_unbox r
    After:   z = invoke @added(x, y)"""
    found = _Loops(fn, helpers)
    for inst in found.insts:
        found.replaced(inst)
    for block in fn.blocks:
        block.insts = [one for inst in block.insts if inst not in found.dead
                       for one in (*found.before.get(inst, ()), inst)]
    substitute(fn.blocks, found.replace)
    return found.any


class _Loops:
    def __init__(self, fn, helpers):
        self.helpers = helpers
        self.insts = [inst for block in fn.blocks for inst in block.insts]
        self.users = users(fn.blocks)
        self.replace: dict[Value, Value] = {}
        self.dead: set[Inst] = set()
        self.before: dict[Inst, list[Inst]] = {}  # instruction -> those to add before it
        self.any = False

    def replaced(self, inst: Inst) -> None:
        """Replace an instruction, and those that box its operands or unbox its result, if it works on lists."""
        if inst.op is lists.LIST_SORT and _is_list(inst.args[0].type) and len(_leaves(inst.args[0].type.item)) == 1:
            self.call(inst, inst, "sort", inst.args)
        if inst.op is not PY_API and inst.op is not PY_CALL and inst.op is not PY_TEST or inst.attrs.get("kwnames"):
            return
        given: list[Any] = [x.inst for x in inst.args]
        if inst.op is PY_CALL:
            function = given.pop(0)
            name = None
            if function is not None and function.op is c.CONST and _is_hashable(function.attrs["value"]):
                name = _METHODS.get(function.attrs["value"])
        else:
            name = _WRITTEN_OUT.get(inst.attrs["function"])
        if name is None or not all(self.is_opened(x, inst) for x in given):
            return
        wanted = self.types(name, [_type_of(x) for x in given])
        if wanted is None:
            return
        users = self.users.get(inst.result, []) if inst.result is not None else []
        end = inst
        if any(user.op is not s.DISCARD for user in users):
            end = users[0]
            if len(users) != 1 or end.op is not PY_UNBOX or end.result.type is not wanted:
                return
        b = Builder([], inst)
        args = [x.args[0] if x.op is PY_BOX else b.const(x.attrs["value"], k.Int) for x in given]
        self.dead.update(x for x in given if x.op is PY_BOX)
        self.dead.update(users if end is inst else [inst])
        self.before[end] = b.insts
        self.call(inst, end, name, args)

    def is_opened(self, x: Inst | None, call: Inst) -> bool:
        """Whether an operand is boxed for the call only, or is a constant int."""
        if x is None:
            return False
        return x.op is PY_BOX and self.users[x.result] == [call] or x.op is c.CONST and type(x.attrs["value"]) is int

    def types(self, name, given):
        """The type of the result of a function of lib/listed.py for operands of these types; None where it does not
        take them."""
        first = given[0]
        is_array = type(first) is k.Array and first.ndim == 1 and is_number_that_varies(first.dtype)
        if name == "list_of" and is_array:
            return k.List(first.dtype) if len(given) == 1 else None
        if not _is_list(first):
            return None
        rest = {"added": [first], "extended": [first], "list_of": [], "part": [k.Slice], "insert": [k.Int, first.item],
                "pop_at": [k.Int], "reverse": [], "clear_list": [], "delete": [k.Int]}[name]
        if len(rest) != len(given) - 1 or not all(
                t is wanted or wanted is k.Slice and type(t) is k.Slice for t, wanted in zip(given[1:], rest)):
            return None
        return first.item if name == "pop_at" else first if name in ("added", "extended", "list_of", "part") else (
            k.NoneType)

    def call(self, inst, end, name, args) -> None:
        callee = self.helpers(f"listed:{name}", tuple([x.type for x in args]))
        b = Builder([], end)
        result = b.call(callee, *args)
        if end.result is not None:
            self.replace[end.result] = result
        end.unwind = end.unwind or inst.unwind
        end.op, end.args, end.attrs, end.result = c.INVOKE, list(b.insts[-1].args), b.insts[-1].attrs, result
        result.inst = end
        self.any = True


def _type_of(x: Inst):
    return x.args[0].type if x.op is PY_BOX else k.Int


def _is_hashable(x) -> bool:
    return type(x) is type(list.insert)


def _is_list(t) -> bool:
    return type(t) is k.List and any(map(_may_vary, _leaves(t.item) or ()))


class _Group:
    """Values that may refer to one list or object. made: the instructions that make it; uses: the others."""

    def __init__(self):
        self.values: list[Value] = []
        self.params: list[Block] = []
        self.made: list[Inst] = []
        self.uses: list[tuple[Inst, Value]] = []
        self.boxes: dict[Inst, tuple] = {}  # instruction that boxes the list for a call -> the result of `boxed` for it
        self.repeated: Any = None  # see `repetition`
        self.parts: Any = None


class _Opening:
    def __init__(self, fn, helpers):
        self.fn, self.helpers = fn, helpers
        self.order = reverse_postorder(fn)
        self.home = {inst: block for block in self.order for inst in block.insts}
        self.users: dict[Value, list[Inst]] = {}
        for inst in self.home:
            for x in dict.fromkeys(inst.uses()):
                self.users.setdefault(x, []).append(inst)

    def run(self) -> bool:
        groups = [group for group in self.groups() if self.can_be_opened(group)]
        if not groups:
            return False
        end_blocks_at_raises(self.fn)
        self.replace: dict[Value, Value] = {}
        self.dead: set[Inst] = set()
        of = {x: group for group in groups for x in group.values}
        for group in groups:
            name = group.made[0].result.name
            group.parts = (_Object(group, name) if group.made[0].op is OBJECT_NEW
                           else _Dict(group.made[0].result.type, name, self.helpers)
                           if group.made[0].op is tables.DICT_NEW
                           else _List(self.item(group), name, self.helpers))
            if group.repeated is not None:
                self.dead.update(group.repeated[2])
            for box in group.boxes:
                self.dead.update((box, *self.users[box.result]))
        opened = {inst: group for group in groups for inst in [*group.made, *(inst for inst, _ in group.uses)]}
        copies = {box: (group, *found) for group in groups for box, found in group.boxes.items()}
        ends = {found[-1]: box for box, found in copies.items()}
        for block in reverse_postorder(self.fn):
            keep = [n for n, p in enumerate(block.params) if p not in of]
            if len(keep) < len(block.params):
                block.params = [block.params[n] for n in keep]
            insts, block.insts = block.insts, []
            b = Builder(block.insts)
            for inst in insts:
                b.at(inst)
                for e in inst.edges():
                    e.args = [x for x in e.args if x not in of]
                if inst in ends:
                    group, what, dtype = copies[ends[inst]][:3]
                    self.replace[inst.result] = group.parts.joined(b, what, dtype, inst.result.type)
                    self.move_unwind(b, inst)
                elif inst in opened and inst not in self.dead:
                    group = opened[inst]
                    found = group.parts.run(b, inst, group.repeated)
                    if found is not None:
                        self.replace[inst.result] = found
                    self.move_unwind(b, inst)
                elif inst not in self.dead:
                    block.insts.append(inst)
        substitute(self.fn.blocks, self.replace)
        variables.build(self.fn)
        return True

    def move_unwind(self, b, inst):
        """Give the unwind edge of the replaced instruction, if there is one, to those calls in its place that raise its
        exceptions."""
        e = inst.unwind
        if e is not None:
            for one in b.insts:
                if one.op is c.INVOKE and one.attrs["callee"].flags.raises:
                    one.unwind = Edge(e.block, list(e.args))

    # -- which

    def groups(self) -> list[_Group]:
        classes = Unions()
        held: dict[Value, Block | None] = {}
        for block in self.order:
            for p in block.params:
                if _is_owned(p.type):
                    held[p] = block
            for inst in block.insts:
                if inst.result is not None and _is_owned(inst.result.type):
                    held[inst.result] = None
                    if inst.op is lists.HOLDS:
                        classes.join(inst.args[0], inst.result)
                for e in inst.edges():
                    for p, x in zip(e.block.params, e.args):
                        if _is_owned(p.type):
                            classes.join(x, p)
        found: dict[Value, _Group] = {}
        for x, home in held.items():
            group = found.setdefault(classes.of(x), _Group())
            group.values.append(x)
            if home is not None:
                group.params.append(home)
                continue
            made = x.inst
            assert made is not None
            if made.op is lists.HOLDS:
                group.uses.append((made, made.args[0]))
            elif made.op is not s.UNDEF:
                group.made.append(made)
        for group in found.values():
            for x in group.values:
                group.uses += [(inst, x) for inst in self.users.get(x, ()) if inst.op is not lists.HOLDS]
        return [group for group in found.values() if len(group.made) == 1]  # an UNDEF is never read

    def can_be_opened(self, group) -> bool:
        made = group.made[0]
        if self.fn.entry in group.params or not group.uses:
            return False
        self.dom = getattr(self, "dom", None) or Dominators(self.fn)
        if not all(self.dom.dominates(self.home[made], block) for block in group.params):
            return False  # it may be a list that an earlier trip of a loop made
        group.uses = [(inst, x) for inst, x in group.uses if x in inst.args]
        if made.op is OBJECT_NEW:
            return self.is_object(group)
        return self.is_dict(group) if made.op is tables.DICT_NEW else self.is_list(group)

    def is_object(self, group) -> bool:
        types: dict[str, set] = {}
        sets: dict[str, list[Inst]] = {}
        for inst, x in group.uses:
            if inst.op not in _OF_OBJECTS or inst.args[0] is not x or x in inst.args[1:]:
                return False
            name = inst.attrs["name"]
            types.setdefault(name, set()).add((inst.result or inst.args[1]).type)
            if inst.op is FIELD_SET:
                sets.setdefault(name, []).append(inst)
        # the attribute may be missing; the interpreter must then raise
        for inst, _ in group.uses:
            if inst.op in (FIELD_GET, FIELD_PEEK) and not any(
                    self.comes_before(one, inst) for one in sets.get(inst.attrs["name"], ())):
                return False
        return all(len(found) == 1 or _joined(found) is not None for found in types.values())

    def comes_before(self, one, inst) -> bool:
        p, q = self.home[one], self.home[inst]
        return p.insts.index(one) < q.insts.index(inst) if p is q else self.dom.dominates(p, q)

    def item(self, group):
        return group.made[0].result.type.item

    def is_list(self, group) -> bool:
        made = group.made[0]
        if type(made.result.type) is not k.List:
            return False
        item = made.result.type.item
        if _leaves(item) is None or not any(map(_may_vary, _leaves(item))):
            return False
        given = made.args
        if made.op is not lists.LIST_NEW:
            group.repeated = self.repetition(made)
            if group.repeated is None or _holds_arrays(item):
                return False
            given = group.repeated[0].args
        for inst, x in group.uses:
            if inst.op is PY_BOX:
                found = self.boxed(inst, item)
                if found is None:
                    return False
                group.boxes[inst] = found
            elif inst.op is not lists.HOLDS and (
                    inst.op not in _LISTS or inst.args[0] is not x or x in inst.args[1:]):
                return False
            elif inst.op in (lists.LIST_APPEND, lists.LIST_SET) and not _fits(inst.args[-1].type, item):
                return False
        if any(not _fits(x.type, item) for x in given):
            return False
        return not _holds_arrays(item) or self.are_constant(group)

    def is_dict(self, group) -> bool:
        made = group.made[0]
        t = made.result.type
        if type(t) is not k.Dict or t.keys is not k.Int and t.keys is not k.Str:
            return False
        if _leaves(t.values) is None or not any(map(_may_vary, _leaves(t.values))) or _holds_arrays(t.values):
            return False
        keys, values = list(made.args[::2]), list(made.args[1::2])
        for inst, x in group.uses:
            if inst.op not in _DICTS or inst.args[0] is not x or x in inst.args[1:]:
                return False
            if inst.op is tables.DICT_NEXT and inst.attrs["what"] != "values" and t.keys is k.Str:
                return False
            if inst.op in (tables.DICT_GET, tables.DICT_SET, tables.DICT_FIND, tables.DICT_HAS):
                keys.append(inst.args[1])
            if inst.op is tables.DICT_SET:
                values.append(inst.args[2])
        if t.keys is k.Str and not all(type(_constant(x)) is str for x in keys):
            return False
        return all(x.type is t.keys for x in keys) and all(_fits(x.type, t.values) for x in values)

    def are_constant(self, group) -> bool:
        """Whether no array is written into after it was put into the list, or after it was taken out of the list. The
        variables hold copies of the elements, which would miss such writes."""
        classes = Classes(self.fn)
        written: dict[Value, list[tuple[Inst, Value]]] = {}
        for block in self.order:
            for inst in block.insts:
                for x in targets(inst):
                    written.setdefault(classes.of(x), []).append((inst, x))
        for inst in [*group.made, *(inst for inst, _ in group.uses)]:
            if inst.op in (lists.LIST_GET, lists.LIST_POP):
                # arrays that are made here are checked below, where they are put into the list
                if any(_root(x).inst is None or _root(x).inst.op not in _NEW for _, x in written.get(
                        classes.of(inst.result), ())):
                    return False
            for x in inst.args[inst.op is not lists.LIST_NEW:]:
                if any(self.may_follow(inst, writer, x) for writer, y in written.get(classes.of(x), ())
                       if not self.apart(_root(x), _root(y))):
                    return False
        return True

    def apart(self, x: Value, y: Value) -> bool:
        """Whether y is certainly another array than x: y is made here, and x is an argument or the result of another
        instruction."""
        known = x.inst is not None or x in self.fn.entry.params
        return x is not y and known and y.inst is not None and y.inst.op in _NEW

    def may_follow(self, inst, writer, x) -> bool:
        """Whether `writer` may run after `inst`, before the array x is made anew."""
        made = _root(x).inst
        stop = None if made is None else self.home[made]
        home = self.home[inst]
        if self.home[writer] is home and home.insts.index(writer) > home.insts.index(inst):
            return True
        seen, work = set(), [home]
        while work:
            for e in work.pop().edges():
                if e.block not in seen and e.block is not stop:
                    seen.add(e.block)
                    work.append(e.block)
        if stop is not None and self.home[writer] is stop is not home:
            return stop.insts.index(writer) < stop.insts.index(made)
        return self.home[writer] in seen

    def boxed(self, box, item):
        """For an instruction that boxes the list: (the name of the conversion that the interpreter is called for, as
        `_List.joined` knows it; its dtype or None; the instruction that unboxes the result), or None for other
        calls."""
        uses = self.users.get(box.result, ())
        if len(uses) != 1:
            return None
        call = uses[0]
        if call.result is None or len(self.users.get(call.result, ())) != 1:
            return None
        end = self.users[call.result][0]
        if end.op is not PY_UNBOX or call.op is not PY_CALL or call.attrs.get("kwnames") or type(
                end.result.type) is not k.Array:
            return None
        function, *given = [x if x is box.result else _constant(x) for x in call.args]
        t, leaves = end.result.type, _leaves(item)
        if t.layout != "C":
            return None
        if function in (np.asarray, np.array) and given[:1] == [box.result] and len(given) <= 2:
            if len(leaves) == 1 and is_number_that_varies(leaves[0]) and t.ndim == 1:
                return "as_dtype", t.dtype, end
            if type(item) is k.Array and t.dtype is item.dtype and t.ndim == item.ndim + 1:
                return "stacked", None, end
        if getattr(function, "__name__", None) == "joined_in_order" and given[1:2] == [box.result]:
            join, axis = given[0], given[2] if len(given) == 3 else 0
            if type(item) is k.Array and t.dtype is item.dtype:
                if join in (np.vstack, np.hstack) and len(given) == 2:
                    joins = (join is np.vstack) == (item.ndim == 1)
                    if join is np.hstack and item.ndim > 1:
                        return None
                    return "stacked" if joins and join is np.vstack else "concatenated", None, end
                if join is np.stack and type(axis) is int and axis in _STACKED:
                    return _STACKED[axis], None, end
                if join is np.concatenate and axis == 0:
                    return "concatenated", None, end
        return None

    def repetition(self, made):
        """(list display, the instruction that gives the number of repetitions, the instructions in between) of `[x] *
        n`, or None."""
        call = made.args[0].inst if made.op is PY_UNBOX and made.unwind is None else None
        if call is None or call.op is not PY_API or call.attrs["function"] != "PyNumber_Multiply" or call.unwind:
            return None
        box, times = (x.inst for x in call.args)
        display = box.args[0].inst if box is not None and box.op is PY_BOX else None
        if times is None or times.op not in (PY_BOX, c.CONST) or times.op is PY_BOX and (
                times.args[0].type is not k.Int) or times.op is c.CONST and type(times.attrs["value"]) is not int:
            return None
        if display is None or display.op is not lists.LIST_NEW or any(
                self.users[x] != [one] for x, one in ((display.result, box), (box.result, call), (call.result, made))):
            return None
        return display, times, (display, box, call)



def _root(x: Value) -> Any:
    """The array that x is a view of."""
    while x.inst is not None and x.inst.op in (mem.ARRAY_VIEW, s.RETYPE):
        x = x.inst.args[0]
    return x


def _constant(x: Value):
    """The value of a constant, also of one that is boxed; other values are returned unchanged."""
    made = x.inst
    if made is not None and made.op is PY_BOX:
        made = made.args[0].inst
    return made.attrs["value"] if made is not None and made.op is c.CONST else x


def _is_owned(t) -> bool:
    return type(t) is k.List or type(t) is k.Dict or isinstance(t, k.ObjectOf)


def _joined(types):
    """The union among these types whose members include all other types."""
    return next((t for t in types if type(t) is k.Union and all(x is t or x in t.members for x in types)), None)


def _fits(t, wanted) -> bool:
    return t is wanted or type(wanted) is k.Union and t in wanted.members


def _leaves(t) -> Any:
    """The types of the numbers and arrays of which an item consists; None where it has other parts. For a union the
    first is the type of the number of the member."""
    if type(t) is k.Tuple:
        parts = [_leaves(part) for part in t.elements]
        return None if any(part is None for part in parts) else [x for part in parts for x in part or ()]
    if type(t) is k.Union:
        return [k.Int, k.float64] if all(k.is_float(m) and dtype_of(m) == np.float64 for m in t.members) else None
    if type(t) is k.Array:
        ok = t.ndim and t.layout != "F" and is_number_that_varies(t.dtype)
        return [t] if ok else None
    return [t] if k.is_float(t) or k.is_complex(t) or t is k.Int or t is k.Bool else None


def _may_vary(t) -> bool:
    return is_number_that_varies(t.dtype if type(t) is k.Array else t)


def _holds_arrays(t) -> bool:
    return any(type(x) is k.Array for x in _leaves(t) or ())


def _element(t):
    """The element type of the array that stores one part of the items."""
    if type(t) is k.Array:
        return t.dtype
    return k.int64 if t is k.Int or t is k.Bool else type_of_dtype(dtype_of(t)) if t in (k.Float, k.Complex) else t


class _Pools:
    """Lists of numbers that are items of other lists. All that may be the same lists are put into one pool, and their
    numbers in the pool are the items of the other lists, which stay lists.
    Before:  r = list_new x : list[float] ; rows = list_new r : list[list[float]] ; y = list_get (list_get rows, i), j
    After:   items[0] = x ; rows = list_new 0 : list[int] ; y = items[start of list number (list_get rows, i) + j]"""

    def __init__(self, fn, helpers):
        self.fn, self.helpers = fn, helpers
        self.classes = Unions()

    def run(self) -> bool:
        insts = [inst for block in self.fn.blocks for inst in block.insts]
        if not any(inst.op is lists.LIST_NEW and _is_nested(inst.result.type) for inst in insts):
            return False
        self.opening = _Opening(self.fn, self.helpers)
        items: dict[Value, Value] = {}  # class of outer lists -> one of its items
        values = [p for block in self.opening.order for p in block.params]
        values += [inst.result for inst in insts if inst.result is not None]
        self.values = [v for v in values if _is_nested(v.type) or _is_row(v.type)]
        for inst in insts:
            if inst.op is lists.HOLDS and inst.result in self.values:
                self.classes.join(inst.args[0], inst.result)
            for e in inst.edges():
                for p, x in zip(e.block.params, e.args):
                    if _is_nested(p.type) or _is_row(p.type):
                        self.classes.join(x, p)
        for inst in insts:
            for x in self.rows_of(inst):
                outer = self.classes.of(inst.result if inst.op is lists.LIST_NEW else inst.args[0])
                self.classes.join(x, items.setdefault(outer, x))
        closed = {self.classes.of(v) for v in self.values if not self.is_known(v)}
        found = {self.classes.of(x) for outer, x in items.items() if outer not in closed} - closed
        # rows of lists that stay as they are do, too
        found -= {self.classes.of(x) for outer, x in items.items() if outer in closed}
        if not found:
            return False
        self.rewrite(found, {outer for outer, x in items.items() if self.classes.of(x) in found})
        return True

    def rows_of(self, inst: Inst) -> list[Value]:
        """The rows that an instruction puts into a nested list or takes out of it."""
        op = inst.op
        if op is lists.LIST_NEW and _is_nested(inst.result.type):
            return list(inst.args)
        if op not in _LISTS or not _is_nested(inst.args[0].type) or op is lists.LIST_LEN:
            return []
        return inst.args[-1:] if op in (lists.LIST_SET, lists.LIST_APPEND) else [inst.result]

    def is_known(self, v: Value) -> bool:
        """Whether this class knows all that is done with a list."""
        made, nested = v.inst, _is_nested(v.type)
        if made is None:
            if v in self.fn.entry.params:
                return False
        elif made.op is lists.LIST_NEW:
            if not nested and not all(_fits(x.type, v.type.item) for x in made.args):
                return False
        elif made.op is not s.UNDEF and (made.op is not lists.HOLDS or nested) and not (
                not nested and (made.op in (lists.LIST_GET, lists.LIST_POP) or self.opening.repetition(made))):
            return False
        for user in self.opening.users.get(v, ()):
            if user.op is lists.HOLDS and not nested or user.op in (c.JUMP, c.BRANCH, c.SWITCH):
                continue
            if not nested and v in self.rows_of(user):
                continue
            if user.op is PY_BOX and not nested and self.is_repeated(user):
                continue
            if user.op not in _LISTS or user.args[0] is not v or v in user.args[1:]:
                return False
            if not nested and user.op in (lists.LIST_SET, lists.LIST_APPEND) and not _fits(
                    user.args[-1].type, v.type.item):
                return False
        return True

    def is_repeated(self, box: Inst) -> bool:
        (call, *others) = self.opening.users.get(box.result, [None])
        ends = self.opening.users.get(call.result, []) if call is not None and call.result is not None else []
        return not others and len(ends) == 1 and ends[0].op is PY_UNBOX and self.opening.repetition(ends[0]) is not None

    def rewrite(self, rows: set[Value], outer: set[Value]) -> None:
        pools: dict[Value, _Pool] = {}
        repeated: dict[Value, tuple] = {}
        dead: set[Inst] = set()
        for v in self.values:
            if self.classes.of(v) in rows:
                pools.setdefault(self.classes.of(v), _Pool(v.type.item, v.name, self.helpers))
                found = self.opening.repetition(v.inst) if v.inst is not None and v.inst.op is PY_UNBOX else None
                if found is not None:
                    repeated[v] = found
                    dead.update(found[2])
        end_blocks_at_raises(self.fn)
        of = {v: pools[self.classes.of(v)] for v in self.values if self.classes.of(v) in rows}
        for v in self.values:
            if v in of:
                v.type = k.Int
            elif self.classes.of(v) in outer:
                v.type = k.List(k.Int)
                if v.inst is not None and "type" in v.inst.attrs:
                    v.inst.attrs = {**v.inst.attrs, "type": v.type}
        replace: dict[Value, Value] = {}
        for block in reverse_postorder(self.fn):
            insts, block.insts = block.insts, []
            b = Builder(block.insts)
            if block is self.fn.entry:
                for made in pools.values():
                    made.start(b)
            for inst in insts:
                b.at(inst)
                pool = of.get(inst.args[0]) if inst.args else None
                if inst in dead:
                    continue
                if inst.result in of and inst.op not in (lists.LIST_GET, lists.LIST_POP):
                    replace[inst.result] = of[inst.result].made_by(b, inst, repeated.get(inst.result))
                elif pool is not None and inst.op in _LISTS:
                    found = pool.run(b, inst, None)
                    if found is not None:
                        replace[inst.result] = found
                    self.opening.move_unwind(b, inst)
                else:
                    block.insts.append(inst)
        substitute(self.fn.blocks, replace)
        variables.build(self.fn)


def _is_row(t) -> bool:
    return type(t) is k.List and _leaves(t.item) is not None and any(map(_may_vary, _leaves(t.item))) and (
        not _holds_arrays(t.item))


def _is_nested(t) -> bool:
    return type(t) is k.List and _is_row(t.item)


class _List:
    """The variables of a list."""

    def __init__(self, item, name, helpers):
        self.item, self.helpers = item, helpers
        self.leaves = _leaves(item)
        self.n = Variable(f"{name}.n", k.Int)
        self.items = [Variable(f"{name}.items", k.Array(_element(t), 1)) for t in self.leaves]
        self.used: list[Any] = [Variable(f"{name}.used", k.Int) if type(t) is k.Array else None for t in self.leaves]
        self.places: list[Any] = [Variable(f"{name}.places", k.Array(k.int64, 1)) if type(t) is k.Array else None
                       for t in self.leaves]

    def call(self, b, name, *args):
        return b.call(self.helpers(f"listed:{name}", tuple([x.type for x in args])), *args)

    def run(self, b, inst, repeated):
        op = inst.op
        if op is lists.HOLDS:
            return None
        if op is PY_UNBOX:
            display, times, _ = repeated
            self.made(b, display.args)
            times = times.args[0] if times.op is PY_BOX else b.const(times.attrs["value"], k.Int)
            n = read(b, self.n)
            for items in self.items:
                write(b, items, self.call(b, "repeated", read(b, items), n, times))
            write(b, self.n, b.op(mem.ARRAY_DIM, read(b, self.items[0]), axis=0))
            return None
        if op is lists.LIST_NEW:
            self.made(b, inst.args)
        elif op is lists.LIST_LEN:
            return read(b, self.n)
        elif op is lists.LIST_APPEND:
            self.append(b, inst.args[1])
        elif op is lists.LIST_GET:
            return self.get(b, self.call(b, "index", inst.args[1], read(b, self.n)))
        elif op is lists.LIST_SET:
            self.put(b, self.call(b, "set_index", inst.args[1], read(b, self.n)), inst.args[2])
        else:
            i = self.call(b, "last", read(b, self.n))
            found = self.get(b, i)
            write(b, self.n, i)
            return found
        return None

    def made(self, b, given):
        zero = b.const(0, k.Int)
        room = b.const(len(given) + 4, k.Int)
        write(b, self.n, zero)
        for t, items, used, places in zip(self.leaves, self.items, self.used, self.places):
            write(b, items, b.op(mem.ARRAY_NEW, room, type=items.type, zero=True))
            if used is not None:
                write(b, used, zero)
                write(b, places, b.op(mem.ARRAY_NEW, zero, type=places.type, zero=True))
        for x in given:
            self.append(b, x)

    def append(self, b, x):
        n = read(b, self.n)
        one = b.const(1, k.Int)
        for items, used in zip(self.items, self.used):
            if used is None:
                write(b, items, self.call(b, "room", read(b, items), n, one))
        self.put(b, n, x)
        write(b, self.n, b.op(a.IADD, n, one))

    def put(self, b, i, x):
        for t, x, items, used, places in zip(self.leaves, self.flat(b, x, self.item), self.items, self.used,
                                             self.places):
            if used is None:
                self.call(b, "put", read(b, items), i, x)
                continue
            at = read(b, used)
            write(b, items, self.call(b, "with_array", read(b, items), at, x))
            shape = [b.op(mem.ARRAY_DIM, x, axis=n) for n in range(t.ndim)]
            write(b, places, self.call(b, "with_place", read(b, places), i, at, b.op(s.TUPLE_MAKE, *shape, cls=None)))
            for size in shape[1:]:
                shape[0] = b.op(a.IMUL, shape[0], size)
            write(b, used, b.op(a.IADD, at, shape[0]))

    def get(self, b, i):
        found = []
        for t, items, places in zip(self.leaves, self.items, self.places):
            if places is None:
                x = b.op(mem.ARRAY_LOAD, read(b, items), i)
                found.append(b.op(a.INE, b.op(a.CAST, x, type=k.Int), b.const(0, k.Int)) if t is k.Bool
                             else b.cast(x, t))
            else:
                first, *shape = self.place(b, t, read(b, places), i)
                x = self.call(b, "item", read(b, items), first, b.op(s.TUPLE_MAKE, *shape, cls=None))
                found.append(x if x.type is t else b.op(s.RETYPE, x, type=t))
        return self.built(b, iter(found), self.item)

    def place(self, b, t, places, i):
        width = b.const(1 + t.ndim, k.Int)
        return [self.call(b, "place", places, i, width, b.const(n, k.Int)) for n in range(1 + t.ndim)]

    def joined(self, b, what, dtype, t):
        """An array of all items."""
        n, items = read(b, self.n), read(b, self.items[-1])
        if what == "as_dtype":
            wanted = b.op(c.CONST, type=k.DType(dtype), value=dtype_of(dtype))
            found = self.call(b, what, items, n, wanted)
        else:
            self.call(b, "some_to_join" if what == "concatenated" else "some", n)
            places = read(b, self.places[0])
            shape = self.place(b, self.item, places, b.const(0, k.Int))[1:]
            found = self.call(b, what, items, places, n, b.op(s.TUPLE_MAKE, *shape, cls=None))
        return found if found.type is t else b.op(s.RETYPE, found, type=t)

    # -- items and their parts

    def flat(self, b, x, t) -> list[Value]:
        if type(t) is k.Tuple:
            return [y for n, part in enumerate(t.elements)
                    for y in self.flat(b, b.op(s.TUPLE_GET, x, index=n), part)]
        if type(t) is k.Union:
            if x.type is not t:
                return [b.const(t.members.index(x.type), k.Int), b.cast(x, k.float64)]
            number, value = b.const(0, k.Int), b.cast(b.op(s.UNION_GET, x, type=t.members[0]), k.float64)
            for n, m in list(enumerate(t.members))[1:]:
                test = _is_member(b, x, m)
                number = b.op(s.SELECT, test, b.const(n, k.Int), number)
                value = b.op(s.SELECT, test, b.cast(b.op(s.UNION_GET, x, type=m), k.float64), value)
            return [number, value]
        return [b.op(s.SELECT, x, b.const(1, k.Int), b.const(0, k.Int)) if t is k.Bool else x]

    def built(self, b, parts, t) -> Value:
        if type(t) is k.Tuple:
            return b.op(s.TUPLE_MAKE, *[self.built(b, parts, part) for part in t.elements], cls=t.cls)
        if type(t) is not k.Union:
            return next(parts)
        number, value = next(parts), next(parts)
        found = b.op(s.UNION_MAKE, b.cast(value, t.members[0]), type=t)
        for n, m in list(enumerate(t.members))[1:]:
            found = b.op(s.SELECT, b.op(a.IEQ, number, b.const(n, k.Int)),
                         b.op(s.UNION_MAKE, b.cast(value, m), type=t), found)
        return found


class _Pool(_List):
    """The variables of several lists: the items of each are in `items`, from a start on and with some room; `heads` has
    (start, length, room) of each list."""

    def __init__(self, item, name, helpers):
        super().__init__(item, name, helpers)  # n: how many items have room
        self.heads = Variable(f"{name}.heads", k.Array(k.int64, 1))
        self.count = Variable(f"{name}.count", k.Int)

    def start(self, b):
        zero = b.const(0, k.Int)
        write(b, self.n, zero)
        write(b, self.count, zero)
        for variable in (self.heads, *self.items):
            write(b, variable, b.op(mem.ARRAY_NEW, zero, type=variable.type, zero=True))

    def made_by(self, b, inst, repeated):
        """The number of the list that an instruction makes."""
        if inst.op is s.UNDEF:
            return b.const(0, k.Int)
        if inst.op is lists.HOLDS:
            return inst.args[0]
        if repeated is None:
            return self.new(b, inst.args, b.const(1, k.Int))
        display, times, _ = repeated
        return self.new(b, display.args, times.args[0] if times.op is PY_BOX else b.const(times.attrs["value"], k.Int))

    def new(self, b, given, times):
        size = self.call(b, "size_of_list", b.const(len(given), k.Int), times)
        first, number = read(b, self.n), read(b, self.count)
        write(b, self.heads, self.call(b, "with_list", read(b, self.heads), number, first, size))
        for items in self.items:
            write(b, items, self.call(b, "room", read(b, items), first, b.op(a.IADD, size, b.const(4, k.Int))))
        write(b, self.n, b.op(a.IADD, first, b.op(a.IADD, size, b.const(4, k.Int))))
        write(b, self.count, b.op(a.IADD, number, b.const(1, k.Int)))
        step = b.const(len(given), k.Int)
        for n, x in enumerate(given):
            for part, items in zip(self.flat(b, x, self.item), self.items):
                self.call(b, "put_every", read(b, items), b.op(a.IADD, first, b.const(n, k.Int)), step, times, part)
        return number

    def run(self, b, inst, repeated):
        op, number, heads = inst.op, inst.args[0], read(b, self.heads)
        if op is lists.LIST_LEN:
            return self.call(b, "length_of", heads, number)
        if op is lists.LIST_GET:
            return self.get(b, self.call(b, "place_of", heads, number, inst.args[1]))
        if op is lists.LIST_SET:
            self.put(b, self.call(b, "place_to_set", heads, number, inst.args[1]), inst.args[2])
        elif op is lists.LIST_APPEND:
            used = read(b, self.n)
            for items in self.items:
                write(b, items, self.call(b, "moved", read(b, items), heads, number, used))
            write(b, self.n, self.call(b, "with_room", heads, number, used))
            self.put(b, self.call(b, "place_behind", heads, number), inst.args[1])
        else:
            return self.get(b, self.call(b, "place_of_last", heads, number))
        return None


class _Dict(_List):
    """The variables of a dict: those of the list of its values, the keys in the same order, and a table of positions
    in which keys are searched. Texts, which are constants, are keys by their numbers."""

    def __init__(self, t, name, helpers):
        super().__init__(t.values, name, helpers)
        self.keys = Variable(f"{name}.keys", k.Array(k.int64, 1))
        self.slots = Variable(f"{name}.slots", k.Array(k.int64, 1))
        self.texts: dict[str, int] | None = {} if t.keys is k.Str else None

    def run(self, b, inst, repeated):
        op = inst.op
        if op is tables.DICT_NEW:
            self.made(b, ())
            for variable, size in ((self.keys, 4), (self.slots, 8)):
                write(b, variable, b.op(mem.ARRAY_NEW, b.const(size, k.Int), type=variable.type, zero=True))
            for key, x in zip(inst.args[::2], inst.args[1::2]):
                self.set(b, key, x)
        elif op is tables.DICT_SET:
            self.set(b, *inst.args[1:])
        elif op is tables.DICT_LEN:
            return read(b, self.n)
        elif op is tables.DICT_NEXT:
            return self.step(b, inst)
        elif op is not tables.DICT_HOLD:
            i = self.find(b, inst.args[1])
            if op is tables.DICT_GET:
                return self.get(b, self.call(b, "key_index", i, inst.args[1]))
            there = b.op(a.IGE, i, b.const(0, k.Int))
            if op is tables.DICT_HAS:
                return there
            x = self.get(b, b.op(s.SELECT, there, i, b.const(0, k.Int)))
            return b.op(s.TUPLE_MAKE, there, x, cls=None)
        return None

    def find(self, b, key):
        return self.call(b, "find_key", read(b, self.keys), read(b, self.slots), self.number(b, key))

    def number(self, b, key):
        if self.texts is None:
            return key
        text = _constant(key)
        assert isinstance(text, str)
        return b.const(self.texts.setdefault(text, len(self.texts)), k.Int)

    def set(self, b, key, x):
        i, n, number = self.find(b, key), read(b, self.n), self.number(b, key)
        new = b.op(a.ILT, i, b.const(0, k.Int))
        write(b, self.keys, self.call(b, "with_key", read(b, self.keys), n, new, number))
        write(b, self.slots, self.call(b, "with_slot", read(b, self.slots), read(b, self.keys), n, new, number))
        one = b.const(1, k.Int)
        for items in self.items:
            write(b, items, self.call(b, "room", read(b, items), n, one))
        self.put(b, b.op(s.SELECT, new, n, i), x)
        write(b, self.n, b.op(a.IADD, n, b.op(s.SELECT, new, one, b.const(0, k.Int))))

    def step(self, b, inst):
        at, used = inst.args[1:3]
        n = read(b, self.n)
        self.call(b, "same_size", n, used)
        more = b.op(a.ILT, at, n)
        zero = b.const(0, k.Int)
        i = b.op(s.SELECT, more, at, zero)
        what = inst.attrs["what"]
        item = self.call(b, "key_at", read(b, self.keys), i) if what != "values" else None
        if what != "keys":
            x = self.get(b, i)
            item = x if item is None else b.op(s.TUPLE_MAKE, item, x, cls=None)
        behind = b.op(a.IADD, at, b.op(s.SELECT, more, b.const(1, k.Int), zero))
        return b.op(s.TUPLE_MAKE, more, item, behind, cls=None)


def _is_member(b, x, t) -> Value:
    found = Value(k.Bool)
    b.insts.append(Inst(s.UNION_IS, [x], {"type": t, **b.notes}, found, b.loc))
    return found


class _Object:
    """The variables of an object."""

    def __init__(self, group, name):
        types: dict[str, set] = {}
        for inst, _ in group.uses:
            types.setdefault(inst.attrs["name"], set()).add((inst.result or inst.args[1]).type)
        self.fields = {field: Variable(f"{name}.{field}", _joined(found) if len(found) > 1 else next(iter(found)))
                       for field, found in types.items()}

    def run(self, b, inst, repeated):
        if inst.op is OBJECT_NEW or inst.op is FIELD_CHECK:
            return None
        field = self.fields[inst.attrs["name"]]
        if inst.op is FIELD_SET:
            x = inst.args[1]
            write(b, field, x if x.type is field.type else b.op(s.UNION_MAKE, x, type=field.type))
            return None
        found = read(b, field)
        if found.type is not inst.result.type:
            found = b.op(s.UNION_GET, found, type=inst.result.type)
        return found
