"""Check once before a loop what its index checks would ask in every iteration.

Runs after simplify, when loops over ranges are counted loops of plain ints. Where the indices of a nest are affine in its
counters, a guard in wide integers before the nest decides between two copies: one without these checks (and with
wrapping arithmetic where the guard excludes overflow), and the loop as it was, which fails at the same iteration,
after the same writes, with the same error.
Before:  header(i, left): ... j = check_index i, n ; x = array_load a, j
After:   g = affine_in_range ... ; branch g -> fast header(i, left): ... x = array_load a, i      and the loop as before
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, effects and their order; grows the code, up to a limit.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import control
from ..ops.arith import BAND, IADD, IADD_CK, ILT, IMUL, IMUL_CK, ISUB, ISUB_CK
from ..ops.memory import AFFINE_IN_RANGE, CHECK_INDEX
from ..types.kinds import Bool
from .counted import Affine, Counted, Definitions, affine, find
from .repair import repair
from .rewrite import clone_blocks, read_outside, substitute

__all__ = ["run"]

MAX_INSTS = 500  # of a nest that is copied
_WRAPPING = {IADD_CK: IADD, ISUB_CK: ISUB, IMUL_CK: IMUL}


def run(fn: ir.Function, options=None) -> None:
    if not any(i.op is CHECK_INDEX or i.op in _WRAPPING for b in fn.blocks for i in b.insts):
        return
    done: set[ir.Block] = set()  # headers of loops that were versioned, or given up, and of those inside them
    while True:
        fn.blocks = reverse_postorder(fn)
        nest = LoopNest(fn)
        work = [loop for loop in nest.loops if loop.header not in done]
        if not work:
            return
        defs = Definitions(fn)
        edges = in_edges(fn.blocks)
        for loop in work:  # outer loops first
            plan = _plan(loop, nest, defs, edges)
            if plan is not None:
                done.update(_headers(loop))
                done.update(_version(fn, loop, plan, defs))
                break
            done.add(loop.header)
        else:
            return


def _headers(loop):
    found = [loop.header]
    for one in loop.inner:
        found += _headers(one)
    return found


class _Plan:
    """guards: keys of `_condition`; checks: instructions that the guard makes needless; wrapped: checks of constant indices that count
    from the end -> the constant; holds: comparisons that the guard answers."""

    def __init__(self):
        self.guards: dict[tuple, None] = {}
        self.checks: set[ir.Inst] = set()
        self.wrapped: dict[ir.Inst, int] = {}
        self.holds: set[ir.Inst] = set()


def _plan(loop, nest, defs, edges):
    size = sum(len(b.insts) for b in loop.blocks)
    outer = find(loop, defs, edges)
    if outer is None or size > MAX_INSTS:
        return None
    counters: dict[ir.Value, tuple[Counted, int]] = {}
    if not _collect(loop, loop, defs, edges, counters):
        return None
    plan = _Plan()
    memo: dict = {}
    innermost = missed = 0
    compared: list[tuple[ir.Inst, tuple]] = []
    parallel = any(b.insts[-1].attrs.get("parallel") for b in loop.latches)
    for block in loop.blocks:
        inner = nest.of[block]
        for inst in block.insts:
            if inst.op is CHECK_INDEX:
                limit = inst.args[1]
                form = affine(inst.args[0], defs, loop.blocks, memo)
                ok = defs.block_of.get(limit) not in loop.blocks and _known(form, counters, defs, loop)
                if ok and not form.terms and form.constant < 0:
                    form = form.plus(Affine(0, {limit: 1}), 1)  # a place from the end
                    plan.wrapped[inst] = form.constant
                if not inner.inner:
                    innermost += 1
                    missed += not ok
                if ok:
                    plan.guards[_key(form, limit)] = None
                    plan.checks.add(inst)
            elif inst.op is ILT and defs.block_of.get(inst.args[1]) not in loop.blocks:
                form = affine(inst.args[0], defs, loop.blocks, memo)
                if form.terms and _known(form, counters, defs, loop):
                    compared.append((inst, _key(form, inst.args[1])))
            elif inst.op in _WRAPPING:
                form = affine(inst.result, defs, loop.blocks, memo)
                if inst.result not in form.terms and _known(form, counters, defs, loop):
                    plan.guards[_key(form, None)] = None
                    plan.checks.add(inst)
    if not plan.checks or len(plan.guards) > 40:
        return None
    if loop.inner and missed and missed * 2 > innermost:
        return None  # an inner loop may see more of its indices as invariant
    for inst, key in compared:
        # `if i < n`: a limit that is asked for anyway; or, of the threads of a block, the one that stops the last of them
        if key in plan.guards or parallel and len(plan.guards) < 20:
            plan.guards[key] = None
            plan.holds.add(inst)
    plan.outer = outer
    plan.counters = counters
    return plan


def _collect(loop, top, defs, edges, counters) -> bool:
    """The induction variables of `loop` and of the loops in it whose bounds do not change in `top`."""
    counted = find(loop, defs, edges)
    if counted is not None:
        if loop is top or all(defs.block_of.get(counted.start[p]) not in top.blocks for p in (counted.left,)):
            for p, step in counted.steps.items():
                if loop is top or defs.block_of.get(counted.start[p]) not in top.blocks:
                    counters[p] = (counted, step)
    elif loop is top:
        return False
    for one in loop.inner:
        _collect(one, top, defs, edges, counters)
    return True


def _known(form, counters, defs, loop) -> bool:
    """Whether every term is a counter or does not change in the loop."""
    return all(v in counters or defs.block_of.get(v) not in loop.blocks for v in form.terms)


def _key(form, limit):
    return (form.constant, tuple(sorted(form.terms.items(), key=lambda t: (t[0].name, id(t[0])))), limit)


def _version(fn, loop, plan, defs):
    """Copy the loop; the copy loses the checks. Returns the headers of the copy's loops."""
    order = [b for b in fn.blocks if b in loop.blocks]
    defined = [v for b in order for v in [*b.params, *(i.result for i in b.insts if i.result is not None)]]
    used_outside = read_outside(fn, loop.blocks)
    values: dict[ir.Value, ir.Value] = {}
    copies = clone_blocks(order, values)
    headers = set(_headers(loop))
    for block in order:
        last = block.insts[-1]
        if any(edge.block in headers and block in loop.blocks for edge in last.targets):
            last.attrs = {**last.attrs, "slow_loop": True}
    originals = {values[i.result]: i for b in order for i in b.insts if i.result is not None}
    replaced: dict[ir.Value, ir.Value] = {}
    guard = ir.Block("guard")
    loc = plan.outer.entry_inst.loc
    yes = ir.Value(Bool)
    if plan.holds:
        guard.insts.append(ir.Inst(control.CONST, (), {"value": True}, yes, loc))
    for block in copies.values():
        kept = []
        for inst in block.insts:
            source = originals.get(inst.result)
            if source in plan.holds:
                replaced[inst.result] = yes
                continue
            if source in plan.checks:
                if source in plan.wrapped:
                    inst.op, inst.unwind = IADD, None
                    inst.args[:], inst.attrs = (inst.args[1], inst.args[0]), {}
                    kept.append(inst)
                    continue
                if inst.op is CHECK_INDEX:
                    replaced[inst.result] = inst.args[0]
                    continue
                inst.op = _WRAPPING[inst.op]
                inst.unwind = None
            kept.append(inst)
        block.insts = kept
    # the guard, in a block of its own on the way in
    counted = plan.outer
    condition = None
    for constant, terms, limit in plan.guards:
        one = _condition(guard, constant, terms, limit, plan.counters, loc)
        if condition is None:
            condition = one
        else:
            both = ir.Value(Bool)
            guard.insts.append(ir.Inst(BAND, (condition, one), {}, both, loc))
            condition = both
    entry = counted.entry
    guard.insts.append(ir.Inst(control.BRANCH, (condition,), {"likely": True}, None, loc,
                               [ir.Edge(copies[loop.header], entry.args), ir.Edge(loop.header, entry.args)]))
    entry.block, entry.args = guard, []
    new = list(copies.values())
    fn.blocks = [*fn.blocks, guard, *new]
    substitute(fn.blocks, replaced)
    fn.blocks = reverse_postorder(fn)
    definitions = {}
    for v in defined:
        if v in used_outside:
            home = defs.block_of[v]
            twin = replaced.get(values[v], values[v])
            while twin in replaced:
                twin = replaced[twin]
            definitions[v] = {home: v, copies[home]: twin}
    if definitions:
        repair(fn, definitions)
    return [copies[h] for h in _headers(loop)]


def _condition(guard, constant, terms, limit, counters, loc):
    """0 <= form < limit (or: form fits in 64 bits) for every iteration that runs."""
    args, shape = [], []
    for v, coefficient in terms:
        found = counters.get(v)
        if found is None:
            shape.append(("value", coefficient))
            args.append(v)
        else:
            counted, step = found
            shape.append(("counter", coefficient, step))
            args += [counted.start[v], counted.start[counted.left]]
    if limit is not None:
        args.append(limit)
    result = ir.Value(Bool)
    guard.insts.append(ir.Inst(AFFINE_IN_RANGE, args, {"constant": constant, "terms": tuple(shape), "limited": limit is not None},
                               result, loc))
    return result
