"""Python's containers: lists, and the operations that read and change them directly.

A container is the Python object. A load always checks the index and the class of the item, whatever is known: between
any two operations a finalizer or the handler of a signal may change the container.
"""
from __future__ import annotations

import heapq
from typing import Any

from ..ir.core import (ALLOCATES, BOXES, CHEAP, ELEMENTS, HOST, KEEPS_NONE, LOAD_OF_NUMBERS, NEW_OBJECT, OBJECTS,
                       RAISES, READS, STORES_ITEM, WRITES, WRITES_FIRST, WRITES_OPERANDS, Op, reads, writes)
from ..runtime import platform
from ..types.kinds import Bool, Bytes, Container, Float, Int, List, NoneType, Object, Str, Tuple, TupleOf
from .effects import NO_RULE, NONDIFF
from .memory import MAX_BYTES, opened
from .pyobject import is_object
from .sorting import are_numbers, put_key, sorted_by_keys

__all__ = ["CONTAINER_OPS"]


def _stores_items(types, attrs):
    return [(attrs["type"], 0, t) for t in types]


_CONSTANTS = 4  # the fewest items for which a list of constants is made from a constant tuple, as the interpreter does


def _list_new_lower(e, inst, *items):
    if len(items) >= _CONSTANTS and all(map(is_object, inst.args)):
        constants = e.object(tuple(x.inst.attrs["value"] for x in inst.args))
        made = e.assign(f"call ptr @PySequence_List(ptr {constants})")
        e.check_null(made, inst)
        return [made]
    boxed = [e.box(x.type, values, inst) for x, values in zip(inst.args, items)]
    made = e.assign(f"call ptr @PyList_New(i64 {len(items)})")
    e.check_null(made, inst)
    if boxed:
        table = _table(e, made)
        for k, pointer in enumerate(boxed):
            e.line(f"store ptr {pointer}, ptr {_slot(e, table, str(k))}, align 8")
    return [made]


def _table(e, x, t=None) -> str:
    """The pointer to the items of a list, or of a tuple where t, the type of x, is TupleOf or Object."""
    if isinstance(t, TupleOf) or t is Object:
        return _at(e, x, platform.TUPLE_ITEMS)
    return e.assign(f"load ptr, ptr {_at(e, x, platform.LIST_ITEMS)}, align 8")


def _slot(e, table, i) -> str:
    return e.assign(f"getelementptr ptr, ptr {table}, i64 {i}")


def _len_lower(e, inst, x):
    return [e.assign(f"load i64, ptr {_at(e, x[0], platform.OB_SIZE)}, align 8, !range !2")]


def _index(e, inst, x, i, message) -> str:
    """The index counted from the front; IndexError outside."""
    size = _len_lower(e, inst, x)[0]
    inside = e.assign(f"icmp ult i64 {i}, {size}")
    here = e.current
    with e.unless(inside, "negative", likely=False):
        wrapped = e.assign(f"add i64 {i}, {size}")
        e.raise_unless(e.assign(f"icmp ult i64 {wrapped}, {size}"), inst, "IndexError", message)
        there = e.current
    return e.phi("i64", [(i, here), (wrapped, there)])


def _get_lower(e, inst, x, i):
    t = inst.args[0].type
    name = t.python_class.__name__
    where = _slot(e, _table(e, x[0], t), _index(e, inst, x, i[0], f"{name} index out of range"))
    return opened(e, inst, inst.result.type, e.assign(f"load ptr, ptr {where}, align 8"), f"an item of a {name}")


def _width_lower(e, inst, x):
    return [e.assign(f"call i64 {e.helper('pyj_holds_width')}(ptr {x[0]}, ptr {e.external('PyList_Type')})")]


def _copied_lower(e, inst, x, to):
    item, ndim = inst.attrs["item"], inst.args[1].type.ndim
    name = f"pyj_holds_{'rows' if ndim == 2 else 'copy'}_{item}"
    shape = ", ".join(f"i64 {n}" for n in to[2:2 + ndim])
    classes = ["PyFloat_Type" if item is Float else "PyLong_Type", "PyList_Type"][:ndim]
    held = e.assign(f"call i1 {e.helper(name)}(ptr {x[0]}, ptr {to[0]}, {shape}, "
                    f"{', '.join(f'ptr {e.external(cls)}' for cls in classes)})")
    same = e.assign(f"icmp eq i64 {_len_lower(e, inst, x)[0]}, {to[2]}")
    return [e.assign(f"and i1 {same}, {held}")]


def _copied(x, to, *, item):
    rows = x if to.ndim == 2 else [x]
    if len(x) != len(to) or any(type(row) is not list or len(row) != to.shape[-1] for row in rows):
        return False
    numbers = [number for row in rows for number in row]
    if any(type(number) is not (float if item is Float else int) for number in numbers):
        return False
    if item is Int and any(not -1 << 63 <= number < 1 << 63 for number in numbers):
        return False
    to.reshape(-1)[:] = numbers
    return True


def _apart_lower(e, inst, x, y):
    deep = [str(isinstance(arg.type.item, List)).lower() for arg in inst.args]
    return [e.assign(f"call i1 {e.helper('pyj_holds_apart')}(ptr {x[0]}, i1 {deep[0]}, ptr {y[0]}, i1 {deep[1]}, "
                     f"i1 {str(inst.attrs['itself']).lower()})")]


def _apart(x, y, *, itself):
    xs, ys = ([id(row) for row in one] if one and type(one[0]) is list else [id(one)] for one in (x, y))
    return len({*xs}) == len(xs) if itself else {*xs}.isdisjoint(ys)


def _object_lower(e, inst, x, i):
    """The object at an index at which an item was loaded."""
    wrapped = e.assign(f"add i64 {i[0]}, {_len_lower(e, inst, x)[0]}")
    at = e.assign(f"select i1 {e.assign(f'icmp slt i64 {i[0]}, 0')}, i64 {wrapped}, i64 {i[0]}")
    item = e.assign(f"load ptr, ptr {_slot(e, _table(e, x[0], inst.args[0].type), at)}, align 8")
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {item})")
    return [item]


def _tuple_like_lower(e, inst, x, n):
    e.declare("declare ptr @PyTuple_New(i64)")
    made = e.assign(f"call ptr @PyTuple_New(i64 {n[0]})")
    e.check_null(made, inst)
    return [made]


def _tuple_put_lower(e, inst, made, k, x, i):
    item = _object_lower(e, inst, x, i)[0]
    e.line(f"store ptr {item}, ptr {_slot(e, _table(e, made[0], inst.args[0].type), k[0])}, align 8")
    return []


def _tuple_from_lower(e, inst, x, first):
    if isinstance(inst.args[0].type, TupleOf):
        e.declare("declare ptr @PyTuple_GetSlice(ptr, i64, i64)")
        made = e.assign(f"call ptr @PyTuple_GetSlice(ptr {x[0]}, i64 {first[0]}, i64 {MAX_BYTES})")
    else:
        made = e.assign(f"call ptr {e.helper('pyj_tuple_from')}(ptr {x[0]}, i64 {first[0]})")
    e.check_null(made, inst)
    return [made]


def _set_lower(e, inst, x, i, value):
    """The object of the previous item is overwritten if nothing else refers to it: a float by a float, an int of one
    digit by another such int. Otherwise a new object replaces it, and it is released last, since its release may run
    code of the program."""
    t = inst.args[2].type
    at = _index(e, inst, x, i[0], "list assignment index out of range")
    where = _slot(e, _table(e, x[0]), at)
    done = e.label("stored")
    if t is Float or t is Int:
        old = e.assign(f"load ptr, ptr {where}, align 8")
        own, new = e.label("own"), e.label("new")
        alone = e.assign(f"icmp eq i64 {e.assign(f'load i64, ptr {old}, align 8')}, 1")
        cls = e.assign(f"load ptr, ptr {_at(e, old, platform.OB_TYPE)}, align 8")
        same = e.assign(f"icmp eq ptr {cls}, {e.external('PyFloat_Type' if t is Float else 'PyLong_Type')}")
        fits = e.assign(f"and i1 {alone}, {same}")
        if t is Int:
            fits = e.assign(f"and i1 {fits}, {_is_digit(e, old, value[0])}")
        e.branch(fits, own, new, likely=True)
        e.start(own)
        if t is Float:
            e.line(f"store double {value[0]}, ptr {_at(e, old, platform.FLOAT_VALUE)}, align 8")
        else:
            _put_digit(e, old, value[0])
        e.jump(done)
        e.start(new)
    boxed = e.box(t, value, inst)
    if not _is_quiet(t):
        where = _slot(e, _table(e, x[0]), _index_releasing(e, inst, x, i[0], boxed))
    old = e.assign(f"load ptr, ptr {where}, align 8")
    e.line(f"store ptr {boxed}, ptr {where}, align 8")
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {old})")
    e.jump(done)
    e.start(done)
    return []


def _is_quiet(t) -> bool:
    """Whether boxing a value of type t never runs code of the program."""
    return t in (Int, Float, Bool, NoneType, Str, Bytes, Object) or isinstance(t, Container)


def _at(e, pointer, offset) -> str:
    return e.assign(f"getelementptr i8, ptr {pointer}, i64 {offset}")


_DIGIT = (1 << 30) - 1
_SMALL = 256  # the interpreter has one object for each int up to this


def _is_digit(e, old, value) -> str:
    """i1: whether the int in the object `old` and the int `value` have one digit each, and `value` is no small int, of
    which the interpreter has one shared object."""
    tag = e.assign(f"load i64, ptr {_at(e, old, platform.LONG_TAG)}, align 8")
    if platform.LONG_TAGGED:
        one = e.assign(f"icmp eq i64 {e.assign(f'lshr i64 {tag}, 3')}, 1")
    else:
        one = e.assign(f"icmp ult i64 {e.assign(f'add i64 {tag}, 1')}, 3")
    size = e.assign(f"call i64 @llvm.abs.i64(i64 {value}, i1 false)")
    room = e.assign(f"icmp ult i64 {e.assign(f'sub i64 {size}, {_SMALL + 1}')}, {_DIGIT - _SMALL}")
    return e.assign(f"and i1 {one}, {room}")


def _put_digit(e, old, value) -> None:
    size = e.assign(f"call i64 @llvm.abs.i64(i64 {value}, i1 false)")
    negative = e.assign(f"icmp slt i64 {value}, 0")
    tags = ("10", "8") if platform.LONG_TAGGED else ("-1", "1")
    tag = e.assign(f"select i1 {negative}, i64 {tags[0]}, i64 {tags[1]}")
    e.line(f"store i64 {tag}, ptr {_at(e, old, platform.LONG_TAG)}, align 8")
    digit = e.assign(f"trunc i64 {size} to i32")
    e.line(f"store i32 {digit}, ptr {_at(e, old, platform.LONG_DIGITS)}, align 4")


def _index_releasing(e, inst, x, i, boxed) -> str:
    """`_index` for a store: where it fails, the object that was to be stored is released."""
    size = _len_lower(e, inst, x)[0]
    inside = e.assign(f"icmp ult i64 {i}, {size}")
    here, cold, bad, good = e.current, e.label("negative"), e.label("outside"), e.label("inside")
    e.branch(inside, good, cold, likely=True)
    e.start(cold)
    wrapped = e.assign(f"add i64 {i}, {size}")
    there = e.current
    e.branch(e.assign(f"icmp ult i64 {wrapped}, {size}"), good, bad, likely=True)
    e.start(bad)
    e.line(f"call void {e.helper('pyj_let_go_object')}(ptr {boxed})")
    e.error(inst, "IndexError", "list assignment index out of range")
    e.start(good)
    return e.phi("i64", [(i, here), (wrapped, there)])


def _pop_lower(e, inst, x):
    """Remove and return the last item, with the list's reference to it. Where CPython would shrink the list's memory,
    list.pop is called instead."""
    size = _len_lower(e, inst, x)[0]
    e.raise_unless(e.assign(f"icmp ne i64 {size}, 0"), inst, "IndexError", "pop from empty list")
    last = e.assign(f"add i64 {size}, -1")
    item = e.assign(f"load ptr, ptr {_slot(e, _table(e, x[0]), last)}, align 8")
    values = opened(e, inst, inst.result.type, item, "an item of a list")
    e.check_status(e.assign(f"call i32 {e.helper('pyj_list_shorten')}(ptr {x[0]}, i64 {last}, ptr {item})"), inst)
    return values


def _append_lower(e, inst, x, value):
    boxed = e.box(inst.args[1].type, value, inst)
    status = e.assign(f"call i32 {e.helper('pyj_list_append')}(ptr {x[0]}, ptr {boxed})")
    e.check_status(status, inst)
    return []


def _sort_lower(e, inst, x, reverse):
    """A helper sorts floats, ints and tuples of a few of these, by moving the objects of the list; all other lists are
    sorted by the interpreter."""
    item = inst.args[0].type.item
    if type(item) is Tuple and are_numbers(item):
        status = _sorted_by_numbers(e, item, x[0], reverse[0])
    else:
        flip = e.assign(f"sext i1 {reverse[0]} to i64")
        status = e.assign(f"call i32 {e.helper('pyj_sort_list')}(ptr {x[0]}, i64 {flip})")
    with e.unless(e.assign(f"icmp eq i32 {status}, 0"), "other", likely=False):
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {x[0]})")
        none = e.python_call(inst, e.object(list.sort), [x[0], e.box(Bool, reverse, inst)], ("reverse",))
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {none})")
    return []


def _sorted_by_numbers(e, item: Tuple, x: str, reverse: str) -> str:
    """Sort a list of tuples of numbers. Returns an i32: 0 if the list was sorted, another value if it has an item of
    another kind."""
    n, table = e.assign(f"load i64, ptr {_at(e, x, platform.OB_SIZE)}, align 8"), _table(e, x)
    keys = e.assign(f"call ptr @malloc(i64 {e.assign(f'mul i64 {n}, {8 * len(item.elements)}')})")
    place, found = e.alloca("i64"), e.alloca("i32")
    e.line(f"store i64 0, ptr {place}")
    e.line(f"store i32 1, ptr {found}")
    look, read, sort, done = map(e.label, ("look", "read", "sort", "sorted"))
    e.branch(e.assign(f"icmp eq ptr {keys}, null"), done, look)
    e.start(look)
    i = e.assign(f"load i64, ptr {place}")
    e.branch(e.assign(f"icmp slt i64 {i}, {n}"), read, sort)
    e.start(read)
    object_ = e.assign(f"load ptr, ptr {_slot(e, table, i)}, align 8")
    put_key(e, item.elements, keys, i, e.unbox(item, object_, done))
    e.line(f"store i64 {e.assign(f'add i64 {i}, 1')}, ptr {place}")
    e.jump(look)
    e.start(sort)
    e.line(f"store i32 {sorted_by_keys(e, item.elements, x, keys, n, reverse)}, ptr {found}")
    e.jump(done)
    e.start(done)
    e.line(f"call void @free(ptr {keys})")
    return e.assign(f"load i32, ptr {found}")


def _heap_push_lower(e, inst, x, item):
    boxed = e.box(inst.args[1].type, item, inst)
    status = e.assign(f"call i32 {e.helper('pyj_heap_push')}(ptr {x[0]}, ptr {boxed})")
    other = e.label("other")
    with e.unless(e.assign(f"icmp eq i32 {status}, 0"), "rare", likely=False):
        e.branch(e.assign(f"icmp eq i32 {status}, 1"), other, e.fail(inst))
        e.start(other)
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {x[0]})")
        none = e.python_call(inst, e.object(heapq.heappush), [x[0], boxed], ())
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {none})")
    return []


def _heap_pop_lower(e, inst, x):
    found = e.assign(f"call ptr {e.helper('pyj_heap_pop')}(ptr {x[0]})")
    e.check_null(found, inst)
    here = e.current
    with e.when(e.assign(f"icmp eq ptr {found}, inttoptr (i64 1 to ptr)"), "other"):
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {x[0]})")
        asked = e.python_call(inst, e.object(heapq.heappop), [x[0]], ())
        there = e.current
    return [e.phi("ptr", [(found, here), (asked, there)])]


def _item(types, attrs) -> Any:
    return types[0].item


LIST_NEW = Op("list_new", lambda types, attrs: attrs["type"], RAISES | ALLOCATES | HOST, lower=_list_new_lower,
              stores=_stores_items, partials=NO_RULE, eval=lambda *items, type: list(items), eval_attrs=True,
              doc="a new {type} with these items", traits=NEW_OBJECT)
LIST_LEN = Op("list_len", lambda types, attrs: Int, reads(OBJECTS) | HOST, lower=_len_lower, partials=NONDIFF, eval=len,
              bounds=(0, MAX_BYTES >> 3), doc="the number of items of a list or a tuple", cost=1)
LIST_GET = Op("list_get", _item, RAISES | ALLOCATES | reads(OBJECTS) | HOST, lower=_get_lower, partials=NO_RULE,
              eval=lambda x, i, *, restart=False, borrowed=False, keyed=False: x[i], eval_attrs=True, cost=8,
              doc="item i of a list or a tuple; {restart}: where the item is of another class than this code was "
                  "compiled for, the call restarts in other code (passes/restarts.py); {borrowed}: without a "
                  "reference of its own; {keyed}: to compute the key by which the item is sorted",
              traits=LOAD_OF_NUMBERS)
LIST_WIDTH = Op("list_width", lambda types, attrs: Int, reads(OBJECTS) | HOST, lower=_width_lower, partials=NONDIFF,
                eval=lambda x: len(x[0]) if x and type(x[0]) is list else 0, bounds=(0, MAX_BYTES >> 3),
                doc="the number of items of the first item of a list, if that is a list, otherwise 0", cost=CHEAP)
LIST_COPIED = Op("list_copied", lambda types, attrs: Bool, reads(OBJECTS) | writes(ELEMENTS) | HOST,
                 lower=_copied_lower, partials=NO_RULE, eval=_copied, eval_attrs=True,
                 doc="copy the numbers of a list, or of the lists in it, to an array of its shape; returns whether "
                     "all are of the class of {item} and fit", traits=KEEPS_NONE | WRITES_OPERANDS)
LIST_APART = Op("list_apart", lambda types, attrs: Bool, reads(OBJECTS) | HOST, lower=_apart_lower, partials=NONDIFF,
                eval=_apart, eval_attrs=True,
                doc="whether two lists of numbers, or the lists in lists of lists, are different objects; {itself}: "
                    "both operands are one list of lists, and the test is whether its lists are different objects")
LIST_OBJECT = Op("list_object", lambda types, attrs: Object, ALLOCATES | reads(OBJECTS) | HOST, lower=_object_lower,
                 eval=lambda x, i: x[i], partials=NO_RULE, cost=CHEAP,
                 doc="item i of a list or a tuple as an object; list_get has just read the item; the tuple may have "
                     "the type Object")
TUPLE_LIKE = Op("tuple_like", lambda types, attrs: types[0], RAISES | ALLOCATES | HOST, lower=_tuple_like_lower,
                partials=NO_RULE, eval=lambda x, n: [None] * n,  # a list represents it, since tuple_put changes it
                doc="a new tuple of `n` empty places for items of another tuple; tuple_put fills them",
                traits=NEW_OBJECT)
TUPLE_PUT = Op("tuple_put", lambda types, attrs: None, reads(OBJECTS) | writes(OBJECTS) | HOST, cost=8,
               lower=_tuple_put_lower, partials=NO_RULE, eval=lambda made, k, x, i: made.__setitem__(k, x[i]),
               doc="put item i of another tuple, which exists, in the empty place k of a tuple")
TUPLE_FROM = Op("tuple_from", lambda types, attrs: attrs["type"], RAISES | ALLOCATES | reads(OBJECTS) | HOST,
                lower=_tuple_from_lower, eval=lambda x, first, *, type: tuple(x[first:]), eval_attrs=True,
                stores=lambda types, attrs: [(attrs["type"], 0, types[0].item)], partials=NO_RULE,
                doc="a tuple of {type} with the items of a list or a tuple from index `first` on", traits=NEW_OBJECT)
LIST_SET = Op("list_set", lambda types, attrs: None, RAISES | writes(OBJECTS) | HOST, lower=_set_lower,
              stores=lambda types, attrs: [(types[0], 0, types[2])], partials=NO_RULE,
              eval=lambda x, i, value: x.__setitem__(i, value), doc="store `value` as item i of a list", cost=8,
              traits=STORES_ITEM)
LIST_POP = Op("list_pop", _item, RAISES | ALLOCATES | reads(OBJECTS) | writes(OBJECTS) | HOST, lower=_pop_lower,
              partials=NO_RULE, eval=lambda x, *, restart=False: x.pop(), eval_attrs=True, cost=16,
              doc="remove the last item of a list and return it; {restart}: as in list_get", traits=WRITES_FIRST)
LIST_APPEND = Op("list_append", lambda types, attrs: None, RAISES | writes(OBJECTS) | HOST, lower=_append_lower,
                 stores=lambda types, attrs: [(types[0], 0, types[1])], partials=NO_RULE,
                 eval=lambda x, value: x.append(value), doc="append an item to a list",
                 traits=STORES_ITEM | BOXES)
LIST_SORT = Op("list_sort", lambda types, attrs: None, RAISES | READS | WRITES | HOST, lower=_sort_lower,
               partials=NO_RULE, eval=lambda x, reverse: x.sort(reverse=reverse),
               doc="sort a list in place, in reverse order where `reverse` is true",
               traits=WRITES_FIRST)
HEAP_PUSH = Op("heap_push", lambda types, attrs: None, RAISES | READS | WRITES | HOST, lower=_heap_push_lower,
               stores=lambda types, attrs: [(types[0], 0, types[1])], partials=NO_RULE, eval=heapq.heappush,
               doc="push an item onto a heap", traits=BOXES)
HEAP_POP = Op("heap_pop", lambda types, attrs: Object, RAISES | ALLOCATES | READS | WRITES | HOST,
              lower=_heap_pop_lower, partials=NO_RULE, eval=heapq.heappop,
              doc="pop the smallest item of a heap, as an object")
HOLDS = Op("holds", lambda types, attrs: types[0], 0, lower=lambda e, inst, x: x, partials=NO_RULE,
           eval=lambda x, *, item, parameter=0: x, eval_attrs=True,
           stores=lambda types, attrs: [(types[0], attrs.get("parameter", 0), attrs["item"])],
           doc="the container; inference assumes that it may hold something of type {item} as its {parameter}", cost=0)

CONTAINER_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
