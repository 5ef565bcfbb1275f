"""How native lists lie in memory: {i64 references, i64 length, i64 room, ptr items, ptr object, ptr memory,
ptr text}, the head.

`object` is the Python list that the native one has left as, so that a list that leaves at two places is one outside.
`memory` is where the memory of the items begins: before the first one where some were taken away at the front.
Where items are places of parts in a text, `text` is that, and `object` the part that was read last, or null.
"""
from __future__ import annotations

from ..types.kinds import NativeList, Type, is_refcounted

__all__ = ["BASE", "COUNT", "DATA", "HEAD", "LENGTH", "OBJECT", "ROOM", "SOURCE", "release_of", "stride"]

COUNT, LENGTH, ROOM, DATA, OBJECT, BASE, SOURCE, HEAD = 0, 8, 16, 24, 32, 40, 48, 56  # offsets, and its bytes


def stride(components: tuple[str, ...]) -> int:
    """Bytes from one item to the next: a single component has its own size, of more each has 8 bytes."""
    if len(components) == 1:
        return {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}.get(components[0], 8)
    return 8 * max(len(components), 1)


def layout(e, t: Type) -> str:
    """What an item has, in the names of helpers: `n` where it has no references, else what its `words` are."""
    return "".join(words(e, t)) if is_refcounted(t) else "n"


def words(e, t: Type) -> list[str]:
    """What each machine word of a value is: `n` a number, `o` a reference to an object, and `L...E` one to a native
    list of such items."""
    if not is_refcounted(t):
        return ["n"] * len(e.components(t))
    if isinstance(t, NativeList):
        return [f"L{layout(e, t.item)}E"]
    return ["o"] if t.parts is None else [word for part in t.parts for word in words(e, part)]


def release_of(e, t: NativeList) -> str:
    """Name of the helper that gives up a reference to a native list."""
    return f"pyj_native_release_{layout(e, t.item)}"
