"""Business days against NumPy: weeks, holidays, ways to roll, arrays and single days, NaT."""
import numpy as np
import pytest
from tests.oracle import agree_on

from pyjitc import njit
from pyjitc.base.errors import TypingError

RNG = np.random.default_rng(0)
START = np.datetime64("1995-01-01")
DAYS, ENDS = START + RNG.integers(0, 12000, 60), START + RNG.integers(0, 12000, 60)
OFFSETS = RNG.integers(-700, 700, 60)
HOLIDAYS = START + RNG.integers(0, 12000, 900)
HOLIDAYS[3] = np.datetime64("NaT")
NAT = np.datetime64("NaT", "D")


def agrees(function, *calls):
    agree_on(function, *calls)


def open_days(d, h):
    return np.is_busday(d), np.is_busday(d, holidays=h), np.is_busday(d, "Mon Wed Sun", h)


def test_is_busday():
    agrees(open_days, (DAYS, HOLIDAYS), (DAYS[::-2].reshape(5, 6), HOLIDAYS), (DAYS[:0], HOLIDAYS[:0]),
           (DAYS[0], HOLIDAYS), (NAT, HOLIDAYS))
    agrees(lambda d: np.is_busday(d), (DAYS.astype("M8[M]"),))
    agrees(lambda d: np.is_busday(d, "11"), (DAYS,))
    agrees(lambda d: np.is_busday(d, "0000000"), (DAYS,))
    with pytest.raises(TypingError, match="could not be cast"):
        njit(lambda d: np.is_busday(d))(DAYS.astype("M8[s]"))


def counts(d, e, h):
    return np.busday_count(d, e), np.busday_count(d, e, holidays=h), np.busday_count(d, e, "1010101", h)


def test_busday_count():
    agrees(counts, (DAYS, ENDS, HOLIDAYS), (DAYS.reshape(6, 10), ENDS[:10], HOLIDAYS), (DAYS[0], ENDS[0], HOLIDAYS),
           (DAYS[0], DAYS[0], HOLIDAYS), (ENDS[1], DAYS, HOLIDAYS), (NAT, DAYS, HOLIDAYS))


@pytest.mark.parametrize("roll", ["forward", "modifiedfollowing", "modifiedpreceding", "bad"])
def test_busday_offset(roll):
    agrees(lambda d, n, h: np.busday_offset(d, n, roll, holidays=h), (DAYS, OFFSETS, HOLIDAYS))


def test_shapes_of_offsets():
    def moved(d, n, h):
        return np.busday_offset(d, n, roll="nat"), np.busday_offset(d, n, "backward", "0100011", h)

    agrees(moved, (DAYS, OFFSETS, HOLIDAYS), (DAYS[0], 3, HOLIDAYS), (NAT, 3, HOLIDAYS),
           (DAYS[:5], np.arange(10).reshape(2, 5), HOLIDAYS))
    agrees(lambda d: np.busday_offset(d, -2), (DAYS,), (NAT,))


def test_out():
    def written(d, out):
        return np.busday_offset(d, 1, "forward", out=out)

    agrees(written, (DAYS, DAYS.copy()))


@pytest.mark.parametrize("function", [
    lambda d, h: np.is_busday(d, None), lambda d, h: np.is_busday(d, holidays=None), lambda d,
    h: np.busday_count(d, d, busdaycal=None), lambda d, h: np.busday_offset(d, 1, roll=None), lambda d,
    h: np.busday_offset(d, 1, out=None), lambda d, h: np.is_busday(d, holidays=h),
])
def test_none_is_not_nothing(function):
    agrees(function, (START, HOLIDAYS[:6].reshape(2, 3)))
