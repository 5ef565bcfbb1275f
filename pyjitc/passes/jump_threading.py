"""Jump threading: let an edge into a block that only branches go to the known target (a step of simplify).

Before:  jump join(True, x)   join(has, item): branch has, body, exit      After:  jump body, with item = x
The target is also known where a constant meets a comparison with a number about which the branches before the edge say
enough: `k == n` where k is 0 and control has passed `0 < n`.
The branching block is copied for such an edge, so it must be short; loop headers are not threaded, because later passes
rely on the shape of loops, except for one whose edges all know the target, as where it asks which state a generator is
in: the loop then begins where the items of all states arrive, and carries what the states hold. Values that the block
defines get block parameters where both copies meet (`repair`).
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir.cfg import Dominators, LoopNest, closure, in_edges
from ..ir.core import RAISES, WRITES, Block, Edge, Function, Inst, Value
from ..ops import arith as a
from ..ops import structure as s
from ..ops.arith import INT_MAX, INT_MIN
from ..ops.control import BRANCH, JUMP, SWITCH
from ..ops.memory import ARRAY_DIM
from ..types.kinds import Int
from .rewrite import clone_inst, remove_unreachable
from .rules import Facts, simplify_inst

__all__ = ["thread"]

repair = lazy(f"{__package__}.repair")  # most functions have no such branch

_BACK = 4  # the most blocks before an edge that are searched for branches
LONGEST = 8  # the most instructions of a block that is copied
_DECIDES = frozenset((a.BNOT, a.CAST, *a.INTEGER_COMPARISONS, s.UNION_IS, s.TUPLE_GET))


def thread(fn: Function, facts: Facts, most: int = 1) -> int:
    """Thread branches, at most `most`, one after the other; returns how many."""
    done = 0
    while done < most and _thread(fn, facts):
        done += 1
    return done


def _thread(fn: Function, facts: Facts) -> bool:
    candidates = [b for b in fn.blocks if b.params and len(b.insts) <= LONGEST and b.insts[-1].op in (BRANCH, SWITCH)
                  and b is not fn.entry and _condition(b, facts) is not None
                  and not any(i.op.effects & (RAISES | WRITES) for i in b.insts[:-1])]
    if not candidates:
        return False
    edges = in_edges(fn.blocks)
    if not any(_decided(b, way, facts, edges) is not None for b in candidates for way in edges[b]):
        return False
    dom = Dominators(fn)
    headers = [b for b in candidates if any(dom.dominates(b, source) for source, _, _ in edges[b])]
    for block in [*[b for b in candidates if b not in headers], *headers]:
        ways = [(way[2], taken) for way in edges[block] for taken in [_decided(block, way, facts, edges)]
                if taken is not None]
        if ways and (block not in headers or block.insts[-1].op is BRANCH and _may_open(
                fn, block, edges[block], facts)):
            _split(fn, block, ways, facts)
            return True  # edges and dominators are stale
    return False


def _condition(block: Block, facts: Facts):
    """(parameter position, instruction between it and the branch or None) where a parameter decides the branch, or
    None."""
    value = block.insts[-1].args[0]
    if value in block.params:
        return block.params.index(value), None
    inst = value.inst
    if inst is None or inst.op not in _DECIDES or inst not in block.insts or inst.args[0] not in block.params:
        return None
    if all(facts.known(v) is not None for v in inst.args[1:]) or (
            inst.op in a.INTEGER_COMPARISONS and inst.args[1].type is Int and inst.args[1] not in block.params
            and (inst.args[1].inst not in block.insts or facts.defined_by(inst.args[1], ARRAY_DIM))):
        return block.params.index(inst.args[0]), inst
    return None


def _decided(block: Block, way: tuple[Block, Inst, Edge], facts: Facts, edges) -> int | None:
    """Which target of the branch at the end of `block` is taken by control that arrives by `way`; -1 where a constant
    decides it, which the next step of simplify finds in the copy; None where it is not known."""
    source, inst, edge = way
    if inst.unwind is edge:
        return None
    condition = _condition(block, facts)
    if condition is None:
        return None
    position, test = condition
    arg = edge.args[position]
    constant = facts.known(arg)
    if test is not None and constant is not None and test.op in a.INTEGER_COMPARISONS and (
            facts.known(test.args[1]) is None):
        return _by_branches(test, constant.attrs["value"], source, edge, facts, edges)
    return None if _condition_at(block, edge, facts) is None else -1


def _condition_at(block: Block, edge: Edge, facts: Facts) -> Inst | None:
    """The constant that decides the branch at the end of `block` for control that arrives by `edge`."""
    condition = _condition(block, facts)
    if condition is None:
        return None
    position, test = condition
    arg = edge.args[position]
    if test is None:
        return facts.known(arg)
    better = simplify_inst(facts, Inst(test.op, [arg, *test.args[1:]], test.attrs, Value(test.result.type)))
    known = None if better is None else facts.known(better)
    facts.fresh.clear()
    return known


def _may_open(fn: Function, header: Block, arriving, facts: Facts) -> bool:
    """Whether the loop of `header` keeps a single entry if each edge into the header is threaded to the target that it
    decides: the paths of the first trip and those of later trips must meet in one block."""
    found = []
    for source, inst, edge in arriving:
        known = None if inst.unwind is edge else _condition_at(header, edge, facts)
        if known is None:  # nearly always: the loops of the function are found only where they are needed
            return False
        found.append((source, header.insts[-1].targets[not known.attrs["value"]].block))
    loop = LoopNest(fn).of[header]
    starts: dict[bool, dict[Block, None]] = {True: {}, False: {}}  # comes from within the loop -> where it goes
    for source, start in found:
        if start in loop.blocks:
            starts[source in loop.blocks][start] = None
    ways = [closure(blocks, lambda b: [edge.block for edge in b.edges() if edge.block in loop.blocks
                                       and edge.block is not header]) for blocks in starts.values()]
    shared = ways[0].keys() & ways[1].keys()
    before = [b for way in ways for b in way if b not in shared]
    meet = {edge.block for b in before for edge in b.edges()} | {b for blocks in starts.values() for b in blocks}
    return len(meet & shared) == 1


def _by_branches(test: Inst, c: int, source: Block, edge: Edge, facts: Facts, edges) -> int | None:
    """Which target is taken where the branch tests how c compares with a number n, by what the branches on the way to
    `edge` say about n."""
    n = _number(test.args[1], facts)
    low, high = (0 if isinstance(n, tuple) else INT_MIN), INT_MAX
    for _ in range(_BACK):
        branch = source.insts[-1]
        made = branch.args[0].inst if branch.op is BRANCH and edge in branch.targets else None
        if made is not None and made.op in a.INTEGER_COMPARISONS and (
                branch.targets[0].block is not branch.targets[1].block):
            first, second = (facts.known(v) for v in made.args)
            relation, d = None, 0  # what is known of d and n
            if second is not None and _number(made.args[0], facts) == n:
                relation, d = made.op.swapped, second.attrs["value"]
            elif first is not None and _number(made.args[1], facts) == n:
                relation, d = made.op, first.attrs["value"]
            if relation is not None and edge is branch.targets[1]:
                relation = relation.negated
            if relation is a.ILT or relation is a.ILE:
                low = max(low, d + (relation is a.ILT))
            elif relation is a.IGT or relation is a.IGE:
                high = min(high, d - (relation is a.IGT))
            elif relation is a.IEQ:
                low, high = max(low, d), min(high, d)
        if len(edges[source]) != 1:
            break
        source, inst, edge = edges[source][0]
        if edge is inst.unwind:
            break
    always = {a.ILT: c < low, a.ILE: c <= low, a.IGT: c > high, a.IGE: c >= high, a.IEQ: low == high == c,
              a.INE: not low <= c <= high}
    return 0 if always[test.op] else 1 if always[test.op.negated] else None


def _number(value: Value, facts: Facts):
    """A key that is equal for two values that are the same number: lengths are loaded again wherever they are read."""
    made = facts.defined_by(value, ARRAY_DIM)
    return value if made is None else (made.args[0], made.attrs["axis"])


def _split(fn: Function, block: Block, ways, facts: Facts) -> None:
    """Give each of the edges `ways` a copy of `block`, whose values may be used anywhere after it."""
    defined = block.values()
    ends: dict[Value, dict[Block, Value]] = {v: {block: v} for v in defined}
    for edge, taken in ways:
        copy = Block(block.name)
        if edge.args and not set(defined).isdisjoint(edge.args):  # of the trip before, by names that `repair` changes
            copy.params = [Value(v.type) for v in block.params]
        values = dict(zip(block.params, copy.params or edge.args))
        copy.insts = [clone_inst(inst, values, {}) for inst in block.insts]
        if taken >= 0:
            last = copy.insts.pop()
            copy.insts.append(Inst(JUMP, (), {}, None, last.loc, [last.targets[taken]]))
        edge.block, edge.args = copy, edge.args if copy.params else []
        fn.blocks.append(copy)
        for v in defined:
            ends[v][copy] = values[v]
    remove_unreachable(fn)
    repair.repair(fn, ends)
