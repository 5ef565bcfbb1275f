"""Real functions whose IR the tests of this room print, read, verify and run: (function, calls)."""
import math

import numpy as np

from pyjitc import njit

A = np.arange(6.0)
B = np.arange(12, dtype=np.int32).reshape(3, 4)
C = np.array([True, False, True])


def add(x, y):
    return x + y


def polynomial(x):
    return 3 * x ** 2 - 2 * x + 1


def divide(x, y):
    return x // y, x % y, x / y


def clamp(x, low, high):
    return low if x < low else high if x > high else x


def chained(a, b, c):
    return a < b <= c != a


def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


def indexed(a, n):
    s = 0.0
    for i in range(n):
        s += a[i] * 2
    return s


def caught(a, n):
    try:
        return float(a[n])
    except IndexError:
        return -1.0


def cleaned(a, n):
    try:
        x = a[n]
    finally:
        a[0] += 1
    return x


def handled_by_class(a, n, d):
    try:
        return float(a[n] / (n // d))
    except ZeroDivisionError:
        return -2.0
    except (IndexError, ValueError):
        return -3.0


def raising(n):
    if n > 3:
        raise ValueError("too big")
    return n


def chained_raise(n):
    try:
        return 1 // n
    except ZeroDivisionError as error:
        raise ValueError("none") from error


def looped(n):
    i = 0
    while True:
        i += 3
        if i > n:
            break
        if i % 2:
            continue
        n -= 1
    return i, n


def looped_else(a, wanted):
    for k in range(len(a)):
        if a[k] == wanted:
            found = k
            break
    else:
        found = -1
    return found


def nested_loops(b):
    s = 0
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            if i == j:
                continue
            s += b[i, j]
    return s


def rows(b):
    s = 0
    for row in b:
        s += row[0]
    return s


def filled(n):
    a = np.zeros((n, 2))
    for i in range(n):
        a[i, i % 2] = i
    return a


def sliced(a, i, j):
    return a[i:j:2]


def stored(a, v):
    a[1:3] = v
    return float(a[1]) + float(a[2])


def maybe(x):
    if x > 0:
        return x
    return None


def either(flag, a):
    r = a if flag else None
    if r is None:
        return 0.0
    return float(r[0])


def unbound(n):
    if n > 0:
        x = 1
    return x


def swapped(a, b):
    a, b = b, a
    return (a, b), (b,)


def picked(n):
    t = (1, 2.5, True)
    return t[n]


def unpacked(t):
    (a, b), *c = t
    return a + b, c[0]


def closure(n):
    def step(k):
        nonlocal n
        n += k
        return n

    return step(1) + step(2)


def applied(x):
    scale = 2.5
    return (lambda y: y * scale)(x) + (lambda y: y - scale)(x)


@njit
def inner(x, scale=2):
    return x * scale


def outer(x):
    return inner(x) + inner(x, scale=3)


@njit
def fact(n):
    return 1 if n < 2 else n * fact(n - 1)


def factorial(n):
    return fact(n)


def mathematics(x):
    return math.sin(x) + math.sqrt(x) if x > 0 else math.floor(x)


def bits(x, y):
    return (x & y) | (x ^ y), x << 3, x >> 1, ~x


def booleans(x, y):
    return x and not y or y and not x


def complexes(x):
    z = complex(x, 2.0)
    return z * z + 1j, z.real, abs(z)


def numpy_scalars(x):
    y = np.int8(100)
    return y + np.int8(x), np.float32(x) / np.float32(3), np.uint16(x)


def zipped(a):
    s = 0.0
    for k, (x, y) in enumerate(zip(a, a[::-1])):
        s += k * x * y
    return s


def formatted(x):
    return f"{x}: {x * 2:>5}"


def augmented(a, i):
    a[i] += 1
    a[-1] *= 2
    return a[i]


def scanned(a):
    best = a[0]
    for x in a[1:]:
        best = max(best, x)
    return best


def counted(c):
    n = 0
    for x in c:
        if x:
            n += 1
    return n


def matched(x):
    match x:
        case 0:
            return "zero"
        case 1 | 2:
            return "few"
        case _:
            return "many"


def generated(n):
    return sum(k * k for k in range(n) if k % 2)


FUNCTIONS = [
    (add, [(1, 2), (1.5, 2), (True, 3), (2 ** 62, 2 ** 62)]), (polynomial, [(2.0,), (3,)]),
    (divide, [(7, -2), (7.5, 2.0), (1, 0), (np.int16(7), np.int16(0))]), (clamp, [(5, 0, 3), (-1.5, 0.0, 1.0)]),
    (chained, [(1, 2, 3), (1, 2.0, 2)]), (total, [(A,), (A[::2],)]), (indexed, [(A, 6), (A, 7)]),
    (caught, [(A, 2), (A, 9)]), (cleaned, [(A, 1), (A, 6)]), (handled_by_class, [(A, 2, 1), (A, 2, 0), (A, 20, 1)]),
    (raising, [(3,), (4,)]), (chained_raise, [(1,), (0,)]), (looped, [(20,)]), (looped_else, [(A, 3.0), (A, 33.0)]),
    (nested_loops, [(B,), (B.T,)]), (rows, [(B,)]), (filled, [(3,), (-1,)]), (sliced, [(A, 1, 5), (A, -4, None)]),
    (stored, [(A, 7.0), (A, A[:2])]), (maybe, [(1,), (-1,)]), (either, [(True, A), (False, A)]),
    (unbound, [(1,), (0,)]), (swapped, [(1, 2.0)]), (picked, [(0,), (1,), (-1,), (5,)]),
    (unpacked, [((((1, 2.0), 3)),)]), (closure, [(5,)]), (applied, [(1.0,)]), (outer, [(1.0,), (2,)]),
    (factorial, [(10,), (25,)]), (mathematics, [(2.0,), (-2.5,)]), (bits, [(12, 10)]),
    (booleans, [(True, False), (0, 3)]), (complexes, [(1.5,)]), (numpy_scalars, [(50,), (7,)]), (zipped, [(A,)]),
    (formatted, [(3,), (1.5,)]), (augmented, [(A, 2), (A, 7)]), (scanned, [(A,), (A[:0],)]), (counted, [(C,)]),
    (matched, [(0,), (2,), (9,)]), (generated, [(9,)]),
]
