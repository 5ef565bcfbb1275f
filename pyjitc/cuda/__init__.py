"""Kernels for NVIDIA GPUs, in the same language; without a GPU they run on the CPU's threads.

    from pyjitc import cuda

    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    saxpy[blocks, threads](2.0, x, y)

The names inside kernels are those of Numba's CUDA target.
"""
from ..lib.cuda.names import (
    activemask, all_sync, any_sync, atomic, ballot_sync, blockDim, blockIdx, brev, cbrt, clz, const, eq_sync, ffs, fma, fp16, grid, gridDim,
    gridsize, laneid, lanemask_lt, local, match_all_sync, match_any_sync, nanosleep, popc, reduce_add_sync, reduce_and_sync, reduce_max_sync,
    reduce_min_sync, reduce_or_sync, reduce_xor_sync, rsqrt, selp, shared, shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync,
    syncthreads, syncthreads_and, syncthreads_count, syncthreads_or, syncwarp, threadfence, threadfence_block, threadfence_system, threadIdx,
    warpsize,
)
from .kernel import jit

__all__ = [
    "activemask", "all_sync", "any_sync", "atomic", "ballot_sync", "blockDim", "blockIdx", "brev", "cbrt", "clz", "const", "eq_sync", "ffs",
    "fma", "fp16", "grid", "gridDim", "gridsize", "jit", "laneid", "lanemask_lt", "local", "match_all_sync", "match_any_sync", "nanosleep", "popc",
    "reduce_add_sync", "reduce_and_sync", "reduce_max_sync", "reduce_min_sync", "reduce_or_sync", "reduce_xor_sync", "rsqrt", "selp", "shared",
    "shfl_down_sync", "shfl_sync", "shfl_up_sync", "shfl_xor_sync", "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or",
    "syncwarp", "threadIdx", "threadfence", "threadfence_block", "threadfence_system", "warpsize",
]
