"""Stencils on grids of one to three dimensions."""
import numpy as np

from bench.npbench.kernels.kernel import Kernel


def jacobi_1d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


def make_jacobi_1d(TSTEPS, N):
    i = np.arange(N, dtype=np.float64)
    return TSTEPS, (i + 2) / N, (i + 3) / N


def jacobi_2d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def make_jacobi_2d(TSTEPS, N):
    i, j = np.indices((N, N), dtype=np.float64)
    return TSTEPS, i * (j + 2) / N, i * (j + 3) / N


def heat_3d(TSTEPS, A, B):
    for t in range(1, TSTEPS):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, 0:-2])
            + A[1:-1, 1:-1, 1:-1])
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, 0:-2])
            + B[1:-1, 1:-1, 1:-1])


def make_heat_3d(TSTEPS, N):
    i, j, k = np.indices((N, N, N), dtype=np.float64)
    A = (i + j + (N - k)) * 10 / N
    return TSTEPS, A, A.copy()


def fdtd_2d(TMAX, ex, ey, hz, source):
    for t in range(TMAX):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def make_fdtd_2d(TMAX, NX, NY):
    i, j = np.indices((NX, NY), dtype=np.float64)
    return TMAX, i * (j + 1) / NX, i * (j + 2) / NY, i * (j + 3) / NX, np.arange(TMAX, dtype=np.float64)


def seidel_2d(TSTEPS, N, A):
    for t in range(0, TSTEPS - 1):
        for i in range(1, N - 1):
            A[i, 1:-1] += (A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:]
                           + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:])
            for j in range(1, N - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


def make_seidel_2d(TSTEPS, N):
    i, j = np.indices((N, N), dtype=np.float64)
    return TSTEPS, N, (i * (j + 2) + 2) / N


def adi(TSTEPS, N, u):
    """Alternating directions: each half step solves tridiagonal systems along one axis."""
    v = np.empty(u.shape, dtype=u.dtype)
    p = np.empty(u.shape, dtype=u.dtype)
    q = np.empty(u.shape, dtype=u.dtype)
    dx = 1.0 / N
    dy = 1.0 / N
    dt = 1.0 / TSTEPS
    mul1 = 2.0 * dt / (dx * dx)
    mul2 = 1.0 * dt / (dy * dy)
    a = -mul1 / 2.0
    b = 1.0 + mul2
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for t in range(1, TSTEPS + 1):
        v[0, 1:N - 1] = 1.0
        p[1:N - 1, 0] = 0.0
        q[1:N - 1, 0] = v[0, 1:N - 1]
        for j in range(1, N - 1):
            p[1:N - 1, j] = -c / (a * p[1:N - 1, j - 1] + b)
            q[1:N - 1, j] = ((-d * u[j, 0:N - 2] + (1.0 + 2.0 * d) * u[j, 1:N - 1] - f * u[j, 2:N]
                              - a * q[1:N - 1, j - 1]) / (a * p[1:N - 1, j - 1] + b))
        v[N - 1, 1:N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            v[j, 1:N - 1] = p[1:N - 1, j] * v[j + 1, 1:N - 1] + q[1:N - 1, j]
        u[1:N - 1, 0] = 1.0
        p[1:N - 1, 0] = 0.0
        q[1:N - 1, 0] = u[1:N - 1, 0]
        for j in range(1, N - 1):
            p[1:N - 1, j] = -f / (d * p[1:N - 1, j - 1] + e)
            q[1:N - 1, j] = ((-a * v[0:N - 2, j] + (1.0 + 2.0 * a) * v[1:N - 1, j] - c * v[2:N, j]
                              - d * q[1:N - 1, j - 1]) / (d * p[1:N - 1, j - 1] + e))
        u[1:N - 1, N - 1] = 1.0
        for j in range(N - 2, 0, -1):
            u[1:N - 1, j] = p[1:N - 1, j] * u[1:N - 1, j + 1] + q[1:N - 1, j]
    return u


def make_adi(TSTEPS, N):
    i, j = np.indices((N, N), dtype=np.float64)
    return TSTEPS, N, (i + N - j) / N


KERNELS = (
    Kernel(jacobi_1d, make_jacobi_1d, dict(TSTEPS=800, N=3200), dict(TSTEPS=4, N=20), ("A", "B")),
    Kernel(jacobi_2d, make_jacobi_2d, dict(TSTEPS=50, N=150), dict(TSTEPS=4, N=9), ("A", "B")),
    Kernel(heat_3d, make_heat_3d, dict(TSTEPS=25, N=25), dict(TSTEPS=3, N=6), ("A", "B")),
    Kernel(fdtd_2d, make_fdtd_2d, dict(TMAX=20, NX=200, NY=220), dict(TMAX=3, NX=6, NY=7), ("ex", "ey", "hz")),
    Kernel(seidel_2d, make_seidel_2d, dict(TSTEPS=8, N=50), dict(TSTEPS=3, N=8), ("A",)),
    Kernel(adi, make_adi, dict(TSTEPS=5, N=100), dict(TSTEPS=2, N=8), ("u",)),
)
