"""The runtime of objects of classes, in LLVM text: helpers for programs with such objects (see ops/objects.py)."""
from __future__ import annotations

from ..runtime.platform import DICT, KEYS, OB_TYPE, PYTHON, TYPE_CACHED_KEYS
from .definitions import borrowed, load as _load, store as _store

__all__ = ["TEXT"]

# The order in which an object got its attributes: one byte each. Up to 3.12 they are before the values, from the last
# to the first, preceded by their number; from 3.13 on they follow the values, of which there is room for `capacity`.
_ORDERED = """  %sizep = getelementptr i8, ptr %values, i64 -2
  %size = load i8, ptr %sizep
  %more = add i8 %size, 1
  %wide = zext i8 %more to i64
  %where = getelementptr i8, ptr %sizep, i64 (sub i64 0, %wide)
  store i8 %index, ptr %where
  store i8 %more, ptr %sizep""" if PYTHON < (3, 13) else """  %capacityp = getelementptr i8, ptr %values, i64 -8
  %room = zext i8 (load i8, ptr %capacityp) to i64
  %sizep = getelementptr i8, ptr %values, i64 -7
  %size = load i8, ptr %sizep
  %wide = zext i8 %size to i64
  %where = getelementptr i8, ptr (getelementptr i8, ptr %values, i64 (shl i64 %room, 3)), i64 %wide
  store i8 %index, ptr %where
  %more = add i8 %size, 1
  store i8 %more, ptr %sizep"""

TEXT = {
    # A Python function. It takes the references to its defaults, to its closure, and to the cell in which the function
    # itself is stored; each of these may be null.
    "pyj_function": """
define internal ptr @pyj_function(ptr %code, ptr %globals, ptr %name, ptr %defaults, ptr %keywords, ptr %closure,
                                  ptr %own) nounwind noinline {
start:
  %made = call ptr @PyFunction_NewWithQualName(ptr %code, ptr %globals, ptr %name)
  br i1 (icmp eq ptr %made, null), label %release, label %one
one:
  br i1 (icmp eq ptr %defaults, null), label %two, label %set.defaults
set.defaults:
  %first = call i32 @PyFunction_SetDefaults(ptr %made, ptr %defaults)
two:
  br i1 (icmp eq ptr %keywords, null), label %three, label %set.keywords
set.keywords:
  %second = call i32 @PyFunction_SetKwDefaults(ptr %made, ptr %keywords)
three:
  br i1 (icmp eq ptr %closure, null), label %release, label %set.closure
set.closure:
  %third = call i32 @PyFunction_SetClosure(ptr %made, ptr %closure)
  br i1 (icmp eq ptr %own, null), label %release, label %set.own
set.own:
  %fourth = call i32 @PyCell_Set(ptr %own, ptr %made)
release:
  call void @Py_DecRef(ptr %defaults)
  call void @Py_DecRef(ptr %keywords)
  call void @Py_DecRef(ptr %closure)
  call void @Py_DecRef(ptr %own)
  ret ptr %made
}""",
    # Finds the place of an attribute among the inline values of objects of a class, in the table of names of the class.
    "pyj_place": f"""
define internal void @pyj_place(ptr %x, ptr %name, ptr %class, ptr %place) nounwind noinline cold {{
start:
{_load("type", "ptr", "%x", OB_TYPE)}
  br i1 (icmp eq ptr %type, %class), label %look, label %done
look:
{_load("keys", "ptr", "%class", TYPE_CACHED_KEYS)}
  br i1 (icmp eq ptr %keys, null), label %done, label %entries
entries:
{_load("count", "i64", "%keys", KEYS["count"])}
{_load("log", "i8", "%keys", KEYS.get("bytes", 0))}
  %first = add i64 (shl i64 1, (zext i8 %log to i64)), {KEYS["indices"]}
  br label %test
test:
  %n = phi i64 [ 0, %entries ], [ %next, %other ]
  br i1 (icmp slt i64 %n, %count), label %compare, label %absent
absent:
{_store("seenp", "i64", "%count", "%place", 8)}
  br label %done
compare:
  %entry = getelementptr i8, ptr %keys, i64 (add i64 %first, (shl i64 %n, 4))
  br i1 (icmp eq ptr (load ptr, ptr %entry), %name), label %store, label %other
other:
  %next = add i64 %n, 1
  br label %test
store:
  store i64 (shl i64 %n, 3), ptr %place
done:
  ret void
}}""",
    # An attribute in the dict of an object, if it has one, a borrowed reference; null where it is not found. It mostly
    # has the same number in the dict as among the inline values; else it is one of the first.
    "pyj_in_dict": f"""
define internal ptr @pyj_in_dict(ptr %dict, ptr %name, i64 %at) nounwind noinline {{
start:
  br i1 (icmp eq ptr %dict, null), label %no, label %keys.of
keys.of:
{_load("keys", "ptr", "%dict", DICT["keys"])}
{_load("values", "ptr", "%dict", DICT["values"])}
{_load("kind", "i8", "%keys", KEYS.get("kind", 0))}
  br i1 (icmp eq i8 %kind, 0), label %no, label %entries
entries:
  %split = icmp ne ptr %values, null
{_load("count", "i64", "%keys", KEYS["count"])}
  %tested = select i1 (icmp ult i64 %count, 64), i64 %count, i64 64
{_load("log", "i8", "%keys", KEYS.get("bytes", 0))}
  %wide = zext i8 %log to i64
  %first = getelementptr i8, ptr %keys, i64 (add i64 (shl i64 1, %wide), {KEYS["indices"]})
  %hint = lshr i64 %at, 3
  br i1 (icmp ult i64 %hint, %count), label %likely, label %test
likely:
  %entry0 = getelementptr [2 x ptr], ptr %first, i64 %hint
  br i1 (icmp eq ptr (load ptr, ptr %entry0), %name), label %found, label %test
test:
  %n = phi i64 [ 0, %entries ], [ 0, %likely ], [ %next, %compare ]
  br i1 (icmp ult i64 %n, %tested), label %compare, label %no
compare:
  %entry = getelementptr [2 x ptr], ptr %first, i64 %n
  %next = add i64 %n, 1
  br i1 (icmp eq ptr (load ptr, ptr %entry), %name), label %found, label %test
found:
  %number = phi i64 [ %hint, %likely ], [ %n, %compare ]
  %in.entry = getelementptr [2 x ptr], ptr %first, i64 %number, i64 1
  %all.values = getelementptr i8, ptr %values, i64 {8 if PYTHON >= (3, 13) else 0}
  %in.values = getelementptr ptr, ptr %all.values, i64 %number
  ret ptr (load ptr, ptr (select i1 %split, ptr %in.values, ptr %in.entry))
no:
  ret ptr null
}}""",
    # An attribute that an object stores, a borrowed reference; null where it has none in a place of its own.
    "pyj_look": f"""
define internal ptr @pyj_look(ptr %x, ptr %name, ptr %class, ptr %place) nounwind noinline cold {{
  br i1 (icmp eq ptr %place, null), label %ask, label %find
find:
  call void @pyj_place(ptr %x, ptr %name, ptr %class, ptr %place)
ask:
{borrowed("call ptr @PyObject_GenericGetAttr(ptr %x, ptr %name)")}
}}""",
    "pyj_field": """
define internal ptr @pyj_field(ptr %x, ptr %name, ptr %class, ptr %place) nounwind noinline cold {
  call void @pyj_place(ptr %x, ptr %name, ptr %class, ptr %place)
  ret ptr (call ptr @PyObject_GetAttr(ptr %x, ptr %name))
}""",
    # object.__setattr__(x, name, new), whatever method the class defines. Consumes the reference `new`.
    "pyj_set_attribute": """
define internal i32 @pyj_set_attribute(ptr %x, ptr %name, ptr %new) nounwind noinline {
  %status = call i32 @PyObject_GenericSetAttr(ptr %x, ptr %name, ptr %new)
  call void @Py_DecRef(ptr %new)
  ret i32 %status
}""",
    "pyj_set_field": """
define internal i32 @pyj_set_field(ptr %x, ptr %name, ptr %new, ptr %class, ptr %place) nounwind noinline cold {
  %status = call i32 @pyj_set_attribute(ptr %x, ptr %name, ptr %new)
  call void @pyj_place(ptr %x, ptr %name, ptr %class, ptr %place)
  ret i32 %status
}""",
    # Sets an attribute among the inline values of an object. A new attribute is the last in the order of attributes.
    "pyj_put_value": f"""
define internal void @pyj_put_value(ptr %slot, ptr %values, i64 %at, ptr %new) nounwind {{
  %old = load ptr, ptr %slot
  store ptr %new, ptr %slot
  br i1 (icmp eq ptr %old, null), label %first, label %release
release:
  call void @pyj_release_object(ptr %old)
  ret void
first:
  %index = trunc i64 (lshr i64 %at, 3) to i8
{_ORDERED}
  ret void
}}""",
    "pyj_put": """
define internal void @pyj_put(ptr %slot, ptr %new) nounwind alwaysinline {
  %old = load ptr, ptr %slot
  store ptr %new, ptr %slot
  br i1 (icmp eq ptr %old, null), label %done, label %release
release:
  call void @pyj_release_object(ptr %old)
done:
  ret void
}""",
}
# helper -> other helpers it calls
