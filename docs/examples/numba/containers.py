"""Typed lists and dicts, empty ones of a declared type, nested ones, sets, tuples, named tuples, lists of Python."""
from collections import namedtuple

import numpy as np
from numba import float64, int64, njit, prange, typed, types, typeof
from numba.typed import Dict, List

Point = namedtuple("Point", "x y")
FLOAT_ARRAY = types.float64[:]


@njit
def primes_below(n):
    found = List.empty_list(int64)
    for k in range(2, n):
        for p in found:
            if k % p == 0:
                break
        else:
            found.append(k)
    return found


@njit
def word_count(words):
    counts = Dict.empty(key_type=types.unicode_type, value_type=types.int64)
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


@njit
def particles():
    d = Dict.empty(key_type=types.unicode_type, value_type=FLOAT_ARRAY)
    d["posx"] = np.asarray([1, 0.5, 2], dtype="f8")
    d["posy"] = np.asarray([1.5, 3.5, 2], dtype="f8")
    d["velx"] = np.asarray([0.5, 0, 0.7], dtype="f8")
    return d


@njit
def moved(d):
    d["posx"] += d["velx"] * 2.0
    total = 0.0
    for k, v in d.items():
        total += v.sum() * len(k)
    return total


@njit
def ragged(n):
    rows = List()
    for i in range(n):
        row = List()
        for j in range(i + 1):
            row.append(j * 1.5)
        rows.append(row)
    return rows


@njit
def total_of_rows(rows):
    return sum([sum(row) for row in rows])


@njit
def centre(points):
    x = y = 0.0
    for p in points:
        x += p.x
        y += p.y
    return Point(x / len(points), y / len(points))


@njit
def unique(a):
    seen, order = set(), []
    for x in a:
        if x not in seen:
            seen.add(x)
            order.append(x)
    return order, len(seen), seen & {1, 2, 3}


@njit
def swapped(pair):
    a, b = pair
    return b, a, (a, (b, a))


@njit
def stack_operations(items):
    items.append(10)
    items.insert(0, 20)
    last = items.pop()
    items.extend([1, 2, 3])
    items.remove(2)
    items.reverse()
    items.sort()
    return last, items.index(3), items.count(1), items[1:3], len(items)


@njit(parallel=True)
def spread(n):
    out = np.zeros(n, np.int64)
    for i in prange(n):
        items = (i, i + 1, i * i)
        out[i] = max(items) - len(items)
    return out


def main():
    assert list(primes_below(30)) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    words = typed.List()
    for word in "the cat and the dog and the bird".split():
        words.append(word)
    assert dict(word_count(words)) == {"the": 3, "cat": 1, "and": 2, "dog": 1, "bird": 1}
    d = particles()
    assert abs(moved(d) - (5.9 + 7.0 + 1.2) * 4) < 1e-9 and sorted(d) == ["posx", "posy", "velx"]
    np.testing.assert_allclose(d["posx"], [2, 0.5, 3.4])
    rows = ragged(4)
    assert [len(row) for row in rows] == [1, 2, 3, 4] and total_of_rows(rows) == 1.5 * (0 + 1 + 3 + 6)
    assert centre(List([Point(0.0, 1.0), Point(2.0, 5.0)])) == Point(1.0, 3.0)
    order, count, common = unique(np.array([3, 1, 3, 2, 1]))
    assert order == [3, 1, 2] and count == 3 and common == {1, 2, 3}
    assert swapped((1, 2.5)) == (2.5, 1, (1, (2.5, 1)))
    items = List([4, 5])
    last, index, ones, part, size = stack_operations(items)
    assert (last, index, ones, list(part), size) == (10, 1, 1, [3, 4], 5) and list(items) == [1, 3, 4, 5, 20]
    assert spread(4).tolist() == [-2, -1, 1, 6]
    empty = Dict.empty(types.int64, types.ListType(float64))
    empty[3] = List([1.0, 2.0])
    assert list(empty[3]) == [1.0, 2.0] and 4 not in empty and len(List.empty_list(types.unicode_type)) == 0
    assert isinstance(typeof(items), (types.ListType, types.List))


if __name__ == "__main__":
    main()
