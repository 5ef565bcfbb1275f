"""Helpers of native lists and tables that a Python object owns (ops/owned.py)."""
from __future__ import annotations

from ..ops import localtables as at
from .definitions import definer, load as _load

__all__ = ["TEXT", "text_of"]

TEXT: dict[str, str] = {}
_define = definer(TEXT)

# Store a capsule with a new list or table in a slot that is empty. `end` is the destructor of the capsule.
for _kind, _given, _make, _free in (
        ("list", "i64 %size", "pyj_native_new(i64 0, i64 0, i64 %size)", "pyj_native_release_n"),
        ("table", "i64 %stride, i64 %objects", "pyj_table_new(i64 %stride, i64 %objects, ptr null)",
         "pyj_table_release")):
    _define(f"i32 @pyj_owned_{_kind}(ptr %slot, ptr %end, {_given})", f"""
  %made = call ptr @{_make}
  br i1 (icmp eq ptr %made, null), label %lost, label %hold
hold:
  %capsule = call ptr @PyCapsule_New(ptr %made, ptr null, ptr %end)
  br i1 (icmp eq ptr %capsule, null), label %free, label %keep
free:
  call void @{_free}(ptr %made)
  br label %lost
keep:
  store ptr %capsule, ptr %slot
  ret i32 0
lost:
  ret i32 -1""", shared=True)
# A table, and the entry number %n of it, which has a key unless it was removed.
_TABLE = (_load("count", "i64", "%d", at.COUNT) + _load("entries", "ptr", "%d", at.ENTRIES)
          + _load("stride", "i64", "%d", at.STRIDE))
_ENTRY = """entry:
  %e = getelementptr i8, ptr %entries, i64 (mul i64 {}, %stride)
  br i1 (icmp eq i64 (load i64, ptr %e), -1), label %look, label %found
found:
"""
# The slot of the first key from %from on, -1 where there is none.
_define("i64 @pyj_owned_next(ptr %d, i64 %from)", f"""
start:
{_TABLE}  br label %look
look:
  %n = phi i64 [ %from, %start ], [ %n1, %entry ]
  %n1 = add i64 %n, 1
  br i1 (icmp sge i64 %n, %count), label %none, label %entry
{_ENTRY.format("%n")}  ret i64 %n
none:
  ret i64 -1""", shared=True)
# The slot of the last key, -1 where there is none. The removed entries behind it are dropped. Their indices stay in
# use, which leaves less room for new keys.
_define("i64 @pyj_owned_last(ptr %d)", f"""
start:
{_TABLE}{_load("room", "i64", "%d", at.ROOM)}  br label %look
look:
  %n = phi i64 [ %count, %start ], [ %n1, %entry ]
  %n1 = sub i64 %n, 1
  br i1 (icmp eq i64 %n, 0), label %found, label %entry
{_ENTRY.format("%n1")}  %dropped = sub i64 %count, %n
  %less = sub i64 %room, %dropped
  store i64 %n, ptr %count.p
  store i64 %less, ptr %room.p
  ret i64 %n1""", shared=True)


def _release(name: str) -> str:
    kind, _, layout = name.removeprefix("pyj_owned_end_").partition("_")
    return "pyj_table_release" if kind == "table" else f"pyj_native_release_{layout}"


def text_of(name: str) -> str:
    """A helper with a layout in its name: `pyj_owned_end_list_...` and `pyj_owned_end_table` are destructors of
    capsules."""
    if not name.startswith("pyj_owned_end_"):
        raise KeyError(name)
    return f"""
define internal void @{name}(ptr %capsule) nounwind noinline {{
{_load("held", "ptr", "%capsule", 16)}
  br i1 (icmp eq ptr %held, null), label %done, label %some
some:
  call void @{_release(name)}(ptr %held)
done:
  ret void
}}"""
