"""Loops that do nothing are not entered; those whose values are read, or that have effects, are."""
import numpy as np

from pyjitc import njit
from tests.oracle import agree

HUGE = 10 ** 15  # trips that no test could wait for


def nothing(n, m):
    for i in range(n):
        for j in range(m):
            i + j * 2.0
    return n


def dead_arrays(x, n):
    kept = x.copy()
    for k in range(3):
        if k == 1:
            x = x + 1.0
    for _ in range(n):
        x = x * x
    return kept


def test_idle_loops_take_no_time():
    assert njit(nothing)(HUGE, HUGE) == HUGE
    assert njit(dead_arrays)(np.ones(3), HUGE).tolist() == [1.0] * 3


def last(n):
    i = -1
    for i in range(n):
        pass
    return i


def total(n, x):
    y = 0.0
    for _ in range(n):
        y += x
    return y


def stops(n, limit):
    for i in range(n):
        if i * i > limit:
            break
    else:
        return -1
    return i


def test_loops_that_are_read_run():
    for n in (0, 1, 7):
        agree(last, n)
        agree(total, n, 0.1)
        agree(stops, n, 9)
        agree(nothing, n, n)
