"""Functions of numpy.polynomial.polynomial: polynomials as arrays of coefficients, the lowest power first."""
from __future__ import annotations

import numpy as np
from numpy.polynomial import polynomial, polyutils

from ....infer.constants import constant
from ....infer.meaning import Const, Mismatch
from ....types import kinds as k
from ....types.lattice import dtype_of, kind_of, numpy_counterpart
from ...build import compiled
from ...intrinsics import fail
from ...rule import intrinsic
from ..linalg.eigen import ALWAYS_COMPLEX, all_real, real_parts
from .polynomials import vector

__all__ = ["CALLS"]


@intrinsic
def common_type(a, b):
    """np.common_type: the dtype of floats that holds the elements of both arrays."""
    return _of_floats((a.type.dtype, b.type.dtype))


@intrinsic
def common_type_of(items):
    """The dtype of floats that holds all numbers in a list, tuple or array, and in the arrays and lists in it."""
    return _of_floats(_numbers(items.type))


def _numbers(t):
    """The types of the numbers in a value of type t."""
    if isinstance(t, k.Array):
        return [t.dtype]
    if isinstance(t, (k.Composite, k.Union)):
        return [one for part in (t.parts if isinstance(t, k.Composite) else t.members) for one in _numbers(part)]
    return [t]


def _of_floats(types):
    found = [dtype_of(numpy_counterpart(t)) for t in types]
    if any([t.kind not in "iufc" for t in found]):
        raise Mismatch("Coefficient arrays have no common type", exception=ValueError)
    return constant(np.result_type(*[np.float64 if t.kind in "iu" else t for t in found] or [np.float64]))


@intrinsic
def float_type(a):
    """The dtype of a + 0.0 for integers, and that of the array for others."""
    t = a.type.dtype
    t = k.float64 if kind_of(t) in "biu" else t
    return Const(k.DType(t), dtype_of(t))


def trimseq(seq):
    if len(seq) == 0 or seq[-1] != 0:
        return seq
    last = len(seq) - 1
    while last > 0 and seq[last] == 0:
        last -= 1
    return seq[:last + 1]


def untrimmed(c):
    """The coefficients as an array, which may be the argument."""
    found = vector(c)
    if found.size == 0:
        fail(ValueError, "Coefficient array is empty")
    if found.ndim != 1:
        fail(ValueError, "Coefficient array is not 1-d")
    return found


def series(c):
    return trimseq(untrimmed(c))


def one(c):
    """A trimmed copy, of floats."""
    x = series(c)
    return x.astype(common_type(x, x))


def both(c1, c2):
    """Trimmed copies of a common dtype."""
    x, y = series(c1), series(c2)
    t = common_type(x, y)
    return x.astype(t), y.astype(t)


def as_series(alist, trim=True):
    t = common_type_of(alist)
    return [shortened(untrimmed(c), trim).astype(t) for c in alist]


def shortened(x, trim):
    if trim:
        return trimseq(x)
    return x


def mapparms(old, new):
    length = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / length, (new[1] - new[0]) / length


def mapdomain(x, old, new):
    offset, scale = mapparms(old, new)
    if isinstance(x, (list, tuple)):
        return offset + scale * np.asarray(x)
    return offset + scale * x


def polyadd(c1, c2):
    x, y = both(c1, c2)
    if len(x) > len(y):
        x[:len(y)] += y
        return trimseq(x)
    y[:len(x)] += x
    return trimseq(y)


def polysub(c1, c2):
    x, y = both(c1, c2)
    if len(x) > len(y):
        x[:len(y)] -= y
        return trimseq(x)
    y = -y
    y[:len(x)] += x
    return trimseq(y)


def polymul(c1, c2):
    x, y = both(c1, c2)
    return trimseq(np.convolve(x, y))


def polydiv(c1, c2):
    x, y = both(c1, c2)
    n, m, scale = len(x), len(y), y[-1]
    if scale == 0:
        raise ZeroDivisionError
    if n < m:
        return x[:1] * 0, x
    if m == 1:
        return x / scale, x[:1] * 0
    y = y[:-1] / scale
    i, j = n - m, n - 1
    while i >= 0:
        x[i:j] -= y * x[j]
        i -= 1
        j -= 1
    return x[j + 1:] / scale, trimseq(x[:j + 1])


def polymulx(c):
    x = one(c)
    if len(x) == 1 and x[0] == 0:
        return x
    found = np.empty(len(x) + 1, x.dtype)
    found[0] = x[0] * 0
    found[1:] = x
    return found


def floats(c):
    """A copy of the coefficients along the first axis, of floats."""
    found = np.atleast_1d(np.array(c))
    return found.astype(float_type(found))


def polyder(c, m=1, scl=1, axis=0):
    if m < 0:
        raise ValueError("The order of derivation must be non-negative")
    found = floats(c)
    if m == 0:
        return found
    moved = np.moveaxis(found, axis, 0)
    if m >= len(moved):
        return np.moveaxis(moved[:1] * 0, 0, axis)
    moved = moved.copy()
    for _ in range(m):
        moved *= scl
        for j in range(1, len(moved)):
            moved[j - 1] = j * moved[j]
        moved = moved[:-1]
    return np.moveaxis(moved.copy(), 0, axis)


def polyint(c, m=1, k=0, lbnd=0, scl=1, axis=0):
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    found = floats(c)
    constants = vector(k)
    if constants.size > m:
        raise ValueError("Too many integration constants")
    if m == 0:
        return found
    moved = np.moveaxis(found, axis, 0).copy()
    for i in range(m):
        added = constants[i] if i < len(constants) else 0 * constants.dtype.type(0)
        n = len(moved)
        moved *= scl
        if n == 1 and np.all(moved[0] == 0):
            moved[0] += added
        else:
            sums = np.empty((n + 1, *moved.shape[1:]), moved.dtype)
            sums[0] = moved[0] * 0
            sums[1] = moved[0]
            for j in range(1, n):
                sums[j + 1] = moved[j] / (j + 1)
            sums[0] += added - at(lbnd, sums)
            moved = sums
    return np.moveaxis(moved, 0, axis)


def at(x, c):
    """The values at a number, along the first axis of the coefficients; by Horner's rule."""
    found = c[-1] + x * 0
    for i in range(2, len(c) + 1):
        found = c[-i] + found * x
    return found


def polyval(x, c, tensor=True):
    given = floats(c)
    if isinstance(x, (tuple, list)):
        return values(np.asarray(x), given, tensor)
    return values(x, given, tensor)


def values(x, c, tensor):
    if isinstance(x, np.ndarray) and tensor:
        return at(x, c.reshape(c.shape + (1,) * x.ndim))
    return at(x, c)


def polycompanion(c):
    x = one(c)
    if len(x) < 2:
        raise ValueError("Series must have maximum degree of at least 1.")
    if len(x) == 2:
        return np.array([[-x[0] / x[1]]])
    n = len(x) - 1
    found = np.zeros((n, n), x.dtype)
    for i in range(1, n):
        found[i, i - 1] = 1
    found[:, -1] -= x[:-1] / x[-1]
    return found


def polyroots(c):
    x = one(c)
    if len(x) < 2:
        return x[:0]
    if len(x) == 2:
        return np.array([-x[0] / x[1]])
    found = np.sort(np.linalg.eigvals(polycompanion(x)))
    if ALWAYS_COMPLEX and x.dtype.kind != "c" and all_real(found):
        return real_parts(found)
    return found


def trimcoef(c, tol=0):
    if tol < 0:
        raise ValueError("tol must be non-negative")
    x = one(c)
    last = len(x) - 1
    while last >= 0 and not np.abs(x[last]) > tol:
        last -= 1
    return x[:1] * 0 if last < 0 else x[:last + 1].copy()


def polypow(c, pow, maxpower=None):
    x, power = one(c), int(pow)
    if power != pow or power < 0:
        raise ValueError("Power must be a non-negative integer.")
    if maxpower is not None and power > maxpower:
        raise ValueError("Power is too large")
    if power == 0:
        return np.ones(1, x.dtype)
    found = x
    for _ in range(power - 1):
        found = np.convolve(found, x)
    return found


CALLS = {
    polynomial.polyadd: compiled(polyadd), polynomial.polysub: compiled(polysub), polynomial.polymul: compiled(polymul),
    polynomial.polydiv: compiled(polydiv), polynomial.polymulx: compiled(polymulx),
    polynomial.polyder: compiled(polyder), polynomial.polyint: compiled(polyint),
    polynomial.polyval: compiled(polyval), polynomial.polyroots: compiled(polyroots),
    polynomial.polycompanion: compiled(polycompanion), polyutils.trimseq: compiled(trimseq),
    polyutils.trimcoef: compiled(trimcoef), polyutils.as_series: compiled(as_series),
    polynomial.polypow: compiled(polypow),
    polyutils.mapparms: compiled(mapparms), polyutils.mapdomain: compiled(mapdomain),
}
