"""functools.cache, lru_cache and cached_property, compared with the interpreter."""
import math
from functools import cache, cached_property, lru_cache

import numpy as np
import pytest

from pyjitc import TypingError, njit
from tests.language.corpus import check, corpus, each
from tests.oracle import agree

case, CASES = corpus()


@cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@lru_cache(maxsize=None)
def binom(n, k):
    return 1 if k in (0, n) else binom(n - 1, k - 1) + binom(n - 1, k)


@lru_cache
def bounded(n):
    return n if n < 2 else bounded(n - 1) + bounded(n - 2)


@lru_cache(maxsize=None)
def dist(a, b):
    if not a or not b:
        return len(a) + len(b)
    if a[-1] == b[-1]:
        return dist(a[:-1], b[:-1])
    return 1 + min(dist(a[:-1], b), dist(a, b[:-1]), dist(a[:-1], b[:-1]))


@cache
def nothing(x):
    return None


@cache
def root(x):
    return math.sqrt(x)


@case((30,), (3,))
def g1(n):
    return (fib(n), binom(n, 3), bounded(n))


@case(('kitten', 'sitting'))
def g2(a, b):
    return dist(a, b)


@case((4,), (2.5,))
def g3(n):
    return (nothing(n), root(n), root(n))


@case((-1.0,))
def g4(n):
    return root(n)


@case((20,))
def l1(n):

    @cache
    def f(k):
        return k if k < 2 else f(k - 1) + f(k - 2)
    return f(n)


@case((20,))
def l2(n):

    @lru_cache(maxsize=None)
    def f(i, j):
        if i == 0 or j == 0:
            return 1
        return f(i - 1, j) + f(i, j - 1)
    return f(n // 2, n // 2)


@case((20,))
def l3(n):

    @lru_cache
    def f(k):
        return k if k < 2 else f(k - 1) + f(k - 2)

    @lru_cache(maxsize=5)
    def g(k):
        return k * 2
    return (f(n), [g(i % 7) for i in range(20)])


@case(([[1, 3, 1], [1, 5, 1], [4, 2, 1]],))
def l4(grid):

    @cache
    def go(i, j):
        if i == 0 and j == 0:
            return grid[0][0]
        best = 10 ** 9
        if i > 0:
            best = min(best, go(i - 1, j))
        if j > 0:
            best = min(best, go(i, j - 1))
        return best + grid[i][j]
    return go(len(grid) - 1, len(grid[0]) - 1)


class M:

    def __init__(self, k):
        self.k = k

    @lru_cache(maxsize=None)
    def f(self, n):
        return n * self.k

    @lru_cache
    def h(self, n):
        return n * self.k

    @cached_property
    def sq(self):
        return self.k * self.k

    @cached_property
    def lst(self):
        return [self.k]


@case((3,))
def m1(n):
    m = M(n)
    return m.f(n) + m.f(n) + m.h(2)


@case((3,))
def m2(n):
    m = M(n)
    a = m.sq
    m.k = 100
    m.lst.append(5)
    return (a, m.sq, m.lst, m.k)


@case((4,))
def m3(n):
    m = M(n)
    return (m.sq + m.sq, m.lst)


@each(CASES)
def test_caches(function, calls):
    check(function, calls)


def test_the_cache_is_that_of_the_interpreter():
    calls = []

    @cache
    def f(n):
        calls.append(n)
        return n * factor[0]

    factor = np.array([2])
    compiled = njit(lambda n: f(n))
    f(3)
    assert [compiled(3), compiled(4), f(4)] == [6, 8, 8] and calls == [3, 4]
    f.cache_clear()
    factor[0] = 5
    assert [compiled(3), f(3)] == [15, 15] and calls == [3, 4, 3]
    assert f.cache_info().currsize == 1


def test_one_with_a_limit_is_called():
    calls = []

    @lru_cache(maxsize=2)
    def f(n):
        calls.append(n)
        return n * 2.5

    compiled = njit(lambda n: f(n))
    assert [compiled(n) for n in (1, 2, 1, 3, 2)] == [2.5, 5.0, 2.5, 7.5, 5.0]
    assert calls == [1, 2, 3, 2] and f.cache_info().hits == 1


def test_a_limit_of_a_local_one():
    @njit
    def f(numbers):
        calls = []

        @lru_cache(maxsize=2)
        def g(n):
            calls.append(n)
            return n

        for n in numbers:
            g(n)
        return calls

    agree(f.py_func, [1, 2, 1, 3, 2, 1, 1, 3], compiled=f)


def test_a_property_that_is_kept_is_computed_once():
    class Counted:
        def __init__(self, calls):
            self.calls = calls

        @cached_property
        def value(self):
            self.calls.append(1)
            return len(self.calls)

    @njit
    def f(x):
        return x.value + x.value

    x = Counted([])
    assert [f(x), x.value, f(x), len(x.calls)] == [2, 1, 2, 1]
    del x.value
    assert [f(x), len(x.calls)] == [4, 2]


def test_typed_inside_is_the_interpreters():
    agree(lambda n: lru_cache(typed=True)(lambda x: x)(n), 3)


def recursive(s):
    pairs = [(0, 1), (1, 2)]

    def same(t):
        for i, j in pairs:
            if t[i:i + 1] == t[j:j + 1]:
                return t[i:i + 1]
        return ""

    @cache
    def first(t):
        return same(t) or first(t[1:])

    return first(s), same(s)


def test_a_recursive_one_that_reads_a_list_of_its_function():
    agree(recursive, "abcddef")


def doubled(x):
    print("doubled", x)
    return x * 2


def attributes(n):
    @lru_cache(maxsize=None)
    def count(k):
        print("count", k)
        return k if k < 2 else count(k - 1) + count(k - 2)

    global_one, of_lambda = lru_cache(doubled), lru_cache(maxsize=2)(lambda x: x + 1)
    first = count(n), global_one(n), of_lambda(n)
    count.cache_clear()
    global_one.cache_clear()
    names = count.__name__, count.__qualname__, global_one.__name__, of_lambda.__name__
    return first, names, count(2), global_one(n), count.__wrapped__(1), global_one.__wrapped__(n)


def test_attributes_of_one_that_compiled_code_decorates():
    agree(attributes, 3)


def test_counts_of_one_that_compiled_code_decorates_are_refused():
    with pytest.raises(TypingError, match="(?s)cache_info.*count the calls in a variable"):
        njit(lambda n: cache(lambda x: x).cache_info())(1)
