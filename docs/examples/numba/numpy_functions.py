"""NumPy inside compiled functions: creation, indexing, reductions, sorting, linear algebra, random numbers, dates."""
import numpy as np
from numba import njit


@njit
def made(n):
    a = np.linspace(0, 1, n)
    b = np.full((2, n), 2.5)
    c = np.ascontiguousarray(np.eye(n)[:, ::-1])
    return np.concatenate((a, b[0], np.diag(c))), np.arange(0, n, 2), np.zeros_like(a, np.int8)


@njit
def indexed(a):
    a = np.maximum(a, 0.0)
    rows = a[np.array([0, 2])]
    a[1, :] = 7
    a[:, -1] += 1
    return rows, a[1:, ::2].copy(), a.T.shape, a[..., 0], a.ravel()[5], a.reshape(2, -1).shape


@njit
def reduced(a):
    return (a.sum(), a.mean(), a.std(), a.var(), a.argmin(), np.median(a), np.percentile(a, 25.0), a.max() - a.min(),
            np.sum(a, axis=0), np.cumsum(a), np.all(a > 0), np.count_nonzero(a))


@njit
def ordered(a):
    order = np.argsort(a)
    return np.sort(a), order, np.searchsorted(a[order], 0.5), np.unique(np.array([3, 1, 3])), np.flip(a)[0]


@njit
def solved(a, b):
    q, r = np.linalg.qr(a)
    u, s, vt = np.linalg.svd(a)
    return np.linalg.solve(a, b), np.linalg.inv(a) @ b, np.linalg.det(a), q @ r, s, np.dot(a, b), np.linalg.norm(b)


@njit
def simulated(seed, n):
    np.random.seed(seed)
    steps = np.random.normal(0.0, 1.0, n)
    return steps.mean(), np.random.randint(0, 10, 5), np.random.rand(), np.random.permutation(4)


@njit
def drawn(rng, n):
    return rng.normal(size=n).sum(), rng.integers(0, 100, 3), rng.random()


@njit
def days(start, one, n):
    for i in range(n):
        start = start + i * one
    return start


@njit
def mixed(a, k):
    roots = np.where(a > 0, np.sqrt(np.abs(a)), -1.0)
    return roots, np.convolve(a, k), np.outer(k, k), np.interp(0.5, a, a), np.histogram(a, 3)[0]


def main():
    whole, even, small = made(4)
    assert whole.shape == (12,) and even.tolist() == [0, 2] and small.dtype == np.int8
    a = np.arange(-4.0, 8.0).reshape(3, 4)
    expected = indexed.py_func(a.copy())
    for x, y in zip(indexed(a.copy()), expected):
        np.testing.assert_array_equal(x, y)
    x = np.random.RandomState(0).rand(3, 5)
    for found, wanted in zip(reduced(x), reduced.py_func(x)):
        np.testing.assert_allclose(found, wanted)
    for found, wanted in zip(ordered(x[0]), ordered.py_func(x[0])):
        np.testing.assert_allclose(found, wanted)
    m, b = x[:, :3] + np.eye(3), np.array([1.0, 2.0, 3.0])
    for found, wanted in zip(solved(m, b), solved.py_func(m, b)):
        np.testing.assert_allclose(found, wanted)
    one, two = simulated(7, 100), simulated(7, 100)
    assert one[0] == two[0] and (one[1] == two[1]).all() and sorted(one[3].tolist()) == [0, 1, 2, 3]
    found, wanted = drawn(np.random.default_rng(3), 10), drawn.py_func(np.random.default_rng(3), 10)
    assert abs(found[0] - wanted[0]) < 1e-9 and (found[1] == wanted[1]).all() and found[2] == wanted[2]
    assert days(np.datetime64("2020-02-27"), np.timedelta64(1, "D"), 4) == np.datetime64("2020-03-04")
    for found, wanted in zip(mixed(b, b), mixed.py_func(b, b)):
        np.testing.assert_allclose(found, wanted)


if __name__ == "__main__":
    main()
