"""The native function that launches a kernel. Its one argument is a bytes object with all parameters of the launch.

A call of the driver with eleven arguments through ctypes costs microseconds; one `struct.pack` and one call with its
result cost half a microsecond, and need no memory that threads share. One launcher serves all kernels. It is the C
function of a builtin of Python; other threads run meanwhile: a full queue makes a launch wait.
"""
from __future__ import annotations

from . import link
from .declarations import declared
from .definitions import expanded

__all__ = ["make_launcher"]

# The bytes: address of the kernel's description, launch configuration (seven i32 and a stream), parameters. The
# description: addresses of cuCtxSetCurrent and cuLaunchKernel, context, function, i64 number of parameters, then the
# offset of each in the bytes, i64.
_TEXT = """
define ptr @pyjitc_launch(ptr %self, ptr %bytes) {
  %thread = call ptr @PyEval_SaveThread()
  %status = call i32 @pyjitc_launch_data(ptr (getelementptr i8, ptr %bytes, i64 BYTES))
  call void @PyEval_RestoreThread(ptr %thread)
  ret ptr (call ptr @PyLong_FromLongLong(i64 (sext i32 %status to i64)))
}
define internal i32 @pyjitc_launch_data(ptr %data) {
start:
  %about = load ptr, ptr %data, align 1
  %make_current = load ptr, ptr %about, align 8
  %launch = load ptr, ptr (getelementptr i8, ptr %about, i64 8), align 8
  %context = load ptr, ptr (getelementptr i8, ptr %about, i64 16), align 8
  %function = load ptr, ptr (getelementptr i8, ptr %about, i64 24), align 8
  %n = load i64, ptr (getelementptr i8, ptr %about, i64 32), align 8
  %places = getelementptr i8, ptr %about, i64 40
  %table = alloca ptr, i64 %n, align 8
next:
  %i = phi i64 [ 0, %start ], [ %i1, %put ]
  br i1 (icmp ult i64 %i, %n), label %put, label %current
put:
  %where = getelementptr i64, ptr %places, i64 %i
  %parameter = getelementptr i8, ptr %data, i64 (load i64, ptr %where, align 8)
  store ptr %parameter, ptr (getelementptr ptr, ptr %table, i64 %i), align 8
  %i1 = add i64 %i, 1
  br label %next
current:
  %wrong = call i32 %make_current(ptr %context)
  br i1 (icmp eq i32 %wrong, 0), label %go, label %stop
stop:
  ret i32 %wrong
go:
  %config = load [7 x i32], ptr (getelementptr i8, ptr %data, i64 8), align 1
  %gx = extractvalue [7 x i32] %config, 0
  %gy = extractvalue [7 x i32] %config, 1
  %gz = extractvalue [7 x i32] %config, 2
  %bx = extractvalue [7 x i32] %config, 3
  %by = extractvalue [7 x i32] %config, 4
  %bz = extractvalue [7 x i32] %config, 5
  %shared = extractvalue [7 x i32] %config, 6
  %stream = load ptr, ptr (getelementptr i8, ptr %data, i64 40), align 1
  %status = call i32 %launch(ptr %function, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
        ptr %stream, ptr %table, ptr null)
  ret i32 %status
}"""


def make_launcher() -> bytes:
    """Object code of `pyjitc_launch` for this machine."""
    target = link.host_target()
    offset = bytes.__basicsize__ - 1  # where the content of a bytes object begins
    text = declared(expanded(_TEXT.replace("BYTES", str(offset))))
    return link.to_object(f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n{text}', target)
