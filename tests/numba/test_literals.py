"""literally(): arguments as constants; also the types of integers and ranges on which Numba's programs rely."""
import numpy as np
import pytest

import pyjitc
from pyjitc import TypingError
from pyjitc.infer.meaning import FieldNotConstant, NotConstant
from pyjitc.numba import guvectorize, literal_unroll, literally, njit, typed, types
from pyjitc.numba.extending import SentryLiteralArgs, overload
from tests.oracle import same


def power(x, n):
    raise NotImplementedError


@overload(power, prefer_literal=True)
def _(x, n):
    if not isinstance(n, types.Literal):
        return None
    if n.literal_value == "square":
        return lambda x, n: x * x
    return lambda x, n: (x, n)


def test_arguments_become_constants():
    @njit
    def f(x, n="square"):
        n = literally(n)
        return power(x, n)

    @njit
    def outer(x, n):
        return f(x, n), f(x)

    for _ in range(2):
        assert f(3.0) == f(3.0, "square") == f(n="square", x=3.0) == 9.0
        assert f(3.0, 5) == (3.0, 5) and f(3.0, "cube") == (3.0, "cube")
    assert outer(2.0, "square") == (4.0, 4.0) and outer(2, 7) == ((2, 7), 4)
    assert njit(lambda x: f(x, 8))(1.5) == (1.5, 8)

    @njit
    def computed(x):
        return literally(x.sum())

    for _ in range(2):
        with pytest.raises(TypingError, match="called with a value that is not known at compile time"):
            computed(np.arange(3))
    assert literally(3) == 3 and njit(lambda x: literally(x))(2.5) == 2.5


def test_ranges_of_floats():
    @njit
    def f(start, stop, step):
        return [i for i in range(stop)], [i for i in range(start, stop, step)], [i for i in range(start, stop)]

    assert f(1.5, np.float32(4.9), 1) == (list(range(4)), [1, 2, 3], [1, 2, 3])
    assert f(1, 6, 2.5) == (list(range(6)), [1, 3, 5], list(range(1, 6)))
    with pytest.raises(ValueError, match="must not be zero"):
        f(1, 6, 0.5)
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        f(1, float("nan"), 1)


@guvectorize(["void(float32[:], uint32, float32[:])", "void(float64[:], uint32, float64[:])"], "(n),()->(n)")
def largest(x, width, out):
    for i in range(len(x)):
        out[i] = x[max(0, i - width):i + 1].max()


def test_scalars_of_guvectorize_do_not_wrap():
    x = np.array([1.0, 5.0, 2.0, 3.0, 1.0])
    assert largest(x, 2).tolist() == [1.0, 5.0, 5.0, 5.0, 3.0] and largest.types == ["fI->f", "dI->d"]
    assert largest(x.astype(np.float32), np.uint32([1, 0])).tolist() == [[1.0, 5.0, 5.0, 3.0, 3.0], x.tolist()]
    with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
        guvectorize(["(float64[:], int8, float64[:])"], "(n),()->(n)")(beyond)(x, 7)
    assert {entry.path.name for entry in caught.traceback} == {"test_literals.py"}


def beyond(x, i, out):
    out[:] = x[i]


def test_values_that_must_be_constants_are_taken_from_the_arguments():
    a = np.arange(24.0).reshape(2, 3, 4)

    def turned(a, axes, scale):
        return np.transpose(a, axes) * scale

    compiled = njit(turned)
    for axes, scale in (((2, 0, 1), 2.0), ((1, 0, 2), 1), ((2, 0, 1), 3)):
        same(compiled(a, axes, scale), turned(a, axes, scale))
    records = np.zeros(3, [("x", "f8"), ("y", "i4")])
    records["y"] = 2

    def total(records, field, more):
        return records[field].sum() + more

    compiled = njit(total)
    for arguments in ((records, "x", 1), (records, "y", 1), (records, "y", 2.5)):
        same(compiled(*arguments), total(*arguments))
    several = njit(lambda records, fields: sum([records[f].sum() for f in fields]))
    for fields in (["x", "y"], ["y"], []):
        same(several(records, fields), several.py_func(records, fields))
    with pytest.raises(ValueError, match="no field of name z"):
        several(records, ["z"])


def test_types_as_arguments_are_constants():
    @njit
    def filled(a, item):
        found = typed.List.empty_list(item)
        found.append((a[0], 1))
        return found

    @njit
    def zeros(n, t):
        return np.zeros(n, t)

    pair = types.Tuple((types.float64, types.int64))
    assert filled(np.array([2.5]), pair) == filled(np.array([2.5]), item=pair) == [(2.5, 1)]
    assert [zeros(2, t).dtype for t in (types.float32, types.int8)] == [np.float32, np.int8]


def named(x):
    return {1: "one", 2: "two", "f": "eff"}.get(x)


@overload(named)
def _(x, end=""):
    if isinstance(x, types.Literal):
        found = named(x.literal_value)
        return (lambda x, end="": found + end) if found else None


def named_and(x, end=""):
    return named(x, end)


def test_overloads_that_accept_nothing_but_constants_get_those_of_calls():
    def inner(x=1):
        return named(x)

    assert njit(lambda: inner())() == "one" and njit(lambda: inner("f"))() == "eff"
    assert njit(lambda n: (named_and(2, "!"), named_and(1), n))(3) == ("two!", "one", 3)
    for f, x in ((lambda x: inner(x), 2), (lambda: inner(3), None), (lambda x: named(x), 2)):
        with pytest.raises(TypingError, match=r"no overload of named\(\) accepts \(int64\)"):
            njit(f)(*(x,) if x else ())


def test_overloads_that_accept_nothing_but_constants_get_items_of_loops_that_are_unrolled():
    @njit
    def all_of(end):
        found = ""
        for x in literal_unroll((1, 2, "f", 1)):
            found += named(x, end)
        return found

    @njit
    def some():
        x = (5, 1, "f", 2)
        found = ""
        for item in literal_unroll(x[1:]):
            if item == 2:
                break
            found += named(item)
        return found

    @njit
    def of_a_list(n):
        found = ""
        for x in literal_unroll([1, 2, "f", 1]):
            found += named(x)
        for x in literal_unroll([n, 2.5, 2]):  # not all of these are constants
            found += str(x)
        return found

    @njit
    def wrong():
        found = ""
        for x in literal_unroll((1, 2, 7)):
            found += named(x)
        return found

    assert all_of(" ") == "one two eff one " and all_of("") == "onetwoeffone" and some() == "oneeff"
    assert of_a_list(4) == of_a_list.py_func(4) == "onetwoeffone42.52"
    with pytest.raises(TypeError, match=r"no overload of named\(\) accepts this item of literal_unroll\(\)"):
        wrong()


def test_a_list_of_an_array_without_axes_has_its_element():
    for a in (np.array(3), np.array(2.5, np.float32)):
        for found in (typed.List(a), njit(lambda a: typed.List(a))(a)):
            assert found == [a.item()] and type(found[0]) is type(a.item())
    assert typed.List(np.float64(2)) == [2.0] and njit(lambda a: typed.List(a))(np.arange(2)) == [0, 1]


def test_an_overload_may_ask_for_literals():
    def shifted(a, k):
        raise NotImplementedError

    @overload(shifted)
    def _(a, k):
        SentryLiteralArgs(["k"]).for_function(shifted).bind(a, k)
        value = k.literal_value
        return lambda a, k: a + value

    assert njit(lambda a: shifted(a, 3))(1) == 4 and njit(lambda a, k: shifted(a, k))(1, 5) == 6


def test_refusals_say_that_a_value_must_be_a_constant():
    """Only after such a refusal is a function compiled again with constants for its arguments."""
    for function, args, reason in (
            (lambda a, mode: np.linalg.qr(a, mode=mode), (np.eye(3), "r"), NotConstant),
            (lambda a, axis: np.sum(a, axis=(0, axis)), (np.ones((2, 2)), 1), NotConstant),
            (lambda a, name: a[name], (np.zeros(2, [("x", "i4"), ("y", "f8")])[0], "y"), FieldNotConstant)):
        with pytest.raises(TypingError) as caught:
            pyjitc.njit(function)(*args)
        assert caught.value.reason is reason
        assert njit(function)(*args) is not None


@pytest.mark.parametrize("take", [lambda a, i, axis: np.take(a, i, axis=axis), lambda a, i, axis: a.take(i, axis)])
@pytest.mark.parametrize("indices", [np.array([1, 0, 1]), (0, 1), 1])
def test_the_axis_of_take_is_an_argument(take, indices):
    a, f = np.arange(24.0).reshape(2, 3, 4), njit(take)
    for axis in (0, 1, -1):
        assert same(f(a, indices, axis), take(a, indices, axis))


def _power(x, n):
    raise NotImplementedError


@overload(_power)
def _(x, n):
    if isinstance(n, types.Literal):
        if n.literal_value == 2:
            return lambda x, n: x * x
        return lambda x, n: x ** n
    return lambda x, n: literally(n)


@pytest.mark.parametrize("n", [2, 3])
def test_an_overload_without_a_literal_may_ask_for_one_by_literally(n):
    @njit
    def inner(x, n):
        return _power(x, n)

    @njit
    def outer(x, n):
        return inner(x, n) + _power(x, n=n) + _power(x, 2)

    assert inner(3, n) == 3 ** n and outer(3, n) == 2 * 3 ** n + 9
    assert outer(3, 5) == 2 * 3 ** 5 + 9


def test_two_arguments_of_an_overload_may_be_asked_for_by_literally():
    def scaled(x, n, m):
        raise NotImplementedError

    @overload(scaled)
    def _(x, n, m):
        if isinstance(n, types.Literal) and isinstance(m, types.Literal):
            factor = n.literal_value * 10 + m.literal_value
            return lambda x, n, m: x * factor
        if isinstance(n, types.Literal):
            return lambda x, n, m: literally(m)
        return lambda x, n, m: literally(n)

    @njit
    def f(x, n, m):
        return scaled(x, n, m)

    assert f(2.0, 3, 4) == 68.0 and f(1, 7, 1) == 71


def test_signatures_show_constants():
    @njit
    def item(a, k, *more):
        return a[literally(k)] + len(more)

    assert item.signatures == []
    assert [item((1, 2.5), 1), item((1, 2.5), 0, 3)] == [2.5, 2]
    pair = types.Tuple((types.int64, types.float64))
    assert item.signatures == [(pair, types.literal(1), types.Tuple(())),
                               (pair, types.literal(0), types.UniTuple(types.int64, 1))]
    assert [one.return_type for one in item.nopython_signatures] == [types.float64, types.int64]
    assert list(item.overloads) == item.signatures
