"""Values that are chosen from others by a test: minima and maxima, lengths that are 0 where they would be negative, and
the starts of slices, which are clipped to the length of the array. A choice is a `select`, or a parameter of the block
in which the two ways of an `if` join.
"""
from __future__ import annotations

from typing import Any

from ..ir import core as ir
from ..ops import arith as a
from ..ops import control, memory
from ..ops.structure import SELECT
from . import counted

__all__ = ["chosen", "literal", "positive", "single_choice", "unclipped"]

_MIN = {a.ILT: True, a.ILE: True, a.IGT: False, a.IGE: False}  # comparison -> whether it chooses the lesser if true


def literal(v: ir.Value):
    """The value of a constant; None where a value is none."""
    return v.inst.attrs["value"] if v.inst is not None and v.inst.op is control.CONST else None


def unclipped(v: ir.Value) -> ir.Value:
    """The start of a slice, where the array is not so short that the slice is clipped: of select(length > 2, 2, length)
    the 2, of select(length < 1, 0, length - 1) the latter."""
    while (made := v.inst) is not None and made.op is SELECT:
        test, *ways = [literal(x) for x in made.args]
        if test is not None:
            v = made.args[1 if test else 2]
        elif (ways[0] is None) != (ways[1] is None):
            v = made.args[1 if (ways[0] is None) == (0 in ways) else 2]
        else:
            rest = [x for x in made.args[1:] if x.inst is None or x.inst.op is not memory.ARRAY_DIM]
            if len(rest) != 1:
                break
            v = rest[0]
    return v


def positive(v: ir.Value) -> ir.Value:
    """What a length is where it is positive: of select(test, n, 0) the n."""
    while v.inst is not None and v.inst.op is SELECT and 0 in (ways := [literal(x) for x in v.inst.args[1:]]):
        v = v.inst.args[2 - ways.index(0)]
    return v


def single_choice(v: ir.Value, region) -> tuple[ir.Value, ir.Value, ir.Value] | None:
    """(test, value where it holds, value otherwise) of a value that an `if` chooses."""
    block = region.defs.block_of[v]
    ways: dict[bool, ir.Value] = {}
    test: Any = None
    for source, branch, edge in region.edges[block]:
        value = edge.args[block.params.index(v)]
        while branch.op is control.JUMP and len(region.edges[source]) == 1:
            source, branch, edge = region.edges[source][0]
        if branch.op is not control.BRANCH or ways and branch.args[0] is not test:
            return None
        test = branch.args[0]
        ways[edge is branch.targets[0]] = value
    return (test, ways[True], ways[False]) if len(ways) == 2 == len(region.edges[block]) else None


def chosen(v: ir.Value, region) -> tuple[bool | None, ir.Value, ir.Value] | None:
    """(whether it is the lesser, x, y) of a minimum or maximum of two values, written as such or as an `if`; (None, x,
    y) of an index x that is y where it is negative, counted from the end."""
    if v.inst is not None and v.inst.op is not SELECT:
        return None
    choice = v.inst.args if v.inst is not None else single_choice(v, region)
    if choice is None:
        return None
    test, yes, no = choice
    compared = test.inst
    if compared is None or compared.op not in _MIN:
        return None
    x, y = compared.args
    if compared.op is a.ILT and literal(y) == 0 and _equal(x, no) and yes.inst is not None and (
            yes.inst.op in (a.IADD, a.IADD_CK) and x in yes.inst.args):
        return None, x, yes
    if _equal(x, yes) and _equal(y, no):
        return _MIN[compared.op], yes, no
    return (not _MIN[compared.op], yes, no) if _equal(x, no) and _equal(y, yes) else None


def _equal(x: ir.Value, y: ir.Value) -> bool:
    """Whether two values are the same number of 64 bits, or equal constants."""
    x, y = _uncast(x), _uncast(y)
    if x is y:
        return True
    made, other = x.inst, y.inst
    return (made is not None and other is not None and made.op is other.op is control.CONST
            and {x.type, y.type} <= counted.WIDE and bool(made.attrs["value"] == other.attrs["value"]))


def _uncast(v: ir.Value) -> ir.Value:
    """The value that casts between types of 64 bits have converted."""
    while v.inst is not None and v.inst.op is a.CAST and {v.type, v.inst.args[0].type} <= counted.WIDE:
        v = v.inst.args[0]
    return v
