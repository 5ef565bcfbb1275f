"""Loops that carry a flag which each iteration sets anew: passes/first_order.py makes them straight-line code, which
LLVM vectorises."""
import random

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import same


def words(a):
    count = 0
    inside = False
    for i in range(len(a)):
        c = a[i]
        if c == 3 or c == 1 or c == 0:
            inside = False
        elif not inside:
            inside = True
            count += 1
    return count, inside


def rising(a):
    count = 0
    up = False
    for x in a:
        if x > 1:
            if not up:
                count += 1
            up = True
        else:
            up = False
    return count, up


def falling(a):
    count = 0
    down = True
    for i in range(len(a) - 1, -1, -1):
        now = a[i] < 1
        if now and not down:
            count -= 2
        down = now
    return count


def two_flags(a):
    odd = even = False
    changes = both = 0
    for i in range(1, len(a)):
        if a[i] > a[i - 1]:
            if odd and not even:
                changes += 1
            odd, even = True, a[i] == 2
        elif a[i] < a[i - 1]:
            if even:
                both += 3
            odd, even = a[i] == 1, True
        else:
            odd = even = False
    return changes, both, odd, even


def with_last(a):
    was, last, count = False, a.dtype.type(0), 0
    for x in a:
        now = x == 2
        if was and x > last:
            count += 1
        was, last = now, x
    return count, last, was


def by_row(a):
    total = 0
    rows = a.reshape(-1, 1) if a.size % 4 else a.reshape(-1, 4)
    for i in range(rows.shape[0]):
        inside = False
        for j in range(rows.shape[1]):
            if rows[i, j] != 0:
                if not inside:
                    total += 1
                inside = True
            else:
                inside = False
    return total


def strided(a):
    count, inside = 0, False
    for x in a[::2]:
        if x == 0:
            inside = False
        elif not inside:
            inside, count = True, count + 1
    return count


def latched(a):  # depends on the flag before
    count, seen = 0, False
    for x in a:
        if x == 2:
            seen = True
        if seen and x == 0:
            count += 1
    return count, seen


def summed(a):
    total, up = a.dtype.type(0), False
    for x in a:
        if x > 0:
            up = True
        else:
            if up:
                total = total + x
            up = False
    return total, up


def left_early(a):
    count, inside = 0, False
    for x in a:
        if x == 3:
            break
        if x == 0:
            inside = False
        elif not inside:
            inside, count = True, count + 1
    return count, inside


def checked(a, b):
    count, inside = 0, False
    for i in range(len(a)):
        if a[i] == 0:
            inside = False
        else:
            if not inside:
                count += b[i]
            inside = True
    return count


FUNCTIONS = [words, rising, falling, two_flags, with_last, by_row, strided, latched, summed, left_early]


@pytest.mark.parametrize("dtype, function", [
    (dtype, function) for dtype in ("u1", "i1", "i2", "i8", "u8", "f4", "f8", "?") for function in FUNCTIONS
    if dtype != "?" or function not in (summed, falling, two_flags, with_last)])
def test_values(dtype, function):
    compiled, rng = njit(function), np.random.default_rng(0)
    for n in (0, 1, 2, 3, 8, 31, 64, 65, 1000):
        for _ in range(6):
            a = rng.integers(0, 4, n).astype(dtype)
            if dtype in ("f4", "f8"):
                a[rng.random(n) < 0.1] = np.nan
            assert same(function(a), compiled(a)), a


def _program(rng: random.Random) -> str:
    """A loop whose branches set flags, count, and hand elements on; in three of four each iteration sets the flags
    anew."""
    anew = rng.random() < 0.75
    tests = ["x > 1", "x == 0", "x < last", "up", "not up", "down", "x & 1", "up and x != 2", "down or x == 3",
             "not (up or down)"]
    steps = ["n += 1", "n -= 3", "m += 2", "m += x", "pass"]
    if not anew:
        steps += ["up = True", "up = False", "down = x == 1", "down = up", "up = not down", "n += m", "down = not up",
                  "last = x", "k = n & 7", "m ^= 1"]

    ends = [["        up, down, last = x > 1, x == 0, x"],
            ["        if x == 2:", "            up, down = False, True", "        elif up:", "            n += 1",
             "            up, down = True, False", "        else:", "            up, down = True, False"],
            ["        if x & 1:", "            down = not up" if rng.random() < 0.3 else "            down = True",
             "        else:", "            down = x > 2", "        up = x == 3"]]

    def block(depth: int, indent: str) -> list[str]:
        lines = []
        for _ in range(rng.randint(1, 2)):
            if depth and rng.random() < 0.6:
                lines += [f"{indent}if {rng.choice(tests)}:", *block(depth - 1, indent + "    ")]
                if rng.random() < 0.7:
                    lines += [f"{indent}else:", *block(depth - 1, indent + "    ")]
            else:
                lines.append(indent + rng.choice(steps))
        return lines

    return "\n".join(["def f(a):", "    up, down, n, m, k, last = False, True, 0, 0, 0, 0", "    for x in a:",
                      "        x = int(x)", *block(3, "        "), *rng.choice(ends) * anew,
                      "    return up, down, n, m, k, last"])


@pytest.mark.parametrize("seed", range(60))
def test_generated_programs(seed):
    names: dict = {}
    program = _program(random.Random(seed))
    exec(program, names)
    compiled, rng = njit(names["f"]), np.random.default_rng(seed)
    for dtype in ("u1", "i8"):
        for n in (0, 1, 7, 130):
            a = rng.integers(0, 5, n).astype(dtype)
            assert same(names["f"](a), compiled(a)), program


def test_elements_that_may_not_be_there():
    compiled = njit(checked)
    a = np.array([0, 1, 1, 0, 1])
    for b in (np.arange(5), np.arange(5, dtype=np.int8), np.array([1, 2, 3, 4, 2**62])):
        assert same(checked(a, b), compiled(a, b))
    for f in (checked, compiled):
        with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
            f(a, np.arange(4))


def test_counts_that_overflow():
    def f(a, count):
        inside = False
        for x in a:
            if x == 0:
                inside = False
            elif not inside:
                inside = True
                count += np.int8(100)
        return count

    a = np.array([1, 0, 1, 0, 1] * 20, np.uint8)
    with np.errstate(over="ignore"):
        assert same(f(a, np.int8(0)), njit(f)(a, np.int8(0)))
    with pytest.raises(OverflowError):
        njit(f)(a, 2**63 - 100)


@pytest.mark.parametrize("function", [words, rising, falling])
def test_they_are_vectorised(function):
    compiled = njit(function)
    compiled(np.zeros(9, np.uint8))
    text, = compiled.inspect_llvm().values()
    assert "x i1>" in text


@pytest.mark.parametrize("function", [latched, left_early])
def test_others_are_not(function):
    compiled = njit(function)
    compiled(np.zeros(9, np.uint8))
    text, = compiled.inspect_llvm().values()
    assert "x i1>" not in text
