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
    for x, y in ((a, b), (b, a), (a, c), (a.T, np.arange(3)), (a[::2], b), (np.asfortranarray(a), a), (a, 2), (2.5, b),
                 (c, np.int8(1)), (np.zeros((0, 3)), 1), (np.float64(2), np.float64(3)), ([1, 2], [3, 4]),
                 (np.array(5), 2)):
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
    assert (length(a, a).dtype == np.float32 and length(a.astype(float), 1).dtype == np.float64
            and length(np.int8(3), np.int8(4)) == 5)
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
        assert total(x, init=0) == x.sum() and total(cuda.to_device(x), init=5) == x.sum() + 5
        assert n == 0 or total(x) == x.sum()
    largest = cuda.reduce(lambda a, b: max(a, b))
    assert largest(np.array([3, 9, 2], np.int8)) == 9 and largest(np.array([3, 9, 2], np.int8)).dtype == np.int8
    product = cuda.reduce(lambda a, b: a * b)
    assert (product(np.array([2.0, 3.0, 4.0], np.float32)) == 24
            and product(np.array([2.0, 3.0, 4.0], np.float32), init=2) == 48)
    assert (largest(-np.arange(1.0, 3000.0)) == -1 and largest(np.array([-5, -3])) == -3
            and largest(np.array([-5, -3]), init=7) == 7)
    with pytest.raises(TypeError, match="an empty array needs init"):
        largest(np.zeros(0))
    assert total(np.arange(10.0), size=4) == 6
    res = cuda.device_array(1)
    assert total(np.arange(10.0), res=res) is None and res.copy_to_host() == 45
    with pytest.raises(TypeError, match="one axis"):
        total(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="size=11"):
        total(np.zeros(10), size=11)


@cuda.elementwise
def same(x, times=1):
    return times * x


@pytest.mark.parametrize("to", [lambda x: x, cuda.to_device], ids=["host", "device"])
def test_operands_that_the_result_lies_over(to):
    square = rng.random((4, 4))
    for there, here in ((np.s_[:-1], np.s_[1:]), (np.s_[1:], np.s_[:-1]), (np.s_[::-1], np.s_[:]),
                        (np.s_[:], np.s_[:])):
        for turned in (False, True):
            wanted, x = square.copy(), to(square.copy())
            wanted[here] = (square.T if turned else square)[there]
            out = x[here]
            assert same((x.T if turned else x)[there], out=out) is out
            np.testing.assert_array_equal(np.asarray(x), wanted)
    first = to(np.arange(4.0))
    add(first[:1], first, out=first)
    assert np.asarray(first).tolist() == [0, 1, 2, 3]
    first[0] = 1
    add(first, first[:1], out=first)
    assert np.asarray(first).tolist() == [2, 2, 3, 4]


class Tensor:
    """A tensor of another library, which is exchanged by DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **given):
        return self.array.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_defaults_and_tensors_of_other_libraries():
    assert same(np.arange(3.0)).tolist() == [0, 1, 2] and same(np.arange(3), 5).tolist() == [0, 5, 10]
    assert same(Tensor(np.arange(3.0)), 2).copy_to_host().tolist() == [0, 2, 4]
    out = Tensor(np.zeros(3))
    assert same(np.arange(3.0), out=out) is out and out.array.tolist() == [0, 1, 2]


@pytest.mark.parametrize("call, text", [
    (lambda x: relu(), r"relu\(\) missing 2 required positional arguments: 'x' and 'slope'"),
    (lambda x: relu(x, 1, 2), "takes 2 positional arguments but 3"),
    (lambda x: same(np.array([1, None])), r"same\(\) argument 'x' is an array of Python objects"),
    (lambda x: same(object()), "argument 'x' is an object"),
    (lambda x: same(np.zeros(3, "i4, f4")), "array of records"),
    (lambda x: same(x, out=[0] * 6), r"out of same\(\) is an array, not a list"),
    (lambda x: same(x, out=np.broadcast_to(0.0, 3)), r"out of same\(\) is read-only"),
    (lambda x: cuda.elementwise(lambda *x: x[0]), r"no \*args"),
    (lambda x: cuda.vectorize(["float64(float64)"])(lambda x, y: x + y), "has 1 arguments")])
def test_what_is_no_operand_is_said(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(np.arange(3.0))
