"""np.linalg by LAPACK: solve, inv, det, slogdet, cholesky, qr, svd.

The routines are the ones that NumPy calls, so results agree. A matrix is passed to LAPACK as a new array whose rows are
the columns of the matrix. Eigenvalues are in eigen.py, functions that use factorisations in matrices.py.
"""
from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import QRResult, SlogdetResult, SVDResult

from ....infer.meaning import Call, Const, Expr, Mismatch, NotNative, Throw
from ....ops.blas import BLAS
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE
from ....runtime import blas
from ....types import kinds as k
from ....types.kinds import Array
from ....types.lattice import kind_of, promote
from ...build import by_value, compiled, derivatives, unvectorised
from ...intrinsics import strided
from ...rule import Constant, rule
from .factors import own_cholesky, own_lu, own_solve
from .products import as_array, converted, of_type, stack_shape
from .products_core import conjugated, worked
from .stacks import over_matrices

__all__ = ["CALLS"]

FOUND = blas.found("dgesv")
OWN = ("solve", "inv", "det", "slogdet", "cholesky")  # these have loops for an installation without LAPACK (factors.py)


# -- operands

def columns(a):
    """A new array whose rows are the columns of the matrix: the matrix in Fortran order."""
    fresh = np.empty((a.shape[1], a.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            ARRAY_STORE(fresh, j, i, ARRAY_LOAD(a, i, j))
    return fresh


def put_columns(target, source):
    """target[...] = the matrix whose columns are the rows of `source`."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            ARRAY_STORE(target, i, j, ARRAY_LOAD(source, j, i))


def narrowed(x, single):
    """A result in the type of the operands. Single precision is computed in double and rounded, as in NumPy."""
    if not single:
        return x
    if isinstance(x, np.ndarray):
        return converted(x, np.complex64 if x.dtype.kind == "c" else np.float32)
    return np.complex64(x) if x.dtype.kind == "c" else np.float32(x)


def check_square(a):
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def linear_type(*types):
    """(the double precision type in which NumPy computes, whether the result is in single precision)"""
    found = None
    for t in types:
        if t is k.float16:
            raise Mismatch("array type float16 is unsupported in linalg")
        t = k.float64 if kind_of(t) in "biu" else t
        found = t if found is None else promote(found, t)
    return promote(found, k.float64), Const(k.Bool, found is k.float32 or found is k.complex64)


def matrices(name: str, *args: Expr):
    """(the operands in the type in which NumPy computes, of any layout, and whether the result is in single precision);
    or a Throw for an operand that is no matrix."""
    if k.is_number(args[0].type):
        return Throw(LinAlgError, "0-dimensional array given. Array must be at least two-dimensional")
    arrays = [as_array(f"linalg.{name}", x) for x in args]
    for x in arrays[:1]:
        if x.type.ndim < 2:
            return Throw(LinAlgError, f"{x.type.ndim}-dimensional array given. Array must be at least two-dimensional")
    if not FOUND and name not in OWN:
        raise NotNative(f"np.linalg.{name} needs LAPACK, and none was found")
    t, single = linear_type(*(x.type.dtype for x in arrays))
    return [*(of_type(x, t) for x in arrays), single]


def one_matrix(name, function, signature="a"):
    """The rule of a function of one matrix and constants."""

    @rule(f"np.linalg.{name}", signature)
    def found(a, *more):
        operands = matrices(name, a)
        return operands if isinstance(operands, Throw) else Call(function, *operands, *more)

    return found


def factor(lu, pivots):
    n = len(lu)
    if FOUND:
        return BLAS(n, n, lu, n, pivots, name="getrf", result="info")
    else:
        return own_lu(lu, pivots)


# -- solve, inv

@unvectorised
def solve_matrix(x, a, b):
    rhs = columns(b)
    solve_columns(a, rhs)
    put_columns(x, rhs)


@unvectorised
def solve_vector(x, a, b):
    """Solve for one vector. x is contiguous, so that LAPACK works in it."""
    for i in range(len(x)):
        ARRAY_STORE(x, i, ARRAY_LOAD(b, i))
    solve_columns(a, x[None, :])


def solved(a, b):
    x = np.empty(b.shape, b.dtype)
    if b.ndim == 1:
        solve_vector(x, strided(a), strided(b))
    else:
        solve_matrix(x, strided(a), strided(b))
    return x


def solve_tangent(x, a, b, x_t, a_t, b_t):
    if a_t is None:
        x_t[...] = solved(a, b_t)
    elif b_t is None:
        x_t[...] = -solved(a, a_t @ x)
    else:
        x_t[...] = solved(a, b_t - a_t @ x)


def solve_adjoint(x, a, b, x_, a_, b_, g):
    y = solved(conjugated(a.T), x_)
    if b_ is not None:
        b_ += y
    if a_ is not None:
        if b.ndim == 1:
            a_ -= y.reshape(-1, 1) * conjugated(solved(a, b))
        else:
            a_ -= y @ conjugated(solved(a, b).T)
    x_[...] = 0


derivatives(solve_matrix, solve_tangent, solve_adjoint, "a b", "x", True)
derivatives(solve_vector, solve_tangent, solve_adjoint, "a b", "x", True)


def solve_columns(a, rhs):
    """Replace the rows of rhs by their solutions."""
    n = a.shape[0]
    if n > 0 and len(rhs) > 0:
        lu, pivots = columns(a), np.empty(n, np.int64)
        if FOUND:
            info = BLAS(n, len(rhs), lu, n, pivots, rhs, n, name="gesv", result="info")
        else:
            info = own_lu(lu, pivots)
        if info > 0:
            raise LinAlgError("Singular matrix")
        if not FOUND:
            own_solve(lu, pivots, rhs)


@unvectorised
def inv_matrix(x, a):
    n = a.shape[0]
    rhs = np.empty((n, n), a.dtype)
    unit_columns(rhs)
    solve_columns(a, rhs)
    put_columns(x, rhs)


def inverse(a):
    x = np.empty(a.shape, a.dtype)
    inv_matrix(x, strided(a))
    return x


def inv_tangent(x, a, x_t, a_t):
    x_t[...] = -(x @ a_t @ x)


def inv_adjoint(x, a, x_, a_, g):
    y = conjugated(inverse(a).T)
    a_ -= y @ x_ @ y
    x_[...] = 0


derivatives(inv_matrix, inv_tangent, inv_adjoint, "a", "x", True)


def solve_stack(x, a, b):
    if x.ndim == 2:
        solve_matrix(x, a, b)
    else:
        for i in range(len(x)):
            solve_stack(x[i], a if a.ndim < x.ndim else a[0 if len(a) == 1 else i], b if b.ndim < x.ndim
                        else b[0 if len(b) == 1 else i])


def solve_vectors(x, a, b):
    for i in range(len(x)):
        if x.ndim == 2:
            solve_vector(x[i], a[i], b)
        else:
            solve_vectors(x[i], a[i], b)


def solve(a, b, single):
    check_square(a)
    if b.ndim == 1:
        if b.shape[0] != a.shape[-1]:
            raise ValueError("solve1: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                             f"(m,m),(m)->(m) (size {b.shape[0]} is different from {a.shape[-1]})")
        x = np.empty(a.shape[:-1], a.dtype)
        if a.ndim == 2:
            solve_vector(x, a, b)
        else:
            solve_vectors(x, a, b)
        return narrowed(x, single)
    if b.shape[-2] != a.shape[-1]:
        raise ValueError("solve: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                         f"(m,m),(m,n)->(m,n) (size {b.shape[-2]} is different from {a.shape[-1]})")
    x = np.empty(stack_shape(a.shape, b.shape, max(a.ndim, b.ndim) - 1) + b.shape[-2:], a.dtype)
    solve_stack(x, a, b)
    return narrowed(x, single)


@rule("np.linalg.solve")
def _solve(a, b):
    found = matrices("solve", a, b)
    if isinstance(found, Throw):
        return found
    if not isinstance(b.type, Array) or b.type.ndim == 0:
        raise Mismatch("solve: Input operand 1 does not have enough dimensions", exception=ValueError)
    return Call(solve, *found)


def inv(a, single):
    check_square(a)
    x = np.empty(a.shape, a.dtype)
    inv_stack(x, a)
    return narrowed(x, single)


def inv_stack(x, a):
    if x.ndim == 2:
        inv_matrix(x, a)
    else:
        for i in range(len(x)):
            inv_stack(x[i], a[i])


# -- determinants

@unvectorised
def log_determinant(a):
    """(sign, logarithm of the absolute value)"""
    n = a.shape[0]
    lu = columns(a)
    sign, total = a.dtype.type(1), np.abs(a.dtype.type(0))
    if n > 0:
        pivots = np.zeros(n, np.int64)
        if factor(lu, pivots) > 0:
            return a.dtype.type(0), total - np.inf
        narrow = n > 1 and pivots[0] >> 32 != 0  # the integers have 32 bits, two in each element
        for i in range(n):
            at = ((pivots[i >> 1] >> (32 if i & 1 else 0)) & 0xFFFFFFFF) if narrow else pivots[i]
            if at != i + 1:
                sign = -sign
            x = lu[i, i]
            size = np.abs(x)
            if a.dtype.kind == "c":
                sign *= x / size
            elif x < 0:
                sign = -sign
            total += np.log(size)
    return sign, total


@unvectorised
def determinant(a):
    sign, total = log_determinant(a)
    return sign * np.exp(total)


def slogdet(a, single):
    check_square(a)
    if a.ndim == 2:
        sign, total = log_determinant(a)
        return SlogdetResult(narrowed(sign, single), narrowed(total, single))
    signs, totals = np.empty(a.shape[:-2], a.dtype), np.empty(a.shape[:-2], np.float64)
    slogdet_stack(signs, totals, a)
    return SlogdetResult(narrowed(signs, single), narrowed(totals, single))


def slogdet_stack(signs, totals, a):
    for i in range(len(a)):
        if a.ndim == 3:
            found = log_determinant(a[i])
            signs[i] = found[0]
            totals[i] = found[1]
        else:
            slogdet_stack(signs[i], totals[i], a[i])


def det(a, single):
    check_square(a)
    if a.ndim == 2:
        return narrowed(determinant(a), single)
    found = np.empty(a.shape[:-2], a.dtype)
    det_stack(found, a)
    return narrowed(found, single)


def det_stack(found, a):
    for i in range(len(a)):
        if a.ndim == 3:
            found[i] = determinant(a[i])
        else:
            det_stack(found[i], a[i])


# -- cholesky

@unvectorised
def cholesky_matrix(x, a, upper):
    n = a.shape[0]
    work = columns(a)
    if n > 0:
        if FOUND:
            info = BLAS(n, work, n, name="potrf", letters="U" if upper else "L", result="info")
        else:
            info = own_cholesky(work, upper)
        if info > 0:
            raise LinAlgError("Matrix is not positive definite")
    for i in range(n):
        for j in range(n):
            x[i, j] = work[j, i] if (j >= i if upper else j <= i) else a.dtype.type(0)


@unvectorised
def lower_factor(a):
    x = np.empty(a.shape, a.dtype)
    cholesky_matrix(x, a, False)
    return x


@unvectorised
def upper_factor(a):
    x = np.empty(a.shape, a.dtype)
    cholesky_matrix(x, a, True)
    return x


def cholesky_stack(x, a, upper):
    if a.ndim == 2:
        x[...] = upper_factor(a) if upper else lower_factor(a)
    else:
        for i in range(len(a)):
            cholesky_stack(x[i], a[i], upper)


def cholesky(a, single, upper):
    check_square(a)
    if a.ndim == 2:
        return narrowed(upper_factor(a) if upper else lower_factor(a), single)
    x = np.empty(a.shape, a.dtype)
    cholesky_stack(x, a, upper)
    return narrowed(x, single)


# -- qr

def work_space(query):
    """A work array of the size that LAPACK returns for this query."""
    return np.empty(max(1, int(query[0].real)), query.dtype)


@unvectorised
def qr_factors(a):
    """(columns with the Householder reflectors, their scalar factors)"""
    m, n = a.shape
    work, tau = columns(a), np.empty(min(m, n), a.dtype)
    if m > 0 and n > 0:
        worked(m * n * len(tau))
        query = np.empty(1, a.dtype)
        BLAS(m, n, work, m, tau, query, -1, name="geqrf", result="info")
        space = work_space(query)
        BLAS(m, n, work, m, tau, space, len(space), name="geqrf", result="info")
    return work, tau


@unvectorised
def orthogonal(work, tau, m, n):
    """The first n columns of the product of the reflectors."""
    q = np.empty((n, m), tau.dtype)
    for j in range(min(n, len(work))):
        for i in range(m):
            q[j, i] = work[j, i]
    for j in range(len(work), n):
        for i in range(m):
            q[j, i] = 0
    if m > 0 and n > 0:
        query = np.empty(1, tau.dtype)
        if tau.dtype.kind == "c":
            BLAS(m, n, len(tau), q, m, tau, query, -1, name="ungqr", result="info")
            space = work_space(query)
            BLAS(m, n, len(tau), q, m, tau, space, len(space), name="ungqr", result="info")
        else:
            BLAS(m, n, len(tau), q, m, tau, query, -1, name="orgqr", result="info")
            space = work_space(query)
            BLAS(m, n, len(tau), q, m, tau, space, len(space), name="orgqr", result="info")
    return q


def upper_part(work, rows):
    r = np.empty((rows, len(work)), work.dtype)
    for i in range(rows):
        for j in range(len(work)):
            r[i, j] = work[j, i] if j >= i else work.dtype.type(0)
    return r


@unvectorised
def reduced_qr(a):
    m, n = a.shape
    work, tau = qr_factors(a)
    few = min(m, n)
    q = np.empty((m, few), a.dtype)
    put_columns(q, orthogonal(work, tau, m, few))
    return q, upper_part(work, few)


def qr(a, single, mode):
    m, n = a.shape
    if mode == "reduced":
        q, r = reduced_qr(a)
        return QRResult(narrowed(q, single), narrowed(r, single))
    work, tau = qr_factors(a)
    if mode == "raw":
        return narrowed(work, single), narrowed(tau, single)
    if mode == "r":
        return narrowed(upper_part(work, min(m, n)), single)
    q = np.empty((m, m), a.dtype)
    put_columns(q, orthogonal(work, tau, m, m))
    return QRResult(narrowed(q, single), narrowed(upper_part(work, m), single))


def qr_parts(a, mode):
    return qr(a, False, mode)


def qr_stack(a, single, mode):
    lead, m, n = a.shape[:-2], a.shape[-2], a.shape[-1]
    few = min(m, n)
    if mode == "raw":
        h, tau = np.empty(lead + (n, m), a.dtype), np.empty(lead + (few,), a.dtype)
        over_matrices((h, tau), a, qr_parts, mode)
        return narrowed(h, single), narrowed(tau, single)
    if mode == "r":
        r = np.empty(lead + (few, n), a.dtype)
        over_matrices(r, a, qr_parts, mode)
        return narrowed(r, single)
    wide = m if mode == "complete" else few
    q, r = np.empty(lead + (m, wide), a.dtype), np.empty(lead + (wide, n), a.dtype)
    over_matrices((q, r), a, qr_parts, mode)
    return QRResult(narrowed(q, single), narrowed(r, single))


@rule("np.linalg.qr")
def _qr(a, mode: Constant = "reduced"):
    found = matrices("qr", a)
    if isinstance(found, Throw):
        return found
    if mode not in ("reduced", "complete", "r", "raw"):
        if mode in ("f", "full", "e", "economic"):
            raise NotNative(f"qr with mode={mode!r} is not compiled", "write 'reduced'")
        return Throw(ValueError, f"Unrecognized mode '{mode}'")
    return Call(qr if a.type.ndim == 2 else qr_stack, *found, Const(k.Str, mode))


# -- svd

@unvectorised
def singular(u, s, v, a, job):
    """Call gesdd; the rows of u and v become the singular vectors. u and v have no rows where only the values are
    wanted."""
    m, n = a.shape
    work = columns(a)
    few = min(m, n)
    if few == 0:
        return
    worked(m * n * few)
    left, right = max(1, u.shape[1]), max(1, v.shape[1])
    integers = np.empty(8 * few, np.int64)
    query = np.empty(1, a.dtype)
    if a.dtype.kind == "c":
        reals = np.empty(max(7 * few, few * max(5 * few + 7, 2 * max(m, n) + 2 * few + 1)), np.float64)
        BLAS(m, n, work, m, s, u, left, v, right, query, -1, reals, integers, name="gesdd", letters=job, result="info")
        space = work_space(query)
        info = BLAS(m, n, work, m, s, u, left, v, right, space, len(space), reals, integers, name="gesdd", letters=job,
                    result="info")
    else:
        BLAS(m, n, work, m, s, u, left, v, right, query, -1, integers, name="gesdd", letters=job, result="info")
        space = work_space(query)
        info = BLAS(m, n, work, m, s, u, left, v, right, space, len(space), integers, name="gesdd", letters=job,
                    result="info")
    if info != 0:
        raise LinAlgError("SVD did not converge")


@unvectorised
def singular_values_of(a):
    s, none = np.empty(min(a.shape[0], a.shape[1]), np.float64), np.empty((1, 1), a.dtype)
    singular(none, s, none, a, "N")
    return s


@unvectorised
def singular_parts(a):
    """(u, s, vt) with as many columns and rows as there are singular values."""
    m, n = a.shape
    few = min(m, n)
    s, left, right = np.empty(few, np.float64), np.empty((few, m), a.dtype), np.empty((n, few), a.dtype)
    singular(left, s, right, a, "S")
    u, v = np.empty((m, few), a.dtype), np.empty((few, n), a.dtype)
    put_columns(u, left)
    put_columns(v, right)
    return u, s, v


def singular_values(a, single):
    return narrowed(singular_values_of(a), single)


def svd(a, single, full_matrices):
    u, s, v = full_parts(a) if full_matrices is None or full_matrices else singular_parts(a)
    return SVDResult(narrowed(u, single), narrowed(s, single), narrowed(v, single))


@unvectorised
def full_parts(a):
    """(u, s, vt) with square u and vt."""
    m, n = a.shape
    s, left, right = np.empty(min(m, n), np.float64), np.empty((m, m), a.dtype), np.empty((n, n), a.dtype)
    if len(s) == 0:
        return unit_columns(left), s, unit_columns(right)
    singular(left, s, right, a, "A")
    u, v = np.empty((m, m), a.dtype), np.empty((n, n), a.dtype)
    put_columns(u, left)
    put_columns(v, right)
    return u, s, v


def unit_columns(u):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            u[i, j] = 1 if i == j else 0
    return u


def hermitian_values(a):
    """The singular values of a Hermitian matrix: the absolute values of its eigenvalues."""
    return np.sort(np.abs(np.linalg.eigvalsh(a)))[..., ::-1]


def hermitian_svd(a):
    w, u = np.linalg.eigh(a)
    s = np.abs(w)
    order = np.argsort(s)[::-1]
    u = u[:, order]
    return SVDResult(u, s[order], np.conjugate(np.transpose(u * np.sign(w[order])[None, :])))


def svd_parts(a, full_matrices):
    return svd(a, False, full_matrices)


def values_part(a, option):
    return singular_values(a, False)


def svd_stack(a, single, full_matrices):
    lead, m, n = a.shape[:-2], a.shape[-2], a.shape[-1]
    few = min(m, n)
    left, right = (m, n) if full_matrices is None or full_matrices else (few, few)
    u, s, v = np.empty(lead + (m, left), a.dtype), np.empty(lead + (few,),
                                                            np.float64), np.empty(lead + (right, n), a.dtype)
    over_matrices((u, s, v), a, svd_parts, full_matrices)
    return SVDResult(narrowed(u, single), narrowed(s, single), narrowed(v, single))


def values_stack(a, single):
    s = np.empty(a.shape[:-2] + (min(a.shape[-2], a.shape[-1]),), np.float64)
    over_matrices(s, a, values_part, None)
    return narrowed(s, single)


@rule("np.linalg.svd")
def _svd(a, full_matrices: Constant = True, compute_uv: Constant = True, hermitian: Constant = False):
    found = matrices("svd", a)
    if isinstance(found, Throw):
        return found
    single = a.type.ndim == 2
    if hermitian:
        if not compute_uv:
            return Call(hermitian_values, a)
        if not single:
            raise NotNative("svd with hermitian=True of a stack of matrices is not compiled",
                            "write the loop over the matrices")
        return Call(hermitian_svd, a)
    if not compute_uv:
        return Call(singular_values if single else values_stack, *found)
    return Call(svd if single else svd_stack, *found, Const(k.Bool, bool(full_matrices)))


def svdvals(x, /):
    return np.linalg.svd(x, compute_uv=False)


by_value("np.linalg.rules", log_determinant, determinant, lower_factor, upper_factor, reduced_qr, full_parts,
         singular_parts, singular_values_of)

CALLS = {
    np.linalg.solve: _solve, np.linalg.inv: one_matrix("inv", inv), np.linalg.det: one_matrix("det", det),
    np.linalg.slogdet: one_matrix("slogdet", slogdet),
    np.linalg.cholesky: one_matrix("cholesky", cholesky, "a, /, *, upper=False"), np.linalg.qr: _qr,
    np.linalg.svd: _svd, np.linalg.svdvals: compiled(svdvals),
}
METHODS: dict = {}
