"""Whether a float is known not to be negative, or not to be 0, by the operations that compute it.

An analysis, which changes nothing; ranges asks it whether a check of a divisor or of an argument of a root is needless:
`1.0 / (1.0 + x * x)` cannot divide by 0, and `math.sqrt(x * x + y * y)` has a root. NaN passes both checks.
"""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir.core import CHECKS_FIRST, NEVER_NEGATIVE, Inst, Value
from ..ops import arith as a
from ..ops.control import CONST
from ..types.kinds import is_float

math = lazy("pyjitc.ops.math")  # functions without elementary functions do not load it

__all__ = ["passes"]

_DEEP = 6  # the most operations on the way from a float to those that show its sign


def passes(check: Inst) -> bool:
    """Whether a check of a float raises for no value."""
    if check.op is a.CHECK_NONZERO:
        return _is_positive(check.args[0])
    if check.op is not math.CHECK_DOMAIN or not _is_natural(check.args[1]):
        return False
    root, x = check.args
    return root.inst is not None and root.inst.op is math.SQRT and root.inst.args[0] is x


def _is_natural(x: Value, depth: int = 0) -> bool:
    """Whether a float is NaN or not below 0; it may be -0.0."""
    made = x.inst
    if made is None or depth > _DEEP or not is_float(x.type):
        return False
    op, args = made.op, made.args
    if op is CONST:
        return made.attrs["value"] >= 0
    if op is a.FMUL and args[0] is args[1] or op.traits & NEVER_NEGATIVE:
        return True
    if op.traits & CHECKS_FIRST or op is a.CAST:
        return _is_natural(args[0], depth + 1)
    if op is a.FDIV:
        return _is_natural(args[0], depth + 1) and _is_positive(args[1], depth + 1)
    return (op is a.FADD or op is a.FMUL) and all([_is_natural(v, depth + 1) for v in args])


def _is_positive(x: Value, depth: int = 0) -> bool:
    """Whether a float is NaN or above 0. A product may be rounded to 0; a sum of what is not negative is not."""
    made = x.inst
    if made is None or depth > _DEEP or not is_float(x.type):
        return False
    if made.op is CONST:
        return made.attrs["value"] > 0
    if made.op.traits & CHECKS_FIRST:
        return _is_positive(made.args[0], depth + 1)
    return made.op is a.FADD and any([
        _is_positive(v, depth + 1) and _is_natural(w, depth + 1) for v, w in (made.args, made.args[::-1])])
