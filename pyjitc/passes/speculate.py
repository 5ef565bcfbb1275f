"""If-conversion of a small `if` in a loop into selects, also where the arms check for overflow or the condition is a
bit.

LLVM does this for arms that cannot fail; where the condition is as good as random it is twice as fast. If the checked
results of an arm are all affine in one value, they fit in 64 bits exactly where that value lies in an interval: one
comparison decides between the selects and the original arms, which raise.
Before:  branch c -> odd, even      odd: x = imul_ck n, 3 ; y = iadd_ck x, 1 ; jump on(y)
                                   even: z = ishr n, 1 ; jump on(z)
After:   x' = imul n, 3 ; y' = iadd x', 1 ; z' = ishr n, 1 ; r = select c, y', z'
         fits = n in range ; branch fits {likely} -> on(r), arms      arms: branch c -> odd, even     and both as before
A bit of a number (`if x & 1`) has no pattern that a branch predictor could learn. LLVM's code generator turns a select
on the critical path of a loop into a branch again; `choose` prevents that.
Before:  branch bit -> set, clear      set: y = ixor x, p ; jump on(y)      clear: jump on(x)
After:   y = ixor x, p ; r = choose bit, y, x ; jump on(r)
The same holds of two or three bits that are compared with constants, as in `move == 0 ... elif move == 1`, and of the
element half way between two numbers that the loop carries, with which a binary search compares.
For a value that is Python's int on some paths and NumPy's on others, both arms compute the same number, one of them
with a check.
Before:  branch flag -> python, numpy     python: y = iadd_ck n, 1 ; jump on(y)      numpy: z = iadd n, 1 ; jump on(z)
After:   z = iadd n, 1 ; fits = n in range ; branch fits {likely} -> on(z), arms     arms: branch flag -> python, numpy
An arm may load an element of an array over which the loop iterates, which exists on every trip.
One comparison also takes the place of the checks of a product and the sums after it: a processor's product with a test
for overflow takes three cycles, without one it is a shift or an address computation.
Before:  y = imul_ck x, 10 ; z = iadd_ck y, c ; rest
After:   y' = imul x, 10 ; z' = iadd y', c ; fits = x in range ; branch fits {likely} -> on(z'), checked
         checked: y = imul_ck x, 10 ; z = iadd_ck y, c ; jump on(z)      on(r): rest
Runs after ranges, which removes most checks, after versioning, and after flags, which replaces two values by one.
Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import control, structure
from ..ops.arith import (
    BAND, CAST, IADD, IADD_CK, IAND, IEQ, IFLOORDIV, IGE, ILE, IMUL, IMUL_CK, INE, INT_MAX, INT_MIN, IOR, ISHL, ISHR,
    ISUB, ISUB_CK, IXOR, NARROW, SUMS,
)
from ..ops.memory import ARRAY_DIM, ARRAY_LOAD, CHECK_INDEX
from ..types.kinds import Bool, Int, NpBool, is_integer
from .counted import WIDE, Definitions, find
from .rewrite import Builder, clone_inst, drop_check, drop_flags, substitute

__all__ = ["run"]

MOST = 3  # the most instructions of an arm, besides constants
CHAIN = 12  # the most instructions of an arm that contains a choice
_SUMS = (IADD_CK, ISUB_CK, IMUL_CK)  # sums of one value and constants are in range where the value is in an interval
_CHEAP = {*_SUMS, IADD, ISUB, IMUL, IAND, IOR, IXOR, ISHL, ISHR}


def run(fn: ir.Function, options=None) -> None:
    nest = LoopNest(fn)
    if not nest.loops:
        return
    defs = Definitions(fn)
    edges = in_edges(fn.blocks)
    cold: list[ir.Block] = []
    left = False  # whether there are arms that have become unreachable
    for block in reversed(list(fn.blocks)):  # the last `elif` of a chain first: it is in an arm of the one before
        branch = block.insts[-1]
        if block in nest.of and branch.op is control.BRANCH and branch.attrs.get("likely") is None:
            arms = _convert(block, branch, nest.of[block], defs, edges)
            fn.blocks += arms
            cold += [edge.block for arm in arms for edge in branch.targets if len(edges[edge.block]) == 1]
            left |= block.insts[-1].op is control.JUMP
    if left:
        reached = set(reverse_postorder(fn))
        fn.blocks[:] = [block for block in fn.blocks if block in reached]
    for block in list(fn.blocks):
        loop = nest.of.get(block)
        while loop is not None and block not in cold and (chain := _chain(block, loop, defs)) is not None:
            block = _join_checks(fn, block, *chain)


def _convert(block, branch, loop, defs, edges) -> list[ir.Block]:
    """Convert a branch; returns the new blocks."""
    ends, arms = [], []
    for edge in branch.targets:
        arm = edge.block
        own = len(edges[arm]) == 1 and not arm.params and arm.insts[-1].op is control.JUMP and arm is not block
        ends.append(arm.insts[-1].targets[0] if own else edge)
        arms.append(arm.insts[:-1] if own else [])
    condition, loc = branch.args[0], branch.loc
    if ends[0].block is not ends[1].block or ends[0].block is block:
        return []
    twins = _are_twins(arms, ends)
    intervals = [_interval(arm, loop if block is not loop.header else None, defs, edges, twins) for arm in arms]
    if None in intervals:
        return []
    random = _is_bit(condition, defs) or _halves(condition, loop, defs)
    if not any(intervals) and not random and not twins:
        return []
    if any(not is_integer(x.type) for x, y in zip(ends[0].args, ends[1].args) if x is not y) and not twins:
        return []
    block.insts.pop()
    chosen = []
    for arm in arms:
        values: dict = {}
        for inst in arm:
            if twins and arm is arms[1] and inst.op is not control.CONST:
                continue
            copy = clone_inst(inst, values, {})
            if copy.op.wrapping is not None:
                drop_check(copy)
            if twins:  # where the other arm is taken, flags such as nsw may not hold
                drop_flags(copy)
            block.insts.append(copy)
        chosen.append(values)

    b, fits = Builder(block.insts, loc), None
    for value, low, high in filter(None, intervals):
        fits = b.both(fits, _inside(b, value, low, high))
    args = []
    op = structure.CHOOSE if random and not twins else structure.SELECT
    for x, y in zip(ends[0].args, ends[1].args):
        x, y = chosen[0].get(x, x), chosen[1].get(y, y)
        args.append(x if x is y or twins and x.type is not Bool else b.op(op, condition, x, y, type=x.type))
    if fits is None:
        b.jump(ir.Edge(ends[0].block, args))
        return []
    checked = ir.Block("arms")
    checked.insts.append(branch)
    b.branch(fits, ir.Edge(ends[0].block, args), ir.Edge(checked), likely=True)
    return [checked]


def _are_twins(arms, ends) -> bool:
    """Whether both arms compute the same numbers, one with checks, as for a value that is an int of Python's or one of
    NumPy's, and a flag (see infer/duals.py)."""
    forms: dict[ir.Value, object] = {}  # value -> a form that is equal where the values are

    def form(v):
        if v.inst is not None and v.type in WIDE and v not in forms:
            if v.inst.op is control.CONST:
                return control.CONST, int(v.inst.attrs["value"])  # a number of NumPy beside a tuple compares its items
            if v.inst.op is CAST and v.inst.args[0].type in WIDE:
                return form(v.inst.args[0])
        return forms.get(v, v)

    for inst in [inst for arm in arms for inst in arm]:
        op = inst.op.wrapping or inst.op
        if op in _CHEAP:
            forms[inst.result] = op, *map(form, inst.args)
        elif inst.op is not control.CONST and (op is not CAST or {inst.result.type, inst.args[0].type} - WIDE):
            return False
    pairs = [(x, y) for x, y in zip(ends[0].args, ends[1].args) if x is not y]
    return any([x.type in WIDE for x, _ in pairs]) and all(
        [form(x) == form(y) if x.type in WIDE else x.type is Bool and _is_constant(x) and _is_constant(y)
         for x, y in pairs])


def _is_constant(value) -> bool:
    return value.inst is not None and value.inst.op is control.CONST


def _chain(block, loop, defs):
    """(chain, value, low, high) for the next product by a constant in `block` whose result is used by checked sums: the
    product with these sums, and the interval of `value` in which all of them fit; or None."""
    if block is loop.header or loop.has_hint("novectorize"):
        return None
    chain: list[ir.Inst] = []
    for inst in block.insts:
        if not chain:
            c = defs.constant(inst.args[1]) if inst.op is IMUL_CK else None
            if c and c > 0:
                chain, last, factor, constant, spread = [inst], inst.result, c, 0, 0
                low = 0 if inst.attrs.get("nonnegative") else -(INT_MAX // c)
                high = INT_MAX // c
            continue
        if last not in inst.args and not inst.op.effects & (ir.WRITES | ir.RAISES) and not any(
                one.result in inst.args for one in chain):
            continue
        step = _step(inst, last, defs)
        if step is not None:
            # the last result is value * factor + constant, give or take `spread`
            by, size = step
            constant, spread = constant + by, spread + size
            least = max(low, -((INT_MAX + constant - spread) // factor)) if inst.op.wrapping is not None else low
            most = min(high, (INT_MAX - constant - spread) // factor) if inst.op.wrapping is not None else high
            if least <= most:
                chain.append(inst)
                last, low, high = inst.result, least, most
                continue
        if sum(one.op.wrapping is not None for one in chain) > 1:
            break
        chain = []
    if sum(one.op.wrapping is not None for one in chain) < 2:
        return None
    return chain, chain[0].args[0], low if low or not chain[0].attrs.get("nonnegative") else None, high


def _step(inst, last, defs):
    """(constant, spread) of a sum with `last`: what it adds, give or take `spread`. None for other instructions."""
    if inst.op not in SUMS:
        return None
    x, y = inst.args
    if y is last and inst.op in (IADD, IADD_CK):
        x, y = y, x
    if x is not last or y is last:
        return None
    c = defs.constant(y)
    if c is not None:
        return c if inst.op in (IADD, IADD_CK) else -c, 0
    return (0, inst.attrs["by"]) if y is inst.args[1] and "by" in inst.attrs else None


def _join_checks(fn, block, chain, value, low, high) -> ir.Block:
    """Split `block` after the last instruction of `chain`, so that one comparison decides whether the checks of the
    chain are needed. Returns the second part."""
    checked, on = ir.Block("checked"), ir.Block("on", [ir.Value(inst.result.type, inst.result.name) for inst in chain])
    end, loc = block.insts.index(chain[-1]) + 1, chain[-1].loc
    first, on.insts, block.insts = block.insts[:end], block.insts[end:], []
    copies: dict = {}
    for inst in first:
        if inst in chain:
            checked.insts.append(inst)
            inst = clone_inst(inst, copies, {})
            if inst.op.wrapping is not None:
                drop_check(inst)
            inst.attrs = {}  # whether it wraps is known only behind the comparison
        block.insts.append(inst)
    results = [inst.result for inst in chain]
    Builder(checked.insts, loc).jump(ir.Edge(on, results))
    b = Builder(block.insts, loc)
    b.branch(_inside(b, value, low, high), ir.Edge(on, [copies[v] for v in results]), ir.Edge(checked), likely=True)
    fn.blocks.append(on)
    substitute(fn.blocks, dict(zip(results, on.params)))
    fn.blocks.append(checked)
    return on


def _inside(b: Builder, value, low, high) -> ir.Value:
    """Append the test whether `low <= value <= high`; returns its result. low: None or the least int where
    nothing is less."""
    if value.type is not Int:
        value = b.cast(value, Int)
    if low is None or low == INT_MIN:
        return b.test(ILE, value, b.const(Int, high))
    if high == INT_MAX:
        return b.test(IGE, value, b.const(Int, low))
    least, most = (b.const(Int, n) for n in (low, high))
    return b.test(BAND, b.test(IGE, value, least), b.test(ILE, value, most))


def _is_bit(condition, defs) -> bool:
    """Whether a condition tests a bit of a number, `x & 1`, `(x ^ y) & 4 != 0`, or compares a few bits: `x & 3 ==
    2`."""
    inst = condition.inst
    while inst is not None and inst.op is CAST and inst.args[0].type in (Bool, NpBool):
        inst = inst.args[0].inst
    if inst is not None and inst.op in (IEQ, INE) and _constant(inst.args[1]) is not None:
        inst = inst.args[0].inst
        while inst is not None and inst.op is CAST and is_integer(inst.args[0].type):
            inst = inst.args[0].inst
        if inst is not None and inst.op is IAND and any(_constant(x) in (3, 7) for x in inst.args):
            return True
    elif inst is not None and inst.op is CAST and is_integer(inst.args[0].type):
        inst = inst.args[0].inst
    else:
        return False
    return inst is not None and inst.result is not None and _single_bit(inst.result, defs)


def _halves(condition, loop, defs) -> bool:
    """Whether a condition compares the element in the middle between two numbers that the loop carries, as a binary
    search does."""
    test = condition.inst
    while test is not None and test.op is CAST and test.args[0].type in (Bool, NpBool):
        test = test.args[0].inst
    if test is None or len(test.args) != 2:
        return False
    for v in test.args:
        load = _uncast(v)
        if load is not None and load.op is ARRAY_LOAD and len(load.args) == 2:
            half = load.args[1].inst
            if half is not None and half.op is CHECK_INDEX:
                half = half.args[0].inst
            if half is not None and half.op in (ISHR, IFLOORDIV) and (
                    defs.constant(half.args[1]) == (1 if half.op is ISHR else 2)):
                ends = half.args[0].inst
                if ends is not None and ends.op in (IADD, IADD_CK) and set(ends.args) <= set(loop.header.params):
                    return True
    return False


def _uncast(v) -> ir.Inst | None:
    while v.inst is not None and v.inst.op is CAST:
        v = v.inst.args[0]
    return v.inst


def _constant(value) -> int | None:
    inst = value.inst
    return (int(inst.attrs["value"]) if inst is not None and inst.op is control.CONST and is_integer(value.type)
            else None)


def _single_bit(value, defs, depth=0) -> bool:
    inst = value.inst
    if inst is None or depth > 3:
        return False
    if inst.op is IAND:
        mask = next((c for x in inst.args for c in [_constant(x)] if c is not None), 0)
        return mask > 0 and not mask & (mask - 1)
    if inst.op is IXOR:
        return all(_single_bit(x, defs, depth + 1) for x in inst.args)
    return inst.op in (NARROW, CAST) and _single_bit(inst.args[0], defs, depth + 1)


def _is_there(load, loop, defs, edges) -> bool:
    """Whether an element exists on every trip of a loop, because its index iterates over the array, so that it may be
    loaded unconditionally."""
    array, *indices = load.args
    counted = find(loop, defs, edges)
    if counted is None or len(indices) != 1 or counted.steps.get(indices[0]) != 1 \
            or defs.constant(counted.start[indices[0]]) != 0:
        return False
    trips = counted.start[counted.left].inst
    # the other operand of the select means no trip
    if trips is not None and trips.op is structure.SELECT and defs.constant(trips.args[2]) == 0:
        trips = trips.args[1].inst
    return trips is not None and trips.op is ARRAY_DIM and trips.args[0] is array


def _interval(arm, loop, defs, edges, twins):
    """(value, low, high): the interval of `value` in which all checked results of `arm` fit. () where none is checked;
    None where there is no such interval, or where the arm costs too much to compute in vain. loop: the loop around the
    arm, or None if the arm may run when no trip is made; twins: whether the other arm computes the same."""
    forms: dict[ir.Value, tuple[ir.Value, int, int]] = {}  # result -> (value, factor, constant)
    root, low, high = None, INT_MIN, INT_MAX
    count, of_choice, nonnegative = 0, False, False
    for inst in arm:
        if inst.op is control.CONST and is_integer(inst.result.type):
            continue
        if twins and inst.op is CAST:
            forms[inst.result] = forms.get(inst.args[0], (inst.args[0], 1, 0))
            continue
        count += 1
        if inst.op is ARRAY_LOAD and loop is not None and is_integer(inst.result.type) \
                and _is_there(inst, loop, defs, edges):
            continue
        if inst.op is structure.CHOOSE or inst.op is CAST and inst.result.type in (Bool, NpBool) or (
                inst.op in (IEQ, INE) and _constant(inst.args[1]) is not None):
            of_choice |= inst.op is structure.CHOOSE
            continue
        if (inst.op not in _CHEAP or not is_integer(inst.result.type) or (inst.op is ISHL or inst.op is ISHR)
            and _constant(inst.args[1]) is None):
            return None
        if inst.op not in _SUMS:
            continue
        x, y = inst.args
        if inst.op is not ISUB_CK and defs.constant(x) is not None:
            x, y = y, x
        c = defs.constant(y)
        if c is None:
            return None
        value, factor, constant = forms.get(x, (x, 1, 0))
        # what is known in an arm is of no use for twins, where the arm also stands for the other one
        nonnegative |= value is x and bool(inst.attrs.get("nonnegative")) and not twins
        if inst.op is IMUL_CK:
            factor, constant = factor * c, constant * c
        else:
            constant += c if inst.op is IADD_CK else -c
        home = value.inst
        if not factor or root not in (None, value) or home in arm:
            return None
        forms[inst.result] = value, factor, constant
        root = value
        a, b = INT_MIN - constant, INT_MAX - constant
        if factor < 0:
            a, b = b, a
        low, high = max(low, -(-a // factor)), min(high, b // factor)
    if count > (CHAIN if of_choice else MOST) or low > high:
        return None
    return () if root is None else (root, INT_MIN if nonnegative and low <= 0 else low, high)
