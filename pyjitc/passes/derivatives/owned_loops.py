"""Replace calls of the interpreter that work on lists, and sorting, by loops: a step of owned.py, which then replaces
the lists."""
from __future__ import annotations

from typing import Any

from ...ir.core import Function, Inst, Value
from ...ir.uses import users
from ...ops import containers as lists
from ...ops import control as c
from ...ops import structure as s
from ...ops.pyobject import PY_API, PY_BOX, PY_CALL, PY_TEST, PY_UNBOX
from ...types import kinds as k
from ...types.tangents import is_number_that_varies
from ..rewrite import substitute
from .builder import Builder
from .owned_variables import fits, leaves_of, may_vary

__all__ = ["write_out"]

# operation of the interpreter on lists -> the function of lib/listed.py that does the same
_WRITTEN_OUT = {"PyNumber_Add": "added", "PyNumber_InPlaceAdd": "extended", "PySequence_List": "list_of",
                "PyObject_GetItem": "part", "PyObject_DelItem": "delete"}
# method of lists that the interpreter is called for -> the same
_METHODS = {list.insert: "insert", list.pop: "pop_at", list.reverse: "reverse", list.clear: "clear_list",
            list.copy: "list_of"}


def write_out(fn: Function, helpers) -> bool:
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
        if inst.op is lists.LIST_SORT and _is_list(inst.args[0].type) and len(
                leaves_of(inst.args[0].type.item) or ()) == 1:
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
        types = [_type_of(x) for x in given]
        wanted = self.types(name, types)
        users = self.users.get(inst.result, []) if inst.result is not None else []
        end = inst
        if any(user.op is not s.DISCARD for user in users):
            end = users[0]
            if len(users) != 1 or end.op is not PY_UNBOX:
                return
            if end.result.type is not wanted and self.is_filled(name, types, end.result.type):
                wanted = end.result.type
                name = "filled"
        if wanted is None or end is not inst and end.result.type is not wanted:
            return
        b = Builder([], inst)
        args = [x.args[0] if x.op is PY_BOX else b.const(x.attrs["value"], k.Int) for x in given]
        self.dead.update(x for x in given if x.op is PY_BOX)
        self.dead.update(users if end is inst else [inst])
        self.before[end] = b.insts
        if name == "filled":
            args.insert(0, b.op(lists.LIST_NEW, type=wanted))
            for x in args[1:-1]:
                args[0] = b.call(self.helpers("listed:extended", (wanted, x.type)), args[0], x)
            name, args = "extended", [args[0], args[-1]]
        self.call(inst, end, name, args)

    def is_filled(self, name, given, wanted) -> bool:
        """Whether the result of list(x) or x + y is a list of numbers of several types, to which the items of the
        operands are added one after the other."""
        return name in ("list_of", "added") and _is_list(wanted) and all(
            (_is_list(t) or _is_array(t)) and fits(_item_of(t), wanted.item) for t in given)

    def is_opened(self, x: Inst | None, call: Inst) -> bool:
        """Whether an operand is boxed for the call only, or is a constant int."""
        if x is None:
            return False
        return x.op is PY_BOX and self.users[x.result] == [call] or x.op is c.CONST and type(x.attrs["value"]) is int

    def types(self, name, given):
        """The type of the result of a function of lib/listed.py for operands of these types; None where it does not
        take them."""
        first = given[0]
        if name == "list_of" and _is_array(first):
            return k.List(first.dtype) if len(given) == 1 else None
        if not _is_list(first):
            return None
        rest = {"added": [first], "extended": [first], "list_of": [], "part": [k.Slice], "insert": [k.Int, first.item],
                "pop_at": [k.Int], "reverse": [], "clear_list": [], "delete": [k.Int]}[name]
        if name == "extended" and len(given) == 2 and _is_list(given[1]) and fits(given[1].item, first.item):
            return first
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


def _is_array(t) -> bool:
    return type(t) is k.Array and t.ndim == 1 and is_number_that_varies(t.dtype)


def _item_of(t):
    return t.item if type(t) is k.List else t.dtype


def _type_of(x: Inst):
    return x.args[0].type if x.op is PY_BOX else k.Int


def _is_hashable(x) -> bool:
    return type(x) is type(list.insert)


def _is_list(t) -> bool:
    return type(t) is k.List and (isinstance(t.item, k.ObjectOf) or any(map(may_vary, leaves_of(t.item) or ())))
