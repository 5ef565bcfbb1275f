"""`yield from`: of any iterable, of generators with results, nested, in loops and handlers."""
import numpy as np
import pytest

from pyjitc import CompileError, njit
from tests.oracle import agree


def ranges(n):
    yield from range(n)
    yield from (1.5, "x")
    yield from []


def returning(n):
    for i in range(n):
        yield i
    return n * 2.5


def results(n, a):
    x = yield from returning(n)
    yield x
    y = yield from a
    yield y
    return x + 1


def deeper(n, a):
    total = 0.0
    for k in range(2):
        total += yield from results(k, a)
        yield total
    z = yield from ranges(n)
    yield z


def caught(n):
    try:
        yield from (10 // (2 - i) for i in range(n))
    except ZeroDivisionError:
        yield from ("caught", n)


def early(n):
    for k in range(n):
        if k == 2:
            return k
        yield from range(k)


def of_arrays(a):
    for row in a:
        yield from row


A = np.arange(3.0)
CASES = [(lambda n: list(ranges(n)), (3,)), (lambda n: list(results(n, A)), (2,)), (lambda n, a: list(deeper(n, a)),
                                                                                    (2, A)),
         (lambda n: list(caught(n)), (4,)), (lambda n: [x for x in early(n)], (5,)),
         (lambda a: sum(of_arrays(a)), (np.arange(6.0).reshape(2, 3),)), (lambda n: sum(x for x in returning(n)), (4,)),
         (lambda n: list(zip(returning(n), ranges(n))), (3,))]


@pytest.mark.parametrize("function, args", CASES)
def test_agrees(function, args):
    agree(function, *args)


@pytest.mark.parametrize("function, args", [(ranges, (3,)), (caught, (4,)), (of_arrays, (np.ones((2, 2)),)),
                                            (deeper, (1, A))])
def test_handed_out(function, args):
    assert list(njit(function)(*args)) == list(function(*args))


def test_an_object_of_the_program_that_is_no_iterable():
    def f(n):
        def gen():
            yield from n
        return sum(gen())

    with pytest.raises(CompileError, match="'int' object is not iterable"):
        njit(f)(3)
