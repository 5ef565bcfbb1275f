"""The module that test_ahead.py builds: functions of many kinds, and calls of them."""
import math

import numpy as np
from pyjitc import float64, int64, njit, prange

SCALE = 2.5
TABLE = np.array([1.0, 2.0, 4.0])


@njit
def scaled(x, factor=SCALE):
    return x * factor


@njit("float64(float64[:], int64)")
def total(a, n=2):
    """The sum of the first elements, scaled."""
    s = 0.0
    for i in range(n):
        s += scaled(a[i])
    return s


@njit(float64(int64))
def looked_up(i):
    return TABLE[i]


@njit(["int64(int64)", "float64(float64)"])
def twice(x):
    return x + x


@njit("int64(int64, int64)")
def divided(a, b):
    if b < 0:
        raise ValueError(f"negative: {b}")
    return a // b


@njit
def halved(x):
    return x / 2


@njit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@njit
def product(a, b):
    return a @ b


@njit
def keywords(a, *, low=0, high=10):
    return np.clip(a, low, high)


@njit
def many(*values):
    s = 0.0
    for x in values:
        s += x
    return s


@njit(parallel=True)
def shared(a):
    s = 0.0
    for i in prange(len(a)):
        s += math.sqrt(a[i])
    return s


@njit
def drawn(n):
    np.random.seed(7)
    return np.random.normal(0.0, 1.0, n)


@njit
def words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def adder(step):
    @njit
    def add(x):
        return x + step

    return add


ADDERS = [adder(1), adder(10)]


class Counter:
    def __init__(self, count):
        self.count = count

    @njit
    def add(self, n):
        self.count += n
        return self.count


def failing(a):
    return total(a, len(a) + 1)


A = np.arange(6.0)
CALLS = [(total, (A, 3)), (total, (A[::2],)), (looked_up, (2,)), (twice, (3,)), (twice, (2.5,)), (divided, (7, 2)),
         (divided, (7, 0)), (divided, (7, -1)), (fibonacci, (12,)), (product, (A.reshape(2, 3), A.reshape(3, 2))),
         (many, (1.0, 2.0)), (shared, (A,)), (drawn, (3,)), (words, ("a b a",)), (ADDERS[0], (1,)), (ADDERS[1], (1,)),
         (total, (A, 100)), (looked_up, (5,))]


def use():
    """Calls everything once, as a script for --run does."""
    for function, args in CALLS:
        try:
            function(*args)
        except (ArithmeticError, LookupError, ValueError):
            pass
    keywords(A, high=3.0)
    counter = Counter(1)
    counter.add(2)
