"""Escape analysis of arrays: allocate small arrays that do not escape in the stack frame of their function.

Runs before references are counted: references to an array in the frame are not. The memory is the same each time the
instruction runs, so an array that a later trip of a loop may still refer to stays on the heap. An array of known
lengths becomes a `frame_array`; one of other lengths gets a buffer in the frame, which is used if the array fits at run
time (`array_new` with `frame`).
Before:  a = array_new two ; array_store a, ...        After:  a = frame_array two ; array_store a, ...
Needs: SSA, references not yet counted.  Keeps: SSA, control flow.
"""
from __future__ import annotations

import math

from ..ir import core as ir
from ..ir.cfg import reverse_postorder
from ..ops import arith, control, memory
from ..types.kinds import Array
from .inline import callees

__all__ = ["OF_ADDRESSES", "run"]

KNOWN = 1024  # the most bytes of an array of known lengths
UNKNOWN = 128  # bytes of the buffer of an array of other lengths
ROOM = 8192  # the most bytes of all arrays in the frame of a function
RECURSIVE = 2048  # the same for a function that may be on the stack many times

# operations whose result may be the address of an array, or be computed from it
OF_ADDRESSES = frozenset((memory.ARRAY_DATA, arith.IADD, arith.ISUB, arith.IMUL))


def run(fn: ir.Function, options=None) -> None:
    blocks = reverse_postorder(fn)
    held = _held(blocks, _Kept(fn))
    consts = {i.result: i.attrs["value"] for b in blocks for i in b.insts if i.op is control.CONST}
    left = RECURSIVE if _recurs(fn) else ROOM
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


def _recurs(fn: ir.Function) -> bool:
    reached = callees(fn)
    for one in reached:  # appended to during the iteration
        reached += [callee for callee in callees(one) if callee not in reached]
    return fn in reached


def _held(blocks, kept: _Kept) -> set[ir.Value]:
    """The values whose memory may still be referred to after their function has returned, or when the instruction that
    defines them runs again."""
    place = {block: at for at, block in enumerate(blocks)}
    held: set[ir.Value] = set()
    for block in reversed(blocks):
        for inst in reversed(block.insts):
            for edge in inst.edges():
                back = place.get(edge.block, 0) <= place[block]
                held.update(v for v, p in zip(edge.args, edge.block.params) if back or p in held)
            if inst.op.traits & ir.SAME_MEMORY or inst.op in OF_ADDRESSES:
                if inst.result in held:
                    held.update(inst.args)
            elif inst.op is control.INVOKE:
                held.update(v for v, keeps in zip(inst.args, kept.of(inst.attrs["callee"])) if keeps)
            # comparisons are of addresses, to see whether two arrays share memory
            elif not inst.op.traits & ir.KEEPS_NONE and inst.op not in arith.INTEGER_COMPARISONS:
                held.update(inst.args)
    return held


class _Kept:
    """Whether each parameter of the functions that `fn` calls may be kept beyond the call. A recursive function is
    first assumed to keep nothing, and analysed again until the assumption holds."""

    def __init__(self, fn: ir.Function):
        self.known: dict[ir.Function, list[bool]] = {fn: [True] * len(fn.params)}
        # functions under analysis -> the assumption about their parameters
        self.running: dict[ir.Function, list[bool]] = {}
        self.asked: set[ir.Function] = set()  # the functions under analysis whose assumption was used

    def of(self, callee: ir.Function) -> list[bool]:
        if callee in self.running:
            self.asked.add(callee)
            return self.running[callee]
        if callee not in self.known:
            self.known[callee] = self._found(callee)
        return self.known[callee]

    def _found(self, callee: ir.Function) -> list[bool]:
        taken, found = [False] * len(callee.params), [True] * len(callee.params)
        if any(isinstance(p.type, Array) for p in callee.params):
            blocks, before = reverse_postorder(callee), self.known
            while True:
                self.known = dict(before)
                self.running[callee] = taken
                self.asked.discard(callee)
                held = _held(blocks, self)
                found = [p in held for p in callee.params]
                if found == taken or callee not in self.asked:
                    break
                taken = found
            del self.running[callee]
        return found
