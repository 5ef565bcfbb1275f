"""Under `jit` an int that leaves 64 bits continues as a Python int: if the call has had no visible effect yet, the
interpreter repeats it."""
import itertools
import math

import numpy as np
import pytest

from pyjitc import jit, njit
from tests.oracle import agree


class Account:
    def __init__(self, amount):
        self.amount = amount

    def grow(self, n):
        for _ in range(n):
            self.amount *= 1000
        return self.amount


def factorial(n):
    product = 1
    for k in range(1, n + 1):
        product *= k
    return product


def fibonacci(n, first=0):
    a, b = first, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def digits(n):
    total, x = 0, 2 ** n
    while x:
        total += x % 10
        x //= 10
    return total


def recursive(n):
    return 1 if n < 2 else n * recursive(n - 1)


def listed(n):
    found = [1]
    for k in range(n):
        found.append(found[-1] * 10)
    return found, {k: x for k, x in enumerate(found)}


def of_own_object(n):
    return Account(3).grow(n)


def with_default(n, *, scale=10 ** 18):
    return n * scale


def operators(x, k):
    return x + 1, -x - 1, abs(-x - 1), (-x - 1) // -1, x << k, x * x, x ** 3, x - (-x - 1), divmod(x * 4, 3)


def from_floats(x):
    return int(x), round(x), math.floor(x), math.ceil(x)


def from_text(s, b):
    return int(s) + 1, int.from_bytes(b, "big")


def summed(values):
    return sum(values), max(values)


def sorted_tuples(n):
    pairs = [(n ** k, k) for k in (50, 3, 7)]
    pairs.sort()
    return pairs


def closes_over(n):
    k = 1

    def grow():
        nonlocal k
        k = k * n
        return k

    return [grow() for _ in range(5)]


class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0]) if self.rows else 0

    def __matmul__(self, other):
        n, m = self.shape
        if m != len(other.rows):
            print("raises")
            raise ValueError(f"shapes {self.shape} and {other.shape}")
        return Matrix([[sum([self.rows[i][k] * other.rows[k][j] for k in range(m)]) for j in range(m)]
                       for i in range(n)])


def power(rows, n):
    x = Matrix(rows)
    for _ in range(n):
        x = x @ Matrix(rows)
    return x.rows


@pytest.mark.parametrize("function, calls", [
    (power, [([[1, 1], [1, 0]], 10), ([[1, 1], [1, 0]], 120), ([[1, 2]], 1)]),
    (factorial, [(20,), (21,), (60,), (5,)]), (fibonacci, [(92,), (93,), (300,), (10,), (200, 7)]), (digits, [(300,)]),
    (recursive, [(20,), (40,)]), (listed, [(18,), (25,)]), (of_own_object, [(5,), (9,)]),
    (with_default, [(9,), (10,)]), (operators, [(5, 3), (2 ** 63 - 1, 2), (3, 70)]),
    (from_floats, [(2.5,), (1e20,), (-1e300,)]), (from_text, [("12", b"ab"), ("9" * 20, b"abcdefghijkl")]),
    (summed, [([1, 2],), ([2 ** 62] * 8,), ([2 ** 70, 1],)]), (sorted_tuples, [(2,), (3,), (10,)]),
    (closes_over, [(10,), (10 ** 6,)])])
def test_exact(function, calls):
    compiled = jit(function)
    for args in calls:
        agree(function, *args, compiled=compiled)


def test_keywords_and_defaults():
    compiled = jit(with_default)
    assert compiled(n=100, scale=10 ** 17) == 10 ** 19 and compiled(100) == 10 ** 20


def test_njit_raises():
    with pytest.raises(OverflowError, match=r"2432902008176640000 \* 21 does not fit in 64 bits"):
        njit(factorial)(21)


def store_first(a, n):
    a[0] = 1.0
    return factorial(n)


def print_first(n):
    print("begin")
    return factorial(n)


def print_and_raise(n):
    if n > 0:
        print("begin")
        raise ValueError(n)
    return n


def print_in_a_handler(n):
    try:
        print_and_raise(n)
    except ValueError:
        pass
    return factorial(n)


def append_first(items, n):
    items.append(n)
    return factorial(n)


@pytest.mark.parametrize("function, args", [
    (store_first, (np.zeros(1), 30)), (print_first, (30,)), (print_in_a_handler, (30,)), (append_first, ([1], 30))])
def test_what_was_changed_is_not_changed_twice(function, args, capsys):
    """After a visible effect the call cannot be repeated: it raises the exception of `njit`."""
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        jit(function)(*args)
    assert capsys.readouterr().out.count("begin") == (function in (print_first, print_in_a_handler))
    if function is append_first:
        assert args[0] == [1, 30]


def in_handlers(n):
    found = []
    for k in range(n):
        try:
            try:
                found.append(factorial(k) * 10)
            except KeyError:
                found.append(0)
        except (ValueError, ArithmeticError):
            found.append(-1)
    return found


def in_finally(n):
    try:
        return factorial(n)
    finally:
        n += 1


def test_handlers_do_not_see_that_the_call_begins_anew():
    compiled = jit(in_handlers)
    for n in (5, 30):
        agree(in_handlers, n, compiled=compiled)
    agree(in_finally, 5, compiled=(late := jit(in_finally)))
    with pytest.raises(OverflowError):  # the effects of the `finally` would happen twice
        late(30)


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def used_up(n):
    return list(itertools.islice(fibonacci(), n)), max(fibonacci_below(n))


def fibonacci_below(n):
    for k, x in enumerate(fibonacci()):
        if k == n:
            return
        yield x


def test_a_generator_that_the_function_uses_up_is_unlimited():
    compiled = jit(used_up)
    for n in (5, 120):
        agree(used_up, n, compiled=compiled)


def test_a_generator_that_left_stays_within_64_bits():
    expected = list(itertools.islice(fibonacci(), 90))
    for left in (jit(fibonacci)(), jit(lambda: fibonacci())()):
        assert list(itertools.islice(left, 90)) == expected
        with pytest.raises(OverflowError, match="does not fit in 64 bits"):
            list(left)
