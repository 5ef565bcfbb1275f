"""Lists: made, read, changed and passed on as in the interpreter."""
import io
import sys

import numpy as np
import pytest

from pyjitc import CompileError, njit
from pyjitc.base.options import Options
from pyjitc.pipeline import stages
from pyjitc.types.kinds import Float, Int, List, NoneType, Set, Str, Tuple, Undefined, union_of
from pyjitc.types.text import parse
from pyjitc.types.typeof import typeof

from ...oracle import agree, difference, outcome


def test_types():
    assert typeof([1, 2]) is List(Int) and str(List(Int)) == "list[int]"
    assert typeof([]) is List(Undefined) and typeof([[], [1.5]]) is List(List(Float))
    assert typeof([1, None, 2.5, "a"]) is List(union_of((Int, NoneType, Float, Str)))
    assert typeof(([1], (["a"],))) is Tuple((List(Int), Tuple((List(Str),))))
    for t in (List(List(union_of((Int, Float)))), Tuple((List(Int), Int)), List(Undefined)):
        assert parse(str(t)) is t
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="a list that holds itself"):
        typeof(loop)


LISTS = [[], [1], [3, 1, 2], [1.5, -0.0, 2.5], [1, 2.5, 3], [True, False], ["a", "b"], [None, 1], [(1, 2.5), (0, 1.5)],
         [[1], [2, 3]], [[]], [1 + 2j]]


def read(x, i):
    return x[i]


def length(x):
    return len(x), bool(x), not x


def items(x):
    last = None
    for item in x:
        last = item
    return last


def copied(x):
    return [item for item in x], list(x), x.copy(), x[:], [*x], [*x, *x], x + x, x * 2, 2 * x, list(reversed(x))


@pytest.mark.parametrize("x", LISTS, ids=repr)
def test_reading(x):
    read_ = njit(read)
    for i in (0, 1, -1, -2, 5, -7, True):
        agree(read, x, i, compiled=read_)
    agree(length, x)
    agree(items, x)
    agree(copied, x)


def put(x, i, value):
    x[i] = value
    return x


@pytest.mark.parametrize("value", [7, 2.5, None, "z", [1], (1, 2)], ids=repr)
@pytest.mark.parametrize("x", LISTS, ids=repr)
def test_storing_any_type_widens_what_the_list_holds(x, value):
    def appended(x, value):
        x.append(value)
        x.insert(0, value)
        return x, x[0], x[-1]

    for i in (0, -1, 3):
        agree(put, x, i, value)
    agree(appended, x, value)


ARRAYS = [np.arange(3), np.zeros(0), np.array([True, False]), np.ones((2, 2), np.float32),
          np.arange(3).astype("M8[D]"), np.arange(6, dtype=np.uint8)[::2]]


@pytest.mark.parametrize("a", [*ARRAYS, np.array([2.5, np.nan, -1.0]), np.array([3, -1j, 2])], ids=repr)
def test_lists_of_the_items_of_an_array(a):
    def listed(a):
        x = list(a)
        return x, x[-1:], list(a[1:]) + [a[0]]

    def in_order(a):
        return sorted(a), sorted(a[::-1], reverse=True)

    agree(listed, a)
    agree(in_order, a)


def test_the_items_of_an_array_have_no_objects_in_a_list_that_does_not_leave():
    function = njit(lambda a: sorted(a)[0] + list(a)[-1])
    assert function(np.array([2.5, -1.0, 3.0])) == 2.0
    (text,) = function.inspect_ir().values()
    assert "py_api" not in text and "py_box" not in text


@pytest.mark.parametrize("a", ARRAYS, ids=repr)
def test_items_of_an_array_are_appended(a):
    def appended(x, a):
        x.extend(a)
        return x, len(x)

    def rows(a):
        items, ends = [], [0]
        for _ in range(2):
            items.extend(a)
            ends.append(len(items))
        return items, np.array(ends)

    def either(a, flag):
        x = [5]
        x.extend(a if flag else [1, 2])
        return x

    def by_key(a):
        d = {}
        for k in range(3):
            d.setdefault(k % 2, []).extend(a)
        return d

    agree(appended, [1], a)
    agree(appended, [], a)
    agree(rows, a)
    agree(either, a, True)
    agree(either, a, False)
    agree(by_key, a)


@pytest.mark.parametrize("a", [np.arange(3), np.ones(3), np.ones(2), np.ones((2, 3), np.float32)], ids=repr)
@pytest.mark.parametrize("x", [[1, 2, 3], [0.5, 1.5, 2.5]], ids=repr)
def test_in_place_operators_with_an_array_give_a_new_array(x, a):
    def added(x, a):
        y = x
        y += a
        return x, y

    def multiplied(x, a):
        x *= a
        return x

    agree(added, x, a)
    agree(multiplied, x, a)


METHODS = {
    "extend": lambda x: (x.extend([7]), x.extend((8, 9)), x.extend(range(2)), x),
    "extend itself": lambda x: (x.extend(x), x),
    "pop": lambda x: (x.pop(), x.pop(0), x.pop(-1), x),
    "remove": lambda x: (x.remove(1), x),
    "clear": lambda x: (x.clear(), x),
    "index": lambda x: (x.index(2), x.index(1, 1), x.index(3, 0, 2)),
    "count": lambda x: x.count(2),
    "sort": lambda x: (x.sort(), x),
    "sort backwards": lambda x: (x.sort(reverse=True), x),
    "sort by key": lambda x: (x.sort(key=lambda v: -v), x),
    "sort by key backwards": lambda x: (x.sort(key=lambda v: v % 2, reverse=True), x),
    "reverse": lambda x: (x.reverse(), x),
    "in": lambda x: (2 in x, 9 not in x),
    "compare": lambda x: (x == [3, 1, 2], x != [1], x < [3, 2], x >= x, x == (1,)),
    "iadd": lambda x: x.__iadd__([1]) if False else [*x, 0],
    "slices": lambda x: (x[1:], x[:-1], x[::-1], x[::2], x[5:], x[-2:10]),
    "sorted": lambda x: (sorted(x), sorted(x, reverse=True), sorted(x, key=lambda v: -v), sorted((3, 1, 2))),
    "folds": lambda x: (min(x), max(x), sum(x), any(x), all(x), max(x, key=lambda v: -v), min(x, default=5)),
    "zip": lambda x: ([(a, b) for a, b in zip(x, x[1:])], [i * v for i, v in enumerate(x)]),
    "map": lambda x: (list(map(lambda v: v + 1, x)), list(filter(lambda v: v > 1, x)), [v for v in x if v != 1]),
    "repeated": lambda x: ([0] * len(x), [x] * 2, [[0] * 2 for _ in x]),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_and_operators(name):
    for x in ([3, 1, 2], [2, 2, 1], [1], [], [1.5, 2.0], [1, 2.5, 2]):
        agree(METHODS[name], x)


def test_in_place_operators():
    def f(x, y):
        z = x
        x += y
        x *= 2
        return x, z, x is z

    for args in (([1], [2]), ([1], (2.5, "a")), ([], range(3)), ([1.5], []), ([], [])):
        agree(f, *args)


def test_parts():
    def stored(x, y):
        x[1:2] = y
        x[::2] = x[::2]
        return x

    def deleted(x):
        del x[0]
        del x[1:3]
        del x[-1]
        return x

    def extended(x):
        x[::2] = [0]
        return x

    for y in ([9], [], (1, 2.5), range(3), [1, 2, 3, 4]):
        agree(stored, [1, 2, 3], y)
    agree(deleted, [1, 2, 3, 4, 5, 6])
    agree(deleted, [1])
    agree(extended, [1, 2, 3])
    agree(extended, [1, 2])


def test_unpacking():
    def three(x):
        a, b, c = x
        return c, b, a

    def rest(x):
        a, *b, c = x
        b.append(a)
        return b, c

    for x in ([1, 2, 3], [1, 2], [1, 2, 3, 4], [], [1, 2.5, "a"]):
        agree(three, x)
        agree(rest, x)
    agree(rest, range(5))


def test_nested():
    def total(m):
        t = 0.0
        for row in m:
            for x in row:
                t += x
        return t, m[0][0], len(m[-1])

    def product(a, b):
        n, m, k = len(a), len(b[0]), len(b)
        c = [[0.0] * m for _ in range(n)]
        for i in range(n):
            for j in range(m):
                for h in range(k):
                    c[i][j] += a[i][h] * b[h][j]
        return c

    def shared(n):
        rows = [[0] * n] * n
        rows[0][0] = 5
        return rows, rows[0] is rows[1]

    agree(total, [[1.0, 2.0], [3.0]])
    agree(product, [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
    agree(shared, 2)


def test_lists_that_are_one_list():
    def f(x, y):
        x.append(2.5)
        return y, x is y

    one = [1]
    assert njit(f)(one, one) == ([1, 2.5], True) and one == [1, 2.5]
    agree(f, [1], [1])

    def g(n):
        a = b = [n]
        t = (a, [b])
        t[1][0].append(n)
        return a, b, t

    agree(g, 3)


def test_what_a_list_holds_is_found_in_other_functions():
    def fill(x, n):
        if n:
            x.append(n)
            return fill(x, n - 1)
        return x

    def late(n):
        x = []
        y = x
        for i in range(n):
            y.append((i, str(i)))
        return [name for _, name in x]

    def closure(n):
        def add(v):
            x.append(v)
            return len(x)

        x = [n]
        return add(2.5), add(None), x

    agree(lambda n: fill([], n), 4)
    agree(late, 3)
    agree(closure, 1)


def made_of_the_last_one(n, way):
    r = range(4)
    for i in range(n):
        if way == 0:
            r = list(reversed(r))
        elif way == 1:
            r = [x + i for x in r]
        else:
            r = [x / 2 for x in reversed(r)]
    texts, counts = ("a", "b"), range(n)
    while n > 0:
        texts, counts, n = [x + "c" for x in texts], {x: n for x in counts}, n - 1
    return r, texts, counts


@pytest.mark.parametrize("way", range(3))
def test_lists_that_replace_what_they_are_made_of(way):
    compiled = None
    for n in (0, 1, 4):
        compiled = agree(made_of_the_last_one, n, way, compiled=compiled)


def test_a_list_that_is_changed_while_it_is_read():
    def grows(x):
        for v in x:
            if v < 5:
                x.append(v + 3)
        return x

    def shrinks(x):
        seen = []
        for v in x:
            seen.append(v)
            x.remove(v)
        return seen, x

    agree(grows, [1, 2])
    agree(shrinks, [1, 2, 3, 4])


def test_lists_written_out_that_only_some_path_changes():
    def f(c, n):
        x = [1, 2] if c else [n]
        if n > 1:
            x.append(5)
        return x

    def g(n):
        x = [n, n]
        h(x)
        return x

    def h(x):
        x[0] = 9

    def same_row(n):
        row = [n]
        m = [row, row]
        m[0].append(1)
        return m

    for c in (True, False):
        agree(f, c, 2)
    agree(g, 3)
    agree(same_row, 3)


def test_default_is_a_new_list():
    def f(x, acc=None):
        if acc is None:
            acc = []
        acc.append(x)
        return acc

    agree(f, 2)
    agree(f, 2, [1.5])


def test_arrays_and_lists():
    def to(x):
        return np.array(x), np.array(x, dtype=np.float32), np.asarray(x) + 1

    def of(a):
        return list(a), a.tolist()

    for x in ([1, 2, 3], [1.5], [], [True, False], [[1, 2], [3, 4]]):
        agree(to, x)
    agree(of, np.arange(3))
    agree(lambda n: np.array([i * 0.5 for i in range(n)]), 4)


def test_wrong_uses_say_what_python_says():
    for f, x in ((lambda x: x.index(5), [1]), (lambda x: x.remove(5), [1]), (lambda x: x.pop(), []),
                 (lambda x: x.pop(3), [1]), (lambda x: x.sort(), [1, "a"]), (lambda x: x < [None], [1])):
        agree(f, x)
    for f in (lambda x: x["a"], lambda x: x + (1,), lambda x: x * 1.5, lambda x: x.nothing, lambda x: x.pop(1, 2),
              lambda x: x.append(), lambda x: x.extend(3), lambda x: list(3)):
        with pytest.raises(Exception) as expected:
            f([1])
        with pytest.raises(CompileError) as found:
            njit(f)([1])
        assert str(expected.value) in str(found.value)


# ---------------------------------------------------------------- items of classes that are new in the call

def total(x):
    t = 0
    for item in x:
        t += item
    return t


def doubled(x):
    for i in range(len(x)):
        x[i] = x[i] * 2
    return x


def test_a_call_with_other_items_is_made_anew():
    for f in (total, doubled, lambda x: [v for v in x if v > 0], lambda x: x[-1]):
        compiled = njit(f)
        for x in ([1] * 20, [1] * 20 + [2.5], [1.5] * 3, [1.5] * 20 + [2], [], [1] * 20, [True] * 9 + [7],
                  [2**40, -2**35, 3, -2] * 5, [1.5] * 9 + [2**40]):
            agree(f, x, compiled=compiled)
    nested = njit(lambda m: [v for row in m for v in row])
    for m in ([[1], [2]], [[1]] * 10 + [[2, 3.5]], [[1], []], [[]], []):
        agree(nested.py_func, m, compiled=nested)


def optimised(f, t):
    return stages.inspect(f, (t,), Options(), "opt")


def test_which_loads_ask_for_another_call():
    def swap(x):
        x[0] = 5
        return x[1]

    assert "restart: True" in optimised(total, List(Int)) and "looks" not in optimised(total, List(Int))
    assert "restart: True" not in optimised(doubled, List(Int)) and "looks: -1" in optimised(doubled, List(Int))
    assert "looks: 1024" in optimised(swap, List(Int))
    assert "looks" not in optimised(lambda n: [[n]][0][0], Int)


def test_calls_that_change_nothing_look_at_no_items():
    def halves(x):
        return tuple(x), x[0] + 1

    for f, t in ((lambda x: tuple(x), List(Int)), (lambda s: s & {1, 2, 3}, Set(Int)), (halves, List(Int)),
                 (lambda s: hash(tuple(s)), Set(Int))):
        assert "looks" not in optimised(f, t), optimised(f, t)
    assert "looks" in optimised(lambda x: (x.append(1), tuple(x)), List(Int))
    assert "looks" in optimised(lambda x: tuple(x)[-1], List(Int))  # items of the result have been looked at
    for items in ([1, 2, 3], list(range(20)) + ["a"], [0] * 9 + [2.5, None], [1, (2, 3)] * 6):
        agree(lambda x: tuple(x), items)
        agree(lambda x: (hash(tuple(x)) == hash(tuple(x[:])), tuple(x)[-1], x), items)
        agree(lambda s: (sorted(map(str, s - {1, 2})), len(s & {1, "a"}), s ^ {None}), set(items))
        compiled = agree(halves, [1] * 20)
        agree(halves, items, compiled=compiled)
        compiled = agree(lambda x: tuple(x)[-1], [1] * 20)
        agree(compiled.py_func, items, compiled=compiled)
        compiled = agree(lambda x: [v for v in set(x) ^ {1, 2}], [1] * 20)
        agree(compiled.py_func, items, compiled=compiled)


def test_an_int_beyond_64_bits_is_an_overflow_error():
    with pytest.raises(OverflowError, match="item 20 cannot be passed: the int 1180591620717411303424"):
        njit(lambda x: x[-1])([1] * 20 + [2**70])


def test_numbers_in_lists_have_no_identity():
    def f(x, value):
        x[0] = value
        return x

    value, x = 2.5, [1.5]
    assert f(x, value)[0] is value
    assert njit(f)(x, value) == [value]


def test_lists_of_constants_keep_their_items():
    def f(n):
        x = [0] * n
        x[1] = 2.5
        return x

    agree(f, 3)


def test_an_item_that_came_during_the_call(monkeypatch):
    def f(x):
        x[0] = 1
        print(x[0])
        return x[1]

    class Out(io.StringIO):
        def write(self, text):
            x[1] = "other"

    x = [5, 6]
    monkeypatch.setattr(sys, "stdout", Out())
    with pytest.raises(TypeError, match="an item of a list is of class 'str', where the items were int"):
        njit(f)(x)
    assert x == [1, "other"]


# ---------------------------------------------------------------- global lists, and lists as operands of NumPy

NUMBERS = [1, 2, 3]
ROWS = [[1.0, 2.0], [3.0]]


def test_lists_of_the_program():
    def f(i):
        return NUMBERS[i], len(NUMBERS), sum(NUMBERS), 2 in NUMBERS, [v * 2 for row in ROWS for v in row]

    def change(x):
        NUMBERS.append(x)
        last = NUMBERS[-1]
        NUMBERS.pop()
        return last

    agree(f, 1)
    agree(f, 7)
    agree(change, 2.5)
    kept = []

    def closure(x):
        kept.append(x)
        return kept, kept is kept

    assert njit(closure)(1) == ([1], True) and kept == [1] and njit(closure)(2.5)[0] is kept


def test_a_list_of_the_program_may_come_to_hold_other_types():
    found = [1, 2]

    @njit
    def total():
        s = 0
        for x in found:
            s += x
        return s

    assert total() == 3
    found.append(2.5)
    assert total() == 5.5 and total() == 5.5
    found.clear()
    assert total() == 0
    found = [1.5]
    assert total() == 1.5


def test_default_arguments_that_are_lists():
    def outer(n):
        return inner(n)

    def inner(n, rows=[]):
        rows.append(n)
        return rows

    assert njit(outer)(1) == [1] and njit(outer)(2.5) == [1, 2.5] and inner.__defaults__ == ([1, 2.5],)


def test_lists_beside_arrays():
    def operators(a, x):
        return a + x, x + a, a * x, a == np.array(x), x - a, a > x

    def functions(x):
        return (np.sum(x), np.mean(x), np.max(x), np.sqrt(x), np.dot(x, x), np.zeros(len(x)) + x,
                np.concatenate((x, x)), np.maximum(x, 1.5), np.column_stack([x, x]), np.isin(2.0, x), np.median(x))

    def items(x, a):
        a[:] = x
        a[x] = 5.0
        return a[x], a

    agree(operators, np.arange(3.0), [1.0, 2.0, 3.0])
    agree(operators, np.arange(3), [1, 2.5, 3])
    agree(functions, [1.0, 2.0, 0.5])
    agree(items, [1, 0, 2], np.zeros(3))
    agree(lambda x: np.array([[v, v] for v in x]), [1, 2])
    agree(lambda x: [row.sum() for row in x], [np.ones(3), np.ones(2)])
    agree(lambda x: [row for row in x], np.ones((2, 3)))


def queue(n):
    waiting, out = [(0, n)], []
    while waiting:
        depth, x = waiting.pop(0)
        out.append((depth, x))
        if x > 1:
            waiting.append((depth + 1, x // 2))
    return out


def best(n):
    found = None
    for i in range(n):
        pair = [i, i * i]
        if found is None or pair[1] > found[1]:
            found = pair
    return found


def matrix(n):
    m = [[0] * n for _ in range(n)]
    for i in range(n):
        m[i][i] = 1
    buckets = [[] for _ in range(n)]
    for i in range(2 * n):
        buckets[i % n].append(i)
    return m, buckets, [(i, [j for j in range(i)]) for i in range(n)]


def filled(x):
    for i, item in enumerate(x):
        if item is None:
            x[i] = 0
    return x


def generated(x):
    def twice():
        for item in x:
            yield item * 2

    it = iter(x)
    return [y for y in twice()], next(it), next(it, 9)


PROGRAMS = ((queue, 5), (best, 4), (best, 0), (matrix, 3), (filled, [1, None, 3]), (generated, [1, 2]), (generated, []),
            (lambda x: (x and x[0], x or [5], not x, x if x else None), [1]), (lambda x: x or [5], []),
            (lambda x: (isinstance(x, list), type(x) is list, isinstance(x, (tuple, set)), bool(x)), [1]),
            (lambda x: (f"{x} {len(x)}", str([1, 2.5]), repr(x)), [1, "a"]), (lambda x: print(x, [1], sep="-"), [1, 2]),
            (lambda x: (x.copy() is x, x is x), [1]), (lambda c: len([1] if c else (1, 2)), True),
            (lambda x: [v if v > 1 else None for v in x], [1, 2, 3]), (lambda s: ([c for c in s], list(s)), "abc"))


@pytest.mark.parametrize("f, x", PROGRAMS)
def test_programs(f, x):
    agree(f, x)


def test_sum_of_nothing_is_the_number_that_it_starts_with():
    agree(lambda x: (sum(x), sum(x, 0.5), sum(v * 0.5 for v in x)), [])
    agree(lambda x: (sum(x), sum(x, 0.5)), np.zeros(0))
    agree(lambda x: sum(v for v in x if v > 9), [1.5])


def test_lists_that_hold_lists_of_their_own_kind():
    def nested(n):
        x = []
        for i in range(n):
            x = [x, i]
        return x

    def itself():
        x = []
        x.append(x)
        return len(x), x[0] is x

    def each_other(x):
        y = [x]
        x.append(y)
        return len(x), len(y)

    agree(nested, 3)
    agree(itself)
    assert njit(each_other)([1]) == (2, 1)


def test_tuples_of_lists_are_objects():
    def f(x):
        t = tuple(x)
        return t, len(t), t[0], [v for v in t]

    agree(f, [1, 2.5])
    agree(f, [])


def test_messages_show_what_lists_hold():
    with pytest.raises(CompileError) as found:
        njit(lambda x: x.nope())([1, 2.5])
    assert "x: list[float | int]" in str(found.value)


def test_a_list_that_is_sorted_is_empty_for_the_function_of_its_keys():
    def appends(x):
        def key(v):
            if len(x) < 9:
                x.append(v)
            return -v
        x.sort(key=key)
        return x

    def looks(x):
        x.sort(key=lambda v: (len(x), -v))
        return x, sorted(x, key=lambda v: (len(x), -v))

    def fails(x, at):
        def key(v):
            return 1 // (v - at)
        try:
            x.sort(key=key, reverse=True)
        except ZeroDivisionError:
            return x, "fails"
        return x, sorted(x, key=key)

    for f, args in ((appends, ([3, 1, 2],)), (appends, ([],)), (looks, ([3, 1, 2],)), (looks, ([2.5, 7.5],)),
                    (fails, ([3, 1, 2], 1)), (fails, ([3, 1, 2], 5))):
        agree(f, *args)


def in_order(x, backwards):
    y = sorted(x, reverse=backwards)
    x.sort(reverse=backwards)
    return y


_PLAIN = np.random.default_rng(5)
SORTED = [
    [], [0.5], [2, 1], _PLAIN.random(48).tolist(), _PLAIN.normal(0, 1e9, 700).tolist(), _PLAIN.random(49).tolist(),
    _PLAIN.choice([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, 5e-324, -5e-324], 300).tolist(),
    _PLAIN.integers(-5, 5, 300).tolist(), _PLAIN.integers(-2**59, 2**59, 300).tolist(), list(range(-400, 400)),
    _PLAIN.integers(-2**62, 2**62, 300).tolist(), [float(i) for i in range(300, 0, -1)],
    [*_PLAIN.random(60).tolist(), float("nan"), *_PLAIN.random(60).tolist()], [3, 1.5, 2, -0.5], [True, False, True],
    ["b", "a", "c"], [(1, 2.5), (0, 1.5)]]


@pytest.mark.parametrize("x", SORTED, ids=range(len(SORTED)))
@pytest.mark.parametrize("backwards", [False, True])
def test_sorting_moves_the_objects_that_the_list_has(x, backwards):
    compiled = njit(in_order)
    agree(in_order, x, backwards, compiled=compiled)
    mine, theirs = list(x), list(x)
    copies = compiled(mine, backwards), in_order(theirs, backwards)
    assert list(map(id, mine)) == list(map(id, theirs)) and list(map(id, copies[0])) == list(map(id, copies[1]))
    text = str(compiled.inspect_ir())
    assert "py_call" not in text and "list_sort" in text or "sort_keyed" in text


def test_what_has_no_order_is_not_sorted():
    agree(lambda x: x.sort(), [1, "a", 2])
    agree(lambda x: x.sort(reverse=True), [1.5, None])


def test_operators_of_lists_are_functions_of_the_c_api():
    compiled = agree(lambda x: (x[1:], x + x, x * 2, 3 in x, x == x, list(x), x.copy()), [1, 2, 3])
    text = str(compiled.inspect_ir())
    assert "py_call" not in text and "PySequence_Contains" in text and "PyObject_RichCompare ==" in text


def _paths(n, path):
    return path if n == 0 else _paths(n - 1, [*path, n])


def _subsets(items, at, chosen, out):
    if at == len(items):
        out.append(chosen)
    else:
        _subsets(items, at + 1, chosen, out)
        _subsets(items, at + 1, chosen + [items[at]], out)


def test_a_recursion_may_write_a_longer_list_out_in_each_call(monkeypatch):
    monkeypatch.setitem(globals(), "_paths", njit(_paths))
    monkeypatch.setitem(globals(), "_subsets", njit(_subsets))
    assert _paths(12, [0]) == _paths.py_func(12, [0]) == [0, *range(12, 0, -1)]

    def start(n):
        return _paths(n, [0])

    def every(items):
        out = []
        _subsets(items, 0, [], out)
        return out

    agree(start, 12)
    agree(every, [1, 2, 3, 4])
    agree(every, ["a", "b"])


def above(values, least):
    found = []
    for x in values:
        if x > least:
            found.append(x)
    return found


def turned(values):
    found = []
    for i in range(len(values)):
        found.append(values[-1 - i])
    values[0] += 1
    return found, values


def test_numbers_that_are_moved_keep_their_objects():
    for values, least in (([1000.5 * k for k in range(50)], 7000.0), ([1000 * k for k in range(50)], 7000), ([], 1)):
        function = agree(above, values, least)
        expected = above(values, least)
        assert all(x is y for x, y in zip(function(values, least), expected))
        if values:
            agree(turned, values)
            (text,) = function.inspect_llvm().values()
            assert "PyFloat_FromDouble" not in text and "PyLong_FromLongLong" not in text
            counts = [sys.getrefcount(x) for x in values]
            for _ in range(20):
                function(values, least)
            assert [sys.getrefcount(x) for x in values] == counts


def _places(value, found):
    """The identities of the lists in a value, in order, as numbers: the same list has the same number."""
    if isinstance(value, list):
        found.append(id(value))
    if isinstance(value, (list, tuple)):
        for item in value:
            _places(item, found)
    return [found.index(one) for one in found]


@pytest.mark.parametrize("function", [
    lambda n: (x := [n], x),
    lambda n: (x := [], x),
    lambda n: ([n],) * 2,
    lambda n: (x := ([n], 1)) + x,
    lambda n: (x := [[n], 2], x[0]),
    lambda n: [x := [n], x],
    lambda n: (x := [n], [x]),
    lambda n: (x := [1 for _ in range(2) if False], x),
    lambda n: (x := ([n],)[:3]) + x[:3],
    lambda n: ([n], [n]),
    lambda n: (x := [n], [n] if n else x),
])
def test_a_list_that_is_written_out_once_is_one_list(function):
    made = njit(function)(1)
    assert made == function(1)
    assert _places(made, []) == _places(function(1), [])


def test_lists_that_are_written_out_run_backwards():
    def backwards(n):
        out = []
        for x in reversed([n, "a", None]):
            out.append(x)
        return out, list(reversed([])), list(reversed([[], 2.5]))

    agree(backwards, 3)


def appended(one, other, x):
    other.append(x)
    a, b = one
    return a + b


def test_an_empty_list_may_be_two_arguments():
    function = njit(appended)
    for make in (lambda: ([3, 4], [3], 4), lambda: ([], [3], 4), lambda: ([],) * 2 + (4,), lambda: ([3],) * 2 + (4,),
                 lambda: ([1.5, 2.5], [3], 4), lambda: ([],) * 2 + (2.5,), lambda: ([1.5],) * 2 + (2.5,)):
        expected, actual = make(), make()
        assert difference(outcome(appended, expected), outcome(function, actual)) == ""


@pytest.mark.parametrize("what", [(), [], {}, "reversed"])
def test_an_iterator_of_nothing(what):
    def names(what):
        found = reversed(()) if what == "reversed" else iter(what)
        for x in found:
            x.upper()
        return next(found, 3)

    assert njit(names)(what) == 3


def test_lists_in_tuples_in_lists():
    def searched(n):
        stack = [(0, [n])]
        total = 0
        while stack:
            depth, path = stack.pop()
            total += sum(path)
            if depth < n:
                stack.append((depth + 1, [depth]))
        return total

    agree(searched, 4)
    agree(lambda n: (x := [(0, [n])], x.append((1, [n, n])), x.insert(0, (n, []))), 3)


def test_an_iterator_that_has_ended_stays_there():
    def again(x, backwards):
        it = reversed(x) if backwards else iter(x)
        total = 0
        for item in it:
            total += item
        x.append(7)
        return total, next(it, -1), list(it), len(x)

    for x in ([], [1, 2], [1.5]):
        agree(again, x, False)
        agree(again, x, True)


def test_lists_of_places_beside_other_lists_are_constants():
    def f(a):
        return [np.split(a, 3), np.split(a, [1])], (np.split(a, [2, 4]), [1], [2])

    agree(f, np.arange(6.0))
