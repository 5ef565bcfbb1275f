"""Logistic regression by Newton's method, with the Hessian of the loss as it is written. `python logistic.py`"""
import numpy as np

import pyjitc


def loss(w, x, y):
    return np.mean(np.log1p(np.exp(-y * (x @ w)))) + 1e-3 * (w @ w)


def fit(x, y, rounds=8):
    """(weights, norms of the gradient on the way)"""
    gradient, second = pyjitc.grad(loss), pyjitc.hessian(loss)
    w, norms = np.zeros(x.shape[1]), []
    for _ in range(rounds):
        g = gradient(w, x, y)
        norms.append(float(np.sqrt(g @ g)))
        w = w - np.linalg.solve(second(w, x, y), g)
    return w, norms


def measured(n=500, d=5):
    random = np.random.default_rng(1)
    x = random.normal(size=(n, d))
    return x, np.sign(x @ np.arange(1.0, d + 1.0) + random.normal(size=n))


if __name__ == "__main__":
    print(*fit(*measured()), sep="\n")
