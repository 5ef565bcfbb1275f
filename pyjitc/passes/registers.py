"""Replace the steps of a linear shift register, such as those of a checksum, by a look-up in a table.

Runs after speculate, which makes selects of branches on bits, and before unroll. After some trips of such a loop, each
bit of a number is the exclusive or of some of the bits that it had before, so the result for x ^ y is the exclusive or
of the results for x and for y. If all bits except eight adjacent ones are only shifted, the result is the shifted
number combined with an entry of a table, of which these eight bits are the index. A look-up takes as long as two trips.
Before:  header(x, left): branch left > 0 -> body, out(x)      entered with left = 8
         body: bit = x & 1 != 0 ; y = ishr x, 1 ; z = ixor y, p ; v = choose bit, z, y ; jump header(v, left - 1)
After:   t = tuple_at (0, p', ...), x & 255 ; r = ixor (ishr x, 8), t ; jump out(r)
Needs: SSA, counted loops (`counted.py`).  Keeps: SSA. The operations have no effects.
"""
from __future__ import annotations

from typing import NamedTuple

from ..ir import core as ir
from ..ir.cfg import LoopNest, in_edges, reverse_postorder
from ..ir.uses import read_outside
from ..ops import arith as a
from ..ops import control
from ..ops.structure import CHOOSE, SELECT, TUPLE_AT, TUPLE_MAKE
from ..types.kinds import Bool, Int, NpInt, Tuple
from .counted import Counted, Definitions, find
from .rewrite import Builder, substitute

__all__ = ["run"]

WIDTH = 8  # the most bits for which there is a table
LEAST = 4  # the fewest trips that a look-up replaces
MOST = 64  # the most trips of a loop


def run(fn: ir.Function, options=None) -> None:
    nest, defs, edges = LoopNest(fn), Definitions(fn), in_edges(fn.blocks)
    changed = False
    for loop in nest.loops:
        counted = None if loop.inner else find(loop, defs, edges)
        trips = None if counted is None else defs.constant(counted.start[counted.left])
        if counted is not None and trips is not None and LEAST <= trips <= MOST:
            changed |= _replace(fn, counted, trips)
    if changed:
        fn.blocks = reverse_postorder(fn)


class _Form(NamedTuple):
    """A number that is linear in the bits of other numbers: the exclusive or of a constant and, for each bit that is
    set in one of these, of the image of that bit. All numbers are unsigned here, with the width of their type."""

    constant: int
    images: dict[ir.Value, tuple[int, ...]]

    def bits(self) -> int:
        """The bits that may be set."""
        found = self.constant
        for images in self.images.values():
            for one in images:
                found |= one
        return found

    def each(self, function) -> _Form:
        """The form of function(number), for a function that is linear."""
        images = {v: tuple(map(function, those)) for v, those in self.images.items()}
        return _Form(function(self.constant), {v: those for v, those in images.items() if any(those)})

    def xor(self, other: _Form) -> _Form:
        images = dict(self.images)
        for v, those in other.images.items():
            images[v] = tuple(x ^ y for x, y in zip(images[v], those)) if v in images else those
        return _Form(self.constant ^ other.constant, {v: those for v, those in images.items() if any(those)})


def _width(t) -> int:
    """The number of bits of a type; 0 where its values are no bits."""
    return 64 if t is Int else 1 if t is Bool else t.bits if isinstance(t, NpInt) else 0


def _full(t) -> int:
    return (1 << _width(t)) - 1


def _sign(t) -> int:
    """The bit of the sign, or 0."""
    return 1 << _width(t) - 1 if t is Int or isinstance(t, NpInt) and t.signed else 0


def _mover(t, by: int):
    """The function that shifts a number of type `t`: to the left, or where `by` is negative to the right."""
    full, sign = _full(t), _sign(t)
    if by >= 0:
        return lambda x: x << by & full
    return lambda x: x >> -by | (full ^ full >> -by if x & sign else 0)


def _computed(inst: ir.Inst, args: list[_Form]) -> _Form | None:
    """The form of a result, or None where the operation is not linear."""
    op, t = inst.op, inst.result.type
    x = args[0]
    fixed = [one.constant if not one.images else None for one in args]  # the operands that are constants
    if op is a.IXOR or op is a.BXOR:
        return x.xor(args[1])
    if op is a.BNOT:
        return x.xor(_Form(1, {}))
    if op is a.IAND:
        if fixed[0] is not None:
            x, fixed = args[1], fixed[::-1]
        mask = fixed[1]
        return None if mask is None else x.each(lambda one: one & mask)
    if op is a.ISHL or op is a.ISHR:
        by = fixed[1]
        if by is None or by >= _width(t):
            return None
        return x.each(_mover(t, by if op is a.ISHL else -by))
    if op is a.IEQ or op is a.INE:
        return _bit(x.xor(args[1]), op is a.IEQ)
    if op is a.CAST:
        given = inst.args[0].type
        if t is Bool:
            return _bit(x, False)
        sign, full = _sign(given), _full(t)
        return x.each(lambda one: (one - 2 * sign if one & sign else one) & full)
    if op is a.INEG or op is a.IMUL:  # of a bit
        if fixed[0] is not None and op is a.IMUL:
            x, fixed = args[1], fixed[::-1]
        factor = _full(t) if op is a.INEG else fixed[1]
        return None if factor is None or x.bits() > 1 else x.each(lambda one: factor if one else 0)
    if op is CHOOSE or op is SELECT:
        x, y = args[1:]
        differ = x.xor(y)
        return None if differ.images else y.xor(args[0].each(lambda one: differ.constant if one else 0))
    return None


def _bit(x: _Form, negate: bool) -> _Form | None:
    """The form of the test whether a number is not 0, or with `negate` whether it is 0; None if several of its bits may
    be set."""
    bits = x.bits()
    return None if bits & bits - 1 else x.each(lambda one: 1 if one else 0).xor(_Form(int(negate), {}))


def _trip(loop, forms: dict[ir.Value, _Form]) -> dict[ir.Value, _Form] | None:
    """The forms of the header's parameters after a trip that starts with `forms`, without those that are not linear;
    None where the trip has effects or branches."""
    block = loop.header
    found: dict[ir.Value, _Form | None] = {**forms}

    def form(v):
        if v not in found:
            is_number = v.inst is not None and v.inst.op is control.CONST and _width(v.type)
            found[v] = _Form(int(v.inst.attrs["value"]) & _full(v.type), {}) if is_number else None
        return found[v]

    while True:
        *insts, last = block.insts
        for inst in insts:
            if inst.op.effects:
                return None
            args = [form(v) for v in inst.args]
            if args and None not in args and _width(inst.result.type):
                found[inst.result] = _computed(inst, args)
        inside = [edge for edge in last.targets if edge.block in loop.blocks]
        if len(inside) != 1 or len(last.targets) > 1 and block is not loop.header:
            return None
        block = inside[0].block
        after = {p: one for p, v in zip(block.params, inside[0].args) if (one := form(v)) is not None}
        if block is loop.header:
            return after
        found.update(after)


class _Table(NamedTuple):
    """The contribution of a number to a form: some of its bits, shifted, and an entry of a table."""

    keep: int  # the bits that are only shifted
    by: int  # the distance to the left; negative: to the right
    masked: bool  # whether the other bits must be cleared before the shift
    low: int  # the lowest of the adjacent bits that are the index into the table
    entries: tuple[int, ...]


def _table(v: ir.Value, images: tuple[int, ...]) -> _Table | None:
    """The contribution of `v`, whose bits have these images; None where the bits that are not only shifted span more
    than WIDTH bits."""
    best = None
    for by in sorted({one.bit_length() - 1 - k for k, one in enumerate(images) if one and not one & one - 1}) or [0]:
        move = _mover(v.type, by)
        moved = [move(1 << k) for k in range(len(images))]
        others = [k for k, one in enumerate(images) if one and one != moved[k]]
        low, end = (others[0], others[-1] + 1) if others else (0, 0)
        if end - low > WIDTH or best is not None and len(best.entries) <= 1 << end - low:
            continue
        keep = [k for k, one in enumerate(images) if one and one == moved[k] and not low <= k < end]
        entries = [0]
        for image in images[low:end]:
            entries += [entry ^ image for entry in entries]
        masked = any(one for k, one in enumerate(moved) if k not in keep)
        best = _Table(sum(1 << k for k in keep), by, masked, low, tuple(entries))
    return best


def _tables(forms: dict[ir.Value, _Form]) -> dict[ir.Value, dict[ir.Value, _Table]] | None:
    """Number after some trips -> number before -> its contribution; None where a contribution has no table."""
    found: dict[ir.Value, dict[ir.Value, _Table]] = {}
    for p, form in forms.items():
        found[p] = {}
        for v, images in form.images.items():
            table = _table(v, images) if v.type is p.type else None
            if table is None:
                return None
            found[p][v] = table
    return found


def _replace(fn, counted: Counted, trips: int) -> bool:
    """Replace a loop by look-ups, where it is a shift register; returns whether it is one."""
    loop = counted.loop
    state = {p for p in loop.header.params if p not in counted.steps}
    inside = {v for block in loop.blocks for v in block.values()}
    read = read_outside(fn, loop.blocks) | {*counted.exit.args}
    if not state or not all([_width(p.type) > 1 for p in state]) or not read & inside <= state:
        return False
    forms: dict[ir.Value, _Form] | None = {
        p: _Form(0, {p: tuple(1 << k for k in range(_width(p.type)))}) for p in state}
    after: list[dict[ir.Value, tuple[int, dict[ir.Value, _Table]]]] = []  # for 1, 2, ... trips: the form of each number
    while forms is not None and len(after) < trips:
        forms = _trip(loop, forms)
        tables = _tables(forms) if forms is not None and forms.keys() == state else None
        if forms is None or tables is None:
            break
        after.append({p: (form.constant, tables[p]) for p, form in forms.items()})
    most = len(after)
    if most < LEAST or all([len(t.entries) == 1 for _, one in after[-1].values() for t in one.values()]):
        return False
    block, values = ir.Block("register"), {p: counted.start[p] for p in loop.header.params if p in state}
    for n in [most] * (trips // most) + [trips % most] * (trips % most > 0):
        values = {p: _look_up(block, values, p, *after[n - 1][p], counted.entry_inst.loc) for p in values}
    Builder(block.insts, counted.entry_inst.loc).jump(counted.exit)
    counted.entry.block, counted.entry.args = block, []
    fn.blocks.append(block)
    substitute(fn.blocks, values)
    return True


def _look_up(block, values, p, constant, tables: dict[ir.Value, _Table], loc) -> ir.Value:
    """Add the instructions that compute the number `p` after some trips from the values before."""
    t, b = p.type, Builder(block.insts, loc, None)

    def number(value):
        signed = value - 2 * (value & _sign(t))
        return b.const(t, signed if t is Int else a.numpy_class(t)(signed))

    def moved(x, by):
        return b.op(a.ISHL if by > 0 else a.ISHR, x, number(abs(by)), type=t) if by else x

    parts: list[ir.Value] = []
    indices: dict[tuple[int, tuple[int, ...]], ir.Value] = {}
    for v, table in tables.items():
        if table.keep:
            x = b.op(a.IAND, values[v], number(table.keep), type=t) if table.masked else values[v]
            parts.append(moved(x, table.by))
        if len(table.entries) > 1:
            key = table.low, table.entries
            indices[key] = b.op(a.IXOR, indices[key], values[v], type=t) if key in indices else values[v]
    for (low, entries), x in indices.items():
        at = b.op(a.IAND, moved(x, -low), number(len(entries) - 1), type=t)
        if t is not Int:
            at = b.cast(at, Int)
        kept = [number(entry ^ constant) for entry in entries]
        constant = 0
        row = b.op(TUPLE_MAKE, *kept, type=Tuple([t] * len(kept)), cls=None)
        parts.append(b.op(TUPLE_AT, row, at, type=t))
    if constant or not parts:
        parts.append(number(constant))
    result = parts[0]
    for one in parts[1:]:
        result = b.op(a.IXOR, result, one, type=t)
    return result
