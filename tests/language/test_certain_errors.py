"""Operations that the interpreter would refuse for every value of their operands' types: they raise that exception where
the program catches it, and are refused at compile time where it does not."""
import bisect
import collections
import contextlib
import functools
import heapq
import itertools
import linecache
import math
import operator
import random

import numpy as np
import pytest

from pyjitc import TypingError, jit, njit
from tests.oracle import agree


class P:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 1

    def m(self):
        return 1


def g(a, b=1):
    return a + b


# each with x = 3, s = "abc", l = [1, 2, 3], t = (1, "a", 2.5), d = {"a": 1}, p = P()
EXPRESSIONS = """
x + s
s + x
x - s
x * l + s
s * 2.5
l * 1.5
l + t
t + l
l + s
x @ x
x & 1.5
x << 2.5
~1.5
-s
-l
+d
x < s
l < t
s >= b'a'
None < x
1j < 2j
x in 5
x in s
'a' in b'abc'
s['a']
s[1.5]
l['a']
l[None]
t['a']
t[7]
t[1.0]
x[0]
d[l]
d[[1]]
{[1]: 2}
{l}
hash(l)
hash({})
len(x)
len(None)
len()
len(l, l)
abs(s)
abs(l)
int(l)
int(None)
int('a', 'b')
int(1.5, 3)
float(l)
float(None)
bool(1, 2)
str(1, 2, 3, 4)
list(5)
tuple(5)
set(5)
dict(5)
frozenset(5)
range('a')
range(1.5)
range()
sum(5)
sum(l, '')
sum(['a', 'b'])
sum(['a'], '')
min(5)
min()
min(1, 'a')
max(l, 5)
max([1, 'a'])
sorted(5)
sorted([1, 'a'])
sorted(l, 3)
reversed(5)
reversed({1})
iter(5)
next(5)
next(l)
enumerate(5)
list(zip(5, l))
zip(l, 5)
map(5)
list(map(len, l))
list(map(None, l))
list(filter(len, l))
any(5)
all(5)
ord('ab')
ord(5)
chr('a')
chr(1.5)
hex(1.5)
bin('a')
round('a')
round(1.5, 'a')
divmod(1, 'a')
pow(1, 'a')
pow(2.0, 1, 1)
isinstance(1, 2)
issubclass(1, int)
x()
s()
l()
l(0)
x.nothing
s.nothing
l.nothing
t.append(1)
p.nothing
p.b
p.m(1)
P(1)
P.nothing
p + 1
p[0]
p()
len(p)
-p
p < p
iter(p)
int(p)
l.append()
l.append(1, 2)
l.pop('a')
l.insert(1)
l.index()
l.sort(3)
l.extend(5)
d.get()
d.update(5)
d.pop()
s.join(l)
s.join(5)
s.split(5)
s.replace('a')
s.replace('a', 5)
s.startswith(5)
s.find(5)
s.count(5)
s.center('a')
s.encode(5)
s.strip(5)
s % (1, 2, 3)
'%d' % s
'%d %d' % 1
'%d' % 'a'
'{:d}'.format(s)
f'{s:d}'
f'{l:5}'
'{1}'.format(1)
'{a}'.format(1)
b'a' + s
bytes('a')
bytearray('a')
g(1)
g(1, 2, 3)
g(1, c=2)
g(1, s)
(lambda q: q)(1, 2)
[i for i in 5]
[i + s for i in l]
{i: 1 for i in x}
sum(i for i in x)
x if x + s else 1
np.zeros(3)['a']
np.zeros(3)[1, 2]
np.sin(1, 2, 3, 4)
np.zeros(3).nothing
np.nothing
len(np.float64(1))
math.sin('a')
math.sin()
math.sqrt(l)
math.nothing
math.gcd(1.5, 2)
math.floor('a')
list(itertools.chain(5))
list(itertools.islice(l, 'a'))
list(itertools.permutations(5))
functools.reduce(len, l)
random.randint('a', 5)
bisect.bisect(5, 1)
operator.add(1, 'a')
collections.deque(5)
collections.Counter(5)
x.real()
slice()
print(1, sep=5)
getattr(x, 'nothing')
getattr(x, 5)
"""

STATEMENTS = """
a, b = x
a, b = t
a, *b = x
l[0] = s; s[0] = 'a'
t[0] = 1
x[0] = 1
del x[0]
del t[0]
x.y = 1
t.y = 1
del x.y
p.b = 5
s += 1
x += s
l += 5
for i in x: pass
for i, j in l: pass
for i in None: pass
with x: pass
with l as q: pass
d[[1]] = 2
assert x + s
raise 5
raise s
d |= 5
while x + s: pass
x = g() + 1
np.sin(s)
np.sqrt(None)
complex(s, 1)
complex(1, s)
dict(l)
dict([t])
d.update([[x]])
collections.OrderedDict([[x]])
g(*x)
P(*None)
math.hypot(*x)
setattr(p, x, 1)
delattr(p, x)
delattr(p, s)
import nothing_there
from math import nothing_there
"""

_SOURCE = """
    try:
        {}
        found.append("nothing")
    except Exception as e:
        found.append(type(e).__name__ + ": " + str(e))
"""
_LINES = [f"r = {line}" for line in EXPRESSIONS.strip().splitlines()] + STATEMENTS.strip().splitlines()
_TOGETHER = 12  # in one function, since each function that is compiled takes time


@pytest.mark.parametrize("first", range(0, len(_LINES), _TOGETHER))
def test_caught_operation(first):
    lines = _LINES[first:first + _TOGETHER]
    source = ("def f(x, s, l, t, d, p):\n    found = []" + "".join(map(_SOURCE.format, lines)) + "    return found\n")
    name = f"<{lines[0]}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    space = {**globals()}
    exec(compile(source, name, "exec"), space)

    def called(f):
        return f(3, "abc", [1, 2, 3], (1, "a", 2.5), {"a": 1}, P())

    f = space["f"]
    expected = called(f)
    assert "nothing" not in expected
    assert called(njit(f)) == expected


class Quiet:
    def __init__(self):
        self.n = 0
    def __enter__(self):
        return self
    def __exit__(self, t, v, tb):
        self.n += 1
        return t is TypeError


class Loud:
    def __enter__(self):
        return self
    def __exit__(self, t, v, tb):
        return None


def g(a, b):
    return a + b


def in_a_called_function(x, s):
    try:
        return g(x, s)
    except TypeError as e:
        return str(e)


def finally_inside(x, s):
    log = []
    try:
        try:
            return x + s
        finally:
            log.append(1)
    except TypeError:
        log.append(2)
    return log


def second_handler(x, s):
    try:
        try:
            x + s
        except ValueError:
            return 1
        return 2
    except (KeyError, TypeError):
        return 3


def suppressed(x, s):
    with contextlib.suppress(TypeError):
        return x + s
    return 9


def ended_by_a_context_manager(x, s):
    q = Quiet()
    with q:
        return x + s
    return q.n


def through_a_context_manager(x, s):
    try:
        with Loud():
            return x + s
    except TypeError:
        return 7


def bare_except(x, s):
    try:
        x + s
    except:
        return 4


def in_a_loop(x, s):
    for i in range(3):
        try:
            x = x + s
        except TypeError:
            continue
        finally:
            x += 1
    return x


def in_a_nested_function(x, s):
    def inner(b):
        return x + b
    try:
        return inner(s)
    except TypeError:
        return inner(1)


def finally_returns(x, s):
    try:
        return x + s
    finally:
        return 5


def raised_again(x, s):
    try:
        try:
            x + s
        except TypeError:
            raise
    except Exception as e:
        return type(e).__name__


def as_a_cause(x, s):
    try:
        try:
            x + s
        except TypeError as e:
            raise ValueError('v') from e
    except ValueError as e:
        return str(e) + str(e.__cause__)


def in_a_key_function(x, s):
    try:
        sorted([3, 1], key=lambda q: q + s)
    except TypeError as e:
        return str(e)


def in_a_comprehension(x, s):
    try:
        return [i + s for i in range(x)]
    except TypeError as e:
        return str(e)


def in_a_generator_expression(x, s):
    try:
        return sum(i + s for i in range(x))
    except TypeError as e:
        return str(e)


def other_class(x, s):
    try:
        return x + s
    except ValueError:
        return 3


def finally_only(x, s):
    try:
        return x + s
    finally:
        x = 3


def suppresses_another(x, s):
    with contextlib.suppress(ValueError):
        return x + s
    return 9


def passed_by_a_context_manager(x, s):
    with Loud():
        return x + s


def after_the_try(x, s):
    try:
        pass
    except TypeError:
        pass
    return x + s


def in_an_unreached_handler(x, s):
    try:
        return 1
    except TypeError:
        return x + s


def other_classes(x, s):
    try:
        try:
            x + s
        except ValueError:
            pass
    except KeyError:
        pass


def class_known_at_run_time(x, s):
    C = TypeError if x > 100 else ValueError
    try:
        return x + s
    except C:
        return 1
    except TypeError:
        return 2


CAUGHT = (
    in_a_called_function, finally_inside, second_handler, suppressed, ended_by_a_context_manager,
    through_a_context_manager, bare_except, in_a_loop, in_a_nested_function, finally_returns, raised_again,
    as_a_cause, in_a_key_function, in_a_comprehension, in_a_generator_expression)
UNCAUGHT = (
    other_class, finally_only, suppresses_another, passed_by_a_context_manager, after_the_try, other_classes)


@pytest.mark.parametrize("decorator", [njit, jit])
@pytest.mark.parametrize("function", [*CAUGHT, in_an_unreached_handler, class_known_at_run_time])
def test_agrees_where_it_is_caught(function, decorator):
    if decorator is njit and function is class_known_at_run_time:
        return  # compiled code needs to know the class
    agree(function, 3, "a", compiled=decorator(function))


@pytest.mark.parametrize("function", UNCAUGHT)
def test_refused_where_it_is_not_caught(function):
    with pytest.raises(TypingError, match="unsupported operand"):
        njit(function)(3, "a")
    agree(function, 3, "a", compiled=jit(function))
