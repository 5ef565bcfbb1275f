"""Loops, compiled with all passes, against NumPy: sizes around vector widths, strips and polls."""
import re
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

from pyjitc import njit


@njit
def matmul_ikj(a, b, c):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            t = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += t * b[k, j]


@njit
def jacobi(a, b, rounds):
    for _ in range(rounds):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100])
def test_vector_registers_survive_polls(n):
    """The counter of polls reaches zero inside vectorised code, and the call of the poll preserves the registers."""
    rng = np.random.default_rng(n)
    a, b = rng.random((n, n)), rng.random((n, n))
    c = np.zeros((n, n))
    matmul_ikj(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-12)
    x, y = a.copy(), a.copy()
    expected, scratch = a.copy(), a.copy()
    jacobi(x, y, 30)
    for _ in range(30):
        if n > 2:
            scratch[1:-1,
                    1:-1] = 0.25 * (expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2] + expected[1:-1, 2:])
            expected[1:-1, 1:-1] = scratch[1:-1, 1:-1]
    np.testing.assert_array_equal(x, expected)


@njit
def axpy(alpha, x, y):
    for i in range(len(x)):
        y[i] = alpha * x[i] + y[i]


@njit
def total(n):
    s = 0
    for i in range(n):
        s += i
    return s


@pytest.mark.parametrize("n", [0, 1, 16383, 16384, 16385, 32768, 40000])
def test_strips(n):
    x, y = np.arange(float(n)), np.ones(n)
    axpy(2.5, x, y)
    np.testing.assert_array_equal(y, 2.5 * np.arange(float(n)) + 1)
    assert total(n) == n * (n - 1) // 2


@njit
def ordered(a, start, step, limit):
    total, last = 0.0, start
    for i in range(start, len(a), step):
        last = i
        if a[i] > limit:
            total += a[i]
    return total, last


@njit
def downwards(a, stop):
    total = 0.0
    for i in range(len(a) - 1, stop, -1):
        total = total * 0.5 + a[i]
    return total


@njit
def repeated(a, n):
    total = 0.0
    for _ in range(n):
        total = total * 0.25 + a[0]
    return total


@njit
def raising(a, n):
    seen = 0
    for i in range(n):
        seen += int(a[i])
    return seen


@pytest.mark.parametrize("n", [0, 1, 2, 16383, 16384, 16385, 32768, 49153])
def test_loops_that_pause(n):
    a = np.random.default_rng(3).integers(-3, 4, n).astype(float)
    for start, step in [(0, 1), (0, 3), (5, 1), (-7, 1), (max(n - 1, 0), 1), (n + 3, 1), (1, 2)]:
        if start >= 0 or n >= 7:
            assert ordered(a, start, step, 0.5) == ordered.py_func(a, start, step, 0.5)
    for stop in -1, 0, 7, n:
        assert downwards(a, stop) == downwards.py_func(a, stop)
    for trips in -(2**63), -1, 0, 1, n:
        assert (trips > 0 and not n
                or repeated(a[:1] if n else np.ones(1), trips) == repeated.py_func(a[:1] if n else np.ones(1), trips))
    assert raising(a, n) == raising.py_func(a, n)
    for compiled in raising, raising.py_func:
        with pytest.raises(IndexError, match=f"index {n} is out of bounds for axis 0 with size {n}"):
            compiled(a, n + 1)


@njit
def shifted(a, b, k):
    for i in range(len(a)):
        b[i + k] = a[i] + i


@pytest.mark.parametrize("k, reached", [(0, 8), (2, 8), (3, 7), (-1, 8), (100, 0), (2**62, 0)])
def test_versioned_loop_fails_where_the_checked_one_does(k, reached):
    a, b = np.arange(8.0), np.zeros(10)
    expected = np.zeros(10)

    def run(function, target):
        try:
            function(a, target, k)
        except (IndexError, OverflowError) as error:
            return type(error), str(error)

    assert run(shifted, b) == run(shifted.py_func, expected)
    np.testing.assert_array_equal(b, expected)
    assert np.count_nonzero(expected) <= reached


@njit
def generated(n):
    state = 12345
    hits = 0
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2147483648
        x = state / 2147483648.0
        if x * x < 0.5:
            hits += 1
    return state, hits


@njit
def row_sums(a, out):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 16_383, 16_384, 16_385])
def test_unrolled_loops(n):
    """Dependent scalars and sums of floats are unrolled by four, in Python's order."""
    assert generated(n) == generated.py_func(n)
    assert "unroll: True" in str(generated._inspect("opt", generated.signatures[0]))
    a = np.random.default_rng(n + 1).random((3, max(n, 0)))
    out, expected = np.zeros(3), np.zeros(3)
    row_sums(a, out)
    row_sums.py_func(a, expected)
    assert out.tobytes() == expected.tobytes()
    assert "unroll: True" in str(row_sums._inspect("opt", row_sums.signatures[0]))


@njit
def numbers(digits, base):
    """The sum and the count of the numbers in a text, given as an array of its characters."""
    total = value = count = 0
    inside = False
    for i in range(len(digits)):
        digit = int(digits[i])
        if 0 <= digit < base:
            value = value * base + digit
            if not inside:
                inside = True
                count += 1
        else:
            total += value
            value = 0
            inside = False
    return total + value, count


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 40, 16_384, 16_389])
@pytest.mark.parametrize("length", [5, 13, 20])  # a number of twenty digits does not fit
def test_loops_that_branch_are_unrolled(n, length):
    digits = np.random.default_rng(n + length).integers(1, 10, n)
    digits[length::length + 1] = -1
    if length == 20 and n >= 20:
        with pytest.raises(OverflowError):
            numbers(digits, 10)
    else:
        assert numbers(digits, 10) == numbers.py_func(digits, 10)
    assert "unroll: 'branches'" in str(numbers._inspect("opt", numbers.signatures[0]))


@njit
def scaled(a, out):
    least = 0.0
    for i in range(len(a)):
        out[i] = a[i] * 2.0
    for i in range(len(a)):
        if a[i] < least:
            least = a[i]
    return least


def likelihood(x, mean, deviation):
    total = 0.0
    for i in range(len(x)):
        z = (x[i] - mean) / deviation
        total += -0.5 * z * z - np.log(np.abs(x[i]) + 1.0)
    return total


def two_sums_of_rows(a, out):
    for i in range(a.shape[0]):
        s, t = 0.5, 0.0
        for j in range(a.shape[1]):
            s += np.exp(-a[i, j] * a[i, j])
            t += a[i, j] / (a[i, j] + 3.0)
        out[i] = s - t
    return out


def potential(points, charges):
    energy = 0.0
    for i in range(len(points)):
        for j in range(i):
            x, y = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
            energy += charges[i] * charges[j] / np.sqrt(x * x + y * y)
    return energy


def running_sums(x, out):
    total = 0.0
    for i in range(len(x)):
        total += np.exp(x[i])
        out[i] = total
    return out


def last_and_sum(x):
    total = last = 0.0
    for i in range(len(x)):
        last = total
        total += np.sqrt(np.abs(x[i])) / 3.0
    return total, last


def differences_in_order(x):
    total = 1e300
    for i in range(len(x)):
        total = 1.0 / (np.abs(x[i]) + 1.0) - total
    return total


def positive_ones(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            total += np.log(x[i])
    return total


def one_by_one(f, *args):
    """What the interpreter computes, where the elementary functions are compiled for one number each."""
    functions = SimpleNamespace(exp=njit(lambda x: np.exp(x)), log=njit(lambda x: np.log(x)), sqrt=np.sqrt, abs=np.abs)
    return FunctionType(f.__code__, {"np": functions})(*args)


@pytest.mark.parametrize("f", [likelihood, potential, two_sums_of_rows])
def test_what_is_summed_is_computed_in_vectors(f):
    args = {likelihood: (np.ones(3), 0.5, 2.0), potential: (np.ones((3, 2)), np.ones(3)),
            two_sums_of_rows: (np.ones((3, 4)), np.ones(3))}[f]
    compiled = njit(f)
    compiled(*args)
    (text,) = compiled.inspect_llvm().values()
    assert re.search(r"fdiv <\d+ x double>", text) and "reduce.fadd" in text and "reassoc" not in text


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 31, 32, 33, 70, 16_390])
def test_sums_in_order_of_what_is_computed_in_vectors(n, dtype):
    rng = np.random.default_rng(n)
    x = (rng.normal(size=n) * 10.0 ** rng.integers(-8, 3, n)).astype(dtype)
    with np.errstate(all="ignore"):
        for f in likelihood, last_and_sum, differences_in_order, positive_ones:
            args = (x, dtype(0.25), dtype(1.5)) if f is likelihood else (x,)
            assert repr(njit(f)(*args)) == repr(one_by_one(f, *args)), f
        assert (njit(running_sums)(x, np.zeros(n, dtype)).tobytes()
                == one_by_one(running_sums, x, np.zeros(n, dtype)).tobytes())
        for width in (1, 5, 8, 13) if n < 100 else ():
            a = rng.normal(size=(n, width)).astype(dtype)
            assert (njit(two_sums_of_rows)(a, np.zeros(n)).tobytes()
                    == one_by_one(two_sums_of_rows, a, np.zeros(n)).tobytes())
        if n < 100:
            points, charges = rng.normal(size=(n, 2)).astype(dtype), rng.normal(size=n).astype(dtype)
            assert repr(njit(potential)(points, charges)) == repr(one_by_one(potential, points, charges))


def test_loops_that_vectorise_are_not_unrolled():
    scaled(np.ones(3), np.ones(3))
    assert "unroll" not in str(scaled._inspect("opt", scaled.signatures[0]))


@njit
def counted(first, last):
    total = 0
    for i in range(3, last):
        total += (i ^ first) & 1023
    for i in range(-3, last):
        total -= i & 7
    for i in range(first, last):
        total += i & 3
    return total


@pytest.mark.parametrize("first", [-5, 0, 4, 2**63 - 1])
@pytest.mark.parametrize("last", [-2**63, -4, -3, 0, 3, 4, 20_000])
def test_empty_and_short_ranges(first, last):
    assert counted(first, last) == counted.py_func(first, last)


@njit
def columns(a, cube, out, k):
    """Loops down a column: forwards and backwards, with neighbouring elements, over the middle of three axes, and with
    stores."""
    n, total = a.shape[0], 0.0
    for i in range(1, n):
        out[i] = a[i - 1, k] - a[i, k] * 0.5
    for i in range(n - 1, -1, -1):
        total = total * 0.5 + a[i, k]
    for i in range(0, n - 2, 2):
        a[i + 2, k] = a[i, k] + 1.0
    for i in range(n):
        out[i] += cube[k, i, k] + cube[i, k, k]
    for i in range(n):
        cube[k, i, k] = out[i] * total
    return total


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [2, 3, 9, 33, 64])
def test_columns(n, order):
    rng = np.random.default_rng(n)
    a, cube = np.array(rng.random((n, n)), order=order), np.array(rng.random((n, n, n)), order=order)
    for k in (0, n - 1, -1):
        mine, theirs = [(a.copy("A"), cube.copy("A"), np.zeros(n)) for _ in range(2)]
        assert columns(*mine, k) == columns.py_func(*theirs, k)
        for x, y in zip(mine, theirs):
            np.testing.assert_array_equal(x, y)
    assert all("walk: " in str(columns._inspect("opt", one)) for one in columns.signatures)


@njit
def columns_of_arrays_that_grow(x, out, mask):
    for i in range(300):
        made = np.zeros((300, 2 + (i & mask)))
        made[i, 1] = x[i]
        out[i] = made[i, 1]
    return out


@njit
def columns_of_arrays_in_turn(x, y, out):
    for i in range(len(out)):
        chosen = x if i & 1 else y
        out[i] = chosen[i, 0]
        copied = x[:, :1 + i % 3].copy()
        out[i] += copied[i, 0]
    return out


def test_a_column_of_an_array_that_each_trip_makes_has_its_own_stride():
    x = np.arange(300.0)
    np.testing.assert_array_equal(columns_of_arrays_that_grow(x, np.zeros(300), 7), x)
    tables = x.reshape(100, 3), -np.arange(700.0).reshape(100, 7)
    np.testing.assert_array_equal(columns_of_arrays_in_turn(*tables, np.zeros(100)),
                                  columns_of_arrays_in_turn.py_func(*tables, np.zeros(100)))
    text = str(columns_of_arrays_that_grow._inspect("opt", None))
    assert "array_store made" in text and "walk" not in text


@njit
def is_near(a, b):
    if np.isnan(a) or np.isnan(b) or np.isinf(a) or np.isinf(b):
        return False
    return a == b or abs(a - b) <= max(1e-9 * max(abs(a), abs(b)), 1e-12)


@njit
def joined(a, b):
    if np.sign(a) != np.sign(b) and is_near(abs(a), abs(b)):
        return 0.0
    return a + b


@njit
def running(steps, first):
    out = np.empty_like(steps)
    for column in range(steps.shape[1]):
        for i in range(steps.shape[0]):
            before = first[column] if i == 0 else out[i - 1, column]
            out[i, column] = joined(before, steps[i, column])
    return out


@njit
def running_up(steps, first):
    out = np.empty_like(steps)
    for column in range(steps.shape[1]):
        for i in range(steps.shape[0] - 1, -1, -1):
            after = first[column] if i == steps.shape[0] - 1 else out[i + 1, column]
            out[i, column] = joined(after, steps[i, column])
    return out


@njit
def from_outside(steps, first):
    out = np.zeros_like(steps)
    for column in range(steps.shape[1]):
        for i in range(-2, steps.shape[0]):
            if i >= 0:
                out[i, column] = joined(first[column], steps[i, column])
                if i > 1:
                    out[i, column] -= out[i - 2, column]
    return out


@pytest.mark.parametrize("function", [running, running_up, from_outside])
def test_a_walk_down_a_column_may_start_beside_the_array(function):
    rng = np.random.default_rng(3)
    for rows, width in ((1, 1), (2, 3), (12, 1), (12, 3), (7, 5)):
        for order in "CF":
            for steps in (np.array(rng.normal(size=(rows, width)), order=order),
                          np.array(rng.normal(size=(2 * rows, 2 * width)), order=order)[::2, ::-2]):
                first = rng.normal(size=width)
                np.testing.assert_array_equal(function(steps, first), function.py_func(steps, first))
    assert any(["walk: " in str(function._inspect("opt", one)) for one in function.signatures])


@njit
def products(a, out, rows, width, step, offset):
    for i in range(rows):
        for j in range(width):
            out[i * width + j] += a[j * step + offset]
    for start in range(offset, rows * width, step):
        for j in range(2):
            out[start + j] *= 3
    for i in range(rows):
        for j in range(i * width, (i + 1) * width - 1):
            out[j] -= out[j + 1]


@pytest.mark.parametrize("step", [1, 2, -1, -3, 7, 2**29, 2**30, 2**40, -2**62, 2**63 - 1])
@pytest.mark.parametrize("rows, width, offset", [
    (3, 4, 0), (2, 8, 3), (0, 5, 0), (5, 0, 0), (4, 6, 0), (1, 1, -2), (3, 4, 2**40), (2**62, 2, 1), (2, 2**63 - 1, 0)])
def test_guards_of_products(rows, width, offset, step):
    """Indices are products with a value that is known when the loop starts: in range, out of range at either end,
    negative, and out of 64 bits."""
    a = np.arange(20)
    got, expected = np.zeros(24, int), np.zeros(24, int)

    def run(function, out):
        try:
            function(a, out, rows, width, step, offset)
        except (IndexError, OverflowError) as error:
            return type(error)

    failed, known = run(products, got), run(products.py_func, expected)
    assert failed is known or failed is OverflowError and known is IndexError
    np.testing.assert_array_equal(got, expected)


def test_a_guard_of_products_is_before_the_nest():
    products(np.arange(20), np.zeros(24, int), 3, 4, 2, 0)
    opt = str(products._inspect("opt", products.signatures[0]))
    assert all(f"('{kind}', 1" in opt for kind in ("scaled", "strided"))
    assert opt.count("check_index") == 5  # one of each, in the copies of the loops with checks


@njit
def histogram(counts, values):
    for i in range(len(values)):
        counts[values[i]] += 1


@pytest.mark.parametrize("wrong", range(12))
def test_an_index_error_in_an_unrolled_loop(wrong):
    """The effects of the steps before the wrong index are kept; negative indices count from the end."""
    values = np.array([0, 3, -1, 2, 2, 1, -4, 0, 3, 3, 1])
    expected = np.zeros(4, int)
    if wrong < len(values):
        values[wrong] = 4 if wrong % 2 else -5
    np.add.at(expected, values[:wrong], 1)
    counts = np.zeros(4, int)
    if wrong < len(values):
        with pytest.raises(IndexError, match=f"index {values[wrong]} is out of bounds for axis 0 with size 4"):
            histogram(counts, values)
    else:
        histogram(counts, values)
    assert counts.tolist() == expected.tolist()
    assert "unroll: True" in str(histogram._inspect("opt", histogram.signatures[0]))


def _shared(kind):
    """Three matrices for matmul_ikj, as parts of one block of memory or separate."""
    x = np.random.default_rng(5).random((40, 40))
    return {"one": (x, x, x), "quarters": (x[:20, :20], x[:20, 20:], x[20:, :20]),
            "interleaved": (x[:20, :20], x[::2, 1::2], x[::2, ::2]),
            "result among rows": (x[:20, :20], x[10:30, :20], x[5:25, :20]),
            "one row on": (x[:-1, :-1], x[1:, :-1], x[:-1, 1:]), "reversed": (x[::-1], x, x[:, ::-1]),
            "apart": (x, x.copy(), x.copy()), "Fortran": (x, x.copy(), x.T), "no columns": (x, np.empty((40, 0)), x),
            "no rows": (np.empty((0, 3)), x, x)}[kind]


SHARED = ["one", "quarters", "interleaved", "result among rows", "one row on", "reversed", "apart", "Fortran",
          "no columns", "no rows"]


@pytest.mark.parametrize("kind", SHARED)
def test_arrays_that_share_memory(kind):
    """The loops that LLVM may reorder run only if the arrays do not overlap."""
    with np.errstate(all="ignore"):
        expected, actual = _shared(kind), _shared(kind)
        matmul_ikj.py_func(*expected)
        matmul_ikj(*actual)
    for one, other in zip(expected, actual):
        np.testing.assert_array_equal(one, other)


def test_rows_of_arrays_that_lie_apart_are_not_compared():
    matmul_ikj(*_shared("apart"))
    text = max((matmul_ikj.inspect_llvm(signature) for signature in matmul_ikj.signatures), key=len)
    assert "!noalias" in text and "vector.memcheck" not in text


def test_rows_of_a_guarded_nest_are_no_strips():
    """The copies without checks, whose rows are joined by twos and by fours as well, poll once for each row; the copy
    with checks, which also runs for longer rows, divides a row into strips."""
    matmul_ikj(*_shared("apart"))
    text = max((str(matmul_ikj._inspect("opt", signature)) for signature in matmul_ikj.signatures), key=len)
    assert text.count("const 16384 : int") == 1 and text.count("no_poll: True") == 3


def add_two_rows(a, b):
    for i in range(2):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + b[i, j]
    return a[0, 0]


def test_a_short_loop_around_rows_polls_for_their_length():
    """A loop of a few steps needs no poll of its own, but here each step may be long."""
    f = njit(add_two_rows)
    a, b = np.ones((2, 5)), np.ones((2, 5))
    assert f(a, b) == 2.0 and a.tolist() == [[2.0] * 5] * 2
    text = str(f._inspect("opt", f.signatures[0]))
    # for a row, and for a strip of the copy with checks
    assert text.count("no_poll: True") == 1 and len(re.findall(r"\bpoll \w", text)) == 2


def add_rows(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[i, j] + b[i, j] * 2.0
    return a[0, 0]


def test_rows_that_are_too_long_to_run_to_their_ends():
    """All elements of a row have the same address: the last write counts in every copy of the loop."""
    n = 50_000_000
    f = njit(add_rows)
    for length in (3, n):
        a, b = np.array([1.0, 2.0]), np.array([0.25, 0.5])
        rows = [np.lib.stride_tricks.as_strided(x, (2, length), (8, 0)) for x in (a, b)]
        f(*rows)
        assert a.tolist() == [1.0 + 0.5 * length, 2.0 + 1.0 * length]


def moved(position, velocity):
    for i in range(len(position)):
        for k in range(3):
            velocity[i, k] += position[i, k] * 0.5
        for k in range(3):
            position[i, k] += 0.001 * velocity[i, k]


def test_three_steps_are_written_out():
    """Neighbouring elements become vectors, which are stored with the widths with which the next step loads them. A
    vector of all three elements would have to wait for narrower stores."""
    f = njit(moved)
    x, v = np.random.default_rng(3).random((2, 7, 3))
    expected = x.copy(), v.copy()
    moved(*expected)
    f(x, v)
    np.testing.assert_array_equal(x, expected[0])
    np.testing.assert_array_equal(v, expected[1])
    text = f.inspect_llvm(f.signatures[0])
    assert "vector.body" not in text and "<2 x double>" in text
    assert str(f._inspect("opt", f.signatures[0])).count("array_store") >= 6


def centre(points):
    middle = np.zeros(3)
    for p in points:
        middle += p
    return middle / len(points)


def weights(values):
    total = 0.0
    for i in range(len(values)):
        ones = np.ones(5)
        ones[i % 5] = values[i]
        for w in ones:
            total += w
    return total


@pytest.mark.parametrize("function, n", [(centre, (7, 3)), (weights, (20,))])
def test_llvm_is_asked_for_nothing_that_it_cannot_do(function, n, capfd):
    """LLVM warns on stderr. An inner loop whose exit is the latch of the outer loop has no branch of its own for the
    loop metadata."""
    values = np.random.default_rng(5).random(n)
    np.testing.assert_array_equal(njit(function)(values), function(values))
    assert capfd.readouterr() == ("", "")


def small_products(a, b, out):
    for m in range(a.shape[0]):
        for i in range(4):
            for j in range(4):
                total = 0.0
                for k in range(4):
                    total += a[m, i, k] * b[m, k, j]
                out[m, i, j] = total


def parities(values, out):
    for i in range(len(values)):
        n = 0
        for b in range(16):
            n += (values[i] >> b) & 1
        out[i] = n


def quaternions(a, b, out):
    for i in range(a.shape[0]):
        w, x, y, z = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
        s, t, u, v = b[i, 0], b[i, 1], b[i, 2], b[i, 3]
        out[i, 0] = w * s - x * t - y * u - z * v
        out[i, 1] = w * t + x * s + y * v - z * u
        out[i, 2] = w * u - x * v + y * s + z * t
        out[i, 3] = w * v + x * u - y * t + z * s


@pytest.mark.parametrize("function, arguments, vector", [
    (small_products, lambda rng, n: (rng.random((n, 4, 4)), rng.random((n, 4, 4)), np.zeros((n, 4, 4))),
     r"fmul <\d x double>"),
    (parities, lambda rng, n: (rng.integers(0, 1 << 40, n), np.zeros(n, np.int64)), r"and <\d x i64>"),
    (quaternions, lambda rng, n: (rng.random((n, 4)), rng.random((n, 4)), np.zeros((n, 4))), r"fmul <\d x double>"),
])
def test_few_steps_make_vectors(function, arguments, vector):
    """A loop with a small, constant number of steps is unrolled: then the loop around it, or neighbouring elements,
    become vectors."""
    f = njit(function)
    for n in (0, 1, 3, 4, 9):
        expected, actual = (arguments(np.random.default_rng(n), n) for _ in range(2))
        function(*expected)
        f(*actual)
        np.testing.assert_array_equal(actual[-1], expected[-1])
    assert re.search(vector, f.inspect_llvm(f.signatures[0]))


def cholesky(a):
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]


def solve(lower, x, b):
    for i in range(len(x)):
        x[i] = b[i]
        for j in range(i):
            x[i] -= lower[i, j] * x[j]
        x[i] = x[i] / lower[i, i]


def product(a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]


def past_the_end(x, y):
    for i in range(len(x)):
        for j in range(i, -1, -1):
            y[i] += x[j + 1] * 0.5


def backwards(x, y):
    for i in range(len(x)):
        for j in range(len(x) - 1, i, -1):
            y[i] += x[j - i - 1] * 0.5


@pytest.mark.parametrize("function, arguments, alone", [
    (cholesky, lambda rng, n: (rng.random((n, n)) + n * np.eye(n),), 2),
    (solve, lambda rng, n: (rng.random((n, n)) + n * np.eye(n), np.zeros(n), rng.random(n)), 1),
    (product, lambda rng, n: (rng.random((n, n)), rng.random((n, n + 3))), 1),
    (past_the_end, lambda rng, n: (rng.random(n), rng.random(n)), 0),
    (backwards, lambda rng, n: (rng.random(n), rng.random(n)), 0),
])
def test_triangles(function, arguments, alone):
    """The bounds of an inner loop change with the outer one: one guard before the nest tests the indices at the
    corners, and a sum stays in a register during the inner loop. For arrays that share memory, and for indices out of
    range, the slow copy runs."""
    f = njit(function)
    for n in (1, 2, 3, 7, 20):
        expected, actual = (arguments(np.random.default_rng(n), n) for _ in range(2))
        errors = []
        for one, args in ((function, expected), (f, actual)):
            try:
                one(*args)
            except IndexError as error:
                errors.append(str(error))
        assert len(errors) in (0, 2) and len(set(errors)) < 2
        assert bool(errors) == (function is past_the_end)
        for x, y in zip(expected, actual, strict=True):
            np.testing.assert_array_equal(y, x)
    text = str(f._inspect("opt", f.signatures[0]))
    bodies = [body for body in re.split(r"(?m)^  \S+\(.*\):$", text) if "held: True" in body]
    assert bodies and not any("check_index" in body for body in bodies) and text.count("alone {group") == alone


def test_a_triangle_in_one_array():
    """Two arguments that are the same array are not taken for disjoint."""
    f = njit(solve)
    whole = np.random.default_rng(0).random((8, 8)) + 8 * np.eye(8)
    for n in (3, 8):
        expected, actual = whole.copy(), whole.copy()
        solve(expected, expected[2, :n], expected[:n, 3])
        f(actual, actual[2, :n], actual[:n, 3])
        np.testing.assert_array_equal(actual, expected)


def knapsack(weights, values, best):
    for i in range(len(weights)):
        w = weights[i]
        for c in range(len(best) - 1, w - 1, -1):
            if best[c - w] + values[i] > best[c]:
                best[c] = best[c - w] + values[i]


def test_indices_of_numpy_integers():
    """A difference with a number from an array wraps, which the guard of the loop tests, too. Indices out of range
    raise as in the interpreter."""
    f = njit(knapsack)
    for weights in ([3, 1, 7], [1, 0, 20, 5], [2, -4], [2, -40], [-(1 << 63)], [(1 << 63) - 1]):
        expected, actual = np.zeros(20, np.int64), np.zeros(20, np.int64)
        w, v = np.array(weights), np.arange(3, 3 + len(weights))
        outcomes = []
        for one, best in ((knapsack, expected), (f, actual)):
            try:
                with np.errstate(over="ignore"):
                    outcomes.append(one(w, v, best))
            except IndexError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        np.testing.assert_array_equal(actual, expected)
    text = str(f._inspect("opt", f.signatures[0]))
    assert any("isub" in body and "check_index" not in body and "array_load best" in body
               for body in re.split(r"(?m)^  \S+\(.*\):$", text))


def rank_update(c, a):
    n, m = a.shape
    for i in range(n):
        for k in range(m):
            for j in range(i + 1):
                c[i, j] += a[i, k] * a[j, k]


def transposed(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j]


def test_a_loop_down_a_column_is_a_vector_for_rows_of_any_length():
    """LLVM assumes that a stride, here the number of elements in a row, is mostly 1."""
    rng, compiled = np.random.default_rng(5), njit(rank_update)
    for n, m in (1, 1), (7, 1), (20, 9), (33, 40):
        a, c = rng.random((n, m)), rng.random((n, n))
        expected = c + np.tril(a @ a.T)
        compiled(c, a)
        np.testing.assert_allclose(c, expected, rtol=1e-12)
    text = next(iter(compiled.inspect_llvm().values()))
    assert "llvm.masked.gather" in text or len(re.findall(r"insertelement <\d+ x double>", text)) >= 4


def triangle(a, out):
    for i in range(a.shape[0]):
        for j in range(i, a.shape[0]):
            least = a[i, j]
            for k in range(i, j):
                least = min(least, a[i, k] + a[k, j])
            out[i, j] = least


def triangle_and_sum(a, out):
    for i in range(a.shape[0]):
        for j in range(i, a.shape[0]):
            least = a[i, j]
            for k in range(i, j):
                least = min(least, a[i, k] + a[k, j])
            out[i, j] = least
        for j in range(a.shape[0]):
            out[i, j] += a[i, j]


@pytest.mark.parametrize("type", [np.int64, np.int32, np.int16])
def test_columns_whose_length_changes_have_short_vectors(type):
    """Of longer ones, more trips of each row are left over (a tenth to a fifth of the time on an AMD EPYC 9004)."""
    rng, made, other = np.random.default_rng(6), njit(triangle), njit(triangle_and_sum)
    for n in (0, 1, 2, 5, 9, 40):
        a = rng.integers(-99, 99, (n, n)).astype(type)
        results = [np.zeros((n, n), type) for _ in range(3)]
        for f, out in zip((triangle, made, other), results):
            f(a, out)
        assert np.array_equal(results[0], results[1]) and np.array_equal(results[0] + a, results[2])
    text = [next(iter(f.inspect_llvm().values())) for f in (made, other)]
    assert ['"prefer-vector-width"="256"' in one for one in text] == [True, False]


def test_elements_are_not_scattered():
    compiled = njit(transposed)
    a, out = np.arange(300.0).reshape(15, 20), np.zeros((20, 15))
    compiled(a, out)
    np.testing.assert_array_equal(out, a.T)
    assert "scatter" not in next(iter(compiled.inspect_asm().values()))


def test_rows_keep_one_vector_in_flight():
    """They may be short: with several vectors, all of a row would be left to the remainder."""
    def of_rows(x, m):
        return np.exp(x - m[:, None])

    def of_all(x):
        return np.exp(x)

    x = np.random.default_rng(0).normal(size=(5, 10))
    made, whole = njit(of_rows), njit(of_all)
    np.testing.assert_allclose(made(x, x[:, 0]), of_rows(x, x[:, 0]), 1e-14)
    np.testing.assert_allclose(whole(x[0]), np.exp(x[0]), 1e-14)
    assert "interleave: 1" in str(made._inspect("opt", None))
    assert "interleave: 1" not in str(whole._inspect("opt", None))


@pytest.mark.parametrize("name, vectors", [("tanh", 2), ("cos", 2), ("sinh", 2), ("exp", 2), ("log", 1), ("log1p", 1)])
def test_constants_do_not_count_for_the_vectors_in_flight(name, vectors):
    """With one, sinh of float32 takes 15 % longer (AMD EPYC)."""
    function = getattr(np, name)
    made = njit(lambda x: function(x))
    made(np.ones(3, np.float32))
    assert f"interleave: {vectors}" in str(made._inspect("opt", None))


def marked(text, wanted):
    table = np.zeros(256, np.uint8)
    for i in range(wanted.size):
        table[wanted[i]] = 1
    count, last = 0, -1
    for i in range(text.size):
        if table[text[i]] != 0:
            count += 1
            last = i
    return count, last


def test_look_ups_of_bytes_are_written_eight_times():
    """No processor gathers bytes, and the jump back takes a good part of such a trip."""
    rng, compiled = np.random.default_rng(10), njit(marked)
    wanted = np.array([3, 200, 255], np.uint8)
    for n in (0, 1, 3, 7, 8, 9, 15, 16, 100):
        text = rng.integers(0, 256, n).astype(np.uint8)
        for values in (wanted, wanted[:0], text[:5].copy()):
            assert compiled(text, values) == marked(text, values)
    assert "unroll: 'look-ups'" in str(compiled._inspect("opt", None))
    assert compiled.inspect_llvm(compiled.signatures[0]).count("load i8") >= 16  # two in each copy
