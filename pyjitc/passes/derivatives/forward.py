"""Forward mode: every number that varies has a tangent, and every array that varies a second array of tangents.

Block parameters and the arguments of edges are doubled, views are made of both arrays, and a store is done twice. The
array of tangents has the strides of the array itself: an argument of arbitrary strides is copied first, so that the
offsets of views are right for both.
"""
from __future__ import annotations

from typing import Any

from ...ir.cfg import reverse_postorder
from ...ir.core import Function, Inst, Value
from ...ops import arith as a
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops.pyobject import PY_UNBOX
from ...types import kinds as k
from ...types.tangents import is_varying, tangent_type, varies
from .activity import SAME, Activity, arrays_behind, is_filled, items_of, partials_of
from .builder import Builder, refused
from .common import (
    copied, copied_like, entry_of, guarded_factors, guarded_term, plain_value, put_in_place, tuples_beside, zeros,
)
from .ruled import called, has_one_value, leaves_of, open_calls

__all__ = ["push"]


def push(fn: Function, request, shell: Function, helpers) -> None:
    """Make `fn`, a copy of the function, the derivative in the direction of the last parameters of `shell`."""
    _Forward(fn, request, shell, helpers).run()


class _Forward:
    def __init__(self, fn, request, shell, helpers):
        self.fn, self.shell, self.helpers, self.has_aux = fn, shell, helpers, request.has_aux
        self.wrt = [fn.params[n] for n in request.wrt]
        self.seeds = [Value(p.type, p.name and f"d_{p.name}") for p in shell.params[len(fn.params):]]
        self.dual: dict[Value, Any] = {}
        self.given: dict[Value, Value] = {}  # part of the result of a rule -> its tangent, as the rule gave it
        self.ordered: dict[Value, Value] = {}  # array of unknown strides -> a copy in C order that takes its place

    def run(self):
        fn, entry = self.fn, self.fn.entry
        self.calls = open_calls(fn, self.helpers, False)
        b = Builder([])
        leaves = entry_of(b, fn, self.wrt, self.seeds, self.helpers)
        tuples_beside(fn)
        self.returned = self.outputs()
        self.act = act = Activity(fn, [p for p, _ in leaves], list(self.returned.values()))
        entry.params += self.seeds
        self.dual.update(leaves)
        for inst in list(b.insts):  # copies of other arguments into which varying values are written
            r = inst.result
            if type(r.type) is k.Array and r in act and r not in self.dual and r not in self.dual.values():
                self.dual[r] = (zeros(b, self.helpers, r) if inst.op is c.INVOKE
                                else b.op(s.RETYPE, self.dual[inst.args[0]], type=tangent_type(r.type)))
        for p in fn.params:  # other arguments, which do not vary but are alternatives to arrays that do
            if type(p.type) is k.Array and is_varying(p.type) and p in act and p not in self.dual:
                self.dual[p] = self.zeros(b, p)
        order = reverse_postorder(fn)
        for block in order:
            if block is not entry:
                params = []
                for p in block.params:
                    params.append(p)
                    if is_varying(p.type) and p in act:
                        self.dual[p] = Value(tangent_type(p.type), p.name and f"d_{p.name}")
                        params.append(self.dual[p])
                block.params = params
        twins = set(self.dual.values())
        for block in order:
            self.block(block, twins, list(b.insts) if block is entry else [])
        put_in_place(fn, self.ordered)
        fn.result = self.shell.result

    def outputs(self) -> dict[Inst, Value]:
        """Instruction that returns -> the part of the result that is differentiated."""
        found = {}
        for block in self.fn.blocks:
            last = block.terminator
            if last.op is c.RETURN:
                (y,), b = last.args, Builder([], last)
                made = y.inst
                found[last] = (y if not self.has_aux else made.args[0] if made is not None and made.op is s.TUPLE_MAKE
                               else b.op(s.TUPLE_GET, y, index=0))
                block.insts[-1:-1] = b.insts
        return found

    def block(self, block, twins, first):
        insts, block.insts = block.insts, first
        b = self.b = Builder(block.insts)
        for inst in insts:
            b.at(inst)
            for e in inst.edges():
                old = [p for p in e.block.params if p not in twins]
                e.args = [y for p, x in zip(old, e.args) for y in ((x, self.tangent(x)) if p in self.dual else (x,))]
            if inst.op is c.RETURN:
                self.give_back(b, inst)
            block.insts.append(inst)
            self.after(b, inst)

    def tangent(self, x: Value) -> Value:
        found = self.dual.get(x)
        if found is not None:
            return found
        assert x not in self.act, f"a value that varies has no tangent: {x}"
        t = tangent_type(x.type)
        return zeros(self.b, self.helpers, x) if type(t) is k.Array else self.b.zero(t)

    def zeros(self, b, x: Value) -> Value:
        """The tangent of an array that does not vary itself."""
        return zeros(b, self.helpers, self.in_order(b, x))

    def in_order(self, b, x: Value) -> Value:
        """The array itself if its layout is known; otherwise a copy in C order, since the array of tangents has known
        strides."""
        if x.type.layout != "A":
            return x
        found = self.ordered[x] = copied(b, self.helpers, x)
        return found

    def give_back(self, b, inst):
        change = self.whole(b, self.returned[inst])
        inst.args = [b.op(s.TUPLE_MAKE, plain_value(b, inst.args[0]), change, cls=None)]

    def whole(self, b, y):
        """The tangent of a result, which may be a tuple."""
        t = tangent_type(y.type)
        if t is k.NoneType:
            return b.op(c.CONST, type=k.NoneType, value=None)
        if type(t) is k.Tuple:
            made = y.inst
            parts = (made.args if made is not None and made.op is s.TUPLE_MAKE
                     else [b.op(s.TUPLE_GET, y, index=n) for n in range(len(t.elements))])
            return b.op(s.TUPLE_MAKE, *(self.whole(b, x) for x in parts), cls=t.cls)
        return self.tangent(y)

    def after(self, b, inst):
        op, r, dual, act = inst.op, inst.result, self.dual, self.act
        if r in self.given:
            dual[r] = self.arrived(b, r)
            return
        if op is mem.ARRAY_STORE:
            if inst.args[0] in dual:
                b.insts.append(Inst(op, [dual[inst.args[0]], *inst.args[1:-1], self.tangent(inst.args[-1])],
                                    dict(inst.attrs), None, inst.loc))
            return
        if op is mem.ROW_COPY:
            if inst.args[0] in dual:
                b.insts.append(Inst(op, [dual[inst.args[0]], self.tangent(inst.args[1]), *inst.args[2:]],
                                    dict(inst.attrs), None, inst.loc))
            return
        if op is c.INVOKE:
            self.called(b, inst)
            return
        if is_filled(inst):
            for twin in [dual[x] for x in arrays_behind(inst) if x in dual]:
                b.call(self.helpers("clear", (twin.type,)), twin)
            return
        if r is None or not is_varying(r.type) or r not in act:
            return
        if op is mem.ARRAY_NEW:
            dual[r] = b.again(inst, inst.args, zero=True)
        elif op is s.UNDEF:
            dual[r] = b.again(inst, (), tangent_type(r.type))
        elif op is PY_UNBOX:
            dual[r] = self.zeros(b, r)
        elif op is mem.ARRAY_VIEW or op is s.RETYPE and type(r.type) is k.Array:
            dual[r] = b.again(inst, [self.tangent(inst.args[0]), *inst.args[1:]], tangent_type(r.type))
        elif "guard" in inst.attrs:
            dual[r] = self.of_guarded_product(b, inst)
        elif op is s.SELECT or op is s.CHOOSE or op is mem.ARRAY_COPY:
            dual[r] = b.op(op, inst.args[0], *map(self.tangent, inst.args[1:]))
        elif op is mem.ARRAY_LOAD or op is mem.SUM_EIGHTS:
            dual[r] = b.again(inst, [self.tangent(inst.args[0]), *inst.args[1:]])
        elif op is mem.DOT:
            x, y = inst.args
            terms = [b.op(op, dual[u], v) for u, v in ((x, y), (y, x)) if u in dual]
            dual[r] = terms[0] if len(terms) == 1 else b.fadd(*terms)
        elif op is s.TUPLE_GET and type(r.type) is k.Array:  # of an argument that does not vary while others do
            dual[r] = self.zeros(b, r)
        elif op is s.TUPLE_AT:
            dual[r] = b.op(op, b.op(s.TUPLE_MAKE, *map(self.tangent, items_of(inst)), cls=None), inst.args[1])
        elif op is a.CAST or op.traits & SAME:
            dual[r] = b.cast(self.tangent(inst.args[0]), tangent_type(r.type))
        elif op is a.REAL or op is a.IMAG:
            dual[r] = b.op(op, self.tangent(inst.args[0]))
        elif op is a.COMPLEX_MAKE:
            dual[r] = b.op(op, *map(self.tangent, inst.args))
        elif op is a.FADD or op is a.FSUB:
            x, y = map(dual.get, inst.args)
            dual[r] = (b.op(op, x, y) if x is not None and y is not None else x if x is not None
                       else y if op is a.FADD else b.fneg(y))
        else:
            total = None
            for x, d in partials_of(b, inst):
                if x in dual:
                    term = guarded_term(b, inst, d, dual[x])
                    total = term if total is None else b.fadd(total, term)
            dual[r] = total

    def of_guarded_product(self, b, inst):
        """The tangent of a product that is 0 where one factor is 0."""
        factors = guarded_factors(inst)
        if not factors:
            return self.tangent(inst.args[2])
        (x, y), dual = factors, self.dual
        terms = [b.guarded_product(x, dual[y])] if y in dual else []
        terms += [b.guarded_product(dual[x], y)] if x in dual else []
        return terms[0] if len(terms) == 1 else b.fadd(*terms)

    def called(self, b, inst):
        """Compute the tangent of a library function with a rule of its own, which maps (operands, their tangents or
        None) to the tangent of the result."""
        if inst in self.calls:
            call = self.calls[inst]
            if any(x in self.act for x in leaves_of(call.args)):
                self.ruled(b, inst, call)
            else:  # varying values are written into the results
                none = b.op(c.CONST, type=k.NoneType, value=None)
                self.given.update((x, none) for x in leaves_of(call.result) if is_varying(x.type) and x in self.act)
                if inst.result in self.given:
                    self.dual[inst.result] = self.arrived(b, inst.result)
            return
        if not any(x in self.dual for x in inst.args):
            r = inst.result
            if r is not None and type(r.type) is k.Array and r in self.act:  # varying values are stored in it later
                self.dual[r] = self.zeros(b, r)
            return
        if "rules" not in inst.attrs["callee"].memo:  # the check for shared memory has no result
            return
        rules, r = inst.attrs["callee"].memo["rules"], inst.result
        if not any(inst.args[n] in self.act for n in rules.writes) and (r is None or r not in self.act):
            return  # the result does not vary, and nothing that the call writes into does
        rule = rules.tangent
        none = None
        twins = []
        for x in inst.args:
            if x in self.dual:
                twins.append(self.dual[x])
            elif x in self.act:
                twins.append(self.tangent(x))
            else:
                none = none or b.op(c.CONST, type=k.NoneType, value=None)
                twins.append(none)
        if rules.writes and all([x is none for n, x in enumerate(twins) if n not in rules.writes]):
            for n in [n for n in rules.writes if twins[n] is not none]:  # what was there does not vary any more
                b.call(self.helpers("clear", (twins[n].type,)), twins[n])
            return
        given = [*inst.args, *twins]
        found = b.call(self.helpers(rule, tuple([x.type for x in given])), *given)
        if inst.result is not None and varies(inst.result.type):
            self.dual[inst.result] = found

    def ruled(self, b, inst, call):
        """The tangents of the results of a call of a function with derivatives of its own."""
        if call.rules.tangent is None:
            raise refused(self.fn, inst, "forward mode goes through a function whose derivative custom_vjp says, which "
                          "is a rule for reverse mode",
                          "use reverse mode (grad, vjp, jacrev), or give a custom_jvp rule")

        def tangents(t, tree):
            if isinstance(tree, list):
                return b.op(s.TUPLE_MAKE, *map(tangents, t.elements, tree), cls=t.cls)
            return self.tangent(tree) if is_varying(t) else b.op(c.CONST, type=k.NoneType, value=None)

        def spread(found, tree):
            if isinstance(tree, list):
                for n, part in enumerate(tree):
                    spread(b.op(s.TUPLE_GET, found, index=n), part)
            elif is_varying(tree.type) and tree in self.act:
                self.given[tree] = found

        given = [*inst.args, *(tangents(x.type, tree) for x, tree in zip(inst.args, call.args)
                               if not has_one_value(x.type))]
        spread(called(b, call.rules.tangent, self.helpers, given), call.result)
        if inst.result in self.given:
            self.dual[inst.result] = self.arrived(b, inst.result)

    def arrived(self, b, x):
        """The tangent of x that a rule returned, in the layout that tangents of x need."""
        found = self.given[x]
        if found.type is k.NoneType:
            t = tangent_type(x.type)
            return self.zeros(b, x) if type(t) is k.Array else b.zero(t)
        if type(x.type) is not k.Array:
            return b.cast(found, tangent_type(x.type))
        if type(found.type) is not k.Array:
            shape = b.op(s.TUPLE_MAKE, *(b.op(mem.ARRAY_DIM, x, axis=n) for n in range(x.type.ndim)), cls=None)
            found = b.cast(found, x.type.dtype)
            found = b.call(self.helpers("full", (shape.type, found.type)), shape, found)
        return copied_like(b, self.helpers, self.in_order(b, x), found)
