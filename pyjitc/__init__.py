"""pyjitc compiles ordinary Python functions to native code: put `@njit` above one.

The compiler and llvmlite load at the first compile, not here.
"""
from .base.finder import find_quickly as _find_quickly

if type(__spec__.loader).__name__ == "SourceFileLoader":
    _find_quickly(__name__, __path__[0])

from .base.absent import absent as _absent
from .base.lazy import lazy as _lazy
from .base.uncollected import Uncollected as _Uncollected

with _Uncollected():
    from . import types
    from .api.jit import compile_options, jit, njit, trace
    from .base.errors import (
        CompileError, ParallelWarning, PyjitcError, RaceError, TracingError, TypingError, UnsupportedError,
    )
    from .types import NAMES_OF_TYPES as _TYPES

_vectorize, _stencil = _lazy("pyjitc.api.vectorize"), _lazy("pyjitc.api.stencil")
_pool = _lazy("pyjitc.runtime.pool")
_signature = _lazy("pyjitc.api.signature")
_cfunc, _foreign = _lazy("pyjitc.api.cfunc"), _lazy("pyjitc.lib.py.foreign")

__version__ = "0.1.0"
__all__ = ["njit", "jit", "trace", "compile_options", "signature_of", "TypeName", "PyjitcError", "CompileError",
           "TypingError", "TracingError", "UnsupportedError", "ParallelWarning", "RaceError", "vectorize",
           "guvectorize", "stencil", "cfunc", "carray", "farray", "prange", "set_num_threads", "get_num_threads",
           "get_thread_id", "set_parallel_chunksize", "get_parallel_chunksize", "parallel_chunksize", *_TYPES]

_LATER = {"jitclass": "write njit above the class, or pass its objects as they are",
          "generated_jit": "write `if` on the types under njit: x.ndim == 1, isinstance(x, float)",
          "objmode": "put jit above the function for njit: what has no native form is done by the interpreter",
          "overload": "pyjitc.numba.extending has it",
          "intrinsic": "call a function that njit compiles", "extending": "it is pyjitc.numba.extending",
          "literal_unroll": "loop over the tuple itself",
          "literally": "njit(static_argnames=...) makes a value a constant",
          "typeof": "call the function: its .signatures show the types of its arguments"}
_derivatives = _lazy("pyjitc.api.derivatives")
_DERIVATIVES = ("check_grads", "checkpoint", "custom_jvp", "custom_vjp", "grad", "hessian", "hvp", "jacfwd", "jacobian",
                "jacrev", "jvp", "linearize", "pmap", "stop_gradient", "tree", "value_and_grad", "vjp",
                "vmap")
# names of other compilers, and what most programs do not load
__getattr__ = _absent("pyjitc", _LATER, {
    "vectorize": _vectorize, "guvectorize": _vectorize, "stencil": _stencil, "cfunc": _cfunc, "carray": _foreign,
    "farray": _foreign, **dict.fromkeys(("TypeName", "signature_of", *_TYPES), _signature),
    **dict.fromkeys(("prange", "set_num_threads", "get_num_threads", "get_thread_id", "set_parallel_chunksize",
                     "get_parallel_chunksize", "parallel_chunksize"), _pool),
    **dict.fromkeys(_DERIVATIVES, _derivatives)}, ("cuda", "numba", "typed"))
# as numba.types
types.__getattr__ = _absent(types.__name__,
                            {name: f"names of types are in pyjitc itself: pyjitc.{name}" for name in _TYPES})
