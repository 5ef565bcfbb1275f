"""Programs of lists as people write them: each does in compiled code what it does in the interpreter."""
import numpy as np
import pytest

from pyjitc import njit

from ...oracle import agree


@njit
def qs(items):
    if len(items) <= 1:
        return items
    p = items[0]
    return qs([x for x in items[1:] if x < p]) + [p] + qs([x for x in items[1:] if x >= p])


def quicksort(items):
    return qs(items)


@njit
def msort(items):
    n = len(items)
    if n < 2:
        return items[:]
    a = msort(items[:n // 2])
    b = msort(items[n // 2:])
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    out.extend(a[i:])
    out.extend(b[j:])
    return out


def merge_sort(items):
    return msort(items)


@njit
def perms(items):
    if len(items) == 0:
        return [[]]
    out = []
    for i in range(len(items)):
        for p in perms(items[:i] + items[i + 1:]):
            out.append([items[i]] + p)
    return out


def permutations(items):
    return perms(items)


@njit
def det(m):
    n = len(m)
    if n == 1:
        return m[0][0]
    s = 0.0
    for j in range(n):
        minor = [row[:j] + row[j + 1:] for row in m[1:]]
        s += (-1) ** j * m[0][j] * det(minor)
    return s


def determinant(m):
    return det(m)


def queens(n):

    def place(row, cols):
        if row == n:
            return 1
        c = 0
        for col in range(n):
            ok = True
            for r in range(row):
                if cols[r] == col or abs(cols[r] - col) == row - r:
                    ok = False
                    break
            if ok:
                cols.append(col)
                c += place(row + 1, cols)
                cols.pop()
        return c
    return place(0, [])


def components(n):
    adj = [[] for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            if i * j % 3 == 1:
                adj[i].append(j)
                adj[j].append(i)
    seen = [False] * n
    comps = []
    for s in range(n):
        if seen[s]:
            continue
        stack = [s]
        seen[s] = True
        comp = []
        while stack:
            u = stack.pop()
            comp.append(u)
            for v in adj[u]:
                if not seen[v]:
                    seen[v] = True
                    stack.append(v)
        comps.append(sorted(comp))
    return comps


def knapsack(w, v, c):
    dp = [[0] * (c + 1) for _ in range(len(w) + 1)]
    for i in range(1, len(w) + 1):
        for j in range(c + 1):
            dp[i][j] = dp[i - 1][j]
            if j >= w[i - 1]:
                dp[i][j] = max(dp[i][j], dp[i - 1][j - w[i - 1]] + v[i - 1])
    return dp[-1][-1]


def hull(pts):
    pts = sorted(pts)

    def half(ps):
        h = []
        for p in ps:
            while len(h) >= 2 and ((h[-1][0] - h[-2][0]) * (p[1] - h[-2][1])
                                   - (h[-1][1] - h[-2][1]) * (p[0] - h[-2][0]) <= 0):
                h.pop()
            h.append(p)
        return h
    return half(pts)[:-1] + half(pts[::-1])[:-1]


def pascal(n):
    rows = [[1]]
    for i in range(n):
        r = rows[-1]
        rows.append([1] + [r[j] + r[j + 1] for j in range(len(r) - 1)] + [1])
    return rows


def life(grid, steps):
    h, w = (len(grid), len(grid[0]))
    for _ in range(steps):
        new = [[0] * w for _ in range(h)]
        for i in range(h):
            for j in range(w):
                c = sum((grid[(i + a) % h][(j + b) % w] for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)))
                new[i][j] = 1 if c == 3 or (grid[i][j] and c == 2) else 0
        grid = new
    return grid


def compressed(s):
    out = []
    i = 0
    while i < len(s):
        best = (0, 0)
        for j in range(max(0, i - 20), i):
            k = 0
            while i + k < len(s) and s[j + k] == s[i + k]:
                k += 1
            if k > best[1]:
                best = (i - j, k)
        if best[1] > 2:
            out.append(best)
            i += best[1]
        else:
            out.append((0, ord(s[i])))
            i += 1
    return out


def evaluated(tokens):
    st = []
    for t in tokens:
        if t == "+":
            b = st.pop()
            a = st.pop()
            st.append(a + b)
        elif t == "*":
            b = st.pop()
            a = st.pop()
            st.append(a * b)
        else:
            st.append(float(t))
    return st.pop()


def fibonacci(n):
    fib = [0, 1]
    while len(fib) < n:
        fib.append(fib[-1] + fib[-2])
    return (fib, [x for x in fib if x % 2 == 0][-1], fib[::2])


def primes(n):
    primes = []
    for i in range(2, n):
        for p in primes:
            if p * p > i:
                primes.append(i)
                break
            if i % p == 0:
                break
        else:
            primes.append(i)
    return primes


def running(a):
    acc = []
    tot = 0.0
    for x in a:
        tot += x
        acc.append(tot)
    return (np.array(acc), max(acc), acc.index(max(acc)))


def pairs(items):
    res = []
    for i in range(len(items)):
        for j in range(i):
            res.append((items[i], items[j]))
    res.sort(key=lambda p: (p[1], -p[0]))
    return res[:3]


def union_find(n):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x
    for i in range(0, n - 2, 2):
        a, b = (find(i), find(i + 2))
        if a != b:
            parent[a] = b
    return [find(i) for i in range(n)]


def words(text):
    words = text.split()
    longest = max(words, key=len)
    return ([w.upper() for w in words if len(w) > 2], longest, " ".join(reversed(words)),
            sorted(words, key=lambda w: (len(w), w)))


def swapped(items):
    a = items
    a = a + [1]
    b = [*a]
    b[0], b[-1] = (b[-1], b[0])
    return (a, b)


def both_ends(n):
    x = []
    for i in range(n):
        x = x + [i] if i % 2 else [i] + x
    return x


def sums(m):
    return ([sum(r) for r in m], [list(c) for c in np.array(m).T.tolist()], sum([sum(r) for r in m]),
            max((max(r) for r in m)))


def memoised(n):
    memo = [None] * (n + 1)

    def f(k):
        if k < 2:
            return k
        if memo[k] is not None:
            return memo[k]
        r = f(k - 1) + f(k - 2)
        memo[k] = r
        return r
    return f(n)


def buckets(n):
    buckets = {}
    for i in range(n):
        buckets.setdefault(i % 3, []).append(i)
    return buckets


def odd(items):
    i = 0
    while i < len(items):
        if items[i] % 2 == 0:
            del items[i]
        else:
            i += 1
    return items


def table(n):
    tri = [[0] * 3 for _ in range(n)]
    for i, row in enumerate(tri):
        for j in range(3):
            row[j] += i * j
        row[0] = i * 0.5
    return tri


def reversed_in_place(items):
    out = [0] * len(items)
    for i, v in enumerate(items):
        out[len(items) - 1 - i] = v
    items[:] = out
    return items


PROGRAMS = (
    (quicksort, ([3, 1, 2, 5, 4],)),
    (merge_sort, ([3.5, 1.0, 2.0],)),
    (permutations, ([1, 2, 3],)),
    (determinant, ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]],)),
    (queens, (6,)),
    (components, (10,)),
    (knapsack, ([1, 3, 4], [15, 20, 30], 4)),
    (hull, ([(0.0, 0.0), (1.0, 1.0), (0.0, 2.0), (2.0, 0.0), (0.5, 0.5)],)),
    (pascal, (5,)),
    (life, ([[0, 1, 0], [0, 1, 0], [0, 1, 0]], 2)),
    (compressed, ("abcabcabcabcx",)),
    (evaluated, (["1", "2", "+", "3", "*"],)),
    (fibonacci, (10,)),
    (primes, (40,)),
    (running, (np.arange(4.0),)),
    (pairs, ([3, 1, 2],)),
    (union_find, (7,)),
    (words, ("the quick brown fox",)),
    (swapped, ([5, 6],)),
    (both_ends, (5,)),
    (sums, ([[1, 2], [3, 4]],)),
    (memoised, (20,)),
    (buckets, (7,)),
    (odd, ([1, 2, 3, 4],)),
    (table, (3,)),
    (reversed_in_place, ([1, 2, 3],)),
)


@pytest.mark.parametrize("function, args", PROGRAMS, ids=[function.__name__ for function, _ in PROGRAMS])
def test_program(function, args):
    agree(function, *args)
