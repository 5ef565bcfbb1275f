"""Local tables: dicts and sets that compiled code makes and that do not escape, as `passes/localtables.py` finds them.
Their keys and values are unboxed; codegen/localtables.py describes their memory layout.

Only these operations accept them. A slot is the number of an entry: it stays the same until something is removed from
the table.
"""
from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..ir.core import ALLOCATES, CHEAP, HOST, LOAD, RAISES, TABLES, Op, reads, writes
from ..types.kinds import (
    Bool, Bytes, Container, Dict, Int, NativeList, ObjectOf, Str, Tuple, Type, is_refcounted, is_scalar,
)
from . import layouts
from .effects import NO_RULE, NONDIFF
from .memory import MAX_BYTES, count_references, owned
from .tables import DICT_NEXT, found_or_zeros, next_of_dict

__all__ = ["LOCAL_TABLE_OPS", "OWN", "can_be_key", "can_be_value", "fills", "key_at", "key_type", "objects",
           "words"]

# Offsets of the fields of a table.
USED, COUNT, ROOM, MASK, INDICES, ENTRIES, STRIDE, OBJECTS, DROP, OWN = range(16, 16 + 10 * 8, 8)


def can_be_key(t: Type) -> bool:
    return t is Int or t is Str or type(t) is Tuple and t.cls is None and 2 <= len(t.elements) <= 4 and all(
        part is Int for part in t.elements)


def can_be_value(t: Type) -> bool:
    """Whether a value of this type consists of numbers, native lists and references to Python objects."""
    if type(t) is Tuple:
        return all(map(can_be_value, t.elements))
    return t is Str or type(t) is NativeList or t is Bytes or isinstance(t, (Container, ObjectOf)) or is_scalar(t)


def fills(t: Any) -> bool:
    """Whether a table of type t is converted to a dict whose memory for all keys is reserved before the first is
    added."""
    return isinstance(t, Dict) and t.keys is not Str and (is_scalar(t.values) or t.values is Str)


def key_type(t: Any) -> Any:
    return t.keys if isinstance(t, Dict) else t.item


def _helper(e, what: str, t: Type) -> str:
    key = key_type(t)
    kind = "int" if key is Int else "str" if key is Str else f"ints{len(key.elements)}"
    return e.helper(f"pyj_table_{what}_{kind}")


def _given(e, t: Type, values) -> str:
    return ", ".join(f"{c} {v}" for c, v in zip(e.components(key_type(t)), values))


def words(e, t: Type) -> list[str]:
    """The kind of each machine word of an entry (the hash, the key and the value), as in `layouts.reference_kinds`."""
    held = (key_type(t), t.values) if isinstance(t, Dict) else (key_type(t),)
    return ["n", *[kind for part in held for kind in layouts.reference_kinds(e, part)]]


def objects(e, t: Type) -> int:
    """A bit for each word of an entry that is a reference to an object."""
    return sum(1 << n for n, word in enumerate(words(e, t)) if word == "o")


def _new_lower(e, inst):
    t = inst.result.type.of
    held = words(e, t)
    lists = any(word[0] == "L" for word in held)
    drop = e.helper(f"pyj_native_entry_{''.join(held)}") if lists else "null"
    made = e.assign(f"call ptr {e.helper('pyj_table_new')}(i64 {8 * len(held)}, i64 {objects(e, t)}, ptr {drop})")
    e.check_null(made, inst)
    return [made]


def _read(e, x, offset: int, t: str = "i64") -> str:
    return e.assign(f"load {t}, ptr {e.assign(f'getelementptr i8, ptr {x[0]}, i64 {offset}')}, align 8")


def _entry(e, inst, x, slot) -> str:
    offset = e.assign(f"mul i64 {slot[0]}, {8 * len(words(e, inst.args[0].type.of))}")
    return e.assign(f"getelementptr i8, ptr {_read(e, x, ENTRIES, 'ptr')}, i64 {offset}")


def _values_at(e, t: Type) -> int:
    return 8 + 8 * len(e.components(key_type(t)))


def _key_of(e, inst, entry) -> list[str]:
    t = key_type(inst.args[0].type.of)
    return owned(e, t, e.load_components(t, entry, 8))


def key_at(e, inst, x, slot) -> list[str]:
    """The key in a slot that has one, with a reference of its own."""
    return _key_of(e, inst, _entry(e, inst, x, slot))


def _value_of(e, inst, entry) -> list[str]:
    t = inst.args[0].type.of
    return owned(e, t.values, e.load_components(t.values, entry, _values_at(e, t)))


def _search(e, inst, what: str, x, key) -> str:
    """The slot that a helper finds for a key. The key is a value, or a text and the bounds of a part of that text."""
    t = inst.args[0].type.of
    if len(key) > 1:
        (s,), (i,), (j,) = key
        held = e.lock()  # the helper makes objects of some parts
        found = e.assign(f"call i64 {_helper(e, f'{what}_part', t)}(ptr {x[0]}, ptr {s}, i64 {i}, i64 {j})")
        e.unlock(held)
        return found
    return e.assign(f"call i64 {_helper(e, what, t)}(ptr {x[0]}, {_given(e, t, key[0])})")


def _slot_lower(e, inst, x, *key):
    """Examine the first place of the probe sequence inline for an int: mostly the key is there, or the place is
    empty. The helper examines further places, and searches all other keys."""
    t = inst.args[0].type.of
    if key_type(t) is not Int:
        return [_search(e, inst, "slot", x, key)]
    k = key[0][0]
    hashed = e.assign(f"call i64 {e.helper('pyj_table_hash_int')}(i64 {k})")
    place = e.assign(f"and i64 {hashed}, {_read(e, x, MASK)}")
    where = e.assign(f"getelementptr i32, ptr {_read(e, x, INDICES, 'ptr')}, i64 {place}")
    index = e.assign(f"sext i32 {e.assign(f'load i32, ptr {where}')} to i64")
    taken, other, done = e.label("taken"), e.label("other"), e.label("searched")
    here = e.current
    e.branch(e.assign(f"icmp eq i64 {index}, -1"), done, taken)
    e.start(taken)
    e.branch(e.assign(f"icmp sge i64 {index}, 0"), entry := e.label("entry"), other, likely=True)
    e.start(entry)
    at = _entry(e, inst, x, [index])
    found = e.assign(f"load i64, ptr {e.assign(f'getelementptr i8, ptr {at}, i64 8')}")
    e.branch(e.assign(f"icmp eq i64 {found}, {k}"), done, other, likely=True)
    e.start(other)
    slow = _search(e, inst, "slot", x, key)
    there = e.current
    e.jump(done)
    e.start(done)
    return [e.phi("i64", [(-1, here), (index, entry), (slow, there)])]


def _claim_lower(e, inst, x, slot, *key):
    here = e.current
    with e.unless(e.assign(f"icmp sge i64 {slot[0]}, 0"), "claim"):
        made = _search(e, inst, "claim", x, key)
        e.fail_unless(e.assign(f"icmp sge i64 {made}, 0"), lambda: e.jump(e.fail(inst)))
        there = e.current
    return [e.phi("i64", [(slot[0], here), (made, there)])]


def _store_lower(e, inst, x, slot, value):
    t = inst.args[0].type.of
    entry, at = _entry(e, inst, x, slot), _values_at(e, t)
    old = e.load_components(t.values, entry, at) if is_refcounted(t.values) else ()
    e.store_components(t.values, entry, owned(e, t.values, value), at)
    if old:
        count_references(e, t.values, old, "release")
    return []


def _raise_key_error(e, inst, key) -> None:
    """Set KeyError for a key."""
    if len(key) > 1:
        (s,), (i,), (j,) = key
        key = e.assign(f"call ptr @PyUnicode_Substring(ptr {s}, i64 {i}, i64 {j})")
        e.check_null(key, inst)
    else:
        key = e.box(inst.args[2].type, key[0], inst)
    e.line(f"call void {e.helper('pyj_key_error')}(ptr {key})")
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {key})")


def _get_lower(e, inst, x, slot, *key):
    there = e.assign(f"icmp sge i64 {slot[0]}, 0")
    e.fail_unless(there, lambda: e.fail_by(inst, lambda: _raise_key_error(e, inst, key)))
    return _value_of(e, inst, _entry(e, inst, x, slot))


def _ask_lower(e, inst, x, slot, *key):
    """Make the list before the key gets its slot, so that a failure leaves the table unchanged."""
    t = inst.result.type
    place = e.alloca("i64")
    e.line(f"store i64 {slot[0]}, ptr {place}")
    with e.unless(e.assign(f"icmp sge i64 {slot[0]}, 0"), "make", likely=False):
        if isinstance(t, NativeList):
            size = layouts.stride(e.components(t.item))
            made = e.assign(f"call ptr {e.helper('pyj_native_new')}(i64 0, i64 0, i64 {size})")
        else:
            made = e.assign("call ptr @PyList_New(i64 0)")
        e.check_null(made, inst)
        claimed = _search(e, inst, "claim", x, key)

        def lost():
            count_references(e, t, [made], "release")
            e.jump(e.fail(inst))

        e.fail_unless(e.assign(f"icmp sge i64 {claimed}, 0"), lost)
        e.store_components(t, _entry(e, inst, x, [claimed]), [made], _values_at(e, inst.args[0].type.of))
        e.line(f"store i64 {claimed}, ptr {place}")
    return _value_of(e, inst, _entry(e, inst, x, [e.assign(f"load i64, ptr {place}")]))


def _find_lower(e, inst, x, slot):
    return found_or_zeros(e, inst, e.assign(f"icmp sge i64 {slot[0]}, 0"), inst.args[0].type.of.values,
                          lambda: _value_of(e, inst, _entry(e, inst, x, slot)))


def _remove_lower(e, inst, x, slot, *key):
    remove, done = e.label("remove"), e.label("removed")
    there = e.assign(f"icmp sge i64 {slot[0]}, 0")
    if inst.attrs["must"]:
        e.fail_unless(there, lambda: e.fail_by(inst, lambda: _raise_key_error(e, inst, key)))
        e.jump(remove)
    else:
        e.branch(there, remove, done)
    e.start(remove)
    e.line(f"call void {e.helper('pyj_table_remove')}(ptr {x[0]}, i64 {slot[0]})")
    e.jump(done)
    e.start(done)
    return []


def _next_lower(e, inst, x, at, used):
    size = _read(e, x, USED)
    e.raise_unless(e.assign(f"icmp eq i64 {size}, {used[0]}"), inst, "RuntimeError",
                   "dictionary changed size during iteration")
    what, t = inst.attrs["what"], inst.result.type.elements[1]

    def load():
        entry = _entry(e, inst, x, at)
        return [*(_key_of(e, inst, entry) if what != "values" else ()),
                *(_value_of(e, inst, entry) if what != "keys" else ())]

    found = found_or_zeros(e, inst, e.assign(f"icmp slt i64 {at[0]}, {size}"), t, load)
    return [*found, e.assign(f"add i64 {at[0]}, 1")]


def _box_lower(e, inst, x):
    """The entries are boxed and added to a dict or set of the interpreter, one after the other. If `fills` says so,
    memory for all keys is reserved first. A set grows as in the interpreter, since its growth determines the order of
    its items."""
    t = inst.args[0].type.of
    is_dict, factory, key = isinstance(t, Dict), inst.attrs["factory"], key_type(t)
    release = e.helper("pyj_release_object")
    if factory is not None:
        given = [] if factory is t.python_class else [e.object(factory)]
        for one in given:
            e.line(f"call void {e.helper('pyj_retain_object')}(ptr {one})")
        made = e.python_call(inst, e.object(t.python_class), given, ())
    else:
        if is_dict:
            make = f"_PyDict_NewPresized(i64 {_read(e, x, USED) if fills(t) else 0})"
        else:
            make = "PySet_New(ptr null)"
        made = e.assign(f"call ptr @{make}")
        e.check_null(made, inst)
    count = _read(e, x, COUNT)
    loop, entry, put_it, following, done = map(e.label, ("entries", "entry", "put", "following", "boxed"))
    place = e.alloca("i64")
    e.line(f"store i64 0, ptr {place}")
    e.jump(loop)
    e.start(loop)
    n = e.assign(f"load i64, ptr {place}")
    e.branch(e.assign(f"icmp slt i64 {n}, {count}"), entry, done)
    e.start(entry)
    e.line(f"store i64 {e.assign(f'add i64 {n}, 1')}, ptr {place}")
    where = _entry(e, inst, x, [n])
    e.branch(e.assign(f"icmp ne i64 {e.assign(f'load i64, ptr {where}')}, -1"), put_it, following)
    e.start(put_it)

    def fail():
        e.line(f"call void {release}(ptr {made})")
        e.jump(e.fail(inst))

    words = e.load_components(key, where, 8)
    if not is_dict and key in (Int, Str):
        kind = "int" if key is Int else "str"
        status = e.assign(f"call i32 {e.helper(f'pyj_set_add_{kind}')}(ptr {made}, {_given(e, t, words)})")
    else:
        given = [e.box(key, words, inst)]
        if is_dict:
            given.append(e.box(t.values, e.load_components(t.values, where, _values_at(e, t)), inst))
        objects = ", ".join(f"ptr {one}" for one in given)
        if fills(t):
            if key is Int:
                hashed = e.assign(f"call i64 {e.helper('pyj_int_hash')}(i64 {words[0]})")
            else:
                hashed = e.assign(f"call i64 @PyObject_Hash(ptr {given[0]})")
            status = e.assign(f"call i32 {e.helper('pyj_table_fill')}(ptr {made}, {objects}, i64 {hashed})")
        else:
            put = "PyDict_SetItem" if is_dict else "PySet_Add"
            status = e.assign(f"call i32 @{put}(ptr {made}, {objects})")
            for one in given:
                e.line(f"call void {release}(ptr {one})")
    e.fail_unless(e.assign(f"icmp eq i32 {status}, 0"), fail)
    e.jump(following)
    e.start(following)
    e.jump(loop)
    e.start(done)
    return [made]


# The Python meanings of the operations. A table is a dict or set; nothing is removed from it while a slot is used.


def _key(key: tuple):
    """The key that the operands of an operation give: a value, or a text and the bounds of a part of that text."""
    return key[0] if len(key) == 1 else key[0][key[1]:key[2]]


def _python_slot(x, *key):
    k = _key(key)
    return list(x).index(k) if k in x else -1


def _python_claim(x, slot, *key):
    if slot < 0:
        k = _key(key)
        if isinstance(x, defaultdict):
            x.__missing__(k)
        elif isinstance(x, dict):
            x[k] = None
        else:
            x.add(k)
    return _python_slot(x, *key)


def _python_store(x, slot, value):
    x[list(x)[slot]] = value


def _python_get(x, slot, *key):
    if slot < 0:
        raise KeyError(_key(key))
    return list(x.values())[slot]


def _python_ask(x, slot, *key):
    k = _key(key)
    if slot < 0:
        x[k] = []
    return x[k]


def _python_remove(x, slot, *key, must):
    if slot >= 0:
        if isinstance(x, dict):
            del x[_key(key)]
        else:
            x.remove(_key(key))
    elif must:
        raise KeyError(_key(key))


def _none(*types):
    return None


_SEARCH = reads(TABLES)
_CHANGE = writes(TABLES)

LOCAL_NEW = Op("local_table", lambda types, attrs: attrs["type"], RAISES | ALLOCATES, lower=_new_lower,
               partials=NO_RULE, eval_attrs=True, eval=lambda *, type, factory: type.of.python_class(
                   *([factory] if type.of.python_class is defaultdict else ())),
               doc="an empty table of {type}, a dict or a set; {factory}: the function that makes missing values, or "
                   "None")
LOCAL_LEN = Op("local_len", lambda types, attrs: Int, _SEARCH, lower=lambda e, inst, x: [_read(e, x, USED)],
               partials=NONDIFF, eval=len, bounds=(0, MAX_BYTES >> 3), cost=CHEAP, doc="the number of keys of a table")
LOCAL_SLOT = Op("local_slot", lambda types, attrs: Int, _SEARCH, lower=_slot_lower, partials=NONDIFF,
                eval=_python_slot, doc="the slot of a key in a table, -1 where the table does not have the key",
                traits=LOAD)
LOCAL_CLAIM = Op("local_claim", lambda types, attrs: Int, RAISES | _CHANGE, lower=_claim_lower, partials=NONDIFF,
                 eval=_python_claim, doc="(table, slot, key): the slot; where it is -1, the key is inserted and gets "
                                         "a new slot")
LOCAL_STORE = Op("local_store", _none, _CHANGE, lower=_store_lower, partials=NO_RULE, eval=_python_store,
                 doc="replace the value in a slot")
LOCAL_GET = Op("local_get", lambda types, attrs: types[0].of.values, RAISES | ALLOCATES | _SEARCH, lower=_get_lower,
               partials=NO_RULE, eval=_python_get, doc="the value in the slot of a key; KeyError where the slot is -1")
LOCAL_ASK = Op("local_ask", lambda types, attrs: types[0].of.values, RAISES | ALLOCATES | _CHANGE, lower=_ask_lower,
               partials=NO_RULE, eval=_python_ask,
               doc="the native list in the slot of a key; where the slot is -1, a new list, which is inserted for the "
                   "key")
LOCAL_ASK_LIST = Op("local_ask_list", LOCAL_ASK.rule, LOCAL_ASK.effects | HOST, lower=_ask_lower, partials=NO_RULE,
                    eval=_python_ask, doc="the list in the slot of a key; as local_ask, for lists of the interpreter")
LOCAL_FIND = Op("local_find", lambda types, attrs: Tuple((Bool, types[0].of.values)), ALLOCATES | _SEARCH,
                lower=_find_lower, partials=NO_RULE, doc="(whether a slot is not -1, the value in it)",
                eval=lambda x, slot: (slot >= 0, list(x.values())[slot] if slot >= 0 else None))
LOCAL_REMOVE = Op("local_remove", _none, RAISES | _CHANGE, lower=_remove_lower, partials=NONDIFF,
                  eval=_python_remove, eval_attrs=True,
                  doc="remove a slot and its key; {must}: KeyError where the slot is -1")
LOCAL_NEXT = Op("local_next", lambda types, attrs: next_of_dict([types[0].of, *types[1:]], attrs),
                RAISES | ALLOCATES | _SEARCH, lower=_next_lower, partials=NO_RULE,
                eval=lambda x, at, used, *, what: DICT_NEXT(x, at, used, len(x), what=what), eval_attrs=True,
                doc="(table, slot, size that the table must have) -> (whether there is another item, {what}: its "
                    "'keys', 'values' or 'items' part, the slot after it)")
LOCAL_LEAVE = Op("local_leave", lambda types, attrs: types[0].of, RAISES | ALLOCATES | _SEARCH | HOST, lower=_box_lower,
                 partials=NO_RULE, eval=lambda x, *, factory: x, eval_attrs=True,
                 doc="convert a table to a dict or set of the interpreter; {factory}: that of a defaultdict or "
                     "Counter")

LOCAL_TABLE_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op) and op is not DICT_NEXT}
