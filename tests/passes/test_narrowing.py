"""Loops over arrays of narrow ints, which compute in narrow ints: extremes of the types, limits of any size, empty
arrays, and what the loop becomes."""
import platform
import random
import re

import numpy as np
import pytest
from tests.oracle import same

from pyjitc import njit


def sobel(a, out):
    h, w = a.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            gx = (int(a[y - 1, x + 1]) + 2 * int(a[y, x + 1]) + int(a[y + 1, x + 1])
                  - int(a[y - 1, x - 1]) - 2 * int(a[y, x - 1]) - int(a[y + 1, x - 1]))
            gy = (int(a[y + 1, x - 1]) + 2 * int(a[y + 1, x]) + int(a[y + 1, x + 1])
                  - int(a[y - 1, x - 1]) - 2 * int(a[y - 1, x]) - int(a[y - 1, x + 1]))
            out[y, x] = min(255, abs(gx) + abs(gy))


def box(a, out):
    h, w = a.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            total = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    total += int(a[y + dy, x + dx])
            out[y, x] = total // 9


def blend(a, b, out, limit):
    for i in range(len(a)):
        out[i] = (int(a[i]) * 77 + int(b[i]) * 179) >> 8


def ratio(a, b, out, limit):
    for i in range(len(a)):
        x = int(a[i]) - 2 * int(b[i])
        out[i] = x // 7 + x % 5 + (x >> 3) + (x & 12) + (x ^ 3) + (~x | 8) - (-x)


def above(a, b, out, limit):
    for i in range(len(a)):
        out[i] = 3 if a[i] > limit else 1


def at_most(a, b, out, limit):
    for i in range(len(a)):
        x = int(a[i]) - int(b[i])
        out[i] = (x <= limit) + 2 * (limit <= x) + 4 * (x < limit) + 8 * (limit < x)


def equal(a, b, out, limit):
    for i in range(len(a)):
        out[i] = (int(a[i]) == limit) + 2 * (int(b[i]) != limit)


def differences(a, b, out, limit):
    total, count, last = 0, 0, 0
    for i in range(len(a)):
        x = int(a[i])
        total += abs(x - int(b[i]))
        count += abs(x - last) > limit
        last = x
    return total, count


def extremes(a, b, out, limit):
    low = high = 0
    for i in range(len(a)):
        x = int(a[i])
        if x < low:
            low = x
        high = max(high, x - int(b[i]))
    return low, high


def of_the_start(a, b, out, limit):
    most = limit
    for i in range(len(a)):
        most = max(most, int(a[i]))
    return most


def halves(a, b, out, limit):
    total = 0.0
    for i in range(len(a)):
        total += abs(int(a[i]) - int(b[i])) * 0.5
    return total


def sums(a, b, out, limit):
    for i in range(len(a)):
        t = np.int32(a[i]) + np.int32(b[i])
        out[i] = t if t < 50 else 50


def counted(a, b, out, limit):
    for i in range(8):
        out[i % max(len(out), 1)] = i + int(a[i]) // 2 if i < len(a) else i


TWO = [blend, ratio, above, at_most, equal, differences, extremes, of_the_start, halves, sums, counted]
LIMITS = [0, -1, 1, 127, 128, 254, 255, 256, -128, -129, 32767, -32769, 65535, 65536, 2**31, -2**63, 2**63 - 1]


def elements(rng, dtype, n):
    info = np.iinfo(dtype)
    few = np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1, info.max // 2]).astype(dtype)
    return np.where(rng.random(n) < 0.5, rng.choice(few, n), rng.integers(info.min, info.max, n, dtype, endpoint=True))


def outcome(function, args):
    args = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        return function(*args), *args
    except (OverflowError, IndexError) as error:
        return type(error), str(error), *args


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("function", TWO)
def test_values(function, dtype):
    compiled, rng = njit(function), np.random.default_rng(1)
    for n in (0, 1, 3, 40, 133):
        for limit in LIMITS if n == 40 else LIMITS[:3]:
            args = elements(rng, dtype, n), elements(rng, dtype, n), np.zeros(n, np.int64), limit
            assert same(outcome(function, args), outcome(compiled, args)), (n, limit)


@pytest.mark.parametrize("function", [sobel, box])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
def test_images(function, dtype):
    compiled, rng = njit(function), np.random.default_rng(2)
    for shape in ((0, 0), (2, 5), (3, 3), (5, 70)):
        a = elements(rng, dtype, shape)
        args = a, np.zeros_like(a)
        assert same(outcome(function, args), outcome(compiled, args))
    args = elements(rng, dtype, (9, 40)), np.zeros((5, 40), dtype)
    assert same(outcome(function, args), outcome(compiled, args))


def written(rng, depth):
    """An expression of elements and constants."""
    if depth == 0:
        return rng.choice(("x", "y", "x", "y", str(rng.choice((0, 1, 2, 7, 100, 255, 256, 1000, -1, -3)))))
    one, other = written(rng, depth - 1), written(rng, rng.randrange(depth))
    return rng.choice((f"({one} + {other})", f"({one} - {other})", f"({one} * {other})", f"abs({one})", f"(-{one})",
                       f"min({one}, {other})", f"max({one}, {other})", f"({one} >> {rng.randrange(12)})",
                       f"({one} << {rng.randrange(4)})", f"({one} // {rng.choice((3, 8, 9, 255))})",
                       f"({one} % {rng.choice((2, 7, 16, 200))})", f"({one} & {other})", f"({one} | {other})",
                       f"({one} ^ {other})", f"(~{one})", f"({one} if {other} < limit else {other})",
                       f"({one} if {one} >= {other} else {other})"))


@pytest.mark.parametrize("seed", range(24))
def test_generated(seed):
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    text = f"""
def f(a, b, out, limit):
    most = 0
    for i in range(len(a)):
        x, y = int(a[i]), int(b[i])
        z = {written(rng, 3)}
        out[i] = z & {rng.choice((255, 127, 65535))}
        most = max(most, {rng.choice(("z", "x", "x - y"))})
    return most
"""
    names = {}
    exec(text, names)
    function, compiled = names["f"], njit(names["f"])
    dtype = rng.choice((np.uint8, np.int8, np.int16, np.uint16))
    for limit in (0, 200, -2**63, 70_000):
        args = elements(numbers, dtype, 75), elements(numbers, dtype, 75), np.zeros(75, np.uint16), limit
        assert same(outcome(function, args), outcome(compiled, args)), text


def inspected():
    compiled = njit(sobel)
    compiled(np.zeros((4, 4), np.uint8), np.zeros((4, 4), np.uint8))
    return compiled


def test_a_loop_has_no_wide_arithmetic():
    """The copy of the loop that keeps its checks is left as it is."""
    compiled = inspected()
    text = compiled._inspect("opt", compiled.signatures[0])
    for op, count in ("iabs", 2), ("imul", 4):
        found = re.findall(rf"= {op} .* : (int\d*)\n", text)
        assert found.count("int16") == count


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="instructions of x86")
def test_vectors_have_narrow_lanes():
    compiled = inspected()
    assembly = compiled.inspect_asm(compiled.signatures[0])
    assert "pabsw" in assembly and "pabsd" not in assembly
