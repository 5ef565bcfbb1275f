"""Typical kernels, each with the result of NumPy: for the grid on the CPU, for PTX, and for a GPU.

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
        """Launch the kernel, by `launch(kernel, grid, block, shared, arguments)` if that is given, and compare the
        results."""
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


def _dynamic(rng):
    x = rng.random(300)
    return (x, np.zeros(300)), (None, np.concatenate([part[::-1] for part in np.split(x, [100, 200])]))


@case(3, 100, _dynamic, shared=800)
def reverse_blocks(x, out):
    s = cuda.shared.array(0, np.float64)
    t, base = cuda.threadIdx.x, cuda.blockIdx.x * cuda.blockDim.x
    s[t] = x[base + t]
    cuda.syncthreads()
    out[base + t] = s[cuda.blockDim.x - 1 - t]


def _stencil(rng):
    a = rng.random((40, 50), f4)
    out = a.copy()
    out[1:-1, 1:-1] = f4(0.25) * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return (a, a.copy()), (None, out)


@case((4, 5), (16, 8), _stencil, 1e-6)
def stencil(a, out):
    x, y = cuda.grid(2)
    if 0 < y < a.shape[0] - 1 and 0 < x < a.shape[1] - 1:
        out[y, x] = np.float32(0.25) * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1])


def _stencil3(rng):
    a = rng.random((9, 10, 11))
    out = np.zeros_like(a)
    out[1:-1, 1:-1,
        1:-1] = (a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, 1:-1, :-2]
                             + a[1:-1, 1:-1, 2:] - 6.0 * a[1:-1, 1:-1, 1:-1])
    return (a, np.zeros_like(a)), (None, out)


@case((3, 3, 5), (4, 4, 2), _stencil3, 1e-12)
def laplace3(a, out):
    k, j, i = cuda.grid(3)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1 and 0 < k < a.shape[2] - 1:
        out[i, j, k] = (a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k] + a[i, j, k - 1]
                        + a[i, j, k + 1]
                        - 6.0 * a[i, j, k])


# ---------------------------------------------------------------- scans, sorts, reductions


def _scan(rng):
    x = rng.integers(0, 50, 512).astype(i4)
    return (x, np.zeros(512, i4)), (None, np.cumsum(x.reshape(2, 256), 1, dtype=i4).reshape(-1))


@case(2, 256, _scan)
def scan(x, out):
    """Hillis and Steele's inclusive scan of each block."""
    s = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    reach = 1
    while reach < cuda.blockDim.x:
        v = s[t - reach] if t >= reach else np.int32(0)
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        reach *= 2
    out[cuda.grid(1)] = s[t]


def _blelloch(rng):
    x = rng.integers(0, 50, 256).astype(np.int64)
    return (x, np.zeros(256, np.int64)), (None, np.cumsum(x) - x)


@case(1, 128, _blelloch)
def exclusive_scan(x, out):
    """Blelloch's exclusive scan, with two elements for each thread."""
    s = cuda.shared.array(256, np.int64)
    t, n = cuda.threadIdx.x, 256
    s[2 * t] = x[2 * t]
    s[2 * t + 1] = x[2 * t + 1]
    offset, d = 1, n >> 1
    while d > 0:
        cuda.syncthreads()
        if t < d:
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1]
        offset *= 2
        d >>= 1
    if t == 0:
        s[n - 1] = 0
    d = 1
    while d < n:
        offset >>= 1
        cuda.syncthreads()
        if t < d:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            v = s[left]
            s[left] = s[right]
            s[right] += v
        d *= 2
    cuda.syncthreads()
    out[2 * t] = s[2 * t]
    out[2 * t + 1] = s[2 * t + 1]


def _bitonic(rng):
    x = rng.random(512, f4)
    return (x,), (np.sort(x),)


@case(1, 512, _bitonic)
def bitonic_sort(x):
    s = cuda.shared.array(512, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    k = 2
    while k <= 512:
        j = k // 2
        while j > 0:
            other = t ^ j
            if other > t:
                a, b = s[t], s[other]
                if (a > b) == (t & k == 0):
                    s[t] = b
                    s[other] = a
            cuda.syncthreads()
            j //= 2
        k *= 2
    x[t] = s[t]


def _grid_sum(rng):
    x = rng.integers(0, 9, 3000).astype(f8)
    return (x, np.zeros(1)), (None, np.array([x.sum()]))


@case(6, 128, _grid_sum)
def grid_sum(x, total):
    """A sum: of warps by shuffles, of the block in shared memory, of the grid by one atomic addition for each block."""
    parts = cuda.shared.array(32, np.float64)
    v = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        v += x[i]
    step = 16
    while step:
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, step)
        step >>= 1
    warp = cuda.threadIdx.x // 32
    if cuda.laneid == 0:
        parts[warp] = v
    cuda.syncthreads()
    if warp == 0:
        v = parts[cuda.laneid] if cuda.laneid < cuda.blockDim.x // 32 else 0.0
        for step in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
        if cuda.laneid == 0:
            cuda.atomic.add(total, 0, v)


def _last_block(rng):
    x = rng.integers(0, 9, 700).astype(i4)
    return (x, np.zeros(6, i4), np.zeros(1, np.uint32), np.zeros(1, i4)), (
        None, np.add.reduceat(x, range(0, 700, 128)).astype(i4), np.zeros(1, np.uint32), np.array([x.sum()], i4))


@case(6, 128, _last_block)
def last_block_sum(x, parts, ticket, total):
    """A sum in which the last block to finish adds the sums of the others, with fences and a counter that wraps."""
    s = cuda.shared.array(128, np.int32)
    last = cuda.shared.array(1, np.bool_)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i] if i < x.size else 0
    step = 64
    while step > 0:
        cuda.syncthreads()
        if t < step:
            s[t] += s[t + step]
        step //= 2
    if t == 0:
        parts[cuda.blockIdx.x] = s[0]
        cuda.threadfence()
        last[0] = cuda.atomic.inc(ticket, 0, np.uint32(cuda.gridDim.x - 1)) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        found = np.int32(0)
        for k in range(parts.size):
            found += parts[k]
        total[0] = found


def _compact(rng):
    x = rng.integers(-50, 50, 256).astype(i4)
    kept = np.concatenate([part[part > 0] for part in np.split(x, 4)])
    counts = np.array([(part > 0).sum() for part in np.split(x, 4)], i4)
    out = np.zeros((4, 64), i4)
    for k, part in enumerate(np.split(x, 4)):
        out[k, :counts[k]] = part[part > 0]
    assert kept.size == counts.sum()
    return (x, out * 0, counts * 0), (None, out, counts)


@case(4, 64, _compact)
def compact(x, out, counts):
    """Keep the positive elements: votes give each lane its position, and the second warp starts after the first."""
    first = cuda.shared.array(1, np.int32)
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    v = x[cuda.grid(1)]
    votes = cuda.ballot_sync(0xFFFFFFFF, v > 0)
    place = cuda.popc(votes & cuda.lanemask_lt())
    if t == 0:
        first[0] = cuda.popc(votes)
    n = cuda.syncthreads_count(v > 0)
    if t >= 32:
        place += int(first[0])
    if v > 0:
        out[b, place] = v
    if t == 0:
        counts[b] = n


# ---------------------------------------------------------------- numbers


def _n_body(rng):
    p = rng.random((64, 3), f4)
    d = p[None, :, :] - p[:, None, :]
    r2 = (d * d).sum(2) + f4(0.01)
    return (p, np.zeros((64, 3), f4)), (None, (d / (r2 * np.sqrt(r2))[:, :, None]).sum(1))


@case(2, 32, _n_body, 2e-4)
def n_body(p, force):
    near = cuda.shared.array((32, 3), np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    own = cuda.local.array(3, np.float32)
    for k in range(3):
        own[k] = 0
    for tile in range(0, p.shape[0], 32):
        for k in range(3):
            near[t, k] = p[tile + t, k]
        cuda.syncthreads()
        for j in range(32):
            dx, dy, dz = near[j, 0] - p[i, 0], near[j, 1] - p[i, 1], near[j, 2] - p[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + np.float32(0.01)
            w = cuda.rsqrt(r2) / r2
            own[0] += w * dx
            own[1] += w * dy
            own[2] += w * dz
        cuda.syncthreads()
    for k in range(3):
        force[i, k] = own[k]


@cuda.jit(device=True)
def normal_cdf(x):
    return 0.5 * math.erfc(-x * 0.7071067811865476)


def _black_scholes(rng):
    s, k, t = 80 + 40 * rng.random(300), 80 + 40 * rng.random(300), 0.2 + rng.random(300)
    r, v = 0.02, 0.3
    cdf = np.vectorize(lambda x: 0.5 * math.erfc(-x * 0.7071067811865476))
    d1 = (np.log(s / k) + (r + 0.5 * v * v) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    call = s * cdf(d1) - k * np.exp(-r * t) * cdf(d2)
    return (s, k, t, r, v, np.zeros(300), np.zeros(300)), (None,) * 5 + (call, call - s + k * np.exp(-r * t))


@case(3, 128, _black_scholes, 1e-12)
def black_scholes(s, k, t, r, v, call, put):
    i = cuda.grid(1)
    if i >= s.size:
        return
    root = v * math.sqrt(t[i])
    d1 = (math.log(s[i] / k[i]) + (r + 0.5 * v * v) * t[i]) / root
    discounted = k[i] * math.exp(-r * t[i])
    call[i] = s[i] * normal_cdf(d1) - discounted * normal_cdf(d1 - root)
    put[i] = call[i] - s[i] + discounted


@cuda.jit(device=True)
def escape_time(c, most):
    z = 0j
    for n in range(most):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4.0:
            return n
    return most


def _mandelbrot(rng):
    y, x = np.mgrid[-1:1:24j, -2:0.5:32j]
    c, z, out = x + 1j * y, np.zeros((24, 32), complex), np.full((24, 32), 50, i4)
    for n in range(50):
        z = np.where(out == 50, z * z + c, z)
        out[(out == 50) & (z.real ** 2 + z.imag ** 2 > 4)] = n
    return (c, np.zeros((24, 32), i4), 50), (None, out)


@case((4, 3), (8, 8), _mandelbrot)
def mandelbrot(c, out, most):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = escape_time(c[y, x], most)


def _csr(rng):
    dense = rng.random((60, 40)) * (rng.random((60, 40)) < 0.2)
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(61)).astype(i4)
    v = rng.random(40)
    return (starts, columns.astype(i4), dense[rows, columns], v, np.zeros(60)), (None,) * 4 + (dense @ v,)


@case(1, 64, _csr, 1e-12)
def csr_matvec(starts, columns, values, v, out):
    row = cuda.grid(1)
    if row < out.size:
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * v[columns[k]]
        out[row] = total


def _kmeans(rng):
    points, centres = rng.random((200, 2)), rng.random((5, 2))
    nearest = ((points[:, None] - centres) ** 2).sum(2).argmin(1).astype(i4)
    sums = np.zeros((5, 2))
    np.add.at(sums, nearest, points)
    return (points, centres, np.zeros(200, i4), np.zeros((5, 2)), np.zeros(5, i4)), (
        None, None, nearest, sums, np.bincount(nearest, minlength=5).astype(i4))


@case(4, 64, _kmeans, 1e-12)
def kmeans_step(points, centres, nearest, sums, counts):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best, least = 0, math.inf
        for c in range(centres.shape[0]):
            d = (points[i, 0] - centres[c, 0]) ** 2 + (points[i, 1] - centres[c, 1]) ** 2
            if d < least:
                best, least = c, d
        nearest[i] = best
        cuda.atomic.add(sums, (best, 0), points[i, 0])
        cuda.atomic.add(sums, (best, 1), points[i, 1])
        cuda.atomic.add(counts, best, 1)


def _fft(rng):
    x = rng.random(64) + 1j * rng.random(64)
    return (x, np.zeros(64, complex)), (None, np.fft.fft(x))


@case(1, 32, _fft, 1e-12)
def fft64(x, out):
    """A radix-2 FFT in shared memory: each thread computes one butterfly in each step."""
    re = cuda.shared.array(64, np.float64)
    im = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    for k in (t, t + 32):
        back = cuda.brev(np.uint32(k)) >> np.uint32(26)
        re[back] = x[k].real
        im[back] = x[k].imag
    half = 1
    while half < 64:
        cuda.syncthreads()
        j = t % half
        a = (t // half) * 2 * half + j
        b = a + half
        angle = -math.pi * j / half
        c, s = math.cos(angle), math.sin(angle)
        u, v = re[b] * c - im[b] * s, re[b] * s + im[b] * c
        re[b], im[b] = re[a] - u, im[a] - v
        re[a] += u
        im[a] += v
        half *= 2
    cuda.syncthreads()
    out[t] = complex(re[t], im[t])
    out[t + 32] = complex(re[t + 32], im[t + 32])


def _convolution(rng):
    x, w = rng.random(200, f4), np.array([1, 4, 6, 4, 1], f4) / f4(16)
    return (x, np.zeros(200, f4)), (None, np.convolve(x, w, "same"))


WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)


@case(4, 64, _convolution, 1e-5)
def convolution(x, out):
    w = cuda.const.array_like(WEIGHTS)
    i = cuda.grid(1)
    if i < x.size:
        total = np.float32(0)
        for k in range(-2, 3):
            if 0 <= i + k < x.size:
                total += w[k + 2] * x[i + k]
        out[i] = total


def _life(rng):
    a = (rng.random((20, 24)) < 0.4).astype(np.uint8)
    n = sum(np.roll(a, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - a
    return (a, np.zeros_like(a)), (None, ((n == 3) | (a == 1) & (n == 2)).astype(np.uint8))


@case((3, 3), (8, 8), _life)
def life(a, out):
    x, y = cuda.grid(2)
    h, w = a.shape
    if y < h and x < w:
        n = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    n += a[(y + dy) % h, (x + dx) % w]
        out[y, x] = n == 3 or (a[y, x] == 1 and n == 2)


def _cas_max(rng):
    x = rng.random(500) - 0.5
    return (x, np.full(1, -10.0), np.full(1, -10.0)), (None, np.array([x.max()]), np.array([x.max()]))


@case(4, 128, _cas_max)
def max_by_cas(x, by_cas, by_max):
    i = cuda.grid(1)
    if i < x.size:
        old = by_cas[0]
        while old < x[i]:
            seen = cuda.atomic.cas(by_cas, 0, old, x[i])
            if seen == old:
                break
            old = seen
        cuda.atomic.max(by_max, 0, x[i])


def _lock(rng):
    return (np.zeros(1, i4), np.zeros(2, np.int64)), (np.zeros(1, i4), np.array([256, 1024], np.int64))


@case(4, 64, _lock)
def critical_section(lock, totals):
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            cuda.threadfence()
            totals[0] += 1
            totals[1] += 4
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True


def _early(rng):
    x = rng.integers(0, 100, 100).astype(i4)
    return (x, np.zeros(2, i4)), (None, np.array([x[x % 3 == 0].sum(), (x % 3 == 0).sum()], i4))


@case(1, 128, _early)
def early_exit(x, out):
    """Some threads return before the barriers; the others continue."""
    s = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    if t >= x.size or x[t] % 3:
        return
    cuda.atomic.add(s, 0, x[t])
    cuda.syncthreads()
    n = cuda.syncthreads_count(True)
    out[0] = s[0]
    out[1] = n


def _monte_carlo(rng):
    inside = np.zeros(70, np.int64)
    for i in range(70):
        for k in range(0, 20, 2):
            x, y = (cuda.random.philox_uniform_float64(5, i, k + j) for j in range(2))
            inside[i] += x * x + y * y < 1
    return (np.zeros(70, np.int64), 5), (inside, None)


@case(3, 32, _monte_carlo)
def monte_carlo(inside, seed):
    """Points in a quarter of the circle, of ten that each thread draws."""
    i = cuda.grid(1)
    if i < inside.size:
        for k in range(0, 20, 2):
            x, y = cuda.random.philox_uniform_float64(seed, i, k), cuda.random.philox_uniform_float64(seed, i, k + 1)
            inside[i] += x * x + y * y < 1


def _dates(rng):
    a = rng.integers(-10**5, 10**5, 70).view("M8[D]")
    a[3] = "NaT"
    late, start = np.timedelta64(30, "h"), np.datetime64("1970-03-01")
    return (a, late, start, np.zeros(70, "m8[h]"), np.zeros(70, "M8[M]"), np.zeros(70, bool)), (
        None, None, None, np.maximum(a - start, late), a.astype("M8[M]"), a < start)


@case(3, 32, _dates)
def dates(a, late, start, out, months, early):
    t = cuda.grid(1)
    if t < a.size:
        out[t] = np.maximum(a[t] - start, late)
        months[t] = a[t].astype("M8[M]")
        early[t] = a[t] < start


# ---------------------------------------------------------------- kernels that fail: in this file pytest does not
# rewrite assertions


@cuda.jit
def fail(x, how):
    t = cuda.grid(1)
    if t == 70:
        if how == 0:
            raise ValueError("bad thing")
        assert how != 1, "too far"
        if how == 2:
            x[0] = 1 // (t - 70)
        if how == 3:
            x[0] = (t << 40) * (t << 40)
        if how == 4:
            raise KeyError("k")
