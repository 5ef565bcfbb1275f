"""clip, round, isclose, nan_to_num, angle, sinc, parts of complex numbers and comparisons of arrays, against the
interpreter."""
import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit
from pyjitc.base.errors import TypingError

X = np.array([[-2.5, 0.25, np.nan], [np.inf, -np.inf, 1.75]])


def test_clip():
    def f(x, low, out):
        return (np.clip(x, -1, 1), np.clip(x, None, 1), np.clip(x, low, None), np.clip(x, low, 1.5, out) is out,
                x.clip(0), x.clip(max=1), x.clip(-1, 1, out=out) is out, np.clip([1, 5, 9], 2, 8),
                np.clip(x, a_min=0, a_max=1), out)

    compiled = agree(f, X, np.array([0.0, 1.0, 2.0]), np.zeros((2, 3)))
    agree(f, X[:, ::-1], np.array([0.0]), np.zeros((2, 3)), compiled=compiled)
    agree(lambda x: np.clip(x, 0.5, None), np.arange(3))
    with pytest.raises(TypingError, match="Cannot cast ufunc"):
        njit(lambda x, out: np.clip(x, 0, 1, out))(X, np.zeros((2, 3), np.int8))


def test_clip_without_a_limit():
    def f(x):
        return np.clip(x, min=0), np.clip(x, max=0), np.clip(x)

    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        for function in (f, lambda x: np.clip(x, 1), lambda x: np.clip(x, 0, 1, min=0)):
            agree(function, X)
    else:  # NumPy 2.0 asks for both limits: a row of docs/semantics.md
        assert [x.tolist() for x in njit(f)(X[:1, :2])] == [[[0.0, 0.25]], [[-2.5, 0.0]], [[-2.5, 0.25]]]


def test_round():
    def f(x, z, b, out):
        return (np.round(x, 1), np.round(x, out=out) is out, x.round(), x.round(1), np.round(z, 1), z.round(),
                np.round(b), np.around(x, -1), np.round([1.26, 2.7], 1), np.fix(x), np.fix(x, out) is out, out)

    agree(f, X, X[:1] + 1.25j, X > 0, np.zeros((2, 3)))
    with pytest.raises(TypeError, match="Cannot cast ufunc 'multiply' output"):
        njit(lambda b: np.round(b, 1))(X > 0)
    for out in (np.zeros((2, 2)), np.zeros((1, 2, 3))):
        agree(lambda x, out: (np.around(x, 1, out), out), X, out)
        agree(lambda x, out: x.round(0, out), X, out)
    agree(lambda x, out: np.round(x, 1, out), 2.75, np.zeros(2))
    agree(lambda x, out: np.round(x, 1, out), 2.75, np.zeros(1))


def test_comparisons():
    def f(x, y, n):
        return (np.isclose(x, y), np.isclose(x, y, 0.5), np.isclose(x, y, rtol=0.0, atol=1.0),
                np.isclose(x, x, equal_nan=True), np.allclose(x, y), np.allclose(y, y), np.isclose(n, n + 1),
                np.isclose(x, 1.75), np.array_equal(x, y), np.array_equal(x, x, equal_nan=True),
                np.array_equiv(y, y[:1]), np.array_equal(y, y[0]), np.array_equiv(y[0], y[:, :2]),
                np.isclose([1.0, 2.0], (1.0, 2.5)))

    agree(f, X, np.where(np.isfinite(X), X, 3.0), np.arange(3))


def test_parts():
    def f(x, z, n):
        z = z.copy()
        np.real(z)[0] = 7
        return (np.real(z), np.imag(z), np.real(x), np.imag(x), np.iscomplex(z), np.isreal(z), np.iscomplex(x),
                np.isreal(n), np.isposinf(x), np.isneginf(x), np.real([1, 2j]), np.real_if_close(z),
                np.real_if_close(x), z)

    agree(f, X, X[0] + np.array([1j, 0, 2j]), np.arange(3, dtype=np.int8))


def test_angle_and_sinc():
    def f(x, z, n):
        return (np.sinc(x), np.sinc(z), np.sinc(x[0]), np.sinc(3), np.angle(z), np.angle(z, deg=True), np.angle(x),
                np.angle(n))

    args = X[:, :2], np.array([0.5 + 1j, 0]), np.arange(3, dtype=np.int8)
    for expected, actual in zip(f(*args), njit(f)(*args)):
        assert expected.dtype == actual.dtype and type(expected) is type(actual)
        # sin and arctan2 are not NumPy's: docs/semantics.md
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-15)


def test_nan_to_num():
    def f(x, z, n):
        y = x.copy()
        return (np.nan_to_num(x), np.nan_to_num(x, nan=1.0), np.nan_to_num(x, posinf=2.0, neginf=-2.0),
                np.nan_to_num(y, copy=False) is y, y, np.nan_to_num(z), np.nan_to_num(n), np.nan_to_num([np.nan, 1.0]))

    agree(f, X, X + 1j, np.arange(3))
    agree(f, X.astype(np.float32), X[0].astype(np.complex64), np.bool_(True))


def test_real_if_close():
    def f(a):
        b = np.real_if_close(a)
        return b, b + 1, np.real_if_close(a, tol=10).sum()

    compiled = njit(f)
    for a in (np.array([1 + 2j, 3]), np.array([1 + 1e-17j, 3]), np.array([1 + 5e-15j]), np.zeros((0, 2), complex),
              np.ones(2)):
        agree(f, a, compiled=compiled)
