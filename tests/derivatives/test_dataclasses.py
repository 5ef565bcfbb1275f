"""Dataclasses among the arguments of derivatives and batches in compiled code, beside calls from Python."""
import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

import pyjitc
from pyjitc import (
    TypingError, grad, hessian, jacfwd, jacrev, jvp, linearize, njit, pmap, value_and_grad, vjp, vmap,
)

W = np.linspace(-0.3, 0.5, 9).reshape(3, 3)
B = np.array([0.1, -0.2, 0.3])
X = np.array([0.3, 0.5, 1.2])


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray
    scale: float

    def at(self, x):
        return np.tanh(x @ self.w + self.b) * self.scale


@dataclass(frozen=True)
class Network:
    first: Layer
    second: Layer
    repeats: int
    name: str = "network"


LAYER = Layer(W, B, 2.0)
NETWORK = Network(LAYER, Layer(W.T.copy(), B * 2.0, 0.5), 2)


def loss(layer, x):
    return np.sum(layer.at(x) ** 2)


def of_network(network, x):
    for _ in range(network.repeats):
        x = network.second.at(network.first.at(x))
    return np.sum(x * x)


def same(found, expected):
    assert type(found) is type(expected)
    if dataclasses.is_dataclass(expected):
        for field in dataclasses.fields(expected):
            same(getattr(found, field.name), getattr(expected, field.name))
    elif isinstance(expected, (tuple, list)):
        for x, y in zip(found, expected, strict=True):
            same(x, y)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        same(list(found.values()), list(expected.values()))
    elif expected is None or isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, 1e-12, 1e-14)


def both(of):
    """The result of a function that is compiled, after a comparison with what the interpreter returns, which calls the
    same transforms from Python."""
    found = njit(of)(LAYER, X)
    same(found, of(LAYER, X))
    return found


def of_tuple(p, x):
    return loss(p[0], x) * p[1]["scale"]


TRANSFORMS = {
    "grad": lambda p, x: grad(loss)(p, x),
    "by both": lambda p, x: grad(loss, argnums=(0, 1))(p, x),
    "value_and_grad": lambda p, x: value_and_grad(loss)(p, x)[1],
    "has_aux": lambda p, x: grad(lambda p: (loss(p, x), {"x": x}), has_aux=True)(p),
    "jvp": lambda p, x: jvp(loss, (p, x), (Layer(p.w * 0.5, p.b, 1.0), x))[1],
    "vjp": lambda p, x: vjp(loss, p, x)[1](2.0),
    "linearize": lambda p, x: linearize(loss, p, x)[1](Layer(p.w * 0.5, p.b, 1.0), x),
    "jacfwd": lambda p, x: jacfwd(lambda p: p.at(x))(p),
    "jacrev": lambda p, x: jacrev(lambda p: p.at(x))(p),
    "hessian": lambda p, x: hessian(lambda p: np.sum(p.b * p.b * p.scale))(p).scale,
    "in a tuple": lambda p, x: grad(of_tuple)((p, {"scale": 3.0}), x),
    "vmap": lambda p, x: vmap(loss, in_axes=(None, 0))(p, np.stack((x, x * 2.0))),
    "pmap": lambda p, x: pmap(loss, in_axes=(None, 0))(p, np.stack((x, x * 2.0))),
    "vmap of grad": lambda p, x: vmap(grad(loss), in_axes=(None, 0))(p, np.stack((x, x * 2.0))),
    "of a gradient": lambda p, x: grad(lambda p: np.sum(grad(loss)(p, x).w ** 2))(p),
    "tree.leaves": lambda p, x: pyjitc.tree.leaves(pyjitc.tree.map(lambda a, b: a * b, p, grad(loss)(p, x))),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_in_compiled_code(name):
    both(TRANSFORMS[name])


def test_batches_of_dataclasses():
    batch = Layer(np.stack((W, W + 1.0)), np.stack((B, X)), np.array([1.0, 2.0]))
    for transform in (loss, grad(loss)):
        expected = vmap(transform, in_axes=(0, None))(batch, X)
        same(njit(lambda p, x: vmap(transform, in_axes=(0, None))(p, x))(batch, X), expected)


def test_fields_that_cannot_vary():
    expected = grad(of_network)(NETWORK, X)
    assert expected.repeats is None and expected.name is None
    same(njit(lambda p, x: grad(of_network)(p, x))(NETWORK, X), expected)

    @njit
    def norm(p, x):
        g = grad(of_network)(p, x)
        return np.sum(g.first.w ** 2) + g.second.scale, g.name is None

    assert norm(NETWORK, X) == (pytest.approx(np.sum(expected.first.w ** 2) + expected.second.scale), True)


def descended(p, x, steps):
    for _ in range(steps):
        g = grad(loss)(p, x)
        p = Layer(p.w - 0.1 * g.w, p.b - 0.1 * g.b, p.scale - 0.1 * g.scale)
    return p


def mapped(p, x, steps):
    for _ in range(steps):
        p = pyjitc.tree.map(lambda a, b: a - 0.1 * b, p, grad(loss)(p, x))
    return p


def with_momentum(p, x, steps):
    m = pyjitc.tree.map(lambda a: a * 0.0, p)
    for _ in range(steps):
        g = grad(loss)(p, x)
        m = Layer(0.9 * m.w + g.w, 0.9 * m.b + g.b, 0.9 * m.scale + g.scale)
        p = dataclasses.replace(p, w=p.w - 0.1 * m.w, b=p.b - 0.1 * m.b, scale=p.scale - 0.1 * m.scale)
    return p


def in_place(p, x, steps):
    p = Layer(p.w.copy(), p.b.copy(), p.scale)
    for _ in range(steps):
        g = grad(loss)(p, x)
        g.w *= 0.1
        p.w -= g.w
        p.b = p.b - 0.1 * g.b
    return p


@pytest.mark.parametrize("train", [descended, mapped, with_momentum, in_place])
def test_optimisers(train):
    expected = train(LAYER, X, 3)
    same(njit(train)(LAYER, X, 3), expected)
    assert loss(expected, X) < loss(LAYER, X)


def test_an_optimiser_is_differentiated():
    def f(rate):
        p = Layer(W.copy(), B.copy(), 2.0)
        for _ in range(2):
            g = grad(loss)(p, X)
            p = Layer(p.w - rate * g.w, p.b - rate * g.b, p.scale - rate * g.scale)
        return loss(p, X)

    step = 1e-5
    assert grad(f)(0.05) == pytest.approx((f(0.05 + step) - f(0.05 - step)) / (2 * step), rel=1e-6)


def advanced(p, x):
    """Where p is an argument of the derivative at first, and an object that the loop makes after that."""
    for _ in range(2):
        g = grad(loss)(p, x)
        p = Layer(p.w - 0.1 * g.w, p.b - 0.1 * g.b, p.scale - 0.1 * g.scale)
    return loss(p, x)


def test_an_argument_that_a_loop_replaces():
    found, step = grad(advanced)(LAYER, X), 1e-6
    for n in range(3):
        along = np.eye(3)[n] * step
        ends = [advanced(dataclasses.replace(LAYER, b=B + sign * along), X) for sign in (1, -1)]
        assert found.b[n] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5)


# -- what Python says of an object that is an argument of a derivative


@dataclass(order=True)
class Point:
    x: float
    y: float = dataclasses.field(compare=False, default=0.0)


@dataclass(eq=False)
class Plain:
    x: float


@pytest.mark.parametrize("function", [
    lambda p: p.x if isinstance(p, tuple) else p.x ** 2, lambda p: p.x ** 2 if p else p.x,
    lambda p: p.x if p == (2.0, 3.0) else p.x ** 2, lambda p: p.x if p != (2.0, 3.0) else p.x ** 2,
    lambda p: p.x ** 2 if p == dataclasses.replace(p, y=7.0) else p.x,
    lambda p: p.x ** 2 if p < dataclasses.replace(p, x=7.0) else p.x,
    lambda p: p.x ** 2 if p <= dataclasses.replace(p, y=-1.0) else p.x], ids=range(7))
def test_operations_of_objects(function):
    p, step = Point(2.0, 3.0), 1e-6
    ends = [function(dataclasses.replace(p, x=2.0 + h)) for h in (step, -step)]
    assert grad(function)(p).x == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("function", [
    lambda p: len(p) * p.x, lambda p: p[0], lambda p: sum(p), lambda p: (p + (1.0,))[0], lambda p: (p * 2)[0],
    lambda p: p.x if 2.0 in p else 0.0, lambda p: list(reversed(p))[0]], ids=range(7))
def test_operations_that_objects_do_not_have(function):
    with pytest.raises(TypeError) as expected:
        function(Point(2.0, 3.0))
    with pytest.raises(TypingError) as found:
        grad(function)(Point(2.0, 3.0))
    assert found.value.diagnostic.message == str(expected.value)


def test_objects_that_are_compared_by_identity():
    with pytest.raises(TypingError, match="are compared by their identity"):
        grad(lambda p: p.x if p == p else 0.0)(Plain(2.0))


def unpacked(p):
    x, y = p
    return x * y


def test_an_object_is_not_unpacked():
    with pytest.raises(TypingError, match="cannot unpack non-iterable Point object|'Point' object is not iterable"):
        grad(unpacked)(Point(2.0, 3.0))


def moved(p):
    p.x = p.x * 2.0
    return p.x * p.y


def test_an_attribute_of_an_argument_is_not_assigned():
    with pytest.raises(TypingError, match="is assigned, which is an argument of a derivative or batch") as refused:
        grad(moved)(Point(2.0, 3.0))
    assert "dataclasses.replace(p, x=value)" in str(refused.value)
