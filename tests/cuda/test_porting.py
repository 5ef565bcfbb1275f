"""Names of Numba's CUDA target: programs that use them run."""
import asyncio

import numpy as np
import pytest

import pyjitc
from pyjitc import boolean, cuda, float32, int32
from pyjitc.base.errors import CompileError
from pyjitc.cuda import devices

from .fake_driver import install
from .stand_in import StandIn


@pytest.fixture(params=["grid", "stand-in"])
def place(request, monkeypatch):
    if request.param == "stand-in":
        install(StandIn(monkeypatch))
    yield request.param
    devices._chosen.clear()
    devices._local.__dict__.clear()
    devices._launched.clear()


def move(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
        x[i] = -1


def test_arguments_with_a_direction(place):
    kernel = cuda.jit(move)
    x, y = np.arange(8.0), np.zeros(8)
    kernel[1, 32](cuda.In(x), cuda.Out(y))
    assert x.tolist() == y.tolist() == list(range(8))
    kernel[1, 32](cuda.InOut(x), y)
    assert x.tolist() == [-1] * 8


def test_figures_of_the_code(place):
    kernel = cuda.jit(move)
    kernel[1, 32](np.zeros(8), np.zeros(8))
    asked = [kernel.get_regs_per_thread, kernel.get_shared_mem_per_block, kernel.get_local_mem_per_thread,
             kernel.get_const_mem_size, kernel.get_max_threads_per_block]
    if place == "grid":
        for ask in asked:
            with pytest.raises(RuntimeError, match=r"move\.report\(signature\) asks ptxas"):
                ask()
        return
    (types,) = kernel.signatures
    assert [ask() for ask in asked] == [{types: n} for n in (32, 0, 0, 0, 1024)]
    assert kernel.get_regs_per_thread("void(float64[::1], float64[::1])") == 32


def test_ptx_and_the_profiler(place):
    text, result = cuda.compile_ptx(move, "void(float32[::1], float32[::1])", cc=(9, 0))
    assert ".target sm_90" in text and ".entry move" in text and result is None
    assert cuda.compile_ptx(cuda.jit(move), ("float32[::1]", "float32[::1]"))[0].count(".entry") == 1
    with cuda.profiling(), cuda.defer_cleanup():
        cuda.jit(move)[1, 32](np.zeros(8), np.zeros(8))


def test_code_without_a_launch(place):
    signature = "void(float32[::1], float32[::1])"
    assert cuda.compile(move, signature, cc=(9, 0)) == cuda.compile_ptx(move, signature, cc=(9, 0))
    for compiled in (cuda.compile_for_current_device, cuda.compile_ptx_for_current_device):
        assert ".target sm_" in compiled(move, signature)[0]
    with pytest.raises(TypeError, match="compile a kernel that calls it"):
        cuda.compile(move, signature, device=True)
    with pytest.raises(ValueError, match="output='ltoir'"):
        cuda.compile(move, signature, output="ltoir")
    assert cuda.is_float16_supported() and cuda.is_supported_version() and cuda.require_context(move) is move


def test_names_that_are_not_here():
    with pytest.raises(AttributeError, match=r"pyjitc.cuda has no 'declare_device': .* write the function in Python, "
                                             r"under cuda.jit\(device=True\)"):
        cuda.declare_device
    with pytest.raises(ImportError, match="has no 'IpcHandle': .* DLPack shares it"):
        from pyjitc.cuda import IpcHandle  # noqa: F401
    with pytest.raises(AttributeError, match="^module 'pyjitc.cuda' has no attribute 'nothing'$"):
        cuda.nothing

    def kernel(x):
        x[0] = cuda.libdevice.sin(x[0])

    with pytest.raises(CompileError, match=r"has no 'libdevice': call math's functions[\s\S]*cuda.libdevice.sin"):
        cuda.jit(kernel)[1, 1](np.zeros(1))


def test_a_device_as_a_context(place):
    device = cuda.gpus[0]
    assert (device.id == 0 and device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK == 1024
            and device.MULTIPROCESSOR_COUNT > 0)
    with pytest.raises(AttributeError, match="NOTHING"):
        device.NOTHING
    with pytest.raises(AttributeError, match="nothing"):
        device.nothing
    last = cuda.gpus.lst[-1]
    with last as inside, device:
        assert inside is last and cuda.get_current_device() is device
    assert cuda.get_current_device() is device
    cuda.select_device(last.id)
    with pytest.raises(ZeroDivisionError), device:
        1 // 0
    assert cuda.get_current_device() is last


def test_streams_tell(place):
    stream, seen = cuda.stream(), []
    stream.add_callback(lambda *args: seen.append(args), "done")
    stream.synchronize()
    assert seen == [(stream, 0, "done")]

    async def wait():
        return await asyncio.wait_for(stream.async_done(), 10)

    assert asyncio.run(wait()) is stream
    assert cuda.legacy_default_stream().handle == 1 and cuda.per_thread_default_stream().handle == 2


def test_managed_arrays(place):
    x = cuda.managed_array((2, 3), np.float32, order="F")
    x[:] = 4
    assert isinstance(x, np.ndarray) and x.flags.f_contiguous
    y = cuda.managed_array(4)
    cuda.jit(move, strict=True)[1, 32](y[1:3], y[2:])
    cuda.jit(move, strict=True)[1, 32](x[:, 1], cuda.device_array(2, np.float32))
    cuda.synchronize()
    assert x.tolist() == [[4, -1, 4], [4, -1, 4]]
    with pytest.raises(ValueError, match="mapped_array: strides of new arrays"):
        cuda.mapped_array((2, 3), np.float32, strides=(12, 8))
    assert cuda.pinned_array((2, 3), np.float32, strides=(4, 8)).flags.f_contiguous


def test_elements_in_a_stream(place):
    stream = cuda.stream()
    there = cuda.to_device(np.arange(6.0))
    there.setitem(slice(1, 3), 9, stream)
    there.setitem(5, 7, stream)
    assert there.getitem(5, stream) == 7 and there.bind(stream)[1:4].copy_to_host().tolist() == [9, 9, 3]


RECORD = np.dtype([("a", np.int32), ("b", np.float64, (3,)), ("c", np.int8)], align=True)


def test_records_as_arguments(place):
    @cuda.jit
    def change(record, out):
        i = cuda.grid(1)
        out[i] = record["a"] + record["b"][i]
        record["b"][i] = -i
        if i == 2:
            record["c"] = 5

    records, out = np.zeros(2, RECORD), np.zeros(3)
    records["a"], records["b"][1] = 1, (7, 8, 9)
    change[1, 3](records[1], out)
    assert out.tolist() == [8, 9, 10] and records["c"].tolist() == [0, 5] and records["b"][1].tolist() == [0, -1, -2]
    assert records["a"][0] == 1 and not records["b"][0].any()


def test_types_of_the_package_convert(place):
    @cuda.jit
    def kernel(out):
        total = float32(0.1)
        for k in range(3):
            total += float32(0.1)
        out[0] = total
        out[1] = int32(2.9) + pyjitc.uint8(7)
        out[2] = 1 if boolean(3) else 0

    out = np.zeros(3)
    kernel[1, 1](out)
    tenth = np.float32(0.1)
    assert out.tolist() == [tenth + tenth + tenth + tenth, 9, 1]


@pytest.mark.parametrize("convert, value", [(float32, 0.1), (int32, 2.9), (pyjitc.uint8, 7), (boolean, 0.0),
                                            (pyjitc.complex64, 1.5), (pyjitc.int64, True)])
def test_types_convert_in_other_compiled_functions(convert, value):
    def function(x):
        return convert(x)

    found, expected = pyjitc.njit(function)(value), function(value)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize("compiled", [cuda.compile_ptx, cuda.compile])
def test_functions_for_kernels_have_no_code_of_their_own(compiled):
    with pytest.raises(TypeError, match="compile a kernel that calls it"):
        compiled(lambda x: x, "float64(float64)", device=True)


def test_launches_and_resets_by_numbas_names(place):
    kernel = cuda.jit(move)
    x, y = np.arange(8.0), np.zeros(8)
    kernel.configure(1, 32)(cuda.In(x), y)
    kernel.configure(2, (16, 1), cuda.stream(), 64)(x, cuda.Out(y))
    assert y.tolist() == list(range(8)) and x.tolist() == [-1] * 8
    there = cuda.to_device(y)
    cuda.get_current_device().reset()
    cuda.current_context().reset()
    kernel[1, 32](there, there)
    assert there.copy_to_host().tolist() == [-1] * 8
    assert issubclass(cuda.CudaError, cuda.CudaSupportError)
