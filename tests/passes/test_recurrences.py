"""Elements that one trip stores and the next one loads, on all trips but the last one or in one of two arms."""
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


def common_subsequence(a, b, table):
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table[len(a), len(b)]


def of_either(a, c):
    for i in range(1, len(a)):
        if c[i]:
            a[i] = a[i - 1] + 1
        else:
            a[i] = a[i] - 1


def in_one_arm(a, c):
    """The element before the first one does not exist, and the first trip does not load it."""
    for i in range(len(a)):
        x = a[i]
        if i > 0 and c[i]:
            x = a[i - 1] + x
        a[i] = x


def not_always(a, c):
    for i in range(1, len(a)):
        if c[i] == 0:
            a[i] = 7
        elif c[i] == 1:
            a[i] = a[i - 1] + 1


def stored_before(a, c):
    """Each trip overwrites the element before it loads it."""
    for i in range(1, len(a)):
        if c[i]:
            a[i - 1] = 5
            a[i] = a[i - 1] + 1
        else:
            a[i] = a[i - 1] - 1


def stored_after(a, c):
    """The element of the next trip is stored, and then another store changes it."""
    for i in range(1, len(a)):
        if c[i]:
            a[i] = a[i - 1] + 1
        else:
            a[i] = 2
        a[i] = a[i] + c[i]


def backwards(a, c):
    for i in range(len(a) - 2, -1, -1):
        if c[i]:
            a[i] = a[i + 1] + 1
        else:
            a[i] = a[i] + 3


def by_twos(a, c):
    for i in range(0, len(a) - 2, 2):
        if c[i]:
            a[i + 2] = a[i] + 1
        else:
            a[i + 2] = 4


def left_between(a, c):
    for i in range(1, len(a)):
        if c[i] > 1:
            return a[i - 1]
        if c[i]:
            a[i] = a[i - 1] + 1
        else:
            a[i] = 2
    return len(a)


def of_memory(a, b, c):
    for i in range(1, len(a)):
        if c[i]:
            a[i] = a[i - 1] + 1
        else:
            a[i] = 2
        b[i] = 9


ARMS = [of_either, in_one_arm, not_always, stored_before, stored_after, backwards, by_twos, left_between]


@pytest.mark.parametrize("type", [np.float64, np.float32, np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("f", ARMS, ids=lambda f: f.__name__)
def test_elements_that_one_of_two_arms_loads(f, type):
    rng = np.random.default_rng(2)
    for n in (0, 1, 2, 3, 4, 9, 40):
        for most in (1, 2, 3):
            agree(f, rng.integers(0, 90, n).astype(type), rng.integers(0, most, n))


def test_arms_of_a_table_and_of_memory_that_overlaps():
    rng, f = np.random.default_rng(3), njit(of_memory)
    for n, m in (0, 0), (1, 1), (3, 7), (20, 9):
        agree(common_subsequence, rng.integers(0, 3, n), rng.integers(0, 3, m), np.zeros((n + 1, m + 1), np.int64))
    for shift in (0, 1, 2):
        memory, expected, c = np.arange(12), np.arange(12), rng.integers(0, 2, 10)
        f(memory[:10], memory[shift:10 + shift], c)
        of_memory(expected[:10], expected[shift:10 + shift], c)
        assert np.array_equal(memory, expected)
    with pytest.raises(IndexError):
        njit(common_subsequence)(np.zeros(3, int), np.zeros(3, int), np.zeros((3, 4), np.int64))


def test_what_either_arm_stores_stays_in_a_register():
    compiled = njit(common_subsequence)
    compiled(np.zeros(3, np.uint8), np.zeros(3, np.uint8), np.zeros((4, 4), np.int64))
    fast = str(compiled._inspect("opt", None)).partition("enter")[2]
    assert fast.count("array_load table") == 3  # the first element of a row; above; above on the left
