"""Unpack the arguments and results of calls of functions that have derivatives of their own (`Ruled` of
ops/derivative.py) into numbers and arrays, which are the values that have adjoints and tangents."""
from __future__ import annotations

from typing import Any

from ...ir.core import Function, Inst, Value
from ...ops import structure as s
from ...ops.control import CONST, INVOKE
from ...types import kinds as k
from ..rewrite import copy_of
from .activity import Classes, is_ruled
from .builder import Builder
from .common import replace_arguments
from .targets import targets

__all__ = ["Call", "called", "has_one_value", "leaves_of", "only_value", "open_calls"]


class Call:
    """A call whose arguments and result are unpacked. callee: the function to call; result, kept: trees (nested lists)
    of values; `kept` is what the backward rule needs of the forward part."""

    def __init__(self, inst, rules, callee, result, kept):
        self.inst, self.rules, self.callee, self.result, self.kept = inst, rules, callee, result, kept

    @property
    def args(self) -> list:
        """The trees of the arguments; computed anew at each access, since the arguments may have been replaced."""
        return list(map(_tree_of, self.inst.args))


def called(b: Builder, rule, helpers, given) -> Value:
    """Call a rule. Its parameters may include some of one-value types, which are not in `given`."""
    if not isinstance(rule, Function):
        rule = helpers(rule, tuple([x.type for x in given if not has_one_value(x.type)]))
    return b.op(INVOKE, *filled(b, rule, given), type=rule.result, callee=rule)


def filled(b: Builder, rule: Function, given) -> list[Value]:
    """The arguments for all parameters of a rule."""
    rest = [x for x in given if not has_one_value(x.type)][::-1]
    return [only_value(b, p.type) if has_one_value(p.type) else rest.pop() for p in rule.params]


def has_one_value(t) -> bool:
    return t is k.NoneType or isinstance(t, k.Singleton) or (
        type(t) in (k.Tuple, k.Function) and all(map(has_one_value, t.parts)))


def only_value(b: Builder, t) -> Value:
    if type(t) is k.Tuple:
        return b.op(s.TUPLE_MAKE, *(only_value(b, part) for part in t.elements), cls=t.cls)
    if type(t) is k.Function:
        return b.op(s.FUNCTION_MAKE, *(only_value(b, part) for part in t.captures), type=t)
    return b.op(CONST, type=t, value=None if t is k.NoneType else t.value)


def _tree_of(x: Value) -> Any:
    made = x.inst
    return x if made is None or made.op is not s.TUPLE_MAKE else list(map(_tree_of, made.args))


def leaves_of(tree) -> list[Value]:
    return [tree] if not isinstance(tree, list) else [x for part in tree for x in leaves_of(part)]


def opened(b: Builder, x: Value, made: bool = False) -> Any:
    """The tree of the numbers and arrays that a value consists of. made: also add the unpacking instructions where the
    value was packed in this function."""
    if type(x.type) is not k.Tuple:
        return x
    if not made and x.inst is not None and x.inst.op is s.TUPLE_MAKE:
        return [opened(b, part) for part in x.inst.args]
    return [opened(b, b.op(s.TUPLE_GET, x, index=n), made) for n in range(len(x.type.elements))]


def closed(b: Builder, t, tree) -> Value:
    """Pack a tree into the value of type t that it belongs to."""
    if not isinstance(tree, list):
        return tree
    return b.op(s.TUPLE_MAKE, *map(lambda part, x: closed(b, part, x), t.elements, tree), cls=t.cls)


def open_calls(fn: Function, helpers, forward: bool) -> dict[Inst, Call]:
    """Unpack the arguments and results of the calls. forward: call the version of the function that also returns the
    values that the backward rule needs, where there is one."""
    found: dict[Inst, Call] = {}
    replace: dict[Value, Value] = {}
    for block in fn.blocks:
        if not any(map(is_ruled, block.insts)):
            continue
        insts, block.insts = block.insts, []
        b = Builder(block.insts)
        for inst in insts:
            if not is_ruled(inst):
                block.insts.append(inst)
                continue
            b.at(inst)
            callee, r = inst.attrs["callee"], inst.result
            rules = callee.memo["rules"]
            keeps = forward and rules.forward is not None
            if keeps:
                given, callee = inst.args, rules.forward
                if not isinstance(callee, Function):
                    callee = helpers(callee, tuple([x.type for x in given if not has_one_value(x.type)]))
                stand_in = copy_of(callee)
                stand_in.memo["rules"] = rules
                inst.attrs, inst.args = {**inst.attrs, "callee": stand_in}, filled(b, callee, given)
            args = [opened(b, x) for x in inst.args]
            inst.args = [closed(b, x.type, tree) for x, tree in zip(inst.args, args)]
            block.insts.append(inst)
            whole = inst.result = Value(callee.result)
            whole.inst = inst
            tree = opened(b, whole, True)
            result, kept = tree if keeps else (tree, tree)
            replace[r] = closed(b, r.type, result)
            found[inst] = Call(inst, rules, callee, result, kept)
    replace_arguments(fn, replace)
    _check_disjoint(fn, found, helpers)
    return found


def _check_disjoint(fn: Function, calls: dict[Inst, Call], helpers) -> None:
    """Where a result or an argument of a call is written into somewhere, raise if the result is the argument itself:
    each has its own adjoints."""
    if not calls:
        return
    classes = Classes(fn)
    written = {classes.of(x) for block in fn.blocks for inst in block.insts for x in targets(inst)}
    for block in fn.blocks:
        for inst in [inst for inst in block.insts if inst in calls]:
            results, args = ([x for x in leaves_of(tree) if type(x.type) is k.Array]
                             for tree in (calls[inst].result, calls[inst].args))
            for y in results:
                b = Builder([], inst)
                for x in args:
                    if classes.of(y) in written or classes.of(x) in written:
                        b.call(helpers("check_disjoint", (y.type, x.type)), y, x)
                assert y.inst is not None
                at = block.insts.index(y.inst) + 1
                block.insts[at:at] = b.insts
