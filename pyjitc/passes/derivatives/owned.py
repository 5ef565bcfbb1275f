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
from ...ops import arith as a
from ...ops import containers as lists
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops.nest import NEST
from ...ops.objects import FIELD_CHECK, FIELD_GET, FIELD_PEEK, FIELD_SET, OBJECT_NEW
from ...ops.pyobject import PY_API, PY_BOX, PY_CALL, PY_UNBOX
from ...types import kinds as k
from ...types.lattice import dtype_of, type_of_dtype
from ...types.tangents import is_number_that_varies
from ..rewrite import substitute
from . import variables
from .activity import Classes
from .builder import Builder
from .opened import end_blocks_at_raises
from .targets import targets
from .variables import Variable, read, write

__all__ = ["open_owned"]

_LISTS = frozenset((lists.LIST_GET, lists.LIST_SET, lists.LIST_APPEND, lists.LIST_POP, lists.LIST_LEN))
_RAISING = frozenset(("index", "set_index", "last", "some", "some_to_join", "stacked", "stacked_at_1", "stacked_at_end",
                      "concatenated"))
_NEW = frozenset((mem.ARRAY_NEW, NEST, c.INVOKE))
_OF_OBJECTS = frozenset((FIELD_CHECK, FIELD_GET, FIELD_PEEK, FIELD_SET))
_STACKED = {0: "stacked", 1: "stacked_at_1", -1: "stacked_at_end"}


def open_owned(fn: Function, helpers) -> bool:
    """Replace all lists and objects for which this is possible. Returns whether there were any."""
    if not any(inst.op is lists.LIST_NEW or inst.op is OBJECT_NEW for block in fn.blocks for inst in block.insts):
        return False
    return _write_out(fn, helpers) or _Opening(fn, helpers).run()


# operation of the interpreter on lists -> the function of lib/listed.py that does the same
_WRITTEN_OUT = {"PyNumber_Add": "added", "PyNumber_InPlaceAdd": "extended", "PySequence_List": "list_of",
                "PyObject_GetItem": "part"}


def _write_out(fn: Function, helpers) -> bool:
    """Replace calls of the interpreter that make lists of lists by loops.
    Before:  p = py_box x ; q = py_box y ; r = py_api p, q {PyNumber_Add} ; z = py_unbox r
    After:   z = invoke @added(x, y)"""
    users: dict[Value, list[Inst]] = {}
    insts = [inst for block in fn.blocks for inst in block.insts]
    for inst in insts:
        for x in (*inst.args, *(x for e in inst.edges() for x in e.args)):
            users.setdefault(x, []).append(inst)
    replace: dict[Value, Value] = {}
    dead: set[Inst] = set()
    for end in insts:
        call: Any = end.args[0].inst if end.op is PY_UNBOX else None
        name = _WRITTEN_OUT.get(call.attrs["function"]) if call is not None and call.op is PY_API else None
        if name is None or not _is_list(end.result.type) or users[call.result] != [end]:
            continue
        boxes: list[Any] = [x.inst for x in call.args]
        if any(box is None or box.op is not PY_BOX or users[box.result] != [call] for box in boxes):
            continue
        given = [box.args[0] for box in boxes]
        wanted = [end.result.type] * (1 if name == "part" else len(given))
        if [x.type for x in given[:len(wanted)]] != wanted or name == "part" and type(given[1].type) is not k.Slice:
            continue
        callee = helpers(f"listed:{name}", tuple([x.type for x in given]))
        if callee.result is not end.result.type:
            continue
        dead.update((*boxes, call))
        b = Builder([], end)
        replace[end.result] = b.call(callee, *given)
        end.op, end.args, end.attrs, end.result = c.INVOKE, given, b.insts[-1].attrs, replace[end.result]
        end.result.inst = end
    for block in fn.blocks:
        block.insts = [inst for inst in block.insts if inst not in dead]
    substitute(fn.blocks, replace)
    return bool(dead)


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
            for x in dict.fromkeys([*inst.args, *(x for e in inst.edges() for x in e.args)]):
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
        """Give the unwind edge of the replaced instruction, if there is one, to those calls in its place that may
        raise."""
        e = inst.unwind
        if e is not None:
            for one in b.insts:
                if one.op is c.INVOKE and one.attrs["callee"].qualname in _RAISING:
                    one.unwind = Edge(e.block, list(e.args))

    # -- which

    def groups(self) -> list[_Group]:
        classes: dict[Value, Value] = {}

        def top(v):
            while v in classes:
                v = classes[v]
            return v

        def join(x, y):
            x, y = top(x), top(y)
            if x is not y:
                classes[x] = y

        held: dict[Value, Block | None] = {}
        for block in self.order:
            for p in block.params:
                if _is_owned(p.type):
                    held[p] = block
            for inst in block.insts:
                if inst.result is not None and _is_owned(inst.result.type):
                    held[inst.result] = None
                    if inst.op is lists.HOLDS:
                        join(inst.args[0], inst.result)
                for e in inst.edges():
                    for p, x in zip(e.block.params, e.args):
                        if _is_owned(p.type):
                            join(x, p)
        found: dict[Value, _Group] = {}
        for x, home in held.items():
            group = found.setdefault(top(x), _Group())
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
        return self.is_object(group) if made.op is OBJECT_NEW else self.is_list(group)

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
    return type(t) is k.List or isinstance(t, k.ObjectOf)


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
