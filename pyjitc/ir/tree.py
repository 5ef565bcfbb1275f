"""Trees of element functions, which a loop nest computes at each index (ops/nest.py)."""
from __future__ import annotations

__all__ = ["Leaf", "Node"]


class Leaf:
    """Operand `index` of a nest: an array (its element) or a scalar."""

    __slots__ = ("index",)

    def __init__(self, index: int):
        self.index = index


class Node:
    """A kernel (a typed ir.Function from elements to an element) applied to sub-trees. A node may occur several times
    in a tree; it is computed once."""

    __slots__ = ("kernel", "parts")

    def __init__(self, kernel, parts):
        self.kernel = kernel
        self.parts = tuple(parts)
