"""Classes that are defined inside functions, compared with the interpreter."""
import dataclasses
import functools
import gc
import heapq
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import pytest

from pyjitc import TypingError, jit, njit
from pyjitc.front.functions import Prototype
from tests.language.corpus import check, corpus, each
from tests.oracle import agree

case, CASES = corpus()


@case((3,), (0,))
def local_class(n):
    class Counter_:
        step = 2

        def __init__(self, start):
            self.value = start

        def bump(self):
            self.value += self.step
            return self.value
    c = Counter_(n)
    return [c.bump() for _ in range(n)], c.value


@case((3,), (0,))
def local_dataclass(n):
    @dataclass
    class Pt:
        x: int
        y: int = 0

        def norm(self):
            return self.x + self.y
    @dataclass(order=True, frozen=True)
    class Q:
        a: float
        tags: tuple = ()
    qs = sorted([Q(2.0), Q(1.0, ("b",)), Q(n + 0.5)])
    try:
        qs[0].a = 3.0
    except dataclasses.FrozenInstanceError:
        pass
    return Pt(n, 2).norm(), repr(Pt(1)), [q.a for q in qs], Pt(1) == Pt(1, 0)


@case((3,), (0,))
def local_tuple(n):
    P = namedtuple("P", "a b")
    p = P(n, 2)
    return p.a + p.b, repr(p), p == (n, 2)


@case(([3, 1, 2],), ([],))
def local_list(items):
    class Node:
        def __init__(self, value, next=None):
            self.value = value
            self.next = next
    class Stack:
        def __init__(self):
            self.head = None
            self.n = 0

        def push(self, v):
            self.head = Node(v, self.head)
            self.n += 1

        def pop(self):
            if self.head is None:
                raise IndexError("empty")
            v, self.head = self.head.value, self.head.next
            self.n -= 1
            return v

        def __len__(self):
            return self.n
    s = Stack()
    for x in items:
        s.push(x)
    out = [s.pop() for _ in range(len(s))]
    try:
        s.pop()
    except IndexError:
        out.append(-1)
    return out


@case(([5, 2, 8],), ([1],))
def local_tree(items):
    class Node:
        __slots__ = ("key", "left", "right")

        def __init__(self, key):
            self.key, self.left, self.right = key, None, None

        def insert(self, key):
            if key < self.key:
                if self.left is None:
                    self.left = Node(key)
                else:
                    self.left.insert(key)
            elif self.right is None:
                self.right = Node(key)
            else:
                self.right.insert(key)

        def walk(self):
            if self.left is not None:
                yield from self.left.walk()
            yield self.key
            if self.right is not None:
                yield from self.right.walk()
    root = Node(items[0])
    for k in items[1:]:
        root.insert(k)
    return list(root.walk())


@case((4,), (-1,))
def local_exception(n):
    class Bad(ValueError):
        pass
    class Worse(Bad):
        def __init__(self, code):
            super().__init__(f"code {code}")
            self.code = code
    try:
        if n < 0:
            raise Worse(n)
        raise Bad("b", n)
    except Worse as e:
        return "worse", e.code, str(e)
    except Bad as e:
        return "bad", e.args


@case((2.0, "sq"), (1.5, "ci"), (1.0, "x"))
def local_hierarchy(x, kind):
    scale = 10
    class Shape:
        name = "shape"

        def __init__(self, x):
            self.x = x

        def area(self):
            raise NotImplementedError

        def describe(self):
            return f"{self.name}:{self.area() * scale:.1f}"
    class Sq(Shape):
        name = "sq"

        def area(self):
            return self.x ** 2
    class Ci(Shape):
        name = "ci"

        def area(self):
            return 3.0 * self.x * self.x

        @property

        def double(self):
            return 2 * self.x

        @staticmethod

        def unit():
            return Ci(1.0)
    table = {"sq": Sq, "ci": Ci}
    if kind not in table:
        return Shape(x).describe()
    s = table[kind](x)
    return s.describe(), Ci.unit().double


@case(([("a", 2), ("b", 1)],))
def local_lt(items):
    class Task:
        def __init__(self, name, prio):
            self.name, self.prio = name, prio

        def __lt__(self, other):
            return self.prio < other.prio

        def __repr__(self):
            return f"Task({self.name})"
    h = []
    for name, p in items:
        heapq.heappush(h, Task(name, p))
    out = []
    while h:
        out.append(repr(heapq.heappop(h)))
    return out


@case((1,), (2,), (7,))
def local_enum(n):
    class Color(Enum):
        RED = 1
        GREEN = 2
    try:
        c = Color(n)
    except ValueError as e:
        return str(e)
    return c.name, c is Color.RED, [x.value for x in Color]


@case((3,), (0,))
def local_iterator(n):
    class It:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if not self.n:
                raise StopIteration
            self.n -= 1
            return self.n
    return list(It(n)), sum(It(4))


@case((3,))
def local_forward(n):
    class A:
        def make(self, k):
            return B(k)
    class B(A):
        def __init__(self, k):
            self.k = k
    return A().make(n).make(n + 1).k


def helper_class(n):
    class Acc:
        def __init__(self):
            self.total = 0

        def add(self, x):
            self.total += x
            return self
    a = Acc()
    for i in range(n):
        a.add(i)
    return a


@case((3,))
def local_in_callee(n):
    return helper_class(n).total + helper_class(n + 1).total


@case((3,))
def local_total_ordering(n):
    @functools.total_ordering
    class V:
        def __init__(self, k):
            self.k = k

        def __eq__(self, o):
            return self.k == o.k

        def __lt__(self, o):
            return self.k < o.k
    class P(NamedTuple):
        x: int
        y: float = 1.5
    return V(n) >= V(2), V(n) > V(5), repr(P(n)), P(1, 2.0).y


@each(CASES)
def test_as_in_the_interpreter(function, calls):
    check(function, calls)


def local_captures(n):
    log = []
    class Handler:
        def __init__(self, k):
            self.k = k

        def emit(self, x):
            log.append(x * self.k + n)
    h = Handler(2)
    for i in range(n):
        h.emit(i)
    return log


def local_counter(n):
    class C:
        made = 0

        def __init__(self):
            C.made += 1
    for _ in range(n):
        C()
    return C.made


def local_shared(n):
    class C:
        items = []

        def add(self, x):
            self.items.append(x)
    C().add(n)
    C().add(n + 1)
    return C.items


@pytest.mark.parametrize("function", [local_captures, local_counter, local_shared])
def test_a_class_of_variables_is_refused_or_made_by_the_interpreter(function):
    with pytest.raises(TypingError, match="defined in a function|which a function defines|changed in place"):
        njit(function)(3)
    agree(function, 3, compiled=jit(function))


LIMIT = 5


def reading(n):
    class C:
        limit = LIMIT

    return C.limit + n


def test_a_global_variable_that_the_body_reads():
    compiled = agree(reading, 1)
    globals()["LIMIT"] = 7
    try:
        agree(reading, 1, compiled=compiled)
    finally:
        globals()["LIMIT"] = 5


def test_a_class_is_the_same_in_all_calls():
    def made(n):
        class C:
            pass

        return C()

    compiled = njit(made)
    assert type(made(1)) is not type(made(1))
    assert type(compiled(1)) is type(compiled(1))
    assert type(compiled(1)).__qualname__ == type(made(1)).__qualname__
    assert type(compiled(1)).__module__ == __name__


def test_functions_that_a_class_reads_are_freed_with_the_program():
    source = """
def made(n):
    def twice(x):
        return 2 * x

    class P:
        def __init__(self, x):
            self.x = twice(x)

    return P(n).x
"""
    def prototypes():
        gc.collect()
        return sum(type(one) is Prototype for one in gc.get_objects())

    def run(factor):
        space = {"__name__": "freed"}
        exec(source.replace("2", str(factor)), space)
        assert njit(cache=False)(space["made"])(4) == 4 * factor

    run(2)
    before = prototypes()
    for factor in range(3, 8):
        run(factor)
    assert prototypes() <= before


def test_a_program_without_a_name():
    """Where `exec` runs a program in a namespace without `__name__`, "builtins" is the module of its classes."""
    space = {}
    exec("""
class Wrong(Exception):
    def __init__(self, *, code):
        self.code = code

class Base:
    def __init__(self, x):
        self.x = x

def made(n):
    class Inner(Base):
        def twice(self):
            return 2 * self.x

    try:
        if n < 0:
            raise Wrong(code=n)
    except Wrong as e:
        return e.code, 0.0, Base.__module__
    return Inner(n).twice(), Base(n).x, Inner.__module__
""", space)
    assert space["Base"].__module__ == "builtins"
    for decorator in (njit, jit):
        compiled = decorator(space["made"])
        for n in (4, -4):
            agree(space["made"], n, compiled=compiled)
        assert compiled.signatures
