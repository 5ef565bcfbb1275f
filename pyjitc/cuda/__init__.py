"""Kernels for NVIDIA GPUs, in the same language; without a GPU they run on the CPU's threads::

    from pyjitc import cuda

    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    saxpy[blocks, threads](2.0, x, y)

The names inside kernels are those of Numba's CUDA target.
"""
from . import random
from ..base.absent import absent as _absent
from ..lib.cuda.names import (
    activemask, all_sync, any_sync, atomic, ballot_sync, blockDim, blockIdx, brev, cbrt, cg, clz, const, eq_sync, ffs,
    fma, fp16, grid, gridDim, gridsize, laneid, lanemask_lt, local, match_all_sync, match_any_sync, nanosleep, popc,
    reduce_add_sync, reduce_and_sync, reduce_max_sync, reduce_min_sync, reduce_or_sync, reduce_xor_sync, rsqrt, selp,
    shared, shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync, syncthreads, syncthreads_and, syncthreads_count,
    syncthreads_or, syncwarp, threadfence, threadfence_block, threadfence_system, threadIdx, warpsize,
)
from ..lib.cuda.vectors import VECTORS
from .arrays import (
    DeviceArray, as_cuda_array, device_array, device_array_like, from_cuda_array_interface, from_dlpack, is_cuda_array,
    managed_array, mapped, mapped_array, mapped_array_like, pinned, pinned_array, pinned_array_like, to_device,
)
from .devices import (
    CudaError, CudaSupportError, Event, Stream, close, current_context, default_stream, detect, event,
    event_elapsed_time, external_stream, get_current_device, gpus, is_available, legacy_default_stream, list_devices,
    per_thread_default_stream, select_device, stream, synchronize, why_not,
)
from .failure import KernelError
from .scalarwise import Reduce, elementwise, reduce, vectorize
from .kernel import jit
from .porting import MISSING as _MISSING
from .porting import (
    In, InOut, Out, compile, compile_for_current_device, compile_ptx, compile_ptx_for_current_device, defer_cleanup,
    is_float16_supported, is_supported_version, profile_start, profile_stop, profiling, require_context,
)

__all__ = [
    "CudaError", "CudaSupportError", "DeviceArray", "Event", "In", "InOut", "KernelError", "Out", "Reduce", "Stream",
    "activemask", "all_sync", "any_sync", "as_cuda_array", "atomic", "ballot_sync", "blockDim", "blockIdx", "brev",
    "cbrt", "cg", "close", "clz", "compile", "compile_for_current_device", "compile_ptx",
    "compile_ptx_for_current_device", "const", "current_context", "default_stream", "defer_cleanup", "detect",
    "device_array", "device_array_like", "elementwise", "eq_sync", "event", "event_elapsed_time", "external_stream",
    "ffs", "fma", "fp16", "from_cuda_array_interface", "from_dlpack", "get_current_device", "gpus", "grid", "gridDim",
    "gridsize", "is_available", "is_cuda_array", "is_float16_supported", "is_supported_version", "jit", "laneid",
    "lanemask_lt", "legacy_default_stream", "list_devices", "local", "managed_array", "mapped", "mapped_array",
    "mapped_array_like", "match_all_sync", "match_any_sync", "nanosleep", "per_thread_default_stream", "pinned",
    "pinned_array", "pinned_array_like", "popc", "profile_start", "profile_stop", "profiling", "random", "reduce",
    "reduce_add_sync", "reduce_and_sync", "reduce_max_sync", "reduce_min_sync", "reduce_or_sync", "reduce_xor_sync",
    "require_context", "rsqrt", "select_device", "selp", "shared", "shfl_down_sync", "shfl_sync", "shfl_up_sync",
    "shfl_xor_sync", "stream", "synchronize", "syncthreads", "syncthreads_and", "syncthreads_count",
    "syncthreads_or", "syncwarp", "threadIdx", "threadfence", "threadfence_block", "threadfence_system",
    "to_device", "vectorize", "warpsize", "why_not",
]
globals().update(VECTORS)  # float4, float32x4 and their like

__getattr__ = _absent(__name__, _MISSING)
