# ruff: noqa: F821
"""Loops that are compared with C: the programs of bench/c_programs.c, translated to Python line by line. `njit` is each
contender's own decorator, as in bench.programs.

CASES: name -> (function, makes its arguments from a random generator). LAST_BITS: names of the programs that call
functions of `math`, whose results may differ from the C library's in the last bits.
"""
import math

import numpy as np


def floats(*sizes):
    """Makes arrays of float64 of these shapes, with numbers in [0.5, 1.5)."""
    return lambda rng: tuple(rng.random(size) + 0.5 for size in sizes)


# ---------------------------------------------------------------- PolyBench: products of matrices and vectors

@njit
def gemm(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


@njit
def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += beta * a[j, i] * y[j]
    for i in range(n):
        x[i] += z[i]
    for i in range(n):
        for j in range(n):
            w[i] += alpha * a[i, j] * x[j]


@njit
def gesummv(alpha, beta, a, b, tmp, x, y):
    n = a.shape[0]
    for i in range(n):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(n):
            tmp[i] += a[i, j] * x[j]
            y[i] += b[i, j] * x[j]
        y[i] = alpha * tmp[i] + beta * y[i]


@njit
def symm(alpha, beta, c, a, b):
    m, n = c.shape
    for i in range(m):
        for j in range(n):
            temp = 0.0
            for k in range(i):
                c[k, j] += alpha * b[i, j] * a[i, k]
                temp += b[k, j] * a[i, k]
            c[i, j] = beta * c[i, j] + alpha * b[i, j] * a[i, i] + alpha * temp


@njit
def syr2k(alpha, beta, c, a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                c[i, j] += a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k]


@njit
def syrk(alpha, beta, c, a):
    n, m = a.shape
    for i in range(n):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


@njit
def trmm(alpha, a, b):
    m, n = b.shape
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]


@njit
def two_mm(alpha, beta, tmp, a, b, c, d):
    n = a.shape[0]
    for i in range(n):
        for j in range(b.shape[1]):
            tmp[i, j] = 0.0
            for k in range(a.shape[1]):
                tmp[i, j] += alpha * a[i, k] * b[k, j]
    for i in range(n):
        for j in range(d.shape[1]):
            d[i, j] *= beta
            for k in range(c.shape[0]):
                d[i, j] += tmp[i, k] * c[k, j]


@njit
def three_mm(e, a, b, f, c, d, g):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            e[i, j] = 0.0
            for k in range(n):
                e[i, j] += a[i, k] * b[k, j]
    for i in range(n):
        for j in range(n):
            f[i, j] = 0.0
            for k in range(n):
                f[i, j] += c[i, k] * d[k, j]
    for i in range(n):
        for j in range(n):
            g[i, j] = 0.0
            for k in range(n):
                g[i, j] += e[i, k] * f[k, j]


@njit
def atax(a, x, y, tmp):
    m, n = a.shape
    for i in range(n):
        y[i] = 0.0
    for i in range(m):
        tmp[i] = 0.0
        for j in range(n):
            tmp[i] += a[i, j] * x[j]
        for j in range(n):
            y[j] += a[i, j] * tmp[i]


@njit
def bicg(a, s, q, p, r):
    n, m = a.shape
    for i in range(m):
        s[i] = 0.0
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]


@njit
def doitgen(a, c4, total):
    nr, nq, np_ = a.shape
    for r in range(nr):
        for q in range(nq):
            for p in range(np_):
                total[p] = 0.0
                for s in range(np_):
                    total[p] += a[r, q, s] * c4[s, p]
            for p in range(np_):
                a[r, q, p] = total[p]


@njit
def mvt(x1, x2, y1, y2, a):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            x1[i] += a[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += a[j, i] * y2[j]


# ---------------------------------------------------------------- PolyBench: solvers

@njit
def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = math.sqrt(a[i, i])


@njit
def durbin(r, y, z):
    n = len(r)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


@njit
def gramschmidt(a, r, q):
    m, n = a.shape
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(norm)
        for i in range(m):
            q[i, k] = a[i, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = 0.0
            for i in range(m):
                r[k, j] += q[i, k] * a[i, j]
            for i in range(m):
                a[i, j] -= q[i, k] * r[k, j]


@njit
def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


@njit
def ludcmp(a, b, x, y):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            w = a[i, j]
            for k in range(j):
                w -= a[i, k] * a[k, j]
            a[i, j] = w / a[j, j]
        for j in range(i, n):
            w = a[i, j]
            for k in range(i):
                w -= a[i, k] * a[k, j]
            a[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= a[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= a[i, j] * x[j]
        x[i] = w / a[i, i]


@njit
def trisolv(lower, x, b):
    for i in range(len(x)):
        x[i] = b[i]
        for j in range(i):
            x[i] -= lower[i, j] * x[j]
        x[i] = x[i] / lower[i, i]


# ---------------------------------------------------------------- PolyBench: statistics, dynamic programming

@njit
def correlation(data, corr, mean, deviation):
    n, m = data.shape
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in range(m):
        deviation[j] = 0.0
        for i in range(n):
            deviation[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        deviation[j] = math.sqrt(deviation[j] / n)
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(n) * deviation[j]
    for i in range(m - 1):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[m - 1, m - 1] = 1.0


@njit
def covariance(data, cov, mean):
    n, m = data.shape
    for j in range(m):
        mean[j] = 0.0
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    for i in range(m):
        for j in range(i, m):
            cov[i, j] = 0.0
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= n - 1.0
            cov[j, i] = cov[i, j]


@njit
def deriche(a1, a2, a3, a4, b1, b2, image, out, y2):
    w, h = image.shape
    for i in range(w):
        ym1 = ym2 = xm1 = 0.0
        for j in range(h):
            y = a1 * image[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            out[i, j] = y
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = y
    for i in range(w):
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            y2[i, j] = y
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = y
    for i in range(w):
        for j in range(h):
            out[i, j] = out[i, j] + y2[i, j]


@njit
def floyd_warshall(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if path[i, k] + path[k, j] < path[i, j]:
                    path[i, j] = path[i, k] + path[k, j]


@njit
def nussinov(sequence, table):
    n = len(sequence)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = table[i, j]
            if table[i, j - 1] > best:
                best = table[i, j - 1]
            if table[i + 1, j] > best:
                best = table[i + 1, j]
            paired = table[i + 1, j - 1]
            if i < j - 1 and sequence[i] + sequence[j] == 3:
                paired += 1
            if paired > best:
                best = paired
            for k in range(i + 1, j):
                if table[i, k] + table[k + 1, j] > best:
                    best = table[i, k] + table[k + 1, j]
            table[i, j] = best


# ---------------------------------------------------------------- PolyBench: stencils

@njit
def adi(steps, u, v, p, q):
    n = u.shape[0]
    a, b, d, f = -0.5, 2.0, -0.25, -0.25
    e, c = 1.5, -0.5
    for _ in range(steps):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1]
                           - a * q[i, j - 1]) / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j]
                           - d * q[i, j - 1]) / (d * p[i, j - 1] + e)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


@njit
def fdtd_2d(steps, ex, ey, hz):
    nx, ny = hz.shape
    for t in range(steps):
        for j in range(ny):
            ey[0, j] = t
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@njit
def heat_3d(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    b[i, j, k] = (0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                                  + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                                  + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1]) + a[i, j, k])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    a[i, j, k] = (0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                                  + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                                  + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1]) + b[i, j, k])


@njit
def jacobi_1d(steps, a, b):
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1])


@njit
def jacobi_2d(steps, a, b):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


@njit
def seidel_2d(steps, a):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1]
                           + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0


# ---------------------------------------------------------------- bits and hashes

@njit
def population_count(values):
    total = 0
    for i in range(len(values)):
        v = values[i]
        while v:
            v &= v - 1
            total += 1
    return total


@njit
def bit_reverse(values, out, bits):
    for i in range(len(values)):
        r = 0
        for b in range(bits):
            if values[i] & (1 << b):
                r |= 1 << (bits - 1 - b)
        out[i] = r


@njit
def crc32(data, table):
    crc = 0xFFFFFFFF
    for i in range(len(data)):
        crc = (crc >> 8) ^ table[(crc ^ int(data[i])) & 255]
    return crc ^ 0xFFFFFFFF


@njit
def crc32_bits(data):
    crc = 0xFFFFFFFF
    for i in range(len(data)):
        crc ^= int(data[i])
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xEDB88320
            else:
                crc >>= 1
    return crc ^ 0xFFFFFFFF


@njit
def fnv1a(data):
    h = np.uint64(0xCBF29CE484222325)
    for i in range(len(data)):
        h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return h


@njit
def mix64(values, out):
    for i in range(len(values)):
        z = values[i]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] = z ^ (z >> np.uint64(31))


@njit
def hamming(a, b):
    total = 0
    for i in range(len(a)):
        x = a[i] ^ b[i]
        while x:
            total += x & 1
            x >>= 1
    return total


@njit
def gray_codes(out):
    for i in range(len(out)):
        g = i ^ (i >> 1)
        n = 0
        for b in range(16):
            n += (g >> b) & 1
        out[i] = g + n


@njit
def queens(n):
    """The number of ways to put n queens on a board, counted with a stack of bit masks."""
    full = (1 << n) - 1
    columns = np.zeros(32, np.int64)
    left = np.zeros(32, np.int64)
    right = np.zeros(32, np.int64)
    free = np.zeros(32, np.int64)
    count = depth = 0
    free[0] = full
    while depth >= 0:
        if free[depth] == 0:
            depth -= 1
            continue
        bit = free[depth] & -free[depth]
        free[depth] ^= bit
        if depth == n - 1:
            count += 1
            continue
        columns[depth + 1] = columns[depth] | bit
        left[depth + 1] = ((left[depth] | bit) << 1) & full
        right[depth + 1] = (right[depth] | bit) >> 1
        depth += 1
        free[depth] = full & ~(columns[depth] | left[depth] | right[depth])
    return count


# ---------------------------------------------------------------- transforms, sorting

@njit
def fft(re, im, wr, wi):
    n = len(re)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    size = 2
    while size <= n:
        half = size // 2
        step = n // size
        for start in range(0, n, size):
            for k in range(half):
                a = start + k
                b = a + half
                tr = wr[k * step] * re[b] - wi[k * step] * im[b]
                ti = wr[k * step] * im[b] + wi[k * step] * re[b]
                re[b] = re[a] - tr
                im[b] = im[a] - ti
                re[a] += tr
                im[a] += ti
        size *= 2


@njit
def haar(a, tmp):
    n = len(a)
    while n > 1:
        half = n // 2
        for i in range(half):
            tmp[i] = (a[2 * i] + a[2 * i + 1]) * 0.7071067811865476
            tmp[half + i] = (a[2 * i] - a[2 * i + 1]) * 0.7071067811865476
        for i in range(n):
            a[i] = tmp[i]
        n = half


@njit
def insertion_sort(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


@njit
def shell_sort(a):
    n = len(a)
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            x = a[i]
            j = i
            while j >= gap and a[j - gap] > x:
                a[j] = a[j - gap]
                j -= gap
            a[j] = x
        gap //= 2


@njit
def heap_sort(a):
    n = len(a)
    for begin in range(n // 2 - 1, -1, -1):
        root = begin
        while 2 * root + 1 < n:
            child = 2 * root + 1
            if child + 1 < n and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            a[root], a[child] = a[child], a[root]
            root = child
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        root = 0
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            a[root], a[child] = a[child], a[root]
            root = child


@njit
def merge_sort(a, tmp):
    n = len(a)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i = low
            j = middle
            for k in range(low, high):
                if i < middle and (j >= high or a[i] <= a[j]):
                    tmp[k] = a[i]
                    i += 1
                else:
                    tmp[k] = a[j]
                    j += 1
        for k in range(n):
            a[k] = tmp[k]
        width *= 2


@njit
def radix_sort(a, tmp):
    n = len(a)
    count = np.zeros(256, np.int64)
    for shift in range(0, 24, 8):
        for d in range(256):
            count[d] = 0
        for i in range(n):
            count[(a[i] >> shift) & 255] += 1
        total = 0
        for d in range(256):
            here = count[d]
            count[d] = total
            total += here
        for i in range(n):
            d = (a[i] >> shift) & 255
            tmp[count[d]] = a[i]
            count[d] += 1
        for i in range(n):
            a[i] = tmp[i]


# ---------------------------------------------------------------- dynamic programming, graphs

@njit
def common_subsequence(a, b, table):
    n, m = len(a), len(b)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table[n, m]


@njit
def edit_distance(a, b, previous, current):
    n, m = len(a), len(b)
    for j in range(m + 1):
        previous[j] = j
    for i in range(1, n + 1):
        current[0] = i
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
        for j in range(m + 1):
            previous[j] = current[j]
    return previous[m]


@njit
def knapsack(weights, values, best):
    capacity = len(best) - 1
    for i in range(len(weights)):
        w = weights[i]
        for c in range(capacity, w - 1, -1):
            if best[c - w] + values[i] > best[c]:
                best[c] = best[c - w] + values[i]
    return best[capacity]


@njit
def matrix_chain(sizes, cost):
    n = len(sizes) - 1
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            least = 1 << 60
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if c < least:
                    least = c
            cost[i, j] = least
    return cost[0, n - 1]


@njit
def flood(grid, queue, distance):
    h, w = grid.shape
    for y in range(h):
        for x in range(w):
            distance[y, x] = -1
    queue[0] = 0
    distance[0, 0] = 0
    head, tail = 0, 1
    while head < tail:
        y = queue[head] // w
        x = queue[head] % w
        head += 1
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            v = y + dy
            u = x + dx
            if 0 <= v < h and 0 <= u < w and grid[v, u] == 0 and distance[v, u] < 0:
                distance[v, u] = distance[y, x] + 1
                queue[tail] = v * w + u
                tail += 1
    return tail


@njit
def components(left, right, parent):
    for i in range(len(parent)):
        parent[i] = i
    count = len(parent)
    for e in range(len(left)):
        a = left[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        b = right[e]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[a] = b
            count -= 1
    return count


@njit
def bellman_ford(sources, targets, weights, distance):
    for i in range(len(distance)):
        distance[i] = 1e30
    distance[0] = 0.0
    rounds = 0
    changed = True
    while changed:
        changed = False
        rounds += 1
        for k in range(len(sources)):
            d = distance[sources[k]] + weights[k]
            if d < distance[targets[k]]:
                distance[targets[k]] = d
                changed = True
    return rounds


@njit
def page_rank(starts, targets, rank, new):
    n = len(rank)
    for _ in range(10):
        for i in range(n):
            new[i] = 0.15 / n
        for i in range(n):
            out = starts[i + 1] - starts[i]
            for e in range(starts[i], starts[i + 1]):
                new[targets[e]] += 0.85 * rank[i] / out
        for i in range(n):
            rank[i] = new[i]


# ---------------------------------------------------------------- cells, pixels, points

@njit
def life(grid, new):
    h, w = grid.shape
    for y in range(h):
        for x in range(w):
            n = 0
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if dy != 0 or dx != 0:
                        n += grid[(y + dy) % h, (x + dx) % w]
            new[y, x] = 1 if n == 3 or (n == 2 and grid[y, x] == 1) else 0


@njit
def rule_30(cells, new, steps):
    n = len(cells)
    for _ in range(steps):
        for i in range(n):
            pattern = cells[(i - 1) % n] * 4 + cells[i] * 2 + cells[(i + 1) % n]
            new[i] = (30 >> pattern) & 1
        for i in range(n):
            cells[i] = new[i]


@njit
def gray_scott(u, v, nu, nv):
    h, w = u.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            lu = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] - 4 * u[y, x]
            lv = v[y - 1, x] + v[y + 1, x] + v[y, x - 1] + v[y, x + 1] - 4 * v[y, x]
            uvv = u[y, x] * v[y, x] * v[y, x]
            nu[y, x] = u[y, x] + 0.16 * lu - uvv + 0.035 * (1 - u[y, x])
            nv[y, x] = v[y, x] + 0.08 * lv + uvv - 0.1 * v[y, x]


@njit
def kmeans_assign(points, centres, labels):
    changed = 0
    for i in range(points.shape[0]):
        best = -1
        least = math.inf
        for c in range(centres.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                diff = points[i, k] - centres[c, k]
                d += diff * diff
            if d < least:
                least = d
                best = c
        if labels[i] != best:
            labels[i] = best
            changed += 1
    return changed


@njit
def nbody(position, velocity, mass, steps):
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                d2 = dx * dx + dy * dy + dz * dz
                mag = 0.01 / (d2 * math.sqrt(d2))
                velocity[i, 0] -= dx * mass[j] * mag
                velocity[i, 1] -= dy * mass[j] * mag
                velocity[i, 2] -= dz * mass[j] * mag
                velocity[j, 0] += dx * mass[i] * mag
                velocity[j, 1] += dy * mass[i] * mag
                velocity[j, 2] += dz * mass[i] * mag
        for i in range(n):
            for k in range(3):
                position[i, k] += 0.01 * velocity[i, k]


@njit
def ray_march(out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            dx = (x - w / 2) / w
            dy = (y - h / 2) / h
            inv = 1.0 / math.sqrt(dx * dx + dy * dy + 1.0)
            dx *= inv
            dy *= inv
            dz = inv
            t = 0.0
            for _ in range(64):
                px, py, pz = dx * t, dy * t, dz * t - 3.0
                ball = math.sqrt(px * px + py * py + pz * pz) - 1.0
                ground = py + 1.0
                d = min(ball, ground)
                if d < 0.001 or t > 20.0:
                    break
                t += d
            out[y, x] = t


@njit
def mandelbrot(out, limit):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            cr = 3.0 * x / w - 2.0
            ci = 2.0 * y / h - 1.0
            zr = zi = 0.0
            n = 0
            while n < limit and zr * zr + zi * zi < 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            out[y, x] = n


@njit
def convex_hull(x, y, hull):
    n = len(x)
    top = 0
    for i in range(n):
        while top >= 2:
            a = hull[top - 2]
            b = hull[top - 1]
            if (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0.0:
                break
            top -= 1
        hull[top] = i
        top += 1
    low = top + 1
    for i in range(n - 2, -1, -1):
        while top >= low:
            a = hull[top - 2]
            b = hull[top - 1]
            if (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0.0:
                break
            top -= 1
        hull[top] = i
        top += 1
    return top - 1


@njit
def points_in_polygon(px, py, x, y):
    count = 0
    n = len(x)
    for p in range(len(px)):
        inside = False
        j = n - 1
        for i in range(n):
            if (y[i] > py[p]) != (y[j] > py[p]):
                if px[p] < (x[j] - x[i]) * (py[p] - y[i]) / (y[j] - y[i]) + x[i]:
                    inside = not inside
            j = i
        if inside:
            count += 1
    return count


@njit
def convolve(image, kernel, out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            total = 0.0
            for i in range(kernel.shape[0]):
                for j in range(kernel.shape[1]):
                    total += image[y + i, x + j] * kernel[i, j]
            out[y, x] = total


@njit
def bilinear(image, out):
    h, w = image.shape
    oh, ow = out.shape
    for y in range(oh):
        for x in range(ow):
            sy = y * (h - 1.0) / oh
            sx = x * (w - 1.0) / ow
            iy = int(sy)
            ix = int(sx)
            fy = sy - iy
            fx = sx - ix
            top = image[iy, ix] * (1.0 - fx) + image[iy, ix + 1] * fx
            low = image[iy + 1, ix] * (1.0 - fx) + image[iy + 1, ix + 1] * fx
            out[y, x] = top * (1.0 - fy) + low * fy


@njit
def pair_distances(points, out):
    n = points.shape[0]
    for i in range(n):
        for j in range(n):
            d = 0.0
            for k in range(points.shape[1]):
                t = points[i, k] - points[j, k]
                d += t * t
            out[i, j] = math.sqrt(d)


# ---------------------------------------------------------------- solvers

@njit
def tridiagonal(lower, diagonal, upper, right, c, x):
    n = len(x)
    c[0] = upper[0] / diagonal[0]
    x[0] = right[0] / diagonal[0]
    for i in range(1, n):
        m = 1.0 / (diagonal[i] - lower[i] * c[i - 1])
        c[i] = upper[i] * m
        x[i] = (right[i] - lower[i] * x[i - 1]) * m
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]


@njit
def sparse_product(starts, columns, values, x, y):
    for i in range(len(y)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


@njit
def csr_transpose(starts, columns, values, new_starts, new_columns, new_values):
    n = len(starts) - 1
    for j in range(n + 1):
        new_starts[j] = 0
    for k in range(len(columns)):
        new_starts[columns[k] + 1] += 1
    for j in range(n):
        new_starts[j + 1] += new_starts[j]
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            at = new_starts[columns[k]]
            new_columns[at] = i
            new_values[at] = values[k]
            new_starts[columns[k]] = at + 1
    for j in range(n, 0, -1):
        new_starts[j] = new_starts[j - 1]
    new_starts[0] = 0


@njit
def gauss_seidel(starts, columns, values, diagonal, b, x):
    for _ in range(5):
        for i in range(len(x)):
            total = b[i]
            for k in range(starts[i], starts[i + 1]):
                total -= values[k] * x[columns[k]]
            x[i] = total / diagonal[i]


@njit
def runge_kutta(x, y, z, steps):
    for _ in range(steps):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - 2.6666666 * z
        mx = x + 0.005 * dx
        my = y + 0.005 * dy
        mz = z + 0.005 * dz
        x += 0.01 * (10.0 * (my - mx))
        y += 0.01 * (mx * (28.0 - mz) - my)
        z += 0.01 * (mx * my - 2.6666666 * mz)
    return x + y + z


@njit
def horner(coefficients, x, out):
    for i in range(len(x)):
        total = 0.0
        for k in range(len(coefficients)):
            total = total * x[i] + coefficients[k]
        out[i] = total


@njit
def gauss_jordan(a):
    n, m = a.shape
    for k in range(n):
        pivot = a[k, k]
        for j in range(m):
            a[k, j] /= pivot
        for i in range(n):
            if i != k:
                factor = a[i, k]
                for j in range(m):
                    a[i, j] -= factor * a[k, j]


# ---------------------------------------------------------------- bytes

@njit
def upper_case(text, out):
    for i in range(len(text)):
        c = text[i]
        if 97 <= c <= 122:
            c -= 32
        out[i] = c


@njit
def count_words(text):
    words = 0
    inside = False
    for i in range(len(text)):
        c = text[i]
        if c == 32 or c == 10 or c == 9:
            inside = False
        elif not inside:
            inside = True
            words += 1
    return words


@njit
def find_text(text, word):
    found = 0
    for i in range(len(text) - len(word) + 1):
        k = 0
        while k < len(word) and text[i + k] == word[k]:
            k += 1
        if k == len(word):
            found += 1
    return found


@njit
def knuth_morris_pratt(text, word, fail):
    m = len(word)
    fail[0] = 0
    k = 0
    for i in range(1, m):
        while k > 0 and word[i] != word[k]:
            k = fail[k - 1]
        if word[i] == word[k]:
            k += 1
        fail[i] = k
    found = 0
    k = 0
    for i in range(len(text)):
        while k > 0 and text[i] != word[k]:
            k = fail[k - 1]
        if text[i] == word[k]:
            k += 1
        if k == m:
            found += 1
            k = fail[k - 1]
    return found


@njit
def utf8_length(data):
    count = 0
    i = 0
    n = len(data)
    while i < n:
        c = data[i]
        if c < 0x80:
            i += 1
        elif c < 0xE0:
            i += 2
        elif c < 0xF0:
            i += 3
        else:
            i += 4
        count += 1
    return count


@njit
def base64(data, alphabet, out):
    n = 0
    for i in range(0, len(data) - 2, 3):
        v = (int(data[i]) << 16) | (int(data[i + 1]) << 8) | int(data[i + 2])
        out[n] = alphabet[v >> 18]
        out[n + 1] = alphabet[(v >> 12) & 63]
        out[n + 2] = alphabet[(v >> 6) & 63]
        out[n + 3] = alphabet[v & 63]
        n += 4
    return n


@njit
def parse_numbers(text):
    total = value = 0
    for i in range(len(text)):
        c = int(text[i])
        if 48 <= c <= 57:
            value = value * 10 + c - 48
        else:
            total += value
            value = 0
    return total + value


@njit
def letter_counts(text, counts):
    for i in range(len(text)):
        counts[text[i]] += 1


@njit
def palindromes(text):
    count = 0
    n = len(text)
    for centre in range(2 * n - 1):
        left = centre // 2
        right = left + centre % 2
        while left >= 0 and right < n and text[left] == text[right]:
            count += 1
            left -= 1
            right += 1
    return count


# ---------------------------------------------------------------- numbers, walks, small matrices

@njit
def random_walk(seed, steps):
    state = np.uint64(seed)
    x = y = 0
    far = 0
    for _ in range(steps):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        move = state & np.uint64(3)
        if move == 0:
            x += 1
        elif move == 1:
            x -= 1
        elif move == 2:
            y += 1
        else:
            y -= 1
        if x * x + y * y > far:
            far = x * x + y * y
    return far


@njit
def pi_by_chance(seed, steps):
    inside = 0
    for _ in range(steps):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        x = seed / 2147483648.0
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        y = seed / 2147483648.0
        if x * x + y * y < 1.0:
            inside += 1
    return inside


@njit
def sieve(flags):
    n = len(flags)
    for i in range(n):
        flags[i] = 1
    flags[0] = flags[1] = 0
    i = 2
    while i * i < n:
        if flags[i]:
            for k in range(i * i, n, i):
                flags[k] = 0
        i += 1
    count = 0
    for i in range(n):
        count += int(flags[i])
    return count


@njit
def collatz(limit):
    longest = 0
    for start in range(1, limit):
        n = start
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        if steps > longest:
            longest = steps
    return longest


@njit
def divisors(limit):
    total = 0
    for a in range(1, limit):
        for b in range(1, limit):
            x, y = a, b
            while y:
                x, y = y, x % y
            total += x
    return total


@njit
def power_mod(base, modulus, count):
    total = 0
    for e in range(count):
        result = 1
        b = base % modulus
        k = e
        while k > 0:
            if k & 1:
                result = result * b % modulus
            b = b * b % modulus
            k >>= 1
        total += result
    return total


@njit
def small_products(a, b, out):
    for m in range(a.shape[0]):
        for i in range(4):
            for j in range(4):
                total = 0.0
                for k in range(4):
                    total += a[m, i, k] * b[m, k, j]
                out[m, i, j] = total


@njit
def rotate(matrix, points, out):
    for p in range(points.shape[0]):
        for i in range(3):
            total = 0.0
            for k in range(3):
                total += matrix[i, k] * points[p, k]
            out[p, i] = total


@njit
def quaternions(a, b, out):
    for i in range(a.shape[0]):
        w, x, y, z = a[i, 0], a[i, 1], a[i, 2], a[i, 3]
        s, t, u, v = b[i, 0], b[i, 1], b[i, 2], b[i, 3]
        out[i, 0] = w * s - x * t - y * u - z * v
        out[i, 1] = w * t + x * s + y * v - z * u
        out[i, 2] = w * u - x * v + y * s + z * t
        out[i, 3] = w * v + x * u - y * t + z * s


@njit
def running_mean(a, out, width):
    for i in range(len(out)):
        total = 0.0
        for k in range(width):
            total += a[i + k]
        out[i] = total / width


@njit
def binary_search(table, wanted):
    found = 0
    for i in range(len(wanted)):
        low, high = 0, len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        found += low
    return found


@njit
def saxpy(alpha, x, y):
    for i in range(len(x)):
        y[i] += alpha * x[i]


@njit
def transpose(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j]


@njit
def prefix_sums(a, out):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        out[i] = total


# ---------------------------------------------------------------- images, tables, sums

@njit
def find_any(text, wanted):
    table = np.zeros(256, np.uint8)
    for i in range(wanted.size):
        table[wanted[i]] = 1
    count = 0
    last = -1
    for i in range(text.size):
        if table[text[i]] != 0:
            count += 1
            last = i
    return count * 1000000 + last


@njit
def leading_zeros(a, out):
    for i in range(a.size):
        v = a[i]
        n = 0
        while v > 0:
            v >>= 1
            n += 1
        out[i] = 63 - n


@njit
def dilate(a, out):
    h, w = a.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            m = a[y, x]
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if a[y + dy, x + dx] > m:
                        m = a[y + dy, x + dx]
            out[y, x] = m


@njit
def integral_image(a, s):
    h, w = a.shape
    for y in range(h):
        row = 0
        for x in range(w):
            row += int(a[y, x])
            s[y + 1, x + 1] = s[y, x + 1] + row


@njit
def hex_encode(data, digits, out):
    for i in range(data.size):
        out[2 * i] = digits[data[i] >> 4]
        out[2 * i + 1] = digits[data[i] & 15]


@njit
def morton(x, y, out):
    for i in range(x.size):
        r = np.uint64(0)
        a = x[i]
        b = y[i]
        for k in range(16):
            r |= ((a >> np.uint64(k)) & np.uint64(1)) << np.uint64(2 * k)
            r |= ((b >> np.uint64(k)) & np.uint64(1)) << np.uint64(2 * k + 1)
        out[i] = r


@njit
def simpson(a, b, n):
    h = (b - a) / n
    s = 0.0
    for i in range(n + 1):
        x = a + i * h
        w = 1.0 if i == 0 or i == n else (4.0 if i % 2 == 1 else 2.0)
        s += w * x / (1.0 + x * x)
    return s * h / 3.0


@njit
def coin_change(coins, ways):
    for i in range(ways.size):
        ways[i] = 0
    ways[0] = 1
    for c in range(coins.size):
        for i in range(coins[c], ways.size):
            ways[i] += ways[i - coins[c]]
    return ways[ways.size - 1]


@njit
def smith_waterman(a, b, h):
    best = 0
    for i in range(1, a.size + 1):
        for j in range(1, b.size + 1):
            s = 3 if a[i - 1] == b[j - 1] else -3
            v = h[i - 1, j - 1] + s
            v = max(v, h[i - 1, j] - 2)
            v = max(v, h[i, j - 1] - 2)
            v = max(v, 0)
            h[i, j] = v
            if v > best:
                best = v
    return best


@njit
def viterbi(trans, emit, obs, score, nxt, back):
    n = trans.shape[0]
    for s in range(n):
        score[s] = emit[s, obs[0]]
    for t in range(1, obs.size):
        for s in range(n):
            best = -1e300
            arg = 0
            for p in range(n):
                v = score[p] + trans[p, s]
                if v > best:
                    best = v
                    arg = p
            nxt[s] = best + emit[s, obs[t]]
            back[t, s] = arg
        for s in range(n):
            score[s] = nxt[s]
    best = score[0]
    for s in range(1, n):
        if score[s] > best:
            best = score[s]
    return best


@njit
def floyd_steinberg(a):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            old = a[y, x]
            new = 255.0 if old > 127.5 else 0.0
            a[y, x] = new
            e = old - new
            if x + 1 < w:
                a[y, x + 1] += e * 7 / 16
            if y + 1 < h:
                if x > 0:
                    a[y + 1, x - 1] += e * 3 / 16
                a[y + 1, x] += e * 5 / 16
                if x + 1 < w:
                    a[y + 1, x + 1] += e * 1 / 16


@njit
def hough(edges, cosine, sine, acc):
    h, w = edges.shape
    half = acc.shape[1] // 2
    for y in range(h):
        for x in range(w):
            if edges[y, x] != 0:
                for t in range(cosine.size):
                    r = int(x * cosine[t] + y * sine[t]) + half
                    acc[t, r] += 1


@njit
def distance_sum(points, weights):
    total = 0.0
    for i in range(points.shape[0]):
        for j in range(i):
            x = points[i, 0] - points[j, 0]
            y = points[i, 1] - points[j, 1]
            total += weights[i] * weights[j] / math.sqrt(1.0 + x * x + y * y)
    return total


# ---------------------------------------------------------------- searches, windows, permutations

@njit
def interpolate(xs, ys, q, out):
    n = len(xs)
    for i in range(len(q)):
        lo, hi = 0, n - 1
        while hi - lo > 1:
            mid = (lo + hi) >> 1
            if xs[mid] <= q[i]:
                lo = mid
            else:
                hi = mid
        t = (q[i] - xs[lo]) / (xs[hi] - xs[lo])
        out[i] = ys[lo] + t * (ys[hi] - ys[lo])


@njit
def longest_increasing(a, tails):
    n = 0
    for i in range(len(a)):
        lo, hi = 0, n
        while lo < hi:
            mid = (lo + hi) // 2
            if tails[mid] < a[i]:
                lo = mid + 1
            else:
                hi = mid
        tails[lo] = a[i]
        if lo == n:
            n += 1
    return n


@njit
def run_lengths(text, values, counts):
    n = 0
    i = 0
    while i < len(text):
        j = i + 1
        while j < len(text) and text[j] == text[i]:
            j += 1
        values[n] = text[i]
        counts[n] = j - i
        n += 1
        i = j
    return n


@njit
def union_find(a, b, parent):
    n = len(parent)
    for i in range(n):
        parent[i] = i
    groups = n
    for e in range(len(a)):
        x = a[e]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        y = b[e]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            parent[x] = y
            groups -= 1
    return groups


@njit
def fenwick(at, by, tree):
    n = len(tree)
    total = 0
    for e in range(len(at)):
        i = at[e] + 1
        while i < n:
            tree[i] += by[e]
            i += i & -i
        i = at[len(at) - 1 - e] + 1
        while i > 0:
            total += tree[i]
            i -= i & -i
        total &= 0xFFFFFFFF
    return total


@njit
def bit_permutation(re, im):
    n = len(re)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            t = re[i]
            re[i] = re[j]
            re[j] = t
            t = im[i]
            im[i] = im[j]
            im[j] = t


@njit
def window_max(x, w, queue, out):
    head, tail = 0, 0
    for i in range(len(x)):
        while tail > head and x[queue[tail - 1]] <= x[i]:
            tail -= 1
        queue[tail] = i
        tail += 1
        if queue[head] <= i - w:
            head += 1
        out[i] = x[queue[head]]


@njit
def box_sums(s, r, out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            y0 = max(y - r, 0)
            y1 = min(y + r + 1, h)
            x0 = max(x - r, 0)
            x1 = min(x + r + 1, w)
            out[y, x] = s[y1, x1] - s[y0, x1] - s[y1, x0] + s[y0, x0]


@njit
def sobel(a, out):
    h, w = a.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            gx = (int(a[y - 1, x + 1]) + 2 * int(a[y, x + 1]) + int(a[y + 1, x + 1])
                  - int(a[y - 1, x - 1]) - 2 * int(a[y, x - 1]) - int(a[y + 1, x - 1]))
            gy = (int(a[y + 1, x - 1]) + 2 * int(a[y + 1, x]) + int(a[y + 1, x + 1])
                  - int(a[y - 1, x - 1]) - 2 * int(a[y - 1, x]) - int(a[y - 1, x + 1]))
            out[y, x] = min(255, abs(gx) + abs(gy))


@njit
def reverse_words(text, out):
    n = len(text)
    i = 0
    while i < n:
        j = i
        while j < n and text[j] != 32:
            j += 1
        for k in range(i, j):
            out[k] = text[j - 1 - (k - i)]
        if j < n:
            out[j] = 32
        i = j + 1


# ---------------------------------------------------------------- arguments

@njit
def time_warping(a, b, d, window):
    n = len(a)
    m = len(b)
    for i in range(n + 1):
        for j in range(m + 1):
            d[i, j] = 1e300
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - window), min(m, i + window) + 1):
            cost = abs(a[i - 1] - b[j - 1])
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


@njit
def convolve_clamp(image, kernel, out):
    h, w = image.shape
    r = kernel.shape[0] // 2
    for y in range(h):
        for x in range(w):
            t = 0.0
            for i in range(-r, r + 1):
                yy = min(max(y + i, 0), h - 1)
                for j in range(-r, r + 1):
                    xx = min(max(x + j, 0), w - 1)
                    t += image[yy, xx] * kernel[i + r, j + r]
            out[y, x] = t


@njit
def conjugate_gradient(ptr, col, val, b, x, r, p, q, steps):
    n = len(b)
    for i in range(n):
        x[i] = 0.0
        r[i] = b[i]
        p[i] = b[i]
    rr = 0.0
    for i in range(n):
        rr += r[i] * r[i]
    for s in range(steps):
        pq = 0.0
        for i in range(n):
            t = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                t += val[k] * p[col[k]]
            q[i] = t
            pq += p[i] * t
        alpha = rr / pq
        new = 0.0
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
            new += r[i] * r[i]
        beta = new / rr
        rr = new
        for i in range(n):
            p[i] = r[i] + beta * p[i]
    return rr


@njit
def twister(mt, out):
    for i in range(624):
        y = (mt[i] & np.uint32(0x80000000)) | (mt[(i + 1) % 624] & np.uint32(0x7FFFFFFF))
        v = mt[(i + 397) % 624] ^ (y >> np.uint32(1))
        if y & np.uint32(1):
            v ^= np.uint32(0x9908B0DF)
        mt[i] = v
    for i in range(624):
        y = mt[i]
        y ^= y >> np.uint32(11)
        y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
        y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
        y ^= y >> np.uint32(18)
        out[i] = y


def positive(n):
    """Makes a positive definite matrix."""
    def prepare(rng):
        a = rng.random((n, n))
        return (a @ a.T + n * np.eye(n),)
    return prepare


def _ludcmp(rng):
    return (*positive(80)(rng), rng.random(80), np.zeros(80), np.zeros(80))


def _correlation(rng):
    return rng.random((100, 90)), np.zeros((90, 90)), np.zeros(90), np.zeros(90)


def _integers(n, high, dtype=np.int64):
    return lambda rng: (rng.integers(0, high, n).astype(dtype),)


def _crc_table():
    table = np.zeros(256, np.int64)
    for i in range(256):
        c = i
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table[i] = c
    return table


def _fft(rng, n=2048):
    angle = -2 * np.pi * np.arange(n // 2) / n
    return rng.random(n), rng.random(n), np.cos(angle), np.sin(angle)


def _chain(rng):
    return rng.integers(1, 30, 81), np.zeros((80, 80), np.int64)


def _flood(rng, n=80):
    grid = (rng.random((n, n)) < 0.3).astype(np.uint8)
    grid[0, 0] = 0
    return grid, np.zeros(n * n, np.int64), np.zeros((n, n), np.int64)


def _sparse(rng, n=2000, each=8):
    starts = np.concatenate(([0], np.cumsum(rng.integers(1, 2 * each, n))))
    return starts, rng.integers(0, n, starts[-1]), rng.random(starts[-1]), rng.random(n)


def _text(rng, n=20_000, letters=b"abcdefgh XYZ0123456789 \n"):
    return rng.choice(np.frombuffer(letters, np.uint8), n)


def _numbers(rng):
    return np.frombuffer(b",".join(b"%d" % n for n in rng.integers(0, 1_000_000, 3_000)), np.uint8).copy()


def _seidel(rng):
    starts, columns, values, b = _sparse(rng)
    return starts, columns, values, np.full(len(b), 20.0), b, np.zeros(len(b))


def _base64(rng):
    alphabet = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8).copy()
    return _text(rng, 15_000), alphabet, np.zeros(20_000, np.uint8)


def _csr(rng, n=1_500, each=6):
    return (np.arange(0, n * each + 1, each), rng.integers(0, n, n * each), rng.random(n * each),
            np.zeros(n + 1, np.int64), np.zeros(n * each, np.int64), np.zeros(n * each))


def _polygon(rng, corners=60, points=400):
    angle, radius = np.linspace(0, 2 * np.pi, corners, endpoint=False), 0.5 + rng.random(corners)
    return (rng.random(points) * 3 - 1.5, rng.random(points) * 3 - 1.5, radius * np.cos(angle),
            radius * np.sin(angle))


def _runs(rng):
    text = np.repeat(rng.integers(0, 9, 4_000).astype(np.uint8), rng.integers(1, 9, 4_000))
    return text, np.zeros(len(text), np.uint8), np.zeros(len(text), np.int64)


def _boxes(rng):
    sums = np.zeros((81, 91), np.int64)
    sums[1:, 1:] = rng.integers(0, 255, (80, 90)).cumsum(0).cumsum(1)
    return sums, 3, np.zeros((80, 90), np.int64)


def _letters(rng, letters, n):
    return np.frombuffer("".join(rng.choice(list(letters), n)).encode(), np.uint8).copy()


def _conjugate(rng, n=600):
    starts, columns, values, b = _sparse(rng, n, 5)
    return (starts, columns, values * 0.01, b, *(np.zeros(n) for _ in range(4)), 5)


CASES = {
    "gemm": (gemm, lambda rng: (1.5, 1.2, *floats((90, 100), (90, 80), (80, 100))(rng))),
    "gemver": (gemver, lambda rng: (1.5, 1.2, *floats((200, 200), *[200] * 8)(rng))),
    "gesummv": (gesummv, lambda rng: (1.5, 1.2, *floats((250, 250), (250, 250), 250, 250, 250)(rng))),
    "symm": (symm, lambda rng: (1.5, 1.2, *floats((80, 100), (80, 80), (80, 100))(rng))),
    "syr2k": (syr2k, lambda rng: (1.5, 1.2, *floats((100, 100), (100, 80), (100, 80))(rng))),
    "syrk": (syrk, lambda rng: (1.5, 1.2, *floats((120, 120), (120, 100))(rng))),
    "trmm": (trmm, lambda rng: (1.5, *floats((100, 100), (100, 120))(rng))),
    "2mm": (two_mm, lambda rng: (1.5, 1.2, *floats((70, 80), (70, 90), (90, 80), (80, 100), (70, 100))(rng))),
    "3mm": (three_mm, floats(*[(75, 75)] * 7)),
    "atax": (atax, floats((250, 300), 300, 300, 250)),
    "bicg": (bicg, floats((250, 300), 300, 250, 300, 250)),
    "doitgen": (doitgen, floats((20, 25, 30), (30, 30), 30)),
    "mvt": (mvt, floats(300, 300, 300, 300, (300, 300))),
    "cholesky": (cholesky, positive(120)),
    "durbin": (durbin, lambda rng: (rng.random(400) * 0.01, np.zeros(400), np.zeros(400))),
    "gramschmidt": (gramschmidt, floats((80, 70), (70, 70), (80, 70))),
    "lu": (lu, positive(100)),
    "ludcmp": (ludcmp, _ludcmp),
    "trisolv": (trisolv, lambda rng: (rng.random((300, 300)) + 300 * np.eye(300), np.zeros(300), rng.random(300))),
    "correlation": (correlation, _correlation),
    "covariance": (covariance, lambda rng: (rng.random((100, 90)), np.zeros((90, 90)), np.zeros(90))),
    "deriche": (deriche, lambda rng: (0.1, 0.2, 0.15, 0.05, 0.3, -0.1, rng.random((120, 150)), np.zeros((120, 150)),
                                      np.zeros((120, 150)))),
    "floyd_warshall": (floyd_warshall, lambda rng: (rng.random((80, 80)) * 100,)),
    "nussinov": (nussinov, lambda rng: (rng.integers(0, 4, 120), np.zeros((121, 120), np.int64))),
    "adi": (adi, lambda rng: (4, *floats(*[(80, 80)] * 4)(rng))),
    "fdtd_2d": (fdtd_2d, lambda rng: (8, *floats(*[(80, 100)] * 3)(rng))),
    "heat_3d": (heat_3d, lambda rng: (4, *floats(*[(25, 25, 25)] * 2)(rng))),
    "jacobi_1d": (jacobi_1d, lambda rng: (50, *floats(800, 800)(rng))),
    "jacobi_2d": (jacobi_2d, lambda rng: (6, *floats((90, 90), (90, 90))(rng))),
    "seidel_2d": (seidel_2d, lambda rng: (6, *floats((70, 70))(rng))),

    "population_count": (population_count, _integers(2_000, 1 << 40)),
    "bit_reverse": (bit_reverse, lambda rng: (rng.integers(0, 1 << 16, 2_000), np.zeros(2_000, np.int64), 16)),
    "crc32": (crc32, lambda rng: (_text(rng, 30_000), _crc_table())),
    "crc32_bits": (crc32_bits, lambda rng: (_text(rng, 5_000),)),
    "fnv1a": (fnv1a, lambda rng: (_text(rng),)),
    "mix64": (mix64, lambda rng: (rng.integers(0, 1 << 62, 20_000).astype(np.uint64), np.zeros(20_000, np.uint64))),
    "hamming": (hamming, lambda rng: (rng.integers(0, 1 << 24, 2_000), rng.integers(0, 1 << 24, 2_000))),
    "gray_codes": (gray_codes, lambda rng: (np.zeros(5_000, np.int64),)),
    "queens": (queens, lambda rng: (8,)),
    "fft": (fft, _fft),
    "haar": (haar, floats(8192, 8192)),
    "insertion_sort": (insertion_sort, floats(500)),
    "shell_sort": (shell_sort, floats(3_000)),
    "heap_sort": (heap_sort, floats(3_000)),
    "merge_sort": (merge_sort, floats(4_000, 4_000)),
    "radix_sort": (radix_sort, lambda rng: (rng.integers(0, 1 << 24, 10_000), np.zeros(10_000, np.int64))),
    "common_subsequence": (common_subsequence, lambda rng: (_text(rng, 300), _text(rng, 300),
                                                            np.zeros((301, 301), np.int64))),
    "edit_distance": (edit_distance, lambda rng: (_text(rng, 300), _text(rng, 300), np.zeros(301, np.int64),
                                                  np.zeros(301, np.int64))),
    "knapsack": (knapsack, lambda rng: (rng.integers(1, 50, 60), rng.integers(1, 90, 60), np.zeros(2_001, np.int64))),
    "matrix_chain": (matrix_chain, _chain),
    "flood": (flood, _flood),
    "components": (components, lambda rng: (rng.integers(0, 5_000, 6_000), rng.integers(0, 5_000, 6_000),
                                            np.zeros(5_000, np.int64))),
    "bellman_ford": (bellman_ford, lambda rng: (rng.integers(0, 500, 3_000), rng.integers(0, 500, 3_000),
                                                rng.random(3_000), np.zeros(500))),
    "page_rank": (page_rank, lambda rng: (*_sparse(rng, 800)[:2], np.full(800, 1 / 800), np.zeros(800))),
    "life": (life, lambda rng: (rng.integers(0, 2, (100, 120)), np.zeros((100, 120), np.int64))),
    "rule_30": (rule_30, lambda rng: (rng.integers(0, 2, 1_000), np.zeros(1_000, np.int64), 20)),
    "gray_scott": (gray_scott, floats(*[(120, 120)] * 4)),
    "kmeans_assign": (kmeans_assign, lambda rng: (rng.random((1_000, 8)), rng.random((12, 8)),
                                                  np.full(1_000, -1))),
    "nbody": (nbody, lambda rng: (rng.random((12, 3)) * 10, rng.random((12, 3)), rng.random(12), 100)),
    "ray_march": (ray_march, lambda rng: (np.zeros((60, 60)),)),
    "mandelbrot": (mandelbrot, lambda rng: (np.zeros((60, 60), np.int64), 100)),
    "convex_hull": (convex_hull, lambda rng: (np.sort(rng.random(3_000)), rng.random(3_000),
                                              np.zeros(6_000, np.int64))),
    "points_in_polygon": (points_in_polygon, _polygon),
    "convolve": (convolve, floats((104, 104), (5, 5), (100, 100))),
    "bilinear": (bilinear, floats((80, 90), (150, 160))),
    "pair_distances": (pair_distances, floats((150, 3), (150, 150))),
    "tridiagonal": (tridiagonal, lambda rng: (rng.random(5_000), rng.random(5_000) + 4, *floats(*[5_000] * 4)(rng))),
    "sparse_product": (sparse_product, lambda rng: (*_sparse(rng), np.zeros(2_000))),
    "csr_transpose": (csr_transpose, _csr),
    "gauss_seidel": (gauss_seidel, _seidel),
    "runge_kutta": (runge_kutta, lambda rng: (1.0, 1.0, 1.0, 5_000)),
    "horner": (horner, floats(12, 4_000, 4_000)),
    "gauss_jordan": (gauss_jordan, lambda rng: (np.hstack([positive(70)(rng)[0], np.eye(70)]),)),
    "upper_case": (upper_case, lambda rng: (_text(rng), np.zeros(20_000, np.uint8))),
    "count_words": (count_words, lambda rng: (_text(rng),)),
    "find_text": (find_text, lambda rng: (_text(rng), np.frombuffer(b"abc", np.uint8).copy())),
    "knuth_morris_pratt": (knuth_morris_pratt, lambda rng: (
        _text(rng, 10_000, b"ab"), np.frombuffer(b"abaababa", np.uint8).copy(), np.zeros(8, np.int64))),
    "utf8_length": (utf8_length, lambda rng: (_letters(rng, "Aa\u00e9\u20ac\U0001f600", 6_000),)),
    "base64": (base64, _base64),
    "parse_numbers": (parse_numbers, lambda rng: (_numbers(rng),)),
    "letter_counts": (letter_counts, lambda rng: (_text(rng), np.zeros(256, np.int64))),
    "palindromes": (palindromes, lambda rng: (_text(rng, 5_000, b"ab"),)),
    "random_walk": (random_walk, lambda rng: (int(rng.integers(1, 1 << 62)), 20_000)),
    "pi_by_chance": (pi_by_chance, lambda rng: (42, 20_000)),
    "sieve": (sieve, lambda rng: (np.zeros(30_000, np.uint8),)),
    "collatz": (collatz, lambda rng: (1_500,)),
    "divisors": (divisors, lambda rng: (120,)),
    "power_mod": (power_mod, lambda rng: (1234567, 1_000_003, 1_500)),
    "small_products": (small_products, floats(*[(1_000, 4, 4)] * 3)),
    "rotate": (rotate, floats((3, 3), (5_000, 3), (5_000, 3))),
    "quaternions": (quaternions, floats(*[(4_000, 4)] * 3)),
    "running_mean": (running_mean, lambda rng: (rng.random(5_019), np.zeros(5_000), 20)),
    "binary_search": (binary_search, lambda rng: (np.sort(rng.random(4_096)), rng.random(3_000))),
    "saxpy": (saxpy, lambda rng: (1.5, *floats(20_000, 20_000)(rng))),
    "transpose": (transpose, floats((200, 210), (210, 200))),
    "prefix_sums": (prefix_sums, floats(30_000, 30_000)),
    "find_any": (find_any, lambda rng: (_text(rng), np.frombuffer(b",.;", np.uint8).copy())),
    "leading_zeros": (leading_zeros, lambda rng: (rng.integers(0, 1 << 40, 20_000), np.zeros(20_000, np.int64))),
    "dilate": (dilate, lambda rng: (rng.integers(0, 256, (120, 150), np.uint8), np.zeros((120, 150), np.uint8))),
    "integral_image": (integral_image, lambda rng: (rng.integers(0, 256, (120, 150), np.uint8),
                                                    np.zeros((121, 151), np.int64))),
    "hex_encode": (hex_encode, lambda rng: (rng.integers(0, 256, 10_000, np.uint8),
                                            np.frombuffer(b"0123456789abcdef", np.uint8).copy(),
                                            np.zeros(20_000, np.uint8))),
    "morton": (morton, lambda rng: (*rng.integers(0, 1 << 16, (2, 5_000), np.uint64), np.zeros(5_000, np.uint64))),
    "simpson": (simpson, lambda rng: (0.0, 3.0, 10_000)),
    "coin_change": (coin_change, lambda rng: (np.array([1, 5, 10, 25, 50, 100]), np.zeros(5_000, np.int64))),
    "smith_waterman": (smith_waterman, lambda rng: (_text(rng, 250, b"acgt"), _text(rng, 300, b"acgt"),
                                                    np.zeros((251, 301), np.int64))),
    "viterbi": (viterbi, lambda rng: (-rng.random((24, 24)), -rng.random((24, 10)), rng.integers(0, 10, 80),
                                      np.zeros(24), np.zeros(24), np.zeros((80, 24), np.int64))),
    "floyd_steinberg": (floyd_steinberg, lambda rng: (rng.random((80, 100)) * 255,)),
    "hough": (hough, lambda rng: ((rng.random((40, 50)) < 0.15).astype(np.uint8), np.cos(np.linspace(0.0, 3.1, 90)),
                                  np.sin(np.linspace(0.0, 3.1, 90)), np.zeros((90, 140), np.int64))),
    "distance_sum": (distance_sum, floats((150, 2), 150)),
    "interpolate": (interpolate, lambda rng: (np.sort(rng.random(500)), rng.random(500), rng.random(2_000),
                                              np.zeros(2_000))),
    "longest_increasing": (longest_increasing, lambda rng: (rng.integers(0, 1 << 30, 4_000),
                                                            np.zeros(4_000, np.int64))),
    "run_lengths": (run_lengths, _runs),
    "union_find": (union_find, lambda rng: (*rng.integers(0, 3_000, (2, 4_000)), np.zeros(3_000, np.int64))),
    "fenwick": (fenwick, lambda rng: (rng.integers(0, 4_000, 3_000), rng.integers(0, 99, 3_000),
                                      np.zeros(4_096, np.int64))),
    "bit_permutation": (bit_permutation, floats(4_096, 4_096)),
    "window_max": (window_max, lambda rng: (rng.random(10_000), 25, np.zeros(10_000, np.int64), np.zeros(10_000))),
    "box_sums": (box_sums, _boxes),
    "sobel": (sobel, lambda rng: (rng.integers(0, 255, (80, 90)).astype(np.uint8), np.zeros((80, 90), np.uint8))),
    "reverse_words": (reverse_words, lambda rng: (_text(rng, 10_000, b"abcdefg "), np.zeros(10_000, np.uint8))),
    "time_warping": (time_warping, lambda rng: (rng.random(150), rng.random(150), np.zeros((151, 151)), 40)),
    "convolve_clamp": (convolve_clamp, lambda rng: (rng.random((70, 80)), rng.random((5, 5)), np.zeros((70, 80)))),
    "conjugate_gradient": (conjugate_gradient, _conjugate),
    "twister": (twister, lambda rng: (rng.integers(0, 1 << 32, 624, np.uint32), np.zeros(624, np.uint32))),
}
