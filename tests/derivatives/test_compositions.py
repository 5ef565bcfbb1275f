"""Transforms of transforms, beside differences that the interpreter computes in their place.

Each transform below takes a function of an array and returns another one, so that any two of them can be composed. The
reference is made of central differences of the fourth order and of loops over the program itself.
"""
import math
from dataclasses import dataclass

import numpy as np
import pytest

from pyjitc import (
    TypingError, UnsupportedError, checkpoint, custom_jvp, grad, hvp, jacfwd, jacrev, jvp, linearize, njit,
    value_and_grad, vjp, vmap,
)

X = np.array([0.7, -0.55, 1.15, 0.35])
STEP = 1e-3


def halved(x):
    """A loop whose trips depend on x, and numbers that are Python's until the first addition."""
    total = 0.0
    for i in range(len(x)):
        z = x[i] * 2.0
        while abs(z) > 0.6:
            z = z * 0.5 + 0.1 * math.sin(z)
        if z < -0.4:
            break
        total += z * x[i - 1]
    return total


def written(x):
    x *= 1.5
    x[1:-1] += 0.25 * (x[2:] - 2.0 * x[1:-1] + x[:-2]) * x[0]
    m = np.outer(x, x)
    m[::2, 1:] *= 0.5
    return m[:, ::-1].sum(axis=0) + np.cumsum(x)


def several(x):
    p = {"a": np.sort(x) * x[0], "b": np.linalg.norm(x)}
    return {"u": p["a"] * p["b"], "v": (p["b"], x[np.array([2, 0, 2])])}


FUNCTIONS = {f.__name__: f for f in (halved, written, several)}


# -- results that are trees


def leaves(y):
    if isinstance(y, (tuple, list)):
        return [leaf for part in y for leaf in leaves(part)]
    return leaves(tuple(y.values())) if isinstance(y, dict) else [y]


def mapped(f, *trees):
    y = trees[0]
    if isinstance(y, (tuple, list)):
        return type(y)([mapped(f, *parts) for parts in zip(*trees)])
    return {key: mapped(f, *[z[key] for z in trees]) for key in y} if isinstance(y, dict) else f(*trees)


def total_of(like):
    """A function of results with this structure that returns one float."""
    def places(y, at="y"):
        items = enumerate(y) if isinstance(y, (tuple, list)) else y.items() if isinstance(y, dict) else None
        return [at] if items is None else [p for key, part in items for p in places(part, f"{at}[{key!r}]")]

    space = {"np": np}
    exec("def total(y):\n    return " + " + ".join(f"np.sum(np.sin({p} * 0.7))" for p in places(like)), space)
    return space["total"]


# -- references


def along(f, x, t):
    ends = [f(x + n * STEP * t) for n in (2, 1, -1, -2)]
    return mapped(lambda a, b, c, d: (8.0 * (np.asarray(b) - c) - (np.asarray(a) - d)) / (12.0 * STEP), *ends)


def jacobian(f, x):
    columns = [along(f, x, t) for t in np.eye(x.size)]
    return mapped(lambda *c: np.stack(c, axis=-1), *columns)


def product(y, z):
    return sum(np.sum(np.asarray(a) * b) for a, b in zip(leaves(y), leaves(z)))


def stacked(f, xs, axis=0):
    return mapped(lambda *parts: np.stack(parts, axis), *[f(x) for x in xs])


# -- transforms: each gets the compiled function, its reference, and both with the sum of the results


def of_grad(f, r, total, r_total):
    return grad(total), lambda x: jacobian(r_total, x)


def of_value_and_grad(f, r, total, r_total):
    return value_and_grad(total), lambda x: (r_total(x), jacobian(r_total, x))


def of_grad_with_others(f, r, total, r_total):
    def both(x):
        y = f(x * 1.0)
        return total(x), y
    return grad(both, has_aux=True), lambda x: (jacobian(r_total, x), r(x))


def of_hvp(f, r, total, r_total):
    return (lambda x: hvp(total, (x,), (np.cos(x),))), (
        lambda x: along(lambda z: jacobian(r_total, z), x, np.cos(x)))


def of_jvp(f, r, total, r_total):
    return (lambda x: jvp(f, (x,), (np.cos(x),))), lambda x: (r(x), along(r, x, np.cos(x)))


def of_linearize(f, r, total, r_total):
    def made(x):
        y, push = linearize(f, x)
        return y, push(np.cos(x)), x * 1.0
    return made, lambda x: (r(x), along(r, x, np.cos(x)), x)


def of_vjp(f, r, total, r_total):
    def made(x):
        y, pull = vjp(f, x)
        return y, pull(y)[0] * x

    def reference(x):
        y = r(x)
        return y, jacobian(lambda z: product(r(z), y), x) * x
    return made, reference


def of_jacfwd(f, r, total, r_total):
    return jacfwd(f), lambda x: jacobian(r, x)


def of_jacrev_with_others(f, r, total, r_total):
    return jacrev(lambda x: (x * total(x * 1.0), f(x)), has_aux=True), (
        lambda x: (jacobian(lambda z: z * r_total(z), x), r(x)))


def of_vmap(f, r, total, r_total):
    return (lambda x: vmap(f, in_axes=1, out_axes=-1)(np.stack((x, x * 0.9)).T)), (
        lambda x: stacked(r, (x, x * 0.9), -1))


def of_dict(f, r, total, r_total):
    gradient = grad(lambda p: total(p["x"] * p["s"]) * p["s"])
    return (lambda x: gradient({"x": x, "s": 0.95})["x"]), lambda x: jacobian(lambda z: r_total(z * 0.95) * 0.95, x)


def of_descent(f, r, total, r_total):
    gradient = grad(checkpoint(total))

    def made(x):
        for _ in range(2):
            change = gradient(x)
            change *= 0.01
            x = x - change
        return x

    def reference(x):
        for _ in range(2):
            x = x - 0.01 * jacobian(r_total, x)
        return x
    return made, reference


def composed(function, *transforms):
    """The compiled function that applies the transforms in this order, and its reference."""
    made, reference = function, lambda x: function(x.copy())
    for transform in transforms:
        y = reference(X)
        is_number = not isinstance(y, (tuple, dict)) and np.ndim(y) == 0
        totals = (made, reference) if is_number else _with_total(made, reference, total_of(y))
        made, reference = transform(made, reference, *totals)
    return made, reference


def _with_total(made, reference, total):
    return (lambda x: total(made(x))), lambda x: total(reference(x))


@pytest.mark.parametrize("name, transforms", [
    ("halved", (of_linearize, of_jacrev_with_others)), ("halved", (of_grad_with_others, of_jvp)),
    ("halved", (of_descent, of_hvp)), ("halved", (of_dict, of_jacfwd)), ("written", (of_linearize, of_value_and_grad)),
    ("written", (of_vmap, of_grad_with_others)), ("several", (of_vjp, of_vmap)),
], ids=lambda x: x if isinstance(x, str) else "-".join(t.__name__[3:] for t in x))
def test_two_transforms(name, transforms):
    made, reference = composed(FUNCTIONS[name], *transforms)
    x = X.copy()
    found, expected = made(x), reference(X)
    np.testing.assert_array_equal(x, X)
    mapped(lambda y, z: np.testing.assert_allclose(y, z, 1e-6, 1e-6 * (1.0 + np.max(np.abs(z)))), found, expected)
    for y in leaves(found):
        assert y.dtype == np.float64 and (y.ndim == 0 or y.flags.writeable)


def test_third_derivatives_with_ints_on_the_tape():
    def inner(x):
        y = x * x
        for _ in range(3):
            y = y * 0.5 + x * y[1]
        return np.sum(y)

    gradient = grad(inner)

    def descent(x):
        for _ in range(2):
            x = x - 0.01 * gradient(x)
        return np.sum(x * x)

    np.testing.assert_allclose(jacfwd(grad(descent))(X), jacfwd(jacfwd(descent))(X), 1e-12, 1e-13)


# -- vjp and linearize in compiled code


def test_arguments_that_the_function_writes_into_are_copied():
    def doubled(x):
        x[0] *= 2.0
        return x[0] * x[1]

    def both(x):
        y, pull = vjp(doubled, x)
        z, push = linearize(doubled, x)
        return y, pull(1.0)[0], z, push(x), x * 1.0

    x = X.copy()
    y = 2.0 * X[0] * X[1]
    for found, expected in zip(njit(both)(x), (y, [2.0 * X[1], 2.0 * X[0], 0.0, 0.0], y, 2.0 * y, X), strict=True):
        np.testing.assert_allclose(found, expected, 1e-14)
    np.testing.assert_array_equal(x, X)


@dataclass
class Pair:
    a: object
    b: object


def of_items(p):
    return np.sum(p["a"] * p["b"])


def test_pullbacks_by_dicts():
    def made(x):
        p = {"a": x, "b": x * 2.0}
        y, pull = vjp(of_items, p)
        return pull(y)

    (found,) = njit(made)(X)
    y = 2.0 * X @ X
    np.testing.assert_allclose(found["a"], 2.0 * X * y)
    np.testing.assert_allclose(found["b"], X * y)


def by_key(x, key):
    p = {"a": x, "b": x}
    p[key] = x * 3.0
    _, pull = vjp(of_items, p)
    return pull(1.0)


def by_place(x, n):
    p = [x, x]
    p[n] = x * 3.0
    _, pull = vjp(lambda p: np.sum(p[0] * p[1]), p)
    return pull(1.0)


def by_dataclasses(x, n):
    p = [Pair(x, x)]
    p.append(Pair(x, x))
    _, pull = vjp(lambda p: np.sum(p[0].a * p[1].b) * n, p)
    return pull(1.0)


@pytest.mark.parametrize("function, n, what", [(by_key, "b", "object of Python, 'dict'"), (
    by_place, 1, "object of Python, 'list'"), (by_dataclasses, 1, "object of Python, 'list'")])
def test_no_cotangent_is_left_out(function, n, what):
    with pytest.raises(TypingError, match=what):
        njit(function)(X, n)


def test_pullbacks_by_dataclasses():
    def made(x):
        _, pull = vjp(lambda p: np.sum(p.a * p.b) * 3.0, Pair(x, x * 2.0))
        return pull(1.0)

    (found,) = njit(made)(X)
    assert type(found) is Pair
    np.testing.assert_allclose((found.a, found.b), (6.0 * X, 3.0 * X))


def test_errors_in_a_function_of_a_dict_that_is_no_object():
    def stacked_items(p):
        return np.sum(np.stack([p["x"] * p["s"] * k for k in range(3)])[1])

    found = njit(lambda x: grad(stacked_items)({"x": x, "s": 0.5}))(X)
    np.testing.assert_allclose(found["x"], np.full(4, 0.5))
    assert found["s"] == pytest.approx(np.sum(X))


# -- floats of two classes, and other results


def started(x):
    """A sum that is Python's float where x is empty, as a part of trees."""
    total = 0.0
    for z in x:
        total += z * z
    return total


@pytest.mark.parametrize("made", [jacfwd, jacrev, lambda f: lambda x: jacfwd(jacrev(lambda x: f(x)[0]))(x) @ x / 2.0])
def test_floats_of_two_classes_in_trees(made):
    def pair(x):
        total = started(x)
        return (total, {"x": x * total}) if made in (jacfwd, jacrev) else (total, x)

    found = made(pair)(X)
    if made in (jacfwd, jacrev):
        np.testing.assert_allclose(found[1]["x"], np.eye(4) * (X @ X) + np.outer(X, 2.0 * X))
        found = found[0] / 2.0
    np.testing.assert_allclose(found, X)


def test_floats_of_two_classes_beside_a_value():
    def beside(x):
        total = started(x)
        return total, (total * 2.0, {"n": len(x), "total": total})

    (value, (double, others)), gradient = value_and_grad(beside, has_aux=True)(X)
    assert double == 2.0 * value == 2.0 * (X @ X) and type(double) is np.float64 and others == {"n": 4, "total": value}
    np.testing.assert_allclose(gradient, 2.0 * X)
    _, pull, others = vjp(beside, X, has_aux=True)
    np.testing.assert_allclose(pull(1.0)[0], 2.0 * X)
    assert others[1]["total"] == value


def test_pullbacks_of_numbers_of_several_types():
    def chosen(x, n):
        return sum([z * z for z in x[:n]])  # the int 0, or a float64

    for n in (0, 2):
        np.testing.assert_array_equal(vjp(lambda x: chosen(x, n), X)[1](1.0)[0], np.where(np.arange(4) < n, 2 * X, 0.0))


def test_dicts_beside_a_value_in_reverse_mode():
    gradient = grad(of_items)

    def beside(x):
        g = gradient({"a": x, "b": x * 2.0})
        return x * np.sum(g["a"]), {"g": g["b"], "k": [x]}

    found, others = jacrev(beside, has_aux=True)(X)
    np.testing.assert_allclose(found, np.eye(4) * np.sum(2.0 * X) + np.outer(X, np.full(4, 2.0)))
    np.testing.assert_array_equal(others["g"], X)
    np.testing.assert_array_equal(others["k"][0], X)


def test_objects_under_checkpoint_are_refused_as_objects():
    @checkpoint
    def repeated(x):
        p = Pair(x, x * 2.0)
        return np.sum(p.a * p.b)

    with pytest.raises(UnsupportedError, match="assigns an attribute of an object"):
        grad(repeated)(X)


# -- second derivatives at points where a first one is 0


def stationary(x):
    """Operations whose derivative is infinite somewhere, of numbers whose change is 0 at x = 0; and their residuals."""
    u = 1.0 + x * x
    v = np.array([1.0, u])
    return np.array([
        1.0 / u, u ** 1.5, math.log(u), (math.sqrt(1.0 + x) - 1.0) ** 2, np.sum(np.sqrt(v)), np.sinc(x),
        math.gamma(u), math.lgamma(u + 1.0), abs(u + 1j * x)])


SECOND = [-2.0, 3.0, 2.0, 0.5, 1.0, -math.pi ** 2 / 3.0, -2.0 * 0.5772156649015329, 2.0 * (1.0 - 0.5772156649015329),
          3.0]


@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_second_derivatives_where_a_first_one_is_zero(inner, outer):
    np.testing.assert_allclose(outer(inner(stationary))(0.0), SECOND, 1e-12, 1e-14)


def test_derivatives_by_a_tangent_and_by_an_exponent_that_are_zero():
    def change(t):
        return jvp(lambda x: np.sum(np.sqrt(x)), (X + 1.0,), (t,))[1]

    for x in (np.zeros(4), X):
        np.testing.assert_allclose(grad(change)(x), 0.5 / np.sqrt(X + 1.0), 1e-14)

    def power(x, y):
        return x ** y

    for mixed in (grad(grad(power, 0), 1), jacfwd(jacfwd(power, 0), 1), jacfwd(grad(power, 0), 1)):
        np.testing.assert_allclose(mixed(2.5, 0.0), 0.4, 1e-14)


def test_a_rule_for_tangents_that_divides_and_takes_roots():
    @custom_jvp
    def scaled(x):
        return x / np.linalg.norm(x)

    @scaled.defjvp
    def scaled_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        size = np.linalg.norm(x)
        return scaled(x), jvp(lambda x: x / np.sqrt(np.sum(x * x)), (x,), (t,))[1] + 0.0 * size

    found = grad(lambda x: np.sum(np.sin(scaled(x))))(X)
    np.testing.assert_allclose(found, grad(lambda x: np.sum(np.sin(x / np.linalg.norm(x))))(X), 1e-12)


def test_what_is_guarded_stays_zero_in_second_derivatives():
    def guarded(x):
        return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0) ** 3)

    x = np.array([0.0, 4.0])
    for second in (jacfwd(grad(guarded)), jacrev(grad(guarded)), jacfwd(jacfwd(guarded))):
        np.testing.assert_allclose(second(x), np.diag([0.0, 0.375]), 1e-14)


# -- other results in compiled code


def with_others(x, p):
    return {"s": np.sum(np.sin(x)) * p["a"], "w": x * p["a"]}, {"n": len(x), "x": x * 2.0}


def by_vjp(x):
    y, pull, others = vjp(with_others, x, {"a": 2.0}, has_aux=True)
    return y, pull(y), others


def by_jvp(x):
    return jvp(with_others, (x, {"a": 2.0}), (x, {"a": 1.0}), has_aux=True)


def by_linearize(x):
    y, push, others = linearize(with_others, x, {"a": 2.0}, has_aux=True)
    return y, push(x, {"a": 1.0}), others


@pytest.mark.parametrize("function", [by_vjp, by_jvp, by_linearize])
def test_other_results_in_compiled_code(function):
    found, expected = njit(function)(X), function(X)
    mapped(lambda y, z: np.testing.assert_allclose(y, z, 1e-15), found, expected)
    assert type(found[2]["n"]) is int


@pytest.mark.parametrize("function", [
    lambda x: vjp(np.sin, x, has_aux=True), lambda x: jvp(np.sin, (x,), (x,), has_aux=True),
    lambda x: linearize(np.sin, x, has_aux=True)])
def test_a_missing_other_result_in_compiled_code(function):
    with pytest.raises(TypingError, match="must return .value, other results., not 'numpy.ndarray'"):
        njit(function)(X)


# -- parts of an array that only some paths take


def rolled(x):
    y = x + np.roll(x, 1) * np.sin(x)
    return y * y


def test_the_backward_pass_of_a_branch_that_takes_parts():
    np.testing.assert_allclose(jacrev(jacrev(rolled))(X), jacfwd(jacfwd(rolled))(X), 1e-13, 1e-14)
    assert jacrev(jacrev(rolled))(np.zeros(0)).shape == (0, 0, 0)
