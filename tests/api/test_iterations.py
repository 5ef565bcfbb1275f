"""Which elements the iterations of a parallel loop share, where arrays come from tuples or may be None, where tests
decide what an iteration accesses, and in slices. Compared with the interpreter, which runs the iterations in order."""
from collections import namedtuple

import numpy as np
import pytest
from tests.api.test_parallel import M, N, report
from tests.oracle import difference, outcome

from pyjitc import CompileError, RaceError, njit, prange

Pair = namedtuple("Pair", "first second")
COUNTS = np.random.default_rng(3).integers(0, 3, N)

# ---------------------------------------------------------------- arrays of tuples


def item(p, a, n, k):
    for i in prange(n):
        p[k][i] = a[i - 1]


def item_before_the_loop(p, a, n, k):
    o = p[k]
    for i in prange(n):
        o[i] = a[i - 1]


def item_that_is_read(p, a, n, k):
    for i in prange(n):
        a[i] = p[k][i - 1]


def item_that_each_iteration_picks(p, a, n, k):
    for i in prange(n):
        p[i % 2][i] = a[i - 1]


def all_items(p, a, n, k):
    for i in prange(n):
        for o in p:
            o[i] = a[i - 1]


def items_one_after_the_other(p, a, n, k):
    for o in p:
        for i in prange(n):
            o[i] = a[i - 1]


def item_of_an_item(p, a, n, k):
    q = a, p
    for i in prange(n):
        q[1][k][i] = a[i - 1]


def field(p, a, n, k):
    q = Pair(*p)
    for i in prange(n):
        q.first[i] = a[i - 1]


def two_that_may_be_none(p, a, n, k):
    o = None if n < k else p[0]
    b = None if n < 2 * k else a
    for i in prange(n):
        if o is not None and b is not None:
            o[i] = b[i - 1]


def sums(p, a, n, k):
    for i in prange(n):
        p[k][i] += a[i - 1]


def item_of_either_tuple(p, a, n, k):
    q = a, a[::-1]
    b = q[k]
    for i in prange(n):
        p[k][i] = b[i - 1]


@njit
def stored(p, a, i, k):
    p[k][i] = a[i - 1]


def in_a_function(p, a, n, k):
    for i in prange(n):
        stored(p, a, i, k)


def in_a_closure(p, a, n, k):
    def change(i):
        p[k][i] = a[i - 1]

    for i in prange(n):
        change(i)


@pytest.mark.parametrize("shape", ["alike", "mixed"])
@pytest.mark.parametrize("function", [
    item, item_before_the_loop, item_that_is_read, item_that_each_iteration_picks, all_items, items_one_after_the_other,
    item_of_an_item, field, two_that_may_be_none, sums, item_of_either_tuple, in_a_function, in_a_closure])
@pytest.mark.filterwarnings("ignore::pyjitc.ParallelWarning")
def test_an_array_of_a_tuple_may_share_memory_with_another(function, shape):
    compiled = njit(parallel=True)(function)
    for way in ("one", "after", "before", "apart"):
        for k in (0, 1):
            results = []
            for run in (function, compiled):
                memory = np.arange(4.0 * N)
                o = memory[1:N + 1]
                a = {"one": o, "after": memory[2:N + 2], "before": memory[:N], "apart": memory[2 * N:3 * N]}[way]
                # both items share memory with `a`, where anything does, but no element is in both
                p = (o[:N // 2], o[N // 2:]) if shape == "alike" else (o[:N // 2], o[:N // 2 - 1:-1])
                run(p, a, N // 2, k)
                results.append(memory)
            np.testing.assert_array_equal(*results, err_msg=f"{way} {k}")


@pytest.mark.parametrize("function", [
    item, item_before_the_loop, item_that_is_read, item_that_each_iteration_picks, all_items, item_of_an_item, field,
    two_that_may_be_none, sums, in_a_function, in_a_closure])
def test_loops_over_arrays_of_tuples_run_on_several_threads(function):
    found = report(function, (np.zeros(N), np.zeros(N)), np.zeros(N), N, 0)
    assert found and all([line.startswith("the loop over prange runs on several threads") for line in found])


# ---------------------------------------------------------------- accesses of some iterations


def even_and_odd(o):
    for i in prange(1, len(o) - 1):
        if i % 2:
            o[i - 1] = i
        else:
            o[i + 1] = i
    return o


def as_many_as_data_say(o):
    for i in prange(len(o) - 3):
        for j in range(COUNTS[i]):
            o[i + j] = i
    return o


def some_that_data_choose(o):
    for i in prange(len(o) - 1):
        if COUNTS[i] == 2 and COUNTS[i + 1] == 0:
            o[i] = o[i + 1] + 1
    return o


def either_of_two_tests(o):
    for i in prange(len(o) - 1):
        if COUNTS[i] > 1 or COUNTS[i + 1] > 1:
            o[i] = o[i + 1] * 2
    return o


def left_before_its_end(o):
    for i in prange(len(o) - 9):
        for j in range(8):
            if COUNTS[i] < 2:
                break
            o[i + j] = j
    return o


def first_and_last(o):
    ends = np.zeros(2)
    for i in prange(len(o)):
        if i == 0:
            ends[0] = o[0]
        elif i == len(o) - 1:
            ends[1] = o[i]
        o[i] = i
    return o, ends


def row_in_one_iteration(o):
    table = np.zeros((2, 4))
    for i in prange(len(o)):
        if i == 3:
            for j in range(4):
                table[0, j] = o[j]
        o[i] += 1
    return o, table


def pairs(o):
    for i in prange(len(o) // 2):
        o[2 * i:2 * i + 2] = i
    return o


def neighbours_by_slices(o):
    for i in prange(len(o) - 1):
        o[i:i + 2] = i
    return o


def single_elements_by_slices(o):
    for i in prange(len(o)):
        o[i:i + 1] = i
    return o


def every_second_by_slices(o):
    for i in prange(0, len(o), 2):
        o[i:i + 2] = -i
    return o


SEVERAL = [even_and_odd, first_and_last, row_in_one_iteration, pairs, single_elements_by_slices, every_second_by_slices]


@pytest.mark.parametrize("function", [
    *SEVERAL, as_many_as_data_say, some_that_data_choose, either_of_two_tests, left_before_its_end,
    neighbours_by_slices])
@pytest.mark.filterwarnings("ignore::pyjitc.ParallelWarning")
def test_what_some_iterations_access(function):
    given = np.linspace(-1, 1, N)
    expected = outcome(function, (given,))
    compiled = njit(parallel=True)(function)
    for _ in range(3):
        assert not difference(expected, outcome(compiled, (given,)))
    if function in SEVERAL:
        assert [line.startswith("the loop over prange runs on several threads") for line in report(function, given)][0]


def all_but_the_first(o):
    for i in prange(len(o)):
        if i > 0:
            o[i] += o[i - 1]


def where_rows_are_long(o):
    for i in prange(o.shape[0] - 1):
        if o.shape[1] > 3:
            o[i, 0] = o[i + 1, 0]


def in_every_iteration_one_way_or_another(o):
    for i in prange(len(o) - 1):
        if COUNTS[i] > 1:
            o[i] = o[i + 1]
        else:
            o[i] = o[i + 1] - 1


def each_to_the_same(o):
    for i in prange(len(o)):
        if i != 5:
            o[0] = i


@pytest.mark.parametrize("function, argument", [
    (all_but_the_first, M[0]), (where_rows_are_long, M), (in_every_iteration_one_way_or_another, M[0]),
    (each_to_the_same, M[0])])
def test_what_nearly_all_iterations_share_is_refused(function, argument):
    with pytest.raises(CompileError, match="iteration of a parallel loop (reads|writes) (an|the same) elements? of"):
        njit(parallel=True)(function)(argument)


def statements_over_rows(n):
    converted = np.ones((4, n), np.int32).astype(np.float64)
    turned = np.asfortranarray(np.arange(4 * n).reshape(4, n))
    total = 0.0
    for i in prange(4):
        total += converted[i].sum() + turned[i, 1] + np.ones((2, 3), np.int8).astype(np.float32)[1, 2]
    return total


def rows_in_places(o, a, places):
    for i in prange(len(places)):
        o[places[i]] = a[i]


def columns_beside(o, a, places):
    for i in prange(len(places)):
        s = 0.0
        for j in range(o.shape[0]):
            s += o[j, i]
            if j == places[i]:
                o[j, (i + 1) % 4] = s


def test_races_are_found_in_rows_and_columns():
    """Loops over the rows of contiguous arrays make one trip, and those down columns count in bytes."""
    assert njit(parallel=True, debug="races")(statements_over_rows)(3) == statements_over_rows(3)
    for function, apart, meeting in ((rows_in_places, [2, 0, 1], [2, 0, 2]), (columns_beside, [9, 9, 9], [9, 5, 6])):
        watched = njit(parallel=True, debug="races")(function)
        watched(np.ones((7, 4)), np.ones((7, 4)), np.array(apart))
        with pytest.raises(RaceError, match=r"iteration [01] writes .*\[.*\] at line \d+, and iteration 2 "):
            watched(np.ones((7, 4)), np.ones((7, 4)), np.array(meeting))
