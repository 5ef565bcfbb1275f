# ruff: noqa: F821
"""Parallel loops and whole-array statements. `njit` and `prange` are each contender's own.

CASES: name -> (function, makes its arguments from a random generator).
"""
import math

import numpy as np


@njit
def saxpy(out, a, x, y):
    for i in prange(len(x)):
        out[i] = a * x[i] + y[i]


@njit
def total(a):
    s = 0.0
    for i in prange(len(a)):
        s += a[i]
    return s


@njit
def extremes(a):
    low, high = a[0], a[0]
    for i in prange(len(a)):
        low = min(low, a[i])
        high = max(high, a[i])
    return high - low


@njit
def black_scholes(out, s, x, t, r, v):
    for i in prange(len(s)):
        root = v * math.sqrt(t[i])
        d1 = (math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / root
        d2 = d1 - root
        n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
        n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
        out[i] = s[i] * n1 - x[i] * math.exp(-r * t[i]) * n2


@njit
def mandelbrot(out):
    h, w = out.shape
    for i in prange(h):
        for j in range(w):
            cr, ci = -2.0 + 3.0 * j / w, -1.5 + 3.0 * i / h
            zr = zi = 0.0
            n = 0
            while n < 200 and zr * zr + zi * zi < 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            out[i, j] = n


@njit
def matmul(c, a, b):
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@njit
def stencil(b, a):
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@njit
def assignment(label, points, centres):
    for i in prange(points.shape[0]):
        best, at = 1e300, 0
        for k in range(centres.shape[0]):
            d = 0.0
            for j in range(points.shape[1]):
                d += (points[i, j] - centres[k, j]) ** 2
            if d < best:
                best, at = d, k
        label[i] = at


@njit
def column_sums(a):
    s = np.zeros(a.shape[1])
    for i in prange(a.shape[0]):
        s += a[i]
    return s


@njit
def expression(a, b, c):
    return np.sqrt(a * a + b * b) / (1.0 + np.abs(c)) - 0.5 * a


@njit
def small_regions(out, x, repeats):
    for _ in range(repeats):
        for i in prange(len(x)):
            out[i] = 2.0 * x[i] + 1.0


@njit
def histogram(a, bins):
    counts = np.zeros(bins, np.int64)
    for part in prange(64):
        own = np.zeros(bins, np.int64)
        for i in range(part * len(a) // 64, (part + 1) * len(a) // 64):
            own[int(a[i] * bins)] += 1
        counts += own
    return counts


CASES = {
    "saxpy_in_cache": (saxpy, lambda r: (np.zeros(50_000), 1.5, r.random(50_000), r.random(50_000))),
    "saxpy": (saxpy, lambda r: (np.zeros(2_000_000), 1.5, r.random(2_000_000), r.random(2_000_000))),
    "sum": (total, lambda r: (r.random(2_000_000),)),
    "min_and_max": (extremes, lambda r: (r.random(2_000_000),)),
    "black_scholes": (black_scholes, lambda r: (
        np.zeros(200_000), *(r.uniform(10, 50, 200_000) for _ in range(2)), r.uniform(0.2, 2, 200_000), 0.02, 0.3)),
    "mandelbrot": (mandelbrot, lambda r: (np.zeros((300, 300), np.int64),)),
    "matmul": (matmul, lambda r: (np.zeros((300, 300)), r.random((300, 300)), r.random((300, 300)))),
    "stencil": (stencil, lambda r: (np.zeros((1000, 1000)), r.random((1000, 1000)))),
    "k_means_assignment": (assignment,
                           lambda r: (np.zeros(50_000, np.int64), r.random((50_000, 4)), r.random((16, 4)))),
    "column_sums": (column_sums, lambda r: (r.random((100_000, 16)),)),
    "expression": (expression, lambda r: tuple(r.random((700, 700)) for _ in range(3))),
    "histogram": (histogram, lambda r: (r.random(2_000_000), 100)),
    "histogram_of_many": (histogram, lambda r: (r.random(2_000_000), 10_000)),
    "small_regions": (small_regions, lambda r: (np.zeros(1000), r.random(1000), 1000)),
}
