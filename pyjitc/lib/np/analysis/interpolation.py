"""np.interp: linear interpolation between points."""
from __future__ import annotations

import numpy as np

from ...build import compiled

__all__ = ["CALLS"]


def last_before(x, xp, guess):
    """The place of the last point that is not above x; x is not below the first point. guess: the place for the
    previous value, since values are often sorted."""
    n = len(xp)
    if guess + 2 < n and xp[guess] <= x < xp[guess + 2]:
        return guess + 1 if xp[guess + 1] <= x else guess
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) >> 1
        if xp[middle] <= x:
            low = middle
        else:
            high = middle
    return low


def between(x, xp, fp, left, right, low):
    """One value of np.interp: linear between neighbours, constant outside. low: the place of the point before x."""
    n = len(xp)
    if x != x:
        return fp[0] if n == 1 else fp.dtype.type(x)
    if x > xp[n - 1]:
        return right
    if x < xp[0]:
        return left
    if low == n - 1 or xp[low] == x:
        return fp[low]
    before, after, y, z = xp[low], xp[low + 1], fp[low], fp[low + 1]
    if fp.dtype.kind == "c":  # each part by itself, since one of them may be infinite or NaN
        inverse = 1.0 / (after - before)
        return complex(on_line(x, before, after, y.real, z.real, (z.real - y.real) * inverse),
                       on_line(x, before, after, y.imag, z.imag, (z.imag - y.imag) * inverse))
    return on_line(x, before, after, y, z, (z - y) / (after - before))


def on_line(x, before, after, y, z, slope):
    """The value at x of the line through (before, y) and (after, z), from the other end where the first gives NaN."""
    found = slope * (x - before) + y
    if found != found:
        found = slope * (x - after) + z
        if found != found and y == z:
            found = y
    return found


def interp_all(out, x, xp, fp, left, right):
    if x.ndim == 1:
        low = 0
        for i in range(len(x)):
            v = np.float64(x[i])
            low = last_before(v, xp, low)
            out[i] = between(v, xp, fp, left, right, low)
    else:
        for i in range(len(x)):
            interp_all(out[i], x[i], xp, fp, left, right)


def check_real(a):
    if a.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from dtype('{a.dtype.name}') to dtype('float64') according to the "
                        f"rule 'safe'")


def interp(x, xp, fp, left=None, right=None, period=None):
    points, values = np.asarray(xp), np.asarray(fp)
    check_real(np.asarray(x))
    check_real(points)
    t = np.complex128 if values.dtype.kind == "c" else np.float64
    if period is not None:
        return periodic(x, points.astype(np.float64), values.astype(t), period)
    if len(points) == 0:
        raise ValueError("array of sample points is empty")
    if len(points) != len(values):
        raise ValueError("fp and xp are not of the same length.")
    return between_points(x, points.astype(np.float64, copy=False), values.astype(t, copy=False), left, right, t)


def between_points(x, xp, fp, left, right, t):
    low = fp[0] if left is None else t(left)
    high = fp[len(fp) - 1] if right is None else t(right)
    if isinstance(x, (int, float, np.number, np.bool_)):
        return between(np.float64(x), xp, fp, low, high, last_before(np.float64(x), xp, 0))
    a = np.asarray(x)
    if a.ndim == 0:
        return between(np.float64(a[()]), xp, fp, low, high, last_before(np.float64(a[()]), xp, 0))
    out = np.empty(a.shape, t)
    interp_all(out, a, xp, fp, low, high)
    return out


def periodic(x, points, values, given):
    if given == 0:
        raise ValueError("period must be a non-zero value")
    period = np.float64(abs(given))
    if points.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if len(points) != len(values):
        raise ValueError("fp and xp are not of the same length")
    n = len(points)
    if n == 0:
        raise ValueError("array of sample points is empty")
    folded = np.mod(points, period)
    order = np.argsort(folded)
    xp, fp = np.empty(n + 2, np.float64), np.empty(n + 2, values.dtype)
    for i in range(n):
        xp[i + 1] = folded[order[i]]
        fp[i + 1] = values[order[i]]
    xp[0], xp[n + 1] = xp[n] - period, xp[1] + period
    fp[0], fp[n + 1] = fp[n], fp[1]
    return between_points(np.mod(np.asarray(x, np.float64), period), xp, fp, None, None, values.dtype.type)


CALLS = {np.interp: compiled(interp)}
