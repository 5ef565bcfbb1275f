"""np.convolve and np.correlate, by the definition: sums of one array shifted along the other."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Call, Const, NotConstant, Throw
from ....ops.arith import IADD, ISUB
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....types import kinds as k
from ....types.lattice import dtype_of, promote
from ...build import compiled, outlined, provoked
from ...intrinsics import fail
from ...rule import intrinsic

__all__ = ["CALLS", "common_type"]

BLOCK = 1024  # results that stay in the L1 cache while the products are added


@intrinsic
def common_type(a, b):
    """The dtype of the products."""
    t = promote(a.type.dtype, b.type.dtype)
    return Const(k.DType(t), dtype_of(t))


@intrinsic
def known(mode):
    """The mode, which must be a constant or a text."""
    if not mode.known:
        if mode.type is k.Str:
            return Call(checked_mode, mode)
        raise NotConstant("the mode must be known at compile time", "write 'full', 'same' or 'valid'")
    value = mode.value
    if value not in ("full", "same", "valid", 0, 1, 2):
        if isinstance(value, str) and value[:1] in ("f", "s", "v"):
            return Throw(ValueError, "Use one of 'valid', 'same', or 'full' for convolve/correlate mode")
        return Throw(ValueError, f"mode must be one of 'valid', 'same', or 'full' (got {value!r})")
    return mode


def checked_mode(mode):
    if mode not in ("full", "same", "valid"):
        if mode[:1] in ("f", "s", "v"):
            raise ValueError("Use one of 'valid', 'same', or 'full' for convolve/correlate mode")
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return mode


@outlined
def add_products(out, a, v, shift, forwards):
    """out[i] = sum of a[i + shift - j] v[j], one j after the other, so that the inner loop runs over i and is
    vectorised. forwards: whether j grows; NumPy adds in the order of `a`, in which j falls."""
    for start in range(0, len(out), BLOCK):
        stop = min(start + BLOCK, len(out))
        for i in range(start, stop):
            ARRAY_STORE(out, i, out.dtype.type(0), parallel=True)
        for step in range(len(v)):
            j = step if forwards else ISUB(ISUB(len(v), 1), step)
            x = ARRAY_LOAD(v, j)
            back = ISUB(shift, j)
            for i in range(max(start, -back), min(stop, ISUB(len(a), back))):
                y = ARRAY_LOAD(out, i, parallel=True) + ARRAY_LOAD(a, IADD(i, back), parallel=True) * x
                ARRAY_STORE(out, i, y, parallel=True)


def summed(a, v, first, count, forwards):
    """`count` elements of the full convolution, from `first` on; `v` is the shorter array."""
    out = np.empty(count, a.dtype)
    if a.dtype == np.float16:  # NumPy sums half floats in single precision
        wide = np.empty(count, np.float32)
        add_products(wide, a.astype(np.float32), v.astype(np.float32), first, forwards)
        return wide.astype(np.float16)
    add_products(out, a, v, first, forwards)
    return out


def part_of(a, v, mode, middle, forwards=False):
    """The part of the full convolution that `mode` selects. middle: where 'same' begins."""
    chosen = known(mode)
    if chosen == "full" or chosen == 2:
        return summed(a, v, 0, len(a) + len(v) - 1, forwards)
    if chosen == "same" or chosen == 1:
        return summed(a, v, middle, len(a), forwards)
    return summed(a, v, len(v) - 1, len(a) - len(v) + 1, forwards)


def in_order(a, t):
    """A contiguous copy with the dtype of the products."""
    return a.astype(t)


# which of two empty operands the message names; before NumPy 2.3 the shorter one is `v`
EMPTY_FIRST = provoked(np.convolve, [], [1.0])


def convolve(a, v, mode="full"):
    x, y = np.atleast_1d(np.asarray(a)), np.atleast_1d(np.asarray(v))
    if len(x) == 0:
        raise ValueError(EMPTY_FIRST if len(y) > 0 else "a cannot be empty")
    if len(y) == 0:
        raise ValueError("v cannot be empty")
    known(mode)
    if x.ndim > 1 or y.ndim > 1:
        fail(ValueError, "object too deep for desired array")
    t = common_type(x, y)
    first, second = in_order(x, t), in_order(y, t)
    if len(second) > len(first):
        first, second = second, first
    return part_of(first, second, mode, (len(second) - 1) // 2)


def correlate(a, v, mode="valid"):
    x, y = np.asarray(a), np.asarray(v)
    known(mode)
    if x.ndim == 0 or y.ndim == 0:
        fail(ValueError, "object of too small depth for desired array")
    if x.ndim > 1 or y.ndim > 1:
        fail(ValueError, "object too deep for desired array")
    if len(x) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(y) == 0:
        raise ValueError("second array argument cannot be empty")
    t = common_type(x, y)
    first, second = in_order(x, t), in_order(np.conjugate(y[::-1]) if y.dtype.kind == "c" else y[::-1], t)
    if len(second) > len(first):
        return part_of(second, first, mode, len(first) // 2, forwards=True)
    return part_of(first, second, mode, (len(second) - 1) // 2)


CALLS = {np.convolve: compiled(convolve), np.correlate: compiled(correlate)}
