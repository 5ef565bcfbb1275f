"""How many chunks a parallel loop has: by the work of its iterations, where that is known or follows from lengths."""
import numpy as np
import pytest

from pyjitc import njit, prange
from pyjitc.base.options import Options
from pyjitc.ir import interp
from pyjitc.pipeline import stages
from pyjitc.types.typeof import typeof


class Divided(Exception):
    """Raised where a region starts."""


class Machine(interp._Machine):
    def __init__(self):
        super().__init__(1 << 40)
        self.shapes = []  # of new arrays

    def do_array_new(self, inst, *shape):
        self.shapes.append(shape)
        return super().do_array_new(inst, *shape)

    def do_invoke(self, inst, *args):
        if "chunks" in inst.attrs:
            raise Divided(args[0], args[1])
        return super().do_invoke(inst, *args)


def until_divided(function, *args) -> tuple[Machine, Divided]:
    """Run a function until its first parallel loop starts."""
    options = Options(parallel=True)
    functions = stages.optimise(stages.infer(function, tuple(map(typeof, args)), options).functions, options)
    machine = Machine()
    with pytest.raises(Divided) as found:
        machine.call(functions[0], [interp.enter(x, p.type) for x, p in zip(args, functions[0].entry.params)])
    return machine, found.value


def divided(function, *args) -> tuple[int, bool]:
    """(the number of chunks of the first parallel loop, whether they are short)"""
    return until_divided(function, *args)[1].args


def sums_of_squares(out, n):
    for i in prange(len(out)):
        s = 0.0
        for j in range(n):
            s += float(j) * j
        out[i] = s


def triangle(out, n):
    for i in prange(len(out)):
        s = 0.0
        for j in range(i * n):
            for k in range(j):
                s += float(j) * k
        out[i] = s


def rows_of_unknown_length(out, ends):
    for i in prange(len(out)):
        s = 0.0
        for j in range(ends[i], ends[i + 1]):
            s += float(j)
        out[i] = s


def halvings(out, n):
    for i in prange(len(out)):
        left, steps = n, 0
        while left > 1:
            left = left // 2 if left % 2 == 0 else 3 * left + 1
            steps += 1
        out[i] = steps


def histogram_in_parts(a, bins):
    counts = np.zeros(bins, np.int64)
    for part in prange(64):
        own = np.zeros(bins, np.int64)
        for i in range(part * len(a) // 64, (part + 1) * len(a) // 64):
            own[int(a[i] * bins)] += 1
        counts += own
    return counts


def plain_histogram(a, bins):
    counts = np.zeros(bins, np.int64)
    for i in prange(len(a)):
        counts[int(a[i] * bins)] += 1
    return counts


@pytest.mark.parametrize("trips", [2, 3, 8])
def test_few_iterations_of_much_work_are_a_chunk_each(trips):
    assert divided(sums_of_squares, np.zeros(trips), 1 << 20) == (trips, False)


def test_few_iterations_of_little_work_are_one_chunk():
    assert divided(sums_of_squares, np.zeros(20), 3)[0] == 1
    assert divided(sums_of_squares, np.zeros(0), 1 << 20)[0] == 1  # which does nothing


def test_an_empty_inner_loop_and_a_huge_one():
    assert divided(sums_of_squares, np.zeros(8), -5)[0] == 1
    assert divided(sums_of_squares, np.zeros(8), (1 << 63) - 1) == (8, False)


def test_iterations_of_the_same_work_are_shared_evenly():
    assert divided(sums_of_squares, np.zeros(20), 1 << 20) == (7, False)
    assert divided(sums_of_squares, np.zeros(8000), 10) == (8, True)


def test_iterations_of_different_work_are_many_chunks():
    assert divided(triangle, np.zeros(200), 50) == (200, False)  # the last iteration has twice the work of the average
    assert divided(triangle, np.zeros(20), 1)[0] == 1


@pytest.mark.parametrize("function, argument", [(rows_of_unknown_length, np.arange(5001)), (halvings, 27)])
def test_iterations_of_unknown_work_are_all_tried(function, argument):
    assert divided(function, np.zeros(4), argument) == (4, False)
    assert divided(function, np.zeros(40), argument) == (14, True)
    assert divided(function, np.zeros(5000), argument)[0] >= 16


def test_copies_of_an_array_are_a_small_part_of_the_work():
    assert divided(histogram_in_parts, np.zeros(1_000_000), 100)[0] == 64
    assert divided(histogram_in_parts, np.zeros(1000), 100)[0] <= 4
    assert divided(histogram_in_parts, np.zeros(100_000), 100_000)[0] <= 8
    assert divided(plain_histogram, np.zeros(100_000), 10)[0] >= 4
    assert divided(plain_histogram, np.zeros(100_000), 20_000)[0] == 1


def added_to(counts, a):
    for i in prange(len(a)):
        counts[int(a[i] * len(counts))] += 1


def test_a_single_chunk_adds_to_an_array_without_a_copy():
    assert until_divided(plain_histogram, np.zeros(100), 20)[0].shapes == [(20,)]
    assert until_divided(plain_histogram, np.zeros(0), 20)[0].shapes == [(20,)]
    machine, region = until_divided(plain_histogram, np.zeros(100_000), 20)
    assert machine.shapes == [(20,), (region.args[0], 20)]
    # the arguments may be views of one array, of which iterations then read what others have added
    assert until_divided(added_to, np.zeros(20), np.zeros(100))[0].shapes == []


def items_that_there_may_be(n, m):
    total = 0
    x = [1] * m if m else None
    for i in prange(n):
        if x is not None:
            for j in range(len(x)):
                total += i + j
    return total


def test_the_length_of_what_is_no_list_is_not_read():
    compiled = njit(parallel=True)(items_that_there_may_be)
    assert [compiled(3, 4), compiled(3, 0)] == [30, 0]
