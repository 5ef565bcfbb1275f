"""With debug=True the first NaN is an exception; everything else is unchanged."""
import traceback

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree


def helper(x, y):
    return x / y


def program(x, y, a):
    root = np.sqrt(x) + 1.0
    ratio = helper(np.float64(x), np.float64(y))
    logs = np.log(a) * 2.0
    total = 0.0
    for i in range(len(a)):
        total += a[i] - x
    return root, ratio, logs, total, x % 7.0


ONES = np.ones(3)


@pytest.fixture(scope="module")
def compiled():
    return njit(debug=True)(program)


@pytest.mark.parametrize("args, line, name, function", [
    ((-1.0, 1.0, ONES), 1, "sqrt", "program"),
    ((0.0, 0.0, ONES), 1, "divide", "helper"),
    ((1.0, 1.0, np.array([1.0, -2.0, 3.0])), 3, "log", "program"),
    ((float("inf"), 1.0, np.array([float("inf")])), 6, "subtract", "program"),
])
def test_first_nan(compiled, args, line, name, function):
    with pytest.raises(FloatingPointError, match=f"^invalid value encountered in {name}$") as caught:
        compiled(*args)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.name == function
    assert frame.lineno == (helper if function == "helper" else program).__code__.co_firstlineno + line


@pytest.mark.parametrize("args", [
    (4.0, 2.0, ONES),
    (4.0, 0.0, ONES * 1e300),  # inf is not NaN
    (4.0, float("nan"), ONES),  # a NaN in an argument was not made here
    (4.0, 2.0, np.array([1.0, float("nan")])),
])
def test_everything_else_is_as_before(compiled, args):
    agree(program, *args, compiled=compiled)


def functions(x):
    return np.tanh(x * 1e300), np.exp(x * 1000), np.where(x > 0, x, -x), np.sin(x * 1e5), np.arctan2(x, x), x ** 2


def test_how_the_library_computes_is_not_checked():
    compiled = njit(debug=True)(functions)
    for x in (-1.0, 0.0, 2.5):
        compiled(x)
        compiled(np.full(5, x))
