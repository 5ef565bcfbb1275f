"""Dicts, sets and other Python containers whose items operations read and change directly.

Keys that are ints or texts are searched without a box (codegen/tables.py); others are passed to the interpreter as
objects. As with lists, every load checks the class of what it finds.
"""
from __future__ import annotations

from ..ir.core import ALLOCATES, BOXES, HOST, NEW_OBJECT, OBJECTS, RAISES, READS, WRITES, Op, reads, writes
from ..runtime import platform
from ..types.kinds import Bool, CounterDict, Int, Object, Str, Tuple, Undefined
from .effects import NO_RULE, NONDIFF
from .memory import MAX_BYTES, opened
from .pyobject import is_object

__all__ = ["PAIR", "TABLE_OPS", "found_or_zeros", "next_of_dict"]

_ASK = "inttoptr (i64 1 to ptr)"
PAIR = Tuple((Int, Int))


class _Key:
    """The key of an operation: in the form that the helpers take, or as an object, which is released after use."""

    def __init__(self, e, inst, n: int, values):
        self.e, self.inst, self.type, self.values = e, inst, inst.args[n].type, values
        self.kind = "int" if self.type is Int else "str" if self.type is Str else (
            "pair" if self.type is PAIR else "object")
        self.made = self.kind == "object" and self.type is not Object
        if self.kind == "pair":
            self.given = e.alloca("i64", 2)
            e.line(f"store i64 {values[0]}, ptr {self.given}")
            e.line(f"store i64 {values[1]}, ptr {e.assign(f'getelementptr i64, ptr {self.given}, i64 1')}")
        else:
            self.given = e.box(self.type, values, inst) if self.made else values[0]
        self.text = f"{'i64' if self.kind == 'int' else 'ptr'} {self.given}"

    def release(self) -> None:
        if self.made:
            self.e.line(f"call void {self.e.helper('pyj_release_object')}(ptr {self.given})")

    def fail_unless(self, condition: str, *errors) -> None:
        """Take the failure exit where the condition is false, with the exception that is set, or that `errors` set."""
        def fail():
            for error in errors:
                error()
            self.release()
            self.e.jump(self.e.fail(self.inst))

        self.e.fail_unless(condition, fail)

    @property
    def native(self) -> bool:
        """Whether the key has no object."""
        return self.kind == "int" or self.kind == "pair"

    def missing(self) -> None:
        """Raise KeyError for the key."""
        key = self.e.box(self.type, self.values, self.inst) if self.native else self.given
        self.e.line(f"call void {self.e.helper('pyj_key_error')}(ptr {key})")
        if self.native:
            self.e.line(f"call void {self.e.helper('pyj_release_object')}(ptr {key})")


def _search(e, x, key) -> str:
    """The value of a key, borrowed: null where there is none, 1 where an exception was raised."""
    return e.assign(f"call ptr {e.helper(f'pyj_dict_get_{key.kind}')}(ptr {x[0]}, {key.text})")


def _above(e, pointer: str, least: int) -> str:
    return e.assign(f"icmp ugt i64 {e.assign(f'ptrtoint ptr {pointer} to i64')}, {least}")


def _get_lower(e, inst, x, k):
    key = _Key(e, inst, 1, k)
    found = _search(e, x, key)

    def missing():
        with e.when(e.assign(f"icmp eq ptr {found}, null"), "absent"):
            key.missing()

    key.fail_unless(_above(e, found, 1), missing)
    values = opened(e, inst, inst.result.type, found, "a value of a dict", key.given if key.made else "")
    key.release()
    return values


def _ask_lower(e, inst, x, k):
    """Call the `__missing__` of the class for a missing key: a defaultdict makes the value. A Counter has 0."""
    key = _Key(e, inst, 1, k)
    found = _search(e, x, key)
    have, absent, done = e.label("have"), e.label("absent"), e.label("value")
    e.branch(_above(e, found, 1), have, absent, likely=True)
    e.start(have)
    e.line(f"call void {e.helper('pyj_retain_object')}(ptr {found})")
    e.jump(done)
    e.start(absent)
    key.fail_unless(e.assign(f"icmp eq ptr {found}, null"))
    if isinstance(inst.args[0].type, CounterDict):
        made = e.object(0)
        e.line(f"call void {e.helper('pyj_retain_object')}(ptr {made})")
    else:
        asked = e.box(key.type, k, inst) if key.native else key.given
        made = e.assign(f"call ptr @PyObject_GetItem(ptr {x[0]}, ptr {asked})")
        if key.native:
            e.line(f"call void {e.helper('pyj_release_object')}(ptr {asked})")
        key.fail_unless(e.assign(f"icmp ne ptr {made}, null"))
    there = e.current
    e.jump(done)
    e.start(done)
    value = e.phi("ptr", [(found, have), (made, there)])
    key.release()
    return _taken(e, inst, inst.result.type, value, "a value of a dict")


def _taken(e, inst, t, pointer, what: str) -> list[str]:
    """`opened` of an object whose reference is consumed."""
    values = opened(e, inst, t, pointer, what, pointer)
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {pointer})")
    return values


def found_or_zeros(e, inst, there: str, t, load) -> list[str]:
    """(whether there is a value, the value): `load` returns its components."""
    here = e.current
    with e.when(there, "have"):
        values = load()
        end = e.current
    return [e.phi("i1", [("false", here), ("true", end)])] + [
        e.phi(c, [(zero, here), (value, end)]) for c, zero, value in zip(e.components(t), e.zeros(t), values)]


def _find_lower(e, inst, x, k):
    key = _Key(e, inst, 1, k)
    found = _search(e, x, key)
    key.fail_unless(e.assign(f"icmp ne ptr {found}, {_ASK}"))
    t = inst.result.type.elements[1]
    result = found_or_zeros(e, inst, e.assign(f"icmp ne ptr {found}, null"), t, lambda: opened(
        e, inst, t, found, "a value of a dict", key.given if key.made else ""))
    key.release()
    return result


def _set_lower(e, inst, x, k, value):
    key = _Key(e, inst, 1, k)
    t = inst.args[2].type
    number = "int" if t is Int else "float" if t.text == "float" else ""
    if number and key.kind != "object":
        given = f"{'i64' if t is Int else 'double'} {value[0]}"
        status = e.assign(f"call i32 {e.helper(f'pyj_dict_put_{key.kind}_{number}')}(ptr {x[0]}, {key.text}, {given})")
        e.check_status(status, inst)
        return []
    boxed = e.box(t, value, inst)
    if key.native:
        helper = e.helper(f"pyj_dict_put_{key.kind}_object")
        status = e.assign(f"call i32 {helper}(ptr {x[0]}, {key.text}, ptr {boxed})")
    else:
        status = _store(e, x[0], key.given, boxed)
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {boxed})")
    key.release()
    e.check_status(status, inst)
    return []


def _ordered_set_lower(e, inst, x, k, value):
    """Call the method of a class that stores more than the items of a dict."""
    boxed = [e.box(v.type, given, inst) for v, given in zip(inst.args[1:], (k, value))]
    status = e.assign(f"call i32 @PyObject_SetItem(ptr {x[0]}, ptr {boxed[0]}, ptr {boxed[1]})")
    for one in boxed:
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {one})")
    e.check_status(status, inst)
    return []


def _store(e, d, key, value) -> str:
    return e.assign(f"call i32 @PyDict_SetItem(ptr {d}, ptr {key}, ptr {value})")


def _call(function: str):
    """The lowering that calls a C API function of a container and an object; the function returns -1 if it has raised
    an exception."""
    def lower(e, inst, x, k):
        boxed = e.box(inst.args[1].type, k, inst)
        status = e.assign(f"call i32 @{function}(ptr {x[0]}, ptr {boxed})")
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {boxed})")
        e.fail_unless(e.assign(f"icmp sge i32 {status}, 0"), lambda: e.jump(e.fail(inst)))
        return [e.assign(f"icmp ne i32 {status}, 0")] if inst.result is not None else []

    return lower


def _has(table: str, function: str):
    def lower(e, inst, x, k):
        key = _Key(e, inst, 1, k)
        symbol = f"@{function}" if key.kind == "object" else e.helper(f"pyj_{table}_has_{key.kind}")
        status = e.assign(f"call i32 {symbol}(ptr {x[0]}, {key.text})")
        key.release()
        e.fail_unless(e.assign(f"icmp sge i32 {status}, 0"), lambda: e.jump(e.fail(inst)))
        return [e.assign(f"icmp ne i32 {status}, 0")]

    return lower


def _add_lower(e, inst, x, k):
    key = _Key(e, inst, 1, k)
    symbol = "@PySet_Add" if key.kind == "object" else e.helper(f"pyj_set_add_{key.kind}")
    status = e.assign(f"call i32 {symbol}(ptr {x[0]}, {key.text})")
    key.release()
    e.check_status(status, inst)
    return []


def _discard_lower(e, inst, x, k):
    """Remove an item. Raises KeyError for a missing one if the instruction has `must`."""
    boxed = e.box(inst.args[1].type, k, inst)
    status = e.assign(f"call i32 @PySet_Discard(ptr {x[0]}, ptr {boxed})")

    def fail():
        with e.when(e.assign(f"icmp eq i32 {status}, 0"), "absent"):
            e.line(f"call void {e.helper('pyj_key_error')}(ptr {boxed})")
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {boxed})")
        e.jump(e.fail(inst))

    e.fail_unless(e.assign(f"icmp s{'gt' if inst.attrs['must'] else 'ge'} i32 {status}, 0"), fail)
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {boxed})")
    return []


def _len_of(offset: int):
    def lower(e, inst, x):
        where = e.assign(f"getelementptr i8, ptr {x[0]}, i64 {offset}")
        return [e.assign(f"load i64, ptr {where}, align 8, !range !2")]

    return lower


_CONSTANTS = 4  # the fewest items for which a dict of constants is made of a tuple of the interpreter


def _made(function: str, put: str):
    """The lowering that makes a new dict or set and puts items into it, `count` objects at a time."""
    def lower(e, inst, *items):
        def fail():
            e.line(f"call void {e.helper('pyj_release_object')}(ptr {made})")
            e.jump(e.fail(inst))

        made = e.assign(f"call ptr @{function}({'ptr null' if put == 'PySet_Add' else ''})")
        e.check_null(made, inst)
        step = 1 if put == "PySet_Add" else 2
        if step == 2 and len(items) >= 2 * _CONSTANTS and all(map(is_object, inst.args)):
            values = [x.inst.attrs["value"] for x in inst.args]
            pairs = e.object(tuple(zip(values[::2], values[1::2])))
            status = e.assign(f"call i32 @PyDict_MergeFromSeq2(ptr {made}, ptr {pairs}, i32 1)")
            e.fail_unless(e.assign(f"icmp eq i32 {status}, 0"), fail)
            return [made]
        for n in range(0, len(items), step):
            boxed = [e.box(inst.args[k].type, items[k], inst) for k in range(n, n + step)]
            status = e.assign(f"call i32 @{put}(ptr {made}, {', '.join(f'ptr {one}' for one in boxed)})")
            for one in boxed:
                e.line(f"call void {e.helper('pyj_release_object')}(ptr {one})")
            e.fail_unless(e.assign(f"icmp eq i32 {status}, 0"), fail)
        return [made]

    return lower


def _changed(e, inst, x, offset: int, used: str, name: str) -> None:
    size = _len_of(offset)(e, inst, x)[0]
    e.raise_unless(e.assign(f"icmp eq i64 {size}, {used}"), inst, "RuntimeError",
                   f"{name} changed size during iteration")


def _dict_next_lower(e, inst, x, at, used, left):
    """Compare the size first, then the number of remaining items, as CPython's iterators do."""
    _changed(e, inst, x, platform.DICT["used"], used[0], "dictionary")
    what = inst.attrs["what"]
    place, keyp, valuep = e.alloca("i64"), e.alloca("ptr"), e.alloca("ptr")
    e.line(f"store i64 {at[0]}, ptr {place}")
    status = e.assign(f"call i32 @PyDict_Next(ptr {x[0]}, ptr {place}, ptr {keyp}, ptr {valuep})")
    there = e.assign(f"icmp ne i32 {status}, 0")
    none = e.assign(f"icmp sle i64 {left[0]}, 0")
    e.raise_unless(e.assign(f"xor i1 {e.assign(f'and i1 {there}, {none}')}, true"), inst, "RuntimeError",
                   "dictionary keys changed during iteration")
    t = inst.result.type.elements[1]

    def load():
        found = []
        if what != "values":
            found += opened(e, inst, t if what == "keys" else t.elements[0], e.assign(f"load ptr, ptr {keyp}"),
                            "a key of a dict")
        if what != "keys":
            found += opened(e, inst, t if what == "values" else t.elements[1], e.assign(f"load ptr, ptr {valuep}"),
                            "a value of a dict")
        return found

    return [*found_or_zeros(e, inst, there, t, load), e.assign(f"load i64, ptr {place}")]


def _set_next_lower(e, inst, x, at, used):
    _changed(e, inst, x, platform.SET["used"], used[0], "Set")
    place, keyp, hashp = e.alloca("i64"), e.alloca("ptr"), e.alloca("i64")
    e.line(f"store i64 {at[0]}, ptr {place}")
    status = e.assign(f"call i32 @_PySet_NextEntry(ptr {x[0]}, ptr {place}, ptr {keyp}, ptr {hashp})")
    t = inst.result.type.elements[1]
    return [*found_or_zeros(e, inst, e.assign(f"icmp ne i32 {status}, 0"), t, lambda: opened(
        e, inst, t, e.assign(f"load ptr, ptr {keyp}"), "an item of a set")), e.assign(f"load i64, ptr {place}")]


def _iter_lower(e, inst, x):
    boxed = e.box(inst.args[0].type, x, inst)
    made = e.assign(f"call ptr @PyObject_GetIter(ptr {boxed})")
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {boxed})")
    e.check_null(made, inst)
    return [made]


def _iter_next_lower(e, inst, it):
    """Do what PyIter_Next does: at the end an iterator raises StopIteration, or nothing."""
    cls = e.assign(f"load ptr, ptr {e.assign(f'getelementptr i8, ptr {it[0]}, i64 {platform.OB_TYPE}')}, align 8")
    step = e.assign(f"getelementptr i8, ptr {cls}, i64 {platform.TYPE_ITERNEXT}")
    item = e.assign(f"call ptr {e.assign(f'load ptr, ptr {step}, align 8')}(ptr {it[0]})")
    there = e.assign(f"icmp ne ptr {item}, null")
    look, raised, fine, ended = e.label("end"), e.label("raised"), e.label("fine"), e.label("ended")
    e.branch(there, fine, look, likely=True)
    e.start(look)
    error = e.assign("call ptr @PyErr_Occurred()")
    e.branch(e.assign(f"icmp eq ptr {error}, null"), fine, raised, likely=True)
    e.start(raised)
    stops = e.assign(f"call i32 @PyErr_ExceptionMatches(ptr {e.object(StopIteration)})")
    e.branch(e.assign(f"icmp ne i32 {stops}, 0"), ended, e.fail(inst), likely=True)
    e.start(ended)
    e.line("call void @PyErr_Clear()")
    e.jump(fine)
    e.start(fine)
    t = inst.attrs["type"]
    return found_or_zeros(e, inst, there, t, lambda: _taken(e, inst, t, item, "an item"))


def _found(types, attrs):
    return Tuple((Bool, types[0].values))


def _dict_next(d, at, used, left, *, what, restart=False, objects=False):
    """The Python meaning of dict_next, where positions are numbers of items."""
    if len(d) != used:
        raise RuntimeError("dictionary changed size during iteration")
    items = list(getattr(d, what)())
    if at < len(items) and left <= 0:
        raise RuntimeError("dictionary keys changed during iteration")
    return (True, items[at], at + 1) if at < len(items) else (False, Undefined, at)


def _set_next(s, at, used, *, restart=False, objects=False):
    """The Python meaning of set_next."""
    if len(s) != used:
        raise RuntimeError("Set changed size during iteration")
    items = list(s)
    return (True, items[at], at + 1) if at < len(items) else (False, Undefined, at)


def _iter_next(iterator, *, type, restart=False):
    for item in iterator:
        return True, item
    return False, Undefined


def next_of_dict(types, attrs):
    d, what = types[0], attrs["what"]
    keys, values = (Object, Object) if attrs.get("objects") else (d.keys, d.values)
    item = keys if what == "keys" else values if what == "values" else Tuple((keys, values))
    return Tuple((Bool, item, Int))


def _next_of_set(types, attrs):
    return Tuple((Bool, Object if attrs.get("objects") else types[0].item, Int))


def _pairs(types, attrs):
    return [(attrs["type"], n % 2, t) for n, t in enumerate(types)]


def _given(types, attrs):
    return attrs["type"]


def _python_find(d, k):
    return (True, d[k]) if k in d else (False, None)


_RESTART = "; {restart}: where it is of another class than expected, the call restarts in other code"
_OBJECTS = "; {objects}: as an object, of whatever class"
_READ = RAISES | ALLOCATES | reads(OBJECTS) | HOST
_LOOK = RAISES | reads(OBJECTS) | HOST
_CHANGE = RAISES | writes(OBJECTS) | HOST
_ANY = RAISES | READS | WRITES | HOST

DICT_NEW = Op("dict_new", _given, RAISES | ALLOCATES | HOST, lower=_made("PyDict_New", "PyDict_SetItem"), stores=_pairs,
              partials=NO_RULE, eval=lambda *x, type: dict(zip(x[::2], x[1::2])), eval_attrs=True,
              doc="a new {type} with these keys and values, which alternate", traits=NEW_OBJECT)
DICT_LEN = Op("dict_len", lambda types, attrs: Int, reads(OBJECTS) | HOST, lower=_len_of(platform.DICT["used"]),
              partials=NONDIFF, eval=len, bounds=(0, MAX_BYTES >> 3), doc="the number of keys of a dict", cost=1)
DICT_GET = Op("dict_get", lambda types, attrs: Object if attrs.get("objects") else types[0].values, _READ,
              lower=_get_lower, partials=NO_RULE, eval=lambda d, k: d[k],
              doc="the value of a key; KeyError where there is none" + _RESTART + _OBJECTS)
DICT_ASK = Op("dict_ask", lambda types, attrs: types[0].values, _ANY | ALLOCATES, lower=_ask_lower, partials=NO_RULE,
              eval=lambda d, k: d[k], stores=lambda types, attrs: [(types[0], 0, types[1])],
              doc="the value of a key; where there is none, the class of the dict determines the value" + _RESTART)
DICT_FIND = Op("dict_find", _found, _READ, lower=_find_lower, partials=NO_RULE, eval=_python_find,
               doc="the value of a key, if a dict has the key: (whether it has, the value)" + _RESTART)
DICT_HAS = Op("dict_has", lambda types, attrs: Bool, _LOOK, lower=_has("dict", "PyDict_Contains"), partials=NONDIFF,
              eval=lambda d, k: k in d, doc="whether a dict has a key")
DICT_SET = Op("dict_set", lambda types, attrs: None, _CHANGE, lower=_set_lower, partials=NO_RULE,
              stores=lambda types, attrs: [(types[0], 0, types[1]), (types[0], 1, types[2])],
              eval=lambda d, k, value: d.__setitem__(k, value), doc="store `value` under a key of a dict",
              traits=BOXES)
DICT_PUT = Op("dict_put", lambda types, attrs: None, _ANY, lower=_ordered_set_lower, partials=NO_RULE,
              stores=DICT_SET.stores, eval=DICT_SET.eval, traits=BOXES,
              doc="store `value` under a key by the method of the class of the dict")
DICT_DELETE = Op("dict_delete", lambda types, attrs: None, _ANY, lower=_call("PyObject_DelItem"), partials=NONDIFF,
                 eval=lambda d, k: d.__delitem__(k), doc="remove a key and its value; KeyError where there is none",
                 traits=BOXES)
DICT_NEXT = Op("dict_next", next_of_dict, _READ, lower=_dict_next_lower, partials=NO_RULE, eval=_dict_next,
               eval_attrs=True,
               doc="the next item of a dict: (dict, position, size that it must have, number of items left) -> "
                   "(whether there is one, {what}: its 'keys', 'values' or 'items' part, the position after it)"
                   + _RESTART + _OBJECTS)
DICT_HOLD = Op("dict_hold", lambda types, attrs: None, writes(OBJECTS), lower=lambda e, inst, x, value: [],
               partials=NO_RULE, stores=lambda types, attrs: [(types[0], 1, types[1])], eval=lambda d, value: None,
               doc="tell inference that values of a dict may have the type of this one")
DICT_NEVER = Op("dict_never", lambda types, attrs: Bool, 0, lower=lambda e, inst, x: ["false"], partials=NONDIFF,
                eval=lambda d: False, doc="False, which inference does not know; the code of the branch only shows "
                                          "inference what a dict may hold")
SET_NEW = Op("set_new", _given, RAISES | ALLOCATES | HOST, lower=_made("PySet_New", "PySet_Add"), partials=NO_RULE,
             stores=lambda types, attrs: [(attrs["type"], 0, t) for t in types], eval=lambda *x, type: set(x),
             eval_attrs=True, doc="a new {type} with these items", traits=NEW_OBJECT)
SET_LEN = Op("set_len", lambda types, attrs: Int, reads(OBJECTS) | HOST, lower=_len_of(platform.SET["used"]),
             partials=NONDIFF, eval=len, bounds=(0, MAX_BYTES >> 3), doc="the number of items of a set", cost=1)
SET_HAS = Op("set_has", lambda types, attrs: Bool, _LOOK, lower=_has("set", "PySet_Contains"), partials=NONDIFF,
             eval=lambda s, x: x in s, doc="whether an item is in a set")
SET_ADD = Op("set_put", lambda types, attrs: None, _CHANGE, lower=_add_lower, partials=NO_RULE,
             stores=lambda types, attrs: [(types[0], 0, types[1])], eval=lambda s, x: s.add(x),
             doc="add an item to a set", traits=BOXES)
SET_DISCARD = Op("set_discard", lambda types, attrs: None, _ANY, lower=_discard_lower, partials=NONDIFF,
                 eval=lambda s, x, *, must: s.remove(x) if must else s.discard(x), eval_attrs=True,
                 doc="remove an item from a set; {must}: KeyError where the set does not have it", traits=BOXES)
SET_NEXT = Op("set_next", _next_of_set, _READ, lower=_set_next_lower,
              partials=NO_RULE, eval=_set_next, eval_attrs=True,
              doc="the next item of a set: (set, position, size that it must have) -> (whether there is one, the item, "
                  "the position after it)" + _RESTART + _OBJECTS)
ITER_NEW = Op("iter_new", lambda types, attrs: Object, _ANY | ALLOCATES, lower=_iter_lower, partials=NO_RULE, eval=iter,
              doc="the interpreter's iterator over an object")
ITER_NEXT = Op("iter_next", lambda types, attrs: Tuple((Bool, attrs["type"])), _ANY | ALLOCATES, lower=_iter_next_lower,
               partials=NO_RULE, eval=_iter_next, eval_attrs=True,
               doc="the next item of the interpreter's iterator: (whether there is one, the item as {type})" + _RESTART)

TABLE_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
