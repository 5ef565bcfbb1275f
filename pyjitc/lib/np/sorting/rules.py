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


def sorted_copy_tangent(a, a_t):
    return a_t.reshape(-1)[np.argsort(a.reshape(-1))]


def sorted_copy_backward(a, result, g):
    found = np.zeros(a.size, a.dtype)
    found[np.argsort(a.reshape(-1))] = g
    return (found.reshape(a.shape),)


def sorted_places_tangent(a, a_t):
    return a_t.reshape(-1)[np.argsort(a.reshape(-1), kind="stable")], None


def sorted_places_backward(a, result, g):
    found = np.zeros(a.size, a.dtype)
    found[result[1]] = g[0]
    return (found.reshape(a.shape),)
