"""What of Python a compiled function may use: generators, closures, recursion, text, exceptions, enums, unpacking."""
import enum
import math

import numpy as np
from numba import literal_unroll, literally, njit, typeof, types


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 2


class Shape(enum.Enum):
    ROUND = "round"
    SQUARE = "square"


@njit
def collatz(n):
    while n != 1:
        yield n
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    yield 1


@njit
def longest(limit):
    best, length = 1, 0
    for n in range(1, limit):
        count = 0
        for _ in collatz(n):
            count += 1
        if count > length:
            best, length = n, count
    return best, length


@njit
def composed(a, scale):
    def inner(x, offset):
        return x * scale + offset
    total = 0
    for y in map(lambda x: x * x, a):
        total += y
    return [inner(x, 1) for x in a], inner(2, 10), total


@njit
def apply(f, g, x):
    return f(g(x))


@njit
def halved(x):
    return x / 2


@njit
def safe_root(x):
    if x < 0:
        raise ValueError("a negative number")
    return math.sqrt(x)


@njit
def guarded(values):
    good = bad = 0
    for i in range(len(values)):
        try:
            if values[i] < 0:
                raise ValueError
            good += 1
        except Exception:
            bad += 1
    return good, bad


@njit
def text(name, n):
    title = name.upper().center(9, "*")
    parts = "-".join([name[i] for i in range(len(name))])
    return title, parts, name * n, name.find("a"), f"{name}={n}", name < "b", name.split("a")[0]


@njit
def coloured(c, s):
    if s is Shape.ROUND:
        return c + 10
    return -1 if c == Colour.GREEN else 0


@njit
def of_each(values):
    total = 0.0
    for v in literal_unroll(values):
        total += len(v) if isinstance(v, str) else v
    return total


@njit
def power(x, n):
    return x ** literally(n)


@njit
def unpacked(scale, *args):
    return args[0] * scale + len(args[1:])


@njit
def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


@njit
def optional(x):
    if x > 0:
        return x
    return None


def main():
    assert list(collatz(6)) == [6, 3, 10, 5, 16, 8, 4, 2, 1] and longest(30) == (27, 112)
    assert composed([1, 2], 3) == ([4, 7], 16, 5)
    assert apply(halved, halved, 8.0) == 2.0
    assert safe_root(4.0) == 2.0 and guarded((1.0, -1.0, 4.0)) == (2, 1)
    try:
        safe_root(-2.0)
    except ValueError as error:
        assert error.args == ("a negative number",)
    assert text("numba", 2) == ("**NUMBA**", "n-u-m-b-a", "numbanumba", 4, "numba=2", False, "numb")
    assert coloured(Colour.RED, Shape.ROUND) == 11 and coloured(Colour.GREEN, Shape.SQUARE) == -1
    assert of_each((1, 2.5, "abc")) == 6.5 and power(3.0, 2) == 9.0
    assert unpacked(2, 5, 6, 7) == 12 and unpacked(3, 5) == 15 and ackermann(2, 3) == 9
    assert optional(3) == 3 and optional(-3) is None
    assert typeof(1.5) == types.float64 and typeof((1, "a")) == types.Tuple((types.int64, types.unicode_type))
    assert typeof(np.zeros((2, 2), order="F")) == types.float64[::1, :]


if __name__ == "__main__":
    main()
