"""Python objects in compiled code: boxes, calls, formatting, attributes, constants."""
import collections
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from tests.codegen.build import Builder, compiled, through

from pyjitc.codegen.box import NotBoxable
from pyjitc.ops import memory, pyobject, structure
from pyjitc.types import kinds as k

Point = collections.namedtuple("Point", "x y")
A1 = k.Array(k.float64, 1)


def calling(function, *types, kwnames=()):
    """A compiled function that boxes its parameters and calls `function` with them."""
    b = Builder(types, k.Object)
    boxed = [p if p.type is k.Object else b.op(pyobject.PY_BOX, p) for p in b.params]
    result = b.op(pyobject.PY_CALL, b.const(k.Object, function), *boxed, kwnames=kwnames)
    b.last.cleanup = tuple(x for x, p in zip(boxed, b.params) if x is not p)
    for x, p in zip(boxed, b.params):
        if x is not p:
            b.op(memory.RELEASE, x)
    b.ret(result)
    return compiled(b)


def test_calls():
    def collect(*args, **kwargs):
        return args, kwargs

    f = calling(collect, k.Int, k.Float, k.Object, k.Tuple((k.Bool, k.Str)), kwnames=("first", "second"))
    thing = object()
    before = sys.getrefcount(thing)
    text = "".join(["a", "b"])
    for _ in range(100):
        assert f(10**6, 2.5, thing, (True, text)) == ((10**6, 2.5), {"first": thing, "second": (True, text)})
    after = sys.getrefcount(thing), sys.getrefcount(text)
    assert after == (before, 2)
    assert calling(collect)() == ((), {})


def test_calls_that_raise():
    def fails(x):
        raise KeyError(x)

    f = calling(fails, k.Int)
    with pytest.raises(KeyError) as caught:
        f(3)
    assert caught.value.args == (3,)
    with pytest.raises(TypeError, match="not callable"):
        calling(5, k.Int)(1)


def test_an_array_argument_is_passed_as_itself():
    seen = []
    a = np.arange(3.0)
    calling(seen.append, A1)(a)
    assert seen[0] is a


def test_unbox():
    a = np.arange(5.0)
    b = Builder([k.Int], k.float64)
    opened = b.op(pyobject.PY_UNBOX, b.const(k.Object, a), type=A1)
    b.ret(b.op(memory.ARRAY_LOAD, opened, b.params[0]))
    f = compiled(b)
    assert f(3) == 3
    a[3] = 30
    assert f(3) == 30
    a.shape = (5, 1)
    with pytest.raises(TypeError, match=r"a captured value is no longer a float64\[::1\]"):
        f(3)


def test_format():
    b = Builder([k.Float], k.Str)
    boxed = b.op(pyobject.PY_BOX, b.params[0])
    text = b.op(pyobject.PY_FORMAT, boxed, b.const(k.Str, ".3f"), conversion="")
    shown = b.op(pyobject.PY_FORMAT, boxed, conversion="r")
    b.op(memory.RELEASE, boxed)
    joined = b.op(pyobject.PY_JOIN, b.const(k.Str, "<"), text, b.const(k.Str, "|\u00e9|"), shown, b.const(k.Str, ">"))
    b.op(memory.RELEASE, text)
    b.op(memory.RELEASE, shown)
    b.ret(joined)
    f = compiled(b)
    assert f(math.pi) == "<3.142|\u00e9|3.141592653589793>"
    b = Builder([], k.Str)
    b.ret(b.op(pyobject.PY_JOIN))
    assert compiled(b)() == ""


def test_format_that_raises():
    b = Builder([k.Object], k.Str)
    b.ret(b.op(pyobject.PY_FORMAT, b.params[0], b.const(k.Str, "d"), conversion="s"))
    f = compiled(b)
    with pytest.raises(ValueError, match="Unknown format code 'd'"):
        f(Fraction(3))  # a value that has no native type


def test_getattr():
    f = through(pyobject.PY_GETATTR, [k.Object], name="real")
    assert f(Fraction(3, 4)) == Fraction(3, 4)
    with pytest.raises(AttributeError):
        f(object())


BOXED = [
    (k.Int, 2**62), (k.Int, -1), (k.Float, -0.0), (k.Bool, False), (k.Complex, 1 - 2j), (k.NoneType, None),
    (k.Ellipsis_, ...), (k.NpBool, np.True_), (k.int8, np.int8(-5)), (k.uint64, np.uint64(2**64 - 1)),
    (k.float16, np.float16(0.1)), (k.float32, np.float32(0.1)), (k.float64, np.float64(0.1)),
    (k.complex64, np.complex64(1.5 + 2j)), (k.complex128, np.complex128(0.1j)), (k.Range, range(1, 10, 3)),
    (k.Slice(k.NoneType, k.Int, k.NoneType), slice(5)), (k.Tuple((k.Int, k.Float), Point), Point(1, 2.0)),
    (k.Tuple((k.Tuple(()), k.Str)), ((), "x")), (k.Singleton(math), math), (k.DType(k.int16), np.dtype("i2")),
    (k.Str, "text"), (k.Bytes, b"bytes"), (k.Float, float("nan")), (k.Float, 5e-324), (k.float32, np.float32(1e-45)),
    (k.float16, np.float16(6e-8)), (k.Float, float("-inf")), (k.uint8, np.uint8(200)), (k.int64, np.int64(-2**63)),
]


@pytest.mark.parametrize("t, value", BOXED, ids=lambda x: repr(x))
def test_constants_of_every_type(t, value):
    b = Builder([], t)
    x = b.const(t, value)
    if k.is_refcounted(t):
        b.op(memory.RETAIN, x)
    b.ret(x)
    f = compiled(b)
    for _ in range(3):
        found = f()
        assert type(found) is type(value) and repr(found) == repr(value)
    b = Builder([], k.Object)
    b.ret(b.op(pyobject.PY_BOX, b.const(t, value)))
    assert repr(compiled(b)()) == repr(value)


def test_types_that_cannot_leave():
    t = k.Struct("iterator", (("i", k.Int),))
    b = Builder([k.Int], t)
    b.ret(b.op(structure.STRUCT_MAKE, *b.params, type=t))
    with pytest.raises(NotBoxable):
        compiled(b)


def test_lists_written_out():
    t = k.Struct("list", (("0", k.Int), ("1", k.Float)))
    b = Builder([k.Int, k.Float], k.Object)
    b.ret(b.op(pyobject.PY_BOX, b.op(structure.STRUCT_MAKE, *b.params, type=t)))
    assert compiled(b)(1, 2.5) == [1, 2.5]


@pytest.mark.parametrize("t, value", BOXED, ids=lambda x: repr(x))
def test_boxing_leaks_nothing(t, value):
    b = Builder([], k.Object)
    b.ret(b.op(pyobject.PY_BOX, b.const(t, value)))
    f = compiled(b)
    held = next((x for x in f.artifact.objects.values() if type(x) is type(value)), None)
    counted = [x for x in (None, True, False, ..., np.True_, math, held) if x is not None or t is k.NoneType]
    before = [sys.getrefcount(x) for x in counted]
    for _ in range(1000):
        f()
    after = [sys.getrefcount(x) for x in counted]
    assert all(abs(x - y) < 100 for x, y in zip(before, after))
