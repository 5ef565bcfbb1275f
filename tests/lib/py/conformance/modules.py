"""The functions of Python's modules by which compiled code is compared with the interpreter: for each module,
function -> expressions, separated by |, and for each variable in them the values that it takes."""
from __future__ import annotations

import array
import bisect
import cmath
import collections
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import heapq
import itertools
import json
import math
import operator
import random
import re
import statistics
import string
import struct
import textwrap
import time
import typing

from .cases import Cases

__all__ = ["MODULES"]


class Color(enum.Enum):
    RED = 1
    BLUE = "b"
    PAIR = (1, 2.5)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 20


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.5


@dataclasses.dataclass(frozen=True, order=True)
class Fixed:
    x: int
    y: int = 3


class Named(typing.NamedTuple):
    x: int
    y: float = 0.5


Pair = collections.namedtuple("Pair", "x y")


@contextlib.contextmanager
def managed(x):
    yield x + 1


@functools.singledispatch
def shown(x):
    return "any"


@shown.register
def _(x: int):
    return "int"


@shown.register
def _(x: str):
    return "str"


class Shown:
    def __init__(self, n):
        self.n = n

    @functools.singledispatchmethod
    def text(self, x, more=""):
        return "any", more

    @text.register
    def _(self, x: int, more=""):
        self.n += 1
        return self.n + x

    @text.register
    def _(self, x: str, more=""):
        return 10 // len(x)


def added(x, y=10, *, z=100):
    return x + y + z


def compared(x, y):
    return (x > y) - (x < y)


_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.7, 1e-300, 1e300, -1e17, 5e-324, math.inf, -math.inf, math.nan,
           math.pi, -0.75, 100.25, 170.5, 1.0000001, 709.0, -745.5, 1e16, 0.1, 12.0, 1 / 3, -7.0, 20.0, 64.0, 1e-9)
_INTS = (0, 1, -1, 2, 3, 5, 7, -8, 10, 12, 20, 30, 100, 255, -1000, 2**31, -2**31, 2**53, 10**17, 2**62, 63, 64, 17, 6,
         True, False, 4, 9, 16, -3)
_NUMBERS = {"s": (*_FLOATS, *_INTS), "x": _FLOATS, "n": _INTS, "k": (0, 1, 2, 3, 5, -1, True)}
_LISTS = ([], [1], [3, 1, 2], [5, -1, 0, 7], [1, 1, 2, 1], [2, 4, 4, 8], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], [0, 0])
_WRONG = ("a", None, (1, 2), [1.5])


def _cases(module, calls: dict[str, str], values: dict[str, tuple], wrong: tuple = _WRONG, more=()) -> Cases:
    return Cases(type(module), calls, values, wrong, {module.__name__: module, **dict(more)})


def _each(prefix: str, names: str, form: str) -> dict[str, str]:
    return {name: form.replace("f(", f"{prefix}.{name}(") for name in names.split()}


MATH = _cases(math, {
    **_each("math", "acos acosh asin asinh atan atanh ceil cos cosh degrees erf erfc exp expm1 fabs floor frexp gamma "
            "isfinite isinf isnan lgamma log10 log1p log2 modf radians sin sinh sqrt tan tanh trunc ulp", "f(s)"),
    **_each("math", "atan2 copysign fmod hypot pow remainder", "f(s, x) | f(x, x)"),
    **_each("math", "comb perm", "f(n, k) | f(k, k)"), "factorial": "math.factorial(k) | math.factorial(n % 21)",
    **_each("math", "gcd lcm", "f(n, k) | f(n) | f() | f(n, k, k)"), "isqrt": "math.isqrt(n)",
    "ldexp": "math.ldexp(s, k) | math.ldexp(x, n)", "log": "math.log(s) | math.log(s, x) | math.log(s, 2)",
    "nextafter": "math.nextafter(s, x)", "dist": "math.dist((s, x), (x, 1.5)) | math.dist([x], [x])",
    "fsum": "math.fsum([s, x, 1.5]) | math.fsum((x, -x, x))", "prod": "math.prod([k, k]) | math.prod([x, 2.0]) | "
    "math.prod((k, 3), start=2)", "isclose": "math.isclose(s, x) | math.isclose(s, x, rel_tol=0.5) | "
    "math.isclose(s, x, abs_tol=1.0)", "constants": "(math.pi, math.e, math.tau, math.inf, math.nan == math.nan, k)",
}, _NUMBERS)

_COMPLEX = (0j, 1 + 0j, -1j, 1.5 - 2j, -3 + 4j, 0.5 + 0.5j, complex("inf"), 1e200 + 1e200j, -2.0 + 0j, 3 - 0j)
CMATH = _cases(cmath, {
    **_each("cmath", "acos acosh asin asinh atan atanh cos cosh exp log10 sin sinh sqrt tan tanh phase polar isfinite "
            "isinf isnan", "f(s) | f(x)"), "log": "cmath.log(s) | cmath.log(s, 2)",
    "rect": "cmath.rect(x, 0.5)", "isclose": "cmath.isclose(s, x)",
}, {"s": _COMPLEX, "x": _FLOATS[:10]})

ITERTOOLS = _cases(itertools, {
    "accumulate": "list(itertools.accumulate(s)) | list(itertools.accumulate(s, lambda x, y: x * y)) | "
    "list(itertools.accumulate(s, initial=n))",
    "chain": "list(itertools.chain(s, t)) | list(itertools.chain(s, 'ab'))",
    "chain.from_iterable": "list(itertools.chain.from_iterable([s, t]))",
    "combinations": "list(itertools.combinations(s[:5], n))",
    "combinations_with_replacement": "list(itertools.combinations_with_replacement(s[:4], n))",
    "compress": "list(itertools.compress(s, t))", "count": "[x for x, _ in zip(itertools.count(n), s)] | "
    "[x for x, _ in zip(itertools.count(n, 2), s)]", "cycle": "[x for x, _ in zip(itertools.cycle(s), range(7))]",
    "dropwhile": "list(itertools.dropwhile(lambda x: x > n, s))",
    "filterfalse": "list(itertools.filterfalse(lambda x: x > n, s)) | list(itertools.filterfalse(None, s))",
    "groupby": "[(key, list(g)) for key, g in itertools.groupby(s)] | "
    "[(key, len(list(g))) for key, g in itertools.groupby(s, lambda x: x % 2)]",
    "islice": "list(itertools.islice(s, n)) | list(itertools.islice(s, 1, None, 2)) | list(itertools.islice(s, n, 5))",
    "pairwise": "list(itertools.pairwise(s))", "permutations": "list(itertools.permutations(s[:4])) | "
    "list(itertools.permutations(s[:4], n))", "product": "list(itertools.product(s, t)) | "
    "list(itertools.product(s[:3], repeat=2))", "repeat": "list(itertools.repeat(n, 3)) | "
    "list(map(pow, s, itertools.repeat(2)))", "starmap": "list(itertools.starmap(pow, zip(s, t)))",
    "takewhile": "list(itertools.takewhile(lambda x: x > n, s))",
    "tee": "[list(x) for x in itertools.tee(s)] | [list(x) for x in itertools.tee(s, 3)]",
    "zip_longest": "list(itertools.zip_longest(s, t)) | list(itertools.zip_longest(s, t, fillvalue=n))",
}, {"s": _LISTS, "t": ([1, 0, 1], [], [4], [2, 1]), "n": (0, 1, 2, 3, -1)}, (1.5, None))

FUNCTOOLS = _cases(functools, {
    "reduce": "functools.reduce(lambda x, y: x * 2 + y, s) | functools.reduce(lambda x, y: x - y, s, n)",
    "partial": "functools.partial(added, n)() | functools.partial(added, y=n)(1, z=2) | "
    "functools.partial(added, n).args",
    "cmp_to_key": "sorted(s, key=functools.cmp_to_key(compared)) | max(s, key=functools.cmp_to_key(compared))",
    "lru_cache": "functools.lru_cache(None)(lambda x: x + 1)(n) | functools.lru_cache(lambda x: x + 1)(n)",
    "cache": "functools.cache(lambda x: x * 2)(n)", "singledispatch": "shown(n) | shown('a') | shown(1.5) | shown(s)",
    "singledispatchmethod": "Shown(n).text(n) | Shown(1).text('a') | Shown(1).text(s, more=2) | Shown(1).text('')",
    "wraps": "functools.wraps(added)(added)(n)", "partialmethod": "functools.partialmethod(added, n).args",
}, {"s": _LISTS, "n": (0, 1, -1, 5, 10**6, True, 7, 2**40)}, (1.5, None),
    {"added": added, "compared": compared, "shown": shown, "Shown": Shown})

COLLECTIONS = _cases(collections, {
    "Counter": "collections.Counter(s) | collections.Counter(s).most_common(2) | collections.Counter(s)[n] | "
    "collections.Counter(s) + collections.Counter(t) | sum(collections.Counter(s).values())",
    "defaultdict": "collections.defaultdict(int, {n: 1})[n] | collections.defaultdict(list)[n] | "
    "len(collections.defaultdict(int, zip(s, s)))",
    "OrderedDict": "collections.OrderedDict(zip(s, s)) | list(collections.OrderedDict.fromkeys(s))",
    "deque": "collections.deque(s) | collections.deque(s, n) | collections.deque(s, 3).maxlen",
    "ChainMap": "collections.ChainMap({n: 1}, {n: 2, 5: 3})[n] | len(collections.ChainMap({n: 1}, {5: 3})) | "
    "sorted(collections.ChainMap({n: 1}, {5: 3}))",
    "namedtuple": "Pair(n, 2) | Pair(n, 2)._replace(y=n) | Pair(n, 2)._asdict() | Pair._make([1, n]) | Pair._fields",
    "UserDict": "collections.UserDict({n: 1})[n]", "UserList": "len(collections.UserList(s))",
    "UserString": "collections.UserString('ab').upper() == 'AB'",
}, {"s": _LISTS, "t": ([1, 2, 1], [], [4]), "n": (0, 1, 2, 5, -1)}, (1.5, None), {"Pair": Pair})
HEAPQ = _cases(heapq, {
    "heapify": "heapq.heapify(s)", "heappush": "heapq.heapify(s); heapq.heappush(s, n)",
    "heappop": "heapq.heapify(s); n = heapq.heappop(s)", "heappushpop": "heapq.heappushpop(s, n)",
    "heapreplace": "heapq.heapreplace(s, n)", "merge": "list(heapq.merge(sorted(s), t)) | "
    "list(heapq.merge(s, t, reverse=True)) | list(heapq.merge(*[s, t]))",
    "nlargest": "heapq.nlargest(n, s) | heapq.nlargest(2, s, key=lambda x: -x)",
    "nsmallest": "heapq.nsmallest(n, s) | heapq.nsmallest(2, s, key=lambda x: x % 3)",
}, {"s": _LISTS, "t": ([1, 2, 3], [], [4]), "n": (0, 1, 2, 5, -1)}, (1.5, None))
BISECT = _cases(bisect, {
    **_each("bisect", "bisect bisect_left bisect_right", "f(sorted(s), n) | f(s, n, 0, len(s)) | f(s, n, key=abs)"),
    **_each("bisect", "insort insort_left insort_right", "f(s, n)"),
}, {"s": _LISTS, "n": (0, 1, 2, 5, -1, 100)}, (1.5, "a"))
_OPERATORS = ("add sub mul truediv floordiv mod pow eq ne lt le gt ge and_ or_ xor lshift rshift is_ is_not iadd isub "
              "imul "
              "itruediv ifloordiv imod ipow iand ior ixor ilshift irshift")
OPERATOR = _cases(operator, {
    **_each("operator", _OPERATORS, "f(n, k) | f(k, k)"),
    **_each("operator", "abs neg pos invert not_ truth index", "f(n) | f(k)"),
    "matmul": "operator.matmul(n, k)", "concat": "operator.concat(s, t) | operator.iconcat([1], t)",
    "contains": "operator.contains(s, n)", "countOf": "operator.countOf(s, n)", "indexOf": "operator.indexOf(s, n)",
    "getitem": "operator.getitem(s, n) | operator.getitem({1: 2}, n)", "setitem": "operator.setitem(s, k, n)",
    "delitem": "operator.delitem(s, k)", "length_hint": "operator.length_hint(s)",
    "itemgetter": "operator.itemgetter(0)(s) | operator.itemgetter(0, -1)(s) | sorted([(1, n)], "
    "key=operator.itemgetter(1))",
    "attrgetter": "operator.attrgetter('real')(n) | operator.attrgetter('real', 'imag')(n)",
    "methodcaller": "operator.methodcaller('count', 1)(s)", "call": "operator.call(abs, n)",
}, {"s": _LISTS, "t": ([1, 2], []), "n": (0, 1, 2, 5, -1, 7, 100, -30, 2.5, -0.5), "k": (0, 1, 2, 3, -1)})
STRING = _cases(string, {
    "constants": "string.ascii_letters[n] | string.digits + string.hexdigits | string.punctuation[:n] | "
    "string.whitespace | string.printable[n] | string.octdigits | string.ascii_lowercase.index(s[:1]) | "
    "string.ascii_uppercase[n]",
    "capwords": "string.capwords(s) | string.capwords(s, ' ')",
    "Template": "string.Template('$x-${y}').substitute(x=s, "
    "y=n) | string.Template(s).safe_substitute(x=n)", "Formatter": "string.Formatter().format('{0}{1}', s, n)",
}, {"s": ("ab cd", "", "a", "$x", "hello  world", "\u0119 x", "$$", "A b C"), "n": (0, 1, 5, -1, 40)}, (None, 1.5))
_DATA = ([1.0, 2.0, 4.0], [1, 2, 3, 4], [5], [2.5, 2.5], [], [1, 1, 2, 3, 3], [-1.5, 0.0, 1e3], [3, 1, 2])
STATISTICS = _cases(statistics, {
    **_each("statistics", "mean median median_low median_high mode multimode pstdev pvariance stdev variance fmean "
            "median_grouped geometric_mean harmonic_mean", "f(s)"),
    "quantiles": "statistics.quantiles(s) | statistics.quantiles(s, n=n)",
    "correlation": "statistics.correlation(s, [1.0, 2.0, 5.0])", "covariance": "statistics.covariance(s, s)",
    "linear_regression": "statistics.linear_regression(s, s)",
    "NormalDist": "statistics.NormalDist(0, 1).cdf(n) | statistics.NormalDist(n, 2).mean",
}, {"s": _DATA, "n": (4, 2, 10, 3)}, (1.5, None))
RANDOM = _cases(random, {
    **{name: f"random.seed(n); s = [{call}, random.random()]" for name, call in {
        "random": "random.random()", "randint": "random.randint(-n, n)", "randrange": "random.randrange(n)",
        "choice": "random.choice(s)", "choices": "random.choices(s, k=3)", "sample": "random.sample(s, 2)",
        "shuffle": "random.shuffle(s)", "uniform": "random.uniform(1, n)", "gauss": "random.gauss(0, 1.5)",
        "normalvariate": "random.normalvariate(1.0, 2.0)", "expovariate": "random.expovariate(1.5)",
        "betavariate": "random.betavariate(1.5, 2.0)", "gammavariate": "random.gammavariate(2.5, 1.0)",
        "lognormvariate": "random.lognormvariate(0.0, 1.0)", "paretovariate": "random.paretovariate(2.5)",
        "triangular": "random.triangular(0, 1, 0.5)", "vonmisesvariate": "random.vonmisesvariate(0.5, 1.5)",
        "weibullvariate": "random.weibullvariate(1.0, 1.5)", "getrandbits": "random.getrandbits(n)",
        "Random": "random.Random(n).random()"}.items()},
}, {"s": ([1, 2, 3], [5], [4, 4, 1, 0], []), "n": (1, 7, 12, 3, 60, 2, 31, 5)}, (None,))
STRUCT = _cases(struct, {
    "pack": "struct.pack('<id', n, x) | struct.pack('>3h', n, 1, 2) | struct.pack('2s?', s, True)",
    "unpack": "struct.unpack('<id', struct.pack('<id', n, x)) | struct.unpack('<2h', s)",
    "calcsize": "struct.calcsize('<id') | struct.calcsize('@ci')", "iter_unpack": "list(struct.iter_unpack('<h', s))",
    "unpack_from": "struct.unpack_from('<h', s, n) | struct.unpack_from('<h', s)",
    "Struct": "struct.Struct('<h').size | struct.Struct('<h').pack(n) | struct.Struct('<h').unpack(s)",
}, {"s": (b"", b"abcd", b"ab", b"\xff\x00\x01\x02"), "n": (0, 1, -5, 300, 70000), "x": (0.5, -2.0, 1e30)}, ("a", None))
COPY = _cases(copy, {
    "copy": "copy.copy(s) | copy.copy(s) is s | copy.copy((n, s)) | copy.copy(n) | copy.copy({n: s})",
    "deepcopy": "copy.deepcopy(s) | copy.deepcopy([s, s]) | copy.deepcopy((n, s)) | copy.deepcopy({n: s})",
}, {"s": _LISTS, "n": (0, 1.5, "a", 7)}, (None,))
ENUM = _cases(enum, {
    "Enum": "Color(n) | Color.RED.value | Color['RED'] is Color.RED | Color.PAIR.value[0] + n | Color.BLUE.name | "
    "[c.name for c in Color] | Color.RED == n | len(Color)",
    "IntEnum": "Level(n) | Level.HIGH + n | Level.LOW < n | Level.HIGH.value | max(Level.LOW, Level.HIGH) | "
    "f'{Level.LOW:d}'", "Flag": "Access.READ | Access(n) | (Access.READ ^ Access.RUN).value | Access(3) == Access.READ",
}, {"s": (0, 1, 2), "n": (0, 1, 2, 20, 4, 99)}, ("a", None), {"Color": Color, "Level": Level, "Access": Access})
DATACLASSES = _cases(dataclasses, {
    "dataclass": "Point(n) | Point(n, 1.5) == Point(n, 1.5) | Fixed(n) < Fixed(2) | str(Point(n)) | "
    "hash(Fixed(n)) == hash(Fixed(n)) | sorted([Fixed(3), Fixed(n)]) | Point(y=n, x=1)",
    "replace": "dataclasses.replace(Point(n), y=s) | dataclasses.replace(Fixed(n), x=4)",
    "asdict": "dataclasses.asdict(Point(n)) | dataclasses.asdict(Fixed(n, 5))",
    "astuple": "dataclasses.astuple(Point(n)) | dataclasses.astuple(Point(n, s))",
    "fields": "len(dataclasses.fields(Point)) + n | [f.name for f in dataclasses.fields(Point(n))]",
    "is_dataclass": "dataclasses.is_dataclass(Point(n)) | dataclasses.is_dataclass(n)",
}, {"s": (0.5, 1.5, 2), "n": (0, 1, 2, 20, -7)}, (None,), {"Point": Point, "Fixed": Fixed})
CONTEXTLIB = _cases(contextlib, {
    "suppress": "with contextlib.suppress(ZeroDivisionError): s = 10 // n",
    "contextmanager": "with managed(n) as s: s = s + 1",
    "nullcontext": "with contextlib.nullcontext(n) as s: s = s + 1",
    "closing": "with contextlib.closing(managed(n).gen) as s: s = next(s)",
    "ExitStack": "with contextlib.ExitStack() as s: s = s.enter_context(managed(n))",
    "redirect_stdout": "with contextlib.redirect_stdout(None): s = n",
}, {"s": (0, 1, 2), "n": (0, 1, 2, 5, -3)}, ("a", None), {"managed": managed})
TYPING = _cases(typing, {
    "NamedTuple": "Named(n) | Named(n, s) | Named(n).x + 1 | Named(x=n)._replace(y=s)",
    "cast": "typing.cast(int, n)", "TYPE_CHECKING": "typing.TYPE_CHECKING",
    "get_origin": "typing.get_origin(list[int]) is list",
}, {"s": (0.5, 1.5, 2), "n": (0, 1, 2, 20, -7)}, (None,), {"Named": Named})
TIME = _cases(time, {
    **_each("time", "time monotonic perf_counter process_time thread_time", "f() > s"),
    **_each("time", "time_ns monotonic_ns perf_counter_ns process_time_ns thread_time_ns", "f() >= n"),
    "sleep": "time.sleep(s)", "gmtime": "time.gmtime(n).tm_year | time.gmtime(n)[0]",
    "strftime": "time.strftime('%Y-%m-%d', time.gmtime(n))", "mktime": "time.mktime(time.gmtime(n)) > 0",
    "ctime": "time.ctime(n)", "asctime": "time.asctime(time.gmtime(n))",
    "strptime": "time.strptime('2020-01-05', '%Y-%m-%d').tm_mday + n",
}, {"s": (0, 0.0, 1e-6), "n": (0, 86400, 10**9, 1234567)}, ("a", None))
RE = _cases(re, {
    **_each("re", "match search fullmatch", "f(p, s) is None | f(r'(\\w)(\\d*)', s) is None | f(p, s, re.I) is None"),
    "findall": "re.findall(p, s) | re.findall(r'(a)(b?)', s)", "finditer": "[m.start() for m in re.finditer(p, s)]",
    "split": "re.split(p, s) | re.split(p, s, maxsplit=1)",
    "sub": "re.sub(p, 'x', s) | re.sub(p, lambda m: m.group() * "
    "2, s)", "subn": "re.subn(p, '-', s)", "escape": "re.escape(s)", "compile": "re.compile(p).findall(s) | "
    "re.compile(p).pattern", "Match": "[(m.group(), m.span(), m.end()) for m in re.finditer(p, s)]",
}, {"s": ("", "ab12", "aab b", "xyz", "12-34", "A1b2", "\u0119a", "hello"),
    "p": ("a", r"\d+", "[a-z]+", "x*", "(", r"\W")},
    (1.5, None))
JSON = _cases(json, {
    "dumps": "json.dumps(s) | json.dumps([n, s]) | json.dumps({'a': n}, indent=1)",
    "loads": "json.loads(t) | json.loads('[' + t + ']')[0] == n",
}, {"s": ("", "a\"b", "\u0119"), "n": (0, 1.5, None, True), "t": ("1", "{}", "[1, 2", '{"a": 1}', '"x"')}, (b"\xff",))
_FRACTIONS = (fractions.Fraction(1, 3), fractions.Fraction(0), fractions.Fraction(-7, 2), fractions.Fraction(5))
FRACTIONS = _cases(fractions, {
    "Fraction": "fractions.Fraction(n, k) | fractions.Fraction('1/3') + n | fractions.Fraction(0.5)",
    "arithmetic": "s + n | s * s | s / n | s - 0.5 | -s | abs(s) | s ** 2 | n + s | s // 2 | s % n",
    "comparison": "s == n | s < 1 | s >= 0.5 | sorted([s, n])", "attributes": "(s.numerator, s.denominator) | "
    "s.limit_denominator(n + 1000) | float(s) | int(s) | round(s) | str(s) | hash(s) | bool(s)",
}, {"s": _FRACTIONS, "n": (0, 1, 2, 20, -7), "k": (1, 2, 3, 0, -6)}, (None, "a"))
_DECIMALS = (decimal.Decimal("1.10"), decimal.Decimal(0), decimal.Decimal("-7.25"), decimal.Decimal("NaN"))
DECIMAL = _cases(decimal, {
    "Decimal": "str(decimal.Decimal(n)) | str(decimal.Decimal('1.5') + n) | str(decimal.Decimal(0.5))",
    "arithmetic": "str(s + n) | str(s * s) | str(s / n) | str(-s) | str(abs(s)) | str(n + s) | "
    "str(s // 2) | str(s % n)",
    "comparison": "s == n | s < 1 | max(s, n) == n", "methods": "str(s.quantize(decimal.Decimal('0.1'))) | "
    "str(round(s, 1)) | float(s) | int(s) | str(s) | s.is_nan() | str(s.sqrt()) | s.as_tuple() | bool(s)",
    "localcontext": "with decimal.localcontext() as c: c.prec = 5; s = str(decimal.Decimal(1) / 3)",
}, {"s": _DECIMALS, "n": (0, 1, 2, 20, -7)}, (None, "a"))
_DATES = (datetime.date(2020, 2, 29), datetime.date(1999, 12, 31), datetime.date(1, 1, 1), datetime.date(2024, 7, 4))
DATETIME = _cases(datetime, {
    "date": "datetime.date(2000 + n, 1, 31) | s.year + n | s.isoformat() | s.weekday() | s.replace(day=n) | "
    "datetime.date.fromisoformat('2020-01-05') | s < datetime.date(2020, 1, n) | (s - datetime.date(2000, 1, 1)).days",
    "timedelta": "s + datetime.timedelta(days=n) | datetime.timedelta(n).total_seconds() | "
    "datetime.timedelta(hours=n) * 2 | str(datetime.timedelta(minutes=n))",
    "datetime": "datetime.datetime(2020, 1, n) | datetime.datetime.strptime('2020-01-05', '%Y-%m-%d').day + n | "
    "datetime.datetime(2020, 1, 5, n).strftime('%H:%M') | datetime.datetime.combine(s, datetime.time(n))",
    "time": "datetime.time(n, 30).isoformat() | datetime.time(n) < datetime.time(12)",
}, {"s": _DATES, "n": (0, 1, 2, 20, -7)}, (None, "a"))
ARRAY = _cases(array, {
    "array": "array.array('i', [1, n]) | array.array('d', [1.5, n])[1] | len(array.array('b', b'ab'))",
    "items": "s[n] | s[1:] | s[n] + 1 | len(s) | sum(s) | [x * 2 for x in s] | n in s", "assignment": "s[0] = n",
    "methods": "s.append(n) | s.tolist() | s.count(n) | s.index(n) | s.typecode | s.itemsize | s.tobytes() | s.pop() | "
    "s.reverse() | s.extend([n, n]) | s.insert(0, n)",
}, {"s": (array.array("i", [1, 2, 3]), array.array("i", []), array.array("d", [0.5, 2.0])), "n": (0, 1, 2, -1, 300)},
    (None, "a"))
TEXTWRAP = _cases(textwrap, {
    "wrap": "textwrap.wrap(s, n)", "fill": "textwrap.fill(s, n)", "shorten": "textwrap.shorten(s, n)",
    "dedent": "textwrap.dedent(s)", "indent": "textwrap.indent(s, '> ')",
}, {"s": ("aa bb cc dd", "", " x\n y", "hello world " * 3), "n": (5, 10, 0, 70, 12)}, (None, 1.5))

MODULES = {one.__name__: cases for one, cases in (
    (math, MATH), (cmath, CMATH), (itertools, ITERTOOLS), (functools, FUNCTOOLS), (collections, COLLECTIONS),
    (heapq, HEAPQ), (bisect, BISECT), (operator, OPERATOR), (string, STRING), (statistics, STATISTICS),
    (random, RANDOM),
    (struct, STRUCT), (copy, COPY), (enum, ENUM), (dataclasses, DATACLASSES), (contextlib, CONTEXTLIB),
    (typing, TYPING), (time, TIME), (re, RE), (json, JSON), (fractions, FRACTIONS), (decimal, DECIMAL),
    (datetime, DATETIME), (array, ARRAY), (textwrap, TEXTWRAP))}
