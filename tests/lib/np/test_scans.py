"""argmin and argmax, running sums, differences, interpolation, convolution against NumPy."""
import numpy as np
import pytest
from tests.oracle import difference, outcome

from pyjitc import njit

R = np.random.default_rng(4)
A1, A2, A3 = R.normal(size=9), R.normal(size=(3, 5)), R.normal(size=(2, 3, 4))
N = np.array([1.0, np.nan, 3.0, np.nan])
B = A2 > 0
I1 = np.array([3, 1, 2, 3, 1], dtype=np.int8)

CASES = {
    "argmax": (lambda a: (np.argmax(a), a.argmin(), np.argmin(a), a.argmax()), (A1,), (A2,), (N,), (B,), (I1,),
               (A1[::-2],), (A1[:0],)),
    "argmax axis": (lambda a: (np.argmax(a, axis=0), a.argmin(-1), np.argmax(a, axis=1, keepdims=True)), (A2,), (A3,),
                    (A2.T,)),
    "argmax wrong": (lambda a: np.argmax(a, axis=3), (A2,)),
    "cumsum": (lambda a: (np.cumsum(a), a.cumsum(), np.cumprod(a)), (A1,), (I1,), (B,), (A1.astype(np.float32),),
               (A1[:0],)),
    "cumsum axis": (lambda a: (np.cumsum(a, axis=0), a.cumsum(-1), np.cumprod(a, axis=1)), (A2,), (A3,)),
    "cumsum dtype": (lambda a: (np.cumsum(a, dtype=np.float32), np.nancumsum(a)), (N,)),
    "diff": (lambda a: (np.diff(a), np.diff(a, 2), np.diff(a, axis=0)), (A1,), (A2,), (B,), (I1,)),
    "ediff1d": (lambda a: (np.ediff1d(a), np.ediff1d(a, 9.0)), (A1,)),
    "interp": (lambda x, p, f: np.interp(x, p, f), (A1, np.array([-1.0, 0.0, 2.0]), np.array([1.0, 5.0, -3.0])),
               (0.5, np.arange(3.0), A1[:3]), (N, np.arange(3.0), A1[:3]), (0.5, np.arange(3.0), A1[:2])),
    "interp ends": (lambda x, p, f: np.interp(x, p, f, left=-9.0, right=9.0), (A1 * 5, np.arange(3.0), A1[:3])),
    "where": (lambda a: np.where(a > 0), (A1,), (A2,)),
    "equal": (lambda a, b: (np.array_equal(a, b), np.allclose(a, b)), (A1, A1), (A1, A1 + 1e-12), (A1, A1 + 1.0)),
    "methods": (lambda a: (a.clip(0.0, 1.0), a.round(1), a.conj(), np.clip(a, -0.5, 0.5)), (A1,), (A2,)),
    "item": (lambda a: a.item(), (A1[:1],), (A2[:1, :1],), (A1,)),
    "windows": (lambda n: (np.hanning(n), np.hamming(n), np.hanning(n)), (5,), (1,), (0,)),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_numpy(name):
    function, *calls = CASES[name]
    compiled = njit(function)
    for args in calls:
        expected, actual = outcome(function, args), outcome(compiled, args)
        if name == "windows":  # cos is the C library's
            for x, y in zip(expected[1], actual[1]):
                np.testing.assert_allclose(y, x, rtol=1e-14, atol=1e-16)
            continue
        found = difference(expected, actual)
        assert not found, found


def test_sums_of_products():
    def f(a, b):
        return (np.convolve(a, b), np.convolve(b, a, "same"), np.convolve(a, b, mode="valid"), np.trapezoid(a),
                np.polyval(b, 0.5), np.polyval(b, a), np.trapezoid(a, dx=0.5))

    for x, y in zip(f(A1, A2[0]), njit(f)(A1, A2[0])):
        assert type(x) is type(y) and np.shape(x) == np.shape(y)
        np.testing.assert_allclose(y, x, rtol=1e-13)  # NumPy adds the products in another order
