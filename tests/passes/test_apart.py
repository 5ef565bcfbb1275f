"""Loops over prange whose iterations are certain to write the same elements, or are found to when the loop begins, run
on one thread; those that are apart run on several."""
import warnings

import numpy as np
import pytest

from pyjitc import njit, parallel_chunksize, prange
from pyjitc.base.errors import CompileError, ParallelWarning

N = 1_000
A = np.arange(float(N))
PLACES = np.arange(N) * 7 % 50


@njit
def work(n, i):
    """A number that takes the longer to compute the earlier the iteration is, so that later ones end first."""
    total = 0.0
    for k in range(n - i):
        total += (k ^ i) * 0.5
    return total + i


def loop(body, before="", arguments="o, a, k, places"):
    """A function with a loop of which this is the body."""
    text = "\n".join([f"def f({arguments}):", "    n = len(a)", *("    " + line for line in before.splitlines()),
                      "    for i in prange(n):", *("        " + line for line in body.splitlines())])
    names = {"prange": prange, "np": np, "work": work, "store": njit(store)}
    exec(compile(text, "<loop>", "exec"), names)
    return names["f"]


def store(o, i, x):
    o[i] = x


def outcomes(function, make):
    expected, actual = make(), make()
    function(*expected)
    njit(parallel=True)(function)(*actual)
    return expected, actual


@pytest.mark.parametrize("body", [
    "o[i % 7] = work(n, i)", "o[i % k] = work(n, i)", "o[(i * i + 1) % k] = work(n, i)", "o[i & 15] = work(n, i)",
    "o[min(i, 30)] = work(n, i)", "o[i if i < 30 else 30] = work(n, i)", "o[max(i, n - 30)] = work(n, i)",
    "o[abs(i - 500)] = work(n, i)", "o[i // k] = work(n, i)", "o[i >> k] = work(n, i)", "o[-1 - i % k] = work(n, i)",
    "o[2 * (i % k) + 1] = work(n, i)", "o[places[i] % 3] = work(n, i)", "o[max(0, min(places[i], 5))] = work(n, i)",
    "v[places[i]] = work(n, i)", "x = work(n, i)\nfor j in range(3):\n    o[3 * (i % k) + j] = x + j",
    "store(o, i % k, work(n, i))", "store(v, places[i], work(n, i))"])
def test_more_iterations_than_elements(body):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ParallelWarning)
        expected, actual = outcomes(loop(body, "v = o[:50]"), lambda: (np.zeros(N), A, 5, PLACES))
    np.testing.assert_array_equal(actual[0], expected[0])


@pytest.mark.parametrize("body", ["o[i // 2] = a[i]", "o[i >> 1] = a[i]", "o[i & ~1] = a[i]", "o[i | 1] = a[i]",
                                  "o[2 * i // 3] = a[i]", "o[i // 2] = a[i] + o[i]"])
def test_iterations_that_write_the_element_of_the_one_before(body):
    with pytest.warns(ParallelWarning, match="iterations write the same elements of 'o'"):
        expected, actual = outcomes(loop(body), lambda: (np.ones(N), A, 5, PLACES))
    np.testing.assert_array_equal(actual[0], expected[0])


@pytest.mark.parametrize("body, before", [
    ("o[(i + k) % n] = a[i]", ""), ("v[i // 8, i % 8] = a[i]", "v = o.reshape(-1, 8)"), ("o[i ^ 1] = a[i]", ""),
    ("o[n - 1 - i] = a[i]", ""), ("o[places[i]] = 1", ""), ("o[3 * i // 3] = a[i]", ""),
    ("for j in range(k):\n    o[i * 5 + j] = a[i] + j", "n //= 8"),
    ("for j in range(places[i], places[i] + 1):\n    o[j] = 1", "")])
def test_iterations_with_elements_of_their_own_are_shared(body, before):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ParallelWarning)
        function = loop(body + "\nw[i] = work(n, i)", before + "\nw = np.zeros(n)")
        expected, actual = outcomes(function, lambda: (np.zeros(N), A, 5, PLACES))
    np.testing.assert_array_equal(actual[0], expected[0])


@pytest.mark.parametrize("body, before", [
    ("o[i] = o[(i + 1) % n] + 1", ""), ("o[i] = o[min(i + 1, n - 1)] + 1", ""), ("o[i] = o[max(i - 1, 0)] + 1", ""),
    ("o[i] = o[i - 1 if i > 0 else n - 1] + 1", ""), ("v[i] = v[i + 1] + 1", "v = o.view(np.int64)\nn -= 1"),
    ("for j in range(3):\n    o[2 * i + j] = a[i]", "n //= 3")])
def test_elements_of_neighbours_are_refused(body, before):
    with pytest.raises(CompileError, match="an iteration of a parallel loop (reads|writes) an element of"):
        njit(parallel=True)(loop(body, before))(A.copy(), A, 5, PLACES)


def overlapping():
    memory = np.arange(N + 8.0)
    return memory[1:N + 1], memory[:N]


def transposed():
    table = np.arange(60.0 * 60).reshape(60, 60)
    return table, table.T


def twice():
    array = np.arange(float(N))
    return array, array


@pytest.mark.parametrize("make, body", [
    (overlapping, "o[i] = a[i] + work(n, i) * 0"), (twice, "o[i] = a[i - 1] + work(n, i) * 0"),
    (twice, "o[i - 1] = a[i] + 1 + work(n, i) * 0"), (transposed, "o[i] = a[i]"), (transposed, "o[i] += a[i]"),
    (overlapping, "store(o, i, a[i] + work(n, i) * 0)")])
def test_arguments_that_share_memory(make, body):
    expected, actual = outcomes(loop(body, arguments="o, a"), make)
    np.testing.assert_array_equal(actual[0], expected[0])


# ---------------------------------------------------------------- tests at the beginning of the loop


def drawn(body, before, arguments):
    """(what the arguments are after a loop with this body, the random numbers that its iterations draw)"""
    text = "\n".join(["def f(o, a, k, places, r):", "    n = len(o)", *("    " + line for line in before.splitlines()),
                      "    np.random.seed(1)", "    for i in prange(n):",
                      *("        " + line for line in (*body.splitlines(), "r[i] = np.random.random() + work(9, i)"))])
    names = {"prange": prange, "np": np, "store": njit(store), "work": work}
    exec(compile(text, "<loop>", "exec"), names)
    numbers = np.zeros(N)
    with parallel_chunksize(7), warnings.catch_warnings():
        warnings.simplefilter("error", ParallelWarning)
        njit(parallel=True, cache=False)(names["f"])(*arguments, numbers)
    return arguments, numbers


def is_shared(body, before, make):
    """Whether several threads make the iterations of a loop: each chunk of them has random numbers of its own. What
    they write is compared with the interpreter's."""
    expected = make()
    text = "\n".join(["def f(o, a, k, places):", "    n = len(o)", *("    " + line for line in before.splitlines()),
                      "    for i in range(n):", *("        " + line for line in body.splitlines())])
    names = {"np": np, "store": store}
    exec(compile(text, "<loop>", "exec"), names)
    names["f"](*expected)
    actual, numbers = drawn(body, before, make())
    for one, other in zip(expected, actual):
        np.testing.assert_array_equal(other, one)
    return np.array_equal(numbers, drawn("pass", before, make())[1])


ROUND = np.arange(0, N + 1, 8)
SHUFFLED = np.random.default_rng(0).permutation(N)
MASK = np.random.default_rng(1).integers(0, 2, N)
APART = [
    ("o[i], o[len(o) - 1 - i] = o[len(o) - 1 - i], o[i]", "n //= 2", 5, PLACES),
    ("o[i * 8:i * 8 + 8] += 1", "n //= 8", 5, PLACES),
    ("o[i * k:(i + 1) * k] *= 2", "n //= k", 5, PLACES),
    ("for j in range(i * k, min(len(o), (i + 1) * k)):\n    o[j] = i + j", "n = (n + k - 1) // k", 7, PLACES),
    ("for j in range(k):\n    o[i * k + j] = o[i * k + j] * 2 + i", "n //= k", 5, PLACES),
    ("for j in range(k):\n    x, y = o[i * 2 * k + j], o[i * 2 * k + j + k]\n    o[i * 2 * k + j] = x + y\n"
     "    o[i * 2 * k + j + k] = x - y", "n //= 2 * k", 4, PLACES),
    ("store(o, i * k, i)", "n //= k", 5, PLACES),
    ("o[places[i]] = i", "", 5, SHUFFLED),
    ("o[(i + k) % n] = i", "", 5, PLACES),
    ("if a[i] > 0:\n    o[places[i]] = i", "", 5, np.cumsum(MASK) - 1),
    ("for j in range(places[i], places[i + 1]):\n    o[j] = i + j", "n = len(places) - 1", 5, ROUND),
    ("o[-1 - i] = i", "", 5, PLACES),
]


@pytest.mark.parametrize("body, before, k, places", APART)
def test_iterations_that_are_apart_as_a_test_finds_run_on_several_threads(body, before, k, places):
    assert is_shared(body, before, lambda: (np.arange(float(N)), MASK * 1.0, k, places))


@pytest.mark.parametrize("body, before, k, places", [
    ("for j in range(k):\n    o[i * 4 + j] = i", "n = n // 4 - 1", 5, PLACES),
    ("o[i], o[k - 1 - i] = o[k - 1 - i], o[i]", "n //= 2", 600, PLACES),
    ("o[i * k:(i + 1) * k + 1] *= 2", "n = n // k - 1", 5, PLACES),
    ("for j in range(i * k, min(len(o), (i + 1) * k + 1)):\n    o[j] = i + j", "n //= k", 7, PLACES),
    ("if a[i] > 0:\n    o[i % k] = i", "", 70, PLACES),
    ("o[places[i]] = i", "", 5, SHUFFLED // 2),
    ("if a[i] > 0:\n    o[places[i]] = i", "", 5, np.cumsum(MASK) // 2),
    ("for j in range(places[i], places[i + 1]):\n    o[j] = i + j", "n = len(places) - 1", 5, np.abs(ROUND - 400)),
    ("o[k - i] = i\no[i] = 1", "", 5, PLACES),
    ("store(o, i * k, i)", "n //= 5", 0, PLACES),
    ("o[i] = o[places[i]] + 1", "", 5, SHUFFLED)])
def test_iterations_that_meet_as_a_test_finds_run_on_one_thread(body, before, k, places):
    assert not is_shared(body, before, lambda: (np.arange(float(N)), MASK * 1.0, k, places))


@pytest.mark.parametrize("body", ["o[i - i % 2] = a[i]", "o[i - i % k * 0 - i % 2] = a[i]", "o[i & ~3] = a[i]"])
def test_an_index_that_is_rounded_down(body):
    with pytest.warns(ParallelWarning, match="runs on one thread: iterations write the same elements of 'o'"):
        expected, actual = outcomes(loop(body), lambda: (np.ones(N), A, 5, PLACES))
    np.testing.assert_array_equal(actual[0], expected[0])


@pytest.mark.parametrize("step", [1, 2])
def test_an_array_to_which_iterations_add_what_they_read_from_it(step):
    def add(h, b, places):
        for i in prange(len(b)):
            h[places[i]] += b[i]

    def make():
        h = np.arange(float(step * N))[::step]
        return h, h, SHUFFLED // 2

    with parallel_chunksize(7):
        expected, actual = outcomes(add, make)
    np.testing.assert_array_equal(actual[0], expected[0])


def test_elements_of_a_row_are_not_taken_for_those_of_another_view():
    def change(o):
        v = o.ravel()
        for i in prange(len(o)):
            o[i, 0] = v[i] + 1

    with parallel_chunksize(1), pytest.warns(ParallelWarning, match="elements of 'o' that they also read"):
        expected, actual = outcomes(change, lambda: (np.arange(400.0).reshape(20, 20).copy(),))
    np.testing.assert_array_equal(actual[0], expected[0])


def test_a_triangle_that_is_copied_to_the_other_is_not_refused():
    def mirror(o):
        for i in prange(len(o)):
            for j in range(i):
                o[j, i] = o[i, j]

    expected, actual = outcomes(mirror, lambda: (np.arange(400.0).reshape(20, 20).copy(),))
    np.testing.assert_array_equal(actual[0], expected[0])


@pytest.mark.parametrize("body", ["change(i)\no[(i + k) % n] = a[i]", "o[(i + k) % n] = a[i]\nchange(i)"])
def test_an_array_that_a_closure_shares(body):
    text = "\n".join(["def f(o, a, k):", "    n = len(a)", "    o = o[::-1]", "    def change(i):",
                      "        o[i] = a[i] * 2", "    for i in prange(n):",
                      *("        " + line for line in body.splitlines()), "    o += a"])
    names = {"prange": prange}
    exec(compile(text, "<closure>", "exec"), names)
    with parallel_chunksize(3):
        for _ in range(20):
            expected, actual = outcomes(names["f"], lambda: (np.zeros(N), A, 8))
            np.testing.assert_array_equal(actual[0], expected[0])


@pytest.mark.parametrize("places, shared", [(SHUFFLED[:100], True), (SHUFFLED[:100] // 2, False)])
def test_rows_at_computed_indices(places, shared):
    body = "for j in range(4):\n    v[places[i], j] = i + j"
    make = lambda: (np.zeros(4 * N), A, 5, places)  # noqa: E731
    assert is_shared(body, "v = o.reshape(-1, 4)\nn = len(places)", make) is shared


def test_items_of_a_tuple_are_taken_for_different_arrays():
    def fill(arrays):
        for i in prange(len(arrays)):
            arrays[i][:] = i

    with warnings.catch_warnings():
        warnings.simplefilter("error", ParallelWarning)
        expected, actual = outcomes(fill, lambda: (tuple([np.zeros(5) for _ in range(40)]),))
    np.testing.assert_array_equal(actual[0], expected[0])


def test_what_a_function_of_the_library_changes():
    def add(o, places):
        for i in prange(len(o)):
            np.add.at(o[i], places[i], 1.0)
            o[i].sort()

    def sort(o, places):
        for i in prange(len(o)):
            o[0].sort()
            o[i, 0] = i

    make = lambda: (np.zeros((40, 5)), SHUFFLED[:160].reshape(40, 4) % 5)  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("error", ParallelWarning)
        expected, actual = outcomes(add, make)
    np.testing.assert_array_equal(actual[0], expected[0])
    with pytest.warns(ParallelWarning, match="runs on one thread"):
        expected, actual = outcomes(sort, make)
    np.testing.assert_array_equal(actual[0], expected[0])


def test_a_condition_that_reads_an_empty_array():
    def store_some(o, a, places):
        for i in prange(len(places)):
            x = work(N, i)
            if i < len(a) and a[i] > 0:
                o[places[i]] = x

    with parallel_chunksize(7):
        expected, actual = outcomes(store_some, lambda: (np.zeros(N), np.zeros(0), SHUFFLED))
    np.testing.assert_array_equal(actual[0], expected[0])


def test_an_array_of_a_closure_that_may_be_another_argument():
    def change(o, a, k, places):
        both = o, a
        o = both[k % 2]

        def store(i):
            o[i] = a[places[i]] * 2

        for i in prange(len(a)):
            store(i)
        o += 1

    for k in (0, 1):
        with parallel_chunksize(3):
            expected, actual = outcomes(change, lambda: (np.arange(float(N)), np.arange(float(N)), k, SHUFFLED))
        np.testing.assert_array_equal(actual[0], expected[0])
        np.testing.assert_array_equal(actual[1], expected[1])


def test_a_loop_that_takes_less_time_than_its_test_runs_on_one_thread():
    with pytest.warns(ParallelWarning, match="may share elements of 'o', and to test that would take longer"):
        expected, actual = outcomes(loop("o[places[i]] = a[i]"), lambda: (np.zeros(N), A, 5, SHUFFLED))
    np.testing.assert_array_equal(actual[0], expected[0])
