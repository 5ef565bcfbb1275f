"""Arms with overflow checks that are computed before it is known which one runs."""
import inspect

import pytest

from pyjitc import njit
from pyjitc.ops.arith import INT_MAX, INT_MIN


@njit
def steps(n, odd, count):
    for _ in range(count):
        while odd > 0:
            odd -= 1
            if odd % 2 == 1:
                n = 3 * n + 1
            else:
                n //= 2
    return n


@njit
def both(n, which, count):
    for k in range(count):
        if (which >> k) & 1:
            n = n * -5 - 7
        else:
            n = n + n % 1 + 9_000_000_000_000_000_000
    return n


@njit
def only(n, which, count):
    for k in range(count):
        if (which >> k) & 1:
            n = 2 * n - 3
    return n


def bounds(factor, constant):
    """Values around the first and the last one whose image fits."""
    low, high = sorted(((INT_MIN - constant) // factor, (INT_MAX - constant) // factor))
    return [n for at in (low, high, 0) for n in range(at - 2, at + 3) if INT_MIN <= n <= INT_MAX] + [INT_MIN, INT_MAX]



CASES = [(steps, n, odd, 1) for n in bounds(3, 1) for odd in (1, 2, 3)]
CASES += [(both, n, which, 1) for which in (0, 1) for n in bounds((1, -5)[which], (9_000_000_000_000_000_000, -7)[which])]
CASES += [(only, n, which, 1) for n in bounds(2, -3) for which in (0, 1)]


@pytest.mark.parametrize("function, n, which, count", CASES)
def test_as_python_up_to_the_bounds(function, n, which, count):
    """Python's result, or OverflowError where a step leaves 64 bits: at the same step, in the same line."""
    partly = []
    if function is steps:
        x = n
        for k in range(which - 1, -1, -1):
            for value in ((3 * x, 3 * x + 1) if k % 2 else (x // 2,)):
                partly.append(value)
            x = partly[-1]
    elif function is both:
        partly = [n * -5, n * -5 - 7] if which else [n + 9_000_000_000_000_000_000]
    else:
        partly = [2 * n, 2 * n - 3] if which else []
    if all(INT_MIN <= x <= INT_MAX for x in partly):
        assert function(n, which, count) == function.py_func(n, which, count)
    else:
        with pytest.raises(OverflowError, match="does not fit in 64 bits") as caught:
            function(n, which, count)
        text = {steps: "n = 3 *", both: "* -5" if which else "n % 1", only: "n = 2 *"}[function]
        lines, first = inspect.getsourcelines(function.py_func)
        assert text in lines[caught.traceback[-1].lineno + 1 - first]


def test_the_choice_is_a_select():
    steps(1, 2, 1)
    text = str(steps._inspect("opt", steps.signatures[0]))
    chosen, checked = text.index("= select"), text.index("imul_ck")
    assert "arms()" in text and chosen < checked and "{likely: True}" in text
