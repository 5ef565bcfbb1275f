"""The memory layout of native lists: {i64 references, i64 length, i64 room, ptr items, ptr object, ptr memory,
ptr text}, the head.

`object` is the Python list to which the native list was converted when it escaped, so that a list that escapes at two
places is one Python list. `memory` is the start of the memory of the items; it is before the first item if items were
removed at the front. A short list has its items in the same allocation, after the head. If items are positions of parts
in a text, `text` is that text, and `object` is the part that was read last, or null.
"""
from __future__ import annotations

from ..types.kinds import NativeObject, NoneType, Type, Union, Within, is_refcounted

__all__ = ["BASE", "COUNT", "DATA", "HEAD", "LENGTH", "OBJECT", "ROOM", "SOURCE", "components_of", "giver", "in_memory",
           "layout", "other_than_none", "reference_kinds", "stride"]

# offsets of the fields, and the size of the head
COUNT, LENGTH, ROOM, DATA, OBJECT, BASE, SOURCE, HEAD = 0, 8, 16, 24, 32, 40, 48, 56


def stride(components: tuple[str, ...]) -> int:
    """Bytes from one item to the next: a single component has its own size, several components have 8 bytes each."""
    if len(components) == 1:
        return {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}.get(components[0], 8)
    return 8 * max(len(components), 1)


def layout(e, t: Type) -> str:
    """A description of the references to release in a value of type t, such as an item of a list, as a part of a
    symbol: a single `n` for a value of numbers only, else `reference_kinds`."""
    return "".join(reference_kinds(e, t)) if is_refcounted(t) else "n"


def reference_kinds(e, t: Type) -> list[str]:
    """The kind of each component of a value of type t: `n` for a number, `o` for a reference to a Python object, `a`
    for the owner of an array, `L...E` for a reference to a native list, `C...E` for one to a cell, `R...E` for one to a
    native object, `B` and a letter for one to an enclosing object, `Ba` to the innermost."""
    if not is_refcounted(t):
        return ["n"] * len(e.components(t))
    if t.parts is not None:
        return [kind for part in t.parts for kind in reference_kinds(e, part)]
    return _KINDS[t.counted](e, t)


def _kinds_of_array(e, t) -> list[str]:
    return ["n", "a", *["n"] * (len(e.components(t)) - 2)]


def _kinds_of_instance(e, t) -> list[str]:
    held = [other_than_none(part) or part for part in t.held]
    return [f"R{''.join([kind for one in held for kind in reference_kinds(e, one)])}E"]


# What counts the references of a type (`counted` in types/kind.py) -> a function that returns the kinds of its
# components.
_KINDS = {
    "object": lambda e, t: ["o"], "table": lambda e, t: ["o"], "array": _kinds_of_array,
    "cell": lambda e, t: [f"C{layout(e, *t.held)}E"], "list": lambda e, t: [f"L{layout(e, *t.held)}E"],
    "instance": _kinds_of_instance, "enclosing": lambda e, t: [f"B{chr(97 + t.level)}"],
}


def components_of(layout: str, around: str = "") -> list[str]:
    """The components of a layout, in the order in which they are stored. around: the layout of the object that contains
    them, which stands for references to it."""
    found, at = [], 0
    while at < len(layout):
        part, at = _component(layout, at, around)
        found.append(part)
    return found


def _component(layout: str, at: int, around: str, inside: int = 0) -> tuple[str, int]:
    """(the component of a layout that begins at position `at`, the position after it). inside: the number of other
    objects around the component. A reference to the enclosing object `around` is replaced by that object's layout."""
    text, at = layout[at], at + 1
    if text == "B":
        level = ord(layout[at]) - 97
        return around if level == inside else text + layout[at], at + 1
    if text in "CLR":
        inside += text == "R"
        while layout[at] != "E":
            part, at = _component(layout, at, around, inside)
            text += part
        text, at = text + "E", at + 1
    return text, at


def giver(part: str) -> str:
    """The name of the helper that releases a component, which is a reference."""
    if part in ("a", "o"):
        return "pyj_release" if part == "a" else "pyj_release_object"
    if part[0] == "R":
        return f"pyj_native_drop_{part}"
    return {"C": "pyj_drop_box_", "L": "pyj_native_release_"}[part[0]] + part[1:-1]


def other_than_none(t: Type) -> Type | None:
    """The type of the native object for an attribute that is this object or None, so that a pointer, which may be null,
    represents it. Returns None for an attribute of any other type."""
    if isinstance(t, Union) and len(t.members) == 2 and NoneType in t.members:
        (found,) = [m for m in t.members if m is not NoneType]
        return found if isinstance(found, (NativeObject, Within)) else None
    return None


def in_memory(e, t: Type) -> tuple[str, ...]:
    """The LLVM types of the components of an attribute in the memory of a native object."""
    return e.components(other_than_none(t) or t)
