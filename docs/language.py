"""The language table: each construct and builtin is a small function that is compiled and run here; docs/language.md is
what came out.

python docs/language.py            writes docs/language.md
A row is supported when the compiled function does what the interpreter does, for every call given. Otherwise it shows
the error that it gives, which must be located.
"""
from __future__ import annotations

import contextlib
import io
import linecache
import pathlib
import sys
import textwrap

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pyjitc import CompileError, njit  # noqa: E402
from tests.oracle import difference, outcome  # noqa: E402

# section -> rows: (what, body of f(a, b, c), argument tuples); `a` and `b` are numbers and `c` an array unless calls
# say otherwise.
USUAL = ((7, 3, np.array([3.0, 1.0, 2.0])), (-2, 5, np.zeros(1)))
ROWS = {
    "Values": [
        ("int, float, complex, bool", "return a + 1, b * 0.5, a * 1j, a > b"),
        ("int beyond 64 bits", "return a + 1180591620717411303424"),
        ("int constant below 2**64 beside np.uint64",
         "return (np.uint64(0x9E3779B97F4A7C15) * np.uint64(b)) ^ 0xFFFFFFFFFFFFFFFF"),
        ("NumPy scalars", "return np.float32(a) + 1.0, np.int8(5), np.uint64(b)"),
        ("NumPy dates and durations", "d = np.datetime64('2024-02-28') + np.timedelta64(a, 'D')\nreturn d, d - "
                                      "np.datetime64('2024-01', 'D'), d < np.datetime64('NaT'), f'{d}'"),
        ("None", "return None if a > 3 else b"),
        ("str constants, +, f-strings", "return f'a is {a} and b is {b:5.1f}' + '!'"),
        ("str formatting by % and format(), comparison, `in`, len",
         "s = '%d of %5.1f' % (a, b)\nreturn s, '{} {x}'.format(a, x=b), s == 'text', s < 'b', 'of' in s, len(s), 1 "
         "if s else 0"),
        ("str: every method, indexing, slices, iteration, *",
         "s = str(a)\nreturn s.upper(), s[0], s[::-1], s * b, [x for x in s], s.split('.'), '-'.join(x for x in s)"),
        ("bytes, bytearray, memoryview of bytes",
         "x = bytearray(b'text')\nx[0] = 84\nmemoryview(x)[1] = 69\nx += b'!'\nreturn x, bytes(x)[2], x.decode()"),
        ("tuples: indexing, slices, +, *, comparison, `in`",
         "t = (a, b, 2.5)\nreturn t[0], t[1:], t + (1,), (a,) * 3, t == (7, 3, 2.5), a in t"),
        ("named tuples", "p = Point(a, y=b)\nreturn p.x + p.y, p, p._replace(x=b)"),
        ("methods, properties and operators of classes of named tuples",
         "v = Vector(a, b)\nreturn v.norm(), v.size, v + v"),
        ("tuple of run-time length", "return tuple(range(a))"),
        ("list displays", "return [a, b]"),
        ("list.append", "items = []\nitems.append(a)\nreturn items[0]"),
        ("dict", "d = {'x': a}\nd['y'] = b\nreturn d['y']"),
        ("dict: methods, views, `|`, del", "d = {i: i * i for i in range(a)}\nd.update({9: b})\ndel d[0]\n"
         "e = d | {1: 5}\nreturn d.pop(9), d.get(77), sorted(e.items()), d.keys() & e.keys(), d"),
        ("defaultdict, Counter, OrderedDict, deque", "counts = collections.Counter('abca')\n"
         "groups = collections.defaultdict(list)\nfor k in range(a):\n    groups[k % 2].append(k)\n"
         "queue = collections.deque([1, 2], maxlen=2)\nqueue.append(a)\nreturn counts, groups, queue"),
        ("heapq, bisect", "h = []\nfor k in (b, a, 9):\n    heapq.heappush(h, k)\nreturn heapq.heappop(h), bisect.bisect(h, b)"),
        ("set, frozenset: methods, operators", "s = {a, b}\ns.add(9)\ns |= {k % 3 for k in range(a)}\ns.discard(b)\n"
         "return s, a in s, s & frozenset([9, 1]), s.union([2.5]), sorted(s), s <= {0, 1, 2, 9}"),
        ("range", "r = range(2, a)\nreturn len(r), r[-1] if a > 3 else 0, 3 in r"),
        ("slice objects", "s = slice(0, 2)\nreturn c[s]"),
        ("a union of types at a join", "x = a if a > 3 else 2.5\nreturn x"),
        ("global dicts, by constant keys", "return TABLE['a'] + a"),
        ("global lists", "return ITEMS[0] + a"),
        ("instances of classes with attributes", "return Thing().value"),
        ("objects: made, changed, methods, properties, operators, inheritance",
         "d = Deposit(a)\nd.add(b)\nreturn d.balance, d.doubled, (d + d).balance, isinstance(d, Account), super(Deposit, d).name()"),
        ("dataclasses, `__slots__`", "p = Particle(1.0, a)\np.move(0.5)\nq = Slots()\nq.x = p.x\nreturn p, p == Particle(1.0, a), q.x"),
        ("`__setattr__`, also with names that are computed", "q = Guarded()\nq.x = a\nreturn q.x, q.stored"),
        ("descriptors of the program", "q = Kept()\nq.x = a\nq.x += 1\nreturn q.x, q.stored, Kept.x"),
        ("attributes of global objects", "return thing.value + a"),
        ("global lists and dicts of objects", "return [x.value + a for x in THINGS]"),
        ("objects with `__index__` as indices and counts, with `__float__` as arguments of `math`",
         "w = Whole(a)\nreturn [1, 2, 3, 4, 5][w], 'x' * w, list(range(w)), math.sqrt(w)"),
        ("bound methods in containers, called by key",
         "d = Deposit(a)\ntable = {'d': d.add, 'a': Account(b).add}\nfor key in ('d', 'a', 'd'):\n    table[key](b)\n"
         "return d.balance"),
        ("enum members, their attributes and methods", "return Colour.RED.value + a, Colour.RED.twice()"),
        ("enum classes: iteration, length, members by value and name",
         "s = 0\nfor x in Colour:\n    s += x.value\nreturn s, len(Colour), Colour['RED'].value, Colour(1).value"),
        ("attributes, static and class methods of classes", "return Limits.most + a, Limits.twice(b), Limits.above(a)"),
    ],
    "Statements": [
        ("if, elif, else, conditional expressions",
         "if a > 3:\n    x = 1\nelif a > 0:\n    x = 2\nelse:\n    x = 3\nreturn x if b else -x"),
        ("while, for, break, continue, else", "s = 0\nfor i in range(10):\n    if i == a:\n        break\n    if i % "
                                              "2:\n        continue\n    s += i\nelse:\n    s = -s\n"
         "while s < 50:\n    s += 9\nreturn s"),
        ("for over arrays, tuples, enumerate, zip, reversed",
         "s = 0.0\nfor i, (x, y) in enumerate(zip(c, reversed(c))):\n    s += i * x * y\nfor t in (1, 2.5):\n    s += "
         "t\nreturn s"),
        ("assignment to several targets, star targets of tuples",
         "x, (y, *z) = a, (b, 1, 2)\nx, y = y, x\nreturn x, y, z[0]"),
        ("augmented assignment, in place for arrays", "c += 1.0\nc[0] *= 2.0\nreturn c"),
        ("walrus", "if (n := a + b) > 5:\n    return n\nreturn 0"),
        ("del of a local variable", "x = a\ndel x\nreturn b"),
        ("a variable that may be unbound", "if a > 3:\n    x = 1\nreturn x"),
        ("assert", "assert a > 0, 'not positive'\nreturn a"),
        ("raise, raise from, own classes", "if a > 0:\n    raise Wrong(f'a is {a}')\nraise ValueError('b') from None"),
        ("try, except, else, finally", "try:\n    x = b // (a + 2)\nexcept ZeroDivisionError as error:\n    x = "
                                       "len(error.args)\nelse:\n    x += 1\nfinally:\n    b = 0\nreturn x, b"),
        ("except*", "try:\n    x = 1 // a\nexcept* ValueError:\n    x = 0\nreturn x"),
        ("with np.errstate", "with np.errstate(all='ignore'):\n    return c / 0.5"),
        ("with, other managers", "with manager:\n    return a"),
        ("match: values, sequences, classes, guards",
         "match (a, b):\n    case (0, _):\n        return 0\n    case (x, y) if x > y:\n        return x\n    case "
         "int(), _:\n        return 1\nreturn 2"),
        ("match: mappings", "match {'x': a}:\n    case {'x': v}:\n        return v\nreturn 0"),
        ("import inside the function", "import math\nreturn math.sqrt(abs(a))"),
        ("global, nonlocal (read)", "return LIMIT + a"),
        ("global (assigned)", "global LIMIT\nLIMIT = a\nreturn LIMIT"),
        ("class definitions", "class C:\n    x = 1\nreturn C.x"),
    ],
    "Functions": [
        ("positional, keyword, default, keyword-only arguments", "return helper(a, k=b), helper(1, 2)"),
        ("*args and **kwargs of known length", "t = (a, b)\nreturn helper(*t), helper(**{'x': a, 'k': 2})"),
        ("**kwargs known at run time",
         "d = {}\nfor key in ('x', 'k'):\n    d[key] = a\nreturn helper(**d)"),
        ("calls of other functions, compiled or not", "return helper(a) + compiled_helper(b)"),
        ("recursion", "return factorial(5) + a"),
        ("inner functions, closures, lambdas",
         "k = a\ndef inner(x):\n    return x * k\nreturn inner(b) + (lambda x: x + 1)(a)"),
        ("nonlocal", "n = 0\ndef count():\n    nonlocal n\n    n += a\ncount()\ncount()\nreturn n"),
        ("functions as arguments and in tuples", "return apply(lambda x: x * a, b), (helper, factorial)[0](a)"),
        ("a function that a function returns", "def adder(k):\n    return lambda x: x + k\nreturn adder(a)(b)"),
        ("functools.partial objects from outside", "return shifted(b)"),
        ("functools.partial made inside", "return partial(helper, k=a)(b)"),
        ("generators, generator expressions",
         "def pairs(n):\n    for i in range(n):\n        yield i, i * a\ns = 0\nfor i, j in pairs(4):\n    s += i * "
         "j\nreturn s + sum(i for i in range(5))"),
        ("yield from", "def gen():\n    x = yield from range(3)\n    yield a\nreturn sum(gen())"),
        ("itertools, functools.reduce",
         "s = sum(x * y for x, y in itertools.product(range(a), c))\nreturn s, reduce(lambda x, y: x * y, c, 1.0)"),
        ("generator.send", "def gen():\n    yield a\ng = gen()\nnext(g)\nreturn g.send(1)"),
        ("list, dict and set comprehensions", "return sum([i * i for i in range(4)])"),
        ("async functions", "async def f():\n    return a\nreturn f()"),
        ("functions and objects of Python's library: `re`, `decimal`, `fractions`, `datetime`, `json`, ... (the "
         "interpreter runs them)", "m = re.search(r'(\\d+)', f'a{a}')\nreturn int(m.group(1)) + b, Fraction(a, 3) + b"),
        ("print, with sep and end", "print('a', a, b, sep=', ', end='!\\n')\nreturn a"),
    ],
    "Builtins": [
        *((name, f"return {call}") for name, call in (
            ("abs", "abs(a), abs(-2.5), abs(3j)"), ("all, any", "any(x > 2 for x in c), all(x > 0 for x in c)"),
            ("bool", "bool(a), bool(0.0)"), ("chr, ord", "ord('a') + a, chr(b + 97)"), ("bin, hex, oct", "bin(b), hex(b), oct(b)"), ("complex", "complex(a, b)"),
            ("divmod", "divmod(a, b)"), ("enumerate", "sum(i for i, x in enumerate(c))"),
            ("filter", "sum(filter(lambda x: x > 1, c))"), ("float", "float(a)"),
            ("getattr with a constant name", "getattr(c, 'size')"), ("hasattr", "hasattr(c, 'size')"),
            ("hash", "hash(a)"), ("id", "id(a)"), ("input", "input()"), ("int", "int(b / 2), int(c[0])"),
            ("isinstance", "isinstance(a, int), isinstance(c, np.ndarray)"), ("iter, next", "next(iter((a, b)))"),
            ("len", "len(c)"), ("list", "list(c)"), ("map", "sum(map(abs, (a, b)))"),
            ("max, min", "max(a, b), min(a, 2.5), max((a, b, 1)), max((), default=a), min((a, b), key=abs)"),
            ("open", "open('x')"), ("pow", "pow(a, 2), pow(2.5, b)"), ("range", "range(a)"),
            ("ascii, format, repr, str", "str(a) + repr((b, None)), format(a, '>9'), ascii(c)"), ("reversed", "sum(x for x in reversed(range(b)))"),
            ("round", "round(2.675, 2), round(2.5)"), ("sorted", "sorted(c)"), ("sum", "sum(range(b)), sum(c)"),
            ("tuple", "tuple((a, b))"), ("type", "type(a) is int"), ("zip", "sum(x * y for x, y in zip(c, c))"),
            ("eval, exec", "eval('a')"), ("super", "super()"),
            ("math", "math.sin(a), math.gcd(a, b), math.hypot(a, b), math.floor(2.5), math.isqrt(49)"),
            ("cmath", "cmath.exp(1j * a)"), ("time", "time.time() > 1e9"), ("random", "(random.seed(5), random.random())"))),
    ],
}
PRELUDE = """
import bisect, cmath, collections, enum, heapq, itertools, math, random, re, time
from fractions import Fraction
from collections import namedtuple
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple
import numpy as np
from pyjitc import njit
Point = namedtuple("Point", "x y")
LIMIT = 10
class Wrong(Exception): pass
class Thing: value = 3
thing, ITEMS, TABLE = Thing(), [1, 2], {"a": 1}
THINGS = [thing, Thing()]
class Colour(enum.Enum):
    RED = 1
    def twice(self): return self.value * 2
class Limits:
    most = 9
    @staticmethod
    def twice(x): return x * 2
    @classmethod
    def above(cls, x): return x > cls.most
class Vector(NamedTuple):
    x: float
    y: float
    def norm(self): return math.hypot(self.x, self.y)
    @property
    def size(self): return abs(self.x) + abs(self.y)
    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
class Account:
    def __init__(self, balance): self.balance = balance
    def add(self, x): self.balance += x
    def name(self): return "account"
    @property
    def doubled(self): return self.balance * 2
    def __add__(self, other): return Account(self.balance + other.balance)
class Deposit(Account):
    def add(self, x): super().add(x + 1)
    def name(self): return "deposit"
class Whole:
    def __init__(self, n): self.n = n
    def __index__(self): return self.n
@dataclass
class Particle:
    x: float
    v: float
    def move(self, dt): self.x += self.v * dt
class Slots: __slots__ = ("x",)
class Stored:
    def __get__(self, x, owner): return owner.__name__ if x is None else x.stored
    def __set__(self, x, value): x.stored = value
class Kept: x = Stored()
class Guarded:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "stored", True)
class Manager:
    def __enter__(self): return self
    def __exit__(self, *rest): return False
manager = Manager()
def helper(x, k=10): return x * 2 + k
def compiled_helper(x): return x - 1
def factorial(n): return 1 if n < 2 else n * factorial(n - 1)
shifted = partial(helper, k=5)
def apply(f, x): return f(x)
"""


def tried(body: str, calls=USUAL):
    """None where compiled code does what the interpreter does, else the CompileError; AssertionError where it does
    something else."""
    scope: dict = {"__name__": "language"}
    exec(compile(PRELUDE, "<prelude>", "exec", dont_inherit=True), scope)  # annotations are types, for dataclasses
    scope["compiled_helper"] = njit(scope["compiled_helper"])
    name = f"<row {abs(hash(body))}>"
    source = "def f(a, b, c):\n" + textwrap.indent(body, "    ") + "\n"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    try:
        exec(compile(source, name, "exec"), scope)
    except SyntaxError:  # of a later Python
        return "later"
    compiled = njit(scope["f"])
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for arguments in calls:
                compiled(*arguments)
    except CompileError as error:
        return error
    except Exception:
        pass  # the program's own: compared below
    for arguments in calls:
        wrong = difference(outcome(scope["f"], arguments), outcome(compiled, arguments))
        assert not wrong, f"{body}\n{wrong}"
    return None


def table() -> list[tuple[str, str, str, object]]:
    return [(section, what, body, tried(body)) for section, rows in ROWS.items() for what, body in rows]


def page(rows=None) -> str:
    lines = ["# The language", "",
             "Each row is a program that `python docs/language.py` compiles and compares with the interpreter.",
             "**yes**: it does the same. Otherwise the row says which error it gives; [errors explained](errors.md) shows",
             "whole ones. Under [`jit`](reference.md#decorators) in place of `njit` there is no such error: the",
             "interpreter does what is not compiled.", ""]
    current = None
    for section, what, body, found in rows or table():
        if section != current:
            lines += [*([""] if current else []), f"## {section}", "",
                      "| what | compiled | error, and what to write instead |", "|---|---|---|"]
            current = section
        if found is None or found == "later":
            lines.append(f"| {escaped(what)} | yes | |" if found is None
                         else f"| {escaped(what)} | | a syntax error in this Python |")
        else:
            said = found.diagnostic.message + (f": {found.diagnostic.hint}" if found.diagnostic.hint else "")
            lines.append(f"| {escaped(what)} | no | {escaped(said)} |")
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if k % 2 else part.replace("*", "\\*").replace("<", "\\<") for k, part in enumerate(parts))


if __name__ == "__main__":
    (HERE / "language.md").write_text(page())
