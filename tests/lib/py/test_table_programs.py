"""Small programs with dicts, sets and deques, as people write them, compared with the interpreter."""

from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

from tests.language.corpus import check, corpus, each

case, CASES = corpus()


@case(("The cat the dog a cat THE",))
def wordcount(text):
    c = {}
    for w in text.split():
        w = w.lower()
        c[w] = c.get(w, 0) + 1
    return sorted(c.items(), key=lambda kv: (-kv[1], kv[0]))[:3]


@case((["a b", "b c"],))
def index(docs):
    inv = defaultdict(set)
    for i, d in enumerate(docs):
        for w in d.split():
            inv[w].add(i)
    return {w: sorted(s) for w, s in inv.items()}


@case(({"a": {"b": 1, "c": 4}, "b": {"c": 2}, "c": {}}, "a"))
def dijkstra(g, s):
    dist = {s: 0}
    done = set()
    while True:
        best = None
        for v in dist:
            if v not in done and (best is None or dist[v] < dist[best]):
                best = v
        if best is None:
            return dist
        done.add(best)
        for w, c in g.get(best, {}).items():
            n = dist[best] + c
            if w not in dist or n < dist[w]:
                dist[w] = n


@case(([(1, 2), (3, 4), (2, 3)],))
def uf(pairs):
    p = {}

    def find(x):
        while p[x] != x:
            x = p[x]
        return x

    for a, b in pairs:
        p.setdefault(a, a)
        p.setdefault(b, b)
        p[find(a)] = find(b)
    return {x: find(x) for x in p}


@case((8,))
def sparse(n):
    m = {}
    for i in range(n):
        m.setdefault(i % 3, {})[i] = m.get(i % 3, {}).get(i - 3, 0) + i
    return m


@case((40,))
def memo_fib(n):
    memo = {}

    def f(k):
        if k < 2:
            return k
        if k not in memo:
            memo[k] = f(k - 1) + f(k - 2)
        return memo[k]

    return f(n)


@case(([("a", 1.0), ("b", 2.5), ("a", 3.0)],))
def groupby(rows):
    out = {}
    for name, v in rows:
        if name not in out:
            out[name] = [0, 0.0]
        out[name][0] += 1
        out[name][1] += v
    return {k: s / n for k, (n, s) in out.items()}


@case(([2, 7, 11, 15], 9), ([1, 2], 9))
def twosum(xs, t):
    seen = {}
    for i, x in enumerate(xs):
        j = seen.get(t - x)
        if j is not None:
            return (j, i)
        seen[x] = i
    return None


@case(([1, 2, 1, 3, 2, 1, 4], 2))
def lru(ops, cap):
    d = OrderedDict()
    out = []
    for k in ops:
        if k in d:
            d.move_to_end(k)
            out.append(1)
        else:
            out.append(0)
            d[k] = k
            if len(d) > cap:
                d.popitem(last=False)
    return (out, list(d))


@case(({(1, 0), (1, 1), (1, 2)}, 3))
def life(cells, steps):
    for _ in range(steps):
        n = Counter(((x + dx, y + dy) for x, y in cells for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy))
        cells = {c for c, k in n.items() if k == 3 or (k == 2 and c in cells)}
    return cells


@case(({(i, j): 0 if (i + j) % 5 else 1 for i in range(6) for j in range(6)}, (0, 1)))
def flood(grid, s):
    seen = {s}
    q = deque([s])
    while q:
        x, y = q.popleft()
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            p = (x + dx, y + dy)
            if p in grid and grid[p] == 0 and (p not in seen):
                seen.add(p)
                q.append(p)
    return len(seen)


@case(({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []},))
def toposort(g):
    indeg = dict.fromkeys(g, 0)
    for v in g:
        for w in g[v]:
            indeg[w] = indeg.get(w, 0) + 1
    q = deque((v for v in indeg if indeg[v] == 0))
    out = []
    while q:
        v = q.popleft()
        out.append(v)
        for w in g.get(v, []):
            indeg[w] -= 1
            if not indeg[w]:
                q.append(w)
    return out


@case((np.array([1, 2, 1]),))
def hist(a):
    d = {}
    for x in a.tolist() if False else a:
        d[int(x)] = d.get(int(x), 0) + 1
    return d


@case((np.arange(5.0),))
def summarize(a):
    return {"mean": a.mean(), "n": len(a), "max": float(a.max())}


@case(({"rate": 0.5, "bias": 2.0}, 3.0))
def usecfg(cfg, x):
    return x * cfg["rate"] + cfg["bias"]


@case(({"lr": 0.1, "n": 0.5},))
def params(p):
    p = dict(p)
    p["lr"] *= 0.1
    return p


@case(({"a": np.arange(3.0), "b": np.ones(2)},))
def dictofarr(d):
    out = {}
    for k, v in d.items():
        out[k] = v * 2
    return out


@case(({1, 2, 3},))
def powerset(s):
    out = [frozenset()]
    for x in sorted(s):
        out += [o | {x} for o in out]
    return (set(out), len(out))


@case((["abc", "cab", "xy"],))
def anagrams(ws):
    d = defaultdict(list)
    for w in ws:
        d["".join(sorted(w))].append(w)
    return list(d.values())


@case(({1, 2, 3}, {2, 3, 4}))
def jaccard(a, b):
    return len(a & b) / len(a | b)


@case(({1: 2}, 5), ({"a": 2}, "b"), ({(1, 2): 2}, (1, 3)))
def tryexc(d, k):
    try:
        return d[k]
    except KeyError as e:
        return (str(e), e.args)


@case((3,))
def nestedcomp(n):
    return ({i: {j for j in range(i)} for i in range(n)}, {(i, j): [i] * j for i in range(n) for j in range(2)})


@case(([1, 2, 3, 4], 2))
def window(xs, k):
    d = deque(maxlen=k)
    out = []
    for x in xs:
        d.append(x)
        out.append(sum(d) / len(d))
    return out


@case(({1: 2, 3: 4},))
def gen(d):

    def pairs():
        for k in d:
            yield (k, d[k])

    return sum((v for k, v in pairs()))


@case(({"a": [1]},))
def cp(d):
    import copy

    return (copy.copy(d), copy.deepcopy(d))


@case(({"a": 1, "b": 2},))
def unp(d):
    a, b = d
    (k, v), *r = d.items()
    return (a, b, k, v, r)


@case(({"a": 1},), ({},))
def cond(d):
    return ("yes" if d else "no", not d, bool(d) and len(d) > 1)


@case(({"a": 1, "b": 2},))
def rev(d):
    return (list(reversed(d)), list(reversed(d.items())), [v for v in reversed(d.values())])


@case(({1: 2, 3: 4},), ({},))
def sums(d):
    return (
        sum(d),
        sum(d.values()),
        min(d, default=0),
        sorted(d.values(), reverse=True),
        list(map(abs, d)),
        list(filter(None, d.values())),
        any((v > 1 for v in d.values())),
        list(zip(d, d.values())),
        dict(sorted(d.items(), key=lambda kv: -kv[1])),
    )


@case(({1: 2},))
def fz(d):
    return (frozenset(d.items()), hash(frozenset(d)) == hash(frozenset(d)), {frozenset({1}): 2}[frozenset({1})])


@case(({1, 2}, 1), ({"a"}, "b"))
def isin(s, x):
    return (x in s, x not in s, s.isdisjoint([x]))


@case(({"a": None, "b": 3},))
def noneval(d):
    return ([k for k, v in d.items() if v is not None], {k: v or 0 for k, v in d.items()})


@case()
def boolset():
    return ({True, False}, {True: "b"}, {None: 1}, {(): 2}, {b"x": 1})


@each(CASES)
def test_beside_the_interpreter(function, calls):
    check(function, calls)
