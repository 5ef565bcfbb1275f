"""Elementary functions with implementations in this package, and the hook for them.

On Python floats, an operation marked ELEMENTARY is the function of the C library. On NumPy numbers, and on a GPU, it is
a function in the compiled subset, which `lib/elementary` lists by operation, type and target. It remains one operation
until `passes/elementary.py` replaces it by a call of that function, after the passes for loop nests and common
subexpressions.
"""
from __future__ import annotations

from typing import Callable

from ..ir.core import ELEMENTARY
from ..types.kinds import Complex, Float

__all__ = ["STEPS", "computed_by", "is_ours", "provide"]

STEPS = 40  # instructions of such an implementation, about


def is_ours(inst) -> bool:
    """Whether an instruction of CPU code is one of these operations on NumPy numbers."""
    return bool(inst.op.traits & ELEMENTARY) and inst.result.type is not Float and inst.result.type is not Complex


_finders: list[Callable] = []


def provide(find: Callable) -> None:
    """Register the implementations. find: (name, class of the first operand) -> a Python function of the operands that
    computes the same bits as compiled code, or None."""
    _finders[:] = [find]


def computed_by(name: str, cls: type) -> Callable | None:
    return _finders[0](name, cls) if _finders else None
