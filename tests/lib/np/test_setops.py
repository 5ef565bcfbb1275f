"""Sets of numbers against NumPy."""
import numpy as np
import pytest
from tests.lib.np.test_sorting import agrees, values
from tests.oracle import agree

from pyjitc import njit

DTYPES = [np.bool_, np.int8, np.uint64, np.float16, np.float64]


def distinct(a):
    return np.unique(a)


def with_all(a):
    return np.unique(a, True, True, True)


def with_some(a):
    return (np.unique(a, return_counts=True), np.unique(a, return_inverse=True),
            np.unique(a, return_index=True, return_counts=True))


def nans_apart(a):
    return np.unique(a, equal_nan=False), np.unique(a, return_counts=True, equal_nan=False)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda t: np.dtype(t).name)
def test_unique(dtype):
    compiled = [(f, njit(f)) for f in (distinct, with_all)]
    for n in (0, 1, 2, 40):
        for f, g in compiled:
            agrees(f, g, values(dtype, n, n))
            agrees(f, g, values(dtype, n, n)[::-2])


def test_unique_of_layouts_and_nans():
    a = values(np.float64, 24)
    agrees(nans_apart, njit(nans_apart), a)
    for x in (a.reshape(4, 6), a.reshape(4, 6).T):
        agrees(with_all, njit(with_all), x)
        agrees(with_some, njit(with_some), x)
    agrees(distinct, njit(distinct), np.array(3.0))
    agrees(distinct, njit(distinct), values(np.int64, 24).reshape(2, 3, 4)[:, ::2])


def rows(a):
    return np.unique(a, axis=0), np.unique(a, True, True, True, 1), np.unique(a, return_inverse=True, axis=-1)


def test_unique_rows():
    compiled, a = njit(rows), np.array([[2, 1, 2], [0, 3, 0], [2, 1, 2], [0, 0, 0]])
    for x in (a, a[::-1], a * 1.0, np.where(a == 3, np.nan, a), a > 1, a[:0], a[:, :0], np.stack((a, a + 1, a)),
              a[:1] + 1j):
        agrees(rows, compiled, x)
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds for array of dimension 2"):
        njit(lambda a: np.unique(a, axis=2))(a)


def sets(a, b):
    return (np.union1d(a, b), np.intersect1d(a, b), np.setdiff1d(a, b), np.setxor1d(a, b), np.isin(a, b),
            np.isin(b, a, invert=True))


def places(a, b):
    return np.intersect1d(a, b, return_indices=True)


@pytest.mark.parametrize("dtypes",
                         [(np.int64, np.int64), (np.int8, np.float32), (np.float64, np.float64), (np.uint8, np.int16)],
                         ids=lambda p: " ".join(np.dtype(t).name for t in p))
def test_two_sets(dtypes):
    for f in (sets, places):
        compiled = njit(f)
        for n, m in ((0, 0), (5, 0), (0, 5), (30, 4), (9, 60)):
            agrees(f, compiled, values(dtypes[0], n, 1), values(dtypes[1], m, 2))


def assumed(a, b):
    return (np.intersect1d(a, b, True), np.setdiff1d(a, b, True), np.setxor1d(a, b, assume_unique=True),
            np.intersect1d(a, b, assume_unique=True, return_indices=True), np.isin(a, b, assume_unique=True))


def members(a, b):
    return np.isin(a, b), np.isin(a, b, invert=True)


def test_assumptions_and_shapes():
    agrees(assumed, njit(assumed), np.array([5, 1, 3, 9]), np.array([9, 2, 5]))
    a, b = values(np.float32, 24), values(np.float32, 30, 4)
    agrees(members, njit(members), a.reshape(4, 6).T, b.reshape(5, 6))
    agrees(members, njit(members), a.reshape(2, 3, 4)[:, ::2], b[:5])
    agrees(members, njit(members), values(np.complex128, 20), values(np.complex128, 20, 1))
    agrees(sets, njit(sets), a.reshape(4, 6), b.reshape(5, 6))


def test_kinds_of_isin():
    for kind in (None, "sort", "table", "nosuch"):
        for dtype in ("float64", "int32"):
            agree(lambda a: np.isin(a, a[:2], kind=kind), np.arange(4, dtype=dtype))
