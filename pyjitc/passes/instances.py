"""Find the classes of the program that have native objects: those whose objects only compiled code makes and uses.

Part of `natives`, which rewrites. The question is asked of a class as a whole: all objects of it in a module are made
in the module, and go through operations that are known here. `natives` decides whether the lists that hold them are
native as well; if a list stays Python's, it asks again without the classes of its items.
Every attribute that is read must have been set before any code other than the functions that initialise the object can
use it: where an attribute may be missing, the object remains a Python object.
Objects of classes that refer to each other are reference-counted and not traced, so it must be certain that they form
no cycle. This holds if references between them are only stored in new objects to which nothing refers yet, or if every
such reference is to an object that has no references from or to others, or to the object to which the same attribute
referred before, as in `node.left = insert(node.left, key)`.
Before:  p = object_new : Point ; field_set p, x {name: 'x'}
After:   p = instance_new : native[Point] ; instance_store p, x {name: 'x'}
"""
from __future__ import annotations

from typing import Any

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import closure
from ..ops import control, natives, structure
from ..ops import containers as c
from ..ops.objects import FIELD_GET, FIELD_SET, OBJECT_NEW, OBJECT_SAME
from ..types import kinds as k
from ..types.containers import LISTS
from ..types.kinds import ObjectOf, Type
from .rewrite import growing

__all__ = ["classes_in", "find"]

independent = lazy(f"{__package__}.independent")  # only functions with parallel loops need it

# the operations through which this pass follows objects: what the pass knows, not a trait of the operations
_KNOWN = frozenset((
    *structure.STRUCTURE_OPS.values(), OBJECT_NEW, FIELD_GET, FIELD_SET, OBJECT_SAME, control.INVOKE, control.RETURN,
    control.JUMP, c.HOLDS, c.LIST_NEW, c.LIST_GET, c.LIST_SET, c.LIST_APPEND, c.LIST_POP, c.LIST_LEN,
)) - {structure.SLICE_MAKE, structure.SLICE_GET}
_STORING = frozenset((c.LIST_NEW, c.LIST_SET, c.LIST_APPEND))


def classes_in(t: Type | None, lists: bool = True) -> frozenset[type]:
    """The classes of the objects in values of type t. lists: include the objects in lists and deques."""
    found: set[type] = set()
    work: list[Any] = [t] if t is not None else []
    while work:
        one = work.pop()
        if type(one) is ObjectOf:
            found.add(one.cls)
        elif type(one) in LISTS:
            if lists:
                work += one.parameters
        elif isinstance(one, k.Container):
            work += one.parameters
        elif isinstance(one, (k.Iterator, k.FunctionObject, k.Cell, k.ObjectCell)):
            work += [x for x in one.key[1:] if isinstance(x, Type)]
        elif one.parts is not None:
            work += one.parts
    return frozenset(found)


def _is_kept(t: Type) -> bool:
    """Whether values of type t can be attributes of native objects, and items of their lists."""
    return natives.can_hold(t) and all([_is_known(part) for part in _leaves(t)])


def _leaves(t: Type):
    if t.parts is None:
        yield t
    else:
        for part in t.parts:
            yield from _leaves(part)


def _is_known(t: Type) -> bool:
    """Whether every object in a value of type t is the value itself or an item of a list."""
    return type(t) in LISTS or type(t) is ObjectOf or not classes_in(t)


def find(functions: list[ir.Function], without: frozenset[type]) -> tuple[dict[type, dict[str, Type]], set[ir.Inst]]:
    """Return ({class: {attribute that is read: its type}} for the classes that have native objects if all their lists
    are native, the stores of attributes that are certainly not set before). functions: a module, the entry first;
    without: classes that are known to have no native objects."""
    if not any([inst.op is OBJECT_NEW for fn in functions for block in fn.blocks for inst in block.insts]):
        return {}, set()
    objects = _Objects(functions, without)
    found = objects.find()
    return found, objects.first_stores() if found else set()


class _Objects:
    def __init__(self, functions: list[ir.Function], without: frozenset[type]):
        self.functions = functions
        self.known: dict[tuple[Type | None, bool], frozenset[type]] = {}
        made = {inst.attrs["cls"] for fn in functions for block in fn.blocks for inst in block.insts
                if inst.op is OBJECT_NEW}
        self.fields: dict[type, dict[str, Type]] = {
            cls: {} for cls in made if cls not in without and not hasattr(cls, "__del__")}
        self.stored = {(inst.args[0].type.cls, inst.attrs["name"]) for fn in functions for block in fn.blocks
                       for inst in block.insts if inst.op is FIELD_SET}
        self.setups: dict[tuple[ir.Function, int], frozenset[str] | None] = {}
        self.given: dict[ir.Function, frozenset[int] | None] = {}  # see `gives`
        self.begun: dict[tuple[ir.Function, int], bool] = {}
        self.stores: dict[ir.Function, frozenset[type]] = {}  # classes of the objects that it stores into attributes

    def classes(self, t: Type | None, lists: bool = True) -> frozenset[type]:
        found = self.known.get((t, lists))
        if found is None:
            found = self.known[t, lists] = classes_in(t, lists)
        return found

    def drop(self, classes) -> None:
        for cls in classes:
            self.fields.pop(cls, None)

    def find(self) -> dict[type, dict[str, Type]]:
        if not self.fields:
            return self.fields
        entry = self.functions[0]
        for value_type in (entry.result, *[p.type for p in entry.params]):
            self.drop(self.classes(value_type))
        for fn in self.functions:
            for block in fn.blocks:
                for inst in block.insts:
                    self.look(inst)
        self.drop_changed()
        while self.fields:
            before = len(self.fields)
            for fn in self.functions:
                for block in fn.blocks:
                    for inst in block.insts:
                        if inst.op is FIELD_SET and not self.fits(inst):
                            self.drop({inst.args[0].type.cls, *self.classes(inst.args[1].type)})
            self.setups.clear()
            for fn in self.functions:
                for block in fn.blocks:
                    for inst in block.insts:
                        if inst.op is OBJECT_NEW and inst.attrs["cls"] in self.fields and (
                                self.set_up(fn, inst.result) is None):
                            self.drop((inst.attrs["cls"],))
            self.drop_cycles()
            if len(self.fields) == before:
                break
        return self.fields

    def drop_changed(self) -> None:
        """Drop the classes of objects that the iterations of a parallel loop share, and that one of them may change: it
        sets an attribute of an object which may not be new."""
        shared = dict.fromkeys([cls for fn in self.functions if fn.flags.parallel for v in independent.shared(fn)
                                for cls in self.classes(v.type) if cls in self.fields])
        for cls in growing(shared) if shared else ():
            shared.update(dict.fromkeys([other for t in self.fields[cls].values() for other in self.classes(t)
                                         if other in self.fields]))
        if shared:
            first = self.first_stores()
            self.drop([inst.args[0].type.cls for inst in independent.repeated(self.functions)
                       if inst.op is FIELD_SET and inst.args[0].type.cls in shared and inst not in first])

    def look(self, inst: ir.Inst) -> None:
        values = [*inst.args, inst.result] if inst.result is not None else inst.args
        if inst.op not in _KNOWN:
            for v in values:
                self.drop(self.classes(v.type, False))
        elif inst.op in _STORING:
            held = self.classes((inst.result or inst.args[0]).type)
            for v in inst.args:
                self.drop(self.classes(v.type) - held)  # the list has the interpreter's objects
        elif inst.op is FIELD_GET and inst.args[0].type.cls in self.fields:
            cls, name, t = inst.args[0].type.cls, inst.attrs["name"], inst.result.type
            if "otherwise" in inst.attrs and (cls, name) not in self.stored:
                return  # it is an attribute of the class, and no object has one of this name
            if self.fields[cls].setdefault(name, t) is not t or not _is_kept(t):
                self.drop((cls,))

    def fits(self, inst: ir.Inst) -> bool:
        """Whether a field_set stores a value of a type that the native object's attribute can hold."""
        types = self.fields.get(inst.args[0].type.cls)
        if types is None:
            return False
        wanted, t = types.get(inst.attrs["name"]), inst.args[1].type
        return wanted is None or t is wanted or isinstance(wanted, k.Union) and t in wanted.members

    # -- how objects are set up

    def set_up(self, fn: ir.Function, x: ir.Value) -> frozenset[str] | None:
        """The attributes that are certainly set when the function `fn` ends, in the object `x`, which starts without
        any: either `fn` makes it, or it is a parameter. None where other code may see the object before all attributes
        that are ever read are set."""
        cls = x.type.cls
        wanted = self.fields[cls].keys()
        home = next((block for block in fn.blocks if x.inst is not None and x.inst in block.insts), fn.entry)
        states: dict[ir.Block, frozenset[str]] = {home: frozenset()}
        work, ends = [home], []
        while work:
            block = work.pop()
            state = states[block]
            insts = block.insts
            if block is home and x.inst is not None:
                insts = insts[insts.index(x.inst) + 1:]
            for inst in insts:
                for edge in inst.edges():
                    if x in edge.args and not wanted <= state:
                        return None
                    if edge.block is home and x.inst is not None:
                        continue
                    old = states.get(edge.block)
                    new = state if old is None else old & state
                    if new != old:
                        states[edge.block] = new
                        work.append(edge.block)
                if inst.op is control.RETURN:
                    ends.append(state)
                if x not in inst.args:
                    continue
                if inst.op is FIELD_SET and inst.args[0] is x and inst.args[1] is not x:
                    state |= {inst.attrs["name"]}
                elif inst.op is FIELD_GET:
                    if inst.attrs["name"] in wanted and inst.attrs["name"] not in state:
                        return None
                elif not wanted <= state:
                    found = None
                    if inst.op is control.INVOKE and x in inst.args and inst.uses().count(x) == 1:
                        found = self.set_up_by(inst.attrs["callee"], inst.args.index(x))
                    if found is None:
                        return None
                    state |= found
        return frozenset.intersection(*ends) if ends else frozenset(wanted)

    def set_up_by(self, fn: ir.Function, n: int) -> frozenset[str] | None:
        key = fn, n
        if key not in self.setups:
            self.setups[key] = None  # while it is analysed: a recursive call counts as setting nothing
            if type(fn.params[n].type) is ObjectOf and fn in self.functions:
                self.setups[key] = self.set_up(fn, fn.params[n])
        return self.setups[key]

    # -- cycles

    def drop_cycles(self) -> None:
        refers = {cls: frozenset().union(*[self.classes(t) for t in types.values()]) & self.fields.keys()
                  for cls, types in self.fields.items()}
        for cls in list(self.fields):
            group = {other for other in _reached(refers, cls) if cls in _reached(refers, other)}
            if group and not self.is_acyclic(group):
                self.drop(group)

    def is_acyclic(self, group: set[type]) -> bool:
        """Whether no objects of classes that refer to each other ever form a cycle."""
        for cls in group:
            for t in self.fields[cls].values():
                if self.classes(t) & group and not self.classes(t) & group == self.classes(t, False) & group:
                    return False  # the reference is through a list, whose stores are not examined here
        into_new = of_new = True
        self.given.clear()
        for fn in self.functions:
            one, two = self.stored_new(fn, group)
            into_new &= one
            of_new &= two
        return into_new or of_new

    def stored_new(self, fn: ir.Function, group: set[type]) -> tuple[bool, bool]:
        """Two conditions on the stores, in `fn`, into those attributes that refer from one class of the group to
        another: (all of them are into new objects to which no other object refers yet; each of them stores a new object
        without references from or to the group, or what the same attribute referred to before). Either excludes cycles
        if it holds in all functions."""
        into_new = of_new = True
        single = self.singles(fn, group)
        for block in single:
            now = single[block]
            unknown: set[ir.Value] = set()  # new objects to which nothing refers yet
            if block is fn.entry:
                unknown.update([p for n, p in enumerate(fn.params) if self.is_begun(fn, n)])
            for inst in block.insts:
                if inst.op is FIELD_SET:
                    x, value = inst.args
                    unknown -= {value, _unwrapped(value)}
                    if x.type.cls in group and self.classes(value.type) & group:
                        into_new &= x in unknown
                        of_new &= self.is_single(inst, now, group)
                elif inst.op is OBJECT_NEW:
                    unknown.add(inst.result)
                elif inst.op is not FIELD_GET:
                    unknown.difference_update(inst.args)
                    for edge in inst.edges():
                        unknown.difference_update(edge.args)
                now = self.pass_by(inst, now, group)
        return into_new, of_new

    def pass_by(self, inst: ir.Inst, single: frozenset, group: set[type]) -> frozenset:
        """The *single* objects after an instruction: those that neither refer to objects of the group nor are referred
        to by these. Results of calls that are single or an argument of the call (see `gives`) are included. single: the
        single objects before it."""
        if inst.op is OBJECT_NEW:
            return single | {inst.result}
        if inst.op is FIELD_SET and inst.args[0].type.cls in group and self.classes(inst.args[1].type) & group:
            return frozenset()
        if inst.op is control.INVOKE:
            callee = inst.attrs["callee"]
            if self.stored_by(callee) & group:
                single = frozenset()
            if inst.result is not None and self.classes(inst.result.type) & group and (
                    self.gives(callee, group) is not None):
                single |= {inst.result}
        return single

    def singles(self, fn: ir.Function, group: set[type]) -> dict[ir.Block, frozenset]:
        """The objects that are single (see `pass_by`) at the start of each block."""
        found: dict[ir.Block, frozenset] = {fn.entry: frozenset()}
        work = [fn.entry]
        while work:
            block = work.pop()
            now = found[block]
            for inst in block.insts:
                for edge in inst.edges():
                    old = found.get(edge.block)
                    new = now if old is None else now & old
                    if new != old:
                        found[edge.block] = new
                        work.append(edge.block)
                now = self.pass_by(inst, now, group)
        return found

    def is_single(self, store: ir.Inst, single: frozenset, group: set[type]) -> bool:
        """Whether a field_set stores a single object (see `pass_by`), or an object to which the same attribute referred
        before. Neither can close a cycle, since no reference leads from the stored object back to the object with the
        attribute."""
        x, value = _unwrapped(store.args[0]), _unwrapped(store.args[1])

        def was_there(v: ir.Value) -> bool:
            made = _unwrapped(v).inst
            return not self.classes(v.type) & group or made is not None and made.op is FIELD_GET and (
                _unwrapped(made.args[0]) is x and made.attrs["name"] == store.attrs["name"])

        if value not in single:
            return was_there(value)
        made = value.inst
        if made is None or made.op is not control.INVOKE:
            return True
        given = self.gives(made.attrs["callee"], group)
        return given is not None and all([was_there(made.args[n]) for n in given])

    def gives(self, fn: ir.Function, group: set[type]) -> frozenset[int] | None:
        """The positions of the parameters that a function may return, if it otherwise returns a new single object (see
        `pass_by`); None where it may return another object."""
        if fn not in self.given:
            self.given[fn] = None  # the assumption while it is analysed: it may call itself
            found: set[int] = set()
            single = self.singles(fn, group)
            for block, now in single.items():
                for inst in block.insts:
                    if inst.op is control.RETURN and self.classes(inst.args[0].type) & group:
                        value = _unwrapped(inst.args[0])
                        if value in fn.params:
                            found.add(fn.params.index(value))
                        elif value not in now or value.inst is None or value.inst.op is not OBJECT_NEW:
                            return None
                    now = self.pass_by(inst, now, group)
            self.given[fn] = frozenset(found)
        return self.given[fn]

    def stored_by(self, fn: ir.Function) -> frozenset[type]:
        """The classes of the objects that a function, or a function that it calls, stores into attributes."""
        if fn not in self.stores:
            self.stores[fn] = frozenset()
            found = [self.classes(inst.args[1].type) for one in _called(fn) for block in one.blocks
                     for inst in block.insts if inst.op is FIELD_SET]
            self.stores[fn] = frozenset().union(*found)
        return self.stores[fn]

    def is_begun(self, fn: ir.Function, n: int) -> bool:
        """Whether every call of a function in the module passes, as parameter n, a new object to which nothing else
        refers."""
        key = fn, n
        if key not in self.begun:
            self.begun[key] = False
            self.begun[key] = fn in self.functions[1:] and type(fn.params[n].type) is ObjectOf and all(
                [self.is_new_at(block, inst, inst.args[n]) for caller in self.functions for block in caller.blocks
                 for inst in block.insts if inst.op is control.INVOKE and inst.attrs["callee"] is fn])
        return self.begun[key]

    def is_new_at(self, block: ir.Block, call: ir.Inst, x: ir.Value) -> bool:
        """Whether the new object `x` is unused before the call that gets it."""
        made = x.inst
        if call.args.count(x) != 1:
            return False
        if made is None:
            fn = next((fn for fn in self.functions if fn.entry is block), None)
            if fn is None or x not in fn.params or not self.is_begun(fn, fn.params.index(x)):
                return False
        elif made.op is not OBJECT_NEW or made not in block.insts:
            return False
        start = 0 if made is None else block.insts.index(made)
        return all([x not in inst.args for inst in block.insts[start:block.insts.index(call)]])

    def first_stores(self) -> set[ir.Inst]:
        """The field_sets of attributes that have certainly not been set before."""
        found = set()
        for fn in self.functions:
            for block in fn.blocks:
                unset: dict[ir.Value, set] = {}  # new object -> the names of the attributes that may be set
                if block is fn.entry:
                    unset.update([(p, set()) for n, p in enumerate(fn.params) if self.is_begun(fn, n)])
                for inst in block.insts:
                    if inst.op is OBJECT_NEW:
                        unset[inst.result] = set()
                    elif inst.op is FIELD_SET and inst.args[0] in unset:
                        known = unset[inst.args[0]]
                        if inst.attrs["name"] not in known:
                            found.add(inst)
                        known.add(inst.attrs["name"])
                        unset.pop(inst.args[1], None)
                    elif inst.op is control.INVOKE:
                        for n, v in enumerate(inst.args):
                            if v in unset and self.is_begun(inst.attrs["callee"], n):
                                unset[v] |= self.names_set_by(inst.attrs["callee"])
                            else:
                                unset.pop(v, None)
                    elif inst.op is not FIELD_GET:
                        for v in inst.uses():
                            unset.pop(v, None)
        return found

    def names_set_by(self, fn: ir.Function) -> set[str]:
        return {inst.attrs["name"] for one in _called(fn) for block in one.blocks for inst in block.insts
                if inst.op is FIELD_SET}


def _unwrapped(v: ir.Value) -> ir.Value:
    """The object that was converted to, or taken out of, the union value."""
    while v.inst is not None and v.inst.op in _WRAPPERS:
        v = v.inst.args[0]
    return v


_WRAPPERS = frozenset((structure.UNION_MAKE, structure.UNION_GET, structure.UNION_CAST, structure.RETYPE))


def _called(fn: ir.Function) -> list[ir.Function]:
    found = [fn]
    for one in found:  # appended to during the iteration
        found += dict.fromkeys([inst.attrs["callee"] for block in one.blocks for inst in block.insts
                                if inst.op is control.INVOKE and inst.attrs["callee"] not in found])
    return found


def _reached(refers: dict[Any, frozenset], one) -> dict:
    """Everything that is reachable over one or more references from `one`."""
    return closure(refers.get(one, ()), lambda other: refers.get(other, ()))
