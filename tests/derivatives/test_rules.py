"""Functions whose derivatives the program gives: custom_jvp, custom_vjp, checkpoint."""
import json
import math
import random
from functools import partial

from collections import namedtuple

import numpy as np
import pytest

from pyjitc import (TypingError, UnsupportedError, checkpoint, custom_jvp, custom_vjp, grad, hessian, jacfwd, jacrev,
                    jvp, njit, value_and_grad, vmap)
from pyjitc.runtime.repeatable import is_on_operands
from tests.derivatives.differences import agree

X = np.array([0.3, 0.5, 1.2])


@custom_jvp
def scaled(x, y):
    return np.sin(x) * y


@scaled.defjvp
def scaled_jvp(primals, tangents):
    x, y = primals
    x_t, y_t = tangents
    return scaled(x, y), 10.0 * np.cos(x) * x_t * y + np.sin(x) * y_t


@custom_vjp
def clipped(x, low, high):
    """x, whose cotangent is clipped."""
    return x


def clipped_forward(x, low, high):
    return x, (low, high)


def clipped_backward(kept, g):
    return np.clip(g, kept[0], kept[1]), None, None


clipped.defvjp(clipped_forward, clipped_backward)


@checkpoint
def step(x, w):
    return np.tanh(x * w) * x


def steps(one):
    def run(x, w, n):
        for i in range(n):
            x = one(x, w)
        return np.sum(x * x)

    return run


def test_a_rule_for_tangents_serves_both_modes():
    assert scaled(2.0, 3.0) == np.sin(2.0) * 3.0
    found = grad(scaled, (0, 1))(2.0, 3.0)
    assert found == pytest.approx((30.0 * math.cos(2.0), math.sin(2.0)))
    assert jvp(scaled, (2.0, 3.0), (1.0, 0.5))[1] == pytest.approx(30.0 * math.cos(2.0) + 0.5 * math.sin(2.0))
    np.testing.assert_allclose(grad(lambda x: np.sum(scaled(x, X)))(X), 10.0 * np.cos(X) * X)


def test_in_loops_and_compiled_code():
    def loop(x):
        s = 0.0
        for i in range(4):
            x = scaled(x, 0.5) + i
            s += x * x
        return s

    found, change = grad(loop)(1.2), jvp(loop, (1.2,), (1.0,))[1]
    assert found == pytest.approx(change) and found != 0.0

    @njit
    def use(x):
        return grad(loop)(x)

    assert use(1.2) == found


def test_the_rule_is_differentiated_again():
    assert grad(grad(scaled))(2.0, 3.0) == pytest.approx(-30.0 * math.sin(2.0))


def test_rules_for_each_argument():
    @custom_jvp
    def product(x, y):
        return x * y

    product.defjvps(lambda t, result, x, y: 7.0 * t * y, None)
    assert grad(product, (0, 1))(2.0, 3.0) == (21.0, 0.0)
    assert jvp(product, (2.0, 3.0), (1.0, 1.0)) == (6.0, 21.0)
    product.defjvps(lambda t, result, x, y: 8.0 * t * y, lambda t, result, x, y: result * t)
    assert grad(product, (0, 1))(2.0, 3.0) == (24.0, 6.0)  # another rule: compiled again


def test_arguments_that_do_not_vary():
    @partial(custom_jvp, nondiff_argnums=(0,))
    def apply(f, x):
        return f(x)

    @apply.defjvp
    def apply_jvp(f, primals, tangents):
        return f(primals[0]), 5.0 * tangents[0]

    assert grad(lambda x: apply(math.sin, x) * 2.0)(1.0) == 10.0

    @partial(custom_vjp, nondiff_argnums=(1,))
    def powered(x, n):
        return x ** n

    powered.defvjp(lambda x, n: (x ** n, x), lambda n, x, g: (g * n,))
    assert grad(lambda x: powered(x, 3))(2.0) == 3.0
    with pytest.raises(UnsupportedError, match="an argument in nondiff_argnums varies here"):
        grad(lambda x: powered(x, x))(2.0)


def test_a_rule_for_cotangents():
    def f(x):
        return np.sum(clipped(x * x, -1.0, 0.5) * 3.0 * x)

    np.testing.assert_allclose(grad(f)(X), np.minimum(3.0 * X, 0.5) * 2.0 * X + 3.0 * X * X)
    with pytest.raises(UnsupportedError, match="forward mode goes through a function whose derivative custom_vjp says"):
        jvp(f, (X,), (X,))

    def one(x):
        return clipped(x * x, -1.0, 0.5) * 3.0 * x

    # where the cotangent is not clipped the derivative is 9 x ** 2, and else x + 3 x ** 2
    assert grad(grad(one))(0.1) == pytest.approx(1.8) and grad(grad(one))(0.5) == pytest.approx(4.0)


def test_a_rule_for_cotangents_of_a_sum_that_starts_as_a_float():
    def products(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * x[i - 1]
        return total

    @custom_vjp
    def made(x):
        return products(x)

    made.defvjp(lambda x: (products(x), x), lambda x, g: (3.0 * g * x,))
    np.testing.assert_allclose(grad(lambda x: made(x) * 2.0)(X), 6.0 * X, 1e-15)


def test_checkpoints():
    plain, again = steps(lambda x, w: np.tanh(x * w) * x), steps(step)
    for n in (0, 1, 4):
        value, found = value_and_grad(again, (0, 1))(X, X + 1, n)
        expected, wanted = value_and_grad(plain, (0, 1))(X, X + 1, n)
        assert value == expected
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    along, _ = value_and_grad(plain, (0, 1))(X, X, 3)[1]
    np.testing.assert_allclose(jvp(lambda x: again(x, X, 3), (X,), (X,))[1], np.sum(along * X))


def captures_numbers_and_arrays(x, a):
    w, n = (a, x * 2.0), 3
    f = checkpoint(lambda v: v * w[0] + w[1] ** n)
    return np.sum(f(x)) + checkpoint(lambda b: math.sin(b * a))(a)


def captures_nothing(x):
    return np.sum(checkpoint(lambda v: v * v * v)(x))


def captures_functions(x, a):
    h = lambda v: v * a + x  # noqa: E731

    def g(v, k):
        return h(v) * k

    @checkpoint
    def f(v, w):
        return g(v, a * 2.0) * h(w)
    return np.sum(f(x, x * x))


def is_called_in_a_loop(x, a, n):
    @checkpoint
    def step(u, w):
        return u + 0.1 * np.sin(u * w) * a
    for _ in range(n):
        x = step(x, x * 0.5)
    return np.sum(x)


def is_called_with_a_tree(x, a):
    return np.sum(checkpoint(lambda p: p["w"] * a + p["b"])({"w": x, "b": x * x}) ** 2)


def captures_an_array_that_is_written_into(x):
    y = x * 1.0
    f = checkpoint(lambda v: v * y)
    z = f(x)
    y[:] = y * 3.0
    return np.sum(z * z) + np.sum(y * f(x))


@pytest.mark.parametrize("function, args", [
    (captures_numbers_and_arrays, (X, 1.2)), (captures_nothing, (X,)), (captures_functions, (X, 1.2)),
    (is_called_in_a_loop, (X, 1.5, 4)), (is_called_with_a_tree, (X, 1.5)),
    (captures_an_array_that_is_written_into, (X,))])
def test_checkpoints_of_functions_that_compiled_code_makes(function, args):
    agree(function, *args)


def test_checkpoints_of_functions_that_work_on_lists():
    def lists(x):
        zeros = [0.0] * 3
        zeros[1] = x[0]
        turned = zeros[::-1] + zeros
        products = [v * x[0] for v in x]
        products.sort()
        table = [[0.0] * 3 for _ in range(2)]
        table[1][2] = x[1] * x[2]
        return turned[1] * turned[4] + products[0] * table[1][2] + np.sum(np.stack([x * i for i in range(3)]))

    again = checkpoint(lists)
    agree(lambda x: again(x) * 2.0, X)


def test_functions_say_that_they_work_on_their_operands_alone():
    grad(lambda x: np.sum(np.stack([x * i for i in range(3)])))(X)  # loads what calls them
    assert all(map(is_on_operands, (np.asarray, np.stack, list.append, list.sort)))
    assert not any(map(is_on_operands, (np.copyto, np.set_printoptions, np.random.normal, print, dict.update)))


@pytest.mark.parametrize("call, what", [
    ("random.random()", "it draws random numbers here"), ("len(json.dumps([1, 2]))", "lets the interpreter do this")])
def test_what_a_checkpoint_must_not_do_twice(call, what):
    space = {"random": random, "json": json}
    exec(f"def f(x):\n    return x * {call}", space)
    with pytest.raises(UnsupportedError, match=what):
        grad(checkpoint(space["f"]))(1.5)


def test_a_checkpoint_that_captures_a_variable_which_is_assigned_again():
    def f(x, a):
        g = checkpoint(lambda v: v * a)
        y = g(x)
        a = 2.0
        return np.sum(y * g(x))

    with pytest.raises(TypingError, match="a variable which is assigned again, is not compiled yet"):
        grad(f)(X, 1.5)


def by_library(x, m):
    y = np.linalg.solve(m, x)
    s = np.sort(x * y)
    c = np.convolve(x, s, "same") + np.interp(x, np.linspace(-1.0, 2.0, 4), np.append(y, 1.0))
    f = np.abs(np.fft.fft(c)) + np.cumsum(c) + np.median(x) + m @ s
    own = x.copy()
    own[0] = f[1] * x[1]
    np.add.at(own, np.array([1, 1]), x[:2])
    return np.linalg.inv(m) @ own + np.linalg.eigh(m + m.T)[0] + np.outer(x, f)[0]


def test_a_checkpoint_may_call_the_library_and_write_into_arrays_of_its_own():
    again = checkpoint(by_library)
    m = np.eye(3) * 2.0 + np.arange(9.0).reshape(3, 3) / 10
    for found, wanted in zip(grad(lambda x, m: np.sum(again(x, m) ** 2), (0, 1))(X, m),
                             grad(lambda x, m: np.sum(by_library(x, m) ** 2), (0, 1))(X, m)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def writes(x, y):
    y[0] = x[0] * x[1]
    return x * y


def writes_through_a_call(x, y):
    part = np.asarray(y)[1:]
    part += 1.0
    return writes(x, y)


@pytest.mark.parametrize("function", [writes, writes_through_a_call])
@pytest.mark.parametrize("make", [
    checkpoint,
    lambda f: checkpoint(lambda x, y: f(x, y)),
    lambda f: given(custom_jvp(f), "defjvp", lambda p, t: (f(*p), t[0])),
    lambda f: given(custom_vjp(f), "defvjp", lambda x, y: (f(x, y), ()), lambda kept, g: (g, None))],
    ids=["checkpoint", "checkpoint of another", "custom_jvp", "custom_vjp"])
def test_functions_with_rules_that_write_into_their_arguments_are_refused(make, function):
    ruled = make(function)

    def f(x):
        y = x * 1.0
        return np.sum(ruled(x, y)) + np.sum(y ** 2)

    def captured(x):
        y = x * 1.0
        g = checkpoint(lambda v: function(v, y))
        return np.sum(g(x)) + np.sum(y ** 2)

    for one in (f, captured):
        with pytest.raises(UnsupportedError, match="writes into an array that it is given, or that it captures"):
            grad(one)(X)
    assert njit(f)(X) == f(X)


def given(made, name, *rules):
    getattr(made, name)(*rules)
    return made


def test_results_that_are_tuples():
    @checkpoint
    def turned(x, y):
        return x * math.cos(y), (x * math.sin(y), 3)

    def f(x, y):
        a, (b, n) = turned(x, y)
        return a * a + 2.0 * b * b * n

    def expected(x, y):
        a, b, n = x * math.cos(y), x * math.sin(y), 3
        return a * a + 2.0 * b * b * n

    assert grad(f, (0, 1))(1.5, 0.3) == pytest.approx(grad(expected, (0, 1))(1.5, 0.3))
    assert jvp(f, (1.5, 0.3), (1.0, 2.0)) == pytest.approx(jvp(expected, (1.5, 0.3), (1.0, 2.0)))


def test_what_is_written_into_afterwards():
    @checkpoint
    def half(x):
        return x * 0.5

    def f(x):
        y = half(x * x)
        y[0] = y[1] * y[2]
        x = x * 1.0
        z = half(x)
        x[1] = 0.0
        return np.sum(y * y) + np.sum(z * x)

    def g(x):
        y = x * x * 0.5
        y[0] = y[1] * y[2]
        x = x * 1.0
        z = x * 0.5
        x[1] = 0.0
        return np.sum(y * y) + np.sum(z * x)

    np.testing.assert_allclose(grad(f)(X), grad(g)(X))

    def shares(x):
        x = x * 1.0
        y = clipped(x, -1.0, 1.0)
        y[0] = 2.0
        return np.sum(x * y)

    with pytest.raises(ValueError, match="share memory"):
        grad(shares)(X)


def test_batches():
    np.testing.assert_allclose(vmap(grad(scaled), (0, None))(X, 3.0), 30.0 * np.cos(X))


def test_messages():
    @custom_jvp
    def without(x):
        return x

    with pytest.raises(TypeError, match="no rule was given for the derivative"):
        without(1.0)

    @custom_vjp
    def wrong(x):
        return x * x

    wrong.defvjp(lambda x: (x * x, x), lambda x, g: (g, g))
    with pytest.raises(TypeError, match="must return a tuple of 1: a cotangent, or None, for each argument"):
        grad(wrong)(2.0)
    wrong.defvjp(lambda x: (x * x, x), lambda x, g: (np.ones(2),))
    with pytest.raises(TypeError, match="a rule of .*wrong.* gives .* as cotangents of the arguments: .* is expected"):
        grad(wrong)(2.0)
    with pytest.raises(TypeError, match="defjvps takes a rule, or None, for each of the 1 arguments"):
        without.defjvps(None, None)


def test_names_of_arguments_and_other_results():
    def f(x, y):
        return np.sum(x * y), y + 1.0

    assert grad(lambda x, y: x * y, argnames="y")(2.0, 3.0) == 2.0
    assert grad(lambda x, y: x * y, argnames=("y", "x"))(2.0, 3.0) == (2.0, 3.0)
    with pytest.raises(ValueError, match="argnames has 'z', and the parameters of .* are x, y"):
        grad(lambda x, y: x * y, argnames="z")
    value, change, other = jvp(f, (X, 2.0), (X, 0.0), has_aux=True)
    assert change == 2.0 * X.sum() and other == 3.0 and value == change
    for jacobian in (jacfwd, jacrev):
        found, other = jacobian(lambda x: (x * x, x[0]), has_aux=True)(X)
        np.testing.assert_allclose(found, np.diag(2 * X))
        assert other == X[0]
    found, other = hessian(lambda x: (np.sum(x ** 3), x[0]), has_aux=True)(X)
    np.testing.assert_allclose(found, np.diag(6 * X))
    assert other == X[0]


def test_arguments_that_are_copied_first():
    """Forward mode copies all arrays, reverse mode those that are not in C order."""
    x = np.arange(12.0).reshape(3, 4)[:, ::2] / 10.0
    random = np.random.default_rng(2).normal(size=x.shape)

    def f(x):
        return np.sum(step(x, 0.7) * random) + np.sum(np.sort(x) * random)

    found = np.sum(grad(f)(x) * random)
    assert found == pytest.approx((f(x + 1e-6 * random) - f(x - 1e-6 * random)) / 2e-6)
    assert jvp(f, (x,), (random,))[1] == pytest.approx(found)


def with_tangents(at):
    @custom_jvp
    def product(p):
        return p[at[0]] * p[at[1]]

    @product.defjvp
    def rule(primals, tangents):
        return product(primals[0]), tangents[0][at[0]] * 100.0

    return product


def product_of_keys(p):
    return p["a"] * p["b"]


@custom_jvp
def pushed_keys(p):
    return product_of_keys(p)


@pushed_keys.defjvp
def pushed_keys_rule(primals, tangents):
    return pushed_keys(primals[0]), tangents[0]["a"] * 100.0


@custom_vjp
def pulled_keys(p):
    return product_of_keys(p)


pulled_keys.defvjp(lambda p: (p["a"] * p["b"], p), lambda kept, g: ({"a": g * 7.0, "b": g * kept["a"]},))


@custom_vjp
def pulled_items(p):
    return p[0] * p[1]


pulled_items.defvjp(lambda p: (p[0] * p[1], p), lambda kept, g: ([g * 7.0, g * kept[0]],))


@custom_jvp
def scaled_items(p, scale):
    return p[0] * p[1] * scale


scaled_items.defjvps(lambda t, y, p, scale: t[0] * 10.0, lambda t, y, p, scale: t * 5.0)


def test_rules_for_trees():
    by_number = with_tangents((0, 1))
    for p in ([2.0, 3.0], (2.0, 3.0)):
        assert grad(by_number)(p) == type(p)((100.0, 0.0))
        assert grad(lambda p: by_number(p))(p) == type(p)((100.0, 0.0))
    assert grad(lambda x: by_number([x, 3.0]))(1.0) == 100.0
    p = {"b": 2.0, "a": 3.0}
    assert grad(pushed_keys)(p) == {"b": 0.0, "a": 100.0}
    assert jvp(pushed_keys, (p,), ({"a": 1.0, "b": 0.0},)) == (6.0, 100.0)
    assert grad(lambda x: pushed_keys({"a": x, "b": 2.0}))(1.0) == 100.0
    assert grad(pulled_keys)(p) == {"b": 3.0, "a": 7.0}
    assert grad(lambda p: 2.0 * pulled_keys(p))(p) == {"b": 6.0, "a": 14.0}
    assert hessian(pulled_keys)(p) == {"b": {"b": 0.0, "a": 1.0}, "a": {"b": 0.0, "a": 0.0}}
    assert grad(pulled_items)([2.0, 3.0]) == [7.0, 2.0]
    assert grad(scaled_items, (0, 1))([1.0, 2.0], 3.0) == ([10.0, 0.0], 5.0)
    batch = vmap(grad(pulled_keys))({"a": np.ones(2), "b": np.full(2, 3.0)})
    assert np.array_equal(batch["a"], [7.0, 7.0]) and np.array_equal(batch["b"], [1.0, 1.0])


class Held:
    def __init__(self, a):
        self.a = a


@custom_vjp
def squared(held):
    return held.a ** 2


squared.defvjp(lambda held: (held.a ** 2, held.a), lambda kept, g: (None,))


def test_objects_that_a_rule_does_not_know_are_refused():
    by_number = with_tangents((0, 1))

    def of_list(x):
        items = []
        items.append(x)
        items.append(3.0)
        return by_number(items)

    def of_dict(x, name):
        items = {}
        items["a"] = x
        items[name] = 2.0
        return pushed_keys(items)

    def of_object(x):
        return squared(Held(x))

    for function, args, value, kind in ((of_list, (1.0,), 3.0, "a list"), (of_dict, (1.0, "b"), 2.0, "a dict"),
                                        (of_object, (3.0,), 9.0, "an object")):
        assert njit(function)(*args) == value
        with pytest.raises(UnsupportedError, match=f"what varies is put into {kind} here"):
            grad(function)(*args)


def of_trees(x, p):
    return {"b": [x * p["w"], np.sin(x)], "a": (x * x, 3)}


with_trees = {"jvp": custom_jvp(of_trees), "jvps": custom_jvp(of_trees), "vjp": custom_vjp(of_trees),
              "checkpoint": checkpoint(of_trees)}
with_trees["vjp"].defvjp(
    # the keys in another order than the function has them
    lambda x, p: ({"a": (x * x, 3), "b": [x * p["w"], np.sin(x)]}, {"x": x, "p": p}),
    lambda kept, g: (2.0 * kept["x"] * g["a"][0] + kept["p"]["w"] * g["b"][0] + 10.0 * np.cos(kept["x"]) * g["b"][1],
                     {"w": np.sum(kept["x"] * g["b"][0])}))


@with_trees["jvp"].defjvp
def tangent_of_trees(given, along):
    (x, p), (dx, dp) = given, along
    return of_trees(x, p), {"a": (2.0 * x * dx, None), "b": [x * dp["w"] + dx * p["w"], 10.0 * np.cos(x) * dx]}


with_trees["jvps"].defjvps(lambda t, result, x, p: {"a": (2.0 * result["a"][0] / x * t, None),
                                                    "b": [p["w"] * t, 10.0 * np.cos(x) * t]},
                           lambda t, result, x, p: {"b": [x * t["w"], 0.0 * x], "a": (0.0 * x, None)})


@pytest.mark.parametrize("kind", with_trees)
@pytest.mark.parametrize("x", [2.0, X])
def test_results_that_are_dicts_and_lists(kind, x):
    f = with_trees[kind]

    def use(x, p):
        found = f(x, p)
        return np.sum(found["a"][0] * 3.0 + found["b"][0] * found["a"][1] + found["b"][1])

    factor = 1.0 if kind == "checkpoint" else 10.0  # the rules say so
    p, by_x, by_w = {"w": 5.0}, 6.0 * x + 15.0 + factor * np.cos(x), np.sum(3.0 * x)
    found = f(x, p)
    assert list(found) == ["b", "a"] and type(found["b"]) is list and type(found["a"]) is tuple and found["a"][1] == 3
    np.testing.assert_allclose(found["b"][1], np.sin(x))
    value, gradient = value_and_grad(use, (0, 1))(x, p)
    np.testing.assert_allclose(value, np.sum(3.0 * x * x + 15.0 * x + np.sin(x)))
    np.testing.assert_allclose(gradient[0], by_x, rtol=1e-14)
    np.testing.assert_allclose(gradient[1]["w"], by_w, rtol=1e-14)
    if kind != "vjp":
        np.testing.assert_allclose(jvp(use, (x, p), (x, {"w": 2.0}))[1], np.sum(by_x * x) + 2.0 * by_w, rtol=1e-14)


def test_tangents_by_argument_of_a_tuple_are_added_item_by_item():
    @custom_jvp
    def f(x, y):
        return x * y, x

    f.defjvps(lambda t, result, x, y: (y * t, 10.0 * t), lambda t, result, x, y: (x * t, 0.0))
    assert grad(lambda x, y: f(x, y)[0] + f(x, y)[1], (0, 1))(2.0, 5.0) == (15.0, 2.0)
    assert jvp(f, (2.0, 5.0), (1.0, 1.0)) == ((10.0, 2.0), (7.0, 10.0))


def test_a_rule_with_other_keys_than_the_result():
    f = custom_vjp(lambda x: {"a": x})
    f.defvjp(lambda x: ({"b": x}, x), lambda kept, g: (g["a"],))
    with pytest.raises(TypingError, match="is a dict of b, and belongs to a dict of a"):
        grad(lambda x: f(x)["a"])(2.0)


def test_a_result_that_is_a_dict_that_changes_is_refused():
    def f(x, name):
        found = {"a": x}
        found[name] = 2.0 * x
        return found

    for made in (custom_vjp(f), custom_jvp(f)):
        made.defvjp(lambda x, name: (f(x, name), x), lambda kept, g: (g["a"], None)) if hasattr(
            made, "defvjp") else made.defjvp(lambda given, along: (f(*given), {"a": along[0]}))
        assert made(2.0, "b") == {"a": 2.0, "b": 4.0}
        with pytest.raises(UnsupportedError, match="what varies is put into a dict here, or taken out of it"):
            grad(lambda x: made(x, "b")["a"])(2.0)


Pair = namedtuple("Pair", "x y")


def of_pair(p, z):
    return Pair(p.x ** 2 + p.y * z[0], p.x)


def tangent_of_pair(primals, tangents):
    (p, z), (dp, dz) = primals, tangents
    return with_pairs["jvp"](p, z), Pair(2.0 * p.x * dp.x + dp.y * z[0] + p.y * dz[0], dp.x)


with_pairs = {"jvp": custom_jvp(of_pair), "jvps": custom_jvp(of_pair), "vjp": custom_vjp(of_pair),
              "checkpoint": checkpoint(of_pair)}
with_pairs["jvp"].defjvp(tangent_of_pair)
with_pairs["jvps"].defjvps(lambda d, out, p, z: Pair(2.0 * p.x * d.x + d.y * z[0], d.x),
                           lambda d, out, p, z: Pair(p.y * d[0], 0.0 * out.y))
with_pairs["vjp"].defvjp(lambda p, z: (of_pair(p, z), (p, z)),
                         lambda kept, g: (Pair(2.0 * kept[0].x * g.x + g.y, kept[1][0] * g.x), (kept[0].y * g.x,)))


@pytest.mark.parametrize("kind", with_pairs)
def test_named_tuples(kind):
    """Arguments, results, tangents and cotangents of a rule are named tuples where those of the function are."""
    f = with_pairs[kind]

    def total(p, z):
        q = f(p, (z,))
        return q.x * q.y + p.y

    p = Pair(1.5, 2.0)
    for result in (f(p, (3.0,)), njit(lambda p: f(p, (3.0,)))(p)):
        assert type(result) is Pair and result == Pair(8.25, 1.5)
    by_pair, by_number = grad(total, (0, 1))(p, 3.0)
    assert type(by_pair) is Pair
    np.testing.assert_allclose((*by_pair, by_number), (2.0 * 1.5 * 1.5 + 8.25, 3.0 * 1.5 + 1.0, 3.0))
    if kind != "vjp":
        value, tangent = jvp(lambda p: f(p, (3.0,)), (p,), (Pair(1.0, 0.5),))
        assert type(value) is type(tangent) is Pair
        assert value == Pair(8.25, 1.5) and tangent == Pair(4.5, 1.0)
