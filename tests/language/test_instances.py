"""Objects of a program's classes, always compared with the interpreter: results, exceptions, the arguments afterwards,
and the identity of objects."""
import copy
import dataclasses
import enum
import functools
import math
import pickle
import re
import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import ClassVar, Optional

import numpy as np
import pytest

from pyjitc import TypingError, njit


def told(value, seen=None):
    """The contents of a value, with the class and attributes of objects; a repeated object is represented by a
    number."""
    seen = {} if seen is None else seen
    cls = type(value)
    if isinstance(value, enum.Enum) or isinstance(value, type):
        return value
    if isinstance(value, (tuple, list)):
        return (cls.__name__, *[told(x, seen) for x in value])
    if isinstance(value, np.ndarray):
        return (cls.__name__, str(value.dtype), value.tolist())
    if cls.__module__ in ("builtins", "numpy"):
        return (cls.__name__, repr(value))
    if id(value) in seen:
        return ("again", seen[id(value)])
    seen[id(value)] = len(seen)
    names = [name for base in cls.__mro__ for name in getattr(base, "__slots__", ()) if hasattr(value, name)]
    names += list(getattr(value, "__dict__", ()))
    return (cls.__qualname__, *[(name, told(getattr(value, name), seen)) for name in names])


def outcome(function, args):
    args = copy.deepcopy(args)
    try:
        how, what = "returns", function(*args)
    except Exception as error:
        how, what = "raises", (type(error), str(error))
    return how, told((what, args) if how == "returns" else args), None if how == "returns" else what


def agree(function, *args, compiled=None):
    compiled = compiled or njit(function)
    expected = outcome(function, args)
    for _ in range(2):  # compiled, and again
        assert outcome(compiled, args) == expected
    return compiled


class Point:
    """A plain class."""

    scale = 10

    def __init__(self, x, y=0.0):
        self.x = x
        self.y = y

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def move(self, dx, dy=1.0, *, times=1):
        for _ in range(times):
            self.x += dx
            self.y += dy
        return self

    def scaled(self):
        return self.x * self.scale

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    @property
    def length(self):
        return self.norm()

    @length.setter
    def length(self, value):
        k = value / self.norm()
        self.x *= k
        self.y *= k

    @staticmethod
    def between(a, b):
        return Point((a.x + b.x) / 2, (a.y + b.y) / 2)

    @classmethod
    def unit(cls, angle):
        return cls(math.cos(angle), math.sin(angle))

    def __add__(self, other):
        if isinstance(other, Point):
            return Point(self.x + other.x, self.y + other.y)
        if isinstance(other, (int, float)):
            return Point(self.x + other, self.y + other)
        return NotImplemented

    def __radd__(self, other):
        return self + other

    def __iadd__(self, other):
        self.x += other.x
        return self

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __eq__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return self.norm() < other.norm()

    def __hash__(self):
        return 12345

    def __len__(self):
        return 2

    def __getitem__(self, i):
        if i == 0:
            return self.x
        if i == 1:
            return self.y
        raise IndexError("Point index out of range")

    def __setitem__(self, i, value):
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __iter__(self):
        yield self.x
        yield self.y

    def __contains__(self, value):
        return self.x == value or self.y == value

    def __call__(self, k, add=0):
        return self.x * k + add

    def __bool__(self):
        return self.x != 0 or self.y != 0

    def __abs__(self):
        return self.norm()

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def total(self):
        return self.x + self.y


class More(Slots):
    """Slots of a base, a slot, and a dict."""

    def __init__(self, x, y, z):
        super().__init__(x, y)
        self.z = z

    def total(self):
        return super().total() + self.z


@dataclass
class Vec:
    x: float
    y: float = 0.5
    z: float = field(default_factory=float)

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y, self.z + other.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z


@dataclass(frozen=True)
class Frozen:
    a: int
    b: float = 2.5


@dataclass(slots=True)
class Slotted:
    a: float
    b: int = 7


@dataclass(frozen=True, slots=True)
class Both:
    a: float
    b: int = 7


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0


@dataclass
class Post:
    r: float
    area: float = field(init=False)

    def __post_init__(self):
        if self.r < 0:
            raise ValueError(f"negative {self.r}")
        self.area = 3 * self.r * self.r


@dataclass
class Particle:
    position: Vec
    velocity: Vec
    mass: float = 1.0

    def step(self, dt):
        self.position = self.position + Vec(self.velocity.x * dt, self.velocity.y * dt, 0.0)


class Node:
    __slots__ = ("value", "left", "right")

    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right


class Link:
    def __init__(self, value, next=None):
        self.value, self.next = value, next


class Stack:
    def __init__(self):
        self.head = None
        self.size = 0

    def push(self, value):
        self.head = Link(value, self.head)
        self.size += 1

    def pop(self):
        if self.head is None:
            raise IndexError("pop from an empty stack")
        value = self.head.value
        self.head = self.head.next
        self.size -= 1
        return value

    def __len__(self):
        return self.size

    def __iter__(self):
        link = self.head
        while link is not None:
            yield link.value
            link = link.next


class Shape:
    sides = 0

    def __init__(self, size):
        self.size = size

    def area(self):
        raise NotImplementedError("area")

    def describe(self):
        return self.area() * 10 + self.sides


class Square(Shape):
    sides = 4

    def area(self):
        return self.size * self.size


class Cube(Square):
    def __init__(self, size, depth):
        super().__init__(size)
        self.depth = depth

    def area(self):
        return super().area() * self.depth


P, Q = Point(3.0, 4.0), Point(1, 2)


def reads(p):
    return p.x, p.y, p.norm(), p.scaled(), p.angle, p.length, p.scale


def writes(p, a):
    p.x = a
    p.y = p.x + a
    p.x += 1
    p.x -= 0.5
    return p


def methods(p):
    return p.move(1.5).move(2, times=3), Point.between(p, p), Point.unit(0.5), p.unit(1.0), p.between(p, p)


def setter(p):
    p.length = 10.0
    return p.length


def operators(p, q):
    p += q
    return p + q, p + 1, 2 + q, -p, p == q, p != q, p < q, p > q, abs(p), hash(p)


def containers(p):
    p[0] = 5.5
    p[1] = 7
    total = 0.0
    for x in p:
        total += x
    a, b = p
    return len(p), p[0], p[1], 7 in p, 99 in p, total, a, b, p(2), p(2, add=1), bool(p), not p


def index_error(p):
    return p[5]


def no_attribute(p):
    return p.nothing


def texts(p):
    return str(p), repr(p), f"{p} and {p!r}"


def identity(p, q):
    r = p
    return p is q, p is r, p is not q, p is None


def made(x, y):
    p = Point(x, y)
    q = Point(y=x, x=y)
    r = Point(x)
    return p, q, r, (p, p)


def counted(n):
    total = Point(0.0, 0.0)
    for i in range(n):
        total = total + Point(i, 2 * i)
    return total


@pytest.mark.parametrize("function, args", [
    (reads, (P,)), (reads, (Q,)), (reads, (Point(True, 2.5),)),
    (writes, (P, 2.0)), (writes, (Q, 2)), (writes, (P, 2 ** 40)), (writes, (Q, -3)), (writes, (Point(2 ** 61, 5), 0)),
    (methods, (P,)), (setter, (P,)), (operators, (P, Q)), (operators, (P, P)), (containers, (P,)),
    (index_error, (P,)), (no_attribute, (P,)), (texts, (P,)), (identity, (P, Q)), (identity, (P, P)),
    (made, (1.0, 2.0)), (made, (1, 2.0)), (counted, (50,)),
])
def test_plain_class(function, args):
    agree(function, *args)


def test_one_code_for_each_combination_of_attribute_types():
    def f(p):
        return p.x * 2 + p.y

    compiled = agree(f, P)
    agree(f, Q, compiled=compiled)
    agree(f, Point(1.5, 2), compiled=compiled)
    agree(f, Point(1, 2.5), compiled=compiled)
    agree(f, P, compiled=compiled)
    agree(f, Point(np.float32(1.5), 2), compiled=compiled)
    assert compiled.stats["compiled"] == 5


def test_attributes_that_the_code_does_not_read_may_be_anything():
    def f(p):
        return p.x + 1

    compiled = njit(f)
    for y in (1, 2.5, "text", None, [1], {"a": 2}, object()):
        p = Point(1.5, y)
        assert compiled(p) == 2.5
    assert compiled.stats["compiled"] == 1


def test_slots():
    def f(s):
        s.x += 1
        s.y = s.x * 2
        return s.x, s.y, s.total()

    for args in ((1, 2), (1.5, 2.5), (1, 2.5)):
        agree(f, Slots(*args))
    agree(f, More(1.0, 2.0, 3.0))
    agree(f, More(1, 2, 3.0))


def test_slot_without_a_value():
    def f(s):
        return s.x

    empty = Slots.__new__(Slots)
    compiled = agree(f, empty)
    agree(f, Slots(1, 2), compiled=compiled)
    agree(f, empty, compiled=compiled)


def dataclass_operations(v, w):
    u = v + w
    u.x = 2.0
    return u, u == v, v == w, v != w, v.dot(w), Vec(1.0), Vec(1.0, z=4.0), repr(u)


def make_all(a):
    return Frozen(a), Frozen(a, 1.5), Slotted(1.5, a), Both(2.5), Frozen(a) == Frozen(a), Both(1.0) == Both(1.0, 7)


def assign_frozen(f):
    f.a = 3
    return f


def post(r):
    p = Post(r)
    return p, p.area


def ordered(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, max(a, b), min(a, b)


@pytest.mark.parametrize("function, args", [
    (dataclass_operations, (Vec(1.0, 2.0, 3.0), Vec(1.0, 2.0, 3.0))), (dataclass_operations, (Vec(1.0), Vec(2.0))),
    (make_all, (3,)), (assign_frozen, (Frozen(1),)), (assign_frozen, (Both(1.0),)), (assign_frozen, (Slotted(1.0),)),
    (post, (2.0,)), (post, (-2.0,)), (ordered, (Version(1, 2), Version(1, 3))),
    (ordered, (Version(2), Version(1, 3))),
])
def test_dataclasses(function, args):
    agree(function, *args)


def test_objects_in_objects():
    def f(p, n):
        for _ in range(n):
            p.step(0.5)
            p.velocity.x += 1.0
        q = p.position
        q.y = 99.0
        return p.position is q, p.position.x, q, p.mass

    agree(f, Particle(Vec(1.0), Vec(0.5, 1.5)), 3)


def depth(node):
    if node is None:
        return 0
    return 1 + max(depth(node.left), depth(node.right))


def total(node):
    return 0 if node is None else node.value + total(node.left) + total(node.right)


def insert(node, value):
    if node is None:
        return Node(value)
    if value < node.value:
        node.left = insert(node.left, value)
    elif value > node.value:
        node.right = insert(node.right, value)
    return node


def build(n, step):
    root = None
    for i in range(n):
        root = insert(root, i * step % n)
    return root


@pytest.mark.parametrize("function, args", [
    (depth, (None,)), (depth, (Node(1),)), (depth, (build(40, 7),)), (total, (build(40, 7),)),
    (insert, (build(10, 3), 4)), (insert, (build(10, 3), 99)), (insert, (Node(5), 4)), (insert, (None, 4)),
    (build, (30, 7)), (total, (Node(1.5, Node(2, Node(3)), Node(4.5)),)),
])
def test_trees(function, args):
    agree(function, *args)


def chain(n):
    first = None
    for i in range(n):
        first = Link(i * 0.5, first)
    return first


def reverse(link):
    done = None
    while link is not None:
        following = link.next
        link.next = done
        done = link
        link = following
    return done


def last(link):
    while link.next is not None:
        link = link.next
    return link.value


def stack_of(n):
    s = Stack()
    for i in range(n):
        s.push(i * i)
    taken = s.pop() + s.pop()
    return s, len(s), sum(s), taken


def popped(s):
    return s.pop()


@pytest.mark.parametrize("function, args", [
    (chain, (5,)), (reverse, (chain(5),)), (reverse, (None,)), (last, (chain(3),)), (last, (Link(1),)),
    (stack_of, (6,)), (stack_of, (1,)), (popped, (Stack(),)), (popped, (stack_of(5)[0],)),
])
def test_linked_lists(function, args):
    agree(function, *args)


def test_an_object_in_itself():
    def f(link):
        return link.next.next.next.value, link.next is link

    ring = Link(1.5)
    ring.next = ring
    agree(f, ring)


def of_shapes(a, b, c):
    return a.describe() + b.describe() + c.describe(), isinstance(c, Shape), isinstance(a, Cube), type(b) is Square


def one_of(flag):
    shape = Square(2) if flag else Cube(2, 3)
    return shape.area(), shape


def test_inheritance():
    agree(of_shapes, Square(2), Square(1.5), Cube(2, 3))
    agree(one_of, True)
    agree(one_of, False)
    agree(lambda s: s.describe(), Shape(1))


def test_super_with_arguments():
    def f(c):
        return super(Cube, c).area(), super(Square, c).describe()

    agree(f, Cube(2, 3))


def test_objects_in_tuples():
    def f(pair, k):
        a, b = pair
        a.x = k
        return (b, a), a.x + b.x, pair[0] is a

    agree(f, (P, Q), 5.0)
    agree(f, (Vec(1.0), Slots(1, 2)), 5)


def test_aliases_are_one_object():
    def f(p, q):
        p.x = 7.5
        return q.x, p is q

    p = Point(1.0, 2.0)
    agree(f, p, p)
    compiled = njit(f)
    assert compiled(p, p) == (7.5, True)


def test_numbers_that_others_hold_are_not_written_over():
    def f(p, k):
        for _ in range(5):
            p.x += k
        return p.x

    compiled = njit(f)
    for start, k in ((1.5, 0.25), (1000, 7), (10**6, -3), (-5000, 1), (2**29, 2**28), (250, 3)):
        p = Point(start)
        held = p.x
        again = [held]
        compiled(p, k)
        assert held == start and again == [start] and p.x == start + 5 * k


def test_ints_of_any_size():
    def f(p, k):
        p.x = k
        p.y = p.x - 1
        return p.x + p.y

    compiled = njit(f)
    numbers = [0, 1, -1, 5, -5, -6, 256, 257, -257, 300, 2**15, 2**30 - 1, 2**30, -2**30 + 1, -2**30, 2**31, 2**60,
               -2**61]
    for start in numbers:
        for k in numbers:
            p = Point(start + 1000 if start < 2**60 else start, 77777)
            assert compiled(p, k) == 2 * k - 1
            assert (p.x, p.y) == (k, k - 1) and p.x is not None and str(p.x) == str(k)


def test_deleted_and_missing_attributes():
    def f(p):
        del p.x
        p.y = 4.0
        return p

    def g(p):
        del p.nothing

    def h(p):
        del p.x
        return p.x

    agree(f, P)
    agree(g, P)
    agree(h, P)
    agree(f, Slots(1, 2))
    agree(h, Slots(1, 2))


def test_an_object_whose_dict_was_asked_for():
    def f(p, k):
        p.x += k
        p.y = k
        return p.x, p.y

    compiled = njit(f)
    p = Point(1.5, 2.5)
    assert compiled(p, 1.0) == (2.5, 1.0)
    held = p.__dict__
    assert compiled(p, 1.0) == (3.5, 1.0)
    assert held == {"x": 3.5, "y": 1.0}
    held["x"] = 10.0
    assert compiled(p, 1.0) == (11.0, 1.0)
    p.__dict__ = {"x": 5.0, "y": 2.0}
    assert compiled(p, 1.0) == (6.0, 1.0)
    assert p.__dict__ == {"x": 6.0, "y": 1.0}


def _of_dicts(cls):
    """Objects whose attributes are in dicts of several forms."""
    p = cls(600, [1])
    yield p
    yield copy.copy(p)
    yield pickle.loads(pickle.dumps(p))
    yield copy.deepcopy(p)
    for change in (lambda d: d, lambda d: {5: 3} | d, lambda d: dict(reversed(d.items())), OrderedDict,
                   lambda d: {f"a{n}": n for n in range(99)} | d, lambda d: {"k": "own", **d}):
        p = cls(700, [1])
        p.__dict__ = change(p.__dict__)
        yield p
    for name in ("f", "l"):
        p = cls(800, [1])
        held = vars(p).pop(name)
        yield p
        p = copy.copy(p)
        setattr(p, name, held)
        yield p
    p = cls(900, [1])
    p.f = 7
    vars(p)
    yield p


class Kept:
    k = "of the class"

    def __init__(self, n, values):
        self.n = n
        self.f = n * 0.5
        self.l = values


def test_objects_with_dicts_of_all_forms():
    def f(p, n):
        for i in range(n):
            p.n += i
            p.f += p.n * 0.5
            p.l.append(i)
        return p.n, p.f, p.l, p.k

    compiled = njit(f)
    for n in (0, 3):
        for one, two in zip(_of_dicts(Kept), _of_dicts(Kept)):
            try:
                expected = f(one, n)
            except AttributeError as error:
                with pytest.raises(AttributeError, match=re.escape(str(error))):
                    compiled(two, n)
            else:
                assert told(compiled(two, n)) == told(expected)
            assert list(map(told, vars(one).items())) == list(map(told, vars(two).items()))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 keeps all attributes in dicts, which the interpreter reads")
def test_a_number_in_the_dict_of_a_copied_object_is_overwritten():
    def f(p):
        p.f += 1.0

    p = copy.deepcopy(Kept(600, []))
    place = id(vars(p)["f"])
    njit(f)(p)
    assert id(vars(p)["f"]) == place and p.f == 301.0


def test_many_attributes():
    class Wide:
        def __init__(self):
            for n in range(60):
                setattr(self, f"a{n}", n * 1.5)

    def f(w):
        w.a3 += 1.0
        w.a59 += 1.0
        return w.a3 + w.a59

    compiled = njit(f)
    for _ in range(3):
        w = Wide()
        assert compiled(w) == 5.5 + 89.5
        assert (w.a3, w.a59) == (5.5, 89.5)


def test_a_changed_class():
    class A:
        def value(self):
            return self.x

    class B:
        def value(self):
            return -self.x

    def f(a):
        return a.value()

    compiled = njit(f)
    a = A()
    a.x = 5
    assert compiled(a) == 5
    a.__class__ = B
    assert compiled(a) == -5
    a.__class__ = A
    assert compiled(a) == 5
    A.value = lambda self: self.x * 100
    assert compiled(a) == 500
    A.x = property(lambda self: 7)
    assert compiled(a) == 700


def test_class_attributes():
    class A:
        step = 2

        def __init__(self):
            self.n = 0

        def run(self):
            self.n += self.step
            return self.n

    compiled = njit(lambda a: a.run())
    a, b = A(), A()
    assert compiled(a) == 2
    b.step = 10
    assert compiled(b) == 10
    assert compiled(a) == 4
    A.step = 3
    assert compiled(a) == 7
    assert compiled(b) == 20


def test_attributes_hold_arrays_and_texts():
    class Data:
        def __init__(self, values, name):
            self.values, self.name = values, name

        def total(self):
            return self.values.sum()

        def fill(self, x):
            for i in range(len(self.values)):
                self.values[i] = x

        def replace(self):
            self.values = self.values * 2.0
            return self.values

    def f(d):
        before = d.values
        d.fill(2.5)
        made = d.replace()
        d.name = f"{d.name}!"
        return before, d.total(), made, d.name, d.values[0]

    for _ in range(3):
        agree(f, Data(np.arange(5.0), "name"))
    agree(f, Data(np.arange(5.0)[::2], "name"))
    d = Data(np.arange(5.0), "name")
    array = d.values
    kept = sys.getrefcount(array)
    compiled = njit(lambda d: d.values.sum())
    for _ in range(10):
        compiled(d)
    assert sys.getrefcount(array) == kept


def test_an_object_that_the_code_refers_to():
    config = Point(2.0, 5)

    def f(k):
        config.x += k
        return config.x, config.norm()

    compiled = njit(f)
    assert compiled(1.0) == (3.0, math.sqrt(34))
    config.x = 10.0
    assert compiled(1.0)[0] == 11.0


def test_references_are_counted():
    def f(link):
        total = 0.0
        while link is not None:
            total += link.value
            link = link.next
        return total

    first = chain(20)
    links = []
    link = first
    while link is not None:
        links.append(link)
        link = link.next
    del link
    counts = [sys.getrefcount(x) for x in links]
    compiled = njit(f)
    for _ in range(5):
        compiled(first)
    njit(depth)(build(10, 3))
    assert [sys.getrefcount(x) for x in links] == counts


def test_objects_are_let_go():
    class Noted:
        alive = 0

        def __init__(self, x):
            self.x = x

        def __del__(self):
            gone.append(self.x)

    gone = []

    def f(n):
        for i in range(n):
            Noted(i)
        last = Noted(-1)
        return last.x

    assert njit(f)(3) == -1
    assert gone == [0, 1, 2, -1]


def third(link):
    return link.next.next.value


def third_after_a_write(link):
    link.value = 5
    return link.next.next.value


def test_attributes_of_other_types_are_compiled_for():
    compiled = njit(third)
    for value in (3, "text", 2.5, None, 4, 2**70, [1]):
        agree(third, Link(1, Link(2, Link(value))), compiled=compiled)
    agree(third, Link(1, Link(2, None)), compiled=compiled)
    agree(third, Link(1, None), compiled=compiled)


def test_an_attribute_of_another_type_is_an_error_with_its_name():
    compiled = njit(third_after_a_write)
    assert compiled(Link(1, Link(2, Link(3)))) == 3
    with pytest.raises(TypeError, match="attribute 'value' of 'Link' object is a str here"):
        compiled(Link(1, Link(2, Link("text"))))
    with pytest.raises(OverflowError, match="attribute 'value' of 'Link' object is the int 1180591620717411303424, which"):
        compiled(Link(1, Link(2, Link(2**70))))
    with pytest.raises(AttributeError):
        compiled(Link(1, Link(2, None)))


def test_far_objects_of_other_types():
    def f(link):
        total = 0.0
        while link is not None:
            total += link.value
            link = link.next
        return total

    compiled = njit(f)
    assert compiled(chain(3000)) == f(chain(3000))
    mixed = chain(3000)
    mixed.next.next.value = 7
    assert compiled(mixed) == f(mixed)


def test_init_errors():
    class Bad:
        def __init__(self):
            return 5

    class Plain:
        pass

    agree(lambda: Bad())
    agree(lambda: Plain(1))
    agree(lambda: Plain())
    with pytest.raises(TypingError, match="missing 1 required positional argument: 'x'"):
        njit(lambda: Point())()


def test_abstract():
    import abc

    class A(abc.ABC):
        @abc.abstractmethod
        def f(self):
            pass

    class B(A):
        def f(self):
            return 3

    agree(lambda: A())
    assert njit(lambda: B().f())() == 3


def test_context_managers():
    class Guarded:
        def __init__(self):
            self.depth = 0
            self.errors = 0

        def __enter__(self):
            self.depth += 1
            return self

        def __exit__(self, kind, error, trace):
            self.depth -= 1
            if error is not None:
                self.errors += 1
            return True

    def f(g, k):
        with g as h:
            inside = h.depth
            if k < 0:
                raise ValueError("negative")
            inside += 10
        return inside, g.depth, g.errors

    agree(f, Guarded(), 1)
    agree(f, Guarded(), -1)


@pytest.mark.parametrize("what, message", [
    ("meta", "metaclass"), ("descriptor", "whose own code"),
])
def test_what_is_not_understood_is_refused(what, message):
    class Meta(type):
        def __call__(cls, *args):
            return super().__call__(*args)

    class Descriptor:
        __get__ = print

    class A(metaclass=Meta if what == "meta" else type):
        if what == "descriptor":
            y = Descriptor()

    def f(a):
        A()
        a.x = 5
        return a.y

    with pytest.raises(TypingError, match=message) as caught:
        njit(f)(A())
    assert "help:" in str(caught.value)


def no_class(n):
    return super().x


def test_super_outside_a_class():
    agree(no_class, 3)


def test_attributes_that_no_object_has():
    def f(p):
        try:
            return p.totl
        except AttributeError as error:
            return str(error)

    agree(f, P)


@dataclass
class World:
    bodies: list = field(default_factory=list)
    time: float = 0.0

    def add(self, body):
        self.bodies.append(body)

    def step(self, dt):
        for body in self.bodies:
            body.x += body.y * dt
        self.time += dt
        return self


class Pile:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()


class Graph:
    def __init__(self, n):
        self.near = [[] for _ in range(n)]

    def join(self, a, b):
        self.near[a].append(b)
        self.near[b].append(a)

    def distances(self, start):
        found = [-1] * len(self.near)
        found[start] = 0
        queue = [start]
        for u in queue:
            for v in self.near[u]:
                if found[v] < 0:
                    found[v] = found[u] + 1
                    queue.append(v)
        return found


def total_of(bodies):
    total = 0.0
    for body in bodies:
        total += body.x * body.y
        body.x += 1
    return total


def steps(world, n):
    for _ in range(n):
        world.step(0.5)
    return world.time, world.bodies[0].x, world.bodies[0] is world.bodies[-1]


def made_world(n):
    world = World()
    for i in range(n):
        world.add(Vec(i * 1.0, 2.0))
    return world.step(1.0)


def list_of_objects(n):
    made = [Vec(i * 0.5) for i in range(n)]
    made.append(Vec(3.0, 3.0))
    return made, made[-1].x


def pile(n):
    p = Pile()
    for i in range(n):
        p.push(i)
    total = 0
    while len(p.items) > 0:
        total = total * 3 + p.pop()
    return total, p


def distances(n):
    g = Graph(n)
    for i in range(n - 1):
        g.join(i, i + 1)
    g.join(0, n // 2)
    return g.distances(0), g


def areas(shapes):
    total = 0.0
    for shape in shapes:
        total += shape.describe()
    return total


SAME = Vec(5.0, 6.0)


@pytest.mark.parametrize("function, args", [
    (total_of, ([Vec(1.0, 2.0), Vec(3.0, 4.0)],)), (total_of, ([SAME, SAME],)), (total_of, ([],)),
    (total_of, ([Slots(1, 2), Slots(1.5, 2)],)), (total_of, ([Vec(1.0), Slots(1, 2)],)),
    (steps, (World([Vec(1.0, 2.0), Vec(3.0, 4.0)]), 4)), (steps, (World([SAME, SAME]), 4)), (steps, (World(), 1)),
    (made_world, (3,)), (list_of_objects, (3,)), (pile, (5,)), (distances, (8,)),
    (areas, ([Square(2), Cube(2, 3), Square(1.5)],)), (areas, ([Square(2), Shape(1)],)),
])
def test_objects_and_lists(function, args):
    agree(function, *args)


@njit
class Counter:
    """Its methods are compiled."""

    step = 2

    def __init__(self, n=0):
        self.n = n

    def up(self, times):
        for _ in range(times):
            self.n += self.step
        return self.n

    @property
    def double(self):
        return self.n * 2

    @double.setter
    def double(self, value):
        self.n = value / 2

    @classmethod
    def at(cls, n):
        return cls(n)

    @staticmethod
    def plus(a, b):
        return a + b

    def __add__(self, other):
        return Counter(self.n + other.n)

    def __eq__(self, other):
        return self.n == other.n

    def __repr__(self):
        return f"Counter({self.n})"

    def __iter__(self):
        for i in range(self.n):
            yield i


@njit
@dataclass
class Ball:
    x: float
    v: float = 1.0

    def move(self, dt):
        self.x += self.v * dt
        return self


class Mixed(Counter):
    @njit
    def up(self, times):
        return super().up(times) * 10

    def plain(self):
        return self.up(1)


def test_njit_of_a_class():
    assert isinstance(Counter, type) and Counter.__doc__ == "Its methods are compiled."
    assert hasattr(Counter.up, "py_func") and hasattr(vars(Counter)["double"].fget, "py_func")
    c = Counter(3)
    assert c.up(5) == 13 and c.n == 13 and c.double == 26
    c.double = 10.0
    assert c.n == 5.0 and c == Counter(5.0) and Counter.at(4).n == 4 and Counter.plus(1, 2) == 3
    assert repr(Counter(1) + Counter(2)) == "Counter(3)" and list(Counter(3)) == [0, 1, 2]
    assert Counter.up.stats["compiled"] == 1

    def f(n):
        c = Counter(n)
        c.up(3)
        return c, c.double, Counter.at(2) + c, sum(c)

    agree(f, 4)
    assert type(njit(f)(3)[0]) is Counter
    assert Ball(1.0).move(2.0) == Ball(3.0) and not hasattr(Ball.__init__, "py_func")
    assert njit(cache=False)(Counter) is Counter


def test_njit_of_a_method():
    m = Mixed(1)
    assert m.up(2) == 50 and m.plain() == 70 and m.n == 7
    agree(lambda m: m.plain() + m.up(1), Mixed(1))


class Later:
    def __init__(self):
        self.best = None
        self.count = 0

    def offer(self, x):
        if self.best is None or x.x > self.best.x:
            self.best = x
        self.count += 1
        return self


def kept(later):
    return twice(later.best)


def twice(x):
    return 0.0 if x is None else x.x * 2


def doubled(x):
    return x.x * 2


def test_what_is_known_later():
    """An attribute is None at first, and a function that is called with it takes an object."""
    def f(points):
        later = Later()
        total = 0.0
        for p in points:
            total += kept(later)
            later.offer(p)
            total += doubled(later.best)
        return total, later.best, later.count

    agree(f, [Point(1.5), Point(3.5), Point(2.5)])


def test_attributes_hold_functions():
    class Rule:
        def __init__(self, apply, times):
            self.apply, self.times = apply, times

        def run(self, x):
            for _ in range(self.times):
                x = self.apply(x)
            return x

    def f(rule, x):
        return rule.run(x)

    def twice(x):
        return x * 2

    compiled = agree(f, Rule(twice, 3), 1.5)
    assert compiled(Rule(lambda x: x + 1, 2), 5) == 7
    assert compiled(Rule(math.sqrt, 1), 16.0) == 4.0
    assert compiled(Rule(twice, 1), 4) == 8


def test_context_managers_see_the_exception():
    class Told:
        def __init__(self):
            self.seen = 0

        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            if kind is not None and issubclass(kind, ValueError) and trace is not None:
                self.seen += 1
                return True
            return False

    def f(t, k):
        with t:
            if k == 1:
                raise ValueError("value")
            if k == 2:
                raise KeyError("key")
        return t.seen

    for k in range(3):
        agree(f, Told(), k)


def test_an_array_of_an_object_is_that_array():
    class Holder:
        def __init__(self, a):
            self.a = a

    def f(h, a):
        before = h.a
        h.a = a
        return h.a is a, before is h.a, h.a is h.a, before is a

    agree(f, Holder(np.arange(3.0)), np.arange(4.0))


PROGRAM = """
import pyjitc
from shapes_of_a_program import Point, Slots, Link
@pyjitc.njit(cache=True)
def f(p, s, link, points):
    s.x += p.norm()
    total = s.x + s.y
    while link is not None:
        total += link.point.norm()
        link = link.next
    for p in points:
        total += p.x
    return total
link = Link(Point(1.0, 2.0), Link(Point(3.0, 4.0), None))
print(f(Point(3.0, 4.0), Slots(1.0, 2.0), link, [Point(5.0, 6.0)]), f.stats["disk"])
"""
CLASSES = """
class Point:
    def __init__(self, x, y):
        {order}
    def norm(self):
        return self.x * {factor} + self.y
class Slots:
    __slots__ = ({slots})
    def __init__(self, x, y):
        self.x, self.y = x, y
class Link:
    def __init__(self, point, next):
        self.point, self.next = point, next
"""


def test_the_disk_cache(tmp_path):
    import subprocess

    def run(order, factor, slots):
        (tmp_path / "shapes_of_a_program.py").write_text(CLASSES.format(order=order, factor=factor, slots=slots))
        (tmp_path / "program.py").write_text(PROGRAM)
        import os
        env = {**os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True,
                              check=True).stdout.split()

    plain = "self.x = x; self.y = y"
    assert run(plain, 1, "'x', 'y'") == ["25.0", "0"]
    assert run(plain, 1, "'x', 'y'") == ["25.0", "1"]
    assert run("self.y = y; self.x = x", 1, "'x', 'y'")[0] == "25.0"
    assert run(plain, 1, "'a', 'x', 'y'") == ["25.0", "0"]
    assert run(plain, 2, "'x', 'y'") == ["32.0", "0"]


def test_a_method_is_not_hidden():
    class A:
        def run(self):
            return 1

    def f(a):
        return a.run()

    def g(a):
        a.run = 5

    a = A()
    a.run = lambda: 2
    assert f(a) == 2 and njit(f)(a) == 1
    with pytest.raises(TypingError, match="assigning to 'run', which is a method of"):
        njit(g)(a)


class Table:
    def __init__(self, values, k=2.0):
        self.values, self.k = values, k

    def total(self):
        total = 0.0
        for i in range(len(self.values)):
            total += self.values[i]
        return total

    def first(self, n):
        total = 0.0
        for i in range(n):
            total += self.values[i] * self.k
        return total

    def fill(self):
        for i in range(len(self.values)):
            self.values[i] = self.k * i
        return self.values

    def grow(self, n):
        for i in range(n):
            self.values = np.concatenate((self.values, self.values))
            self.values[0] = i
            self.k += 1.0
        return self.values.sum(), len(self.values)

    def swapped(self, other, n):
        total = 0.0
        for i in range(n):
            total += self.values[i]
            self.swap(other)
        return total

    def swap(self, other):
        self.values, other.values = other.values, self.values

    def products(self, n):
        total = 0.0
        for i in range(n):
            self.k += 0.5
            for j in range(len(self.values)):
                total += self.values[j] * i
        return total


@pytest.mark.parametrize("function, args", [
    (Table.total, (Table(np.arange(50.0)),)), (Table.first, (Table(np.arange(5.0)), 5)),
    (Table.first, (Table(np.arange(5.0)), 6)), (Table.fill, (Table(np.arange(50.0)),)),
    (Table.grow, (Table(np.arange(3.0)), 4)), (Table.products, (Table(np.arange(6.0)), 4)),
    (Table.swapped, (Table(np.arange(6.0)), Table(np.arange(6.0) * 10), 5)),
    (Table.total, (Table(np.arange(50.0)[::2]),)), (Table.total, (Table(np.zeros(0)),)),
])
def test_arrays_of_objects_in_loops(function, args):
    agree(function, *args)


def test_arrays_of_objects_are_read_once_before_a_loop():
    compiled = njit(Table.total)
    t = Table(np.arange(50.0))
    compiled(t)
    (text,) = compiled._inspect("opt", None).values()
    assert text.count("field_peek") == 1 and "array_load" in text
    # Without the attribute, the loop raises when it reads it.
    compiled = njit(Table.first)
    compiled(t, 3)
    empty = Table(np.arange(3.0))
    del empty.values
    assert compiled(empty, 0) == 0.0
    with pytest.raises(AttributeError, match="'Table' object has no attribute 'values'"):
        compiled(empty, 1)
    array = t.values
    kept = sys.getrefcount(array)
    for _ in range(10):
        compiled(t, 3)
        njit(Table.grow)
    assert sys.getrefcount(array) == kept


def test_constants_of_a_class():
    class A:
        rate = 2.5
        count = 3
        on = True

        def __init__(self, x):
            self.x = x

    def f(objects):
        total = 0.0
        for a in objects:
            total += a.x * a.rate + a.count if a.on else -1.0
        return total

    compiled = njit(f)
    objects = [A(i * 1.0) for i in range(10)]
    assert compiled(objects) == compiled(objects) == f(objects)
    objects[7].rate = 10.0
    assert compiled(objects) == f(objects)
    objects[8].count = 100
    objects[2].on = False
    assert compiled(objects) == f(objects)
    del objects[7].rate
    assert compiled(objects) == f(objects)
    objects[3].__dict__["rate"] = -1.0
    assert compiled(objects) == f(objects)
    objects[4].rate = 5  # another type
    assert compiled(objects) == f(objects)
    A.rate = 100.0
    assert compiled(objects) == f(objects)
    A.count = 2.5
    assert compiled(objects) == f(objects)
    objects[1].__dict__
    assert compiled(objects) == f(objects)


class Steps:
    def __init__(self, n):
        self.n, self.i = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i

    def __delitem__(self, k):
        self.n -= k

    def __divmod__(self, other):
        return self.n // other.n, self.n % other.n


class NoSteps:
    def __iter__(self):
        return 5 if False else Point(1)


def stepped(s):
    total = 0
    for x in s:
        total += x
        if x == 3:
            break
    return total, sum(s), next(s, -1)


def next_two(s):
    return next(s), next(s)


class Temperature:
    def __init__(self, degrees):
        self.degrees = degrees

    @property
    def fahrenheit(self):
        return self.degrees * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self.degrees = (value - 32) * 5 / 9

    @fahrenheit.deleter
    def fahrenheit(self):
        self.degrees = 0  # of another type than before

    @property
    def fixed(self):
        return 1


def deleted_property(degrees):
    t = Temperature(degrees)
    first = t.fahrenheit
    t.fahrenheit = 212
    second = t.degrees
    del t.fahrenheit
    return first, second, t.degrees, t


def deleted_property_without_deleter(t):
    del t.fixed


def test_deleters_of_properties():
    agree(deleted_property, 36.6)
    agree(deleted_property, 3)
    agree(deleted_property_without_deleter, Temperature(1.5))


class Squares:
    """Has items, and no __iter__."""

    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        if i == self.n:
            raise IndexError(i)
        return 100 // (5 - i)


class SizedSquares(Squares):
    def __len__(self):
        return self.n


class Letters:
    def __getitem__(self, i):
        if i > 3:
            raise StopIteration
        return "abcd"[i]


def by_index(n):
    a, *b = Squares(n)
    steps = iter(Squares(n))
    first = next(steps)
    forth_and_back = [*SizedSquares(n), *reversed(SizedSquares(n))]
    return (a, b, first, list(steps), next(steps, "ended"), forth_and_back, 50 in Squares(n), 7 in Squares(n),
            "".join(Letters()), [*zip(Squares(n), Letters())], sum(Squares(n)), max(enumerate(Letters())))


def without_a_length():
    return list(reversed(Letters()))


def test_objects_with_items_alone_are_iterable():
    agree(by_index, 1)
    agree(by_index, 5)
    agree(by_index, 6)  # item 5 raises another exception
    with pytest.raises(TypingError, match="object of type 'Letters' has no len()"):
        njit(without_a_length)()
    with pytest.raises(TypeError, match="object of type 'Letters' has no len()"):
        without_a_length()


def by_name(v):
    setattr(v, "x", 3.0)
    return getattr(v, "x") + getattr(v, "zz", 5), hasattr(v, "y"), hasattr(v, "zz"), v.__class__.__name__


def deleted_item(s):
    del s[1]
    return s, divmod(s, Steps(3))


def matched(v):
    match v:
        case Vec(x=1.0, y=b):
            return b
        case Vec(a, 0.5):
            return a
    return -1


@pytest.mark.parametrize("function, args", [
    (stepped, (Steps(5),)), (stepped, (Steps(2),)), (next_two, (Steps(2),)), (next_two, (Steps(1),)),
    (by_name, (Vec(1.0),)), (by_name, (Point(1.0),)), (deleted_item, (Steps(8),)), (matched, (Vec(1.0, 2.0),)),
    (matched, (Vec(3.0),)), (matched, (Vec(3.0, 4.0),)),
])
def test_iterators_and_names(function, args):
    agree(function, *args)


def test_what_is_no_iterator():
    with pytest.raises(TypeError, match="iter\\(\\) returned non-iterator of type 'Point'"):
        njit(lambda s: sum(x for x in s))(NoSteps())


class Chained:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@pytest.mark.parametrize("name", ["store", "add", "delete"])
def test_an_attribute_of_none_cannot_be_stored(name):
    def store(one):
        one.next.value = 4
        return one.next.value

    def add(one):
        one.next.value += 4
        return one.next.value

    def delete(one):
        del one.next.value
        return one.value

    plain = {"store": store, "add": add, "delete": delete}[name]
    function = njit(plain)
    assert function(Chained(1, Chained(2))) == plain(Chained(1, Chained(2)))
    with pytest.raises(AttributeError) as expected:
        plain(Chained(1))
    with pytest.raises(AttributeError, match=re.escape(str(expected.value))):
        function(Chained(1))


GONE = []


class Leaving:
    def __init__(self, number):
        self.number = number

    def __del__(self):
        GONE.append(self.number)


def test_a_variable_lets_go_after_its_last_use():
    def used(n):
        one = Leaving(n)
        number = one.number
        GONE.append(100)
        return number

    for function, expected in ((used, [100, 7]), (njit(used), [7, 100])):
        GONE.clear()
        assert function(7) == 7 and GONE == expected


class Undecided:
    def __init__(self, v, asked):
        self.v, self.asked = v, asked

    def __lt__(self, other):
        self.asked.append("lt")
        return NotImplemented

    def __gt__(self, other):
        self.asked.append("gt")
        return self.v > other.v

    def __eq__(self, other):
        self.asked.append("eq")
        return NotImplemented


class MoreUndecided(Undecided):
    def __gt__(self, other):
        self.asked.append("gt of the derived class")
        return True

    def __ne__(self, other):
        self.asked.append("ne")
        return NotImplemented


class EqualToOne:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == 1


def comparisons_that_are_not_implemented(n):
    asked = []
    a, b, m, one = Undecided(n, asked), Undecided(n + 1, asked), MoreUndecided(n, asked), EqualToOne(n)
    found = [a < b, a > b, a == b, a != b, a == a, a != a, a < m, m < a, a != m, m != a, a == m, m == m, m != m,
             one != m, m != one, one == m, m == one, one != 3, one == 3, m != 3, 3 != m]
    return found, asked


def test_comparisons_that_are_not_implemented():
    compiled = njit(comparisons_that_are_not_implemented)
    for n in (1, 2):
        agree(comparisons_that_are_not_implemented, n, compiled=compiled)


@dataclass
class Tuned:
    name: str
    scale: dataclasses.InitVar[float] = 1.5
    size: float = field(init=False)
    kinds: ClassVar[tuple] = ("a", "b")
    made: ClassVar[int] = 0

    def __post_init__(self, scale):
        self.size = len(self.name) * scale
        Tuned.made += 1


def test_variables_of_the_class_and_of_init_are_no_fields():
    def f(name):
        x, y = Tuned(name), Tuned(name, 2.0)
        y.kinds = ("c",)
        return x.kinds, y.kinds, x.scale, x.size, y.size, y.made - x.made, Tuned.made - Tuned.made, x

    def g(x):
        return x.kinds, x.scale, x.size

    agree(f, "abc")
    agree(g, Tuned("ab", 3.0))
