"""Native lists: lists that compiled code makes and that do not escape, as `passes/natives.py` finds them.

A native list is a pointer to a head (ops/layouts.py); its items are contiguous and unboxed. Only compiled code changes
it, so that a length or an item that was loaded remains valid until an instruction writes it.
"""
from __future__ import annotations

from ..ir.core import (ALLOCATES, CHEAP, EXPENSIVE, HOST, ITEMS, LISTS, MAKES_TEXT, MODERATE, OBJECTS,
                       ONLY_MEMORY_ERROR, PURE, RAISES, TABLES, Op, reads, writes)
from ..runtime import platform
from ..types.kinds import (
    Bool, Bytes, Complex, Composite, Container, Float, Int, List, NativeList, NativeObject, NoneType, NpBool, NpFloat,
    NpInt, NpComplex, NpTime, Object, ObjectOf, Str, Tag, Tuple, Type, Union, is_refcounted,
)
from .effects import NO_RULE, NONDIFF
from .layouts import BASE, DATA, LENGTH, OBJECT, ROOM, stride
from .memory import MAX_BYTES, REPLACES, count_references
from .sorting import key_parts, start_of_keys

__all__ = ["NATIVE_OPS", "QUIET", "can_hold", "outside"]

def can_hold(t: Type) -> bool:
    """Whether items of a native list may have type t: numbers, texts and other Python objects, and tuples and unions of
    these."""
    if isinstance(t, NativeList):
        return can_hold(t.item)
    if t.parts is not None:
        return (len(t.parts) <= _MOST_PARTS and (isinstance(t, Union) or isinstance(t, Composite) and t.joins)
                and all(map(can_hold, t.parts)))
    return t in _OPEN or type(t) in _NUMBERS or isinstance(t, (Container, ObjectOf, NativeObject))


_MOST_PARTS = 8
# allocating their objects does not run the garbage collector
QUIET = frozenset((Int, Float, Bool, NoneType, Str, Bytes, Object))
_OPEN = frozenset((Int, Float, Bool, Complex, NoneType, Str, Bytes, Object, NpBool))
_NUMBERS = frozenset((NpInt, NpFloat, NpComplex, NpTime, type(Tag)))


def _field(e, head, offset, kind, name) -> str:
    return e.assign(f"load {kind}, ptr {_at(e, head, offset)}, align 8{e.memory_kind(name)}")


def _put_field(e, head, offset, value, name) -> None:
    e.line(f"store {value}, ptr {_at(e, head, offset)}, align 8{e.memory_kind(name)}")


def _at(e, pointer, offset) -> str:
    return e.assign(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer


def _length(e, head) -> str:
    return e.assign(f"load i64, ptr {_at(e, head, LENGTH)}, align 8, !range !2{e.memory_kind('length')}")


def _items(e, head) -> str:
    return _field(e, head, DATA, "ptr", "items")


def _room(e, head) -> str:
    return _field(e, head, ROOM, "i64", "room")


def _slots(e, t, data, i):
    """(LLVM type in memory, pointer) of each component of item i."""
    parts = e.components(t)
    if len(parts) == 1:
        kind = "i8" if parts[0] == "i1" else parts[0]
        return [(kind, e.assign(f"getelementptr inbounds {kind}, ptr {data}, i64 {i}"))]
    base = e.assign(f"getelementptr inbounds [{len(parts)} x i64], ptr {data}, i64 {i}") if parts else data
    return [("i8" if part == "i1" else part, _at(e, base, 8 * k)) for k, part in enumerate(parts)]


def _load(e, t, data, i) -> list[str]:
    values = []
    for part, (kind, where) in zip(e.components(t), _slots(e, t, data, i)):
        x = e.assign(f"load {kind}, ptr {where}{e.memory_kind(kind)}")
        values.append(e.assign(f"icmp ne i8 {x}, 0") if part == "i1" else x)
    return values


def _store(e, t, data, i, values) -> None:
    for part, x, (kind, where) in zip(e.components(t), values, _slots(e, t, data, i)):
        if part == "i1":
            x = e.assign(f"zext i1 {x} to i8")
        e.line(f"store {kind} {x}, ptr {where}{e.memory_kind(kind)}")


def _item(inst) -> Type:
    return inst.args[0].type.item


def _made(e, inst, t, length, room) -> str:
    """A new list with the given length and memory for `room` items."""
    size = stride(e.components(t.item))
    head = e.assign(f"call ptr {e.helper('pyj_native_new')}(i64 {length}, i64 {room}, i64 {size})")
    e.check_null(head, inst)
    return head


def _new_lower(e, inst, *items):
    t = inst.attrs["type"]
    head = _made(e, inst, t, len(items), len(items))
    if items:
        data = _items(e, head)
        for k, values in enumerate(items):
            count_references(e, t.item, values, "retain")
            _store(e, t.item, data, k, values)
    return [head]


def _room_lower(e, inst, n):
    room = e.assign(f"call i64 @llvm.smax.i64(i64 {n[0]}, i64 0)")
    return [_made(e, inst, inst.attrs["type"], 0, room)]


def _filled_lower(e, inst, value, n):
    t = inst.attrs["type"]
    n = e.assign(f"call i64 @llvm.smax.i64(i64 {n[0]}, i64 0)")
    head = _made(e, inst, t, n, n)
    data, place = _items(e, head), e.alloca("i64")
    loop, body, done = e.label("fill"), e.label("item"), e.label("filled")
    e.line(f"store i64 0, ptr {place}")
    e.jump(loop)
    e.start(loop)
    i = e.assign(f"load i64, ptr {place}")
    e.branch(e.assign(f"icmp ult i64 {i}, {n}"), body, done)
    e.start(body)
    count_references(e, t.item, value, "retain")
    _store(e, t.item, data, i, value)
    e.line(f"store i64 {e.assign(f'add nuw nsw i64 {i}, 1')}, ptr {place}")
    e.jump(loop)
    e.start(done)
    return [head]


def _size_lower(e, inst, x):
    return [_length(e, x[0])]


def _sort_lower(e, inst, x, backwards):
    parts = e.components(inst.args[0].type.item)
    return _sorted(e, x[0], len(parts), "null", parts, backwards[0])


def _sort_by_lower(e, inst, x, keys, like, backwards):
    size = stride(e.components(inst.args[0].type.item)) >> 3
    parts = ["double" if part is Float else "i64" for part in key_parts(inst.args[2].type)]
    return _sorted(e, x[0], size, start_of_keys(e, keys), parts, backwards[0])


def _sorted(e, x: str, size: int, keys: str, parts, backwards: str) -> list[str]:
    """Sort a list of items of `size` words by keys with parts of these LLVM types. Returns an i1: whether the list was
    sorted."""
    floats = sum(1 << n for n, part in enumerate(parts) if part == "double")
    flip = e.assign(f"sext i1 {backwards} to i64")
    status = e.assign(f"call i32 {e.helper('pyj_sort_native')}(ptr {_items(e, x)}, i64 {_length(e, x)}, i64 {size}, "
                      f"ptr {keys}, i64 {len(parts)}, i64 0, i64 {floats}, i64 {flip})")
    return [e.assign(f"icmp eq i32 {status}, 0")]


def _sort_as_python_lower(e, inst, x, backwards):
    status = e.assign(f"call i32 {e.helper('pyj_sort_as_python')}(ptr {_items(e, x[0])}, i64 {_length(e, x[0])}, "
                      f"i1 {backwards[0]})")
    e.check_status(status, inst)
    return []


def _python_sort(x, backwards):
    x.sort(reverse=backwards)
    return True


def _python_sort_by(x, keys, like, backwards):
    following = iter(keys)
    x.sort(key=lambda item: next(following)[0], reverse=backwards)
    return True


def _at_lower(e, inst, x, i):
    t = _item(inst)
    values = _load(e, t, _items(e, x[0]), i[0])
    if not inst.attrs.get("borrowed"):
        count_references(e, t, values, "retain")
    return values


def _put_lower(e, inst, x, i, value):
    """Release the previous item last, since that may run code of the program, which cannot access the list."""
    t = _item(inst)
    data = _items(e, x[0])
    old = _load(e, t, data, i[0]) if is_refcounted(t) else []
    count_references(e, t, value, "retain")
    _store(e, t, data, i[0], value)
    if old:
        count_references(e, t, old, "release")
    return []


def _push_lower(e, inst, x, value):
    t, head = _item(inst), x[0]
    length = _length(e, head)
    room = _room(e, head)
    with e.unless(e.assign(f"icmp slt i64 {length}, {room}"), "grow", likely=False):
        status = e.assign(f"call i32 {e.helper('pyj_native_grow')}(ptr {head}, i64 {stride(e.components(t))})")
        e.check_status(status, inst)
    count_references(e, t, value, "retain")
    _store(e, t, _items(e, head), length, value)
    _put_field(e, head, LENGTH, f"i64 {e.assign(f'add nuw nsw i64 {length}, 1')}", "length")
    return []


def _take_lower(e, inst, x):
    t, head = _item(inst), x[0]
    length = _length(e, head)
    e.raise_unless(e.assign(f"icmp ne i64 {length}, 0"), inst, "IndexError", "pop from empty list")
    last = e.assign(f"add nsw i64 {length}, -1")
    values = _load(e, t, _items(e, head), last)
    _put_field(e, head, LENGTH, f"i64 {last}", "length")
    return values


def _shift_lower(e, inst, x):
    t, head = _item(inst), x[0]
    length, data = _length(e, head), _items(e, head)
    values = _load(e, t, data, 0)
    _put_field(e, head, DATA, f"ptr {_at(e, data, stride(e.components(t)))}", "items")
    _put_field(e, head, LENGTH, f"i64 {e.assign(f'add nsw i64 {length}, -1')}", "length")
    _put_field(e, head, ROOM, f"i64 {e.assign(f'add nsw i64 {_room(e, head)}, -1')}", "room")
    return values


def _unshift_lower(e, inst, x, value):
    t, head = _item(inst), x[0]
    size = stride(e.components(t))
    free = e.assign(f"icmp ne ptr {_items(e, head)}, {_field(e, head, BASE, 'ptr', 'items')}")
    with e.unless(free, "front", likely=False):
        e.check_status(e.assign(f"call i32 {e.helper('pyj_native_front')}(ptr {head}, i64 {size})"), inst)
    count_references(e, t, value, "retain")
    data = _at(e, _items(e, head), -size)
    _store(e, t, data, 0, value)
    _put_field(e, head, DATA, f"ptr {data}", "items")
    _put_field(e, head, LENGTH, f"i64 {e.assign(f'add nsw i64 {_length(e, head)}, 1')}", "length")
    _put_field(e, head, ROOM, f"i64 {e.assign(f'add nsw i64 {_room(e, head)}, 1')}", "room")
    return []


def _places_lower(e, inst, s, *bounds):
    mark = inst.attrs["mark"]
    helper = e.helper("pyj_native_words" if mark is None else "pyj_native_fields")
    length = e.assign(f"load i64, ptr {_at(e, s[0], platform.STR['length'])}, align 8") if not bounds else None
    start, end = (at[0] for at in bounds) if bounds else (0, length)
    found = e.assign(f"call ptr {helper}(ptr {s[0]}, i32 {0 if mark is None else ord(mark)}, i64 {start}, i64 {end})")
    e.check_null(found, inst)
    return [found]


def _piece_lower(e, inst, x, i):
    found = e.assign(f"call ptr {e.helper('pyj_native_piece')}(ptr {x[0]}, i64 {i[0]})")
    e.check_null(found, inst)
    return [found]


def _bounds_lower(e, inst, x, i, *of):
    return _load(e, inst.result.type, _items(e, x[0]), i[0])


def _lift_lower(e, inst, x, i):
    return _load(e, _item(inst), _items(e, x[0]), i[0])


def _cut_lower(e, inst, x, n):
    _put_field(e, x[0], LENGTH, f"i64 {n[0]}", "length")
    return []


def _copy_lower(e, inst, x, start, n):
    t = inst.args[0].type
    head = _made(e, inst, t, n[0], n[0])
    size = stride(e.components(t.item))
    offset = e.assign(f"mul i64 {start[0]}, {size}")
    source = e.assign(f"getelementptr inbounds i8, ptr {_items(e, x[0])}, i64 {offset}")
    e.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {_items(e, head)}, ptr {source}, i64 "
           f"{e.assign(f'mul i64 {n[0]}, {size}')}, i1 false)")
    return [head]


def _spread_lower(e, inst, x, at, by):
    """Move the items from index `at` on by `by` places. The items in the gap are then uninitialised."""
    t, head = _item(inst), x[0]
    status = e.assign(f"call i32 {e.helper('pyj_native_spread')}(ptr {head}, i64 {at[0]}, i64 {by[0]}, "
                      f"i64 {stride(e.components(t))})")
    e.check_status(status, inst)
    return []


def _set_lower(e, inst, x, i, value):
    t = _item(inst)
    count_references(e, t, value, "retain")
    _store(e, t, _items(e, x[0]), i[0], value)
    return []


def _left_lower(e, inst, x):
    return [e.assign(f"icmp ne ptr {_field(e, x[0], OBJECT, 'ptr', 'object')}, null")]


def _outside_lower(e, inst, x):
    found = _field(e, x[0], OBJECT, "ptr", "object")
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {found})")
    return [found]


def _leave_lower(e, inst, x, made):
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {made[0]})")
    _put_field(e, x[0], OBJECT, f"ptr {made[0]}", "object")
    return []


def _blank_lower(e, inst, x):
    made = e.assign(f"call ptr @PyList_New(i64 {_length(e, x[0])})")
    e.check_null(made, inst)
    return [made]


def _begin_lower(e, inst, x, i, value):
    boxed = e.box(inst.args[2].type, value, inst)
    table = e.assign(f"load ptr, ptr {_at(e, x[0], platform.LIST_ITEMS)}, align 8")
    e.line(f"store ptr {boxed}, ptr {e.assign(f'getelementptr ptr, ptr {table}, i64 {i[0]}')}, align 8")
    return []


def _typed(types, attrs):
    return attrs["type"]


def _same(types, attrs):
    return types[0]


def _item_rule(types, attrs):
    return types[0].item


def _nothing(types, attrs):
    return None


def outside(t: Type) -> Type:
    """The type of a value of type t after it has escaped from compiled code."""
    return List(outside(t.item)) if isinstance(t, NativeList) else t


def _spread(x, at, by):
    if by < 0:
        del x[at + by:at]
    else:
        x[at:at] = [None] * by


def _bounds(parts, i, s, at=0, *, mark):
    for n, part in enumerate(parts):
        at = s.index(part, at)
        if n == i:
            return at, at + len(part)
        at += len(part) + len(mark or "")
    raise IndexError


_CHANGES = writes(LISTS, ITEMS)
NATIVE_NEW = Op("native_new", _typed, RAISES | ALLOCATES, lower=_new_lower, partials=NO_RULE,
                eval=lambda *items, type: list(items), eval_attrs=True,
                doc="a new native list of {type} with these items")
NATIVE_ROOM = Op("native_room", _typed, RAISES | ALLOCATES, lower=_room_lower, partials=NO_RULE,
                 eval=lambda n, *, type: [], eval_attrs=True,
                 doc="an empty native list of {type}, with room for `n` items")
NATIVE_FILLED = Op("native_filled", _typed, RAISES | ALLOCATES, lower=_filled_lower, partials=NO_RULE,
                   eval=lambda value, n, *, type: [value] * n, eval_attrs=True,
                   doc="a native list of {type} with `value` n times")
NATIVE_COPY = Op("native_copy", _same, RAISES | ALLOCATES | reads(LISTS, ITEMS), lower=_copy_lower, partials=NO_RULE,
                 eval=lambda x, start, n: x[start:start + n],
                 doc="a native list with `n` items of another one from index `start` on; the items exist and are "
                     "numbers")
NATIVE_LEN = Op("native_len", lambda types, attrs: Int, reads(LISTS), lower=_size_lower, partials=NONDIFF, eval=len,
                bounds=(0, MAX_BYTES >> 3), doc="the number of items of a native list", cost=CHEAP)
NATIVE_SIZE = Op("native_size", lambda types, attrs: Int, PURE, lower=_size_lower, partials=NONDIFF, eval=len,
                 bounds=(0, MAX_BYTES >> 3), doc="the number of items of a native list whose length never changes",
                 cost=CHEAP)
NATIVE_LOAD = Op("native_load", _item_rule, reads(ITEMS), lower=_at_lower, partials=NO_RULE,
                 eval=lambda x, i: x[i], cost=MODERATE, doc="read item i of a native list of numbers; the item exists")
NATIVE_STORE = Op("native_store", _nothing, writes(ITEMS), lower=_put_lower, partials=NO_RULE,
                  eval=lambda x, i, value: x.__setitem__(i, value), cost=MODERATE,
                  doc="store `value` as item i of a native list of numbers; the item exists")
NATIVE_AT = Op("native_at", _item_rule, ALLOCATES | reads(ITEMS), lower=_at_lower, partials=NO_RULE,
               eval=lambda x, i, *, borrowed=False: x[i], eval_attrs=True, cost=MODERATE,
               doc="read item i of a native list whose items hold references; the item exists; {borrowed}: as in "
                   "list_get")
NATIVE_PUT = Op("native_put", _nothing, REPLACES, lower=_put_lower, partials=NO_RULE,
                eval=lambda x, i, value: x.__setitem__(i, value), cost=EXPENSIVE,
                doc="replace item i of a native list whose items hold references by `value`; the item exists")
NATIVE_SORT = Op("native_sort", lambda types, attrs: Bool, reads(LISTS) | writes(ITEMS), lower=_sort_lower,
                 partials=NO_RULE, eval=_python_sort,
                 doc="sort a native list of ints, floats, or tuples of several of these, without nan, and return "
                     "whether that was possible; the list is unchanged where memory is exhausted")
NATIVE_SORT_AS_PYTHON = Op(
    "native_sort_as_python", _nothing, RAISES | reads(LISTS) | writes(ITEMS), lower=_sort_as_python_lower,
    partials=NO_RULE, eval=lambda x, backwards: x.sort(reverse=backwards),
    doc="sort a native list of floats of 64 bits, some of which are nan, by the interpreter's comparisons")
NATIVE_SORT_BY = Op("native_sort_by", lambda types, attrs: Bool, reads(LISTS, TABLES) | writes(ITEMS),
                    lower=_sort_by_lower, partials=NO_RULE, eval=_python_sort_by,
                    doc="sort a native list, whose items are whole words, by as many keys of the type of the third "
                        "operand, and return whether that was possible; the list is unchanged where a key is nan or "
                        "memory is exhausted")
NATIVE_INIT = Op("native_init", _nothing, writes(ITEMS), lower=_set_lower, partials=NO_RULE,
                 eval=lambda x, i, value: x.__setitem__(i, value),
                 doc="store `value` in the unset place i of a native list")
NATIVE_PUSH = Op("native_push", _nothing, RAISES | _CHANGES, lower=_push_lower, partials=NO_RULE,
                 eval=lambda x, value: x.append(value), doc="append an item to a native list",
                 cost=EXPENSIVE)
NATIVE_TAKE = Op("native_take", _item_rule, RAISES | ALLOCATES | reads(ITEMS) | writes(LISTS), lower=_take_lower,
                 partials=NO_RULE, eval=lambda x: x.pop(), doc="remove the last item of a native list and return it",
                 cost=EXPENSIVE)
NATIVE_SHIFT = Op("native_shift", _item_rule, ALLOCATES | reads(ITEMS) | _CHANGES, lower=_shift_lower,
                  partials=NO_RULE, eval=lambda x: x.pop(0), cost=EXPENSIVE,
                  doc="remove the first item of a native list, which exists, and return it")
NATIVE_UNSHIFT = Op("native_unshift", _nothing, RAISES | _CHANGES, lower=_unshift_lower, partials=NO_RULE,
                    eval=lambda x, value: x.insert(0, value), cost=EXPENSIVE,
                    doc="insert an item before the first one of a native list")
NATIVE_LIFT = Op("native_lift", _item_rule, ALLOCATES | reads(ITEMS) | writes(ITEMS), lower=_lift_lower,
                 partials=NO_RULE, eval=lambda x, i: x[i], cost=MODERATE,
                 doc="take item i out of a native list; the item exists, and its place counts as unset afterwards")
NATIVE_IS = Op("native_is", lambda types, attrs: Bool, PURE, partials=NONDIFF, eval=lambda x, y: x is y, cost=CHEAP,
               lower=lambda e, inst, x, y: [e.assign(f"icmp eq ptr {x[0]}, {y[0]}")],
               doc="whether two native lists are the same list")
NATIVE_CUT = Op("native_cut", _nothing, writes(LISTS), lower=_cut_lower, partials=NO_RULE,
                eval=lambda x, n: x.__delitem__(slice(n, None)),
                doc="remove all but the first `n` items of a native list of numbers", cost=CHEAP)
NATIVE_SPREAD = Op("native_spread", _nothing, RAISES | _CHANGES, lower=_spread_lower, partials=NO_RULE, eval=_spread,
                   doc="move the items of a native list from index `at` on by `by` places; where `by` is negative, "
                       "they overwrite items that are numbers")
NATIVE_LEFT = Op("native_left", lambda types, attrs: Bool, reads(LISTS), lower=_left_lower, partials=NONDIFF,
                 eval=lambda x: False, doc="whether a native list has been converted to a Python list")
NATIVE_OUTSIDE = Op("native_outside", lambda types, attrs: outside(types[0]), ALLOCATES | reads(LISTS) | HOST,
                    lower=_outside_lower, partials=NO_RULE, eval=lambda x: x,
                    doc="the Python list to which a native list has been converted")
NATIVE_LEAVE = Op("native_leave", _nothing, writes(LISTS) | HOST, lower=_leave_lower, partials=NO_RULE,
                  eval=lambda x, made: None, doc="record that a native list has been converted to the Python list "
                                                 "`made`")
NATIVE_PLACES = Op("native_places", lambda types, attrs: NativeList(Tuple((Int, Int))), RAISES | ALLOCATES | HOST,
                   lower=_places_lower, partials=NONDIFF, eval_attrs=True,
                   eval=lambda s, *bounds, mark: s[slice(*bounds) if bounds else slice(None)].split(mark),
                   doc="the positions of the parts into which str.split splits a text; of s[i:j], if i and j are "
                       "given; {mark}: the separator, or None for words")
NATIVE_PIECE = Op("native_piece", lambda types, attrs: Str, RAISES | ALLOCATES | reads(ITEMS) | HOST,
                  lower=_piece_lower, partials=NONDIFF, eval=lambda x, i: x[i],
                  doc="the text of part i of a text; native_places has found the parts, and the part exists",
                  traits=ONLY_MEMORY_ERROR | MAKES_TEXT)
NATIVE_BOUNDS = Op("native_bounds", lambda types, attrs: Tuple((Int, Int)), reads(ITEMS), lower=_bounds_lower,
                   partials=NONDIFF, eval=_bounds, eval_attrs=True, cost=MODERATE,
                   doc="where part i of a text begins and ends; native_places has found the parts for {mark}, from a "
                       "position on if one is given, and the part exists")
LIST_BLANK = Op("list_blank", lambda types, attrs: outside(types[0]), RAISES | ALLOCATES | HOST | reads(LISTS),
                lower=_blank_lower, partials=NO_RULE, eval=lambda x: [None] * len(x),
                doc="a Python list as long as a native list, with empty places that list_begin fills")
LIST_BEGIN = Op("list_begin", _nothing, RAISES | writes(OBJECTS) | HOST, lower=_begin_lower, partials=NO_RULE,
                eval=lambda x, i, value: x.__setitem__(i, value),
                doc="store `value` in the empty place i of a Python list")

NATIVE_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
