"""Tuples, named tuples, ranges, slices, None, unions, narrowing, enums, dtypes, modules, constants.

PYTEST_DONT_REWRITE: the asserts in the functions have to be compiled unchanged."""
import cmath
import collections
import enum
import math
import math as mathematics
import os
import os.path
import sys
import typing
from math import pi, sqrt

import numpy as np
import pytest

from pyjitc import njit
from tests.language.corpus import check, corpus, each

case, CASES = corpus()

Point = collections.namedtuple("Point", "x y")
Wide = collections.namedtuple("Wide", "a b c", defaults=(2, 3.5))


class Typed(typing.NamedTuple):
    name: int
    value: float = 1.5


# Tuples

@case((1, 2.5))
def tuple_basics(a, b):
    t = (a, b, (a, b), None, "text", True)
    return t, len(t), t[0], t[-1], t[2][1], t[1:3], t[::-1], t[::2], t[-2:], ()


@case((0,), (2,), (-1,), (-3,), (3,), (-4,))
def tuple_run_time_index(i):
    return (10, 20, 30)[i]


@case((0,), (2,), (-3,), (3,), (-4,))
def list_run_time_index(i):
    return [10, 20, 30][i]


@case((2.5,))
def list_slices(x):
    a = [1, x, None]
    return a[1:], a[::-1], a[:0], a[-2:][0], len(a[:2])


@case((2.5,))
def list_index_beyond_its_end(x):
    return [1, x][2]


@case((0,), (1,), (2,), (5,))
def tuple_run_time_index_unlike(i):
    t = (1, 2.5, True)
    return t[i]


@case((0,), (1,))
def tuple_run_time_index_nested(i):
    t = ((1, 2.0), (3, 4.0))
    return t[i][0] + t[i][1], t[i]


@case((1, 2.5))
def tuple_concatenate(a, b):
    return (a,) + (b, a) + (), (a, b) * 2, 3 * (a,), (a,) * 0, (a, b) * -1


@case((1, 2), (2, 1), (1, 1), (1, 1.0))
def tuple_compare(a, b):
    s, t = (a, b), (b, a)
    return s < t, s <= t, s == t, s != t, s >= t, s > t, (a,) < (a, b), (a, b) == (a,), () < (a,), () == ()


@case((1,), (2,), (5,), (2.0,), (True,))
def tuple_contains(x):
    return x in (1, 2, 3), x not in (1, 2, 3), x in (), x in (None, 2.0), x in (1.5, "a", 5)


@case((1,), (299,), (300,))
def tuple_long(x):
    t = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9) * 15 + (299,)
    u = t[1:] + (0,)
    return x in t, t == u, t < u, t.count(x), len(t), sum(t), max(t), t[x % 151]


@case((1,), (7,))
def tuple_methods(x):
    t = (1, 2, 1)
    return t.count(x), t.index(2), t.index(x)


@case((3,))
def tuple_iterate(n):
    total = 0.0
    for x in (1, 2.5, n, True):
        total += x
    return total


@case((3,))
def tuple_iterate_nested(n):
    total = 0
    for a, (b, c) in ((1, (2, 3)), (4, (5, n))):
        total += a * b * c
    return total


@case((3,))
def tuple_iterate_unlike(n):
    count = 0
    for x in (1, None, 2.5, (n, n)):
        if x is None:
            count += 100
        elif isinstance(x, tuple):
            count += x[0]
        else:
            count += int(x)
    return count


@case(((),), ((1,),), ((1, 2.5, 3),))
def tuple_argument(t):
    total = 0
    for x in t:
        total += x
    return total, len(t), bool(t)


@case((3,))
def tuple_accumulates(n):
    t = ()
    t = t + (n,)
    t = t + (2.5,)
    return t


@case((3,))
def tuple_in_a_loop(n):
    state = (0, 1)
    for _ in range(n):
        state = (state[1], state[0] + state[1])
    return state


@case((3,))
def tuple_loop_changes_type(n):
    state = (0, 1)
    for _ in range(n):
        state = (state[1], state[0] + 0.5)
    return state


@case(((3, 1, 2),), ((2.5, 1),))
def tuple_builtins(t):
    return min(t), max(t), sum(t), any(t), all(t), len(t), tuple(t), sum(t, 10)


@case((Point(1, 2.5),), (Point(3, 4),))
def named_tuple(p):
    return p, p.x, p[1], p.x + p.y, len(p), p == (1, 2.5), p[:1], p + (1,)


@case((3, 4.5))
def named_tuple_made(a, b):
    p = Point(a, b)
    q = Point(y=a, x=b)
    x, y = q
    return p, q, x - y, Wide(a), Wide(a, b), Wide(1, c=a), Typed(a), Typed(a, b)


@case((Point(1, Point(2, 3)),))
def named_tuple_nested(p):
    return p.y.y, p.y, p.y._replace if False else 0


@case((3,))
def named_tuple_in_loop(n):
    p = Point(0.0, 1.0)
    for i in range(n):
        p = Point(p.y, p.x + i)
    return p


@case((3, 4))
def named_tuple_compare(a, b):
    return Point(a, b) == Point(a, b), Point(a, b) < Point(b, a), (a, b) == Point(a, b), a in Point(a, b)


# Ranges and slices

@case((0, 10, 3), (10, 0, -3), (0, 0, 1), (5, 6, 7))
def range_object(a, b, c):
    r = range(a, b, c)
    return len(r), r.start, r.stop, r.step, bool(r), a in r, 3 in r, 4 in r, b in r


@case((0,), (2,), (-1,), (9,))
def range_index(i):
    r = range(10, 40, 7)
    return r[i], r[-1]


@case((10,), (0,))
def range_equality(n):
    return (range(n) == range(0, n, 1), range(n) == range(n + 1), range(0, n, 2) == range(0, n + 1, 2),
            range(n) != range(n))


@case((5,), (0,))
def range_reversed(n):
    out = 0
    for i in reversed(range(n)):
        out = out * 10 + i
    for i in reversed(range(0, n, 3)):
        out = out * 10 + i
    return out


@case((5,))
def range_passed(n):
    def total(r):
        s = 0
        for i in r:
            s += i
        return s

    r = range(n)
    return total(r), total(r), total(range(1, n, 2)), sum(r), max(r), min(r)


@case((0,), (3,))
def range_step_zero(n):
    return len(range(0, 10, n))


@case((5,))
def range_attribute(n):
    return range(n).start + range(2, n).start + range(n, 0, -1).step


ROUNDS = range(2, 11, 3)


@case((4,))
def range_outside(n):
    s = 0
    for i in ROUNDS:
        s = s * 10 + i
    return s, ROUNDS, len(ROUNDS), n in ROUNDS, ROUNDS[-1]


@case((1, 4), (-3, 2))
def slice_values(a, b):
    s = slice(a, b)
    t = slice(a)
    u = slice(a, None, b)
    return s.start, s.stop, s.step, t.stop, t.start, u.step


@case((np.arange(10), 2, 7), (np.arange(10), -4, 20))
def slice_applied(a, i, j):
    s = slice(i, j)
    b = a[s]
    return len(b), b[0], len(a[slice(None, None, 2)]), len(a[slice(j)])


# None, unions, narrowing

@case((None,), (3,), (2.5,))
def optional_argument(x):
    if x is None:
        return 0
    return x + 1


@case((3,), (-3,))
def optional_local(x):
    y = None
    if x > 0:
        y = x
    if y is not None:
        return y * 2
    return y


@case((3,), (-3,))
def optional_equality(x):
    y = x if x > 0 else None
    return y == None, y != None, y is None, y == 3  # noqa: E711


@case((3,), (-3,))
def optional_truth(x):
    y = x if x > 0 else None
    if not y:
        return "nothing"
    return y + 1


@case((3,), (-3,), (0,))
def optional_and(x):
    y = x if x >= 0 else None
    if y is not None and y > 1:
        return y
    if y is None or y < 1:
        return -1
    return 100


@case((3,), (-3,))
def optional_early_return(x):
    y = None if x < 0 else (x, 2.5)
    if y is None:
        return 0.0
    a, b = y
    return a + b


@case((3,), (-3,))
def optional_walrus(x):
    def find(v):
        if v > 0:
            return v * 2
        return None

    if (r := find(x)) is not None:
        return r + 1
    return -1


@case((3,), (0,))
def optional_in_loop(n):
    best = None
    for i in range(n):
        v = (i * 7) % 5
        if best is None or v > best:
            best = v
    return best


@case((3,), (-3,))
def optional_misused(x):
    y = x if x > 0 else None
    return y + 1


@case((3,), (-3,))
def union_int_float(x):
    y = x if x > 0 else 0.5
    z = y + 1
    return z, y * y, -y, y > 0.25, abs(y), int(y), float(y)


@case((3,), (-3,))
def union_loop(x):
    y = x if x > 0 else 0.5
    total = 0.0
    for i in range(3):
        total += y * i
    return total


@case((3,), (-3,))
def union_of_two(x):
    a = x if x > 0 else 0.5
    b = 2 if x < 0 else 1.5
    return a + b, a * b, a < b, (a, b)


@case((3,), (-3,), (0,))
def union_of_three(x):
    y = 1 if x > 0 else 2.5 if x < 0 else None
    if y is None:
        return -1
    return y + 1


@case((3,), (-3,))
def union_with_tuple(x):
    y = (x, x) if x > 0 else x
    if isinstance(y, tuple):
        return y[0] + y[1]
    return y * 100


@case((3,), (-3,))
def union_of_tuples(x):
    y = (x, 1) if x > 0 else (x, 2, 3)
    total = 0
    for v in y:
        total += v
    return total, len(y), y


@case((3,), (-3,))
def union_passed(x):
    def inc(v):
        return v + 1

    return inc(x if x > 0 else 0.5)


@case((3,), (-3,))
def union_passed_and_narrowed(x):
    def width(v):
        if v is None:
            return 0
        return v + 1

    return width(x if x > 0 else None)


@case((3,), (-3,))
def union_with_bool(x):
    y = x if x > 0 else True
    return y + 1, isinstance(y, bool), isinstance(y, int), y is True


@case((3,), (-3,))
def union_string(x):
    y = "text" if x > 0 else x
    return y


@case((3,), (2.5,), (True,), (None,), ((1, 2),), (np.float64(2.5),), (np.int32(3),), (np.zeros(2),), (2j,))
def isinstance_chain(x):
    if isinstance(x, bool):
        return 1
    elif isinstance(x, int):
        return 2
    elif isinstance(x, float):
        return 3
    elif isinstance(x, (complex, tuple)):
        return 4
    elif x is None:
        return 5
    elif isinstance(x, np.ndarray):
        return 6
    return 7


@case((3,), (-3,), (0,))
def isinstance_narrows(x):
    y = x if x > 0 else 2.5 if x < 0 else (1, 2)
    if isinstance(y, tuple):
        return len(y)
    if not isinstance(y, float):
        return y << 2
    return y.is_integer()


@case((3,), (-3,), (0,))
def isinstance_and(x):
    y = x if x > 0 else 2.5 if x < 0 else None
    if isinstance(y, int) and y > 2:
        return y | 16
    if isinstance(y, (int, float)) and not isinstance(y, int):
        return y * 2
    return None


@case((3,), (-3,))
def isinstance_stored(x):
    y = x if x > 0 else None
    known = y is not None
    if known:
        return y + 1
    return 0


@case((3,), (-3,))
def isinstance_assert(x):
    y = x if x > 0 else None
    assert y is not None, "nothing"
    return y + 1


@case((3,), (-3,))
def narrow_in_conditional_expression(x):
    y = x if x > 0 else None
    return y + 1 if y is not None else 0


@case((3,), (-3,))
def narrow_with_continue(x):
    total = 0
    for i in range(4):
        y = i if i % 2 else None
        if y is None:
            continue
        total += y * x
    return total


@case((3,), (2.5,))
def type_of(x):
    return type(x) is int, type(x) == float, type(x) is type(1)


@case((5,), (-5,))
def variable_changes_type(x):
    y = x
    y = y * 0.5
    y = (y, x)
    y = y[0] > 0
    return y


ONE, EMPTY = 1, ()


@case((3,), (3, 2))
def same_small_ints(x, step=ONE):
    return step is ONE, step is not ONE, x is None, x is True


@case((3,))
def the_empty_tuple(x, axes=()):
    return axes is EMPTY, EMPTY is axes, (x,) is EMPTY


class NotCompared:
    def __eq__(self, other):
        raise RuntimeError("asked while compiling")

    __hash__ = None


NOT_COMPARED = NotCompared()


@case((3,), ((),))
def an_object_that_cannot_be_compared(x):
    return NOT_COMPARED is x, x is not NOT_COMPARED


# Tuples of classes that the interpreter has, and of the program's own

class Pair(tuple):
    scale = 3

    def total(self):
        return (self[0] + self[1]) * self.scale


PAIR = Pair((1, 2))
STATUS = os.stat(os.sep)


@case((2.0,), (3,))
def of_the_interpreter(x):
    info = sys.float_info
    return (x * info.max, x + sys.float_info.epsilon, info.dig, info[0], len(info), sys.hash_info.width,
            sys.version_info.major >= 3, sys.version_info[:2])


@case((2.0,))
def items_without_a_place(x):
    return STATUS.st_mtime + x, STATUS.st_size + x, STATUS[6]


@case((2.0,))
def subclass_of_tuple(x):
    return PAIR.scale * x, PAIR.total(), PAIR[0] + x, sum(PAIR), PAIR.count(1), PAIR + (x,), isinstance(PAIR, tuple)


# Enums

class Shade(enum.Enum):
    DARK = 1
    LIGHT = 2.5


class Order(enum.IntEnum):
    FIRST = 1
    SECOND = 2


class Bits(enum.IntFlag):
    A = 1
    B = 4


CURRENT = Shade.LIGHT


@case((1,), (0,))
def enum_members(x):
    s = Shade.DARK if x else Shade.LIGHT
    return s is Shade.DARK, s == Shade.LIGHT, s != Shade.DARK, s.value, CURRENT is Shade.LIGHT, CURRENT.name


@case((1,), (0,))
def enum_branch(x):
    s = Shade.DARK if x else Shade.LIGHT
    if s is Shade.DARK:
        return 10
    return 20


@case((1,), (0,))
def enum_passed(x):
    def weight(s):
        if s == Shade.DARK:
            return 1.0
        return s.value

    return weight(Shade.LIGHT), weight(Shade.DARK if x else Shade.LIGHT)


@case((3,), (2,))
def int_enum(x):
    return (Order.FIRST + x, Order.SECOND * 2, x == Order.SECOND, Order.FIRST < Order.SECOND, Order.SECOND.value,
            x > Order.FIRST)


@case((3,))
def int_flag(x):
    return Bits.A.value | x, Bits.B.value


@case((np.arange(5),))
def int_enum_index(a):
    return a[Order.SECOND]


@case((Shade.DARK,), (Shade.LIGHT,))
def enum_argument(s):
    if s is Shade.DARK:
        return 1
    return s.value


@case((Order.FIRST,), (Order.SECOND,))
def int_enum_argument(n):
    return n + 1, n == Order.FIRST


# dtypes, modules, constants

F4 = np.dtype("float32")


@case((3,))
def dtypes(n):
    a = np.zeros(n, dtype=np.int16)
    b = np.ones(n, dtype=F4)
    c = np.empty(n, dtype=a.dtype)
    return a.dtype == np.int16, a.dtype == b.dtype, c.dtype == a.dtype, b.dtype == F4, a.itemsize, a.dtype.itemsize


@case((3,))
def dtype_casts(n):
    t = np.int8
    return t(n), np.dtype("float32").type(n) if False else F4.type(n), np.float32(n) / t(2)


@case((np.zeros(2, np.float32),), (np.zeros(2, np.int64),))
def dtype_of_argument(a):
    if a.dtype == np.float32:
        return 1
    return a.dtype.type(3)


@case((2.0,))
def module_attributes(x):
    return math.pi * x, math.e, math.inf, cmath.pi, np.pi, np.e, mathematics.sqrt(x), sqrt(x), pi, math.tau


@case((2.0,))
def local_imports(x):
    import math as m
    from math import cos, sin as sine
    import os.path as p  # noqa: F401
    return m.sqrt(x), cos(x), sine(x)


@case((2,))
def unused_module(x):
    return x if x is not os.path else 0


SIZE = 16
SCALE = 0.25
NAME = "constant"
FLAG = False
TABLE = (1.5, 2.5, 3.5)
GRID = ((1, 2), (3, 4))
ARRAY = np.arange(4.0)
CONFIG = {"rate": 0.5, "steps": 3, "name": "x", "nested": {"deep": 7}, "shape": (2, 3), 5: 6}
NESTED = {"a": {"b": {"c": 1.25}}}


@case((3,), (0,))
def constants(i):
    return SIZE * i, SCALE, NAME, FLAG, TABLE[i], GRID[1][0], ARRAY[i], len(TABLE)


@case((3,))
def config(n):
    return (CONFIG["rate"] * n, CONFIG["steps"] + n, CONFIG["nested"]["deep"], CONFIG["shape"][1],
            NESTED["a"]["b"]["c"], CONFIG[5])


@case((3,))
def config_branch(n):
    if FLAG:
        return undefined_anywhere  # noqa: F821
    if CONFIG["steps"] > 2:
        return n
    return -n


@case((3,))
def config_missing(n):
    return CONFIG["absent"]


@case(("rate",))
def config_contains(k):
    return "rate" in CONFIG, "other" in CONFIG, "other" not in CONFIG


@case((3,))
def numbers(n):
    return 1_000_000 + n, 0x1F, 0b101, 0o17, 1e-3 * n, 1j * n, 3.5 // n, 2 ** 10, -2 ** 2, 7 % -3, -7 // 2, True + n


class Settings:
    rate = 2.5
    sizes = (1, 2)

    class Inner:
        depth = 4


@case((3,))
def class_attributes(n):
    return Settings.rate * n, Settings.sizes[0], Settings.Inner.depth


@case((1, "a"), (1.5, (2, None)), ((1,), ()), ([1], 2))
def hash_of_tuples(a, b):
    x = (a, b, 1)
    return x.__hash__() == hash(x), getattr((), "__hash__")(), hash(PAIR), PAIR.__hash__()


@case((5, 2.5), (-2**63, -0.0), (2**61 - 1, math.inf), (-1, 1e-320), (True, "\xe9'"), (np.int8(-1), b"\0"),
      (np.float32(0.1), 1j), (np.uint64(2**64 - 1), ()), (np.bool_(True), "\u0119"))
def hashes_and_texts_of_items(a, b):
    texts = [[str(x), repr(x), ascii(x), f"{x}", f"{x!r:>20}", "%s" % (x,)] for x in ((a,), (a, b), (b, (a, b), 3))]
    return hash((a,)), hash((a, b)), hash((b, (a, b), 3)), hash(()), texts


@case((2, 3))
def ellipsis_value(a, b):
    x = ...
    return x is ..., x is None


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)


@pytest.mark.parametrize("call", [lambda: Wide(), lambda: Wide(1, 2, 3, 4), lambda: Wide(1, a=2), lambda: Typed(),
                                  lambda: Point(1), lambda: Point(1, 2, z=3)])
def test_wrong_arguments_of_a_named_tuple_have_the_interpreters_message(call):
    with pytest.raises(TypeError) as expected:
        call()
    with pytest.raises(TypeError) as found:
        njit(call)()
    assert str(found.value).splitlines()[0] == str(expected.value)


NAMES = tuple("abcdefghijklmn")


def test_a_constant_is_searched_in_constants_when_the_function_is_compiled(monkeypatch, capsys):
    def kinds(x):
        kind, number = "c", 7
        if kind not in NAMES or number in (1, 2, 3, 4, 5, 6, 8, 9, 10, True):
            raise ValueError(kind)
        return x + ("z" in NAMES), number in (1, 2, 3, 4, 5, 6.0, 7.0, 8, 9, 10), True in (2, 3, 4, 5, 6, 7, 8, 9, 1)

    monkeypatch.setenv("PYJITC_DUMP", "typed")
    assert njit(kinds, cache=False)(2) == kinds(2) == (2, True, True)
    assert "contains" not in capsys.readouterr().err
    assert njit(lambda kind: kind in NAMES, cache=False)("n")
    assert "contains" in capsys.readouterr().err
