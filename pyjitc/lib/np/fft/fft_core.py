"""The discrete Fourier transform of one row, on split arrays: real parts in one, imaginary parts in another.

Stockham's mixed radix algorithm (P. N. Swarztrauber, FFT algorithms for vector computers, 1984): each pass handles one
factor of the length and writes to the other pair of arrays, so that no reordering is needed and the inner loops run
over neighbours. Lengths with a large prime factor are transformed by a convolution (L. Bluestein, 1970). Only the
forward transform is implemented: with real and imaginary parts of input and output exchanged it is the inverse one.
"""
from __future__ import annotations

import math

import numpy as np

from ....infer.meaning import Apply, Const
from ....ops.arith import BNOT, BOR, IADD, IGT, ILE, IMUL, ISUB
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE, ARRAY_VIEW
from ....ops.structure import SELECT
from ....types.kinds import Array, Int
from ...build import outlined
from ...rule import intrinsic
from ..shapes.views import item_bits

__all__ = ["piece", "plan_of", "roots_in", "work_of", "transform", "get", "put"]

PAD = 72  # elements between arrays that are accessed in step, so that they do not fall into the same cache lines
DIRECT = 50  # the largest prime factor of lengths that are always transformed directly


def get(a, i):
    return ARRAY_LOAD(a, i, parallel=True)


def put(a, i, x):
    ARRAY_STORE(a, i, x, parallel=True)


@intrinsic
def piece(a, start, n):
    """a[start:start + n] of a contiguous array."""
    t = a.type.dtype
    size = item_bits(t) // 8
    return Apply(ARRAY_VIEW, a, Apply(IMUL, start, Const(Int, size)), n, Const(Int, size), type=Array(t, 1))


def pair(n, t):
    """Two arrays, for the real and imaginary parts."""
    room = np.empty(2 * n + PAD, t)
    return piece(room, 0, n), piece(room, n + PAD, n)


# ---------------------------------------------------------------- the roots of unity


# Sine and cosine of angles up to pi / 4: FreeBSD's k_sin.c and k_cos.c, whose errors are below 0.6 ulp; without
# branches.
S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


def sine(x):
    z = x * x
    return x + x * z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))))


def cosine(x):
    z = x * x
    half = 0.5 * z
    w = 1.0 - half
    return w + ((1.0 - w - half) + z * z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6))))))


@outlined
def roots_of(n):
    """(cos, -sin) of 2 pi k / n for 0 <= k <= n (k = n mirrors k = 0); angles are measured from the nearest axis, for
    accuracy."""
    re, im = np.empty(n + 1, np.float64), np.empty(n + 1, np.float64)
    unit = math.pi / (2.0 * n)
    first, second = n // 8, 3 * n // 8
    for k in range(n // 2 + 1):
        near, far = ILE(k, first), IGT(k, second)
        angle = SELECT(near, IMUL(4, k), SELECT(far, ISUB(IMUL(2, n), IMUL(4, k)), ISUB(n, IMUL(4, k)))) * unit
        x, y = cosine(angle), sine(angle)
        swapped = BNOT(BOR(near, far))
        c, s = SELECT(swapped, y, x), SELECT(swapped, x, y)
        c = SELECT(far, -c, c)
        put(re, k, c)
        put(im, k, -s)
        put(re, ISUB(n, k), c)
        put(im, ISUB(n, k), s)
    return re, im


@outlined
def roots_in(n, t):
    """The roots of unity with elements of type t."""
    re, im = roots_of(n)
    if t == np.float64:
        return re, im
    return re.astype(t), im.astype(t)


# ---------------------------------------------------------------- plans


@outlined
def factors_of(n):
    """The factors of n in the order of the passes: odd primes from the largest on, twos, then fours. The inner loops of
    the last passes are the longest, and the pass for four is the most optimised."""
    found = np.empty(64, np.int64)
    at = 64
    while n % 4 == 0:
        at -= 1
        put(found, at, 4)
        n //= 4
    p = 2
    while n > 1:
        if p * p > n:
            p = n
        while n % p == 0:
            at -= 1
            put(found, at, p)
            n //= p
        p += 1 if p == 2 else 2
    return found[at:].copy()


@outlined
def convolved(n):
    """The length of the transforms by which a transform of length n is computed, or 0 where it is computed directly."""
    factors = factors_of(n)
    largest = int(factors[0]) if len(factors) else 1
    if largest <= DIRECT:
        return 0
    direct = 0.0
    for q in factors:
        p = int(q)
        direct += n * cost_of(p)
    size = smooth(2 * n - 1)
    around = 0.0
    for q in factors_of(size):
        p = int(q)
        around += size * cost_of(p)
    return 0 if direct < 3.0 * around else size


def cost_of(p):
    return float(p) if p <= 5 else 1.1 * p


def smooth(n):
    """The smallest 2^i 3^j 5^k that is not below n."""
    best = 1
    while best < n:
        best *= 2
    five = 1
    while five < best:
        three = five
        while three < best:
            two = three
            while two < n:
                two *= 2
            best = min(best, two)
            three *= 3
        five *= 5
    return best


@outlined
def twiddles(n, factors, roots, t):
    """The roots of all passes, in the order in which they are read."""
    total = 0
    many, wide = 1, n
    for q in factors:
        p = int(q)
        wide //= p
        total += (p - 1) * wide if p <= 5 else 0
    re, im = pair(total, t)
    at = 0
    wide = n
    for q in factors:
        p = int(q)
        wide //= p
        if p <= 5:
            for j in range(1, p):
                for i in range(wide):
                    root = IMUL(IMUL(j, many), i)
                    put(re, IADD(at, i), get(roots[0], root))
                    put(im, IADD(at, i), get(roots[1], root))
                at += wide
        many *= p
    return re, im


@outlined
def direct_plan(n, t):
    """The plan of a direct transform: (n, factors, roots of the passes, all roots)"""
    factors = factors_of(n)
    roots = roots_in(n, t)
    return n, factors, twiddles(n, factors, roots, t), roots


@outlined
def plan_of(n, t):
    """(n, length of the convolution or 0, plan of the direct transform of either, chirp, transform of the chirp)"""
    size = convolved(n)
    direct = direct_plan(size if size else n, t)
    if size == 0:
        return n, 0, direct, pair(0, t), pair(0, t)
    return n, size, direct, *chirp_of(n, size, direct, t)


@outlined
def chirp_of(n, size, direct, t):
    """The roots of k * k / 2, and the transform of their conjugates, continued to negative k."""
    turn, (re, im) = roots_in(2 * n, t), pair(n, t)
    x, y = pair(size, t), pair(size, t)
    for k in range(size):
        put(x[0], k, t.type(0))
        put(x[1], k, t.type(0))
    scale = t.type(1.0 / size)
    at = 0
    for k in range(n):
        c, s = get(turn[0], at), get(turn[1], at)
        put(re, k, c)
        put(im, k, s)
        put(x[0], k, c * scale)
        put(x[1], k, -s * scale)
        if k > 0:
            put(x[0], ISUB(size, k), c * scale)
            put(x[1], ISUB(size, k), -s * scale)
        at = IADD(at, IADD(IMUL(2, k), 1))
        if at >= 2 * n:
            at = ISUB(at, IMUL(2, n))
    return (re, im), y if passes(x, y, direct) else x


def work_of(plan, t):
    """Two pairs of arrays for the transforms of a plan."""
    n = max(plan[0], plan[1])
    room, step = np.empty(4 * (n + PAD), t), n + PAD
    return (piece(room, 0, n), piece(room, step, n)), (piece(room, 2 * step, n), piece(room, 3 * step, n))


# ---------------------------------------------------------------- passes

# A pass reads x[i + wide * (j + p * k)] and writes y[i + wide * (k + many * j)], for i < wide, j < p, k < many.


@outlined
def pass4(x, y, w, at, wide, many):
    if wide == 1:
        for k in range(many):
            four(x, y, w, IMUL(4, k), 1, k, many, 0, 1, False)
    else:
        for k in range(many):
            for i in range(wide):
                four(x, y, w, IADD(i, IMUL(IMUL(4, k), wide)), wide, IADD(i, IMUL(k, wide)), IMUL(wide, many),
                     IADD(at, i), wide, True)


def four(x, y, w, p, s, q, t, u, v, turned):
    """Four elements from p in steps of s, to q in steps of t, turned by the roots at u in steps of v."""
    p1 = IADD(p, s)
    p2 = IADD(p1, s)
    p3 = IADD(p2, s)
    ar, ai, br, bi = get(x[0], p), get(x[1], p), get(x[0], p1), get(x[1], p1)
    cr, ci, dr, di = get(x[0], p2), get(x[1], p2), get(x[0], p3), get(x[1], p3)
    er, ei, fr, fi = ar + cr, ai + ci, ar - cr, ai - ci
    gr, gi, hr, hi = br + dr, bi + di, br - dr, bi - di
    q1 = IADD(q, t)
    q2 = IADD(q1, t)
    put(y[0], q, er + gr)
    put(y[1], q, ei + gi)
    give(y, w, q1, u, fr + hi, fi - hr, turned)
    give(y, w, q2, IADD(u, v), er - gr, ei - gi, turned)
    give(y, w, IADD(q2, t), IADD(u, IMUL(2, v)), fr - hi, fi + hr, turned)


def give(y, w, q, u, re, im, turned):
    """Store (re, im) times the root u at position q."""
    if turned:
        wr, wi = get(w[0], u), get(w[1], u)
        put(y[0], q, re * wr - im * wi)
        put(y[1], q, re * wi + im * wr)
    else:
        put(y[0], q, re)
        put(y[1], q, im)


@outlined
def pass2(x, y, w, at, wide, many):
    for k in range(many):
        for i in range(wide):
            two(x, y, w, IADD(i, IMUL(IMUL(2, k), wide)), wide, IADD(i, IMUL(k, wide)), IMUL(wide, many), IADD(at, i),
                True)


def two(x, y, w, p, s, q, t, u, turned):
    p1 = IADD(p, s)
    ar, ai, br, bi = get(x[0], p), get(x[1], p), get(x[0], p1), get(x[1], p1)
    put(y[0], q, ar + br)
    put(y[1], q, ai + bi)
    give(y, w, IADD(q, t), u, ar - br, ai - bi, turned)


@outlined
def pass3(x, y, w, at, wide, many):
    for k in range(many):
        for i in range(wide):
            three(x, y, w, IADD(i, IMUL(IMUL(3, k), wide)), wide, IADD(i, IMUL(k, wide)), IMUL(wide, many), IADD(at, i),
                  wide, True)


def three(x, y, w, p, s, q, t, u, v, turned):
    real = x[0].dtype.type
    p1 = IADD(p, s)
    p2 = IADD(p1, s)
    ar, ai, br, bi, cr, ci = get(x[0], p), get(x[1], p), get(x[0], p1), get(x[1], p1), get(x[0], p2), get(x[1], p2)
    sr, si = br + cr, bi + ci
    mr, mi = ar - real(0.5) * sr, ai - real(0.5) * si
    half = real(SIN3)
    nr, ni = half * (br - cr), half * (bi - ci)
    q1 = IADD(q, t)
    put(y[0], q, ar + sr)
    put(y[1], q, ai + si)
    give(y, w, q1, u, mr + ni, mi - nr, turned)
    give(y, w, IADD(q1, t), IADD(u, v), mr - ni, mi + nr, turned)


SIN3 = math.sqrt(0.75)
COS51, SIN51 = (math.sqrt(5.0) - 1.0) / 4.0, math.sqrt((5.0 + math.sqrt(5.0)) / 8.0)
COS52, SIN52 = (-math.sqrt(5.0) - 1.0) / 4.0, math.sqrt((5.0 - math.sqrt(5.0)) / 8.0)


@outlined
def pass5(x, y, w, at, wide, many):
    for k in range(many):
        for i in range(wide):
            five(x, y, w, IADD(i, IMUL(IMUL(5, k), wide)), wide, IADD(i, IMUL(k, wide)), IMUL(wide, many), IADD(at, i),
                 wide, True)


def five(x, y, w, p, s, q, t, u, v, turned):
    real = x[0].dtype.type
    p1 = IADD(p, s)
    p2 = IADD(p1, s)
    p3 = IADD(p2, s)
    p4 = IADD(p3, s)
    ar, ai, br, bi, cr, ci = get(x[0], p), get(x[1], p), get(x[0], p1), get(x[1], p1), get(x[0], p2), get(x[1], p2)
    dr, di, er, ei = get(x[0], p3), get(x[1], p3), get(x[0], p4), get(x[1], p4)
    br, bi, er, ei = br + er, bi + ei, br - er, bi - ei
    cr, ci, dr, di = cr + dr, ci + di, cr - dr, ci - di
    c1, c2, s1, s2 = real(COS51), real(COS52), real(SIN51), real(SIN52)
    fr, fi, gr, gi = ar + c1 * br + c2 * cr, ai + c1 * bi + c2 * ci, s1 * er + s2 * dr, s1 * ei + s2 * di
    hr, hi, kr, ki = ar + c2 * br + c1 * cr, ai + c2 * bi + c1 * ci, s2 * er - s1 * dr, s2 * ei - s1 * di
    q1 = IADD(q, t)
    q2 = IADD(q1, t)
    q3 = IADD(q2, t)
    put(y[0], q, ar + br + cr)
    put(y[1], q, ai + bi + ci)
    give(y, w, q1, u, fr + gi, fi - gr, turned)
    give(y, w, q2, IADD(u, v), hr + ki, hi - kr, turned)
    give(y, w, q3, IADD(u, IMUL(2, v)), hr - ki, hi + kr, turned)
    give(y, w, IADD(q3, t), IADD(u, IMUL(3, v)), fr - gi, fi + gr, turned)


@outlined
def pass_odd(x, y, roots, n, p, wide, many):
    """Any odd factor: sums and differences of opposite elements first, then the sums with cosines and sines."""
    half = p // 2
    skip = n // p
    t = x[0].dtype.type
    sums = np.empty(half + 1, x[0].dtype), np.empty(half + 1, x[0].dtype)
    others = np.empty(half + 1, x[0].dtype), np.empty(half + 1, x[0].dtype)
    out = IMUL(wide, many)
    for k in range(many):
        for i in range(wide):
            first = IADD(i, IMUL(IMUL(p, k), wide))
            to = IADD(i, IMUL(k, wide))
            ar, ai = ARRAY_LOAD(x[0], first), ARRAY_LOAD(x[1], first)
            tr, ti = ar, ai
            for j in range(1, half + 1):
                low, high = IADD(first, IMUL(j, wide)), IADD(first, IMUL(ISUB(p, j), wide))
                br, bi = ARRAY_LOAD(x[0], low), ARRAY_LOAD(x[1], low)
                cr, ci = ARRAY_LOAD(x[0], high), ARRAY_LOAD(x[1], high)
                ARRAY_STORE(sums[0], j, br + cr)
                ARRAY_STORE(sums[1], j, bi + ci)
                ARRAY_STORE(others[0], j, br - cr)
                ARRAY_STORE(others[1], j, bi - ci)
                tr += br + cr
                ti += bi + ci
            ARRAY_STORE(y[0], to, tr)
            ARRAY_STORE(y[1], to, ti)
            for m in range(1, half + 1):
                re, im, vr, vi = ar, ai, t(0), t(0)
                at = 0
                for j in range(1, half + 1):
                    at = IADD(at, m)
                    if at >= p:
                        at = ISUB(at, p)
                    c, s = ARRAY_LOAD(roots[0], IMUL(at, skip)), ARRAY_LOAD(roots[1], IMUL(at, skip))
                    re += c * ARRAY_LOAD(sums[0], j)
                    im += c * ARRAY_LOAD(sums[1], j)
                    vr += s * ARRAY_LOAD(others[0], j)
                    vi += s * ARRAY_LOAD(others[1], j)
                turn(y, roots, IADD(to, IMUL(m, out)), IMUL(IMUL(m, many), i), re - vi, im + vr)
                turn(y, roots, IADD(to, IMUL(ISUB(p, m), out)), IMUL(IMUL(ISUB(p, m), many), i), re + vi, im - vr)


def turn(y, roots, q, u, re, im):
    wr, wi = ARRAY_LOAD(roots[0], u), ARRAY_LOAD(roots[1], u)
    ARRAY_STORE(y[0], q, re * wr - im * wi)
    ARRAY_STORE(y[1], q, re * wi + im * wr)


@outlined
def passes(x, y, plan):
    """Transform x; returns whether the result is in y. Both are overwritten."""
    n, factors, w, roots = plan
    many, wide = 1, n
    at = 0
    moved = False
    for q in factors:
        p = int(q)
        wide //= p
        if p == 4:
            pass4(x, y, w, at, wide, many)
        elif p == 2:
            pass2(x, y, w, at, wide, many)
        elif p == 3:
            pass3(x, y, w, at, wide, many)
        elif p == 5:
            pass5(x, y, w, at, wide, many)
        else:
            pass_odd(x, y, roots, n, p, wide, many)
        if p <= 5:
            at += (p - 1) * wide
        many *= p
        x, y = y, x
        moved = not moved
    return moved


@outlined
def transform(x, y, plan):
    """Transform x by a plan; returns whether the result is in y. Both are overwritten."""
    n, size, direct, chirp, filtered = plan
    if size == 0:
        return passes(x, y, direct)
    # sum of x[k] w^(jk) = b[j] * sum of x[k] b[k] / b[j - k], with b[k] = w^(k k / 2): a cyclic convolution
    times(x, x, chirp, n)
    for k in range(n, size):
        put(x[0], k, x[0].dtype.type(0))
        put(x[1], k, x[0].dtype.type(0))
    moved = passes(x, y, direct)
    if moved:
        x, y = y, x
    times((x[1], x[0]), x, filtered, size)  # parts exchanged, for the inverse transform
    if passes(x, y, direct):
        x, y = y, x
        moved = not moved
    times(x, (x[1], x[0]), chirp, n)
    return moved


@outlined
def times(z, x, w, n):
    """Store the products of x and w in z; z may be x."""
    for k in range(n):
        re, im, cr, ci = get(x[0], k), get(x[1], k), get(w[0], k), get(w[1], k)
        put(z[0], k, re * cr - im * ci)
        put(z[1], k, re * ci + im * cr)
