/* The programs of bench/c_programs.py in C, line by line. An array comes as its sizes and its address: V(T, a) is a
   vector of T of the size a0, M(T, a) a matrix of a0 rows and a1 columns, C(T, a) has three dimensions. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef int64_t i64;
typedef uint64_t u64;
typedef uint8_t u8;
typedef double f64;
#define V(T, a) i64 a##0, T a[a##0]
#define M(T, a) i64 a##0, i64 a##1, T a[a##0][a##1]
#define C(T, a) i64 a##0, i64 a##1, i64 a##2, T a[a##0][a##1][a##2]
#define FOR(i, n) for (i64 i = 0; i < (n); i++)
#define FROM(i, m, n) for (i64 i = (m); i < (n); i++)
#define DOWN(i, m, n) for (i64 i = (m); i > (n); i--)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SWAP(T, a, b) do { T t_ = (a); (a) = (b); (b) = t_; } while (0)

/* ---- PolyBench: products of matrices and vectors */

void gemm(f64 alpha, f64 beta, M(f64, c), M(f64, a), M(f64, b)) {
    FOR(i, c0) {
        FOR(j, c1) c[i][j] *= beta;
        FOR(k, a1) FOR(j, c1) c[i][j] += alpha * a[i][k] * b[k][j];
    }
}

void gemver(f64 alpha, f64 beta, M(f64, a), V(f64, u1), V(f64, v1), V(f64, u2), V(f64, v2), V(f64, w), V(f64, x),
            V(f64, y), V(f64, z)) {
    i64 n = a0;
    FOR(i, n) FOR(j, n) a[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
    FOR(i, n) FOR(j, n) x[i] += beta * a[j][i] * y[j];
    FOR(i, n) x[i] += z[i];
    FOR(i, n) FOR(j, n) w[i] += alpha * a[i][j] * x[j];
}

void gesummv(f64 alpha, f64 beta, M(f64, a), M(f64, b), V(f64, tmp), V(f64, x), V(f64, y)) {
    FOR(i, a0) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        FOR(j, a0) {
            tmp[i] += a[i][j] * x[j];
            y[i] += b[i][j] * x[j];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

void symm(f64 alpha, f64 beta, M(f64, c), M(f64, a), M(f64, b)) {
    FOR(i, c0) FOR(j, c1) {
        f64 temp = 0.0;
        FOR(k, i) {
            c[k][j] += alpha * b[i][j] * a[i][k];
            temp += b[k][j] * a[i][k];
        }
        c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * temp;
    }
}

void syr2k(f64 alpha, f64 beta, M(f64, c), M(f64, a), M(f64, b)) {
    FOR(i, a0) {
        FOR(j, i + 1) c[i][j] *= beta;
        FOR(k, a1) FOR(j, i + 1) c[i][j] += a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
    }
}

void syrk(f64 alpha, f64 beta, M(f64, c), M(f64, a)) {
    FOR(i, a0) {
        FOR(j, i + 1) c[i][j] *= beta;
        FOR(k, a1) FOR(j, i + 1) c[i][j] += alpha * a[i][k] * a[j][k];
    }
}

void trmm(f64 alpha, M(f64, a), M(f64, b)) {
    FOR(i, b0) FOR(j, b1) {
        FROM(k, i + 1, b0) b[i][j] += a[k][i] * b[k][j];
        b[i][j] = alpha * b[i][j];
    }
}

void two_mm(f64 alpha, f64 beta, M(f64, tmp), M(f64, a), M(f64, b), M(f64, c), M(f64, d)) {
    FOR(i, a0) FOR(j, b1) {
        tmp[i][j] = 0.0;
        FOR(k, a1) tmp[i][j] += alpha * a[i][k] * b[k][j];
    }
    FOR(i, a0) FOR(j, d1) {
        d[i][j] *= beta;
        FOR(k, c0) d[i][j] += tmp[i][k] * c[k][j];
    }
}

void three_mm(M(f64, e), M(f64, a), M(f64, b), M(f64, f), M(f64, c), M(f64, d), M(f64, g)) {
    i64 n = a0;
    FOR(i, n) FOR(j, n) {
        e[i][j] = 0.0;
        FOR(k, n) e[i][j] += a[i][k] * b[k][j];
    }
    FOR(i, n) FOR(j, n) {
        f[i][j] = 0.0;
        FOR(k, n) f[i][j] += c[i][k] * d[k][j];
    }
    FOR(i, n) FOR(j, n) {
        g[i][j] = 0.0;
        FOR(k, n) g[i][j] += e[i][k] * f[k][j];
    }
}

void atax(M(f64, a), V(f64, x), V(f64, y), V(f64, tmp)) {
    FOR(i, a1) y[i] = 0.0;
    FOR(i, a0) {
        tmp[i] = 0.0;
        FOR(j, a1) tmp[i] += a[i][j] * x[j];
        FOR(j, a1) y[j] += a[i][j] * tmp[i];
    }
}

void bicg(M(f64, a), V(f64, s), V(f64, q), V(f64, p), V(f64, r)) {
    FOR(i, a1) s[i] = 0.0;
    FOR(i, a0) {
        q[i] = 0.0;
        FOR(j, a1) {
            s[j] += r[i] * a[i][j];
            q[i] += a[i][j] * p[j];
        }
    }
}

void doitgen(C(f64, a), M(f64, c4), V(f64, total)) {
    FOR(r, a0) FOR(q, a1) {
        FOR(p, a2) {
            total[p] = 0.0;
            FOR(s, a2) total[p] += a[r][q][s] * c4[s][p];
        }
        FOR(p, a2) a[r][q][p] = total[p];
    }
}

void mvt(V(f64, x1), V(f64, x2), V(f64, y1), V(f64, y2), M(f64, a)) {
    FOR(i, a0) FOR(j, a0) x1[i] += a[i][j] * y1[j];
    FOR(i, a0) FOR(j, a0) x2[i] += a[j][i] * y2[j];
}

/* ---- PolyBench: solvers */

void cholesky(M(f64, a)) {
    FOR(i, a0) {
        FOR(j, i) {
            FOR(k, j) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
        FOR(k, i) a[i][i] -= a[i][k] * a[i][k];
        a[i][i] = sqrt(a[i][i]);
    }
}

void durbin(V(f64, r), V(f64, y), V(f64, z)) {
    y[0] = -r[0];
    f64 beta = 1.0, alpha = -r[0];
    FROM(k, 1, r0) {
        beta = (1 - alpha * alpha) * beta;
        f64 total = 0.0;
        FOR(i, k) total += r[k - i - 1] * y[i];
        alpha = -(r[k] + total) / beta;
        FOR(i, k) z[i] = y[i] + alpha * y[k - i - 1];
        FOR(i, k) y[i] = z[i];
        y[k] = alpha;
    }
}

void gramschmidt(M(f64, a), M(f64, r), M(f64, q)) {
    FOR(k, a1) {
        f64 norm = 0.0;
        FOR(i, a0) norm += a[i][k] * a[i][k];
        r[k][k] = sqrt(norm);
        FOR(i, a0) q[i][k] = a[i][k] / r[k][k];
        FROM(j, k + 1, a1) {
            r[k][j] = 0.0;
            FOR(i, a0) r[k][j] += q[i][k] * a[i][j];
            FOR(i, a0) a[i][j] -= q[i][k] * r[k][j];
        }
    }
}

void lu(M(f64, a)) {
    FOR(i, a0) {
        FOR(j, i) {
            FOR(k, j) a[i][j] -= a[i][k] * a[k][j];
            a[i][j] /= a[j][j];
        }
        FROM(j, i, a0) FOR(k, i) a[i][j] -= a[i][k] * a[k][j];
    }
}

void ludcmp(M(f64, a), V(f64, b), V(f64, x), V(f64, y)) {
    i64 n = a0;
    FOR(i, n) {
        FOR(j, i) {
            f64 w = a[i][j];
            FOR(k, j) w -= a[i][k] * a[k][j];
            a[i][j] = w / a[j][j];
        }
        FROM(j, i, n) {
            f64 w = a[i][j];
            FOR(k, i) w -= a[i][k] * a[k][j];
            a[i][j] = w;
        }
    }
    FOR(i, n) {
        f64 w = b[i];
        FOR(j, i) w -= a[i][j] * y[j];
        y[i] = w;
    }
    DOWN(i, n - 1, -1) {
        f64 w = y[i];
        FROM(j, i + 1, n) w -= a[i][j] * x[j];
        x[i] = w / a[i][i];
    }
}

void trisolv(M(f64, lower), V(f64, x), V(f64, b)) {
    FOR(i, x0) {
        x[i] = b[i];
        FOR(j, i) x[i] -= lower[i][j] * x[j];
        x[i] = x[i] / lower[i][i];
    }
}

/* ---- PolyBench: statistics, dynamic programming */

void correlation(M(f64, data), M(f64, corr), V(f64, mean), V(f64, deviation)) {
    i64 n = data0, m = data1;
    FOR(j, m) {
        mean[j] = 0.0;
        FOR(i, n) mean[j] += data[i][j];
        mean[j] /= n;
    }
    FOR(j, m) {
        deviation[j] = 0.0;
        FOR(i, n) deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        deviation[j] = sqrt(deviation[j] / n);
        if (deviation[j] <= 0.1) deviation[j] = 1.0;
    }
    FOR(i, n) FOR(j, m) {
        data[i][j] -= mean[j];
        data[i][j] /= sqrt(n) * deviation[j];
    }
    FOR(i, m - 1) {
        corr[i][i] = 1.0;
        FROM(j, i + 1, m) {
            corr[i][j] = 0.0;
            FOR(k, n) corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[m - 1][m - 1] = 1.0;
}

void covariance(M(f64, data), M(f64, cov), V(f64, mean)) {
    i64 n = data0, m = data1;
    FOR(j, m) {
        mean[j] = 0.0;
        FOR(i, n) mean[j] += data[i][j];
        mean[j] /= n;
    }
    FOR(i, n) FOR(j, m) data[i][j] -= mean[j];
    FOR(i, m) FROM(j, i, m) {
        cov[i][j] = 0.0;
        FOR(k, n) cov[i][j] += data[k][i] * data[k][j];
        cov[i][j] /= n - 1.0;
        cov[j][i] = cov[i][j];
    }
}

void deriche(f64 a1, f64 a2, f64 a3, f64 a4, f64 b1, f64 b2, M(f64, image), M(f64, out), M(f64, y2)) {
    i64 w = image0, h = image1;
    FOR(i, w) {
        f64 ym1 = 0.0, ym2 = 0.0, xm1 = 0.0;
        FOR(j, h) {
            f64 y = a1 * image[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            out[i][j] = y;
            xm1 = image[i][j];
            ym2 = ym1;
            ym1 = y;
        }
    }
    FOR(i, w) {
        f64 yp1 = 0.0, yp2 = 0.0, xp1 = 0.0, xp2 = 0.0;
        DOWN(j, h - 1, -1) {
            f64 y = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            y2[i][j] = y;
            xp2 = xp1;
            xp1 = image[i][j];
            yp2 = yp1;
            yp1 = y;
        }
    }
    FOR(i, w) FOR(j, h) out[i][j] = out[i][j] + y2[i][j];
}

void floyd_warshall(M(f64, path)) {
    FOR(k, path0) FOR(i, path0) FOR(j, path0)
        if (path[i][k] + path[k][j] < path[i][j]) path[i][j] = path[i][k] + path[k][j];
}

void nussinov(V(i64, sequence), M(i64, table)) {
    i64 n = sequence0;
    DOWN(i, n - 1, -1) FROM(j, i + 1, n) {
        i64 best = table[i][j];
        if (table[i][j - 1] > best) best = table[i][j - 1];
        if (table[i + 1][j] > best) best = table[i + 1][j];
        i64 paired = table[i + 1][j - 1];
        if (i < j - 1 && sequence[i] + sequence[j] == 3) paired += 1;
        if (paired > best) best = paired;
        FROM(k, i + 1, j) if (table[i][k] + table[k + 1][j] > best) best = table[i][k] + table[k + 1][j];
        table[i][j] = best;
    }
}

/* ---- PolyBench: stencils */

void adi(i64 steps, M(f64, u), M(f64, v), M(f64, p), M(f64, q)) {
    i64 n = u0;
    f64 a = -0.5, b = 2.0, d = -0.25, f = -0.25, e = 1.5, c = -0.5;
    FOR(t, steps) {
        FROM(i, 1, n - 1) {
            v[0][i] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = v[0][i];
            FROM(j, 1, n - 1) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1])
                          / (a * p[i][j - 1] + b);
            }
            v[n - 1][i] = 1.0;
            DOWN(j, n - 2, 0) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        FROM(i, 1, n - 1) {
            u[i][0] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = u[i][0];
            FROM(j, 1, n - 1) {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1])
                          / (d * p[i][j - 1] + e);
            }
            u[i][n - 1] = 1.0;
            DOWN(j, n - 2, 0) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
}

void fdtd_2d(i64 steps, M(f64, ex), M(f64, ey), M(f64, hz)) {
    i64 nx = hz0, ny = hz1;
    FOR(t, steps) {
        FOR(j, ny) ey[0][j] = t;
        FROM(i, 1, nx) FOR(j, ny) ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        FOR(i, nx) FROM(j, 1, ny) ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        FOR(i, nx - 1) FOR(j, ny - 1)
            hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

#define HEAT(b, a) FROM(i, 1, a0 - 1) FROM(j, 1, a0 - 1) FROM(k, 1, a0 - 1) \
    b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2.0 * a[i][j][k] + a[i - 1][j][k]) \
                 + 0.125 * (a[i][j + 1][k] - 2.0 * a[i][j][k] + a[i][j - 1][k]) \
                 + 0.125 * (a[i][j][k + 1] - 2.0 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];

void heat_3d(i64 steps, C(f64, a), C(f64, b)) {
    FOR(t, steps) {
        HEAT(b, a)
        HEAT(a, b)
    }
}

void jacobi_1d(i64 steps, V(f64, a), V(f64, b)) {
    FOR(t, steps) {
        FROM(i, 1, a0 - 1) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
        FROM(i, 1, a0 - 1) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
    }
}

void jacobi_2d(i64 steps, M(f64, a), M(f64, b)) {
    i64 n = a0;
    FOR(t, steps) {
        FROM(i, 1, n - 1) FROM(j, 1, n - 1)
            b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
        FROM(i, 1, n - 1) FROM(j, 1, n - 1)
            a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]);
    }
}

void seidel_2d(i64 steps, M(f64, a)) {
    FOR(t, steps) FROM(i, 1, a0 - 1) FROM(j, 1, a0 - 1)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1]
                   + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;
}

/* ---- bits and hashes */

i64 population_count(V(i64, values)) {
    i64 total = 0;
    FOR(i, values0) {
        i64 v = values[i];
        while (v) {
            v &= v - 1;
            total += 1;
        }
    }
    return total;
}

void bit_reverse(V(i64, values), V(i64, out), i64 bits) {
    FOR(i, values0) {
        i64 r = 0;
        FOR(b, bits) if (values[i] & ((i64)1 << b)) r |= (i64)1 << (bits - 1 - b);
        out[i] = r;
    }
}

i64 crc32(V(u8, data), V(i64, table)) {
    i64 crc = 0xFFFFFFFF;
    FOR(i, data0) crc = (crc >> 8) ^ table[(crc ^ data[i]) & 255];
    return crc ^ 0xFFFFFFFF;
}

i64 crc32_bits(V(u8, data)) {
    i64 crc = 0xFFFFFFFF;
    FOR(i, data0) {
        crc ^= data[i];
        FOR(k, 8) {
            if (crc & 1) crc = (crc >> 1) ^ 0xEDB88320;
            else crc >>= 1;
        }
    }
    return crc ^ 0xFFFFFFFF;
}

u64 fnv1a(V(u8, data)) {
    u64 h = 0xCBF29CE484222325;
    FOR(i, data0) h = (h ^ data[i]) * 0x100000001B3;
    return h;
}

void mix64(V(u64, values), V(u64, out)) {
    FOR(i, values0) {
        u64 z = values[i];
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        out[i] = z ^ (z >> 31);
    }
}

i64 hamming(V(i64, a), V(i64, b)) {
    i64 total = 0;
    FOR(i, a0) {
        i64 x = a[i] ^ b[i];
        while (x) {
            total += x & 1;
            x >>= 1;
        }
    }
    return total;
}

void gray_codes(V(i64, out)) {
    FOR(i, out0) {
        i64 g = i ^ (i >> 1), n = 0;
        FOR(b, 16) n += (g >> b) & 1;
        out[i] = g + n;
    }
}

i64 queens(i64 n) {
    i64 full = ((i64)1 << n) - 1, columns[32] = {0}, left[32] = {0}, right[32] = {0}, free[32] = {0};
    i64 count = 0, depth = 0;
    free[0] = full;
    while (depth >= 0) {
        if (free[depth] == 0) {
            depth -= 1;
            continue;
        }
        i64 bit = free[depth] & -free[depth];
        free[depth] ^= bit;
        if (depth == n - 1) {
            count += 1;
            continue;
        }
        columns[depth + 1] = columns[depth] | bit;
        left[depth + 1] = ((left[depth] | bit) << 1) & full;
        right[depth + 1] = (right[depth] | bit) >> 1;
        depth += 1;
        free[depth] = full & ~(columns[depth] | left[depth] | right[depth]);
    }
    return count;
}

/* ---- transforms, sorting */

void fft(V(f64, re), V(f64, im), V(f64, wr), V(f64, wi)) {
    i64 n = re0, j = 0;
    FROM(i, 1, n) {
        i64 bit = n >> 1;
        while (j & bit) {
            j ^= bit;
            bit >>= 1;
        }
        j ^= bit;
        if (i < j) {
            SWAP(f64, re[i], re[j]);
            SWAP(f64, im[i], im[j]);
        }
    }
    for (i64 size = 2; size <= n; size *= 2) {
        i64 half = size / 2, step = n / size;
        for (i64 start = 0; start < n; start += size) FOR(k, half) {
            i64 a = start + k, b = a + half;
            f64 tr = wr[k * step] * re[b] - wi[k * step] * im[b];
            f64 ti = wr[k * step] * im[b] + wi[k * step] * re[b];
            re[b] = re[a] - tr;
            im[b] = im[a] - ti;
            re[a] += tr;
            im[a] += ti;
        }
    }
}

void haar(V(f64, a), V(f64, tmp)) {
    for (i64 n = a0; n > 1; n /= 2) {
        i64 half = n / 2;
        FOR(i, half) {
            tmp[i] = (a[2 * i] + a[2 * i + 1]) * 0.7071067811865476;
            tmp[half + i] = (a[2 * i] - a[2 * i + 1]) * 0.7071067811865476;
        }
        FOR(i, n) a[i] = tmp[i];
    }
}

void insertion_sort(V(f64, a)) {
    FROM(i, 1, a0) {
        f64 x = a[i];
        i64 j = i - 1;
        while (j >= 0 && a[j] > x) {
            a[j + 1] = a[j];
            j -= 1;
        }
        a[j + 1] = x;
    }
}

void shell_sort(V(f64, a)) {
    for (i64 gap = a0 / 2; gap > 0; gap /= 2) FROM(i, gap, a0) {
        f64 x = a[i];
        i64 j = i;
        while (j >= gap && a[j - gap] > x) {
            a[j] = a[j - gap];
            j -= gap;
        }
        a[j] = x;
    }
}

#define SINK(begin, end) { i64 root = begin; \
    while (2 * root + 1 < end) { \
        i64 child = 2 * root + 1; \
        if (child + 1 < end && a[child] < a[child + 1]) child += 1; \
        if (a[root] >= a[child]) break; \
        SWAP(f64, a[root], a[child]); \
        root = child; \
    } }

void heap_sort(V(f64, a)) {
    DOWN(begin, a0 / 2 - 1, -1) SINK(begin, a0)
    DOWN(end, a0 - 1, 0) {
        SWAP(f64, a[0], a[end]);
        SINK(0, end)
    }
}

void merge_sort(V(f64, a), V(f64, tmp)) {
    i64 n = a0;
    for (i64 width = 1; width < n; width *= 2) {
        for (i64 low = 0; low < n; low += 2 * width) {
            i64 middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            i64 i = low, j = middle;
            FROM(k, low, high) {
                if (i < middle && (j >= high || a[i] <= a[j])) tmp[k] = a[i++];
                else tmp[k] = a[j++];
            }
        }
        FOR(k, n) a[k] = tmp[k];
    }
}

void radix_sort(V(i64, a), V(i64, tmp)) {
    i64 n = a0, count[256];
    for (i64 shift = 0; shift < 24; shift += 8) {
        FOR(d, 256) count[d] = 0;
        FOR(i, n) count[(a[i] >> shift) & 255] += 1;
        i64 total = 0;
        FOR(d, 256) {
            i64 here = count[d];
            count[d] = total;
            total += here;
        }
        FOR(i, n) {
            i64 d = (a[i] >> shift) & 255;
            tmp[count[d]] = a[i];
            count[d] += 1;
        }
        FOR(i, n) a[i] = tmp[i];
    }
}

/* ---- dynamic programming, graphs */

i64 common_subsequence(V(u8, a), V(u8, b), M(i64, table)) {
    FROM(i, 1, a0 + 1) FROM(j, 1, b0 + 1) {
        if (a[i - 1] == b[j - 1]) table[i][j] = table[i - 1][j - 1] + 1;
        else table[i][j] = table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1];
    }
    return table[a0][b0];
}

i64 edit_distance(V(u8, a), V(u8, b), V(i64, previous), V(i64, current)) {
    FOR(j, b0 + 1) previous[j] = j;
    FROM(i, 1, a0 + 1) {
        current[0] = i;
        FROM(j, 1, b0 + 1) {
            i64 cost = a[i - 1] == b[j - 1] ? 0 : 1, least = previous[j] + 1;
            if (current[j - 1] + 1 < least) least = current[j - 1] + 1;
            if (previous[j - 1] + cost < least) least = previous[j - 1] + cost;
            current[j] = least;
        }
        FOR(j, b0 + 1) previous[j] = current[j];
    }
    return previous[b0];
}

i64 knapsack(V(i64, weights), V(i64, values), V(i64, best)) {
    i64 capacity = best0 - 1;
    FOR(i, weights0) {
        i64 w = weights[i];
        DOWN(c, capacity, w - 1) if (best[c - w] + values[i] > best[c]) best[c] = best[c - w] + values[i];
    }
    return best[capacity];
}

i64 matrix_chain(V(i64, sizes), M(i64, cost)) {
    i64 n = sizes0 - 1;
    FROM(length, 2, n + 1) FOR(i, n - length + 1) {
        i64 j = i + length - 1, least = (i64)1 << 60;
        FROM(k, i, j) {
            i64 c = cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
            if (c < least) least = c;
        }
        cost[i][j] = least;
    }
    return cost[0][n - 1];
}

i64 flood(M(u8, grid), V(i64, queue), M(i64, distance)) {
    static const i64 moves[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    i64 h = grid0, w = grid1, head = 0, tail = 1;
    FOR(y, h) FOR(x, w) distance[y][x] = -1;
    queue[0] = 0;
    distance[0][0] = 0;
    while (head < tail) {
        i64 y = queue[head] / w, x = queue[head] % w;
        head += 1;
        FOR(m, 4) {
            i64 v = y + moves[m][0], u = x + moves[m][1];
            if (0 <= v && v < h && 0 <= u && u < w && grid[v][u] == 0 && distance[v][u] < 0) {
                distance[v][u] = distance[y][x] + 1;
                queue[tail] = v * w + u;
                tail += 1;
            }
        }
    }
    return tail;
}

i64 components(V(i64, left), V(i64, right), V(i64, parent)) {
    i64 count = parent0;
    FOR(i, parent0) parent[i] = i;
    FOR(e, left0) {
        i64 a = left[e], b = right[e];
        while (parent[a] != a) {
            parent[a] = parent[parent[a]];
            a = parent[a];
        }
        while (parent[b] != b) {
            parent[b] = parent[parent[b]];
            b = parent[b];
        }
        if (a != b) {
            parent[a] = b;
            count -= 1;
        }
    }
    return count;
}

i64 bellman_ford(V(i64, sources), V(i64, targets), V(f64, weights), V(f64, distance)) {
    FOR(i, distance0) distance[i] = 1e30;
    distance[0] = 0.0;
    i64 rounds = 0, changed = 1;
    while (changed) {
        changed = 0;
        rounds += 1;
        FOR(k, sources0) {
            f64 d = distance[sources[k]] + weights[k];
            if (d < distance[targets[k]]) {
                distance[targets[k]] = d;
                changed = 1;
            }
        }
    }
    return rounds;
}

void page_rank(V(i64, starts), V(i64, targets), V(f64, rank), V(f64, new)) {
    i64 n = rank0;
    FOR(step, 10) {
        FOR(i, n) new[i] = 0.15 / n;
        FOR(i, n) {
            i64 out = starts[i + 1] - starts[i];
            FROM(e, starts[i], starts[i + 1]) new[targets[e]] += 0.85 * rank[i] / out;
        }
        FOR(i, n) rank[i] = new[i];
    }
}

/* ---- cells, pixels, points */

void life(M(i64, grid), M(i64, new)) {
    i64 h = grid0, w = grid1;
    FOR(y, h) FOR(x, w) {
        i64 n = 0;
        FROM(dy, -1, 2) FROM(dx, -1, 2)
            if (dy != 0 || dx != 0) n += grid[(y + dy + h) % h][(x + dx + w) % w];
        new[y][x] = n == 3 || (n == 2 && grid[y][x] == 1) ? 1 : 0;
    }
}

void rule_30(V(i64, cells), V(i64, new), i64 steps) {
    i64 n = cells0;
    FOR(t, steps) {
        FOR(i, n) {
            i64 pattern = cells[(i - 1 + n) % n] * 4 + cells[i] * 2 + cells[(i + 1) % n];
            new[i] = (30 >> pattern) & 1;
        }
        FOR(i, n) cells[i] = new[i];
    }
}

void gray_scott(M(f64, u), M(f64, v), M(f64, nu), M(f64, nv)) {
    FROM(y, 1, u0 - 1) FROM(x, 1, u1 - 1) {
        f64 lu = u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1] - 4 * u[y][x];
        f64 lv = v[y - 1][x] + v[y + 1][x] + v[y][x - 1] + v[y][x + 1] - 4 * v[y][x];
        f64 uvv = u[y][x] * v[y][x] * v[y][x];
        nu[y][x] = u[y][x] + 0.16 * lu - uvv + 0.035 * (1 - u[y][x]);
        nv[y][x] = v[y][x] + 0.08 * lv + uvv - 0.1 * v[y][x];
    }
}

i64 kmeans_assign(M(f64, points), M(f64, centres), V(i64, labels)) {
    i64 changed = 0;
    FOR(i, points0) {
        i64 best = -1;
        f64 least = INFINITY;
        FOR(c, centres0) {
            f64 d = 0.0;
            FOR(k, points1) {
                f64 diff = points[i][k] - centres[c][k];
                d += diff * diff;
            }
            if (d < least) {
                least = d;
                best = c;
            }
        }
        if (labels[i] != best) {
            labels[i] = best;
            changed += 1;
        }
    }
    return changed;
}

void nbody(M(f64, position), M(f64, velocity), V(f64, mass), i64 steps) {
    i64 n = mass0;
    FOR(t, steps) {
        FOR(i, n) FROM(j, i + 1, n) {
            f64 dx = position[i][0] - position[j][0];
            f64 dy = position[i][1] - position[j][1];
            f64 dz = position[i][2] - position[j][2];
            f64 d2 = dx * dx + dy * dy + dz * dz;
            f64 mag = 0.01 / (d2 * sqrt(d2));
            velocity[i][0] -= dx * mass[j] * mag;
            velocity[i][1] -= dy * mass[j] * mag;
            velocity[i][2] -= dz * mass[j] * mag;
            velocity[j][0] += dx * mass[i] * mag;
            velocity[j][1] += dy * mass[i] * mag;
            velocity[j][2] += dz * mass[i] * mag;
        }
        FOR(i, n) FOR(k, 3) position[i][k] += 0.01 * velocity[i][k];
    }
}

void ray_march(M(f64, out)) {
    f64 h = out0, w = out1;
    FOR(y, out0) FOR(x, out1) {
        f64 dx = (x - w / 2) / w, dy = (y - h / 2) / h, inv = 1.0 / sqrt(dx * dx + dy * dy + 1.0), dz = inv, t = 0.0;
        dx *= inv;
        dy *= inv;
        FOR(step, 64) {
            f64 px = dx * t, py = dy * t, pz = dz * t - 3.0;
            f64 ball = sqrt(px * px + py * py + pz * pz) - 1.0, ground = py + 1.0, d = ground < ball ? ground : ball;
            if (d < 0.001 || t > 20.0) break;
            t += d;
        }
        out[y][x] = t;
    }
}

void mandelbrot(M(i64, out), i64 limit) {
    FOR(y, out0) FOR(x, out1) {
        f64 cr = 3.0 * x / out1 - 2.0, ci = 2.0 * y / out0 - 1.0, zr = 0.0, zi = 0.0;
        i64 n = 0;
        while (n < limit && zr * zr + zi * zi < 4.0) {
            f64 next = zr * zr - zi * zi + cr;
            zi = 2.0 * zr * zi + ci;
            zr = next;
            n += 1;
        }
        out[y][x] = n;
    }
}

i64 convex_hull(V(f64, x), V(f64, y), V(i64, hull)) {
    i64 n = x0, top = 0;
    FOR(i, n) {
        while (top >= 2) {
            i64 a = hull[top - 2], b = hull[top - 1];
            if ((x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0.0) break;
            top -= 1;
        }
        hull[top] = i;
        top += 1;
    }
    i64 low = top + 1;
    DOWN(i, n - 2, -1) {
        while (top >= low) {
            i64 a = hull[top - 2], b = hull[top - 1];
            if ((x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0.0) break;
            top -= 1;
        }
        hull[top] = i;
        top += 1;
    }
    return top - 1;
}

i64 points_in_polygon(V(f64, px), V(f64, py), V(f64, x), V(f64, y)) {
    i64 count = 0, n = x0;
    FOR(p, px0) {
        i64 inside = 0, j = n - 1;
        FOR(i, n) {
            if ((y[i] > py[p]) != (y[j] > py[p])) {
                if (px[p] < (x[j] - x[i]) * (py[p] - y[i]) / (y[j] - y[i]) + x[i]) inside = !inside;
            }
            j = i;
        }
        if (inside) count += 1;
    }
    return count;
}

void convolve(M(f64, image), M(f64, kernel), M(f64, out)) {
    FOR(y, out0) FOR(x, out1) {
        f64 total = 0.0;
        FOR(i, kernel0) FOR(j, kernel1) total += image[y + i][x + j] * kernel[i][j];
        out[y][x] = total;
    }
}

void bilinear(M(f64, image), M(f64, out)) {
    FOR(y, out0) FOR(x, out1) {
        f64 sy = y * (image0 - 1.0) / out0, sx = x * (image1 - 1.0) / out1;
        i64 iy = (i64)sy, ix = (i64)sx;
        f64 fy = sy - iy, fx = sx - ix;
        f64 top = image[iy][ix] * (1.0 - fx) + image[iy][ix + 1] * fx;
        f64 low = image[iy + 1][ix] * (1.0 - fx) + image[iy + 1][ix + 1] * fx;
        out[y][x] = top * (1.0 - fy) + low * fy;
    }
}

void pair_distances(M(f64, points), M(f64, out)) {
    FOR(i, points0) FOR(j, points0) {
        f64 d = 0.0;
        FOR(k, points1) {
            f64 t = points[i][k] - points[j][k];
            d += t * t;
        }
        out[i][j] = sqrt(d);
    }
}

/* ---- solvers */

void tridiagonal(V(f64, lower), V(f64, diagonal), V(f64, upper), V(f64, right), V(f64, c), V(f64, x)) {
    c[0] = upper[0] / diagonal[0];
    x[0] = right[0] / diagonal[0];
    FROM(i, 1, x0) {
        f64 m = 1.0 / (diagonal[i] - lower[i] * c[i - 1]);
        c[i] = upper[i] * m;
        x[i] = (right[i] - lower[i] * x[i - 1]) * m;
    }
    DOWN(i, x0 - 2, -1) x[i] -= c[i] * x[i + 1];
}

void sparse_product(V(i64, starts), V(i64, columns), V(f64, values), V(f64, x), V(f64, y)) {
    FOR(i, y0) {
        f64 total = 0.0;
        FROM(k, starts[i], starts[i + 1]) total += values[k] * x[columns[k]];
        y[i] = total;
    }
}

void csr_transpose(V(i64, starts), V(i64, columns), V(f64, values), V(i64, new_starts), V(i64, new_columns),
                   V(f64, new_values)) {
    i64 n = starts0 - 1;
    FOR(j, n + 1) new_starts[j] = 0;
    FOR(k, columns0) new_starts[columns[k] + 1] += 1;
    FOR(j, n) new_starts[j + 1] += new_starts[j];
    FOR(i, n) FROM(k, starts[i], starts[i + 1]) {
        i64 at = new_starts[columns[k]];
        new_columns[at] = i;
        new_values[at] = values[k];
        new_starts[columns[k]] = at + 1;
    }
    DOWN(j, n, 0) new_starts[j] = new_starts[j - 1];
    new_starts[0] = 0;
}

void gauss_seidel(V(i64, starts), V(i64, columns), V(f64, values), V(f64, diagonal), V(f64, b), V(f64, x)) {
    FOR(step, 5) FOR(i, x0) {
        f64 total = b[i];
        FROM(k, starts[i], starts[i + 1]) total -= values[k] * x[columns[k]];
        x[i] = total / diagonal[i];
    }
}

f64 runge_kutta(f64 x, f64 y, f64 z, i64 steps) {
    FOR(t, steps) {
        f64 dx = 10.0 * (y - x), dy = x * (28.0 - z) - y, dz = x * y - 2.6666666 * z;
        f64 mx = x + 0.005 * dx, my = y + 0.005 * dy, mz = z + 0.005 * dz;
        x += 0.01 * (10.0 * (my - mx));
        y += 0.01 * (mx * (28.0 - mz) - my);
        z += 0.01 * (mx * my - 2.6666666 * mz);
    }
    return x + y + z;
}

void horner(V(f64, coefficients), V(f64, x), V(f64, out)) {
    FOR(i, x0) {
        f64 total = 0.0;
        FOR(k, coefficients0) total = total * x[i] + coefficients[k];
        out[i] = total;
    }
}

void gauss_jordan(M(f64, a)) {
    FOR(k, a0) {
        f64 pivot = a[k][k];
        FOR(j, a1) a[k][j] /= pivot;
        FOR(i, a0) if (i != k) {
            f64 factor = a[i][k];
            FOR(j, a1) a[i][j] -= factor * a[k][j];
        }
    }
}

/* ---- bytes */

void upper_case(V(u8, text), V(u8, out)) {
    FOR(i, text0) {
        u8 c = text[i];
        if (97 <= c && c <= 122) c -= 32;
        out[i] = c;
    }
}

i64 count_words(V(u8, text)) {
    i64 words = 0;
    int inside = 0;
    FOR(i, text0) {
        u8 c = text[i];
        if (c == 32 || c == 10 || c == 9) inside = 0;
        else if (!inside) {
            inside = 1;
            words += 1;
        }
    }
    return words;
}

i64 find_text(V(u8, text), V(u8, word)) {
    i64 found = 0;
    FOR(i, text0 - word0 + 1) {
        i64 k = 0;
        while (k < word0 && text[i + k] == word[k]) k += 1;
        if (k == word0) found += 1;
    }
    return found;
}

i64 knuth_morris_pratt(V(u8, text), V(u8, word), V(i64, fail)) {
    i64 m = word0, k = 0, found = 0;
    fail[0] = 0;
    FROM(i, 1, m) {
        while (k > 0 && word[i] != word[k]) k = fail[k - 1];
        if (word[i] == word[k]) k += 1;
        fail[i] = k;
    }
    k = 0;
    FOR(i, text0) {
        while (k > 0 && text[i] != word[k]) k = fail[k - 1];
        if (text[i] == word[k]) k += 1;
        if (k == m) {
            found += 1;
            k = fail[k - 1];
        }
    }
    return found;
}

i64 utf8_length(V(u8, data)) {
    i64 count = 0, i = 0, n = data0;
    while (i < n) {
        u8 c = data[i];
        if (c < 0x80) i += 1;
        else if (c < 0xE0) i += 2;
        else if (c < 0xF0) i += 3;
        else i += 4;
        count += 1;
    }
    return count;
}

i64 base64(V(u8, data), V(u8, alphabet), V(u8, out)) {
    i64 n = 0;
    for (i64 i = 0; i < data0 - 2; i += 3) {
        i64 v = (i64)data[i] << 16 | (i64)data[i + 1] << 8 | (i64)data[i + 2];
        out[n] = alphabet[v >> 18];
        out[n + 1] = alphabet[(v >> 12) & 63];
        out[n + 2] = alphabet[(v >> 6) & 63];
        out[n + 3] = alphabet[v & 63];
        n += 4;
    }
    return n;
}

i64 parse_numbers(V(u8, text)) {
    i64 total = 0, value = 0;
    FOR(i, text0) {
        i64 c = text[i];
        if (48 <= c && c <= 57) value = value * 10 + c - 48;
        else {
            total += value;
            value = 0;
        }
    }
    return total + value;
}

void letter_counts(V(u8, text), V(i64, counts)) {
    FOR(i, text0) counts[text[i]] += 1;
}

i64 palindromes(V(u8, text)) {
    i64 count = 0, n = text0;
    FOR(centre, 2 * n - 1) {
        i64 left = centre / 2, right = left + centre % 2;
        while (left >= 0 && right < n && text[left] == text[right]) {
            count += 1;
            left -= 1;
            right += 1;
        }
    }
    return count;
}

/* ---- numbers, walks, small matrices */

i64 random_walk(i64 seed, i64 steps) {
    u64 state = seed;
    i64 x = 0, y = 0, far = 0;
    FOR(t, steps) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u64 move = state & 3;
        if (move == 0) x += 1;
        else if (move == 1) x -= 1;
        else if (move == 2) y += 1;
        else y -= 1;
        if (x * x + y * y > far) far = x * x + y * y;
    }
    return far;
}

i64 pi_by_chance(i64 seed, i64 steps) {
    i64 inside = 0;
    FOR(t, steps) {
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF;
        f64 x = seed / 2147483648.0;
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF;
        f64 y = seed / 2147483648.0;
        if (x * x + y * y < 1.0) inside += 1;
    }
    return inside;
}

i64 sieve(V(u8, flags)) {
    i64 n = flags0, count = 0;
    FOR(i, n) flags[i] = 1;
    flags[0] = flags[1] = 0;
    for (i64 i = 2; i * i < n; i++)
        if (flags[i]) for (i64 k = i * i; k < n; k += i) flags[k] = 0;
    FOR(i, n) count += flags[i];
    return count;
}

i64 collatz(i64 limit) {
    i64 longest = 0;
    FROM(start, 1, limit) {
        i64 n = start, steps = 0;
        while (n != 1) {
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            steps += 1;
        }
        if (steps > longest) longest = steps;
    }
    return longest;
}

i64 divisors(i64 limit) {
    i64 total = 0;
    FROM(a, 1, limit) FROM(b, 1, limit) {
        i64 x = a, y = b;
        while (y) {
            i64 t = x % y;
            x = y;
            y = t;
        }
        total += x;
    }
    return total;
}

i64 power_mod(i64 base, i64 modulus, i64 count) {
    i64 total = 0;
    FOR(e, count) {
        i64 result = 1, b = base % modulus, k = e;
        while (k > 0) {
            if (k & 1) result = result * b % modulus;
            b = b * b % modulus;
            k >>= 1;
        }
        total += result;
    }
    return total;
}

void small_products(C(f64, a), C(f64, b), C(f64, out)) {
    FOR(m, a0) FOR(i, 4) FOR(j, 4) {
        f64 total = 0.0;
        FOR(k, 4) total += a[m][i][k] * b[m][k][j];
        out[m][i][j] = total;
    }
}

void rotate(M(f64, matrix), M(f64, points), M(f64, out)) {
    FOR(p, points0) FOR(i, 3) {
        f64 total = 0.0;
        FOR(k, 3) total += matrix[i][k] * points[p][k];
        out[p][i] = total;
    }
}

void quaternions(M(f64, a), M(f64, b), M(f64, out)) {
    FOR(i, a0) {
        f64 w = a[i][0], x = a[i][1], y = a[i][2], z = a[i][3];
        f64 s = b[i][0], t = b[i][1], u = b[i][2], v = b[i][3];
        out[i][0] = w * s - x * t - y * u - z * v;
        out[i][1] = w * t + x * s + y * v - z * u;
        out[i][2] = w * u - x * v + y * s + z * t;
        out[i][3] = w * v + x * u - y * t + z * s;
    }
}

void running_mean(V(f64, a), V(f64, out), i64 width) {
    FOR(i, out0) {
        f64 total = 0.0;
        FOR(k, width) total += a[i + k];
        out[i] = total / width;
    }
}

i64 binary_search(V(f64, table), V(f64, wanted)) {
    i64 found = 0;
    FOR(i, wanted0) {
        i64 low = 0, high = table0;
        while (low < high) {
            i64 middle = (low + high) / 2;
            if (table[middle] < wanted[i]) low = middle + 1;
            else high = middle;
        }
        found += low;
    }
    return found;
}

void saxpy(f64 alpha, V(f64, x), V(f64, y)) {
    FOR(i, x0) y[i] += alpha * x[i];
}

void transpose(M(f64, a), M(f64, out)) {
    FOR(i, a0) FOR(j, a1) out[j][i] = a[i][j];
}

void prefix_sums(V(f64, a), V(f64, out)) {
    f64 total = 0.0;
    FOR(i, a0) {
        total += a[i];
        out[i] = total;
    }
}

/* ---- images, tables, sums */

i64 find_any(V(u8, text), V(u8, wanted)) {
    u8 table[256] = {0};
    FOR(i, wanted0) table[wanted[i]] = 1;
    i64 count = 0, last = -1;
    FOR(i, text0) if (table[text[i]] != 0) {
        count++;
        last = i;
    }
    return count * 1000000 + last;
}

void leading_zeros(V(i64, a), V(i64, out)) {
    FOR(i, a0) {
        i64 v = a[i], n = 0;
        while (v > 0) {
            v >>= 1;
            n++;
        }
        out[i] = 63 - n;
    }
}

void dilate(M(u8, a), M(u8, out)) {
    FROM(y, 1, a0 - 1) FROM(x, 1, a1 - 1) {
        u8 m = a[y][x];
        FROM(dy, -1, 2) FROM(dx, -1, 2) if (a[y + dy][x + dx] > m) m = a[y + dy][x + dx];
        out[y][x] = m;
    }
}

void integral_image(M(u8, a), M(i64, s)) {
    FOR(y, a0) {
        i64 row = 0;
        FOR(x, a1) {
            row += a[y][x];
            s[y + 1][x + 1] = s[y][x + 1] + row;
        }
    }
}

void hex_encode(V(u8, data), V(u8, digits), V(u8, out)) {
    FOR(i, data0) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
}

void morton(V(u64, x), V(u64, y), V(u64, out)) {
    FOR(i, x0) {
        u64 r = 0, a = x[i], b = y[i];
        FOR(k, 16) {
            r |= ((a >> k) & 1) << (2 * k);
            r |= ((b >> k) & 1) << (2 * k + 1);
        }
        out[i] = r;
    }
}

f64 simpson(f64 a, f64 b, i64 n) {
    f64 h = (b - a) / n, s = 0.0;
    FOR(i, n + 1) {
        f64 x = a + i * h;
        f64 w = i == 0 || i == n ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        s += w * x / (1.0 + x * x);
    }
    return s * h / 3.0;
}

i64 coin_change(V(i64, coins), V(i64, ways)) {
    FOR(i, ways0) ways[i] = 0;
    ways[0] = 1;
    FOR(c, coins0) FROM(i, coins[c], ways0) ways[i] += ways[i - coins[c]];
    return ways[ways0 - 1];
}

i64 smith_waterman(V(u8, a), V(u8, b), M(i64, h)) {
    i64 best = 0;
    FROM(i, 1, a0 + 1) FROM(j, 1, b0 + 1) {
        i64 s = a[i - 1] == b[j - 1] ? 3 : -3;
        i64 v = h[i - 1][j - 1] + s;
        i64 p = h[i - 1][j] - 2, q = h[i][j - 1] - 2;
        v = v > p ? v : p;
        v = v > q ? v : q;
        v = v > 0 ? v : 0;
        h[i][j] = v;
        if (v > best) best = v;
    }
    return best;
}

f64 viterbi(M(f64, trans), M(f64, emit), V(i64, obs), V(f64, score), V(f64, nxt), M(i64, back)) {
    i64 n = trans0;
    FOR(s, n) score[s] = emit[s][obs[0]];
    FROM(t, 1, obs0) {
        FOR(s, n) {
            f64 best = -1e300;
            i64 arg = 0;
            FOR(p, n) {
                f64 v = score[p] + trans[p][s];
                if (v > best) {
                    best = v;
                    arg = p;
                }
            }
            nxt[s] = best + emit[s][obs[t]];
            back[t][s] = arg;
        }
        FOR(s, n) score[s] = nxt[s];
    }
    f64 best = score[0];
    FROM(s, 1, n) if (score[s] > best) best = score[s];
    return best;
}

void floyd_steinberg(M(f64, a)) {
    i64 h = a0, w = a1;
    FOR(y, h) FOR(x, w) {
        f64 old = a[y][x], new = old > 127.5 ? 255.0 : 0.0, e = old - new;
        a[y][x] = new;
        if (x + 1 < w) a[y][x + 1] += e * 7 / 16;
        if (y + 1 < h) {
            if (x > 0) a[y + 1][x - 1] += e * 3 / 16;
            a[y + 1][x] += e * 5 / 16;
            if (x + 1 < w) a[y + 1][x + 1] += e * 1 / 16;
        }
    }
}

void hough(M(u8, edges), V(f64, cosine), V(f64, sine), M(i64, acc)) {
    i64 half = acc1 / 2;
    FOR(y, edges0) FOR(x, edges1) if (edges[y][x]) FOR(t, cosine0) {
        i64 r = (i64)(x * cosine[t] + y * sine[t]) + half;
        acc[t][r]++;
    }
}

f64 distance_sum(M(f64, points), V(f64, weights)) {
    f64 total = 0.0;
    FOR(i, points0) FOR(j, i) {
        f64 x = points[i][0] - points[j][0], y = points[i][1] - points[j][1];
        total += weights[i] * weights[j] / sqrt(1.0 + x * x + y * y);
    }
    return total;
}

/* ---- searches, windows, permutations */

void interpolate(V(f64, xs), V(f64, ys), V(f64, q), V(f64, out)) {
    i64 n = xs0;
    FOR(i, q0) {
        i64 lo = 0, hi = n - 1;
        while (hi - lo > 1) { i64 mid = (lo + hi) >> 1; if (xs[mid] <= q[i]) lo = mid; else hi = mid; }
        f64 t = (q[i] - xs[lo]) / (xs[hi] - xs[lo]);
        out[i] = ys[lo] + t * (ys[hi] - ys[lo]);
    }
}

i64 longest_increasing(V(i64, a), V(i64, tails)) {
    i64 n = 0;
    FOR(i, a0) {
        i64 lo = 0, hi = n;
        while (lo < hi) { i64 mid = (lo + hi) / 2; if (tails[mid] < a[i]) lo = mid + 1; else hi = mid; }
        tails[lo] = a[i];
        if (lo == n) n++;
    }
    return n;
}

i64 run_lengths(V(u8, text), V(u8, values), V(i64, counts)) {
    i64 n = 0, i = 0;
    while (i < text0) { i64 j = i + 1; while (j < text0 && text[j] == text[i]) j++;
        values[n] = text[i]; counts[n] = j - i; n++; i = j; }
    return n;
}

i64 union_find(V(i64, a), V(i64, b), V(i64, parent)) {
    i64 n = parent0, groups = n;
    FOR(i, n) parent[i] = i;
    FOR(e, a0) {
        i64 x = a[e];
        while (parent[x] != x) { parent[x] = parent[parent[x]]; x = parent[x]; }
        i64 y = b[e];
        while (parent[y] != y) { parent[y] = parent[parent[y]]; y = parent[y]; }
        if (x != y) { parent[x] = y; groups--; }
    }
    return groups;
}

i64 fenwick(V(i64, at), V(i64, by), V(i64, tree)) {
    i64 n = tree0, total = 0;
    FOR(e, at0) {
        i64 i = at[e] + 1;
        while (i < n) { tree[i] += by[e]; i += i & -i; }
        i = at[at0 - 1 - e] + 1;
        while (i > 0) { total += tree[i]; i -= i & -i; }
        total &= 0xFFFFFFFF;
    }
    return total;
}

void bit_permutation(V(f64, re), V(f64, im)) {
    i64 n = re0, j = 0;
    FROM(i, 1, n) {
        i64 bit = n >> 1;
        while (j & bit) { j ^= bit; bit >>= 1; }
        j |= bit;
        if (i < j) { f64 t = re[i]; re[i] = re[j]; re[j] = t; t = im[i]; im[i] = im[j]; im[j] = t; }
    }
}

void window_max(V(f64, x), i64 w, V(i64, queue), V(f64, out)) {
    i64 head = 0, tail = 0;
    FOR(i, x0) {
        while (tail > head && x[queue[tail - 1]] <= x[i]) tail--;
        queue[tail++] = i;
        if (queue[head] <= i - w) head++;
        out[i] = x[queue[head]];
    }
}

void box_sums(M(i64, s), i64 r, M(i64, out)) {
    i64 h = out0, w = out1;
    FOR(y, h) FOR(x, w) {
        i64 y0 = MAX(y - r, 0), y1 = MIN(y + r + 1, h), x0 = MAX(x - r, 0), x1 = MIN(x + r + 1, w);
        out[y][x] = s[y1][x1] - s[y0][x1] - s[y1][x0] + s[y0][x0];
    }
}

void sobel(M(u8, a), M(u8, out)) {
    FROM(y, 1, a0 - 1) FROM(x, 1, a1 - 1) {
        i64 gx = (i64)a[y-1][x+1] + 2 * (i64)a[y][x+1] + a[y+1][x+1] - a[y-1][x-1] - 2 * (i64)a[y][x-1] - a[y+1][x-1];
        i64 gy = (i64)a[y+1][x-1] + 2 * (i64)a[y+1][x] + a[y+1][x+1] - a[y-1][x-1] - 2 * (i64)a[y-1][x] - a[y-1][x+1];
        out[y][x] = MIN(255, llabs(gx) + llabs(gy));
    }
}

void reverse_words(V(u8, text), V(u8, out)) {
    i64 n = text0, i = 0;
    while (i < n) {
        i64 j = i;
        while (j < n && text[j] != 32) j++;
        FROM(k, i, j) out[k] = text[j - 1 - (k - i)];
        if (j < n) out[j] = 32;
        i = j + 1;
    }
}

f64 time_warping(V(f64, a), V(f64, b), M(f64, d), i64 window) {
    i64 n = a0, m = b0;
    FOR(i, n + 1) FOR(j, m + 1) d[i][j] = 1e300;
    d[0][0] = 0.0;
    FROM(i, 1, n + 1) FROM(j, MAX(1, i - window), MIN(m, i + window) + 1) {
        f64 cost = fabs(a[i - 1] - b[j - 1]), v = d[i - 1][j];
        v = d[i][j - 1] < v ? d[i][j - 1] : v;
        v = d[i - 1][j - 1] < v ? d[i - 1][j - 1] : v;
        d[i][j] = cost + v;
    }
    return d[n][m];
}

void convolve_clamp(M(f64, image), M(f64, kernel), M(f64, out)) {
    i64 h = image0, w = image1, r = kernel0 / 2;
    FOR(y, h) FOR(x, w) {
        f64 t = 0.0;
        FROM(i, -r, r + 1) {
            i64 yy = MIN(MAX(y + i, 0), h - 1);
            FROM(j, -r, r + 1) {
                i64 xx = MIN(MAX(x + j, 0), w - 1);
                t += image[yy][xx] * kernel[i + r][j + r];
            }
        }
        out[y][x] = t;
    }
}

f64 conjugate_gradient(V(i64, ptr), V(i64, col), V(f64, val), V(f64, b), V(f64, x), V(f64, r), V(f64, p), V(f64, q),
                       i64 steps) {
    i64 n = b0;
    FOR(i, n) {
        x[i] = 0.0;
        r[i] = b[i];
        p[i] = b[i];
    }
    f64 rr = 0.0;
    FOR(i, n) rr += r[i] * r[i];
    FOR(s, steps) {
        f64 pq = 0.0, new = 0.0;
        FOR(i, n) {
            f64 t = 0.0;
            FROM(k, ptr[i], ptr[i + 1]) t += val[k] * p[col[k]];
            q[i] = t;
            pq += p[i] * t;
        }
        f64 alpha = rr / pq;
        FOR(i, n) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            new += r[i] * r[i];
        }
        f64 beta = new / rr;
        rr = new;
        FOR(i, n) p[i] = r[i] + beta * p[i];
    }
    return rr;
}

void twister(V(uint32_t, mt), V(uint32_t, out)) {
    FOR(i, 624) {
        uint32_t y = (mt[i] & 0x80000000u) | (mt[(i + 1) % 624] & 0x7FFFFFFFu), v = mt[(i + 397) % 624] ^ (y >> 1);
        if (y & 1) v ^= 0x9908B0DFu;
        mt[i] = v;
    }
    FOR(i, 624) {
        uint32_t y = mt[i];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9D2C5680u;
        y ^= (y << 15) & 0xEFC60000u;
        y ^= y >> 18;
        out[i] = y;
    }
}
