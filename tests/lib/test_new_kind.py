"""A kind of values that is declared in this file alone: an interval of two floats. `IntervalType` declares its
representation; the methods of the class and `Intervals` define its meaning. Every use is compared with the interpreter
and the class.
"""
import collections
import copy
import math
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.infer.constants import constant
from pyjitc.infer.meaning import Apply, CallValue
from pyjitc.lib.protocol import declare
from pyjitc.lib.py.instances import OfClass
from pyjitc.ops.arith import FGT
from pyjitc.ops.structure import STRUCT_GET
from pyjitc.types import kinds
from tests.oracle import agree


class Interval:
    def __init__(self, lo, hi=math.inf):
        self.lo, self.hi = lo, hi

    def __add__(self, other):
        if isinstance(other, Interval):
            return Interval(self.lo + other.lo, self.hi + other.hi)
        if isinstance(other, (int, float)):
            return Interval(self.lo + other, self.hi + other)
        return NotImplemented

    __radd__ = __add__

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return other + -self

    def __mul__(self, other):
        if not isinstance(other, (Interval, float)):
            return NotImplemented
        a, b = (other, other) if isinstance(other, float) else (other.lo, other.hi)
        ends = self.lo * a, self.lo * b, self.hi * a, self.hi * b
        return Interval(min(ends), max(ends))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        if other == 0.0:
            raise ZeroDivisionError("an interval by zero")
        return self * (1.0 / other)

    def __neg__(self):
        return Interval(-self.hi, -self.lo)

    def __abs__(self):
        return max(abs(self.lo), abs(self.hi))

    def __float__(self):
        return self.middle

    def __eq__(self, other):
        return isinstance(other, Interval) and self.lo == other.lo and self.hi == other.hi

    def __lt__(self, other):
        return self.hi < other.lo if isinstance(other, Interval) else NotImplemented

    def __bool__(self):
        return self.hi > self.lo

    def __iter__(self):
        yield self.lo
        yield self.hi

    def __len__(self):
        return 2

    def __getitem__(self, i):
        if i not in (0, 1):
            raise IndexError("an interval has two ends")
        return self.hi if i else self.lo

    def __contains__(self, x):
        return self.lo <= x <= self.hi

    def __repr__(self):
        return f"[{self.lo}, {self.hi}]"

    @property
    def middle(self):
        return (self.lo + self.hi) / 2

    def width(self, scale=1.0):
        return (self.hi - self.lo) * scale

    def __array_ufunc__(self, ufunc, method, *operands):
        return squared(self) if ufunc is np.square else NotImplemented

    @staticmethod
    def around(x, radius):
        return Interval(x - radius, x + radius)

    @classmethod
    def unit(cls):
        return cls(0.0, 1.0)


def squared(x):
    return Interval(0.0 if 0.0 in x else min(x.lo ** 2, x.hi ** 2), max(x.lo ** 2, x.hi ** 2))


class IntervalType(kinds.Attributes):
    __slots__ = fields = ("lo", "hi")
    python_class = Interval


class Intervals(OfClass):
    """Meanings in addition to the methods of the class: a copy of a value is the value, np.square has a meaning of its
    own, and the truth of a value needs no call."""

    functions = {**OfClass.functions, copy.copy: lambda args, kwargs: args[0],
                 np.square: lambda args, kwargs: CallValue(constant(squared), *args)}

    def truth(self, x):
        return Apply(FGT, Apply(STRUCT_GET, x, field="hi"), Apply(STRUCT_GET, x, field="lo"))


declare(IntervalType, Intervals())

Named = collections.namedtuple("Named", "x y")
ONE, TWO, POINT, WIDE = Interval(1.0, 2.5), Interval(2.0, 3.0), Interval(1.5, 1.5), Interval(-3.0, 8.0)


def arithmetic(x, y):
    z = x + y
    z += 1.0
    z -= y
    return z, x - y, 2.0 - x, x * y, 2.0 * x, x / 4.0, -x, abs(x), 1 + x, x + True


def attributes(x, y):
    made = Interval.around(y.lo, 0.5)
    return (x.lo, x.hi, x.middle, x.width(), x.width(2.0), y.width(scale=3.0), made, x.unit(), Interval(1.0),
            Interval(hi=y.hi, lo=0.0), (x + y).width(), getattr(x, "hi"), float(y), np.square(made), copy.copy(made),
            math.sqrt(abs(y)))


def comparison(x, y):
    return x == y, x != y, x < y, y > x, x == 1.0, 1.0 != x, (x, 1) == (x, 1), (x, y) == (y, x), x in (y, x), x is None


def truth(x, y):
    if not x or y and len(x) > 3:
        return 1
    return 2 if x and bool(y) else 3


def iteration(x, y):
    total = 0.0
    for end in x:
        total += end
    lo, hi = y
    return total, lo, hi, sum(y), max(x), min(y), sum(
        e * k for k, e in enumerate(x)), sum(a * b for a, b in zip(x, y)), 2.0 in x, math.inf in y, x[0], y[1]


def text(x, y):
    print(x, (y, 1))
    return str(x), repr(y), f"{x} and {y!r:>12}", "%s" % (x,)


def tuples(x, y):
    pair = (x, y)
    first, second = pair
    named = Named(first, (second, 1))
    a, (b, c) = named
    return pair[0], pair[-1], named, named.x.width(), a + b, c, (*pair, 0), len(pair), pair + (x,)


def unions(x, y):
    one = x if x else 1.0
    two = None if y else y
    three = (x, 1) if x < y else y
    total = one + 2.0
    if two is not None:
        total = total + two
    return one, two, three, total, one * 2.0


def joins(x, y):
    kept, best, last = x, None, 0.0
    for i in range(5):
        kept = kept + y if i % 2 else kept * 0.5
        if best is None or best < kept:
            best = kept
        last = kept if i == 3 else last
    while kept:
        kept = Interval(kept.lo + 1.0, kept.hi)
    return kept, best, last


def exceptions(x, y):
    done = x
    try:
        done = done + y
        done = done / (0.0 if x < y else 2.0)
    except ZeroDivisionError as error:
        return done, str(error)
    finally:
        done = done * 2.0
    try:
        return done, x[2 if x else 0]
    except IndexError:
        return done, y
    return done


def raises(x, y):
    return x / y.width(), (x + y)[3]


def steps(x, y):
    while x < y:
        yield x
        x = x + 1.0
    yield -x


def generators(x, y):
    total = Interval(0.0, 0.0)
    for step in steps(x, y):
        total += step
    it = steps(x, y)
    first = next(it)
    return total, first, next(it, None), sum(s.width() for s in (x, y)), max(s.middle for s in steps(x, y))


def closures(x, y):
    def moved(by):
        return x + by

    x = x + 1.0
    return moved(2.0), moved(y), (lambda z=y: z.width())(), all(map(bool, (x, y)))


def patterns(x, y):
    kinds = 0
    for one in (x, 1.0, (y, y)):
        match one:
            case Interval(lo=1.0, hi=hi):
                kinds += hi
            case (Interval(), Interval() as second):
                kinds += second.lo
            case float():
                kinds += 10.0
    return kinds, isinstance(x, Interval), isinstance(x, tuple), type(y) is Interval


@pytest.mark.parametrize("function", [arithmetic, attributes, comparison, truth, iteration, text, tuples, unions, joins,
                                      exceptions, raises, generators, closures, patterns])
def test_is_as_in_the_interpreter(function):
    compiled = None
    for x in (ONE, TWO, POINT, WIDE):
        for y in (ONE, TWO, POINT, WIDE):
            compiled = agree(function, x, y, compiled=compiled)
    assert compiled.signatures == [(FLOATS, FLOATS)], "the interpreter was not left to do it"


FLOATS = IntervalType(kinds.Float, kinds.Float)


@pytest.mark.parametrize("function, message, hint", [
    (lambda x: x + "a", "unsupported operand type(s) for +: 'Interval' and 'str'", ""),
    (lambda x: x * None, "unsupported operand type(s) for *: 'Interval' and 'NoneType'", ""),
    (lambda x: x @ x, "unsupported operand type(s) for @: 'Interval' and 'Interval'", ""),
    (lambda x: ~x, "bad operand type for unary ~: 'Interval'", ""),
    (lambda x: x < 1.0, "'<' not supported between instances of 'Interval' and 'float'", ""),
    (lambda x: x.widht(), "'Interval' object has no attribute 'widht'", "did you mean 'width'?"),
    (lambda x: x.hii, "'Interval' object has no attribute 'hii'", "did you mean 'hi'?"),
    (lambda x: x(), "'Interval' object is not callable", ""),
    (lambda x: Interval(), "Interval(): missing a required argument: 'lo'", ""),
    (lambda x: int(x), "int() of a 'Interval' object is not compiled", "define __int__ in its class"),
])
def test_messages(function, message, hint):
    with pytest.raises((TypeError, AttributeError)) as caught:
        njit(function)(ONE)
    assert message in str(caught.value) and hint in str(caught.value)


def test_attributes_are_not_assigned():
    def f(x):
        x.lo = 1.0
        return x

    with pytest.raises(TypeError, match="attributes of 'Interval' objects cannot be assigned in compiled code"):
        njit(f)(ONE)


def test_a_changed_method_is_compiled_again(monkeypatch):
    @njit
    def f(x):
        return x.width()

    assert f(ONE) == 1.5
    monkeypatch.setattr(Interval, "width", lambda self: 7.0)
    assert f(ONE) == 7.0


def test_inspect_types(capsys):
    compiled = njit(arithmetic)
    compiled(ONE, TWO)
    compiled.inspect_types()
    assert "Interval(float, float)" in capsys.readouterr().out


PROGRAM = """
    from pyjitc import njit
    from pyjitc.types import kinds

    class Interval:
        def __init__(self, lo, hi):
            self.lo, self.hi = lo, hi

        def __add__(self, other):
            return Interval(self.lo + other.lo, self.hi + other.hi)

        def width(self):
            return self.hi - self.lo + %s

    class IntervalType(kinds.Attributes):
        __slots__ = fields = ("lo", "hi")
        python_class = Interval

    @njit(cache=True)
    def total(x, n):
        for i in range(n):
            x = x + x
        return x, x.width()

    (x, w) = total(Interval(1.0, 2.5), 3)
    print(x.lo, x.hi, w, total.stats["disk"], total.stats["written"])
"""


def test_disk_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path / "cache"))
    program = tmp_path / "program.py"

    def run(more):
        program.write_text(textwrap.dedent(PROGRAM % more))
        return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout.split()

    assert run("0.0") == "8.0 20.0 12.0 0 1".split()
    assert run("0.0") == "8.0 20.0 12.0 1 0".split()
    assert run("1.0") == "8.0 20.0 13.0 0 1".split(), "the body of a method is part of the key"
