"""Searching and counting against NumPy."""
import numpy as np
import pytest
from tests.lib.np.test_sorting import agrees, values

from pyjitc import njit


def left(a, v):
    return np.searchsorted(a, v), a.searchsorted(v, side="right")


@pytest.mark.parametrize("dtypes", [(np.float64, np.float64), (np.int64, np.float32), (np.float32, np.int8),
                                    (np.uint64, np.int64), (np.complex128, np.float64), (np.bool_, np.int32),
                                    (np.float16, np.float16)],
                         ids=lambda p: " ".join(np.dtype(t).name for t in p))
def test_searchsorted(dtypes):
    compiled = njit(left)
    for n in (0, 1, 2, 9, 200):
        for m in (0, 1, 30):
            agrees(left, compiled, np.sort(values(dtypes[0], n)), values(dtypes[1], m, 7))
    a, v = np.sort(values(dtypes[0], 40)), values(dtypes[1], 24, 3)
    agrees(left, compiled, a[::2], v.reshape(2, 3, 4))
    for n in (0, 1, 3, 8, 9, 40):  # a single number is searched for in another way among few elements
        for x in (*v[:4], *a[:n:3]):
            agrees(left, compiled, a[-n:] if n % 2 else a[:n], x)
    agrees(left, compiled, a, v[0:1].reshape(()))


def for_numbers(a):
    return (np.searchsorted(a, 3), np.searchsorted(a, 2.5, "right"), a.searchsorted(True),
            np.searchsorted(a, np.int8(4), side="left"))


def with_sorter(a, v, s):
    return np.searchsorted(a, v, "right", s), a.searchsorted(v, sorter=s)


def bad_side(a):
    return np.searchsorted(a, 3, "middle")


def test_searchsorted_of_numbers_and_sorter():
    agrees(for_numbers, njit(for_numbers), np.arange(6))
    agrees(for_numbers, njit(for_numbers), np.arange(6, dtype=np.float32))
    agrees(bad_side, njit(bad_side), np.arange(6))
    agrees(bad_side, njit(bad_side), np.zeros((2, 2)))
    a = values(np.float64, 50)
    compiled = njit(with_sorter)
    agrees(with_sorter, compiled, a, values(np.float64, 9, 2), np.argsort(a))
    agrees(with_sorter, compiled, a, values(np.float64, 9, 2), np.argsort(a)[:-1])


def both_sides(x, bins):
    return np.digitize(x, bins), np.digitize(x, bins, right=True)


def test_digitize():
    compiled = njit(both_sides)
    bins = np.array([0.0, 1.0, 2.5, 2.5, 7.0])
    x = values(np.float64, 60, 1)
    for b in (bins, bins[::-1], bins[:1], bins[:0], bins[[2, 0, 1]], np.zeros(3)):
        agrees(both_sides, compiled, x, b)
    agrees(both_sides, compiled, x.reshape(3, 20), bins)
    agrees(both_sides, compiled, np.float64(2.5), bins)
    agrees(both_sides, compiled, 3, bins[::-1])
    agrees(both_sides, compiled, np.arange(5), np.array([3, 1]))


def places(a):
    return np.nonzero(a), a.nonzero(), np.flatnonzero(a), np.argwhere(a), np.count_nonzero(a)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float16, np.float64, np.complex64],
                         ids=lambda t: np.dtype(t).name)
def test_places_of_what_is_not_zero(dtype):
    compiled = njit(places)
    a = values(dtype, 48)
    a[::3] = 0
    for x in (a, a[:0], a[::-2], a.reshape(4, 12), a.reshape(4, 12).T, a.reshape(2, 6, 4)[:, ::2],
              a.reshape(2, 6, 4)[:, :0]):
        agrees(places, compiled, x)


def flat_places(a):
    return np.flatnonzero(a), np.argwhere(a)


def test_places_in_no_dimensions():
    for x in (np.array(0.0), np.array(2)):
        agrees(flat_places, njit(flat_places), x)
        if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
            agrees(places, njit(places), x)
        else:  # NumPy 2.0 warns: a row of docs/semantics.md
            with pytest.raises(ValueError, match="nonzero on 0d arrays is not allowed"):
                njit(places)(x)


def extracted(c, a):
    return np.extract(c, a)


def test_extract():
    compiled = njit(extracted)
    a = np.arange(12.0).reshape(3, 4)
    agrees(extracted, compiled, a % 3 == 0, a)
    agrees(extracted, compiled, (a % 3 == 0).ravel(), a.T)
    agrees(extracted, compiled, np.array([1, 0, 2]), a[0])
    agrees(extracted, compiled, np.ones(5), a[0])


def counted(x):
    return np.bincount(x), np.bincount(x, minlength=7), np.bincount(x, None, 3)


def weighed(x, w):
    return np.bincount(x, w), np.bincount(x, weights=w, minlength=12)


def too_short(x):
    return np.bincount(x, minlength=-1)


def test_bincount():
    x = values(np.int64, 40) + 4
    for a in (x, x[:0], x.astype(np.uint8), x > 3, x - 5, x[::3]):
        agrees(counted, njit(counted), a)
    for w in (np.linspace(0, 1, 40), np.arange(40, dtype=np.int16), np.arange(39.0)):
        agrees(weighed, njit(weighed), x, w)
    agrees(too_short, njit(too_short), x)


def test_bincount_of_uint64():
    x = values(np.int64, 40) + 4
    if np.lib.NumpyVersion(np.__version__) < "2.2.0":  # refuses them: a row of docs/semantics.md
        np.testing.assert_array_equal(njit(counted)(x.astype(np.uint64))[0], np.bincount(x))
        return
    for a in (x, x - 5):
        agrees(counted, njit(counted), a.astype(np.uint64))
    for w in (np.linspace(0, 1, 40), np.arange(40, dtype=np.int16), np.arange(39.0)):
        agrees(weighed, njit(weighed), x.astype(np.uint64), w)


def of_sequences(a):
    return (np.sort([3, 1, 2]), np.argsort((2.5, 1.0)), np.isin(a, [1, 2]), np.isin(3, a),
            np.searchsorted([1, 2, 3], a), np.bincount((1, 2, 2)), np.histogram(a, [0, 1, 4]),
            np.histogram(a, 3, [0, 5]), np.digitize(a, [1, 3]), np.median([1, 5, 2]), np.quantile(a, [0, 1]),
            np.percentile(a, (10, 40)), np.unique([2, 1, 2]), np.union1d([1], (0, 2)))


def test_sequences():
    agrees(of_sequences, njit(of_sequences), np.array([4, 0, 2, 2]))


@pytest.mark.parametrize("x", [None, "", " ", "ab", b"", b"a", 0, 2.5, 1j, float("nan"), np.float32(0), True])
def test_places_in_one_object(x):
    def places(x):
        return np.flatnonzero(x), np.argwhere(x)

    agrees(places, njit(places), x)
