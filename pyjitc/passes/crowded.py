"""Whether a parallel loop makes more iterations than there are elements that they can write, so that two of them are
certain to write the same one: `o[i % m] = x` where there are more than m iterations, `o[i // 2] = x`, `o[place[i]] = x`
where `place` has more elements than `o`.

How many elements there are follows from the lengths of the array and from the form of the index: a remainder, a
quotient, bits that are cut off, an absolute value, a minimum or a maximum. It is a number that is known when the loop
begins; the test is made there (chunks.py), and such a loop is one chunk, which the calling thread runs.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops import arith as a
from ..ops import control, memory
from ..ops.structure import SELECT
from ..types import kinds as k
from . import apart, counted
from .chunk_cost import greater, lesser
from .operands import Overlap
from .rewrite import Builder

__all__ = ["Crowd", "Meeting", "crowds", "halves", "meetings"]

_MIN = {a.ILT: True, a.ILE: True, a.IGT: False, a.IGE: False}  # comparison -> whether it chooses the lesser if true
_FAR = 1 << 60  # stands for a bound that is not known


class Crowd:
    """The elements that one store can reach. region: of parallel.py; forms: axis of `array` -> affine form of the
    index, where it is known."""

    def __init__(self, inst: ir.Inst, region, found, array: ir.Value, forms: dict[int, counted.Affine]):
        self.inst, self.region, self.found, self.array, self.forms = inst, region, found, array, forms

    def test(self, b: Builder, trips: ir.Value, at) -> ir.Value | None:
        """Emit whether there are more iterations than elements. at: a value from before the loop -> that where `b`
        is, or None."""
        array, total = at(self.array), None
        if array is None:
            return None
        for axis in range(array.type.ndim):
            room = b.int(memory.ARRAY_DIM, array, axis=axis)
            form = self.forms.get(axis)
            if form is not None:
                number = _Number(self, b, trips, at).of_form(form)
                if number == 1:
                    continue
                room = room if number is None else lesser(b, room, number)
            total = room if total is None else b.int(a.IMUL, total, room)
        return None if total is None else b.test(a.IGT, trips, total)


class Meeting:
    """An array to which iterations store, and others, which may share memory with it where the program passes one array
    twice, or two views of it. others: (array, whether iterations are apart where it is the same one, element for
    element)."""

    def __init__(self, array: ir.Value, others: list[tuple[ir.Value, bool]]):
        self.array, self.others = array, others

    def test(self, b: Builder, aliases, at) -> ir.Value | None:
        """Emit whether iterations may meet in memory that the arrays share."""
        array, tests = at(self.array), []
        if array is None:
            return None
        whole = Overlap(b, array, lengths(b, array))
        for other, equal in self.others:
            other = at(other)
            if other is None or other is array or aliases.distinct(array, other):
                continue
            if other.type.ndim == array.type.ndim == 1 and "C" not in (array.type.layout, other.type.layout):
                one = Overlap(b, array, lengths(b, array))
                one.add(other, lengths(b, other), equal)
                tests.append(b.test(a.BAND, one.found(), b.test(a.BNOT, _between(b, array, other))))
            else:
                whole.add(other, lengths(b, other), equal)
        if whole.groups or whole.tests:
            tests.append(whole.found())
        return b.any(tests) if tests else None


def lengths(b: Builder, array: ir.Value) -> list[ir.Value]:
    return [b.int(memory.ARRAY_DIM, array, axis=n) for n in range(array.type.ndim)]


def _between(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    """Whether the elements of y are between those of x, as columns of a table are, or parts of complex numbers."""
    stride = b.int(memory.ARRAY_STRIDE, x, axis=0)
    size = greater(b, b.int(a.IABS, stride), b.const(k.Int, 1))
    gap = b.int(a.IMOD, b.int(a.ISUB, b.int(memory.ARRAY_DATA, y), b.int(memory.ARRAY_DATA, x)), size)
    last = b.int(a.IADD, gap, b.const(k.Int, memory.item_bytes(y.type.dtype)))
    return b.all([b.test(a.IEQ, stride, b.int(memory.ARRAY_STRIDE, y, axis=0)), b.test(a.ILE, last, size),
                  b.test(a.IGE, gap, b.const(k.Int, memory.item_bytes(x.type.dtype)))])


def meetings(region, reached, stored, inner) -> list[Meeting]:
    """What is to be tested of arrays from before a loop that may share memory. reached: array -> the places of its
    accesses; stored: those to which iterations store; inner: of `apart.spans`."""
    found = []
    arrays = [v for v in reached if v not in region.defined and type(v.type) is k.Array]
    for n, x in enumerate(arrays):
        if x in stored and x not in region.shared:
            others = [(y, x.type.ndim == y.type.ndim and apart.are_apart([*reached[x], *reached[y]], region, inner))
                      for m, y in enumerate(arrays) if y is not x and not (y in stored and m < n)
                      and not region.aliases.distinct(x, y)]
            if others:
                found.append(Meeting(x, others))
    return found


class _Number:
    """How many values an index can have at the most, in all iterations for fixed counters of loops inside."""

    def __init__(self, crowd: Crowd, b: Builder, trips: ir.Value, at):
        self.region, self.found = crowd.region, crowd.found
        self.b, self.trips, self.at = b, trips, at

    def of_form(self, form: counted.Affine):
        """1 for an index that is the same in each iteration; None where nothing is known."""
        varying = _varying(form, self.region, self.found)
        if not varying:
            return 1
        if len(varying) > 1:
            return self.between(self.of_sum(counted.Affine(0, varying)))
        v = next(iter(varying))
        if v in self.region.counters:
            return self.trips
        if (bits := _lost_bits(v)) is not None:
            shift, ends = self.const(bits[1]), self.bounds(bits[0])
            return ends and self.between((self.b.int(a.ISHR, ends[0], shift), self.b.int(a.ISHR, ends[1], shift)))
        return self.between(self.bounds(v))

    def const(self, value: int) -> ir.Value:
        return self.b.const(k.Int, value)

    def between(self, ends):
        return ends and self.b.int(a.IADD, self.b.int(a.ISUB, ends[1], ends[0]), self.const(1))

    def invariant(self, v: ir.Value):
        """A value that is the same in each iteration, where the loop begins, or None."""
        while v.inst is not None and v.inst.op in (a.CHECK_NONZERO, a.CHECK_NONNEG):
            v = v.inst.args[0]
        if v.inst is not None and v.inst.op is control.CONST and v.type in counted.WIDE:
            return self.const(int(v.inst.attrs["value"]))
        return None if v in self.region.defined or v.type is not k.Int else self.at(v)

    def of_sum(self, form: counted.Affine):
        low = high = self.const(form.constant)
        for v, c in form.terms.items():
            ends = self.bounds(v)
            if ends is None:
                return None
            one, two = (self.b.int(a.IMUL, x, self.const(c)) for x in (ends if c > 0 else ends[::-1]))
            low, high = self.b.int(a.IADD, low, one), self.b.int(a.IADD, high, two)
        return low, high

    def bounds(self, v: ir.Value):
        """The least and the greatest value, or None."""
        b = self.b
        if v in self.region.counters:
            step, start = self.region.counters[v], self.at(self.region.count.start[v])
            c = self.region.defs.constant(self.region.count.start[v])
            start = start if c is None else self.const(c)
            if type(step) is not int or start is None:
                return None
            far = b.int(a.IADD, start, b.int(a.IMUL, b.int(a.ISUB, self.trips, self.const(1)), self.const(step)))
            return (start, far) if step > 0 else (far, start)
        if (one := self.invariant(v)) is not None or v not in self.region.defined:
            return one and (one, one)
        form = self.found.affine(v)
        if form.terms != {v: 1}:
            return self.of_sum(form)
        if (chosen := _chosen(v, self.region)) is not None:
            least, x, y = chosen
            one, two = (self.bounds(part) or (self.const(-_FAR), self.const(_FAR)) for part in (x, y))
            pick = lesser if least else greater
            return pick(b, one[0], two[0]), pick(b, one[1], two[1])
        made = v.inst
        if made is None or v.type not in counted.WIDE:
            return None
        if made.op in (memory.CHECK_INDEX, a.CHECK_NONNEG, a.NARROW):
            return self.bounds(made.args[0])
        if made.op is a.CAST:
            t = made.args[0].type
            if t in counted.WIDE:
                return self.bounds(made.args[0])
            if t in _NARROW:
                first = -(1 << t.bits - 1) if t.signed else 0
                return self.const(first), self.const(first + (1 << t.bits) - 1)
            return (self.const(0), self.const(1)) if t is k.Bool else None
        if made.op in (a.IFLOORDIV, a.IFLOORDIV_CK, a.ISHR):
            ends, by = self.bounds(made.args[0]), self.invariant(made.args[1])
            if ends is None or by is None:
                return None
            op, by = (a.ISHR, by) if made.op is a.ISHR else (a.IFLOORDIV, greater(b, by, self.const(1)))
            return b.int(op, ends[0], by), b.int(op, ends[1], by)
        if made.op is a.IMOD:
            by = self.invariant(made.args[1])
            return by and (self.const(0), b.int(a.ISUB, b.int(a.IABS, by), self.const(1)))
        if made.op is a.IAND:
            mask = next((one for x in made.args if (one := self.invariant(x)) is not None), None)
            return mask and (self.const(0), b.int(
                SELECT, b.test(a.ILT, mask, self.const(0)), self.const(_FAR), mask))
        if made.op in (a.IABS, a.IABS_CK) and (ends := self.bounds(made.args[0])) is not None:
            low, high = ends
            below = b.int(a.INEG, high)
            return greater(b, greater(b, low, below), self.const(0)), greater(b, b.int(a.INEG, low), high)
        return None


_NARROW = {k.int8, k.int16, k.int32, k.uint8, k.uint16, k.uint32}


def crowds(region, found, own) -> list[Crowd]:
    """What is to be tested of a loop: for each store that every iteration makes, of a value that iterations compute, to
    an array whose elements may be shared. found: `Collisions`; own: arrays whose elements are not."""
    stores, loaded = [], set()
    for block in region.loop.blocks:
        for inst in block.insts:
            if inst.op is memory.ARRAY_STORE:
                stores.append((inst, found.accesses(block, inst)))
            elif inst.op is memory.ARRAY_LOAD:
                loaded.update([one.root for one in found.accesses(block, inst)])
    values: dict[ir.Value, set] = {}
    for inst, reached in stores:
        c = region.defs.constant(inst.args[-1])
        for one in reached:
            values.setdefault(one.root, set()).add(inst.args[-1] if c is None else c)
    tests = []
    for inst, reached in stores:
        if len(reached) != 1 or not reached[0].always:
            continue
        root, value = reached[0].root, inst.args[-1]
        same = value not in region.defined or value.inst is not None and value.inst.op is control.CONST
        if root in own or root in region.shared or same and len(values[root]) == 1 and root not in loaded:
            continue  # a flag that all iterations set to one value
        array = inst.args[0]
        if array not in region.defined:
            tests.append(Crowd(inst, region, found, array, dict(enumerate(map(found.affine, inst.args[1:-1])))))
        elif root not in region.defined and array.type.dtype is root.type.dtype:
            tests.append(Crowd(inst, region, found, root, reached[0].index))
    return tests


def halves(crowd: Crowd) -> bool:
    """Whether already two or a few successive iterations write the same element: `o[i // 2]`, `o[i >> 1]`, `o[i & ~1]`,
    `o[i | 1]`."""
    region, found = crowd.region, crowd.found
    varying = [_varying(form, region, found) for form in crowd.forms.values()]
    varying = [one for one in varying if one]
    if len(crowd.forms) < crowd.array.type.ndim or len(varying) != 1 or len(varying[0]) != 1:
        return False
    v = next(iter(varying[0]))
    made, by = v.inst, 1
    if made is None or v in region.counters:
        return False
    if (bits := _lost_bits(v)) is not None:
        x, by = bits[0], 1 << bits[1]
    elif made.op in (a.IFLOORDIV, a.IFLOORDIV_CK, a.ISHR):
        x, c = made.args[0], region.defs.constant(made.args[1])
        by = 1 if c is None else abs(c) if made.op is not a.ISHR else 1 << min(max(c, 0), 62)
    if by == 1:
        return False
    inside = _varying(found.affine(x), region, found)
    if len(inside) != 1:
        return False
    (counter, factor), = inside.items()
    step = region.counters.get(counter)
    return type(step) is int and 0 < abs(factor * step) < by


def _varying(form: counted.Affine, region, found) -> dict[ir.Value, int]:
    """The terms that are not the same in each iteration; counters of loops inside are, one by one."""
    return {v: c for v, c in form.terms.items() if v in region.defined and v not in found.ranges}


def _lost_bits(v: ir.Value) -> tuple[ir.Value, int] | None:
    """(x, n) where n of the lowest bits of x have no influence on a value."""
    made = v.inst
    if made is not None and made.op in (a.IAND, a.IOR):
        for x, other in (made.args, made.args[::-1]):
            if other.inst is not None and other.inst.op is control.CONST:
                mask = other.inst.attrs["value"]
                kept = mask if made.op is a.IAND else ~mask
                if kept < 0 and not kept & 1:
                    return x, (kept & -kept).bit_length() - 1
    return None


def _chosen(v: ir.Value, region) -> tuple[bool, ir.Value, ir.Value] | None:
    """(whether it is the lesser, x, y) of a minimum or maximum of two values, written as such or as an `if`."""
    if v.inst is not None:
        if v.inst.op is not SELECT:
            return None
        test, yes, no = v.inst.args
    else:
        block = region.defs.block_of[v]
        ways: dict[bool, ir.Value] = {}
        for source, branch, edge in region.edges[block]:
            value = edge.args[block.params.index(v)]
            while branch.op is control.JUMP and len(region.edges[source]) == 1:
                source, branch, edge = region.edges[source][0]
            if branch.op is not control.BRANCH or ways and branch.args[0] is not test:
                return None
            test = branch.args[0]
            ways[edge is branch.targets[0]] = value
        if len(ways) != 2 or len(region.edges[block]) != 2:
            return None
        yes, no = ways[True], ways[False]
    compared = test.inst
    if compared is None or compared.op not in _MIN:
        return None
    x, y = compared.args
    if _equal(x, yes) and _equal(y, no):
        return _MIN[compared.op], yes, no
    return (not _MIN[compared.op], yes, no) if _equal(x, no) and _equal(y, yes) else None


def _equal(x: ir.Value, y: ir.Value) -> bool:
    """Whether two values are the same number of 64 bits, or equal constants."""
    x, y = _uncast(x), _uncast(y)
    if x is y:
        return True
    made, other = x.inst, y.inst
    return (made is not None and other is not None and made.op is other.op is control.CONST
            and {x.type, y.type} <= counted.WIDE and bool(made.attrs["value"] == other.attrs["value"]))


def _uncast(v: ir.Value) -> ir.Value:
    while v.inst is not None and v.inst.op is a.CAST and {v.type, v.inst.args[0].type} <= counted.WIDE:
        v = v.inst.args[0]
    return v
