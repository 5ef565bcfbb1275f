"""Convolution and windows, against NumPy."""
import numpy as np
import pytest
from tests.lib.np.closely import check
from tests.oracle import agree

from pyjitc import njit

R = np.random.default_rng(4)
A1, A2, A3 = R.normal(size=9), R.normal(size=(3, 5)), R.normal(size=(2, 3, 4))
W, S, B, H, F = A1[:4] + 1j, np.array([3, 1, 2, -3, 1], np.int8), A1 > 0, A1.astype(np.float16), A1.astype(np.float32)
LONG = R.normal(size=3000)
NEW = np.lib.NumpyVersion(np.__version__) >= "2.3.0"

CASES = {
    "convolve": (lambda a,
                 b: (np.convolve(a, b), np.convolve(a, b, "same"), np.convolve(a, b, mode="valid"),
                     np.convolve(a, b, 1)), (A1, A1[:4]), (A1[:4], A1), (A1[:4], A1[:5]), (A1, W), (S, S), (B, B[:3]),
                 (F, F[:3]), (H, H[:3]), (LONG, LONG[:700]), (A1[::-2], S), (A1[:0], A1), (A1, A1[:0]), (A1, 2.0),
                 (A2, A1)),
    "correlate": (lambda a,
                  b: (np.correlate(a, b), np.correlate(a, b, "same"), np.correlate(a, b, mode="full"),
                      np.correlate(a, b, 0)), (A1, A1[:4]), (A1[:4], A1), (A1[:3], A1), (A1[:4], A1[:5]), (A1, W),
                  (W, A1), (S, S), (B, B[:3]), (F, F[:3]), (H, H[:3]), (LONG, LONG[:700]), (A1[:0], A1), (A1, A1[:0]),
                  (A1, 2.0), (A2, A1)),
    "conv lists": (lambda a: (np.convolve([1, 2, 3], a), np.correlate(a, (1, 2))), (A1,)),
    "conv bad": (lambda a: np.convolve(a, a, "x"), (A1,)),
    "corr bad": (lambda a: np.correlate(a, a, "nosuch"), (A1,), (A1[:0],)),
    "conv deep": (lambda a: np.convolve(a, a), (A2,), (A2[:0],)),
    # older ones take it for 'same', with a warning
    "conv bad2": (lambda a: np.convolve(a, a, "s" if NEW else "x"), (A1,)),
    "windows": (lambda n: (np.hanning(n), np.hamming(n), np.blackman(n), np.bartlett(n), np.kaiser(n, 5.5),
                           np.kaiser(n, 14)), (7,), (8,), (1,), (0,), (-2,)),
    "i0": (lambda x: np.i0(x), (A1*20,), (3.0,), (3,), (np.float32(9),), (H,), (F,), (A2,), (A3[:0],), (S,), (W,),
           (np.array(2.5),)),
    "i0 list": (lambda: np.i0([1, 9]), ()),
}


# Products are added in another order, window functions use other elementary functions, and half floats are rounded from
# single ones.
TOLERANCES = {"e": 5e-3, "f": 1e-5, "F": 1e-5, "d": 1e-13, "D": 1e-13}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    for args in calls:
        check(function, *args, tolerances=TOLERANCES)


def test_bessel_function_of_half_floats_is_computed_in_half_floats():
    x = np.linspace(-12, 12, 99).astype(np.float16)
    agree(lambda x: (np.i0(x), np.i0(x[3]), np.i0(x.reshape(9, 11))), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [lambda a, b: np.convolve(a, b, "valid"),
                                      lambda a, b: np.correlate(a, b, "valid")])
def test_products_are_added_in_numpys_order(function, dtype):
    """NumPy adds up to 11 products itself, and asks its BLAS for more."""
    rng = np.random.default_rng(5)
    compiled = njit(function)
    for n in range(1, 12):
        a, b = (rng.normal(size=size).astype(dtype) for size in (40, n))
        agree(function, a, b, compiled=compiled)
        agree(function, b, a, compiled=compiled)
