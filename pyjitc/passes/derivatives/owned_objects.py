"""Replace objects of the program's classes that only one function uses by variables: a step of owned.py.

Each name of an object, the result of the instruction that makes it or a parameter of a block, has one variable for each
attribute. Where a block passes an object on, it passes the attributes. Two names of one object have variables of their
own, so objects that have two names at a time are replaced only if no attribute is assigned while they do.
Before:  o = object_new ; field_set o, x {name: 'p'} ; jump b(o)     b(q): y = field_get q {name: 'p'}
After:   jump b(x)                                                   b(p): y is p
"""
from __future__ import annotations

from typing import Any

from ...ir.cfg import blocks_after, reverse_postorder
from ...ir.core import Block, Function, Inst, Value
from ...ir.uses import live_values, uses_of
from ...ops import structure as s
from ...ops.objects import FIELD_CHECK, FIELD_GET, FIELD_PEEK, FIELD_SET, OBJECT_NEW
from ...types import kinds as k
from ..rewrite import substitute
from ..unions import Unions
from ...ir import variables
from .builder import Builder
from .opened import end_blocks_at_raises
from .owned_variables import joined
from ...ir.variables import Variable, read, write

__all__ = ["OF_OBJECTS", "field_types", "open_objects", "reads_what_is_set"]

OF_OBJECTS = frozenset((FIELD_CHECK, FIELD_GET, FIELD_PEEK, FIELD_SET))


def open_objects(fn: Function) -> bool:
    """Replace all objects for which this is possible. Returns whether there were any."""
    if not any(inst.op is OBJECT_NEW for block in fn.blocks for inst in block.insts):
        return False
    groups = [group for group in _groups(fn) if _can_be_opened(fn, group)]
    if not groups:
        return False
    end_blocks_at_raises(fn)
    of: dict[Value, dict[str, Variable]] = {}  # name of an object -> the variables of its attributes
    for names, insts in groups:
        types: dict[str, Any] = field_types(insts) or {}
        of.update((x, {field: Variable(f"{x.name}.{field}", t) for field, t in types.items()}) for x in names)
    replace: dict[Value, Value] = {}
    for block in reverse_postorder(fn):
        insts, block.insts = block.insts, []
        b = Builder(block.insts)
        params, block.params = block.params, []
        for p in params:
            if p not in of:
                block.params.append(p)
                continue
            for variable in of[p].values():
                block.params.append(Value(variable.type, variable.name))
                write(b, variable, block.params[-1])
        for inst in insts:
            b.at(inst)
            for e in inst.edges():
                e.args = [y for x in e.args for y in (
                    [read(b, variable) for variable in of[x].values()] if x in of else [x])]
            if inst.result in of:
                for variable in of[inst.result].values():
                    write(b, variable, b.op(s.UNDEF, type=variable.type))
            elif inst.op in OF_OBJECTS and inst.args[0] in of:
                found = _run(b, inst, of[inst.args[0]])
                if found is not None:
                    replace[inst.result] = found
            else:
                block.insts.append(inst)
    substitute(fn.blocks, replace)
    variables.build(fn)
    return True


def _run(b, inst, fields) -> Value | None:
    if inst.op is FIELD_CHECK:
        return None
    field = fields[inst.attrs["name"]]
    if inst.op is FIELD_SET:
        x = inst.args[1]
        write(b, field, x if x.type is field.type else b.op(s.UNION_MAKE, x, type=field.type))
        return None
    found = read(b, field)
    return found if found.type is inst.result.type else b.op(s.UNION_GET, found, type=inst.result.type)


def field_types(insts) -> dict[str, Any] | None:
    """Attribute -> the type of its variable, for the instructions that use the objects of a group; None where an
    attribute has several types."""
    types: dict[str, set] = {}
    for inst in insts:
        types.setdefault(inst.attrs["name"], set()).add((inst.result or inst.args[1]).type)
    found = {field: next(iter(given)) if len(given) == 1 else joined(given) for field, given in types.items()}
    return None if None in found.values() else found


def _groups(fn: Function) -> list[tuple[list[Value], list[Inst]]]:
    """[(the names of objects that may be the same, the instructions that use them)], without the groups that are used
    by an instruction which this module does not know."""
    classes, names = Unions(), []
    open_to_others: set[Value] = set(fn.entry.params)
    used: list[tuple[Value, Inst]] = []
    for block in reverse_postorder(fn):
        names += [p for p in block.params if isinstance(p.type, k.ObjectOf)]
        for inst in block.insts:
            if inst.result is not None and isinstance(inst.result.type, k.ObjectOf):
                names.append(inst.result)
                if inst.op is not OBJECT_NEW and inst.op is not s.UNDEF:
                    open_to_others.add(inst.result)
            for n, x in enumerate(inst.args):
                if isinstance(x.type, k.ObjectOf):
                    if inst.op in OF_OBJECTS and not n:
                        used.append((x, inst))
                    else:
                        open_to_others.add(x)
            for e in inst.edges():
                for p, x in zip(e.block.params, e.args):
                    if isinstance(x.type, k.ObjectOf) or isinstance(p.type, k.ObjectOf):
                        classes.join(p, x)
                        if p.type is not x.type:
                            open_to_others.add(p)
    refused = {classes.of(x) for x in open_to_others}
    found: dict[Value, tuple[list[Value], list[Inst]]] = {}
    for x in names:
        found.setdefault(classes.of(x), ([], []))[0].append(x)
    for x, inst in used:
        found[classes.of(x)][1].append(inst)
    return [group for x, group in found.items() if x not in refused and group[1]]


def _can_be_opened(fn: Function, group) -> bool:
    names, insts = group
    return field_types(insts) is not None and reads_what_is_set(fn, names, {}) and _have_one_name(
        fn, set(names), [inst for inst in insts if inst.op is FIELD_SET])


def reads_what_is_set(fn: Function, names, wanted: dict[Inst, frozenset[str]]) -> bool:
    """Whether each attribute that is read has been set: where it may be missing, the interpreter must raise. wanted:
    instruction -> the attributes that must be set in all objects among its operands, in which they leave the names."""
    order, held = reverse_postorder(fn), set(names)
    every: frozenset[str] | None = None  # the state of a name that no path has reached yet
    starts: dict[Block, dict[Value, frozenset[str] | None]] = {fn.entry: {}}
    right, changes = True, True

    def meet(x, y):
        return y if x is None else x if y is None else x & y

    while changes:
        changes, right = False, True
        for block in order:
            state = dict(starts.get(block, {}))
            for inst in block.insts:
                if inst.op is OBJECT_NEW and inst.result in held:
                    state[inst.result] = frozenset()
                elif inst.op in OF_OBJECTS and inst.args[0] in held and inst.op is not FIELD_CHECK:
                    x, name = inst.args[0], inst.attrs["name"]
                    before = state.get(x, every)
                    if inst.op is FIELD_SET:
                        state[x] = before if before is None else before | {name}
                    elif before is not None and name not in before:
                        right = False
                for x in inst.args if inst in wanted else ():
                    given = state.get(x, every) if x in held else every
                    if given is not None and not wanted[inst] <= given:
                        right = False
                for e in inst.edges():
                    target = starts.setdefault(e.block, {})
                    for x in state:
                        found = meet(target.get(x, every), state[x])
                        if found != target.get(x, every):
                            target[x], changes = found, True
                    for p, x in zip(e.block.params, e.args):
                        if p in held:
                            found = meet(target.get(p, every), state.get(x, every))
                            if found != target.get(p, every):
                                target[p], changes = found, True
    return right


def _have_one_name(fn: Function, names: set[Value], sets: list[Inst]) -> bool:
    """Whether no attribute of an object is assigned while it has two names."""
    order = reverse_postorder(fn)
    home = {inst: block for block in order for inst in block.insts}
    live = _live(order, names)
    for block in order:
        for inst in block.insts:
            for e in inst.edges():
                passed = [x for x in e.args if x in names]
                if all(x not in live[e.block] and passed.count(x) == 1 for x in passed):
                    continue
                for one in sets:
                    made = one.args[0].inst
                    new = home[made] if made is not None and made.op is OBJECT_NEW else None
                    # an object that is made anew in between is another one
                    if e.block is not new and home[one] in {e.block, *blocks_after(e.block, (new,))}:
                        return False
    return True


def _live(order: list[Block], names: set[Value]) -> dict[Block, dict[Value, None]]:
    """Block -> the names that are used in it or behind it, and that are not its parameters."""
    home = {x: block for block in order for x in block.values()}
    return live_values(order, home, lambda block: [x for x in uses_of(block) if x in names])
