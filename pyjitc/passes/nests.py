"""Fuse loop nests over array elements, and write them out as loops.

Runs after inlining, before everything that looks at loops. A nest whose result only another nest reads becomes part of
that nest's tree, so temporaries and their loops vanish; then each nest's template takes its place, with its holes filled.
Before:  t = nest {map, add} (a, b) ; s = nest {sum, square} (t)     After:  loop: s += square(add(a[i], b[i]))
A producer moves down to its consumer only inside one block and past nothing that writes.
Needs: templates and kernels in finished form (see ops/nest.py).  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir.core import RAISES, WRITES, Block, Edge, Function, Inst, Value
from ..ops import arith as a
from ..ops import memory as m
from ..ops import structure as s
from ..ops.control import CONST, INVOKE
from ..ops.gpu import LOCAL_ARRAY, MEMORIES, SHARED_ARRAY
from ..ops.nest import ELEMENT, ELEMENT_UNIT, FLAT, NEST, NEST_INTO, OVERLAPS, PUT, PUT_UNIT, UNIT, Leaf, Node
from ..types.kinds import Array, Bool, Int, NpComplex
from . import dce, gvn, simplify
from .rewrite import resolve, substitute

__all__ = ["run", "has_nests", "functions_of"]

_NESTS = frozenset((NEST, NEST_INTO))
_HOLES = frozenset((ELEMENT, ELEMENT_UNIT, UNIT, FLAT, OVERLAPS, PUT, PUT_UNIT))
MOST = 24  # operands of a fused nest


def has_nests(fn: Function) -> bool:
    return any(inst.op in _NESTS for block in fn.blocks for inst in block.insts)


def functions_of(inst: Inst) -> list[Function]:
    """The template and the kernels of a nest."""
    found = [inst.attrs["template"]]
    work = [inst.attrs["tree"]]
    while work:
        node = work.pop()
        if type(node) is Node:
            found.append(node.kernel)
            work.extend(node.parts)
    return found


def run(fn: Function, splice) -> None:
    """splice: inline's function that puts a body in place of a call."""
    simplify.run(fn)
    gvn.run(fn)
    simplify.run(fn)
    dce.run(fn)  # arrays that only the next trip of a loop reads go before they are loops
    _fuse(fn)
    _expand(fn, splice)


# ---------------------------------------------------------------- fusion


def _fuse(fn: Function) -> None:
    uses: dict[Value, int] = {}

    def count(values, step=1):
        for v in values:
            uses[v] = uses.get(v, 0) + step

    for block in fn.blocks:
        for inst in block.insts:
            count(inst.args)
            for edge in inst.edges():
                count(edge.args)
    defs = _definitions(fn)
    for block in reversed(fn.blocks):
        where = {inst.result: k for k, inst in enumerate(block.insts) if inst.op is NEST and inst.attrs["shape"] is not None}
        if not where:
            continue
        writes = [k for k, inst in enumerate(block.insts) if inst.op.effects & WRITES and inst.op is not m.POLL]
        gone: set[Inst] = set()

        def may_move(at, k):
            """Whether the nest at `at` may run at k instead: nothing between writes what it reads."""
            between = [block.insts[w] for w in writes if at < w < k]
            if not between:
                return True
            producer = block.insts[at]
            read = [v for v in producer.args[producer.attrs["count"]:] if isinstance(v.type, Array)]
            return all((target := _written(inst)) is not None and all(_distinct(defs, v, target) for v in read) for inst in between)

        def is_shared(v, at):
            """Whether every consumer of the nest at `at` can compute it again, which is less than to keep it."""
            producer = block.insts[at]
            if any(_strided(defs, x) for x in producer.args[producer.attrs["count"]:]):
                return False  # every element of a column is a line of the cache
            readers = [k for k, inst in enumerate(block.insts) if inst.op in _NESTS and inst not in gone and v in inst.args]
            first = [block.insts[k].attrs["count"] for k in readers]
            return len(readers) <= 4 and _size(producer.attrs["tree"]) <= 8 and all(may_move(at, k) for k in readers) and uses[v] == sum(
                block.insts[k].args[n:].count(v) for k, n in zip(readers, first)) and all(
                block.insts[k].attrs["ndim"] == v.type.ndim for k in readers)

        for k in range(len(block.insts) - 1, -1, -1):
            inst = block.insts[k]
            if inst.op not in _NESTS or inst in gone:
                continue
            if inst.op is NEST and not uses.get(inst.result) and inst.attrs["shape"] is not None:
                gone.add(inst)
                count(inst.args, -1)
                continue
            changed = True
            while changed:
                changed = False
                for v in dict.fromkeys(inst.args[inst.attrs["count"]:]):
                    at = where.get(v)
                    if at is None or v in inst.args[:inst.attrs["count"]] or not may_move(at, k):
                        continue
                    producer = block.insts[at]
                    only = uses[v] == inst.args[inst.attrs["count"]:].count(v)
                    if not only and not is_shared(v, at) or v.type.ndim < inst.attrs["ndim"] and _costly(producer.attrs["tree"]):
                        continue
                    operands = _merged(inst, producer, v)
                    if len(operands) > MOST:
                        continue
                    count(inst.args, -1)
                    inst.args[inst.attrs["count"]:] = operands
                    count(inst.args)
                    if only:
                        count(producer.args, -1)
                        gone.add(producer)
                    changed = True
        if gone:
            block.insts = [inst for inst in block.insts if inst not in gone]


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


def _costly(tree) -> bool:
    """Whether computing the tree again for every row would cost more than storing it."""
    return _size(tree) > 4


def _size(tree) -> int:
    """Instructions of an element."""
    work, seen, n = [tree], set(), 0
    while work:
        node = work.pop()
        if type(node) is Node and node not in seen:
            seen.add(node)
            n += sum(len(block.insts) for block in node.kernel.blocks)
            work.extend(node.parts)
    return n


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
            return made.args[0], made.attrs["axis"]
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
        self.arrays = {k: _Operand(self.before, v) for k, v in enumerate(self.operands) if isinstance(v.type, Array)}
        self.views: dict = {}
        self.lengths: tuple | None = None

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
                        step = _step(b, operand.value, dims[axis], space[-1])
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

    def prepare(self, n):
        for k in self.arrays:
            self.view(k, n, True)
            self.view(k, n, False)

    def fill(self, b: _Builder, hole: Inst, replace):
        """What stands in place of a hole."""
        op, args = hole.op, [resolve(replace, v) for v in hole.args]
        if op is ELEMENT or op is ELEMENT_UNIT:
            return self.element(b, args, op is ELEMENT_UNIT, hole.attrs["type"])
        if op is PUT or op is PUT_UNIT:
            return self.put(b, args, op is PUT_UNIT)
        if op is UNIT:
            return b.all(self.unit(b, args))
        if op is FLAT:
            return b.all(self.flat(b, args))
        return self.overlaps(b, args[0])

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
            if _distinct(self.defs, operand.value, target):
                continue
            same = []
            dims = [b.op(m.ARRAY_DIM, target, type=Int, axis=j) for j in range(target.type.ndim)]
            strides = [b.op(m.ARRAY_STRIDE, target, type=Int, axis=j) for j in range(target.type.ndim)]
            x, y = b.op(m.ARRAY_DATA, target, type=Int), b.op(m.ARRAY_DATA, operand.value, type=Int)
            if operand.type.ndim == target.type.ndim:
                same.append(b.op(a.IEQ, x, y, type=Bool))
                for j in range(target.type.ndim):
                    other = b.op(m.ARRAY_STRIDE, operand.value, type=Int, axis=j)
                    same.append(b.op(a.IEQ, strides[j], other, type=Bool))
                    same.append(b.op(a.IEQ, dims[j], operand.dims[j], type=Bool))
            low, high = _span(b, x, dims, strides, m.item_bytes(target.type.dtype))
            others = [b.op(m.ARRAY_STRIDE, operand.value, type=Int, axis=j) for j in range(operand.type.ndim)]
            low2, high2 = _span(b, y, operand.dims, others, m.item_bytes(operand.type.dtype))
            meet = b.op(a.BAND, b.op(a.ILT, low, high2, type=Bool), b.op(a.ILT, low2, high, type=Bool), type=Bool)
            if same:
                meet = b.op(a.BAND, meet, b.op(a.BNOT, b.all(same), type=Bool), type=Bool)
            found = meet if found is None else b.op(a.BOR, found, meet, type=Bool)
        return found if found is not None else b.const(Bool, False)


def _span(b, data, dims, strides, size):
    low, high = data, b.op(a.IADD, data, b.const(Int, size), type=Int)
    zero, one = b.const(Int, 0), b.const(Int, 1)
    for n, stride in zip(dims, strides):
        reach = b.op(a.IMUL, b.op(a.ISUB, n, one, type=Int), stride, type=Int)
        negative = b.op(a.ILT, reach, zero, type=Bool)
        low = b.op(a.IADD, low, b.op(s.SELECT, negative, reach, zero, type=Int), type=Int)
        high = b.op(a.IADD, high, b.op(s.SELECT, negative, zero, reach, type=Int), type=Int)
    return low, high


def _distinct(defs, x: Value, y: Value) -> bool:
    """Whether two arrays are known to have memory of their own."""
    x, y = _root(defs, x), _root(defs, y)
    fresh = [v for v in (x, y) if defs.get(v) is not None and defs[v].op in (m.ARRAY_NEW, NEST, SHARED_ARRAY, LOCAL_ARRAY)]
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


def _step(b, v: Value, dim: Value, length: Value) -> Value:
    """Elements from one to the next along the last axis of `v`, `dim` of them in an index space of `length`."""
    size = m.item_bytes(v.type.dtype)
    stride = b.const(Int, size) if _is_settled(b, v) else b.op(m.ARRAY_STRIDE, v, type=Int, axis=v.type.ndim - 1)
    return b.op(m.ARRAY_STEP, dim, length, stride, type=Int, size=size)


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
