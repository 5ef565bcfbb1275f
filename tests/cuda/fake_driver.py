"""A CUDA driver without a GPU: the functions of the library, on host memory.

Device memory is host memory with checked addresses: an address outside every allocation fails as in the driver. A
launch calls the Python function registered for the kernel, with its parameters as PTX declares them. `install()` makes
it the driver of this process.
"""
import ctypes
import re
import time

from ctypes import c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

from pyjitc.codegen import link
from pyjitc.cuda import devices
from pyjitc.runtime import driver, loader

INVALID_VALUE, OUT_OF_MEMORY, NOT_FOUND, NO_DEVICE, INVALID_PTX = 1, 2, 500, 100, 218
ERRORS = {1: ("CUDA_ERROR_INVALID_VALUE", "invalid argument"), 2: ("CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
          100: ("CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"),
          500: ("CUDA_ERROR_NOT_FOUND", "named symbol not found"),
          201: ("CUDA_ERROR_INVALID_CONTEXT", "invalid device context"),
          218: ("CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed")}
_KINDS = {"b8": ctypes.c_uint8, "u8": ctypes.c_uint8, "b16": ctypes.c_uint16, "u16": ctypes.c_uint16, "u32": c_uint,
          "b32": c_uint, "f32": c_float, "u64": c_uint64, "b64": c_uint64, "f64": ctypes.c_double}
_kept = []  # functions that C code may still call


def put(pointer, kind, value):
    kind.from_address(pointer).value = value


class FakeLibrary:
    """count: devices; version, capability, memory (bytes): the properties that they report. bodies: kernel -> Python
    function (grid, block, shared, stream, parameters), called by launches; launches: their records."""

    def __init__(self, count=1, version=13000, capability=(9, 0), memory=1 << 30, pools=True):
        self.count, self.version, self.capability, self.memory, self.pools = count, version, capability, memory, pools
        self.allocations = {}  # address -> (buffer, device)
        self.pinned = {}
        self.streams, self.events, self.modules, self.functions = set(), {}, {}, {}
        self.bodies, self.launches = {}, []
        self.cooperative = 0
        self.current = 0
        self.retained = {}
        self.texts = {}
        self.numbers = iter(range(1000, 1 << 30))
        self.calls = []
        self.limits = {}

    def __getattr__(self, name):
        if name.startswith("_") or not hasattr(type(self), "do_" + name):
            raise AttributeError(name)
        method = getattr(self, "do_" + name)

        def call(*args):
            self.calls.append(name)
            try:
                return method(*args) or 0
            except Exception as error:  # an exception cannot pass through C
                self.failure = error
                return INVALID_VALUE

        function = ctypes.CFUNCTYPE(c_int, *driver._SIGNATURES[name])(call)
        _kept.append(function)
        setattr(self, name, function)
        return function

    # -- devices

    def do_cuInit(self, flags):
        return 0

    def do_cuDriverGetVersion(self, out):
        put(out, c_int, self.version)

    def do_cuGetErrorName(self, code, out):
        return self._error_text(code, out, 0)

    def do_cuGetErrorString(self, code, out):
        return self._error_text(code, out, 1)

    def _error_text(self, code, out, which):
        if code not in ERRORS:
            return INVALID_VALUE
        text = self.texts.setdefault((code, which), ctypes.create_string_buffer(ERRORS[code][which].encode()))
        put(out, c_void_p, ctypes.addressof(text))

    def do_cuDeviceGetCount(self, out):
        put(out, c_int, self.count)

    def do_cuDeviceGet(self, out, index):
        put(out, c_int, index)

    def do_cuDeviceGetName(self, out, size, device):
        ctypes.memmove(out, b"Fake GPU\0", 9)

    def do_cuDeviceGetAttribute(self, out, attribute, device):
        known = {1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2**31 - 1, 6: 65535, 7: 65535, 8: 48 << 10, 9: 64 << 10, 10: 32,
                 12: 65536, 16: 4, 39: 2048, 75: self.capability[0], 76: self.capability[1], 95: 1, 97: 96 << 10,
                 115: int(self.pools)}
        put(out, c_int, known.get(attribute, 0))

    def do_cuDevicePrimaryCtxRetain(self, out, device):
        self.retained[device] = self.retained.get(device, 0) + 1
        put(out, c_void_p, 0x100 + device)

    def do_cuDevicePrimaryCtxRelease_v2(self, device):
        self.retained[device] -= 1

    def do_cuCtxSetCurrent(self, context):
        self.current = context or 0

    def do_cuCtxGetCurrent(self, out):
        put(out, c_void_p, self.current)

    def do_cuCtxSynchronize(self):
        return 0

    do_cuProfilerStart = do_cuProfilerStop = do_cuCtxSynchronize

    # -- memory

    def _new(self, out, size):
        if not self.current:
            return 201
        if size <= 0:
            return INVALID_VALUE
        if sum(len(b) for b, _ in self.allocations.values()) + size > self.memory:
            return OUT_OF_MEMORY
        buffer = ctypes.create_string_buffer(b"\xa5" * (size + 256), size + 256)
        address = (ctypes.addressof(buffer) + 255) // 256 * 256
        self.allocations[address] = buffer, self.current - 0x100
        put(out, c_void_p, address)

    def _inside(self, address, size):
        return any(a <= address and address + size <= a + len(b) - 255
                   for a, (b, _) in (self.allocations | self.pinned).items())

    def do_cuMemAlloc_v2(self, out, size):
        return self._new(out, size)

    def do_cuMemAllocAsync(self, out, size, stream):
        return self._new(out, size)

    def do_cuMemFree_v2(self, address):
        return 0 if self.allocations.pop(address, None) else INVALID_VALUE

    def do_cuMemFreeAsync(self, address, stream):
        return 0 if self.allocations.pop(address, None) else INVALID_VALUE

    def do_cuMemGetInfo_v2(self, free, total):
        put(free, c_size_t, self.memory - sum(len(b) for b, _ in self.allocations.values()))
        put(total, c_size_t, self.memory)

    def do_cuDeviceGetDefaultMemPool(self, out, device):
        put(out, c_void_p, 0x900 + device)

    def do_cuMemPoolSetAttribute(self, pool, attribute, value):
        self.limits[pool] = c_uint64.from_address(value).value

    def do_cuMemPoolTrimTo(self, pool, size):
        self.limits[pool] = size

    def do_cuMemcpyHtoDAsync_v2(self, target, source, size, stream):
        if not self._inside(target, size):
            return INVALID_VALUE
        ctypes.memmove(target, source, size)

    def do_cuMemcpyDtoHAsync_v2(self, target, source, size, stream):
        if not self._inside(source, size):
            return INVALID_VALUE
        ctypes.memmove(target, source, size)

    def do_cuMemcpyDtoDAsync_v2(self, target, source, size, stream):
        if not (self._inside(source, size) and self._inside(target, size)):
            return INVALID_VALUE
        ctypes.memmove(target, source, size)

    def do_cuMemcpyPeerAsync(self, target, context, source, other, size, stream):
        if context == other:
            return INVALID_VALUE
        return self.do_cuMemcpyDtoDAsync_v2(target, source, size, stream)

    def do_cuMemsetD8Async(self, address, byte, size, stream):
        if not self._inside(address, size):
            return INVALID_VALUE
        ctypes.memset(address, byte, size)

    def do_cuMemAllocManaged(self, out, size, flags):
        return self.do_cuMemAlloc_v2(out, size) if flags == 1 else INVALID_VALUE

    def do_cuLaunchHostFunc(self, stream, function, data):
        ctypes.CFUNCTYPE(None, c_void_p)(function)(data)

    def do_cuMemHostAlloc(self, out, size, flags):
        buffer = ctypes.create_string_buffer(size + 256)
        address = (ctypes.addressof(buffer) + 255) // 256 * 256
        self.pinned[address] = buffer, 0
        put(out, c_void_p, address)

    def do_cuMemFreeHost(self, address):
        return 0 if self.pinned.pop(address, None) else INVALID_VALUE

    def do_cuMemHostRegister_v2(self, address, size, flags):
        if address in self.pinned:
            return INVALID_VALUE
        self.pinned[address] = bytes(size + 255), 0

    def do_cuMemHostUnregister(self, address):
        return 0 if self.pinned.pop(address, None) else INVALID_VALUE

    def do_cuMemHostGetDevicePointer_v2(self, out, address, flags):
        if address not in self.pinned:
            return INVALID_VALUE
        put(out, c_void_p, address)

    def do_cuPointerGetAttribute(self, out, attribute, address):
        for start, (buffer, device) in self.allocations.items():
            if start <= address < start + len(buffer):
                put(out, c_int, device)
                return 0
        return INVALID_VALUE

    # -- streams and events

    def do_cuStreamCreate(self, out, flags):
        number = next(self.numbers)
        self.streams.add(number)
        put(out, c_void_p, number)

    def do_cuStreamDestroy_v2(self, stream):
        self.streams.discard(stream)

    def do_cuStreamSynchronize(self, stream):
        return 0 if not stream or stream in self.streams else INVALID_VALUE

    do_cuStreamQuery = do_cuStreamSynchronize

    def do_cuStreamWaitEvent(self, stream, event, flags):
        return 0 if event in self.events else INVALID_VALUE

    def do_cuEventCreate(self, out, flags):
        number = next(self.numbers)
        self.events[number] = None
        put(out, c_void_p, number)

    def do_cuEventDestroy_v2(self, event):
        del self.events[event]

    def do_cuEventRecord(self, event, stream):
        self.events[event] = time.perf_counter()

    def do_cuEventSynchronize(self, event):
        return 0

    def do_cuEventQuery(self, event):
        return 0 if self.events[event] is not None else 600

    def do_cuEventElapsedTime(self, out, start, end):
        put(out, c_float, (self.events[end] - self.events[start]) * 1e3)

    # -- code

    def do_cuModuleLoadDataEx(self, out, text, count, keys, values):
        ptx = ctypes.string_at(text).decode()
        if ".entry" not in ptx:
            keys, values = (c_int * count).from_address(keys), (c_void_p * count).from_address(values)
            ctypes.memmove(values[list(keys).index(5)], b"ptxas: no entry\0", 16)
            return INVALID_PTX
        number = next(self.numbers)
        variables = {}
        for name, size in re.findall(r"\.visible \.global .*?\.b8 (\w+)\[(\d+)\]", ptx):
            place = c_void_p()
            self._new(ctypes.addressof(place), int(size))
            ctypes.memset(place.value, 0, int(size))
            variables[name] = place.value, int(size)
        self.modules[number] = ptx, variables
        put(out, c_void_p, number)

    def do_cuModuleUnload(self, module):
        for address, _ in self.modules.pop(module)[1].values():
            del self.allocations[address]

    def do_cuModuleGetFunction(self, out, module, name):
        ptx = self.modules[module][0]
        found = re.search(rf"\.entry {name.decode()}\s*\((.*?)\)", ptx, re.S)
        if found is None:
            return NOT_FOUND
        number = next(self.numbers)
        kinds = ["b16" if "[2]" in line else re.search(r"\.param \.(\w+)", line).group(1)
                 for line in found.group(1).split(",")] \
            if ".param" in found.group(1) else []
        self.functions[number] = name.decode(), [_KINDS[k] for k in kinds], self.modules[module]
        put(out, c_void_p, number)

    def do_cuModuleGetGlobal_v2(self, address, size, module, name):
        variables = self.modules[module][1]
        if name.decode() not in variables:
            return NOT_FOUND
        put(address, c_void_p, variables[name.decode()][0])
        put(size, c_size_t, variables[name.decode()][1])

    def do_cuFuncGetAttribute(self, out, attribute, function):
        put(out, c_int, {0: 1024, 1: 0, 4: 32}.get(attribute, 0))

    def do_cuFuncSetAttribute(self, function, attribute, value):
        self.limits[function] = value

    def do_cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
        if not self.current:
            return 201
        if (bx * by * bz > 1024 or min(gx, gy, gz, bx, by, bz) < 1
            or shared > max(48 << 10, self.limits.get(function, 0))):
            return INVALID_VALUE
        name, kinds, module = self.functions[function]
        pointers = (c_void_p * len(kinds)).from_address(parameters) if kinds else ()
        values = [kind.from_address(pointer).value for kind, pointer in zip(kinds, pointers)]
        self.launches.append((name, (gx, gy, gz), (bx, by, bz), shared, stream or 0, values))
        body = self.bodies.get(name)
        if body is not None:
            body((gx, gy, gz), (bx, by, bz), shared, stream or 0, values)

    def do_cuLaunchCooperativeKernel(self, *args):
        self.cooperative += 1
        return self.do_cuLaunchKernel(*args, None)

    def do_cuOccupancyMaxActiveBlocksPerMultiprocessor(self, out, function, threads, shared):
        put(out, c_int, 2)


_STUB = """
@launches = global i64 0
define i32 @stub_current(ptr %context) {
  ret i32 0
}
define i32 @stub_launch(ptr %f, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared,
                        ptr %stream, ptr %parameters, ptr %extra) {
  %n = load i64, ptr @launches
  %m = add i64 %n, 1
  store i64 %m, ptr @launches
  ret i32 0
}"""


def make_native(library):
    """Give the library native functions in place of those that a launch calls, so that only the cost of binding is
    measured. Returns a function that returns the number of launches."""
    target = link.host_target()
    image = loader.load(link.to_object(f'target triple = "{target.triple}"\ntarget datalayout = '
                                       f'"{target.layout}"\n{_STUB}', target))
    for name, symbol in (("cuCtxSetCurrent", "stub_current"), ("cuLaunchKernel", "stub_launch")):
        setattr(library, name, ctypes.CFUNCTYPE(c_int, *driver._SIGNATURES[name])(image.address(symbol)))
    _kept.append(image)
    library.current = 0x100  # the stub makes no context current
    return lambda: ctypes.c_int64.from_address(image.address("launches")).value


def install(library):
    """Make `library` the driver of this process; returns its Driver."""
    found = driver.Driver(library)
    devices.use(found.devices)
    return found


__all__ = ["FakeLibrary", "install", "make_native"]
