"""Branches on invariant conditions between a call and other code, which are made before the loop, beside the
interpreter: in which trip an exception is raised, what has been stored before, and loops without trips."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit


def worth(x, left):
    if x < 0:
        raise ValueError("below zero")
    return x if left == 0 else worth(x, left - 1) * 2


def scaled_or_not(a, out, scaled, times):
    total = 0.0
    for i in range(len(a)):
        if scaled > 1:
            out[i] = worth(a[i], times)
        else:
            out[i] = a[i] + 1
        total += out[i]
    return total


def nested(a, out, scaled, times):
    total = 0.0
    for i in range(len(a)):
        for j in range(times):
            if scaled > 1 and times < 7:
                total += worth(a[i], j)
            else:
                total -= a[i] / j
            out[i] = total
    return total


@pytest.mark.parametrize("function", [scaled_or_not, nested])
@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.5, 4.0], [1.0, -1.0, 2.0], [-1.0]])
@pytest.mark.parametrize("scaled", [0, 2])
def test_calls(function, values, scaled):
    compiled = _COMPILED.setdefault(function, njit(function))
    for times in (0, 3):
        for room in (len(values), max(len(values) - 1, 0)):
            agree(function, np.array(values), np.zeros(room), scaled, times, compiled=compiled)


_COMPILED: dict = {}


def filtered(image, kernel, out):
    r = len(kernel) // 2
    for i in range(r, len(image) - r):
        total = 0.0
        for k in range(-r, r + 1):
            total += image[i + k] * kernel[k + r]
        out[i] = total


def test_a_range_from_a_negative_number_is_no_choice():
    """The check of the length of `range(-r, r + 1)` cannot fail, and leaves no branch on the sign of its start."""
    compiled = njit(filtered)
    image, kernel = np.arange(9.0), np.array([1.0, 2.0, 0.5])
    agree(filtered, image, kernel, np.zeros(9), compiled=compiled)
    text = str(compiled._inspect("opt", None))
    # in the fast copy of the loop for each of the sums that are computed at once and for the rest, and in the copy with
    # all checks
    assert text.count("array_store") == 8 + 1 + 1
