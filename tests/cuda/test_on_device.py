"""Kernels on a GPU. Without one the tests run on its replacement (stand_in.py), so that they pass before they are run
on a GPU.

With a GPU: `python -m pytest tests/cuda/test_on_device.py`; no option is needed.
"""
import ctypes
import importlib

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.cuda import devices
from pyjitc.runtime import driver

from . import test_print as printing
from . import test_whole_arrays
from .fake_driver import install
from .kernels import CASES
from .simulate import simulate
from .stand_in import StandIn


@pytest.fixture(params=["gpu", "stand-in"], autouse=True)
def place(request, monkeypatch):
    if request.param == "gpu":
        found, why = driver.connect()
        if found is None:
            pytest.skip(why)
        devices.use(found.devices)
    else:
        install(StandIn(monkeypatch))
    yield request.param
    cuda.synchronize()
    devices._chosen.clear()
    devices._local.__dict__.clear()
    devices._launched.clear()


@cuda.jit
def next_of(out, x):
    i = cuda.grid(1)
    v = x[i] + 1
    cuda.syncthreads()
    out[i] = v


@cuda.jit
def first_of(pair):
    i = cuda.grid(1)
    pair[0][i] = pair[1][i] * 2


def test_host_arrays_that_share_memory_share_it_there():
    x = np.arange(4.0)
    next_of[1, 4](x, x)
    assert x.tolist() == [1, 2, 3, 4]
    next_of[1, 4](x[::-1], x)
    assert x.tolist() == [5, 4, 3, 2]
    first_of[1, 4]((x, x))
    assert x.tolist() == [10, 8, 6, 4]
    x = np.arange(6, dtype=np.int16)
    next_of[1, 3](x[1:4], x[2:5])
    assert x.tolist() == [0, 3, 4, 5, 4, 5]
    next_of[1, 5](x[1:], np.broadcast_to(x[:1], (5,)))
    assert x.tolist() == [0, 1, 1, 1, 1, 1]
    bits = np.zeros(4, np.float32)
    next_of[1, 4](bits, bits.view(np.int32))
    assert bits.tolist() == [1, 1, 1, 1]
    rows = np.arange(8.0).reshape(4, 2)
    next_of[1, 4](rows[:, 0], rows[:, 1])  # side by side
    assert rows.tolist() == [[2, 1], [4, 3], [6, 5], [8, 7]]


@pytest.mark.parametrize("debug", [False, True])
def test_what_was_written_before_a_failure_stays(debug):
    @cuda.jit(debug=debug)
    def kernel(x, y, z):
        i = cuda.grid(1)
        x[i], y[i], z[i] = 1, 2, 3
        cuda.syncthreads()
        if i == 3:
            raise ValueError("the last")

    x, y, z = np.zeros(4), np.zeros(8)[::2], cuda.device_array(4)
    with pytest.raises(ValueError, match="the last"):
        kernel[1, 4](x, y, z)
    assert (x == 1).all() and (y == 2).all() and (z.copy_to_host() == 3).all()


@pytest.mark.parametrize("name", CASES)
def test_kernel(name):
    CASES[name].check()


def test_arguments_that_stay_on_the_device():
    case = CASES["saxpy"]
    (a, x, y), (_, _, expected) = case.make(np.random.default_rng(7))
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    there_x, there_y = cuda.to_device(x, stream=stream), cuda.to_device(y, stream=stream)
    launch = case.kernel[case.grid, case.block, stream]
    start.record(stream)
    launch(a, there_x, there_y)
    end.record(stream)
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    np.testing.assert_allclose(there_y.copy_to_host(), expected, 1e-6)
    zero = there_y.copy_to_host()
    for _ in range(3):  # the fast path
        launch(np.float32(0), there_x, there_y)
    stream.synchronize()
    np.testing.assert_array_equal(there_y.copy_to_host(), zero)


def scale(x, y, by):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j] * by


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_element_types_and_layouts(dtype):
    kernel = cuda.jit(scale)
    a = np.arange(1, 31).reshape(5, 6).astype(dtype)
    by = np.dtype(dtype).type(3)
    for x in (a, np.asfortranarray(a), a[::2, ::-1], a.T):
        there = cuda.to_device(a)
        views = {id(a): there}
        out = cuda.device_array(x.shape, dtype)
        kernel[(2, 2), (4, 4)](views.get(id(x), cuda.to_device(x)), out, by)
        np.testing.assert_array_equal(out.copy_to_host(), x * by)
    out = np.zeros((3, 6), dtype)
    kernel[(2, 2), (4, 4)](cuda.to_device(a)[::2], out, by)  # a view there, an array here
    np.testing.assert_array_equal(out, a[::2] * by)


@pytest.mark.parametrize("kernel", test_whole_arrays.KERNELS)
def test_whole_arrays_in_a_thread(kernel):
    (x, expected), (_, found) = test_whole_arrays.arguments(), test_whole_arrays.arguments()
    simulate(kernel, 2, 4, (x, expected))
    cuda.jit(kernel)[2, 4](x, found)
    np.testing.assert_allclose(found, expected, 1e-12)


def test_records():
    r = np.zeros(8, test_whole_arrays.RECORD)
    r["x"], r["n"], r["v"] = np.arange(8), np.arange(8) ** 2, np.arange(24).reshape(8, 3)
    expected, out, wanted = r.copy(), np.zeros((8, 8)), np.zeros((8, 8))
    simulate(test_whole_arrays.fields, 1, 8, (expected, wanted))
    there = cuda.to_device(r)
    cuda.jit(test_whole_arrays.fields)[1, 8](there, out)
    there.copy_to_host(r)
    for name in r.dtype.names:  # not the bytes between the elements
        assert (r[name].tolist() == expected[name].tolist()
                and there[2:4].copy_to_host()[name].tolist() == r[name][2:4].tolist())
    assert out.tolist() == wanted.tolist()


def test_print(capfd):
    kernel, arguments = printing.shapes, printing.ARGUMENTS[printing.shapes]
    cuda.jit(kernel)[1, 8](*arguments)
    cuda.synchronize()
    ctypes.CDLL(None).fflush(None)
    lines = capfd.readouterr().out.split("\n")
    assert sorted(line for line in lines if line.startswith("100 ")) == [f"100 %d %s %%|{k}." for k in range(8)]
    assert "(0, np.float64(0" in "".join(lines) and "('text', 2, None)" in "".join(lines)


def raises(x, limit):
    i = cuda.grid(1)
    if i == limit:
        raise ValueError("at the limit")
    x[i] = 1


@pytest.mark.parametrize("debug", [True, False])
def test_what_a_thread_raises(debug):
    x = cuda.to_device(np.zeros(64))
    kernel = cuda.jit(debug=debug)(raises)
    with pytest.raises(ValueError, match="at the limit") as info:
        kernel[2, 32](x, 40)
        cuda.synchronize()
    assert info.value.block == (1, 0, 0) and info.value.thread == (8, 0, 0)
    assert info.value.line == raises.__code__.co_firstlineno + 3
    kernel[2, 32](x, 99)
    cuda.synchronize()
    assert x.copy_to_host().tolist() == [1] * 64


def test_an_index_error_under_debug():
    with pytest.raises(IndexError) as info:
        cuda.jit(debug=True)(raises)[2, 32](np.zeros(60), 99)
    assert info.value.block == (1, 0, 0) and info.value.thread == (28, 0, 0)


def test_much_shared_memory():
    def reverse(x):
        s = cuda.shared.array(0, np.float64)
        i = cuda.threadIdx.x
        for k in range(i, x.size, cuda.blockDim.x):
            s[k] = x[k]
        cuda.syncthreads()
        for k in range(i, x.size, cuda.blockDim.x):
            x[k] = s[x.size - 1 - k]

    x = np.arange(8000.0)
    cuda.jit(reverse)[1, 128, 0, 64_000](x)
    assert x.tolist() == list(range(7999, -1, -1))


def test_kernels_from_scalar_functions():
    a = np.linspace(-2, 2, 1000, dtype=np.float32)
    there = cuda.to_device(a)
    each, total = cuda.elementwise(lambda x, by: x * x + by), cuda.reduce(lambda x, y: x + y)
    squares = each(there, np.float32(1))
    np.testing.assert_allclose(squares.copy_to_host(), a * a + 1, 1e-6)
    np.testing.assert_allclose(float(total(squares)), float(np.sum(a * a + 1)), 1e-5)


def test_random_numbers():
    def draw(states, out):
        i = cuda.grid(1)
        out[i, 0] = cuda.random.xoroshiro128p_uniform_float32(states, i)
        out[i, 1] = cuda.random.philox_uniform_float64(7, i, 0)

    states = cuda.random.create_xoroshiro128p_states(64, seed=1)
    out = np.zeros((64, 2))
    cuda.jit(draw)[2, 32](states, out)
    assert (0 <= out).all() and (out < 1).all() and len(np.unique(out)) == 128


def test_host_memory_that_kernels_see():
    x = cuda.mapped_array(64, np.float64)
    x[:] = 0
    cuda.jit(raises)[2, 32](x, 99)
    cuda.synchronize()
    assert x.tolist() == [1] * 64
    pinned = cuda.pinned_array(64, np.float64)
    pinned[:] = 3
    assert cuda.to_device(pinned).copy_to_host().tolist() == [3] * 64


@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_arrays_of_others(place, library):
    if place != "gpu":
        pytest.skip("their arrays are on a GPU")
    theirs = pytest.importorskip(library)
    kernel = cuda.jit(raises)
    if library == "jax":
        x = theirs.numpy.zeros(64, "float32")
        assert cuda.from_dlpack(x).copy_to_host().tolist() == [0] * 64
        return
    x = theirs.zeros(64, device="cuda") if library == "torch" else theirs.zeros(64, np.float32)
    kernel[2, 32](x, 99)
    cuda.synchronize()
    assert float(x.sum()) == 64
    back = importlib.import_module(library).from_dlpack(cuda.to_device(np.ones(4, np.float32)))
    assert float(back.sum()) == 4
