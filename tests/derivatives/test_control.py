"""Derivatives of `try`, of variables that inner functions change, of variables of several types and of functions that
call themselves, and second derivatives of loops that end early."""
import math

import numpy as np
import pytest

from pyjitc import grad, jvp

from .differences import agree, central


def division(x, d):
    """The derivative, too, skips the trips that raise."""
    s = 0.0
    for i in range(len(d)):
        try:
            y = x * x / d[i]
            s += y * x
        except ZeroDivisionError:
            s = s * x + math.sin(x)
    return s


def handlers(x):
    s = 0.5
    for i in range(5):
        try:
            s += math.sqrt(x[i])
        except ValueError:
            s *= x[i] * 2.0
            if s < -5.0:
                break
        except IndexError:
            s += x[0] * s
            continue
        finally:
            s += x[1] * 0.3 * s
    return s * x[2]


def left_by_an_exception(x):
    s = 1.0
    while True:
        try:
            if s > 10.0:
                raise ValueError("stop")
            s = s * x + 1.0
        except ValueError:
            break
    return s * s


def left_by_break(x):
    y = x * x
    for i in range(10):
        y = y * x
        if y > 20.0:
            y = y + math.exp(x)
            break
    return y


def cells(x):
    y = 0.0

    def add(z):
        nonlocal y
        y += z * y + z

    for i in range(3):
        add(x)
        add(x * x)
    return y


def none_at_first(x):
    y = None
    for i in range(4):
        if y is None:
            y = x * x
        else:
            y = y * x + i
    return x if y is None else y


def test_handlers():
    agree(handlers, np.array([0.5, -2.0, 1.2]))


def test_what_raised_is_not_differentiated():
    def first(a, b):
        try:
            return np.linalg.solve(a, b)[0]
        except np.linalg.LinAlgError:
            return a[0, 1] * b[1]

    of_a, of_b = grad(first, (0, 1))(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([1.0, 3.0]))
    np.testing.assert_array_equal(of_a, [[0.0, 3.0], [0.0, 0.0]])
    np.testing.assert_array_equal(of_b, [0.0, 2.0])
    np.testing.assert_allclose(grad(first, 1)(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([1.0, 3.0])), [0.5, 0.0])


def halves(x):
    if len(x) == 1:
        return x[0] * x[0]
    h = len(x) // 2
    return halves(x[:h]) * 0.5 + math.sin(halves(x[h:])) * x[0]


def power(x, n):
    return 1.0 * x if n == 0 else power(x * x * 0.9, n - 1) + x


def in_a_loop(x):
    s = 0.0
    for i in range(4):
        s += power(0.8 * x, i) * x
    return s


def pairs(p, n):
    if n == 0:
        return p
    a, b = pairs((p[0] * p[1], p[0] + 1.0), n - 1)
    return b, a * 2.0


def of_pairs(x):
    a, b = pairs((x, x * x), 3)
    return a * b


def even(x, n=3):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return 2.0 * x if n == 0 else even(math.sin(x), n - 1)


def test_recursion_over_an_array():
    agree(halves, np.array([0.5, 0.2, 0.9, 0.1, 0.4]))


@pytest.mark.parametrize("function", [division, left_by_an_exception, left_by_break, cells, none_at_first, in_a_loop,
                                      of_pairs, even],
                         ids=lambda x: x.__name__)
def test_first_and_second_derivatives(function):
    rest = ([1.0, 0.0, 3.0],) if function is division else ()
    x, h = 1.4, 1e-6
    first = grad(function)(x, *rest)
    np.testing.assert_allclose(first, (function(x + h, *rest) - function(x - h, *rest)) / (2 * h), 1e-6)
    second = grad(grad(function))(x, *rest)
    np.testing.assert_allclose(second, (grad(function)(x + h, *rest) - grad(function)(x - h, *rest)) / (2 * h), 1e-6)
    if not rest:
        assert jvp(function, (x,), (1.0,))[1] == pytest.approx(first, rel=1e-14)


class Model:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def at(self, x):
        return np.sum(np.tanh(self.w * x)) * self.b[0]


class Particle:
    def __init__(self, place, speed):
        self.place, self.speed, self.steps = place, speed, 0

    def advance(self, h):
        self.place += h * self.speed
        self.speed -= h * math.sin(self.place)
        self.steps += 1


def lists(x):
    """Lists to which no other code has a reference."""
    squares, changed = [v * v for v in x] + [x[0]], [0.0] * 3
    for i in range(3):
        changed[i] = squares[i] * x[0]
    s = np.array(squares)[1] * x[2]
    while len(squares) > 1:
        s += squares.pop() * changed[-1]
    try:
        return s * squares[1:][1]
    except IndexError:
        return s + squares[0] + sum(changed[::2])


def rows(x):
    found = [x]
    for i in range(3):
        found.append(np.tanh(found[-1] * x))
    return np.sum(np.stack(found)[2] * x)


def objects(x):
    one = Particle(x[0], x[1])
    for _ in range(4):
        one.advance(0.1 * x[2])
    model = Model(x * 0.5, x[1:])
    model.w[1] *= x[0]
    return one.place * one.speed * one.steps + model.at(x)


def products(x):
    y = 1.0
    for v in x:
        y *= v
        yield y * x[0]


def generators(x):
    return sum(v * v for v in products(x)) + max(v * x[1] for v in x if v > 0.6)


def sums_of_arrays(x):
    """`sum` of no arrays is an int."""
    return np.sum(sum(x * v for v in x) ** 2)


@pytest.mark.parametrize("function", [lists, rows, objects, generators, sums_of_arrays], ids=lambda x: x.__name__)
def test_lists_objects_and_generators(function):
    x = np.array([0.5, 1.2, 0.9])
    np.testing.assert_allclose(grad(function)(x), central(function, (x,), 0), 1e-6)


def test_forward_mode_of_lists():
    x = np.array([0.5, 1.2, 0.9])
    value, change = jvp(rows, (x,), (x,))
    assert (value, change) == (pytest.approx(rows(x)), pytest.approx(central(rows, (x,), 0) @ x, rel=1e-6))
