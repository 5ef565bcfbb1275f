"""np.cov and np.corrcoef."""
from __future__ import annotations

import numpy as np

from ..build import compiled
from ..intrinsics import fail

__all__ = ["CALLS"]


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if fweights is not None or aweights is not None:
        fail(NotImplementedError, "np.cov with weights is not compiled")
    x = m if m.ndim == 1 or rowvar else m.T
    if y is None:
        return scatter(rows(x, wide(x, x, dtype)), bias, ddof, x.ndim == 1)
    z = y if y.ndim == 1 or rowvar else y.T
    t = wide(x, z, dtype)
    return scatter(np.concatenate((rows(x, t), rows(z, t)), axis=0), bias, ddof, False)


def wide(x, y, dtype):
    """The dtype in which it is computed."""
    if dtype is not None:
        return dtype
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        return np.complex128
    return np.float64


def rows(x, t):
    """A copy with one variable a row."""
    return x.astype(t)[None] if x.ndim == 1 else x.astype(t)


def scatter(x, bias, ddof, single):
    """Products of the deviations, over the degrees of freedom. single: one variable, so that the result is 0-d."""
    n = x.shape[1]
    if ddof is None:
        free = n if bias else n - 1
    else:
        free = n - ddof
    if free <= 0:
        free = 0
    x -= np.mean(x, axis=1)[:, None]
    c = np.dot(x, np.conj(x.T)) if x.dtype.kind == "c" else np.dot(x, x.T)
    c *= np.true_divide(1, free)
    if single:
        return c[0, 0, ...]
    if len(c) == 1:
        # The result would have no axes, which is only known at run time.
        raise NotImplementedError("np.cov of one variable in an array of two dimensions is not compiled: pass a[0]")
    return c


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c[()] / c[()]
    scale = np.sqrt(deviations(c))
    c /= scale[:, None]
    c /= scale[None, :]
    if c.dtype.kind == "c":
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                z = c[i, j]
                c[i, j] = complex(limited(z.real), limited(z.imag))
    else:
        c = np.clip(c, -1, 1)
    return c


def deviations(c):
    d = np.empty(len(c))
    for i in range(len(c)):
        d[i] = c[i, i].real
    return d


def limited(x):
    return -1.0 if x < -1.0 else 1.0 if x > 1.0 else x


CALLS = {np.cov: compiled(cov), np.corrcoef: compiled(corrcoef)}
