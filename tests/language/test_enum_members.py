"""Members of Enum, IntEnum and Flag as values, compared with the interpreter."""
import collections
import enum
import functools
import math

import numpy as np
import pytest

from pyjitc import njit
from tests.oracle import agree


class Light(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3

    def twice(self):
        return self.value * 2

    @property
    def warm(self):
        return self is Light.RED


class Level(enum.IntEnum):
    LOW = 1
    MIDDLE = 2
    HIGH = 5


class Right(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2
    FOUR = 4


class Name(str, enum.Enum):
    A = "a"
    B = "b"


def kinds(c):
    return c is Light.RED, c == Light.RED, c != Light.GREEN, c.value, c.name, c.twice(), c.warm, type(c) is Light


def chosen(n):
    c = Light.RED if n > 0 else Light.BLUE
    return c, c.value, c.name, c is Light.RED


def after(n):
    c = Light.RED
    for _ in range(n):
        if c is Light.RED:
            c = Light.GREEN
        elif c is Light.GREEN:
            c = Light.BLUE
        else:
            c = Light.RED
    return c


def texts(c):
    return str(c), repr(c), f"{c}", f"{c.name}"


def by_name(name):
    return Light[name]


def arithmetic(a):
    return (a + 1, a * 2, a | 4, a < Level.HIGH, a == 2, a & 3, -a, a // 2, a % 2, a / 2, float(a), int(a), abs(a),
            max(a, 3), (10, 20, 30)[a], sum(range(a)))


def rights(a):
    return (a | Right.WRITE, a & Right.WRITE, ~a, a ^ Right.READ, bool(a), not a, Right.READ in (a | Right.READ),
            (a | Right.WRITE).value)


def collected(n):
    found = Right.READ
    if n > 1:
        found |= Right.WRITE
    if n > 2:
        found |= Right.RUN
    return found, found.value


def bits(a):
    return a | Bits.TWO, a & Bits.TWO, a | 8, 8 | a, a + 1, a * 3, bool(a & Bits.FOUR), a == 1, a ^ 3, ~a & 7, a | a, a in Bits.ONE


def bits_as_ints(a):
    return (int(a), float(a), -a, abs(a), a < 3, a >= Bits.TWO, max(a, 2), [1, 2, 3, 4, 5][a], list(range(a)), 7 - a,
            a - 1, 2 * a, a / 2, round(a), divmod(a, 2), hex(a), a << 1, math.sqrt(a), np.int8(a), np.arange(5)[a], +a)


@pytest.mark.parametrize("function, args", [
    *((kinds, (c,)) for c in Light), (chosen, (1,)), (chosen, (-1,)), (after, (0,)), (after, (5,)),
    (texts, (Light.RED,)), (texts, (Level.HIGH,)), (texts, (Right.READ,)), (by_name, ("RED",)), (by_name, ("BLUE",)), (by_name, ("NONE",)),
    (arithmetic, (Level.MIDDLE,)), (rights, (Right.READ,)), (rights, (Right.RUN,)), (collected, (1,)),
    (collected, (2,)), (collected, (3,)), (bits, (Bits.ONE,)), (bits_as_ints, (Bits.ONE,)), (bits_as_ints, (Bits.FOUR,)), (lambda n: [f for f in Right], (1,)),
    (lambda n: Light(n), (2,)), (lambda n: Light(n), (9,)), (lambda s: (s == Name.A, s == "a", s.value), (Name.B,)),
    (lambda c: sum([x.value for x in c]), ([Light.RED, Light.BLUE],)),
    (lambda n: hash(Light.RED) == n, (hash(Light.RED),)),
])
def test_members(function, args):
    agree(function, *args)


class Car:
    def __init__(self, light):
        self.light, self.n = light, 0

    def step(self):
        if self.light is Light.RED:
            self.light = Light.GREEN
        elif self.light is Light.GREEN:
            self.light = Light.BLUE
        else:
            self.light = Light.RED
        self.n += self.light.value


def test_members_in_attributes():
    def f(car, n):
        for _ in range(n):
            car.step()
        return car.light, car.n

    def g(car):
        return car.light.value * 10

    first, second = njit(f), njit(g)
    for light in Light:
        one, other = Car(light), Car(light)
        assert first(one, 5) == f(other, 5) and second(one) == g(other)
    assert first.stats["compiled"] == 1


@functools.total_ordering
class Urgency(enum.Enum):
    """Has an order of its own, as in the documents of the module enum."""

    LOW = 1
    MIDDLE = 5
    HIGH = 10

    def __lt__(self, other):
        if self.__class__ is other.__class__:
            return self.value < other.value
        return NotImplemented

    def __add__(self, n):
        return self.value + n

    def __radd__(self, n):
        return n - self.value

    def __neg__(self):
        return -self.value

    def __bool__(self):
        return self is not Urgency.LOW


class Planet(enum.Enum):
    EARTH = (5.9, 6.3)
    MARS = (0.6, 3.3)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    def __getitem__(self, i):
        return self.value[i]

    def __len__(self):
        return 2

    def __iter__(self):
        return iter(self.value)

    def __contains__(self, x):
        return x in self.value


class Operation(enum.Enum):
    ADD = "+"
    TIMES = "*"

    def __call__(self, x, y=1):
        return x + y if self is Operation.ADD else x * y


def test_operators_of_the_class():
    def compared(a, b):
        return (a < b, a <= b, a > b, a >= b, a == b, a != b, a + 1, 2 + b, -a, not a, 1 if b else 0,
                (a, 1) < (b, 0), max(a, b) is a)

    def in_order(urgencies):
        return sorted(urgencies), max(urgencies), [x for x in urgencies if x > Urgency.LOW], any(urgencies)

    def as_sequence(p):
        mass, radius = p
        return mass, radius, p[0], len(p), 5.9 in p, [*p], Planet.MARS[1]

    def called(operation, n):
        return operation(n, 3), operation(n), Operation("+")(n, 2), [one(n, y=4) for one in Operation]

    compiled = njit(compared)
    for a in Urgency:
        for b in Urgency:
            agree(compared, a, b, compiled=compiled)
    agree(in_order, [Urgency.HIGH, Urgency.LOW, Urgency.MIDDLE])
    for function, given in ((as_sequence, Planet), (lambda operation: called(operation, 5), Operation)):
        for one in given:
            agree(function, one)
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Urgency' and 'Planet'"):
        njit(compared)(Urgency.LOW, Planet.MARS)


class Holder:
    def __init__(self):
        self.seen = []

    def __getitem__(self, i):
        return i

    def __setitem__(self, i, value):
        self.seen.append((i, value))

    def __delitem__(self, i):
        self.seen.append(i)


def test_integer_members_stay_members_in_containers():
    def stored(x):
        numbers, table, counted, counter = [1, 2], {}, collections.defaultdict(int), collections.Counter()
        numbers[0] = x
        table[x] = 2
        table["value"] = x
        counted[x] += 1
        counter[x] += 1
        queue = collections.deque([1, 2, 3])
        queue[Level.LOW] = x
        return numbers, table, list(table), counted, counter, queue, x in table, int(x) in table, table[int(x)]

    def into(numbers, table, x):
        numbers[0] = x
        table[x] = x
        return numbers.pop(Level.LOW)

    def of_all():
        table, positions = {}, [0] * 6
        for level in Level:
            table[level] = level
            positions[level] += level
        return table, positions

    def in_object():
        holder = Holder()
        holder[Level.LOW] = Level.HIGH
        del holder[Level.HIGH]
        return holder.seen, holder[Level.LOW]

    def as_position(a, t):
        a[Level.LOW] = Level.HIGH
        numbers = [1, 2, 3]
        del numbers[Level.LOW]
        return a, a[Level.LOW], a[Bits.ONE:Bits.TWO], t[Level.LOW], "abc"[Level.LOW], range(9)[Level.HIGH], numbers

    for x in (Level.HIGH, Bits.TWO):
        agree(stored, x)
        agree(into, [1, 2], {1: 2}, x)
    agree(of_all)
    agree(in_object)
    agree(as_position, np.zeros(4), (1, 2))


@pytest.mark.parametrize("x", [Level.HIGH, Bits.TWO])
def test_errors_of_keys_have_the_member(x):
    for missing in (lambda x: {Level.LOW: 1}[x], lambda x: {1: 1}[x], lambda x: {1: 2}.pop(x), lambda x: {1}.remove(x),
                    lambda x: {}.__delitem__(x), lambda x: collections.OrderedDict({1: 1})[x]):
        agree(missing, x)
    agree(lambda d, x: d[x], {1: 2}, x)


@pytest.mark.parametrize("x", [Level.HIGH, Bits.TWO, Bits.ONE | Bits.TWO])
def test_attributes_of_int(x):
    agree(lambda x: (x.bit_length(), x.real, x.imag, x.numerator, x.denominator, x.conjugate(), x.name, x.value,
                     x.bit_count(), x.to_bytes(2, "big"), x.as_integer_ratio()), x)
    agree(lambda: (Level.HIGH.bit_length(), (Bits.ONE | Bits.TWO).bit_length(), Level(5).real))


class Loud(enum.IntEnum):
    A = 1
    B = 2

    def __add__(self, other):
        return "add", other


class Reflecting(enum.IntEnum):
    A = 1
    B = 2

    def __radd__(self, other):
        return "radd", other


class LoudFlag(enum.IntFlag):
    A = 1
    B = 2

    def __add__(self, other):
        return "add", other


class Comparing(enum.IntEnum):
    A = 1
    B = 2

    def __lt__(self, other):
        return "lt"

    def __eq__(self, other):
        return "eq"

    __hash__ = int.__hash__


class Negated(enum.IntEnum):
    A = 1
    B = 2

    def __neg__(self):
        return "neg"

    def __bool__(self):
        return False


@pytest.mark.parametrize("cls", [Loud, Reflecting, LoudFlag, Comparing, Negated])
def test_integers_with_an_operator_of_their_own_have_the_others_of_int(cls):
    def operators(x, y):
        return (x + 1, 1 + x, x + y, 1.5 + x, x + 1.5, True + x, np.int64(1) + x, Level.LOW + x, x + Level.LOW, x * 2,
                2 * x, x - y, y ** x, 3 // y, x | y, x / y, -x, +x, ~x, not x)

    def comparisons(x, y):
        return (x < 2, 2 > x, 1 < x, x == 1, 1 == x, x != 1, x > 1, x <= y, x < y, 1.5 > x, np.int64(2) > x, 1.0 == x)

    def in_place(x):
        y = x
        y *= 3
        z = x
        z += 1
        return y, z

    def with_array(a, x):
        return a + x, a * x, x * a, a == x

    for function, *args in (operators, cls.A, cls.B), (comparisons, cls.A, cls.B), (in_place, cls.A):
        agree(function, *args)
    agree(with_array, np.arange(3), cls.B)


class Colour(str, enum.Enum):
    RED = "red"
    BLUE = "blue"

    def __str__(self):
        return self.value.title()


class Mark(str, enum.Enum):
    COMMA = ","
    EMPTY = ""

    def __add__(self, other):
        return "added"

    def __len__(self):
        return 17


class Said(enum.IntEnum):
    ONE = 1

    def __str__(self):
        return "said"


class TestMembersThatAreTexts:
    def test_operators(self):
        def f(x):
            return (Colour.RED == x, x == Colour.RED, Colour.RED != "blue", Colour.RED + x, x + Colour.RED,
                    Colour.RED * 2, Colour.RED < "z", Colour.RED < Colour.BLUE, "e" in Colour.RED, Colour.RED in x,
                    Colour.RED in ("red", x), x in [Colour.RED], Colour.RED is Colour("red"), not Mark.EMPTY,
                    bool(Colour.RED), sorted([Colour.RED, Colour.BLUE]), min(Colour))

        agree(f, "red")
        agree(f, "blue red")

    def test_methods_and_items(self):
        def f(x):
            return (Colour.RED.upper(), Colour.RED.startswith("r"), len(Colour.RED), Colour.RED[0], Colour.RED[::-1],
                    list(Colour.RED), x.split(Mark.COMMA), x.replace(Mark.COMMA, Colour.RED), ",".join(Colour),
                    ",".join([Colour.RED, x]), Colour.BLUE.value, Colour.BLUE.name)

        agree(f, "a,b")

    def test_text_of_a_member_is_that_of_its_class(self):
        def f(x):
            return ("%s %s" % (Colour.RED, x), "%s" % Colour.RED, "%r" % Colour.RED, f"{Colour.RED:>6}|{Colour.RED!s:>6}",
                    "{}".format(Colour.RED), str(Colour.RED), repr(Colour.RED), "%s" % Said.ONE, "%d" % Said.ONE,
                    b"%d" % Said.ONE)

        agree(f, 1)

    def test_methods_of_the_class_come_first(self):
        def f(x):
            return Mark.COMMA + x, x + Mark.COMMA, len(Mark.COMMA), Mark.COMMA * 2, len(Mark.EMPTY), Mark.EMPTY == ""

        agree(f, "x")

    def test_keys(self):
        def f(words):
            counts = {}
            for word in words:
                colour = Colour(word)
                counts[colour] = counts.get(colour, 0) + 1
            return counts, counts["red"], counts[Colour.RED], "blue" in counts, sorted(counts), {"red"} == {Colour.RED}

        agree(f, ["red", "blue", "red"])

    def test_arguments(self):
        def f(c, others):
            return (c == "red", c.upper(), c + "!", c[0], len(c), {c: 1}, f"{c}", c in "a red b", c is Colour.RED,
                    [o.value for o in others], [o + c for o in others])

        compiled = agree(f, Colour.RED, [Colour.RED, Colour.BLUE])
        agree(f, Colour.BLUE, [Colour.BLUE], compiled=compiled)

    def test_a_wrong_operand(self):
        def f(n):
            return Colour.RED + n

        with pytest.raises(TypeError):
            njit(f)(1)


class Share(float, enum.Enum):
    HALF = 0.5
    QUARTER = 0.25


class Tag(bytes, enum.Enum):
    X = b"x"
    YY = b"yy"


class Weight(float, enum.Enum):
    ONE = 1.5

    def __radd__(self, other):
        return "radd", other

    def __lt__(self, other):
        return "lt"


class Signed(enum.IntEnum):
    A = -3
    B = 2

    def __abs__(self):
        return 99

    def __add__(self, other):
        return 1000 + other


class Added(enum.IntEnum):
    A = -3

    def __add__(self, other):
        return 1000 + other


def floats(x):
    return (Share.HALF + x, x - Share.HALF, Share.HALF * Share.QUARTER, x < Share.QUARTER, -Share.HALF,
            Share.HALF == 0.5, math.sqrt(Share.QUARTER), abs(Share.HALF), round(Share.HALF), int(Share.HALF),
            max(Share.HALF, x), Share.HALF ** 2, Share.HALF // x, [1.5 * s for s in Share], Share.HALF.value)


def own_methods_of_floats(x):
    return x + Weight.ONE, 2 + Weight.ONE, True + Weight.ONE, x * Weight.ONE, Weight.ONE < x, x > Weight.ONE


def texts_of_bytes(x):
    return (Tag.X + x, x + Tag.YY, len(Tag.YY), x == Tag.X, x in Tag.YY, Tag.YY[0], Tag.YY[1:], Tag.X * 2,
            Tag.X < Tag.YY, [b for b in Tag.YY], Tag.X.value, Tag.YY.find(x))


def absolutes(n):
    return abs(Signed.A), Signed.B + n, abs(Added.A), Added.A + n, -Added.A, abs(Level.LOW)


class Alias(enum.Enum):
    ONE = 1
    TWO = 2
    FIRST = 1


def members(name):
    view = Alias.__members__
    return (name in view, len(view), [key for key in view], [(key, m.value) for key, m in view.items()],
            view[name].name, list(view))


@pytest.mark.parametrize("function, args", [
    (floats, (2.0,)), (floats, (0.25,)), (own_methods_of_floats, (2.5,)), (texts_of_bytes, (b"x",)),
    (texts_of_bytes, (b"y",)), (absolutes, (4,)), (members, ("TWO",)), (members, ("FIRST",)), (members, ("NO",))])
def test_numbers_texts_and_members(function, args):
    agree(function, *args, compiled=njit(function))
