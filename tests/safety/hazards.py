"""Programs that change objects while compiled code reads them, or request impossible sizes. test_hazards.py runs them
in a process of its own, since none of them may end the process.

    python -m tests.safety.hazards [NAME]

Each is called compiled and by the interpreter with the same arguments, and must do the same; where `njit` refuses it,
`jit` must. The last name on stderr is that of the program in progress.
"""
from __future__ import annotations

import heapq
import itertools
import signal
import sys
import threading
from collections import deque

from pyjitc import CompileError, jit, njit

PROGRAMS: list = []
MOST = sys.maxsize


def given(*makers):
    """makers: functions that make the arguments of a call."""
    def add(function):
        PROGRAMS.append((function, makers))
        return function
    return add


class Clears:
    """An object that empties a container in each of its special methods."""

    def __init__(self, held, x=1):
        self.held, self.x = held, x

    def _clear(self):
        self.held.clear()

    def __del__(self):
        self._clear()

    def __hash__(self):
        self._clear()
        return 1

    def __eq__(self, other):
        self._clear()
        return False

    def __lt__(self, other):
        self._clear()
        return True

    def __index__(self):
        self._clear()
        return 1

    def __str__(self):
        self._clear()
        return "cleared"

    __repr__ = __str__


class Plain:
    def __init__(self, x=1):
        self.x = x


class Deletes:
    """An object whose finaliser removes all attributes of another object."""

    def __init__(self, of):
        self.of = of

    def __del__(self):
        self.of.__dict__.clear()


def holding(container, put):
    """(container,), with an object in the container that empties it."""
    put(container, Clears(container))
    return (container,)


def in_list(n=10, at=3):
    def put(x, clears):
        x[at] = clears
    return lambda: holding([None] * n, put)


def with_object():
    p = Plain()
    p.y = Deletes(p)
    return p, 5


@given(in_list())
def overwrites(x):
    t = 0
    for i in range(10):
        if i < len(x):
            x[i] = None
            t += 1
    return t, len(x)


@given(in_list())
def deletes(x):
    for i in range(9, -1, -1):
        if i < len(x):
            del x[i]
    return len(x)


@given(in_list())
def replaces(x):
    x[2:5] = [None, None]
    x.append(None)
    return len(x)


@given(in_list(), in_list(3, 0))
def pops(x):
    n = 0
    while x:
        x.pop()
        n += 1
    return n


@given(in_list())
def loses_its_items_in_a_loop(x):
    n = 0
    for one in x:
        if n < 4 and n + 1 < len(x):
            x[n + 1] = None
        n += 1
    return n


@given(with_object)
def loses_its_attributes(p, v):
    p.y = v
    return p.__class__ is None


@given(lambda: ([1, 2, 3, 4],), lambda: ([1],))
def clears_in_a_loop(x):
    n = 0
    for a in x:
        for b in reversed(x):
            n += a * b
            if n > 20:
                x.clear()
    return n, x


@given(lambda: ([1, 2, 3, 4, 5],))
def clears_in_zip(x):
    out = []
    for i, (a, b) in enumerate(zip(x, x)):
        out.append((a, b))
        if i == 1:
            x.pop()
            x.pop(0)
    return out


@given(lambda: ([2, 4, 6, 1, 2],))
def removes_in_a_loop(x):
    out = []
    for a in x:
        out.append(a)
        if a % 2 == 0:
            x.remove(a)
    return out, x


@given(lambda: ([1],))
def grows_in_a_loop(x):
    n = 0
    for a in x:
        n += 1
        if n < 20:
            x.append(a)
    x.extend(x)
    x[:] = x
    x += x
    x[3:5] = x
    return n, len(x)


@given(lambda: ([3, 1, 2],))
def sorts_what_grows(x):
    def key(a):
        x.append(a)
        return -a
    x.sort(key=key)


@given(lambda: ([3, 1, 2],))
def changes_what_it_generates_from(x):
    def items():
        for a in x:
            yield a
    n = 0
    for a in items():
        n += a
        if n < 9:
            x.insert(0, 1)
        else:
            x.clear()
    return n


@given(lambda: ([*range(50)],))
def finds_another_class(x):
    t = 0
    for i in range(len(x)):
        a = x[i]
        x[i] = a + 1
        t += a
    return t


@given(lambda: ([*range(20), None, *range(20)],))
def finds_none(x):
    t = 0
    for i in range(len(x)):
        a = x[i]
        x[i] = a + 1
        t += a
    return t


@given(lambda: ({1: 1, 2: 2},))
def adds_to_a_dict_in_a_loop(d):
    for k in d:
        d[k + 100] = 1


@given(lambda: ({1: 1, 2: 2},))
def deletes_from_a_dict_in_a_loop(d):
    for k in list(d):
        del d[k]
    for k, v in d.items():
        d[k] = v
    return len(d)


@given(lambda: ({1: 1, 2: 2},))
def clears_a_dict_in_a_loop(d):
    for k, v in d.items():
        d.clear()


@given(lambda: ({1},))
def adds_to_a_set_in_a_loop(s):
    for a in s:
        s.add(a + 1)


@given(lambda: (deque([1, 2, 3]),))
def adds_to_a_deque_in_a_loop(d):
    for a in d:
        d.append(a)


@given(lambda: holding({}, lambda d, c: d.update({7: c})))
def overwrites_in_a_dict(d):
    d[7] = None
    return len(d)


@given(lambda: holding({}, lambda d, c: d.update({7: c})))
def pops_from_a_dict(d):
    d.pop(7)
    d.clear()
    return len(d), d.get(7) is None


@given(*[lambda i=i: ([1, 2, 3], i) for i in (0, -1, 3, -4, MOST, -MOST - 1)])
def takes(x, i):
    return x[i]


@given(*[lambda i=i: ([1, 2, 3], i) for i in (0, -1, 3, -4, MOST, -MOST - 1)])
def puts(x, i):
    x[i] = 9
    x.insert(i, 3)


@given(*[lambda s=s: ([1, 2, 3, 4], *s) for s in itertools.product(
    (0, -1, MOST, -MOST - 1), (0, 3, MOST, -MOST - 1), (1, -1, 2, MOST, -MOST - 1, 0))])
def slices(x, a, b, c):
    return x[a:b:c]


@given(*[lambda c=c, v=v: ([1, 2, 3, 4], c, v) for c in (1, 2, -1) for v in ([7], [7, 8], [])])
def puts_slices(x, c, v):
    x[0:4:c] = v


@given(lambda: (2**60,), lambda: (-3,), lambda: (MOST,))
def repeats(n):
    return [0.0] * n


@given(lambda: ([1], 2**61), lambda: ([1, 2], 0), lambda: ([], MOST))
def repeats_in_place(x, n):
    x *= n


def clearing():
    x: list = []
    x += [Clears(x), Clears(x), Clears(x)]
    return (x,)


@given(clearing)
def looks_for_what_compares(x):
    return 5 in x, len(x)


@given(clearing)
def counts_what_compares(x):
    return x.count(5), len(x)


@given(clearing)
def removes_what_compares(x):
    x.remove(5)


@given(clearing)
def compares_what_compares(x):
    return x == [1, 2, 3], len(x)


@given(clearing)
def sorts_what_compares(x):
    x.sort()


@given(clearing)
def finds_the_least_of_what_compares(x):
    return min(x) is None, len(x)


@given(clearing)
def heaps_what_compares(x):
    heapq.heapify(x)
    return len(x)


@given(clearing)
def compares_in_a_loop(x):
    n = 0
    for a in x:
        n += a == x[0]
        if x and a < x[-1]:
            n += 10
    return n


@given(clearing)
def writes_what_clears(x):
    return [f"{a}" for a in x]


@given(lambda: holding([1, 2, 3], lambda x, c: x.append([c])))
def hashes_what_clears(x):
    return x[3][0] in {1: 2}, len(x)


@given(lambda: (lambda x: (x, Clears(x)))([1, 2, 3]))
def indexes_with_what_clears(x, i):
    return x[i]


@given(lambda: (lambda x: (x, Clears(x)))([1, 2, 3]))
def puts_where_what_clears(x, i):
    x[i] = 5


@given(lambda: (lambda x: (x, Clears(x)))([1, 2, 3]))
def inserts_where_what_clears(x, i):
    x.insert(i, 5)
    return x.pop(i)


@given(lambda: (lambda x: (x, Clears(x)))([1, 2, 3]))
def repeats_by_what_clears(x, i):
    return x * i, x[i:], x[:i]


@given(lambda: (lambda d: (d, Clears(d)))({1: 2}))
def looks_up_what_clears(d, key):
    d[key] = 1
    return key in d, d.get(key), d.pop(key, 3), d.setdefault(key, 4), len(d)


@given(lambda: (lambda d: (d, Clears(d)))({1, 2}))
def adds_what_clears(s, key):
    s.add(key)
    s.discard(key)
    return key in s, len(s)


@given(lambda: (lambda d: (d, Clears(d)))(deque([1, 2])))
def asks_a_deque_for_what_clears(d, key):
    return key in d, len(d), d.count(key)


@given(lambda: ([5, 4, 3],), lambda: ([],))
def heaps(x):
    heapq.heapify(x)
    heapq.heappush(x, 0)
    return [heapq.heappop(x) for _ in range(3)]


@given(lambda: ([1.5] * 1000, 10**9))
def is_cleared_by_a_signal(x, rounds):
    n = 0
    t = 0.0
    while n < rounds and len(x) > 0:
        n += 1
        for a in x:
            t += a
        for i in range(len(x)):
            if i < len(x):
                x[i] += 0.0
    return t > 0


@given(lambda: ([1.5] * 1000, 300))
def is_changed_by_a_thread(x, rounds):
    t = 0.0
    for _ in range(rounds):
        for i in range(len(x)):
            if i < len(x):
                t += x[i]
        for a in x:
            t += a
    return t > 0


def outcome(function, args):
    try:
        result = function(*args)
    except CompileError:
        return None
    except Exception as error:
        result = type(error), str(error)
    return repr(result), [repr(a) if type(a) in (list, dict, set, deque) and not any(
        isinstance(b, Clears) for b in a) else None for a in args]


def in_company(function, args):
    """The result of a call during which a signal or a thread changes the first argument, whose final state is not
    compared."""
    x = args[0]
    if function.__name__ == "is_cleared_by_a_signal":
        signal.signal(signal.SIGALRM, lambda *_: x.clear())
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        return function(*args)
    ended = False

    def change():
        while not ended:
            x.append(2.0)
            x.pop(0)
            x.insert(0, 3.0)
            del x[-1]

    thread = threading.Thread(target=change)
    thread.start()
    result = function(*args)
    ended = True
    thread.join()
    return result


def main(only=""):
    wrong = 0
    for function, makers in PROGRAMS:
        name = function.__name__
        if only and name != only:
            continue
        print(name, file=sys.stderr, flush=True)
        compiled = njit(function)
        for make in makers:
            if name.startswith("is_"):
                compiled(make()[0], 1)
                found, expected = in_company(compiled, make()), True
            else:
                found, expected = outcome(compiled, make()), outcome(function, make())
                if found is None:
                    found = outcome(jit(function), make())
            if found != expected:
                wrong += 1
                print(f"{name}{make()}: {found}, but in the interpreter {expected}")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:]), 1))
