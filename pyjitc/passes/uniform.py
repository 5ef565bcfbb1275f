"""Divergence analysis: which values are uniform over the threads of a block, and whether threads may diverge at a wait.

A value varies where it is computed from the thread's number, loaded, or merged after a branch on such a value. Threads
diverge at a wait where a branch on a varying value leads to different waits, or to a wait on one path only, before its
paths join again. Used by grid; an analysis, which changes nothing. A `wait` is a jump with that attribute.
Source: Karrenberg, Hack: Whole-Function Vectorization (2011); Coutinho et al.: Divergence Analysis and Optimizations
(2011).
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import in_edges, reverse_postorder, successors
from ..ops.control import RETURN, UNREACHABLE
from ..ops.exceptions import THROW

__all__ = ["Uniformity"]

_FAILS = (THROW, UNREACHABLE)  # an error ends the launch, whoever made it


class Uniformity:
    """varying: the values that vary; parts: whether threads may diverge at a wait. own: values that follow from the
    thread's number; uniform: operations whose result is uniform where their operands are."""

    def __init__(self, fn: ir.Function, own: set[ir.Value], is_uniform):
        self.order = [b for b in reverse_postorder(fn)]
        self.edges = in_edges(self.order)
        self.behind = _postdominators(self.order)
        self.varying = set(own)
        self.parts = False
        changed = True
        while changed:
            changed = self.spread(is_uniform) | self.diverge()

    def spread(self, is_uniform) -> bool:
        before = len(self.varying)
        varying = self.varying
        again = True
        while again:
            again = False
            for block in self.order:
                for inst in block.insts:
                    r = inst.result
                    if (r is not None and r not in varying
                        and (not is_uniform(inst) or any(x in varying for x in inst.args))):
                        varying.add(r)
                        again = True
                for edge in block.edges():
                    for p, x in zip(edge.block.params, edge.args):
                        if x in varying and p not in varying:
                            varying.add(p)
                            again = True
        return len(varying) > before

    def diverge(self) -> bool:
        """Mark the parameters that depend on a branch on a varying value; returns whether any is newly marked."""
        before = len(self.varying)
        for block in self.order:
            last = block.insts[-1]
            if len(last.targets) < 2 or last.args[0] not in self.varying:
                continue
            join = self.behind[block]
            inside, waits = self.walk(block, join)
            for where in (*inside, *([join] if join is not None else [])):
                for k, p in enumerate(where.params):
                    if len({e.args[k] for _, _, e in self.edges[where]}) > 1:
                        self.varying.add(p)
            if len(waits) > 1 or waits and self.meets:
                self.parts = True
        return len(self.varying) > before

    def walk(self, block, join):
        """(blocks between a branch and its join, the waits and returns at which these end)."""
        seen: set[ir.Block] = set()
        waits: set = set()
        self.meets = False  # whether some path reaches the join before any wait
        work = [(b, True) for b in successors(block)]
        while work:
            b, near = work.pop()
            if b is join:
                self.meets = self.meets or near
                continue
            if b in seen:
                continue
            seen.add(b)
            last = b.insts[-1]
            if near and "wait" in last.attrs:
                waits.add(last.attrs["wait"])
                near = False
            elif near and last.op is RETURN:
                waits.add(None)
            work += [(after, near) for after in successors(b)]
        return seen, waits


def _postdominators(order) -> dict[ir.Block, ir.Block | None]:
    """Block -> its immediate postdominator; None where that is only the end of the function."""
    index = {b: k for k, b in enumerate(order)}
    last = len(order)  # the number of the virtual node that follows all ends of the function
    after = [[index[s] for s in successors(b)] for b in order]
    fails = {k for k, b in enumerate(order) if b.insts[-1].op in _FAILS}
    for k, b in enumerate(order):
        if b.insts[-1].op is RETURN or not after[k]:
            after[k] = [last]
    sets = [(1 << last + 1) - 1 for _ in order] + [1 << last]
    changed = True
    while changed:
        changed = False
        for k in range(last - 1, -1, -1):
            if k in fails:
                continue
            new = -1
            for s in after[k]:
                if s not in fails:
                    new &= sets[s]
            new = (new if new != -1 else 1 << last) | 1 << k
            if new != sets[k]:
                sets[k] = new
                changed = True
    found: dict = {}
    for k, b in enumerate(order):
        best = None
        for other in range(last):
            if other != k and sets[k] >> other & 1 and k not in fails:
                # all others postdominate the nearest one
                if best is None or sets[best] >> other & 1 == 0:
                    best = other
        found[b] = None if best is None else order[best]
    return found
