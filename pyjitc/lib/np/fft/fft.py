"""np.fft: transforms along axes. A row is copied to split arrays, transformed there (fft_core.py) and copied to the
result."""
from __future__ import annotations

import operator

import numpy as np

from ....infer.meaning import Apply, Const, Expr, Mismatch, NotNative
from ....ops.arith import IADD, IMUL, ISUB
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.lattice import dtype_of, kind_of
from ...build import batched, compiled, derivatives, is_list, outlined, provoked
from ...intrinsics import strided
from ...rule import call, expression, intrinsic, rule
from . import fft_core
from ..shapes.views import elements
from .fft_core import get, piece, put
from ..reductions.reductions import AxisError

__all__ = ["CALLS"]


# ---------------------------------------------------------------- types and arguments

_COMPLEX = {k.float16: k.complex64, k.float32: k.complex64, k.complex64: k.complex64}
_REAL = {k.float16: k.float16, k.float32: k.float32, k.complex64: k.float32}
_WORK = {k.float16: k.float32, k.float32: k.float32, k.complex64: k.float32}


def _dtype(a, table, other):
    t = a.type.dtype
    if kind_of(t) not in "biufc":
        raise NotNative(f"np.fft of an array of {t} is not compiled")
    t = table.get(t, other)
    return Const(k.DType(t), dtype_of(t))


@intrinsic
def complex_type(a):
    """The complex dtype of the same precision as the dtype of `a`."""
    return _dtype(a, _COMPLEX, k.complex128)


@intrinsic
def real_type(a):
    """The dtype of real results and of the scale factor."""
    return _dtype(a, _REAL, k.float64)


@intrinsic
def work_type(a):
    """The dtype in which the transform of `a` is computed."""
    return _dtype(a, _WORK, k.float64)


@intrinsic
def not_real():
    """The error for complex numbers where a transform needs real ones."""
    raise Mismatch("ufunc 'rfft_n_even' not supported for the input types, and the inputs could not be safely coerced "
                   "to any supported types according to the casting rule ''safe''",
                   "np.fft.rfft transforms real numbers: use np.fft.fft")


@intrinsic
def check_castable(out, t, kind):
    """The error for an `out` array whose dtype cannot hold the result."""
    source, target = dtype_of(t.type.scalar), dtype_of(out.type.dtype)
    if not np.can_cast(source, target, "same_kind"):
        name = {"forward": "fft", "inverse": "ifft", "real": "rfft_n_even", "half": "irfft"}[kind.value]
        raise Mismatch(f"Cannot cast ufunc '{name}' output from {source!r} to {target!r} with casting rule 'same_kind'")
    return Const(k.NoneType, None)


@intrinsic
def is_known(axis):
    """Whether the axis is a constant."""
    return Const(k.Bool, axis.known)


# before NumPy 2.5 there is no space
COMMA = ", " if ', "ortho"' in provoked(np.fft.fft, np.ones(1), None, -1, "") else ","


def scale_of(norm, forward):
    """The divisor of the result: 0 for 1, 1 for the square root of the number of points, 2 for the number of points."""
    if norm is None or norm == "backward":
        return 0 if forward else 2
    if norm == "ortho":
        return 1
    if norm == "forward":
        return 2 if forward else 0
    if forward:
        raise ValueError(f'Invalid norm value {norm}; should be "backward"{COMMA}"ortho" or "forward".')
    raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def factor(t, n, scale):
    """The scale factor of the result, computed in the type in which NumPy computes it."""
    if scale == 0:
        return t.type(1)
    return np.reciprocal(np.sqrt(t.type(n)) if scale == 1 else t.type(n))


def opposite(norm):
    if norm is None or norm == "backward":
        return "forward"
    if norm == "forward":
        return "backward"
    if norm == "ortho":
        return norm
    raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def length_of(a, n, axis, back):
    """The number of points of a transform; back: of the real result, where the input has half of the points."""
    if n is not None:
        return operator.index(n)
    if not -a.ndim <= axis < a.ndim:
        raise IndexError("tuple index out of range")
    return (a.shape[axis] - 1) * 2 if back else a.shape[axis]


def replaced(shape, axis, n):
    return shape[:axis] + (n,) + shape[axis + 1:]


# ---------------------------------------------------------------- rows


def part(x, row, i):
    """Element i of a row as real and imaginary part, in the type of the work arrays."""
    z, t = get(row, i), x[0].dtype.type
    return t(z.real), t(z.imag)


def load_from(x, row, n):
    """Copy a row, truncated or padded with zeros to n elements, to the split arrays."""
    re, im = x
    m = min(n, len(row))
    for i in range(m):
        r, s = part(x, row, i)
        put(re, i, r)
        put(im, i, s)
    for i in range(m, n):
        put(re, i, re.dtype.type(0))
        put(im, i, im.dtype.type(0))


def load(x, row, n):
    if row.strides[0] == row.itemsize:
        load_from(x, piece(row, 0, len(row)), n)
    else:
        load_from(x, row, n)


def store_to(row, x, fct):
    re, im = x
    for i in range(len(row)):
        put(row, i, row.dtype.type(complex(get(re, i) * fct, get(im, i) * fct)))


def store(row, x, fct):
    if row.strides[0] == row.itemsize:
        store_to(piece(row, 0, len(row)), x, fct)
    else:
        store_to(row, x, fct)


@outlined
def complex_row(out, row, n, plan, work, fct, inverse):
    x, y = work
    # With real and imaginary parts exchanged it is the inverse transform: see fft_core.py.
    load((x[1], x[0]) if inverse else x, row, n)
    moved = fft_core.transform(x, y, plan)
    re, im = y if moved else x
    store(out, (im, re) if inverse else (re, im), fct)


@outlined
def real_row(out, row, n, plan, work, roots, fct, inverse):
    """The transform of real numbers: n // 2 + 1 points, or all of them where `out` has room."""
    x, y = work
    h = n // 2
    re, im = x
    t = re.dtype.type
    if n % 2 == 0:
        # The elements at even and at odd positions are the real and imaginary parts of one transform of half the
        # length.
        m = min(n, len(row))
        for i in range(m // 2):
            put(re, i, t(get(row, IMUL(2, i))))
            put(im, i, t(get(row, IADD(IMUL(2, i), 1))))
        for i in range(m // 2, h):
            put(re, i, t(0))
            put(im, i, t(0))
        if m % 2 == 1:
            put(re, m // 2, t(get(row, m - 1)))
        re, im = y if fft_core.transform(x, y, plan) else x
        put_pair(out, n, 0, re[0] + im[0], t(0), fct, inverse)
        for i in range(1, h):
            ar, ai, br, bi = get(re, i), get(im, i), get(re, ISUB(h, i)), get(im, ISUB(h, i))
            wr, wi = get(roots[0], i), get(roots[1], i)
            er, ei, dr, di = ar + br, ai - bi, ai + bi, br - ar
            put_pair(out, n, i, t(0.5) * (er + (dr * wr - di * wi)), t(0.5) * (ei + (dr * wi + di * wr)), fct, inverse)
        put_pair(out, n, h, re[0] - im[0], t(0), fct, inverse)
    else:
        load(x, row, n)
        re, im = y if fft_core.transform(x, y, plan) else x
        for i in range(h + 1):
            put_pair(out, n, i, get(re, i), get(im, i) if i else t(0), fct, inverse)


def put_pair(out, n, i, re, im, fct, inverse):
    """Store point i, and its conjugate in a row of n points."""
    re, im = re * fct, (-im if inverse else im) * fct
    put(out, i, out.dtype.type(complex(re, im)))
    if len(out) == n and i > 0:
        put(out, ISUB(n, i), out.dtype.type(complex(re, -im)))


@outlined
def half_row(out, row, n, plan, work, roots, fct):
    """n real numbers from the first half of their transform."""
    x, y = work
    h, m = n // 2, len(row)
    im, re = x
    t = re.dtype.type
    if n % 2 == 0:
        for i in range(h):
            ar, ai = at(x, row, i, m)
            br, bi = at(x, row, ISUB(h, i), m)
            if i == 0:
                ai, bi = t(0), t(0)
            wr, wi = get(roots[0], i), get(roots[1], i)
            dr, di = ar - br, ai + bi
            put(re, i, ar + br + (dr * wi - di * wr))
            put(im, i, ai - bi + (dr * wr + di * wi))
        im, re = y if fft_core.transform(x, y, plan) else x
        for i in range(h):
            put(out, IMUL(2, i), out.dtype.type(get(re, i) * fct))
            put(out, IADD(IMUL(2, i), 1), out.dtype.type(get(im, i) * fct))
    else:
        for i in range(h + 1):
            ar, ai = at(x, row, i, m)
            if i == 0:
                ai = t(0)
            put(re, i, ar)
            put(im, i, ai)
            if i > 0:
                put(re, ISUB(n, i), ar)
                put(im, ISUB(n, i), -ai)
        im, re = y if fft_core.transform(x, y, plan) else x
        for i in range(n):
            put(out, i, out.dtype.type(get(re, i) * fct))


def at(x, row, i, m):
    if i < m:
        return part(x, row, i)
    return x[0].dtype.type(0), x[0].dtype.type(0)


# ---------------------------------------------------------------- one axis


COLUMNS = 8  # rows that are copied together where neighbours in a row are far apart: two cache lines


def columns(out, a, n, plan, work, roots, fct, inverse, half):
    """Transform rows whose elements are further apart in memory than the rows: blocks of rows are copied through a
    buffer."""
    block, result = np.empty((COLUMNS, a.shape[1]), a.dtype), np.empty((COLUMNS, out.shape[1]), out.dtype)
    for start in range(0, len(a), COLUMNS):
        count = min(COLUMNS, len(a) - start)
        for j in range(a.shape[1]):
            for c in range(count):
                ARRAY_STORE(block, c, j, ARRAY_LOAD(a, IADD(start, c), j))
        for c in range(count):
            rows(strided(result[c]), strided(block[c]), n, plan, work, roots, fct, inverse, half)
        for j in range(out.shape[1]):
            for c in range(count):
                ARRAY_STORE(out, IADD(start, c), j, ARRAY_LOAD(result, c, j))


def rows(out, a, n, plan, work, roots, fct, inverse, half):
    if a.ndim == 2:
        if abs(a.strides[0]) < abs(a.strides[1]) and len(a) > 1:
            columns(out, a, n, plan, work, roots, fct, inverse, half)
        else:
            for i in range(len(a)):
                rows(out[i], a[i], n, plan, work, roots, fct, inverse, half)
    elif a.ndim > 1:
        for i in range(len(a)):
            rows(out[i], a[i], n, plan, work, roots, fct, inverse, half)
    elif half:
        half_row(out, a, n, plan, work, roots, fct)
    elif a.dtype.kind != "c":
        real_row(out, a, n, plan, work, roots, fct, inverse)
    else:
        complex_row(out, a, n, plan, work, fct, inverse)


@outlined
def transform_rows(out, a, points, scale, inverse, half):
    """Transform all rows. The numbers are passed as NumPy scalars, so that the function is not compiled again for each
    constant."""
    n, t = int(points), work_type(a)
    if half or a.dtype.kind != "c":
        plan = fft_core.plan_of(n if n % 2 else n // 2, t)
        roots = fft_core.roots_in(1 if n % 2 else n, t)
    else:
        plan, roots = fft_core.plan_of(n, t), None
    rows(out, a, n, plan, fft_core.work_of(plan, t), roots, t.type(factor(real_type(a), n, int(scale))), bool(inverse),
         half)


batched(transform_rows, transform_rows)


def transform_tangent(out, a, points, scale, inverse, out_t, a_t, points_t, scale_t, inverse_t):
    if a_t is None:
        out_t[...] = 0
    else:
        transform_rows(out_t, a_t, points, scale, inverse, out.dtype.kind != "c")


def transform_adjoint(out, a, points, scale, inverse, out_, a_, points_, scale_, inverse_, g):
    """A transform is linear: its adjoint is the one in the other direction, with the same factor."""
    if a_ is not None:
        n, m = int(points), min(int(points), a.shape[-1])
        if out.dtype.kind != "c":  # real results, from half of a symmetric spectrum
            m = min(n // 2 + 1, m)
            found = np.empty(out.shape[:-1] + (n // 2 + 1,), complex_type(out))
            transform_rows(strided(found), out_, points, scale, np.bool_(False), False)
            found[..., 1:(n + 1) // 2] *= 2
        else:
            found = np.empty(out.shape[:-1] + (n,), out.dtype)
            transform_rows(strided(found), out_, points, scale, np.bool_(not inverse), False)
        a_[..., :m] += found[..., :m] if a.dtype.kind == "c" else found[..., :m].real
    out_[...] = 0


derivatives(transform_rows, transform_tangent, transform_adjoint, "", "out", True)


def along(a, n, axis, norm, out, kind):
    """The transform along one axis. kind: 'forward' or 'inverse' of complex numbers; 'real': from real numbers to half
    of their symmetric spectrum; 'half': from such a half to real numbers."""
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    scale = scale_of(norm, kind == "forward" or kind == "real")
    if not -a.ndim <= axis < a.ndim:
        raise AxisError(axis, a.ndim, None)
    if is_known(axis):
        return along_place(a, n, axis % a.ndim, scale, out, kind)
    return along_some(a, n, axis % a.ndim, scale, out, kind, 0)


def along_some(a, n, axis, scale, out, kind, j):
    """The transform along an axis that is known only at run time, by separate code for each axis from j on."""
    if j == a.ndim - 1 or axis == j:
        return along_place(a, n, j, scale, out, kind)
    return along_some(a, n, axis, scale, out, kind, j + 1)


def along_place(a, n, place, scale, out, kind):
    points = n // 2 + 1 if kind == "real" else n
    if out is not None:
        if out.ndim != a.ndim:
            raise ValueError("output array has wrong shape.")
        if out.shape[place] != points:
            raise ValueError("output array has wrong shape.")
        check_castable(out, result_type(a, kind), kind)
    result = np.empty(replaced(a.shape, place, points), result_type(a, kind))
    transform_rows(strided(np.moveaxis(result, place, -1)), strided(np.moveaxis(a, place, -1)), np.int64(n),
                   np.int64(scale), np.bool_(kind == "inverse"), kind == "half")
    if out is None:
        return result
    np.copyto(out, result)
    return out


def result_type(a, kind):
    return real_type(a) if kind == "half" else complex_type(a)


def fft(a, n=None, axis=-1, norm=None, out=None):
    x = np.asarray(a)
    return along(x, length_of(x, n, axis, False), axis, norm, out, "forward")


def ifft(a, n=None, axis=-1, norm=None, out=None):
    x = np.asarray(a)
    return along(x, length_of(x, n, axis, False), axis, norm, out, "inverse")


def rfft(a, n=None, axis=-1, norm=None, out=None):
    x = np.asarray(a)
    if x.dtype.kind == "c":
        not_real()
    return along(x, length_of(x, n, axis, False), axis, norm, out, "real")


def irfft(a, n=None, axis=-1, norm=None, out=None):
    x = np.asarray(a)
    return along(x, length_of(x, n, axis, True), axis, norm, out, "half")


def hfft(a, n=None, axis=-1, norm=None, out=None):
    x = np.asarray(a)
    return along(np.conjugate(x), length_of(x, n, axis, True), axis, opposite(norm), None, "half")


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    found = rfft(a, n, axis, opposite(norm), out)
    return np.conjugate(found, out=found)


# ---------------------------------------------------------------- several axes


def axes_or_last(a, s, axes, k):
    """The axes of a call: the given ones, else as many of the last axes as there are lengths, else all."""
    if axes is not None:
        return axes
    count = a.ndim if s is None else len(s)
    return () if k == count else (k - count,) + axes_or_last(a, s, axes, k + 1)


def lengths_of(a, s, axes, back, k):
    """The number of points along each axis of `axes`, from index k on. back: as in `length_of`, for the last one."""
    if k == len(axes):
        return ()
    if s is None:
        if a.ndim == 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        if not -a.ndim <= axes[k] < a.ndim:
            raise IndexError(f"index {axes[k]} is out of bounds for axis 0 with size {a.ndim}")
        return (length_of(a, None, axes[k], back and k == len(axes) - 1),) + lengths_of(a, s, axes, back, k + 1)
    if s[k] is None:
        return (None,) + lengths_of(a, s, axes, back, k + 1)
    return (a.shape[axes[k]] if s[k] == -1 else operator.index(s[k]),) + lengths_of(a, s, axes, back, k + 1)


def checked_axes(a, s, axes):
    found = axes_or_last(a, s, axes, 0)
    if s is not None:
        if len(s) != len(found):
            raise ValueError("Shape and axes have different lengths.")
    return found


def backward_over(a, s, axes, norm, out, kind, k):
    """Transform along axes[k], ..., axes[0], in this order."""
    if k < 0:
        return a
    return backward_over(along(a, length_of(a, s[k], axes[k], False), axes[k], norm, out, kind), s, axes, norm, out,
                         kind, k - 1)


def over(a, s, axes, norm, out, kind):
    x = np.asarray(a)
    places = checked_axes(x, s, axes)
    return backward_over(x, lengths_of(x, s, places, False, 0), places, norm, out, kind, len(places) - 1)


def fftn(a, s=None, axes=None, norm=None, out=None):
    return over(a, s, axes, norm, out, "forward")


def ifftn(a, s=None, axes=None, norm=None, out=None):
    return over(a, s, axes, norm, out, "inverse")


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return over(a, s, axes, norm, out, "forward")


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return over(a, s, axes, norm, None, "inverse")


def rfftn(a, s=None, axes=None, norm=None, out=None):
    x = np.asarray(a)
    places = checked_axes(x, s, axes)
    if len(places) == 0:
        raise IndexError("list index out of range")
    lengths = lengths_of(x, s, places, False, 0)
    last = len(places) - 1
    return backward_over(rfft(x, lengths[last], places[last], norm, out), lengths, places, norm, out, "forward",
                         last - 1)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return rfftn(a, s, axes, norm, out)


def forward_over(a, s, axes, norm, k):
    """Transform inversely along axes[k], ..., up to the last but one."""
    if k == len(axes) - 1:
        return a
    return forward_over(along(a, length_of(a, s[k], axes[k], False), axes[k], norm, None, "inverse"), s, axes, norm,
                        k + 1)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    x = np.asarray(a)
    places = checked_axes(x, s, axes)
    if len(places) == 0:
        raise IndexError("list index out of range")
    lengths = lengths_of(x, s, places, True, 0)
    last = len(places) - 1
    return irfft(forward_over(x, lengths, places, norm, 0), lengths[last], places[last], norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return irfftn(a, s, axes, norm)


# ---------------------------------------------------------------- frequencies


def is_integer(n):
    return isinstance(n, int) or isinstance(n, np.integer)


def fftfreq(n, d=1.0, device=None):
    if not is_integer(n):
        raise ValueError("n should be an integer")
    unit = 1.0 / (n * d)
    found = np.empty(n, np.float64)
    for i in range(n):
        found[i] = (i if i < (n - 1) // 2 + 1 else i - n) * unit
    return found


def rfftfreq(n, d=1.0, device=None):
    if not is_integer(n):
        raise ValueError("n should be an integer")
    return np.arange(0, n // 2 + 1) * (1.0 / (n * d))


def every_axis(ndim, k):
    return () if k == ndim else (k,) + every_axis(ndim, k + 1)


def rolled(x, axes, k, back):
    if k == len(axes):
        return x
    if not -x.ndim <= axes[k] < x.ndim:
        raise IndexError("tuple index out of range")
    half = x.shape[axes[k]] // 2
    return rolled(roll_some(x, -half if back else half, axes[k], 0), axes, k + 1, back)


def roll_some(x, shift, axis, j):
    if is_known(axis):
        return np.roll(x, shift, axis)
    if j == x.ndim - 1 or axis % x.ndim == j:
        return np.roll(x, shift, j)
    return roll_some(x, shift, axis, j + 1)


def shifted(x, axes, back):
    if axes is None:
        return shifted(x, every_axis(x.ndim, 0), back)
    if isinstance(axes, (int, np.integer)):
        return rolled(x, (axes,), 0, back)
    if x.ndim == 0 and len(axes) == 0:
        # the error of np.roll, which NumPy calls here
        raise ValueError("not enough values to unpack (expected 2, got 0)")
    return rolled(x, axes, 0, back) if len(axes) else np.copy(x)


def fftshift(x, axes=None):
    return shifted(np.asarray(x), axes, False)


def ifftshift(x, axes=None):
    return shifted(np.asarray(x), axes, True)


def _tupled(x: Expr) -> Expr:
    """A list display as a tuple."""
    if is_list(x.type):
        return Apply(TUPLE_MAKE, *elements(x), cls=None)
    return x


def _with_lists(function):
    """The rule of `function` that accepts list displays of lengths and axes."""
    @rule(f"np.fft.{function.__name__}", function)
    def found(a, *more):
        return call(function, a, *(_tupled(expression(x)) for x in more))

    return found


_ONE_AXIS = (fft, ifft, rfft, irfft, hfft, ihfft, fftfreq, rfftfreq)
_AXES = (fft2, ifft2, fftn, ifftn, rfft2, rfftn, irfft2, irfftn, fftshift, ifftshift)
CALLS = ({getattr(np.fft, f.__name__): compiled(f) for f in _ONE_AXIS}
         | {getattr(np.fft, f.__name__): _with_lists(f) for f in _AXES})
