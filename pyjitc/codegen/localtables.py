"""Helpers of local tables: dicts and sets that compiled code makes and that do not escape (passes/localtables.py).

A table starts with the count of references to it; the offsets of its other fields are in ops/localtables.py.
`entries` are in insertion order, each (hash, words of the key, words of the value); the hash of a removed entry is
-1. `indices` are 32-bit numbers of entries, -1 for a free slot and -2 for a removed entry. `objects` has a bit for
each word of an entry that is a reference to an object, and `drop` releases the references of an entry to native
lists, if there are any. A new table contains room for a few entries. Programs share these helpers: they are compiled
once, see shared.py.

The probing is CPython's. The hash of an int is the int with its upper half added, so that neighbouring ints get
neighbouring slots: the ints of programs are often dense.
"""
from __future__ import annotations

from ..ops import localtables as at
from ..runtime import platform
from ..runtime.platform import DICT, KEYS, STR, STR_STATE
from . import tables
from .definitions import definer, load as _load

__all__ = ["TEXT"]

_FEW = 8  # indices of a new table, of which two thirds can be used
_BYTES = at.OWN + 4 * _FEW  # bytes of a table, without its first entries
_MOST = 1 << 30  # the most entries

TEXT: dict[str, str] = {"pyj_str_same": tables.TEXT["pyj_str_same"]}
_define = definer(TEXT, "alwaysinline")


def _store(value: str, pointer: str, offset: int, name: str) -> str:
    return f"  %{name}.at = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {value}, ptr %{name}.at\n"


_define("ptr @pyj_table_new(i64 %stride, i64 %objects, ptr %drop)", f"""

  %d = call ptr @malloc(i64 (add i64 (mul i64 %stride, {2 * _FEW // 3}), {_BYTES}))
  br i1 (icmp eq ptr %d, null), label %lost, label %made
lost:
  %none = call ptr @PyErr_NoMemory()
  ret ptr null
made:
  store i64 1, ptr %d
{_store("i64 0", "%d", at.USED, "used")}
{_store("i64 0", "%d", at.COUNT, "count")}{_store(f"i64 {2 * _FEW // 3}", "%d", at.ROOM, "capacity")}
{_store(f"i64 {_FEW - 1}", "%d", at.MASK, "mask")}{_store("i64 %stride", "%d", at.STRIDE, "each")}
{_store("i64 %objects", "%d", at.OBJECTS, "objects")}{_store("ptr %drop", "%d", at.DROP, "dropped")}
  %own = getelementptr i8, ptr %d, i64 {at.OWN}
{_store("ptr %own", "%d", at.INDICES, "indices")}
  %first = getelementptr i8, ptr %d, i64 {_BYTES}
{_store("ptr %first", "%d", at.ENTRIES, "entries")}
  %set = call ptr @memset(ptr %own, i32 255, i64 {4 * _FEW})
  ret ptr %d""", shared=True)
_define("void @pyj_table_drop(ptr %d, ptr %e)", f"""
start:
{_load("objects", "i64", "%d", at.OBJECTS)}{_load("lists", "ptr", "%d", at.DROP)}
  br i1 (icmp eq ptr %lists, null), label %next, label %natives
natives:
  call void %lists(ptr %e)
next:
  %left = phi i64 [ %objects, %start ], [ %objects, %natives ], [ %fewer, %one ]
  br i1 (icmp eq i64 %left, 0), label %done, label %one
one:
  %fewer = and i64 %left, (sub i64 %left, 1)
  %at = getelementptr i64, ptr %e, i64 (call i64 @llvm.cttz.i64(i64 %left, i1 true))
  %o = load ptr, ptr %at
  store ptr null, ptr %at
  call void @pyj_release_object(ptr %o)
  br label %next
done:
  ret void""", shared=True)
_define("void @pyj_table_free(ptr %d)", f"""
{_load("objects", "i64", "%d", at.OBJECTS)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("n", "i64", "%d", at.COUNT)}{_load("e0", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
{_load("lists", "ptr", "%d", at.DROP)}
  br i1 (and i1 (icmp eq i64 %objects, 0), (icmp eq ptr %lists, null)), label %memory, label %look
look:
  %i = phi i64 [ 0, %0 ], [ %i1, %following ]
  %e = phi ptr [ %e0, %0 ], [ %e1, %following ]
  br i1 (icmp eq i64 %i, %n), label %memory, label %entry
entry:
  %i1 = add i64 %i, 1
  %e1 = getelementptr i8, ptr %e, i64 %stride
  br i1 (icmp eq i64 (load i64, ptr %e), -1), label %following, label %drop
drop:
  call void @pyj_table_drop(ptr %d, ptr %e)
following:
  br label %look
memory:
  br i1 (icmp eq ptr %indices, (getelementptr i8, ptr %d, i64 {at.OWN})), label %done, label %apart
apart:
  call void @free(ptr %indices)
done:
  call void @free(ptr %d)
  ret void""", shared=True)

_define("void @pyj_table_retain(ptr %d)", """
  store i64 (add i64 (load i64, ptr %d), 1), ptr %d
  ret void""")
_define("void @pyj_table_release(ptr %d)", """
  %new = sub i64 (load i64, ptr %d), 1
  store i64 %new, ptr %d
  br i1 (icmp eq i64 %new, 0), label %dead, label %done
dead:
  call void @pyj_table_free(ptr %d)
done:
  ret void""")

# Make room for twice as many entries: 0, or -1 where memory is exhausted.
_define("i32 @pyj_table_grow(ptr %d)", f"""
{_load("used", "i64", "%d", at.USED)}{_load("count", "i64", "%d", at.COUNT)}
{_load("stride", "i64", "%d", at.STRIDE)}{_load("old", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}
  br i1 (icmp ugt i64 %used, {_MOST}), label %lost, label %size
size:
  %wanted = add i64 %used, (select i1 (icmp ugt i64 %used, 65536), i64 (lshr i64 %used, 1), i64 %used)
double:
  %n = phi i64 [ {_FEW}, %size ], [ %n2, %double ]
  %n2 = shl i64 %n, 1
  %room = udiv i64 %n2, 3
  br i1 (icmp ule i64 %room, %wanted), label %double, label %get
get:
  %ibytes = shl i64 %n, 2
  %new = call ptr @malloc(i64 (add i64 %ibytes, (mul i64 %room, %stride)))
  br i1 (icmp eq ptr %new, null), label %lost, label %made
lost:
  %none = call ptr @PyErr_NoMemory()
  ret i32 -1
made:
  %set = call ptr @memset(ptr %new, i32 255, i64 %ibytes)
  %to0 = getelementptr i8, ptr %new, i64 %ibytes
  %mask = sub i64 %n, 1
  br i1 (icmp eq i64 %used, %count), label %all, label %pick
all:
  %copied = call ptr @memcpy(ptr %to0, ptr %entries, i64 (mul i64 %used, %stride))
  br label %index
pick:
  %i = phi i64 [ 0, %made ], [ %i1, %picked ]
  %from = phi ptr [ %entries, %made ], [ %from1, %picked ]
  %to = phi ptr [ %to0, %made ], [ %to1, %picked ]
  br i1 (icmp eq i64 %i, %count), label %index, label %one
one:
  %i1 = add i64 %i, 1
  %from1 = getelementptr i8, ptr %from, i64 %stride
  br i1 (icmp eq i64 (load i64, ptr %from), -1), label %picked, label %move
move:
  %moved = call ptr @memcpy(ptr %to, ptr %from, i64 %stride)
  %after = getelementptr i8, ptr %to, i64 %stride
picked:
  %to1 = phi ptr [ %to, %one ], [ %after, %move ]
  br label %pick
index:
  br label %enter
enter:
  %k = phi i64 [ 0, %index ], [ %k1, %entered ]
  %e = phi ptr [ %to0, %index ], [ %e1, %entered ]
  br i1 (icmp eq i64 %k, %used), label %done, label %find
find:
  %h = load i64, ptr %e
  %place0 = and i64 %h, %mask
look:
  %place = phi i64 [ %place0, %find ], [ %place1, %next ]
  %perturb = phi i64 [ %h, %find ], [ %perturb1, %next ]
  %ip = getelementptr i32, ptr %new, i64 %place
  br i1 (icmp eq i32 (load i32, ptr %ip), -1), label %entered, label %next
{tables.NEXT_PLACE}entered:
  store i32 (trunc i64 %k to i32), ptr %ip
  %k1 = add i64 %k, 1
  %e1 = getelementptr i8, ptr %e, i64 %stride
  br label %enter
done:
  br i1 (icmp eq ptr %old, (getelementptr i8, ptr %d, i64 {at.OWN})), label %write, label %apart
apart:
  call void @free(ptr %old)
write:
{_store("i64 %used", "%d", at.COUNT, "count")}{_store("i64 %room", "%d", at.ROOM, "capacity")}
{_store("i64 %mask", "%d", at.MASK, "mask")}{_store("ptr %new", "%d", at.INDICES, "indices")}
{_store("ptr %to0", "%d", at.ENTRIES, "entries")}
  ret i32 0""", shared=True)

# Remove the entry with the given number.
_define("void @pyj_table_remove(ptr %d, i64 %n)", f"""
{_load("mask", "i64", "%d", at.MASK)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
{_load("used", "i64", "%d", at.USED)}
  %e = getelementptr i8, ptr %entries, i64 (mul i64 %n, %stride)
  %h = load i64, ptr %e
  %number = trunc i64 %n to i32
  %place0 = and i64 %h, %mask
look:
  %place = phi i64 [ %place0, %0 ], [ %place1, %next ]
  %perturb = phi i64 [ %h, %0 ], [ %perturb1, %next ]
  %ip = getelementptr i32, ptr %indices, i64 %place
  br i1 (icmp eq i32 (load i32, ptr %ip), %number), label %found, label %next
{tables.NEXT_PLACE}found:
  store i32 -2, ptr %ip
  store i64 -1, ptr %e
  store i64 (sub i64 %used, 1), ptr %used.p
  call void @pyj_table_drop(ptr %d, ptr %e)
  ret void""", shared=True)

_NO_ERROR = """
  %hash = select i1 (icmp eq i64 %h, -1), i64 -2, i64 %h
  ret i64 %hash"""
_MIX = (11400714785074694791, 14029467366897019727, 1609587929392839161)


def _hash_of_words(n: int) -> str:
    """The hash of n ints: products with odd numbers, whose upper halves are mixed into the lower ones."""
    text = ""
    for i in range(n):
        text += f"""
  %x{i} = xor i64 (mul i64 %k{i}, {_MIX[i % 3]}), {f"%h{i - 1}" if i else 0}
  %u{i} = lshr i64 %x{i}, 32
  %h{i} = {f"xor i64 %x{i}, %u{i}" if i else "add i64 %x0, 0"}"""
    return f"{text}\n  %h = add i64 %h{n - 1}, 0{_NO_ERROR}"


def _same_words(n: int) -> str:
    text, before = "", "true"
    for i in range(n):
        text += f"""
  %is{i} = icmp eq i64 (load i64, ptr (getelementptr i64, ptr %e, i64 {i + 1})), %k{i}
  %all{i} = and i1 {before}, %is{i}"""
        before = f"%all{i}"
    return f"{text}\n  br i1 {before}, label %found, label %next\n"


def _write_words(n: int) -> str:
    return "".join(f"  %w{i}.p = getelementptr i64, ptr %e, i64 {i + 1}\n  store i64 %k{i}, ptr %w{i}.p\n"
                   for i in range(n))


_TEXT_IS = f"""
{_load("o", "ptr", "%e", 8)}
  br i1 (icmp eq ptr %o, %k0), label %found, label %compare
compare:
  br i1 (icmp eq i64 (load i64, ptr %e), %hash), label %text, label %next
text:
  br i1 (call i1 @pyj_str_same(ptr %o, ptr %k0)), label %found, label %next
"""
# Class of keys -> the LLVM types of its words, its hash, its comparison and its store.
_KEYS = {
    "int": (("i64",), "  %upper = lshr i64 %k0, 32\n  %h = add i64 %k0, %upper" + _NO_ERROR, _same_words(1),
            _write_words(1)),
    **{f"ints{n}": (("i64",) * n, _hash_of_words(n), _same_words(n), _write_words(n)) for n in range(2, 5)},
    "str": (("ptr",), "  %h = call i64 @pyj_table_hash_any_str(ptr %k0)\n  ret i64 %h", _TEXT_IS,
            "  call void @pyj_retain_object(ptr %k0)\n  %w0.p = getelementptr i64, ptr %e, i64 1\n"
            "  store ptr %k0, ptr %w0.p\n"),
}
_PROBE = """
look:
  %place = phi i64 [ %place0, %{first} ], [ %place1, %next ]
  %perturb = phi i64 [ %hash, %{first} ], [ %perturb1, %next ]
  %ip = getelementptr i32, ptr %indices, i64 %place
  %index = load i32, ptr %ip
"""
_SEARCH = f"""
{_load("mask", "i64", "%d", at.MASK)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
  %place0 = and i64 %hash, %mask
  br label %look
{_PROBE}
  br i1 (icmp sge i32 %index, 0), label %entry, label %none
none:
  br i1 (icmp eq i32 %index, -1), label %absent, label %next
{tables.NEXT_PLACE}
entry:
  %n = zext i32 %index to i64
  %e = getelementptr i8, ptr %entries, i64 (mul i64 %n, %stride)
"""
_FOUND = """
found:
  ret i64 %n
absent:
  ret i64 -1"""


def _short_text(text: str, i: str = "", j: str = "") -> str:
    """Text that continues at `quick` where a text, or its part from i to j, is ASCII and short enough, with the address
    of its characters in %chars and its length in %length; else at `other`."""
    part = f"  %length = sub i64 {j}, {i}" if i else _load("length", "i64", text, STR["length"]).rstrip()
    skip = f"  %skip = add i64 {i}, {STR['ascii']}" if i else f"  %skip = add i64 0, {STR['ascii']}"
    return f"""
{_load("state", "i32", text, STR["state"])}{part}
  %form = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %plain = icmp eq i32 %form, {STR_STATE["one"] | STR_STATE["ascii"]}
  %direct = and i1 %plain, (icmp ult i64 (sub i64 %length, 1), {_SHORT})
{skip}
  %chars = getelementptr i8, ptr {text}, i64 %skip
  br i1 %direct, label %quick, label %other"""


# ASCII texts with up to _SHORT characters are hashed by their characters, so that parts of texts need no object. The
# hash starts from the interpreter's secret of this process, and folds 128-bit products to 64 bits (Wang Yi's wyhash).
# All other texts have the interpreter's hash. In both cases equal texts have equal hashes. For the last characters,
# fewer than eight, eight bytes are read and those in front are shifted out; the head of the object is always in front
# of its characters.
_SHORT = 64
_WYHASH = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB
_define("i64 @pyj_table_hash_text_str(ptr %chars, i64 %n)", f"""
  %h0 = xor i64 (load i64, ptr @_Py_HashSecret), (mul i64 %n, {_WYHASH[0]})
look:
  %h = phi i64 [ %h0, %0 ], [ %h1, %eight ]
  %p = phi ptr [ %chars, %0 ], [ %p1, %eight ]
  %left = phi i64 [ %n, %0 ], [ %left1, %eight ]
  br i1 (icmp ugt i64 %left, 8), label %eight, label %last
eight:
  %w = load i64, ptr %p, align 1
  %product = mul i128 (zext i64 (xor i64 %h, %w) to i128), {_WYHASH[0]}
  %h1 = xor i64 (trunc i128 (lshr i128 %product, 64) to i64), (trunc i128 %product to i64)
  %p1 = getelementptr i8, ptr %p, i64 8
  %left1 = sub i64 %left, 8
  br label %look
last:
  %from = getelementptr i8, ptr (getelementptr i8, ptr %p, i64 %left), i64 -8
  %w.last = lshr i64 (load i64, ptr %from, align 1), (sub i64 64, (shl i64 %left, 3))
  %product.last = mul i128 (zext i64 (xor i64 %h, %w.last) to i128), {_WYHASH[1]}
  %mixed = xor i64 (trunc i128 (lshr i128 %product.last, 64) to i64), (trunc i128 %product.last to i64)
  %hash = select i1 (icmp eq i64 %mixed, -1), i64 -2, i64 %mixed
  ret i64 %hash""")
# The hash of a text that is long, is not ASCII, or does not store its characters in the object itself.
_define("i64 @pyj_table_hash_other_str(ptr %s)", f"""
start:
  %buffer = alloca [{_SHORT + 8} x i8]
  %hash = call i64 @PyObject_Hash(ptr %s)
{_load("state", "i32", "%s", STR["state"])}{_load("n", "i64", "%s", STR["length"])}
  %ascii = and i32 %state, {STR_STATE["ascii"]}
  %above = sub i64 %n, 1
  br i1 (and i1 (icmp ne i32 %ascii, 0), (icmp ult i64 %above, {_SHORT})), label %copy, label %done
done:
  ret i64 %hash
copy:
  %i = phi i64 [ 0, %start ], [ %i1, %copy ]
  %char = call i32 @PyUnicode_ReadChar(ptr %s, i64 %i)
  store i8 (trunc i32 %char to i8), ptr (getelementptr i8, ptr %buffer, i64 (add i64 %i, 8))
  %i1 = add i64 %i, 1
  br i1 (icmp eq i64 %i1, %n), label %read, label %copy
read:
  %found = call i64 @pyj_table_hash_text_str(ptr (getelementptr i8, ptr %buffer, i64 8), i64 %n)
  ret i64 %found""", shared=True)
_define("i64 @pyj_table_hash_any_str(ptr %s)", f"""
{_short_text("%s")}
quick:
  ret i64 (call i64 @pyj_table_hash_text_str(ptr %chars, i64 %length))
other:
  %found = call i64 @pyj_table_hash_other_str(ptr %s)
  ret i64 %found""")
# Whether a text has the given ASCII characters; its length and its hash are known to be equal to theirs.
_define("i1 @pyj_table_same_text_str(ptr %o, ptr %chars, i64 %n)", f"""
{_load("state", "i32", "%o", STR["state"])}
  %form = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %own = getelementptr i8, ptr %o, i64 {STR["ascii"]}
  br i1 (icmp eq i32 %form, {STR_STATE["one"] | STR_STATE["ascii"]}), label %test, label %rare
test:
  %left = phi i64 [ %n, %0 ], [ %left1, %eight ]
  br i1 (icmp ugt i64 %left, 8), label %eight, label %last
eight:
  %left1 = sub i64 %left, 8
  %b.p = getelementptr i8, ptr %chars, i64 %left1
  %a = load i64, ptr (getelementptr i8, ptr %own, i64 %left1), align 1
  br i1 (icmp eq i64 %a, (load i64, ptr %b.p, align 1)), label %test, label %no
last:
  %below = sub i64 %left, 8
  %c.p = getelementptr i8, ptr %own, i64 %below
  %f.p = getelementptr i8, ptr %chars, i64 %below
  %differ = xor i64 (load i64, ptr %c.p, align 1), (load i64, ptr %f.p, align 1)
  %out = sub i64 64, (shl i64 %left, 3)
  ret i1 (icmp eq i64 (lshr i64 %differ, %out), 0)
rare:
  %i = phi i64 [ 0, %0 ], [ %i1, %same.char ]
  %char = call i32 @PyUnicode_ReadChar(ptr %o, i64 %i)
  %byte = load i8, ptr (getelementptr i8, ptr %chars, i64 %i)
  br i1 (icmp eq i32 %char, (zext i8 %byte to i32)), label %same.char, label %no
same.char:
  %i1 = add i64 %i, 1
  br i1 (icmp eq i64 %i1, %n), label %yes, label %rare
yes:
  ret i1 true
no:
  ret i1 false""")
_define("i64 @pyj_table_slot_text_str(ptr %d, ptr %chars, i64 %size)", f"""
  %hash = call i64 @pyj_table_hash_text_str(ptr %chars, i64 %size)
{_SEARCH.format(first="0")}
  br i1 (icmp eq i64 (load i64, ptr %e), %hash), label %text, label %next
text:
{_load("o", "ptr", "%e", 8)}{_load("length", "i64", "%o", STR["length"])}
  br i1 (icmp eq i64 %length, %size), label %compare, label %next
compare:
  br i1 (call i1 @pyj_table_same_text_str(ptr %o, ptr %chars, i64 %size)), label %found, label %next
{_FOUND}""", shared=True)
for _name, (_words, _hash, _same, _write) in _KEYS.items():
    _parameters = ", ".join(f"{t} %k{i}" for i, t in enumerate(_words))
    _define(f"i64 @pyj_table_hash_{_name}({_parameters})", _hash)
    # The number of the entry of a key, or -1.
    if _name == "str":
        _define("i64 @pyj_table_slot_str(ptr %d, ptr %k0)", f"""
{_short_text("%k0")}
quick:
  ret i64 (call i64 @pyj_table_slot_text_str(ptr %d, ptr %chars, i64 %length))
other:
  %hash = call i64 @pyj_table_hash_other_str(ptr %k0)
{_SEARCH.format(first="other")}
{_same}
{_FOUND}""", shared=True)
    else:
        _define(f"i64 @pyj_table_slot_{_name}(ptr %d, {_parameters})", f"""
  %hash = call i64 @pyj_table_hash_{_name}({_parameters})
{_SEARCH.format(first="0")}
{_same}
{_FOUND}""", shared=True)
    # The number of a new entry for a key that is missing, with a value of zeros; -1 where memory is exhausted.
    _define(f"i64 @pyj_table_claim_{_name}(ptr %d, {_parameters})", f"""
start:
  %hash = call i64 @pyj_table_hash_{_name}({_parameters})
{_load("n", "i64", "%d", at.COUNT)}{_load("room", "i64", "%d", at.ROOM)}
  br i1 (icmp eq i64 %n, %room), label %grow, label %search
grow:
  br i1 (icmp ne i32 (call i32 @pyj_table_grow(ptr %d)), 0), label %lost, label %search
lost:
  ret i64 -1
search:
{_load("count", "i64", "%d", at.COUNT)}{_load("used", "i64", "%d", at.USED)}
{_load("mask", "i64", "%d", at.MASK)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
  %place0 = and i64 %hash, %mask
  br label %look
{_PROBE.format(first="search")}
  br i1 (icmp eq i32 %index, -1), label %claim, label %next
{tables.NEXT_PLACE}
claim:
  store i32 (trunc i64 %count to i32), ptr %ip
  store i64 (add i64 %count, 1), ptr %count.p
  store i64 (add i64 %used, 1), ptr %used.p
  %e = getelementptr i8, ptr %entries, i64 (mul i64 %count, %stride)
  store i64 %hash, ptr %e
{_write}
  %value = getelementptr i8, ptr %e, i64 {8 + 8 * len(_words)}
  %end = getelementptr i8, ptr %e, i64 %stride
clear:
  %v = phi ptr [ %value, %claim ], [ %v1, %zero ]
  br i1 (icmp eq ptr %v, %end), label %done, label %zero
zero:
  store i64 0, ptr %v
  %v1 = getelementptr i8, ptr %v, i64 8
  br label %clear
done:
  ret i64 %count""", shared=True)
# The number of a new entry whose key is the part of a text from i to before j. For a short ASCII part an object is made
# only where the part becomes a key. For other parts one is made for the search; where memory is exhausted, the part is
# compared with all keys.
_define("i64 @pyj_table_slot_part_str(ptr %d, ptr %s, i64 %i, i64 %j)", f"""
{_short_text("%s", "%i", "%j")}
quick:
  ret i64 (call i64 @pyj_table_slot_text_str(ptr %d, ptr %chars, i64 %length))
other:
  %part = call ptr @PyUnicode_Substring(ptr %s, i64 %i, i64 %j)
  br i1 (icmp eq ptr %part, null), label %scan, label %search
search:
  %slot = call i64 @pyj_table_slot_str(ptr %d, ptr %part)
  call void @pyj_release_object(ptr %part)
  ret i64 %slot
scan:
  call void @PyErr_Clear()
{_load("count", "i64", "%d", at.COUNT)}{_load("entries", "ptr", "%d", at.ENTRIES)}
{_load("stride", "i64", "%d", at.STRIDE)}
  br label %test
test:
  %n = phi i64 [ 0, %scan ], [ %n1, %following ]
  br i1 (icmp eq i64 %n, %count), label %absent, label %entry
entry:
  %n1 = add i64 %n, 1
  %e = getelementptr i8, ptr %entries, i64 (mul i64 %n, %stride)
{_load("o", "ptr", "%e", 8)}
  br i1 (icmp eq ptr %o, null), label %following, label %compare
compare:
  br i1 (call i1 @pyj_str_part_equal(ptr %s, i64 %i, i64 %j, ptr %o)), label %there, label %following
following:
  br label %test
there:
  ret i64 %n
absent:
  ret i64 -1""",
        shared=True)
_define("i64 @pyj_table_claim_part_str(ptr %d, ptr %s, i64 %i, i64 %j)", """
  %part = call ptr @PyUnicode_Substring(ptr %s, i64 %i, i64 %j)
  br i1 (icmp eq ptr %part, null), label %fail, label %claim
claim:
  %slot = call i64 @pyj_table_claim_str(ptr %d, ptr %part)
  call void @pyj_release_object(ptr %part)
  ret i64 %slot
fail:
  ret i64 -1""", shared=True)

# ---------------------------------------------------------------- leaving

_PUT_INDEX = "".join(f"""{_width}:
  %n{_width} = trunc i64 %count to i{8 * _size}
  store i{8 * _size} %n{_width}, ptr (getelementptr i{8 * _size}, ptr %indices, i64 %place)
  br label %write
""" for _width, _size in (("one", 1), ("two", 2), ("four", 4)))
# Adds a missing key to a new dict of the interpreter and consumes the references to key and value. Returns 0, or -1 for
# an exception. The interpreter's own function adds the first key, which determines the layout of the dict's table, and
# each key for which the table has no room. The keys of the dict are not all texts.
_define("i32 @pyj_table_fill(ptr %d, ptr %key, ptr %value, i64 %hash)", f"""
{_load("keys", "ptr", "%d", DICT["keys"])}{_load("count", "i64", "%keys", KEYS["count"])}
{_load("room", "i64", "%keys", KEYS["count"] - 8)}
  br i1 (and i1 (icmp sgt i64 %count, 0), (icmp sgt i64 %room, 0)), label %search, label %ask
ask:
  %status = call i32 @PyDict_SetItem(ptr %d, ptr %key, ptr %value)
  call void @Py_DecRef(ptr %key)
  call void @Py_DecRef(ptr %value)
  ret i32 %status
search:
{tables.PLACES}
  br i1 (icmp eq i64 %n, -1), label %claim, label %next
{tables.NEXT_PLACE}
claim:
  switch i64 %width, label %eight [ i64 0, label %one  i64 1, label %two  i64 2, label %four ]
{_PUT_INDEX}eight:
  store i64 %count, ptr (getelementptr i64, ptr %indices, i64 %place)
write:
  %e = getelementptr i8, ptr %entries, i64 (mul i64 %count, 24)
  store i64 %hash, ptr %e
{_store("ptr %key", "%e", 8, "key")}{_store("ptr %value", "%e", 16, "value")}
  store i64 (add i64 %count, 1), ptr %count.p
  store i64 (sub i64 %room, 1), ptr %room.p
{_load("used", "i64", "%d", DICT["used"])}
  store i64 (add i64 %used, 1), ptr %used.p
  ret i32 0""" if platform.tables_are_known() else """
  %status = call i32 @PyDict_SetItem(ptr %d, ptr %key, ptr %value)
  call void @Py_DecRef(ptr %key)
  call void @Py_DecRef(ptr %value)
  ret i32 %status""", shared=True)
TEXT["pyj_dict_index"], TEXT["pyj_int_hash"] = tables.TEXT["pyj_dict_index"], tables.TEXT["pyj_int_hash"]
