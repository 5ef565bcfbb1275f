"""Kernels of the suite `gpu`, each with the same work as a plain loop. `cuda` and `njit` are free names, see
bench/gpu.py."""
# ruff: noqa: F821
import numpy as np

TILE = 16


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@njit
def saxpy_loop(a, x, y):
    for i in range(x.size):
        y[i] = a * x[i] + y[i]


@cuda.jit
def block_sums(x, out):
    s = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@njit
def block_sums_loop(x, out):
    for block in range(out.size):
        total = np.float32(0)
        for i in range(256 * block, min(256 * block + 256, x.size)):
            total += x[i]
        out[block] = total


@cuda.jit
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


@njit
def transpose_loop(a, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = a[x, y]


@cuda.jit
def mandelbrot(counts, most):
    x, y = cuda.grid(2)
    if y < counts.shape[0] and x < counts.shape[1]:
        cr, ci = 3.0 * x / counts.shape[1] - 2.0, 2.0 * y / counts.shape[0] - 1.0
        zr = zi = 0.0
        n = 0
        while n < most and zr * zr + zi * zi <= 4.0:
            zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
            n += 1
        counts[y, x] = n


@njit
def mandelbrot_loop(counts, most):
    for y in range(counts.shape[0]):
        for x in range(counts.shape[1]):
            cr, ci = 3.0 * x / counts.shape[1] - 2.0, 2.0 * y / counts.shape[0] - 1.0
            zr = zi = 0.0
            n = 0
            while n < most and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            counts[y, x] = n


@cuda.jit
def stencil(a, out):
    x, y = cuda.grid(2)
    if 0 < y < out.shape[0] - 1 and 0 < x < out.shape[1] - 1:
        out[y, x] = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]


@njit
def stencil_loop(a, out):
    for y in range(1, out.shape[0] - 1):
        for x in range(1, out.shape[1] - 1):
            out[y, x] = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]


@cuda.jit
def scale(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = 2 * x[i]


@njit
def scale_loop(x, out):
    for i in range(x.size):
        out[i] = 2 * x[i]


def _vectors(n):
    rng = np.random.default_rng(0)
    return np.float32(2.5), rng.random(n, np.float32), rng.random(n, np.float32)


def _sums(n):
    return np.random.default_rng(0).integers(0, 9, n).astype(np.float32), np.zeros(-(-n // 256), np.float32)


def _square(n):
    side = int(n ** 0.5)
    return np.random.default_rng(0).random((side, side), np.float32), np.zeros((side, side), np.float32)


def _pair(n):
    return np.random.default_rng(0).random(n, np.float32), np.zeros(n, np.float32)


def _pixels(n):
    side = int(n ** 0.5)
    return np.zeros((side, side), np.int32), 50


def _flat(n):
    return -(-n // 256), 256


def _tiles(n):
    side = -(-int(n ** 0.5) // TILE)
    return (side, side), (TILE, TILE)


def _few(n):
    return max(n >> 14, 1), 256


# name: (kernel, plain loop, function from n to (grid, block), function from n to the arguments)
CASES = {
    "saxpy": (saxpy, saxpy_loop, _flat, _vectors), "block sums": (block_sums, block_sums_loop, _flat, _sums),
    "transpose": (transpose, transpose_loop, _tiles, _square),
    "mandelbrot": (mandelbrot, mandelbrot_loop, _tiles, _pixels), "stencil": (stencil, stencil_loop, _tiles, _square),
    "grid-stride loop": (scale, scale_loop, _few, _pair),
}
