"""Indices, and bounds of loops, that are the least or the greatest of two numbers: a guard tests them."""
import numpy as np

from pyjitc import njit


def box_sums(s, r, out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            y0, y1 = max(y - r, 0), min(y + r + 1, h)
            x0, x1 = max(x - r, 0), min(x + r + 1, w)
            out[y, x] = s[y1, x1] - s[y0, x1] - s[y1, x0] + s[y0, x0]


def clipped(a, b, k, out):
    for i in range(len(out)):
        out[i] = a[min(max(i * 2 - k, 0), len(b) - 1)]


def lowest_of_two(a, b, out):
    for i in range(len(out)):
        out[i] = a[max(i, 1) if len(b) else min(i - 1, 3)]


def at_most_the_length(a, out):
    """The last trips raise, or read the last element where the index is negative."""
    for i in range(len(out)):
        out[i] = a[min(i - 2, len(a))]


def window_sums(a, kernel, r, out):
    for i in range(len(out)):
        total = 0
        for j in range(max(0, i - r), min(len(a), i + r + 1)):
            total += a[j] * kernel[j - i + r]
        out[i] = total


def band(a, b, d, w):
    n, m = len(a), len(b)
    for i in range(1, n + 1):
        for j in range(max(1, i - w), min(m, i + w) + 1):
            d[i, j] = abs(a[i - 1] - b[j - 1]) + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])


def outcome(f, *args):
    args = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        f(*args)
    except (IndexError, OverflowError) as error:
        return type(error), str(error), args[-1].tolist()
    return None, args[-1].tolist()


def test_indices_that_are_clamped():
    rng = np.random.default_rng(8)
    compiled = {f: njit(f) for f in (box_sums, clipped, lowest_of_two, at_most_the_length)}
    for h, w, more in (5, 6, 1), (1, 1, 1), (4, 4, 0), (7, 3, 5), (0, 3, 1):
        s, out = rng.integers(0, 99, (h + more, w + more)), np.zeros((h, w), np.int64)
        for r in (0, 1, 2, 9, -1, -3, 2**62, -2**62):
            assert outcome(compiled[box_sums], s, r, out) == outcome(box_sums, s, r, out), (h, w, more, r)
    for n, m, size in (5, 5, 4), (5, 3, 9), (3, 5, 9), (4, 0, 3), (1, 1, 5), (0, 0, 0):
        a, b, out = rng.integers(0, 99, n), rng.integers(0, 99, m), np.zeros(size, np.int64)
        for k in (0, 1, -3, 20, 2**63 - 1):
            assert outcome(compiled[clipped], a, b, k, out) == outcome(clipped, a, b, k, out), (n, m, size, k)
        assert outcome(compiled[lowest_of_two], a, b, out) == outcome(lowest_of_two, a, b, out)
        assert outcome(compiled[at_most_the_length], a, out) == outcome(at_most_the_length, a, out)


def test_clamped_indices_are_not_checked_behind_the_guard():
    compiled = njit(box_sums)
    compiled(np.zeros((6, 6), np.int64), 1, np.zeros((5, 5), np.int64))
    text = str(compiled._inspect("opt", None))
    assert text.count("check_index") == 4  # those of the copy that keeps its checks


def test_bounds_of_loops_that_are_clamped():
    rng = np.random.default_rng(9)
    sums, banded = njit(window_sums), njit(band)
    for n, m, size in (9, 9, 5), (9, 12, 5), (9, 9, 4), (1, 1, 1), (0, 0, 3), (5, 8, 3), (6, 2, 9):
        a, kernel, out = rng.integers(0, 99, n), rng.integers(0, 99, size), np.zeros(m, np.int64)
        for r in (2, 1, 0, 4, 30, -1, -20, 2**62, -2**62):
            args = a, kernel, r, out
            assert outcome(sums, *args) == outcome(window_sums, *args), (n, m, size, r)
    for h, w in (6, 6), (3, 9), (9, 3), (1, 1), (5, 1):
        d = rng.integers(0, 99, (h, w))
        for n, m in (h - 1, w - 1), (h, w - 1), (h - 1, w), (0, w + 3):
            a, b = rng.integers(0, 99, n), rng.integers(0, 99, m)
            for r in (0, 1, 2, 20, -3, 2**62, -2**62):
                assert outcome(lambda d: banded(a, b, d, r), d) == outcome(lambda d: band(a, b, d, r), d), (h, w, n, r)


def test_bounds_of_loops_that_are_clamped_need_no_checks_behind_the_guard():
    compiled = njit(band)
    compiled(np.ones(5, np.int64), np.ones(6, np.int64), np.ones((6, 7), np.int64), 2)
    text = str(compiled._inspect("opt", None))
    assert text.count("check_index") == 4  # those of the copy that keeps its checks
