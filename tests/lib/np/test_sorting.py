"""Sorting against NumPy: order, NaNs, stability, layouts, axes, errors; partitions by their defining property."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit

DTYPES = [np.bool_, np.int8, np.uint64, np.float16, np.float64, np.complex128]
SIZES = (0, 1, 2, 3, 11, 12, 13, 50, 193, 1000)


def values(dtype, n, seed=0, many=True):
    """Numbers with ties, NaNs and infinities."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    x = rng.integers(0, 9 if many else 120, n)
    if kind == "i":
        x = x - 4
    a = x.astype(dtype)
    if kind in "fc" and n:
        a[rng.integers(0, n, n // 9)] = np.nan
        a[rng.integers(0, n, n // 9)] = np.inf
        a[rng.integers(0, n, n // 9)] = -np.inf
    if kind == "c":
        a.imag = rng.integers(0, 3, n)
        a.imag[rng.integers(0, n, n // 9)] = np.nan
    return a


def agrees(function, compiled, *args):
    agree(function, *args, compiled=compiled)


def both(a):
    b = a.copy()
    b.sort(kind="stable")
    return np.sort(a, kind="stable"), np.argsort(a, kind="stable"), b, a.argsort(kind="mergesort")


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda t: np.dtype(t).name)
def test_one_dimension(dtype):
    compiled = njit(both)
    for n in SIZES:
        for seed in range(3):
            agrees(both, compiled, values(dtype, n, seed))
    a = values(dtype, 200, 5)
    agrees(both, compiled, np.sort(a))
    agrees(both, compiled, np.sort(a)[::-1].copy())
    agrees(both, compiled, np.full(60, a[0]))


def plain(a):
    return np.sort(a), np.argsort(a)


def test_distinct_keys_and_layouts():
    compiled = njit(plain)
    rng = np.random.default_rng(1)
    for n in (5, 40, 3000):
        a = rng.permutation(2 * n) - n
        agrees(plain, compiled, a)
        agrees(plain, compiled, a[::2])
        agrees(plain, compiled, a[::-1])
        frozen = a.astype(np.float64)
        frozen.flags.writeable = False
        agrees(plain, compiled, frozen)


def spreads():
    """Keys with different distributions: few or all bits in use, equal leading digits, both zeros, distant outliers."""
    rng = np.random.default_rng(3)
    near = 1.0 + rng.integers(0, 4000, 2500) * 2.0 ** -52
    far = rng.integers(0, 1500, 2500)
    far[::500] = 2 ** 62
    zeros = rng.choice([0.0, -0.0, 1.0, -1e-300], 700)
    yield from (rng.normal(size=2500), near, -near, np.where(rng.random(2500) < 0.01, 1e300, near), zeros)
    yield from (far, -far, rng.integers(-2 ** 63, 2 ** 63 - 1, 2500), rng.integers(0, 100, 2500) * 2 ** 40)


def order_and_signs(a):
    return np.sort(a, kind="stable"), np.argsort(a, kind="stable"), 1.0 / np.sort(a, kind="stable")


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_keys_of_many_kinds():
    compiled = njit(order_and_signs)
    for a in spreads():
        agrees(order_and_signs, compiled, a)
    for dtype in (np.float32, np.float16, np.uint64, np.int16):
        with np.errstate(all="ignore"):
            for a in list(spreads())[:7]:
                agrees(order_and_signs, compiled, a.astype(dtype))


def leading(a):
    return np.sort(a, 0, "stable"), np.argsort(a, 0, "stable")


def middle(a):
    return np.sort(a, axis=1, stable=True), np.argsort(a, axis=1, stable=True)


def last(a):
    return np.sort(a, kind="stable"), np.argsort(a, axis=-1, kind="stable")


def flat(a):
    return np.sort(a, axis=None, kind="stable"), np.argsort(a, axis=None, kind="stable")


def beyond(a):
    return np.sort(a, axis=3)


def below(a):
    return np.argsort(a, axis=-4)


@pytest.mark.parametrize("function", [leading, middle, last, flat, beyond, below], ids=lambda f: f.__name__)
def test_axes(function):
    compiled = njit(function)
    a = values(np.float64, 24 * 13).reshape(4, 13, 6)
    for x in (a, a[:, ::-2], a[:0], a[:, :0], a[0], np.asfortranarray(a[0])):
        agrees(function, compiled, x)


def in_place(a):
    return a.sort(axis=0)


def in_place_last(a):
    a.sort()


def test_in_place():
    a = values(np.float32, 60).reshape(5, 12)
    for function in (in_place, in_place_last):
        compiled = njit(function)
        for x in (a, np.asfortranarray(a), a[::-1, ::2], a[0], a[:, 0]):
            x = np.array(x, order="K", copy=None)
            agrees(function, compiled, x)
        frozen = a.copy()
        frozen.flags.writeable = False
        agrees(function, compiled, frozen)


def bad_kind(a):
    return np.sort(a, kind="fast")


def kind_and_stable(a):
    return np.sort(a, kind="stable", stable=True)


def with_order(a):
    return np.sort(a, order="x")


@pytest.mark.parametrize("function", [bad_kind, kind_and_stable, with_order], ids=lambda f: f.__name__)
def test_errors(function):
    agrees(function, njit(function), np.arange(4))


def by_three(a, b, c):
    return np.lexsort((a, b, c))


def by_rows(a):
    return np.lexsort(a)


def test_lexsort():
    compiled = njit(by_three)
    for n in (0, 1, 7, 300):
        agrees(by_three, compiled, values(np.float64, n, 1), values(np.int8, n, 2), values(np.bool_, n, 3))
    agrees(by_three, compiled, np.zeros(3), np.zeros(3, np.int8), np.zeros(2, np.bool_))
    agrees(by_rows, njit(by_rows), values(np.float32, 90).reshape(3, 30))




def take(a, k):
    b = a.copy()
    b.partition(k)
    return np.partition(a, k), np.argpartition(a, k), b, a.argpartition(k)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda t: np.dtype(t).name)
def test_partition(dtype):
    compiled = njit(take)
    for n in (1, 2, 25, 26, 400):
        for seed in range(3):
            a = values(dtype, n, seed, many=seed == 0)
            for k in (0, n // 3, n - 1, -1):
                first, places, second, more = compiled(a, k)
                exact = np.sort(a)
                at = k % n
                for p in (first, a[places], second, a[more]):
                    np.testing.assert_array_equal(np.sort(p), exact)
                    np.testing.assert_array_equal(np.sort(p[:at]), exact[:at])
                    np.testing.assert_array_equal(p[at], exact[at])


def part_of_rows(a):
    return (np.sort(np.partition(a, 2, axis=0)[:3], axis=0), np.partition(a, (1, 3), axis=1)[:, 1:4:2],
            np.partition(a, 4, axis=None)[4])


def beyond_the_end(a):
    return np.partition(a, 30)


@pytest.mark.parametrize("kth", [np.array([3]), np.array([0, 5, -1], np.int32), np.array(2), np.array([9]),
                                 np.array([[1, 2]])])
def test_partition_at_the_places_of_an_array(kth):
    a = np.random.default_rng(3).permutation(np.arange(9.0))

    def places(partition):
        try:
            found = partition(a, kth)
        except ValueError as error:
            return str(error)
        return np.asarray(found[kth]).tolist(), sorted(found.tolist())

    assert places(njit(lambda a, kth: np.partition(a, kth))) == places(np.partition)
    assert places(njit(lambda a, kth: a[np.argpartition(a, kth)])) == places(np.partition)


def test_partition_of_rows_and_errors():
    a = values(np.float64, 30, many=False).reshape(5, 6)
    agrees(part_of_rows, njit(part_of_rows), a)
    agrees(beyond_the_end, njit(beyond_the_end), a)


def test_patterns_that_defeat_pivots():
    compiled = njit(take)
    n = 5000
    for a in (np.arange(n), np.arange(n)[::-1].copy(), np.arange(n) % 3, np.zeros(n),
              np.minimum(np.arange(n), n - np.arange(n)), np.tile(np.arange(50), 100)):
        for k in (0, n // 2, n - 2):
            assert compiled(a, k)[0][k] == np.sort(a)[k]


def test_ranges_of_integers():
    compiled = njit(both)
    rng = np.random.default_rng(3)
    for dtype in (np.int8, np.uint64, np.int64):
        info = np.iinfo(dtype)
        ends = np.array([info.min, info.max, info.min + 1, info.max - 1], dtype)
        agrees(both, compiled, rng.choice(ends, 100))
        agrees(both, compiled, rng.choice(ends[1::2], 100))
        agrees(both, compiled, rng.choice(ends[::2], 100))


@pytest.mark.parametrize("kind", ["f8", "i4", "u1", "c16", "M8[s]"])
def test_few_elements_need_no_second_array(kind):
    @njit
    def f(x):
        return np.sort(x), np.argsort(x, kind="stable"), np.unique(x), np.unique(x, return_inverse=True)[1]

    for n in (0, 1, 2, 11, 12, 13, 24, 25, 26):
        x = np.random.default_rng(n).permutation(np.arange(n) % 9).astype(kind)
        if kind in ("f8", "c16") and n > 3:
            x[1] = np.nan
        before = x.copy()
        for got, expected in zip(f(x), f.__wrapped__(x)):
            assert got.dtype == expected.dtype and np.array_equal(got, expected, equal_nan=kind != "M8[s]")
        assert np.array_equal(x, before, equal_nan=kind != "M8[s]")
