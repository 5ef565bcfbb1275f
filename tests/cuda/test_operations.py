"""Operations of threads on the CPU grid: positions, atomics on all types, warps, bits, memory."""
import math

import numpy as np
import pytest

from pyjitc import TypingError, cuda

INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]


def run(body, *args, grid=1, block=32, shared=0):
    cuda.jit(body)[grid, block, 0, shared](*args)
    return args[0]


# ---------------------------------------------------------------- positions


def test_places():
    def kernel(out):
        x, y, z = cuda.grid(3)
        gx, gy, gz = cuda.gridsize(3)
        k = (z * gy + y) * gx + x
        out[k, 0], out[k, 1], out[k, 2] = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
        out[k, 3], out[k, 4], out[k, 5] = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
        out[k, 6], out[k, 7], out[k, 8] = cuda.blockDim.x, cuda.blockDim.y, cuda.blockDim.z
        out[k, 9], out[k, 10], out[k, 11] = cuda.gridDim.x, cuda.gridDim.y, cuda.gridDim.z
        out[k, 12] = cuda.laneid
        out[k, 13] = cuda.warpsize

    got = run(kernel, np.full((2 * 3 * 2 * 4 * 3 * 2, 14), -1), grid=(2, 3, 2), block=(4, 3, 2))
    k = 0
    for z in range(4):
        for y in range(9):
            for x in range(8):
                t = (x % 4, y % 3, z % 2)
                lane = (t[2] * 3 + t[1]) * 4 + t[0]
                assert got[k].tolist() == [*t, x // 4, y // 3, z // 2, 4, 3, 2, 2, 3, 2, lane, 32]
                k += 1


def test_grid_of_two_axes():
    def kernel(out):
        x, y = cuda.grid(2)
        gx, _ = cuda.gridsize(2)
        out[y, x] = y * gx + x

    assert (run(kernel, np.zeros((6, 8), int), grid=(2, 3), block=(4, 2)) == np.arange(48).reshape(6, 8)).all()


# ---------------------------------------------------------------- atomics


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_atomics(dtype):
    def kernel(a, old, x):
        t = cuda.grid(1)
        old[t] = cuda.atomic.add(a, 0, x[t])
        cuda.atomic.sub(a, 1, x[t])
        cuda.atomic.max(a, 2, x[t])
        cuda.atomic.min(a, 3, x[t])
        cuda.atomic.nanmax(a, 4, x[t])
        cuda.atomic.nanmin(a, 5, x[t])
        cuda.atomic.exch(a, 6, x[t])
        cuda.atomic.cas(a, 7, 100, x[5])
        cuda.atomic.compare_and_swap(a[8:], 7, x[5])

    x = (np.arange(64) % 7).astype(dtype)
    a = np.array([0, 100, 3, 3, 3, 3, 0, 100, 7], dtype)
    old = np.zeros(64, dtype)
    cuda.jit(kernel)[2, 32](a, old, x)
    total = x.sum(dtype=np.int64)
    with np.errstate(over="ignore"):
        assert a[0] == np.array(total).astype(dtype) and a[1] == np.array(100 - total).astype(dtype)
    assert a[2:6].tolist() == [6, 0, 6, 0] and a[6] in x
    assert a[7] == x[5] and a[8] == x[5] and old[0] == 0 or old.min() == 0


@pytest.mark.parametrize("dtype", INTS)
def test_atomics_of_bits(dtype):
    def kernel(a, x):
        t = cuda.threadIdx.x
        cuda.atomic.and_(a, 0, x[t])
        cuda.atomic.or_(a, 1, x[t])
        cuda.atomic.xor(a, 2, x[t])
        cuda.atomic.inc(a, 3, x[0])
        cuda.atomic.dec(a, 4, x[0])

    x = (5 + np.arange(10) * 8).astype(dtype)
    a = np.array([127, 0, 0, 0, 3], dtype)
    cuda.jit(kernel)[1, 10](a, x)
    inc, dec = 0, 3
    for _ in range(10):
        inc = 0 if inc >= 5 else inc + 1
        dec = 5 if dec == 0 or dec > 5 else dec - 1
    assert a.tolist() == [np.bitwise_and.reduce(x) & 127, np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x), inc, dec]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint32])
def test_counting_beyond_the_limit(dtype):
    """inc and dec of an element that is not between 0 and the limit; signed numbers are compared as signed numbers."""
    @cuda.jit
    def count(a, limit):
        i = cuda.grid(1)
        cuda.atomic.inc(a, i, limit)
        cuda.atomic.dec(a, i + 6, limit)

    low = np.iinfo(dtype).min
    start = np.array([low + 1, low + 2, 0, 2, 3, 100] * 2).astype(dtype)
    a = start.copy()
    count[1, 6](a, dtype(3))
    expected = ([0 if v >= 3 else v + 1 for v in start[:6].tolist()]
                + [3 if v == 0 or v > 3 else v - 1 for v in start[6:].tolist()])
    assert a.tolist() == expected



def test_atomics_of_other_types():
    def kernel(c, b):
        t = cuda.threadIdx.x
        cuda.atomic.add(c, (t % 2, 0), 1 + 2j)
        cuda.atomic.or_(b, 0, t == 3)
        cuda.atomic.and_(b, 1, t != 3)
        cuda.atomic.exch(b, 2, True)
        cuda.atomic.add(b, 3, True)

    c, b = np.zeros((2, 1), np.complex64), np.array([False, True, False, False])
    cuda.jit(kernel)[1, 10](c, b)
    assert c.tolist() == [[5 + 10j], [5 + 10j]] and b.view(np.uint8).tolist() == [1, 0, 1, 1]


def test_atomic_extremes_and_nan():
    def kernel(a, x):
        cuda.atomic.max(a, 0, x[cuda.threadIdx.x])
        cuda.atomic.nanmax(a, 1, x[cuda.threadIdx.x])
        cuda.atomic.min(a, 2, x[cuda.threadIdx.x])
        cuda.atomic.nanmin(a, 3, x[cuda.threadIdx.x])

    got = run(kernel, np.zeros(4), np.array([1.0, math.nan, -2.0]), block=3)
    assert math.isnan(got[0]) and got[1] == 1 and math.isnan(got[2]) and got[3] == -2


def test_atomic_indices_are_checked():
    def kernel(a):
        cuda.atomic.add(a, (0, 5), 1)

    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 4"):
        run(kernel, np.zeros((3, 4)))


# ---------------------------------------------------------------- warps


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS, np.complex128, np.bool_])
def test_shuffles(dtype):
    def kernel(out, x):
        t = cuda.threadIdx.x
        v = x[t]
        out[0, t] = cuda.shfl_sync(0xFFFFFFFF, v, 5)
        out[1, t] = cuda.shfl_up_sync(0xFFFFFFFF, v, 3)
        out[2, t] = cuda.shfl_down_sync(0xFFFFFFFF, v, 3)
        out[3, t] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 9)
        out[4, t] = cuda.shfl_sync(0xFFFFFFFF, v, t + 1, 8)
        out[5, t] = cuda.shfl_up_sync(0xFFFFFFFF, v, 3, 8)
        out[6, t] = cuda.shfl_down_sync(0xFFFFFFFF, v, 3, width=8)

    x = (np.arange(64) % 2 if dtype is np.bool_ else np.arange(64)).astype(dtype)
    got = run(kernel, np.zeros((7, 64), dtype), x, block=64)
    lane = np.arange(32)
    group = lane // 8 * 8
    sources = [lane * 0 + 5, np.where(lane >= 3, lane - 3, lane), np.where(lane < 29, lane + 3, lane), lane ^ 9,
               group + (lane + 1) % 8, np.where(lane % 8 >= 3, lane - 3, lane), np.where(lane % 8 < 5, lane + 3, lane)]
    for k, source in enumerate(sources):
        np.testing.assert_array_equal(got[k], x[np.concatenate([source, source + 32])])


def test_votes_and_matches():
    def kernel(out, x):
        t = cuda.threadIdx.x
        out[0, t] = cuda.all_sync(0xFFFFFFFF, x[t] >= 0)
        out[1, t] = cuda.any_sync(0xFFFFFFFF, x[t] == 3)
        out[2, t] = cuda.eq_sync(0xFFFFFFFF, x[t] < 100)
        out[3, t] = cuda.ballot_sync(0xFFFFFFFF, x[t] % 2)
        out[4, t] = cuda.match_any_sync(0xFFFFFFFF, x[t] % 3)
        mask, same = cuda.match_all_sync(0xFFFFFFFF, x[t] // 1000)
        out[5, t], out[6, t] = mask, same
        mask, same = cuda.match_all_sync(0xFFFFFFFF, x[t])
        out[7, t], out[8, t] = mask, same
        out[9, t] = cuda.activemask()
        out[10, t] = cuda.lanemask_lt()
        if t % 32 < 5:
            out[11, t] = cuda.ballot_sync(0x1F, x[t] > 1)

    x = np.arange(32)
    got = run(kernel, np.zeros((12, 32), np.int64), x)
    full = 0xFFFFFFFF
    assert got[0].tolist() == [1] * 32 and got[1].tolist() == [1] * 32 and got[2].tolist() == [1] * 32
    assert got[3].tolist() == [0xAAAAAAAA] * 32
    assert got[4].tolist() == [sum(1 << j for j in range(32) if j % 3 == k % 3) for k in range(32)]
    assert (got[5].tolist() == [full] * 32 and got[6].tolist() == [1] * 32 and got[7].tolist() == [0] * 32
            and got[8].tolist() == [0] * 32)
    assert got[9].tolist() == [full] * 32 and got[10].tolist() == [(1 << k) - 1 for k in range(32)]
    assert got[11].tolist() == [0b11100] * 5 + [0] * 27


@pytest.mark.parametrize("dtype", [*INTS, *FLOATS])
def test_warp_reductions(dtype):
    whole = np.dtype(dtype).kind != "f"

    def kernel(out, x):
        t = cuda.threadIdx.x
        out[0, t] = cuda.reduce_add_sync(0xFFFFFFFF, x[t])
        out[1, t] = cuda.reduce_min_sync(0xFFFFFFFF, x[t])
        out[2, t] = cuda.reduce_max_sync(0xFFFFFFFF, x[t])
        if whole:
            out[3, t] = cuda.reduce_and_sync(0xFFFFFFFF, x[t])
            out[4, t] = cuda.reduce_or_sync(0xFFFFFFFF, x[t])
            out[5, t] = cuda.reduce_xor_sync(0xFFFFFFFF, x[t])

    x = ((np.arange(64) * 37) % 11 + 1).astype(dtype)
    got = run(kernel, np.zeros((6, 64), dtype), x, block=64)
    for half in (slice(0, 32), slice(32, 64)):
        assert (got[0, half] == x[half].sum(dtype=dtype)).all()
        assert (got[1, half] == x[half].min()).all() and (got[2, half] == x[half].max()).all()
        if whole:
            for k, f in ((3, np.bitwise_and), (4, np.bitwise_or), (5, np.bitwise_xor)):
                assert (got[k, half] == f.reduce(x[half])).all()


def test_warps_that_part_and_incomplete_warps():
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 40:
            v = t
            step = 1
            while step < 32:
                v += cuda.shfl_xor_sync(0xFFFFFFFF, v, step)
                step *= 2
            out[t] = v
        else:
            out[t] = cuda.activemask()

    got = run(kernel, np.zeros(48, np.int64), block=48)
    assert got[:32].tolist() == [496] * 32
    assert got[40:].tolist() == [0xFF00] * 8  # lanes 8 to 15 of the second warp


def test_barriers_that_count():
    def kernel(out):
        t = cuda.threadIdx.x
        out[0, t] = cuda.syncthreads_count(t % 3 == 0)
        out[1, t] = cuda.syncthreads_and(t >= 0)
        out[2, t] = cuda.syncthreads_and(t > 0)
        out[3, t] = cuda.syncthreads_or(t == 99)
        out[4, t] = cuda.syncthreads_or(t > 100)
        if t < 50:
            out[5, t] = cuda.syncthreads_count(t < 10)

    got = run(kernel, np.zeros((6, 100), np.int64), block=100)
    assert ([set(row.tolist()) for row in got[:5]] == [{34}, {1}, {0}, {1}, {0}]
            and got[5].tolist() == [10] * 50 + [0] * 50)


# ---------------------------------------------------------------- bits and numbers


@pytest.mark.parametrize("dtype", [*INTS, int])
def test_bits(dtype):
    def kernel(out, back, x):
        t = cuda.threadIdx.x
        v = x[t] if dtype is not int else int(x[t])
        out[0, t], out[1, t], out[2, t] = cuda.popc(v), cuda.clz(v), cuda.ffs(v)
        back[t] = cuda.brev(v)

    x = np.array([0, 1, 2, 12, 100, 127], dtype)
    width = 8 * x.itemsize
    back = np.zeros(6, x.dtype)
    got = run(kernel, np.zeros((3, 6), int), back, x, block=6)
    for k, v in enumerate(x.tolist()):
        assert got[:, k].tolist() == [bin(v).count("1"), width - v.bit_length(), (v & -v).bit_length()]
        assert int(back[k]) % (1 << width) == int(f"{v:0{width}b}"[::-1], 2)


def test_numbers():
    def kernel(out, single):
        out[0] = cuda.fma(2.0, 3.0, 4.0)
        out[1] = cuda.cbrt(27.0)
        out[2] = cuda.rsqrt(4.0)
        out[3] = cuda.selp(out[0] > 1, 1.0, 2.0)
        out[4] = cuda.fma(1e308, 10.0, -1e308)
        single[0] = cuda.rsqrt(np.float32(2))
        single[1] = cuda.fma(np.float32(1.5), 2, 1)
        cuda.nanosleep(10)
        cuda.threadfence_block()
        cuda.threadfence_system()

    single = np.zeros(2, np.float32)
    got = run(kernel, np.zeros(5), single, block=1)
    assert got.tolist() == [10.0, pytest.approx(3.0), 0.5, 1.0, math.inf]
    assert single[0] == np.float32(1) / np.sqrt(np.float32(2)) and single[1] == 4


def test_a_choice_between_numbers_of_python_and_of_numpy():
    def kernel(out, x, n):
        i = cuda.grid(1)
        out[i] = cuda.selp(x[i] > 0, x[i], 0.0) + cuda.selp(n[i] > 0, 3, n[i]) + cuda.selp(x[i] > 0, True, x[i])

    for dtype in (np.float32, np.float64):
        x, n = np.array([-1, 2, 3], dtype), np.array([1, -1, -2], np.int16)
        assert run(kernel, np.zeros(3), x, n, block=3).tolist() == [0 + 3 - 1, 2 - 1 + 1, 3 - 2 + 1]

    def narrows(out, x):
        out[0] = cuda.selp(True, np.int32(x), 1.5)

    with pytest.raises(TypingError, match="values of one type, not int32 and float"):
        run(narrows, np.zeros(3), 2, block=3)


def test_quotients_of_ints():
    def kernel(out, n):
        i = cuda.grid(1)
        out[i] = (i + n) / 3

    for n in (1, 2**60 + 1):
        assert run(kernel, np.zeros(4), n, block=4).tolist() == [(i + n) / 3 for i in range(4)]


def test_half_precision():
    def kernel(out, a, b):
        t = cuda.threadIdx.x
        x, y = a[t], b[t]
        out[0, t], out[1, t] = cuda.fp16.hadd(x, y), cuda.fp16.hsub(x, y)
        out[2, t], out[3, t] = cuda.fp16.hmul(x, y), cuda.fp16.hdiv(x, y)
        out[4, t], out[5, t], out[6, t] = cuda.fp16.hfma(x, y, x), cuda.fp16.hneg(x), cuda.fp16.habs(y)
        out[7, t], out[8, t], out[9, t] = cuda.fp16.hsqrt(x), cuda.fp16.hexp(x), cuda.fp16.hmax(x, y)
        out[10, t] = 1 if cuda.fp16.hgt(x, y) else 0
        out[11, t] = x * y + 1
        out[12, t], out[13, t] = cuda.fp16.hrcp(x), cuda.fp16.hmin(x, y)

    rng = np.random.default_rng(0)
    a, b = (rng.random(32) + 0.5).astype(np.float16), (rng.random(32) - 2).astype(np.float16)
    got = run(kernel, np.zeros((14, 32), np.float16), a, b)
    one = np.float16(1)
    for k, wanted in enumerate([a + b, a - b, a * b, a / b, (a.astype(float) * b + a).astype(np.float16), -a, abs(b),
                                np.sqrt(a), np.exp(a), np.maximum(a, b), (a > b).astype(np.float16), a * b + one,
                                one / a, np.minimum(a, b)]):
        np.testing.assert_allclose(got[k], wanted, 1e-3)


def test_single_precision_stays():
    def kernel(out, x):
        i = cuda.grid(1)
        v = x[i] * cuda.threadIdx.x + 0.1
        out[i] = v == np.float32(v)

    assert run(kernel, np.zeros(8, bool), np.random.default_rng(1).random(8, np.float32), block=8).all()


# ---------------------------------------------------------------- memory


def test_local_arrays_are_each_threads_own():
    def kernel(out, x):
        own = cuda.local.array((2, 4), np.int32)
        t = cuda.threadIdx.x
        for k in range(4):
            own[0, k] = x[t] + k
            own[1, k] = own[0, k] * 2
        cuda.syncthreads()
        total = 0
        for row in range(2):
            for k in range(own.shape[1]):
                total += own[row, k]
        out[t] = total

    x = np.arange(100, dtype=np.int32)
    assert run(kernel, np.zeros(100, int), x, block=100).tolist() == [3 * (4 * v + 6) for v in range(100)]


def test_shared_arrays_in_device_functions_and_views():
    @cuda.jit(device=True)
    def rotate(v):
        s = cuda.shared.array(64, np.float64)
        s[cuda.threadIdx.x] = v
        cuda.syncthreads()
        result = s[(cuda.threadIdx.x + 1) % 64]
        cuda.syncthreads()
        return result

    def kernel(out, x):
        t = cuda.threadIdx.x
        both = cuda.shared.array((2, 64), np.float64)
        row = both[t % 2]
        row[t] = rotate(x[t])
        cuda.syncthreads()
        out[t] = both[t % 2, t] + rotate(out[t])

    x = np.random.default_rng(2).random(64)
    assert (run(kernel, np.arange(64.0), x, block=64).tolist()
            == (np.roll(x, -1) + np.roll(np.arange(64.0), -1)).tolist())


def test_dynamic_and_static_shared_memory():
    def kernel(out):
        dynamic = cuda.shared.array(0, np.int32)
        static = cuda.shared.array(32, np.int32)
        t = cuda.threadIdx.x
        static[t] = t
        dynamic[t] = 2 * t
        cuda.syncthreads()
        out[t] = static[31 - t] + dynamic[31 - t] + dynamic.size

    assert run(kernel, np.zeros(32, int), shared=160).tolist() == [3 * (31 - t) + 40 for t in range(32)]


TABLE = np.arange(10.0).reshape(2, 5)


def test_constant_arrays():
    factors = np.array([2, 3], np.int8)

    def kernel(out):
        table = cuda.const.array_like(TABLE)
        t = cuda.threadIdx.x
        out[t] = table[t % 2, t % 5] * factors[t % 2]

    assert run(kernel, np.zeros(20), block=20).tolist() == [TABLE[t % 2, t % 5] * factors[t % 2] for t in range(20)]


def test_values_of_all_kinds_live_across_barriers():
    def kernel(out, pairs, z):
        t = cuda.threadIdx.x
        flag = t % 2 == 0
        point = (t * 0.5, np.int8(t), flag)
        view = pairs[t]
        c = z * t
        maybe = None if t < 5 else t
        cuda.syncthreads()
        total = point[0] + point[1] + view[0] + c.imag
        cuda.syncthreads()
        out[t] = total + (1 if point[2] and flag else 0) + (0 if maybe is None else maybe)

    pairs = np.arange(20.0).reshape(10, 2)
    assert run(kernel, np.zeros(10), pairs, 1 + 2j, block=10).tolist() == [
        0.5 * t + t + 2 * t + 2 * t + (t % 2 == 0) + (t if t >= 5 else 0) for t in range(10)]


def test_loops_and_branches_around_barriers():
    def kernel(out, n):
        s = cuda.shared.array(64, np.int64)
        t = cuda.threadIdx.x
        s[t] = t
        total = 0
        for k in range(n):
            cuda.syncthreads()
            total += s[(t + k) % 64]
            cuda.syncthreads()
            if k % 2:
                s[t] += 1
            else:
                for j in range(3):
                    cuda.syncthreads()
                    s[t] += j
        if n > 3:
            cuda.syncthreads()
            total -= s[63 - t]
        out[t] = total

    for n in (0, 1, 4, 7):
        got = run(kernel, np.zeros(64, np.int64), n, block=64)
        s, total = np.arange(64), np.zeros(64, np.int64)
        for k in range(n):
            total += np.roll(s, -k)
            s = s + (1 if k % 2 else 3)
        assert got.tolist() == (total - s[::-1] if n > 3 else total).tolist()


def test_blocks_run_on_all_threads_of_the_process():
    def kernel(out):
        out[cuda.blockIdx.x, cuda.threadIdx.x] = cuda.grid(1)

    assert (run(kernel, np.zeros((500, 96), int), grid=500, block=96) == np.arange(48000).reshape(500, 96)).all()


def test_threads_wait_in_one_place_whatever_the_types():
    def kernel(out, x):
        t = cuda.threadIdx.x
        v = t if t % 3 else x[t]  # an int, or an int32
        out[0, t] = cuda.ballot_sync(0xFFFFFFFF, v % 2)
        out[1, t] = cuda.syncthreads_count(v % 2)

    got = run(kernel, np.zeros((2, 32), np.int64), np.arange(32, dtype=np.int32))
    assert got.tolist() == [[0xAAAAAAAA] * 32, [16] * 32]

    def shuffles(out, x):
        t = cuda.threadIdx.x
        out[t] = cuda.shfl_sync(0xFFFFFFFF, t if t % 3 else x[t], 0)

    assert run(shuffles, np.zeros(32), np.arange(7, 39, dtype=np.int32)).tolist() == [7] * 32
