"""Containers of Python: lists, and what reads and changes them directly.

A container is the object of the interpreter. A load checks the index and the class of what it finds, whatever is
known: between any two operations a finalizer or the handler of a signal may change the container.
"""
from __future__ import annotations

from typing import Any

from ..ir.core import ALLOCATES, HOST, OBJECTS, RAISES, Op, reads, writes
from ..runtime import platform
from ..types.kinds import Int
from .effects import NO_RULE, NONDIFF
from .memory import MAX_BYTES, opened

__all__ = ["CONTAINER_OPS"]


def _stores_items(types, attrs):
    return [(attrs["type"], 0, t) for t in types]


def _list_new_lower(e, inst, *items):
    e.declare("declare ptr @PyList_New(i64)")
    boxed = [e.box(x.type, values, inst) for x, values in zip(inst.args, items)]
    made = e.assign(f"call ptr @PyList_New(i64 {len(items)})")
    e.check_null(made, inst)
    if boxed:
        table = _table(e, made)
        for k, pointer in enumerate(boxed):
            e.line(f"store ptr {pointer}, ptr {_slot(e, table, str(k))}, align 8")
    return [made]


def _table(e, x) -> str:
    """Pointer to the items of a list."""
    return e.assign(f"load ptr, ptr {e.assign(f'getelementptr i8, ptr {x}, i64 {platform.LIST_ITEMS}')}, align 8")


def _slot(e, table, i) -> str:
    return e.assign(f"getelementptr ptr, ptr {table}, i64 {i}")


def _len_lower(e, inst, x):
    where = e.assign(f"getelementptr i8, ptr {x[0]}, i64 {platform.OB_SIZE}")
    return [e.assign(f"load i64, ptr {where}, align 8, !range !2")]


def _index(e, inst, x, i, message) -> str:
    """The index counted from the front; IndexError outside."""
    size = _len_lower(e, inst, x)[0]
    inside = e.assign(f"icmp ult i64 {i}, {size}")
    here, cold, good = e.current, e.label("negative"), e.label("inside")
    e.branch(inside, good, cold, likely=True)
    e.start(cold)
    wrapped = e.assign(f"add i64 {i}, {size}")
    e.raise_unless(e.assign(f"icmp ult i64 {wrapped}, {size}"), inst, "IndexError", message)
    there = e.current
    e.jump(good)
    e.start(good)
    return e.phi("i64", [(i, here), (wrapped, there)])


def _get_lower(e, inst, x, i):
    where = _slot(e, _table(e, x[0]), _index(e, inst, x, i[0], "list index out of range"))
    return opened(e, inst, inst.result.type, e.assign(f"load ptr, ptr {where}, align 8"), "an item of a list")


def _set_lower(e, inst, x, i, value):
    boxed = e.box(inst.args[2].type, value, inst)
    at = _index_releasing(e, inst, x, i[0], boxed)
    where = _slot(e, _table(e, x[0]), at)
    old = e.assign(f"load ptr, ptr {where}, align 8")
    e.line(f"store ptr {boxed}, ptr {where}, align 8")
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {old})")
    return []


def _index_releasing(e, inst, x, i, boxed) -> str:
    """`_index` for a store: where it fails, the object that was to be stored is given up."""
    size = _len_lower(e, inst, x)[0]
    inside = e.assign(f"icmp ult i64 {i}, {size}")
    here, cold, bad, good = e.current, e.label("negative"), e.label("outside"), e.label("inside")
    e.branch(inside, good, cold, likely=True)
    e.start(cold)
    wrapped = e.assign(f"add i64 {i}, {size}")
    there = e.current
    e.branch(e.assign(f"icmp ult i64 {wrapped}, {size}"), good, bad, likely=True)
    e.start(bad)
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {boxed})")
    e.error(inst, "IndexError", "list assignment index out of range")
    e.start(good)
    return e.phi("i64", [(i, here), (wrapped, there)])


def _append_lower(e, inst, x, value):
    boxed = e.box(inst.args[1].type, value, inst)
    status = e.assign(f"call i32 {e.helper('pyj_list_append')}(ptr {x[0]}, ptr {boxed})")
    e.check_status(status, inst)
    return []


def _item(types, attrs) -> Any:
    return types[0].item


LIST_NEW = Op("list_new", lambda types, attrs: attrs["type"], RAISES | ALLOCATES | HOST, lower=_list_new_lower,
              stores=_stores_items, partials=NO_RULE, eval=lambda *items, type: list(items), eval_attrs=True,
              doc="list of {type} with these items")
LIST_LEN = Op("list_len", lambda types, attrs: Int, reads(OBJECTS) | HOST, lower=_len_lower, partials=NONDIFF, eval=len,
              bounds=(0, MAX_BYTES >> 3), doc="how many items a list has", cost=1)
LIST_GET = Op("list_get", _item, RAISES | ALLOCATES | reads(OBJECTS) | HOST, lower=_get_lower, partials=NO_RULE,
              eval=lambda x, i, *, anew=False: x[i], eval_attrs=True, cost=8,
              doc="item i of a list; {anew}: where it is of another class than this code was compiled for, the call is "
                  "made anew (passes/anew.py)")
LIST_SET = Op("list_set", lambda types, attrs: None, RAISES | writes(OBJECTS) | HOST, lower=_set_lower,
              stores=lambda types, attrs: [(types[0], 0, types[2])], partials=NO_RULE,
              eval=lambda x, i, value: x.__setitem__(i, value), doc="item i of a list is `value`", cost=8)
LIST_APPEND = Op("list_append", lambda types, attrs: None, RAISES | writes(OBJECTS) | HOST, lower=_append_lower,
                 stores=lambda types, attrs: [(types[0], 0, types[1])], partials=NO_RULE,
                 eval=lambda x, value: x.append(value), doc="one more item at the end of a list")
HOLDS = Op("holds", lambda types, attrs: types[0], 0, lower=lambda e, inst, x: x, partials=NO_RULE,
           eval=lambda x, *, item, parameter=0: x, eval_attrs=True,
           stores=lambda types, attrs: [(types[0], attrs.get("parameter", 0), attrs["item"])],
           doc="the container, which from here on may hold something of type {item}, as its {parameter}", cost=0)

CONTAINER_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
