"""Functions with fixed arguments: partial objects and static arguments."""
import functools
import traceback

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import outcome, same


def everything(a, b, /, c, d=4.0, *rest, e, f=6.0):
    return a, b, c, d, rest, e, f


@pytest.mark.parametrize("partial, args, kwargs", [
    (functools.partial(everything, 1), (2, 3), dict(e=5)),
    (functools.partial(everything, 1, 2, 3, 4), (), dict(e=5)),
    (functools.partial(everything, 1, e=5), (2, 3), {}),
    (functools.partial(everything, 1, e=5), (2, 3), dict(e=7, f=8)),
    (functools.partial(everything, 1, e=5), (2, 3, 4, 10, 11), {}),
    (functools.partial(everything, 1, c=3, e=5), (2,), dict(d=9)),
    (functools.partial(njit(everything), 1), (2, 3), dict(e=5)),
    (functools.partial(lambda x, y: x - y, y=2.0), (5.0,), {}),
])
def test_partial(partial, args, kwargs):
    assert same(njit(partial)(*args, **kwargs), partial(*args, **kwargs))


def test_partial_of_what_is_not_compiled():
    with pytest.raises(TypeError, match="njit compiles Python functions, not functools.partial"):
        njit(functools.partial(print, 1))


def test_partial_follows_the_globals_of_its_function(monkeypatch):
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    compiled = njit(functools.partial(times_factor, 3.0))
    assert compiled(1.0) == 8.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert compiled(1.0) == 20.0


FACTOR = 2.0


def times_factor(x, y):
    return (x + y) * FACTOR


def item(a, i, scale=1.0, *, places=()):
    total = scale * a[i]
    for place in places:
        total += a[place]
    return total


def test_static_arguments_of_every_kind():
    compiled = njit(static_argnames=("i", "places"))(item)
    a = np.arange(5.0)
    for args, kwargs in [((a, 1), {}), ((a, 2, 0.5), {}), ((a, 2), dict(scale=2.0)), ((a, -1), dict(places=(0, 1))),
                         ((a,), dict(i=2, places=(0, 1)))]:
        assert same(compiled(*args, **kwargs), item(*args, **kwargs))
    assert len(compiled.specialised) == 4
    assert same(njit(item, static_argnums=1)(a, 2), item(a, 2))


def test_errors_are_those_of_the_function():
    compiled = njit(static_argnames="i")(item)
    assert (outcome(lambda a: item(a, 9), (np.ones(3),))[1].args
            == outcome(lambda a: compiled(a, 9), (np.ones(3),))[1].args)
    with pytest.raises(IndexError) as caught:
        compiled(np.ones(3), 9)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][-2:] == ["item", "item"]
    with pytest.raises(TypeError, match=r"item\(\) missing 1 required positional argument: 'i'"):
        compiled(np.ones(3))


def test_zeros_of_both_signs_are_two_values():
    compiled = njit(static_argnums=0)(lambda zero, x: zero * x)
    assert str(compiled(0.0, 1.0)) == "0.0" and str(compiled(-0.0, 1.0)) == "-0.0" and compiled(0, 1.0) == 0.0


@pytest.mark.parametrize("options, message", [
    (dict(static_argnames="n"), r"item\(\) has no argument 'n'"),
    (dict(static_argnums=(4,)), r"item\(\) has no argument 4"),
    (dict(static_argnums=("a",)), r"item\(\) has no argument 'a'"),
    (dict(static_argnames="i", nosuch=1), "unknown option 'nosuch'"),
])
def test_wrong_declarations(options, message):
    with pytest.raises(TypeError, match=message):
        njit(**options)(item)


def test_arrays_are_not_static():
    with pytest.raises(TypeError, match="static argument 'a' is a ndarray"):
        njit(static_argnames="a")(item)(np.ones(3), 1)


def test_methods():
    class Scaled:
        @njit(static_argnames=("n",))
        def power(x, n):
            return x * n

    assert Scaled.power(2.0, 3) == 6.0
