"""Polynomials as arrays of coefficients, the highest power first: np.polyval, polyadd, polymul, polydiv, polyfit, roots
and others."""
from __future__ import annotations

import operator

import numpy as np

from ....infer.meaning import Const, Mismatch, NotConstant, NotNative
from ....types import kinds as k
from ....types.lattice import dtype_of, kind_of, promote
from ...build import compiled, outlined
from ...intrinsics import fail, strided, warn
from ...rule import intrinsic, rule
from ..linalg.eigen import ALWAYS_COMPLEX, all_real, check_finite, general_values, real_parts
from ..linalg.linalg import narrowed
from .convolution import common_type

RankWarning = np.exceptions.RankWarning
__all__ = ["CALLS"]


@intrinsic
def power_type(a):
    """The dtype of a Vandermonde matrix."""
    t = promote(a.type.dtype, k.int64)
    return Const(k.DType(t), dtype_of(t))


@intrinsic
def linear_type(a):
    """The dtype in which eigenvalues of `a` are computed."""
    t = a.type.dtype
    if t is k.float16:
        raise Mismatch("array type float16 is unsupported in linalg")
    t = k.float64 if kind_of(t) in "biu" else t
    return Const(k.DType(promote(t, k.float64)), dtype_of(promote(t, k.float64)))


@intrinsic
def known(m):
    """The number, which must be a constant."""
    if not m.known:
        raise NotConstant("the order of the derivative or integral must be known at compile time",
                          "write it as a constant")
    return m


def vector(x):
    return np.atleast_1d(np.asarray(x))


def check_vector(p):
    if p.ndim != 1:
        fail(ValueError, "Polynomial must be 1d only.")


# -- values

def polyval(p, x):
    """Horner's rule."""
    coefficients = np.asarray(p)
    if isinstance(x, np.ndarray) and x.ndim > 0:
        y = np.zeros(x.shape, common_type(x, coefficients))
        for i in range(len(coefficients)):
            y = y * x + coefficients[i]
        return y
    at = np.asarray(x)
    z = at.dtype.type(at[()])
    y = common_type(at, coefficients).type(0)
    for i in range(len(coefficients)):
        y = y * z + coefficients[i]
    return y


# -- sums, products, quotients

def padded(a, n):
    """The coefficients with leading zeros, n in all."""
    found = np.zeros(n, a.dtype)
    found[n - len(a):] = a
    return found


def polyadd(a1, a2):
    x, y = vector(a1), vector(a2)
    n = max(len(x), len(y))
    return padded(x, n) + padded(y, n)


def polysub(a1, a2):
    x, y = vector(a1), vector(a2)
    n = max(len(x), len(y))
    return padded(x, n) - padded(y, n)


def trimmed(a):
    """The coefficients without leading zeros."""
    first = 0
    while first < len(a) and a[first] == 0:
        first += 1
    if first == len(a):
        return np.zeros(1, a.dtype)
    return a[first:].copy()


def polymul(a1, a2):
    x, y = vector(a1), vector(a2)
    check_vector(x)
    check_vector(y)
    return np.convolve(trimmed(x), trimmed(y))


def polydiv(u, v):
    x, y = vector(u) + 0.0, vector(v) + 0.0
    t = (x[0] + y[0]).dtype
    m, n = len(x) - 1, len(y) - 1
    scale = 1.0 / y[0]
    quotient, rest = np.zeros(max(m - n + 1, 1), t), x.astype(t)
    for i in range(m - n + 1):
        d = scale * rest[i]
        quotient[i] = d
        rest[i:i + n + 1] -= d * y
    first = 0
    while first < len(rest) - 1 and np.abs(rest[first]) <= 1e-8:  # the tolerance of np.allclose(x, 0)
        first += 1
    return quotient, rest[first:]


# -- derivatives and integrals

def polyder(p, m=1):
    if known(m) < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    coefficients = np.asarray(p)
    return derived(coefficients, m) if m else coefficients


def derived(p, m):
    if m == 0:
        return p
    return derived(p[:-1] * np.arange(len(p) - 1, 0, -1), m - 1)


def polyint(p, m=1, k=None):
    if known(m) < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    coefficients = np.asarray(p)
    if m == 0:
        return coefficients
    if k is None:
        return integrated(coefficients, m, np.zeros(m, np.float64), 0)
    constants = vector(k)
    if len(constants) == 1 and m > 1:
        return integrated(coefficients, m, constants[0] * np.ones(m, np.float64), 0)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    return integrated(coefficients, m, constants, 0)


def integrated(p, m, constants, at):
    if m == 0:
        return p
    return integrated(np.concatenate((np.true_divide(p, np.arange(len(p), 0, -1)), constants[at:at + 1])), m - 1,
                      constants, at + 1)


# -- roots

def real_copy(a):
    found = np.empty(len(a), real_of(a))
    for i in range(len(a)):
        found[i] = a[i].real
    return found


@intrinsic
def real_of(a):
    """The dtype of the parts of a complex array."""
    t = k.float32 if a.type.dtype is k.complex64 else k.float64
    return Const(k.DType(t), dtype_of(t))


def from_roots(zeros):
    found = np.zeros(len(zeros) + 1, zeros.dtype)
    found[0] = 1
    for i in range(len(zeros)):
        for j in range(i + 1, 0, -1):
            found[j] -= zeros[i] * found[j - 1]
    return found


def in_pairs(zeros):
    """Whether the roots are real or come in conjugate pairs."""
    x, y = np.sort(zeros), np.sort(np.conj(zeros))
    for i in range(len(x)):
        if x[i] != y[i]:
            return False
    return True


def made_from(zeros):
    if zeros.dtype.kind == "c":
        found = from_roots(zeros)
        if in_pairs(zeros):
            return real_copy(found)
        return found
    return from_roots(zeros)


def poly(seq_of_zeros):
    zeros = vector(seq_of_zeros)
    if zeros.ndim == 2:
        if zeros.shape[0] != zeros.shape[1] or zeros.shape[0] == 0:
            raise ValueError("input must be 1d or non-empty square 2d array.")
        check_finite(zeros)
        found = general_values(strided(zeros.astype(linear_type(zeros), copy=False)))
        if zeros.dtype.kind != "c" and not ALWAYS_COMPLEX and all_real(found):
            return narrowed(from_roots(real_parts(found)), is_single(zeros))
        return made_from(narrowed(found, is_single(zeros)))
    if zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if len(zeros) == 0:
        return 1.0
    return made_from(zeros.astype(np.float64) if zeros.dtype.kind in "biu" or zeros.dtype == np.float16 else zeros)


@intrinsic
def is_single(a):
    """Whether eigenvalues of `a` are computed in single precision."""
    return Const(k.Bool, a.type.dtype in (k.float32, k.complex64))


@outlined
def all_roots(p, first, last):
    """The roots as complex numbers, those at zero last: eigenvalues of the companion matrix."""
    n = last - first
    found = np.zeros(len(p) - 1 - first, np.complex128)
    if n > 0:
        companion = np.zeros((n, n), p.dtype)
        for i in range(n):
            companion[0, i] = -p[first + 1 + i] / p[first]
            if i > 0:
                companion[i, i - 1] = 1
        check_finite(companion)
        found[:n] = general_values(strided(companion))
    return found


def roots(p):
    coefficients = vector(p)
    if coefficients.ndim != 1:
        fail(ValueError, "Input must be a rank-1 array.")
    first, last = 0, len(coefficients) - 1
    while last >= 0 and coefficients[last] == 0:
        last -= 1
    while first < last and coefficients[first] == 0:
        first += 1
    if last <= first:
        return np.zeros(max(len(coefficients) - 1 - last, 0) if last >= 0 else 0, np.float64)
    found = all_roots(strided(coefficients.astype(linear_type(coefficients))), first, last)
    if coefficients.dtype.kind != "c" and all_real(found):
        return narrowed(real_parts(found), is_single(coefficients))
    return narrowed(found, is_single(coefficients))


# -- fits

def vander(x, N=None, increasing=False):
    points = np.asarray(x)
    if points.ndim != 1:
        fail(ValueError, "x must be a one-dimensional array or sequence.")
    n = len(points) if N is None else operator.index(N)
    found = np.empty((len(points), n), power_type(points))
    put_powers(found if increasing else found[:, ::-1], points)
    return found


def put_powers(v, x):
    for i in range(len(x)):
        power = v.dtype.type(1)
        for j in range(v.shape[1]):
            v[i, j] = power
            power = power * v.dtype.type(x[i])


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    points, values = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    order = int(deg) + 1
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if points.ndim != 1:
        fail(TypeError, "expected 1D vector for x")
    if points.size == 0:
        raise TypeError("expected non-empty vector for x")
    if values.ndim < 1 or values.ndim > 2:
        fail(TypeError, "expected 1D or 2D array for y")
    if points.shape[0] != values.shape[0]:
        raise TypeError("expected x and y to have same length")
    limit = len(points) * epsilon(points) if rcond is None else rcond
    left = vander(points, order)
    if w is None:
        return fitted(left, values, order, limit, full, cov)
    weights = np.asarray(w) + 0.0
    if weights.ndim != 1:
        fail(TypeError, "expected a 1-d array for weights")
    if weights.shape[0] != values.shape[0]:
        raise TypeError("expected w and y to have the same length")
    return fitted(left * weights[:, None], values * weights[:, None] if values.ndim == 2 else values * weights, order,
                  limit, full, cov)


@intrinsic
def epsilon(a):
    """np.finfo(a.dtype).eps"""
    t = a.type.dtype
    t = k.float64 if t is k.complex128 else k.float32 if t is k.complex64 else t
    return Const(t, np.finfo(dtype_of(t)).eps)


def fitted(left, right, order, limit, full, cov):
    scale = np.sqrt(np.sum(left * left, axis=0))
    left = left / scale
    c, residuals, rank, s = np.linalg.lstsq(left, right, limit)
    c = (c.T / scale).T
    if rank != order and not full:
        warn("Polyfit may be poorly conditioned", RankWarning)
    if full:
        return c, residuals, rank, s, limit
    if cov is False:
        return c
    base = np.linalg.inv(np.dot(left.T, left)) / np.outer(scale, scale)
    if cov == "unscaled":
        return c, base if right.ndim == 1 else base[:, :, None] * 1
    if len(left) <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    factor = residuals / (len(left) - order)
    return c, base * factor if right.ndim == 1 else base[:, :, None] * factor


@rule("np.poly1d")
def _poly1d(*args, **kwargs):
    raise NotNative("np.poly1d is not compiled",
                    "keep the coefficients in an array, and use np.polyval, np.polyadd, np.polymul and others")


CALLS = {
    np.polyval: compiled(polyval), np.polyadd: compiled(polyadd), np.polysub: compiled(polysub),
    np.polymul: compiled(polymul), np.polydiv: compiled(polydiv), np.polyder: compiled(polyder),
    np.polyint: compiled(polyint), np.poly: compiled(poly), np.roots: compiled(roots), np.vander: compiled(vander),
    np.polyfit: compiled(polyfit), np.poly1d: _poly1d,
}
