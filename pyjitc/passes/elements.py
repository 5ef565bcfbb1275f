"""Which elements of arrays the iterations of a parallel loop share.

`parallel.py` asks `Elements.check_elements`, which refuses a loop whose iterations are certain to change elements of
each other, and finds what must be tested when the loop begins, and the arrays to whose elements iterations only add. It
asks `reached.py` which elements an iteration accesses, `apart.py` whether those of two iterations are apart, and
`collisions.py` whether they meet. A reversed loop of a derivative has rules of its own (`check_adjoints`).
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops import control, memory
from ..types import kinds as k
from . import counted, opened, tested
from .alias import Aliases, root_of
from .apart import ways_apart
from .carried import LEFT_ONLY, SUMS, Carried, Serial
from .chunks import SHAPES
from .collisions import Collisions
from .reached import Access, Reached
from .rewrite import growing

__all__ = ["Elements", "shares"]


class Elements(Carried):
    """The part of a region (parallel.py) that checks which elements of arrays its iterations share."""

    kind: str  # what the loop is: the attribute `independent` of its branch
    single: bool  # whether each iteration is a chunk of its own
    opens: bool  # whether the functions that it calls are looked into
    aliases: Aliases

    def opened(self) -> tuple[Elements, dict[ir.Value, ir.Value]] | None:
        """(The region of a copy of the loop in which its calls are opened; value of the copy -> that of the loop), or
        None where there are no calls to open, or the copy is not understood."""
        raise NotImplementedError

    def check_elements(self) -> None:
        """Raise for elements that are known to be accessed by two iterations, one of which writes, and Serial where
        that may be so and no test can tell. Arrays to whose elements iterations only add, or which they only multiply,
        get a copy for each chunk: `self.shared`, array -> (operation, neutral element). What is to be tested when the
        loop begins: `self.tests`, `self.meetings`, each with a function from a value to that from before the loop."""
        self.shared: dict[ir.Value, tuple] = {}
        self.tests: list[tuple] = []
        self.meetings: list[tuple] = []
        if self.kind == "adjoint":
            self.check_adjoints()
        if self.kind not in ("prange", "kept") or self.opens and self.checked_with_calls():
            return
        reached = Reached(self)
        stored = dict.fromkeys([one.root for one in reached.accesses if one.stores])
        unsure = {root: pairs for root in stored if (pairs := _unsure(reached, root))}
        collisions = Collisions(self, reached)
        for root, pairs in list(unsure.items()):
            stores = [one for one in reached.of[root] if one.stores]
            if root not in self.defined and any([collisions.is_same(one.array) for one in stores]):
                op = self.added_up(root, reached.accesses)
                if op is not None:
                    self.shared[root] = op
                    del unsure[root]
                    continue
            changed = any([not one.stores and not reached.moves(one) for one in reached.of[root]])
            for one in stores:
                if not one.whole and collisions.is_certain(one) and all(
                        map(collisions.is_same, (one.array, *one.inst.args[1:-1]))):
                    raise self.error(one.inst, "every iteration of a parallel loop writes the same elements of "
                                               f"{_name(root)}",
                                     "add to them in one form alone, as in a[j] += x, or write range for prange")
                if changed and False in pairs and not reached.moves(one):
                    raise shares(one.inst, root, True)
        self.check_collisions(collisions, reached, unsure)
        if reached.unknown:
            raise Serial(reached.unknown[0], "a function that it calls may change elements of arrays that iterations "
                         "share", "pass the arrays to the function as arguments")
        if not self.single:
            self.meetings = [(one, lambda v: v) for one in tested.meetings(reached, stored)]
            for root, pairs in unsure.items():
                self.find_tests(reached, root, pairs, stored)

    def find_tests(self, reached: Reached, root: ir.Value, pairs: list, stored) -> None:
        """Find what tells, when the loop begins, whether iterations share elements of an array."""
        accesses = reached.of[root]
        if False not in pairs:
            self.tests.append((tested.Ends(reached, accesses, pairs), lambda v: v))
            return
        for one in accesses:
            if one.stores and reached.halves(one):
                raise Serial(one.inst, f"iterations write the same elements of {_name(root)}",
                             "let each iteration write its own elements")
            if one.whole:
                raise shares(one.inst, root, not all([two.stores for two in accesses]))
        self.tests.append((tested.Inspection(reached, accesses, stored), lambda v: v))

    def checked_with_calls(self) -> bool:
        """Whether `check_elements` has been done for a copy in which the calls of the loop are opened."""
        found = self.opened()
        if found is None:
            return False
        region, values = found
        region.check_elements()

        def outside(v: ir.Value) -> ir.Value | None:
            known = values.get(v)
            return None if known in self.defined else known

        self.tests = [(one, outside) for one, _ in region.tests]
        self.meetings = [(one, outside) for one, _ in region.meetings]
        if region.shared and any(opened.accesses(inst, self.aliases) and any(
                v not in self.defined and type(v.type) is not k.Array and k.any_part(
                    v.type, lambda part: type(part) is k.Array) for v in inst.args)
                for block in self.loop.blocks for inst in block.insts):
            raise Serial(self.branch, "a function or tuple from before the loop holds arrays to which iterations add",
                         "pass the arrays to the function as arguments")
        for root, op in region.shared.items():
            array = values.get(root)
            if array is None or type(array.type) is not k.Array or array.type.layout != "C":
                raise Serial(self.branch, "a function that it calls adds to elements of an array that may not be "
                                          "contiguous", "pass a contiguous array")
            self.shared[array] = op
        return True

    def check_collisions(self, found: Collisions, reached: Reached, unsure) -> None:
        """Raise for an element that is certain to be accessed by two iterations, one of which writes."""
        for root in unsure:
            for one in reached.of[root]:
                for two in reached.of[root] if one.stores else ():
                    if found.collide(one, two):
                        what = "writes" if two.stores else "reads"
                        raise self.error(two.inst, f"an iteration of a parallel loop {what} an element of "
                                                   f"{_name(root)} that another iteration writes, at line "
                                                   f"{one.inst.loc.line}",
                                         "write into another array, or write range for prange")

    def check_adjoints(self) -> None:
        """As `check_elements`, of a reversed loop. The program guarantees nothing about it: where iterations read the
        same element, the reversed ones add to the adjoint of it. So each access must be known to be to elements of its
        own iteration, or all must be sums."""
        memo: dict = {}
        accesses = []
        for block in self.loop.blocks:
            for inst in block.insts:
                if inst.op in memory.ACCESSES and ((root := root_of(inst.args[0])) not in self.defined
                                                   or not _is_made(root)):
                    one = Access(inst, inst.args[0], root, inst.op is memory.ARRAY_STORE, {}, False)
                    one.index = {n: counted.affine(v, self.defs, self.loop.blocks, memo)
                                 for n, v in enumerate(inst.args[1:1 + one.array.type.ndim])}
                    accesses.append(one)
        stored = dict.fromkeys([one.root for one in accesses if one.stores])
        hint = "index the arrays by the loop variable, or use whole-array expressions"
        for block in self.loop.blocks:
            for inst in block.insts:
                written = ir.regions_written(self.aliases.effects(inst)) & ir.ELEMENTS
                if inst.op in memory.ACCESSES or not written and inst.op in SHAPES:
                    continue
                for root in [root_of(v) for v in inst.args if type(v.type) is k.Array]:
                    if root in stored or written and not (root in self.defined and _is_made(root)):
                        raise Serial(inst, "iterations may write the same elements of adjoints", hint)
        for root in stored:
            if root in self.defined or not (_is_made(root) or root in self.fn.params):
                raise Serial(self.branch, "which array of adjoints is written depends on the iteration", hint)
            own = [(one.array, one.index) for one in accesses if one.root is root]
            if self.is_own(own):
                continue
            op = self.added_up(root, accesses)
            if op is None:
                raise Serial(self.branch, "iterations may write the same elements of adjoints", hint)
            self.shared[root] = op

    def is_own(self, accesses) -> bool:
        """Whether all accesses of an array have the same index along some axis, which moves with the loop."""
        array, first = accesses[0]
        if array in self.defined or any(one is not array for one, _ in accesses):
            return False
        for axis, form in first.items():
            moved = [c * step for v, c in form.terms.items() if type(step := self.counters.get(v)) is int]
            rest = [v for v in form.terms if v in self.defined and v not in self.counters]
            if len(moved) == 1 and moved[0] and not rest and all(
                    places[axis].terms == form.terms and places[axis].constant == form.constant
                    for _, places in accesses):
                return True
        return False

    def is_same(self, v: ir.Value, inner, known) -> bool:
        """Whether a value is computed in the same way in every iteration, from invariant values and counters of inner
        loops."""
        if v not in self.defined or v in inner or v in self.fixed:
            return True
        found = known.get(v)
        if found is None:
            known[v] = False
            found = known[v] = (v.inst is not None and not v.inst.op.effects & ~ir.RAISES
                                and v.inst.op is not control.INVOKE
                                and all(self.is_same(x, inner, known) for x in v.inst.args))
        return found

    def added_up(self, root: ir.Value, accesses) -> tuple | None:
        """(the operation by which iterations update elements of an array, its neutral element), where iterations use
        the array for nothing else; else None."""
        if root.type.layout == "F" or root.type.ndim > 3:
            return None
        op, known = None, set()
        for one in accesses:
            inst = one.inst
            if one.root is not root or not one.stores:
                continue
            if one.whole:
                return None
            value = inst.args[-1]
            made = value.inst
            if made is None or made.op not in SUMS or op not in (None, SUMS[made.op]):
                return None
            op = SUMS[made.op]
            load = next((x.inst for n, x in enumerate(made.args) if x.inst is not None
                         and x.inst.op is memory.ARRAY_LOAD and x.inst.args[1:] == inst.args[1:-1]
                         and (x.inst.args[0] is inst.args[0]
                              or _whole(x.inst.args[0], root) and _whole(inst.args[0], root))
                         and (n == 0 or made.op not in LEFT_ONLY)), None)
            if (load is None or made.args[0] is made.args[1]
                or [one for _, one, _, _ in self.users[load.result]] != [made]):
                return None
            known |= {inst, load, made}
        views = {root: None}
        for v in growing(views):
            for _, inst, edge, _ in self.users.get(v, ()):
                if edge is not None:
                    return None
                if inst.op is memory.ARRAY_VIEW:
                    views[inst.result] = None
                elif inst.op is memory.ARRAY_LOAD and inst not in known:
                    return None
                elif inst not in known and inst.op not in (memory.ARRAY_DIM, memory.ARRAY_STRIDE, memory.ARRAY_DATA):
                    return None
        return op

    def inner_counters(self) -> set[ir.Value]:
        """Counters of inner loops whose start and step are the same in each iteration."""
        found: set[ir.Value] = set()
        work = list(self.loop.inner)
        while work:
            loop = work.pop()
            work += loop.inner
            one = counted.find(loop, self.defs, self.edges)
            if one is None:
                continue
            for p in one.steps:
                if all(v not in self.defined or self.defs.constant(v) is not None
                       for v in (one.start[p], one.start[one.left])):
                    found.add(p)
        return found


def _is_made(v: ir.Value) -> bool:
    """Whether an instruction makes this array."""
    return v.inst is not None and v.inst.op in (memory.ARRAY_NEW, memory.ARRAY_COPY)


def _unsure(reached: Reached, root: ir.Value) -> list:
    """What `ways_apart` says of each pair of accesses to an array that are not certain to be apart, until one can
    never be."""
    accesses = list({one.key: one for one in reached.of[root]}.values())
    found: list = []
    for n, one in enumerate(accesses):
        for two in accesses[n:]:
            if one.stores or two.stores:
                ways = ways_apart(one, two, reached)
                if ways is not True:
                    found.append(ways)
                if ways is False:
                    return found
    return found


def _name(root: ir.Value) -> str:
    return repr(root.name) if root.name else "an array"


def shares(inst: ir.Inst, root: ir.Value, reads: bool) -> Serial:
    """What is raised where iterations may share elements of an array."""
    if reads:
        return Serial(inst, f"iterations change elements of {_name(root)} that they also read, at places that may be "
                            "the same", "only sums, products and bits are combined: a[j] += x, or -=, *=, |=, &=, ^=")
    return Serial(inst, f"iterations may write the same elements of {_name(root)}",
                  "let each iteration write its own elements")


# ---------------------------------------------------------------- arrays to which iterations add


def _whole(v: ir.Value, root: ir.Value) -> bool:
    """Whether a view covers all elements of an array, in the same order."""
    if v is root:
        return True
    made = v.inst
    if made is None or made.op is not memory.ARRAY_VIEW or not _whole(made.args[0], root):
        return False
    offset, n = made.args[1].inst, root.type.ndim
    if offset is None or offset.op is not control.CONST or offset.attrs["value"] != 0 or v.type.ndim != n:
        return False
    lengths = [_length(root, axis) for axis in range(n)]
    strides = [x.inst for x in made.args[2 + n:]]
    item = memory.item_bytes(root.type.dtype)
    return all(one in own for one, own in zip(made.args[2:2 + n], lengths)) and all(
        x is not None and (x.op is memory.ARRAY_STRIDE and x.args[0] is root and x.attrs["axis"] == axis
                           or axis == n - 1 and x.op is control.CONST and x.attrs["value"] == item
                           and root.type.layout == "C") for axis, x in enumerate(strides))


def _length(root: ir.Value, axis: int):
    """The values that are known to equal a length of an array."""
    made = root.inst
    known = [made.args[axis]] if made is not None and made.op is memory.ARRAY_NEW else []
    return _Lengths(root, axis, known)


class _Lengths:
    def __init__(self, root, axis, known):
        self.root, self.axis, self.known = root, axis, known

    def __contains__(self, v):
        made = v.inst
        return v in self.known or (made is not None and made.op is memory.ARRAY_DIM and made.args[0] is self.root
                                   and made.attrs["axis"] == self.axis)
