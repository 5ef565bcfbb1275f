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
