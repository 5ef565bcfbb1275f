"""Loops that find the least and the greatest of floats: zeros of both signs, nan, infinities."""
import numpy as np
import pytest

from pyjitc import njit, prange


def least(a, start):
    low = start
    for i in range(len(a)):
        low = min(low, a[i])
    return low


def both(a, start):
    low = high = start
    for x in a:
        if x < low:
            low = x
        if x >= high:
            high = x
    return low, high


def widest(a, start):
    most = start
    for i in range(1, len(a)):
        most = max(most, abs(a[i] - a[i - 1]))
    return most


def of_a_constant(a, start):
    low = 2.5
    for x in a:
        if x < low:
            low = x
    return low


def in_parallel(a, start):
    low = start
    for i in prange(len(a)):
        low = min(low, a[i])
    return low


VALUES = [0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf")]


@pytest.mark.parametrize("function", [least, both, widest, of_a_constant, in_parallel])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_values(function, dtype):
    compiled, rng = njit(parallel=function is in_parallel)(function), np.random.default_rng(0)
    for n in (0, 1, 2, 9, 40, 100):
        for _ in range(20):
            a = rng.choice(rng.choice(VALUES, rng.integers(1, 5)), n).astype(dtype)
            start = dtype(rng.choice(VALUES))
            assert repr(compiled(a, start)) == repr(function(a, start)), (a, start)
    if function is not in_parallel:  # there it is in the function that runs a chunk
        assert any("extreme_head" in text for text in compiled._inspect("opt", None).values())
