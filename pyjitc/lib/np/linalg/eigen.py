"""Eigenvalues and eigenvectors by LAPACK: np.linalg.eigh, eigvalsh, eig, eigvals."""
from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EighResult, EigResult

from ....infer.meaning import Const, Call, Throw
from ....ops.blas import BLAS
from ....types import kinds as k
from ...build import by_value, unvectorised
from ...rule import Constant, rule
from .linalg import check_square, columns, matrices, narrowed, put_columns, work_space
from .products_core import worked
from .stacks import over_matrices

__all__ = ["CALLS"]

# from NumPy 2.5 on; before, the result was real where all eigenvalues are
ALWAYS_COMPLEX = np.linalg.eigvals(np.eye(1)).dtype.kind == "c"


# -- symmetric matrices

@unvectorised
def symmetric(work, w, letters):
    """Call syevd or heevd: the eigenvalues are stored in w, and the eigenvectors replace the matrix."""
    n = len(work)
    if n == 0:
        return
    worked(n * n * n)
    query, integers = np.empty(1, work.dtype), np.zeros(1, np.int64)
    if work.dtype.kind == "c":
        reals = np.empty(1, np.float64)
        BLAS(n, work, n, w, query, -1, reals, -1, integers, -1, name="heevd", letters=letters, result="info")
        space, reals = work_space(query), work_space(reals)
        integers = np.empty(max(1, int(integers[0] & 0xFFFFFFFF)), np.int64)
        info = BLAS(n, work, n, w, space, len(space), reals, len(reals), integers, len(integers), name="heevd",
                    letters=letters, result="info")
    else:
        BLAS(n, work, n, w, query, -1, integers, -1, name="syevd", letters=letters, result="info")
        space = work_space(query)
        integers = np.empty(max(1, int(integers[0] & 0xFFFFFFFF)), np.int64)
        info = BLAS(n, work, n, w, space, len(space), integers, len(integers), name="syevd", letters=letters,
                    result="info")
    if info != 0:
        raise LinAlgError("Eigenvalues did not converge")


@unvectorised
def eigen_lower(a):
    return eigen_parts(a, "VL")


@unvectorised
def eigen_upper(a):
    return eigen_parts(a, "VU")


def eigen_parts(a, letters):
    work, w, v = columns(a), np.empty(a.shape[0], np.float64), np.empty(a.shape, a.dtype)
    symmetric(work, w, letters)
    put_columns(v, work)
    return w, v


def eigh(a, single, upper):
    check_square(a)
    w, v = eigen_upper(a) if upper else eigen_lower(a)
    return EighResult(narrowed(w, single), narrowed(v, single))


@unvectorised
def eigenvalues_lower(a):
    work, w = columns(a), np.empty(a.shape[0], np.float64)
    symmetric(work, w, "NL")
    return w


@unvectorised
def eigenvalues_upper(a):
    work, w = columns(a), np.empty(a.shape[0], np.float64)
    symmetric(work, w, "NU")
    return w


def eigvalsh(a, single, upper):
    check_square(a)
    return narrowed(eigenvalues_upper(a) if upper else eigenvalues_lower(a), single)


def eigh_parts(a, upper):
    return eigh(a, False, upper)


def eigvalsh_part(a, upper):
    return eigvalsh(a, False, upper)


def eigh_stack(a, single, upper):
    check_square(a)
    w, v = np.empty(a.shape[:-1], np.float64), np.empty(a.shape, a.dtype)
    over_matrices((w, v), a, eigh_parts, upper)
    return EighResult(narrowed(w, single), narrowed(v, single))


def eigvalsh_stack(a, single, upper):
    check_square(a)
    w = np.empty(a.shape[:-1], np.float64)
    over_matrices(w, a, eigvalsh_part, upper)
    return narrowed(w, single)


def _symmetric(name, function, stack):
    @rule(f"np.linalg.{name}")
    def found(a, UPLO: Constant = "L"):
        operands = matrices(name, a)
        if isinstance(operands, Throw):
            return operands
        if UPLO.upper() not in ("L", "U"):
            return Throw(ValueError, "UPLO argument must be 'L' or 'U'")
        return Call(function if a.type.ndim == 2 else stack, *operands, Const(k.Bool, UPLO.upper() == "U"))

    return found


# -- general matrices

def check_finite(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if not np.isfinite(a[i, j]):
                raise LinAlgError("Array must not contain infs or NaNs")


@unvectorised
def eigen_complex(work, w, v, letters):
    n = len(work)
    worked(n * n * n)
    query, reals = np.empty(1, work.dtype), np.empty(max(1, 2 * n), np.float64)
    BLAS(n, work, n, w, v, n, v, n, query, -1, reals, name="geev", letters=letters, result="info")
    space = work_space(query)
    info = BLAS(n, work, n, w, v, n, v, n, space, len(space), reals, name="geev", letters=letters, result="info")
    if info != 0:
        raise LinAlgError("Eigenvalues did not converge")


@unvectorised
def eigen_real(work, real, imag, v, letters):
    n = len(work)
    worked(n * n * n)
    query = np.empty(1, work.dtype)
    BLAS(n, work, n, real, imag, v, n, v, n, query, -1, name="geev", letters=letters, result="info")
    space = work_space(query)
    info = BLAS(n, work, n, real, imag, v, n, v, n, space, len(space), name="geev", letters=letters, result="info")
    if info != 0:
        raise LinAlgError("Eigenvalues did not converge")


def complex_pair(real, imag):
    w = np.empty(len(real), np.complex128)
    for i in range(len(real)):
        w[i] = complex(real[i], imag[i])
    return w


def complex_vectors(v, imag):
    """Complex eigenvectors from LAPACK's real ones: those of a conjugate pair are in two columns, the real and the
    imaginary part."""
    n = len(v)
    full = np.empty((n, n), np.complex128)
    j = 0
    while j < n:
        if imag[j] != 0 and j + 1 < n:
            for i in range(n):
                full[i, j] = complex(v[j, i], v[j + 1, i])
                full[i, j + 1] = complex(v[j, i], -v[j + 1, i])
            j += 2
        else:
            for i in range(n):
                full[i, j] = complex(v[j, i], 0.0)
            j += 1
    return full


def eig(a, single):
    check_square(a)
    check_finite(a)
    w, v = general_parts(a)
    if a.dtype.kind != "c" and not ALWAYS_COMPLEX and all_real(w):
        return EigResult(narrowed(real_parts(w), single), narrowed(real_parts(v), single))
    return EigResult(narrowed(w, single), narrowed(v, single))


def eigvals(a, single):
    check_square(a)
    check_finite(a)
    w = general_values(a)
    if a.dtype.kind != "c" and not ALWAYS_COMPLEX and all_real(w):
        return narrowed(real_parts(w), single)
    return narrowed(w, single)


def eigvals_real(a):
    """The real and the imaginary parts of the eigenvalues of an array of floats."""
    n = a.shape[0]
    real, imag = np.empty(n, a.dtype), np.empty(n, a.dtype)
    if n > 0:
        eigen_real(columns(a), real, imag, np.empty((1, 1), a.dtype), "NN")
    return real, imag


def check_finite_stack(a):
    if a.ndim == 2:
        check_finite(a)
    else:
        for i in range(len(a)):
            check_finite_stack(a[i])


@unvectorised
def general_parts(a):
    """Eigenvalues and eigenvectors as complex numbers, even if all are real."""
    n = a.shape[0]
    work, v = columns(a), np.empty((n, n), a.dtype)
    if a.dtype.kind == "c":
        w, vectors = np.empty(n, a.dtype), np.empty((n, n), a.dtype)
        if n > 0:
            eigen_complex(work, w, v, "NV")
        put_columns(vectors, v)
        return w, vectors
    real, imag = np.empty(n, a.dtype), np.empty(n, a.dtype)
    if n > 0:
        eigen_real(work, real, imag, v, "NV")
    return complex_pair(real, imag), complex_vectors(v, imag)


@unvectorised
def general_values(a):
    """The eigenvalues as complex numbers, even if all are real."""
    if a.dtype.kind == "c":
        w = np.empty(a.shape[0], a.dtype)
        if len(w) > 0:
            eigen_complex(columns(a), w, np.empty((1, 1), a.dtype), "NN")
        return w
    real, imag = eigvals_real(a)
    return complex_pair(real, imag)


def general_parts_of(a, option):
    return general_parts(a)


def general_values_of(a, option):
    return general_values(a)


def real_parts(z):
    x = np.empty(z.shape, np.float64)
    copy_real(x, z)
    return x


def copy_real(x, z):
    for i in range(len(z)):
        if z.ndim == 1:
            x[i] = z[i].real
        else:
            copy_real(x[i], z[i])


def all_real(w):
    for i in range(len(w)):
        if w.ndim == 1:
            if w[i].imag != 0:
                return False
        elif not all_real(w[i]):
            return False
    return True


def eig_stack(a, single):
    check_square(a)
    check_finite_stack(a)
    w, v = np.empty(a.shape[:-1], np.complex128), np.empty(a.shape, np.complex128)
    over_matrices((w, v), a, general_parts_of, None)
    if a.dtype.kind != "c" and not ALWAYS_COMPLEX and all_real(w):
        return EigResult(narrowed(real_parts(w), single), narrowed(real_parts(v), single))
    return EigResult(narrowed(w, single), narrowed(v, single))


def eigvals_stack(a, single):
    check_square(a)
    check_finite_stack(a)
    w = np.empty(a.shape[:-1], np.complex128)
    over_matrices(w, a, general_values_of, None)
    if a.dtype.kind != "c" and not ALWAYS_COMPLEX and all_real(w):
        return narrowed(real_parts(w), single)
    return narrowed(w, single)


def _general(name, function, stack):
    @rule(f"np.linalg.{name}")
    def found(a):
        operands = matrices(name, a)
        if isinstance(operands, Throw):
            return operands
        return Call(function if a.type.ndim == 2 else stack, *operands)

    return found


by_value("np.linalg.rules", eigen_lower, eigen_upper, eigenvalues_lower, eigenvalues_upper)
by_value("np.linalg.rules", general_parts, general_values, of_complex=True)

CALLS = {
    np.linalg.eigh: _symmetric("eigh", eigh, eigh_stack),
    np.linalg.eigvalsh: _symmetric("eigvalsh", eigvalsh, eigvalsh_stack),
    np.linalg.eig: _general("eig", eig, eig_stack), np.linalg.eigvals: _general("eigvals", eigvals, eigvals_stack),
}
