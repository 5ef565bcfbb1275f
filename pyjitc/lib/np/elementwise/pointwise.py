"""Functions of each element made of ufuncs: clip, round, isclose, nan_to_num, angle, sinc, parts of complex numbers,
comparisons of whole arrays. Those of numbers alone have rules of their own (scalars.py)."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import CallValue
from ....types import kinds as k
from ....types.lattice import kind_of
from ...build import compiled
from ...rule import NumberOrArray, rule
from . import scalars
from .elementwise import constant_of, lift

__all__ = ["CALLS", "METHODS"]

_ABSENT = np._NoValue


def as_operand(x):
    return np.asarray(x) if isinstance(x, (tuple, list)) else x


def put(result, out):
    if out is None:
        return result
    return np.add(result, 0, out=out)


def clip(a, a_min=_ABSENT, a_max=_ABSENT, out=None, *, min=_ABSENT, max=_ABSENT, dtype=None, casting="same_kind",
         where=True):
    if a_min is _ABSENT and a_max is _ABSENT:
        return clipped(as_operand(a), None if min is _ABSENT else min, None if max is _ABSENT else max, out, dtype,
                       casting, where)
    if a_min is _ABSENT:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    if a_max is _ABSENT:
        raise TypeError("clip() missing 1 required positional argument: 'a_max'")
    if min is not _ABSENT or max is not _ABSENT:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    return clipped(as_operand(a), a_min, a_max, out, dtype, casting, where)


def clip_method(a, min=None, max=None, out=None, dtype=None, casting="same_kind", where=True):
    return clipped(a, min, max, out, dtype, casting, where)


def clipped(a, low, high, out, dtype, casting, where):
    if scalars.DROPS_BOUNDS and isinstance(a, (np.ndarray, np.integer)) and a.dtype.kind in "iu":
        return between(a, scalars.least(low, a.dtype), scalars.most(high, a.dtype), out, dtype, casting, where)
    return between(a, low, high, out, dtype, casting, where)


def between(a, low, high, out, dtype, casting, where):
    if low is None and high is None:
        return np.positive(a, out=out, where=where, casting=casting, dtype=dtype)
    if low is None:
        return np.minimum(a, high, out=out, where=where, casting=casting, dtype=dtype)
    if high is None:
        return np.maximum(a, low, out=out, where=where, casting=casting, dtype=dtype)
    return np.minimum(np.maximum(a, low), high, out=out, where=where, casting=casting, dtype=dtype)


@rule("np.clip")
def _clip(a, a_min=..., a_max=..., out=None, *, min=..., max=..., **kwargs):
    bounds = {"a_min": a_min, "a_max": a_max, "min": min, "max": max}
    bounds = {name: x for name, x in bounds.items() if x.type is not k.Ellipsis_}
    if out is None and not kwargs and all(k.is_number(x.type) for x in (a, *bounds.values())):
        return scalars.clip(a, bounds.get("a_min", bounds.get("min")), bounds.get("a_max", bounds.get("max")))
    return CallValue(constant_of(clip), a, keywords={**bounds, **({"out": out} if out else {}), **kwargs})


@rule("np.angle")
def _angle(z, deg=False):
    if k.is_number(z.type) and k.is_number(deg.type):
        return scalars.angle(z, deg)
    return CallValue(constant_of(angle), z, deg)


@rule("np.round")
def _round(a: NumberOrArray, decimals=0, out=None):
    if out:
        return CallValue(constant_of(round_to), a, decimals, out)
    if _kind(a) in "bc":
        return CallValue(constant_of(round_parts), a, decimals)
    if isinstance(a.type, k.Array) or isinstance(decimals.type, k.Array):
        return lift(np.round, [a, decimals])
    return scalars.round_(a, decimals)


def _kind(x):
    return kind_of(x.type.dtype if isinstance(x.type, k.Array) else x.type)


def _refused(decimals):
    try:
        np.round(np.array([True]), decimals)
    except TypeError as error:
        return error


NO_CAST, MULTIPLIED, DIVIDED = type(_refused(1)), _refused(1).args, _refused(-1).args


def round_parts(a, decimals=0, out=None):
    """Round booleans, which NumPy does in half precision, and complex numbers part by part."""
    z = np.asarray(a)
    if z.dtype.kind != "c":
        if decimals > 0:
            raise NO_CAST(*MULTIPLIED)
        if decimals < 0:
            raise NO_CAST(*DIVIDED)
        return np.rint(a)
    found = np.empty_like(z)
    found.real[...] = np.round(z.real, decimals)
    found.imag[...] = np.round(z.imag, decimals)
    return whole(found) if isinstance(a, (complex, np.complexfloating)) else found


def round_to(a, decimals=0, out=None):
    if out.size != np.size(a):
        raise ValueError("invalid output shape")
    return np.positive(np.round(a, decimals), out=out)


def round_method(a, decimals=0, out=None):
    if out is None:
        return np.round(a, decimals)
    return round_to(a, decimals, out)


def fix(x, out=None):
    return np.trunc(x, out=out)


def inexact(y):
    """The value converted to the inexact type that arithmetic with a float gives it."""
    return y if y.dtype.kind in "fc" else y.astype(np.result_type(y, 1.0))


def isclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    x = as_operand(a)
    y = (inexact(as_operand(b)) if isinstance(b, (np.ndarray, np.generic, tuple, list)) else float(b)
         if isinstance(b, int) else b)
    close = np.less_equal(np.abs(x - y), atol + rtol * abs(y)) & np.isfinite(y) | (x == y)
    if equal_nan:
        close = close | (np.isnan(x) & np.isnan(y))
    return close[()] if isinstance(close, np.ndarray) and close.ndim == 0 else close


def allclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    return bool(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1, a2, equal_nan=False):
    x, y = np.asarray(a1), np.asarray(a2)
    if x.ndim != y.ndim:
        return False
    if x.shape != y.shape:
        return False
    if equal_nan and x.dtype.kind in "fcmM" and y.dtype.kind in "fcmM":
        return bool(np.all((x == y) | (np.isnan(x) & np.isnan(y))))
    return bool(np.all(x == y))


def array_equiv(a1, a2):
    x, y = np.asarray(a1), np.asarray(a2)
    if not compatible(x.shape, y.shape, 1):
        return False
    return bool(np.all(x == y))


def compatible(p, q, j):
    if j > len(p) or j > len(q):
        return True
    return (p[-j] == q[-j] or p[-j] == 1 or q[-j] == 1) and compatible(p, q, j + 1)


def angle(z, deg=False):
    z = as_operand(z)
    a = np.arctan2(z.imag, z.real) if z.dtype.kind == "c" else np.arctan2(0, z)
    return a * (180 / np.pi) if deg else a


def real(val):
    return as_operand(val).real


def imag(val):
    return as_operand(val).imag


def real_if_close(a, tol=100):
    a = np.asarray(a)
    if a.dtype.kind != "c":
        return a
    if np.all(np.abs(a.imag) < (np.finfo(a.dtype).eps * tol if tol > 1 else tol)):
        return a.real
    return a


def iscomplex(x):
    x = as_operand(x)
    if isinstance(x, np.ndarray):
        return (not_zero(x.imag) if x.dtype.kind == "c" else np.zeros(x.shape, np.bool_)[()] if x.ndim == 0
                else np.zeros(x.shape, np.bool_))
    return np.bool_(x.imag != 0)


def not_zero(a):
    return a != 0


def isreal(x):
    return np.logical_not(iscomplex(x))


def isposinf(x, out=None):
    x = as_operand(x)
    if out is None:
        return np.logical_and(np.isinf(x), np.logical_not(np.signbit(x)))
    return np.logical_and(np.isinf(x), np.logical_not(np.signbit(x)), out)


def isneginf(x, out=None):
    x = as_operand(x)
    if out is None:
        return np.logical_and(np.isinf(x), np.signbit(x))
    return np.logical_and(np.isinf(x), np.signbit(x), out)


def sinc(x):
    t = np.pi * np.asarray(x)
    if t.dtype.kind == "f":
        y = np.where(t != 0, t, np.finfo(t.dtype).eps)
        # at 0 the first terms of the series, which have the derivatives of sinc
        return whole(np.where(t != 0, np.sin(y) / y, 1 - t * t * (1 / 6 - t * t * (1 / 120 - t * t / 5040))))
    y = np.where(t != 0, t, t.dtype.type(1e-20))
    return whole(np.sin(y) / y)


def whole(a):
    return a[()] if isinstance(a, np.ndarray) and a.ndim == 0 else a


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    a = np.asarray(x)
    if a.dtype.kind not in "fc":
        return whole(a.copy() if copy else a)
    if a.dtype.kind == "f":
        found = without_special(a, nan, posinf, neginf)
    else:
        found = np.empty_like(a)
        found.real[...] = without_special(a.real, nan, posinf, neginf)
        found.imag[...] = without_special(a.imag, nan, posinf, neginf)
    if copy or not isinstance(x, np.ndarray):
        return whole(found)
    x[...] = found
    return whole(x)


def without_special(x, nan, posinf, neginf):
    top = np.finfo(x.dtype).max if posinf is None else posinf
    low = np.finfo(x.dtype).min if neginf is None else neginf
    return np.where(np.isnan(x), nan, np.where(x == np.inf, top, np.where(x == -np.inf, low, x))).astype(x.dtype)


CALLS = {
    np.clip: _clip, np.round: _round, np.around: _round.named("np.around"), np.fix: compiled(fix),
    np.isclose: compiled(isclose), np.allclose: compiled(allclose), np.array_equal: compiled(array_equal),
    np.array_equiv: compiled(array_equiv), np.angle: _angle, np.real: compiled(real),
    np.imag: compiled(imag), np.real_if_close: compiled(real_if_close), np.iscomplex: compiled(iscomplex),
    np.isreal: compiled(isreal), np.isposinf: compiled(isposinf), np.isneginf: compiled(isneginf),
    np.sinc: compiled(sinc), np.nan_to_num: compiled(nan_to_num),
}
METHODS = {"clip": compiled(clip_method), "round": compiled(round_method)}
