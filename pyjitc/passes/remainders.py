"""Count remainders and quotients along with the counter of a loop, which would divide in every trip.

Runs after ranges, which finds the signs and the remainders with a faster form (flag `ring`); after parallel, whose
loops must not carry values across iterations; and before versioning. In each trip `i % n` is one more than in the trip
before, or 0 again, and then `i // n` is one more, too. A loop that carries these values cannot be vectorised, but nor
can one that divides by a number that is not constant.
Before:  head(i, left): ... q = ifloordiv i, n ; r = imod i, n
After:   r0 = imod start, n ; q0 = ifloordiv start, n
         head(i, left, r, q): s = iadd r, 1 ; last = ieq s, n ; next = select last, zero, s ; u = iadd q, 1 ; ...
         back edge: i + 1, left - 1, next, select last, u, q
Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..base.options import Options
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops.arith import CHECK_NONZERO, IADD, IEQ, IFLOORDIV, IGT, IMOD, IMUL
from ..ops.structure import SELECT
from ..types.kinds import Int
from .counted import Definitions, affine, find, step_of
from .rewrite import Builder, split_edge, substitute

__all__ = ["run"]


def run(fn: ir.Function, options=Options()) -> None:
    nest = LoopNest(fn)
    if not nest.loops:
        return
    defs, edges = Definitions(fn), in_edges(fn.blocks)
    groups: dict[tuple, list[_Division]] = {}
    for loop in nest.loops:
        entries = loop.entries(edges)
        if len(entries) != 1 or entries[0][2] is entries[0][1].unwind:
            continue
        memo: dict = {}
        for block in loop.blocks:
            if nest.of[block] is loop and all(nest.dom.dominates(block, latch) for latch in loop.latches):
                for inst in block.insts:
                    if inst.op is IMOD or inst.op is IFLOORDIV:
                        found = _division(inst, loop, defs, edges, memo, options)
                        if found is not None:
                            groups.setdefault((loop, found.divisor, found.step, frozenset(found.form.terms.items())),
                                              []).append(found)
    replaced: dict[ir.Value, ir.Value] = {}
    before: dict[ir.Block, ir.Block] = {}  # header -> a new block before it
    for (loop, *_), found in groups.items():
        header = loop.header
        if header not in before:
            before[header] = split_edge(loop.entries(edges)[0][2], "divide")
        back = [edge for source, _, edge in edges[header] if source in loop.blocks]
        _count(header, before[header], back, found, replaced)
    if replaced:
        fn.blocks = reverse_postorder(fn)
        for block in fn.blocks:
            block.insts = [i for i in block.insts if i.result not in replaced]
        substitute(fn.blocks, replaced)


class _Division:
    """inst: the instruction that divides; counter: the header's parameter in its dividend; form: the dividend as an
    affine form; divisor: a value from outside of the loop; step: 1 or -1, by which the dividend changes in each
    trip."""

    def __init__(self, inst, counter, form, divisor, step):
        self.inst, self.counter, self.form, self.divisor, self.step = inst, counter, form, divisor, step

    @property
    def positive(self) -> bool:
        """Whether the divisor is known to be positive."""
        flags = self.inst.attrs.get("flags", "").split()
        return "positive" in flags or "nonnegative" in flags


def _division(inst, loop, defs, edges, memo, options):
    """The division as `_count` needs it, or None where the instruction must not be changed."""
    x, divisor = inst.args
    flags = inst.attrs.get("flags", "")
    if inst.result.type is not Int or "ring" in flags:
        return None
    if divisor.inst is not None and divisor.inst.op is CHECK_NONZERO and defs.block_of[divisor] in loop.blocks:
        divisor = divisor.inst.args[0]
    if defs.block_of[divisor] in loop.blocks or defs.constant(divisor) is not None:
        return None  # LLVM multiplies instead of dividing by a constant
    form = affine(x, defs, loop.blocks, memo)
    counters = [v for v in form.terms if defs.block_of.get(v) in loop.blocks]
    if len(counters) != 1 or counters[0] not in loop.header.params:
        return None
    counter = counters[0]
    step = form.terms[counter] * (step_of(loop, edges, counter, defs) or 0)
    if abs(step) != 1:
        return None
    if options.overflow != "raise" and (x is not counter or find(loop, defs, edges) is None):
        return None  # the sum may wrap
    return _Division(inst, counter, form, divisor, step)


def _count(header, before, back, found, replaced) -> None:
    """Replace divisions by parameters of the loop. found: divisions by one divisor whose dividends differ only by
    constants; back: the back edges."""
    loc, entry = found[0].inst.loc, before.insts[-1].targets[0]
    # the header may be left by an exception that is caught in the loop, so what its next trip needs comes first in it
    b, h = Builder(before.insts, loc, before_last=True), Builder([], loc)

    def parameter(first, name):
        p = ir.Value(Int, name)
        header.params.append(p)
        entry.args.append(first)
        return p

    def at_first(form):
        """The value of a form when the loop is entered."""
        total = b.const(Int, form.constant) if form.constant else None
        for v, c in form.terms.items():
            if v is found[0].counter:
                v = entry.args[header.params.index(v)]
            one = v if c == 1 else b.int(IMUL, v, b.const(Int, c))
            total = one if total is None else b.int(IADD, total, one)
        return total

    divisor, step = found[0].divisor, found[0].step
    zero, one = b.const(Int, 0), b.const(Int, step)
    change = one  # by how much a quotient changes where its remainder starts again
    limit, again = (divisor, zero) if step > 0 else (one, b.int(IADD, divisor, one))
    if not any(d.positive for d in found):  # remainders of a negative number are negative
        positive = b.test(IGT, divisor, zero)
        limit = b.int(SELECT, positive, limit, one if step > 0 else divisor)
        again = b.int(SELECT, positive, again, b.int(IADD, divisor, one) if step > 0 else zero)
        if any(d.inst.op is IFLOORDIV for d in found):
            change = b.int(SELECT, positive, one, b.const(Int, -step))
    after: dict[int, ir.Value] = {}  # constant of the dividend -> its remainder in the next trip
    wanted: dict[int, list[_Division]] = {}
    for division in found:
        wanted.setdefault(division.form.constant, []).append(division)
    for constant in sorted(wanted, reverse=step < 0):
        remainders = [d for d in wanted[constant] if d.inst.op is IMOD]
        quotients = [d for d in wanted[constant] if d.inst.op is IFLOORDIV]
        remainder = after.get(constant) if not quotients else None
        if remainder is None:
            start = at_first(wanted[constant][0].form)  # here the divisor may still be 0
            remainder = parameter(b.int(IMOD, start, divisor), "remainder")
            quotient = parameter(b.int(IFLOORDIV, start, divisor), "quotient") if quotients else None
            following = h.int(IADD, remainder, one)
            last = h.test(IEQ, following, limit)
            passed = [h.int(SELECT, last, again, following)]
            if quotients:
                passed.append(h.int(SELECT, last, h.int(IADD, quotient, change), quotient))
            after[constant + step] = passed[0]
            for edge in back:
                edge.args += passed
            replaced.update((d.inst.result, quotient) for d in quotients)
        replaced.update((d.inst.result, remainder) for d in remainders)
    header.insts[:0] = h.insts
