"""The runtime in LLVM text: small functions that compiled code calls, included in a module only when used.

Each has one text for all Python versions, except where the C API differs; all symbols are referred to by name.
"""
from __future__ import annotations

from ..base.lazy import lazy
from .declarations import symbols
from .definitions import borrowed

__all__ = ["TEXT", "is_often_called", "needed", "needs_few_passes", "search_of", "text"]

(decimals, drops, elements, errors, list_items, localtables, memory, mersenne, natives, objects, owned, scalars,
 sorting, strings, tables) = (
    lazy(f"{__package__}.{name}") for name in (
        "decimals", "drops", "elements", "errors", "list_items", "localtables", "memory", "mersenne", "natives",
        "objects", "owned", "scalars", "sorting", "strings", "tables"))
# The first word of a helper's name -> the module with helpers that is loaded when one of them is used.
_HOMES = {"str": strings, "decimal": decimals, "sort": sorting, "heap": sorting, "table": localtables,
          "holds": list_items, "scalar": scalars,
          **dict.fromkeys(("dict", "set", "key", "versions", "pair", "int", "becomes", "str_hash", "str_same"), tables),
          **dict.fromkeys(("mersenne", "temper", "random"), mersenne),
          **dict.fromkeys(("new", "view", "step", "retain", "release", "same", "owning", "hold", "let", "give", "box",
                           "handle", "sizes", "drop"), memory),
          **dict.fromkeys(("throw", "fetch", "push", "pop", "rethrow", "reraise", "stack", "no", "trace"), errors),
          **dict.fromkeys(("place", "in", "look", "field", "set_attribute", "set_field", "put", "function"),
                        objects)}
_SIZES = {f"i{8 * size}": size for size in (1, 2, 4, 8, 16)}
_OF_FLOATS = frozenset(("pyj_decimal_of_float", "pyj_decimal_shortest"))  # helpers that use a large table


class _Texts(dict):
    """name -> definition. Helpers with a number or a type in their name are generated at their first use; modules with
    helpers that few programs need are loaded at the first use of one of them."""

    def __missing__(self, name: str) -> str:
        kind, _, of = name.removeprefix("pyj_").partition("_")
        home = _HOMES.get(f"{kind}_{of}") or _HOMES.get(kind)
        if name == "pyj_decimal_exponents":
            made = decimals.shortest()
        elif kind == "new" and of.isdigit():
            self.add(memory)
            made = memory.sized(int(of))
        elif kind == "drop" and of:
            made = drops.text_of(name)
        elif home is not None:
            self.add(home)
            made = home.TEXT[name]
        elif kind == "native" or kind == "owned":
            home = natives if kind == "native" else owned
            self.add(home)
            if name in self:
                return self[name]
            made = home.text_of(name)
        elif kind == "copy":
            made = elements.copy(of, _SIZES[of])
        elif kind == "eights":
            made = elements.eights(of)
        elif kind == "strided":
            made = elements.strided(of)
        elif kind == "dot":
            made = elements.dot(of)
        elif kind == "rows":
            made = elements.rows(of[:-2], int(of[-1]))
        elif kind == "product":
            made = elements.product(of)
        else:
            raise KeyError(name)
        self[name] = made
        return made

    def add(self, home) -> None:
        """Add the helpers of a module. A helper of natives may have been generated before."""
        for name, body in home.TEXT.items():
            self.setdefault(name, body)


TEXT = _Texts({
    "pyj_signals": """
define internal preserve_mostcc i32 @pyj_signals() nounwind noinline cold {
  %status = call i32 @PyErr_CheckSignals()
  ret i32 (zext i1 (icmp ne i32 %status, 0) to i32)
}""",
    "pyj_attribute": f"""
define internal ptr @pyj_attribute(ptr %x, ptr %name) nounwind {{
{borrowed("call ptr @PyObject_GetAttr(ptr %x, ptr %name)")}
}}""",
    # x / y of Python ints beyond 2**53, correctly rounded: long division to 55 bits, with the remainder as a sticky
    # bit.
    "pyj_int_truediv": """
define internal double @pyj_int_truediv(i64 %x, i64 %y) nounwind noinline cold {
  %mixed = xor i64 %x, %y  ; y == 0 counts as positive
  %negative = icmp slt i64 %mixed, 0
  %n = select i1 (icmp slt i64 %x, 0), i64 (sub i64 0, %x), i64 %x
  %ya = select i1 (icmp slt i64 %y, 0), i64 (sub i64 0, %y), i64 %y
  %none = icmp eq i64 %ya, 0
  %d = select i1 %none, i64 1, i64 %ya
  %q0 = udiv i64 %n, %d
  %r0 = urem i64 %n, %d
test:
  %q = phi i64 [ %q0, %0 ], [ %q2, %more ]
  %r = phi i64 [ %r0, %0 ], [ %r2, %more ]
  %unit = phi double [ 1.0, %0 ], [ %half, %more ]
  br i1 (or i1 (icmp uge i64 %q, 18014398509481984), (icmp eq i64 %r, 0)), label %done, label %more
more:
  %r1 = shl i64 %r, 1
  %one = icmp uge i64 %r1, %d
  %r2 = select i1 %one, i64 (sub i64 %r1, %d), i64 %r1
  %q2 = or i64 (shl i64 %q, 1), (zext i1 %one to i64)
  %half = fmul double %unit, 0.5
  br label %test
done:
  %rest = icmp ne i64 %r, 0
  %f = uitofp i64 (or i64 %q, (zext i1 %rest to i64)) to double
  %size = select i1 %none, double 0x7FF0000000000000, double (fmul double %f, %unit)
  ret double (select i1 %negative, double (fneg double %size), double %size)
}
""",
    # `last`: number of remaining items; `item`: the removed one
    "pyj_list_shorten": """
define internal i32 @pyj_list_shorten(ptr %list, i64 %last, ptr %item) nounwind alwaysinline {
  %room = load i64, ptr (getelementptr i8, ptr %list, i64 32), align 8
  br i1 (icmp sge i64 %last, (ashr i64 %room, 1)), label %cut, label %shrink
cut:
  store i64 %last, ptr (getelementptr i8, ptr %list, i64 16), align 8
  call void @pyj_release_object(ptr %item)
  ret i32 0
shrink:
  ret i32 (call i32 @PyList_SetSlice(ptr %list, i64 %last, i64 9223372036854775807, ptr null))
}""",
    "pyj_list_append": """
define internal i32 @pyj_list_append(ptr %list, ptr %x) nounwind alwaysinline {
  %size.at = getelementptr i8, ptr %list, i64 16
  %room.at = getelementptr i8, ptr %list, i64 32
  %size = load i64, ptr %size.at, align 8
  br i1 (icmp slt i64 %size, (load i64, ptr %room.at, align 8)), label %put, label %grow
put:
  %items.at = getelementptr i8, ptr %list, i64 24
  store ptr %x, ptr (getelementptr ptr, ptr (load ptr, ptr %items.at, align 8), i64 %size), align 8
  store i64 (add i64 %size, 1), ptr %size.at, align 8
  ret i32 0
grow:
  %status = call i32 @PyList_Append(ptr %list, ptr %x)
  call void @Py_DecRef(ptr %x)
  ret i32 %status
}""",
    # The collector may run a finalizer that changes the list while the tuple is allocated: then it is made anew.
    "pyj_tuple_from": """
define internal ptr @pyj_tuple_from(ptr %list, i64 %first) nounwind noinline {
  %size.at = getelementptr i8, ptr %list, i64 16
make:
  %size = load i64, ptr %size.at, align 8
  %rest = sub i64 %size, %first
  %n = select i1 (icmp sgt i64 %rest, 0), i64 %rest, i64 0
  %made = call ptr @PyTuple_New(i64 %n)
  br i1 (icmp eq ptr %made, null), label %done, label %look
look:
  br i1 (icmp eq i64 (load i64, ptr %size.at, align 8), %size), label %fill, label %drop
drop:
  call void @pyj_release_object(ptr %made)
  br label %make
fill:
  %items.at = getelementptr i8, ptr %list, i64 24
  %from = getelementptr ptr, ptr (load ptr, ptr %items.at, align 8), i64 %first
  %to = getelementptr i8, ptr %made, i64 24
next:
  %k = phi i64 [ 0, %fill ], [ %k1, %one ]
  br i1 (icmp eq i64 %k, %n), label %done, label %one
one:
  %x = load ptr, ptr (getelementptr ptr, ptr %from, i64 %k), align 8
  call void @pyj_retain_object(ptr %x)
  store ptr %x, ptr (getelementptr ptr, ptr %to, i64 %k), align 8
  %k1 = add i64 %k, 1
  br label %next
done:
  ret ptr %made
}""",
})

# The functions that need the interpreter lock, called in helpers that functions without the lock use.
_LOCKED = {
    "PyErr_NoMemory": ("ptr", ""), "PyErr_CheckSignals": ("i32", ""), "PyErr_SetString": ("void", "ptr %a, ptr %b"),
}
_RELEASES = {"Py_DecRef": ("void", "ptr %a")}  # in the helper that frees memory, which a NumPy array may own


def needs_few_passes(name: str, loops: bool) -> bool:
    """Whether a few passes of LLVM are enough for the helper and the code that calls it. loops: whether this code has
    loops, for which LLVM would move parts of an inlined helper out of the loop."""
    return not is_often_called(name) and (not loops or " noinline" in TEXT[name])


def search_of(name: str) -> str:
    """The group of helpers whose image LLVM optimises, since it runs in loops: the table and the class of keys that a
    helper searches, `str` for text, `decimal` for numbers as text, `decimal of floats` for formatting floats, `sort`
    for sorting, `heap` for heaps, and `holds` for the items of lists that are passed. '' for all others."""
    _, kind, *rest = name.split("_")
    if kind in ("str", "decimal", "sort", "heap", "holds"):
        return "heap" if name == "pyj_sort_before" else "decimal of floats" if name in _OF_FLOATS else kind
    if kind == "table":
        return f"table {rest[-1]}" if len(rest) > 1 else kind
    if kind == "native" and name in natives.TEXT:
        return kind
    key = rest[-1] if kind == "set" else rest[1] if len(rest) > 1 else ""
    return f"{kind} {key}" if kind in ("dict", "set") and key in ("int", "str", "pair") else ""


def is_often_called(name: str) -> bool:
    """Whether LLVM optimises the helper together with the code around it. Helpers that free native objects (R) keep
    the memory for new objects of the same module."""
    return name.startswith(("pyj_dot_", "pyj_rows_", "pyj_product_", "pyj_strided_", "pyj_copy_",
                            "pyj_native_dead_")) or (
        name.startswith(("pyj_native_free_", "pyj_drop_")) and "R" in name)


_SIGNALS = "declare preserve_mostcc i32 @pyj_signals() nounwind cold"  # see runtime/thunks.py


def needed(name: str) -> list[str]:
    """The other helpers whose symbols the text of a helper has. `@pyj_stack.deep` is defined in the text of
    `pyj_stack`."""
    used = dict.fromkeys("pyj_" + rest.partition(".")[0] for rest in symbols(TEXT[name], "@pyj_"))
    return [other for other in used if other != name]


def text(names, nogil: bool = False, inlined: tuple[str, ...] = (), pooled: bool = False) -> str:
    """The definitions of the helpers `names`. nogil: the helpers take the interpreter lock; inlined: helpers that the
    target inlines; pooled: for code that threads of the pool run."""
    parts = []
    locked = {}
    for name in names:
        if name == "pyj_signals" and not pooled:  # LLVM would compile it for each loop
            parts.append(_SIGNALS)
            continue
        body = pooled and natives.of_threads(name) or (pooled or nogil) and memory.SHARED.get(name) or TEXT[name]
        if pooled and name == "pyj_signals":  # it handles regions, and takes the lock itself
            body = body.replace("@PyErr_CheckSignals(", "@pyjitc_signals(")
        with_lock = {**_LOCKED, **_RELEASES} if name == "pyj_release_header" else _LOCKED
        for symbol in with_lock if nogil else ():
            if f"@{symbol}(" in body:
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
    return "\n".join(parts)
