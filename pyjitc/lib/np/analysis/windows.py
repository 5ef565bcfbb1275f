"""Windows of signals, and the Bessel function they need."""
from __future__ import annotations

import numpy as np

from ...build import compiled, outlined
from ...intrinsics import fail

__all__ = ["CALLS"]


def hanning(M):
    return cosine_window(M, 0.5, 0.5, 0.0)


def hamming(M):
    return cosine_window(M, 0.54, 0.46, 0.0)


def blackman(M):
    return cosine_window(M, 0.42, 0.5, 0.08)


def cosine_window(M, constant, first, second):
    if M < 1:
        return np.empty(0, np.float64)
    if M == 1:
        return np.ones(1)
    n = np.arange(1 - M, M, 2)
    if second == 0.0:
        return constant + first * np.cos(np.pi * n / (M - 1))
    return constant + first * np.cos(np.pi * n / (M - 1)) + second * np.cos(2.0 * np.pi * n / (M - 1))


def bartlett(M):
    m = float(M)
    if m < 1:
        return np.empty(0, np.float64)
    if m == 1:
        return np.ones(1)
    n = np.arange(1.0 - m, m, 2.0)
    return np.where(n <= 0, 1 + n / (m - 1), 1 - n / (m - 1))


def kaiser(M, beta):
    m, b = float(M), float(beta)
    if m == 1:
        return np.ones(1)
    n = np.arange(0.0, m)
    middle = (m - 1) / 2.0
    bottom = bessel(abs(b))
    out = np.empty(len(n), np.float64)
    for i in range(len(n)):
        x = (n[i] - middle) / middle
        out[i] = bessel(abs(b * np.sqrt(1 - x * x))) / bottom
    return out


# Chebyshev series of exp(-x) I0(x) for x in [0, 8] and of exp(-x) sqrt(x) I0(x) beyond. Source: Cephes, i0.c.
SMALL = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16, 1.71539128555513303061e-15,
    -1.16853328779934516808e-14, 7.67618549860493561688e-14, -4.85644678311192946090e-13, 2.95505266312963983461e-12,
    -1.72682629144155570723e-11, 9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7, 1.11738753912010371815e-6,
    -4.41673835845875056359e-6, 1.64484480707288970893e-5, -5.75419501008210370398e-5, 1.88502885095841655729e-4,
    -5.76375574538582365885e-4, 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2, 1.71620901522208775349e-1,
    -3.04682672343198398683e-1, 6.76795274409476084995e-1)
LARGE = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17, 3.46122286769746109310e-17,
    -2.82762398051658348494e-16, -3.42548561967721913462e-16, 1.77256013305652638360e-15, 3.81168066935262242075e-15,
    -9.55484669882830764870e-15, -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11, -3.14991652796324136454e-11,
    1.18891471078464383424e-11, 4.94060238822496958910e-10, 3.39623202570838634515e-9, 2.26666899049817806459e-8,
    2.04891858946906374183e-7, 2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1)


def series(x, coefficients, k, b0, b1, b2):
    """Clenshaw's recurrence."""
    if k == len(coefficients):
        return 0.5 * (b0 - b2)
    return series(x, coefficients, k + 1, x * b0 - b1 + coefficients[k], b0, b1)


@outlined
def bessel(x):
    """I0 of a float that is not negative, computed in its type, as NumPy does: float16 has few digits left."""
    if x <= 8.0:
        return np.exp(x) * series(x / 2.0 - 2.0, SMALL, 1, SMALL[0], 0.0, 0.0)
    return np.exp(x) * series(32.0 / x - 2.0, LARGE, 1, LARGE[0], 0.0, 0.0) / np.sqrt(x)


def put_bessel(out, x):
    if x.ndim == 0:
        out[()] = bessel(abs(out.dtype.type(x[()])))
    elif x.ndim == 1:
        for i in range(len(x)):
            out[i] = bessel(abs(out.dtype.type(x[i])))
    else:
        for i in range(len(x)):
            put_bessel(out[i], x[i])


def i0(x):
    a = np.asarray(x)
    if a.dtype.kind == "c":
        fail(TypeError, "i0 not supported for complex values")
    out = np.empty(a.shape, a.dtype if a.dtype.kind == "f" else np.float64)
    put_bessel(out, a)
    return out


CALLS = {
    np.hanning: compiled(hanning), np.hamming: compiled(hamming), np.blackman: compiled(blackman),
    np.bartlett: compiled(bartlett), np.kaiser: compiled(kaiser), np.i0: compiled(i0),
}
