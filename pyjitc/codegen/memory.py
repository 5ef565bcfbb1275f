"""Helpers for memory in LLVM text: blocks of native memory, the arrays that own them, and reference counts."""
from __future__ import annotations

import sys

from ..runtime.platform import ARRAY, ARRAY_FLAGS, NUMPY_API
from .definitions import load as _load, retaining, store as _store

__all__ = ["SHARED", "TEXT", "sized"]

# Reference counts of Python objects, counted as by the macros of the running interpreter. Null is no object.
_RETAIN = """
define internal void @pyj_retain_object(ptr %x) nounwind alwaysinline {
  br i1 (icmp eq ptr %x, null), label %done, label %some
some:""" + ("""
  %old = load i32, ptr %x, align 4
  %new = add i32 %old, 1
  br i1 (icmp eq i32 %new, 0), label %done, label %count
count:
  store i32 %new, ptr %x, align 4""" if sys.version_info >= (3, 12) else """
  %old = load i64, ptr %x, align 8
  %new = add i64 %old, 1
  store i64 %new, ptr %x, align 8""") + """
  br label %done
done:
  ret void
}"""
_RELEASE = """
define internal void @pyj_release_object(ptr %x) nounwind alwaysinline {
  br i1 (icmp eq ptr %x, null), label %done, label %some
some:""" + ("""
  br i1 (icmp slt i32 (load i32, ptr %x, align 4), 0), label %done, label %count
count:""" if sys.version_info >= (3, 12) else "") + """
  %old = load i64, ptr %x, align 8
  %new = add i64 %old, -1
  store i64 %new, ptr %x, align 8
  br i1 (icmp eq i64 %new, 0), label %free, label %done
free:
  call void @_Py_Dealloc(ptr %x)
done:
  ret void
}"""
# A native memory header: {i64 references, ptr data, ptr ndarray, i64 bytes}. `ndarray`: the Python array that owns the
# data, once a value in it has been passed to Python; else null. Owner words carry a tag in the low two bits: 0 a header
# (or null), 1 the ndarray itself, 2 a view of an ndarray.


def _of_header(name: str, change: str) -> str:
    """The helper that changes the count of references of an owner, where that is a header."""
    return f"""
define internal void @{name}(ptr %owner) nounwind alwaysinline {{
  %tag = and i64 (ptrtoint ptr %owner to i64), 3
  br i1 (or i1 (icmp ne i64 %tag, 0), (icmp eq ptr %owner, null)), label %done, label %count
count:
  {change}
  br label %done
done:
  ret void
}}"""


TEXT: dict[str, str] = {
    # Linux backs 4 MB and more by huge pages when advised to (14: MADV_HUGEPAGE), as NumPy does for its own arrays. A
    # small zeroed block is allocated with malloc() and cleared: calloc() of most versions of the C library ignores the
    # thread's cache of freed blocks, and takes as long as all the rest.
    "pyj_new": """
define internal noalias ptr @pyj_new(i64 %bytes, i1 %zero) nounwind noinline {
  %size = select i1 (icmp eq i64 %bytes, 0), i64 1, i64 %bytes
  br i1 (and i1 %zero, (icmp ugt i64 %size, 1024)), label %clear, label %plain
clear:
  %c = call ptr @calloc(i64 1, i64 %size)
  br label %got
plain:
  %m = call ptr @malloc(i64 %size)
  br i1 (or i1 (icmp eq ptr %m, null), (xor i1 %zero, true)), label %got, label %wipe
wipe:
  call void @llvm.memset.p0.i64(ptr %m, i8 0, i64 %size, i1 false)
got:
  %data = phi ptr [ %c, %clear ], [ %m, %plain ], [ %m, %wipe ]
  br i1 (icmp eq ptr %data, null), label %fail, label %big
big:
  br i1 (icmp uge i64 %size, 4194304), label %advise, label %head
advise:
  %address = ptrtoint ptr %data to i64
  %page = and i64 (add i64 %address, 4095), -4096
  %skipped = sub i64 %page, %address
  %advised = call i32 @madvise(ptr (inttoptr i64 %page to ptr), i64 (sub i64 %size, %skipped), i32 14)
head:
  %header = call ptr @malloc(i64 32)
  br i1 (icmp eq ptr %header, null), label %undo, label %fill
fill:
  store i64 1, ptr %header
  store ptr %data, ptr (getelementptr i8, ptr %header, i64 8)
  store ptr null, ptr (getelementptr i8, ptr %header, i64 16)
  store i64 %size, ptr (getelementptr i8, ptr %header, i64 24)
  ret ptr %header
undo:
  call void @free(ptr %data)
fail:
  %none2 = call ptr @PyErr_NoMemory()
  ret ptr null
}""",
    "pyj_view_owner": """
define internal ptr @pyj_view_owner(ptr %owner) nounwind alwaysinline {
  %tag = and i64 (ptrtoint ptr %owner to i64), 3
  ret ptr (select i1 (icmp eq i64 %tag, 1), ptr (getelementptr i8, ptr %owner, i64 1), ptr %owner)
}""",
    # opaque to LLVM: a visible select would become a gather, and an unknown step would make one loop for step 1 and
    # another for all others
    "pyj_step": """
define internal i64 @pyj_step(i64 %n, i64 %space, i64 %stride, i64 %shift) nounwind willreturn memory(none) noinline {
  ret i64 (select i1 (icmp eq i64 %n, %space), i64 (ashr i64 %stride, %shift), i64 0)
}""",
    "pyj_retain": _of_header("pyj_retain", "%old = atomicrmw add ptr %owner, i64 1 monotonic"),
    "pyj_release": _of_header("pyj_release", "call void @pyj_release_header(ptr %owner)"),
    # Whether the owners of two views are, or have become, the same ndarray.
    "pyj_same_owner": """
define internal i1 @pyj_same_owner(ptr %x, ptr %y) nounwind noinline {
  br i1 (icmp eq ptr %x, %y), label %yes, label %look
yes:
  ret i1 true
look:
  %one = call ptr @pyj_owning_object(ptr %x)
  %other = call ptr @pyj_owning_object(ptr %y)
  ret i1 (and i1 (icmp eq ptr %one, %other), (icmp ne ptr %one, null))
}""",
    # The ndarray that owns the memory, if there is one.
    "pyj_owning_object": """
define internal ptr @pyj_owning_object(ptr %owner) nounwind noinline {
  %tag = and i64 (ptrtoint ptr %owner to i64), 3
  br i1 (icmp eq i64 %tag, 1), label %tagged, label %other
tagged:
  ret ptr (getelementptr i8, ptr %owner, i64 -1)
other:
  br i1 (or i1 (icmp eq ptr %owner, null), (icmp ne i64 %tag, 0)), label %unknown, label %header
unknown:
  ret ptr null
header:
  ret ptr (load ptr, ptr (getelementptr i8, ptr %owner, i64 16))
}""",
    # The owner of an array that outlives the argument it belongs to: for a tagged owner a new header that holds a
    # reference to the ndarray, or the owner itself where memory is exhausted.
    "pyj_hold_array": """
define internal ptr @pyj_hold_array(ptr %data, ptr %owner) nounwind noinline {
  %word = ptrtoint ptr %owner to i64
  %tag = and i64 %word, 3
  br i1 (icmp eq i64 %tag, 0), label %done, label %object
object:
  %array = inttoptr i64 (sub i64 %word, %tag) to ptr
  call void @Py_IncRef(ptr %array)
  %header = call ptr @malloc(i64 32)
  br i1 (icmp eq ptr %header, null), label %done, label %fill
fill:
  store i64 1, ptr %header
  store ptr %data, ptr (getelementptr i8, ptr %header, i64 8)
  store ptr %array, ptr (getelementptr i8, ptr %header, i64 16)
  store i64 0, ptr (getelementptr i8, ptr %header, i64 24)
  ret ptr %header
done:
  ret ptr %owner
}""",
    # A release on a path that leaves the function after a failure: a call is the shortest code.
    "pyj_let_go": """
define internal void @pyj_let_go(ptr %owner) nounwind noinline cold {
  call void @pyj_release(ptr %owner)
  ret void
}""",
    # for functions with many releases: the branches of each are most of LLVM's work
    "pyj_give_back": """
define internal void @pyj_give_back(ptr %owner) nounwind noinline {
  call void @pyj_release(ptr %owner)
  ret void
}""",
    "pyj_release_header": """
define internal void @pyj_release_header(ptr %header) nounwind noinline {
  %old = atomicrmw sub ptr %header, i64 1 acq_rel
  br i1 (icmp eq i64 %old, 1), label %dead, label %done
dead:
  %array = load ptr, ptr (getelementptr i8, ptr %header, i64 16)
  br i1 (icmp eq ptr %array, null), label %data, label %object
data:
  call void @free(ptr (load ptr, ptr (getelementptr i8, ptr %header, i64 8)))
  br label %end
object:
  call void @Py_DecRef(ptr %array)
end:
  call void @free(ptr %header)
done:
  ret void
}""",
    "pyj_box_new": """
define internal noalias ptr @pyj_box_new(i64 %bytes) nounwind noinline {
  %box = call ptr @malloc(i64 %bytes)
  br i1 (icmp eq ptr %box, null), label %fail, label %fill
fill:
  store i64 1, ptr %box
  ret ptr %box
fail:
  %none = call ptr @PyErr_NoMemory()
  ret ptr null
}""",
    "pyj_box_retain": retaining("pyj_box_retain"),
    "pyj_drop": """
define internal i1 @pyj_drop(ptr %box) nounwind alwaysinline {
  br i1 (icmp eq ptr %box, null), label %none, label %count
count:
  %old = load i64, ptr %box, align 8
  %new = add i64 %old, -1
  store i64 %new, ptr %box, align 8
  ret i1 (icmp eq i64 %old, 1)
none:
  ret i1 false
}""",
    "pyj_retain_object": _RETAIN,
    "pyj_release_object": _RELEASE,
    # Releases an object in the same way.
    "pyj_let_go_object": """
define internal void @pyj_let_go_object(ptr %x) nounwind alwaysinline {
  call void @Py_DecRef(ptr %x)
  ret void
}""",
}
# Versions of two helpers for code that may run without the interpreter's lock.
SHARED = {
    "pyj_box_retain": retaining("pyj_box_retain", atomic=True),
    "pyj_drop": TEXT["pyj_drop"].replace("""%old = load i64, ptr %box, align 8
  %new = add i64 %old, -1
  store i64 %new, ptr %box, align 8""", "%old = atomicrmw sub ptr %box, i64 1 acq_rel"),
}
# data, owner, ndim, shape, strides, descr, flags, take -> new reference. Tags: see above. With `take` the value's own
# reference is consumed: data without other references is given to NumPy, which frees it with free().
_NEW_ARRAY, _SET_BASE, _FROM_TYPE = (
    f"pyjitc_numpy_api_{NUMPY_API[name]}"
    for name in ("PyArray_NewFromDescr", "PyArray_SetBaseObject", "PyArray_DescrFromType"))
# The first ndarray made of native memory owns it from then on: the header keeps a reference to it in `ndarray` while
# native values exist. Values that are boxed later become that ndarray, or a view of it. No Python object refers to
# compiled code, which may be unmapped before the object is freed.
TEXT["pyj_box_array"] = f"""
define internal ptr @pyj_box_array(ptr %data, ptr %owner, i32 %nd, ptr %dims, ptr %strides, ptr %descr, i64 %bytes,
        i32 %flags, i1 %take) nounwind noinline {{
start:
  %word = ptrtoint ptr %owner to i64
  %tag = and i64 %word, 3
  br i1 (icmp eq i64 %tag, 1), label %same, label %look
same:
  %object = getelementptr i8, ptr %owner, i64 -1
  call void @Py_IncRef(ptr %object)
  ret ptr %object
look:
  %owned = icmp ne i64 %word, 0
  br i1 (and i1 (icmp eq i64 %tag, 0), %owned), label %header, label %make
header:
{_load("ndarray", "ptr", "%owner", 16)}
  br i1 (icmp eq ptr %ndarray, null), label %make, label %compare
compare:
{_load("data0", "ptr", "%ndarray", ARRAY["data"])}
  %c1 = icmp eq ptr %data0, %data
{_load("nd0", "i32", "%ndarray", ARRAY["ndim"])}
  %c2 = icmp eq i32 %nd0, %nd
{_load("descr0", "ptr", "%ndarray", ARRAY["descr"])}
  %c3 = icmp eq ptr %descr0, %descr
{_load("flags0", "i32", "%ndarray", ARRAY["flags"])}
  %write0 = and i32 %flags0, {ARRAY_FLAGS["WRITEABLE"]}
  %c4 = icmp eq i32 %write0, (and i32 %flags, {ARRAY_FLAGS["WRITEABLE"]})
  br i1 (and i1 (and i1 %c1, %c2), (and i1 %c3, %c4)), label %extents, label %make
extents:
  %length = mul i64 (zext i32 %nd to i64), 8
{_load("dims0", "ptr", "%ndarray", ARRAY["shape"])}
  %d1 = call i32 @memcmp(ptr %dims0, ptr %dims, i64 %length)
  br i1 (icmp eq i32 %d1, 0), label %order, label %make
order:
  br i1 (icmp eq ptr %strides, null), label %bits, label %steps
bits:
  %columns = and i32 %flags, {ARRAY_FLAGS["F"]}
  %bit = select i1 (icmp ne i32 %columns, 0), i32 {ARRAY_FLAGS["F"]}, i32 {ARRAY_FLAGS["C"]}
  br i1 (icmp ne i32 (and i32 %flags0, %bit), 0), label %again, label %make
steps:
{_load("strides0", "ptr", "%ndarray", ARRAY["strides"])}
  %d2 = call i32 @memcmp(ptr %strides0, ptr %strides, i64 %length)
  br i1 (icmp eq i32 %d2, 0), label %again, label %make
again:
  call void @Py_IncRef(ptr %ndarray)
  br label %finish
make:
  %holder0 = phi ptr [ null, %look ], [ null, %header ], [ %ndarray, %compare ], [ %ndarray, %extents ], [ %ndarray,
        %bits ], [ %ndarray, %steps ]
  call void @Py_IncRef(ptr %descr)
  %made = call ptr @{_NEW_ARRAY}(ptr @pyjitc_ndarray_type, ptr %descr, i32 %nd, ptr %dims, ptr %strides, ptr %data,
        i32 %flags, ptr null)
  br i1 (icmp eq ptr %made, null), label %finish, label %base
base:
  switch i64 %tag, label %memory [ i64 2, label %borrowed ]
borrowed:
  %parent = getelementptr i8, ptr %owner, i64 -2
  br label %attach
memory:
  br i1 %owned, label %adopt, label %done
adopt:
  br i1 (icmp ne ptr %holder0, null), label %attach, label %first
first:
  %whosep = getelementptr i8, ptr %owner, i64 16
{_load("memory0", "ptr", "%owner", 8)}
{_load("bytes0", "i64", "%owner", 24)}
  %last = and i1 (icmp eq i64 (load atomic i64, ptr %owner acquire, align 8), 1), %take
  %filled = icmp eq i64 %bytes, %bytes0
  br i1 (and i1 (icmp eq ptr %memory0, %data), (or i1 %last, %filled)), label %owner_made, label %lend
owner_made:
  %fp = getelementptr i8, ptr %made, i64 {ARRAY["flags"]}
  store i32 (or i32 (load i32, ptr %fp), {ARRAY_FLAGS["OWNDATA"]}), ptr %fp
  call void @pyj_handle(ptr %made)
  br i1 %last, label %steal, label %remember
steal:
  call void @free(ptr %owner)
  ret ptr %made
remember:
  call void @Py_IncRef(ptr %made)
  store ptr %made, ptr %whosep
  br label %finish
lend:
  %size = alloca i64
  store i64 %bytes0, ptr %size
  %byte = call ptr @{_FROM_TYPE}(i32 2)
  %all = call ptr @{_NEW_ARRAY}(ptr @pyjitc_ndarray_type, ptr %byte, i32 1, ptr %size, ptr null, ptr %memory0,
        i32 {ARRAY_FLAGS["WRITEABLE"]}, ptr null)
  br i1 (icmp eq ptr %all, null), label %undo, label %keep
undo:
  call void @Py_DecRef(ptr %made)
  br label %finish
keep:
  %wp = getelementptr i8, ptr %all, i64 {ARRAY["flags"]}
  store i32 (or i32 (load i32, ptr %wp), {ARRAY_FLAGS["OWNDATA"]}), ptr %wp
  call void @pyj_handle(ptr %all)
  store ptr %all, ptr %whosep
attach:
  %holder = phi ptr [ %parent, %borrowed ], [ %holder0, %adopt ], [ %all, %keep ]
  call void @Py_IncRef(ptr %holder)
  %set = call i32 @{_SET_BASE}(ptr %made, ptr %holder)
done:
  br label %finish
finish:
  %result = phi ptr [ %ndarray, %again ], [ null, %make ], [ %made, %remember ], [ null, %undo ], [ %made, %done ]
  br i1 %take, label %release, label %out
release:
  call void @pyj_release(ptr %owner)
out:
  ret ptr %result
}}"""
TEXT["pyj_handle"] = f"""
define internal void @pyj_handle(ptr %array) nounwind {{
  call void @Py_IncRef(ptr @pyjitc_memory_handler)
{_store("where", "ptr", "@pyjitc_memory_handler", "%array", ARRAY["handler"])}
  ret void
}}"""
TEXT["pyj_sizes"] = "\n".join(
    f'@pyj_sizes.{of} = private unnamed_addr constant [{len(message) + 1} x i8] c"{message}\\00"' for of, message in (
        ("negative", "negative dimensions are not allowed"),
        ("too_big",
         "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")))


def sized(count: int) -> str:
    """`pyj_new` for `count` lengths, with checks. NumPy multiplies the lengths that are not zero, so that (0, huge) is
    refused, whose strides could overflow."""
    lines = [f"define internal noalias ptr @pyj_new_{count}(i64 %b0, i1 %zero, "
             f"{', '.join(f'i64 %n{k}' for k in range(count))}) nounwind noinline {{",
             f"  br label %check{0}"]
    for k in range(count):
        lines += [f"check{k}:", f"  %fine{k} = icmp sge i64 %n{k}, 0",
                  f"  br i1 %fine{k}, label %check{k + 1}, label %negative"]
    lines.append(f"check{count}:\n  br label %grow0")
    for k in range(count):
        lines += [f"grow{k}:", f"  %none{k} = icmp eq i64 %n{k}, 0",
                  f"  %factor{k} = select i1 %none{k}, i64 1, i64 %n{k}",
                  f"  %pair{k} = call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 %b{k}, i64 %factor{k})",
                  f"  %b{k + 1} = extractvalue {{i64, i1}} %pair{k}, 0",
                  f"  %over{k} = extractvalue {{i64, i1}} %pair{k}, 1", f"  %minus{k} = icmp slt i64 %b{k + 1}, 0",
                  f"  %bad{k} = or i1 %over{k}, %minus{k}", f"  br i1 %bad{k}, label %big, label %grow{k + 1}"]
    lines.append(f"grow{count}:\n  %t0 = add i64 %b{count}, 0")
    lines += [f"  %t{k + 1} = select i1 %none{k}, i64 0, i64 %t{k}" for k in range(count)]
    lines.append(f"""  %header = call ptr @pyj_new(i64 %t{count}, i1 %zero)
  ret ptr %header
negative:
  br label %fail
big:
  br label %fail
fail:
  %message = phi ptr [ @pyj_sizes.negative, %negative ], [ @pyj_sizes.too_big, %big ]
  call void @PyErr_SetString(ptr (load ptr, ptr @PyExc_ValueError, align 8), ptr %message)
  ret ptr null
}}""")
    return "\n".join(lines)
