"""Products of matrices and vectors."""
import numpy as np

from bench.npbench.kernels.kernel import Kernel


def grid(shape, entry):
    """float64 array whose entry at (i, j, ...) is entry(i, j, ...)."""
    return np.asarray(entry(*np.indices(shape, dtype=np.float64)), dtype=np.float64)


ALPHA, BETA = np.float64(1.5), np.float64(1.2)


def atax(A, x):
    return (A @ x) @ A


def make_atax(M, N):
    return grid((M, N), lambda i, j: ((i + j) % N) / (5 * M)), grid((N,), lambda i: 1 + i / N)


def bicg(A, p, r):
    return r @ A, A @ p


def make_bicg(M, N):
    return (grid((N, M), lambda i, j: (i * (j + 1) % N) / N), grid((M,), lambda i: (i % M) / M),
            grid((N,), lambda i: (i % N) / N))


def doitgen(NR, NQ, NP, A, C4):
    A[:] = np.reshape(np.reshape(A, (NR, NQ, 1, NP)) @ C4, (NR, NQ, NP))


def make_doitgen(NR, NQ, NP):
    return (NR, NQ, NP, grid((NR, NQ, NP), lambda i, j, k: ((i * j + k) % NP) / NP),
            grid((NP, NP), lambda i, j: (i * j % NP) / NP))


def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


def make_gemm(NI, NJ, NK):
    return (ALPHA, BETA, grid((NI, NJ), lambda i, j: ((i * j + 1) % NI) / NI),
            grid((NI, NK), lambda i, k: (i * (k + 1) % NK) / NK), grid((NK, NJ), lambda k, j: (k * (j + 2) % NJ) / NJ))


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


def make_gemver(N):
    u1 = grid((N,), lambda i: i)
    ramp = (u1 + 1) / N
    A = grid((N, N), lambda i, j: (i * j % N) / N)
    return ALPHA, BETA, A, u1, ramp / 4, ramp / 2, ramp / 6, np.zeros(N), np.zeros(N), ramp / 8, ramp / 9


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


def make_gesummv(N):
    return (ALPHA, BETA, grid((N, N), lambda i, j: ((i * j + 1) % N) / N),
            grid((N, N), lambda i, j: ((i * j + 2) % N) / N), grid((N,), lambda i: (i % N) / N))


def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


def make_k2mm(NI, NJ, NK, NL):
    return (ALPHA, BETA, grid((NI, NK), lambda i, j: ((i * j + 1) % NI) / NI),
            grid((NK, NJ), lambda i, j: (i * (j + 1) % NJ) / NJ),
            grid((NJ, NL), lambda i, j: ((i * (j + 3) + 1) % NL) / NL),
            grid((NI, NL), lambda i, j: (i * (j + 2) % NK) / NK))


def k3mm(A, B, C, D):
    return A @ B @ C @ D


def make_k3mm(NI, NJ, NK, NL, NM):
    return (grid((NI, NK), lambda i, j: ((i * j + 1) % NI) / (5 * NI)),
            grid((NK, NJ), lambda i, j: ((i * (j + 1) + 2) % NJ) / (5 * NJ)),
            grid((NJ, NM), lambda i, j: (i * (j + 3) % NL) / (5 * NL)),
            grid((NM, NL), lambda i, j: ((i * (j + 2) + 2) % NK) / (5 * NK)))


def mvt(x1, x2, y_1, y_2, A):
    x1 += A @ y_1
    x2 += y_2 @ A


def make_mvt(N):
    i = np.arange(N, dtype=np.float64)
    return (i / N, (i + 1) % N / N, (i + 3) % N / N, (i + 4) % N / N, grid((N, N), lambda i, j: (i * j % N) / N))


def symm(alpha, beta, C, A, B):
    below = np.empty((C.shape[1],), dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            below[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * below


def make_symm(M, N):
    A = grid((M, M), lambda i, j: np.where(j <= i, (i + j) % 100 / M, -999.0))
    return (ALPHA, BETA, grid((M, N), lambda i, j: (i + j) % 100 / M), A,
            grid((M, N), lambda i, j: (N + i - j) % 100 / M))


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, :i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, :i + 1] += alpha * A[i, k] * A[:i + 1, k]


def make_syrk(M, N):
    return (ALPHA, BETA, grid((N, N), lambda i, j: ((i * j + 2) % N) / M),
            grid((N, M), lambda i, j: ((i * j + 1) % N) / N))


def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, :i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, :i + 1] += A[:i + 1, k] * alpha * B[i, k] + B[:i + 1, k] * alpha * A[i, k]


def make_syr2k(M, N):
    return (ALPHA, BETA, grid((N, N), lambda i, j: ((i * j + 3) % N) / M),
            grid((N, M), lambda i, j: ((i * j + 1) % N) / N), grid((N, M), lambda i, j: ((i * j + 2) % M) / M))


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1:, i], B[i + 1:, j])
    B *= alpha


def make_trmm(M, N):
    A = grid((M, M), lambda i, j: np.where(i == j, 1.0, (i * j % M) / M))
    return ALPHA, A, grid((M, N), lambda i, j: ((N + i - j) % N) / N)


KERNELS = (
    Kernel(atax, make_atax, dict(M=4000, N=5000), dict(M=7, N=5)),
    Kernel(bicg, make_bicg, dict(M=4000, N=5000), dict(M=7, N=5)),
    Kernel(doitgen, make_doitgen, dict(NR=60, NQ=60, NP=128), dict(NR=3, NQ=4, NP=5), ("A",)),
    Kernel(gemm, make_gemm, dict(NI=1000, NJ=1100, NK=1200), dict(NI=5, NJ=6, NK=7), ("C",)),
    Kernel(gemver, make_gemver, dict(N=1000), dict(N=6), ("A", "w", "x")),
    Kernel(gesummv, make_gesummv, dict(N=2000), dict(N=6)),
    Kernel(k2mm, make_k2mm, dict(NI=800, NJ=850, NK=900, NL=950), dict(NI=4, NJ=5, NK=6, NL=7), ("D",)),
    Kernel(k3mm, make_k3mm, dict(NI=800, NJ=850, NK=900, NL=950, NM=1000), dict(NI=4, NJ=5, NK=6, NL=7, NM=8)),
    Kernel(mvt, make_mvt, dict(N=5500), dict(N=6), ("x1", "x2")),
    Kernel(symm, make_symm, dict(M=40, N=50), dict(M=5, N=6), ("C",)),
    Kernel(syrk, make_syrk, dict(M=50, N=70), dict(M=5, N=6), ("C",)),
    Kernel(syr2k, make_syr2k, dict(M=35, N=50), dict(M=5, N=6), ("C",)),
    Kernel(trmm, make_trmm, dict(M=65, N=80), dict(M=5, N=6), ("B",)),
)
