"""Grids of indices, diagonals and triangles against NumPy."""
import numpy as np
import pytest
from tests.oracle import agree_on

V, W, A = np.arange(3.0), np.array([5, 7], dtype=np.int8), np.arange(12).reshape(3, 4)

CASES = {
    "meshgrid": (lambda a, b: (np.meshgrid(a, b), np.meshgrid(a, b, indexing="ij"), np.meshgrid(a),
                               np.meshgrid(a, b, a), np.meshgrid()),
                 (V, W), (V[::-1], W[:0]), (V > 1, V)),
    "meshgrid sparse": (lambda a, b: (np.meshgrid(a, b, sparse=True), np.meshgrid(a, b, a, sparse=True, indexing="ij"),
                                      np.meshgrid(a, b, copy=False), np.meshgrid(a, b, copy=False, sparse=True)),
                        (V, W), (A, W)),
    "meshgrid of numbers": (lambda a, x: (np.meshgrid(a, x), np.meshgrid([1, 2], (x, 3.5, x))), (V, 2)),
    "meshgrid wrong": (lambda a: np.meshgrid(a, a, indexing="yx"), (V,)),
    "meshgrid written": (lambda a, b: write(a, b), (V, V[:2])),
    "indices": (lambda n: (np.indices((n, 2)), np.indices((2, n, 1), np.float32), np.indices((n,)),
                           np.indices((n, 2), sparse=True)), (3,), (0,)),
    "diagonals": (lambda n: (np.diag_indices(n), np.diag_indices(n, 3), np.diag_indices(n, ndim=1)), (3,), (0,)),
    "diagonal of": (lambda a: np.diag_indices_from(a), (A[:, :3],), (A,), (V,), (np.zeros((2, 2, 2)),),
                    (np.zeros((2, 2, 3)),)),
    "triangles": (lambda n, k: (np.tril_indices(n), np.tril_indices(n, k), np.triu_indices(n, k),
                                np.triu_indices(n, k, 4), np.tril_indices(n, m=2)),
                  (3, 1), (4, -2), (0, 0), (2, 9), (2, -9)),
    "triangles of": (lambda a: (np.tril_indices_from(a), np.triu_indices_from(a, 1), np.tril_indices_from(a, k=-1)),
                     (A,), (A.T,), (V,)),
    "mask_indices": (lambda n: (np.mask_indices(n, np.triu), np.mask_indices(n, np.tril, 1),
                                np.mask_indices(n, lambda m, k: m[::-1] - np.triu(m), 0)), (3,), (0,)),
    "diagflat": (lambda a: (np.diagflat(a), np.diagflat(a, 1), np.diagflat(a, k=-2), np.diagflat([1, 2]),
                            np.diagflat(a.size)), (V,), (A[:2, ::2],), (W[:0],)),
}


def write(a, b):
    x, y = np.meshgrid(a, b, copy=False)
    y[0, 0] = 9.0
    x, y = np.meshgrid(a, b)
    x[0, 0] = 7.0
    return a, b


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    agree_on(*CASES[name])
