"""The runtime of objects of classes, in LLVM text: helpers for programs with such objects (see ops/objects.py)."""
from __future__ import annotations

from ..runtime.platform import DICT, KEYS, OB_TYPE, PYTHON, TYPE_CACHED_KEYS
from .definitions import load as _load, store as _store

__all__ = ["TEXT"]

# The order in which an object got its attributes: one byte each. Up to 3.12 they are before the values, from the last
# to the first, preceded by their number; from 3.13 on they follow the values, of which there is room for `capacity`.
_ORDERED = """  %sizep = getelementptr i8, ptr %values, i64 -2
  %size = load i8, ptr %sizep
  %more = add i8 %size, 1
  %wide = zext i8 %more to i64
  %back = sub i64 0, %wide
  %where = getelementptr i8, ptr %sizep, i64 %back
  store i8 %index, ptr %where
  store i8 %more, ptr %sizep""" if PYTHON < (3, 13) else """  %capacityp = getelementptr i8, ptr %values, i64 -8
  %capacity = load i8, ptr %capacityp
  %room = zext i8 %capacity to i64
  %bytes = shl i64 %room, 3
  %orderp = getelementptr i8, ptr %values, i64 %bytes
  %sizep = getelementptr i8, ptr %values, i64 -7
  %size = load i8, ptr %sizep
  %wide = zext i8 %size to i64
  %where = getelementptr i8, ptr %orderp, i64 %wide
  store i8 %index, ptr %where
  %more = add i8 %size, 1
  store i8 %more, ptr %sizep"""

TEXT = {
    # A Python function. It takes the references to its defaults, to its closure and to the cell in which it is to be
    # found itself; each of these may be null.
    "pyj_function": """
define internal ptr @pyj_function(ptr %code, ptr %globals, ptr %name, ptr %defaults, ptr %keywords, ptr %closure,
                                  ptr %own) nounwind noinline {
start:
  %made = call ptr @PyFunction_NewWithQualName(ptr %code, ptr %globals, ptr %name)
  %none = icmp eq ptr %made, null
  br i1 %none, label %release, label %one
one:
  %no.defaults = icmp eq ptr %defaults, null
  br i1 %no.defaults, label %two, label %set.defaults
set.defaults:
  %first = call i32 @PyFunction_SetDefaults(ptr %made, ptr %defaults)
  br label %two
two:
  %no.keywords = icmp eq ptr %keywords, null
  br i1 %no.keywords, label %three, label %set.keywords
set.keywords:
  %second = call i32 @PyFunction_SetKwDefaults(ptr %made, ptr %keywords)
  br label %three
three:
  %no.closure = icmp eq ptr %closure, null
  br i1 %no.closure, label %release, label %set.closure
set.closure:
  %third = call i32 @PyFunction_SetClosure(ptr %made, ptr %closure)
  %no.own = icmp eq ptr %own, null
  br i1 %no.own, label %release, label %set.own
set.own:
  %fourth = call i32 @PyCell_Set(ptr %own, ptr %made)
  br label %release
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
  %same = icmp eq ptr %type, %class
  br i1 %same, label %look, label %done
look:
{_load("keys", "ptr", "%class", TYPE_CACHED_KEYS)}
  %none = icmp eq ptr %keys, null
  br i1 %none, label %done, label %entries
entries:
{_load("count", "i64", "%keys", KEYS["count"])}
{_load("log", "i8", "%keys", KEYS.get("bytes", 0))}
  %wide = zext i8 %log to i64
  %size = shl i64 1, %wide
  %first = add i64 %size, {KEYS["indices"]}
  br label %test
test:
  %n = phi i64 [ 0, %entries ], [ %next, %other ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %compare, label %absent
absent:
{_store("seenp", "i64", "%count", "%place", 8)}
  br label %done
compare:
  %offset = shl i64 %n, 4
  %at = add i64 %first, %offset
  %entry = getelementptr i8, ptr %keys, i64 %at
  %key = load ptr, ptr %entry
  %found = icmp eq ptr %key, %name
  br i1 %found, label %store, label %other
other:
  %next = add i64 %n, 1
  br label %test
store:
  %byte = shl i64 %n, 3
  store i64 %byte, ptr %place
  br label %done
done:
  ret void
}}""",
    # An attribute in the dict of an object, if it has one, a borrowed reference; null where it is not found. It mostly
    # has the number that it has among the inline values, else it is one of the first.
    "pyj_in_dict": f"""
define internal ptr @pyj_in_dict(ptr %dict, ptr %name, i64 %at) nounwind noinline {{
start:
  %none = icmp eq ptr %dict, null
  br i1 %none, label %no, label %keys.of
keys.of:
{_load("keys", "ptr", "%dict", DICT["keys"])}
{_load("values", "ptr", "%dict", DICT["values"])}
{_load("kind", "i8", "%keys", KEYS.get("kind", 0))}
  %any = icmp eq i8 %kind, 0
  br i1 %any, label %no, label %entries
entries:
  %split = icmp ne ptr %values, null
{_load("count", "i64", "%keys", KEYS["count"])}
  %few = icmp ult i64 %count, 64
  %tested = select i1 %few, i64 %count, i64 64
{_load("log", "i8", "%keys", KEYS.get("bytes", 0))}
  %wide = zext i8 %log to i64
  %size = shl i64 1, %wide
  %skip = add i64 %size, {KEYS["indices"]}
  %first = getelementptr i8, ptr %keys, i64 %skip
  %hint = lshr i64 %at, 3
  %known = icmp ult i64 %hint, %count
  br i1 %known, label %likely, label %test
likely:
  %entry0 = getelementptr [2 x ptr], ptr %first, i64 %hint
  %key0 = load ptr, ptr %entry0
  %same0 = icmp eq ptr %key0, %name
  br i1 %same0, label %found, label %test
test:
  %n = phi i64 [ 0, %entries ], [ 0, %likely ], [ %next, %compare ]
  %more = icmp ult i64 %n, %tested
  br i1 %more, label %compare, label %no
compare:
  %entry = getelementptr [2 x ptr], ptr %first, i64 %n
  %key = load ptr, ptr %entry
  %same = icmp eq ptr %key, %name
  %next = add i64 %n, 1
  br i1 %same, label %found, label %test
found:
  %number = phi i64 [ %hint, %likely ], [ %n, %compare ]
  %in.entry = getelementptr [2 x ptr], ptr %first, i64 %number, i64 1
  %all.values = getelementptr i8, ptr %values, i64 {8 if PYTHON >= (3, 13) else 0}
  %in.values = getelementptr ptr, ptr %all.values, i64 %number
  %where = select i1 %split, ptr %in.values, ptr %in.entry
  %value = load ptr, ptr %where
  ret ptr %value
no:
  ret ptr null
}}""",
    # An attribute that an object stores, a borrowed reference; null where it has none in a place of its own.
    "pyj_look": """
define internal ptr @pyj_look(ptr %x, ptr %name, ptr %class, ptr %place) nounwind noinline cold {
  %none = icmp eq ptr %place, null
  br i1 %none, label %ask, label %find
find:
  call void @pyj_place(ptr %x, ptr %name, ptr %class, ptr %place)
  br label %ask
ask:
  %found = call ptr @PyObject_GenericGetAttr(ptr %x, ptr %name)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %clear, label %have
clear:
  call void @PyErr_Clear()
  ret ptr null
have:
  %count = load i64, ptr %found, align 8
  %new = icmp eq i64 %count, 1
  call void @Py_DecRef(ptr %found)
  %kept = select i1 %new, ptr null, ptr %found
  ret ptr %kept
}""",
    "pyj_field": """
define internal ptr @pyj_field(ptr %x, ptr %name, ptr %class, ptr %place) nounwind noinline cold {
  call void @pyj_place(ptr %x, ptr %name, ptr %class, ptr %place)
  %found = call ptr @PyObject_GetAttr(ptr %x, ptr %name)
  ret ptr %found
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
    # The same for inline values. A new attribute is the last in the order of attributes.
    "pyj_put_value": f"""
define internal void @pyj_put_value(ptr %slot, ptr %values, i64 %at, ptr %new) nounwind {{
  %old = load ptr, ptr %slot
  store ptr %new, ptr %slot
  %none = icmp eq ptr %old, null
  br i1 %none, label %first, label %release
release:
  call void @pyj_release_object(ptr %old)
  ret void
first:
  %place = lshr i64 %at, 3
  %index = trunc i64 %place to i8
{_ORDERED}
  ret void
}}""",
    "pyj_put": """
define internal void @pyj_put(ptr %slot, ptr %new) nounwind alwaysinline {
  %old = load ptr, ptr %slot
  store ptr %new, ptr %slot
  %none = icmp eq ptr %old, null
  br i1 %none, label %done, label %release
release:
  call void @pyj_release_object(ptr %old)
  br label %done
done:
  ret void
}""",
}
# helper -> other helpers it calls
