"""Dicts that a function changes, written with a new dict in the place of each change.

    d["a"] = x              d = {**d, "a": x}
    d |= e, d.update(e)     d = {**d, **e}
    d.update([("a", x)])    d = {**d, "a": x}
    del d["a"]              d = (d without "a")
    y = d.pop("a")          y = d["a"]; d = (d without "a")
    d.setdefault("a", x)    d = {**d, "a": d.get("a", x)}
    e = d.copy()            e = {**d}

Both forms mean the same where nothing else refers to the dict. In the second form a dict with values of several types
is no object (see displays.py), so that it has derivatives and batches as a tuple has.
"""
from __future__ import annotations

import copy

from ..ir import variables
from ..ir.cfg import blocks_after
from ..ir.core import Block, Edge, Function, Inst, Value
from ..ir.uses import passed, users
from ..ops import control, generic
from ..types.kinds import Dict, Union, all_parts, any_part, closed
from ..types.tangents import varies
from .displays import VIEWS

__all__ = ["found_in", "of_several_types", "would_help", "written_anew"]

_METHODS = ("copy", "update", "pop", "setdefault")


def would_help(analysis) -> bool:
    """Whether a function changes or copies dicts as above, and their values have several types or the interpreter would
    have to copy them."""
    fn = analysis.fn
    several = {inst.result for inst in of_several_types(analysis)}
    known = fn.memo.setdefault("dicts of several types", set())
    if several - known:
        known |= several
        fn.memo.pop("changed dicts", None)
        fn.memo.pop("written anew", None)
    return any([made in several or made in analysis.av and isinstance(analysis.av[made][0], Dict)
                and _copies(fn, names) for made, names in found_in(fn).items()])


def of_several_types(analysis) -> list[Inst]:
    """The instructions of a function that make dicts whose values have several types, one of which varies."""
    found = []
    for block in analysis.fn.blocks:
        for inst in block.insts:
            t = analysis.av[inst.result][0] if inst.result in analysis.av else None
            if isinstance(t, Dict) and any([type(part) is Union and any_part(part, varies)
                                            for inner in t.parameters[1:] for part in all_parts(closed(inner))]):
                found.append(inst)
    return found


def written_anew(fn: Function) -> Function:
    """A function with new dicts in the place of changed ones, or the function itself where there are none."""
    found = fn.memo.get("written anew")
    if found is None:
        found = fn
        if found_in(fn):
            found = _copied(fn)
            while found_in(found):  # a new dict may be made of the next one, by copy()
                _rewrite(found, *found_in(found).popitem())
                found.memo.pop("changed dicts", None)
        fn.memo["written anew"] = found
    return found


def _copies(fn, names) -> bool:
    return any([inst.args and inst.args[0] in names and (inst.op is generic.INPLACE or inst.op is generic.GETATTR)
                for block in fn.blocks for inst in block.insts])


def found_in(fn) -> dict[Value, set[Value]]:
    """The dicts of a function that it changes or copies, and that nothing else refers to -> all values that are this
    dict."""
    found = fn.memo.get("changed dicts")
    if found is None:
        made = [inst for block in fn.blocks for inst in block.insts if inst.op is generic.DICT
                or inst.op is generic.DICT_MERGE and not inst.attrs["unique"] or _is_of_dict(inst)]
        found = {}
        if made:
            several = fn.memo.get("dicts of several types", ())
            known, given = users(fn.blocks), passed(fn.blocks)
            for inst in made:
                names = _names(fn, inst.result, known, given, inst.result in several)
                if names is not None:
                    found[inst.result] = names
        fn.memo["changed dicts"] = found
    return found


def _names(fn, made, known, given, is_passed) -> set[Value] | None:
    """The values that are a dict; None if it is not changed, or something else may refer to it. is_passed: whether it
    may be passed to functions and iterated over where it is not changed afterwards: a dict with values of several types
    has no derivative as an object."""
    names, work = {made}, [made]
    changes: list[Inst] = []
    looks: list[Inst] = []
    while work:
        x = work.pop()
        for inst in known.get(x, ()):
            new = [p for edge in inst.edges() for p, y in zip(edge.block.params, edge.args) if y is x]
            if x in inst.args:
                change = _change(inst, x, known)
                if change is not None:
                    changes += change
                elif not _reads(inst, x):
                    if not (is_passed and _looks(inst, x)):
                        return None
                    if not _gets(inst, known):
                        looks.append(inst)
                if inst.op is generic.INPLACE:
                    new.append(inst.result)
            work += [y for y in new if y not in names]
            names.update(new)
    if not changes or any([y not in names for x in names for y in given.get(x, ())]):
        return None  # a variable that has another value on another path
    return None if looks and _are_changed_after(fn, looks, changes) else names


def _are_changed_after(fn, looks, changes) -> bool:
    """Whether one of the instructions `changes` may run after one of the instructions `looks`."""
    place = {inst: (block, n) for block in fn.blocks for n, inst in enumerate(block.insts)}
    for look in looks:
        block, at = place[look]
        after = blocks_after(block)
        if any([place[one][0] in after or place[one][0] is block and place[one][1] > at for one in changes]):
            return True
    return False


def _reads(inst, x) -> bool:
    """Whether an operation only reads its operand x, a dict, or copies it."""
    op, args = inst.op, inst.args
    return args.count(x) == 1 and (
        op is generic.DICT_MERGE or op is control.RETURN or op is generic.BINARY and inst.attrs["op"] == "|"
        or op is generic.GETITEM and args[0] is x and _is_text(args[1]) or _is_of_dict(inst) and args[1] is x
        or op is generic.COMPARE and inst.attrs["op"] in ("in", "not in") and args[1] is x)


def _looks(inst, x) -> bool:
    """Whether an operation hands its operand x, a dict, on to what may read it later."""
    op, args = inst.op, inst.args
    if op is generic.GETATTR:
        return inst.attrs["name"] in VIEWS
    return op is generic.ITER or op is generic.TUPLE or op is generic.LIST or op is generic.GETITEM and (
        args[0] is x) or op is generic.CALL and args[0] is not x


def _gets(inst, known) -> bool:
    """Whether an instruction is the look-up of `d.get` for calls of it, which read the dict at once."""
    return inst.op is generic.GETATTR and inst.attrs["name"] == "get" and all(
        [call.op is generic.CALL and call.args[0] is inst.result and inst.result not in call.args[1:]
         for call in known.get(inst.result, ())])


def _change(inst, x, known) -> list[Inst] | None:
    """The instructions that change or copy a dict by an operation on it, its operand x; None for any other
    operation."""
    op, args = inst.op, inst.args
    if args.count(x) != 1 or not args or args[0] is not x:
        return None
    if (op is generic.SETITEM or op is generic.DELITEM and inst.unwind is None) and _is_text(args[1]):
        return [inst]
    if op is generic.INPLACE and inst.attrs["op"] == "|":
        return [inst]
    if op is not generic.GETATTR or inst.attrs["name"] not in _METHODS:
        return None
    calls = known.get(inst.result, ())
    return list(calls) if all([_is_known_call(call, inst.result, inst.attrs["name"], known) for call in calls]) else (
        None)


def _is_known_call(call, method, name, known) -> bool:
    """Whether an instruction is a call of a method of a dict, with arguments as `_Block.write` takes them. A list of
    pairs must not be used elsewhere, where it may be changed."""
    if call.op is not generic.CALL or call.args[0] is not method or method in call.args[1:]:
        return False
    named = call.attrs.get("kwnames") or ()
    count = len(call.args) - 1 - len(named)
    if name == "update":
        return count == 0 or count == 1 and (_may_be_dict(call.args[1]) or _pairs(call.args[1]) is not None and (
            known[call.args[1]] == [call]))
    if named:
        return False
    if name == "copy":
        return count == 0
    may_raise = name == "pop" and count == 1
    return 1 <= count <= 2 and _is_text(call.args[1]) and not (may_raise and call.unwind is not None)


def _may_be_dict(x) -> bool:
    """Whether a value may be a dict, as far as the instruction says that makes it."""
    return x.inst is None or x.inst.op not in (generic.LIST, generic.TUPLE, generic.LIST_EXTEND, generic.SET)


def _pairs(x) -> list[Value] | None:
    """The keys and values of a list or tuple of pairs that the function writes out, with constant texts as keys; None
    for any other value."""
    if x.inst is None or x.inst.op not in (generic.LIST, generic.TUPLE):
        return None
    pairs = [pair.inst.args if pair.inst is not None and pair.inst.op is generic.TUPLE else [] for pair in x.inst.args]
    if any([len(pair) != 2 or not _is_text(pair[0]) for pair in pairs]):
        return None
    return [y for pair in pairs for y in pair]


def _is_of_dict(inst) -> bool:
    """Whether an instruction is `dict(a=x)` or `dict(p, a=x)`."""
    return inst.op is generic.CALL and 1 < len(inst.args) <= len(inst.attrs.get("kwnames") or ()) + 2 and (
        inst.args[0].inst is not None and inst.args[0].inst.op is generic.GLOBAL
        and inst.args[0].inst.attrs["name"] == "dict")


def _is_text(x) -> bool:
    return x.inst is not None and x.inst.op is control.CONST and type(x.inst.attrs["value"]) is str


def _rewrite(fn, made, names) -> None:
    variable = variables.Variable(made.name, None)
    several = fn.memo.get("dicts of several types", set())
    more: list[Value] = []
    methods = {inst.result: inst.attrs["name"] for block in fn.blocks for inst in block.insts
               if inst.op is generic.GETATTR and inst.args[0] in names and inst.attrs["name"] in _METHODS}
    for block in fn.blocks:
        for edge in block.edges():
            edge.args = [x for p, x in zip(edge.block.params, edge.args) if p not in names]
    for block in fn.blocks:
        block.params = [x for x in block.params if x not in names]
        block.insts = _Block(variable, made, names, methods, more).written(block.insts)
    if made in several:
        several.update(more)
    variables.build(fn)


class _Block:
    """Writes the instructions of one block anew."""

    def __init__(self, variable, made, names, methods, dicts):
        self.variable, self.made, self.names, self.methods = variable, made, names, methods
        self.dicts: list[Value] = dicts  # gets the new dicts
        self.insts: list[Inst] = []

    def written(self, insts) -> list[Inst]:
        for inst in insts:
            self.write(inst)
        return self.insts

    def add(self, inst, op, args, attrs, result=None) -> Value:
        one = Inst(op, args, attrs, result or Value(), inst.loc)
        self.insts.append(one)
        return one.result

    def now(self) -> Value:
        """The dict that was made last."""
        return variables.read(self, self.variable)

    def write(self, inst) -> None:
        name = self.methods.get(inst.args[0]) if inst.op is generic.CALL else None
        if inst.op is generic.SETITEM and inst.args[0] in self.names:
            self.merge(inst, self.add(inst, generic.DICT, inst.args[1:], {}))
        elif inst.op is generic.DELITEM and inst.args[0] in self.names:
            self.remove(inst, inst.args[1], False)
        elif inst.op is generic.INPLACE and inst.args[0] in self.names:
            self.merge(inst, inst.args[1])
        elif name == "update":
            given = inst.attrs.get("kwnames") or ()
            count = len(inst.args) - len(given)
            if count == 2:
                pairs = _pairs(inst.args[1])
                self.merge(inst, inst.args[1] if pairs is None else self.add(inst, generic.DICT, pairs, {}))
            if given:
                items = [y for key, x in zip(given, inst.args[count:])
                         for y in (self.add(inst, control.CONST, (), {"value": key}), x)]
                self.merge(inst, self.add(inst, generic.DICT, items, {}))
            self.add(inst, control.CONST, (), {"value": None}, inst.result)
        elif name == "pop" or name == "setdefault":
            self.get(inst, name == "setdefault")
        elif name == "copy":
            empty = self.add(inst, generic.DICT, (), {})
            self.add(inst, generic.DICT_MERGE, (empty, self.now()), {"unique": False}, inst.result)
        elif inst.result in self.methods:
            pass
        else:
            inst.args = [self.now() if x in self.names else x for x in inst.args]
            self.insts.append(inst)
            if inst.result is self.made:
                variables.write(self, self.variable, self.made)

    def get(self, inst, puts) -> None:
        """Write d.pop(key), d.pop(key, default) or d.setdefault(key, default)."""
        key, default = inst.args[1], inst.args[2:]
        if puts or default:
            method = self.add(inst, generic.GETATTR, (self.now(),), {"name": "get"})
            self.add(inst, generic.CALL, (method, key, *default), {}, inst.result)
        else:
            self.add(inst, generic.GETITEM, (self.now(), key), {}, inst.result)
        if puts:
            self.merge(inst, self.add(inst, generic.DICT, (key, inst.result), {}))
        else:
            self.remove(inst, key, bool(default))

    def remove(self, inst, key, may_miss) -> None:
        self.now_is(self.add(inst, generic.DICT_WITHOUT, (self.now(), key), {"may_miss": may_miss}))

    def merge(self, inst, more) -> None:
        self.now_is(self.add(inst, generic.DICT_MERGE, (self.now(), more), {"unique": False, "anew": True}))

    def now_is(self, made) -> None:
        self.dicts.append(made)
        variables.write(self, self.variable, made)


def _copied(fn) -> Function:
    """A copy of a function, with blocks, instructions and values of its own."""
    one = copy.copy(fn)
    one.memo = {}
    values = {x: Value(x.type, x.name) for x in fn.values()}
    blocks = {block: Block(block.name, [values[x] for x in block.params]) for block in fn.blocks}

    def edge(given):
        return Edge(blocks[given.block], [values[x] for x in given.args])

    for block, new in blocks.items():
        new.insts = [Inst(inst.op, [values[x] for x in inst.args], dict(inst.attrs),
                          None if inst.result is None else values[inst.result], inst.loc,
                          [edge(x) for x in inst.targets], None if inst.unwind is None else edge(inst.unwind))
                     for inst in block.insts]
    one.blocks = list(blocks.values())
    one.memo["dicts of several types"] = {values[x] for x in fn.memo.get("dicts of several types", ()) if x in values}
    return one
