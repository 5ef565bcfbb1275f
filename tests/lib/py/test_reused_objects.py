"""Numbers that go from one container of the interpreter into another: with their objects, as in the interpreter."""
import itertools
from collections import OrderedDict, deque

import pytest

from pyjitc import njit

INTS, FLOATS = [700, 300, 500, 300 + 100, -900], [2.5, -0.0, 1e300, 7.25, 0.5]
NUMBERS = {id(x): f"number {n}" for n, x in enumerate((*INTS, *FLOATS))}


def put_in_dict(x, y):
    d = {}
    for a in x:
        d[a] = a
    for a, b in zip(x, y):
        d[a] = b if a > 400 else a
    return d


def put_tuples(x, y):
    return list(zip(x, y)), list(enumerate(y, 1000)), [(b, a) for a, b in zip(x, y)], {(a, a): b for a, b in zip(x, y)}


def put_in_sets(x, y):
    s = set()
    for a in x:
        s.add(a)
    t = {b for b in y}
    for a in x[:2]:
        s.remove(a)
    s.discard(7)
    return s, t, {(a, b) for a, b in zip(x, x)}


def from_several(x, y):
    return (list(itertools.chain(x, x)), list(itertools.islice(itertools.chain(y, y), 1, 8, 2)), list(
        itertools.pairwise(x)), list(itertools.islice(itertools.cycle(x), 12)), list(
        itertools.zip_longest(x, x[:2], fillvalue=0)), list(itertools.compress(x, y)))


def largest(x, y):
    best = [x[0]]
    for a in x:
        if a > best[-1]:
            best.append(a)
    return best, max(x), [max(a, 400) for a in x], [min(b, c) for b, c in zip(y, y[1:])]


def by_methods(x, y):
    d = OrderedDict()
    for a, b in zip(x, y):
        d[a] = b
    q = deque([y[0]])
    for b in y:
        q.append(b)
        q.appendleft(q.pop())
    return d, q, x.index(x[2])


def taken_out(x, y):
    d = {a: b for a, b in zip(x, y)}
    taken = [d.pop(a) for a in x[:2]]
    for a in x[2:4]:
        del d[a]
    return d, taken, [d.pop(a, a) for a in x]


def missing(x, y):
    d = {a: a for a in x[1:]}
    for a in x:
        del d[a]
    return d


def missing_in_set(x, y):
    s = {a for a in x[1:]}
    for a in x:
        s.remove(a)
    return s


def shape(x):
    """A value with the number of each object that is an argument's."""
    if type(x) in (list, tuple):
        return type(x), [shape(one) for one in x]
    return NUMBERS.get(id(x), repr(x))


def chained(x, y):
    return (list(zip(x, y)), list(enumerate(y, 1000)), [(b, a) for a, b in zip(x, y)], list(itertools.chain(x, x)),
            list(itertools.islice(itertools.chain(y, y), 1, 8, 2)), [b for b in y if b > 1.0])


def of_tuples(x, y):
    pairs = PAIRS[:]
    return pairs, [(b, a) for a, b in pairs], [a for a, b in pairs if b], list(map(tuple, pairs))


def of_pools(x, y):
    """The lists from which these functions choose are made by compiled code."""
    return (list(itertools.combinations(x, 2)), list(itertools.permutations(y, 3)), list(itertools.product(x, y)),
            list(itertools.repeat(y[1], 3)),
            list(itertools.zip_longest(x, y[:2])), list(itertools.zip_longest(x, x[:1], fillvalue=x[2])),
            list(itertools.combinations_with_replacement(y, 2)), list(itertools.pairwise(x)))


def looked_for(x, y):
    """The loops that look for the next number are not those that put it."""
    return (list(itertools.dropwhile(lambda a: a > 400, x)), list(itertools.compress(y, x)), list(
        itertools.filterfalse(lambda a: a < 400, x)), list(itertools.compress(y, [0, 1, 0, 1, 0])))


PAIRS = list(zip(INTS, FLOATS))


def of_tables(x, y):
    return [a for a in set(x)], [b for b in deque(y)], [b for b in reversed(deque(y))], list(reversed(x))


@pytest.mark.parametrize("function", (chained, of_tuples, of_tables, of_pools, looked_for),
                         ids=lambda function: function.__name__)
def test_objects_are_those_of_the_arguments(function):
    fast = njit(function)
    assert [shape(fast(INTS, FLOATS)) for _ in range(2)] == [shape(function(INTS, FLOATS))] * 2


def outcome(function):
    try:
        found = function(INTS, FLOATS)
    except KeyError as error:
        return type(error), repr(error)
    return type(found), repr(found)


@pytest.mark.parametrize("function", (
    put_in_dict, put_tuples, put_in_sets, from_several, largest, by_methods, taken_out, missing, missing_in_set),
    ids=lambda function: function.__name__)
def test_values_are_those_of_the_interpreter(function):
    fast = njit(function)
    assert [outcome(fast) for _ in range(2)] == [outcome(function)] * 2


def test_references_are_counted():
    import sys

    fast = njit(put_tuples), njit(from_several), njit(put_in_dict), njit(of_pools), njit(looked_for)
    for one in fast:
        one(INTS, FLOATS)
    before = [sys.getrefcount(x) for x in (*INTS, *FLOATS)]
    for _ in range(3):
        for one in fast:
            one(INTS, FLOATS)
    assert [sys.getrefcount(x) for x in (*INTS, *FLOATS)] == before


def items_of(x, out):
    for a in x:
        out.append(a)
    return len(out)


def pairs_of(x, out):
    for a, b in x.items():
        out.append(b)
        out.append(a)
    return len(out)


def values_of(x, out):
    for a in list(x):
        out.append(x[a])
    return len(out)


def tuples_of(x, out):
    for a, b in x:
        out.append(b)
        out.append(a)
    return len(out)


def lists_of(x, out):
    total = 0
    for a, b in x.items():
        out.append(a)
        for c in b:
            total += c
    return total


def read_from_result(x, out):
    out.append(1000)
    return sorted(x)[-1], [a for a in list(x)], list(reversed(x))[0], dict.fromkeys(x)


def read_from_itself(x, out):
    out.append(1000)
    x += out
    return x[2]


@pytest.mark.parametrize("function, ints, mixed", (
    (read_from_result, [1] * 2000, [*[1] * 2000, 0.5]), (read_from_itself, [1] * 2000, [1, 1, 0.5]),
    (items_of, {*range(300, 2000)}, {*range(300, 2000), 0.5, "a"}), (items_of, deque(INTS), deque([*INTS, 0.5])),
    (items_of, INTS, [*INTS, None]), (pairs_of, dict.fromkeys(INTS, 1000), {**dict.fromkeys(INTS, 1000), 0.5: "a"}),
    (values_of, {1: 1000}, {1: 1000, 2: 2.5}),
    (tuples_of, [(1, 1000)] * 2000, [*[(1, 1000)] * 2000, (1, 2.5)]),
    (lists_of, {700: [1] * 3, 800: [2] * 1500}, {700: [1] * 3, 800: [*[2] * 1500, 0.5], 900: [3]})))
def test_items_of_another_class_after_a_write(function, ints, mixed):
    fast = njit(function)
    for values in (ints, mixed, ints):
        wanted, found = [], []
        assert repr(fast(values, found)) == repr(function(values, wanted))
        assert repr(found) == repr(wanted)
