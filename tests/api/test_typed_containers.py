"""`pyjitc.typed`: lists, dicts and sets that stay native between calls. The oracle is Python's container, on which the
same function is run by the interpreter."""
import collections.abc
import copy
import gc
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import typing

import numpy as np
import pytest

import pyjitc
from pyjitc import TypingError, njit, prange
from pyjitc.typed import Dict, List, Set


class Point(typing.NamedTuple):
    x: int
    y: float


def plain(x):
    """A value with Python's containers in place of typed ones."""
    if isinstance(x, List):
        return [plain(item) for item in x]
    if isinstance(x, Dict):
        return {key: plain(x[key]) for key in x}
    if isinstance(x, Set):
        return set(x)
    if type(x) in (list, tuple):
        return type(x)(map(plain, x))
    return x


def outcome(function, *args):
    try:
        found = plain(function(*args))
        return repr(found) if not isinstance(found, set) else sorted(found)
    except Exception as error:
        return type(error), error.args


def agree(function, made, given, *args):
    """The function does with a typed container what it does with Python's: by the interpreter, and compiled."""
    expected_on = copy.deepcopy(given)
    expected = outcome(function, expected_on, *args)
    for run in function, njit(function):
        x = made(given)
        assert outcome(run, x, *args) == expected
        assert plain(x) == expected_on


ITEMS = [3, 1, 2, 1]
OF_LISTS = {
    "item": lambda x: (x[0], x[-1], x[True]), "beyond": lambda x: x[4], "before": lambda x: x[-5],
    "slices": lambda x: (x[1:], x[::-1], x[:-9], x[3:0:-2], x[:]), "length": lambda x: (len(x), bool(x), not x),
    "sums": lambda x: (sum(x), max(x), min(x), sorted(x), list(x), tuple(reversed(list(x)))),
    "loops": lambda x: [(i, a, b) for i, (a, b) in enumerate(zip(x, reversed(x)))],
    "in": lambda x: (1 in x, 9 in x, 9 not in x, x.count(1), x.index(2), x.index(1, 2), x.index(1, -1)),
    "no index": lambda x: x.index(9), "no index there": lambda x: x.index(3, 1, 3),
    "add": lambda x: (x + x, x * 2, 2 * x, x * -1, x + [5]), "copy": lambda x: (x.copy(), x.copy() is x),
    "equal": lambda x: (x == x.copy(), x != x.copy(), x == [3, 1, 2, 1], x == [3], x != [3, 1, 2, 2], x == x[1:]),
    "order": lambda x: (x < x[1:], x <= x, x > x[:2], x >= x[1:], x < x),
    "unpack": lambda x: [*x, *x[1:]],
}


def append(x):
    x.append(7)
    x.extend([4, 5])
    x.extend(x)
    x.extend(range(3))
    x += (8, 9)
    x += x
    x *= 2
    return x


def remove(x):
    found = [x.pop(), x.pop(0), x.pop(-1)]
    x.insert(0, 10)
    x.insert(-100, 11)
    x.insert(100, 12)
    x.remove(10)
    return found


def store(x):
    x[0] = 9
    x[-1] = 8
    x[1:3] = [5, 6, 7]
    x[::2] = [0] * len(x[::2])
    del x[0]
    del x[-2:]


def order(x):
    x.sort()
    x.reverse()
    x.sort(key=lambda a: -a % 3)
    x.sort(reverse=True)
    x.sort(key=lambda a: a % 2, reverse=True)


def grow_in_loop(x):
    n = 0
    for item in x:
        n += item
        if len(x) < 40:
            x.append(n)
    return n


def fail_half_way(x):
    for item in x:
        x.append(item)
        if len(x) > 6:
            raise ValueError(item, len(x))


def bad_slice(x):
    x[::2] = [1]


@pytest.mark.parametrize("function", [pytest.param(f, id=name) for name, f in OF_LISTS.items()] + [
    append, remove, store, order, grow_in_loop, fail_half_way, bad_slice, lambda x: x.remove(9), lambda x: x.pop(7),
    lambda x: x.clear(), lambda x: x.__setitem__(4, 1), lambda x: x.__delitem__(9)])
def test_lists(function):
    agree(function, List[int], ITEMS)
    agree(function, List[int], list(range(20)) if function is not OF_LISTS["no index there"] else ITEMS)


@pytest.mark.parametrize("items", [
    [1.5, -0.0, float("inf")], [True, False], [1j, 2 + 1j], ["a", "é", "long text" * 9, ""], [(1, 2.5), (0, 0.0)],
    [Point(1, 2.0), Point(0, -1.5)], [((1, 2), 3.0)], [np.float32(1.5), np.float32(2)], [np.int8(3)], [("a", 1)]])
def test_types_of_items(items):
    made = List(items)
    assert list(made) == items and [type(x) for x in made] == [type(x) for x in items]

    def through(x):
        x.append(x[0])
        x.insert(0, x[-1])
        x[1] = x.pop()
        return x, x[0], x.count(x[0]), x[0] in x, x[1:], x + x, [item for item in x]

    agree(through, List, items)
    assert pickle.loads(pickle.dumps(made)) == made == copy.copy(made) == copy.deepcopy(made)
    assert type(copy.deepcopy(made)) is type(made)


def test_items_are_converted_to_the_type():
    x = List[float]([1, True, np.float32(2.5)])
    x.append(np.int32(4))
    assert repr(x) == "List[float]([1.0, 1.0, 2.5, 4.0])"
    with pytest.raises(TypingError, match="an item of type int cannot be a value of type float"):
        List[int]().append(1.5)
    with pytest.raises(TypingError, match="an item of type int cannot be a value of type str"):
        List[int](["a"])
    with pytest.raises(OverflowError):
        List[np.int8]().append(200)
    pairs = List[tuple[int, float]]()
    pairs.append((1, 2))
    assert pairs[0] == (1, 2.0) and type(pairs[0][1]) is float
    assert List[Point]([Point(1, 2)])[0] == Point(1, 2.0)


KEYS = {"float": 1.0, "no whole": 1.5, "beyond": 1e300, "infinity": float("inf"), "bool": True,
        "float32": np.float32(3), "int8": np.int8(3), "uint64": np.uint64(1), "large": np.uint64(2**64 - 1),
        "complex": 1 + 0j, "imaginary": 1j, "text": "x", "a key": "b", "bytes": b"b", "None": None, "pair": (1, 2),
        "another pair": (1, "b"), "three": (1, 2, 3)}
ASK = {"in": lambda x, key: (key in x, key not in x, key in x.keys()), "item": lambda x, key: x[key],
       "get": lambda x, key: (x.get(key), x.get(key, 5.5)), "pop": lambda x, key: x.pop(key),
       "pop default": lambda x, key: x.pop(key, 5.5), "delete": lambda x, key: x.__delitem__(key)}
ASK_SET = {"in": lambda x, key: key in x, "discard": lambda x, key: x.discard(key),
           "remove": lambda x, key: x.remove(key)}


@pytest.mark.parametrize("given, key", [
    *[pytest.param({1: 2.0, 3: 4.0, -1: 1.0}, key, id=name) for name, key in KEYS.items()],
    *[({"b": 2.0}, key) for key in (1.5, None, b"b", "b")],
    *[({(1, 2): 2.0}, key) for key in (1.5, "x", (1, 2), (1, "b"), (1, 2, 3), (True, np.int8(2)))]])
def test_keys_of_other_types(given, key):
    for ask in ASK.values():
        agree(ask, Dict, given, key)
    for ask in ASK_SET.values():
        agree(ask, Set, set(given), key)


@pytest.mark.parametrize("value", ["a", 1.5, None, (1, 2), 1.0])
def test_items_of_other_types(value):
    for ask in (lambda x, v: v in x, lambda x, v: x.index(v), lambda x, v: x.count(v), lambda x, v: x.remove(v)):
        agree(ask, List, [1, 2, 3], value)


def test_views_of_dicts():
    def views(x):
        keys, values, items = x.keys(), x.values(), x.items()
        found = len(keys), len(values), len(items), 2.5 in values, (1, 2.5) in items, [key for key in keys], bool(keys)
        x[9] = 1.0
        found += len(keys), sum(values), [item for item in items], 9 in keys
        x.clear()
        return found, len(keys), bool(values), not items

    agree(views, Dict, {1: 2.5, 7: 3.5})


@pytest.mark.parametrize("items", [[1, 2, 3], [1.5], [True, False], [1j], [np.float32(1)], [(1, 2), (3, 4)]])
def test_arrays_of_lists(items):
    def arrays(x):
        return np.array(x), np.asarray(x), np.array(x, ndmin=2), np.array(x, np.complex64), np.array(x) is np.array(x)

    x = List(items)
    for found, expected in zip(njit(arrays)(x), arrays(items)):
        assert repr(found) == repr(expected)
    empty = type(x)()
    if isinstance(items[0], tuple):  # NumPy's array has one axis
        with pytest.raises(TypeError, match="an empty list becomes an array with one axis, .* compiled for 2"):
            njit(arrays)(empty)
    else:
        found, expected = njit(arrays)(empty)[0], np.array(empty)
        assert len(found) == len(expected) == 0 and found.dtype == expected.dtype == np.array(items).dtype


def test_integers_beyond_64_bits_are_not_stored():
    def store(x, item):
        x.append(item)

    for run in (store, njit(store)):
        x = List([1])
        with pytest.raises(OverflowError):
            run(x, np.uint64(2**64 - 1))
        assert x.tolist() == [1]


def test_what_has_no_type():
    for made, message in ((lambda: List(), "has no items that show their type"),
                          (lambda: List([]), "there are no items"),
                          (lambda: List(iter([1])), "an iterator shows"), (lambda: List[list], "is not a type"),
                          (lambda: List[int][int], "has its type"), (lambda: Dict[int], "takes 2 types"),
                          (lambda: Dict[float, int], "keys of a Dict are ints"), (lambda: Set[float], "keys of a Set"),
                          (lambda: List["object"], "cannot have the type")):
        with pytest.raises(TypeError, match=message):
            made()
    with pytest.raises(TypeError, match="unhashable"):
        hash(List([1]))


def test_classes():
    assert List[int] is List[int] and List["int64"] is List[int] is type(List([1]))
    assert List[np.int64] is type(List([np.int64(1)])) is not List[int] and List[pyjitc.int64] is List[int]
    x, d, s = List([1]), Dict({1: 2}), Set([1])
    assert isinstance(x, List) and not isinstance(x, list) and isinstance(x, collections.abc.MutableSequence)
    assert isinstance(d, collections.abc.MutableMapping) and isinstance(s, collections.abc.MutableSet)
    assert np.array_equal(np.array(List([1.5, 2])), [1.5, 2.0]) and x.tolist() == [1]
    assert d.todict() == dict(d) == {1: 2} and s.toset() == {1} and sorted(List([2, 1])) == [1, 2]
    assert repr(d) == "Dict[int, int]({1: 2})" and repr(s) == "Set[int]({1})"
    ordered = Set([5, 100, 1])
    assert repr(ordered) == "Set[int]({5, 100, 1})" and repr(Set[int]()) == "Set[int](set())"
    assert list(ordered) == list(pickle.loads(pickle.dumps(ordered))) == [5, 100, 1]


class Numbers(List[int]):
    def __init__(self, name):
        self.name = name

    def total(self):
        return sum(self)


def test_subclasses():
    @njit
    def use(x):
        x.append(4)
        x[0] = 9
        return x.total(), len(x)

    x = Numbers("name")
    x.extend([1, 2])
    assert use(x) == (15, 3) and x == [9, 2, 4] and type(x) is Numbers
    assert type(x.copy()) is type(x[:]) is type(x + x) is List[int]
    for y in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert type(y) is Numbers and y == x and y.name == "name"
    with pytest.raises(TypeError, match="has no native form"):
        List([x])


def test_random_programs():
    """Many operations in a row on a list and a dict, by the interpreter and by compiled code in turn."""
    def step(x, d, op, a, b):
        if op == 0:
            x.append(a)
        elif op == 1:
            x.insert(b, a)
        elif op == 2:
            return x.pop(b)
        elif op == 3:
            x[b] = a
        elif op == 4:
            del x[b:a]
        elif op == 5:
            x[b:] = x[:a]
        elif op == 6:
            x.sort()
        elif op == 7:
            x.remove(a)
        elif op == 8:
            d[a] = b
        elif op == 9:
            del d[a]
        elif op == 10:
            return d.pop(a, -1)
        elif op == 11:
            return d.popitem()[1]
        elif op == 12:
            x.extend(d)
        elif op == 13:
            for key, value in d.items():
                x.append(value - key)
        elif op == 14:
            return d.setdefault(a, b)
        return len(x) + len(d) + d.get(a, 5)

    compiled = njit(step)
    pick = random.Random(5)
    x, d, tx, td = [], {}, List[int](), Dict[int, int]()
    for n in range(4000):
        op, a, b = pick.randrange(16), pick.randrange(-6, 12), pick.randrange(-8, 8)
        if len(x) > 300:
            x.clear(), tx.clear()
        if n % 977 == 0:
            d.clear(), td.clear()
        assert outcome(compiled if n % 2 else step, tx, td, op, a, b) == outcome(step, x, d, op, a, b)
        assert len(tx) == len(x) and len(td) == len(d)
        if n % 50 == 0:
            assert tx == x and list(td.items()) == list(d.items())
    assert tx.tolist() == x and td.todict() == d


def test_popitem_takes_time_for_one_item():
    d, s = Dict[int, int]({k: k for k in range(200_000)}), Set[int](range(200_000))

    @njit
    def emptied(d, s):
        n = 0
        while d:
            n += d.popitem()[0]
        while s:
            n -= s.pop()
        for k in range(1000):
            d[k] = k
            d[-k] = d.popitem()[1]
        return n, len(d), sum(d)

    start = time.perf_counter()
    assert emptied(d, s) == (0, 1000, -sum(range(1000)))
    assert time.perf_counter() - start < 5 and list(d) == [-k for k in range(1000)]


def counted(d):
    for k in (5, 3, 5, 9, 3, 5):
        d[k] = d.get(k, 0) + 1
    return len(d), list(d), list(d.keys()), list(d.values()), list(d.items()), 3 in d, 77 in d, sum(d.values())


def removed(d):
    found = [d.pop(1), d.pop(77, -1), d.setdefault(2, 9), d.setdefault(8, 9)]
    del d[2]
    d[1] = 100
    d.update({1: 5, 6: 7})
    d |= {7: 8}
    return found, d.popitem(), d.copy(), d == d.copy(), d == {1: 5}, d | {4: 4}


def changed_in_loop(d):
    for k in d:
        d[k + 100] = 1


def removed_in_loop(d):
    for k, v in d.items():
        del d[k]


@pytest.mark.parametrize("function", [counted, removed, changed_in_loop, removed_in_loop, lambda d: d[77],
                                      lambda d: d.pop(77), lambda d: d.__delitem__(77), lambda d: d.clear(),
                                      lambda d: sorted(d)])
def test_dicts(function):
    agree(function, Dict[int, int], {1: 10, 2: 20, 3: 30})
    agree(function, Dict[int, int], {k: -k for k in range(100)})


def test_empty_dict():
    agree(lambda d: d.popitem(), Dict[int, int], {})
    agree(lambda d: (list(d), len(d), bool(d), d.get(1)), Dict[int, int], {})


@pytest.mark.parametrize("items", [{"a": 1.5, "é": 2.0}, {(1, 2): "x"}, {(1, 2, 3, 4): (1, 2.5)}, {2**62: True}])
def test_types_of_keys_and_values(items):
    made = Dict(items)
    assert list(made.items()) == list(items.items()) and made == items and dict(made) == items

    def through(d):
        for k, v in list(d.items()):
            del d[k]
            d[k] = v
        return [(k, v, d[k], k in d) for k, v in d.items()], d

    agree(through, Dict, items)
    assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)


def of_sets(s, other):
    s.add(9)
    s.discard(1)
    s.discard(77)
    found = [len(s), 9 in s, 1 in s, s == other, s <= other, s < other, s >= other, s > other, s.isdisjoint(other),
             s.issubset(other), s.issuperset(other)]
    made = [sorted(s | other), sorted(s & other), sorted(s - other), sorted(s ^ other), sorted(s.union(other)),
            sorted(s.copy())]
    s |= {100}
    s &= other
    s ^= {4, 5}
    s -= {5}
    return found, made


@pytest.mark.parametrize("other", [{1, 2}, {9, 2, 3}, set(range(50)), {77}])
def test_sets(other):
    agree(of_sets, Set[int], {1, 2, 3}, other)
    agree(lambda s: s.remove(77), Set[int], {1, 2})
    agree(lambda s: s.clear(), Set[int], {1, 2})
    x = Set([3, 1, 3])
    assert list(x) == [3, 1] and x == {1, 3} and x | Set([2]) == {1, 2, 3} and x.pop() == 1
    assert pickle.loads(pickle.dumps(x)) == x
    with pytest.raises(RuntimeError, match="Set changed size during iteration"):
        for item in x:
            x.add(item + 1)
    assert Set(["a", "b"]) == {"b", "a"} and Set([(1, 2)]).toset() == {(1, 2)}


def test_made_in_compiled_code():
    @njit
    def made(n):
        x = List[int]()
        d = Dict[int, float]()
        for i in range(n):
            x.append(i)
            d[i] = i / 2
        nested = List[List[int]]()
        nested.append(x)
        x.append(-1)
        return x, d, Set([n, 1]), List((1.5, float(n))), nested, List(x), Dict({n: "x"})

    x, d, s, y, nested, z, e = made(3)
    assert x == [0, 1, 2, -1] == z and nested[0] is x and d == {0: 0.0, 1: 0.5, 2: 1.0} and s == {3, 1}
    assert e == {3: "x"}
    assert [type(v) for v in (x, d, s, y)] == [List[int], Dict[int, float], Set[int], List[float]] and y == [1.5, 3.0]


def test_items_of_several_types_are_refused():
    for function, message in ((lambda: List([1, 2.5]), "the type of the items is not known"),
                              (lambda: List[int]([1, "a"]), "an item of type int cannot be a value of type str"),
                              (lambda: List[int]().append(None), "an item of type int cannot be a value of type None")):
        with pytest.raises((TypeError, TypingError), match=message):
            njit(function)()
    with pytest.raises(TypeError, match="cannot have the type None . int"):
        List["int | None"]


def test_aliases_and_identity():
    @njit
    def both(x, y):
        x.append(1)
        y.append(2)
        return x is y, len(x), x[-1], x

    x = List[int]()
    same, n, last, found = both(x, x)
    assert same and (n, last) == (2, 2) and found is x and x == [1, 2]
    assert both(x, List[int]())[0] is False

    @njit
    def inner(rows):
        rows[0].append(5)
        return rows[0] is rows[1], rows

    row = List([1])
    rows = List[List[int]]([row, row])
    assert inner(rows) == (True, rows) and row == [1, 5]
    table = Dict[str, List[int]]()
    table["a"] = row
    assert table["a"] is row and plain(table) == {"a": [1, 5]}


GLOBAL = List([1, 2])


class Holder:
    def __init__(self):
        self.items = List[int]()
        self.total = 0


def test_where_they_may_be():
    captured = Dict[int, int]()

    @njit
    def through(holder, x, pair, rows):
        GLOBAL.append(3)
        captured[len(GLOBAL)] = 1
        holder.items.append(len(captured))
        holder.total += len(holder.items)
        for row in rows:
            row.append(x[0])
        return pair[1][0], holder.items

    @njit
    def doubled(x):
        for item in x:
            yield item * 2

    @njit
    def optional(x):
        return 0 if x is None else len(x)

    holder, row = Holder(), List([4])
    assert through(holder, List([7]), (1, row), [row, row]) == (4, [1]) and row == [4, 7, 7]
    assert GLOBAL == [1, 2, 3] and captured == {3: 1} and holder.items == [1] and holder.total == 1
    assert list(doubled(row)) == [8, 14, 14] and optional(None) == 0 and optional(row) == 3


def test_parallel_loops_read_them():
    @njit(parallel=True)
    def total(x):
        s = 0
        for i in prange(len(x)):
            s += x[i]
        return s

    assert total(List(range(10_000))) == sum(range(10_000))


def test_memory_is_freed():
    """Also where exceptions end the work half way, and where the container holds texts and other containers."""
    @njit
    def work(words, n):
        x = List[str]()
        d = Dict[str, List[int]]()
        for i in range(n):
            x.append(words[i % len(words)] + str(i))
            d[x[-1]] = List([i])
            if i == 10:
                raise ValueError(i)
        del x[::2]
        x.sort()
        return x, d, x[1:] + x

    words = List(["one", "two"])

    def many():
        for _ in range(3000):
            work(words, 8)
            with pytest.raises(ValueError):
                work(words, 20)

    many()
    gc.collect()
    before = _resident()
    for _ in range(3):
        many()
    gc.collect()
    assert _resident() - before < 4_000
    word = "x" * (500 * len(words))
    count = sys.getrefcount(word)
    x = List([word, word])
    y = x[:1] + x
    assert sys.getrefcount(word) == count + 5
    x[0] = "y"
    y.pop()
    assert sys.getrefcount(word) == count + 3
    del x, y
    assert sys.getrefcount(word) == count


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4


def test_an_object_without_init():
    for cls in (List[int], List[tuple[int, float]], List[str], Dict[int, int], Dict[str, str], Set[int]):
        x = object.__new__(cls)
        assert len(x) == 0 and list(x) == [] and not x
        x.__init__()
        assert len(x) == 0


@pytest.mark.parametrize("change", [lambda x: x.clear(), lambda x: x.extend(range(10_000)), lambda x: x.pop()])
def test_a_signal_handler_changes_a_list_in_use(change):
    @njit
    def work(x, n):
        s = 0
        for k in range(n):
            for i in range(len(x)):
                s += x[i]
            x.append(k & 1)
            if len(x) > 50_000:
                x.clear()
        return s

    x = List(range(100))
    work(x, 1)
    change(x)  # compiled before a handler calls it
    x.__init__(range(100))
    old = signal.signal(signal.SIGALRM, lambda *_: change(x))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            try:
                work(x, 200)
            except IndexError:
                pass
            x.__init__(range(100))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_methods_handle_no_signals_half_way():
    """A handler that changes a list of texts runs before or after a method, as it does with CPython's lists."""
    x, words = List[str](), [str(n) for n in range(30_000)]

    def change(*_):
        x.clear()
        x.extend(words[:random.randrange(len(words))])

    def use(x):
        found = x.copy(), x[::2], x + x, x.count("7"), "8" in x, x == x.copy(), x < x[1:]
        x[len(x) // 2:] = x[:100]
        x.sort()
        x.reverse()
        del x[::3]
        x.extend(x)
        return len(found)

    change(), use(x)
    compiled = njit(use)
    compiled(x)
    old = signal.signal(signal.SIGALRM, change)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            try:
                compiled(x)
            except ValueError as error:
                assert str(error) == "list modified during sort"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert all(type(item) is str for item in x)


def test_equality_with_other_types():
    @njit
    def compiled(a, b):
        return a == b

    for a, b, equal in ((List([1]), List([1.0]), True), (List([1]), List(["a"]), False), (List([1]), (1,), False),
                        (List[int](), List[str](), True), (Dict({1: 2}), Dict({"a": 2}), False), (List([1]), 5, False),
                        (Dict[int, int](), Dict[str, str](), True), (Dict({1: 2}), Dict({1: 2.0}), True),
                        (Set([1]), Set(["a"]), False), (Set[int](), Set[str](), True), (Set([1]), [1], False),
                        (Dict({1: 2}), {"a": 2}, False), (Set([1]), {"a"}, False), (Set([1]), frozenset([1]), True)):
        assert (a == b) is (b == a) is compiled(a, b) is equal is not (a != b)


def test_items_are_not_compared_by_code_of_the_program():
    class Other:
        def __eq__(self, other):
            return False

    x = List(["a"])
    with pytest.raises(TypingError, match="is not compared with items of type str"):
        x.count(Other())
    assert 3 not in x and x.count(None) == 0 and (1, 2) not in List([1])


def test_a_signal_handler_changes_a_dict_in_use():
    @njit
    def work(d, n):
        s = 0
        for k in range(n):
            d[k % 100] = k
            s += d[k % 100]
            if k % 3 == 0:
                d.pop(k % 7, 0)
            for key in d:
                s += key
        return s

    d = Dict[int, int]()
    work(d, 1)

    def change(*_):
        d.clear()
        d.update({k: k for k in range(random.randrange(200))})

    change()
    old = signal.signal(signal.SIGALRM, change)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            try:
                work(d, 2000)
            except (KeyError, RuntimeError):
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_threads():
    """A function with nogil keeps the lock where it works on a typed container."""
    @njit(nogil=True)
    def work(x, d, n):
        for i in range(n):
            x.append(i)
            d[i % 1000] = i

    x, d = List[int](), Dict[int, int]()
    threads = [threading.Thread(target=work, args=(x, d, 20_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(x) == 80_000 and len(d) == 1000 and sum(x) == 4 * sum(range(20_000))


PROGRAM = """
import sys
from pyjitc import njit
from pyjitc.typed import Dict, List

@njit(cache=True)
def work(x):
    d = Dict[int, float]()
    for item in x:
        d[item] = item / 2
    return d, len(x)

print(work(List[int]([1, 2])), List[tuple[int, float]]([(1, 2.0)]), "llvmlite" in sys.modules)
"""


def test_compiled_code_on_disk(tmp_path):
    found = []
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=tmp_path,
                             env={**os.environ, "PYJITC_CACHE_DIR": str(tmp_path), "PYJITC_CACHE": "1"})
        assert run.returncode == 0, run.stderr
        found.append(run.stdout)
    assert found[0].startswith("(Dict[int, float]({1: 0.5, 2: 1.0}), 2) List[(int, float)]([(1, 2.0)])")
    assert found[1] == found[0].replace("True", "False")


@pytest.mark.parametrize("items", [[1.5, 2.5, -1.0], [3, 1, 2]])
@pytest.mark.parametrize("function", [np.sum, np.mean, np.max, np.argmax, np.sort, np.median, np.cumsum, np.unique,
                                      lambda a: np.searchsorted(a, 1.0), lambda a: np.histogram(a, 3)[0]])
def test_functions_of_numpy_take_lists(function, items):
    assert repr(njit(lambda a: function(a))(List(items))) == repr(function(items))


def test_an_array_without_axes_is_an_index():
    def changed(a, i):
        a[i] += 1
        x = a[i]
        del a[i]
        return x, len(a)

    agree(changed, List, [1.5, 2.5, 3.5], np.array(1))
    with pytest.raises(TypingError, match="only integer scalar arrays can be converted to a scalar index"):
        njit(lambda a, i: a[i])(List([1.5]), np.array(0.0))


def test_an_error_of_types_names_the_line_of_the_call():
    a = List([1.5])
    with pytest.raises(TypingError, match="an item of type float cannot be a value of type str") as raised:
        a.append("x")
    assert raised.value.diagnostic.filename == __file__
    assert raised.value.diagnostic.function == "test_an_error_of_types_names_the_line_of_the_call"
    assert "a.append" in str(raised.value)
