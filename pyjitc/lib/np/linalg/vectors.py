"""Products of stacks of vectors (vecdot, matvec, vecmat), functions of np.linalg with names of the array API, and
tensor equations."""
from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError

from ....infer.meaning import Call, Const, Throw
from ....types import kinds as k
from ...build import compiled
from ...rule import ArrayLike, Constant, library, rule
from ...intrinsics import strided
from .products import again, as_array, axis_length, retyped
from .products_core import matvec, part, vector_dot
from ..shapes.views import shape_text

__all__ = ["CALLS"]

AxisError = np.exceptions.AxisError


# -- stacks of vectors and matrices

def without(shape, count):
    return shape if count == 0 else without(shape[:-1], count - 1)


def stacked_shape(a, b, back, whole, core):
    """The broadcast shape of the leading axes. whole: the shapes for the message."""
    if back < 0:
        return ()
    n, m = axis_length(a, back), axis_length(b, back)
    if n != m and n != 1 and m != 1:
        raise ValueError("operands could not be broadcast together with remapped shapes [original->remapped]: "
                         f"{shape_text(whole[0])}->{remapped(a, core)} {shape_text(whole[1])}->{remapped(b, core)}  "
                         f"and requested shape {'()' if core is None else '(' + str(core) + ')'}")
    return (m if n == 1 else n,) + stacked_shape(a, b, back - 1, whole, core)


def remapped(shape, core):
    if core is None:
        return shape_text(shape)
    return f"({axis_texts(shape, 0)}newaxis)"


def axis_texts(shape, k):
    return "" if k == len(shape) else f"{shape[k]},{axis_texts(shape, k + 1)}"


def turned(a):
    """The conjugate of complex elements; other arrays unchanged."""
    return strided(np.conjugate(a)) if a.dtype.kind == "c" else a


def mismatched(name, signature, first, second):
    raise ValueError(f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                     f"{signature} (size {second} is different from {first})")


def vecdot(a, b):
    if a.shape[-1] != b.shape[-1]:
        mismatched("vecdot", "(n),(n)->()", a.shape[-1], b.shape[-1])
    if a.ndim == 1 and b.ndim == 1:
        return vector_dot(turned(a), b)
    lead, other = a.shape[:-1], b.shape[:-1]
    c = np.empty(stacked_shape(lead, other, max(len(lead), len(other)) - 1, (a.shape, b.shape), None), a.dtype)
    vecdot_stack(c, turned(a), b)
    return c


def vecdot_stack(c, a, b):
    for i in range(len(c)):
        x, y = part(a, c.ndim + 1, i), part(b, c.ndim + 1, i)
        if c.ndim == 1:
            c[i] = vector_dot(x, y)
        else:
            vecdot_stack(c[i], x, y)


def matvec_stack(c, a, x):
    if c.ndim == 1:
        matvec(c, a, x)
    else:
        for i in range(len(c)):
            matvec_stack(c[i], part(a, c.ndim + 1, i), part(x, c.ndim, i))


def matrix_vector(a, x):
    if a.shape[-1] != x.shape[-1]:
        mismatched("matvec", "(m,n),(n)->(m)", a.shape[-1], x.shape[-1])
    return matvec_of(a, x, (a.shape, x.shape))


def vector_matrix(x, a):
    if a.shape[-2] != x.shape[-1]:
        mismatched("vecmat", "(n),(n,m)->(m)", x.shape[-1], a.shape[-2])
    return vecmat_of(turned(x), strided(np.matrix_transpose(a)), (x.shape, a.shape))


def matvec_of(a, x, whole):
    lead, other = without(a.shape, 2), x.shape[:-1]
    c = np.empty(stacked_shape(lead, other, max(len(lead), len(other)) - 1, whole, a.shape[-2]) + (a.shape[-2],),
                 a.dtype)
    matvec_stack(c, a, x)
    return c


def vecmat_of(x, a, whole):
    """As `matvec_of`, with the vectors as the first operand in error messages."""
    lead, other = x.shape[:-1], without(a.shape, 2)
    c = np.empty(stacked_shape(lead, other, max(len(lead), len(other)) - 1, whole, a.shape[-2]) + (a.shape[-2],),
                 a.dtype)
    matvec_stack(c, a, x)
    return c


def _stacks(name, function, signature, least):
    def product(x1, x2, out=None, options={}):
        operands = x1, x2
        if out or options or any(isinstance(x.type, (k.Tuple, k.Struct)) for x in operands):
            return again(getattr(np, name), x1, x2, out, options)
        for n, (x, ndim) in enumerate(zip(operands, least)):
            has = 0 if k.is_number(x.type) else as_array(name, x).type.ndim
            if has < ndim:
                return Throw(ValueError, f"{name}: Input operand {n} does not have enough dimensions (has {has}, "
                                         f"gufunc core with signature {signature} requires {ndim})")
        return Call(function, *retyped(*operands))

    return product


_plain_vecdot = _stacks("vecdot", vecdot, "(n),(n)->()", (1, 1))


@rule("np.vecdot")
def _vecdot(x1, x2, /, out=None, *, axis: Constant = np._NoValue, **options):
    return _along_axis(x1, x2, out, -1 if axis is None else axis, options)


@rule("np.linalg.vecdot")
def _linalg_vecdot(x1, x2, /, *, axis: Constant = -1):
    return _along_axis(x1, x2, None, axis, {})


def _along_axis(x1, x2, out, axis, options):
    found = _plain_vecdot(x1, x2, out, options)
    if axis == -1 or isinstance(found, Throw):
        return found
    moved = []
    for x in (x1, x2):
        if not -x.type.ndim <= axis < x.type.ndim:
            return Call(wrong_axis, Const(k.Int, axis), Const(k.Int, x.type.ndim))
        moved.append(Call(to_last, x, Const(k.Int, axis)))
    return Call(vecdot_moved, *moved)


def wrong_axis(axis, ndim):
    raise AxisError(axis, ndim, None)


def to_last(x, axis):
    return np.moveaxis(x, axis, -1)


def vecdot_moved(x, y):
    return np.vecdot(x, y)


def matrix_transpose(x: ArrayLike):
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return np.swapaxes(x, -1, -2)


# -- names of the array API

def outer(x1: ArrayLike, x2: ArrayLike):
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}.")
    return np.outer(x1, x2)


def diagonal(x: ArrayLike, *, offset=0):
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    return np.diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, *, offset=0, dtype=None):
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    return np.trace(x, offset, -2, -1, dtype)


def cross(x1: ArrayLike, x2: ArrayLike, *, axis=-1):
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {x1.shape[axis]} "
                         f"and {x2.shape[axis]} dimensional instead.")
    return np.cross(x1, x2, axis=axis)


def matrix_norm(x: ArrayLike, *, keepdims=False, ord="fro"):
    if x.ndim < 2:
        raise AxisError(-2, x.ndim, None)
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


def ones_for(axes, shape, k):
    """The shape with length one along the axes; along all axes where none is given."""
    if k == len(shape):
        return ()
    return (1 if axes is None or k in axes else shape[k],) + ones_for(axes, shape, k + 1)


def at_front(axes, ndim, k):
    """A permutation: the given axes, and then the others."""
    return axes if k == ndim else at_front(axes if k in axes else axes + (k,), ndim, k + 1)


def lengths(shape, axes, k):
    return () if k == len(axes) else (shape[axes[k]],) + lengths(shape, axes, k + 1)


def from_start(axes, ndim, k):
    if k == len(axes):
        return ()
    if not -ndim <= axes[k] < ndim:
        raise AxisError(axes[k], ndim, None)
    return (axes[k] % ndim,) + from_start(axes, ndim, k + 1)


def vector_norm(x: ArrayLike, *, axis=None, keepdims=False, ord=2):
    if axis is None:
        found = np.linalg.norm(np.ravel(x), ord)
        return np.full(ones_for(None, x.shape, 0), found) if keepdims else found
    if isinstance(axis, int):
        return np.linalg.norm(x, ord, axis, keepdims)
    axes = from_start(axis, x.ndim, 0)
    if len(axes) == x.ndim:
        found = np.linalg.norm(np.ravel(np.transpose(x, axes)), ord)
        return np.full(ones_for(None, x.shape, 0), found) if keepdims else found
    order = at_front(axes, x.ndim, 0)
    joined = np.reshape(np.transpose(x, order), (-1,) + lengths(x.shape, order[len(axes):], 0))
    found = np.linalg.norm(joined, ord, 0)
    return np.reshape(found, ones_for(axes, x.shape, 0)) if keepdims else found


# -- equations of tensors

def size_of(shape, k):
    return 1 if k == len(shape) else shape[k] * size_of(shape, k + 1)


def tensorinv(a: ArrayLike, ind=2):
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    matrix = np.reshape(a, (size_of(a.shape[ind:], 0), -1))
    return np.reshape(np.linalg.inv(matrix), a.shape[ind:] + a.shape[:ind])


def not_among(axes, ndim, k):
    if k == ndim:
        return ()
    return (() if k in axes else (k,)) + not_among(axes, ndim, k + 1)


def tensorsolve(a: ArrayLike, b: ArrayLike, axes=None):
    if axes is not None:
        return tensorsolve(np.transpose(a, not_among(axes, a.ndim, 0) + axes), b)
    rest = a.shape[b.ndim:] if b.ndim < a.ndim else a.shape
    n = size_of(rest, 0)
    if a.size != n * n:
        raise LinAlgError("Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == "
                          "prod(a.shape[:b.ndim])")
    return np.reshape(np.linalg.solve(np.reshape(a, (n, n)), np.ravel(b)), rest)


def _products(name, product):
    @rule(f"np.{name}")
    def found(x1, x2, /, out=None, **options):
        return product(x1, x2, out, options)

    return found


def tensordot(x1, x2, /, *, axes=2):
    return np.tensordot(x1, x2, axes)


def matmul(x1, x2, /):
    return np.matmul(x1, x2)


CALLS = {
    np.vecdot: _vecdot, np.matrix_transpose: library("np.matrix_transpose", matrix_transpose),
    np.linalg.vecdot: _linalg_vecdot,
    np.linalg.matrix_transpose: library("np.linalg.matrix_transpose", matrix_transpose),
    np.linalg.outer: library("np.linalg.outer", outer), np.linalg.diagonal: library("np.linalg.diagonal", diagonal),
    np.linalg.trace: library("np.linalg.trace", trace), np.linalg.cross: library("np.linalg.cross", cross),
    np.linalg.matmul: compiled(matmul), np.linalg.tensordot: compiled(tensordot),
    np.linalg.matrix_norm: library("np.linalg.matrix_norm", matrix_norm),
    np.linalg.vector_norm: library("np.linalg.vector_norm", vector_norm),
    np.linalg.tensorinv: library("np.linalg.tensorinv", tensorinv),
    np.linalg.tensorsolve: library("np.linalg.tensorsolve", tensorsolve),
}
if hasattr(np, "matvec"):  # NumPy 2.2
    CALLS |= {np.matvec: _products("matvec", _stacks("matvec", matrix_vector, "(m,n),(n)->(m)", (2, 1))),
              np.vecmat: _products("vecmat", _stacks("vecmat", vector_matrix, "(n),(n,m)->(m)", (1, 2)))}
