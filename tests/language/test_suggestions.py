"""Names that do not exist, and functions that have another name here: the name or function that the message
suggests."""
import functools
import math
import sys
import time
import traceback
from typing import NamedTuple

import numpy as np
import pytest

from pyjitc import CompileError, jit, njit
from pyjitc.base.errors import did_you_mean, shortened, suggest

A = np.arange(5.0)
TABLE = np.array([(1.0, 2)], dtype=[("mass", float), ("charge", int)])
RECORDS = np.zeros(2, np.dtype((np.record, [("mass", float), ("charge", int)])))
MARKER = object()


class Point(NamedTuple):
    first: float
    second: float


total_mass = 2.0


def refused(function, *args):
    """(message, hint)"""
    with pytest.raises(CompileError) as caught:
        njit(function)(*args)
    text = str(caught.value)
    assert " at 0x" not in text and len(text.splitlines()) <= 8
    return caught.value.diagnostic.message, caught.value.diagnostic.hint


def mistyped_local(a):
    total = 0.0
    for x in a:
        totl += x  # noqa: F821
    return total


def mistyped_result(a):
    total = a.sum()
    return totl + total  # noqa: F821


def mistyped_global(a):
    return total_mas * a  # noqa: F821


def mistyped_builtin(a):
    return lenn(a)  # noqa: F821


def mistyped_in_a_closure(a):
    def add():
        nonlocal totl
        totl += 1

    if a is None:
        totl = 0
    total = 1
    add()
    return total


def two(first, second):
    return first + second


@pytest.mark.parametrize("function, args, near", [
    (mistyped_local, (A,), "total"),
    (mistyped_result, (A,), "total"),
    (mistyped_global, (A,), "total_mass"),
    (mistyped_builtin, (A,), "len"),
    (lambda p: p.frist, (Point(1.0, 2.0),), "first"),
    (lambda p: p._repalce(first=1.0), (Point(1.0, 2.0),), "_replace"),
    (lambda a: a.astype(np.flot32), (A,), "float32"),
    (lambda a: a.astype("flot32"), (A,), "float32"),
    (lambda a: a.astype(np.float46), (A,), "float64"),
    (lambda a: a.astype("float46"), (A,), "float64"),
    (lambda a: a.astype("float61"), (A,), "float16"),
    (lambda a: np.zeros(3, dtype=np.int23), (A,), "int32"),
    (lambda a: a.shap, (A,), "shape"),
    (lambda a: a.summ(), (A,), "sum"),
    (lambda a: a.dtype.nme, (A,), "name"),
    (lambda a: a.flags.contiguos, (A,), "contiguous"),
    (lambda n: n.reel, (3,), "real"),
    (lambda x: x.is_intger(), (2.5,), "is_integer"),
    (lambda x: x.reel, (np.float32(2),), "real"),
    (lambda s: s.uper(), ("a",), "upper"),
    (lambda a: np.lnspace(0.0, 1.0, 3), (A,), "linspace"),
    (lambda x: math.sqt(x), (2.0,), "sqrt"),
    (lambda a: np.linalg.nrm(a), (A,), "norm"),
    (lambda t: t["mas"], (TABLE,), "mass"),
    (lambda t: t[0]["mas"], (TABLE,), "mass"),
    (lambda t: t[0].mas, (RECORDS,), "mass"),
    (lambda a: np.mean(a, axs=0), (A,), "axis"),
    (lambda a: a.sum(axs=0), (A,), "axis"),
    (lambda a: a.sum(axsi=0), (A,), "axis"),
    (lambda a: a.smu(), (A,), "sum"),
    (lambda x: x + time.tiem(), (1.0,), "time"),
    (lambda x: math.sqtr(x), (2.0,), "sqrt"),
    (lambda a: sorted(a, kye=abs), (A,), "key"),
    (lambda x: two(x, secnd=x), (1.0,), "second"),
    (lambda x: Point(x, secnd=x), (1.0,), "second"),
    (lambda x: np.float64.itemsze, (1.0,), "itemsize"),
])
def test_did_you_mean(function, args, near):
    message, hint = refused(function, *args)
    assert hint == f"did you mean '{near}'?" or message.endswith(f" Did you mean '{near}'?") and not hint  # CPython 3.13


@pytest.mark.parametrize("function", [
    lambda a: len(), lambda a: len(a, a), lambda a: len(obj=a), lambda a: iter(), lambda a: iter(a, 1, 2),
    lambda a: iter(a, 3), lambda a: next(), lambda a: next(iter(a), 1, 2), lambda a: next(iter(a), default=3),
    lambda a: sorted(a, revers=True), lambda a: hash(a), lambda a: hash({}),
])
def test_wrong_calls_have_the_message_of_the_interpreter(function):
    with pytest.raises(TypeError) as expected:
        function([1, 2])
    message, hint = refused(function, [1, 2])
    assert message == str(expected.value)


@pytest.mark.parametrize("function, args", [
    (lambda p: p.elsewhere, (Point(1.0, 2.0),)),
    (lambda a: a.xyz, (A,)),
    (lambda n: n.xyz, (3,)),
    (lambda a: np.qqqqq(a), (A,)),
    (lambda x: two(x, other=x), (1.0,))])
def test_nothing_near(function, args):
    assert "did you mean" not in refused(function, *args)[1]


def nothing_near(x):
    if x > 5:
        count = 0
    return count


def handled(x):
    total = 1
    try:
        return totl + x  # noqa: F821
    except NameError as error:
        return str(error)


def set_on_another_path(x):
    if x > 0:
        value_a = 1
    else:
        value_b = 2
    if x < 5:
        return value_b
    return value_a


def calls(x):
    try:
        return mistyped_result(x)
    except NameError:
        return -1


def deleted(x):
    rate = x
    rates = x
    del rates
    return rates


@pytest.mark.parametrize("function, arg", [
    (nothing_near, 1), (handled, 1), (set_on_another_path, 1), (calls, A), (deleted, 1)])
def test_errors_of_the_running_program(function, arg):
    """A name that is no misspelling, or whose error is handled, raises at run time as in the interpreter."""
    def outcome(f):
        try:
            return f(arg)
        except Exception as error:
            return type(error), str(error)

    assert outcome(njit(function)) == outcome(function)


def test_a_name_that_comes_later():
    space = {"total_of": 1.0}
    exec("def f(x):\n    return total_off * x\n", space)
    f = njit(space["f"])
    with pytest.raises(CompileError, match="name 'total_off' is not defined"):
        f(2.0)
    space["total_off"] = 3.0
    assert f(2.0) == 6.0


@pytest.mark.parametrize("function, args, says, hint", [
    (lambda a: np.zeros(3, 3), (A,), "Cannot interpret '3' as a data type", "np.zeros((3, 3))"),
    (lambda t: t.append(1), ((1, 2),), "no attribute 'append'", "a tuple does not change"),
    (lambda t: t.append(1), ((1,) * 3000,), "'tuple' object has no attribute 'append'", "a tuple does not change"),
    (lambda t: t.nosuch, ((1,) * 3000,), "'tuple' object has no attribute 'nosuch'", ""),
    (lambda n: n & 0xFFFFFFFFFFFFFFFF, (3,), "the int 18446744073709551615 does not fit", "np.uint64"),
    (lambda n: n & 0xFFFFFFFFFFFFFFFF, (3,), "does not fit", 'overflow="wrap"'),
    (lambda n: n ^ 14695981039346656037, (3,), "does not fit", "np.uint64(14695981039346656037)"),
    (lambda n: n & ((1 << 64) - 1), (3,), "does not fit", 'np.uint64'),
    (lambda a: math.sqrt(a), (A,), "must be real number", "np.sqrt works on arrays"),
    (lambda a: int(a), (A,), "int() argument", "a.astype(int)"),
    (lambda a, m: np.linalg.qr(a, mode=m), (np.eye(2), "r"), "mode= of np.linalg.qr", "under `if mode == ...:`"),
    (lambda a, m: np.copy(a, order=m), (A, "C"), "order= of np.copy", "for each order that"),
    (lambda a, m: np.partition(a, 2, kind=m), (A, "introselect"), "kind= of np.partition", "write the value out in"),
    (lambda a: a(1), (A,), "not callable", "brackets"),
    (lambda a: MARKER + a, (1,), "'object' and 'int'", ""),
    (lambda a: two + a, (1,), "'function' and 'int'", ""),
])
def test_what_there_is_instead(function, args, says, hint):
    message, found = refused(function, *args)
    assert says in message and hint in found


def test_the_text_of_an_overflow_names_what_wraps():
    @njit
    def hashed(n):
        h = 7
        for i in range(n):
            h = h * 31 + i
        return h

    says = r"does not fit in 64 bits; use floats, or let it wrap: np.uint64, or njit\(overflow=\"wrap\"\)"
    with pytest.raises(OverflowError, match=says):
        hashed(100)


@pytest.mark.parametrize("name, candidates, near", [
    ("totl", ["total", "totals"], "total"), ("x", ["y"], None), ("x1", ["x2"], None),
    ("lenght", ["length", "width"], "length"), ("Value", ["value"], "value"),
    ("total", ["total"], None), ("a" * 41, ["a" * 40], None),
    ("tiem", ["time", "sleep"], "time"), ("axsi", ["axis", "dtype"], "axis"),
    ("no", ["on"], None), ("float46", ["float16", "float32", "float64"], "float64"), ("frobnicate", ["sum", "mean"], None)])
def test_nearest_name(name, candidates, near):
    assert suggest(name, candidates) == near
    assert did_you_mean(name, candidates) == (f"did you mean '{near}'?" if near else "")


def test_long_types_are_shortened():
    nested = "int"
    for _ in range(200):
        nested = f"({nested}, float64[::1])"
    for text in (nested, f"({', '.join(['int'] * 900)})", f"cannot add {nested} and {nested}", "x" * 5000):
        found = shortened(text)
        assert len(found) < 340 and "..." in found
        assert found.count("(") == found.count(")") and found.count("[") == found.count("]")
    assert shortened("a short one (int, (int, float))") == "a short one (int, (int, float))"
    assert shortened("<function f at 0x7f3f8a7d4400>") == "<function f>"


def test_errors_about_long_types_are_short():
    def added(t):
        return t + 1

    t = 1
    for _ in range(99):
        t = (t, 2.5)
    for value in (t[0], t):
        with pytest.raises(CompileError) as caught:
            njit(added)(value)
        assert max(map(len, str(caught.value).splitlines())) < 350


def wrapped_inside(a):
    def decorate(function):
        @functools.wraps(function)
        def inner(x):
            return function(x) + 1.0

        return inner

    return decorate(math.sqrt)(a[0])


def test_wraps_inside_compiled_code_says_what_cannot_be_done():
    message, hint = refused(wrapped_inside, A)
    assert message.startswith("functools.wraps is not compiled for a function made in compiled code")
    assert hint == "leave it out, or decorate the function outside the compiled function"


def adding_a_field(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x) + x.field

    return wrapper


@adding_a_field
def wrapped_first(x):
    return x


@adding_a_field
def wrapped_second(x):
    return x


def test_a_wrapper_has_the_name_of_the_function_that_it_wraps():
    """The wrappers of one decorator have the same code."""
    for function in (wrapped_first, wrapped_second):
        with pytest.raises(CompileError) as caught:
            njit(function)(1)
        assert caught.value.diagnostic.function == function.__qualname__


class Dish:
    def __init__(self, flavour):
        self.flavour = flavour


def of_an_instance(n):
    return Dish(n).flavor


def of_an_argument(n, dish):
    return dish.flavor


def of_none(n):
    found = Dish(n) if n > 9 else None
    return found.flavour


def of_a_method_of_none(n):
    found = [n] if n > 9 else None
    found.append(n)
    return found


def of_an_int_or_an_array(n):
    found = n if n > 9 else np.zeros(3)
    return found.bit_length()


def of_an_int_or_a_text(n):
    found = n if n < 9 else "ab"
    return found.upper()


def of_a_tuple_or_a_list(n):
    found = (n, n + 1) if n < 9 else [n]
    found.append(n)
    return found


def of_a_list_or_a_set(n):
    found = [n, n + 1] if n < 9 else {n}
    found.add(n)
    return found


def of_a_float_or_an_instance(n):
    found = 0.5 * n if n < 9 else Dish(n)
    return found.flavour


def of_a_function(n):
    found = of_none if n < 9 else Dish(n)
    return found.flavour


def of_an_unbound_name(n):
    def inner():
        return flavour

    if n > 9:
        flavour = n
    return inner()


def caught(n):
    found = Dish(n) if n > 9 else None
    try:
        return found.flavour
    except AttributeError as error:
        return error.name, error.obj is found


@pytest.mark.parametrize("function, arguments", [
    (of_an_instance, (1,)), (of_an_argument, (1, Dish(2))), (of_none, (1,)), (of_a_method_of_none, (1,)),
    (of_an_unbound_name, (1,)), (of_an_int_or_an_array, (1,)), (of_an_int_or_a_text, (1,)),
    (of_a_tuple_or_a_list, (1,)), (of_a_list_or_a_set, (1,)), (of_a_float_or_an_instance, (1,)),
    (of_a_function, (1,))])
def test_errors_at_run_time_say_the_name_as_in_the_interpreter(function, arguments):
    """The interpreter's printer of tracebacks finds its suggestions by these attributes."""
    shown = []
    for one in (function, njit(function), jit(function)):
        with pytest.raises((AttributeError, NameError)) as found:
            one(*arguments)
        error = found.value
        of = getattr(error, "obj", None)
        shown.append(("".join(traceback.format_exception_only(error)), error.name, type(of).__name__,
                      "" if isinstance(of, Dish) else repr(of)))
    assert shown[0] == shown[1] == shown[2] and shown[0][1] is not None


def test_a_handler_reads_the_name_of_a_missing_attribute():
    assert njit(caught)(1) == caught(1) == ("flavour", True)


def caught_of_a_list(n):
    items = [n, n + 1]
    try:
        items.push(n)
    except AttributeError as error:
        error.obj.append(7)
        return error.name, error.obj is items, items


def test_a_handler_reads_the_object_that_has_no_such_attribute():
    assert jit(caught_of_a_list)(1) == caught_of_a_list(1) == ("push", True, [1, 2, 7])


class Entered:
    def __enter__(self):
        return self


class Opened(Entered):
    def __exit__(self, *error):
        return False


def opened(n):
    found = n if n == 1 else Entered() if n == 2 else Opened()
    with found:
        return 3


def test_objects_that_are_no_context_managers():
    for n in (1, 2, 3):
        assert outcome_of(jit(opened), n) == outcome_of(opened, n)
    assert "context manager protocol" in refused(lambda n: opened_always(n), 1)[0] or sys.version_info < (3, 11)


def opened_always(n):
    with Entered():
        return n


def outcome_of(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)
