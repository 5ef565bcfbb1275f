"""What code is made for: a plain value, part of cache keys."""
from __future__ import annotations

from collections import namedtuple

__all__ = ["Target"]


class Target(namedtuple("Target", "triple cpu features layout")):
    """triple, cpu, features, layout: LLVM's own texts. The host's is made by `link.host_target()`."""

    __slots__ = ()

    @property
    def permutes(self) -> bool:
        """Whether one instruction looks up a vector of numbers in a table that fills a register of 64 bytes."""
        return "+avx512f" in self.features.split(",")
