"""Keep a number that one trip of a loop stores and the next one loads in a register.

Runs behind versioning, before passes that join loops. A load waits for the store before it, which takes longer than an
addition. LLVM does this for an element that every trip loads at one place and stores at one place. This pass does it
for three more kinds of elements: those whose store depends on a test that fails only on the last trip, such as
`if x + 1 < w`, those that are stored in several branches of a trip, and those that only some branches load.
Before:  head(i, left): branch left > 0 -> body(), out          body: x = array_load a, y, i ; ...
         ... branch i + 1 < w -> more(), latch()                more: array_store a, y, i + 1, z ; jump latch()
After:   enter: branch left > 0 -> first(), begin(0.0)          first: v = array_load a, y, i ; jump begin(v)
         begin(v): jump head(i, left, v)                        head(i, left, x): ...
         ... branch i + 1 < w -> more(), latch(x)               more: array_store a, y, i + 1, z ; jump latch(z)
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, closure, in_edges, reverse_postorder, successors
from ..ops import arith as a
from ..ops import control
from ..ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE
from ..types.kinds import Int, is_float, is_integer
from .alias import Aliases
from .counted import Affine, Counted, Definitions, affine, find, first_and_last
from .operands import constant_of
from .repair import repair
from .rewrite import Builder, substitute

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
        """The differences between the indices of two accesses to an array."""
        rank = one.args[0].type.ndim
        return [self.form(x).plus(self.form(y), -1) for x, y in zip(one.args[1:1 + rank], other.args[1:1 + rank])]

    def carry(self) -> bool:
        for block, load in self.insts:
            if load.op is ARRAY_LOAD and self.may_be_carried(load):
                stores = {b: store for b, store in self.insts if store.op is ARRAY_STORE
                          and store.args[0] is load.args[0] and self.is_next(store, load)}
                if stores and self.are_all(stores, block) and self.keeps(stores, load, block):
                    self.rewrite(load, block, stores)
                    return True
        return False

    def may_be_carried(self, load) -> bool:
        """Whether a load reads a number of an array from outside the loop, another one on each trip."""
        t, array = load.result.type, load.args[0]
        if not (is_float(t) or is_integer(t)) or array.type.layout == "A" or self.varies(array):
            return False
        terms = {v for index in load.args[1:] for v in self.form(index).terms}
        return not self.counted.steps.keys().isdisjoint(terms) and all(
            v in self.counted.steps or not self.varies(v) for v in terms)

    def varies(self, v) -> bool:
        return self.defs.block_of.get(v) in self.loop.blocks

    def is_next(self, store, load) -> bool:
        """Whether a store writes the element that the load of the next trip reads."""
        for d, index in zip(self.distances(store, load), load.args[1:]):
            step = sum([c * self.counted.steps.get(v, 0) for v, c in self.form(index).terms.items()])
            if d.terms or d.constant != step:
                return False
        return store.args[-1].type is load.result.type

    def are_all(self, stores, block) -> bool:
        """Whether each trip runs one of the stores, but not each trip runs all of them and the load in `block`; or
        whether each trip runs the load, and each trip but the last one the only store. (LLVM itself carries an element
        that each trip loads and stores at one place.)"""
        def blocks(found):
            return [b for b in found if b in self.loop.blocks and b not in stores]

        latch = self.loop.latches[0]
        if len(stores) == 1 and self.is_last_without(*stores):
            return self.nest.dom.dominates(block, latch)
        seen = closure(blocks([self.counted.body.block]), lambda one: blocks(successors(one)))
        return latch not in seen and not all(self.nest.dom.dominates(b, latch) for b in (block, *stores))

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

    def keeps(self, stores, load, block) -> bool:
        """Whether no other instruction of a trip writes the element that the stores write, nor, before the load, the
        element that the load reads."""
        before = True
        for b, inst in self.insts:
            before &= inst is not load
            if inst.op is ARRAY_STORE and inst.args[0] is load.args[0]:
                others = [] if inst in stores.values() else [next(iter(stores.values()))]
                if before or not self.nest.dom.dominates(block, b):
                    others.append(load)
                if not all([any([d.constant and not d.terms for d in self.distances(inst, one)]) for one in others]):
                    return False
            elif self.aliases.may_change(inst, load):
                return False
        return True

    def rewrite(self, load, block, stores) -> None:
        counted, header, t = self.counted, self.loop.header, load.result.type
        loc, entry = load.loc, counted.entry
        start = dict(zip(header.params, entry.args))
        enter, first, begin = ir.Block("enter"), ir.Block("first"), ir.Block("begin", [ir.Value(t)])
        b = Builder(enter.insts, loc, None)
        more = b.test(a.IGT, start[counted.left], b.const(Int, 0))
        indices = [self.at_start(index, b) for index in load.args[1:]]
        if not self.nest.dom.dominates(block, self.loop.latches[0]):
            # The first trip need not load the element, which may lie outside of the array.
            for axis, index in enumerate(indices):
                length = b.int(ARRAY_DIM, load.args[0], axis=axis)
                for test, bound in (a.IGE, b.const(Int, 0)), (a.ILT, length):
                    more = b.both(more, b.test(test, index, bound))
        none = b.const(t, constant_of(t, 0))
        b.branch(more, ir.Edge(first), ir.Edge(begin, [none]))
        f = Builder(first.insts, loc)
        f.jump(ir.Edge(begin, [f.op(ARRAY_LOAD, load.args[0], *indices, type=t, **load.attrs)]))
        carried = ir.Value(t, load.result.name)
        Builder(begin.insts, loc).jump(ir.Edge(header, [*entry.args, begin.params[0]]))
        entry.block, entry.args = enter, []
        header.params.append(carried)
        block.insts.remove(load)
        substitute(self.fn.blocks, {load.result: carried})
        known = ir.Value(t)  # the element at the end of a trip, where there is another one
        latch = self.loop.latches[0]
        for edge in latch.insts[-1].targets:
            if edge.block is header:
                edge.args.append(stores[latch].args[-1] if latch in stores else known)
        self.fn.blocks += [enter, first, begin]
        repair(self.fn, {known: {header: carried, **{one: store.args[-1] for one, store in stores.items()}}})

    def at_start(self, index, b: Builder) -> ir.Value:
        """The value of an index on the first trip, computed outside the loop."""
        start = dict(zip(self.loop.header.params, self.counted.entry.args))
        if index in start or not self.varies(index):
            return start.get(index, index)
        form = self.form(index)
        found = b.const(Int, form.constant)
        for v, c in form.terms.items():
            term = start.get(v, v)
            found = b.int(a.IADD, found, term if c == 1 else b.int(a.IMUL, term, b.const(Int, c)))
        return found
