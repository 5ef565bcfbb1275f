"""Iterators whose states have many types: those of `zip` over rows of different lengths, and of generators whose
variables change their types."""
import pytest

from tests.ir.stages import typed
from tests.oracle import agree


def neighbours_of_displays(n):
    found = []
    for row in [[1, 2], [3], [], [1, 2, 3]]:
        for a, b in zip(row, row[1:]):
            found.append(a * b + n)
        found += [x - y for x, y in zip(row, reversed(row))]
    return found


def neighbours_of_tuples(n):
    rows = ((1, 2), (3,), (), (1, 2.5, 3))
    found = []
    for k in range(n):
        row = rows[k % 4]
        for a, b in zip(row, row[1:]):
            found.append((a, b))
    return found


def neighbours_of_a_variable(n):
    row, rows = [3, 1, 2], [[1, 2], [3], []]
    for k in range(n):
        if k % 2:
            row = max(rows, key=lambda one: sum(one))
        else:
            found = tuple([a + b for a, b in zip(row, row[1:])])
    return found, list(zip(row, row[1:], row[2:]))


def pairs_of_displays(n):
    rows = [[1, 2], [3.5, 2], [], ["a", "b", "c"]]
    return [(a, b) for one in rows for other in rows for a, b in zip(one, other)]


def strict(n):
    rows, found = [[1, 2], [3], [], [1, 2, 3]], []
    for one in rows:
        for other in rows:
            try:
                for a, b in zip(one, other, strict=True):
                    found.append(a * b + n)
            except ValueError as error:
                found.append(str(error))
    return found


@pytest.mark.parametrize("function", [neighbours_of_displays, neighbours_of_tuples, neighbours_of_a_variable,
                                      pairs_of_displays, strict])
def test_zip_of_rows_of_different_lengths(function):
    for n in (1, 4, 9):
        agree(function, n)


def steps(n):
    row, rows, found, log = [3, 1, 2], [[1, 2], [3], []], (1, 2), []
    for k in range(n):
        if k % 3 == 0:
            try:
                row = max(rows, key=lambda one: sum(one))
            except TypeError as error:
                log.append(str(error))
        elif k % 3 == 1:
            found = tuple([a + b for a, b in zip(row, row[1:])])
        else:
            for j, x in enumerate(row):
                row[j] = x + k
        found = found[-5:]
        yield k, "|".join(log)
    yield len(found), row, found, log


def last_step(n):
    last = None
    for last in steps(n):
        pass
    return last


def in_turn(n):
    """The variables get their types one after the other, so that each step may begin with another combination."""
    a = b = c = d = None
    for k in range(n):
        yield k
        if k == 1:
            a = k
        if k == 2:
            b = 0.5
        if k == 3:
            c = "c"
        if k == 4:
            d = (a, b)
        if k == 5:
            a, b = c, a
    yield a, b, c, d


def all_in_turn(n):
    it = in_turn(n)
    return next(it, None), list(it)


@pytest.mark.parametrize("function", [last_step, all_in_turn])
def test_generators_whose_variables_change_their_types(function):
    for n in (0, 1, 3, 7):
        agree(function, n)


def test_a_generator_has_few_states():
    names = [one.name for one in typed(last_step, (9,)).functions]
    assert names.count("steps") <= 6
