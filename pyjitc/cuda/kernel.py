"""`cuda.jit`: kernels and device functions. A kernel is compiled at its first launch for the types of its arguments.

    kernel[grid, block, stream, shared_bytes](...)      kernel.forall(n)(...)

The configuration of a launch is checked before it starts. The code comes from a *backend*, a module with
`compile_kernel(function, types, options, bounds, device)` that returns an object with `shared` (bytes of static shared
memory), `guards`, and `launch(values, types, grid, block, stream, shared_bytes)`: gpu.py, or hostgrid.py where there is
no GPU.
"""
from __future__ import annotations

import functools
import math
import operator
import sys
from types import FunctionType
from typing import Any, Callable, TextIO

import numpy as np

from ..api.dispatch import Binder, CompiledFunction
from ..api.pickled import Pickled
from ..api.signature import Signature, TypeName, convert, signature_of
from ..base.errors import suggest, with_article
from ..base.launch_bounds import Bounds
from ..base.lazy import lazy
from ..base.options import Options, make_options, with_environment
from ..pipeline import portable
from ..pipeline.specialisation import alone
from ..runtime.dispatcher import Callable_
from ..types.kinds import Array, Attributes, Composite, DType, Ellipsis_, NoneType, Singleton, is_scalar
from ..types.typeof import plain_array, typeof
from .arrays import DeviceArray, adopt, mapped_address
from .devices import current_device, stream_handle

__all__ = ["jit", "Kernel", "DeviceFunction", "Bounds"]

gpu = lazy("pyjitc.cuda.gpu")
_stages = lazy("pyjitc.pipeline.stages")
_backends = {True: gpu, False: lazy("pyjitc.cuda.hostgrid")}
_MAX_SHARED = 48 << 10
_MAX_LAUNCHES = 64  # configurations of a kernel that are cached
_VALUES = (int, float, complex, str, bytes, np.generic)
_PASSED_AS_THEY_ARE = frozenset((int, float, bool, complex, type(None), np.ndarray, DeviceArray,
                    *(t for t in np.sctypeDict.values() if t is not np.void)))


class DeviceFunction(Pickled, Callable_):
    """A function for kernels. In the interpreter it is the Python function."""

    __slots__ = ("py_func", "_stand_ins", "__dict__", "__weakref__")
    __pyjitc_constant__ = True
    options = Options()  # it is compiled with the options of the kernel

    def __init__(self, function: FunctionType):
        self.py_func = function
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return self.py_func(*args, **kwargs)

    def __repr__(self):
        return f"<device function {self.py_func.__qualname__}>"


class Kernel(Pickled, Callable_):
    """A kernel: `kernel[grid, block](...)` launches it. Called in another kernel it is a device function. py_func,
    options."""

    __slots__ = ("py_func", "options", "bounds", "strict", "_codes", "_count", "_launches", "_declared", "_binder",
                 "_stand_ins", "__dict__", "__weakref__")
    __pyjitc_constant__ = True

    def __init__(self, function: FunctionType, options: Options, bounds: Bounds, declared=(), strict: bool = False):
        self.py_func = function
        self.options, self.bounds = options, bounds
        self.strict = strict
        self._codes: dict = {}
        self._count = 0
        self._launches: dict = {}
        self._declared: list[Signature] = []
        self._binder = Binder(function)
        functools.update_wrapper(self, function)
        for signature in declared:
            self.compile(signature)
        self._declared = [signature_of(s) for s in declared]

    def __repr__(self):
        return f"<kernel {self.py_func.__qualname__}>"

    def _parts(self):
        return self.options, self.bounds, tuple(self._declared), self.strict

    def _fill(self, function, options, bounds, declared, strict) -> None:
        self.__init__(function, options, bounds, strict=strict)
        self._declared = list(declared)  # launches compile it, once the values that it captures exist

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.__qualname__} is a kernel: launch it as {self.__name__}[grid, block](...)")

    def __getitem__(self, configuration) -> "Launch":
        try:
            found = self._launches.get(configuration)
        except TypeError:  # an argument that is a list
            found = None
        if found is not None and found.device is current_device():
            return found
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise ValueError(f"a launch is {self.__name__}[grid, block], with stream and bytes of shared memory "
                             f"behind; got {len(parts)} parts")
        launch = Launch(self, *parts)
        try:
            if len(self._launches) >= _MAX_LAUNCHES:
                self._launches.clear()
            self._launches[configuration] = launch
        except TypeError:
            pass
        return launch

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> "Launch":
        """`kernel[griddim, blockdim, stream, sharedmem]`."""
        return self[griddim, blockdim, stream, sharedmem]

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> "ForAll":
        """A launch with a thread for each of `ntasks`, in blocks of `tpb` threads (0: chosen automatically). The kernel
        must test `i < n` itself."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    # -- code

    def compile(self, signature: str | tuple | Signature) -> Any:
        """The code for a signature, which is compiled now if it does not exist."""
        return self._code(self._types_of(signature), current_device())

    def specialize(self, *args: Any) -> "Kernel":
        """The kernel compiled for the types of these arguments."""
        self._code(self._types(_all_adopted(self._binder(*args)))[1], current_device())
        return self

    def _types_of(self, signature) -> tuple:
        """The argument types of a signature; raises TypeError where it is none of this kernel's."""
        types, code = signature_of(signature).args, self.py_func.__code__
        if signature_of(signature).result not in (None, NoneType):
            raise TypeError(f"{self.__qualname__} is a kernel: it returns nothing, but {signature} declares a result")
        count = code.co_argcount + code.co_kwonlyargcount
        if len(types) != count:
            raise TypeError(f"signature {signature} has {len(types)} arguments, {self.__qualname__}() takes {count}")
        self._check_passing(types)
        return types

    def _check_passing(self, types) -> None:
        for name, t in zip(self.py_func.__code__.co_varnames, types):
            if not _is_passed(t):
                raise TypeError(f"{self.__qualname__}() argument {name!r}: {with_article(str(t))} cannot be passed "
                                f"to a kernel; pass numbers, arrays and tuples")

    def _code(self, types, device):
        key = types, device if device.gpu else None
        found = self._codes.get(key)
        if found is not None and _holds(found.guards):
            return found
        self._check_passing(types)
        return self._made(key, device, self.options)

    def _made(self, key, device, options: Options):
        found = alone(_backends[device.gpu].compile_kernel, self.py_func, key[0], options, self.bounds, device)
        self._codes[key] = found
        self._count += 1
        return found

    def recompile(self) -> None:
        """Compile every signature again, ignoring what is in memory and on disk."""
        for key in list(self._codes):
            self._made(key, key[1] or current_device(), self.options._replace(cache=False))

    def parallel_diagnostics(self, signature: object = None, level: int = 1) -> None:
        """Print the report on parallel loops, as for a compiled function: a kernel has none."""
        print(f"{self.__name__}() is a kernel: the threads of its grid run in parallel, and its loops do not")

    def disable_compile(self, value: bool = True) -> None:
        """If `value` is true, compile no further signatures: other argument types raise TypeError."""
        self._declared = list(map(Signature, self.signatures)) if value else []

    @property
    def stats(self) -> dict:
        """Counts for this kernel: how often code was compiled, or read from disk."""
        return {"compiled": self._count}

    @property
    def nopython_signatures(self) -> list[str]:
        """The signatures as text."""
        return [f"({', '.join(map(str, types))}) -> none" for types in self.signatures]

    @property
    def signatures(self) -> list[tuple]:
        """The argument types compiled so far, as tuples of types, the oldest first."""
        return list(dict.fromkeys(types for types, _ in self._codes))

    @property
    def overloads(self) -> dict:
        return {types: code for (types, _), code in self._codes.items()}

    def _types(self, args) -> tuple[tuple, tuple]:
        """(arguments, their types), converted to a declared signature."""
        types = tuple([self._type(k, value) for k, value in enumerate(args)])
        if not self._declared:
            return args, types
        for signature in self._declared:
            if len(signature.args) == len(args):
                try:
                    return tuple(map(convert, args, types, signature.args)), signature.args
                except TypeError:
                    pass
        raise TypeError(f"{self.__qualname__}() has no signature for ({', '.join(map(str, types))}); declared: "
                        f"{'; '.join(map(repr, self._declared))}")

    def _type(self, k: int, value):
        given = getattr(value, "type", None) if type(value).__module__.startswith(__package__) else None
        if given is not None:
            return given
        try:
            return typeof(value, _function_type)
        except (TypeError, OverflowError) as error:
            name = self.py_func.__code__.co_varnames[k]
            raise type(error)(f"{self.__qualname__}() argument {name!r} {error}") from None

    def launch(self, args: tuple, kwargs: dict, grid: tuple, block: tuple, stream: Any, shared: int) -> Any:
        """Launch the kernel; returns its code."""
        device = current_device()
        if getattr(stream, "device", device) is not device:
            raise ValueError(f"the stream is of device {stream.device.index}, the launch on device {device.index}")
        given = self._binder(*args, **kwargs)
        args = _all_adopted(given)
        if self.strict:
            for name, x in zip(self.py_func.__code__.co_varnames, args):
                self._refuse_host_arrays(name, x)
        args, types = self._types(args)
        code = self._code(types, device)
        limit = max(_MAX_SHARED, device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"))
        if code.shared + shared > limit:
            raise ValueError(f"{self.__qualname__}() takes {code.shared} bytes of shared memory and the launch gives "
                             f"{shared} more; a block has {limit}")
        if self.bounds.threads and math.prod(block) > self.bounds.threads:
            raise ValueError(f"a block of {math.prod(block)} threads is larger than "
                             f"launch_bounds={self.bounds.threads} promises")
        code.launch(args, types, grid, block, stream_handle(stream), shared)
        for record, there in zip(given, args):
            if isinstance(record, np.void) and record.flags.writeable:
                for name in record.dtype.names:
                    record[name] = there[name]
        return code

    def _refuse_host_arrays(self, name: str, x) -> None:
        if isinstance(x, tuple):
            for part in x:
                self._refuse_host_arrays(name, part)
        elif isinstance(x, np.ndarray) and mapped_address(x) is None:
            raise TypeError(f"{self.__qualname__}() argument {name!r} is an array in host memory; copy it with "
                            f"cuda.to_device, or leave out strict=True")

    # -- inspection

    def _inspected(self, what: str, signature, arch: str | None):
        if signature is None:
            return {types: self._inspected(what, Signature(types), arch) for types in self.signatures}
        types, arch = self._types_of(signature), arch or gpu.arch_of(current_device())
        return alone(getattr(gpu, what), self.py_func, types, self.options, self.bounds, arch)

    def inspect_ptx(self, signature: str | tuple | Signature | None = None,
                    arch: str | None = None) -> str | dict[tuple, str]:
        """The PTX for a signature (`"void(float32[::1], int64)"`), or of all that were launched. arch: such as
        "sm_90"."""
        return self._inspected("inspect_ptx", signature, arch)

    inspect_asm = inspect_ptx

    def inspect_ir(self, signature: str | tuple | Signature | None = None) -> str | dict[tuple, str]:
        """The typed IR as text, for a signature, or of all that were launched."""
        return self._inspected("inspect_types", signature, "")

    def inspect_cfg(self, signature: str | tuple | Signature | None = None) -> str | dict[tuple, str]:
        """The control-flow graph in DOT, for a signature, or of all that were launched; in a notebook it is shown as a
        picture."""
        if signature is None:
            return {types: self.inspect_cfg(Signature(types)) for types in self.signatures}
        return alone(_stages.inspect, self.py_func, self._types_of(signature), self.options, "cfg")

    def inspect_llvm(self, signature: str | tuple | Signature | None = None,
                     arch: str | None = None) -> str | dict[tuple, str]:
        """The optimised LLVM text from which PTX is made."""
        return self._inspected("inspect_llvm", signature, arch)

    def inspect_sass(self, signature: str | tuple | Signature | None = None,
                     arch: str | None = None) -> str | dict[tuple, str]:
        """The machine code, where ptxas and nvdisasm or cuobjdump are installed; raises AssemblyError otherwise."""
        return self._inspected("inspect_sass", signature, arch)

    def report(self, signature: str | tuple | Signature | None = None, arch: str | None = None) -> Any:
        """The resources of a thread, by ptxas: registers, bytes of stack, of spills, of shared and constant memory.
        Raises AssemblyError where ptxas is not installed."""
        return self._inspected("report", signature, arch)

    def inspect_types(self, file: TextIO | None = None, signature: str | tuple | Signature | None = None) -> None:
        """Print the typed IR of a signature, or of all that were launched."""
        shown = self._inspected("inspect_types", signature, "")
        for types, text in shown.items() if signature is None else [(signature, shown)]:
            print(f"{self.__qualname__}({', '.join(map(str, types)) if isinstance(types, tuple) else types})\n{text}\n",
                  file=file or sys.stdout)

    def _figure(self, name: str, signature):
        """An attribute of the code from the driver, for a signature or for each that was launched."""
        if not current_device().gpu:
            raise RuntimeError(f"a GPU would say it, and there is none; {self.__name__}.report(signature) asks ptxas")
        if signature is None:
            return {types: code.function.attribute(name) for (types, device), code in self._codes.items()
                    if device is current_device()}
        return self.compile(signature).function.attribute(name)

    def get_regs_per_thread(self, signature: str | tuple | Signature | None = None) -> int | dict[tuple, int]:
        """The registers of a thread, for a signature or as a dict of each that was launched on the current GPU."""
        return self._figure("registers", signature)

    def get_shared_mem_per_block(self, signature: str | tuple | Signature | None = None) -> int | dict[tuple, int]:
        """Bytes of static shared memory of a block."""
        return self._figure("shared", signature)

    def get_local_mem_per_thread(self, signature: str | tuple | Signature | None = None) -> int | dict[tuple, int]:
        """The bytes of local memory of a thread: local arrays and spilled registers."""
        return self._figure("local", signature)

    def get_const_mem_size(self, signature: str | tuple | Signature | None = None) -> int | dict[tuple, int]:
        """Bytes of constant memory."""
        return self._figure("constant", signature)

    def get_max_threads_per_block(self, signature: str | tuple | Signature | None = None) -> int | dict[tuple, int]:
        """The most threads of a block, which registers limit."""
        return self._figure("max_threads", signature)


def _all_adopted(given) -> tuple:
    return tuple([x if type(x) in _PASSED_AS_THEY_ARE else _adopted(x) for x in given])


def _adopted(x):
    """Arrays of other libraries as device arrays, also inside tuples."""
    if isinstance(x, tuple):
        parts = [y if type(y) in _PASSED_AS_THEY_ARE else _adopted(y) for y in x]
        return x._make(parts) if hasattr(x, "_make") else tuple(parts) if type(x) is tuple else x
    if isinstance(x, np.void) and x.dtype.names:  # a record is an array without axes in kernels
        return np.array(x)
    return plain_array(x) if isinstance(x, np.ndarray) else adopt(x)


def _holds(guards) -> bool:
    """Whether code is still valid: the values on which it depends are the same, or equal numbers or texts. Another
    array or function may have other elements or cells."""
    for guard in guards:
        now = portable.lookup(guard.container, guard.key)
        if (now is not guard.value
            and not (isinstance(now, _VALUES) and portable.fingerprint(now) == portable.fingerprint(guard.value))):
            return False
    return True


def _is_passed(t) -> bool:
    """Whether the representation of a value of the type can be passed: numbers, addresses of elements, or nothing."""
    if isinstance(t, Composite):  # arrays in tuples are replaced by arrays on the device
        return all(map(_is_passed, t.parts)) and not (isinstance(t, Attributes) and t.refcounted)
    return is_scalar(t) or isinstance(t, (Array, DType, Singleton)) or t in (Ellipsis_, NoneType)


def _function_type(value):
    if isinstance(value, DeviceArray):  # in a tuple
        return value.type
    return Singleton(value) if portable.plain_function(value) is not None else None


class Launch:
    """A kernel with the configuration of a launch. grid, block: (x, y, z). __call__: on a GPU a function for the types
    of the last launch, which Python calls directly."""

    __slots__ = ("kernel", "grid", "block", "stream", "shared", "device", "__call__")

    def __init__(self, kernel: Kernel, grid, block, stream=0, shared=0):
        self.kernel = kernel
        self.__call__ = self.launch
        self.grid, self.block = _sizes("grid", grid), _sizes("block", block)
        self.stream = stream
        self.device = device = current_device()
        threads = math.prod(self.block)
        most = device.attribute("MAX_THREADS_PER_BLOCK")
        if threads > most:
            raise ValueError(f"a block of {' x '.join(map(str, self.block))} = {threads} threads: a block has at most "
                             f"{most}")
        for what, sizes in (("BLOCK", self.block), ("GRID", self.grid)):
            for axis, n in zip("XYZ", sizes):
                most = device.attribute(f"MAX_{what}_DIM_{axis}")
                if n > most:
                    raise ValueError(f"the {what.lower()} is {n} along {axis.lower()}: at most {most} are possible")
        try:
            self.shared = operator.index(shared)
        except TypeError:
            raise TypeError(f"the bytes of shared memory are an int, not {shared!r}") from None
        if self.shared < 0:
            raise ValueError(f"the bytes of shared memory are negative: {shared}")

    def launch(self, *args, **kwargs) -> None:
        code = self.kernel.launch(args, kwargs, self.grid, self.block, self.stream, self.shared)
        if self.device.gpu:
            packed = code.configure(self.grid, self.block, stream_handle(self.stream), self.shared)
            self.__call__ = code.caller(packed, self.launch) or self.launch

    def __repr__(self):
        return f"<{self.kernel!r} with grid {self.grid}, block {self.block}>"


class ForAll:
    """A launch over `ntasks` threads; nothing is launched where there are none."""

    __slots__ = ("kernel", "ntasks", "tpb", "stream", "shared")

    def __init__(self, kernel, ntasks, tpb, stream, shared):
        for what, n in (("number of threads", ntasks), ("number of threads of a block", tpb)):
            if not hasattr(n, "__index__"):
                raise TypeError(f"forall() takes the {what} as an int, not {n!r}")
            if n < 0:
                raise ValueError(f"forall() takes the {what}, not {n}")
        self.kernel, self.ntasks, self.tpb, self.stream, self.shared = kernel, ntasks, tpb, stream, shared

    def __call__(self, *args, **kwargs) -> None:
        if self.ntasks:
            block = self.tpb or self.kernel.bounds.threads or 256
            Launch(self.kernel, -(-self.ntasks // block), block, self.stream, self.shared)(*args, **kwargs)


def _sizes(what: str, given) -> tuple[int, int, int]:
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"the {what} has one to three sizes, not {len(parts)}")
    try:
        sizes = [operator.index(n) for n in parts]
    except TypeError:
        raise TypeError(f"the {what} is an int or a tuple of ints, not {given!r}") from None
    if any(n <= 0 for n in sizes):
        raise ValueError(f"the {what} has a size of {min(sizes)}: every size is at least 1")
    return (*sizes, 1, 1)[:3]


# ---------------------------------------------------------------- the decorator

_OWN = ("device", "strict", "libdevice", "max_registers", "launch_bounds", "opt", "lineinfo", "inline", "forceinline",
        "link", "lto")
_PASSED = ("debug", "fastmath", "cache", "boundscheck")


def jit(signature: Any = None, device: bool = False, **options: Any) -> Kernel | DeviceFunction | Callable:
    """Compile a function as a kernel, or with `device=True` as a function for kernels.

        @cuda.jit                           @cuda.jit("void(float32[:], int32)")      @cuda.jit(device=True)
        def kernel(x, n): ...               def kernel(x, n): ...                     def helper(a): ...

    Options: strict (host arrays are refused instead of copied), debug (index errors and assertions of a thread are
    raised on the host, races are detected on the CPU), fastmath, cache, max_registers, launch_bounds (the most threads
    of a block, or a tuple with the least number of blocks), libdevice (NVIDIA's elementary functions on a GPU). opt,
    lineinfo, inline, link and lto are accepted without effect: optimisation is always on, functions are always inlined,
    and lines are always known. A launch raises CompileError where the kernel cannot be compiled, ValueError for an
    invalid configuration, and TypeError for wrong arguments.
    """
    return jit_with(Options(), signature, device, **options)


def jit_with(base: Options, signature: Any, device: bool, **options: Any) -> Kernel | DeviceFunction | Callable:
    """`jit` with other options than the usual ones as the default."""
    wrong = [name for name in options if name not in _OWN and name not in _PASSED]
    if wrong:
        near = suggest(wrong[0], (*_OWN, *_PASSED))
        raise TypeError(f"unknown option {wrong[0]!r}"
                        + (f"; did you mean {near!r}?" if near else f"; options are {', '.join((*_PASSED, *_OWN))}"))
    if options.get("link"):
        raise TypeError("linking foreign device code is not supported")
    chosen = with_environment(make_options({name: value for name, value in options.items() if name in _PASSED},
                                           base))
    strict = bool(options.get("strict"))
    bounds = _bounds(options.get("launch_bounds"), options.get("max_registers"), bool(options.get("libdevice")))
    if isinstance(signature, (FunctionType, CompiledFunction, Kernel, DeviceFunction)):
        return _decorate(signature, device, chosen, bounds, (), strict)
    if signature is not None and not isinstance(signature, (str, list, tuple, TypeName, Signature)):
        raise TypeError(f"cuda.jit compiles Python functions, not {signature!r}")
    declared = () if signature is None else tuple(map(signature_of, signature if isinstance(signature, list)
                                                      else [signature]))
    return lambda function: _decorate(function, device, chosen, bounds, declared, strict)


def _bounds(launch_bounds, max_registers, libdevice: bool) -> Bounds:
    """The launch bounds of the options, where 0 and None mean no bound."""
    limits = tuple(launch_bounds) if isinstance(launch_bounds, (tuple, list)) else (launch_bounds or 0,)
    if len(limits) > 2:
        raise ValueError(f"launch_bounds={launch_bounds!r}: must be the most threads of a block, or with it the least "
                         f"blocks of a multiprocessor")
    threads, blocks = (*limits, 0, 0)[:2]
    chosen = []
    for option, what, value, least, most in (("launch_bounds", "threads of a block", threads, 1, 1024),
                                             ("launch_bounds", "blocks of a multiprocessor", blocks, 1, 32),
                                             ("max_registers", "registers of a thread", max_registers or 0, 16, 255)):
        try:
            chosen.append(operator.index(value))
        except TypeError:
            raise TypeError(f"option {option}: the {what} are an int, not {value!r}") from None
        if value and not least <= value <= most:
            raise ValueError(f"option {option}: the {what} are {least} to {most}, not {value}")
    return Bounds(*chosen, libdevice)


def _decorate(function, device: bool, options: Options, bounds: Bounds, declared, strict: bool):
    function = portable.plain_function(function)
    if function is None:
        raise TypeError(f"cuda.jit compiles Python functions, not {function!r}")
    code = function.__code__
    if code.co_flags & (0x80 | 0x200 | 0x20):
        raise TypeError(f"{function.__qualname__}() is asynchronous or a generator; cuda.jit compiles ordinary "
                        f"functions")
    if device:
        return DeviceFunction(function)
    if code.co_flags & 0x4 or code.co_flags & 0x8:
        raise TypeError(f"{function.__qualname__}() is a kernel: it takes no *args or **kwargs")
    return Kernel(function, options, bounds, declared, strict)
