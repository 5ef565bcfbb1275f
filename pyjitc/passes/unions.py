"""Disjoint sets of values (union-find, with path halving)."""
from __future__ import annotations

from typing import Any

__all__ = ["Unions"]


class Unions:
    """Sets of values, each at first in a set of its own."""

    def __init__(self) -> None:
        self._up: dict = {}  # value -> another one of its set, nearer to the representative

    def of(self, x) -> Any:
        """The representative of the set that x is in."""
        up = self._up
        while x in up:
            y = up[x]
            if y in up:
                up[x] = up[y]
            x = y
        return x

    def join(self, x, y) -> None:
        """Make one set of the sets of x and y; its representative is that of y."""
        x, y = self.of(x), self.of(y)
        if x is not y:
            self._up[x] = y
