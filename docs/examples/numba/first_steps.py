"""A first look: a decorator above loops over arrays and functions that call each other, with signatures or without."""
import math

import numpy as np
from numba import float64, int32, jit, njit


@jit(nopython=True)
def trace_of_tanh(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@njit
def square(x):
    return x ** 2


@njit
def hypotenuse(x, y):
    return math.sqrt(square(x) + square(y))


@jit(int32(int32, int32), nopython=True)
def add_integers(x, y):
    return x + y


@njit([float64(float64, float64), "complex128(complex128, complex128)"])
def multiplied(x, y):
    return x * y


@njit("float64[:](float64[:], float64)", cache=False, fastmath=True, nogil=True)
def scaled(a, factor):
    out = np.empty_like(a)
    for i, x in enumerate(a):
        out[i] = x * factor
    return out


@njit
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def plain_sum(a):
    total = 0.0
    for x in a.flat:
        total += x
    return total


def main():
    x = np.arange(100.0).reshape(10, 10)
    np.testing.assert_allclose(trace_of_tanh(x), x + np.trace(np.tanh(x)))
    assert hypotenuse(3, 4) == 5.0 and hypotenuse(0.6, 0.8) == 1.0
    assert add_integers(1, 2) == 3 and add_integers(np.int64(40), 2) == 42
    assert multiplied(1.5, 2) == 3.0 and multiplied(1j, 1j) == -1
    np.testing.assert_array_equal(scaled(np.arange(4.0), 3), [0, 3, 6, 9])
    assert [fibonacci(n) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
    assert njit(plain_sum)(x) == plain_sum(x) == 4950.0
    assert square.py_func(7) == 49 and len(hypotenuse.signatures) == 2
    assert str(add_integers.nopython_signatures[0]) == "(int32, int32) -> int32"


if __name__ == "__main__":
    main()
