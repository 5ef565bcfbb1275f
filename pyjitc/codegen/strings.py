"""Helpers that make and read str objects as they lie in memory (runtime/platform.py).

They are loaded by programs that use text. Those that stay calls are shared: they are compiled once, see shared.py.
"""
from __future__ import annotations

from ..runtime.platform import STR, STR_IN_PIECES, STR_STATE

__all__ = ["DECLARATIONS", "NEEDS", "TEXT"]

TEXT: dict[str, str] = {}
NEEDS: dict[str, tuple[str, ...]] = {}
DECLARATIONS = {
    "pyjitc_characters": "@pyjitc_characters = external global [256 x ptr]",
    "pyjitc_str_grows": "@pyjitc_str_grows = external global i64",
    "PyUnicode_FromOrdinal": "declare ptr @PyUnicode_FromOrdinal(i32)",
    "PyUnicode_Compare": "declare i32 @PyUnicode_Compare(ptr, ptr)",
    "PyUnicode_Append": "declare void @PyUnicode_Append(ptr, ptr)",
    "PyUnicode_New": "declare ptr @PyUnicode_New(i64, i32)",
    "PyObject_Realloc": "declare ptr @PyObject_Realloc(ptr, i64)",
    "malloc_usable_size": "declare i64 @malloc_usable_size(ptr)",
    "llvm.memcpy.p0.p0.i64": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
}


def _define(head: str, body: str, *needs: str, shared: bool = False) -> None:
    """head: result and name with parameters. shared: it is called from other modules, else part of what calls it."""
    name = head.partition("@")[2].partition("(")[0]
    TEXT[name] = f"\ndefine internal {head} nounwind{' noinline' if shared else ''} {{\n{body.strip(chr(10))}\n}}"
    if needs:
        NEEDS[name] = needs


def _load(name: str, kind: str, pointer: str, offset) -> str:
    return f"  %{name}.p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.p\n"


# ---------------------------------------------------------------- characters, equality

# The interpreter keeps the characters below 256.
_define("ptr @pyj_str_char(i64 %code)", """
  %latin = icmp ult i64 %code, 256
  br i1 %latin, label %kept, label %make
kept:
  %where = getelementptr ptr, ptr @pyjitc_characters, i64 %code
  %one = load ptr, ptr %where
  call void @Py_IncRef(ptr %one)
  ret ptr %one
make:
  %narrow = trunc i64 %code to i32
  %new = call ptr @PyUnicode_FromOrdinal(i32 %narrow)
  ret ptr %new""")

_COMPARE_PIECES = """
  %bothstates = and i32 %xstate, %ystate
  %whole = and i32 %bothstates, 32
  %inone = icmp ne i32 %whole, 0
  br i1 %inone, label %kinds, label %pieces
pieces:
  %order = call i32 @PyUnicode_Compare(ptr %x, ptr %y)
  %equal = icmp eq i32 %order, 0
  ret i1 %equal"""
# Texts that are equal have characters of one size.
_define("i1 @pyj_str_equal(ptr %x, ptr %y)", f"""
  %same = icmp eq ptr %x, %y
  br i1 %same, label %yes, label %lengths
lengths:
{_load("xlen", "i64", "%x", STR["length"])}{_load("ylen", "i64", "%y", STR["length"])}
  %aslong = icmp eq i64 %xlen, %ylen
  br i1 %aslong, label %states, label %no
states:
{_load("xstate", "i32", "%x", STR["state"])}{_load("ystate", "i32", "%y", STR["state"])}
  {_COMPARE_PIECES if STR_IN_PIECES else "br label %kinds"}
kinds:
  %xor = xor i32 %xstate, %ystate
  %unlike = and i32 %xor, {STR_STATE["sizes"] | STR_STATE["ascii"]}
  %alike = icmp eq i32 %unlike, 0
  br i1 %alike, label %characters, label %no
characters:
  %ascii = and i32 %xstate, {STR_STATE["ascii"]}
  %plain = icmp ne i32 %ascii, 0
  %at = select i1 %plain, i64 {STR["ascii"]}, i64 {STR["wide"]}
  %shifted = lshr i32 %xstate, 2
  %size32 = and i32 %shifted, 7
  %size = zext i32 %size32 to i64
  %bytes = mul i64 %xlen, %size
  %xdata = getelementptr i8, ptr %x, i64 %at
  %ydata = getelementptr i8, ptr %y, i64 %at
  %differ = call i32 @memcmp(ptr %xdata, ptr %ydata, i64 %bytes)
  %found = icmp eq i32 %differ, 0
  ret i1 %found
yes:
  ret i1 true
no:
  ret i1 false""")

# ---------------------------------------------------------------- appending

# What an object that has been asked for its UTF-8 keeps beside its characters; an ASCII one has the first alone, until
# 3.11.
_KEPT = (40, 56) if STR_IN_PIECES else (None, 48)
_SMALL = 512  # bytes up to which the interpreter's own allocator gives memory, in steps of 16


def _kept_is_null(name: str, offset: int | None) -> str:
    if offset is None:
        return f"  %{name} = icmp eq i64 0, 0\n"
    return f"{_load(f'{name}.kept', 'ptr', '%x', offset)}  %{name} = icmp eq ptr %{name}.kept, null\n"


# x + y, where the reference to x is given up. A text that nobody else has, and whose hash nobody has asked for, becomes
# the result where there is room behind it, or where it can be moved to more room; the room is an eighth of it, so that
# a loop of `s += t` takes time for what is added alone. How much there is the C library says, of blocks that are not
# small: @pyjitc_str_grows is 0 where memory does not come from it.
_define("ptr @pyj_str_append(ptr %x, ptr %y)", f"""
  %slot = alloca ptr
  %grows = load i64, ptr @pyjitc_str_grows
  %may = icmp ne i64 %grows, 0
  %count = load i64, ptr %x
  %single = icmp eq i64 %count, 1
{_load("hash", "i64", "%x", STR["hash"])}
{_load("xs", "i32", "%x", STR["state"])}{_load("ys", "i32", "%y", STR["state"])}
{_load("m", "i64", "%x", STR["length"])}{_load("n", "i64", "%y", STR["length"])}
  %unhashed = icmp eq i64 %hash, -1
  %xor = xor i32 %xs, %ys
  %sizes = and i32 %xor, {STR_STATE["sizes"]}
  %wider = xor i32 %ys, -1
  %ascii = and i32 %xs, {STR_STATE["ascii"]}
  %loses = and i32 %ascii, %wider
  %interned = and i32 %xs, 3
  %whole = and i32 %xs, 32
  %pieces = xor i32 %whole, 32
  %bits1 = or i32 %sizes, %loses
  %bits2 = or i32 %interned, %pieces
  %bits = or i32 %bits1, %bits2
  %alike = icmp eq i32 %bits, 0
  %t1 = and i1 %may, %single
  %t2 = and i1 %unhashed, %alike
  %t3 = and i1 %t1, %t2
  br i1 %t3, label %mine, label %slow
mine:
  %plain = icmp ne i32 %ascii, 0
{_kept_is_null("first", _KEPT[0])}
  br i1 %plain, label %measure, label %wide
wide:
{_kept_is_null("second", _KEPT[1])}
  br label %measure
measure:
  %more = phi i1 [ true, %mine ], [ %second, %wide ]
  %alone = and i1 %first, %more
  %at = select i1 %plain, i64 {STR["ascii"]}, i64 {STR["wide"]}
  %size32a = lshr i32 %xs, 2
  %size32 = and i32 %size32a, 7
  %size = zext i32 %size32 to i64
  %m1 = add i64 %m, 1
  %chars = mul i64 %m1, %size
  %used = add i64 %at, %chars
  %adds = mul i64 %n, %size
  %needed = add i64 %used, %adds
  br i1 %alone, label %room, label %slow
room:
  %small = icmp ule i64 %needed, {_SMALL}
  %usedup = add i64 %used, 15
  %steps = and i64 %usedup, -16
  %large = icmp ugt i64 %used, {_SMALL}
  br i1 %large, label %ask, label %have
ask:
  %usable = call i64 @malloc_usable_size(ptr %x)
  br label %have
have:
  %capacity = phi i64 [ %steps, %room ], [ %usable, %ask ]
  %fits = icmp ule i64 %needed, %capacity
  br i1 %fits, label %copy, label %grow
grow:
  %eighth = lshr i64 %needed, 3
  %spare = select i1 %small, i64 0, i64 %eighth
  %request = add i64 %needed, %spare
  %moved = call ptr @PyObject_Realloc(ptr %x, i64 %request)
  %none = icmp eq ptr %moved, null
  br i1 %none, label %memory, label %copy
copy:
  %to = phi ptr [ %x, %have ], [ %moved, %grow ]
  %newlen = add i64 %m, %n
  %before = sub i64 %used, %size
  %target = getelementptr i8, ptr %to, i64 %before
  %yascii = and i32 %ys, {STR_STATE["ascii"]}
  %yplain = icmp ne i32 %yascii, 0
  %yat = select i1 %yplain, i64 {STR["ascii"]}, i64 {STR["wide"]}
  %source = getelementptr i8, ptr %y, i64 %yat
  %bytes = add i64 %adds, %size
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  %lenp = getelementptr i8, ptr %to, i64 {STR["length"]}
  store i64 %newlen, ptr %lenp
  ret ptr %to
memory:
  call void @Py_DecRef(ptr %x)
  %error = call ptr @PyErr_NoMemory()
  ret ptr null
slow:
  store ptr %x, ptr %slot
  call void @PyUnicode_Append(ptr %slot, ptr %y)
  %result = load ptr, ptr %slot
  ret ptr %result""", shared=True)

# The same of one character, which comes without an object.
_define("ptr @pyj_str_append_code(ptr %x, i64 %code)", f"""
  %grows = load i64, ptr @pyjitc_str_grows
  %may = icmp ne i64 %grows, 0
  %count = load i64, ptr %x
  %single = icmp eq i64 %count, 1
{_load("hash", "i64", "%x", STR["hash"])}{_load("xs", "i32", "%x", STR["state"])}
{_load("m", "i64", "%x", STR["length"])}
  %unhashed = icmp eq i64 %hash, -1
  %plain = and i32 %xs, {STR_STATE["sizes"] | STR_STATE["ascii"] | 3}
  %ascii = icmp eq i32 %plain, {STR_STATE["one"] | STR_STATE["ascii"]}
  %low = icmp ult i64 %code, 128
{_kept_is_null("first", _KEPT[0])}
  %t1 = and i1 %may, %single
  %t2 = and i1 %unhashed, %ascii
  %t3 = and i1 %low, %first
  %t4 = and i1 %t1, %t2
  %t5 = and i1 %t3, %t4
  %used = add i64 %m, {STR["ascii"] + 1}
  %inside = and i64 %used, 15
  %step = icmp ne i64 %inside, 0
  %small = icmp ult i64 %used, {_SMALL}
  %t6 = and i1 %step, %small
  br i1 %t5, label %mine, label %other
mine:
  br i1 %t6, label %put, label %large
large:
  br i1 %small, label %other, label %ask
ask:
  %past = icmp ugt i64 %used, {_SMALL}
  br i1 %past, label %measure, label %other
measure:
  %usable = call i64 @malloc_usable_size(ptr %x)
  %room = icmp ult i64 %used, %usable
  br i1 %room, label %put, label %other
put:
  %end = getelementptr i8, ptr %x, i64 %used
  %last = getelementptr i8, ptr %end, i64 -1
  %byte = trunc i64 %code to i8
  store i8 %byte, ptr %last
  store i8 0, ptr %end
  %m1 = add i64 %m, 1
  %lenp = getelementptr i8, ptr %x, i64 {STR["length"]}
  store i64 %m1, ptr %lenp
  ret ptr %x
other:
  %one = call ptr @pyj_str_char(i64 %code)
  %failed = icmp eq ptr %one, null
  br i1 %failed, label %drop, label %join
join:
  %made = call ptr @pyj_str_append(ptr %x, ptr %one)
  call void @Py_DecRef(ptr %one)
  ret ptr %made
drop:
  call void @Py_DecRef(ptr %x)
  ret ptr null""", "pyj_str_char", "pyj_str_append", shared=True)
