"""Move calls of C library functions whose operands are invariant in a loop before the checks of an iteration.

Runs before versioning, so that all copies that versioning makes have it. LLVM hoists a call out of a loop only if the
call certainly runs, and a call behind a check that may raise does not; the functions themselves never raise. LLVM
hoists single instructions, such as divisions, and the elementary functions of NumPy numbers, which are sequences of
instructions, without this pass.
Before:  loop: x = load a, j ; y = load a, i ; s = sin x ; check s ; c = cos y
After:   loop: x = load a, j ; y = load a, i ; c = cos y ; s = sin x ; check s
Loads are not moved: the branch before a load may be what keeps its index in range.
The sine and the cosine of one number are moved as well: LLVM makes one call of both where no check stands between.
Needs: SSA.  Keeps: SSA, effects and their order.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest
from ..ops.arith import CAST
from ..ops.elementary import is_ours
from ..ops.math import COS, SIN
from ..ops.memory import ARRAY_LOAD, CHECK_INDEX
from ..types.kinds import is_float
from .counted import Definitions

__all__ = ["run"]

_DEPTH = 6  # the most operations in a chain from an invariant value to an operand


def _is_movable(inst: ir.Inst) -> bool:
    """Whether an instruction is arithmetic of floats, which neither fails nor reads memory for any operands."""
    return (inst.op.effects == ir.PURE and inst.result is not None and is_float(inst.result.type)
            and (inst.op is CAST or all(is_float(v.type) for v in inst.args)))


def run(fn: ir.Function, options=None) -> None:
    nest, defs = LoopNest(fn), Definitions(fn)
    for loop in nest.loops:
        if not loop.inner:
            always = [b for b in nest.dom.order if b in loop.blocks
                      and all(nest.dom.dominates(b, latch) for latch in loop.latches)]
            if any(edge.block not in loop.blocks for edge in always[0].edges()):
                del always[0]  # its test may end the loop
            _Loop(loop, always, defs).run()


class _Loop:
    """always: the blocks that every trip passes, in order, without the test of the loop."""

    def __init__(self, loop, always, defs):
        self.loop, self.always, self.defs = loop, always, defs

    def run(self) -> None:
        waves: dict[ir.Value, ir.Inst] = {}  # a number -> its sine or cosine, whichever is first
        for block in self.always:
            calls = [i for i in block.insts if i.op.cost >= ir.CALL and _is_movable(i) and not is_ours(i)]
            for inst in calls:
                if all(self.is_invariant(v) for v in inst.args):
                    self.move(inst)
                elif inst.op is SIN or inst.op is COS:
                    other = waves.setdefault(inst.args[0], inst)
                    if other.op is not inst.op:
                        self.move(other)
                        self.move(inst)

    def is_invariant(self, v, depth=_DEPTH) -> bool:
        if self.defs.block_of.get(v) not in self.loop.blocks:
            return True
        inst = v.inst
        return (inst is not None and depth > 0 and (inst.op.effects == ir.PURE or inst.op in (ARRAY_LOAD, CHECK_INDEX))
                and all(self.is_invariant(x, depth - 1) for x in inst.args))

    def move(self, inst) -> None:
        """Move an instruction, if it is movable, to behind its operands where a check stands between."""
        if not _is_movable(inst):
            return
        operands = [v for v in inst.args if self.defs.block_of.get(v) in self.always]
        for v in operands:
            if v.inst is not None:
                self.move(v.inst)
        n, k = max(map(self.place, operands), default=(0, -1))  # where they are after all of the moves
        now, at = self.place(inst.result)
        block = self.always[now]
        if n == now and not any(one.op.effects & ir.RAISES for one in block.insts[k + 1:at]):
            return
        block.insts.remove(inst)
        self.always[n].insts.insert(k + 1, inst)
        self.defs.block_of[inst.result] = self.always[n]

    def place(self, v: ir.Value) -> tuple[int, int]:
        """The number among `always` of the block that defines a value, and that of the instruction in it; -1 for a
        parameter of the block."""
        block = self.defs.block_of[v]
        return self.always.index(block), -1 if v.inst is None else block.insts.index(v.inst)
