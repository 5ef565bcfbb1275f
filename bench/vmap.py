"""Suite `vmap`: functions for one example under `vmap`, against the same program written by hand for the whole batch,
as NumPy code or as a loop, and against `jax.jit(jax.vmap(...))` on one thread.

A figure is the ratio of vmap's time to that of the program by hand; both are compiled by pyjitc, and all take turns in
one process. Results are compared before they are timed.
"""
from __future__ import annotations

import importlib
import math
from typing import Any, Callable, NamedTuple

import numpy as np

from pyjitc import grad, njit, vmap

from .measure import progress, ratio, runs, sample
from .peers import available
from .table import Row
from .worker import Failed, Workers

__all__ = ["PROGRAMS", "measure", "times_of"]

PEERS = ("jax",)


class Program(NamedTuple):
    """one: the function for an example; hand: the program for the batch; axes: as in_axes; arguments: a random
    generator -> the arguments; theirs: (the module jax) -> JAX's function for an example, where it is not `one` with
    jax.numpy in the place of NumPy; transform: what is done to `one` before it is batched, with pyjitc's function or
    JAX's of that name; budget: of the figure."""

    one: Callable
    hand: Callable
    axes: Any
    arguments: Callable
    theirs: Callable | None = None
    transform: str = ""
    budget: float | None = None


def huber(x, d):
    if abs(x) <= d:
        return 0.5 * x * x
    return d * (abs(x) - 0.5 * d)


def hubers(x, d):
    return np.where(np.abs(x) <= d, 0.5 * x * x, d * (np.abs(x) - 0.5 * d))


def their_huber(jax):
    return lambda x, d: jax.numpy.where(abs(x) <= d, 0.5 * x * x, d * (abs(x) - 0.5 * d))


def newton(x):
    y = x * x + 1.0
    z = y
    while abs(z * z - y) > 1e-10:
        z = 0.5 * (z + y / z)
    return z


def newtons(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        y = x[i] * x[i] + 1.0
        z = y
        while abs(z * z - y) > 1e-10:
            z = 0.5 * (z + y / z)
        out[i] = z
    return out


def their_newton(jax):
    def one(x):
        y = x * x + 1.0
        return jax.lax.while_loop(lambda z: abs(z * z - y) > 1e-10, lambda z: 0.5 * (z + y / z), y)

    return one


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def collatzes(numbers):
    out = np.empty(len(numbers), np.int64)
    for i in range(len(numbers)):
        n, steps = numbers[i], 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps
    return out


def their_collatz(jax):
    def step(state):
        n, steps = state
        return jax.numpy.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return lambda n: jax.lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]


def escape(a, b):
    x = y = 0.0
    for k in range(200):
        x, y = x * x - y * y + a, 2.0 * x * y + b
        if x * x + y * y > 4.0:
            return k
    return 200


def escapes(a, b):
    out = np.empty(len(a), np.int64)
    for i in range(len(a)):
        x = y = 0.0
        out[i] = 200
        for k in range(200):
            x, y = x * x - y * y + a[i], 2.0 * x * y + b[i]
            if x * x + y * y > 4.0:
                out[i] = k
                break
    return out


def their_escape(jax):
    def one(a, b):
        def going(state):
            x, y, k = state
            return (k < 200) & (x * x + y * y <= 4.0)

        found = jax.lax.while_loop(
            going, lambda s: (s[0] * s[0] - s[1] * s[1] + a, 2.0 * s[0] * s[1] + b, s[2] + 1), (0.0, 0.0, -1))[2]
        return jax.numpy.where(found < 0, 0, found)

    return one


def bisection(a):
    low, high = 0.0, 2.0 + a
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        if middle * middle * middle + middle < a:
            low = middle
        else:
            high = middle
    return low


def bisections(a):
    out = np.empty(len(a))
    for i in range(len(a)):
        low, high = 0.0, 2.0 + a[i]
        while high - low > 1e-12:
            middle = 0.5 * (low + high)
            if middle * middle * middle + middle < a[i]:
                low = middle
            else:
                high = middle
        out[i] = low
    return out


def their_bisection(jax):
    def one(a):
        def step(ends):
            low, high = ends
            middle = 0.5 * (low + high)
            left = middle * middle * middle + middle < a
            return jax.numpy.where(left, middle, low), jax.numpy.where(left, high, middle)

        return jax.lax.while_loop(lambda ends: ends[1] - ends[0] > 1e-12, step, (0.0 * a, 2.0 + a))[0]

    return one


def norm(x):
    return np.sqrt(np.sum(x * x))


def norms(x):
    return np.sqrt(np.sum(x * x, axis=1))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def softmaxes(x):
    e = np.exp(x - np.max(x, axis=1)[:, None])
    return e / np.sum(e, axis=1)[:, None]


def product(w, x):
    return w @ x


def products(w, x):
    return x @ w.T


def layer(w, b, x):
    return np.sum(np.tanh(w @ x + b))


def layers(w, b, x):
    return np.sum(np.tanh(x @ w.T + b), axis=1)


def matrices(a, b):
    return a @ b


def solve(a, b):
    return np.linalg.solve(a, b)


def solves(a, b):
    return np.linalg.solve(a, b[:, :, None])[:, :, 0]


def transform(x):
    return np.fft.fft(x)


def transforms(x):
    return np.fft.fft(x, axis=1)


def running(x):
    return np.cumsum(x)


def runnings(x):
    return np.cumsum(x, axis=1)


def kernel(x, ys):
    return vmap(lambda y: np.exp(-np.sum((x - y) ** 2)))(ys)


def kernels(x, y):
    return np.exp(-np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2))


def their_kernel(jax):
    return lambda x, ys: jax.vmap(lambda y: jax.numpy.exp(-jax.numpy.sum((x - y) ** 2)))(ys)


def rotated(angle, v):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


def rotations(angle, v):
    out = np.empty((len(angle), 2))
    for i in range(len(angle)):
        c, s = np.cos(angle[i]), np.sin(angle[i])
        out[i, 0] = c * v[i, 0] - s * v[i, 1]
        out[i, 1] = s * v[i, 0] + c * v[i, 1]
    return out


def squares(x):
    return np.sum(x * x)


def columns(x):
    return np.sum(x * x, axis=0)


def loss(w, b, v, x, y):
    return (np.dot(v, np.tanh(w @ x + b)) - y) ** 2


def losses(w, b, v, x, y):
    h = np.tanh(x @ w.T + b)
    e = 2.0 * (h @ v - y)
    return (e[:, None] * v * (1.0 - h * h))[:, :, None] * x[:, None, :]


PROGRAMS = {
    "branches, 100,000 numbers": Program(huber, hubers, (0, None), lambda r: (r.normal(size=100_000), 1.0),
                                         their_huber, budget=1.2),
    "newton, 10,000 numbers": Program(newton, newtons, 0, lambda r: (r.normal(size=10_000),), their_newton, budget=1.2),
    "collatz, 10,000 numbers": Program(collatz, collatzes, 0, lambda r: (np.arange(1, 10_001),), their_collatz,
                                       budget=1.2),
    "mandelbrot, 15,000 points": Program(
        escape, escapes, 0, lambda r: tuple(x.ravel().copy() for x in np.meshgrid(
            np.linspace(-2, 0.5, 150), np.linspace(-1.2, 1.2, 100))), their_escape, budget=1.2),
    "bisection, 10,000 numbers": Program(bisection, bisections, 0, lambda r: (r.uniform(0, 5, 10_000),),
                                         their_bisection, budget=1.2),
    "norm, 10,000 x 8": Program(norm, norms, 0, lambda r: (r.normal(size=(10_000, 8)),), budget=1.2),
    "softmax, 10,000 x 10": Program(softmax, softmaxes, 0, lambda r: (r.normal(size=(10_000, 10)),), budget=1.3),
    "softmax, 200 x 1,000": Program(softmax, softmaxes, 0, lambda r: (r.normal(size=(200, 1000)),), budget=1.6),
    "matrix by vectors, 2,000 x 64": Program(product, products, (None, 0), lambda r: (
        r.normal(size=(64, 64)), r.normal(size=(2000, 64))), budget=1.2),
    "layer, 2,000 x 8": Program(layer, layers, (None, None, 0), lambda r: (
        r.normal(size=(8, 8)), r.normal(size=8), r.normal(size=(2000, 8))), budget=1.2),
    "layer, 2,000 x 200": Program(layer, layers, (None, None, 0), lambda r: (
        r.normal(size=(200, 200)), r.normal(size=200), r.normal(size=(2000, 200))), budget=1.2),
    "matrices, 5,000 x 4 x 4": Program(matrices, matrices, 0, lambda r: (
        r.normal(size=(5000, 4, 4)), r.normal(size=(5000, 4, 4))), budget=1.5),
    "solve, 2,000 x 4 x 4": Program(solve, solves, 0, lambda r: (
        r.normal(size=(2000, 4, 4)), r.normal(size=(2000, 4))), budget=1.2),
    "fft, 1,000 x 64": Program(transform, transforms, 0, lambda r: (r.normal(size=(1000, 64)),), budget=1.3),
    "running sum, 10,000 x 8": Program(running, runnings, 0, lambda r: (r.normal(size=(10_000, 8)),), budget=2.5),
    "kernel of 200 and 300 points": Program(kernel, kernels, (0, None), lambda r: (
        r.normal(size=(200, 4)), r.normal(size=(300, 4))), their_kernel, budget=1.2),
    "small new arrays, 100,000": Program(rotated, rotations, 0, lambda r: (
        r.normal(size=100_000), r.normal(size=(100_000, 2))), budget=1.3),
    "columns, 8 x 10,000": Program(squares, columns, 1, lambda r: (r.normal(size=(8, 10_000)),)),
    "gradients of a perceptron, 2,000": Program(loss, losses, (None, None, None, 0, 0), lambda r: (
        r.normal(size=(16, 8)), r.normal(size=16), r.normal(size=16), r.normal(size=(2000, 8)), r.normal(size=2000)),
        transform="grad", budget=4.0),
}


def measure(peers, *, quick: bool, only: str) -> list[Row]:
    names = [name for name in PROGRAMS if only in name]
    rows = []
    with Workers(["vmap"]) as workers:
        for name in names:
            progress(f"vmap: {name}")
            try:
                rows.append(_row(name, workers["vmap"].ask(times_of, name, 5 if quick else 25,
                                                           "jax" in peers and available("jax"))))
            except Failed as error:
                rows.append(Row("vmap", name, "x", None, budget=PROGRAMS[name].budget, note=str(error)))
    progress("")
    return rows


def _row(name, times) -> Row:
    cells: dict[str, Any] = {label: f"{sample(times[key]).median * 1e6:,.0f} us" for label, key in (
        ("vmap", "vmap"), ("by hand", "hand"), ("JAX", "jax")) if key in times}
    ratios = {"jax": ratio(times["jax"], times["vmap"]).median} if "jax" in times else {}
    return Row("vmap", name, "x", ratio(times["vmap"], times["hand"]), cells, PROGRAMS[name].budget, ratios=ratios)


def times_of(name: str, rounds: int, with_jax: bool) -> dict[str, list[float]]:
    """The times of all contenders for a program, in this process, whose environment allows one thread."""
    program = PROGRAMS[name]

    def arguments():
        return program.arguments(np.random.default_rng(0))

    contenders = {"vmap": vmap(grad(program.one) if program.transform else program.one, program.axes),
                  "hand": njit(program.hand)}
    expected = contenders["hand"](*arguments())
    _check("vmap", contenders["vmap"](*arguments()), expected)
    if with_jax:
        contenders["jax"] = _theirs(program, arguments())
        _check("JAX", contenders["jax"](*arguments()), expected)
    return runs(contenders, arguments, rounds)


def _theirs(program: Program, args):
    """JAX's program, on arrays of its own that are made once."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    one = program.theirs(jax) if program.theirs else type(program.one)(
        program.one.__code__, {**program.one.__globals__, "np": jax.numpy, "math": math}, program.one.__name__)
    run = jax.jit(jax.vmap(jax.grad(one) if program.transform else one, program.axes))
    own = [jax.numpy.asarray(x) for x in args]
    return lambda *_: jax.block_until_ready(run(*own))


def _check(who, found, expected):
    if not np.allclose(found, expected, 1e-8, 1e-8):
        raise Failed(f"the results of {who} differ from those of the program by hand")
