"""The part of the interpreter in sorting a list by keys that are numbers (ops/sorting.py)."""
from __future__ import annotations

import struct

__all__ = ["sort_by"]


def sort_by(x: list, keys: bytes, kinds: str, n: int, reverse: bool) -> None:
    """Sort a list by n keys, at least one of which is nan. kinds: the format characters of a key for `struct`."""
    numbers = struct.iter_unpack(kinds, keys[:n * struct.calcsize(kinds)])
    x.sort(key=lambda item: next(numbers), reverse=reverse)
