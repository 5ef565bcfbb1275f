"""Methods of built-in classes that operators call, called by name and passed as functions, compared with the
interpreter."""
import collections
import itertools

import numpy as np
import pytest

from pyjitc import TypingError, njit
from tests.oracle import agree, agree_on


def of_lists(xs, ys):
    best = max(range(len(xs)), key=xs.__getitem__)
    common = list(filter(ys.__contains__, xs)), list(itertools.filterfalse(ys.__contains__, xs))
    xs.__setitem__(0, ys.__len__())
    xs.__delitem__(-1)
    return best, common, list(map(xs.__getitem__, range(len(xs)))), xs.__add__(ys), xs.__eq__(ys), xs.__mul__(2)


def test_lists():
    agree_on(of_lists, ([3, 5, 4], [5, 6]), ([1, 2], []), ([], [1]), (["b", "a"], ["a"]))


def of_texts_and_tuples(s, t, i):
    found = list(map(s.__contains__, "abc")), s.__len__(), s.__add__("!"), s.__lt__("b"), s.__getitem__(slice(1, 3))
    return found, t.__len__(), sorted(range(len(t)), key=t.__getitem__), t.__contains__(2), t.__add__(t), t[i], s[i]


def test_texts_and_tuples():
    agree_on(of_texts_and_tuples, ("abba", (3, 1, 2), 0), ("", (1,), 3), ("cb", (2, 2), 5))


def of_numbers(n, x, words):
    return (list(map(n.__add__, [1, 2])), (5).__lt__(n), x.__mul__(2.0), n.__neg__(), x.__abs__(), n.__str__(),
            list(map(int.__sub__, [n, 3], [1, 2])), list(map(str.__len__, words)), n.__pow__(2))


def test_numbers():
    agree_on(of_numbers, (4, -2.5, ["a", "bcd"]), (2**30, 0.0, []), (-7, 1.0, ["é"]))


def of_others(a, d):
    q = collections.deque(d)
    return (a.__len__(), a.__getitem__(0), a.__add__(a), list(map(q.__contains__, [1, 9])), d.__getitem__(1),
            sorted(d, key=d.__getitem__), list(a.__iter__()))


def test_arrays_and_tables():
    agree_on(of_others, (np.array([1.5, 2.5]), {1: 5, 2: 3}), (np.array([1]), {2: 1}), (np.zeros(0), {1: 1}))


def test_errors():
    agree(lambda xs: xs.__getitem__(7), [1])
    agree(lambda s: s.__getitem__(7), "abc")
    agree(lambda d: list(map(d.__getitem__, [1, 2])), {1: 2})


@pytest.mark.parametrize("function", [lambda n: n.__add__(1.5), lambda n: [n].__eq__((n,))])
def test_what_asks_the_other_operand_is_refused(function):
    with pytest.raises(TypingError, match="(?s)is not compiled with.*write x (==|\\+) y"):
        njit(function)(1)
