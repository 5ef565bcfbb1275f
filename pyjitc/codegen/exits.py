"""How instructions that fail share the releases of the references that the function holds.

A function with many arrays holds many of them at each instruction that may fail. If each such instruction had releases
of its own, the code would grow with the square of the number of arrays. So the releases form a tree: a node releases
one value and leads to the node above it, and at the root nothing is held. The path of an instruction goes on at the
node at which most of what it holds is held and nothing else. Before that it releases what is left, first what few
instructions hold, and last what many hold, so that its path ends like the paths of others.
A block of code starts at each node at which an instruction begins, and at each node at which several paths
meet.

Python objects are released in the order of the cleanup, because finalizers can observe it.
"""
from __future__ import annotations

from collections import Counter

from ..ir import core as ir
from ..ops.memory import holds_object

__all__ = ["Exits"]

_EXAMINED = 2000  # the most nodes at which a path may go on; they are examined for each path


class Exits:
    """The tree for the instructions of a function. Nodes are numbers; at node 0 nothing is held any more."""

    def __init__(self, fn: ir.Function):
        cleanups = dict.fromkeys(inst.cleanup for block in fn.blocks for inst in block.insts if inst.unwind is None)
        held_by = Counter(value for cleanup in cleanups for value in cleanup)
        bit = {value: 1 << n for n, value in enumerate(held_by)}
        of_object = {value for value in held_by if holds_object(value.type)}
        objects = sum([bit[value] for value in of_object])
        self.above: list[tuple[int, ir.Value | None]] = [(0, None)]  # for each node the next one, and what is released
        self.node: dict[tuple, int] = {}  # cleanup -> the node at which its releases start
        held = [0]  # for each node the values that are held there, as bits
        below: dict[tuple[int, ir.Value], int] = {}
        for cleanup in sorted(cleanups, key=len):
            every = sum([bit[value] for value in cleanup])
            at, most = 0, 0
            for node in range(len(held) - 1, max(0, len(held) - _EXAMINED), -1):
                if not held[node] & ~every and (count := held[node].bit_count()) > most and _end_alike(
                        [bit[v] for v in cleanup if v in of_object], held[node] & objects):
                    at, most = node, count
            rest = [v for v in cleanup if not bit[v] & held[at]]
            path = [v for v in reversed(rest) if v in of_object]
            path += sorted([v for v in rest if v not in of_object], key=lambda v: -held_by[v])
            for value in path:
                found = below.get((at, value))
                if found is None:
                    found = below[at, value] = len(self.above)
                    self.above.append((at, value))
                    held.append(held[at] | bit[value])
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


def _end_alike(order: list[int], objects: int) -> bool:
    """Whether `objects` are the last ones in order."""
    last = order[len(order) - objects.bit_count():]
    return sum(last) == objects
