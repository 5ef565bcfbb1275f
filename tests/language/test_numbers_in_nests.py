"""Nests of loops over Python lists of numbers: compiled code copies the numbers to arrays before the nest, and all that
can be seen is as in the interpreter, also where the lists are no matrices, are aliases of one another, or where the
nest raises an error half way."""
import copy

import pytest
from tests.oracle import agree, outcome, same

from pyjitc import njit


def multiply(c, a, b):
    for i in range(len(c)):
        for j in range(len(c[0])):
            for k in range(len(b)):
                c[i][j] += a[i][k] * b[k][j]


def shortest(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i][k] + d[k][j]
                if through < d[i][j]:
                    d[i][j] = through
    return d[0][-1]


def relax(a, b, steps):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        for i in range(1, n - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3


def gather(a, at, steps):
    total = 0
    for _ in range(steps):
        for i in range(len(at)):
            total += a[at[i]]
            a[at[i]] = total % 1000
    return total


def read(a, at, steps):
    total = 0
    for _ in range(steps):
        for i in range(len(at)):
            total += a[at[i]] % 1000
    return total


def lengths(a, steps):
    total = 0
    for _ in range(steps):
        for i in range(len(a)):
            row = a[i]
            for j in range(3):
                total += row[j - len(row)] + len(a)
    return total


def matrix(n, m, of=float):
    return [[of((7 * i + 13 * j) % 11 + 300) for j in range(m)] for i in range(n)]


def in_place(rows, *changes):
    for i, j, value in changes:
        rows[i][j] = value
    return rows


def assert_copies(function, *args):
    """Assert that the program does the same as in the interpreter, and that compiled code has a nest over arrays."""
    compiled = agree(function, *args)
    assert all("list_copied" in text for text in compiled._inspect("opt", None).values())
    return compiled


def test_matrices():
    compiled = assert_copies(multiply, matrix(12, 12), matrix(12, 12), matrix(12, 12))
    for n, m in ((1, 1), (12, 3), (3, 12)):
        agree(multiply, matrix(n, n), matrix(n, m), matrix(m, n), compiled=compiled)
    agree(multiply, [], [], [], compiled=compiled)
    assert_copies(shortest, matrix(14, 14))
    assert_copies(relax, matrix(1, 20)[0], matrix(1, 20)[0], 5)


def test_ints():
    assert_copies(multiply, matrix(12, 12, int), matrix(12, 12, int), matrix(12, 12, int))
    values = [0, 1, -1, 300, -2**31, 2**40, -2**62, 2**30] * 3
    compiled = assert_copies(gather, values, [3, -1, 5, 0, 3, 23] * 8, 4)
    agree(gather, values, [3, -1, 24], 4, compiled=compiled)
    compiled = assert_copies(read, values, [3, -1, 5, 0, 3, 23] * 8, 4)
    values[-2] = 2**80  # beyond 64 bits, where nothing reads it
    agree(read, values, [3, -1, 5, 0, 3, 23] * 8, 4, compiled=compiled)


def test_one_list_twice():
    a, b = matrix(12, 12), matrix(12, 12)
    compiled = assert_copies(multiply, matrix(12, 12), a, b)
    agree(multiply, a, a, b, compiled=compiled)
    agree(multiply, a, a, a, compiled=compiled)
    shared = matrix(12, 12)
    agree(multiply, [shared[5], *matrix(11, 12)], shared, b, compiled=compiled)
    agree(multiply, [shared[0]] * 12, matrix(12, 12), b, compiled=compiled)
    agree(shortest, [shared[0]] * 12)
    line = matrix(1, 20)[0]
    agree(relax, line, line, 5)


def test_a_number_in_several_places():
    x = 0.25
    agree(shortest, [[x] * 14 for _ in range(14)])
    a = [[1e9 + 0.5] * 14 for _ in range(14)]
    b = copy.copy(a[3])  # its floats are those of the row
    a[2][3] = a[3][5] = 0.5
    compiled = njit(shortest)
    compiled(a)
    assert b == [1e9 + 0.5] * 14


@pytest.mark.parametrize("change", [
    lambda a: a[11].pop(), lambda a: a[11].append(1.0), lambda a: a.pop(), lambda a: a[10].clear(),
    lambda a: in_place(a, (11, 10, 7)), lambda a: in_place(a, (11, 10, True)), lambda a: in_place(a, (11, 11, None)),
    lambda a: in_place(a, (10, 10, float("nan")), (0, 3, -0.0)), lambda a: in_place(a, (11, 9, "text"))])
@pytest.mark.parametrize("which", range(3))
def test_lists_that_are_no_matrices(change, which):
    arguments = [matrix(12, 12) for _ in range(3)]
    compiled = njit(multiply)
    compiled(*copy.deepcopy(arguments))
    change(arguments[which])
    agree(multiply, *arguments, compiled=compiled)


def test_an_error_half_way():
    at = [3, -1, 5, 0, 3] * 8
    compiled = assert_copies(gather, list(range(300, 330)), at, 4)
    agree(gather, list(range(300, 330)), [*at, 30, 1], 4, compiled=compiled)
    agree(gather, list(range(300, 330)), [*at, -31, 1], 4, compiled=compiled)


def test_lengths():
    compiled = assert_copies(lengths, matrix(5, 3), 6)
    for rows in (matrix(5, 2), matrix(5, 4), [*matrix(5, 3), [1.0]]):
        agree(lengths, rows, 6, compiled=compiled)


def test_changed_objects_are_the_same_as_in_the_interpreter():
    """A number that another name has is not changed, and one that nothing else has keeps its place in the list."""
    def run(function):
        row = [float(i) + 300 for i in range(20)]
        kept = row[5]
        function(row, [0.5] * 20, 3)
        return kept, row

    assert same(run(njit(relax)), run(relax))


def test_outcomes_of_calls_in_turns():
    """Calls with lists that can be copied, and with others, in one process."""
    compiled = njit(shortest)
    for n in (14, 2, 1, 14, 30):
        for rows in (matrix(n, n), [matrix(1, n)[0]] * n, [*matrix(n - 1, n), [0.0] * (n - 1)]):
            how, what, args, printed = outcome(shortest, (rows,))
            assert outcome(compiled, (rows,))[0] == how
            agree(shortest, rows, compiled=compiled)
