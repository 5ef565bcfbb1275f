"""Bounds for the launches of a kernel and for its code on a GPU. They are part of the keys of cached code."""
from __future__ import annotations

from typing import NamedTuple

__all__ = ["Bounds", "NONE"]


class Bounds(NamedTuple):
    """threads: the largest block; blocks: the minimum number of blocks on a multiprocessor; registers: the maximum
    of a thread; 0: no bound. libdevice: use NVIDIA's elementary functions instead of this package's."""

    threads: int = 0
    blocks: int = 0
    registers: int = 0
    libdevice: bool = False


NONE = Bounds()
