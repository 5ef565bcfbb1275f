"""What forward and reverse mode share: arguments, results, and products with partial derivatives."""
from __future__ import annotations

from ...ir.core import Function, Value
from ...ops import arith as a
from ...ops import math as m
from ...ops import structure as s
from ...types import kinds as k
from ...types.tangents import is_varying, varies
from .builder import Builder

__all__ = ["entry_of", "guarded_term", "plain_value"]

# Their derivatives are infinite, or no numbers, somewhere: what does not count must not count as 0 * inf.
_SINGULAR = frozenset((a.FDIV, m.SQRT, m.LOG, m.LOG2, m.LOG10, m.LOG1P, m.POW, m.POW_IN_DOUBLE, m.ASIN, m.ACOS, m.ATANH,
                       m.ACOSH, m.CBRT, m.HYPOT, m.ATAN2))


def guarded_term(b: Builder, inst, d: Value, g: Value) -> Value:
    """d * g, and 0 where g is 0, whatever d is."""
    term = b.fmul(d, g)
    if inst.op not in _SINGULAR:
        return term
    zero = b.zero(g.type)
    return b.op(s.SELECT, b.op(a.FEQ, g, zero), zero, term)


def plain_value(b: Builder, y: Value) -> Value:
    """A result as it is handed out: numbers of one type."""
    if type(y.type) is k.Dual:
        return b.op(s.DUAL_WIDE, y)
    if type(y.type) is k.Tuple and k.any_part(y.type, lambda t: type(t) is k.Dual):
        parts = [plain_value(b, b.op(s.TUPLE_GET, y, index=n)) for n in range(len(y.type.elements))]
        return b.op(s.TUPLE_MAKE, *parts, cls=y.type.cls)
    return y


def entry_of(b: Builder, fn: Function, wrt, seeds, helpers) -> list[tuple[Value, Value]]:
    """(part of an argument, part of its seed) of all floats and arrays of floats among the arguments that vary.

    seeds: None of those that no tangent is given for: it is zero. Arrays that vary are copied, so that the caller's stay as they are; so are their seeds, which then lie in memory as
    the copies do. What takes tuples apart and copies is added to `b`, for the start of the function."""
    leaves: list[tuple[Value, Value]] = []
    replace: dict[Value, Value] = {}

    def helped(name, t, *args):
        name += "_by_columns" if t.layout == "F" else ""
        found = b.call(helpers(name.replace("like_by", "by") if len(args) < 2 else name,
                               tuple([x.type for x in args])), *args)
        own = k.Array(t.dtype, t.ndim, t.layout)
        return found if found.type is own else b.op(s.RETYPE, found, type=own)

    def open_up(x, seed):
        t = x.type
        if type(t) is k.Tuple:
            parts = []
            for n, part in enumerate(t.elements):
                taken = b.op(s.TUPLE_GET, x, index=n)
                inner = seed and b.op(s.TUPLE_GET, seed, index=n)
                parts.append(open_up(taken, inner) if varies(part) else taken)
            return b.op(s.TUPLE_MAKE, *parts, cls=t.cls)
        if type(t) is k.Array:
            x = helped("copied", t, x)
            x = x if x.type is t else b.op(s.RETYPE, x, type=t)
            seed = helped("zeros_like", t, x) if seed is None else helped("copied_like", t, x, seed)
        elif seed is None:
            seed = b.zero(t)
        if is_varying(t):
            leaves.append((x, seed))
        return x

    for p, seed in zip(wrt, seeds):
        new = open_up(p, seed)
        if new is not p:
            replace[p] = new
    if replace:
        for block in fn.blocks:
            for inst in block.insts:
                inst.args = [replace.get(v, v) for v in inst.args]
                for e in inst.edges():
                    e.args = [replace.get(v, v) for v in e.args]
    return leaves
