"""Objects of the program's classes in functions that are differentiated: made in loops, passed on, in lists, shared."""
import dataclasses
import math

import numpy as np
import pytest

import pyjitc
from pyjitc import grad, hessian
from tests.derivatives.differences import agree

X = np.array([0.3, -0.7, 1.1, 0.5])


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, number):
        return Vector(self.x * number, self.y * number)

    def dot(self, other):
        return self.x * other.x + self.y * other.y


class Body:
    def __init__(self, speed):
        self.speed, self.place = speed, 0.0

    def step(self, h):
        self.place += h * self.speed
        self.speed -= h * math.sin(self.place + 0.2)


@dataclasses.dataclass
class State:
    place: float
    speed: float

    def step(self, h):
        return State(self.place + h * self.speed, self.speed - h * self.place)

    def energy(self):
        return self.place ** 2 + self.speed ** 2


@dataclasses.dataclass(frozen=True)
class Field:
    values: np.ndarray
    slopes: np.ndarray

    def step(self, h):
        moved = dataclasses.replace(self, values=self.values + h * self.slopes)
        return dataclasses.replace(moved, slopes=moved.slopes - h * moved.values)


class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


class Node:
    def __init__(self, weight, other):
        self.weight, self.other = weight, other


class Leaf:
    def __init__(self, value):
        self.value = value


def replaced_in_a_loop(x):
    p, v = Vector(x[0], x[1]), Vector(x[2], x[3])
    for _ in range(6):
        p = p + v * 0.1
        v = v + p * -0.1
        if p.x > 1.0:
            break
    return p.dot(v)


def replaced_by_methods(x):
    s = State(x[0], x[1])
    for k in range(5):
        s = s.step(0.1) if k % 2 else State(s.speed, s.place * x[2])
    return s.energy() * s.place


def of_arrays(x):
    s = Field(x * 1.0, x * 0.5)
    while s.values[0] < 0.32:
        s = s.step(0.1)
    return np.sum(s.values * s.slopes)


def in_a_list(x):
    bodies = [Body(v) for v in x]
    for _ in range(3):
        for i in range(len(bodies)):
            for j in range(i):
                d = bodies[i].place - bodies[j].place + 0.1
                bodies[i].speed -= 0.1 * d
                bodies[j].speed += 0.1 * d
        for body in bodies:
            body.step(0.1)
    return sum([body.place * body.speed for body in bodies])


def appended(x):
    states = [State(x[0], x[1])]
    for k in range(4):
        states.append(states[-1].step(0.2))
    states[0].place = x[3]
    last = states.pop()
    return last.energy() * states[0].place + len(states)


def layers(x):
    network = [Layer(np.outer(x, x) * s, x) for s in (0.5, 1.5)]
    y = x
    for layer in network:
        y = layer(y)
    return np.sum(y)


def layers_of_a_display(x):
    y = x
    for layer in [Layer(np.outer(x, x), x), Layer(np.outer(x[:2], x), x[:2])]:
        y = layer(y)
    return np.sum(y)


def two_names(x):
    """The object that is assigned to has two names, in turn."""
    first, second = Leaf(x[0]), Leaf(x[1])
    for k in range(4):
        chosen = first if k % 2 else second
        chosen.value = chosen.value * x[2] + 0.5
        if k == 2:
            first = second
    return first.value * second.value


def kept_for_later(x):
    best = s = Leaf(x[0])
    for v in x:
        s = Leaf(v * s.value + 0.3)
        if s.value > best.value:
            best = s
        s.value *= 0.9
    return best.value * s.value


def of_objects(x):
    inner = Leaf(x[0])
    a, b = Node(x[1], inner), Node(x[2], inner)
    for _ in range(3):
        a.other.value += b.weight * b.other.value
        b.weight *= 0.5 + x[3]
    return a.other.value * a.weight


FUNCTIONS = [replaced_in_a_loop, replaced_by_methods, of_arrays, in_a_list, appended, layers, layers_of_a_display,
             two_names, kept_for_later, of_objects]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda x: x.__name__)
def test_gradients(function):
    agree(function, X)


@pytest.mark.parametrize("function", [replaced_in_a_loop, in_a_list, two_names], ids=lambda x: x.__name__)
def test_second_derivatives(function):
    found, step = hessian(function)(X), 1e-6
    for n in range(len(X)):
        up, down = X.copy(), X.copy()
        up[n] += step
        down[n] -= step
        np.testing.assert_allclose(found[n], (grad(function)(up) - grad(function)(down)) / (2 * step), 1e-6, 1e-6)


def test_a_dataclass_among_the_arguments():
    def f(s, h):
        for _ in range(5):
            s = s.step(h)
        return s.energy() * s.place

    found = grad(f)(State(0.3, 0.7), 0.1)
    for name in ("place", "speed"):
        up, down = (f(dataclasses.replace(State(0.3, 0.7), **{name: getattr(State(0.3, 0.7), name) + d}), 0.1)
                    for d in (1e-6, -1e-6))
        assert getattr(found, name) == pytest.approx((up - down) / 2e-6, rel=1e-6)


def unset(x):
    leaf = Leaf(x[0])
    if x[0] > 5.0:
        leaf.other = x[1]
    return leaf.value * leaf.other


def test_an_attribute_that_may_be_missing_is_refused():
    with pytest.raises(pyjitc.UnsupportedError, match="is put into an object here"):
        grad(unset)(X)


def of_unknown_objects(x):
    inner = Leaf(x[0])
    a, b = Node(x[1], inner), Node(x[2], inner)
    inner.shown = str(inner)  # the interpreter gets the object
    for _ in range(3):
        a.other.value += b.weight * b.other.value
    return a.other.value * a.weight


def test_an_attribute_that_is_an_object_of_the_interpreter_is_refused():
    with pytest.raises(pyjitc.UnsupportedError, match="is put into an object here"):
        grad(of_unknown_objects)(X)


class Dense:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return x @ self.w + self.b


class Network:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = np.tanh(layer(x))
        return self.layers[-1](x)


def of_a_network(w, b, x):
    network = Network([Dense(w, 0.1), Dense(w * w, b), Dense(w + 1.0, b * b)])
    *hidden, last = network.layers
    return np.sum(network.forward(x) ** 2) + np.sum(last(hidden[-1](x)))


def of_lists_of_objects(w, b, x):
    layers = [Dense(w, b), Dense(w * 2.0, b)] + [Dense(w - 1.0, 0.5)]
    layers.insert(1, Dense(w * b, 1.0))
    layers.reverse()
    copy = layers.copy()
    removed = layers.pop(1)
    for layer in list(layers)[::-1] + copy[1:3]:
        x = np.tanh(layer(x))
    return np.sum(removed(x))


@pytest.mark.parametrize("function", [of_a_network, of_lists_of_objects])
def test_lists_of_objects_are_sliced_joined_and_changed(function):
    w = np.array([[0.3, -0.2], [0.5, 0.7]])
    agree(function, w, 0.4, np.array([[1.0, -2.0], [0.3, 0.8], [0.1, 0.9]]))
