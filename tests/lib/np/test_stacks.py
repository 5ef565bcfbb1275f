"""np.linalg over stacks of matrices, against NumPy."""
import numpy as np
import pytest
from tests.oracle import outcome

from pyjitc import njit

R = np.random.default_rng(1)
A = R.normal(size=(3, 4, 4))
B, C = R.normal(size=(2, 3, 4, 4)) + 1j, R.normal(size=(2, 2, 4, 3))
T = R.normal(size=(2, 3, 5)).astype(np.float32)


def symmetric(a):
    return a + np.conj(np.swapaxes(a, -1, -2))


CASES = {
    "qr": (lambda a: (np.linalg.qr(a), np.linalg.qr(a, "r"), np.linalg.qr(a, "complete")[1], np.linalg.qr(a, "raw")),
           (C,), (T,)),
    "qr of complex": (lambda a: np.linalg.qr(a), (B,)),
    "svd": (lambda a: (np.linalg.svd(a), np.linalg.svd(a, False), np.linalg.svd(a, compute_uv=False),
                       np.linalg.svdvals(a)), (C,), (T,)),
    "eigh": (lambda a: (np.linalg.eigh(a), np.linalg.eigvalsh(a, "U")), (symmetric(A),), (symmetric(B),), (A[:, :3],)),
    "eig": (lambda a: (np.linalg.eig(a), np.linalg.eigvals(a)), (A,), (B,), (symmetric(A),), (A[:, :3],),
            (A + np.inf,)),
    "solve": (lambda a, b: np.linalg.solve(a, b), (A, A[:, :, :2]), (A, A[0, 0]), (A, A[:, :3])),
    "inv": (lambda a: (np.linalg.inv(a), np.linalg.det(a), np.linalg.slogdet(a)), (A,), (A[:, :3],), (A * 0,)),
    "cholesky": (lambda a: np.linalg.cholesky(a), (A @ np.swapaxes(A, -1, -2),), (A - 5.0,)),
    "pinv": (lambda a: (np.linalg.pinv(a), np.linalg.matrix_rank(a)), (C,), (T,)),
    "cond": (lambda a: (np.linalg.cond(a), np.linalg.cond(a, -2)), (A,), (C,)),
    "cond by the inverse": (lambda a: (np.linalg.cond(a, 1), np.linalg.cond(a, "fro")), (A,), (C,), (A * 0,)),
    "power": (lambda a: (np.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, 0), np.linalg.matrix_power(a, -2)),
              (A,), (C,)),
}


def compare(expected, actual):
    if isinstance(expected, tuple):
        assert type(expected) is type(actual) and len(expected) == len(actual)
        for x, y in zip(expected, actual):
            compare(x, y)
        return
    assert type(expected) is type(actual) and expected.dtype == actual.dtype and expected.shape == actual.shape
    # The products and LAPACK's own sums are added in another order, and condition numbers here reach 100.
    eps = 1e-4 if expected.dtype in (np.float32, np.complex64) else 1e-11
    np.testing.assert_allclose(actual, expected, rtol=eps, atol=10 * eps)


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    compiled = njit(function)
    for args in calls:
        expected, actual = outcome(function, args), outcome(compiled, args)
        assert expected[0] == actual[0], (expected, actual)
        if expected[0] == "raises":
            assert type(expected[1]) is type(actual[1]) and repr(expected[1].args) == repr(actual[1].args)
        else:
            compare(expected[1], actual[1])
