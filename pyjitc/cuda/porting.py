"""Names of Numba's CUDA target that kernels written for it use, where this package says the same otherwise."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

from . import arrays
from .devices import current_device
from .kernel import Kernel, jit

__all__ = ["In", "InOut", "Out", "compile_ptx", "defer_cleanup", "profile_start", "profile_stop", "profiling"]


def In(ary: Any) -> Any:
    """An argument that is copied to the device and not back: `kernel[grid, block](cuda.In(x), y)`."""
    return arrays.to_device(ary)


def InOut(ary: Any) -> Any:
    """An argument that is copied to the device and back, which every host array is."""
    return ary


def Out(ary: Any) -> Any:
    """An argument that is copied back; it is copied to the device too, since a kernel need not write all of it."""
    return ary


def compile_ptx(pyfunc: Callable | Kernel, sig: str | tuple, debug: bool = False, fastmath: bool = False, cc: tuple[int, int] = (8, 0),
                **options: Any) -> tuple[str, None]:
    """(the PTX of a kernel for a signature, None: it returns nothing). cc: the compute capability. As `jit(...).inspect_ptx(sig, "sm_80")`."""
    kernel = pyfunc if isinstance(pyfunc, Kernel) else jit(debug=debug, fastmath=fastmath, **options)(pyfunc)
    return kernel.inspect_ptx(sig, f"sm_{cc[0]}{cc[1]}"), None


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Numba collects freed memory and waits for the device to give it back; here it is given back in the order of the stream."""
    yield


def profile_start() -> None:
    """Tell NVIDIA's profiler to begin; nothing without a GPU."""
    if current_device().gpu:
        current_device().call("cuProfilerStart")


def profile_stop() -> None:
    """Tell NVIDIA's profiler to end."""
    if current_device().gpu:
        current_device().call("cuProfilerStop")


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """The profiler looks at what happens inside."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()
