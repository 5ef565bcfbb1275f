"""Lists that compiled code makes and that do not escape: their values, their errors, references to objects in them, and
their memory."""
import gc
import heapq
import sys
from collections import deque
from typing import NamedTuple

import numpy as np
import pytest
from tests.oracle import agree

from pyjitc import njit


def ir_of(function, *args):
    compiled = njit(function)
    compiled(*args)
    return "\n".join(compiled._inspect("opt", None).values())


def assert_native(function, *args):
    """Assert that the program does the same as in the interpreter, and makes no Python list objects."""
    agree(function, *args)
    text = ir_of(function, *args).replace("list_iterator", "iterator")  # here a type uses the name
    assert "native_" in text
    for name in ("list_", "py_box", "py_api", "py_call"):
        assert not [line for line in text.splitlines() if f" {name}" in line], text


def sieve(n):
    flags = [True] * (n + 1)
    count = 0
    for i in range(2, n + 1):
        if flags[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                flags[j] = False
    return count


def stack(n):
    s = [n]
    total = 0
    while s:
        x = s.pop()
        total += x
        if x > 1:
            s.append(x - 1)
    return total


def stack_of_tuples(n):
    s = [(0, 1.5)]
    total = 0.0
    while s:
        depth, x = s.pop()
        total += x
        if depth < n:
            s.append((depth + 1, x * 0.5))
            s.append((depth + 2, x))
    return total


def queens(n):
    columns = [-1] * n
    row, found = 0, 0
    while row >= 0:
        columns[row] += 1
        while columns[row] < n:
            good = True
            for other in range(row):
                if columns[other] == columns[row] or abs(columns[other] - columns[row]) == row - other:
                    good = False
                    break
            if good:
                break
            columns[row] += 1
        if columns[row] == n:
            row -= 1
        elif row == n - 1:
            found += 1
        else:
            row += 1
            columns[row] = -1
    return found


def grid(n):
    g = [[0] * n for _ in range(n)]
    for i in range(n):
        row = g[i]
        for j in range(n):
            row[j] = i * j
    total = 0
    for i in range(n):
        for j in range(n):
            total += g[i][j]
    return total


def shared_rows(n):
    row = [0] * n
    g = [row] * 3
    g[0][n - 1] = 7
    g[2] = g[1] + [1]
    g[2][0] = 5
    return g[1][n - 1], row[0], g[2][0], len(g[2])


def methods(n):
    a = [0, 1] * n
    a.extend(range(n))
    a.insert(2, 5)
    a.insert(-100, 6)
    a.insert(100, 7)
    first = a.pop(0)
    a.remove(5)
    a.reverse()
    b = a[1:5]
    c = a + b
    del c[0]
    del c[::2]
    c[1:2] = [8, 9, 10]
    d = c.copy()
    c.clear()
    a += b
    a *= 2
    same = a == b, a != a, b < a, a <= b, a > b, b >= b
    d.sort()
    e = sorted(a)
    e.sort(reverse=True)
    return (first, a.index(1), a.count(1), len(c), 3 in a, 3 not in d, same, d[0], d[-1], e[0], e[len(e) - 1],
            a is b, d is d, sum(a), max(d), min(e))


def iterations(n):
    a = list(range(n))
    total = 0
    for i, x in enumerate(a):
        total += i * x
    for x, y in zip(a, a[1:]):
        total += x * y
    for x in reversed(a):
        total = total * 3 % 1000 + x
    for x in a:  # grows while it is read
        if x == 1 and len(a) < 2 * n:
            a.append(x)
        total += x
    return total, len(a)


def walk(n, path):
    if n == 0:
        return sum(path)
    total = 0
    for i in range(2):
        path.append(i)
        total += walk(n - 1, path)
        path.pop()
    return total


def through_calls(n):
    return walk(n, []) + walk(n, [5])


def levels(n):
    level, depth, seen = [1], 0, 0
    while level:
        below = []
        for x in level:
            seen += x
            if x < n:
                below.append(2 * x)
                below.append(2 * x + 1)
        level = below
        depth += 1
    return depth, seen


def given_or_new(i, y=None):
    if y is None:
        y = []
    y.append(i)
    return None if i % 7 == 3 else y


def lists_or_none(n):
    best, rows, total = None, [None, [n]], 0
    for i in range(3 * n):
        if best is None or i % 4 == 0:
            best = [i]
        best.append(i)
        rows.append(best if i % 3 else None)
        found = given_or_new(i, rows[-1])
        if found is not None:
            found[0] += 1
            total += len(found)
    for row in rows:
        if row is not None:
            total += row.pop() + sum(x * 2 for x in row)
    return total


def generated(n):
    values, rows = [n], [[n], [1, 2]]

    def unfinished():
        for x in values:
            yield x

    total = sum(x + 1 for x in values) + max(len(row) for row in rows) + sum(x for row in rows for x in row)
    for x in unfinished():
        total += x
        if len(values) < 9:
            values.append(x + 1)
    return total, any(x > 7 for x in values), min((x for x in values if x > 99), default=-1)


@pytest.mark.parametrize("f", [sieve, stack, stack_of_tuples, queens, grid, shared_rows, methods, iterations,
                               through_calls, levels, lists_or_none, generated])
def test_programs(f):
    assert_native(f, 5)
    agree(f, 1)


class Bin(NamedTuple):
    top: float
    size: int


def bins(counts, n):
    found = []
    for i in range(4):
        found.append(Bin(i * 1.5, -1))
    found[1] = Bin(found[0].top, counts[0])
    for i in range(n):
        b = found[i % len(found)]
        found[i % 4] = Bin(np.float64(b.top) + 1, b.size + i)
    last = found.pop()
    return last.size + found[0].size * 2, last.top, found[1].top, len(found)


def lists_in_tuples_of_several_types(counts, n):
    found = [(0, [1.5]) for _ in range(3)]
    for i in range(n):
        found[i % 3] = (counts[i % 2], [found[0][1][0] + i])
        found.append((i, found[-1][1]))
    return found[1][0] + found[-1][0], found[2][1][0], sum([len(x) for _, x in found])


def nested_tuples_of_several_types(counts, n):
    found = [((0, True), 0.5)]
    for i in range(n):
        found.insert(0, ((counts[i % 2], i > 2), i))
    return found[0][0][0] * 2, found[0][1], found[-1][0][0], found[-1][1]


def repeated_numbers_of_several_types(counts, n):
    found, pairs, rows = [0] * n, [(0, 0.5)] * n, [(True, [0.5])] * n
    for i in range(0, n, 2):
        found[i] = counts[i % 2]
        pairs[i] = (counts[i % 2], pairs[i][1] + 1)
        rows[i] = (counts[0] > i, [i * 0.5])
    return (found[0] + found[-1], pairs[0][0] * pairs[-1][0], pairs[-1][1], rows[0][0], rows[-1][0], rows[-1][1][0],
            len(found))


@pytest.mark.parametrize("f", [bins, lists_in_tuples_of_several_types, nested_tuples_of_several_types,
                               repeated_numbers_of_several_types])
def test_items_have_numbers_of_several_types(f):
    """The numbers 0 and counts[0] are of two types in one list."""
    for n in (1, 2, 5, 9):
        assert_native(f, np.array([5, 6], np.int32), n)


def returned_tuples_of_several_types(counts, n):
    found = [(0, 0.5) for _ in range(n)]
    for i in range(0, n, 2):
        found[i] = (counts[0], found[i][1] * 2)
    return found


def appended(n):
    r = []
    for i in range(n):
        r.append(i * 0.5)
        r[i] += r[i - 1]
    return r


def twice(n):
    a, b = [0] * n, []
    for i in range(n):
        a[i] += i
        b.append(a[i] * 0.5)
    return a, b, a


def rows(n):
    r = []
    for i in range(n):
        q = [i] * 3
        r.append(q)
        r.append(q)
        q[1] = 7
    return r


def parts_put_together(n):
    a, b = [], []
    for i in range(n):
        while len(a) > 1 and a[-1][0] > i % 5:
            b.append(a.pop())
        a.append((i % 7, i * 0.5))
    return a[:-1] + b[1:]


def test_tuples_of_several_types_that_are_returned():
    agree(returned_tuples_of_several_types, np.array([5, 6]), 4)
    agree(returned_tuples_of_several_types, np.array([5, 6]), 0)
    assert "native_leave" in ir_of(returned_tuples_of_several_types, np.array([5, 6]), 4)


@pytest.mark.parametrize("f", [appended, twice, rows, parts_put_together])
def test_what_is_returned_becomes_a_list_once(f):
    agree(f, 4)
    agree(f, 0)
    assert "native_leave" in ir_of(f, 4)


def test_what_is_only_filled_before_it_leaves_is_of_the_interpreter_at_once():
    for f in (lambda n: [i * 0.5 for i in range(n)], lambda n: [[i * j for i in range(n)] for j in range(n)],
              lambda n: ([0] * n + [n]) * 2, lambda n: sorted([i * 7 % 5 for i in range(n)])):
        agree(f, 4)
        assert "native_" not in ir_of(f, 4)


def test_what_leaves_at_two_places_is_one_list():
    a, _, b = njit(twice)(3)
    assert a is b
    r = njit(rows)(2)
    assert r[0] is r[1] and r[0] is not r[2]


ITEMS = {"int": (1, -7), "float": (1.5, -0.0), "bool": (True, False), "text": ("a", "\u0119"), "none": (None, None),
         "complex": (1j, 2.0 + 0j), "numpy": (np.int8(3), np.int8(-3)), "float32": (np.float32(1.5), np.float32(2)),
         "tuple": ((1, "x"), (2, "y")), "nested": ((1.5, (True, 2)), (0.5, (False, 1))), "mixed": (1, 2.5),
         "optional": (None, "q"), "bytes": (b"1", b"22")}


@pytest.mark.parametrize("kind", ITEMS)
def test_items(kind):
    x, y = ITEMS[kind]

    def f(x, y, n):
        a = [x] * n
        b = []
        for i in range(n):
            b.append(y if i % 2 else x)
        a[0] = y
        a[-1] = b[n - 1]
        b.insert(1, y)
        last = b.pop()
        del a[1]
        c = a + b
        d = c[1:-1]
        d.reverse()
        d[1:1] = b
        e = [one for one in d]
        return last, len(c), c[2], d[0], a[0], e

    agree(f, x, y, 4)
    agree(f, x, y, 3)


@pytest.mark.parametrize("f", [
    lambda a, n: a[n], lambda a, n: a.index(99), lambda a, n: a.remove(98), lambda a, n: a.pop(n),
    lambda a, n: [].pop(), lambda a, n: a * (1 << 62), lambda a, n: [0] * (1 << 61)])
def test_errors(f):
    def g(n):
        text = ["x" + str(n)]  # an object that has to be released
        text.append("y")
        a = [1, 2, 3]
        a.append(4)
        got = f(a, n)
        return len(text), got

    agree(g, 7)


def test_errors_of_stores():
    def put(n):
        a = [1.5] * 3
        b = ["u"]
        b.append(str(n))
        try:
            a[n] = 2.5
        except IndexError as error:
            return str(error), len(a), b[1]
        del a[n]
        return "", len(a), b[0]

    def stretched(n):
        a = [1, 2, 3, 4]
        a[::2] = list(range(n))
        return a[0]

    for n in (0, 2, -3, -4, 3):
        agree(put, n)
    for n in (2, 3):
        agree(stretched, n)


def test_orders():
    def ordered(x, backwards):
        a = [v for v in x]
        a.append(a[0])
        a.sort(reverse=backwards)
        total = 0
        for i in range(len(a) - 1):
            total += (a[i] < a[i + 1]) * (i + 1) + (a[i] == a[i + 1]) * 1000
        return total, a[0], a[-1], a[len(a) // 2]

    r = np.random.default_rng(0)
    for n in (1, 2, 11, 12, 13, 100, 1000):
        for backwards in (False, True):
            agree(ordered, r.integers(0, 50, n).tolist(), backwards)
            agree(ordered, r.random(n).tolist(), backwards)
            agree(ordered, list(map(str, r.integers(0, 50, n).tolist())), backwards)
            agree(ordered, [(int(a), float(b)) for a, b in r.integers(0, 9, (n, 2))], backwards)
    agree(ordered, [1.0, float("nan"), 0.5, 3.0, float("nan"), -1.0] * 5, False)


def test_what_python_sees_stays_a_list():
    def stored(box, n):
        a = [1, 2]
        box.append(a)
        a.append(n)
        return a[2]

    def given(n):
        a = [3, 1, 2]
        text = repr(a)
        a.append(n)
        return text, str(a)

    def closed_over(n):
        a = [0]

        def add(x):
            a.append(x)

        add(n)
        add(a[-1])
        return len(a), a[1]

    def yielded(n):
        a = [n]
        yield a
        a.append(5)
        yield len(a)

    agree(stored, [[0]], 7)
    agree(given, 5)
    agree(closed_over, 5)
    agree(lambda n: [str(x) for x in yielded(n)], 5)


def allocated() -> int:
    """The bytes of the pages that the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def lists_in_a_dict(n):
    d = {}
    for i in range(n):
        d.setdefault(i % 7, []).append([float(i)] * 9)
        if i % 5 == 4:
            d[i % 7] = []
        if i % 11 == 10:
            del d[(i - 1) % 7]
    return d[5][0][0]


def failing(n):
    a = [[1.5, 2.5]] * 50
    names = ["n" + str(n)] * 50
    a.append([float(n)])
    for i in range(n):
        names.append(names[i] + "x")
    return a[n][0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("f, n", [(failing, 3), (failing, 99), (grid, 20), (rows, 30), (levels, 200), (methods, 9),
                                  (twice, 50), (lists_in_a_dict, 40), (lists_in_a_dict, 3),
                                  (lists_or_none, 5), (generated, 6)])
def test_memory_is_given_back(f, n):
    compiled = njit(f)

    def call(times):
        for _ in range(times):
            try:
                compiled(n)
            except LookupError:
                pass

    call(300)
    gc.collect()
    before, blocks = allocated(), sys.getallocatedblocks()
    call(3000)
    gc.collect()
    assert allocated() - before < 60
    assert sys.getallocatedblocks() - blocks < 30


# ---------------------------------------------------------------- deques


def breadth_first(n):
    level = [-1] * n
    level[0] = 0
    queue = deque([0])
    while queue:
        node = queue.popleft()
        for other in ((node * 2 + 1) % n, (node * 7 + 3) % n):
            if level[other] < 0:
                level[other] = level[node] + 1
                queue.append(other)
    return sum([x for x in level if x > 0]), len(queue)


def both_ends(n):
    d = deque()
    for i in range(n):
        if i % 3:
            d.append((i, i * 0.5))
        else:
            d.appendleft((-i, 1.0))
    total = 0.0
    while len(d) > 2:
        total += d.popleft()[1] * d.pop()[1] + d[0][0] + d[-1][1]
    return total, len(d)


def window(n):
    d, most = deque(), 0
    for i in range(n):
        d.append((i * 7919) % 101)
        if len(d) > 5:
            d.popleft()
        d[len(d) // 2] += 1
        most = max(most, d[-1] - d[0])
    d.rotate(2)
    d.rotate(-3)
    d.reverse()
    return most, d[0], d[-1], 3 in d, d.count(5)


def many_deques(n):
    lines = [deque([k]) for k in range(3)]
    for i in range(n):
        lines[i % 3].extend([i, i + 1])
        lines[(i + 1) % 3].appendleft(lines[i % 3].pop())
    return [len(d) for d in lines], lines[1][0]


@pytest.mark.parametrize("f", [both_ends, window])
def test_a_deque_has_no_objects(f):
    for n in (5, 40, 500):
        assert_native(f, n)


@pytest.mark.parametrize("f", [breadth_first, many_deques])
def test_programs_with_deques(f):
    for n in (7, 50):
        agree(f, n)
    assert "deque[" not in ir_of(f, 7)


@pytest.mark.parametrize("change", ["d.pop()", "d.popleft()", "d[3]", "d[-4]", "d[5] = 1", "del d[3]"])
def test_errors_of_deques(change):
    space = {"deque": deque}
    exec(f"def f(n):\n    d = deque()\n    for i in range(n):\n        d.append(i)\n    {change}\n    return len(d)", space)
    for n in (0, 3, 4, 6):
        agree(space["f"], n)


def sees(d, n):
    d.append(n)
    return d


def returned(n):
    d = deque([n])
    return sees(d, 2)


def iterated(n):
    d, total = deque([n, 2]), 0
    for x in d:
        total += x
        if x > 10:
            d.append(1)
    return total


def bounded(n):
    d = deque([1, 2], 2)
    d.append(n)
    return d[0], d.maxlen


@pytest.mark.parametrize("f", [returned, iterated, bounded])
def test_a_deque_that_somebody_sees_stays_the_interpreters(f):
    agree(f, 3)
    agree(f, 30)
    assert "deque[" in ir_of(f, 3)


def copies(xs):
    stack, queue = list(xs), deque(xs)
    while len(stack) > 1:
        stack[0] += stack.pop()
        queue.append(queue.popleft() * 2)
    return stack[0], queue[0], xs


def test_what_is_made_of_an_argument_is_native():
    agree(copies, [1, 2, 3])
    agree(copies, [1.5, 2.5])
    assert "native_push" in ir_of(copies, [1, 2, 3])


@pytest.mark.parametrize("n", [1 << 40, 1 << 61, (1 << 63) - 1, 0, -1, 3])
@pytest.mark.parametrize("item", [1, "a"])
def test_a_list_that_is_repeated_too_often_says_so_at_once(item, n):
    def repeats(item, n):
        x = [item]
        x *= n
        return len(x)

    agree(repeats, item, n)


def test_a_nan_in_a_native_list_equals_nothing():
    def found(x):
        a = [x]
        return a == a, a.count(x), x in a

    assert found(np.nan) == (True, 1, True) and njit(found)(np.nan) == (False, 0, False)


# ---------------------------------------------------------------- parts of texts


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def lengths_of_words(text):
    n = found = 0
    for word in text.split():
        n += len(word) * len(word)
        if word == "a" or len(word) == 2 and word != "bc" and "\u0119x" != word:
            found += 1
    for field in text.split("a"):
        n += len(field)
        if field == text or not field:
            found += 10
    return n, found


def kept_words(text):
    kept, before, last = [], "", "none"
    for word in text.split():
        if before < word:
            kept.append(word + before)
        before, last = word, before
    return kept, before, last


def sum_fields(text):
    total, names = 0.0, []
    for line in text.split("\n"):
        parts = line.split(",")
        if len(parts) > 1:
            names.append(parts[0])
            total += float(parts[-1]) + len(parts)
    return total, names


def words_of(text):
    words = []
    for word in text.split():
        words.append(word)
    return words


def fields_of(text):
    one, two = [], []
    for part in text.split(";"):
        one.append(part)
    for part in text.split("\u0119"):
        two.append(part)
    return one, two


def third(text):
    return text.split()[2]


def table(text):
    rows = [line.split(",") for line in text.split("\n")]
    return sum([len(cell) for row in rows for cell in row]), rows[-1][0], [row[-1] for row in rows]


def either(text):
    parts = text.split(";")
    if len(parts) < 2:
        parts = text.split()
    return lengths(parts), parts[0] if parts else "none"


def lengths(parts):
    return [len(part) for part in parts]


TEXTS = ("", " ", "a", "the cat the dog  the\tend\n", " \x1c\x1f a\x85b\xa0c\u2003d ",
         "\xe9t\xe9 \xe9t\xe9 x\xa0y",
         "\u0119\u0105 b \u0119\u0105 c", "\U0001f600 b  \U0001f600 ", "x" * 38 + " " + "y" * 39 + " " + "z" * 40 + " x",
         " ".join(f"w{i % 7}" for i in range(300)), "ab " * 100 + "cd", "a;b;;c", ";",
         ";".join("xy" * (i % 5) for i in range(90)),
         "k" * 200 + ";" + "m" * 15 + ";n", "p\u0119q;\u0119", "k,1\nlong name,2.5,3e2\n\nz,-0.0", "k,1\nz,oops")


@pytest.mark.parametrize("f", [count_words, kept_words, sum_fields, words_of, fields_of, third, table, either,
                               lengths_of_words])
def test_parts_of_texts(f):
    for text in TEXTS:
        agree(f, text)
    assert "native_places" in ir_of(f, "a b c")


def test_parts_that_are_only_looked_at_are_not_made():
    text = ir_of(lengths_of_words, "a b c")
    assert "native_bounds" in text and "native_piece" not in text


def test_a_part_that_is_kept_stays_as_it_was():
    f = njit(kept_words)
    text = " ".join(f"w{i % 50:02}" for i in range(2000))
    expected = kept_words(text)
    for _ in range(50):
        assert f(text) == expected
    assert [hash(word) for word in njit(words_of)(text)] == [hash(word) for word in text.split()]


def test_lists_of_parts_that_are_changed_or_leave_are_the_interpreters():
    def changed(text):
        parts = text.split()
        parts.append("x")
        return len(parts), parts[-1]

    def handed(text, mark):
        return text.split(), text.split(mark), text.split(" ", 1)

    def mixed(text):
        return either_list(text, len(text) > 3), either_list(text, len(text) < 3)

    def either_list(text, is_new):
        parts = ["x", "y"] if is_new else text.split()
        return parts[0], len(parts)

    for f, args in ((changed, ("a b",)), (handed, ("a-b c", "-")), (mixed, ("a b",))):
        agree(f, *args)
        assert "native_places" not in ir_of(f, *args)


def merged(n):
    numbers, floats = [0] * n, [0.0] * n
    x = 12345
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        numbers[i], floats[i] = x % 100, x % 7 * -0.5
    numbers.sort()
    floats.sort(reverse=True)
    last = numbers.copy()
    last.sort(reverse=True)
    total = 0.0
    for i in range(n):
        total = total * 1.0001 + numbers[i] + floats[i] * 3 + last[i]
    return total, numbers[-1], floats[0], numbers[n // 2], last[0]


def test_native_lists_of_many_items_are_sorted():
    for n in (1, 12, 13, 40, 333):
        agree(merged, n)
    assert "native_store" in ir_of(merged, 13)


def by_key(pairs):
    mine = list(pairs)
    mine.sort(key=lambda pair: (pair[1], pair[0]))
    return mine


def of_numpy(a):
    heap, items, pairs = [], [], []
    for i in range(len(a)):
        items.append(a[i])
        pairs.append((a[i], i))
        heapq.heappush(heap, (a[i], -i))
    items.sort()
    pairs.sort(reverse=True)
    found = [heapq.heappop(heap)[1] for _ in range(len(a))]
    return items[0], items[-1], pairs[0], found[0], found[-1], a[0] in items, items.count(a[0])


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_scalars_of_numpy_are_sorted_without_objects(dtype):
    a = (np.random.default_rng(3).random(40) * 99).astype(dtype)
    compiled = agree(of_numpy, a)
    text = "\n".join(compiled._inspect("opt", None).values())
    assert "native_new" in text and "list_append" not in text.partition("fn sort")[0]
    if a.dtype.kind == "f":
        a[7], a[9], a[11] = np.nan, 0.0, -0.0
        agree(of_numpy, a, compiled=compiled)


def test_what_is_sorted_by_keys_keeps_its_objects():
    pairs = [(i, 1.5 - i) for i in range(30)]
    agree(by_key, pairs)
    assert njit(by_key)(pairs)[0] is pairs[-1]


def codes(n):
    if n == 0:
        return ["0"]
    if n == 1:
        return ["0", "1"]
    found, before = [], codes(n - 1)
    for code in before:
        found.append("0" + code)
    for code in reversed(before):
        found.append("1" + code)
    return found


def halves(values):
    if len(values) < 2:
        return [values[0] + 1], 1
    n = len(values) // 2
    (left, a), (right, b) = halves(values[:n]), halves(values[n:])
    merged = []
    for x in left:
        merged.append(x)
    for x in right:
        merged.append(x * 2)
    return merged, a + b


def test_the_function_that_is_called_first_may_call_itself():
    agree(codes, 4)
    agree(halves, list(range(7)))


def first_of_rows(rows):
    taken = []
    for row in rows:
        made = [row[0]] * 2
        taken = made
    return taken[0] if taken else 0, rows


def test_the_items_of_an_argument_stay_lists_beside_native_lists():
    """The attribute `type` of the operation that takes an item is the type of the item, not that of its result."""
    agree(first_of_rows, deque([[1], [2]]))


def first_before(n, row):
    """The place of the last item among those before it; an item that is read proves where it is."""
    items = [0] * n
    for k in range(n):
        items[k] = k * k % 7
    found = []
    for last in range(-2, row):
        wanted = items[last]
        for place in range(last):
            if items[place] == wanted:
                found.append(place * 100 + last)
                break
    return sum(found), len(found)


def test_an_item_that_was_read_shows_that_those_before_it_exist():
    for n, row in [(9, 9), (3, 1), (2, -1), (1, 0), (0, -1), (5, 7), (300, 300)]:
        agree(first_before, n, row)
