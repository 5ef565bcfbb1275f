"""Fuse loop nests over array elements, and write them out as loops.

Runs after inlining, before everything that looks at loops. A nest whose result only another nest reads becomes part of
that nest's tree, so temporaries and their loops vanish; then each nest's template takes its place, with its holes filled.
Before:  t = nest {map, add} (a, b) ; s = nest {sum, square} (t)     After:  loop: s += square(add(a[i], b[i]))
A producer moves down to its consumer only inside one loop and past nothing that writes what it reads.
Needs: templates and kernels in finished form (see ops/nest.py).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir.cfg import LoopNest, predecessors, reverse_postorder
from ..ir.core import RAISES, WRITES, Block, Edge, Function, Inst, Value
from ..ops import arith as a
from ..ops import memory as m
from ..ops import structure as s
from ..ops.control import CONST, INVOKE
from ..ops.gpu import LOCAL_ARRAY, MEMORIES, SHARED_ARRAY
from ..ops.nest import BROADCAST, ELEMENT, ELEMENT_STRETCHED, ELEMENT_UNIT, FLAT, GATHER, NEST, NEST_INTO, OVERLAPS, PLAIN, PUT, PUT_UNIT, ROW, SAVE, STRETCHED, UNIT, Leaf, Node
from ..types.kinds import Array, Bool, Int, NpComplex
from . import dce, gvn, simplify
from .rewrite import resolve, substitute

__all__ = ["run", "functions_of"]

_NESTS = frozenset((NEST, NEST_INTO))
_HOLES = frozenset((ELEMENT, ELEMENT_UNIT, ELEMENT_STRETCHED, STRETCHED, UNIT, FLAT, PLAIN, ROW, OVERLAPS, SAVE, PUT, PUT_UNIT))
MOST = 24  # operands of a fused nest


def functions_of(inst: Inst) -> list[Function]:
    """The template and the kernels of a nest."""
    return [inst.attrs["template"], *_kernels(inst.attrs["tree"]), *(inst.attrs[key] for key in ("instead", "beside") if key in inst.attrs)]


def run(fn: Function, splice) -> None:
    """splice: inline's function that puts a body in place of a call."""
    simplify.run(fn)
    gvn.run(fn)
    simplify.run(fn)
    dce.run(fn)  # arrays that only the next trip of a loop reads go before they are loops
    _Fusion(fn).run()
    _expand(fn, splice)


# ---------------------------------------------------------------- fusion


class _Fusion:
    """Moves producers into consumers. place: nest -> (block, position); both stay as they are until everything is decided."""

    def __init__(self, fn: Function):
        self.fn, self.defs = fn, _definitions(fn)
        self.uses: dict[Value, int] = {}
        self.place: dict[Inst, tuple[Block, int]] = {}
        self.writes: dict[Block, list[int]] = {}
        self.gone: set[Inst] = set()
        self.instead_of: dict[Inst, list[Inst]] = {}
        self.selected: set[Value] = set()  # what masks have selected that now need not be gathered, if nothing else reads it
        self.loops: LoopNest | None = None
        self.paths: dict[tuple[Block, Block], list[Block] | None] = {}
        for block in fn.blocks:
            for k, inst in enumerate(block.insts):
                self.count(inst.args)
                for edge in inst.edges():
                    self.count(edge.args)
                if inst.op in _NESTS or _gathers(inst):
                    self.place[inst] = block, k
                if inst.op.effects & WRITES and inst.op is not m.POLL and not _gathers(inst):
                    self.writes.setdefault(block, []).append(k)

    def count(self, values, step=1):
        for v in values:
            self.uses[v] = self.uses.get(v, 0) + step

    def run(self) -> None:
        for block in reversed(reverse_postorder(self.fn)):  # consumers come before what they read
            for inst in reversed(block.insts):
                if inst in self.place and inst not in self.gone and inst.op in _NESTS:
                    self.absorb(inst)
        self.products()
        if self.gone or self.instead_of:
            for block in self.fn.blocks:
                block.insts = [new for inst in block.insts if inst not in self.gone for new in self.instead_of.get(inst, (inst,))]
        if self.selected:
            self.drop_selected()

    def absorb(self, inst: Inst) -> None:
        if "instead" in inst.attrs and inst.op is NEST_INTO:
            self.select(inst)
            return
        first = inst.attrs["count"]
        if inst.op is NEST and not self.uses.get(inst.result) and inst.attrs["shape"] is not None:
            self.gone.add(inst)
            self.count(inst.args, -1)
            return
        changed = True
        while changed:
            changed = False
            for v in dict.fromkeys(inst.args[first:]):
                producer = self.defs.get(v)
                if producer is None or producer.op is not NEST or producer.attrs["shape"] is None or v in inst.args[:first] \
                        or not self.may_move(producer, inst):
                    continue
                if "instead" in inst.attrs and v.type.ndim < inst.attrs["ndim"]:
                    continue
                only = self.uses[v] == inst.args[first:].count(v)
                if not only and not self.is_shared(v, producer) or v.type.ndim < inst.attrs["ndim"] and _costly(producer.attrs["tree"]):
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
        producer = self.defs.get(given)
        if producer is None or self.uses[given] != 1:
            return
        if producer.op is NEST and producer.attrs["shape"] is not None:
            self.absorb(producer)
            if _fails(producer.attrs["tree"]) or self.between(producer, inst) is None:
                return
            operands = producer.args[producer.attrs["count"]:]
        else:
            operands = [given]
        found = {v: self.defs.get(v) for v in operands if isinstance(v.type, Array)}
        for v, gather in found.items():
            if any(user is not producer and user is not inst and user.op is not m.ARRAY_DIM for user in self.users(v)):
                return
            if gather is None or not _gathers(gather) or gather.args[0].type.ndim != target.type.ndim \
                    or gather.args[1] is not mask and not self.equal(gather.args[1], mask):
                return
            earliest = gather.args[1]
            between = self.between(gather, inst)
            if between is None or any((written := _written(x)) is None or not _distinct(self.defs, v, written)
                                      for x in between for v in gather.args):
                return
        whole = {}
        new = []
        for v, gather in found.items():
            source = gather.args[0]  # its lengths are the mask's and the target's
            axes = range(target.type.ndim)
            parts = [Inst(CONST, (), {"value": 0}, Value(Int), inst.loc),
                     *(Inst(m.ARRAY_DIM, [target], {"axis": k}, Value(Int), inst.loc) for k in axes),
                     *(Inst(m.ARRAY_STRIDE, [source], {"axis": k}, Value(Int), inst.loc) for k in axes)]
            whole[v] = Value(source.type)
            new += [*parts, Inst(m.ARRAY_VIEW, [source, *(x.result for x in parts)], {"type": source.type}, whole[v], inst.loc)]
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
            self.defs[x.result] = x
        if producer.op is NEST:
            self.count(producer.args, -1)
            self.gone.add(producer)
        self.instead_of[inst] = [*new, inst]
        self.selected.update(found)

    def equal(self, x: Value, y: Value) -> bool:
        """Whether two arrays, the first one older, are computed by equal nests of what nothing writes between them, and are only read."""
        one, two = self.defs.get(x), self.defs.get(y)
        if one is None or two is None or one.op is not NEST or two.op is not NEST or one.attrs["template"] is not two.attrs["template"] \
                or _fails(one.attrs["tree"]) or not _alike(one.attrs["tree"], two.attrs["tree"]) or not all(map(self.alike, one.args, two.args)):
            return False
        between = self.between(one, two)
        read = [v for v in one.args[one.attrs["count"]:] if isinstance(v.type, Array)]
        return between is not None and all((target := _written(w)) is not None and all(_distinct(self.defs, v, target) for v in read)
                                           for w in between) \
            and all(_gathers(user) or user.op is m.ARRAY_DIM or user.op in _NESTS and _written(user) is not v for v in (x, y) for user in self.users(v))

    def alike(self, x: Value, y: Value) -> bool:
        one, two = self.defs.get(x), self.defs.get(y)
        return x is y or one is not None and two is not None and one.op is two.op and one.op in (s.TUPLE_MAKE, CONST) and one.attrs == two.attrs \
            and len(one.args) == len(two.args) and all(map(self.alike, one.args, two.args))

    def drop_selected(self) -> None:
        """Calls that gather what nothing reads but the lengths of what is gone."""
        replace: dict[Value, Value] = {}
        lengths = {inst.result for block in self.fn.blocks for inst in block.insts if inst.op is m.ARRAY_DIM and inst.args[0] in self.selected}
        for block in self.fn.blocks:
            for inst in block.insts:
                if inst.op is BROADCAST and lengths.issuperset(inst.args) and inst.attrs.get("into") is None:  # of one mask: they are equal
                    replace[inst.result] = inst.args[0]
                    lengths.add(inst.result)
            block.insts = [inst for inst in block.insts if inst.result not in replace]
        substitute(self.fn.blocks, replace)
        dce.run(self.fn)
        read = {v for block in self.fn.blocks for inst in block.insts for v in [*inst.args, *(v for edge in inst.edges() for v in edge.args)]}
        for block in self.fn.blocks:
            block.insts = [inst for inst in block.insts if inst.result not in self.selected or inst.result in read]

    def products(self) -> None:
        """Products with a matrix that is there already are calls; two with one matrix, from either side, are one call, which reads it
        once."""
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
                inst.op, inst.args, inst.attrs = INVOKE, [*inst.args[1:3], inst.args[-1]] if inst.op is NEST_INTO else operands[inst], {"callee": inst.attrs["instead"]}

    def together(self, one: Inst, inst: Inst, matrix: Value, right: Value, column: Value) -> bool:
        """One call for `matrix @ right` and `column @ matrix`, where the later of the two stands."""
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
        view = self.defs.get(column)
        chained = view is not None and view.op is m.ARRAY_VIEW and view.args[0] is one.result
        if between:
            return not chained and earlier is one and self.ahead(one, inst, matrix, right, column, between)
        users = self.users(earlier.result)
        if chained:  # what asks for the step of the vector between them, and its view as a column
            if any(x is not view and x.op is not m.ARRAY_STRIDE for x in users) or self.uses[column] != 1:
                return False
        elif any(not self.after(later, x) for x in users):
            return False
        for x in users if chained else ():
            if x.op is m.ARRAY_STRIDE:
                x.op, x.args, x.attrs = CONST, [], {"value": m.item_bytes(right.type.dtype)}
            else:
                self.gone.add(x)
        b = _Builder([], later.loc, later.unwind, self.defs)
        both = _both(b, inst.attrs["beside"], (matrix, right, matrix if chained else column), int(chained))
        b.insts += [Inst(s.TUPLE_GET, [both], {"index": k}, x.result, later.loc) for k, x in enumerate((one, inst))]
        self.instead_of[later] = b.insts
        self.gone.add(earlier)
        one.attrs, inst.attrs = {"count": 0}, {"count": 0}
        return True

    def ahead(self, one: Inst, inst: Inst, matrix: Value, right: Value, column: Value, between: list[Inst]) -> bool:
        """`y = matrix @ right`, assignments, `z = column @ matrix`: with y comes z, where the program finds that the assignments will not write
        into what z is made of."""
        home, at = self.place[one]
        if any(w.op is not NEST_INTO for w in between):
            return False
        b = _Builder([], one.loc, one.unwind, self.defs)
        early: dict[Value, Value | None] = {}

        def moved(v):
            """The value before the first product."""
            if v not in early:
                made = self.defs.get(v)
                if made is None or made in home.insts[:at]:
                    early[v] = v if v in self.defs else None
                elif made.op.effects or made.edges():
                    early[v] = None
                else:
                    args = [moved(x) for x in made.args]
                    early[v] = None if None in args else Value(v.type)
                    if early[v] is not None:
                        b.insts.append(Inst(made.op, args, made.attrs, early[v], one.loc))
                        self.defs[early[v]] = b.insts[-1]
            return early[v]

        left, targets = moved(column), [moved(w.args[1]) for w in between]
        if left is None or None in targets:
            return False

        def lengths(v):
            return [b.op(m.ARRAY_DIM, v, type=Int, axis=k) for k in range(v.type.ndim)]

        sizes = {v: lengths(v) for v in (matrix, left, *targets)}
        tests = [b.op(a.IEQ, sizes[matrix][0], sizes[left][0], type=Bool)]
        for target in targets:
            low, high = _span(b, target, sizes[target])
            for v in (matrix, left):
                if not _distinct(self.defs, target, v):
                    low2, high2 = _span(b, v, sizes[v])
                    tests.append(b.op(a.BOR, b.op(a.IGE, low, high2, type=Bool), b.op(a.IGE, low2, high, type=Bool), type=Bool))
        sure = b.all(tests)
        both = _both(b, inst.attrs["beside"], (matrix, right, left), 2, sure)
        b.insts.append(Inst(s.TUPLE_GET, [both], {"index": 0}, one.result, one.loc))
        ready = b.op(s.TUPLE_GET, both, type=inst.result.type, index=1)
        self.instead_of[one] = b.insts
        b = _Builder([], inst.loc, inst.unwind, self.defs)
        both = _both(b, inst.attrs["beside"], (matrix, right, column), 3, sure, ready)
        self.instead_of[inst] = [*b.insts, Inst(s.TUPLE_GET, [both], {"index": 1}, inst.result, inst.loc)]
        one.attrs, inst.attrs = {"count": 0}, {"count": 0}
        return True

    def users(self, v: Value) -> list[Inst]:
        return [inst for block in self.fn.blocks for inst in block.insts
                if inst not in self.gone and (v in inst.args or any(v in edge.args for edge in inst.edges()))]

    def after(self, inst: Inst, other: Inst) -> bool:
        """Whether the second comes after the first in its block, or in one that this one dominates."""
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
        return all((target := _written(inst)) is not None and all(_distinct(self.defs, v, target) for v in read) for inst in between)

    def between(self, producer: Inst, consumer: Inst) -> list[Inst] | None:
        """The instructions that write on a way from one to the other; None where it must not move that far."""
        source, at = self.place[producer]
        home, k = self.place[consumer]
        if producer.op in _NESTS and _fails(producer.attrs["tree"]) and (source is not home or any(
                inst.op.effects & RAISES and (inst.op not in _NESTS or _fails(inst.attrs["tree"])) for inst in home.insts[at + 1:k])):
            return None  # another exception would come first
        if source is home:
            return [home.insts[w] for w in self.writes.get(home, ()) if at < w < k]
        if (source, home) not in self.paths:
            self.paths[source, home] = self.path(source, home)
        path = self.paths[source, home]
        if path is None:
            return None
        return [*(source.insts[w] for w in self.writes.get(source, ()) if w > at),
                *(block.insts[w] for block in path for w in self.writes.get(block, ())),
                *(home.insts[w] for w in self.writes.get(home, ()) if w < k)]

    def path(self, source: Block, home: Block) -> list[Block] | None:
        """The blocks between one and another that it dominates; None where the second runs more often, or in another loop."""
        loops = self.flow()
        if loops.irreducible or loops.of.get(source) is not loops.of.get(home):
            return None
        found, work = {source, home}, [home]
        while work:
            for pred in self.preds[work.pop()]:
                if pred not in found:
                    found.add(pred)
                    work.append(pred)
        return list(found - {source, home})

    def flow(self) -> LoopNest:
        if self.loops is None:
            self.loops = LoopNest(self.fn)
            self.preds = predecessors(self.loops.dom.order)
        return self.loops

    def is_shared(self, v: Value, producer: Inst) -> bool:
        """Whether every consumer of the producer can compute it again, which is less than to keep it."""
        if _size(producer.attrs["tree"]) > 8 or any(_strided(self.defs, x) for x in producer.args[producer.attrs["count"]:]):
            return False  # every element of a column is a line of the cache
        readers = [inst for inst in self.place if inst.op in _NESTS and inst not in self.gone and v in inst.args]
        return len(readers) <= 4 and all(self.may_move(producer, inst) for inst in readers) and self.uses[v] == sum(
            inst.args[inst.attrs["count"]:].count(v) for inst in readers) and all(inst.attrs["ndim"] == v.type.ndim for inst in readers)


def _both(b: "_Builder", callee: Function, operands, mode: int, sure: Value | None = None, ready: Value | None = None) -> Value:
    """A call of products.both_products."""
    kinds = [p.type for p in callee.params]
    args = [_retyped(b, v, t) for v, t in zip(operands, kinds)]
    args += [b.const(Int, mode), sure or b.const(Bool, True)]
    if ready is None:
        ready = b.op(s.UNDEF, type=kinds[-1])
        b.insts[-1].attrs["type"] = kinds[-1]
    return b.op(INVOKE, *args, _retyped(b, ready, kinds[-1]), type=callee.result, callee=callee)


def _fails(tree) -> bool:
    """Whether computing an element may raise."""
    return any(inst.op.effects & RAISES for kernel in _kernels(tree) for block in kernel.blocks for inst in block.insts)


def _merged(consumer: Inst, producer: Inst, value: Value) -> list[Value]:
    """Operands of the consumer with the producer's tree in place of `value`; the consumer's tree is replaced."""
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


def _alike(x, y) -> bool:
    """Whether two trees compute the same of operands at the same places."""
    if type(x) is Leaf or type(y) is Leaf:
        return type(x) is type(y) and x.index == y.index
    return x.kernel is y.kernel and all(map(_alike, x.parts, y.parts))


def _costly(tree) -> bool:
    """Whether computing the tree again for every row would cost more than storing it."""
    return _size(tree) > 4


def _size(tree) -> int:
    """Instructions of an element."""
    return sum(len(block.insts) for kernel in _kernels(tree) for block in kernel.blocks)


def _kernels(tree) -> list[Function]:
    """The kernels of a tree, one for each of its nodes."""
    work, seen, found = [tree], set(), []
    while work:
        node = work.pop()
        if type(node) is Node and node not in seen:
            seen.add(node)
            found.append(node.kernel)
            work.extend(node.parts)
    return found


def _gathers(inst: Inst) -> bool:
    """A call that copies out what a mask selects: of an array and a mask."""
    return inst.op is INVOKE and inst.attrs["callee"].attrs.get("outlined") == GATHER


def _written(inst: Inst) -> Value | None:
    """The array that an instruction writes into, and nothing else; None where that is not known."""
    if inst.op is NEST_INTO:
        return inst.args[1]
    return inst.args[0] if inst.op is m.ARRAY_STORE else None


def _definitions(fn: Function) -> dict:
    """value -> instruction; None for the function's parameters."""
    defs: dict = {p: None for p in fn.params}
    defs.update((inst.result, inst) for block in fn.blocks for inst in block.insts if inst.result is not None)
    return defs


# ---------------------------------------------------------------- writing out


class _Builder:
    """Appends instructions; small constants and folds that need no pass."""

    def __init__(self, insts, loc, unwind, defs):
        self.insts, self.loc, self.unwind, self.defs = insts, loc, unwind, defs

    def op(self, op, *args, type=None, **attrs):
        result = Value(type) if type is not None else None
        inst = Inst(op, args, attrs, result, self.loc)
        if op.effects & RAISES and self.unwind is not None:
            inst.unwind = Edge(self.unwind.block, self.unwind.args)
        self.insts.append(inst)
        if result is not None:
            self.defs[result] = inst
        return result

    def const(self, t, value):
        return self.op(CONST, type=t, value=value)

    def is_const(self, value, what):
        made = self.defs.get(value)
        return made is not None and made.op is CONST and made.attrs["value"] == what

    def same(self, x: Value, y: Value) -> bool:
        """Whether two lengths are known to be equal."""
        return x is y or self.key(x) == self.key(y)

    def key(self, value):
        made = self.defs.get(value)
        if made is not None and made.op is m.ARRAY_DIM:
            array, axis = made.args[0], made.attrs["axis"]
            source = self.defs.get(array)
            if source is not None and (source.op is m.ARRAY_VIEW or source.op is m.ARRAY_NEW):
                return self.key(source.args[axis + 2 * (source.op is m.ARRAY_VIEW)])
            return array, axis
        if made is not None and made.op is BROADCAST and made.attrs.get("into") is not None:  # the length of what is written
            return self.key(made.args[made.attrs["ndims"][0] - 1 - made.attrs["axis"]])
        return made.attrs["value"] if made is not None and made.op is CONST else value

    def all(self, tests):
        found = None
        for test in tests:
            found = test if found is None else self.op(a.BAND, found, test, type=Bool)
        return found if found is not None else self.const(Bool, True)


class _Operand:
    """An array operand inside a nest: its lengths and its strides."""

    def __init__(self, b: _Builder, value: Value):
        self.value = value
        t = self.type = value.type
        self.dims = [b.op(m.ARRAY_DIM, value, type=Int, axis=k) for k in range(t.ndim)]
        made = b.defs.get(value)
        if made is not None and made.op is m.ARRAY_VIEW:
            self.dims = list(made.args[2:2 + t.ndim])
        elif made is not None and made.op is m.ARRAY_NEW:
            self.dims = list(made.args)
        elif made is not None and made.op in MEMORIES and "shape" in made.attrs:
            self.dims = [b.const(Int, n) for n in made.attrs["shape"]]
        elif made is not None and made.op is NEST and made.attrs["shape"] is not None:
            shape = b.defs.get(made.args[made.attrs["shape"]])
            if shape is not None and shape.op is s.TUPLE_MAKE:
                self.dims = list(shape.args)


class _Expansion:
    def __init__(self, fn, defs, inst, here):
        self.inst, self.fn = inst, fn
        self.before = _Builder(here, inst.loc, inst.unwind, defs)
        self.defs = defs
        count = inst.attrs["count"]
        self.operands = [_settled(self.before, v) for v in inst.args[count:]]
        if inst.op is NEST_INTO:
            inst.args[1] = _settled(self.before, inst.args[1], always=True)
        self.saved = self.save(inst.args[1]) if any(x.op is SAVE for block in inst.attrs["template"].blocks for x in block.insts) else set()
        self.arrays = {k: _Operand(self.before, v) for k, v in enumerate(self.operands) if isinstance(v.type, Array)}
        self.views: dict = {}
        self.lengths: tuple | None = None

    def save(self, target) -> set[int]:
        """Copy operands of fewer elements than the target where they share memory with it; which these are. Without them the whole result
        would go through a copy."""
        b, found = self.before, set()
        for k, v in enumerate(self.operands):
            t = v.type
            if not isinstance(t, Array) or not 0 < t.ndim <= 3 or _distinct(self.defs, v, target):
                continue
            operand = _Operand(b, v)
            if t.ndim == target.type.ndim and not any(b.is_const(n, 1) for n in operand.dims):
                continue
            low, high = _span(b, target, [b.op(m.ARRAY_DIM, target, type=Int, axis=j) for j in range(target.type.ndim)])
            low2, high2 = _span(b, v, operand.dims)
            meet = b.op(a.BAND, b.op(a.ILT, low, high2, type=Bool), b.op(a.ILT, low2, high, type=Bool), type=Bool)
            made = Array(t.dtype, t.ndim, "A", t.writable, t.aligned)
            copy = b.op(m.ARRAY_COPY, meet, v, type=Array(t.dtype, t.ndim))
            chosen = b.op(s.SELECT, meet, _retyped(b, copy, made), _retyped(b, v, made), type=made)
            strides = [b.op(m.ARRAY_STRIDE, chosen, type=Int, axis=j) for j in range(t.ndim)]
            if _is_settled(b, v):
                strides[-1] = b.const(Int, m.item_bytes(t.dtype))
            self.operands[k] = b.op(m.ARRAY_VIEW, chosen, b.const(Int, 0), *operand.dims, *strides, type=made)
            b.insts[-1].attrs["type"] = made
            found.add(k)
        return found

    def space(self):
        """The lengths of the index space, where the first argument of the template is their tuple."""
        if self.lengths is None:
            made = self.defs.get(self.inst.args[0]) if self.inst.args else None
            self.lengths = ()
            if made is not None and made.op is s.TUPLE_MAKE:
                self.lengths = tuple(made.args)
            elif made is not None and made.op is CONST:
                self.lengths = tuple(self.before.const(Int, n) for n in made.attrs["value"])
        return self.lengths or None

    def view(self, k, n, unit):
        """(array to load from, axes of the index that it takes, step along the last or None) for operand k in a space of n axes."""
        key = (k, unit)
        if key in self.views:
            return self.views[key]
        if unit == "stretched":
            return self.stretched_view(k, n)
        b, operand = self.before, self.arrays[k]
        t, dims = operand.type, operand.dims
        space = self.space()
        first = n - t.ndim
        full = space is not None and all(map(b.same, dims, space[first:]))
        kept = [axis for axis in range(t.ndim) if not b.is_const(dims[axis], 1) or space is not None and b.same(dims[axis], space[first + axis])]
        if t.layout == "C" and full:
            found = operand.value, range(first, n), None
        else:
            strides, step = [], None
            for axis in kept:
                same = space is not None and b.same(dims[axis], space[first + axis])
                if unit and axis == t.ndim - 1:
                    strides.append(b.const(Int, m.item_bytes(t.dtype)))
                    if space is not None and not (same and _is_settled(b, operand.value)) and _stepping(t):
                        step = b.const(Int, -1) if same and _is_reversed(b, operand.value) else _step(b, operand.value, dims[axis], space[-1])
                    continue
                stride = b.op(m.ARRAY_STRIDE, operand.value, type=Int, axis=axis)
                if axis == t.ndim - 1 and t.layout == "C":
                    stride = b.const(Int, m.item_bytes(t.dtype))
                if not same:
                    one = b.op(a.IEQ, dims[axis], b.const(Int, 1), type=Bool)
                    stride = b.op(s.SELECT, one, b.const(Int, 0), stride, type=Int)
                strides.append(stride)
            made = Array(t.dtype, len(kept), "A" if kept else "C", t.writable, t.aligned)
            array = b.op(m.ARRAY_VIEW, operand.value, b.const(Int, 0), *(dims[axis] for axis in kept), *strides, type=made) \
                if kept else b.op(m.ARRAY_VIEW, operand.value, b.const(Int, 0), type=made)
            b.insts[-1].attrs["type"] = made
            found = array, [first + axis for axis in kept], step
        self.views[key] = found
        return found

    def loose(self, n):
        """The operands of several axes that come from elsewhere and may have one column in a space of n axes: a slice, or what the
        function makes with as many columns as something has, hardly ever has one, and each copy of the loops takes its time."""
        return [k for k, operand in self.arrays.items() if operand.type.ndim > 1 and (step := self.view(k, n, True)[2]) is not None
                and self.defs[step].op is m.ARRAY_STEP and not _is_made_here(self.defs, operand.value)]

    def is_stretched(self, b, n):
        first, *others = self.loose(n) or [None]
        if not others or len(others) > 2:
            yield b.const(Bool, False)
            return
        yield b.op(a.IEQ, self.view(first, n, True)[2], b.const(Int, 1), type=Bool)
        for k in others:
            yield b.op(a.IEQ, self.view(k, n, True)[2], b.const(Int, 0), type=Bool)

    def stretched_view(self, k, n):
        array, axes, step = self.view(k, n, True)
        loose = self.loose(n)
        return array, axes, step if k not in loose else None if k == loose[0] else self.zero

    def prepare(self, n):
        self.zero = self.before.const(Int, 0)
        for k in self.arrays:
            self.view(k, n, True)
            self.view(k, n, False)

    def fill(self, b: _Builder, hole: Inst, replace):
        """What stands in place of a hole."""
        op, args = hole.op, [resolve(replace, v) for v in hole.args]
        if op is ELEMENT or op is ELEMENT_UNIT:
            return self.element(b, args, op is ELEMENT_UNIT, hole.attrs["type"])
        if op is ELEMENT_STRETCHED:
            return self.element(b, args, "stretched", hole.attrs["type"])
        if op is STRETCHED:
            return b.all(self.is_stretched(b, len(args)))
        if op is PUT or op is PUT_UNIT:
            return self.put(b, args, op is PUT_UNIT)
        if op is SAVE:
            return None
        if op is UNIT:
            return b.all(self.unit(b, args))
        if op is FLAT:
            return b.all(self.flat(b, args))
        if op is PLAIN:
            return b.const(Bool, self.plain(args, hole.attrs["type"]))
        if op is ROW:
            return self.row(b, args, Array(hole.attrs["type"], 1))
        return self.overlaps(b, args[0])

    def plain(self, index, t):
        tree = self.inst.attrs["tree"]
        if type(tree) is not Leaf or tree.index not in self.arrays:
            return False
        array, axes, step = self.view(tree.index, len(index), True)
        return step is None and array.type.dtype is t and array.type.aligned and len(index) - 1 in axes and _is_settled(self.before, array)

    def row(self, b, index, t):
        if not self.plain(index, t.dtype):
            b.op(s.UNDEF, type=t)
            b.insts[-1].attrs["type"] = t
            return b.insts[-1].result
        array, axes, _ = self.view(self.inst.attrs["tree"].index, len(index), True)
        offset = b.const(Int, 0)
        for axis, k in enumerate(axes):
            stride = b.const(Int, m.item_bytes(t.dtype)) if k == len(index) - 1 else b.op(m.ARRAY_STRIDE, array, type=Int, axis=axis)
            offset = b.op(a.IADD, offset, b.op(a.IMUL, index[k], stride, type=Int), type=Int)
        found = b.op(m.ARRAY_VIEW, array, offset, b.const(Int, 1), b.const(Int, m.item_bytes(t.dtype)), type=t)
        b.insts[-1].attrs["type"] = t
        return found

    def element(self, b, index, unit, t):
        memo: dict = {}

        def value(node):
            found = memo.get(node)
            if found is not None:
                return found
            if type(node) is Leaf:
                found = self.operands[node.index]
                if node.index in self.arrays:
                    array, axes, step = self.view(node.index, len(index), unit)
                    found = b.op(m.ARRAY_LOAD, array, *_stepped(b, [index[k] for k in axes], step), type=array.type.dtype, parallel=True)
                    if not unit and array.type.layout == "A":
                        b.insts[-1].attrs["strided"] = True
            else:
                found = b.op(INVOKE, *map(value, node.parts), type=node.kernel.result, callee=node.kernel)
            memo[node] = found
            return found

        found = value(self.inst.attrs["tree"])
        if found.type is not t:
            found = b.op(s.RETYPE, found, type=t)
            b.insts[-1].attrs["type"] = t
        return found

    def put(self, b, args, unit):
        target, fresh, apart, *index, value = args
        array, t = target, target.type
        if not b.is_const(apart, False):
            if t.layout != "C":
                t = Array(t.dtype, t.ndim, "A", t.writable, t.aligned)
            array = b.op(s.SELECT, apart, _retyped(b, fresh, t), _retyped(b, target, t), type=t)
        if unit and t.layout != "C":
            dims = [b.op(m.ARRAY_DIM, array, type=Int, axis=k) for k in range(t.ndim)]
            strides = [b.op(m.ARRAY_STRIDE, array, type=Int, axis=k) for k in range(t.ndim - 1)]
            step = _step(b, array, dims[-1], dims[-1]) if not _is_settled(b, target) and _stepping(t) else None
            made = Array(t.dtype, t.ndim, "A", t.writable, t.aligned)  # these are no longer the strides of Fortran order
            array = b.op(m.ARRAY_VIEW, array, b.const(Int, 0), *dims, *strides, b.const(Int, m.item_bytes(t.dtype)), type=made)
            b.insts[-1].attrs["type"] = made
            index = _stepped(b, index, step)
        b.op(m.ARRAY_STORE, array, *index, value, parallel=True)

    def unit(self, b, space):
        arrays = [operand.value for operand in self.arrays.values()]
        if self.inst.op is NEST_INTO:
            arrays.append(self.inst.args[1])
        if any(_strided(self.defs, v) for v in arrays):
            yield b.const(Bool, False)
            return
        given = self.space()
        for operand in self.arrays.values():
            t = operand.type
            if t.ndim and not b.is_const(operand.dims[-1], 1) and (
                    given is None or not _stepping(t) and not b.same(operand.dims[-1], given[-1])):
                yield b.op(a.IEQ, operand.dims[-1], space[-1], type=Bool)
        for v in arrays:
            if v.type.ndim and not _is_settled(b, v) and (given is None or not _stepping(v.type)):
                stride = b.op(m.ARRAY_STRIDE, v, type=Int, axis=v.type.ndim - 1)
                yield b.op(a.IEQ, stride, b.const(Int, m.item_bytes(v.type.dtype)), type=Bool)

    def flat(self, b, space):
        given = self.space()
        for operand in self.arrays.values():
            t = operand.type
            if t.ndim == len(space) and t.layout == "C":
                for k in range(t.ndim):
                    if given is None or not b.same(operand.dims[k], given[k]):
                        yield b.op(a.IEQ, operand.dims[k], space[k], type=Bool)
            else:
                yield b.const(Bool, False)

    def overlaps(self, b, target):
        """Spans of memory meet, and the operand is not the target itself, element by element."""
        found = None
        for k, operand in self.arrays.items():
            if k in self.saved or _distinct(self.defs, operand.value, target):
                continue
            same = None
            dims = [b.op(m.ARRAY_DIM, target, type=Int, axis=j) for j in range(target.type.ndim)]
            if operand.type.ndim == target.type.ndim:
                same = [] if _start(b, operand.value) is _start(b, target) else [(m.ARRAY_DATA, {})]  # what is to be compared
                for j in range(target.type.ndim):
                    if _stride_key(b, target, j) != _stride_key(b, operand.value, j):
                        same.append((m.ARRAY_STRIDE, {"axis": j}))
                    if not b.same(dims[j], operand.dims[j]):
                        same.append((m.ARRAY_DIM, {"axis": j}))
                if not same:  # it is the target
                    continue
            low, high = _span(b, target, dims)
            low2, high2 = _span(b, operand.value, operand.dims)
            meet = b.op(a.BAND, b.op(a.ILT, low, high2, type=Bool), b.op(a.ILT, low2, high, type=Bool), type=Bool)
            if same:
                equal = b.all(b.op(a.IEQ, *(b.op(op, v, type=Int, **at) for v in (target, operand.value)), type=Bool) for op, at in same)
                meet = b.op(a.BAND, meet, b.op(a.BNOT, equal, type=Bool), type=Bool)
            found = meet if found is None else b.op(a.BOR, found, meet, type=Bool)
        return found if found is not None else b.const(Bool, False)


def _span(b, array, dims):
    """Where the elements of an array begin and end; of an empty one, anything."""
    low = b.op(m.ARRAY_DATA, array, type=Int)
    high = b.op(a.IADD, low, b.const(Int, m.item_bytes(array.type.dtype)), type=Int)
    zero, one = b.const(Int, 0), b.const(Int, 1)
    for axis, n in enumerate(dims):
        stride = b.op(m.ARRAY_STRIDE, array, type=Int, axis=axis)
        reach = b.op(a.IMUL, b.op(a.ISUB, n, one, type=Int), stride, type=Int)
        if array.type.layout == "C" or isinstance(_stride_key(b, array, axis), int):  # elements in the order of their addresses
            high = b.op(a.IADD, high, reach, type=Int)
            continue
        negative = b.op(a.ILT, reach, zero, type=Bool)
        low = b.op(a.IADD, low, b.op(s.SELECT, negative, reach, zero, type=Int), type=Int)
        high = b.op(a.IADD, high, b.op(s.SELECT, negative, zero, reach, type=Int), type=Int)
    return low, high


def _start(b, v: Value) -> Value:
    """An array that begins where `v` does."""
    while (made := b.defs.get(v)) is not None and (made.op is s.RETYPE or made.op is m.ARRAY_VIEW and b.is_const(made.args[1], 0)):
        v = made.args[0]
    return v


def _stride_key(b, v: Value, axis: int):
    """The stride as an int, positive, or what it is the same as."""
    made = b.defs.get(v)
    if v.type.layout == "C" and axis == v.type.ndim - 1:
        return m.item_bytes(v.type.dtype)
    if made is not None and made.op is m.ARRAY_VIEW:
        stride = made.args[2 + v.type.ndim + axis]
        known = b.defs.get(stride)
        if known is not None and known.op is m.ARRAY_STRIDE:
            return _stride_key(b, known.args[0], known.attrs["axis"])
        if known is not None and known.op is CONST and known.attrs["value"] > 0:
            return known.attrs["value"]
        return stride
    return v, axis


def _distinct(defs, x: Value, y: Value) -> bool:
    """Whether two arrays are known to have memory of their own."""
    x, y = _root(defs, x), _root(defs, y)
    fresh = [v for v in (x, y) if defs.get(v) is not None and (defs[v].op in (m.ARRAY_NEW, NEST, SHARED_ARRAY, LOCAL_ARRAY) or _gathers(defs[v]))]
    return x is not y and (len(fresh) == 2 or bool(fresh) and all(v in fresh or _given(defs, v) for v in (x, y)))


def _given(defs, v) -> bool:
    """An argument: older than anything made here."""
    return v in defs and defs[v] is None


def _root(defs, v: Value) -> Value:
    while (made := defs.get(v)) is not None and made.op in (m.ARRAY_VIEW, s.RETYPE):
        v = made.args[0]
    return v


def _retyped(b, v: Value, t) -> Value:
    if v.type is t:
        return v
    found = b.op(s.RETYPE, v, type=t)
    b.insts[-1].attrs["type"] = t
    return found


def _stepping(t: Array) -> bool:
    """Whether elements are reached by whole steps of their own size, for any strides."""
    return t.aligned and not isinstance(t.dtype, NpComplex)


def _is_settled(b, v: Value) -> bool:
    """Whether the elements along the last axis are known to follow each other."""
    made = b.defs.get(v)
    return v.type.layout == "C" or made is not None and made.op is m.ARRAY_VIEW and b.is_const(made.args[-1], m.item_bytes(v.type.dtype))


def _is_reversed(b, v: Value) -> bool:
    """Whether the elements along the last axis are known to follow each other backwards."""
    made = b.defs.get(v)
    stride = b.defs.get(made.args[-1]) if made is not None and made.op is m.ARRAY_VIEW and v.type.ndim else None
    if stride is None or stride.op is not a.IMUL or not b.is_const(stride.args[0], -1):
        return False
    whole = b.defs.get(stride.args[1])
    if whole is None or whole.op is not m.ARRAY_STRIDE:
        return b.is_const(stride.args[1], m.item_bytes(v.type.dtype))
    source = whole.args[0].type
    return source.layout == "C" and whole.attrs["axis"] == source.ndim - 1 and source.dtype is v.type.dtype


def _step(b, v: Value, dim: Value, length: Value) -> Value:
    """Elements from one to the next along the last axis of `v`, `dim` of them in an index space of `length`."""
    size = m.item_bytes(v.type.dtype)
    known = _known_step(b, v) if b.same(dim, length) else None
    if known is not None:
        return b.const(Int, known)
    stride = b.const(Int, size) if _is_settled(b, v) else b.op(m.ARRAY_STRIDE, v, type=Int, axis=v.type.ndim - 1)
    return b.op(m.ARRAY_STEP, dim, length, stride, type=Int, size=size)


def _is_made_here(defs, v: Value) -> bool:
    made = defs.get(v)
    return made is not None and (made.op is m.ARRAY_VIEW or made.op is m.ARRAY_NEW)


def _known_step(b, v: Value) -> int | None:
    """The step where `v` is a slice of a C-ordered array with a small constant step: a reversed array, every other element."""
    made = b.defs.get(v)
    stride = b.defs.get(made.args[-1]) if made is not None and made.op is m.ARRAY_VIEW else None
    if stride is None or stride.op is not a.IMUL:
        return None
    factor, unit = (b.defs.get(x) for x in stride.args)
    if factor is None or unit is None or factor.op is not CONST or unit.op is not m.ARRAY_STRIDE:
        return None
    source = unit.args[0].type
    if source.layout != "C" or unit.attrs["axis"] != source.ndim - 1 or source.dtype is not v.type.dtype:
        return None
    return factor.attrs["value"] if abs(factor.attrs["value"]) <= 4 else None


def _stepped(b, index: list, step: Value | None) -> list:
    return index if step is None else [*index[:-1], b.op(a.IMUL, index[-1], step, type=Int)]


def _strided(defs, v: Value) -> bool:
    """Whether the last axis is another axis of a C-ordered array: a column. Its elements are next to each other only
    where rows have one element."""
    made = defs.get(v)
    stride = made is not None and made.op is m.ARRAY_VIEW and v.type.ndim and defs.get(made.args[-1])
    return bool(stride) and stride.op is m.ARRAY_STRIDE and stride.args[0].type.layout == "C" \
        and stride.attrs["axis"] < stride.args[0].type.ndim - 1


def _settled(b: _Builder, v: Value, always=False) -> Value:
    """The same array with its last stride as a constant where a C-ordered array gives it. (An axis of length 1 may have
    any stride there, so what the program sees of the array stays as it is.)"""
    t = v.type
    if not isinstance(t, Array) or not t.ndim:
        return v
    made = b.defs.get(v)
    if t.layout == "C":
        if not always:
            return v
        dims = [b.op(m.ARRAY_DIM, v, type=Int, axis=k) for k in range(t.ndim)]
        args = [v, b.const(Int, 0), *dims, *(b.op(m.ARRAY_STRIDE, v, type=Int, axis=k) for k in range(t.ndim - 1))]
    elif made is not None and made.op is m.ARRAY_VIEW:
        stride = b.defs.get(made.args[-1])
        if stride is None or stride.op is not m.ARRAY_STRIDE:
            return v
        source = stride.args[0].type
        if source.layout != "C" or stride.attrs["axis"] != source.ndim - 1 or source.dtype is not t.dtype:
            return v
        args = made.args[:-1]
    else:
        return v
    found = b.op(m.ARRAY_VIEW, *args, b.const(Int, m.item_bytes(t.dtype)), type=t)
    b.insts[-1].attrs["type"] = t
    return found


def _expand(fn: Function, splice) -> None:
    defs = _definitions(fn)
    blocks: list[Block] = []
    replace: dict[Value, Value] = {}
    for block in fn.blocks:
        blocks.append(block)
        if not any(inst.op in _NESTS for inst in block.insts):
            continue
        insts, block.insts = block.insts, []
        here = block.insts
        for inst in insts:
            if here is None:
                break
            if inst.op not in _NESTS:
                here.append(inst)
                continue
            expansion = _Expansion(fn, defs, inst, here)
            template = inst.attrs["template"]
            expansion.prepare(inst.attrs["ndim"])
            call = Inst(INVOKE, inst.args[:inst.attrs["count"]], {"callee": template}, inst.result, inst.loc, (), inst.unwind)
            start, first, own = len(here), len(blocks), here
            here = splice(call, here, blocks, replace)
            _fill(own, start, expansion, replace)
            for new in blocks[first:]:
                _fill(new.insts, 0, expansion, replace)
    fn.blocks = blocks
    substitute(fn.blocks, replace)


def _fill(insts: list[Inst], start: int, expansion: _Expansion, replace) -> None:
    if not any(inst.op in _HOLES for inst in insts[start:]):
        return
    old = insts[start:]
    del insts[start:]
    b = _Builder(insts, expansion.inst.loc, expansion.inst.unwind, expansion.defs)
    for inst in old:
        if inst.op in _HOLES:
            found = expansion.fill(b, inst, replace)
            if inst.result is not None:
                replace[inst.result] = found
        else:
            insts.append(inst)
