"""Helpers for exceptions and the limits of the stack, in LLVM text."""
from __future__ import annotations

import sys

__all__ = ["TEXT"]

TEXT: dict[str, str] = {
    "pyj_throw": """
define internal void @pyj_throw(ptr %exc) nounwind noinline cold {
  %where = getelementptr i8, ptr %exc, i64 8
  %class = load ptr, ptr %where
  call void @PyErr_SetObject(ptr %class, ptr %exc)
  ret void
}""",
}
_NEW_ERRORS = """
define internal ptr @pyj_fetch() nounwind noinline cold {
  %exc = call ptr @PyErr_GetRaisedException()
  ret ptr %exc
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
  %none = icmp eq ptr %trace, null
  br i1 %none, label %done, label %set
set:
  %s = call i32 @PyException_SetTraceback(ptr %exc, ptr %trace)
  call void @Py_DecRef(ptr %trace)
  br label %done
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
  %where = getelementptr i8, ptr %exc, i64 8
  %class = load ptr, ptr %where
  call void @Py_IncRef(ptr %class)
  call void @Py_IncRef(ptr %exc)
  %trace = call ptr @PyException_GetTraceback(ptr %exc)
  call void @PyErr_Restore(ptr %class, ptr %exc, ptr %trace)
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
  %none = icmp eq ptr %exc, null
  br i1 %none, label %nothing, label %again
again:
  call void @pyj_rethrow(ptr %exc)
  call void @Py_DecRef(ptr %exc)
  ret void
nothing:
  %class = load ptr, ptr @PyExc_RuntimeError
  call void @PyErr_SetString(ptr %class, ptr @pyj_no_active)
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
  %null = icmp eq ptr %exc, null
  %isnone = icmp eq ptr %exc, @_Py_NoneStruct
  %none = or i1 %null, %isnone
  br i1 %none, label %clear, label %set
clear:
  call void @PyErr_SetExcInfo(ptr null, ptr null, ptr null)
  ret void
set:
  %where = getelementptr i8, ptr %exc, i64 8
  %class = load ptr, ptr %where
  call void @Py_IncRef(ptr %class)
  call void @Py_IncRef(ptr %exc)
  %trace = call ptr @PyException_GetTraceback(ptr %exc)
  call void @PyErr_SetExcInfo(ptr %class, ptr %exc, ptr %trace)
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
  %isnone = icmp eq ptr %exc, @_Py_NoneStruct
  %none = or i1 %null, %isnone
  br i1 %none, label %nothing, label %again
again:
  call void @PyErr_Restore(ptr %class, ptr %exc, ptr %trace)
  ret void
nothing:
  call void @Py_DecRef(ptr %class)
  call void @Py_DecRef(ptr %exc)
  call void @Py_DecRef(ptr %trace)
  %kind = load ptr, ptr @PyExc_RuntimeError
  call void @PyErr_SetString(ptr %kind, ptr @pyj_no_active)
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
  %thread = call i64 @pthread_self()
  %s1 = call i32 @pthread_getattr_np(i64 %thread, ptr %attr)
  %unknown = icmp ne i32 %s1, 0
  br i1 %unknown, label %fine, label %known
known:
  %s2 = call i32 @pthread_attr_getstack(ptr %attr, ptr %address, ptr %size)
  %s3 = call i32 @pthread_attr_destroy(ptr %attr)
  %begin = load i64, ptr %address
  %whole = load i64, ptr %size
  %unlimited = icmp ugt i64 %whole, 1073741824
  %length = select i1 %unlimited, i64 67108864, i64 %whole
  %unused = sub i64 %whole, %length
  %end = add i64 %begin, %unused
  %half = lshr i64 %length, 1
  %rest = call i64 @llvm.umin.i64(i64 %half, i64 262144)
  %low = add i64 %end, %rest
  %span = sub i64 %length, %rest
  store i64 %low, ptr @pyjitc_stack_low
  store i64 %span, ptr @pyjitc_stack_span
  %above = sub i64 %at, %low
  %room = icmp ult i64 %above, %span
  br i1 %room, label %fine, label %full
fine:
  ret i32 0
full:
  %class = load ptr, ptr @PyExc_RecursionError
  call void @PyErr_SetString(ptr %class, ptr @pyj_stack.deep)
  ret i32 1
}
@pyj_stack.deep = private unnamed_addr constant [33 x i8] c"maximum recursion depth exceeded\\00"
"""
TEXT["pyj_no_active"] = '@pyj_no_active = private unnamed_addr constant [31 x i8] c"No active exception to reraise\\00"'
TEXT["pyj_fetch"] = _NEW_ERRORS if sys.version_info >= (3, 12) else _OLD_FETCH
TEXT["pyj_rethrow"] = _NEW_RETHROW if sys.version_info >= (3, 12) else _OLD_RETHROW
TEXT.update(_NEW_HANDLED if sys.version_info >= (3, 11) else _OLD_HANDLED)

# helper -> other helpers it calls
