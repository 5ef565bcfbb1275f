"""Launches on a fake driver: the parameters of the kernel, misuse, failures of threads, code on disk."""
import collections
import ctypes
import enum
import gc
import re
import struct

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.base.launch_bounds import Bounds
from pyjitc.cuda import arrays, devices, ptx
from pyjitc.runtime.hostdevice import HostDevice
from pyjitc.types.kinds import Array, Float, float64

from .fake_driver import FakeLibrary, install, make_native


@pytest.fixture
def library():
    found = FakeLibrary(count=2)
    install(found)
    yield found
    devices._chosen.clear()
    devices._local.__dict__.clear()
    devices._launched.clear()


def at(address, n, dtype):
    """The memory of a device as an array."""
    return np.frombuffer((ctypes.c_char * (n * np.dtype(dtype).itemsize)).from_address(address), dtype)


def add(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def add_body(grid, block, shared, stream, given):
    a, x, n, y, m = given
    at(y, m, np.float64)[:] += a * at(x, n, np.float64)


def test_arrays_of_the_device_and_of_the_host(library):
    kernel = cuda.jit(add)
    library.bodies["add"] = add_body
    x, y = np.arange(1000.0), np.ones(1000)
    kernel[4, 256](2.0, x, y)
    np.testing.assert_array_equal(y, 1 + 2 * np.arange(1000.0))
    there = arrays.to_device(y)
    stream = devices.stream()
    for n in range(3):  # the second launch takes the fast path
        kernel[4, 256, stream](3.0, arrays.to_device(x), there)
        assert library.launches[-1][1:5] == ((4, 1, 1), (256, 1, 1), 0, stream.handle)
    np.testing.assert_array_equal(there.copy_to_host(), y + 9 * x)
    kernel[4, 256](np.float32(3), x, y)  # other types need other code
    assert len(kernel.signatures) == 2
    before = len(library.launches)
    kernel.forall(0)(2.0, x, y)
    assert len(library.launches) == before
    kernel.forall(1000)(2.0, x, y)
    assert library.launches[-1][1:3] == ((4, 1, 1), (256, 1, 1))


class Color(enum.IntEnum):
    RED = 3
    BLUE = 4


Point = collections.namedtuple("Point", "x y")


def several(i, f, b, z, s, h, t, p, a, c, n, u):
    a[0, 0] = i + f + b + z.real + s + h + t[0] + t[1][0] + p.x[0] + c[0, 0] + u


def test_every_kind_of_argument_arrives_as_declared(library):
    kernel = cuda.jit(several)
    rows = arrays.to_device(np.zeros((4, 6), np.float32))
    vector = arrays.to_device(np.ones(5, np.int16))
    columns = rows[::2, 1:].T
    for _ in range(2):
        kernel[1, 1](-7, 2.5, True, 1 - 2j, np.float32(0.1), np.float16(1.5), (3, (np.uint8(255),)), Point(vector, 9),
                     rows, columns, None, np.uint64(2**63))
        values = library.launches[-1][5]
        assert values[:5] == [2**64 - 7, 2.5, 1, 1.0, -2.0]
        assert values[5] == np.float32(0.1) and values[6] == 0x3E00 and values[7:9] == [3, 255]
        assert values[9:12] == [vector.address, 5, 9]
        assert values[12:15] == [rows.address, 4, 6]
        assert values[15:20] == [columns.address, *columns.shape, *columns.strides] and values[20:] == [2**63]


def test_strides_arrive_where_the_kernel_takes_any(library):
    """Strides are passed where the type does not determine them. Host arrays become contiguous arrays on the device,
    and a declared type may be less specific than the array's own."""
    table, other = np.arange(24.0).reshape(4, 6), np.zeros((4, 6))
    for declared in (None, "void(float64[:, :], UniTuple(float64[:], 1))"):
        kernel = cuda.jit(declared)(lambda a, b: None) if declared else cuda.jit(lambda a, b: None)
        for rows, part in ((table[::2, 1:], other[0, ::-1]), (table.T[::3], other[:, 2]),
                           (arrays.to_device(table)[:, ::2], other[::3, 1])):
            for _ in range(2):
                kernel[1, 1](rows, (part,))
                given = library.launches[-1][5]
                there = rows.strides if isinstance(rows, cuda.DeviceArray) else arrays.device_array_like(rows).strides
                assert given[1:5] == [*rows.shape, *there] and given[6:] == [part.size, 8]
    kernel[1, 1](table, (arrays.to_device(table[0]),))
    assert library.launches[-1][5][1:5] == [4, 6, 48, 8] and library.launches[-1][5][6:] == [6, 8]


def test_declared_layouts_and_device_arrays(library):
    kernel = cuda.jit(["void(float64[:, ::1])", "void(float64[::1, :])"])(lambda a: None)
    rows = arrays.to_device(np.zeros((4, 6)))
    for a in (rows, rows.T, rows[:1, ::2][:, :1]):
        kernel[1, 1](a)
        assert library.launches[-1][5] == [a.address, *a.shape]
    with pytest.raises(TypeError, match="has no signature for"):
        kernel[1, 1](rows[:, ::2])
    assert rows.flags.c_contiguous and rows.T.flags.f_contiguous and not rows.broadcast_to((2, 4, 6)).flags.writeable


def test_ranges_slices_and_members_of_enums(library):
    def kernel(r, s, t, c, x):
        for i in r:
            x[i] += 1
        x[s] = x[t[0]] + c + t[1]

    kernel = cuda.jit(kernel)
    x = arrays.to_device(np.zeros(6))
    for _ in range(2):
        kernel[1, 1](range(4, 1, -2), slice(None, 3), (slice(2, np.int32(5)), Color.BLUE), Color.RED, x)
        assert library.launches[-1][5] == [4, 1, 2**64 - 2, 3, 2, 5, x.address, 6]
    kernel[1, 1](range(3), slice(None, 3), (slice(2, np.int32(5)), Color.BLUE), Color.RED, x)
    assert library.launches[-1][5] == [0, 3, 1, 3, 2, 5, x.address, 6]
    for text in ("text", b"bytes"):
        with pytest.raises(TypeError, match="argument 's': a .* cannot be passed to a kernel"):
            kernel[1, 1](range(3), text, (slice(2, 5), 1), 1, x)


def days(a, d, o):
    o[0] = max(a[0] - d, a[1]) - a[1]


def test_dates_arrive_with_their_units(library):
    kernel = cuda.jit(days)
    dates = arrays.to_device(np.arange(4).view("M8[D]"))
    out = arrays.to_device(np.zeros(1, "m8[h]"))
    for d, number in ((np.timedelta64(5, "D"), 5), (np.timedelta64(-5, "h"), 2**64 - 5),
                      (np.timedelta64("NaT", "D"), 2**63)):
        kernel[1, 1](dates, d, out)
        assert library.launches[-1][5] == [dates.address, 4, number, out.address, 1]
    assert len(kernel.signatures) == 2


def test_misuse_is_refused_before_the_launch(library):
    kernel = cuda.jit(add)
    x = arrays.to_device(np.ones(10))
    y = arrays.to_device(np.ones(10))
    kernel[1, 32](2.0, x, y)
    count = len(library.launches)
    devices.select_device(1)
    elsewhere, stream = arrays.to_device(np.ones(10)), devices.stream()
    devices.select_device(0)
    for _ in range(2):
        with pytest.raises(ValueError, match="argument 3 of add.* lies on device 1; the launch is on device 0"):
            kernel[1, 32](2.0, x, elsewhere)
    for configuration, text in (
            ((1, 2048), "a block of 2048 x 1 x 1 = 2048 threads: a block has at most 1024"),
            ((1, (2, 2, 128)), "the block is 128 along z: at most 64 are possible"),
            (((1, 65536), 32), "the grid is 65536 along y: at most 65535 are possible"),
            ((1, 32, 0, 1 << 20),
             "add() takes 0 bytes of shared memory and the launch gives 1048576 more; a block has 98304"),
            ((1, 32, 0, -1), "the bytes of shared memory are negative: -1"),
            ((0, 32), "the grid has a size of 0: every size is at least 1")):
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            kernel[configuration](2.0, x, y)
    with pytest.raises(ValueError, match="the stream is of device 1"):
        kernel[1, 32, stream](2.0, x, y)
    with pytest.raises(TypeError, match="y"):
        kernel[1, 32](2.0, x)
    with pytest.raises(TypeError, match="host memory; copy it with cuda.to_device"):
        cuda.jit(strict=True)(add)[1, 32](2.0, np.ones(10), y)
    with pytest.raises(TypeError, match="argument 'x' is an array in host memory"):
        cuda.jit(strict=True)(add)[1, 32](2.0, (x, (np.ones(10),)), y)
    y.free()
    for _ in range(2):
        with pytest.raises(ValueError, match="the device array was freed"):
            kernel[1, 32](2.0, x, y)
    assert len(library.launches) == count
    mapped = arrays.mapped_array(10)
    cuda.jit(strict=True)(add)[1, 32](2.0, mapped, mapped[:])
    assert library.launches[-1][5][1] == mapped.ctypes.data


def test_a_block_with_more_registers_than_there_are(library):
    usual = library.do_cuFuncGetAttribute
    library.do_cuFuncGetAttribute = lambda out, attribute, function: \
        ctypes.c_int.from_address(out).__setattr__("value", 256) if attribute == 0 else usual(out, attribute, function)
    kernel = cuda.jit(add)
    with pytest.raises(ValueError,
                       match="^add cannot have blocks of 512 threads, 256 at most: a thread takes 32 registers$"):
        kernel[1, 512](2.0, np.ones(10), np.ones(10))
    assert not library.launches


def test_misuse_on_the_cpu_too():
    devices.use([HostDevice()], "a test")
    try:
        kernel = cuda.jit(add)
        x, y = arrays.to_device(np.ones(10)), arrays.to_device(np.ones(10))
        kernel[1, 32](2.0, x, y)
        assert y.copy_to_host().tolist() == [3.0] * 10
        with pytest.raises(TypeError, match="host memory"):
            cuda.jit(strict=True)(add)[1, 32](2.0, np.ones(10), y)
        y.free()
        with pytest.raises(ValueError, match="freed"):
            kernel[1, 32](2.0, x, y)
    finally:
        devices._chosen.clear()
        devices._local.__dict__.clear()


def test_much_shared_memory_is_asked_for(library):
    @cuda.jit
    def kernel(x):
        s = cuda.shared.array(0, np.float32)
        s[cuda.threadIdx.x] = x[0]

    kernel[1, 32, 0, 60 << 10](np.zeros(1, np.float32))
    assert library.launches[-1][3] == 60 << 10 and 60 << 10 in library.limits.values()
    with pytest.raises(ValueError, match="98304"):
        kernel[1, 32, 0, 97 << 10](np.zeros(1, np.float32))


SCALE = 2.0


def scaled(x):
    x[0] = SCALE


def test_a_changed_global_is_seen(library):
    global SCALE
    kernel = cuda.jit(scaled)
    x = arrays.to_device(np.zeros(1))
    stored = []
    for SCALE in (2.0, 2.0, 3.0):
        kernel[1, 1](x)
        text = [ptx_text for ptx_text, _ in library.modules.values()][-1]
        stored.append("4611686018427387904" in text)  # the bits of 2.0
    assert stored == [True, True, False]


def raising(x, n):
    i = cuda.grid(1)
    if n > 5:
        raise ValueError("too large")
    x[i] = 1


def failing(library, block, thread):
    """A kernel body that fails in the way of device code, at the place whose message is `too large`."""
    def body(grid, sizes, shared, stream, given):
        (place, size), = (variables["pyjitc_error"] for _, variables in library.modules.values())
        at(place, size, np.uint8)[:] = np.frombuffer(struct.pack("<I3I3I4x4Q", body.site, *block, *thread, 0, 0, 0, 0),
                                                     np.uint8)

    return body


@pytest.mark.parametrize("debug", [True, False])
def test_what_a_thread_raises_reaches_the_host(library, debug):
    kernel = cuda.jit(debug=debug)(raising)
    x = arrays.to_device(np.zeros(10))
    kernel[2, 32](x, 1)
    sites = next(iter(kernel.overloads.values())).kernel.sites
    body = library.bodies["raising"] = failing(library, (1, 0, 0), (7, 0, 0))
    body.site = next(k for k, site in enumerate(sites, 1) if site.message == "too large")
    with pytest.raises(ValueError, match="too large") as info:
        kernel[2, 32](x, 6)
        assert not debug
        devices.synchronize()
    assert info.value.block == (1, 0, 0) and info.value.thread == (7, 0, 0)
    assert info.value.line == raising.__code__.co_firstlineno + 3
    library.bodies["raising"] = None
    kernel[2, 32](x, 1)
    devices.synchronize()  # the record was cleared


def test_messages_show_the_values_of_the_failure():
    options = cuda.jit(debug=True)(add).options
    kernel = ptx.compile_ptx(add, (Float, Array(float64, 1), Array(float64, 1)), options, Bounds(), "sm_80").kernel
    texts = [site.text((2**64 - 3, 1, 10, 0)) for site in kernel.sites]
    assert texts and all("%" not in t for t in texts)
    assert any("index -3" in t for t in texts)


def test_the_short_way_is_native(library):
    """No time is tested, because it depends on the load of the machine: `bench gpu` measures it."""
    native = FakeLibrary()
    count = make_native(native)
    install(native)
    kernel = cuda.jit(add)
    x, y = arrays.to_device(np.ones(10)), arrays.to_device(np.ones(10))
    launch = kernel[4, 256]
    launch(2.0, x, y)
    assert kernel[4, 256] is launch
    before, long_ways = count(), []
    usual, kernel.launch = kernel.launch, lambda *given: long_ways.append(1) or usual(*given)
    for _ in range(10):
        launch(2.0, x, y)
        launch(2.0, y=x, x=y)
    assert count() == before + 20 and not native.launches and not long_ways
    launch(2, x, y)  # another type
    assert len(long_ways) == 1
    launch(3, x, y)
    assert len(long_ways) == 1 and count() == before + 22
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        launch(2**70, x, y)
    for wrong, text in (((2.0, x), "missing 1 required positional argument: 'y'"),
                        ((2.0, x, y, 1), "takes 3 positional arguments")):
        with pytest.raises(TypeError, match=rf"add\(\) {text}"):
            launch(*wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        launch(2.0, x, z=y)
    with pytest.raises(TypeError, match="argument 'x': a list.* cannot be passed to a kernel"):
        launch(2.0, [1.0], y)


def test_code_is_kept_on_disk(library, tmp_path, monkeypatch):
    monkeypatch.setenv("PYJITC_CACHE_DIR", str(tmp_path))
    compiled = []
    original = ptx.nvptx.compile_kernel
    monkeypatch.setattr(ptx.nvptx, "compile_kernel", lambda *args: compiled.append(1) or original(*args))

    def offset(delta):
        def kernel(x):
            x[cuda.grid(1)] += delta

        return cuda.jit(cache=True)(kernel)

    x = arrays.to_device(np.zeros(4))
    for delta, expected in ((1.0, 1), (1.0, 1), (2.0, 2), (1.0, 2), (2.0, 2)):
        offset(delta)[1, 4](x)
        assert len(compiled) == expected, delta
    first, again = (offset(1.0).inspect_ptx("void(float64[::1])", arch) for arch in ("sm_80", "sm_90"))
    assert "sm_80" in first and "sm_90" in again and len(compiled) == 3  # sm_90 is the device's


def test_code_is_unloaded_with_its_kernel(library):
    def kernel(x):
        x[0] = 1

    kernel = cuda.jit(kernel)
    kernel[1, 1](arrays.to_device(np.zeros(1)))
    assert len(library.modules) == 1
    del kernel
    gc.collect()
    assert not library.modules


def test_without_a_driver_it_says_why(monkeypatch):
    monkeypatch.setattr(devices.driver, "_LIBRARIES", ("libcuda_that_is_not_there.so",))
    monkeypatch.setattr(devices.driver, "_connected", [])
    monkeypatch.setattr(devices, "_chosen", [])
    for wish, why in (("", "the CUDA driver is not installed: there is no libcuda_that"),
                      ("cpu", "PYJITC_CUDA=cpu asks for the CPU")):
        devices._chosen.clear()
        devices._local.__dict__.clear()
        monkeypatch.setenv("PYJITC_CUDA", wish)
        assert not devices.is_available() and devices.why_not().startswith(why)
        assert isinstance(devices.current_device(), HostDevice)
    devices._chosen.clear()
    monkeypatch.setenv("PYJITC_CUDA", "gpu")
    with pytest.raises(devices.CudaError, match="not installed"):
        devices.devices()
    monkeypatch.setenv("PYJITC_CUDA", "tpu")
    with pytest.raises(ValueError, match="choose cpu, gpu or auto"):
        devices.devices()
    devices._local.__dict__.clear()


def test_failures_are_seen_at_copies_too_and_the_short_way_is_taken(library):
    kernel = cuda.jit(raising)
    x = arrays.to_device(np.zeros(10))
    kernel[2, 32](x, 1)
    launch = kernel[2, 32]
    kernel.launch = None  # the slow path must not be called any more
    body = library.bodies["raising"] = failing(library, (0, 0, 0), (1, 0, 0))
    body.site = 1
    launch(x, 6)
    with pytest.raises(ValueError, match="too large"):
        x.copy_to_host()
    x.copy_to_host()


def test_streams_of_other_libraries():
    driver = pytest.importorskip("cuda.bindings.driver")
    assert devices.stream_handle(driver.CUstream(77)) == 77

    class Torch:
        cuda_stream = 5

    class Core:
        def __cuda_stream__(self):
            return 0, 9

    assert [devices.stream_handle(s) for s in (Torch(), Core(), None, 3)] == [5, 9, 0, 3]
