"""Sums of several trips of an outer loop in one inner loop: values, and where the loops stay as they are."""
import math
import re

import numpy as np
import pytest

from pyjitc import njit


def joined(compiled):
    return any("sums_joined" in text for text in compiled._inspect("opt", None).values())


def products(out, a, x):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
        out[i] = t


def backwards(out, a, x):
    for i in range(a.shape[0] - 1, -1, -2):
        t = a[i, 0]
        for j in range(a.shape[1] - 1, 0, -1):
            t = t * 0.5 - a[i, j] * x[j]
        out[i] = t


def total(out, a, x):
    s = 0.0
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
        if t > 0.0:
            s += math.sqrt(t)
        else:
            s -= t
    out[:] = s


def two_sums(out, a, x):
    for i in range(a.shape[0]):
        t, u, scale = 0.0, a[i, 0], a[i, 1] + 1.0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
            u = u * 0.75 + a[i, j] * scale
        out[i] = t * u


def rows(out, a, x):
    s = 0.0
    for i in range(a.shape[0]):
        row, t = a[i], 0.0
        for j in range(len(row)):
            t += row[j] * x[j]
        s += t * t
    out[:] = s


def left_early(out, a, x):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
        if t < -2.0:
            break
        if t > 2.5:
            continue
        out[i] = t


def distances(out, a, x):
    for i in range(a.shape[0]):
        for k in range(i):
            t = 0.0
            for j in range(a.shape[1]):
                t += (a[i, j] - a[k, j]) ** 2
            out[i] = t * 1e-3


def written_before(out, a, x):
    for i in range(a.shape[0]):
        out[i] = 1.0
        t = np.float32(0)
        for j in range(a.shape[1]):
            t += np.float32(a[i, j])
        out[i] += t


def triangle(out, a, x):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(min(i, len(x))):
            t += a[i, j] * x[j]
        out[i] = t


def solved(out, a, x):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
        x[i % len(x)] = t
        out[i] = t


def same_rows(out, a, x):
    for i in range(a.shape[0]):
        t = out[i]
        for j in range(a.shape[1]):
            t += x[j]
        out[i] = t


def carried(out, a, x):
    t = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t = t * 0.5 + a[i, j]
        out[i] = t


def chained(out, a, x):
    start = 0.0
    for i in range(a.shape[0]):
        t = start
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
        start = t * 0.5
        out[i] = t


def last_index(out, a, x):
    for i in range(a.shape[0]):
        t, last = 0.0, 0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
            last = j
        out[i] = t + last


def ends_by_counter(out, a, x):
    if len(out) == 0:
        return
    for i in range(a.shape[0] + 5):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
        out[i] = t
        if i + 1 >= a.shape[0]:
            break


def conditions(out, a, x):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            if a[i, j] > 0.3:
                t += x[j]
        out[i] = t


def windows(out, a, x):
    """The element is at the sum of both counters; the quotient asks whether the sum is still the 0.0 of the program."""
    width = a.shape[1] // 2
    for i in range(min(len(out), len(x) - width)):
        t = 0.0
        for k in range(width):
            t += x[i + k]
        out[i] = t / width


def columns(out, a, x):
    for j in range(min(len(out), a.shape[1])):
        t = 0.0
        for i in range(a.shape[0]):
            t += a[i, j] * (i + 1)
        if t > 30.0:
            continue
        out[j] = t / a.shape[0]


def column_views(out, a, x):
    for j in range(min(len(out), a.shape[1])):
        out[j] = a[:, j].sum() - x[j]


def much_around(out, a, x):
    """The code around the inner loop is not copied for each trip."""
    s = 0.0
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j] * x[j]
        if t > 1.0:
            s += math.sqrt(t) * 0.5 - t * t * 0.25 + s * 1e-3
        elif t < -1.0:
            s -= math.sqrt(-t) * 0.25 + t * 0.125 - s * 1e-4
        else:
            s = s * 0.5 + t * 2.0 - t * t * t + abs(t - s)
        if s > 100.0:
            s = s * 0.25 - 3.0 * t + min(s, t) * 0.5
        out[i] = s + t * 0.5 - (s - t) * (s + t) * 1e-3


JOINED = [products, backwards, total, two_sums, rows, left_early, distances, written_before, windows, columns,
          column_views, much_around]


@pytest.mark.parametrize("function", [
    *JOINED, triangle, solved, same_rows, carried, chained, last_index, ends_by_counter, conditions])
def test_values(function):
    """All sums have the values of the interpreter to the last bit, with any number of rows and columns, and where the
    result is a row of the matrix."""
    rng, compiled = np.random.default_rng(1), njit(function)
    for n, m in ((9, 40), (4, 33), (3, 17), (1, 20), (0, 5), (13, 13), (16, 6), (12, 5), (8, 2)):
        a, x = rng.normal(size=(n, m)), rng.normal(size=m)
        for row in (None, 0, n - 1):
            if row is not None and not m >= n > 0:
                continue
            found, want = (a.copy(), x.copy()), (a.copy(), x.copy())
            result, expected = (np.zeros(n), np.zeros(n)) if row is None else (found[0][row], want[0][row])
            compiled(result, *found)
            function(expected, *want)
            assert np.array_equal(result, expected), (n, m, row)
            assert np.array_equal(found[0], want[0]) and np.array_equal(found[1], want[1]), (n, m, row)
    assert joined(compiled) == (function in JOINED)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_are_summed_in_vectors(dtype):
    """Sums of neighbouring columns are lanes of a vector, in arrays of any layout, and no lane is another's."""
    def sums(a, out):
        for j in range(a.shape[1]):
            t = a[0, j]
            for i in range(1, a.shape[0]):
                t += a[i, j] * a[i, j]
            out[j] = t

    compiled, base = njit(sums), np.random.default_rng(8).normal(size=(40, 90)).astype(dtype)
    for a in (base, base[:3, :17].copy(), base[:9, :16], np.asfortranarray(base[:5]), base[::-2, ::-3], base[:1]):
        found, want = np.zeros(a.shape[1], dtype), np.zeros(a.shape[1], dtype)
        compiled(a, found)
        sums(a, want)
        assert np.array_equal(found, want)
    for rows in range(4):  # the result is part of what is summed
        found, want = base.copy(), base.copy()
        compiled(found, found[rows])
        sums(want, want[rows])
        assert np.array_equal(found, want)
    text = compiled.inspect_llvm(compiled.signatures[0])
    assert re.search(r"fadd <\d+ x (double|float)>", text)


@pytest.mark.parametrize("function", [products, much_around])
def test_code_around_the_inner_loop(function):
    """It is copied for each of the joined trips where it is short."""
    compiled = njit(function)
    compiled(np.zeros(9), np.ones((9, 4)), np.ones(4))
    (text,) = compiled._inspect("opt", None).values()
    assert ("sums_groups" in text, "sums_ask" in text) == (function is products, function is much_around)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_means_of_rows():
    """The mean of an empty row is a quotient of Python's numbers, which raises, and others are NumPy's."""
    def means(a, divisor, out):
        for i in range(a.shape[0]):
            t = 0.0
            for j in range(a.shape[1]):
                t += a[i, j]
            out[i] = t / divisor

    compiled = njit(means)
    for shape in ((5, 7), (4, 1), (0, 3), (0, 0), (3, 0)):
        for divisor in (7, 0):
            a, found, want = np.arange(float(math.prod(shape))).reshape(shape), np.ones(shape[0]), np.ones(shape[0])
            if divisor == 0 and shape == (3, 0):
                for function, out in ((means, want), (compiled, found)):
                    with pytest.raises(ZeroDivisionError, match="^float division by zero$|^division by zero$"):
                        function(a, divisor, out)
            else:
                means(a, divisor, want)
                compiled(a, divisor, found)
            assert np.array_equal(found, want, equal_nan=True)
    assert joined(compiled)


def test_order_of_memory():
    """Rows, columns and every second element."""
    def f(a, x):
        out = np.empty(a.shape[0])
        for i in range(a.shape[0]):
            t = 0.0
            for j in range(a.shape[1]):
                t += a[i, j] * x[j]
            out[i] = t
        return out

    base, x = np.random.default_rng(2).normal(size=(30, 44)), np.random.default_rng(3).normal(size=22)
    compiled = njit(f)
    for a in (base[:, :22].copy(), np.asfortranarray(base[:, :22]), base[::2, ::2], base[::-1, ::-2], base[:22].T[:9]):
        assert np.array_equal(compiled(a, x), f(a, x))


def test_exceptions():
    """An exception of a trip is raised after what the trips before have written, and with their values."""
    def f(out, a):
        for i in range(a.shape[0]):
            t = 0.0
            for j in range(a.shape[1]):
                t += float(a[i, j])
            out[i] = math.sqrt(t)

    def divided(out, a):
        for i in range(a.shape[0]):
            t = 0.0
            for j in range(a.shape[1]):
                t += float(a[i, j])
            if t > 1e6:
                raise ValueError(f"row {t}")
            out[i] = 1.0 / t

    for function, wrong in ((f, -1.0), (divided, 0.0), (divided, 1e6)):
        for row in range(7):
            a = np.ones((7, 9))
            a[row] = wrong
            results = []
            for run in (njit(function), function):
                out = np.zeros(7)
                with pytest.raises((ValueError, ZeroDivisionError)) as caught:
                    run(out, a)
                results.append((type(caught.value), str(caught.value), out.tolist()))
            assert results[0] == results[1]


def test_handlers_and_draws():
    """A handler in the outer loop, and draws of random numbers, which are made once per trip and in their order."""
    def f(a, random):
        s = 0.0
        for i in range(a.shape[0]):
            t = random.random()
            for j in range(a.shape[1]):
                t += a[i, j]
            try:
                s += math.log(t)
            except ValueError:
                s -= random.random()
        return s

    a = np.random.default_rng(4).normal(size=(21, 8))
    assert njit(f)(a, np.random.default_rng(5)) == f(a, np.random.default_rng(5))


def test_bounds_are_checked():
    def f(out, a, x):
        for i in range(a.shape[0]):
            t = 0.0
            for j in range(a.shape[1]):
                t += a[i, j] * x[j]
            out[i] = t

    for rows, columns in ((6, 9), (12, 7)):
        results = []
        for run in (njit(f), f):
            out = np.zeros(rows)
            with pytest.raises(IndexError) as caught:
                run(out, np.ones((12, 9)), np.ones(columns))
            results.append((str(caught.value), out.tolist()))
        assert results[0] == results[1]


def test_parallel_loops():
    from pyjitc import prange

    def f(a, x):
        out = np.empty(a.shape[0])
        for i in prange(a.shape[0]):
            t = 0.0
            for j in range(a.shape[1]):
                t += a[i, j] * x[j]
            out[i] = t
        return out

    a, x = np.random.default_rng(6).normal(size=(1000, 30)), np.random.default_rng(7).normal(size=30)
    assert np.array_equal(njit(f, parallel=True)(a, x), f(a, x))
