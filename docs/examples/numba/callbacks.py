"""Functions that C calls and functions of C that are called: ctypes, scipy, memory behind pointers."""
import ctypes
import ctypes.util
import math

import numpy as np
from numba import carray, cfunc, farray, float64, intc, njit, types

EVENTS = np.dtype([("time", np.float64), ("kind", np.int32)], align=True)


@cfunc(float64(float64))
def integrand(t):
    return np.exp(-t) / t ** 2


@cfunc(types.void(types.CPointer(types.double), types.CPointer(types.double), types.intc, types.intc))
def transform(source, target, m, n):
    given, made = carray(source, (m, n)), carray(target, (m, n))
    for i in range(m):
        for j in range(n):
            made[i, j] = 2 * given[i, j] + i


@cfunc(types.double(types.CPointer(types.double), intc))
def column_major_trace(source, n):
    a = farray(source, (n, n))
    total = 0.0
    for i in range(n):
        total += a[i, i] + 10 * a[i, 0]
    return total


libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
c_erf = libm.erf
c_erf.restype, c_erf.argtypes = ctypes.c_double, [ctypes.c_double]


@njit
def normal_distribution(a):
    out = np.empty_like(a)
    for i in range(a.size):
        out[i] = 0.5 * (1 + c_erf(a[i] / math.sqrt(2.0)))
    return out


@njit
def integrated(a, b, n):
    total, h = 0.0, (b - a) / n
    for i in range(n):
        total += integrand(a + (i + 0.5) * h) * h
    return total


def main():
    assert abs(integrand.ctypes(1.0) - math.exp(-1)) < 1e-15 and integrand.address != 0
    given = np.arange(6.0).reshape(2, 3)
    made = np.zeros_like(given)
    pointer = ctypes.POINTER(ctypes.c_double)
    transform.ctypes(given.ctypes.data_as(pointer), made.ctypes.data_as(pointer), 2, 3)
    np.testing.assert_array_equal(made, 2 * given + np.arange(2)[:, None])
    square = np.asfortranarray(np.arange(9.0).reshape(3, 3))
    assert column_major_trace.ctypes(square.ctypes.data_as(pointer), 3) == 12.0 + 10 * 9.0
    x = np.linspace(-2, 2, 5)
    np.testing.assert_allclose(normal_distribution(x), [0.5 * math.erfc(-v / math.sqrt(2)) for v in x], rtol=1e-12)
    assert abs(integrated(1.0, 20.0, 20000) - 0.14849550677592) < 1e-6
    try:
        from scipy import LowLevelCallable, integrate
    except ImportError:
        return
    found, _ = integrate.quad(LowLevelCallable(integrand.ctypes), 1, np.inf)
    assert abs(found - 0.14849550677592) < 1e-8


if __name__ == "__main__":
    main()
