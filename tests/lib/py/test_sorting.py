"""Sorting by keys that are numbers, compared with the interpreter: orders, stability, which objects, exceptions."""
import math
import random
from collections import Counter, defaultdict

import pytest

from pyjitc import njit

from ...oracle import agree


def by_second(pairs):
    pairs.sort(key=lambda p: (p[1], p[0]))
    return pairs


def by_float_reversed(pairs):
    return sorted(pairs, key=lambda p: p[1], reverse=True)


def by_bool(pairs):
    return sorted(pairs, key=lambda p: (p[0] % 2 == 0, -p[0], -p[1], p[0]))


def in_order(pairs):
    return sorted(pairs)


def in_place_reversed(pairs):
    pairs.sort(reverse=True)
    return pairs


SORTS = (by_second, by_float_reversed, by_bool, in_order, in_place_reversed)


def pairs_of(n, most, R):
    return [(R.randrange(-most, most), R.choice([
        R.random(), float(R.randrange(-3, 3)), -0.0, 0.0, 1e300, -1e-300, 1 + R.random() * 1e-12, math.inf]))
        for _ in range(n)]


@pytest.mark.parametrize("function", SORTS, ids=lambda f: f.__name__)
def test_pairs(function):
    R = random.Random(1)
    compiled = njit(function)
    for n in (0, 1, 2, 5, 32, 33, 100, 1199, 1500):
        for most in (1, 2, 10, 10**6, 2**62):
            given = pairs_of(n, most, R)
            if n == 5 and most == 2:
                given.append((1, math.nan))
            mine, theirs = list(given), list(given)
            expected, found = function(theirs), compiled(mine)
            assert repr(expected) == repr(found)
            assert all(x is y for x, y in zip(expected, found))
            assert mine == theirs or any(x[1] != x[1] for x in given)
    assert all("pyj_sort_words" in text for text in list(compiled.inspect_llvm().values())[-1:])


def numbers(n, R):
    yield [R.random() * 10.0 ** R.randrange(-300, 300) for _ in range(n)]
    yield [1 + R.random() * 1e-13 for _ in range(n)]
    yield [R.choice([1e300, 0.0, 1 + i * 1e-15]) for i in range(n)]
    yield sorted((R.random() for _ in range(n)), reverse=True)
    yield [R.choice([-0.0, 0.0, -1.0]) for _ in range(n)]
    yield [R.randrange(10**6) for _ in range(n)]
    yield [R.getrandbits(59) for _ in range(n)]
    yield [R.choice([2**59, i, -i]) for i in range(n)]


@pytest.mark.parametrize("n", [32, 33, 1200, 3000])
def test_numbers(n):
    """Large and small ranges, and numbers that differ only in the lowest bits."""
    compiled = [njit(in_order), njit(in_place_reversed)]
    for values in numbers(n, random.Random(n)):
        for function in compiled:
            expected, found = function.py_func(list(values)), function(list(values))
            assert repr(expected) == repr(found) and all(x is y for x, y in zip(expected, found))


def own_lists(values, up):
    own = [((x, i % 3), i // 2) for i, x in enumerate(values)]
    own.sort(reverse=up)
    return own[:]


def own_flat_lists(values, up):
    own = [(x, i % 3) for i, x in enumerate(values)]
    own.sort(reverse=up)
    return own[:]


def own_by_keys(values, up):
    own = [(i % 3, x, str(x)) for i, x in enumerate(values)]
    own.sort(key=lambda item: (item[0], item[1]), reverse=up)
    words = [item[2] for item in own]
    words.sort(key=lambda word: len(word))
    words.append("")
    return own[:], words[:]


@pytest.mark.parametrize("function", [own_lists, own_flat_lists, own_by_keys])
def test_lists_that_do_not_leave(function):
    """Lists that do not escape are sorted by radix sort if they have more than a few items and no nan."""
    compiled = njit(function)
    for n in (2, 12, 13, 1300) if function is own_lists else (13, 300):
        for values in ([math.nan, 2.0, 1.0, *map(float, range(n, 0, -1))], *numbers(n, random.Random(n))):
            for up in (False, True):
                assert repr(compiled(values, up)) == repr(function(values, up))
    assert all("pyj_sort_native" in text and "native_grow" in text for text in compiled.inspect_llvm().values())


def flips_a_flag(values):
    own = [(x > 0, x) for x in values]
    own.sort()
    flags = [x > 1 for x in values]
    flags.sort(key=lambda flag: not flag)
    flags.append(True)
    return own, [1 if flag else 0 for flag in flags]


def test_flags_are_sorted_by_keys():
    agree(flips_a_flag, [3, -1, 0, 2, -5, 1])


def numbers_of_another_kind(pairs):
    pairs.sort()
    return len(pairs)


def test_tuples_that_are_not_what_they_seem():
    """The interpreter sorts tuples whose types or lengths are not those of the compiled code."""
    compiled = njit(numbers_of_another_kind)
    for last in ((0.5, 2), (1, 2, 3)):
        agree(numbers_of_another_kind, [(n % 5, n) for n in range(30)] + [last], compiled=compiled)


def raises_in_a_key(pairs, n):
    pairs.sort(key=lambda p: 10 // (p[0] - n))
    return pairs


def keeps_as_it_was(pairs, n):
    try:
        pairs.sort(key=lambda p: 10 // (p[0] - n))
    except ZeroDivisionError:
        pass
    return pairs


def by_text(pairs):
    return sorted(pairs, key=lambda p: (p[0] % 3, str(p[1])))


def by_wrong_order(pairs, reverse):
    return sorted(pairs, key=lambda p: p[1], reverse=reverse)


def by_several_types(values):
    return sorted(values, key=lambda x: 0.5 if x == 2 else x)


def by_more_numbers(pairs):
    return sorted(pairs, key=lambda p: (p[0] % 2, p[0] % 3, p[1], p[0], 1))


def counts(words):
    found = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return sorted(found.values()), sorted(found.items(), key=lambda item: (-item[1], item[0]))[:2]


@pytest.mark.parametrize("function, args", [
    (raises_in_a_key, ([(3, 1.0), (1, 2.0), (2, 3.0)], 2)), (raises_in_a_key, ([(3, 1.0), (1, 2.0)], 2)),
    (keeps_as_it_was, ([(3, 1.0), (1, 2.0), (2, 3.0)], 2)), (raises_in_a_key, ([(2, 1.0)], 2)),
    (raises_in_a_key, ([], 2)), (by_text, ([(3, 1.0), (1, 2.0), (0, -3.0)],)), (by_text, ([],)),
    (by_wrong_order, ([(3, 1.0), (1, 2.0)], 1)), (by_wrong_order, ([(3, 1.0), (1, 2.0)], 0)),
    (by_wrong_order, ([], True)), (by_several_types, ([1, 2, 2, -5, 0, 1],)),
    (by_several_types, ([1, 2.0, 2, -5, 0.25],)),
    (by_more_numbers, ([(k * 7 % 11, k * 0.5) for k in range(60)],)), (counts, ("a b a c b a".split(),)),
], ids=lambda x: getattr(x, "__name__", None))
def test_agree(function, args):
    agree(function, *args)


def by_get(d, items):
    return sorted(d, key=d.get), sorted(list(d), key=d.get, reverse=len(items)), sorted(items, key=d.get)


@pytest.mark.parametrize("d", [{"a": 3, "b": 1, "c": 1}, {"x": 1}, Counter("hello world"), defaultdict(int, a=3, b=2)])
def test_keys_by_their_values(d):
    compiled = None
    for items in (["a"], [], ["b", "a"], ["q"], ["q", "r"], ["a", "q"]):
        compiled = agree(by_get, d, items, compiled=compiled)
    made = njit(lambda d: sorted(d, key=d.get))
    assert made({"a": 2.5, "b": 0.5}) == ["b", "a"]
    (text,) = made.inspect_llvm().values()
    assert "pyj_sort_words" in text
