"""Products of stacks of vectors, the names of the array API in np.linalg, equations of tensors, against NumPy."""
import numpy as np
import pytest
from tests.lib.np.closely import check

R = np.random.default_rng(1)
A, B = R.normal(size=(3, 4, 4)), R.normal(size=(2, 3, 4, 4)) + 1j
S, T = R.normal(size=(2, 2, 4, 3)), R.normal(size=(2, 3, 5)).astype(np.float32)
V, W = R.normal(size=(3, 4)), R.normal(size=4) + 1j * R.normal(size=4)
INTS = np.arange(12).reshape(3, 4)
L = np.linalg

CASES = {
    "vecdot": (lambda a, b: np.vecdot(a, b), (V, W), (W, W), (INTS, INTS), (V, V[:, None]), (V, V[:, :3]), (V, 3.0),
               (V, V[:2]), (V > 0, V > 0)),
    "vecdot axis": (lambda a, b: (np.vecdot(a, b, axis=0), L.vecdot(a, b, axis=-2)), (V, V)),
    "vecdot wrong": (lambda a, b: np.vecdot(a, b, axis=2), (V, V)),
    "transpose": (lambda a: (np.matrix_transpose(a), L.matrix_transpose(a)), (A,), (V,)),
    "transpose wrong": (lambda a: np.matrix_transpose(a), (W,)),
    "outer": (lambda a, b: L.outer(a, b), (W, V[0]), (V, W)),
    "diagonal": (lambda a: (L.diagonal(a), L.diagonal(a, offset=1), L.trace(a),
                            L.trace(a, offset=-1, dtype=np.float32)), (A,), (V,)),
    "cross": (lambda a, b: L.cross(a, b), (V[:, :3], V[:, 1:]), (W[:3], W[1:]), (W[:2], W[1:])),
    "cross axis": (lambda a, b: (L.cross(a, b, axis=0), np.cross(a, b, 0, 0, 0), np.cross(a, b, axis=-2),
                                 np.cross(a, b, 0, 0)), (V, V + 1)),
    "cross of lists": (lambda a: (np.cross([0, 0, 1], a), np.cross(a, (1.5, 2, 3)), np.cross([1, 2, 3], [4, 5, 6])),
                       (V,), (V[0],)),
    "cross wrong": (lambda a, b: np.cross(a, b, axisb=2), (V[:, 1:], V[:, 1:])),
    "matmul": (lambda a, b: (L.matmul(a, b), L.tensordot(a, b, axes=1)), (A[0], V.T)),
    "matrix_norm": (lambda a: (L.matrix_norm(a), L.matrix_norm(a, ord=2), L.matrix_norm(a, ord="nuc", keepdims=True),
                               L.matrix_norm(a, ord=-1), L.matrix_norm(a, ord=np.inf),
                               L.matrix_norm(a, ord=1, keepdims=True)), (V,), (T,)),
    "matrix_norm wrong": (lambda a: L.matrix_norm(a), (W,)),
    "norm of a stack": (lambda a: (L.norm(a, axis=(0, 1)), L.norm(a, 2, (0, 2)), L.norm(a, 1, (2, 0)),
                                   L.norm(a, np.inf, (2, 0), True), L.norm(a, -2, (-1, 0)), L.norm(a, keepdims=True)),
                        (A,)),
    "vector_norm": (lambda a: (L.vector_norm(a), L.vector_norm(a, keepdims=True), L.vector_norm(a, ord=1),
                               L.vector_norm(a, axis=0), L.vector_norm(a, axis=-1, keepdims=True, ord=np.inf)), (V,),
                    (W,), (T,)),
    "vector_norm axes": (lambda a: (L.vector_norm(a, axis=(0, 2)), L.vector_norm(a, axis=(0, 1, 2), ord=3),
                                    L.vector_norm(a, axis=(-1, 0), keepdims=True, ord=0)), (A,)),
    "norm of nothing": (lambda a: (L.vector_norm(a, ord=np.inf), L.norm(a, np.inf, 0), L.norm(a, 1), L.norm(a, np.inf),
                                   L.norm(a, 2)), (V[:, :0],)),
    "vector_norm wrong": (lambda a: L.vector_norm(a, axis=3), (A,)),
    "tensorinv": (lambda a: L.tensorinv(a), (R.normal(size=(2, 3, 6)),), (R.normal(size=(2, 3, 7)),),
                  (R.normal(size=(2, 2, 4)).astype(np.float32),)),
    "tensorinv 1": (lambda a: L.tensorinv(a, ind=1), (R.normal(size=(6, 2, 3)),)),
    "tensorinv 0": (lambda a: L.tensorinv(a, ind=0), (R.normal(size=(6, 2, 3)),)),
    "tensorsolve": (lambda a, b: L.tensorsolve(a, b), (R.normal(size=(2, 3, 6)), V[:2, :3]),
                    (R.normal(size=(2, 3, 7)), V[:2, :3])),
    "tensorsolve axes": (lambda a, b: L.tensorsolve(a, b, axes=(1,)), (R.normal(size=(2, 6, 3)), V[:2, :3])),
}
if hasattr(np, "matvec"):  # from NumPy 2.2 on
    CASES["matvec"] = (lambda a, b: np.matvec(a, b), (A, V), (A[0], W), (B, V), (A, W[:3]), (W, W), (A[:2], V),
                       (A[:, :, :3], A[:, :3]))
    CASES["vecmat"] = (lambda a, b: np.vecmat(a, b), (V, A), (W, A[0]), (V, B), (W[:3], A), (W, W), (V, A[:2]))


# The products and LAPACK's own sums are added in another order, and condition numbers here reach 100.
TOLERANCES = {"f": 1e-4, "F": 1e-4, "d": 1e-11, "D": 1e-11}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    for args in calls:
        check(function, *args, tolerances=TOLERANCES)
