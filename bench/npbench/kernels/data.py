"""Statistics, images and index work."""
import numpy as np

from bench.npbench.kernels.kernel import Kernel


def correlation(M, float_n, data):
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float_n) * stddev
    corr = np.eye(M, dtype=data.dtype)
    for i in range(M - 1):
        corr[i + 1:M, i] = corr[i, i + 1:M] = data[:, i] @ data[:, i + 1:M]
    return corr


def make_correlation(M, N):
    i, j = np.indices((N, M), dtype=np.float64)
    return M, np.float64(N), i * j / M + i


def covariance(M, float_n, data):
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((M, M), dtype=data.dtype)
    for i in range(M):
        cov[i:M, i] = cov[i, i:M] = data[:, i] @ data[:, i:M] / (float_n - 1.0)
    return cov


def make_covariance(M, N):
    i, j = np.indices((N, M), dtype=np.float64)
    return M, np.float64(N), i * j / M


def covariance2(M, float_n, data):
    return np.cov(np.transpose(data))


def azimint_naive(data, radius, npt):
    rmax = radius.max()
    res = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        inside = np.logical_and((r1 <= radius), (radius < r2))
        values = data[inside]
        res[i] = values.mean()
    return res


def azimint_hist(data, radius, npt):
    count = np.histogram(radius, npt)[0]
    weight = np.histogram(radius, npt, weights=data)[0]
    return weight / count


def make_azimint(N, npt):
    rng = np.random.default_rng(42)
    return rng.random(N), rng.random(N), npt


def clipping(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def make_clipping(M, N):
    rng = np.random.default_rng(42)
    first, second = (rng.uniform(0, 1000, size=(M, N)).astype(np.int64) for _ in range(2))
    return first, second, np.int64(4), np.int64(3), np.int64(9)


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def make_go_fast(N):
    return (np.random.default_rng(42).random((N, N)),)


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    half = (np.sin((theta_2 - theta_1) / 2)**2
            + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2)**2)
    return 2 * (np.arctan2(np.sqrt(half), np.sqrt(1 - half)))


def make_arc_distance(N):
    rng = np.random.default_rng(42)
    return rng.random(N), rng.random(N), rng.random(N), rng.random(N)


def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        cols = A_col[A_row[i]:A_row[i + 1]]
        vals = A_val[A_row[i]:A_row[i + 1]]
        y[i] = vals @ x[cols]
    return y


def make_spmv(M, N, nnz):
    rng = np.random.default_rng(42)
    x = rng.random(N)
    places = np.unique(rng.integers(0, M * N, nnz))  # a few fewer than nnz: places drawn twice
    starts = np.searchsorted(places, np.arange(M + 1) * N)
    return starts.astype(np.uint32), (places % N).astype(np.uint32), rng.random(len(places)), x


def crc16(data, poly=0x8408):
    """CRC-16-CCITT."""
    crc = 0xFFFF
    for b in data:
        byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            byte >>= 1
    crc = (~crc & 0xFFFF)
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def make_crc16(N):
    return (np.random.default_rng(42).integers(0, 256, size=N, dtype=np.uint8),)


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def make_floyd_warshall(N):
    i, j = np.indices((N, N), dtype=np.int32)
    far = ((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)
    return (np.where(far, np.int32(999), i * j % 7 + 1),)


def match(b1, b2):
    if b1 + b2 == 3:
        return 1
    else:
        return 0


def nussinov(N, seq):
    """Largest number of base pairs in a folded RNA sequence."""
    table = np.zeros((N, N), np.int32)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < N:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < N:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def make_nussinov(N):
    return N, np.arange(1, N + 1, dtype=np.int32) % np.int32(4)


def deriche(alpha, image):
    """Deriche's recursive smoothing, along both axes in both directions."""
    k = (1.0 - np.exp(-alpha)) * (1.0 - np.exp(-alpha)) / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0**(-alpha)
    b2 = -np.exp(-2.0 * alpha)
    c1 = c2 = 1

    y1 = np.empty_like(image)
    y1[:, 0] = a1 * image[:, 0]
    y1[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * y1[:, 0]
    for j in range(2, image.shape[1]):
        y1[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]

    y2 = np.empty_like(image)
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        y2[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]

    smooth = c1 * (y1 + y2)

    y1[0, :] = a5 * smooth[0, :]
    y1[1, :] = a5 * smooth[1, :] + a6 * smooth[0, :] + b1 * y1[0, :]
    for i in range(2, image.shape[0]):
        y1[i, :] = a5 * smooth[i, :] + a6 * smooth[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]

    y2[-1, :] = 0.0
    y2[-2, :] = a7 * smooth[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        y2[i, :] = a7 * smooth[i + 1, :] + a8 * smooth[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]

    smooth[:] = c2 * (y1 + y2)
    return smooth


def make_deriche(W, H):
    i, j = np.indices((W, H), dtype=np.float64)
    return np.float64(0.25), (313 * i + 991 * j) % 65536 / 65535.0


KERNELS = (
    Kernel(correlation, make_correlation, dict(M=500, N=600), dict(M=5, N=7), ("data",)),
    Kernel(covariance, make_covariance, dict(M=500, N=600), dict(M=5, N=7), ("data",)),
    Kernel(covariance2, make_covariance, dict(M=500, N=600), dict(M=5, N=7)),
    Kernel(azimint_naive, make_azimint, dict(N=400000, npt=1000), dict(N=200, npt=7)),
    Kernel(azimint_hist, make_azimint, dict(N=400000, npt=1000), dict(N=200, npt=7)),
    Kernel(clipping, make_clipping, dict(M=2000, N=2000), dict(M=5, N=6)),
    Kernel(go_fast, make_go_fast, dict(N=2000), dict(N=6)),
    Kernel(arc_distance, make_arc_distance, dict(N=100000), dict(N=20)),
    Kernel(spmv, make_spmv, dict(M=4096, N=4096, nnz=8192), dict(M=9, N=8, nnz=20)),
    Kernel(crc16, make_crc16, dict(N=1600), dict(N=20)),
    Kernel(floyd_warshall, make_floyd_warshall, dict(N=200), dict(N=9), ("path",)),
    Kernel(nussinov, make_nussinov, dict(N=40), dict(N=9)),
    Kernel(deriche, make_deriche, dict(W=400, H=200), dict(W=8, H=7)),
)
