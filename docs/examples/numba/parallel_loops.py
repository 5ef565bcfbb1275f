"""Loops whose iterations are shared among threads: reductions, arrays that are filled, and whole-array expressions."""
import numpy as np
from numba import get_num_threads, get_thread_id, njit, parallel_chunksize, prange, set_num_threads


@njit(parallel=True)
def total(a):
    s = 0.0
    for i in prange(a.shape[0]):
        s += a[i]
    return s


@njit(parallel=True)
def products_of_rows(n):
    shape = (13, 17)
    result = 2 * np.ones(shape, np.int64)
    factors = np.full(shape, 3, np.int64)
    for i in prange(n):
        result *= factors
    return result


@njit(parallel=True)
def logistic_regression(y, x, w, iterations):
    for _ in range(iterations):
        w -= np.dot(((1.0 / (1.0 + np.exp(-y * np.dot(x, w))) - 1.0) * y), x)
    return w


@njit(parallel=True)
def identities(x):
    return np.cos(x) ** 2 + np.sin(x) ** 2


@njit(parallel=True)
def histogram(values, bins):
    threads = get_num_threads()
    counts = np.zeros((threads, bins), np.int64)
    for i in prange(values.size):
        counts[get_thread_id(), int(values[i] * bins)] += 1
    return counts.sum(axis=0)


@njit(parallel=True)
def smallest_and_largest(a):
    low, high = np.inf, -np.inf
    for i in prange(a.size):
        low = min(low, a[i])
        high = max(high, a[i])
    return low, high


@njit(parallel=True)
def rows(a):
    out = np.empty(a.shape[0])
    for i in prange(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            if a[i, j] < 0:
                continue
            s += a[i, j]
        out[i] = s
    return out


@njit(parallel=True)
def in_chunks(n):
    found = np.zeros(n)
    with parallel_chunksize(8):
        for i in prange(n):
            found[i] = i * i
    return found


def main():
    rs = np.random.RandomState(3)
    a = rs.rand(1000)
    np.testing.assert_allclose(total(a), a.sum())
    assert (products_of_rows(4) == 2 * 3 ** 4).all()
    y, x = np.sign(rs.randn(50)), rs.randn(50, 3)
    expected = np.zeros(3)
    for _ in range(5):
        expected -= np.dot(((1.0 / (1.0 + np.exp(-y * np.dot(x, expected))) - 1.0) * y), x)
    np.testing.assert_allclose(logistic_regression(y, x, np.zeros(3), 5), expected)
    np.testing.assert_allclose(identities(a), 1.0)
    np.testing.assert_array_equal(histogram(a, 10), np.histogram(a, 10, (0, 1))[0])
    assert smallest_and_largest(a) == (a.min(), a.max())
    m = rs.randn(20, 30)
    np.testing.assert_allclose(rows(m), np.where(m < 0, 0, m).sum(axis=1))
    np.testing.assert_array_equal(in_chunks(100), np.arange(100) ** 2)
    before = get_num_threads()
    set_num_threads(1)
    assert get_num_threads() == 1 and abs(total(a) - a.sum()) < 1e-9
    set_num_threads(before)


if __name__ == "__main__":
    main()
