"""Kernels as people write them, each with the result that NumPy gives: for the grid on the CPU, for PTX, for a GPU.

`CASES` has them by name. A case makes its arguments afresh; `expected` are the arrays after the launch, None for those
that stay.
"""
import math
from typing import Callable, NamedTuple

import numpy as np

from pyjitc import cuda

CASES: dict[str, "Case"] = {}


class Case(NamedTuple):
    """kernel: a cuda.jit kernel; grid, block, shared: of the launch; make: random generator -> (arguments, expected);
    tolerance: relative, for floats; 0: the same bits."""

    kernel: object
    grid: object
    block: object
    make: Callable
    tolerance: float = 0.0
    shared: int = 0

    def check(self, launch=None):
        """Launch (as `launch(kernel, grid, block, shared, arguments)`, or here) and compare."""
        args, expected = self.make(np.random.default_rng(7))
        kept = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        if launch is None:
            self.kernel[self.grid, self.block, 0, self.shared](*args)
        else:
            launch(self.kernel, self.grid, self.block, self.shared, args)
        for got, wanted, before in zip(args, (*expected, *[None] * (len(args) - len(expected))), kept):
            if isinstance(got, np.ndarray):
                wanted = before if wanted is None else wanted
                if self.tolerance:
                    np.testing.assert_allclose(got, wanted, self.tolerance, self.tolerance)
                else:
                    np.testing.assert_array_equal(got, wanted)


def case(grid, block, make, tolerance=0.0, shared=0, **options):
    def add(function):
        kernel = cuda.jit(**options)(function) if options else cuda.jit(function)
        CASES[function.__name__] = Case(kernel, grid, block, make, tolerance, shared)
        return kernel

    return add


f4, f8, i4 = np.float32, np.float64, np.int32


# ---------------------------------------------------------------- element by element


def _saxpy(rng):
    x, y = rng.random(1000, f4), rng.random(1000, f4)
    return (f4(2.5), x, y), (None, None, f4(2.5) * x + y)


@case(8, 128, _saxpy, 1e-6)
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def _strided(rng):
    x, y = rng.random(1000), np.zeros(1000)
    return (x, y), (None, np.sqrt(x) * 2)


@case(3, 64, _strided)
def grid_stride(x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = 2 * math.sqrt(x[i])


# ---------------------------------------------------------------- shared memory

TILE = 16


def _transpose(rng):
    a = rng.random((70, 45), f4)
    return (a, np.zeros((45, 70), f4)), (None, a.T)


@case((3, 5), (TILE, TILE), _transpose)
def transpose(a, out):
    tile = cuda.shared.array((TILE, TILE + 1), np.float32)
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def _block_sums(rng):
    x = rng.integers(0, 100, 1000).astype(f4)
    return (x, np.zeros(4, f4)), (None, np.add.reduceat(x, range(0, 1000, 256)))


@case(4, 256, _block_sums)
def block_sums(x, out):
    s = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def _histogram(rng):
    x = rng.integers(0, 32, 5000).astype(i4)
    return (x, np.zeros(32, i4)), (None, np.bincount(x, minlength=32).astype(i4))


@case(5, 128, _histogram)
def histogram(x, counts):
    own = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    if t < 32:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(own, x[i], 1)
    cuda.syncthreads()
    if t < 32:
        cuda.atomic.add(counts, t, own[t])


def _matmul(rng):
    a, b = rng.random((40, 50)), rng.random((50, 33))
    return (a, b, np.zeros((40, 33))), (None, None, a @ b)


@case((3, 3), (TILE, TILE), _matmul, 1e-13)
def tiled_matmul(a, b, c):
    left = cuda.shared.array((TILE, TILE), np.float64)
    right = cuda.shared.array((TILE, TILE), np.float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = 0.0
    for k in range(0, a.shape[1], TILE):
        left[ty, tx] = a[y, k + tx] if y < a.shape[0] and k + tx < a.shape[1] else 0.0
        right[ty, tx] = b[k + ty, x] if x < b.shape[1] and k + ty < b.shape[0] else 0.0
        cuda.syncthreads()
        for j in range(TILE):
            total += left[ty, j] * right[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def _warp_sums(rng):
    x = rng.integers(0, 1000, 200).astype(i4)
    return (x, np.zeros(7, i4)), (None, np.add.reduceat(x, range(0, 200, 32)).astype(i4))


@case(2, 128, _warp_sums)
def warp_sums(x, out):
    i = cuda.grid(1)
    v = x[i] if i < x.size else np.int32(0)
    step = 16
    while step > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
        step //= 2
    if cuda.laneid == 0 and i < x.size:
        out[i // 32] = v
