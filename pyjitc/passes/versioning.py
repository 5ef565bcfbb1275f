"""Version loops: one guard before a loop replaces the index checks of all its iterations.

Runs after simplify, when loops over ranges are counted loops of plain ints. Where the indices of a nest are affine in
its counters, a guard in wide integers before the nest decides between two copies: one without these checks (and with
wrapping arithmetic where the guard excludes overflow), and the original loop, which fails at the same iteration, after
the same writes, with the same error. The guard also tests whether the arrays of a nest share no memory, if they are
few, and whether its innermost loops are so short that polls for signals between them are enough (`polling.py`). Where
an index is the minimum or the maximum of two numbers, each of these is tested: `min(i + r, n)` is below a limit where n
is. The same holds for the bounds of a loop: `for j in range(max(0, i - r), min(n, i + r + 1))`. A branch that is
reached on every trip, has an invariant condition and leaves the loop counts as a check, too: `for x, y in points` tests
the length of a row on every trip. Innermost loops in whose copy checks stay, since their bounds come from memory, get
guards of their own there.
Before:  header(i, left): ... j = check_index i, n ; x = array_load a, j
After:   g = affine_in_range ... ; branch g -> fast header(i, left): ... x = array_load a, i      and the loop as before
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order; grows the code, up to a limit.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import readers, uses_of
from ..ops import control
from ..ops.arith import (
    CAST, CHECK_NONNEG, IADD, IAND, IGE, IGT, ILE, ILT, IMOD, INT_MAX, INTEGER_COMPARISONS, ISHL, ISHL_CK, ISHR, SHIFTS,
)
from ..ops.memory import ARRAY_LOAD, ARRAY_STORE, CHECK_INDEX
from ..ops.structure import SELECT
from ..types.kinds import Bool, Int
from .alias import Aliases
from .counted import WIDE, Affine, Counted, Definitions, Products, affine, extremes, find, first_and_last, step_of
from .guarding import ROOM, in_range, no_overlap, on_the_way, short_enough, strongest, sum_up, with_one_limit
from .repair import repair
from .rewrite import Builder, clone_blocks, drop_check, resolve, substitute

__all__ = ["run", "note_distinct", "LEAST", "MAX_ARRAYS"]

invariant = lazy(f"{__package__}.invariant")  # for nests that load from memory
carried_bounds = lazy(f"{__package__}.carried_bounds")  # for loops that carry a number which becomes small

MAX_INSTS = 500  # the most instructions of a nest that is copied
# The fewest instructions of a copy with checks that becomes a function (checked_copies.py): the call of a smaller one
# takes as much of LLVM's time as the short pipeline saves.
LEAST = 100
MAX_ARRAYS = 4  # the most arrays that are compared for shared memory
MIN_WAYS = 2  # the fewest exits of an innermost loop without checks for which it is copied
MAX_WAYS = 8  # the most exits of a loop whose conditions the guard tests
MAX_WORK = 1 << 28  # the most operations of an innermost loop that runs to its end without a poll: less than 100 ms
_LARGEST = 1 << 20  # the largest factor by which a guard multiplies a product of two values
_SETTLING = (CAST, IAND, IMOD, SELECT)


def run(fn: ir.Function, options=None) -> None:
    left = _run(fn, None)
    if left:
        _run(fn, left)


def _run(fn: ir.Function, only: set[ir.Block] | None) -> set[ir.Block]:
    """Version all loops, or with `only` just the innermost loops with these headers. Returns the headers of those
    innermost loops of fast copies in which checks stay."""
    nest = LoopNest(fn)
    left: set[ir.Block] = set()
    if not nest.loops:
        return left
    defs = Definitions(fn)
    edges = in_edges(nest.dom.order)
    plans: dict[ir.Block, tuple] = {}  # header -> (loop, plan); none of these loops is inside another of them
    covered: set[ir.Block] = set()  # headers of all loops inside these
    aliases = Aliases(fn)
    for loop in nest.loops:  # outer loops first
        if loop.header not in covered and not loop.has_hint("novectorize") and (only is None or loop.header in only):
            plan = _plan(loop, nest, defs, edges, aliases)
            if plan is not None:
                plans[loop.header] = loop, plan
                covered.update(_headers(loop))
    if not plans:
        return left
    fn.blocks = nest.dom.order
    found = readers(fn)
    definitions: dict[ir.Value, dict[ir.Block, ir.Value]] = {}
    copied: set[ir.Block] = set()
    # The last loop first: where one loop leads directly to another, the copy of the first then leads to the guard of
    # the second.
    for loop, plan in reversed(plans.values()):
        if plan.outer.entry_block not in copied:
            copied.update(loop.blocks)
            definitions.update(_version(fn, loop, plan, defs, nest.dom.number, found, aliases, left))
    fn.blocks = reverse_postorder(fn)
    repair(fn, definitions)
    return left


def _headers(loop):
    found = [loop.header]
    for one in loop.inner:
        found += _headers(one)
    return found


class _Plan:
    """guards: keys of `in_range`; checks: instructions that the guard makes needless; wrapped: checks of constant
    indices that count from the end -> the constant; holds: comparisons that the guard proves true; distinct: array ->
    the others with which it must share no memory;
    sums: the start of a sum -> the most that one trip adds to it; ways: block that may leave the loop, on an invariant
    condition -> (the condition, which target stays in the loop);
    rows: header of an innermost loop -> (its length, which is invariant in the nest; the greatest length for no poll);
    stay: headers of innermost loops in which checks of indices stay that their own guards might test;
    fixed: the loads that are hoisted before the fast copy (`invariant.py`), or None."""

    outer: Counted
    counters: dict[ir.Value, tuple[Counted, int | ir.Value]]

    def __init__(self, fixed, counters):
        self.fixed, self.counters = fixed, counters
        self.products = Products()
        self.guards: dict[tuple, None] = {}
        self.checks: set[ir.Inst] = set()
        self.wrapped: dict[ir.Inst, int] = {}
        self.holds: set[ir.Inst] = set()
        self.distinct: dict[ir.Value, list[ir.Value]] = {}
        # (start of a sum, or None for a constant; lengths of the loops in which it grows) -> the most that a trip adds
        self.sums: dict[tuple[ir.Value | None, tuple[ir.Value, ...]], int] = {}
        self.ways: dict[ir.Block, tuple[ir.Value, int]] = {}
        self.rows: dict[ir.Block, tuple[ir.Value, int]] = {}
        self.stay: set[ir.Block] = set()
        self.met: dict[ir.Value, int] = {}  # value -> its number in the order in which values occur in forms

    def key(self, form, limit):
        """A key that is equal for equal forms: constant, terms in the order in which their values first occurred,
        limit."""
        met = self.met
        return form.constant, tuple(sorted(form.terms.items(),
                                           key=lambda term: met.setdefault(term[0], len(met)))), limit


    def ask(self, *tests: list[tuple] | None) -> bool:
        """Let the guard make these tests, unless one of them is None; return whether it does."""
        if None in tests:
            return False
        for keys in tests:
            self.guards.update(dict.fromkeys(keys or ()))
        return True

    def below(self, form, limit, bounds) -> list[tuple] | None:
        """The tests that the largest value of a form is below `limit`, a value; None where there are none."""
        most = self.best([Affine(-1, {limit: 1}).plus(one, -1) for one in _ends(form, bounds, 1)])
        return None if most is None else self.tests(most, ROOM)

    def inside(self, form, limit, bounds) -> list[tuple] | None:
        """The tests that a form is in range; None where there are none. Where the form has values that vary in the nest
        between bounds, its least and largest values are tested."""
        if bounds.keys().isdisjoint(form.terms):
            return [self.key(form, limit)]
        above = _ends(form, bounds, 1)
        if limit is not None:
            room = Affine(limit - 1, {}) if isinstance(limit, int) else Affine(-1, {limit: 1})
            above = [room.plus(one, -1) for one in above]
            limit = ROOM  # more than any index
        least, most = self.best(_ends(form, bounds, 0)), self.best(above)
        return None if least is None or most is None else self.tests(least, limit) + self.tests(most, limit)

    def tests(self, form, limit) -> list[tuple]:
        return [self.key(form, limit)] if form.terms or form.constant < 0 else []

    def best(self, forms: list[Affine]) -> Affine | None:
        """The form to test if one of `forms` must not be negative: a constant that is not, else the one with the fewest
        counters."""
        def varies(one):
            return (bool(one.terms) or one.constant < 0, not one.terms,
                    len([v for v in one.terms if v in self.counters]))

        return min(forms, key=varies, default=None)


def _ends(form: Affine, bounds, end: int) -> list[Affine]:
    """Forms over values without bounds, each at most the least value of a form on all trips (end 0), or at least the
    largest (end 1). bounds: of `_collect`."""
    found = [form]
    for p in reversed(bounds):
        if any([p in one.terms for one in found]):
            found = [one.plus(Affine(0, {p: c}), -1).plus(other.times(c), 1) if c else one for one in found
                     for c in (one.terms.get(p, 0),)
                     for other in (bounds[p][end if c > 0 else 1 - end] if c else (one,))]
    return found


def _plan(loop, nest, defs, edges, aliases):
    """The plan of a loop, with the loads that are hoisted before its fast copy where that helps; None where it gets no
    fast copy."""
    distinct = _written_and_others(loop, nest, defs) if loop.inner else {}
    fixed = None
    if any(i.op.traits & ir.LOAD and not any(_counts(v, loop, defs) for v in i.args)
           for b in loop.blocks for i in b.insts) and find(loop, defs, edges) is not None:
        fixed = invariant.find_invariant(loop, defs, edges, aliases, distinct)
    if fixed is None:
        return _Planner(loop, nest, defs, edges).run(distinct)
    homes = {i.result: defs.block_of[i.result] for i in fixed.insts}
    defs.block_of.update(dict.fromkeys(homes))  # as if they were defined outside
    plan = _Planner(loop, nest, defs, edges, fixed).run(
        _written_and_others(loop, nest, defs, fixed) if loop.inner else {})
    defs.block_of.update(homes)
    return plan or _Planner(loop, nest, defs, edges).run(distinct)


def _counts(v, loop, defs) -> bool:
    """Whether a value is a parameter of a block in the loop, or a checked index made of one, so that it differs between
    trips."""
    if v.inst is None:
        return defs.block_of.get(v) in loop.blocks
    return v.inst.op is CHECK_INDEX and _counts(v.inst.args[0], loop, defs)


class _Planner:
    """Finds what the guard of a loop tests, and what the copy behind it does not check. fixed: the loads that are
    hoisted before it, or None."""

    def __init__(self, loop, nest, defs, edges, fixed=None):
        self.loop, self.nest, self.defs, self.edges = loop, nest, defs, edges
        self.known = fixed.insts if fixed else ()
        self.counters: dict[ir.Value, tuple[Counted, int | ir.Value]] = {}
        self.bounds: dict[ir.Value, tuple[tuple[Affine, ...], tuple[Affine, ...]]] = {}
        self.falling: dict[ir.Value, tuple[Affine, Affine]] = {}
        self.memo: dict = {}
        self.wrapped: dict = {}
        self.stays: list[tuple[bool, bool]] = []  # of index checks in loops that may have guards: innermost, stays
        self.short: dict[ir.Block, ir.Value] = {}  # header of a loop that is not counted -> a bound of its trips
        self.compared: list[tuple[ir.Inst, tuple]] = []
        self.shifted: list[tuple[ir.Inst, tuple]] = []
        self.plan = _Plan(fixed, self.counters)

    def run(self, distinct) -> _Plan | None:
        """The plan; None where the loop gets no fast copy."""
        loop, defs, edges, plan = self.loop, self.defs, self.edges, self.plan
        outer = find(loop, defs, edges)
        if outer is None or sum(len(b.insts) for b in loop.blocks) > MAX_INSTS or not _collect(
                loop, loop, defs, edges, self.counters, self.bounds, self.falling, self.memo, plan.products):
            return None
        if self.falling:
            _joined(loop, self.nest, edges, self.falling, self.form_of)
        for block in loop.blocks:
            self.find_way(block)
            for inst in block.insts:
                if inst not in self.known:
                    self.look(block, inst)
        if any(["by" in i.attrs for b in loop.blocks for i in b.insts]):
            _sums(loop, self.nest, defs, edges, plan)
        self.find_carried_bounds(loop)
        if not plan.checks and not self.shifted and (len(plan.ways) < MIN_WAYS or loop.inner) or len(plan.guards) > 40:
            return None
        innermost = [stays for deepest, stays in self.stays if deepest]
        if sum(innermost) * 2 > len(innermost) or sum([stays for _, stays in self.stays]) * 2 > len(self.stays):
            return None  # an inner loop may see more of its indices as invariant
        parallel = loop.has_hint("parallel")
        for inst, key in self.compared:
            # `if i < n`: the guard tests this limit anyway; or, over the threads of a block, the limit that stops the
            # last of them
            if key in plan.guards or parallel and len(plan.guards) < 20:
                plan.guards[key] = None
                plan.holds.add(inst)
        for inst, key in self.shifted:
            if len(plan.guards) < 20:
                plan.guards[key] = None
                plan.checks.add(inst)
        plan.outer = outer
        if loop.inner:
            plan.distinct = distinct
            _rows(loop, loop, defs, edges, plan.rows, self.known, self.short)
        return plan

    def form_of(self, value, wraps=False) -> Affine:
        return affine(value, self.defs, self.loop.blocks, self.wrapped if wraps else self.memo, wraps,
                      self.plan.products)

    def is_known(self, form, *varying) -> bool:
        return _known(form, self.counters, self.defs, self.loop, {v for bounds in varying for v in bounds},
                      self.plan.products)

    def is_outside(self, v: ir.Value) -> bool:
        return self.defs.block_of.get(v) not in self.loop.blocks

    def is_on_every_trip(self, block: ir.Block, loop) -> bool:
        return all(self.nest.dom.dominates(block, b) for b in loop.latches)

    def find_way(self, block: ir.Block) -> None:
        """Note a branch that leaves the loop on an invariant condition."""
        branch, loop, ways = block.insts[-1], self.loop, self.plan.ways
        if branch.op is control.BRANCH and _is_invariant(branch.args[0], loop, self.defs):
            staying = [k for k, edge in enumerate(branch.targets) if edge.block in loop.blocks]
            if len(staying) == 1 and len(ways) < MAX_WAYS and self.is_on_every_trip(block, loop):
                ways[block] = branch.args[0], staying[0]

    def find_carried_bounds(self, loop) -> None:
        """Let the guard test that numbers which become small on the first trip of a loop are small before it."""
        for one in loop.inner:
            self.find_carried_bounds(one)
        checked = [i for b in loop.blocks for i in b.insts if i.op.wrapping is not None and i not in self.plan.checks]
        if not checked or not any([_may_become_small(edge, loop) for source, _, edge in self.edges[loop.header]
                                   if source in loop.blocks]):
            return
        starts, found = carried_bounds.find(loop, self.defs, self.edges)
        for inst, used in found.items():
            firsts = [starts[p] for p in used]
            if inst not in self.plan.checks and all(map(self.is_outside, firsts)):
                bound = carried_bounds.BOUND
                for first in firsts:
                    self.plan.guards[self.plan.key(Affine(bound, {first: 1}), 2 * bound + 1)] = None
                self.plan.checks.add(inst)

    def look(self, block: ir.Block, inst: ir.Inst) -> None:
        plan, op = self.plan, inst.op
        if op is CHECK_INDEX:
            self.look_at_index(block, inst)
        elif op is ISHL_CK or op is CHECK_NONNEG:
            limit = _room(inst, self.defs)
            form = self.form_of(inst.args[-1])
            if (limit and form.terms and self.is_known(form, self.bounds)
                    and plan.ask(plan.inside(form, limit, self.bounds))):
                plan.checks.add(inst)
        elif (op is ISHL or op is ISHR) and "flags" not in inst.attrs:
            if (inst.args[1].inst or inst).op is control.CONST:
                return  # LLVM finds that itself
            form = self.form_of(inst.args[1], True)
            if form.terms and self.is_known(form):
                bits = 64 if inst.result.type is Int else inst.result.type.bits
                self.shifted.append((inst, plan.key(form, bits)))
        elif op is ILT and self.is_outside(inst.args[1]):
            form = self.form_of(inst.args[0])
            if form.terms and self.is_known(form):
                self.compared.append((inst, plan.key(form, inst.args[1])))
        elif op.wrapping is not None:
            form = self.form_of(inst.result)
            if (inst.result not in form.terms and self.is_known(form, self.bounds)
                    and plan.ask(plan.inside(form, None, self.bounds))):
                plan.checks.add(inst)

    def look_at_index(self, block: ir.Block, inst: ir.Inst) -> None:
        plan, bounds, falling = self.plan, self.bounds, self.falling
        inner, limit = self.nest.of[block], inst.args[1]
        form = self.form_of(inst.args[0], True)
        ok = self.is_outside(limit) and self.is_known(form, bounds)
        if ok and not form.terms and form.constant < 0:
            form = form.plus(Affine(0, {limit: 1}), 1)  # an index that counts from the end
            plan.wrapped[inst] = form.constant
        starts_below = ok and inst.attrs.get("nonnegative") and _starts_below_zero(form, self.counters, self.defs)
        if ok and not starts_below:
            ok = plan.ask(plan.inside(form, limit, bounds))
        elif inst.attrs.get("nonnegative") and self.is_outside(limit):
            form = self.form_of(inst.args[0])
            ok = self.is_known(form, bounds, falling) and all(form.terms.get(p, 1) > 0 for p in falling)
            if ok:
                falls = {p: (ends[:1], ends[1:]) for p, ends in falling.items()}
                ok = plan.ask(plan.below(form, limit, {**bounds, **falls}))
                if ok and (any(form.terms.get(p) for p in inner.header.params if p in falling)
                        and self.is_on_every_trip(block, inner)):
                    self.short[inner.header] = limit  # from trip to trip an index in 0..limit falls
        if not ok and self.is_outside(limit):
            ok = self.look_at_clamped(inst, limit)
        if not ok and "most" in inst.attrs and self.is_outside(limit):  # the table is asked for its length instead
            ok = plan.ask(plan.inside(Affine(inst.attrs["most"], {}), limit, bounds))
        if inner is not self.loop and (not inner.inner or find(inner, self.defs, self.edges) is not None):
            self.stays.append((not inner.inner, not ok))
            if not ok and not inner.inner:
                plan.stay.add(inner.header)
        if ok:
            plan.checks.add(inst)

    def look_at_clamped(self, inst: ir.Inst, limit: ir.Value) -> bool:
        """Let the guard test an index such as `min(max(i - r, 0), n - 1)`; return whether it can."""
        sides = self.sides(inst.args[0]) if clamped(inst.args[0]) else None
        if sides is None:
            return False
        below, above = [] if inst.attrs.get("nonnegative") else sides[0], sides[1]
        rooms = [Affine(-1, {limit: 1}).plus(form, -1) for form in above]
        if any([not form.terms and form.constant < 0 for form in (*below, *rooms)]):
            return False  # the guard would always fail
        plan, bounds = self.plan, self.bounds
        return plan.ask(*[plan.inside(form, ROOM, bounds) for form in below],
                        *[plan.below(form, limit, bounds) for form in above])

    def sides(self, value, depth=3) -> tuple[list[Affine], list[Affine]] | None:
        """(forms that must not be negative, forms that must be below a limit) for a value to be in range; for a minimum
        it is enough that one of the two numbers is below the limit, for a maximum that one is not negative: the number
        that changes less is tested."""
        clamp = clamped(value) if depth and not self.is_outside(value) else None
        if clamp is None:
            form = self.form_of(value)
            return ([form], [form]) if self.is_known(form, self.bounds) else None
        is_minimum, *options = clamp
        found = [self.sides(v, depth - 1) for v in options]
        x, y = found
        if x is None or y is None:
            return None
        one = min((x, y), key=lambda sides: sorted(
            [v in self.counters or v in self.bounds for form in sides[is_minimum] for v in form.terms], reverse=True))
        return (x[0] + y[0], one[1]) if is_minimum else (one[0], x[1] + y[1])


def clamped(value) -> tuple | None:
    """(whether it is the minimum, one, other) for a value that is the minimum or the maximum of two."""
    inst = value.inst
    test = inst.args[0].inst if inst is not None and inst.op is SELECT and value.type is Int else None
    if test is None or test.op not in (ILT, ILE, IGT, IGE) or set(test.args) != set(inst.args[1:]):
        return None
    return (test.op in (ILT, ILE)) == (test.args[0] is inst.args[1]), *inst.args[1:]


def _may_become_small(edge, loop) -> bool:
    """Whether an edge to the header of a loop may pass a small number for an int: the result of a mask, a remainder, a
    conversion or a choice."""
    return any([p.type is Int and v is not p and (v.inst is None or v.inst.op in _SETTLING)
                for p, v in zip(loop.header.params, edge.args)])


def _is_invariant(condition, loop, defs) -> bool:
    """Whether a condition is the same on all trips: it is computed before the loop, or compares what is."""
    if defs.block_of.get(condition) not in loop.blocks:
        return True
    inst = condition.inst
    return (inst is not None and inst.op in INTEGER_COMPARISONS
            and all(defs.block_of.get(v) not in loop.blocks for v in inst.args))


def _sums(loop, nest, defs, edges, plan) -> None:
    """Add to the plan the sums of small numbers, which cannot overflow if the loops in which they are added make few
    enough trips. A sum may go through all loops of a nest, or start anew in an inner one."""
    def is_outside(v) -> bool:
        return defs.block_of.get(v) not in loop.blocks

    lengths: dict[ir.Block, ir.Value | None] = {}  # header of a loop -> its length, if that is the same in all trips

    def length_of(one) -> ir.Value | None:
        if one.header not in lengths:
            counted = find(one, defs, edges)
            length = None if counted is None else counted.start[counted.left]
            lengths[one.header] = length if length is not None and is_outside(length) else None
        return lengths[one.header]

    starts = [(loop, p) for p in loop.header.params]
    inner = list(loop.inner)
    for one in inner:
        inner += one.inner
        starts += [(one, p) for p in one.header.params]
    for one, p in starts:
        arriving = [edge.args[one.header.params.index(p)] for source, _, edge in edges[one.header]
                    if source not in one.blocks] if p.type is Int else []
        known = defs.constant(arriving[0]) if len(arriving) == 1 else None
        if len(arriving) != 1 or (abs(known) > ROOM if known is not None else not is_outside(arriving[0])):
            continue
        checks = _added(p, one, defs, edges)
        around: dict[ir.Value | None, None] = {}
        for check in checks:
            at = nest.of[defs.block_of[check.result]]
            while True:
                around[length_of(at)] = None
                if at is one:
                    break
                at = at.parent
        if checks and None not in around:
            key = arriving[0] if known is None else None, (*filter(None, around),)
            plan.sums[key] = max(plan.sums.get(key, 1), sum(i.attrs["by"] for i in checks))
            plan.checks.update(checks)


def _added(p, loop, defs, edges) -> dict[ir.Inst, None]:
    """The additions by which a loop changes the header's parameter p, if it only adds small numbers to it; else
    empty."""
    checks: dict[ir.Inst, None] = {}
    k, seen = loop.header.params.index(p), {p}
    work = [edge.args[k] for source, _, edge in edges[loop.header] if source in loop.blocks]
    while work:
        v = work.pop()
        if v in seen:
            continue
        seen.add(v)
        inst, home = v.inst, defs.block_of.get(v)
        if inst is None and home in loop.blocks and home is not loop.header:
            at = home.params.index(v)
            work += [edge.args[at] for _, _, edge in edges[home]]
        elif inst is not None and home in loop.blocks and inst.op is SELECT:
            work += inst.args[1:]
        elif inst is not None and home in loop.blocks and "by" in inst.attrs:
            checks[inst] = None
            work.append(inst.args[0])
        else:
            return {}
    return checks


def _room(inst, defs) -> int:
    """The bound below which a shift count must be for a shift of a constant not to overflow, or a number for the check
    that it is not negative; 0 where nothing is known."""
    if inst.op is CHECK_NONNEG:
        return INT_MAX
    value = defs.constant(inst.args[0])
    return 64 - value.bit_length() if value is not None and value > 0 else 0


def _rows(loop, top, defs, edges, found, known, short) -> None:
    """Find the innermost loops of `top` whose length, or a bound of it (`short`), is invariant in it, and how long they
    may be so that Ctrl-C can wait for their end."""
    for one in loop.inner:
        _rows(one, top, defs, edges, found, known, short)
    insts = [i for b in loop.blocks for i in b.insts if i not in known]
    if loop is top or loop.inner or not all(map(_is_quick, insts)):
        return
    steps = sum(i.op.cost if i.op.cost > ir.MODERATE else 1 + len(i.attrs.get("coefficients", ())) for i in insts)
    if loop.header in short:
        found[loop.header] = short[loop.header], MAX_WORK // steps
        return
    written = {i.args[0]: i.args[1:-1] for i in insts if i.op is ARRAY_STORE}
    if any(i.op is ARRAY_LOAD and i.args[1:] != written.get(i.args[0], i.args[1:]) for i in insts):
        # LLVM would compare the ranges that all outer loops access, not two rows, and always find an overlap
        return
    counted = find(loop, defs, edges)
    if counted is not None and defs.block_of.get(counted.start[counted.left]) not in top.blocks:
        found[loop.header] = counted.start[counted.left], MAX_WORK // steps


def _is_quick(inst) -> bool:
    if inst.op.effects & (ir.READS | ir.WRITES):
        return inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE
    return inst.op.cost < ir.CALL


def _written_and_others(loop, nest, defs, fixed=None) -> dict:
    """Array from outside all loops that is read or written here -> the arrays that must share no memory with it, so
    that LLVM may reorder the accesses. LLVM itself would compare the rows of each inner loop every time before that
    starts."""
    found: dict[ir.Value, bool] = {}
    for block in loop.blocks:
        for inst in block.insts:
            if (inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE) and not (fixed and inst in fixed.insts):
                array = inst.args[0]
                if defs.block_of.get(array) not in nest.of:
                    found[array] = found.get(array, False) or inst.op is ARRAY_STORE
    if len(found) > MAX_ARRAYS:
        return {}
    return {x: others for x in found if (others := [y for y in found if y is not x and (found[x] or found[y])])}


def _collect(loop, top, defs, edges, counters, bounds, falling, memo, products) -> bool:
    """Collect the induction variables of `loop` and of its inner loops: in `counters` those whose bounds and steps are
    invariant in `top`; in `bounds` those whose bounds depend on other counters, and the least and the greatest of two
    such values: (forms that it is not below, forms that it is not above); in `falling` those of loops that are not
    counted and which only decrease: their start, twice."""
    counted = find(loop, defs, edges)
    if counted is not None:
        fixed = loop is top or defs.block_of.get(counted.start[counted.left]) not in top.blocks
        found = {}
        if fixed:
            for p, stride in counted.strides.items():
                if defs.block_of.get(stride) not in top.blocks and (
                        loop is top or defs.block_of.get(counted.start[p]) not in top.blocks):
                    counters[p] = (counted, stride)
        for p, step in counted.steps.items():
            if fixed and (loop is top or defs.block_of.get(counted.start[p]) not in top.blocks):
                counters[p] = (counted, step)
            else:
                ends = first, last = first_and_last(counted, p, defs, top.blocks, memo, products)
                for v in [v for form in ends for v in form.terms]:
                    _collect_clamped(v, top, defs, counters, bounds, memo, products)
                if all(_known(form, counters, defs, top, bounds, products) for form in ends):
                    found[p] = ((first,), (last,)) if step > 0 else ((last,), (first,))
        bounds.update(found)
    elif loop is top:
        return False
    else:
        entries = loop.entries(edges)
        for k, p in enumerate(loop.header.params):
            if p.type is Int and len(entries) == 1 and (step_of(loop, edges, p, defs) or 0) < 0:
                start = affine(entries[0][2].args[k], defs, top.blocks, memo, products=products)
                if _known(start, counters, defs, top, bounds, products):
                    falling[p] = start, start
    for one in loop.inner:
        _collect(one, top, defs, edges, counters, bounds, falling, memo, products)
    return True


def _collect_clamped(v, top, defs, counters, bounds, memo, products) -> None:
    """Add to `bounds` a value that is the minimum or the maximum of two which are known."""
    clamp = clamped(v) if v not in bounds and defs.block_of.get(v) in top.blocks else None
    if clamp is not None:
        forms = [affine(x, defs, top.blocks, memo, products=products) for x in clamp[1:]]
        for x in [x for form in forms for x in form.terms]:
            _collect_clamped(x, top, defs, counters, bounds, memo, products)
        known = *[form for form in forms if _known(form, counters, defs, top, bounds, products)],
        if known:
            bounds[v] = ((), known) if clamp[0] else (known, ())


def _joined(loop, nest, edges, falling, form_of) -> None:
    """Add to `falling` the parameters of blocks in which such values meet others that are not greater than their start,
    as after `while k > 0 and a[k - 1] > x: ... k -= 1`."""
    for block in loop.blocks:
        if block is nest.of[block].header:
            continue
        for k, p in enumerate(block.params):
            if p.type is not Int:
                continue
            forms = [form_of(edge.args[k]) for _, _, edge in edges[block]]
            met = falling.keys() & {v for form in forms for v in form.terms}
            if met and all(form.terms.get(v, 1) > 0 for form in forms for v in met):
                ends = [extremes(form, falling)[1] for form in forms]
                if all(one.terms == ends[0].terms for one in ends):
                    most = max(ends, key=lambda one: one.constant)
                    falling[p] = most, most


def _starts_below_zero(form, counters, defs) -> bool:
    """Whether an index that is not negative where it is checked has a form that is certainly negative on some trip. A
    condition in the loop then skips the check in that trip, and a guard for all trips would always fail."""
    least = form.constant
    for v, c in form.terms.items():
        counted, step = counters.get(v, (None, 0))
        start = defs.constant(counted.start[v]) if isinstance(step, int) and c * step > 0 else None
        if start is None:
            return False
        least += c * start
    return least < 0


def _known(form, counters, defs, loop, bounds, products) -> bool:
    """Whether every term is a counter, a value that is invariant in the loop, or the product of one of these with an
    invariant factor, and has a type of 64 bits, in which the guard computes."""
    for v, c in form.terms.items():
        if v in products.parts:
            v = products.parts[v][0]
            if abs(c) > _LARGEST or v in bounds or v in counters and not isinstance(counters[v][1], int):
                return False
        if v.type not in WIDE or not (v in counters or v in bounds or defs.block_of.get(v) not in loop.blocks):
            return False
    return True


def _version(fn, loop, plan, defs, number, found, aliases, left):
    """Copy the loop, without the checks. Returns the new definitions of values that are used after the loop, for
    `repair`.
    number: block -> its place in the order; found: the blocks that read each value, to which the guard is added; left:
    gets the headers of innermost loops of the copy in which checks stay."""
    order = sorted(loop.blocks, key=number.__getitem__)
    defined = [v for b in order for v in b.values()]
    used_outside = {v for v in defined if any(b not in loop.blocks for b in found.get(v, ()))}
    values: dict[ir.Value, ir.Value] = {}
    copies = clone_blocks(order, values)
    left.update([copies[header] for header in plan.stay])
    headers = set(_headers(loop))
    for block in order:
        last = block.insts[-1]
        if any(edge.block in headers for edge in last.targets):
            last.attrs = {**last.attrs, "novectorize": True}
    originals = {values[i.result]: i for b in order for i in b.insts if i.result is not None}
    replaced: dict[ir.Value, ir.Value] = {}
    loc = plan.outer.entry_inst.loc
    guard, entry = ir.Block("guard"), plan.outer.entry
    first, new, condition, b = guard, [guard], None, Builder(guard.insts, loc)
    slow = _other_form(plan.outer) or ir.Edge(loop.header, entry.args)
    hoisted: dict[ir.Value, ir.Value] = {}
    distinct = plan.distinct
    if plan.fixed is not None:
        # the conditions of the loads are tested in a block of their own
        distinct = {x: [*dict.fromkeys([*plan.distinct.get(x, ()), *plan.fixed.distinct.get(x, ())])]
                 for x in [*plan.distinct, *(x for x in plan.fixed.distinct if x not in plan.distinct)]}
        condition = no_overlap(b, distinct, plan.fixed.ask(b, hoisted), aliases)
        other = ir.Block("other")
        Builder(other.insts, loc).jump(slow)
        slow = ir.Edge(other)
        if condition is not None:
            read = ir.Block("read")
            b.branch(condition, ir.Edge(read), slow, likely=True)
            new.append(read)
            b = Builder(read.insts, loc)
        new.append(other)
        condition, distinct = plan.fixed.read(b, hoisted), {}
    yes = b.const(Bool, True) if plan.holds else None
    for block in copies.values():
        block.insts = [inst for inst in block.insts if not _is_needless(
            inst, originals.get(inst.result), plan, hoisted, yes, replaced)]
    if plan.distinct:
        note_distinct(fn, copies.values(), plan.distinct)
    for block, (_, stays) in plan.ways.items():
        last = copies[block].insts[-1]
        copies[block].insts[-1] = ir.Inst(control.JUMP, (), {}, None, last.loc, [last.targets[stays]])
    # the guard, in a block of its own before the loop
    guards = strongest(plan.guards)
    for constant, terms, limit in with_one_limit(b, guards) if loop.parent is not None else guards:
        condition = b.both(condition, in_range(b, constant, terms, limit, plan))
    condition = on_the_way(b, plan, condition, loop, defs)
    condition = sum_up(b, plan, condition)
    condition = no_overlap(b, distinct, condition, aliases)
    condition = short_enough(b, plan.rows, condition)
    for header in plan.rows:
        inst = copies[header].terminator
        inst.attrs = {**inst.attrs, "no_poll": True}
    for header, most in _most_trips(plan).items():
        inst = copies[header].terminator
        inst.attrs = {**inst.attrs, "most_trips": most}
    b.branch(condition, ir.Edge(copies[loop.header], entry.args), slow, likely=True)
    substitute(new, hoisted)
    entry.block, entry.args = first, []
    for block in new:
        for v in uses_of(block):
            found.setdefault(v, []).append(block)
    substitute(copies.values(), replaced)
    fn.blocks += [*new, *copies.values()]
    return {v: {defs.block_of[v]: v, copies[defs.block_of[v]]: resolve(replaced, values[v])} for v in defined
            if v in used_outside}


def _other_form(outer: Counted) -> ir.Edge | None:
    """An edge to the copy of `outer` that keeps all checks, if the branch to `outer` chooses between the two."""
    for edge in outer.entry_inst.targets if "alike" in outer.entry_inst.attrs else ():
        if edge is not outer.entry:
            return ir.Edge(edge.block, list(edge.args))
    return None


def note_distinct(fn, blocks, distinct) -> None:
    """Record on the accesses to an array with which other arrays it shares no memory. distinct: array -> those
    others."""
    group, names = fn.flags.alias_groups + 1, {x: n for n, x in enumerate(distinct)}
    fn.flags = fn.flags._replace(alias_groups=group)
    for inst in (inst for block in blocks for inst in block.insts):
        if (inst.op is ARRAY_LOAD or inst.op is ARRAY_STORE) and inst.args[0] in distinct:
            others = [names[x] for x in (inst.args[0], *distinct[inst.args[0]])]
            inst.attrs = {**inst.attrs, "noalias": (group, *others)}


def _is_needless(inst, source, plan, hoisted, yes, replaced) -> bool:
    """Whether an instruction of the fast copy is to be left out, since `replaced` gets another value for its result. An
    instruction that stays loses its check where the guard makes it needless. source: the instruction that it is a copy
    of; hoisted: the loads before the loop; yes: the constant True."""
    if plan.fixed is not None and source is not None and source in plan.fixed.insts:
        replaced[inst.result] = hoisted[source.result]
        return True
    if source in plan.holds:
        replaced[inst.result] = yes
        return True
    if source not in plan.checks:
        return False
    if source in plan.wrapped:
        inst.op, inst.unwind = IADD, None
        inst.args[:], inst.attrs = (inst.args[1], inst.args[0]), {}
        return False
    if inst.op is CHECK_INDEX or inst.op is CHECK_NONNEG:
        replaced[inst.result] = inst.args[0]
        return True
    flags = "bounded" if inst.op in SHIFTS else "nsw" if "by" in inst.attrs else None
    if inst.op.wrapping is not None:
        drop_check(inst)
    if flags:
        inst.attrs = {"flags": flags}
    return False


def _most_trips(plan) -> dict[ir.Block, int]:
    """Header of a loop -> its most trips, where the guard keeps a sum with its counter below a number: `1 << i` makes
    at most 64."""
    found: dict[ir.Block, int] = {}
    for _, terms, limit in plan.guards:
        for v, coefficient in terms if type(limit) is int and limit < ROOM else ():
            counted, step = plan.counters.get(v, (None, None))
            if type(step) is int and step:
                most = (limit - 1) // abs(coefficient * step) + 1
                found[counted.loop.header] = min(most, found.get(counted.loop.header, most))
    return found
