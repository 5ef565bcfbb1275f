"""Tests that repeat what a branch before them has tested, with loads, against the interpreter: matches, exceptions, and
arrays that change between the tests."""
import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree


def prefixes(text, word, fail):
    m = len(word)
    fail[0] = 0
    k = 0
    for i in range(1, m):
        while k > 0 and word[i] != word[k]:
            k = fail[k - 1]
        if word[i] == word[k]:
            k += 1
        fail[i] = k
    found = 0
    k = 0
    for i in range(len(text)):
        while k > 0 and text[i] != word[k]:
            k = fail[k - 1]
        if text[i] == word[k]:
            k += 1
        if k == m:
            found = found * 3 + i
            k = fail[k - 1]
    return found


def wrong_links(text, word, fail):
    """The links lead outside the word, or wrap, so that a check of either test may raise."""
    k, total = 2, 0
    for i in range(len(text)):
        while k > 0 and text[i] != word[k]:
            k = int(text[k]) - 97 * 2 + fail[i % len(fail)]
        if text[i] == word[k]:
            k += 1
        fail[i % len(fail)] += k
        total += k
    return total, k


def insertion(text, word, fail):
    moves = 0
    for i in range(1, len(text)):
        key = text[i]
        j = i - 1
        while j >= 0 and text[j] > key:
            text[j + 1] = text[j]
            j -= 1
        if j >= 0 and text[j] > key:
            moves += 1000
        elif j >= 0 and text[j] == key:
            moves += 1
        text[j + 1] = key
    return moves


def changed_between(text, word, fail):
    """The store may change the element that both tests read."""
    found = 0
    for i in range(len(text)):
        k = i % len(word)
        while k > 0 and text[i] != word[k]:
            k -= 1
            word[(k * 7) % len(word)] = text[i]
        word[(i * 3) % len(word)] = 97
        if text[i] == word[k]:
            found += k + 1
    return found


def another_index(text, word, fail):
    found = 0
    for i in range(len(text)):
        k = len(word) - 1
        while k > 0 and text[i] != word[k]:
            k -= 1
        if text[i] == word[k - 1]:
            found += k
        if text[i] != word[k]:
            found += 100 * k
    return found


def views(text, word, fail):
    """The store goes to the same memory through a view."""
    other = word[1:]
    found = 0
    for i in range(len(text)):
        k = len(other)
        while k > 0 and text[i] != word[k]:
            k -= 1
        if i % 5 == 0:
            other[k % len(other)] = 98
        if text[i] == word[k]:
            found += k + 1
    return found


def backtracking(text, word, fail):
    """Places of queens, one a row; the test of the loop is made again after it."""
    n, row, found = len(fail), 0, 0
    fail[0] = -1
    steps = 0
    while row >= 0 and steps < 3000:
        steps += 1
        fail[row] += 1
        c, k = fail[row], 0
        while k < row and fail[k] != c and abs(fail[k] - c) != row - k:
            k += 1
        if c >= n:
            row -= 1
        elif k < row and fail[k] == c:
            found += 1
        elif k == row:
            row += 1
            if row == n:
                found += 1000
                row -= 1
            else:
                fail[row] = -1
    return found, steps


def caught(text, word, fail):
    """A handler sees the values at the check that raised."""
    k, found = 0, 0
    for i in range(len(text)):
        try:
            k = i
            while k > 1 and word[k] != text[i]:
                k = fail[k - 1]
            if word[k] == text[i]:
                found += k
        except IndexError:
            found += 1000 + k
    return found


def caught_in_a_latch(text, word, fail):
    """A handler gets a value of the header of the loop from a check in the last block of the loop."""
    total, k, n = 0, 1, 0
    for i in range(len(word)):
        try:
            k = text[k - 1] - 96
            while text[i - k] > 97:
                n += 1
                if n > 60:
                    break
                text[k - 1] = (k & 3) + 96
                k -= 1
        except IndexError:
            total += 3 + k
        k = i
    return total, n


def found_by_a_for(text, word, fail):
    total = 0
    for c in word:
        j = 0
        for j in range(len(text)):
            if text[j] == c:
                break
        if text[j] == c:
            total += j
        else:
            total -= 7
    return total


def of_words(text, word, fail):
    """Letters of words, with a sum of the element that both tests load."""
    i, words, total = 0, 0, 0
    while i < len(text):
        while i < len(text) and text[i] == 97:
            i += 1
        if i < len(text) and text[i] != 97:
            words += 1
            total += int(text[i]) * 2 + i
        while i < len(text) and text[i] != 97:
            i += 1
    return words, total


PROGRAMS = [prefixes, wrong_links, insertion, changed_between, another_index, views, backtracking, caught,
            caught_in_a_latch, found_by_a_for, of_words]


def letters(rng, letters, size):
    return rng.choice(np.frombuffer(letters, np.uint8), size)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(program):
    compiled = njit(program)
    rng = np.random.default_rng(5)
    for n, m in (60, 5), (7, 6), (40, 2), (25, 1), (0, 3), (3, 9):
        for alphabet in b"ab", b"abc":
            args = letters(rng, alphabet, n), letters(rng, alphabet, m), np.zeros(max(m, 4), np.int64)
            agree(program, *args, compiled=compiled)


# an element is an index in caught_in_a_latch
@pytest.mark.parametrize("program", [f for f in PROGRAMS if f is not caught_in_a_latch], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_other_elements(program, dtype):
    compiled = njit(program)
    rng = np.random.default_rng(6)
    for n, m in (30, 4), (9, 7):
        args = letters(rng, b"ab", n).astype(dtype), letters(rng, b"ab", m).astype(dtype), np.zeros(8, np.int64)
        if dtype is np.float64:
            args[0][n // 2] = args[1][m // 2] = np.nan
        agree(program, *args, compiled=compiled)


@pytest.mark.parametrize("program", [changed_between, views, insertion, of_words], ids=lambda f: f.__name__)
def test_one_array_as_both(program):
    compiled = njit(program)
    a = letters(np.random.default_rng(7), b"ab", 12)
    b = a.copy()
    agree(program, a, a[:6], np.zeros(6, np.int64), compiled=compiled)
    assert program(b, b[:6], np.zeros(6, np.int64)) == compiled(a, a[:6], np.zeros(6, np.int64))
    assert (a == b).all()
