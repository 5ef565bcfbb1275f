"""Reverse mode of loop nests that are still one operation: the adjoint is made of nests too, so that they fuse.

    y = f(x, ...) for each element       x_ += (df/dx * y_) for each element, summed where x was broadcast
    y = sum of f(x, ...)                 the same, with the number y_ (or one for each sum) in place of an array
    y = a @ x                            a_ += outer(y_, x) ; x_ += y_ @ a
    a[...] = f(x, ...)                   g = a_ ; a_ = 0 ; then as the first

The product with the derivative of an element function is made of it by the same reverse mode.
"""
from __future__ import annotations

from ...base.options import Options
from ...ir.core import ELEMENTARY, MODERATE, Function, Inst, Value
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops.derivative import Request, requested
from ...ops.nest import NEST, Leaf, Node, template_of
from ...types import kinds as k
from ...types.lattice import dtype_of
from ...types.tangents import gradient_type, is_varying, tangent_type
from .. import inline
from ..rewrite import copy_of
from .builder import Builder
from .prepare import put_in_calls, canonicalise

__all__ = ["Nests"]


class Nests:
    """sweep: the reverse sweep for which nests are differentiated; pull: the function that differentiates element
    functions."""

    def __init__(self, sweep, pull):
        self.sweep, self.pull, self.helpers = sweep, pull, sweep.helpers
        self.in_memory: set[Value] | None = None  # results of nests that are stored as arrays in any case

    def made(self, b, inst: Inst, cur, g: Value) -> None:
        """Add the adjoints of the operands of a nest that makes an array. g: the adjoint of the array; a number where
        it is the same for all elements.
        """
        kind, sweep = template_of(inst), self.sweep
        operands = inst.args[inst.attrs["count"]:]
        if kind == "rows":
            matrix, x = operands
            g = sweep.dense(b, g, inst.result)
            if matrix in sweep.act:
                sweep.add(b, cur, matrix, self.call(b, "outer", g, sweep.content(inst, x)), True, True)
            if x in sweep.act:
                sweep.add(b, cur, x, self.call(b, "by_rows", g, sweep.content(inst, matrix)), True, True)
            return
        if kind == "columns":
            column, matrix = operands
            g = sweep.dense(b, g, inst.result)
            if matrix in sweep.act:
                sweep.add(b, cur, matrix, self.call(b, "by_column", sweep.content(inst, column), g), True, True)
            if column in sweep.act:
                sweep.add(b, cur, column, self.call(b, "column", sweep.content(inst, matrix), g), True, True)
            return
        partial = type(g.type) is not k.Array  # whether g has fewer elements than the space of the nest
        if kind == "fold axes" and type(g.type) is k.Array:
            g, partial = self.stretched(b, g, inst.attrs["reduced"]), True
        self.elements(b, inst, cur, g, partial)

    def into(self, b, inst: Inst, cur) -> None:
        """Add the adjoints of the operands of a nest that writes into an array."""
        shadow = self.sweep.beside(b, cur, inst.args[1])
        g = self.call(b, "copied", shadow)
        self.call(b, "clear", shadow)
        self.elements(b, inst, cur, g)

    def call(self, b, name, *args):
        return b.call(self.helpers(name, tuple([x.type for x in args])), *args)

    def stretched(self, b, g, reduced):
        """A view of g in which each axis that was summed over is added again, with length 1 and stride 0."""
        dims, strides, axis = [], [], 0
        for gone in reduced:
            if gone:
                dims.append(b.const(1, k.Int))
                strides.append(b.const(0, k.Int))
            else:
                dims.append(b.op(mem.ARRAY_DIM, g, axis=axis))
                strides.append(b.op(mem.ARRAY_STRIDE, g, axis=axis))
                axis += 1
        return b.op(mem.ARRAY_VIEW, g, b.const(0, k.Int), *dims, *strides,
                    type=k.Array(g.type.dtype, len(reduced), "A"))

    def elements(self, b, inst, cur, g, partial=False):
        tree, sweep = inst.attrs["tree"], self.sweep
        operands = inst.args[inst.attrs["count"]:]
        if type(tree) is Leaf:
            sweep.add(b, cur, operands[tree.index], g)
            return
        places: dict[int, list[int]] = {}
        for n, part in enumerate(tree.parts):
            places.setdefault(part.index, []).append(n)
        has_result = self.is_in_memory(inst)
        for index, parts in places.items():
            x = operands[index]
            if not is_varying(x.type) or x not in sweep.act:
                continue
            for n in parts:
                kernel = self.adjoint_kernel(inst, tree.kernel, n, has_result)
                if not has_result and type(inst.result.type) is k.Array and self.is_kept(x) and not sweep.is_written(
                        inst.result):
                    # If `x` is made in a loop and the function of it is costly, only one of the two arrays is kept: the
                    # derivative then reads the result and does not compute the function again.
                    by_result = self.adjoint_kernel(inst, tree.kernel, n, True)
                    if len(by_result.params) == len(tree.parts) + 2 and min(_used(by_result)) >= len(tree.parts):
                        kernel = by_result
                if _is_last(kernel):
                    arrays = {y for y in operands if type(y.type) is k.Array}
                    alone = arrays == {x}  # the shape of the nest is the shape of x
                    sweep.add(b, cur, x, g if alone or not partial else self.call(b, "for_all", inst.args[0], x, g))
                    continue
                sweep.add(b, cur, x, self.mapped(b, inst, kernel, tree.parts, operands, g), new=True)

    def is_in_memory(self, inst: Inst) -> bool:
        """Whether the result of a nest is stored as an array, which is not written into later. It is not stored if its
        only reader is a nest with which it fuses."""
        r, sweep = inst.result, self.sweep
        if r is None or type(r.type) is not k.Array or sweep.is_written(r):
            return False
        if self.in_memory is None:
            self.in_memory, seen = set(), set()
            for block in sweep.form.dom.order:
                for one in block.insts:
                    fuses = one.op is NEST and one.attrs["shape"] is not None
                    for x in set(one.uses()):
                        if x in seen or not fuses and one.op is not mem.ARRAY_DIM:
                            self.in_memory.add(x)
                        if one.op is not mem.ARRAY_DIM:
                            seen.add(x)
        return r in self.in_memory

    def is_kept(self, x: Value) -> bool:
        """Whether x is an array that a loop makes and that takes long to compute, so that a derivative that reads it
        keeps it."""
        made = x.inst
        return (type(x.type) is k.Array and made is not None and self.sweep.form.loop_of(x) is not None
                and (made.op is c.INVOKE or made.op is NEST and template_of(made) != "map"))

    def mapped(self, b, inst, kernel, parts, operands, g):
        """The array of kernel(element of each operand, element of g) over the space of the nest. A kernel with one more
        parameter gets the element of the nest's result before that of g."""
        used = _used(kernel)
        given, leaves = [], []
        for n, part in enumerate(parts):
            x = operands[part.index]
            if n not in used:
                x = g if kernel.params[n].type is kernel.params[-1].type else x
            elif type(x.type) is k.Array:
                x = self.sweep.content(inst, x)
            given.append(x)
        if len(kernel.params) == len(parts) + 2:
            given.append(inst.result)
        given.append(g)
        order = list(dict.fromkeys(given))
        leaves = [Leaf(order.index(x)) for x in given]
        t = kernel.result
        t = k.float64 if t is k.Float else k.complex128 if t is k.Complex else t
        ndim = inst.attrs["ndim"]
        shape = inst.args[0]
        template = self.helpers("mapped", (shape.type, k.DType(t)))
        dtype = b.op(c.CONST, type=k.DType(t), value=dtype_of(t))
        attrs = {"template": template, "tree": Node(kernel, leaves), "count": 2, "shape": 0, "ndim": ndim}
        if not any(type(x.type) is k.Array for x in order):  # no array at all: one number for all elements
            found = b.call(kernel, *given)
            return b.call(self.helpers("full", (shape.type, found.type)), shape, found)
        result = Value(k.Array(t, ndim))
        b.insts.append(Inst(NEST, [shape, dtype, *order], attrs, result, b.loc))
        return result

    def adjoint_kernel(self, inst, kernel: Function, n: int, has_result: bool) -> Function:
        """(parameters of an element function, adjoint of its result) -> adjoint of parameter n. has_result: where the
        adjoint depends on a result that is not computed cheaply, the function takes the result before the adjoint of
        it."""
        name = f"adjoint.{n}" + ".result" * has_result
        found = kernel.memo.get(name)
        if found is None:
            body = copy_of(kernel)
            inline.run([body])
            options = Options()
            canonicalise(body, options)
            put_in_calls(body, [body.params[n]], options, lambda nest: True)
            types = [*(p.type for p in kernel.params), tangent_type(kernel.result)]
            t = gradient_type(kernel.params[n].type)
            request = Request(kernel, "element", (n,), False)
            for block in body.blocks:
                for one in block.insts:
                    if not one.loc.line:
                        one.loc = inst.loc
            self.pull(body, request, requested(request, types, k.Tuple((kernel.result, k.Tuple((t,))))), self.helpers)
            if has_result:
                canonicalise(body, options)
                self.read_result(body, inst.result.type.dtype)
            for block in body.blocks:
                last = block.terminator
                if last.op is c.RETURN:
                    b = Builder([], last)
                    pair = b.op(s.TUPLE_GET, last.args[0], index=1)
                    last.args = [b.op(s.TUPLE_GET, pair, index=0)]
                    block.insts[-1:-1] = b.insts
            body.name, body.result, body.library = f"{kernel.name}.adjoint.{n}", t, True
            canonicalise(body, options)
            found = kernel.memo[name] = body
        return found

    def read_result(self, body: Function, dtype) -> None:
        """Give the reverse of an element function a parameter in the place of the result of the element function, if it
        reads that and consists of one block."""
        whole = body.entry.terminator.args[0].inst if len(body.blocks) == 1 else None
        if whole is None or whole.op is not s.TUPLE_MAKE:
            return
        y = whole.args[0]
        readers = [inst for inst in body.entry.insts if y in inst.args and inst is not whole]
        if readers and y.type is dtype and _is_costly(y):
            given = Value(y.type, "out")
            for inst in readers:
                inst.args = [given if x is y else x for x in inst.args]
            body.entry.params.insert(len(body.entry.params) - 1, given)


def _is_costly(y: Value) -> bool:
    """Whether the computation of a number takes much longer than to load it."""
    return y.inst is not None and (y.inst.op.traits & ELEMENTARY != 0 or y.inst.op.cost > MODERATE)


def _used(kernel: Function) -> set[int]:
    """The positions of the parameters that a function reads."""
    read = {v for block in kernel.blocks for i in block.insts for v in i.uses()}
    return {n for n, p in enumerate(kernel.params) if p in read}


def _is_last(kernel: Function) -> bool:
    """Whether a function returns its last parameter."""
    last = kernel.entry.terminator
    return len(kernel.blocks) == 1 and last.args == [kernel.params[-1]]
