import random

from pyjitc.ir.cfg import Dominators, LoopNest, predecessors, reverse_postorder
from pyjitc.ir.core import RAISES, Block, Edge, Function, Inst, Op, Value
from pyjitc.ir.uses import live_in, read_outside, readers, used_from_outside, users, uses_of
from pyjitc.ops.control import BRANCH, CONST, JUMP, RETURN, SWITCH
from pyjitc.types.kinds import Int

MAY = Op("t_may", None, RAISES)


def graph(n, edges, unwinds=()):
    """A function of `n` blocks; edges: (source, target); unwinds: (source, handler), before the terminator."""
    fn = Function("f")
    fn.blocks = [Block(f"b{k}") for k in range(n)]
    for a, b in unwinds:
        fn.blocks[a].insts.append(Inst(MAY, result=Value(Int), unwind=Edge(fn.blocks[b])))
    for k, block in enumerate(fn.blocks):
        targets = [Edge(fn.blocks[b]) for a, b in edges if a == k]
        op = [RETURN, JUMP, BRANCH][len(targets)] if len(targets) < 3 else SWITCH
        block.insts.append(Inst(op, targets=targets))
    return fn


def reachable(fn, without=None):
    seen, work = set(), [fn.entry]
    while work:
        b = work.pop()
        if b in seen or b is without:
            continue
        seen.add(b)
        work += [e.block for e in b.edges()]
    return seen


def test_dominators_against_the_definition():
    rng = random.Random(3)
    for _ in range(60):
        n = rng.randint(2, 9)
        edges = {(k, rng.randrange(n)) for k in range(n) for _ in range(rng.randint(0, 2))}
        unwinds = {(k, rng.randrange(1, n)) for k in range(n) if rng.random() < 0.3}
        fn = graph(n, sorted(edges), sorted(unwinds))
        dom = Dominators(fn)
        everything = reachable(fn)
        assert set(dom.order) == everything == set(reverse_postorder(fn))
        for a in everything:
            hidden = everything - reachable(fn, without=a)
            assert {b for b in everything if dom.dominates(a, b)} == hidden | {a}
        split = Dominators(fn, split=True)
        for block, tail in split.tails.items():
            assert split.idom[tail] is block
            for inst in block.insts:
                if inst.unwind is not None:
                    assert not split.dominates(tail, inst.unwind.block)


def test_nested_loops():
    #  0 -> 1 -> 2 -> 3 -> 2, 3 -> 4 -> 1, 1 -> 5
    fn = graph(6, [(0, 1), (1, 2), (1, 5), (2, 3), (3, 2), (3, 4), (4, 1)])
    b = fn.blocks
    nest = LoopNest(fn)
    outer, inner = nest.loops
    assert outer.header is b[1] and list(outer.blocks) == b[1:5] and list(inner.blocks) == b[2:4]
    assert inner.parent is outer and outer.inner == [inner] and inner.depth == 2
    assert nest.of[b[3]] is inner and nest.of[b[4]] is outer and b[5] not in nest.of
    assert [(s, e.block) for s, e in inner.exits()] == [(b[3], b[4])]
    assert not nest.irreducible


def test_irreducible_is_reported():
    fn = graph(4, [(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)])
    assert LoopNest(fn).irreducible and not LoopNest(fn).loops


def test_liveness_with_exceptional_edge_and_loop():
    fn = graph(5, [(0, 1), (1, 2), (1, 4), (2, 1)], [(2, 3)])
    b = fn.blocks
    x, y = Value(Int), Value(Int)
    b[0].insts.insert(0, Inst(CONST, attrs={"value": 1}, result=x))
    b[1].insts.insert(0, Inst(CONST, attrs={"value": 2}, result=y))
    b[3].insts[-1].args = [x]
    b[2].insts.insert(0, Inst(MAY, [y], result=Value(Int)))
    live = live_in(fn)
    assert live[b[1]].keys() == {x} and live[b[2]].keys() == {x, y} and live[b[3]].keys() == {x}
    assert not live[b[4]] and not live[b[0]]
    assert list(live_in(fn, lambda v: v is y)[b[2]]) == [y]
    assert predecessors(fn.blocks)[b[3]] == [b[2]]


def test_uses():
    """b0 defines x and passes it on to b1, and to the handler b2 with y; b1 uses its parameter twice."""
    fn = graph(3, [(0, 1)], unwinds=[(0, 2)])
    b, x, y, p = fn.blocks, Value(Int), Value(Int), Value(Int)
    b[0].insts[:0] = [Inst(CONST, attrs={"value": 1}, result=x), Inst(CONST, attrs={"value": 2}, result=y)]
    may, jump = b[0].insts[2:]
    may.args, may.unwind.args, jump.targets[0].args = [x], [x, y], [x]
    b[1].params = [p]
    both = Inst(MAY, [p, p], result=Value(Int))
    b[1].insts.insert(0, both)
    assert may.uses() == [x, x, y] and jump.uses() == [x] and both.uses() == [p, p]
    assert users(b) == {x: [may, may, jump], y: [may], p: [both, both]}
    assert list(uses_of(b[0])) == [x, y]
    assert readers(fn) == {x: [b[0]], y: [b[0]], p: [b[1]]}
    assert read_outside(fn, b[:1]) == {p} and read_outside(fn, b[1:]) == {x, y}
    assert used_from_outside(b[1:]) == [] and used_from_outside(b[:1]) == []
