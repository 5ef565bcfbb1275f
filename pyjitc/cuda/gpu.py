"""Kernels on a GPU: compiled for the types of their arguments, loaded, and launched.

For each combination of types a function is generated that compares the types and locations of the arguments, makes the
bytes of codegen/launcher.py by one `struct.pack`, and calls the launcher: less than a microsecond. All other launches
take the slow path: other types, host arrays, arrays of other libraries, changed globals, errors.
"""
from __future__ import annotations

import ctypes
import math
import struct
from types import FunctionType
from typing import Any, Iterator

import numpy as np

from ..base.launch_bounds import Bounds
from ..base.lazy import lazy
from ..base.options import Options
from ..pipeline import portable
from ..pipeline.portable import ABSENT
from ..runtime import loader
from ..types import kinds
from ..types.kinds import Array, Float, Int, NpFloat, NpInt, Type
from . import arrays, devices
from .arrays import DeviceArray
from .failure import failure

ptx = lazy("pyjitc.cuda.ptx")

__all__ = ["GpuCode", "arch_of", "compile_kernel", "compiled", "inspect_llvm", "inspect_ptx", "inspect_types",
           "inspect_sass", "report"]

_CONFIG = struct.Struct("7I4xP")
_OURS = "__pyjitc_"  # the prefix of names in generated functions, whose parameters have the kernel's names


# ---------------------------------------------------------------- a kernel for given types

_CODES = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "half": "e", "float": "f", "double": "d", "ptr": "P"}


def _fields(t: Type, name: str) -> list[tuple[str, str]]:
    """[(struct code, expression)] for an argument called `name`: one for each parameter in codegen/nvptx.parameters,
    but a single one for an array."""
    if isinstance(t, Array):
        return [(f"{8 * (1 + t.ndim * (2 if t.layout == 'A' else 1))}s", f"{name}.passed")]
    if isinstance(t, kinds.Composite):
        return [field for k, part in enumerate(t.parts) for field in _fields(part, name + t.access(k))]
    if t is Int:
        return [("q", name)]
    if isinstance(t, NpInt):
        code = _CODES[f"i{t.bits}"]
        return [(code if t.signed else code.upper(), name)]
    if t is Float:
        return [("d", name)]
    if kinds.is_time(t):
        return [("q", f"{name}.view('i8')")]
    if isinstance(t, NpFloat):
        return [({16: "e", 32: "f", 64: "d"}[t.bits], name)]
    if t is kinds.Bool or t is kinds.NpBool:
        return [("?", name)]
    if kinds.is_complex(t):
        code = "f" if t is kinds.complex64 else "d"
        return [(code, f"{name}.real"), (code, f"{name}.imag")]
    return []  # the type determines the value


class GpuCode:
    """A kernel compiled for argument types and loaded on a device. guards: values on which the code depends; shared:
    bytes of its static shared memory; unchecked(packed configuration, *args): a launch without checks."""

    def __init__(self, function, compiled, types: tuple[Type, ...], options: Options, device):
        self.py_func, self.name, self.types, self.options, self.device = (function, function.__name__, types, options,
                                                                          device)
        self.kernel, self.guards, self.shared = compiled.kernel, compiled.guards, compiled.kernel.shared
        self.function = device.load(self.kernel.ptx, self.kernel.name)
        self.go = _launcher(compiled.launcher)
        self.max_threads = self.function.attribute("max_threads")
        self.allowed = device.attribute("MAX_SHARED_MEMORY_PER_BLOCK") - self.shared
        self.cooperative = self.kernel.cooperative
        if self.cooperative and not device.attribute("COOPERATIVE_LAUNCH"):
            raise ValueError(f"{self.name} waits for the whole grid, which {device.name} cannot")
        # an event after the last cooperative launch: such launches share the counter of the module
        self.last: devices.Event | None = None
        self.error_place = self.function.variable("pyjitc_error") if self.kernel.sites else None
        self._generate()

    def _generate(self) -> None:
        """Prepare the common part of all launches: the description of the kernel, and the source of `caller`'s
        functions."""
        names = list(self.py_func.__code__.co_varnames[:len(self.types)])
        fields = [field for t, name in zip(self.types, names) for field in _fields(t, name)]
        form = f"P{_CONFIG.size}s"
        places: list[int] = []
        for code, _ in fields:
            form += "0P" + code if code[-1] == "s" else code  # aligned
            end = struct.calcsize(form)
            start = end - struct.calcsize(code)
            places += range(start, end, 8) if code[-1] == "s" else (start,)
        driver = self.device.driver
        self.about = (ctypes.c_uint64 * (5 + len(places)))(
            driver.address("cuCtxSetCurrent"), driver.address(self.entry), self.device.context, self.function.handle,
            len(places), *places)
        values = "".join(f", {expression}" for _, expression in fields)
        scope: dict[str, Any] = {"pack": struct.Struct(form).pack, "about": ctypes.addressof(self.about), "go": self.go,
                                 "device": self.device, "fails": self._refused, "ABSENT": ABSENT,
                                 "lookup": portable.lookup, "unfit": (AttributeError, struct.error)}
        tests = []
        for k, (t, name) in enumerate(zip(self.types, names)):
            if isinstance(t, Array):  # no other class has this type as an attribute
                scope[f"t{k}"] = t
                tests += [f"{name}.type is {_OURS}t{k}", f"{name}.memory.live is {_OURS}device"]
            elif isinstance(t, kinds.Singleton):
                scope[f"t{k}"] = t.value
                tests.append(f"{name} is {_OURS}t{k}")
            elif isinstance(t, (kinds.DType, kinds.NpTime)) or t.parts is not None and t is not kinds.Range:
                tests.append("False")  # the class does not determine the type; for dates it does not determine the unit
            else:
                scope[f"t{k}"] = t.python_class
                tests.append(f"{name}.__class__ is {_OURS}t{k}")
        for k, guard in enumerate(self.guards):
            scope[f"g{k}"], scope[f"k{k}"], scope[f"v{k}"] = guard.container, guard.key, guard.value
            now = (f"{_OURS}g{k}.get({_OURS}k{k}, {_OURS}ABSENT)" if isinstance(guard.container, dict)
                   else f"{_OURS}lookup({_OURS}g{k}, {_OURS}k{k})")
            if isinstance(guard.container, FunctionType):
                now, scope[f"v{k}"] = f"{_OURS}g{k}.{guard.key}", None if guard.value is ABSENT else guard.value
            tests.append(f"{now} is {_OURS}v{k}")
        launch = [f"{_OURS}code = {_OURS}go({_OURS}pack({_OURS}about, {_OURS}packed{values}))", f"if {_OURS}code:",
                  f"    {_OURS}fails({_OURS}code)"]
        if self.kernel.sites:  # the next wait checks for failures
            scope["launched"], scope["this"] = devices.launched(self.device), self
            launch.append(f"{_OURS}launched[{_OURS}this] = None")
        self.scope = {_OURS + name: value for name, value in scope.items()}
        self.body = ["    try:", f"        if {' and '.join(tests) or 'True'}:",
                     *(f"            {line}" for line in launch), "            return", f"    except {_OURS}unfit:",
                     "        pass", f"    {_OURS}otherwise({', '.join(names)})"]
        self.unchecked = self._define([_OURS + "packed", *names], [f"    {line}" for line in launch], {})

    def _define(self, parameters, lines, more) -> Any:
        scope = {**self.scope, **more}
        exec("\n".join([f"def call({', '.join(parameters)}):", *lines]), scope)
        return scope["call"]

    def caller(self, packed: bytes, otherwise) -> Any:
        """A function with the kernel's own parameters that launches it with the configuration `packed`; it calls
        `otherwise` where an argument has another type, or is not on the device, or a global has changed. None where
        every launch must take the slow path."""
        code = self.py_func.__code__
        if (self.cooperative or self.kernel.sites and self.options.debug or code.co_kwonlyargcount
            or code.co_posonlyargcount):
            return None
        count, usual = len(self.types), self.py_func.__defaults__ or ()
        names = [name + "=0" * (k >= count - len(usual)) for k, name in enumerate(code.co_varnames[:count])]
        call = self._define(names, self.body, {_OURS + "packed": packed, _OURS + "otherwise": otherwise})
        call.__name__, call.__qualname__, call.__defaults__ = (self.name, self.py_func.__qualname__,
                                                               self.py_func.__defaults__)
        return call

    def _refused(self, code: int) -> None:
        raise self.device.driver.error(self.entry, code)

    @property
    def entry(self) -> str:
        """The name of the driver's launch function. The parameters of cuLaunchCooperativeKernel are the first ones of
        cuLaunchKernel."""
        return "cuLaunchCooperativeKernel" if self.cooperative else "cuLaunchKernel"

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """The most blocks of a grid whose blocks wait for each other."""
        return self.function.blocks_at_once(math.prod(blockdim) if isinstance(blockdim, tuple) else blockdim,
                                            dynsmemsize)

    def configure(self, grid, block, stream: int, shared: int) -> bytes:
        """The packed configuration of a launch; raises ValueError where this kernel cannot be launched with it."""
        threads = block[0] * block[1] * block[2]
        if threads > self.max_threads:
            raise ValueError(f"{self.name} cannot have blocks of {threads} threads, {self.max_threads} at most: a "
                             f"thread takes {self.function.attribute('registers')} registers")
        if shared > self.allowed:
            most = self.device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN") - self.shared
            if shared > most:
                raise ValueError(f"{self.name} cannot have {shared} bytes of shared memory beside its own "
                                 f"{self.shared}: a block of this device has {most + self.shared}")
            self.function.allow_shared(shared)
            self.allowed = shared
        if self.cooperative and math.prod(grid) > (most := self.max_cooperative_grid_blocks(block, shared)):
            raise ValueError(f"{math.prod(grid)} blocks wait for each other in cuda.cg.this_grid().sync(): at most "
                             f"{most} run at once")
        return _CONFIG.pack(*grid, *block, shared, stream)

    def launch(self, values, types, grid, block, stream: int, shared: int) -> None:
        """The slow path of a launch, for any arguments of these types. Host arrays are copied to the device and
        back."""
        packed = self.configure(grid, block, stream, shared)
        there, back = arrays.copies(_host_arrays(values), stream)
        values = [self._passed(x, f"argument {k + 1}", there) for k, x in enumerate(values)]
        if self.last is not None:
            self.last.wait(stream)
        self.unchecked(packed, *values)
        if self.cooperative:
            self.last = self.last or devices.Event(self.device, timing=False)
            self.last.record(stream)
        for copy, here in back:
            copy.fetched(here, stream)
        if back or self.kernel.sites and self.options.debug:
            self.device.wait(stream)
            devices.raise_failures(self.device)

    def _passed(self, x, what: str, there: dict[int, DeviceArray]) -> Any:
        if isinstance(x, tuple):
            return tuple([self._passed(y, f"an item of {what}", there) for y in x])
        if isinstance(x, DeviceArray):
            if x.device is not self.device:
                raise ValueError(f"{what} of {self.name}() lies on device {x.device.index}; the launch is on device "
                                 f"{self.device.index}")
            x.address  # raises for an array that was freed
            return x
        if not isinstance(x, np.ndarray):
            return x
        seen = arrays.mapped_address(x)
        if seen is not None:
            return DeviceArray(arrays.Memory(self.device, seen, x.nbytes, owner=x), seen, x.shape, x.strides, x.dtype,
                               x.flags.writeable)
        return there[id(x)]

    def check_failure(self) -> None:
        """Raise the exception of a thread in an earlier launch, once."""
        record = (ctypes.c_char * self.error_place[1])()
        self.device.copy_out(ctypes.addressof(record), self.error_place[0], len(record))
        self.device.wait(0)
        site, *words = struct.unpack_from("<7I", record)
        if site:
            self.device.fill(self.error_place[0], 0, len(record))
            raise failure(self.kernel.sites[site - 1], struct.unpack_from("<4Q", record, 32), tuple(words[:3]),
                          tuple(words[3:6]))


def _host_arrays(values) -> Iterator[np.ndarray]:
    """The arrays among the arguments that are copied for a launch."""
    for x in values:
        if isinstance(x, tuple):
            yield from _host_arrays(x)
        elif isinstance(x, np.ndarray) and arrays.mapped_address(x) is None:
            yield x


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("doc", ctypes.c_char_p)]


_ONE_ARGUMENT = 8  # METH_O
_builtins: dict[bytes, tuple] = {}


def _launcher(code: bytes) -> Any:
    """The builtin function that launches: bytes -> the driver's status."""
    found = _builtins.get(code)
    if found is None:
        image = loader.load(code)
        method = _Method(b"launch", image.address("pyjitc_launch"), _ONE_ARGUMENT, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        # all of these live as long as the function
        found = _builtins[code] = make(ctypes.addressof(method), None, None), method, image
    return found[0]


# ---------------------------------------------------------------- the backend


def compile_kernel(function, types, options: Options, bounds, device) -> GpuCode:
    """The code of the kernel `function` for arguments of `types`. Raises CompileError, with a location."""
    return GpuCode(function, compiled(function, types, options, bounds, arch_of(device)), types, options, device)


def compiled(function, types, options: Options, bounds, arch: str):
    return ptx.compile_ptx(function, types, options, Bounds(*bounds), arch)


def arch_of(device) -> str:
    """The newest target architecture that the device supports."""
    major, minor = device.compute_capability
    fitting = [a for a in ptx.ARCHITECTURES if (int(a[3:-1]), int(a[-1])) <= (major, minor)]
    if not fitting:
        raise ValueError(f"{device.name} has compute capability {major}.{minor}; 7.5 is the oldest that is supported")
    return max(fitting, key=lambda a: int(a[3:]))


def inspect_ptx(*given) -> str:
    return compiled(*given).kernel.ptx


def inspect_llvm(function, types, options: Options, bounds, arch: str) -> str:
    return ptx.inspect_llvm(function, types, options, Bounds(*bounds), arch)


def inspect_types(function, types, options: Options, bounds, arch: str) -> str:
    return ptx.inspect_types(function, types, options)


def inspect_sass(*given) -> str:
    return ptx.sass(compiled(*given).kernel)


def report(*given):
    return ptx.report(compiled(*given).kernel)
