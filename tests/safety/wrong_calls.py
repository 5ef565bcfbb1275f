"""Random calls of compiled functions with invalid arguments. test_wrong_calls.py runs them in processes of their own,
since none of them may end the process.

    python -m tests.safety.wrong_calls SEED COUNT [FILE]

A call must end in an exception that a caller can expect, or do what the interpreter does with the same arguments. FILE
always names the call in progress.
"""
from __future__ import annotations

import array
import datetime
import decimal
import enum
import fractions
import random
import sys
from collections import namedtuple

import numpy as np

from pyjitc import njit
from tests.oracle import difference, plain


class Hostile(Exception):
    """The exception that hostile objects raise."""


FINE = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, MemoryError, RecursionError, Hostile)


@njit
def get(a, i):
    return a[i]


@njit
def put(a, i, v):
    a[i] = v
    return a[i]


@njit
def add_into(a, b):
    for i in range(min(len(a), 64)):
        a[i] += b[i]


@njit
def add(x, y):
    return x + y


@njit
def divide(x, y):
    return x / y, x // y, x % y


@njit
def compare(x, y):
    if x < y:
        return 1
    return 0


@njit
def attributes(a):
    return a.shape, a.ndim, a.size, a.strides, a.itemsize


@njit
def views(a, start, step):
    return a[start::step]


@njit
def swap(m, i, j):
    m[i, j] = m[j, i]
    return m[i, j]


@njit
def pick(t, i):
    return t[0], t[i]


@njit
def make(n, v):
    return np.full(min(n, 1000), v)


@njit
def keyword(x, *, k=1, limit=3.0):
    return x * k if k < limit else x


@njit
def walk(a):
    s = 0.0
    n = 0
    for x in a:
        n += 1
        s += x
        if s > 100.0:
            break
    if n == 0:
        return None
    return s


@njit
def truth(x):
    if x:
        return not x
    return x


@njit
def counting(n, m):
    total = 0
    for i in range(n, m, 3):
        total += i
        if i > 20:
            return total
    return -total


FUNCTIONS = (get, put, add_into, add, divide, compare, attributes, views, swap, pick, make, keyword, walk, truth,
             counting)


class Raises:
    """An object whose special methods all raise."""

    def __getattr__(self, name):
        raise Hostile(f"asked for {name}")

    def __eq__(self, other):
        raise Hostile("asked for equality")

    __hash__ = None


class Lies:
    """An object whose `__class__` is ndarray."""

    __class__ = np.ndarray
    __array_interface__ = {"shape": (10 ** 9,), "typestr": "<f8", "data": (8, False), "version": 3}
    shape = (3,)
    ndim = 1


class LiesByProperty:
    @property
    def __class__(self):
        raise Hostile("no class")


class BadIndex:
    def __index__(self):
        raise Hostile("no index")

    def __float__(self):
        raise Hostile("no float")

    def __bool__(self):
        raise Hostile("no truth")

    def __len__(self):
        return -5


class MyInt(int):
    def __add__(self, other):
        return "mine"


class MyFloat(float):
    pass


class MyTuple(tuple):
    pass


class MyArray(np.ndarray):
    def __getitem__(self, key):
        return "mine"


class Meta(type):
    def __getattribute__(cls, name):
        if name in ("__mro__", "__name__", "__module__", "__qualname__"):
            raise Hostile(f"asked the class for {name}")
        return super().__getattribute__(name)


class Strange(metaclass=Meta):
    pass


class Colour(enum.Enum):
    RED = 1


class Number(enum.IntEnum):
    ONE = 1


Point = namedtuple("Point", "x y")


def unaligned(dtype=np.float64):
    size = np.dtype(dtype).itemsize
    raw = np.zeros(6 * size + 1, np.uint8)
    return raw[1:].view(dtype)


def readonly():
    a = np.arange(6.0)
    a.flags.writeable = False
    return a


def bits(dtype):
    """An array of any plain dtype."""
    return lambda: np.arange(6).astype(dtype)


ARRAY_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
               "float64", "complex64", "complex128", "bool", "longdouble", "clongdouble", "object", "S3", "U3",
               "datetime64[s]", "timedelta64[s]", ">f8", ">i4", ">c16", "longlong", "ulonglong", "intc")

ARRAYS = [bits(t) for t in ARRAY_TYPES] + [
    readonly, unaligned, lambda: unaligned(np.int32), lambda: unaligned(np.complex128),
    lambda: np.zeros(0), lambda: np.zeros((0, 3)), lambda: np.zeros((3, 0)), lambda: np.array(2.5), lambda: np.array(7),
    lambda: np.arange(12.0).reshape(3, 4), lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    lambda: np.arange(24)[::-2], lambda: np.arange(24.0).reshape(4, 6)[::2, ::-3], lambda: np.zeros((2, 3, 4)),
    lambda: np.zeros((1,) * 32), lambda: np.broadcast_to(np.float64(1), (2 ** 40,)),
    lambda: np.broadcast_to(np.int64(1), (2 ** 20, 2 ** 20)),
    lambda: np.lib.stride_tricks.as_strided(np.zeros(8), (5, 4), (8, 8)),
    lambda: np.zeros(3, [("a", "i4"), ("b", "f8")]), lambda: np.zeros(3, [("a", "i4"), ("b", "f8")])["b"],
    lambda: np.zeros(3, "V5"), lambda: np.matrix([[1, 2], [3, 4]]), lambda: np.ma.array([1.0, 2.0], mask=[0, 1]),
    lambda: np.zeros(4).view(MyArray), lambda: np.zeros(3, np.rec.format_parser(["i4"], ["x"], None).dtype),
    lambda: np.frombuffer(b"\1\2\3\4\5\6\7\10"), lambda: np.arange(5.0)[2:2],
]

SCALARS = [lambda v=v: v for v in (
    0, 1, -1, 2, 5, 2 ** 31, 2 ** 62, 2 ** 63 - 1, -2 ** 63, 2 ** 63, -2 ** 63 - 1, 2 ** 64, 10 ** 100,
    0.0, -0.0, 1.5, -2.5, 1e308, 5e-324, float("nan"), float("inf"), True, False, None, ..., 1j, 0j, "", "text",
    "\ud800", b"", b"bytes", slice(1, 3), slice(None), range(3), (), (1,), (1, 2.5), ((1, 2), 3.0), (np.zeros, 1),
    Point(1, 2.0),
    np.float64(2.5), np.float32(1.5), np.float16(0.5), np.int8(-3), np.uint8(250), np.int64(-2), np.uint64(2 ** 64 - 1),
    np.bool_(True), np.complex64(1j), np.complex128(2), np.longdouble(1), np.datetime64("2020-01-01"),
    np.timedelta64(3, "s"), np.str_("text"), np.bytes_(b"b"), np.float32("nan"), np.void(b"abc"))]

CLASSES = Raises, Lies, LiesByProperty, BadIndex, Strange, list, dict, set, object, bytearray
OBJECTS = [lambda c=c: c() for c in CLASSES] + [
    lambda v=v: v for v in (
        MyInt(3), MyFloat(2.5), MyTuple((1, 2)), Raises, Strange, Colour.RED, Number.ONE, int, float, np.float64, np,
        np.sin, len, print, lambda x: x, decimal.Decimal("1.5"), fractions.Fraction(1, 3), datetime.date(2020, 1, 1),
        sys, type, NotImplemented, array.array("d", [1.0, 2.0]), memoryview(b"abc"), [1, 2, 3], {"a": 1}, {1, 2},
        frozenset((1,)), (1, [2]), (Colour.RED, 1), (10 ** 30, 1), np.dtype("f8"), get, (1,) * 300)]


def overlapping():
    base = np.arange(12.0)
    return random.choice([(base[:-2], base[2:]), (base[2:], base[:-2]), (base, base), (base[::-1], base),
                          (base[::2], base[1::2]), (base, base.view(np.int64)), (base[:4], base)])


def arguments(function, seed):
    """(args, kwargs), the same for the same seed."""
    random.seed(seed)
    count = plain(function).__code__.co_argcount
    count = max(0, count + random.choice((0,) * 12 + (-1, 1, 2, 5)))
    kinds = random.choices((ARRAYS, SCALARS, OBJECTS), (5, 5, 1), k=count)
    args = [random.choice(kind)() for kind in kinds]
    if count and random.random() < 0.5:
        args[0] = random.choice(ARRAYS)()
    if count >= 2 and random.random() < 0.2:
        args[:2] = overlapping()
    names = plain(function).__code__.co_varnames[:count] + ("k", "limit", "nosuch", "self")
    kwargs = {}
    if random.random() < 0.15:
        for name in random.sample(names, random.randint(1, 2)):
            kwargs[name] = random.choice(SCALARS)()
    return args, kwargs


def once(function, seed) -> str:
    """'' or a text about what went wrong in one call. Arguments are made twice: they are not copied, so that views stay
    views."""
    def call(f):
        args, kwargs = arguments(function, seed)
        arrays = [a for a in args if type(a) is np.ndarray and a.size < 1000]
        try:
            return "returns", f(*args, **kwargs), arrays
        except Exception as error:
            return "raises", error, arrays

    compiled = call(function)
    if compiled[0] == "raises":
        error = compiled[1]
        if isinstance(error, FINE) and not isinstance(error, UnicodeError):
            return ""
        expected = call(plain(function))
        if expected[0] == "raises" and type(expected[1]) is type(error):
            return ""
        return f"raises {type(error).__module__}.{type(error).__qualname__}: {error}"
    expected = call(plain(function))
    try:
        wrong = difference((*expected[:2], tuple(expected[2]), ""), (*compiled[:2], tuple(compiled[2]), ""))
    except MemoryError:  # a view of an array that is huge by zero strides
        return ""
    except Exception as error:
        return f"results cannot be compared: {type(error).__name__}: {error}"
    return wrong


def main(seed: int, count: int, progress: str | None) -> int:
    failures = 0
    np.seterr(all="ignore")
    for k in range(count):
        function = FUNCTIONS[(seed + k) % len(FUNCTIONS)]
        one = seed * 1_000_003 + k
        if progress:
            with open(progress, "w") as file:
                file.write(f"{plain(function).__name__} with arguments of seed {one}")
        wrong = once(function, one)
        if wrong:
            failures += 1
            print(f"{plain(function).__name__}, seed {one}: {shown(function, one)}: {wrong}"[:600], flush=True)
    print(f"{count} calls, {failures} wrong")
    return 1 if failures else 0


def shown(function, seed) -> str:
    args, kwargs = arguments(function, seed)

    def text(value):
        try:
            return f"{value!r} of {value.dtype}{value.shape}" if type(value) is np.ndarray else repr(value)
        except Exception:
            return object.__repr__(value)

    return f"({', '.join(map(text, args))}; {kwargs})"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None))
