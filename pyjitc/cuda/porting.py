"""Names of Numba's CUDA target for which this package has other names."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

from . import arrays
from .devices import current_device
from .kernel import Kernel, jit

__all__ = ["In", "InOut", "MISSING", "Out", "compile", "compile_for_current_device", "compile_ptx",
           "compile_ptx_for_current_device", "defer_cleanup", "is_float16_supported", "is_supported_version",
           "profile_start", "profile_stop", "profiling", "require_context"]

# Names of Numba that do not exist here, and what to use instead.
MISSING = {
    **dict.fromkeys(("declare_device", "CUSource", "LTOIR"),
                    "foreign device code is not linked: write the function in Python, under cuda.jit(device=True)"),
    **dict.fromkeys(("IpcHandle", "open_ipc_array"),
                    "memory is not shared between processes: copy through multiprocessing.shared_memory; within a "
                    "process DLPack shares it"),
    **dict.fromkeys(("set_memory_manager", "BaseCUDAMemoryManager", "HostOnlyCUDAMemoryManager", "MemoryPointer"),
                    "memory comes from the driver's own pool; arrays that another library allocated are passed to "
                    "kernels as they are"),
    "libdevice": "call math's functions and cuda's; cuda.jit(libdevice=True) takes them from NVIDIA's library",
    "extending": "write functions in Python, under cuda.jit(device=True)",
    "types": "write signatures as texts, or take types from pyjitc", "args": "use cuda.In, cuda.Out and cuda.InOut",
    "simulator": "PYJITC_CUDA=cpu runs kernels on the CPU",
    "ufuncs": "NumPy's ufuncs are called in kernels as they are",
    "cudadrv": "use cuda.current_context(), cuda.stream() and cuda.event()", "compiler": "use cuda.compile_ptx",
    "runtime": "use cuda.get_current_device()",
}


def In(ary: Any) -> Any:
    """An argument that is copied to the device and not back: `kernel[grid, block](cuda.In(x), y)`."""
    return arrays.to_device(ary)


def InOut(ary: Any) -> Any:
    """An argument that is copied to the device and back, as every host array is."""
    return ary


def Out(ary: Any) -> Any:
    """An argument that is copied back; it is also copied to the device, since a kernel need not write all of it."""
    return ary


def compile_ptx(pyfunc: Callable | Kernel, sig: str | tuple, debug: bool = False, fastmath: bool = False,
                cc: tuple[int, int] = (8, 0), device: bool = False, **options: Any) -> tuple[str, None]:
    """(the PTX of a kernel for a signature, None for its result type). cc: the compute capability. The same as
    `jit(...).inspect_ptx(sig, "sm_80")`.
    For kernels only: device functions are compiled with the kernels that call them."""
    if device:
        raise TypeError("compile_ptx: a function for kernels has no code of its own; compile a kernel that calls it")
    kernel = pyfunc if isinstance(pyfunc, Kernel) else jit(debug=debug, fastmath=fastmath, **options)(pyfunc)
    return kernel.inspect_ptx(sig, f"sm_{cc[0]}{cc[1]}"), None


def compile(pyfunc: Callable | Kernel, sig: str | tuple, debug: bool = False, lineinfo: bool = False,
            device: bool = False, fastmath: bool = False, cc: tuple[int, int] | None = None, opt: bool = True,
            output: str = "ptx", **options: Any) -> tuple[str, None]:
    """As `compile_ptx`."""
    if output != "ptx":
        raise ValueError(f"compile: output={output!r}: there is 'ptx'")
    return compile_ptx(pyfunc, sig, debug, fastmath, cc or (8, 0), device, **options)


def compile_for_current_device(pyfunc: Callable | Kernel, sig: str | tuple, **options: Any) -> tuple[str, None]:
    return compile(pyfunc, sig, **{**options, "cc": current_device().compute_capability})


def compile_ptx_for_current_device(pyfunc: Callable | Kernel, sig: str | tuple, **options: Any) -> tuple[str, None]:
    return compile_ptx(pyfunc, sig, **{**options, "cc": current_device().compute_capability})


def is_float16_supported() -> bool:
    """True: float16 is supported on every architecture that this package supports."""
    return True


def is_supported_version() -> bool:
    """True: kernels can be compiled without a toolkit."""
    return True


def require_context(function: Callable) -> Callable:
    """Return the function unchanged: in Numba it makes the context at the call, which every operation does here."""
    return function


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Context manager without effect: Numba collects freed memory and frees it when the device is idle; here it is
    freed in the order of the stream."""
    yield


def profile_start() -> None:
    """Start NVIDIA's profiler. Without a GPU this does nothing."""
    if current_device().gpu:
        current_device().call("cuProfilerStart")


def profile_stop() -> None:
    """Stop NVIDIA's profiler."""
    if current_device().gpu:
        current_device().call("cuProfilerStop")


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """Context manager: the profiler runs within the block."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()
