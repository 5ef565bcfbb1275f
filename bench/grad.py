"""Suite `grad`: the time of a gradient by reverse mode, as a ratio to the time of the function itself.

Both are compiled by pyjitc, take turns, and get the same arguments. Each ratio is shown with both times, and with the
time of JAX's gradient, on one thread, where JAX can differentiate the program (`grad_jax.py`). A gradient is checked
against forward mode, and JAX's against it, before it is timed. Rows of forward mode and of products with the Hessian,
and of the time of compiling, follow.
"""
from __future__ import annotations

import math
import time

import numpy as np

from pyjitc import grad, jvp, njit, value_and_grad

from . import grad_jax
from .measure import progress, ratio, runs, sample
from .table import Row
from .worker import Failed, Workers

__all__ = ["PEERS", "PROGRAMS", "measure"]

PEERS = ("jax",)


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


def lorenz_arrays(u, parameters, n, h):
    """The same with the state in an array."""
    def slope(u):
        return np.array([parameters[0] * (u[1] - u[0]), u[0] * (parameters[1] - u[2]) - u[1],
                         u[0] * u[1] - parameters[2] * u[2]])

    for t in range(n):
        u = u + h * slope(u + 0.5 * h * slope(u))
    return np.sum(u * u)


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


def garch(omega, alpha, beta, returns):
    """The negative log-likelihood of returns whose variance follows a GARCH(1, 1) process."""
    variance, s = 1.0, 0.0
    for i in range(len(returns)):
        s += math.log(variance) + returns[i] * returns[i] / variance
        variance = omega + alpha * returns[i] * returns[i] + beta * variance
    return s


def tridiagonal(d, b):
    """The squared norm of the solution of a tridiagonal system with ones beside the diagonal d (Thomas's algorithm)."""
    n = len(d)
    c, x = np.empty(n), np.empty(n)
    c[0], x[0] = 1.0 / d[0], b[0] / d[0]
    for i in range(1, n):
        c[i] = 1.0 / (d[i] - c[i - 1])
        x[i] = (b[i] - x[i - 1]) * c[i]
    s = x[n - 1] * x[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
        s += x[i] * x[i]
    return s


def warped(x, y):
    """The distance of two sequences by dynamic time warping with a smooth minimum."""
    r = np.full((len(x) + 1, len(y) + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            a, b, c = r[i - 1, j], r[i, j - 1], r[i - 1, j - 1]
            m = min(a, b, c)
            d = x[i - 1] - y[j - 1]
            r[i, j] = d * d + m - math.log(math.exp(m - a) + math.exp(m - b) + math.exp(m - c))
    return r[len(x), len(y)]


def impulses(v, normals, pairs, sweeps):
    """What is left of the energy of balls after their collisions in pairs, one after the other."""
    v = v.copy()
    for t in range(sweeps):
        for k in range(len(pairs)):
            i, j = pairs[k, 0], pairs[k, 1]
            p = (v[i, 0] - v[j, 0]) * normals[k, 0] + (v[i, 1] - v[j, 1]) * normals[k, 1]
            if p < 0.0:
                p *= 0.45
                v[i, 0] -= p * normals[k, 0]
                v[i, 1] -= p * normals[k, 1]
                v[j, 0] += p * normals[k, 0]
                v[j, 1] += p * normals[k, 1]
    s = 0.0
    for i in range(len(v)):
        s += v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1]
    return s


def _collisions(random):
    angles = random.uniform(0.0, 2.0 * np.pi, 2_000)
    return (random.normal(size=(500, 2)), np.stack((np.cos(angles), np.sin(angles)), axis=1),
            random.integers(0, 500, size=(2_000, 2)), 4)


_LORENZ = np.array([10.0, 28.0, 8 / 3])
# name -> (function, arguments from a random generator, argnums, budget of the ratio)
PROGRAMS = {
    "rosenbrock, 100,000 numbers": (rosenbrock, lambda r: (r.normal(size=100_000),), (0,), 3.2),
    "lorenz, 10,000 steps": (lorenz, lambda r: (1.0, 1.0, 1.0, 10.0, 28.0, 8 / 3, 10_000, 0.001), (0, 1, 2), 2.2),
    "lorenz with arrays, 10,000 steps": (lorenz_arrays, lambda r: (np.ones(3), _LORENZ, 10_000, 0.001), (0,), None),
    "heat in place, 200 x 200, 20 steps": (heat, lambda r: (r.normal(size=(200, 200)), 20, 0.1), (0,), 2.5),
    "burgers, 1,000 x 300": (burgers, lambda r: (0.1 * r.normal(size=1000), 300, 0.1), (0,), 4.6),
    "logistic regression, loops": (logistic, lambda r: (r.normal(size=50), r.normal(size=(2000, 50)),
                                                        np.sign(r.normal(size=2000))), (0,), 1.5),
    "newton, while, 10,000 numbers": (newtons, lambda r: (r.normal(size=10_000),), (0,), 4.5),
    "elementwise, 100,000 numbers": (elementwise, lambda r: (r.normal(size=100_000), r.normal(size=100_000)), (0,),
                                     2.5),
    "logistic regression, arrays": (logistic_arrays, lambda r: (r.normal(size=50), r.normal(size=(20_000, 50)),
                                                                np.sign(r.normal(size=20_000))), (0,), 2.0),
    "perceptron, 2,000 rows": (perceptron, lambda r: (r.normal(size=(50, 64)), r.normal(size=64), r.normal(size=64),
                                                      r.normal(size=(2000, 50)), r.normal(size=2000)), (0, 1, 2), 3.0),
    "GARCH, 10,000 returns": (garch, lambda r: (0.1, 0.1, 0.8, r.normal(size=10_000)), (0, 1, 2), None),
    "tridiagonal system, 10,000": (tridiagonal, lambda r: (4.0 + r.random(10_000), r.normal(size=10_000)), (0, 1),
                                   None),
    "time warping, 100 x 100": (warped, lambda r: (r.normal(size=100), r.normal(size=100)), (0,), None),
    "collisions, 4 x 2,000 of 500 balls": (impulses, _collisions, (0, 1), None),
    "ode, 100 steps of 50": (ode, lambda r: (0.1 * r.normal(size=(50, 50)), r.normal(size=50)), (1,), 4.0),
}
DERIVATIVES = {"forward mode of rosenbrock": 2.6, "product with the Hessian of rosenbrock": 5.0}  # name -> budget
COMPILE = 2.6  # budget of the ratio of compile times


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    rows = []
    with Workers(["pyjitc", *peers]) as workers:
        for name, (function, *_, budget) in PROGRAMS.items():
            if only in name:
                progress(f"grad: {name}")
                rows.append(_row(workers, name, function.__name__, budget, 5 if quick else 25))
        for name, budget in DERIVATIVES.items():
            if only in name:
                progress(f"grad: {name}")
                rows.append(_row(workers, name, "", budget, 5 if quick else 25))
        for name in PROGRAMS:
            label = f"compiling: {name}"
            if only in label:
                progress(f"grad: {label}")
                rows.append(_compile_row(workers, label, name, 1 if quick else 5))
    progress("")
    return rows


def _row(workers, name, function, budget, rounds) -> Row:
    """workers: those of the contenders; function: the name of the program in grad_jax.py, or empty."""
    contenders = list(workers) if function else ["pyjitc"]
    try:
        problem, args, argnums, gradients = workers["pyjitc"].ask(prepare, name)
        if problem:
            raise Failed(problem)
        if "jax" in contenders:
            theirs = workers["jax"].ask(grad_jax.prepare, function, args, argnums)
            if theirs is None:
                contenders.remove("jax")
            elif not all(np.allclose(x, y, 1e-6, 1e-9) for x, y in zip(gradients, theirs[1])):
                raise Failed("JAX's gradient differs")
        turns = {peer: [] for peer in contenders}
        for _ in range(rounds):
            for peer in contenders:
                turns[peer].append(workers[peer].ask(turn if peer == "pyjitc" else grad_jax.turn))
    except Failed as error:
        return Row("grad", name, "x", None, budget=budget, note=str(error))
    own = {key: [times[key] for times in turns["pyjitc"]] for key in ("gradient", "function")}
    cells, ratios = {key: _short(times) for key, times in own.items()}, {}
    if "jax" in contenders:
        ratios["jax"] = ratio(turns["jax"], own["gradient"])
        cells |= {"JAX": _short(turns["jax"]), "over JAX": f"{ratios['jax'].median:.2f}x"}
    return Row("grad", name, "x", ratio(own["gradient"], own["function"]), cells, budget, ratios=ratios)


def _compile_row(workers, label, name, rounds) -> Row:
    try:
        times = workers["pyjitc"].ask(compiling, name, rounds)
    except Failed as error:
        return Row("grad", label, "x", None, budget=COMPILE, note=str(error))
    return Row("grad", label, "x", ratio(times["gradient"], times["function"]),
               {key: _short(found) for key, found in times.items()}, COMPILE)


def _short(times) -> str:
    return f"{sample(times).median * 1e3:.3g} ms"


# Functions of the worker process.

_running: list = []  # the functions that are timed, by name, and a function that makes their arguments


def prepare(name):
    """Prepare the gradient and the function of a row for `turn`. Returns ('' or what is wrong, arguments, the numbers
    of those that the gradient is by, gradients)."""
    if name in DERIVATIVES:
        x, t = (np.random.default_rng(n).normal(size=100_000) for n in (0, 1))
        of, primal = (njit(_forward) if "forward" in name else njit(_second)), njit(rosenbrock)
        _running[:] = {"gradient": of, "function": lambda x, t: primal(x)}, lambda: (x, t)
        return "", (), (), ()
    function, make, argnums, _ = PROGRAMS[name]

    def arguments():
        return make(np.random.default_rng(0))

    gradient = value_and_grad(function, argnums)
    _running[:] = {"gradient": gradient, "function": njit(function)}, arguments
    return _wrong(function, gradient, arguments(), argnums), arguments(), argnums, gradient(*arguments())[1]


def turn() -> dict[str, float]:
    """The seconds of one call of each function."""
    return {key: found[0] for key, found in runs(*_running, 1).items()}


def compiling(name, rounds) -> dict[str, list[float]]:
    """The seconds in which a gradient and its function are compiled, one figure per round, always of new functions."""
    function, make, argnums, _ = PROGRAMS[name]
    times: dict[str, list[float]] = {"gradient": [], "function": []}
    for n in range(rounds + 1):  # in the first round modules of the compiler are loaded
        for key, transform in (("function", lambda f: njit(f, cache=False)),
                               ("gradient", lambda f: value_and_grad(f, argnums))):
            code = function.__code__.replace(co_name=f"{key}_{n}", co_filename=f"<{name} {n}>")
            compiled = transform(type(function)(code, function.__globals__, f"{key}_{n}", None, function.__closure__))
            seconds = []
            for _ in range(2):
                args = make(np.random.default_rng(0))
                start = time.process_time()
                compiled(*args)
                seconds.append(time.process_time() - start)
            if n:
                times[key].append(seconds[0] - seconds[1])
    return times


def _forward(x, t):
    return jvp(rosenbrock, (x,), (t,))


def _second(x, t):
    return jvp(grad(rosenbrock), (x,), (t,))


def _wrong(function, gradient, args, argnums) -> str:
    """'' if a gradient agrees with forward mode in one direction, otherwise a text about the difference."""
    random = np.random.default_rng(1)
    tangents = []
    for n, x in enumerate(args):
        if isinstance(x, np.ndarray):
            varies, shape = x.dtype.kind == "f", x.shape
        else:
            varies, shape = isinstance(x, float), None
        tangents.append(None if not varies else random.normal(size=shape) * (n in argnums))
    _, change = jvp(function, args, tangents)
    _, found = gradient(*args)
    product = sum(np.sum(g * tangents[n]) for n, g in zip(argnums, found))
    return "" if math.isclose(change, product, rel_tol=1e-6) else f"forward mode says {change}, reverse mode {product}"
