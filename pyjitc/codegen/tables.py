"""Helpers that search the tables of Python's dicts and sets for a key that is a native int, a str, or a tuple of two
ints (`pair`: a pointer to the two).

They read the tables in memory (runtime/platform.py), without an object for the key; comparisons that run methods of
classes, and changes of the size of a table, are left to the interpreter's C API. Programs share them: they are compiled
once, see shared.py. Where this Python's tables have an unknown layout, the searches always call the C API.

A search returns the address of what was found, null where the key is missing, or 1 where the C API must be called. A
helper that returns an object returns a borrowed reference, null where there is none, or 1 where an exception was
raised.
"""
from __future__ import annotations

from ..runtime import platform
from ..runtime.platform import DICT, DICT_WATCHERS, KEYS, LONG_DIGITS, LONG_TAG, LONG_TAGGED, OB_TYPE, SET, STR
from .definitions import definer, load as _load, store as _store

__all__ = ["NEXT_PLACE", "PLACES", "TEXT", "small_int"]

_ASK = "inttoptr (i64 1 to ptr)"
# Bits of the version of a dict that are not part of the number: the watchers to notify, and from 3.13 on a count of
# changes.
_VERSION_BITS = 0 if platform.PYTHON < (3, 12) else 8 if platform.PYTHON < (3, 13) else 12
TEXT: dict[str, str] = {}
_define = definer(TEXT, "alwaysinline")

# The block that computes the next place to look at in a hash table, as CPython's dicts and sets do.
NEXT_PLACE = """
next:
  %perturb1 = lshr i64 %perturb, 5
  %five = mul i64 %place, 5
  %place1 = and i64 (add i64 (add i64 %five, %perturb1), 1), %mask
  br label %look
"""

# ---------------------------------------------------------------- ints and texts

# CPython's hash of an int: the value modulo 2**61 - 1, with its sign.
_define("i64 @pyj_int_hash(i64 %k)", """
  %negative = icmp slt i64 %k, 0
  %size = select i1 %negative, i64 (sub i64 0, %k), i64 %k
  %sum = add i64 (and i64 %size, 2305843009213693951), (lshr i64 %size, 61)
  %over = icmp uge i64 %sum, 2305843009213693951
  %rest = select i1 %over, i64 (sub i64 %sum, 2305843009213693951), i64 %sum
  %signed = select i1 %negative, i64 (sub i64 0, %rest), i64 %rest
  %result = select i1 (icmp eq i64 %signed, -1), i64 -2, i64 %signed
  ret i64 %result""")

_SIZE_AND_SIGN = ("""
  %digits = lshr i64 %tag, 3
  %sign = sub i64 1, (and i64 %tag, 3)
""" if LONG_TAGGED else """
  %digits = call i64 @llvm.abs.i64(i64 %tag, i1 false)
  %sign = select i1 (icmp slt i64 %tag, 0), i64 -1, i64 1
""")


def small_int(pointer: str, block: str, otherwise: str) -> str:
    """Instructions at the end of `block` that read %value from an int of up to two digits, and that branch to
    `otherwise` for other ints."""
    return f"""
{_load("tag", "i64", pointer, LONG_TAG)}{_load("lowest", "i32", pointer, LONG_DIGITS)}{_SIZE_AND_SIGN}
  %one = zext i32 %lowest to i64
  switch i64 %digits, label %{otherwise} [ i64 0, label %small  i64 1, label %small  i64 2, label %two ]
two:
{_load("second", "i32", pointer, LONG_DIGITS + 4)}
  %both = or i64 (shl i64 (zext i32 %second to i64), 30), %one
small:
  %size = phi i64 [ %one, %{block} ], [ %one, %{block} ], [ %both, %two ]
  %value = mul i64 %sign, %size
"""


# Whether an object is the int k: 0, 1, or 2 where the C API must be called.
_define("i32 @pyj_int_is(ptr %o, i64 %k)", f"""
{_load("class", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %class, @PyLong_Type), label %int, label %ask
int:
{small_int("%o", "int", "ask")}  %same = icmp eq i64 %value, %k
  ret i32 (zext i1 %same to i32)
ask:
  ret i32 2""")

_define("i64 @pyj_str_hash(ptr %s)", f"""
{_load("known", "i64", "%s", STR["hash"])}
  br i1 (icmp eq i64 %known, -1), label %find, label %done
find:
  ret i64 (call i64 @PyObject_Hash(ptr %s))
done:
  ret i64 %known""")

# Whether two texts with the same hash are equal. Bits of the state: 28 character size, 32 compact, 64 ASCII.
_define("i1 @pyj_str_same(ptr %x, ptr %y)", f"""
{_load("n", "i64", "%x", STR["length"])}{_load("m", "i64", "%y", STR["length"])}
  br i1 (icmp eq i64 %n, %m), label %forms, label %no
forms:
{_load("xstate", "i32", "%x", STR["state"])}{_load("ystate", "i32", "%y", STR["state"])}
  %form = and i32 (xor i32 %xstate, %ystate), 124
  %compact = and i32 %xstate, 32
  br i1 (and i1 (icmp eq i32 %form, 0), (icmp ne i32 %compact, 0)), label %bytes, label %rare
bytes:
  %start = select i1 (icmp ne i32 (and i32 %xstate, 64), 0), i64 {STR["ascii"]}, i64 {STR["wide"]}
  %kind = lshr i32 %xstate, 2
  %size = mul i64 %n, (zext i32 (and i32 %kind, 7) to i64)
  %xdata = getelementptr i8, ptr %x, i64 %start
  %ydata = getelementptr i8, ptr %y, i64 %start
  ret i1 (icmp eq i32 (call i32 @memcmp(ptr %xdata, ptr %ydata, i64 %size)), 0)
rare:
  ret i1 (icmp eq i32 (call i32 @PyUnicode_Compare(ptr %x, ptr %y)), 0)
no:
  ret i1 false""")

_P1, _P2, _P5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
# CPython's hash of a tuple of two items (xxHash).
_define("i64 @pyj_pair_hash(ptr %k)", f"""
  %x = load i64, ptr %k
{_load("y", "i64", "%k", 8)}
  %xhash = call i64 @pyj_int_hash(i64 %x)
  %yhash = call i64 @pyj_int_hash(i64 %y)
  %x1 = add i64 {_P5}, (mul i64 %xhash, {_P2})
  %x2 = call i64 @llvm.fshl.i64(i64 %x1, i64 %x1, i64 31)
  %y1 = add i64 (mul i64 %x2, {_P1}), (mul i64 %yhash, {_P2})
  %y2 = call i64 @llvm.fshl.i64(i64 %y1, i64 %y1, i64 31)
  %sum = add i64 (mul i64 %y2, {_P1}), {2 ^ _P5 ^ 3527539}
  %result = select i1 (icmp eq i64 %sum, -1), i64 1546275796, i64 %sum
  ret i64 %result""")
# Whether an object is a tuple of these two ints: 0, 1, or 2 where the C API must be called.
_define("i32 @pyj_pair_is(ptr %o, ptr %k)", f"""
{_load("class", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %class, @PyTuple_Type), label %tuple, label %ask
tuple:
{_load("size", "i64", "%o", platform.OB_SIZE)}
  br i1 (icmp eq i64 %size, 2), label %items, label %no
items:
  %x = load i64, ptr %k
{_load("y", "i64", "%k", 8)}{_load("first", "ptr", "%o", platform.TUPLE_ITEMS)}
{_load("second", "ptr", "%o", platform.TUPLE_ITEMS + 8)}
  %xis = call i32 @pyj_int_is(ptr %first, i64 %x)
  %yis = call i32 @pyj_int_is(ptr %second, i64 %y)
  br i1 (icmp uge i32 (or i32 %xis, %yis), 2), label %ask, label %known
known:
  ret i32 (and i32 %xis, %yis)
no:
  ret i32 0
ask:
  ret i32 2""")
_define("ptr @pyj_pair_new(ptr %k)", f"""
  %x = load i64, ptr %k
{_load("y", "i64", "%k", 8)}
  %first = call ptr @PyLong_FromLongLong(i64 %x)
  %second = call ptr @PyLong_FromLongLong(i64 %y)
  br i1 (or i1 (icmp eq ptr %first, null), (icmp eq ptr %second, null)), label %none, label %pack
pack:
  %made = call ptr (i64, ...) @PyTuple_Pack(i64 2, ptr %first, ptr %second)
  call void @Py_DecRef(ptr %first)
  call void @Py_DecRef(ptr %second)
  ret ptr %made
none:
  call void @Py_DecRef(ptr %first)
  call void @Py_DecRef(ptr %second)
  ret ptr null""", shared=True)

_SMALL = """
  %shifted = add i64 %v, 5
  %negative = icmp slt i64 %v, 0
  %size = select i1 %negative, i64 (sub i64 0, %v), i64 %v
  br i1 (or i1 (icmp ult i64 %shifted, 262), (icmp uge i64 %size, 1073741824)), label %no, label %count
"""
_ONE_DIGIT, _SIGNED = (("""
  %few = lshr i64 %tag, 3
  %single = icmp eq i64 %few, 1
""", "  %new = select i1 %negative, i64 10, i64 8\n") if LONG_TAGGED else ("""
  %few = call i64 @llvm.abs.i64(i64 %tag, i1 false)
  %single = icmp eq i64 %few, 1
""", "  %new = select i1 %negative, i64 -1, i64 1\n"))
# Overwrites the object at `slot`, to which there is no other reference, with another int or float, which is
# unobservable. Only for ints of one digit, and not for those of which the interpreter has one object each.
_define("i1 @pyj_becomes_int(ptr %slot, i64 %v)", f"""
{_SMALL}
count:
  %o = load ptr, ptr %slot
  br i1 (icmp eq i64 (load i64, ptr %o), 1), label %class, label %no
class:
{_load("of", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %of, @PyLong_Type), label %digit, label %no
digit:
{_load("tag", "i64", "%o", LONG_TAG)}{_ONE_DIGIT}
  br i1 %single, label %yes, label %no
yes:
{_SIGNED}
  store i64 %new, ptr %tag.p
  store i32 (trunc i64 %size to i32), ptr (getelementptr i8, ptr %o, i64 {LONG_DIGITS})
  ret i1 true
no:
  ret i1 false""")
_define("i1 @pyj_becomes_float(ptr %slot, double %v)", f"""
  %o = load ptr, ptr %slot
  br i1 (icmp eq i64 (load i64, ptr %o), 1), label %class, label %no
class:
{_load("of", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %of, @PyFloat_Type), label %yes, label %no
yes:
{_store("where", "double", "%v", "%o", platform.FLOAT_VALUE)}
  ret i1 true
no:
  ret i1 false""")

# ---------------------------------------------------------------- dicts

_define("i64 @pyj_dict_index(ptr %indices, i64 %i, i64 %width)", """
  switch i64 %width, label %eight [ i64 0, label %one  i64 1, label %two  i64 2, label %four ]
one:
  %v1 = sext i8 (load i8, ptr (getelementptr i8, ptr %indices, i64 %i)) to i64
  br label %done
two:
  %v2 = sext i16 (load i16, ptr (getelementptr i16, ptr %indices, i64 %i)) to i64
  br label %done
four:
  %v4 = sext i32 (load i32, ptr (getelementptr i32, ptr %indices, i64 %i)) to i64
  br label %done
eight:
  %v8 = load i64, ptr (getelementptr i64, ptr %indices, i64 %i)
done:
  %n = phi i64 [ %v1, %one ], [ %v2, %two ], [ %v4, %four ], [ %v8, %eight ]
  ret i64 %n""")

# `short`: entries are (key, value) of texts, else (hash, key, value).
if platform.PYTHON < (3, 11):
    _KIND = f"""
{_load("keys", "ptr", "%d", DICT["keys"])}{_load("apart", "ptr", "%d", DICT["values"])}
  %whole = icmp eq ptr %apart, null
  %short = icmp eq i64 0, 1
  br i1 %whole, label %search, label %ask
"""
    _KIND_OF_INTS = _KIND
    _EXTENT = f"""
{_load("size", "i64", "%keys", KEYS["size"])}
  %below2 = icmp ugt i64 %size, 255
  %below4 = icmp ugt i64 %size, 65535
  %below8 = icmp ugt i64 %size, 4294967295
  %width = select i1 %below8, i64 3, i64 (select i1 %below4, i64 2, i64 (zext i1 %below2 to i64))
  %total = shl i64 %size, %width
"""
else:
    _KIND = f"""
{_load("keys", "ptr", "%d", DICT["keys"])}{_load("kind", "i8", "%keys", KEYS["kind"])}
  %short = icmp eq i8 %kind, 1
  %whole = icmp ule i8 %kind, 1
  br i1 %whole, label %search, label %ask
"""
    # If all keys are texts, an int is not among them.
    _KIND_OF_INTS = f"""
{_load("keys", "ptr", "%d", DICT["keys"])}{_load("kind", "i8", "%keys", KEYS["kind"])}
  switch i8 %kind, label %ask [ i8 0, label %search  i8 1, label %absent ]
"""
    _EXTENT = f"""
{_load("log", "i8", "%keys", KEYS["size"])}{_load("bytes", "i8", "%keys", KEYS["bytes"])}
  %logw = zext i8 %log to i64
  %bytesw = zext i8 %bytes to i64
  %size = shl i64 1, %logw
  %width = sub i64 %bytesw, %logw
  %total = shl i64 1, %bytesw
"""
# The begin of a search in a block called `search`: the number of the entry at the first place, or at the next one.
PLACES = f"""{_EXTENT}
  %mask = sub i64 %size, 1
  %indices = getelementptr i8, ptr %keys, i64 {KEYS["indices"]}
  %entries = getelementptr i8, ptr %indices, i64 %total
  %place0 = and i64 %hash, %mask
look:
  %place = phi i64 [ %place0, %search ], [ %place1, %next ]
  %perturb = phi i64 [ %hash, %search ], [ %perturb1, %next ]
  %n = call i64 @pyj_dict_index(ptr %indices, i64 %place, i64 %width)"""
_SEARCH = f"""
{PLACES}
  br i1 (icmp sge i64 %n, 0), label %entry, label %none
none:
  br i1 (icmp eq i64 %n, -1), label %absent, label %next
{NEXT_PLACE}"""
_END = f"""
absent:
  ret ptr null
ask:
  ret ptr {_ASK}"""
_UNKNOWN = f"  ret ptr {_ASK}"

for _k, _t in (("int", "i64"), ("pair", "ptr")):
    _define(f"ptr @pyj_dict_slot_{_k}(ptr %d, {_t} %k)", f"""
  %hash = call i64 @pyj_{_k}_hash({_t} %k)
{_KIND_OF_INTS}
search:{_SEARCH}
entry:
  %e = getelementptr i8, ptr %entries, i64 (mul i64 %n, 24)
  br i1 (icmp eq i64 (load i64, ptr %e), %hash), label %key, label %next
key:
{_load("o", "ptr", "%e", 8)}
  %is = call i32 @pyj_{_k}_is(ptr %o, {_t} %k)
  switch i32 %is, label %ask [ i32 0, label %next  i32 1, label %found ]
found:
  ret ptr (getelementptr i8, ptr %e, i64 16)
{_END}""" if platform.tables_are_known() else _UNKNOWN)

_define("ptr @pyj_dict_slot_str(ptr %d, ptr %k)", f"""
  %hash = call i64 @pyj_str_hash(ptr %k)
{_KIND}
search:
  %stride = select i1 %short, i64 16, i64 24
  %keyat = select i1 %short, i64 0, i64 8
{_SEARCH}
entry:
  %e = getelementptr i8, ptr %entries, i64 (mul i64 %n, %stride)
  %op = getelementptr i8, ptr %e, i64 %keyat
  %o = load ptr, ptr %op
  br i1 (icmp eq ptr %o, %k), label %found, label %compare
compare:
  %hashp = select i1 %short, ptr (getelementptr i8, ptr %o, i64 {STR["hash"]}), ptr %e
  br i1 (icmp eq i64 (load i64, ptr %hashp), %hash), label %class, label %next
class:
{_load("of", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %of, @PyUnicode_Type), label %text, label %ask
text:
  br i1 (call i1 @pyj_str_same(ptr %o, ptr %k)), label %found, label %next
found:
  ret ptr (getelementptr i8, ptr %op, i64 8)
{_END}""" if platform.tables_are_known() else _UNKNOWN)

_define("ptr @pyj_dict_get_object(ptr %d, ptr %k)", f"""
  %found = call ptr @PyDict_GetItemWithError(ptr %d, ptr %k)
  br i1 (icmp eq ptr %found, null), label %missing, label %have
missing:
  %error = call ptr @PyErr_Occurred()
  ret ptr (select i1 (icmp ne ptr %error, null), ptr {_ASK}, ptr null)
have:
  ret ptr %found""", shared=True)

_TYPES = {"int": "i64", "float": "double", "str": "ptr", "pair": "ptr", "object": "ptr"}
_ASKED = {  # the expression of the key in calls of the C API
    **{k: (f"""
  %key = call ptr @{make}({t} %k)
  br i1 (icmp eq ptr %key, null), label %fail, label %boxed
boxed:
""", "  call void @Py_DecRef(ptr %key)\n") for k, t, make in (
        ("int", "i64", "PyLong_FromLongLong"), ("pair", "ptr", "pyj_pair_new"))},
    "str": ("  %key = getelementptr i8, ptr %k, i64 0\n", "")}
_FAIL = {"int": "fail:\n  ret {}\n", "pair": "fail:\n  ret {}\n", "str": ""}

for _n, _k in enumerate(("int", "str", "pair"), 1):
    # Version numbers that the interpreter, which counts from 1, does not reach: each image has its own.
    TEXT[f"pyj_versions_{_k}"] = f"@pyj_versions_{_k} = internal global i64 {_n << 60}"
    _define(f"void @pyj_dict_version_{_k}(ptr %d)", f"""
  %next = add i64 (load i64, ptr @pyj_versions_{_k}), {1 << _VERSION_BITS}
  store i64 %next, ptr @pyj_versions_{_k}
{_load("version", "i64", "%d", DICT["version"])}
  store i64 (or i64 (and i64 %version, {(1 << _VERSION_BITS) - 1}), %next), ptr %version.p
  ret void""")
    _box, _drop = _ASKED[_k]
    _define(f"ptr @pyj_dict_get_{_k}(ptr %d, {_TYPES[_k]} %k)", f"""
  %slot = call ptr @pyj_dict_slot_{_k}(ptr %d, {_TYPES[_k]} %k)
  %at = ptrtoint ptr %slot to i64
  br i1 (icmp ugt i64 %at, 1), label %found, label %other
found:
  ret ptr (load ptr, ptr %slot)
other:
  br i1 (icmp eq i64 %at, 0), label %none, label %ask
none:
  ret ptr null
ask:{_box}
  %asked = call ptr @pyj_dict_get_object(ptr %d, ptr %key)
{_drop}  ret ptr %asked
{_FAIL[_k].format(f"ptr {_ASK}")}""", shared=True)
    _define(f"i32 @pyj_dict_has_{_k}(ptr %d, {_TYPES[_k]} %k)", f"""
  %at = ptrtoint ptr (call ptr @pyj_dict_slot_{_k}(ptr %d, {_TYPES[_k]} %k)) to i64
  br i1 (icmp eq i64 %at, 1), label %ask, label %known
known:
  ret i32 (zext i1 (icmp ne i64 %at, 0) to i32)
ask:{_box}
  %asked = call i32 @PyDict_Contains(ptr %d, ptr %key)
{_drop}  ret i32 %asked
{_FAIL[_k].format("i32 -1")}""", shared=True)
    for _v in ("int", "float"):
        _make = {"int": "PyLong_FromLongLong", "float": "PyFloat_FromDouble"}[_v]
        _watched = f"""
{_load("version", "i64", "%d", DICT["version"])}
  br i1 (icmp ne i64 (and i64 %version, {DICT_WATCHERS}), 0), label %store, label %alter
""" if DICT_WATCHERS else ""
        # Replaces a number by another: no entry moves. The dict gets a new version, as with any change.
        _define(f"i32 @pyj_dict_put_{_k}_{_v}(ptr %d, {_TYPES[_k]} %k, {_TYPES[_v]} %v)", f"""
  %slot = call ptr @pyj_dict_slot_{_k}(ptr %d, {_TYPES[_k]} %k)
  br i1 (icmp ugt i64 (ptrtoint ptr %slot to i64), 1), label %found, label %store
found:{_watched}
alter:
  br i1 (call i1 @pyj_becomes_{_v}(ptr %slot, {_TYPES[_v]} %v)), label %done, label %replace
replace:
  %fresh = call ptr @{_make}({_TYPES[_v]} %v)
  br i1 (icmp eq ptr %fresh, null), label %out, label %exchange
exchange:
  %old = load ptr, ptr %slot
  store ptr %fresh, ptr %slot
  call void @pyj_dict_version_{_k}(ptr %d)
  call void @Py_DecRef(ptr %old)
done:
  ret i32 0
store:
  %value = call ptr @{_make}({_TYPES[_v]} %v)
  br i1 (icmp eq ptr %value, null), label %out, label %made
made:{_box}
  %status = call i32 @PyDict_SetItem(ptr %d, ptr %key, ptr %value)
{_drop}  call void @Py_DecRef(ptr %value)
  ret i32 %status
{'unused:' if _k == 'str' else 'fail:'}
  call void @Py_DecRef(ptr %value)
  ret i32 -1
out:
  ret i32 -1""", shared=True)
for _k in ("int", "pair"):
    _define(f"i32 @pyj_dict_put_{_k}_object(ptr %d, {_TYPES[_k]} %k, ptr %value)", f"""
start:{_ASKED[_k][0]}
  %status = call i32 @PyDict_SetItem(ptr %d, ptr %key, ptr %value)
  call void @Py_DecRef(ptr %key)
  ret i32 %status
fail:
  ret i32 -1""", shared=True)
# Raises KeyError(key), also for a tuple.
_define("void @pyj_key_error(ptr %key)", """
  %given = call ptr (i64, ...) @PyTuple_Pack(i64 1, ptr %key)
  br i1 (icmp eq ptr %given, null), label %done, label %set
set:
  call void @PyErr_SetObject(ptr (load ptr, ptr @PyExc_KeyError), ptr %given)
  call void @Py_DecRef(ptr %given)
done:
  ret void""", shared=True)

# ---------------------------------------------------------------- sets

# The entry of a key, or the free one where it would be added, by CPython's order of probing. 9: CPython's
# LINEAR_PROBES.
_define_place = """
{head}
{mask}{table}
  %place0 = and i64 %hash, %mask
look:
  %place = phi i64 [ %place0, %0 ], [ %place1, %next ]
  %perturb = phi i64 [ %hash, %0 ], [ %perturb1, %next ]
  %first = getelementptr [2 x i64], ptr %table, i64 %place
  %probes0 = select i1 (icmp ule i64 (add i64 %place, 9), %mask), i64 9, i64 0
probe:
  %e = phi ptr [ %first, %look ], [ %following, %step ]
  %probes = phi i64 [ %probes0, %look ], [ %probes1, %step ]
  %o = load ptr, ptr %e
  br i1 (icmp eq ptr %o, null), label %found, label %full
full:
{ehash}
  br i1 (icmp eq i64 %ehash, %hash), label %compare, label %step
compare:
{compare}
step:
  %following = getelementptr [2 x i64], ptr %e, i64 1
  %probes1 = sub i64 %probes, 1
  br i1 (icmp eq i64 %probes, 0), label %next, label %probe
{next}found:
  ret ptr %e
ask:
  ret ptr {ask}"""


def _place(key: str, head: str, compare: str) -> None:
    _define(f"ptr @pyj_set_place_{key}(ptr %s, {_TYPES[key]} %k, i64 %hash)", _define_place.format(
        head=head, mask=_load("mask", "i64", "%s", SET["mask"]), table=_load("table", "ptr", "%s", SET["table"]),
        ehash=_load("ehash", "i64", "%e", 8), compare=compare, next=NEXT_PLACE, ask=_ASK)
        if platform.tables_are_known() else _UNKNOWN)


for _k in ("int", "pair"):
    _place(_k, "", f"""
  %is = call i32 @pyj_{_k}_is(ptr %o, {_TYPES[_k]} %k)
  switch i32 %is, label %ask [ i32 0, label %step  i32 1, label %found ]
""")
_place("str", "", f"""
  br i1 (icmp eq ptr %o, %k), label %found, label %class
class:
{_load("of", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %of, @PyUnicode_Type), label %text, label %ask
text:
  br i1 (call i1 @pyj_str_same(ptr %o, ptr %k)), label %found, label %step
""")

for _k in ("int", "str", "pair"):
    _box, _drop = _ASKED[_k]
    _made = "  %worse = icmp eq ptr %made, null\n  br i1 %worse, label %out, label %write\n"
    _new, _bad = {
        "int": ("call ptr @PyLong_FromLongLong(i64 %k)", _made), "pair": ("call ptr @pyj_pair_new(ptr %k)", _made),
        "str": ("getelementptr i8, ptr %k, i64 0", "  call void @Py_IncRef(ptr %made)\n  br label %write\n")}[_k]
    _define(f"i32 @pyj_set_has_{_k}(ptr %s, {_TYPES[_k]} %k)", f"""
  %hash = call i64 @pyj_{_k}_hash({_TYPES[_k]} %k)
  %e = call ptr @pyj_set_place_{_k}(ptr %s, {_TYPES[_k]} %k, i64 %hash)
  br i1 (icmp eq i64 (ptrtoint ptr %e to i64), 1), label %ask, label %known
known:
  %o = load ptr, ptr %e
  ret i32 (zext i1 (icmp ne ptr %o, null) to i32)
ask:{_box}
  %asked = call i32 @PySet_Contains(ptr %s, ptr %key)
{_drop}  ret i32 %asked
{_FAIL[_k].format("i32 -1")}""", shared=True)
    # If keys were removed, the interpreter stores the new one in the place of one of them.
    _define(f"i32 @pyj_set_add_{_k}(ptr %s, {_TYPES[_k]} %k)", f"""
  %hash = call i64 @pyj_{_k}_hash({_TYPES[_k]} %k)
  %e = call ptr @pyj_set_place_{_k}(ptr %s, {_TYPES[_k]} %k, i64 %hash)
  br i1 (icmp eq i64 (ptrtoint ptr %e to i64), 1), label %ask, label %known
known:
  %o = load ptr, ptr %e
  br i1 (icmp ne ptr %o, null), label %done, label %new
done:
  ret i32 0
new:
{_load("fill", "i64", "%s", SET["fill"])}{_load("used", "i64", "%s", SET["used"])}
{_load("mask", "i64", "%s", SET["mask"])}
  %full = add i64 %fill, 1
  %five = mul i64 %full, 5
  %three = mul i64 %mask, 3
  br i1 (and i1 (icmp ult i64 %five, %three), (icmp eq i64 %fill, %used)), label %own, label %ask
own:
  %made = {_new}
{_bad}
write:
  store ptr %made, ptr %e
{_store("hashp", "i64", "%hash", "%e", 8)}
  store i64 %full, ptr %fill.p
  store i64 (add i64 %used, 1), ptr %used.p
  ret i32 0
ask:{_box}
  %asked = call i32 @PySet_Add(ptr %s, ptr %key)
{_drop}  ret i32 %asked
{_FAIL[_k].format("i32 -1")}{'unused:' if _k == 'str' else 'out:'}
  ret i32 -1""", shared=True)

