"""numba.np.extensions, numba.np.unsafe.ndarray and numba.cpython.unsafe.tuple: functions that Numba has and NumPy has
not."""
from __future__ import annotations

import numpy as np

from .. import types
from ..extending import overload

__all__ = ["cross2d", "empty_inferred", "to_fixed_tuple", "tuple_setitem"]


def cross2d(a, b):
    """The cross product of vectors with two components, a number for each pair of vectors."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape[-1] != 2 or b.shape[-1] != 2:
        raise ValueError("Incompatible dimensions for 2D cross product\n(dimension must be 2 for both inputs)")
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def to_fixed_tuple(array, length):
    """The tuple of the first `length` items of an array; the length is a constant."""
    return tuple(array[:length])


@overload(to_fixed_tuple)
def _to_fixed_tuple(array, length):
    if isinstance(length, types.Literal):
        return eval(f"lambda array, length: ({''.join(f'array[{k}], ' for k in range(length.literal_value))})")


def tuple_setitem(items, index, value):
    """The tuple with another item at `index`."""
    if len(items) == 0:
        return ()
    return (value if index == 0 else items[0],) + tuple_setitem(items[1:], index - 1, value)


def empty_inferred(shape):
    """An array of the shape, of floats."""
    return np.empty(shape)
