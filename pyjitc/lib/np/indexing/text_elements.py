"""Elements of arrays of text (dtypes U and S), and fields of records that are text.

The element type of such an array is `Record` with a dtype that has no fields: elements are views without axes. The
interpreter reads and writes them, as str or bytes. In the interpreter they are `np.str_` and `np.bytes_`; in Numba str
and bytes. So only programs for Numba may read them.
"""
from __future__ import annotations

import operator

import numpy as np

from ....infer.meaning import Apply, Expr, NotNative
from ....ops.structure import DISCARD
from ....types import kinds as k
from ... import extended
from ...protocol import by_python
from ...py.interpreted import call_python

__all__ = ["compared", "load", "store"]


def load(view: Expr) -> Expr:
    """The value of a view without axes."""
    if not extended.is_as_in_numba():
        raise NotNative("an element of an array of strings is not compiled", "pass a list of strings: x.tolist()")
    return call_python(np.ndarray.item, view, type=k.Str if view.type.dtype.dtype.kind == "U" else k.Bytes)


def store(view: Expr, i: Expr, value: Expr) -> Expr:
    """view[i] = value"""
    return Apply(DISCARD, call_python(operator.setitem, view, i, value, type=k.NoneType))


def compared(op, x: Expr, y: Expr) -> Expr | None:
    """A comparison of an array of text along one axis with another, or with a text; None for other operands."""
    axes, letters = [], set()
    for operand in (x, y):
        t = operand.type
        axes.append(t.ndim if isinstance(t, k.Array) else 0)
        letters.add(t.dtype.dtype.kind if isinstance(t, k.Array) and isinstance(t.dtype, k.Record) else
                    "U" if t is k.Str else "S" if t is k.Bytes else "")
    if sorted(axes) not in ([0, 1], [1, 1]) or letters not in ({"U"}, {"S"}):
        return None
    return by_python(op, x, y, type=k.Array(k.NpBool, 1, "C"))
