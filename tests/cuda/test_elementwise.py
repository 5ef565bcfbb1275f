"""cuda.elementwise, cuda.vectorize, cuda.reduce: kernels from one scalar function, against NumPy."""
import math

import numpy as np
import pytest

from pyjitc import CompileError, cuda

rng = np.random.default_rng(3)


@cuda.elementwise
def relu(x, slope):
    return x if x > 0 else slope * x


@cuda.elementwise
def add(x, y):
    return x + y


def test_arrays_of_the_host_and_of_the_device():
    a = rng.random((3, 4), np.float32) - np.float32(0.5)
    wanted = np.where(a > 0, a, np.float32(0.5) * a)
    got = relu(a, 0.5)
    assert type(got) is np.ndarray and got.dtype == np.float32
    np.testing.assert_array_equal(got, wanted)
    on_device = relu(cuda.to_device(a), 0.5)
    assert isinstance(on_device, cuda.DeviceArray)
    np.testing.assert_array_equal(on_device.copy_to_host(), wanted)
    out = cuda.device_array((3, 4), np.float32)
    assert relu(a, 0.5, out=out) is out
    np.testing.assert_array_equal(out.copy_to_host(), wanted)


def test_broadcasting_and_layouts():
    a, b, c = rng.random((3, 4)), rng.random(4), rng.random((2, 1, 4))
    for x, y in ((a, b), (b, a), (a, c), (a.T, np.arange(3)), (a[::2], b), (np.asfortranarray(a), a), (a, 2), (2.5, b), (c, np.int8(1)),
                 (np.zeros((0, 3)), 1), (np.float64(2), np.float64(3)), ([1, 2], [3, 4]), (np.array(5), 2)):
        got = add(x, y)
        wanted = np.asarray(x) + np.asarray(y) if isinstance(x, list) else x + y
        assert got.dtype == wanted.dtype and np.shape(got) == np.shape(wanted)
        np.testing.assert_array_equal(got, wanted)
    d = cuda.to_device(b)
    np.testing.assert_array_equal(add(cuda.to_device(a), d).copy_to_host(), a + b)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"shapes \(3,\) \(4,\)"):
        add(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="out has shape"):
        add(np.zeros(3), 1, out=np.zeros(4))
    with pytest.raises(CompileError, match="gives a value of type"):
        cuda.elementwise(lambda x: (x, x))(np.zeros(3))
    with pytest.raises(TypeError):
        cuda.elementwise(3)


def test_signatures():
    @cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
    def length(x, y):
        return math.hypot(x, y)

    a = np.array([3, 5], np.float32)
    assert length(a, a).dtype == np.float32 and length(a.astype(float), 1).dtype == np.float64 and length(np.int8(3), np.int8(4)) == 5
    assert length(np.int32(3), np.int32(4)).dtype == np.float64
    with pytest.raises(TypeError, match="no signature for"):
        length(1j, 2)
    with pytest.raises(ValueError, match="target='cpu'"):
        cuda.vectorize(["float32(float32)"], target="cpu")


def test_reductions():
    @cuda.reduce
    def total(a, b):
        return a + b

    for n in (0, 1, 5, 255, 256, 257, 1000, 100_000):
        x = rng.integers(0, 100, n)
        assert total(x) == x.sum() and total(cuda.to_device(x), init=5) == x.sum() + 5
    largest = cuda.reduce(lambda a, b: max(a, b))
    assert largest(np.array([3, 9, 2], np.int8)) == 9 and largest(np.array([3, 9, 2], np.int8)).dtype == np.int8
    product = cuda.reduce(lambda a, b: a * b)
    assert product(np.array([2.0, 3.0, 4.0], np.float32), init=1) == 24
    assert total(np.arange(10.0), size=4) == 6
    res = cuda.device_array(1)
    assert total(np.arange(10.0), res=res) is None and res.copy_to_host() == 45
    with pytest.raises(TypeError, match="one axis"):
        total(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="size=11"):
        total(np.zeros(10), size=11)
