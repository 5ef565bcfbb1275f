"""How many threads share a loop and how they are chosen, reports of what was compiled, code kept on disk, and functions
that are tried without the compiler."""
import contextlib
import io
import os
import tempfile

import numba
import numpy as np
from numba import config, get_num_threads, njit, prange, set_num_threads, threading_layer, types
from numba.experimental import jitclass
from numba.extending import as_numba_type


@njit(parallel=True)
def norms(rows):
    found = np.empty(rows.shape[0])
    for i in prange(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j] * rows[i, j]
        found[i] = np.sqrt(total)
    return found


@njit(parallel=True)
def threads_inside():
    return get_num_threads()


@njit(parallel=True)
def with_one_thread(x):
    set_num_threads(1)
    total = 0.0
    for i in prange(x.size):
        total += x[i]
    return total


@njit(fastmath=True, error_model="numpy")
def harmonic_mean(x):
    total = 0.0
    for value in x:
        total += 1.0 / value
    return x.size / total


@njit(fastmath={"reassoc", "nsz"})
def total_in_any_order(x):
    total = 0.0
    for value in x:
        total += value
    return total


@njit
def windowed(x, width):
    found = np.zeros(x.size - width + 1)
    for i in range(found.size):
        found[i] = x[i:i + width].mean()
    return found


@jitclass
class Interval:
    low: float
    high: float

    def __init__(self, low, high):
        self.low = low
        self.high = high

    def width(self):
        return self.high - self.low


@njit
def widest(intervals):
    best = 0.0
    for one in intervals:
        best = max(best, one.width())
    return best


def reported(call, *args, **options):
    """What a call prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call(*args, **options)
    return out.getvalue()


def main():
    rows = np.arange(12.0).reshape(3, 4)
    assert np.allclose(norms(rows), np.linalg.norm(rows, axis=1))
    assert threading_layer() in ("tbb", "omp", "workqueue")
    assert "norms" in reported(norms.parallel_diagnostics, level=1)

    most = config.NUMBA_NUM_THREADS
    assert get_num_threads() == threads_inside() == most
    set_num_threads(1)
    assert get_num_threads() == threads_inside() == 1
    set_num_threads(most)
    assert with_one_thread(np.ones(1000)) == 1000
    set_num_threads(most)
    try:
        set_num_threads(most + 1)
    except ValueError:
        pass
    else:
        raise AssertionError("more threads than there are")

    assert np.isclose(harmonic_mean(np.array([1.0, 2.0, 4.0])), 12 / 7)
    assert harmonic_mean(np.array([0.0, 1.0])) == 0  # divided by zero without an exception
    assert np.isclose(total_in_any_order(np.full(1000, 0.1)), 100.0)

    assert np.allclose(windowed(np.arange(6.0), 3), windowed.py_func(np.arange(6.0), 3))
    assert windowed.signatures == [(types.Array(types.float64, 1, "C"), types.int64)]
    assert "windowed" in reported(windowed.inspect_types)
    assert all("define" in text for text in windowed.inspect_llvm().values())
    assert all(text for text in windowed.inspect_asm().values())

    assert widest([Interval(0.0, 1.0), Interval(-1.0, 2.5)]) == 3.5
    assert as_numba_type(int) == types.int64 and as_numba_type(float) == types.float64
    assert as_numba_type(Interval) == Interval.class_type.instance_type

    # Code on disk belongs to the file in which a function is.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kept.py")
        with open(path, "w") as file:
            file.write("from numba import njit\n\n\n@njit(cache=True)\ndef doubled(x):\n    return 2 * x\n")
        space = {"__name__": "kept", "__file__": path}
        with open(path) as file:
            exec(compile(file.read(), path, "exec"), space)
        assert space["doubled"](21) == 42 and space["doubled"].stats.cache_hits is not None

    assert tuple(map(int, numba.__version__.split(".")[:2])) >= (0, 60)
