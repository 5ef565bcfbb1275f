"""Elements that one trip stores and the next one loads, where a test leaves out the store of the last trip."""
import numpy as np
import pytest
from tests.oracle import same

from pyjitc import njit


def diffuse(a):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            old = a[y, x]
            new = 255.0 if old > 127.5 else 0.0
            a[y, x] = new
            e = old - new
            if x + 1 < w:
                a[y, x + 1] += e * 7 / 16
            if y + 1 < h:
                if x > 0:
                    a[y + 1, x - 1] += e * 3 / 16
                a[y + 1, x] += e * 5 / 16
                if x + 1 < w:
                    a[y + 1, x + 1] += e * 1 / 16


def before_last(a):
    for i in range(len(a)):
        x = a[i] * 0.5
        if i < len(a) - 1:
            a[i + 1] += x


def two_before_last(a):
    """Its test also fails on the trip before the last one, whose store is missing on the last."""
    for i in range(len(a)):
        x = a[i] * 0.5
        if i + 2 < len(a):
            a[i + 1] = x


def other_bound(a, n):
    for i in range(len(a)):
        x = a[i] + 1.0
        if i + 1 < n:
            a[i + 1] = x


def also_written(a, k):
    for i in range(len(a)):
        x = a[i] + 1.0
        if i + 1 < len(a):
            a[i + 1] = x
        a[k] = 100.0 + i


def through_a_view(a, b):
    for i in range(len(a)):
        x = a[i] + 1.0
        if i + 1 < len(a):
            a[i + 1] = x
        b[i] = 7.0 * x


def left_early(a):
    for i in range(len(a)):
        x = a[i]
        if x > 9.0:
            return x, i
        if i + 1 < len(a):
            a[i + 1] = x + 1.0
    return -1.0, len(a)


def agree(f, *args):
    mine, theirs = ([x.copy() if isinstance(x, np.ndarray) else x for x in args] for _ in range(2))
    assert same(njit(f)(*mine), f(*theirs))
    assert all(np.array_equal(x, y) for x, y in zip(mine, theirs))


@pytest.mark.parametrize("type", [np.float64, np.float32])
@pytest.mark.parametrize("f", [before_last, two_before_last, left_early])
def test_rows(f, type):
    for n in (0, 1, 2, 3, 8, 33):
        agree(f, np.arange(n).astype(type))
        agree(f, np.linspace(0.0, 8.5, n).astype(type))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 5), (5, 1), (2, 2), (7, 9)])
def test_error_diffusion(shape):
    agree(diffuse, np.random.default_rng(1).random(shape) * 255)
    agree(diffuse, np.asfortranarray(np.random.default_rng(1).random(shape) * 255))


def test_other_bounds_and_other_writes():
    for n in (0, 1, 4, 6):
        agree(other_bound, np.arange(6.0), n)
    for k in (0, 3, 5, -1):
        agree(also_written, np.arange(6.0), k)


def test_views_of_the_same_memory():
    for step in (0, 1, 2):
        memory, expected = np.arange(12.0), np.arange(12.0)
        njit(through_a_view)(memory[:8], memory[step:])
        through_a_view(expected[:8], expected[step:])
        assert np.array_equal(memory, expected)


def test_an_array_that_repeats_one_element():
    """With a stride of 0 each store changes the element that is loaded."""
    f = njit(before_last)
    memory, expected = np.ones(1), np.ones(1)
    f(np.lib.stride_tricks.as_strided(memory, (6,), (0,)))
    before_last(np.lib.stride_tricks.as_strided(expected, (6,), (0,)))
    assert np.array_equal(memory, expected)
