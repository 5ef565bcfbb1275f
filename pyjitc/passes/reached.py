"""What the accesses of a parallel loop reach: each as its array from before the loop, and for each axis of that array
an index in terms of the loop's counter, counters of loops inside, and values from before the loop.

`o[i + 1]`, `o[1:][i]` and `row = o[i]; row[:]` are described in the same way. `apart.py` asks whether two accesses
reach different elements in all iterations, `collisions.py` whether they are certain to reach the same one, and
`tested.py` makes tests of what is known only when the loop begins.
"""
from __future__ import annotations

from typing import Any

from ..ir import core as ir
from ..ir.cfg import LoopNest, closure
from ..ops import arith as a
from ..ops import control, memory
from ..ops.parallel import GET_THREAD_ID
from ..ops.structure import SELECT, TUPLE_AT, TUPLE_GET, TUPLE_MAKE, UNION_CAST, UNION_GET, UNION_MAKE
from ..types import kinds as k
from . import counted
from .alias import VIEW, holds_arrays
from .axes import indices_of
from .counted import Affine
from .inline import callees
from .selected import chosen, literal, positive, unclipped

__all__ = ["PARTS", "Access", "Reached"]

PARTS = (TUPLE_AT, TUPLE_GET, UNION_GET, UNION_CAST)
_HELD = ir.CELLS | ir.ITEMS | ir.TABLES  # memory that holds arrays
_QUOTIENTS = (a.IFLOORDIV, a.IFLOORDIV_CK)


class Access:
    """An access to elements of `root`, which is made through `array`.

    stores: whether it writes; facts: condition from before the loop -> the outcome under which the access is made;
    always: whether each iteration makes it; index: axis of the root -> affine form, where known, or
    (array, axis) of a view from before the loop -> form; likely: the same, as it is but for a few iterations at the
    ends; ends: axis -> (least, greatest) index in an iteration, where known; assumed: axis -> forms that must not be
    negative in any iteration for `ends` to hold; conditions: (test, outcome) on which an iteration makes it; equal,
    differ: forms that are 0, or are not 0, where it is made."""

    def __init__(self, inst: ir.Inst, array: ir.Value, root: ir.Value, stores: bool, facts: dict, always: bool):
        self.inst, self.array, self.root, self.stores = inst, array, root, stores
        self.facts, self.always = facts, always
        self.index: dict[Any, Affine] = {}
        self.likely: dict[int, Affine] = {}
        self.ends: dict[Any, tuple[Affine, Affine]] = {}
        self.assumed: dict[Any, list[Affine]] = {}
        self.conditions: list[tuple[ir.Value, bool]] = []
        self.equal: list[Affine] = []
        self.differ: list[Affine] = []

    @property
    def key(self) -> tuple:
        """Equal for accesses that reach the same elements in the same way."""
        ends = [(axis, *(x for form in forms for x in (form.constant, frozenset(form.terms.items()))))
                for axis, forms in self.ends.items()]
        return self.stores, self.array if not ends else None, self.whole, tuple(self.conditions), tuple(ends)

    @property
    def whole(self) -> bool:
        """Whether it is an access to all elements of `array`, as of a function that is called."""
        return self.inst.op not in memory.ACCESSES


class Reached:
    """The accesses of the loop of a region (parallel.py) to arrays from before it."""

    def __init__(self, region):
        self.region, self.defs = region, region.defs
        self.dom = LoopNest(region.fn).dom
        self.latch = next(block for block in region.loop.blocks if region.back in block.edges())
        self.loops: dict[ir.Block, list] = {}  # block of loops inside -> these, the outermost first
        self.inner: dict[ir.Value, tuple] = {}  # counter of a loop inside -> (its `Counted`, its step)
        # what is accessed by a call: a value that stands for all indices along an axis -> the length
        self.all_of: dict[ir.Value, Affine | None] = {}
        self.products = counted.Products()
        # value that stands for a quotient -> (form, divisor), and the reverse
        self.quotients: dict[ir.Value, tuple] = {}
        self._quotient_of: dict[tuple, ir.Value] = {}
        self.number = ir.Value(k.Int, "iteration")  # of the iteration, from 0
        self._parts: dict = {}  # how an array is read from what holds it -> the first such value
        self._reached_on: dict[ir.Block, list] = {}
        self._forms: dict = {}
        self._before: dict = {}
        self._atoms: dict[ir.Value, Affine] = {}
        self._blocks = dict.fromkeys(region.fn.blocks)
        work = list(region.loop.inner)
        for loop in work:
            work += loop.inner
            for block in loop.blocks:
                self.loops.setdefault(block, []).append(loop)
            count = counted.find(loop, region.defs, region.edges)
            if count is not None:
                self.inner.update({p: (count, step) for p, step in count.steps.items()})
        # value -> a number that it is not below if the loop makes iterations
        self.trips = trips = self.form(positive(region.count.start[region.count.left]))
        self.least = {v: 1 - trips.constant for v, c in trips.terms.items() if len(trips.terms) == 1 and c == 1}
        self.unknown: list[ir.Inst] = []  # calls that may change arrays which are not among their arguments
        self.accesses = [one for block in region.loop.blocks for inst in block.insts
                         if inst.op.effects or inst.op is control.INVOKE for one in self._of(block, inst)]
        self.of: dict[ir.Value, list[Access]] = {}  # array -> its accesses
        for one in self.accesses:
            self.of.setdefault(one.root, []).append(one)

    # -- accesses

    def _of(self, block: ir.Block, inst: ir.Inst) -> list[Access]:
        if inst.op is memory.ARRAY_STORE or inst.op is memory.ARRAY_LOAD:
            stores = inst.op is memory.ARRAY_STORE
            return self._through(block, inst, inst.args[0], stores, inst.args[1:-1] if stores else inst.args[1:])
        effects = self.region.aliases.effects(inst)
        found = []
        if (ir.regions_read(effects) | ir.regions_written(effects)) & ir.ELEMENTS:
            written = self.region.aliases.written(inst)
            for v in inst.args:
                if type(v.type) is k.Array:
                    found += self._through(block, inst, v, written is None or v in written, None)
                elif v in self.region.defined:
                    found += self._in_tuple(block, inst, v) if written is not None and v in written else ()
                elif (written is None or v in written) and holds_arrays(v):
                    self.unknown.append(inst)
        return found

    def _in_tuple(self, block: ir.Block, inst: ir.Inst, v: ir.Value) -> list[Access]:
        """The accesses of a call that writes elements of the arrays in a tuple that an iteration makes."""
        if type(v.type) is k.Array:
            return self._through(block, inst, v, True, None)
        if v.inst is not None and v.inst.op is TUPLE_MAKE:
            return [one for x in v.inst.args if holds_arrays(x) for one in self._in_tuple(block, inst, x)]
        self.unknown.append(inst)
        return []

    def _through(self, block: ir.Block, inst: ir.Inst, array: ir.Value, stores: bool, indices) -> list[Access]:
        """The accesses at these indices of an array, or to all of it, for each array from before the loop that it may
        be."""
        found = []
        for root, views, taken in self.origins(array, ()):
            if self._is_shared(root):
                facts, always = self._facts(block), self._is_always(block)
                if not any(facts.get(v, yes) is not yes for v, yes in taken.items()):
                    one = Access(inst, array, root, stores, {**facts, **taken}, always)
                    one.conditions = self._conditions(block)
                    one.equal, one.differ = self._compared(block, a.IEQ, a.INE), self._compared(block, a.INE, a.IEQ)
                    exact = [self.form(v) for v in indices] if indices is not None else self._everything(array)
                    one.index = indices_of(root, views, exact, self.form, lambda v: v)
                    if indices is not None:
                        likely = [self.likely(v) for v in indices]
                        one.likely = indices_of(root, views, likely, self.likely, unclipped)
                    if root.inst is not None and root.inst.op is TUPLE_AT and root in self.region.defined:
                        # a promise of the program: the items of a tuple are different arrays
                        one.index["item"] = self.form(root.inst.args[1])
                    if views and indices is not None and array not in self.region.defined:
                        one.index.update({(array, axis): form for axis, form in enumerate(exact)})
                    one.index = {axis: self._counted(form, one.equal) for axis, form in one.index.items()}
                    for axis, form in one.index.items():
                        if (ends := self.ends(form)) is not None:
                            one.ends[axis], one.assumed[axis] = ends
                    found.append(one)
        return found

    def _everything(self, array: ir.Value) -> list[Affine]:
        made, found = array.inst, []
        for axis in range(array.type.ndim):
            v = ir.Value(k.Int)
            self.all_of[v] = self.form(positive(made.args[2 + axis])) if made is not None and (
                made.op is memory.ARRAY_VIEW) else None
            found.append(Affine(0, {v: 1}))
        return found

    def origins(self, array: ir.Value, seen):
        """(array, views by which it is seen, conditions from before the loop) of each array that `array` may be;
        choices that are made before the loop are not looked into."""
        made = array.inst
        if made is not None and made.op.traits & VIEW and not self._is_other(array):
            for root, views, taken in self.origins(made.args[0], seen):
                yield root, [*views, array], taken
        elif array not in self.region.defined or array in seen:
            yield array, [], {}
        elif made is None:
            seen = (*seen, array)
            block = self.defs.block_of[array]
            n = block.params.index(array)
            for source, branch, edge in self.region.edges[block]:
                facts = self._facts(source)
                if branch.op is control.BRANCH and branch.args[0] not in self.region.defined:
                    facts[branch.args[0]] = edge is branch.targets[0]
                for root, views, taken in self.origins(edge.args[n], seen):
                    yield root, views, {**facts, **taken}
        elif made.op is SELECT:
            for n, x in enumerate(made.args[1:]):
                for root, views, taken in self.origins(x, seen):
                    fixed = made.args[0] not in self.region.defined
                    yield root, views, {**taken, made.args[0]: n == 0} if fixed else taken
        elif made.op in (TUPLE_AT, TUPLE_GET) and (items := _items(made.args[0])):
            for x in items if made.op is TUPLE_AT else items[made.attrs["index"]:][:1]:
                yield from self.origins(x, seen)
        else:
            yield self._parts.setdefault(_key(array), array), [], {}

    def is_picked(self, array: ir.Value) -> bool:
        """Whether which array this is depends on the iteration, or on loops inside: it is an item of a tuple."""
        while array in self.region.defined and array.inst is not None and array.inst.op in PARTS:
            if array.inst.op is TUPLE_AT and any(map(self.varies, self.form(array.inst.args[1]).terms)):
                return True
            array = array.inst.args[0]
        return False

    def is_either(self, one: Access, two: Access) -> bool:
        """Whether two accesses are not made in the same run of the loop."""
        return any(two.facts.get(v, yes) is not yes for v, yes in one.facts.items())

    def is_thread(self, v: ir.Value) -> bool:
        """Whether an index is the number of the thread that runs the iteration."""
        while v.inst is not None and v.inst.op is memory.CHECK_INDEX:
            v = v.inst.args[0]
        return v.inst is not None and v.inst.op is GET_THREAD_ID

    def moves(self, one: Access) -> bool:
        """Whether an index of an access moves with the loop, or from thread to thread."""
        return any(self.moved(v) or self.is_thread(v) for form in one.index.values() for v in form.terms
                   if not any([x in self.quotients and self.varies(x) for x in form.terms]))

    def halves(self, one: Access) -> bool:
        """Whether already two or a few successive iterations access the same element: `o[i // 2]`, `o[i - i % 2]`,
        `o[i & ~1]`."""
        varying = {v for form in one.index.values() for v in self._uncounted(form).terms if self.varies(v)}
        v = varying.pop() if len(varying) == 1 else None
        if v not in self.quotients or len(one.index) < one.root.type.ndim:
            return False
        whole, divisor = self.quotients[v]
        moved = [x for x in whole.terms if self.varies(x)]
        return moved == [self.number] and type(divisor) is int and abs(whole.terms[self.number]) < divisor

    def _uncounted(self, form: Affine) -> Affine:
        """A form with indices as they are before those that are negative are counted from the end."""
        for v, c in form.terms.items():
            if v.inst is not None and v.inst.op is memory.CHECK_INDEX:
                form = form.plus(Affine(0, {v: c}), -1).plus(self.form(v.inst.args[0]).times(c), 1)
        return form

    def _is_other(self, view: ir.Value) -> bool:
        """Whether a view from before the loop has elements of another type, so that they are not those of its array."""
        made = view.inst
        assert made is not None
        of = made.args[0]
        return view not in self.region.defined and not (
            type(of.type) is type(view.type) is k.Array and of.type.dtype is view.type.dtype)

    def _is_shared(self, root: ir.Value) -> bool:
        """Whether an array is there before the loop: it, or what holds it: a tuple, a cell, a list, an object."""
        while root in self.region.defined and root.inst is not None and _is_part(root.inst):
            root = root.inst.args[0]
        return root not in self.region.defined

    def _facts(self, block: ir.Block) -> dict[ir.Value, bool]:
        """The outcomes of conditions from before the loop with which a block is reached."""
        return {test: yes for test, yes in self._conditions(block) if test not in self.region.defined}

    def _counted(self, form: Affine, equal: list[Affine]) -> Affine:
        """The number of the iteration, where an index is known to equal it: `o[0]` behind `if i == 0`."""
        for gap in equal:
            for sign in (1, -1):
                same = form.plus(gap, sign)
                if same.terms == {self.number: 1} and same.constant == 0:
                    return same
        return form

    def _compared(self, block: ir.Block, op, other) -> list[Affine]:
        """The differences of the ints for which a comparison holds where a block is reached, and `other` does not."""
        return [self.form(made.args[0]).plus(self.form(made.args[1]), -1)
                for test, yes in self._conditions(block) if (made := test.inst) is not None
                and made.op is (op if yes else other) and {v.type for v in made.args} <= counted.WIDE]

    def _conditions(self, block: ir.Block) -> list[tuple[ir.Value, bool]]:
        """The conditions on which a block is reached in an iteration, each with its outcome."""
        if block not in self._reached_on:
            found, header, at = [], self.region.header, block
            while at is not header and at in self.dom.idom:
                above = self.dom.idom[at]
                branch = above.terminator
                if above is not header and branch.op is control.BRANCH:
                    ways = [n for n, edge in enumerate(branch.targets) if edge.block is at]
                    if len(ways) == 1 == sum(not self.dom.dominates(at, source)
                                             for source, _, _ in self.region.edges[at]):
                        found.append((branch.args[0], ways[0] == 0))
                at = above
            self._reached_on[block] = found
        return self._reached_on[block]

    def _is_always(self, block: ir.Block) -> bool:
        """Whether each iteration comes to a block, if loops inside make iterations."""
        for loop in reversed(self.loops.get(block, ())):
            again = [source for source, _, _ in self.region.edges[loop.header] if source in loop.blocks]
            if not all([self.dom.dominates(block, source) for source in again]):
                return False
            block = loop.header
        return self.dom.dominates(block, self.latch)

    # -- forms of indices

    def form(self, v: ir.Value) -> Affine:
        """An index as an affine form: of the loop's counter, counters of loops inside, values from before the loop,
        products with such values, quotients, and values of which no more is known. Remainders, and bits that are cut
        off, are written as quotients."""
        found = counted.affine(v, self.defs, self.region.loop.blocks, self._forms, products=self.products)
        for x, c in list(found.terms.items()):
            if x not in self._atoms:
                self._atoms[x] = Affine(0, {x: 1})
                self._atoms[x] = self._of_product(x) if x in self.products.parts else self._atom(x)
            if self._atoms[x].terms != {x: 1}:
                found = found.plus(Affine(0, {x: c}), -1).plus(self._atoms[x].times(c), 1)
        return found

    def _of_product(self, x: ir.Value) -> Affine:
        y, factor = self.products.parts[x]
        whole = self.form(y)
        return Affine(0, {x: 1}) if whole.terms == {y: 1} else self._times(whole, factor) or Affine(0, {x: 1})

    def _atom(self, x: ir.Value) -> Affine:
        made, same = x.inst, Affine(0, {x: 1})
        if x in self.region.counters:
            step, number = self.region.counters[x], Affine(0, {self.number: 1})
            moved = number.times(step) if type(step) is int else self._times(number, step)
            return self.form(self.region.count.start[x]).plus(moved, 1) if moved is not None else same
        if made is None or x.type not in counted.WIDE:
            return same
        if x not in self.region.defined:
            return counted.affine(x, self.defs, self._blocks, self._before)
        if made.op is UNION_GET or made.op is memory.CELL_LOAD:
            value = self._captured(made)
            return same if value is None else self.form(value)
        if made.op is a.CAST and made.args[0].type in counted.WIDE:
            return self.form(made.args[0])
        c = [self._literal(y) for y in made.args]
        if made.op is a.ISHR and c[1] is not None and 0 <= c[1] < 40:
            return self._quotient(self.form(made.args[0]), 1 << c[1])
        if made.op in _QUOTIENTS or made.op is a.IMOD:
            divisor: Any = c[1] if c[1] is not None else self._invariant(made.args[1])
            if divisor is None or isinstance(divisor, int) and divisor < 1:
                return same
            whole = self.form(made.args[0])
            quotient = self._quotient(whole, divisor)
            if made.op is not a.IMOD:
                return quotient
            product = self._times(quotient, divisor) if isinstance(divisor, ir.Value) else quotient.times(divisor)
            return whole.plus(product, -1) if product is not None else same
        if made.op in (a.IAND, a.IOR) and (c[0] is None) != (c[1] is None):
            mask: Any = c[0] if c[1] is None else c[1]
            whole = self.form(made.args[c[0] is not None])
            by = (-mask if mask < 0 else mask + 1) if made.op is a.IAND else mask + 1
            if 1 < by < 1 << 40 and not by & by - 1:
                quotient = self._quotient(whole, by).times(by)
                return (quotient.plus(Affine(by - 1, {}), 1) if made.op is a.IOR else
                        quotient if mask < 0 else whole.plus(quotient, -1))
        return same

    def _captured(self, made: ir.Inst) -> ir.Value | None:
        """The number in a cell, as of a loop variable that a closure reads, where each iteration makes the cell and one
        instruction alone stores to cells of its kind."""
        while made.op in (UNION_GET, UNION_CAST) and made.args[0].inst is not None:
            made = made.args[0].inst
        cell = made.args[0] if made.op is memory.CELL_LOAD else None
        if cell is None or cell.inst is None or cell.inst.op is not memory.CELL_NEW or cell not in self.region.defined:
            return None
        called = closure([inst.attrs["callee"] for block in self.region.loop.blocks for inst in block.insts
                          if inst.op is control.INVOKE], callees)
        stores = [inst for block in (*self.region.loop.blocks, *(block for fn in called for block in fn.blocks))
                  for inst in block.insts if inst.op is memory.CELL_STORE and inst.args[0].type is cell.type]
        first = cell.inst.args[0].inst
        if len(stores) != 1 or stores[0].args[0] is not cell or first is None or first.op is not UNION_MAKE:
            return None
        if first.args[0].type is not k.Unbound:
            return None
        stored = stores[0].args[1]
        return stored.inst.args[0] if stored.inst is not None and stored.inst.op is UNION_MAKE else None

    def _quotient(self, whole: Affine, divisor) -> Affine:
        """The form of the quotient of a form by a number or a value from before the loop, rounded down."""
        if not whole.terms and type(divisor) is int:
            return Affine(whole.constant // divisor, {})
        key = whole.constant, frozenset(whole.terms.items()), divisor
        if key not in self._quotient_of:
            v = self._quotient_of[key] = ir.Value(k.Int)
            self.quotients[v] = whole, divisor
        return Affine(0, {self._quotient_of[key]: 1})

    def _times(self, form: Affine, factor: ir.Value) -> Affine | None:
        """The product of a form and a value from before the loop."""
        return self.products.times(form, Affine(0, {factor: 1}), self.defs, self.region.loop.blocks)

    def _invariant(self, v: ir.Value) -> ir.Value | None:
        while v.inst is not None and v.inst.op in (a.CHECK_NONZERO, a.CHECK_NONNEG):
            v = v.inst.args[0]
        return None if v in self.region.defined or v.type not in counted.WIDE else v

    def _literal(self, v: ir.Value) -> int | None:
        return int(v.inst.attrs["value"]) if v.inst is not None and v.inst.op is control.CONST and (
            v.type in counted.WIDE) else None

    def varies(self, v: ir.Value) -> bool:
        """Whether a term of a form may differ between iterations, or is a counter of a loop inside."""
        if v in self.products.parts:
            return any(map(self.varies, self.products.parts[v]))
        if v in self.quotients:
            return any(map(self.varies, self.quotients[v][0].terms))
        return v in self.region.defined or v is self.number or v in self.all_of

    def moved(self, v: ir.Value) -> bool:
        """Whether a term of a form is the number of the iteration, or a product of it with a value from before the
        loop."""
        return (self.products.parts[v][0] if v in self.products.parts else v) is self.number

    # -- the ends of an index in one iteration

    def ends(self, form: Affine, keeps=lambda v: False) -> tuple[tuple[Affine, Affine], list[Affine]] | None:
        """((least, greatest) index in an iteration that makes an access, forms that must not be negative for that), as
        forms of the number of the iteration, of values from before the loop, and of those that `keeps` allows."""
        assumed: list[Affine] = []
        low, high = (self._bound(form, side, assumed, keeps) for side in (False, True))
        needed: list[Affine] = []
        while assumed:
            one = self._bound(assumed.pop(), False, assumed, keeps)
            if one is None or len(needed) > 16:
                return None
            needed.append(one)
        return None if low is None or high is None else ((low, high), needed)

    def _bound(self, form: Affine, high: bool, assumed: list[Affine], keeps) -> Affine | None:
        """A form of which another is never above (high), or never below."""
        for _ in range(24):
            left = [v for v in form.terms if self.varies(v) and not self.moved(v) and not keeps(v)]
            if not left:
                return form
            inner = [v for v in left if v in self.inner or v in self.all_of
                     or v in self.products.parts and self.products.parts[v][0] in self.inner]
            # the counters of the innermost loops first: their numbers of trips may depend on the others
            v = max(inner, key=self._depth) if inner else left[0]
            c = form.terms[v]
            end = self._end(v, c, high == (c > 0), assumed)
            if end is None:
                return None
            form = form.plus(Affine(0, {v: c}), -1).plus(end, 1)
        return None

    def _depth(self, v: ir.Value) -> int:
        v = self.products.parts[v][0] if v in self.products.parts else v
        return len(self.loops[self.defs.block_of[v]]) if v in self.inner else 99

    def _end(self, v: ir.Value, c: int, high: bool, assumed: list[Affine]) -> Affine | None:
        """A bound of the term c * v, where that of v is the upper one (high) or the lower one."""
        if v in self.products.parts:
            x, factor = self.products.parts[v]
            if x in self.quotients and self.quotients[x][1] is factor:
                whole = self.quotients[x][0]
                assumed.append(Affine(-1, {factor: 1}))
                return (whole if high else whole.plus(Affine(-1, {factor: 1}), -1)).times(c)
            assumed.append(Affine(0, {factor: 1}))
            end = self._end(x, 1, high, assumed)
            product = None if end is None else self._times(end, factor)
            return None if product is None else product.times(c)
        if v in self.quotients:
            whole, divisor = self.quotients[v]
            if type(divisor) is int and c % divisor == 0:
                return (whole if high else whole.plus(Affine(divisor - 1, {}), -1)).times(c // divisor)
            return None
        if v in self.all_of:
            length = self.all_of[v]
            return Affine(0, {}) if not high else None if length is None else length.plus(Affine(-1, {}), 1).times(c)
        if v in self.inner:
            one, step = self.inner[v]
            first = self.form(one.start[v])
            if high == (step > 0):
                trips = self.form(positive(one.start[one.left]))
                first = first.plus(trips.plus(Affine(1, {}), -1).times(step), 1)
            return first.times(c)
        made = v.inst
        if made is not None and made.op is memory.CHECK_INDEX:
            index = self.form(made.args[0])
            if index.constant < 0 and all([y is self.number and n < 0 for y, n in index.terms.items()]):
                assumed.append(Affine(-1, {}).plus(index, -1))  # counted from the end in all iterations
                return index.plus(self.form(made.args[1]), 1).times(c)
            assumed.append(index)
            return index.times(c)
        picked = chosen(v, self.region)
        if picked is None:
            return None
        least, x, y = picked
        one, other = self.form(x), self.form(y)
        if least is None:  # counted from the end where it is negative
            assumed.append(one)
            return one.times(c)
        if not any(map(self.moves_in, one.terms)) and any(map(self.moves_in, other.terms)):
            one, other = other, one
        if high != least:
            assumed.append(other.plus(one, -1) if least else one.plus(other, -1))
        return one.times(c)

    def moves_in(self, v: ir.Value) -> bool:
        """Whether a term follows from the loop's counter."""
        if self.moved(v):
            return True
        picked = chosen(v, self.region) if v in self.region.defined else None
        return picked is not None and any(self.moves_in(x) for y in picked[1:] for x in self.form(y).terms)

    def over_all(self, form: Affine, last: bool) -> Affine | None:
        """A form of the number of the iteration in the first or the last one, as one of values from before the loop."""
        at = Affine(0, {})
        if last:
            at = self.trips.plus(Affine(-1, {}), 1)
        for v in [v for v in form.terms if self.moved(v)]:
            here = at if v is self.number else self._times(at, self.products.parts[v][1])
            if here is None:
                return None
            c = form.terms[v]
            form = form.plus(Affine(0, {v: c}), -1).plus(here.times(c), 1)
        return form

    def move(self, form: Affine) -> Affine:
        """By how much a form moves from one iteration to the next."""
        moved = [(v, c) for v, c in form.terms.items() if self.moved(v)]
        found = Affine(sum(c for v, c in moved if v is self.number), {})
        for v, c in moved:
            if v is not self.number:
                found = found.plus(Affine(0, {self.products.parts[v][1]: c}), 1)
        return found

    # -- likely indices

    def likely(self, v: ir.Value) -> Affine:
        """The affine form of an index as it is but for a few iterations: also of one that is counted from the end where
        it is negative, of a remainder by a length, of a minimum or maximum, or of one that is repeated where a length
        is one."""
        form = counted.affine(v, self.defs, self._blocks, self._before)
        for x, c in list(form.terms.items()):
            known = _index_of(x) or self._mostly(x)
            if known is not None:
                inside = self.likely(known)
                if inside.terms:
                    form = form.plus(Affine(0, {x: c}), -1).plus(inside.times(c), 1)
        return form

    def _mostly(self, v: ir.Value) -> ir.Value | None:
        """The index that is taken but for a few iterations: the remainder by a length, a minimum or a maximum."""
        if v not in self.region.defined:
            return None
        made = v.inst
        if made is not None and made.op is a.IMOD:
            by = made.args[1]
            return made.args[0] if self.defs.constant(by) is None and not self._moves(by) else None
        ways = list(made.args[1:]) if made is not None and made.op is SELECT else []
        block = self.defs.block_of.get(v)
        if made is None and v not in self.inner and v not in self.region.counters and not any(
                block is loop.header for loop in self.loops.get(block, ())):
            ways = [edge.args[block.params.index(v)] for _, _, edge in self.region.edges[block]]
        moving = [x for x in ways if self._moves(x)]
        return moving[0] if len(ways) == 2 and len(moving) == 1 else None

    def _moves(self, v: ir.Value) -> bool:
        return any(x in self.region.counters for x in self.likely(v).terms)

def _is_part(made: ir.Inst) -> bool:
    """Whether an instruction reads a value from what holds it."""
    return made.op in PARTS or bool(ir.regions_read(made.op.effects) & _HELD) and bool(made.args)


def _key(v: ir.Value):
    """A key that other values have, too, which are read from the same place."""
    made = v.inst
    return v if made is None or not _is_part(made) else (made.op, repr(made.attrs), *map(_key, made.args))


def _items(v: ir.Value) -> list[ir.Value]:
    """The items of a tuple, where the instruction that makes it is known."""
    return list(v.inst.args) if v.inst is not None and v.inst.op is TUPLE_MAKE else []


def _index_of(v: ir.Value) -> ir.Value | None:
    """The index of which a value is the checked form, or the product with the step along a contiguous axis."""
    made = v.inst
    if made is not None and made.op is memory.CHECK_INDEX:
        return made.args[0]
    if made is not None and made.op in (a.IMUL, a.IMUL_CK):
        for x, step in (made.args, made.args[::-1]):
            one = step.inst
            if one is not None and one.op is memory.ARRAY_STEP and literal(one.args[2]) == one.attrs["size"]:
                return x
    return None
