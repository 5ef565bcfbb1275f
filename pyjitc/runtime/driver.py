"""The CUDA driver library through ctypes: devices, contexts, memory, streams, events, code.

Nothing is loaded before the first use. `Driver` is one loaded library with its devices; `connect()` returns the one of
this process, or the reason why there is none. A `Device` has the operations that arrays, streams and kernels need, like
`hostdevice.HostDevice` for grids on the CPU: the layers above treat both alike.
Memory comes from the driver's own stream-ordered pool where the device has one. Every operation makes its device's
primary context current first: other libraries in the process change it.
"""
from __future__ import annotations

import ctypes
import itertools
import sys
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

from ..base.errors import PyjitcError
from .hostdevice import DeviceNames, MemoryInfo

__all__ = ["CudaError", "Device", "Driver", "Function", "connect"]

_P, _I, _U, _Z = c_void_p, c_int, c_uint, c_size_t
_SIGNATURES = {
    "cuInit": (_U,), "cuDriverGetVersion": (_P,), "cuGetErrorName": (_I, _P), "cuGetErrorString": (_I, _P),
    "cuDeviceGetCount": (_P,), "cuDeviceGet": (_P, _I), "cuDeviceGetName": (_P, _I, _I),
    "cuDeviceGetAttribute": (_P, _I, _I), "cuDeviceGetUuid": (_P, _I), "cuDeviceTotalMem_v2": (_P, _I),
    "cuDevicePrimaryCtxRetain": (_P, _I), "cuDevicePrimaryCtxRelease_v2": (_I,), "cuCtxSetCurrent": (_P,),
    "cuCtxGetCurrent": (_P,), "cuCtxSynchronize": (), "cuModuleLoadDataEx": (_P, _P, _U, _P, _P),
    "cuModuleGetFunction": (_P, _P, c_char_p), "cuModuleUnload": (_P,), "cuModuleGetGlobal_v2": (_P, _P, _P, c_char_p),
    "cuFuncGetAttribute": (_P, _I, _P), "cuFuncSetAttribute": (_P, _I, _I),
    "cuLaunchKernel": (_P, *(_U,) * 7, _P, _P, _P),
    "cuLaunchCooperativeKernel": (_P, *(_U,) * 7, _P, _P),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (_P, _P, _I, _Z), "cuMemAlloc_v2": (_P, _Z), "cuMemFree_v2": (_P,),
    "cuMemAllocAsync": (_P, _Z, _P), "cuMemFreeAsync": (_P, _P), "cuMemGetInfo_v2": (_P, _P),
    "cuDeviceGetDefaultMemPool": (_P, _I), "cuMemPoolSetAttribute": (_P, _I, _P), "cuMemPoolTrimTo": (_P, _Z),
    "cuMemcpyHtoDAsync_v2": (_P, _P, _Z, _P), "cuMemcpyDtoHAsync_v2": (_P, _P, _Z, _P),
    "cuMemcpyDtoDAsync_v2": (_P, _P, _Z, _P), "cuMemcpyPeerAsync": (_P, _P, _P, _P, _Z, _P),
    "cuMemsetD8Async": (_P, ctypes.c_ubyte, _Z, _P), "cuMemAllocManaged": (_P, _Z, _U), "cuMemHostAlloc": (_P, _Z, _U),
    "cuMemFreeHost": (_P,), "cuMemHostRegister_v2": (_P, _Z, _U), "cuMemHostUnregister": (_P,),
    "cuMemHostGetDevicePointer_v2": (_P, _P, _U), "cuPointerGetAttribute": (_P, _I, _P), "cuStreamCreate": (_P, _U),
    "cuStreamDestroy_v2": (_P,), "cuStreamSynchronize": (_P,), "cuStreamQuery": (_P,),
    "cuStreamWaitEvent": (_P, _P, _U), "cuLaunchHostFunc": (_P, _P, _P), "cuEventCreate": (_P, _U),
    "cuEventDestroy_v2": (_P,), "cuEventRecord": (_P, _P), "cuEventSynchronize": (_P,), "cuEventQuery": (_P,),
    "cuEventElapsedTime": (_P, _P, _P), "cuProfilerStart": (), "cuProfilerStop": (),
}
_NOT_READY = 600
_OLDEST = 11_020  # CUDA 11.2, which has stream-ordered memory

# Attributes of devices (CUdevice_attribute), of functions, of pointers.
ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1, "MAX_BLOCK_DIM_X": 2, "MAX_BLOCK_DIM_Y": 3, "MAX_BLOCK_DIM_Z": 4, "MAX_GRID_DIM_X": 5,
    "MAX_GRID_DIM_Y": 6, "MAX_GRID_DIM_Z": 7, "MAX_SHARED_MEMORY_PER_BLOCK": 8, "TOTAL_CONSTANT_MEMORY": 9,
    "WARP_SIZE": 10, "MAX_REGISTERS_PER_BLOCK": 12, "CLOCK_RATE": 13, "MULTIPROCESSOR_COUNT": 16,
    "MEMORY_CLOCK_RATE": 36, "GLOBAL_MEMORY_BUS_WIDTH": 37, "L2_CACHE_SIZE": 38, "MAX_THREADS_PER_MULTIPROCESSOR": 39,
    "COMPUTE_CAPABILITY_MAJOR": 75, "COMPUTE_CAPABILITY_MINOR": 76, "MANAGED_MEMORY": 83, "COOPERATIVE_LAUNCH": 95,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97, "MEMORY_POOLS_SUPPORTED": 115,
}
_FUNCTION = {"max_threads": 0, "shared": 1, "constant": 2, "local": 3, "registers": 4, "max_dynamic_shared": 8}
_POINTER_DEVICE = 9
_RELEASE_THRESHOLD = 4
_JIT_ERROR_BUFFER, _JIT_ERROR_SIZE = 5, 6
_HOST_PORTABLE, _HOST_MAPPED = 1, 2
_ATTACH_GLOBAL = 1
_numbers = itertools.count(1)
_callbacks: dict = {}  # number -> a function that its stream has not called yet


@ctypes.CFUNCTYPE(None, c_void_p)
def _call_back(number):
    _callbacks.pop(number)()




class CudaError(PyjitcError, RuntimeError):
    """Raised where the driver refuses a call. code: the number of the error; name: its name in cuda.h."""

    def __init__(self, call: str, code: int, name: str, text: str):
        super().__init__(f"{call}: {name}: {text}" if name else f"{call}: {text}")
        self.call, self.code, self.name = call, code, name


class Driver:
    """A loaded driver library. call(name, *args): calls a function, and raises CudaError where it does not succeed.
    devices: the devices of the library."""

    def __init__(self, library):
        self.library = library
        self._functions = {}
        self.call("cuInit", 0)
        self.version = self._get("cuDriverGetVersion", c_int)
        if self.version < _OLDEST:
            raise CudaError("cuDriverGetVersion", 0, "",
                            f"the driver is for CUDA {self.version // 1000}.{self.version % 1000 // 10}; "
                            "11.2 is the oldest that can be used")
        count = self._get("cuDeviceGetCount", c_int)
        if not count:
            raise CudaError("cuDeviceGetCount", 100, "CUDA_ERROR_NO_DEVICE", "there is no device")
        self.devices = [Device(self, k) for k in range(count)]

    def function(self, name: str):
        found = self._functions.get(name)
        if found is None:
            try:
                found = getattr(self.library, name)
            except AttributeError:
                raise CudaError(name, 500, "CUDA_ERROR_NOT_FOUND", "the driver library has no such function") from None
            found.argtypes, found.restype = _SIGNATURES[name], c_int
            self._functions[name] = found
        return found

    def call(self, name: str, *args, ready: bool = False) -> bool:
        """Call a function. Returns whether it succeeded; False only if `ready` is set and the result is 'not ready'."""
        code = self.function(name)(*args)
        if code == 0:
            return True
        if ready and code == _NOT_READY:
            return False
        raise self.error(name, code)

    def error(self, call: str, code: int) -> CudaError:
        texts = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            out = c_char_p()
            texts.append(out.value.decode() if self.function(name)(code, byref(out)) == 0 and out.value else "")
        return CudaError(call, code, texts[0], texts[1] or f"error {code}")

    def address(self, name: str) -> int:
        """The native address of a function."""
        return ctypes.cast(self.function(name), c_void_p).value

    def _get(self, name: str, kind, *args):
        out = kind()
        self.call(name, byref(out), *args)
        return out.value


class Device(DeviceNames):
    """A GPU and its primary context, retained at first use. Addresses are plain ints; stream 0 is the default stream:
    it waits for work in the other streams, and they wait for work in it."""

    gpu = True

    def __init__(self, driver: Driver, index: int):
        self.driver = driver
        self.index = index
        self.handle = driver._get("cuDeviceGet", c_int, index)
        self.attributes: dict[str, int] = {}
        self._context = None
        self._pooled = False

    def __repr__(self):
        return f"<CUDA device {self.index}: {self.name}>"

    # -- properties

    @property
    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.driver.call("cuDeviceGetName", text, 256, self.handle)
        return text.value.decode(errors="replace")

    @property
    def compute_capability(self) -> tuple[int, int]:
        return self.attribute("COMPUTE_CAPABILITY_MAJOR"), self.attribute("COMPUTE_CAPABILITY_MINOR")

    def attribute(self, name: str) -> int:
        found = self.attributes.get(name)
        if found is None:
            if name not in ATTRIBUTES:
                raise AttributeError(f"a device has no attribute {name}")
            found = self.attributes[name] = self.driver._get("cuDeviceGetAttribute", c_int, ATTRIBUTES[name],
                                                             self.handle)
        return found

    # -- context

    @property
    def context(self) -> int:
        """The handle of the primary context."""
        if self._context is None:
            self._context = self.driver._get("cuDevicePrimaryCtxRetain", c_void_p, self.handle)
            self._pooled = bool(self.attribute("MEMORY_POOLS_SUPPORTED"))
            if self._pooled:  # freed memory is kept by the process for the next array
                self.driver.call("cuMemPoolSetAttribute", self._pool(), _RELEASE_THRESHOLD, byref(c_uint64(2**64 - 1)))
        return self._context

    def _pool(self) -> int:
        return self.driver._get("cuDeviceGetDefaultMemPool", c_void_p, self.handle)

    def call(self, name: str, *args, ready: bool = False) -> bool:
        """Call a function of the driver in this device's context."""
        self.driver.call("cuCtxSetCurrent", self.context)
        return self.driver.call(name, *args, ready=ready)

    def _get(self, name: str, kind, *args):
        out = kind()
        self.call(name, byref(out), *args)
        return out.value

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")

    def close(self) -> None:
        """Release the primary context; everything in it is freed, unless another library uses it."""
        if self._context is not None:
            self._context = None
            self.driver.call("cuDevicePrimaryCtxRelease_v2", self.handle)

    # -- memory

    def allocate(self, size: int, stream: int = 0) -> int:
        if size == 0:
            return 0
        if self.context and self._pooled:
            return self._get("cuMemAllocAsync", c_void_p, size, stream)
        return self._get("cuMemAlloc_v2", c_void_p, size)

    def free(self, address: int, stream: int = 0) -> None:
        if address and self._context is not None:
            if self._pooled:
                self.call("cuMemFreeAsync", address, stream)
            else:
                self.call("cuMemFree_v2", address)

    def trim(self) -> None:
        """Return memory that no array uses to the system."""
        if self.context and self._pooled:
            self.synchronize()
            self.call("cuMemPoolTrimTo", self._pool(), 0)

    def get_memory_info(self) -> MemoryInfo:
        free, total = c_size_t(), c_size_t()
        self.call("cuMemGetInfo_v2", byref(free), byref(total))
        return MemoryInfo(free.value, total.value)

    def copy_in(self, target: int, source: int, size: int, stream: int = 0) -> None:
        """Copy from host memory at `source`."""
        if size:
            self.call("cuMemcpyHtoDAsync_v2", target, source, size, stream)

    def copy_out(self, target: int, source: int, size: int, stream: int = 0) -> None:
        """Copy to host memory at `target`."""
        if size:
            self.call("cuMemcpyDtoHAsync_v2", target, source, size, stream)

    def copy(self, target: int, source: int, size: int, stream: int = 0, other: Device | None = None) -> None:
        """Copy within this device, or from another one."""
        if not size:
            return
        if other is None or other is self:
            self.call("cuMemcpyDtoDAsync_v2", target, source, size, stream)
        else:
            self.call("cuMemcpyPeerAsync", target, self.context, source, other.context, size, stream)

    def fill(self, address: int, byte: int, size: int, stream: int = 0) -> None:
        if size:
            self.call("cuMemsetD8Async", address, byte, size, stream)

    def allocate_host(self, size: int, mapped: bool = False) -> int:
        """Allocate pinned host memory."""
        return self._get("cuMemHostAlloc", c_void_p, max(size, 1), _HOST_PORTABLE | (_HOST_MAPPED if mapped else 0))

    def free_host(self, address: int) -> None:
        if self._context is not None:
            self.call("cuMemFreeHost", address)

    def allocate_managed(self, size: int) -> int:
        """Allocate memory that the host and the devices share, at the same address; it is freed like a device's."""
        return self._get("cuMemAllocManaged", c_void_p, max(size, 1), _ATTACH_GLOBAL)

    def free_managed(self, address: int) -> None:
        if self._context is not None:
            self.call("cuMemFree_v2", address)

    def pin(self, address: int, size: int, mapped: bool = False) -> None:
        self.call("cuMemHostRegister_v2", address, size, _HOST_PORTABLE | (_HOST_MAPPED if mapped else 0))

    def unpin(self, address: int) -> None:
        self.call("cuMemHostUnregister", address)

    def mapped_address(self, address: int) -> int:
        """The device's address of pinned host memory."""
        return self._get("cuMemHostGetDevicePointer_v2", c_void_p, address, 0)

    def device_of(self, address: int) -> int | None:
        """The index of the device to whose memory an address belongs, or None if it is not the driver's."""
        out = c_int()
        self.driver.call("cuCtxSetCurrent", self.context)
        code = self.driver.function("cuPointerGetAttribute")(byref(out), _POINTER_DEVICE, address)
        return out.value if code == 0 else None

    # -- streams and events

    def new_stream(self) -> int:
        return self._get("cuStreamCreate", c_void_p, 0)

    def free_stream(self, stream: int) -> None:
        if self._context is not None:
            self.call("cuStreamDestroy_v2", stream)

    def wait(self, stream: int) -> None:
        self.call("cuStreamSynchronize", stream)

    def is_done(self, stream: int) -> bool:
        return self.call("cuStreamQuery", stream, ready=True)

    def call_back(self, stream: int, function) -> None:
        """Let the stream call a function of the host after all work before it; the function must not use the driver."""
        number = next(_numbers)
        _callbacks[number] = function
        self.call("cuLaunchHostFunc", stream, ctypes.cast(_call_back, c_void_p), number)

    def wait_for_event(self, stream: int, event: int) -> None:
        self.call("cuStreamWaitEvent", stream, event, 0)

    def new_event(self, timing: bool = True) -> int:
        return self._get("cuEventCreate", c_void_p, 0 if timing else 2)

    def free_event(self, event: int) -> None:
        if self._context is not None:
            self.call("cuEventDestroy_v2", event)

    def record(self, event: int, stream: int) -> None:
        self.call("cuEventRecord", event, stream)

    def wait_event(self, event: int) -> None:
        self.call("cuEventSynchronize", event)

    def event_is_done(self, event: int) -> bool:
        return self.call("cuEventQuery", event, ready=True)

    def elapsed(self, start: int, end: int) -> float:
        """The milliseconds between two recorded events."""
        return self._get("cuEventElapsedTime", c_float, start, end)

    # -- code

    def load(self, ptx: str, name: str) -> Function:
        """The kernel `name` in a PTX text, which the driver compiles. Raises CudaError with the compiler's message."""
        log = ctypes.create_string_buffer(8192)
        keys = (c_int * 2)(_JIT_ERROR_BUFFER, _JIT_ERROR_SIZE)
        values = (c_void_p * 2)(ctypes.addressof(log), len(log))
        module = c_void_p()
        text = ptx.encode()
        try:
            self.call("cuModuleLoadDataEx", byref(module), text, 2, keys, values)
        except CudaError as error:
            said = log.value.decode(errors="replace").strip()
            if said:
                error.args = (f"{error.args[0]}\n{said}",)
            raise
        return Function(self, module.value, self._get("cuModuleGetFunction", c_void_p, module, name.encode()), name)


class Function:
    """A kernel that is loaded on a device; its module is unloaded with it."""

    def __init__(self, device: Device, module: int, handle: int, name: str):
        self.device, self.module, self.handle, self.name = device, module, handle, name

    def attribute(self, name: str) -> int:
        """An attribute: max_threads of a block; bytes of shared, constant and local memory; registers of a thread."""
        return self.device._get("cuFuncGetAttribute", c_int, _FUNCTION[name], self.handle)

    def allow_shared(self, size: int) -> None:
        """Allow launches with more dynamic shared memory than the default limit."""
        self.device.call("cuFuncSetAttribute", self.handle, _FUNCTION["max_dynamic_shared"], size)

    def blocks_at_once(self, threads: int, shared: int = 0) -> int:
        """The number of blocks of this size that the device runs at the same time."""
        return self.device._get("cuOccupancyMaxActiveBlocksPerMultiprocessor", c_int, self.handle, threads, shared) * \
            self.device.attribute("MULTIPROCESSOR_COUNT")

    def variable(self, name: str) -> tuple[int, int]:
        """(address, size) of a global variable of the module."""
        address, size = c_void_p(), c_size_t()
        self.device.call("cuModuleGetGlobal_v2", byref(address), byref(size), self.module, name.encode())
        return address.value, size.value

    def __del__(self):
        if self.device._context is not None and sys is not None and not sys.is_finalizing():
            try:
                self.device.call("cuModuleUnload", self.module)
            except CudaError:  # the context is broken, and has freed the module
                pass


_LIBRARIES = {"win32": ("nvcuda.dll",)}.get(sys.platform, ("libcuda.so.1", "libcuda.so"))
_connected: list[tuple[Driver | None, str]] = []


def connect() -> tuple[Driver | None, str]:
    """(the driver of this process, '') or (None, why there is none). The result is cached."""
    if not _connected:
        _connected.append(_connect())
    return _connected[0]


def _connect() -> tuple[Driver | None, str]:
    library = None
    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    if library is None:
        return None, f"the CUDA driver is not installed: there is no {_LIBRARIES[0]}"
    try:
        return Driver(library), ""
    except CudaError as error:
        return None, f"the CUDA driver cannot be used: {error}"
