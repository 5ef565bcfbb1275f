"""Loops in a nest that get guards of their own behind the guard of the nest, beside the interpreter: what has been
stored before an exception, and rows whose bounds come from memory."""
import numpy as np
from tests.ir.stages import optimised
from tests.oracle import agree

from pyjitc import njit
from pyjitc.ir.cfg import LoopNest
from pyjitc.ops.control import BRANCH


def solved(starts, columns, values, x, y, steps):
    n = len(starts) - 1
    found = np.zeros(len(y))
    for _ in range(steps):
        for i in range(n):
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * y[columns[k]]
            found[i] = total
        change = 0.0
        for i in range(n):
            x[i] += 0.5 * y[i]
            change += x[i] * found[i]
        for i in range(n):
            y[i] = x[i] + change * found[i]
    return x.sum()


def scattered(starts, columns, values, x, y, steps):
    for s in range(steps):
        for i in range(len(y)):
            y[i] += s
        for i in range(len(y)):
            for k in range(starts[i], starts[i + 1], 2):
                x[columns[k]] -= values[k - 1] * y[i]


COMPILED = {f: njit(f) for f in (solved, scattered)}


def test_rows_of_a_sparse_matrix_in_steps():
    rng = np.random.default_rng(5)
    starts, columns, values = np.array([0, 3, 3, 4, 8]), rng.integers(0, 4, 8), rng.random(8)
    cases = [(starts, columns, values)]
    for change in ((1, 9), (4, 12), (2, -3), (0, -20), (3, 2**62)):
        wrong = starts.copy()
        wrong[change[0]] = change[1]
        cases.append((wrong, columns, values))
    for place, column in ((0, 4), (5, -5), (7, -4), (2, 2**62)):
        other = columns.copy()
        other[place] = column
        cases.append((starts, other, values))
    cases += [(starts, columns[:6], values), (starts, columns, values[:5]), (starts[:3], columns, values)]
    for f, compiled in COMPILED.items():
        for one in cases:
            for n, m in (4, 4), (4, 3), (3, 4), (0, 0):
                for steps in (0, 1, 3):
                    agree(f, *one, np.ones(n), np.zeros(m), steps, compiled=compiled)


def test_the_loop_over_a_row_has_a_copy_without_checks():
    compiled = njit(solved)
    compiled(np.array([0, 2, 3]), np.array([0, 1, 1]), np.ones(3), np.ones(2), np.zeros(2), 2)
    (text,) = compiled._inspect("opt", None).values()
    # in the block of each copy that multiplies an element; the place in y comes from memory
    copies = [block for block in text.split("):\n") if "array_load columns" in block]
    assert sorted(block.count("check_index") for block in copies) == [1, 3, 3]


def unpacked(points):
    total = 0.0
    for x, y, z in points:
        total += x * y - z
    return total


def test_the_lengths_of_arrays_are_compared_before_the_rows():
    """The guard of a row compares its end with the least of the lengths of both arrays that are read there."""
    def swept(starts, columns, values, x):
        for i in range(len(x)):
            total = 1.0
            for k in range(starts[i], starts[i + 1]):
                total -= values[k] * x[columns[k]]
            x[i] = total

    compiled = njit(swept)
    rng = np.random.default_rng(6)
    starts, x = np.array([0, 3, 3, 4, 8]), rng.random(4)
    for n in (8, 7, 9, 0):
        for m in (8, 7, 9):
            args = starts, rng.integers(0, 4, n), rng.random(m), x
            agree(swept, *args, compiled=compiled)
    text = next(iter(compiled._inspect("opt", None).values()))
    assert text.count("= affine_in_range") == 1


def test_the_length_of_unpacked_rows_is_compared_once():
    """A guard compares it, so that one of the two copies of the loop compares nothing but its counter."""
    compiled = njit(unpacked)
    for columns in (3, 2, 4, 0):
        for rows in (0, 1, 5):
            agree(unpacked, np.random.default_rng(0).random((rows, columns)), compiled=compiled)
    fn = optimised(unpacked, (np.ones((2, 3)),)).functions[0]
    known = {inst.result for inst in fn.entry.insts}
    branches = [sum(block.insts[-1].op is BRANCH and block.insts[-1].args[0] in known for block in loop.blocks)
                for loop in LoopNest(fn).loops]
    assert sorted(branches) == [0, 4]
