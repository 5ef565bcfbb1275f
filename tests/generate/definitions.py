"""The classes and functions that programs of `data.py` use."""

__all__ = ["HEAD"]

HEAD = '''import heapq
import itertools
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum


class Mode(Enum):
    IDLE = 0
    BUSY = 1
    DONE = 2

    def after(self):
        return Mode((self.value + 1) % 3)


class Full(Exception):
    def __init__(self, name, size):
        super().__init__(f"{name} is full")
        self.size = size


@dataclass
class Item:
    name: str
    count: int = 0
    price: float = 1.0
    tags: list = field(default_factory=list)

    def add(self, n):
        if n < 0 and self.count + n < 0:
            raise ValueError(f"{self.name}: {self.count}, not {-n}")
        self.count += n
        return self.count

    @property
    def worth(self):
        return self.count * self.price

    def __lt__(self, other):
        return (self.count, self.name) < (other.count, other.name)


@dataclass(frozen=True, order=True)
class Event:
    time: int
    name: str = "e"

    def later(self, by):
        return Event(self.time + by, self.name)


class Stack:
    def __init__(self, items=(), limit=6):
        self._items = list(items)
        self.limit = limit

    def push(self, x):
        if len(self._items) >= self.limit:
            raise Full("stack", len(self._items))
        self._items.append(x)
        return self

    def pop(self):
        return self._items.pop()

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, k):
        return self._items[k]

    def __contains__(self, x):
        return x in self._items

    def __bool__(self):
        return len(self._items) > 1


class Trie:
    def __init__(self):
        self.children = {}
        self.ends = 0

    def insert(self, word):
        node = self
        for c in word:
            if c not in node.children:
                node.children[c] = Trie()
            node = node.children[c]
        node.ends += 1

    def count(self, prefix):
        node = self
        for c in prefix:
            node = node.children.get(c)
            if node is None:
                return 0
        return node.total()

    def total(self):
        return self.ends + sum(child.total() for child in self.children.values())


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(self.x + other.x, self.y + other.y)
        return Vector(self.x + other, self.y + other)

    def __mul__(self, k):
        return Vector(self.x * k % 101, self.y * k % 101)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __repr__(self):
        return f"<{self.x} {self.y}>"


def tokens(text):
    k = 0
    while k < len(text):
        c = text[k]
        if c.isdigit():
            end = k
            while end < len(text) and text[end].isdigit():
                end += 1
            yield "number", text[k:end]
            k = end
            continue
        if not c.isspace():
            yield ("name" if c.isalpha() else "sign"), c
        k += 1


def chunks(items, size):
    for k in range(0, len(items), size):
        yield items[k:k + size]


def positive(items):
    for x in items:
        if x > 0:
            yield x


def merged(a, b):
    i = j = 0
    made = []
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            made.append(a[i])
            i += 1
        else:
            made.append(b[j])
            j += 1
    return made + a[i:] + b[j:]


def encoded(text):
    made = []
    for c, group in itertools.groupby(text):
        n = len(list(group))
        made.append(f"{n}{c}" if n > 1 else c)
    return "".join(made)


def reached(groups, start):
    seen, todo = {start}, [start]
    while todo:
        for x in groups.get(todo.pop(), ()):
            if x not in seen:
                seen.add(x)
                todo.append(x)
    return seen


def depth(tree):
    return 1 + max((depth(x) for x in tree), default=0)


def checked(x, low=-100, *, high=100):
    if not low <= x <= high:
        raise ValueError(f"{x} is not in {low}..{high}")
    return x


class Shape:
    sides = 0

    def __init__(self, size):
        self.size = size

    def area(self):
        raise NotImplementedError(f"{type(self).__name__}.area")

    def grown(self, by=1):
        return type(self)(self.size + by)

    def __str__(self):
        return f"{type(self).__name__}({self.size}, {self.sides})"


class Square(Shape):
    sides = 4

    def area(self):
        return self.size ** 2


class Disk(Shape):
    def __init__(self, size, colour="red"):
        super().__init__(size)
        self.colour = colour

    def area(self):
        return 3.0 * self.size * self.size

    def __str__(self):
        return self.colour + super().__str__()


class Blob(Shape):
    pass


class Tree:
    def __init__(self, key, left=None, right=None):
        self.key, self.left, self.right = key, left, right

    def insert(self, key):
        if key == self.key:
            return False
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
                return True
            return self.left.insert(key)
        if self.right is None:
            self.right = Tree(key)
            return True
        return self.right.insert(key)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right

    def __bool__(self):
        return True

    def __contains__(self, key):
        node = self
        while node is not None and node.key != key:
            node = node.left if key < node.key else node.right
        return node is not None

    def height(self):
        return 1 + max(t.height() if t else 0 for t in (self.left, self.right))


class Account:
    made = 0

    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance
        type(self).made += 0

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, value):
        if value < 0:
            raise ValueError(f"{self.owner} has no {-value}")
        self._balance = value

    @classmethod
    def of(cls, text):
        owner, _, balance = text.partition(":")
        return cls(owner, int(balance or 0))

    @staticmethod
    def valid(n):
        return 0 < n < 90

    def move(self, other, n):
        self.balance -= n
        try:
            other.balance += n
        finally:
            self._balance += 0


class Restored:
    def __init__(self, items):
        self.items = items

    def __enter__(self):
        self.kept = self.items[:]
        return self.items

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.items[:] = self.kept
        return kind is KeyError


def counter(start, step=1):
    n = start
    while n < 40:
        got = yield n
        n += step if got is None else got


def guarded(items, log):
    try:
        for x in items:
            yield x * 2
    finally:
        log.append("end")


def total_of(*numbers, scale=1, **named):
    return scale * sum(numbers) + sum(named.values()) + len(named)


def power(x, n, known={}):
    if (x, n) not in known:
        known[x, n] = 1 if n <= 0 else x * power(x, n - 1) % 1009
    return known[x, n]


def flat(x):
    if isinstance(x, (list, tuple)):
        for y in x:
            yield from flat(y)
    else:
        yield x


def described(x):
    match x:
        case None:
            return "none"
        case bool():
            return "bool"
        case int() | float() if x > 3:
            return "big"
        case int(n):
            return f"int {n}"
        case str() as t:
            return t + "!"
        case [a, b]:
            return f"two {described(a)} {described(b)}"
        case (a, *rest) | [a, *rest]:
            return f"{len(rest)} after {a}"
        case {"a": a}:
            return f"a={a}"
    return type(x).__name__


def found(items, wanted):
    for k, x in enumerate(items):
        try:
            if x == wanted:
                return k
            if not x:
                continue
        finally:
            wanted = wanted or x
    return -1


def averaged(numbers):
    if not numbers:
        raise ZeroDivisionError("no numbers")
    mean = sum(numbers) / len(numbers)
    return mean, sum((x - mean) ** 2 for x in numbers) / len(numbers)


def compose(*functions):
    def composed(x):
        for g in functions:
            x = g(x)
        return x

    return composed


def made_adder(n):
    calls = 0

    def add(x):
        nonlocal calls
        calls += 1
        return x + n + calls

    return add
'''
