"""np.r_ and np.c_: arrays, numbers and slices in brackets, joined along the first or the last axis."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Expr, NotNative
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.lattice import dtype_of
from ....types.typeof import element_type
from ...rule import intrinsic
from ..arrays.grids import parts_of
from .arrange import common_dtype
from .joining import columns, join, lifted
from .views import elements

__all__ = ["getitem"]

_WEAK = {k.Int: 0, k.Float: 0.0, k.Complex: 0j}  # numbers of Python, which take the dtype of the arrays beside them


def getitem(joined: Expr, key: Expr) -> Expr:
    """np.r_[...] or np.c_[...]"""
    rows = joined.type.value is np.r_
    name = "np.r_" if rows else "np.c_"
    parts = []
    for x in elements(key) if isinstance(key.type, k.Tuple) else [key]:
        if isinstance(x.type, k.Slice):
            parts.append(Call(numbers, *parts_of(x, name)))
        elif x.type is k.Str:
            raise NotNative(f"{name}['...'] is not compiled",
                            "write np.concatenate((a, b), axis), np.stack or np.column_stack")
        else:
            parts.append(x if isinstance(x.type, k.Array) or _is_number(x) else Call(array_of, x))
    return Call(along_first if rows else along_last, Apply(TUPLE_MAKE, *parts, cls=None))


@intrinsic
def as_arrays(parts):
    """The parts, with arrays of one element in the place of numbers."""
    items = elements(parts)
    if not any(map(_is_number, items)):
        return parts
    weak = [_WEAK[x.type] for x in items if x.type in _WEAK]
    others = [x for x in items if x.type not in _WEAK]
    found = [dtype_of(common_dtype(Apply(TUPLE_MAKE, *others, cls=None)).type.scalar)] if others else []
    t = np.result_type(*found, *weak)
    return Apply(TUPLE_MAKE, *[Call(single, x, Const(k.DType(element_type(t)), t)) if _is_number(x) else x
                               for x in items], cls=None)


def _is_number(x: Expr) -> bool:
    return k.is_scalar(x.type)


def array_of(x):
    return np.asarray(x)


def single(x, dtype):
    return np.array([x], dtype)


def numbers(start, stop, step):
    """The numbers of a slice; of a step that is complex, its absolute value is how many."""
    if isinstance(step, complex):
        return np.linspace(start, stop, int(abs(step)))
    return np.arange(start, stop, step)


def along_first(parts):
    return join(lifted(as_arrays(parts), 1, 0), 0, None, None, "same_kind")


def along_last(parts):
    return join(columns(as_arrays(parts), 0), -1, None, None, "same_kind")
