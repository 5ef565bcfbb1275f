"""Helpers of native lists (ops/natives.py): what makes room, and what gives the memory back."""
from __future__ import annotations

import re

from ..ops.heads import BASE, COUNT, DATA, HEAD, LENGTH, OBJECT, ROOM

__all__ = ["DECLARATIONS", "NEEDS", "TEXT", "made", "needs"]


def _get(name: str, kind: str, pointer: str, offset: int) -> str:
    return f"  %{name}.at = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.at\n"


def _put(name: str, kind: str, value: str, pointer: str, offset: int) -> str:
    return f"  %{name} = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {kind} {value}, ptr %{name}\n"


_MOST = 1 << 58  # items: their bytes fit in an int of 64 bits, whatever one takes
# Room grows by half, as much as a list of the interpreter needs a few steps for.
TEXT = {
    "pyj_native_new": f"""
define internal noalias ptr @pyj_native_new(i64 %length, i64 %room, i64 %size) nounwind noinline {{
  %many = icmp ugt i64 %room, {_MOST}
  br i1 %many, label %fail, label %make
make:
  %head = call ptr @malloc(i64 {HEAD})
  %bad = icmp eq ptr %head, null
  br i1 %bad, label %fail, label %room.of
room.of:
  %none = icmp eq i64 %room, 0
  br i1 %none, label %fill, label %some
some:
  %bytes = mul i64 %room, %size
  %items = call ptr @malloc(i64 %bytes)
  %full = icmp eq ptr %items, null
  br i1 %full, label %undo, label %fill
undo:
  call void @free(ptr %head)
  br label %fail
fill:
  %data = phi ptr [ null, %room.of ], [ %items, %some ]
{_put("a", "i64", "1", "%head", COUNT)}{_put("b", "i64", "%length", "%head", LENGTH)}\
{_put("c", "i64", "%room", "%head", ROOM)}{_put("d", "ptr", "%data", "%head", DATA)}\
{_put("e", "ptr", "null", "%head", OBJECT)}{_put("f", "ptr", "%data", "%head", BASE)}
  ret ptr %head
fail:
  %error = call ptr @PyErr_NoMemory()
  ret ptr null
}}""",
    # More room than there is: that of items which were taken away at the front, if there are as many as are left.
    "pyj_native_grow": f"""
define internal i32 @pyj_native_grow(ptr %head, i64 %size) nounwind noinline {{
start:
{_get("room", "i64", "%head", ROOM)}{_get("old", "ptr", "%head", DATA)}{_get("base", "ptr", "%head", BASE)}
  %first = ptrtoint ptr %old to i64
  %begin = ptrtoint ptr %base to i64
  %gap = sub i64 %first, %begin
  %behind = icmp ne i64 %gap, 0
  br i1 %behind, label %move, label %count
move:
  %held = mul i64 %room, %size
  %moved = call ptr @memmove(ptr %base, ptr %old, i64 %held)
  store ptr %base, ptr %old.at
  %free = sdiv exact i64 %gap, %size
  %whole = add i64 %room, %free
  store i64 %whole, ptr %room.at
  %enough = icmp uge i64 %free, %room
  br i1 %enough, label %done, label %count
count:
  %all = phi i64 [ %room, %start ], [ %whole, %move ]
  %half = lshr i64 %all, 1
  %more = add i64 %all, %half
  %wanted = add i64 %more, 6
  %many = icmp ugt i64 %wanted, {_MOST}
  br i1 %many, label %fail, label %make
make:
  %bytes = mul i64 %wanted, %size
  %items = call ptr @realloc(ptr %base, i64 %bytes)
  %full = icmp eq ptr %items, null
  br i1 %full, label %fail, label %fill
fill:
{_put("a", "i64", "%wanted", "%head", ROOM)}{_put("b", "ptr", "%items", "%head", DATA)}\
{_put("c", "ptr", "%items", "%head", BASE)}
  br label %done
done:
  ret i32 0
fail:
  %error = call ptr @PyErr_NoMemory()
  ret i32 1
}}""",
    # room for one more item in front of the first, and for half as many as there are
    "pyj_native_front": f"""
define internal i32 @pyj_native_front(ptr %head, i64 %size) nounwind noinline {{
{_get("length", "i64", "%head", LENGTH)}{_get("old", "ptr", "%head", DATA)}{_get("base", "ptr", "%head", BASE)}
  %half = lshr i64 %length, 1
  %before = add i64 %half, 4
  %after = add i64 %length, 2
  %wanted = add i64 %before, %after
  %many = icmp ugt i64 %wanted, {_MOST}
  br i1 %many, label %fail, label %make
make:
  %bytes = mul i64 %wanted, %size
  %items = call ptr @malloc(i64 %bytes)
  %full = icmp eq ptr %items, null
  br i1 %full, label %fail, label %fill
fill:
  %gap = mul i64 %before, %size
  %data = getelementptr i8, ptr %items, i64 %gap
  %held = mul i64 %length, %size
  %moved = call ptr @memmove(ptr %data, ptr %old, i64 %held)
  call void @free(ptr %base)
{_put("a", "i64", "%after", "%head", ROOM)}{_put("b", "ptr", "%data", "%head", DATA)}\
{_put("c", "ptr", "%items", "%head", BASE)}
  ret i32 0
fail:
  %error = call ptr @PyErr_NoMemory()
  ret i32 1
}}""",
    "pyj_native_spread": f"""
define internal i32 @pyj_native_spread(ptr %head, i64 %from, i64 %by, i64 %size) nounwind noinline {{
start:
{_get("length", "i64", "%head", LENGTH)}
  %new = add i64 %length, %by
  br label %look
look:
{_get("room", "i64", "%head", ROOM)}
  %fits = icmp sle i64 %new, %room
  br i1 %fits, label %move, label %grow
grow:
  %status = call i32 @pyj_native_grow(ptr %head, i64 %size)
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %fail, label %look
move:
{_get("data", "ptr", "%head", DATA)}
  %some = icmp slt i64 %from, %length
  br i1 %some, label %shift, label %done
shift:
  %places = sub i64 %length, %from
  %bytes = mul i64 %places, %size
  %first = mul i64 %from, %size
  %source = getelementptr i8, ptr %data, i64 %first
  %step = mul i64 %by, %size
  %target = getelementptr i8, ptr %source, i64 %step
  %moved = call ptr @memmove(ptr %target, ptr %source, i64 %bytes)
  br label %done
done:
  store i64 %new, ptr %length.at
  ret i32 0
fail:
  ret i32 1
}}""",
    "pyj_native_retain": """
define internal void @pyj_native_retain(ptr %head) nounwind alwaysinline {
  %none = icmp eq ptr %head, null
  br i1 %none, label %done, label %some
some:
  %old = load i64, ptr %head, align 8
  %new = add i64 %old, 1
  store i64 %new, ptr %head, align 8
  br label %done
done:
  ret void
}""",
}
DECLARATIONS = {"realloc": "declare ptr @realloc(ptr, i64)", "memmove": "declare ptr @memmove(ptr, ptr, i64)"}


def _components(layout: str) -> list[str]:
    """The parts of a layout that stand beside each other."""
    found, at = [], 0
    while at < len(layout):
        depth, end = 0, at
        while True:
            depth += {"L": 1, "E": -1}.get(layout[end], 0)
            end += 1
            if not depth:
                break
        found.append(layout[at:end])
        at = end
    return found


def needs(name: str) -> tuple[str, ...]:
    """The helpers that one of those made here calls."""
    kind, _, layout = name.removeprefix("pyj_native_").partition("_")
    if kind == "release":
        return (f"pyj_native_free_{layout}",)
    inner = [f"pyj_native_release_{part[1:-1]}" for part in _components(layout) if part[0] == "L"]
    return "pyj_release_object", *dict.fromkeys(inner)


def made(name: str) -> str:
    """A helper with a layout in its name: `pyj_native_release_...` gives up a reference, `pyj_native_free_...` the list
    itself, with its items from the last on, as the interpreter does."""
    kind, _, layout = name.removeprefix("pyj_native_").partition("_")
    if not re.fullmatch("[noLE]+", layout) or kind not in ("release", "free"):
        raise KeyError(name)
    if kind == "release":
        return f"""
define internal void @{name}(ptr %head) nounwind alwaysinline {{
  %none = icmp eq ptr %head, null
  br i1 %none, label %done, label %some
some:
  %old = load i64, ptr %head, align 8
  %new = add i64 %old, -1
  store i64 %new, ptr %head, align 8
  %last = icmp eq i64 %new, 0
  br i1 %last, label %free, label %done
free:
  call void @pyj_native_free_{layout}(ptr %head)
  br label %done
done:
  ret void
}}"""
    parts = _components(layout)
    given = []
    for k, part in enumerate(parts):
        if part != "n":
            helper = "pyj_release_object" if part == "o" else f"pyj_native_release_{part[1:-1]}"
            given.append(f"""  %p{k} = getelementptr i8, ptr %item, i64 {8 * k}
  %x{k} = load ptr, ptr %p{k}, align 8
  call void @{helper}(ptr %x{k})""")
    loop = f"""
{_get("length", "i64", "%head", LENGTH)}
  br label %look
look:
  %left = phi i64 [ %length, %start ], [ %i, %give ]
  %ended = icmp eq i64 %left, 0
  br i1 %ended, label %rest, label %give
give:
  %i = add i64 %left, -1
  %offset = mul i64 %i, {8 * len(parts)}
  %item = getelementptr i8, ptr %data, i64 %offset
{chr(10).join(given)}
  br label %look
rest:""" if given else ""
    # That of numbers is in the image of the helpers of native lists; the others are in the modules that need them,
    # since there is no end of them.
    return f"""
define internal void @{name}(ptr %head) nounwind {"" if given else "noinline "}{{
start:
{_get("data", "ptr", "%head", DATA)}{_get("object", "ptr", "%head", OBJECT)}{_get("base", "ptr", "%head", BASE)}{loop}
  call void @free(ptr %base)
  call void @pyj_release_object(ptr %object)
  call void @free(ptr %head)
  ret void
}}"""


_NUMBERS = "pyj_native_free_n"
TEXT[_NUMBERS] = made(_NUMBERS)
NEEDS = {_NUMBERS: needs(_NUMBERS), "pyj_native_spread": ("pyj_native_grow",)}
