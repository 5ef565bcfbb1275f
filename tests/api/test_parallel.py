"""Loops over `prange`, and whole-array statements, under `njit(parallel=True)`, compared with the interpreter, which
runs them in order."""
import contextlib
import copy
import gc
import io
import os
import re
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings
from collections import deque

import numpy as np
import pytest
from tests.oracle import difference, outcome

from pyjitc import (
    CompileError, ParallelWarning, RaceError, get_num_threads, get_parallel_chunksize, get_thread_id, njit, numba,
    parallel_chunksize, prange, set_num_threads, set_parallel_chunksize,
)
from pyjitc.base.options import Options
from pyjitc.pipeline import stages
from pyjitc.types.typeof import typeof

OLD = np.lib.NumpyVersion(np.__version__) < "2.3.0"  # adds long sums up in parts of 8,192
N = 60_000  # several chunks of loops of a few operations
DRAW = np.random.default_rng(7)
A = DRAW.standard_normal(N)
I = DRAW.integers(-5, 100, N)  # noqa: E741
U = DRAW.integers(0, 2**60, N)
M = DRAW.standard_normal((4000, 31))


@pytest.fixture(autouse=True)
def all_threads():
    before = get_num_threads()
    yield
    set_num_threads(before)


def regions(function, *args, **options):
    """The names of the functions that run chunks, in the optimised module."""
    given = Options(parallel=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ParallelWarning)
        module = stages.optimise(stages.infer(function, tuple(map(typeof, args)), given).functions, given)
    calls = [inst for fn in module for block in fn.blocks for inst in block.insts if "chunks" in inst.attrs]
    return [inst.attrs["callee"] for inst in calls]


def agree(function, *args, rtol=0.0, outlined=1):
    """Assert that the compiled function does what the interpreter does, on one thread and on all. Sums of floats may
    differ from the interpreter's by `rtol`, but not between numbers of threads."""
    assert len(regions(function, *args)) == outlined
    expected = outcome(function, args)
    f = njit(parallel=True)(function)
    found = []
    for count in {1, get_num_threads()}:
        set_num_threads(count)
        found.append(outcome(f, args))
        if rtol == 0.0:
            assert not difference(expected, found[-1])
        else:
            assert expected[0] == found[-1][0] == "returns"
            for x, y in zip(flat(expected[1:3]), flat(found[-1][1:3]), strict=True):
                assert type(x) is type(y)
                np.testing.assert_allclose(y, x, rtol)
    assert not difference(found[0], found[-1])


def flat(x):
    if isinstance(x, (tuple, list)):
        return [part for one in x for part in flat(one)]
    return [x]


# ---------------------------------------------------------------- loops whose iterations write


def doubled(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        out[i] = a[i] * 2
    return out


def stepped(a):
    out = np.zeros(len(a))
    for i in prange(3, len(a) - 2, 7):
        out[i] = a[i]
    return out


def backwards(a):
    out = np.zeros(len(a))
    for i in prange(len(a) - 1, -1, -1):
        out[i] = a[i] * i
    return out


def by_steps(a, step):
    out = np.zeros(len(a))
    for i in prange(0, len(a) - 1, step):
        out[i] = a[i]
    return out


def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def nested(a):
    out = np.zeros((200, 300))
    for i in prange(200):
        for j in prange(300):
            out[i, j] = a[i] * a[j]
    return out


def blurred(a):
    b = np.zeros_like(a)
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
    return b


def rows_of_own(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        row = np.empty(a.shape[1])
        for j in range(len(row)):
            row[j] = a[i, j] * j
        out[i] = row.sum() + a[i].max()
    return out


def whole_rows(a):
    out = np.zeros_like(a)
    for i in prange(a.shape[0]):
        out[i] = a[i] * 2 + 1
    return out


def caught(a):
    out = np.zeros(len(a), np.int64)
    for i in prange(len(a)):
        try:
            out[i] = 100 // int(a[i])
        except ZeroDivisionError:
            out[i] = -7
    return out


@njit
def partial_sum(a, i):
    s = 0.0
    for j in range(i % 50):
        s += a[j]
    return s


def calling(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        out[i] = partial_sum(a, i)
    return out


def mandelbrot(h, w):
    out = np.zeros((h, w), np.int64)
    for i in prange(h):
        for j in range(w):
            c, z, n = complex(-2 + 3 * j / w, -1.5 + 3 * i / h), 0j, 0
            while n < 50 and z.real * z.real + z.imag * z.imag < 4:
                z = z * z + c
                n += 1
            out[i, j] = n
    return out


def twice(a):
    for i in prange(len(a)):
        a[i] = a[i] + 1
    for i in prange(len(a)):
        a[i] = a[i] * 2
    return a


@pytest.mark.parametrize("function, args", [
    (doubled, (A,)), (doubled, (A[:1],)), (doubled, (A[:0],)), (doubled, (A[::-3],)), (stepped, (A,)),
    (backwards, (A,)), (by_steps, (A, 3)), (by_steps, (A, 1)), (product, (M[:80], M[:31, :20].copy())),
    (product, (M[:80], M.T[:, :40])), (nested, (A,)), (blurred, (M,)), (blurred, (np.asfortranarray(M),)),
    (rows_of_own, (M,)), (whole_rows, (M,)), (caught, (I,)), (calling, (A,)), (mandelbrot, (40, 60)),
], ids=lambda x: getattr(x, "__name__", None))
def test_writing(function, args):
    agree(function, *args)


def test_one_loop_after_another():
    agree(twice, A, outlined=2)


# ---------------------------------------------------------------- reductions


def total(a):
    s = 0.0
    for i in prange(len(a)):
        s += a[i] * 2
    return s


def total_of_some(a):
    s = 10.0
    for i in prange(len(a)):
        if a[i] > 0:
            s += a[i]
        else:
            s -= 1.0
    return s


def total_of_inner(a):
    s = 0.0
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def total_of_ints(a):
    s = 5
    for i in prange(len(a)):
        s += a[i]
    return s


def total_of_complex(a):
    s = 1j
    for i in prange(len(a)):
        s += a[i] * 1j + 2
    return s


def total_of_singles(a):
    s = np.float32(0)
    for i in prange(len(a)):
        s += a[i]
    return s


def several(a):
    s = q = 0.0
    n = 0
    for i in prange(len(a)):
        s += a[i]
        q += a[i] * a[i]
        n += 1
    return s, q, n


def multiplied(a):
    p = 2.0
    for i in prange(len(a)):
        p *= 1.0 + a[i] * 1e-3
    return p


def counted(a):
    n = 0
    for i in prange(len(a)):
        if a[i] > 0:
            n += 1
    return n


def least(a):
    m = np.inf
    for i in prange(len(a)):
        m = min(m, a[i])
    return m


def least_of(a):
    m = 1e9
    for i in prange(len(a)):
        m = min(a[i], m)
    return m


def most(a):
    m = a[0]
    for i in prange(len(a)):
        if a[i] > m:
            m = a[i]
    return m


def both_ends(a):
    low = high = a[0]
    for i in prange(len(a)):
        low, high = min(low, a[i]), max(high, a[i])
    return low, high


def least_of_numpy(a):
    m = np.inf
    for i in prange(len(a)):
        m = np.minimum(m, a[i])
    return m


def place_of_least(a):
    best, at = a[0], 0
    for i in prange(1, len(a)):
        if a[i] < best:
            best, at = a[i], i
    return best, at


def nearest(points, x):
    best, at = np.inf, -1
    for i in prange(points.shape[0]):
        d = 0.0
        for j in range(points.shape[1]):
            d += (points[i, j] - x[j]) ** 2
        if d < best:
            best = d
            at = i
    return best, at


def all_bits(a):
    m = -1
    for i in prange(len(a)):
        m &= a[i]
    return m


def any_bits(a):
    m = 0
    for i in prange(len(a)):
        m |= a[i]
    return m


def odd_bits(a):
    m = 0
    for i in prange(len(a)):
        m ^= a[i]
    return m


def found(a):
    seen = False
    for i in prange(len(a)):
        if a[i] > 3.5:
            seen = True
    return seen


def every(a):
    fine = True
    for i in prange(len(a)):
        fine = fine and a[i] > -2
    return fine


def last(a):
    x = 0.0
    for i in prange(len(a)):
        x = a[i] * 2
        y = x + i
    return x, i, y


def last_of_captured(a):
    n = 0.0
    for i in prange(len(a)):
        t = a[i]
        n += sum([t * k for k in range(3)])
        n += sum(i * k for k in range(2))
    return n, t, i


def histogram(a):
    h = np.zeros(106, np.int64)
    for i in prange(len(a)):
        h[a[i] + 5] += 1
    return h


def added_to(a, h):
    for i in prange(len(a)):
        h[a[i]] += 2
        h[a[i] + 1] -= 1


def columns(a):
    s = np.zeros(a.shape[1])
    for i in prange(a.shape[0]):
        s += a[i]
    return s


def factors(a):
    f, q = np.ones(3), np.full((2, 2), 5.0)
    for i in prange(len(a)):
        f[i % 3] *= a[i]
        q /= a[i] * a[i]
    return f, q


def bits_of_elements(a, every, some):
    for i in prange(len(a)):
        every &= a[i] | 8
        some[a[i] % 4] |= a[i]
    return every, some


def factors_of_ints(a):
    f = np.full(7, 3, np.int32)
    for i in prange(len(a)):
        f *= a[i] % 5 + 1
    return f


def distances(a):
    total = np.zeros(a.size)
    for i in prange(a.size):
        for j in range(a.size):
            total[i] += abs(a[i] - a[j])
    return total


def test_a_chunk_knows_which_arrays_share_no_memory():
    """Then the sum of the inner loop is not stored and loaded on every trip."""
    chunk, = regions(distances, A[:50])
    assert "held" in {name for block in chunk.blocks for inst in block.insts for name in inst.attrs}
    agree(distances, A[:500])

    def into(total, a):
        for i in prange(a.size):
            for j in range(a.size):
                total[i] += abs(a[i] - a[j])

    chunk, = regions(into, A[:50].copy(), A[:50])
    assert not chunk.memo["disjoint"]  # a caller may pass one array twice
    agree(into, A[:500].copy(), A[:500])


def gradient(a, x):
    g, c = np.zeros(a.shape[1]), 0.0
    for i in prange(a.shape[0]):
        r = 0.0
        for j in range(a.shape[1]):
            r += a[i, j] * x[j]
        for j in range(a.shape[1]):
            g[j] += r * a[i, j]
        c += r * r
    return g, c


@pytest.mark.parametrize("function, args", [
    (total_of_ints, (I,)), (total_of_ints, (I[:0],)), (counted, (A,)), (least, (A,)), (least, (np.r_[A, np.nan, A],)),
    (least_of, (A,)), (most, (A,)), (most, (np.r_[np.nan, A],)), (both_ends, (A,)), (least_of_numpy, (A,)),
    (least_of_numpy, (np.r_[A, np.nan],)), (place_of_least, (A,)), (place_of_least, (np.repeat(A[:300], 200),)),
    (nearest, (M, M[7])), (all_bits, (U | 1,)), (any_bits, (U,)), (odd_bits, (U,)), (found, (A,)), (found, (-A**2,)),
    (every, (A,)), (every, (A**2,)), (last, (A,)), (last, (A[:1],)), (histogram, (I,)),
    (added_to, (I + 5, np.zeros(110, np.int64))), (factors_of_ints, (I.astype(np.int32),)),
    (bits_of_elements, (I | 2, np.full((2, 3), 255), np.zeros(4, np.int64))),
], ids=lambda x: getattr(x, "__name__", None))
def test_reductions(function, args):
    agree(function, *args)


@pytest.mark.parametrize("function, args, rtol", [
    (total, (A,), 1e-11), (total_of_some, (A,), 1e-11), (total_of_inner, (M,), 1e-11), (total_of_singles, (
        A.astype(np.float32) + 1,), 1e-4), (total_of_complex, (A + 1j,), 1e-11), (several, (A,), 1e-11),
    (multiplied, (A,), 1e-11), (columns, (M,), 1e-9), (gradient, (M, M[3]), 1e-10),
    (factors, (1 + A / A.size,), 1e-10), (last_of_captured, (A,), 1e-11),
], ids=lambda x: getattr(x, "__name__", None))
def test_sums_of_floats(function, args, rtol):
    agree(function, *args, rtol=rtol)


@pytest.mark.parametrize("function", [last, last_of_captured])
def test_the_last_value_of_no_iterations_is_unbound(function):
    with pytest.raises(UnboundLocalError) as expected:
        function(A[:0])
    with pytest.raises(UnboundLocalError) as actual:
        njit(parallel=True)(function)(A[:0])
    assert str(actual.value) == str(expected.value)


def test_a_sum_that_overflows_is_an_error():
    a = np.full(N, 2**48)
    with pytest.raises(OverflowError):
        njit(parallel=True)(lambda a: total_int(a))(a)


@njit
def total_int(a):
    s = 0
    for i in prange(len(a)):
        s += int(a[i])
    return s


# ---------------------------------------------------------------- iterations that are not independent


def carries(a):
    x = 0.0
    for i in prange(len(a)):
        x = x * 0.5 + a[i]
        a[i] = x


def reads_the_sum(a):
    s = 0.0
    for i in prange(len(a)):
        s += a[i]
        a[i] = s


def uses_the_one_before(a):
    p = s = 0.0
    for i in prange(len(a)):
        s += a[i] * p
        p = a[i]
    return s


def writes_one(a):
    b = np.zeros(3)
    for i in prange(len(a)):
        b[1] = a[i]
    return b


def shifts(a):
    for i in prange(1, len(a)):
        a[i] = a[i - 1] + 1


def shifts_rows(a):
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = a[i - 1, j] + a[i + 1, j]


def adds_two_types(a):
    s = 0
    for i in prange(len(a)):
        if a[i] > 2:
            s += a[i]
        else:
            s += 1
    return s


def adds_two_floats(a):
    s = 0.0
    for i in prange(len(a)):
        s += a[i] if a[i] > 2 else 1
    return s


def greatest_in_double_precision(a):
    s = np.float64(-np.inf)
    for i in prange(len(a)):
        s = np.maximum(s, a[i])
    return s


@pytest.mark.parametrize("dtype", [np.int16, np.float16, np.float32])
def test_extremes_of_numbers_that_are_converted(dtype):
    for argument in (A.astype(dtype), A.astype(dtype)[:0]):
        found = outcome(njit(parallel=True)(greatest_in_double_precision), (argument,))
        assert not difference(outcome(greatest_in_double_precision, (argument,)), found)


def least_from_zero(a):
    s = 0
    for i in prange(len(a)):
        s = min(s, a[i])
    return s


def greatest_from_a_float(a):
    s = 0.0
    for i in prange(len(a)):
        if a[i] > s:
            s = a[i]
    return s


@pytest.mark.parametrize("function, argument, message, line", [
    (least_from_zero, A.astype(np.float32), "'s' goes from .*, as an int on some paths and as a float32 on others", 3),
    (greatest_from_a_float, A.astype(int), "'s' goes from .*, as a float on some paths and as an int64 on others", 3),
    (adds_two_types, A, "'s' goes from one iteration .*, as a float64 on some paths and as an int on others", 6),
    (adds_two_types, A.astype(int), "'s' goes from .*, as an int on some paths and as an int64 on others", 6),
    (adds_two_floats, A.astype(np.float32), "'s' goes from .*, as a float on some paths and as a float32 on others", 3),
    (carries, A, "'x' goes from one iteration of a parallel loop to the next, .*: it is updated in two ways", 3),
    (reads_the_sum, A, r"'s' goes from one iteration .*: an iteration also reads it \(line ", 3),
    (uses_the_one_before, A, "'p' goes from one iteration .*: an iteration needs what the one before has left", 3),
    (writes_one, A, "every iteration .* same elements of 'b'", 3),
    (shifts, A, "reads an element of 'a' that another iteration writes", 2),
    (shifts_rows, M, "reads an element of 'a' that another iteration writes", 3),
])
def test_loops_that_are_not_independent(function, argument, message, line):
    with pytest.raises(CompileError, match=message) as caught:
        njit(parallel=True)(function)(argument)
    assert caught.value.diagnostic.line == function.__code__.co_firstlineno + line and caught.value.diagnostic.hint
    argument = argument.copy()
    # without parallel=True prange is range
    assert not difference(outcome(function, (argument,)), outcome(njit(function), (argument,)))


def adds_in_try(a):
    s = 0
    for i in prange(len(a)):
        try:
            s += 1
        except Exception:
            s += 1
    return s


@pytest.mark.parametrize("function, argument", [
    (adds_two_types, A), (adds_two_types, A.astype(int)), (adds_two_floats, A.astype(np.float32)), (adds_in_try, A)])
def test_under_numbas_names_a_sum_that_cannot_be_divided_runs_on_one_thread(function, argument):
    with pytest.warns(ParallelWarning, match="this loop over prange runs on one thread: 's' goes from one iteration"):
        found = outcome(numba.njit(parallel=True)(function), (argument,))
    assert not difference(outcome(function, (argument,)), found)


def test_under_numbas_names_a_loop_that_is_not_independent_runs_on_one_thread():
    with pytest.warns(ParallelWarning, match="this loop over prange runs on one thread: 'x' goes from one iteration"):
        found = outcome(numba.njit(parallel=True)(carries), (A,))
    assert not difference(outcome(carries, (A,)), found)


@pytest.mark.parametrize("function, argument", [
    (least_from_zero, A.astype(np.float32)), (greatest_from_a_float, A.astype(int))])
def test_under_numbas_names_an_extreme_of_several_types_runs_on_one_thread(function, argument):
    with pytest.warns(ParallelWarning, match="this loop over prange runs on one thread: 's' goes from one iteration"):
        found = outcome(numba.njit(parallel=True)(function), (argument,))
    assert not difference(outcome(function, (argument,)), found)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_sums_of_array_elements_and_numbers_have_the_type_with_which_they_start(dtype):
    def adds(a, s):
        for i in prange(len(a)):
            if a[i] > 2:
                s += a[i]
            else:
                s += 1
        return s

    arguments = np.arange(10, dtype=dtype), dtype(0)
    assert not difference(outcome(adds, arguments), outcome(njit(parallel=True)(adds), arguments))


def leaves(a):
    for i in prange(len(a)):
        if a[i] > 2:
            break
        a[i] = 0
    return a


def returns(a):
    for i in prange(len(a)):
        if a[i] > 2:
            return i
    return -1


def prints(a):
    for i in prange(3):
        print(i, a[i])


@pytest.mark.parametrize("function, why", [(leaves, "break or return"), (returns, "break or return"),
                                           (prints, "it needs Python")])
def test_loops_that_run_on_one_thread(function, why):
    with pytest.warns(ParallelWarning, match=f"runs on one thread: .*{why}") as found:
        f = njit(parallel=True, cache=False)(function)
        actual = outcome_with_warnings(f, (A,))
    assert found[0].filename == __file__
    assert not difference(outcome(function, (A,)), actual)


def outcome_with_warnings(function, args):
    function.compile(tuple(map(typeof, args))) if hasattr(function, "compile") else None
    return outcome(function, args)


# ---------------------------------------------------------------- exceptions and signals


def raises_at(a, k):
    for i in prange(len(a)):
        if i % k == k - 1:
            raise ValueError(f"at {i}")
        a[i] = i


@pytest.mark.parametrize("n, k", [(N, 1), (N, 10), (N, 5000), (N, 40_000), (12, 1), (12, 10)])
def test_the_first_exception_wins(n, k):
    """12 iterations are a single chunk, which runs without the pool."""
    f = njit(parallel=True)(raises_at)
    assert len(regions(raises_at, A, k)) == 1
    for _ in range(20):
        a = np.full(n, -1.0)
        with pytest.raises(ValueError, match=f"^at {k - 1}$") as caught:
            f(a, k)
        assert (a[:k - 1] == np.arange(k - 1)).all() and a[k - 1] == -1
    entries = traceback.extract_tb(caught.value.__traceback__)[1:]
    assert [entry.name for entry in entries] == ["raises_at"]
    assert entries[0].lineno == raises_at.__code__.co_firstlineno + 3


def small(a, flag, n):
    out = np.zeros(n)
    total, least, hits = 0.0, np.inf, 0
    for i in prange(n):
        out[i] = a[i] * 2.0 if flag else a[i]
        total += a[i]
        least = min(least, a[i])
        hits += a[i] > 0.5
    return out, total, least, hits


@pytest.mark.parametrize("n", [0, 1, 2, 7, 500])
def test_a_few_iterations(n):
    """None, or a single chunk, which gets bools, numbers and arrays as arguments, and stores its results."""
    f = njit(parallel=True)(small)
    assert len(regions(small, A, True, n)) == 1
    for flag in (True, False):
        assert not difference(outcome(small, (A, flag, n)), outcome(f, (A, flag, n)))


def taken(a, b):
    for i in prange(len(b)):
        a[b[i]] = i


def taken_or(a, b):
    try:
        for i in prange(len(b)):
            a[b[i]] = i
    except IndexError:
        return -1
    finally:
        a[0] += 1
    return 1


def test_index_errors():
    b = np.arange(N)
    b[[7000, 50_000]] = 1 << 40, 1 << 41
    for function in (taken, taken_or):
        expected, actual = (outcome(f, (np.zeros(N), b)) for f in (function, njit(parallel=True)(function)))
        assert expected[:2] == actual[:2] or repr(expected[1]) == repr(actual[1])
        assert (expected[2][0][:7000] == actual[2][0][:7000]).all()
    assert njit(parallel=True)(taken_or)(np.zeros(N), np.arange(N)) == 1


def makes(a, bad):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        row = np.full(1000, a[i])
        if i == bad:
            raise KeyError(i)
        out[i] = row[i % 1000]
    return out


def makes_lists(a, bad):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        row = [[a[i]] for _ in range(40)]
        for _ in range(1000):
            row[0].append(0.5)
        if i == bad:
            raise KeyError(i)
        out[i] = row[i % 40][0]
    return out


@pytest.mark.parametrize("function", [makes, makes_lists])
def test_nothing_leaks_when_a_region_raises(function):
    f = njit(parallel=True)(function)
    a = A[:2000]
    np.testing.assert_array_equal(f(a, -1), a)

    def held():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def run():
        for _ in range(60):
            with pytest.raises(KeyError):
                f(a, 1500)

    run()
    before = held()
    run()
    run()
    assert held() - before < 8 << 20  # keeping the arrays of the chunks of each call would take 100 MB
    references = sys.getrefcount(a)
    run()
    assert sys.getrefcount(a) == references


INTERRUPTED = textwrap.dedent("""
    import os, subprocess, sys
    import numpy as np
    from pyjitc import njit, prange

    @njit(parallel=True)
    def forever(a):
        for i in prange(a.shape[0]):
            j = 0
            while a[i] == 0.0:
                j += 1
            a[i] = j

    forever(np.ones(3))
    for n in (1, 2, 1000, 100_000):
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {os.getpid()}"])
        try:
            forever(np.zeros(n))
        except KeyboardInterrupt:
            print("interrupted", n)
        killer.wait()
    a = np.ones(100_000)
    forever(a)
    print("and works", a.sum())
""")


def test_an_interrupt_leaves_the_region():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYJITC_NUM_THREADS": "3"})
    assert done.stdout.splitlines() == [*(f"interrupted {n}" for n in (1, 2, 1000, 100_000)), "and works 0.0"], \
        done.stderr


# ---------------------------------------------------------------- the threads of the pool


def thread_of(n):
    out = np.zeros(n, np.int64)
    for i in prange(n):
        s = 0.0
        for j in range(100):
            s += j * i
        out[i] = get_thread_id() + (1000 if s == 5.0 else 0)
    return out


FEW = textwrap.dedent("""
    import numpy as np
    from pyjitc import get_num_threads, get_thread_id, njit, prange, set_num_threads
    from tests.api.test_parallel import M, thread_of, total_of_inner

    f, g = njit(parallel=True)(thread_of), njit(parallel=True)(total_of_inner)
    assert get_num_threads() == 4 and get_thread_id() == 0
    found = set()
    for count in (1, 2, 3, 4, 2):
        set_num_threads(count)
        assert get_num_threads() == count
        ids = set()
        for _ in range(50):
            ids.update(f(20_000).tolist())
        assert 0 in ids and max(ids) < count, ids
        found.add(g(M).hex())
    assert len(found) == 1, found
    print("fine")
""")


def test_numbers_of_threads():
    done = subprocess.run([sys.executable, "-c", FEW], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYJITC_NUM_THREADS": "4"})
    assert done.stdout == "fine\n", done.stderr


IDLE = textwrap.dedent("""
    import time
    import numpy as np
    from pyjitc import njit, prange

    @njit(parallel=True)
    def f(a):
        for i in prange(len(a)):
            a[i] += 1.0

    def cpu(gap, count):
        for _ in range(50):  # so that the workers know a short gap
            f(a)
        start = time.process_time()
        for _ in range(count):
            f(a)
            time.sleep(gap)
        return time.process_time() - start

    a = np.zeros(2_000_000)
    f(a)
    used = cpu(0.2, 5)
    assert used < 0.2, used  # of a second for each of three workers
    print("fine")
""")


def test_workers_sleep_while_there_is_no_region():
    done = subprocess.run([sys.executable, "-c", IDLE], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYJITC_NUM_THREADS": "4"})
    assert done.stdout == "fine\n", done.stderr


def chosen(n):
    set_num_threads(n)
    return get_num_threads(), get_thread_id()


def test_threads_are_chosen():
    most = get_num_threads()
    for f in (chosen, njit(parallel=True)(chosen), njit(chosen)):
        for n in range(1, most + 1):
            assert f(n) == (n, 0)
        for wrong in (0, -1, most + 1, 1 << 40):
            with pytest.raises(ValueError, match=f"^The number of threads must be between 1 and {most}$"):
                f(wrong)
    with pytest.raises(TypeError):
        set_num_threads(1.5)
    set_num_threads(1)
    other = []
    thread = threading.Thread(target=lambda: other.append(get_num_threads()))
    thread.start()
    thread.join()
    assert other == [most]  # each thread has its own


def test_several_threads_of_the_program():
    f, g = njit(parallel=True, nogil=True)(total_of_ints), njit(parallel=True)(raises_at)
    expected = total_of_ints(I)
    assert f(I) == expected
    wrong = []

    def work():
        for k in range(60):
            if f(I) != expected:
                wrong.append(k)
            try:
                g(np.zeros(N), 10_000)
                wrong.append("no error")
            except ValueError as error:
                if str(error) != "at 9999":
                    wrong.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_children_have_threads_of_their_own():
    f = njit(parallel=True)(thread_of)
    f(20_000)
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if set(f(20_000).tolist()) <= set(range(get_num_threads())) else 2
            finally:
                os._exit(code)
        children.append(child)
        f(20_000)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4


@njit(parallel=True)
def inner_total(a, k):
    s = 0
    for i in prange(len(a)):
        s += a[i] * k
    return s


def outer(a):
    out = np.zeros(40, np.int64)
    for k in prange(40):
        out[k] = inner_total(a, k)
    return out


def test_regions_in_regions():
    agree(outer, I, outlined=2)


def swept(a, b, n):
    for k in range(n):
        for i in prange(a.shape[0]):
            a[i] = a[i] * 0.5 + k
        b[k] = b[k] + a[k]
    return a[:9], b


def swept_finally(a, b, n):
    t = 0.0
    try:
        for k in range(n):
            for i in prange(a.shape[0]):
                a[i] = a[i] * k
            t += b[k]
    finally:
        for i in prange(a.shape[0]):
            a[i] = a[i] + t
    return a[:9]


@pytest.mark.parametrize("function", [swept, swept_finally])
def test_a_region_in_a_loop_that_has_two_copies(function):
    """One copy is for indices that were tested before the loop, the other one tests each index."""
    for n in (9, 11):
        args = np.ones(30000), np.ones(10), n
        expected, found = outcome(function, copy.deepcopy(args)), outcome(njit(parallel=True)(function), args)
        assert not difference(expected, found)


def test_the_loop_of_a_chunk_is_vectorised():
    f = njit(parallel=True)(doubled)
    f(A)
    (text,) = f.inspect_llvm().values()
    assert "x double>" in text and "@pyjitc_region(" in text


def statements_of_few_elements(c, a):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i, :i + 1] += a[i, k] * a[:i + 1, k]


def test_a_small_single_chunk_is_inlined_and_stores_nothing_for_the_pool():
    agree(statements_of_few_elements, np.ones((5, 5)), np.arange(25.0).reshape(5, 5), outlined=2)
    f = njit(parallel=True)(statements_of_few_elements)
    f(np.ones((5, 5)), np.ones((5, 5)))
    (text,) = f.inspect_llvm().values()
    blocks = re.split(r"\n(?=\S+:|define)", text)
    calls = [(found[1], block) for block in blocks
             for found in re.finditer(r"@pyjitc_region\(ptr nonnull \S+ ptr nonnull (%\S+),", block)]
    assert calls and "call i32 @region" not in text
    for frame, block in calls:  # what the chunk reads is stored where the pool is called
        assert [one is block for one in blocks if re.search(rf"store .*, ptr {frame},", one)] == [True]


def test_without_the_option_it_is_a_range():
    f = njit(doubled)
    assert not difference(outcome(doubled, (A,)), outcome(f, (A,)))
    assert "pyjitc_region" not in str(f.inspect_llvm())
    assert list(prange(1, 7, 2)) == list(range(1, 7, 2))
    assert njit(parallel={"fusion": False, "prange": True})(doubled)(A)[5] == A[5] * 2


def test_the_number_of_threads_of_the_environment():
    program = "from pyjitc import get_num_threads; print(get_num_threads())"
    for given, printed in (("7", "7\n"), ("0", ""), ("x", "")):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              env={**os.environ, "PYJITC_NUM_THREADS": given})
        assert done.stdout == printed
        assert printed or "ValueError: PYJITC_NUM_THREADS=" in done.stderr


# ---------------------------------------------------------------- whole-array statements


def expression(a, b):
    return a * b + np.sqrt(np.abs(a))


def outer_sum(a, b):
    return a[:, None] * b[None, :] + 1.0


def neighbours(a):
    b = np.zeros_like(a)
    b[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    return b


def overlapping(a, b):
    a[1:] = b[1:] * 2 + a[:-1]
    return a


def repeatedly(a):
    for _ in range(5):
        a += a * 0.5
    return a


def chosen_by(a):
    return np.where(a > 0.5, np.exp(a), 2.0)


@pytest.mark.parametrize("function, args", [
    *((f, args) for shape in [(3,), (70_000,), (300, 400), (3, 30_000), (30_000, 3), (20, 30, 40)] for f, args in [
        (expression, (DRAW.random(shape), DRAW.random(shape))), (repeatedly, (DRAW.random(shape),)),
        (chosen_by, (DRAW.random(shape),))]),
    (expression, (M[::2, ::-1], M.T[:31, :2000].T)), (expression, (M, M[0])), (outer_sum, (A[:500], A[:400])),
    (neighbours, (M,)), (neighbours, (M.T,)), (neighbours, (M[::2, ::-1],)), (overlapping, (A, A + 1)),
], ids=lambda x: getattr(x, "__name__", None))
def test_whole_arrays(function, args):
    assert regions(function, *args)
    assert not difference(outcome(njit(function), args), outcome(njit(parallel=True)(function), copy.deepcopy(args)))


# ---------------------------------------------------------------- reports of what was compiled


def report(function, *args):
    f = njit(parallel=True, cache=False)(function)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", ParallelWarning)
        f(*copy.deepcopy(args))
        f.parallel_diagnostics()
    head, *lines = printed.getvalue().splitlines()[-10:]
    return [line.partition(": ")[2] for line in lines]


@pytest.mark.parametrize("function, args, lines", [
    (several, (A,), ["the loop over prange runs on several threads; reduction of q; reduction of s"]),
    (place_of_least, (A,), ["the loop over prange runs on several threads; extreme at with best"]),
    (histogram, (I,), ["the loop over prange runs on several threads; each chunk adds to a copy of h"]),
    (nested, (A,), ["the loop over prange runs on several threads; the marked loops in it run on the thread of their "
                    "chunk"]),
    (twice, (A,), ["the loop over prange runs on several threads"] * 2),
    (returns, (A,), ["the loop over prange runs on one thread; break or return leaves it before its end"]),
    (repeatedly, (A,), ["the loop of a whole-array statement runs on several threads"]),
    (partial_sum.py_func, (A, 3), []),
], ids=lambda x: getattr(x, "__name__", None))
def test_diagnostics(function, args, lines):
    found = report(function, *args)
    if function is place_of_least:
        assert set(found[0].split("extreme ")[1].split(" with ")) == {"at", "best"}
    elif not lines:
        assert not found or found == [""]
    else:
        assert found == lines


# ---------------------------------------------------------------- random numbers


def drawn(n, rng):
    out = np.empty(n)
    for i in prange(n):
        out[i] = rng.random()
    return out


def drawn_in_many_ways(n, rng):
    out = np.empty((n, 5))
    for i in prange(n):
        out[i, 0] = rng.standard_normal()
        out[i, 1] = rng.exponential(2.0)
        out[i, 2] = rng.integers(0, 10)
        out[i, 3] = rng.gamma(2.0)
        out[i, 4] = rng.random(10).sum()
    return out


def drawn_globally(n):
    out = np.empty((n, 2))
    for i in prange(n):
        out[i, 0] = np.random.normal()
        out[i, 1] = np.random.random()
    return out


@njit
def one(rng):
    return rng.random()


def drawn_by_another(n, rng):
    out = np.empty(n)
    for i in prange(n):
        out[i] = one(rng)
    return out


@pytest.mark.parametrize("function, classes", [
    (drawn, [np.random.default_rng, np.random.RandomState, lambda seed: np.random.Generator(np.random.MT19937(seed))]),
    (drawn_in_many_ways, [np.random.default_rng]), (drawn_by_another, [np.random.default_rng]),
    (drawn_globally, [None]),
])
def test_random_numbers_do_not_depend_on_the_threads(function, classes):
    f = njit(parallel=True)(function)
    for cls in classes:
        def draw(seed, cls=cls):
            if cls is None:
                np.random.seed(seed)
                return f(20_000), np.random.random()
            rng = cls(seed)
            return f(20_000, rng), rng.random()

        assert regions(function, 20_000, *([cls(1)] if cls else []))
        found = []
        for count in (1, get_num_threads(), get_num_threads()):
            set_num_threads(count)
            found.append(draw(5))
        for x, last in found[1:]:
            np.testing.assert_array_equal(x, found[0][0])
            assert last == found[0][1]
        again, last = draw(6)
        assert not (again == found[0][0]).all() and last != found[0][1]
        values = found[0][0].reshape(20_000, -1)
        distinct = len(np.unique(values[:, 0]))
        assert distinct == 20_000  # no two chunks have the same stream


def test_distributions_of_random_numbers():
    out = njit(parallel=True)(drawn_in_many_ways)(200_000, np.random.default_rng(11))
    means, deviations = out.mean(axis=0), out.std(axis=0)
    np.testing.assert_allclose(means, [0, 2, 4.5, 2, 5], atol=0.03)
    np.testing.assert_allclose(deviations, [1, 2, 8.25**0.5, 2**0.5, (10 / 12) ** 0.5], rtol=0.02)
    assert abs(np.corrcoef(out[:-1, 0], out[1:, 0])[0, 1]) < 0.02
    normals = njit(parallel=True)(drawn_globally)(200_000)[:, 0]
    assert abs(normals.mean()) < 0.02 and abs(normals.std() - 1) < 0.02


# ---------------------------------------------------------------- Python objects


def caught_often(a):
    out = np.zeros(len(a), np.int64)
    for i in prange(len(a)):
        try:
            if a[i] % 3 == 0:
                raise ValueError(f"{i}")
            out[i] = 100 // int(a[i] - 1)
        except ZeroDivisionError:
            out[i] = -7
        except ValueError:
            out[i] = -8
    return out


def test_exceptions_inside_of_iterations():
    agree(caught_often, np.arange(20_000))


def texts(a):
    names = ["", "a", "bc"]
    n = 0
    for i in prange(len(a)):
        n += len(names[i % 3])
    return n


def appends(a):
    found = []
    for i in prange(len(a)):
        found.append(a[i])
    return len(found)


@pytest.mark.parametrize("function", [texts, appends])
def test_loops_over_objects_run_on_one_thread(function):
    f = njit(parallel=True, cache=False)(function)
    with pytest.warns(ParallelWarning, match="runs on one thread: .*Python"):
        assert f(A) == function(A)


def stored_by_two_closures(o, a, n, k):
    both = o, a
    o = both[k % 2]

    def one(i):
        o[(i + k) % n] = i

    def four(i):
        for j in range(4 * i, min(len(o), 4 * i + 4)):
            o[j] = -j

    for i in prange(n):
        one(i)
        four(i)
    return o


def test_calls_that_store_through_a_shared_variable_run_on_one_thread():
    compiled, n = njit(parallel=True)(stored_by_two_closures), 30_000
    with pytest.warns(ParallelWarning):
        found = compiled(np.zeros(n), np.zeros(n), n, 5)
    assert found.tolist() == stored_by_two_closures(np.zeros(n), np.zeros(n), n, 5).tolist()


def sorted_rows(a):
    out = np.empty_like(a)
    for i in prange(len(a)):
        row = sorted(a[i], reverse=i % 2 == 0)
        for j in range(len(row)):
            out[i, j] = row[j]
    return out


def sorted_squares(a):
    out = np.empty_like(a)
    for i in prange(len(a)):
        row = [x * x for x in a[i]]
        row.sort()
        other = sorted(row, reverse=True)
        for j in range(len(row)):
            out[i, j] = row[j] - other[j]
    return out


@pytest.mark.parametrize("function", [sorted_rows, sorted_squares])
@pytest.mark.parametrize("a", [M, np.where(np.abs(M) < 0.2, np.nan, M), np.asfortranarray(M)[::-2], M[:, :5],
                               (100 * M).astype(np.int64)], ids=["rows", "nan", "strides", "short", "ints"])
def test_iterations_sort_rows(function, a):
    """Where there is nan, threads take the interpreter lock, to sort by the interpreter's comparisons."""
    agree(function, a)


def lists_of_rows(a):
    total = 0
    for i in prange(len(a)):
        rows = [[0] * 3 for _ in range(4)]
        for j in range(12):
            rows[j // 3][j % 3] = i * j
        total += len([x for row in rows for x in row if x % 2])
    return total


@njit
def halved(k):
    left, n = [k], 0
    while left:
        k = left.pop()
        n += 1
        if k > 1:
            left.append(k // 2)
            left.append(k // 3)
    return n


def stacks(a):
    out = np.zeros(len(a), np.int64)
    for i in prange(len(a)):
        out[i] = halved(i % 100)
    return out


def reached(a):
    out = np.zeros(300, np.int64)
    for i in prange(300):
        queue, seen = deque([i]), np.zeros(300, np.bool_)
        seen[i] = True
        while queue:
            k = queue.popleft()
            for j in range(k + 1, min(k + 4, 300)):
                if a[j] > 1.0 and not seen[j]:
                    seen[j] = True
                    queue.append(j)
        out[i] = seen.sum()
    return out


def emptied(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        items = [a[i], 1.0]
        for _ in range(3 if i == 1234 else 1):
            items.pop()
        out[i] = items[-1]
    return out


@njit
def counts_of_digits(k):
    counts = {}
    for _ in range(20):
        counts[k % 10] = counts.get(k % 10, 0) + 1
        k = k * 7 + 3
    most = 0
    for count in counts.values():
        most = max(most, count)
    return most * 100 + len(counts)


def tables(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        sums, rows, seen = {}, {}, set()
        for j in range(12):
            sums[j % 5, i % 3] = sums.get((j % 5, i % 3), 0.0) + a[i] * j
            rows.setdefault(i * j % 4, []).append(j)
            seen.add(i * j % 7)
        gone = {i: 1, 3: 4}
        del gone[i]
        for (j, _), x in sums.items():
            out[i] += j * x
        out[i] += rows[0][-1] + len(seen) + len(gone) + counts_of_digits(i)
    return out


def asked_for_what_is_missing(a):
    squares, pairs = {}, {(0, 0): 1}
    for j in range(40_000):
        squares[j] = j * j
    out = np.zeros(len(a))
    for i in prange(len(a)):
        own = {}
        own[i] = i
        out[i] = squares[i] + own[min(i, 50_000)] + pairs.get((i, i), 3)
    return out


@pytest.mark.parametrize("function", [lists_of_rows, stacks, reached, emptied, tables, asked_for_what_is_missing])
def test_containers_of_iterations(function):
    """A list, dict or set that an iteration makes and that no other iteration sees is native, so threads can make it; a
    dict that was made before the loop can be read by all threads."""
    agree(function, A)


def looks_up_parts(text, n):
    places = {}
    for k in range(len(text) - 2):
        places[text[k:k + 2]] = k
    out = np.zeros(n, np.int64)
    for i in prange(n):
        out[i] = places[text[i % 9:i % 9 + 2]]
    return out


@pytest.mark.parametrize("text", ["abcdefghijkl", "äЖcdefЖhijkl", "abcde"])
def test_parts_of_texts_are_keys(text):
    agree(looks_up_parts, text, N)


def either_table(a):
    shared, n = {1: 2}, 0
    for i in prange(len(a)):
        own = {}
        if a[i] > 0.5:
            own = shared
        n += len(own)
    return n


def lists_in_a_table(a):
    rows = {}
    for k in range(10):
        rows[k] = [k]
    n = 0
    for i in prange(len(a)):
        row = rows[i % 10]
        n += len(row)
    return n


def sums_of_products(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        out[i] = sum([a[j] * i for j in range(3)])
    for i in prange(len(a)):
        scaled = lambda x: x + i  # noqa: E731
        out[i] += sum(scaled(a[j]) for j in range(3))
    return out


def nested_comprehensions(a):
    out = np.zeros((40, 50))
    for i in prange(40):
        for j in prange(50):
            out[i, j] = max(a[k] * i - j for k in range(4))
    return out


def either(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > 0.5:
            t = 1.0
        else:
            t = a[i]
        out[i] = sum(a[j] * t for j in range(3))
    return out


def counted_up(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        def up():
            nonlocal t
            t += a[i]
        t = 0.0
        for _ in range(3):
            up()
        out[i] = t
    return out


def raises_later(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        found = [a[i] for _ in range(4)]
        found.append(0.5)
        if i == 1234:
            raise KeyError(i)
        out[i] = found[i % 5]
    return out


@pytest.mark.parametrize("function, outlined", [(sums_of_products, 2), (nested_comprehensions, 1), (either, 1),
                                                (counted_up, 1), (raises_later, 1)])
def test_variables_that_functions_capture(function, outlined):
    """A variable that an iteration sets before it reads it is private to the iteration, even if a comprehension or a
    lambda reads it."""
    agree(function, A, outlined=outlined)


def reads_what_is_outside(a):
    i = 5
    read = lambda: i  # noqa: E731
    n = 0
    for i in prange(len(a)):
        n += read()
    return n


def sets_sometimes(a):
    n = t = 0
    for i in prange(len(a)):
        if a[i] > 0.5:
            t = 1
        n += sum(t for j in range(3))
    return n


def calls_the_last(a):
    n = 0
    for i in prange(len(a)):
        t = i
        def read():
            return t
        n += read()
    t = -5
    return n + read()


@pytest.mark.parametrize("function", [reads_what_is_outside, sets_sometimes, calls_the_last])
def test_variables_that_iterations_share(function):
    with pytest.raises(CompileError, match="changes '[it]', which a function, a lambda or a comprehension shares"):
        njit(parallel=True)(function)(A)


def filled_by_all(a):
    found = [0.0] * len(a)
    for i in prange(len(a)):
        found[i] = a[i] * 2.0
    return sum(found)


@pytest.mark.parametrize("function", [filled_by_all, either_table, lists_in_a_table])
def test_containers_that_iterations_share(function):
    f = njit(parallel=True, cache=False)(function)
    with pytest.warns(ParallelWarning, match="runs on one thread"):
        assert f(A) == function(A)


def carried_over(a):
    last = [0.0]
    for i in prange(len(a)):
        last = [last[0] + a[i]]
    return last[0]


def test_a_list_that_goes_from_one_iteration_to_the_next():
    with pytest.raises(CompileError, match="'last' goes from one iteration of a parallel loop to the next"):
        njit(parallel=True)(carried_over)(A)


@njit
def plain_caller(a):
    return inner_total(a, 3)


@njit
def total_of_expression(a):
    return (a * 2 + np.sqrt(a + 5))[-1]


def caller_of_both(a):
    return inner_total(a, 3) + total_of_expression(a)


def test_functions_that_are_called_keep_the_option():
    def found(function, parallel):
        options = Options(parallel=parallel)
        module = stages.optimise(stages.infer(function, (typeof(I),), options).functions, options)
        return {inst.attrs["callee"].qualname for fn in module for block in fn.blocks for inst in block.insts
                if "chunks" in inst.attrs}

    assert found(plain_caller.py_func, False) == found(caller_of_both, False) == {"inner_total"}
    assert found(caller_of_both, True) == {"inner_total", "total_of_expression"}
    assert plain_caller(I) == 3 * I.sum()


# ---------------------------------------------------------------- iterations that may depend on each other


def from_far(a):
    for i in prange(1000):
        a[i] = a[i + 1000] * 2
    return a


def from_the_other_half(a):
    half = len(a) // 2
    for i in prange(half):
        a[i] = a[i + half] * 2
    return a


def even_from_odd(a):
    for i in prange(len(a) // 2):
        a[2 * i] = a[2 * i + 1]
    return a


def columns_of_rows(a):
    for i in prange(1, a.shape[0]):
        a[i, 0] = a[i - 1, 1] + a[i, 2]
    return a


@pytest.mark.parametrize("function, argument", [(from_far, A), (from_the_other_half, A), (even_from_odd, A),
                                                (columns_of_rows, M)])
def test_elements_that_are_different(function, argument):
    agree(function, argument)


def rows_in_place(a):
    out = np.zeros_like(a)
    for i in prange(len(a)):
        out[i] += a[i]
        out[i, ::2] -= 1
        row = out[i]
        row[1:] *= row[0]
    return out


def columns_in_place(a):
    out = np.zeros((a.shape[1], a.shape[0]))
    for i in prange(len(a)):
        out[:, i] += a[i]
        out[1:-1, i] = out[2:, i]
    return out


def pairs(a):
    out = np.zeros(2 * len(a))
    for i in prange(len(a)):
        for j in range(2):
            out[2 * i + j] += a[i]
        out[2 * i + 1] -= 1
    return out


@pytest.mark.parametrize("function, argument", [(rows_in_place, M), (columns_in_place, M), (pairs, A)])
def test_elements_that_no_other_iteration_has_are_changed_in_place(function, argument):
    agree(function, argument)
    found = report(function, argument)[0]
    assert found.startswith("the loop over prange runs on several threads") and "copy" not in found


def spread(a):
    out = np.zeros(len(a) + 31, np.int64)
    for i in prange(len(a)):
        for j in range(32):
            out[i + j] += a[i] * j
    return out


def spread_to_two(a):
    out = np.zeros(len(a) + 1, np.int64)
    for i in prange(len(a)):
        out[i] += a[i]
        out[i + 1] += 2 * a[i]
    return out


def spread_to_both_sides(a):
    out = np.zeros((2 * len(a), 2), np.int64)
    for i in prange(len(a)):
        out[i, 0] += a[i]
        out[2 * len(a) - 1 - i - a[i] % 3, 0] += 1
    return out


@pytest.mark.parametrize("function", [spread, spread_to_two, spread_to_both_sides])
def test_sums_in_elements_that_neighbouring_iterations_share_are_reductions(function):
    with parallel_chunksize(1):  # neighbours on different threads
        agree(function, I)
    assert "each chunk adds to a copy of out" in report(function, I)[0]


def overlapping_rows(a):
    out = np.zeros(len(a) + 3)
    for i in prange(len(a)):
        out[i:i + 3] += a[i]
    return out


def rows_of_several(a):
    out = np.zeros_like(a)
    for i in prange(len(a)):
        out[i // 2] += a[i]
    return out


def rows_from_the_end(a):
    out = np.zeros_like(a)
    for i in prange(len(a)):
        out[i - 1] += a[i]
        out[i] += 1
    return out


def bins_of_greatest(a):
    m = np.zeros(50)
    for i in prange(len(a)):
        if a[i] > m[i % 50]:
            m[i % 50] = a[i]
    return m


def histogram_that_is_read(a):
    h = np.zeros(106, np.int64)
    for i in prange(len(a)):
        h[a[i] + 5] += 1
        if h[0] > 10**9:
            a[i] = 0
    return h


@pytest.mark.parametrize("function, argument", [
    (bins_of_greatest, A), (histogram_that_is_read, I), (overlapping_rows, A), (rows_of_several, M),
    (rows_from_the_end, M)])
def test_elements_that_several_iterations_may_change(function, argument):
    f = njit(parallel=True, cache=False)(function)
    with pytest.warns(ParallelWarning, match="change elements of .* that they also read"):
        actual = outcome_with_warnings(f, (argument,))
    assert not difference(outcome(function, (argument,)), actual)


def counts_outside(a):
    n = 0

    def more():
        nonlocal n
        n += 1

    for i in prange(len(a)):
        more()
    return n


def sometimes(a):
    x = 0.0
    for i in prange(len(a)):
        if a[i] > 0:
            x = a[i]
    return x


def stops_adding(a):
    s = 0.0
    for i in prange(len(a)):
        if s < 100:
            s += a[i]
    return s


def last_greatest(a):
    m, at = -1, -1
    for i in prange(len(a)):
        if a[i] >= m:
            m, at = a[i], i
    return m, at


def aliased(a):
    b = a
    for i in prange(1, len(a)):
        a[i] = b[i - 1]


@pytest.mark.parametrize("function, argument, message", [
    (counts_outside, A, "changes 'n', which a function"), (sometimes, A, "'x' goes from one"),
    (stops_adding, A, "'s' goes from one"), (last_greatest, I, "'(m|at)' goes from one"),
    (aliased, A, "reads an element of 'a'"),
])
def test_more_loops_that_are_not_independent(function, argument, message):
    with pytest.raises(CompileError, match=message):
        njit(parallel=True)(function)(argument)


# ---------------------------------------------------------------- rows and slices


def row_after(o):
    for i in prange(o.shape[0] - 1):
        o[i] += o[i + 1]


def row_before(o):
    for i in prange(1, o.shape[0]):
        o[i] = o[i - 1] * 2


def row_that_is_copied(o):
    for i in prange(1, o.shape[0]):
        o[i] = o[i - 1]


def row_of_a_slice(o):
    for i in prange(o.shape[0] - 1):
        o[i] = o[1:][i]


def first_row(o):
    for i in prange(o.shape[0]):
        o[i] += o[0]


def opposite_row(o):
    for i in prange(o.shape[0]):
        o[i] += o[::-1][i]


def opposite_element(o):
    for i in prange(len(o)):
        o[i] += o[len(o) - 1 - i]


def column_for_a_row(o):
    for i in prange(o.shape[0]):
        o[i] += o.T[i]


def one_of_two_rows(o):
    for i in prange(1, o.shape[0]):
        w = o[i] if i % 3 else o[i - 1]
        w += 1


def column_after(o):
    for i in prange(o.shape[1] - 1):
        o[:, i] += o[:, i + 1]


def part_of_the_row_before(o):
    for i in prange(1, o.shape[0]):
        o[i, 1:] = o[i - 1, :-1]


@pytest.mark.parametrize("function, argument", [
    (row_after, M), (row_before, M), (row_that_is_copied, M), (row_of_a_slice, M), (first_row, M), (first_row, A),
    (opposite_row, M), (opposite_row, A), (opposite_element, A), (column_for_a_row, M[:5, :5].copy()),
    (one_of_two_rows, M), (column_after, M), (part_of_the_row_before, M)])
def test_rows_that_another_iteration_writes(function, argument):
    with pytest.raises(CompileError, match="an iteration of a parallel loop (reads|writes) an element of 'o' that "
                                           "another iteration writes") as caught:
        njit(parallel=True)(function)(argument)
    found = caught.value.diagnostic
    assert found.line > function.__code__.co_firstlineno + 1 and "write into another array" in found.hint


def row_of_another(o):
    out = np.zeros_like(o)
    for i in prange(1, o.shape[0] - 1):
        out[i] = o[i - 1] + o[i + 1]
        out[i] += o[::-1][i] + o[0]
    return out


def row_in_place(o):
    for i in prange(o.shape[0]):
        o[i] = np.sqrt(o[i] * o[i])
        o[i, 1:] = o[i, :-1]
    return o


def even_row_from_odd(o):
    for i in prange(o.shape[0] // 2):
        o[2 * i] = o[2 * i + 1]
    return o


def row_of_the_other_half(o):
    half = o.shape[0] // 2
    for i in prange(half):
        o[i] = o[i + half] * 2
    return o


def rows_after_the_first(o):
    for i in prange(1, o.shape[0]):
        o[i] -= o[0]
    return o


def all_rows_but_one(o):
    for i in prange(o.shape[0]):
        if i != 0:
            o[i] -= o[0]
    return o


def all_elements_but_one_row(o):
    for i in prange(o.shape[0]):
        for j in range(o.shape[1]):
            if i != 0:
                o[i, j] = o[0, j] + i
    return o


def other_columns(o):
    half = o.shape[1] // 2
    for i in prange(1, o.shape[0]):
        o[i, :half] = o[i - 1, half:2 * half]
        o[i, 0] = o[i - 1, half:].sum()
    return o


def column_from_the_one_before(o):
    for k in range(1, o.shape[1]):
        for i in prange(o.shape[0]):
            o[i, k] = o[i, k - 1] * 2
    return o


def from_one_of_two_to_the_other(o):
    a, b, flip = o, o.copy(), True
    for _ in range(3):
        for i in prange(1, o.shape[0] - 1):
            source, into = (a, b) if flip else (b, a)
            into[i] = source[i - 1] + source[i + 1]
        flip = not flip
    return a, b


@pytest.mark.parametrize("function", [
    row_of_another, row_in_place, even_row_from_odd, row_of_the_other_half, rows_after_the_first, all_rows_but_one,
    all_elements_but_one_row, other_columns, column_from_the_one_before, from_one_of_two_to_the_other])
def test_rows_that_no_other_iteration_writes(function):
    assert not difference(outcome(function, (M,)), outcome(njit(parallel=True)(function), (M,)))
    found = [line for line in report(function, M) if line.startswith("the loop over prange")]
    assert found and all([line.startswith("the loop over prange runs on several threads") for line in found])


def test_under_numbas_names_rows_that_another_iteration_writes_run_on_one_thread():
    expected, found = M[:200].copy(), M[:200].copy()
    row_before(expected)
    with pytest.warns(ParallelWarning, match="reads an element of 'o' that another iteration writes"):
        numba.njit(parallel=True)(row_before)(found)
    assert np.array_equal(expected, found)

@njit
def deposit(grid, place, amount):
    grid[place] += amount


@njit
def mixed_up(table, k):
    table[k] = (table[k] * 31 + k) % 1_000_003


@njit
def before(a, i):
    return a[i - 1]


@njit
def doubled_row(o, counts, i):
    for j in range(o.shape[1]):
        o[i, j] *= 2
        o[i, j] = max(o[i, j], 0.5)
    deposit(counts, i % 3, 1)


def sums_in_a_called_function(o):
    counts, found = np.zeros(100, np.int64), np.zeros((2, 100), np.int64)
    for i in prange(len(I)):
        deposit(counts, I[i], 1)
        deposit(found[1], I[i], 2)
    return counts, found


def rows_that_a_called_function_changes(o):
    counts = np.zeros(3, np.int64)
    for i in prange(o.shape[0]):
        doubled_row(o, counts, i)
    return o, counts


@njit
def count_down(row, k):
    if k > 0:
        row[k] += k
        count_down(row, k - 1)


def rows_that_a_function_changes_that_calls_itself(o):
    for i in prange(o.shape[0]):
        count_down(o[i], o.shape[1] - 1)
    return o


def a_row_for_each_thread(o):
    greatest = np.zeros((get_num_threads(), 100), np.int64)
    for i in prange(len(I)):
        row = greatest[get_thread_id()]
        row[I[i]] = max(row[I[i]], i)
    return greatest.max(axis=0)


def rows_that_are_passed(o):
    for i in prange(o.shape[0]):
        for j in range(o.shape[1]):
            mixed_up(o[i], j)
    return o


@pytest.mark.parametrize("function", [
    sums_in_a_called_function, rows_that_a_called_function_changes, rows_that_are_passed, a_row_for_each_thread,
    rows_that_a_function_changes_that_calls_itself])
def test_elements_that_called_functions_change(function):
    assert not difference(outcome(function, (M,)), outcome(njit(parallel=True)(function), (M,)))
    found = [line for line in report(function, M) if line.startswith("the loop over prange")]
    assert found and all([line.startswith("the loop over prange runs on several threads") for line in found])


def updates_in_a_called_function(o):
    table = np.zeros(100, np.int64)
    for i in prange(len(I)):
        mixed_up(table, I[i])
    return table


def row_that_is_chosen_in_each_iteration(o):
    counts = np.zeros((3, 100), np.int64)
    for i in prange(len(I)):
        row = counts[0] if o[0, 0] > i else counts[2]
        row[I[i]] += 1
    return counts


def updates_in_a_closure(o):
    table = np.zeros(100, np.int64)

    def change(k, i):
        table[k] = (table[k] * 31 + i) % 1_000_003

    for i in prange(len(I)):
        change(I[i], i)
    return table


def array_that_a_lambda_reads_and_the_loop_changes(o):
    counts = np.zeros(100, np.int64)
    more = lambda k: counts[k] + 1  # noqa: E731
    for i in prange(len(I)):
        counts[I[i]] = more(I[i])
    return counts


def array_of_a_tuple(o):
    tables = np.zeros(100, np.int64), np.ones(100, np.int64)
    for i in prange(len(I)):
        table = tables[i % 2]
        table[I[i]] = (table[I[i]] * 31 + i) % 1_000_003
    return tables


def array_that_may_be_none(o):
    table = np.zeros(100, np.int64)
    chosen = table if o[0, 0] < 9 else None
    for i in prange(len(I)):
        if chosen is not None:
            chosen[I[i]] = (chosen[I[i]] * 31 + i) % 1_000_003
    return table


def view_from_before_the_loop(o):
    table = np.zeros(101, np.int64)
    one, other = table[1:], table[::-1]
    for i in prange(len(I)):
        one[I[i]] = (other[I[i]] * 31 + i) % 1_000_003
    return table


@pytest.mark.parametrize("function", [
    updates_in_a_called_function, row_that_is_chosen_in_each_iteration, updates_in_a_closure,
    array_that_a_lambda_reads_and_the_loop_changes, array_of_a_tuple, array_that_may_be_none,
    view_from_before_the_loop])
def test_elements_that_iterations_may_share_are_changed_by_one_thread(function):
    with pytest.warns(ParallelWarning, match="iterations change elements of|arrays to which iterations add"):
        actual = outcome(njit(parallel=True)(function), (M,))
    assert not difference(outcome(function, (M,)), actual)


def test_sums_of_a_called_function_in_an_array_that_may_not_be_contiguous():
    def add(o):
        for i in prange(len(I)):
            deposit(o, I[i], 1.0)

    found = np.zeros((100, 2))
    with pytest.warns(ParallelWarning, match="may not be contiguous"):
        njit(parallel=True)(add)(found[:, 1])
    assert found[:, 1].tolist() == np.bincount(I % 100, minlength=100).tolist() and not found[:, 0].any()


def element_before_in_a_called_function(o):
    for i in prange(1, o.shape[0]):
        o[i, 0] = before(o[:, 0], i) + 1


def test_an_element_that_a_called_function_reads_and_another_iteration_writes():
    with pytest.raises(CompileError, match="reads an element of 'o' that another iteration writes") as caught:
        njit(parallel=True)(element_before_in_a_called_function)(M.copy())
    assert caught.value.diagnostic.function == "before" and caught.value.diagnostic.line > 0


# ---------------------------------------------------------------- races


def scattered(a, places):
    out = np.zeros(100)
    for i in prange(len(a)):
        out[places[i]] = a[i]
    return out


def gathered(a, places):
    for i in prange(len(a)):
        a[i] = a[places[i]] + 1
    return a


def one_after_the_other(a, places):
    out = np.zeros(100)
    for i in prange(len(a)):
        out[i] = a[i]
    for i in prange(len(a)):
        out[places[i]] = a[i]
    return out


def test_races_are_named():
    a, unique, twice_there = A[:6], np.array([5, 3, 4, 0, 1, 2]), np.array([9, 1, 2, 9, 4, 5])
    for function in (scattered, one_after_the_other, total, nearest, histogram, columns):
        f = njit(parallel=True, debug="races")(function)
        args = {total: (a,), nearest: (M[:6], M[1]), histogram: (I[:30],), columns: (M[:6],)}.get(function, (a, unique))
        expected, actual = function(*args), f(*args)
        for x, y in zip(flat(expected), flat(actual), strict=True):
            np.testing.assert_allclose(y, x)
    for function in (scattered, one_after_the_other):
        line = function.__code__.co_firstlineno + (3 if function is scattered else 5)
        text = (rf"^iteration 0 writes out\[9\] at line {line}, and iteration 3 writes out\[9\] at line {line}: the "
                "same element$")
        with pytest.raises(RaceError, match=text):
            njit(parallel=True, debug="races")(function)(a, twice_there)
    line = gathered.__code__.co_firstlineno + 2
    with pytest.raises(RaceError, match=rf"^iteration 0 reads a\[5\] at line {line}, and iteration 5 writes a\[5\]"):
        njit(parallel=True, debug="races")(gathered)(a.copy(), np.array([5, 1, 2, 3, 4, 5]))


# ---------------------------------------------------------------- the end of the program

DAEMONS = textwrap.dedent("""
    import threading, time
    import numpy as np
    from pyjitc import njit, prange

    @njit(parallel=True, nogil=True)
    def fails(a):
        for i in prange(len(a)):
            if a[i] < 1e300:
                raise ValueError(f"{i}")

    def again_and_again():
        while True:
            try:
                fails(np.ones(100_000))
            except ValueError:
                pass

    for _ in range(4):
        threading.Thread(target=again_and_again, daemon=True).start()
    time.sleep(0.5)
    print("ends")
""")


def test_the_program_may_end_while_regions_run():
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", DAEMONS], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PYJITC_NUM_THREADS": "4"})
        assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr


LATE = textwrap.dedent("""
    import ctypes, sys, threading, time
    from pyjitc import njit, prange

    libc = ctypes.CDLL(None)
    usleep = libc.usleep
    usleep.argtypes, usleep.restype = [ctypes.c_uint32], ctypes.c_int32

    @njit(nogil=True)
    def returns(n):
        usleep(n)
        return n

    @njit(nogil=True)
    def fails(n):
        usleep(n)
        if n > 0:
            raise ValueError("late")
        return n

    @njit(nogil=True, parallel=True)
    def region_fails(n):
        for i in prange(4):
            usleep(n)
            if n > 0:
                raise ValueError("late")
        return n

    @njit(nogil=True, parallel=True)
    def region(n):
        total = 0
        for i in prange(16):
            usleep(n)
            total += i
        return total

    functions = [returns, fails, region_fails, region]
    for f in functions:
        f(0)
    for f in functions:
        threading.Thread(target=f, args=(400_000,), daemon=True).start()
    time.sleep(0.1)
    libc.on_exit(libc.sleep, None)  # the interpreter is gone, and the process is not: sleep(the exit status)
    sys.exit(1)
""")


def test_daemon_threads_that_outlive_the_interpreter_wait_for_the_end_of_the_process():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYJITC_NUM_THREADS": "4"})
    assert (done.returncode, done.stderr) == (1, "")


LAST_CALLS = textwrap.dedent("""
    import atexit, os, sys, threading
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    from pyjitc import njit, prange

    @njit(parallel=True, nogil=True)
    def total(a):
        t = 0.0
        for i in prange(len(a)):
            t += a[i]
        return t

    @njit(nogil=True)
    def fails(a):
        if len(a) > 0:
            raise ValueError("no")

    def use(total=total, fails=fails, a=np.ones(5000), error=ValueError):
        try:
            fails(a)
        except error:
            return total(a)

    class Last:
        def __del__(self, use=use, write=os.write):
            write(1, f"deleted {use()}\\n".encode())

    def in_a_daemon():
        thread = threading.Thread(target=lambda: os.write(1, f"thread {use()}\\n".encode()), daemon=True)
        while not done.wait(0.001):
            use()
        os.write(1, f"daemon {use()}\\n".encode())

    def at_exit():
        done.set()
        daemon.join()
        os.write(1, f"exit {use()}\\n".encode())

    atexit.register(at_exit)
    use()
    last = Last()
    last.itself = last
    done = threading.Event()
    daemon = threading.Thread(target=in_a_daemon, daemon=True)
    daemon.start()
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        executor = ThreadPoolExecutor(4)
        for _ in range(20):
            executor.submit(use)
    else:
        atexit.unregister(at_exit)
        del last
        assert use() == 5000.0
""")


def test_compiled_functions_run_until_the_interpreter_is_gone():
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", LAST_CALLS], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "PYJITC_NUM_THREADS": "4"})
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split("\n")) == ["", "daemon 5000.0", "deleted 5000.0", "deleted 5000.0", "exit 5000.0"]


def _sums(a):
    return a.sum(), np.sum(a * a), a.mean(), a.std(), np.sum(a[::3])


def _extremes(a):
    return a.max(), a.min(), np.nanmax(a), np.ptp(a)


def _counts(a):
    return (a > 0.5).sum(), np.any(a > 2.0), np.all(a < 2.0), np.count_nonzero(a < 0.25)


def _of_ints(a):
    n = (a * 100).astype(np.int32)
    return n.sum(), n.max(), n.min(), np.bitwise_or.reduce(n)


@pytest.mark.parametrize("function, dtype", [
    (_sums, np.float64), (_sums, np.float32), (_extremes, np.float64), (_counts, np.float64), (_of_ints, np.float64)])
def test_folds_of_whole_arrays(function, dtype):
    """The results are NumPy's to the last bit with any number of threads: long sums of floats are added in the order of
    NumPy 2.3 and later."""
    rtol = 1e-15 * (1 if dtype is np.float64 else 2**29) if OLD and function is _sums else 0
    compiled = njit(parallel=True)(function)
    before = get_num_threads()
    for size in (7, 70_000, 300_001):
        a = np.random.default_rng(size).random(size).astype(dtype)
        expected = function(a)
        try:
            for threads in (1, before):
                set_num_threads(threads)
                actual = compiled(a)
                assert [type(x) for x in actual] == [type(x) for x in expected]
                np.testing.assert_allclose(actual, expected, rtol=rtol, atol=0)
        finally:
            set_num_threads(before)
        if function is _extremes:
            a[size // 2] = np.nan
            np.testing.assert_array_equal(compiled(a), function(a))


def test_folds_are_shared(capsys):
    def total(a):
        return a.sum(), a.max(), (a > 0).any()

    compiled = njit(parallel=True)(total)
    a = np.random.default_rng(1).random((300, 400))
    assert compiled(a) == total(a)
    compiled.parallel_diagnostics()
    assert capsys.readouterr().out.count("runs on several threads") == 3


def _along(a):
    rows, columns = a.sum(axis=1), a.sum(axis=0)
    most = (a * 2).max(axis=1)
    first = a.argmin(axis=1)
    return rows, columns, most, first, a.argmax(axis=0)


def _along_three(a):
    return a.sum(axis=(1, 2)), a.mean(axis=0)


def _places(a):
    return a.argmin(), a.argmax()


@pytest.mark.parametrize("function, shapes, shared", [
    (_along, [(130, 601), (2, 4), (1, 700), (0, 3), (3, 40_000)], 4), (_along_three, [(60, 3, 512), (4, 2, 1)], 1),
    (_places, [(300, 401), (3, 1)], 1)])
def test_folds_along_an_axis_are_shared(function, shapes, shared, capsys):
    """Each element of the result is computed by one thread, in NumPy's order; argmin and argmax find the first of equal
    elements and of nans."""
    compiled = njit(parallel=True)(function)
    for shape in shapes:
        a = np.round(np.random.default_rng(1).random(shape), 2)
        given = [a, np.asfortranarray(a)] if a.ndim == 3 else [a]
        if a.size:
            given.append(a.copy())
            given[-1].flat[[a.size // 2, -1]] = np.nan
        for x in given:
            assert not difference(outcome(function, (x,)), outcome(compiled, (x,))), (shape, x.strides)
    compiled.parallel_diagnostics()
    assert capsys.readouterr().out.count("runs on several threads") >= shared


def test_chunks_of_a_chosen_size():
    """The threads of a loop take as many iterations at a time as the program sets; exact sums do not depend on this."""
    @njit(parallel=True)
    def owners(n):
        out = np.zeros(n, np.int64)
        total = 0
        for i in prange(n):
            out[i] = get_thread_id()
            total += i
        return out, total

    assert get_parallel_chunksize() == 0
    for size in (1, 100, 1_000_000, 1 << 60):
        with parallel_chunksize(size):
            assert get_parallel_chunksize() == size
            out, total = owners(1_000)
            assert total == 499_500
            runs = np.flatnonzero(np.diff(out)) + 1
            assert not (runs % min(size, 1_000)).any()  # another thread takes over only at the end of a chunk
            assert owners(0)[1] == 0
    assert get_parallel_chunksize() == 0

    @njit
    def chosen(n):
        return set_parallel_chunksize(n), get_parallel_chunksize(), set_parallel_chunksize(0)

    assert chosen(7) == (0, 7, 7) and get_parallel_chunksize() == 0

    def in_blocks(n):
        found = []
        with parallel_chunksize(4):
            with parallel_chunksize(8) as inner:
                found += [inner.n, get_parallel_chunksize()]
            found.append(get_parallel_chunksize())
        try:
            with parallel_chunksize(n):
                found.append(get_parallel_chunksize())
                raise ValueError
        except ValueError:
            found.append(get_parallel_chunksize())
        return found

    for n in (5, -1):
        assert njit(in_blocks)(n) == in_blocks(n)
    for wrong in (-1, -(1 << 62)):
        with pytest.raises(ValueError, match="greater than or equal to zero"):
            set_parallel_chunksize(wrong)
        with pytest.raises(ValueError, match="greater than or equal to zero"):
            chosen(wrong)
    with pytest.raises(TypeError):
        set_parallel_chunksize(2.5)


def test_what_was_compiled_without_threads_before_is_shared_among_them(capsys):
    """The typed functions of the library are kept from one compilation to the next."""
    def total(a):
        return (a * 3).sum()

    assert njit(total)(np.ones(3)) == 9
    compiled = njit(parallel=True)(total)
    assert compiled(np.ones(3)) == 9
    compiled.parallel_diagnostics()
    assert "runs on several threads" in capsys.readouterr().out


def test_a_variable_that_the_first_iterations_of_a_loop_inside_set_is_each_iterations_own(capsys):
    """A loop over range(1) or range(2) makes an iteration, so that no value of the iteration before is read."""
    def sums_of_windows(a, width):
        out = np.zeros((len(a), a.shape[1] - width + 1))
        for i in prange(len(a)):
            for j in range(1):
                total = 0.0
                for k in range(width):
                    total += a[i, k]
                out[i, j] = total
            for j in range(1, out.shape[1]):
                total -= a[i, j - 1]
                total += a[i, j + width - 1]
                out[i, j] = total
        return out

    a = np.random.default_rng(0).random((6, 9))
    compiled = njit(parallel=True)(sums_of_windows)
    assert compiled(a, 3).tobytes() == sums_of_windows(a, 3).tobytes()
    compiled.parallel_diagnostics()
    assert "the loop over prange runs on several threads" in capsys.readouterr().out


def test_a_variable_that_a_loop_inside_may_leave_as_it_was_is_carried():
    def last_below(a, limit):
        found, total = 0.0, 0.0
        for i in prange(len(a)):
            for j in range(2):
                if a[i] < limit:
                    break
                found = a[i] + j
            total = total * 0.5 + found
        return total

    with pytest.raises(CompileError, match="goes from one iteration"):
        njit(parallel=True)(last_below)(np.arange(5.0), 3.0)


def rows_by_library(statement):
    """A function that stores a number of each row of X in a parallel loop, from arrays of the program and NumPy."""
    names = {"np": np, "prange": prange}
    exec(f"def f(X, S, out):\n    for i in prange(len(X)):\n        out[i] = {statement}\n    return out\n", names)
    return names["f"]


@pytest.mark.parametrize("statement", [
    "np.dot(X[i], X[i])", "np.linalg.norm(X[i])", "np.linalg.norm(X[i] - X[0])", "(S @ X[i])[0]", "X[i] @ S @ X[i]",
    "np.sum(X[i] @ S)", "(S @ S)[0, i % 3]", "(S @ S.T)[1, 0]", "np.einsum('i,i->', X[i], X[1])",
    "np.linalg.cholesky(S @ S.T + np.eye(31))[0, 0]", "np.argsort(X[i], kind='quicksort')[3]",
    "X[i].argsort(kind='mergesort')[0]", "np.sort(X[i], kind='heapsort')[2]"])
def test_products_and_sorts_of_rows_run_on_threads(statement):
    function, args = rows_by_library(statement), (M[:400], M[:31, :31].copy(), np.zeros(400))
    found = [one.name for one in regions(function, *args)]
    assert found[0].startswith("f.")
    agree(function, *args, rtol=1e-9, outlined=len(found))  # the library has loops of its own


def test_a_row_that_is_an_operand_of_a_product_and_its_result_is_seen():
    def shifted(X, S):
        for i in prange(len(X) - 1):
            X[i + 1] = S @ X[i]
        return X

    with pytest.warns(ParallelWarning, match="change elements of 'X' that they also read"):
        found = njit(parallel=True)(shifted)(M[:40].copy(), M[:31, :31].copy())
    np.testing.assert_allclose(found, shifted(M[:40].copy(), M[:31, :31].copy()), rtol=1e-9)
