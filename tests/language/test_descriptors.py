"""Descriptors of the program: `__get__`, `__set__` and `__delete__`, through objects and through their class."""
import math

import pytest

from pyjitc import jit, njit
from tests.oracle import agree


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, x, owner=None):
        return self if x is None else getattr(x, self.name)

    def __set__(self, x, value):
        if value <= 0:
            raise ValueError(f"{self.name[1:]} must be positive, not {value}")
        setattr(x, self.name, value)


class Box:
    width = Positive()
    height = Positive()

    def __init__(self, width, height):
        self.width, self.height = width, height


@pytest.mark.parametrize("compiler", [njit, jit])
@pytest.mark.parametrize("args", [(2, 3), (2, 0), (-1.5, 1)])
def test_that_check_what_is_stored(compiler, args):
    def f(width, height):
        box = Box(width, height)
        box.width += 4
        return box.width * box.height, vars(box)

    agree(f, *args, compiled=compiler(f))


class Counted:
    """Stores in a slot, and counts."""

    def __get__(self, x, owner):
        return owner.__name__ if x is None else x.kept * 2

    def __set__(self, x, value):
        x.kept = value
        x.stores += 1

    def __delete__(self, x):
        x.kept = -1


class Slots:
    __slots__ = ("kept", "stores")
    value = Counted()

    def __init__(self, value):
        self.stores = 0
        self.value = value


def test_in_a_class_with_slots():
    def f(n):
        x = Slots(n)
        x.value += 1
        before = x.value
        del x.value
        return before, x.value, x.kept, x.stores, Slots.value

    agree(f, 3)


def test_of_objects_that_are_passed():
    def f(objects):
        total = 0
        for x in objects:
            total += x.value
            x.value = total
        return total, [(x.kept, x.stores) for x in objects]

    assert njit(f)([Slots(1), Slots(5)]) == f([Slots(1), Slots(5)])


class Once:
    """Computes an attribute, and stores it in the object, whose own attribute is found first from then on."""

    def __init__(self, function):
        self.function = function
        self.name = function.__name__

    def __get__(self, x, owner):
        found = self.function(x)
        setattr(x, self.name, found)
        return found


class Circle:
    def __init__(self, radius):
        self.radius = radius

    @Once
    def area(self):
        return math.pi * self.radius ** 2


def test_without_set_stand_behind_the_attribute_of_the_object():
    def f(radius):
        circle = Circle(radius)
        first = circle.area
        circle.radius = 100.0
        second = circle.area
        circle.area = -1.0
        return first, second, circle.area, sorted(vars(circle))

    agree(f, 2.0)


class Doubled:
    def __get__(self, x, owner):
        return x.v * 2, owner.__name__


class Base:
    d = Doubled()

    def __init__(self, v):
        self.v = v


class Derived(Base):
    @property
    def through_super(self):
        return super().d


def test_that_are_inherited():
    def f(v):
        return Base(v).d, Derived(v + 1).d, Derived(v).through_super

    agree(f, 2)


class OfClass:
    def __init__(self, function):
        self.function = function

    def __get__(self, x, owner):
        return self.function(owner)


class Config:
    size = 3

    @OfClass
    def twice(cls):
        return cls.size * 2


class Wide(Config):
    size = 5


@pytest.mark.parametrize("compiler", [njit, jit])
def test_through_the_class(compiler):
    def f():
        return Config.twice, Wide.twice, Config().twice

    compiled = agree(f, compiled=compiler(f))
    Config.size = 4
    try:
        agree(f, compiled=compiled)
    finally:
        Config.size = 3


def test_that_change():
    class Own:
        def __get__(self, x, owner):
            return 1

    class A:
        value = Own()

    def f():
        return A().value, A.value

    compiled = agree(f)
    Own.__get__ = lambda self, x, owner: 2
    agree(f, compiled=compiled)


def test_that_raise():
    class Fixed:
        def __get__(self, x, owner):
            return 5

        def __set__(self, x, value):
            raise AttributeError("it is fixed")

    class A:
        value = Fixed()

    def f(n):
        a = A()
        try:
            a.value = n
        except AttributeError as error:
            return a.value, str(error)

    def g(n):
        a = A()
        a.value = n

    agree(f, 1)
    agree(g, 1)


class Noted(property):
    note = "a property with an attribute more"


class Special(property):
    def __get__(self, x, owner=None):
        return super().__get__(x, owner) + 1


class Room:
    def __init__(self, width):
        self._width = width

    def __eq__(self, other):
        return vars(self) == vars(other)

    @Noted
    def width(self):
        return self._width

    @width.setter
    def width(self, value):
        if value < 0:
            raise ValueError("negative", value)
        self._width = value

    @width.deleter
    def width(self):
        self._width = -1

    @Noted
    def area(self):
        return self.width * self.width

    @Special
    def beside(self):
        return self._width

    unread = Noted()


@pytest.mark.parametrize("compiler", [njit, jit])
def test_subclasses_of_property(compiler):
    def f(room, value):
        room.width += value
        made = Room(value)
        made.width = room.area
        del room.width
        return made.area, made.width, room.width

    def fixed(room, value):
        room.area = value

    compiled = compiler(f)
    for value in 2, 2.5, -7:
        agree(f, Room(3), value, compiled=compiled)
    agree(lambda room: room.unread, Room(3))
    agree(fixed, Room(3), 2, compiled=compiler(fixed))
    agree(lambda room: room.beside, Room(3), compiled=jit(lambda room: room.beside))
