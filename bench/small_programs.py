# ruff: noqa: F821
"""Programs whose work is a short array, or a few operations of scalars, in a loop. `njit` is each contender's own
decorator, as in bench.programs.

CASES: name -> (function, makes its arguments from a random generator). LAST_BITS: the programs whose results may differ
from NumPy's in the last bits, by deviations that docs/semantics.md lists.
"""
import math

import numpy as np

ROWS = 1_000


# reductions of rows and columns

@njit
def row_sum(points):
    total = 0.0
    for i in range(len(points)):
        total += points[i].sum()
    return total


@njit
def row_mean(points, out):
    for i in range(len(points)):
        out[i] = points[i].mean()


@njit
def row_std(points, out):
    for i in range(len(points)):
        out[i] = points[i].std()


@njit
def row_max_min(points, out):
    for i in range(len(points)):
        out[i] = points[i].max() - points[i].min()


@njit
def row_sum_int(counts):
    most = 0
    for i in range(len(counts)):
        n = np.sum(counts[i])
        if n > most:
            most = n
    return most


@njit
def row_prod(sizes, out):
    for i in range(len(sizes)):
        out[i] = np.prod(sizes[i])


@njit
def column_sum(table, out):
    for j in range(table.shape[1]):
        out[j] = table[:, j].sum()


@njit
def column_argmax(table, out):
    for j in range(table.shape[1]):
        out[j] = np.argmax(table[:, j])


@njit
def nearest_centre(points, centres, labels):
    distances = np.empty(len(centres))
    for i in range(len(points)):
        for k in range(len(centres)):
            dx = points[i, 0] - centres[k, 0]
            dy = points[i, 1] - centres[k, 1]
            distances[k] = dx * dx + dy * dy
        labels[i] = distances.argmin()


@njit
def squared_distances(points, centre, out):
    for i in range(len(points)):
        out[i] = np.sum((points[i] - centre) ** 2)


@njit
def row_any_all(flags):
    some = 0
    every = 0
    for i in range(len(flags)):
        if flags[i].any():
            some += 1
        if np.all(flags[i]):
            every += 1
    return some, every


@njit
def rows_in_box(points, low, high):
    inside = 0
    for i in range(len(points)):
        if np.all(points[i] >= low) and np.all(points[i] <= high):
            inside += 1
    return inside


@njit
def moving_mean(series, out):
    for i in range(2, len(series) - 2):
        out[i] = series[i - 2:i + 3].mean()


@njit
def window_max(series, out):
    for i in range(1, len(series) - 1):
        out[i] = np.max(series[i - 1:i + 2])


@njit
def row_norm(points, out):
    for i in range(len(points)):
        out[i] = np.linalg.norm(points[i])


@njit
def row_dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += np.dot(a[i], b[i])
    return total


@njit
def softmax_rows(scores, out):
    for i in range(len(scores)):
        e = np.exp(scores[i] - scores[i].max())
        out[i] = e / e.sum()


# stores

@njit
def store_tuple(queue, height, width):
    n = 0
    for y in range(height):
        for x in range(width):
            queue[n] = (y, x)
            n += 1
    return n


@njit
def flood_fill(walls, queue):
    grid = walls.copy()
    y = grid.shape[0] // 2
    x = grid.shape[1] // 2
    queue[0] = (y, x)
    head = 0
    tail = 1
    grid[y, x] = 2
    while head < tail:
        y, x = queue[head]
        head += 1
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            v = y + dy
            u = x + dx
            if 0 <= v < grid.shape[0] and 0 <= u < grid.shape[1] and grid[v, u] == 0:
                grid[v, u] = 2
                queue[tail] = (v, u)
                tail += 1
    return tail


@njit
def store_row(table, row):
    for i in range(len(table)):
        table[i] = row


@njit
def store_slice(table, rows):
    for i in range(len(table)):
        table[i, :] = rows[i % len(rows)]


@njit
def set_pixels(image, red, green, blue):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            image[y, x] = (red, green, blue)


@njit
def reset_rows(table, wrong):
    for i in range(len(table)):
        if wrong[i]:
            table[i] = 0.0


@njit
def add_to_rows(table, step):
    for i in range(len(table)):
        table[i] += step


@njit
def scale_rows(table, factors, out):
    for i in range(len(table)):
        out[i, :] = table[i, :] * factors[i]


@njit
def swap_rows(table):
    n = len(table)
    for i in range(n // 2):
        kept = table[i].copy()
        table[i] = table[n - 1 - i]
        table[n - 1 - i] = kept


@njit
def shift_window(history, values):
    for v in values:
        history[1:] = history[:-1].copy()
        history[0] = v
    return history[0]


@njit
def move_particles(positions, velocities, dt):
    for i in range(len(positions)):
        positions[i] += velocities[i] * dt


# iteration

@njit
def sum_flat(grid):
    total = 0.0
    for v in grid.flat:
        total += v
    return total


@njit
def largest_by_ndenumerate(grid):
    best = -np.inf
    place = (0, 0)
    for at, v in np.ndenumerate(grid):
        if v > best:
            best = v
            place = at
    return place


@njit
def count_by_ndindex(grid):
    n = 0
    for y, x in np.ndindex(grid.shape):
        if grid[y, x] > 0.5:
            n += 1
    return n


@njit
def iterate_rows(points):
    total = 0.0
    for p in points:
        total += p[0] * p[1]
    return total


@njit
def unpack_rows(points):
    total = 0.0
    for x, y, z in points:
        total += x * y - z
    return total


# small arrays made in a loop

@njit
def make_zeros(values):
    total = 0.0
    for i in range(len(values)):
        bins = np.zeros(4)
        bins[i % 4] = values[i]
        total += bins[0] - bins[3]
    return total


@njit
def make_empty(values, out):
    for i in range(len(values)):
        window = np.empty(3)
        window[0] = values[i - 1]
        window[1] = values[i]
        window[2] = values[(i + 1) % len(values)]
        out[i] = window.max()


@njit
def make_ones(values):
    total = 0.0
    for i in range(len(values)):
        weights = np.ones(5)
        weights[i % 5] = values[i]
        for w in weights:
            total += w
    return total


@njit
def make_from_list(angles, out):
    for i in range(len(angles)):
        p = np.array([math.cos(angles[i]), math.sin(angles[i])])
        out[i] = p * 2.0


@njit
def centre_of(points):
    centre = np.zeros(3)
    for p in points:
        centre += p
    return centre / len(points)


@njit
def rotate(points, angle):
    for i in range(len(points)):
        c = math.cos(angle * i)
        s = math.sin(angle * i)
        turn = np.array([[c, -s], [s, c]])
        points[i] = turn @ points[i]


@njit
def small_products(a, b, out):
    for i in range(len(a)):
        out[i] = a[i] @ b[i]


@njit
def cross_products(a, b, out):
    for i in range(len(a)):
        out[i] = np.cross(a[i], b[i])


@njit
def clip_rows(points, out):
    for i in range(len(points)):
        out[i] = np.clip(points[i], 0.25, 0.75)


@njit
def where_rows(points, out):
    for i in range(len(points)):
        out[i] = np.where(points[i] > 0.5, points[i], 0.0)


@njit
def join_rows(a, b, out):
    for i in range(len(a)):
        out[i] = np.concatenate((a[i], b[i]))


@njit
def sort_rows(points, out):
    for i in range(len(points)):
        out[i] = np.sort(points[i])


@njit
def median_of_window(series, out):
    for i in range(2, len(series) - 2):
        out[i] = np.sort(series[i - 2:i + 3])[2]


@njit
def outer_products(a, total):
    for i in range(len(a)):
        total += np.outer(a[i], a[i])


@njit
def solve_systems(matrices, sides, out):
    for i in range(len(matrices)):
        out[i] = np.linalg.solve(matrices[i], sides[i])


@njit
def determinants(matrices, out):
    for i in range(len(matrices)):
        out[i] = np.linalg.det(matrices[i])


# random numbers and conversions

@njit
def random_integers(n):
    low = 100
    high = 0
    for _ in range(n):
        x = np.random.randint(0, 100)
        low = min(low, x)
        high = max(high, x)
    return low >= 0 and high < 100


@njit
def random_points(n):
    hits = 0
    for _ in range(n):
        x = np.random.random()
        y = np.random.random()
        if x * x + y * y <= 1.0:
            hits += 1
    return 0 < hits < n


@njit
def random_walk(n):
    x = 0
    y = 0
    for _ in range(n):
        d = np.random.randint(0, 4)
        if d == 0:
            x += 1
        elif d == 1:
            x -= 1
        elif d == 2:
            y += 1
        else:
            y -= 1
    return abs(x) + abs(y) <= n


@njit
def to_bins(values, counts):
    for i in range(len(values)):
        counts[int(values[i] * 100)] += 1


@njit
def brighten(image, gain, out):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            v = image[y, x] * gain
            if v > 255:
                v = 255
            out[y, x] = int(v)


@njit
def to_grey(image, grey):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            grey[y, x] = np.uint8(0.299 * image[y, x, 0] + 0.587 * image[y, x, 1] + 0.114 * image[y, x, 2])


# bits and integers

@njit
def popcount(values):
    total = 0
    for v in values:
        x = v
        while x:
            x &= x - 1
            total += 1
    return total


@njit
def subsets(masks, weights):
    best = 0
    for mask in masks:
        s = 0
        for bit in range(len(weights)):
            if mask >> bit & 1:
                s += weights[bit]
        best = max(best, s)
    return best


@njit
def mix(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit
def splitmix(seed, out):
    state = seed
    for i in range(len(out)):
        state = state + np.uint64(0x9E3779B97F4A7C15)
        out[i] = mix(state)


@njit
def xorshift(seed, n):
    x = seed
    for _ in range(n):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
    return x


@njit
def fnv_hash(data):
    h = np.uint64(14695981039346656037)
    for b in data:
        h = (h ^ np.uint64(b)) * np.uint64(1099511628211)
    return h


@njit
def greatest_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@njit
def coprime_pairs(a, b):
    n = 0
    for i in range(len(a)):
        if greatest_divisor(a[i], b[i]) == 1:
            n += 1
    return n


@njit
def digit_sums(n):
    total = 0
    for i in range(n):
        while i > 0:
            total += i % 10
            i //= 10
    return total


@njit
def collatz_lengths(out):
    for i in range(1, len(out)):
        n = i
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps


# indices

@njit
def life(grid, out):
    h, w = grid.shape
    for y in range(h):
        for x in range(w):
            n = (grid[(y - 1) % h, (x - 1) % w] + grid[(y - 1) % h, x] + grid[(y - 1) % h, (x + 1) % w]
                 + grid[y, (x - 1) % w] + grid[y, (x + 1) % w]
                 + grid[(y + 1) % h, (x - 1) % w] + grid[(y + 1) % h, x] + grid[(y + 1) % h, (x + 1) % w])
            out[y, x] = 1 if n == 3 or (n == 2 and grid[y, x]) else 0


@njit
def ring_buffer(values, ring):
    total = 0.0
    for i in range(len(values)):
        ring[i % len(ring)] = values[i]
        total += ring[(i + 1) % len(ring)]
    return total


@njit
def insertion_sort(values):
    a = values.copy()
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a[0] + a[-1]


@njit
def insertion_sort_rows(table, out):
    for i in range(len(table)):
        for j in range(table.shape[1]):
            x = table[i, j]
            k = j
            while k > 0 and out[i, k - 1] > x:
                out[i, k] = out[i, k - 1]
                k -= 1
            out[i, k] = x


@njit
def two_pointers(a, wanted):
    low = 0
    high = len(a) - 1
    pairs = 0
    while low < high:
        s = a[low] + a[high]
        if s == wanted:
            pairs += 1
            low += 1
            high -= 1
        elif s < wanted:
            low += 1
        else:
            high -= 1
    return pairs


@njit
def search_sorted(table, queries, places):
    for i in range(len(queries)):
        low = 0
        high = len(table)
        while low < high:
            middle = (low + high) >> 1
            if table[middle] < queries[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low


@njit
def union_find(n, a, b):
    parents = np.arange(n)
    merged = 0
    for i in range(len(a)):
        x = a[i]
        while parents[x] != x:
            parents[x] = parents[parents[x]]
            x = parents[x]
        y = b[i]
        while parents[y] != y:
            parents[y] = parents[parents[y]]
            y = parents[y]
        if x != y:
            parents[x] = y
            merged += 1
    return merged


def matrices(r, n):
    return r.random((ROWS, n, n)) + n * np.eye(n)


CASES = {
    "row sum": (row_sum, lambda r: (r.random((ROWS, 3)),)),
    "row mean": (row_mean, lambda r: (r.random((ROWS, 3)), np.zeros(ROWS))),
    "row std": (row_std, lambda r: (r.random((ROWS, 4)), np.zeros(ROWS))),
    "row max - min": (row_max_min, lambda r: (r.random((ROWS, 5)), np.zeros(ROWS))),
    "row sum, integers": (row_sum_int, lambda r: (r.integers(0, 100, (ROWS, 8)),)),
    "row product": (row_prod, lambda r: (r.random((ROWS, 3)), np.zeros(ROWS))),
    "column sum": (column_sum, lambda r: (r.random((4, ROWS)), np.zeros(ROWS))),
    "column argmax": (column_argmax, lambda r: (r.random((5, ROWS)), np.zeros(ROWS, np.int64))),
    "nearest centre": (nearest_centre, lambda r: (r.random((ROWS, 2)), r.random((4, 2)), np.zeros(ROWS, np.int64))),
    "squared distances": (squared_distances, lambda r: (r.random((ROWS, 3)), r.random(3), np.zeros(ROWS))),
    "row any, all": (row_any_all, lambda r: (r.random((ROWS, 4)) > 0.5,)),
    "rows in a box": (rows_in_box, lambda r: (r.random((ROWS, 3)), np.full(3, 0.2), np.full(3, 0.9))),
    "moving mean": (moving_mean, lambda r: (r.random(ROWS), np.zeros(ROWS))),
    "window max": (window_max, lambda r: (r.random(ROWS), np.zeros(ROWS))),
    "row norm": (row_norm, lambda r: (r.random((ROWS, 3)), np.zeros(ROWS))),
    "row dot": (row_dot, lambda r: (r.random((ROWS, 3)), r.random((ROWS, 3)))),
    "softmax of rows": (softmax_rows, lambda r: (r.random((ROWS, 6)), np.zeros((ROWS, 6)))),
    "tuple stored": (store_tuple, lambda r: (np.zeros((ROWS, 2), np.int64), 25, 40)),
    "flood fill": (flood_fill, lambda r: ((r.random((24, 24)) > 0.8).astype(np.int64), np.zeros((576, 2), np.int64))),
    "row stored": (store_row, lambda r: (np.zeros((ROWS, 3)), r.random(3))),
    "slice stored": (store_slice, lambda r: (np.zeros((ROWS, 4)), r.random((7, 4)))),
    "pixels stored": (set_pixels, lambda r: (np.zeros((20, 25, 3), np.uint8), 200, 100, 50)),
    "rows reset": (reset_rows, lambda r: (r.random((ROWS, 4)), r.random(ROWS) > 0.5)),
    "step added to rows": (add_to_rows, lambda r: (r.random((ROWS, 3)), r.random(3) * 1e-9)),
    "rows scaled": (scale_rows, lambda r: (r.random((ROWS, 4)), r.random(ROWS), np.zeros((ROWS, 4)))),
    "rows swapped": (swap_rows, lambda r: (r.random((ROWS, 4)),)),
    "history shifted": (shift_window, lambda r: (np.zeros(6), r.random(ROWS))),
    "particles moved": (move_particles, lambda r: (r.random((ROWS, 3)), r.random((ROWS, 3)), 0.01)),
    "flat": (sum_flat, lambda r: (r.random((40, 25)),)),
    "ndenumerate": (largest_by_ndenumerate, lambda r: (r.random((40, 25)),)),
    "ndindex": (count_by_ndindex, lambda r: (r.random((40, 25)),)),
    "rows iterated": (iterate_rows, lambda r: (r.random((ROWS, 2)),)),
    "rows unpacked": (unpack_rows, lambda r: (r.random((ROWS, 3)),)),
    "zeros(4)": (make_zeros, lambda r: (r.random(ROWS),)),
    "empty(3)": (make_empty, lambda r: (r.random(ROWS), np.zeros(ROWS))),
    "ones(5)": (make_ones, lambda r: (r.random(ROWS),)),
    "array of a list": (make_from_list, lambda r: (r.random(ROWS), np.zeros((ROWS, 2)))),
    "centre": (centre_of, lambda r: (r.random((ROWS, 3)),)),
    "rotation": (rotate, lambda r: (r.random((ROWS, 2)), 0.01)),
    "products of matrices": (small_products,
                             lambda r: (r.random((ROWS, 3, 3)), r.random((ROWS, 3, 3)), np.zeros((ROWS, 3, 3)))),
    "cross": (cross_products, lambda r: (r.random((ROWS, 3)), r.random((ROWS, 3)), np.zeros((ROWS, 3)))),
    "clip of rows": (clip_rows, lambda r: (r.random((ROWS, 4)), np.zeros((ROWS, 4)))),
    "where of rows": (where_rows, lambda r: (r.random((ROWS, 4)), np.zeros((ROWS, 4)))),
    "rows joined": (join_rows, lambda r: (r.random((ROWS, 3)), r.random((ROWS, 2)), np.zeros((ROWS, 5)))),
    "rows sorted": (sort_rows, lambda r: (r.random((ROWS, 5)), np.zeros((ROWS, 5)))),
    "median of a window": (median_of_window, lambda r: (r.random(ROWS), np.zeros(ROWS))),
    "outer products": (outer_products, lambda r: (r.random((ROWS, 3)), np.zeros((3, 3)))),
    "solve": (solve_systems, lambda r: (matrices(r, 3), r.random((ROWS, 3)), np.zeros((ROWS, 3)))),
    "det": (determinants, lambda r: (matrices(r, 3), np.zeros(ROWS))),
    "np.random.randint": (random_integers, lambda r: (2_000,)),
    "np.random.random": (random_points, lambda r: (2_000,)),
    "random walk": (random_walk, lambda r: (2_000,)),
    "int(x * 100)": (to_bins, lambda r: (r.random(2_000), np.zeros(100, np.int64))),
    "brighten, uint8": (brighten, lambda r: (r.integers(0, 256, (40, 50)).astype(np.uint8), 1.3,
                                             np.zeros((40, 50), np.uint8))),
    "grey, uint8": (to_grey, lambda r: (r.integers(0, 256, (40, 50, 3)).astype(np.uint8),
                                        np.zeros((40, 50), np.uint8))),
    "popcount": (popcount, lambda r: (r.integers(0, 1 << 40, ROWS),)),
    "subsets": (subsets, lambda r: (r.integers(0, 1 << 12, ROWS), r.integers(1, 50, 12))),
    "splitmix": (splitmix, lambda r: (np.uint64(42), np.zeros(2_000, np.uint64))),
    "xorshift": (xorshift, lambda r: (np.uint64(88172645463325252), 2_000)),
    "FNV hash": (fnv_hash, lambda r: (r.integers(0, 256, 2_000).astype(np.uint8),)),
    "coprime pairs": (coprime_pairs, lambda r: (r.integers(1, 10_000, ROWS), r.integers(1, 10_000, ROWS))),
    "digit sums": (digit_sums, lambda r: (3_000,)),
    "Collatz lengths": (collatz_lengths, lambda r: (np.zeros(500, np.int64),)),
    "life, wrapped": (life, lambda r: (r.integers(0, 2, (40, 40)), np.zeros((40, 40), np.int64))),
    "ring buffer": (ring_buffer, lambda r: (r.random(2_000), np.zeros(7))),
    "insertion sort": (insertion_sort, lambda r: (r.random(100),)),
    # so many rows, and queries, that a processor does not learn the outcome of each comparison
    "insertion sort of rows": (insertion_sort_rows, lambda r: (r.random((8 * ROWS, 8)), np.zeros((8 * ROWS, 8)))),
    "two pointers": (two_pointers, lambda r: (np.sort(r.integers(0, 5_000, 2_000)), 5_000)),
    "binary search": (search_sorted, lambda r: (np.sort(r.random(1_000)), r.random(20 * ROWS),
                                                np.zeros(20 * ROWS, np.int64))),
    "union-find": (union_find, lambda r: (ROWS, r.integers(0, ROWS, 800), r.integers(0, ROWS, 800))),
}

LAST_BITS = {"softmax of rows", "rotation", "products of matrices", "det", "solve", "row norm", "row dot"}
