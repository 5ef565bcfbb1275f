"""Templates of reductions: how the elements of an index space are folded. Run by passes/nests.py, never by CPython.

Sums of floats are pairwise with eight running sums over blocks of 128, and rows are added in order, which is NumPy's
own order (numpy/_core/src/umath/loops_utils.h.src, pairwise sum), so that float32 sums agree.
`how`: 'sum', 'prod', 'min', 'max', 'any', 'all'; `t`: dtype of an element and of the result.
"""
from __future__ import annotations

import numpy as np

from ...ops.arith import IADD, IMUL, ISUB
from ...ops.memory import ARRAY_LOAD, ARRAY_STORE
from ...ops.nest import CHEAP, ELEMENT, ELEMENT_UNIT, FLAT, UNIT
from ..intrinsics import identity
from .loops import as_row

__all__ = ["folded", "folded_axes"]

BLOCK = 128


def combine(how, x, y):
    if how == "sum":
        return x + y
    if how == "prod":
        return x * y
    if how == "min":
        return np.minimum(x, y)
    if how == "max":
        return np.maximum(x, y)
    if how == "any":
        return x | y
    return x & y


def load(source, j, unit, t):
    """Element j of a buffer, or of the row whose other indices are `source`."""
    if isinstance(source, np.ndarray):
        return ARRAY_LOAD(source, j)
    if unit:
        return ELEMENT_UNIT(*source, j, type=t)
    return ELEMENT(*source, j, type=t)


def simple_row(source, n, how, unit, t):
    total = identity(how, t)
    for j in range(n):
        total = combine(how, total, load(source, j, unit, t))
    return total


def block(source, low, n, how, unit, t):
    """n elements from `low`, eight running results."""
    end = IADD(low, n)
    if n < 8:
        total = identity(how, t)
        for j in range(low, end):
            total = combine(how, total, load(source, j, unit, t))
        return total
    r0 = load(source, low, unit, t)
    r1 = load(source, IADD(low, 1), unit, t)
    r2 = load(source, IADD(low, 2), unit, t)
    r3 = load(source, IADD(low, 3), unit, t)
    r4 = load(source, IADD(low, 4), unit, t)
    r5 = load(source, IADD(low, 5), unit, t)
    r6 = load(source, IADD(low, 6), unit, t)
    r7 = load(source, IADD(low, 7), unit, t)
    rest = ISUB(end, n % 8)
    for j in range(IADD(low, 8), rest, 8):
        r0 = combine(how, r0, load(source, j, unit, t))
        r1 = combine(how, r1, load(source, IADD(j, 1), unit, t))
        r2 = combine(how, r2, load(source, IADD(j, 2), unit, t))
        r3 = combine(how, r3, load(source, IADD(j, 3), unit, t))
        r4 = combine(how, r4, load(source, IADD(j, 4), unit, t))
        r5 = combine(how, r5, load(source, IADD(j, 5), unit, t))
        r6 = combine(how, r6, load(source, IADD(j, 6), unit, t))
        r7 = combine(how, r7, load(source, IADD(j, 7), unit, t))
    total = combine(how, combine(how, combine(how, r0, r1), combine(how, r2, r3)),
                    combine(how, combine(how, r4, r5), combine(how, r6, r7)))
    for j in range(rest, end):
        total = combine(how, total, load(source, j, unit, t))
    return total


def leaf(source, buffer, low, n, how, unit, t):
    """A block of at most BLOCK elements; costly elements are computed into the buffer first, where that vectorises."""
    if unit and CHEAP():
        return block(source, low, n, how, unit, t)
    for j in range(n):
        ARRAY_STORE(buffer, j, load(source, IADD(low, j), unit, t))
    return block(buffer, 0, n, how, unit, t)


def pairwise_row(source, n, how, unit, t):
    buffer = np.empty(BLOCK, t)
    if n <= BLOCK:
        return leaf(source, buffer, 0, n, how, unit, t)
    # halves of halves, by hand: what is to do (-1: add the last two), and the sums so far
    starts, counts, sums = np.empty(192, np.int64), np.empty(192, np.int64), np.empty(192, t)
    ARRAY_STORE(starts, 0, np.int64(0))
    ARRAY_STORE(counts, 0, np.int64(n))
    todo = 1
    done = 0
    while todo > 0:
        todo = ISUB(todo, 1)
        low, count = int(ARRAY_LOAD(starts, todo)), int(ARRAY_LOAD(counts, todo))
        if count < 0:
            done = ISUB(done, 1)
            ARRAY_STORE(sums, ISUB(done, 1), ARRAY_LOAD(sums, ISUB(done, 1)) + ARRAY_LOAD(sums, done))
        elif count <= BLOCK:
            ARRAY_STORE(sums, done, leaf(source, buffer, low, count, how, unit, t))
            done = IADD(done, 1)
        else:
            half = count >> 1
            half = ISUB(half, half & 7)
            ARRAY_STORE(counts, todo, np.int64(-1))
            ARRAY_STORE(starts, IADD(todo, 1), np.int64(IADD(low, half)))
            ARRAY_STORE(counts, IADD(todo, 1), np.int64(ISUB(count, half)))
            ARRAY_STORE(starts, IADD(todo, 2), np.int64(low))
            ARRAY_STORE(counts, IADD(todo, 2), np.int64(half))
            todo = IADD(todo, 3)
    return ARRAY_LOAD(sums, 0)


def row(source, n, how, unit, t):
    if how == "sum" and t.kind in "fc":
        return pairwise_row(source, n, how, unit, t)
    if how in ("min", "max") and t.kind == "f":
        if unit and CHEAP():
            return block(source, 0, n, how, unit, t)
    return simple_row(source, n, how, unit, t)


def folded(shape, how, t):
    """All elements."""
    if len(shape) == 1:
        if UNIT(*shape):
            return combine(how, identity(how, t), row((), shape[0], how, True, t))
        return combine(how, identity(how, t), row((), shape[0], how, False, t))
    if UNIT(*shape):
        return rows(as_row(shape) if FLAT(*shape) else shape, (), identity(how, t), how, True, t)
    return rows(shape, (), identity(how, t), how, False, t)


def rows(shape, index, total, how, unit, t):
    if len(index) == len(shape) - 1:
        return combine(how, total, row(index, shape[-1], how, unit, t))
    for i in range(shape[len(index)]):
        total = rows(shape, index + (i,), total, how, unit, t)
    return total


def kept_shape(shape, reduced, k=0):
    if k == len(shape):
        return ()
    if reduced[k]:
        return kept_shape(shape, reduced, k + 1)
    return (shape[k],) + kept_shape(shape, reduced, k + 1)


def trailing(reduced, k):
    """How many of the axes that end with k are reduced in a row."""
    return 0 if k < 0 or not reduced[k] else 1 + trailing(reduced, k - 1)


def last_size(shape, count):
    """Elements in the last `count` axes."""
    return 1 if count == 0 else IMUL(shape[-count], last_size(shape, count - 1))


def zeros(n):
    return () if n == 0 else (0,) + zeros(n - 1)


def folded_axes(shape, reduced, how, t):
    """An array of the axes where `reduced` is False."""
    out = np.full(kept_shape(shape, reduced), identity(how, t))
    if UNIT(*shape):
        if trailing(reduced, len(shape) - 1) > 1 and FLAT(*shape):
            into(out, shape, reduced, (), (), how, True, True, t)
        else:
            into(out, shape, reduced, (), (), how, True, False, t)
    else:
        into(out, shape, reduced, (), (), how, False, False, t)
    return out


def into(out, shape, reduced, index, place, how, unit, flat, t):
    k = len(index)
    last = trailing(reduced, len(shape) - 1)
    if flat and k == len(shape) - last:
        ARRAY_STORE(out, *place, combine(how, ARRAY_LOAD(out, *place), row(index + zeros(last - 1), last_size(shape, last), how, unit, t)))
    elif k < len(shape) - 1:
        for i in range(shape[k]):
            into(out, shape, reduced, index + (i,), place if reduced[k] else place + (i,), how, unit, flat, t)
    elif reduced[k]:
        ARRAY_STORE(out, *place, combine(how, ARRAY_LOAD(out, *place), row(index, shape[k], how, unit, t)))
    else:
        for j in range(shape[k]):
            ARRAY_STORE(out, *place, j, combine(how, ARRAY_LOAD(out, *place, j), load(index, j, unit, t)))
