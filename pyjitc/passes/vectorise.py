"""Vectorise a loop around loops whose numbers of trips differ, or whose trips depend on each other.

Runs when versioning has made the copies of loops without checks, and before polling. LLVM vectorises innermost loops
only; but in `for i: while abs(z * z - y) > tolerance: z = ...` the trips of the inner loop wait for each other, and
those of the outer one are independent. A copy of the outer loop does `LANES` of its iterations at once: every number
that differs between them becomes a vector, branches become masks that choose values, and the inner loop runs until no
lane needs another trip. The values with which a lane leaves an inner loop are kept until all lanes have left it. The
original loop executes the remaining iterations.
Before:  head(i, left): branch left > 0 -> body, exit        body: x = array_load a, i ; jump inner(x)
         inner(z): z1 = f(z) ; branch t(z1) -> inner(z1), done(z1)         done(r): array_store out, i, r ; jump head
After:   wide(i, left): branch left > LANES - 1 -> lanes, head(i, left)
         lanes: X = vector_make of array_load a, i + n ; jump inner'(X, true, 0)
         inner'(Z, M, R): Z1 = f'(Z) ; T = t'(Z1) ; R1 = M and not T ? Z1 : R ; any M and T -> inner'(Z1, M and T, R1)
         done': array_store out, i + n, lane n of R1 ; jump wide(i + LANES, left - LANES)
Inner loops must consist of arithmetic, some of it on floats: a lane that has left an inner loop goes on computing until
the others have left it, which must have no visible effect. An inner loop may also load an element that is the same for
all lanes, as long as at least one lane needs it, if LLVM would not vectorise the inner loop by itself. Outside of inner
loops, memory is accessed for one lane after the other, behind a branch if only some iterations make the access.
Accesses of different iterations must not conflict: iterations store to arrays that no other access of the loop uses, or
to elements of their own. If a lane leaves the outer loop or raises an exception, the original loop repeats the
iterations of all lanes, none of which has stored anything yet. Complex numbers are represented by their two parts.
What one iteration hands to the next, such as a sum, is computed for one lane after the other, too; counters that inner
loops carry begin with 0 in each iteration and are added up.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, the value of each number, the order of the stores of one place.
"""
from __future__ import annotations

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, closure, in_edges, reverse_postorder
from ..ops import arith as a
from ..ops import control as c
from ..ops import math as m
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE, OF_ONE_RUN
from ..ops.structure import SELECT
from ..ops.vectors import (
    VECTOR_ANY, VECTOR_EACH, VECTOR_GET, VECTOR_MAKE, VECTOR_SPLAT, has_vector_form, may_be_lane,
)
from ..types import kinds as k
from .alias import Aliases
from .counted import MOST_UNROLLED, Counted, Definitions, find
from .operands import constant_of
from .hints import adds_in_order
from .rewrite import Builder, clone_inst, substitute

__all__ = ["run"]

LANES = 8
_LEAST = 3  # the fewest operations on floats, and loads, of inner loops that are worth it
_PARTS = (a.REAL, a.IMAG)
_MOST = 300  # the most instructions of the loop: many of them are made LANES times
_GUARDED = 4  # the most accesses to memory that only some iterations make, each of which becomes LANES branches
_NEAR, _STEP = 1 << 32, 1 << 12  # a counter that starts below and takes such steps takes days to overflow


class _Unfit(Exception):
    """Raised where a loop cannot be vectorised, and stays as it is."""


def run(fn: ir.Function, options=Options()) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    nest = LoopNest(fn)
    outer = [loop for loop in nest.loops if loop.inner]
    if not outer or nest.irreducible:
        return
    blocks = dict.fromkeys([block for loop in outer for block in loop.blocks])
    if any([k.is_complex(p.type) for block in blocks for p in block.params]):
        _carry_parts(fn, nest, list(blocks))
    defs, edges, aliases = Definitions(fn), in_edges(fn.blocks), Aliases(fn)
    done: set[ir.Block] = set()
    for loop in outer:  # outer loops first
        counted = None if loop.header in done else find(loop, defs, edges)
        if counted is not None:
            try:
                fn.blocks += _Lanes(counted, nest, aliases, defs, edges, options).build()
            except _Unfit:
                continue
            done.update(loop.blocks)
    if done:
        fn.blocks = reverse_postorder(fn)


def _carry_parts(fn: ir.Function, nest: LoopNest, blocks: list[ir.Block]) -> None:
    """Let the blocks of loops have the parts of complex numbers as parameters, which may become vectors."""
    edges, home = in_edges(fn.blocks), Definitions(fn).block_of
    changed = {}
    for block in blocks:
        if any([k.is_complex(p.type) for p in block.params]):
            changed[block] = block.params
            block.params = []
            for p in changed[block]:
                parts = [p]
                if k.is_complex(p.type):
                    parts = [ir.Value(a.REAL.rule((p.type,), {}), p.name) for _ in range(2)]
                    block.insts.insert(0, ir.Inst(a.COMPLEX_MAKE, parts, {}, p, block.insts[0].loc))
                block.params += parts
    for block in changed:
        for source, inst, edge in edges[block]:
            b = Builder([], inst.loc, None)
            edge.args = [part for x in edge.args for part in (_parts(x, b) if k.is_complex(x.type) else [x])]
            n = source.insts.index(inst)
            source.insts[n:n] = b.insts
    known: dict[ir.Value, ir.Value] = {}
    for block in blocks:
        made: list[ir.Inst] = []
        for inst in block.insts:
            b = Builder(made, inst.loc, None)
            if inst.op in _PARTS:
                if k.is_complex(inst.args[0].type) and (_source(inst.args[0]).inst or inst).op is a.COMPLEX_MAKE:
                    known[inst.result] = _parts(inst.args[0], b)[inst.op is a.IMAG]
            else:
                for n, x in enumerate(inst.args):  # what an inner loop leaves behind
                    inside = nest.of.get(home[x]) if k.is_complex(x.type) else None
                    if inside is not nest.of[block] and _is_in(inside, nest.of[block]):
                        inst.args[n] = b.op(a.COMPLEX_MAKE, *_parts(x, b), type=x.type)
            made.append(inst)
        block.insts = made
    substitute(fn.blocks, known)


def _source(x: ir.Value) -> ir.Value:
    """The complex number from which conversions made x."""
    while x.inst is not None and x.inst.op is a.CAST and k.is_complex(x.inst.args[0].type):
        x = x.inst.args[0]
    return x


def _parts(x: ir.Value, b: Builder) -> list[ir.Value]:
    """The parts of a complex number."""
    t = a.REAL.rule((x.type,), {})
    if x.inst is not None and x.inst.op is a.COMPLEX_MAKE:
        return x.inst.args
    if x.inst is not None and x.inst.op is c.CONST:
        return [b.const(t, x.inst.attrs["value"].real), b.const(t, x.inst.attrs["value"].imag)]
    if x.inst is not None and x.inst.op is a.CAST and k.is_complex(x.inst.args[0].type):
        return [b.cast(part, t) for part in _parts(x.inst.args[0], b)]
    return [b.op(a.REAL, x, type=t), b.op(a.IMAG, x, type=t)]


class _Exits:
    """The exits that the lanes of an inner loop have taken. masks: block outside -> the lanes that have left to it;
    values: parameter of such a block, or value of the loop that is read after it -> its value in each lane when that
    lane left."""

    def __init__(self, masks: dict[ir.Block, ir.Value], values: dict[ir.Value, ir.Value]):
        self.masks, self.values = masks, values

    def all(self) -> list[ir.Value]:
        return [*self.masks.values(), *self.values.values()]

    def renamed(self, to: list[ir.Value]) -> _Exits:
        n = len(self.masks)
        return _Exits(dict(zip(self.masks, to[:n])), dict(zip(self.values, to[n:])))


class _Lanes:
    """Makes the vectorised copy of a loop. varying: values that differ between the iterations; same: value that does
    not -> its copy; vectors, single: value that does -> the vector of it, or its numbers in the iterations; mask:
    the lanes for which a block runs, None for all; arriving: block -> (mask, arguments) of each edge to it so far;
    made: the new blocks; work: operations on vectors of floats, and loads, in inner loops."""

    def __init__(self, counted: Counted, nest: LoopNest, aliases: Aliases, defs: Definitions, edges,
                 options: Options):
        self.options = options
        self.counted, self.nest, self.aliases, self.defs, self.edges = counted, nest, aliases, defs, edges
        self.loop, self.header = counted.loop, counted.loop.header
        self.same: dict[ir.Value, ir.Value] = {}
        self.vectors: dict[ir.Value, ir.Value] = {}
        self.single: dict[ir.Value, list[ir.Value]] = {}
        self.arriving: dict[ir.Block, list] = {self.header: [(None, ())]}
        self.made: list[ir.Block] = []
        self.loaded: dict[tuple, ir.Value] = {}  # operands of a load -> its result in each iteration
        self.chain: list[ir.Inst] = []  # instructions on the values that iterations carry to the next one
        self.splats: dict[ir.Value, ir.Value] = {}
        self.constants: dict[tuple, ir.Value] = {}
        self.done: set[ir.Inst] = set()  # instructions of inner loops that were made before these
        self.guarded = 0
        self.stored = False
        self.work = 0
        self.b = self.ahead = Builder([], self.header.terminator.loc, None)

    # -- whether it can be done, and what differs between the iterations

    def check(self) -> None:
        counted, loop, of = self.counted, self.loop, self.nest.of
        if (loop.has_hint("novectorize") or sum([len(block.insts) for block in loop.blocks]) > _MOST
            or all(map(self.is_unrolled, loop.inner))):
            raise _Unfit
        for one in [one for one in self.nest.loops if _is_in(one, loop)]:
            if sum([source in one.blocks for source, _, _ in self.edges[one.header]]) != 1:
                raise _Unfit  # several back edges
        self.carried = {p for p in self.header.params if p not in counted.steps and p not in counted.strides}
        self.counting: set[ir.Inst] = set()
        self.sums = {p for p in self.carried if p.type is k.Int and self.is_sum(p)}
        self.carried -= self.sums
        accesses = []
        for block in loop.blocks:
            here = of[block]
            if block.terminator.op not in (c.JUMP, c.BRANCH):
                raise _Unfit
            for edge in block.terminator.targets:
                if edge.block in loop.blocks and edge.block not in here.blocks and of[edge.block] is not here.parent:
                    raise _Unfit  # it leaves two inner loops
            for inst in block.insts[:-1]:
                if inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE:
                    accesses.append(inst)
                if inst.unwind is not None or (here is not loop and inst.op.effects and inst.op is not ARRAY_LOAD
                                               and inst.op is not a.CHECK_NONZERO and inst not in self.counting
                                               and not self.is_counter(inst)):
                    raise _Unfit
        stores = [inst for inst in accesses if inst.op is ARRAY_STORE]
        self.may_raise = not stores
        if self.header.terminator.attrs.get("independent") not in ("prange", "nest") and not all([
                store is other or self.aliases.are_disjoint(store, other) or self.is_own(store, other)
                for store in stores for other in accesses]):
            raise _Unfit

    def is_unrolled(self, loop) -> bool:
        """Whether an inner loop will be unrolled, after which LLVM vectorises the outer one."""
        counted = find(loop, self.defs, self.edges)
        trips = None if counted is None else self.defs.constant(counted.start[counted.left])
        return trips is not None and trips <= MOST_UNROLLED and len(loop.exits()) == 1

    def is_own(self, store: ir.Inst, other: ir.Inst) -> bool:
        """Whether two accesses of an iteration are to the same element, and to a different one in each iteration."""
        n = store.args[0].type.ndim + 1
        return (store.args[:n] == other.args[:n] and store.args[0].type.layout == "C"
                and any([self.counted.steps.get(index) for index in store.args[1:n]]))

    def is_counter(self, inst: ir.Inst) -> bool:
        """Whether an instruction counts the trips of a loop from a small number on, and so never overflows."""
        if inst.op.wrapping is not a.IADD or not _is_small(inst.args[1], _STEP):
            return False
        p = inst.args[0]
        header = self.defs.block_of.get(p)
        if header not in self.nest.of or self.nest.of[header].header is not header or p not in header.params:
            return False
        n = header.params.index(p)
        return all([edge.args[n] is inst.result or _is_small(edge.args[n], _NEAR) for _, _, edge in self.edges[header]])

    def is_sum(self, p: ir.Value) -> bool:
        """Whether iterations only add to a parameter of the header: they may all begin with 0."""
        chain, count, counting = {p}, 0, set()
        while len(chain) > count:
            count = len(chain)
            given: dict[ir.Value, list[ir.Value]] = {}
            for block in self.loop.blocks:
                for inst in block.insts:
                    if not chain.isdisjoint(inst.args):
                        counts = inst.op.wrapping is a.IADD and _is_small(inst.args[1], _STEP)
                        if inst.op is not a.IADD and not counts or inst.args[0] not in chain or inst.args[1] in chain:
                            return False
                        if counts:
                            counting.add(inst)
                        chain.add(inst.result)
                for edge in block.terminator.targets:
                    if edge.block in self.loop.blocks:
                        for q, x in zip(edge.block.params, edge.args):
                            given.setdefault(q, []).append(x)
            for q, found in given.items():
                if not chain.isdisjoint(found):
                    chain.add(q)
        if any([q in chain and not chain.issuperset(found) for q, found in given.items()]) or not chain.isdisjoint(
                self.header.params[n] for n in range(len(self.header.params)) if self.header.params[n] is not p):
            return False
        if counting and not self.is_near(self.counted.start[p], set()):
            return False
        self.counting |= counting
        return True

    def is_near(self, v: ir.Value, seen: set[ir.Value]) -> bool:
        """Whether a number starts small and is only counted up and down."""
        if v in seen:
            return True
        seen.add(v)
        if v.inst is not None:
            inst = v.inst
            return _is_small(v, _NEAR) or (inst.op is a.IADD or inst.op.wrapping is a.IADD) and _is_small(
                inst.args[1], _STEP) and self.is_near(inst.args[0], seen)
        block = self.defs.block_of[v]
        return bool(self.edges[block]) and all([
            self.is_near(edge.args[block.params.index(v)], seen) for _, _, edge in self.edges[block]])

    def find_varying(self) -> None:
        """Find the values that vary: those that depend on the number of the iteration, those that a branch chooses, and
        those that an inner loop leaves behind, in which each lane may make another number of trips."""
        blocks, of = self.loop.blocks, self.nest.of
        home = {v: of[block] for block in blocks
                for v in (*block.params, *[inst.result for inst in block.insts if inst.result is not None])}
        self.home = home
        # value -> (the loop that it is for, the values on which it depends)
        depends: dict[ir.Value, tuple] = {}
        for block in blocks:
            here = of[block]
            for inst in block.insts[:-1]:
                if inst.result is not None:
                    depends[inst.result] = here, inst.args
            for edge in block.terminator.targets:
                for p, x in zip(edge.block.params, edge.args):
                    if edge.block in blocks and edge.block is not self.header:
                        depends.setdefault(p, (of[edge.block], []))[1].append(x)
        varying = set(self.header.params) - self.sums
        for p, (here, given) in depends.items():
            if any([x in home and not _is_in(here, home[x]) for x in given]) or (
                    p.inst is None and p not in here.header.params and len(set(given)) > 1):
                varying.add(p)
        count = -1
        while len(varying) > count:
            count = len(varying)
            varying.update([p for p, (_, given) in depends.items() if not varying.isdisjoint(given)])
        self.varying = varying

    def find_needed(self) -> None:
        """Find the values that matter besides counting the iterations."""
        work: list[ir.Value] = []
        for block in self.loop.blocks:
            for inst in block.insts:
                if inst.op.effects & ~ir.TERMINATOR:
                    work += inst.args
            last = block.terminator
            if last is not self.header.terminator:
                work += last.args
            for edge in last.targets:
                if edge.block in self.loop.blocks:
                    work += [x for p, x in zip(edge.block.params, edge.args)
                             if edge.block is not self.header or p in self.carried or p in self.sums]
        self.needed = set(closure(work, lambda v: v.inst.args if v.inst is not None else ()))

    # -- the copy

    def build(self) -> list[ir.Block]:
        self.check()
        self.find_varying()
        counted, header = self.counted, self.header
        self.find_needed()
        wide, body = self.block("wide"), self.block("lanes")
        wide.params = [ir.Value(p.type, p.name) for p in header.params]
        first = dict(zip(header.params, wide.params))
        self.start(wide)
        enough = self.b.test(a.IGT, first[counted.left], self.b.const(k.Int, LANES - 1))
        self.end(c.BRANCH, [enough], ir.Edge(body), ir.Edge(header, [*wide.params]))
        self.ahead = Builder(body.insts, self.b.loc, None)
        self.start(self.block("go"))
        after = first.copy()
        for p in header.params:
            if p in self.sums:
                self.same[p] = self.b.const(k.Int, 0)
            elif p not in self.carried:
                after[p] = self.further(p, first[p], LANES)
                if p in self.needed:
                    self.single[p] = [first[p], *[self.further(p, first[p], n) for n in range(1, LANES)]]
        begun = [p for p in header.params if p in self.carried or p in self.sums]
        self.region(self.loop, None, None)
        if self.work < _LEAST:
            raise _Unfit
        after.update(self.in_turn({p: first[p] for p in begun}))
        self.end(c.JUMP, (), ir.Edge(wide, [after[p] for p in header.params]))
        self.current, self.b = body, self.ahead
        self.end(c.JUMP, (), ir.Edge(self.made[2]))
        counted.entry.block = wide
        header.terminator.attrs["most_trips"] = LANES - 1
        for loop in [loop for loop in self.nest.loops if _is_in(loop, self.loop)]:
            for latch in loop.latches:  # few iterations are left: the loop is not worth a fast form
                latch.terminator.attrs["novectorize"] = True
        return self.made

    def in_turn(self, now: dict[ir.Value, ir.Value]) -> dict[ir.Value, ir.Value]:
        """Compute the values that iterations carry to the next one, for one lane after the other. now: parameter of the
        header -> its value in the first lane; returns the values after the last lane."""
        (_, _, edge), = [one for one in self.edges[self.header] if one[0] in self.loop.blocks]
        onward = dict(zip(self.header.params, edge.args))
        totals = {p: v for p, v in now.items() if p in self.sums}
        now = {p: v for p, v in now.items() if p in self.carried}
        for p in totals:
            for x in self.numbers(onward[p]):
                totals[p] = self.b.int(a.IADD, totals[p], x)
        others = {x: self.numbers(x) for x in dict.fromkeys(
            [*[x for inst in self.chain for x in inst.args], *[onward[p] for p in now]]) if x not in self.carried}
        for n in range(LANES):
            values = now | {x: lanes[n] for x, lanes in others.items()}
            self.b.insts += [clone_inst(inst, values, {}) for inst in self.chain]
            now = {p: values[onward[p]] for p in now}
        return now | totals

    def further(self, p, first, n) -> ir.Value:
        """The value of a parameter of the header n iterations later."""
        b, step = self.b, self.counted.steps.get(p)
        if step is not None:
            return b.int(a.IADD, first, b.const(k.Int, n * step))
        return b.int(a.IADD, first, b.int(a.IMUL, self.counted.strides[p], b.const(k.Int, n)))

    def block(self, name: str) -> ir.Block:
        self.made.append(ir.Block(name))
        return self.made[-1]

    def start(self, block: ir.Block) -> None:
        self.current, self.b = block, Builder(block.insts, self.header.terminator.loc, None)

    def end(self, op, args, *targets) -> None:
        attrs = {"likely": None} if op is c.BRANCH else {}
        self.current.insts.append(ir.Inst(op, args, attrs, None, self.b.loc, targets))

    def region(self, loop, whole: ir.Value | None, exits: _Exits | None) -> None:
        """Copy the blocks of a loop that the lanes `whole` run: inner loops become loops, the rest straight-line
        code."""
        for block in loop.blocks:
            here = self.nest.of[block]
            if here is not loop:
                if here.parent is loop and block is here.header:
                    self.inner(here, whole)
                continue
            arrived = self.arriving.pop(block)
            # all lanes run this block if none is on the way to another block, or has left
            self.full = loop is self.loop and not self.arriving
            self.mask = None if self.full else _joined(self, [mask for mask, _ in arrived])
            if block is not loop.header:
                self.join(block, arrived)
            for inst in block.insts[:-1]:
                self.b.loc = inst.loc
                self.instruction(inst, loop)
            self.leave(block.terminator, loop, exits)

    def leave(self, inst: ir.Inst, loop, exits: _Exits | None) -> None:
        """Record the mask and the arguments of each edge from the end of a block."""
        staying = [edge.block in self.loop.blocks for edge in inst.targets]
        masks = [self.mask]
        if inst.op is c.BRANCH and inst is not self.header.terminator:
            test = self.vector(inst.args[0])
            if not all(staying):
                self.give_up(test if staying[1] else self.each(a.BXOR, test, self.constant(k.Bool, True)))
                masks *= 2
            else:
                masks = [self.both(test), self.both(self.each(a.BXOR, test, self.constant(k.Bool, True)))]
        else:
            masks *= len(inst.targets)
        for edge, mask in zip(inst.targets, masks):
            if edge.block is self.header or edge.block not in self.loop.blocks:
                continue
            if edge.block in loop.blocks:
                self.arriving.setdefault(edge.block, []).append((mask, edge.args))
                continue
            assert exits is not None  # the outer loop is left at its header alone
            exits.masks[edge.block] = self.each(a.BOR, exits.masks[edge.block], mask)
            for p, x in [*zip(edge.block.params, edge.args), *[(v, v) for v in exits.values]]:
                if p in exits.values and (x in self.vectors or x in self.same or x in self.single
                                          or x not in self.home):
                    exits.values[p] = self.each(SELECT, mask, self.vector(x), exits.values[p])

    def give_up(self, test: ir.Value) -> None:
        """Let the original loop repeat the iterations of all lanes if the test holds in one, which leaves the loop or
        raises."""
        if self.stored:
            raise _Unfit
        stay = ir.Block("stay")
        self.end(c.BRANCH, [self.b.test(VECTOR_ANY, self.both(test))],
                 ir.Edge(self.header, [*self.made[0].params]), ir.Edge(stay))
        self.made.append(stay)
        self.start(stay)

    def join(self, block: ir.Block, arrived) -> None:
        """Compute the parameters of a block by selects among the arguments of the edges to it."""
        for n, p in enumerate(block.params):
            if p not in self.varying:
                self.same[p] = self.once(arrived[0][1][n])
                continue
            given = [(mask, args[n] if type(args[n].type) is k.Vector else self.vector(args[n]))
                     for mask, args in arrived]
            value = given[0][1]
            for mask, x in given[1:]:
                value = value if value is x else self.each(SELECT, mask, x, value)
            self.vectors[p] = value

    def inner(self, loop, whole: ir.Value | None) -> None:
        """Copy an inner loop, which runs until no lane needs another trip."""
        header = loop.header
        arrived = self.arriving.pop(header)
        if len(arrived) > 1:
            raise _Unfit
        active = _joined(self, [mask for mask, _ in arrived]) if whole is not None or self.arriving else None
        self.join(header, arrived)
        if active is None:
            active = self.constant(k.Bool, True)
            self.hoist(loop)
        begin = [active, *[(self.vectors if p in self.varying else self.same)[p] for p in header.params]]
        exits = self.exits_of(loop)
        trip = self.block("trip")
        trip.params = [ir.Value(v.type, v.name) for v in (*begin, *exits.all())]
        self.end(c.JUMP, (), ir.Edge(trip, [*begin, *exits.all()]))
        self.start(trip)
        active, *own = trip.params[:len(begin)]
        exits = exits.renamed(trip.params[len(begin):])
        for p, v in zip(header.params, own):
            (self.vectors if p in self.varying else self.same)[p] = v
        waiting, self.arriving = self.arriving, {header: [(active, ())]}
        self.region(loop, active, exits)
        ((mask, args),) = self.arriving.pop(header)
        following = [self.vector(x) if p in self.varying else self.once(x) for p, x in zip(header.params, args)]
        together = ir.Block("together")
        self.end(c.BRANCH, [self.b.test(VECTOR_ANY, mask)],
                 ir.Edge(trip, [mask, *following, *exits.all()]), ir.Edge(together))
        self.made.append(together)
        self.start(together)
        self.arriving = waiting
        for v in exits.values:
            if v in self.home and v not in self.entered(loop):
                self.vectors[v] = exits.values[v]
        given = {edge.block: edge.args for edge in self.exits(loop)}
        for block, mask in exits.masks.items():
            self.arriving.setdefault(block, []).append(
                (mask, [exits.values.get(p, x) for p, x in zip(block.params, given[block])]))

    def hoist(self, loop) -> None:
        """Hoist out of an inner loop the loads that all lanes run in its first trip."""
        self.full = True
        counted = find(loop, self.defs, self.edges)
        own = [block for block in loop.blocks if self.nest.of[block] is loop]
        block: ir.Block | None = loop.header
        while block is not None and block in own:
            for inst in block.insts:
                if inst.op is ARRAY_LOAD and not any([_is_in(self.home.get(x), loop) for x in inst.args]) and (
                        self.full or not self.varying.isdisjoint(inst.args)) or (
                        inst.op in _PARTS and inst.args[0] in self.single):
                    self.instruction(inst, self.loop)
                    self.done.add(inst)
            onward = [edge.block for edge in block.terminator.targets]
            if block is loop.header and counted is not None:
                left = counted.start[counted.left]
                if self.defs.constant(left) is None and left not in self.varying:
                    self.full = False
                    self.mask = self.splat(self.b.test(a.IGT, self.once(left), self.b.const(k.Int, 0)))
                elif (self.defs.constant(left) or 0) <= 0:
                    return
                onward = [counted.body.block]
            elif len(onward) == 2 and all([way in loop.blocks for way in onward]):  # two ways that may meet again
                onward = list({edge.block for way in onward for edge in way.terminator.targets})
            block = onward[0] if len(onward) == 1 and onward[0] is not loop.header else None

    def exits(self, loop) -> list[ir.Edge]:
        """The edges from an inner loop to the rest of the outer one."""
        return [edge for _, edge in loop.exits() if edge.block in self.loop.blocks]

    def entered(self, loop) -> set[ir.Value]:
        """The parameters of the blocks to which a loop leads."""
        return {p for edge in self.exits(loop) for p in edge.block.params}

    def exits_of(self, loop) -> _Exits:
        """The initial `_Exits` of a loop, which no lane has left yet."""
        own = {v for v, home in self.home.items() if _is_in(home, loop)}
        outside = [block for block in self.loop.blocks if block not in loop.blocks]
        read = {v: None for block in outside for inst in block.insts
                for v in (*inst.args, *[v for edge in inst.targets for v in edge.args]) if v in own}
        kept = dict.fromkeys([p for edge in self.exits(loop) for p in edge.block.params if p in self.varying]) | read
        none = self.constant(k.Bool, False)
        return _Exits({edge.block: none for edge in self.exits(loop)}, {v: self.nothing(v.type) for v in kept})

    def nothing(self, t: k.Type) -> ir.Value:
        if not may_be_lane(t):
            raise _Unfit
        return self.constant(t, constant_of(t, 0))

    # -- values

    def both(self, test: ir.Value) -> ir.Value:
        """The lanes of the mask for which a test holds; the select keeps poison of the test in other lanes from
        spreading."""
        if self.mask is None:
            return test
        return self.each(SELECT, self.mask, test, self.constant(k.Bool, False))

    def once(self, x: ir.Value) -> ir.Value:
        """The copy of a value that is the same for all iterations."""
        if x in self.varying:
            raise _Unfit
        return self.same.get(x, x)

    def vector(self, x: ir.Value) -> ir.Value:
        found = self.vectors.get(x)
        if found is not None:
            return found
        if not may_be_lane(x.type):
            raise _Unfit
        if x in self.single:
            return self.b.op(VECTOR_MAKE, *self.single[x], type=k.Vector(x.type, LANES))
        return self.splat(self.once(x))

    def numbers(self, x: ir.Value) -> list[ir.Value]:
        """A value in each of the iterations."""
        if x in self.single:
            return self.single[x]
        if x in self.vectors:
            return [self.b.op(VECTOR_GET, self.vectors[x], type=x.type, lane=n) for n in range(LANES)]
        return [self.once(x)] * LANES

    def splat(self, x: ir.Value) -> ir.Value:
        """A vector with the same number in all lanes; that of a number from outside of the loop is made once."""
        found = self.splats.get(x)
        if found is None:
            b = self.ahead if x in self.defs.block_of and x not in self.home else self.b
            found = b.op(VECTOR_SPLAT, x, type=k.Vector(x.type, LANES), count=LANES)
            if b is self.ahead:
                self.splats[x] = found
        return found

    def constant(self, t: k.Type, value) -> ir.Value:
        """A vector of a constant."""
        found = self.constants.get((t, value))
        if found is None:
            found = self.constants[t, value] = self.ahead.op(
                VECTOR_SPLAT, self.ahead.const(t, value), type=k.Vector(t, LANES), count=LANES)
        return found

    def each(self, op, *args, **attrs) -> ir.Value:
        attrs["op"] = op.name
        result = ir.Value(VECTOR_EACH.rule(tuple([x.type for x in args]), attrs))
        self.b.insts.append(ir.Inst(VECTOR_EACH, args, attrs, result, self.b.loc))
        return result

    def instruction(self, inst: ir.Inst, loop) -> None:
        """Copy an instruction: once, as an operation on vectors, or for one lane after the other."""
        op, r = inst.op, inst.result
        if not op.effects and r not in self.needed or inst in self.done:
            return
        counts = inst in self.counting or self.is_counter(inst)
        attrs = {name: value for name, value in inst.attrs.items() if name not in OF_ONE_RUN}
        if counts and op.wrapping is not None:
            op, attrs = op.wrapping, {}
        if not self.carried.isdisjoint(inst.args):
            if not self.full or op.effects & ~ir.RAISES or op.effects and not self.may_raise or r is None:
                raise _Unfit
            self.carried.add(r)
            self.chain.append(inst)
        elif op is ARRAY_LOAD and (known := self.loaded.get(tuple(inst.args))) is not None:
            self.alike(r, known)
        elif op is a.CHECK_NONZERO and k.is_float(r.type) and (not self.full or inst.args[0] in self.varying):
            self.divisor(inst)
        elif op is not ARRAY_STORE and not any([x in self.varying or x in self.vectors for x in inst.args]):
            self.uniform(inst, op, attrs, loop)
        elif not self.as_vector(inst, op, attrs, counts, loop):
            self.in_each_lane(inst, op, attrs, loop)

    def divisor(self, inst: ir.Inst) -> None:
        """Give up where a lane of the mask would divide by zero. A divisor that is the same for all lanes stays one."""
        r, x = inst.result, inst.args[0]
        if x in self.varying or x in self.vectors:
            self.vectors[r] = self.vector(x)
            self.give_up(self.each(a.FEQ, self.vectors[r], self.nothing(r.type)))
        else:
            self.same[r] = self.once(x)
            zero = self.b.const(r.type, constant_of(r.type, 0))
            self.give_up(self.splat(self.b.test(a.FEQ, self.same[r], zero)))

    def uniform(self, inst: ir.Inst, op: ir.Op, attrs: dict, loop) -> None:
        """Copy an instruction whose operands are the same for all lanes."""
        r = inst.result
        copy = ir.Inst(op, [self.once(x) for x in inst.args], attrs, r and ir.Value(r.type, r.name), inst.loc)
        if op is ARRAY_LOAD and loop is not self.loop and adds_in_order(loop, self.options):
            loaded = self.guard(copy, self.b.test(VECTOR_ANY, self.mask))
            assert loaded is not None
            self.same[r] = loaded
            self.work += 1
            return
        if op.effects & ir.WRITES or op.effects and not self.full or op.effects & ir.RAISES and self.stored:
            raise _Unfit
        self.b.insts.append(copy)
        if r is not None and copy.result is not None:
            self.same[r] = copy.result
            self.note(inst)

    def as_vector(self, inst: ir.Inst, op: ir.Op, attrs: dict, counts: bool, loop) -> bool:
        """Make an operation on vectors of an instruction; returns whether it has that form."""
        r = inst.result
        floats = any([k.is_float(v.type) for v in (*inst.args, r) if v is not None])
        if op.effects == ir.PURE and (floats or not self.full) and (counts or has_vector_form(inst)):
            own = {name: value for name, value in attrs.items() if name in VECTOR_EACH.attrs}
            self.vectors[r] = self.each(op, *map(self.vector, inst.args), **own)
            self.work += floats and loop is not self.loop
        elif op.effects == ir.PURE and "rare" in inst.attrs and not self.full:
            assert self.mask is not None
            self.vectors[r] = self.lane_by_lane(inst, self.mask, self.nothing(r.type))
        elif op is m.HYPOT and loop is not self.loop:
            self.vectors[r] = self.length(inst)
        else:
            return False
        return True

    def in_each_lane(self, inst: ir.Inst, op: ir.Op, attrs: dict, loop) -> None:
        """Copy an instruction for one lane after the other."""
        r = inst.result
        if loop is not self.loop or op.effects != ir.PURE and op is not ARRAY_LOAD and op is not ARRAY_STORE:
            raise _Unfit
        self.guarded += op.effects != ir.PURE and not self.full
        if self.guarded > _GUARDED:
            raise _Unfit
        found = []
        for n, args in enumerate(zip(*map(self.numbers, inst.args))):
            one = ir.Inst(op, args, dict(attrs), r and ir.Value(r.type, r.name), inst.loc)
            if self.full or op.effects == ir.PURE:
                self.b.insts.append(one)
                found.append(one.result)
            else:
                found.append(self.guard(one, self.b.test(VECTOR_GET, self.mask, lane=n)))
        if op is ARRAY_STORE:
            self.stored = True
            self.loaded.clear()
        if r is not None:
            self.single[r] = found
            self.note(inst)

    def guard(self, inst: ir.Inst, test: ir.Value) -> ir.Value | None:
        """Access memory if the lane, or any, is in the mask; returns the number that is loaded, or 0."""
        access, passed, r = self.block("access"), ir.Block("passed"), inst.result
        other = [] if r is None else [self.b.const(r.type, constant_of(r.type, 0))]
        self.end(c.BRANCH, [test], ir.Edge(access), ir.Edge(passed, other))
        access.insts += [inst, ir.Inst(c.JUMP, (), {}, None, inst.loc, [ir.Edge(passed, [r] if r is not None else [])])]
        passed.params = [] if r is None else [ir.Value(r.type, r.name)]
        self.made.append(passed)
        self.start(passed)
        return passed.params[0] if r is not None else None

    def length(self, inst: ir.Inst) -> ir.Value:
        """The length of a complex number, which is only compared with limits: the root of the sum of squares tells,
        unless it is close to a limit, or the squares overflow or vanish."""
        r, t = inst.result, inst.result.type
        users = [user for block in self.loop.blocks for user in block.insts if r in user.uses()]
        limits = dict.fromkeys([x for user in users for x in user.args if x is not r])
        if t not in (k.Float, k.float64) or any([user.op not in a.FLOAT_COMPARISONS for user in users]) or any([
                x in self.home for x in limits]):
            raise _Unfit

        def compare(op, x, y):
            return self.each(op, x, y if type(y) is ir.Value else self.constant(t, constant_of(t, y)))

        square = self.each(a.FADD, *[self.each(a.FMUL, x, x) for x in map(self.vector, inst.args)])
        found = self.each(m.SQRT, square)
        sure = compare(a.FLT, square, 1e290)
        for x in limits:
            limit = self.vector(x)
            value = x.inst.attrs["value"] if x.inst is not None and x.inst.op is c.CONST else None
            if value == float("inf"):
                continue
            away = compare(a.FGT, self.each(m.FABS, self.each(a.FSUB, found, limit)),
                           self.each(a.FMUL, self.each(m.FABS, limit), self.constant(t, constant_of(t, 1e-9))))
            sure = self.each(a.BAND, sure, away)
            if value is None or not 1e-100 < value < 1e100:
                sure = self.each(a.BAND, sure, compare(a.FGT, square, 1e-290))
        self.work += 2
        return self.lane_by_lane(inst, self.both(self.each(a.BXOR, sure, self.constant(k.Bool, True))), found)

    def lane_by_lane(self, inst: ir.Inst, mask: ir.Value, usual: ir.Value) -> ir.Value:
        """The vector of an operation that few iterations need, and that has no vector form: lane by lane, where any
        lane of the mask needs it; otherwise `usual`."""
        slow, on, r = self.block("rare"), ir.Block("on"), inst.result
        on.params = [ir.Value(k.Vector(r.type, LANES), r.name)]
        self.end(c.BRANCH, [self.b.test(VECTOR_ANY, mask)], ir.Edge(slow), ir.Edge(on, [usual]))
        self.start(slow)
        found = [self.b.op(inst.op, *args, type=r.type, **inst.attrs)
                 for args in zip(*map(self.numbers, inst.args))]
        self.end(c.JUMP, (), ir.Edge(on, [self.b.op(VECTOR_MAKE, *found, type=on.params[0].type)]))
        self.made.append(on)
        self.start(on)
        return on.params[0]

    def note(self, inst: ir.Inst) -> None:
        if inst.op is ARRAY_LOAD and self.full:
            self.loaded[tuple(inst.args)] = inst.result

    def alike(self, v: ir.Value, known: ir.Value) -> None:
        """Let `v` have the translation of `known`, which is equal."""
        if known in self.same:
            self.same[v] = self.same[known]
        elif v is not known:
            self.single[v] = self.single[known]


def _joined(lanes: _Lanes, masks: list) -> ir.Value | None:
    """The lanes of any of several masks."""
    found = masks[0]
    for mask in masks[1:]:
        found = None if found is None or mask is None else lanes.each(a.BOR, found, mask)
    return found


def _is_small(v: ir.Value, limit: int) -> bool:
    made = v.inst
    return made is not None and made.op is c.CONST and v.type is k.Int and abs(made.attrs["value"]) < limit


def _is_in(loop, outer) -> bool:
    """Whether a loop is `outer` or inside it."""
    while loop is not None and loop is not outer:
        loop = loop.parent
    return loop is outer
