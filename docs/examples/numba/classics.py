"""Programs that most introductions have: fractals, sorting, random walks, dynamic programming, simulation, queues."""
import heapq
import math
import random

import numpy as np
from numba import njit, typed, vectorize


@njit
def escape(x, y, most):
    c, z = complex(x, y), 0.0j
    for i in range(most):
        z = z * z + c
        if (z.real * z.real + z.imag * z.imag) >= 4:
            return i
    return most


@njit
def fractal(x0, x1, y0, y1, image, most):
    height, width = image.shape
    for j in range(width):
        for i in range(height):
            image[i, j] = escape(x0 + j * (x1 - x0) / width, y0 + i * (y1 - y0) / height, most)
    return image


@njit
def bubble_sort(x):
    n = x.shape[0]
    for end in range(n, 1, -1):
        for i in range(end - 1):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]


@njit
def monte_carlo_pi(samples):
    random.seed(5)
    inside = 0
    for _ in range(samples):
        x, y = random.random(), random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / samples


@njit
def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i in range(len(a)):
        row = [i + 1]
        for j in range(len(b)):
            row.append(min(previous[j + 1] + 1, row[j] + 1, previous[j] + (a[i] != b[j])))
        previous = row
    return previous[-1]


@njit
def shortest_paths(neighbours, weights, start):
    n = len(neighbours)
    distance = np.full(n, np.inf)
    distance[start] = 0.0
    queue = [(0.0, start)]
    while queue:
        d, i = heapq.heappop(queue)
        if d > distance[i]:
            continue
        for k in range(len(neighbours[i])):
            j = neighbours[i][k]
            if d + weights[i, j] < distance[j]:
                distance[j] = d + weights[i, j]
                heapq.heappush(queue, (distance[j], j))
    return distance


@njit
def heat(u, steps):
    new = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, new = new, u
    return u


@vectorize(["float64(float64, float64, float64, float64, float64)"])
def call_price(stock, strike, t, rate, volatility):
    d1 = (math.log(stock / strike) + (rate + 0.5 * volatility ** 2) * t) / (volatility * math.sqrt(t))
    d2 = d1 - volatility * math.sqrt(t)
    return (stock * 0.5 * math.erfc(-d1 / math.sqrt(2.0))
            - strike * math.exp(-rate * t) * 0.5 * math.erfc(-d2 / math.sqrt(2.0)))


@njit
def kmeans(points, k, rounds):
    centres = points[:k].copy()
    labels = np.zeros(len(points), np.int64)
    for _ in range(rounds):
        for i in range(len(points)):
            labels[i] = np.argmin(((centres - points[i]) ** 2).sum(axis=1))
        for c in range(k):
            chosen = points[labels == c]
            if len(chosen) > 0:
                centres[c] = chosen.sum(axis=0) / len(chosen)
    return centres, labels


@njit
def queens(n, row, columns, up, down):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if not (columns >> c & 1 or up >> (row + c) & 1 or down >> (row - c + n) & 1):
            count += queens(n, row + 1, columns | 1 << c, up | 1 << (row + c), down | 1 << (row - c + n))
    return count


def main():
    image = fractal(-2.0, 1.0, -1.0, 1.0, np.zeros((20, 30), np.uint8), 20)
    assert image[10, 20] == 20 and image[0, 0] <= 1 and 100 < (image == 20).sum() < 200
    x = np.random.RandomState(1).rand(50)
    wanted = np.sort(x)
    bubble_sort(x)
    np.testing.assert_array_equal(x, wanted)
    assert abs(monte_carlo_pi(20000) - math.pi) < 0.1
    assert edit_distance("kitten", "sitting") == 3
    weights = np.array([[0, 1, 4, 0], [0, 0, 2, 6], [0, 0, 0, 3], [0, 0, 0, 0.0]])
    neighbours = typed.List([typed.List(row) for row in ([1, 2], [2, 3], [3], [0])])
    found = shortest_paths(neighbours, weights, 0)
    assert found.tolist() == [0, 1, 3, 6]
    plate = np.zeros((8, 8))
    plate[0] = 100.0
    assert 0 < heat(plate.copy(), 20)[1, 3] < 100
    np.testing.assert_allclose(call_price(100.0, np.array([90.0, 100.0]), 1.0, 0.05, 0.2), [16.69944841, 10.45058357])
    points = np.array([[0.0, 0], [0, 1], [10, 10], [10, 11], [0.5, 0.5], [10.5, 10.5]])
    centres, labels = kmeans(points[::-1].copy(), 2, 5)
    assert len(set(labels.tolist())) == 2 and labels[0] == labels[2] == labels[3]
    assert queens(6, 0, 0, 0, 0) == 4


if __name__ == "__main__":
    main()
