"""Dicts that a function changes, written with a new dict in the place of each change.

    d["a"] = x              d = {**d, "a": x}
    d |= e, d.update(e)     d = {**d, **e}
    e = d.copy()            e = {**d}

Both forms mean the same where nothing else refers to the dict. In the second form a dict with values of several types
is no object (see displays.py), so that it has derivatives and batches as a tuple has.
"""
from __future__ import annotations

import copy

from ..ir import variables
from ..ir.core import Block, Edge, Function, Inst, Value
from ..ir.uses import passed, users
from ..ops import control, generic
from ..types.kinds import Dict, Union, all_parts, any_part, closed
from ..types.tangents import varies

__all__ = ["of_several_types", "would_help", "written_anew"]

_METHODS = ("copy", "update")


def would_help(analysis) -> bool:
    """Whether a function changes or copies dicts as above, and their values have several types or the interpreter would
    have to copy them."""
    several = {inst.result for inst in of_several_types(analysis)}
    return any([made in several or made in analysis.av and isinstance(analysis.av[made][0], Dict)
                and _copies(analysis.fn, names) for made, names in _found(analysis.fn).items()])


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
        if _found(fn):
            found = _copied(fn)
            while _found(found):  # a new dict may be made of the next one, by copy()
                _rewrite(found, *_found(found).popitem())
                found.memo.clear()
        fn.memo["written anew"] = found
    return found


def _copies(fn, names) -> bool:
    return any([inst.args and inst.args[0] in names and (inst.op is generic.INPLACE or inst.op is generic.GETATTR)
                for block in fn.blocks for inst in block.insts])


def _found(fn) -> dict[Value, set[Value]]:
    """The dicts of a function that it changes or copies, and that nothing else refers to -> all values that are this
    dict."""
    found = fn.memo.get("changed dicts")
    if found is None:
        made = [inst for block in fn.blocks for inst in block.insts if inst.op is generic.DICT
                or inst.op is generic.DICT_MERGE and not inst.attrs["unique"] or _is_of_dict(inst)]
        found = {}
        if made:
            known, given = users(fn.blocks), passed(fn.blocks)
            for inst in made:
                names = _names(inst.result, known, given)
                if names is not None:
                    found[inst.result] = names
        fn.memo["changed dicts"] = found
    return found


def _names(made, known, given) -> set[Value] | None:
    """The values that are a dict; None if it is not changed, or something else may refer to it."""
    names, work, changed = {made}, [made], False
    while work:
        x = work.pop()
        for inst in known.get(x, ()):
            new = [p for edge in inst.edges() for p, y in zip(edge.block.params, edge.args) if y is x]
            if x in inst.args:
                verdict = _use(inst, x, known)
                if verdict is None:
                    return None
                changed = changed or verdict
                if inst.op is generic.INPLACE:
                    new.append(inst.result)
            work += [y for y in new if y not in names]
            names.update(new)
    if not changed or any([y not in names for x in names for y in given.get(x, ())]):
        return None  # a variable that has another value on another path
    return names


def _use(inst, x, known) -> bool | None:
    """Whether an operation changes or copies its operand x, a dict; None if something else may refer to x then."""
    op, args = inst.op, inst.args
    if args.count(x) != 1:
        return None
    if op is generic.DICT_MERGE or op is control.RETURN or op is generic.BINARY and inst.attrs["op"] == "|" or (
            op is generic.GETITEM and args[0] is x and _is_text(args[1]) or _is_of_dict(inst) and args[1] is x):
        return False
    if op is generic.SETITEM and args[0] is x and _is_text(args[1]):
        return True
    if op is generic.INPLACE and inst.attrs["op"] == "|" and args[0] is x:
        return True
    if op is not generic.GETATTR or inst.attrs["name"] not in _METHODS:
        return None
    for call in known.get(inst.result, ()):
        if call.op is not generic.CALL or call.args[0] is not inst.result or inst.result in call.args[1:]:
            return None
        count = len(call.args) - 1 - len(call.attrs.get("kwnames") or ())
        if inst.attrs["name"] == "copy" and len(call.args) > 1 or inst.attrs["name"] == "update" and count > 1:
            return None
    return True


def _is_of_dict(inst) -> bool:
    """Whether an instruction is `dict(a=x)` or `dict(p, a=x)`."""
    return inst.op is generic.CALL and 1 < len(inst.args) <= len(inst.attrs.get("kwnames") or ()) + 2 and (
        inst.args[0].inst is not None and inst.args[0].inst.op is generic.GLOBAL
        and inst.args[0].inst.attrs["name"] == "dict")


def _is_text(x) -> bool:
    return x.inst is not None and x.inst.op is control.CONST and type(x.inst.attrs["value"]) is str


def _rewrite(fn, made, names) -> None:
    variable = variables.Variable(made.name, None)
    methods = {inst.result: inst.attrs["name"] for block in fn.blocks for inst in block.insts
               if inst.op is generic.GETATTR and inst.args[0] in names}
    for block in fn.blocks:
        for edge in block.edges():
            edge.args = [x for p, x in zip(edge.block.params, edge.args) if p not in names]
    for block in fn.blocks:
        block.params = [x for x in block.params if x not in names]
        block.insts = _Block(variable, made, names, methods).written(block.insts)
    variables.build(fn)


class _Block:
    """Writes the instructions of one block anew."""

    def __init__(self, variable, made, names, methods):
        self.variable, self.made, self.names, self.methods = variable, made, names, methods
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
        elif inst.op is generic.INPLACE and inst.args[0] in self.names:
            self.merge(inst, inst.args[1])
        elif name == "update":
            given = inst.attrs.get("kwnames") or ()
            count = len(inst.args) - len(given)
            if count == 2:
                self.merge(inst, inst.args[1])
            if given:
                items = [y for key, x in zip(given, inst.args[count:])
                         for y in (self.add(inst, control.CONST, (), {"value": key}), x)]
                self.merge(inst, self.add(inst, generic.DICT, items, {}))
            self.add(inst, control.CONST, (), {"value": None}, inst.result)
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

    def merge(self, inst, more) -> None:
        after = self.add(inst, generic.DICT_MERGE, (self.now(), more), {"unique": False})
        variables.write(self, self.variable, after)


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
    return one
