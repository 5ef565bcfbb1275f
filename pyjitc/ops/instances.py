"""Native objects: objects of classes of the program that compiled code makes and that do not escape, as
`passes/natives.py` finds them.

A native object is a pointer to {i64 references, attributes}. Each component of an attribute has 8 bytes; an attribute
that is a native object or None is a single pointer. All attributes that code reads were stored before any code outside
of the class sees the object (passes/instances.py).
"""
from __future__ import annotations

from ..ir.core import ALLOCATES, CHEAP, ITEMS, MODERATE, PURE, RAISES, Op, reads, writes
from ..types.kinds import Bool, NoneType, Type, Union
from .effects import NO_RULE, NONDIFF
from .layouts import in_memory, other_than_none
from .memory import REPLACES, count_references

__all__ = ["INSTANCE_OPS"]


def _slots(e, inst, x):
    """(LLVM type in memory, pointer, kind of memory) of each component of an attribute."""
    at = 8
    for name, t in inst.args[0].type.attributes:
        parts = in_memory(e, t)
        if name == inst.attrs["name"]:
            return [("i8" if part == "i1" else part,
                     e.assign(f"getelementptr inbounds i8, ptr {x[0]}, i64 {at + 8 * k}"),
                     e.memory_kind(f"attribute {at + 8 * k} {part}")) for k, part in enumerate(parts)]
        at += 8 * len(parts)
    raise AssertionError(inst.attrs["name"])


def _load(e, inst, t: Type, x) -> list[str]:
    values = []
    for part, (kind, where, tag) in zip(in_memory(e, t), _slots(e, inst, x)):
        found = e.assign(f"load {kind}, ptr {where}, align 8{tag}")
        values.append(e.assign(f"icmp ne i8 {found}, 0") if part == "i1" else found)
    if other_than_none(t) is None:
        return values
    assert isinstance(t, Union)
    none = t.members.index(NoneType)
    is_none = e.assign(f"icmp eq ptr {values[0]}, null")
    return [e.assign(f"select i1 {is_none}, i16 {none}, i16 {1 - none}"), *values]


def _new_lower(e, inst):
    parts = [part for _, t in inst.attrs["type"].attributes for part in in_memory(e, t)]
    made = e.assign(f"call ptr {e.helper(f'pyj_native_make_{8 + 8 * len(parts)}')}()")
    e.check_null(made, inst)
    for k, part in enumerate(parts):  # the object may be released before all references are stored
        if part == "ptr":
            where = e.assign(f"getelementptr inbounds i8, ptr {made}, i64 {8 + 8 * k}")
            e.line(f"store ptr null, ptr {where}, align 8{e.memory_kind(f'attribute {8 + 8 * k} ptr')}")
    return [made]


def _get_lower(e, inst, x):
    t = inst.attrs["type"]
    values = _load(e, inst, t, x)
    if not inst.attrs.get("borrowed"):
        count_references(e, t, values, "retain")
    return values


def _put_lower(e, inst, x, value):
    """The previous value of the attribute is released last: that may run code of the program, which does not see the
    object."""
    t = inst.args[1].type
    old = _load(e, inst, t, x) if inst.op is INSTANCE_PUT else []
    count_references(e, t, value, "retain")
    stored = value if other_than_none(t) is None else value[1:]
    for part, v, (kind, where, tag) in zip(in_memory(e, t), stored, _slots(e, inst, x)):
        if part == "i1":
            v = e.assign(f"zext i1 {v} to i8")
        e.line(f"store {kind} {v}, ptr {where}, align 8{tag}")
    if old:
        count_references(e, t, old, "release")
    return []


def _typed(types, attrs):
    return attrs["type"]


def _nothing(types, attrs):
    return None


INSTANCE_NEW = Op("instance_new", _typed, RAISES | ALLOCATES, lower=_new_lower, partials=NO_RULE,
                  eval=lambda *, type: object.__new__(type.cls), eval_attrs=True,
                  doc="a new native object of {type}, whose attributes count as unset")
INSTANCE_LOAD = Op("instance_load", _typed, reads(ITEMS), lower=_get_lower, partials=NO_RULE, cost=MODERATE,
                   eval=lambda x, *, name, type: getattr(x, name), eval_attrs=True,
                   doc="read attribute {name}, a number of {type}, of a native object")
INSTANCE_AT = Op("instance_at", _typed, ALLOCATES | reads(ITEMS), lower=_get_lower, partials=NO_RULE, cost=MODERATE,
                 eval=lambda x, *, name, type, borrowed=False: getattr(x, name), eval_attrs=True,
                 doc="read attribute {name}, a value of {type} that holds references, of a native object; {borrowed}: "
                     "as in list_get")
INSTANCE_STORE = Op("instance_store", _nothing, writes(ITEMS), lower=_put_lower, partials=NO_RULE, cost=MODERATE,
                    eval=lambda x, value, *, name: object.__setattr__(x, name, value), eval_attrs=True,
                    doc="store `value`, a number, as attribute {name} of a native object")
INSTANCE_PUT = Op("instance_put", _nothing, REPLACES, lower=_put_lower, partials=NO_RULE,
                  eval=lambda x, value, *, name: object.__setattr__(x, name, value), eval_attrs=True,
                  doc="replace attribute {name} of a native object by `value`, which holds references")
INSTANCE_INIT = Op("instance_init", _nothing, writes(ITEMS), lower=_put_lower, partials=NO_RULE, cost=MODERATE,
                   eval=lambda x, value, *, name: object.__setattr__(x, name, value), eval_attrs=True,
                   doc="set attribute {name} of a native object to `value` for the first time")
INSTANCE_IS = Op("instance_is", lambda types, attrs: Bool, PURE, partials=NONDIFF, eval=lambda x, y: x is y, cost=CHEAP,
                 lower=lambda e, inst, x, y: [e.assign(f"icmp eq ptr {x[0]}, {y[0]}")],
                 doc="whether two native objects are the same object")

INSTANCE_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
