"""Fast tests of all parts, which CI runs on every supported Python."""
import inspect
import math
import pickle
import subprocess
import sys
import traceback
from collections import defaultdict

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree


def arithmetic(x, y):
    return (x + y, x - y, x * y, x / y, x // y, x % y, -x, x ** 2, x < y, x == y)


@pytest.mark.parametrize("x, y", [(7, 3), (-7, 3), (7.5, -2.0), (True, 2), (np.float32(1.5), np.int8(2)), (7, 2.5),
                                  (2 ** 62, 2 ** 62), (1, 0), (1.0, 0.0)])
def test_arithmetic(x, y):
    if (x, y) == (2 ** 62, 2 ** 62):
        with pytest.raises(OverflowError):
            njit(arithmetic)(x, y)
    else:
        agree(arithmetic, x, y)


def loops(a, limit):
    total = 0.0
    for i in range(len(a)):
        if a[i] < 0.0:
            continue
        total += math.sqrt(a[i])
        if total > limit:
            break
    else:
        return -total
    k = 0
    while k < 5:
        k += 1
        total += k if k % 2 else -k
    return total


def test_loops():
    agree(loops, np.arange(-3.0, 10.0), 5.0)
    agree(loops, np.arange(-3.0, 10.0), 1e9)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_recursion():
    agree(fib, 15)


def nested_functions(n, *, step=2):
    count = 0

    def bump(by):
        nonlocal count
        count += by
        return count

    for i in range(0, n, step):
        bump(i)
    square = lambda v: v * v  # noqa: E731
    return square(count), bump(1)


def test_nested_functions_and_keywords():
    compiled = agree(nested_functions, 10)
    assert compiled(10, step=3) == nested_functions(10, step=3)
    assert str(inspect.signature(compiled)) == "(n, *, step=2)"


def matching(k, x):
    match (k, x):
        case (0, _):
            return 0.0
        case (1 | 2, y) if y > 0.0:
            return y
        case _:
            return -1.0


def test_match():
    compiled = njit(matching)
    for k in range(4):
        agree(matching, k, 1.5, compiled=compiled)
        agree(matching, k, -1.5, compiled=compiled)


def catching(n):
    caught = 0
    for i in range(n):
        try:
            if i % 3 == 0:
                raise ValueError("three divides", i)
            caught += 10 // (i % 2)
        except ZeroDivisionError:
            caught += 1
        except ValueError as error:
            caught += error.args[1]
        finally:
            caught += 100
    return caught


def test_exceptions_inside():
    agree(catching, 7)


def fails(x):
    if x > 2:
        raise KeyError("too large", x)
    return x


def calls_fails(x):
    return fails(x) + 1


def test_exception_leaves_with_a_traceback():
    compiled = agree(calls_fails, 1)
    with pytest.raises(KeyError) as caught:
        compiled(3)
    assert caught.value.args == ("too large", 3)
    frames = [(f.name, f.lineno) for f in traceback.extract_tb(caught.value.__traceback__)][-2:]
    assert frames == [("calls_fails", calls_fails.__code__.co_firstlineno + 1),
                      ("fails", fails.__code__.co_firstlineno + 2)]


def arrays(n, m):
    grid = np.zeros((n, m))
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            grid[i, j] = i * 10 + j
    grid[0, :] = 7.0
    return grid[::-1, 1:], grid.shape, grid.size


def test_arrays():
    agree(arrays, 3, 4)
    agree(arrays, -1, 4)


def tuples(t):
    (a, b), c = t
    return c, (b, a), len(t), t[0][1]


def test_tuples():
    agree(tuples, ((1, 2.5), np.float32(3)))


def unbound(x):
    if x > 0:
        y = x
    return y


def test_tables_sorts_and_texts():
    """Operations that read and make objects by their layouts in memory."""
    def counts(words, numbers):
        found, seen, total = {}, set(), defaultdict(float)
        for i, word in enumerate(words):
            found[word] = found.get(word, 0) + 1
            seen.add((i % 3, len(word)))
            total[len(word)] += numbers[i]
        pairs = [(numbers[i], i) for i in range(len(words))]
        pairs.sort(key=lambda p: (p[1] % 2, p[0]))
        text = [f"{x:.2f} {x} {word}" for (x, i), word in zip(pairs, words) if word != word[::-1]]
        return found, seen, dict(total), sorted(pairs, reverse=True), text, (1, 1) in seen

    words = "ab é abba ab ЖЖ x x 😀a".split()
    agree(counts, words, [0.1 * i * (-1) ** i for i in range(len(words))])


def test_unbound_local():
    compiled = agree(unbound, 1)
    agree(unbound, -1, compiled=compiled)


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def test_recursion_error():
    with pytest.raises(RecursionError):
        njit(deep)(10 ** 9)


def formatting(x, n):
    print(f"{x:.3f} and {n!r}", end=";")
    if n > 3:
        raise ValueError(f"n is {n}")


def test_print_and_formatted_text():
    compiled = agree(formatting, 2.5, 1)
    agree(formatting, 2.5, 4, compiled=compiled)


@njit
def at_module_level(x):
    return x * 2


def test_pickle():
    assert pickle.loads(pickle.dumps(at_module_level))(4) == 8


def test_not_supported_is_an_error_with_a_place():
    def opens_a_file(x):
        return open(x)

    with pytest.raises(Exception) as caught:
        njit(opens_a_file)(1)
    assert "opens_a_file" in str(caught.value) or "open(x)" in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 8


def test_import_is_light():
    code = "import sys; sys.path[:0] = sys.argv[1:]; import pyjitc; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code, *sys.path]).returncode == 0
