"""How instructions that fail share the releases of the references that the function holds.

A function with many arrays holds many of them at each instruction that may fail. If each such instruction had releases
of its own, the code would grow with the square of the number of arrays. So the releases form a tree: a node releases
one value and leads to the node above it, and at the root nothing is held. If an instruction holds one value more than
another one, as the first or the last in order, it releases that value and goes on at the node of the other one.
Otherwise it releases first what few instructions hold, and last what many hold, so that its path ends like the paths of
others. A block of code starts at each node at which an instruction begins, and at each node at which several paths
meet.

Python objects are released in the order of the cleanup, because finalizers can observe it.
"""
from __future__ import annotations

from collections import Counter

from ..ir import core as ir
from ..ops.memory import holds_object

__all__ = ["Exits"]


class Exits:
    """The tree for the instructions of a function. Nodes are numbers; at node 0 nothing is held any more."""

    def __init__(self, fn: ir.Function):
        cleanups = dict.fromkeys(inst.cleanup for block in fn.blocks for inst in block.insts if inst.unwind is None)
        held_by = Counter(value for cleanup in cleanups for value in cleanup)
        self.above: list[tuple[int, ir.Value | None]] = [(0, None)]  # for each node the next one, and what is released
        self.node: dict[tuple, int] = {}  # cleanup -> the node at which its releases start
        below: dict[tuple[int, ir.Value], int] = {}
        for cleanup in sorted(cleanups, key=len):
            at = 0  # where the path begins
            if cleanup[1:] in self.node:
                at, path = self.node[cleanup[1:]], [*cleanup[:1]]
            elif cleanup[:-1] in self.node and not holds_object(cleanup[-1].type):
                at, path = self.node[cleanup[:-1]], [cleanup[-1]]
            else:
                path = [v for v in reversed(cleanup) if holds_object(v.type)]
                path += sorted([v for v in cleanup if not holds_object(v.type)], key=lambda v: -held_by[v])
            for value in path:
                found = below.get((at, value))
                if found is None:
                    found = below[at, value] = len(self.above)
                    self.above.append((at, value))
                at = found
            self.node[cleanup] = at
        meeting = Counter(at for at, _ in self.above[1:])
        self.starts = {0, *self.node.values(), *[at for at, count in meeting.items() if count > 1]}

    def step(self, node: int) -> tuple[list, int]:
        """(the values that the block which starts at a node releases, the node at which the next block starts)."""
        values: list = []
        while not values or node not in self.starts:
            node, value = self.above[node]
            values.append(value)
        return values, node
