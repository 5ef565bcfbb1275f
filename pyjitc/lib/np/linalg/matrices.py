"""np.linalg on top of the factorisations: norm, cond, matrix_rank, pinv, lstsq, matrix_power, multi_dot."""
from __future__ import annotations

import math

import numpy as np
from numpy.linalg import LinAlgError

from ....infer.meaning import Apply, Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.blas import BLAS
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.lattice import kind_of
from ...build import NUMPY, a_type, by_value, outlined, type_name, unvectorised
from ...protocol import protocol_of
from ...rule import Constant, NONE, rule
from ...intrinsics import strided
from .linalg import (FOUND, check_square, columns, hermitian_svd, hermitian_values, inv, matrices, narrowed,
                     put_columns, singular_values, svd, work_space)
from .products import as_array, of_type
from ..reductions.reductions import wrong_axis
from .stacks import over_matrices
from .tensors import flat

__all__ = ["CALLS"]



# -- norms

def _zero_for_nothing(function, *args) -> bool:
    try:
        return bool(function(*args) == 0)
    except ValueError:  # before NumPy 2.3
        return False


EMPTY_IS_ZERO = _zero_for_nothing(np.linalg.norm, np.zeros(0), np.inf)
RANK_OF_NOTHING = _zero_for_nothing(np.linalg.matrix_rank, np.zeros((0, 1)))


def square_sum(x, axis, keepdims):
    if x.dtype.kind == "c":
        return np.sum(np.square(np.abs(x)), axis=axis, keepdims=keepdims)
    return np.sum(x * x, axis=axis, keepdims=keepdims)


def whole_norm(x):
    """The default norm: the root of the sum of the squares of all elements."""
    if x.ndim == 1 and x.dtype.kind == "f":
        return np.sqrt(np.dot(x, x))
    return np.sqrt(square_sum(x, None, False))


def whole_norm_kept(x):
    return np.full((1,) * x.ndim, whole_norm(x))


def vector_norm(x, order, axis, keepdims):
    if order is None or order == 2:
        return np.sqrt(square_sum(x, axis, keepdims))
    if order == "inf" or order == math.inf:
        if EMPTY_IS_ZERO:
            return np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0)
        return np.max(np.abs(x), axis=axis, keepdims=keepdims)
    if order == "-inf" or order == -math.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if order == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    if order == 0:
        return np.sum(np.abs(x) != 0, axis=axis, keepdims=keepdims, dtype=np.float32 if single_precision(x)
                      else np.float64)
    return rooted(np.sum(np.abs(x) ** order, axis=axis, keepdims=keepdims), order)


def single_precision(x):
    return x.dtype == np.float32 or x.dtype == np.complex64


def rooted(total, order):
    return total ** total.dtype.type(1 / order)


def matrix_norm(x, order, rows, keepdims):
    """The norm of one matrix. rows: the number of the axis with the rows."""
    found = matrix_norm_number(x, order, rows)
    if keepdims:
        return np.full((1, 1), found)
    return found


def matrix_norm_number(x, order, rows):
    if order is None or order == "fro" or order == "f":
        return np.sqrt(square_sum(x, None, False))
    if order == "nuc":
        return np.sum(values_of(x))
    if order == 2:
        return largest(values_of(x))
    if order == -2:
        return np.min(values_of(x))
    if order == 1:
        return largest(np.sum(np.abs(x), axis=rows))
    if order == -1:
        return np.min(np.sum(np.abs(x), axis=rows))
    if order == "inf" or order == math.inf:
        return largest(np.sum(np.abs(x), axis=1 - rows))
    if order == "-inf" or order == -math.inf:
        return np.min(np.sum(np.abs(x), axis=1 - rows))
    raise ValueError("Invalid norm order for matrices.")


def largest(x):
    if EMPTY_IS_ZERO:
        return np.max(x, initial=0)
    return np.max(x)


def norm_part(x, order):
    return matrix_norm_number(x, order, 0)


def norm_stack(x, order, rows, columns, keepdims):
    """Norms along two axes of an array with more."""
    moved = np.moveaxis(x, (rows, columns), (-2, -1))
    found = np.empty(moved.shape[:-2], np.float32 if single_precision(x) else np.float64)
    over_matrices(found, moved, norm_part, order)
    if keepdims:
        return np.expand_dims(found, (rows, columns))
    return found


def values_of(x):
    return np.linalg.svd(x, compute_uv=False)


def _order(x: Expr) -> Expr:
    """An `ord` argument known at compile time as a constant on which branches are decided: floats by their names."""
    if x.known and isinstance(x.value, (float, np.floating)):
        if math.isinf(x.value):
            return Const(k.Str, "inf" if x.value > 0 else "-inf")
        if x.value == int(x.value):
            return Const(k.Int, int(x.value))
    return x


@rule("np.linalg.norm")
def _norm(x, ord=None, axis: Constant = None, keepdims: Constant = False):
    x = as_array("linalg.norm", x)
    t, ndim = x.type.dtype, x.type.ndim
    if x.type.layout in ("C", "F") and ndim != 1 and axis is None and ord is None and not keepdims:
        return Call(whole_norm, of_type(flat(x), k.float64 if kind_of(t) in "biu" else t))
    x = of_type(x, k.float64 if kind_of(t) in "biu" else t)
    order, keep = _order(ord or NONE), Const(k.Bool, bool(keepdims))
    if isinstance(order.type, (k.Array, k.Tuple)) or order.type is k.Complex:
        raise NotNative(f"norm with an order of type {type_name(order.type)}")
    if axis is None:
        if not keepdims and (order.type is k.NoneType or order.known and order.value in ("fro", "f") and ndim == 2):
            return Call(whole_norm, x)
        if ndim == 1:
            places = (0,)
        elif ndim == 2:
            places = (0, 1)
        elif order.type is k.NoneType:
            return Call(whole_norm_kept, x)
        else:
            return Throw(ValueError, "Improper number of dimensions to norm.")
    else:
        places = axis if isinstance(axis, tuple) else (axis,)
        for n in places:
            if not -ndim <= n < ndim:
                return Call(wrong_axis, Const(k.Int, n), Const(k.Int, ndim))
        places = tuple(n % ndim for n in places)
    if len(places) == 1:
        if order.known and isinstance(order.value, str) and order.value not in ("inf", "-inf"):
            return Throw(ValueError, f"Invalid norm order '{order.value}' for vectors")
        return Call(vector_norm, x, order, Const(k.Int, places[0]), keep)
    if len(places) != 2:
        return Throw(ValueError, "Improper number of dimensions to norm.")
    if places[0] == places[1]:
        return Throw(ValueError, "Duplicate axes given.")
    if order.known and order.value not in (None, "fro", "f", "nuc", 2, -2, 1, -1, "inf", "-inf"):
        return Throw(ValueError, "Invalid norm order for matrices.")
    if ndim != 2:
        return Call(norm_stack, x, order, Const(k.Int, places[0]), Const(k.Int, places[1]), keep)
    return Call(matrix_norm, x, order, Const(k.Int, places[0]), keep)


# -- functions of singular values

NAN_IS_NAN = NUMPY >= (2, 5)  # before, a matrix with nan raised an error


def cond(x, order, single):
    if x.size == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if order is not None and order != 2 and order != -2:
        check_square(x)
    return cond_number(x, order, single)


def cond_number(x, order, single):
    if order is None or order == 2 or order == -2:
        if NAN_IS_NAN and np.any(np.isnan(x)):
            return np.float32(math.nan) if single else np.float64(math.nan)
        s = singular_values(x, single)
        return finite_or_inf(s[-1] / s[0] if order == -2 else s[0] / s[-1], x)
    return finite_or_inf(cond_by_inverse(x, order, single), x)


def cond_by_inverse(x, order, single):
    try:
        return matrix_norm_number(narrowed(x, single), order, 0) * matrix_norm_number(inv(x, single), order, 0)
    except LinAlgError:
        return matrix_norm_number(narrowed(x, single), order, 0).dtype.type(math.inf)


def finite_or_inf(found, x):
    """inf in place of a nan that does not come from the matrix."""
    if np.isnan(found) and not np.any(np.isnan(x)):
        return found.dtype.type(math.inf)
    return found


def cond_part(x, option):
    return cond_number(x, option[0], option[1])


def cond_stack(x, order, single):
    if x.size == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if order is not None and order != 2 and order != -2:
        check_square(x)
    found = np.empty(x.shape[:-2], np.float32 if single else np.float64)
    over_matrices(found, x, cond_part, (order, single))
    return found


@rule("np.linalg.cond")
def _cond(x, p=None):
    order = _order(p or NONE)
    if not order.known:
        raise NotNative("cond with an order that is not known at compile time", "write it as a constant")
    found = matrices("cond", x)
    if isinstance(found, Throw):
        return found
    if order.value not in (None, "fro", "f", "nuc", 2, -2, 1, -1, "inf", "-inf"):
        return Throw(ValueError, "Invalid norm order for matrices.")
    return Call(cond if x.type.ndim == 2 else cond_stack, found[0], order, found[1])


def greatest(s):
    return np.max(s, initial=0) if RANK_OF_NOTHING else np.max(s)


def matrix_rank(a, single, tol, rtol, hermitian):
    s = narrowed(hermitian_values(a), single) if hermitian else singular_values(a, single)
    if tol is None:
        if rtol is None:
            eps = s.dtype.type(max(a.shape[0], a.shape[1]) * (2.0 ** -23 if single else 2.0 ** -52))
            return np.int64(np.sum(s > greatest(s) * eps))
        return np.int64(np.sum(s > greatest(s) * rtol))
    return np.int64(np.sum(s > tol))


def rank_part(a, option):
    return matrix_rank(a, option[0], option[1], option[2], option[3])


def rank_stack(a, single, tol, rtol, hermitian):
    found = np.empty(a.shape[:-2], np.int64)
    over_matrices(found, a, rank_part, (single, tol, rtol, hermitian))
    return found


def vector_rank(a):
    return int(np.any(a != 0))


@rule("np.linalg.matrix_rank")
def _matrix_rank(A, tol=None, hermitian: Constant = False, *, rtol=None):
    a = as_array("linalg.matrix_rank", A)
    if a.type.ndim < 2:
        return Call(vector_rank, a)
    for name, x in (("tol", tol), ("rtol", rtol)):
        if x and isinstance(x.type, k.Array):
            raise NotNative(f"matrix_rank with an array for {name}= is not compiled yet",
                            "write the loop over the matrices")
    if tol and rtol:
        return Throw(ValueError, "`tol` and `rtol` can't be both set.")
    return Call(matrix_rank if a.type.ndim == 2 else rank_stack, *matrices("matrix_rank", a), tol or NONE,
                rtol or NONE, Const(k.Bool, bool(hermitian)))


def pinv(a, single, rcond, hermitian):
    m, n = a.shape
    if m == 0 or n == 0:
        return narrowed(np.empty((n, m), a.dtype), single)
    u, s, vt = single_svd(a, single) if hermitian else svd(a, single, False)
    limit = np.max(s) * (max(m, n) * (2.0 ** -23 if single else 2.0 ** -52) if rcond is None else rcond)
    for i in range(len(s)):
        s[i] = 1 / s[i] if s[i] > limit else 0
    for i in range(u.shape[0]):
        for j in range(len(s)):
            u[i, j] = np.conj(u[i, j]) * s[j]
    return conjugate(vt).T @ u.T


def single_svd(a, single):
    u, s, vt = hermitian_svd(a)
    return narrowed(u, single), narrowed(s, single), narrowed(vt, single)


def pinv_part(a, option):
    return pinv(a, False, option[0], option[1])


def pinv_stack(a, single, rcond, hermitian):
    found = np.empty(a.shape[:-2] + (a.shape[-1], a.shape[-2]), a.dtype)
    over_matrices(found, a, pinv_part, (rcond, hermitian))
    return narrowed(found, single)


def pinv_of_integers(given, a, single, rcond, hermitian):
    if given.size == 0:
        return np.empty(given.shape[:-2] + (given.shape[-1], given.shape[-2]), given.dtype)
    return pinv(a, single, rcond, hermitian) if a.ndim == 2 else pinv_stack(a, single, rcond, hermitian)


def conjugate(x):
    if x.dtype.kind == "c":
        return np.conj(x)
    return x


@rule("np.linalg.pinv")
def _pinv(a, rcond=None, hermitian: Constant = False, *, rtol=...):
    found = matrices("pinv", a)
    if isinstance(found, Throw):
        return found
    of_size = rtol.type is k.NoneType and not rcond
    rtol = None if rtol.type in (k.NoneType, k.Ellipsis_) or isinstance(rtol.type, k.Singleton) else rtol
    for name, x in (("rcond", rcond), ("rtol", rtol)):
        if x and isinstance(x.type, k.Array):
            raise NotNative(f"pinv with an array for {name}= is not compiled yet", "write the loop over the matrices")
    if rcond and rtol:
        return Throw(ValueError, "`rtol` and `rcond` can't be both set.")
    limit = NONE if of_size else rcond or rtol or Const(k.Float, 1e-15)
    hermitian = Const(k.Bool, bool(hermitian))
    if kind_of(a.type.dtype) in "biu":
        return Call(pinv_of_integers, a, *found, limit, hermitian)
    return Call(pinv if a.type.ndim == 2 else pinv_stack, *found, limit, hermitian)


# -- least squares

@unvectorised
def least_squares(work, rhs, s, m, n, rcond):
    """Call gelsd; returns the rank."""
    most = max(m, n, 1)
    rank = np.zeros(1, np.int64)
    query, integers = np.empty(1, work.dtype), np.zeros(1, np.int64)
    if work.dtype.kind == "c":
        reals = np.zeros(1, np.float64)
        BLAS(m, n, len(rhs), work, max(m, 1), rhs, most, s, rcond, rank, query, -1, reals, integers, name="gelsd",
             result="info")
        space, reals = work_space(query), work_space(reals)
        integers = np.empty(max(1, int(integers[0] & 0xFFFFFFFF)), np.int64)
        info = BLAS(m, n, len(rhs), work, max(m, 1), rhs, most, s, rcond, rank, space, len(space), reals, integers,
                    name="gelsd", result="info")
    else:
        BLAS(m, n, len(rhs), work, max(m, 1), rhs, most, s, rcond, rank, query, -1, integers, name="gelsd",
             result="info")
        space = work_space(query)
        integers = np.empty(max(1, int(integers[0] & 0xFFFFFFFF)), np.int64)
        info = BLAS(m, n, len(rhs), work, max(m, 1), rhs, most, s, rcond, rank, space, len(space), integers,
                    name="gelsd", result="info")
    if info != 0:
        raise LinAlgError("SVD did not converge in Linear Least Squares")
    return int(rank[0] & 0xFFFFFFFF)


def lstsq(a, b, single, rcond):
    m, n = a.shape
    if b.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    limit = max(m, n) * (2.0 ** -23 if single else 2.0 ** -52) if rcond is None else float(rcond)
    xs, left, rank, s = fitted_columns(strided(a), strided(b if b.ndim == 2 else b[:, None]), limit)
    x = xs if b.ndim == 2 else xs[:, 0].copy()
    return narrowed(x, single), narrowed(left, single), np.int32(rank), narrowed(s, single)


@outlined
def fitted_columns(a, b, limit):
    """(the solution for each column of b, sums of squares of what is left, the rank, the singular values)"""
    m, n = a.shape
    wide = b.shape[1]
    rhs = np.zeros((max(wide, 1), max(m, n)), a.dtype)
    for i in range(m):
        for j in range(wide):
            rhs[j, i] = b[i, j]
    s = np.zeros(min(m, n), np.float64)
    rank = 0
    if m > 0 and n > 0:
        rank = least_squares(columns(a), rhs, s, m, n, limit)
    left = np.zeros(wide if rank == n and m > n else 0, np.float64)
    for j in range(len(left)):
        total = 0.0
        for i in range(n, m):
            total += np.abs(rhs[j, i]) ** 2
        left[j] = total
    xs = np.empty((n, wide), a.dtype)
    put_columns(xs, rhs)
    return xs, left, rank, s


by_value("np.linalg.rules", fitted_columns)


@rule("np.linalg.lstsq")
def _lstsq(a, b, rcond=None):
    found = matrices("lstsq", a, b)
    if isinstance(found, Throw):
        return found
    for x in (a, b):
        ndim = x.type.ndim if isinstance(x.type, k.Array) else 0
        if ndim > 2 or ndim == 0:
            return Throw(LinAlgError, f"{ndim}-dimensional array given. Array must be two-dimensional")
    return Call(lstsq, *found, rcond or NONE)


# -- powers and chains

def matrix_power(a, n):
    check_square(a)
    if n < 0:
        return power(strided(np.linalg.inv(a)), -n)
    return power(a, n)


def power(a, n):
    if n == 0:
        unit = np.zeros(a.shape, a.dtype)
        for i in range(a.shape[0]):
            unit[i, i] = 1
        return unit
    if n == 1:
        return a.copy()
    if n == 2:
        return a @ a
    if n == 3:
        return (a @ a) @ a
    return by_squares(a, n)


@outlined
def by_squares(a, n):
    while n & 1 == 0:
        a = strided(a @ a)
        n >>= 1
    found = a.copy()
    n >>= 1
    while n > 0:
        a = strided(a @ a)
        if n & 1:
            found = found @ a
        n >>= 1
    return found


@rule("np.linalg.matrix_power")
def _matrix_power(a, n):
    a = as_array("linalg.matrix_power", a)
    if a.type.ndim < 2:
        return Throw(LinAlgError, f"{a.type.ndim}-dimensional array given. Array must be at least two-dimensional")
    if not (n.type is k.Int or isinstance(n.type, k.NpInt)):
        raise Mismatch("exponent must be an integer")
    if not n.known and kind_of(a.type.dtype) in "biu" and not FOUND:
        raise NotNative("matrix_power of integers needs a known exponent", "write it as a constant")
    return Call(matrix_power if a.type.ndim == 2 else power_stack, of_type(a, a.type.dtype), n)


def power_part(a, n):
    return power(a, n)


def power_stack(a, n):
    check_square(a)
    if n < 0:
        return powers(strided(np.linalg.inv(a)), -n)
    return powers(a, n)


def powers(a, n):
    found = np.empty(a.shape, a.dtype)
    over_matrices(found, a, power_part, n)
    return found


def chain(arrays, out):
    """The product of a chain: from the left or from the right, whichever is cheaper."""
    if len(arrays) == 2:
        return np.dot(arrays[0], arrays[1], out)
    if cost_from_left(arrays, 1) <= cost_from_right(arrays, len(arrays) - 2):
        return from_left(arrays[0], arrays, 1, out)
    return from_right(arrays[-1], arrays, len(arrays) - 2, out)


def rows_of(a):
    return 1 if a.ndim == 1 else a.shape[0]


def cost_from_left(arrays, at):
    """The number of multiplications of the rest of a chain from the left."""
    if at == len(arrays):
        return 0.0
    last = arrays[at].shape[1] if arrays[at].ndim == 2 else 1
    return float(rows_of(arrays[0])) * arrays[at].shape[0] * last + cost_from_left(arrays, at + 1)


def cost_from_right(arrays, at):
    if at < 0:
        return 0.0
    last = arrays[-1].shape[1] if arrays[-1].ndim == 2 else 1
    return float(rows_of(arrays[at])) * arrays[at].shape[-1] * last + cost_from_right(arrays, at - 1)


def from_left(done, arrays, at, out):
    if at == len(arrays) - 1:
        return np.dot(done, arrays[at], out)
    return from_left(np.dot(done, arrays[at]), arrays, at + 1, out)


def from_right(done, arrays, at, out):
    if at == 0:
        return np.dot(arrays[at], done, out)
    return from_right(np.dot(arrays[at], done), arrays, at - 1, out)


@rule("np.linalg.multi_dot")
def _multi_dot(arrays, *, out=None):
    parts = protocol_of(arrays.type).elements(arrays)
    if parts is None:
        raise NotNative(f"multi_dot of {a_type(arrays.type)} is not compiled",
                        "write the arrays as a tuple or list")
    if len(parts) < 2:
        return Throw(ValueError, "Expecting at least two arrays.")
    for i, part in enumerate(parts):
        if not isinstance(part.type, k.Array):
            raise NotNative(f"multi_dot of {a_type(part.type)}", "pass arrays")
        ends = i in (0, len(parts) - 1)
        if part.type.ndim != 2 and not (ends and part.type.ndim == 1):
            return Throw(LinAlgError, f"{part.type.ndim}-dimensional array given. Array must be two-dimensional")
    if out and any(parts[i].type.ndim == 1 for i in (0, -1)):
        raise NotNative("multi_dot() of vectors with out= is not compiled", "assign the result")
    return Call(chain, Apply(TUPLE_MAKE, *parts, cls=None), out or NONE)


CALLS = {
    np.linalg.norm: _norm, np.linalg.cond: _cond, np.linalg.matrix_rank: _matrix_rank, np.linalg.pinv: _pinv,
    np.linalg.lstsq: _lstsq, np.linalg.matrix_power: _matrix_power, np.linalg.multi_dot: _multi_dot,
}
