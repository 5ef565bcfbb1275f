"""The derivative of sorting: the same permutation of tangents, and its inverse of cotangents. See `by_value` in
lib/build.py."""
from __future__ import annotations

import numpy as np

__all__: list[str] = []


def sorted_last_tangent(a, a_t):
    return np.take_along_axis(a_t, np.argsort(a, axis=-1), -1)


def sorted_last_backward(a, result, g):
    found = np.zeros(a.shape, a.dtype)
    np.put_along_axis(found, np.argsort(a, axis=-1), g, -1)
    return (found,)
