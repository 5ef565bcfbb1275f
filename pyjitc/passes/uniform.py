"""Which values are the same for all threads of a block, and whether threads may part at a wait.

A value varies where it is computed from the thread's number, loaded, or merged behind a branch on such a value. Two
threads part where a branch that varies leads to different waits, or to a wait and on, before its ways meet again.
Used by grid; finds, changes nothing. A `wait` is a jump with that attribute.
Source: Karrenberg, Hack: Whole-Function Vectorization (2011); Coutinho et al.: Divergence Analysis and Optimizations
(2011).
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import in_edges, reverse_postorder, successors
from ..ops.control import RETURN

__all__ = ["Uniformity"]

_FAILS = ("throw", "unreachable")  # an error ends the launch, whoever made it


class Uniformity:
    """varying: values; parts: whether threads may part. own: values that follow from the thread's number; uniform:
    operations whose result is the same for all where their operands are."""

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
        """Mark the parameters that depend on a branch which differs between threads; whether there were new ones."""
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
        """(blocks between a branch and where its ways meet, waits and returns among their ends)."""
        seen: set[ir.Block] = set()
        waits: set = set()
        self.meets = False  # whether the meeting comes before any wait, on some way
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
    """Block -> the nearest block that all ways to the end pass, None: only the end itself."""
    index = {b: k for k, b in enumerate(order)}
    last = len(order)  # the end
    after = [[index[s] for s in successors(b)] for b in order]
    fails = {k for k, b in enumerate(order) if b.insts[-1].op.name in _FAILS}
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
                # the nearest one is postdominated by all the others
                if best is None or sets[best] >> other & 1 == 0:
                    best = other
        found[b] = None if best is None else order[best]
    return found
