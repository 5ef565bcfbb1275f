"""Constructs that are not compiled and mistakes that CPython would certainly raise: located errors that say what to do.

Each function has one wrong line, marked `# here`; the caret is under the text given (from 3.11 on)."""
import inspect
import sys

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.base.errors import CompileError
from tests.oracle import agree, difference, outcome

ROWS = []
LARGE, TOLERANCE = 1000, 0.5


def wrong(*args, says, at, hint=None):
    """A function whose compile fails: `says` is in the message, the caret is under `at`; hint: part of the advice."""
    def register(function):
        ROWS.append(pytest.param(function, args, says, at, hint, id=function.__name__))
        return function

    return register


@wrong(3, says="for +=: 'int' and 'NoneType'", at="n += None")
def added_in_place(n):
    n += None  # here
    return n


@wrong("x", says="for -=: 'str' and 'str'", at='n -= "y"')
def subtracted_text(n):
    n -= "y"  # here
    return n


@wrong((1, 2), says="tuple indices must be integers or slices, not float", at="n[1.0]", hint="//")
def tuple_index(n):
    return n[1.0]  # here


def countdown(n):
    if n > 0:
        yield n
        for k in countdown(n - 1):
            yield k


@wrong(3.0, says="can't multiply sequence by non-int of type 'float'", at='"a" * x')
def string_repeat(x):
    return "a" * x  # here


@wrong(np.arange(2.0), says="the attribute 'newbyteorder' of a dtype is not compiled yet", at="x.dtype.newbyteorder")
def dtype_attribute(x):
    return x.dtype.newbyteorder("=")  # here


@wrong("text", says="'str' object has no attribute 'uper'", at="s.uper", hint="did you mean 'upper'?")
def string_method(s):
    return s.uper()  # here


@wrong("text", says="string indices must be integers", at='s["a"]')
def string_index(s):
    return s["a"]  # here


class Manager:
    pass


manager = Manager()


@wrong(3, says="context manager protocol" if sys.version_info >= (3, 11) else "__enter__", at="")
def with_statement(n):
    with manager:  # here
        return n


@wrong(3, says="a class that is defined in a function reads the function's variable 'n'", at="")
def class_of_a_variable(n):
    class C:  # here
        x = n

    return n




@wrong(3, says="deleting a global variable", at="SOME")
def delete_global(n):
    global SOME
    del SOME  # here
    return n


@wrong(3, says="async", at="")
def async_inner(n):
    async def f():  # here
        return n

    return f()


@wrong(3, says="object is not iterable", at="")
def iterate_int(n):
    for i in n:  # here
        pass


@wrong(3, says="unsupported operand type(s) for +: 'int' and 'str'", at='n + "a"')
def add_unlike(n):
    return n + "a"  # here


@wrong(3, says="'int' object is not callable", at="n(1)")
def call_int(n):
    return n(1)  # here


@wrong(3, says="'int' object is not subscriptable", at="n[0]")
def index_int(n):
    return n[0]  # here


@wrong(3, says="object has no attribute 'foo'", at="n.foo")
def attribute_of_int(n):
    return n.foo  # here


@wrong((1, 2), says="does not support item assignment", at="t[0]")
def tuple_store(t):
    t[0] = 1  # here
    return t


@wrong((1, 2), says="doesn't support item deletion", at="t[0]")
def tuple_delete(t):
    del t[0]  # here
    return t


@wrong(3, says="has no attribute 'sine'", at="np.sine")
def attribute_of_module(n):
    return np.sine(n)  # here


@wrong(3, says="missing 1 required positional argument: 'b'", at="two(n)")
def missing_argument(n):
    return two(n)  # here


@wrong(3, says="got an unexpected keyword argument 'c'", at="two(n, c=1)")
def unexpected_keyword(n):
    return two(n, c=1)  # here


@wrong(3, says="takes 2 positional arguments but 3 were given", at="two(n, n, n)")
def too_many_arguments(n):
    return two(n, n, n)  # here


@wrong(3, says="got multiple values for argument 'a'", at="two(n, a=n)")
def twice_given(n):
    return two(n, a=n)  # here


def two(a, b):
    return a, b


@wrong(3, says="exceptions must derive from BaseException", at="raise n")
def raise_int(n):
    raise n  # here


@wrong(3, says="`is` between two 'int' values has no meaning", at="n is LARGE", hint="==")
def same_large_int(n):
    return n is LARGE  # here


@wrong(2.5, says="`is not` between two 'float' values has no meaning", at="n is not TOLERANCE", hint="==")
def same_float(n):
    return n is not TOLERANCE  # here


@wrong(3, says="a value of type float_info(float, ", at="", hint="numbers")
def result_of_the_interpreter(n):
    return sys.float_info  # here


@wrong(3, says="depends on the path that led here: complex128[::1] | float64[::1]", at="np.hstack((r, r))",
       hint="astype")
def array_of_two_dtypes(n):
    r = np.zeros(2) if n > 2 else np.zeros(2, np.complex128)
    return np.hstack((r, r))  # here


@wrong(np.zeros(3), says="data type", at="np.finfo(n)", hint="np.finfo(a.dtype)")
def limits_of_an_array(n):
    return np.finfo(n).max  # here


@wrong(3, says="items of which many may have one of several types", at="np.array([x, y, x, y, x, y, x, y])",
       hint="float(x)")
def array_of_many_unions(n):
    x = n if n > 1 else 1.5
    y = 2.5 if n > 1 else n
    return np.array([x, y, x, y, x, y, x, y])  # here


@wrong(np.zeros((2, 2)), says="numpy.einsum_path is not compiled yet", at='np.einsum_path("ij,jk", n, n)',
       hint="the nearest function that is: numpy.einsum")
def function_that_numpy_wraps(n):
    return np.einsum_path("ij,jk", n, n)  # here


@wrong(np.zeros(3), says="np.r_['...'] is not compiled", at="np.r_['0,2', n, n]", hint="np.concatenate((a, b), axis)")
def rows_by_directive(n):
    return np.r_['0,2', n, n]  # here


@wrong(3, says="not compiled", at="open('x')")
def unknown_call(n):
    return open('x')  # here


@wrong(3, says="eval", at="eval('1')")
def eval_call(n):
    return eval('1')  # here


@wrong(3, says="attribute", at="f.x")
def function_attribute(n):
    f = lambda: n  # noqa: E731
    f.x = 1  # here
    return f.x


@wrong(3, says="got multiple values for keyword argument 'b'", at="")
def keyword_twice(n):
    return two(**{"a": n, "b": 1}, **{"b": 2})  # here


@wrong(3, says="combinations of argument types", at="", hint="recursion")
def recursion_of_growing_tuples(n):
    def f(t, k):
        return len(t) if k == 0 else f((*t, k), k - 1)  # here

    return f((), n)


@wrong(3, says="whose types grow without an end", at="", hint="recursion")
def recursion_of_growing_closures(n):
    def f(g, k):
        return g(k) if k == 0 else f(lambda x: g(x), k - 1) + f(lambda x: -g(x), k - 1)  # here

    return f(abs, n)


@wrong(3, says="keyword arguments in ** must be known", at="")
def keywords_unknown(n):
    return two(**n)  # here


@wrong(np.arange(2), says="must be known at compile time to be unpacked with *", at="")
def star_of_array(a):
    return round(*a)  # here


@wrong(3, says="'int' object is not a mapping", at="")
def merged_with_a_number(n):
    return len({**{"a": 1}, **n})  # here


@wrong(3, says="no meaning in compiled code", at="n is m")
def identity_of_ints(n):
    m = n + 1
    return n is m  # here


@wrong(3, says="does not fit in 64 bits", at="")
def huge_constant(n):
    return n + 1180591620717411303424  # here


@wrong(3, says="does not fit in 64 bits", at="abs(9223372036854775808)", hint="use a float")
def huge_operand(n):
    return n + abs(9223372036854775808)  # here




@wrong(3, says="pyjitc.njit is not compiled", at="njit(lambda x: x)", hint="compiled with it")
def decorated_inside(n):
    inner = njit(lambda x: x)  # here
    return inner(n)


@pytest.mark.parametrize("function, args, says, at, hint", ROWS)
def test_located(function, args, says, at, hint):
    with pytest.raises(CompileError) as caught:
        njit(function)(*args)
    text = str(caught.value)
    found = caught.value.diagnostic
    lines, first = inspect.getsourcelines(function)
    here = next(k for k, line in enumerate(lines) if "# here" in line)
    assert says in found.message, text
    assert found.line == first + here, text
    assert len(text.splitlines()) <= 8, text
    assert lines[here].strip() in text
    if hint:
        assert hint in found.hint, text
    if sys.version_info >= (3, 11) and at:
        shown = text.splitlines()
        k = next(k for k, line in enumerate(shown) if line.strip() == lines[here].strip())
        start = shown[k + 1].index("^")
        assert shown[k][start:start + shown[k + 1].count("^")] == at, text


def test_type_grows():
    def grows(n):
        t = ()
        for i in range(n):
            t = (t, i)
        return 0

    with pytest.raises(CompileError, match="the type of t grows in every round") as caught:
        njit(grows)(3)
    assert max(map(len, str(caught.value).splitlines())) < 250
    assert 0 <= caught.value.diagnostic.line - inspect.getsourcelines(grows)[1] <= 4
    assert "one type" in caught.value.diagnostic.hint
    assert "for the nodes of a tree a class" in caught.value.diagnostic.hint


def norm_of(x):
    return x.norm


def through_map(x):
    for y in map(norm_of, (x, x)):
        return y
    return 0.0


def test_calls_that_led_there():
    def outer(x):
        return through_map(x) + 1.0

    with pytest.raises(CompileError) as caught:
        njit(outer)(np.zeros(3))
    assert caught.value.diagnostic.function == "norm_of"
    first, last = caught.value.diagnostic.notes
    assert first.endswith(f":{inspect.getsourcelines(through_map)[1] + 1} in through_map")
    assert last.endswith(f":{inspect.getsourcelines(outer)[1] + 1} in {outer.__qualname__}")
    assert len(str(caught.value).splitlines()) <= 8


@pytest.mark.parametrize("function, advice", [
    (lambda a: np.lnspace(0, 1, 3), "'linspace'"), (lambda a: open("x"), "outside"), (lambda a: input(), "outside"),
])
def test_advice(function, advice):
    with pytest.raises(CompileError) as caught:
        njit(function)(np.zeros(3))
    assert advice in caught.value.diagnostic.hint


def added_in_place(x, y):
    x += y
    return x


@pytest.mark.parametrize("function, args, advice", [
    (lambda n: f"{iter((n,))}", (3,), "strings"), (lambda n: np.zeros(n, "int33"), (3,), "did you mean 'int32'?"),
    (lambda n: np.zeros(n, "whole"), (3,), "np.float64"),
    (added_in_place, (np.arange(3), 0.5), "x = x + y"),
    (lambda n: eval("n"), (3,), "expression"),
])
def test_advice_for(function, args, advice):
    with pytest.raises(CompileError) as caught:
        njit(function)(*args)
    assert advice in caught.value.diagnostic.hint, str(caught.value)


def test_wrong_decorators_say_what_is_right():
    with pytest.raises(ValueError, match="unknown type 'flot64' at column 0 .*did you mean float64"):
        njit("flot64(float64)")
    with pytest.raises(TypeError, match="must be True, False or a list of flags"):
        njit(fastmath="yes")


def test_errors_that_no_rule_meant_to_raise(monkeypatch):
    from pyjitc.infer.operations import Operations

    def broken(self, x, name):
        return {}[name]

    monkeypatch.setattr(Operations, "attribute", broken)

    def f(a):
        return a.nothing

    with pytest.raises(CompileError, match="KeyError in the compiler: 'nothing'") as error:
        njit(f)(1.0)
    assert error.value.diagnostic.line == f.__code__.co_firstlineno + 1
    assert (error.value.diagnostic.hint.startswith("this is a defect of pyjitc (test_errors.py:")
            and "report it" in error.value.diagnostic.hint)


def test_too_many_types_that_meet_at_a_handler():
    def meet(n):
        x = 1
        try:
            n = int(str(n))
            x = 1.5
            n = int(str(n))
            x = (1, 2)
            n = int(str(n))
            x = (1,)
            n = int(str(n))
            x = "a"
            n = int(str(n))
            x = np.zeros(1)
            n = int(str(n))
            x = np.zeros(1, np.int8)
            n = int(str(n))
            x = np.zeros((1, 1))
            n = int(str(n))
            x = 1j, 2, 3
            n = int(str(n))
            x = b"a"
            n = int(str(n))
        except ValueError:
            return x
        return x

    def outer(n):
        return meet(n)

    with pytest.raises(CompileError) as error:
        njit(outer)(3)
    assert meet.__code__.co_firstlineno < error.value.diagnostic.line < outer.__code__.co_firstlineno, str(error.value)


def test_type_errors_of_ufuncs_are_numpys_own():
    """So are those of a number whose type, one of several, is known only at run time."""
    def added(a, n, m):
        a += n ** m

    def written(a, n, m):
        np.multiply(a, n ** m, out=a)

    def unknown(a, n, m):
        return np.gcd(a, n ** m)

    def caught(a, n, m):
        try:
            a += n ** m
        except TypeError as error:
            return str(error), error.args[1:]
        return a

    for f in (added, written, unknown, caught):
        compiled = njit(f)
        for m in (-1, 2):
            agree(f, np.arange(3), 2, m, compiled=compiled)
    rounded = njit(lambda a, n: np.round(a, n))
    for n in (-1, 0, 1):
        agree(rounded.py_func, np.array([True, False]), n, compiled=rounded)


def test_text_and_arguments_of_exceptions_of_several_arguments():
    def raised(cls, *args):
        def f(x):
            raise cls(*args, x)
        return f

    for cls, args in ((ValueError, ("a",)), (KeyError, ()), (KeyError, ("a",)), (OSError, (2,)),
                      (OSError, (17, "exists")), (IndexError, (None, 2.5)),
                      (ZeroDivisionError, (True,)), (FileNotFoundError, (2,)), (StopIteration, ("a",)),
                      (AssertionError, ((1, "b"),))):
        f = raised(cls, *args)
        for x in (3, "text", 1.5):
            first, second = outcome(f, (x,)), outcome(njit(f), (x,))
            assert not difference(first, second)
            assert str(first[1]) == str(second[1]) and repr(first[1]) == repr(second[1])
            assert getattr(first[1], "errno", 0) == getattr(second[1], "errno", 0)
