"""Dicts and sets that do not escape from their function, or only once: compared with the interpreter, and their code.
"""
import ctypes
import gc
import random
import sys
import tracemalloc
from collections import Counter, defaultdict

import numpy as np
import pytest

from pyjitc import njit

from ...oracle import agree, agree_on

ROWS = []
_EDGES = [0, -1, -2, 1, 2**31, 2**32, -2**32, 2**61 - 1, 2**63 - 1, -2**63]


def case(*argsets):
    """A decorator: the function is compared with its compiled form, for each of these arguments in turn."""

    def register(function):
        ROWS.append(pytest.param(function, argsets, id=function.__name__))
        return function

    return register


def ints(n, most, seed=0):
    R = random.Random(seed)
    return [R.choice([R.randrange(most), R.randrange(most), R.choice(_EDGES), R.randrange(most) << 32])
            for _ in range(n)]


def texts(n, most, seed=0):
    R = random.Random(seed)
    return [R.choice(["", "é", "Ж", "😀", "word"]) + str(R.randrange(most)) for _ in range(n)]


@case((ints(300, 20),), (ints(3000, 2000),), ([],), (list(range(40)),), ([k << 32 for k in range(3000)],))
def counted(keys):
    d = {}
    for k in keys:
        d[k] = d.get(k, 0) + 1
    return d


@case((texts(300, 20),), (texts(3000, 400),), ([],))
def words(keys):
    d = {}
    for k in keys:
        d[k] = d.get(k, 0) + 1
    return d


@case((texts(300, 20),), ([],))
def words_by_name(keys):
    d = {}
    for k in keys:
        if k + "x" in d:
            d[k + "x"] += 1
        else:
            d[k + "x"] = 1
    best, most = "", 0
    for k, n in d.items():
        if n > most:
            best, most = k, n
    return best, most, len(d)


@case((ints(400, 30),), ([],))
def pairs(keys):
    d = {}
    for k in keys:
        for dx in (-1, 0, 1):
            d[k // 7, dx] = d.get((k // 7, dx), 0.0) + 0.5
    total = 0.0
    for (x, y), value in d.items():
        total = total * 0.5 + value * (x % 10) * y
    return total, (0, 0) in d


@case((ints(400, 30),))
def quadruples(keys):
    seen = set()
    for k in keys:
        seen.add((k, k % 3, 1, k % 5))
        seen.add((k, k % 2, 2, k % 5))
    return seen, (0, 0, 1, 0) in seen


@case((ints(300, 20), [float(k) for k in range(300)]), ([], []))
def grouped(keys, values):
    d = {}
    for k, v in zip(keys, values):
        if k not in d:
            d[k] = []
        d[k].append(v)
    best = -1.0
    for group in d.values():
        best = max(best, sum(group))
    return best, len(d)


@case((ints(300, 20),), ([],))
def groups_that_leave(keys):
    d = {}
    for k in keys:
        d.setdefault(k % 5, []).append(k)
    return d


@case(([3, 5, 8, 13], 13), ([3, 5], 1), ([], 0), ([2**62, 2**62], -2**62))
def two_sum(values, target):
    seen = {}
    for i, x in enumerate(values):
        if target - x in seen:
            return seen[target - x], i
        seen[x] = i
    return -1, -1


@case((5,), (7,), (0,))
def missing(k):
    d = {5: 6, 6: 7}
    return d[k] if k else d[k, ]


@case(([1, 2, 3], 2), ([1, 2, 3], 7), ([], 1))
def missing_behind(keys, k):
    d = {x: x * 0.5 for x in keys}
    try:
        return d[k]
    except KeyError as e:
        return float(len(d)) if e.args == (k,) else -1.0


@case((texts(9, 9), "word7"), (texts(9, 9), "gone"))
def missing_text(keys, k):
    d = {}
    for x in keys:
        d[x] = x + "!"
    if k in d:
        return d[k]
    return d["none of " + k]


@case(([1, 2],), ([],))
def missing_pair(keys):
    d = {}
    for k in keys:
        d[k, k] = k
    if (7, 8) in d:
        return 0
    return d[7, 8]


@case((ints(500, 40),), ([],))
def removed(keys):
    d = {}
    for k in keys:
        if k in d and k % 3:
            del d[k]
        else:
            d[k] = k
    return d


@case((ints(500, 40),), ([],))
def window(keys):
    d, n = {}, 0
    for i, k in enumerate(keys):
        d[k] = d.get(k, 0) + 1
        if i >= 20:
            old = keys[i - 20]
            d[old] -= 1
            if d[old] == 0:
                del d[old]
        n = n * 31 % 1000003 + len(d)
    return n


@case((texts(200, 9),))
def removed_texts(keys):
    d = {}
    for k in keys:
        if k in d:
            del d[k]
        else:
            d[k] = k * 2
    return d


@case((ints(50, 9), 5), (ints(50, 9), 123456))
def removed_or_not(keys, k):
    s = set()
    for x in keys:
        s.add(x)
    s.discard(k)
    s.discard(k)
    if k == 123456:
        s.remove(k)
    return len(s), k in s


@case((ints(500, 400),), ([],))
def distinct(keys):
    s = set()
    for k in keys:
        s.add(k)
    return len(s)


@case((ints(500, 400),), (ints(100, 3000),), ([],), (texts(200, 50),), ([(x, 1) for x in ints(90, 30)],))
def set_that_leaves(keys):
    s, n = set(), 0
    for k in keys:
        if k in s:
            n += 1
        s.add(k)
    return s, n


@case(*(([*_EDGES[:n % 11], *range(0, n * 10**9, 10**9)], "text") for n in (5, 1, 6, 7, 11, 12, 170, 171, 45000)),
      ([1, 0, 2], "x"), ([], "x"))
def filled_and_left(keys, text):
    squares = {k: k % 5 for k in keys}
    by_pair = {}
    for i in range(0, len(keys), 3):
        by_pair[keys[i] % 100, i % 7] = text[i % 2:] if keys[i] != 0 else str(i)
    by_pair[-1, -1] = text
    return squares, by_pair, {1: 0.5}


@case(([1, 2, 3],), ([],))
def changed_while_read(keys):
    d, n = {}, 0
    for k in keys:
        d[k] = 1
    for k in d:
        n += d[k]
        d[k + 10] = n
    return n


@case(([1, 2, 3],))
def values_changed_while_read(keys):
    d = {k: 1 for k in keys}
    n = 0
    for k in d:
        d[k] = n
        n += d[k] + 5
    return n, d[3]


@case((4,), (0,))
def one_for_each(n):
    out = []
    for i in range(n):
        d = {}
        for j in range(i):
            d[j % 2] = d.get(j % 2, 0) + j
        out.append(d)
    return out


@case((4,), (0,))
def kept_and_used(n):
    out, d = [], {}
    for i in range(n):
        d[i] = d.get(i - 1, 0) + i
        out.append(d)
    return out


@case((True, 3), (False, 3))
def one_of_two(t, n):
    d = {1: 2}
    if t:
        d = {n: n, 1: 5}
    d[7] = d.get(1, 0)
    return d


@case(({1: 2}, True), ({1: 2}, False))
def given_or_own(d, t):
    if t:
        d = {3: 4}
    d[7] = d.get(3, 0)
    return d


@case((3,), (0,))
def raises_behind(n):
    d = {}
    for i in range(5):
        d[i] = d.get(i - 1, 0) + 10 // (n - i)
    return d


@case((3,), (9,))
def leaves_by_an_exception(n):
    d = {}
    try:
        for i in range(5):
            d[i] = d.get(i - 1, 0) + 10 // (n - i)
    except ZeroDivisionError:
        return d
    return {}


@case((["ab", "cd"],))
def items_of_objects(keys):
    d = {}
    for k in keys:
        d[k] = {k: 1}
        d[k][k + k] = 2
        d[k] = {k: len(d[k])}
    return d["ab"], len(d)


@case((6,))
def values_of_several_words(n):
    d = {}
    for i in range(n):
        d[i % 4] = (i, str(i), i * 0.5)
    out = ""
    for k, (i, text, x) in d.items():
        out += f"{k} {i} {text} {x},"
    return out, d[2]


@case((np.arange(50) % 7,))
def numpy_values(a):
    d = {}
    for i in range(len(a)):
        d[i % 5] = a[i]
    return d[3], len(d)


@case((4,))
def compared(n):
    d = {0: 0}
    for i in range(n):
        d[i] = d.get(i, 1)
    return d == {0: 0, 1: 1, 2: 1, 3: 1}


@case((4,))
def bools_and_ints(n):
    d = {}
    for i in range(n):
        d[i] = i % 2 == 0
    return d[0] + d[1], True if True in d else False, d.get(1.0)


@case((ints(300, 20),), ([],))
def default_ints(keys):
    d = defaultdict(int)
    for k in keys:
        d[k] += 1
    return d


@case((texts(300, 20), True), (texts(30, 5), False), ([], True))
def default_floats(keys, t):
    d = defaultdict(float)
    total = 0.0
    for k in keys:
        d[k] += 0.5
        total += d[k + "!"]
    n = 0
    for k, v in d.items():
        n += len(k) + int(v > 1.0)
    return total, n, d["none"] if t else d.get("none"), len(d)


@case((ints(300, 20),), ([],))
def counter(keys):
    c = Counter()
    for k in keys:
        c[k] += 2
    return c[-77], len(c), -77 in c


@case((texts(300, 20),), ([],))
def counter_that_leaves(keys):
    c = Counter()
    for k in keys:
        if c[k] < 7:
            c[k] += 1
    return c


@case((ints(30, 5),), ([],))
def default_changed_while_read(keys):
    d = defaultdict(int)
    for k in keys:
        d[k] += 1
    n = 0
    for k in d:
        n += d[k + 1]
    return n


@case((ints(30, 5),), ([],))
def default_lists(keys):
    d = defaultdict(list)
    for k in keys:
        d[k].append(k)
    return d


@case((ints(30, 9), ints(30, 9, 1)))
def nested(x, y):
    total = 0
    for a in x:
        d = {}
        for b in y:
            d[a ^ b] = d.get(a ^ b, 0) + 1
        for k, n in d.items():
            total = (total * 7 + k % 1000 * n) % 1000003
    return total


LINES = "the quick the\tqu\xefck fox\n \u0119x the " + "a" * 64 + " " + "a" * 65 + " " + "a" * 65 + "\x1fx fox"
FIELDS = "a,bb,,a,\xe9,,12345678,123456789,a" + ",k" * 30 + ",12345678"


@case((LINES,), ("",), ("plain words and plain words " * 40,), ("\u0119 a b a \u0119",), (" ",),
      ("x" * 8 + " " + "x" * 9,))
def words_of_a_text(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


@case((FIELDS, "a"), ("", "a"), (FIELDS.replace("\xe9", "\u0119"), "12345678"), ("a;b", "a"), (FIELDS, "zz"))
def fields_of_a_text(text, key):
    seen = set()
    last = {}
    for n, field in enumerate(text.split(",")):
        if field in seen:
            seen.discard(field)
        else:
            seen.add(field)
        last[field] = n
    return len(seen), last[key], key in seen, last[text.split(",")[0]]


@case((FIELDS, 3), ("", 2), ("abcabcab\u0119c" * 20, 3), ("ab" * 100, 70), ("abcdefgh" * 5, 8), ("abcd" * 9, 0))
def slices_of_a_text(text, n):
    d = {}
    for i in range(len(text)):
        part = text[i:i + n]
        if part in d:
            d[part] += i
        else:
            d[part] = 1
    total = 0
    for part, many in d.items():
        total = total * 3 % 1000003 + many + len(part)
    return total, d


@case(("a b a c", "a b"), ("a b", "zz a"), ("a b", "\u0119"), ("", ""))
def missing_part(text, other):
    d = {}
    for n, word in enumerate(text.split(" ")):
        d[word] = n
    found = 0
    for word in other.split(" "):
        found += d[word]
        del d[word]
    return found, len(d)


@case(("a=1;b=-23;c=123456789012;a=0012345678",), ("",), ("a=1;b",), ("a=9223372036854775807;\u0119=5",),
      ("a=1_0;b= 7 ",))
def pairs_of_a_text(text):
    d = {}
    for item in text.split(";"):
        parts = item.split("=")
        d[parts[0]] = d.get(parts[0], 0) + int(parts[1])
    return d


@case((ints(300, 20), 1), (ints(3000, 2000), 2), ([], 1), ([5], 3))
def lists_by_key(keys, step):
    groups = {}
    for i in range(0, len(keys), step):
        k = keys[i]
        if k not in groups:
            groups[k] = []
        groups[k].append(float(i))
    best, most = -1, -1.0
    for k, group in groups.items():
        group.sort(reverse=True)
        mean = sum(group) / len(group)
        if mean > most:
            best, most = k, mean
    return best, most, len(groups)


@case((texts(300, 20),), (texts(3000, 400),), ([],))
def lists_of_texts(keys):
    groups = {}
    for k in keys:
        groups.setdefault(k[:1], []).append(k + "!")
    groups[""] = ["none"]
    found = []
    for k in keys:
        if len(groups[k[:1]]) > 1:
            found.append(groups[k[:1]].pop())
        elif k[:1] in groups:
            groups[k[:1]] = [k]
    for group in groups.values():
        for text in group:
            found.append(text)
    return found


@case((6, 4), (1, 0), (0, 3), (40, 30))
def edges_of_a_graph(n, drop):
    graph = {}
    for i in range(n):
        graph[i, i] = []
        for j in range(i):
            if (i, j) not in graph:
                graph[i, j] = []
            graph[i, j].append((i, float(j)))
            graph[i, i].append((j, 0.5))
    for i in range(drop):
        if (i, i) in graph:
            del graph[i, i]
    total = 0.0
    for i in range(n):
        if (i, i) in graph:
            for other, weight in graph[i, i]:
                total += other * weight
    return total, len(graph)


@case((5,), (0,), (50,))
def lists_that_are_shared(n):
    one, two = {}, {}
    both = [1]
    for i in range(n):
        one[i % 3] = both
        two[i] = one[i % 3]
        two[i].append(i)
        if i % 7 == 6:
            both = [i]
    total = 0
    for group in two.values():
        total += sum(group) + (group is both)
    return total, len(both)


@case(([1, 2, 3, 1, 2, 0],), ([1],), ([],), ([0],))
def list_of_lists_in_a_dict(keys):
    rows = {}
    for i, k in enumerate(keys):
        if k not in rows:
            rows[k] = [[i]]
        rows[k].append([j for j in range(k)])
        rows[k][0].append(1 // k)
    total = 0
    for group in rows.values():
        for row in group:
            total += len(row)
    return total


@case((texts(300, 20), "word1"), ([], "x"), (["a b"], "a"))
def default_lists_inside(keys, other):
    d = defaultdict(list)
    for n, k in enumerate(keys):
        d[k].append((n, k))
        for part in k.split("d"):
            d[part].append((-1, part))
    total = len(d[other])
    for k, group in d.items():
        for n, text in group:
            total += n * len(text)
    if other in d and len(d[other]) > 5:
        d[other] = []
    return total, len(d[other]), len(d)


@case(([3, 1, 3],), ([],))
def one_list_leaves(keys):
    groups = {}
    for k in keys:
        if k not in groups:
            groups[k] = [k]
        groups[k].append(k)
    first = groups.get(3, [])
    first.append(7)
    return first, sum(groups[3]) if 3 in groups else 0


@case((12,), (0,), (1,))
def remembered_by_a_closure(n):
    known = {}

    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        if (i, j) in known:
            return known[i, j]
        found = (paths(i - 1, j) + paths(i, j - 1)) % 1000007
        known[i, j] = found
        return found

    return paths(n, n), len(known)


def fibonacci(n, known):
    if n < 2:
        return n
    if n not in known:
        known[n] = fibonacci(n - 1, known) + fibonacci(n - 2, known)
    return known[n]


@case((30,), (1,))
def remembered_and_left(n):
    known = {}
    return fibonacci(n, known), known


@case((3,), (0,), (5,), (9,))
def shared_and_changed(n):
    a, b, seen = defaultdict(int), {}, set()

    def go(x, y, i):
        if i == 0:
            if n == 9:
                return a[n] + y[-1]
            return len(x) - len(y)
        a[i % 3] += i
        x[i] = y.get(i, 0) + 1
        if i % 4 == 0 and i + 1 in y:
            del y[i + 1]
        if str(i // 2) not in seen:
            seen.add(str(i))
        return go(y, x, i - 1)

    c = {1: 2}
    return go(b, c, n), go(b, b, n), a[1], len(seen), seen


@case((9,), (3,), (0,))
def shared_and_then_stored(n):
    known = {}
    x = fibonacci(n, known)
    kept = [known]
    fibonacci(n + 3, known)
    return kept, x


@case(([1, 2, 1, 1, 2, 1],), ([],))
def asked_twice(keys):
    found = defaultdict(list)
    for k in keys:
        if len(found[k]) < 3:
            found[k].append(k)
    return found


def added_before(known, n):
    if n > 5:
        added_before(known, n - 1)
    known[n] = 7
    known[n - 2] = 7


@case((9,), (2,))
def added_by_a_callee(n):
    known = {}
    if n in known:
        return 0, 0, 0
    added_before(known, n)
    known[n] = known.get(n, 0) + 1
    return len(known), known[n], sum(known.values())


def counted_up(n, known):
    if n in known:
        return known[n]
    if n < 2:
        return n
    below = counted_up(n - 1, known)
    known[n] = known.get(n, 0) + below
    known[n + 1] = 10
    return known[n]


@case((9,), (0,))
def added_by_itself(n):
    known = {}
    return counted_up(n, known), len(known), sum(known.values())


@pytest.mark.parametrize("function, argsets", ROWS)
def test_agree(function, argsets):
    agree_on(function, *argsets)


LOCAL = (counted, words_by_name, words, pairs, quadruples, grouped, two_sum, missing_text, removed, window,
         removed_or_not, distinct, changed_while_read, set_that_leaves, one_of_two, leaves_by_an_exception, nested,
         values_of_several_words, missing_pair, default_ints, default_floats, counter, counter_that_leaves,
         default_changed_while_read, lists_by_key, lists_of_texts, edges_of_a_graph,
         lists_that_are_shared, list_of_lists_in_a_dict, one_list_leaves, words_of_a_text, fields_of_a_text,
         slices_of_a_text, missing_part, pairs_of_a_text, default_lists, default_lists_inside, filled_and_left,
         remembered_by_a_closure, remembered_and_left, shared_and_changed, asked_twice, added_by_a_callee,
         added_by_itself)
OBJECTS = (kept_and_used, given_or_own, bools_and_ints, shared_and_then_stored)


@pytest.mark.parametrize("function", LOCAL + OBJECTS, ids=lambda f: f.__name__)
def test_which_are_local(function):
    compiled = njit(function)
    argsets = next(row.values[1] for row in ROWS if row.values[0] is function)
    try:
        compiled(*argsets[0])
    except (KeyError, RuntimeError, ZeroDivisionError):
        pass
    (text,) = compiled.inspect_llvm().values()
    assert ("pyj_table_new" in text) == (function in LOCAL)
    assert function in OBJECTS or not any(name in text for name in ("pyj_dict_", "pyj_set_has", "PyDict_Next"))


@pytest.mark.parametrize("function", [lists_by_key, lists_of_texts, edges_of_a_graph, lists_that_are_shared,
                                      list_of_lists_in_a_dict, one_list_leaves, default_lists_inside],
                         ids=lambda f: f.__name__)
def test_lists_in_tables_are_native(function):
    compiled = njit(function)
    try:
        compiled(*next(row.values[1] for row in ROWS if row.values[0] is function)[0])
    except ZeroDivisionError:
        pass
    (text,) = compiled.inspect_llvm().values()
    assert ("pyj_native_entry_" in text) == (function is not one_list_leaves)


def test_parts_of_texts_are_keys_without_objects():
    for function, text in ((words_of_a_text, "a b"), (missing_part, "a b"), (pairs_of_a_text, "a=1")):
        compiled = njit(function)
        try:
            compiled(text, text) if function is missing_part else compiled(text)
        except KeyError:
            pass
        (code,) = compiled.inspect_llvm().values()
        assert "pyj_table_slot_part_str" in code and "pyj_native_piece" not in code and "pyj_table_slot_str" not in code


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="all texts have their characters in themselves")
def test_a_text_with_its_characters_apart_is_the_same_key():
    make = ctypes.pythonapi.PyUnicode_FromUnicode
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t)
    with pytest.warns(DeprecationWarning):
        apart = make(None, 4)
    written = ctypes.pythonapi.PyUnicode_AsUnicode
    written.restype, written.argtypes = ctypes.POINTER(ctypes.c_wchar), (ctypes.py_object,)
    for n, char in enumerate("word"):
        written(apart)[n] = char

    @njit
    def f(keys, text):
        d = {}
        for k in keys:
            d[k] = d.get(k, 0) + 1
        for k in text.split():
            d[k] = d.get(k, 0) + 10
        return d

    for keys in (["word", apart], [apart, "word"], [apart]):
        assert f(keys, "a word") == {"word": 10 + len(keys), "a": 10}


def test_references():
    """The references of a table are released with the table, when a key is deleted, and when a value is replaced."""
    @njit
    def f(keys, values, n):
        d = {}
        for i in range(n):
            d[keys[i % 4]] = values[i % 3]
        for i in range(2):
            if keys[i] in d:
                del d[keys[i]]
        if n == 7:
            return d["none"]
        return d[keys[3]]

    keys, values = [f"key{i}" for i in range(4)], [[i] for i in range(3)]
    before = [sys.getrefcount(x) for x in (*keys, *values)]
    for n in (8, 7, 9) * 5:
        try:
            f(keys, values, n)
        except KeyError:
            pass
    assert [sys.getrefcount(x) for x in (*keys, *values)] == before


def test_memory_stays_flat():
    compiled = [njit(words), njit(pairs), njit(one_for_each), njit(raises_behind), njit(lists_by_key),
                njit(lists_of_texts), njit(edges_of_a_graph), njit(list_of_lists_in_a_dict), njit(words_of_a_text),
                njit(default_lists), njit(default_lists_inside)]
    given = [(texts(30, 5),), (ints(30, 5),), (4,), (3,), (ints(30, 5), 1), (texts(30, 5),), (9, 3), ([2, 1, 0],),
             (LINES,), (ints(30, 5),), (texts(30, 5), "word1")]

    def calls(n):
        for _ in range(n):
            for f, args in zip(compiled, given):
                try:
                    f(*args)
                except ZeroDivisionError:
                    pass
        gc.collect()

    calls(20)
    tracemalloc.start()
    try:
        calls(20)
        before = tracemalloc.get_traced_memory()[0]
        calls(200)
        assert tracemalloc.get_traced_memory()[0] < before + 2000
    finally:
        tracemalloc.stop()


def test_a_counter_says_nothing_of_a_key_that_is_not_there():
    def counted(n):
        found = Counter()
        for i in range(n):
            found[i % 3] += 1
        del found[100], found[0]
        return len(found), sum(found.values()), found[0]

    agree(counted, 10)


@case((texts(300, 20), ints(300, 20)), (["a"], []), ([], [5, 5]))
def counters_of_iterables(names, keys):
    counts, pairs = Counter(names), Counter((k % 3, k % 5) for k in keys)
    letters = Counter("".join(names))
    counts.update(names[:9])
    letters.subtract("abc")
    return counts, letters, Counter(keys), sorted(pairs.items()), Counter(len(x) for x in names).most_common(2)


def test_a_counter_of_an_iterable_is_a_table_without_objects():
    def most(cells):
        near = Counter((x + d, y) for x, y in cells for d in (-1, 0, 1))
        return max(n for n in near.values())

    compiled = njit(most)
    agree(most, [(k % 7, k % 3) for k in range(50)], compiled=compiled)
    (text,) = compiled.inspect_llvm().values()
    assert "pyj_table_claim" in text and "PyList_Append" not in text


@pytest.mark.parametrize("given", [[[1]], 5, [1, "a"], [1.5, 1.5], {"a": 2}, None])
def test_counters_of_other_things(given):
    agree(lambda x: Counter(x), given)


@case(("ab", "ba"), ("aab", "ab"), ("", "a"), ("a", ""))
def counters_are_compared(a, b):
    x, y = Counter(a), Counter(b)
    before = x == y, x != y, x == {"a": 1}, x <= y
    y["q"] = x["r"]
    return before, x == y, y == x, "r" in x, len(y)


def test_counters_are_compared_as_tables():
    compiled = njit(lambda a, b: Counter(a) == Counter(b))
    assert compiled("listen", "silent") and not compiled("ab", "abb")
    (text,) = compiled.inspect_llvm().values()
    assert "pyj_table_slot_str" in text
