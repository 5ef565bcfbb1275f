"""Parallel loops call functions that write elements of arrays in tuples: a function writes elements of those of its
parameters from which the arrays come, also where tuples are chosen or made anew on the way."""
import contextlib
import io
import warnings

import numpy as np
import pytest

from pyjitc import njit, prange
from pyjitc.base.errors import ParallelWarning

N = 2_000


@njit(inline="never")
def put(t, i, x):
    t[0][i] = x


@njit(inline="never")
def swapped(t, i, x):
    a, b = t
    for _ in range(3):
        a, b = b, a
        a[i] += x
    return a[i]


@njit(inline="never")
def either(t, u, c, i, x):
    z = t if c else u
    z[1][i] = x


@njit(inline="never")
def nested(t, i, x):
    put((t[1][0], t[0]), i, x)


@njit(inline="never")
def in_a_new_array(t, i, x):
    w = np.zeros(3)
    v = (w, t[0]) if x > 1e9 else (w, t[1])
    v[0][0] = x
    return v[0][0] + v[1][i]


def own_elements(a, b):
    for i in prange(N):
        put((b, a[i]), i, float(i))


def halves(a, b):
    for i in prange(N):
        put((b, a[i]), i // 2, float(i))


def quarters_of_a_tuple_from_before(a, b):
    t = b, b
    for i in prange(N):
        put(t, i // 4, float(i))


def rows(a, b):
    for i in prange(N):
        b[i] = swapped((a[i], a[i]), 0, float(i))


def rows_of_one_of_two(a, b):
    for i in prange(N):
        either((a[i], a[i]), (a[i], a[i]), i % 2 == 0, 1, float(i))


def elements_through_tuples(a, b):
    for i in prange(N):
        nested((a[i], (b, b)), i, float(i))


def read_beside_a_new_array(a, b):
    for i in prange(N):
        b[i] = in_a_new_array((a[i], a[i]), 0, float(i))


def one_of_two_arrays(a, b):
    for i in prange(N):
        w = np.zeros(4)
        put((w, b) if i % 3 else (b, w), 0, float(i))
        a[i, 0] = w[0]


def transforms(a, b):
    for i in prange(N):
        b[i] = np.abs(np.fft.fft(a[i])).sum() + np.fft.rfft(a[i])[1].real


def transforms_in_place(a, b):
    for i in prange(N):
        a[i] = np.fft.ifft(np.fft.fft(a[i])).real + i


def seen_after_the_call(a, b):
    total = 0.0
    for i in range(N):
        x = b[0]
        put((b, b), 0, x + 1)
        total += b[0]
        total += swapped((b, a[0]), 0, 1.0) + a[0, 0] - x + b[0]
    b[1] = total


@pytest.mark.parametrize("function, threads", [
    (own_elements, True), (halves, False), (quarters_of_a_tuple_from_before, False), (rows, True),
    (rows_of_one_of_two, True), (elements_through_tuples, True), (read_beside_a_new_array, True),
    (one_of_two_arrays, None), (transforms, True), (transforms_in_place, None), (seen_after_the_call, None)])
def test_functions_that_write_arrays_in_tuples(function, threads):
    """threads: whether the loop runs on several; None where that is not asked."""
    def arrays():
        return np.random.default_rng(1).random((N, 4)), np.zeros(N)

    wanted = arrays()
    function(*wanted)
    for parallel in (False, True):
        f, found = njit(parallel=parallel, cache=False)(function), arrays()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ParallelWarning)
            f(*found)
        for x, y in zip(found, wanted):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        f.parallel_diagnostics()
    lines = [line for line in printed.getvalue().splitlines() if "over prange" in line]
    if threads is not None:
        assert len(lines) == 1 and ("runs on several threads" in lines[0]) == threads, lines
