"""Escape analysis of lists: those that compiled code makes and that do not escape become native lists with unboxed
items.

Runs over the functions of a module together, after library functions and closures were inlined. Values that may refer
to the same list form one alias class. A class consists of Python lists where one of its values comes from elsewhere (an
argument, a result of the interpreter) or goes to an operation that is not known here. The exception is a list that
*escapes* there, mostly as the result of the function, after which no list of its class is read, nor of a class that
contains it or that it contains: it becomes a Python list there, once. A list that is only filled before it escapes is a
Python list from the start; otherwise it would be built twice. So is a list whose numbers are only put in other Python
lists, which then get the objects of these numbers. Classes may contain classes: the rows of a list of lists.
Methods and operators of native lists are functions of lib/py/natives.py.
Objects of the program's classes that only compiled code uses become native objects as well: see `instances`.
A dict that does not escape (passes/localtables.py) contains classes, too: if they are native it becomes a table here.
Before:  s = list_new n : list[int] ; x = list_get s, i ; return s
After:   s = native_new n : native[int] ; k = native_len s ; j = check_index i, k ; x = native_load s, j ;
         y = invoke leave s ; return y
Needs: SSA, references not yet counted.  Keeps: SSA, control flow, effects and their order.
"""
from __future__ import annotations

from typing import Any, Callable

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import closure, reverse_postorder
from ..ops import containers as c
from ..ops import control, natives, structure, tables
from ..ops.objects import FIELD_GET, FIELD_SET
from ..ops.pyobject import PY_IS
from ..ops.sorting import SORT_BY, SORT_KEYS
from ..types import kinds as k
from ..types.containers import LISTS
from ..types.kinds import Bool, Int, List, NativeList, Type
from . import instances
from .aliases import AliasClass, Aliases
from .native_calls import (
    FILL, ITEM, MAKERS, NEW, SELF, Call, call_at, is_moved, may_be_call, plain_type, repeated_item, splits,
)
from .rewrite import growing

__all__ = ["run"]

independent = lazy(f"{__package__}.independent")  # only functions with parallel loops need it
localtables = lazy(f"{__package__}.localtables")
native_rewriting = lazy(f"{__package__}.native_rewriting")

# Operations on dicts -> the slice of operands that are stored as values; -> the path of a value in the result.
_STORED = {tables.DICT_NEW: slice(1, None, 2), tables.DICT_SET: slice(2, None), tables.DICT_HOLD: slice(1, None)}
_FOUND: dict[ir.Op, tuple[int, ...]] = {
    tables.DICT_GET: (), tables.DICT_ASK: (), tables.DICT_FIND: (1,), tables.DICT_NEXT: (1,)}
_FOLLOWED = (k.Tuple, k.Struct, k.Function, k.Method, k.Union)  # the kinds of values in which lists are followed


class _Class(AliasClass):
    """An alias class: lists or deques that may be the same object. type: the type of the Python list; items: path in an
    item -> the class of the lists there; python: whether they must be Python lists; resized: whether an operation
    changes their length; used: whether they have uses other than their creation; worked: whether they have uses other
    than creation and filling; searched: whether they have uses other than these, their length and reads of one item;
    held: whether an attribute of a native object may refer to one; parts: whether one may be the result of splitting a
    text; changed: whether one may be created otherwise than by splitting, or is used for more than reading."""

    __slots__ = ("changed", "held", "items", "made", "native", "parts", "python", "resized", "searched", "used",
                 "worked")

    def __init__(self, t: Any):
        super().__init__(t)
        self.items: dict[tuple, _Class] = {}
        self.python = self.resized = self.used = self.worked = self.made = False
        self.parts = self.changed = self.held = self.searched = False
        self.native: NativeList | None = None


def run(functions: list[ir.Function], helpers: Callable, own: dict[ir.Function, ir.Function]) -> None:
    """functions: a module, the entry first; helpers: (name of a function of lib/py/natives.py, types) -> the typed
    function; own: see `inline.owned`."""
    without: frozenset[type] = frozenset()
    while True:
        objects, first = instances.find(functions, without)
        found = _Lists(functions, objects)
        some = found.settle()
        lost = found.seen_in_lists()
        if not lost:
            break
        without |= lost
    if some or objects:
        found.make_objects()
        native_rewriting.Rewriting(found, helpers, own, first).run()


def _lists_in(t: Type, path: tuple = ()):
    """(path, type) of all lists and deques in values of type t that the pass can follow."""
    if type(t) in LISTS:
        yield path, t
    elif t.parts is not None and isinstance(t, _FOLLOWED) and t.sealed:
        for n, part in enumerate(t.parts):
            yield from _lists_in(part, (*path, n))


def _with_lists(t: Type, change: Callable, of_object: Callable, path: tuple = ()) -> Type:
    """The type t with the types of the lists and objects in it replaced. change: (path, type) -> type; of_object: type
    -> type."""
    if type(t) in LISTS:
        return change(path, t)
    if type(t) is k.ObjectOf:
        return of_object(t)
    if isinstance(t, k.Union):
        members = tuple([_with_lists(m, change, of_object, (*path, n)) for n, m in enumerate(t.members, 1)])
        return t if members == t.members else k.Union(members)
    if isinstance(t, k.Composite):
        parts = [_with_lists(part, change, of_object, (*path, n)) for n, part in enumerate(t.parts)]
        return t if all([one is two for one, two in zip(parts, t.parts)]) else t.with_parts(parts)
    return t


def _place_in(union: Type, t: Type) -> int | None:
    """The index, in a path, of the member of a union that is exactly this type; None where there is none."""
    return union.members.index(t) + 1 if isinstance(union, k.Union) and t in union.members else None


def _lists_not_followed(t: Type):
    """The types of the lists and deques inside values of type t that the pass cannot follow."""
    if t.parts is not None and t.sealed:
        followed = isinstance(t, _FOLLOWED)
        for part in t.parts:
            if type(part) in LISTS and not followed:
                yield part
            yield from _lists_not_followed(part)


class _Lists(Aliases):
    """Finds the alias classes of a module, and decides which of them are native."""

    def __init__(self, functions: list[ir.Function], attributes: dict[type, dict[str, Type]]):
        super().__init__(functions, _lists_in, _Class)
        self.attributes = attributes  # class that has native objects -> {attribute: type}
        self.fields: dict[tuple[Any, Any], ir.Value] = {
            (cls, name): ir.Value(t) for cls, types in attributes.items() for name, t in types.items()}
        self.objects: dict[type, Type] = {}  # class -> the type of its native objects
        self.making: list[type] = []  # the classes whose NativeObject type is being constructed
        self.settled = False  # whether it is known which classes are native
        self.mentioned: dict[Type | None, bool] = {}
        self.calls: dict[ir.Inst, Call] = {}
        self.around: dict[ir.Inst, Call] = {}  # instruction that boxes or unboxes -> its call
        self.escapes: list[tuple[ir.Function, ir.Block, ir.Inst, int]] = []
        self.reads: list[ir.Inst] = []  # instructions that read an item
        self.blocks = {fn: reverse_postorder(fn) for fn in functions}
        for value in self.fields.values():
            for path, _ in self.places(value.type):
                self.at(value, path).held = True
        self.shared: list[_Class] = []  # lists that the iterations of a parallel loop share
        self.repeated = independent.repeated(functions) if any([fn.flags.parallel for fn in functions]) else ()
        self.changed: list[_Class] = []  # lists that an iteration may change
        self.tables: dict[ir.Value, dict[tuple, _Class]] = {}  # a dict that does not leave -> path in a value -> class
        self.split: list[_Class] = []  # lists of the parts of a text
        self.identity = False  # whether the program asks whether two references are to one object
        for fn in functions:
            self.fn = fn
            self.find_tables(fn)
            self.look(fn)
        for one in self.split if self.identity else ():
            self.keep(one)  # a part has an object for each time that it is read

    # -- alias classes

    def item(self, one: _Class, path: tuple) -> _Class:
        one = one.root
        found = one.items.get(path)
        if found is None:
            found = one.items[path] = _Class(dict(self.places(one.type.item))[path])
            found.python = one.python
        return found.root

    def same(self, one: _Class, two: _Class) -> None:
        work = [(one, two)]
        while work:
            one, two = (x.root for x in work.pop())
            if one is two:
                continue
            if one.type is not two.type:
                self.keep(one)
                self.keep(two)
            two.into = one
            one.python |= two.python
            one.resized |= two.resized
            one.used |= two.used
            one.worked |= two.worked
            one.made |= two.made
            one.parts |= two.parts
            one.changed |= two.changed
            one.held |= two.held
            one.searched |= two.searched
            one.functions |= two.functions
            for path, item in two.items.items():
                if path in one.items:
                    work.append((one.items[path], item))
                else:
                    one.items[path] = item

    def keep(self, one: _Class) -> None:
        """Mark the lists of this class as Python lists."""
        one.root.python = True

    def give_up(self, value: ir.Value) -> None:
        for path, _ in self.places(value.type):
            self.keep(self.at(value, path))

    def stored(self, one: _Class, value: ir.Value) -> None:
        """Record that a value is stored as an item."""
        found = self.stored_as(value.type, one.type.item)
        if found is None:
            self.keep(one)
            self.give_up(value)
            return
        for path, place in found:
            self.same(self.item(one, place), self.at(value, path))

    def stored_as(self, t: Type, item: Type) -> list[tuple[tuple, tuple]] | None:
        """For each list in a value of type t, its path there and in the item that the value becomes. Returns None where
        such a value is not converted to an item: see `stored` in native_rewriting.py."""
        if t is item:
            return [(path, path) for path, _ in self.places(t)]
        n = _place_in(item, t)
        if n is not None:
            return [(path, (n, *path)) for path, _ in self.places(t)]
        if type(t) is not k.Tuple or type(item) is not k.Tuple or not item.is_like(t):
            return None
        found: list[tuple[tuple, tuple]] = []
        for n, (part, wide) in enumerate(zip(t.elements, item.elements)):
            inside = self.stored_as(part, wide)
            if inside is None:
                return None
            found += [((n, *path), (n, *place)) for path, place in inside]
        return found

    def read(self, one: _Class, value: ir.Value) -> None:
        """Record that a value is read as an item."""
        if value.type is not one.type.item:
            self.keep(one)
            self.give_up(value)
            return
        for path, _ in self.places(value.type):
            self.same(self.item(one, path), self.at(value, path))

    def share_items(self, one: _Class, two: _Class) -> None:
        """Record that an item of one may also be an item of the other."""
        for path, _ in self.places(one.type.item):
            self.same(self.item(one, path), self.item(two, path))

    def held(self, table: ir.Value, path: tuple) -> _Class:
        """The class of the lists at a path in the values of a dict that does not escape."""
        found = self.tables[table].get(path)
        if found is None:
            t: Any = table.type
            found = self.tables[table][path] = _Class(dict(self.places(t.values))[path])
        found = found.root
        found.functions.add(self.fn)
        return found

    # -- constraints from instructions

    def find_tables(self, fn: ir.Function) -> None:
        if any([isinstance(v.type, k.Dict) and self.places(v.type.values) for v in fn.values()]):
            for values in localtables.of_lists(fn, self.places):
                held: dict[tuple, _Class] = {}
                self.tables.update(dict.fromkeys(values, held))

    def of_table(self, inst: ir.Inst) -> bool:
        """Merge the classes of values that an operation on a dict that does not escape stores or reads. Returns whether
        the instruction is such an operation."""
        table = inst.result if inst.op is tables.DICT_NEW else inst.args[0] if inst.args else None
        if table not in self.tables or inst.op not in _STORED and inst.op not in _FOUND:
            return False
        t: Any = table.type
        for path, _ in self.places(t.values):
            one = self.held(table, path)
            if inst.op is tables.DICT_ASK:  # of a defaultdict(list)
                one.made = one.changed = True
            if inst.op in _STORED:
                for v in inst.args[_STORED[inst.op]]:
                    self.same(one, self.at(v, path))
            else:
                where = (1, 1) if inst.attrs.get("what") == "items" else _FOUND[inst.op]
                self.same(one, self.at(inst.result, (*where, *path)))
        return True

    def look(self, fn: ir.Function) -> None:
        blocks = self.blocks[fn]
        self.note_uses(blocks)
        if fn is self.functions[0]:
            for p in fn.params:
                self.give_up(p)
            if fn in self.returned:  # a call of it in this module gets the same lists
                self.give_up(self.returned[fn])
        for v in independent.shared(fn) if fn.flags.parallel else ():
            self.share(v)
            held = self.tables.get(v)
            if held is not None:
                self.tables = {one: its for one, its in self.tables.items() if its is not held}
        for block in blocks:
            for inst in block.insts:
                call = call_at(inst, self.uses) if may_be_call(inst) else None
                if call is not None:
                    self.calls[inst] = call
                    self.around.update(dict.fromkeys((*call.boxes, *(call.unbox,) * (call.unbox is not None)), call))
        for block in blocks:
            for inst in block.insts:
                for edge in inst.edges():
                    for v, p in zip(edge.args, edge.block.params):
                        self.joined(v, p)
                if inst in self.repeated and inst not in self.around and (
                        inst in self.calls or inst.op not in _UNCHANGING):
                    self.change(inst)
                self.identity |= inst.op is PY_IS and inst not in self.calls
                if inst in self.calls:
                    self.called(self.calls[inst])
                elif inst not in self.around and (
                        inst.result is not None and self.places(inst.result.type)
                        or any([self.places(v.type) for v in inst.args])):
                    self.instruction(fn, block, inst)

    def share(self, value: ir.Value) -> None:
        """Record that the iterations of a parallel loop share the lists in a value, and in the objects in it."""
        self.shared += [self.at(value, path) for path, _ in self.places(value.type)]
        classes = dict.fromkeys([cls for cls in instances.classes_in(value.type) if cls in self.attributes])
        for cls in growing(classes) if classes else ():
            for name, t in self.attributes[cls].items():
                held = self.fields[cls, name]
                self.shared += [self.at(held, path) for path, _ in self.places(t)]
                classes.update(dict.fromkeys([one for one in instances.classes_in(t) if one in self.attributes]))

    def change(self, inst: ir.Inst) -> None:
        """Record that an instruction in an iteration may change the lists in its operands and its result."""
        call = self.calls.get(inst)
        values = (*inst.args, inst.result) if call is None else (*call.operands, call.unbox and call.unbox.result)
        self.changed += [self.at(v, path) for v in values if v is not None for path, _ in self.places(v.type)]

    def keep_changed(self) -> None:
        """Mark as Python's the lists that the iterations of a parallel loop share and that one of them may change."""
        changed = {one.root for one in self.changed}
        shared = dict.fromkeys([one.root for one in self.shared])
        for one in growing(shared) if shared else ():
            shared.update(dict.fromkeys([item.root for item in one.items.values()]))
            if one in changed or one.parts:  # a list of parts of a text keeps the one that was read last
                self.keep(one)

    def instruction(self, fn, block, inst) -> None:
        op, args, result = inst.op, inst.args, inst.result
        if self.of_table(inst):
            return
        if op is c.LIST_NEW:
            one = self.at(result)
            one.made = one.changed = True
            for v in args:
                self.stored(one, v)
        elif splits(inst):
            one = self.at(result)
            one.made = one.parts = True
            self.split.append(one)
        elif op in _READS and type(args[0].type) in LISTS:
            one = self.at(args[0])
            one.used = True
            one.worked |= not (inst.attrs.get("keyed") or any([u.op is SORT_KEYS for u in self.uses.get(result, ())]))
            one.resized |= op is c.LIST_POP
            one.changed |= op is c.LIST_POP
            one.searched |= op is c.LIST_POP
            if op is not c.LIST_LEN:
                self.read(one, result)
                self.reads.append(inst)
        elif op is c.LIST_SET or op is c.LIST_APPEND:
            one = self.at(args[0])
            one.used = one.changed = True
            one.resized |= op is c.LIST_APPEND
            one.worked |= op is c.LIST_SET
            one.searched |= op is c.LIST_SET
            self.stored(one, args[-1])
        elif self.relates(inst):
            pass
        elif (op is FIELD_GET or op is FIELD_SET) and args[0].type.cls in self.attributes:
            held = self.fields.get((args[0].type.cls, inst.attrs["name"]))
            if held is not None:
                self.joined(result or args[1], held)
        elif op in structure.OF_UNIONS and self.of_union(inst):
            pass
        elif op is structure.UNDEF:
            for path, _ in self.places(result.type):
                self.at(result, path)
        elif op is SORT_BY:
            one = self.at(args[0])
            one.used = one.changed = one.searched = True
            if not is_moved(one.type.item):
                self.keep(one)
        elif op is not structure.DISCARD:
            for n, v in enumerate(args):
                if type(v.type) is List or op is control.RETURN and self.leaves_whole(v.type):
                    self.escapes.append((fn, block, inst, n))
                    for path, _ in self.places(v.type):
                        self.at(v, path)
                else:
                    self.give_up(v)
            if result is not None:
                self.give_up(result)

    def of_union(self, inst: ir.Inst) -> bool:
        """Record a conversion between a union and its members. Returns False if the conversion also converts the types
        of lists in some members."""
        x, result = inst.args[0], inst.result
        if inst.op is structure.UNION_IS:
            return _place_in(x.type, inst.attrs["type"]) is not None
        if inst.op is structure.UNION_CAST:
            pairs = [(_place_in(x.type, t), _place_in(result.type, t)) for t in x.type.members if self.places(t)]
            if any([None in pair for pair in pairs]) or {t for t in result.type.members if self.places(t)} - {
                    *x.type.members}:
                return False
        for path, _ in self.places(x.type) if inst.op is not structure.UNION_MAKE else ():
            self.at(x, path)
        for path, _ in self.places(result.type):
            self.at(result, path)
        if inst.op is structure.UNION_CAST:
            places = dict(pairs)
            for path, _ in self.places(x.type):
                self.same(self.at(x, path), self.at(result, (places[path[0]], *path[1:])))
            return True
        union, one = (result, x) if inst.op is structure.UNION_MAKE else (x, result)
        n = _place_in(union.type, one.type)
        if n is None:
            return False
        for path, _ in self.places(one.type):
            self.same(self.at(one, path), self.at(union, (n, *path)))
        return True

    def leaves_whole(self, t: Type) -> bool:
        """Whether, where a tuple escapes, it can be rebuilt from the Python lists that replace its native lists."""
        return isinstance(t, k.Tuple) and all(
            [type(part) is List or not self.places(part) or self.leaves_whole(part) for part in t.parts])

    def called(self, call: Call) -> None:
        result: Any = call.unbox.result if call.unbox is not None else None
        for kind, v in zip(call.kinds, call.operands):
            if kind in "xyql":
                one = self.at(v)
                one.used = one.changed = True
                one.worked |= call.name not in FILL
                one.searched |= call.name not in FILL or call.name == "sort"
                if kind in "xq":
                    one.resized |= call.resizes
        if call.kinds[0] in MAKERS:
            one = self.at(result)
            one.made = one.used = one.changed = True
            if call.kinds[0] == "l":
                self.share_items(one, self.at(call.operands[0]))
            return
        first = self.at(call.operands[0])
        for kind, v in zip(call.kinds, call.operands):
            if kind in "yl" and call.result is not Bool:
                self.share_items(first, self.at(v))
            elif kind == "v" and not (v.type is k.Object and plain_type(v) is first.type.item):
                self.stored(first, v)
        if call.result == SELF and result is not None:
            self.joined(call.operands[0], result)
        elif call.result == NEW:
            one = self.at(result)
            one.used = one.changed = True
            item = repeated_item(call, self.uses)
            if item is not None:
                self.stored(one, item)
            else:
                self.share_items(first, one)
        elif call.result == ITEM and result is not None:
            self.read(first, result)

    # -- which classes are native

    def settle(self) -> bool:
        """Decide for every class, and return whether some are native."""
        if not any([one.root.made for one in self.classes.values()]):
            for one in self.everything():
                one.python = True
            return False
        self.keep_changed()
        while self.share_work():
            pass
        while self.spread() or self.hand_on():
            pass
        return any([not one.root.python for one in self.classes.values()])

    def share_work(self) -> bool:
        """Do one round of a fixed-point iteration: mark a class as `worked` where it is an operand of a call with a
        `worked` class, or contains one, so that both become native; likewise as `searched`. Returns whether a mark was
        added."""
        changed = False
        for call in self.calls.values():
            group = self.operands_of(call) + [one for one in self.sources_of(call) if not one.python]
            for mark in ("worked", "searched"):
                if any([getattr(one, mark) for one in group]):
                    for one in group:
                        changed |= not getattr(one, mark)
                        setattr(one, mark, True)
        for one in self.everything():
            if not one.worked and any([item.root.worked for item in one.items.values()]):
                one.worked = changed = True
        return changed

    def everything(self) -> list[_Class]:
        return list(closure([one.root for one in (*self.classes.values(), *self.in_tables())],
                            lambda one: [item.root for item in one.items.values()]))

    def in_tables(self) -> list[_Class]:
        return [one.root for held in self.tables.values() for one in held.values()]

    def spread(self) -> bool:
        """Do one round of a fixed-point iteration: a class must be Python lists if a call uses it together with Python
        lists, or if such lists contain it. Returns whether a class was added."""
        changed = False
        for one in self.everything():
            one.native = None
            if not one.python and not (one.used and self.holds(one) and not (one.parts and one.changed)):
                one.python = changed = True
            if one.python:
                for item in one.items.values():
                    if not item.root.python:
                        item.root.python = changed = True
        for call in self.calls.values():
            main = self.main(call)
            if main.python:
                for one in self.operands_of(call) + self.sources_of(call):
                    if not one.python:
                        one.python = changed = True
            elif call.kinds[0] not in MAKERS and any([one.python for one in self.operands_of(call)]):
                main.python = changed = True
        return changed or self.stay()

    def main(self, call: Call) -> _Class:
        """The class that decides whether a call operates on native lists."""
        return self.classes[(call.unbox.result if call.kinds[0] in MAKERS else call.operands[0]), ()].root

    def operands_of(self, call: Call) -> list[_Class]:
        found = [self.classes[v, ()].root for kind, v in zip(call.kinds, call.operands) if kind in "xyq"]
        if call.result in (NEW, SELF) and call.unbox is not None:
            found.append(self.classes[call.unbox.result, ()].root)
        return found

    def sources_of(self, call: Call) -> list[_Class]:
        """The lists from which a call takes items; they may be native or not."""
        return [self.classes[v, ()].root for kind, v in zip(call.kinds, call.operands) if kind == "l"]

    def holds(self, one: _Class) -> bool:
        item = one.type.item
        return item not in (k.Undefined, k.NoneType) and item.size < _LARGE and natives.can_hold(self.inside(one))

    def inside(self, one: _Class) -> Type:
        """The item type of a native list of a class."""
        def change(path, t):
            held = one.items.get(path)
            return t if held is None or held.root.python else self.native(held.root)

        return _with_lists(one.type.item, change, self.object)

    def native(self, one: _Class) -> NativeList:
        one = one.root
        if one.native is None:
            one.native = NativeList(_PLACES if one.parts else self.inside(one))
        return one.native

    def type_of(self, value: ir.Value) -> Type:
        """The type of a value under the present decisions on classes."""
        if value in self.tables:
            held, t = self.tables[value], value.type
            assert isinstance(t, k.Dict)
            return type(t)(t.keys, _with_lists(t.values, lambda path, t: (
                t if path not in held or held[path].root.python else self.native(held[path])), lambda t: t))
        if not self.places(value.type) and not self.has_objects(value.type):
            return value.type

        def change(path, t):
            one = self.classes.get((value, path))
            return t if one is None or one.root.python else self.native(one)

        return _with_lists(value.type, change, self.object)

    # -- native objects

    def has_objects(self, t: Type | None) -> bool:
        """Whether values of type t may hold native objects."""
        found = self.mentioned.get(t)
        if found is None:
            found = self.mentioned[t] = not self.attributes.keys().isdisjoint(instances.classes_in(t))
        return found

    def seen_in_lists(self) -> frozenset[type]:
        """The classes whose objects would have to be native although a Python list, or a list that becomes one, holds
        some of them."""
        if not self.attributes:
            return frozenset()
        found: set[type] = set()
        for one in self.everything():
            if one.python:
                found |= instances.classes_in(one.type.item)
        for _, _, inst, n in self.escapes:
            found |= instances.classes_in(inst.args[n].type)
        for fn in self.functions:
            for v in fn.values():
                for t in _lists_not_followed(v.type):
                    found |= instances.classes_in(t)
        return frozenset(found & self.attributes.keys())

    def make_objects(self) -> None:
        """Change the types of values to those of native objects."""
        self.settled = True
        for one in self.everything():
            one.native = None

    def object(self, t: k.ObjectOf) -> Type:
        """The type of the objects of a class, which may be native."""
        cls = t.cls
        if not self.settled or cls not in self.attributes:
            return t
        if cls in self.making:
            return k.Within(self.making[::-1].index(cls))
        found = self.objects.get(cls)
        if found is None:
            self.making.append(cls)
            found = k.NativeObject(cls, tuple([(name, self.type_of(self.fields[cls, name]))
                                               for name in sorted(self.attributes[cls])]))
            self.making.pop()
            if not self.making:
                self.objects[cls] = found
        return found

    # -- lists that escape

    def stay(self) -> bool:
        """Make classes Python lists where one of their lists is read after it has escaped; return whether there were
        such."""
        changed = False
        group = self.groups()
        kept = {group[one] for one in self.in_tables()}
        for fn in self.functions:
            mine = [(block, inst, n) for f, block, inst, n in self.escapes if f is fn]
            out = [(block, inst, n) for block, inst, n in mine
                   if any([not self.classes[inst.args[n], path].root.python
                           for path, _ in self.places(inst.args[n].type)])]
            if not out:
                continue
            after = self.read_after(fn, {(inst, n) for _, inst, n in out}, group)
            for _, inst, n in out:
                v = inst.args[n]
                gone = {group[self.classes[v, path].root] for path, _ in self.places(v.type)}
                home = set().union(*(of.functions for of, number in group.items() if number in gone))
                bad = bool(gone & (after[inst] | kept)) or fn is not self.functions[0] and (
                    home != {fn} or any([group.get(one.root) in gone for (p, _), one in self.classes.items()
                                         if p in fn.params or p is self.returned.get(fn)]))
                ones = [self.classes[v, path].root for path, _ in self.places(v.type)]
                bad = bad or any([one.held or not self.leaves(one) for one in ones])
                for one in ones:
                    if not one.python and (bad or not one.worked):
                        one.python = changed = True
        return changed

    def hand_on(self) -> bool:
        """Make classes Python lists whose numbers are only read to be put in Python lists, as the items that
        `combinations` chooses from: there are objects of these numbers then (see `reboxing`). Returns whether there
        were such classes."""
        reads: dict[_Class, list[ir.Inst]] = {}
        for inst in self.reads:
            one = self.classes[inst.args[0], ()].root
            if not (one.python or one.searched or one.held) and type(one.type) is List and (
                    one.type.item in (k.Int, k.Float)):
                reads.setdefault(one, []).append(inst)
        found = [one for one, insts in reads.items() if all([self.is_only_put(inst.result) for inst in insts])]
        for one in found:
            one.python = True
        return bool(found)

    def is_only_put(self, number: ir.Value) -> bool:
        """Whether a number is put in Python lists, itself or in tuples, and not used otherwise."""
        puts = 0
        found: dict[ir.Value, None] = {number: None}
        for v in growing(found):
            for inst in self.uses.get(v, ()):
                if inst.op in (c.LIST_APPEND, c.LIST_SET) and v is inst.args[-1] and (
                        self.classes[inst.args[0], ()].root.python):
                    puts += 1
                elif inst.op is structure.TUPLE_MAKE:
                    found[inst.result] = None
                elif inst.op.effects & ir.TERMINATOR and v not in inst.args:
                    found.update(dict.fromkeys(
                        [p for edge in inst.edges() for p, x in zip(edge.block.params, edge.args) if x is v]))
                else:
                    return False
        return puts > 0

    def leaves(self, one: _Class) -> bool:
        """Whether lists of a class can be converted when they escape; not if tuples with native lists in them would
        have to be rebuilt."""
        return one.python or type(one.type) is List and not one.parts and all([
            path == () and self.leaves(item.root) for path, item in one.items.items() if not item.root.python])

    def groups(self) -> dict[_Class, _Class]:
        """Class -> a representative of all classes that contain it or that it contains."""
        into: dict[_Class, _Class] = {one: one for one in self.everything()}

        def end(one):
            while into[one] is not one:
                one = into[one]
            return one

        for one in list(into):
            for item in one.items.values():
                if not one.python and not item.root.python:
                    into[end(item.root)] = end(one)
        return {one: end(one) for one in into}

    def read_after(self, fn, gone, group) -> dict[ir.Inst, set]:
        """Instruction through which a list escapes -> the groups of which a value is read after it."""
        blocks = self.blocks[fn]
        # block -> values live at its start, its parameters included
        live: dict[ir.Block, set] = {block: set() for block in blocks}
        found: dict[ir.Inst, set] = {}
        leaving = {inst for inst, _ in gone}

        def numbers(values):
            return {group[self.classes[v, path].root] for v in values for path, _ in self.places(v.type)
                    if (v, path) in self.classes}

        changed = True
        while changed:
            changed = False
            for block in reversed(blocks):
                now: set = set()
                for inst in reversed(block.insts):
                    for edge in inst.edges():
                        start = live[edge.block]
                        now |= start.difference(edge.block.params)
                        now.update([v for v, p in zip(edge.args, edge.block.params) if p in start])
                    if inst in leaving:
                        found[inst] = numbers(now)
                    if inst.result is not None:
                        now.discard(inst.result)
                    for n, v in enumerate(inst.args):
                        if (inst, n) not in gone and self.places(v.type):
                            now.add(v)
                if now != live[block]:
                    live[block] = now
                    changed = True
        return found


_PLACES = k.Tuple((Int, Int))
_LARGE = 64  # the most bytes of an item
_READS = frozenset((c.LIST_LEN, c.LIST_GET, c.LIST_POP))
# operations that read lists, make new ones, or only pass them on
_UNCHANGING = frozenset((
    *structure.STRUCTURE_OPS.values(), c.LIST_LEN, c.LIST_GET, c.LIST_NEW, c.HOLDS, FIELD_GET, FIELD_SET,
    control.INVOKE, control.JUMP, control.BRANCH, control.RETURN))
