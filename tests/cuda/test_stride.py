"""Grid-stride loops, which the CPU grid turns into loops over neighbouring elements, against the interpreter."""
import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.cuda import blockcode
from pyjitc.numba import njit
from pyjitc.passes import stride
from pyjitc.types.kinds import Array, Int, float64

from .simulate import simulate

STRIDED, PLAIN = [], []


def strided(function):
    """A kernel whose loop is turned."""
    STRIDED.append(function)
    return function


def plain(function):
    """A kernel whose loop is not turned."""
    PLAIN.append(function)
    return function


@strided
def over_range(x, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] = 2 * x[i]


@strided
def over_while(x, out, n):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    step = cuda.blockDim.x * cuda.gridDim.x
    while i < n:
        out[i] = 2 * x[i]
        i += step


@strided
def of_a_block(x, out, n):
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        out[i] = x[i] + 1


@strided
def constant_step(x, out, n):
    i = cuda.threadIdx.x
    while i < n:
        out[i] = 3 * x[i]
        i += 7


@strided
def sums(x, out, n):
    total, count = 0.0, 0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        total += x[i]
        count += 1
    out[cuda.grid(1)] = total + 1000 * count


@strided
def sums_of_a_block(x, out, n):
    shared = cuda.shared.array(4, np.float64)
    t = cuda.threadIdx.x
    total = 1.0 * t
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        total += x[i]
    shared[t] = total
    cuda.syncthreads()
    if t == 0:
        for k in range(4):
            out[cuda.blockIdx.x] += shared[k]


@strided
def before_and_now(x, out, n):
    last = -1.0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] = last
        last = x[i]


@strided
def inner_loop(x, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        value = x[i]
        while value < 40:
            value = value * 2 + 1
            if value == 31:
                break
        for k in range(i % 3):
            value += k
        out[i] = value


@strided
def leaves_some_out(x, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        if x[i] % 2:
            continue
        out[i] = x[i]


@strided
def next_index(x, out, n):
    step = cuda.gridsize(1)
    for i in range(cuda.grid(1), n, step):
        out[i] = x[i + step] if i + step < n else -1


@plain
def leaves_early(x, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        if x[i] == 17:
            break
        out[i] = x[i]


@plain
def returns(x, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        if x[i] == 17:
            return
        out[i] = x[i]


@plain
def last_index(x, out, n):
    i = cuda.grid(1)
    while i < n:
        i += cuda.gridsize(1)
    out[cuda.grid(1)] = i


@plain
def wide_step(x, out, n):
    i = cuda.grid(1)
    step = n // 2 + 1
    while i < n:
        out[i] = x[i]
        i += step


@plain
def own_stop(x, out, n):
    for i in range(cuda.grid(1), n - cuda.threadIdx.x, cuda.gridsize(1)):
        out[i] = x[i]


@plain
def some_threads(x, out, n):
    if cuda.threadIdx.x != 1:
        for i in range(cuda.grid(1), n, cuda.gridsize(1)):
            out[i] = x[i]


SHAPES = [(2, 4), (1, 4), (3, 1)]


@pytest.mark.parametrize("function", STRIDED + PLAIN, ids=lambda f: f.__name__)
def test_each_thread_does_the_same(function):
    kernel = cuda.jit(function)
    x = np.arange(30.0)
    for blocks, threads in SHAPES if function is not sums_of_a_block else SHAPES[:2]:
        for n in (30, 0, -5, 1, 8, 9):
            found, expected = np.full(30, -7.0), np.full(30, -7.0)
            kernel[blocks, threads](x, found, n)
            simulate(function, blocks, threads, (x, expected, n))
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("function", STRIDED + PLAIN, ids=lambda f: f.__name__)
def test_which_are_turned(function, monkeypatch):
    seen = []
    run = stride.run
    monkeypatch.setattr(stride, "run", lambda fn, *args: run(fn, *args) or seen.append([b.name for b in fn.blocks]))
    kernel = cuda.jit(function)
    blockcode.compile_block(function, (Array(float64, 1), Array(float64, 1), Int), kernel.options)
    assert ("next_stride" in seen[0]) == (function in STRIDED)


def test_kernels_keep_their_ranges_beside_numbas(monkeypatch):
    """The meaning of range() under Numba's semantics is loaded once a function of pyjitc.numba is compiled."""
    assert njit(lambda n: len(range(n)))(2.5) == 2
    test_which_are_turned(over_range, monkeypatch)


def test_they_become_vectors():
    types = Array(float64, 1), Array(float64, 1), Int
    for function in (over_range, over_while):
        assert "x double>" in blockcode.inspect(function, types, cuda.jit(function).options, "llvm")


def test_the_first_step_that_fails():
    """The threads take each step together, so the error is that of the first step in which a thread fails."""
    kernel = cuda.jit(over_range)
    with pytest.raises(IndexError, match="index 30 is out of bounds for axis 0 with size 30") as info:
        kernel[1, 8](np.arange(30.0), np.zeros(50), 40)
    assert info.value.block == (0, 0, 0) and info.value.thread == (6, 0, 0)
