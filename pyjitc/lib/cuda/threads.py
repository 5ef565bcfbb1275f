"""What one thread of a kernel does with whole arrays: NumPy's functions without memory of their own and without BLAS.

Sums of floats are NumPy's up to 128 elements in a row; longer rows are added block after block, NumPy's in halves of halves.
"""
from __future__ import annotations

from ...infer.meaning import Call, Throw
from ...ops.arith import IADD, ISUB
from ..np.folds import BLOCK, combine, element, simple_row
from ..np.products import accumulate
from ..np.views import overlap

__all__ = ["INSTEAD"]

NO_ROOM = "the target of the assignment overlaps what is read, and a kernel has no memory for a copy; write a loop"


def row(index, n, how, unit, t):
    if how == "sum" and t.kind in "fc":
        if n < 8:
            return simple_row(index, n, how, unit, t)
        total = eight(index, 0, BLOCK if n > BLOCK else n, unit, t)
        for low in range(BLOCK, n, BLOCK):
            count = ISUB(n, low)
            total += eight(index, low, BLOCK if count > BLOCK else count, unit, t)
        return total
    return simple_row(index, n, how, unit, t)


def eight(index, low, n, unit, t):
    """Sum of n elements from `low`, by eight running sums."""
    zero = t.type(0)
    r0, r1, r2, r3, r4, r5, r6, r7 = zero, zero, zero, zero, zero, zero, zero, zero
    rest = ISUB(n, n & 7)
    for j in range(0, rest, 8):
        at = IADD(low, j)
        r0 += element(index, at, unit, t)
        r1 += element(index, IADD(at, 1), unit, t)
        r2 += element(index, IADD(at, 2), unit, t)
        r3 += element(index, IADD(at, 3), unit, t)
        r4 += element(index, IADD(at, 4), unit, t)
        r5 += element(index, IADD(at, 5), unit, t)
        r6 += element(index, IADD(at, 6), unit, t)
        r7 += element(index, IADD(at, 7), unit, t)
    total = combine("sum", combine("sum", combine("sum", r0, r1), combine("sum", r2, r3)),
                    combine("sum", combine("sum", r4, r5), combine("sum", r6, r7)))
    for j in range(rest, n):
        total += element(index, IADD(low, j), unit, t)
    return total


def apart(x, target):
    if overlap(target, x):
        raise RuntimeError(NO_ROOM)
    return x


def vector_dot(a, b):
    total = a.dtype.type(0)
    for i in range(len(a)):
        total = accumulate(total, a[i], b[i])
    return total


def matvec(y, a, x):
    for i in range(len(y)):
        y[i] = vector_dot(a[i], x)


def _as(function):
    return lambda args, kwargs: Call(function, *args)


# Functions of lib/np by module and name: the rule that stands for each in kernels.
INSTEAD = {("folds", "row"): _as(row), ("views", "apart"): _as(apart), ("loops", "room"): lambda args, kwargs: Throw(RuntimeError, NO_ROOM),
           ("products", "vector_dot"): _as(vector_dot), ("products", "matvec"): _as(matvec)}
