"""A function of one matrix over a stack of matrices."""
from __future__ import annotations

__all__ = ["over_matrices"]


def over_matrices(outs, a, f, option):
    """Apply f to each matrix of a stack: outs[k][i] = f(a[i], option)[k] over the leading axes of `a`; where `outs` is
    one array, f has one result."""
    for i in range(len(a)):
        if a.ndim > 3:
            over_matrices(items(outs, i, 0), a[i], f, option)
        elif isinstance(outs, tuple):
            put_all(outs, i, f(a[i], option), 0)
        else:
            outs[i] = f(a[i], option)


def items(outs, i, k):
    if not isinstance(outs, tuple):
        return outs[i]
    return () if k == len(outs) else (outs[k][i],) + items(outs, i, k + 1)


def put_all(outs, i, found, k):
    if k < len(outs):
        outs[k][i] = found[k]
        put_all(outs, i, found, k + 1)
