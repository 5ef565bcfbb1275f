"""The functions that make derivatives: their arguments and results, and that they compose."""
import math
import pickle
from functools import partial

import numpy as np
import pytest

import pyjitc
from pyjitc import (
    TypingError, UnsupportedError, check_grads, checkpoint, custom_jvp, custom_vjp, grad, hessian, hvp, jacfwd,
    jacrev, jvp, linearize, njit, pmap, stop_gradient, value_and_grad, vjp, vmap,
)
from tests.derivatives.differences import central

X = np.array([0.5, 1.2, -0.3])
A = np.array([[2.0, 0.3], [0.1, 1.5]])


def rosenbrock(x):
    s = 0.0
    for i in range(len(x) - 1):
        s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return s


def second_derivatives(x):
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        h[i, i + 1] -= 400 * x[i]
        h[i + 1, i] -= 400 * x[i]
        h[i + 1, i + 1] += 200
    return h


def curved(x):
    return np.sin(x) * x[0]


def grown(x):
    y = x
    while y < 100.0:
        y = y * y + 1.0
    return y


def test_argnums():
    def f(x, y, z=2.0):
        return x * y * z

    assert grad(f)(3.0, 5.0) == 10.0
    assert grad(f, 1)(3.0, 5.0) == 6.0
    assert grad(f, (0, 1))(3.0, 5.0) == (10.0, 6.0)
    assert grad(f, -1)(3.0, 5.0, 7.0) == 15.0
    assert grad(f, (2,))(3.0, 5.0, 7.0) == (15.0,)
    assert value_and_grad(f, (0, 2))(3.0, 5.0, 7.0) == (105.0, (35.0, 15.0))
    with pytest.raises(ValueError, match="argnums has 3, and .*f\\(\\) takes 3 arguments"):
        grad(f, 3)
    with pytest.raises(TypeError, match="argnums must be an int or a tuple of ints"):
        grad(f, "x")
    with pytest.raises(TypeError, match="grad takes a Python function, not <class .int.>"):
        grad(int)


def test_has_aux():
    def f(x):
        return np.sum(x * x), (x * 2, len(x))

    gradient, (doubled, n) = grad(f, has_aux=True)(X)
    np.testing.assert_array_equal(gradient, 2 * X)
    np.testing.assert_array_equal(doubled, 2 * X)
    (value, _), again = value_and_grad(f, has_aux=True)(X)
    assert value == np.sum(X * X) and n == 3
    np.testing.assert_array_equal(again, gradient)


def one_type_of_number(x, c):
    return x * x, np.float32(x) if c else x


def constants_of_two_types(x, c):
    if c:
        return x * x, np.float32(1.5)
    return x * x, 2.1


def large_int_or_float(x, c):
    return x ** 3, 2 ** 62 + 1 if c else x


def sum_from_zero(x, c):
    total = 0
    for i in range(3 if c else 0):
        total += x * i
    return x * x * total + x, (total, "text", [total, np.float32(x)])


def read_by_the_value(x, c):
    u = x if c else 3
    return u * x * x, u


def in_dict(x, c):
    return np.sin(x), {"a": np.float64(x) if c else x, "b": 3 if c else 3.5}


def last_of_loop(x, c):
    last, y = None, x
    while y < (10.0 if c else 0.1):
        last = y
        y = y * 1.5
    return y * y, last


def other_shapes(x, c):
    return x * x, (np.ones(2, np.float32) if c else 1j * x, (x, 1) if c else True)


OF_SEVERAL_TYPES = [one_type_of_number, constants_of_two_types, large_int_or_float, sum_from_zero, read_by_the_value,
                    in_dict, last_of_loop, other_shapes]


def same_types(found, expected):
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for x, y in zip(found, expected):
            same_types(x, y)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and np.array_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("c", [True, False])
@pytest.mark.parametrize("f", OF_SEVERAL_TYPES)
def test_auxiliary_results_have_the_types_that_the_function_gives_them(f, c):
    """Also where the type depends on the path; the derivatives are those of the value."""
    x = 1.25
    value, aux = f(x, c)
    first = central(lambda x, c: f(x, c)[0], (x, c), 0)
    second = central(lambda x, c: grad(f, has_aux=True)(x, c)[0], (x, c), 0)

    def of_pullback(x, c):
        value, pullback, found = vjp(f, x, c, has_aux=True)
        return value, pullback(1.0)[0], found

    def of_pushforward(x, c):
        value, pushforward, found = linearize(f, x, c, has_aux=True)
        return value, pushforward(1.0, None), found

    for made, expected in ((grad, first), (jacfwd, first), (jacrev, first), (hessian, second)):
        transformed = made(f, has_aux=True)
        for function in (transformed, njit(lambda x, c: transformed(x, c))):
            derivative, found = function(x, c)
            assert derivative == pytest.approx(expected, rel=1e-6)
            same_types(found, aux)
    for function in (of_pullback, of_pushforward, lambda x, c: jvp(f, (x, c), (1.0, None), has_aux=True)):
        for one in (function, njit(function)):
            y, derivative, found = one(x, c)
            assert y == pytest.approx(value) and derivative == pytest.approx(first, rel=1e-6)
            same_types(found, aux)


def test_errors_of_auxiliary_results():
    def of_arrays(x, c):
        y = x * x
        return np.sum(y), y if c else y[0]

    with pytest.raises(UnsupportedError, match="a variable that varies has several types here"):
        grad(of_arrays, has_aux=True)(X, True)
    with pytest.raises(TypingError, match="written out, and has another structure or items of other types on other"):
        grad(lambda x, c: (x * x, [x, x] if c else [x]), has_aux=True)(1.0, True)
    for made in (grad, jacfwd, jacrev):
        with pytest.raises(TypingError, match=r"with has_aux=True .*must return \(value, other results\), not 'float'"):
            made(lambda x: x, has_aux=True)(1.0)


def test_tuples_of_arguments():
    def f(p, y):
        (a, b), n = p
        return a * b.sum() * y * n

    found = grad(f)(((2.0, X), 3), 0.5)
    assert found[1] is None and found[0][0] == X.sum() * 1.5
    np.testing.assert_array_equal(found[0][1], np.full(3, 3.0))


def test_integers_do_not_vary():
    with pytest.raises(TypeError, match="argument 0 is asked for, which is 'int'"):
        grad(lambda x: x * x)(2)
    with pytest.raises(TypeError, match="only for functions that return a float, and .* returns 'numpy.nd"):
        grad(curved)(X)


def test_forward_mode():
    value, change = jvp(curved, (X,), (np.ones(3),))
    np.testing.assert_array_equal(value, njit(curved)(X))
    np.testing.assert_allclose(change, np.cos(X) * X[0] + np.sin(X))
    _, push = linearize(curved, X)
    np.testing.assert_array_equal(push(np.ones(3)), change)
    with pytest.raises(ValueError, match=r"a tangent or cotangent of shape \(2,\) for an array of shape \(3,\)"):
        jvp(curved, (X,), (np.ones(2),))
    with pytest.raises(TypeError, match="as many tangents as primals"):
        jvp(curved, (X,), ())


def test_pullbacks():
    value, pullback = vjp(curved, X)
    np.testing.assert_array_equal(value, njit(curved)(X))
    (found,) = pullback(np.array([0.0, 1.0, 0.0]))
    np.testing.assert_allclose(found, [np.sin(X[1]), np.cos(X[1]) * X[0], 0.0])
    with pytest.raises(ValueError, match=r"a cotangent of shape \(2,\) for a result of shape \(3,\)"):
        pullback(np.ones(2))
    value, pullback, other = vjp(lambda x: (x * x, x + 1.0), 3.0, has_aux=True)
    assert (value, pullback(2.0), other) == (9.0, (12.0,), 4.0)


def test_jacobians():
    expected = np.diag(np.cos(X) * X[0])
    expected[:, 0] += np.sin(X)
    np.testing.assert_allclose(jacfwd(curved)(X), expected)
    np.testing.assert_allclose(jacrev(curved)(X), expected)
    for jacobian in (jacfwd, jacrev):
        assert jacobian(lambda x: x * x)(3.0) == 6.0
        np.testing.assert_allclose(jacobian(lambda x: np.array([x, x * x]))(3.0), [1.0, 6.0])
        np.testing.assert_allclose(jacobian(rosenbrock)(X), grad(rosenbrock)(X))
        first, second = jacobian(lambda a, x: a @ x, (0, 1))(np.eye(2), X[:2].copy())
        assert first.shape == (2, 2, 2) and np.array_equal(second, np.eye(2))


@pytest.mark.parametrize("made", [jacfwd, jacrev])
def test_jacobians_by_several_arguments(made):
    """A tuple with the derivative by each argument, in the order of `argnums`; compiled code gets the same."""
    def f(a, x, s):
        return np.sin(a @ x) * s

    args = A, X[:2].copy(), 0.75
    expected = [np.stack([central(lambda *given, k=k: f(*given)[k], args, n) for k in range(2)]) for n in range(3)]
    for argnums in ((0, 1), (2, 0, 1), (-1, 0), [1, 2], (1,)):
        jacobian, beside = made(f, argnums), made(lambda *given: (f(*given), (given[2], "text")), argnums, has_aux=True)
        with_others = beside(*args)
        assert with_others[1] == (0.75, "text")
        for found in (jacobian(*args), with_others[0], njit(lambda a, x, s: jacobian(a, x, s))(*args)):
            assert type(found) is tuple and len(found) == len(argnums)
            for one, n in zip(found, argnums):
                assert one.shape == (2, *np.shape(args[n]))
                np.testing.assert_allclose(one, expected[n], rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match=r"argnums of a Jacobian has an argument twice: \(1, -2\)"):
        made(f, (1, -2))


@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_jacrev_has_one_sweep_for_each_element_of_the_result(argnums, capfd):
    """Whatever the number of arguments is; one more call says what the function returns."""
    def f(x, y):
        print("called")
        return x * y, x

    jacrev(f, argnums, has_aux=True)(X, X)
    assert capfd.readouterr().out.split() == ["called"] * (1 + len(X))


def test_second_derivatives():
    expected = second_derivatives(X)
    np.testing.assert_allclose(hessian(rosenbrock)(X), expected)
    np.testing.assert_allclose(jacrev(grad(rosenbrock))(X), expected)
    np.testing.assert_allclose(hvp(rosenbrock, (X,), (np.ones(3),)), expected.sum(axis=1))
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(rosenbrock)(x) ** 2))(X),
                               2 * expected @ grad(rosenbrock)(X))


def test_derivatives_of_derivatives():
    def f(x):
        return math.sin(x) * x ** 3

    assert grad(grad(f))(1.3) == pytest.approx(
        6 * 1.3 * math.sin(1.3) + 6 * 1.3 ** 2 * math.cos(1.3) - 1.3 ** 3 * math.sin(1.3))
    assert grad(grad(grad(f)))(1.3) == pytest.approx(-3.2025932243652235)
    assert grad(grad(grown))(1.1) == pytest.approx(jvp(grad(grown), (1.1,), (1.0,))[1])  # a tape of a tape


def test_batches():
    np.testing.assert_allclose(vmap(lambda x, y: x * y + math.sin(x), (0, None))(X, 2.0), X * 2 + np.sin(X))
    both = np.stack([X, 2 * X])
    np.testing.assert_allclose(vmap(rosenbrock)(both), [rosenbrock(X), rosenbrock(2 * X)])
    np.testing.assert_allclose(vmap(rosenbrock, 1)(both.T.copy()), [rosenbrock(X), rosenbrock(2 * X)])
    np.testing.assert_allclose(vmap(curved, out_axes=1)(both), np.stack([curved(X), curved(2 * X)], axis=1))
    small, large = vmap(lambda x: (x * 2, x > 1.0))(np.array([1, 2]))
    assert small.tolist() == [2, 4] and large.tolist() == [False, True]
    with pytest.raises(ValueError, match="3 examples along axis 0 of x, and 2 along axis 0 of y"):
        vmap(lambda x, y: x * y)(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="an array with a batch for y, and got a number: give in_axes None for it"):
        vmap(lambda x, y: x * y)(np.ones(3), 2.0)
    with pytest.raises(ValueError, match="vmap got in_axes 2 for x, a 2-dimensional array"):
        vmap(curved, 2)(np.ones((3, 3)))
    with pytest.raises(ValueError, match="in_axes is None for all"):
        vmap(curved, None)
    with pytest.raises(ValueError, match="in_axes has 2 items, and curved\\(\\) takes 1 argument$"):
        vmap(curved, (0, 0))


def test_batches_of_derivatives_and_derivatives_of_batches():
    both = np.stack([X, 2 * X])
    expected = np.stack([grad(rosenbrock)(X), grad(rosenbrock)(2 * X)])
    np.testing.assert_allclose(vmap(grad(rosenbrock))(both), expected)
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(rosenbrock)(x)))(both), expected)


def test_they_are_called_in_compiled_code():
    @njit
    def f(x):
        value, gradient = pyjitc.value_and_grad(rosenbrock)(x)
        return value, gradient - pyjitc.grad(rosenbrock)(x), pyjitc.jvp(rosenbrock, (x,), (x,))[1]

    value, nothing, change = f(X)
    assert value == njit(rosenbrock)(X) and not nothing.any()
    assert change == pytest.approx(grad(rosenbrock)(X) @ X)


def test_constants():
    assert grad(lambda x: stop_gradient(x) * x)(3.0) == 3.0
    np.testing.assert_array_equal(grad(lambda x: np.sum(stop_gradient(x) * x) + stop_gradient(x[0]))(X), X)
    assert stop_gradient(2.0) == 2.0


def test_differences():
    check_grads(rosenbrock, (X,), order=2)
    check_grads(lambda x, y: np.outer(x, x) * y, (X, 0.7))

    def wrong(x):
        return stop_gradient(x) * x

    with pytest.raises(AssertionError, match="forward mode and central differences differ"):
        check_grads(wrong, (3.0,))


def test_exceptions_of_the_function():
    def f(x, i):
        return x[i] / x[0]

    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        grad(f)(X, 5)
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: 1.0 / x)(0.0)


def inner(x, i):
    y = x * 2.0
    return y[i]


def outer(x, i):
    s = 0.0
    for k in range(2):
        s += inner(x, i)
    return s


def test_tracebacks_name_the_function_that_failed():
    with pytest.raises(IndexError) as error:
        grad(outer)(X, 7)
    last = error.traceback[-1]
    assert (last.name, str(last.path), last.lineno) == ("inner", __file__, inner.__code__.co_firstlineno + 1)


def test_they_are_pickled_with_what_they_are_made_of():
    assert pickle.loads(pickle.dumps(grad(grown)))(1.1) == grad(grown)(1.1)
    again = pickle.loads(pickle.dumps(vmap(grad(rosenbrock))))
    np.testing.assert_array_equal(again(X[None]), [grad(rosenbrock)(X)])


def test_parallel_loops():
    @njit(parallel=True)
    def f(x, y):
        for i in pyjitc.prange(len(x)):
            y[i] = x[i] * x[i] * x[0]
        return np.sum(y)

    x = np.linspace(1.0, 2.0, 50_000)
    expected = 2 * x * x[0]
    expected[0] += np.sum(x * x)
    np.testing.assert_allclose(grad(f)(x, np.zeros(50_000)), expected)


def test_batches_among_threads():
    def f(x, w):
        n = 0
        while x > 0.5:
            x = 0.5 * x + 0.1 * math.sin(x) * w[0]
            n += 1
        if n > 40:
            raise ValueError("too far")
        return x * w[1], n

    x, w = np.linspace(0.2, 9.0, 300), np.array([0.7, 2.0])
    for found, expected in zip(pmap(f, (0, None))(x, w), vmap(f, (0, None))(x, w)):
        np.testing.assert_array_equal(found, expected)
    value = value_and_grad(lambda x, w: f(x, w)[0])
    for found, expected in zip(pmap(value, (0, None))(x, w), vmap(value, (0, None))(x, w)):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="too far"):
        pmap(f, (0, None))(np.append(x, 1e30), w)
    with pytest.raises(ValueError, match="pmap must have at least one argument with a batch"):
        pmap(f, None)


def test_jacobians_of_results_that_are_tuples():
    def f(x):
        return x * x, np.sum(x) * x[0], x[1:] * x[0]

    last = np.array([[X[1], X[0], 0.0], [X[2], 0.0, X[0]]])
    expected = np.diag(2.0 * X), np.array([X.sum() + X[0], X[0], X[0]]), last
    for jacobian in (jacfwd(f), jacrev(f)):
        for found, wanted in zip(jacobian(X), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert jacfwd(lambda x: (x * x, (x + 1.0, 3)))(2.0) == (4.0, (1.0, None))


def test_other_results_may_be_lists_and_dicts():
    assert value_and_grad(lambda x: (x * x, {"x": x, "y": [x, 2.0 * x]}), has_aux=True)(1.5) == (
        (2.25, {"x": 1.5, "y": [1.5, 3.0]}), 3.0)
    (value, found), gradient = value_and_grad(lambda x: (x @ x, {"x": x}), has_aux=True)(X)
    assert value == X @ X and (found["x"] == X).all() and (gradient == 2.0 * X).all()


def test_arguments_that_share_memory():
    def f(x, y):
        x[0] = 2.0
        return np.sum(x * y)

    np.testing.assert_array_equal(grad(lambda x, y: np.sum(x * y), (0, 1))(X, X), (X, X))
    with pytest.raises(ValueError, match="two arguments share memory, and one of them is written into"):
        grad(f)(X, X[::-1])
    np.testing.assert_array_equal(grad(f)(X, X + 1), [0.0, 2.2, 0.7])


def recursive(x, n):
    if n == 0:
        return x[0]
    x[0] *= x[1]
    return recursive(x, n - 1)


def by_name(x):
    d = {"a": x, "b": x * x}
    return sum([d[name] for name in d])


def lists_in_a_dict(x):
    found = {"a": [1.0], "b": [2.0]}
    for name in found:
        found[name].append(x)
    return sum([found[name][1] for name in found])


class Holder:
    def __init__(self, a):
        self.a = a


def array_of_an_object(x):
    held = Holder(np.zeros(3))
    held.a[0] = x
    return held.a[0] * 2.0


def object_in_a_list(x):
    held = [Holder(x)]
    held.append(Holder(2.0))
    return held[0].a * held[1].a


BUFFER = np.zeros(2)


def captured(x):
    BUFFER[0] = x
    return BUFFER[0] * x


def read_back(x):
    return float(str(x)) * x


REFUSED = [
    (read_back, (1.5,), 1, "there is no derivative of"),
    (recursive, (X, 2), 4, "calls itself and writes into"), (by_name, (1.5,), 1, "is put into a dict"),
    (lists_in_a_dict, (1.5,), 1, "is put into a dict"),
    (captured, (1.5,), 1, "captured array"),
    (lambda x: np.sum(x.view(np.float32)), (X,), 0, "the bits of an array"),
    (lambda x: np.linalg.eigvalsh(x + 1j)[0], (np.eye(2),), 0, "there is no derivative of")]


def test_arrays_of_objects():
    assert grad(array_of_an_object)(1.5) == 2.0
    assert grad(object_in_a_list)(1.5) == 2.0


@pytest.mark.parametrize("function, args, line, text", REFUSED, ids=lambda x: getattr(x, "__name__", ""))
def test_what_has_no_derivative_is_refused_at_its_line(function, args, line, text):
    if type(args[0]) is float:
        with pytest.raises(UnsupportedError, match=text):
            jvp(function, args, (1.0,))
    with pytest.raises(UnsupportedError, match=text) as caught:
        grad(function)(*args)
    assert caught.value.diagnostic.line == function.__code__.co_firstlineno + line
    assert caught.value.diagnostic.hint and caught.value.diagnostic.filename == __file__


def test_nothing_is_lost():
    """Tapes and arrays of adjoints are freed, also when the function raises."""
    def f(x, n):
        for i in range(n):
            x = np.sin(x) * x[0]
        return np.sum(x / x[n])

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    g = grad(f)
    for _ in range(5):
        g(np.ones(20000), 10)
    before = resident()
    for _ in range(100):
        g(np.ones(20000), 10)
        with pytest.raises(IndexError):
            g(np.ones(5), 10)
    assert resident() - before < 30 << 20  # a call takes 5 MB


def test_any_callable():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        def __call__(self, w):
            return self.scale * w * w

        def loss(self, w, x):
            return self.scale * w * x

    def f(x, y, *, scale=2.0):
        return scale * x * x * y

    model = Model(3.0)
    assert grad(np.tanh)(0.5) == pytest.approx(1.0 - np.tanh(0.5) ** 2) == grad(math.tanh)(0.5)
    np.testing.assert_allclose(vmap(grad(grad(np.sin)))(X), -np.sin(X))
    np.testing.assert_allclose(vmap(np.linalg.inv)(np.stack((A, 2 * A))), np.linalg.inv(np.stack((A, 2 * A))))
    assert grad(partial(f, 3.0))(1.0) == 18.0 and grad(partial(f, y=5.0))(3.0) == 60.0
    assert grad(f)(3.0, 5.0, scale=1.0) == 30.0
    assert grad(model)(2.0) == 12.0 and grad(model.loss, (0, 1))(2.0, 5.0) == (15.0, 6.0)
    assert grad(lambda *a: a[0] * a[1] ** 2, (0, 1))(2.0, 3.0) == (9.0, 12.0)
    without_name: dict = {}  # globals of functions of exec
    exec("def f(*args): return args[0] * args[1]\ndef g(x, y=2.0): return x * y", without_name)
    assert grad(without_name["f"], (0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert grad(partial(without_name["g"], y=3.0))(2.0) == 3.0 and grad(without_name["g"])(5.0) == 2.0
    assert grad(lambda x: x.sum()[()] * 3)(X).tolist() == [3.0] * len(X)
    np.testing.assert_array_equal(vmap(lambda x, k=2.0: x * k)(X), 2 * X)
    np.testing.assert_array_equal(vmap(partial(f, 3.0))(X), 18 * X)
    _, pullback = vjp(lambda x: x * x, X)
    np.testing.assert_array_equal(vmap(pullback)(np.eye(len(X)))[0], np.diag(2 * X))
    _, push = linearize(lambda x: x * x, X)
    np.testing.assert_array_equal(vmap(push)(np.eye(len(X))), np.diag(2 * X))


def test_keyword_only_parameters():
    def f(x, *, scale, power=2):
        return scale * np.sum(x ** power)

    np.testing.assert_allclose(grad(f)(X, scale=3.0), 6.0 * X)
    np.testing.assert_allclose(grad(f)(X, power=3, scale=3.0), 9.0 * X * X)
    np.testing.assert_allclose(grad(f, argnames="scale")(X, scale=3.0), np.sum(X * X))
    with pytest.raises(TypeError, match="missing 1 required"):
        grad(f)(X)

    def beside_a_default(x, y=1.0, *, scale):
        return x * y * scale

    with pytest.raises(TypeError, match="has the keyword-only parameter 'scale' without a default"):
        grad(beside_a_default)


def test_numbers_as_arrays_without_axes():
    """np.where of a number is an array without axes; its gradient is a float."""
    f = grad(lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0))
    assert f(-1.0) == 0.0 and f(2.0) == 0.5 and grad(f)(2.0) == -0.25


def test_functions_that_compiled_code_makes():
    def outer(a, x):
        g = grad(lambda y: a * y ** 3)
        batch = vmap(grad(lambda y: a * y ** 2))(x)
        return g(2.0) + np.sum(batch) + np.sum(jvp(lambda y: a * y * y, (x,), (x,))[1])

    value = 12 * 1.5 + 2 * 1.5 * np.sum(X) + 2 * 1.5 * np.sum(X * X)
    assert njit(outer)(1.5, X) == pytest.approx(value)
    by_a, by_x = grad(outer, (0, 1))(1.5, X)
    assert by_a == pytest.approx(value / 1.5)
    np.testing.assert_allclose(by_x, 3.0 + 6.0 * X)
    both = njit(lambda a, x: (vjp(lambda y: a * y * y, x)[1](x), linearize(lambda y: a * y * y, x)[1](x)))
    (pulled,), pushed = both(1.5, X)
    np.testing.assert_allclose(pulled, 3.0 * X * X, rtol=1e-15)
    np.testing.assert_allclose(pushed, pulled, rtol=1e-15)
    twice = njit(lambda a, x: hessian(lambda y: a * np.sum(y ** 3))(x) @ grad(lambda y: np.sum(y))(x))
    np.testing.assert_allclose(twice(1.5, X), 9.0 * X, rtol=1e-15)
    np.testing.assert_allclose(grad(lambda a, x: np.sum(twice(a, x)), 1)(1.5, X), 9.0 * np.ones(len(X)))
    assert njit(lambda a: checkpoint(lambda y: a * y)(a))(2.0) == 4.0


CONSTANTS = {"int": lambda x: 3, "numpy.int64": lambda x: np.int64(3), "bool": lambda x: True, "str": lambda x: "a",
             "NoneType": lambda x: None, "tuple": lambda x: (1, "a", None), "an array of int64": lambda x: np.arange(2),
             "an array of bool": lambda x: np.zeros(2) > 0.0}


@pytest.mark.parametrize("x", [2.0, X, (X, 2.0)], ids=["float", "array", "tuple"])
@pytest.mark.parametrize("made", [jacfwd, jacrev, pyjitc.jacobian])
def test_jacobians_of_constants_are_errors(made, x):
    for name, f in CONSTANTS.items():
        for function, has_aux in ((f, False), (lambda x, f=f: (f(x), x), True)):
            with pytest.raises(pyjitc.TypingError, match="only for functions that return floats") as caught:
                made(function, has_aux=has_aux)(x)
            assert f"returns {name if 'array' in name else repr(name)}" in str(caught.value)
            assert "test_api.py" in str(caught.value) and "help: return the float" in str(caught.value)
        for transform in (grad, value_and_grad, hessian):
            with pytest.raises(pyjitc.TypingError, match="a gradient is only for functions that return a float"):
                transform(f)(x)
    with pytest.raises(pyjitc.TypingError, match="return the float that is to be differentiated"):
        grad(lambda x: np.arange(3))(x)  # jacrev would refuse it, too


@pytest.mark.parametrize("made", [jacfwd, jacrev])
def test_results_that_cannot_vary_have_none_in_jacobians(made):
    parts = made(lambda x: (x * x, 3, np.arange(2), None, "a", x > 0.0))(X)
    np.testing.assert_array_equal(parts[0], np.diag(2.0 * X))
    assert parts[1:] == (None,) * 5
    parts = made(lambda x: {"square": x * x, "count": 3})(2.0)
    assert parts == {"square": 4.0, "count": None}
    parts = made(lambda d: (d["x"] * d["y"], len(d)))({"x": 2.0, "y": 3.0, "n": 4})
    assert parts == ({"x": 3.0, "y": 2.0, "n": None}, {"x": None, "y": None, "n": None})
    parts, aux = made(lambda x: ((x * x, 3), "beside"), has_aux=True)(2.0)
    assert parts == (4.0, None) and aux == "beside"


@pytest.mark.parametrize("x", [3, np.int32(3), True, np.arange(3), "a", None, (), (1, 2)], ids=repr)
def test_arguments_that_cannot_vary(x):
    def f(x, y):
        return 1.5 * y

    for made in (grad, value_and_grad, jacfwd, jacrev, hessian):
        with pytest.raises(pyjitc.TypingError, match="argument 0 is asked for, which is"):
            made(f)(x, 2.0)
    if not isinstance(x, tuple):
        assert jvp(f, (x, 2.0), (None, 1.0)) == (3.0, 1.5)
        assert linearize(f, x, 2.0)[1](None, 1.0) == 1.5
        assert vjp(f, x, 2.0)[1](1.0) == (None, 1.5)
    for tangent in (1.0, 0, (1.0, 1.0)):
        with pytest.raises(pyjitc.TypingError, match="the tangent of argument 0 of .* must be"):
            jvp(f, (x, 2.0), (tangent, 1.0))
        with pytest.raises(pyjitc.TypingError, match="the tangent of argument 0 of .* must be"):
            linearize(f, x, 2.0)[1](tangent, 1.0)


def test_arguments_that_are_known_when_compiled():
    def f(x, other):
        return x * 2.0 if other is None else other(x)

    assert jvp(f, (1.5, None), (1.0, None)) == (3.0, 2.0)
    assert jvp(lambda other: 2.0, (None,), (None,)) == (2.0, 0.0)
    value, pullback = vjp(f, 0.5, np.sin)
    assert value == np.sin(0.5) and pullback(1.0) == (np.cos(0.5), None)
    assert njit(lambda x: jvp(f, (x, None), (1.0, None)))(1.5) == (3.0, 2.0)
    with pytest.raises(pyjitc.TypingError, match="must be an array of float64 with 1 axes, not an array of int64"):
        jvp(lambda x: x, (X,), (np.arange(3),))


def squared_first(a):
    a[0] = a[0] * a[0] * a[1]
    return a * 1.0


@pytest.mark.parametrize("made", [jacfwd, jacrev])
def test_jacobians_of_functions_that_write_into_arguments(made):
    expected = [[4.0, 4.0], [0.0, 1.0]]
    a = np.array([2.0, 1.0])
    np.testing.assert_array_equal(made(squared_first)(a), expected)
    found, aux = made(lambda a: (squared_first(a), a[0]), has_aux=True)(a)
    np.testing.assert_array_equal(found, expected)
    assert aux == 4.0
    found = made(lambda a, b: squared_first(a) + b, (0, 1))(a, a.copy())
    np.testing.assert_array_equal(found, (expected, np.eye(2)))
    np.testing.assert_array_equal(made(lambda z: squared_first(z) * 1j, holomorphic=True)(a + 0j),
                                  np.array(expected) * 1j)
    np.testing.assert_array_equal(a, [2.0, 1.0])


def products(t):
    for a in t[:-1]:
        a[0] = a[0] * a[0] * a[1]
    return np.sum(t[0] * t[1])


@pytest.mark.parametrize("kind", [tuple, list])
def test_functions_that_write_into_arrays_of_trees(kind):
    a, b = np.array([2.0, 1.0]), np.array([2.0, 1.0])
    t = kind([a, b, 3])
    for found in (grad(products)(t), jacfwd(products)(t), jacrev(products)(t), vjp(products, t)[1](1.0)[0]):
        assert type(found) is kind and found[2] is None
        np.testing.assert_array_equal(found[:2], [[16.0, 17.0]] * 2)
    change = kind([np.ones(2), np.zeros(2), None])
    assert jvp(products, (t,), (change,)) == (17.0, 33.0)
    assert linearize(products, t)[1](change) == 33.0
    np.testing.assert_array_equal([a, b], [[2.0, 1.0]] * 2)

    def scaled(x, t):
        t[0][0] = t[0][0] * x  # what varies is written into an array of an argument that does not
        return t[0][0]

    for made in (grad, jacfwd, jacrev):
        assert made(scaled)(3.0, t) == 2.0
    np.testing.assert_array_equal([a, b], [[2.0, 1.0]] * 2)


@pytest.mark.parametrize("kind", [tuple, list])
def test_arrays_of_a_tree_that_share_memory(kind):
    a, b = np.array([2.0, 1.0]), np.array([2.0, 1.0])
    for made in (grad, jacfwd, jacrev):
        with pytest.raises(ValueError, match="two arguments share memory, and one of them is written into"):
            made(products)(kind([a, a, 3]))

    def first(t):
        t[0][0] = 3.0 * t[1][0]
        return np.sum(t[0]) * np.sum(t[1] * t[2])

    for made in (grad, jacfwd, jacrev):  # those that share memory are only read
        np.testing.assert_array_equal(made(first)(kind([a, b, b])), [[0.0, 5.0], [29.0, 7.0], [14.0, 7.0]])


def test_other_results_of_functions_of_dicts():
    def f(d):
        return d["a"] * d["b"], d["a"]

    for made in (grad, jacfwd, jacrev):
        assert made(f, has_aux=True)({"a": 2.0, "b": 3.0}) == ({"a": 3.0, "b": 2.0}, 2.0)


@pytest.mark.parametrize("decorator", [custom_jvp, custom_vjp])
def test_decorators_are_called_outside_compiled_functions(decorator):
    def decorates(x):
        @decorator
        def f(y):
            return y * 2

        return f(x)

    with pytest.raises(TypingError, match=f"pyjitc.{decorator.__name__} is not compiled\n(.*\n)*.*decorate the "
                                          "function outside the compiled one"):
        njit(decorates)(2.0)


def test_defaults_of_functions_that_compiled_code_makes():
    @njit
    def of_constants(x):
        def f(a, k=3.0):
            return a ** 2 * k
        return grad(f)(x), grad(f)(x, 2.0), grad(f)(x, k=5.0), hessian(f)(x)

    @njit
    def of_variables(x, q):
        def f(a, p, k=q, n=2):
            return p * a ** n * k
        return value_and_grad(f, (0, 1))(x, 3.0)

    assert of_constants(2.0) == (12.0, 8.0, 20.0, 6.0)
    assert of_variables(2.0, 0.5) == (6.0, (6.0, 2.0))

    @njit
    def by_keyword(x):
        def f(a, *, k=3.0):
            return a ** 2 * k
        return grad(f)(x)

    with pytest.raises(TypingError, match="keyword-only parameters that is made in compiled code"):
        by_keyword(2.0)


def test_transforms_are_compiled_where_decorators_are_disabled(monkeypatch):
    monkeypatch.setenv("PYJITC_DISABLE", "1")

    @njit
    def f(x):
        return (x * x).sum()

    np.testing.assert_array_equal(grad(f)(X), 2 * X)
    np.testing.assert_array_equal(vmap(grad(f))(np.stack((X, X))), np.stack((2 * X, 2 * X)))
    value, pull = vjp(f, X)
    assert value == f(X) and np.array_equal(pull(1.0)[0], 2 * X)


def test_batches_of_functions_with_defaults_that_compiled_code_makes():
    @njit
    def batches(x, c):
        def f(a, k=c):
            return a * k
        return vmap(f)(x), vmap(f)(x, x), vmap(f, in_axes=(0, None))(x, 5.0), pmap(f, (0,))(x), vmap(grad(f))(x)

    x = np.array([1.0, 2.0, 3.0])
    for found, expected in zip(batches(x, 3.0), (x * 3, x * x, x * 5, x * 3, [3.0, 3.0, 3.0])):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(TypingError, match="keyword-only parameters that is made in compiled code"):
        njit(lambda x: vmap(lambda a, *, k=2.0: a * k)(x))(x)
