"""Put a loop that may be vectorised before a loop that finds the least or the greatest of floats.

Runs when versioning has made the copies of loops without checks, and before polling. `low = min(low, x)` keeps the
first of two zeros and passes over nan, which LLVM can only do one element after the other. The loop before it replaces
nan by the first `low` and takes any of two zeros; its results are the right ones unless one of them is a zero, or `low`
is nan at first: then the loop as it was does the work. (With an infinity for nan, LLVM would find a conditional
minimum, which it does not vectorise.)
Before:  head(low, i, left): branch left > 0 -> body, exit     body: x = ... ; low1 = select x < low, x, low ; jump head
After:   branch low == low and left > 24 -> fast(low, i, left), head(low, i, left)
         fast(f, i, left): branch left > 0 -> quick, found
         quick: x = ... ; f1 = fmin_number f, (x == x ? x : low) ; jump fast
         found: branch f != 0 -> head(f, i, left), head(low, i, left)                      and head as it was
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from typing import NamedTuple

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith, control
from ..ops.math import FMAX_NUMBER, FMIN_NUMBER
from ..ops.memory import ARRAY_LOAD
from ..ops.structure import SELECT
from ..types import kinds as k
from .counted import Counted, Definitions, find
from .operands import constant_of
from .rewrite import Builder, clone_inst

__all__ = ["run"]

_BLOCKS = 8  # the most blocks of a loop
_BRIEF = 24  # for at most this many trips the original loop is faster


class _Extreme(NamedTuple):
    """A value that the loop carries. param: of the header; select: chooses the next value; x: what is compared with it;
    least: whether the smaller one is chosen."""

    param: ir.Value
    select: ir.Inst
    x: ir.Value
    least: bool


def run(fn: ir.Function, options=Options()) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    defs, edges = Definitions(fn), in_edges(fn.blocks)
    for loop in LoopNest(fn).loops:
        counted = None if loop.inner else find(loop, defs, edges)
        if counted is not None and any([k.is_float(p.type) for p in loop.header.params]):
            _Fast(counted).precede()
    fn.blocks = reverse_postorder(fn)


class _Fast:
    """The fast loop. values: value of the loop as it was -> its copy; head, line: the instructions of the header, and
    of the other blocks with a select for each branch; next: the arguments of the back edge."""

    def __init__(self, counted: Counted):
        self.counted = counted
        self.header = counted.loop.header
        self.params = [ir.Value(p.type, p.name) for p in self.header.params]
        self.values = dict(zip(self.header.params, self.params))
        self.line: list[ir.Inst] = []

    def get(self, v: ir.Value) -> ir.Value:
        return self.values.get(v, v)

    def precede(self) -> None:
        """Put the fast loop before the loop, where it has the form for it."""
        self.head = [clone_inst(inst, self.values, {}) for inst in self.header.insts[:-1]]
        found = self.extremes() if self.straighten() else []
        if found:
            self.build(found)

    def straighten(self) -> bool:
        """Copy the blocks of the body to straight-line code. Returns whether each has one successor, perhaps by two
        edges, of which a select then chooses the arguments."""
        edge, seen = self.counted.body, 1
        if edge.block is self.header:  # the loop is its header alone
            return False
        while edge.block is not self.header:
            block, seen = edge.block, seen + 1
            self.line += [clone_inst(inst, self.values, {}) for inst in block.insts[:-1]]
            last = block.terminator
            targets = [_past_empty(edge) for edge in last.targets]
            seen += sum([one is not other for one, other in zip(targets, last.targets)])
            if "novectorize" in last.attrs or len({target.block for target in targets}) != 1 or seen > _BLOCKS or (
                    last.op not in (control.JUMP, control.BRANCH)):
                return False
            edge, *others = targets
            chosen = []
            for n, v in enumerate(edge.args):
                x = self.get(v)
                if others and others[0].args[n] is not v:
                    b = Builder(self.line, last.loc, None)
                    x = b.op(SELECT, self.get(last.args[0]), x, self.get(others[0].args[n]), type=x.type)
                chosen.append(x)
            if edge.block is not self.header:
                self.values.update(zip(edge.block.params, chosen))
        self.next, self.last = chosen, last
        return seen == len(self.counted.loop.blocks)

    def extremes(self) -> list[_Extreme]:
        """The extremes that the loop carries, where it carries nothing else, and only reads."""
        insts = [*self.head, *self.line]
        if any([inst.op.effects and inst.op is not ARRAY_LOAD for inst in insts]):
            return []
        needed = {*self.next, self.get(self.header.terminator.args[0])}
        for inst in reversed(insts):  # the header may compute values that are used after the loop
            if inst.result in needed:
                needed.update(inst.args)
        insts = [inst for inst in insts if inst.result in needed]
        found = []
        for old, p, after in zip(self.header.params, self.params, self.next):
            if old in self.counted.steps or old in self.counted.strides:
                continue
            one = _extreme(p, after)
            if one is None or self.next.count(after) != 1 or any([after in inst.args for inst in insts]) or any(
                    [p in inst.args and inst is not one.select and inst is not one.select.args[0].inst
                     for inst in insts]):
                return []
            found.append(one)
        return found

    def build(self, found: list[_Extreme]) -> None:
        counted, header, loc = self.counted, self.header, self.header.terminator.loc
        guard, fast, body, done = (ir.Block(f"extreme.{name}") for name in ("guard", "head", "body", "found"))
        given = counted.entry.args
        counted.entry.block, counted.entry.args = guard, []
        start = {p: counted.start[old] for old, p in zip(header.params, self.params)}
        b = Builder(guard.insts, loc, None)
        tests = [b.test(arith.FEQ, start[one.param], start[one.param]) for one in found]
        tests.append(b.test(arith.IGT, counted.start[counted.left], b.const(k.Int, _BRIEF)))
        b.branch(b.all(tests), ir.Edge(fast, [*given]), ir.Edge(header, [*given]), likely=True)
        last = header.terminator
        fast.params, fast.insts = self.params, self.head
        fast.insts.append(ir.Inst(
            control.BRANCH, [self.get(v) for v in last.args], dict(last.attrs), None, last.loc,
            [ir.Edge(body if edge is counted.body else done) for edge in last.targets]))
        selects = {one.select: one for one in found}
        for inst in self.line:
            one = selects.get(inst)
            if one is None:
                body.insts.append(inst)
                continue
            b = Builder(body.insts, inst.loc, None)
            number = b.test(arith.FEQ, one.x, one.x)
            x = b.op(SELECT, number, one.x, start[one.param], type=one.x.type)
            self.next[self.next.index(inst.result)] = b.op(FMIN_NUMBER if one.least else FMAX_NUMBER, one.param, x,
                                                           type=one.x.type)
        Builder(body.insts, self.last.loc).jump(ir.Edge(fast, self.next), **(
            self.last.attrs if self.last.op is control.JUMP else {}))
        b = Builder(done.insts, loc, None)
        none = b.const(k.Int, 0)  # the loop that follows makes no more trips
        settled = b.all([b.test(arith.FNE, one.param, b.const(one.param.type, constant_of(one.param.type, 0)))
                         for one in found])
        b.branch(settled, ir.Edge(header, [none if old is counted.left else self.get(old) for old in header.params]),
                 ir.Edge(header, [*given]), likely=True)


def _past_empty(edge: ir.Edge) -> ir.Edge:
    """The edge that leaves a block which only jumps, where `edge` leads to one."""
    block = edge.block
    only = len(block.insts) == 1 and not block.params and block.terminator.op is control.JUMP
    return block.terminator.targets[0] if only else edge


def _extreme(p: ir.Value, after: ir.Value) -> _Extreme | None:
    select = after.inst
    if select is None or select.op is not SELECT or select.args[2] is not p or not k.is_float(p.type):
        return None
    x, test = select.args[1], select.args[0].inst
    if test is None or test.op not in arith.FLOAT_ORDERS or {*test.args} != {p, x} or x is p:
        return None
    return _Extreme(p, select, x, arith.FLOAT_ORDERS[test.op] == (test.args[0] is x))
