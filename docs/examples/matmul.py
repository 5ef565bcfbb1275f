"""Matrix multiplication as three loops, its middle loops exchanged so that the inner one runs along rows."""
import numpy as np

from pyjitc import njit


@njit
def matmul(a, b):
    n, inner = a.shape
    m = b.shape[1]
    if b.shape[0] != inner:
        raise ValueError("the matrices do not fit")
    c = np.zeros((n, m))
    for i in range(n):
        for k in range(inner):
            x = a[i, k]
            for j in range(m):
                c[i, j] += x * b[k, j]
    return c


def load():
    random = np.random.default_rng(3)
    return random.normal(size=(120, 110)), random.normal(size=(110, 100))


def run(a, b):
    return matmul(a, b), a, b


def report(result, folder):
    c, a, b = result
    return f"{c.shape[0]} x {c.shape[1]}, differs from BLAS by at most {abs(c - a @ b).max():.1e}"
