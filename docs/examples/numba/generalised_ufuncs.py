"""Functions of whole arrays that NumPy broadcasts: layouts, several outputs, and arguments that are written."""
import numpy as np
from numba import float64, guvectorize, int64, njit, void


@guvectorize([(int64[:], int64, int64[:])], "(n),()->(n)")
def shifted(x, y, res):
    for i in range(x.shape[0]):
        res[i] = x[i] + y


@guvectorize("(n),()->(n)")
def shifted_later(x, y, res):
    for i in range(x.shape[0]):
        res[i] = x[i] + y


@guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@guvectorize([void(float64[:], int64, float64[:])], "(n),()->(n)")
def moving_mean(a, window, out):
    total, count = 0.0, 0
    for i in range(window):
        total += a[i]
        count += 1
        out[i] = total / count
    for i in range(window, len(a)):
        total += a[i] - a[i - window]
        out[i] = total / count


@guvectorize([(float64[:], float64[:], float64[:])], "(n)->(),()")
def extent(a, low, high):
    low[0] = high[0] = a[0]
    for x in a[1:]:
        low[0] = min(low[0], x)
        high[0] = max(high[0], x)


@guvectorize([(float64[:], float64[:])], "()->()", writable_args=("invals",))
def swapped(invals, outvals):
    invals[0], outvals[0] = 6.5, invals[0]


@njit
def rows_shifted(a, by):
    res = np.empty_like(a)
    shifted(a, by, res)
    return res


def main():
    a = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(shifted(a, 10), a + 10)
    np.testing.assert_array_equal(shifted(a, np.array([10, 20])), a + [[10], [20]])
    out = np.zeros_like(a)
    shifted_later(a, 10, out)
    np.testing.assert_array_equal(out, a + 10)
    np.testing.assert_array_equal(rows_shifted(a, 5), a + 5)

    x, y = np.random.RandomState(0).rand(4, 2, 3), np.random.RandomState(1).rand(3, 5)
    np.testing.assert_allclose(matmul(x, y), x @ y)
    np.testing.assert_allclose(moving_mean(np.arange(8.0), 3), [0, 0.5, 1, 2, 3, 4, 5, 6])
    low, high = extent(np.array([[3.0, 1.0, 2.0], [5.0, 9.0, 7.0]]))
    assert low.tolist() == [1.0, 5.0] and high.tolist() == [3.0, 9.0]
    given = np.array([10.0])
    assert swapped(given) == [10.0] and given[0] == 6.5
    try:
        matmul(np.ones((2, 3)), np.ones((2, 3)))
    except ValueError as error:
        assert "mismatch" in str(error)
    else:
        raise AssertionError("shapes that do not fit were taken")


if __name__ == "__main__":
    main()
