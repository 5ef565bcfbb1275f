"""Reverse mode: the function itself, followed by the reverse of each of its blocks, the last block first.

R(B), the reverse of block B, takes the adjoints of the values that leave B, and for each loop around the number k of
the visit that it reverses. It runs the adjoints of B's instructions backwards and goes on to R(P) of the block P that B
was reached from: the only one; of a loop header the latch (k - 1) or, where k is 0, the preheader; else what the
condition of the branch above says, or a number that says which way was taken.
An edge P -> B(args) gives adjoint(arg) += adjoint(parameter).

The adjoint of a complex number z of the value L is  dL/dRe(z) + i dL/dIm(z): of a function with the derivative f'(z)
it is the adjoint of the result times the conjugate of f'(z). The cotangents that callers pass and the gradients that
they get are the conjugates of adjoints, as in JAX.

Adjoints are of two kinds. The adjoints of floats, and of arrays of which no instruction writes or reads an element or
makes a view, are SSA values, which flow backwards. Each other array has a second array of adjoints, which is made where
the array itself is made:
    y = a[i]: a_[i] += y_        a[i] = x: x_ += a_[i] ; a_[i] = 0
Values of the forward part that R reads are computed again, or kept on a tape: tape.py.
"""
from __future__ import annotations

from typing import Any

from ...ir.cfg import blocks_after, reverse_postorder
from ...ir.core import SELECTS, WRITES, Block, Edge, Function, Inst, Value
from ...ir.uses import live_values, passed, uses_of
from ...ir.uses import users as users_of
from ...ops import arith as a
from ...ops import control as c
from ...ops import memory as mem
from ...ops import structure as s
from ...ops.exceptions import WARN
from ...ops.nest import NEST, NEST_INTO
from ...types import kinds as k
from ...types.tangents import gradient_type, is_varying, tangent_type, varies
from ..rewrite import substitute
from ...ir import variables
from .activity import SAME, Activity, arrays_behind, is_filled, items_of, partials_of
from .adjoint_arrays import CHOICES, AdjointArrays
from .builder import Builder, refused
from .common import (
    check_disjoint, copied, guarded_factors, guarded_term, replace_arguments, tuples_beside, with_copies,
)
from .normal import Normal
from .nests import Nests
from .ruled import called, has_one_value, leaves_of, open_calls
from .tape import Tape
from .targets import targets, written_parameters

__all__ = ["drop_copies", "pull"]


def pull(fn: Function, request, shell: Function, helpers) -> None:
    """Make `fn`, a copy of the function, the one that returns (result, gradients) as `request` asks."""
    _Reverse(fn, request, shell, helpers).run()


def drop_copies(fn: Function) -> None:
    """Return the gradients that are certainly new arrays, each of its own, as they are. Needs: `canonicalise` has run.
    Before:  g = nest ... ; p = invoke @copied(g) ; q = tuple_make p       After:  g = nest ... ; q = tuple_make g"""
    users = users_of(fn.blocks)
    arriving = passed(fn.blocks)
    leading: dict[Value, set[Value]] = {}  # value -> the parameters that it is passed to
    for p, values in arriving.items():
        for x in values:
            leading.setdefault(x, set()).add(p)
    replace: dict[Value, Value] = {}
    returned: set[Value] = set()
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is not c.INVOKE or inst.attrs["callee"].flags.returns != "copy" or any(
                    user.op is not s.TUPLE_MAKE for user in users.get(inst.result, ())):
                continue
            names: dict[Value, None] = {}  # the new arrays that the argument may be, and all values that refer to them
            if not _is_new_array(inst.args[0], arriving, names) or inst.args[0].type is not inst.result.type:
                continue
            if names.keys() & returned or any(leading.get(x, set()) - names.keys() or any(
                    user.op is s.TUPLE_MAKE for user in users[x]) for x in names):
                continue
            returned.update(names)
            replace[inst.result] = inst.args[0]
    if replace:
        for block in fn.blocks:
            block.insts = [inst for inst in block.insts if inst.result not in replace]
        substitute(fn.blocks, replace)


class _Reverse(AdjointArrays):
    def __init__(self, fn, request, shell, helpers):
        self.fn, self.request, self.shell, self.helpers = fn, request, shell, helpers
        self.wrt = [fn.params[n] for n in request.wrt]
        self.seeds = [Value(p.type, "g") for p in shell.params[len(fn.params):]]
        self.lengths: dict[Value, list[Value]] = {}  # array -> its lengths
        self.adjoint_of: dict[Value, Value] = {}  # adjoint that is an array -> an array of the same shape
        # (instruction, array) -> copy of what the array holds at that instruction
        self.copies: dict[tuple[Inst, Value], Value] = {}
        self.writers: dict | None = None  # class of arrays -> the blocks and instructions that may write into them
        self.opened: set[Value] = set()  # arguments that are tuples, or items of such, and have been unpacked
        self.nests = Nests(self, pull)

    def run(self):
        fn = self.fn
        fn.entry.params += self.seeds
        if all([block.terminator.op is not c.RETURN for block in reverse_postorder(fn)]):
            self.raise_always()
            return
        self.calls = open_calls(fn, self.helpers, True)
        self.opened.update(x for call in self.calls.values() for x in leaves_of([call.result, call.kept or []])
                           if x.inst is not None and x.inst.op is s.TUPLE_GET)
        self.form = form = Normal(fn)
        self.arguments()
        self.varying = dict.fromkeys([p for leaves in self.leaves for p in leaves])
        self.act = act = Activity(fn, list(self.varying), self.outputs())
        self.sort_arrays()
        self.shadows()
        self.reverse_blocks()
        tape = Tape(form, act, self.reversed, self.owner, self.ks, set(self.shadow.values()), self.helpers)
        tape.run()
        if self.request.measured:
            self.add_to_result(tape.size)
        form.out.insts[-1] = Inst(c.JUMP, targets=[Edge(self.R[form.out][0], [])])
        for inst, call in self.calls.items():
            inst.attrs = {**inst.attrs, "callee": call.callee}
        fn.blocks += self.reversed
        fn.result = self.shell.result
        variables.build(fn)

    def raise_always(self):
        """Make the derivative of a function that raises on each path: it raises as the function does, on copies of the
        arrays that this writes into."""
        fn = self.fn
        b = Builder([])
        written = written_parameters(fn)
        replace_arguments(fn, {p: with_copies(b, self.helpers, p) for p in fn.params if p in written})
        fn.entry.insts[0:0] = b.insts
        fn.result = self.shell.result

    def outputs(self):
        """The parts of the result that are differentiated."""
        parts = self.form.parts
        return leaves_of(parts[0] if self.request.has_aux else parts)

    # -- arguments

    def arguments(self):
        """Unpack the tuples among the arguments, and copy arrays that are written into, or whose layout is not
        known."""
        fn = self.fn
        written = written_parameters(fn)
        b = Builder([])
        self.opened.update(check_disjoint(b, fn, self.helpers))
        replace: dict[Value, Value] = {}
        opened: dict[Value, list[Value]] = {p: [] for p in self.wrt}

        def open_up(x, found, copy):
            t = x.type
            if type(t) is k.Tuple:
                parts = [b.op(s.TUPLE_GET, x, index=n) for n in range(len(t.elements))]
                self.opened.update(parts)
                parts = [open_up(part, found, copy) for part in parts]
                return b.op(s.TUPLE_MAKE, *parts, cls=t.cls)
            if type(t) is k.Array and (copy or is_varying(t) and t.layout != "C"):
                x = self.copied(b, x)
            if is_varying(t):
                found.append(x)
            return x

        for p in fn.params:
            if p in self.wrt:
                replace[p] = open_up(p, opened[p], p in written)
            elif p in written:
                replace[p] = open_up(p, [], True)
        self.leaves = [opened[p] for p in self.wrt]
        replace_arguments(fn, {p: x for p, x in replace.items() if p is not x})
        fn.entry.insts[0:0] = b.insts
        tuples_beside(fn)
        for block in fn.blocks:
            self.form.note(block, block.insts)

    def copied(self, b, x):
        return copied(b, self.helpers, x)

    # -- blocks

    def reverse_blocks(self):
        form, act = self.form, self.act
        self.pass_over()
        live = self.live()
        self.R, self.leaving, self.ks, self.past = {}, {}, {}, {}
        self.reversed, self.owner = [], {}
        order = [block for block in form.dom.order if block in form.alive]
        for block in order:
            found: dict[Value, None] = {}
            for e in block.edges():
                if e.block in form.alive:
                    found.update(live[e.block])
                    found.update({self.root(x): None for p, x in zip(e.block.params, e.args)
                                  if is_varying(p.type) and p in act and is_varying(x.type) and x in act
                                  and self.is_value(self.root(x))})
            made = Block(f"r.{block.name}")
            self.leaving[block] = list(found)
            adjoints = {v: Value(gradient_type(v.type), f"{v.name}_") for v in found}
            ks = {loop: Value(k.Int, "k") for loop in form.chain(block)}
            made.params = [*adjoints.values(), *ks.values()]
            self.R[block], self.ks[block] = (made, adjoints), ks
            if block.insts[0].unwind is not None:
                past = Block(f"r.past.{block.name}")
                self.past[block] = past, {v: Value(g.type, g.name) for v, g in adjoints.items()
                                          if v.inst is not block.insts[0]}
                past.params = [*self.past[block][1].values(), *(Value(k.Int, "k") for loop in ks)]
        for block in order:
            self.reverse_block(block, live)

    def pass_over(self):
        """Leave blocks out of the backward part that compute nothing that varies and do not choose between values that
        vary, such as a block that only warns, or a branch that chooses between two ints."""
        form = self.form
        for block in form.dom.order:
            arriving = [x for x in form.edges[block] if x[0] in form.alive]
            if len(arriving) < 2 or block not in form.alive:
                continue
            above = {form.edges[p][0][0] if self.is_idle(p) else p for p, _, _ in arriving}
            if len(above) > 1:
                continue
            (first,) = above
            if form.nest.of.get(first) is not form.nest.of.get(block) or any(
                    p in self.act and is_varying(p.type) and len({id(x) for x in xs}) > 1
                    for p, *xs in zip(block.params, *(e.args for _, _, e in arriving))):
                continue
            idle = [p for p, _, _ in arriving if p is not first]
            form.alive.difference_update(idle if len(idle) < len(arriving) else idle[1:])

    def is_idle(self, block) -> bool:
        """Whether a block with one predecessor and one successor has no instruction that varies or writes."""
        edges = self.form.edges[block]
        return len(edges) == 1 and block.terminator.op is c.JUMP and edges[0][1].op is c.BRANCH and all(
            inst.op is WARN or not inst.op.effects & WRITES and inst.unwind is None and not (
                inst.result is not None and inst.result in self.act and varies(inst.result.type))
            for inst in block.insts[:-1])

    def live(self) -> dict[Block, dict[Value, None]]:
        """Block -> the values that are live in it, among those that have an SSA value as adjoint and are defined in
        another block. A use of a view counts as a use of its root."""
        return live_values(self.form.dom.order, self.form.home, lambda block: [
            v for v in dict.fromkeys(map(self.root, uses_of(block))) if self.is_value(v) and v in self.act])

    def new(self, r, block):
        self.reversed.append(r)
        self.owner[r] = block

    def reverse_block(self, block, live):
        form = self.form
        r, adjoints = self.R[block]
        cur = dict(adjoints)
        b = Builder(r.insts)
        self.new(r, block)
        if block is form.out:
            self.start(b, cur)
        for inst in reversed(list(block.insts)):
            b.at(inst)
            self.adjoint(b, inst, cur)
        ks = self.ks[block]
        if block is self.fn.entry:
            self.finish(b, cur)
            return
        arriving = [x for x in form.edges[block] if x[0] in form.alive]
        if block in self.past:  # left by an exception too: that path skips its instruction
            (before,) = arriving
            past, cur_past = self.past[block]
            self.new(past, block)
            self.ks[past] = dict(zip(ks, past.params[len(cur_past):]))
            self.back(Builder(past.insts), block, before, cur_past, live, self.ks[past])
        if len(arriving) == 1:
            self.back(b, block, arriving[0], cur, live, ks)
            return
        loop: Any = form.nest.of.get(block)
        is_header = loop is not None and loop.header is block
        ways = []
        for x in arriving:
            way = Block("s")
            ways.append(Edge(way))
            inner, at = Builder(way.insts), ks
            self.new(way, block)
            if is_header and x[0] in loop.blocks:  # in the back edge, arrays have the shapes of the trip before
                at = {**ks, loop: inner.op(a.ISUB, ks[loop], inner.const(1, k.Int), flags="nsw")}
                self.owner[way], self.ks[way] = x[0], at
            self.back(inner, block, x, cur, live, at)
        if is_header:
            assert len(arriving) == 2
            ways = ways if arriving[0][0] in loop.blocks else ways[::-1]
            more = b.op(a.IGT, ks[loop], b.const(0, k.Int))
            independent = {"independent": "adjoint"} if "independent" in block.terminator.attrs else {}
            b.branch(more, ways[0], ways[1], **independent)
            return
        found = self.condition(block, arriving)
        if found is not None:
            test, arms = found
            b.branch(test, *[ways[n] for n in arms])
            return
        chosen = Value(k.Int, "way")
        block.params.append(chosen)
        form.home[chosen] = block
        for n, (p, _, e) in enumerate(arriving):
            insts: list[Inst] = []
            e.args.append(Builder(insts).const(n, k.Int))
            p.insts[-1:-1] = insts
            form.note(p, insts)
        b.jump_by_number(chosen, ways)

    def condition(self, block, arriving):
        """(the condition of the branch that decides which of two edges `block` is reached by, the index of the edge
        for true and for false), or None."""
        if len(arriving) != 2:
            return None
        form = self.form
        dom = form.dom
        above = dom.idom.get(block)
        if above is None or above.terminator.op is not c.BRANCH or form.nest.of.get(above) is not form.nest.of.get(
                block):
            return None
        arms = []
        for p, _, e in arriving:
            found = [n for n, t in enumerate(above.terminator.targets)
                     if t is e or p is not above and t.block is not block and len(form.edges[t.block]) == 1
                     and dom.dominates(t.block, p)]
            if len(found) != 1:
                return None
            arms.append(found[0])
        if arms[0] == arms[1]:
            return None
        return above.terminator.args[0], (arms.index(0), arms.index(1))

    def back(self, b, block, x, cur, live, ks):
        """Jump to the reverse of the block that an edge comes from. ks: loop -> the number of its visit there."""
        p, inst, e = x
        target, _ = self.past[p] if inst.unwind is e else self.R[p]
        given = {q: g for q, g in cur.items() if q in block.params}
        cur, views = {v: g for v, g in cur.items() if v not in given}, set()  # in a loop: of the trip before
        for q, y in zip(block.params, e.args):
            if q in given and self.flows(y) and self.root(y) is not y:
                self.add(b, cur, y, given[q])
                views.add(self.root(y))
        args = []
        for v in self.leaving[p]:
            if inst.unwind is e and v.inst is inst:
                continue
            names = [q for q, y in zip(block.params, e.args) if y is v]
            if names and v.inst is not None and v.inst.op is s.UNDEF:  # nothing reads it, whatever its names are
                args.append(self.summed(b, v, []))
                continue
            here = v in live[block] or v in views
            if len(names) + here + (v in views) > 1 and self.flows(v) and self.is_written_behind(e, v):
                raise refused(self.fn, inst, "an array that is written into has two names here, in a loop: there is no "
                              "derivative of that yet", "copy it for the second name: b = a.copy()")
            terms = [cur[v]] if here and v in cur else []
            args.append(self.summed(b, v, terms + [given[q] for q in names if q in given]))
        for loop in self.ks[p]:
            args.append(ks[loop] if loop in ks else self.form.final[loop, block])
        b.jump(Edge(target, args))

    def summed(self, b, v, terms):
        if type(v.type) is not k.Array:
            total = None
            for x in terms:
                total = x if total is None else b.fadd(total, x)
            return total if total is not None else b.zero(tangent_type(v.type))
        total = None
        for x in terms:
            total = x if total is None else self.plus(b, total, x)
        return self.dense(b, total, v)

    # -- the start and the end of the reverse sweep

    def start(self, b, cur):
        """Initialise the adjoints of the parts of the result."""
        if not self.seeds:
            (y,) = self.outputs()
            if y in self.act:
                cur[y] = b.const(1.0, tangent_type(y.type))
            return
        is_inner = self.request.mode == "element"  # the derivative of a part: adjoints go in and out unchanged

        def put(y, g):
            if isinstance(y, list):
                for n, part in enumerate(y):
                    if not isinstance(part, list) and not varies(part.type):
                        continue
                    put(part, b.op(s.TUPLE_GET, g, index=n))
            elif y in self.act:
                g = self.shaped(b, y, g) if type(y.type) is k.Array else g
                self.add(b, cur, y, g if is_inner else self.conjugate(b, g))

        put(self.form.parts[0] if self.request.has_aux else self.form.parts, self.seeds[0])

    def conjugate(self, b, g):
        if type(g.type) is k.Array and k.is_complex(g.type.dtype):
            return b.call(self.helpers("conjugate", (g.type,)), g)
        return g if type(g.type) is k.Array else b.conjugate(g)

    def shaped(self, b, y, g):
        """A cotangent given by the caller, after a check that it has the shape of the result."""
        return b.call(self.helpers("shaped", (k.Tuple((k.Int,) * y.type.ndim), g.type)), self.shape_of(b, y), g)

    def finish(self, b, cur):
        """Return the result and the gradients."""
        gradients = []
        for p, leaves in zip(self.wrt, self.leaves):
            rest = iter(leaves)
            gradients.append(self.gradient(b, cur, p.type, rest))
        found = b.op(s.TUPLE_MAKE, *gradients, cls=None)
        b.insts.append(Inst(c.RETURN, [b.op(s.TUPLE_MAKE, self.form.result, found, cls=None)]))

    def add_to_result(self, value):
        """Append the number that value(b) computes to the result as its last item."""
        end = next(r for r in self.reversed if r.terminator.op is c.RETURN)
        whole = end.terminator.args[0].inst
        end.insts.remove(whole)
        b = Builder(end.insts, end.insts.pop())
        found = b.op(s.TUPLE_MAKE, *whole.args, value(b), cls=None)
        b.insts.append(Inst(c.RETURN, [found]))

    def gradient(self, b, cur, t, leaves):
        if type(t) is k.Tuple:
            return b.op(s.TUPLE_MAKE, *(self.gradient(b, cur, part, leaves) for part in t.elements), cls=t.cls)
        if not is_varying(t):
            return b.op(c.CONST, type=k.NoneType, value=None)
        found = self.adjoint_of_argument(b, cur, t, next(leaves))
        return found if self.request.mode == "element" else self.conjugate(b, found)

    def adjoint_of_argument(self, b, cur, t, p):
        if type(t) is not k.Array:
            return cur[p] if p in cur else b.zero(tangent_type(t))
        p = self.root(p)  # a copy of the argument in C order
        if p not in self.shadow and p not in cur:
            return self.zeros(b, p)
        if p in self.shadow and self.shadow[p].type is gradient_type(t):
            return self.shadow[p]
        # no two gradients may be the same array, and none an array of the caller: see `drop_copies`
        found = self.shadow[p] if p in self.shadow else self.dense(b, cur[p], p)
        return b.call(self.helpers("copied", (found.type,)), found)

    # -- adjoints of instructions

    def adjoint(self, b, inst, cur):
        op, r, act = inst.op, inst.result, self.act
        if op is mem.ARRAY_STORE or op is mem.ROW_COPY or op is NEST_INTO:
            x = inst.args[1 if op is NEST_INTO else 0]
            if x in self.shadow or self.flows(x) and self.root(x) in cur:
                (self.nests.into if op is NEST_INTO else self.store)(b, inst, cur)
            return
        if op is c.INVOKE:
            self.called(b, inst, cur)
            return
        if is_filled(inst):
            for array in [self.beside(b, cur, x) for x in arrays_behind(inst)]:
                if array is not None:
                    b.call(self.helpers("clear", (array.type,)), array)
            return
        if r is None:
            return
        g = self.shadow.get(r)
        if g is None:
            if r not in cur or r in self.opened:
                return
            g = cur.pop(r)
            if type(g.type) is k.Array:
                self.adjoint_of[g] = r
        if op is NEST:
            self.nests.made(b, inst, cur, g)
        elif type(r.type) is k.Array:
            if op is mem.ARRAY_COPY and inst.args[1] in act:
                self.accumulate_if(b, cur, inst.args[0], inst.args[1], g)
            elif op in CHOICES and r not in self.shadow:
                self.chosen(b, inst, cur, g)
        else:
            self.adjoint_of_number(b, inst, cur, g)

    def adjoint_of_number(self, b, inst, cur, g):
        """Add to the adjoints of the operands of an instruction whose result is a number with adjoint g."""
        op = inst.op
        if op is mem.ARRAY_LOAD:
            array = self.beside(b, cur, inst.args[0])
            if array is not None:
                # iterations that only read an element may share it, so those that add to it are not independent
                at = array, *inst.args[1:]
                new = b.fadd(b.op(op, *at), g)
                b.insts.append(Inst(mem.ARRAY_STORE, [*at, new], {}, None, b.loc))
        elif op is mem.SUM_EIGHTS:
            array = self.beside(b, cur, inst.args[0])
            if array is not None:
                b.call(self.helpers("add_to_first", (array.type, k.Int, g.type)), array, inst.args[1], g)
        elif op is mem.DOT:
            for x, y in (inst.args, inst.args[::-1]):
                array = self.beside(b, cur, x)
                if array is not None:
                    y = self.content(inst, y)
                    helper = self.helpers("np.linalg.products_core:add_multiple", (array.type, y.type, g.type))
                    b.call(helper, array, y, g)
        elif op is s.TUPLE_AT:
            zero = b.zero(g.type)
            for n, x in enumerate(items_of(inst)):
                chosen = b.op(a.IEQ, inst.args[1], b.const(n, k.Int))
                self.add(b, cur, x, b.op(s.SELECT, chosen, g, zero))
        elif "guard" in inst.attrs:
            self.guarded(b, inst, cur, g)
        elif op.traits & SELECTS:
            zero = b.zero(g.type)
            self.add(b, cur, inst.args[1], b.op(s.SELECT, inst.args[0], g, zero))
            self.add(b, cur, inst.args[2], b.op(s.SELECT, inst.args[0], zero, g))
        elif op is a.CAST or op.traits & SAME:
            if is_varying(inst.args[0].type):
                self.add(b, cur, inst.args[0], b.cast(g, tangent_type(inst.args[0].type)))
        elif op is a.REAL:
            self.add(b, cur, inst.args[0], b.op(a.COMPLEX_MAKE, g, b.zero(g.type)))
        elif op is a.IMAG:
            self.add(b, cur, inst.args[0], b.op(a.COMPLEX_MAKE, b.zero(g.type), g))
        elif op is a.COMPLEX_MAKE:
            for x, part in zip(inst.args, b.parts(g)):
                self.add(b, cur, x, part)
        elif op is a.FADD or op is a.FSUB:
            self.add(b, cur, inst.args[0], g)
            if inst.args[1] in self.act:
                self.add(b, cur, inst.args[1], g if op is a.FADD else b.fneg(g))
        elif op is a.FMUL and inst.args[0] is inst.args[1]:
            self.add(b, cur, inst.args[0], b.fmul(b.const(2.0, g.type), b.fmul(g, inst.args[0])))
        elif not callable(op.partials):
            raise refused(self.fn, inst, f"there is no derivative of the operation {op.name} here yet",
                          "write it with numbers and arrays instead of tuples")
        else:
            for x, d in partials_of(b, inst):
                if x in self.act:
                    self.add(b, cur, x, guarded_term(b, inst, b.conjugate(d), g))

    def guarded(self, b, inst, cur, g):
        """Add to the adjoints of the factors of a product that is 0 where one factor is 0."""
        factors, product = guarded_factors(inst), inst.args[2]
        if not factors or self.form.home[product] is not self.form.home[inst.result]:
            self.add(b, cur, product, g)
            return
        x, y = factors
        if y in self.act:
            self.add(b, cur, y, b.guarded_product(x, g))
        if x in self.act:
            self.add(b, cur, x, b.guarded_product(g, y))

    def chosen(self, b, inst, cur, g):
        """Add g to the adjoint of the array that a select or `tuple_at` has chosen."""
        self.check_chosen(inst)
        which = inst.args[1 if inst.op is s.TUPLE_AT else 0]
        for n, x in enumerate(items_of(inst) if inst.op is s.TUPLE_AT else inst.args[1:]):
            if x in self.act:
                test = (b.op(a.IEQ, which, b.const(n, which.type)) if inst.op is s.TUPLE_AT else
                        b.op(a.BNOT, which) if n else which)
                self.accumulate_if(b, cur, test, x, g)

    def accumulate_if(self, b, cur, test, x, g):
        array = self.beside(b, cur, x)
        b.call(self.helpers("accumulate_if", (k.Bool, array.type, g.type)), test, array, g)

    def store(self, b, inst, cur):
        shadow = self.beside(b, cur, inst.args[0])
        if inst.op is mem.ROW_COPY:
            source = self.beside(b, cur, inst.args[1])
            moved = (k.NoneType if source is None else source.type)
            none = source if source is not None else b.op(c.CONST, type=k.NoneType, value=None)
            *index, n = inst.args[2:]
            place = b.op(s.TUPLE_MAKE, *index, cls=None)
            b.call(self.helpers("move_row", (shadow.type, moved, place.type, k.Int)), shadow, none, place, n)
            return
        *index, x = inst.args[1:]
        notes = {name: inst.attrs[name] for name in ("parallel",) if name in inst.attrs}
        if x in self.act:
            self.add(b, cur, x, b.op(mem.ARRAY_LOAD, shadow, *index, **notes))
        b.insts.append(Inst(mem.ARRAY_STORE, [shadow, *index, b.zero(shadow.type.dtype)], notes, None, b.loc))

    def called(self, b, inst, cur):
        """Add the adjoints of the arguments of a library function with a rule of its own."""
        if inst in self.calls:
            self.ruled(b, inst, self.calls[inst], cur)
            return
        rules = inst.attrs["callee"].memo.get("rules")
        if rules is None:
            return
        g = self.shadow.get(inst.result)
        if g is None:
            g = cur.pop(inst.result, None)
        if g is None and not any(inst.args[n] in self.act for n in rules.writes):
            return
        none = b.op(c.CONST, type=k.NoneType, value=None)
        arrays = [self.beside(b, cur, x) or none for x in inst.args]
        given = [x if type(x.type) is not k.Array else self.content(inst, x) if n in rules.rereads
                 else x if arrays[n] is none else arrays[n] for n, x in enumerate(inst.args)]
        given += arrays
        given.append(none if g is None else g)
        found = b.call(self.helpers(rules.adjoint, tuple([x.type for x in given])), *given)
        if type(found.type) is k.Tuple:  # adjoints of numbers
            for n, x in enumerate(inst.args):
                if found.type.elements[n] is not k.NoneType:
                    self.add(b, cur, x, b.op(s.TUPLE_GET, found, index=n))

    def ruled(self, b, inst, call, cur):
        """Add the adjoints of the arguments of a function with derivatives of its own."""
        of_result = {y: self.shadow.get(y) or cur.pop(y, None) for y in leaves_of(call.result) if y in self.act}
        if all(g is None for g in of_result.values()):
            return
        none = b.op(c.CONST, type=k.NoneType, value=None)

        def cotangent(t, y):
            if isinstance(y, list):
                return b.op(s.TUPLE_MAKE, *map(cotangent, t.elements, y), cls=t.cls)
            if not is_varying(y.type):
                return none
            g = of_result.get(y)
            if type(y.type) is k.Array:
                return self.conjugate(b, self.dense(b, g, y))
            return b.zero(tangent_type(y.type)) if g is None else self.conjugate(b, g)

        def as_it_was(t, x, made):
            """The value that x had at the call, for the backward rule to read."""
            if isinstance(x, list):
                return b.op(s.TUPLE_MAKE, *(as_it_was(part, y, made) for part, y in zip(t.elements, x)), cls=t.cls)
            if type(x.type) is not k.Array:
                return x
            return self.content_made(x) if made else self.content(inst, x)

        def add(found, x):
            if isinstance(x, list):
                for n, part in enumerate(x):
                    if found.type is not k.NoneType:
                        add(b.op(s.TUPLE_GET, found, index=n), part)
            elif found.type is not k.NoneType and x in self.act:
                found = self.conjugate(b, found)
                if type(x.type) is k.Array and type(found.type) is k.Array:
                    found = self.shaped(b, x, found)
                elif type(x.type) is k.Array:
                    found = b.cast(found, x.type.dtype)
                self.add(b, cur, x, found)

        kept_type = inst.result.type if call.kept is call.result else inst.result.type.elements[1]
        result_type = inst.result.type if call.kept is call.result else inst.result.type.elements[0]
        given = [as_it_was(x.type, tree, False) for x, tree in zip(inst.args, call.args)]
        given += [as_it_was(kept_type, call.kept, True), cotangent(result_type, call.result)]
        rule = call.rules.backward
        if isinstance(rule, Function) and type(rule.result) is not k.Tuple:
            raise refused(self.fn, inst, "the backward rule of this function never returns here, as far as is known: "
                          "it calls the function itself, whose derivative is this rule",
                          "write out in the rule what it computes by that call")
        found = called(b, rule, self.helpers, given)
        trees = [tree for x, tree in zip(inst.args, call.args) if not has_one_value(x.type)]
        assert len(trees) == len(found.type.elements)
        for n, tree in enumerate(trees):
            add(b.op(s.TUPLE_GET, found, index=n), tree)

    def content_made(self, x: Value) -> Value:
        """An array with the content that the array x had directly after the call that made it: x itself, or a copy
        where x is written into later."""
        if not self.is_written(x):
            return x
        assert x.inst is not None
        found = self.copies.get((x.inst, x))
        if found is None:
            b = Builder([], x.inst)
            found = self.copies[x.inst, x] = b.call(self.helpers("copied", (x.type,)), x)
            self.form.insert_behind(x, b.insts)
        return found

    def content(self, inst, x: Value) -> Value:
        """An array with the content of x before the instruction: x itself, or a copy where x is written into later. In
        a loop x is copied too where it was written into before, because arrays are kept on the tape with the content
        they are made with."""
        if not self.changes_after(inst, x) and (not self.is_written(x)
                                                or self.form.loop_of(x) is None):
            return x
        found = self.copies.get((inst, x))
        if found is None:
            b = Builder([], inst)
            found = self.copies[inst, x] = b.call(self.helpers("copied", (x.type,)), x)
            block = self.block_of(inst)
            at = block.insts.index(inst)
            block.insts[at:at] = b.insts
            self.form.note(block, b.insts)
        return found

    def block_of(self, inst):
        return next(block for block in self.form.dom.order if inst in block.insts)

    def changes_after(self, inst, x) -> bool:
        """Whether an array may be written into after an instruction reads it."""
        own = self.act.classes.of(x)
        home = self.block_of(inst)
        if self.writers is None:
            self.writers = {}
            for block in self.form.dom.order:
                for one in block.insts:
                    for target in targets(one):
                        self.writers.setdefault(self.act.classes.of(target), []).append((block, one))
        writers = self.writers.get(own, ())
        if not writers:
            return False
        later = blocks_after(home)
        behind = home.insts[home.insts.index(inst):]  # found again: instructions are inserted between calls
        return any(block in later or block is home and one in behind for block, one in writers)


def _is_new_array(x: Value, arriving, names: dict[Value, None]) -> bool:
    """Whether x is an array that this function certainly made, as the adjoint of a value; fills `names`. arriving: the
    result of `passed`."""
    if x in names:
        return True
    names[x] = None
    made = x.inst
    if made is None:
        return x in arriving and all([_is_new_array(y, arriving, names) for y in arriving[x]])
    if made.op is s.RETYPE:
        return _is_new_array(made.args[0], arriving, names)
    returns = made.attrs["callee"].flags.returns if made.op is c.INVOKE else ""
    if returns == "last":
        return _is_new_array(made.args[-1], arriving, names)
    return made.op is NEST or returns == "new"
