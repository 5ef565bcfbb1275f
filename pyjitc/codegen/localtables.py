"""Helpers of local tables: dicts and sets that compiled code makes and that do not escape (passes/localtables.py).

A table starts with the head of a Python object, so that it is reference-counted and freed as one; the offsets of its
other fields are in ops/localtables.py. `entries` are in insertion order, each (hash, words of the key, words of the
value); the hash of a removed entry is -1. `indices` are 32-bit numbers of entries, -1 for a free slot and -2 for a
removed entry. `objects` has a bit for each word of an entry that is a reference. A new table contains room for a few
entries. Programs share these helpers: they are compiled once, see shared.py.

The probing is CPython's. The hash of an int is the int with its upper half added, so that neighbouring ints get
neighbouring slots: the ints of programs are often dense.
"""
from __future__ import annotations

from ..ops import localtables as at
from ..runtime import platform
from . import tables

__all__ = ["DECLARATIONS", "NEEDS", "TEXT"]

_FEW = 8  # indices of a new table, of which two thirds can be used
_BYTES = at.OWN + 4 * _FEW  # bytes of a table, without its first entries
_MOST = 1 << 30  # the most entries

TEXT: dict[str, str] = {name: tables.TEXT[name] for name in ("pyj_str_hash", "pyj_str_same")}
NEEDS: dict[str, tuple[str, ...]] = {}
DECLARATIONS = {**tables.DECLARATIONS, "memset": "declare ptr @memset(ptr, i32, i64)",
                "memcpy": "declare ptr @memcpy(ptr, ptr, i64)"}


def _define(head: str, body: str, *needs: str, shared: bool = False) -> None:
    name = head.partition("@")[2].partition("(")[0]
    TEXT[name] = f"\ndefine internal {head} nounwind {'noinline' if shared else 'alwaysinline'} {{\n{body.strip()}\n}}"
    if needs:
        NEEDS[name] = needs


def _load(name: str, kind: str, pointer: str, offset) -> str:
    return f"  %{name}.p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.p\n"


def _store(value: str, pointer: str, offset: int, name: str) -> str:
    return f"  %{name}.at = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {value}, ptr %{name}.at\n"


# A substitute for a class: the interpreter only reads `tp_dealloc` of it, which has the same offset in all versions.
TEXT["pyj_table_class"] = "@pyj_table_class = internal global [128 x i64] zeroinitializer"
_define("ptr @pyj_table_new(i64 %stride, i64 %objects)", f"""
{_store("ptr @pyj_table_free", "@pyj_table_class", platform.TYPE_DEALLOC, "free")}
  %room = mul i64 %stride, {2 * _FEW // 3}
  %bytes = add i64 %room, {_BYTES}
  %d = call ptr @malloc(i64 %bytes)
  %failed = icmp eq ptr %d, null
  br i1 %failed, label %lost, label %made
lost:
  %none = call ptr @PyErr_NoMemory()
  ret ptr null
made:
  store i64 1, ptr %d
{_store("ptr @pyj_table_class", "%d", platform.OB_TYPE, "class")}{_store("i64 0", "%d", at.USED, "used")}
{_store("i64 0", "%d", at.COUNT, "count")}{_store(f"i64 {2 * _FEW // 3}", "%d", at.ROOM, "capacity")}
{_store(f"i64 {_FEW - 1}", "%d", at.MASK, "mask")}{_store("i64 %stride", "%d", at.STRIDE, "each")}
{_store("i64 %objects", "%d", at.OBJECTS, "objects")}
  %own = getelementptr i8, ptr %d, i64 {at.OWN}
{_store("ptr %own", "%d", at.INDICES, "indices")}
  %first = getelementptr i8, ptr %d, i64 {_BYTES}
{_store("ptr %first", "%d", at.ENTRIES, "entries")}
  %set = call ptr @memset(ptr %own, i32 255, i64 {4 * _FEW})
  ret ptr %d""", "pyj_table_class", "pyj_table_free", shared=True)
_define("void @pyj_table_drop(ptr %e, i64 %objects)", """
  br label %next
next:
  %left = phi i64 [ %objects, %0 ], [ %fewer, %one ]
  %none = icmp eq i64 %left, 0
  br i1 %none, label %done, label %one
one:
  %word = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %below = sub i64 %left, 1
  %fewer = and i64 %left, %below
  %at = getelementptr i64, ptr %e, i64 %word
  %o = load ptr, ptr %at
  store ptr null, ptr %at
  call void @pyj_release_object(ptr %o)
  br label %next
done:
  ret void""", "pyj_release_object", shared=True)
_define("void @pyj_table_free(ptr %d)", f"""
{_load("objects", "i64", "%d", at.OBJECTS)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("n", "i64", "%d", at.COUNT)}{_load("e0", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
  %plain = icmp eq i64 %objects, 0
  br i1 %plain, label %memory, label %look
look:
  %i = phi i64 [ 0, %0 ], [ %i1, %following ]
  %e = phi ptr [ %e0, %0 ], [ %e1, %following ]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %memory, label %entry
entry:
  %i1 = add i64 %i, 1
  %e1 = getelementptr i8, ptr %e, i64 %stride
  %hash = load i64, ptr %e
  %gone = icmp eq i64 %hash, -1
  br i1 %gone, label %following, label %drop
drop:
  call void @pyj_table_drop(ptr %e, i64 %objects)
  br label %following
following:
  br label %look
memory:
  %own = getelementptr i8, ptr %d, i64 {at.OWN}
  %inside = icmp eq ptr %indices, %own
  br i1 %inside, label %done, label %apart
apart:
  call void @free(ptr %indices)
  br label %done
done:
  call void @free(ptr %d)
  ret void""", "pyj_table_drop", shared=True)

# Make room for twice as many entries: 0, or -1 where memory is exhausted.
_define("i32 @pyj_table_grow(ptr %d)", f"""
{_load("used", "i64", "%d", at.USED)}{_load("count", "i64", "%d", at.COUNT)}
{_load("stride", "i64", "%d", at.STRIDE)}{_load("old", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}
  %huge = icmp ugt i64 %used, {_MOST}
  br i1 %huge, label %lost, label %size
size:
  %many = icmp ugt i64 %used, 65536
  %half = lshr i64 %used, 1
  %extra = select i1 %many, i64 %half, i64 %used
  %wanted = add i64 %used, %extra
  br label %double
double:
  %n = phi i64 [ {_FEW}, %size ], [ %n2, %double ]
  %n2 = shl i64 %n, 1
  %room = udiv i64 %n2, 3
  %small = icmp ule i64 %room, %wanted
  br i1 %small, label %double, label %get
get:
  %ibytes = shl i64 %n, 2
  %ebytes = mul i64 %room, %stride
  %bytes = add i64 %ibytes, %ebytes
  %new = call ptr @malloc(i64 %bytes)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %lost, label %made
lost:
  %none = call ptr @PyErr_NoMemory()
  ret i32 -1
made:
  %set = call ptr @memset(ptr %new, i32 255, i64 %ibytes)
  %to0 = getelementptr i8, ptr %new, i64 %ibytes
  %mask = sub i64 %n, 1
  %whole = icmp eq i64 %used, %count
  br i1 %whole, label %all, label %pick
all:
  %wbytes = mul i64 %used, %stride
  %copied = call ptr @memcpy(ptr %to0, ptr %entries, i64 %wbytes)
  br label %index
pick:
  %i = phi i64 [ 0, %made ], [ %i1, %picked ]
  %from = phi ptr [ %entries, %made ], [ %from1, %picked ]
  %to = phi ptr [ %to0, %made ], [ %to1, %picked ]
  %end = icmp eq i64 %i, %count
  br i1 %end, label %index, label %one
one:
  %i1 = add i64 %i, 1
  %from1 = getelementptr i8, ptr %from, i64 %stride
  %hash = load i64, ptr %from
  %gone = icmp eq i64 %hash, -1
  br i1 %gone, label %picked, label %move
move:
  %moved = call ptr @memcpy(ptr %to, ptr %from, i64 %stride)
  %after = getelementptr i8, ptr %to, i64 %stride
  br label %picked
picked:
  %to1 = phi ptr [ %to, %one ], [ %after, %move ]
  br label %pick
index:
  br label %enter
enter:
  %k = phi i64 [ 0, %index ], [ %k1, %entered ]
  %e = phi ptr [ %to0, %index ], [ %e1, %entered ]
  %last = icmp eq i64 %k, %used
  br i1 %last, label %done, label %find
find:
  %h = load i64, ptr %e
  %place0 = and i64 %h, %mask
  br label %look
look:
  %place = phi i64 [ %place0, %find ], [ %place1, %next ]
  %perturb = phi i64 [ %h, %find ], [ %perturb1, %next ]
  %ip = getelementptr i32, ptr %new, i64 %place
  %there = load i32, ptr %ip
  %free = icmp eq i32 %there, -1
  br i1 %free, label %entered, label %next
next:
  %perturb1 = lshr i64 %perturb, 5
  %five = mul i64 %place, 5
  %more = add i64 %five, %perturb1
  %sum = add i64 %more, 1
  %place1 = and i64 %sum, %mask
  br label %look
entered:
  %k32 = trunc i64 %k to i32
  store i32 %k32, ptr %ip
  %k1 = add i64 %k, 1
  %e1 = getelementptr i8, ptr %e, i64 %stride
  br label %enter
done:
  %own = getelementptr i8, ptr %d, i64 {at.OWN}
  %inside = icmp eq ptr %old, %own
  br i1 %inside, label %write, label %apart
apart:
  call void @free(ptr %old)
  br label %write
write:
{_store("i64 %used", "%d", at.COUNT, "count")}{_store("i64 %room", "%d", at.ROOM, "capacity")}
{_store("i64 %mask", "%d", at.MASK, "mask")}{_store("ptr %new", "%d", at.INDICES, "indices")}
{_store("ptr %to0", "%d", at.ENTRIES, "entries")}
  ret i32 0""", shared=True)

# Remove the entry with the given number.
_define("void @pyj_table_remove(ptr %d, i64 %n)", f"""
{_load("mask", "i64", "%d", at.MASK)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
{_load("used", "i64", "%d", at.USED)}{_load("objects", "i64", "%d", at.OBJECTS)}
  %offset = mul i64 %n, %stride
  %e = getelementptr i8, ptr %entries, i64 %offset
  %h = load i64, ptr %e
  %number = trunc i64 %n to i32
  %place0 = and i64 %h, %mask
  br label %look
look:
  %place = phi i64 [ %place0, %0 ], [ %place1, %next ]
  %perturb = phi i64 [ %h, %0 ], [ %perturb1, %next ]
  %ip = getelementptr i32, ptr %indices, i64 %place
  %there = load i32, ptr %ip
  %same = icmp eq i32 %there, %number
  br i1 %same, label %found, label %next
next:
  %perturb1 = lshr i64 %perturb, 5
  %five = mul i64 %place, 5
  %more = add i64 %five, %perturb1
  %sum = add i64 %more, 1
  %place1 = and i64 %sum, %mask
  br label %look
found:
  store i32 -2, ptr %ip
  store i64 -1, ptr %e
  %fewer = sub i64 %used, 1
  store i64 %fewer, ptr %used.p
  call void @pyj_table_drop(ptr %e, i64 %objects)
  ret void""", "pyj_table_drop", shared=True)

_NO_ERROR = """
  %error = icmp eq i64 %h, -1
  %hash = select i1 %error, i64 -2, i64 %h
  ret i64 %hash"""
_MIX = (11400714785074694791, 14029467366897019727, 1609587929392839161)


def _hash_of_words(n: int) -> str:
    """The hash of n ints: products with odd numbers, whose upper halves are mixed into the lower ones."""
    text = ""
    for i in range(n):
        text += f"""
  %m{i} = mul i64 %k{i}, {_MIX[i % 3]}
  %x{i} = xor i64 %m{i}, {f"%h{i - 1}" if i else 0}
  %u{i} = lshr i64 %x{i}, 32
  %h{i} = {f"xor i64 %x{i}, %u{i}" if i else "add i64 %x0, 0"}"""
    return f"{text}\n  %h = add i64 %h{n - 1}, 0{_NO_ERROR}"


def _same_words(n: int) -> str:
    text, before = "", "true"
    for i in range(n):
        text += f"""
  %w{i}.p = getelementptr i64, ptr %e, i64 {i + 1}
  %w{i} = load i64, ptr %w{i}.p
  %is{i} = icmp eq i64 %w{i}, %k{i}
  %all{i} = and i1 {before}, %is{i}"""
        before = f"%all{i}"
    return f"{text}\n  br i1 {before}, label %found, label %next\n"


def _write_words(n: int) -> str:
    return "".join(f"  %w{i}.p = getelementptr i64, ptr %e, i64 {i + 1}\n  store i64 %k{i}, ptr %w{i}.p\n"
                   for i in range(n))


_TEXT_IS = f"""
{_load("o", "ptr", "%e", 8)}
  %same = icmp eq ptr %o, %k0
  br i1 %same, label %found, label %compare
compare:
  %ehash = load i64, ptr %e
  %alike = icmp eq i64 %ehash, %hash
  br i1 %alike, label %text, label %next
text:
  %equal = call i1 @pyj_str_same(ptr %o, ptr %k0)
  br i1 %equal, label %found, label %next
"""
# The class of keys: the LLVM types of its words, its hash, its comparison and store, and the declarations for these.
_KEYS = {
    "int": (("i64",), "  %upper = lshr i64 %k0, 32\n  %h = add i64 %k0, %upper" + _NO_ERROR, _same_words(1),
            _write_words(1), ()),
    **{f"ints{n}": (("i64",) * n, _hash_of_words(n), _same_words(n), _write_words(n), ()) for n in range(2, 5)},
    "str": (("ptr",), "  %h = call i64 @pyj_str_hash(ptr %k0)\n  ret i64 %h", _TEXT_IS,
            "  call void @pyj_retain_object(ptr %k0)\n  %w0.p = getelementptr i64, ptr %e, i64 1\n"
            "  store ptr %k0, ptr %w0.p\n", ("pyj_str_hash", "pyj_str_same", "pyj_retain_object")),
}
_PROBE = """
look:
  %place = phi i64 [ %place0, %{first} ], [ %place1, %next ]
  %perturb = phi i64 [ %hash, %{first} ], [ %perturb1, %next ]
  %ip = getelementptr i32, ptr %indices, i64 %place
  %index = load i32, ptr %ip
"""
_NEXT = """
next:
  %perturb1 = lshr i64 %perturb, 5
  %five = mul i64 %place, 5
  %more = add i64 %five, %perturb1
  %sum = add i64 %more, 1
  %place1 = and i64 %sum, %mask
  br label %look
"""
for _name, (_words, _hash, _same, _write, _needs) in _KEYS.items():
    _parameters = ", ".join(f"{t} %k{i}" for i, t in enumerate(_words))
    _define(f"i64 @pyj_table_hash_{_name}({_parameters})", _hash, *_needs)
    # The number of the entry of a key, or -1.
    _define(f"i64 @pyj_table_slot_{_name}(ptr %d, {_parameters})", f"""
  %hash = call i64 @pyj_table_hash_{_name}({_parameters})
{_load("mask", "i64", "%d", at.MASK)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
  %place0 = and i64 %hash, %mask
  br label %look
{_PROBE.format(first="0")}
  %used = icmp sge i32 %index, 0
  br i1 %used, label %entry, label %none
none:
  %free = icmp eq i32 %index, -1
  br i1 %free, label %absent, label %next
{_NEXT}
entry:
  %n = zext i32 %index to i64
  %offset = mul i64 %n, %stride
  %e = getelementptr i8, ptr %entries, i64 %offset
{_same}
found:
  ret i64 %n
absent:
  ret i64 -1""", f"pyj_table_hash_{_name}", *_needs, shared=True)
    # The number of a new entry for a key that is missing, with a value of zeros; -1 where memory is exhausted.
    _define(f"i64 @pyj_table_claim_{_name}(ptr %d, {_parameters})", f"""
start:
  %hash = call i64 @pyj_table_hash_{_name}({_parameters})
{_load("n", "i64", "%d", at.COUNT)}{_load("room", "i64", "%d", at.ROOM)}
  %full = icmp eq i64 %n, %room
  br i1 %full, label %grow, label %search
grow:
  %status = call i32 @pyj_table_grow(ptr %d)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %lost, label %search
lost:
  ret i64 -1
search:
{_load("count", "i64", "%d", at.COUNT)}{_load("used", "i64", "%d", at.USED)}
{_load("mask", "i64", "%d", at.MASK)}{_load("indices", "ptr", "%d", at.INDICES)}
{_load("entries", "ptr", "%d", at.ENTRIES)}{_load("stride", "i64", "%d", at.STRIDE)}
  %place0 = and i64 %hash, %mask
  br label %look
{_PROBE.format(first="search")}
  %free = icmp eq i32 %index, -1
  br i1 %free, label %claim, label %next
{_NEXT}
claim:
  %number = trunc i64 %count to i32
  store i32 %number, ptr %ip
  %more1 = add i64 %count, 1
  store i64 %more1, ptr %count.p
  %used1 = add i64 %used, 1
  store i64 %used1, ptr %used.p
  %offset = mul i64 %count, %stride
  %e = getelementptr i8, ptr %entries, i64 %offset
  store i64 %hash, ptr %e
{_write}
  %value = getelementptr i8, ptr %e, i64 {8 + 8 * len(_words)}
  %end = getelementptr i8, ptr %e, i64 %stride
  br label %clear
clear:
  %v = phi ptr [ %value, %claim ], [ %v1, %zero ]
  %clean = icmp eq ptr %v, %end
  br i1 %clean, label %done, label %zero
zero:
  store i64 0, ptr %v
  %v1 = getelementptr i8, ptr %v, i64 8
  br label %clear
done:
  ret i64 %count""", f"pyj_table_hash_{_name}", "pyj_table_grow", *_needs, shared=True)
DECLARATIONS["llvm.cttz.i64"] = "declare i64 @llvm.cttz.i64(i64, i1)"
