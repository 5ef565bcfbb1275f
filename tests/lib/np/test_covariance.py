"""np.cov and np.corrcoef against NumPy; NumPy's products and means add in another order, so the last places may
differ."""
import warnings

import numpy as np
import pytest

from pyjitc import njit


def check(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = function(*args), njit(function)(*args)
    for x, y in zip(expected, actual, strict=True):
        assert type(x) is type(y) and x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-13 * np.max(np.abs(x), initial=0, where=np.isfinite(x)))


A = np.random.default_rng(1).random((4, 9))


def test_cov():
    check(lambda a: (np.cov(a), np.cov(a.T, rowvar=False), np.cov(a, bias=True), np.cov(a, ddof=0), np.cov(a[0]),
                     np.cov(a, ddof=9)), A)


def test_cov_of_two():
    check(lambda a, b: (np.cov(a, b), np.cov(b, b), np.cov(a.T, b, rowvar=False)), A, A[1, ::-1])


def test_corrcoef():
    check(lambda a, b: (np.corrcoef(a, b), np.corrcoef(b), np.corrcoef(b, b)), A, A[1, ::-1])


@pytest.mark.parametrize("a", [A.astype(np.float32), (9 * A).astype(np.int32), A + 1j * A[:, ::-1]],
                         ids=["float32", "int32", "complex"])
def test_dtypes(a):
    check(lambda a: (np.cov(a), np.corrcoef(a)), a)


def test_one_variable_has_no_axes():
    def f(a):
        c = np.cov(a)
        return c, np.corrcoef(a), c + 1, np.sqrt(c).sum()

    compiled = njit(f)
    for a in (A[:1], A, A[:1] * 1j, A[:0], A[:0] * 1j):
        for expected, actual in zip(f(a), compiled(a)):
            assert np.shape(actual) == np.shape(expected) and np.asarray(actual).dtype == np.asarray(expected).dtype
            np.testing.assert_allclose(actual, expected, rtol=1e-13)


def test_reshape_to_powers():
    def f(a, n):
        return a.reshape((2 ** n, 18)), np.reshape(a, (2 ** n, 3, 2 ** (n - 1) * 6))

    check(f, A, 1)
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        njit(f)(A, -1)


def test_weights_and_sequences():
    def f(a, f, w):
        return (np.cov(a, fweights=f), np.cov(a, aweights=w), np.cov(a, fweights=f, aweights=w, ddof=0),
                np.cov(a[0], aweights=w, bias=True), np.cov([1.0, 2.0, 4.0]), np.corrcoef([[1, 2, 4], [1, 0, 3]]))

    a = np.random.default_rng(1).normal(size=(3, 5))
    args = a, np.array([1, 2, 0, 1, 3]), np.array([0.5, 1.0, 2.0, 0.25, 1.0])
    for expected, actual in zip(f(*args), njit(f)(*args)):
        np.testing.assert_allclose(actual, expected, rtol=1e-13)  # sums in another order
    for bad in (np.array([1, -1, 1, 1, 1]), np.ones(4)):
        with pytest.raises((ValueError, RuntimeError)) as error:
            np.cov(a, aweights=bad)
        with pytest.raises(error.type, match=str(error.value)):
            njit(lambda a, w: np.cov(a, aweights=w))(a, bad)
