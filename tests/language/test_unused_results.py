"""Operations, whole-array statements and library functions raise their exceptions also if the result is not used."""

import math

import numpy as np
import pytest

from tests.oracle import agree

I8 = np.array([2, 3], np.int8)
BELOW = np.array([-1, 2], np.int8)
ZEROS, SQUARE = np.zeros(3), np.zeros((2, 2))
CASES = [
    ("a ** b", I8, BELOW),
    ("a ** a", BELOW),
    ("np.power(a, b)", I8, -1),
    ("a ** b", np.int8(2), np.int8(-1)),
    ("a + (b ** a)", BELOW, I8),
    ("a + b", ZEROS, np.zeros(4)),
    ("a @ b", np.zeros((3, 2)), np.zeros((4, 2))),
    ("np.linalg.inv(a)", SQUARE),
    ("np.linalg.cholesky(a)", -np.eye(2)),
    ("np.min(a)", ZEROS[:0]),
    ("a.argmax()", ZEROS[:0]),
    ("a[b]", ZEROS, np.array([5])),
    ("a[b]", ZEROS, 7),
    ("np.take(a, b)", ZEROS, 7),
    ("np.zeros(a)", -1),
    ("np.arange(a, b, 0)", 1, 2),
    ("a.reshape(b)", ZEROS, 4),
    ("np.concatenate((a, b))", np.zeros((2, 3)), np.zeros((2, 2))),
    ("np.repeat(a, b)", ZEROS, -1),
    ("np.diff(a, b)", ZEROS, -1),
    ("np.select([a > 1], [b])", ZEROS, np.zeros(2)),
    ("np.tri(a)", -1),
    ("np.bincount(a)", np.array([-1])),
    ("np.histogram(a, b)", ZEROS, 0),
    ("np.percentile(a, b)", ZEROS, 101.0),
    ("np.interp(1.0, a, b)", ZEROS[:2], ZEROS),
    ("np.random.randint(a, b)", 5, 2),
    ("int(a)", np.float64("nan")),
    ("round(a)", math.nan),
    ("math.floor(a)", math.inf),
    ("math.log(a)", -1.0),
    ("math.exp(a)", 1e4),
    ("math.factorial(a)", -1),
    ("a // b", 1, 0),
    ("a / b", 1.0, 0.0),
    ("divmod(a, b)", 1, 0),
    ("a << b", 1, -1),
    ("a ** b", 0, -1),
    ("pow(a, b, 0)", 2, 3),
    ("[a, b][a]", 5, 6),
    ("(1, 2)[a]", 5),
    ("range(1, 2, a)", 0),
    ("np.uint8(a)", 300),
    ("np.sum(a // b)", 1, 0),
    ("a.item()", ZEROS),
    ("np.add.reduceat(a, b)", ZEROS, np.array([7])),
    ("np.add.at(a, b, 1)", ZEROS, np.array([7])),
    ("np.busday_count(a, a, weekmask='0000000')", np.datetime64("2000-01-01")),
    ("a.view(np.int32)", np.zeros(3, np.int8)),
]
FORMS = [
    "def f({args}):\n    v = {text}\n    return 1",
    "def f({args}):\n    for i in range(2):\n        {text}\n    return 1",
    "def f({args}):\n    try:\n        {text}\n    except (ValueError, ArithmeticError, LookupError):\n        return "
    "2\n    return 1",
]


@pytest.mark.parametrize("form", range(3), ids=("assigned", "in a loop", "caught"))
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]} of {', '.join(type(x).__name__ for x in c[1:])}")
def test_exception_is_not_lost(case, form):
    text, *args = case
    space = {"np": np, "math": math}
    exec(FORMS[form].format(args=", ".join("ab"[: len(args)]), text=text), space)
    agree(space["f"], *args)


def test_differences_of_a_number_that_is_not_known():
    for n in (-1, 0, 1, 3):
        agree(lambda a, n: np.diff(a, n), np.arange(5.0) ** 2, n)
