"""Suite `grad`: the time of a gradient by reverse mode, as a ratio to the time of the function itself.

Both are compiled by pyjitc, take turns, and get the same arguments. Each ratio is shown with both times. A gradient is
checked against forward mode before it is timed.
"""
from __future__ import annotations

import math

import numpy as np

from pyjitc import jvp, njit, value_and_grad

from .measure import progress, ratio, runs, sample
from .table import Row

__all__ = ["PROGRAMS", "measure"]


def rosenbrock(x):
    s = 0.0
    for i in range(len(x) - 1):
        p = x[i + 1] - x[i] * x[i]
        q = 1.0 - x[i]
        s += 100.0 * p * p + q * q
    return s


def lorenz(x, y, z, sigma, rho, beta, n, h):
    """The squared norm of the state of the Lorenz system after n steps of the midpoint method."""
    for t in range(n):
        ax = x + 0.5 * h * (sigma * (y - x))
        ay = y + 0.5 * h * (x * (rho - z) - y)
        az = z + 0.5 * h * (x * y - beta * z)
        x += h * (sigma * (ay - ax))
        y += h * (ax * (rho - az) - ay)
        z += h * (ax * ay - beta * az)
    return x * x + y * y + z * z


def heat(u, n, c):
    h, w = u.shape
    v = np.zeros((h, w))
    for t in range(n):
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                v[i, j] = u[i, j] + c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                u[i, j] = v[i, j]
    s = 0.0
    for i in range(h):
        for j in range(w):
            s += u[i, j] * u[i, j]
    return s


def burgers(u, n, c):
    w = len(u)
    v = np.zeros(w)
    for t in range(n):
        for i in range(1, w - 1):
            v[i] = u[i] - c * u[i] * (u[i + 1] - u[i - 1]) + 0.1 * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        for i in range(1, w - 1):
            u[i] = v[i]
    s = 0.0
    for i in range(w):
        s += u[i] * u[i]
    return s


def logistic(w, x, y):
    n, d = x.shape
    s = 0.0
    for i in range(n):
        t = 0.0
        for j in range(d):
            t += x[i, j] * w[j]
        s += math.log(1.0 + math.exp(-y[i] * t))
    return s / n


def newtons(x):
    s = 0.0
    for i in range(len(x)):
        y = x[i] * x[i] + 1.0
        z = y
        while abs(z * z - y) > 1e-10:
            z = 0.5 * (z + y / z)
        s += z * x[i]
    return s


def elementwise(x, y):
    return np.sum(np.sin(x) * x + y * np.exp(-x * x))


def logistic_arrays(w, x, y):
    return np.mean(np.log1p(np.exp(-y * (x @ w))))


def perceptron(w, b, v, x, y):
    return np.mean((np.tanh(x @ w + b) @ v - y) ** 2)


def ode(a, u):
    for t in range(100):
        u = u + 0.01 * (np.tanh(a @ u) - u)
    return np.sum(u * u)


# name -> (function, arguments from a random generator, argnums, budget of the ratio)
PROGRAMS = {
    "rosenbrock, 100,000 numbers": (rosenbrock, lambda r: (r.normal(size=100_000),), (0,), 4.0),
    "lorenz, 10,000 steps": (lorenz, lambda r: (1.0, 1.0, 1.0, 10.0, 28.0, 8 / 3, 10_000, 0.001), (0, 1, 2), 3.5),
    "heat in place, 200 x 200, 20 steps": (heat, lambda r: (r.normal(size=(200, 200)), 20, 0.1), (0,), 6.0),
    "burgers, 1,000 x 300": (burgers, lambda r: (0.1 * r.normal(size=1000), 300, 0.1), (0,), None),
    "logistic regression, loops": (logistic, lambda r: (r.normal(size=50), r.normal(size=(2000, 50)),
                                                        np.sign(r.normal(size=2000))), (0,), 2.0),
    "newton, while, 10,000 numbers": (newtons, lambda r: (r.normal(size=10_000),), (0,), 5.0),
    "elementwise, 100,000 numbers": (elementwise, lambda r: (r.normal(size=100_000), r.normal(size=100_000)), (0,),
                                     4.0),
    "logistic regression, arrays": (logistic_arrays, lambda r: (r.normal(size=50), r.normal(size=(20_000, 50)),
                                                                np.sign(r.normal(size=20_000))), (0,), 2.5),
    "perceptron, 2,000 rows": (perceptron, lambda r: (r.normal(size=(50, 64)), r.normal(size=64), r.normal(size=64),
                                                      r.normal(size=(2000, 50)), r.normal(size=2000)), (0, 1, 2), 4.0),
    "ode, 100 steps of 50": (ode, lambda r: (0.1 * r.normal(size=(50, 50)), r.normal(size=50)), (1,), 5.0),
}


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    rows = []
    for name, (function, prepare, argnums, budget) in PROGRAMS.items():
        if only in name:
            progress(f"grad: {name}")
            rows.append(_row(name, function, prepare, argnums, budget, quick))
    progress("")
    return rows


def _row(name, function, prepare, argnums, budget, quick) -> Row:
    def arguments():
        return prepare(np.random.default_rng(0))

    primal, gradient = njit(function), value_and_grad(function, argnums)
    problem = _wrong(function, gradient, arguments(), argnums)
    if problem:
        return Row("grad", name, "x", None, budget=budget, note=problem)
    times = runs({"pyjitc": gradient, "function": primal}, arguments, 5 if quick else 25)
    cells = {label: f"{sample(times[key]).median * 1e3:.3g} ms"
             for label, key in (("gradient", "pyjitc"), ("function", "function"))}
    return Row("grad", name, "x", ratio(times["pyjitc"], times["function"]), cells, budget)


def _wrong(function, gradient, args, argnums) -> str:
    """'' if a gradient agrees with forward mode in one direction, otherwise a text about the difference."""
    random = np.random.default_rng(1)
    tangents = [(random.normal(size=np.shape(x)) if isinstance(x, np.ndarray) else random.normal()) if n in argnums
                else np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0 if isinstance(x, float) else None
                for n, x in enumerate(args)]
    _, change = jvp(function, args, tangents)
    _, found = gradient(*args)
    product = sum(np.sum(g * tangents[n]) for n, g in zip(argnums, found))
    return "" if math.isclose(change, product, rel_tol=1e-6) else f"forward mode says {change}, reverse mode {product}"
