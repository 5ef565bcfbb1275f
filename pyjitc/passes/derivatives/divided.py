"""Reverse mode in bounded memory (`grad(f, memory=bytes)`): an outermost loop becomes a call with rules of its own.

The rules keep only the state before the loop; the backward part runs parts of the loop again, as lib/divided.py says,
and keeps a tape of one part at a time.
Before:  jump b(x0)                          b(x): ... branch t -> c(..), out ; c: ... jump b(x1)
After:   x0, trips = invoke run (x0) ; jump b(x0)  b(x): ... branch t -> c(..), out ; c: ... unreachable
The loop that stays runs no whole trip: it leaves at once, or by `break` in its last trip.
Needs: a function whose calls have been inlined.
"""
from __future__ import annotations

from typing import Any, Callable

from ...ir.cfg import LoopNest, closure, in_edges, reverse_postorder, successors
from ...ir.core import COUNTS, ELEMENTS, ERRORS, VIEW, Block, Edge, Function, Inst, Value
from ...ops import arith as a
from ...ops import control as c
from ...ops import structure as s
from ...ops.derivative import Request, Ruled, requested
from ...types import kinds as k
from ...types.tangents import gradient_type, is_varying, without_duals, varies
from ..rewrite import clone_blocks, copy_of, join_edges, remove_unreachable
from .activity import Activity
from .builder import Builder, refused
from .common import copied
from .targets import targets, writes_only

__all__ = ["divide"]

_ALLOWED = ELEMENTS | COUNTS | ERRORS
_HINT = "differentiate it without memory=, or move the step into a function under pyjitc.checkpoint"


def divide(fn: Function, wrt, memory: int, helpers: Callable, staying: set[Function]) -> None:
    """Make calls of the outermost loops in which values vary."""
    done: set[Block] = set()
    while True:
        nest = LoopNest(fn)
        act = Activity(fn, [fn.params[n] for n in wrt], check=False)
        loop = next((loop for loop in nest.loops if loop.parent is None and loop.header not in done
                     and any(i.result is not None and is_varying(i.result.type) and i.result in act
                             for block in loop.blocks for i in block.insts)), None)
        if loop is None:
            return
        done.add(loop.header)
        _Divided(fn, loop, nest, act, memory, helpers, staying).run()


class _Divided:
    def __init__(self, fn, loop, nest, act, memory, helpers, staying):
        self.fn, self.loop, self.act, self.memory = fn, loop, act, memory
        self.helpers, self.staying = helpers, staying
        self.blocks = [block for block in nest.dom.order if block in loop.blocks]
        self.home = {v: block for block in fn.blocks
                     for v in block.values()}

    def refuse(self, what, inst=None):
        found = inst if inst is not None and inst.loc.line else next(
            (i for block in self.blocks for i in block.insts if i.loc.line), None)
        return refused(self.fn, found, f"memory= divides this loop into parts that are run again, and {what}", _HINT)

    def run(self):
        loop, fn = self.loop, self.fn
        edges = in_edges(reverse_postorder(fn))
        self.check()
        self.pre = self.preheader(edges)
        self.header = loop.header
        self.sort()
        names = self.changed, self.fixed
        self.v, self.o = ([self.tuple_type(x for x in part if (x in self.varied) is wanted) for part in names]
                          for wanted in (True, False))
        self.o[0] = k.Tuple([k.Int, *self.o[0].elements])  # trips that were run
        self.state = k.Tuple(self.v), k.Tuple(self.o)
        again = self.outline("again", leaves=False)
        forward = self.forward(again, self.outline("ahead", leaves=True))
        forward.memo["rules"] = Ruled(None, None, self.backward(again, forward))
        forward.flags = forward.flags._replace(noinline=True)
        self.staying.add(forward)
        self.call(forward)

    # -- what the loop reads and changes

    def check(self):
        for block in self.blocks:
            for inst in block.insts:
                if not writes_only(inst, _ALLOWED):
                    raise self.refuse("something here must not be done twice, such as drawing a random number or "
                                      "printing", inst)
                if inst.unwind is not None and inst.unwind.block not in self.loop.blocks:
                    raise self.refuse("an exception that leaves it is caught", inst)

    def preheader(self, edges) -> Block:
        pre = join_edges([e for _, _, e in self.loop.entries(edges)], "pre")
        self.fn.blocks.append(pre)
        for p in pre.params:
            self.home[p] = pre
        return pre

    def sort(self):
        """Decide which values the state has: parameters of the header, and values defined before the loop."""
        cl, loop = self.act.classes.of, self.loop
        self.own: dict[Value, None] = {}  # values defined before the loop that its copies compute again
        read: dict[Value, None] = {}
        written = {cl(x) for block in self.blocks for i in block.insts for x in targets(i)}
        carried = {cl(p) for p in loop.header.params if type(p.type) is k.Array}

        def take(x):
            if self.home[x] in loop.blocks or x in read or x in self.own:
                return
            i = x.inst
            if i is not None and (i.op is c.CONST or cl(x) in written and i.op.traits & VIEW
                                  or i.op is s.TUPLE_MAKE):
                for y in i.args:
                    take(y)
                self.own[x] = None
            else:
                read[x] = None

        for block in self.blocks:
            for inst in block.insts:
                for values in (inst.args, *(e.args for e in inst.edges())):
                    for x in values:
                        take(x)
        carried &= written
        self.written = [x for x in read if type(x.type) is k.Array and cl(x) in written]
        for x in (*self.written, *self.read_after(lambda x: cl(x) in carried)):
            if cl(x) in carried:
                raise self.refuse("an array that it writes into has another name before or after it", x.inst)
        self.copies = self.written + [p for p in loop.header.params if type(p.type) is k.Array and cl(p) in written]
        self.changed = [*loop.header.params, *self.written]
        self.fixed = [x for x in read if x not in self.written]
        for x in (*self.changed, *self.fixed):
            if not _can_be_kept(x.type):
                raise self.refuse(f"its state has a value of type {x.type}", x.inst)
        self.varied = {x for x in (*self.changed, *self.fixed) if varies(x.type) and x in self.act}

    def read_after(self, wanted) -> list[Value]:
        """The arrays defined before the loop that the code after it reads directly, not as values that the loop passes
        on."""
        inside = self.loop.blocks
        after = closure([b for block in self.blocks for b in successors(block) if b not in inside],
                        lambda block: [b for b in successors(block) if b not in inside])
        return [x for block in after for inst in block.insts
                for values in (inst.args, *(e.args for e in inst.edges())) for x in values
                if type(x.type) is k.Array and self.home[x] not in inside and self.home[x] not in after and wanted(x)]

    def tuple_type(self, values):
        return k.Tuple([part for x in values for part in _parts(x.type)])

    def pack(self, b, values: dict, trips) -> tuple[Value, Value]:
        """Pack the state, in which x has the value values[x], into two tuples: the parts that vary, and the others."""
        found = []
        for wanted in (True, False):
            both = []
            for n, names in enumerate((self.changed, self.fixed)):
                items = [trips] if n == 0 and not wanted else []
                items += [part for x in names if (x in self.varied) is wanted for part in _split(b, values[x])]
                both.append(b.op(s.TUPLE_MAKE, *items, cls=None))
            found.append(b.op(s.TUPLE_MAKE, *both, cls=None))
        return found[0], found[1]

    def unpack(self, b, varied, others) -> tuple[dict[Value, Value], Value]:
        """Unpack the two tuples of a state: (x -> its value, the number of trips that were made before)."""
        values = {}
        trips: Any = None
        for wanted, whole in ((True, varied), (False, others)):
            for n, names in enumerate((self.changed, self.fixed)):
                part = b.op(s.TUPLE_GET, whole, index=n)
                at = 0
                if n == 0 and not wanted:
                    trips, at = b.op(s.TUPLE_GET, part, index=0), 1
                for x in names:
                    if (x in self.varied) is wanted:
                        count = len(_parts(x.type))
                        values[x] = _joined(b, x.type, [b.op(s.TUPLE_GET, part, index=at + i) for i in range(count)])
                        at += count
        return values, trips

    # -- the functions

    def function(self, name, types) -> Function:
        fn = self.fn
        made = Function(f"{fn.name}.{name}", fn.qualname, fn.filename, fn.firstlineno)
        made.blocks = [Block("entry", [Value(t) for t in types])]
        return made

    def outline(self, name, leaves: bool) -> Function:
        """(state, most) -> the state after `most` trips. leaves: the loop may end before, and the state is that before
        the trip that leaves it; otherwise it does not."""
        header = self.header
        made = self.function(name, [*self.state, k.Int])
        entry = made.entry
        b = Builder(entry.insts)
        values, before = self.unpack(b, *made.params[:2])
        for x in self.copies:
            values[x] = copied(b, self.helpers, values[x])
        for x in self.own:
            assert x.inst is not None
            values[x] = b.again(x.inst, [values[y] for y in x.inst.args])
        outside = dict(values)
        end = b.op(a.IADD, before, made.params[2])
        test = Block("test", [*(Value(p.type, p.name) for p in header.params), Value(k.Int, "n")])
        entry.insts.append(Inst(c.JUMP, targets=[Edge(test, [*(values[p] for p in header.params), before])]))
        blocks = clone_blocks(self.blocks, values)
        n = test.params[-1]
        ends = Block("ends")
        t = Builder(test.insts)
        more = t.op(a.ILT, n, end)
        test.insts.append(Inst(c.BRANCH, [more], targets=[Edge(blocks[header], test.params[:-1]), Edge(ends)]))
        at_test = {**outside, **dict(zip(header.params, test.params))}
        e = Builder(ends.insts)
        packed = self.pack(e, at_test, n)
        ends.insts.append(Inst(c.RETURN, [e.op(s.TUPLE_MAKE, *packed, cls=None)]))
        made.result = ends.insts[-1].args[0].type
        gone = Block("gone")
        gone.insts.append(Inst(c.UNREACHABLE))
        copies = set(blocks.values())
        for block in blocks.values():
            for inst in list(block.insts):
                for edge in inst.edges():
                    if edge.block is blocks[header]:
                        step = Builder([])
                        after = step.op(a.IADD, n, step.const(1, k.Int))
                        block.insts[-1:-1] = step.insts
                        edge.block, edge.args = test, [*edge.args, after]
                    elif edge.block not in copies:
                        edge.block, edge.args = (ends if leaves else gone), []
        made.blocks += [test, *blocks.values(), ends, *([] if leaves else [gone])]
        remove_unreachable(made)
        return made

    def forward(self, again, ahead) -> Function:
        """Make the function (state) -> the part of the state that the loop changes, as it is before the trip that
        leaves the loop. Its arrays are copies."""
        made = self.function("run", self.state)
        b = Builder(made.entry.insts)
        most = b.const(2 ** 62, k.Int)
        found = b.call(ahead, *made.params, most)
        if self.writes_before_it_leaves():  # then the arrays in `found` are already changed by the trip that leaves
            trips = b.op(s.TUPLE_GET, b.op(s.TUPLE_GET, b.op(s.TUPLE_GET, found, index=1), index=0), index=0)
            found = b.call(again, *made.params, trips)
        both = []
        for whole in range(2):
            part = b.op(s.TUPLE_GET, b.op(s.TUPLE_GET, found, index=whole), index=0)
            items = [b.op(s.TUPLE_GET, part, index=n) for n in range(len(part.type.elements))]
            both.append(b.op(s.TUPLE_MAKE, *(copied(b, self.helpers, x) if type(x.type) is k.Array else x
                                             for x in items), cls=None))
        result = b.op(s.TUPLE_MAKE, *both, cls=None)
        made.result = result.type
        made.entry.insts.append(Inst(c.RETURN, [result]))
        return made

    def writes_before_it_leaves(self) -> bool:
        """Whether a trip may write into an array before it leaves the loop."""
        inside = self.loop.blocks
        writers = [block for block in self.blocks if any(map(targets, block.insts))]
        reached = closure(writers, lambda block: [
            b for b in successors(block) if b in inside and b is not self.header])
        return any(e.block not in inside for block in reached for e in block.edges())

    def backward(self, again, forward) -> Function:
        v, o = self.state
        g = gradient_type(v)
        swept = requested(Request(again, "pull", (0,), True, measured=True), [v, o, k.Int, g],
                          k.Tuple((again.result, k.Tuple((g,)), k.Int)))
        pull = self.function("pull", [v, o, k.Int, g])
        b = Builder(pull.entry.insts)
        found = b.call(swept, *pull.params)
        adjoints = b.op(s.TUPLE_GET, b.op(s.TUPLE_GET, found, index=1), index=0)
        result = b.op(s.TUPLE_MAKE, adjoints, b.op(s.TUPLE_GET, found, index=2), cls=None)
        pull.entry.insts.append(Inst(c.RETURN, [result]))
        pull.result = result.type
        typed = self.helpers("divided:backward", (v, o, k.Int, g, k.Int))
        schedule = _with(typed, {"again": again, "pull": pull, "kept_by_one": self.kept_by_one(again, pull)})
        made = self.function("backward", [v, o, forward.result, gradient_type(without_duals(forward.result))])
        b = Builder(made.entry.insts)
        varied, others, result, cotangent = made.params
        trips = b.op(s.TUPLE_GET, b.op(s.TUPLE_GET, result, index=1), index=0)
        after = b.op(s.TUPLE_MAKE, b.op(s.TUPLE_GET, cotangent, index=0),
                     self.zeros(b, b.op(s.TUPLE_GET, varied, index=1)), cls=None)
        found = b.call(schedule, varied, others, trips, after, b.const(self.memory, k.Int))
        none = b.op(c.CONST, type=k.NoneType, value=None)
        made.entry.insts.append(Inst(c.RETURN, [b.op(s.TUPLE_MAKE, found, none, cls=None)]))
        made.result = made.entry.insts[-1].args[0].type
        return made

    def kept_by_one(self, again, pull) -> Function:
        made = self.function("kept", self.state)
        b = Builder(made.entry.insts)
        one = b.const(1, k.Int)
        after = b.op(s.TUPLE_GET, b.call(again, *made.params, one), index=0)
        kept = b.op(s.TUPLE_GET, b.call(pull, *made.params, one, self.zeros(b, after)), index=1)
        made.entry.insts.append(Inst(c.RETURN, [kept]))
        made.result = k.Int
        return made

    def zeros(self, b, x):
        """The adjoint of a value that nothing depends on: zero."""
        t = x.type
        if type(t) is k.Tuple:
            return b.op(s.TUPLE_MAKE, *(self.zeros(b, b.op(s.TUPLE_GET, x, index=n)) for n in range(len(t.elements))),
                        cls=t.cls)
        if type(t) is k.Array and is_varying(t):
            return b.call(self.helpers("zeros_like", (t,)), x)
        return b.zero(t) if is_varying(t) else b.op(c.CONST, type=k.NoneType, value=None)

    def call(self, forward):
        """Call `forward` before the loop, and let the loop continue from the state that it returns."""
        like = next((i for block in self.blocks for i in block.insts if i.loc.line), None)
        jump = self.pre.insts.pop()
        b = Builder(self.pre.insts, like)
        given = {x: x for x in (*self.changed, *self.fixed)}
        given.update(zip(self.header.params, self.pre.params))
        for n, x in enumerate(self.copies):  # a call copies each array separately
            for y in self.copies[:n]:
                if self.act.classes.of(x) is self.act.classes.of(y):
                    b.call(self.helpers("divided:check_disjoint", (x.type, y.type)), given[x], given[y])
        before = self.pack(b, given, b.const(0, k.Int))
        found = b.call(forward, *before)
        values, _ = self.unpack(b, *(b.op(s.TUPLE_MAKE, b.op(s.TUPLE_GET, found, index=n),
                                          b.op(s.TUPLE_GET, whole, index=1), cls=None)
                                     for n, whole in enumerate(before)))
        for x in self.written:
            b.call(self.helpers("divided:put_back", (x.type, values[x].type)), x, values[x])
        jump.targets[0].args = [values[p] for p in self.header.params]
        self.pre.insts.append(jump)
        gone = Block("gone")
        gone.insts.append(Inst(c.UNREACHABLE))
        for block in self.blocks:
            for e in block.edges():
                if e.block is self.header:
                    e.block, e.args = gone, []
        self.fn.blocks.append(gone)
        remove_unreachable(self.fn)


def _with(fn: Function, standing: dict[str, Function], done: dict[Function, Function] | None = None) -> Function:
    """A copy of a library function and of all that it calls, with the functions in `standing` in place of those with
    the same names."""
    done = {} if done is None else done
    if fn in done:
        return done[fn]
    new = done[fn] = copy_of(fn)
    new.memo["schedule"] = True
    for block in new.blocks:
        for inst in block.insts:
            if inst.op is c.INVOKE:
                callee = inst.attrs["callee"]
                there = standing.get(callee.qualname) or _with(callee, standing, done)
                inst.attrs = {**inst.attrs, "callee": there}
    return new


def _can_be_kept(t) -> bool:
    if type(t) is k.Tuple:
        return all(map(_can_be_kept, t.elements))
    return type(t) in (k.Array, k.Dual) or t is k.Bool or t is k.NpBool or t is k.NoneType or k.is_number(t)


def _parts(t) -> tuple:
    """The types that represent a value of type t in a state: a dual is a number and the flag that tells its type."""
    return (t.wide, k.Bool) if type(t) is k.Dual else (t,)


def _split(b, x):
    return [b.op(s.DUAL_WIDE, x), b.op(s.DUAL_IS_NARROW, x)] if type(x.type) is k.Dual else [x]


def _joined(b, t, parts):
    return b.op(s.DUAL_MAKE, *parts, type=t) if type(t) is k.Dual else parts[0]
