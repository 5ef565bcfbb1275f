"""Keep a float that one trip of a loop stores and the next one loads in a register.

Runs behind versioning, before passes that join loops. A load waits for the store before it, which takes longer than an
addition. LLVM carries an element that every trip stores; this pass one whose store depends on a test that fails on the
last trip only, such as `if x + 1 < w`.
Before:  head(i, left): branch left > 0 -> body(), out          body: x = array_load a, y, i ; ...
         ... branch i + 1 < w -> more(), latch()                more: array_store a, y, i + 1, z ; jump latch()
After:   enter: branch left > 0 -> first(), begin(0.0)          first: v = array_load a, y, i ; jump begin(v)
         begin(v): jump head(i, left, v)                        head(i, left, x): ...
         ... branch i + 1 < w -> more(), latch(x)               more: array_store a, y, i + 1, z ; jump latch(z)
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith as a
from ..ops import control
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE
from ..types.kinds import Bool, Int, is_float
from .alias import Aliases
from .counted import Affine, Counted, Definitions, affine, find, first_and_last
from .operands import Builder, constant_of
from .repair import repair
from .rewrite import substitute

__all__ = ["run"]


def run(fn: ir.Function, options=None) -> None:
    nest, done = LoopNest(fn), False
    for loop in nest.loops:
        if not loop.inner and len(loop.latches) == 1 and not loop.has_hint("novectorize"):
            defs, edges = Definitions(fn), in_edges(fn.blocks)
            counted = find(loop, defs, edges)
            done |= counted is not None and _Loop(fn, nest, counted, defs, edges).carry()
    if done:
        fn.blocks = reverse_postorder(fn)


class _Loop:
    def __init__(self, fn, nest, counted: Counted, defs, edges):
        self.fn, self.nest, self.counted, self.loop = fn, nest, counted, counted.loop
        self.defs, self.edges, self.aliases = defs, edges, Aliases(fn)
        self.everywhere = set(fn.blocks)
        self.memo: dict[ir.Value, Affine] = {}
        self.insts = [(block, inst) for block in nest.dom.order if block in self.loop.blocks for inst in block.insts]

    def form(self, v) -> Affine:
        return affine(v, self.defs, self.everywhere, self.memo)

    def distances(self, one, other) -> list[Affine]:
        """How far the indices of an access to an array are from those of another."""
        rank = one.args[0].type.ndim
        return [self.form(x).plus(self.form(y), -1) for x, y in zip(one.args[1:1 + rank], other.args[1:1 + rank])]

    def carry(self) -> bool:
        load = self.first_load()
        if load is None:
            return False
        for block, store in self.insts:
            if store.op is ARRAY_STORE and store.args[0] is load.args[0] and self.is_next(store, load) and (
                    self.is_last_without(block)) and self.keeps(store, load):
                self.rewrite(load, block, store)
                return True
        return False

    def first_load(self) -> ir.Inst | None:
        """The load of a float at the start of each trip, before all stores."""
        block = self.counted.body.block
        if len(self.edges[block]) != 1:
            return None
        for inst in [*self.loop.header.insts, *block.insts]:
            if inst.op is ARRAY_LOAD and is_float(inst.result.type) and inst.args[0].type.layout != "A" and (
                    self.defs.block_of.get(inst.args[0]) not in self.loop.blocks):
                if all([v in self.counted.steps or self.defs.block_of.get(v) not in self.loop.blocks
                        for v in inst.args[1:]]):
                    return inst
            elif inst.op.effects & ~ir.READS & ~ir.TERMINATOR:
                return None
        return None

    def is_next(self, store, load) -> bool:
        """Whether a store writes the element that the load of the next trip reads."""
        for d, v in zip(self.distances(store, load), load.args[1:]):
            if d.terms or d.constant != self.counted.steps.get(v, 0):
                return False
        return any([v in self.counted.steps for v in load.args[1:]])

    def is_last_without(self, block) -> bool:
        """Whether the one test that a block depends on holds on each trip but the last one."""
        if len(self.edges[block]) != 1:
            return False
        source, inst, edge = self.edges[block][0]
        test = inst.args[0].inst if inst.op is control.BRANCH else None
        if test is None or test.op is not a.ILT or edge is not inst.targets[0] or (
                not self.nest.dom.dominates(source, self.loop.latches[0])):
            return False
        distance = self.form(test.args[0]).plus(self.form(test.args[1]), -1)
        for p, step in self.counted.steps.items():
            if step > 0 and distance.terms.get(p) == 1:
                _, last = first_and_last(self.counted, p, self.defs, self.everywhere, self.memo)
                # the distance on the trip before the last one, where the test must hold
                left = distance.plus(Affine(step, {p: 1}), -1).plus(last, 1)
                return not left.terms and left.constant < 0
        return False

    def keeps(self, store, load) -> bool:
        """Whether nothing else in a trip writes the element that the store writes."""
        for _, inst in self.insts:
            if inst.op is ARRAY_STORE and inst.args[0] is store.args[0]:
                if inst is not store and not any([d.constant and not d.terms for d in self.distances(inst, store)]):
                    return False
            elif self.aliases.may_change(inst, load):
                return False
        return store.args[-1].type is load.result.type

    def rewrite(self, load, block, store) -> None:
        counted, header, t = self.counted, self.loop.header, load.result.type
        loc, entry = load.loc, counted.entry
        start = dict(zip(header.params, entry.args))
        enter, first, begin = ir.Block("enter"), ir.Block("first"), ir.Block("begin", [ir.Value(t)])
        b = Builder(enter.insts, loc, None)
        more = b.op(a.IGT, start[counted.left], b.const(Int, 0), type=Bool)
        none = b.const(t, constant_of(t, 0))
        enter.insts.append(ir.Inst(control.BRANCH, (more,), {}, None, loc, [ir.Edge(first), ir.Edge(begin, [none])]))
        element = Builder(first.insts, loc, None).op(
            ARRAY_LOAD, *[start.get(v, v) for v in load.args], type=t, **load.attrs)
        first.insts.append(ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(begin, [element])]))
        carried = ir.Value(t, load.result.name)
        begin.insts.append(ir.Inst(control.JUMP, (), {}, None, loc, [ir.Edge(header, [*entry.args, begin.params[0]])]))
        entry.block, entry.args = enter, []
        header.params.append(carried)
        counted.body.block.insts.remove(load)
        substitute(self.fn.blocks, {load.result: carried})
        known = ir.Value(t)  # the element at the end of a trip, where there is another one
        latch = self.loop.latches[0]
        for edge in latch.insts[-1].targets:
            if edge.block is header:
                edge.args.append(known)
        self.fn.blocks += [enter, first, begin]
        repair(self.fn, {known: {header: carried, block: store.args[-1]}})
