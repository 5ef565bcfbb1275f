"""Interval analysis: checks that cannot fail become unchecked operations, and LLVM gets flags such as nsw.

Runs after simplify and hoisting. Computes the intervals of all values from those of constants, extents and parameters,
by widening to a fixed point and then narrowing. A branch narrows the intervals of the compared values in the blocks
that it dominates (`conditions.py`); array extents are below 2**60, remainders below the divisor, loop counters between
their ends; `inequalities.py` proves that an index is below an extent, `signs.py` that a float is above 0 or not below.
Comparisons that intervals decide become constants, and a selection by one becomes what is selected.
Before:  n = array_dim a ; m = isub_ck n, 1 ; j = check_index i, n
After:   m = isub {nsw} n, 1 ; j = check_index {nonnegative} i, n
A loop that cannot make more trips than its number has bits is noted as `few_trips`: `while x: x &= x - 1`.
Needs: SSA.  Keeps: everything else.
"""
from __future__ import annotations

from typing import Callable

from ..base.lazy import lazy
from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ops import arith as a
from ..ops import control, memory, structure
from ..types.kinds import Bool, Float, Int, NpBool, NpFloat, NpInt, is_float
from .conditions import Conditions
from .counted import Definitions, find, trips_of
from .rewrite import drop_check, remove_unreachable, resolve, substitute

__all__ = ["intervals", "run", "type_interval"]

inequalities = lazy(f"{__package__}.inequalities")  # for indices that are not the counter of a loop over the array
signs = lazy(f"{__package__}.signs")  # asked where a float is checked
bits = lazy(f"{__package__}.bits")  # few programs clear bits one by one

LOW, HIGH = -(1 << 63), (1 << 63) - 1
FULL = (LOW, HIGH)
INF = float("inf")
ANY = (-INF, INF)  # the interval of a float; NaN is never excluded
_TRUTH = (0, 1)
_FLAGGED = {a.IADD, a.ISUB, a.IMUL}
_DIVISIONS = {a.IMOD, a.IFLOORDIV, a.IFLOORDIV_CK}
_FITTING = {a.FIT, a.NARROW}  # conversions that raise if the number does not fit
# operations whose result is a number or infinite where the operands are numbers
_SAFE = {a.FADD, a.FSUB, a.FMUL, a.FNEG, structure.SELECT, a.CAST}
_TARGETS = {*(op for op in a.RANGED if op.wrapping is not None), *_FITTING, memory.CHECK_INDEX, a.CHECK_NONZERO,
            a.CHECK_NONNEG}
_ASKED = {*a.RANGED, memory.CHECK_INDEX}
_DEEP = 4  # the most joins on a back edge that are looked through
# the most rounds; widening starts with the second one, so that nested loops reach the fixed point long before
_ROUNDS = 12
_NARROWING = 2
_TABLE = 1 << 16  # an index below it may be one of a table, whose length a guard before the loop may compare
_SMALL = 1 << 32  # the largest addends for which a guard before a loop may bound a sum (versioning.py)
_STEPS = 1 << 58  # no program adds more often: it would take years


def run(fn: ir.Function, options=Options()) -> None:
    decided: set[ir.Value] = set()
    while _Ranges(fn, options.overflow == "wrap", bool(options.fastmath), decided).run():
        pass  # a loop was removed: more is known about values that it counted
    if decided:
        _take(fn, decided)


def intervals(fn: ir.Function, options=Options()) -> Callable[[ir.Value], tuple]:
    """value -> the interval of its numbers. The function is not changed."""
    found = _Ranges(fn, options.overflow == "wrap", bool(options.fastmath), set())
    found.solve()
    return found.get


def _take(fn, decided) -> None:
    """Turn each branch on a decided comparison into a jump. No other blocks are changed, so that a loop keeps its
    single back edge (latches.py)."""
    taken = False
    for block in fn.blocks:
        last = block.insts[-1]
        made = last.args[0].inst if last.op is control.BRANCH else None
        while made is not None and made.op is a.CAST:
            made = made.args[0].inst
        if made is not None and made.result in decided:
            way = last.targets[0 if made.attrs["value"] else 1]
            block.insts[-1] = ir.Inst(control.JUMP, (), {}, None, last.loc, [way])
            taken = True
    if not taken:
        return
    remove_unreachable(fn)
    mapping: dict[ir.Value, ir.Value] = {}
    for block, arriving in in_edges(fn.blocks).items():
        if len(arriving) == 1 and block.params and arriving[0][2] is not arriving[0][1].unwind:
            edge = arriving[0][2]
            mapping.update(zip(block.params, edge.args))
            block.params, edge.args = [], []
    substitute(fn.blocks, mapping)


def type_interval(t) -> tuple:
    """The interval of all values of a type."""
    if t is Int:
        return FULL
    if isinstance(t, NpInt):
        return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)
    return _TRUTH if t is Bool or t is NpBool else ANY


def _is_whole(t) -> bool:
    return t is Int or t is Bool or t is NpBool or isinstance(t, NpInt)


def _to_whole(inst) -> bool:
    """Whether an instruction converts a float to an integer as astype does: a value that does not fit has an
    unspecified result."""
    return (inst.op is a.CAST and isinstance(inst.result.type, NpInt)
            and (inst.args[0].type is Float or isinstance(inst.args[0].type, NpFloat)))


def _met(x, relation, y):
    """The part of the interval x whose values can have the relation to a value of y; x itself where that is empty, in
    code that never runs."""
    low, high = x
    whole = 0 if isinstance(low, float) else 1
    if relation is a.ILT:
        high = min(high, y[1] - whole)
    elif relation is a.ILE:
        high = min(high, y[1])
    elif relation is a.IGT:
        low = max(low, y[0] + whole)
    elif relation is a.IGE:
        low = max(low, y[0])
    elif relation is a.IEQ:
        low, high = max(low, y[0]), min(high, y[1])
    elif y[0] == y[1] and whole:
        low, high = low + (low == y[0]), high - (high == y[0])
    return (low, high) if low <= high else x


class _Ranges:
    def __init__(self, fn, wrap, loose, decided):
        self.fn = fn
        self.decided = decided  # comparisons that have become constants
        self.wrap = wrap  # whether sums of the program may wrap
        self.loose = loose  # whether floats may be computed in another order
        self.known: dict[ir.Value, tuple] = {}
        self.readers: dict[ir.Value, set[int]] = {}  # value -> the numbers of the values computed from its interval
        self.reader = -1  # the number of the value that is being computed; -1 while that is not recorded
        nest = self.nest = LoopNest(fn)
        self.order = nest.dom.order
        self.edges = in_edges(fn.blocks)
        defs = self.defs = Definitions(fn)
        self.counters = {}  # parameter -> (Counted, step)
        self.inside: dict[ir.Value, set] = {}
        counted = self.counted = {
            loop: found for loop in nest.loops if (found := find(loop, defs, self.edges)) is not None}
        for loop, found in counted.items():
            for p, step in found.steps.items():
                self.counters[p] = (found, step)
                self.inside[p] = loop.blocks.keys() - {loop.header}
        self.uncounted = [loop for loop in nest.loops if loop not in counted]
        self.conditions = Conditions(nest.dom, defs, self.edges, list(counted.values()))
        floats = any(i.op is a.TRUNCATE or _to_whole(i) for b in fn.blocks for i in b.insts)
        self.followed = (Int, NpInt, Float, NpFloat) if floats else (Int, NpInt)
        self.everywhere = set(fn.blocks)
        self.proofs = None  # made where an interval does not decide

    top = staticmethod(type_interval)

    def below(self, v, limit, block) -> bool:
        """Whether v < limit."""
        if self.counts_to(v, limit, block):
            return True
        if self.proofs is None:
            self.proofs = inequalities.Below(self)
        return self.proofs(v, limit, 0, block)

    def counts_to(self, v, limit, block) -> bool:
        """Whether v counts the trips of a loop from 0 on, which makes `limit` trips, as `i` in `range(len(a))`."""
        counter = self.counters.get(v)
        return (counter is not None and counter[1] == 1 and block in self.inside[v]
                and self.defs.constant(counter[0].start[v]) == 0 and trips_of(counter[0], self.defs) is limit)

    def follows(self, t) -> bool:
        return t is Int or isinstance(t, NpInt) or (t is Float or isinstance(t, NpFloat)) and Float in self.followed

    def run(self) -> bool:
        """Whether a loop was removed."""
        self.solve()
        mapping: dict[ir.Value, ir.Value] = {}
        for block in self.order:
            kept = []
            for inst in block.insts:
                if mapping and inst.args:
                    inst.args = [resolve(mapping, v) for v in inst.args]
                if inst.op in _TARGETS and self.needless(inst, block) or (
                        inst.op.traits & ir.CHECKS_FIRST and is_float(inst.result.type) and signs.passes(inst)):
                    if inst.op.wrapping is not None:
                        drop_check(inst)
                        if inst.op in _FLAGGED:
                            inst.attrs = {"flags": "nsw"}
                    elif inst.op in _FITTING:
                        inst.op, inst.unwind, inst.attrs = a.CAST, None, {"type": inst.result.type}
                    else:
                        mapping[inst.result] = inst.args[0]
                        continue
                if inst.op in _FLAGGED:
                    if inst.attrs.get("flags") == "nsw" and self.unsigned(inst, block):
                        inst.attrs = {"flags": "nuw nsw"}
                elif inst.op in _ASKED:
                    if inst.op is a.IMOD and self.is_remainder(inst, block):
                        mapping[inst.result] = inst.args[0]
                        continue
                    if inst.op is a.IADD_CK or inst.op is a.ISUB_CK:
                        low, high = self.get(inst.args[1], block)
                        if -_SMALL <= low and high <= _SMALL:
                            inst.attrs = {**inst.attrs, "by": max(-low, high)}
                    elif inst.op is a.IMUL_CK and all(self.get(x, block)[0] >= 0 for x in inst.args):
                        inst.attrs = {**inst.attrs, "nonnegative": True}
                    flags = self.flags(inst, block)
                    if flags:
                        inst.attrs = {**inst.attrs, "flags": flags}
                elif inst.op in a.INTEGER_COMPARISONS and (known := self.compared(inst, block)) is not None:
                    inst.op, inst.args, inst.attrs = control.CONST, [], {"value": known}
                    self.decided.add(inst.result)
                elif inst.op is structure.SELECT and inst.args[0] in self.decided:
                    mapping[inst.result] = inst.args[1 if inst.args[0].inst.attrs["value"] else 2]
                    continue
                elif _to_whole(inst) and self.fits_short(inst, block):
                    whole = ir.Value(Int)
                    kept.append(ir.Inst(a.WHOLE, inst.args, {"flags": "short"}, whole, inst.loc))
                    inst.args = [whole]
                kept.append(inst)
            block.insts = kept
        substitute(self.order, mapping)
        counted = False
        for loop in self.uncounted:
            if self.is_brief(loop):
                if bits.count(self.fn, loop, self):
                    counted = True
                    continue
                for block in loop.latches:
                    last = block.insts[-1]
                    last.attrs = {**last.attrs, "few_trips": True}
        return counted

    # ------------------------------------------------------------ solving

    def solve(self):
        """Widen intervals to a fixed point, which is sound, and then narrow them. A sweep computes in order what is
        dirty: the values for which an interval that they were computed from has changed since."""
        nest, entry = self.nest, self.fn.entry
        self.values = values = []  # (a value, its block, its number as a parameter or -1)
        for block in self.order:
            if block is not entry:
                values += [(p, block, k) for k, p in enumerate(block.params) if self.follows(p.type)]
            values += [(inst.result, block, -1) for inst in block.insts
                       if inst.result is not None and self.follows(inst.result.type)]
        self.growing = self.first = True
        self.widening: set[ir.Block] = set()
        self.dirty = bytearray(b"\1") * len(values)
        looped = bool(nest.loops or nest.irreducible)
        self.reader = 0 if looped else -1
        self.sweep(0)
        self.first = False
        if not looped:
            return
        heads = {loop.header for loop in nest.loops} if not nest.irreducible else {*self.order}
        least = min(map(nest.dom.number.__getitem__, heads))
        start = sum([nest.dom.number[block] < least for _, block, _ in values])
        for n in range(_ROUNDS):
            if n:
                self.widening = heads
            if not self.sweep(start):
                break
        else:
            for n, (v, _, _) in enumerate(values[start:], start):
                self.known[v] = type_interval(v.type)
                self.dirty[n] = 1
        self.growing = False
        for n, (_, _, k) in enumerate(values):
            self.dirty[n] |= k >= 0  # only a parameter is computed in another way from here on
        for _ in range(_NARROWING):
            if not self.sweep(start):
                break
        self.reader = -1

    def sweep(self, start) -> bool:
        """Compute the intervals of the dirty values from number `start` on; whether one has changed."""
        changed = False
        known, values, dirty, readers = self.known, self.values, self.dirty, self.readers
        n = dirty.find(1, start)
        while n >= 0:
            dirty[n] = 0
            if self.reader >= 0:
                self.reader = n
            v, block, k = values[n]
            old = known.get(v)
            if k >= 0:
                new = self.parameter(v, k, block)
            else:
                new = self.result(v.inst, block)
                if not self.growing and old is not None:
                    new = (max(new[0], old[0]), min(new[1], old[1]))
            if new != old:
                known[v] = new
                changed = True
                for reader in readers.get(v, ()):
                    dirty[reader] = 1
            n = dirty.find(1, n + 1)
        return changed

    def get(self, v, block=None):
        """The interval of `v` in `block`. It takes into account that in the body of its loop a counter has not yet
        taken its last step, and the branches that lead to the block."""
        found, reader = self.known.get(v), self.reader
        if reader >= 0:
            self.readers.setdefault(v, set()).add(reader)
        if found is None:
            found = type_interval(v.type)
        if block is not None:
            counter = self.counters.get(v)
            if counter is not None and block in self.inside[v]:
                found = self.counting(v, *counter, -1)
            if v in self.conditions.at:
                for relation, other in self.conditions.facts(v, block):
                    found = _met(found, relation, self.of(other))
        return found

    def of(self, other):
        """The interval of the other operand of a fact: a value or a number."""
        return self.get(other) if isinstance(other, ir.Value) else (other, other)

    def counting(self, p, counted, step, more):
        """The interval of a counter over `trips + more` steps. A range ends at the limits of 64 bits: a sum beyond them
        raises, unless the program lets it wrap."""
        first = self.get(counted.start[p])
        if p is counted.left:
            return (1 if more else 0, max(first[1], 0))
        trips = max(self.get(counted.start[counted.left])[1] + more, 0)
        span = step * trips
        low, high = (first[0], first[1] + span) if step > 0 else (first[0] + span, first[1])
        if self.wrap and (low < LOW or high > HIGH) and not self.steps_fit(p, counted.loop):
            return FULL
        return (max(low, LOW), min(high, HIGH))

    def steps_fit(self, p, loop):
        """Whether the additions have flags that say that they do not wrap."""
        k = loop.header.params.index(p)
        return all("flags" in e.args[k].inst.attrs for source, _, e in self.edges[loop.header]
                   if source in loop.blocks)

    def parameter(self, p, k, block):
        counter = self.counters.get(p)
        if counter is not None:
            return self.counting(p, *counter, 0)
        low = high = None
        number = self.nest.dom.number
        for source, inst, edge in self.edges[block]:
            v = edge.args[k]
            if v is p or source not in number:  # an unreachable block
                continue
            if self.first and number[source] >= number[block]:  # nothing is known about the source yet
                self.dirty[self.reader] = 1
                continue
            x = self.arriving(v, source, inst, edge)
            low, high = (x[0], x[1]) if low is None else (min(low, x[0]), max(high, x[1]))
        top = type_interval(p.type)
        if low is None:
            return top
        old = self.known.get(p)
        if old is not None and not self.growing:
            low, high = max(low, old[0]), min(high, old[1])
        elif old is not None:
            low, high = min(low, old[0]), max(high, old[1])
            if block in self.widening:
                if low < old[0]:
                    low = 0 if low >= 0 else -1 if low >= -1 else top[0]
                if high > old[1]:
                    high = -1 if high <= -1 else 0 if high <= 0 else top[1]
        if p.type is Int and (low == LOW or high == HIGH):
            found = self.web(p)
            if found is not None:
                return (max(low, found[0]), min(high, found[1]))
        return (low, high)

    def arriving(self, v, source, inst, edge):
        """The interval of an argument of an edge."""
        found = self.get(v, source)
        if inst.unwind is not edge:
            for value, relation, other in self.conditions.on(inst, edge):
                if value is v:
                    found = _met(found, relation, self.of(other))
        return found

    def web(self, p):
        """The interval of a sum, on any path: that of the values from which it starts, extended by all that is added:
        numbers in counted loops, and small ones in others, where `_STEPS` additions are made at most. None where other
        operations contribute."""
        members: dict[ir.Value, None] = {}
        low, high = HIGH, LOW
        added: list[tuple[ir.Block, int, int]] = []
        work = [p]
        while work:
            v = work.pop()
            if v in members:
                continue
            if len(members) > 80:
                return None
            inst, outside = v.inst, None
            block = self.defs.block_of.get(v)
            if inst is None and block is not None and block is not self.fn.entry:
                k = block.params.index(v)
                work += [e.args[k] for _, _, e in self.edges[block]]
            elif inst is not None and inst.op in a.SUMS and v.type is Int:
                step = self.get(inst.args[1])
                home = self.defs.block_of[v]
                if self.may_add(step, home):
                    if inst.op is a.ISUB or inst.op is a.ISUB_CK:
                        step = (-step[1], -step[0])
                    added.append((home, min(step[0], 0), max(step[1], 0)))
                    work.append(inst.args[0])
                elif self.growing:
                    return None  # its interval would grow by a step in every round
                else:
                    outside = self.get(v)
            elif inst is not None and inst.op is structure.SELECT:
                work += inst.args[1:]
            else:
                outside = self.get(v)
            if outside is None:
                members[v] = None
            else:
                low, high = min(low, outside[0]), max(high, outside[1])
        if low > high:
            return None
        down, up = self.total(members, added)
        low, high = low + down, high + up
        if low < LOW or high > HIGH:
            return None
        return low, high

    def may_add(self, step, block) -> bool:
        """Whether `web` takes an addition for one of many."""
        if -16 <= step[0] and step[1] <= 16:
            return True
        counted = self.counted.get(self.nest.of[block]) if block in self.nest.of else None
        return (-_SMALL <= step[0] and step[1] <= _SMALL and counted is not None
                and self.most_trips(counted) <= _SMALL)

    def most_trips(self, counted) -> int:
        return max(self.get(counted.start[counted.left])[1], 0)

    def total(self, members, added) -> tuple[int, int]:
        """(least, greatest) sum of what is added to a value of a web: each addition as often as the loops around it
        that carry the sum make trips."""
        down = up = 0
        for block, low, high in added:
            count, loop = _STEPS if self.nest.irreducible else 1, self.nest.of.get(block)
            while loop is not None:
                if any([q in members for q in loop.header.params]):
                    counted = self.counted.get(loop)
                    count *= _STEPS if counted is None else self.most_trips(counted)
                loop = loop.parent
            down, up = down + low * min(count, _STEPS), up + high * min(count, _STEPS)
        least, most = min([one[1] for one in added], default=0), max([one[2] for one in added], default=0)
        return max(down, least * _STEPS), min(up, most * _STEPS)

    # ------------------------------------------------------------ operations

    def result(self, inst, block):
        op, args, top = inst.op, inst.args, type_interval(inst.result.type)
        if op is control.CONST:
            value = inst.attrs["value"]
            if top is not ANY:
                return (int(value), int(value))
            return (float(value), float(value)) if value == value else ANY
        if op.bounds and top is FULL:
            return op.bounds
        if op is memory.CHECK_INDEX:
            return (0, max(self.get(args[1], block)[1] - 1, 0))
        if op.traits & ir.SELECTS:
            return self.chosen(inst, block)
        if op is structure.TUPLE_AT:
            return self.item(args[0], top)
        if op is a.CAST or op is structure.RETYPE:
            return self.converted(args[0], inst.result.type, block)
        if top is ANY:
            return self.rounded(inst, block)
        exact = self.exact(inst, block)
        if exact is not None:
            if op.wrapping is not None:
                return (max(exact[0], LOW), min(exact[1], HIGH))  # a result that does not fit has raised
            return exact if top[0] <= exact[0] and exact[1] <= top[1] else top
        if op in _FITTING or op is a.CHECK_NONZERO or op is a.CHECK_NONNEG or op is a.TRUNCATE:
            least = 0 if op is a.CHECK_NONNEG else top[0]
            x = tuple(top[0] if n <= top[0] else top[1] if n >= top[1] else int(n) for n in self.get(args[0], block))
            x = _met(x, a.IGE, (least, least))
            return _met(x, a.INE, (0, 0)) if op is a.CHECK_NONZERO else x
        elif len(args) == 2 and args[0].type is inst.result.type:
            x, y = self.get(args[0], block), self.get(args[1], block)
            found = self.divided(op, x, y) if op in _DIVISIONS else self.bitwise(op, x, y)
            if found is not None and top[0] <= found[0] and found[1] <= top[1]:
                return found
        return top

    def exact(self, inst, block):
        """The interval of the exact mathematical result of an operation, before it wraps or raises; None for other
        operations."""
        op = inst.op
        if op is a.INEG or op is a.INEG_CK:
            x = self.get(inst.args[0], block)
            return (-x[1], -x[0])
        if op is a.IABS or op is a.IABS_CK:
            x = self.get(inst.args[0], block)
            return (max(x[0], -x[1], 0), max(-x[0], x[1]))
        if op in a.SUMS:
            x, y = (self.get(v, block) for v in inst.args)
            return (x[0] + y[0], x[1] + y[1]) if op is a.IADD or op is a.IADD_CK else (x[0] - y[1], x[1] - y[0])
        if op is a.IMUL or op is a.IMUL_CK:
            x, y = (self.get(v, block) for v in inst.args)
            ends = [p * q for p in x for q in y]
            return (min(ends), max(ends))
        if op is a.ISHL or op is a.ISHL_CK:
            x, y = (self.get(v, block) for v in inst.args)
            if y[0] >= 0 and y[1] <= 64:
                ends = [n << d for n in x for d in y]
                return (min(ends), max(ends))
        return None

    @staticmethod
    def divided(op, x, y):
        if y[0] <= 0:
            return None
        if op is a.IMOD:
            return (0, min(y[1] - 1, x[1])) if x[0] >= 0 else (0, y[1] - 1)
        ends = [n // d for n in x for d in y]
        return (min(ends), max(ends))

    @staticmethod
    def bitwise(op, x, y):
        if op is a.IAND:
            tops = [t[1] for t in (x, y) if t[0] >= 0]
            return (0, min(tops)) if tops else None
        if op is a.ISHR:
            if y[0] < 0 or y[1] >= 64:
                return (0, x[1]) if x[0] >= 0 else None
            ends = [n >> d for n in x for d in y]
            return (min(ends), max(ends))
        if op is a.IOR or op is a.IXOR:
            if x[0] < 0 or y[0] < 0:
                return None
            return (max(x[0], y[0]) if op is a.IOR else 0, (1 << max(x[1], y[1]).bit_length()) - 1)
        return None

    def chosen(self, inst, block):
        """The interval of a select: the union of both operands, each under its condition."""
        condition, *sides = inst.args
        found = []
        for v, holds in zip(sides, (True, False)):
            x = self.get(v, block)
            for value, relation, other in self.conditions.of(condition, holds):
                if value is v:
                    x = _met(x, relation, self.of(other) if not isinstance(other, ir.Value) else self.get(other, block))
            found.append(x)
        x, y = found
        return (min(x[0], y[0]), max(x[1], y[1]))

    def item(self, items, top):
        """The union of the intervals of the items of a tuple."""
        made = items.inst
        if made is None or made.op is not control.CONST and made.op is not structure.TUPLE_MAKE:
            return top
        found = [self.get(v) for v in made.args] if made.args else [(n, n) for n in made.attrs.get("value", ())]
        return (min(x[0] for x in found), max(x[1] for x in found)) if found else top

    def converted(self, v, t, block):
        """The interval of a number after conversion to another type: the same one where it fits."""
        top = type_interval(t)
        if not (self.follows(v.type) or v.type is Bool or v.type is NpBool):
            return top
        x = self.get(v, block)
        if isinstance(x[0], float):
            if top is not ANY:
                return top  # casting a number that does not fit, or NaN, does not raise
            return x if v.type is t else _with_room(x[0], x[1], t)
        if top is ANY:
            return _with_room(float(x[0]), float(x[1]), t)
        return x if top[0] <= x[0] and x[1] <= top[1] else top

    def rounded(self, inst, block):
        """Rounding is monotonic, so the ends of the result are the rounded ends."""
        op = inst.op
        if self.loose:
            return ANY
        if op is a.FNEG:
            x = self.get(inst.args[0], block)
            return (-x[1], -x[0])
        if op.traits & ir.ROUNDS:
            x = self.get(inst.args[0], block)
            return (x[0] - 1.0, x[1] + 1.0)
        if op is a.FADD or op is a.FSUB or op is a.FMUL:
            x, y = (self.get(v, block) for v in inst.args)
            if op is a.FMUL:
                ends = [p * q for p in x for q in y]
            elif op is a.FADD:
                ends = [x[0] + y[0], x[1] + y[1]]
            else:
                ends = [x[0] - y[1], x[1] - y[0]]
            if all(abs(n) < INF for n in ends):
                return _with_room(min(ends), max(ends), inst.result.type)
        return ANY

    # ------------------------------------------------------------ uses of the intervals

    def compared(self, inst, block) -> bool | None:
        """The result of a comparison of ints where their intervals decide it, else None."""
        x, y = inst.args
        if x.type is not y.type or x.type is not Int and not isinstance(x.type, NpInt):
            return None
        x, y = (self.get(v, block) for v in inst.args)
        op = inst.op
        if op is a.IEQ or op is a.INE:
            return op is a.INE if x[1] < y[0] or y[1] < x[0] else None
        if op is a.IGT or op is a.ILE:
            x, y = y, x
        less = op is a.ILT or op is a.IGT  # the result where x < y
        return less if x[1] < y[0] else not less if x[0] >= y[1] else None

    def unsigned(self, inst, block) -> bool:
        """Whether the operands are not negative; for a subtraction, also whether the result is not negative."""
        low = [self.get(v, block)[0] for v in inst.args]
        return min(low) >= 0 and (inst.op is not a.ISUB or self.exact(inst, block)[0] >= 0)

    def is_remainder(self, inst, block) -> bool:
        """Whether x % y equals x."""
        x, y = inst.args
        return x.type is Int and self.get(x, block)[0] >= 0 and self.below(x, y, block)

    def fits_short(self, inst, block) -> bool:
        """Whether the operand, a float, is not NaN and its integral part fits in a signed int of 32 bits."""
        x = inst.args[0]
        low, high = self.get(x, block)
        return -2.0**31 <= low and high < 2.0**31 and self.is_number(x, block)

    def is_number(self, x, block, depth: int = 0) -> bool:
        """Whether a float is known not to be NaN: it is computed from ints and constants, with finite intervals."""
        inst = x.inst
        if inst is None or depth > _DEEP * 2:
            return False
        if inst.op is control.CONST:
            return inst.attrs["value"] == inst.attrs["value"]
        if inst.op is a.CAST and _is_whole(inst.args[0].type):
            return True
        low, high = self.get(x, block)
        return (inst.op in _SAFE and -INF < low and high < INF
                and all(self.is_number(v, block, depth + 1) for v in inst.args if v.type is not Bool))

    def flags(self, inst, block) -> str:
        """The flags for the lowering of an operation, which the records of the operations describe."""
        op = inst.op
        x = self.get(inst.args[0], block)
        if op is a.TRUNCATE:
            most = max(-x[0], x[1])
            return "bounded short" if most < 2.0**31 else "bounded" if most < 2.0**63 else ""
        if len(inst.args) != 2:
            return ""
        y = self.get(inst.args[1], block)
        if (inst.args[1].inst or inst).op is control.CONST:
            if op not in _DIVISIONS or inst.args[0].type is not Int or y[0] <= 0:
                return ""
            size, word = y[0], ""
            if op is a.IMOD and -size <= x[0] and x[1] < 2 * size and size & size - 1:  # a power of 2 is a mask
                word = "ring" if x[1] >= size else "ring less"
            return f"{word} nonnegative".strip() if x[0] >= 0 else word
        if op in a.SHIFTS:
            t = inst.args[0].type
            return "bounded" if y[0] >= 0 and y[1] < (64 if t is Int else t.bits) else ""
        if op not in _DIVISIONS or y[0] <= 0 or inst.args[0].type is not Int:
            return ""
        word = self.nearness(inst, block) if op is a.IMOD else ""
        return f"{word} nonnegative".strip() if x[0] >= 0 else word or "positive"

    def nearness(self, inst, block) -> str:
        """A flag for x % y where x is the sum of a small number and a number from 0 to y - 1, as the index of a
        neighbour on a ring; else ""."""
        x, y = inst.args
        made = x.inst
        if made is None or made.op not in a.SUMS or self.exact(made, block)[1] > HIGH:
            return ""
        minus = made.op is a.ISUB or made.op is a.ISUB_CK
        for value, step in (made.args,) if minus else (made.args, made.args[::-1]):
            low, high = self.get(step, block)
            if minus:
                low, high = -high, -low
            if -64 <= low and high <= 64 and self.get(value, block)[0] >= 0 and self.below(value, y, block):
                least = self.get(y, block)[0]
                if self.get(x, block)[0] < -least or high > least:
                    return "near"
                return "ring less" if high <= 0 or self.below(x, y, block) else "ring"
        return ""

    def needless(self, inst, block) -> bool:
        op, args = inst.op, inst.args
        if op is memory.CHECK_INDEX:
            i, n = self.get(args[0], block), self.get(args[1], block)
            if i[0] < 0:
                return False
            inst.attrs = {**inst.attrs, "nonnegative": True}
            if i[1] < _TABLE and _is_cut(args[0]):
                inst.attrs["most"] = i[1]
            return i[1] < n[0] or self.below(args[0], args[1], block)
        if op is a.CHECK_NONZERO:
            if args[0].type is not Int and not isinstance(args[0].type, NpInt):
                return False
            x = self.get(args[0], block)
            return x[0] > 0 or x[1] < 0
        if op is a.CHECK_NONNEG:
            return self.get(args[0], block)[0] >= 0
        if op in _FITTING:
            x, top = self.get(args[0], block), type_interval(inst.result.type)
            return not isinstance(x[0], float) and top[0] <= x[0] and x[1] <= top[1]
        if op is a.IFLOORDIV_CK:
            x, y = (self.get(v, block) for v in args)
            return x[0] > LOW or y[0] > -1 or y[1] < -1
        exact = self.exact(inst, block)
        return exact is not None and LOW <= exact[0] and exact[1] <= HIGH

    def is_brief(self, loop) -> bool:
        """Whether a loop makes at most as many trips as an int has bits: a number that it carries loses a bit in each
        trip, or the distance of two is halved."""
        header = loop.header
        back = [(source, inst, edge) for source, inst, edge in self.edges[header] if source in loop.blocks]
        return self.halves(loop, back) or any(
            all(edge is not inst.unwind and self.loses_bit(p, k, source, inst, edge) for source, inst, edge in back)
            for k, p in enumerate(header.params))

    def loses_bit(self, p, k, source, inst, edge) -> bool:
        value = edge.args[k]
        made = value.inst
        if made is None or p not in made.args:
            return False
        if made.op is a.IAND:
            return bits.clears_lowest(p, value) is not None and self.is_nonzero(value, source, inst, edge)
        if made.op is a.ISHR or made.op is a.IFLOORDIV or made.op is a.IFLOORDIV_CK:
            by = self.get(made.args[1])
            least = 1 if made.op is a.ISHR else 2
            low = self.arriving(value, source, inst, edge)[0]
            return made.args[0] is p and by[0] >= least and (
                low > 0 or low == 0 and self.is_nonzero(value, source, inst, edge))
        return False

    def halves(self, loop, back) -> bool:
        """Whether a loop is a binary search: it continues with one half of the interval between two ints."""
        header = loop.header
        for block in loop.blocks:
            for inst in block.insts:
                total = self.half_of(inst)
                if total is None or total.op is not a.IADD or total.attrs.get("flags") != "nuw nsw":
                    continue
                for p, q in (total.args, total.args[::-1]):
                    if p in header.params and q in header.params and self.below(p, q, block):
                        low, high = header.params.index(p), header.params.index(q)
                        return all(edge is not inst.unwind and self.is_half(
                            edge.args[low], edge.args[high], p, q, total, loop, _DEEP) for _, inst, edge in back)
        return False

    def half_of(self, inst):
        """The instruction whose result `inst` divides by two, or None."""
        by = {a.ISHR: 1, a.IFLOORDIV: 2}.get(inst.op)
        if by is None or self.defs.constant(inst.args[1]) != by:
            return None
        return inst.args[0].inst

    def is_half(self, low, high, p, q, total, loop, depth) -> bool:
        """Whether (low, high) is p and a value up to the mean of p and q, or a value above that mean and q."""
        defs = self.defs

        def is_mean(v):
            made = v.inst
            return made is not None and self.half_of(made) is total

        made, lowered = low.inst, high.inst
        if high is q and made is not None and made.op is a.IADD and is_mean(made.args[0]):
            return (defs.constant(made.args[1]) or 0) > 0
        if low is p and is_mean(high):
            return True
        if low is p and lowered is not None and lowered.op in (a.ISUB, a.IADD) and is_mean(lowered.args[0]):
            step = defs.constant(lowered.args[1])
            return step is not None and (step >= 0 if lowered.op is a.ISUB else step <= 0)
        home = next((defs.block_of[v] for v, inst in ((low, made), (high, lowered)) if inst is None), None)
        if not depth or home is None or home is loop.header or home not in loop.blocks:
            return False

        def handed(v, edge):
            return edge.args[home.params.index(v)] if v in home.params else v

        return all(edge is not inst.unwind and self.is_half(
            handed(low, edge), handed(high, edge), p, q, total, loop, depth - 1) for _, inst, edge in self.edges[home])

    def is_nonzero(self, v, source, inst, edge) -> bool:
        """Whether the value that an edge passes on is known not to be 0."""
        low, high = self.arriving(v, source, inst, edge)
        found = [] if inst.unwind is edge else self.conditions.on(inst, edge)
        facts = [(relation, other) for value, relation, other in found if value is v]
        facts += self.conditions.facts(v, source)
        return low > 0 or high < 0 or any(relation is a.INE and self.of(other) == (0, 0) for relation, other in facts)


def _is_cut(v) -> bool:
    """Whether a value is a mask, a shift or a remainder, and so perhaps made for a table of just as many elements."""
    while v.inst is not None and v.inst.op is a.CAST:
        v = v.inst.args[0]
    return v.inst is not None and v.inst.op in (a.IAND, a.ISHR, a.IMOD)


def _with_room(low, high, t):
    """An interval of doubles converted to a float type, widened by its rounding errors."""
    if t is Float or t.bits >= 64:
        return (low, high)
    if max(-low, high) > (1e38 if t.bits == 32 else 6e4):
        return ANY
    return (low - abs(low) * 0.001 - 1e-7, high + abs(high) * 0.001 + 1e-7)
