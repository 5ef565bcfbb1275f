"""itemgetter and similar functions, partial and suppress, compared with the interpreter."""
import contextlib
import functools
import operator
from collections import namedtuple

import numpy as np
import pytest

from pyjitc import jit, njit
from tests.oracle import agree

Point = namedtuple("Point", "x y")
SECOND = operator.itemgetter(1)
NAMED = operator.attrgetter("x")


def scaled(x, k=2, *, more=0.5):
    return x * k + more


def suppressed(n):
    seen = 0
    with contextlib.suppress(ZeroDivisionError, KeyError):
        seen += 10 // n
        seen += 100
    with contextlib.suppress():
        seen += 1
    return seen


PROGRAMS = {
    "itemgetter": lambda n, a: (sorted([(1, "b"), (n, "a")], key=operator.itemgetter(1)), operator.itemgetter(0, -1)(a),
                                SECOND((n, 2.5)), max([(1, 5), (n, 2)], key=SECOND), operator.itemgetter("k")({
                                    "k": n})),
    "attrgetter": lambda n, a: (operator.attrgetter("shape")(a), NAMED(Point(n, 2)), operator.attrgetter("x", "y")(
        Point(n, 2.5)), operator.attrgetter("x.real")(Point(n, 2)), operator.attrgetter("imag")(2.5)),
    "methodcaller": lambda n, a: (operator.methodcaller("upper")("ab"), operator.methodcaller("sum")(a), [
        s for s in map(operator.methodcaller("split", ","), ["a,b"])], operator.methodcaller("reshape", 2, 2)(a),
        operator.methodcaller("sum", axis=0)(a)),
    "one_or_true": lambda n, a: (operator.methodcaller("count", 1)([1, 2]), operator.methodcaller("count", 1.0)([1.0])),
    "in_place": lambda n, a: (operator.iadd(n, 2), operator.isub(a, 1.0), operator.imul([n], 2), operator.ior(n, 8),
                              operator.itruediv(n, 2), operator.ipow(n, 2), operator.iconcat([1], [n])),
    "of_containers": lambda n, a: (operator.contains([1, n], n), operator.getitem(a, 1), operator.concat([n], [2]),
                                   operator.countOf([1, n, n], n), operator.indexOf((1, n), n),
                                   operator.is_(None, None), operator.is_not(n, None), operator.indexOf(a, 2.0)),
    "missing": lambda n, a: operator.indexOf([1, 2], n),
    "partial": lambda n, a: (functools.partial(scaled, n)(), functools.partial(scaled, k=n)(2), functools.partial(
        scaled, n, more=1)(3), list(map(functools.partial(pow, n), range(3)))),
    "suppress": lambda n, a: (suppressed(n), suppressed(0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    agree(PROGRAMS[name], 7, np.array([3.0, 1.0, 2.0, 5.0]))


def test_an_exception_that_is_not_named_passes():
    def f(n):
        with contextlib.suppress(KeyError):
            return 1 // n

    agree(f, 0)
    agree(f, 1)


def test_setting_items():
    def f(a):
        operator.setitem(a, 1, 7.5)
        xs = [1, 2, 3]
        operator.delitem(xs, 0)
        return a, xs

    agree(f, np.arange(3.0))


def attributes_of_partials(n):
    p, q = functools.partial(scaled, n, more=n * 0.5), functools.partial(scaled, n)
    r = functools.partial(functools.partial(p, n + 1), more="m", k=2)  # a partial of a partial is one of the function
    return (p.func(n), p.args, p.keywords, q.args, q.keywords, p(k=3), scaled is q.func, r.args, r.keywords,
            r.func is scaled)


def keywords_that_a_call_replaces(n):
    p = functools.partial(lambda a, b=0, c=0: (a, b, c), n, c=9)
    q = functools.partial(p, 7)
    r = functools.partial(q, c="x")
    return p(1), p(1, c=None), q(), q(c=1), r(), r(c=2.5), p(b=4, c=5)


def test_attributes_of_partials():
    for compiled in (njit, jit):
        agree(attributes_of_partials, 3, compiled=compiled(attributes_of_partials))
        agree(keywords_that_a_call_replaces, 3, compiled=compiled(keywords_that_a_call_replaces))


def test_a_partial_leaves_as_a_function():
    assert njit(lambda k: functools.partial(scaled, k, more=1.5))(4)(2) == 9.5


def test_what_they_look_for_may_be_known_only_at_run_time():
    """Then the interpreter makes the object and calls it."""
    agree(lambda n: operator.itemgetter(n)((1, 2)), 1)
    agree(lambda n: operator.itemgetter(n)((1, 2)), 5)
    agree(lambda name: operator.methodcaller(name)("ab"), "upper")
