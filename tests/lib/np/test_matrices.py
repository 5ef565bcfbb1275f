"""np.linalg.norm, cond, matrix_rank, pinv, lstsq, matrix_power and multi_dot against NumPy, up to the last places:
NumPy's order of summation depends on the strides."""
import functools
import math

import numpy as np
import pytest
from tests.lib.np import closely

TOLERANCE = {"e": 1e-2, "f": 1e-4, "F": 1e-4, "d": 1e-9, "D": 1e-9}
check = functools.partial(closely.check, tolerances=TOLERANCE, absolute=1)


def array(dtype, *shape):
    random = np.random.default_rng(len(shape) + shape[-1])
    x = random.uniform(-4, 4, shape)
    return (x + 1j * random.uniform(-4, 4, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def norm(a):
    return np.linalg.norm(a)


def norm_axis(a):
    return np.linalg.norm(a, axis=1), np.linalg.norm(a, 1, axis=-2, keepdims=True), np.linalg.norm(a, -np.inf, axis=0)


def norm_axes(a):
    return (np.linalg.norm(a, 1, axis=(1, 0)), np.linalg.norm(a, axis=(0, 1), keepdims=True),
            np.linalg.norm(a, np.inf, (-2, -1)))


def norm_order(a, order):
    return np.linalg.norm(a, order)


def norm_of(order):
    def function(a):
        return np.linalg.norm(a, order)

    return function


def cond_of(order):
    def function(a):
        return np.linalg.cond(a, order)

    return function


def rank(a):
    return np.linalg.matrix_rank(a)


def rank_tol(a):
    return np.linalg.matrix_rank(a, tol=0.5), np.linalg.matrix_rank(a, rtol=0.5)


def pinv(a):
    return np.linalg.pinv(a)


def pinv_rcond(a):
    return np.linalg.pinv(a, 0.4)


def lstsq(a, b):
    return np.linalg.lstsq(a, b)


def lstsq_rcond(a, b):
    return np.linalg.lstsq(a, b, rcond=0.3)


def power(a, n):
    return np.linalg.matrix_power(a, n)


def multi3(a, b, c):
    return np.linalg.multi_dot([a, b, c])


def multi2(a, b):
    return np.linalg.multi_dot((a, b))


def multi5(a, b):
    return np.linalg.multi_dot((a, b, a, b, a))


ORDERS = [None, math.inf, -math.inf, 1, -1, 2, -2, 0, 3.5, "fro", "nuc", "other"]


@pytest.mark.parametrize("order", ORDERS)
def test_norm_orders(order):
    function = norm_of(order)
    check(function, array("float64", 5))
    check(function, array("float64", 4, 3))
    if order in (None, 2, 0, 3.5):
        check(function, array("float32", 5))
        check(function, array("complex128", 5))


def test_norm():
    for dtype in ("float32", "float64", "complex64", "int32"):
        check(norm, array(dtype, 6))
        check(norm, array(dtype, 3, 4))
    check(norm, array("float64", 2, 3, 4))
    check(norm, array("float64", 3, 4)[::-1, ::2])
    check(norm_axis, array("float64", 3, 4))
    check(norm_axes, array("float64", 3, 4))
    for order in (1.0, 2.0, 3.0, math.inf, -math.inf, 0.0):
        check(norm_order, array("float64", 5), order)
    check(norm_order, array("float64", 5, 5), 1)
    check(norm_order, array("float64", 5, 5), 7)
    check(norm_order, array("float64", 2, 2, 2), 1)


@pytest.mark.parametrize("order", [None, 1, -2, "fro", math.inf])
def test_cond(order):
    function = cond_of(order)
    check(function, array("float64", 4, 4))
    check(function, np.ones((2, 2)))
    check(function, np.array([[1.0, 2.0], [np.nan, 1.0]]))
    check(function, np.ones((0, 0)))
    check(function, array("float64", 3, 2))
    check(function, array("float32", 3, 3))


def test_rank():
    for a in (array("float64", 4, 3), np.ones((3, 4)), np.zeros((2, 2)), np.ones((3, 3), np.int64),
              array("complex64", 3, 3)):
        check(rank, a)
    check(rank, np.ones(3))
    check(rank, np.zeros(3))
    check(rank_tol, array("float64", 4, 3) / 8)


def test_pinv():
    for a in (array("float64", 4, 3), array("float64", 3, 4), np.ones((3, 3)), array("complex128", 3, 2),
              array("float32", 2, 3), np.ones((0, 3))):
        check(pinv, a)
    check(pinv_rcond, array("float64", 4, 3))


def test_lstsq():
    for a in (array("float64", 5, 3), array("float64", 3, 5), np.ones((5, 3)), np.ones((0, 3)), array("float64", 3, 3)):
        check(lstsq, a, array("float64", len(a)))
        check(lstsq, a, array("float64", len(a), 2))
    check(lstsq, array("complex128", 5, 3), array("complex128", 5))
    check(lstsq, array("float32", 5, 3), array("float32", 5))
    check(lstsq, array("int64", 5, 3), array("float32", 5))
    check(lstsq_rcond, array("float64", 5, 3), array("float64", 5))
    check(lstsq, array("float64", 5, 3), array("float64", 4))


def test_power():
    for n in (0, 1, 2, 3, 4, 7, 12, -1, -3):
        check(power, array("float64", 3, 3), n)
    check(power, array("int64", 3, 3), 6)
    check(power, np.array([[2, 0], [0, 4]]), -2)
    check(power, array("float64", 3, 2), 2)
    check(power, array("float64", 3), 2)
    check(power, np.ones((2, 2)), -1)


def hermitian(a):
    u, s, v = np.linalg.svd(a, hermitian=True)
    return (np.linalg.svd(a, compute_uv=False, hermitian=True), np.linalg.matrix_rank(a, hermitian=True),
            np.linalg.pinv(a, hermitian=True), (u * s) @ v, s)


def rank_and_values(a):
    return np.linalg.matrix_rank(a, hermitian=True), np.linalg.svd(a, compute_uv=False, hermitian=True)


def pinv_of_size(a):
    return np.linalg.pinv(a, rtol=None), np.linalg.pinv(a, rcond=0.5)


def test_hermitian():
    a = array("float64", 3, 3)
    for h in (a + a.T, (a + a.T) * 1j - 1j * np.diag(np.diag(a + a.T)) + a @ a.T * 0, a + a.T - 3 * np.eye(3),
              (a @ a.T).astype(np.float32)):
        check(hermitian, (h + h.conj().T) / 2)
    check(rank_and_values, np.stack((a + a.T, a * 0)))
    check(pinv_of_size, a)
    check(pinv, (9 * a).astype(int))
    check(pinv, np.zeros((0, 3), int))
    check(pinv, np.zeros((2, 0, 3), np.int8))


def into(a, b, o):
    return np.linalg.multi_dot((a, b), out=o), np.linalg.multi_dot((a, b, b, b), out=o)


def test_multi_dot_into():
    check(into, array("float64", 2, 3), array("float64", 3, 3), np.zeros((2, 3)))
    check(into, array("float64", 2, 3), array("float64", 3, 3), np.zeros((3, 3)))


def test_multi_dot():
    a, b = array("float64", 6, 2), array("float64", 2, 6)
    check(multi3, a, b, a)
    check(multi3, b, a, b)
    check(multi3, a[0], b, a)
    check(multi3, a, b, a[:, 0])
    check(multi3, a[:, 0], a, b[:, 0])
    check(multi5, a, b)
    check(multi2, a, b)
    check(multi2, a, a)
