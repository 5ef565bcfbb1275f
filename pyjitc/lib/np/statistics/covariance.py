"""np.cov and np.corrcoef."""
from __future__ import annotations

import numpy as np

from ...build import compiled
from ...intrinsics import warn

__all__ = ["CALLS"]


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    c = covariances(m, y, rowvar, bias, ddof, fweights, aweights, dtype)
    if c.dtype.kind == "c" and c.size == 0:
        return np.empty((0, 0))  # NumPy returns it without looking at the dtype
    return c


def covariances(m, y, rowvar, bias, ddof, fweights, aweights, dtype):
    m = variables(m)
    x = m if m.ndim == 1 or rowvar else m.T
    w = weights(fweights, aweights, x.shape[-1])
    if y is None:
        return scatter(rows(x, wide(x, x, dtype)), bias, ddof, x.ndim == 1, w, aweights)
    y = variables(y)
    z = y if y.ndim == 1 or rowvar else y.T
    t = wide(x, z, dtype)
    return scatter(np.concatenate((rows(x, t), rows(z, t)), axis=0), bias, ddof, False, w, aweights)


def variables(m):
    a = m if isinstance(m, np.ndarray) else np.asarray(m)
    if a.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    return np.reshape(a, (1,)) if a.ndim == 0 else a


def weights(fweights, aweights, n):
    """The weight of each observation; None where all weigh the same."""
    if fweights is None and aweights is None:
        return None
    if fweights is None:
        return checked(aweights, n, "aweights")
    if aweights is None:
        return checked(fweights, n, "fweights")
    return checked(fweights, n, "fweights") * checked(aweights, n, "aweights")


def checked(w, n, name):
    if not isinstance(w, np.ndarray):
        return checked(np.asarray(w), n, name)
    if name == "fweights" and w.dtype.kind not in "iu":
        for i in range(len(w)):
            if w[i] != np.rint(w[i]):
                raise TypeError("fweights must be integer")
    if w.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.shape[0] != n:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(w < 0):
        raise ValueError(f"{name} cannot be negative")
    return w.astype(np.float64)


def wide(x, y, dtype):
    """The dtype in which the covariance is computed."""
    if dtype is not None:
        return dtype
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        return np.complex128
    return np.float64


def rows(x, t):
    """A copy with one row for each variable."""
    return x.astype(t)[None] if x.ndim == 1 else x.astype(t)


def scatter(x, bias, ddof, single, w, aweights):
    """The products of the deviations divided by the degrees of freedom. single: there is one variable, so that the
    result is 0-d."""
    lost = (0 if bias else 1) if ddof is None else ddof
    if w is None:
        free = float(x.shape[1] - lost)
        x -= np.mean(x, axis=1)[:, None]
        turned = x.T
    else:
        total = np.sum(w)
        free = (float(total - lost * (np.sum(w * aweights) / total if aweights is not None else 1.0)) if lost != 0
                else float(total))
        x -= (np.sum(x * w, axis=1) / total)[:, None]
        turned = (x * w).T
    if free <= 0:
        warn("Degrees of freedom <= 0 for slice")
    c = np.dot(x, np.conj(turned)) if x.dtype.kind == "c" else np.dot(x, turned)
    c *= np.true_divide(1, free if free > 0 else 0.0)
    # One variable: the result has no axes. For an array of two dimensions this is known only at run time.
    if single or len(c) == 1:
        return c[0, 0, ...]
    return c


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = covariances(x, y, rowvar, False, None, None, None, dtype)
    if c.dtype.kind == "c" and c.size == 0:
        return np.empty((0, 0))
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
