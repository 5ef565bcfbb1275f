"""Intervals of 64-bit ints: checks that cannot fail become the plain operation, and LLVM is told that it does not wrap.

Runs after simplify and hoisting. Starts from what every value may be and narrows in a few rounds, so every state is
sound: array extents are below 2**60, remainders below the divisor, loop counters between their ends. Comparisons that this decides
become constants.
Before:  n = array_dim a ; m = isub_ck n, 1 ; j = check_index i, n
After:   m = isub {nsw} n, 1 ; j = check_index {nonnegative} i, n
Needs: SSA.  Keeps: everything else.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ops import arith as a
from ..ops import control, memory, structure
from ..types.kinds import Bool, Int, NpBool, NpInt, uint64
from .counted import Definitions, affine, find
from .rewrite import substitute

__all__ = ["run"]

LOW, HIGH = -(1 << 63), (1 << 63) - 1
FULL = (LOW, HIGH)
_WRAPPING = {a.IADD_CK: a.IADD, a.ISUB_CK: a.ISUB, a.IMUL_CK: a.IMUL, a.INEG_CK: a.INEG, a.IFLOORDIV_CK: a.IFLOORDIV}
_COMPARISONS = {a.IEQ, a.INE, a.ILT, a.ILE, a.IGT, a.IGE}
_FLAGGED = {a.IADD, a.ISUB, a.IMUL}
_FITTING = {a.FIT, a.NARROW}
_TARGETS = {*_WRAPPING, *_FITTING, memory.CHECK_INDEX, a.CHECK_NONZERO, a.CHECK_NONNEG}
_ROUNDS = 3
_STEPS = 1 << 58  # no program adds more often: years of nothing else


def run(fn: ir.Function, options=None) -> None:
    if not any(i.op in _TARGETS or i.op.bounds and i.op is not memory.ARRAY_DIM for b in fn.blocks for i in b.insts):
        return
    _Ranges(fn, options is not None and options.overflow == "wrap").run()


def _of_type(t) -> tuple[int, int]:
    """Interval of all values of a type; of uint64 as of the bits read as an int."""
    if isinstance(t, NpInt) and t.bits < 64:
        return (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, (1 << t.bits) - 1)
    return (0, 1) if t is Bool or t is NpBool else FULL


class _Ranges:
    def __init__(self, fn, wrap):
        self.fn = fn
        self.wrap = wrap  # whether sums of the program may wrap
        self.known: dict[ir.Value, tuple[int, int]] = {}
        nest = LoopNest(fn)
        self.order = nest.dom.order
        self.edges = in_edges(fn.blocks)
        defs = self.defs = Definitions(fn)
        self.webs: dict[ir.Value, tuple[int, int]] = {}
        self.everywhere = set(fn.blocks)
        self.forms: dict = {}
        self.counters = {}  # parameter -> (Counted, step)
        self.inside: dict[ir.Value, set] = {}
        for loop in nest.loops:
            counted = find(loop, defs, self.edges)
            if counted is not None:
                for p, step in counted.steps.items():
                    self.counters[p] = (counted, step)
                    self.inside[p] = loop.blocks - {loop.header}

    def run(self):
        for _ in range(_ROUNDS):
            before = dict(self.known)
            for block in self.order:
                for k, p in enumerate(block.params):
                    if p.type is Int and block is not self.fn.entry:
                        self.set(p, self.parameter(p, [e.args[k] for _, _, e in self.edges[block]]))
                for inst in block.insts:
                    r = inst.result
                    if r is not None and (r.type is Int or isinstance(r.type, NpInt)):
                        self.set(r, self.result(inst, block))
            if before == self.known:
                break
        mapping = {}
        for block in self.order:
            kept = []
            for inst in block.insts:
                if inst.op in _TARGETS and self.needless(inst, block):
                    if inst.op in _WRAPPING:
                        inst.op = _WRAPPING[inst.op]
                        inst.unwind = None
                        inst.attrs = {"flags": "nsw"} if inst.op in _FLAGGED else {}
                    elif inst.op in _FITTING:
                        inst.op, inst.unwind, inst.attrs = a.CAST, None, {"type": inst.result.type}
                    else:
                        mapping[inst.result] = inst.args[0]
                        continue
                if inst.attrs.get("flags") == "nsw" and self.unsigned(inst, block):
                    inst.attrs = {"flags": "nuw nsw"}
                if inst.op in _COMPARISONS and (known := self.compared(inst, block)) is not None:
                    inst.op, inst.args, inst.attrs = control.CONST, [], {"value": known}
                kept.append(inst)
            block.insts = kept
        substitute(self.order, mapping)

    def compared(self, inst, block) -> bool | None:
        """What a comparison of ints gives, where their intervals say it."""
        if any(v.type is not Int for v in inst.args):
            return None
        x, y = (self.get(v, block) for v in inst.args)
        op = inst.op
        if op is a.IEQ or op is a.INE:
            return op is a.INE if x[1] < y[0] or y[1] < x[0] else None
        if op is a.IGT or op is a.ILE:
            x, y = y, x
        less = op is a.ILT or op is a.IGT  # what it gives where x < y
        return less if x[1] < y[0] else not less if x[0] >= y[1] else None

    def unsigned(self, inst, block) -> bool:
        """Whether operands, and the result where it is that of a subtraction, are not negative."""
        low = [self.get(v, block)[0] for v in inst.args]
        return min(low) >= 0 and (inst.op is not a.ISUB or self.exact(inst, block)[0] >= 0)

    def set(self, v, interval):
        old = self.known.get(v) or _of_type(v.type)
        self.known[v] = (max(old[0], interval[0]), min(old[1], interval[1]))

    def get(self, v, block=None):
        """Interval of `v`, at `block`: inside its loop a counter has not taken its last step."""
        found = self.known.get(v)
        if found is None:
            return _of_type(v.type)
        counter = self.counters.get(v)
        if counter is not None and block in self.inside[v]:
            return self.counting(v, *counter, -1)
        return found

    def counting(self, p, counted, step, more):
        """Interval of a counter over `trips + more` steps: a range ends where 64 bits do, and what goes beyond raises, unless the program
        lets it wrap."""
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
        """Whether the additions say of themselves that they do not wrap."""
        k = loop.header.params.index(p)
        return all("flags" in self.defs.inst_of[e.args[k]].attrs for source, _, e in self.edges[loop.header] if source in loop.blocks)

    def parameter(self, p, args):
        counter = self.counters.get(p)
        if counter is not None:
            return self.counting(p, *counter, 0)
        low, high = HIGH, LOW
        for v in args:
            if v is p:
                continue
            x = self.get(v)
            low, high = min(low, x[0]), max(high, x[1])
        if low > high:
            return FULL
        if (low, high) == FULL or p in self.webs:
            found = self.web(p)
            if found is not None:
                return (max(low, found[0]), min(high, found[1]))
        return (low, high)

    def web(self, p):
        """Interval of a sum that only small constants are added to, wherever they are added: what enters it from outside, and
        what `_STEPS` additions can make of that. None where other operations take part."""
        members: dict[ir.Value, None] = {}
        low, high, up, down = HIGH, LOW, 0, 0
        work = [p]
        while work:
            v = work.pop()
            if v in members:
                continue
            if len(members) > 80:
                return None
            inst = self.defs.inst_of.get(v)
            if inst is None:
                block = self.defs.block_of.get(v)
                if block is None or block is self.fn.entry:
                    outside = self.get(v)
                else:
                    members[v] = None
                    k = block.params.index(v)
                    work += [e.args[k] for _, _, e in self.edges[block]]
                    continue
            elif inst.op in (a.IADD, a.IADD_CK, a.ISUB, a.ISUB_CK) and v.type is Int:
                step = self.get(inst.args[1])
                if step[0] < -16 or step[1] > 16:
                    outside = self.get(v)
                else:
                    members[v] = None
                    if inst.op is a.ISUB or inst.op is a.ISUB_CK:
                        step = (-step[1], -step[0])
                    up, down = max(up, step[1]), min(down, step[0])
                    work.append(inst.args[0])
                    continue
            elif inst.op is structure.SELECT:
                members[v] = None
                work += inst.args[1:]
                continue
            else:
                outside = self.get(v)
            low, high = min(low, outside[0]), max(high, outside[1])
        if low > high:
            return None
        low, high = low + down * _STEPS, high + up * _STEPS
        if low < LOW or high > HIGH:
            return None
        self.webs[p] = (low, high)
        return low, high

    def result(self, inst, block):
        op, args = inst.op, inst.args
        if op is control.CONST:
            value = a.wrap(int(inst.attrs["value"]))
            return (value, value)
        if op.bounds:
            return op.bounds
        if op is memory.CHECK_INDEX:
            return (0, max(self.get(args[1], block)[1] - 1, 0))
        exact = self.exact(inst, block)
        if exact is not None:
            if op in _WRAPPING:
                return (max(exact[0], LOW), min(exact[1], HIGH))  # what does not fit has raised
            limits = _of_type(inst.result.type)
            fits = limits[0] <= exact[0] and exact[1] <= limits[1] and inst.result.type is not uint64
            return exact if fits else limits
        if op is a.IMOD:
            x, y = self.get(args[0], block), self.get(args[1], block)
            if y[0] > 0:
                return (0, min(y[1] - 1, x[1]) if x[0] >= 0 else y[1] - 1)
        elif op is a.IFLOORDIV or op is a.IFLOORDIV_CK:
            x, y = self.get(args[0], block), self.get(args[1], block)
            if y[0] > 0 and (x[0] >= 0 or inst.result.type is not uint64):
                ends = [n // d for n in x for d in y]
                return (min(ends), max(ends))
        elif op is a.IAND:
            x, y = self.get(args[0], block), self.get(args[1], block)
            tops = [t[1] for t in (x, y) if t[0] >= 0]
            if tops:
                return (0, min(tops))
        elif op is a.ISHR:
            x, y = self.get(args[0], block), self.get(args[1], block)
            if y[0] >= 0 and y[1] < 64 and (x[0] >= 0 or inst.result.type is not uint64):
                ends = [n >> d for n in x for d in y]
                return (min(ends), max(ends))
        elif op is structure.SELECT:
            x, y = self.get(args[1], block), self.get(args[2], block)
            return (min(x[0], y[0]), max(x[1], y[1]))
        elif op is a.CAST or op is structure.RETYPE or op is a.CHECK_NONZERO or op is a.CHECK_NONNEG:
            if args[0].type is Int or isinstance(args[0].type, NpInt) or args[0].type is Bool or args[0].type is NpBool:
                x, limits = self.get(args[0], block), _of_type(inst.result.type)
                if limits[0] <= x[0] and x[1] <= limits[1]:
                    return x
        elif op in _FITTING and (args[0].type is Int or isinstance(args[0].type, NpInt)) and \
                uint64 not in (args[0].type, inst.result.type):
            x, limits = self.get(args[0], block), _of_type(inst.result.type)
            return (max(x[0], limits[0]), min(x[1], limits[1])) if x[0] <= limits[1] and limits[0] <= x[1] else limits
        return FULL

    def exact(self, inst, block):
        """The interval of the mathematical result of an addition, subtraction, multiplication or negation, else None."""
        op = inst.op
        if op is a.INEG or op is a.INEG_CK:
            x = self.get(inst.args[0], block)
            return (-x[1], -x[0])
        if op not in (a.IADD, a.IADD_CK, a.ISUB, a.ISUB_CK, a.IMUL, a.IMUL_CK):
            return None
        x, y = (self.get(v, block) for v in inst.args)
        if op is a.IADD or op is a.IADD_CK:
            return (x[0] + y[0], x[1] + y[1])
        if op is a.ISUB or op is a.ISUB_CK:
            return (x[0] - y[1], x[1] - y[0])
        ends = [p * q for p in x for q in y]
        return (min(ends), max(ends))

    def follows(self, inst, block) -> bool:
        """Whether the bounds of the loop say that an index is in range: a[i + k] for i in range(s, len(a) + c)."""
        everywhere = self.everywhere
        form = affine(inst.args[0], self.defs, everywhere, self.forms)
        if len(form.terms) != 1:
            return False
        ((p, coefficient),) = form.terms.items()
        counter = self.counters.get(p)
        if counter is None or coefficient != 1 or counter[1] != 1 or block not in self.inside[p]:
            return False
        counted = counter[0]
        start = self.defs.constant(counted.start[p])
        trips = counted.start[counted.left]
        chosen = self.defs.inst_of.get(trips)
        if chosen is not None and chosen.op is structure.SELECT and self.defs.constant(chosen.args[2]) == 0:
            trips = chosen.args[1]  # no iteration runs where the other one is taken
        length = affine(trips, self.defs, everywhere, self.forms)
        if start is None or length.terms != {inst.args[1]: 1}:
            return False
        return start + form.constant >= 0 and start + length.constant + form.constant <= 0

    def needless(self, inst, block) -> bool:
        op, args = inst.op, inst.args
        if op is memory.CHECK_INDEX:
            i, n = self.get(args[0], block), self.get(args[1], block)
            if i[0] >= 0:
                inst.attrs = {**inst.attrs, "nonnegative": True}
                if i[1] < n[0]:
                    return True
            return self.follows(inst, block)
        if op is a.CHECK_NONZERO:
            if args[0].type is not Int and not isinstance(args[0].type, NpInt):
                return False
            x = self.get(args[0], block)
            return x[0] > 0 or x[1] < 0
        if op is a.CHECK_NONNEG:
            return self.get(args[0], block)[0] >= 0
        if op in _FITTING:
            if args[0].type is not Int and not isinstance(args[0].type, NpInt) or args[0].type is uint64:
                return False
            x, limits = self.get(args[0], block), _of_type(inst.result.type)
            return x[0] >= 0 if inst.result.type is uint64 else limits[0] <= x[0] and x[1] <= limits[1]
        if op is a.IFLOORDIV_CK:
            x, y = (self.get(v, block) for v in args)
            return x[0] > LOW or y[0] > -1 or y[1] < -1
        exact = self.exact(inst, block)
        return exact is not None and LOW <= exact[0] and exact[1] <= HIGH
