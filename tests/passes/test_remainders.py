"""Remainders and quotients that become counters of a loop, against the interpreter: signs, limits, exceptions."""
import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree


def upwards(low, high, m):
    total = 0
    for i in range(low, high):
        r, q = i % m, i // m
        total = (total * 3 + (r ^ q)) & 0xFFFFFFFF
    return total


def downwards(low, high, m):
    total = 0
    for i in range(high, low, -1):
        a, b, c = (i + 3) % m, i // m, (5 - i) % m
        total = (total * 3 + (a ^ b ^ 2 * c)) & 0xFFFFFFFF
    return total


def in_a_while(low, high, m):
    i, total = low, 0
    while i < high:
        i += 1
        if i % m == 1:
            continue
        q = i // m
        total = (total * 3 + q) & 0xFFFFFFFF
    return total


def of_a_sum(low, high, m):
    total = 0
    for k in range(3):
        for i in range(low, high):
            a, b, c = (i + k * high) % m, (i + k * high + 1) % m, (i - 1) // (m - 1)
            total = (total * 3 + (a ^ b ^ c)) & 0xFFFFFFFF
    return total


def left_early(low, high, m):
    total = 0
    for i in range(low, high):
        if i == 4:
            break
        r = i % m
        total = (total * 3 + r) & 0xFFFFFFFF
    return total


PROGRAMS = [upwards, downwards, in_a_while, of_a_sum, left_early]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_signs(program):
    compiled = njit(program)
    for low, high in (0, 0), (0, 1), (0, 20), (-9, 9), (5, 23), (-20, -3), (2**60, 2**60 + 9), (-2**60, 9 - 2**60):
        for m in (1, 2, 3, 7, 100, 2**60, -1, -2, -3, -7, -100, -2**60, 0):
            agree(program, low, high, m, compiled=compiled)


def at_the_end(high, m, k):
    total = 0
    for i in range(high - 5, high):
        total += (i + k) % m
    return total


def at_the_start(low, m):
    total = 0
    for i in range(low, low + 5):
        total += i % m
    return total


@pytest.mark.parametrize("overflow", ["raise", "wrap"])
def test_the_ends_of_64_bits(overflow):
    compiled = njit(overflow=overflow)(at_the_end)
    for k in 0, 1:
        agree(at_the_end, 2**63 - 1, 7, k, compiled=compiled)
    if overflow == "raise":
        with pytest.raises(OverflowError):
            compiled(2**63 - 1, 7, 2)
    else:
        values = np.arange(2**63 - 6, 2**63 - 1) + 2
        assert compiled(2**63 - 1, 7, 2) == sum(int(x) % 7 for x in values)
    compiled = njit(overflow=overflow)(at_the_start)
    for m in -1, 1, 7, -7, -2**20, 2**20:
        agree(at_the_start, -2**63, m, compiled=compiled)


def ring(values, places, step):
    for i in range(len(values)):
        places[(i + step) % len(places)] += values[i]
    return places.sum()


def test_places_on_a_ring_need_no_checks():
    compiled = njit(ring)
    for n in (0, 1, 2, 7, 30, 31):
        for step in (0, 1, -1, 5, -40):
            agree(ring, np.arange(30.0), np.zeros(n), step, compiled=compiled)
    assert "check_index" not in compiled._inspect("opt", None).popitem()[1]


def caught_in_each_trip(a, n):
    failed = i = 0
    while i < 6:
        i += 1
        try:
            a[i] += a[i % n] + a[i // n]
        except IndexError:
            failed += 1
    return failed


@pytest.mark.parametrize("n", [2, 3, -3, 7])
def test_an_exception_that_is_caught_leads_to_the_next_trip(n):
    agree(caught_in_each_trip, np.arange(4), n)


def no_division_in_a_loop(n, w, out):
    for k in range(n):
        out[k % w] += k // w


def test_nothing_is_divided_in_the_loop():
    compiled = agree(no_division_in_a_loop, 100, 7, np.zeros(7, np.int64))
    text = next(value for value in compiled.inspect_asm().values())
    kernel = text[text.index("f0.no_division_in_a_loop:"):]
    # one of the start value of the loop, and one in a shorter form
    assert kernel.count("idivq") + kernel.count("divq") <= 4


def steps_on_a_ring(a, out):
    for i in range(100):
        out[i] += a[(i + 1) % 100] + 2 * a[(i - 1) % 100] + 3 * a[(i + 99) % 100] + 5 * a[(i - 100) % 100]
        out[i] += a[(2 * i) % 100] + a[(i + 101) % 100] + (i - 101) % 100 + (i + 1) % 7
    for i in range(-7, 7):
        out[100 + i] += i % 7 + 100 * ((i + 7) % 7) + 10_000 * (i % 5) + (i - 1) % 9


def test_steps_on_a_ring_of_constant_length():
    compiled = agree(steps_on_a_ring, np.arange(100) ** 2, np.zeros(120, np.int64))
    for size in 99, 100:  # an array that is too short
        agree(steps_on_a_ring, np.arange(size) ** 2, np.zeros(size + 7, np.int64), compiled=compiled)
    assert compiled._inspect("opt", None).popitem()[1].count("ring") > 10
