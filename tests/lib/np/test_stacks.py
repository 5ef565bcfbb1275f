"""np.linalg over stacks of matrices, against NumPy."""
import numpy as np
import pytest
from tests.lib.np.closely import check

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


# The products and LAPACK's own sums are added in another order, and condition numbers here reach 100.
TOLERANCES = {"f": 1e-4, "F": 1e-4, "d": 1e-11, "D": 1e-11}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    for args in calls:
        check(function, *args, tolerances=TOLERANCES)
