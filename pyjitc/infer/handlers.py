"""Whether the program catches an exception: found by following, from an instruction that raises it, the handlers that
stand around the instruction and around the calls that lead to it."""
from __future__ import annotations

from ..ir import core as ir
from ..ops import control, exceptions, generic
from ..types.kinds import Singleton, Tuple
from .meaning import UNKNOWN, Apply

__all__ = ["catches"]


def catches(analysis, inst: ir.Inst, exception: type) -> bool:
    """Whether an exception of this class, raised by `inst`, is caught by the program."""
    seen = set()
    while analysis not in seen:
        seen.add(analysis)
        if inst.unwind is not None and _ends_at(analysis, inst.unwind, exception):
            return True
        if analysis.spec.caller is None:
            break
        analysis, inst = analysis.spec.caller
    return False


def _ends_at(analysis, edge: ir.Edge, exception: type) -> bool:
    """Whether the code to which `edge` leads may end an exception of this class: an `except` clause that names it or
    no class, the `__exit__` of a context manager, or a `finally` clause that returns."""
    work, seen = [edge.block], {edge.block}
    while work:
        block = work.pop()
        last = block.insts[-1]
        edges = [last.unwind] if last.op is control.RERAISE and last.unwind is not None else list(last.targets)
        for inst in block.insts:
            if inst.op in _NAMES_CLASSES:
                classes = _classes(analysis, inst)
                if classes is None or issubclass(exception, classes):
                    return True
                if last.op is control.BRANCH:
                    del edges[0]
            elif inst.op is generic.WITH_LEAVE:
                found = analysis.meaning.get(inst)
                classes = found.attrs["classes"] if type(found) is Apply and found.op is exceptions.EXC_MATCH else None
                if classes is not None and issubclass(exception, classes):
                    return True
                if (classes is not None or inst not in analysis.meaning) and last.op is control.BRANCH:
                    del edges[0]
            elif inst.op is generic.EXC_LEAVE and last.op is not control.RERAISE and (
                    block.insts[0].op is not generic.CATCH):  # that leaves an earlier exception: CPython 3.10
                return True
        if last.op is control.RETURN:
            return True
        for edge in edges:
            if edge.block not in seen and edge.block in analysis.incoming:
                seen.add(edge.block)
                work.append(edge.block)
    return False


_NAMES_CLASSES = generic.EXC_MATCH, generic.GROUP_MATCH


def _classes(analysis, inst) -> tuple[type, ...] | None:
    """The classes that an `except` clause names, as far as they are known; None if they are no constants."""
    av = analysis.av.get(inst.args[1])
    if av is None:
        return ()
    parts = av[0].elements if isinstance(av[0], Tuple) else (av[0],)
    found = [part.value for part in parts if isinstance(part, Singleton)]
    if av[1] is not UNKNOWN:
        found = list(av[1]) if isinstance(av[1], tuple) else [av[1]]
    return tuple(cls for cls in found if isinstance(cls, type))
