"""Counted loops: the form that an iteration over a range has, and indices that are affine in its counter.

The header of such a loop has a parameter `left` that goes down by one on every back edge, and leaves the loop when it
is not positive; other integer parameters that change by a constant are its induction variables:
    header(value, left, ...):  more = igt left, 0 ; branch more -> body, exit          back edge: value + step, left - 1
Used by versioning and polling; an analysis, which changes nothing.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import Loop
from ..ops import control
from ..ops.arith import CAST, CHECK_NONNEG, IADD, IADD_CK, IGT, IMUL, IMUL_CK, INEG, ISUB, ISUB_CK, NARROW
from ..ops.memory import CHECK_INDEX
from ..ops.structure import SELECT
from ..types.kinds import Int, NpInt, int64, uint64

__all__ = ["Counted", "find", "counts_down", "step_of", "Affine", "affine", "Products", "first_and_last", "extremes",
           "Definitions", "WIDE", "MOST_NARROW", "is_wide", "widens"]

WIDE = {Int, int64}
MOST_NARROW = 16  # the most bits of the elements with which narrow ints compute
_OF_64_BITS = {*WIDE, uint64}


class Definitions:
    """Which block defines a value: block_of. (A value itself refers to the instruction that defines it.)"""

    def __init__(self, fn: ir.Function):
        self.block_of: dict[ir.Value, ir.Block] = {}
        for block in fn.blocks:
            for p in block.params:
                self.block_of[p] = block
            for inst in block.insts:
                if inst.result is not None:
                    self.block_of[inst.result] = block

    def constant(self, value: ir.Value):
        inst = value.inst
        return inst.attrs["value"] if inst is not None and inst.op is control.CONST and value.type is Int else None


FEW = 3  # loops of at most so many iterations are unrolled (unroll.py), wherever they are
MOST_UNROLLED = 16  # the most iterations of a loop inside another one that is unrolled


class Counted:
    """loop; left: the parameter that counts down; body, exit: edges of the header's branch; entry: the only edge from
    outside; steps: induction parameter -> its constant step; strides: induction parameter -> its step where that is not
    a constant but invariant in the loop; start: parameter -> its value on entry."""

    __slots__ = ("loop", "left", "body", "exit", "entry", "steps", "strides", "start", "entry_inst", "entry_block")
    loop: Loop
    left: ir.Value
    body: ir.Edge
    exit: ir.Edge
    entry: ir.Edge
    steps: dict[ir.Value, int]
    strides: dict[ir.Value, ir.Value]
    start: dict[ir.Value, ir.Value]
    entry_inst: ir.Inst
    entry_block: ir.Block


def counts_down(loop: Loop, defs: Definitions, edges) -> tuple | None:
    """(left, edge to the body, edge out) where the header leaves the loop when `left` has been counted down, else
    None."""
    header = loop.header
    branch = header.terminator
    if branch.op is not control.BRANCH:
        return None
    test = branch.args[0].inst
    if test is None or test.op is not IGT or test.args[0] not in header.params or defs.constant(test.args[1]) != 0:
        return None
    body, exit = branch.targets
    if body.block not in loop.blocks or exit.block in loop.blocks:
        return None
    left = test.args[0]
    return (left, body, exit) if step_of(loop, edges, left, defs) == -1 else None


def find(loop: Loop, defs: Definitions, edges) -> Counted | None:
    """The description of `loop` as a counted loop that is entered in one place, or None."""
    header = loop.header
    parts = counts_down(loop, defs, edges)
    outside = [e for e in edges[header] if e[0] not in loop.blocks]
    if parts is None or len(outside) != 1:
        return None
    found = Counted()
    found.loop = loop
    found.left, found.body, found.exit = parts
    found.entry_block, found.entry_inst, found.entry = outside[0]
    if found.entry is found.entry_inst.unwind:
        return None
    found.steps, found.strides, found.start = {}, {}, {}
    for k, p in enumerate(header.params):
        found.start[p] = found.entry.args[k]
        if p.type is Int:
            step = step_of(loop, edges, p, defs)
            if step is not None:
                found.steps[p] = step
            else:
                stride = _stride(loop, edges, p, defs)
                if stride is not None:
                    found.strides[p] = stride
    return found


def step_of(loop: Loop, edges, p, defs) -> int | None:
    """The constant c where every trip replaces the header's parameter p by p + c, else None."""
    k = loop.header.params.index(p)
    steps = {_step(edge.args[k], p, defs) for source, _, edge in edges[loop.header] if source in loop.blocks}
    return steps.pop() if len(steps) == 1 else None


def _step(value, p, defs):
    """The constant c where value is p + c, else None."""
    inst = value.inst
    if inst is None or len(inst.args) != 2:
        return None
    if inst.op is IADD or inst.op is ISUB:
        c = defs.constant(inst.args[1])
        if inst.args[0] is p and c is not None:
            return c if inst.op is IADD else -c
    return None


def _stride(loop: Loop, edges, p, defs) -> ir.Value | None:
    """The value from outside the loop that every trip adds to the header's parameter p, or None."""
    k = loop.header.params.index(p)
    found = {edge.args[k] for source, _, edge in edges[loop.header] if source in loop.blocks}
    inst = found.pop().inst if len(found) == 1 else None
    if inst is None or inst.op is not IADD or inst.args[0] is not p or defs.block_of.get(inst.args[1]) in loop.blocks:
        return None
    return inst.args[1]


class Affine:
    """The form constant + sum of coefficient * value; the values are of type Int."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int, terms: dict[ir.Value, int]):
        self.constant = constant
        self.terms = terms

    def plus(self, other: "Affine", sign: int) -> "Affine":
        terms = dict(self.terms)
        for v, c in other.terms.items():
            terms[v] = terms.get(v, 0) + sign * c
        return Affine(self.constant + sign * other.constant, {v: c for v, c in terms.items() if c})

    def times(self, factor: int) -> "Affine":
        return Affine(self.constant * factor, {v: c * factor for v, c in self.terms.items() if c * factor})


class Products:
    """Products of two values in affine forms, where the second factor is invariant. Each product is represented by a
    new value, which no instruction defines. of: (value, factor) -> that new value; parts: the reverse."""

    __slots__ = ("of", "parts")

    def __init__(self):
        self.of: dict[tuple[ir.Value, ir.Value], ir.Value] = {}
        self.parts: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}

    def times(self, form: Affine, other: Affine, defs: Definitions, inside) -> Affine | None:
        """The product of two forms where one of them is a value from outside the blocks `inside`, or None."""
        for x, y in ((form, other), (other, form)):
            factor, one = next(iter(y.terms.items()))
            if (len(y.terms) > 1 or y.constant or one != 1 or factor.type not in WIDE or factor in self.parts
                or defs.block_of.get(factor) in inside or not self.parts.keys().isdisjoint(x.terms)):
                continue
            terms = {factor: x.constant} if x.constant else {}
            for v, c in x.terms.items():
                product = self.of.get((v, factor))
                if product is None:
                    product = self.of[v, factor] = ir.Value(Int)
                    self.parts[product] = v, factor
                terms[product] = c
            return Affine(0, terms)
        return None


def affine(value: ir.Value, defs: Definitions, inside, memo: dict, wraps: bool = False,
           products: Products | None = None) -> Affine:
    """`value` as an affine form over values that are no sums themselves; operations outside `inside` (a set of blocks)
    are not looked into. Checked operations count as exact: the guard proves that they are. wraps: wrapping sums of
    int64 and uint64 are looked into, too; form and value are then equal modulo 2**64, so that the value is in range
    where the form is. products: where given, products with values from outside are terms, too."""
    found = memo.get(value)
    if found is not None:
        return found
    c = defs.constant(value)
    if c is not None:
        found = Affine(c, {})
    else:
        inst = value.inst
        found = None
        if inst is not None and defs.block_of[value] in inside:
            if inst.op in (IADD, IADD_CK, ISUB, ISUB_CK):
                sign = 1 if inst.op in (IADD, IADD_CK) else -1
                x, y = (affine(a, defs, inside, memo, wraps, products) for a in inst.args)
                found = x.plus(y, sign)
            elif inst.op in (IMUL, IMUL_CK):
                x, y = (affine(a, defs, inside, memo, wraps, products) for a in inst.args)
                if not x.terms:
                    found = y.times(x.constant)
                elif not y.terms:
                    found = x.times(y.constant)
                elif products is not None:
                    found = products.times(x, y, defs, inside)
            # a check returns its operand unchanged
            elif inst.op is CHECK_NONNEG or inst.op is CHECK_INDEX and inst.attrs.get("nonnegative"):
                found = affine(inst.args[0], defs, inside, memo, wraps, products)
            elif inst.op is INEG:
                found = affine(inst.args[0], defs, inside, memo, wraps, products).times(-1)
            elif wraps and inst.op in (CAST, NARROW) and {value.type, inst.args[0].type} <= _OF_64_BITS:
                found = affine(inst.args[0], defs, inside, memo, wraps, products)
            if found is not None and (len(found.terms) > 6 or any(abs(c) > 1 << 40 for c in found.terms.values())
                                      or abs(found.constant) > 1 << 60):
                found = None
        if found is None:
            found = Affine(0, {value: 1})
    memo[value] = found
    return found


def first_and_last(counted: Counted, p: ir.Value, defs: Definitions, inside, memo: dict,
                   products: Products | None = None) -> tuple[Affine, Affine]:
    """(value on the first trip, value on the last trip) of an induction variable, for a loop that makes at least one
    trip. The length is mostly `select(some test, length, 0)`; where the test is false there is no trip."""
    first, length = (affine(v, defs, inside, memo, products=products)
                     for v in (counted.start[p], trips_of(counted, defs)))
    return first, first.plus(length.plus(Affine(1, {}), -1).times(counted.steps[p]), 1)


def trips_of(counted: Counted, defs: Definitions) -> ir.Value:
    """The number of trips of a loop, if it makes any."""
    length = counted.start[counted.left]
    inst = length.inst
    return inst.args[1] if inst is not None and inst.op is SELECT and defs.constant(inst.args[2]) == 0 else length


def extremes(form: Affine, bounds: dict[ir.Value, tuple[Affine, Affine]]) -> tuple[Affine, Affine]:
    """The least and the largest value of a form on all trips, as forms over values without bounds. bounds: induction
    variable -> (least, largest value), which may depend on variables of outer loops only; outer loops first."""
    ends = []
    for end in (0, 1):
        one = form
        for p in reversed(bounds):
            c = one.terms.get(p)
            if c:
                one = one.plus(Affine(0, {p: c}), -1).plus(bounds[p][end if c > 0 else 1 - end].times(c), 1)
        ends.append(one)
    return ends[0], ends[1]


def is_wide(t) -> bool:
    """Whether a type is one of ints of at least 32 bits."""
    return t is Int or isinstance(t, NpInt) and t.bits > MOST_NARROW


def widens(inst: ir.Inst) -> bool:
    """Whether an instruction converts a narrow int, as an element of an image is one, to a wide one (narrowing.py)."""
    return (inst.op is CAST and is_wide(inst.result.type) and isinstance(inst.args[0].type, NpInt)
            and not is_wide(inst.args[0].type))
