"""Functions without branches: at most 2.5 units in the last place, special values exact, loops over them vectorise."""
import re

import numpy as np
import pytest

from pyjitc import njit

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.2e-308, 1e-310, 1.0, -1.0, 709.78, 709.79, -745.1, -745.2,
                    -708.4, 88.72, 88.73, -103.9, -104.0, 1e300, -1e300, 1e-40])
R = np.random.default_rng(1)
SAMPLES = {
    np.exp: [R.uniform(-750, 715, 20000), R.normal(0, 1, 20000), 10.0 ** R.uniform(-20, 2, 5000)],
    np.exp2: [R.uniform(-1080, 1030, 20000), R.normal(0, 1, 20000), np.arange(-1074.0, 1024.0)],
    np.log: [10.0 ** R.uniform(-308, 308, 20000), R.uniform(0.5, 2, 20000), 1 + R.normal(0, 1e-6, 5000), -R.uniform(0, 5, 10)],
    np.tanh: [R.normal(0, 1, 20000), R.uniform(-25, 25, 20000), 10.0 ** R.uniform(-300, 1.5, 5000)],
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ufunc", SAMPLES, ids=lambda f: f.__name__)
def test_error(ufunc, dtype):
    compiled = njit(lambda a: ufunc(a))
    with np.errstate(all="ignore"):
        x = np.concatenate([*SAMPLES[ufunc], SPECIAL]).astype(dtype)
        exact = ufunc(x.astype(np.longdouble))
        rounded = exact.astype(dtype)
        actual = compiled(x)
        assert actual.dtype == dtype
        usual = np.isfinite(rounded) & (rounded != 0)
        error = np.abs(actual[usual].astype(np.longdouble) - exact[usual]) / np.abs(np.spacing(rounded[usual])).astype(np.longdouble)
    assert error.max() <= 2.5
    np.testing.assert_array_equal(actual[~usual], rounded[~usual])
    np.testing.assert_array_equal(np.signbit(actual[x == 0]), np.signbit(rounded[x == 0]))


@pytest.mark.parametrize("ufunc", SAMPLES, ids=lambda f: f.__name__)
def test_vectorises(ufunc):
    compiled = njit(lambda a: ufunc(a))
    compiled(np.ones(4))
    text = compiled.inspect_llvm(compiled.signatures[0])
    assert not re.search(rf"call \S+ @{ufunc.__name__}f?\(", text)
    assert re.search(r"<\d+ x double>", text)
