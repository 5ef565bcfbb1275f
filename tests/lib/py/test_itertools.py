"""itertools and functools.reduce, over the iterables of compiled code, compared with the interpreter."""
import functools
import itertools
import math
import operator

import numpy as np
import pytest

from pyjitc import CompileError, jit, njit
from tests.oracle import agree, agree_on

A = np.array([3.0, 1.0, 2.0, 5.0])
PROGRAMS = {
    "count": lambda n, a: [x for x, _ in zip(itertools.count(n, 2), range(4))] + list(
        itertools.islice(itertools.count(0.5), 3)),
    "repeat": lambda n, a: (list(itertools.repeat(n, 3)), list(itertools.repeat("x", times=2)), list(
        itertools.islice(itertools.repeat(a[0]), 2)), list(itertools.repeat(n, -1))),
    "cycle": lambda n, a: (list(itertools.islice(itertools.cycle([n, 2.5]), 5)), list(itertools.islice(itertools.cycle(
        a), 6)), list(itertools.cycle(())), sum(x for x, _ in zip(itertools.cycle(range(3)), range(8)))),
    "accumulate": lambda n, a: (list(itertools.accumulate(a)), list(itertools.accumulate(range(n), operator.mul)), list(
        itertools.accumulate([1, 2], initial=0.5)), list(itertools.accumulate([3, 1, 4], max)), list(
        itertools.accumulate((), initial=n)), list(itertools.accumulate(range(0)))),
    "islice": lambda n, a: (list(itertools.islice(a, 2)), list(itertools.islice(a, 1, None)), list(itertools.islice(
        range(20), 2, 15, 4)), list(itertools.islice("abcd", None)), list(itertools.islice(range(n), 0)), list(
        itertools.islice(range(3), 5, 9))),
    "islice_rest": lambda n, a: [it := iter(range(20)), list(itertools.islice(it, 1, 9, 3)), next(it)][1:],
    "islice_start": lambda n, a: list(itertools.islice(a, -1)),
    "islice_before": lambda n, a: list(itertools.islice(a, -n - 2)),
    "islice_both": lambda n, a: list(itertools.islice(a, -1, -n - 2)),
    "islice_stop": lambda n, a: list(itertools.islice(a, n - 8, 3)),
    "islice_step": lambda n, a: list(itertools.islice(a, 0, 3, n - 7)),
    "chain": lambda n, a: (list(itertools.chain([1, n], (3.5,), range(2), a)), list(itertools.chain()), sum(
        itertools.chain(a, a)), list(itertools.chain("ab", [n]))),
    "from_iterable": lambda n, a: (list(itertools.chain.from_iterable([[1, 2], [n]])), list(
        itertools.chain.from_iterable((x, x + 1) for x in range(3))), list(itertools.chain.from_iterable(["ab", "c"]))),
    "zip_longest": lambda n, a: (list(itertools.zip_longest([1, 2, 3], a)), list(itertools.zip_longest(
        range(4), "ab", [1.5], fillvalue=n)), list(itertools.zip_longest())),
    "product": lambda n, a: (list(itertools.product([1, n], "ab")), list(itertools.product(range(2), repeat=3)), list(
        itertools.product()), list(itertools.product(a, ())), sum(x * y for x, y in itertools.product(a, range(n)))),
    "permutations": lambda n, a: (list(itertools.permutations([1, 2, n], 2)), list(itertools.permutations((1, n, 3))),
                                  list(itertools.permutations(range(2), 3)), list(itertools.permutations("abcd", 3))),
    "combinations": lambda n, a: (list(itertools.combinations(a, 2)), list(itertools.combinations(range(n), 3)), list(
        itertools.combinations([1], 2)), list(itertools.combinations("ab", 0))),
    "combinations_with_replacement": lambda n, a: (
        list(itertools.combinations_with_replacement([1, n], 3)), list(itertools.combinations_with_replacement(a, 2)),
        list(itertools.combinations_with_replacement((), 1))),
    "filters": lambda n, a: (
        list(itertools.takewhile(lambda x: x < 3, range(n))), list(itertools.dropwhile(lambda x: x > 2, a)), list(
            itertools.filterfalse(lambda x: x % 2, range(n))), list(itertools.filterfalse(None, [0, 1, n, 0])), list(
            itertools.compress("abcd", [1, 0, n])), list(itertools.pairwise(a)), list(itertools.pairwise([n]))),
    "starmap": lambda n, a: (list(itertools.starmap(pow, [(2, 3), (n, 2)])), list(itertools.starmap(
        lambda x, y: x - y, zip(a, range(9))))),
    "reduce": lambda n, a: (functools.reduce(lambda x, y: x * y, range(1, n)), functools.reduce(operator.add, a, 10),
                            functools.reduce(max, [3, n, 1]), functools.reduce(lambda s, x: s + x, "abc", ">")),
    "reduce_nothing": lambda n, a: functools.reduce(operator.add, range(n - n)),
}


def test_steps_of_a_generator_are_told_apart_by_the_next_compile():
    def listed(x, n):
        return [a for a, _ in zip(itertools.count(n, 2), x)]

    def appended(x, n):
        found = []
        for a, _ in zip(itertools.count(n, 2), x):
            found.append(a)
        return found

    for function in (listed, appended):
        agree(function, [5, -1, 0, 7], 3)


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    agree(PROGRAMS[name], 7, A)


def test_an_iterator_is_shared():
    def f(n):
        it = itertools.chain(range(n), (0.5,))
        first = next(it)
        rest = list(itertools.islice(it, 2))
        return first, rest, list(it), sum(it)

    agree(f, 5)


def test_cycle_keeps_what_the_first_round_gives():
    """A list that a generator of the library makes and fills is a list."""
    def f(a, n):
        s, c = 0.0, itertools.cycle(x * 1.5 for x in a)
        for k in range(n):
            s = s * 2 + next(c)
        for x, _ in zip(itertools.cycle(iter(a)), range(n)):
            s = s * 2 + x
        return s

    for given in ([1, 2, 3], (1, 2.5), np.arange(3.0), range(4)):
        agree(f, given, 7)

    def g(a):
        got = []
        for x in itertools.islice(itertools.cycle(a), 7):
            got.append(x)
            if len(a) < 4:
                a.append(x + 1)
        return got, a

    agree(g, [3, 5])


def test_handed_out():
    made = njit(lambda n: itertools.combinations(range(n), 2))(4)
    assert next(made) == (0, 1) and list(made) == list(itertools.combinations(range(4), 2))[1:]


def test_lengths_that_are_known_at_run_time_only():
    def chosen(xs, r):
        return (list(itertools.combinations(xs, r)), [sum(x) for x in itertools.permutations(xs, r)],
                list(itertools.combinations_with_replacement(xs, r)), list(itertools.product(xs, repeat=r)))

    compiled = njit(chosen)
    for n in range(4):
        for r in range(5):
            agree(chosen, list(range(n)), r, compiled=compiled)
    agree(chosen, [1, 2], -1, compiled=compiled)
    agree(lambda xs, r: [list(itertools.permutations(xs, r)), list(itertools.combinations(xs, r)),
                         list(itertools.combinations_with_replacement(xs, r))], [1, None, 2.5], 2)
    agree(lambda r: (list(itertools.permutations(range(3), r)), list(itertools.combinations("abc", r))), 10 ** 5)
    agree(lambda xs, r: list(itertools.product(xs, "ab", repeat=r)), [1, 2], 2)
    agree(lambda xs: (list(itertools.permutations(xs)), list(itertools.permutations("abc"))), [1, 2, 3])
    agree(lambda rows: (list(itertools.product(*rows)), list(itertools.product(*rows, repeat=2))), [[1, 2], [3]])
    with pytest.raises(CompileError, match="Expected int as r, got float"):
        njit(chosen)([1, 2], 2.0)


def test_tuples_share_the_items_of_the_pool():
    def shared(xs):
        return all([x is y for t in itertools.permutations(xs) for x in t for y in xs if x == y])

    agree(shared, ["ab" * n for n in range(1, 4)])
    agree(lambda xs: max([t[0] * 100 + t[1] * 10 + t[2] for t in itertools.permutations(xs)]), [1, 3, 2])


GROUPS = {
    "groupby": lambda xs: [(key, list(group)) for key, group in itertools.groupby(xs)],
    "groupby_key": lambda xs: [(key, len(list(group))) for key, group in itertools.groupby(xs, key=lambda x: x // 2)],
    "groupby_passed": lambda xs: [key for key, _ in itertools.groupby(xs)],
    "groupby_part": lambda xs: [(key, next(group)) for key, group in itertools.groupby(xs, lambda x: x > 1)],
    "groupby_text": lambda xs: "".join(f"{key}{len(list(group))}" for key, group in itertools.groupby("aabccc")),
    "groupby_error": lambda xs: [key for key, _ in itertools.groupby(xs, key=lambda x: 6 // (x - 3))],
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups(name):
    for xs in ([1, 1, 2, 3, 3, 1], [], [5]):
        agree(GROUPS[name], xs)


def test_a_group_ends_where_the_next_begins():
    def f(xs):
        groups = itertools.groupby(iter(xs), key=lambda x: x // 10)
        first = next(groups)[1]
        started = next(first)
        second = next(groups)[1]
        return started, list(first), list(second), [key for key, _ in groups]

    agree(f, [1, 2, 3, 11, 12])


def test_groups_of_items_and_keys_of_several_types():
    agree(lambda xs: [(key, list(group)) for key, group in itertools.groupby(xs)], [1, 2.0, 2, "a", None, None])
    agree(lambda xs: [(key, list(group)) for key, group in itertools.groupby(xs, lambda x: x / 2 if x > 1 else None)],
          [1, 1, 4, 5, 1])
    agree(lambda xs: [(key, len(list(group))) for key, group in itertools.groupby([x // 2] for x in xs)], [2, 3, 4])
    agree(lambda xs: [(str(key), len(list(group))) for key, group in itertools.groupby(xs)],
          [1.0, math.nan, 1.0])


def test_a_group_may_be_asked_after_its_end():
    def f(xs):
        found = []
        for key, group in itertools.groupby(xs):
            found += [key, next(group), next(group, -1), next(group, -1), next(group, -1)]
        return found

    agree(f, [1, 1, 1, 2, 3, 3])


class Compared:
    def __init__(self, x, seen):
        self.x, self.seen = x, seen

    def __eq__(self, other):
        self.seen.append((self.x, other.x))
        return self.x == other.x


def test_keys_are_compared_as_often_as_by_the_interpreter():
    def f(xs, read):
        seen = []
        found = []
        for key, group in itertools.groupby(xs, lambda x: Compared(x, seen)):
            found.append([next(group) for _ in range(read)] if read else list(group))
        return found, seen

    for read in (0, 1, 2):
        agree(f, [1, 1, 2, 2, 2, 3, 3], read)


def test_groupby_is_handed_to_the_interpreter():
    def f(text):
        return list(dict(itertools.groupby(text))), [key for key, _ in sorted(itertools.groupby(text))]

    agree(f, "aab", compiled=jit(f))


def test_zip_of_one_iterator_gives_pieces():
    agree(lambda s: ["".join(piece) for piece in zip(*[iter(s)] * 3)], "abcdefgh")
    agree(lambda xs: list(zip(*[iter(xs)] * 2)), [1, 2, 3, 4, 5])
    agree(lambda rows: [list(column) for column in zip(*[range(n) for n in rows])], [3, 2, 4])


def test_loops_are_native():
    def f(n):
        s = 0
        for x, y in itertools.product(range(n), range(n)):
            s += x ^ y
        return s

    compiled = agree(f, 9)
    assert "py_call" not in compiled.inspect_ir("(int64,)")


def test_steps_of_one_generator_of_the_library_are_different_functions():
    def f(start):
        numbers = itertools.count(start, 2)
        x = next(numbers)
        y = next(numbers)
        return x, y, next(numbers)

    agree(f, 5)


def test_groups_of_a_list_that_gets_items_of_another_type():
    def f(n):
        xs = [0]
        for k in range(n):
            xs.append(0.5 if k % 3 else 0)
        return [(k, list(group)) for k, group in itertools.groupby(xs)], [
            sum(group) for _, group in itertools.groupby(xs, lambda x: x > 0)], [k for k, _ in itertools.groupby(xs)]

    agree(f, 5)
    agree(f, 0)


def repeats(x, n):
    it = itertools.repeat(x, n)
    first = next(it, 99)
    return (first, list(it), list(it), list(itertools.repeat(x, n)), [one for one in itertools.repeat(x, n)],
            list(zip(itertools.repeat(x, n), range(10))), tuple(itertools.repeat(x, n)))


@pytest.mark.parametrize("x, n", [(1, 3), (2.5, 0), ("a", -2), ([1], 2), (None, 2), ((1, 2.5), True)])
def test_list_of_repeat(x, n):
    agree(repeats, x, n)


def tees(x):
    one, two = itertools.tee(iter(x))
    first = next(one, None)
    lists = list(one), list(one), list(two), list(two)
    one, two, three = itertools.tee(x, 3)
    next(three, 0)
    return first, lists, list(zip(one, two)), list(three), list(one)


@pytest.mark.parametrize("x", [[1, 2, 3], [], ["a", "b"], range(4)])
def test_list_of_an_iterator_of_tee(x):
    agree(tees, x)


def aliases(n):
    rows = [[0], [1]]
    same = list(itertools.repeat(rows[0], n))
    same[0].append(2)
    return rows, same, same[0] is same[1]


def test_list_of_repeat_has_one_object():
    agree(aliases, 3)


def counted(start, step):
    return (list(itertools.islice(itertools.count(start), 2)), list(itertools.islice(itertools.count(start, step), 2)),
            next(itertools.count(start, 2)), next(itertools.count(start, 1.0)), next(itertools.count(3, start)))


def test_counting_from_a_bool():
    agree_on(counted, (True, 1), (False, 3), (True, True), (True, 1.0), (2, True))


def chosen(r, text):
    return (list(itertools.combinations(text, r)), list(itertools.permutations(text, r)),
            list(itertools.product(text, repeat=r)), list(itertools.combinations(text, True)),
            list(itertools.product(text, repeat=True)))


def test_bools_as_numbers_of_items():
    agree_on(chosen, (True, "abc"), (False, "ab"), (2, "ab"))
