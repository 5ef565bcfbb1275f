"""Arrays that loops choose, pass on and name several times, and functions and generators that hold arrays."""
import math

import numpy as np
import pytest

import pyjitc
from pyjitc import UnsupportedError, checkpoint, custom_vjp, grad, hessian, jacfwd, jvp, njit, value_and_grad
from tests.derivatives.differences import agree

X = np.array([0.3, -0.7, 1.1, 0.4])
TABLE = np.linspace(-1.0, 1.0, 12).reshape(4, 3) ** 2


def the_larger(x, n):
    y = x * 2.0
    for i in range(n):
        z = np.sin(x) * y
        w = z if z[0] > y[0] else y
        x = x + 0.1 * w * z
        y = w
    return np.sum(x * y)


def exchanged(x, n):
    y = np.cos(x)
    for i in range(n):
        if i % 2:
            x, y = y, x
        x = x * y + 0.1
    return np.sum(x * y ** 2)


def one_of_three(x, n):
    y = np.cos(x)
    for i in range(n):
        p = x, y, x * y
        x = p[i % 3] + 0.2 * p[(i + 1) % 3] ** 2
    return np.sum(x * y)


def of_two_lengths(x, n):
    s = 0.0
    for i in range(n):
        y = x[:2] * 2 if i % 2 else x * 3
        s += np.sum(y * y)
        x = x * 1.1
    return s


def filled(x, n):
    b = x
    for i in range(n):
        y = np.empty(len(x))
        for j in range(len(x)):
            y[j] = x[j] * x[j - 1] + 0.1 * i
        b = y if y[0] > b[0] else x
        x = 0.5 * (b + y)
    return np.sum(b ** 3)


def columns_exchanged(x, n):
    for i in range(n):
        a, b = x[:, i % 3], x[:, (i + 1) % 3]
        c, d = (a, b) if i % 2 else (b, a)
        x = np.stack((c, d, a * d), axis=1)
    return np.sum(x ** 2)


@pytest.mark.parametrize("function", (the_larger, exchanged, one_of_three, of_two_lengths, filled))
def test_arrays_that_a_loop_chooses(function):
    agree(function, X, 5)


def test_views_of_arrays_in_several_orders():
    agree(columns_exchanged, TABLE, 4)


def written_later(x, n):
    b = x
    for i in range(n):
        y = np.empty(len(x))
        for j in range(len(x)):
            y[j] = x[j] * x[j - 1]
        b = y if y[0] > b[0] else x
        y[1] = b[0] * 2.0
        x = 0.5 * (b + y)
    return np.sum(b)


def shifted(x):
    a = x
    for i in range(3):
        b = a + 0.3 * np.roll(a, 1)
        a = np.sin(b) if i != 1 else b
    return np.sum(np.sin(a))


def test_an_array_that_is_not_read_any_more_when_it_is_written_under_another_name():
    """In the derivative of a Hessian: its arrays of tangents and adjoints get second names in the loop."""
    x, step = np.array([0.7, -0.55, 1.15]), 1e-6

    def squares(x):
        return np.sum(hessian(shifted)(x) ** 2)

    found, plain = grad(squares)(x), njit(squares)
    for i, along in enumerate(np.eye(3) * step):
        assert found[i] == pytest.approx((plain(x + along) - plain(x - along)) / (2 * step), rel=1e-6)


def in_turn(x, a, b):
    total = 0.0
    for i in range(4):
        c = b
        b = a
        b[i % 3] = a[0] * a[1] + 0.1
        total += c[i % 3] * c[0]
        a = np.sin(b) + c * 0.1
    return total + np.sum(a) + np.sum(b * b)


def exchanged(x, a, b):
    total = 0.0
    for _ in range(4):
        a, b = b, a
        a[0] = b[1] * 0.5 + a[2]
        total += b[0] * a[1]
    return total + np.sum(a) + np.sum(b * b)


def kept(x, a, b):
    for _ in range(4):
        y = a
        a = a + 0.1 * np.roll(b, 1)
        y[0] = a[1]
        b = y
    return np.sum(a) + np.sum(b * b)


@pytest.mark.parametrize("function", [in_turn, exchanged, kept])
def test_arrays_that_change_names_in_a_loop(function):
    """Where both names stand for one array, what is written under one is read under the other: that is refused."""
    x, step = np.array([0.7, -0.55, 1.15]), 1e-6
    found = grad(lambda x: function(x, x * 1.0, x * 0.5))(x)
    for i, along in enumerate(np.eye(3) * step):
        ends = [function(y, y * 1.0, y * 0.5) for y in (x + along, x - along)]
        assert found[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)

    def of_one(x):
        a = x * 1.0
        return function(x, a, a)

    try:
        found = grad(of_one)(x)
    except UnsupportedError as error:
        assert "has two names here" in str(error)
        return
    assert function is kept
    for i, along in enumerate(np.eye(3) * step):
        assert found[i] == pytest.approx((of_one(x + along) - of_one(x - along)) / (2 * step), rel=1e-6)


def test_an_array_written_under_two_names_is_refused():
    with pytest.raises(UnsupportedError, match="has two names here"):
        grad(written_later)(X, 3)


def squares(p, x):
    return sum(np.sum(w * x) ** 2 for w in p)


def weighed(p, x):
    return sum(np.sum(w * x) ** 2 * n for n, w in enumerate(p))


def by_key(p, x):
    return sum(np.sum(p[key] * x) ** 2 for key in p)


def inner(p, x):
    return sum(np.sum(layer["w"] * x) ** 2 for layer in p.values())


@pytest.mark.parametrize("function, tree", (
    (squares, (X, X + 1)), (weighed, (X, X + 1)), (by_key, {"a": X, "b": X + 1}),
    (inner, {"a": {"w": X}, "b": {"w": X + 1}})))
def test_sums_over_trees_with_other_arrays(function, tree):
    x = X ** 2
    value, found = value_and_grad(function)(tree, x)
    assert value == pytest.approx(function(tree, x))
    for n, (w, g) in enumerate(zip((X, X + 1), pyjitc.tree.leaves(found))):
        np.testing.assert_allclose(g, 2 * (w @ x) * x * (n if function is weighed else 1), rtol=1e-13)


def local_recursion(x):
    def total(y):
        if len(y) == 1:
            return y[0]
        half = len(y) // 2
        return np.tanh(total(y[:half]) + 2 * total(y[half:]))
    return total(x)


def recursion_with_a_captured_array(x):
    def go(n, a):
        return a if n == 0 else go(n - 1, np.sin(a) * x[n % 4] + a)
    return go(5, x[0])


@pytest.mark.parametrize("function", (local_recursion, recursion_with_a_captured_array))
def test_local_functions_that_call_themselves(function):
    agree(function, X)


def list_of_functions(w, x):
    def made(k):
        return lambda z: np.tanh(k * w * z)
    for f in [made(0.5), made(1.0)]:
        x = f(x)
    return np.sum(x)


def test_loops_over_functions_that_capture_arrays():
    agree(list_of_functions, X, X + 0.5)


@custom_vjp
def fixed_point(a, x):
    """The solution of x = cos(a * x), which starts as a float of Python and becomes NumPy's."""
    for _ in range(200):
        following = np.cos(a * x)
        if abs(following - x) < 1e-14:
            break
        x = following
    return x


def _forward(a, x):
    x = fixed_point(a, x)
    return x, (a, x)


def _backward(kept, g):
    a, x = kept
    slope = -np.sin(a * x)
    return g * x * slope / (1 - a * slope), None


fixed_point.defvjp(_forward, _backward)


def test_a_rule_whose_number_is_of_python_on_some_paths():
    def solution(a):
        return fixed_point(a, 0.5)

    difference = (solution(0.7 + 1e-6) - solution(0.7 - 1e-6)) / 2e-6
    assert grad(solution)(0.7) == pytest.approx(difference, rel=1e-6)


@checkpoint
def layer(p, x):
    return np.tanh(x @ p["w"] + p["b"])


def test_checkpoint_gets_a_dict_of_several_kinds_of_arrays():
    p = {"w": TABLE[:3], "b": X[:3]}
    np.testing.assert_array_equal(layer(p, X[:3]), np.tanh(X[:3] @ p["w"] + p["b"]))

    def network(layers, x):
        for one in layers:
            x = x + layer(one, x)
        return np.sum(x)

    tangents = [{"w": TABLE[1:], "b": X[1:]}, {"w": TABLE[:3], "b": X[:3]}]
    found = grad(network)([p, p], X[:3])
    product = sum(np.sum(g * t) for g, t in zip(pyjitc.tree.leaves(found), pyjitc.tree.leaves(tangents)))
    assert jvp(network, ([p, p], X[:3]), (tangents, 0 * X[:3]))[1] == pytest.approx(product)
    assert njit(layer)(p, X[:3]).shape == (3,)


def repeated(x, w, n):
    for _ in range(n):
        x = x + np.sin(w * x)
    return np.sum(x)


def test_one_array_for_two_arguments_that_a_loop_only_replaces():
    by_x, by_w = grad(repeated, (0, 1))(X, X, 3)
    change = jvp(repeated, (X, X, 3), (X + 1, X + 2, None))[1]
    assert change == pytest.approx(by_x @ (X + 1) + by_w @ (X + 2), rel=1e-12)


def shortened(x):
    s = 0.0
    while len(x) > 1:
        s += x[0] ** 2
        x = x[1:]
    return s + x[0]


def halves(x):
    s = 0.0
    while len(x) > 1:
        s += x[-1] * x[0]
        x = x[::2] if x[0] > 0 else x[len(x) // 2:]
    return s + x[0] ** 3


def parts_of_new_arrays(x, n):
    y = x * 2.0
    s = 0.0
    for i in range(1, n):
        s += np.sum(y ** 2)
        y = (y * x[:len(y)])[i % 2:]
    return s + y[0]


def parts_of_filled_arrays(x, n):
    y = x * 2.0
    for _ in range(1, n):
        z = np.empty(len(y) + 2)
        for j in range(len(y)):
            z[j] = y[j] * y[0]
        z[len(y)], z[len(y) + 1] = y[1], 1.0
        y = z[:len(y) - 1]
    return np.sum(y)


def stacked(x, c, n):
    for _ in range(n):
        c = np.stack([x[k] * c[k] for k in range(2)])
    return np.sum(c ** 2)


@pytest.mark.parametrize("function, args", (
    (shortened, (X,)), (halves, (X,)), (parts_of_new_arrays, (X, 3)), (parts_of_filled_arrays, (X, 3)),
    (stacked, (TABLE, TABLE[:2] + 1, 3))))
def test_parts_of_arrays_whose_length_changes_in_a_loop(function, args):
    agree(function, *args)


def the_first_or_its_square(x):
    b = x
    for i in range(3):
        b = x if b[0] > i else b * x
    return np.sum(b)


def multiplied(x):
    y = x
    for i in range(3):
        y = y * x[i]
    return np.sum(y)


@pytest.mark.parametrize("function", (shortened, the_first_or_its_square, multiplied))
def test_arguments_with_strides_in_loops_that_pass_them_on(function):
    x = np.repeat(X, 2)
    np.testing.assert_allclose(grad(function)(x[::2]), grad(function)(X), rtol=1e-14)
    np.testing.assert_allclose(grad(function)(X[::-1]), grad(function)(X[::-1].copy()), rtol=1e-14)


def exchanged_and_turned(x):
    a, b = x[:2], x[2:]
    s = 0.0
    for _ in range(4):
        s += a[0] * b[0]
        a, b = b * 1.5, a[::-1]
    return s + np.sum(a * b)


@pytest.mark.parametrize("memory", (100, 100_000))
def test_bounded_memory_of_parts_of_arrays(memory):
    (expected,) = agree(exchanged_and_turned, X)
    np.testing.assert_allclose(grad(exchanged_and_turned, memory=memory)(X), expected, rtol=1e-13)


# -- derivatives that pass on arrays of their own: tapes, and adjoints that get a second name

def gated(w, xs):
    h, state = np.zeros(2), np.zeros(2)
    for x in xs:
        z = np.concatenate((x, h)) @ w
        state = np.tanh(z[:2]) * state + np.sin(z[2:4]) * np.tanh(z[4:])
        h = np.tanh(state)
    return np.sum(h * h) + state[0]


def in_adapted_steps(k, end):
    t, y, h = 0.0, 1.0, 0.1
    tries = 0
    while t < end:
        slope = math.sin(t) - k * y
        change = h * (math.sin(t + h) - k * (y + h * slope) - slope)
        if abs(change) > 2e-3:
            h *= 0.5
            tries += 1
            continue
        y += h * slope
        t += h
        h *= 1.3
        if tries > 100:
            raise RuntimeError("the steps become too small")
    return y


@pytest.mark.parametrize("function, x, rest", (
    (gated, np.linspace(-0.8, 0.9, 30).reshape(5, 6), np.linspace(-1.0, 1.0, 12).reshape(4, 3)),
    (in_adapted_steps, np.float64(0.5), 2.0)), ids=lambda x: getattr(x, "__name__", ""))
def test_reverse_mode_of_reverse_mode(function, x, rest):
    along = np.cos(np.arange(x.size)).reshape(x.shape)

    def slope(x, rest):
        return np.sum(grad(function)(x, rest) * along)

    found = np.sum(grad(slope)(x, rest) * along)
    assert found == pytest.approx((slope(x + 1e-6 * along, rest) - slope(x - 1e-6 * along, rest)) / 2e-6, rel=1e-6)


def steered(u, angle):
    turn = cost = 0.0
    for k in range(len(u)):
        turn += 0.1 * (math.sin(angle) + u[k])
        angle += turn
        cost += u[k] ** 2 + math.cos(angle)
        if abs(angle) > 3.0:
            cost += angle * angle
            break
    return cost


def written_through_views(a, k):
    b = a[1:3].T
    b[2] *= k
    flat = a.ravel()
    flat[3] += flat[5] * flat[6]
    return np.sum(a ** 2 * np.arange(4.0))


@pytest.mark.parametrize("function, shape, rest", ((steered, (6,), 0.3), (written_through_views, (3, 4), 2.0)))
def test_gradients_of_batches_whose_examples_are_processed_one_by_one(function, shape, rest):
    x = np.linspace(-1.0, 1.5, 3 * int(np.prod(shape))).reshape(3, *shape)
    found = grad(lambda x: np.sum(pyjitc.vmap(function, (0, None))(x, rest)))(x)
    np.testing.assert_allclose(found, [grad(function)(one, rest) for one in x], rtol=1e-12)


def from_a_column(e):
    best = e[:, 0]
    for k in range(1, e.shape[1]):
        best = np.log(best * best + 1.0) + e[:, k]
    return np.max(best) + np.sum(np.exp(best - best.max()))


def test_a_column_that_a_loop_replaces_by_new_arrays():
    agree(from_a_column, TABLE)


# -- arrays that do not vary, beside others that do

def one_or_the_other(x, other, n):
    y = x if n > 2 else other
    return np.sum(y[1:] * y[:-1]) + np.sum(x)


def one_or_an_item(x, others, n):
    y = x if n > 2 else others[0]
    return np.sum(y[1:] * y[:-1]) + np.sum(x)


def begun_with_the_other(x, other, n):
    y, s = other, 0.0
    for _ in range(n):
        s += y[1:] @ y[:-1]
        y = y[::-1] * x
    return s


@pytest.mark.parametrize("n", (1, 3))
@pytest.mark.parametrize("function", (one_or_the_other, one_or_an_item, begun_with_the_other))
def test_forward_mode_beside_arrays_that_do_not_vary(function, n):
    """Such an array may have strides, here of many pages, with which nothing of its tangent may be read."""
    other = np.zeros((4, 1_000_000))[:, 0]
    other[:] = X * 2.0
    given = (other,) if function is one_or_an_item else other
    np.testing.assert_allclose(jacfwd(function)(X, given, n), grad(function)(X, given, n), rtol=1e-14)
    found = hessian(function)(X, given, n)
    expected = [(grad(function)(X + h, given, n) - grad(function)(X - h, given, n)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
