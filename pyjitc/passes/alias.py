"""Whether two accesses to memory may overlap: the one place that passes ask.

An operation names the regions that it reads and writes (ir/core.py); what two accesses to different regions touch is
never the same. Accesses to elements are told apart by the arrays that they go through: arrays that are made here have
memory of their own, which no argument shares; a test at run time may have found that others share none (`apart`, see
`ops/memory.py`); and elements of one array at indices with a constant distance are different elements. A call does what
its callee does. Types tell nothing apart: a NumPy program may look at the same bytes as another type.
"""
from __future__ import annotations

from ..ir.core import (
    CELLS, COUNTS, ELEMENTS, ERRORS, READS, WRITES, Function, Inst, Value, regions_read, regions_written, writes,
)
from ..ops import memory as m
from ..ops import structure as s
from ..ops.control import INVOKE
from ..ops.nest import NEST_INTO
from ..types.kinds import Array

__all__ = ["Aliases", "LOADS", "gathers", "root_of"]

LOADS = frozenset((m.ARRAY_LOAD, m.CELL_LOAD))  # what they read is all that they depend on
# By name: a first call need not load the operations of a GPU for it.
_FRESH = frozenset(("array_new", "array_copy", "nest", "shared_array", "local_array"))
_NEW_CELLS = frozenset((m.CELL_NEW, m.ITERATOR_NEW))
_UNREAD = COUNTS | ERRORS  # what no result depends on
_ANYTHING = READS | WRITES, None


class Aliases:
    """Answers for the values of one function."""

    def __init__(self, fn: Function):
        self.given = frozenset(fn.params)
        self.apart = fn.memo.get("apart", ())  # pairs of parameters that share no memory: of chunks of a loop
        self.known: dict[Function, tuple[int, list[int] | None]] = {fn: _ANYTHING}  # what callees do

    def distinct(self, x: Value, y: Value) -> bool:
        """Whether two arrays are known to have memory of their own."""
        x, y = root_of(x), root_of(y)
        if self.apart and frozenset((x, y)) in self.apart:
            return True
        made = is_fresh(x), is_fresh(y)
        # an argument is older than anything made here
        return x is not y and any(made) and all(fresh or v in self.given for fresh, v in zip(made, (x, y)))

    def effects(self, inst: Inst) -> int:
        """The effects of an instruction, of a call those of what it runs. What a callee writes into arrays that it
        makes is not seen here."""
        return inst.op.effects if inst.op is not INVOKE else self._call(inst.attrs["callee"])[0]

    def _call(self, callee: Function) -> tuple[int, list[int] | None]:
        """(effects of a function, which of its parameters it writes elements of; None: of others too)"""
        if callee not in self.known:
            self.known[callee] = _ANYTHING  # until it is known: it may call itself
            inside = Aliases(callee)
            inside.known = self.known
            found = 0
            params: dict[Value, None] | None = {}
            again = False
            for block in callee.blocks:
                for inst in block.insts:
                    if inst.op is INVOKE and inst.attrs["callee"] is callee:  # which does what the others do
                        again = True
                        continue
                    does = inside.effects(inst)
                    if regions_written(does) & ELEMENTS:
                        arrays = inside.written(inst)
                        roots = [x for x in map(root_of, arrays or ()) if not is_fresh(x)]
                        if arrays is not None and not roots:
                            does &= ~writes(ELEMENTS)
                        elif arrays is None or not inside.given.issuperset(roots):
                            params = None
                        elif params is not None:
                            params.update(dict.fromkeys(roots))
                    found |= does
            if again and regions_written(found) & ELEMENTS:  # of what it is called with then
                params = None
            self.known[callee] = found, None if params is None else [k for k, p in enumerate(callee.params)
                                                                     if p in params]
        return self.known[callee]

    def written(self, inst: Inst) -> list[Value] | None:
        """The arrays that an instruction writes elements of, if not through a view of them; None where they are not
        known."""
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
        return [v for v in inst.args if isinstance(v.type, Array)] if op.name == "blas" else None

    def writes(self, inst: Inst) -> bool:
        """Whether an instruction changes memory that some computation may read."""
        return bool(regions_written(self.effects(inst)) & ~_UNREAD)

    def leaves(self, inst: Inst, arrays) -> bool:
        """Whether an instruction changes nothing but elements of others than these arrays."""
        if regions_written(self.effects(inst)) & ~(_UNREAD | ELEMENTS):
            return False
        return self._writes_others(inst, arrays)

    def _writes_others(self, inst: Inst, arrays) -> bool:
        written = self.written(inst)
        return written is not None and all(self.distinct(x, y) for x in written for y in arrays)

    def may_change(self, inst: Inst, load: Inst) -> bool:
        """Whether an instruction may change what another one reads."""
        common = regions_written(self.effects(inst)) & regions_read(load.op.effects)
        if not common:
            return False
        if common == ELEMENTS and load.op is m.ARRAY_LOAD:
            if inst.op is m.ARRAY_STORE and _separated(inst, load):
                return False
            return not self._writes_others(inst, load.args[:1])
        if common == CELLS and inst.op is m.CELL_STORE:
            x, y = inst.args[0], load.args[0]
            return not (x is not y and all(v.inst is not None and v.inst.op in _NEW_CELLS for v in (x, y)))
        return True


def is_fresh(v: Value) -> bool:
    """Whether an array is made where the value is defined, or is memory of a thread's or a block's own."""
    return v.inst is not None and (v.inst.op.name in _FRESH or gathers(v.inst))


def root_of(v: Value) -> Value:
    """The array that `v` is a view of."""
    while (made := v.inst) is not None and (made.op is m.ARRAY_VIEW or made.op is s.RETYPE):
        v = made.args[0]
    return v


def gathers(inst: Inst) -> bool:
    """A call that copies out what a mask selects: of an array and a mask."""
    return inst.op is INVOKE and inst.attrs["callee"].flags.selects_by_mask


def _separated(one: Inst, other: Inst) -> bool:
    """Whether a test at run time has found that two accesses go to different memory."""
    x, y = one.attrs.get("apart"), other.attrs.get("apart")
    return x is not None and y is not None and x[0] == y[0] and y[1] in x[2:]
