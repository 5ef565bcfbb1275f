"""Replace the operations on Python lists, and on objects, by those on native lists and objects, where `natives` decided
so.

The operations become instructions (ops/natives.py, ops/instances.py) or calls of functions of lib/py/natives.py.
"""
from __future__ import annotations

from typing import Any, Callable

from ..base.lazy import lazy
from ..ir import core as ir
from ..ops import containers as c
from ..ops import control, memory, natives, structure
from ..ops import instances as of
from ..ops.objects import FIELD_GET, FIELD_SET, OBJECT_NEW, OBJECT_SAME
from ..ops.sorting import SORT_BY
from ..types import kinds as k
from ..types.kinds import Bool, Int, NativeList, NativeObject, Type, is_refcounted
from . import inline
from .native_calls import ANSWERS, SELF, SPLITTING, Call, repeated_item, type_of_constant
from .rewrite import substitute

__all__ = ["Rewriting"]

localtables = lazy(f"{__package__}.localtables")


class Rewriting:
    """Replaces the operations on Python lists by those on native lists."""

    def __init__(self, lists: Any, helpers: Callable, own: dict, first: set[ir.Inst]):
        self.lists = lists
        self.first = first  # the field_set instructions of attributes that are certainly not set before
        self.helpers = helpers
        self.own = own
        self.mapping: dict[ir.Value, ir.Value] = {}
        self.types: dict[ir.Value, Type] = {}
        # the library functions that the rewritten code of the current function calls
        self.fresh: dict[ir.Function, None] = {}
        self.out: list[ir.Inst] = []
        self.asked: dict[ir.Inst, int] = {}  # UNION_IS instruction -> the index of the member that it tests for
        self.typed: set[ir.Inst] = set()  # the instructions whose attribute `type` is the type of their result
        self.inst: Any = None

    def run(self) -> None:
        lists = self.lists
        self.types = {v: lists.type_of(v) for v in dict.fromkeys([*(v for v, _ in lists.classes), *lists.tables])}
        if lists.attributes:
            self.types.update({v: lists.type_of(v) for fn in lists.functions for v in fn.values()
                               if lists.has_objects(v.type)})
        tables_of = {fn for fn in lists.functions for block in lists.blocks[fn] for inst in block.insts
                     if inst.result in lists.tables and self.types[inst.result] is not inst.result.type}
        gone = {(inst, n) for _, _, inst, n in lists.escapes}
        self.asked = {inst: inst.args[0].type.members.index(inst.attrs["type"]) for fn in lists.functions
                      for block in lists.blocks[fn] for inst in block.insts if inst.op is structure.UNION_IS}
        self.typed = {inst for fn in lists.functions for block in lists.blocks[fn] for inst in block.insts
                      if inst.result in self.types and inst.attrs.get("type") is inst.result.type}
        for value, t in self.types.items():
            value.type = t
        for fn in lists.functions:
            self.fresh = {}
            for block in lists.blocks[fn]:
                insts, self.out = block.insts, []
                for inst in insts:
                    self.inst = inst
                    if inst in lists.calls or inst in lists.around:
                        self.call(inst)
                    else:
                        self.instruction(inst, gone)
                block.insts = self.out
            if fn in lists.returned:
                fn.result = lists.type_of(lists.returned[fn])
            fn.blocks = lists.blocks[fn]
            substitute(fn.blocks, self.mapping)
            if fn in tables_of:  # tables, on which the operations of Python dicts are not defined
                localtables.run(fn)
            if self.fresh:
                inline.put_in(fn, list(self.fresh), self.own)

    # -- operands

    def emit(self, op: ir.Op, *args: ir.Value, type: Type | None = None, result: ir.Value | None = None,
             **attrs) -> Any:
        if result is None and type is not None:
            result = ir.Value(type)
        if "type" in op.attrs:
            attrs["type"] = type
        may_fail = op.effects & ir.RAISES or op is control.INVOKE
        self.out.append(ir.Inst(op, args, attrs, result, self.inst.loc, (), self.inst.unwind if may_fail else None))
        if "origin" in self.inst.attrs:
            self.out[-1].attrs["origin"] = self.inst.attrs["origin"]
        return result

    def library(self, name: str, *args: ir.Value, result: ir.Value | None = None) -> Any:
        callee = self.helpers(f"py.natives:{name}", tuple([v.type for v in args]))
        self.fresh[callee] = None
        return self.emit(control.INVOKE, *args, result=result, type=callee.result, callee=callee)

    def is_native(self, v: ir.Value) -> bool:
        return type(v.type) is NativeList

    def length(self, x: ir.Value, result: ir.Value | None = None) -> ir.Value:
        steady = not self.class_of(x).resized
        return self.emit(natives.NATIVE_SIZE if steady else natives.NATIVE_LEN, x, type=Int, result=result)

    def class_of(self, x: ir.Value) -> Any:
        return self.lists.classes[x, ()].root

    def place(self, x: ir.Value, i: ir.Value, message: str) -> ir.Value:
        return self.emit(memory.CHECK_INDEX, i, self.length(x), type=Int, axis=0, message=message)

    def stored(self, x: ir.Value, value: ir.Value) -> ir.Value:
        """A value in the form in which the list stores its items."""
        return self.widened(value, x.type.item)

    def widened(self, value: ir.Value, t: Any) -> ir.Value:
        """A value converted to a union of which its type is a member, also in parts of a tuple."""
        if value.type is t:
            return value
        if type(t) is not k.Tuple:
            return self.emit(structure.UNION_MAKE, value, type=t)
        parts = [self.widened(self.emit(structure.TUPLE_GET, value, type=part, index=n), wide)
                 for n, (part, wide) in enumerate(zip(value.type.elements, t.elements))]
        return self.emit(structure.TUPLE_MAKE, *parts, cls=t.cls, type=t)

    # -- instructions

    def instruction(self, inst: ir.Inst, gone) -> None:
        op, args, result = inst.op, inst.args, inst.result
        first: Any = args[0] if args else None
        if op is c.LIST_NEW and self.is_native(result):
            uses = self.lists.uses.get(result, ())
            if len(args) == 1 and len(uses) == 1 and self.repeats(uses[0]):
                return
            self.emit(natives.NATIVE_NEW, *[self.stored(result, v) for v in args], result=result, type=result.type)
        elif op in SPLITTING and result is not None and self.is_native(result):
            given: Any = args[-1].inst
            self.emit(natives.NATIVE_PLACES, args[1], mark=given.attrs["value"] if len(args) == 3 else None,
                      type=result.type, result=result)
        elif first is not None and self.is_native(first) and op in _OF_LISTS:
            self.of_list(inst, first)
        elif op is c.HOLDS and self.is_native(first):
            self.mapping[result] = first
        elif op is OBJECT_NEW and type(result.type) is NativeObject:
            self.emit(of.INSTANCE_NEW, result=result, type=result.type)
        elif op in _OF_OBJECTS and type(first.type) is NativeObject:
            self.of_object(inst, first)
        else:
            if inst in self.typed:
                inst.attrs = {**inst.attrs, "type": result.type}
            elif inst in self.asked:
                inst.attrs = {**inst.attrs, "type": first.type.members[self.asked[inst]]}
            for n, v in enumerate(args):
                if (inst, n) in gone:
                    inst.args[n] = self.outside(v)
            self.out.append(inst)

    def of_object(self, inst: ir.Inst, x: ir.Value) -> None:
        op, name = inst.op, inst.attrs.get("name")
        if op is OBJECT_SAME:
            self.emit(of.INSTANCE_IS, *inst.args, result=inst.result)
            return
        t = dict(x.type.attributes).get(name)
        if op is FIELD_GET and t is None:
            self.emit(control.CONST, type=inst.result.type, value=inst.attrs["otherwise"], result=inst.result)
        elif op is FIELD_GET:
            self.emit(of.INSTANCE_AT if is_refcounted(inst.result.type) else of.INSTANCE_LOAD, x, name=name,
                      type=inst.result.type, result=inst.result)
        elif t is not None:
            value, t = inst.args[1], self.lists.type_of(self.lists.fields[x.type.cls, name])
            if value.type is not t:
                value = self.emit(structure.UNION_MAKE, value, type=t)
            self.emit(of.INSTANCE_INIT if inst in self.first else of.INSTANCE_PUT if is_refcounted(t) else
                      of.INSTANCE_STORE, x, value, name=name)

    def repeats(self, user: ir.Inst) -> bool:
        """Whether the only use of a list of one item is `[x] * n`."""
        call = self.lists.around.get(user)
        return call is not None and call.name == "repeated"

    def of_list(self, inst: ir.Inst, x: ir.Value) -> None:
        op, result = inst.op, inst.result
        counted = is_refcounted(x.type.item)
        if op is c.LIST_LEN:
            self.length(x, result)
        elif op is c.LIST_GET:
            j = self.place(x, inst.args[1], "list index out of range")
            if self.class_of(x).parts:
                self.emit(natives.NATIVE_PIECE, x, j, result=result)
                return
            self.emit(natives.NATIVE_AT if counted else natives.NATIVE_LOAD, x, j, result=result)
        elif op is c.LIST_SET:
            value = self.stored(x, inst.args[2])
            j = self.place(x, inst.args[1], "list assignment index out of range")
            self.emit(natives.NATIVE_PUT if counted else natives.NATIVE_STORE, x, j, value)
        elif op is c.LIST_APPEND:
            self.emit(natives.NATIVE_PUSH, x, self.stored(x, inst.args[1]))
        elif op is SORT_BY:
            self.library("sort_by", *inst.args)
        else:
            self.emit(natives.NATIVE_TAKE, x, result=result)

    def outside(self, v: ir.Value) -> ir.Value:
        """The value that replaces a native value where it escapes: a Python list."""
        if self.is_native(v):
            return self.library("leave" if v.type.item in natives.QUIET else "leave_each", v)
        if isinstance(v.type, k.Tuple) and any(map(_holds_native, v.type.parts)):
            parts = [self.outside(self.emit(structure.TUPLE_GET, v, type=t, index=n))
                     for n, t in enumerate(v.type.parts)]
            return self.emit(structure.TUPLE_MAKE, *parts, cls=v.type.cls,
                             type=k.Tuple([part.type for part in parts], v.type.cls))
        return v

    def call(self, inst: ir.Inst) -> None:
        """Replace a call on native lists and the boxes and unboxes around it by one call of a library function."""
        call = self.lists.calls.get(inst) or self.lists.around[inst]
        if self.lists.main(call).python:
            self.out.append(inst)
            return
        if inst is not call.inst:
            return
        operands = [self.passed(v, kind, call) for kind, v in zip(call.kinds, call.operands) if kind not in "ne"]
        opened: Any = call.unbox.result if call.unbox is not None else (
            inst.result if inst.op in ANSWERS and call.result is Bool else None)
        item = repeated_item(call, self.lists.uses)
        if item is not None:
            self.emit(natives.NATIVE_FILLED, self.stored(opened, item), operands[1], result=opened, type=opened.type)
            return
        if call.name == "emptied":
            self.emit(natives.NATIVE_NEW, result=opened, type=opened.type)
            return
        of_native = "l" in call.kinds and self.is_native(operands[-1])
        found = self.library(_OF_NATIVE[call.name] if of_native else call.name, *operands)
        if opened is not None:
            self.mapping[opened] = operands[0] if call.result == SELF else found

    def passed(self, v: ir.Value, kind: str, call: Call) -> ir.Value:
        """The form in which an operand is passed: a constant that was boxed is unboxed."""
        if v.type is k.Object and v.inst is not None and v.inst.op is control.CONST:
            value = v.inst.attrs["value"]
            v = self.emit(control.CONST, type=type_of_constant(value), value=value)
        return self.stored(call.operands[0], v) if kind == "v" else v


def _holds_native(t: Type) -> bool:
    return type(t) is NativeList or isinstance(t, k.Tuple) and any(map(_holds_native, t.parts))


_OF_NATIVE = {"listed": "copied", "extend": "extend_by", "extend_first": "extend_first_by"}
_OF_LISTS = frozenset((c.LIST_LEN, c.LIST_GET, c.LIST_SET, c.LIST_POP, c.LIST_APPEND, SORT_BY))
_OF_OBJECTS = frozenset((FIELD_GET, FIELD_SET, OBJECT_SAME))
