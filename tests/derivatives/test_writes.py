"""Derivatives of random numbers by the parameters of their distributions, and of arrays that are written into by other
means than stores: by generators of random numbers, which fill them, and by C functions, which get their addresses."""
import ctypes
import random

import numpy as np
import pytest

from pyjitc import UnsupportedError, grad, hessian, jvp

from .differences import agree, central

Q = np.array([1.0, 2.0, 3.0])


def drawn_in_a_loop(q, seed):
    """What is kept of `e` are the numbers that were drawn, not what its memory held when it was made."""
    rng = np.random.default_rng(seed)
    s = 0.0
    for _ in range(4):
        e = rng.standard_normal(3)
        s += np.sum((q * e) ** 2)
    return s


def one_array_is_filled_again(q, seed):
    rng = np.random.default_rng(seed)
    e = np.empty(3)
    s = 0.0
    for _ in range(3):
        rng.standard_normal(out=e)  # overwrites what varies
        e *= q
        s += np.sum(e * e)
    return s


def what_varies_is_overwritten(q, seed):
    rng = np.random.default_rng(seed)
    e = q * 1.0
    s = np.sum(e * q)
    rng.random(out=e)
    return s + np.sum(e * q)


def part_is_overwritten(q, seed):
    rng = np.random.default_rng(seed)
    e = q * 2.0
    rng.standard_normal(out=e[1:])
    return np.sum(e * e * q)


def several_distributions(q, seed):
    rng = np.random.default_rng(seed)
    s = 0.0
    for _ in range(3):
        e = rng.random(3)
        s += np.sum((e * q) ** 2)
        e = rng.exponential(2.0, 3)
        s += np.sum((e * q) ** 2)
        e = rng.permutation(q)
        s += np.sum((e * q) ** 2)
    return s


def shuffled(q, seed):
    rng = np.random.default_rng(seed)
    y = np.stack((q * q, q, q ** 3))
    s = 0.0
    for _ in range(2):
        rng.shuffle(y)
        s += np.sum(y[0] * y[1])
        y = y[rng.permutation(3)] * q
        s += np.sum(rng.choice(q, 4) ** 3) + np.sum(q[rng.integers(0, 3, 4)] ** 2)
    return s


def ints_in_a_loop(q, seed):
    """The ints, of several types, are kept as well."""
    rng = np.random.default_rng(seed)
    s = 0.0
    for t in range(3):
        e = rng.integers(-9, 9, 3)
        s += np.sum((e * q) ** 2) + np.sum(e.astype(np.int8) * q ** 3)
        u = np.array([2 ** 62 + t, 1, t]).astype(np.uint64) * np.uint64(3)
        s += np.sum(np.sin(u * q * 1e-19))
    return s


@pytest.mark.parametrize("function", [drawn_in_a_loop, one_array_is_filled_again, what_varies_is_overwritten,
                                      part_is_overwritten, several_distributions, shuffled, ints_in_a_loop],
                         ids=lambda f: f.__name__)
def test_random_numbers_are_constants(function):
    agree(function, Q, 5)


def by_location_and_scale(a, b, seed):
    rng = np.random.default_rng(seed)
    s = rng.normal(a, b) * rng.uniform(a, a + b) + rng.laplace(a, b) * rng.logistic(a, b)
    return s + np.sum(rng.gumbel(a, b, 4) ** 2) + np.sum(rng.uniform(a, a + b, 3)) + rng.lognormal(a, b)


def by_scale_or_shape(a, b, seed):
    rng = np.random.default_rng(seed)
    s = rng.exponential(b) * rng.rayleigh(a) + rng.weibull(b) * rng.pareto(b) + rng.power(a) + rng.gamma(2.0, b)
    return s + np.sum(rng.exponential(a, 3) * rng.rayleigh(b, 3))


def triangular(a, b, seed):
    rng = np.random.default_rng(seed)
    s = 0.0
    for i in range(8):  # on both sides of the mode
        s += rng.triangular(a, a + b, a + 3.0 * b) * i
    return s


def legacy(a, b, seed):
    np.random.seed(seed)
    s = np.random.gamma(2.0, b) + np.random.vonmises(a, 2.0) + np.random.noncentral_chisquare(3.0, b)
    return s + np.random.laplace(a, b) + np.random.triangular(a, a + b, 9.0) * np.random.exponential(b)


@pytest.mark.parametrize("function", [by_location_and_scale, by_scale_or_shape, triangular, legacy],
                         ids=lambda f: f.__name__)
def test_distributions_are_differentiated_by_their_parameters(function):
    agree(function, 0.7, 1.3, 5)


@pytest.mark.parametrize("generator", ["np.random.default_rng(3)", "np.random.RandomState(3)"])
@pytest.mark.parametrize("draw", ["gamma(a, 1.0)", "gamma(a, 2.0, 5).sum()", "standard_gamma(a)", "chisquare(a)",
                                  "noncentral_chisquare(0.5, a)", "standard_t(a)", "f(a, 2.0)", "beta(a, 1.0)",
                                  "wald(a, 1.0)", "vonmises(0.0, a)", "dirichlet(np.array([a, 2.0]))[0]"])
def test_numbers_of_loops_that_reject_some_have_no_derivative(generator, draw):
    space = {"np": np}
    exec(f"def f(a):\n    return {generator}.{draw}", space)
    for derivative in (grad(space["f"]), lambda a: jvp(space["f"], (a,), (1.0,))):
        with pytest.raises(UnsupportedError, match="are drawn by a loop that rejects some"):
            derivative(1.5)


@pytest.mark.parametrize("draw", ["gammavariate(a, 1.0)", "gammavariate(beta=2.0, alpha=a)", "betavariate(2.0, a)",
                                  "vonmisesvariate(0.0, a)"])
def test_numbers_of_pythons_loops_that_reject_some(draw):
    space = {"random": random}
    exec(f"def f(a):\n    return random.Random(3).{draw} + random.{draw}", space)
    for derivative in (grad(space["f"]), lambda a: jvp(space["f"], (a,), (1.0,))):
        with pytest.raises(UnsupportedError, match="are drawn by a loop that rejects some"):
            derivative(1.5)


def test_distributions_of_python():
    def f(a, b, seed):
        random.seed(seed)
        s = random.gammavariate(2.5, b) + random.vonmisesvariate(a, 2.0) + random.normalvariate(a, b)
        return s + random.expovariate(a) + random.lognormvariate(a, b) * random.weibullvariate(a, b)

    agree(f, 0.7, 1.3, 5)


def test_of_an_array_without_axes():
    def f(q):
        total = np.zeros(())
        for x in q:
            total += x * x * total + x
        return total[()] * q[0]

    agree(f, Q)


def test_products_that_nothing_reads():
    def f(a):
        b, s = np.empty((3, 3)), 0.0
        for t in range(3):
            np.matmul(a, a * t, out=b)
            s += np.sum(b * b)
            np.dot(a, b, out=b.copy())
            np.dot(a, b[0], out=b[1].copy())
            a = a @ b * 0.1
        return s

    agree(f, np.outer(Q, Q) * 0.1 + np.eye(3))


def test_probabilities_that_vary_are_read_only():
    def f(q, seed):
        rng = np.random.default_rng(seed)
        p = q / np.sum(q)
        return np.sum(rng.multinomial(20, p) * p)

    counts = np.random.default_rng(5).multinomial(20, Q / 6.0)
    np.testing.assert_allclose(grad(f)(Q, 5), counts / 6.0 - np.sum(counts * Q) / 36.0)


def test_addresses_that_go_to_c():
    copy = ctypes.CDLL(None).memcpy
    copy.argtypes, copy.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_void_p

    def numbers(q):
        e = np.zeros(3)
        copy(e.ctypes.data, q.ctypes.data, 24)
        return np.sum(e * e)

    def objects(q):
        e = np.zeros(3)
        copy(e.ctypes, q.ctypes, 24)
        return np.sum(e * e) + np.sum(q)

    def constant(q):
        e, w = np.zeros(3), np.arange(3.0)
        copy(e.ctypes, w.ctypes, 24)
        return np.sum(e * q * q)

    for function in (numbers, objects):
        for derivative in (grad(function), lambda q, f=function: jvp(f, (q,), (q,))):
            with pytest.raises(UnsupportedError, match="go to code outside of pyjitc: there is no derivative of that"):
                derivative(Q)
    agree(constant, Q)


def overwritten_by_its_neighbours(x, a):
    u, v = x * 0.5, np.zeros(len(x))
    np.add.at(v, [1, 1, 3], a)
    u[1:] *= u[:-1]  # both factors are read, and copied, before the function computes what depends on the shape of u
    return np.sum(np.tanh(u) + v)


def test_factors_that_an_assignment_overwrites():
    agree(overwritten_by_its_neighbours, np.array([0.3, -1.2, 0.8, 0.5]), 0.7)


def by_columns(a, w):
    y = np.asfortranarray(a)
    return np.sum(np.sin(y) * w) + np.max(y * 2.0)


def chosen_by_columns(a, w):
    y = a if a[0, 0] > 5.0 else np.asfortranarray(a) * 2.0
    z = y.T
    return np.sum(z[1] * z[2]) + np.sum(y * w)


@pytest.mark.parametrize("function", (by_columns, chosen_by_columns))
def test_arrays_in_the_order_of_columns(function):
    a = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
    agree(function, a, np.cos(a * 3.0))


def of_neighbours(u):
    u = u.copy()
    for _ in range(3):
        u[1:] += 0.5 * u[:-1] * u[1:]
    return np.sum(u ** 2)


def exchanged_and_reversed(u):
    u = u.copy()
    u[:-1], u[1:] = u[1:] * u[0], u[:-1] * u[:-1]
    np.multiply(u, u[::-1], out=u)
    return np.sum(u ** 2)


def by_a_row_of_its_own(u):
    m = np.outer(u, u)
    m -= m[0]
    m *= m[:, 1:2]
    return np.sum(m * m)


def of_a_vector_with_a_part_of_itself(u):
    return np.sum((np.outer(u, u[:3]) @ u[:3]) ** 2) + 0.5 * u @ u


@pytest.mark.parametrize("function", (of_neighbours, exchanged_and_reversed, by_a_row_of_its_own))
def test_third_derivatives_of_targets_that_overlap_what_is_read(function):
    """The second derivatives copy, and do not choose at run time whether to."""
    u = np.array([0.3, -1.2, 0.8, 0.5, 1.1])
    agree(lambda u: np.sum(hessian(function)(u) ** 2), u)
    agree(lambda u: jvp(function, (u,), (u * u,))[1], u)


def test_a_third_derivative_of_products_with_a_part_of_the_argument():
    """By reverse mode alone: its jvp raises "output array is read-only" today."""
    u = np.array([0.3, -1.2, 0.8, 0.5, 1.1])

    def squares(u):
        return np.sum(hessian(of_a_vector_with_a_part_of_itself)(u) ** 2)

    wanted = central(squares, (u,), 0)
    np.testing.assert_allclose(grad(squares)(u), wanted, rtol=1e-6, atol=1e-6 * np.max(np.abs(wanted)))
