"""Loops that do nothing are not entered; loops with effects, or whose values are used, are."""
import re

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.ops.memory import FUEL
from tests.oracle import agree

HUGE = 10 ** 15  # trips that no test could wait for


def nothing(n, m):
    for i in range(n):
        for j in range(m):
            i + j * 2.0
    return n


def dead_arrays(x, n):
    kept = x.copy()
    for k in range(3):
        if k == 1:
            x = x + 1.0
    for _ in range(n):
        x = x * x
    return kept


def test_idle_loops_take_no_time():
    assert njit(nothing)(HUGE, HUGE) == HUGE
    assert njit(dead_arrays)(np.ones(3), HUGE).tolist() == [1.0] * 3


def last(n):
    i = -1
    for i in range(n):
        pass
    return i


def total(n, x):
    y = 0.0
    for _ in range(n):
        y += x
    return y


def stops(n, limit):
    for i in range(n):
        if i * i > limit:
            break
    else:
        return -1
    return i


def test_loops_that_are_read_run():
    for n in (0, 1, 7):
        agree(last, n)
        agree(total, n, 0.1)
        agree(stops, n, 9)
        agree(nothing, n, n)


def collatz(limit):
    longest = 0
    for i in range(1, limit):
        n, steps = i, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        longest = max(longest, steps)
    return longest


def gcd(a, b):
    turns = 0
    while b:
        a, b = b, a % b
        turns += 1
    return a, b, turns


def found(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low, high


def newton(x):
    y = last = x
    while True:
        y, last = 0.5 * (y + x / y), y
        if y == last or y != y:
            return y, last


def overflows(n):
    steps = 0
    while n > 0:
        n = n * 3
        steps += 1
    return n, steps


def test_small_loops_that_are_written_several_times():
    for n in (1, 2, 3, 27, 100):
        agree(collatz, n)
    for pair in ((0, 0), (12, 18), (18, 12), (1, 1), (89, 55), (55, 89), (-7, 3)):
        agree(gcd, *pair)
    a = np.arange(0.0, 40.0, 2.0)
    for x in (-1.0, 0.0, 1.0, 17.0, 38.0, 39.0, np.nan):
        agree(found, a, x)
        agree(found, a[:0], x)
    for x in (2.0, 9.0, 1e300, np.nan):
        agree(newton, x)
    for n in (0, -1):
        agree(overflows, n)
    for n in (1, 3):  # the first of the two and the second raise
        with pytest.raises(OverflowError, match="4052555153018976267 \\* 3"):
            njit(overflows)(n)


@pytest.mark.parametrize("function, args, operation, copies, polls", [
    (gcd, (12, 18), "srem", 4, 1),
    (newton, (2.0,), "fdiv", 4, 1),
    # the iteration that tests whether a product may overflow polls by itself, and so does the loop around
    (collatz, (10,), "[al]shr", 5, 3)])
def test_four_iterations_share_a_poll(function, args, operation, copies, polls):
    compiled = njit(function)
    compiled(*args)
    text = compiled.inspect_llvm(compiled.signatures[0])
    body = text[text.index("define internal fastcc"):]
    assert len(re.findall(f" {operation} ", body)) == copies
    assert body.count("call preserve_mostcc i32 @pyj_signals") == polls


def sum_of_products(points):
    total = 0.0
    for p in points:
        total += p[0] * p[1]
    return total


def sums_of_rows(rows, out):
    for i in range(len(rows)):
        total = 0.0
        for x in rows[i]:
            total += x
        out[i] = total


def integer_sums_of_rows(rows, out):
    for i in range(len(rows)):
        total = 0
        for x in rows[i]:
            total += x
        out[i] = total


@pytest.mark.parametrize("function, args, lines", [
    (sum_of_products, (np.ones((4, 2)),), 2), (sums_of_rows, (np.ones((4, 2)), np.zeros(4)), 2),
    (integer_sums_of_rows, (np.ones((4, 2), int), np.zeros(4, int)), 1)])
def test_loops_that_begin_at_a_line(function, args, lines):
    """An outermost loop that pauses, the loop that computes the sums of several trips of an outer one, and a function
    with loops begin at a line of the cache; other inner loops do not."""
    compiled = njit(function)
    compiled(*args)
    assert compiled.inspect_asm(compiled.signatures[0]).count(".p2align\t6") == lines


def refills(f):
    """The values to which the counters of a function are reset after a poll."""
    return [int(n) for n in re.findall(r"store i64 (\d+), ptr %counter", f.inspect_llvm(f.signatures[0]))]


def test_counters_of_a_recursion_share_the_cost_between_polls():
    """Which of the function's counters counts depends on the stack, so together they may run no longer than the single
    counter of another function."""
    @njit
    def branching(n):
        for k in range(n):
            if k & 12 == 12:
                n -= branching(n // 2)
        return n if n < 2 else branching(n - 1) + branching(n - 2)

    assert branching(12) == branching.py_func(12)
    assert refills(branching) and {4 * n for n in refills(branching)} == {FUEL}


def binned(x, scale, shift, counts):
    for i in range(len(x)):
        for k in range(len(scale)):
            counts[k, int(x[i] * scale[k] + shift[k]) + 3] += 1


def test_a_loop_that_counts_at_converted_floats_is_unrolled():
    """Although it checks the index, which fails where it did, and counts from the end for a negative one."""
    rng = np.random.default_rng(5)
    x, scale, shift = rng.random(7) * 4, rng.random(21), rng.random(21) - 3.5
    f = njit(binned)
    agree(binned, x, scale, shift, np.zeros((21, 8), np.int64))
    agree(binned, x, scale, shift, np.zeros((21, 4), np.int64))
    f(x, scale, shift, np.zeros((21, 8), np.int64))
    assert "llvm.loop.unroll.count" in f.inspect_llvm(f.signatures[0])


def matches(text, word):
    found = 0
    for i in range(len(text) - len(word) + 1):
        k = 0
        while k < len(word) and text[i + k] == word[k]:
            k += 1
        found += k
    return found


def mismatches(text, word):
    found = 0
    for i in range(len(text) - len(word) + 1):
        k = 0
        while k < len(word) and text[i + k] != word[k]:
            k += 1
        found += k
    return found


def test_a_loop_that_goes_on_while_elements_are_equal_has_few_copies():
    """It mostly ends at once; the other one, which goes on while they differ, does not."""
    rng, copies = np.random.default_rng(9), []
    for program in (matches, mismatches):
        compiled = njit(program)
        for n, m in (0, 0), (5, 0), (0, 3), (30, 1), (30, 3), (30, 30):
            text, word = rng.integers(0, 2, n).astype(np.uint8), rng.integers(0, 2, m).astype(np.uint8)
            assert compiled(text, word) == program(text, word)
        copies.append(str(compiled._inspect("opt", None)).count("array_load text"))
    assert copies[1] - copies[0] == 2, copies


def test_copies_of_a_loop_with_branches_keep_what_they_select():
    @njit(cache=False)
    def f(a, b, table):
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                if a[i - 1] == b[j - 1]:
                    table[i, j] = table[i - 1, j - 1] + 1
                else:
                    table[i, j] = max(table[i - 1, j], table[i, j - 1])
        return table[len(a), len(b)]

    rng = np.random.default_rng(3)
    for n, m in (0, 5), (1, 1), (2, 9), (7, 4), (40, 41), (64, 63):
        a, b = rng.integers(97, 100, n).astype(np.uint8), rng.integers(97, 100, m).astype(np.uint8)
        table, expected = np.zeros((n + 1, m + 1), np.int64), np.zeros((n + 1, m + 1), np.int64)
        assert f(a, b, table) == f.py_func(a, b, expected)
        assert (table == expected).all()
    text = f.inspect_asm(f.signatures[0])
    # four copies of a trip, one for what is beyond a multiple of four, and the loop with checks
    assert text.count("cmovg") + text.count("cmovl") == 6


def sorted_rows(table, out):
    for i in range(len(table)):
        for j in range(table.shape[1]):
            x = table[i, j]
            k = j
            while k > 0 and out[i, k - 1] > x:
                out[i, k] = out[i, k - 1]
                k -= 1
            out[i, k] = x


def test_a_small_loop_around_a_search_has_copies_that_share_a_poll():
    rng = np.random.default_rng(3)
    for width in range(10):
        table = rng.integers(0, 9, (5, width)).astype(np.float64)
        agree(sorted_rows, table, np.zeros((5, width)))
        if width > 3:
            table[:, 2] = np.nan
            agree(sorted_rows, table, np.zeros((5, width)))
            with pytest.raises(IndexError):
                njit(sorted_rows)(table, np.zeros((5, width - 1)))
    compiled = njit(sorted_rows)
    compiled(table, np.zeros((5, width)))
    assert str(compiled._inspect("opt", None)).count("counts: True") == 3
