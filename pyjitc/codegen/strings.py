"""Helpers that make and read str objects in memory (runtime/platform.py).

They are loaded by programs that use text. Those that are not inlined are shared: they are compiled once, see shared.py.
"""
from __future__ import annotations

from ..runtime.platform import STR, STR_IN_PIECES, STR_STATE
from .definitions import definer, load as _load, store as _store

__all__ = ["TEXT"]

TEXT: dict[str, str] = {}
_define = definer(TEXT)


def _offset_of_characters(text: str, state: str) -> str:
    """Instructions that compute %{text}at, the offset of the characters of a text with this state."""
    return f"""
  %{text}ascii = and i32 %{state}, {STR_STATE["ascii"]}
  %{text}at = select i1 (icmp ne i32 %{text}ascii, 0), i64 {STR["ascii"]}, i64 {STR["wide"]}
"""


# ---------------------------------------------------------------- characters, equality

# The interpreter has one object for each character below 256.
_define("ptr @pyj_str_char(i64 %code)", """
  br i1 (icmp ult i64 %code, 256), label %kept, label %make
kept:
  %one = load ptr, ptr (getelementptr ptr, ptr @pyjitc_characters, i64 %code)
  call void @Py_IncRef(ptr %one)
  ret ptr %one
make:
  %new = call ptr @PyUnicode_FromOrdinal(i32 (trunc i64 %code to i32))
  ret ptr %new""")

_COMPARE_PIECES = """
  %bothstates = and i32 %xstate, %ystate
  br i1 (icmp ne i32 (and i32 %bothstates, 32), 0), label %kinds, label %pieces
pieces:
  %equal = icmp eq i32 (call i32 @PyUnicode_Compare(ptr %x, ptr %y)), 0
  ret i1 %equal"""
# Equal texts have characters of the same size.
_define("i1 @pyj_str_equal(ptr %x, ptr %y)", f"""
  br i1 (icmp eq ptr %x, %y), label %yes, label %lengths
lengths:
{_load("xlen", "i64", "%x", STR["length"])}{_load("ylen", "i64", "%y", STR["length"])}
  br i1 (icmp eq i64 %xlen, %ylen), label %states, label %no
states:
{_load("xstate", "i32", "%x", STR["state"])}{_load("ystate", "i32", "%y", STR["state"])}
  {_COMPARE_PIECES if STR_IN_PIECES else "br label %kinds"}
kinds:
  %unlike = and i32 (xor i32 %xstate, %ystate), {STR_STATE["sizes"] | STR_STATE["ascii"]}
  br i1 (icmp eq i32 %unlike, 0), label %characters, label %no
characters:
{_offset_of_characters("", "xstate")}  %shifted = lshr i32 %xstate, 2
  %bytes = mul i64 %xlen, (zext i32 (and i32 %shifted, 7) to i64)
  %xdata = getelementptr i8, ptr %x, i64 %at
  %ydata = getelementptr i8, ptr %y, i64 %at
  ret i1 (icmp eq i32 (call i32 @memcmp(ptr %xdata, ptr %ydata, i64 %bytes)), 0)
yes:
  ret i1 true
no:
  ret i1 false""")

# Where two texts have characters of one size, in one piece each, computes the offsets of both.
_BOTH_FORMS = f"""
{_load("sstate", "i32", "%s", STR["state"])}{_load("tstate", "i32", "%t", STR["state"])}
  %pieces = xor i32 (and i32 %sstate, 32), 32
  %unlike0 = and i32 (xor i32 %sstate, %tstate), {STR_STATE["sizes"]}
  br i1 (icmp eq i32 (or i32 %unlike0, %pieces), 0), label %characters, label %others
characters:
{_offset_of_characters("s", "sstate")}{_offset_of_characters("t", "tstate")}"""
# s[i:j] == t, without the part as an object.
_define("i1 @pyj_str_part_equal(ptr %s, i64 %i, i64 %j, ptr %t)", f"""
{_load("n", "i64", "%s", STR["length"])}{_load("tlen", "i64", "%t", STR["length"])}
  %span = sub i64 (select i1 (icmp slt i64 %n, %j), i64 %n, i64 %j), %i
  %length = select i1 (icmp slt i64 %span, 0), i64 0, i64 %span
  br i1 (icmp eq i64 %length, %tlen), label %states, label %no
states:
{_BOTH_FORMS}  %shifted = lshr i32 %sstate, 2
  %size = zext i32 (and i32 %shifted, 7) to i64
  %bytes = mul i64 %length, %size
  %sdata = getelementptr i8, ptr %s, i64 (add i64 %sat, (mul i64 %i, %size))
  %tdata = getelementptr i8, ptr %t, i64 %tat
  ret i1 (icmp eq i32 (call i32 @memcmp(ptr %sdata, ptr %tdata, i64 %bytes)), 0)
others:
  br i1 (icmp eq i64 %length, 0), label %yes, label %ask
ask:
  ret i1 (icmp eq i64 (call i64 @PyUnicode_Tailmatch(ptr %s, ptr %t, i64 %i, i64 %j, i32 -1)), 1)
yes:
  ret i1 true
no:
  ret i1 false""")


def _mirrored_loop(bits: int) -> str:
    return f"""
from{bits}:
  br label %char{bits}
char{bits}:
  %i{bits} = phi i64 [ 0, %from{bits} ], [ %next{bits}, %on{bits} ]
  %j{bits} = phi i64 [ %last, %from{bits} ], [ %less{bits}, %on{bits} ]
  %tp{bits} = getelementptr i{bits}, ptr %tdata, i64 %j{bits}
  %sc{bits} = load i{bits}, ptr (getelementptr i{bits}, ptr %sdata, i64 %i{bits})
  br i1 (icmp eq i{bits} %sc{bits}, (load i{bits}, ptr %tp{bits})), label %on{bits}, label %no
on{bits}:
  %next{bits} = add i64 %i{bits}, 1
  %less{bits} = sub i64 %j{bits}, 1
  %end{bits} = icmp eq i64 %next{bits}, %n
  br i1 %end{bits}, label %yes, label %char{bits}"""


# s[::-1] == t, without the reversed text as an object. Up to eight bytes are read as one word, together with what the
# object has in front of them, which is shifted out.
_define("i1 @pyj_str_mirrored_any(ptr %s, ptr %t)", f"""
{_load("n", "i64", "%s", STR["length"])}{_load("m", "i64", "%t", STR["length"])}
  br i1 (icmp eq i64 %n, %m), label %states, label %no
states:
  %last = sub i64 %n, 1
  br i1 (icmp eq i64 %n, 0), label %yes, label %forms
forms:
{_BOTH_FORMS}  %sdata = getelementptr i8, ptr %s, i64 %sat
  %tdata = getelementptr i8, ptr %t, i64 %tat
  %shifted = lshr i32 %sstate, 2
  switch i32 (and i32 %shifted, 7), label %from32 [ i32 1, label %bytes  i32 2, label %from16 ]
bytes:
  br i1 (icmp ule i64 %n, 8), label %word, label %from8
word:
  %before = sub i64 %n, 8
  %sword = load i64, ptr (getelementptr i8, ptr %sdata, i64 %before), align 1
  %tword = load i64, ptr (getelementptr i8, ptr %tdata, i64 %before), align 1
  %other.bits = sub i64 64, (shl i64 %n, 3)
  %turned = call i64 @llvm.bswap.i64(i64 (lshr i64 %sword, %other.bits))
  ret i1 (icmp eq i64 (lshr i64 %turned, %other.bits), (lshr i64 %tword, %other.bits))
{_mirrored_loop(8)}{_mirrored_loop(16)}{_mirrored_loop(32)}
others:
  %i = phi i64 [ 0, %forms ], [ %i1, %following ]
  %j = sub i64 %last, %i
  %sc = call i32 @PyUnicode_ReadChar(ptr %s, i64 %i)
  br i1 (icmp eq i32 %sc, (call i32 @PyUnicode_ReadChar(ptr %t, i64 %j))), label %following, label %no
following:
  %i1 = add i64 %i, 1
  br i1 (icmp eq i64 %i1, %n), label %yes, label %others
yes:
  ret i1 true
no:
  ret i1 false""", shared=True)

# s[::-1] == t, without a call where a short ASCII text is compared with its own reverse. Eight bytes are read, and
# those in front of the characters are shifted out.
_define("i1 @pyj_str_mirrored(ptr %s, ptr %t)", f"""
{_load("n", "i64", "%s", STR["length"])}{_load("state", "i32", "%s", STR["state"])}
  %few = icmp ult i64 (sub i64 %n, 1), 8
  %form = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %plain = icmp eq i32 %form, {STR_STATE["one"] | STR_STATE["ascii"]}
  br i1 (and i1 (icmp eq ptr %s, %t), (and i1 %few, %plain)), label %word, label %other
word:
  %end = getelementptr i8, ptr %s, i64 %n
  %out = sub i64 64, (shl i64 %n, 3)
  %chars = lshr i64 (load i64, ptr (getelementptr i8, ptr %end, i64 {STR["ascii"] - 8}), align 1), %out
  %turned = call i64 @llvm.bswap.i64(i64 %chars)
  ret i1 (icmp eq i64 (lshr i64 %turned, %out), %chars)
other:
  %found = call i1 @pyj_str_mirrored_any(ptr %s, ptr %t)
  ret i1 %found""")

# ---------------------------------------------------------------- appending

# The offsets of the fields that refer to a text's wchar_t and UTF-8 forms, once these were requested; an ASCII object
# has only the first of them. Until 3.11 characters of four bytes are also the wchar_t form.
_KEPT = (40, 56) if STR_IN_PIECES else (None, 48)
_WCHARS = 64  # the offset of the number of wchar_t until 3.11
_SMALL = 512  # the most bytes for which the interpreter's own allocator provides memory, in steps of 16


def _kept_is_null(name: str, offset: int | None) -> str:
    if offset is None:
        return f"  %{name} = icmp eq i64 0, 0\n"
    return f"{_load(f'{name}.kept', 'ptr', '%x', offset)}  %{name} = icmp eq ptr %{name}.kept, null\n"


def _first_is_free() -> str:
    """Text that computes %first: whether the first of these fields is null or refers to the object's own characters."""
    if not STR_IN_PIECES:
        return _kept_is_null("first", None)
    return f"""{_kept_is_null("first.none", _KEPT[0])}
  %first.own = getelementptr i8, ptr %x, i64 {STR["wide"]}
  %first = or i1 %first.none, (icmp eq ptr %first.none.kept, %first.own)
"""


def _share(name: str, x: str, length: str) -> str:
    """Text that updates the cached wchar_t pointer of an object with characters of four bytes after the object has
    changed."""
    if not STR_IN_PIECES:
        return ""
    return f"""  %{name}.chars = getelementptr i8, ptr {x}, i64 {STR["wide"]}
  store ptr %{name}.chars, ptr (getelementptr i8, ptr {x}, i64 {_KEPT[0]})
  store i64 {length}, ptr (getelementptr i8, ptr {x}, i64 {_WCHARS})
"""


def _widen(name: str, of: str, to: str) -> str:
    """Copy the n + 1 characters of `source` to `target`, which has wider ones, and return the object."""
    return f"""
widen{name}:
  %i{name} = phi i64 [ 0, %{'which' if to == 'i16' else 'four'} ], [ %j{name}, %widen{name} ]
  %c{name} = load {of}, ptr (getelementptr {of}, ptr %source, i64 %i{name})
  store {to} (zext {of} %c{name} to {to}), ptr (getelementptr {to}, ptr %target, i64 %i{name})
  %j{name} = add i64 %i{name}, 1
  br i1 (icmp ult i64 %j{name}, %n1), label %widen{name}, label %done{name}
done{name}:
  ret ptr %to"""


# x + y; the reference to x is consumed. If x has no other reference and no cached hash, it becomes the result where
# there is room after its characters, or where it can be moved to a larger block, whose spare room is an eighth of it,
# so that a loop of `s += t` takes time proportional to the appended text. The C library says how large a block is if it
# is not small: @pyjitc_str_grows is 0 where memory does not come from it.
_define("ptr @pyj_str_append(ptr %x, ptr %y)", f"""
  %slot = alloca ptr
  %may = icmp ne i64 (load i64, ptr @pyjitc_str_grows), 0
  %count = load i64, ptr %x
{_load("hash", "i64", "%x", STR["hash"])}
{_load("xs", "i32", "%x", STR["state"])}{_load("ys", "i32", "%y", STR["state"])}
{_load("m", "i64", "%x", STR["length"])}{_load("n", "i64", "%y", STR["length"])}
  %xform = and i32 %xs, {STR_STATE["sizes"]}
  %yform = and i32 %ys, {STR_STATE["sizes"]}
  %ascii = and i32 %xs, {STR_STATE["ascii"]}
  %pieces = xor i32 (and i32 (and i32 %xs, %ys), 32), 32
  %bits1 = or i32 (and i32 %xs, 3), (and i32 %ascii, (xor i32 %ys, -1))
  %t1 = and i1 %may, (icmp eq i64 %count, 1)
  %t2 = and i1 (icmp eq i64 %hash, -1), (icmp eq i32 (or i32 %bits1, %pieces), 0)
  br i1 (and i1 (and i1 %t1, %t2), (icmp uge i32 %xform, %yform)), label %mine, label %slow
mine:
  %plain = icmp ne i32 %ascii, 0
{_first_is_free()}
  br i1 %plain, label %measure, label %wide
wide:
{_kept_is_null("second", _KEPT[1])}
  br label %measure
measure:
  %more = phi i1 [ true, %mine ], [ %second, %wide ]
  %at = select i1 %plain, i64 {STR["ascii"]}, i64 {STR["wide"]}
  %size = zext i32 (and i32 (lshr i32 %xs, 2), 7) to i64
  %used = add i64 %at, (mul i64 (add i64 %m, 1), %size)
  %adds = mul i64 %n, %size
  %needed = add i64 %used, %adds
  br i1 (and i1 %first, %more), label %room, label %slow
room:
  %small = icmp ule i64 %needed, {_SMALL}
  %steps = and i64 (add i64 %used, 15), -16
  br i1 (icmp ugt i64 %used, {_SMALL}), label %ask, label %have
ask:
  %usable = call i64 @malloc_usable_size(ptr %x)
have:
  %capacity = phi i64 [ %steps, %room ], [ %usable, %ask ]
  br i1 (icmp ule i64 %needed, %capacity), label %copy, label %grow
grow:
  %spare = select i1 %small, i64 0, i64 (lshr i64 %needed, 3)
  %moved = call ptr @PyObject_Realloc(ptr %x, i64 (add i64 %needed, %spare))
  br i1 (icmp eq ptr %moved, null), label %memory, label %copy
copy:
  %to = phi ptr [ %x, %have ], [ %moved, %grow ]
  %newlen = add i64 %m, %n
  %target = getelementptr i8, ptr %to, i64 (sub i64 %used, %size)
{_offset_of_characters("y", "ys")}  %source = getelementptr i8, ptr %y, i64 %yat
{_store("lenp", "i64", "%newlen", "%to", STR["length"])}
  %same = icmp eq i32 %xform, %yform
  %n1 = add i64 %n, 1
  br i1 (icmp eq i64 %size, 4), label %share, label %copied
share:
{_share("wchars", "%to", "%newlen")}
  br label %copied
copied:
  br i1 %same, label %bytes, label %which
bytes:
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 (add i64 %adds, %size), i1 false)
  ret ptr %to
which:
  %one = icmp eq i32 %yform, {STR_STATE["one"]}
  br i1 (icmp eq i64 %size, 2), label %widen12, label %four
four:
  br i1 %one, label %widen14, label %widen24
{_widen("12", "i8", "i16")}{_widen("14", "i8", "i32")}{_widen("24", "i16", "i32")}
memory:
  call void @Py_DecRef(ptr %x)
  %error = call ptr @PyErr_NoMemory()
  ret ptr null
slow:
  store ptr %x, ptr %slot
  call void @PyUnicode_Append(ptr %slot, ptr %y)
  %result = load ptr, ptr %slot
  ret ptr %result""", shared=True)

# x + chr(code): appends one character, which is passed without an object. Blocks of memory have a multiple of eight
# bytes: if the text ends within eight bytes there is room for another character.
_define("ptr @pyj_str_append_code_wide(ptr %x, i64 %code)", f"""
  %may = icmp ne i64 (load i64, ptr @pyjitc_str_grows), 0
  %single = icmp eq i64 (load i64, ptr %x), 1
{_load("hash", "i64", "%x", STR["hash"])}{_load("xs", "i32", "%x", STR["state"])}
{_load("m", "i64", "%x", STR["length"])}{_first_is_free()}
  %unhashed = icmp eq i64 %hash, -1
  %form = and i32 %xs, {STR_STATE["sizes"] | 3}
  %plain = icmp ne i32 (and i32 %xs, {STR_STATE["ascii"]}), 0
  br i1 (and i1 (and i1 %may, %single), (and i1 %unhashed, %first)), label %mine, label %other
mine:
  switch i32 %form, label %other [ i32 {STR_STATE["one"]}, label %one  i32 {STR_STATE["two"]}, label %two
                                   i32 {STR_STATE["four"]}, label %four ]
one:
  %most = select i1 %plain, i64 128, i64 256
  br label %limit
two:
  br label %limit
four:
  br label %limit
limit:
  %below = phi i64 [ %most, %one ], [ 65536, %two ], [ {0x110000}, %four ]
  %size = phi i64 [ 1, %one ], [ 2, %two ], [ 4, %four ]
  br i1 (icmp ult i64 %code, %below), label %measure, label %other
measure:
  br i1 %plain, label %room, label %wide
wide:
{_kept_is_null("second", _KEPT[1])}
  br i1 %second, label %room, label %other
room:
  %end = add i64 (select i1 %plain, i64 {STR["ascii"]}, i64 {STR["wide"]}), (mul i64 %m, %size)
  %used = add i64 %end, %size
  br i1 (icmp ne i64 (and i64 %used, 7), 0), label %put, label %ask
ask:
  br i1 (icmp ule i64 %used, {_SMALL}), label %step, label %large
step:
  br i1 (icmp ne i64 (and i64 %used, 15), 0), label %put, label %other
large:
  br i1 (icmp ult i64 %used, (call i64 @malloc_usable_size(ptr %x))), label %put, label %other
put:
  %last = getelementptr i8, ptr %x, i64 %end
  %null = getelementptr i8, ptr %x, i64 %used
  %m1 = add i64 %m, 1
  store i64 %m1, ptr %m.p
  switch i64 %size, label %put1 [ i64 2, label %put2  i64 4, label %put4 ]
put1:
  store i8 (trunc i64 %code to i8), ptr %last
  store i8 0, ptr %null
  ret ptr %x
put2:
  store i16 (trunc i64 %code to i16), ptr %last
  store i16 0, ptr %null
  ret ptr %x
put4:
  store i32 (trunc i64 %code to i32), ptr %last
  store i32 0, ptr %null
{_share("wchars", "%x", "%m1")}
  ret ptr %x
other:
  %char = call ptr @pyj_str_char(i64 %code)
  br i1 (icmp eq ptr %char, null), label %drop, label %join
join:
  %made = call ptr @pyj_str_append(ptr %x, ptr %char)
  call void @Py_DecRef(ptr %char)
  ret ptr %made
drop:
  call void @Py_DecRef(ptr %x)
  ret ptr null""", shared=True)
_define("ptr @pyj_str_append_code(ptr %x, i64 %code)", f"""
  %grows = load i64, ptr @pyjitc_str_grows
  %count = load i64, ptr %x
{_load("hash", "i64", "%x", STR["hash"])}{_load("xs", "i32", "%x", STR["state"])}
{_load("m", "i64", "%x", STR["length"])}{_kept_is_null("first", _KEPT[0])}
  %form = and i32 %xs, {STR_STATE["sizes"] | STR_STATE["ascii"] | 3}
  %used = add i64 %m, {STR["ascii"] + 1}
  %free = icmp ne i64 (and i64 %used, 7), 0
  %t1 = and i1 (icmp ne i64 %grows, 0), (icmp eq i64 %count, 1)
  %t2 = and i1 (icmp eq i64 %hash, -1), (icmp eq i32 %form, {STR_STATE["one"] | STR_STATE["ascii"]})
  %t3 = and i1 (icmp ult i64 %code, 128), %first
  br i1 (and i1 (and i1 %t1, %t2), (and i1 %t3, %free)), label %put, label %other
put:
  %null = getelementptr i8, ptr %x, i64 %used
  store i8 (trunc i64 %code to i8), ptr (getelementptr i8, ptr %null, i64 -1)
  store i8 0, ptr %null
  store i64 (add i64 %m, 1), ptr %m.p
  ret ptr %x
other:
  %made = call ptr @pyj_str_append_code_wide(ptr %x, i64 %code)
  ret ptr %made""")

# The concatenation of a table of n texts: ASCII ones are copied, others are left to the interpreter.
_define("ptr @pyj_str_join(ptr %parts, i64 %n)", f"""
start:
  br label %size
size:
  %i = phi i64 [ 0, %start ], [ %i1, %ascii ]
  %sum = phi i64 [ 0, %start ], [ %sum1, %ascii ]
  %x = load ptr, ptr (getelementptr ptr, ptr %parts, i64 %i)
{_load("state", "i32", "%x", STR["state"])}{_load("m", "i64", "%x", STR["length"])}
  %bits = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  br i1 (icmp eq i32 %bits, {STR_STATE["one"] | STR_STATE["ascii"]}), label %ascii, label %slow
ascii:
  %sum1 = add i64 %sum, %m
  %i1 = add i64 %i, 1
  br i1 (icmp ult i64 %i1, %n), label %size, label %make
make:
  %made = call ptr @PyUnicode_New(i64 %sum1, i32 127)
  br i1 (icmp eq ptr %made, null), label %out, label %begin
begin:
  %data = getelementptr i8, ptr %made, i64 {STR["ascii"]}
  br label %copy
copy:
  %k = phi i64 [ 0, %begin ], [ %k1, %copy ]
  %to = phi ptr [ %data, %begin ], [ %to1, %copy ]
  %y = load ptr, ptr (getelementptr ptr, ptr %parts, i64 %k)
{_load("length", "i64", "%y", STR["length"])}
  %from = getelementptr i8, ptr %y, i64 {STR["ascii"]}
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %length, i1 false)
  %to1 = getelementptr i8, ptr %to, i64 %length
  %k1 = add i64 %k, 1
  br i1 (icmp ult i64 %k1, %n), label %copy, label %out
out:
  ret ptr %made
slow:
  %empty = call ptr @PyUnicode_New(i64 0, i32 0)
  %joined = call ptr @_PyUnicode_JoinArray(ptr %empty, ptr %parts, i64 %n)
  call void @Py_DecRef(ptr %empty)
  ret ptr %joined""", shared=True)

# s[::-1]: for ASCII here, for other texts by the interpreter, which gets the slice.
_define("ptr @pyj_str_reversed(ptr %s, ptr %slice)", f"""
{_load("state", "i32", "%s", STR["state"])}{_load("n", "i64", "%s", STR["length"])}
  %bits = and i32 %state, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  br i1 (icmp eq i32 %bits, {STR_STATE["one"] | STR_STATE["ascii"]}), label %make, label %ask
make:
  %made = call ptr @PyUnicode_New(i64 %n, i32 127)
  br i1 (icmp eq ptr %made, null), label %out, label %start
start:
  %from = getelementptr i8, ptr %s, i64 {STR["ascii"] - 1}
  %to = getelementptr i8, ptr %made, i64 {STR["ascii"]}
  br label %test
test:
  %left = phi i64 [ %n, %start ], [ %less, %copy ]
  br i1 (icmp ne i64 %left, 0), label %copy, label %out
copy:
  %source = getelementptr i8, ptr %from, i64 %left
  %less = sub i64 %left, 1
  store i8 (load i8, ptr %source), ptr (getelementptr i8, ptr %to, i64 (sub i64 %n, %left))
  br label %test
out:
  ret ptr %made
ask:
  %given = call ptr @PyObject_GetItem(ptr %s, ptr %slice)
  ret ptr %given""", shared=True)
