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
    """Assert that both do the same; np.longlong is np.int64 in compiled code."""
    expected, actual = outcome(plain(compiled), args), outcome(compiled, args)
    expected = (expected[0], plain_int64(expected[1]), *expected[2:])
    wrong = difference(expected, actual)
    assert not wrong, f"{compiled.__name__}{args}: {wrong}"


def plain_int64(x):
    if isinstance(x, tuple):
        return tuple(map(plain_int64, x))
    return np.int64(x) if isinstance(x, np.longlong) else x


# ---------------------------------------------------------------- arguments and results


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
            for _ in range(2):  # compiled, then by the native stub
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


def test_hashes():
    compiled = njit(lambda x: hash(x))
    for x in (np.timedelta64(5, "s"), np.timedelta64(5000, "ms"), np.timedelta64(-3, "D"), np.timedelta64(2, "Y"),
              np.timedelta64(7), np.datetime64(3, "s"), np.datetime64("2020-01")):  # those of NaT are of the object
        agree(compiled, x, compiled=compiled)


# ---------------------------------------------------------------- arithmetic


@njit
def of_durations(x, y):
    return (x + y, x - y, x / y, x // y, x % y, divmod(x, y), np.maximum(x, y), np.minimum(x, y), np.fmax(x, y),
            np.fmin(x, y), x < y, x <= y, x > y, x >= y, x == y, x != y)


@njit
def of_dates(x, y):
    return (x - y, np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y), x < y, x <= y, x > y, x >= y,
            x == y, x != y)


@njit
def moved(x, d):
    return x + d, d + x, x - d


@njit
def by_number(d, n):
    return d * n, n * d, d / n, d // n


@njit
def by_itself(d):
    return (-d, +d, abs(d), np.sign(d), np.isnat(d), np.isnan(d), np.isfinite(d), np.isinf(d), np.negative(d),
            np.logical_not(np.isnat(d)))


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
    if (s, t) == ("D", "h"):
        alike(of_durations, *grid(x, y))
        alike(of_durations, x[:0], y[:1])


def test_quotients_of_durations_are_int64():
    assert [type(x) for x in of_durations(np.timedelta64(7, "D"), np.timedelta64(2, "D"))[3:6:2]] == [np.int64, tuple]


@pytest.mark.parametrize("s, t", [*PAIRS[:5], ("M", "D"), ("Y", "h"), ("ns", "as")])
def test_dates(s, t):
    x, y = dates(s), numbers(5)[::2].view(f"M8[{t}]")
    for p, q in zip(*grid(x, y)):
        alike(of_dates, p, q)
        alike(moved, p, q.view(f"m8[{t}]"))
    if (s, t) == ("M", "D"):
        alike(of_dates, *grid(x, y))
        d = y.view(f"m8[{t}]")
        alike(moved, *grid(x, d))
        alike(moved, x[:1].reshape(1, 1), d[-1])


def test_with_numbers():
    d = durations("h", 7, -7)
    for n in (2, -3, 0, 2.5, -0.5, 0.0, np.nan, np.inf, 1e300, np.int8(-3), np.uint8(3), np.float32(0.1)):
        for i in (0, 4, 10, -1):
            alike(by_number, d[i], n)
    for n in (2, 0, -0.5, np.nan):
        alike(by_number, d, n)
    alike(by_number, *grid(d, np.array([3, -3, 0])))
    alike(by_number, *grid(d, np.array([2.5, -2.5, 0, np.nan])))


@njit
def equal(x, y):
    return x == y, x != y


def test_dates_and_numbers_are_never_equal():
    for x in (dates("D"), dates("D")[3]):
        for y in (5, 2.5, durations("D")[3], durations("D"), np.arange(11)):
            alike(equal, x, y)
    alike(equal, durations("D"), 59)
    alike(equal, durations("D"), 59.0)


def test_overflow():
    """NumPy wraps before 2.5, and raises from then on."""
    far = np.array([5, 2**62, LEAST]).view("m8[h]")
    for d in (far, far[1], -far[1], far[2]):
        for n in (1, 4, np.uint64(2**63)):
            alike(twice, d, n)
    for x, d in ((far.view("M8[h]"), far), (far[1].view("M8[h]"), far[1]), (far[1].view("M8[h]"), -far[1])):
        alike(moved, x, d)
        alike(moved, x, d.astype(np.int64).view("m8[D]"))
    alike(summed, far[:2])
    alike(summed, np.array([2**62, 2**62, 1]).view("m8[h]"))


@njit
def twice(d, n):
    return d * n, n * d


@njit
def summed(d):
    return d.sum(), d + d, d - -d, np.cumsum(d)


def test_of_one():
    for d in (durations("D"), durations("D")[3], durations("D")[10], durations("ns").reshape(11, 1)[::-2]):
        alike(by_itself, d)
    for x in (dates("D")[3], dates("s")[10]):
        alike(of_date, x)


@njit
def date_and_int(x, n):
    return x + n, x - n, n + x


def test_ints_have_the_unit_of_the_other_side():
    for x in (dates("D"), durations("h")[3], durations("h")[10]):
        for n in (5, np.int8(-3)):
            alike(date_and_int, x, n)
    alike(date_and_int, dates("D"), np.arange(11))
    alike(date_and_int, dates("D")[3], True)


# ---------------------------------------------------------------- units, conversions, constants


@pytest.mark.parametrize("kind", "Mm")
def test_units_are_converted_as_numpy_does(kind):
    """Every unit to some others, also calendar units; the numbers have very different magnitudes."""
    given = numbers(-719529, 2932896, 10**9, -10**12)
    for i, s in enumerate(UNITS):
        pairs = {UNITS[(i + 1) % 13], UNITS[(i + 5) % 13]} | ({"D", "M", "25s"} if s in "YMDs" else set())
        for t in sorted(pairs - {s}):
            target = f"{kind}8[{t}]"

            def convert(a):
                return a.astype(target)

            compiled = njit(convert)
            x = given.view(f"{kind}8[{s}]")
            try:
                x[:1].astype(target)
            except OverflowError:  # the conversion factor is too large
                with pytest.raises(TypeError, match="conversion factor"):
                    compiled(x)
                continue
            for each in x:
                alike(compiled, each)


@njit
def conversions(a):
    return (a.astype(np.int64), a.astype(np.int32), a.astype(np.float64), a.astype(np.bool_), a.view(np.int64),
            a.astype("m8[D]"), a.astype("M8[h]"), a.astype(np.timedelta64), a.astype(np.datetime64), a.astype("M8[D]"))


@njit
def from_numbers(a):
    return a.astype("M8[D]"), a.astype("m8[25s]"), a.astype("m8"), a.astype(np.timedelta64)


@njit
def scalar_conversions(x):
    return (x.astype(np.int64), x.view(np.int64), x.astype("m8[h]"), x.view("M8[s]"), bool(x), x.dtype, x.itemsize,
            x.real, str(x), f"{x}!")


def test_conversions_of_other_kinds():
    for a in (dates("D"), durations("h"), durations("h")[::-2], durations("h")[:0]):
        alike(conversions, a)
    for a in (numbers(), np.array([2.5, -2.5, np.nan, 1e300]), np.array([True, False]), np.array([3, -3], np.int8),
              np.array([2**63], np.uint64)):
        alike(from_numbers, a)
    for x in (*dates("D")[[1, 4, 10]], *durations("h")[[0, 1, 4]]):
        alike(scalar_conversions, x)


@njit
def constants():
    return (np.datetime64("2020-01-01"), np.datetime64("2020-01-01T05:06", "s"), np.datetime64("2020-02-03", "M"),
            np.timedelta64(5, "D"), np.timedelta64(-7), np.datetime64("NaT"), np.timedelta64("NaT", "25s"),
            np.datetime64(5, "W"), np.timedelta64(5, ("s", 25)), np.timedelta64())


@njit
def made(n, x, d):
    return (np.timedelta64(n, "D"), np.datetime64(n, "25s"), np.timedelta64(n), np.datetime64(x, "s"), np.datetime64(x),
            np.timedelta64(d, "m"), np.timedelta64(d))


def test_constructors():
    alike(constants)
    for n in (0, -5, True, 2**62):
        alike(made, n, np.datetime64("1969-12-31T05"), np.timedelta64(-7, "h"))
    if np.isnat(np.timedelta64(np.timedelta64("NaT", "h"), "m")):  # 0 in NumPy 2.2
        alike(made, 3, np.datetime64("NaT", "h"), np.timedelta64("NaT", "h"))


@njit
def read(text, texts, a):
    a[0] = text
    a[1:] = text
    return (np.datetime64(text, "D"), np.datetime64(text, "15m"), np.array(texts, "M8[h]"), a,
            np.array(["2024-02-29", "1969-12-31"], dtype="datetime64[D]"), np.array([texts, texts], "M8[s]"))


def test_texts():
    for text in ("2024-03-01", "NaT", "2024-03-01T05", "no date", ""):
        alike(read, text, ["1969-12-31T05", "2024-01"], dates("D"))
    alike(read, "2020", [], dates("s"))
    alike(njit(lambda x: np.timedelta64(x, "s")), "-5")


@pytest.mark.parametrize("function, args", [
    (lambda n: np.datetime64(n), (5,)), (lambda x: np.timedelta64(x, "D"), (2.5,)),
    (lambda x: np.datetime64("x"), (5,)), (lambda x: np.timedelta64(x), (np.datetime64("2020"),)),
    (lambda x: np.datetime64(x, "D"), (np.int64(5),)), (lambda a: put_one(a, 1j), (np.zeros(2, "M8[D]"),)),
    (lambda a: put_one(a, 2.5), (np.zeros(2, "m8[D]"),))])
def test_what_no_date_can_be_made_of(function, args):
    agree(function, *args)


# ---------------------------------------------------------------- indices


@njit
def put(a, x, y):
    a[0] = x
    a[1:3] = y
    a[-1] = None
    a[[4, 5]] = x
    return a


@njit
def put_text(a):
    a[1] = "NaT"
    a[2:] = "2020-01-01"
    a.fill(np.datetime64("1969-12-31T13"))
    return a


def test_assignment():
    d = durations("D")
    for x, y in ((np.timedelta64(7, "D"), d[3:5]), (np.timedelta64(49, "h"), durations("h")[3:5]), (5, np.int8(7)),
                 (np.timedelta64(2), numbers()[:2])):
        alike(put, d, x, y)
    for x, y in ((np.datetime64("2020-01-01"), dates("D")[3:5]), (np.datetime64("1969-12-31T05"), dates("Y")[3:5])):
        alike(put, dates("D"), x, y)
    alike(put_text, dates("D"))


@pytest.mark.parametrize("function, args, text", [
    (lambda a, x: put_one(a, x), (np.zeros(2, "m8[D]"), np.timedelta64(1, "Y")),
     "Cannot cast NumPy timedelta64 scalar from metadata .Y. to .D."),
    (lambda a, x: put_one(a, x), (np.zeros(2, int), np.timedelta64(1, "D")), "is not compiled"),
    (lambda a, x: a + x, (np.zeros(2, "M8[D]"), np.zeros(2, "M8[D]")), "cannot use operands"),
    (lambda a, x: a * x, (np.zeros(2, "M8[D]"), 2), "cannot use operands"),
    (lambda a, x: a < x, (np.zeros(2, "m8[M]"), np.zeros(2, "m8[D]")), "incompatible nonlinear base time units"),
    (lambda a, x: a == x, (np.zeros(2, "m8[M]"), np.zeros(2, "m8[D]")), "incompatible nonlinear base time units"),
    (lambda a, x: a @ x, (np.zeros(2, "m8[D]"), np.ones(2)), "np.matmul of dates or durations is not compiled"),
    (lambda a, x: np.cumsum(a, dtype="m8[h]"), (np.zeros(2, "m8[D]"), 5), "with dtype= are not compiled"),
    (lambda a, x: np.where(a == a, a, x), (np.zeros(2, "M8[D]"), 5), "could not be promoted"),
    (lambda a, x: np.sin(a), (np.zeros(2, "m8[D]"), 5), "not supported for the input types"),
    (lambda a, x: np.sum(a), (np.zeros(2, "M8[D]"), 5), "cannot use operands"),
    (lambda a, x: np.std(a), (np.zeros(2, "m8[D]"), 5), "np.std of dates or durations is not compiled"),
    (lambda a, x: np.linalg.norm(x=a), (np.zeros(2, "m8[D]"), 5),
     "np.linalg.norm of dates or durations is not compiled"),
    (lambda a, x: np.interp(x, xp=a, fp=a), (np.zeros(2, "m8[D]"), 5),
     "np.interp of dates or durations is not compiled"),
    (lambda a, x: np.datetime_as_string(a), (np.zeros(2, "M8[D]"), 5), "np.datetime_as_string is not compiled"),
    (lambda a, x: a[0].item(), (np.zeros(2, "M8[D]"), 5), "item' is not compiled"),
    (lambda a, x: int(a[0]), (np.zeros(2, "M8[D]"), 5), "not 'numpy.datetime64'(?s:.*)help: x.astype"),
    (lambda a, x: np.datetime64("now"), (0, 0), "is not compiled"),
    (lambda a, x: np.datetime64(a), ("2020", 0), "write the unit"),
    (lambda a, x: np.array(a, "M8"), (["2020"], 0), "write the unit"),
    (lambda a, x: np.concatenate((a, x)), (np.zeros(2, "M8[D]"), np.zeros(2, "m8[D]")), "to dtype.'<M8.D.'. acc"),
    (lambda a, x: np.append(a, x), (np.zeros(2, "m8[h]"), np.zeros(2, "M8[D]")), "to dtype.'<M8.h.'. acc"),
    (lambda a, x: np.searchsorted(a, x), (np.zeros(2, "M8[D]"), np.zeros(2, "m8[D]")), "rule 'safe'"),
    (lambda a, x: np.select([a == a], [a], x), (np.zeros(2, "m8[D]"), np.datetime64(0, "D")), "rule 'same_kind'"),
    (lambda a, x: np.isin(a, x), (np.zeros(2, "M8[D]"), np.zeros(2, "m8[D]")), "isin of dates and durations"),
    (lambda a, x: np.union1d(a, x), (np.zeros(2, "M8[D]"), np.zeros(2, "m8[D]")), "union1d of dates and durations"),
    (lambda a, x: np.sum(a, initial=x), (np.arange(2), np.timedelta64(1, "D")), "as the initial value of numbers"),
])
def test_located_errors(function, args, text):
    with pytest.raises(TypeError, match=text) as caught:
        njit(function)(*args)
    assert "test_datetimes.py:" in str(caught.value)


def put_one(a, x):
    a[0] = x


# ---------------------------------------------------------------- whole arrays


@njit
def folded(a, d):
    return (a.min(), a.max(), np.min(d), np.ptp(a), d.sum(), np.mean(d), np.any(d), np.all(a), np.argmax(a), a.argmin(),
            np.count_nonzero(d), np.array_equal(a, a), np.array_equal(a, a, equal_nan=True))


@njit
def folded_rows(a, d):
    return (a.min(axis=0), np.max(a, axis=1), d.sum(0), d.mean(axis=1), np.argmin(d, axis=1), np.cumsum(d, axis=1),
            d.sum(1, keepdims=True))


@njit
def scanned(a, d):
    return d.cumsum(), np.diff(a), np.diff(d, 2), np.ediff1d(a), np.diff(a, prepend=a[0])


@njit
def ordered(a, x):
    b = np.sort(a)
    return (b, np.argsort(a, kind="stable"), np.sort(a.reshape(1, -1), axis=0), np.searchsorted(b, a),
            np.searchsorted(b, x, "right"), np.isin(a, a[:2]))


@njit
def sets(a):
    return (np.unique(a), np.unique(a, return_counts=True, return_inverse=True), np.union1d(a, a[:3]),
            np.intersect1d(a[:5], a[3:]), np.setdiff1d(a, a[:3]))


@njit
def chosen(a, x, i):
    late = a > x
    return (np.where(late, a, x), np.where(np.isnat(a), x, a), a[late], a[i], np.take(a, i), np.compress(late, a),
            np.select([late], [a], x), np.clip(a, x, None), np.nonzero(a), np.extract(late, a))


@njit
def arranged(a, x):
    return (np.concatenate((a, a[:1])), np.append(a, x), np.repeat(a, 2), np.roll(a, 1), a[::-1].copy(), np.flip(a),
            a.reshape(-1, 1).T, np.stack((a, a)), np.full(3, x), np.full(2, x, a.dtype), np.zeros_like(a),
            np.empty(0, a.dtype), np.array([x, a[0]]), np.asarray(x), np.ones(2, "m8[D]"), np.zeros((2, 2), "M8[25s]"),
            np.insert(a, 1, x), np.delete(a, 1), np.tile(a, 2), np.broadcast_to(a[:1], (3,)))


@njit
def moved_about(a, m, i):
    return (np.swapaxes(m, 0, 1), np.expand_dims(a, 0), np.fliplr(m), np.vstack((a, a)), np.array_split(a, 3)[1],
            np.diagonal(m), np.triu(m), np.take_along_axis(a, i, 0), np.partition(a, 3)[3], np.argwhere(m), np.ravel(m),
            np.apply_along_axis(np.max, 1, m), a.tobytes(), np.may_share_memory(a, m), np.trace(m), m.flat[2],
            np.array_equal(a, m))


SHUFFLED = np.array([5, 1, LEAST, 7, 5, -3, LEAST, 2, 0, 5])
SOUND = np.array([5, 1, 9, 7, 5, -3, 4, 2, 0, 5])


@pytest.mark.parametrize("given", [SHUFFLED, SOUND, SHUFFLED[::-1].copy()], ids=["nat", "sound", "back"])
def test_whole_arrays(given):
    a, d = given.view("M8[D]"), given.view("m8[h]")
    alike(folded, a, d)
    alike(scanned, a, d)
    alike(ordered, a, np.datetime64("1970-01-03T05"))
    alike(sets, a)
    alike(chosen, a, np.datetime64("1970-01-04"), np.array([2, -1, 0]))
    alike(arranged, a, np.datetime64("1970-01-04"))


def test_shapes():
    d = SOUND.view("m8[h]")
    alike(moved_about, d, d.reshape(2, 5), np.array([2, 0]))


def test_rows_and_nothing():
    a = SHUFFLED.view("M8[D]").reshape(2, 5)
    for given in (a, np.asfortranarray(a), a[:, ::-1], SOUND.reshape(5, 2).view("M8[D]")):
        alike(folded_rows, given, given.view("m8[D]") if given.flags.c_contiguous
              else given.astype(np.int64).view("m8[D]"))
    none = SOUND[:0]
    alike(folded, none.view("M8[D]"), none.view("m8[h]"))  # the minimum of nothing raises
    alike(ordered, none.view("M8[D]"), np.datetime64("1970-01-03T05"))
    alike(sets, none.view("M8[D]"))
    alike(total, none.view("m8[h]"))


@njit
def without_nat(a, d):
    return (np.nanmin(a), np.nanmax(d), np.nanmax(d.reshape(1, -1), axis=0), np.nansum(d), np.nanmean(d),
            np.nanargmax(d), np.median(d))


def test_nan_functions():
    for given in (SHUFFLED, SOUND, np.array([LEAST, LEAST])):
        alike(without_nat, given.view("M8[D]"), given.view("m8[h]"))


@njit
def total(d):
    return d.sum(), d.mean(), d.any()


@njit
def ranges(a, b, d, n):
    return (np.arange(a, b), np.arange(a, b, d), np.arange(a, n), np.arange(d), np.arange(a, b, n), np.arange(b, a, -n),
            np.arange(3, dtype="m8[D]"), np.arange(2, n, dtype="M8[s]"))


@njit
def written_range():
    return (np.arange("2020-01", "2020-03", dtype="M8[D]"),
            np.arange(np.datetime64("2020-01-01"), np.datetime64("2020-02-01"), np.timedelta64(1, "W")))


def test_ranges():
    day, hour = np.datetime64("2020-01-30"), np.datetime64("2020-02-02T05")
    alike(written_range)
    for a, b, d, n in ((day, hour, np.timedelta64(7, "h"), 5), (day, day + 9, np.timedelta64(2, "D"), 3),
                       (np.datetime64("2020-01"), day, np.timedelta64(1, "W"), 2)):
        alike(ranges, a, b, d, n)
    alike(ranges, day, np.datetime64("NaT"), np.timedelta64(2, "D"), 3)
    alike(ranges, day, day, np.timedelta64(0, "D"), 3)


@njit
def fused(a, b, d):
    return (np.sum(((a - b) + d)[a > b]) / np.timedelta64(1, "h"), ((a - b) / np.timedelta64(1, "D")).mean(),
            (a + d).max(), np.isnat(a + d).sum())


def test_expressions_fuse():
    a, b = SOUND.view("M8[D]"), SOUND[::-1].view("M8[D]")
    alike(fused, a, b, SOUND.view("m8[h]"))
    alike(fused, a, b, SHUFFLED.view("m8[h]"))


@njit
def walk(a):
    best, days = a[0], np.timedelta64(0, "D")
    for x in a:
        if x > best:
            days += x - best
            best = x
    return best, days, max(a), sum(a - a[0], np.timedelta64(0, "D"))


def test_loops():
    alike(walk, SOUND.view("M8[D]"))
    alike(walk, SHUFFLED.view("M8[D]"))


def test_signature_and_cache(tmp_path):
    @njit("timedelta64[D](datetime64[D][:], int64)")
    def since(a, i):
        return a[i] - a[0]

    alike(since, SOUND.view("M8[D]"), 3)
    with pytest.raises(TypeError, match="no signature"):
        since(SOUND.view("M8[h]"), 3)


EPOCHS = np.array(["1970-01-01", "2000-01-01"], "M8[D]")
HOUR = np.timedelta64(1, "h")


@njit
def of_globals(a):
    return a - EPOCHS[1], (a - EPOCHS[0]) / HOUR


@njit
def of_records(r):
    r["t"][0] = np.datetime64("2020-01-01")
    r[1]["t"] = r[0]["t"] + 5
    return r["t"].max() - r["t"].min(), r[2]["t"], r["x"]


def test_globals_and_fields():
    alike(of_globals, SOUND.view("M8[D]"))
    r = np.zeros(3, [("t", "M8[D]"), ("x", float)])
    r["t"] = SOUND[:3].view("M8[D]")
    alike(of_records, r)


def _of_one_element(a):
    return a.dtype.type(a)


def test_scalars_of_arrays_without_axes():
    compiled = njit(_of_one_element)
    for x in (np.timedelta64(3, "h"), np.datetime64("2016-01-01"), np.datetime64("NaT", "s")):
        alike(compiled, np.array(x))


@njit
def as_int(x):
    return int(x)


@njit
def as_float(x):
    return float(x)


@pytest.mark.parametrize("function", [as_int, as_float])
@pytest.mark.parametrize("unit", ["Y", "M", "ns", "25ns", "ps", "as"])
def test_int_and_float_of_what_counts_units(function, unit):
    for number in (0, 5, -3, 2**62 + 1, LEAST):
        alike(function, np.timedelta64(number, "ns").view(f"m8[{unit}]"))
        if unit not in "YM":
            alike(function, np.int64(number).view(f"M8[{unit}]"))
    alike(function, np.timedelta64(7))
