"""Functions of numbers that become ufuncs: with and without signatures, reductions, broadcasting, and outputs."""
import numpy as np
from numba import float32, float64, int32, int64, njit, vectorize


@vectorize([int32(int32, int32), int64(int64, int64), float32(float32, float32), float64(float64, float64)])
def added(x, y):
    return x + y


@vectorize(["float64(float64, float64)"], identity=1)
def product(x, y):
    return x * y


@vectorize
def logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


@vectorize(["bool_(float64, float64, float64)"])
def between(x, low, high):
    return low <= x and x < high


@vectorize([float64(float64, float64)], nopython=True)
def capped(x, limit):
    if x > limit:
        return limit
    return x


@njit
def total_of_logistic(a):
    return logistic(a).sum() + added(a, a).max()


def main():
    a = np.arange(6)
    np.testing.assert_array_equal(added(a, a), 2 * a)
    assert added(a, a).dtype == np.int64 and added(a.astype(np.float32), np.float32(1)).dtype == np.float32
    np.testing.assert_array_equal(added(np.linspace(0, 1, 6), a), np.linspace(0, 1, 6) + a)
    assert added.types == ["ii->i", "ll->l", "ff->f", "dd->d"]

    m = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(added.reduce(m, axis=0), [12, 15, 18, 21])
    np.testing.assert_array_equal(added.reduce(m, axis=1), [6, 22, 38])
    np.testing.assert_array_equal(added.accumulate(m), np.add.accumulate(m))
    np.testing.assert_array_equal(added.accumulate(m, axis=1), np.add.accumulate(m, axis=1))
    np.testing.assert_array_equal(added.outer([1, 2], [10, 20, 30]), np.add.outer([1, 2], [10, 20, 30]))
    starts = [0, 4, 1, 5]
    np.testing.assert_array_equal(added.reduceat(np.arange(8), starts), np.add.reduceat(np.arange(8), starts))
    counts = np.zeros(4, np.int64)
    added.at(counts, [0, 1, 1, 3, 3, 3], 1)
    np.testing.assert_array_equal(counts, [1, 2, 0, 3])
    assert product.reduce(np.array([2.0, 3.0, 4.0])) == 24.0 and product.reduce(np.array([])) == 1.0

    x = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(logistic(x), 1 / (1 + np.exp(-x)))
    assert logistic(0.0) == 0.5
    out = np.full(9, -1.0)
    assert capped(x, 2.0, out=out) is out
    np.testing.assert_array_equal(out, np.minimum(x, 2.0))
    np.testing.assert_array_equal(between(x, -1, 2), (x >= -1) & (x < 2))
    np.testing.assert_array_equal(capped(x[:, None], np.array([0.0, 2.0])), np.minimum(x[:, None], [0.0, 2.0]))
    assert abs(total_of_logistic(x) - (4.5 + 8.0)) < 1e-12
    assert isinstance(added, np.ufunc) or added.ufunc.nin == 2


if __name__ == "__main__":
    main()
