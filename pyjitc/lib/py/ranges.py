"""The protocol of ranges. Their length and the loops over them are expressions, so that no library function need be
compiled for them: most programs use ranges.

A loop keeps three ints: the value, the step and how many are left, so that later passes see a counted loop.
"""
from __future__ import annotations

import operator

from ...base.lazy import lazy
from ...infer.meaning import Apply, Call, Expr, Mismatch, NotNative
from ...ops.arith import BNOT, IADD, IFLOORDIV, IGT, ILT, ISUB
from ...ops.structure import METHOD_MAKE, PACK, RANGE_GET, RANGE_MAKE, SELECT, STRUCT_GET, TUPLE_MAKE
from ...types.kinds import (
    Bytes, Ellipsis_, Int, NoneType, Range, Slice, Str, is_complex, is_numpy_scalar, is_plain_tuple,
)
from ..build import number, provoked
from ..protocol import Protocol, State, by_python, text_by_python
from ..rule import rule

conversions = lazy("pyjitc.lib.py.conversions")
iteration = lazy("pyjitc.lib.py.iteration")

__all__ = ["CALLS", "PROTOCOLS", "in_kernel", "index"]

_ZERO, _ONE = number(0), number(1)


def index(x: Expr) -> Expr:
    """`x` as an int, as `operator.index` converts it; most operands are ints, which need no other module."""
    return x if x.type is Int else conversions.to_index(x)


def _ends(start, stop, step) -> list[Expr]:
    """[start, stop, step] of a call, where one argument is the stop."""
    if stop.type is Ellipsis_:
        return [_ZERO, index(start), _ONE]
    return [index(start), index(stop), index(step)]


@rule("range")
def _range(start, stop=..., step=1, /):
    start, stop, step = _ends(start, stop, step)
    if step.known and -2 ** 63 < step.value != 0:
        low = start if step.value > 0 else stop
        return (Apply(RANGE_MAKE, start, stop, step) if low.known and low.value >= 0
                else Call(iteration.make_range, start, stop, step))
    return Call(iteration.make_any_range, start, stop, step)


@rule("range")
def in_kernel(start, stop=..., step=1, /):
    """`range` in kernels: positions of threads are far from the limits of 64 bits, and raising an exception takes
    registers."""
    start, stop, step = _ends(start, stop, step)
    return (Apply(RANGE_MAKE, start, stop, step) if step.known and step.value != 0
            else Call(iteration.make_kernel_range, start, stop, step))


def _parts(r):
    return (Apply(RANGE_GET, r, field="start"), Apply(RANGE_GET, r, field="stop"), Apply(RANGE_GET, r, field="step"))


def _length(start: Expr, stop: Expr, step: Expr) -> Expr:
    # Selects instead of branches, so that an invariant length can be hoisted out of the loop around it.
    up = Apply(IGT, step, _ZERO)
    low, high = Apply(SELECT, up, start, stop), Apply(SELECT, up, stop, start)
    size = Apply(SELECT, up, step, Apply(ISUB, _ZERO, step))
    count = Apply(IADD, Apply(IFLOORDIV, Apply(ISUB, Apply(ISUB, high, _ONE), low), size), _ONE)
    return Apply(SELECT, Apply(ILT, low, high), count, _ZERO)


class _Range(Protocol):
    text = text_by_python

    def compare(self, op, x, y):
        if op in ("==", "!=") and is_numpy_scalar(y.type):
            raise NotNative(f"{op} between a NumPy scalar and a range is not compiled",
                            "make an array of it: np.array(x)")
        if op not in ("==", "!=") or y.type is not Range:
            return None
        same = Call(iteration.range_equal, x, y)
        return same if op == "==" else Apply(BNOT, same)

    def truth(self, x):
        return Apply(IGT, self.length(x), _ZERO)

    def contains(self, x, item):
        if is_complex(item.type):
            return Call(iteration.range_contains_complex, x, item)
        if item.type in (Str, Bytes, NoneType) or is_plain_tuple(item.type):
            return number(False)
        return Call(iteration.range_contains, x, item)

    def length(self, x):
        return _length(*_parts(x))

    def getitem(self, x, i):
        if isinstance(i.type, Slice):
            return by_python(operator.getitem, x, i, type=Range)
        return Call(iteration.range_item, x, index(i))

    def iterate(self, x):
        start, stop, step = _parts(x)
        return Apply(PACK, start, step, _length(start, stop, step), name="range_iterator")

    def reversed(self, x):
        return Call(iteration.range_reversed, x)

    def attribute(self, x, name):
        if name in ("index", "count"):
            return Apply(METHOD_MAKE, x, name=name)
        return Apply(RANGE_GET, x, field=name) if name in ("start", "stop", "step") else None

    def method(self, x, name, args, kwargs):
        if kwargs or len(args) != 1:
            raise Mismatch(provoked(getattr(range(0), name), *[0] * len(args), **dict.fromkeys(kwargs)))
        return by_python(getattr(range, name), x, args[0], type=Int)


class _Loop(State):
    def step(self, state):
        value, by, left = (Apply(STRUCT_GET, state, field=name) for name in "012")
        rest = Apply(PACK, Apply(IADD, value, by, flags="nsw"), by, Apply(ISUB, left, _ONE, flags="nuw nsw"),
                     name="range_iterator")
        return Apply(TUPLE_MAKE, Apply(IGT, left, _ZERO), value, rest, cls=None)


CALLS = {range: _range}
PROTOCOLS = {type(Range): _Range(), "range_iterator": _Loop()}
