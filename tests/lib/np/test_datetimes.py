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



# ---------------------------------------------------------------- arithmetic


@njit
def of_durations(x, y):
    return (x + y, x - y, x / y, x // y, x % y, divmod(x, y), np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y), x < y, x <= y,
            x > y, x >= y, x == y, x != y)


@njit
def of_dates(x, y):
    return x - y, np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y), x < y, x <= y, x > y, x >= y, x == y, x != y


@njit
def moved(x, d):
    return x + d, d + x, x - d


@njit
def by_number(d, n):
    return d * n, n * d, d / n, d // n


@njit
def by_itself(d):
    return -d, +d, abs(d), np.sign(d), np.isnat(d), np.isnan(d), np.isfinite(d), np.isinf(d), np.negative(d), np.logical_not(np.isnat(d))


@njit
def of_date(x):
    return np.isnat(x), np.isnan(x), np.isfinite(x), np.isinf(x)


PAIRS = [("D", "D"), ("D", "h"), ("Y", "M"), ("25s", "10s"), ("W", "us"), ("", "s"), ("", "")]


def unit(text):
    return f"[{text}]" if text else ""


def grid(x, y):
    """All pairs of elements."""
    return np.repeat(x, len(y)), np.tile(y, len(x))


@pytest.mark.parametrize("s, t", PAIRS)
def test_durations(s, t):
    x, y = numbers().view("m8" + unit(s)), numbers(5)[::2].view("m8" + unit(t))
    for p, q in zip(*grid(x, y)):
        alike(of_durations, p, q)
    if (s, t) in PAIRS[1:3]:
        alike(of_durations, *grid(x, y))
        alike(of_durations, x[:0], y[:1])


@pytest.mark.parametrize("s, t", [*PAIRS[:5], ("M", "D"), ("Y", "h"), ("ns", "as")])
def test_dates(s, t):
    x, y = dates(s), numbers(5)[::2].view(f"M8[{t}]")
    for p, q in zip(*grid(x, y)):
        alike(of_dates, p, q)
        alike(moved, p, q.view(f"m8[{t}]"))
    if (s, t) in (("D", "h"), ("M", "D")):
        alike(of_dates, *grid(x, y))
        d = y.view(f"m8[{t}]")
        alike(moved, *grid(x, d))
        alike(moved, x[:1].reshape(1, 1), d[-1])


def test_with_numbers():
    d = durations("h", 2**62, 7, -7)
    for n in (2, -3, 0, 2.5, -0.5, 0.0, np.nan, np.inf, 1e300, np.int8(-3), np.uint8(3), np.float32(0.1), np.uint64(2**63)):
        alike(by_number, d, n)
        for i in (0, 4, 10, -1):
            alike(by_number, d[i], n)
    alike(by_number, *grid(d, np.array([3, -3, 0, LEAST])))
    alike(by_number, *grid(d, np.array([2.5, -2.5, 0, np.nan])))


def test_of_one():
    for d in (durations("D"), durations("D")[3], durations("D")[10], durations("ns").reshape(11, 1)[::-2]):
        alike(by_itself, d)
    for x in (dates("D")[3], dates("s")[10]):
        alike(of_date, x)


@njit
def date_and_int(x, n):
    return x + n, x - n, n + x


def test_ints_have_the_unit_of_the_other_side():
    for x in (dates("D"), dates("D")[3], durations("h"), durations("h")[10]):
        for n in (5, np.int8(-3), True, np.arange(11)):
            alike(date_and_int, x, n)
