"""vmap of functions that are processed for a whole batch at once (passes/batches.py), beside a loop of the interpreter.

Each function is called for batches of several lengths, axes and dtypes; what the loop over its calls raises first must
be raised.
"""
from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
import pytest

from pyjitc import TypingError, grad, njit, pmap, vmap
from pyjitc.passes import batches


def looped(f, args, axes):
    """What vmap(f, axes) should return: the results of a loop in the interpreter, stacked."""
    n = next(x.shape[axis] for x, axis in zip(args, axes) if axis is not None)
    found = [f(*(x if axis is None else np.moveaxis(x, axis, 0)[i] for x, axis in zip(args, axes))) for i in range(n)]
    if isinstance(found[0], tuple):
        return tuple(np.stack([np.asarray(one[k]) for one in found]) for k in range(len(found[0])))
    return np.stack([np.asarray(one) for one in found])


def agrees(found, expected, tolerance=1e-12):
    if isinstance(expected, tuple):
        assert type(found) is tuple and len(found) == len(expected)
        for x, y in zip(found, expected):
            agrees(x, y, tolerance)
        return
    assert found.dtype == expected.dtype and found.shape == expected.shape
    tolerance = tolerance if found.dtype.itemsize > 4 and found.dtype != np.complex64 else 2e-5
    np.testing.assert_allclose(found, expected, tolerance, tolerance)


def affine(w, b, x):
    return np.tanh(w @ x + b)


def row_products(w, b, x):
    return w @ x * b, np.sum(w @ x), b + x[0]


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def folds(x):
    return np.sum(x), np.prod(x), np.max(x), np.min(x), np.mean(x), np.var(x), np.all(x > 0), np.any(x > 1)


def mixed(x, y):
    return x * np.sum(y) + y[1] - x[0] * y, np.dot(x, y), np.linalg.norm(x - y)


def matrices(a, b):
    return a @ b, a.T @ b, np.sum(a, axis=0), np.sum(a * b, axis=1), np.trace(a @ b)


def written(x):
    out = np.zeros(4, x.dtype)
    out[0] = x[0]
    out[1] = np.sum(x)
    out[2:] = x[:2] * 2
    return out + x[1]


def alike(x):
    base = np.ones(3, x.dtype)
    base += x[:3]
    base[1] *= 3
    return base, np.arange(3)


def steps(u):
    for _ in range(5):
        u = u + np.array(0.1).astype(u.dtype) * (np.roll(u, 1) - u)
    return u


def in_place(u):
    v = u.copy()
    for _ in range(3):
        v[1:-1] += (v[2:] - 2 * v[1:-1] + v[:-2]) / 4
    return v


def sorted_and_more(x):
    y = np.sort(x)
    return y, np.cumsum(x), np.argmax(x), np.median(x) + np.sum(y[:2])


def solved(a, b):
    x = np.linalg.solve(a, b)
    return x, np.linalg.inv(a) @ b, np.linalg.det(a)


def views(a):
    return a[::2, 1:].sum(), a.T + a[0, 0], a[:, 1], a.reshape(-1)[::3] * 2


def constant(x):
    return np.arange(3.0), x * 2, 7


def numbers(x, y):
    return math.sqrt(x * x) + y, x > y, max(x, y), (x, -y)[0]


def given_twice(a, b):
    c = a @ b
    return c, np.sum(c), c, b @ a


def repeated_products(a, b):
    x, y = a @ b, a
    for _ in range(3):
        x, y = y @ a, x
    return x, y


def filled(x):
    y = np.empty(3, x.dtype)
    y[:] = x[:3] * 2
    z = y[::-1] + np.sum(x)
    y[0] = x[1]
    return z, y


def swapped(a, b, k):
    c, d = a @ b, b @ a
    if k[0, 0] > 100:
        return c, d
    return d, c


def broadcast(x):
    return x[:, None] * x + np.outer(x, x)


def chosen(x):
    return np.where(x > 0, x, 0) + np.clip(x, -1, 1), np.maximum(x, 0.5).astype(np.float64)


def inner(x, ys):
    return vmap(lambda y: np.exp(-np.sum((x - y) ** 2)))(ys)


def complex_parts(z):
    return np.abs(z).sum(), (z * z.conj()).real, np.sum(z)


CASES = {
    "affine": (affine, ((3, 4), (3,), "4"), (None, None, 0)),
    "affine, all": (affine, ("34", "3", "4"), (0, 0, 0)),
    "affine, matrix": (affine, ("34", (3,), (4,)), (0, None, None)),
    "rows": (row_products, ((4, 4), (4,), "4"), (None, None, 0)),
    "softmax": (softmax, ("5",), (0,)),
    "folds": (folds, ("5",), (0,)),
    "folds of matrices": (lambda a: folds(a)[:6], ("34",), (0,)),
    "mixed": (mixed, ("5", "5"), (0, 0)),
    "mixed, one shared": (mixed, ("5", (5,)), (0, None)),
    "matrices": (matrices, ("44", "44"), (0, 0)),
    "matrices, one shared": (matrices, ((4, 4), "44"), (None, 0)),
    "given twice": (given_twice, ("44", "44"), (0, 0)),
    "repeated products": (repeated_products, ("33", "33"), (0, 0)),
    "filled": (filled, ("5",), (0,)),
    "swapped": (swapped, ("44", "44", (2, 2)), (0, 0, None)),
    "written": (written, ("5",), (0,)),
    "alike": (alike, ("5",), (0,)),
    "steps": (steps, ("6",), (0,)),
    "in place": (in_place, ("6",), (0,)),
    "sorted": (sorted_and_more, ("6",), (0,)),
    "solved": (solved, ("44", "4"), (0, 0)),
    "views": (views, ("44",), (0,)),
    "constant": (constant, ("4",), (0,)),
    "numbers": (numbers, ("", ""), (0, 0)),
    "broadcast": (broadcast, ("4",), (0,)),
    "chosen": (chosen, ("5",), (0,)),
}


def argument(random, text, n, axis, dtype):
    """An array: text is a shape without a batch, or the lengths of the axes of an example as digits."""
    if axis is None:
        return random.normal(size=text).astype(dtype)
    x = random.normal(size=(n, *map(int, text)))
    return np.moveaxis(x, 0, axis).astype(dtype) if axis else x.astype(dtype)


@pytest.mark.parametrize("name, dtype", [*((name, "float64") for name in CASES), *((name, "float32") for name in (
    "affine", "mixed", "alike", "numbers"))])
def test_as_a_loop_of_calls(name, dtype):
    f, shapes, axes = CASES[name]
    made = vmap(f, axes)
    for n in (1, 2, 3, 20, 300):
        random = np.random.default_rng(n)
        args = [argument(random, text, n, axis, dtype) for text, axis in zip(shapes, axes)]
        before = [x.copy() for x in args]
        agrees(made(*args), looped(f, args, axes), 1e-10)
        assert all(np.array_equal(x, y) for x, y in zip(args, before))


@pytest.mark.parametrize("name", ["affine, all", "matrices", "views", "softmax", "in place"])
def test_axes_and_layouts(name):
    f, shapes, axes = CASES[name]
    random = np.random.default_rng(0)
    last = tuple(-1 for _ in axes)
    args = [argument(random, text, 7, axis, np.float64) for text, axis in zip(shapes, last)]
    agrees(vmap(f, last)(*args), looped(f, args, last), 1e-10)
    args = [np.asfortranarray(argument(random, text, 7, 0, np.float64)) for text in shapes]
    agrees(vmap(f, axes)(*args), looped(f, args, axes), 1e-10)
    args = [argument(random, text, 14, 0, np.float64)[::-2] for text in shapes]
    agrees(vmap(f, axes)(*args), looped(f, args, axes), 1e-10)
    agrees(vmap(f, axes, 1 if name == "softmax" else 0)(*args),
           np.moveaxis(looped(f, args, axes), 0, 1) if name == "softmax" else looped(f, args, axes), 1e-10)


# -- exceptions, effects, and functions that examples run differently


def failing(a, b, i):
    x = np.linalg.solve(a, b * 2)
    return np.sum(x) + x[i] + b[i]


def domain(x):
    return math.sqrt(x[0]) + np.sum(x) / float(x[1])


def asked(x, limit):
    s = np.sum(x)
    if s > limit:
        raise ValueError(f"too large: {int(s)}")
    return s * x


def overwriting(x, y):
    x[0] = np.sum(y)
    return x * 2


def accumulating(x, total):
    total += x
    return np.sum(total * x)


def selected(x):
    return np.sum(x[x > 0] * 2), np.unique(np.round(x)).size


def divided(n, x):
    return np.sum(x) + 10 // n


def solved_or_zero(a, b):
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.zeros(3)


def stopping(x):
    y = x * 1
    k = 0
    while np.sum(y * y) > 1.0:
        y = y * 0.5
        k += 1
    return y, k


def _singular(at, bad):
    random = np.random.default_rng(0)
    a, b = random.normal(size=(40, 3, 3)), random.normal(size=(40, 3))
    a[at] = 0
    i = np.zeros(40, int)
    i[bad] = 5
    return a, b, i


FAILING = {
    "the first call that fails": (failing, (0, 0, 0), _singular(25, 30)),
    "another order of operations": (failing, (0, 0, 0), _singular(30, 25)),
    "after results are written": (lambda a, b: (a @ b, np.linalg.inv(a)), (0, 0), (
        np.where(np.arange(40)[:, None, None] == 21, 0, np.eye(3) + np.arange(40.0)[:, None, None]),
        np.ones((40, 3, 3)))),
    "domain": (domain, (0,), (np.array([[1.0, 2], [3, 4], [-1, 2], [1, 0]]),)),
    "division": (domain, (0,), (np.array([[1.0, 2], [3, 0], [-1, 2], [1, 1]]),)),
    "raise": (asked, (0, None), (np.arange(30.0).reshape(10, 3), 40.0)),
    "shapes": (lambda x, y: np.sum(x + y), (0, None), (np.ones((5, 3)), np.ones(4))),
    "core shapes": (lambda w, x: np.sum(w @ x), (None, 0), (np.ones((5, 3)), np.ones((6, 4)))),
    "written argument": (overwriting, (0, 0), (np.ones((5, 3)), np.arange(10.0).reshape(5, 2))),
    "shared argument written": (accumulating, (0, None), (np.arange(15.0).reshape(5, 3), np.ones(3))),
    "masks": (selected, (0,), (np.random.default_rng(1).normal(size=(9, 4)),)),
    "integers": (divided, (0, 0), (np.array([1, 2, 0, 3]), np.ones((4, 2)))),
    "try": (solved_or_zero, (0, 0), _singular(7, 0)[:2]),
    "number of trips": (stopping, (0,), (np.random.default_rng(2).normal(size=(30, 4)) * 9,)),
}


@pytest.mark.parametrize("name", FAILING)
def test_exceptions_and_effects_are_those_of_the_loop(name):
    f, axes, args = FAILING[name]

    def result(call):
        given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        try:
            return call(*given), given
        except Exception as error:
            return (type(error), str(error)), given

    with np.errstate(all="ignore"):
        expected, after = result(lambda *given: looped(f, given, axes))
    found, changed = result(vmap(f, axes))
    if isinstance(expected[0], type):
        assert found == expected
    else:
        agrees(found, expected)
    for x, y in zip(changed, after):
        np.testing.assert_array_equal(x, y)


def test_random_numbers_are_drawn_example_by_example():
    def noisy(x):
        return np.sum(x) + np.random.random(), x * np.random.normal(0.0, 1.0, 3)

    x = np.ones((6, 3))

    @njit
    def seeded(f, x):
        np.random.seed(5)
        return f(x)

    def once(x):
        np.random.seed(5)
        return looped(noisy, (x,), (0,))

    agrees(seeded(vmap(noisy), x), once(x))


def test_which_are_processed_at_once(monkeypatch):
    """These must not become loops of calls again."""
    made = []
    run = batches._Batch.run
    monkeypatch.setattr(batches._Batch, "run", lambda self: made.append(run(self)) or made[-1])
    wanted = ("affine", "softmax", "folds", "mixed", "matrices", "in place", "broadcast", "chosen", "steps")
    for name in wanted:
        f, shapes, axes = CASES[name]
        args = [argument(np.random.default_rng(0), text, 3, axis, np.float64) for text, axis in zip(shapes, axes)]
        before = len(made)
        vmap(_fresh(f), axes)(*args)
        assert len(made) == before + 1, name


def _fresh(f):
    """A function with the code of f of which no compiled form is kept."""
    return type(f)(f.__code__.replace(co_name=f"{f.__name__}_again"), f.__globals__)


def test_batches_of_batches_and_gradients():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(7, 4)), random.normal(size=(9, 4))
    kernel = vmap(vmap(lambda x, y: np.exp(-np.sum((x - y) ** 2)), (None, 0)), (0, None))
    agrees(kernel(x, y), np.exp(-np.sum((x[:, None] - y) ** 2, axis=2)))
    agrees(vmap(vmap(lambda x, y: x * y + 1, (None, 0)), (0, None))(x[0], y[0]), x[0][:, None] * y[0] + 1)

    def loss(p, x, y):
        w, b, v = p
        return (np.dot(v, np.tanh(w @ x + b)) - y) ** 2

    p = random.normal(size=(5, 4)), random.normal(size=5), random.normal(size=5)
    found = vmap(grad(loss), (None, 0, 0))(p, y, y[:, 0].copy())
    one = grad(loss)
    for k in range(3):
        agrees(found[k], np.stack([one(p, y[i], y[i, 0])[k] for i in range(9)]), 1e-10)
    total = grad(lambda p: np.sum(vmap(loss, (None, 0, 0))(p, y, y[:, 0].copy())))(p)
    for k in range(3):
        agrees(total[k], np.sum(found[k], axis=0), 1e-9)


# -- axes, as JAX takes them

Pair = namedtuple("Pair", "a b")
M, V = np.arange(12.0).reshape(4, 3), np.arange(4.0)


def test_functions_with_defaults_in_compiled_code():
    """For each number of arguments there is another function, which compiled code finds as the interpreter does."""
    def scaled(x, factor=2.0):
        return x * factor * x

    def several(*numbers):
        return numbers[0] * numbers[1]

    x = np.arange(4.0)
    one, product = vmap(scaled), vmap(several)

    @njit
    def both(x):
        return one(x) + one(x, 3.0 * x) - product(x, x + 1.0)

    np.testing.assert_array_equal(both(x), both.py_func(x))
    np.testing.assert_array_equal(njit(one)(x), 2.0 * x * x)
    np.testing.assert_array_equal(njit(one)(x, x), x * x * x)
    np.testing.assert_array_equal(njit(vmap(grad(scaled)))(x), 4.0 * x)
    np.testing.assert_array_equal(grad(lambda x: one(x).sum())(x), 4.0 * x)
    np.testing.assert_array_equal(vmap(one)(np.stack((x, x))), 2.0 * np.stack((x, x)) ** 2)
    np.testing.assert_array_equal(njit(lambda x: vmap(scaled)(x) + vmap(scaled, (0, None))(x, 3.0))(x), 5.0 * x * x)
    np.testing.assert_array_equal(njit(lambda x: grad(several)(x[3], 2.0))(x), 2.0)


def begun_alike(a, n):
    """Arrays and a number that all examples begin with, and that differ between them from the first trip on."""
    e, w, s = np.ones((2, 3)), np.arange(3.0), 1.0
    for k in range(n):
        e = np.sin(e) * a
        w = w * np.sum(a) + k
        s = s * np.sum(e) + np.sum(w)
    return np.trace(e @ e.T), w, s


@pytest.mark.parametrize("n", (0, 3))
def test_loops_that_begin_with_the_same_values_for_all_examples(n):
    a = np.linspace(-1.0, 1.0, 18).reshape(3, 2, 3)
    for found, wanted in zip(vmap(begun_alike, (0, None))(a, n), zip(*[begun_alike(x, n) for x in a])):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_trees_of_axes():
    agrees(vmap(lambda d, x: d["a"] * x + d["b"], ({"a": 0, "b": None}, 0))({"a": V, "b": 2.0}, V), V * V + 2)
    agrees(vmap(lambda t, x: t[0] * x + t[1][0], ((0, (None,)), 0))((V, (2.0,)), V), V * V + 2)
    agrees(vmap(lambda p: p.a * p.b, (Pair(0, None),))(Pair(V, 2.0)), V * 2)
    agrees(vmap(lambda t: t[0] * t[1], ([0, None],))([V, 2.0]), V * 2)
    agrees(vmap(lambda x: x.sum(), -1)(M), M.sum(axis=0))
    found = vmap(lambda x: {"u": x * 2, "v": [x.sum()]}, out_axes={"u": 1, "v": 0})(M)
    agrees((found["u"], found["v"][0]), ((M * 2).T, M.sum(axis=1)))
    made = vmap(lambda x: Pair(x, x + 1), out_axes=(-1, 0))(M)
    assert type(made) is Pair
    agrees(tuple(made), (M.T, M + 1))
    agrees(vmap(lambda t, x: x, (0, 0))(None, V), V)
    result, none = vmap(lambda x: (x, None))(M)
    assert none is None
    agrees(result, M)


def test_results_without_an_axis():
    found, shared = vmap(lambda x, w: (x * 2, w), (0, None), (0, None))(M, 3.0)
    agrees(found, M * 2)
    assert shared == 3.0
    with pytest.raises(ValueError, match="out_axes None for a result that differs between examples"):
        vmap(lambda x: x.sum(), 0, None)(M)


def test_size_and_names():
    agrees(vmap(lambda x: x * 2, axis_size=4, axis_name="i")(M), M * 2)
    agrees(vmap(lambda x: x * 2, None, axis_size=3)(2.0), np.full(3, 4.0))
    agrees(pmap(lambda x: x * 2, axis_size=4)(M), M * 2)
    agrees(vmap(lambda x, s: x * s, (1,))(M, s=np.arange(3.0)), M.T * np.arange(3.0)[:, None])
    agrees(njit(lambda m: vmap(lambda x: x * 2, axis_size=4)(m))(M), M * 2)


@pytest.mark.parametrize("call, error, message", [
    (lambda: vmap(lambda x: x, axis_size=5)(M), ValueError, "axis_size 5, and 4 examples along axis 0 of x"),
    (lambda: vmap(lambda x: x, axis_size="5"), TypeError, "axis_size is a length"),
    (lambda: vmap(lambda x, y: x)(M, np.ones(5)), ValueError,
     "4 examples along axis 0 of x, and 5 along axis 0 of y"),
    (lambda: vmap(lambda t: t[0])((M, np.ones(3))), ValueError, r"4 .* of t\[0\], and 3 along axis 0 of t\[1\]"),
    (lambda: vmap(lambda x, y: x)(M, np.array(2.0)), ValueError, "in_axes 0 for y, a 0-dimensional array"),
    (lambda: vmap(lambda x: x, 2)(M), ValueError, "in_axes 2 for x, a 2-dimensional array"),
    (lambda: vmap(lambda x: x, "a"), TypeError, "in_axes is an int, None, or a tuple, list or dict of these"),
    (lambda: vmap(lambda x: x, (0.5,)), TypeError, "not 0.5"),
    (lambda: vmap(lambda x: x, {"x": 0}), TypeError, "not a dict"),
    (lambda: vmap(lambda x: x, 0, "a"), TypeError, "out_axes is an int, None"),
    (lambda: vmap(lambda x: x, ((None, None),)), ValueError, "in_axes is None for all"),
    (lambda: vmap(lambda t: t[0], ((0, 0, 0),))((M, M)), ValueError, r"in_axes\[0\] does not have the structure"),
    (lambda: vmap(lambda x: (x, x), 0, (0, 0, 0))(M), ValueError, "out_axes does not have the structure"),
    (lambda: vmap(lambda x: x, 0, 5)(M), ValueError, "axis 5 is out of bounds"),
    (lambda: vmap(lambda x: x)(np.ones((0, 3))), ValueError, "empty batch"),
    (lambda: vmap(3), TypeError, "vmap takes a function"),
    (lambda: njit(lambda d: vmap(lambda x: x["a"])(d))({"a": M, "b": M}), TypeError,
     "takes the arrays out of x, a list or dict, where compiled code writes it out in the call"),
    (lambda: vmap(lambda x, more: more.append(x.sum()), (0, None))(M, [1.0]), TypingError,
     "a list among the arguments of a function that is differentiated or batched is not changed there"),
])
def test_wrong_axes(call, error, message):
    with pytest.raises(error, match=message):
        call()
