"""Replace lists and objects that only this function uses by variables: one for each part of their items and attributes.

A list becomes its length and one array for each part of an item, with room for more; a list of arrays has their
elements one after the other in one array, and where each begins in another. This is done for a group of values that may
refer to the same lists, if a single instruction makes all of these, and if only operations that are known here use
them. An object of a class of the program becomes one variable for each attribute and each name that it gets: see
owned_objects.py. Objects and lists that are items of lists become numbers: see `_Pools`.
Before:  s = list_new : list[float64] ; list_append s, x ; y = list_get s, i
After:   items = array_new 0 ; n = 0 ; items[n] = x ; n = n + 1 ; y = items[i]
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.cfg import Dominators, blocks_after, reverse_postorder
from ...ir.core import Block, Edge, Function, Inst, Value
from ...ops import arith as a
from ...ops import containers as lists
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops import tables
from ...ops.nest import NEST
from ...ops.objects import FIELD_CHECK, FIELD_GET, FIELD_PEEK, FIELD_SET, OBJECT_NEW
from ...ops.pyobject import PY_API, PY_BOX, PY_CALL, PY_UNBOX
from ...runtime.repeatable import joined_in_order
from ...types import kinds as k
from ...types.tangents import is_number_that_varies
from ..alias import root_of
from ..rewrite import substitute
from ..unions import Unions
from ...ir import variables
from .activity import Classes
from .builder import Builder
from .opened import end_blocks_at_raises
from .owned_loops import write_out
from .owned_objects import OF_OBJECTS, field_types, open_objects, reads_what_is_set
from .owned_variables import (
    DictVariables, ListVariables, PoolVariables, RecordVariables, constant_of, fits, holds_arrays, leaves_of, may_vary,
)
from .targets import targets
from ...ir.variables import Variable, read, write

__all__ = ["open_owned"]

_MAKES = frozenset((lists.LIST_NEW, OBJECT_NEW, PY_API, tables.DICT_NEW))
_DICTS = frozenset((tables.DICT_GET, tables.DICT_SET, tables.DICT_FIND, tables.DICT_HAS, tables.DICT_LEN,
                    tables.DICT_NEXT, tables.DICT_HOLD))
_LISTS = frozenset((lists.LIST_GET, lists.LIST_SET, lists.LIST_APPEND, lists.LIST_POP, lists.LIST_LEN))
_NEW = frozenset((mem.ARRAY_NEW, NEST, c.INVOKE))
_STACKED = {0: "stacked", 1: "stacked_at_1", -1: "stacked_at_end"}
_CONCATENATED = {0: "concatenated", 1: "concatenated_at_1", 2: "concatenated_at_2", 3: "concatenated_at_3"}


def open_owned(fn: Function, helpers) -> bool:
    """Replace all lists and objects for which this is possible. Returns whether there were any."""
    if not any(inst.op in _MAKES for block in fn.blocks for inst in block.insts):
        return False
    return write_out(fn, helpers) or _Pools(fn, helpers).run() or open_objects(fn) or _Opening(fn, helpers).run(
        ) or _ObjectPools(fn, helpers).run()


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
            group.parts = (RecordVariables(group.made[0], name) if self.is_record(group)
                           else DictVariables(group.made[0].result.type, name, self.helpers)
                           if group.made[0].op is tables.DICT_NEW
                           else ListVariables(self.item(group), name, self.helpers))
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
        return self.is_dict(group) if made.op is tables.DICT_NEW else self.is_list(group)

    def item(self, group):
        return group.made[0].result.type.item

    def is_list(self, group) -> bool:
        made = group.made[0]
        if type(made.result.type) is not k.List:
            return False
        item = made.result.type.item
        if leaves_of(item) is None or not any(map(may_vary, leaves_of(item))):
            return False
        given = made.args
        if made.op is not lists.LIST_NEW:
            group.repeated = self.repetition(made)
            if group.repeated is None or holds_arrays(item):
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
            elif inst.op in (lists.LIST_APPEND, lists.LIST_SET) and not fits(inst.args[-1].type, item):
                return False
        if any(not fits(x.type, item) for x in given):
            return False
        return not holds_arrays(item) or self.are_constant([*group.made, *(inst for inst, _ in group.uses)])

    def is_dict(self, group) -> bool:
        made = group.made[0]
        t = made.result.type
        if type(t) is not k.Dict or t.keys is not k.Int and t.keys is not k.Str:
            return False
        if leaves_of(t.values) is None or not any(map(may_vary, leaves_of(t.values))):
            return False
        if holds_arrays(t.values) and not self.is_record(group):
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
        if t.keys is k.Str and not all(type(constant_of(x)) is str for x in keys):
            return False
        return all(x.type is t.keys for x in keys) and all(fits(x.type, t.values) for x in values)

    def is_record(self, group) -> bool:
        """Whether all items of a dict are read and assigned by texts that are keys of it from the start."""
        made = group.made[0]
        if made.op is not tables.DICT_NEW or made.result.type.keys is not k.Str:
            return False
        keys = set(map(constant_of, made.args[::2]))
        return all(inst.op in (tables.DICT_LEN, tables.DICT_HOLD) or inst.op in (tables.DICT_GET, tables.DICT_SET)
                   and constant_of(inst.args[1]) in keys for inst, _ in group.uses)

    def are_constant(self, insts) -> bool:
        """Whether no array is written into after one of these instructions has put it into a list or an object, or has
        taken it out. The variables hold copies of the elements, which would miss such writes."""
        classes = Classes(self.fn)
        written: dict[Value, list[tuple[Inst, Value]]] = {}
        for block in self.order:
            for inst in block.insts:
                for x in targets(inst):
                    written.setdefault(classes.of(x), []).append((inst, x))
        for inst in insts:
            if inst.op in (lists.LIST_GET, lists.LIST_POP, FIELD_GET, FIELD_PEEK):
                # arrays that are made here are checked below, where they are put into the list
                made = [root_of(x).inst for _, x in written.get(classes.of(inst.result), ())]
                if any(i is None or i.op not in _NEW for i in made):
                    return False
            for x in inst.args[inst.op is not lists.LIST_NEW:]:
                if any(self.may_follow(inst, writer, x) for writer, y in written.get(classes.of(x), ())
                       if not self.is_other_array(root_of(x), root_of(y))):
                    return False
        return True

    def is_other_array(self, x: Value, y: Value) -> bool:
        """Whether y is certainly another array than x: y is made here, and x is an argument or the result of another
        instruction."""
        known = x.inst is not None or x in self.fn.entry.params
        return x is not y and known and y.inst is not None and y.inst.op in _NEW

    def may_follow(self, inst, writer, x) -> bool:
        """Whether `writer` may run after `inst`, before the array x is made anew."""
        made = root_of(x).inst
        stop = None if made is None else self.home[made]
        home = self.home[inst]
        if self.home[writer] is home and home.insts.index(writer) > home.insts.index(inst):
            return True
        seen = blocks_after(home, (stop,))
        if made is not None and self.home[writer] is stop is not home:
            return stop.insts.index(writer) < stop.insts.index(made)
        return self.home[writer] in seen

    def boxed(self, box, item):
        """For an instruction that boxes the list: (the name of the conversion that the interpreter is called for, as
        `ListVariables.joined` knows it; its dtype or None; the instruction that unboxes the result), or None for other
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
        function, *given = [x if x is box.result else constant_of(x) for x in call.args]
        t, leaves = end.result.type, leaves_of(item)
        if t.layout != "C":
            return None
        if function in (np.asarray, np.array) and given[:1] == [box.result] and len(given) <= 2:
            if len(leaves) == 1 and is_number_that_varies(leaves[0]) and t.ndim == 1:
                return "as_dtype", t.dtype, end
            if type(item) is k.Array and t.dtype is item.dtype and t.ndim == item.ndim + 1:
                return "stacked", None, end
        if function is joined_in_order and given[1:2] == [box.result]:
            join, axis = given[0], given[2] if len(given) == 3 else 0
            if type(item) is k.Array and t.dtype is item.dtype:
                name = _join(join, axis if join in (np.stack, np.concatenate) else None, item.ndim)
                return name and (name, None, end)
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


def _join(function, axis, ndim: int) -> str | None:
    """The name of the function of lib/listed.py that joins a list of arrays of `ndim` axes as a function of NumPy does;
    None where there is none. axis: None for functions without one."""
    if function is np.column_stack or function is np.dstack:
        axis = 1 if function is np.column_stack else 2
        function = np.stack if ndim == axis else np.concatenate if ndim > axis else None
    elif function is np.vstack or function is np.hstack:
        axis = 0 if function is np.vstack or ndim == 1 else 1
        function = np.stack if function is np.vstack and ndim == 1 else np.concatenate
    if type(axis) is not int:
        return None
    axes = ndim + 1 if function is np.stack else ndim
    place = axis + axes if axis < 0 else axis
    if function is np.stack:
        return _STACKED.get(-1 if place == ndim > 1 else place)
    return _CONCATENATED.get(place) if function is np.concatenate and place < ndim else None


def _is_owned(t) -> bool:
    return type(t) is k.List or type(t) is k.Dict


class _Pools:
    """Lists of numbers that are items of other lists, or that a loop replaces by new ones. All that may be the same
    lists are put into one pool, and their numbers in the pool are the items of the other lists, which stay lists.
    Before:  r = list_new x : list[float] ; rows = list_new r : list[list[float]] ; y = list_get (list_get rows, i), j
    After:   items[0] = x ; rows = list_new 0 : list[int] ; y = items[start of list number (list_get rows, i) + j]"""

    def __init__(self, fn, helpers):
        self.fn, self.helpers = fn, helpers
        self.classes = Unions()

    def run(self) -> bool:
        insts = [inst for block in self.fn.blocks for inst in block.insts]
        made = [inst.result for inst in insts if inst.op is lists.LIST_NEW]
        if not any(_is_nested(v.type) for v in made) and sum(_is_row(v.type) for v in made) < 2:
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
        found = {self.classes.of(x) for outer, x in items.items() if outer not in closed}
        found = (found | self.replaced_by_others()) - closed
        # rows of lists that stay as they are do, too
        found -= {self.classes.of(x) for outer, x in items.items() if outer in closed}
        if not found:
            return False
        self.rewrite(found, {outer for outer, x in items.items() if self.classes.of(x) in found})
        return True

    def replaced_by_others(self) -> set[Value]:
        """The classes of lists of numbers that several instructions make, as where a loop replaces a list by a new
        one."""
        count: dict[Value, int] = {}
        for v in self.values:
            if _is_row(v.type) and v.inst is not None and (v.inst.op is lists.LIST_NEW or v.inst.op is PY_UNBOX):
                count[self.classes.of(v)] = count.get(self.classes.of(v), 0) + 1
        return {x for x, n in count.items() if n > 1}

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
            if not nested and not all(fits(x.type, v.type.item) for x in made.args):
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
            if not nested and user.op in (lists.LIST_SET, lists.LIST_APPEND) and not fits(
                    user.args[-1].type, v.type.item):
                return False
        return True

    def is_repeated(self, box: Inst) -> bool:
        (call, *others) = self.opening.users.get(box.result, [None])
        ends = self.opening.users.get(call.result, []) if call is not None and call.result is not None else []
        return not others and len(ends) == 1 and ends[0].op is PY_UNBOX and self.opening.repetition(ends[0]) is not None

    def rewrite(self, rows: set[Value], outer: set[Value]) -> None:
        pools: dict[Value, PoolVariables] = {}
        repeated: dict[Value, tuple] = {}
        dead: set[Inst] = set()
        for v in self.values:
            if self.classes.of(v) in rows:
                pools.setdefault(self.classes.of(v), PoolVariables(v.type.item, v.name, self.helpers))
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


class _ObjectPools:
    """Objects that are items of lists, attributes of other objects, or have several names. All objects of one kind are
    put into one pool, and are numbers; the pool has a list of the values of each attribute.
    Before:  o = object_new ; field_set o, x {name: 'p'} ; list_append s, o
    After:   o = n ; n = n + 1 ; p[o] = x ; list_append s, o"""

    def __init__(self, fn, helpers):
        self.fn, self.helpers = fn, helpers
        self.classes = Unions()

    def run(self) -> bool:
        self.opening = _Opening(self.fn, self.helpers)
        insts = [inst for block in self.opening.order for inst in block.insts]
        if not any(inst.op is OBJECT_NEW for inst in insts):
            return False
        values = [p for block in self.opening.order for p in block.params]
        values += [inst.result for inst in insts if inst.result is not None]
        self.values = [v for v in values if isinstance(v.type, k.ObjectOf) or _is_of_objects(v.type)]
        self.join(insts)
        found = {self.classes.of(v) for v in self.values if isinstance(v.type, k.ObjectOf)}
        found -= {self.classes.of(v) for v in self.values if not self.is_known(v)}
        found = {x for x in found if self.are_right(x, insts)}
        # an object and the objects that are its attributes are all in pools, or none is
        pairs = [{self.classes.of(inst.args[0]), self.classes.of(x)} for inst in insts if inst.op in OF_OBJECTS
                 for x in _held_by(inst)]
        while any(pair & found and not pair <= found for pair in pairs):
            found.difference_update(*(pair for pair in pairs if not pair <= found))
        if not found:
            return False
        self.rewrite(found)
        return True

    def join(self, insts) -> None:
        """Find the values that may be the same objects; a list is in the class of its items."""
        fields: dict[tuple[Value, str], Value] = {}
        for inst in insts:
            for e in inst.edges():
                for p, x in zip(e.block.params, e.args):
                    if isinstance(p.type, k.ObjectOf) or _is_of_objects(p.type):
                        self.classes.join(x, p)
            if inst.op in OF_OBJECTS:
                continue
            for x in _held_by(inst):
                self.classes.join(inst.result if inst.op is lists.LIST_NEW else inst.args[0], x)
            if inst.op is lists.HOLDS and _is_of_objects(inst.result.type):
                self.classes.join(inst.args[0], inst.result)
        before = -1
        while before != len(fields):  # objects that are the same attribute
            before = len(fields)
            fields = {}
            for inst in insts:
                for x in _held_by(inst) if inst.op in OF_OBJECTS else ():
                    if isinstance(x.type, k.ObjectOf):
                        key = self.classes.of(inst.args[0]), inst.attrs["name"]
                        self.classes.join(fields.setdefault(key, x), x)

    def is_known(self, v: Value) -> bool:
        """Whether this class knows all that is done with an object, or with a list of them."""
        made, is_list = v.inst, _is_of_objects(v.type)
        if made is None:
            if v in self.fn.entry.params:
                return False
        elif made.op not in ((lists.LIST_NEW, lists.HOLDS, s.UNDEF) if is_list else
                             (OBJECT_NEW, FIELD_GET, FIELD_PEEK, lists.LIST_GET, lists.LIST_POP, s.UNDEF)):
            return False
        for user in self.opening.users.get(v, ()):
            if user.op in (c.JUMP, c.BRANCH, c.SWITCH) or is_list and user.op is lists.HOLDS:
                continue
            if is_list and (user.op not in _LISTS or user.args[0] is not v or v in user.args[1:]):
                return False
            if not is_list and not (user.op in OF_OBJECTS or user.op is lists.LIST_NEW and _is_of_objects(
                    user.result.type) or user.op in _LISTS and user.args[0] is not v):
                return False
        return True

    def are_right(self, x: Value, insts) -> bool:
        """Whether the attributes of the objects of a class can be items of lists, and are set where they are read."""
        uses = [inst for inst in insts if inst.op in OF_OBJECTS and self.classes.of(inst.args[0]) is x]
        types = field_types(inst for inst in uses if inst.op is not FIELD_CHECK)
        if not types or not all(isinstance(t, k.ObjectOf) or leaves_of(t) is not None for t in types.values()):
            return False
        if not any(isinstance(t, k.ObjectOf) or any(map(may_vary, leaves_of(t))) for t in types.values()):
            return False
        read = frozenset(inst.attrs["name"] for inst in uses if inst.op in (FIELD_GET, FIELD_PEEK))
        wanted = {inst: read for inst in insts for y in _held_by(inst)
                  if isinstance(y.type, k.ObjectOf) and self.classes.of(y) is x}
        names = [v for v in self.values if isinstance(v.type, k.ObjectOf) and self.classes.of(v) is x]
        if not reads_what_is_set(self.fn, names, wanted):
            return False
        arrays = {name for name, t in types.items() if not isinstance(t, k.ObjectOf) and holds_arrays(t)}
        return not arrays or self.opening.are_constant([
            inst for inst in uses if inst.op is not FIELD_CHECK and inst.attrs["name"] in arrays])

    def rewrite(self, found: set[Value]) -> None:
        end_blocks_at_raises(self.fn)
        insts = [inst for block in reverse_postorder(self.fn) for inst in block.insts]
        of = {v: self.classes.of(v) for v in self.values if self.classes.of(v) in found}
        pools: dict[Value, dict[str, ListVariables]] = {}
        counts = {x: Variable("count", k.Int) for x in found}
        for x in found:
            types = field_types(inst for inst in insts if inst.op in OF_OBJECTS and inst.op is not FIELD_CHECK
                                and of.get(inst.args[0]) is x) or {}
            pools[x] = {name: ListVariables(k.Int if isinstance(t, k.ObjectOf) else t, name, self.helpers)
                        for name, t in types.items()}
        replace: dict[Value, Value] = {}
        for v in of:
            if isinstance(v.type, k.ObjectOf):
                v.type = k.Int
            else:
                v.type = k.List(k.Int)
                if v.inst is not None and "type" in v.inst.attrs:
                    v.inst.attrs = {**v.inst.attrs, "type": v.type}
        for block in reverse_postorder(self.fn):
            insts, block.insts = block.insts, []
            b = Builder(block.insts)
            if block is self.fn.entry:
                for x in found:
                    write(b, counts[x], b.const(0, k.Int))
                    for column in pools[x].values():
                        column.made(b, ())
            for inst in insts:
                b.at(inst)
                if inst.op is OBJECT_NEW and inst.result in of:
                    x = of[inst.result]
                    number = replace[inst.result] = read(b, counts[x])
                    one = b.const(1, k.Int)
                    for column in pools[x].values():
                        column.reserve(b, number, one)
                    write(b, counts[x], b.op(a.IADD, number, one))
                elif inst.op is s.UNDEF and inst.result in of and inst.result.type is k.Int:
                    replace[inst.result] = b.const(0, k.Int)
                elif inst.op in OF_OBJECTS and inst.args[0] in of:
                    if inst.op is FIELD_CHECK:
                        continue
                    column = pools[of[inst.args[0]]][inst.attrs["name"]]
                    if inst.op is FIELD_SET:
                        column.put(b, *inst.args)
                        continue
                    y = column.get(b, inst.args[0])
                    replace[inst.result] = y if y.type is inst.result.type else b.op(
                        s.UNION_GET, y, type=inst.result.type)
                else:
                    block.insts.append(inst)
        substitute(self.fn.blocks, replace)
        variables.build(self.fn)


def _held_by(inst: Inst) -> list[Value]:
    """The objects, and lists of them, that an instruction puts into a list or an attribute, or takes out of one."""
    op = inst.op
    if op is lists.LIST_NEW:
        found = list(inst.args) if _is_of_objects(inst.result.type) else []
    elif op in OF_OBJECTS:
        found = inst.args[1:] if op is FIELD_SET else [inst.result] if inst.result is not None else []
    elif op in _LISTS and op is not lists.LIST_LEN and _is_of_objects(inst.args[0].type):
        found = inst.args[-1:] if op in (lists.LIST_SET, lists.LIST_APPEND) else [inst.result]
    else:
        found = []
    return [x for x in found if isinstance(x.type, k.ObjectOf)]


def _is_of_objects(t) -> bool:
    return type(t) is k.List and isinstance(t.item, k.ObjectOf)


def _is_row(t) -> bool:
    return type(t) is k.List and leaves_of(t.item) is not None and any(map(may_vary, leaves_of(t.item))) and (
        not holds_arrays(t.item))


def _is_nested(t) -> bool:
    return type(t) is k.List and _is_row(t.item)


