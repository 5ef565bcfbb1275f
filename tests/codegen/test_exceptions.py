"""Exceptions: classes, texts, tracebacks, contexts and causes, handlers, and references that are released when a
function raises."""
import gc
import os
import sys
import traceback

import numpy as np
import pytest

from tests.codegen.build import Builder, compiled

from pyjitc.ops import arith, control, exceptions, memory, structure
from pyjitc.types import kinds as k

A1 = k.Array(k.float64, 1)


class Special(Exception):
    def __init__(self, *args):
        super().__init__(*args)
        self.extra = len(args)


def frames(error):
    return [(f.name, f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)][1:]


def throwing(cls, message):
    b = Builder([], None)
    b.line = 17
    b.end(exceptions.THROW, cls=cls, message=message)
    return compiled(b)


@pytest.mark.parametrize("cls", [ValueError, KeyError, ZeroDivisionError, StopIteration, Special, np.linalg.LinAlgError,
                                 UnicodeError])
@pytest.mark.parametrize("message",
                         ["plain", "", "100 % %d %s %%", "\u00fcber \u4e2d", "nul \0 inside", "surrogate \udc80"])
def test_throw(cls, message):
    f = throwing(cls, message)
    for _ in range(3):
        with pytest.raises(cls) as caught:
            f()
        assert (type(caught.value) is cls and caught.value.args == (message,)
                and frames(caught.value) == [("f", "made_by_hand.py", 17)])


def test_tracebacks_have_an_entry_for_every_compiled_frame():
    inner = Builder([k.Int], k.Int, "inner")
    inner.line = 30
    inner.ret(inner.op(arith.CHECK_NONZERO, inner.params[0], message="no zeros"))
    middle = Builder([k.Int], k.Int, "outer.<locals>.middle")
    middle.line = 41
    middle.ret(middle.invoke(inner, middle.params[0]))
    hidden = Builder([k.Int], k.Int, "hidden", library=True)
    hidden.ret(hidden.invoke(middle, hidden.params[0]))
    b = Builder([k.Int], k.Int)
    b.line = 12
    b.ret(b.invoke(hidden, b.params[0]))
    f = compiled(b, hidden, middle, inner)
    assert f(5) == 5
    with pytest.raises(ZeroDivisionError, match="^no zeros$") as caught:
        f(0)
    name = "made_by_hand.py"
    assert frames(caught.value) == [("f", name, 12), ("middle", name, 41), ("inner", name, 30)]


def catching(classes, body, result=k.Int):
    """A function of one int: try: body(b) except classes as e: return 1; an exception that does not match
    propagates."""
    b = Builder([k.Int], result)
    handler, matched, other = b.new("handler"), b.new("matched"), b.new("other")
    b.unwind = (handler, ())
    body(b)
    b.unwind = None
    b.at(handler)
    error = b.op(exceptions.EXC_FETCH)
    b.branch(b.op(exceptions.EXC_MATCH, error, classes=classes), matched, other)
    b.at(matched)
    b.op(memory.RELEASE, error)
    b.ret(b.int(1))
    b.at(other)
    b.end(control.RERAISE, error)
    b.last = None
    b.block.insts[-1].cleanup = (error,)
    return compiled(b)


def divide(b):
    b.op(arith.CHECK_NONZERO, b.params[0], message="zero")
    b.ret(b.int(0))


def test_handlers():
    f = catching((ZeroDivisionError,), divide)
    assert f(3) == 0 and f(0) == 1 and sys.exc_info() == (None, None, None)
    assert catching((KeyError, ArithmeticError), divide)(0) == 1
    assert catching((), divide)(3) == 0
    f = catching((KeyError, ValueError), divide)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError) as caught:
            f(0)
        assert frames(caught.value) == [("f", "made_by_hand.py", 11)] and caught.value.__context__ is None


def test_new_exceptions():
    b = Builder([k.Int, k.Str], None)
    error = b.op(exceptions.EXC_NEW, *b.params, cls=Special)
    b.end(exceptions.EXC_THROW, error)
    b.block.insts[-1].cleanup = (error,)
    f = compiled(b)
    text = "".join(["te", "xt"])
    before = sys.getrefcount(text)
    for _ in range(3):
        with pytest.raises(Special) as caught:
            f(70000, text)
        assert caught.value.args == (70000, text) and caught.value.extra == 2
        assert frames(caught.value) == [("f", "made_by_hand.py", 11)]
    del caught
    gc.collect()
    after = sys.getrefcount(text)
    assert after == before


def chained(cause=None, suppress=False):
    """try: 1/0 except: raise ValueError("second") [from cause]"""
    b = Builder([], None)
    handler = b.new("handler")
    b.unwind = (handler, ())
    b.end(exceptions.THROW, cls=ZeroDivisionError, message="first")
    b.unwind = None
    b.at(handler)
    b.line = 20
    first = b.op(exceptions.EXC_FETCH)
    previous = b.op(exceptions.EXC_PUSH, first)
    cleanup = b.new("cleanup")
    b.unwind = (cleanup, ())
    second = b.op(exceptions.EXC_NEW, b.const(k.Str, "second"), cls=ValueError)
    extra = [first] if cause == "first" else [b.const(k.NoneType, None)] if suppress else []
    b.end(exceptions.EXC_THROW, second, *extra)
    b.block.insts[-1].cleanup = (second,)
    b.unwind = None
    b.at(cleanup)
    third = b.op(exceptions.EXC_FETCH)
    b.op(exceptions.EXC_POP, previous)
    b.op(memory.RELEASE, previous)
    b.op(memory.RELEASE, first)
    b.end(control.RERAISE, third)
    b.block.insts[-1].cleanup = (third,)
    return compiled(b)


def test_context_and_cause():
    for f, cause, suppressed in ((chained(), False, False), (chained("first"), True, True),
                                 (chained(suppress=True), False, True)):
        for _ in range(3):
            with pytest.raises(ValueError, match="^second$") as caught:
                f()
            error = caught.value
            assert type(error.__context__) is ZeroDivisionError and error.__suppress_context__ is suppressed
            assert error.__cause__ is (error.__context__ if cause else None)
            assert frames(error) == [("f", "made_by_hand.py", 20)] and error.__context__.__context__ is None
            assert traceback.extract_tb(error.__context__.__traceback__)[0].lineno == 11
            assert sys.exc_info() == (None, None, None)


def test_the_callers_exception_is_the_context_and_stays_handled():
    f = chained()
    try:
        raise KeyError("outer")
    except KeyError as outer:
        with pytest.raises(ValueError) as caught:
            f()
        assert caught.value.__context__.__context__ is outer and sys.exc_info()[1] is outer
        with pytest.raises(IndexError) as caught:
            throwing(IndexError, "x")()
        assert caught.value.__context__ is outer


def test_bare_raise():
    b = Builder([], None)
    b.line = 25
    b.end(control.RERAISE)
    f = compiled(b)
    with pytest.raises(RuntimeError, match="^No active exception to reraise$"):
        f()
    try:
        raise KeyError("x")
    except KeyError as outer:
        with pytest.raises(KeyError) as caught:
            f()
        assert caught.value is outer and outer.__context__ is None


def test_cleanup_releases_what_is_owned():
    b = Builder([k.Int], k.Int)
    a = b.op(memory.ARRAY_NEW, b.int(50_000), type=A1, zero=True)
    text = b.const(k.Str, "owned text")
    b.op(memory.RETAIN, text)
    checked = b.op(arith.CHECK_NONZERO, b.params[0], message="zero")
    b.last.cleanup = (a, text)
    b.op(memory.RELEASE, a)
    b.op(memory.RELEASE, text)
    b.ret(checked)
    f = compiled(b)
    held = f.artifact.objects.values()
    held = next(x for x in held if x == "owned text")
    before = sys.getrefcount(held)

    def rss():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    start = rss()
    for _ in range(300):
        assert f(1) == 1
        with pytest.raises(ZeroDivisionError):
            f(0)
    after = sys.getrefcount(held)
    assert after == before and rss() - start < 20_000_000


def test_values_reach_the_handler():
    b = Builder([k.Int], k.Int)
    handler = b.new("handler", [k.Int, k.Tuple((k.Float, k.Int))])
    x = b.op(arith.IADD, b.params[0], b.int(1))
    pair = b.op(structure.TUPLE_MAKE, b.const(k.Float, 2.5), x, cls=None)
    b.unwind = (handler, (x, pair))
    b.op(arith.CHECK_NONZERO, b.params[0], message="zero")
    b.op(arith.IADD_CK, b.params[0], b.int(2**63 - 2))
    b.ret(b.int(0))
    b.unwind = None
    n, pair = b.at(handler)
    error = b.op(exceptions.EXC_FETCH)
    b.op(memory.RELEASE, error)
    b.ret(b.op(arith.IADD, n, b.op(structure.TUPLE_GET, pair, index=1)))
    f = compiled(b)
    assert [f(n) for n in (1, 0, 2)] == [0, 2, 6]


def test_a_million_errors_leak_nothing():
    f = throwing(ValueError, "again")
    def many(n):
        for _ in range(n):
            try:
                f()
            except ValueError:
                pass
    many(1000)
    gc.collect()
    before = len(gc.get_objects())
    many(20_000)
    gc.collect()
    assert len(gc.get_objects()) - before < 20
