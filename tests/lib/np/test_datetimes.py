"""Dates and durations (datetime64, timedelta64) against NumPy: over units, layouts, NaT, empty arrays, overflow."""

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree, difference, outcome, plain

UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
FINE = UNITS[2:]
LEAST = -(1 << 63)


def numbers(*extra):
    return np.array([0, 1, -1, 59, -61, 366, -800, 11017, 86400, -10**6, LEAST, *extra])


def dates(unit, *extra):
    return numbers(*extra).view(f"M8[{unit}]")


def durations(unit, *extra):
    return numbers(*extra).view(f"m8[{unit}]")


def alike(compiled, *args):
    """Both do the same; NumPy's np.longlong is np.int64 here."""
    expected, actual = outcome(plain(compiled), args), outcome(compiled, args)
    expected = (expected[0], plain_int64(expected[1]), *expected[2:])
    wrong = difference(expected, actual)
    assert not wrong, f"{compiled.__name__}{args}: {wrong}"


def plain_int64(x):
    if isinstance(x, tuple):
        return tuple(map(plain_int64, x))
    return np.int64(x) if isinstance(x, np.longlong) else x


# ---------------------------------------------------------------- in and out


@njit
def same(x):
    return x


@njit
def first_difference(a):
    return a[1] - a[0]


@njit
def dtype_of(x):
    return x.dtype


@pytest.mark.parametrize("unit", ["D", "M", "ns", "25s"])
def test_a_difference_of_dates(unit):
    for a in (dates(unit), dates(unit)[::-1], dates(unit)[8:], np.asfortranarray(dates(unit)[:10].reshape(2, 5))[0]):
        agree(first_difference, a, compiled=first_difference)
    with pytest.raises(IndexError):
        first_difference(dates(unit)[:1])


def test_units_are_types():
    for d in ("M8[D]", "M8[7D]", "M8[s]", "m8[s]", "m8", "M8", "m8[7D]"):
        a = np.array([5, LEAST]).view(d)
        for x in (a, a[0], a[1], a.dtype, a[:0], a.reshape(2, 1), (a[0], a)):
            for _ in range(2):  # compiled, then from the native entry
                found = same(x)
                assert found is x or not difference(("", x, (), ""), ("", found, (), ""))
        assert same(a) is a
        agree(dtype_of, a, compiled=dtype_of)
        agree(dtype_of, a[0], compiled=dtype_of)
    count = len(same.signatures)
    for d in ("M8[D]", "m8[7D]"):
        same(np.zeros(3, d))
        same(np.zeros(3, d)[0])
        same(np.dtype(d))
    assert len(same.signatures) == count
    with pytest.raises(TypeError, match="bytes are swapped"):
        same(np.zeros(2, ">M8[D]"))

