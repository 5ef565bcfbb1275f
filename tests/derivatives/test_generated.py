"""Generated programs: the gradient, forward mode and the value of the compiled function agree."""
import math

import numpy as np
import pytest

from pyjitc import UnsupportedError, jvp, njit, value_and_grad
from tests.derivatives.generated import program

RANDOM = np.random.default_rng(5)
X, M = RANDOM.normal(size=6), RANDOM.normal(size=(6, 6)) * 0.4
DX, DA, DM = RANDOM.normal(size=6), 0.37, RANDOM.normal(size=(6, 6))


@pytest.mark.parametrize("seed", [0, 2, 3, 6, 9])  # thousands run outside of the suite: see generated.py
def test_reverse_mode_agrees_with_forward_mode(seed):
    space = {"np": np, "math": math, "__name__": "generated"}
    text = program(seed)
    exec(compile(text, f"<program {seed}>", "exec"), space)
    function = space["f"]
    expected = njit(function, cache=False)(X.copy(), 0.8, M.copy(), 3)
    try:
        value, (by_x, by_a, by_m) = value_and_grad(function, (0, 1, 2))(X, 0.8, M, 3)
    except UnsupportedError as refused:
        pytest.skip(str(refused).partition("\n")[0])
    again, change = jvp(function, (X, 0.8, M, 3), (DX, DA, DM, None))
    np.testing.assert_array_equal([value, again], [expected, expected], text)
    product = by_x @ DX + by_a * DA + np.sum(by_m * DM)
    if math.isfinite(change):
        assert product == pytest.approx(change, rel=1e-8, abs=1e-8 * (1 + np.max(np.abs(by_x)))), text
