"""Helpers for exceptions and the limits of the stack, in LLVM text."""
from __future__ import annotations

import sys

__all__ = ["TEXT"]

TEXT: dict[str, str] = {
    "pyj_throw": """
define internal void @pyj_throw(ptr %exc) nounwind noinline cold {
  call void @PyErr_SetObject(ptr (load ptr, ptr (getelementptr i8, ptr %exc, i64 8)), ptr %exc)
  ret void
}""",
}
_NEW_ERRORS = """
define internal ptr @pyj_fetch() nounwind noinline cold {
  ret ptr (call ptr @PyErr_GetRaisedException())
}"""
_OLD_FETCH = """
define internal ptr @pyj_fetch() nounwind noinline cold {
  %t = alloca ptr
  %v = alloca ptr
  %b = alloca ptr
  call void @PyErr_Fetch(ptr %t, ptr %v, ptr %b)
  call void @PyErr_NormalizeException(ptr %t, ptr %v, ptr %b)
  %class = load ptr, ptr %t
  %exc = load ptr, ptr %v
  %trace = load ptr, ptr %b
  br i1 (icmp eq ptr %trace, null), label %done, label %set
set:
  %s = call i32 @PyException_SetTraceback(ptr %exc, ptr %trace)
  call void @Py_DecRef(ptr %trace)
done:
  call void @Py_DecRef(ptr %class)
  ret ptr %exc
}"""
_NEW_RETHROW = """
define internal void @pyj_rethrow(ptr %exc) nounwind noinline cold {
  call void @Py_IncRef(ptr %exc)
  call void @PyErr_SetRaisedException(ptr %exc)
  ret void
}"""
_OLD_RETHROW = """
define internal void @pyj_rethrow(ptr %exc) nounwind noinline cold {
  %class = load ptr, ptr (getelementptr i8, ptr %exc, i64 8)
  call void @Py_IncRef(ptr %class)
  call void @Py_IncRef(ptr %exc)
  call void @PyErr_Restore(ptr %class, ptr %exc, ptr (call ptr @PyException_GetTraceback(ptr %exc)))
  ret void
}"""
_NEW_HANDLED = {
    "pyj_push": """
define internal ptr @pyj_push(ptr %exc) nounwind noinline cold {
  %previous = call ptr @PyErr_GetHandledException()
  call void @PyErr_SetHandledException(ptr %exc)
  ret ptr %previous
}""",
    "pyj_pop": """
define internal void @pyj_pop(ptr %previous) nounwind noinline cold {
  call void @PyErr_SetHandledException(ptr %previous)
  ret void
}""",
    "pyj_reraise": """
define internal void @pyj_reraise() nounwind noinline cold {
  %exc = call ptr @PyErr_GetHandledException()
  br i1 (icmp eq ptr %exc, null), label %nothing, label %again
again:
  call void @pyj_rethrow(ptr %exc)
  call void @Py_DecRef(ptr %exc)
  ret void
nothing:
  call void @PyErr_SetString(ptr (load ptr, ptr @PyExc_RuntimeError), ptr @pyj_no_active)
  ret void
}""",
}
_OLD_HANDLED = {
    "pyj_push": """
define internal ptr @pyj_push(ptr %exc) nounwind noinline cold {
  %t = alloca ptr
  %v = alloca ptr
  %b = alloca ptr
  call void @PyErr_GetExcInfo(ptr %t, ptr %v, ptr %b)
  %class0 = load ptr, ptr %t
  %previous = load ptr, ptr %v
  %trace0 = load ptr, ptr %b
  call void @Py_DecRef(ptr %class0)
  call void @Py_DecRef(ptr %trace0)
  call void @pyj_pop(ptr %exc)
  ret ptr %previous
}""",
    "pyj_pop": """
define internal void @pyj_pop(ptr %exc) nounwind noinline cold {
  br i1 (or i1 (icmp eq ptr %exc, null), (icmp eq ptr %exc, @_Py_NoneStruct)), label %clear, label %set
clear:
  call void @PyErr_SetExcInfo(ptr null, ptr null, ptr null)
  ret void
set:
  %class = load ptr, ptr (getelementptr i8, ptr %exc, i64 8)
  call void @Py_IncRef(ptr %class)
  call void @Py_IncRef(ptr %exc)
  call void @PyErr_SetExcInfo(ptr %class, ptr %exc, ptr (call ptr @PyException_GetTraceback(ptr %exc)))
  ret void
}""",
    "pyj_reraise": """
define internal void @pyj_reraise() nounwind noinline cold {
  %t = alloca ptr
  %v = alloca ptr
  %b = alloca ptr
  call void @PyErr_GetExcInfo(ptr %t, ptr %v, ptr %b)
  %class = load ptr, ptr %t
  %exc = load ptr, ptr %v
  %trace = load ptr, ptr %b
  %null = icmp eq ptr %exc, null
  br i1 (or i1 %null, (icmp eq ptr %exc, @_Py_NoneStruct)), label %nothing, label %again
again:
  call void @PyErr_Restore(ptr %class, ptr %exc, ptr %trace)
  ret void
nothing:
  call void @Py_DecRef(ptr %class)
  call void @Py_DecRef(ptr %exc)
  call void @Py_DecRef(ptr %trace)
  call void @PyErr_SetString(ptr (load ptr, ptr @PyExc_RuntimeError), ptr @pyj_no_active)
  ret void
}""",
}
# Finds the limits of this thread's stack; the last 256 KiB, or half of a small stack, are reserved for functions that
# compiled code calls.
# A stack of more than a GiB has no limit (ulimit -s unlimited): of it 64 MiB are used, since infinite recursion would
# take all memory.
TEXT["pyj_stack"] = """
define internal i32 @pyj_stack(i64 %at) nounwind noinline cold {
  %attr = alloca [16 x i64]
  %address = alloca i64
  %size = alloca i64
  store i64 0, ptr %address
  store i64 0, ptr %size
  %s1 = call i32 @pthread_getattr_np(i64 (call i64 @pthread_self()), ptr %attr)
  br i1 (icmp ne i32 %s1, 0), label %fine, label %known
known:
  %s2 = call i32 @pthread_attr_getstack(ptr %attr, ptr %address, ptr %size)
  %s3 = call i32 @pthread_attr_destroy(ptr %attr)
  %begin = load i64, ptr %address
  %whole = load i64, ptr %size
  %length = select i1 (icmp ugt i64 %whole, 1073741824), i64 67108864, i64 %whole
  %rest = call i64 @llvm.umin.i64(i64 (lshr i64 %length, 1), i64 262144)
  %low = add i64 (add i64 %begin, (sub i64 %whole, %length)), %rest
  %span = sub i64 %length, %rest
  store i64 %low, ptr @pyjitc_stack_low
  store i64 %span, ptr @pyjitc_stack_span
  br i1 (icmp ult i64 (sub i64 %at, %low), %span), label %fine, label %full
fine:
  ret i32 0
full:
  call void @PyErr_SetString(ptr (load ptr, ptr @PyExc_RecursionError), ptr @pyj_stack.deep)
  ret i32 1
}
@pyj_stack.deep = private unnamed_addr constant [33 x i8] c"maximum recursion depth exceeded\\00"
"""
# Adds the traceback entry of a frame of a recursive function. A RecursionError gets 1,000 of them in a row, about as
# many as in the interpreter: the stack has room for more than a hundred thousand frames.
TEXT["pyj_trace_deep"] = """
define internal void @pyj_trace_deep(ptr %places, i32 %where) nounwind noinline cold {
  %class = call ptr @PyErr_Occurred()
  br i1 (icmp eq ptr %class, (load ptr, ptr @PyExc_RecursionError)), label %deep, label %other
deep:
  %newest = call ptr @pyj_trace_newest()
  %follows = and i1 (icmp ne ptr %newest, null), (icmp eq ptr %newest, (load ptr, ptr @pyj_trace_deep.last))
  %count = select i1 %follows, i32 (load i32, ptr @pyj_trace_deep.count), i32 0
  br i1 (icmp ult i32 %count, 1000), label %add, label %done
add:
  store i32 (add i32 %count, 1), ptr @pyj_trace_deep.count
  call void @pyjitc_traceback(ptr %places, i32 %where)
  store ptr (call ptr @pyj_trace_newest()), ptr @pyj_trace_deep.last
  ret void
other:
  call void @pyjitc_traceback(ptr %places, i32 %where)
  ret void
done:
  ret void
}
@pyj_trace_deep.last = internal global ptr null
@pyj_trace_deep.count = internal global i32 0
"""
TEXT["pyj_trace_newest"] = """
define internal ptr @pyj_trace_newest() nounwind noinline cold {
  %class = alloca ptr
  %value = alloca ptr
  %trace = alloca ptr
  call void @PyErr_Fetch(ptr %class, ptr %value, ptr %trace)
  %newest = load ptr, ptr %trace
  call void @PyErr_Restore(ptr (load ptr, ptr %class), ptr (load ptr, ptr %value), ptr %newest)
  ret ptr %newest
}"""
TEXT["pyj_no_active"] = '@pyj_no_active = private unnamed_addr constant [31 x i8] c"No active exception to reraise\\00"'
TEXT["pyj_fetch"] = _NEW_ERRORS if sys.version_info >= (3, 12) else _OLD_FETCH
TEXT["pyj_rethrow"] = _NEW_RETHROW if sys.version_info >= (3, 12) else _OLD_RETHROW
TEXT.update(_NEW_HANDLED if sys.version_info >= (3, 11) else _OLD_HANDLED)

# helper -> other helpers it calls
