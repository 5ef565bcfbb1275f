"""Loops over prange whose iterations are certain to write the same elements, or that get one array twice, run on one
thread."""
import warnings

import numpy as np
import pytest

from pyjitc import njit, prange
from pyjitc.base.errors import CompileError, ParallelWarning

N = 1_000
A = np.arange(float(N))
PLACES = np.arange(N) * 7 % 50


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
    names = {"prange": prange, "np": np, "work": njit(work), "store": njit(store)}
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
        function = loop(body, before)
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
