"""Numba's names on this compiler: `import pyjitc.numba as numba`, or `pyjitc.numba.install()` before the first `import
numba` of a program.

Names without a counterpart here can be imported, and raise an error that names them when they are used. docs/numba.md
has the table.
"""
from __future__ import annotations

import sys as _sys

from ..base.lazy import lazy as _lazy
from . import config, errors, types
from .absent import NotThere
from .absent import Absent as _Absent
from .decorators import cfunc, guvectorize, jit, jit_module, njit, vectorize
from .install import install
from .install import module as _module
from .install import serve_own as _serve_own
from .special import (
    gdb, gdb_breakpoint, gdb_init, get_num_threads, get_parallel_chunksize, get_thread_id, literal_unroll, literally,
    objmode, parallel_chunksize, pndindex, prange, set_num_threads, set_parallel_chunksize, threading_layer, typeof,
)
from .types import as_dtype, from_dtype

__version__ = "0.61.2"  # the version that programs compare with
version_info = (0, 61, 2)
_TYPES = ("int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp intc uintc ssize_t size_t boolean float32 "
          "float64 complex64 complex128 bool_ byte char uchar short ushort int_ uint long_ ulong longlong ulonglong "
          "double void none b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16 optional ffi_forced_object ffi deferred_type "
          "float16 float_").split()
globals().update({name: getattr(types, name) for name in _TYPES})
globals().update({name: getattr(errors, name) for name in errors.__all__})

_package = _sys.modules[__package__.rpartition(".")[0]]
_LATER = {"stencil": _lazy("pyjitc.api.stencil"),
          "carray": _lazy("pyjitc.lib.py.foreign"), "farray": _lazy("pyjitc.lib.py.foreign")}
# Names of Numba that do not exist here, and modules that are loaded at their first use.
_ABSENT = frozenset(("generated_jit", "runtests", "test"))

__all__ = [
    "NotThere", "carray", "cfunc", "config", "errors", "experimental", "farray", "from_dtype", "as_dtype", "gdb",
    "gdb_breakpoint", "gdb_init", "get_num_threads", "get_parallel_chunksize", "get_thread_id", "guvectorize",
    "install", "jit", "jit_module", "literal_unroll", "literally", "njit", "objmode", "parallel_chunksize", "pndindex",
    "prange", "set_num_threads", "set_parallel_chunksize", "stencil", "threading_layer", "typeof", "types", "vectorize",
    *_TYPES, *errors.__all__,
]


def __getattr__(name: str):
    if name in _LATER:
        found = getattr(_LATER[name], name)
    elif not name.startswith("_") and (there := _module(name)) is not None:
        found = there
    elif name == "bool":
        found = types.boolean
    elif name in _ABSENT:
        found = _Absent(name)
    else:
        raise AttributeError(f"module 'numba' has no attribute {name!r}")
    globals()[name] = found
    return found


_serve_own()
