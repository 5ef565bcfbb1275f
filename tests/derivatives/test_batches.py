"""vmap of functions that are processed for a whole batch at once (passes/batches.py), beside a loop of the interpreter.

Each function is called for batches of several lengths, axes and dtypes; what the loop over its calls raises first must
be raised.
"""
from __future__ import annotations

import math

import numpy as np
import pytest

from pyjitc import grad, njit, vmap
from pyjitc.passes import batches


def looped(f, args, axes):
    """What vmap(f, axes) should return: the results of a loop in the interpreter, stacked."""
    n = next(x.shape[axis] for x, axis in zip(args, axes) if axis is not None)
    found = [f(*(x if axis is None else np.moveaxis(x, axis, 0)[i] for x, axis in zip(args, axes))) for i in range(n)]
    if isinstance(found[0], tuple):
        return tuple(np.stack([np.asarray(one[k]) for one in found]) for k in range(len(found[0])))
    return np.stack([np.asarray(one) for one in found])


def agrees(found, expected, tolerance=1e-12):
    if isinstance(expected, tuple):
        assert type(found) is tuple and len(found) == len(expected)
        for x, y in zip(found, expected):
            agrees(x, y, tolerance)
        return
    assert found.dtype == expected.dtype and found.shape == expected.shape
    tolerance = tolerance if found.dtype.itemsize > 4 and found.dtype != np.complex64 else 2e-5
    np.testing.assert_allclose(found, expected, tolerance, tolerance)


def affine(w, b, x):
    return np.tanh(w @ x + b)


def row_products(w, b, x):
    return w @ x * b, np.sum(w @ x), b + x[0]


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def folds(x):
    return np.sum(x), np.prod(x), np.max(x), np.min(x), np.mean(x), np.var(x), np.all(x > 0), np.any(x > 1)


def mixed(x, y):
    return x * np.sum(y) + y[1] - x[0] * y, np.dot(x, y), np.linalg.norm(x - y)


def matrices(a, b):
    return a @ b, a.T @ b, np.sum(a, axis=0), np.sum(a * b, axis=1), np.trace(a @ b)


def written(x):
    out = np.zeros(4, x.dtype)
    out[0] = x[0]
    out[1] = np.sum(x)
    out[2:] = x[:2] * 2
    return out + x[1]


def alike(x):
    base = np.ones(3, x.dtype)
    base += x[:3]
    base[1] *= 3
    return base, np.arange(3)


def steps(u):
    for _ in range(5):
        u = u + np.array(0.1).astype(u.dtype) * (np.roll(u, 1) - u)
    return u


def in_place(u):
    v = u.copy()
    for _ in range(3):
        v[1:-1] += (v[2:] - 2 * v[1:-1] + v[:-2]) / 4
    return v


def sorted_and_more(x):
    y = np.sort(x)
    return y, np.cumsum(x), np.argmax(x), np.median(x) + np.sum(y[:2])


def solved(a, b):
    x = np.linalg.solve(a, b)
    return x, np.linalg.inv(a) @ b, np.linalg.det(a)


def views(a):
    return a[::2, 1:].sum(), a.T + a[0, 0], a[:, 1], a.reshape(-1)[::3] * 2


def constant(x):
    return np.arange(3.0), x * 2, 7


def numbers(x, y):
    return math.sqrt(x * x) + y, x > y, max(x, y), (x, -y)[0]


def broadcast(x):
    return x[:, None] * x + np.outer(x, x)


def chosen(x):
    return np.where(x > 0, x, 0) + np.clip(x, -1, 1), np.maximum(x, 0.5).astype(np.float64)


def inner(x, ys):
    return vmap(lambda y: np.exp(-np.sum((x - y) ** 2)))(ys)


def complex_parts(z):
    return np.abs(z).sum(), (z * z.conj()).real, np.sum(z)


CASES = {
    "affine": (affine, ((3, 4), (3,), "4"), (None, None, 0)),
    "affine, all": (affine, ("34", "3", "4"), (0, 0, 0)),
    "affine, matrix": (affine, ("34", (3,), (4,)), (0, None, None)),
    "rows": (row_products, ((4, 4), (4,), "4"), (None, None, 0)),
    "softmax": (softmax, ("5",), (0,)),
    "folds": (folds, ("5",), (0,)),
    "folds of matrices": (lambda a: folds(a)[:6], ("34",), (0,)),
    "mixed": (mixed, ("5", "5"), (0, 0)),
    "mixed, one shared": (mixed, ("5", (5,)), (0, None)),
    "matrices": (matrices, ("44", "44"), (0, 0)),
    "matrices, one shared": (matrices, ((4, 4), "44"), (None, 0)),
    "written": (written, ("5",), (0,)),
    "alike": (alike, ("5",), (0,)),
    "steps": (steps, ("6",), (0,)),
    "in place": (in_place, ("6",), (0,)),
    "sorted": (sorted_and_more, ("6",), (0,)),
    "solved": (solved, ("44", "4"), (0, 0)),
    "views": (views, ("44",), (0,)),
    "constant": (constant, ("4",), (0,)),
    "numbers": (numbers, ("", ""), (0, 0)),
    "broadcast": (broadcast, ("4",), (0,)),
    "chosen": (chosen, ("5",), (0,)),
}
# the ones whose values do not depend on an order of additions that differs
DTYPES = (np.float64, np.float32)


def argument(random, text, n, axis, dtype):
    """An array: text is a shape without a batch, or the lengths of the axes of an example as digits."""
    if axis is None:
        return random.normal(size=text).astype(dtype)
    x = random.normal(size=(n, *map(int, text)))
    return np.moveaxis(x, 0, axis).astype(dtype) if axis else x.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_as_a_loop_of_calls(name, dtype):
    f, shapes, axes = CASES[name]
    made = vmap(f, axes)
    for n in (1, 2, 3, 20, 300):
        random = np.random.default_rng(n)
        args = [argument(random, text, n, axis, dtype) for text, axis in zip(shapes, axes)]
        before = [x.copy() for x in args]
        agrees(made(*args), looped(f, args, axes), 1e-10)
        assert all(np.array_equal(x, y) for x, y in zip(args, before))


@pytest.mark.parametrize("name", ["affine, all", "mixed", "matrices", "views", "written", "softmax", "in place", "solved"])
def test_axes_and_layouts(name):
    f, shapes, axes = CASES[name]
    random = np.random.default_rng(0)
    last = tuple(-1 for _ in axes)
    args = [argument(random, text, 7, axis, np.float64) for text, axis in zip(shapes, last)]
    agrees(vmap(f, last)(*args), looped(f, args, last), 1e-10)
    args = [np.asfortranarray(argument(random, text, 7, 0, np.float64)) for text in shapes]
    agrees(vmap(f, axes)(*args), looped(f, args, axes), 1e-10)
    args = [argument(random, text, 14, 0, np.float64)[::-2] for text in shapes]
    agrees(vmap(f, axes)(*args), looped(f, args, axes), 1e-10)
    agrees(vmap(f, axes, 1 if name == "softmax" else 0)(*args),
           np.moveaxis(looped(f, args, axes), 0, 1) if name == "softmax" else looped(f, args, axes), 1e-10)
