"""The order of two sequences is what the first items that differ answer, a bool of NumPy for numbers of NumPy."""
import warnings
from collections import deque

import numpy as np
import pytest

from ...oracle import agree

ONE, TWO, HALF = np.int64(1), np.int64(2), np.float32(0.5)


def order(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b


def order_of_tuples(a, b):
    return tuple(a) < tuple(b), tuple(a) >= tuple(b), tuple(a) == tuple(b)


def largest(rows):
    rows.sort()
    return rows, sorted(rows, reverse=True), max(rows), min(rows)


def of_arrays(a, n):
    best = list(a)
    for k in range(n):
        row = list(a[::-1] + k)
        if row > best:
            best = row
    return best, list(a) < best, a.tolist() < best


def filled_later(n):
    a, b, found = [], [], []
    for k in range(n):
        found.append(a < b)
        a.append(k)
        b.append(np.int64(2 * k))
    return found


@pytest.fixture(autouse=True)
def no_call_is_left_to_the_interpreter():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("a, b", [
    ([ONE, TWO], [ONE, ONE]), ([ONE], [ONE]), ([ONE], [ONE, TWO]), ([[ONE], [TWO]], [[ONE], [ONE]]),
    ([1, 2], [ONE, TWO]), ([1, 3], [ONE, TWO]), ([(ONE, "a")], [(ONE, "b")]),
    ([(TWO, "a")], [(ONE, "b")]), ([np.bool_(1)], [np.bool_(0)]),
    ([HALF], [2.5]), ([1, TWO], [True, 2.5]), (deque([ONE]), deque([TWO])), ([[(1, [HALF])]], [[(1, [TWO])]]),
    ([1, 2.5], [1, 2]), ([[1]], [[2]]), ([], [ONE])])
def test_order(a, b):
    agree(order, a, b)
    agree(order, b, a)


@pytest.mark.parametrize("a, b", [([ONE], [TWO]), ([ONE], [ONE]), ([1], [TWO]), ([1], [2])])
def test_order_of_tuples_of_any_length(a, b):
    agree(order_of_tuples, a, b)


def test_extremes_of_lists():
    agree(largest, [[TWO], [ONE], [HALF]])
    agree(largest, [[TWO, ONE], [TWO]])
    agree(of_arrays, np.arange(3), 3)
    agree(of_arrays, np.arange(3.0), 2)


def test_items_that_come_after_the_comparison():
    agree(filled_later, 4)
