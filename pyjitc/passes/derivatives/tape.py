"""Values that the backward part of reverse mode reads from the forward part: recomputed, or kept on a tape.

A value is *free* if it can be recomputed from constants, arguments, numbers of visits, counters and elements of arrays
that are never written, by operations that are cheap and cannot fail (checks have succeeded once). Of the others either
the values that are read are kept, or the values from which those can be recomputed, whichever are fewer. What a loop
keeps lies in one array of 64-bit floats, of a counted loop made once, at  start + slot * (trips + 1) + visit,  else in
one that doubles, at start + visit * slots + slot.  Elements of arrays that are made in a loop go to an array of their
own.
"""
from __future__ import annotations

import inspect
import linecache
import re
from collections import Counter

from ...ir.cfg import blocks_after
from ...ir.core import CHECKS_FIRST, MODERATE, PURE, Block, Function, Inst, Value
from ...ops import arith as a
from ...ops import control as c
from ...ops import math as m
from ...ops import memory as mem
from ...ops import structure as s
from ...ops.nest import BROADCAST, NEST, kernels, template_of
from ...types import kinds as k
from ...types.lattice import dtype_of
from ...types.tangents import is_varying
from .. import counted
from .builder import Builder, refused
from .ruled import has_one_value, only_value
from .targets import targets
from ...ir.variables import Variable, read, write

__all__ = ["Tape", "active", "told"]

_BUFFER = k.Array(k.float64, 1)


class Tape:
    """form: see Normal; rblocks: the blocks of the backward part; owner, ks: see reverse.py; shadows: the arrays of
    adjoints that the forward part makes."""

    def __init__(self, form, act, rblocks, owner, ks, shadows, helpers):
        self.form, self.act, self.fn = form, act, form.fn
        self.rblocks, self.owner, self.ks = rblocks, owner, ks
        self.shadows, self.helpers = shadows, helpers
        self.parts: dict[Value, list[Value]] = {}  # complex number or tuple that is kept -> its parts
        self.arrays: dict[Value, tuple] = {}  # array whose elements are kept -> (tape, position, lengths)
        # variables for values that are defined before the loops and may not be computed on all paths
        self.kept: dict[Value, Variable] = {}
        self.tapes: list[Variable] = []

    def run(self):
        self.decide()
        self.lay_out()
        self.resolve()
        self.keep()
        self.fn.memo["tape"] = self.notes()

    def size(self, b) -> Value:
        """The bytes of all tapes."""
        total = b.const(0, k.Int)
        for tape in self.tapes:
            total = b.op(a.IADD, total, b.op(mem.ARRAY_DIM, read(b, tape), axis=0))
        return b.op(a.IMUL, total, b.const(8, k.Int))

    def notes(self) -> tuple[list[tuple], list[Value]]:
        """What `told` and `active` make texts of, when somebody asks: the loops, as (line, whether its number of
        iterations is known before it, the values that it keeps at each visit, the arrays whose elements it keeps); and
        the active values that have a name."""
        loops = [(_line_of(loop), loop in self.form.trips,
                  [v for floats in (True, False) for v in self.slots.get((loop, floats), ())],
                  [v for v in self.arrays if self.form.loop_of(v) is loop]) for loop in self.form.nest.loops]
        return loops, [v for v in self.fn.values() if v.name and v in self.act]

    # -- which values are kept

    def decide(self):
        cl = self.act.classes.of
        self.writers: dict[Value, list[Block]] = {}  # class of arrays -> the blocks that may write into it
        for block in self.fn.blocks:
            for i in block.insts:
                for x in targets(i):
                    self.writers.setdefault(cl(x), []).append(block)
        self.later: dict[Block, set[Block]] = {}
        self.counters = counted.Definitions(self.fn)
        self.own = {v for r in self.rblocks for v in r.values()}
        needed: dict[Value, None] = {}
        for r in self.rblocks:
            for inst in r.insts:
                for values in (inst.args, *(e.args for e in inst.edges())):
                    needed.update(dict.fromkeys(v for v in values if v not in self.own))
        self.memo: dict[Value, bool] = {}
        self.found_leaves: dict[Value, tuple[Value, ...]] = {}
        read = [v for v in needed if self.form.loop_of(v) is not None and not self.free(v)]
        leaves = dict.fromkeys(x for v in read for x in self.leaves(v))
        if len(leaves) <= len(read):
            taped = leaves
        else:
            # keep the lengths in place of a shape, which is a tuple, and the start of a view in place of an array of
            # adjoints
            taped = dict.fromkeys(x for v in read for x in (
                self.leaves(v) if type(v.type) is k.Tuple or v in self.shadows else (v,)))
            # drop the values that a cheap operation recomputes from others
            for v in sorted(read, key=self.position, reverse=True):
                i = v.inst
                if i is not None and v in taped and i.op is not mem.ARRAY_VIEW and _is_cheap(i.op) and all(
                        self.free(x) or x in taped and x is not v for x in i.args):
                    del taped[v]
        work = list(taped)
        for v in work:  # appended to during the iteration
            if type(v.type) is k.Array:
                self.keep_elements(v, taped)
            elif k.is_complex(v.type) or type(v.type) is k.Tuple:
                work += self.keep_parts(v, taped)
        self.taped = taped

    def position(self, v):
        home = self.form.home[v]
        return self.form.dom.number[home], -1 if v.inst is None else home.insts.index(v.inst)

    def free(self, v) -> bool:
        found = self.memo.get(v)
        if found is None:
            self.memo[v] = False
            found = self.memo[v] = self._free(v)
        return found

    def _free(self, v) -> bool:
        loop, i = self.form.loop_of(v), v.inst
        if loop is None or v is self.form.visit.get(loop) or has_one_value(v.type):
            return True
        if i is None:
            line = self.line(v)
            return line is not None and self.free(line[0])
        if i.op is c.CONST or _is_item_size(i):
            return True
        if i.op is mem.ARRAY_LOAD and self.changes(v, i.args[0]):
            return False
        given = i.args[:1] if i.op.traits & CHECKS_FIRST else i.args
        return self.again(i) and all(map(self.free, given))

    def changes(self, v: Value, x: Value) -> bool:
        """Whether the content of the array x may differ between the place where v is computed and the end of the
        forward part. (An array that a loop makes is another array in each trip.)"""
        writers = self.writers.get(self.act.classes.of(x))
        if not writers:
            return False
        home = self.form.home[v]
        later = self.later.get(home)
        if later is None:
            later = self.later[home] = blocks_after(home)
        if any(block in later for block in writers):
            return True
        if home not in writers:
            return False
        assert v.inst is not None
        behind = home.insts[home.insts.index(v.inst):]
        return any(self.act.classes.of(y) is self.act.classes.of(x) for i in behind for y in targets(i))

    def again(self, i: Inst) -> bool:
        """Whether the backward part may compute this instruction again."""
        op = i.op
        if op is NEST:
            return template_of(i) == "map" and not any(
                self.changes(i.result, x) for x in i.args if type(x.type) is k.Array) and all(
                map(_is_cheap_kernel, kernels(i.attrs["tree"])))
        if op.wrapping is not None or op.traits & CHECKS_FIRST or op in (mem.CHECK_INDEX, mem.ARRAY_LOAD, BROADCAST):
            return True
        scalar = type(i.result.type) is not k.Array and is_varying(i.result.type)
        return _is_cheap(op) or op.effects == PURE and not scalar

    def line(self, v):
        """(value on entry, step) of a counter of a loop, or None."""
        home = self.form.home[v]
        loop = self.form.nest.of.get(home)
        if loop is None or loop.header is not home or v not in home.params or v.type is not k.Int:
            return None
        step = counted.step_of(loop, self.form.edges, v, self.counters)
        if step is None:
            return None
        return self.form.pre[loop].terminator.targets[0].args[home.params.index(v)], step

    def leaves(self, v) -> tuple[Value, ...]:
        found = self.found_leaves.get(v)
        if found is None:
            found = self.found_leaves[v] = self._leaves(v)
        return found

    def _leaves(self, v):
        if self.free(v):
            return ()
        i = v.inst
        if i is None or i.op in (mem.ARRAY_DIM, mem.ARRAY_STRIDE, mem.ARRAY_LOAD) or not self.again(i):
            return (v,)
        if i.op is s.TUPLE_GET and i.args[0].inst is not None and i.args[0].inst.op is c.INVOKE:
            return (v,)  # an item of the result of a call
        if i.op is mem.ARRAY_VIEW and i.args[0].type.layout != "C" and v not in self.shadows and not self.free(
                i.args[0]):
            return (v,)  # arrays are kept in C order
        given = i.args[:1] if i.op.traits & CHECKS_FIRST else i.args
        return tuple(dict.fromkeys(x for y in given for x in self.leaves(y)))

    def keep_parts(self, v, taped) -> list[Value]:
        """Keep the two parts of a complex number in its place, or the items of a tuple. Returns these."""
        del taped[v]
        b = Builder([], v.inst)
        self.parts[v] = list(b.parts(v)) if type(v.type) is not k.Tuple else [
            b.op(s.TUPLE_GET, v, index=n) for n in range(len(v.type.elements))]
        found = [x for x in self.parts[v] if not has_one_value(x.type)]
        taped.update(dict.fromkeys(found))
        self.form.insert_behind(v, b.insts)
        return found

    def keep_elements(self, v, taped):
        """Keep the elements of an array on a tape of their own, and read them through a view."""
        if v in self.shadows or not (is_varying(v.type) or v.type.dtype is k.NpBool or k.is_integer(v.type.dtype)):
            raise refused(self.fn, v.inst, f"an array of {v.type.dtype} that a loop makes cannot be kept for the "
                          "derivative yet", "make it before the loop, or use float64")
        del taped[v]
        tape, at = Variable("tape", _BUFFER), Variable("at", k.Int)
        self.tapes.append(tape)
        self.before(lambda b: write(b, tape, self.buffer(b)))
        self.before(lambda b: write(b, at, b.const(0, k.Int)))
        b = Builder([], v.inst)
        place = read(b, at)
        dims = [b.op(mem.ARRAY_DIM, v, axis=n) for n in range(v.type.ndim)]
        is_complex, line = k.is_complex(v.type.dtype), b.const(_line_of(self.form.loop_of(v)), k.Int)
        size = b.const(2 if is_complex else 1, k.Int)
        for d in dims:
            size = b.op(a.IMUL, size, d)
        if v.type.dtype is k.float64 and v.type.layout == "C":  # the elements are copied as they lie in memory
            room = b.call(self.helpers("roomy", (_BUFFER, k.Int, k.Int, k.Int)), read(b, tape),
                          b.op(a.IADD, place, size), size, line)
            each = b.const(8, k.Int)
            row = b.op(mem.ARRAY_VIEW, room, b.op(a.IMUL, place, each), size, each, type=_BUFFER)
            b.call(self.helpers("put_row", (_BUFFER, v.type)), row, v)
            write(b, tape, room)
        else:
            name = "pushed_complex" if is_complex else "pushed_ints" if k.is_integer(v.type.dtype) else "pushed"
            push = self.helpers(name, (_BUFFER, k.Int, v.type, k.Int))
            write(b, tape, b.call(push, read(b, tape), place, v, line))
        write(b, at, b.op(a.IADD, place, size))
        self.form.insert_behind(v, b.insts)
        for x in (place, *dims):
            if self.form.loop_of(x) is not None:
                taped[x] = None
        self.arrays[v] = tape, place, dims

    def before(self, add):
        """Add instructions at the start of the function."""
        b = Builder([])
        add(b)
        self.fn.entry.insts[0:0] = b.insts
        self.form.note(self.fn.entry, b.insts)

    def buffer(self, b):
        return b.op(mem.ARRAY_NEW, b.const(0, k.Int), type=_BUFFER, zero=False)

    # -- layout of the tapes

    def lay_out(self):
        # (loop, whether they are floats) -> values: derivatives of a derivative tell arrays that vary from others
        self.slots: dict = {}
        for v in self.taped:
            self.slots.setdefault((self.form.loop_of(v), is_varying(v.type)), []).append(v)
        frames = {}
        self.prefix: dict[Block, list[Inst]] = {}
        # the position at which an inner loop starts may be on the tape of the outer one
        for loop in reversed(self.form.nest.loops):
            for key in ((loop, True), (loop, False)):
                if key in self.slots:
                    frames[key] = self.frame(loop, len(self.slots[key]))
        self.where = {v: (frames[key], slot) for key, values in self.slots.items() for slot, v in enumerate(values)}
        for block in self.form.dom.order:
            made = [i.result for i in block.insts if i.result is not None]
            if block not in self.prefix and not any(v in self.where for v in (*block.params, *made)):
                continue
            insts, block.insts = block.insts, list(self.prefix.get(block, ()))
            b = Builder(block.insts)
            for v in block.params:
                self.put(b, v)
            for inst in insts:
                block.insts.append(inst)
                if inst.result in self.where:
                    self.put(b, inst.result)

    def frame(self, loop, count):
        form = self.form
        pre, outer = form.pre[loop], form.chain(loop.header)[:-1]
        frame = _Frame(loop, count, loop in form.trips)
        self.tapes.append(frame.tape)
        self.before(lambda b: write(b, frame.tape, self.buffer(b)))
        p, need, pos = Builder([]), None, None
        p.at(loop.header.terminator)
        if frame.counted:
            frame.rows = p.op(a.IADD, form.trips[loop], p.const(1, k.Int), flags="nuw nsw")
            need = p.op(a.IMUL, frame.rows, p.const(count, k.Int), flags="nuw nsw")
        if not outer:
            frame.start = p.const(0, k.Int)
        elif len(outer) == 1 and need is not None and self.is_invariant(form.trips[loop], outer[0]):
            frame.start = p.op(a.IMUL, form.visit[outer[0]], need, flags="nuw nsw")
        else:
            pos = Variable("start", k.Int)
            self.before(lambda b: write(b, pos, b.const(0, k.Int)))
            frame.start = read(p, pos)
        if need is not None:
            end = p.op(a.IADD, frame.start, need, flags="nuw nsw")
            # allocate room for all trips of the outer loop at once
            if outer and pos is None and outer[0] in form.trips:
                q = Builder([])
                q.at(loop.header.terminator)
                rows = q.op(a.IADD, self.moved(q, form.trips[loop], outer[0], {}), q.const(1, k.Int), flags="nuw nsw")
                self.check(q, frame, rows)  # before the product is computed, which may exceed 64 bits
                self.check(q, frame, form.trips[outer[0]], rows)
                each = q.op(a.IMUL, rows, q.const(count, k.Int), flags="nuw nsw")
                trips = q.op(a.IADD, form.trips[outer[0]], q.const(1, k.Int), flags="nuw nsw")
                whole = q.op(a.IMUL, each, trips, flags="nuw nsw")
                write(q, frame.tape, q.op(mem.ARRAY_NEW, whole, type=_BUFFER, zero=False))
                self.at_end(form.pre[outer[0]], q.insts)
            else:
                self.check(p, frame, frame.rows)
                write(p, frame.tape, self.room(p, frame, end) if outer else
                      p.op(mem.ARRAY_NEW, need, type=_BUFFER, zero=False))
            if pos is not None:
                write(p, pos, end)
        self.at_end(pre, p.insts)
        if need is None:
            h = Builder([])
            h.at(loop.header.terminator)
            at = h.op(a.IADD, frame.start, h.op(a.IMUL, form.visit[loop], h.const(count, k.Int)))
            write(h, frame.tape, self.room(h, frame, h.op(a.IADD, at, h.const(count, k.Int))))
            self.at_start(loop.header, h.insts)
            if pos is not None:
                for _, e in form.exits[loop]:
                    x = Builder([])
                    n = x.op(a.IADD, form.final[loop, e.block], x.const(1, k.Int))
                    write(x, pos, x.op(a.IADD, frame.start, x.op(a.IMUL, n, x.const(count, k.Int))))
                    self.at_start(e.block, x.insts)
        if pos is not None and form.loop_of(frame.start) is not None:
            self.taped[frame.start] = None
            self.slots.setdefault((outer[-1], False), []).append(frame.start)
        return frame

    def check(self, b, frame, trips, inner=None):
        """Raise MemoryError where a tape has no room in memory. inner: the trips for each of these, if not 1."""
        each = b.const(frame.count, k.Int)
        if inner is not None:
            each = b.op(a.IMUL, each, inner)
        b.call(self.helpers("check_room", (k.Int,) * 3), trips, each, b.const(_line_of(frame.loop), k.Int))

    def room(self, b, frame, need):
        return b.call(self.helpers("roomy", (_BUFFER, k.Int, k.Int, k.Int)), read(b, frame.tape), need,
                      b.const(frame.count, k.Int), b.const(_line_of(frame.loop), k.Int))

    def at_end(self, block, insts):
        block.insts[-1:-1] = insts
        self.form.note(block, insts)

    def at_start(self, block, insts):
        self.prefix.setdefault(block, []).extend(insts)
        self.form.note(block, insts)

    def is_invariant(self, v, loop) -> bool:
        if self.form.home.get(v) not in loop.blocks:
            return True
        i = v.inst
        return i is not None and (i.op is c.CONST or i.op.effects == PURE
                                  and all(self.is_invariant(x, loop) for x in i.args))

    def moved(self, b, v, loop, memo):
        """Compute a value that is invariant in a loop before the loop; returns the new value."""
        if self.form.home.get(v) not in loop.blocks:
            return v
        if v not in memo:
            memo[v] = b.again(v.inst, [self.moved(b, x, loop, memo) for x in v.inst.args])
        return memo[v]

    def put(self, b, v):
        found = self.where.get(v)
        if found is None:
            return
        frame, slot = found
        x, t = v, v.type
        if t is k.Bool or t is k.NpBool or isinstance(t, k.NpInt):
            x = b.op(a.CAST, v, type=k.Int)
        if x.type is k.Int:
            x = b.op(m.FROM_BITS, x)
        if x.type is k.Float:
            x = b.op(s.RETYPE, x, type=k.float64)
        elif isinstance(t, k.NpFloat) and t is not k.float64:
            x = b.op(a.CAST, x, type=k.float64)
        if x.type is not k.float64:
            raise refused(self.fn, v.inst, f"a value of type {t} changes in a loop and is read by its derivative: such "
                          "values cannot be kept yet", "use numbers and arrays in the loop")
        b.op(mem.ARRAY_STORE, read(b, frame.tape), frame.index(b, slot, self.form.visit[frame.loop], lambda y: y), x)

    def get(self, b, v, n, go):
        frame, slot = self.where[v]
        t = v.type
        x = b.op(mem.ARRAY_LOAD, read(b, frame.tape), frame.index(b, slot, n, go))
        if t is k.float64:
            return x
        if isinstance(t, k.NpFloat):
            return b.op(a.CAST, x, type=t)
        x = b.op(s.RETYPE, x, type=k.Float)
        if t is k.Float:
            return x
        x = b.op(m.BITS, b.op(m.STOPPED, x))  # the tape may vary in a further derivative, and ints on it do not
        if t is k.Bool:
            return b.op(a.INE, x, b.const(0, k.Int))
        return x if t is k.Int else b.op(a.CAST, x, type=t)

    # -- reads of the backward part

    def resolve(self):
        for r in self.rblocks:
            self.at = self.owner[r]
            ks = self.ks.get(r, self.ks[self.at])
            insts, r.insts = r.insts, []
            b = Builder(r.insts)
            memo: dict[Value, Value] = {}
            for inst in insts:
                b.at(inst)
                inst.args = [v if v in self.own else self.value(b, v, ks, memo) for v in inst.args]
                for e in inst.edges():
                    e.args = [v if v in self.own else self.value(b, v, ks, memo) for v in e.args]
                r.insts.append(inst)

    def value(self, b, v, ks, memo):
        found = memo.get(v)
        if found is None:
            found = memo[v] = self._value(b, v, ks, memo)
        return found

    def _value(self, b, v, ks, memo):
        form, i = self.form, v.inst
        loop = form.loop_of(v)

        def go(x):
            return self.value(b, x, ks, memo)

        if i is not None and i.op is c.CONST:
            return b.again(i, ())
        if i is not None and _is_item_size(i):
            return b.const(dtype_of(i.args[0].type.dtype).itemsize, k.Int)
        if has_one_value(v.type):
            return only_value(b, v.type)
        if v in self.arrays:
            return self.elements_back(b, v, go)
        if v in self.parts:
            parts = list(map(go, self.parts[v]))
            return b.op(s.TUPLE_MAKE, *parts, cls=v.type.cls) if type(v.type) is k.Tuple else b.op(
                a.COMPLEX_MAKE, *parts)
        if loop is None:
            home = form.home[v]
            if form.dom.dominates(home, form.out) and (i is None or home.insts[0].unwind is None):
                return v
            if v not in self.kept:
                self.kept[v] = Variable(v.name, v.type)
            return read(b, self.kept[v])
        n = ks.get(loop)
        if n is None:  # the read is on the edge into the last trip
            n = go(form.final[loop, self.at])
        if v in self.where:
            return self.get(b, v, n, go)
        if v is form.visit.get(loop):
            return n
        if i is None:
            start, step = self.line(v)
            by = n if step == 1 else b.op(a.IMUL, n, b.const(step, k.Int), flags="nsw")
            return b.op(a.IADD, go(start), by, flags="nsw")
        if i.op.traits & CHECKS_FIRST:
            return go(i.args[0])
        if i.op.wrapping is not None:
            return b.op(i.op.wrapping, *map(go, i.args))
        if i.op is mem.CHECK_INDEX:
            x = go(i.args[0])
            if i.attrs.get("nonnegative"):
                return x
            return b.op(s.SELECT, b.op(a.ILT, x, b.const(0, k.Int)), b.op(a.IADD, x, go(i.args[1])), x)
        return b.again(i, list(map(go, i.args)))

    def elements_back(self, b, v, go):
        tape, place, dims = self.arrays[v]
        dtype = v.type.dtype
        kept = k.complex128 if k.is_complex(dtype) else k.int64 if k.is_integer(dtype) else k.float64
        n, step = [go(d) for d in dims], b.const(dtype_of(kept).itemsize, k.Int)
        strides: list[Value] = []
        for d in reversed(n):
            strides.insert(0, step)
            step = b.op(a.IMUL, step, d)
        t = k.Array(kept, v.type.ndim)
        x = b.op(mem.ARRAY_VIEW, read(b, tape), b.op(a.IMUL, go(place), b.const(8, k.Int)), *n, *strides, type=t)
        if dtype is not kept:
            own = b.op(c.CONST, type=k.DType(dtype), value=dtype_of(dtype))
            x = b.call(self.helpers("as_type", (t, own.type)), x, own)
        return x if x.type is v.type else b.op(s.RETYPE, x, type=v.type)

    def keep(self):
        for v, variable in self.kept.items():
            self.before(lambda b: write(b, variable, b.op(s.UNDEF, type=v.type)))
            b = Builder([])
            write(b, variable, v)
            self.form.insert_behind(v, b.insts)


class _Frame:
    """The layout of the tape of a loop: `count` values for each visit of the header."""

    def __init__(self, loop, count, is_counted):
        self.loop, self.count, self.counted = loop, count, is_counted
        self.tape = Variable("tape", _BUFFER)
        self.start = self.rows = None

    def index(self, b, slot, visit, go):
        def add(x, y):
            return b.op(a.IADD, x, y, flags="nuw nsw")

        start = go(self.start)
        if self.counted:
            if slot:
                start = add(start, b.op(a.IMUL, go(self.rows), b.const(slot, k.Int), flags="nuw nsw"))
            return add(start, visit)
        return add(add(start, b.op(a.IMUL, visit, b.const(self.count, k.Int), flags="nuw nsw")),
                   b.const(slot, k.Int))


def _line_of(loop) -> int:
    return loop.header.terminator.loc.line or min(
        [i.loc.line for block in loop.blocks for i in block.insts if i.loc.line], default=0)


def told(fn: Function) -> list[tuple[int, str]]:
    """What each loop of a function with a derivative by reverse mode keeps for its way back: [(line, text)]."""
    loops, _ = fn.memo.get("tape") or ((), ())
    known = _names(fn) if loops else frozenset()
    found = []
    for line, is_counted, values, copied in loops:
        parts = []
        if values:
            how = "an array that is made before it, with room for all" if is_counted else "an array that grows"
            count = Counter(_described(v, known) for v in values)
            which = [text if n == 1 else f"{text} ({n} times)" for text, n in count.items()]
            parts.append(f"{8 * len(values)} bytes for each visit, in {how}: {', '.join(which)}")
        parts += [f"the elements of {text}" for text in dict.fromkeys(_described(v, known) for v in copied)]
        found.append((line, "keeps " + ("; and ".join(parts) if parts else
                                        "nothing: what its derivative reads is not changed, or is computed again")))
    return found


def active(fn: Function) -> dict[int, list[str]]:
    """Line -> the variables that become active there: they depend on what the derivative is taken of, and the result
    depends on them."""
    _, values = fn.memo.get("tape") or ((), ())
    known = _names(fn) if values else frozenset()
    found: dict[int, dict[str, None]] = {}
    for v in values:
        if v.name in known:
            found.setdefault(v.inst.loc.line if v.inst is not None else 0, {})[v.name] = None
    return {line: list(names) for line, names in found.items()}


def _names(fn: Function) -> frozenset[str]:
    """The names in the source of a function; other names are those of variables of the library."""
    lines = linecache.getlines(fn.filename)[max(fn.firstlineno - 1, 0):]
    return frozenset(re.findall(r"\w+", "".join(inspect.getblock(lines)))) if lines else frozenset()


def _described(v: Value, known: frozenset[str]) -> str:
    """The text that describes a value to the user. known: the names in the source."""
    i = v.inst
    if v.name in known:
        name = v.name
    elif i is None:
        name = "a number that changes in a loop"
    elif i.op is mem.ARRAY_DIM:
        shaped = i.args[0]
        name = f"a length of {shaped.name if shaped.name in known else 'an array'}"
    elif i.op is c.INVOKE:
        name = f"the result of {i.attrs['callee'].qualname}()"
    elif isinstance(v.type, k.Array):
        name = "an array that has no name"
    else:
        name = "a number that has no name"
    return f"{name} (line {i.loc.line})" if i is not None and i.loc.line else name


def _is_item_size(i: Inst) -> bool:
    """Whether an instruction computes the stride of an array of one axis that the function makes: the size of an
    element. (It is 0 for an array without elements, where no address is computed from it.)"""
    made = i.args[0].inst if i.op is mem.ARRAY_STRIDE else None
    return made is not None and made.op is mem.ARRAY_NEW and made.result is not None and made.result.type.ndim == 1


def _is_cheap(op) -> bool:
    """Whether the backward part computes the results of an operation again rather than load them from the tape."""
    return op.effects == PURE and op.cost <= MODERATE


def _is_cheap_kernel(kernel) -> bool:
    return all(_is_cheap(i.op) or not is_varying(i.result.type) if i.result is not None else i.op is c.RETURN
               for block in kernel.blocks for i in block.insts)
