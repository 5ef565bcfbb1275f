"""np.histogram against NumPy."""
import numpy as np
import pytest
from tests.lib.np.test_sorting import agrees, values

from pyjitc import njit


def ten(a):
    return np.histogram(a)


def some(a, n):
    return np.histogram(a, n)


def ranged(a, n):
    return np.histogram(a, n, (0, 5.5)), np.histogram(a, bins=n, range=(2.0, 2.0))


def dense(a, n):
    return np.histogram(a, n, density=True)


def weighed(a, w):
    return np.histogram(a, 7, weights=w)


def edged(a, edges):
    return np.histogram(a, edges)


def edged_dense(a, edges, w):
    return np.histogram(a, edges, density=True), np.histogram(a, bins=edges, weights=w)


def finite(dtype, n, seed=0):
    a = values(dtype, n, seed, many=False)
    return np.where(np.isfinite(a), a, a.dtype.type(3))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64],
                         ids=lambda t: np.dtype(t).name)
def test_equal_bins(dtype):
    compiled = [(f, njit(f)) for f in (some, ranged, dense)]
    for n in (0, 1, 30, 400):
        a = finite(dtype, n, n)
        if n > 100 and a.dtype.kind == "f":
            a = (a / 7).astype(dtype)
        for bins in (1, 3, 16):
            for f, g in compiled:
                agrees(f, g, a, bins)
    agrees(ten, njit(ten), a.reshape(20, 20).T)
    agrees(some, compiled[0][1], a, 0)


def test_errors():
    compiled = njit(some)
    agrees(some, compiled, np.array([1.0, np.nan]), 3)
    agrees(some, compiled, np.array([1.0, np.inf]), 3)
    agrees(backwards, njit(backwards), np.arange(3.0))
    agrees(edged, njit(edged), np.arange(3.0), np.array([1.0, 0.0]))
    agrees(edged, njit(edged), np.arange(3.0), np.zeros((2, 2)))
    agrees(weighed, njit(weighed), np.arange(3.0), np.arange(2.0))


def backwards(a):
    return np.histogram(a, 3, (2, 1))


def test_weights():
    a = finite(np.float64, 300)
    for w in (np.linspace(-1, 1, 300), np.arange(300, dtype=np.int16), np.linspace(0, 1, 300).astype(np.float32)):
        agrees(weighed, njit(weighed), a, w)
    big = np.random.default_rng(0)
    agrees(weighed, njit(weighed), big.normal(size=140_000), big.normal(size=140_000))


def test_given_edges():
    a = values(np.float64, 200)
    edges = np.array([-1.0, 0.0, 2.0, 2.0, 4.5, 8.0])
    compiled = njit(edged)
    for e in (edges, edges[:1], edges[:2], edges[::2]):
        agrees(edged, compiled, a, e)
    agrees(edged, njit(edged), finite(np.int64, 60), np.arange(0, 100, 10))
    agrees(edged, njit(edged), finite(np.float32, 60), np.arange(0, 100, 10))
    agrees(edged_dense, njit(edged_dense), a.reshape(10, 20), np.array([0.0, 1.5, 4.0]), np.arange(200).reshape(10, 20))


def test_elements_on_and_beside_the_edges():
    """Near the edges of bins rounding makes the computed bin uncertain, and a comparison with the edges decides. There
    are so many elements that they are counted in several blocks."""
    def plain(a, n, limits, w):
        return np.histogram(a, n, limits), np.histogram(a, n, limits, weights=w)

    both = njit(plain)
    random = np.random.default_rng(3)
    for first, last, n in ((0.0, 1.0, 10), (-3.7, 11.1, 97), (1e9, 1e9 + 1e-3, 31), (1e15, 1e15 + 64, 50),
                           (-1e-300, 1e-300, 7), (0.1, 0.7, 1)):
        edges = np.linspace(first, last, n + 1)
        a = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf),
                            random.uniform(first, last, 3000), [np.nan, np.inf, -np.inf, first - 1, last + 1]])
        random.shuffle(a)
        agrees(plain, both, a, n, (first, last), random.random(len(a)))
    a = random.integers(0, 12, 70000).astype(float)
    agrees(plain, both, a, 12, (0.0, 12.0), random.random(len(a)))
