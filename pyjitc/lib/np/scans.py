"""Along one axis: argmin and argmax, running sums and products, differences, integrals, interpolation, convolution."""
from __future__ import annotations

import numpy as np

from ...infer.meaning import Const
from ...ops.arith import IADD, ISUB
from ...types import kinds as k
from ...types.lattice import dtype_of
from ..build import compiled, meaning
from .reductions import AxisError, put_out

__all__ = ["CALLS", "METHODS"]


def check_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, None)
    return axis % ndim


# ---------------------------------------------------------------- argmin, argmax


def better(x, y, largest):
    """Whether x comes before y; the first nan is before everything else."""
    if x.dtype.kind == "f":
        return (x > y if largest else x < y) or x != x and y == y
    return x > y if largest else x < y


def best_of(row, largest):
    best = row[0]
    at = 0
    for i in range(1, len(row)):
        if better(row[i], best, largest):
            best = row[i]
            at = i
    return np.int64(at)


def best_along(out, a, largest):
    if a.ndim == 2:
        for i in range(len(a)):
            out[i] = best_of(a[i], largest)
    else:
        for i in range(len(a)):
            best_along(out[i], a[i], largest)


def find_best(a, axis, out, keepdims, largest):
    if axis is None:
        if a.size == 0:
            raise ValueError(f"attempt to get {'argmax' if largest else 'argmin'} of an empty sequence")
        found = best_of(np.ravel(a), largest)
        return put_out(np.full((1,) * a.ndim, found) if keepdims else found, out)
    place = check_axis(axis, a.ndim)
    if a.shape[place] == 0:
        raise ValueError(f"attempt to get {'argmax' if largest else 'argmin'} of an empty sequence")
    if a.ndim == 1:
        found = best_of(a, largest)
        return put_out(np.full((1,), found) if keepdims else found, out)
    moved = np.moveaxis(a, place, -1)
    result = np.empty(moved.shape[:-1], np.int64)
    best_along(result, moved, largest)
    return put_out(np.expand_dims(result, place) if keepdims else result, out)


def argmax(a, axis=None, out=None, *, keepdims=False):
    return find_best(a, axis, out, keepdims, True)


def argmin(a, axis=None, out=None, *, keepdims=False):
    return find_best(a, axis, out, keepdims, False)


# ---------------------------------------------------------------- running sums and products


def _scan_type(args, kwargs):
    t = args[0].type.dtype
    if t is k.bool_ or isinstance(t, k.NpInt) and t.bits < 64:
        t = k.uint64 if isinstance(t, k.NpInt) and not t.signed else k.int64
    return Const(k.DType(t), dtype_of(t))


@meaning(_scan_type)
def scan_type(a):
    """dtype of the running sums of `a`."""
    raise NotImplementedError


def scan_row(out, a, product):
    total = out.dtype.type(1 if product else 0)
    for i in range(len(a)):
        total = total * out.dtype.type(a[i]) if product else total + out.dtype.type(a[i])
        out[i] = total


def scan_rows(out, a, product):
    if a.ndim == 1:
        scan_row(out, a, product)
    else:
        for i in range(len(a)):
            scan_rows(out[i], a[i], product)


def scan(a, axis, dtype, out, product):
    t = scan_type(a) if dtype is None else dtype
    if axis is None:
        flat = np.ravel(a)
        result = np.empty(a.size, t)
        scan_row(result, flat, product)
        return put_out(result, out)
    place = check_axis(axis, a.ndim)
    result = np.empty(a.shape, t)
    scan_rows(np.moveaxis(result, place, -1), np.moveaxis(a, place, -1), product)
    return put_out(result, out)


def cumsum(a, axis=None, dtype=None, out=None):
    return scan(a, axis, dtype, out, False)


def cumprod(a, axis=None, dtype=None, out=None):
    return scan(a, axis, dtype, out, True)


def nancumsum(a, axis=None, dtype=None, out=None):
    return scan(np.where(np.isnan(a), a.dtype.type(0), a), axis, dtype, out, False)


def nancumprod(a, axis=None, dtype=None, out=None):
    return scan(np.where(np.isnan(a), a.dtype.type(1), a), axis, dtype, out, True)


# ---------------------------------------------------------------- differences and integrals


def diff(a, n=1, axis=-1):
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a
    moved = np.moveaxis(a, check_axis(axis, a.ndim), 0)
    if a.dtype == np.bool_:
        return diff(np.moveaxis(moved[1:] != moved[:-1], 0, axis), n - 1, axis)
    return diff(np.moveaxis(moved[1:] - moved[:-1], 0, axis), n - 1, axis)


def ediff1d(ary, to_end=None, to_begin=None):
    flat = np.ravel(ary)
    found = flat[1:] - flat[:-1]
    if to_begin is not None:
        found = np.concatenate((np.ravel(np.atleast_1d(to_begin)), found))
    if to_end is not None:
        found = np.concatenate((found, np.ravel(np.atleast_1d(to_end))))
    return found


def trapezoid(y, x=None, dx=1.0, axis=-1):
    moved = np.moveaxis(y, check_axis(axis, y.ndim), -1)
    if x is None:
        return np.sum(dx * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)
    if x.ndim == 1:
        return np.sum((x[1:] - x[:-1]) * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)
    along = np.moveaxis(x, axis, -1)
    return np.sum((along[..., 1:] - along[..., :-1]) * (moved[..., 1:] + moved[..., :-1]) / 2.0, -1)


def between(x, xp, fp, left, right):
    """One value of np.interp: linear between neighbours, constant outside."""
    n = len(xp)
    if x != x:
        return x
    if x > xp[n - 1]:
        return right
    if x < xp[0]:
        return left
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) >> 1
        if xp[middle] <= x:
            low = middle
        else:
            high = middle
    if low == n - 1 or xp[low] == x:
        return fp[low]
    slope = (fp[low + 1] - fp[low]) / (xp[low + 1] - xp[low])
    found = slope * (x - xp[low]) + fp[low]
    if found != found:
        found = slope * (x - xp[low + 1]) + fp[low + 1]
        if found != found and fp[low] == fp[low + 1]:
            found = fp[low]
    return found


def interp_all(out, x, xp, fp, left, right):
    if x.ndim == 1:
        for i in range(len(x)):
            out[i] = between(np.float64(x[i]), xp, fp, left, right)
    else:
        for i in range(len(x)):
            interp_all(out[i], x[i], xp, fp, left, right)


def interp(x, xp, fp, left=None, right=None):
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    points, values = xp.astype(np.float64, copy=False), fp.astype(np.float64, copy=False)
    low = values[0] if left is None else np.float64(left)
    high = values[len(fp) - 1] if right is None else np.float64(right)
    if isinstance(x, np.ndarray):
        out = np.empty(x.shape, np.float64)
        interp_all(out, x, points, values, low, high)
        return out
    return between(np.float64(x), points, values, low, high)


# ---------------------------------------------------------------- convolution


def slide(a, v, out, shift):
    """out[i] = sum of a[j] v[i + shift - j], with the products of NumPy's order."""
    for i in range(len(out)):
        at = IADD(i, shift)
        low = max(0, ISUB(at, len(v) - 1))
        high = min(at, len(a) - 1)
        total = out.dtype.type(0)
        for j in range(low, high + 1):
            total = total + out.dtype.type(a[j]) * out.dtype.type(v[ISUB(at, j)])
        out[i] = total


def convolve(a, v, mode="full"):
    if len(v) > len(a):
        return convolve_long(v, a, mode)
    return convolve_long(a, v, mode)


def convolve_long(a, v, mode):
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    n, m = len(a), len(v)
    if mode == "full":
        out = np.empty(n + m - 1, (a[:1] * v[:1]).dtype)
        slide(a, v, out, 0)
    elif mode == "same":
        out = np.empty(n, (a[:1] * v[:1]).dtype)
        slide(a, v, out, (m - 1) // 2)
    else:
        out = np.empty(n - m + 1, (a[:1] * v[:1]).dtype)
        slide(a, v, out, m - 1)
    return out


# ---------------------------------------------------------------- windows and methods


def hanning(M):
    if M < 1:
        return np.empty(0, np.float64)
    if M == 1:
        return np.ones(1)
    n = np.arange(1 - M, M, 2)
    return 0.5 + 0.5 * np.cos(np.pi * n / (M - 1))


def hamming(M):
    if M < 1:
        return np.empty(0, np.float64)
    if M == 1:
        return np.ones(1)
    n = np.arange(1 - M, M, 2)
    return 0.54 + 0.46 * np.cos(np.pi * n / (M - 1))


def blackman(M):
    if M < 1:
        return np.empty(0, np.float64)
    if M == 1:
        return np.ones(1)
    n = np.arange(1 - M, M, 2)
    return 0.42 + 0.5 * np.cos(np.pi * n / (M - 1)) + 0.08 * np.cos(2.0 * np.pi * n / (M - 1))


def conj(a):
    return np.conjugate(a)


def item(a):
    if a.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return np.ravel(a)[0].item()


CALLS = {
    np.argmax: compiled(argmax), np.argmin: compiled(argmin), np.cumsum: compiled(cumsum), np.cumprod: compiled(cumprod),
    np.nancumsum: compiled(nancumsum), np.nancumprod: compiled(nancumprod), np.diff: compiled(diff), np.ediff1d: compiled(ediff1d),
    np.trapezoid: compiled(trapezoid), np.interp: compiled(interp), np.convolve: compiled(convolve),
    np.hanning: compiled(hanning), np.hamming: compiled(hamming),
    np.blackman: compiled(blackman),
}
METHODS = {
    "argmax": CALLS[np.argmax], "argmin": CALLS[np.argmin], "cumsum": CALLS[np.cumsum], "cumprod": CALLS[np.cumprod],
    "conj": compiled(conj), "conjugate": compiled(conj), "item": compiled(item),
}
