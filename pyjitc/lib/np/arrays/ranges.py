"""Evenly spaced numbers: arange, linspace, logspace, geomspace.

The order of the operations is NumPy's, so that the last bits agree: arange takes its step from the first two elements.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Call, Const, Expr, Mismatch, Throw
from ....ops.arith import IADD, IMUL
from ....types import kinds as k
from ....types.kinds import Array, DType, NoneType
from ....types.lattice import dtype_of, kind_of, numpy_counterpart, promote, type_of_dtype
from ...build import compiled
from ...intrinsics import as_type
from ...rule import NONE, Constant, intrinsic, rule
from ..shapes.arrange import common_dtype
from .creation import only_cpu, scalar_of

__all__ = ["CALLS", "METHODS"]


# ---------------------------------------------------------------- arange


def arange(start, stop=None, step=1, dtype=None):
    if stop is None:
        return progression(start - start, start, 1 if step is None else step, dtype)
    return progression(start, stop, 1 if step is None else step, dtype)


def progression(start, stop, step, dtype):
    n = max(0, steps(start, stop, step))
    out = np.empty(n, common_dtype((0, start, stop, step)) if dtype is None else dtype)
    if out.dtype == np.int64 and not is_inexact((start, step)):
        for i in range(n):
            out[i] = IADD(int(start), IMUL(i, int(step)))
    elif out.dtype.kind == "i" or out.dtype.kind == "u" or out.dtype.kind == "b":
        fill_whole(out, start, step)
    else:
        fill_inexact(out, start, step)
    return out


def fill_whole(out, start, step):
    if out.dtype.kind == "b" and len(out) > 2:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    if len(out) > 0:
        out[0] = start
    if len(out) > 1:
        out[1] = start + step
    if out.dtype.kind != "b" and len(out) > 2:
        delta = out[1] - out[0]
        value = out[1]
        for i in range(2, len(out)):
            value = value + delta
            out[i] = value


def fill_inexact(out, start, step):
    second = as_type(start + step, out.dtype)
    low = wide(as_type(start, out.dtype))
    delta = wide(second) - low
    for i in range(len(out)):
        out[i] = low + low.dtype.type(i) * delta
    if len(out) > 1:
        out[1] = second


def wide(x):
    return np.float32(x) if x.dtype == np.float16 else x


@intrinsic
def is_inexact(parts):
    """Whether one of the arguments is a float or complex number."""
    return Const(k.Bool, any(kind_of(numpy_counterpart(t)) in "fc" for t in parts.type.elements))


def steps(start, stop, step):
    if not is_inexact((start, stop, step)):
        if step == 0:
            raise ZeroDivisionError("division by zero")
        return -((int(start) - int(stop)) // int(step))
    if isinstance(start, complex) or isinstance(stop, complex) or isinstance(step, complex):
        return complex_steps(complex(start), complex(stop), complex(step))
    return float_steps(float(stop) - float(start), python_division(float(stop) - float(start), step))


def python_division(x, step):
    """Division that raises for a step of 0 where the step is a Python number."""
    if isinstance(step, np.generic):
        return float(np.float64(x) / np.float64(step))
    if step == 0:
        raise ZeroDivisionError("float division by zero")
    return x / step


def float_steps(length, n):
    if n == 0.0 and length != 0.0:
        return 1 if np.copysign(1.0, n) > 0 else 0
    n = float(np.ceil(n))
    if n != n:
        raise ValueError("arange: cannot compute length")
    if n >= 9223372036854775808.0 or n < -9223372036854775808.0:
        raise ValueError("Maximum allowed size exceeded")
    return int(n)


def complex_steps(start, stop, step):
    n = (stop - start) / step
    return min(float_steps(0.0, n.real), float_steps(0.0, n.imag))


# ---------------------------------------------------------------- arange of dates and durations


def of_dates(start, stop, step, t, difference, relative):
    """np.arange of dates. relative: stop is a duration that is added to the start."""
    first, delta = number_of(start, t), number_of(step, difference)
    last = number_of(stop, difference if relative else t)
    if relative and last != NAT:
        last = last + first
    if first == NAT or last == NAT or delta == NAT:
        raise ValueError("arange: cannot use NaT (not-a-time) datetime values")
    if delta == 0:
        raise ValueError("arange: step cannot be zero")
    out = np.empty(max(0, int(-((first - last) // delta))), t)
    for i in range(len(out)):
        out[i] = first + i * delta
    return out


NAT = -(1 << 63)


def number_of(x, t):
    return as_type(x[()] if isinstance(x, np.ndarray) else x, t).view(np.int64)


def _sample(x: Expr | None, value: int):
    """A value of this type with which NumPy is called to find the dtype of the result."""
    if x is None:
        return None
    t = x.type.dtype if isinstance(x.type, Array) else x.type
    if k.is_time(t):
        return np.int64(NAT if t is k.NpTime("M") else value).view(dtype_of(t))
    return (x.value if x.known and type(x.value) is str else dtype_of(t).type(value) if k.is_numpy_scalar(t) else value
            if t is not k.Float else 0.5)


def _of_dates(start, stop, step, dtype):
    if any(isinstance(x.type, Array) and x.type.ndim for x in (start, stop, step) if x is not None):
        return Throw(ValueError, "Maximum allowed size exceeded")
    wanted = dtype and dtype_of(scalar_of(dtype))
    given = [_sample(x, value) for x, value in ((start, 0), (stop, 0), (step, 1))]
    try:
        found = np.arange(*given[:2], given[2], wanted).dtype
    except ValueError as error:
        return Throw(ValueError, str(error))
    except TypeError as error:
        raise Mismatch(str(error)) from None
    if stop is None:
        start, stop = Const(k.Int, 0), start
    if step is None:
        step = Const(k.Int, 1)
    t = type_of_dtype(found)
    span = k.NpTime("m", t.unit, t.count)
    relative = t.kind == "M" and not isinstance(_sample(stop, 0), (np.datetime64, str))
    return Call(of_dates, start, stop, step, Const(DType(t), found), Const(DType(span), dtype_of(span)),
                Const(k.Bool, relative))


@rule("np.arange")
def _arange(start=None, stop=None, step=None, dtype=None, *, device: Constant = None, like=None):
    only_cpu("arange", device, like)
    if start is None and stop is None:
        return Throw(TypeError, "arange() requires stop to be specified.")
    if start is None:
        start = Const(k.Int, 0)
    if any(x and k.is_time(x.type.dtype if isinstance(x.type, Array) else x.type) for x in (start, stop, step, dtype)
           ) or dtype and k.is_time(scalar_of(dtype)):
        return _of_dates(start, stop, step, dtype)
    return Call(arange, start, stop or NONE, step or NONE, dtype or NONE)


# ---------------------------------------------------------------- between two ends


@intrinsic
def inexact_type(start, stop):
    """The dtype of points between the two."""
    found = None
    for x in (start, stop):
        t = x.type.dtype if isinstance(x.type, Array) else x.type
        found = t if found is None else promote(found, t)
    if k.is_python_number(found) or kind_of(found) in "biu":
        found = k.complex128 if found is k.Complex else k.float64
    return Const(DType(found), dtype_of(found))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if isinstance(num, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if isinstance(start, (tuple, list)) or isinstance(stop, (tuple, list)):
        return linspace(as_array(start), as_array(stop), num, endpoint, retstep, dtype, axis)
    if is_array(start) or is_array(stop):
        return rows_between(start, stop, int(num), endpoint, retstep, dtype, axis)
    div = int(num) - 1 if endpoint else int(num)
    t = inexact_type(start, stop)
    low = as_type(value_of(start), t)
    high = as_type(value_of(stop), t)
    delta = high - low
    out = np.empty(int(num), t)
    step = delta / div if div > 0 else np.full((), np.nan, t)[()]
    by_step = step != 0
    for i in range(len(out)):
        out[i] = (out.dtype.type(i) * step if by_step
                  else out.dtype.type(i) / div * delta) + low if div > 0 else out.dtype.type(i) * delta + low
    if endpoint and num > 1:
        out[len(out) - 1] = high
    found = points(out, dtype, axis)
    if retstep:
        return found, step
    return found


def is_array(x):
    return isinstance(x, np.ndarray) and x.ndim > 0


def value_of(x):
    return x[()] if isinstance(x, np.ndarray) else x


def as_array(x):
    return np.asarray(x) if isinstance(x, (tuple, list)) else x


def rows_between(start, stop, num, endpoint, retstep, dtype, axis):
    div = num - 1 if endpoint else num
    t = inexact_type(start, stop)
    low, high = typed(start, t), typed(stop, t)
    delta = high - low
    out = np.empty((num,) + delta.shape, t)
    step = np.full(delta.shape, np.nan, t)
    if div > 0:
        step = delta / div
        some_zero = bool(np.any(step == 0))
        for i in range(num):
            if some_zero:
                out[i] = out.dtype.type(i) / div * delta + low
            else:
                out[i] = out.dtype.type(i) * step + low
    else:
        for i in range(num):
            out[i] = out.dtype.type(i) * delta + low
    if endpoint and num > 1:
        out[num - 1] = high
    found = points(out, dtype, axis)
    if retstep:
        return found, step
    return found


def typed(x, t):
    return x.astype(t) if isinstance(x, np.ndarray) else as_type(x, t)


def points(out, dtype, axis):
    moved = out if axis == 0 else np.moveaxis(out, 0, axis)
    if dtype is None:
        return moved
    if np.empty(0, dtype).dtype.kind == "i" or np.empty(0, dtype).dtype.kind == "u":
        return np.floor(moved).astype(dtype)
    return moved.astype(dtype, copy=False)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if is_array(base):
        parts = raised3(np.asarray(start), np.asarray(stop), base)
        return logs_of_bases(parts[0], parts[1], parts[2], num, endpoint, dtype, axis)
    found = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.astype(dtype, copy=False)


def raised3(x, y, z):
    n = max(x.ndim, y.ndim, z.ndim)
    return np.array(x, copy=None, ndmin=n), np.array(y, copy=None, ndmin=n), np.array(z, copy=None, ndmin=n)


def logs_of_bases(start, stop, base, num, endpoint, dtype, axis):
    found = np.power(np.expand_dims(base, axis), linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else found.astype(dtype, copy=False)


@intrinsic
def geometric_type(start, stop, dtype):
    """The dtype in which np.geomspace calculates."""
    t = inexact_type(start, stop).type.scalar
    for other in (k.float64, dtype.type.scalar if isinstance(dtype.type, DType) else k.float64):
        t = promote(t, other)
    return Const(DType(t), dtype_of(t))


@intrinsic
def dtype_or_float(dtype):
    """The dtype an argument names; float64 for None."""
    t = k.float64 if dtype.type is NoneType else scalar_of(dtype)
    return Const(DType(t), dtype_of(t))


def has_zero(x):
    return bool(np.any(x == 0)) if is_array(x) else bool(value_of(x) == 0)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    if isinstance(start, (tuple, list)) or isinstance(stop, (tuple, list)):
        return geomspace(as_array(start), as_array(stop), num, endpoint, dtype, axis)
    if has_zero(start) or has_zero(stop):
        raise ValueError("Geometric sequence cannot include zero")
    t = geometric_type(start, stop, dtype_or_float(dtype))
    sign = np.sign(typed(start, t))
    low, high = typed(start, t) / sign, typed(stop, t) / sign
    result = logspace(np.log10(low), np.log10(high), num, endpoint, 10.0, t)
    if num > 0:
        result[0] = low
        if num > 1 and endpoint:
            result[num - 1] = high
    result = result * sign
    moved = result if axis == 0 else np.moveaxis(result, 0, axis)
    return moved if dtype is None else moved.astype(dtype, copy=False)


@rule("np.linspace")
def _linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device: Constant = None):
    only_cpu("linspace", device, None)
    return Call(linspace, start, stop, num, endpoint, retstep, dtype or NONE, axis)


CALLS = {
    np.arange: _arange, np.linspace: _linspace, np.logspace: compiled(logspace),
    np.geomspace: compiled(geomspace),
}
METHODS = {}
