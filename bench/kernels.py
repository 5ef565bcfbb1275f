# ruff: noqa: F821
"""The kernels of the table of bounds-check costs, and loops of checked integer arithmetic. The decorator is a free name
as in bench.programs.

BOUNDS, OVERFLOW: name -> (function, makes its arguments, largest allowed ratio to the unchecked time or None).
"""
import numpy as np

N = 16_384


@njit
def sequential(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


@njit
def axpy(out, a, b, x):
    for i in range(len(a)):
        out[i] = x * a[i] + b[i]


@njit
def stencil(out, a):
    for i in range(1, len(a) - 1):
        out[i] = a[i - 1] + a[i] + a[i + 1]


@njit
def matmul_ijk(c, a, b):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@njit
def matmul_ikj(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            t = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += t * b[k, j]


@njit
def jacobi_2d(out, a):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@njit
def scan(out, a):
    for i in range(1, len(a)):
        out[i] = out[i - 1] + a[i]


@njit
def take(out, a, b):
    for i in range(len(b)):
        out[i] = a[b[i]]


@njit
def histogram(h, b):
    for i in range(len(b)):
        h[b[i]] += 1


BOUNDS = {
    "sequential s += a[i]": (sequential, lambda r: (r.random(N),), 1.05),
    "axpy o[i] = x*a[i] + b[i]": (axpy, lambda r: (np.zeros(N), r.random(N), r.random(N), 1.5), 1.05),
    "stencil a[i-1] + a[i] + a[i+1]": (stencil, lambda r: (np.zeros(N), r.random(N)), 1.05),
    "matmul ijk": (matmul_ijk, lambda r: (np.zeros((64, 64)), r.random((64, 64)), r.random((64, 64))), 1.05),
    "matmul ikj": (matmul_ikj, lambda r: (np.zeros((64, 64)), r.random((64, 64)), r.random((64, 64))), 1.05),
    "jacobi 2-d": (jacobi_2d, lambda r: (np.zeros((128, 130)), r.random((128, 130))), 1.05),
    "scan o[i] = o[i-1] + a[i]": (scan, lambda r: (np.zeros(N), r.random(N)), 1.05),
    "take a[b[i]]": (take, lambda r: (np.zeros(N), r.random(N), r.integers(0, N, N)), 1.15),
    "histogram h[b[i]] += 1": (histogram, lambda r: (np.zeros(256, np.int64), r.integers(0, 256, N)), 1.05),
}


@njit
def polynomial(n):
    total = 0
    for i in range(n):
        total += i * i - 3 * i
    return total


@njit
def collatz(limit):
    total = 0
    for i in range(1, limit):
        n = i
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            total += 1
    return total


@njit
def python_ints(a):
    total = 0
    for i in range(len(a)):
        total += int(a[i])
    return total


OVERFLOW = {
    "sum of i*i - 3*i": (polynomial, lambda r: (50_000,), None),
    "collatz": (collatz, lambda r: (3_000,), None),
    "sum of int(a[i])": (python_ints, lambda r: (r.integers(-1000, 1000, N),), None),
}
