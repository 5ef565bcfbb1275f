"""The programs of the suite `grad` as JAX takes them, with `jax.numpy`, and `lax.scan` where a loop carries values.

Runs in a process of its own, which imports JAX."""
from __future__ import annotations

import importlib
import time

import numpy as np

from .measure import WINDOWS

__all__ = ["prepare", "turn"]

_running: list = []  # the call that is timed, and the number of calls in a turn


def prepare(name, args, argnums):
    """Compile the gradient of a program for these arguments. Returns the value and the gradients, or None where there
    is no form of it that JAX differentiates by reverse mode."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    function = _programs(jax).get(name)
    if function is None:
        return None
    static = tuple(n for n, x in enumerate(args) if isinstance(x, int))
    run = jax.jit(jax.value_and_grad(function, argnums), static_argnums=static)
    own = [x if n in static else jax.numpy.asarray(x) for n, x in enumerate(args)]
    value, gradients = jax.block_until_ready(run(*own))
    start = time.perf_counter()
    jax.block_until_ready(run(*own))
    once = time.perf_counter() - start
    _running[:] = lambda: jax.block_until_ready(run(*own)), max(1, int(2e-3 / once))
    return float(value), [np.asarray(x) for x in gradients]


def turn() -> float:
    """The seconds of one gradient: the best of as many windows as `measure.runs` takes."""
    call, count = _running
    best = float("inf")
    for _ in range(WINDOWS):
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def _programs(jax):
    np, lax = jax.numpy, jax.lax

    def rosenbrock(x):
        p, q = x[1:] - x[:-1] * x[:-1], 1.0 - x[:-1]
        return np.sum(100.0 * p * p + q * q)

    def lorenz(x, y, z, sigma, rho, beta, n, h):
        def step(state, _):
            x, y, z = state
            ax = x + 0.5 * h * (sigma * (y - x))
            ay = y + 0.5 * h * (x * (rho - z) - y)
            az = z + 0.5 * h * (x * y - beta * z)
            return (x + h * (sigma * (ay - ax)), y + h * (ax * (rho - az) - ay), z + h * (ax * ay - beta * az)), None

        (x, y, z), _ = lax.scan(step, (x, y, z), length=n)
        return x * x + y * y + z * z

    def lorenz_arrays(u, parameters, n, h):
        def slope(u):
            return np.array([parameters[0] * (u[1] - u[0]), u[0] * (parameters[1] - u[2]) - u[1],
                             u[0] * u[1] - parameters[2] * u[2]])

        u, _ = lax.scan(lambda u, _: (u + h * slope(u + 0.5 * h * slope(u)), None), u, length=n)
        return np.sum(u * u)

    def heat(u, n, c):
        def step(u, _):
            inner = u[1:-1, 1:-1]
            return u.at[1:-1, 1:-1].set(
                inner + c * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * inner)), None

        u, _ = lax.scan(step, u, length=n)
        return np.sum(u * u)

    def burgers(u, n, c):
        def step(u, _):
            inner = u[1:-1]
            return u.at[1:-1].set(inner - c * inner * (u[2:] - u[:-2]) + 0.1 * (u[2:] - 2.0 * inner + u[:-2])), None

        u, _ = lax.scan(step, u, length=n)
        return np.sum(u * u)

    def logistic(w, x, y):
        return np.sum(np.log(1.0 + np.exp(-y * (x @ w)))) / len(y)

    def elementwise(x, y):
        return np.sum(np.sin(x) * x + y * np.exp(-x * x))

    def logistic_arrays(w, x, y):
        return np.mean(np.log1p(np.exp(-y * (x @ w))))

    def perceptron(w, b, v, x, y):
        return np.mean((np.tanh(x @ w + b) @ v - y) ** 2)

    def ode(a, u):
        u, _ = lax.scan(lambda u, _: (u + 0.01 * (np.tanh(a @ u) - u), None), u, length=100)
        return np.sum(u * u)

    def garch(omega, alpha, beta, returns):
        def step(variance, r):
            return omega + alpha * r * r + beta * variance, np.log(variance) + r * r / variance

        return np.sum(lax.scan(step, 1.0, returns)[1])

    def tridiagonal(d, b):
        def down(state, now):
            (c, x), (d, b) = state, now
            c = 1.0 / (d - c)
            return (c, (b - x) * c), (c, (b - x) * c)

        def up(following, now):
            c, x = now
            x = x - c * following
            return x, x

        first = 1.0 / d[0], b[0] / d[0]
        last, rows = lax.scan(down, first, (d[1:], b[1:]))
        c, x = (np.concatenate([np.array([x]), xs[:-1]]) for x, xs in zip(first, rows))
        _, x = lax.scan(up, last[1], (c, x), reverse=True)
        return np.sum(x * x) + last[1] * last[1]

    def warped(x, y):
        def row(above, one):
            def cell(left, now):
                over, corner, other = now
                m = np.minimum(np.minimum(over, left), corner)
                d = one - other
                value = d * d + m - np.log(np.exp(m - over) + np.exp(m - left) + np.exp(m - corner))
                return value, value

            _, cells = lax.scan(cell, 1e10, (above[1:], above[:-1], y))
            return np.concatenate([np.array([1e10]), cells]), None

        above = np.full(len(y) + 1, 1e10).at[0].set(0.0)
        return lax.scan(row, above, x)[0][-1]

    def impulses(v, normals, pairs, sweeps):
        def collide(v, now):
            normal, (i, j) = now
            p = (v[i] - v[j]) @ normal
            change = np.where(p < 0.0, 0.45 * p, 0.0) * normal
            return v.at[i].add(-change).at[j].add(change), None

        v, _ = lax.scan(lambda v, _: (lax.scan(collide, v, (normals, pairs))[0], None), v, length=sweeps)
        return np.sum(v * v)

    # `newtons` loops until it converges: JAX has no reverse mode of that
    return {f.__name__: f for f in (rosenbrock, lorenz, lorenz_arrays, heat, burgers, logistic, elementwise,
                                    logistic_arrays, perceptron, ode, garch, tridiagonal, warped, impulses)}
