"""What compiled code asks of the interpreter when it sorts a list by keys that are numbers (ops/sorting.py)."""
from __future__ import annotations

import struct

__all__ = ["sort_by"]


def sort_by(x: list, keys: bytes, kinds: str, n: int, reverse: bool) -> None:
    """Sort a list by keys of which one is a nan. kinds: the format characters of `struct` for the numbers of a key."""
    numbers = struct.iter_unpack(kinds, keys[:n * struct.calcsize(kinds)])
    x.sort(key=lambda item: next(numbers), reverse=reverse)
