"""Helpers in LLVM text that look at the items of lists that are passed to compiled functions."""
from __future__ import annotations

from ..runtime.platform import LIST_ITEMS, LONG_TAG, LONG_TAGGED, OB_SIZE, OB_TYPE
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
  %more = icmp ult i64 %i, %n
  br i1 %more, label %item, label %yes
item:
  %o.at = getelementptr ptr, ptr %items, i64 %i
  %o = load ptr, ptr %o.at, align 8
{_load("found", "ptr", "%o", OB_TYPE)}
  %same = icmp eq ptr %found, %class"""


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
  %small = icmp ult i64 %above, {16 if LONG_TAGGED else 3}
  br i1 %small, label %next, label %wide
wide:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %o, ptr %flag)
  %over = load i32, ptr %flag
  %fits = icmp eq i32 %over, 0
  br i1 %fits, label %next, label %no
{_END_OF_ITEMS}""",
}
