"""Functions of Python's library that the interpreter runs for compiled code, and objects of random.Random that compiled
code makes."""
import dataclasses
import functools
import heapq
import itertools
import random
import statistics
import struct

import pytest

from pyjitc import jit, njit
from tests.oracle import agree, agree_on


@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.5


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int
    y: int = 3


def by_comparing(items, words):
    def longer(a, b):
        return len(b) - len(a)

    key = functools.cmp_to_key(longer)
    items.sort(key=functools.cmp_to_key(lambda a, b: (a % 3) - (b % 3)))
    return items, sorted(words, key=key), min(words, key=key), key("ab") < key("a"), key("ab").obj


def merged(a, b):
    return list(heapq.merge(a, b)), [x for x in heapq.merge(a, b, key=lambda x: -x)], sum(heapq.merge(a, a, b))


def grouped(items, text):
    found = [(k, list(g)) for k, g in itertools.groupby(items, key=lambda x: x // 10)]
    lengths = {k: len(list(g)) for k, g in itertools.groupby(text)}
    return found, lengths, "".join(f"{k}{sum(1 for _ in g)}" for k, g in itertools.groupby(text))


def branches(items, n):
    a, b = itertools.tee(items)
    next(b)
    pairs = list(zip(a, b))
    one, two = itertools.tee(k * k for k in range(n))
    return pairs, next(one), sum(two), next(one)


def averages(xs, ns):
    return (statistics.mean(xs), statistics.median(xs), statistics.variance(xs), statistics.harmonic_mean(xs),
            statistics.pvariance(xs) * 2, statistics.mean(ns), statistics.median(ns), statistics.mode(ns),
            statistics.multimode(ns), statistics.quantiles(ns), statistics.median_low(ns) + 1,
            statistics.median_high(xs), statistics.linear_regression(xs, xs).slope, statistics.median_grouped(ns))


def averages_of_iterators(xs, ns):
    return (statistics.mean(x * 2 for x in xs), statistics.fmean(x for x in xs), statistics.median(map(abs, ns)),
            statistics.stdev(x + n for x, n in zip(xs, ns)), statistics.mode(n % 2 for n in ns),
            statistics.quantiles((n for n in ns), n=3), list(heapq.merge(map(abs, ns), (n for n in ns))),
            list(heapq.merge(ns, filter(None, ns), key=lambda n: n * n)), statistics.variance((n for n in ns), 2))


def packed(n):
    buffer = bytearray(12)
    struct.pack_into("<iif", buffer, 0, n, n + 1, 0.5)
    return buffer, list(struct.iter_unpack("<i", buffer[:8])), [a + b for a, b in struct.iter_unpack("<hh", buffer)]


def replaced(n):
    p = Point(n)
    q = dataclasses.replace(p, x=n + 1)
    return p.x, q.x + p.x, q.y, q, dataclasses.replace(Frozen(n), y=9)


@pytest.mark.parametrize("function, calls", [
    (by_comparing, [([3, 1, 2, 6], ["a", "ccc", "bb"])]), (merged, [([1, 5, 9], [2, 3]), ([], [1.5])]),
    (grouped, [([1, 5, 12, 13, 2], "aaabcca"), ([], "")]), (branches, [([1, 2, 3], 4)]),
    (averages, [([1.5, 2.5, 9.0], [1, 2, 2, 7]), ([], [1])]),
    (averages_of_iterators, [([1.5, 2.5, 9.0], [1, -2, 2, 7]), ([], [1])]),
    (packed, [(5,), (70000,)]), (replaced, [(3,)])])
def test_as_in_the_interpreter(function, calls):
    agree_on(function, *calls)


def draws(seed, items):
    r = random.Random(seed)
    found = [(r.random(), r.randint(-5, 10 ** 12), r.choice(items), r.gauss(0.0, 1.0), r.randbytes(5))
             for _ in range(3)]
    shuffled = list(items)
    r.shuffle(shuffled)
    other = random.Random(seed)
    return found, shuffled, r.getstate() == other.getstate(), other.random(), random.Random("text").choice(items)


def test_objects_of_random():
    compiled = njit(draws)
    for seed in (1, 7):
        agree(draws, seed, list(range(17)), compiled=compiled)
    agree(draws, 3, [1, 2.5, "a", None], compiled=compiled)


def draws_of_given(r, items):
    r.shuffle(items)
    return items, r.choice(items), r.random()


def test_a_call_that_is_made_anew_draws_once():
    compiled = jit(draws_of_given)
    for items in ([1, 2, 3, 4], [1, 2.5, "a", None], [1, 2, 3]):
        first, second = random.Random(5), random.Random(5)
        assert compiled(first, list(items)) == draws_of_given(second, list(items))
        assert first.getstate() == second.getstate()
