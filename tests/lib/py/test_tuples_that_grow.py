"""Tuples that grow in every trip of a loop or with every call, and max(*x), compared with the interpreter."""

from tests.language.corpus import check, corpus, each

case, CASES = corpus()


@case((4,), (0,))
def grow(n):
    t = ()
    for i in range(n):
        t += (i,)
    return (t, len(t), sum(t), t[1:], t == (0, 1, 2, 3))


@case((4,))
def grow2(n):
    t = (0.5,)
    while len(t) < n:
        t = t + (t[-1] * 2, t[0])
    return t


@case((4,), (0,))
def text(n):
    t = ()
    for i in range(n):
        if i % 2:
            t = t + (str(i),)
        else:
            t += (i,)
    return t


def dfs(graph, node, goal, path):
    if node == goal:
        return path
    for nxt in graph[node]:
        if nxt not in path:
            found = dfs(graph, nxt, goal, path + (nxt,))
            if found:
                return found
    return ()


@case(({0: [1, 2], 1: [3], 2: [3], 3: [4], 4: [0]},))
def search(graph):
    return dfs(graph, 0, 4, (0,))


def sub(xs, i, t):
    if i == len(xs):
        return [t]
    return sub(xs, i + 1, t) + sub(xs, i + 1, t + (xs[i],))


@case(([1, 2, 3],))
def subsets(xs):
    return sub(xs, 0, ())


@case(([1, 2, 3],), ([],), ([2.5],))
def mx(xs):
    return (max(*xs), min(*xs))


@case(([1, 5, 2],))
def among(xs):
    return (max(0, *xs), min(*xs, key=lambda x: -x), max(*xs, key=abs))


@case(([[1, 2], [3]],), ([],))
def cart(pools):
    found = [()]
    for pool in pools:
        found = [t + (x,) for t in found for x in pool]
    return found


@case((5,), (0,))
def in_a_dict(n):
    groups = {}
    for i in range(n):
        groups[i % 2] = groups.get(i % 2, ()) + (i,)
    return groups


@case((5,), (0,))
def added_in_a_dict(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 2, ())
        groups[i % 2] += (i, str(i))
    return groups


@case((5,), (0,))
def in_a_list(n):
    rows = [(), ()]
    for i in range(n):
        rows[i % 2] = rows[i % 2] + (i,)
    return rows


@each(CASES)
def test_tuples_that_grow(function, calls):
    check(function, calls)
