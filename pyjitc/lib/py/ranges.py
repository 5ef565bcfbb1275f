"""Ranges: their length and the loops over them, as expressions; most programs have some, and no call need be compiled for one.

A loop keeps three ints: the value, the step and how many are left, so that later passes see a counted loop.
"""
from __future__ import annotations

from ...infer.meaning import Apply, Expr
from ...ops.arith import IADD, IFLOORDIV, IGT, ILT, ISUB
from ...ops.structure import PACK, RANGE_GET, SELECT, STRUCT_GET, TUPLE_MAKE
from ..build import number

__all__ = ["STATE", "iterate", "length", "step"]

STATE = "range_iterator"
_ZERO, _ONE = number(0), number(1)


def length(r: Expr) -> Expr:
    return _length(*_parts(r))


def _parts(r):
    return (Apply(RANGE_GET, r, field="start"), Apply(RANGE_GET, r, field="stop"), Apply(RANGE_GET, r, field="step"))


def _length(start: Expr, stop: Expr, step: Expr) -> Expr:
    # Selected, not branched: a length that does not change leaves the loop around it.
    up = Apply(IGT, step, _ZERO)
    low, high = Apply(SELECT, up, start, stop), Apply(SELECT, up, stop, start)
    size = Apply(SELECT, up, step, Apply(ISUB, _ZERO, step))
    count = Apply(IADD, Apply(IFLOORDIV, Apply(ISUB, Apply(ISUB, high, _ONE), low), size), _ONE)
    return Apply(SELECT, Apply(ILT, low, high), count, _ZERO)


def iterate(r: Expr) -> Expr:
    """The state before the first step."""
    start, stop, step = _parts(r)
    return Apply(PACK, start, step, _length(start, stop, step), name=STATE)


def step(state: Expr) -> Expr:
    """(has, item, next state)"""
    value, by, left = Apply(STRUCT_GET, state, field="0"), Apply(STRUCT_GET, state, field="1"), Apply(STRUCT_GET, state, field="2")
    rest = Apply(PACK, Apply(IADD, value, by, flags="nsw"), by, Apply(ISUB, left, _ONE, flags="nuw nsw"), name=STATE)
    return Apply(TUPLE_MAKE, Apply(IGT, left, _ZERO), value, rest, cls=None)
