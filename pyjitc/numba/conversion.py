"""Conversion of values of the interpreter to declared types."""
from __future__ import annotations

import numpy as np

from ..types import kinds
from . import types

__all__ = ["converted"]

_PYTHON = (kinds.Bool, kinds.Int, kinds.Float, kinds.Complex)


def converted(what: str, value, t: kinds.Type, declared: types.Type):
    """A value converted to the type `declared`, which compiled code knows as `t`. what: the name of the declaration,
    for errors."""
    if isinstance(declared, types.Optional):
        if value is None:
            return None
        declared = declared.base
    declared = types.unliteral(declared)
    if isinstance(declared, (types.Integer, types.Boolean, types.Float, types.Complex)):
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise TypeError(f"{what} is declared as {declared}, and cannot hold {type(value).__name__}")
        dtype = types.as_dtype(declared)
        # the conversion between integers wraps, as in Numba
        if isinstance(value, (int, np.integer)) and dtype.kind in "iu":
            value = int(value) & (1 << 8 * dtype.itemsize) - 1
            value -= value >> 8 * dtype.itemsize - 1 << 8 * dtype.itemsize if dtype.kind == "i" else 0
            found = dtype.type(value)
        else:
            found = np.asarray(value).astype(dtype)[()]
        return found.item() if any(part in _PYTHON for part in kinds.members_of(t)) else found
    if isinstance(declared, types.Array):
        if not isinstance(value, np.ndarray) or (value.dtype, value.ndim) != (
                types.as_dtype(declared.dtype), declared.ndim):
            raise TypeError(f"{what} is declared as {declared}, and cannot hold {value!r:.60}")
    return value
