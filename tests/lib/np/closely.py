"""Comparison with NumPy up to the last digits: classes, dtypes, shapes, exceptions and the arguments afterwards must be
the same."""
import warnings

import numpy as np
from tests.oracle import difference, outcome

from pyjitc import njit

_compiled: dict = {}


def compiled(function):
    if function not in _compiled:
        _compiled[function] = njit(function)
    return _compiled[function]


def check(function, *args, tolerances, absolute=10):
    """tolerances: the character of a dtype, or `number` for Python's -> relative tolerance, all others being compared
    exactly; absolute: the absolute tolerance, as a multiple of the relative one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = outcome(function, args), outcome(compiled(function), args)
    if expected[0] == actual[0] == "returns":
        close(expected[1:], actual[1:], tolerances, absolute)
        return
    found = difference(expected, actual)
    assert not found, (found, args)


def close(x, y, tolerances, absolute=10):
    assert type(x) is type(y), (type(x), type(y))
    if isinstance(x, (tuple, list)):
        assert len(x) == len(y)
        for a, b in zip(x, y):
            close(a, b, tolerances, absolute)
        return
    if isinstance(x, (np.ndarray, np.generic)):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        tolerance = tolerances.get(x.dtype.char, 0)
    else:
        tolerance = tolerances.get("number", 0) if isinstance(x, (float, complex)) else 0
    if tolerance:
        np.testing.assert_allclose(y, x, rtol=tolerance, atol=absolute * tolerance)
    else:
        np.testing.assert_array_equal(y, x)
