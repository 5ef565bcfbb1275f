"""If-conversion of a loop that carries a flag which each iteration sets anew (a first-order recurrence).

In a loop that counts words, `if space: inside = False elif not inside: inside = True; words += 1`, the flag tells one
iteration about the one before. Which value an iteration leaves follows from its element alone, but the branches hide
it. LLVM vectorises such a loop if it has no branches: the flags of all lanes, shifted by one lane, are those that the
iterations begin with. It does so nowhere else, since it keeps a flag that depends on control flow out of vectors.
Before:  head(inside, words): branch more -> body, exit          body: ... branch space -> head(false, words), other
         other: branch inside -> head(inside, words), begins     begins: w = iadd words, 1 ; jump head(true, w)
After:   body: ... free = bnot space ; w = iadd words, 1 ; v = select inside, words, w ; u = select space, words, v
         jump head(free, u)
Only loops whose branches choose between values without effects are converted, where all that the loop carries are
counters, sums of integers, and values that do not depend on those of the iteration before.
Runs after versioning, which makes the copies of loops without checks, after flags, which removes some flags, and before
unroll, which copies loops with branches.
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA, the value of each number.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ops import arith, control
from ..ops.memory import ARRAY_LOAD
from ..ops.structure import SELECT
from ..types.kinds import Bool, NpBool, is_integer
from .counted import Counted, Definitions, find
from .operands import constant_of
from .rewrite import Builder, clone_inst

__all__ = ["run"]

_FLAGS = (Bool, NpBool)  # the types of a flag
_BLOCKS, _INSTS = 12, 48  # the most blocks of a loop, and the most instructions in them
_SUMS = (arith.IADD, arith.ISUB)


def run(fn: ir.Function, options=None) -> None:
    if fn.flags.novectorize or fn.flags.optnone:
        return
    defs, edges = Definitions(fn), in_edges(fn.blocks)
    found = False
    for loop in LoopNest(fn).loops:
        if loop.inner or len(loop.blocks) > _BLOCKS or not any([p.type in _FLAGS for p in loop.header.params]):
            continue
        counted = find(loop, defs, edges)
        if counted is not None and all([source is loop.header for source, _ in loop.exits()]):
            found |= _Straight(counted).replace(fn)
    if found:
        fn.blocks = reverse_postorder(fn)


class _Straight:
    """The iteration of a loop as straight-line code. insts: the code; next: what it passes to the next iteration."""

    def __init__(self, counted: Counted):
        self.counted, self.header = counted, counted.loop.header
        self.insts: list[ir.Inst] = []
        self.values: dict[ir.Value, ir.Value] = {}
        self.builder = Builder(self.insts, self.header.terminator.loc)

    def replace(self, fn: ir.Function) -> bool:
        """Let the loop consist of its header and the straight-line code. Returns whether it has the form for it."""
        if not self.make(reverse_postorder(fn)) or not self.is_first_order():
            return False
        self.builder.jump(ir.Edge(self.header, self.next))
        body = ir.Block("straight")
        body.insts = self.insts
        self.counted.body.block, self.counted.body.args = body, []
        return True

    def make(self, order: list[ir.Block]) -> bool:
        """Write the code. Returns False where it has an instruction that may not run in each iteration."""
        inside = [block for block in order if block in self.counted.loop.blocks and block is not self.header]
        if sum([len(block.insts) for block in inside]) > _INSTS:
            return False
        arriving: dict[ir.Block, list] = {block: [] for block in (*inside, self.header)}  # (condition or None, values)
        arriving[self.counted.body.block].append((None, self.counted.body.args))
        for block in inside:
            ways = arriving.pop(block)
            self.values.update(zip(block.params, self.chosen(ways)))
            condition = None if not any(arriving.values()) else self.either([way for way, _ in ways])
            for inst in block.insts[:-1]:
                if not (_may_run_in_vain(inst) if condition else inst.op.cost < ir.CALL and (
                        not inst.op.effects or inst.op is ARRAY_LOAD)):
                    return False
                self.insts.append(clone_inst(inst, self.values, {}))
            if not self.leave(block.terminator, condition, arriving):
                return False
        self.next = self.chosen(arriving[self.header])
        return True

    def leave(self, last: ir.Inst, condition, arriving) -> bool:
        """Enter the edges of the last instruction of a block into `arriving`. condition: whether the block is
        reached, None where it always is."""
        if last.op not in (control.JUMP, control.BRANCH) or set(last.attrs or ()) - {"likely"}:
            return False
        b, test = self.builder, self.get(last.args[0]) if last.args else None
        for edge, holds in zip(last.targets, (True, False)):
            taken, args = condition, [self.get(v) for v in edge.args]
            if test is not None:
                way = test if holds else b.test(arith.BNOT, test)
                # not a conjunction: where the block is not reached, the test may be undefined
                taken = way if condition is None else b.test(SELECT, condition, way, b.const(Bool, False))
                args = [b.const(Bool, holds) if v is test else v for v in args]
            arriving[edge.block].append((taken, args))
        return True

    def get(self, v: ir.Value) -> ir.Value:
        return self.values.get(v, v)

    def either(self, conditions) -> ir.Value:
        found, *others = conditions
        for condition in others:
            found = self.builder.test(SELECT, found, self.builder.const(Bool, True), condition)
        return found

    def chosen(self, ways) -> list[ir.Value]:
        """The values that a block gets: those of the one way whose condition holds. ways: pairs (condition, values)."""
        *others, (_, values) = ways
        for condition, args in reversed(others):
            values = [v if _are_equal(v, arg) else self.select(condition, arg, v) for arg, v in zip(args, values)]
        return list(values)

    def select(self, condition, one, other) -> ir.Value:
        b = self.builder
        if one.type is Bool and _constant(one) is not None and _constant(other) is not None:
            return condition if _constant(one) else b.test(arith.BNOT, condition)
        for op in _SUMS:
            (base, more), (same, most) = _parts(one, op), _parts(other, op)
            if base is same and is_integer(base.type):  # LLVM finds a sum where it is added to in each iteration
                more, most = (b.const(base.type, constant_of(base.type, 0)) if v is None else v for v in (more, most))
                return b.op(op, base, b.op(SELECT, condition, more, most, type=base.type), type=base.type)
        return b.op(SELECT, condition, one, other, type=one.type)

    def is_first_order(self) -> bool:
        """Whether the loop carries a flag that each iteration sets anew, and besides only counters, sums of integers
        and other values that do not depend on those before."""
        depends: dict[ir.Value, set[ir.Value]] = {p: {p} for p in self.header.params}
        for inst in self.insts:
            depends[inst.result] = set().union(*[depends.get(v, ()) for v in inst.args])
        flags = 0
        for p, after in zip(self.header.params, self.next):
            if p in self.counted.steps or p in self.counted.strides:
                continue
            if p not in depends.get(after, ()):
                flags += p.type in _FLAGS and after is not p
            elif not is_integer(p.type) or not self.is_sum(p, after):
                return False
        return flags > 0

    def is_sum(self, p: ir.Value, after: ir.Value) -> bool:
        """Whether the parameter p is only added to, under conditions, for its next value `after`."""
        forms = {p}  # p and what was added to it
        for inst in self.insts:
            used = [v for v in inst.args if v in forms]
            if used and not (inst.op in _SUMS and inst.args[0] in forms and len(used) == 1
                             or inst.op is arith.IADD and len(used) == 1
                             or inst.op is SELECT and inst.args[0] not in forms and len(used) == 2):
                return False
            if used:
                forms.add(inst.result)
        return after in forms


def _may_run_in_vain(inst: ir.Inst) -> bool:
    """Whether an instruction may be run for any operands, and costs little. A shift or a conversion may be undefined
    for some."""
    if inst.op is arith.CAST:
        return all([is_integer(v.type) or v.type in _FLAGS for v in (inst.result, inst.args[0])])
    return inst.op.effects == ir.PURE and inst.op.cost <= ir.MODERATE and inst.op not in (arith.ISHL, arith.ISHR)


def _parts(v: ir.Value, op: ir.Op) -> tuple[ir.Value, ir.Value | None]:
    """(base, what `op` adds to it or subtracts from it, or None)"""
    if v.inst is None or v.inst.op is not op:
        return v, None
    base, more = v.inst.args
    return base, more


def _constant(v: ir.Value):
    return v.inst.attrs["value"] if v.inst is not None and v.inst.op is control.CONST else None


def _are_equal(one: ir.Value, other: ir.Value) -> bool:
    return one is other or one.type is Bool and _constant(one) is not None and _constant(one) is _constant(other)
