"""How native lists lie in memory: {i64 references, i64 length, i64 room, ptr items, ptr object, ptr memory,
ptr text}, the head.

`object` is the Python list that the native one has left as, so that a list that leaves at two places is one outside.
`memory` is where the memory of the items begins: before the first one where some were taken away at the front.
Where items are places of parts in a text, `text` is that, and `object` the part that was read last, or null.
"""
from __future__ import annotations

from ..types.kinds import NativeList, NativeObject, NoneType, Type, Union, Within, is_refcounted

__all__ = ["BASE", "COUNT", "DATA", "HEAD", "LENGTH", "OBJECT", "ROOM", "SOURCE", "in_memory", "other_than_none",
           "release_of", "stride"]

COUNT, LENGTH, ROOM, DATA, OBJECT, BASE, SOURCE, HEAD = 0, 8, 16, 24, 32, 40, 48, 56  # offsets, and its bytes


def stride(components: tuple[str, ...]) -> int:
    """Bytes from one item to the next: a single component has its own size, of more each has 8 bytes."""
    if len(components) == 1:
        return {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}.get(components[0], 8)
    return 8 * max(len(components), 1)


def layout(e, t: Type) -> str:
    """What a list of items of type t has to give up, as a part of a symbol: for each component `n` for a number, `o`
    for a reference to a Python object, `L...E` for one to a native list, `R...E` for one to a native object, `B` and a
    letter for one to an object around, of which `a` is the innermost; `n` alone where there are only numbers."""
    if not is_refcounted(t):
        return "n"
    return "".join(_references(e, t))


def _references(e, t):
    if not is_refcounted(t):
        yield "n" * len(e.components(t))
    elif isinstance(t, NativeList):
        yield f"L{layout(e, t.item)}E"
    elif isinstance(t, NativeObject):
        held = [other_than_none(part) or part for _, part in t.attributes]
        yield f"R{''.join([part for one in held for part in _references(e, one)])}E"
    elif isinstance(t, Within):
        yield f"B{chr(97 + t.level)}"
    elif t.parts is None:
        yield "o"
    else:
        for part in t.parts:
            yield from _references(e, part)


def other_than_none(t: Type) -> Type | None:
    """The native object that an attribute is if it is not None: the pointer alone says which it is. None: the attribute
    may be something else."""
    if isinstance(t, Union) and len(t.members) == 2 and NoneType in t.members:
        (found,) = [m for m in t.members if m is not NoneType]
        return found if isinstance(found, (NativeObject, Within)) else None
    return None


def in_memory(e, t: Type) -> tuple[str, ...]:
    """The components of an attribute where a native object has it."""
    return e.components(other_than_none(t) or t)


def release_of(e, t: NativeList | NativeObject) -> str:
    """Name of the helper that gives up a reference to a native list or object."""
    if isinstance(t, NativeObject):
        return f"pyj_native_drop_{layout(e, t)}"
    return f"pyj_native_release_{layout(e, t.item)}"
