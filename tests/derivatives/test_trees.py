"""Arguments that are trees: tuples, named tuples, lists, dicts and dataclasses; and the utilities for trees."""
import dataclasses
import pickle
import typing
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import pyjitc
from pyjitc import TypingError, grad, jacrev, jit, jvp, njit, value_and_grad, vjp, vmap
from tests.derivatives.differences import agree

X = np.array([0.3, 0.5, 1.2])
W = np.linspace(-0.3, 0.5, 9).reshape(3, 3)
B = np.array([0.1, 0.2, 0.3])
Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    w: object
    b: object

    def at(self, x):
        return np.tanh(x @ self.w + self.b)


def of_pairs(params, x):
    for w, b in params[:-1]:
        x = x * w + b
    w, b = params[-1]
    return np.sum(np.tanh(x @ w + b))


def of_dict(p, x):
    return np.sum(np.tanh(p["w"] * x)) + p["b"] * p["n"]


def flat(w1, b1, w2, b2, x):
    x = (x * w1 + b1) * w1 + b1
    return np.sum(np.tanh(x @ w2 + b2))


def test_lists_of_pairs_as_a_network_has():
    layers = [(B, X), (B, X), (W + 0.1, B)]
    expected = grad(flat, (0, 1, 2, 3))(B, X, W + 0.1, B, X)
    value, found = value_and_grad(of_pairs)(layers, X)
    assert type(found) is list and [type(pair) for pair in found] == [tuple] * 3
    assert value == njit(flat)(B, X, W + 0.1, B, X)
    np.testing.assert_allclose(found[0][0] + found[1][0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1] + found[1][1], expected[1], rtol=1e-12)
    np.testing.assert_allclose(found[2][0], expected[2], rtol=1e-12)
    np.testing.assert_allclose(found[2][1], expected[3], rtol=1e-12)
    along = [(w * 0.5, b * 2.0) for w, b in layers]
    change = jvp(lambda p: of_pairs(p, X), (layers,), (along,))[1]
    np.testing.assert_allclose(change, sum(np.sum(g * t) for gs, ts in zip(found, along) for g, t in zip(gs, ts)))
    for _ in range(3):  # gradient descent
        value, gradient = value_and_grad(of_pairs)(layers, X)
        layers = pyjitc.tree.map(lambda p, g: p - 0.05 * g, layers, gradient)
    assert of_pairs(layers, X) < value


def test_dicts():
    given = {"w": X, "b": 2.0, "n": 3}
    found = grad(of_dict)(given, X)
    assert list(found) == ["w", "b", "n"] and found["b"] == 3.0 and found["n"] is None
    np.testing.assert_allclose(found["w"], X / np.cosh(X * X) ** 2)
    _, pullback = vjp(of_dict, given, X)
    again, _ = pullback(2.0)
    np.testing.assert_allclose(again["w"], 2.0 * found["w"])
    with pytest.raises(TypeError, match="must have texts as keys"):
        grad(lambda p: p[0])({0: 1.0})


def test_dataclasses_and_named_tuples():
    def f(p, x):
        return np.sum(p.at(x)) * 2.0

    found = grad(f)(Layer(W, B), X)
    expected = grad(lambda w, b: np.sum(np.tanh(X @ w + b)) * 2.0, (0, 1))(W, B)
    assert type(found) is Layer
    np.testing.assert_allclose(found.w, expected[0])
    np.testing.assert_allclose(found.b, expected[1])
    assert grad(lambda p: p.x * p.y)(Point(2.0, 3.0)) == Point(3.0, 2.0)
    deep = grad(lambda p: np.sum(p["a"].w * p["c"][0].x))({"a": Layer(X, 1.0), "c": [Point(X, 2.0)]})
    assert type(deep["a"]) is Layer and type(deep["c"]) is list and type(deep["c"][0]) is Point
    np.testing.assert_array_equal(deep["a"].w, X)


def test_lists_in_compiled_code():
    def f(pairs):
        return np.sum(pairs[0][0] * pairs[0][1] * pairs[1][0])

    @njit
    def use(x):
        found = grad(f)([(x, x * 2.0), (x, x)])
        return found[0][0] + found[1][0]

    np.testing.assert_allclose(use(X), 4.0 * X * X)


def test_training_under_jit_and_loops_over_layers():
    """Under jit the interpreter calls the compiled gradient, for the trees that it is given."""
    def loss(p, x):
        for layer in p["layers"]:
            x = np.tanh(x @ layer["w"] + layer["b"])
        return np.sum(x) * p["scale"]

    @pyjitc.jit
    def step(p, x):
        value, gradient = value_and_grad(loss)(p, x)
        return pyjitc.tree.map(lambda p, g: p - 0.1 * g, p, gradient), value

    given = {"layers": [{"w": W, "b": B}, {"w": W + 0.2, "b": X}], "scale": 2.0}
    found, value = step(given, X)
    assert value == pytest.approx(loss(given, X))
    gradient = value_and_grad(loss)(given, X)[1]
    np.testing.assert_array_equal(found["layers"][1]["w"], given["layers"][1]["w"] - 0.1 * gradient["layers"][1]["w"])
    along = {"layers": [{"w": 0 * W, "b": B}, {"w": W, "b": 0 * X}], "scale": 0.0}
    change = jvp(lambda p: loss(p, X), (given,), (along,))[1]
    assert change == pytest.approx(np.sum(gradient["layers"][0]["b"] * B) + np.sum(gradient["layers"][1]["w"] * W))


def test_checkpoint_of_trees():
    again = pyjitc.checkpoint(of_pairs)
    layers = [(B, X), (W, B)]
    for found, expected in zip(grad(lambda p, x: again(p, x) ** 2)(layers, X),
                               grad(lambda p, x: of_pairs(p, x) ** 2)(layers, X), strict=True):
        np.testing.assert_allclose(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1])


def test_jacobians_by_trees():
    """Each leaf of the result's structure is a tree with the structure of the argument, as in JAX."""
    def f(p, x):
        return p["w"] * x, p["c"][0] * np.sum(p["w"])

    given = {"w": X, "c": (2.0, 3)}
    for made in (pyjitc.jacfwd(f)(given, B), pyjitc.jacrev(f)(given, B)):
        (by_w, (by_c, none)), second = (tuple(made[0].values()), made[1])
        np.testing.assert_allclose(by_w, np.diag(B))
        np.testing.assert_array_equal(by_c, np.zeros(3))
        assert none is None and type(second["c"]) is tuple and second["c"][0] == pytest.approx(X.sum())
        np.testing.assert_allclose(second["w"], [2.0, 2.0, 2.0])
    found = pyjitc.hessian(lambda p: np.sum(p["w"] ** 2 * p["b"]))({"w": X, "b": 3.0})
    np.testing.assert_allclose(found["w"]["w"], 6.0 * np.eye(3))
    np.testing.assert_allclose(found["b"]["w"], 2.0 * X)
    np.testing.assert_allclose(found["w"]["b"], 2.0 * X)
    assert found["b"]["b"] == 0.0


@pytest.mark.parametrize("made", [pyjitc.jacfwd, jacrev])
def test_jacobians_by_several_arguments(made):
    """The derivatives by the arguments form a tuple at each leaf of the result, as in JAX."""
    def f(p, x):
        return {"y": p["w"] * x, "z": [p["c"] * np.sum(x), 3]}

    def check(found):
        (by_w, by_c), by_x = found["y"][0].values(), found["y"][1]
        np.testing.assert_allclose(by_w, np.diag(B))
        np.testing.assert_array_equal(by_c, np.zeros(3))
        np.testing.assert_allclose(by_x, np.diag(X))
        (by_p, by_x), none = found["z"]
        assert by_p["c"] == pytest.approx(B.sum()) and not np.any(by_p["w"]) and np.array_equal(by_x, np.full(3, 2.0))
        assert none == ({"w": None, "c": None}, None)

    check(made(f, (0, 1))({"w": X, "c": 2.0}, B))
    check(njit(lambda w, x: made(f, (0, 1))({"w": w, "c": 2.0}, x))(X, B))
    found, aux = made(lambda x, p: (f(p, x), [x[0], [p["c"]]]), (1, 0), has_aux=True)(B, {"w": X, "c": 2.0})
    check(found)
    assert aux == [0.1, [2.0]]


def test_lists_of_a_derivative_that_compiled_code_returns():
    """They are new, so they need not be objects of Python before: also when they are unpacked."""
    def product(p, x):
        return p[0] * p[1][0] * np.sum(x)

    def result(b, x):
        return [b * 2.0, [x * b]]

    @njit
    def of_gradients(b, x):
        value, found = value_and_grad(product)([b, [3.0]], x)
        return value, found, grad(product)([b, [3.0]], x)[1]

    value, found, part = of_gradients(2.0, X)
    assert found == [pytest.approx(3.0 * X.sum()), [pytest.approx(2.0 * X.sum())]] and part == found[1]
    assert value == pytest.approx(6.0 * X.sum())

    def shared(b):
        one = [b]
        return [one, one]

    found = njit(pyjitc.checkpoint(shared))(2.0)  # this is what the function of the program returns
    assert found == [[2.0], [2.0]] and found[0] is found[1]
    (by_b, by_x), [(of_b, of_x)] = njit(lambda b, x: jacrev(result, (0, 1))(b, x))(2.0, X)
    assert by_b == 2.0 and not np.any(by_x) and np.array_equal(of_b, X) and np.array_equal(of_x, 2.0 * np.eye(3))


def test_batches_of_trees():
    many = {"w": np.stack((X, 2 * X)), "b": 2.0, "n": 3}
    found = vmap(lambda p, x: p["w"] * x, ({"b": None, "w": 0, "n": None}, None))(many, X)
    np.testing.assert_allclose(found, [X * X, 2 * X * X])
    with pytest.raises(ValueError, match="in_axes has a dict of b, w, which is not the structure of the argument"):
        vmap(lambda p: p["w"], ({"w": 0, "b": None},))(many)


def test_the_number_of_the_item_may_be_known_late():
    def f(t, n):
        s = 1.0
        for i in range(n):
            s += t[i % 3] * s
        return s

    assert grad(f)((1.0, 2.0, 3.0), 5) == (144.0, 96.0, 36.0)
    assert jvp(f, ((1.0, 2.0, 3.0), 5), ((1.0, 0.0, 0.0), None)) == (144.0, 144.0)


def test_utilities():
    tree = {"b": [1, (2, None)], "a": Layer(Point(3, 4), 5)}
    leaves, structure = pyjitc.tree.flatten(tree)
    assert leaves == [3, 4, 5, 1, 2] == pyjitc.tree.leaves(tree)  # keys in order
    assert structure.num_leaves == 5 and structure == pyjitc.tree.structure(tree)
    assert repr(structure) == "Structure({'a': Layer(w=Point(x=*, y=*), b=*), 'b': [*, (*, None)]})"
    assert pyjitc.tree.unflatten(structure, leaves) == tree
    assert pyjitc.tree.map(lambda x, y: x * 10 + y, tree, tree) == {
        "b": [11, (22, None)], "a": Layer(Point(33, 44), 55)}
    with pytest.raises(ValueError, match="different structures"):
        pyjitc.tree.map(max, [1, 2], (1, 2))
    with pytest.raises(ValueError, match="a tree of 5 leaves cannot be made of 2"):
        pyjitc.tree.unflatten(structure, [1, 2])


def listed(x):
    return [x * x, (np.sum(x), [2.0 * x[0]])]


def test_results_that_are_lists():
    change = [2 * X * X, (np.sum(X), [2.0 * X[0]])]
    for made in (jvp(listed, (X,), (X,)), of_lists(X)):
        for found, expected in zip(made, (listed(X), change)):
            assert type(found) is list and type(found[1]) is tuple and type(found[1][1]) is list
            np.testing.assert_allclose(np.hstack(found[0]), expected[0])
            assert found[1][0] == pytest.approx(expected[1][0]) and found[1][1] == pytest.approx(expected[1][1])
    _, pullback = vjp(listed, X)
    np.testing.assert_allclose(pullback([X, (1.0, [1.0])])[0], 2 * X * X + 1.0 + [2.0, 0.0, 0.0])
    value, pullback, aux = vjp(lambda p, n: ([p["w"] * n], {"n": n}), {"w": X}, 3, has_aux=True)
    assert type(value) is list and aux == {"n": 3}
    found = pullback([X])
    np.testing.assert_allclose(found[0]["w"], 3 * X)
    assert found[1] is None
    found = pyjitc.jacrev(lambda x: [x * x, np.sum(x)])(X)
    np.testing.assert_allclose(found[0], np.diag(2 * X))
    np.testing.assert_allclose(pyjitc.jacfwd(lambda x: [x * x, np.sum(x)])(X)[1], np.ones(3))


@njit
def of_lists(x):
    return jvp(listed, (x,), (x,))


def of_dicts(x):
    return {"a": x * 2.0, "b": (np.sum(x), [x])}


def test_results_that_are_dicts():
    value, change = jvp(of_dicts, (X,), (B,))
    np.testing.assert_array_equal(value["a"], 2.0 * X)
    np.testing.assert_array_equal(change["b"][1][0], B)
    assert type(change) is dict and change["b"][0] == pytest.approx(B.sum())
    found, aux = vmap(value_and_grad(lambda x: (x * x, of_dicts(x)), has_aux=True))(X)[0]
    np.testing.assert_array_equal(aux["b"][1][0], X)


def test_dicts_that_are_changed_by_any_key_are_refused():
    def changed(x):
        found = {"a": x}
        found["b"] = x * 2.0
        return found

    def f(x):
        found = {}
        for key in ("a", "b"):
            found[key] = x * 2.0
        return found

    value, change = jvp(changed, (X,), (B,))
    np.testing.assert_array_equal(value["b"], X * 2)
    np.testing.assert_array_equal(change["b"], B * 2)
    with pytest.raises(pyjitc.TypingError, match="returns a dict that is an object of Python"):
        jvp(f, (X,), (X,))


def of_two(x):
    return x[0] ** 3 * x[1] ** 2


def of_nested(x):
    return x[0][0] ** 2 * x[1][0] + x[0][1] ** 3


def with_lists(x):
    y = x[0] * x[1]
    return y, [y, [y, 2.0]]


def test_second_derivatives_by_lists():
    second = [[24.0, 12.0], [12.0, 2.0]]
    for made in (pyjitc.hessian(of_two), pyjitc.jacfwd(pyjitc.jacfwd(of_two)), pyjitc.jacrev(grad(of_two))):
        found = made([1.0, 2.0])
        assert found == second and [type(row) for row in found] == [list, list] and found[0] is not found[1]
    third = [[[24.0, 24.0], [24.0, 6.0]], [[24.0, 6.0], [6.0, 0.0]]]
    assert pyjitc.jacfwd(pyjitc.hessian(of_two))([1.0, 2.0]) == third
    arrays = pyjitc.hessian(lambda p: np.sum(p[0] * p[1]))([np.ones(2), np.arange(2.0)])
    assert np.array_equal(arrays[0][1], np.eye(2)) and not np.any(arrays[0][0])
    assert pyjitc.hessian(lambda d: d["a"][0] * d["a"][1] + d["b"] ** 2)({"a": [1.0, 2.0], "b": 3.0}) == {
        "a": [{"a": [0.0, 1.0], "b": 0.0}, {"a": [1.0, 0.0], "b": 0.0}], "b": {"a": [0.0, 0.0], "b": 2.0}}


@pytest.mark.parametrize("name", ("jacfwd", "jacrev"))
def test_jacobians_of_nested_results(name):
    made = getattr(pyjitc, name)
    assert made(lambda x: [x[0] * x[1], x[1] ** 2])([2.0, 3.0]) == [[3.0, 2.0], [0.0, 6.0]]

    def nested(x):
        return x[0] ** 2, [x[1], {"a": x[0] * x[1], "n": 3}], Point(x, 2)

    assert made(nested)((2.0, 3.0)) == (
        (4.0, 0.0), [(0.0, 1.0), {"a": (3.0, 2.0), "n": (None, None)}], Point(((1.0, 0.0), (0.0, 1.0)), (None, None)))
    of_array = made(nested)(np.array([2.0, 3.0]))
    assert of_array[1][1]["n"] is None and np.array_equal(of_array[1][1]["a"], [3.0, 2.0])
    assert np.array_equal(of_array[2].x, np.eye(2))


def test_gradients_by_nested_lists():
    nested = [[2.0, 3.0], [1.0]]
    assert grad(of_nested)(nested) == [[4.0, 27.0], [4.0]]
    assert value_and_grad(of_nested)(nested) == (31.0, [[4.0, 27.0], [4.0]])
    assert pyjitc.hessian(of_nested)(nested)[1] == [[[4.0, 0.0], [0.0]]]
    assert grad(lambda a, b: a[0][0] * b[1][0] * a[1][0], (0, 1))([[2.0], [3.0]], [[4.0], [5.0]]) == (
        [[15.0], [10.0]], [[0.0], [6.0]])
    assert grad(with_lists, has_aux=True)([2.0, 3.0]) == ([3.0, 2.0], [6.0, [6.0, 2.0]])
    for made in (pyjitc.jacfwd, pyjitc.jacrev):
        assert made(with_lists, has_aux=True)([2.0, 3.0]) == ([3.0, 2.0], [6.0, [6.0, 2.0]])
    assert pyjitc.hessian(with_lists, has_aux=True)([2.0, 3.0]) == ([[0.0, 1.0], [1.0, 0.0]], [6.0, [6.0, 2.0]])


def test_a_gradient_that_must_be_an_object_is_refused():
    @njit
    def twice(a, b):
        found = grad(of_two)([a, b])
        return [found, found]

    with pytest.raises(pyjitc.TypingError, match=r"of_two\(\) by argument 0 is asked for, which is an object of Pyth"):
        twice(1.0, 2.0)


def length_times(p, x):
    return len(p) * x


def test_code_for_one_structure_is_not_taken_for_another():
    made = value_and_grad(length_times, (0, 1))
    assert made({"a": 1.0}, 2.0) == (2.0, ({"a": 0.0}, 1.0))
    assert made([1.0], 2.0) == (2.0, ([0.0], 1.0))
    assert made({"b": 1.0}, 2.0) == (2.0, ({"b": 0.0}, 1.0))
    assert made((1.0,), 2.0) == (2.0, ((0.0,), 1.0))
    assert made([[1.0]], 2.0) == (2.0, ([[0.0]], 1.0))


def of_b_and_a(p):
    return p["b"] * 10.0 + p["a"] ** 3


def test_keys_of_tangents_are_in_any_order():
    p = {"b": 1.0, "a": 2.0}
    for along in ({"a": 1.0, "b": 0.0}, {"b": 0.0, "a": 1.0}):
        assert jvp(of_b_and_a, (p,), (along,)) == (18.0, 12.0)
        assert pyjitc.linearize(of_b_and_a, p)[1](along) == 12.0
        assert pyjitc.hvp(of_b_and_a, (p,), (along,)) == {"b": 0.0, "a": 12.0}
        assert vjp(lambda p: {"b": p["b"] * 10, "a": p["a"]}, p)[1](along) == ({"b": 0.0, "a": 1.0},)
        assert vjp(lambda p: ([p["a"]], {"b": p["b"]}), p)[1](([2.0], {"b": 3.0})) == ({"b": 3.0, "a": 2.0},)
    with pytest.raises(ValueError, match="is a dict of a, c, and belongs to a dict of b, a"):
        jvp(of_b_and_a, (p,), ({"a": 1.0, "c": 0.0},))
    assert list(vjp(of_b_and_a, p)[1](1.0)[0]) == ["b", "a"]
    pyjitc.check_grads(of_b_and_a, (p,), order=2)

    @njit
    def within(a, b):
        return jvp(of_b_and_a, ({"b": a, "a": b},), ({"a": 1.0, "b": 0.0},))[1]

    assert within(1.0, 2.0) == 12.0


def over_keys(p):
    s = 0.0
    for k in p:
        s = s + np.sum(p[k] ** 3)
    return s


def over_items(p):
    s = 0.0
    for k, x in p.items():
        s = s * len(k) + np.sum(x ** 3)
    return s


def reads(p):
    return np.sum(p.get("w") ** 3) + np.sum(p.get("b", 0.0) ** 3) + p.get("c", 0.0) * len(p.keys()) * ("w" in p.keys())


@pytest.mark.parametrize("function", (
    over_keys, over_items, reads, lambda p: sum(np.sum(x ** 3) for x in p.values()),
    lambda p: sum(np.sum(x ** 3) for k, x in p.items()), lambda p: sum([np.sum(x ** 3) for x in p.values()]),
    lambda p: sum(np.sum(x ** 3) for x in pyjitc.tree.leaves(p)),
    lambda p: np.sum(pyjitc.tree.map(lambda x: x ** 3, p)["w"]) + np.sum(p["b"] ** 3),
    lambda p: sum(np.sum(x) for x in pyjitc.tree.leaves(pyjitc.tree.map(lambda x, y: x * y * y, p, p)))))
def test_all_items_of_a_dict(function):
    for p in ({"w": W, "b": B}, {"w": 2.0, "b": 3.0}):
        value, found = value_and_grad(function)(p)
        np.testing.assert_allclose(value, function(p), rtol=1e-13)
        assert list(found) == ["w", "b"]
        for name in p:
            np.testing.assert_allclose(found[name], 3 * p[name] ** 2, rtol=1e-13)


def over(p):
    s = 0.0
    for n, x in enumerate(p):
        s = s + np.sum(x ** 2) * (n + 1)
    return s


def through(p, x):
    for layer in p:
        x = np.tanh(x @ layer[0] + layer[1])
    return np.sum(x)


def by_number(p, n):
    return np.sum(p[n] ** 2) + np.sum(p[-1])


@pytest.mark.parametrize("made", (list, tuple))
def test_loops_over_items_of_several_types(made):
    w, b, a = grad(over)(made([W, B, 2.0]))
    assert np.array_equal(w, 2 * W) and np.array_equal(b, 4 * B) and a == 12.0
    assert jvp(over, (made([W, B, 2.0]),), (made([0 * W, B, 1.0]),))[1] == pytest.approx(4 * B @ B + 12)
    pairs = value_and_grad(lambda p, q: sum([np.sum(x * y) for x, y in zip(p, q)]))(made([W, B]), made([W, X]))
    assert pairs[0] == pytest.approx(np.sum(W * W) + B @ X) and np.array_equal(pairs[1][1], X)
    layers = made([(W, B), (W + 0.1, 0.5)])
    value, found = value_and_grad(through)(layers, X)
    assert value == pytest.approx(through(layers, X)) and type(found[1][1]) is float
    difference = (through(made([(W, B), (W + 0.1, 0.5 + 1e-6)]), X) - value) / 1e-6
    assert found[1][1] == pytest.approx(difference, rel=1e-4)
    for n in (0, 1):
        found = grad(by_number)(made([W, B]), n)
        assert np.array_equal(found[n], 2 * (W, B)[n] + (n == 1)) and not np.any(found[0]) == (n == 1)


def of_layers(p, x):
    for w, b in p:
        x = np.tanh(x * w + b)
    return np.sum(x)


def of_factors(p, x):
    for w in p:
        x = x * w
    return x


def of_values(p, x):
    s = x[0]
    for name in p:
        s = s + np.sum(p[name] * x)
    return s


X32 = X.astype(np.float32)


@pytest.mark.parametrize("function, p, x, written_out", [
    (of_layers, [(X32, X32), (X, X + 1.0)], X32,
     lambda p, x: np.sum(np.tanh(np.tanh(x * p[0][0] + p[0][1]) * p[1][0] + p[1][1]))),
    (of_factors, [np.float32(2.0), 3.0, np.float64(0.1)], np.float32(1.5), lambda p, x: x * p[0] * p[1] * p[2]),
    (of_factors, [np.float64(0.1), np.float32(2.0)], 1.5, lambda p, x: x * p[0] * p[1]),
    (of_values, {"a": X32, "b": X, "c": 3.0}, X32,
     lambda p, x: x[0] + np.sum(p["a"] * x) + np.sum(p["b"] * x) + np.sum(p["c"] * x)),
])
def test_loops_over_items_of_float32_and_float64(function, p, x, written_out):
    value, found = value_and_grad(function, (0, 1))(p, x)
    expected_value, expected = value_and_grad(written_out, (0, 1))(p, x)
    same(found, expected)
    assert value == expected_value and type(function(p, x)) is np.float64
    value, change = jvp(function, (p, x), (p, x))
    assert value == expected_value and type(value) is np.float64
    np.testing.assert_allclose(change, jvp(written_out, (p, x), (p, x))[1], rtol=1e-7)


def same(x, y):
    assert type(x) is type(y)
    if type(x) in (tuple, list):
        assert len(x) == len(y)
        [same(*pair) for pair in zip(x, y)]
    elif type(x) is dict:
        same(list(x.items()), list(y.items()))
    elif type(x) is str:
        assert x == y
    else:
        assert x.dtype == y.dtype if type(x) is np.ndarray else True
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_trees_in_compiled_code():
    def adapted(p, x, y):
        inner = grad(lambda q: np.mean((np.tanh(x @ q["w"]) + q["b"] - y) ** 2))(p)
        q = pyjitc.tree.map(lambda u, v: u - 0.1 * v, p, inner)
        return np.mean((np.tanh(x @ q["w"]) + q["b"] - y) ** 2)

    found = grad(adapted)({"w": W, "b": B}, np.eye(3), X)
    for n in range(3):
        ends = []
        for sign in (1, -1):
            b = B.copy()
            b[n] += sign * 1e-6
            ends.append(njit(lambda w, b, x, y: adapted({"w": w, "b": b}, x, y))(W, b, np.eye(3), X))
        assert found["b"][n] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)

    @njit
    def one(x):
        return grad(of_b_and_a)({"b": x, "a": x})["a"]

    assert one(2.0) == 12.0
    with pytest.raises(pyjitc.TypingError, match="tree.map of trees of different structures"):
        grad(lambda p, q: np.sum(pyjitc.tree.map(lambda x, y: x * y, p, q)[0]))([X, B], (X, B))
    with pytest.raises(pyjitc.TypingError, match="dict.pop is not compiled yet"):
        grad(lambda p: p.pop("w"))({"w": 1.0})
    with pytest.raises(pyjitc.TypingError, match="`|` with the keys or items of a dict is not compiled yet"):
        grad(lambda p: p["w"] * len(p.keys() | {"a"}))({"w": 1.0})
    with pytest.raises(KeyError, match="b"):
        grad(lambda p, k: p[k])({"w": 1.0}, "b")


def test_classes_of_results():
    def of_point(p):
        return p.x * p.y

    p = Point(X, 2.0)
    for made in (pyjitc.jacfwd, pyjitc.jacrev):
        found = made(of_point)(p)
        assert type(found) is Point and np.array_equal(found.x, 2 * np.eye(3)) and np.array_equal(found.y, X)
        found = made(lambda x: Point(x[0], x * 2.0))(X)
        assert type(found) is Point and np.array_equal(found.x, [1.0, 0.0, 0.0])


def test_second_derivatives_by_several_arguments():
    def f(a, w):
        return np.sum(w ** 3) * w[0] * a

    w = np.array([1.0, 2.0])
    (aa, aw), (wa, ww) = pyjitc.hessian(f, (0, 1))(2.0, w)
    assert aa == 0.0 and np.array_equal(aw, [12.0, 12.0]) and np.array_equal(wa, aw)
    assert np.array_equal(ww, np.full((2, 2), 24.0))
    assert np.array_equal(pyjitc.hessian(f, argnames=("w",))(2.0, w)[0][0], ww)
    (_, by_both), _ = pyjitc.hessian(lambda m, w: f(np.sum(m), w), (0, 1))(np.ones((1, 3)), w)
    assert by_both.shape == (1, 3, 2) and np.array_equal(by_both[0, 1], aw)  # the axes of the first argument first
    assert pyjitc.hessian(lambda a, w: (f(a, w), a), (0,), has_aux=True)(2.0, w) == (((0.0,),), 2.0)


def test_errors_name_the_function_of_the_program():
    def loss(p, x):
        return p[0] * x if x > 0 else "a"

    with pytest.raises(TypeError, match=r"loss\(\) returns values of several types"):
        grad(loss)([2.0], 1.0)

    @njit
    def use(x):
        def pair(p):
            return p[0] * p[1], 1

        return grad(pair)([x, x])

    with pytest.raises(TypeError, match=r"pair\(\) returns 'tuple'"):
        use(2.0)


def loss_of_two(p):
    return np.sum(p["w"] ** 2) + np.sum(p["b"] ** 2)


def trained(p, n):
    for _ in range(n):
        gradient = grad(loss_of_two)(p)
        p = {"w": p["w"] - 0.1 * gradient["w"], "b": p["b"] - 0.1 * gradient["b"]}
    return loss_of_two(p)


def trained_by_map(w, n):
    p = {"b": 2.0 * w, "w": w}
    for _ in range(n):
        p = pyjitc.tree.map(lambda x, g: x - 0.1 * g, p, grad(loss_of_two)(p))
    return loss_of_two(p)


def test_a_dict_that_a_loop_replaces_beside_a_gradient():
    w = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(njit(trained_by_map)(w, 3), 5 * np.sum(w ** 2) * 0.8 ** 6, rtol=1e-14)
    np.testing.assert_allclose(grad(trained_by_map)(w, 3), 10 * w * 0.8 ** 6, rtol=1e-14)
    found = grad(trained)({"w": w, "b": w + 1.0}, 3)
    np.testing.assert_allclose(found["b"], 2 * (w + 1.0) * 0.8 ** 6, rtol=1e-14)


def test_a_dict_whose_keys_change_places_in_a_loop():
    def in_another_order(w, n):
        p = {"w": w, "b": w}
        for _ in range(n):
            p = pyjitc.tree.map(lambda x, g: x - 0.1 * g, p, grad(loss_of_two)(p))
            loss, g = value_and_grad(loss_of_two)(p)
            p = pyjitc.tree.map(lambda x, g: x - 0.1 * loss * g, p, g)
            loss, change = jvp(loss_of_two, (p,), (g,))
            p = pyjitc.tree.map(lambda x: x * change - loss, p)
        return loss_of_two(p)

    w = np.array([0.1, -0.2, 0.3])
    agree(in_another_order, w, 2)
    assert np.isclose(njit(in_another_order)(w, 2), in_another_order(w, 2), rtol=1e-14)


def test_a_dict_whose_float_becomes_a_numpy_float():
    def loss(p, x):
        return np.mean((x @ p["w"] + p["b"] - 1.0) ** 2)

    def trained(w, b, x, n):
        p = {"w": w, "b": b}
        for _ in range(n):
            p = pyjitc.tree.map(lambda p, g: p - 0.1 * g / np.sqrt(1.0 + np.sum(g * g)), p, grad(loss)(p, x))
        return loss(p, x)

    agree(trained, np.array([0.1, -0.2, 0.3]), 0.4, np.linspace(-1.0, 1.0, 12).reshape(4, 3), 3, argnums=(0, 1))


def test_a_dict_with_other_keys_on_other_paths():
    def with_other_keys(w, n):
        p = {"w": w, "b": w}
        if n > 1:
            p = {"w": w, "b": w, "c": w}
        return grad(loss_of_two)(p)["w"]

    with pytest.raises(TypingError, match="another structure, or another order of keys, on other paths"):
        njit(with_other_keys)(np.ones(3), 2)


def test_jit_of_a_derivative_takes_trees():
    expected = grad(of_dict)({"w": W, "b": 0.5, "n": 2}, X)
    found = pyjitc.jit(grad(of_dict))({"w": W, "b": 0.5, "n": 2}, X)
    assert list(found) == ["w", "b", "n"]
    np.testing.assert_array_equal(found["w"], expected["w"])
    assert (found["b"], found["n"]) == (2.0, None)
    fast = njit(fastmath=True)(value_and_grad(of_pairs))([(B, X), (W, B)], X)[1]
    np.testing.assert_allclose(fast[1][1], grad(of_pairs)([(B, X), (W, B)], X)[1][1], rtol=1e-12)


def steps_by_map(p, x, n):
    for _ in range(n):
        p = pyjitc.tree.map(lambda a, g: a - 0.1 * g, p, grad(lambda p, x: np.sum((p["w"] @ x + p["b"]) ** 2))(p, x))
    return p


def test_jit_lets_the_interpreter_map_trees_that_are_objects():
    found = pyjitc.jit(steps_by_map)({"w": W, "b": B}, X, 3)
    expected = steps_by_map({"w": W, "b": B}, X, 3)
    np.testing.assert_allclose(found["w"], expected["w"], rtol=1e-12)
    np.testing.assert_allclose(found["b"], expected["b"], rtol=1e-12)
    either = {"a": [1, 2.5], "b": (3, 4)}  # an item is a list or a tuple
    assert pyjitc.jit(lambda d: pyjitc.tree.leaves(d["a"]))(either) == [1, 2.5]
    assert pyjitc.jit(lambda d: pyjitc.tree.map(lambda v: 2 * v, d["a"]))(either) == [2, 5.0]


def squares(p, x, y):
    return np.mean((np.tanh(x @ p["w"] + p["b"]).sum(axis=1) - y) ** 2)


def changed_by_key(w, b, x, y):
    p = {"w": w, "b": b}
    for _ in range(3):
        g = grad(squares)(p, x, y)
        for k in p:
            p[k] -= 0.1 * g[k]
    return p["w"], p["b"]


def made_again(w, b, x, y):
    p = dict(w=w, b=b)
    for _ in range(3):
        g = grad(squares)(p, x, y)
        p = {k: v - 0.1 * g[k] for k, v in p.items()}
    return p["w"], p["b"]


def by_keywords(w, b, x, y):
    p = dict(w=w, b=b)
    for _ in range(3):
        g = grad(squares)(p, x, y)
        p = dict(w=p["w"] - 0.1 * g["w"], b=p["b"] - 0.1 * g["b"])
    return p["w"], p["b"]


def with_momentum(w, b, x, y):
    p = {"w": w, "b": b}
    m = {k: np.zeros_like(v) for k, v in p.items()}
    for _ in range(3):
        _, g = value_and_grad(squares)(p, x, y)
        m = {k: 0.9 * m[k] + g[k] for k in m}
        p = {k: p[k] - 0.1 * m[k] for k in p}
    return p["w"], p["b"]


def of_layers(p, x, y):
    return squares(p["last"], np.tanh(x @ p["first"]["w"] + p["first"]["b"]), y) * p["scale"]


def nested_dicts(w, b, x, y):
    p = {"first": {"w": w, "b": b}, "last": {"w": 2 * w, "b": b + 1.0}, "scale": 0.7}
    for _ in range(3):
        g = grad(of_layers)(p, x, y)
        for name in ("first", "last"):
            for k in p[name]:
                p[name][k] = p[name][k] - 0.1 * g[name][k]
        p["scale"] -= 0.1 * g["scale"]
    return p["last"]["w"], p["first"]["b"], p["scale"]


def batch_of_changed(w, b, x, y):
    p = {"w": w, "b": b}
    for k in p:
        p[k] = p[k] * 2
    return vmap(lambda p, x: x @ p["w"] + p["b"], in_axes=(None, 0))(p, x), y


@pytest.mark.parametrize("function", [changed_by_key, made_again, by_keywords, with_momentum, nested_dicts,
                                      batch_of_changed])
def test_dicts_that_the_program_changes_are_passed_to_derivatives(function):
    x = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    given = W, B, x, np.sin(x.sum(axis=1))
    expected = function(*map(np.copy, given))
    for found, one in zip(njit(function)(*map(np.copy, given)), expected):
        np.testing.assert_allclose(found, one, rtol=1e-12)


def test_a_dict_that_got_another_key():
    def added(w, b, x, y, name):
        p = {"w": w, "b": b}
        p[name] = b
        return grad(squares)(p, x, y)["b"]

    x = np.eye(3)
    np.testing.assert_array_equal(njit(added)(W, B, x, X, "b"), grad(squares)({"w": W, "b": B}, x, X)["b"])
    with pytest.raises(TypeError, match="has other keys, or another order of keys, than where the function"):
        njit(added)(W, B, x, X, "c")


def test_dicts_that_the_program_changes_inside_lists_and_tuples():
    def product(q, x):
        return np.sum(q[0]["w"] @ x) * np.sum(q[1]["b"] * x)

    def of_list(w, b, x):
        p = {"w": w, "b": b}
        p["w"] = 2 * p["w"]
        q = [p, {"b": b}]
        return grad(product)(q, x)[0]["w"], grad(product)((p, {"b": b}), x)[1]["b"]

    found, expected = njit(of_list)(W, B, X), of_list(W, B, X)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)

    def of_unknown_keys(b, x):
        p = {}
        p["b"] = b
        return grad(lambda q: np.sum(q[0]["b"] * q[1]))((p, x))

    with pytest.raises(TypingError, match="which holds an object of Python"):  # its gradient was None
        njit(of_unknown_keys)(B, X)


def test_parameters_among_the_other_results():
    found, (same, h) = grad(lambda p, x: (np.sum(p["w"] @ x), (p, [x * p["b"], 1])), has_aux=True)({"w": W, "b": B}, X)
    np.testing.assert_array_equal(found["w"], np.broadcast_to(X, (3, 3)))
    assert list(same) == ["w", "b"] and type(h) is list and h[1] == 1
    np.testing.assert_array_equal(same["w"], W)
    np.testing.assert_array_equal(h[0], X * B)
    value, aux = value_and_grad(lambda p: (p[0] if p[0] > 0.0 else 0, p), has_aux=True)([2.0, 3.0])[0]
    assert (value, aux) == (2.0, [2.0, 3.0])


def oscillator(u, v, n):
    state = dict(u=u, v=v)
    for _ in range(n):
        state = dict(u=state["u"] + 0.1 * state["v"], v=state["v"] - 0.1 * np.sin(state["u"]))
    return np.sum(state["u"] ** 2)


def oscillator_of_tuples(u, v, n):
    for _ in range(n):
        u, v = u + 0.1 * v, v - 0.1 * np.sin(u)
    return np.sum(u ** 2)


def test_dicts_of_keywords_as_the_state_of_a_loop_and_as_results():
    for found, expected in zip(grad(oscillator, (0, 1))(X, B, 3), grad(oscillator_of_tuples, (0, 1))(X, B, 3)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    change = jvp(lambda x: dict(s=np.sum(x ** 2), c=np.cos(x)), (X,), (B,))[1]
    assert list(change) == ["s", "c"] and change["s"] == pytest.approx(2 * X @ B)
    np.testing.assert_allclose(change["c"], -np.sin(X) * B)


def one_step(p, x, y):
    g = grad(squares)(p, x, y)
    return {k: p[k] - 0.1 * g[k] for k in p}


def by_steps(w, b, x, y):
    p = {"w": w, "b": b}
    for _ in range(3):
        p = one_step(p, x, y)
    return p["w"], p["b"]


def test_a_function_that_gets_a_display_first_and_then_a_dict():
    x = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    given = W, B, x, np.sin(x.sum(axis=1))
    for found, expected in zip(njit(by_steps)(*given), made_again(*given)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@njit
def distance(p, x):
    return np.sum((p["w"] * x + p["b"]) ** 2)


def scaled(scale):
    return njit(lambda p, x: scale * np.sum((p["w"] * x + p["b"]) ** 2))


@pytest.mark.parametrize("made, b", [
    (lambda: grad(distance), 1.0), (lambda: value_and_grad(distance), 1.0), (lambda: jacrev(distance), 1.0),
    (lambda: jit(grad(distance)), 1.0), (lambda: njit(fastmath=True)(grad(distance)), 1.0),
    (lambda: grad(scaled(3.0)), 1.0), (lambda: vmap(distance, in_axes=(None, 0)), 1.0),
    (lambda: vmap(grad(distance), in_axes=({"w": None, "b": 0}, 0)), np.arange(3.0))])
def test_derivatives_and_batches_take_trees_after_pickling(made, b):
    function, p, x = made(), {"w": 2.0, "b": b}, np.arange(3.0)
    again = pickle.loads(pickle.dumps(function))
    for one in again, pickle.loads(pickle.dumps(again)):
        assert repr(one(p, x)) == repr(function(p, x))


def spread(x):
    p = {"a": x * 2.0, "b": x[1]}
    q = {**p, "b": x[2] * x[1]}
    return np.sum(q["a"]) * q["b"] + p["b"]


def united(x):
    p = {"a": x * 2.0, "b": x * 3.0}
    q = p | {"b": x * x}
    return np.sum(q["a"] * q["b"]) + p["b"][0]


def made_by_dict(x):
    p = {"a": x * 2.0, "b": x[1]}
    q = dict(p, a=x * x)
    return np.sum(q["a"]) * q["b"]


def spread_in_a_loop(x):
    state = {"place": x * 1.0, "speed": x[0]}
    for _ in range(4):
        state = {**state, "speed": state["speed"] - 0.1 * state["place"][1]}
        state = state | {"place": state["place"] + 0.1 * state["speed"]}
    return np.sum(state["place"] ** 2)


@pytest.mark.parametrize("function", [spread, united, made_by_dict, spread_in_a_loop], ids=lambda x: x.__name__)
def test_dicts_that_are_made_of_others(function):
    agree(function, np.array([0.3, -0.7, 1.1]))


def changed_under_two_names(x):
    p = {}
    p["a"] = x * 2.0
    p["b"] = x[0]
    q = p
    for i in range(3):
        q["b"] = p["b"] * 2.0 + x[i]
        p["a"] = q["a"] * 0.5
    return np.sum(p["a"]) * q["b"]


def copied_and_changed(x):
    p = dict(a=x * 2.0, b=x[0])
    q = p.copy()
    p["b"] = 5.0 * x[1]
    q |= {"c": p["b"]}
    p.update({"b": x[1] * x[2]}, a=x * x)
    return np.sum(q["a"]) * q["b"] * q["c"] + p["b"] * np.sum(p["a"])


def changed_in_branches(x):
    p = {"a": x * 2.0, "b": x[0]}
    if x[1] < 0:
        p["b"] = x[2] * 3.0
    else:
        p |= {"a": x * x}
    while np.sum(p["a"]) < 20.0:
        p["a"] = p["a"] * 2.0
        if p["b"] > 2.0:
            p.update(b=p["b"] * 0.5)
            continue
        p["b"] += 0.1
    return np.sum(p["a"]) * p["b"]


def made_in_each_trip(x):
    s = 0.0
    for i in range(3):
        p = {"a": x * 2.0, "b": x[0]}
        p["b"] = p["b"] * x[i]
        for j in range(2):
            p["b"] = p["b"] + x[j]
        s += np.sum(p["a"]) * p["b"]
    return s


def changed_until_an_exception(x):
    p = {"a": x * 2.0, "b": x[0]}
    try:
        p["b"] = x[1] * 2.0
        p["a"] = x[7] * x
        p["b"] = 100.0
    except IndexError:
        p["a"] = p["b"] * x
    return np.sum(p["a"]) * p["b"]


def written_through(x):
    p = {"a": x * 2.0, "b": x[0]}
    p["a"][1:] *= x[:-1]
    r = p["a"]
    p["a"] = r + 1.0
    r[0] = 9.0
    return np.sum(p["a"]) * p["b"] + r[0] * x[1]


@pytest.mark.parametrize("function", [
    changed_under_two_names, copied_and_changed, changed_in_branches, made_in_each_trip, changed_until_an_exception,
    written_through], ids=lambda x: x.__name__)
def test_dicts_of_several_types_that_a_function_changes(function):
    agree(function, np.array([0.3, -0.7, 1.1]))


def read_afterwards(p):
    """Changed by each method, and read by other functions and in loops when it has changed for the last time."""
    def of_both(q):
        return np.sum(q["w"]) * q["b"]

    q = dict(p)
    n = q.pop("n")
    q.update([("b", q["b"] ** 2)])
    q.setdefault("s", 2.0)
    scale = q.pop("none", 3.0)
    q["w"] = q["w"] * q.get("s", 5.0)
    del q["s"]
    total = of_both(q) * n * scale
    for key, value in sorted(q.items()):
        total = 0.5 * total + np.sum(value * value)
    for value in list(q.values()):
        total = total * np.sum(value)
    for key in ("w", "a", "b"):
        if key in q:
            total += np.sum(q[key]) * (1.5 if q.get("a") is None else 2.0)
    return total


def test_dicts_of_several_types_are_read_after_they_were_changed():
    p = {"w": X, "b": 0.7, "n": 3}
    found, step = grad(read_afterwards)(p), 1e-6
    assert found["n"] is None
    for key in "wb":
        for i in range(np.size(p[key])):
            along = np.eye(3)[i] if key == "w" else 1.0
            ends = [read_afterwards({**p, key: p[key] + sign * step * along}) for sign in (1, -1)]
            np.testing.assert_allclose(np.ravel(found[key])[i], (ends[0] - ends[1]) / (2 * step), 1e-6)


def test_pairs_that_are_not_written_out_are_refused():
    def f(x):
        found = {"a": 1.0}
        found.update(zip(["b"], [x]))
        return found["b"] * 3.0

    with pytest.raises(TypingError, match="the items of this iterator are put into a dict in a function that is "
                                          "differentiated or batched, where the keys of a dict must be known"):
        grad(f)(2.0)


def changed_by_another(x):
    def change(p):
        p["b"] = p["b"] * 3.0  # refused here, too

    p = {"a": x * 2.0, "b": x[0]}
    p["a"] = p["a"] * x
    change(p)
    return np.sum(p["a"]) * p["b"]


def test_a_dict_that_another_function_changes_is_refused():
    with pytest.raises(TypingError, match="assigning to an item of a dict is not compiled yet") as refused:
        grad(changed_by_another)(X)
    with open(__file__) as file:
        assert "refused here, too" in file.read().splitlines()[refused.value.diagnostic.line - 1]
    assert "return {**p, 'b': x} in the function, p = change(p)" in str(refused.value)


def changed_by_others(p, x):
    def halved(p):
        return {**p, "b": p["b"] * 0.5}

    for _ in range(2):
        p = halved(p)
    return np.sum(p["a"] * x) * p["b"]


def test_a_dict_that_another_function_returns_changed():
    found = grad(changed_by_others)({"a": X, "b": 2.0}, X)
    np.testing.assert_allclose(found["a"], X * 0.5)
    assert found["b"] == pytest.approx(0.25 * np.sum(X * X))


def with_keys_of_another(p):
    for _ in range(2):
        p = {key: p[key] * 0.5 for key in p}  # refused here
    return np.sum(p["w"]) * np.sum(p["b"])


def test_a_dict_with_the_keys_of_another_is_refused_where_it_is_made():
    with pytest.raises(pyjitc.UnsupportedError, match="this dict is an object of Python, since the keys") as refused:
        grad(with_keys_of_another)({"w": W, "b": X})
    with open(__file__) as file:
        assert "refused here" in file.read().splitlines()[refused.value.diagnostic.line - 1]


def changed_while_iterated(x):
    p = {"a": x * 2.0, "b": x[0]}  # refused here
    total = 0.0
    for value in p.values():
        p["b"] = p["b"] * 3.0
        total += np.sum(value)
    return total


def other_function(x):
    def change(p):
        p["b"] = p["b"] * 3.0
        return p

    p = {"a": x * 2.0, "b": x[0]}  # refused here
    q = change(p)
    return np.sum(p["a"]) * p["b"] + q["b"]


def other_tuple(x):
    p = {"a": x * 2.0, "b": x[0]}  # refused here
    t = (p, x)
    p["b"] = x[2]
    return np.sum(t[0]["a"]) * t[0]["b"]


def any_key(x):
    p = {"a": x * 2.0, "b": x[0]}  # refused here
    for key in p:
        p[key] = p[key] * 0.5
    return np.sum(p["a"]) * p["b"]


def test_a_dict_that_changes_while_its_values_are_read_is_refused():
    with pytest.raises(pyjitc.UnsupportedError, match="what varies is put into a dict here") as refused:
        grad(changed_while_iterated)(X)
    with open(__file__) as file:
        assert "refused here" in file.read().splitlines()[refused.value.diagnostic.line - 1]


@pytest.mark.parametrize("function", [other_function, other_tuple, any_key], ids=lambda x: x.__name__)
def test_other_dicts_of_several_types_are_refused_where_they_are_made(function):
    with pytest.raises(TypingError, match="this dict holds values of several types, 'numpy.float64 | numpy.ndarray'"
                       ) as refused:
        grad(function)(X)
    with open(__file__) as file:
        assert "refused here" in file.read().splitlines()[refused.value.diagnostic.line - 1]


def test_arguments_that_are_spread_into_other_dicts():
    def f(p, x):
        q = {**p, "b": p["b"] * x}
        r = p | {"b": q["b"] * x}
        return np.sum(q["w"] @ r["b"])

    w, x = np.arange(4.0).reshape(2, 2), np.array([2.0, 3.0])
    found = pyjitc.grad(f)({"w": w, "b": x}, x)
    np.testing.assert_allclose(found["w"], np.outer(np.ones(2), x ** 3))
    np.testing.assert_allclose(found["b"], np.sum(w, axis=0) * x ** 2)


def test_a_batch_in_a_gradient_keeps_tuples_of_arrays():
    """In each trip of the loop over the examples the layers are items of a list of tuples."""
    def loss(layers, xs):
        def end(x):
            for _ in range(3):
                (a, b), (c, d) = layers
                x = x + 0.1 * (np.tanh(x @ a + b) @ c + d)
            return x
        return np.mean(pyjitc.vmap(end)(xs) ** 2)

    random = np.random.default_rng(0)
    layers = [(random.normal(size=(3, 4)), random.normal(size=4)), (random.normal(size=(4, 3)), random.normal(size=3))]
    xs = random.normal(size=(4, 3))
    found = pyjitc.grad(loss)(layers, xs)
    for i in range(2):
        for j in range(2):
            up, down = ([[y + h * ((m, n) == (i, j)) for n, y in enumerate(layer)] for m, layer in enumerate(layers)]
                        for h in (1e-6, -1e-6))
            at = [np.mean(np.stack([_end(layers, x) for x in xs]) ** 2) for layers in (up, down)]
            np.testing.assert_allclose(np.sum(found[i][j]), (at[0] - at[1]) / 2e-6, 1e-5)


def _end(layers, x):
    for _ in range(3):
        (a, b), (c, d) = layers
        x = x + 0.1 * (np.tanh(x @ a + b) @ c + d)
    return x


def merged_with_a_number_of_numpy(a, x, n):
    q = {"p": a, "q": x[0]}  # a float, which becomes a numpy.float64
    for _ in range(n):
        q = {**q, "p": q["q"] * 0.8 + q["p"]}
    return q["p"] * q["q"]


def merged_in_turns(a, x, n):
    q = {"p": a, "q": x[0]}
    for k in range(n):
        q = {"q": q["p"], **q, "r": a} if k % 2 else {**q, "p": q["q"] * 0.8 + q["p"]}
    return q["p"] * q["q"]


@pytest.mark.parametrize("function", [merged_with_a_number_of_numpy, merged_in_turns])
def test_dicts_of_several_types_are_merged(function):
    agree(function, 0.7, np.array([0.3, -0.4]), 3)


# -- dataclasses with special methods


@dataclass
class Vector:
    x: float
    y: float

    def __call__(self, z):
        return self.x * z + self.y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __getitem__(self, n):
        return self.y

    def __len__(self):
        return 17


def rotated(v, n):
    for _ in range(n):
        v = dataclasses.replace(v, x=v.x - 0.1 * v.y, y=v.y + 0.1 * v.x)
    return v.x * v.y


@pytest.mark.parametrize("function", [
    lambda v: v(3.0) ** 2, lambda v: (v + v * 3.0).x * v.y, lambda v: (-v).x * v.x,
    lambda v: v.x if isinstance(v, Vector) else v.y, lambda v: rotated(v, 3)])
def test_special_methods_of_dataclasses(function):
    v, step = Vector(1.2, 0.7), 1e-6
    found = grad(function)(v)
    assert type(found) is Vector
    for name in ("x", "y"):
        ends = [function(dataclasses.replace(v, **{name: getattr(v, name) + h})) for h in (step, -step)]
        assert getattr(found, name) == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("function, what", [
    (lambda v: v[0] ** 2, "__getitem__"), (lambda v: v.x * len(v), "__len__"),
    (lambda v: v.x if v else v.y, "__len__"), (lambda v: v.x if v == Vector(1.2, 0.7) else v.y, "is compared with")])
def test_special_methods_of_dataclasses_that_are_not_called(function, what):
    with pytest.raises(TypingError, match=what):
        grad(function)(Vector(1.2, 0.7))


class Line(typing.NamedTuple):
    a: float
    b: float

    def __call__(self, x, more=0.0):
        return self.a * x + self.b + more


def test_a_named_tuple_that_is_called():
    line = Line(2.0, 1.0)
    assert njit(lambda f, x: (f(x), f(x, more=1.0), callable(f)))(line, 3.0) == (7.0, 8.0, True)
    assert grad(lambda f: f(3.0) ** 2)(line) == Line(42.0, 14.0)


@pytest.mark.parametrize("transform", [vmap, jacrev, pyjitc.jacfwd])
def test_results_that_are_dataclasses_are_refused_as_such(transform):
    with pytest.raises(TypingError, match="returns a dataclass that it made, 'Vector', which is no tree"):
        transform(lambda x: Vector(x, x * x))(X)
