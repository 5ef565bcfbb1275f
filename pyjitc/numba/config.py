"""Numba's configuration: the names that programs read, with the values that are true here. Assignments have no effect,
except that of DISABLE_JIT, which counts for functions and classes that are decorated afterwards."""
from __future__ import annotations

import os
import struct
import sys

from ..base.options import environment

_COUNT = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _number(name: str, usual: int) -> int:
    try:
        return int(os.environ.get(f"NUMBA_{name}", usual))
    except ValueError:
        return usual


# Numba's variables in the environment that have counterparts here.
for _name, _own in (("CACHE_DIR", "PYJITC_CACHE_DIR"), ("DISABLE_JIT", "PYJITC_DISABLE"),
                    ("NUM_THREADS", "PYJITC_NUM_THREADS")):
    if f"NUMBA_{_name}" in os.environ:
        os.environ.setdefault(_own, os.environ[f"NUMBA_{_name}"])
if _number("ENABLE_CUDASIM", 0) or _number("DISABLE_CUDA", 0):
    os.environ.setdefault("PYJITC_CUDA", "cpu")

DISABLE_JIT = int(environment("PYJITC_DISABLE") not in ("", "0"))
NUMBA_DEFAULT_NUM_THREADS = _COUNT
NUMBA_NUM_THREADS = max(1, _number("NUM_THREADS", _COUNT))
THREADING_LAYER = os.environ.get("NUMBA_THREADING_LAYER", "default")
THREADING_LAYER_PRIORITY = ["tbb", "omp", "workqueue"]
BOUNDSCHECK = None if "NUMBA_BOUNDSCHECK" not in os.environ else _number("BOUNDSCHECK", 0)
CACHE_DIR = environment("PYJITC_CACHE_DIR")
CAPTURED_ERRORS = "new_style"
ERROR_MODEL = "python"
OPT, LOOP_VECTORIZE, SLP_VECTORIZE = 3, 1, 0
PYVERSION = sys.version_info[:2]
MACHINE_BITS, IS_32BITS = 8 * struct.calcsize("P"), False
IS_WIN32, IS_OSX = sys.platform == "win32", sys.platform == "darwin"
USING_SVML = False
ENABLE_CUDASIM = _number("ENABLE_CUDASIM", 0)
DISABLE_CUDA = _number("DISABLE_CUDA", 0)
PARFOR_MAX_TUPLE_SIZE = 100
CPU_NAME = CPU_FEATURES = None
COLOR_SCHEME = "no_color"
FUNCTION_CACHE_SIZE = 128
for _name in ("ANNOTATE", "CHROME_TRACE", "CUDA_WARN_ON_IMPLICIT_COPY", "CUDA_LOW_OCCUPANCY_WARNINGS", "DEBUG",
              "DEBUGINFO_DEFAULT", "DEBUG_ARRAY_OPT", "DEBUG_ARRAY_OPT_RUNTIME", "DEBUG_ARRAY_OPT_STATS", "DEBUG_CACHE",
              "DEBUG_FRONTEND", "DEBUG_INLINE_CLOSURE", "DEBUG_JIT", "DEBUG_NRT", "DEBUG_TYPEINFER", "DEVELOPER_MODE",
              "DIFF_IR", "DISABLE_INTEL_SVML", "DISABLE_PERFORMANCE_WARNINGS", "DISABLE_TYPEINFER_FAIL_CACHE",
              "DUMP_ASSEMBLY", "DUMP_BYTECODE", "DUMP_CFG", "DUMP_FUNC_OPT", "DUMP_IR", "DUMP_LLVM", "DUMP_OPTIMIZED",
              "DUMP_SSA", "ENABLE_AVX", "ENABLE_PROFILING", "ENABLE_SYS_MONITORING", "EXTEND_VARIABLE_LIFETIMES",
              "FULL_TRACEBACKS", "HIGHLIGHT_DUMPS", "HTML", "JIT_COVERAGE", "LLVM_PASS_TIMINGS", "NRT_STATS",
              "PARALLEL_DIAGNOSTICS", "CUDA_ARRAY_INTERFACE_SYNC", "CUDA_DEALLOCS_COUNT", "CUDA_DEALLOCS_RATIO",
              "CUDA_DEBUGINFO_DEFAULT", "CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY", "CUDA_LOG_API_ARGS",
              "CUDA_LOG_SIZE", "CUDA_PER_THREAD_DEFAULT_STREAM", "CUDA_USE_NVIDIA_BINDING", "CUDA_VERBOSE_JIT_LOG",
              "DEBUG_NRT_STACK_LIMIT", "DEBUG_PRINT_WRAP", "LLVM_REFPRUNE_PASS", "SHOW_HELP",
              "USE_LLVMLITE_MEMORY_MANAGER", "RUNNING_UNDER_PROFILER", "TRACE", "ALWAYS_WARN_UNINIT_VAR"):
    globals()[_name] = 0
for _name in ("CACHE_LOCATOR_CLASSES", "CUDA_DEFAULT_PTX_CC", "CUDA_DRIVER", "CUDA_INCLUDE_PATH", "CUDA_LOG_LEVEL",
              "CUDA_MEMORY_MANAGER", "DEBUG_PRINT_AFTER", "DEBUG_PRINT_BEFORE", "FORCE_CUDA_CC", "GDB_BINARY",
              "LLVM_REFPRUNE_FLAGS"):
    globals()[_name] = ""
del _name, _own


def reload_config() -> None:
    """Does nothing: no setting is cached."""
