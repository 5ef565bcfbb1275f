"""Loops whose guard fails run in a function of their own: values, writes, exceptions and tracebacks are those of the
interpreter."""
import traceback

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.passes import pipeline, versioning


def smooth(a, b, c, n, m):
    for i in range(n):
        for j in range(m):
            a[i, j] = b[i, j] * 2.0 + c[j]
            c[j] = a[i, j] - b[i, j]
        for j in range(1, m):
            b[i, j] = a[i, j - 1] + c[j] * a[i, j]
            a[i, j - 1] = (c[j - 1] +
                           b[i, j])


def smooth_again(a, b, c, n, m):
    for k in range(3):
        smooth_part(a, b, c, n, m)
    return float(np.sum(a[0]))


def smooth_part(a, b, c, n, m):
    for i in range(n):
        for j in range(m):
            a[i, j] = b[i, j] * 2.0 + c[j]
            c[j] = a[i, j] - b[i, j]
        for j in range(1, m):
            b[i, j] = a[i, j - 1] + c[j] * a[i, j]
            a[i, j - 1] = c[j - 1] + b[i, j]


def folds(a, b, c, n, m):
    low, total, at = 0.0, 0.0, -1
    for i in range(n):
        for j in range(m):
            x = a[i, j] * b[i, j] - c[j]
            total += x
            if x < low:
                low = x
                at = i
        for j in range(1, m):
            c[j - 1] = a[i, j] + b[i, j - 1] * low
            total -= c[j - 1]
    return low, total, at


def rows_of_two(a, b, c, n, m):
    total = 0.0
    for i in range(n):
        x, y = b[i]
        for j in range(m):
            a[i, j] = x * c[j] + y
            total += a[i, j] * 0.5
        for j in range(1, m):
            c[j] = a[i, j - 1] - total + x
            a[i, j] += c[j - 1] * y
    return total


def in_a_try(a, b, c, n, m):
    try:
        smooth_part(a, b, c, n, m)
    except IndexError as error:
        return str(error)
    return ""


def restarted(a, b, c, n, m):
    found = 0
    for i in range(n):
        for j in range(m):
            a[i, j] = b[i, j] * 2.0 + c[j]
            if a[i, j] > 100.0:
                return found
            found += 1
        for j in range(1, m):
            b[i, j] = a[i, j - 1] + c[j] * a[i, j]
            a[i, j - 1] = c[j - 1] + b[i, j]
    return -found


ALL = [smooth, smooth_again, folds, rows_of_two, in_a_try, restarted]


def outcome(function, make, n, m):
    arrays = make()
    try:
        found = function(*arrays, n, m)
    except Exception as error:
        lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]
        found = type(error), str(error), lines
    return type(found), found, [a.tolist() for a in arrays]


def apart(columns=6):
    return np.arange(24.0).reshape(4, 6), np.arange(4.0 * columns).reshape(4, columns)[::-1] + 1.0, np.ones(6)


def shared():
    whole = np.arange(60.0)
    return whole[:24].reshape(4, 6), whole[6:30].reshape(4, 6), whole[3:9]


@pytest.fixture(autouse=True)
def small_loops_too(monkeypatch):
    monkeypatch.setattr(versioning, "LEAST", 1)
    monkeypatch.setattr(pipeline.versioning, "LEAST", 1)  # the pipeline keeps a copy of what it reads


@pytest.mark.parametrize("program", ALL, ids=lambda f: f.__name__)
def test_outcomes(program):
    compiled = njit(program, cache=False)
    for make in (apart, shared, lambda: apart(2), lambda: apart(3)):
        for n, m in ((4, 6), (5, 6), (4, 7), (0, 9), (3, 0), (-1, 2), (9, 5)):
            assert outcome(compiled, make, n, m) == outcome(program, make, n, m), (n, m)


@pytest.mark.parametrize("program", [smooth, folds], ids=lambda f: f.__name__)
def test_the_copy_with_checks_is_a_function(program):
    compiled = njit(program, cache=False)
    compiled(*apart(), 2, 5)
    assert any(".checked(" in text for text in compiled._inspect("opt", None).values())
