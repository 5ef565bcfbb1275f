"""heapq and bisect over lists."""
import bisect
import heapq

import numpy as np
import pytest

from pyjitc import CompileError, njit

from ...oracle import agree


def ordered(x):
    heap = []
    for item in x:
        heapq.heappush(heap, item)
    return [heapq.heappop(heap) for _ in range(len(heap))]


def others(x):
    heapq.heapify(x)
    return (heapq.heapreplace(x, 2), heapq.heappushpop(x, 0), x, heapq.nsmallest(2, x), heapq.nlargest(2, x),
            heapq.nlargest(3, x, key=lambda v: -v), heapq.nsmallest(-1, x), heapq.nsmallest(50, x))


def places(x, item):
    return (bisect.bisect_left(x, item), bisect.bisect(x, item), bisect.bisect_right(x, item, 1),
            bisect.bisect_left(x, item, 0, 1), bisect.bisect_left(x, -item, key=lambda v: -v))


def inserted(x, item):
    bisect.insort(x, item)
    bisect.insort_left(x, item, 0, 1)
    bisect.insort_right(x, item, key=lambda v: v * 2)
    return x


def shortest(n):
    heap, seen, out = [(0.0, 0)], [False] * n, []
    while heap:
        distance, i = heapq.heappop(heap)
        if seen[i]:
            continue
        seen[i] = True
        out.append((i, distance))
        for j in (2 * i + 1, 2 * i + 2, (i * 7) % n):
            if j < n:
                heapq.heappush(heap, (distance + 1.5 * j, j))
    return out


@pytest.mark.parametrize("x", [[3, 1, 2], [2.5, 1], [(1, "b"), (1, "a")], [], ["b", "a"], [1, 2.5, 0]], ids=repr)
def test_heaps(x):
    agree(ordered, x)


def test_other_functions_of_heaps():
    for x in ([3, 5, 1, 4], [3.5, 1.0], [7]):
        agree(others, x)
    agree(lambda x: heapq.heappop(x), [])
    agree(shortest, 12)


def test_bisection():
    for x, item in (([1, 2, 2, 3], 2), ([1.0, 2.5], 3), ([], 1), ([1, 2.5, 4], 2.5), ([5], 5.0)):
        agree(places, x, item)
        agree(inserted, x, item)
    agree(places, np.arange(4.0), 2.0)
    agree(lambda x: bisect.bisect(x, 1, -1), [1, 2])
    agree(lambda x: bisect.bisect(x, ("b", 0)), [("a", 1), ("b", 2)])


def inserted_in_an_empty_list(x, i):
    kept, numbers = [], [n for n in (1, 2) if n > 5]
    bisect.insort(kept, x[i])
    return kept, bisect.bisect(numbers, x[i]), bisect.bisect_left(numbers, x[i])


def all_inserted(x, i):
    kept = []
    try:
        for item in x[i:]:
            bisect.insort(kept, item)
    except TypeError as error:
        return kept, str(error)
    return kept


class Ranked:
    def __init__(self, rank):
        self.rank = rank

    def __lt__(self, other):
        return self.rank < other.rank


def ranks(numbers):
    kept = []
    for n in numbers:
        bisect.insort(kept, Ranked(n))
    return [r.rank for r in kept], bisect.bisect_left(kept, Ranked(2))


@pytest.mark.parametrize("function", [inserted_in_an_empty_list, all_inserted])
def test_items_that_cannot_be_compared_raise_where_they_meet(function):
    compiled = njit(function)
    for i in (0, 1, 2):
        agree(function, ["b", 1, 2], i, compiled=compiled)
    agree(function, [2.5, 1, 2], 0)


def test_bisection_of_objects():
    agree(ranks, [3, 1, 2])
    agree(ranks, [])


@pytest.mark.parametrize("n", [1.0, 2.2, 3.0, 0.0, float("inf"), np.float32(1), np.float32(2)], ids=repr)
def test_a_float_is_no_number_of_items_unless_it_is_one(n):
    for x in ([3, 1, 2], [3.5]):
        agree(lambda n, x: heapq.nlargest(n, x), n, x)
        agree(lambda n, x: heapq.nsmallest(n, x, key=lambda v: -v), n, x)


def test_what_is_no_heap_is_said():
    with pytest.raises(CompileError, match="heap argument must be a list, not tuple"):
        njit(lambda x: heapq.heappop(x))((1, 2))


def kept(items, pops):
    heap, taken, states = [], [], []
    for i in range(len(items)):
        heapq.heappush(heap, items[i])
        states.append(list(heap))
        if pops[i]:
            taken.append(heapq.heappop(heap))
            states.append(list(heap))
    while heap:
        taken.append(heapq.heappop(heap))
    return taken, states


class Job:
    def __init__(self, cost):
        self.cost = cost

    def __lt__(self, other):
        return self.cost < other.cost


_R = np.random.default_rng(3)
_INTS, _FLOATS = _R.integers(0, 20, 150).tolist(), _R.random(150).tolist()
_POPS = (_R.random(150) < 0.4).tolist()


@pytest.mark.parametrize("items", [
    _INTS, _FLOATS, _R.integers(-2**60, 2**60, 150).tolist(), _R.integers(-2**62, 2**62, 150).tolist(),
    list(zip(_INTS, _FLOATS)), [("ab"[i % 2], i, "xyz\u20ac"[i % 4] * (i % 3)) for i in _INTS],
    ["abcd"[i % 4] * i for i in _INTS], [((i, 1), 2) for i in _INTS], [(0.0 if i % 2 else -0.0, i) for i in _INTS],
    [i if i % 3 else i + 0.5 for i in _INTS], [x if i % 5 else float("nan") for i, x in enumerate(_FLOATS)],
    [True, False, True], [[2, 1], [1], []]], ids=range(13))
def test_heaps_have_their_items_where_heapq_has_them(items):
    compiled = agree(kept, items, _POPS)
    text = str(compiled.inspect_ir())
    assert "heap_push" in text and "heap_pop" in text and "py_call" not in text


def test_a_heap_of_objects_of_the_program_asks_them():
    agree(lambda: [job.cost for job in (lambda h: [heapq.heappush(h, Job(c)) for c in (3, 1, 2)] and h)([])])

    def least(costs):
        heap = []
        for c in costs:
            heapq.heappush(heap, Job(c))
        return [heapq.heappop(heap).cost for _ in range(len(costs))]

    agree(least, [5, 3, 9, 1])


def test_a_heap_whose_items_have_no_order():
    def push(heap, item):
        heapq.heappush(heap, item)

    def pop(heap):
        return heapq.heappop(heap)

    agree(push, [1, 2], "a")
    agree(pop, [])
    agree(pop, [1, "a", 2, 0])
