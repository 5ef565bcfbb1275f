"""Which arrays an instruction may write into."""
from __future__ import annotations

from ...ir.core import ELEMENTS, Function, Inst, Value, regions_written
from ...ops import memory as mem
from ...ops.control import INVOKE
from ...ops.nest import NEST_INTO
from ...types.kinds import Array
from .activity import Classes

__all__ = ["MAKERS", "targets", "written_parameters"]


# Functions of lib/adjoints.py that make a new array, and those that write into none of their arguments.
MAKERS = frozenset(("copied", "copied_by_columns", "copied_like", "copied_like_by_columns", "zeros_by_columns",
                    "zeros_like"))
_READERS = MAKERS | {"check_apart"}


def targets(inst: Inst) -> list[Value]:
    op = inst.op
    if op is mem.ARRAY_STORE or op is mem.ROW_COPY:
        return inst.args[:1]
    if op is NEST_INTO:
        return inst.args[1:2]
    if op is INVOKE and "rules" in inst.attrs["callee"].memo:
        return [inst.args[n] for n in inst.attrs["callee"].memo["rules"].writes]
    if op is INVOKE and inst.attrs["callee"].library and inst.attrs["callee"].qualname in _READERS:
        return []
    if regions_written(op.effects) & ELEMENTS:
        return [x for x in inst.args if type(x.type) is Array]
    return []


def written_parameters(fn: Function) -> set[Value]:
    """The parameters that are arrays and may be written into."""
    classes = Classes(fn)
    found = {classes.of(x) for block in fn.blocks for inst in block.insts for x in targets(inst)}
    return {p for p in fn.params if type(p.type) is Array and classes.of(p) in found}
