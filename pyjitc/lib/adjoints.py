"""What derivatives do with whole arrays: functions in the compiled subset that passes/derivatives calls by name.

Loaded by programs that ask for derivatives. Arrays of adjoints are added to in place.
"""
from __future__ import annotations

import numpy as np

__all__ = ["accumulate", "clear", "copied", "copied_by_columns", "copied_like", "copied_like_by_columns", "full_of",
           "zeros_by_columns", "zeros_like"]


def copied(x):
    """A copy in C order."""
    return x.copy()


def copied_by_columns(x):
    """A copy in Fortran order."""
    return x.T.copy().T


def check_shape(x, given):
    if given.shape != x.shape:
        raise ValueError(f"a tangent or cotangent of shape {given.shape} for an array of shape {x.shape}")


def copied_like(x, given):
    """A copy of the tangent of x in C order."""
    check_shape(x, given)
    return given.copy()


def copied_like_by_columns(x, given):
    check_shape(x, given)
    return given.T.copy().T


def zeros_like(x):
    """Zeros in C order."""
    return np.zeros(x.shape, x.dtype)


def zeros_by_columns(x):
    return np.zeros(x.T.shape, x.dtype).T


def full_of(x, value):
    """An array of the shape of x, filled."""
    return np.full(x.shape, value, x.dtype)


def accumulate(total, given):
    """Add a cotangent to an array of adjoints."""
    check_shape(total, given)
    total += given


def clear(x):
    x[...] = 0
