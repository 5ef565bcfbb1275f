"""Let Python handle signals during loops, so that Ctrl-C works.

Runs after versioning. A counted loop without other loops or calls in it is cut into strips: the inner loop runs at most
`STRIP` iterations without a poll, so that it still vectorises; every other loop polls on its back edges. Polls share a
counter per call and cost a subtraction until it runs out.
Before:  header(i, left): branch left > 0 -> body, exit         body: ... jump header(i+1, left-1)
After:   strip(i, left): branch left > 0 -> run, exit           run: poll; take = min(left, STRIP); jump header(i, left, take)
         header(i, left, take): branch take > 0 -> body, strip(i, left)        body: ... jump header(i+1, left-1, take-1)
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import control
from ..ops.arith import IGT, ILT, ISUB
from ..ops.memory import POLL
from ..ops.structure import SELECT
from ..types.kinds import Bool, Int
from .counted import Definitions, find
from .repair import repair
from .rewrite import clone_inst, split_edge

__all__ = ["run"]

STRIP = 1 << 14
_SHORT = 64  # a loop known to run no longer than this is left alone


def run(fn: ir.Function, options=None) -> None:
    fn.blocks = reverse_postorder(fn)
    nest = LoopNest(fn)
    if not nest.loops and not nest.irreducible:
        return
    defs = Definitions(fn)
    edges = in_edges(fn.blocks)
    definitions: dict = {}
    for loop in reversed(nest.loops):  # inner loops first
        counted = find(loop, defs, edges)
        if counted is not None:
            trips = defs.constant(counted.start[counted.left])
            if trips is not None and trips <= _SHORT:
                continue
            if not loop.inner and _plain(loop):
                _strip(fn, counted, edges, definitions)
                continue
        for source, inst, edge in edges[loop.header]:
            if source in loop.blocks:
                _poll(fn, source, inst, edge)
    for block in nest.irreducible:
        block.insts.insert(0, ir.Inst(POLL, (), {"cost": 4}, None, block.insts[0].loc))
    if definitions:
        fn.blocks = reverse_postorder(fn)
        repair(fn, definitions)


def _poll(fn, source, inst, edge):
    """A poll on a back edge. An interrupt leaves the function: handlers in it would need values as they are now."""
    poll = ir.Inst(POLL, (), {"cost": 4}, None, inst.loc)
    if len(inst.targets) == 1:
        source.insts.insert(source.insts.index(inst), poll)
    else:
        middle = split_edge(edge, "poll")
        middle.insts.insert(0, poll)
        middle.insts[-1].loc = inst.loc
        fn.blocks.append(middle)


def _plain(loop) -> bool:
    """No calls, and a header that only tests: what may be cut."""
    header = loop.header
    return all(i.op is not control.INVOKE for b in loop.blocks for i in b.insts) and all(
        not i.op.effects for i in header.insts[:-1])


def _strip(fn, counted, edges, definitions):
    loop, header = counted.loop, counted.loop.header
    loc = header.terminator.loc
    # `strip` repeats the header: it tests whether iterations are left, and goes on to the exit.
    values: dict = {}
    strip = ir.Block("strip")
    whole = header.params.index(counted.left)
    spare = _only_counts(counted)
    for p in header.params:
        values[p] = ir.Value(p.type, p.name)
        strip.params.append(values[p])
    for inst in header.insts:
        strip.insts.append(clone_inst(inst, values, {}))
    go = ir.Block("run")
    branch = strip.insts[-1]
    exit_edge = branch.targets[1]
    branch.targets[0] = ir.Edge(go)
    left = values[counted.left]
    limit, fewer, take = ir.Value(Int), ir.Value(Bool), ir.Value(Int, "take")
    go.insts = [
        ir.Inst(control.CONST, (), {"value": STRIP}, limit, loc), ir.Inst(ILT, (left, limit), {}, fewer, loc),
        ir.Inst(SELECT, (fewer, left, limit), {}, take, loc), ir.Inst(POLL, (take,), {}, None, loc),
        ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(header, [*strip.params, take])])]
    # the inner loop counts the strip down
    counter = ir.Value(Int, "take")
    header.params.append(counter)
    zero, more, one = ir.Value(Int), ir.Value(Bool), ir.Value(Int)
    inner = header.insts[-1]
    header.insts[-1:] = [ir.Inst(control.CONST, (), {"value": 0}, zero, loc), ir.Inst(IGT, (counter, zero), {}, more, loc), inner]
    inner.args = [more]
    inner.targets[1] = ir.Edge(strip, header.params[:-1])
    for source, inst, edge in edges[header]:
        if source in loop.blocks:
            down = ir.Value(Int)
            one = ir.Value(Int)
            at = source.insts.index(inst)
            source.insts[at:at] = [ir.Inst(control.CONST, (), {"value": 1}, one, loc), ir.Inst(ISUB, (counter, one), {}, down, loc)]
            edge.args = [*edge.args, down]
        else:
            edge.block = strip
    fn.blocks += [strip, go]
    if spare:  # what is left is known at the end of a strip: the inner loop need not count it
        rest = ir.Value(Int)
        go.insts.insert(len(go.insts) - 1, ir.Inst(ISUB, (left, take), {}, rest, loc))
        del header.params[whole]
        for source, inst, edge in edges[header]:
            if source in loop.blocks:
                del edge.args[whole]
        del go.insts[-1].targets[0].args[whole]
        inner.targets[1].args[whole] = rest
        loose = {counted.left} | {i.result for b in loop.blocks for i in b.insts if counted.left in i.args}
        for b in loop.blocks:
            b.insts = [i for i in b.insts if i.result not in loose]
    for old, new in values.items():
        definitions[old] = {header: old, strip: new}
    if exit_edge.block in loop.blocks:
        raise AssertionError("a counted loop leaves through its header")


def _only_counts(counted) -> bool:
    """Whether `left` is read by the test and by its own decrement alone."""
    left, loop = counted.left, counted.loop
    derived = set()
    for block in loop.blocks:
        for inst in block.insts:
            if left in inst.args:
                if inst.result is None:
                    return False
                derived.add(inst.result)
            for edge in inst.edges():
                if left in edge.args:
                    return False
    k = loop.header.params.index(left)
    for block in loop.blocks:
        for inst in block.insts:
            if derived.intersection(inst.args) and inst is not loop.header.terminator:
                return False
            for edge in inst.edges():
                for j, v in enumerate(edge.args):
                    if v in derived and not (edge.block is loop.header and j == k):
                        return False
    return True
