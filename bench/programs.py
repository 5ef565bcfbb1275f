# ruff: noqa: F821
"""Scalar and index programs. `njit` is each contender's own decorator, put there by bench.peers.load.

CASES: name -> (function, makes its arguments from a random generator).
"""
import math

import numpy as np


@njit
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@njit
def collatz(limit):
    longest = 0
    start = 0
    for i in range(1, limit):
        n = i
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            longest = steps
            start = i
    return start


@njit
def sieve(n):
    composite = np.zeros(n + 1, np.bool_)
    count = 0
    for i in range(2, n + 1):
        if not composite[i]:
            count += 1
            for k in range(i * i, n + 1, i):
                composite[k] = True
    return count


@njit
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@njit
def gcd_sum(n):
    total = 0
    for i in range(1, n):
        for j in range(1, n):
            total += gcd(i, j)
    return total


@njit
def mandelbrot(size, limit):
    total = 0
    for row in range(size):
        cy = 2.25 * row / size - 1.125
        for column in range(size):
            cx = 3.0 * column / size - 2.2
            x = 0.0
            y = 0.0
            for n in range(limit):
                xx = x * x
                yy = y * y
                if xx + yy > 4.0:
                    break
                y = 2.0 * x * y + cy
                x = xx - yy + cx
                total += 1
    return total


@njit
def nbody(position, velocity, mass, steps):
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                square = dx * dx + dy * dy + dz * dz + 0.01
                pull = 0.001 / (square * math.sqrt(square))
                velocity[i, 0] -= dx * mass[j] * pull
                velocity[i, 1] -= dy * mass[j] * pull
                velocity[i, 2] -= dz * mass[j] * pull
                velocity[j, 0] += dx * mass[i] * pull
                velocity[j, 1] += dy * mass[i] * pull
                velocity[j, 2] += dz * mass[i] * pull
        for i in range(n):
            for k in range(3):
                position[i, k] += 0.001 * velocity[i, k]


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
            x = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += x * b[k, j]


@njit
def jacobi_2d(a, b, rounds):
    for _ in range(rounds):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j]


@njit
def prefix_sum(out, a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        out[i] = total


@njit
def histogram(counts, values):
    for i in range(len(values)):
        counts[values[i]] += 1


@njit
def binary_search(places, table, queries):
    for i in range(len(queries)):
        low = 0
        high = len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < queries[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low


@njit
def bubble_sort(a):
    for end in range(len(a) - 1, 0, -1):
        for i in range(end):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]


@njit
def quick_sort(a, low, high):
    while low < high:
        pivot = a[(low + high) // 2]
        i = low
        j = high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        quick_sort(a, low, j)
        low = i


@njit
def edit_distance(a, b):
    row = np.empty(len(b) + 1, np.int64)
    for j in range(len(row)):
        row[j] = j
    for i in range(len(a)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            cost = diagonal if a[i] == b[j] else diagonal + 1
            diagonal = row[j + 1]
            row[j + 1] = min(cost, diagonal + 1, row[j] + 1)
    return row[len(b)]


@njit
def monte_carlo_pi(n):
    state = 12345
    hits = 0
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2147483648
        x = state / 2147483648.0
        state = (state * 1103515245 + 12345) % 2147483648
        y = state / 2147483648.0
        if x * x + y * y < 1.0:
            hits += 1
    return 4.0 * hits / n


@njit
def floyd_warshall(distance):
    n = distance.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = distance[i, k] + distance[k, j]
                if through < distance[i, j]:
                    distance[i, j] = through


@njit
def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@njit
def axpy(out, x, a, b):
    for i in range(len(a)):
        out[i] = x * a[i] + b[i]


CASES = {
    "fib": (fib, lambda r: (25,)),
    "collatz": (collatz, lambda r: (10_000,)),
    "sieve": (sieve, lambda r: (300_000,)),
    "gcd_sum": (gcd_sum, lambda r: (300,)),
    "mandelbrot": (mandelbrot, lambda r: (100, 100)),
    "nbody": (nbody, lambda r: (r.normal(size=(5, 3)), r.normal(size=(5, 3)), r.random(5), 2_000)),
    "matmul_ijk": (matmul_ijk, lambda r: (np.zeros((80, 80)), r.random((80, 80)), r.random((80, 80)))),
    "matmul_ikj": (matmul_ikj, lambda r: (np.zeros((96, 96)), r.random((96, 96)), r.random((96, 96)))),
    "jacobi_2d": (jacobi_2d, lambda r: (r.random((120, 130)), np.zeros((120, 130)), 10)),
    "prefix_sum": (prefix_sum, lambda r: (np.zeros(200_000), r.random(200_000))),
    "histogram": (histogram, lambda r: (np.zeros(256, np.int64), r.integers(0, 256, 300_000))),
    "binary_search": (binary_search,
                      lambda r: (np.zeros(10_000, np.int64), np.sort(r.random(50_000)), r.random(10_000))),
    "bubble_sort": (bubble_sort, lambda r: (r.random(700),)),
    "quick_sort": (quick_sort, lambda r: (r.random(20_000), 0, 19_999)),
    "edit_distance": (edit_distance, lambda r: (r.integers(0, 4, 600), r.integers(0, 4, 600))),
    "monte_carlo_pi": (monte_carlo_pi, lambda r: (200_000,)),
    "floyd_warshall": (floyd_warshall, lambda r: (r.random((80, 80)),)),
    "dot": (dot, lambda r: (r.random(200_000), r.random(200_000))),
    "axpy": (axpy, lambda r: (np.zeros(20_000), 1.5, r.random(20_000), r.random(20_000))),
}
