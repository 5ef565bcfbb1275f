"""Derivatives of stencils become loops that gather: all widths, few trips, several rows, and loops that must not be
changed."""
import numpy as np
import pytest

import pyjitc
from tests.derivatives.differences import agree
from tests.derivatives.test_structure import body


def heat(u, n, c):
    h, w = u.shape
    v = np.zeros((h, w))
    for t in range(n):
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                v[i, j] = u[i, j] + c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                u[i, j] = v[i, j]
    return np.sum(u * u)


def burgers(u, n, c):
    w = len(u)
    v = np.zeros(w)
    for t in range(n):
        for i in range(1, w - 1):
            v[i] = u[i] - c * u[i] * (u[i + 1] - u[i - 1]) + 0.1 * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        for i in range(1, w - 1):
            u[i] = v[i]
    return np.sum(u * u)


def wide(u, x):
    v = np.zeros(len(u))
    for i in range(3, len(u) - 2):
        v[i] = u[i - 3] * x[i] + 2.0 * u[i + 2] - u[i - 1] * u[i + 1] + u[i - 3]
    return np.sum(v * v * x)


def in_itself(u, x):  # the next trip reads the element that this one writes
    for i in range(1, len(u) - 1):
        u[i] = u[i - 1] * x[i] + u[i + 1]
    return np.sum(u * x)


def by_two(u, x):
    v = np.zeros(len(u))
    for i in range(0, len(u) // 2 - 1):
        v[i] = u[2 * i] * x[i] + u[2 * i + 1] * u[2 * i + 2]
    return np.sum(v * v)


def with_test(u, x):
    v = np.zeros(len(u))
    for i in range(1, len(u) - 1):
        if x[i] > 0.0:
            v[i] = u[i - 1] * x[i] + u[i + 1]
    return np.sum(v * v)


def one_loop_after_another(u, x):
    """Loops that gather, one directly after another, in a loop."""
    v = u * x
    for _ in range(3):
        v[0] = np.sqrt(sum(v) * sum(v) + 0.5)
    return v[0]


def wide_loops(u, x):
    v, w = np.zeros(len(u)), np.zeros(len(u))
    for k in range(2):
        for i in range(1, len(u) - 1):
            v[i] += u[i - 1] * x[i] + u[i + 1] * u[i]
        for i in range(1, len(u) - 1):
            w[i] += u[i - 1] * u[i + 1] + 0.1 * u[i] * k
    return np.sum(v * w)


@pytest.mark.parametrize("function", [wide, in_itself, one_loop_after_another, wide_loops])
def test_gradients_of_stencils(function):
    random = np.random.default_rng(2)
    for length in (1, 3, 4, 5, 6, 7, 8, 9, 13):
        agree(function, random.normal(size=length), random.normal(size=length))


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (4, 5), (5, 4), (6, 9)])
def test_heat(shape):
    agree(heat, np.random.default_rng(2).normal(size=shape), 2, 0.2)


def test_which_loops_gather():
    vector = np.ones(8)
    assert "_gathered" in body(burgers, vector, 2, 0.1) and "_gathered" in body(wide, vector, vector)
    assert "_gathered" in body(heat, np.ones((5, 5)), 2, 0.1)
    for function in (in_itself, by_two, with_test):
        assert "_gathered" not in body(function, vector, vector + 1.0)
    for length in (2, 3, 4, 5, 11):
        agree(burgers, np.random.default_rng(2).normal(size=length), 3, 0.2)


def with_ones(x):
    """The elements of a column are each read in a whole row of trips, in which the loop adds to one adjoint."""
    return np.sum((x[:, None] * x + np.ones((2, 2))) ** 3)


def test_trips_that_add_to_one_element_are_not_independent():
    x, t, step = np.array([0.7, -0.4]), np.array([0.3, 0.9]), 1e-5

    def along(x):
        return np.sum(pyjitc.hvp(with_ones, (x,), (t,)) * np.array([1.0, 0.5]))

    expected = [(along(x + e) - along(x - e)) / (2 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(pyjitc.grad(along)(x), expected, 1e-6)


def product_with_a_part(x):
    return np.sum((np.outer(x, x[:3]) @ x[:3]) ** 2) + 0.5 * x @ x


def test_third_derivatives_of_products_in_a_direction():
    x, t, step = np.array([0.7, -0.4, 1.1, 0.3]), np.array([0.3, 0.9, -0.5, 0.2]), 1e-5
    hessian = pyjitc.hessian(product_with_a_part)
    expected = (hessian(x + step * t) - hessian(x - step * t)) / (2 * step)
    np.testing.assert_allclose(pyjitc.jvp(hessian, (x,), (t,))[1], expected, 1e-6, 1e-6)
