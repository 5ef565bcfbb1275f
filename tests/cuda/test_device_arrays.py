"""Device arrays, streams and events on a fake driver and on the host."""
import copy
import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.cuda import arrays, devices
from pyjitc.runtime.driver import CudaError, Driver
from pyjitc.runtime.hostdevice import HostDevice

from .fake_driver import FakeLibrary, install


@pytest.fixture(params=["driver", "driver without pools", "host"])
def place(request):
    """The devices in use: a fake library, or None for the host."""
    library = None
    if request.param == "host":
        devices.use([HostDevice()], "a test")
    else:
        library = FakeLibrary(count=2, pools=request.param == "driver")
        install(library)
    yield library
    gc.collect()
    if library is not None:
        assert not library.allocations and not library.pinned, "memory is still held"
    devices._chosen.clear()
    devices._local.__dict__.clear()


SHAPES = [(), (0,), (7,), (3, 4), (2, 3, 4), (4, 0, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", "CF")
def test_there_and_back(place, shape, order):
    for dtype in (np.float32, np.int64, np.complex128, np.bool_, np.float16):
        host = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape), dtype=dtype, order=order)
        there = arrays.to_device(host)
        assert ((there.shape, there.dtype, there.size, there.nbytes, there.ndim)
                == (host.shape, host.dtype, host.size, host.nbytes, host.ndim))
        if host.size:
            assert there.strides == host.strides
        back = there.copy_to_host()
        assert back.dtype == host.dtype and back.shape == host.shape
        np.testing.assert_array_equal(back, host)
        into = np.zeros(shape, dtype)
        assert there.copy_to_host(into) is into
        np.testing.assert_array_equal(into, host)


INDICES = [np.s_[1], np.s_[-1], np.s_[1:3], np.s_[::-1], np.s_[::2, 1:], np.s_[:, 2], np.s_[..., 0], np.s_[1, 2, 3],
           np.s_[None, :, 1], np.s_[...], np.s_[2:2], np.s_[-1, ::-2, ::3]]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_views_are_read_and_written_as_numpys(place, index):
    host = np.arange(5 * 4 * 6, dtype=np.float64).reshape(5, 4, 6)
    there = arrays.to_device(host)
    expected, part = host[index], there[index]
    if np.ndim(expected) == 0 and index is not np.s_[...]:
        assert part == expected and type(part) is type(expected)
    else:
        assert part.shape == expected.shape
        np.testing.assert_array_equal(part.copy_to_host(), expected)
    new = np.random.default_rng(0).random(np.shape(expected))
    for value in (new, 7.5):
        host[index] = value
        there[index] = value
        np.testing.assert_array_equal(there.copy_to_host(), host)


def test_shapes_change_without_copies(place):
    host = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    there = arrays.to_device(host)
    for name, view, expected in [
            ("T", there.T, host.T), ("transpose", there.transpose(1, 0, 2), host.transpose(1, 0, 2)),
            ("reshape", there.reshape(6, 4), host.reshape(6, 4)),
            ("reshape -1", there.reshape((-1, 8)), host.reshape(-1, 8)), ("ravel", there.ravel(), host.ravel()),
            ("view", there.view(np.int16), host.view(np.int16)), ("squeeze", there[:1].squeeze(), host[:1].squeeze())]:
        np.testing.assert_array_equal(view.copy_to_host(), expected, err_msg=name)
        assert view.memory is there.memory
    assert ([part.copy_to_host().tolist() for part in there.ravel().split(10)]
            == [list(range(10)), list(range(10, 20)), list(range(20, 24))])
    with pytest.raises(ValueError, match="not contiguous"):
        there.T.reshape(24)
    np.testing.assert_array_equal(there.T.copy().copy_to_host(), host.T)


def test_layouts_are_found_as_numpy_finds_them(place):
    host = np.zeros((4, 3, 2))
    there = arrays.to_device(host)
    for index in (np.s_[:], np.s_[1], np.s_[:, 1], np.s_[:, :, 1], np.s_[:1, :, :1], np.s_[::2], np.s_[:, ::2],
                  np.s_[2:2]):
        flags = host[index].flags
        assert there[index].type.layout == ("C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"), index
        flags = host.T[index[::-1] if isinstance(index, tuple) else index].flags
        assert (there.T[index[::-1] if isinstance(index, tuple) else index].type.layout
                == ("C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"))


def test_copies_between_arrays_and_orders(place):
    host = np.arange(12.0).reshape(3, 4)
    there = arrays.to_device(host)
    columns = arrays.device_array((3, 4), order="F")
    for source in (there, host, np.asfortranarray(host), there[:, ::-1][:, ::-1], host.tolist()):
        columns.fill(0)
        columns.copy_to_device(np.asarray(source) if isinstance(source, list) else source)
        np.testing.assert_array_equal(columns.copy_to_host(), host)
    assert arrays.device_array_like(columns).type.layout == "F" and arrays.device_array_like(host).type.layout == "C"
    assert (np.array_equal(np.asarray(there), host) and len(there) == 3
            and [list(r.copy_to_host()) for r in there] == host.tolist())
    there[1:, 1:] = columns[:2, :3]
    host[1:, 1:] = host[:2, :3].copy()
    np.testing.assert_array_equal(there.copy_to_host(), host)


def test_misuse_is_told_before_anything_is_done(place):
    there = arrays.to_device(np.arange(6.0))
    with pytest.raises(ValueError, match=r"shapes \(6,\) and \(5,\) differ"):
        there.copy_to_host(np.zeros(5))
    with pytest.raises(TypeError, match="dtypes float64 and int64 differ"):
        there.copy_to_device(np.arange(6))
    with pytest.raises(IndexError, match="indexed by ints and slices, not by ndarray"):
        there[np.array([1, 2])]
    with pytest.raises(IndexError):
        there[6]
    with pytest.raises(TypeError, match="dtype object"):
        arrays.device_array(3, object)
    with pytest.raises(TypeError, match="float64 have no form|strings|dtype"):
        arrays.to_device(np.array(["a"]))
    with pytest.raises(ValueError, match="negative dimensions"):
        arrays.device_array(-1)
    with pytest.raises(TypeError, match="no __cuda_array_interface__; copy host arrays with cuda.to_device"):
        arrays.as_cuda_array(np.zeros(3))
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(there, copy=False)
    view = there[2:]
    there.free()
    for use in (lambda: view.copy_to_host(), lambda: there.fill(1), lambda: there[0], lambda: there.address):
        with pytest.raises(ValueError, match="the device array was freed"):
            use()
    assert "freed" in repr(there)
    there.free()


def test_memory_lives_as_long_as_its_last_view(place):
    there = arrays.to_device(np.arange(6.0))
    view = there[2:4]
    del there
    gc.collect()
    assert view.copy_to_host().tolist() == [2.0, 3.0]


def test_streams_and_events(place):
    stream = devices.stream()
    start, end = devices.event(), devices.event()
    with pytest.raises(ValueError, match="not recorded"):
        start.elapsed_time(end)
    start.record(stream)
    there = arrays.to_device(np.arange(1000), stream=stream)
    with stream.auto_synchronize():
        back = there.copy_to_host(stream=stream)
    end.record(stream)
    end.synchronize()
    assert back.sum() == 499500 and end.query() and stream.query() and devices.event_elapsed_time(start, end) >= 0
    end.wait(stream)
    stream.wait_event(end)
    assert devices.stream_handle(devices.external_stream(5)) == 5 and devices.stream_handle(0) == 0
    with pytest.raises(TypeError, match="no stream"):
        devices.stream_handle("a")
    with pytest.raises(ValueError, match="timing=False"):
        devices.event(timing=False).elapsed_time(end)
    devices.synchronize()


def test_pinned_and_mapped(place):
    pinned = arrays.pinned_array((3, 4), np.float32)
    pinned[...] = 2
    there = arrays.to_device(pinned)
    assert arrays.mapped_address(pinned) is None and there.copy_to_host().sum() == 24
    mapped = arrays.mapped_array_like(np.zeros((3, 4)))
    assert arrays.mapped_address(mapped[1:]) == mapped.ctypes.data + 32
    view = mapped[1:]
    del mapped
    view[...] = 3
    host = np.arange(10.0)
    with arrays.pinned(host):
        assert arrays.to_device(host).copy_to_host().sum() == 45
    with arrays.mapped(host) as seen:
        assert seen.shape == (10,) and seen.address
    with pytest.raises(ValueError, match="freed"):
        seen.address
    with pytest.raises(ValueError, match="contiguous"), arrays.pinned(host[::2]):
        pass


def test_devices_are_chosen_by_number(place):
    assert devices.select_device(0) is devices.current_device() is devices.get_current_device()
    with pytest.raises(ValueError, match="there is no device 7"):
        devices.select_device(7)
    assert devices.is_available() is (place is not None) and devices.why_not() == ("" if place else "a test")
    assert devices.detect() is (place is not None)
    assert (list(devices.gpus) == devices.list_devices() and devices.gpus[0] is devices.gpus.current
            and len(devices.gpus) == (2 if place else 1))
    if place is not None:
        devices.current_context().trim()
        first = arrays.to_device(np.arange(5))
        devices.select_device(1)
        second = arrays.to_device(np.zeros(5, np.int64))
        assert (first.device.index, second.device.index) == (0, 1)
        second.copy_to_device(first)
        assert "cuMemcpyPeerAsync" in place.calls and second.copy_to_host().tolist() == [0, 1, 2, 3, 4]
        free, total = devices.current_context().get_memory_info()
        assert 0 < free < total
        assert "Fake GPU" in repr(devices.current_device())


def test_arrays_of_others_by_the_cuda_array_interface():
    library = FakeLibrary(count=2)
    install(library)
    try:
        there = arrays.to_device(np.arange(12.0).reshape(3, 4))

        class Theirs:
            def __init__(self, described):
                self.__cuda_array_interface__ = described

        described = there[:, ::2].__cuda_array_interface__
        assert described["shape"] == (3, 2) and described["strides"] == (32, 16) and described["version"] == 3
        again = arrays.as_cuda_array(Theirs(described))
        np.testing.assert_array_equal(again.copy_to_host(), np.arange(12.0).reshape(3, 4)[:, ::2])
        assert arrays.is_cuda_array(Theirs(described)) and not arrays.is_cuda_array(np.zeros(1))
        assert arrays.to_device(Theirs(described)).address == there.address
        fixed = arrays.as_cuda_array(Theirs({**described, "data": (described["data"][0], True)}))
        assert fixed.type.writable is False
        with pytest.raises(ValueError, match="read-only"):
            fixed[0, 0] = 1
        with pytest.raises(ValueError, match="no memory of the CUDA driver"):
            arrays.as_cuda_array(Theirs({**described, "data": (64, False)}))
        with pytest.raises(NotImplementedError, match="masked"):
            arrays.as_cuda_array(Theirs({**described, "mask": 1}))
        del there, again, fixed
        devices.use([HostDevice()], "a test")
        with pytest.raises(CudaError, match="on a GPU, but kernels run on the CPU"):
            arrays.as_cuda_array(Theirs(described))
        assert not hasattr(arrays.to_device(np.zeros(3)), "__cuda_array_interface__")
    finally:
        devices._chosen.clear()
        devices._local.__dict__.clear()


def test_what_the_driver_refuses_is_an_error_with_its_words():
    with pytest.raises(CudaError, match="CUDA 10.2; 11.2 is the oldest"):
        Driver(FakeLibrary(version=10020))
    with pytest.raises(CudaError, match="there is no device"):
        Driver(FakeLibrary(count=0))
    library = FakeLibrary(memory=1 << 16)
    device = Driver(library).devices[0]
    with pytest.raises(CudaError, match="cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY: out of memory") as info:
        device.allocate(1 << 20)
    assert info.value.code == 2 and info.value.name == "CUDA_ERROR_OUT_OF_MEMORY"
    with pytest.raises(CudaError, match="CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed\nptxas: no entry"):
        device.load("nothing", "f")
    function = device.load(".visible .entry f(\n.param .u64 a\n)", "f")
    assert function.attribute("registers") == 32
    with pytest.raises(CudaError, match="NOT_FOUND"):
        device.load(".visible .entry f()", "g")
    with pytest.raises(AttributeError, match="no attribute SPEED"):
        device.attribute("SPEED")
    device.close()
    assert library.retained == {0: 0}


# ---------------------------------------------------------------- DLPack


@pytest.fixture
def host():
    devices.use([HostDevice()], "a test")
    yield
    devices._chosen.clear()
    devices._local.__dict__.clear()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int8, np.uint64, np.bool_])
def test_dlpack_both_ways_with_numpy(host, dtype):
    values = np.arange(12).reshape(3, 4).astype(dtype)
    there = arrays.to_device(values)
    for view, expected in ((there, values), (there[:, ::2].T, values[:, ::2].T), (there[1:2, 2], values[1:2, 2]),
                           (there[:0], values[:0])):
        seen = np.from_dlpack(view)
        np.testing.assert_array_equal(seen, expected)
        assert seen.dtype == dtype and seen.shape == expected.shape
    seen = np.from_dlpack(there)
    address = there.address
    del there, view
    gc.collect()
    np.testing.assert_array_equal(seen, values)  # the memory lives as long as the views of it
    assert seen.ctypes.data == address
    back = arrays.from_dlpack(values)
    back[1, 1] = 1
    assert back.address == values.ctypes.data and back.type.layout == "C" and values[1, 1] == dtype(1)


def test_dlpack_memory_is_given_back(host):
    from_ = arrays.dlpack._exported
    there = arrays.to_device(np.arange(5.0))
    before = len(from_)
    capsule = there.__dlpack__()
    assert len(from_) == before + 1
    del capsule  # the capsule was not consumed
    assert len(from_) == before
    seen = np.from_dlpack(there)
    assert len(from_) == before + 1
    del seen
    gc.collect()
    assert len(from_) == before
    capsule = np.arange(3).__dlpack__()
    taken = arrays.dlpack.Imported(capsule)
    with pytest.raises(ValueError, match="taken before"):
        arrays.dlpack.Imported(capsule)
    assert taken.shape == (3,)


def test_dlpack_refusals(host):
    there = arrays.to_device(np.arange(5.0))
    with pytest.raises(BufferError, match="is on"):
        there.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="not copied"):
        there.__dlpack__(copy=True)

    class OnGPU:
        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(CudaError, match="is on a GPU, but kernels run on the CPU"):
        arrays.from_dlpack(OnGPU())
    install(FakeLibrary())
    with pytest.raises(ValueError, match="not on a GPU; copy it with cuda.to_device"):
        arrays.from_dlpack(np.arange(3))
    on_gpu = arrays.to_device(np.arange(6))
    assert on_gpu.__dlpack_device__() == (2, 0)

    class Other:
        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, stream=None):
            assert stream == 1
            return on_gpu[1:4].__dlpack__(stream=stream)

    assert arrays.from_dlpack(Other()).copy_to_host().tolist() == [1, 2, 3]
    stream = devices.stream()
    capsule = on_gpu.__dlpack__(stream=stream.handle)
    del capsule
    before = len(arrays.dlpack._exported)
    # NumPy consumes a capsule, and releases it while its own exception is set
    with pytest.raises((RuntimeError, BufferError), match="device"):
        np.from_dlpack(on_gpu)
    assert len(arrays.dlpack._exported) == before


def test_arrays_of_jax_go_straight_in(host):
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(6, dtype=jax.numpy.float32)
    ours = arrays.adopt(theirs)
    assert ours.copy_to_host().tolist() == [0, 1, 2, 3, 4, 5] and ours.dtype == np.float32
    assert jax.numpy.from_dlpack(arrays.to_device(np.arange(3.0))).tolist() == [0, 1, 2]


@pytest.mark.parametrize("aligned", [True, False])
def test_fields(place, aligned):
    records = np.zeros(3, np.dtype([("a", np.int8), ("b", np.float64), ("c", np.float32, (2,))], align=aligned))
    records["b"] = 1, 2, 3
    there = cuda.to_device(records)
    assert (there["b"].copy_to_host().tolist() == [1, 2, 3] and there["c"].shape == (3, 2)
            and there["b"].type.aligned == aligned)
    there["b"][1] = 9
    there["c"] = 7
    if place is None:
        cuda.jit(add_one)[1, 3](there["b"])
    back = there.copy_to_host()
    assert (back["b"].tolist() == ([2, 10, 4] if place is None else [1, 9, 3]) and back["c"].tolist() == [[7, 7]] * 3
            and not back["a"].any())
    with pytest.raises(ValueError, match="no field of name d"):
        there["d"]


def add_one(x):
    x[cuda.grid(1)] += 1


def test_copies_are_independent_and_nothing_is_pickled(place):
    there = arrays.to_device(np.arange(6.0).reshape(2, 3))
    for made in (copy.copy(there), copy.deepcopy(there.T).T, copy.deepcopy([there])[0]):
        there[0, 0] = 7
        assert made.address != there.address and made.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
        there[0, 0] = 0
    with pytest.raises(TypeError, match="copy_to_host"):
        pickle.dumps(there)
    for one in (cuda.stream(), cuda.event(), cuda.current_context()):
        for refused in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="belongs to this process"):
                refused(one)


def test_a_broadcast_view_is_read_only(place):
    there = arrays.to_device(np.arange(3.0)).broadcast_to((2, 3))
    assert not there.type.writable
    with pytest.raises(ValueError, match="read-only"):
        there[0, 0] = 1


@pytest.mark.parametrize("call, text", [
    (lambda x: arrays.device_array_like([1, 2]), "takes an array of NumPy or a device array, not a list"),
    (lambda x: arrays.pinned_array_like([1]), "not a list"),
    (lambda x: x.copy_to_host([1]), "fills an array of NumPy, not a list"),
    (lambda x: arrays.to_device(np.ones(3), to=np.ones(3)), "cuda.to_device"),
    (lambda x: arrays.device_array(2.5), "a shape is an int or a tuple of ints, not 2.5"),
    (lambda x: arrays.device_array((2, "a")), "a tuple of ints"),
    (lambda x: arrays.device_array(3, order="X"), "order='X': choose 'C' or 'F'"),
    (lambda x: x.split(0), "at least 1, not 0"), (lambda x: cuda.event().elapsed_time(5), "5 is no event"),
    (lambda x: cuda.stream().wait_event("a"), "'a' is no event"), (lambda x: cuda.gpus[7], "there is no device 7"),
    (lambda x: cuda.select_device("a"), "there is no device a"),
    (lambda x: cuda.external_stream("a"), "'a' is no stream"), (lambda x: cuda.from_dlpack(5), "int has no __dlpack__"),
    (lambda x: cuda.jit(lambda x: None).forall("a"), "as an int, not 'a'"),
    (lambda x: cuda.jit(lambda x: None).forall(5, tpb=-3), "not -3")])
def test_misuse_is_said(place, call, text):
    with pytest.raises((TypeError, ValueError, IndexError), match=text):
        call(arrays.to_device(np.arange(3.0)))


def test_devices_by_numbers_of_numpy(place):
    assert cuda.select_device(np.int64(0)) is cuda.gpus[0] is cuda.current_context()


@pytest.mark.parametrize("dtype", ["M8[s]", "i4, f4"])
def test_dtypes_that_dlpack_has_not(host, dtype):
    with pytest.raises(BufferError, match="DLPack has no arrays of dtype"):
        np.from_dlpack(arrays.to_device(np.zeros(3, dtype)))


def test_what_outlives_the_modules_is_left_to_the_end_of_the_process():
    program = """
import os
import numpy as np
from pyjitc import cuda
from pyjitc.cuda import arrays, devices
# cleared after these modules, which are younger
os.kept = cuda.to_device(np.arange(3.0)), cuda.stream(), cuda.event(), arrays, devices
"""
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYJITC_CUDA": "cpu"},
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
