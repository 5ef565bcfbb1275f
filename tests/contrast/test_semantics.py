"""The rows of docs/semantics.md: where compiled code differs from the interpreter on purpose."""
import math
import sys
import threading
import warnings
from unittest import mock

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree, same


def arithmetic(x, y):
    return x + y, x - y, x * y


def power(x, n):
    return x ** n


def shifted(x, n):
    return x << n


def factorial(n):
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


def first_of(start, stop):
    for i in range(start, stop):
        return i
    return None


def test_range_beyond_64_bits():
    agree(first_of, 0, sys.maxsize)
    agree(first_of, -2 ** 63, -1)
    agree(first_of, sys.maxsize, -2 ** 63)
    assert first_of(-1, sys.maxsize) == -1
    compiled = njit(first_of)
    with pytest.raises(OverflowError, match="more than 2"):
        compiled(-1, sys.maxsize)

    @njit
    def stepped(start, stop, step):
        total = 0
        for i in range(start, stop, step):
            total ^= i
        return total, len(range(start, stop, step))

    huge = 2 ** 62
    for ends in [(-huge, huge - 1, huge - 1), (-huge, huge, huge), (huge, -huge, -huge), (-huge, huge + 1, huge),
                 (huge, -huge - 1, -huge), (-huge, huge - 1, huge), (-1, 2 ** 63 - 1, huge), (-2, 2 ** 63 - 1, huge),
                 (2 ** 63 - 1, -1, -huge), (2 ** 63 - 1, -2, -huge), (5, 3, -2 ** 63), (0, sys.maxsize, huge),
                 (-2 ** 63, -2, huge), (-2 ** 63, -1, huge), (-2 ** 63, 0, huge), (-1, -2 ** 63, -huge),
                 (0, -2 ** 63, -huge)]:
        start, stop, step = ends
        if abs(stop - start) < 2 ** 63 and step > -2 ** 63:
            assert stepped(*ends) == stepped.py_func(*ends), ends
        else:
            with pytest.raises(OverflowError, match="range"):
                stepped(*ends)

    @njit
    def backwards(n):
        for i in range(n, -1, -1):
            return i

    assert backwards(sys.maxsize - 1) == sys.maxsize - 1 and backwards(-1) is None
    with pytest.raises(OverflowError, match="more than 2"):
        backwards(sys.maxsize)


def test_int_has_64_bits():
    top, bottom = 2 ** 63 - 1, -2 ** 63
    agree(arithmetic, 2 ** 61, 1)
    agree(power, 3, 39)
    agree(shifted, 1, 62)
    agree(factorial, 20)
    for function, args in [(arithmetic, (top, 1)), (arithmetic, (bottom, 1)), (arithmetic, (2 ** 32, 2 ** 31)),
                           (power, (3, 40)), (power, (-2, 64)), (shifted, (1, 63)), (factorial, (21,)),
                           (lambda x: -x, (bottom,)), (lambda x: abs(x), (bottom,)),
                           (lambda x, y: x // y, (bottom, -1)), (lambda x: int(x), (1e19,))]:
        with pytest.raises(OverflowError):
            njit(function)(*args)
    wrapping = njit(overflow="wrap")(factorial)
    assert wrapping(21) == -4249290049419214848


def test_int_argument_beyond_64_bits():
    compiled = njit(lambda x: x)
    assert compiled(2 ** 63 - 1) == 2 ** 63 - 1 and compiled(-2 ** 63) == -2 ** 63
    for value in 2 ** 63, -2 ** 63 - 1, 10 ** 100:
        with pytest.raises(OverflowError, match="64 bits"):
            compiled(value)


def multiply_and_divide(x, y):
    return x * y, x / y


@pytest.mark.parametrize("x, y", [(np.int8(100), np.int8(3)), (np.float32(1e38), np.float32(1e-30)),
                                  (np.float64(1), np.float64(0)), (np.float64(0), np.float64(0))])
def test_numpy_scalars_do_not_warn(x, y):
    compiled = njit(multiply_and_divide)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = compiled(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(actual, multiply_and_divide(x, y))


def wrong_attribute(x, n):
    if n > 0:
        return x.nosuch
    return x


def test_errors_of_types_come_early():
    assert wrong_attribute(1, 0) == 1
    with pytest.raises(AttributeError):
        wrong_attribute(1, 1)
    with pytest.raises(TypeError, match="nosuch"):
        njit(wrong_attribute)(1, 0)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def test_recursion_goes_deeper():
    n = sys.getrecursionlimit() + 1000
    with pytest.raises(RecursionError):
        depth(n)
    assert njit(depth)(n) == n
    with pytest.raises(RecursionError):
        njit(depth)(10 ** 12)


def test_long_long_is_int64(recwarn):
    doubled = njit(lambda x: x * 2)
    for value in (np.longlong(3), np.ulonglong(3), np.arange(3, dtype="q")):
        found = doubled(value)
        assert np.all(found == value * 2) and found.dtype == value.dtype
        assert isinstance(found, np.ndarray) or type(found) in (np.int64, np.uint64)
    assert not [w for w in recwarn if "native code" in str(w.message)]


def test_memory_that_is_not_there():
    def zeros(n):
        return np.zeros(n)

    with pytest.raises(MemoryError, match="Unable to allocate"):
        zeros(2 ** 55)
    with pytest.raises(MemoryError) as caught:
        njit(zeros)(2 ** 55)
    assert type(caught.value) is MemoryError and caught.value.args == ()


class MyFloat(float):
    pass


class MyInt(int):
    pass


class MyArray(np.ndarray):
    pass


@pytest.mark.parametrize("value", [MyFloat(1.5), MyInt(3), np.zeros(3).view(MyArray)])
def test_subclasses_are_refused(value):
    with pytest.raises(TypeError) as caught:
        njit(lambda x: x)(value)
    assert type(value).__name__ in str(caught.value)


def inner(x):
    return x + 1


def outer(x):
    return inner(x) * 2


def test_tracing_does_not_see_inside():
    compiled = njit(outer)
    compiled(1)
    seen = []

    def trace(frame, event, argument):
        seen.append(frame.f_code.co_name)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert compiled(1) == 4
    finally:
        sys.settrace(before)
    assert "inner" not in seen and "outer" not in seen


def watched(a, n):
    before = a[0]
    x = 0
    for i in range(n):
        x ^= i * 3 % 7
    return a[0] - before, x


def test_other_threads_wait():
    seen, stop = np.zeros(1, np.int64), threading.Event()

    def count():
        while not stop.is_set():
            seen[0] += 1

    compiled, free = njit(watched), njit(nogil=True)(watched)
    compiled(seen, 1), free(seen, 1)
    other = threading.Thread(target=count)
    other.start()
    try:
        assert compiled(seen, 20_000_000)[0] == 0
        assert any(free(seen, 20_000_000)[0] for _ in range(20)), "nogil=True lets them run"
    finally:
        stop.set()
        other.join()


def wraps_below_zero(n, a):
    k, found = 2 ** 62, -1
    for i in range(n):
        if k < 0:
            found = i
            break
        k += 2 ** 62
        a[i] += 1.0
    return found


def wraps_to_zero(n, a):
    k, s = 2 ** 62, 0
    for i in range(n):
        a[i] += 1.0
        s += 7 // k
        k += 2 ** 62
    return s


def test_counters_that_wrap():
    """The known range of a counter ends where it may wrap."""
    wrap = njit(overflow="wrap")
    assert wrap(wraps_below_zero)(10, np.zeros(10)) == 1
    with pytest.raises(ZeroDivisionError):
        wrap(wraps_to_zero)(10, np.zeros(10))


def test_a_nan_in_a_tuple():
    """CPython tests whether two items are one object before it compares them. With another nan object both agree."""
    def f(x, y):
        return x in (1.0, x), x in [x], (x,) == (x,), x in (1.0, y), (x,) == (y,)

    assert f(math.nan, -math.nan) == (True, True, True, False, False)
    assert njit(f)(math.nan, -math.nan) == (False,) * 5


def remainder_of_the_first(a):
    a[0] = a[0] % 1


def test_sign_of_a_nan_that_is_made():
    """LLVM folds and expands operations without preserving the sign. A nan that is only passed on keeps its sign."""
    sign = njit(lambda x: math.copysign(1.0, x % 1))
    assert abs(sign(math.inf)) == abs(sign.py_func(math.inf)) == 1.0
    assert math.isnan(njit(lambda x: x % 1)(math.inf))
    memory = np.array([math.inf])
    njit(remainder_of_the_first)(memory)
    assert int(memory.view(np.uint64)[0]) & ~(1 << 63) == 0x7ff8 << 48  # all bits but the sign are the processor's
    given = njit(lambda x: math.copysign(1.0, x))
    assert [given(math.copysign(math.nan, s)) for s in (1.0, -1.0)] == [1.0, -1.0]


def said(x):
    print("x is", x)
    return x


def test_builtins_are_those_of_the_compile(capsys):
    compiled, printed = njit(said), []
    compiled(1)
    with mock.patch("builtins.print", lambda *values: printed.append(values)):
        assert compiled(2) == said(2) and printed == [("x is", 2)]
    with mock.patch(f"{__name__}.print", lambda *values: 3, create=True):
        assert compiled(4) == said(4)
    assert compiled(5) == 5
    assert capsys.readouterr().out == "x is 1\nx is 2\nx is 5\n"
