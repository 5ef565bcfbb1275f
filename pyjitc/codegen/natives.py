"""Helpers of native lists (ops/natives.py): allocation and deallocation."""
from __future__ import annotations

import re

from ..ops.layouts import BASE, COUNT, DATA, HEAD, LENGTH, OBJECT, ROOM, SOURCE, components_of, giver
from ..runtime.platform import STR, STR_STATE
from .definitions import load as _load, retaining, store as _store

__all__ = ["TEXT", "text_of"]


_MOST = 1 << 58  # the most items, so that their size in bytes fits in 64 bits for every type
_FORM, _ASCII = STR_STATE["ascii"] | STR_STATE["sizes"], STR_STATE["ascii"] | STR_STATE["one"]
_PIECE = 39  # the most characters of a part for which its object has room
# Before Python 3.12 a str may have its characters in another representation, too.
_WITHOUT_COPY = "  %can = and i1 %can0, true" if STR["ascii"] == 40 else f"""
{_load("form2", "ptr", "%kept", 40)}
  %bare = icmp eq ptr %form2, null
  %can = and i1 %can0, %bare"""
# The bytes for items that a new list has behind its head; if they are not enough, it gets memory for its items
# elsewhere.
_FEW = 64
_OWN = f"""
  %is.own = icmp eq ptr %base, (getelementptr i8, ptr %head, i64 {HEAD})
"""
# Capacity grows by half at a time, faster than that of a Python list.
TEXT = {
    "pyj_native_new": f"""
define internal noalias ptr @pyj_native_new(i64 %length, i64 %room, i64 %size) nounwind noinline {{
  br i1 (icmp ugt i64 %room, {_MOST}), label %fail, label %make
make:
  %bytes = mul i64 %room, %size
  %small = icmp ule i64 %bytes, {_FEW}
  %head = call ptr @malloc(i64 (select i1 %small, i64 {HEAD + _FEW}, i64 {HEAD}))
  br i1 (icmp eq ptr %head, null), label %fail, label %room.of
room.of:
  br i1 %small, label %inside, label %some
inside:
  %places = zext i32 (udiv i32 {_FEW}, (trunc i64 %size to i32)) to i64
  %own = getelementptr i8, ptr %head, i64 {HEAD}
  br label %fill
some:
  %items = call ptr @malloc(i64 %bytes)
  br i1 (icmp eq ptr %items, null), label %undo, label %fill
undo:
  call void @free(ptr %head)
  br label %fail
fill:
  %data = phi ptr [ %own, %inside ], [ %items, %some ]
  %got = phi i64 [ %places, %inside ], [ %room, %some ]
{_store("a", "i64", "1", "%head", COUNT)}{_store("b", "i64", "%length", "%head", LENGTH)}\
{_store("c", "i64", "%got", "%head", ROOM)}{_store("d", "ptr", "%data", "%head", DATA)}\
{_store("e", "ptr", "null", "%head", OBJECT)}{_store("f", "ptr", "%data", "%head", BASE)}\
{_store("g", "ptr", "null", "%head", SOURCE)}
  ret ptr %head
fail:
  %error = call ptr @PyErr_NoMemory()
  ret ptr null
}}""",
    # Make more room. The space of items that were removed at the front is reused if there are at least as many of them
    # as items.
    "pyj_native_grow": f"""
define internal i32 @pyj_native_grow(ptr %head, i64 %size) nounwind noinline {{
start:
{_load("room", "i64", "%head", ROOM)}{_load("old", "ptr", "%head", DATA)}{_load("base", "ptr", "%head", BASE)}
  %gap = sub i64 (ptrtoint ptr %old to i64), (ptrtoint ptr %base to i64)
  br i1 (icmp ne i64 %gap, 0), label %move, label %count
move:
  %moved = call ptr @memmove(ptr %base, ptr %old, i64 (mul i64 %room, %size))
  store ptr %base, ptr %old.p
  %free = sdiv exact i64 %gap, %size
  %whole = add i64 %room, %free
  store i64 %whole, ptr %room.p
  br i1 (icmp uge i64 %free, %room), label %done, label %count
count:
  %all = phi i64 [ %room, %start ], [ %whole, %move ]
  %half = lshr i64 %all, 1
  %short = icmp ult i64 %all, 1024
  %wanted = add i64 (add i64 %all, (select i1 %short, i64 %all, i64 %half)), 8
  br i1 (icmp ugt i64 %wanted, {_MOST}), label %fail, label %make
make:
  %bytes = mul i64 %wanted, %size
{_OWN}  br i1 %is.own, label %apart, label %again
again:
  %longer = call ptr @realloc(ptr %base, i64 %bytes)
  br label %got
apart:
  %fresh = call ptr @malloc(i64 %bytes)
  br i1 (icmp eq ptr %fresh, null), label %fail, label %copy
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %fresh, ptr %base, i64 {_FEW}, i1 false)
got:
  %items = phi ptr [ %longer, %again ], [ %fresh, %copy ]
  br i1 (icmp eq ptr %items, null), label %fail, label %fill
fill:
{_store("a", "i64", "%wanted", "%head", ROOM)}{_store("b", "ptr", "%items", "%head", DATA)}\
{_store("c", "ptr", "%items", "%head", BASE)}
  br label %done
done:
  ret i32 0
fail:
  %error = call ptr @PyErr_NoMemory()
  ret i32 1
}}""",
    # Make room for one item before the first, and for half as many as there are.
    "pyj_native_front": f"""
define internal i32 @pyj_native_front(ptr %head, i64 %size) nounwind noinline {{
{_load("length", "i64", "%head", LENGTH)}{_load("old", "ptr", "%head", DATA)}{_load("base", "ptr", "%head", BASE)}
  %before = add i64 (lshr i64 %length, 1), 4
  %after = add i64 %length, 2
  %wanted = add i64 %before, %after
  br i1 (icmp ugt i64 %wanted, {_MOST}), label %fail, label %make
make:
  %items = call ptr @malloc(i64 (mul i64 %wanted, %size))
  br i1 (icmp eq ptr %items, null), label %fail, label %fill
fill:
  %data = getelementptr i8, ptr %items, i64 (mul i64 %before, %size)
  %moved = call ptr @memmove(ptr %data, ptr %old, i64 (mul i64 %length, %size))
{_OWN}  %given = select i1 %is.own, ptr null, ptr %base
  call void @free(ptr %given)
{_store("a", "i64", "%after", "%head", ROOM)}{_store("b", "ptr", "%data", "%head", DATA)}\
{_store("c", "ptr", "%items", "%head", BASE)}
  ret i32 0
fail:
  %error = call ptr @PyErr_NoMemory()
  ret i32 1
}}""",
    "pyj_native_spread": f"""
define internal i32 @pyj_native_spread(ptr %head, i64 %from, i64 %by, i64 %size) nounwind noinline {{
start:
{_load("length", "i64", "%head", LENGTH)}
  %new = add i64 %length, %by
look:
{_load("room", "i64", "%head", ROOM)}
  br i1 (icmp sle i64 %new, %room), label %move, label %grow
grow:
  br i1 (icmp ne i32 (call i32 @pyj_native_grow(ptr %head, i64 %size)), 0), label %fail, label %look
move:
{_load("data", "ptr", "%head", DATA)}
  br i1 (icmp slt i64 %from, %length), label %shift, label %done
shift:
  %bytes = mul i64 (sub i64 %length, %from), %size
  %source = getelementptr i8, ptr %data, i64 (mul i64 %from, %size)
  %step = mul i64 %by, %size
  %moved = call ptr @memmove(ptr (getelementptr i8, ptr %source, i64 %step), ptr %source, i64 %bytes)
done:
  store i64 %new, ptr %length.p
  ret i32 0
fail:
  ret i32 1
}}""",
    # Make a part of a text. If only this code has a reference to the object of the previous part, that object is
    # reused: loops over the parts of a text mostly keep none of them.
    "pyj_native_piece": f"""
define internal ptr @pyj_native_piece(ptr %head, i64 %i) nounwind noinline {{
{_load("s", "ptr", "%head", SOURCE)}{_load("data", "ptr", "%head", DATA)}{_load("kept", "ptr", "%head", OBJECT)}
  %from.p = getelementptr [2 x i64], ptr %data, i64 %i
  %from = load i64, ptr %from.p
  %to = load i64, ptr (getelementptr i8, ptr %from.p, i64 8)
  %n = sub i64 %to, %from
  %few = icmp ult i64 (sub i64 %n, 2), {_PIECE - 1}
{_load("state", "i32", "%s", STR["state"])}
  %form = and i32 %state, {_FORM}
  br i1 (and i1 %few, (icmp eq i32 %form, {_ASCII})), label %look, label %make
make:
  ret ptr (call ptr @PyUnicode_Substring(ptr %s, i64 %from, i64 %to))
look:
  br i1 (icmp eq ptr %kept, null), label %new, label %known
known:
  %count = load i64, ptr %kept
{_load("was", "i32", "%kept", STR["state"])}
  %can0 = and i1 (icmp eq i64 %count, 1), (icmp eq i32 (and i32 %was, 3), 0)
{_WITHOUT_COPY}
  br i1 %can, label %fill, label %new
new:
  %fresh = call ptr @PyUnicode_New(i64 {_PIECE}, i32 127)
  br i1 (icmp eq ptr %fresh, null), label %lost, label %keep
keep:
  call void @pyj_release_object(ptr %kept)
  store ptr %fresh, ptr %kept.p
fill:
  %o = phi ptr [ %kept, %known ], [ %fresh, %keep ]
  store i64 2, ptr %o
{_store("size", "i64", "%n", "%o", STR["length"])}{_store("hash", "i64", "-1", "%o", STR["hash"])}
  %source = getelementptr i8, ptr %s, i64 (add i64 %from, {STR["ascii"]})
  %target = getelementptr i8, ptr %o, i64 {STR["ascii"]}
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %n, i1 false)
  store i8 0, ptr (getelementptr i8, ptr %target, i64 %n)
  ret ptr %o
lost:
  ret ptr null
}}""",
    "pyj_native_retain": retaining("pyj_native_retain"),
}

_CHUNK = 32  # characters between two checks whether there is room


# The loop of `_parts` that compares 16 characters of an ASCII text with the mark at once.
_SIXTEEN = """
sixteen:
  %i16 = phi i64 [ %i, %which.byte ], [ %i17, %sixteen.end ]
  %k16 = phi i64 [ %k, %which.byte ], [ %k17, %sixteen.end ]
  %from16 = phi i64 [ %from, %which.byte ], [ %from17, %sixteen.end ]
  %at16 = getelementptr i8, ptr %bytes, i64 %i16
  %mask = bitcast <16 x i1> (icmp eq <16 x i8> (load <16 x i8>, ptr %at16, align 1), %marks) to i16
bit:
  %left = phi i16 [ %mask, %sixteen ], [ %fewer, %one.bit ]
  %k17 = phi i64 [ %k16, %sixteen ], [ %k18, %one.bit ]
  %from17 = phi i64 [ %from16, %sixteen ], [ %from18, %one.bit ]
  br i1 (icmp eq i16 %left, 0), label %sixteen.end, label %one.bit
one.bit:
  %fewer = and i16 %left, (sub i16 %left, 1)
  %i.bit = add i64 %i16, (zext i16 (call i16 @llvm.cttz.i16(i16 %left, i1 true)) to i64)
  %place.bit = getelementptr i64, ptr %data, i64 %k17
  store i64 %from17, ptr %place.bit
  store i64 %i.bit, ptr (getelementptr i8, ptr %place.bit, i64 8)
  %k18 = add i64 %k17, 2
  %from18 = add i64 %i.bit, 1
  br label %bit
sixteen.end:
  %i17 = add i64 %i16, 16
  %last16 = icmp eq i64 %i17, %stop
  br i1 %last16, label %chunk.end, label %sixteen"""


def _part_loops(words: bool) -> str:
    """The loops of `_parts` that look at one character after the other: of ASCII texts, and of others."""
    spaces = sum(1 << n for n in range(64) if chr(n).isspace())
    reads = {"byte": """
  %byte.code = load i8, ptr (getelementptr i8, ptr %bytes, i64 %i.byte)
  %byte.wide = zext i8 %byte.code to i64""" + (f"""
  %byte.low = icmp ult i64 %byte.wide, 64
  %byte.bit = trunc i64 (lshr i64 {spaces}, (and i64 %byte.wide, 63)) to i1
  %is.byte = and i1 %byte.low, %byte.bit""" if words else """
  %byte.mark = zext i32 %mark to i64
  %is.byte = icmp eq i64 %byte.wide, %byte.mark"""), "char": """
  %char.code = call i32 @PyUnicode_ReadChar(ptr %s, i64 %i.char)""" + ("""
  %char.found = call i32 @_PyUnicode_IsWhitespace(i32 %char.code)
  %is.char = icmp ne i32 %char.found, 0""" if words else """
  %is.char = icmp eq i32 %char.code, %mark""")}
    loops = ""
    for name, read in reads.items():
        loops += f"""
{name}:
  %i.{name} = phi i64 [ %i, %which.{name} ], [ %i1.{name}, %{name} ]
  %k.{name} = phi i64 [ %k, %which.{name} ], [ %k1.{name}, %{name} ]
  %from.{name} = phi i64 [ %from, %which.{name} ], [ %from1.{name}, %{name} ]{read}
  %i1.{name} = add i64 %i.{name}, 1
  %place.{name} = getelementptr i64, ptr %data, i64 %k.{name}""" + (f"""
  store i64 %i.{name}, ptr %place.{name}
  %from1.{name} = zext i1 %is.{name} to i64
  %more.{name} = xor i64 %from1.{name}, %from.{name}""" if words else f"""
  store i64 %from.{name}, ptr %place.{name}
  store i64 %i.{name}, ptr (getelementptr i8, ptr %place.{name}, i64 8)
  %from1.{name} = select i1 %is.{name}, i64 %i1.{name}, i64 %from.{name}
  %more.{name} = select i1 %is.{name}, i64 2, i64 0""") + f"""
  %k1.{name} = add i64 %k.{name}, %more.{name}
  %last.{name} = icmp eq i64 %i1.{name}, %stop
  br i1 %last.{name}, label %chunk.end, label %{name}"""
    return loops if words else loops.replace("%which.byte ]", "%which.few ]")


def _parts(kind: str) -> str:
    """A helper that finds the `words` of a text, or its `fields` between characters `mark`, from one position in it to
    another. For words, every position is stored as a possible start or end, and counted only if it is one, without a
    branch, since the positions are unpredictable. ASCII is read as bytes, for marks 16 at once; for other texts the
    interpreter is called."""
    words = kind == "words"
    of_chunk = """
which.byte:
  br label %byte""" if words else f"""
which.byte:
  br i1 (icmp eq i64 (sub i64 %stop, %i), {_CHUNK}), label %sixteen, label %which.few
which.few:
  br label %byte""" + _SIXTEEN
    sixteen = "" if words else ", [ {}17, %sixteen.end ]"
    return f"""{_parts_opened(kind)}
chunk:
  %i = phi i64 [ %start, %made ], [ %stop, %chunk.end ]
  %k = phi i64 [ 0, %made ], [ %k.end, %chunk.end ]
  %from = phi i64 [ {"1" if words else "%start"}, %made ], [ %from.end, %chunk.end ]
  %pairs = lshr i64 %k, 1
  %wanted = add i64 %pairs, {_CHUNK + 2}
  br label %look
look:
{_load("room", "i64", "%head", ROOM)}
  br i1 (icmp sle i64 %wanted, %room), label %ready, label %grow
grow:
  br i1 (icmp ne i32 (call i32 @pyj_native_grow(ptr %head, i64 16)), 0), label %undo, label %look
ready:
{_load("data", "ptr", "%head", DATA)}
  %next.stop = add i64 %i, {_CHUNK}
  %stop = select i1 (icmp slt i64 %n, %next.stop), i64 %n, i64 %next.stop
  br i1 (icmp slt i64 %i, %stop), label %which, label %end
which:
  br i1 %quick, label %which.byte, label %which.char
which.char:
  br label %char{of_chunk}{_part_loops(words)}
chunk.end:
  %k.end = phi i64 [ %k1.byte, %byte ], [ %k1.char, %char ]{sixteen.format("%k")}
  %from.end = phi i64 [ %from1.byte, %byte ], [ %from1.char, %char ]{sixteen.format("%from")}
  br label %chunk
{_parts_closed(words)}"""


def _parts_opened(kind: str) -> str:
    """The beginning of `_parts`: the new list, and whether characters are compared as bytes."""
    return f"""
define internal ptr @pyj_native_{kind}(ptr %s, i32 %mark, i64 %start, i64 %behind.last) nounwind noinline {{
{_load("state", "i32", "%s", STR["state"])}
  %n = select i1 (icmp slt i64 %behind.last, %start), i64 %start, i64 %behind.last
  %long = sub i64 %n, %start
  %head = call ptr @pyj_native_new(i64 0, i64 (add i64 (lshr i64 %long, 3), {_CHUNK + 2}), i64 16)
  br i1 (icmp eq ptr %head, null), label %fail, label %made
made:
  call void @pyj_retain_object(ptr %s)
{_store("source", "ptr", "%s", "%head", SOURCE)}
  %bytes = getelementptr i8, ptr %s, i64 {STR["ascii"]}
  %marks0 = insertelement <16 x i8> poison, i8 (trunc i32 %mark to i8), i32 0
  %marks = shufflevector <16 x i8> %marks0, <16 x i8> poison, <16 x i32> zeroinitializer
  %quick = and i1 (icmp eq i32 (and i32 %state, {_FORM}), {_ASCII}), (icmp ult i32 %mark, 128)
  br label %chunk"""


def _parts_closed(words: bool) -> str:
    """The end of `_parts`: the end of the last part, and the length of the list."""
    last = """  store i64 %n, ptr %rest
  %all = add i64 %k, (sub i64 1, %from)
  %found = lshr i64 %all, 1""" if words else """  store i64 %from, ptr %rest
  store i64 %n, ptr (getelementptr i8, ptr %rest, i64 8)
  %found = add i64 %pairs, 1"""
    return f"""end:
  %rest = getelementptr i64, ptr %data, i64 %k
{last}
{_store("length", "i64", "%found", "%head", LENGTH)}
  ret ptr %head
undo:
  call void @pyj_native_free_n(ptr %head)
fail:
  ret ptr null
}}"""


TEXT.update({f"pyj_native_{kind}": _parts(kind) for kind in ("words", "fields")})


def _attributes(layout: str) -> list[str]:
    """The components of an object with this layout."""
    return components_of(layout[1:-1], layout)


def _given_up(parts: list[str], pointer: str, first: int) -> str:
    """Text that releases the references among the components that start `first` bytes behind a pointer."""
    return "\n".join([f"""  %p{k} = getelementptr i8, ptr {pointer}, i64 {first + 8 * k}
  %x{k} = load ptr, ptr %p{k}, align 8
  call void @{giver(part)}(ptr %x{k})""" for k, part in enumerate(parts) if part != "n"])


def text_of(name: str, threads: bool = False) -> str:
    """A helper with a layout in its name: `pyj_native_release_...` releases a reference to a list,
    `pyj_native_free_...` frees the list with its items, the last item first, as the interpreter does;
    `pyj_native_drop_...` releases a reference to an object, `pyj_native_dead_...` frees the object;
    `pyj_native_entry_...` releases the lists of an entry of a table. Or a helper with a number of bytes:
    `pyj_native_make_...` gives memory for an object, and `pyj_native_give_...` takes it back. threads: as of
    `_released`."""
    kind, _, layout = name.removeprefix("pyj_native_").partition("_")
    if kind in ("make", "give") and layout.isdigit():
        return (_MAKE if kind == "make" else _GIVE).replace("SIZE", layout)
    if not re.fullmatch("([noLER]|B[a-z])+", layout) or kind not in ("release", "free", "drop", "dead", "entry"):
        raise KeyError(name)
    if kind == "dead":
        return _dead(name, layout, threads)
    if kind == "entry":
        lists = "".join(f"""  %p{k} = getelementptr i8, ptr %e, i64 {8 * k}
  %x{k} = load ptr, ptr %p{k}, align 8
  store ptr null, ptr %p{k}, align 8
  call void @{giver(part)}(ptr %x{k})
""" for k, part in enumerate(components_of(layout)) if part[0] == "L")
        return f"\ndefine internal void @{name}(ptr %e) nounwind {{\n{lists}  ret void\n}}"
    if kind in ("release", "drop"):
        return f"""
define internal void @{name}(ptr %head) nounwind alwaysinline {{
  br i1 (icmp eq ptr %head, null), label %done, label %some
some:
{_released("%head", "", threads, "free", "done")}
free:
  call void @pyj_native_{"free" if kind == "release" else "dead"}_{layout}(ptr %head)
done:
  ret void
}}"""
    parts = components_of(layout)
    given = _given_up(parts, "%item", 0)
    loop = f"""
{_load("length", "i64", "%head", LENGTH)}
  br label %look
look:
  %left = phi i64 [ %length, %start ], [ %i, %give ]
  br i1 (icmp eq i64 %left, 0), label %rest, label %give
give:
  %i = add i64 %left, -1
  %item = getelementptr i8, ptr %data, i64 (mul i64 %i, {8 * len(parts)})
{given}
  br label %look
rest:""" if given else ""
    # The helper for numbers is in the shared image of native lists; those for other layouts are in the modules that
    # need them, since their number is unlimited.
    return f"""
define internal void @{name}(ptr %head) nounwind {"" if given else "noinline "}{{
start:
{_load("data", "ptr", "%head", DATA)}{_load("object", "ptr", "%head", OBJECT)}{_load("base", "ptr", "%head", BASE)}\
{_load("text", "ptr", "%head", SOURCE)}{loop}
{_OWN}  br i1 %is.own, label %objects, label %memory
memory:
  call void @free(ptr %base)
objects:
  call void @pyj_release_object(ptr %object)
  call void @pyj_release_object(ptr %text)
  call void @free(ptr %head)
  ret void
}}"""


# Allocation of objects of one size. The module keeps the memory of freed objects, up to a limit, for new ones. Where
# threads of the pool run its code, it leaves that to the C library, which keeps some memory for each thread.
_KEPT = 16_384
_MAKE = """
@pyj_native_make_SIZE.kept = internal global ptr null, align 8
@pyj_native_make_SIZE.count = internal global i64 0, align 8
define internal ptr @pyj_native_make_SIZE() nounwind alwaysinline {
  %first = load ptr, ptr @pyj_native_make_SIZE.kept, align 8
  br i1 (icmp eq ptr %first, null), label %new, label %old
new:
  %made = call ptr @pyj_box_new(i64 SIZE) cold
  br label %done
old:
  store ptr (load ptr, ptr %first, align 8), ptr @pyj_native_make_SIZE.kept, align 8
  %count = load i64, ptr @pyj_native_make_SIZE.count, align 8
  store i64 (add i64 %count, -1), ptr @pyj_native_make_SIZE.count, align 8
  store i64 1, ptr %first, align 8
done:
  %found = phi ptr [ %made, %new ], [ %first, %old ]
  ret ptr %found
}"""
_GIVE = f"""
define internal void @pyj_native_give_SIZE(ptr %x) nounwind alwaysinline {{
  %count = load i64, ptr @pyj_native_make_SIZE.count, align 8
  br i1 (icmp uge i64 %count, {_KEPT}), label %free, label %keep
free:
  call void @free(ptr %x)
  br label %done
keep:
  store i64 (add i64 %count, 1), ptr @pyj_native_make_SIZE.count, align 8
  store ptr (load ptr, ptr @pyj_native_make_SIZE.kept, align 8), ptr %x, align 8
  store ptr %x, ptr @pyj_native_make_SIZE.kept, align 8
done:
  ret void
}}"""


_OF_THREADS = {"make": """
define internal ptr @pyj_native_make_SIZE() nounwind alwaysinline {
  ret ptr (call ptr @pyj_box_new(i64 SIZE))
}""", "give": """
define internal void @pyj_native_give_SIZE(ptr %x) nounwind alwaysinline {
  call void @free(ptr %x)
  ret void
}"""}


def of_threads(name: str) -> str | None:
    """The text of a helper in code that threads of the pool run, where that differs: there references are counted
    atomically, since iterations may share lists and objects that none of them changes."""
    if name == "pyj_native_retain":
        return retaining(name, atomic=True)
    kind, _, layout = name.removeprefix("pyj_native_").partition("_")
    if kind in _OF_THREADS and layout.isdigit():
        return _OF_THREADS[kind].replace("SIZE", layout)
    return text_of(name, True) if name.startswith("pyj_native_") and kind in ("release", "drop", "dead") else None


def _released(pointer: str, tag: str, threads: bool, yes: str, no: str) -> str:
    """Text that releases a reference to a list or an object, and jumps to `yes` if it was the last one, else to `no`.
    threads: other threads may count references to it; if there is only one reference, none of them has one."""
    if not threads:
        return f"""  %old{tag} = load i64, ptr {pointer}, align 8
  %new{tag} = add i64 %old{tag}, -1
  store i64 %new{tag}, ptr {pointer}, align 8
  %last{tag} = icmp eq i64 %new{tag}, 0
  br i1 %last{tag}, label %{yes}, label %{no}"""
    return f"""  %now{tag} = load atomic i64, ptr {pointer} acquire, align 8
  br i1 (icmp eq i64 %now{tag}, 1), label %{yes}, label %count{tag}
count{tag}:
  %old{tag} = atomicrmw sub ptr {pointer}, i64 1 acq_rel, align 8
  %last{tag} = icmp eq i64 %old{tag}, 1
  br i1 %last{tag}, label %{yes}, label %{no}"""


def _size(parts: list[str]) -> int:
    """Bytes of an object."""
    return 8 + 8 * len(parts)


def _cycle(layout: str) -> list[str]:
    """The layouts of a reference cycle: those of objects that refer, perhaps through others, to objects with this
    layout, and are referred to by them; `layout` is the first. Empty where objects with this layout are in no cycle."""
    reached = {layout: dict.fromkeys(_attributes(layout))}
    work = [layout]
    for one in work:  # appended to during the iteration
        new = [part for part in reached[one] if part[0] == "R" and part not in reached]
        reached.update([(part, dict.fromkeys(_attributes(part))) for part in new])
        work += new
    found = [layout]
    for one in found:  # appended to during the iteration
        found += [other for other in work if one in reached[other] and other not in found]
    return found if any([layout in reached[one] for one in found]) else []


def _dead(name: str, layout: str, threads: bool) -> str:
    """The function that frees an object. Objects of a cycle of layouts that have lost their last reference wait in
    lists, one for each layout, so that freeing a long chain needs no recursion; the words of the reference counts are
    the links of the lists."""
    cycle, text = _cycle(layout), []
    if not cycle:
        parts = _attributes(layout)
        return f"""
define internal void @{name}(ptr %one) nounwind noinline {{
{_given_up(parts, "%one", 8)}
  call void @pyj_native_give_{_size(parts)}(ptr %one)
  ret void
}}"""
    for k, one in enumerate(cycle):
        parts = _attributes(one)
        given = [_given_one(cycle, f"{k}.{j}", f"%one{k}", 8 + 8 * j, part, threads)
                 for j, part in enumerate(parts) if part != "n"]
        text.append(f"""
look{k}:
  %one{k} = load ptr, ptr %first{k}, align 8
  %none{k} = icmp eq ptr %one{k}, null
  br i1 %none{k}, label %{f"look{k + 1}" if k + 1 < len(cycle) else "done"}, label %give{k}
give{k}:
  store ptr (load ptr, ptr %one{k}, align 8), ptr %first{k}, align 8{"".join(given)}
  call void @pyj_native_give_{_size(parts)}(ptr %one{k})
  br label %look0""")
    lists = "".join([f"""
  %first{k} = alloca ptr
  store ptr null, ptr %first{k}, align 8""" for k in range(len(cycle))])
    return f"""
define internal void @{name}(ptr %x) nounwind noinline {{{lists}
  store ptr null, ptr %x, align 8
  store ptr %x, ptr %first0, align 8
  br label %look0{"".join(text)}
done:
  ret void
}}"""


def _given_one(cycle: list[str], tag: str, pointer: str, offset: int, part: str, threads: bool) -> str:
    """Text that releases the reference at an offset from an object of a cycle of layouts."""
    loaded = f"""
  %p{tag} = getelementptr i8, ptr {pointer}, i64 {offset}
  %x{tag} = load ptr, ptr %p{tag}, align 8"""
    if part not in cycle:
        return f"""{loaded}
  call void @{giver(part)}(ptr %x{tag})"""
    waiting = f"%first{cycle.index(part)}"
    return f"""{loaded}
  br i1 (icmp eq ptr %x{tag}, null), label %next{tag}, label %some{tag}
some{tag}:
{_released(f"%x{tag}", tag, threads, f"wait{tag}", f"next{tag}")}
wait{tag}:
  store ptr (load ptr, ptr {waiting}, align 8), ptr %x{tag}, align 8
  store ptr %x{tag}, ptr {waiting}, align 8
  br label %next{tag}
next{tag}:"""


_NUMBERS = "pyj_native_free_n"
TEXT[_NUMBERS] = text_of(_NUMBERS)
