"""Fusion of loop nests: a nest whose result only another nest reads becomes part of that nest's tree.

A producer moves down to its consumer only inside one loop, and not past an instruction that writes what it reads. Two
products of one matrix with vectors are computed by one call, and elements that one mask selects on both sides of an
assignment are not copied out. The first half of nests.py.
"""
from __future__ import annotations

from typing import Any

from ..ir.cfg import LoopNest, closure, predecessors, reverse_postorder
from ..ir.core import ELEMENTARY, RAISES, Block, Function, Inst, Value
from ..ops import arith as a
from ..ops import memory as m
from ..ops import structure as s
from ..ops.control import CONST, INVOKE, RETURN
from ..ops.elementary import STEPS
from ..ops.nest import BROADCAST, NEST, NEST_INTO, NESTS, Leaf, Node, fails, kernels
from ..types.kinds import Array, Bool, Int
from . import dce
from .alias import Aliases, gathers
from .operands import Overlap, retyped, strided
from .rewrite import Builder, substitute

__all__ = ["call_instead", "direct", "Fusion", "number_of", "size_of"]

MOST = 24  # the most operands of a fused nest
DEEPEST = 128  # the most kernels in a fused nest: every producer that joins a tree copies the tree


class Fusion:
    """Moves producers into consumers. place: nest -> (block, position); both stay as they are until everything is
    decided."""

    def __init__(self, fn: Function):
        self.fn, self.aliases = fn, Aliases(fn)
        self.uses: dict[Value, int] = {}
        self.place: dict[Inst, tuple[Block, int]] = {}
        # block -> positions of instructions that write, for the blocks that were asked for
        self.writes: dict[Block, list[int]] = {}
        self.gone: set[Inst] = set()
        self.instead_of: dict[Inst, list[Inst]] = {}
        # results of `array[mask]` that are no longer needed unless something else reads them
        self.selected: set[Value] = set()
        self.loops: LoopNest | None = None
        self.paths: dict[tuple[Block, Block], list[Block] | None] = {}
        for block in fn.blocks:
            for k, inst in enumerate(block.insts):
                self.count(inst.uses())
                if inst.op in NESTS or gathers(inst):
                    self.place[inst] = block, k

    def count(self, values, step=1):
        for v in values:
            self.uses[v] = self.uses.get(v, 0) + step

    def run(self) -> None:
        for block in reversed(reverse_postorder(self.fn)):  # consumers come before their producers
            for inst in reversed(block.insts):
                if inst in self.place and inst not in self.gone and inst.op in NESTS:
                    self.absorb(inst)
        self.products()
        if self.gone or self.instead_of:
            for block in self.fn.blocks:
                block.insts = [new for inst in block.insts if inst not in self.gone
                               for new in self.instead_of.get(inst, (inst,))]
        if self.selected:
            self.drop_selected()

    def absorb(self, inst: Inst) -> None:
        if "instead" in inst.attrs and inst.op is NEST_INTO:
            self.select(inst)
            return
        first = inst.attrs["count"]
        if inst.op is NEST and not self.uses.get(inst.result) and dce.is_droppable(inst):
            self.gone.add(inst)
            self.count(inst.args, -1)
            return
        changed = True
        while changed:
            changed = False
            for v in dict.fromkeys(inst.args[first:]):
                producer = v.inst
                if (producer is None or producer.op is not NEST or producer.attrs["shape"] is None
                        or v in inst.args[:first] or not self.may_move(producer, inst)):
                    continue
                if "instead" in inst.attrs and v.type.ndim < inst.attrs["ndim"]:
                    continue
                only = self.uses[v] == inst.args[first:].count(v)
                if (not only and not self.is_shared(v, producer) or v.type.ndim < inst.attrs["ndim"]
                    and _costly(producer.attrs["tree"])):
                    continue
                if _nodes(inst.attrs["tree"]) + _nodes(producer.attrs["tree"]) > DEEPEST:
                    continue
                operands = _merged(inst, producer, v)
                if len(operands) > MOST:
                    continue
                inst.attrs = {key: x for key, x in inst.attrs.items() if key not in ("instead", "beside")}
                self.count(inst.args, -1)
                inst.args[first:] = operands
                self.count(inst.args)
                if only:
                    self.count(producer.args, -1)
                    self.gone.add(producer)
                changed = True

    def select(self, inst: Inst) -> None:
        """`a[mask] = f(b[mask], c[mask])` becomes a nest over a, b and c."""
        first = inst.attrs["count"]
        _, target, mask = inst.args[:3]
        given = inst.args[-1]
        producer = given.inst
        if producer is None or self.uses[given] != 1:
            return
        if producer.op is NEST and producer.attrs["shape"] is not None:
            self.absorb(producer)
            if fails(producer.attrs["tree"]) or self.between(producer, inst) is None:
                return
            operands = producer.args[producer.attrs["count"]:]
        else:
            operands = [given]
        found: dict[Value, Any] = {v: v.inst for v in operands if isinstance(v.type, Array)}
        for v, gather in found.items():
            if any(user is not producer and user is not inst and user.op is not m.ARRAY_DIM for user in self.users(v)):
                return
            if gather is None or not gathers(gather) or gather.args[0].type.ndim != target.type.ndim \
                    or gather.args[1] is not mask and not self.equal(gather.args[1], mask):
                return
            earliest = gather.args[1]
            between = self.between(gather, inst)
            if between is None or not all(self.aliases.leaves(x, gather.args) for x in between):
                return
        whole = {}
        new = []
        for v, gather in found.items():
            source = gather.args[0]  # the mask has the lengths of the target
            axes = range(target.type.ndim)
            parts = [Inst(CONST, (), {"value": 0}, Value(Int), inst.loc),
                     *(Inst(m.ARRAY_DIM, [target], {"axis": k}, Value(Int), inst.loc) for k in axes),
                     *(Inst(m.ARRAY_STRIDE, [source], {"axis": k}, Value(Int), inst.loc) for k in axes)]
            whole[v] = Value(source.type)
            new += [*parts,
                    Inst(m.ARRAY_VIEW, [source, *(x.result for x in parts)], {"type": source.type}, whole[v], inst.loc)]
        operands = _merged(inst, producer, given) if producer.op is NEST else inst.args[first:]
        if len(operands) > MOST:
            return
        inst.attrs = {key: x for key, x in inst.attrs.items() if key != "instead"}
        self.count(inst.args, -1)
        inst.args[first:] = [whole.get(v, v) for v in operands]
        inst.args[2] = earliest
        self.count(inst.args)
        for x in new:
            self.count(x.args)
        if producer.op is NEST:
            self.count(producer.args, -1)
            self.gone.add(producer)
        self.instead_of[inst] = [*new, inst]
        self.selected.update(found)

    def equal(self, x: Value, y: Value) -> bool:
        """Whether two arrays, the older one first, have equal elements and are only read: equal nests compute them, and
        nothing between writes an operand."""
        one, two = x.inst, y.inst
        if (one is None or two is None or one.op is not NEST or two.op is not NEST
                or one.attrs["template"] is not two.attrs["template"] or fails(one.attrs["tree"])
                or not alike(one.attrs["tree"], two.attrs["tree"]) or not all(map(self._alike, one.args, two.args))):
            return False
        between = self.between(one, two)
        read = [v for v in one.args[one.attrs["count"]:] if isinstance(v.type, Array)]
        return between is not None and all(self.aliases.leaves(w, read) for w in between) and all(
            gathers(user) or user.op is m.ARRAY_DIM or user.op in NESTS and v not in (self.aliases.written(user) or ())
            for v in (x, y) for user in self.users(v))

    def _alike(self, x: Value, y: Value) -> bool:
        one, two = x.inst, y.inst
        return (x is y or one is not None and two is not None and one.op is two.op
                and one.op in (s.TUPLE_MAKE, CONST) and one.attrs == two.attrs
                and len(one.args) == len(two.args) and all(map(self._alike, one.args, two.args)))

    def drop_selected(self) -> None:
        """Remove the calls `b[mask]` that were fused into a nest: only the lengths of their results are still read, and
        these are equal."""
        replace: dict[Value, Value] = {}
        lengths = {inst.result for block in self.fn.blocks for inst in block.insts if inst.op is m.ARRAY_DIM
                   and inst.args[0] in self.selected}
        for block in self.fn.blocks:
            for inst in block.insts:
                # lengths of results that one mask selects are equal
                if inst.op is BROADCAST and lengths.issuperset(inst.args) and inst.attrs.get("into") is None:
                    replace[inst.result] = inst.args[0]
                    lengths.add(inst.result)
            block.insts = [inst for inst in block.insts if inst.result not in replace]
        substitute(self.fn.blocks, replace)
        dce.run(self.fn)
        read = {v for block in self.fn.blocks for inst in block.insts for v in inst.uses()}
        for block in self.fn.blocks:
            block.insts = [inst for inst in block.insts if inst.result not in self.selected or inst.result in read]

    def products(self) -> None:
        """Turn products with a matrix that is in memory into calls, and two products with one matrix, from either side,
        into one call, which reads the matrix once."""
        plain = [inst for inst in self.place if inst not in self.gone and "instead" in inst.attrs]
        operands = {inst: inst.args[inst.attrs["count"]:] for inst in plain}
        for inst in plain:
            if "beside" not in inst.attrs:
                continue
            column, matrix = operands[inst]
            for other in plain:
                if "instead" in other.attrs and "beside" not in other.attrs and operands[other][0] is matrix \
                        and self.together(other, inst, matrix, operands[other][1], column):
                    break
        for inst in plain:
            if "instead" in inst.attrs:
                call_instead(inst)

    def together(self, one: Inst, inst: Inst, matrix: Value, right: Value, column: Value) -> bool:
        """Replace `matrix @ right` and `column @ matrix` by one call at the place of the later one; returns whether
        that was possible."""
        homes = [self.place[x][0] for x in (one, inst)]
        if homes[0] is homes[1]:
            earlier, later = sorted((one, inst), key=lambda x: self.place[x][1])
        else:
            dominates = self.flow().dom.dominates
            earlier, later = (one, inst) if dominates(*homes) else (inst, one)
            if not dominates(self.place[earlier][0], self.place[later][0]):
                return False
        between = self.between(earlier, later)
        if between is None or right.type.dtype is not column.type.dtype:
            return False
        view = column.inst
        chained = view is not None and view.op is m.ARRAY_VIEW and view.args[0] is one.result
        if between:
            return not chained and earlier is one and self.ahead(one, inst, matrix, right, column, between)
        users = self.users(earlier.result)
        # the view of the vector as a column and its stride are the only instructions that may read it in between
        if chained:
            if any(x is not view and x.op is not m.ARRAY_STRIDE for x in users) or self.uses[column] != 1:
                return False
        elif any(not self.after(later, x) for x in users):
            return False
        for x in users if chained else ():
            if x.op is m.ARRAY_STRIDE:
                x.op, x.args, x.attrs = CONST, [], {"value": m.item_bytes(right.type.dtype)}
            else:
                self.gone.add(x)
        b = Builder([], later.loc, later.unwind)
        both = _both(b, inst.attrs["beside"], (matrix, right, matrix if chained else column), int(chained))
        b.insts += [Inst(s.TUPLE_GET, [both], {"index": k}, x.result, later.loc) for k, x in enumerate((one, inst))]
        self.instead_of[later] = b.insts
        self.gone.add(earlier)
        one.attrs, inst.attrs = {"count": 0}, {"count": 0}
        return True

    def ahead(self, one: Inst, inst: Inst, matrix: Value, right: Value, column: Value, between: list[Inst]) -> bool:
        """For `y = matrix @ right`, assignments, `z = column @ matrix`: compute z together with y if a test at run time
        finds that the assignments do not write into the operands of z."""
        home, at = self.place[one]
        if any(w.op is not NEST_INTO for w in between):
            return False
        b = Builder([], one.loc, one.unwind)
        early: dict[Value, Value | None] = {}

        def moved(v):
            """The value as it is before the first product."""
            if v not in early:
                made = v.inst
                if made is None or made in home.insts[:at]:
                    early[v] = v if v in self.aliases.given else None
                elif made.op.effects or made.edges():
                    early[v] = None
                else:
                    args = [moved(x) for x in made.args]
                    early[v] = None if None in args else Value(v.type)
                    if early[v] is not None:
                        b.insts.append(Inst(made.op, args, made.attrs, early[v], one.loc))
            return early[v]

        left, targets = moved(column), [moved(w.args[1]) for w in between]
        if left is None or None in targets:
            return False

        def lengths(v):
            return [b.int(m.ARRAY_DIM, v, axis=k) for k in range(v.type.ndim)]

        sizes = {v: lengths(v) for v in (matrix, left, *targets)}
        tests = [b.test(a.IEQ, sizes[matrix][0], sizes[left][0])]
        for target in targets:
            overlap = Overlap(b, target, sizes[target])
            for v in (matrix, left):
                if not self.aliases.distinct(target, v):
                    overlap.add(v, sizes[v])
            tests.append(b.test(a.BNOT, overlap.found()))
        sure = b.all(tests)
        both = _both(b, inst.attrs["beside"], (matrix, right, left), 2, sure)
        b.insts.append(Inst(s.TUPLE_GET, [both], {"index": 0}, one.result, one.loc))
        ready = b.op(s.TUPLE_GET, both, type=inst.result.type, index=1)
        self.instead_of[one] = b.insts
        b = Builder([], inst.loc, inst.unwind)
        both = _both(b, inst.attrs["beside"], (matrix, right, column), 3, sure, ready)
        self.instead_of[inst] = [*b.insts, Inst(s.TUPLE_GET, [both], {"index": 1}, inst.result, inst.loc)]
        one.attrs, inst.attrs = {"count": 0}, {"count": 0}
        return True

    def users(self, v: Value) -> list[Inst]:
        return [inst for block in self.fn.blocks for inst in block.insts
                if inst not in self.gone and v in inst.uses()]

    def after(self, inst: Inst, other: Inst) -> bool:
        """Whether `other` comes after `inst` in its block, or is in a block that this block dominates."""
        home, k = self.place[inst]
        if other in home.insts:
            return home.insts.index(other) > k
        dom = self.flow().dom
        return any(other in block.insts for block in dom.order if block is not home and dom.dominates(home, block))

    def may_move(self, producer: Inst, consumer: Inst) -> bool:
        """Whether the producer may run where the consumer does: nothing between writes what it reads."""
        between = self.between(producer, consumer)
        if not between:
            return between is not None
        read = [v for v in producer.args[producer.attrs["count"]:] if isinstance(v.type, Array)]
        return all(self.aliases.leaves(inst, read) for inst in between)

    def between(self, producer: Inst, consumer: Inst) -> list[Inst] | None:
        """The instructions between the two that write; None where the producer must not move that far."""
        source, at = self.place[producer]
        home, k = self.place[consumer]
        if producer.op in NESTS and fails(producer.attrs["tree"]) and (source is not home or any(
                inst.op.effects & RAISES and (inst.op not in NESTS or fails(inst.attrs["tree"]))
                for inst in home.insts[at + 1:k])):
            return None  # another instruction would raise first
        if source is home:
            return [home.insts[w] for w in self.written_in(home) if at < w < k]
        if (source, home) not in self.paths:
            self.paths[source, home] = self.path(source, home)
        path = self.paths[source, home]
        if path is None:
            return None
        return [*(source.insts[w] for w in self.written_in(source) if w > at),
                *(block.insts[w] for block in path for w in self.written_in(block)),
                *(home.insts[w] for w in self.written_in(home) if w < k)]

    def written_in(self, block: Block) -> list[int]:
        """The positions of the instructions of a block that write memory which nests may read."""
        found = self.writes.get(block)
        if found is None:
            found = self.writes[block] = [k for k, inst in enumerate(block.insts) if self.aliases.writes(inst)]
        return found

    def path(self, source: Block, home: Block) -> list[Block] | None:
        """The blocks on paths from `source` to `home`, which it dominates; None where `home` is in another loop."""
        loops = self.flow()
        if loops.irreducible or loops.of.get(source) is not loops.of.get(home):
            return None
        return list(closure([home], lambda block: [pred for pred in self.preds[block] if pred is not source]))[1:]

    def flow(self) -> LoopNest:
        if self.loops is None:
            self.loops = LoopNest(self.fn)
            self.preds = predecessors(self.loops.dom.order)
        return self.loops

    def is_shared(self, v: Value, producer: Inst) -> bool:
        """Whether every consumer of the producer can compute it again, and that is cheaper than storing it."""
        if size_of(producer.attrs["tree"]) > 8 or any(strided(x)
                                                      for x in producer.args[producer.attrs["count"]:]):
            return False  # each element of a column is in another cache line
        readers = [inst for inst in self.place if inst.op in NESTS and inst not in self.gone and v in inst.args]
        reads = sum(inst.args[inst.attrs["count"]:].count(v) for inst in readers)
        return (len(readers) <= 4 and all(self.may_move(producer, inst) for inst in readers) and self.uses[v] == reads
                and all(inst.attrs["ndim"] == v.type.ndim for inst in readers))


def call_instead(inst: Inst) -> None:
    """Turn a nest whose template serves only fused nests into a call of the function that computes the same without
    fusion."""
    operands = [*inst.args[1:3], inst.args[-1]] if inst.op is NEST_INTO else inst.args[inst.attrs["count"]:]
    inst.op, inst.args, inst.attrs = INVOKE, operands, {"callee": inst.attrs["instead"]}


def _both(b: "Builder", callee: Function, operands, mode: int, sure: Value | None = None,
          ready: Value | None = None) -> Value:
    """Add a call of products.both_products."""
    kinds = [p.type for p in callee.params]
    args = [retyped(b, v, t) for v, t in zip(operands, kinds)]
    args += [b.const(Int, mode), sure or b.const(Bool, True)]
    if ready is None:
        ready = b.op(s.UNDEF, type=kinds[-1])
        b.insts[-1].attrs["type"] = kinds[-1]
    return b.op(INVOKE, *args, retyped(b, ready, kinds[-1]), type=callee.result, callee=callee)


def _merged(consumer: Inst, producer: Inst, value: Value) -> list[Value]:
    """Operands of the consumer in which those of the producer take the place of `value`; the consumer's tree is
    replaced by the merged one."""
    first = consumer.attrs["count"]
    operands: list[Value] = []
    index: dict[Value, Leaf] = {}

    def leaf(v):
        if v not in index:
            index[v] = Leaf(len(operands))
            operands.append(v)
        return index[v]

    memo: dict = {}

    def copy(node, args, inner):
        key = (id(node), inner)
        if key in memo:
            return memo[key]
        if type(node) is Leaf:
            v = args[node.index]
            new = moved() if v is value and not inner else leaf(v)
        else:
            new = Node(node.kernel, [copy(p, args, inner) for p in node.parts])
        memo[key] = new
        return new

    def moved():
        return copy(producer.attrs["tree"], producer.args[producer.attrs["count"]:], True)

    tree = copy(consumer.attrs["tree"], consumer.args[first:], False)
    if len(operands) <= MOST:
        consumer.attrs = {**consumer.attrs, "tree": tree}
    return operands


def direct(tree):
    """The tree without nodes that only return an operand."""
    memo: dict = {}

    def copy(node):
        found = memo.get(node)
        if found is None:
            if type(node) is Leaf:
                found = node
            else:
                parts = [copy(p) for p in node.parts]
                (*before, last), params = node.kernel.blocks[0].insts, node.kernel.params
                handed = last.op is RETURN and last.args[0] in params and all(inst.op is CONST for inst in before)
                found = parts[params.index(last.args[0])] if handed else Node(node.kernel, parts)
            memo[node] = found
        return found

    return copy(tree)


def alike(x, y) -> bool:
    """Whether two trees compute the same function of their operands."""
    numbers: dict = {}
    return number_of(x, numbers) == number_of(y, numbers)


def number_of(tree, numbers: dict) -> int:
    """The number of the function of its operands that a tree computes: trees with one `numbers` get the same number
    where they compute the same function."""
    found: dict = {}
    work = [tree]
    while work:
        node = work[-1]
        missing = [] if type(node) is Leaf else [part for part in node.parts if part not in found]
        if missing:
            work += missing
            continue
        key = node.index if type(node) is Leaf else (node.kernel, *[found[part] for part in node.parts])
        found[node] = numbers.setdefault(key, len(numbers))
        work.pop()
    return found[tree]


def _costly(tree) -> bool:
    """Whether computing the tree again for every row would cost more than storing it."""
    return size_of(tree) > 4


def size_of(tree) -> int:
    """The number of instructions that compute one element of a tree."""
    return sum(STEPS if inst.op.traits & ELEMENTARY else 1
               for kernel in kernels(tree) for block in kernel.blocks for inst in block.insts)


def _nodes(tree) -> int:
    return len(kernels(tree))
