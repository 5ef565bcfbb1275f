"""How native lists lie in memory: {i64 references, i64 length, i64 room, ptr items, ptr object, ptr memory,
ptr text}, the head.

`object` is the Python list that the native one has left as, so that a list that leaves at two places is one outside.
`memory` is where the memory of the items begins: before the first one where some were taken away at the front.
Where items are places of parts in a text, `text` is that, and `object` the part that was read last, or null.
"""
from __future__ import annotations

from ..types.kinds import Array, Cell, Iterator, NativeList, Type, is_refcounted

__all__ = ["BASE", "COUNT", "DATA", "HEAD", "LENGTH", "OBJECT", "ROOM", "SOURCE", "components_of", "layout",
           "release_of", "stride"]

COUNT, LENGTH, ROOM, DATA, OBJECT, BASE, SOURCE, HEAD = 0, 8, 16, 24, 32, 40, 48, 56  # offsets, and its bytes


def stride(components: tuple[str, ...]) -> int:
    """Bytes from one item to the next: a single component has its own size, of more each has 8 bytes."""
    if len(components) == 1:
        return {"i1": 1, "i8": 1, "i16": 2, "half": 2, "i32": 4, "float": 4}.get(components[0], 8)
    return 8 * max(len(components), 1)


def layout(e, t: Type) -> str:
    """What a list of items of type t, or a value of the type, has to give up, as a part of a symbol: for each component
    `n` for a number, `o` for a reference to a Python object, `a` for the owner of an array, `L...E` for a reference to
    a native list, `C...E` for one to a cell; `n` alone where there are only numbers."""
    if not is_refcounted(t):
        return "n"
    return "".join(_references(e, t))


def _references(e, t):
    if not is_refcounted(t):
        yield "n" * len(e.components(t))
    elif isinstance(t, NativeList):
        yield f"L{layout(e, t.item)}E"
    elif isinstance(t, Array):
        yield f"na{'n' * (len(e.components(t)) - 2)}"
    elif isinstance(t, (Cell, Iterator)):
        yield f"C{layout(e, t.content if isinstance(t, Cell) else t.state)}E"
    elif t.parts is None:
        yield "o"
    else:
        for part in t.parts:
            yield from _references(e, part)


def components_of(layout: str) -> list[str]:
    """The components of a layout, in the order in which they are stored."""
    found, begin, depth = [], 0, 0
    for at, letter in enumerate(layout):
        depth += {"C": 1, "L": 1, "E": -1}.get(letter, 0)
        if not depth:
            found.append(layout[begin:at + 1])
            begin = at + 1
    return found


def release_of(e, t: NativeList) -> str:
    """Name of the helper that gives up a reference to a native list."""
    return f"pyj_native_release_{layout(e, t.item)}"
