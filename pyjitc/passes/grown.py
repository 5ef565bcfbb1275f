"""Tests that a number which a loop carries is small enough, made once for all copies of the loop's body.

`speculate` compares a number with an interval in which the checks of an iteration cannot fail. Where the body of a loop
is written several times (polling.py), the number is compared with a shorter interval before the first copy: from there
it cannot leave the interval of any test on the way through the copies. Otherwise one iteration is made with its tests.
Before:  header(x, ...): fits = x <= high ; branch fits {likely} -> on, arms       ... latch: jump header(3 x + 1, ...)
After:   first(x, ...): small = 0 <= x <= high / 64 ; branch small {likely} -> header(x, ...), header'(x, ...)
         header(x, ...): jump on       ... the copies without tests       latch: jump first
         header'(x, ...): as `header` was, with one iteration       latch': jump first
Needs: SSA.  Keeps: SSA, except of values that are used after the loop (`repair.py`).
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import closure, reverse_postorder
from ..ops import control, structure
from ..ops.arith import BAND, CAST, IGE, ILE, INT_MAX, INT_MIN, ISHR
from ..types.kinds import Int, is_integer
from .carried_bounds import RANGES
from .ranges import type_interval
from .rewrite import Builder, clone_blocks

__all__ = ["Bounds", "find"]

_LEAST = 1 << 32  # the least upper end of an interval with which it is worth to compare


class Bounds:
    """tests: the blocks of a loop that end with a test; limits: parameter of the header -> the interval from which no
    test of the copies can fail."""

    def __init__(self, loop, tests: list[ir.Block], limits: dict[ir.Value, tuple[int, int]]):
        self.loop, self.tests, self.limits = loop, tests, limits

    def apply(self, fn, copies, blocks) -> tuple[dict[ir.Block, ir.Block], dict[ir.Value, ir.Value]]:
        """Let the loop begin with the test for all copies, and write the iteration that keeps its tests.

        blocks: those of the loop; copies: block -> its copy, for each copy of the body, of which the last one is led to
        the test. Returns block -> its copy and value -> its copy for that iteration."""
        header, latch = self.loop.header, self.loop.latches[0]
        loc = header.insts[0].loc
        first, last = (ir.Block(header.name, [ir.Value(p.type, p.name) for p in header.params]) for _ in range(2))
        for block in reverse_postorder(fn):
            if block not in self.loop.blocks:
                _lead(block, header, first)
        tested: dict[ir.Value, ir.Value] = {}
        one = clone_blocks(blocks, tested)
        _lead(one[latch], one[header], last)
        _lead(copies[-1][latch], copies[-1][header], last)
        for copy in copies:
            for block in self.tests:
                branch = copy[block].insts[-1]
                branch.op, branch.args, branch.attrs, branch.targets = control.JUMP, [], {}, branch.targets[:1]
        b = Builder(first.insts, loc)
        small = []
        for p, (low, high) in self.limits.items():
            x = first.params[header.params.index(p)]
            small += [b.test(IGE, x, b.const(Int, low)), b.test(ILE, x, b.const(Int, high))]
        b.branch(b.all(small), ir.Edge(header, first.params), ir.Edge(one[header], first.params), likely=True)
        Builder(last.insts, loc).jump(ir.Edge(first, last.params))
        last.insts[-1].attrs = dict(copies[-1][latch].insts[-1].attrs)
        return one, tested


def _lead(source, old, new) -> None:
    for edge in source.edges():
        if edge.block is old:
            edge.block = new


def find(loop, defs, edges, count: int) -> Bounds | None:
    """The intervals of carried numbers from which none of the tests of `count` iterations can fail; None where nothing
    is tested, or where there is no interval of use. edges: the edges into each block."""
    tests: list[ir.Block] = []
    ends: dict[ir.Value, tuple[int, int]] = {}
    for block in loop.blocks:
        branch = block.insts[-1]
        if branch.op is control.BRANCH and branch.attrs.get("likely") is True and (
                branch.targets[0].block in loop.blocks):
            test = _test(branch.args[0], defs)
            if test is not None and test[0] in loop.header.params:
                x, low, high = test
                known = ends.get(x, (INT_MIN, INT_MAX))
                ends[x] = max(known[0], low), min(known[1], high)
                tests.append(block)
    if not tests:
        return None
    path = _Path(loop, tests, defs, edges)
    if loop.latches[0] not in path.blocks:  # a loop inside is left where a test fails
        return None
    probe = {x: _within(x, ends, high // 4) for x, (_, high) in ends.items()}
    limits = {}
    for x, (low, high) in path.after(probe).items():
        times = max(high, -low) // max(probe[x][1], 1) + 1  # an iteration makes it at most so many times as large
        limits[x] = _within(x, ends, ends[x][1] // times ** (count - 1))
        if limits[x][1] < _LEAST:
            return None
    now = limits
    for _ in range(count - 1):
        now = path.after(now)
        if not all([ends[x][0] <= low and high <= ends[x][1] for x, (low, high) in now.items()]):
            return None
    return Bounds(loop, tests, limits)


def _within(x, ends, size: int) -> tuple[int, int]:
    """The interval of the numbers between the ends for `x` that are no larger than `size`. Without a lower end, no such
    number has been negative so far."""
    low = ends[x][0]
    return 0 if low == INT_MIN else max(low, -size), size


def _test(condition, defs) -> tuple[ir.Value, int, int] | None:
    """(value, low, high) if a condition is a test for an interval."""
    inst = condition.inst
    if inst is None or len(inst.args) != 2:
        return None
    if inst.op is BAND:
        x, y = (_test(v, defs) for v in inst.args)
        return (x[0], max(x[1], y[1]), min(x[2], y[2])) if x and y and x[0] is y[0] else None
    c = defs.constant(inst.args[1])
    if c is None or inst.args[0].type is not Int or inst.op not in (IGE, ILE):
        return None
    return (inst.args[0], c, INT_MAX) if inst.op is IGE else (inst.args[0], INT_MIN, c)


class _Path:
    """The way through an iteration on which no test fails."""

    def __init__(self, loop, tests, defs, edges):
        self.loop, self.defs, self.edges = loop, defs, edges
        self.blocks = set(closure([loop.header], lambda block: [
            edge.block for edge in (block.insts[-1].targets[:1] if block in tests else block.edges())
            if edge.block in loop.blocks]))

    def after(self, given) -> dict[ir.Value, tuple[int, int]]:
        """The intervals of the same parameters of the header after an iteration that starts from those in `given`."""
        known, header = dict(given), self.loop.header
        return {p: self.joined([edge.args[header.params.index(p)] for source, _, edge in self.edges[header]
                                if source in self.blocks], known) for p in given}

    def joined(self, values, known) -> tuple[int, int]:
        found = [self.get(v, known) for v in values]
        return min([low for low, _ in found]), max([high for _, high in found])

    def get(self, v, known) -> tuple[int, int]:
        """The interval of an integer. known: those of other values."""
        if v not in known:
            known[v] = top = type_interval(v.type)  # also that of a value on which it depends itself, in a loop inside
            low, high = self.found(v, known, top)
            if top[0] <= low and high <= top[1]:  # otherwise it may wrap
                known[v] = low, high
        return known[v]

    def found(self, v, known, top) -> tuple[int, int]:
        inst, block = v.inst, self.defs.block_of.get(v)
        if block not in self.blocks:
            c = self.defs.constant(v)
            return top if c is None else (c, c)
        if inst is None:
            return top if block is self.loop.header else self.joined(
                [edge.args[block.params.index(v)] for source, _, edge in self.edges[block] if source in self.blocks],
                known)
        op = inst.op.wrapping or inst.op
        if op is control.CONST:
            c = int(inst.attrs["value"])
            return c, c
        if op is structure.SELECT or op is structure.CHOOSE:
            return self.joined(inst.args[1:], known)
        if not all([is_integer(x.type) for x in inst.args]):
            return top
        intervals = [self.get(x, known) for x in inst.args]
        if op is CAST:
            return intervals[0]
        if op in RANGES:
            return RANGES[op](*intervals)
        if op is ISHR:
            least, most = intervals[1]
            return (min(intervals[0][0], 0), max(intervals[0][1], 0)) if least >= 0 and most < 64 else top
        return top
