"""The `match` statement."""
import enum
import math

import numpy as np

from tests.language.corpus import check, corpus, each

case, CASES = corpus()


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Names:
    limit = 10


@case((0,), (1,), (7,), (True,), (1.0,), (2.5,))
def literals(x):
    match x:
        case 0:
            return "zero"
        case 1:
            return "one"
        case -3 | 7:
            return "seven"
        case 2.5:
            return "half"
    return "none"


@case((None,), (True,), (False,), (1,), (0,))
def singletons(x):
    match x:
        case None:
            return 1
        case True:
            return 2
        case False:
            return 3
        case _:
            return 4


@case((5,), (50,), (-5,))
def guards(x):
    match x:
        case n if n < 0:
            return -n
        case n if n > 10:
            return n * 2
        case n:
            return n


@case(((1, 2),), ((1,),), ((),), ((1, 2, 3),), (5,))
def sequences(t):
    match t:
        case ():
            return 0
        case (a,):
            return a
        case (a, b):
            return a * 10 + b
        case [a, b, c]:
            return a * 100 + b * 10 + c
        case _:
            return -1


@case(((1, 2, 3, 4),), ((1, 2),), ((1,),), ((0, 5, 6),))
def stars(t):
    match t:
        case (0, *rest):
            return tuple(rest)
        case (first, *middle, last):
            return first, tuple(middle), last
        case (only,):
            return only
    return None


@case(((1, 2, 3, 4),), ((1, 2),), ((1,),))
def star_wildcard(t):
    match t:
        case (a, _, *_):
            return a
        case _:
            return -1


@case((0, 0), (0, 5), (5, 0), (3, 4))
def point(x, y):
    match (x, y):
        case (0, 0):
            return "origin"
        case (0, b):
            return b
        case (a, 0):
            return -a
        case (a, b) if a > b:
            return "above"
        case (a, b):
            return math.hypot(a, b)


@case(((1, (2, 3)),), ((1, (2, 4)),), ((2, (0, 0)),))
def nested(t):
    match t:
        case (1, (2, 3)):
            return "exact"
        case (1, (_, b)):
            return b
        case (a, (0 | 9 as b, c)):
            return a, b, c
    return None


@case(("x", 3), ("y", 3), ("z", 3))
def strings(s, n):
    match n:
        case 3 as k:
            return k
    return 0


@case((1,), (2,), (3,), (4,), (9,))
def or_patterns(x):
    match x:
        case 1 | 2:
            return "low"
        case 3 | 4 as y if y > 3:
            return "four"
        case 3 | 9 as y:
            return y


@case((10,), (11,), (3.141592653589793,))
def dotted_values(x):
    match x:
        case Names.limit:
            return "limit"
        case math.pi:
            return "pi"
        case _:
            return "other"


@case((Color.RED,), (Color.GREEN,))
def enums(c):
    match c:
        case Color.RED:
            return 1
        case Color.GREEN:
            return 2


@case((1,), (5,), (3,))
def int_enums(n):
    match n:
        case Level.LOW:
            return "low"
        case Level.HIGH:
            return "high"
    return "between"


@case((5,), (0,))
def capture_stays(x):
    match x:
        case 0:
            y = 1
        case y:
            pass
    return y


@case((3,), (4,))
def capture_of_failed_pattern(x):
    match (x, x):
        case (a, 4):
            return a
        case _:
            return a


@case((3,), (8,), (12,))
def in_a_loop(n):
    total = 0
    for i in range(n):
        match i % 4:
            case 0:
                continue
            case 1:
                total += 1
            case 2 if i > 8:
                break
            case k:
                total += k * 10
    else:
        return total
    return -total


@case((3,), (2.5,), (True,), (None,), (1j,), (np.int32(3),), (np.float64(2.5),), ((1, 2),))
def scalar_classes(x):
    match x:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case None:
            return "none"
        case complex():
            return "complex"
        case tuple():
            return "tuple"
        case _:
            return "other"


@case((3,), (2.5,), (-1,), (-1.5,))
def scalar_class_captures(x):
    match x:
        case int(n) if n > 0:
            return n + 1
        case float(v) if v > 0:
            return v * 2
        case int() | float() as both:
            return -both


@case((3,), (-3,), (0,))
def classes_of_a_union(x):
    y = x if x > 0 else 2.5 if x < 0 else None
    match y:
        case int(n):
            return n + 1
        case float(v):
            return v * 2
        case None:
            return 0


@case((3,), (-3,), (0,))
def sequence_of_a_union(x):
    y = (x, 1) if x > 0 else x
    match y:
        case (a, b):
            return a + b
        case n:
            return n * 2


@case((3,))
def nothing_matches(x):
    match x:
        case 4:
            return 1
        case (a, b):
            return 2


@case((2,), (3,))
def match_with_return_in_try(x):
    try:
        match x:
            case 2:
                return "two"
            case 3:
                raise ValueError(x)
    except ValueError as e:
        return e.args


@case((np.array([1, 2, 3]), 0), (np.array([1, 2, 3]), 2))
def match_item(a, i):
    match a[i]:
        case 1:
            return "one"
        case 3:
            return "three"


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)
