"""Derivatives of loops over prange: the forward and the backward part run on several threads where that is safe."""
import math

import numpy as np
import pytest

from pyjitc import grad, jvp, njit, prange, value_and_grad

N = 20_000
RANDOM = np.random.default_rng(3)
X, W = RANDOM.normal(size=N), RANDOM.normal(size=8)
INDEX = RANDOM.integers(0, 8, size=N)
M = RANDOM.normal(size=(N // 4, 5))


def elements(x, w, index):
    y = np.empty(len(x))
    for i in prange(len(x)):
        y[i] = math.sin(x[i] * w[1]) * x[i]
    s = 0.0
    for i in prange(len(x)):
        s += y[i] ** 2
    return s


def neighbours(x, w, index):
    y = np.zeros(len(x))
    for i in prange(1, len(x) - 1):
        y[i] = x[i - 1] * x[i] + w[0] * x[i + 1] ** 2
    return np.sum(y * y)


def gathered(x, w, index):
    s = 0.0
    for i in prange(len(x)):
        s += math.tanh(x[i] * w[index[i]])
    return s


def shifted(x, w, index):  # iterations read the same elements, which only the values of `index` say
    s = 0.0
    for i in prange(len(x) - 8):
        s += x[i + index[i]] * x[i] ** 2
    return s


def backwards(x, w, index):
    s = 0.0
    for i in prange(len(x) - 1, -1, -2):
        s += x[i] ** 2 * w[i % 8]
    return s


def branches(x, w, index):
    y = np.zeros(len(x))
    for i in prange(len(x)):
        t = x[i]
        for _ in range(index[i] % 3):
            t = math.sin(t) * w[2]
        if t > 0.1:
            y[i] = t * t
        else:
            y[i] = math.exp(t)
    return np.sum(y)


def own_arrays(x, w, index):
    y = np.zeros(len(x))
    for i in prange(len(x)):
        t = np.zeros(3)
        t[0] = x[i]
        t[1] = x[i] * w[0]
        t[2] = t[0] * t[1]
        y[i] = t.sum()
    return np.sum(y ** 2)


def histogram(x, w, index):
    bins = np.zeros(8)
    for i in prange(len(x)):
        bins[index[i]] += x[i] ** 2
    return np.sum(bins ** 2 * w)


def written_over(x, w, index):
    y = x.copy()
    for i in prange(len(x)):
        y[i] = y[i] * y[i] + w[3]
        y[i] = math.sin(y[i])
    return np.sum(y)


def rows(x, w, index):
    m = x[:len(x) // 5 * 5].reshape(-1, 5)
    y = np.empty(len(m))
    for i in prange(len(m)):
        s = 0.0
        for j in range(5):
            s += m[i, j] * w[j]
        y[i] = math.tanh(s)
    return np.mean(y * y)


PROGRAMS = [elements, neighbours, gathered, shifted, backwards, branches, own_arrays, histogram, written_over, rows]


@pytest.mark.parametrize("function", PROGRAMS)
def test_as_on_one_thread(function):
    value, wanted = value_and_grad(njit(function), (0, 1))(X, W, INDEX)
    parallel = njit(parallel=True)(function)
    found = [value_and_grad(parallel, (0, 1))(X, W, INDEX) for _ in range(5)]
    for again, gradients in found:
        assert again == found[0][0] == pytest.approx(value, rel=1e-12)
        for one, expected, first in zip(gradients, wanted, found[0][1]):
            np.testing.assert_allclose(one, expected, 1e-10, 1e-12)
            np.testing.assert_array_equal(one, first)  # the order of sums does not depend on the threads
    dx, dw = RANDOM.normal(size=N), RANDOM.normal(size=8)
    _, change = jvp(parallel, (X, W, INDEX), (dx, dw, None))
    assert change == pytest.approx(wanted[0] @ dx + wanted[1] @ dw, rel=1e-9)


@pytest.mark.parametrize("function, forward, backward", [
    (elements, 2, 2), (neighbours, 1, 1), (gathered, 1, 1), (shifted, 1, 1), (backwards, 1, 1), (written_over, 1, 1)])
def test_which_loops_run_on_several_threads(function, forward, backward, capsys):
    made = grad(njit(parallel=True)(function), (0, 1))
    made(X, W, INDEX)
    made.parallel_diagnostics()
    lines = capsys.readouterr().out.splitlines()
    several = [line for line in lines if "on several threads" in line]
    reversed_loops = [line for line in lines if "the reversed loop" in line]
    assert sum(": the loop over prange" in line for line in several) == forward, lines
    assert len(reversed_loops) >= backward and all(line in several for line in reversed_loops), lines


def test_second_derivatives():
    one, several = njit(gathered), njit(parallel=True)(gathered)

    def bent(f):
        return lambda x, w, index: np.sum(grad(f)(x, w, index) ** 2)

    np.testing.assert_allclose(grad(bent(several))(X, W, INDEX), grad(bent(one))(X, W, INDEX), 1e-10)
