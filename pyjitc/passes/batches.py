"""Make operations on whole batches of the calls that `vmap` makes for each example (lib/transforms.py: part).

Runs before inlining, after derivatives are made. The function for one example is copied, its calls are inlined, and
each value that depends on the example gets one more axis in front, the batch: loop nests have one more axis, products
with a matrix that all examples share become one product of matrices, and numbers become nests. Calls that have no form
for batches become loops over the examples of their own. What this cannot do, such as branches that examples take
differently, leaves the loop over calls as it is; so does a function of numbers only, for which that is the best form.

Before:  part(W, x, low, high, out): for i: put out, i, (nest {dotted_rows} W, x[i])
After:   part(W, x, low, high, out): put_all out, low, (invoke @products x[low:high], W)

Where examples may raise, the part is run again example by example after an exception: it raises what the first example
raises that fails. Nothing that an example writes can be seen before. An operation that is the same for all examples has
already raised for the first one, which is a call.
Needs: typed functions as inference left them.  Keeps: all functions of the program.
"""
from __future__ import annotations

from typing import Any, Callable

from ..base.errors import CompileError
from ..ir.cfg import reverse_postorder
from ..ir.core import RAISES, TERMINATOR, Block, Edge, Function, Inst, Value
from ..ir.flags import Template
from ..ops import arith as a
from ..ops import control as c
from ..ops import exceptions as exc
from ..ops import memory as mem
from ..ops import structure as s
from ..ops.nest import NEST, NEST_INTO, Leaf, Node, fails, template_of
from ..types import kinds as k
from ..types.lattice import dtype_of, numpy_counterpart
from . import inline
from .batch_values import BatchValues, Refused
from .derivatives.builder import Builder
from .derivatives.prepare import calls_itself, to_be_put_in, whole
from .rewrite import copy_of

__all__ = ["is_batch", "run"]

_MOST = 400  # instructions of a function of the program that is inlined into the loop over examples
_FOLDS = frozenset(("sum", "prod", "min", "max", "any", "all"))


def is_batch(fn: Function) -> bool:
    """Whether a function divides the batch of a `vmap` into parts."""
    return fn.flags.vmap == "parts"


def in_parallel(fn: Function) -> bool:
    """Whether a function divides the batch of a `pmap` among threads."""
    return fn.flags.vmap == "threads"


def run(functions: list[Function], options, helpers: Callable) -> list[Function]:
    """Process all batches of a module; returns the functions that were made. helpers: see derivatives/make.py."""
    made: list[Function] = []
    reached = functions[:1]
    for fn in reached:  # appended to during the iteration
        for inst in (inst for block in fn.blocks for inst in block.insts if inst.op is c.INVOKE):
            callee = inst.attrs["callee"]
            if callee.library and any(map(is_batch, inline.callees(callee))):
                new = _batched(callee, options, helpers, made)
                if new is not None:
                    inst.attrs["callee"] = new
                    continue
            if in_parallel(callee):
                new = copy_of(callee)
                if _put_in(_own(new, "example")):
                    inst.attrs["callee"] = callee = new
            if callee not in reached:
                reached.append(callee)
    return made


def _batched(driver: Function, options, helpers, made) -> Function | None:
    """A copy of the library's `batched` whose part processes all of its examples at once, or into whose loop functions
    of the program are inlined; None where neither is possible."""
    new = copy_of(driver)
    parts = _own(new, "parts")
    part = _own(parts, "part")
    batch = _Batch(part, options, helpers)
    try:
        at_once = batch.run()
    except Refused:
        return new if _put_in(_own(part, "example")) else None
    made.append(part)
    if batch.raises:
        made.append(at_once)
        _guard(part, at_once)
    else:
        part.blocks = at_once.blocks
    return new


def _put_in(one: Function) -> bool:
    """Mark the functions of the program that `one` calls to be inlined into the loop over examples: there the arrays
    that they return need no memory of their own, and vectorise.py may run their loops for several examples at once.
    Returns whether there is one."""
    found = False
    for inst in (inst for block in one.blocks for inst in block.insts if inst.op is c.INVOKE):
        callee = inst.attrs["callee"]
        if (not callee.library and (k.any_part(callee.result, lambda part: type(part) is k.Array)
                                    or _may_be_vector(callee))
            and sum(len(block.insts) for block in callee.blocks) <= _MOST and not calls_itself(callee)):
            inst.attrs = {**inst.attrs, "callee": to_be_put_in(callee)}
            found = True
    return found


def _may_be_vector(fn: Function) -> bool:
    """Whether the loops of a function may run for several examples at once: its parameters are scalars, and its loops
    or branches pass on floats."""
    return (all([k.is_scalar(p.type) for p in fn.params]) and _loops(fn, {})
            and any([k.any_part(p.type, k.is_float) for block in fn.blocks if block is not fn.entry
                     for p in block.params]))


def _own(fn: Function, what: str) -> Function:
    """Let `fn` call a copy of the callee that plays the role `what` in `vmap`, and return this copy."""
    copies: dict[Function, Function] = {}
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is c.INVOKE and inst.attrs["callee"].flags.vmap == what:
                callee = inst.attrs["callee"]
                if callee not in copies:
                    copies[callee] = copy_of(callee)
                inst.attrs = {**inst.attrs, "callee": copies[callee]}
    (found,) = copies.values()
    return found


def _guard(part: Function, at_once: Function) -> None:
    """Let `part` call `at_once`, and where that raises an Exception, run its own loop, which rarely happens: LLVM does
    not optimise it."""
    loop = copy_of(part)
    loop.name = loop.qualname = "one_by_one"
    loop.flags = loop.flags._replace(noinline=True, optnone=True, vmap="")
    entry, rest, handler, again, out = map(Block, ("entry", "rest", "handler", "again", "out"))
    entry.params = [Value(p.type, p.name) for p in part.params]
    loc = part.entry.insts[0].loc

    def call(block, callee, **unwind):
        result = Value(part.result)
        block.insts.append(Inst(c.INVOKE, entry.params, {"callee": callee}, result, loc, **unwind))
        return result

    result = call(entry, at_once, unwind=Edge(handler))
    entry.insts.append(Inst(c.JUMP, (), {}, None, loc, [Edge(rest)]))
    rest.insts.append(Inst(c.RETURN, [result], {}, None, loc))
    b = Builder(handler.insts)
    b.loc = loc
    error = b.op(exc.EXC_FETCH)
    usual = b.op(exc.EXC_MATCH, error, classes=(Exception,))
    b.branch(usual, Edge(again), Edge(out), likely=None)
    again.insts.append(Inst(c.RETURN, [call(again, loop)], {}, None, loc))
    out.insts.append(Inst(c.RERAISE, [error], {}, None, loc))
    part.blocks = [entry, rest, handler, again, out]


def element_type(t: k.Type) -> k.Type:
    """The dtype of an array of the numbers of type t."""
    found = numpy_counterpart(t) if k.is_python_number(t) else t
    if found is not k.NpBool and not k.is_number(found):
        raise Refused
    return found


class _Batch(BatchValues):
    """Makes the body of `at_once`, a function with the parameters of `part`. inside: it is called for each example of
    another batch, which needs all of it to be operations on arrays."""

    def __init__(self, part: Function, options, helpers, inside: bool = False):
        self.part, self.options, self.helpers, self.inside = part, options, helpers, inside
        # value of one example -> that of the batch; of a tuple the instruction that makes it
        self.new: dict[Value, Any] = {}
        self.raises = False  # whether some examples may raise
        self.gains = False  # whether an operation on the batch does more than a loop over the examples
        self.sites = 0  # arrays that are kept between operations

    def run(self) -> Function:
        part = self.part
        one = next(callee for callee in inline.callees(part) if callee.flags.vmap == "example")
        fn = self.fn = self.example(one)
        self.find()
        self.translate()
        if not self.gains and not self.inside:
            raise Refused
        fn.name, fn.qualname, fn.result, fn.library = "at_once", "at_once", part.result, True
        fn.flags = fn.flags._replace(vmap="")
        return fn

    # -- the function for one example

    def example(self, one: Function) -> Function:
        """A copy of the function for one example, with its calls inlined but for those that become loops."""
        one = self.inner(one)
        calls: set[Function] = set()
        reached = [one]
        for fn in reached:  # appended to during the iteration
            for callee in inline.callees(fn):
                if callee.library and not callee.flags.noinline and not fn.library and _loops(callee, {}):
                    calls.add(callee)
                if callee not in reached and callee not in calls:
                    reached.append(callee)
        for callee in calls:
            callee.flags = callee.flags._replace(noinline=True)
        try:
            staying: set[Function] = set()
            found = whole(one, self.options, lambda fn: None, True, staying, self.helpers)
        finally:
            for callee in calls | staying:
                callee.flags = callee.flags._replace(noinline=False)
        return found

    def inner(self, fn: Function) -> Function:
        """A copy of a function of the program in which batches are processed at once, not in parts: the batch of
        examples is in parts already."""
        new = copy_of(fn)
        for inst in (inst for block in new.blocks for inst in block.insts if inst.op is c.INVOKE):
            callee = inst.attrs["callee"]
            if callee.library and any(map(is_batch, inline.callees(callee))):
                found = self.undivided(callee)
                if found is not None:
                    inst.attrs = {**inst.attrs, "callee": found}
            elif not callee.library and _has_batches(callee, set()):
                inst.attrs = {**inst.attrs, "callee": self.inner(callee)}
        return new

    def undivided(self, driver: Function) -> Function | None:
        """The library's `batched`, with one call that processes all examples at once; None where that cannot be."""
        new = copy_of(driver)
        parts = _own(new, "parts")
        try:
            at_once = _Batch(_own(parts, "part"), self.options, self.helpers, True).run()
        except Refused:
            return None
        for block in new.blocks:
            for n, inst in enumerate(block.insts):
                if inst.op is c.INVOKE and inst.attrs["callee"] is parts:
                    b = Builder([], inst)
                    *given, count, out = inst.args
                    # start at the first example, so that a batch is never empty
                    b.call(at_once, *given, b.const(0, k.Int), count, out)
                    block.insts[n:n] = b.insts
                    inst.op, inst.args, inst.attrs = c.CONST, [], {"value": None}
                    return new
        return None

    # -- types

    def type_of(self, v: Value) -> k.Type:
        """The type of the value that represents `v` for the whole batch."""
        t = v.type
        if type(t) is k.Array:
            return k.Array(t.dtype, t.ndim + 1, "A", t.writable, t.aligned)
        return k.Array(element_type(t), 1, "A")

    # -- translation

    def translate(self):
        fn = self.fn
        low, high, out = [Value(p.type, p.name) for p in self.part.params[-3:]]
        self.low, self.high, self.out = low, high, out
        self.arriving: set[Value] = set()  # the parameters of blocks that get values of the batch
        fn.entry.params = [*fn.params[:-1], low, high, out]
        for block in self.order:
            if block is not fn.entry:
                for p in block.params:
                    if p in self:
                        self.new[p] = Value(self.type_of(p), p.name)
                        self.arriving.add(self.new[p])
                block.params = [self.new.get(p, p) for p in block.params]
        self.blocks: list[Block] = []
        for block in self.order:
            insts, block.insts = block.insts, []
            self.start(block)
            if block is fn.entry:
                self.begin()
            for inst in insts:
                self.b.at(inst)
                self.translated(inst)
        fn.blocks = self.blocks

    def begin(self):
        b = self.b
        self.count = b.op(a.ISUB, self.high, self.low)
        self.kept = b.op(mem.ARRAY_NEW, b.const(1, k.Int), type=k.Array(k.int64, 1), zero=True)

    def start(self, block: Block):
        self.blocks.append(block)
        self.b = Builder(block.insts)

    def get(self, x: Value) -> Any:
        """A value in the form for batches: one that is the same for all examples is repeated where it must be."""
        found = self.new.get(x)
        if found is not None:
            return found
        if x in self.affine:
            raise Refused
        return self.spread(x) if x in self else x

    def spread(self, x: Value) -> Value:
        return self.call("batches:repeated", self.count, x)

    def call(self, name, *args):
        """A call of a function of lib/batches.py, or of another module of lib/, see `_helper` in
        pipeline/stages.py."""
        return self.b.call(self.helpers(name, tuple([x.type for x in args])), *args)

    def note(self, x: Value) -> Value:
        """Count an array that is kept between operations. Its lengths are not read from a nest, which fuses with its
        only reader."""
        b = self.b
        self.sites += 1
        size = b.const(mem.item_bytes(x.type.dtype), k.Int)
        made = next(inst for inst in reversed(b.insts) if inst.result is x)
        shape = made.args[0].inst if made.op is NEST else None
        for n in shape.args if shape else [b.op(mem.ARRAY_DIM, x, axis=n) for n in range(x.type.ndim)]:
            size = b.op(a.IMUL, size, n)
        size = b.op(a.CAST, size, type=k.int64)
        first = b.const(0, k.Int)
        largest = b.op(mem.ARRAY_LOAD, self.kept, first)
        larger = b.op(s.SELECT, b.op(a.IGT, size, largest), size, largest)
        b.op(mem.ARRAY_STORE, self.kept, first, larger)
        return x

    def translated(self, inst: Inst):
        b, op, r = self.b, inst.op, inst.result
        if op is c.RETURN:
            self.give_back(inst)
            return
        hit = any(x in self for x in inst.args) or r is not None and r in self
        if r in self.affine:
            return
        if any(type(self.new.get(x)) is Inst for x in inst.args) and op is not c.INVOKE:
            raise Refused
        for e in inst.edges():
            e.args = [self.get_for(p, x) for p, x in zip(e.block.params, e.args)]
        if not hit or inst.op.effects & TERMINATOR:
            if inst.args and any(x in self for x in inst.args):
                raise Refused
            b.insts.append(inst)
            return
        if op is mem.ARRAY_DIM or op is mem.ARRAY_STRIDE:
            x = self.get(inst.args[0])
            inst.args, inst.attrs = [x], {**inst.attrs, "axis": inst.attrs["axis"] + 1}
            b.insts.append(inst)
            return
        if not any(x in self for x in inst.args):
            self.made_alike(inst)
            return
        rule = self.rule(inst)
        rule(inst)

    def get_for(self, p: Value, x: Value) -> Value:
        if p not in self.arriving:
            return x
        x = self.get(x) if x in self else self.spread(x)
        return x if x.type is p.type else self.b.op(s.RETYPE, x, type=p.type)

    def made_alike(self, inst: Inst):
        """Translate an instruction that makes an equal array for each example, into which the example then writes."""
        b, r = self.b, inst.result
        if inst.op is mem.ARRAY_NEW:
            x = Value(k.Array(r.type.dtype, r.type.ndim + 1))
            if r.type.layout != "C":
                raise Refused
            if r in self.in_place:
                self.new[r] = self.part_of_results(r, inst.args)
                return
            b.insts.append(Inst(mem.ARRAY_NEW, [self.count, *inst.args], {**inst.attrs, "type": x.type}, x, inst.loc))
            self.new[r] = self.note(x)
        else:
            b.insts.append(inst)
            self.new[r] = self.spread(r) if type(r.type) is k.Array else None
            if self.new[r] is None:
                raise Refused

    def part_of_results(self, r: Value, dims) -> Value:
        """The part for these examples of the array of the results r."""
        b, whole = self.b, self.out
        for n in self.in_place[r]:
            whole = b.op(s.TUPLE_GET, whole, index=n)
        strides = [b.op(mem.ARRAY_STRIDE, whole, axis=n) for n in range(whole.type.ndim)]
        return b.op(mem.ARRAY_VIEW, whole, b.op(a.IMUL, self.low, strides[0]), self.count, *dims, *strides,
                    type=whole.type)

    def rule(self, inst: Inst) -> Callable:
        op = inst.op
        if op is NEST or op is NEST_INTO:
            rules: dict[Template, Callable] = {"map": self.mapped, "store": self.stored, "fold": self.folded,
                                               "fold axes": self.folded, "rows": self.dotted_rows}
            return rules.get(template_of(inst), self.by_example)
        if op is mem.ARRAY_VIEW:
            return self.view
        if op is s.RETYPE and type(inst.result.type) is k.Array:
            return self.retype
        if op is mem.ARRAY_LOAD:
            return self.load
        if op is mem.ARRAY_STORE:
            return self.store
        if op is mem.DOT:
            return self.dot
        if op is c.INVOKE:
            return self.called
        if inst.result is not None and k.is_scalar(inst.result.type) and all(k.is_scalar(x.type) for x in inst.args):
            if inst.op.effects & ~RAISES:
                raise Refused
            return self.number
        if op is s.TUPLE_MAKE:
            return self.several
        raise Refused

    def several(self, inst):
        """Note the instruction that makes a tuple of results: the parts are taken where the tuple is returned."""
        self.new[inst.result] = inst

    def retype(self, inst):
        x, t = self.get(inst.args[0]), inst.result.type
        layout = "C" if t.layout == "C" and x.type.layout == "C" else "A"
        t = k.Array(t.dtype, t.ndim + 1, layout, t.writable, t.aligned)
        self.new[inst.result] = x if t is x.type else self.b.op(s.RETYPE, x, type=t)

    def view(self, inst):
        b, t, x = self.b, inst.result.type, self.get(inst.args[0])
        n = t.ndim
        offset, dims, strides = inst.args[1], inst.args[2:2 + n], inst.args[2 + n:]
        if any(y in self for y in (*dims, *strides)) or (offset in self) == (inst.args[0] in self):
            raise Refused
        if offset in self:
            step, rest = self.affine[offset]
            offset = b.op(a.IMUL, self.low, step)
            offset = offset if rest is None else b.op(a.IADD, offset, rest)
            of = inst.args[0].type
            whole_rows = of.layout == t.layout == "C" and rest is None and n == of.ndim - 1
        else:
            step, whole_rows = b.op(mem.ARRAY_STRIDE, x, axis=0), False
        self.new[inst.result] = b.op(mem.ARRAY_VIEW, x, offset, self.count, *dims, step, *strides,
                                     type=k.Array(t.dtype, n + 1, "C" if whole_rows else "A", t.writable, t.aligned))

    def element(self, x: Value, index) -> Value:
        """The view of one element in each example of an array."""
        b = self.b
        if any(i in self for i in index):
            raise Refused
        offset = b.const(0, k.Int)
        for n, i in enumerate(index):
            offset = b.op(a.IADD, offset, b.op(a.IMUL, i, b.op(mem.ARRAY_STRIDE, x, axis=n + 1)))
        t = x.type
        return b.op(mem.ARRAY_VIEW, x, offset, self.count, b.op(mem.ARRAY_STRIDE, x, axis=0),
                    type=k.Array(t.dtype, 1, "A", t.writable, t.aligned))

    def load(self, inst):
        if inst.args[1:] == [self.index]:
            b, x = self.b, inst.args[0]
            step = b.op(mem.ARRAY_STRIDE, x, axis=0)
            self.new[inst.result] = b.op(mem.ARRAY_VIEW, x, b.op(a.IMUL, self.low, step), self.count, step,
                                         type=x.type)
            return
        found = self.element(self.get(inst.args[0]), inst.args[1:])
        if self.classes.of(inst.args[0]) in self.written:
            found = self.note(self.call("batches:copied", found))
        self.new[inst.result] = found

    def store(self, inst):
        target, *index, value = inst.args
        self.call("batches:assigned", self.element(self.get(target), index), self.get(value))

    # -- nests

    def mapped(self, inst):
        shape, dtype, *_ = inst.args
        self.new[inst.result] = self.note(self.nest(inst, inst.result.type.dtype))

    def nest(self, inst, t) -> Value:
        """The array of the elements of a nest, with one more axis in front."""
        b, n = self.b, inst.attrs["ndim"]
        count = inst.attrs["count"]
        if any(x in self for x in inst.args[:count]):
            raise Refused
        shape = self.longer(inst.args[0])
        template = self.helpers("np.elementwise.loops:mapped", (shape.type, k.DType(t)))
        operands, tree = self.operands(inst.args[count:], inst.attrs["tree"], n)
        dtype = b.op(c.CONST, type=k.DType(t), value=dtype_of(t))
        attrs = {"template": template, "tree": tree, "count": 2, "shape": 0, "ndim": n + 1}
        result = Value(k.Array(t, n + 1))
        self.gains = True
        b.insts.append(Inst(NEST, [shape, dtype, *operands], attrs, result, inst.loc))
        self.raises |= fails(tree)
        return result

    def longer(self, shape: Value) -> Value:
        made = shape.inst
        if made is None or made.op is not s.TUPLE_MAKE:
            raise Refused
        return self.b.op(s.TUPLE_MAKE, self.count, *made.args, cls=None)

    def operands(self, given, tree, n):
        """(operands for a nest of n axes and the batch, the tree of its element functions)"""
        found = [self.stretched(self.get(x), n) if x in self else x for x in given]
        changed = {i for i, x in enumerate(given) if x in self and type(x.type) is not k.Array
                   and x.type is not found[i].type.dtype}
        if changed:
            tree = self.converting(tree, given, changed)
        return found, tree

    def converting(self, tree, given, changed):
        """The tree, in which operands that were numbers of Python, and are elements of an array now, are converted
        back."""
        if type(tree) is Leaf:
            if tree.index in changed:
                raise Refused
            return tree
        parts = [self.converting(part, given, changed) if type(part) is Node else part for part in tree.parts]
        kernel = tree.kernel
        own = [n for n, part in enumerate(parts) if type(part) is Leaf and part.index in changed]
        if not own:
            return Node(kernel, parts)
        fn = Function(f"{kernel.name}.converted", library=True)
        params = [Value(element_type(p.type) if n in own else p.type) for n, p in enumerate(kernel.params)]
        block = Block("entry", params)
        b = Builder(block.insts)
        args = [b.op(a.CAST, x, type=p.type) if n in own else x
                for n, (x, p) in enumerate(zip(params, kernel.params))]
        block.insts.append(Inst(c.RETURN, [b.call(kernel, *args)]))
        fn.blocks, fn.result = [block], kernel.result
        return Node(fn, parts)

    def stretched(self, x: Value, n: int) -> Value:
        """A view of a value of the batch that has n axes besides that of the batch."""
        b, have = self.b, x.type.ndim - 1
        if have == n:
            return x
        one, zero = b.const(1, k.Int), b.const(0, k.Int)
        dims = [b.op(mem.ARRAY_DIM, x, axis=i) for i in range(x.type.ndim)]
        strides = [b.op(mem.ARRAY_STRIDE, x, axis=i) for i in range(x.type.ndim)]
        return b.op(mem.ARRAY_VIEW, x, zero, dims[0], *[one] * (n - have), *dims[1:],
                    strides[0], *[zero] * (n - have), *strides[1:],
                    type=k.Array(x.type.dtype, n + 1, "A", x.type.writable, x.type.aligned))

    def number(self, inst):
        """An operation on numbers as a nest over the batch."""
        b, r = self.b, inst.result
        t = element_type(r.type)
        fn = Function(f"{inst.op.name}.each", library=True)
        order = list(dict.fromkeys(inst.args))
        params = [Value(element_type(x.type) if x in self else x.type) for x in order]
        block = Block("entry", params)
        kb = Builder(block.insts)
        args = [kb.cast(p, x.type) for p, x in zip(params, order)]
        inside = dict(zip(order, args))
        value = Value(r.type)
        block.insts.append(Inst(inst.op, [inside[x] for x in inst.args], dict(inst.attrs), value, inst.loc))
        block.insts.append(Inst(c.RETURN, [kb.cast(value, t)]))
        fn.blocks, fn.result = [block], t
        self.raises |= bool(inst.op.effects & RAISES)
        shape = b.op(s.TUPLE_MAKE, self.count, cls=None)
        template = self.helpers("np.elementwise.loops:mapped", (shape.type, k.DType(t)))
        dtype = b.op(c.CONST, type=k.DType(t), value=dtype_of(t))
        tree = Node(fn, [Leaf(n) for n in range(len(order))])
        result = Value(k.Array(t, 1))
        b.insts.append(Inst(NEST, [shape, dtype, *map(self.get, order)],
                            {"template": template, "tree": tree, "count": 2, "shape": 0, "ndim": 1}, result, inst.loc))
        self.new[r] = self.note(result)

    def folded(self, inst):
        """Translate a fold: it reduces the same axes for each example."""
        how, tree, n = inst.attrs.get("how"), inst.attrs["tree"], inst.attrs["ndim"]
        reduced = inst.attrs.get("reduced") or (True,) * n
        result = inst.result
        dtype = result.type.dtype if type(result.type) is k.Array else element_type(result.type)
        if (how not in _FOLDS or type(tree) is not Node or any(x in self for x in inst.args[:inst.attrs["count"]])
            or template_of(inst) == "fold axes" and "reduced" not in inst.attrs):
            return self.by_example(inst)
        found = tree.kernel.result
        if (numpy_counterpart(found) if k.is_python_number(found) else found) is not dtype:
            return self.by_example(inst)
        elements = self.nest(inst, dtype)
        axes = tuple([i + 1 for i, gone in enumerate(reduced) if gone])
        self.new[result] = self.note(self.call(("batches:fold_of", how, axes), elements))
        return None

    def dotted_rows(self, inst):
        matrix, x = inst.args[inst.attrs["count"]:]
        name = ("batches:shared_matrix" if matrix not in self else "batches:shared_vector" if x not in self
                else "batches:matrices")
        self.gains = True
        self.new[inst.result] = self.note(self.call(name, self.get(matrix), self.get(x)))

    def dot(self, inst):
        x, y = inst.args
        if x in self and y in self:
            self.by_example(inst)
        else:
            self.gains = True
            given = map(self.get, (x, y) if x in self else (y, x))
            self.new[inst.result] = self.note(self.call("batches:shared_vector", *given))

    def stored(self, inst):
        target = inst.args[1]
        if target not in self:
            raise Refused
        # compute all elements, and store them in one assignment
        b, n, count, t = self.b, inst.attrs["ndim"], inst.attrs["count"], target.type.dtype
        operands, tree = self.operands(inst.args[count:], inst.attrs["tree"], n)
        place = self.get(target)
        shape = self.longer(inst.args[0])
        template = self.helpers("np.elementwise.loops:stored", (shape.type, place.type, k.DType(t)))
        dtype = b.op(c.CONST, type=k.DType(t), value=dtype_of(t))
        attrs = {"template": template, "tree": tree, "count": 3, "shape": 0, "ndim": n + 1}
        b.insts.append(Inst(NEST_INTO, [shape, place, dtype, *operands], attrs, Value(template.result), inst.loc))
        self.raises |= fails(tree)

    def called(self, inst):
        """Translate a call of a library function: to the form for batches, if there is one for these types."""
        r = inst.result
        if "batched" in inst.attrs["callee"].memo and not any(type(self.new.get(x)) is Inst for x in inst.args):
            rule, constants = inst.attrs["callee"].memo["batched"]
            given = [self.get(x) for x in inst.args]
            try:
                typed = self.helpers(("batches:rule_with", rule, constants), tuple([x.type for x in given]))
            except CompileError:
                typed = None
            wanted = k.NoneType if r is None or r.type is k.NoneType else self.type_of(r)
            if typed is not None and (typed.result is wanted or type(typed.result) is type(wanted) is k.Array and (
                    typed.result.dtype, typed.result.ndim) == (wanted.dtype, wanted.ndim)):
                self.raises = self.gains = True
                found = self.b.call(typed, *given)
                if wanted is not k.NoneType and r is not None:
                    self.new[r] = self.note(found)
                return
        self.by_example(inst)

    # -- by example

    def by_example(self, inst):
        """Translate an instruction to a loop over the examples."""
        b, r = self.b, inst.result
        self.raises = True
        zero, one = b.const(0, k.Int), b.const(1, k.Int)

        def once(i):
            args = [self.at(x, i) for x in inst.args]
            result = Value(r.type) if r is not None else None
            self.b.insts.append(Inst(inst.op, args, dict(inst.attrs), result, inst.loc))
            return result

        first, rooms = zero, zero
        if r is not None and r.type is not k.NoneType:
            if type(r.type) is k.Array:
                found = once(zero)
                rooms = self.note(self.call("batches:room_like", self.count, found))
                self.call("batches:put_at", rooms, zero, found)
                first = one
            else:
                t = element_type(r.type)
                rooms = b.op(mem.ARRAY_NEW, self.count, type=k.Array(t, 1), zero=False)
                self.note(rooms)
            self.new[r] = rooms
        header, body, after = Block("examples"), Block("example"), Block("")
        i = Value(k.Int)
        header.params = [i]
        self.jump(header, [first])
        self.start(header)
        self.b.at(inst)
        more = self.b.op(a.ILT, i, self.count)
        self.b.branch(more, Edge(body), Edge(after), likely=None)
        self.start(body)
        self.b.at(inst)
        found = once(i)
        if found is not None and r.type is not k.NoneType:
            if type(r.type) is k.Array:
                self.call("batches:put_at", rooms, i, found)
            else:
                self.b.op(mem.ARRAY_STORE, rooms, i, self.b.cast(found, rooms.type.dtype))
        self.jump(header, [self.b.op(a.IADD, i, one)])
        self.start(after)
        self.b.at(inst)

    def jump(self, block, args):
        self.b.jump(Edge(block, args))

    def at(self, v: Value, i: Value) -> Value:
        """The value of example i."""
        b, t = self.b, v.type
        if v not in self:
            return v
        x = self.get(v)
        if type(x) is Inst:
            return b.op(s.TUPLE_MAKE, *[self.at(part, i) for part in x.args], cls=t.cls)
        if type(t) is not k.Array:
            return b.cast(b.op(mem.ARRAY_LOAD, x, i), t)
        offset = b.op(a.IMUL, i, b.op(mem.ARRAY_STRIDE, x, axis=0))
        axes = range(1, t.ndim + 1)
        return b.op(mem.ARRAY_VIEW, x, offset, *(b.op(mem.ARRAY_DIM, x, axis=n) for n in axes),
                    *(b.op(mem.ARRAY_STRIDE, x, axis=n) for n in axes), type=t)

    # -- results

    def give_back(self, inst):
        self.put(self.out, inst.args[0], ())
        b = self.b
        total = b.op(a.CAST, b.op(mem.ARRAY_LOAD, self.kept, b.const(0, k.Int)), type=k.Int)
        size = b.op(a.IADD, b.const(1, k.Int), b.op(a.IMUL, total, b.const(self.sites, k.Int)))
        b.insts.append(Inst(c.RETURN, [size], {}, None, inst.loc))

    def put(self, out: Value, x: Value, place: tuple[int, ...]):
        b = self.b
        if type(x.type) is k.Tuple:
            made = x.inst
            if made is None or made.op is not s.TUPLE_MAKE:
                raise Refused
            for n, part in enumerate(made.args):
                self.put(b.op(s.TUPLE_GET, out, index=n), part, (*place, n))
            return
        if type(x.type) is not k.Array and not k.is_scalar(x.type):
            raise Refused
        if self.in_place.get(x) == place:
            return
        if x in self:
            self.call("batches:put_all", out, self.low, self.get(x))
        else:
            self.call("batches:put_same", out, self.low, self.high, x)


def _has_batches(fn: Function, seen: set[Function]) -> bool:
    """Whether a function, or a function of the program that it calls, calls `batched`. `seen`: functions that need not
    be looked at again."""
    if fn in seen:
        return False
    seen.add(fn)
    return any(any(map(is_batch, inline.callees(callee))) if callee.library else _has_batches(callee, seen)
               for callee in inline.callees(fn))


def _loops(fn: Function, known: dict[Function, bool]) -> bool:
    """Whether a function, or one that would be inlined into it, has a loop."""
    if fn not in known:
        known[fn] = False
        order = {block: n for n, block in enumerate(reverse_postorder(fn))}
        known[fn] = any(order[e.block] <= n for block, n in order.items() for e in block.edges()) or any(
            _loops(inst.attrs["callee"], known) for block in order for inst in block.insts
            if inst.op is c.INVOKE and not inst.attrs["callee"].flags.noinline)
    return known[fn]
