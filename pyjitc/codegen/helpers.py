"""The runtime in LLVM text: small functions that compiled code calls, included in a module only when used.

Each has one text for all Python versions, except where the C API differs; all symbols are referred to by name.
"""
from __future__ import annotations

import sys

from ..base.lazy import lazy
from ..ops.memory import MOST_SIZED
from ..runtime.platform import ARRAY, ARRAY_FLAGS, NUMPY_API

__all__ = ["NEEDS", "TEXT", "declare", "is_often_called", "text"]

drops, elements, localtables, natives, objects, sorting, strings, tables = (lazy(f"{__package__}.{name}") for name in (
    "drops", "elements", "localtables", "natives", "objects", "sorting", "strings", "tables"))
_OF_OBJECTS = frozenset(("pyj_place", "pyj_in_dict", "pyj_look", "pyj_field", "pyj_set_attribute", "pyj_set_field",
                         "pyj_put", "pyj_put_value"))


_OF_FLOATS = frozenset(("pyj_str_of_float", "pyj_str_shortest"))  # helpers that use a large table


class _Texts(dict):
    """name -> definition. Helpers with a number or a type in their name are generated when one is used. Those that
    search the tables of dicts and sets, and those of text, are loaded at the first use of one."""

    def __missing__(self, name: str) -> str:
        kind, _, of = name.removeprefix("pyj_").partition("_")
        if name == "pyj_str_exponents":
            self[name] = strings.shortest()
            return self[name]
        if name in _OF_OBJECTS:
            self[name] = objects.TEXT[name]
            return self[name]
        if kind in ("dict", "set", "key", "versions", "pair", "str", "sort", "heap", "table"):
            home = (strings if kind == "str" else sorting if kind in ("sort", "heap") else
                    localtables if kind == "table" else tables)
            self.update(home.TEXT)
            NEEDS.update(home.NEEDS)
            _DECLARATIONS.update(home.DECLARATIONS)
            return home.TEXT[name]
        if kind == "native":
            for one, body in natives.TEXT.items():
                self.setdefault(one, body)
            _DECLARATIONS.update(natives.DECLARATIONS)
            NEEDS.update(natives.NEEDS)
            if name in self:
                return self[name]
            made = natives.made(name)
            NEEDS[name] = natives.needs(name)
        elif kind == "drop":
            made = drops.made(name)
            NEEDS[name] = drops.needs(name)
        elif kind == "new" and of.isdigit():
            made = _sized(int(of))
        elif kind == "copy":
            made = elements.copy(of, _SIZES[of])
        elif kind == "eights":
            made = elements.eights(of)
        elif kind == "dot":
            made = elements.dot(of)
        else:
            raise KeyError(name)
        self[name] = made
        return made


# Reference counts of Python objects, counted as by the macros of the running interpreter. Null is no object.
_RETAIN = """
define internal void @pyj_retain_object(ptr %x) nounwind alwaysinline {
  %none = icmp eq ptr %x, null
  br i1 %none, label %done, label %some
some:""" + ("""
  %old = load i32, ptr %x, align 4
  %new = add i32 %old, 1
  %immortal = icmp eq i32 %new, 0
  br i1 %immortal, label %done, label %count
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
  %none = icmp eq ptr %x, null
  br i1 %none, label %done, label %some
some:""" + ("""
  %low = load i32, ptr %x, align 4
  %immortal = icmp slt i32 %low, 0
  br i1 %immortal, label %done, label %count
count:""" if sys.version_info >= (3, 12) else "") + """
  %old = load i64, ptr %x, align 8
  %new = add i64 %old, -1
  store i64 %new, ptr %x, align 8
  %last = icmp eq i64 %new, 0
  br i1 %last, label %free, label %done
free:
  call void @_Py_Dealloc(ptr %x)
  br label %done
done:
  ret void
}"""
# A native memory header: {i64 references, ptr data, ptr ndarray, i64 bytes}. `ndarray`: the Python array that owns the
# data, once a value in it has been passed to Python; else null. Owner words carry a tag in the low two bits: 0 a header
# (or null), 1 the ndarray itself, 2 a view of an ndarray; see docs/architecture.md.
TEXT = _Texts({
    # The Mersenne Twister of random.Random: {i32 index, i32 words[624]}. Source: Matsumoto and Nishimura, "Mersenne
    # Twister" (1998), as in CPython's Modules/_randommodule.c.
    "pyj_mersenne": """
define internal i32 @pyj_mersenne(ptr %s) nounwind {
  %i = load i32, ptr %s, align 4
  %all = icmp sge i32 %i, 624
  br i1 %all, label %renew, label %take
renew:
  call void @pyj_mersenne_renew(ptr %s)
  br label %take
take:
  %n = phi i32 [ %i, %0 ], [ 0, %renew ]
  %next = add i32 %n, 1
  store i32 %next, ptr %s, align 4
  %at = getelementptr i32, ptr %s, i32 %next
  %a = load i32, ptr %at, align 4
  %word = call i32 @pyj_temper(i32 %a)
  ret i32 %word
}""",
    "pyj_temper": """
define internal i32 @pyj_temper(i32 %a) alwaysinline nounwind {
  %a1 = lshr i32 %a, 11
  %b = xor i32 %a, %a1
  %b1 = shl i32 %b, 7
  %b2 = and i32 %b1, -1658038656
  %c = xor i32 %b, %b2
  %c1 = shl i32 %c, 15
  %c2 = and i32 %c1, -272236544
  %d = xor i32 %c, %c2
  %d1 = lshr i32 %d, 18
  %e = xor i32 %d, %d1
  ret i32 %e
}""",
    # A word of a `bitgen_t`: of NumPy's Mersenne Twister, {i32 words[624], i32 pos}, it is taken here until all words
    # are used up; other generators are called.
    "pyj_random_word": """
define internal i32 @pyj_random_word(ptr %bitgen) nounwind {
  %state = load ptr, ptr %bitgen, align 8
  %slot = getelementptr i8, ptr %bitgen, i64 16
  %function = load ptr, ptr %slot, align 8
  %known = icmp eq ptr %function, @pyjitc_random_twister
  br i1 %known, label %look, label %call, !prof !0
look:
  %pos = getelementptr i32, ptr %state, i64 624
  %i = load i32, ptr %pos, align 4
  %left = icmp ult i32 %i, 624
  br i1 %left, label %take, label %call, !prof !0
take:
  %next = add i32 %i, 1
  store i32 %next, ptr %pos, align 4
  %k = zext i32 %i to i64
  %at = getelementptr i32, ptr %state, i64 %k
  %a = load i32, ptr %at, align 4
  %word = call i32 @pyj_temper(i32 %a)
  ret i32 %word
call:
  %drawn = call i32 %function(ptr %state) nounwind willreturn
  ret i32 %drawn
}""",
    "pyj_mersenne_renew": """
define internal void @pyj_mersenne_renew(ptr %s) nounwind noinline cold {
  %words = getelementptr i32, ptr %s, i64 1
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %k1 = add i64 %k, 1
  %last = icmp eq i64 %k1, 624
  %second = select i1 %last, i64 0, i64 %k1
  %far = add i64 %k, 397
  %over = icmp uge i64 %far, 624
  %wrapped = sub i64 %far, 624
  %third = select i1 %over, i64 %wrapped, i64 %far
  %pa = getelementptr i32, ptr %words, i64 %k
  %pb = getelementptr i32, ptr %words, i64 %second
  %pc = getelementptr i32, ptr %words, i64 %third
  %a = load i32, ptr %pa, align 4
  %b = load i32, ptr %pb, align 4
  %c = load i32, ptr %pc, align 4
  %high = and i32 %a, -2147483648
  %low = and i32 %b, 2147483647
  %y = or i32 %high, %low
  %half = lshr i32 %y, 1
  %odd = and i32 %b, 1
  %mask = sub i32 0, %odd
  %x = and i32 %mask, -1727483681
  %m = xor i32 %c, %half
  %new = xor i32 %m, %x
  store i32 %new, ptr %pa, align 4
  br i1 %last, label %done, label %loop
done:
  ret void
}""",
    # Linux backs 4 MB and more by huge pages when advised to (14: MADV_HUGEPAGE), as NumPy does for its own arrays. A
    # small zeroed block is allocated with malloc() and cleared: calloc() of most versions of the C library ignores the
    # thread's cache of freed blocks, and takes as long as all the rest.
    "pyj_new": """
define internal noalias ptr @pyj_new(i64 %bytes, i1 %zero) nounwind noinline {
  %none = icmp eq i64 %bytes, 0
  %size = select i1 %none, i64 1, i64 %bytes
  %much = icmp ugt i64 %size, 1024
  %whole = and i1 %zero, %much
  br i1 %whole, label %clear, label %plain
clear:
  %c = call ptr @calloc(i64 1, i64 %size)
  br label %got
plain:
  %m = call ptr @malloc(i64 %size)
  %nothing = icmp eq ptr %m, null
  %keep = xor i1 %zero, true
  %ready = or i1 %nothing, %keep
  br i1 %ready, label %got, label %wipe
wipe:
  call void @llvm.memset.p0.i64(ptr %m, i8 0, i64 %size, i1 false)
  br label %got
got:
  %data = phi ptr [ %c, %clear ], [ %m, %plain ], [ %m, %wipe ]
  %bad = icmp eq ptr %data, null
  br i1 %bad, label %fail, label %big
big:
  %large = icmp uge i64 %size, 4194304
  br i1 %large, label %advise, label %head
advise:
  %address = ptrtoint ptr %data to i64
  %up = add i64 %address, 4095
  %page = and i64 %up, -4096
  %skipped = sub i64 %page, %address
  %rest = sub i64 %size, %skipped
  %start = inttoptr i64 %page to ptr
  %advised = call i32 @madvise(ptr %start, i64 %rest, i32 14)
  br label %head
head:
  %header = call ptr @malloc(i64 32)
  %worse = icmp eq ptr %header, null
  br i1 %worse, label %undo, label %fill
fill:
  store i64 1, ptr %header
  %where = getelementptr i8, ptr %header, i64 8
  store ptr %data, ptr %where
  %there = getelementptr i8, ptr %header, i64 16
  store ptr null, ptr %there
  %length = getelementptr i8, ptr %header, i64 24
  store i64 %size, ptr %length
  ret ptr %header
undo:
  call void @free(ptr %data)
  br label %fail
fail:
  %none2 = call ptr @PyErr_NoMemory()
  ret ptr null
}""",
    "pyj_view_owner": """
define internal ptr @pyj_view_owner(ptr %owner) nounwind alwaysinline {
  %word = ptrtoint ptr %owner to i64
  %tag = and i64 %word, 3
  %whole = icmp eq i64 %tag, 1
  %next = getelementptr i8, ptr %owner, i64 1
  %result = select i1 %whole, ptr %next, ptr %owner
  ret ptr %result
}""",
    # opaque to LLVM: a visible select would become a gather, and an unknown step would make one loop for step 1 and
    # another for all others
    "pyj_step": """
define internal i64 @pyj_step(i64 %n, i64 %space, i64 %stride, i64 %shift) nounwind willreturn memory(none) noinline {
  %full = icmp eq i64 %n, %space
  %step = ashr i64 %stride, %shift
  %result = select i1 %full, i64 %step, i64 0
  ret i64 %result
}""",
    "pyj_retain": """
define internal void @pyj_retain(ptr %owner) nounwind alwaysinline {
  %word = ptrtoint ptr %owner to i64
  %tag = and i64 %word, 3
  %tagged = icmp ne i64 %tag, 0
  %null = icmp eq ptr %owner, null
  %skip = or i1 %tagged, %null
  br i1 %skip, label %done, label %count
count:
  %old = atomicrmw add ptr %owner, i64 1 monotonic
  br label %done
done:
  ret void
}""",
    "pyj_release": """
define internal void @pyj_release(ptr %owner) nounwind alwaysinline {
  %word = ptrtoint ptr %owner to i64
  %tag = and i64 %word, 3
  %tagged = icmp ne i64 %tag, 0
  %null = icmp eq ptr %owner, null
  %skip = or i1 %tagged, %null
  br i1 %skip, label %done, label %count
count:
  call void @pyj_release_header(ptr %owner)
  br label %done
done:
  ret void
}""",
    # for paths that leave the function after a failure: a call is the shortest code
    "pyj_same_owner": """
define internal i1 @pyj_same_owner(ptr %x, ptr %y) nounwind noinline {
  %equal = icmp eq ptr %x, %y
  br i1 %equal, label %yes, label %look
yes:
  ret i1 true
look:
  %one = call ptr @pyj_owning_object(ptr %x)
  %other = call ptr @pyj_owning_object(ptr %y)
  %same = icmp eq ptr %one, %other
  %some = icmp ne ptr %one, null
  %result = and i1 %same, %some
  ret i1 %result
}""",
    # The ndarray that owns the memory, if there is one.
    "pyj_owning_object": """
define internal ptr @pyj_owning_object(ptr %owner) nounwind noinline {
  %word = ptrtoint ptr %owner to i64
  %tag = and i64 %word, 3
  %whole = icmp eq i64 %tag, 1
  br i1 %whole, label %tagged, label %other
tagged:
  %array = getelementptr i8, ptr %owner, i64 -1
  ret ptr %array
other:
  %none = icmp eq ptr %owner, null
  %view = icmp ne i64 %tag, 0
  %neither = or i1 %none, %view
  br i1 %neither, label %unknown, label %header
unknown:
  ret ptr null
header:
  %where = getelementptr i8, ptr %owner, i64 16
  %held = load ptr, ptr %where
  ret ptr %held
}""",
    "pyj_hold_array": """
define internal ptr @pyj_hold_array(ptr %data, ptr %owner) nounwind noinline {
  %word = ptrtoint ptr %owner to i64
  %tag = and i64 %word, 3
  %held = icmp eq i64 %tag, 0
  br i1 %held, label %done, label %object
object:
  %address = sub i64 %word, %tag
  %array = inttoptr i64 %address to ptr
  call void @Py_IncRef(ptr %array)
  %header = call ptr @malloc(i64 32)
  %bad = icmp eq ptr %header, null
  br i1 %bad, label %done, label %fill
fill:
  store i64 1, ptr %header
  %datap = getelementptr i8, ptr %header, i64 8
  store ptr %data, ptr %datap
  %arrayp = getelementptr i8, ptr %header, i64 16
  store ptr %array, ptr %arrayp
  %bytesp = getelementptr i8, ptr %header, i64 24
  store i64 0, ptr %bytesp
  ret ptr %header
done:
  ret ptr %owner
}""",
    "pyj_let_go": """
define internal void @pyj_let_go(ptr %owner) nounwind noinline cold {
  call void @pyj_release(ptr %owner)
  ret void
}""",
    "pyj_release_header": """
define internal void @pyj_release_header(ptr %header) nounwind noinline {
  %old = atomicrmw sub ptr %header, i64 1 acq_rel
  %last = icmp eq i64 %old, 1
  br i1 %last, label %dead, label %done
dead:
  %there = getelementptr i8, ptr %header, i64 16
  %array = load ptr, ptr %there
  %native = icmp eq ptr %array, null
  br i1 %native, label %data, label %object
data:
  %where = getelementptr i8, ptr %header, i64 8
  %memory = load ptr, ptr %where
  call void @free(ptr %memory)
  br label %end
object:
  call void @Py_DecRef(ptr %array)
  br label %end
end:
  call void @free(ptr %header)
  br label %done
done:
  ret void
}""",
    "pyj_box_new": """
define internal noalias ptr @pyj_box_new(i64 %bytes) nounwind noinline {
  %box = call ptr @malloc(i64 %bytes)
  %bad = icmp eq ptr %box, null
  br i1 %bad, label %fail, label %fill
fill:
  store i64 1, ptr %box
  ret ptr %box
fail:
  %none = call ptr @PyErr_NoMemory()
  ret ptr null
}""",
    "pyj_drop": """
define internal i1 @pyj_drop(ptr %box) nounwind alwaysinline {
  %null = icmp eq ptr %box, null
  br i1 %null, label %none, label %count
count:
  %old = atomicrmw sub ptr %box, i64 1 acq_rel
  %last = icmp eq i64 %old, 1
  ret i1 %last
none:
  ret i1 false
}""",
    "pyj_retain_object": _RETAIN,
    "pyj_attribute": """
define internal ptr @pyj_attribute(ptr %x, ptr %name) nounwind {
  %found = call ptr @PyObject_GetAttr(ptr %x, ptr %name)
  %none = icmp eq ptr %found, null
  br i1 %none, label %missing, label %have
missing:
  call void @PyErr_Clear()
  ret ptr null
have:
  %count = load i64, ptr %found, align 8
  %new = icmp eq i64 %count, 1
  call void @Py_DecRef(ptr %found)
  %kept = select i1 %new, ptr null, ptr %found
  ret ptr %kept
}""",
    "pyj_release_object": _RELEASE,
    # on paths where time does not count
    "pyj_let_go_object": """
define internal void @pyj_let_go_object(ptr %x) nounwind alwaysinline {
  call void @Py_DecRef(ptr %x)
  ret void
}""",
    "pyj_throw": """
define internal void @pyj_throw(ptr %exc) nounwind noinline cold {
  %where = getelementptr i8, ptr %exc, i64 8
  %class = load ptr, ptr %where
  call void @PyErr_SetObject(ptr %class, ptr %exc)
  ret void
}""",
    # x / y of Python ints beyond 2**53, correctly rounded: long division to 55 bits, with the remainder as a sticky
    # bit.
    "pyj_int_truediv": """
define internal double @pyj_int_truediv(i64 %x, i64 %y) nounwind noinline cold {
  %mixed = xor i64 %x, %y  ; y == 0 counts as positive
  %negative = icmp slt i64 %mixed, 0
  %xs = icmp slt i64 %x, 0
  %xm = sub i64 0, %x
  %n = select i1 %xs, i64 %xm, i64 %x
  %ys = icmp slt i64 %y, 0
  %ym = sub i64 0, %y
  %ya = select i1 %ys, i64 %ym, i64 %y
  %none = icmp eq i64 %ya, 0
  %d = select i1 %none, i64 1, i64 %ya
  %q0 = udiv i64 %n, %d
  %r0 = urem i64 %n, %d
  br label %test
test:
  %q = phi i64 [ %q0, %0 ], [ %q2, %more ]
  %r = phi i64 [ %r0, %0 ], [ %r2, %more ]
  %unit = phi double [ 1.0, %0 ], [ %half, %more ]
  %enough = icmp uge i64 %q, 18014398509481984
  %exact = icmp eq i64 %r, 0
  %stop = or i1 %enough, %exact
  br i1 %stop, label %done, label %more
more:
  %r1 = shl i64 %r, 1
  %one = icmp uge i64 %r1, %d
  %rd = sub i64 %r1, %d
  %r2 = select i1 %one, i64 %rd, i64 %r1
  %q1 = shl i64 %q, 1
  %bit = zext i1 %one to i64
  %q2 = or i64 %q1, %bit
  %half = fmul double %unit, 0.5
  br label %test
done:
  %rest = icmp ne i64 %r, 0
  %sticky = zext i1 %rest to i64
  %qs = or i64 %q, %sticky
  %f = uitofp i64 %qs to double
  %finite = fmul double %f, %unit
  %size = select i1 %none, double 0x7FF0000000000000, double %finite
  %minus = fneg double %size
  %result = select i1 %negative, double %minus, double %size
  ret double %result
}
""",
    # `last`: number of remaining items; `item`: the removed one
    "pyj_list_shorten": """
define internal i32 @pyj_list_shorten(ptr %list, i64 %last, ptr %item) nounwind alwaysinline {
  %room.at = getelementptr i8, ptr %list, i64 32
  %room = load i64, ptr %room.at, align 8
  %half = ashr i64 %room, 1
  %stays = icmp sge i64 %last, %half
  br i1 %stays, label %cut, label %shrink
cut:
  %size.at = getelementptr i8, ptr %list, i64 16
  store i64 %last, ptr %size.at, align 8
  call void @pyj_release_object(ptr %item)
  ret i32 0
shrink:
  %status = call i32 @PyList_SetSlice(ptr %list, i64 %last, i64 9223372036854775807, ptr null)
  ret i32 %status
}""",
    "pyj_list_append": """
define internal i32 @pyj_list_append(ptr %list, ptr %x) nounwind alwaysinline {
  %size.at = getelementptr i8, ptr %list, i64 16
  %room.at = getelementptr i8, ptr %list, i64 32
  %size = load i64, ptr %size.at, align 8
  %room = load i64, ptr %room.at, align 8
  %fits = icmp slt i64 %size, %room
  br i1 %fits, label %put, label %grow
put:
  %items.at = getelementptr i8, ptr %list, i64 24
  %items = load ptr, ptr %items.at, align 8
  %slot = getelementptr ptr, ptr %items, i64 %size
  store ptr %x, ptr %slot, align 8
  %more = add i64 %size, 1
  store i64 %more, ptr %size.at, align 8
  ret i32 0
grow:
  %status = call i32 @PyList_Append(ptr %list, ptr %x)
  call void @Py_DecRef(ptr %x)
  ret i32 %status
}""",
    "pyj_signals": """
define internal preserve_mostcc i32 @pyj_signals() nounwind noinline cold {
  %status = call i32 @PyErr_CheckSignals()
  %bad = icmp ne i32 %status, 0
  %result = zext i1 %bad to i32
  ret i32 %result
}""",
})
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
  %whole = icmp eq i64 %tag, 1
  br i1 %whole, label %same, label %look
same:
  %object = getelementptr i8, ptr %owner, i64 -1
  call void @Py_IncRef(ptr %object)
  ret ptr %object
look:
  %untagged = icmp eq i64 %tag, 0
  %owned = icmp ne i64 %word, 0
  %native = and i1 %untagged, %owned
  br i1 %native, label %header, label %make
header:
  %ndarrayp = getelementptr i8, ptr %owner, i64 16
  %ndarray = load ptr, ptr %ndarrayp
  %fresh = icmp eq ptr %ndarray, null
  br i1 %fresh, label %make, label %compare
compare:
  %data0p = getelementptr i8, ptr %ndarray, i64 {ARRAY["data"]}
  %data0 = load ptr, ptr %data0p
  %c1 = icmp eq ptr %data0, %data
  %nd0p = getelementptr i8, ptr %ndarray, i64 {ARRAY["ndim"]}
  %nd0 = load i32, ptr %nd0p
  %c2 = icmp eq i32 %nd0, %nd
  %descr0p = getelementptr i8, ptr %ndarray, i64 {ARRAY["descr"]}
  %descr0 = load ptr, ptr %descr0p
  %c3 = icmp eq ptr %descr0, %descr
  %flags0p = getelementptr i8, ptr %ndarray, i64 {ARRAY["flags"]}
  %flags0 = load i32, ptr %flags0p
  %write0 = and i32 %flags0, {ARRAY_FLAGS["WRITEABLE"]}
  %write = and i32 %flags, {ARRAY_FLAGS["WRITEABLE"]}
  %c4 = icmp eq i32 %write0, %write
  %c12 = and i1 %c1, %c2
  %c34 = and i1 %c3, %c4
  %alike = and i1 %c12, %c34
  br i1 %alike, label %extents, label %make
extents:
  %n = zext i32 %nd to i64
  %length = mul i64 %n, 8
  %dims0p = getelementptr i8, ptr %ndarray, i64 {ARRAY["shape"]}
  %dims0 = load ptr, ptr %dims0p
  %d1 = call i32 @memcmp(ptr %dims0, ptr %dims, i64 %length)
  %samedims = icmp eq i32 %d1, 0
  br i1 %samedims, label %order, label %make
order:
  %contiguous = icmp eq ptr %strides, null
  br i1 %contiguous, label %bits, label %steps
bits:
  %columns = and i32 %flags, {ARRAY_FLAGS["F"]}
  %anyf = icmp ne i32 %columns, 0
  %bit = select i1 %anyf, i32 {ARRAY_FLAGS["F"]}, i32 {ARRAY_FLAGS["C"]}
  %has = and i32 %flags0, %bit
  %hasbit = icmp ne i32 %has, 0
  br i1 %hasbit, label %again, label %make
steps:
  %strides0p = getelementptr i8, ptr %ndarray, i64 {ARRAY["strides"]}
  %strides0 = load ptr, ptr %strides0p
  %d2 = call i32 @memcmp(ptr %strides0, ptr %strides, i64 %length)
  %equal = icmp eq i32 %d2, 0
  br i1 %equal, label %again, label %make
again:
  call void @Py_IncRef(ptr %ndarray)
  br label %finish
make:
  %holder0 = phi ptr [ null, %look ], [ null, %header ], [ %ndarray, %compare ], [ %ndarray, %extents ], [ %ndarray,
        %bits ], [ %ndarray, %steps ]
  call void @Py_IncRef(ptr %descr)
  %made = call ptr @{_NEW_ARRAY}(ptr @pyjitc_ndarray_type, ptr %descr, i32 %nd, ptr %dims, ptr %strides, ptr %data,
        i32 %flags, ptr null)
  %bad = icmp eq ptr %made, null
  br i1 %bad, label %finish, label %base
base:
  switch i64 %tag, label %memory [ i64 2, label %borrowed ]
borrowed:
  %parent = getelementptr i8, ptr %owner, i64 -2
  br label %attach
memory:
  br i1 %owned, label %adopt, label %done
adopt:
  %known = icmp ne ptr %holder0, null
  br i1 %known, label %attach, label %first
first:
  %whosep = getelementptr i8, ptr %owner, i64 16
  %firstp = getelementptr i8, ptr %owner, i64 8
  %memory0 = load ptr, ptr %firstp
  %bytesp = getelementptr i8, ptr %owner, i64 24
  %bytes0 = load i64, ptr %bytesp
  %atstart = icmp eq ptr %memory0, %data
  %references = load atomic i64, ptr %owner acquire, align 8
  %single = icmp eq i64 %references, 1
  %last = and i1 %single, %take
  %filled = icmp eq i64 %bytes, %bytes0
  %entire = or i1 %last, %filled
  %own = and i1 %atstart, %entire
  br i1 %own, label %owner_made, label %lend
owner_made:
  %fp = getelementptr i8, ptr %made, i64 {ARRAY["flags"]}
  %f = load i32, ptr %fp
  %f2 = or i32 %f, {ARRAY_FLAGS["OWNDATA"]}
  store i32 %f2, ptr %fp
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
  %failed = icmp eq ptr %all, null
  br i1 %failed, label %undo, label %keep
undo:
  call void @Py_DecRef(ptr %made)
  br label %finish
keep:
  %wp = getelementptr i8, ptr %all, i64 {ARRAY["flags"]}
  %wf = load i32, ptr %wp
  %wf2 = or i32 %wf, {ARRAY_FLAGS["OWNDATA"]}
  store i32 %wf2, ptr %wp
  call void @pyj_handle(ptr %all)
  store ptr %all, ptr %whosep
  br label %attach
attach:
  %holder = phi ptr [ %parent, %borrowed ], [ %holder0, %adopt ], [ %all, %keep ]
  call void @Py_IncRef(ptr %holder)
  %set = call i32 @{_SET_BASE}(ptr %made, ptr %holder)
  br label %done
done:
  br label %finish
finish:
  %result = phi ptr [ %ndarray, %again ], [ null, %make ], [ %made, %remember ], [ null, %undo ], [ %made, %done ]
  br i1 %take, label %release, label %out
release:
  call void @pyj_release(ptr %owner)
  br label %out
out:
  ret ptr %result
}}"""
TEXT["pyj_handle"] = f"""
define internal void @pyj_handle(ptr %array) nounwind {{
  call void @Py_IncRef(ptr @pyjitc_memory_handler)
  %where = getelementptr i8, ptr %array, i64 {ARRAY["handler"]}
  store ptr @pyjitc_memory_handler, ptr %where
  ret void
}}"""
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
  call void @PyErr_SetString(ptr %class, ptr @pyj_deep)
  ret i32 1
}
@pyj_deep = private unnamed_addr constant [33 x i8] c"maximum recursion depth exceeded\\00"
"""
TEXT["pyj_no_active"] = '@pyj_no_active = private unnamed_addr constant [31 x i8] c"No active exception to reraise\\00"'
TEXT["pyj_fetch"] = _NEW_ERRORS if sys.version_info >= (3, 12) else _OLD_FETCH
TEXT["pyj_rethrow"] = _NEW_RETHROW if sys.version_info >= (3, 12) else _OLD_RETHROW
TEXT.update(_NEW_HANDLED if sys.version_info >= (3, 11) else _OLD_HANDLED)

# helper -> other helpers it calls
NEEDS = {
    "pyj_box_array": ("pyj_release", "pyj_release_header", "pyj_handle"),
    "pyj_release": ("pyj_release_header",), "pyj_let_go": ("pyj_release",),
    "pyj_same_owner": ("pyj_owning_object",),
    "pyj_put": ("pyj_release_object",), "pyj_put_value": ("pyj_release_object",),
    "pyj_look": ("pyj_place",), "pyj_field": ("pyj_place",), "pyj_set_field": ("pyj_place", "pyj_set_attribute"),
    "pyj_mersenne": ("pyj_mersenne_renew", "pyj_temper"), "pyj_random_word": ("pyj_temper",),
    "pyj_push": ("pyj_pop",), "pyj_list_shorten": ("pyj_release_object",),
    "pyj_reraise": ("pyj_rethrow", "pyj_no_active"),
}

_DECLARATIONS = {
    "malloc": "declare noalias ptr @malloc(i64)", "calloc": "declare noalias ptr @calloc(i64, i64)",
    "free": "declare void @free(ptr)", "madvise": "declare i32 @madvise(ptr, i64, i32)",
    "PyErr_NoMemory": "declare ptr @PyErr_NoMemory()", "Py_IncRef": "declare void @Py_IncRef(ptr)",
    "Py_DecRef": "declare void @Py_DecRef(ptr)", "memcmp": "declare i32 @memcmp(ptr, ptr, i64)",
    "PyErr_SetObject": "declare void @PyErr_SetObject(ptr, ptr)",
    "PyErr_CheckSignals": "declare i32 @PyErr_CheckSignals()", "PyErr_Clear": "declare void @PyErr_Clear()",
    "PyObject_GetAttr": "declare ptr @PyObject_GetAttr(ptr, ptr)",
    "PyObject_GenericGetAttr": "declare ptr @PyObject_GenericGetAttr(ptr, ptr)",
    "PyObject_GenericSetAttr": "declare i32 @PyObject_GenericSetAttr(ptr, ptr, ptr)",
    "PyErr_GetRaisedException": "declare ptr @PyErr_GetRaisedException()",
    "PyErr_SetRaisedException": "declare void @PyErr_SetRaisedException(ptr)",
    "PyErr_Fetch": "declare void @PyErr_Fetch(ptr, ptr, ptr)",
    "PyErr_NormalizeException": "declare void @PyErr_NormalizeException(ptr, ptr, ptr)",
    "PyErr_Restore": "declare void @PyErr_Restore(ptr, ptr, ptr)",
    "PyException_SetTraceback": "declare i32 @PyException_SetTraceback(ptr, ptr)",
    "PyException_GetTraceback": "declare ptr @PyException_GetTraceback(ptr)",
    "PyErr_GetHandledException": "declare ptr @PyErr_GetHandledException()",
    "PyErr_SetHandledException": "declare void @PyErr_SetHandledException(ptr)",
    "PyErr_GetExcInfo": "declare void @PyErr_GetExcInfo(ptr, ptr, ptr)",
    "_Py_Dealloc": "declare void @_Py_Dealloc(ptr)",
    "PyList_SetSlice": "declare i32 @PyList_SetSlice(ptr, i64, i64, ptr)",
    "PyList_Append": "declare i32 @PyList_Append(ptr, ptr)",
    "PyErr_SetExcInfo": "declare void @PyErr_SetExcInfo(ptr, ptr, ptr)",
    "PyErr_SetString": "declare void @PyErr_SetString(ptr, ptr)",
    "PyExc_RuntimeError": "@PyExc_RuntimeError = external global i8",
    "PyExc_ValueError": "@PyExc_ValueError = external global i8",
    "llvm.umul.with.overflow.i64": "declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)",
    "llvm.umin.i64": "declare i64 @llvm.umin.i64(i64, i64)",
    "PyExc_RecursionError": "@PyExc_RecursionError = external global i8", "pthread_self": "declare i64 @pthread_self()",
    "pthread_getattr_np": "declare i32 @pthread_getattr_np(i64, ptr)",
    "pthread_attr_getstack": "declare i32 @pthread_attr_getstack(ptr, ptr, ptr)",
    "pthread_attr_destroy": "declare i32 @pthread_attr_destroy(ptr)",
    "_Py_NoneStruct": "@_Py_NoneStruct = external global i8", f"pyjitc_numpy_api_{NUMPY_API['PyArray_DescrFromType']}":
        f"declare ptr @pyjitc_numpy_api_{NUMPY_API['PyArray_DescrFromType']}(i32)",
    f"pyjitc_numpy_api_{NUMPY_API['PyArray_NewFromDescr']}":
        f"declare ptr @pyjitc_numpy_api_{NUMPY_API['PyArray_NewFromDescr']}(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    f"pyjitc_numpy_api_{NUMPY_API['PyArray_SetBaseObject']}":
        f"declare i32 @pyjitc_numpy_api_{NUMPY_API['PyArray_SetBaseObject']}(ptr, ptr)",
    "pyjitc_memory_handler": "@pyjitc_memory_handler = external global i8",
    "pyjitc_random_twister": "@pyjitc_random_twister = external global i8",
    "pyjitc_ndarray_type": "@pyjitc_ndarray_type = external global i8",
}


# The functions that need the interpreter lock, called in helpers that functions without the lock use.
_LOCKED = {
    "PyErr_NoMemory": ("ptr", ""), "PyErr_CheckSignals": ("i32", ""), "PyErr_SetString": ("void", "ptr %a, ptr %b"),
}
_RELEASES = {"Py_DecRef": ("void", "ptr %a")}  # in the helper that frees memory, which a NumPy array may own


def _sized(count: int) -> str:
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
  %message = phi ptr [ @pyj_negative, %negative ], [ @pyj_too_big, %big ]
  %class = load ptr, ptr @PyExc_ValueError, align 8
  call void @PyErr_SetString(ptr %class, ptr %message)
  ret ptr null
}}""")
    return "\n".join(lines)


TEXT["pyj_sizes"] = "\n".join(f'@{name} = private unnamed_addr constant [{len(message) + 1} x i8] c"{message}\\00"'
                              for name, message in (
    ("pyj_negative", "negative dimensions are not allowed"),
    ("pyj_too_big", "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")))
_SIZES = {f"i{8 * size}": size for size in (1, 2, 4, 8, 16)}
NEEDS.update({f"pyj_new_{count}": ("pyj_new", "pyj_sizes") for count in range(1, MOST_SIZED + 1)},
             **{f"pyj_copy_{t}": ("pyj_new",) for t in _SIZES})


def stays_call(name: str) -> bool:
    """Whether LLVM neither inlines nor optimises the helper."""
    return " noinline" in TEXT[name] and not is_often_called(name)


def search_of(name: str) -> str:
    """The group of helpers whose image LLVM optimises, since it runs in loops: the table and the class of keys that a
    helper searches, `str` for text, `str of floats` for formatting floats, `sort` for sorting, `heap` for heaps. '' for
    all others."""
    _, kind, *rest = name.split("_")
    if kind in ("str", "sort", "heap"):
        return "heap" if name == "pyj_sort_before" else "str of floats" if name in _OF_FLOATS else kind
    if kind == "table":
        return f"table {rest[-1]}" if len(rest) > 1 else kind
    if kind == "native" and name in natives.TEXT:
        return kind
    key = rest[-1] if kind == "set" else rest[1] if len(rest) > 1 else ""
    return f"{kind} {key}" if kind in ("dict", "set") and key in ("int", "str", "pair") else ""


def is_often_called(name: str) -> bool:
    """Whether LLVM optimises the helper together with the code around it. What frees native objects (R) keeps their
    memory for the next ones of the same module."""
    return name.startswith(("pyj_dot_", "pyj_copy_", "pyj_native_dead_")) or (
        name.startswith(("pyj_native_free_", "pyj_drop_")) and "R" in name)


def declare(body: str, declarations: dict[str, None]) -> list[str]:
    """Add declarations of all that `body` refers to, and return their symbols."""
    found = [symbol for symbol in _DECLARATIONS if f"@{symbol}" in body]
    declarations.update((_DECLARATIONS[symbol], None) for symbol in found)
    return found


def text(names, declarations: dict[str, None], nogil: bool = False, inlined: tuple[str, ...] = (),
         pooled: bool = False) -> str:
    """The definitions of the helpers `names`; adds declarations of what they refer to. nogil: the helpers take the
    interpreter lock; inlined: helpers that the target inlines; pooled: for code that threads of the pool run."""
    parts = []
    locked = {}
    for name in names:
        body = TEXT[name]
        if pooled and name == "pyj_signals":  # it handles regions, and takes the lock itself
            body = body.replace("@PyErr_CheckSignals(", "@pyjitc_signals(")
            declarations["declare i32 @pyjitc_signals()"] = None
        with_lock = {**_LOCKED, **_RELEASES} if name == "pyj_release_header" else _LOCKED
        for symbol in declare(body, declarations):
            if nogil and symbol in with_lock:
                locked[symbol] = with_lock[symbol]
                body = body.replace(f"@{symbol}(", f"@pyj_locked_{symbol}(")
        # Optimising code that is called rarely, or waits for malloc, would cost more than most kernels do. Helpers that
        # run in loops are optimised; without nogil they are in images of their own (shared.py).
        parts.append(body if is_often_called(name) or nogil and search_of(name)
                     else body.replace(" noinline", " alwaysinline" if name in inlined else " noinline optnone"))
    for symbol in sorted(locked):
        result, args = locked[symbol]
        parts.append(f"""
define internal {result} @pyj_locked_{symbol}({args}) nounwind noinline cold {{
  %state = call i32 @PyGILState_Ensure()
  {'' if result == 'void' else '%result = '}call {result} @{symbol}({args})
  call void @PyGILState_Release(i32 %state)
  ret {result}{'' if result == 'void' else ' %result'}
}}""")
        declarations["declare i32 @PyGILState_Ensure()"] = declarations["declare void @PyGILState_Release(i32)"] = None
    return "\n".join(parts)
