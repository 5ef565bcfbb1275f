# ruff: noqa: F821
"""Small functions whose calls are timed. The decorator is a free name as in bench.programs."""
import numpy as np


@njit
def add(x, y):
    return x + y


@njit
def first(a):
    # returns a float, as the prototype did that gave the budget; making a NumPy scalar costs some 10 ns more
    return float(a[0])


@njit
def four(a, b, c, d):
    return a[0] + d[0]


@njit
def defaults(a, scale=2.0, offset=1.0, place=0):
    return a[place] * scale + offset


@njit
def mixed(t):
    return t[0] + t[1]


@njit
def fresh(a):
    out = np.empty(len(a))
    for i in range(len(a)):
        out[i] = 2.0 * a[i]
    return out


@njit
def repeat_multiply(x, n):
    count = 0
    product = 1.0
    while count < n:
        product *= x
        count += 1
    return product
