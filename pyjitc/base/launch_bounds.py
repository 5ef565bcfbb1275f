"""What is promised of a kernel's launches, and asked of its code on a GPU. A part of the keys of kept code."""
from __future__ import annotations

from typing import NamedTuple

__all__ = ["Bounds", "NONE"]


class Bounds(NamedTuple):
    """threads: the largest block; blocks: the least number of blocks on a multiprocessor; registers: the most of a
    thread; 0: nothing said. libdevice: NVIDIA's elementary functions instead of our own."""

    threads: int = 0
    blocks: int = 0
    registers: int = 0
    libdevice: bool = False


NONE = Bounds()
