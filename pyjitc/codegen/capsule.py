"""The native destructor of a DLPack capsule that was never consumed. It may run while an exception is set, when Python
code must not run: it saves the exception and restores it.
"""
from __future__ import annotations

from . import link
from .declarations import declared
from .definitions import expanded

__all__ = ["make_destructor"]

_TEXT = """
@name = private constant [9 x i8] c"dltensor\\00"
define void @pyjitc_end_capsule(ptr %capsule) {
  %valid = call i32 @PyCapsule_IsValid(ptr %capsule, ptr @name)
  br i1 (icmp ne i32 %valid, 0), label %end, label %taken
end:
  %class = alloca ptr
  %value = alloca ptr
  %trace = alloca ptr
  call void @PyErr_Fetch(ptr %class, ptr %value, ptr %trace)
  %managed = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr @name)
  call void (load ptr, ptr (getelementptr i8, ptr %managed, i64 DELETER), align 8)(ptr %managed)
  %c = load ptr, ptr %class
  call void @PyErr_Restore(ptr %c, ptr (load ptr, ptr %value), ptr (load ptr, ptr %trace))
taken:
  ret void
}"""


def make_destructor(deleter: int) -> bytes:
    """Object code of `pyjitc_end_capsule` for this machine. deleter: the offset of the deleter in a managed tensor."""
    target = link.host_target()
    text = declared(expanded(_TEXT.replace("DELETER", str(deleter))))
    return link.to_object(f'target triple = "{target.triple}"\ntarget datalayout = "{target.layout}"\n{text}', target)
