"""The control-flow graph of a function: order, predecessors, dominators, natural loops.

Everything is computed from the blocks at each call and cached nowhere: a pass that changes edges calls again.
Exceptional edges count as edges. They leave from the middle of a block, so a value that a block defines need
not reach the block's handlers; `Dominators(fn, split=True)` distinguishes the two.
"""
from __future__ import annotations

from typing import Callable, Collection, Iterable

from .core import Block, Edge, Function, Inst

__all__ = ["successors", "postorder", "cycles", "reverse_postorder", "reachable_blocks", "closure", "blocks_after",
           "is_straight", "predecessors", "in_edges", "Dominators", "Loop", "LoopNest"]


def successors(block: Block) -> list[Block]:
    """Target blocks of all edges that leave `block`, without duplicates, in order."""
    insts = block.insts
    found = [inst.unwind.block for inst in insts if inst.unwind is not None]
    if insts:
        for edge in insts[-1].targets:
            found.append(edge.block)
    return found if len(found) < 2 else list(dict.fromkeys(found))


def postorder(entry, successors_of, seen: set | None = None) -> list:
    """The nodes of a graph that can be reached from `entry`, each after its successors except for edges back to a node
    that is being visited. seen: nodes to leave out, to which those that are found are added."""
    order, seen = [], set() if seen is None else seen
    seen.add(entry)
    stack = []
    node, rest = entry, iter(successors_of(entry))
    while True:
        for succ in rest:
            if succ not in seen:
                seen.add(succ)
                stack.append((node, rest))
                node, rest = succ, iter(successors_of(succ))
                break
        else:
            order.append(node)
            if not stack:
                return order
            node, rest = stack.pop()


def cycles(nodes, successors_of) -> list[list]:
    """The strongly connected components of a graph that contain a cycle, by Tarjan's algorithm. Successors that are not
    among the nodes do not count."""
    nodes = dict.fromkeys(nodes)
    number: dict = {}
    low: dict = {}
    path: dict = {}  # the nodes of components that are not complete, in the order of their numbers
    found = []
    for root in nodes:
        work = [] if root in number else [(root, iter(successors_of(root)))]
        while work:
            node, rest = work[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                path[node] = None
            for to in rest:
                if to in nodes and to not in number:
                    work.append((to, iter(successors_of(to))))
                    break
                if to in path:
                    low[node] = min(low[node], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    group = list(path)[list(path).index(node):]
                    for one in group:
                        del path[one]
                    if len(group) > 1 or node in successors_of(node):
                        found.append(group)
    return found


def reachable_blocks(fn: Function) -> set[Block]:
    """The blocks that control can reach."""
    return {fn.entry} | blocks_after(fn.entry)


def closure(starts: Iterable, following: Callable) -> dict:
    """The nodes of a graph that can be reached from `starts`, which are among them, as keys in the order in which they
    were found. following: a node -> the nodes after it."""
    found = dict.fromkeys(starts)
    work = list(found)
    while work:
        for node in following(work.pop()):
            if node not in found:
                found[node] = None
                work.append(node)
    return found


def blocks_after(block: Block, without: Collection[Block | None] = ()) -> set[Block]:
    """The blocks that control can reach from the end of a block and not through those of `without`; the block itself is
    one if it is on a cycle."""
    def following(one: Block) -> list[Block]:
        return [succ for succ in successors(one) if succ not in without]

    return set(closure(following(block), following if without else successors))


def reverse_postorder(fn: Function) -> list[Block]:
    """The reachable blocks, each before its successors except along back edges; the entry first."""
    order = postorder(fn.entry, successors)
    order.reverse()
    return order


def is_straight(fn: Function) -> bool:
    """Whether no edge leads back, so that every block runs at most once."""
    later: set[Block] = set()
    for block in postorder(fn.entry, successors):
        if not later.issuperset(successors(block)):
            return False
        later.add(block)
    return True


def predecessors(blocks: Iterable[Block]) -> dict[Block, list[Block]]:
    """Block -> the blocks among `blocks` with an edge to it, without duplicates."""
    preds: dict[Block, list[Block]] = {block: [] for block in blocks}
    for block in list(preds):
        for succ in successors(block):
            preds.setdefault(succ, []).append(block)
    return preds


def in_edges(blocks: Iterable[Block]) -> dict[Block, list[tuple[Block, Inst, Edge]]]:
    """Block -> (source block, instruction, edge) of every incoming edge from `blocks`."""
    found: dict[Block, list[tuple[Block, Inst, Edge]]] = {block: [] for block in blocks}
    for block in list(found):
        for inst in block.insts:
            if inst.unwind is not None:
                found.setdefault(inst.unwind.block, []).append((block, inst, inst.unwind))
        if block.insts:
            for edge in inst.targets:
                found.setdefault(edge.block, []).append((block, inst, edge))
    return found


class _Tail:
    """The end of a block that exceptional edges leave from the middle: a separate node in a split dominator tree."""

    __slots__ = ("block",)

    def __init__(self, block: Block):
        self.block = block


class Dominators:
    """The dominator tree (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm).

    order: reachable nodes in reverse post-order; idom: node -> immediate dominator (the entry: itself);
    entered: node -> its entry time in a depth-first walk over the tree, before those of the nodes that it dominates.
    With `split`, a block with exceptional edges from its middle is two nodes: the Block represents its start, from
    which these edges leave, and `tails[block]`, which it dominates, represents its instructions. The values that the
    block defines are available exactly in the nodes that the tail dominates.
    """

    def __init__(self, fn: Function, split: bool = False):
        self.tails: dict[Block, _Tail] = {}
        succs: dict = {}
        self.successors = succs
        if split:
            def successors_of(node):
                found: list[Block | _Tail]
                if isinstance(node, _Tail):
                    found = [edge.block for edge in node.block.terminator.targets]
                else:
                    handlers = [inst.unwind.block for inst in node.insts if inst.unwind is not None]
                    if handlers:
                        tail = self.tails[node] = _Tail(node)
                        found = [*dict.fromkeys(handlers), tail]
                    else:
                        found = [edge.block for edge in node.terminator.targets]
                succs[node] = found
                return found
        else:
            def successors_of(node):
                found = succs[node] = successors(node)
                return found
        self._grow(fn.entry, successors_of)

    @classmethod
    def of_graph(cls, successors_of: list[list[int]]) -> Dominators:
        """The tree of a graph that is not a function's: node -> its successors; node 0 is the entry."""
        tree = cls.__new__(cls)
        tree.tails, tree.successors = {}, dict(enumerate(successors_of))
        tree._grow(0, successors_of.__getitem__)
        return tree

    def _grow(self, entry, successors_of):
        order = postorder(entry, successors_of)
        order.reverse()
        self.order = order
        successors = self.successors
        number = self.number = {node: k for k, node in enumerate(order)}
        preds: list[list[int]] = [[] for _ in order]
        for node in order:
            k = number[node]
            for succ in successors[node]:
                preds[number[succ]].append(k)
        idom = [-1] * len(order)
        idom[0] = 0
        changed = True
        while changed:
            changed = False
            for k in range(1, len(order)):
                new = -1
                for p in preds[k]:
                    if idom[p] < 0:
                        continue
                    if new < 0:
                        new = p
                        continue
                    while p != new:
                        while p > new:
                            p = idom[p]
                        while new > p:
                            new = idom[new]
                if idom[k] != new:
                    idom[k] = new
                    changed = True
        self.idom = {node: order[idom[k]] for k, node in enumerate(order)}
        self.children: dict = {node: [] for node in order}
        for k in range(1, len(order)):
            self.children[order[idom[k]]].append(order[k])
        self._intervals()

    def _intervals(self):
        """Number the nodes in a depth-first walk over the tree, and find the last number of each subtree, for tests of
        dominance in constant time."""
        entered: dict = {}
        work = [self.order[0]]
        while work:
            node = work.pop()
            entered[node] = len(entered)
            work += reversed(self.children[node])
        last = dict(entered)
        for node in reversed(entered):
            above = self.idom[node]
            if last[above] < last[node]:
                last[above] = last[node]
        self.entered, self._last = entered, last

    def dominates(self, a, b) -> bool:
        """Whether every path from the entry to `b` passes `a` (a node dominates itself)."""
        return self.entered[a] <= self.entered[b] <= self._last[a]

    def frontiers(self) -> dict:
        """Node -> its dominance frontier: the nodes that it does not strictly dominate, although it dominates a
        predecessor (as ordered keys). Nodes with an empty frontier are left out."""
        found: dict = {}
        idom = self.idom
        for pred, succs in self.successors.items():
            for node in succs:
                end, at = idom[node] if node is not self.order[0] else None, pred
                while at is not end:
                    here = found.setdefault(at, {})
                    if node in here:  # it is also in the frontier of the dominators above
                        break
                    here[node] = None
                    if at is self.order[0]:
                        break
                    at = idom[at]
        return found


class Loop:
    """A natural loop: header, blocks (keys of a dict, inner loops included, in reverse post-order), latches (sources of
    back edges), parent, inner."""

    __slots__ = ("header", "blocks", "latches", "parent", "inner")

    def __init__(self, header: Block, latches: list[Block]):
        self.header = header
        self.latches = latches
        self.blocks: dict[Block, None] = {header: None}
        self.parent: Loop | None = None
        self.inner: list[Loop] = []

    @property
    def depth(self) -> int:
        return 1 if self.parent is None else 1 + self.parent.depth

    def exits(self) -> list[tuple[Block, Edge]]:
        """(source block, edge) of the edges that leave the loop, exceptional ones included."""
        return [(block, edge) for block in self.blocks for edge in block.edges() if edge.block not in self.blocks]

    def entries(self, edges: dict) -> list[tuple[Block, Inst, Edge]]:
        """The edges that enter the header from outside; `edges` as returned by `in_edges`."""
        return [entry for entry in edges[self.header] if entry[0] not in self.blocks]

    def has_hint(self, name: str) -> bool:
        """Whether a jump back to the header has this hint (LOOP_HINTS in ops/control.py)."""
        return any([block.insts[-1].attrs.get(name) for block in self.latches])

    def __repr__(self):
        return f"<loop {self.header.name} of {len(self.blocks)} blocks>"


class LoopNest:
    """The natural loops of a function. loops: outer before inner; of: block -> innermost Loop;
    irreducible: targets of retreating edges that do not dominate the source (no natural loop covers these)."""

    def __init__(self, fn: Function):
        dom = self.dom = Dominators(fn)
        preds: dict[Block, list[Block]] = {block: [] for block in dom.order}
        for block in dom.order:
            for succ in dom.successors[block]:
                preds[succ].append(block)
        latches: dict[Block, list[Block]] = {}
        self.irreducible: list[Block] = []
        for block in dom.order:
            retreats = False
            for pred in preds[block]:
                if dom.dominates(block, pred):
                    latches.setdefault(block, []).append(pred)
                else:
                    retreats |= dom.number[pred] >= dom.number[block]
            if retreats:
                self.irreducible.append(block)
        self.loops: list[Loop] = []
        self.of: dict[Block, Loop] = {}
        for header in dom.order:  # outer headers come first
            if header not in latches:
                continue
            loop = Loop(header, latches[header])
            work = [b for b in loop.latches if b is not header]
            inside = {header, *work}
            while work:
                for pred in preds[work.pop()]:
                    if pred not in inside:
                        inside.add(pred)
                        work.append(pred)
            loop.blocks = dict.fromkeys(sorted(inside, key=dom.number.__getitem__))
            parent = self.of.get(header)
            loop.parent = parent
            if parent is not None:
                parent.inner.append(loop)
            for block in loop.blocks:
                self.of[block] = loop
            self.loops.append(loop)
