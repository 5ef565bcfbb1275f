"""Enum classes: iteration, length, members by value and by name."""
import enum

import numpy as np
import pytest

from pyjitc import TypingError, njit
from tests.oracle import agree


class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 5
    AZURE = 5  # an alias


class Mode(enum.Enum):
    FAST = "fast"
    SAFE = 2.5
    OTHER = 7


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Empty(enum.Enum):
    pass


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Asked(enum.Enum):
    ONE = 1

    @classmethod
    def _missing_(cls, value):
        return cls.ONE


class Meta(enum.EnumMeta):
    def __iter__(cls):
        return iter(())


class Strange(enum.Enum, metaclass=Meta):
    ONE = 1


def over_members():
    total, last = 0, None
    for colour in Colour:
        total += colour.value
        last = colour
    return (total, last is Colour.BLUE, len(Colour), len(Strange), [level + 1 for level in Level] if False
            else sum(level for level in Level))


def over_none():
    count = 0
    for _ in Empty:
        count += 1
    return count, len(Empty)


def over_mixed(x):
    found = 0.0
    for mode in Mode:
        if mode is Mode.SAFE or mode is Mode.OTHER:
            found += mode.value * x
    return found


def by_value(x):
    colour = Colour(x)
    if colour is Colour.GREEN:
        return 100
    return colour.value


def level_of(x):
    return Level(x) + 1, Level(x) > 5


def constants():
    return (Colour(2) is Colour.GREEN, Colour["BLUE"].value, Colour["AZURE"] is Colour.BLUE, Level["HIGH"] + 1,
            Colour(Colour.RED) is Colour.RED)


def contained():
    return Colour.RED in Colour, Mode.FAST in Colour


def wrong_constant():
    return Colour(9).value


def caught(x):
    try:
        return Colour(x).value
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("function, calls", [
    (over_members, [()]), (over_none, [()]), (over_mixed, [(2,), (0.5,)]),
    (by_value, [(1,), (2,), (5,), (7,), (2.0,), (True,), (np.int64(5),), (np.float32(2.5),)]),
    (level_of, [(1,), (10,), (3,)]), (constants, [()]), (contained, [()]), (wrong_constant, [()]),
    (caught, [(3,), (5,), (2.5,)]),
], ids=lambda x: x.__name__ if callable(x) else "")
def test_agrees(function, calls):
    for args in calls:
        agree(function, *args)


@pytest.mark.parametrize("text, message", [
    ("[x for x in Strange]", "only those of a plain enum are"),
    ("Colour['NONE']", "'NONE'"), ("Colour[x]", "must be a str"), ("1 in Colour", "for members of a plain enum")])
def test_refused(text, message):
    scope = dict(globals())
    exec(f"def f(x): return {text}", scope)
    with pytest.raises(TypingError, match=message):
        njit(scope["f"])(1)
