"""Thread edges into blocks that test again what a branch before the edge has tested, with loads and checks.

    while k > 0 and word[k] != c: k = fail[k - 1]
    if word[k] == c: ...

Before:  b: i = check_index k, n ; x = array_load word, i ; t = ine x, c ; branch t -> body(), join(k)
         join(m): j = check_index m, n ; y = array_load word, j ; u = ieq y, c ; branch u -> yes(), no()
After:   b: i = check_index k, n ; x = array_load word, i ; t = ine x, c ; branch t -> body(), yes()
The instructions on the only way to such an edge are numbered, like those of one block. An equal check on it, or in a
block that dominates it, has passed, and an equal load on it has the same result unless something between may have
changed what it reads (`alias.py`). If this decides all checks and the branch of the block, the edge skips the block,
and what the block computes for later uses is copied.
Runs after the first gvn, where lengths and casts are one value each, and before `ranges`, which removes some of several
equal checks. No edge is threaded to the header of a loop, and no edge skips a header: later passes rely on the shape of
loops. `pipeline` asks for this pass only where several branches compare elements of one array.
Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..ir.cfg import Dominators, in_edges, reverse_postorder
from ..ir.uses import read_outside, uses_of
from ..ir.core import ALLOCATES, CONSUMES, HOST, RAISES, WRITES, Block, Edge, Function, Inst, Value
from ..ops.arith import CAST
from ..ops.control import BRANCH, JUMP
from ..types.kinds import is_integer
from .alias import Aliases
from .counted import WIDE
from .gvn import is_shared, key_of, loads
from .repair import repair
from .rewrite import clone_inst, remove_unreachable, substitute

__all__ = ["run"]

_ROUNDS = 16  # the most blocks for which edges are threaded
_BACK = 4  # the most blocks on the way to an edge
_ABOVE = 8  # the most blocks that dominate the first of them and are examined
_LONGEST = 12  # the most instructions of a block that is skipped
_KEPT = RAISES | WRITES | ALLOCATES | CONSUMES | HOST  # an instruction with one of these effects is not copied


class _Way(NamedTuple):
    """What is known where control has taken an edge."""

    edge: Edge
    values: dict[Value, Value]  # value of the skipped block -> the equal value known before the edge
    taken: int  # the target of the branch


def run(fn: Function, options: Any = None) -> None:
    aliases = Aliases(fn)
    remove_unreachable(fn)
    for _ in range(_ROUNDS):
        if not _thread(fn, aliases):
            break
        fn.blocks = reverse_postorder(fn)


def _thread(fn: Function, aliases: Aliases) -> bool:
    """Thread the edges into one block; returns whether there was one."""
    edges = in_edges(fn.blocks)
    candidates = [block for block in fn.blocks if len(edges[block]) > 1 and _is_short_test(block)]
    dom = Dominators(fn, split=True) if candidates else None
    for block in candidates:
        if not _is_header(block, edges, dom):
            ways = [way for one in edges[block] for way in [_known(block, one, edges, dom, aliases)]
                    if way is not None and not _is_header(block.insts[-1].targets[way.taken].block, edges, dom)]
            if ways:
                _redirect(fn, block, ways)
                return True
    return False


def _is_short_test(block: Block) -> bool:
    last = block.insts[-1]
    return last.op is BRANCH and len(block.insts) <= _LONGEST and (made := last.args[0].inst) is not None and (
        made.op.negated is not None or made.op.swapped is not None) and made in block.insts and all(
        [is_shared(inst) or not inst.op.effects & _KEPT for inst in block.insts[:-1]])


def _is_header(block: Block, edges, dom) -> bool:
    return any([dom.dominates(block, source) for source, _, _ in edges[block]])


def _known(block: Block, way: tuple[Block, Inst, Edge], edges, dom, aliases: Aliases) -> _Way | None:
    """What is known of a block that control enters over an edge; None unless its checks pass and its branch is
    known."""
    chain = _chain(way, edges)
    if not any(source.insts[-1].op is BRANCH for source, _ in chain):
        return None
    numbers = _Numbers(aliases)
    for above in _above(chain[0][0], dom):
        numbers.enter([inst for inst in above.insts if is_shared(inst) and not loads(inst)])
    for source, edge in chain:
        numbers.pass_through(source, edge)
    for inst in block.insts[:-1]:
        same = numbers.found.get(numbers.key(inst)) if is_shared(inst) else None
        if same is not None or (same := numbers.round_trip(inst)) is not None:
            numbers.same[inst.result] = same
        elif inst.op.effects & _KEPT:
            return None
    taken = numbers.outcome(block.insts[-1].args[0])
    if taken is None:
        return None
    values = [v for v in block.values() if v in numbers.same]
    return _Way(way[2], {v: numbers.same[v] for v in values}, 0 if taken else 1)


def _chain(way: tuple[Block, Inst, Edge], edges) -> list[tuple[Block, Edge]]:
    """The last blocks that control passes before an edge, each with the edge that leaves it."""
    found: list[tuple[Block, Edge]] = []
    for _ in range(_BACK):
        source, inst, edge = way
        if edge is inst.unwind:
            break
        found.append((source, edge))
        if len(edges[source]) != 1:
            break
        way = edges[source][0]
    found.reverse()
    return found


def _above(block: Block, dom) -> list[Block]:
    """The nearest dominators of `block` whose instructions have all been completed before it, in order."""
    found: list[Block] = []
    for _ in range(_ABOVE):
        above = dom.idom[block]
        if above is block:
            break
        block = above
        if block not in dom.tails:
            found.append(getattr(block, "block", block))
    found.reverse()
    return found


class _Numbers:
    """Value numbering along one path: the values that it computes, and the comparisons whose outcome it implies."""

    def __init__(self, aliases: Aliases):
        self.aliases = aliases
        self.same: dict[Value, Value] = {}  # value -> the first value that is equal
        self.found: dict[tuple, Value] = {}  # what an instruction computes -> its result
        self.read: dict[tuple, Inst] = {}  # those of `found` that are loads
        self.outcomes: dict[tuple, bool] = {}  # comparison and its operands -> its result

    def key(self, inst: Inst) -> tuple:
        return key_of(inst, [self.same.get(v, v) for v in inst.args])

    def round_trip(self, inst: Inst) -> Value | None:
        """The number that was converted where an instruction converts it back; None for others."""
        if inst.op is not CAST or inst.result.type not in WIDE:
            return None
        made = self.same.get(inst.args[0], inst.args[0]).inst
        if made is None or made.op is not CAST or made.result.type not in WIDE:
            return None
        given = self.same.get(made.args[0], made.args[0])
        return given if given.type is inst.result.type else None

    def enter(self, insts) -> None:
        """Number the results of instructions."""
        for inst in insts:
            if inst.op.effects & WRITES:
                for key in [key for key, load in self.read.items() if self.aliases.may_change(inst, load)]:
                    del self.found[key], self.read[key]
            if is_shared(inst):
                key = self.key(inst)
                if key in self.found:
                    self.same[inst.result] = self.found[key]
                    continue
                self.found[key] = inst.result
                if loads(inst):
                    self.read[key] = inst

    def pass_through(self, block: Block, edge: Edge) -> None:
        """Number the results of a block, and note the outcome of the branch if control leaves by `edge`."""
        self.enter(block.insts)
        last = block.insts[-1]
        if last.op is BRANCH and (made := last.args[0].inst) is not None:
            self.outcomes[self.comparison(made.op, made)] = edge is last.targets[0]
        self.same.update([(param, self.same.get(v, v)) for param, v in zip(edge.block.params, edge.args)])

    def comparison(self, op, inst: Inst, turned: bool = False) -> tuple:
        operands = [self.same.get(v, v) for v in inst.args]
        return op, *(reversed(operands) if turned else operands)

    def outcome(self, condition: Value) -> bool | None:
        """The result of a comparison; None where it is not known."""
        inst = condition.inst
        assert inst is not None
        for op, result in ((inst.op, True), (inst.op.negated, False)):
            for one, turned in () if op is None else ((op, False), (op.swapped, True)):
                known = None if one is None else self.outcomes.get(self.comparison(one, inst, turned))
                if known is not None:
                    return known is result
        return None


def _repeat_casts(fn: Function, block: Block) -> None:
    """Compute conversions of integers again where they are used after `block`: `speculate` must see which numbers are
    equal."""
    casts = {inst.result: inst for inst in block.insts if inst.op is CAST and is_integer(inst.result.type)
             and is_integer(inst.args[0].type)}
    for other in fn.blocks if casts else ():
        values: dict[Value, Value] = {}
        if other is not block:
            start = [clone_inst(casts[v], values, {}) for v in uses_of(other) if v in casts]
            substitute((other,), values)
            other.insts[:0] = start


def _redirect(fn: Function, block: Block, ways: list[_Way]) -> None:
    """Lead the edges past `block`, whose values may be used anywhere after it."""
    _repeat_casts(fn, block)
    later = read_outside(fn, (block,))
    defined = [v for v in block.values() if v in later]
    ends: dict[Value, dict[Block, Value]] = {v: {block: v} for v in defined}
    copies = []
    for edge, values, taken in ways:
        onward = block.insts[-1].targets[taken]
        needed, kept = later | set(onward.args), []
        for inst in reversed(block.insts[:-1]):
            if inst.result in needed and inst.result not in values:
                kept.append(inst)
                needed = needed.union(inst.args)
        copy = Block(block.name)
        copy.insts = [clone_inst(inst, values, {}) for inst in reversed(kept)]
        copy.insts.append(Inst(JUMP, (), None, None, block.insts[-1].loc,
                               [Edge(onward.block, [values.get(v, v) for v in onward.args])]))
        edge.block, edge.args = copy, []
        fn.blocks.append(copy)
        copies.append((edge, copy))
        for v in defined:
            ends[v][copy] = values[v]
    repair(fn, ends)
    for edge, copy in copies:
        if len(copy.insts) == 1:
            edge.block, edge.args = copy.insts[0].targets[0].block, copy.insts[0].targets[0].args
