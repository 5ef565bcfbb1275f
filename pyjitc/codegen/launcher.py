"""The native function that launches a kernel: one argument, the address of a block that says everything.

A call of the driver with eleven arguments through ctypes costs microseconds; filling a block by one `struct.pack_into`
and passing its address costs half of one. One launcher serves all kernels.
"""
from __future__ import annotations

from . import link

__all__ = ["HEAD", "CONFIG", "make_launcher"]

# The block: addresses of cuCtxSetCurrent and of cuLaunchKernel, the context, the function, the table of the parameters'
# addresses; then what a launch chooses, as `CONFIG`; then the parameters.
HEAD = "5P"
CONFIG = "7I4xP"  # grid x y z, block x y z, bytes of shared memory, stream

_TEXT = """
define i32 @pyjitc_launch(ptr %block) {
  %make_current = load ptr, ptr %block, align 8
  %q1 = getelementptr i8, ptr %block, i64 8
  %launch = load ptr, ptr %q1, align 8
  %q2 = getelementptr i8, ptr %block, i64 16
  %context = load ptr, ptr %q2, align 8
  %q3 = getelementptr i8, ptr %block, i64 24
  %function = load ptr, ptr %q3, align 8
  %q4 = getelementptr i8, ptr %block, i64 32
  %parameters = load ptr, ptr %q4, align 8
  %q5 = getelementptr i8, ptr %block, i64 40
  %config = load [7 x i32], ptr %q5, align 4
  %gx = extractvalue [7 x i32] %config, 0
  %gy = extractvalue [7 x i32] %config, 1
  %gz = extractvalue [7 x i32] %config, 2
  %bx = extractvalue [7 x i32] %config, 3
  %by = extractvalue [7 x i32] %config, 4
  %bz = extractvalue [7 x i32] %config, 5
  %shared = extractvalue [7 x i32] %config, 6
  %q6 = getelementptr i8, ptr %block, i64 72
  %stream = load ptr, ptr %q6, align 8
  %wrong = call i32 %make_current(ptr %context)
  %fine = icmp eq i32 %wrong, 0
  br i1 %fine, label %go, label %stop
stop:
  ret i32 %wrong
go:
  %status = call i32 %launch(ptr %function, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared, ptr %stream, ptr %parameters, ptr null)
  ret i32 %status
}"""


def make_launcher() -> bytes:
    """Object code of `pyjitc_launch` for this machine."""
    target = link.host_target()
    return link.to_object(f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n{_TEXT}', target)
