"""Arrays in the frame of a function: which arrays are there, and that arrays which may live longer are not."""
import gc

import numpy as np
import pytest
from tests.ir.stages import optimised
from tests.oracle import agree

from pyjitc import njit
from pyjitc.ops.memory import ARRAY_NEW, FRAME_ARRAY, RELEASE


def ops(function, *args):
    return [inst for block in optimised(function, args).functions[0].blocks for inst in block.insts]


def in_frame(function, *args) -> tuple[int, int]:
    """(number of arrays in the frame, number of arrays that are always allocated)."""
    made = ops(function, *args)
    frame = sum(i.op is FRAME_ARRAY or "frame" in i.attrs for i in made)
    return frame, sum(i.op is ARRAY_NEW and "frame" not in i.attrs for i in made)


# Arrays that stay in the frame

def zeros_in_a_loop(n):
    total = 0.0
    for i in range(n):
        z = np.zeros(3)
        z[i % 3] += i
        total += z[0] - z[2]
    return total


def pairs_stored(a):
    for i in range(len(a)):
        a[i] = (i, 2 * i)


def views_of_it(n):
    m = np.zeros((2, 3))
    for i in range(n):
        row = m[i % 2]
        row[1:] += i
    return m[0, 1] + m[1, 2] * 3, m.T[2, 0]


def by_branches(n, x):
    a = np.array([x, 1.0])
    b = np.array([2.0, x])
    c = a if n > 1 else b
    return c[0] * 2 + c[1]


def total_of(a):
    return a[0] + a[-1]


def lent(x):
    return total_of(np.array([x, 1.0, 2.0]))


@pytest.mark.parametrize("function, args, count", [
    (zeros_in_a_loop, (7,), 1), (pairs_stored, (np.zeros((5, 2), np.int64),), 1), (views_of_it, (5,), 1),
    (by_branches, (3, 0.5), 2), (lent, (4.0,), 1)],
    ids=lambda x: getattr(x, "__name__", None))
def test_small_arrays_are_in_the_frame(function, args, count):
    compiled = agree(function, *args)
    agree(function, *args, compiled=compiled)
    frame, allocated = in_frame(function, *args)
    assert frame >= count and not allocated


def test_nothing_is_counted_of_an_array_in_the_frame():
    assert not any(i.op is RELEASE for i in ops(zeros_in_a_loop, 7))


# Arrays that escape

def returned(x):
    a = np.array([x, 2.0])
    return a


def view_returned(x):
    return np.array([[x, 1.0], [2.0, 3.0]])[1]


def in_a_tuple(x):
    return x, (np.array([x, 2.0]), 3)


def best_kept(n):
    best = np.zeros(2)
    for i in range(n):
        now = np.array([i * 7 % 5, i * 1.0])
        if now[0] > best[0]:
            best = now
    return best[0] * 10 + best[1]


def one_before(n):
    before = np.zeros(2)
    total = 0.0
    for i in range(n):
        now = np.array([i * 1.0, 2.0])
        total = total * 2 + now[0] - before[0]
        before = now
    return total


def turns(n):
    a = np.zeros(2)
    b = np.ones(2)
    total = 0.0
    for i in range(n):
        c = np.array([i * 1.0, i + 0.5])
        total = total * 1.5 + a[0] + b[1] * c[0]
        a, b = b, c
    return total


def view_kept(n):
    last = np.zeros(2)
    for i in range(n):
        m = np.zeros((2, 2))
        m[1, 0] = i
        if i % 3 == 0:
            last = m[1]
    return last[0]


def raised(x):
    raise ValueError(np.array([x, 2.0]))


def raised_further_down(x):
    fail(np.array([x, 2.0]))


def fail(a):
    raise KeyError(a)


def given_back(x):
    return first_of_two(np.array([x, 2.0]), np.array([3.0, 4.0]))


def first_of_two(a, b):
    return a[:1] if b[0] > 0 else b[:1]


def enclosed(x):
    a = np.array([x, 2.0])

    def inner():
        return a

    b = inner()
    a = np.array([5.0, 6.0])
    return b, inner()


def yielding(n):
    a = np.zeros(2)
    for i in range(n):
        a[0] += i
        yield a


def generated(n):
    held = np.ones(2)
    total = 0.0
    for a in yielding(n):
        total += a[0] * held[0]
        held = a
    return total, held


def iterated(n):
    it = iter(np.array([1.0, 2.0, 3.0]))
    total = 0.0
    for _ in range(n):
        total += next(it)
    return total


def deeper(n):
    a = np.array([n * 1.0, n + 1.0])
    if n > 0:
        return deeper(n - 1) + a[0] * a[1]
    return a[0]


def printed(x):
    a = np.array([x, 2.0])
    print(a)


@pytest.mark.parametrize("function, arg", [
    (returned, 1.5), (view_returned, 1.5), (in_a_tuple, 2.5), (best_kept, 12), (one_before, 9), (turns, 9),
    (view_kept, 8), (raised, 1.0), (raised_further_down, 1.0), (given_back, 1.0), (enclosed, 1.0), (generated, 5),
    (iterated, 3), (deeper, 6), (printed, 1.0)],
    ids=lambda x: getattr(x, "__name__", None))
def test_what_somebody_may_hold_longer_is_allocated(function, arg):
    compiled = agree(function, arg)
    for _ in range(3):  # with data of earlier calls on the stack
        zeros(40)
        agree(function, arg, compiled=compiled)


def test_what_leaves_lives_as_long_as_it_is_used():
    f = njit(in_a_tuple)
    kept = [f(float(i))[1][0] for i in range(200)]
    gc.collect()
    assert [list(a) for a in kept] == [[float(i), 2.0] for i in range(200)]
    assert all(a.flags.owndata for a in kept)


# Lengths that are not constants

@njit
def zeros(n):
    a = np.zeros(n)
    total = 0.0
    for i in range(n):
        total += a[i]
        a[i] = 1.5
    return total


def some_lengths(n):
    a = np.zeros(n)
    b = np.empty(n, np.int16)
    for i in range(n):
        a[i] += i
        b[i] = 2 * i
    total = np.float64(0.0)
    for i in range(n):
        total = total * 1.25 + a[i] * b[i]
    return total


def some_shapes(n, m):
    a = np.zeros((n, m))
    if a.size == 0:
        return np.float64(a.shape[0] - a.shape[1])
    for i in range(n):
        for j in range(m):
            a[i, j] += i - j
    return a[-1, 0]


def last_of_copy(a, i):
    b = a.copy()
    b[i] = 7
    return b[0] * 2 + b[-1]


def test_buffers_serve_short_arrays_and_no_others():
    compiled = agree(some_lengths, 3)
    for n in (0, 1, 15, 16, 17, 63, 64, 65, 5000, 2, -1):
        agree(some_lengths, n, compiled=compiled)
        assert zeros(max(n, 0)) == 0.0  # the buffer is cleared each time
    frame, allocated = in_frame(some_lengths, 3)
    assert frame == 4 and allocated == 0  # two, and two for numbers whose range shows that they fit int16
    compiled = agree(some_shapes, 2, 3)
    for n, m in ((4, 4), (16, 1), (1, 17), (4, 5), (0, 3), (3, 0), (0, 1 << 40), (1 << 40, 0), (-1, 2), (2, -1),
                 (-4, -4), (1 << 32, 1 << 32), (1 << 62, 4)):
        agree(some_shapes, n, m, compiled=compiled)
    compiled = agree(last_of_copy, np.arange(3.0), 1)
    for n in (1, 16, 17, 100):
        agree(last_of_copy, np.arange(float(n)), n - 1, compiled=compiled)
    for dtype in (np.complex128, np.int8, np.bool_):
        agree(last_of_copy, np.ones(9, dtype), 0)


def test_frames_stay_small():
    def many(n):
        total = 0.0
        for i in range(n):
            a, b, c, d = np.zeros(100), np.zeros(100), np.zeros(100), np.zeros(100)
            e, f, g, h = np.zeros(100), np.zeros(100), np.zeros(100), np.zeros(100)
            p, q, r, s = np.zeros(100), np.zeros(100), np.zeros(100), np.zeros(100)
            a[i] = b[i] = c[i] = d[i] = e[i] = f[i] = g[i] = h[i] = p[i] = q[i] = r[i] = s[i] = i
            total += a[i] + b[i] * c[i] - d[0] + e[i] * f[i] + g[i] - h[i] * p[i] + q[i] * r[i] - s[i]
        return total

    agree(many, 6)
    frame, allocated = in_frame(many, 6)
    assert frame == 10 and allocated  # 800 bytes each of 8,192

    def deep(n):
        a, b, c = np.zeros(100), np.zeros(100), np.zeros(100)
        a[n] = b[n] = c[n] = n
        return a[n] + b[0] + c[n] + (deep(n - 1) if n else 0.0)

    agree(deep, 6)
    frame, allocated = in_frame(deep, 6)
    assert frame == 2 and allocated  # 800 bytes each of 2,048, since it may be on the stack many times
