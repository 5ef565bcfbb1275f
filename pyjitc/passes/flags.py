"""Rewrite the flags of duals (types/kinds.py) so that LLVM vectorises the loops that carry them.

1. The flag of a running extreme becomes a comparison. In `best = max(best, x)`, which starts with the constant c, every
value that replaces c is greater, so the flag, which says that `best` is still the constant, equals `best == c`. LLVM
vectorises the reduction to an extreme, but not one that carries a flag.
Before:  header(best = c, flag = true): ... more = igt x, best ; next = select more, x, best ; f = select more, g, flag
         ... flag       where g is false, or says that x is a constant which is not more than c
After:   header(best = c): ... next = select more, x, best ... ieq best, c
2. A flag that a branch clears is computed by arithmetic before the branch. Flags are cleared where a number is added
under a condition. LLVM vectorises a loop with such a flag if it is arithmetic, but not if it depends on control flow.
Before:  branch c -> add, on(flag)      add: ... ; jump on(false)
After:   n = bnot c ; f = band flag, n ; branch c -> add, on(f)      add: ... ; jump on(f)
3. A flag that every iteration sets to the same constant says behind the loop only whether there was an iteration. As a
value that the loop carries it would keep `joined_sums.py` from the sums of rows.
Before:  header(left = n, flag = true): ... jump header(left - 1, false)                           ... flag
After:   f = ile n, 0 ; header(left = n): ... jump header(left - 1)                                ... f
Runs after the passes that copy loops. Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges
from ..ir.uses import substitute
from ..ops import control
from ..ops.arith import BAND, BNOT, BOR, CAST, FEQ, FGT, FLT, IEQ, IGT, ILE, ILT
from ..types.kinds import Bool, Int, NpBool, is_float, is_integer
from . import dce
from .counted import Counted, Definitions, find
from .rewrite import Builder

__all__ = ["run"]

_MORE = {IGT: True, FGT: True, ILT: False, FLT: False}  # comparison that holds -> whether the first operand is larger
_DEEPEST = 8  # conditions that hold on an edge


def run(fn: ir.Function, options=None) -> None:
    known = {i.result: i.attrs["value"] for block in fn.blocks for i in block.insts
             if i.op is control.CONST and i.result.type is Bool}
    edges = in_edges(fn.blocks)
    _compare_extremes(fn, known, edges)
    _ask_for_trips(fn, known, edges)
    for block in fn.blocks:
        branch = block.insts[-1]
        if branch.op is control.BRANCH:
            for taken in (0, 1):
                _compute(block, branch, taken, known, edges)


def _compare_extremes(fn, known, edges) -> None:
    home = {p: block for block in fn.blocks if block is not fn.entry for p in block.params}
    found: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}  # flag -> the extreme, and the constant that it starts with
    failed: set[tuple[ir.Value, ir.Value]] = set()
    for block in fn.blocks:
        if len(edges[block]) < 2 or block is fn.entry:
            continue
        for k, flag in enumerate(block.params):
            if flag.type is not Bool or flag in found:
                continue
            for j, value in enumerate(block.params):
                for _, _, edge in edges[block]:
                    first = edge.args[j]
                    if known.get(edge.args[k]) is True and _is_number(first) and (value, flag) not in failed:
                        web = _Web(value, flag, first, known, edges, home)
                        if web.is_extreme():
                            found.update((f, (v, first)) for v, f in web.members)
                        else:
                            failed.update(web.members)
                        break
                if flag in found:
                    break
    if found:
        _replace(fn, found, home)
        dce.run(fn)


def _ask_for_trips(fn, known, edges) -> None:
    """Replace flags that say behind a counted loop whether it has made a trip."""
    candidates = [block for block in fn.blocks if block is not fn.entry and any([
        p.type is Bool and any([edge.args[k] in known for _, _, edge in edges[block]])
        for k, p in enumerate(block.params)])]
    if not candidates:
        return
    mapping: dict[ir.Value, ir.Value] = {}
    defs = Definitions(fn)
    for loop in LoopNest(fn).loops:
        counted = find(loop, defs, edges) if loop.header in candidates else None
        if counted is not None and all([source is loop.header for source, _ in loop.exits()]):
            for k, p in enumerate(loop.header.params):
                back = {known.get(edge.args[k]) for source, _, edge in edges[loop.header] if source in loop.blocks}
                start = known.get(counted.entry.args[k])
                if p.type is Bool and start is not None and back == {not start} and not _reads(loop, counted, p):
                    b = Builder(counted.entry_block.insts, counted.entry_inst.loc, before_last=True)
                    mapping[p] = b.test(ILE if start else IGT, counted.start[counted.left], b.const(Int, 0))
    if mapping:
        substitute(fn.blocks, mapping)
        dce.run(fn)


def _reads(loop, counted: Counted, p) -> bool:
    """Whether the iterations of a loop read the parameter p of its header."""
    return any([v is p for block in loop.blocks for inst in block.insts
                for v in (*inst.args, *[x for edge in inst.edges() if edge is not counted.exit for x in edge.args])])


def _is_number(value) -> bool:
    if value.inst is None or value.inst.op is not control.CONST or not (is_integer(value.type) or is_float(value.type)):
        return False
    return value.inst.attrs["value"] == value.inst.attrs["value"]


class _Web:
    """A set of pairs (number, flag), both parameters of one block, that are passed to each other around loops. The
    claim is that in each pair the flag says whether the number is still the constant `first`, and that the number is
    never less than `first` (or never more, for a minimum). This follows by induction over the steps of the program if
    every pair of values that an edge passes is one of these: `first` with a set flag; another pair of the web; or, with
    a cleared flag, a number that is more (or less) than the number of a pair."""

    def __init__(self, value, flag, first, known, edges, home):
        self.members = {(value, flag): home[value]}
        self.first, self.known, self.edges, self.home = first, known, edges, home
        self.number = first.inst.attrs["value"]
        self.grows: bool | None = None

    def is_extreme(self) -> bool:
        compared = []  # pairs that are still to be tested by `_passes`
        for (v, f), block in (work := list(self.members.items())):
            j, k = block.params.index(v), block.params.index(f)
            for arriving in self.edges[block]:
                edge = arriving[2]
                todo = [(edge.args[j], edge.args[k], list(_conditions(arriving, self.edges)))]
                while todo:
                    x, g, facts = todo.pop()
                    if self.known.get(g) is True and self._is_first(x):
                        continue
                    if (x, g) in self.members:
                        continue
                    if any(other in self.home for _, other in _compared_with(x, facts)):
                        compared.append((x, g, facts))
                    elif x in self.home and self.home[x] is self.home.get(g):
                        self.members[x, g] = self.home[x]
                        work.append(((x, g), self.home[x]))
                    elif x.inst is not None and x.inst.op.traits & ir.SELECTS and len(facts) < 2 * _DEEPEST:
                        condition, *ways = x.inst.args
                        todo += [(way, _where(g, condition, holds), [*facts, (condition, holds)])
                                 for way, holds in zip(ways, (True, False))]
                    else:
                        compared.append((x, g, facts))
        return all(self._passes(*one) for one in compared) and self.grows is not None

    def _is_first(self, x) -> bool:
        return x is self.first or (_is_number(x) and x.type is self.first.type and x.inst.attrs["value"] == self.number)

    def _passes(self, x, flag, facts) -> bool:
        """Whether `x` is more (or less) than the number of a member, and its flag is cleared in that case."""
        for more, other in _compared_with(x, facts):
            if self.grows in (None, more) and any(other is v for v, _ in self.members):
                if self._is_cleared(x, flag, more):
                    self.grows = more
                    return True
        return False

    def _is_cleared(self, x, flag, grows) -> bool:
        """Whether the flag of `x`, a number that is more (or less) than `first`, is certainly cleared: the flag may be
        set only where the number is one of some constants, and none of these constants is more (or less) than
        `first`."""
        seen = set()
        work = [(x, flag)]
        while work:
            v, f = work.pop()
            if f is None or (v, f) in seen or self.known.get(f) is False:
                continue
            seen.add((v, f))
            if _is_number(v):
                n = v.inst.attrs["value"]
                if n > self.number if grows else n < self.number:
                    return False
            elif v in self.home and self.home[v] is self.home.get(f):
                block = self.home[v]
                j, k = block.params.index(v), block.params.index(f)
                work += [(edge.args[j], edge.args[k]) for _, _, edge in self.edges[block]]
            elif v.inst is not None and v.inst.op.traits & ir.SELECTS:
                condition, *ways = v.inst.args
                work += [(way, _where(f, condition, holds)) for way, holds in zip(ways, (True, False))]
            else:
                return False
        return True


def _where(flag, condition, holds):
    """The value that stands for `flag` where the condition holds, or does not hold (holds False); None where the flag
    is cleared."""
    inst = flag and flag.inst
    if inst is None:
        return flag
    if inst.op.traits & ir.SELECTS and inst.args[0] is condition:
        return inst.args[1 if holds else 2]
    if inst.op is BAND:
        for part, other in (inst.args, inst.args[::-1]):
            if part.inst is not None and part.inst.op is BNOT and part.inst.args[0] is condition:
                return None if holds else other
    return flag


def _conditions(arriving, edges):
    """Iterate over (condition, whether it holds) for the branches on the way to an edge, back to the last join."""
    for _ in range(_DEEPEST):
        source, inst, edge = arriving
        if inst.op is control.BRANCH:
            yield inst.args[0], edge is inst.targets[0]
        if len(edges[source]) != 1:
            return
        arriving = edges[source][0]


def _compared_with(x, facts):
    """[(whether x is more than the other operand, the other operand)] for each strict comparison of x that the
    conditions imply; False: x is less."""
    work = list(facts)
    while work:
        condition, holds = work.pop()
        inst = condition.inst
        if inst is None:
            continue
        if inst.op is BNOT:
            work.append((inst.args[0], not holds))
        elif inst.op is CAST and inst.args[0].type in (Bool, NpBool):
            work.append((inst.args[0], holds))
        elif inst.op is BAND and holds or inst.op is BOR and not holds:
            work += [(part, holds) for part in inst.args]
        else:
            more = _MORE.get(inst.op if holds else inst.op.negated)
            if more is not None and inst.args[0] is x:
                yield more, inst.args[1]
            elif more is not None and inst.args[1] is x:
                yield not more, inst.args[0]


def _replace(fn, found, home) -> None:
    """Replace the uses of flags by comparisons, except where a flag is passed to another flag that is replaced as
    well."""
    for block in fn.blocks:
        made: dict[ir.Value, ir.Value] = {}
        insts: list[ir.Inst] = []

        def compared(flag):
            if flag not in found:
                return flag
            if flag not in made:
                value, first = found[flag]
                b = Builder(insts, inst.loc)
                start = b.const(first.type, first.inst.attrs["value"])
                made[flag] = b.test(IEQ if is_integer(first.type) else FEQ, value, start)
            return made[flag]

        for inst in block.insts:
            inst.args = [compared(v) for v in inst.args]
            for edge in inst.edges():
                edge.args = [v if p in found else compared(v) for p, v in zip(edge.block.params, edge.args)]
            insts.append(inst)
        block.insts = insts


def _compute(block, branch, taken, known, edges) -> None:
    """Compute, before the branch, the flags that the block at `branch.targets[taken]` sets and the other edge passes
    on."""
    arm, past = branch.targets[taken].block, branch.targets[1 - taken]
    last = arm.insts[-1]
    if len(edges[arm]) != 1 or arm.params or last.op is not control.JUMP or last.targets[0].block is not past.block:
        return
    on, b = last.targets[0], Builder(block.insts, branch.loc, before_last=True)
    for k, (value, flag) in enumerate(zip(on.args, past.args)):
        if value not in known or flag in known or flag.type is not Bool:
            continue
        condition = branch.args[0]
        if known[value] == (taken == 1):  # `flag and not condition`, or `flag or not condition`
            if flag is condition:  # the branch tests the flag itself: one side sets it to the value of the other
                computed = b.const(Bool, known[value])
                known[computed] = known[value]
            else:
                computed = b.test(BOR if known[value] else BAND, flag, b.test(BNOT, condition))
        else:
            computed = b.test(BOR if known[value] else BAND, flag, condition)
        on.args[k] = past.args[k] = computed
