"""Everyday programs of Python's own data types: (function, arguments of calls) in CASES. test_programs.py runs them."""
import bisect
import collections
import dataclasses
import enum
import functools
import heapq
import itertools
import math
import operator
import string
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import numpy as np

from tests.language.corpus import corpus

case, CASES = corpus()


# lists

@case(([3, 1, 2],), ([],), ([1.5, -2.0],))
def running_total(values):
    out = []
    total = 0
    for v in values:
        total += v
        out.append(total)
    return out


@case((5,), (0,))
def pascal(n):
    rows = [[1]]
    for _ in range(n):
        last = rows[-1]
        rows.append([1] + [last[i] + last[i + 1] for i in range(len(last) - 1)] + [1])
    return rows


@case(([3, 1, 2],), ([5, 4, 4, 1],), ([],))
def bubble(values):
    n = len(values)
    for i in range(n):
        for j in range(n - 1 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
    return values


@case(([3, 1, 2, 9, 7, 5, 5],), ([],), ([1],), ([2.5, 1.5],))
def quicksort(values):
    if len(values) <= 1:
        return values
    pivot = values[len(values) // 2]
    return (quicksort([x for x in values if x < pivot]) + [x for x in values if x == pivot]
            + quicksort([x for x in values if x > pivot]))


@case(([3, 1, 2, 9, 7, 5, 5],), ([],))
def mergesort(values):
    if len(values) < 2:
        return values[:]
    middle = len(values) // 2
    left, right = mergesort(values[:middle]), mergesort(values[middle:])
    out, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out.extend(left[i:])
    out += right[j:]
    return out


@case((3, 4), (0, 2))
def grid(n, m):
    g = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            g[i][j] = i * j
    g2 = [row[:] for row in g]
    for row in g2:
        row.reverse()
    return g, g2, [sum(row) for row in g], list(map(max, g)) if m and n else []


@case(([[1, 2], [3, 4], [5, 6]],))
def transpose(rows):
    return [list(column) for column in zip(*rows)], [[row[i] for row in rows] for i in range(2)]


@case(([1, 2, 3, 4, 5, 6, 7],), ([1],), ([],))
def slices(x):
    return x[1:3], x[::-1], x[::2], x[-2:], x[:-1], x[10:], x[5:2], x[1:6:3]


@case(([1, 2, 3, 4, 5, 6],))
def slice_writes(x):
    x[1:3] = [10, 20, 30]
    x[::2] = [0] * len(x[::2])
    del x[0]
    del x[1:3]
    x[len(x):] = [7, 8]
    return x


@case(([1, 2, 3], 2), ([1, 2, 3], 9), ([], 1))
def list_search(x, v):
    return v in x, x.count(v), x.index(v)


@case(([1, 2, 3],))
def list_methods(x):
    x.insert(0, 9)
    x.insert(100, 8)
    x.insert(-1, 7)
    a = x.pop()
    b = x.pop(0)
    x.remove(2)
    y = x.copy()
    x.extend(y)
    x.extend(range(3))
    x.sort()
    y.sort(reverse=True)
    z = sorted(x, key=lambda v: -v)
    x.clear()
    return a, b, x, y, z, x is y, y == sorted(y, reverse=True)


@case(([],), ([1],))
def pop_empty(x):
    x.pop()
    return x.pop()


@case(([1, 2, 3], 5), ([1, 2, 3], -4), ([1, 2, 3], 2))
def index_error(x, i):
    return x[i]


@case(([1, 2, 3],))
def several_types(x):
    y = [1, 2.5, None, "a", x]
    out = 0
    for e in y:
        if e is None:
            out += 1
        elif isinstance(e, int):
            out += 10
        elif isinstance(e, float):
            out += 100
        elif isinstance(e, str):
            out += 1000
        else:
            out += 10000
    return out, y


@case(([1, 2, 3],))
def alias(x):
    y = x
    y.append(4)
    rows = [x] * 3
    rows[0].append(5)
    return x, rows, rows[0] is rows[1], x is y


@case(([5, 2, 8, 1], [1, 2, 3, 4]))
def zips(a, b):
    out = []
    for i, (x, y) in enumerate(zip(a, b)):
        out.append((i, x * y))
    return out, list(zip(a, b)), dict(zip(a, b)), [x + y for x, y in zip(a, b)], sum(x * y for x, y in zip(a, b))


@case(([5, 2, 8, 1],), ([1.5],))
def reductions(a):
    return min(a), max(a), sum(a), any(x > 3 for x in a), all(x > 0 for x in a), sorted(a), list(reversed(a)), len(a)


@case(([],),)
def reductions_empty(a):
    return sum(a), any(a), all(a), max(a, default=7), min(a, default=None)


@case(([1, 2, 3, 4],), ([1, 2],))
def star(a):
    first, *rest = a
    *head, last = a
    x, y, *z = a
    return first, rest, head, last, x, y, z, [*a, 0, *rest], (*a,)


@case((4,), (1,))
def permutations(n):
    out = []

    def go(prefix, rest):
        if not rest:
            out.append(prefix)
            return
        for i in range(len(rest)):
            go(prefix + [rest[i]], rest[:i] + rest[i + 1:])

    go([], list(range(n)))
    return out


@case((10,), (100,))
def primes_by_list(n):
    primes = []
    for i in range(2, n):
        if all(i % p for p in primes):
            primes.append(i)
    return primes


@case(([1, [2, 3]],))
def nested_mixed(x):
    return len(x), x[0]


@case((np.arange(5.0),), (np.arange(6).reshape(2, 3),))
def array_to_list(a):
    return a.tolist(), list(a), [float(v) for v in a.ravel()], np.array([v * 2 for v in a.ravel()])


@case(([1.5, 2.5],), ([1, 2],), ([True],))
def list_to_array(x):
    return np.array(x), np.asarray(x) * 2, np.sum(x), np.array([x, x])


@case(([4, 2, 7, 1],))
def heaps(x):
    heapq.heapify(x)
    heapq.heappush(x, 3)
    a = heapq.heappop(x)
    b = heapq.heappushpop(x, 0)
    c = heapq.heapreplace(x, 10)
    return a, b, c, x, heapq.nlargest(2, x), heapq.nsmallest(2, x)


@case(([1, 3, 3, 5], 3), ([], 1), ([1, 3], 9))
def bisects(x, v):
    i, j = bisect.bisect_left(x, v), bisect.bisect_right(x, v)
    bisect.insort(x, v)
    return i, j, x, bisect.bisect(x, v)


# dicts and sets

@case(("the cat sat on the mat the end",), ("",))
def words(text):
    counts = {}
    for w in text.split():
        counts[w] = counts.get(w, 0) + 1
    return counts, sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])), max(counts, key=counts.get) if counts else ""


@case(([1, 2, 1, 3],), ([],))
def dict_methods(keys):
    d = {}
    for i, k in enumerate(keys):
        d.setdefault(k, []).append(i)
    e = dict(d)
    e.update({9: [9]})
    p = e.pop(9)
    q = e.pop(10, None)
    return d, list(d.keys()), list(d.values()), list(d.items()), len(d), 1 in d, d.get(5), p, q, e == d


@case(({1: 2.0, 3: 4.0}, 3), ({1: 2.0}, 7), ({"a": 1.5}, "a"), ({"a": 1.5}, "b"))
def dict_get(d, k):
    d[k] += 1
    return d[k], d


@case(({"x": 1, "y": 2},))
def dict_loop(d):
    total = 0
    names = ""
    for k in d:
        names += k
    for k, v in d.items():
        total += v
    for v in d.values():
        total *= v
    return total, names, {v: k for k, v in d.items()}, {k: v for k, v in d.items() if v > 1}


@case(({1: 1, 2: 2},))
def dict_changed(d):
    for k in d:
        d[k + 10] = 1
    return d


@case(({"a": {"b": 1}}, "a"), ({"a": {"b": 1}}, "z"))
def dict_nested(d, k):
    d[k]["c"] = 5
    return d[k]["b"]


@case(([1, 2, 3, 2], [2, 3, 9]))
def sets(a, b):
    x, y = set(a), set(b)
    z = {1, 2}
    z.add(3)
    z.discard(7)
    z |= y
    return (x & y, x | y, x - y, x ^ y, len(x), 2 in x, sorted(z), x <= y, x.isdisjoint(y), {v * 2 for v in x},
            frozenset(x), x == set(a))


@case(({1, 2}, 2), ({1, 2}, 3))
def set_remove(s, v):
    s.remove(v)
    return s


@case(([("a", 1), ("b", 2), ("a", 3)],))
def default_dicts(pairs):
    d = defaultdict(list)
    n = defaultdict(int)
    for k, v in pairs:
        d[k].append(v)
        n[k] += v
    return d, n, dict(d), sorted(n)


@case((["a", "b", "a"],), ("hello world",), ([1, 1, 2],))
def counters(x):
    c = Counter(x)
    c.update(x)
    return c, c.most_common(1), c[x[0]], c["nothing"] if isinstance(x, str) else c[99], sum(c.values())


@case((7,))
def deques(n):
    q = deque()
    for i in range(n):
        q.append(i)
        if i % 3 == 0:
            q.appendleft(-i)
    a, b = q.pop(), q.popleft()
    q.rotate(2)
    r = deque([1, 2, 3], maxlen=2)
    r.append(4)
    return a, b, list(q), len(q), q[0], q[-1], r, 3 in q


@case((5,))
def ordered(n):
    d = OrderedDict()
    for i in range(n):
        d[i] = i * i
    d.move_to_end(1)
    x = d.popitem(last=False)
    return list(d.items()), x


@case(({(0, 1): 5}, 0, 1), ({(0, 1): 5}, 1, 1))
def tuple_keys(d, i, j):
    if (i, j) in d:
        return d[i, j]
    d[i, j] = i + j
    return d


@case((30,), (1,))
def memo_fib(n):
    memo = {}

    def fib(k):
        if k in memo:
            return memo[k]
        if k < 2:
            return k
        memo[k] = fib(k - 1) + fib(k - 2)
        return memo[k]

    return fib(n), len(memo)


@case(({0: [1, 2], 1: [3], 2: [3], 3: []}, 0))
def graph(edges, start):
    seen = {start}
    order = []
    queue = deque([start])
    while queue:
        node = queue.popleft()
        order.append(node)
        for other in edges[node]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return order


@case(([(1, 2), (2, 3), (5, 6)], 7))
def union_find(pairs, n):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in pairs:
        parent[find(a)] = find(b)
    return len({find(i) for i in range(n)}), parent


@case(({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []},))
def topological(graph):
    degree = {k: 0 for k in graph}
    for k in graph:
        for v in graph[k]:
            degree[v] += 1
    ready = [k for k in graph if degree[k] == 0]
    out = []
    while ready:
        k = ready.pop()
        out.append(k)
        for v in graph[k]:
            degree[v] -= 1
            if degree[v] == 0:
                ready.append(v)
    return out


# text

@case(("hello",), ("",), ("naïve ü€😀",))
def text_basics(s):
    return (s.upper(), s[::-1], len(s), s[1:3], s[:1] * 3, s + "!", "l" in s, s.find("l"), s.replace("l", "L"),
            s.startswith("he"), s.count("l"), list(s), s.title(), s.center(11, "*"), s == "hello", s < "i")


@case(("a,b,,c",), ("",), ("abc",))
def splits(s):
    return s.split(","), s.rsplit(",", 1), s.partition(","), ",".join(s.split(",")), s.strip("ac"), s.splitlines()


@case(("A man, a plan, a canal: Panama",), ("nope",))
def palindrome(s):
    cleaned = "".join(c.lower() for c in s if c.isalnum())
    return cleaned == cleaned[::-1]


@case(("aaabbc",), ("",))
def run_lengths(s):
    out = []
    i = 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out.append(f"{s[i]}{j - i}")
        i = j
    return "".join(out)


@case((0,), (10,), (255,), (-5,))
def to_binary(n):
    if n == 0:
        return "0"
    digits = ""
    m = abs(n)
    while m:
        digits = str(m % 2) + digits
        m //= 2
    return ("-" if n < 0 else "") + digits, bin(n), hex(n), oct(n), f"{n:08b}", f"{n:x}", f"{n:+d}"


@case(("12",), ("-7",), ("x",), ("",), (" 42 ",), ("1_000",))
def parse_int(s):
    return int(s) + 1


@case(("1.5",), ("1e3",), ("nan",), ("abc",), ("inf",))
def parse_float(s):
    return float(s)


@case((3.14159, 42), (0.0, -1), (1e20, 10**12), (float("nan"), 0))
def formats(x, n):
    return (f"{x:.2f} {n:5d}|{n:<6}|{n:>6}|{n:^6}|{x:e}|{x!r}|{n!s:>4}|{x:10.3f}|{n:,}|{x:g}",
            "%d %s %.3f" % (n, "a", x), "{} {:.1f} {name}".format(n, x, name="z"), str(x), repr(n), format(x, ".3g"))


@case(("MCMXCIV",), ("III",), ("Q",))
def roman(s):
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    for i, c in enumerate(s):
        v = values[c]
        if i + 1 < len(s) and values[s[i + 1]] > v:
            total -= v
        else:
            total += v
    return total


@case(("hello world",), ("",))
def caesar(s):
    return "".join(chr((ord(c) - 97 + 3) % 26 + 97) if c.islower() else c for c in s)


@case(("kitten", "sitting"), ("", "abc"))
def lcs(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@case(("(a[b]{c})",), ("(]",), ("((",))
def balanced(s):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for c in s:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return not stack


@case((b"hello",), (b"",))
def byte_strings(b):
    total = 0
    for x in b:
        total = (total * 31 + x) % 1000003
    return total, b[1:3], b + b"!", b.upper(), len(b), b.hex(), b == b"hello", bytes([1, 2]), bytearray(b), list(b)


@case(("key=1;other=22",), ("bad",))
def parse_pairs(s):
    out = {}
    for part in s.split(";"):
        k, v = part.split("=")
        out[k] = int(v)
    return out


@case((["pear", "fig", "apple"],), ([],))
def sort_words(w):
    return sorted(w), sorted(w, key=len), sorted(w, key=lambda s: s[-1:], reverse=True), " ".join(w), max(w, default="")


@case((12,), (0,))
def fizzbuzz(n):
    out = []
    for i in range(1, n + 1):
        if i % 15 == 0:
            out.append("FizzBuzz")
        elif i % 3 == 0:
            out.append("Fizz")
        elif i % 5 == 0:
            out.append("Buzz")
        else:
            out.append(str(i))
    return out


@case((3,))
def prints(n):
    print("n =", n, sep=" ", end=";\n")
    for i in range(n):
        print(i, [i, i + 1], {"k": i}, (i,), f"{i:03d}", None, 1.5, sep=", ")


# classes

@dataclass
class Point:
    x: float
    y: float = 0.0

    def norm(self):
        return math.sqrt(self.x ** 2 + self.y ** 2)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    @property
    def flipped(self):
        return Point(self.y, self.x)


class Account:
    rate = 0.5
    opened = 0

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance
        self.log = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError(f"bad amount {amount}")
        self.balance += amount
        self.log.append(amount)
        return self

    def interest(self):
        return self.balance * self.rate

    @staticmethod
    def fee(x):
        return x * 2

    @classmethod
    def empty(cls, owner):
        return cls(owner)

    def __eq__(self, other):
        return isinstance(other, Account) and (self.owner, self.balance, self.log) == (
            other.owner, other.balance, other.log)

    def __repr__(self):
        return f"Account({self.owner}, {self.balance}, {self.log})"


class Savings(Account):
    rate = 2.0

    def interest(self):
        return super().interest() + 1


class Node:
    __slots__ = ("value", "next")

    def __init__(self, value, next=None):
        self.value = value
        self.next = next

    def __eq__(self, other):
        return type(other) is Node and self.value == other.value and self.next == other.next


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


@case((Point(3.0, 4.0),), (Point(0.0),))
def use_point(p):
    q = p + Point(1.0, 2.0)
    q.x *= 2
    return p.norm(), q, q.flipped, p == Point(3.0, 4.0), q.y


@case(([Point(1.0, 2.0), Point(3.0, 4.0)],), ([],))
def many_points(ps):
    for p in ps:
        p.x += 1.0
    return sum(p.x for p in ps), [p.norm() for p in ps], max(ps, key=lambda p: p.y) if ps else None


@case((Account("ann", 10), 5), (Savings("bob", 10), 5), (Account("c"), -1))
def accounts(a, n):
    a.deposit(n).deposit(n + 1)
    return a.balance, a.interest(), a.log, Account.fee(n), Account.empty("z"), a.owner, a


@case((4,), (0,))
def linked(n):
    head = None
    for i in range(n):
        head = Node(i, head)
    out = []
    node = head
    while node is not None:
        out.append(node.value)
        node = node.next
    return out, head


@case((Node(1, Node(2)),))
def reverse_list(node):
    last = None
    while node:
        node.next, last, node = last, node, node.next
    return last


@case((Color.RED, Level.HIGH), (Color.BLUE, Level.LOW))
def enums(c, level):
    return (c is Color.RED, c.value, c.name, level + 1, level > Level.LOW, Level(1), [m.name for m in Color],
            {Color.RED: "r", Color.BLUE: "b"}[c])


@case(([5, 3, 8, 1],))
def tree(keys):
    root = None
    for k in keys:
        root = insert(root, k)
    out = []
    walk(root, out)
    return out


class Tree:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


def insert(node, key):
    if node is None:
        return Tree(key)
    if key < node.key:
        node.left = insert(node.left, key)
    else:
        node.right = insert(node.right, key)
    return node


def walk(node, out):
    if node is not None:
        walk(node.left, out)
        out.append(node.key)
        walk(node.right, out)


Pair = namedtuple("Pair", "a b")


@case((Pair(1, 2.5),))
def named(p):
    q = p._replace(a=5)
    return q, p.a, q._asdict(), [p, q], {p: 1}, Pair(*[3, 4]), p._fields


# generators, functions, language

def countdown(n):
    while n > 0:
        yield n
        n -= 1


@case((5,), (0,))
def generators(n):
    return list(countdown(n)), sum(countdown(n)), [x * x for x in countdown(n) if x % 2], tuple(countdown(n)), max(
        countdown(n), default=0)


@case((6,))
def itertools_use(n):
    return (list(itertools.islice(itertools.count(2, 3), n)), list(itertools.chain([1], [2, 3])),
            list(itertools.accumulate(range(n))), list(itertools.product([1, 2], "ab")),
            list(itertools.combinations(range(4), 2)), list(itertools.permutations([1, 2, 3])),
            [(k, len(list(g))) for k, g in itertools.groupby("aabbb")], list(itertools.takewhile(lambda x: x < 3, range(n))),
            list(itertools.zip_longest([1], [2, 3], fillvalue=0)), list(itertools.repeat(7, 2)))


@case(([1, 2, 3],), ([],))
def functional(x):
    return (list(map(lambda v: v + 1, x)), list(filter(lambda v: v % 2, x)), functools.reduce(operator.add, x, 0),
            sorted(x, key=operator.neg), functools.partial(max, 2)(1))


@case((3,))
def closures(n):
    def adder(k):
        return lambda v: v + k

    fs = [adder(i) for i in range(n)]
    return [f(10) for f in fs]


def variadic(*args, scale=1, **kwargs):
    return sum(args) * scale + len(kwargs)


@case((3,))
def calls(n):
    args = [1, 2, 3]
    return variadic(), variadic(1, 2), variadic(*args), variadic(*args, scale=n), variadic(1, a=2, b=3), variadic(
        **{"scale": 4, "z": 1})


@case(({"kind": "circle", "r": 2.0},), ({"kind": "square", "r": 3.0},), ({"r": 1.0},))
def dispatch(shape):
    try:
        if shape["kind"] == "circle":
            return math.pi * shape["r"] ** 2
        return shape["r"] ** 2
    except KeyError as error:
        return str(error)
    finally:
        shape["seen"] = 1


class Timer:
    def __init__(self):
        self.events = []

    def __enter__(self):
        self.events.append("in")
        return self

    def __exit__(self, kind, value, traceback):
        self.events.append("out")
        return False


@case((1,), (0,))
def context(n):
    t = Timer()
    try:
        with t as u:
            u.events.append(str(10 // n))
    except ZeroDivisionError:
        t.events.append("caught")
    return t.events


@case(([3, 1, 2], 0), ([3, 1, 2], 5))
def half_way(x, k):
    try:
        for i in range(10):
            x[i] += 1
            if i == k:
                raise RuntimeError("stop")
    except IndexError:
        x.append(-1)
    return x


@case((1, [2, 3]), ("a", {"x": 1}), (None, (1, 2)))
def matching(a, b):
    out = []
    for v in (a, b):
        match v:
            case None:
                out.append("none")
            case int():
                out.append("int")
            case str() as s:
                out.append(s)
            case [x, y]:
                out.append(f"two {x} {y}")
            case {"x": x}:
                out.append(f"map {x}")
            case _:
                out.append("other")
    return out


def collatz_lengths(n, cache={1: 1}):
    out = []
    for i in range(1, n):
        chain = []
        k = i
        while k not in cache:
            chain.append(k)
            k = 3 * k + 1 if k % 2 else k // 2
        length = cache[k]
        for c in reversed(chain):
            length += 1
            cache[c] = length
        out.append(cache[i])
    return out


case((20,))(collatz_lengths)

TABLE = {"a": 1, "b": 2}
NAMES = ["x", "y"]


@case(("a",), ("c",))
def globals_read(k):
    return TABLE.get(k, 0), len(TABLE), NAMES[0], [n + k for n in NAMES]


@case((5,))
def comprehension_kinds(n):
    return ([i * j for i in range(n) for j in range(i) if (i + j) % 2], {i: [j for j in range(i)] for i in range(n)},
            {i % 3 for i in range(n)}, sum(i * i for i in range(n)), [[0] * n for _ in range(2)], tuple(i for i in range(n)),
            "".join(str(i) for i in range(n)), any(i == 3 for i in range(n)))


@case(([[5, 3, 0], [0, 0, 1], [2, 0, 0]],))
def spiral(matrix):
    out = []
    while matrix:
        out += matrix.pop(0)
        matrix = [list(row) for row in zip(*matrix)][::-1]
    return out


@case((["eat", "tea", "tan", "ate", "nat", "bat"],))
def anagrams(words):
    groups = {}
    for w in words:
        groups.setdefault("".join(sorted(w)), []).append(w)
    return list(groups.values())


@case(("3 4 + 2 *",), ("1 +",))
def rpn(text):
    stack = []
    for token in text.split():
        if token in ("+", "-", "*", "/"):
            b, a = stack.pop(), stack.pop()
            if token == "+":
                stack.append(a + b)
            elif token == "-":
                stack.append(a - b)
            elif token == "*":
                stack.append(a * b)
            else:
                stack.append(a / b)
        else:
            stack.append(float(token))
    return stack[0]


@case((5, [1, 2, 5]), (3, [2]))
def coins(amount, kinds):
    best = [0] + [math.inf] * amount
    for a in range(1, amount + 1):
        for c in kinds:
            if c <= a and best[a - c] + 1 < best[a]:
                best[a] = best[a - c] + 1
    return best[amount]


@case(({"a": 0.5, "b": 0.25, "c": 0.25},))
def huffman(freq):
    heap = [(f, i, s) for i, (s, f) in enumerate(sorted(freq.items()))]
    heapq.heapify(heap)
    n = len(heap)
    codes = {s: "" for s in freq}
    while len(heap) > 1:
        f1, _, s1 = heapq.heappop(heap)
        f2, _, s2 = heapq.heappop(heap)
        for c in s1:
            codes[c] = "0" + codes[c]
        for c in s2:
            codes[c] = "1" + codes[c]
        n += 1
        heapq.heappush(heap, (f1 + f2, n, s1 + s2))
    return codes


@case(([[".", "#"], [".", "."]], (0, 0)))
def maze(rows, start):
    seen = set()
    stack = [start]
    while stack:
        r, c = stack.pop()
        if (r, c) in seen or not (0 <= r < len(rows) and 0 <= c < len(rows[0])) or rows[r][c] == "#":
            continue
        seen.add((r, c))
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            stack.append((r + dr, c + dc))
    return len(seen), sorted(seen)


@case((lambda x: x + 1, [1, 2]), (len, [[1], []]), (str, [1, 2.5]))
def apply(f, xs):
    return [f(x) for x in xs]


@case((np.array([1, 2, 2, 3]),))
def array_counts(a):
    d = {}
    for v in a:
        d[v] = d.get(v, 0) + 1
    s = set(a.tolist())
    return d, s, [int(v) for v in a if v > 1]


@case(([1, 2, 3, 4, 5], 2), ([], 3))
def chunks(x, n):
    return [x[i:i + n] for i in range(0, len(x), n)]


@case((["b", "a"], [2, 1]))
def dict_of_lists(names, values):
    d = {n: v for n, v in zip(names, values)}
    d["c"] = 3
    del d["a"]
    return d, sorted(d), sum(d.values()), "b" in d, list(d)[0], {**d, "z": 0}


@case((string.ascii_lowercase[:5],), ("hello",))
def letters(s):
    counts = [0] * 26
    for c in s:
        counts[ord(c) - ord("a")] += 1
    return counts, [string.ascii_lowercase[i] for i, n in enumerate(counts) if n]


@case((10, 3), (7, 0), (-7, 2))
def numbers(a, b):
    try:
        return divmod(a, b), a // b, a % b, pow(a, b), round(a / b, 2), abs(a), int(a / b), float(a), complex(a, b)
    except ZeroDivisionError as e:
        return repr(e)


@case((40,))
def big_ints(n):
    f = 1
    for i in range(1, n):
        f = f * i % 1000000007
    return f


class Recent:
    """The most recently used keys, in a doubly linked list."""

    class Link:
        __slots__ = "key", "before", "after"

        def __init__(self, key):
            self.key = key
            self.before = self.after = None

    def __init__(self, limit):
        self.limit, self.links = limit, {}
        self.head, self.tail = self.Link(None), self.Link(None)
        self.head.after, self.tail.before = self.tail, self.head

    def unlink(self, link):
        link.before.after, link.after.before = link.after, link.before

    def use(self, key):
        if key in self.links:
            self.unlink(self.links[key])
        elif len(self.links) >= self.limit:
            last = self.tail.before
            self.unlink(last)
            del self.links[last.key]
        link = self.links[key] = self.Link(key)
        link.after, link.before = self.head.after, self.head
        self.head.after.before = link
        self.head.after = link


@case((9, 3))
def recent_keys(n, limit):
    recent = Recent(limit)
    for k in range(n):
        recent.use(k * k % 7)
    return list(recent.links)


TREE = {"a": {"b": {"#": True}, "c": {"#": True}}}


@case((TREE,))
def endings(d):
    result = []
    for c, below in d.items():
        result.extend([" "] if c == "#" else [c + rest for rest in endings(below)])
    return tuple(result)


@case((TREE, "a"), (TREE, "x"))
def completed(tree, prefix):
    for c in prefix:
        if c not in tree:
            return []
        tree = tree[c]
    return endings(tree)


@case(([["a"], "b"],), ([["a"], 1],))
def upper(x):
    return [upper(item) for item in x] if isinstance(x, list) else x.upper()
