"""Helpers in LLVM text that look at the items of lists that are passed to compiled functions, and that copy numbers
from lists to memory."""
from __future__ import annotations

from ..runtime.platform import FLOAT_VALUE, LIST_ITEMS, LONG_DIGITS, LONG_TAG, LONG_TAGGED, OB_SIZE, OB_TYPE
from .definitions import load as _load

__all__ = ["TEXT"]


def _items_of_list() -> str:
    """The start of a loop over the first `most` items of a list: %o, and whether its class is the given one."""
    return f"""
{_load("size", "i64", "%list", OB_SIZE)}
  %n = call i64 @llvm.umin.i64(i64 %size, i64 %most)
{_load("items", "ptr", "%list", LIST_ITEMS)}
  br label %look
look:
  %i = phi i64 [ 0, %0 ], [ %i1, %next ]
  br i1 (icmp ult i64 %i, %n), label %item, label %yes
item:
  %o = load ptr, ptr (getelementptr ptr, ptr %items, i64 %i), align 8
{_load("found", "ptr", "%o", OB_TYPE)}
  %same = icmp eq ptr %found, %class"""


def _start_of_copy(item: str) -> str:
    """The start of the helper that copies the items of a list to memory, and says whether there are `most` of the
    class."""
    return f"""
define internal i1 @pyj_holds_copy_{item}(ptr %list, ptr %to, i64 %most, ptr %class) nounwind noinline {{
  %flag = alloca i32{_items_of_list()}
  br i1 %same, label %open, label %no
open:
  %to.at = getelementptr i64, ptr %to, i64 %i"""


def _copied_rows(item: str) -> str:
    """The helper that copies the lists in a list, where each has `width` items of a class, one after the other to
    memory, and says whether it could."""
    return f"""
define internal i1 @pyj_holds_rows_{item}(ptr %list, ptr %to, i64 %most, i64 %width, ptr %numbers,
                                          ptr %class) nounwind noinline {{{_items_of_list()}
  br i1 %same, label %row, label %no
row:
{_load("length", "i64", "%o", OB_SIZE)}
  br i1 (icmp eq i64 %length, %width), label %copy, label %no
copy:
  %to.at = getelementptr i64, ptr %to, i64 (mul i64 %i, %width)
  %held = call i1 @pyj_holds_copy_{item}(ptr %o, ptr %to.at, i64 %width, ptr %numbers)
  br i1 %held, label %next, label %no
{_END_OF_ITEMS}"""


_END_OF_ITEMS = """next:
  %i1 = add nuw i64 %i, 1
  br label %look
yes:
  ret i1 true
no:
  ret i1 false
}"""


TEXT = {
    # whether the first items of a list, at most `most`, have a class
    "pyj_holds_class": f"""
define internal i1 @pyj_holds_class(ptr %list, i64 %most, ptr %class) nounwind noinline {{{_items_of_list()}
  br i1 %same, label %next, label %no
{_END_OF_ITEMS}""",
    # whether they are ints of 64 bits
    "pyj_holds_int": f"""
define internal i1 @pyj_holds_int(ptr %list, i64 %most, ptr %class) nounwind noinline {{
  %flag = alloca i32{_items_of_list()}
  br i1 %same, label %int, label %no
int:
{_load("tag", "i64", "%o", LONG_TAG)}
  %above = add i64 %tag, {0 if LONG_TAGGED else 1}
  br i1 (icmp ult i64 %above, {16 if LONG_TAGGED else 3}), label %next, label %wide
wide:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %o, ptr %flag)
  br i1 (icmp eq i32 (load i32, ptr %flag), 0), label %next, label %no
{_END_OF_ITEMS}""",
    "pyj_holds_copy_float": f"""{_start_of_copy("float")}
{_load("value", "double", "%o", FLOAT_VALUE)}
  store double %value, ptr %to.at, align 8
  br label %next
{_END_OF_ITEMS}""",
    "pyj_holds_copy_int": f"""{_start_of_copy("int")}
{_load("tag", "i64", "%o", LONG_TAG)}
{_load("digit", "i32", "%o", LONG_DIGITS)}
  %low = zext i32 %digit to i64
  %above = add i64 %tag, {0 if LONG_TAGGED else 1}
  br i1 (icmp ult i64 %above, {16 if LONG_TAGGED else 3}), label %brief, label %wide
brief:
  {"%bits = and i64 %tag, 3" if LONG_TAGGED else ""}
  %sign = {"sub i64 1, %bits" if LONG_TAGGED else "add i64 %tag, 0"}
  store i64 (mul nsw i64 %sign, %low), ptr %to.at, align 8
  br label %next
wide:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %o, ptr %flag)
  %fits = icmp eq i32 (load i32, ptr %flag), 0
  store i64 %value, ptr %to.at, align 8
  br i1 %fits, label %next, label %no
{_END_OF_ITEMS}""",
    "pyj_holds_rows_float": _copied_rows("float"),
    "pyj_holds_rows_int": _copied_rows("int"),
    # whether x and y, or the lists in them, are different lists; with `one`, whether no two of the lists in x are one
    "pyj_holds_apart": f"""
define internal i1 @pyj_holds_apart(ptr %x, i1 %in.x, ptr %y, i1 %in.y, i1 %one) nounwind noinline {{
  %x.at = alloca ptr
  %y.at = alloca ptr
  store ptr %x, ptr %x.at
  store ptr %y, ptr %y.at
{_load("xs", "ptr", "%x", LIST_ITEMS)}
{_load("ys", "ptr", "%y", LIST_ITEMS)}
{_load("xn", "i64", "%x", OB_SIZE)}
{_load("yn", "i64", "%y", OB_SIZE)}
  %as = select i1 %in.x, ptr %xs, ptr %x.at
  %bs = select i1 %in.y, ptr %ys, ptr %y.at
  %n = select i1 %in.x, i64 %xn, i64 1
  %m = select i1 %in.y, i64 %yn, i64 1
outer:
  %i = phi i64 [ 0, %0 ], [ %i1, %after ]
  br i1 (icmp ult i64 %i, %n), label %first, label %yes
first:
  %a = load ptr, ptr (getelementptr ptr, ptr %as, i64 %i), align 8
  %most = select i1 %one, i64 %i, i64 %m
inner:
  %k = phi i64 [ 0, %first ], [ %k1, %next ]
  br i1 (icmp ult i64 %k, %most), label %second, label %after
second:
  %b.at = getelementptr ptr, ptr %bs, i64 %k
  br i1 (icmp eq ptr %a, (load ptr, ptr %b.at, align 8)), label %no, label %next
next:
  %k1 = add nuw i64 %k, 1
  br label %inner
after:
  %i1 = add nuw i64 %i, 1
  br label %outer
yes:
  ret i1 true
no:
  ret i1 false
}}""",
    # the length of the first item of a list, if that is a list, otherwise 0
    "pyj_holds_width": f"""
define internal i64 @pyj_holds_width(ptr %list, ptr %of) nounwind noinline {{
{_load("size", "i64", "%list", OB_SIZE)}
  br i1 (icmp ne i64 %size, 0), label %look, label %no
look:
{_load("items", "ptr", "%list", LIST_ITEMS)}
  %o = load ptr, ptr %items, align 8
{_load("found", "ptr", "%o", OB_TYPE)}
  br i1 (icmp eq ptr %found, %of), label %yes, label %no
yes:
{_load("width", "i64", "%o", OB_SIZE)}
  ret i64 %width
no:
  ret i64 0
}}""",
}
