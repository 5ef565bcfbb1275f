"""Gradients of programs, against finite differences and against forward mode."""
import math
import sys

import numpy as np
import pytest

from pyjitc import grad, jvp
from tests.derivatives.differences import agree

RANDOM = np.random.default_rng(0)
X, V, W = RANDOM.normal(size=12), RANDOM.normal(size=7), RANDOM.normal(size=5)
A, B = RANDOM.normal(size=(7, 7)), RANDOM.normal(size=(5, 7))


def counted(x):
    y = 1.0
    for i in range(5):
        y = y * x + math.exp(0.1 * x)
    return y


def branches(x):
    if x > 1.0:
        y = x * x
        if x > 3.0:
            return y * x
    else:
        y = math.sin(x)
    return y * 2.0 + x


def break_and_continue(x):
    n = 0
    while x < 100.0:
        if n % 3 == 0:
            x = x * x + 0.5
        elif n % 3 == 1:
            x = x * 1.5
            if x > 50.0:
                break
        else:
            n += 1
            continue
        n += 1
    return x * x


def newton(x):
    z = x
    while abs(z * z - x) > 1e-12:
        z = 0.5 * (z + x / z)
    return z


CBRT = sys.version_info >= (3, 11)  # math.cbrt is new there


def numbers(x, y):
    return math.log(abs(x)) + abs(y) + max(x, y) + x ** y + math.sqrt(x) * (math.cbrt(y + 9.0) if CBRT else y)


@pytest.mark.parametrize("x", [0.3, 0.5, 1.3, 1.7, 2.0, 3.5])
@pytest.mark.parametrize("function", [counted, branches, break_and_continue, newton])
def test_numbers_through_control_flow(function, x):
    agree(function, x)


def test_functions_of_numbers():
    agree(numbers, 1.2, 0.4)


def early_return(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            s = s * 0.9 + x[i] * x[j]
            if s > 6.0:
                return s * x[j]
    return s


def newton_of_each(x):
    s = 0.0
    for i in range(len(x)):
        y = x[i] * x[i] + 1.0
        z = y
        while abs(z * z - y) > 1e-10:
            z = 0.5 * (z + y / z)
        s += z * x[i]
    return s


def three_loops(x, n):
    s = 1.0
    for t in range(n):
        for i in range(len(x)):
            for j in range(i):
                s = s * x[j] * 0.5 + x[i] / (1.0 + s * s)
    return s


def writes(x, n):
    y = np.zeros(len(x))
    for t in range(n):
        for i in range(1, len(x)):
            y[i] = x[i - 1] * x[i] + math.sin(y[i - 1])
        for i in range(len(x)):
            x[i] = 0.5 * y[i] + 0.1 * x[i]
    return x.sum()


def int_or_float(x):
    s = 0
    for i in range(len(x)):
        s += x[i] ** 2
    return s


def array_of_a_trip(x):
    s = 0.0
    for i in range(4):
        t = np.zeros(3)
        for j in range(3):
            t[j] = x[j] * x[i]
        for j in range(3):
            s += t[j] * t[2 - j]
    return s


@pytest.mark.parametrize("function, args", [
    (early_return, (X,)), (early_return, (0.1 * X,)), (newton_of_each, (X,)), (three_loops, (X, 3)), (writes, (X, 4)),
    (writes, (X, 0)), (int_or_float, (X,)), (array_of_a_trip, (X,))], ids=lambda x: getattr(x, "__name__", ""))
def test_elements_of_arrays(function, args):
    agree(function, *args)


def layer(a, x):
    return np.sum(np.tanh(a @ x))


def product(a, b):
    return ((a @ b) ** 2).sum()


def statistics(x):
    return np.dot(x, x) + np.mean(x) + np.std(x)


def extremes(x):
    return np.max(x) + np.prod(x[:3]) + x.min()


def norm(a):
    return np.linalg.norm(a) + np.trace(a) + a.T.sum()


def where_and_scan(x):
    return np.where(x > 0, np.sqrt(np.abs(x)), x ** 3).cumsum()[-1]


def joined(x):
    return (np.concatenate((x, x * 2))[::3].reshape(1, -1) ** 2).sum()


def outer(a, x):
    return np.sum((np.outer(x, x) * a + x[:, None]) ** 2)


def elementwise(x):
    return np.sum(np.sin(x) * x + np.exp(-x * x))


def slices_in_place(x):
    y = x.copy()
    y[1:] += y[:-1] ** 2
    y[2:5] *= x[:3]
    return (y * y).sum()


def logistic(w, x, y):
    return np.mean(np.log1p(np.exp(-y * (x @ w))))


def mlp(w, x, b):
    h = np.tanh(x @ w.T + b)
    return np.sum(h.sum(axis=1) ** 2)


def ode(a, u):
    for t in range(10):
        u = u + 0.1 * np.tanh(a @ u)
    return np.sum(u * u)


def rows(x):
    s = 0.0
    for i in range(len(x)):
        s += np.sum(np.sin(x[i]) * x[i - 1])
    return s


def while_of_an_array(x):
    n = 0
    while np.sum(x * x) > 0.5:
        x = x * 0.7 - 0.01 * x * x
        n += 1
    return np.sum(np.cos(x)) * n


def stencil(u):
    u = u.copy()
    for t in range(5):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
    return np.sum(u ** 2)


def axes(a):
    return np.sum(a.sum(axis=0) * a.mean(axis=1)[:a.shape[1]])


def broadcast(x, a):
    return np.sum((a - x) ** 2 * x)


def test_what_a_sum_broadcasts():
    """Each number contributes as often as it is added, also if all its adjoints are equal."""
    def whole(a, column, x, s):
        return np.sum(a + column + x + s)

    def by_axis(a, column, x, s):
        return np.sum(np.sum(a + column + x + s, axis=1) ** 2)

    column = np.array([[1.0], [2.0]])
    of_a, of_column, of_x, of_s = grad(whole, (0, 1, 2, 3))(np.ones((2, 3)), column, X[:3], 0.5)
    assert (of_a == 1.0).all() and (of_column == 3.0).all() and (of_x == 2.0).all() and of_s == 6.0
    given = np.arange(6.0).reshape(2, 3), column, np.array([1.0, 2.0, 3.0]), 0.5
    twice = 2.0 * np.sum(given[0] + column + given[2] + 0.5, axis=1)
    of_a, of_column, of_x, of_s = grad(by_axis, (0, 1, 2, 3))(*given)
    np.testing.assert_array_equal(of_a, np.repeat(twice, 3).reshape(2, 3))
    np.testing.assert_array_equal(of_column, 3.0 * twice.reshape(2, 1))
    np.testing.assert_array_equal(of_x, np.full(3, twice.sum()))
    assert of_s == 3.0 * twice.sum()


def kept_axes(a):
    return np.sum((a - a.mean(axis=0)) ** 3 / (1 + a.std(axis=1, keepdims=True)))


def row_times_matrix(x, a):
    return np.sum(np.sin(x @ a))


def range_of_floats(a, b):
    return np.sum(np.linspace(a, b, 7) ** 2)


def clipped(x):
    return np.maximum(x, 0.3).sum() + np.minimum(x, 0.1).sum() + np.clip(x, -0.5, 0.5).sum()


@pytest.mark.parametrize("function, args", [
    (layer, (A, V)), (product, (A, A.T.copy())), (product, (A, A[::-1])), (product, (A.T, A)), (statistics, (V,)),
    (extremes, (V,)), (norm, (A,)), (norm, (A[::2, ::-1],)), (where_and_scan, (V,)), (joined, (V,)), (outer, (A, V)),
    (elementwise, (X,)), (elementwise, (X[::-2],)), (slices_in_place, (X,)), (logistic, (V, B, np.sign(W))),
    (mlp, (A, B, V)), (ode, (A, V)), (rows, (B,)), (while_of_an_array, (V,)), (stencil, (X,)), (axes, (A,)),
    (broadcast, (V, A)), (broadcast, (0.3, A)), (kept_axes, (B,)), (row_times_matrix, (V, A)),
    (range_of_floats, (0.3, 1.0)), (clipped, (V,))], ids=lambda x: getattr(x, "__name__", ""))
def test_whole_arrays(function, args):
    agree(function, *args)


def test_float32_stays_float32():
    found = grad(lambda x: np.sum(np.sin(x) * x))(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.cos(X) * X + np.sin(X), rtol=1e-5, atol=1e-5)


def writes_into_another(x, buffer):
    for i in range(len(x)):
        buffer[i] = x[i] * x[i] + buffer[i]
    return buffer.sum()


def test_arguments_that_are_written_into_stay_as_they_are():
    found = agree(writes_into_another, V, W.repeat(2)[:7].copy(), argnums=(0,))
    np.testing.assert_allclose(found[0], 2 * V)
    agree(writes_into_another, V, W.repeat(2)[:7].copy())


def test_numbers_that_begin_as_pythons_and_are_returned_in_tuples():
    """`a` is a float before the loop and a float64 after it, so the item of the tuple has one of two types."""
    def orbit(a, b, rates, n):
        for _ in range(n):
            a1, b1 = rates[0] * a - rates[1] * a * b, rates[2] * a * b - rates[3] * b
            if abs(a1) > 5.0:
                continue
            a += 0.1 * a1
            b += 0.1 * b1
        return a, b

    def f(rates):
        a, b = orbit(1.0, 0.5, rates, 5)
        return a * a + b

    agree(f, np.array([0.8, 0.7, 0.6, 0.9]))


DATA = np.linspace(-1.0, 1.0, 6).reshape(2, 3)


def test_a_captured_array_that_a_variable_begins_with():
    def f(w, n):
        h = DATA
        for _ in range(n):
            h = np.sin(h @ w)
        return np.sum(h * h)

    agree(f, np.linspace(-0.5, 0.5, 9).reshape(3, 3), 3)
    np.testing.assert_array_equal(DATA, np.linspace(-1.0, 1.0, 6).reshape(2, 3))


def test_forward_mode_leaves_out_products_that_nobody_reads():
    def f(x, m):
        m @ x
        return x[0] * 2.0

    assert jvp(f, (np.ones(3), np.eye(3)), (np.ones(3), np.eye(3))) == (2.0, 2.0)


def masks_assign(x):
    y = x.copy()
    y[x > 0.5] *= 2.0
    z = np.zeros(len(x))
    z[x < 0] = x[x < 0] ** 2 * y[x < 0]
    z[~(x < 0)] = np.exp(y[x >= 0])
    z[y < -0.4] = 0.5
    m = np.zeros((2, len(x)))
    m[:, 1:][np.stack((x, y))[:, 1:] > 0] = z[1:][y[1:] > 0].sum() * 0.1
    return np.sum(z * np.arange(len(x))) + np.sum(m * m)


def test_what_a_mask_selects_gets_elements():
    agree(masks_assign, X)

    def too_many(x):
        y = np.zeros(len(x))
        y[x < 0] = x * 2.0
        return np.sum(y)

    with pytest.raises(ValueError, match="cannot assign 12 input values to the"):
        grad(too_many)(X)


def results_that_are_read_again(m, v):
    h = np.tanh(m @ v)
    g = 1.0 / (1.0 + np.exp(-h))
    return h @ g + np.sum(np.sqrt(g) * g) + np.sum(np.outer(h, g)) + np.sum((m + v) * v)


def column_of_biases(m, b):
    h = np.tanh(m + b)
    return np.sum(h * h) + np.sum(h.T @ b)


def one_element(x, w):
    return np.sum((x + w) * np.exp(w)) + np.sum(w * w) + np.sum(x * x[:1])


def argument_of_two_sums(x, a):
    s = np.sum(np.sin(x)) if a > 0.5 else np.sum(np.cos(x))
    if s > 0:
        s += np.sum(x * x) * a
    return s + np.mean(np.exp(x) * x)


@pytest.mark.parametrize("function, args", [
    (results_that_are_read_again, (A, V)), (column_of_biases, (A, V.reshape(-1, 1))), (one_element, (V, W[:1])),
    (argument_of_two_sums, (V, 0.7)), (argument_of_two_sums, (V, 0.2))], ids=lambda x: getattr(x, "__name__", ""))
def test_sums_of_adjoints(function, args):
    gradients = agree(function, *args, tolerance=1e-5)
    assert not any(np.shares_memory(x, y) for x in gradients[:1] for y in gradients[1:])


def test_gradients_are_arrays_of_their_own():
    x, y = V, V[::-1].copy()
    by_x, by_y = grad(lambda x, y: np.sum(x + y), (0, 1))(x, y)
    assert by_x is not by_y and not np.shares_memory(by_x, by_y)
    np.testing.assert_array_equal(by_x, np.ones(7))
    np.testing.assert_array_equal(by_y, np.ones(7))
    t = np.ones(7)
    for found in jvp(lambda x: x, (x,), (t,)):
        assert not np.shares_memory(found, t) and not np.shares_memory(found, x)
