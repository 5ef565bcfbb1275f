"""Outline the body of a parallel loop: the function that runs a chunk of the iterations, and its call for all chunks.

Called by `parallel.py`, which has found how values are carried from one iteration to the next; the form of the result
is shown there.
"""
from __future__ import annotations

from itertools import combinations, product
from typing import Any

from ..ir import core as ir
from ..ir.cfg import reverse_postorder
from ..ir.uses import used_from_outside
from ..ops import arith as a
from ..ops import control, memory, random
from ..ops.parallel import DIVIDE, GET_CHUNK_SIZE
from ..ops.structure import RETYPE, SELECT, TUPLE_GET
from ..types import kinds as k
from .carried import Computed, Serial, element_type, typed
from .chunk_cost import Cost, greater
from .operands import constant_of
from .rewrite import Builder, clone_blocks, clone_inst, remove_unreachable, substitute

__all__ = ["SHAPES", "Chunks", "unmark"]

SHAPES = {memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ARRAY_VIEW, RETYPE}


class Chunks:
    """Outlines a loop. region: the `_Region` of parallel.py."""

    def __init__(self, region: Any):
        self.region, self.fn, self.count = region, region.fn, region.count
        branch = region.branch
        self.loc = branch.loc if branch.loc.line else self.count.entry_inst.loc
        self.function = ir.Function(f"{self.fn.name}.loop{self.loc.line}", self.fn.qualname, self.fn.filename,
                                    self.fn.firstlineno, self.fn.library)
        self.function.result = k.NoneType
        self.function.flags = self.fn.flags._replace(recursive=False)
        self.before = ir.Block("trips")
        self.starts = {p: self.count.start[p] for p in region.header.params if p is not self.count.left}
        self.values: dict[ir.Value, ir.Value] = {}  # value of the loop -> that of the chunk
        self.given: list[ir.Value] = []  # the arguments of the call, without those that the pool passes itself

    def build(self) -> None:
        """Replace the loop by the call."""
        self.divide()
        self.allocate()
        self.enter()
        self.run_chunk()
        where = self.call()
        region, header, count = self.region, self.region.header, self.count
        Builder(where.insts, self.loc).jump(ir.Edge(header, [self.final[p] for p in header.params]))
        region.branch.op, region.branch.args, region.branch.attrs = control.JUMP, [], {}
        region.branch.targets = [count.exit]
        count.entry.block, count.entry.args = self.before, []
        self.fn.blocks += self.blocks
        remove_unreachable(self.fn)
        self.fn.blocks = reverse_postorder(self.fn)

    # -- before the loop

    def divide(self) -> None:
        """Compute how many iterations a chunk has, and how many chunks there are."""
        region = self.region
        b = self.b = Builder(self.before.insts, self.loc, region.unwind)
        zero = self.zero = b.const(k.Int, 0)
        trips = self.trips = greater(b, self.count.start[self.count.left], zero)
        self.extents = {root: [b.int(memory.ARRAY_DIM, root, axis=n) for n in range(root.type.ndim)]
                        for root in region.shared}  # array to which iterations add -> its lengths
        self.blocks, self.known = [self.before], True
        if region.single:
            self.chunks, self.size, self.short = trips, b.const(k.Int, 1), b.const(k.Bool, False)
            return
        copied = zero
        for dims in self.extents.values():
            elements = dims[0] if dims else b.const(k.Int, 1)
            for n in dims[1:]:
                elements = b.int(a.IMUL, elements, n)
            copied = elements if copied is zero else greater(b, copied, elements)
        cost = Cost(region, b, trips)
        for one, _ in region.tests:
            if type(cost.work) is int and cost.work < one.cost:
                name = repr(one.array.name) if one.array.name else "an array"
                raise Serial(one.inst, f"iterations may share elements of {name}, and to test that would take longer "
                                       "than they do", "index arrays by the loop variable")
        self.known = cost.known
        asked = b.int(GET_CHUNK_SIZE) if region.kind == "prange" else zero
        found = b.op(DIVIDE, trips, cost.value(cost.work), copied, asked, type=k.Tuple((k.Int, k.Int, k.Bool)),
                     known=cost.known, even=cost.even, stored=bool(region.parts or region.shared))
        self.chunks, self.size, self.short = (
            b.op(TUPLE_GET, found, type=t, index=n) for n, t in enumerate(found.type.elements))
        tests = [test for one, at in region.meetings if (test := one.found(b, region.aliases, at)) is not None]
        if tests:
            self.run_alone(b.any(tests))
        if region.tests:
            self.test(region.tests)

    def run_alone(self, found: ir.Value) -> None:
        """Where this has been found, let the calling thread make all iterations in order."""
        b = self.b
        self.chunks = b.int(SELECT, found, b.const(k.Int, 1), self.chunks)
        self.size = b.int(SELECT, found, self.trips, self.size)

    def test(self, tests) -> None:
        """Test whether iterations share elements, where there are several chunks."""
        inside, ready = ir.Block("tests"), ir.Block("chunks", [ir.Value(k.Int), ir.Value(k.Int)])
        more = self.b.test(a.IGT, self.chunks, self.b.const(k.Int, 1))
        Builder(self.b.insts, self.loc).branch(more, ir.Edge(inside), ir.Edge(ready, [self.chunks, self.size]))
        self.blocks.append(inside)
        self.b = Builder(inside.insts, self.loc, self.region.unwind)
        for one, at in tests:
            self.b, found = one.test(self.b, self.blocks, self.trips, at)
            self.run_alone(found)
        Builder(self.b.insts, self.loc).jump(ir.Edge(ready, [self.chunks, self.size]))
        self.blocks.append(ready)
        self.b, (self.chunks, self.size) = Builder(ready.insts, self.loc, self.region.unwind), ready.params

    def allocate(self) -> None:
        """Arrays for the partial results of the chunks, seeds of their random generators, and copies of the arrays to
        which iterations add."""
        b, region = self.b, self.region
        self.arrays = []  # (part, parameter, the arrays of its scalars)
        for part in region.parts:
            for p in part.stored:
                self.arrays.append((part, p, [
                    typed(b, memory.ARRAY_NEW, self.chunks, k.Array(element_type(t), 1, "C")) for t in part.types(p)]))
        # generator -> the number drawn from it as a seed. The generator of np.random has a value for each use, so its
        # key is its class.
        self.seeds: dict[Any, ir.Value] = {}
        for v in region.generators:
            shared = v.inst is not None and v.inst.op is random.RANDOM_GLOBAL
            key = v.type.cls if shared else v
            if key not in self.seeds:
                whole = b.make(random.RANDOM_GLOBAL, v.type, cls=v.type.cls) if shared else v
                self.seeds[key] = b.op(random.RANDOM_NEXT, whole, type=k.uint64, kind="uint64")
        self.copies_of = {}
        self.copies = self.chunks  # the number of copies of each array
        if self.extents and not region.single and all([_is_plain(root) for root in self.extents]):
            self.choose_copies()
        else:
            for root in self.extents:
                self.copies_of[root] = self.copies_made(b, root)

    def copies_made(self, b: Builder, root: ir.Value) -> ir.Value:
        lengths, t = self.extents[root], _of_copies(root)
        made = typed(b, memory.ARRAY_NEW, self.chunks, k.Array(t.dtype, t.ndim, "C"), *lengths)
        made.inst.attrs["zero"] = not self.region.shared[root][1]
        if made.type is t:
            return made
        strides = [b.int(memory.ARRAY_STRIDE, made, axis=axis) for axis in range(t.ndim)]
        return typed(b, memory.ARRAY_VIEW, made, t, b.const(k.Int, 0), self.chunks, *lengths, *strides)

    def choose_copies(self) -> None:
        """Make the arrays copies for several chunks, and the arrays themselves for a single one: other arrays may share
        memory with them then (`Meeting` in tested.py)."""
        copies = ir.Value(k.Int, "copies")
        params = {root: ir.Value(_of_copies(root), root.name) for root in self.extents}
        alone, several, ready = ir.Block("alone"), ir.Block("several"), ir.Block("region", [copies, *params.values()])
        more = self.b.test(a.IGT, self.chunks, self.b.const(k.Int, 1))
        Builder(self.b.insts, self.loc).branch(more, ir.Edge(several), ir.Edge(alone))
        one, many = (Builder(block.insts, self.loc, self.region.unwind) for block in (alone, several))
        for b, number, arrays in ((one, self.zero, [_as_copy(one, *item) for item in self.extents.items()]),
                                  (many, self.chunks, [self.copies_made(many, root) for root in self.extents])):
            Builder(b.insts, self.loc).jump(ir.Edge(ready, [number, *arrays]))
        self.blocks += [alone, several, ready]
        self.b = Builder(ready.insts, self.loc, self.region.unwind)
        self.copies, self.copies_of = copies, params

    # -- the function that runs a chunk

    def enter(self) -> None:
        """The parameters of the function, and its first block."""
        region, values, given = self.region, self.values, self.given
        live = self.live_ins()
        number, size, trips = (ir.Value(k.Int, name) for name in ("chunk", "size", "trips"))
        short = ir.Value(k.Bool, "short")  # the pool passes it, but nothing reads it
        entry = self.entry = ir.Block("entry", [number, short, size, trips])
        self.function.blocks.append(entry)
        self.number = number
        e = Builder(entry.insts, self.loc, None)
        self.wholes: dict[ir.Value, ir.Value] = {}  # parameter for the copies of an array -> the array
        for root, array in self.copies_of.items():
            whole = ir.Value(array.type, root.name)
            entry.params.append(whole)
            given.append(array)
            self.wholes[whole] = root
            values[root] = _slice(e, whole, number)
        self.streams = {}
        for key, seed in self.seeds.items():
            seed_in = ir.Value(k.uint64, "seed")
            entry.params.append(seed_in)
            given.append(seed)
            cls = key if isinstance(key, type) else key.type.cls
            self.streams[key] = e.make(random.CHUNK_RANDOM, k.Instance(cls), seed_in, number, cls=cls)
        for v in region.generators:
            if v not in region.defined:
                shared = v.inst is not None and v.inst.op is random.RANDOM_GLOBAL
                values[v] = self.streams[v.type.cls if shared else v]
        for v in live:
            self.take(v)
        self.parts_in = []
        for part, p, its in self.arrays:
            inside = [ir.Value(array.type, p.name) for array in its]
            self.parts_in.append((part, p, inside))
            entry.params += inside
            given += its
        first = e.int(a.IMUL, number, size, flags="nuw nsw")
        rest = e.int(a.ISUB, trips, first)
        fewer = e.test(a.ILT, rest, size)
        self.begin: dict[ir.Value, ir.Value] = {self.count.left: e.int(SELECT, fewer, rest, size)}
        begin = self.begin
        for p, start in self.starts.items():
            begin[p] = values.get(start, start)
        for p, step in region.counters.items():
            moved = first if step == 1 else e.int(
                a.IMUL, first, e.const(k.Int, step) if type(step) is int else values[step])
            begin[p] = e.int(a.IADD, begin[p], moved, flags="nsw")
        for part in region.parts:
            part.begin(e, begin)

    def take(self, v: ir.Value) -> None:
        """Make a value from before the loop a parameter of the chunk. Constants, and views that show the layout of
        arrays, are computed again there, so that passes can use them."""
        if v in self.values:
            return
        inst = v.inst
        if inst is not None and (inst.op is control.CONST or inst.op in SHAPES):
            for x in inst.args:
                self.take(x)
            self.entry.insts.append(clone_inst(inst, self.values, {}))
        else:
            self.values[v] = ir.Value(v.type, v.name)
            self.entry.params.append(self.values[v])
            self.given.append(v)

    def live_ins(self) -> list[ir.Value]:
        region = self.region
        found = dict.fromkeys(used_from_outside(
            region.inside, lambda edge: edge is self.count.exit or id(edge) in region.unwinds))
        found.update(dict.fromkeys(step for step in region.counters.values() if type(step) is not int))
        found.update(dict.fromkeys(v for p, v in self.starts.items() if not any(
            p in part.params and part.starts_anew for part in region.parts)))
        return [v for v in found if v not in region.defined and v not in region.shared and v not in region.generators]

    def run_chunk(self) -> None:
        """The loop of the function, and the stores of its partial results."""
        region, values, header, chunk = self.region, self.values, self.region.header, self.function
        order = [block for block in reverse_postorder(self.fn) if block in region.inside]
        copies = clone_blocks(order, values)
        Builder(self.entry.insts, self.loc).jump(ir.Edge(copies[header], [self.begin[p] for p in header.params]))
        done = ir.Block("done")
        d = Builder(done.insts, self.loc, None)
        for part, p, its in self.parts_in:
            for array, value in zip(its, part.scalars(d, p, values[p])):
                element = array.type.dtype
                d.op(memory.ARRAY_STORE, array, self.number,
                     value if value.type is element else typed(d, a.CAST, value, element))
        none = d.const(k.NoneType, None)
        done.insts.append(ir.Inst(control.RETURN, (none,), {}, None, self.loc))
        head = copies[header].terminator
        unmark(head)
        for n, edge in enumerate(region.branch.targets):
            if edge is self.count.exit:
                head.targets[n] = ir.Edge(done)
        for block in order:
            for inst, copy in zip(block.insts, copies[block].insts):
                if inst.unwind is not None and id(inst.unwind) in region.unwinds:
                    copy.unwind = None
                if "independent" in copy.attrs:  # an inner loop runs on the thread of its chunk
                    unmark(copy)
        for part in region.parts:
            part.loosen(values)
        chunk.blocks += [copies[block] for block in order]
        replaced = {}
        for v in region.generators:
            if v in region.defined:
                replaced[values[v]] = self.streams[v.type.cls]
                for block in chunk.blocks:
                    block.insts = [inst for inst in block.insts if inst is not values[v].inst]
        substitute(chunk.blocks, replaced)
        chunk.blocks.append(done)
        chunk.blocks = reverse_postorder(chunk)
        self.note_disjoint()

    def note_disjoint(self) -> None:
        """Record which arrays among the parameters of the function share no memory."""
        values, params = self.values, self.entry.params
        # parameter -> the array before the loop that it may be
        old = {values[v]: v for v in values if isinstance(v.type, k.Array) and values[v] in params} | self.wholes
        new = [p for p in params if isinstance(p.type, k.Array) and p not in old]  # allocated for this region
        self.function.memo["disjoint"] = frozenset(
            [frozenset((x, y)) for x, y in combinations(old, 2) if self.region.aliases.distinct(old[x], old[y])]
            + [frozenset(pair) for pair in (*combinations(new, 2), *product(new, old))])

    # -- the call, and its results

    def call(self) -> ir.Block:
        """Call the function for all chunks and combine their results, which `final` gets. Returns the last block."""
        region, zero, chunks = self.region, self.zero, self.chunks
        ready = self.blocks[-1]
        for root, array in self.copies_of.items():
            empty = region.shared[root][1]
            if empty:
                ready = _for_all(ready, self.blocks, [self.copies, *self.extents[root]], self.loc, None,
                                 lambda b, *indices: b.op(
                    memory.ARRAY_STORE, array, *indices, b.const(root.type.dtype, constant_of(root.type.dtype, empty))))
        b = Builder(ready.insts, self.loc, region.unwind)
        attrs = {"callee": self.function, "chunks": True, **({} if self.known else {"unknown": True})}
        ready.insts.append(ir.Inst(control.INVOKE, [chunks, self.short, self.size, self.trips, *self.given], attrs,
                                   ir.Value(k.NoneType), self.loc, (),
                                   region.unwind and ir.Edge(region.unwind.block, region.unwind.args)))
        self.final: dict[ir.Value, ir.Value] = {self.count.left: zero, **self.starts}
        final = self.final
        for p, step in region.counters.items():
            moved = self.trips if step == 1 else b.int(
                a.IMUL, self.trips, b.const(k.Int, step) if type(step) is int else step)
            final[p] = b.int(a.IADD, self.starts[p], moved)
        for part in region.parts:
            if isinstance(part, Computed):
                last = {p: b.int(a.ISUB, final[p], b.const(k.Int, step) if type(step) is int else step)
                        for p, step in region.counters.items()}
                part.finish(b, last, b.test(a.IGT, self.trips, zero), final)
        where = self.combine(ready) if self.arrays else ready
        for root, array in self.copies_of.items():
            lengths = [self.copies, *self.extents[root]]
            where = _add_up(where, self.blocks, root, array, region.shared[root][0], lengths, self.loc, region.unwind)
        return where

    def combine(self, before: ir.Block) -> ir.Block:
        """Make a loop that combines the chunks in order; returns the block after it."""
        region, final, loc = self.region, self.final, self.loc
        params = [p for _, p, _ in self.arrays]
        head = ir.Block("combine", [ir.Value(k.Int, "chunk"), ir.Value(k.Int, "left"),
                                    *(ir.Value(p.type, p.name) for p in params)])
        body, after = ir.Block("part"), ir.Block("combined")
        at, left, *values = head.params
        h = Builder(head.insts, loc, None)
        nothing = h.const(k.Int, 0)
        more = h.test(a.IGT, left, nothing)
        h.branch(more, ir.Edge(body), ir.Edge(after))
        b = Builder(body.insts, loc, region.unwind)
        now = dict(zip(params, values))
        parts = {}
        for part, p, its in self.arrays:
            scalars = []
            for array, t in zip(its, part.types(p)):
                value = b.op(memory.ARRAY_LOAD, array, at, type=array.type.dtype)
                scalars.append(value if value.type is t else typed(b, a.CAST, value, t))
            parts[p] = part.from_scalars(b, p, scalars)
        new: dict[ir.Value, ir.Value] = {}
        for part in region.parts:
            if part.stored:
                part.combine(b, now, parts, new, final)
        steps = [b.int(a.IADD, at, b.const(k.Int, 1), flags="nuw nsw"),
                 b.int(a.ISUB, left, b.const(k.Int, 1), flags="nuw nsw")]
        b.jump(ir.Edge(head, [*steps, *(new[p] for p in params)]))
        Builder(before.insts, loc).jump(ir.Edge(head, [self.zero, self.chunks, *(final[p] for p in params)]))
        final.update(now)
        self.blocks += [head, body, after]
        return after


def unmark(branch: ir.Inst) -> None:
    branch.attrs = {name: value for name, value in branch.attrs.items() if name != "independent"}


def _is_plain(root: ir.Value) -> bool:
    """Whether a chunk may add to an array itself where it is the only one, as if that were a copy."""
    return root.type in (k.Array(root.type.dtype, root.type.ndim, "C"), k.Array(root.type.dtype, root.type.ndim, "A"))


def _of_copies(root: ir.Value) -> k.Array:
    return k.Array(root.type.dtype, root.type.ndim + 1, "A" if root.type.layout == "A" and _is_plain(root) else "C")


def _as_copy(b: Builder, root: ir.Value, lengths) -> ir.Value:
    """The view root[None]: an array with one copy."""
    strides = [b.int(memory.ARRAY_STRIDE, root, axis=axis) for axis in range(root.type.ndim)]
    zero, one = b.const(k.Int, 0), b.const(k.Int, 1)
    return typed(b, memory.ARRAY_VIEW, root, _of_copies(root), zero, one, *lengths, zero, *strides)


def _slice(b: Builder, whole: ir.Value, number: ir.Value) -> ir.Value:
    """whole[number]"""
    n = whole.type.ndim
    offset = b.int(a.IMUL, number, b.int(memory.ARRAY_STRIDE, whole, axis=0))
    parts = [b.int(op, whole, axis=axis) for op in (memory.ARRAY_DIM, memory.ARRAY_STRIDE) for axis in range(1, n)]
    return typed(b, memory.ARRAY_VIEW, whole, k.Array(whole.type.dtype, n - 1, whole.type.layout), offset, *parts)


def _add_up(where: ir.Block, blocks, root, array, op, lengths, loc, unwind) -> ir.Block:
    """Make loops that add each chunk's copy, in order, to the array; returns the block after them."""
    def added(b, chunk, *indices):
        old = b.op(memory.ARRAY_LOAD, root, *indices, type=root.type.dtype)
        part = b.op(memory.ARRAY_LOAD, array, chunk, *indices, type=root.type.dtype)
        b.op(memory.ARRAY_STORE, root, *indices, b.op(op, old, part, type=root.type.dtype))

    return _for_all(where, blocks, lengths, loc, unwind, added)


def _for_all(where: ir.Block, blocks, lengths, loc, unwind, body) -> ir.Block:
    """Make loops over all indices below these lengths, for which body(builder, *indices) writes code; returns the block
    after them."""
    zero = None
    counters: list[ir.Value] = []
    latches: list[tuple] = []
    for length in lengths:
        b = Builder(where.insts, loc, None)
        zero = b.const(k.Int, 0)
        head = ir.Block("combine", [ir.Value(k.Int), ir.Value(k.Int)])
        inside, after = ir.Block("part"), ir.Block("combined")
        b.jump(ir.Edge(head, [zero, length]))
        h = Builder(head.insts, loc, None)
        more = h.test(a.IGT, head.params[1], h.const(k.Int, 0))
        h.branch(more, ir.Edge(inside), ir.Edge(after))
        counters.append(head.params[0])
        latches.append((head, after))
        blocks += [head, inside, after]
        where = inside
    body(Builder(where.insts, loc, unwind), *counters)
    for head, after in reversed(latches):
        b = Builder(where.insts, loc, None)
        steps = [b.int(a.IADD, head.params[0], b.const(k.Int, 1), flags="nuw nsw"),
                 b.int(a.ISUB, head.params[1], b.const(k.Int, 1), flags="nuw nsw")]
        b.jump(ir.Edge(head, steps))
        where = after
    return where
