"""Whether two accesses to memory may overlap: the one place that passes ask.

An operation names the regions that it reads and writes (ir/core.py); accesses to different regions never overlap.
Accesses to elements are told apart by their arrays: an array that is allocated here shares no memory with an argument;
a test at run time may have shown that two arrays share none (`noalias`, see `ops/memory.py`); and elements of one array
whose indices differ by a constant are different elements. A call has the effects of its callee. There is no type-based
alias analysis: a NumPy program may view the same bytes as another type.

Two passes ask about lifetimes instead of accesses: `frame.py` follows arrays and their addresses to find whether
memory lives longer than the function; `refcount.py` asks `may_free` whether an item of a list needs a reference of its
own.
"""
from __future__ import annotations

from ..ir.cfg import in_edges
from ..ir.core import (
    ALLOCATES, CELLS, COUNTS, ELEMENTS, ERRORS, HOST, NEW_MEMORY, RAISES, RANDOM, READS, SLOTS, VIEW, WRITES,
    WRITES_FIRST, WRITES_OPERANDS, Block, Function, Inst, Value, regions_read, regions_written, writes,
)
from ..ops import memory as m
from ..ops.control import INVOKE
from ..ops.nest import NEST_INTO
from ..ops.structure import CHOOSE, SELECT, TUPLE_AT, TUPLE_GET, TUPLE_MAKE
from ..types.kinds import Array, Cell, all_parts, any_part
from .rewrite import growing

__all__ = ["Aliases", "gathers", "holds_arrays", "marked_disjoint", "may_free", "may_free_by", "root_of"]

_NEW_CELLS = frozenset((m.CELL_NEW, m.ITERATOR_NEW))
_UNREAD = COUNTS | ERRORS  # regions on which no result depends
_NO_LIFE = ELEMENTS | RANDOM | SLOTS  # regions that decide the lifetime of no object
_ANYTHING = READS | WRITES, None


class Aliases:
    """Answers questions about aliases and effects for the values of one function."""

    def __init__(self, fn: Function):
        self.given = frozenset(fn.params)
        self.disjoint = fn.memo.get("disjoint", ())  # pairs of parameters that share no memory, in chunks of a loop
        self.defined: set[Value] = set()  # see `look_at`
        self.ages: dict[Value, int] = {}
        # the effects of callees, as `_call` returns them
        self.known: dict[Function, tuple[int, list[int] | None]] = {fn: _ANYTHING}

    def distinct(self, x: Value, y: Value) -> bool:
        """Whether two arrays are known to share no memory."""
        x, y = root_of(x), root_of(y)
        if self.disjoint and frozenset((x, y)) in self.disjoint:
            return True
        if x is y:
            return False
        made = is_fresh(x), is_fresh(y)
        # an argument was allocated before anything that is allocated in this function
        return any(made) and all(fresh or v in self.given for fresh, v in zip(made, (x, y))) or (
            self._is_older(x, y) or self._is_older(y, x))

    def look_at(self, fn: Function, block: Block) -> None:
        """Let the following questions be about operands of instructions of this block, as it is now: an array that the
        block allocates shares no memory with arrays that were computed before it."""
        if not self.defined:
            self.defined = {v for one in fn.blocks for v in one.values()}
        self.ages = {inst.result: n for n, inst in enumerate(block.insts) if inst.result is not None}

    def _is_older(self, x: Value, y: Value) -> bool:
        """Whether the array x was there before the array y was allocated."""
        return y in self.ages and is_fresh(y) and x in self.defined and self.ages.get(x, -1) < self.ages[y]

    def effects(self, inst: Inst) -> int:
        """The effects of an instruction; those of a call are the effects of its callee, without stores to arrays that
        the callee itself allocates."""
        return m.effects_of(inst) if inst.op is not INVOKE else self._call(inst.attrs["callee"])[0]

    def _call(self, callee: Function) -> tuple[int, list[int] | None]:
        """(effects of a function, the positions of the parameters, arrays and tuples of them, whose elements it writes;
        None where it may write others too)"""
        if callee not in self.known:
            self.known[callee] = _ANYTHING  # an assumption while the function is analysed: it may call itself
            inside = Aliases(callee)
            inside.known = self.known
            found = 0
            params: dict[Value, None] | None = {}
            again = False
            for block in callee.blocks:
                for inst in block.insts:
                    # the recursive call has the effects of the other instructions
                    if inst.op is INVOKE and inst.attrs["callee"] is callee:
                        again = True
                        continue
                    does = inside.effects(inst)
                    if regions_written(does) & ELEMENTS:
                        arrays = inside.written(inst)
                        roots = [x for x in map(root_of, arrays or ()) if not is_fresh(x)]
                        if not inside.given.issuperset(roots):
                            traced = inside._traced(roots, callee)
                            arrays, roots = (None, roots) if traced is None else (arrays, traced)
                        if arrays is not None and not roots:
                            does &= ~writes(ELEMENTS)
                        elif arrays is None or not inside.given.issuperset(roots):
                            params = None
                        elif params is not None:
                            params.update(dict.fromkeys(roots))
                    found |= does
            if again and regions_written(found) & ELEMENTS:  # the recursive call may get other arrays
                params = None
            self.known[callee] = found, None if params is None else [k for k, p in enumerate(callee.params)
                                                                     if p in params]
        return self.known[callee]

    def _traced(self, arrays: list[Value], fn: Function) -> list[Value] | None:
        """The parameters of `fn` from which arrays come, some through tuples and parameters of blocks, without what the
        function allocates; None where some may come from elsewhere."""
        found: list[Value] = []
        arriving: dict[Value, list[Value]] = {}  # parameter of a block -> the values that it gets
        seen = dict.fromkeys(arrays)
        for v in growing(seen):
            made = v.inst
            if v in self.given:
                found.append(v)
            elif made is None:
                if not arriving:
                    for block, edges in in_edges(fn.blocks).items():
                        for _, _, edge in edges:
                            for p, x in zip(block.params, edge.args, strict=True):
                                arriving.setdefault(p, []).append(x)
                seen.update(dict.fromkeys(arriving.get(v, ())))
            elif made.op.traits & VIEW or made.op is TUPLE_GET or made.op is TUPLE_AT:
                seen[made.args[0]] = None
            elif made.op is TUPLE_MAKE or made.op is SELECT or made.op is CHOOSE:
                seen.update(dict.fromkeys(x for x in made.args if holds_arrays(x)))
            elif not is_fresh(v):
                return None
        return found

    def written(self, inst: Inst) -> list[Value] | None:
        """The arrays whose elements an instruction writes, unless through a view of them, and the tuples that hold such
        arrays; None where they are not known."""
        op = inst.op
        if op is m.ARRAY_STORE or op is m.ROW_COPY:
            return [inst.args[0]]
        if op is NEST_INTO:
            return [inst.args[1]]
        if op is INVOKE:
            effects, params = self._call(inst.attrs["callee"])
            if regions_written(effects) & ELEMENTS:
                return None if params is None else [inst.args[k] for k in params]
            return []
        if not regions_written(op.effects) & ELEMENTS:
            return []
        if not op.traits & WRITES_OPERANDS:
            return None
        arrays = [v for v in inst.args if isinstance(v.type, Array)]
        if op.traits & WRITES_FIRST:
            return arrays[:1]
        which = inst.attrs.get("writes", "all")
        return arrays if which == "all" else arrays[-1:] if which == "last" else []

    def writes(self, inst: Inst) -> bool:
        """Whether an instruction changes memory that some computation may read."""
        return bool(regions_written(self.effects(inst)) & ~_UNREAD)

    def leaves(self, inst: Inst, arrays) -> bool:
        """Whether an instruction writes nothing except elements of arrays other than these."""
        if regions_written(self.effects(inst)) & ~(_UNREAD | ELEMENTS):
            return False
        return self._writes_others(inst, arrays)

    def _writes_others(self, inst: Inst, arrays) -> bool:
        written = self.written(inst)
        return written is not None and all(self.distinct(x, y) for x in written for y in arrays)

    def are_disjoint(self, one: Inst, other: Inst) -> bool:
        """Whether the arrays of two accesses to elements are known to share no memory."""
        return self.distinct(one.args[0], other.args[0]) or marked_disjoint(one, other)

    def may_change(self, inst: Inst, load: Inst) -> bool:
        """Whether `inst` may change what `load` reads."""
        common = regions_written(self.effects(inst)) & regions_read(load.op.effects)
        if not common:
            return False
        if common == ELEMENTS and load.op is m.ARRAY_LOAD:
            if inst.op is m.ARRAY_STORE and marked_disjoint(inst, load):
                return False
            return not self._writes_others(inst, load.args[:1])
        if common == CELLS and inst.op is m.CELL_STORE:
            x, y = inst.args[0], load.args[0]
            return not (x is not y and all(v.inst is not None and v.inst.op in _NEW_CELLS for v in (x, y)))
        return True


def marked_disjoint(one: Inst, other: Inst) -> bool:
    """Whether `versioning` has marked two accesses to elements as accesses to arrays that share no memory."""
    group, _, *others = one.attrs.get("noalias", (None, None))
    found = other.attrs.get("noalias", (None,))
    return group is not None and found[0] == group and found[1] in others


def holds_arrays(v: Value) -> bool:
    """Whether a value is an array, or has arrays, or variables of closures that hold arrays, as parts."""
    return any_part(v.type, lambda part: type(part) is Array or type(part) is Cell and any(
        type(held) is Array for inside in part.inside for held in all_parts(inside)))


def is_fresh(v: Value) -> bool:
    """Whether the instruction that defines an array allocates it, or it is local memory of a thread or shared memory of
    a block."""
    return v.inst is not None and (bool(v.inst.op.traits & NEW_MEMORY) or gathers(v.inst))


def root_of(v: Value) -> Value:
    """The array that `v` is a view of."""
    while (made := v.inst) is not None and made.op.traits & VIEW:
        v = made.args[0]
    return v


def may_free(inst: Inst) -> bool:
    """Whether an instruction may release an object that a container holds: it changes the contents of objects, cells or
    containers, or runs code of the interpreter, which may fail or return a new object. Any call may, since the
    functions that it runs may not have their reference counts yet."""
    return may_free_by(inst.op.effects)


def may_free_by(effects: int) -> bool:
    """As `may_free`, for an instruction with these effects."""
    return bool(regions_written(effects) & ~_NO_LIFE or effects & HOST and effects & (RAISES | ALLOCATES))


def gathers(inst: Inst) -> bool:
    """Whether an instruction is a call `array[mask]`, which copies the elements that a Boolean mask selects."""
    return inst.op is INVOKE and inst.attrs["callee"].flags.selects_by_mask
