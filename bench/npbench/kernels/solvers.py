"""Decompositions and solvers."""
import numpy as np

from bench.npbench.kernels.kernel import Kernel


def make_positive_definite(N):
    i, j = np.indices((N, N), dtype=np.float64)
    lower = np.where(j < i, (-j % N) / N + 1, np.where(i == j, 1.0, 0.0))
    return lower @ lower.T


def cholesky(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def make_cholesky(N):
    return (make_positive_definite(N),)


def cholesky2(A):
    A[:] = np.linalg.cholesky(A) + np.triu(A, k=1)


def lu(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]


def ludcmp(A, b):
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1:] @ x[i + 1:]) / A[i, i]
    return x, y


def make_ludcmp(N):
    return make_positive_definite(N), np.arange(1, N + 1) / N / 2.0 + 4.0


def trisolv(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def make_trisolv(N):
    i, j = np.indices((N, N), dtype=np.float64)
    return (i + N - j + 1) * 2 / N, np.full(N, -999.0), np.arange(N, dtype=np.float64)


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def make_durbin(N):
    return (N + 1 - np.arange(N, dtype=np.float64),)


def gramschmidt(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def make_gramschmidt(M, N):
    return (np.random.default_rng(42).random((M, N)),)


KERNELS = (
    Kernel(cholesky, make_cholesky, dict(N=100), dict(N=7), ("A",)),
    Kernel(cholesky2, make_cholesky, dict(N=1000), dict(N=7), ("A",)),
    Kernel(lu, make_cholesky, dict(N=60), dict(N=7), ("A",)),
    Kernel(ludcmp, make_ludcmp, dict(N=60), dict(N=7), ("A",)),
    Kernel(trisolv, make_trisolv, dict(N=2000), dict(N=7), ("x",)),
    Kernel(durbin, make_durbin, dict(N=1000), dict(N=7)),
    Kernel(gramschmidt, make_gramschmidt, dict(M=70, N=60), dict(M=7, N=5), ("A",)),
)
