"""Joined copies of inner loops: values, and where the order of writes keeps the loops as they are."""
import numpy as np
import pytest

from pyjitc import njit


def joined(compiled):
    return any("jam_inner" in text for text in compiled._inspect("opt", None).values())


def columns(s, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += a[i, j]


def products(s, a):
    for i in range(a.shape[0]):
        for k in range(2, a.shape[0]):
            for j in range(a.shape[1]):
                s[j] = s[j] * 0.5 + a[i, j] * a[k, j] - s[j]


def triangles(s, a):
    for i in range(a.shape[0]):
        for j in range(i, a.shape[1]):
            s[j] += a[i, j]


def backwards(s, a):
    for i in range(a.shape[0] - 1, -1, -1):
        for j in range(a.shape[1] - 1, -1, -1):
            s[j] -= s[j] * a[i, j]


def rows(s, a):
    for i in range(a.shape[0]):
        s += a[i]


def two_sums(s, a):
    t = np.zeros_like(s)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += a[i, j]
            t[j] += s[j] * a[i, j]
    s += t


def neighbours(s, a):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            s[j] += s[j - 1] * a[i, j]


def halves(s, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j // 2] = s[j // 2] * 0.5 + a[i, j]


def elsewhere(s, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += a[i, j] + s[(i + 1) % a.shape[1]]


def carried(s, a):
    x = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            x = a[i, j] - x
            s[j] += x


def moving(s, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1] - a.shape[0]):
            s[i + j] = s[i + j] * 0.5 + a[i, j]


def conditions(s, a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                s[j] += 1.0


def fresh(s, a):
    t = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        t += a[i]
    s -= t


JOINED = [columns, products, backwards, fresh, two_sums]


@pytest.mark.parametrize(
    "function", [*JOINED, rows, triangles, neighbours, halves, elsewhere, carried, moving, conditions])
def test_values(function):
    """All elements have the values of the interpreter to the last bit, with any number of rows, and where the array of
    sums is a row of the other one."""
    rng, compiled = np.random.default_rng(1), njit(function)
    for n, m in ((9, 40), (4, 33), (3, 17), (1, 20), (0, 5), (13, 13)):
        a, s = rng.random((n, m)), rng.random(m)
        for row in (None, 0, n // 2, n - 1):
            x, y = a.copy(), a.copy()
            given, want = (s.copy(), s.copy()) if row is None or n == 0 else (x[row], y[row])
            compiled(given, x)
            function(want, y)
            assert np.array_equal(given, want) and np.array_equal(x, y), (n, m, row)
    assert joined(compiled) == (function in JOINED)


def test_other_elements():
    def f(s, a, k):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s[j, k] = s[j, k] ^ (a[i, j] + i)

    for dtype in (np.int64, np.int32, np.uint8):
        a = np.arange(70).reshape(7, 10).astype(dtype)
        s, want = np.zeros((10, 3), dtype), np.zeros((10, 3), dtype)
        njit(f)(s, a, 1)
        f(want, a, 1)
        assert np.array_equal(s, want)


def test_the_store_stays_within_bounds():
    def f(s, a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s[j] += a[i, j]

    a, s, want = np.ones((6, 9)), np.zeros(7), np.zeros(7)
    for function, array in ((njit(f), s), (f, want)):
        with pytest.raises(IndexError):
            function(array, a)
    assert np.array_equal(s, want)


def with_rows(compiled):
    return any("jam_rows" in text for text in compiled._inspect("opt", None).values())


def matmul(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def scaled(c, a, b):
    for i in range(1, a.shape[0]):
        t = a[i, 0] * 0.5
        for k in range(a.shape[1] - 1):
            u = a[i, k + 1] + t
            for j in range(2, b.shape[1]):
                c[i - 1, j] = c[i - 1, j] * 0.25 - u * b[k, j]


def lower(c, a, b):
    for i in range(a.shape[0]):
        for k in range(i):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def shared(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i // 2, j] = c[i // 2, j] * 0.5 + a[i, k] * b[k, j]


def same(c, a, b):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[0, j] = c[0, j] * 0.5 + a[i, k] * b[k, j]


def counted(c, a, b):
    n = 0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            n += i * k
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
        c[i, 0] += n


def integers(c, a, b):
    for i in range(a.shape[0] - 1, -1, -1):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] = c[i, j] * np.float64(3) + a[i, k] - b[k, j] * b[k, j]


WITH_ROWS = [matmul, scaled, integers]


@pytest.mark.parametrize("function", [*WITH_ROWS, lower, shared, same, counted])
def test_rows(function):
    """Two rows at a time: any number of rows and of terms, arrays that share memory, rows that overlap, and rows that
    are too short, each with the values, or the error and what was stored before it, of the interpreter."""
    rng, compiled = np.random.default_rng(2), njit(function)

    def check(c, a, b, arrays=lambda c, a, b: (c, a, b)):
        found = []
        for f in (function, compiled):
            kept = [x.copy() for x in (c, a, b)]
            given = arrays(*kept)
            try:
                with np.errstate(over="ignore"):
                    f(*given)
                error = None
            except IndexError as one:
                error = str(one)
            found.append([error, *[x.tobytes() for x in kept]])
        assert found[0] == found[1]

    for n, m, k in ((1, 1, 1), (2, 40, 4), (3, 17, 3), (5, 9, 6), (4, 33, 9), (7, 8, 1), (0, 3, 2), (2, 0, 5),
                    (3, 5, 0)):
        c, a, b = rng.random((n, m)), rng.random((n, k)), rng.random((k, m))
        c[n // 2:, :1], b[:1, m // 2:] = -0.0, np.inf
        check(c, a, b)
        check(c[:max(n - 1, 0)], a, b)
        check(c[:, :max(m - 1, 0)], a, b)
    square = rng.random((6, 6))
    check(square, square, square)
    check(square, square, square, lambda c, a, b: (c, c, b))
    check(square, square, square, lambda c, a, b: (c, a, c))
    check(square, square, square, lambda c, a, b: (c, a, c[::-1]))
    assert with_rows(compiled) == (function in WITH_ROWS)
    check(square, square, square, lambda c, a, b: (c.T, a, b))
    check(square, square, square, lambda c, a, b: (
        np.lib.stride_tricks.as_strided(c, (6, 6), (8, 8)), a, b))
    check(square, square, square, lambda c, a, b: (
        np.lib.stride_tricks.as_strided(c, (6, 6), (0, 8)), a, b))
