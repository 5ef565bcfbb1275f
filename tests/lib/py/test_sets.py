"""Sets, deques and the dicts of collections, compared with the interpreter."""

from collections import ChainMap, Counter, OrderedDict, defaultdict, deque  # noqa: F401

import numpy as np
import pytest

from pyjitc import TypingError, njit
from tests.language.corpus import check, corpus, each
from tests.oracle import agree

case, CASES = corpus()


@case(({1, 2}, 3), ({1, 2}, 2), ({"a"}, "b"), (set(), 1), ({(1, 2)}, (3, 4)), ({1}, "x"), ({1}, 2.5), ({1}, [1]))
def s_add(s, x):
    s.add(x)
    return (s, x in s, len(s))


@case(({1, 2, 3}, {2, 3, 4}), ({1, 2, 3}, {2.0, "a"}), ({1}, frozenset({1, 2})), (frozenset({1, 5}), {1}), (set(), {1}))
def s_ops(a, b):
    return (a | b, a & b, a - b, a ^ b, a <= b, a < b, a >= b, a == b, a != b, a.isdisjoint(b))


@case(({1, 2, 3}, {2, 3, 4}), ({1, 2, 3}, [2, 3, 9]), ({1}, (1, 2.5)), (frozenset({1, 5}), {1}), ({"a", "b"}, "abc"))
def s_meth(a, b):
    return (
        a.union(b),
        a.intersection(b),
        a.difference(b),
        a.symmetric_difference(b),
        a.issubset(b),
        a.issuperset(b),
        a.copy(),
    )


@case(({1, 2, 3}, {2, 3, 4}), ({1, 2, 3}, [2, 3, 9]))
def s_upd(a, b):
    a.update(b)
    x = a.copy()
    a.difference_update(b)
    a.symmetric_difference_update([7, 8])
    a.intersection_update({7})
    return (a, x)


@case(({1, 2, 3}, {2, 3, 4}, {1}))
def s_iop(a, b, c):
    a |= b
    a -= c
    d = a
    d &= {1, 2, 3, 4, 5, 6, 7, 8}
    a ^= {100}
    return (a, d is a)


@case(({1, 2}, 2), ({1, 2}, 3), ({(1, 2)}, (1, 3)), ({"a"}, "a"))
def s_rem(s, x):
    s.remove(x)
    return s


@case(({1, 2}, 2), ({1, 2}, 3), ({"a"}, "b"))
def s_disc(s, x):
    s.discard(x)
    return s


@case(({5},), (set(),), ({1, 2, 3},))
def s_pop(s):
    return (s.pop(), s)


@case(({5, 100, 2, 9, 33},), (set(),))
def s_iter(s):
    t = 0
    for x in s:
        t = t * 7 + x
    return t


@case(({5, 100, 2, 9, 33},))
def s_chg(s):
    for x in s:
        s.add(x + 1)


@case(([1, 2, 2, -3],), ((1, 2),), ({4: 5},))
def s_ctor(a):
    return (
        set(a),
        frozenset(a),
        set(),
        frozenset(),
        set((x + 1 for x in a)),
        set(range(5)),
        set("hello"),
        set(map(abs, a)),
    )


@case((5,), (40,))
def s_comp(n):
    return ({(i, i % 2) for i in range(n)}, {i for i in range(n)})


@case(([1, 2],))
def fz(a):
    return (hash(frozenset(a)) == hash(frozenset(a)), {frozenset(a): 1}, frozenset(a) in {frozenset(a)})


@case(([1, 2, 1, 3],))
def seen(xs):
    s = set()
    out = []
    for x in xs:
        if x not in s:
            s.add(x)
            out.append(x)
    return out


@case((50,))
def sieve(n):
    s = set(range(2, n))
    for i in range(2, n):
        if i in s:
            s -= set(range(i * i, n, i))
    return (sorted(s), s)


@case(({1, 5, 3},))
def ssum(s):
    return (sum(s), max(s), min(s), len(s), list(s), sorted(s), any(s), bool(s))


@case((3,))
def sd(s):
    return (3 in {1, 2, 3}, s in {1, 2, 3}, [x for x in {1, 2, 3}])


@case(({1, 2, 3}, [2], (3,)))
def multi(a, b, c):
    return (a.union(b, c), a.intersection(b, c), a.difference(b, c), a.union())


@case(({1}, 10))
def gensu(a, n):
    a.update((i * i for i in range(n)))
    return (a, a.union((i for i in range(3))), a.issubset(range(100)), a.issuperset((i for i in range(2))))


@case((4,))
def dq(n):
    d = deque()
    for i in range(n):
        d.append(i)
        d.appendleft(-i)
    a = d.pop()
    b = d.popleft()
    d.rotate(2)
    d.extend([5, 6])
    d.extendleft((7, 8))
    d.reverse()
    return (d, a, b, len(d), d[0], d[-1], list(d), sum(d), 5 in d, d.count(5), d.index(6))


@case(([1, 2, 3], 3), ([1, 2, 3], None))
def dqm(a, m):
    d = deque(a, maxlen=m)
    d.append(9)
    return (d, d.maxlen, d.copy(), d == d.copy())


@case((deque([1, 2, 3]), 1), (deque([1, 2, 3]), 9))
def dqi(d, i):
    d[i] = 5
    del d[0]
    d.insert(1, 7)
    d.remove(7)
    return d


@case(({0: [1, 2], 1: [3], 2: [3], 3: []}, 0))
def bfs(g, s):
    q = deque([s])
    dist = {s: 0}
    while q:
        u = q.popleft()
        for v in g[u]:
            if v not in dist:
                dist[v] = dist[u] + 1
                q.append(v)
    return dist


@case((deque(),), (deque([1]),))
def dqpop(d):
    return d.pop()


@case((deque([1]),))
def dqit(d):
    for x in d:
        d.append(1)


@case((3,))
def dqt(n):
    d = deque([(0, "a")])
    d.append((n, "b"))
    return (d.popleft(), d)


@case(("abca",), (["x", "y"],))
def ctr(a):
    c = Counter(a)
    c.update(a)
    c["x"] += 1
    return (c, c.most_common(), c.most_common(1), c["zz"], c.total(), sorted(c.elements()))


@case((Counter("abc"), Counter("bcd")))
def ctr2(a, b):
    return (a + b, a - b, a & b, a | b, +a, -a, a == b, a <= b)


@case(([1, 2, 1],))
def ctr3(xs):
    c = Counter()
    for x in xs:
        c[x] += 1
    c.subtract([1, 1, 1])
    del c[99]
    return (c, c[1000], Counter((x % 2 for x in xs)), Counter(a=1, b=2), Counter({1: 5}))


@case((Counter("ab"),))
def ctr4(c):
    c += Counter(a=1)
    return c


@case((6,))
def od(n):
    d = OrderedDict()
    for i in range(n):
        d[i] = i * i
    d.move_to_end(0)
    d.move_to_end(2, last=False)
    x = d.popitem()
    y = d.popitem(last=False)
    return (d, x, y, list(d), list(d.items()), list(d.values()), [k for k in d], list(reversed(d)), d.pop(3), d)


@case((OrderedDict(a=1),))
def od2(d):
    d["z"] = 1
    d.setdefault("y", 2)
    d.update(a=5)
    return (d, d == OrderedDict(d), OrderedDict([(1, 2)]), OrderedDict(zip([1, 2], [3, 4])))


@case(
    (defaultdict(int, {1: 2}), 1),
    (defaultdict(int, {1: 2}), 5),
    (defaultdict(int), 5),
    (defaultdict(float), 5),
    (defaultdict(None, {1: 2}), 7),
)
def dd1(d, k):
    d[k] += 1
    return d


@case((5,))
def dd2(n):
    d = defaultdict(lambda: 7)
    e = defaultdict(lambda: [0, 0])
    f = defaultdict(set)
    g = defaultdict(dict)
    for i in range(n):
        d[i] += i
        e[i % 2][0] += i
        f[i % 2].add(i)
        g[i % 2][i] = 1
    return (dict(d), dict(e), f, g)


@case((5,))
def dd3(n):
    d = defaultdict(lambda: defaultdict(int))
    for i in range(n):
        d[i % 2][i] += 1
    return {k: dict(v) for k, v in d.items()}


def mk():
    return 3.5


@case((5,))
def dd4(n):
    d = defaultdict(mk)
    x = d[n]
    return (d, x, d.get(99), 99 in d)


@case((["a", "bb", "c"],))
def cnt(words):
    d = defaultdict(list)
    for w in words:
        d[len(w)].append(w)
    return (sorted(d.items()), d)


@case()
def a_set_of_three_constants():
    found = {2, 0, 7}
    total = 0
    for x in found:
        total += x
    return total, found


@each(CASES)
def test_beside_the_interpreter(function, calls):
    check(function, calls)


@pytest.mark.parametrize("x", [[3], [], {}, ([3],), (3, {}), bytearray(b"3"), np.zeros(2)], ids=repr)
def test_what_has_no_hash_is_in_no_set_of_constants(x):
    def f(x):
        return x in {1, 2, 3}

    with pytest.raises(TypeError) as wanted:
        f(x)
    with pytest.raises(TypingError) as found:
        njit(f)(x)
    assert found.value.diagnostic.message == str(wanted.value)


@pytest.mark.parametrize("x", [{3}, (3,), frozenset([1]), None, "a"], ids=repr)
def test_what_has_a_hash_is_looked_up_in_a_set_of_constants(x):
    agree(lambda x: x in {1, 2, 3}, x)
