"""Kernels around each element: borders, neighbourhoods, several arrays, arrays that are indexed as usual."""
import numpy as np
from numba import njit, stencil


@stencil
def crosses(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil(cval=-1.0)
def bordered(a):
    return 0.5 * (a[-1] + a[1])


@stencil(neighborhood=((-29, 0),))
def mean_of_30(a):
    total = 0.0
    for i in range(-29, 1):
        total += a[i]
    return total / 30


@stencil
def differences(a, b, weight):
    return weight * (a[0, 0] - b[0, 1])


@stencil(standard_indexing=("weights",))
def weighted(a, weights):
    return a[-1] * weights[0] + a[0] * weights[1] + a[1] * weights[2]


@stencil(neighborhood=((-1, 1), (-1, 1)))
def life(cells):
    count = 0
    for i in range(-1, 2):
        for j in range(-1, 2):
            if i != 0 or j != 0:
                count += cells[i, j]
    if count == 3 or (count == 2 and cells[0, 0] == 1):
        return 1
    return 0


@njit
def smoothed(a, times):
    for _ in range(times):
        a = crosses(a)
    return a


@njit(parallel=True)
def in_parallel(a):
    return weighted(a, np.array([0.25, 0.5, 0.25])) + 1


def main():
    a = np.arange(30.0).reshape(5, 6)
    expected = np.zeros_like(a)
    expected[1:-1, 1:-1] = 0.25 * (a[1:-1, 2:] + a[2:, 1:-1] + a[1:-1, :-2] + a[:-2, 1:-1])
    np.testing.assert_allclose(crosses(a), expected)
    np.testing.assert_allclose(smoothed(a, 1), expected)
    assert smoothed(a, 3).shape == a.shape
    np.testing.assert_array_equal(bordered(np.arange(5.0)), [-1, 1, 2, 3, -1])
    x = np.random.RandomState(0).rand(100)
    found = mean_of_30(x)
    assert (found[:29] == 0).all()
    np.testing.assert_allclose(found[29:], np.convolve(x, np.ones(30) / 30, "valid"))
    np.testing.assert_allclose(differences(a, a, 2.0)[:, :-1], -2.0)
    w = np.array([0.25, 0.5, 0.25])
    np.testing.assert_allclose(weighted(x, w)[1:-1], np.convolve(x, w, "valid"))
    np.testing.assert_allclose(in_parallel(x)[1:-1], np.convolve(x, w, "valid") + 1)
    out = np.empty_like(a)
    assert crosses(a, out=out) is out or (out[1:-1] == expected[1:-1]).all()
    glider = np.zeros((6, 6), np.int64)
    for i, j in ((0, 1), (1, 2), (2, 0), (2, 1), (2, 2)):
        glider[i + 1, j + 1] = 1
    assert life(glider).sum() == 5 and life(life(life(life(glider)))).sum() <= 5


if __name__ == "__main__":
    main()
