"""Replace a loop that clears the bits of a number one by one by one instruction that counts bits.

A step of ranges, which knows that nothing in the loop raises. A loop of one block that clears the lowest set bit of a
number until none is left makes as many trips as bits are set, and at least one; a loop that shifts a number that is not
negative to the right until 0 is left makes as many as the number has digits. A value to which every trip adds x becomes
trips * x.
Before:  header(x, n): y = isub x, 1 ; z = iand x, y ; m = iadd n, 1 ; branch (ine z, 0) -> header(z, m), out(m)
After:   header(x, n): k = popc x ; m = iadd n, k ; jump out(m)
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.uses import read_outside
from ..ops import arith as a
from ..ops import control, structure
from ..types.kinds import Int
from .rewrite import Builder

__all__ = ["clears_lowest", "count"]


def clears_lowest(p: ir.Value, value: ir.Value) -> ir.Inst | None:
    """The subtraction of x & (x - 1), if `value` is that of x = p."""
    made = value.inst
    if made is None or made.op is not a.IAND or p not in made.args:
        return None
    less = made.args[made.args[0] is p].inst
    if less is None or less.op not in (a.ISUB, a.ISUB_CK, a.IADD, a.IADD_CK) or less.args[0] is not p:
        return None
    by = less.args[1].inst
    one = 1 if less.op in (a.ISUB, a.ISUB_CK) else -1
    return less if by is not None and by.op is control.CONST and by.attrs["value"] == one else None


def _is_half(p: ir.Value, value: ir.Value, ranges) -> bool:
    """Whether `value` is p // 2."""
    made = value.inst
    if made is None or made.args[:1] != [p]:
        return False
    by = {a.ISHR: 1, a.IFLOORDIV: 2}.get(made.op)
    return by is not None and ranges.get(made.args[1]) == (by, by)


def count(fn: ir.Function, loop, ranges) -> bool:
    """Rewrite a loop that clears the bits of a number one by one, and return whether it was such a loop."""
    header, defs = loop.header, ranges.defs
    branch = header.insts[-1]
    if len(loop.blocks) != 1 or branch.op is not control.BRANCH or any(i.op.effects for i in header.insts[:-1]):
        return False
    back, out = branch.targets
    if back.block is not header or out.block is header:
        return False
    for p, z in zip(header.params, back.args):
        halved = _is_half(p, z, ranges) and ranges.get(p)[0] >= 0
        if halved or clears_lowest(p, z) is not None:
            break
    else:
        return False
    if ranges.arriving(z, header, branch, out) != (0, 0):
        return False
    added: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}  # sum -> (its parameter, what a trip adds)
    for q, v in zip(header.params, back.args):
        if q is p or q is v:
            continue
        made = v.inst
        if made is None or made.op is not a.IADD or made.args[0] is not q:
            return False
        step = made.args[1].inst
        if defs.block_of.get(made.args[1]) is header and (step is None or step.op is not control.CONST):
            return False
        added[v] = q, made.args[1]
    read = {*read_outside(fn, {header}), *out.args}
    gone = {p, *(q for q, _ in added.values()), *(i.result for i in header.insts if i.op is not control.CONST)}
    gone -= {z, *added}
    if not read.isdisjoint(gone):
        return False
    b = Builder([i for i in header.insts if i.op is control.CONST], branch.loc)
    if halved:
        width = b.const(Int, 64 if p.type is Int else p.type.bits)
        trips = b.int(a.ISUB, width, b.int(a.CLZ, p))
    else:
        trips = b.int(a.POPC, p)
    k = header.params.index(p)
    entries = [entry for entry in ranges.edges[header] if entry[2] is not back]
    if not all(ranges.is_nonzero(edge.args[k], source, inst, edge) for source, inst, edge in entries):
        one = b.const(Int, 1)
        trips = b.int(structure.SELECT, b.test(a.ILT, trips, one), one, trips)
    for v, (q, step) in added.items():
        times = trips if v.type is Int else b.cast(trips, v.type)
        if defs.constant(step) != 1:
            times = b.op(a.IMUL, times, step, type=v.type)
        b.add(ir.Inst(a.IADD, (q, times), {}, v, branch.loc))
    zero = 0 if z.type is Int else a.numpy_class(z.type)(0)
    b.add(ir.Inst(control.CONST, (), {"value": zero}, z, branch.loc))
    b.jump(ir.Edge(out.block, out.args))
    header.insts = b.insts
    return True
