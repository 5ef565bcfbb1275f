"""Native lists and tables that a Python object owns: those of `pyjitc.typed`, which stay native between calls.

The class of the object has a slot, `SLOT`, with a capsule that leads to the native list or table. The capsule is made
once, never replaced, and has one reference; its destructor is in an image that is never unloaded. What compiled code
gets is borrowed from the object. The interpreter may change the container wherever it runs: in a call, a poll or a
release. The memory stays valid, since nothing shrinks a list and no instruction uses a length or a slot that was read
before.
"""
from __future__ import annotations

from typing import Any

from ..ir.core import ALLOCATES, EXPENSIVE, HOST, LOAD, OBJECTS, ONE_FOR_ALL, RAISES, TABLES, Op, reads, writes
from ..runtime.objects import slots_of
from ..types.kinds import Int, NativeList
from . import layouts
from . import localtables as tables
from .effects import NO_RULE, NONDIFF

__all__ = ["NATIVE", "OWNED_OPS", "SLOT"]

SLOT = "_native"
NATIVE = "native_type"  # the attribute of the class with the type of the native list or table
_POINTER = 16  # the offset of the pointer in a capsule


def _type(types, attrs) -> Any:
    return getattr(types[0].cls, NATIVE)


def _slot(e, inst, x) -> str:
    return e.assign(f"getelementptr i8, ptr {x[0]}, i64 {slots_of(inst.args[0].type.cls)[SLOT]}")


def _begin_lower(e, inst, x):
    t = _type([inst.args[0].type], {})
    slot = _slot(e, inst, x)
    with e.when(e.assign(f"icmp eq ptr {e.assign(f'load ptr, ptr {slot}, align 8')}, null"), "make"):
        if isinstance(t, NativeList):
            given = f"i64 {layouts.stride(e.components(t.item))}"
        else:
            given = f"i64 {8 * len(tables.words(e, t.of))}, i64 {tables.objects(e, t.of)}"
        kind, end = ("list", f"list_{layouts.layout(e, t.item)}") if isinstance(t, NativeList) else ("table", "table")
        end = e.lasting_helper(f"pyj_owned_end_{end}")
        e.check_status(e.assign(f"call i32 {e.helper(f'pyj_owned_{kind}')}(ptr {slot}, ptr {end}, {given})"), inst)
    return []


def _get_lower(e, inst, x):
    capsule = e.assign(f"load ptr, ptr {_slot(e, inst, x)}, align 8")
    there = e.assign(f"icmp ne ptr {capsule}, null")
    place = e.assign(f"select i1 {there}, ptr {e.assign(f'getelementptr i8, ptr {capsule}, i64 {_POINTER}')}, "
                     f"ptr {_nothing(e, inst.result.type)}")
    return [e.assign(f"load ptr, ptr {place}, align 8")]


def _nothing(e, t) -> str:
    """The symbol of a pointer to an empty list or table, for objects whose __init__ was not called."""
    own = "ptr getelementptr (i8, ptr {name}, i64 {offset})"
    if isinstance(t, NativeList):
        name = f"@owned.list.{layouts.stride(e.components(t.item))}"
        own = own.format(name=name, offset=layouts.HEAD)
        fields = ["i64 1", "i64 0", "i64 0", own, "ptr null", own, "ptr null", "[64 x i8] zeroinitializer"]
    else:
        words, objects = tables.words(e, t.of), tables.objects(e, t.of)
        name = f"@owned.table.{len(words)}.{objects}"
        own, end = (own.format(name=name, offset=at) for at in (tables.OWN, tables.OWN + 32))
        fields = ["i64 1", "i64 0", "i64 0", "i64 0", "i64 0", "i64 7", own, end, f"i64 {8 * len(words)}",
                  f"i64 {objects}", "ptr null", f"[8 x i32] [{', '.join(['i32 -1'] * 8)}]"]
    kinds = ", ".join([field.partition("]")[0] + "]" if field[0] == "[" else field.partition(" ")[0]
                       for field in fields])
    e.declare(f"{name} = internal global {{ {kinds} }} {{ {', '.join(fields)} }}, align 8")
    e.declare(f"{name}.at = internal global ptr {name}, align 8")
    return f"{name}.at"


def _next_lower(e, inst, x, at):
    given = f"ptr {x[0]}, i64 {at[0]}"
    return [e.assign(f"call i64 {e.helper('pyj_owned_next')}({given})")]


def _last_lower(e, inst, x):
    return [e.assign(f"call i64 {e.helper('pyj_owned_last')}(ptr {x[0]})")]


OWNED_BEGIN = Op("owned_begin", lambda types, attrs: None, RAISES | HOST | writes(OBJECTS), lower=_begin_lower,
                 partials=NO_RULE, eval=lambda x: None,
                 doc="give an object of pyjitc.typed its native list or table, unless it has one")
OWNED_GET = Op("owned_get", _type, HOST | reads(OBJECTS), lower=_get_lower, partials=NO_RULE, eval=lambda x: x,
               traits=LOAD | ONE_FOR_ALL, cost=EXPENSIVE, doc="the native list or table of an object of pyjitc.typed")

# A slot of a table of an object is only used by the instructions that follow at once, so it is never shared.
OWNED_SLOT = Op("owned_slot", tables.LOCAL_SLOT.rule, tables.LOCAL_SLOT.effects, lower=tables.LOCAL_SLOT.lower,
                partials=NONDIFF, eval=tables.LOCAL_SLOT.eval,
                doc="as local_slot, in a table that the interpreter may change")
OWNED_NEXT = Op("owned_next", lambda types, attrs: Int, reads(TABLES), lower=_next_lower, partials=NONDIFF,
                eval=lambda x, at: at if at < len(x) else -1,
                doc="the first slot of a table from `at` on that has a key, -1 where there is none")
OWNED_LAST = Op("owned_last", lambda types, attrs: Int, reads(TABLES) | writes(TABLES), lower=_last_lower,
                partials=NONDIFF, eval=lambda x: len(x) - 1,
                doc="the last slot of a table that has a key, -1 where there is none")
OWNED_KEY = Op("owned_key", lambda types, attrs: tables.key_type(types[0].of), ALLOCATES | reads(TABLES),
               lower=lambda e, inst, x, slot: tables.key_at(e, inst, x, slot), partials=NO_RULE,
               eval=lambda x, slot: list(x)[slot], doc="the key in a slot of a table")

OWNED_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
