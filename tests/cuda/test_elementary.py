"""The elementary functions of GPUs, run by CPython with the Python meanings of the operations, against NumPy in higher
precision."""
import math
import types

import numpy as np
import pytest

from pyjitc.lib.elementary import blocks, circular, exponential, gpu_single, logarithm, power, single, table
from pyjitc.lib.elementary import gpu as double
from pyjitc.ops import gpu
from pyjitc.ops.math import FMA
from pyjitc.types.kinds import Complex, float32, float64

INF, NAN = math.inf, math.nan
RANDOM = np.random.default_rng(5)


MODULES = (circular, exponential, double, gpu_single, logarithm, power, single)


def horner(x, *, coefficients):
    """How a GPU computes a polynomial (codegen/nvptx_ops.py)."""
    *rest, found = map(type(x), coefficients)
    for c in reversed(rest):
        found = FMA(found, x, c)
    return found


@pytest.fixture(autouse=True)
def operations_of_a_gpu(monkeypatch):
    """CONSTANT_ARRAY, which has no Python meaning, returns its data as an array; operations marked `rare` are the
    functions that replace them on a GPU."""
    names = types.SimpleNamespace(**vars(gpu))
    names.CONSTANT_ARRAY = lambda type, shape, data: np.frombuffer(bytes.fromhex(data), np.int32)
    monkeypatch.setattr(double, "gpu", names)
    for module in MODULES:
        if hasattr(module, "POLYNOMIAL"):
            monkeypatch.setattr(module, "POLYNOMIAL", horner)
    for name in ("sin", "cos", "tan"):
        large = table.find(f"{name} rare", float64, gpu=True).function
        monkeypatch.setattr(circular, name.upper(), lambda x, rare, large=large: large(x))


def of_gpu(name, t=float64):
    return table.find(name, t, gpu=True).function


def in_single(name):
    """The function of float32 numbers as (function, class of its operands); it may compute in double."""
    function = of_gpu(name, float32)
    return function, np.float32 if function.__module__.endswith("single") else float


def spread(low, high, n=120, both=True):
    """Numbers of all sizes between two powers of ten."""
    x = 10.0 ** RANDOM.uniform(low, high, n)
    return np.concatenate([x, -x]) if both else x


NEAR_ZERO = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-30, -1e-30]
# name: (arguments, whole numbers of ulp that double, single may be off)
CASES = {
    "exp": (np.concatenate([RANDOM.uniform(-745, 710, 150), spread(-20, 1), [710.0, -746.0, 1000.0, -1000.0]]), 2, 2),
    "exp2": (np.concatenate([RANDOM.uniform(-1075, 1024, 150), spread(-20, 1), [3.0, -4.0, 2000.0, -2000.0]]), 2, 2),
    "expm1": (np.concatenate([RANDOM.uniform(-50, 709, 100), spread(-18, 1.5)]), 3, 3),
    "log": (np.concatenate([spread(-300, 300, both=False), RANDOM.uniform(0.5, 2, 150), [5e-324, 1e-310]]), 2, 2),
    "log2": (np.concatenate([spread(-300, 300, both=False), RANDOM.uniform(0.5, 2, 150), 2.0 ** np.arange(-20, 20)]), 2,
             2),
    "log10": (np.concatenate([spread(-300, 300, both=False), RANDOM.uniform(0.5, 2, 150), 10.0 ** np.arange(20)]), 2,
              2),
    "log1p": (np.concatenate([spread(-18, 300, both=False), RANDOM.uniform(-0.999, 1, 150)]), 3, 3),
    "cbrt": (spread(-300, 300), 2, 2),
    "sin": (np.concatenate([RANDOM.uniform(-10, 10, 150), spread(-20, 300, 60), np.arange(1, 40) * math.pi]), 2, 2),
    "cos": (np.concatenate([RANDOM.uniform(-10, 10, 150), spread(-20, 300, 60), (np.arange(1, 40) - 0.5) * math.pi]), 2,
            2),
    "tan": (np.concatenate([RANDOM.uniform(-10, 10, 150), spread(-20, 300, 60)]), 4, 4),
    "atan": (spread(-20, 20), 2, 3), "asin": (RANDOM.uniform(-1, 1, 300), 2, 3),
    "acos": (RANDOM.uniform(-1, 1, 300), 2, 3),
    "sinh": (np.concatenate([RANDOM.uniform(-709, 709, 100), spread(-18, 2)]), 4, 3),
    "cosh": (np.concatenate([RANDOM.uniform(-709, 709, 100), spread(-18, 2)]), 3, 3),
    "tanh": (spread(-18, 1.5, 200), 4, 3), "asinh": (spread(-18, 18), 4, 3),
    "acosh": (1 + spread(-10, 18, both=False), 4, 3), "atanh": (RANDOM.uniform(-1, 1, 200), 4, 3),
    "erf": (spread(-18, 0.8, 200), 3, 4),
    "erfc": (np.concatenate([spread(-18, 1.4), RANDOM.uniform(0.5, 26, 100)]), 6, 8),
}
NUMPY = {"atan": np.arctan, "asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh, "acosh": np.arccosh,
         "atanh": np.arctanh}


def reference(name, x):
    """The result in higher precision than x, in long double for double; erf is that of `math`."""
    wide = np.longdouble(x) if isinstance(x, float) else np.float64(x)
    if name in ("erf", "erfc"):
        return np.longdouble(getattr(math, name)(float(x)))
    with np.errstate(all="ignore"):
        return NUMPY.get(name, getattr(np, name, None))(wide)


def distance(found, exact, cls):
    """The difference in units in the last place of `exact`, as a number of class `cls`."""
    rounded = cls(exact)
    if np.isnan(rounded) or np.isinf(rounded) or np.isnan(found) or np.isinf(found):
        same = np.isnan(rounded) and np.isnan(found) or rounded == found
        largest = np.finfo(cls).max
        return (0 if same or abs(rounded) == INF and abs(found) == largest or abs(found) == INF
                and abs(rounded) == largest else INF)
    return float(abs(np.longdouble(found) - np.longdouble(exact)) / np.longdouble(np.spacing(abs(rounded))))


@pytest.mark.parametrize("name", CASES)
def test_double(name):
    points, ulps, _ = CASES[name]
    function = of_gpu(name)
    for x in map(float, [*points, *NEAR_ZERO, INF, -INF, NAN]):
        found, exact = function(x), reference(name, x)
        assert type(found) is float
        assert distance(found, exact, np.float64) <= ulps, (x, found, exact)
        if found == 0 and exact == 0:
            assert math.copysign(1, found) == math.copysign(1, float(exact)), (x, found)


@pytest.mark.parametrize("t, cls, place", [(float64, float, 1), (float32, np.float32, 2)])
def test_reciprocals_may_be_off(monkeypatch, t, cls, place):
    """A GPU's reciprocals, and the quotients that it computes by them, are within 1 ulp, not always the nearest
    number."""
    def off(exact, towards):
        def computed(*operands):
            found = exact(*operands)
            return type(found)(np.nextafter(found, type(found)(towards)))

        return computed

    for towards in (-INF, INF):
        for module in MODULES:
            for name, exact in (("RECIPROCAL", gpu.RECIPROCAL), ("quotient", blocks.quotient)):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, off(exact, towards))
        with np.errstate(all="ignore"):
            for name in CASES:
                function, inside = (of_gpu(name), float) if cls is float else in_single(name)
                for x in map(cls, CASES[name][0][::5]):
                    found, exact = cls(function(inside(x))), reference(name, x)
                    off_by = distance(found, exact, np.float64 if cls is float else cls)
                    assert off_by <= CASES[name][place], (name, x, found, exact)


def test_reciprocal_from_twenty_bits():
    """The Newton steps of codegen/nvptx_ops.py, from the approximation that the instruction gives."""
    for x in map(float, spread(-300, 300, 200)):
        y = float((np.float64(1 / x).view(np.int64) & -0x100000000).view(np.float64))
        h = FMA(-x, y, 1.0)
        assert distance(FMA(FMA(h, h, h), y, y), 1 / np.longdouble(x), np.float64) <= 1


@pytest.mark.parametrize("name", CASES)
def test_single(name):
    points, _, ulps = CASES[name]
    function, cls = in_single(name)
    with np.errstate(all="ignore"):
        for x in np.unique(np.array([*points, *NEAR_ZERO, INF, -INF, NAN]).astype(np.float32)):
            found, exact = function(cls(x)), reference(name, x)
            assert type(found) is cls
            found = np.float32(found)
            assert distance(found, exact, np.float32) <= ulps, (x, found, exact)


PAIRS = [(x, y) for x in (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, INF, -INF, NAN, 5e-324, 1e308, 1e-308) for y in
         (0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, INF, -INF, NAN, 1e308, 5e-324)]
PAIRS += list(zip(map(float, spread(-20, 20)), map(float, spread(-18, 18))))


def _python(name):
    wide = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot, "fmod": np.fmod, "remainder": None,
            "nextafter": np.nextafter}[name]

    def meaning(x, y):
        with np.errstate(all="ignore"):
            if name == "remainder":
                try:
                    return math.remainder(x, y)
                except ValueError:
                    return NAN
            return wide(x, y) if name in ("nextafter", "fmod") else wide(np.longdouble(x), np.longdouble(y))

    return meaning


@pytest.mark.parametrize("name, ulps",
                         [("pow", 2), ("atan2", 3), ("hypot", 2), ("fmod", 0), ("remainder", 0), ("nextafter", 0)])
def test_two_operands(name, ulps):
    function, exact = of_gpu("frem" if name == "fmod" else name), _python(name)
    pairs = list(PAIRS)
    if name == "pow":
        pairs += [(abs(x), y % 20 - 10) for x, y in PAIRS if x == x and y == y and abs(x) < INF and abs(y) < INF]
        pairs += ([(1 + 1e-7 * k, 5e7 / k) for k in range(1, 60)]
                  + [(float(b), float(e)) for b in range(2, 8) for e in range(-30, 30, 7)])
    for x, y in pairs:
        found, expected = function(x, y), exact(x, y)
        assert distance(found, expected, np.float64) <= ulps, (x, y, found, expected)
        if found == 0 == expected:
            assert math.copysign(1, found) == math.copysign(1, float(expected)), (x, y, found)


def test_scaling():
    for x in (1.0, -3.7, 5e-324, 1e308, INF, 0.0, -0.0, 1.5e-310):
        for n in (0, 1, -1, 52, -52, 1000, -1000, 1074, -1074, 2100, -2100, 5000, -5000, -1022, 1023):
            with np.errstate(all="ignore"):
                expected = float(np.ldexp(x, n))
            found = double.ldexp(x, n)
            assert found == expected and math.copysign(1, found) == math.copysign(1, expected), (x, n, found, expected)


@pytest.mark.parametrize("name, ulps", [("cexp", 4), ("clog", 4), ("csqrt", 3)])
def test_complex(name, ulps):
    exact = getattr(np, name[1:])
    parts = [*map(float, spread(-8, 2, 12)), 0.0, -0.0, 1.0, -1.0]
    for re, im in [(x, y) for x in parts for y in parts] + ([(0.0, INF), (INF, 1.0)] if name == "csqrt"
                                                            else [(709.5, 1.5)] if name == "cexp" else []):
        found = of_gpu(name, Complex)(complex(re, im))
        with np.errstate(all="ignore"):
            expected = exact(np.clongdouble(complex(re, im)))
        size = max(abs(float(expected.real)), abs(float(expected.imag)))
        for x, y in ((found.real, expected.real), (found.imag, expected.imag)):
            near = (abs(float(x - y)) <= ulps * np.spacing(size) if np.isfinite(size) else x == float(y) or np.isnan(x)
                    and np.isnan(y))
            assert near, (re, im, found, expected)


def test_powers_of_single_precision():
    exact = _python("pow")
    with np.errstate(all="ignore"):
        for x, y in PAIRS + [(abs(x) % 9, y % 20 - 10) for x, y in PAIRS if abs(x) < INF and abs(y) < INF]:
            x, y = float(np.float32(x)), float(np.float32(y))
            found, expected = np.float32(double.pow_single(x, y)), exact(x, y)
            assert distance(found, expected, np.float32) <= 1, (x, y, found, expected)


def test_the_next_number_of_single_precision():
    for x, y in PAIRS:
        with np.errstate(all="ignore"):
            x, y = np.float32(x), np.float32(y)
            found, expected = gpu_single.nextafter(x, y), np.nextafter(x, y)
        np.testing.assert_equal((found, np.signbit(found)), (expected, np.signbit(found)))
        assert type(found) is np.float32 and (np.isnan(found) or np.signbit(found) == np.signbit(expected))
