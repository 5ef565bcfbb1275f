"""Members of the program's classes: methods, properties and operators of named tuples, enum members, attributes of
classes."""
import enum
import math
import typing

import pytest

from pyjitc import TypingError, njit
from tests.language.corpus import check, corpus, each

case, CASES = corpus()


class Vector(typing.NamedTuple):
    x: float
    y: float = 1.0

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        if isinstance(k, Vector):
            return self.x * k.x + self.y * k.y
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __sub__(self, other):
        return self + -1 * other

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __matmul__(self, other):
        return self.x * other.y - self.y * other.x

    def norm(self, p=2, *, scale=1.0):
        if p < 1:
            raise ValueError(f"bad p {p}")
        return (abs(self.x) ** p + abs(self.y) ** p) ** (1 / p) * scale

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    @classmethod
    def unit(cls, angle):
        return cls(math.cos(angle), math.sin(angle))

    @staticmethod
    def cross(a, b):
        return a.x * b.y - a.y * b.x

    def turned(self, angle):
        c, s = math.cos(angle), math.sin(angle)
        return self._replace(x=c * self.x - s * self.y, y=s * self.x + c * self.y)

    def terms(self):
        yield self.x
        yield self.y


class Heavy(Vector):
    weight = 2

    def __radd__(self, other):
        return "added"

    @property
    def x(self):
        return 99.0

    def norm(self):
        return self.weight


P, Q = Vector(3.0, 4.0), Vector(1.0, 2.0)
ORIGIN = Vector(0.0, 0.0)


@case((P, Q))
def operators(a, b):
    c = a
    c += b
    return a + b, a - b, -a, 2 * a, a * 2, a * b, a @ b, c


@case((P, Q))
def methods(a, b):
    s = 0.0
    for t in a.terms():
        s += t
    return a.norm(), a.norm(1), b.norm(scale=2.0), Vector.norm(a, p=3), a.angle, a.turned(0.5), s


@case((P,))
def exception_of_a_method(a):
    return a.norm(
        0)


@case((P, Q))
def of_the_class(a, b):
    return Vector.unit(0.0), a.unit(1.0), Vector.cross(a, b), a.cross(a, b), a._fields, Heavy.weight


@case((P, 3), (P, (1.0, 2.0)))
def operands_it_does_not_take(a, b):
    return a + b


@case((P, Heavy(1.0, 2.0)), (Heavy(1.0, 2.0), P), (3, Heavy(1.0, 2.0)))
def reflected(a, b):
    return a + b


@case((Heavy(1.0, 2.0),))
def derived(a):
    return a.x, a.y, a[0], a.norm(), a.weight, a.angle


@case((P,))
def constants(a):
    return ORIGIN + a, ORIGIN.norm(), a != ORIGIN, a == Vector(3.0, 4.0), a in (ORIGIN, P)


class Shape(enum.Enum):
    CIRCLE = 1, 2.0
    SQUARE = 4, 3.0

    def __init__(self, corners, size):
        self.corners = corners
        self.size = size

    @property
    def half(self):
        return self.size / 2

    def area(self, n=1):
        if self is Shape.CIRCLE:
            return math.pi * self.size ** 2 * n
        return self.size ** 2 * n


@case((Shape.CIRCLE,), (Shape.SQUARE,))
def members(shape):
    return shape.corners, shape.half, shape.area(), shape.area(n=3), Shape.SQUARE.size


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)


class Config:
    steps = 3
    first = None

    def scaled(x):
        return x * 2

    @staticmethod
    def moved(x):
        return x + 1

    @classmethod
    def made(cls, x, *, k=1):
        return x * cls.steps * k


class Other(Config):
    pass


def uses(x):
    return Config.steps, Config.scaled(x), Other.moved(x), Other.steps, Other.made(x, k=2), Config.made(x)


def test_changes_of_a_class_are_seen(monkeypatch):
    compiled = njit(uses)
    assert compiled(5) == uses(5)
    for owner, name, value in ((Config, "steps", 4), (Config, "scaled", lambda x: x * 10),
                               (Config, "moved", staticmethod(lambda x: -x)), (Other, "steps", 2.5),
                               (Config, "made", classmethod(lambda cls, x, k=0: k))):
        monkeypatch.setattr(owner, name, value, raising=False)
        assert compiled(5) == uses(5)
    monkeypatch.delattr(Config, "steps")
    with pytest.raises(TypingError, match="type object 'Config' has no attribute 'steps'"):
        compiled(5)


def test_changes_of_the_class_of_an_argument_are_seen(monkeypatch):
    @njit
    def f(v, shape):
        return v.norm(1), shape.size

    assert f(P, Shape.SQUARE) == (7.0, 3.0)
    monkeypatch.setattr(Vector, "norm", lambda self, p: self.x)
    monkeypatch.setattr(Shape.SQUARE, "size", 5)
    assert f(P, Shape.SQUARE) == (3.0, 5)


class Sized(typing.NamedTuple):
    x: float

    def __len__(self):
        return 7


class Loud(enum.IntEnum):
    A = 1

    def __add__(self, other):
        return 100


SIZED = Sized(1.0)


def test_special_methods_that_are_not_asked():
    why = r"'p' is a Sized with its own __len__, which compiled code does not call; pass tuple\(x\)"
    with pytest.raises(TypeError, match=why):
        njit(lambda p: len(p))(SIZED)
    assert len(njit(lambda: Sized(1.0))()) == len(Sized(1.0))
    with pytest.raises(TypingError):
        njit(lambda: len(SIZED))()
    assert njit(lambda m: m + 1)(Loud.A) == 100
    assert njit(lambda m: m * 3)(Loud.A) == 3
    assert njit(lambda p: p._asdict())(P) == P._asdict()
