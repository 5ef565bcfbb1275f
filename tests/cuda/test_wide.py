"""Kernels without barriers: neighbouring blocks run as one, and threads without work are left out of the loops."""
import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.cuda import blockcode, hostgrid
from pyjitc.types.kinds import Array, Int, float32, int64

LIMITS = (-2**63, -2**62 - 1, -1, 0, 1, 5, 6, 7, 40, 1000, 2**62, 2**62 + 1, 2**63 - 2, 2**63 - 1)


@cuda.jit
def less(out, n):
    i = cuda.grid(1)
    if i < n and i < out.size:
        out[i] = i


@cuda.jit
def at_most(out, n):
    i = cuda.grid(1)
    if n < i:
        return
    if out.size > i:
        out[i] = i


@cuda.jit
def more(out, n):
    i = cuda.grid(1)
    if i < out.size:
        if n < i:
            out[i] = i


@cuda.jit
def at_least(out, n):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if not i < n and out.size > i:
        out[i] = i


@pytest.mark.parametrize("kernel, test",
                         [(less, lambda i, n: i < n), (at_most, lambda i, n: i <= n), (more, lambda i, n: i > n),
                                          (at_least, lambda i, n: i >= n)])
@pytest.mark.parametrize("block", [1, 8, 64])
def test_bounds_of_any_size(kernel, test, block):
    for n in LIMITS:
        out = np.full(50, -1)
        kernel[-(-57 // block), block](out, n)
        assert out.tolist() == [i if test(i, n) else -1 for i in range(50)], n


@cuda.jit
def inner(out, low, high):
    x, y, z = cuda.grid(3)
    if low < x < out.shape[2] - high and low <= y and not y > out.shape[1] - high and 0 < z < out.shape[0]:
        out[z, y, x] += x + 100 * y + 10_000 * z


@pytest.mark.parametrize("grid, block", [((7, 5, 3), (4, 3, 2)), ((1, 1, 1), (32, 16, 2)), ((30, 17, 5), (1, 1, 1)),
                                         ((3, 20, 3), (16, 1, 2))])
def test_rows_and_layers(grid, block):
    sizes = [g * b for g, b in zip(grid, block)]
    for low, high in ((0, 1), (1, 2), (-1, 1), (50, 0)):
        out = np.zeros((4, 13, 25), np.int64)
        inner[grid, block](out, low, high)
        z, y, x = np.indices(out.shape)
        work = (low < x) & (x < 25 - high) & (low <= y) & (y <= 13 - high) & (0 < z) & (z < 4)
        work &= (x < sizes[0]) & (y < sizes[1]) & (z < sizes[2])
        np.testing.assert_array_equal(out, np.where(work, x + 100 * y + 10_000 * z, 0))


def is_wide(kernel, *types):
    return blockcode.compile_block(kernel.py_func, types, kernel.options)[0].wide


def test_which_kernels_run_wide():
    @cuda.jit
    def number(out, n):
        out[cuda.grid(1)] = cuda.threadIdx.x

    @cuda.jit
    def block_number(out, n):
        out[cuda.grid(1)] = cuda.blockIdx.x

    @cuda.jit
    def own_memory(out, n):
        a = cuda.local.array(40, np.int64)
        for k in range(40):
            a[k] = cuda.grid(1) * k
        out[cuda.grid(1)] = a[n]

    @cuda.jit
    def waits(out, n):
        cuda.syncthreads()
        out[cuda.grid(1)] = n

    types = Array(int64, 1), Int
    for kernel in (less, at_most, more, at_least):
        assert is_wide(kernel, *types) and not is_wide(cuda.jit(debug=True)(kernel.py_func), *types)
    for kernel in (number, block_number, own_memory, waits):
        assert not is_wide(kernel, *types)
        out = np.zeros(64, np.int64)
        kernel[16, 4](out, 3)
        assert out.tolist() == {number: [0, 1, 2, 3] * 16, block_number: [k // 4 for k in range(64)],
                                own_memory: [3 * k for k in range(64)], waits: [3] * 64}[kernel]


@cuda.jit
def fails(x, row, column):
    i, j = cuda.grid(2)
    if j == row and i >= column:
        raise ValueError("here")
    x[j, i] = 1


@pytest.mark.parametrize("workers", [1, 3])
def test_which_thread_failed(monkeypatch, workers):
    monkeypatch.setattr(hostgrid, "get_num_threads", lambda: workers)
    x = np.zeros((12, 400), np.int8)
    for row, column in ((0, 0), (5, 17), (11, 399), (7, 200)):
        with pytest.raises(ValueError, match="here") as info:
            fails[(100, 4), (4, 3)](x, row, column)
        assert info.value.block == (column // 4, row // 3, 0) and info.value.thread == (column % 4, row % 3, 0)
    with pytest.raises(IndexError, match="index 400 is out of bounds for axis 1 with size 400") as info:
        fails[(101, 4), (4, 3)](x, -1, 0)
    assert info.value.block[0] == 100 and info.value.thread[0] == 0


@cuda.jit
def five_points(a, c):
    x, y = cuda.grid(2)
    if 0 < y < c.shape[0] - 1 and 0 < x < c.shape[1] - 1:
        c[y, x] = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]


def test_a_stencil_becomes_vectors():
    """No branch and no check is left in the loop over the threads."""
    matrix = Array(float32, 2)
    assert "x float>" in blockcode.inspect(five_points.py_func, (matrix, matrix), five_points.options, "llvm")
    a = np.random.default_rng(0).random((70, 45), np.float32)
    c = np.zeros_like(a)
    five_points[(4, 9), (16, 8)](a, c)
    np.testing.assert_array_equal(c[1:-1, 1:-1], ((a[1:-1, :-2] + a[1:-1, 2:]) + a[:-2, 1:-1]) + a[2:, 1:-1])
    assert not c[0].any() and not c[:, 0].any() and not c[-1].any() and not c[:, -1].any()
