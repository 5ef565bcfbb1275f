"""Keep small new arrays in the frame of the function that makes them, where nothing can hold them longer than that.

Runs before references are counted: those to an array of the frame are not. Its memory is the same each time the
instruction runs, so that an array which a later trip of a loop may still hold is none. One of known lengths becomes a
`frame_array`, one of any others gets a buffer in the frame, which serves where it has room (`array_new` with `frame`).
Before:  a = array_new two ; array_store a, ...        After:  a = frame_array two ; array_store a, ...
Needs: SSA, references not yet counted.  Keeps: SSA, control flow.
"""
from __future__ import annotations

import math

from ..ir import core as ir
from ..ir.cfg import reverse_postorder
from ..ops import arith, control, memory
from ..ops.arith import IADD, IMUL, ISUB
from ..ops.structure import RETYPE, SELECT
from ..types.kinds import Array

__all__ = ["run"]

KNOWN = 1024  # bytes of an array of known lengths
UNKNOWN = 128  # bytes of the buffer for any others
ROOM = 2048  # bytes of all of a function
# The result may lead to the same memory.
_SAME_MEMORY = frozenset((memory.ARRAY_VIEW, RETYPE, SELECT, memory.ARRAY_DATA, IADD, ISUB, IMUL))
# What keeps nothing of its operands; comparisons are of addresses, to see whether two arrays share memory.
_LOOKS = frozenset((
    memory.ARRAY_LOAD, memory.ARRAY_STORE, memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ROW_COPY, memory.SUM_EIGHTS,
    memory.DOT, memory.ARRAY_COPY, memory.ARRAY_SAME, *arith.INTEGER_COMPARISONS))


def run(fn: ir.Function, options=None) -> None:
    blocks = reverse_postorder(fn)
    held = _held(blocks, {}, {fn})
    consts = {i.result: i.attrs["value"] for b in blocks for i in b.insts if i.op is control.CONST}
    left = ROOM
    for block in blocks:
        for inst in block.insts:
            if inst.op is not memory.ARRAY_NEW or inst.result in held:
                continue
            shape = [consts.get(n, -1) for n in inst.args]
            if min(shape, default=1) < 0:
                size = UNKNOWN if left >= UNKNOWN and len(shape) <= memory.MOST_SIZED else 0
                if size:
                    inst.attrs = {**inst.attrs, "frame": size}
            else:
                size = math.prod(shape) * memory.item_bytes(inst.result.type.dtype)
                if not 0 < size <= min(KNOWN, left):
                    continue
                inst.op, inst.unwind = memory.FRAME_ARRAY, None
            left -= size


def _held(blocks, known, running) -> set[ir.Value]:
    """The values that may lead, when their function has returned or their instruction runs again, to memory that they
    lead to now. known: function -> which of its parameters are held; running: functions that are being looked at, which
    may call themselves."""
    place = {block: at for at, block in enumerate(blocks)}
    held: set[ir.Value] = set()
    for block in reversed(blocks):
        for inst in reversed(block.insts):
            for edge in inst.edges():
                back = place.get(edge.block, 0) <= place[block]
                held.update(v for v, p in zip(edge.args, edge.block.params) if back or p in held)
            if inst.op in _SAME_MEMORY:
                if inst.result in held:
                    held.update(inst.args)
            elif inst.op is control.INVOKE:
                kept = _kept(inst.attrs["callee"], known, running)
                held.update(v for v, keeps in zip(inst.args, kept) if keeps)
            elif inst.op not in _LOOKS and inst.op.name != "blas":  # of ops/blas.py, which need not be loaded
                held.update(inst.args)
    return held


def _kept(callee: ir.Function, known, running) -> list[bool]:
    """Of each parameter of a function, whether it keeps what it is given."""
    found = known.get(callee)
    if found is None:
        if callee in running or not any(isinstance(p.type, Array) for p in callee.params):
            return [True] * len(callee.params)
        held = _held(reverse_postorder(callee), known, running | {callee})
        found = known[callee] = [p in held for p in callee.params]
    return found
