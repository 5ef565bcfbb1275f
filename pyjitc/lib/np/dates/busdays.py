"""Business days: np.is_busday, busday_count and busday_offset.

A day is its number since 1970-01-01, a Thursday; the business days of a week are bits of an int, Monday the lowest;
holidays are sorted without repetitions, and all fall on business days of the week.
"""
from __future__ import annotations

import numpy as np

from ....infer.constants import constant
from ....infer.meaning import Call, CallValue, Const, Expr, Mismatch, NotNative, Throw
from ....ops.arith import CAST
from ....types import kinds as k
from ....types.kinds import Array, Int, NpTime
from ....types.lattice import dtype_of
from ...build import cast, a_type
from ...rule import Constant, NONE, rule

__all__ = ["CALLS", "METHODS"]

NAT = -(1 << 63)
ROLLS = ("raise", "nat", "forward", "following", "backward", "preceding", "modifiedfollowing", "modifiedpreceding")


def is_work(day, week):
    return (week >> ((day + 3) % 7)) & 1 == 1


def before(holidays, day):
    """The number of holidays before a day."""
    if holidays is None:
        return 0
    low, high = 0, len(holidays)
    while low < high:
        middle = (low + high) >> 1
        if holidays[middle] < day:
            low = middle + 1
        else:
            high = middle
    return low


def is_open(day, week, holidays):
    if not is_work(day, week):
        return False
    if holidays is None:
        return True
    at = before(holidays, day)
    return at == len(holidays) or holidays[at] != day


def sorted_holidays(holidays, week):
    if holidays is None:
        return None
    days = np.unique(np.ravel(holidays).view(np.int64))
    kept = 0
    for day in days:
        if day != NAT and is_work(int(day), week):
            days[kept] = day
            kept += 1
    return days[:kept]


def month_of(day):
    """A number that days of one month share (H. Hinnant, chrono-compatible low-level date algorithms)."""
    z = day + 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    return (yoe + era * 400) * 12 + (5 * doy + 2) // 153


def next_open(day, step, week, holidays):
    while not is_open(day, week, holidays):
        day += step
    return day


def rolled(day, roll, week, holidays):
    if day == NAT:
        if roll == "raise":
            raise ValueError("NaT input in busday_offset")
        return day
    if is_open(day, week, holidays):
        return day
    if roll == "raise":
        raise ValueError("Non-business day date in busday_offset")
    if roll == "nat":
        return NAT
    step = 1 if roll in ("forward", "following", "modifiedfollowing") else -1
    found = next_open(day, step, week, holidays)
    if roll in ("modifiedfollowing", "modifiedpreceding") and month_of(found) != month_of(day):
        return next_open(day, -step, week, holidays)
    return found


def moved(day, offset, roll, week, many, holidays):
    """The day that is `offset` business days from `day`: first by whole weeks, then by the holidays that were
    passed."""
    day = rolled(day, roll, week, holidays)
    if day == NAT or offset == 0:
        return day
    if offset > 0:
        passed = before(holidays, day)
        day += offset // many * 7
        left = offset % many + before(holidays, day + 1) - passed
        while left > 0:
            day += 1
            left -= 1 if is_open(day, week, holidays) else 0
    else:
        passed = before(holidays, day + 1)
        day -= -offset // many * 7
        left = -offset % many + passed - before(holidays, day)
        while left > 0:
            day -= 1
            left -= 1 if is_open(day, week, holidays) else 0
    return day


def counted(begin, end, week, many, holidays):
    """The number of business days with begin <= day < end; where end < begin, minus the number with end < day <=
    begin."""
    if begin == NAT or end == NAT:
        raise ValueError("Cannot compute a business day count with a NaT (not-a-time) date")
    if begin == end:
        return 0
    if begin > end:
        return -counted_up(end + 1, begin + 1, week, many, holidays)
    return counted_up(begin, end, week, many, holidays)


def counted_up(begin, end, week, many, holidays):
    weeks = (end - begin) // 7
    total = weeks * many - (before(holidays, end) - before(holidays, begin))
    for day in range(begin + weeks * 7, end):
        total += 1 if is_work(day, week) else 0
    return total


def number(x):
    return CAST(x, type=Int)


def is_busday(dates, week, holidays, out):
    closed = sorted_holidays(holidays, week)
    if not isinstance(dates, np.ndarray):
        return result(np.bool_(number(dates) != NAT and is_open(number(dates), week, closed)), out)
    days = np.ravel(dates)
    found = np.empty(len(days), np.bool_)
    for i in range(len(days)):
        found[i] = number(days[i]) != NAT and is_open(number(days[i]), week, closed)
    return result(found.reshape(dates.shape), out)


def busday_count(begins, ends, week, many, holidays, out):
    closed = sorted_holidays(holidays, week)
    if not isinstance(begins, np.ndarray) and not isinstance(ends, np.ndarray):
        return result(np.int64(counted(number(begins), number(ends), week, many, closed)), out)
    first, second = np.broadcast_arrays(np.asarray(begins), np.asarray(ends))
    a, b = np.ravel(first), np.ravel(second)
    found = np.empty(len(a), np.int64)
    for i in range(len(a)):
        found[i] = counted(number(a[i]), number(b[i]), week, many, closed)
    return result(found.reshape(first.shape), out)


def busday_offset(dates, offsets, roll, week, many, holidays, out):
    closed = sorted_holidays(holidays, week)
    if not isinstance(dates, np.ndarray) and not isinstance(offsets, np.ndarray):
        return result(CAST(np.int64(moved(number(dates), int(offsets), roll, week, many, closed)), type=DAY), out)
    first, second = np.broadcast_arrays(np.asarray(dates), np.asarray(offsets))
    a, b = np.ravel(first), np.ravel(second)
    found = np.empty(len(a), np.int64)
    for i in range(len(a)):
        found[i] = moved(number(a[i]), int(b[i]), roll, week, many, closed)
    return result(found.view("M8[D]").reshape(first.shape), out)


def result(found, out):
    if out is None:
        return found
    out[...] = found
    return out


# -- rules

DAY = NpTime("M", "D")
MONDAY = np.datetime64("2000-01-03")


def _days(name, place, x: Expr) -> Expr:
    t = x.type.dtype if isinstance(x.type, Array) else x.type
    if not isinstance(t, NpTime):
        raise NotNative(f"np.{name} of {a_type(x.type)} is not compiled", "pass dates")
    if t.kind != "M" or not np.can_cast(dtype_of(t), dtype_of(DAY), "safe"):
        raise Mismatch(f"Iterator operand {place} dtype could not be cast from {dtype_of(t)!r} to {dtype_of(DAY)!r} "
                       f"according to the rule 'safe'")
    if t is DAY:
        return x
    if isinstance(x.type, Array):
        return CallValue(constant(_in_days), x)
    return cast(x, DAY)


def _in_days(a):
    return a.astype("M8[D]")


def _calendar(name, weekmask, holidays, calendar) -> tuple[int | None, Expr]:
    """(the business days of a week, the holidays); or (None, the error) where the arguments are wrong."""
    if calendar:
        raise NotNative(f"busdaycal= of np.{name} is not compiled", "give weekmask= and holidays=")
    try:
        np.is_busday(MONDAY, weekmask)
    except (ValueError, TypeError) as error:
        return None, Throw(type(error), str(error))
    days = np.busdaycalendar(weekmask).weekmask
    if holidays:
        if not isinstance(holidays.type, Array):
            raise NotNative(f"holidays= of np.{name} must be an array of dates here", "make an array of them")
        if holidays.type.ndim != 1:
            return None, Throw(ValueError, "holidays must be a provided as a one-dimensional array")
        holidays = _days(name, 0, holidays)
    return sum(1 << j for j, on in enumerate(days) if on), holidays or NONE


def _said_of_none(name, key, n):
    """The error that NumPy raises for None as an optional argument."""
    try:
        getattr(np, name)(*(MONDAY, 1 if name == "busday_offset" else MONDAY)[:n], **{key: None})
    except (ValueError, TypeError) as error:
        return Throw(type(error), str(error))
    raise NotNative(f"{key}=None of np.{name} is not compiled", "leave it out")


def _counted(name, function, dates, more, weekmask, holidays, calendar, out):
    for key, x in (("holidays", holidays), ("busdaycal", calendar), ("out", out)):
        if x.type is k.NoneType:
            return _said_of_none(name, key, len(dates) + bool(more))
    holidays, calendar, out = (None if x.type is k.Ellipsis_ else x for x in (holidays, calendar, out))
    week, holidays = _calendar(name, weekmask, holidays, calendar)
    if week is None:
        return holidays
    parts = [*(_days(name, j, x) for j, x in enumerate(dates)), *more, Const(Int, week)]
    if name != "is_busday":
        parts.append(Const(Int, week.bit_count()))
    return Call(function, *parts, holidays, out or NONE)


@rule("np.is_busday")
def _is_busday(dates, weekmask: Constant = "1111100", holidays=..., busdaycal=..., out=...):
    return _counted("is_busday", is_busday, [dates], [], weekmask, holidays, busdaycal, out)


@rule("np.busday_count")
def _busday_count(begindates, enddates, weekmask: Constant = "1111100", holidays=..., busdaycal=..., out=...):
    return _counted("busday_count", busday_count, [begindates, enddates], [], weekmask, holidays, busdaycal, out)


@rule("np.busday_offset")
def _busday_offset(dates, offsets, roll: Constant = "raise", weekmask: Constant = "1111100", holidays=...,
                   busdaycal=..., out=...):
    t = offsets.type.dtype if isinstance(offsets.type, Array) else offsets.type
    if not k.is_integer(t):
        raise NotNative(f"np.busday_offset by {a_type(offsets.type)} is not compiled", "use integers")
    if roll is None:
        return _said_of_none("busday_offset", "roll", 2)
    if roll not in ROLLS:
        return Throw(ValueError, f'Invalid business day roll parameter "{roll}"')
    return _counted("busday_offset", busday_offset, [dates], [offsets, Const(k.Str, roll)], weekmask, holidays,
                    busdaycal, out)


CALLS = {np.is_busday: _is_busday, np.busday_count: _busday_count, np.busday_offset: _busday_offset}
METHODS: dict = {}
