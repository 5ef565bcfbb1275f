"""Operations on the values of all examples of a batch, to which passes/batches.py adds calls by name.

The first axis of an array is the batch. Loaded by programs that use `vmap`.
"""
from __future__ import annotations

from functools import cache

import numpy as np

from ..infer.meaning import UNKNOWN

__all__ = ["FOLDS", "assigned", "copied", "fold_of", "matrices", "put_all", "put_at", "put_same",
           "repeated", "room_like", "rule_with", "shared_matrix", "shared_vector"]


def repeated(count, x):
    """The same value for each example, in memory of its own."""
    if isinstance(x, np.ndarray):
        out = np.empty((count,) + x.shape, x.dtype)
        out[...] = x
        return out
    return np.full(count, x)


def copied(x):
    return x.copy()


def assigned(target, x):
    target[...] = x


# -- results

def room_like(count, x):
    """Room for `count` arrays like x."""
    return np.empty((count,) + x.shape, x.dtype)


def put_at(out, i, x):
    """Write one example. All must have the same shape: the loop over calls does what NumPy does with others."""
    if x.shape != out.shape[1:]:
        raise ValueError("the examples have results of different shapes")
    out[i] = x


def put_all(out, low, x):
    out[low:low + len(x)] = x


def put_same(out, low, high, x):
    out[low:high] = x


# -- folds

FOLDS = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max, "any": np.any, "all": np.all}


@cache
def fold_of(how: str, axes: tuple[int, ...]):
    """The library function that folds these axes of an array to elements of the same dtype."""
    function = FOLDS[how]
    if how == "sum" or how == "prod":
        def fold(x):
            return function(x, axis=axes, dtype=x.dtype)
    else:
        def fold(x):
            return function(x, axis=axes)
    return fold


# -- rules

def rule_with(rule, constants: tuple):
    """A rule of `batched` (lib/build.py) as a function of the arguments that are not constants of the call."""
    names = [f"x{n}" for n, value in enumerate(constants) if value is UNKNOWN]
    given = [f"x{n}" if value is UNKNOWN else f"c{n}" for n, value in enumerate(constants)]
    space = {**globals(), "rule": rule, **{f"c{n}": value for n, value in enumerate(constants)}}
    return eval(f"lambda {', '.join(names)}: rule({', '.join(given)})", space)


# -- products

def shared_matrix(w, x):
    """w @ x of each example of x."""
    return x @ w.T


def shared_vector(w, x):
    """w @ x of each example of w."""
    return w @ x


def matrices(w, x):
    """w @ x of each example of both."""
    out = np.empty((len(w), w.shape[1]), x.dtype)
    for i in range(len(w)):
        out[i] = w[i] @ x[i]
    return out
