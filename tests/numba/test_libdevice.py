"""numba.cuda.libdevice, and what has no counterpart for CUDA."""
import math

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.numba import guvectorize, libdevice
from pyjitc.numba.absent import NotThere
from pyjitc.numba.install import module

X = np.array([0.0, 0.1, 0.5, 0.9])


@pytest.mark.parametrize("name, expected", [
    ("sin", np.sin), ("acos", np.arccos), ("log1p", np.log1p), ("rint", np.rint), ("cbrt", np.cbrt), ("exp2", np.exp2),
    ("atanh", np.arctanh)])
def test_functions_of_one_number(name, expected):
    double, single = getattr(libdevice, name), getattr(libdevice, f"{name}f")

    @cuda.jit
    def kernel(x, out, short):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = double(x[i])
            short[i] = single(x[i])

    out, short = np.zeros(len(X)), np.zeros(len(X), np.float32)
    kernel[1, 32](X, out, short)
    np.testing.assert_allclose(out, expected(X), rtol=1e-14)
    np.testing.assert_allclose(short, expected(X.astype(np.float32)), rtol=5e-7)
    assert type(single(0.5)) is np.float32 and type(double(0.5)) is np.float64


def test_other_functions():
    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = libdevice.pow(x[i], y)
            out[i, 1] = libdevice.atan2f(x[i], y)
            out[i, 2] = libdevice.fast_fdividef(x[i], y)
            out[i, 3] = libdevice.rsqrt(x[i])
            out[i, 4] = libdevice.erf(x[i])
            out[i, 5] = libdevice.fmax(x[i], y)
            out[i, 6] = libdevice.fast_sinf(x[i])

    out = np.zeros((len(X), 7))
    kernel[1, 32](X, 0.25, out)
    with np.errstate(divide="ignore"):
        expected = [X ** 0.25, np.arctan2(X, 0.25), X / 0.25, 1 / np.sqrt(X), [math.erf(x) for x in X],
                    np.fmax(X, 0.25), np.sin(X)]
    np.testing.assert_allclose(out.T, expected, rtol=1e-6)


def test_what_there_is_not():
    assert module("cuda.libdevice") is libdevice
    with pytest.raises(NotThere, match=r"no numba\.cuda\.libdevice\.byte_perm: kernels compile functions of math"):
        libdevice.byte_perm(1, 2, 3)
    with pytest.raises(NotImplementedError, match="write a kernel with cuda.jit"):
        guvectorize(["(float64[:], float64[:])"], "(n)->(n)", target="cuda")(lambda a, out: None)
