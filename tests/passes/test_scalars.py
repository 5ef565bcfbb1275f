"""Scalar loops after the passes ranges, bits, reload, inspector and versioning, compared with the interpreter:
exceptions in the loops, and the limits of the facts on which the passes rely."""
import math

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.pipeline import stages
from pyjitc.base.options import Options
from pyjitc.types.typeof import typeof
from tests.oracle import agree, outcome, same

INT_MIN, INT_MAX = -(2**63), 2**63 - 1


def alike(f, *args, compiled=None):
    """As agree, without comparing texts of exceptions and the number types of results, which other tests compare."""
    compiled = compiled or njit(f)
    expected, actual = outcome(f, args), outcome(compiled, args)
    assert expected[0] == actual[0], (args, expected, actual)
    x, y = expected[1], actual[1]
    assert type(x) is type(y) if expected[0] == "raises" else np.array_equal(x, y), (args, expected, actual)
    assert same(expected[2], actual[2]), (args, expected, actual)
    return compiled


def insertion(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


def insertion_without_stop(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while a[j] > key:  # continues with a[-1]: an index below -len(a) raises
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


def swaps(a):
    for i in range(1, len(a)):
        j = i
        while j > 0 and a[j - 1] > a[j]:
            a[j - 1], a[j] = a[j], a[j - 1]
            j -= 1


def swaps_in_two(a, b):
    j = len(a) - 1
    while j > 0 and a[j - 1] > a[j]:
        b[j], b[j - 1] = a[j - 1], a[j]
        j -= 1
    return j


def bisect(a, x):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def bisect_too_far(a, x):
    lo, hi = 0, len(a)
    while lo <= hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid - 1
    return lo


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17])
@pytest.mark.parametrize("kind", ["random", "up", "down", "same"])
def test_searches_and_sorts(n, kind):
    up = np.arange(float(n))
    a = {"random": np.random.default_rng(n).random(n), "up": up, "down": -up, "same": np.ones(n)}[kind]
    for f in insertion, insertion_without_stop, swaps:
        agree(f, a)
        agree(f, (a * 100).astype(np.int64))
    agree(swaps_in_two, a, a + 1)
    agree(lambda x: swaps_in_two(x, x), a)
    agree(lambda x: swaps_in_two(x, x[::-1]), a)
    b = np.sort(a)
    for x in -5.0, 0.0, 0.5, 1.0, 100.0:
        agree(bisect, b, x)
        agree(bisect_too_far, b, x)


def neighbours(a, step):
    out = np.empty_like(a)
    n = len(a)
    for i in range(n):
        out[i] = a[(i - step) % n] + 10 * a[(i + step) % n] + 100 * a[(i + 1) % n] + 1000 * a[(i - 1) % n]
    return out


def life(a):
    h, w = a.shape
    out = np.zeros_like(a)
    for y in range(h):
        for x in range(w):
            n = 0
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if dy or dx:
                        n += a[(y + dy) % h, (x + dx) % w]
            out[y, x] = n
    return out


def ring(a, k, by):
    head, total = 0, 0
    for _ in range(k):
        total += a[head]
        head = (head + by) % len(a)
    return total


def shifted(a, m):
    t = 0
    for i in range(len(a)):
        t = t * 3 % 1000003 + (i - 1) % m + (i + 1) % m + (i - 40) % m + i // m
    return t


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 65])
def test_remainders(n):
    a = np.arange(n)
    for step in (0, 1, 2, 5, 63, 64, 65, -3, 10**12, 2**61, -(2**61)):
        agree(neighbours, a, step)
        agree(ring, a, 20, step)
    for h in 1, 2, 3, n:
        agree(life, np.random.default_rng(n).integers(0, 2, (h, n)))
    for m in 1, 2, 3, n, -1, -7, 0, 2**40, -(2**40):
        agree(shifted, a, m)
    agree(ring, a[:0], 3, 1)
    agree(neighbours, a[:0], 1)


SIGNS = {
    "one and a square": lambda x, y: 1.0 / (1.0 + x * x), "a square": lambda x, y: 1.0 / (x * x),
    "a small number and a square": lambda x, y: x / (5e-324 + y * y), "a product": lambda x, y: 1.0 / (1.0 + x * y),
    "two squares": lambda x, y: math.sqrt(x * x + y * y), "a difference": lambda x, y: math.sqrt(1.0 - x * x),
    "a product of two": lambda x, y: math.sqrt(x * y), "abs": lambda x, y: x / (1.0 + abs(x)) + math.sqrt(abs(y)),
    "exp": lambda x, y: 1.0 / (1.0 + math.exp(-abs(x))) + math.sqrt(np.exp(y)),
    "a root over a root": lambda x, y: math.sqrt(math.sqrt(abs(x)) / (1.0 + math.sqrt(abs(y)))),
    "over what may be 0": lambda x, y: math.sqrt(1.0 / -(0.0 * x * x)),
    "minus 0": lambda x, y: math.sqrt(-0.0 * (x * x)) + 1.0 / (-0.0 + y * y),
    "cosh": lambda x, y: 1.0 / (1.0 + np.cosh(x)) + math.sqrt(math.hypot(x, y)),
    "powers": lambda x, y: 1.0 / (1.0 + x ** 2) + math.sqrt(y ** 2 + x ** 4),
}


@pytest.mark.parametrize("name", SIGNS)
def test_signs_of_floats(name):
    f = SIGNS[name]
    numbers = [0.0, -0.0, 1.0, -1.0, 5e-324, -1e-200, 1e200, -1e308, math.inf, -math.inf, math.nan, 0.5]
    compiled = njit(f)
    with np.errstate(all="ignore"):
        for t in float, np.float64, np.float32:
            for x in numbers:
                for y in numbers:
                    expected, actual = (outcome(one, (t(x), t(y))) for one in (f, compiled))
                    assert expected[0] == actual[0], (x, y, expected, actual)
                    if expected[0] == "returns":
                        assert type(expected[1]) is type(actual[1])
                        np.testing.assert_allclose(actual[1], expected[1], 1e-14 if t is not np.float32 else 1e-6)
                    else:
                        assert repr(expected[1]) == repr(actual[1])


def bits(x):
    n = 0
    while x:
        x &= x - 1
        n += 1
    return n, x


def bits_and_last(x):
    n, last = 0, x
    while x:
        last = x
        x &= x - 1
        n += 5
    return n, last


def bits_at_least_once(x):
    n = 0
    while True:
        x = x & (x - 1)
        n += 1
        if x == 0:
            return n


def bits_above(x):
    n = 0
    while x > 0:
        x &= x - 1
        n += 2
    return n


def halvings(x):
    n = 0
    while x > 0:
        n += x & 1
        x >>= 1
    return n


def length_in_bits(x):
    n = 0
    while x > 0:
        x >>= 1
        n += 1
    return n, x


def halves(x):
    n, last = 7, 0
    while x:
        last += 3
        n += 2
        x //= 2
    return n, last, x


def halves_and_last(x):
    n, last = 0, x
    while x > 0:
        last = x
        x >>= 1
        n += 1
    return n, last


def shifts_by_two(x):
    n = 0
    while x > 0:
        x >>= 2
        n += 1
    return n, x


def halved_at_least_once(x):
    n = 0
    while True:
        x >>= 1
        n += 1
        if x <= 0:
            return n, x


def digits(x):
    total = 0
    while x > 0:
        total += x % 10
        x //= 10
    return total


def lengths_of_many(a, out):
    for i in range(len(a)):
        x, n = a[i], 0
        while x > 0:
            x >>= 1
            n += 1
        out[i] = 63 - n
    return out


def bits_of_many(n):
    total = 0
    for i in range(n):
        x = i
        while x:
            x &= x - 1
            total += 1
    return total


@pytest.mark.parametrize("t", [int, np.int64, np.uint64, np.int32, np.uint8, np.int8])
def test_bits(t):
    top = INT_MAX if t is int else int(np.iinfo(t).max)
    for value in (0, 1, 2, 3, 100, 127, top, top // 2, top - 1, top // 2 + 1):
        for f in (bits, bits_and_last, bits_above, halvings, digits, length_in_bits, halves, halves_and_last,
                  shifts_by_two, halved_at_least_once):
            alike(f, t(value))
        if value:
            agree(bits_at_least_once, t(value))
    with np.errstate(all="ignore"):
        assert njit(bits_at_least_once)(np.uint64(0)) == 1
    for n in 0, 1, 5, 300:
        agree(bits_of_many, n)


@pytest.mark.parametrize("t", [np.int64, np.uint64, np.int32, np.uint8, np.int8])
def test_lengths_in_bits(t):
    info = np.iinfo(t)
    numbers = np.array([0, 1, 2, 3, 100, 127, info.max, info.max // 2, info.max // 2 + 1, info.min, info.min // 3], t)
    compiled = agree(lengths_of_many, numbers, np.zeros(len(numbers), np.int64))
    assert "@llvm.ctlz" in next(iter(compiled.inspect_llvm().values()))
    for value in (info.min, info.min // 3, -1) if info.min else (0, 1):
        for f in length_in_bits, halves_and_last, shifts_by_two, halved_at_least_once:
            alike(f, t(value))


def test_lengths_of_ints_in_bits():
    for value in INT_MIN, -8, -1:
        for f in length_in_bits, halves_and_last, halved_at_least_once:
            alike(f, value)
    for value in INT_MIN, INT_MIN + 1, -8, -1, 0, 1, 255, INT_MAX:
        alike(lambda x: x.bit_length(), value)


def test_bits_of_negative_ints_end_where_64_bits_do():
    """The interpreter never ends."""
    for x in -1, -5, INT_MIN:
        with pytest.raises(OverflowError, match="-9223372036854775808 - 1 does not fit"):
            njit(bits)(x)
    assert njit(bits_above)(-1) == 0


def powers(n, by):
    total = 0
    for i in range(n):
        total |= 1 << (by - i)
    return total


def scaled_powers(n, by):
    total = 0
    for i in range(n):
        total ^= 5 << (i + by)
    return total


def test_shifts():
    for n in 0, 1, 10, 61, 62, 63, 64, 65:
        for by in 0, 1, 30, 61, 62:
            if n <= by + 1:
                agree(powers, n, by)
            if n and 5 << (n - 1 + by) <= INT_MAX:
                agree(scaled_powers, n, by)
    for n, by in (5, 3), (1, -1):
        agree(powers, n, by)  # ValueError
        agree(scaled_powers, n, -1)
    for f, n, by in (powers, 1, 63), (scaled_powers, 2, 60), (powers, 2, 70):
        with pytest.raises(OverflowError):
            njit(f)(n, by)


def bounded_sum(a, start):
    total = start
    for x in a:
        total += int(x)
        if x == 3:
            total -= 7
    return total


def test_sums_of_small_numbers():
    a = np.random.default_rng(0).integers(0, 256, 1000).astype(np.uint8)
    for start in 0, -5, 2**62, -(2**62), 2**62 + 1, INT_MAX - 300_000, INT_MIN + 10_000:
        agree(bounded_sum, a, start)
    with pytest.raises(OverflowError):
        njit(bounded_sum)(a, INT_MAX - 1000)
    with pytest.raises(OverflowError):
        njit(bounded_sum)(np.full(10, 3, np.uint8), INT_MIN)


def to_ints(a, out, factor):
    for i in range(len(a)):
        out[i] = int(a[i] * factor)


def to_bytes(a, out):
    for i in range(len(a)):
        v = a[i] * 300 - 20
        out[i] = int(min(max(v, 0), 255))


def to_less(a, out):
    for i in range(len(a)):
        out[i] = int(a[i] * 300) - 20


def within(a):
    for i in range(len(a) - 1):
        a[i + 1] = float(int(a[i] * 0.75))


BAD = [np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), 2.0**31, -(2.0**31), 2.0**31 - 0.5, -(2.0**31) - 0.5, 256.0,
       255.9, -0.9, -1.0, 1e300]


@pytest.mark.parametrize("t", [np.int64, np.int32, np.uint32, np.int16, np.uint8])
@pytest.mark.parametrize("n", [0, 3, 15, 16, 17, 255, 256, 257, 600])
def test_conversions_fail_where_they_did(t, n):
    a = np.random.default_rng(n).random(n) * 100
    compiled = {f: njit(f) for f in (to_ints, to_bytes, to_less)}
    for place in {0, n // 2, n - 1, 256} if n else {0}:
        for bad in BAD if 0 <= place < n else [None]:
            b = a.copy()
            if bad is not None:
                b[place] = bad
            with np.errstate(all="ignore"):
                alike(to_ints, b, np.zeros(n, t), 1.0, compiled=compiled[to_ints])
                alike(to_bytes, b / 100, np.zeros(n, t), compiled=compiled[to_bytes])
                alike(to_less, b / 100, np.zeros(n, t), compiled=compiled[to_less])


def test_conversions_of_constants():
    for value in float("inf"), float("-inf"), float("nan"), -(2.0**63), 0.5:
        def constant(a):
            a[0] = 1
            return int(value)

        alike(constant, np.zeros(1))


def test_conversions_that_overlap():
    f = njit(to_ints)
    for shift in 0, 1, 8, 16:
        memory, expected = (np.arange(400, dtype=np.float64).view(np.int64).copy() for _ in range(2))
        for m, g in (memory, f), (expected, to_ints):
            g(m[:300].view(np.float64), m[shift:shift + 300], 1.5)
        np.testing.assert_array_equal(memory, expected)
    agree(within, np.full(300, 1e15))


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z >> np.uint64(31))


def test_small_functions_in_loops():
    inner = njit(mix)

    def fill(out):
        for i in range(len(out)):
            out[i] = inner(np.uint64(i))

    out, expected = np.zeros(100, np.uint64), np.zeros(100, np.uint64)
    njit(fill)(out)
    with np.errstate(all="ignore"):
        for i in range(100):
            expected[i] = mix(np.uint64(i))
    np.testing.assert_array_equal(out, expected)


OPERATIONS = ["j - 1", "j + 1", "j // 2", "(j + n) // 2", "(i + j) // 2", "min(j, i)", "max(j, i) - 1", "j % n",
              "(j - 1) % n", "j & 7", "j >> 1", "n - 1 - j", "i", "abs(j - i)", "(j * 3) % n", "j - i"]
TESTS = ["j > 0", "j >= 0", "j < n", "j < i", "j <= i", "0 <= j < n", "j != i", "j > i and j < n", "a[j] > 0.5",
         "a[j - 1] > 0.5 and j > 0", "i < n - 1"]


@pytest.mark.parametrize("seed", range(40))
def test_loops_over_indices(seed):
    """Random loops: proved bounds of an index must hold."""
    rng = np.random.default_rng(seed)
    lines = ["def f(a, start):", "    n = len(a)", "    i = start", "    j = n - 1", "    total = 0.0", "    trips = 0"]
    for loop in range(int(rng.integers(1, 3))):
        pad = "    " * (1 + loop)
        span = rng.choice(["n", "1, n", "j, n", "n - 1"])
        loop_over = f"while {rng.choice(TESTS)} and trips < 40:" if rng.random() < 0.7 else f"for i in range({span}):"
        lines.append(pad + loop_over)
        for _ in range(int(rng.integers(1, 4))):
            one, other, test = rng.choice(OPERATIONS), rng.choice(OPERATIONS), rng.choice(TESTS)
            lines.append(pad + "    "
                         + str(rng.choice([f"j = {one}", f"i = {one}", "total += a[j]", "a[i] = a[j] * 0.5",
                                                        f"total += a[{one}]", f"if {test}: j = {other}"])))
        lines.append(pad + "    trips += 1")
    lines.append("    return total, i, j, trips")
    scope: dict = {}
    exec("\n".join(lines), scope)
    f = scope["f"]
    compiled = None
    for n in 0, 1, 2, 5, 12:
        for start in 0, 1, n - 1, -1, n:
            compiled = alike(f, np.random.default_rng(n).random(n), start, compiled=compiled)


def third(a, x):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 3
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def halvings_from_anything(x):
    n = 0
    while x:
        x >>= 1
        n += 1
    return n


def polls(function, *args):
    return stages.inspect(function, tuple(map(typeof, args)), Options(), "opt").count("poll")


def test_loops_that_end_soon_ask_for_no_signals():
    a = np.sort(np.random.default_rng(0).random(100))
    agree(third, a, -1.0)
    assert polls(bisect, a, 0.5) == 0 < polls(third, a, -1.0)
    assert polls(halvings, 5) == 0 < polls(halvings_from_anything, 5)
