"""Networks that solve differential equations: gradients by trees of parameters of derivatives by the arguments."""
import numpy as np
import pytest

from pyjitc import grad, hessian, jacfwd, value_and_grad, vmap

random = np.random.default_rng(2)
LAYERS = [(random.normal(size=(3, 2)), random.normal(size=3)),
          (random.normal(size=(3, 3)) * 0.5, random.normal(size=3)),
          (random.normal(size=(1, 3)), random.normal(size=1))]
POINTS = random.normal(size=(2, 2))


def network(layers, x):
    for w, b in layers[:-1]:
        x = np.tanh(w @ x + b)
    w, b = layers[-1]
    return (w @ x + b)[0]


def laplace(layers, points):
    total = 0.0
    for x in points:
        second = hessian(network, 1)(layers, x)
        total += (second[0, 0] + second[1, 1]) ** 2
    return total


def third(layers, points):
    total = 0.0
    for x in points:
        found = jacfwd(hessian(network, 1), 1)(layers, x)
        total += found[0, 0, 0] * found[1, 1, 0]
    return total


def of_batch(layers, points):
    return np.sum(vmap(lambda x: np.sum(grad(network, 1)(layers, x) ** 2))(points) ** 2)


def moved(layers, along, step):
    return [(w + step * u, b + step * v) for (w, b), (u, v) in zip(layers, along)]


@pytest.mark.parametrize("function", [laplace, third, of_batch])
def test_parameters_of_a_network(function):
    along = [(random.normal(size=w.shape), random.normal(size=b.shape)) for w, b in LAYERS]
    value, found = value_and_grad(function)(LAYERS, POINTS)
    assert value == pytest.approx(function(LAYERS, POINTS), rel=1e-12)
    step = 1e-5
    difference = (function(moved(LAYERS, along, step), POINTS) - function(moved(LAYERS, along, -step), POINTS)) / (
        2 * step)
    product = sum(np.sum(w * u) + np.sum(b * v) for (w, b), (u, v) in zip(found, along))
    assert product == pytest.approx(difference, rel=1e-5)
