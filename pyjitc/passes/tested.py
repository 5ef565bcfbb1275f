"""What is tested when a parallel loop begins, where only then it can be known whether its iterations are apart. A loop
that fails a test is one chunk, which the calling thread runs (chunks.py).

`Ends`: numbers from before the loop decide, as for `o[i * m + j]`, where rows of n elements do not overlap if m >= n.
`Inspection`: the indices follow from the number of the iteration and from arrays that the loop does not change, as in
`o[place[i]]` and `for j in range(start[i], start[i + 1]): o[j]`. A loop before the loop computes them, and marks the
elements; where an iteration accesses a range of them, the ranges must follow one another.
`Meeting`: arrays may share memory.
"""
from __future__ import annotations

from typing import Any

from ..ir import core as ir
from ..ops import arith as a
from ..ops import control, memory
from ..ops.structure import SELECT, TUPLE_AT, TUPLE_GET, UNION_GET
from ..types import kinds as k
from . import gvn
from .apart import ways_apart
from .chunk_cost import greater, lesser
from .counted import Affine
from .operands import Overlap, constant_of
from .reached import PARTS, Access, Reached
from .rewrite import Builder, clone_inst, drop_flags
from .selected import single_choice

__all__ = ["Ends", "Inspection", "Meeting", "meetings"]

_COPIED = {*a.ARITH_OPS.values(), *gvn.MOVED, *PARTS, control.CONST, SELECT, memory.ARRAY_DIM, memory.ARRAY_STRIDE,
           memory.ARRAY_VIEW, memory.ARRAY_STEP}
_MOST = 64  # values that are computed for a test
_MARKED = 40  # the cost of marking an element, in operations
_SPARSE = 64  # an inspection marks elements of arrays with at most so many elements for an iteration


class _Values:
    """Computes values of the loop before it, for the iteration `number`, where they follow from that number and from
    memory that the loop does not change. at: a value from before the loop -> that where `b` is, or None; bad: tests of
    which one holds where a value is not what the loop computes; filled: arrays that must have elements."""

    def __init__(self, b: Builder, reached: Reached, at, number: ir.Value | None = None, stored=frozenset()):
        self.b, self.reached, self.at, self.number, self.stored = b, reached, at, number, stored
        self.region = reached.region
        self.known: dict[ir.Value, ir.Value | None] = {}
        self.bad: list[ir.Value] = []
        self.filled: list[ir.Value] = []

    def empty(self, b: Builder) -> ir.Value:
        """Emit whether an array is empty from which an element is loaded even where the program does not."""
        return b.any([b.test(a.IEQ, b.int(memory.ARRAY_DIM, v, axis=n), b.const(k.Int, 0))
                      for v in dict.fromkeys(self.filled) for n in range(v.type.ndim)])

    def form(self, form: Affine) -> ir.Value | None:
        b = self.b
        total: ir.Value | None = None
        for v, c in form.terms.items():
            x = self.int(v)
            if x is None:
                return None
            x = x if c == 1 else b.int(a.IMUL, x, b.const(k.Int, c))
            total = x if total is None else b.int(a.IADD, total, x)
        rest = b.const(k.Int, form.constant) if total is None or form.constant else None
        return rest if total is None else total if rest is None else b.int(a.IADD, total, rest)

    def int(self, v: ir.Value) -> ir.Value | None:
        x = self.of(v)
        return x if x is None or x.type is k.Int else self.b.cast(x, k.Int)

    def of(self, v: ir.Value) -> ir.Value | None:
        if v not in self.known:
            self.known[v] = None  # while it is computed
            if len(self.known) < _MOST:
                self.known[v] = self._of(v)
        return self.known[v]

    def _of(self, v: ir.Value) -> ir.Value | None:
        b, reached, made = self.b, self.reached, v.inst
        if v is reached.number:
            return self.number
        if v in reached.products.parts:
            one, two = map(self.int, reached.products.parts[v])
            return None if one is None or two is None else b.int(a.IMUL, one, two)
        if v in reached.quotients:
            form, divisor = reached.quotients[v]
            whole = self.form(form)
            by = b.const(k.Int, divisor) if type(divisor) is int else self.int(divisor)
            if whole is None or by is None:
                return None
            if type(divisor) is not int:
                self.bad.append(b.test(a.IEQ, by, b.const(k.Int, 0)))
            return b.int(a.IFLOORDIV, whole, by)
        if v not in self.region.defined and (known := self.at(v)) is not None:
            return known
        if v in self.region.counters:
            form = reached.form(v)
            return self.form(form) if form.terms != {v: 1} else None
        if made is None:
            choice = single_choice(v, self.region) if v in self.region.defined else None
            parts = [self.of(x) for x in choice] if choice is not None else [None]
            return None if None in parts else b.op(SELECT, *parts, type=v.type)
        args: list = [self.of(x) for x in made.args]
        if None in args:
            return None
        zero = b.const(k.Int, 0)
        if made.op is memory.CHECK_INDEX:
            x = b.int(SELECT, b.test(a.ILT, args[0], zero), b.int(a.IADD, *args), args[0])
            self.bad += [b.test(a.ILT, x, zero), b.test(a.IGE, x, args[1])]
            return x
        if made.op is a.CHECK_NONNEG:
            self.bad.append(b.test(a.ILT, args[0], zero))
            return args[0]
        if made.op is memory.CELL_LOAD:  # the loop does not change cells from before it
            return b.add(clone_inst(made, dict(zip(made.args, args)), {}))
        if made.op is memory.ARRAY_LOAD:
            return self._loaded(made, args) if self.number is not None else None
        if made.op not in _COPIED or made.op.effects and made.op.wrapping is None:
            return None
        copy = clone_inst(made, dict(zip(made.args, args)), {})
        if made.op.wrapping is not None:
            copy.op, copy.attrs, copy.unwind = made.op.wrapping, {}, None
        drop_flags(copy)
        return b.add(copy)

    def _loaded(self, made: ir.Inst, args) -> ir.Value | None:
        b, (array, *indices) = self.b, args
        if made.args[0] in self.region.defined or any(
                root in self.stored for root, _, _ in self.reached.origins(made.args[0], ())):
            return None
        zero = b.const(k.Int, 0)
        self.filled.append(array)
        for n, x in enumerate(indices):
            out = b.any([b.test(a.ILT, x, zero), b.test(a.IGE, x, b.int(memory.ARRAY_DIM, array, axis=n))])
            self.bad.append(out)
            indices[n] = b.int(SELECT, out, zero, x)
        return b.op(memory.ARRAY_LOAD, array, *indices, type=made.result.type)


class _Test:
    """A test of an array to which iterations store. inst: the store that a warning shows."""

    cost = 0  # the least work of an iteration for which it is worth to test

    def __init__(self, reached: Reached, accesses: list[Access]):
        self.reached, self.accesses = reached, accesses
        self.inst = next(one.inst for one in accesses if one.stores)
        self.array = accesses[0].root

    def test(self, b: Builder, blocks: list[ir.Block], trips: ir.Value, at) -> Any:
        """Emit whether iterations may share elements. Returns (builder for what follows, the result), or None where it
        cannot be computed. blocks: where those of loops are appended."""
        raise NotImplementedError

    def is_possible(self, at) -> bool:
        """Whether all values that it needs can be computed before the loop. at: as of `_Values`."""
        b = Builder([], self.inst.loc)
        return self.test(b, [ir.Block("scratch")], b.const(k.Int, 1), at) is not None


class Ends(_Test):
    """The accesses are apart where, for each of these pairs, some way holds. pairs: results of `ways_apart`."""

    def __init__(self, reached: Reached, accesses: list[Access], pairs: list[list[list[Affine]]]):
        super().__init__(reached, accesses)
        self.pairs = pairs

    def test(self, b: Builder, blocks, trips: ir.Value, at):
        values, tests, known = _Values(b, self.reached, at), [], {}
        for pair in self.pairs:
            ways = []
            for way in pair:
                holds = []
                for form in way:
                    key = form.constant, frozenset(form.terms.items())
                    if key not in known:
                        x = values.form(form)
                        known[key] = None if x is None else b.test(a.IGE, x, b.const(k.Int, 0))
                    holds.append(known[key])
                if None not in holds:
                    ways.append(b.all(holds))
            if not ways:
                return None
            tests.append(b.test(a.BNOT, b.any(ways)))
        return b, b.any([*tests, *values.bad])


class Inspection(_Test):
    """The accesses are apart where a loop over all iterations finds no element, or no range, that two of them reach."""

    def __init__(self, reached: Reached, accesses: list[Access], stored):
        super().__init__(reached, accesses)
        self.stored = stored

    def test(self, b: Builder, blocks, trips: ir.Value, at):
        found = self._marked(b, blocks, trips, at)
        self.cost = _MARKED * len(self.accesses) if found is not None else 0
        return found or self._in_order(b, blocks, trips, at)

    def _trial(self, b: Builder, at) -> _Values:
        """Computes values only to find whether that is possible."""
        return _Values(Builder([], b.loc), self.reached, at, ir.Value(k.Int), self.stored)

    def _unless(self, refused: ir.Value, b: Builder, blocks, emit):
        """Emit what finds whether iterations meet, unless `refused` holds. emit: builder -> (builder for what follows,
        the result)"""
        inspect, joined = ir.Block("inspection"), ir.Block("tested", [ir.Value(k.Bool)])
        Builder(b.insts, b.loc).branch(refused, ir.Edge(joined, [refused]), ir.Edge(inspect))
        blocks.append(inspect)
        now, found = emit(Builder(inspect.insts, b.loc, b.unwind))
        now.jump(ir.Edge(joined, [found]))
        blocks.append(joined)
        return Builder(joined.insts, b.loc, b.unwind), joined.params[0]

    def _loop(self, b: Builder, blocks, trips: ir.Value, behind: ir.Value, emit):
        """Emit a loop over the iterations that ends where they meet. emit: (builder, number of the iteration, a value
        that goes from one to the next) -> (that value, whether they meet). Returns as `_unless`."""
        params = left, number, met, last = [ir.Value(t) for t in (k.Int, k.Int, k.Bool, k.Int)]
        head, body, after = ir.Block("inspect", params), ir.Block("one"), ir.Block("inspected")
        b.jump(ir.Edge(head, [trips, b.const(k.Int, 0), b.const(k.Bool, False), behind]))
        h, inside = Builder(head.insts, b.loc), Builder(body.insts, b.loc)
        go = h.test(a.BAND, h.test(a.IGT, left, h.const(k.Int, 0)), h.test(a.BNOT, met))
        h.branch(go, ir.Edge(body), ir.Edge(after))
        blocks += [head, body, after]
        value, found = emit(inside, number, last)
        one = inside.const(k.Int, 1)
        again = ir.Edge(head, [inside.int(a.ISUB, left, one), inside.int(a.IADD, number, one), found, value])
        inside.jump(again, novectorize=True)  # no pass makes copies of it
        return Builder(after.insts, b.loc, b.unwind), met

    def _marked(self, b: Builder, blocks, trips: ir.Value, at):
        """Mark the elements that iterations store to, and look for a mark of another iteration."""
        before, trial = _Values(b, self.reached, at), self._trial(b, at)
        array = None if self.array in self.reached.region.defined else before.of(self.array)
        if array is None:
            return None
        lengths: dict = {}  # axis along which an iteration has one index -> its length
        for key in self.accesses[0].index:
            if all([key in one.index and trial.form(one.index[key]) is not None for one in self.accesses]):
                view, axis = (array, key) if isinstance(key, int) else (before.of(key[0]), key[1])
                if view is not None and not (lengths and view is not array):
                    lengths[key] = b.int(memory.ARRAY_DIM, view, axis=axis)
        if not lengths:
            return None
        for one in self.accesses:
            for test, _ in one.conditions:
                trial.of(test)
        size, zero = b.const(k.Int, 1), b.const(k.Int, 0)
        for n in lengths.values():
            size = b.int(a.IMUL, size, n)
        most = b.int(a.IMUL, lesser(b, trips, b.const(k.Int, 1 << 31)), b.const(k.Int, _SPARSE))
        refused = [b.test(a.IGT, size, most), b.test(a.IGT, trips, b.const(k.Int, (1 << 31) - 2)), trial.empty(b)]

        def emit(now: Builder):
            marks = now.make(memory.ARRAY_NEW, t := k.Array(k.int32, 1, "C"), size, type=t, zero=True)
            found = None
            for stores in (True, False):
                some = _without_copies([one for one in self.accesses if one.stores is stores], *lengths)
                if some:
                    now, met = self._loop(now, blocks, trips, zero, lambda inside, number, last: (
                        last, self._meets(inside, number, some, lengths, marks, at)))
                    found = met if found is None else now.test(a.BOR, found, met)
            return now, found

        return self._unless(b.any(refused), b, blocks, emit)

    def _meets(self, b: Builder, number: ir.Value, accesses: list[Access], lengths, marks: ir.Value, at) -> ir.Value:
        """Emit whether other iterations have marked what one accesses, and mark it."""
        values = _Values(b, self.reached, at, number, self.stored)
        mine = b.cast(b.int(a.IADD, number, b.const(k.Int, 1)), k.int32)
        return b.any([*[self._mark(b, values, one, lengths, marks, mine) for one in accesses], *values.bad])

    def _mark(self, b: Builder, values: _Values, one: Access, lengths, marks: ir.Value, mine: ir.Value) -> ir.Value:
        """Emit whether another iteration has marked the element of an access; of a store, mark it."""
        zero, place, out = b.const(k.Int, 0), None, []
        for n, length in lengths.items():
            x = values.form(one.index[n])
            out += [b.test(a.ILT, x, zero), b.test(a.IGE, x, length)]
            place = x if place is None else b.int(a.IADD, b.int(a.IMUL, place, length), x)
        tests = [(values.of(test), yes) for test, yes in one.conditions]
        made = [test if yes else b.test(a.BNOT, test) for test, yes in tests if test is not None]
        outside = b.any(out)
        skipped = b.any([outside, *(b.test(a.BNOT, x) for x in made)])
        place = b.int(SELECT, skipped, zero, place)
        old = b.op(memory.ARRAY_LOAD, marks, place, type=k.int32)
        other = b.all([b.test(a.INE, old, b.const(k.int32, constant_of(k.int32, 0))), b.test(a.INE, old, mine),
                       b.test(a.BNOT, skipped)])
        if one.stores:
            b.op(memory.ARRAY_STORE, marks, place, b.op(SELECT, skipped, old, mine, type=k.int32))
        return b.test(a.BOR, b.all([outside, *made]), other)

    def _in_order(self, b: Builder, blocks, trips: ir.Value, at):
        """Compute whether the ranges of iterations along an axis follow one another."""
        for axis in self.accesses[0].index:
            if all([axis in one.index for one in self.accesses]):
                found = self._in_order_along(axis, b, blocks, trips, at)
                if found is not None:
                    return found
        return None

    def _in_order_along(self, axis, b: Builder, blocks, trips: ir.Value, at):
        trial = self._trial(b, at)
        ranges: list[tuple[Affine, Affine]] = []
        assumed: list[Affine] = []
        for one in _without_copies(self.accesses, axis):
            ends = self.reached.ends(one.index[axis], lambda v: trial.of(v) is not None)
            if ends is None or any(trial.form(end) is None for end in (*ends[0], *ends[1])):
                return None
            ranges.append(ends[0])
            assumed += ends[1]

        def emit(inside: Builder, number: ir.Value, behind: ir.Value):
            values = _Values(inside, self.reached, at, number, self.stored)
            low, high = [[values.form(one[end]) for one in ranges] for end in (0, 1)]
            least: Any = low[0]
            most: Any = high[0]
            for x, y in zip(low[1:], high[1:]):
                least, most = lesser(inside, least, x), greater(inside, most, y)  # type: ignore[arg-type]
            bad = [inside.test(a.ILT, values.form(form), inside.const(k.Int, 0)) for form in assumed]
            return greater(inside, behind, most), inside.any([inside.test(a.ILE, least, behind), *bad, *values.bad])

        return self._unless(trial.empty(b), b, blocks, lambda now: self._loop(
            now, blocks, trips, now.const(k.Int, -1), emit))


def _without_copies(accesses: list[Access], *axes: int) -> list[Access]:
    """The accesses without those that have the same index along these axes as another one."""
    found = {(*((form.constant, frozenset(form.terms.items())) for form in map(one.index.__getitem__, axes)),
              *one.conditions): one for one in accesses}
    return list(found.values())


class Meeting(_Test):
    """An array to which iterations store, and others, which may share memory with it where the program passes one array
    twice, or two views of it. others: (array, whether iterations are apart where it is the same one, element for
    element). An array that iterations read from a tuple or union may be any of the arrays there."""

    def __init__(self, reached: Reached, accesses: list[Access], others: list[tuple[ir.Value, bool]]):
        super().__init__(reached, accesses)
        self.others = others

    def is_possible(self, at) -> bool:
        values = _Values(Builder([], self.inst.loc), self.reached, at)
        return None not in [_ways(values, v) for v in (self.array, *(other for other, _ in self.others))]

    def found(self, b: Builder, aliases, at) -> ir.Value | None:
        """Emit whether iterations may meet in memory that the arrays share."""
        values, tests = _Values(b, self.reached, at), []
        others = [(other, equal) for v, equal in self.others for other in _ways(values, v) or ()]
        for array in _ways(values, self.array) or ():
            whole = Overlap(b, array, lengths(b, array))
            for other, equal in others:
                if other is array and equal or aliases.distinct(array, other):
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


def _ways(values: _Values, v: ir.Value) -> list[ir.Value] | None:
    """Emit the values from before the loop that a value of the loop may be: where its iterations pick items of a tuple,
    all of the items. None where they are not known."""
    known, b = values.of(v), values.b
    if known is not None:
        return [known]
    made: Any = v.inst
    found = _ways(values, made.args[0]) if made is not None and made.op in PARTS else None
    if found is None:
        return None
    if made.op is TUPLE_AT:
        if sum([len(x.type.elements) for x in found]) > _MOST:
            return None
        return [b.op(TUPLE_GET, x, type=t, index=n) for x in found for n, t in enumerate(x.type.elements)]
    if made.op is TUPLE_GET:
        n = made.attrs["index"]
        return [b.op(TUPLE_GET, x, type=x.type.elements[n], index=n) for x in found]
    if made.op is UNION_GET:  # zeros, which share no memory, where the union holds another member
        t = made.attrs["type"]
        return [x if x.type is t else b.make(UNION_GET, t, x, type=t) for x in found
                if x.type is t or type(x.type) is k.Union and t in x.type.members]
    return found


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


def _held_by(v: ir.Value, region) -> ir.Value:
    """The tuple or union from which the loop reads an array, or the array itself."""
    while v in region.defined and v.inst is not None and v.inst.op in PARTS:
        v = v.inst.args[0]
    return v


def meetings(reached: Reached, stored) -> list[Meeting]:
    """What is to be tested of arrays from before a loop, or from tuples from before it, that may share memory. stored:
    those to which iterations store."""
    region, found = reached.region, []
    # array from before the loop, or from a tuple or union from before it -> that value
    arrays = {v: base for v in reached.of if type(v.type) is k.Array and (
        base := _held_by(v, region)) not in region.defined}
    picked = {v for v in arrays if reached.is_picked(v)}  # different in each iteration, as the program promises

    def apart(x: ir.Value, y: ir.Value) -> bool:
        return x.type.ndim == y.type.ndim and x not in region.shared and all([
            ways_apart(one, two, reached) is True for one in reached.of[x] for two in reached.of[y]])

    for n, x in enumerate(arrays):
        if x in stored:
            others = [(y, apart(x, y)) for m, y in enumerate(arrays)
                      if y is not x and not (y in stored and m < n) and not (x in picked and y in picked)
                      and not region.aliases.distinct(arrays[x], arrays[y])]
            if others:
                found.append(Meeting(reached, reached.of[x], others))
    return found
