"""The form of a function that reverse mode starts from.

One block returns, whose parameters are the parts of the result. A loop is entered from one block, its preheader, and
left through exit blocks, one for each exiting edge; values that are used after the loop are parameters of these blocks
(loop-closed SSA). The header counts its visits in a parameter, from 0, and each exit block gets the number of the last
visit.
"""
from __future__ import annotations

from ...ir.cfg import LoopNest, closure, in_edges, predecessors
from ...ir.core import Block, Edge, Function, Inst, Value
from ...ops import arith as a
from ...ops import control as c
from ...ops import structure as s
from ...types import kinds as k
from .. import counted, latches
from ..repair import repair
from ..rewrite import join_edges, remove_unreachable, split_edge
from .builder import Builder, refused
from .common import plain_value
from .opened import end_blocks_at_raises, enter_loops_once

__all__ = ["Normal"]


class Normal:
    """The normal form of a function, with analyses of it. out: the block that returns; parts: its parameters as a tree
    of tuples; alive: the blocks from which `out` can be reached; nest, dom, edges: analyses of the new form; pre: loop
    -> its preheader; exits: loop -> [(source, exiting edge)]; latch: loop -> [its back edge]; visit: loop -> the number
    of the current visit of its header; final: (loop, exit block) -> the number of the last visit; trips: counted loop
    -> the number of its trips, known in the preheader; home: value -> the block that defines it."""

    def __init__(self, fn: Function):
        self.fn = fn
        end_blocks_at_raises(fn)
        self.one_return()
        remove_unreachable(fn)
        nest = LoopNest(fn)
        entered = enter_loops_once(fn) if nest.irreducible else None
        if entered is not None:
            raise refused(fn, entered.insts[0], "a loop is entered in several places here, of which there "
                          "is no derivative", "write the loop without break, or with a flag that ends it")
        if nest.irreducible:
            latches.run(fn)
            nest = LoopNest(fn)
        self.alive = self.returning()
        self.preheaders(nest)
        self.exit_blocks(LoopNest(fn))
        self.nest = nest = LoopNest(fn)
        self.dom, self.edges = nest.dom, in_edges(fn.blocks)
        self.pre, self.exits, self.latch = {}, {}, {}
        for loop in nest.loops:
            (self.pre[loop],) = [p for p, _, _ in self.edges[loop.header] if p not in loop.blocks]
            self.latch[loop] = [x for x in self.edges[loop.header] if x[0] in loop.blocks]
            self.exits[loop] = [(p, e) for p in self.dom.order if p in loop.blocks for e in p.edges()
                                if e.block not in loop.blocks and e.block in self.alive]
        self.count_visits()
        self.retype_at_uses()
        for loop in reversed(nest.loops):
            self.close(loop)
        self.drop_unused()
        self.edges = in_edges(fn.blocks)
        self.home = {}
        for block in fn.blocks:
            self.note(block, block.insts)
            for p in block.params:
                self.home[p] = block

    def note(self, block: Block, insts) -> None:
        """Update the analyses after instructions were added to a block."""
        for inst in insts:
            if inst.result is not None:
                self.home[inst.result] = block

    def insert_behind(self, v: Value, insts: list[Inst]) -> None:
        """Insert instructions behind the definition of a value."""
        block = self.home[v]
        at = 0 if v.inst is None else block.insts.index(v.inst) + 1
        block.insts[at:at] = insts
        self.note(block, insts)

    def loop_of(self, v: Value):
        home = self.home.get(v)
        return None if home is None else self.nest.of.get(home)

    def chain(self, block: Block) -> list:
        """The loops around a block, the outermost first."""
        found, loop = [], self.nest.of.get(block)
        while loop is not None:
            found.append(loop)
            loop = loop.parent
        return found[::-1]

    # -- the steps

    def one_return(self):
        fn = self.fn
        self.out = out = Block("out")

        def opened(t):
            if type(t) is k.Tuple:
                return [opened(part) for part in t.elements]
            out.params.append(Value(t))
            return out.params[-1]

        result = None
        for block in list(fn.blocks):
            last = block.terminator
            if last.op is not c.RETURN:
                continue
            b = Builder(block.insts, last)
            del block.insts[-1]
            y = plain_value(b, last.args[0])
            if result is None:
                result = y.type
                self.parts = opened(result)
            leaves = []

            def take(x):
                if type(x.type) is not k.Tuple:
                    leaves.append(x)
                    return
                made = x.inst
                for n in range(len(x.type.elements)):
                    take(made.args[n] if made is not None and made.op is s.TUPLE_MAKE
                         else b.op(s.TUPLE_GET, x, index=n))

            take(y)
            block.insts.append(Inst(c.JUMP, loc=last.loc, targets=[Edge(out, leaves)]))
        assert result is not None
        b = Builder(out.insts)

        def whole(t, parts):
            return parts if type(t) is not k.Tuple else b.op(
                s.TUPLE_MAKE, *(whole(part, x) for part, x in zip(t.elements, parts)), cls=t.cls)

        self.result = whole(result, self.parts)
        out.insts.append(Inst(c.RETURN, [self.result]))
        fn.blocks.append(out)

    def returning(self) -> set[Block]:
        return set(closure([self.out], predecessors(self.fn.blocks).__getitem__))

    def preheaders(self, nest):
        edges = in_edges(self.fn.blocks)
        for loop in nest.loops:
            outside = [e for _, _, e in loop.entries(edges)]
            pre = split_edge(outside[0], "pre") if len(outside) == 1 else join_edges(outside, "pre")
            self.fn.blocks.append(pre)
            if loop.header in self.alive:
                self.alive.add(pre)

    def exit_blocks(self, nest):
        done: set[int] = set()
        for loop in nest.loops:
            for block in loop.blocks:
                for e in block.edges():
                    if e.block not in loop.blocks and e.block in self.alive and id(e) not in done:
                        exit = split_edge(e, "exit")
                        done.add(id(e))
                        self.fn.blocks.append(exit)
                        self.alive.add(exit)

    def count_visits(self):
        self.visit, self.final, self.trips = {}, {}, {}
        defs = counted.Definitions(self.fn)
        first: list[Inst] = []
        zero, one = Builder(first).const(0, k.Int), Builder(first).const(1, k.Int)
        self.fn.entry.insts[0:0] = first
        for loop in self.nest.loops:
            info = counted.find(loop, defs, self.edges)
            start = info.start[info.left] if info is not None else None
            n = self.visit[loop] = Value(k.Int, "n")
            loop.header.params.append(n)
            self.pre[loop].terminator.targets[0].args.append(zero)
            for p, _, e in self.latch[loop]:
                more = Value(k.Int)
                p.insts.insert(len(p.insts) - 1, Inst(a.IADD, [n, one], {"flags": "nuw nsw"}, more))
                e.args.append(more)
            if start is not None:
                b = Builder([])
                self.trips[loop] = b.op(s.SELECT, b.op(a.IGT, start, zero), start, zero)
                self.pre[loop].insts[-1:-1] = b.insts
            for p, e in self.exits[loop]:
                if loop in self.trips and p is loop.header:
                    self.final[loop, e.block] = self.trips[loop]
                else:
                    last = self.final[loop, e.block] = Value(k.Int, "n")
                    e.block.params.append(last)
                    e.args.append(n)

    def retype_at_uses(self):
        """Let each block that uses a number or an array under another type convert it itself, so that it leaves a loop
        under one type: otherwise its adjoint would go around the reversed loop in two parts, and be no sum."""
        if not self.nest.loops:
            return
        homes = {i.result: block for block in self.dom.order for i in block.insts
                 if i.op in (s.RETYPE, s.DUAL_MAKE) and block in self.nest.of}
        for block in self.dom.order if homes else ():
            b = Builder([])
            own: dict[Value, Value] = {}

            def here(v, block=block, b=b, own=own):
                if homes.get(v, block) is block:
                    return v
                if v not in own:
                    own[v] = b.again(v.inst, v.inst.args)
                return own[v]

            for inst in block.insts:
                inst.args = list(map(here, inst.args))
                for e in inst.edges():
                    e.args = list(map(here, e.args))
            block.insts[0:0] = b.insts

    def close(self, loop):
        """Make values that are used after a loop parameters of its exit blocks."""
        home = {v: block for block in loop.blocks
                for v in block.values()}
        read: dict[Value, None] = {}
        for block in self.dom.order:
            if block not in loop.blocks and block in self.alive:
                for inst in block.insts:
                    for values in (inst.args, *(e.args for e in inst.edges())):
                        read.update(dict.fromkeys(v for v in values if v in home))
        definitions = {}
        for v in read:
            ends = {home[v]: v}
            for p, e in self.exits[loop]:
                if self.dom.dominates(home[v], p) and (v.inst is None or v.inst.unwind is not e):
                    x = Value(v.type, v.name)
                    for inst in e.block.insts:
                        inst.args = [x if y is v else y for y in inst.args]
                        for to in inst.edges():
                            to.args = [x if y is v else y for y in to.args]
                    e.block.params.append(x)
                    e.args.append(v)
                    ends[e.block] = x
            definitions[v] = ends
        repair(self.fn, definitions)

    def drop_unused(self):
        """Remove the parameters of exit blocks that nothing reads: a value that is read behind one exit of a loop
        would else seem to be read behind all."""
        read: dict[Value, int] = {}
        for block in self.fn.blocks:
            for inst in block.insts:
                for v in inst.uses():
                    read[v] = read.get(v, 0) + 1
        kept = set(self.final.values())
        work = [e for exits in self.exits.values() for _, e in exits]
        homes = {p: e for e in work for p in e.block.params}
        while work:
            e = work.pop()
            unused = {n for n, p in enumerate(e.block.params) if not read.get(p) and p not in kept}
            for n in unused:
                x = e.args[n]
                read[x] -= 1
                if x in homes and not read[x]:
                    work.append(homes[x])
            if unused:
                e.block.params = [p for n, p in enumerate(e.block.params) if n not in unused]
                e.args = [x for n, x in enumerate(e.args) if n not in unused]
