"""Dicts, compared with the interpreter: values, order, exceptions, changes."""

import collections
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque  # noqa: F401

import pytest

from pyjitc import jit, njit
from tests.language.corpus import check, corpus, each
from tests.oracle import agree

case, CASES = corpus()


@case((["a=1", "b=2"],), (["a=1", "b"],), (["a=1=2"],), ([],), (["ab"],))
def pairs_of_lines(lines):
    found = dict(line.split("=") for line in lines)
    try:
        found.update(map(list, lines))
    except ValueError as error:
        return found, str(error)
    return found, collections.OrderedDict(line.split("=") for line in lines)


@case(
    ({1: 2}, 1),
    ({1: 2}, 3),
    ({}, 3),
    ({"a": 1.5}, "a"),
    ({"a": 1.5}, "b"),
    ({(1, 2): 3}, (1, 2)),
    ({None: 1}, None),
    ({2.5: 1}, 2.5),
    ({b"x": 1}, b"x"),
    ({True: 1}, True),
    ({1: "x"}, 1),
    ({1: [1]}, 1),
    ({1: {2: 3}}, 1),
)
def get(d, k):
    return d.get(k)


@case(({1: 2}, 1), ({1: 2}, 3), ({}, 3), ({"a": 1.5}, "b"))
def getd(d, k):
    return d.get(k, 7)


@case(
    ({1: 2}, 1),
    ({1: 2}, 3),
    ({}, 3),
    ({"a": 1.5}, "b"),
    ({(1, 2): 3}, (1, 3)),
    ({1: None}, 1),
    ({1: 2, "a": 3}, "a"),
    ({1: 2, "a": 3}, "b"),
)
def item(d, k):
    return d[k]


@case(
    ({1: 2}, 1, 5),
    ({1: 2}, 3, 4),
    ({}, 3, 2.5),
    ({"a": 1.5}, "b", 1),
    ({}, (1, 2), "x"),
    ({}, [1], 2),
    ({1: 2}, 1, "x"),
)
def put(d, k, v):
    d[k] = v
    return d


@case(({1: 2}, 1), ({1: 2}, 3), ({}, 3), ({"a": 1.5}, "a"))
def delete(d, k):
    del d[k]
    return len(d)


@case(({1: 2}, 1), ({1: 2}, 3), ({}, 3), ({"a": 1.5}, "a"), ({2.0: 1}, 2), ({1: 2}, [1]))
def has(d, k):
    return (k in d, k not in d)


@case(({1: 2, 5: 6},), ({},))
def keys(d):
    s = 0
    for k in d:
        s += k
    return s


@case(({1: 2, 5: 6},), ({1: 2.5, 5: 6},), ({},))
def items(d):
    s = 0
    for k, v in d.items():
        s += k * v
    return s


@case(({1: 2, 5: 6},), ({"a": 2.5},))
def values(d):
    s = 0
    for v in d.values():
        s += v
    return s


@case(({1: 2, 5: 6},))
def changed(d):
    for k in d:
        d[k + 1] = 1


@case(({1: 2, 5: 6},))
def changed2(d):
    for k in d.values():
        del d[1]
        d[9] = 9


@case(([1, 2, 1, 2, 3],), (["a", "b", "a"],), ((1, 2, 1),), ([],), ([(1, 2), (1, 2)],))
def count(s):
    d = {}
    for c in s:
        d[c] = d.get(c, 0) + 1
    return d


@case(([1, 2, 3, 4, 5, 6],))
def group(xs):
    d = {}
    for x in xs:
        d.setdefault(x % 3, []).append(x)
    return d


@case(([1, 2, 3, 4, 5, 6],))
def group2(xs):
    d = {}
    for x in xs:
        if x % 3 not in d:
            d[x % 3] = []
        d[x % 3].append(x)
    return d


@case(([1, 2, 3, 4, 5, 6],))
def dd(xs):
    d = defaultdict(list)
    for x in xs:
        d[x % 3].append(x)
    return d


@case(([1, 2, 1, 4, 5, 6],), (["a", "a"],))
def ddi(xs):
    d = defaultdict(int)
    for x in xs:
        d[x] += 1
    return d


@case((5,))
def comp(n):
    return {i: i * i for i in range(n)}


@case((50,))
def scomp(n):
    return {i % 7 for i in range(n)}


@case((1, 2.5), (1, "x"))
def disp(a, b):
    return {"a": a, "b": b}


@case((1, 2.5), (1, "x"))
def disp2(a, b):
    return {a: b, b: a}


@case((1, 2.5), (1, "x"))
def sdisp(a, b):
    return {a, b, 3}


@case(({1: 2}, 1), ({1: 2}, 2))
def pops(d, k):
    a = d.pop(k, None)
    return (a, d)


@case(({1: 2}, 1), ({1: 2}, 2), ({}, 2))
def pop(d, k):
    return d.pop(k)


@case(({1: 2.5},), ({},))
def popitem(d):
    return d.popitem()


@case(({1: 2}, {3: 4}), ({1: 2}, [(3, 4)]), ({1: 2}, {"a": 2.5}), ({}, ((1, 2), (3, 4))))
def upd(d, e):
    d.update(e)
    return d


@case(([1, 2], [3.5, 4]))
def updz(a, b):
    d = {}
    d.update(zip(a, b))
    d.update(x=1, y=2)
    return d


@case(([1, 2], [3.5, 4]))
def ctor(a, b):
    return (dict(zip(a, b)), dict([(1, 2)]), dict(a=1), dict(), dict({1: 2}), dict({"u": 1}, x=2.5))


@case(({"a": 1}, {"b": 2}), ({"a": 1}, {1: 2}))
def merge(a, b):
    return (a | b, {**a, **b}, {**a, "z": 1})


@case(({"a": 1}, {"b": 2}), ({"a": 1}, {1: 2.5}), ({1: 2}, [(3, 4)]))
def ior(a, b):
    a |= b
    return a


@case(({1: 2}, {1: 2}), ({1: 2}, {1: 2.0}), ({1: 2}, {}), ({1: 2}, [1]))
def eq(a, b):
    return (a == b, a != b)


@case(({1: 2, 3: 4}, {1: 2, 5: 6}))
def views(d, e):
    return (
        d.keys() & e.keys(),
        d.keys() | e,
        d.keys() - e.keys(),
        len(d.values()),
        1 in d.keys(),
        (1, 2) in d.items(),
        2 in d.values(),
        d.items() & e.items(),
    )


def rets(d):
    return (d.keys(), list(d.items()))


@case(({1: 2, 3: 4},), ({"b": 1.5, "a": 2},))
def listof(d):
    return (list(d), list(d.values()), list(d.items()), sorted(d), sorted(d.items()))


@case(({1: 2},))
def clear(d):
    e = d.copy()
    d.clear()
    return (d, e, not d)


@case(([1, 2, 1],))
def fk(a):
    return (dict.fromkeys(a), dict.fromkeys(a, 0), dict.fromkeys((x for x in a), 1.5))


@case((4,))
def nested(n):
    d = {}
    for i in range(n):
        d[i] = {}
        for j in range(i):
            d[i][j] = i * j
    return d


@case((5,))
def dlt(n):
    d = {}
    for i in range(n):
        d.setdefault((i % 2, "a"), []).append((i, i / 2))
    return d


@case(({1: 2},))
def ret_arg(d):
    return (d, (d, 1), [d])


@case(({1: 2, 3: 9, 4: 1},))
def mx(d):
    return (max(d, key=d.get), min(d.values()), sum(d.values()), max(d), any(d), all(d.values()))


x = {1: 2}


@case((x, x), ({1: 2}, {1: 3}))
def alias(d, e):
    d[1] = "x"
    return e[1]


@case(({1: 2, 3: 9, 4: 1},))
def en(d):
    s = 0
    for i, (k, v) in enumerate(d.items()):
        s += i * k * v
    for k, v in zip(d, d.values()):
        s += k * v
    return s


@case(({1: 2, 3: 9, 4: 1},), ({"a": 1.5},))
def pr(d):
    print(d, f"{d}", str(d), repr(d.keys()))
    return len(d)


@case()
def notkey():
    d = {"a": 1}
    return d["b"]


@case(({(1, 2): 3},), ({(1, 3): 3},))
def tk(d):
    return d[1, 2]


@case(({1: 2},), (defaultdict(int),))
def typ(d):
    return (isinstance(d, dict), type(d) is dict)


@case(({1: 2, 3: 9, 4: 1},))
def loopdel(d):
    for k in list(d):
        if d[k] % 2:
            del d[k]
    return d


@case((30, {}))
def mem(n, memo):
    if n in memo:
        return memo[n]
    r = n if n < 2 else mem(n - 1, memo) + mem(n - 2, memo)
    memo[n] = r
    return r


@case(({"x": 1},), ({"y": 2},), ({"x": 1, "y": 2.5, "z": 3},), ({},), (5,))
def patterns(d):
    match d:
        case {"x": x, "y": y}:
            return x, y
        case {"x": 1}:
            return "one"
        case {"y": y, **rest}:
            return y, rest
    return None


@case(({1: 2},), ({},))
def unpacked_dicts_alone(d):
    made = {**d, **{5: 6}}
    total = 0
    for key in made:
        total += made[key]
    return total, made.popitem(), {**d}


@each(CASES)
def test_beside_the_interpreter(function, calls):
    check(function, calls)


PRICES = {"a": 1, "b": 2}
SQUARES = {}
SEEN = {1, 2, 3}
OPTIONS = {"n": 3, "x": 2.5, "name": "q"}
TOTALS = defaultdict(int)


def test_containers_of_the_program():
    """Compiled code reads and changes the program's own containers at run time."""

    @njit
    def looked_up(k):
        return PRICES[k], k in PRICES, len(PRICES), [x for x in PRICES]

    @njit
    def kept(n):
        SQUARES[n] = n * n
        return len(SQUARES), n in SEEN, sum(SEEN)

    @njit
    def counted(k):
        TOTALS[k] += 1
        return TOTALS[k]

    assert looked_up("a") == (1, True, 2, ["a", "b"])
    assert kept(3) == (1, True, 6) and kept(4) == (2, False, 6)
    SQUARES[9] = 81
    SEEN.add(7)
    assert kept(7) == (4, True, 13) and SQUARES == {3: 9, 4: 16, 9: 81, 7: 49}
    assert (counted(1), counted(1), counted(2)) == (1, 2, 1) and TOTALS == {1: 2, 2: 1}


def test_items_of_constant_keys():
    """Each item has its own type, and changes take effect."""

    @njit
    def product():
        return OPTIONS["n"] * OPTIONS["x"], OPTIONS["name"]

    assert product() == (7.5, "q")
    OPTIONS["n"] = 10
    assert product() == (25.0, "q")


STATE = {"count": 0}


def test_no_constants_of_what_the_program_changes():
    def more():
        STATE["count"] += 1

    @njit
    def twice():
        first = STATE["count"]
        more()
        return first, STATE["count"]

    assert twice() == (0, 1) and twice() == (1, 2) and STATE == {"count": 2}


def test_captured_and_default():
    cache = {}

    @njit
    def remembered(n):
        cache[n] = n + 1
        return len(cache)

    assert (remembered(1), remembered(2)) == (1, 2) and cache == {1: 2, 2: 3}

    @njit
    def collected(x, d={}):
        d[x] = x
        return d

    assert collected(1) is collected(2) and collected(2) == {1: 1, 2: 2}


def test_a_nan_is_no_key():
    """A row of docs/semantics.md: the interpreter finds the same nan object."""
    nan = float("nan")

    @njit
    def found(d, s, x):
        return x in d, x in s

    assert (nan in {nan: 1}, nan in {nan}) == (True, True)
    assert found({nan: 1}, {nan}, nan) == (False, False)
    assert found({0.5: 1}, {0.5}, 0.5) == (True, True)


def keywords(**rest):
    return sum(rest.values()), rest.get("z"), sorted(rest)


def with_keywords(a):
    return keywords(x=a, y=2), keywords()


def with_special_names(d):
    d.__setitem__(9, 1)
    return max(d, key=d.__getitem__), d.__contains__(9), d.__len__(), sorted(d, key=d.get)


def test_keywords_and_special_names():
    agree(with_keywords, 1)
    agree(with_keywords, 1.5)
    agree(with_special_names, {1: 5, 2: 7})


class Key:
    """A key that is equal to an int, and whose comparison may have any effect."""

    def __init__(self, n, *, does=None):
        self.n, self.does = n, does

    def __hash__(self):
        return hash(self.n)

    def __eq__(self, other):
        does, self.does = self.does, None
        if does is not None:
            does()
        return other == self.n


def looked_up(d, k):
    return d[k]


def stored(d, k, v):
    d[k] = v
    return len(d)


def walked(d, visit):
    total = 0
    for k in d:
        total += k
        visit(k)
    return total


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "change", [lambda d: None, lambda d: d.clear(), lambda d: d.update(dict.fromkeys(range(99), 1))]
)
@pytest.mark.parametrize("n", [7, 8])
def test_a_comparison_that_changes_the_dict(change, n):
    for function, more in ((looked_up, ()), (stored, (5,))):
        found = []
        for one in (function, njit(function)):
            d = {8: 2}
            key = Key(7, does=lambda d=d: change(d))
            d = d if change(dict(d)) else d
            d[key] = 1
            key.does = lambda: change(d)
            found.append((outcome(one, d, n, *more), [k if isinstance(k, int) else "key" for k in d]))
        assert found[0] == found[1]


@pytest.mark.parametrize("visit", ["clear", "replace", "grow"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: {1: 1, 2: 2, 3: 3},
        lambda: {1, 2, 3},
        lambda: deque([1, 2, 3]),
        lambda: OrderedDict({1: 1, 2: 2}),
        lambda: defaultdict(int, {1: 1, 2: 2}),
    ],
)
def test_a_loop_whose_container_is_changed(make, visit):
    found = []
    for one in (walked, njit(walked)):
        held = make()

        def change(k, held=held):
            if visit == "clear":
                held.clear()
            elif isinstance(held, dict):
                if visit == "replace":
                    held.pop(k)
                held[k + 10] = 1
            else:
                if visit == "replace":
                    held.remove(k)
                (held.add if isinstance(held, set) else held.append)(k + 10)

        found.append((outcome(one, held, change), list(held)))
    assert found[0] == found[1]


def test_an_entry_of_an_empty_dict_has_no_parts():
    def divided(d):
        entry = d.popitem()
        return 3 // entry[1]

    agree(divided, {})
    agree(divided, {1: 2})


NUMBERS = ", ".join(f"{n}: {n % 7}" for n in range(20))
TEXTS = ", ".join(f"'k{n}': {n}" for n in range(20))
DISPLAYS = {  # the interpreter makes a display of more than 16 items in parts
    "ints": f"{{{NUMBERS}}}", "texts": f"{{{TEXTS}}}", "mixed": f"{{{TEXTS}, {NUMBERS}}}",
    "twice": f"{{{NUMBERS}, {NUMBERS}}}", "equal keys": "{1: 'a', True: 'b', 1.0: 'c', 2: 'd', 0: 'e'}",
    "zeros": "{0.0: 1, -0.0: 2, 5.5: 3, 6.5: 4}", "tuples": "{(1, 2): 3, (1, True): 4, ('a', 5): 6, (7,): 8, None: 9}",
    "values": f"{{{NUMBERS}, 50: x, {TEXTS}, 51: x + 1}}", "keys": f"{{{NUMBERS}, x: 1, {TEXTS}, 51: x + 1}}",
    "branches": f"{{{NUMBERS}, 50: 1 if x > 1 else 2, {TEXTS}}}",
    "unpacked": f"{{{NUMBERS}, **{{1: 8, 90: 9}}, {TEXTS}, **{{90: x, 91: 1}}}}",
    "named": f"{{{NUMBERS}, **(e := {{1: 8, 90: 9}}), **e, 92: len(e)}}",
    "assigned": f"{{{NUMBERS}, 3: (x := x + 1), 50: x, {TEXTS}, 51: x}}",
    "order": f"{{{NUMBERS}, Seen(1): Seen(2), Seen(3): (log.append(4), 5)[1], {TEXTS}, Seen(6): Seen(7)}}",
    "order at the end": f"{{Seen(1): Seen(2), {TEXTS}, **{{Seen(3): Seen(4), 2: Seen(5)}}, {NUMBERS}}}",
    "raises": f"{{{NUMBERS}, 50: 1 // x, {TEXTS}, 51: 1 // (x - 3)}}",
    "unhashable": f"{{{NUMBERS}, [x]: 1, {TEXTS}}}",
}


class Seen:
    """A key whose hash is seen."""

    def __init__(self, n):
        self.n = n
        log.append(n)

    def __hash__(self):
        log.append(-self.n)
        return self.n

    def __eq__(self, other):
        return type(other) is Seen and self.n == other.n


log: list = []


@pytest.mark.parametrize("use", ["return d", "return len(d), list(d), list(d.values())", "return d[1]",
                                 "d[77] = 5\n    return d, d.get(77)"])
@pytest.mark.parametrize("name", DISPLAYS)
def test_long_displays(name, use):
    if "order" in name and "d[" in use or name == "equal keys" and "77" in use:
        use = "return d"
    text = f"def f(x):\n    d = {DISPLAYS[name]}\n    {use}\n"
    namespace = globals()
    exec(compile(text, f"<display {name}>", "exec"), namespace)
    f = namespace.pop("f")
    compiled = jit(f)
    for x in (2, 0, 3):
        results = []
        for one in (f, compiled, compiled):
            log.clear()
            try:
                made = one(x)
            except Exception as e:
                made = type(e), str(e)
            results.append((repr_of(made), list(log)))
        assert results[0] == results[1] == results[2], (name, use, x)


def repr_of(value):
    if isinstance(value, dict):
        return [(repr_of(k), repr_of(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [repr_of(v) for v in value]
    return f"Seen({value.n})" if isinstance(value, Seen) else (type(value), repr(value))
