"""np.linalg against NumPy. The same LAPACK routines run on the same numbers, so vectors agree in sign too; the last
places may differ where NumPy passes the matrix in the other order."""
import functools
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.lib.np import closely

from pyjitc import njit

TOLERANCE = {"f": 2e-4, "F": 2e-4, "d": 1e-9, "D": 1e-9}  # conditioning multiplies rounding errors
check = functools.partial(closely.check, tolerances=TOLERANCE, absolute=1)


def array(dtype, *shape):
    random = np.random.default_rng(len(shape) + shape[-1])
    x = random.uniform(-4, 4, shape)
    return (x + 1j * random.uniform(-4, 4, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def positive(dtype, n):
    x = array(dtype, n, n)
    return x @ x.conj().T + np.eye(n, dtype=dtype)


def solve(a, b):
    return np.linalg.solve(a, b)


def inv(a):
    return np.linalg.inv(a)


def det(a):
    return np.linalg.det(a)


def slogdet(a):
    return np.linalg.slogdet(a)


def cholesky(a):
    return np.linalg.cholesky(a)


def cholesky_upper(a):
    return np.linalg.cholesky(a, upper=True)


def qr(a):
    return np.linalg.qr(a)


def qr_complete(a):
    return np.linalg.qr(a, "complete")


def qr_r(a):
    return np.linalg.qr(a, mode="r")


def qr_raw(a):
    return np.linalg.qr(a, mode="raw")


def svd(a):
    return np.linalg.svd(a)


def svd_reduced(a):
    return np.linalg.svd(a, full_matrices=False)


def svd_values(a):
    return np.linalg.svd(a, compute_uv=False), np.linalg.svdvals(a)


def eigh(a):
    return np.linalg.eigh(a)


def eigh_upper(a):
    return np.linalg.eigh(a, UPLO="U")


def eigvalsh(a):
    return np.linalg.eigvalsh(a), np.linalg.eigvalsh(a, "U")


def eig(a):
    return np.linalg.eig(a)


def eigvals(a):
    return np.linalg.eigvals(a)


LAPACK = pytest.mark.skipif(os.environ.get("PYJITC_BLAS") == "none", reason="needs LAPACK")
DTYPES = ["float32", "float64", "complex64", "complex128", "int64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_square(dtype):
    for n in (1, 2, 5, 0):
        a = array(dtype, n, n)
        a[:1, :1] += 9
        check(det, a)
        check(slogdet, a)
        check(inv, a)
        check(solve, a, array(dtype, n))
        check(solve, a, array(dtype, n, 3))


@LAPACK
@pytest.mark.parametrize("dtype", DTYPES)
def test_factors(dtype):
    for m, n in ((5, 3), (3, 5), (4, 4), (1, 1), (0, 3)):
        a = array(dtype, m, n)
        for function in (qr, qr_complete, svd, svd_values):
            check(function, a)
    if dtype in ("float64", "complex128"):
        for function in (qr_r, qr_raw, svd_reduced):
            check(function, array(dtype, 5, 3))
            check(function, array(dtype, 3, 5))


@LAPACK
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues(dtype):
    for n in (1, 4, 0):
        a = positive(dtype, n)
        check(eigh, a)
        check(eigvalsh, array(dtype, n, n))
        if dtype != "int64":
            check(eigh_upper, array(dtype, n, n))
        check(eig, array(dtype, n, n))
        check(eig, a)
        check(eigvals, array(dtype, n, n))


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype):
    for n in (1, 4, 0):
        check(cholesky, positive(dtype, n))
        check(cholesky_upper, positive(dtype, n))
    check(cholesky, -positive(dtype, 3))


def test_layouts():
    a = array("float64", 6, 6)
    for x in (np.asfortranarray(a), a[::2, ::2], a[::-1, ::-1], np.asfortranarray(a)[:3, 1:4]):
        check(inv, x)
        check(solve, x, a[:len(x)].T[:, :len(x)].T)
        check(det, x)


def test_stacks():
    a = array("float64", 2, 3, 4, 4)
    for function in (det, inv, slogdet):
        check(function, a)
        check(function, a[0])
    check(cholesky, np.stack([positive("float64", 3), positive("float64", 3)]))
    check(solve, a, array("float64", 4))
    check(solve, a, array("float64", 3, 4, 2))
    check(solve, a[0, 0], array("float64", 3, 4, 2))
    check(solve, a, array("float64", 2, 4, 2))


def test_mixed():
    check(solve, array("float32", 3, 3), array("int8", 3))
    check(solve, array("float32", 3, 3), array("complex64", 3))
    check(solve, array("int32", 3, 3), array("float32", 3, 2))


def test_errors():
    for function in (inv, det, slogdet, cholesky):
        check(function, array("float64", 2, 3))
        check(function, array("float64", 3))
    for function in (inv, det, slogdet):
        check(function, np.ones((3, 3)))
    check(solve, np.ones((2, 2)), np.ones(2))
    check(solve, array("float64", 2, 2), np.ones(3))
    check(solve, array("float64", 2, 2), np.ones((3, 2)))
    with pytest.raises(TypeError, match="array type float16 is unsupported in linalg"):
        njit(inv)(np.ones((2, 2), np.float16))


@LAPACK
def test_factors_of_what_has_none():
    for function in (qr, svd, eigh, eig, eigvals):
        check(function, array("float64", 3))
        if function not in (qr, svd):
            check(function, array("float64", 2, 3))
    check(svd, np.full((2, 2), np.nan))
    check(eigh, np.full((2, 2), np.nan))
    check(eig, np.full((2, 2), np.nan))


def caught(a):
    try:
        return np.linalg.inv(a)[0, 0]
    except np.linalg.LinAlgError:
        return np.float64(-1)


def test_an_error_is_caught():
    check(caught, np.ones((2, 2)))
    check(caught, np.eye(2))


@LAPACK
def test_without_lapack():
    """The same tests with the package's own loops in place of LAPACK."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k",
                           "square and float64 or cholesky and complex128 or errors", __file__],
                          env={**os.environ, "PYJITC_BLAS": "none"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
