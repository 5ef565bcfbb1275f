"""The calls and operations of the interpreter on lists and deques that have a form for native lists, and how an
instruction is recognised as one.

`natives` asks it for each instruction that might be one; the forms are functions of lib/py/natives.py.
"""
from __future__ import annotations

import heapq
import operator
from collections import deque
from typing import Any, Callable

from ..ir import core as ir
from ..ops import containers as c
from ..ops import control, pyobject, structure
from ..ops.text import OBJECT_CALL, TEXT_CALL
from ..types import kinds as k
from ..types.containers import LISTS
from ..types.kinds import Bool, Deque, Int, List, Type

__all__ = ["ANSWERS", "FILL", "ITEM", "MAKERS", "NEW", "SELF", "SPLITTING", "Call", "call_at", "is_moved",
           "may_be_call", "plain_type", "repeated_item", "splits", "type_of_constant"]

_EMPTY = k.Tuple(())
_SCALARS = frozenset((k.Int, k.Float, k.Bool, k.Str))
_NUMPY = frozenset((k.NpInt, k.NpFloat))

# Calls of the interpreter on lists: function -> for each number of operands and their kinds: (the function of
# lib/py/natives.py, its result, whether it changes the length of the first operand). Operands: `x` the list, `q` the
# deque, `y` another of the same type, `i` an int, `v` an item, `w` a value that is compared with items, `s` a slice,
# `t` an iterable of items, `l` a list of items, native or not, `n` None, `e` an empty tuple. Results: `x` the list
# itself, `new` another list of the same items, `item`, a type, or None.
NEW, SELF, ITEM = "new", "x", "item"
_CALLS: dict[Callable, dict[str, tuple[str, Any, bool]]] = {
    operator.mul: {"xi": ("repeated", NEW, False)},
    operator.imul: {"xi": ("repeat", SELF, True)},
    operator.add: {"xy": ("joined", NEW, False)},
    operator.iadd: {"xy": ("extend_by", SELF, True), "xt": ("extend", SELF, True)},
    operator.getitem: {"xs": ("part", NEW, False), "qi": ("deque_item", ITEM, False)},
    operator.setitem: {"xsy": ("set_part", None, True), "qiv": ("put_in_deque", None, False)},
    operator.delitem: {"xi": ("delete", None, True), "xs": ("delete_part", None, True),
                       "qi": ("delete_in_deque", None, True)},
    operator.contains: {"xw": ("contains", Bool, False), "qw": ("contains", Bool, False)},
    operator.eq: {"xy": ("equal", Bool, False)}, operator.ne: {"xy": ("unequal", Bool, False)},
    operator.lt: {"xy": ("less", Bool, False)}, operator.gt: {"xy": ("greater", Bool, False)},
    operator.le: {"xy": ("not_greater", Bool, False)}, operator.ge: {"xy": ("not_less", Bool, False)},
    operator.is_: {"xy": ("identical", Bool, False)},
    list.insert: {"xiv": ("insert", None, True)}, list.pop: {"xi": ("pop", ITEM, True)},
    list.remove: {"xw": ("remove", None, True)}, list.reverse: {"x": ("reverse", None, False)},
    list.clear: {"x": ("clear", None, True)}, list.copy: {"x": ("copied", NEW, False)},
    list.index: {"xwii": ("index", Int, False)}, list.count: {"xw": ("count", Int, False)},
    list: {"l": ("listed", NEW, False), "t": ("listed", NEW, False)},
    deque: {"ln": ("listed", NEW, False), "en": ("emptied", NEW, False), "tn": ("listed", NEW, False)},
    deque.append: {"qv": ("append", None, True)}, deque.appendleft: {"qv": ("append_first", None, True)},
    deque.pop: {"q": ("pop_last", ITEM, True)}, deque.popleft: {"q": ("pop_first", ITEM, True)},
    deque.extend: {"ql": ("extend", None, True), "qt": ("extend", None, True)},
    deque.extendleft: {"ql": ("extend_first", None, True), "qt": ("extend_first", None, True)},
    deque.clear: {"q": ("clear", None, True)}, deque.copy: {"q": ("copied", NEW, False)},
    deque.count: {"qw": ("count", Int, False)}, deque.reverse: {"q": ("reverse", None, False)},
    deque.rotate: {"qi": ("rotate", None, False)},
    heapq.heapify: {"x": ("heapify", None, False)}, heapq.heappushpop: {"xv": ("heap_pushpop", ITEM, False)},
    heapq.heapreplace: {"xv": ("heap_replace", ITEM, False)},
}
_OPS: dict[ir.Op, tuple[str, tuple[str, Any, bool]]] = {
    c.LIST_SORT: ("xb", ("sort", None, False)), c.HEAP_PUSH: ("xv", ("heap_push", None, True)),
    c.HEAP_POP: ("x", ("heap_pop", ITEM, True)),
}
SPLITTING = frozenset((OBJECT_CALL, TEXT_CALL))  # some of them split a text
ANSWERS = frozenset((pyobject.PY_TEST, pyobject.PY_IS))  # calls whose result is a bool without an object
MAKERS = frozenset("tle")  # kinds of first operands of calls that make a list or deque of something else
FILL = frozenset(("emptied", "extend", "extend_by", "joined", "listed", "repeated", "sort"))
# Calls that compare items, whose types must have an order; those whose result is that of a comparison, which is a bool
# of NumPy for scalars of NumPy.
_COMPARES = frozenset(("equal", "unequal", "less", "greater", "not_greater", "not_less", "sort", "heap_push",
                       "heap_pop", "heapify", "heap_pushpop", "heap_replace"))
_ORDERS = frozenset(("less", "greater", "not_greater", "not_less"))


class Call:
    """A call that `_CALLS` describes. operands: the operands of the native function; boxes, unbox: the instructions
    around the call that box the operands and unbox the result."""

    def __init__(self, inst, operands, boxes, unbox, meaning, kinds):
        self.inst, self.operands, self.boxes, self.unbox = inst, operands, boxes, unbox
        self.name, self.result, self.resizes = meaning
        self.kinds = kinds


def may_be_call(inst: ir.Inst) -> bool:
    """Whether the operation of an instruction is one that the interpreter uses for lists."""
    return inst.op is pyobject.PY_API or inst.op is pyobject.PY_TEST or inst.op is pyobject.PY_CALL or (
        inst.op is pyobject.PY_IS or inst.op in _OPS)


def call_at(inst: ir.Inst, uses: dict[ir.Value, list[ir.Inst]]) -> Call | None:
    """Recognise a call on a list, together with the instructions around it that box and unbox; None for other
    instructions."""
    forms: dict[str, tuple[str, Any, bool]] | None
    if inst.op in _OPS:
        kinds, meaning = _OPS[inst.op]
        forms, args = {kinds: meaning}, inst.args
    elif inst.op is pyobject.PY_IS:
        forms, args = _CALLS[operator.is_], inst.args
    elif inst.op is pyobject.PY_CALL:
        callee = inst.args[0].inst
        if callee is None or callee.op is not control.CONST or inst.attrs.get("kwnames"):
            return None
        args = inst.args[1:]
        try:
            forms = _CALLS.get(callee.attrs["value"])
        except TypeError:  # the constant has no hash
            return None
    else:
        forms, args = _CALLS.get(pyobject.MEANINGS[inst.attrs["function"]]), inst.args
    if forms is None or not args:
        return None
    operands: list[ir.Value] = []
    boxes: list[ir.Inst] = []
    for v in args:
        made = v.inst
        if inst.op in _OPS:
            operands.append(v)
            continue
        if made is None or made.op is not pyobject.PY_BOX and made.op is not control.CONST:
            return None
        if made.op is pyobject.PY_BOX:
            if uses[v] != [inst]:
                return None
            boxes.append(made)
            operands.append(made.args[0])
        else:
            operands.append(v)
    unbox = None
    for user in uses.get(inst.result, ()) if inst.op not in ANSWERS else ():
        if user.op is structure.DISCARD:
            continue
        if unbox is not None or user.op is not pyobject.PY_UNBOX:
            return None
        unbox = user
    for kinds, meaning in forms.items():
        if len(kinds) == len(operands) and _fits(kinds, operands) and (
                meaning[0] not in _COMPARES or _is_compared(operands[0].type.item)) and (
                meaning[0] not in _ORDERS or not k.any_part(operands[0].type.item, lambda t: type(t) in _NUMPY)):
            call = Call(inst, operands, boxes, unbox, meaning, kinds)
            return call if _result_fits(call, uses) else None
    return None


def repeated_item(call: Call, uses: dict[ir.Value, list[ir.Inst]]) -> ir.Value | None:
    """The item of `[x] * n`, where the list of one item has no other use; None for any other call."""
    made = call.operands[0].inst if call.name == "repeated" else None
    if made is None or made.op is not c.LIST_NEW or len(made.args) != 1 or len(uses[call.operands[0]]) != 1:
        return None
    return made.args[0]


def _result_fits(call: Call, uses: dict[ir.Value, list[ir.Inst]]) -> bool:
    wanted, unbox = call.result, call.unbox
    t: Any = unbox.result.type if unbox is not None else None
    if wanted in (NEW, SELF) and call.kinds[0] in "xq":
        return t is None and wanted == SELF or t is call.operands[0].type or (
            type(t) is List and repeated_item(call, uses) is not None)
    if wanted == NEW:
        return type(t) in LISTS and (call.kinds[0] == "e" or t.item is _yields(call.operands[0].type))
    if wanted == ITEM:
        return t is None or t is call.operands[0].type.item
    return t is None or t is wanted or call.inst.op in ANSWERS


def _fits(kinds: str, operands: list[ir.Value]) -> bool:
    first = operands[0].type
    for kind, v in zip(kinds, operands):
        t = plain_type(v)
        if kind in "xl":
            fine = type(t) is List and (kind == "x" or first is t or t.item is first.item)
        elif kind == "q":
            fine = type(t) is Deque
        elif kind in "ne":
            fine = t is k.NoneType if kind == "n" else t is _EMPTY
        elif kind == "y":
            fine = t is first
        elif kind == "i":
            fine = t is Int
        elif kind == "b":
            fine = t is Bool
        elif kind == "v":
            fine = True
        elif kind == "w":
            fine = _is_compared(t) and _is_compared(first.item)
        elif kind == "s":
            fine = isinstance(t, k.Slice) and all(part in (Int, k.NoneType) for part in t.parts)
        else:
            yielded = _yields(t)
            fine = yielded is not None and (type(first) not in LISTS or yielded is first.item)
        if not fine:
            return False
    return True


def _is_compared(t: Type | None) -> bool:
    return t in _SCALARS or type(t) in _NUMPY or isinstance(t, k.Tuple) and all(map(_is_compared, t.parts))


def is_moved(t: Type) -> bool:
    """Whether items of this type can be sorted by keys: they consist of whole words, and can be converted to Python
    objects for the interpreter, which sorts them where a key is a NaN."""
    return _is_compared(t) and (len(t.parts) > 1 if isinstance(t, k.Tuple) else t in (Int, k.Float, k.Str))


def _yields(t: Type | None) -> Type | None:
    """The item type of an iterable, if lists can be made natively from iterables of its kind; else None."""
    if isinstance(t, k.Tuple) and 0 < len(t.parts) <= _MOST and t.parts[0] in _SCALARS:
        return t.parts[0] if all([part is t.parts[0] for part in t.parts]) else None
    return t.item if type(t) is List else Int if t is k.Range else k.Str if t is k.Str else None


_MOST = 16  # the most items of a tuple that are stored in a list one by one


def plain_type(v: ir.Value) -> Type | None:
    """The type of a value; for a constant that was boxed, the type of the constant."""
    if v.type is k.Object and v.inst is not None and v.inst.op is control.CONST:
        return type_of_constant(v.inst.attrs["value"])
    return v.type


def type_of_constant(value) -> Type | None:
    return {int: Int, float: k.Float, bool: Bool, str: k.Str, type(None): k.NoneType}.get(type(value)) if (
        type(value) is not int or -1 << 63 <= value < 1 << 63) else None


def splits(inst: ir.Inst) -> bool:
    """Whether an instruction is text.split() into words, or at one known character."""
    callee = inst.args[0].inst if inst.op in SPLITTING else None
    if (callee is None or callee.op is not control.CONST or callee.attrs["value"] is not str.split
            or inst.attrs.get("kwnames") or inst.args[1].type is not k.Str or type(inst.result.type) is not List):
        return False
    mark = inst.args[-1].inst
    known = mark is not None and mark.op is control.CONST and mark.attrs["value"]
    return len(inst.args) == 2 or len(inst.args) == 3 and type(known) is str and len(known) == 1
