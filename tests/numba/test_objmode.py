"""`with objmode(...)`: parts of compiled functions that the interpreter runs."""
import re
import textwrap

import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import TypingError, UnsupportedError
from pyjitc.numba import jit, njit, objmode, types
from pyjitc.numba.core.withcontexts import objmode_context
from pyjitc.numba.extending import overload, register_jitable

WORDS = {"one": 1, "two": 2}
pair = types.UniTuple(types.int64, 2)


def words(a, name):
    found = []
    for k in range(3):
        with objmode(n="int64", b="float64[:]", size=types.intp):
            n = WORDS.get(name, 0) + k
            b = np.sort(a)[::-1]
            size = len(re.findall("o", name))
        found.append((n, b[0], size))
    return found, b


def untouched(a):
    with objmode:
        a[0] = 7.0
        print(a.tolist(), end="")
    with objmode_context(where="unicode_type"):
        with objmode(x="int64"):  # the interpreter runs it already
            x = 3
        where = f"{a.dtype} {x}"
    return where, a.sum()


def kept(n):
    total = 0
    for i in range(n):
        if i % 2:
            with objmode(total="int64", p="UniTuple(int64, 2)"):
                total = total + i ** 2
                p = (total, i)
            total += p[0]
    return total


def maybe(x):
    y = x
    if x is None:
        with objmode(y="optional(uint8)"):
            y = np.uint64(255)
    return y


def fails(x):
    with objmode(y="float64"):
        y = {"a": 1.0}[x]
    return y


@pytest.mark.parametrize("function, args", [
    (words, (np.array([3.0, 9.0, 1.0]), "two")), (untouched, (np.ones(3),)), (kept, (6,)), (maybe, (7,)),
    (fails, ("a",)), (fails, ("b",)),
], ids=lambda x: getattr(x, "__name__", ""))
def test_as_the_interpreter(function, args):
    agree(function, *args, compiled=njit(function))
    agree(function, *args, compiled=jit(nopython=False)(function))


def test_what_is_given_has_the_declared_type():
    @njit
    def f(x):
        with objmode(i="int8", f="float32", c="complex128", a="int64[::1]", o="optional(int64)", p=pair):
            i, f, c, a, o, p = 300, 1 / 3, 2, np.arange(3), None if x else 5, (x, x)
        return i, f, c, a, o, p

    i, third, c, a, o, p = f(1)
    assert (i, third, c, o, p) == (np.int8(44), np.float32(1 / 3), 2 + 0j, None, (1, 1)) and type(c) is complex
    assert type(i) is np.int8 and type(third) is np.float32 and a.tolist() == [0, 1, 2] and f(0)[4] == 5

    @njit
    def wrong(x):
        with objmode(y="float64[:]"):
            y = np.arange(x)
        return y

    with pytest.raises(TypeError, match=r"variable y of objmode is declared as array\(float64, 1d, A\), and cannot"):
        wrong(3)


def test_closures_and_overloads():
    def made(step):
        @njit
        def f(x):
            def inner():
                return x + step

            with objmode(y="int64"):
                y = x * step + helper(x)
            return y, inner()

        return f

    def helper(x):
        raise NotImplementedError

    @overload(helper)
    def _(x):
        def impl(x):
            with objmode(y="int64"):
                y = int(str(x) * 2)
            return y

        return impl

    @register_jitable
    def registered(x):
        with objmode(y="int64"):
            y = -x
        return y

    assert njit(lambda x: (helper(x), registered(x)))(12) == (1212, -12)

    def helper(x):
        return 1000

    assert made(3)(2) == (1006, 5) and made(4)(2) == (1008, 6)


def test_where_it_cannot_be():
    def gone(x):
        with objmode():
            y = x
        return y

    def returns(x):
        with objmode():
            return x

    def no_type(x):
        with objmode(y=NOTHING):  # noqa: F821
            y = x
        return y

    def no_such(x):
        with objmode(y=1 + 1):
            y = x
        return y

    for function, message in (
            (gone, "objmode assigns to 'y', which is read after it, and says no type for it"),
            (returns, "a part in objmode cannot return or yield"),
            (no_type, "objmode cannot find the type NOTHING of 'y': name 'NOTHING' is not defined"),
            (no_such, r"objmode takes types, and 1 \+ 1 of 'y' is an int")):
        compiled = njit(function)
        with pytest.raises(TypingError, match=message):
            compiled(1)
    names = {"objmode": objmode}
    exec(textwrap.dedent("""
        def nowhere(x):
            with objmode(y="int64"):
                y = x
            return y
        """), names)
    with pytest.raises(UnsupportedError, match="its source cannot be read"):
        njit(names["nowhere"])
