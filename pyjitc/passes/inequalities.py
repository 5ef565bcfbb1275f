"""Prove that one integer is below another wherever control reaches a block, over sums, selects and loops.

Called by ranges for indices whose intervals do not decide it: `a[j]` where j comes down from i - 1 and i runs up to
len(a), or `a[mid]` where mid is half of lo + hi. A parameter of a block is below a limit if the arguments of all
incoming edges are; for a back edge the proof may assume it of the last trip (induction). Source: Bodik, Gupta, Sarkar,
"ABCD" (2000), with intervals for constants, and without the inequality graph.
"""
from __future__ import annotations

from ..ir.core import SELECTS, Block, Value
from ..ops import arith as a
from ..ops import memory, structure
from ..ops.control import CONST
from ..types.kinds import Int, NpInt
from .counted import Affine, affine, trips_of

__all__ = ["Below"]

_BUDGET = 60  # the most steps of one proof
_WIDE = 1 << 62  # the sum of two numbers below it fits in 64 bits


class Below:
    """Callable: (value, limit, constant, block) -> whether value + constant < limit."""

    def __init__(self, ranges):
        self.ranges = ranges
        self.forms: dict = {}

    def __call__(self, v: Value, limit: Value, c: int, block: Block) -> bool:
        self.left = _BUDGET
        self.asked: set = set()
        return self.holds(v, limit, c, block, (), {}) or self.sum_below(v, limit, c, block)

    def holds(self, v, limit, c, block, given, supposed) -> bool:
        """Prove v + c < limit. given: facts that hold on the edge under examination, which leaves `block`; supposed:
        (value, limit) -> constant, the assumptions of the induction."""
        self.left -= 1
        if self.left < 0:
            return False
        if v is limit:
            return c < 0
        ranges = self.ranges
        if ranges.get(v, block)[1] + c < ranges.get(limit, block)[0]:
            return True
        before = supposed.get((v, limit))
        if before is not None:
            return c <= before
        asked = v, limit, c
        if asked in self.asked:
            return False
        self.asked.add(asked)
        try:
            return self.follows(v, limit, c, block, given, supposed)
        finally:
            self.asked.remove(asked)

    def follows(self, v, limit, c, block, given, supposed) -> bool:
        """Prove v + c < limit from branches, from the instruction that defines v, or from the edges into its block."""
        ranges = self.ranges
        facts = [(relation, other) for value, relation, other in given if value is v]
        for relation, other in (*facts, *ranges.conditions.facts(v, block)):
            if relation in (a.ILT, a.ILE, a.IEQ) and isinstance(other, Value) and self.holds(
                    other, limit, c - (relation is a.ILT), block, given, supposed):
                return True
        made = v.inst
        if made is not None:
            return self.made_below(made, limit, c, block, given, supposed)
        given_by_caller = ranges.defs.block_of.get(v) in (None, ranges.fn.entry)
        return not given_by_caller and self.handed_below(v, limit, c, block, supposed)

    def made_below(self, made, limit, c, block, given, supposed) -> bool:
        op, args, get = made.op, made.args, self.ranges.get

        def below(v, c):
            return self.holds(v, limit, c, block, given, supposed)

        if op in (a.IADD, a.IADD_CK, a.ISUB, a.ISUB_CK):
            exact = self.ranges.exact(made, block)
            fits = a.INT_MIN <= exact[0] <= exact[1] <= a.INT_MAX
            if made.result.type is not Int or not fits and op in (a.IADD, a.ISUB) and "flags" not in made.attrs:
                return False
            x, y = args
            if op is a.ISUB or op is a.ISUB_CK:
                return below(x, c - get(y, block)[0])
            return below(x, c + get(y, block)[1]) or below(y, c + get(x, block)[1])
        if op is a.ISHR or op is a.IFLOORDIV or op is a.IFLOORDIV_CK:
            by = get(args[1], block)
            if by[0] < (0 if op is a.ISHR else 1) or get(args[0], block)[0] < 0:
                return False
            total = args[0].inst
            if by[0] >= (1 if op is a.ISHR else 2) and total is not None and total.op in (a.IADD, a.IADD_CK):
                p, q = total.args
                return self.half_below(p, q, limit, c, block, given, supposed) or below(args[0], c)
            return below(args[0], c)
        if op is a.IMOD:
            return get(args[1], block)[0] > 0 and below(args[1], c - 1)
        if op is memory.CHECK_INDEX:
            return below(args[1], c - 1)
        if op.traits & SELECTS:
            return below(args[1], c) and below(args[2], c) or self.least_below(made, below, c)
        if op in (a.CAST, a.FIT, a.NARROW, structure.RETYPE, a.CHECK_NONNEG, a.CHECK_NONZERO):
            source, t = args[0], made.result.type
            if all(x is Int or isinstance(x, NpInt) for x in (source.type, t)):
                low, high = get(source, block)
                least, most = self.ranges.top(t)
                return (op in (a.FIT, a.NARROW) or least <= low and high <= most) and below(source, c)
        return False

    def half_below(self, x, y, limit, c, block, given, supposed) -> bool:
        """Prove it for (x + y) // 2, where the sum does not wrap and is not negative: it is at most the larger operand,
        and less than that where they differ."""
        for low, high in ((x, y), (y, x)):
            for lead in (0, -1):
                if self.holds(low, high, lead, block, given, supposed):
                    if self.holds(high, limit, c - 1 - lead, block, given, supposed):
                        return True
                    break
        return False

    def least_below(self, made, below, c) -> bool:
        """Prove it for a select that computes min(x, y): a proof for one of the operands is enough."""
        condition, x, y = made.args
        facts = self.ranges.conditions.of(condition, True)
        smaller = {value: other for value, relation, other in facts if relation in (a.ILT, a.ILE)}
        if smaller.get(x) is y:
            return below(x, c) or below(y, c)
        return False

    def sum_below(self, v, limit, c, block) -> bool:
        """Prove it for a sum, or for a counter whose last value is a sum, by combining several conditions: text[i + k]
        where i < len(text) - len(word) + 1 and k < len(word)."""
        if v.type is not Int or limit.type is not Int:
            return False
        made = v.inst
        if made is None and v not in self.ranges.counters or made is not None and (
                made.op not in a.SUMS or any(x.inst is not None and x.inst.op is CONST for x in made.args)):
            return False
        self.left = _BUDGET
        form = self.sum_of(v, block, 4).plus(self.sum_of(limit, block, 4), -1)
        return self.is_negative(form.plus(Affine(c, {}), 1), block, 4)

    def sum_of(self, v, block, depth) -> Affine:
        """A value as an affine form over the operands of sums that do not wrap."""
        constant, made = self.ranges.defs.constant(v), v.inst
        if constant is not None:
            return Affine(constant, {})
        if depth and made is not None and made.op in a.SUMS and made.result.type is Int:
            low, high = self.ranges.exact(made, block)
            if (made.op is a.IADD_CK or made.op is a.ISUB_CK or "nsw" in made.attrs.get("flags", "")
                    or a.INT_MIN <= low and high <= a.INT_MAX):
                x, y = (self.sum_of(x, block, depth - 1) for x in made.args)
                return x.plus(y, 1 if made.op is a.IADD or made.op is a.IADD_CK else -1)
        return Affine(0, {v: 1})

    def is_negative(self, form, block, depth) -> bool:
        """Prove that an affine form is negative: by the intervals of its values, or after replacing one value by an
        upper bound of it (a lower bound where its coefficient is negative)."""
        self.left -= 1
        if self.left < 0 or len(form.terms) > 4:
            return False
        intervals = {v: self.ranges.get(v, block) for v in form.terms}
        if form.constant + sum(n * intervals[v][n > 0] for v, n in form.terms.items()) < 0:
            return True
        if not depth:
            return False
        for v, n in form.terms.items():
            if abs(n) == 1:
                rest = form.plus(Affine(0, {v: n}), -1)
                for bound in self.bounds(v, n > 0, block):
                    if self.is_negative(rest.plus(bound, n), block, depth - 1):
                        return True
        return False

    def bounds(self, v, most, block):
        """Iterate over affine forms that are upper bounds of a value; lower bounds where not `most`."""
        ranges = self.ranges
        counter = ranges.counters.get(v)
        if most and counter is not None and counter[1] == 1 and block in ranges.inside[v]:
            counted = counter[0]
            start, trips = counted.start[v], trips_of(counted, ranges.defs)
            if ranges.get(start)[0] >= 0 and (not ranges.wrap or ranges.defs.constant(start) is not None):
                begin, length = (self.sum_of(x, counted.loop.header, 4) for x in (start, trips))
                yield begin.plus(length, 1).plus(Affine(1, {}), -1)
        strict, equal = (a.ILT, (a.ILE, a.IEQ)) if most else (a.IGT, (a.IGE, a.IEQ))
        for relation, other in ranges.conditions.facts(v, block):
            if isinstance(other, Value) and (relation is strict or relation in equal):
                bound = self.sum_of(other, block, 4)
                yield bound.plus(Affine(1, {}), -1 if most else 1) if relation is strict else bound

    def handed_below(self, p, limit, c, block, supposed) -> bool:
        """Prove it for a parameter of a block: for the argument of each incoming edge."""
        ranges = self.ranges
        home = ranges.defs.block_of[p]
        counter = ranges.counters.get(p)
        if counter is not None and block in ranges.inside[p]:
            if counter[1] == 1 and self.counted_below(p, counter[0], limit, c, supposed):
                return True
        k = home.params.index(p)
        paired = limit in home.params
        if not paired and not self.outlives(limit, home):
            return False
        supposed = {**supposed, (p, limit): c}
        at = home.params.index(limit) if paired else None
        for source, inst, edge in ranges.edges[home]:
            v = edge.args[k]
            of = limit if at is None else edge.args[at]
            if v is p and of is limit:
                continue
            given = ranges.conditions.on(inst, edge) if edge is not inst.unwind else ()
            if not self.holds(v, of, c, source, given, supposed):
                return False
        return True

    def outlives(self, limit, home) -> bool:
        """Whether a value is defined before a block is entered, and therefore invariant in a loop whose header the
        block is."""
        made = self.ranges.defs.block_of.get(limit)
        return made is None or made is not home and self.ranges.nest.dom.dominates(made, home)

    def counted_below(self, p, counted, limit, c, supposed) -> bool:
        """Prove it for a counter with step one: inside its loop it is at most start + trips - 1."""
        ranges = self.ranges
        start, trips = counted.start[p], counted.start[counted.left]
        chosen = trips.inst
        if chosen is not None and chosen.op is structure.SELECT and ranges.defs.constant(chosen.args[2]) == 0:
            trips = chosen.args[1]  # the other operand of the select means no trip
        first = ranges.get(start)
        if ranges.wrap and ranges.defs.constant(start) is None or first[0] < -_WIDE:
            return False
        everywhere = ranges.everywhere
        begin = affine(start, ranges.defs, everywhere, self.forms)
        end = affine(trips, ranges.defs, everywhere, self.forms).plus(begin, 1)
        if len(end.terms) != 1 or abs(end.constant) > _WIDE:
            return False
        ((m, coefficient),) = end.terms.items()
        if coefficient != 1 or not (first[0] >= 0 or ranges.get(m)[1] <= _WIDE):
            return False
        return self.holds(m, limit, c + end.constant - 1, counted.loop.header, (), supposed)
