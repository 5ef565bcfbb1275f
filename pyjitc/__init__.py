"""pyjitc compiles ordinary numeric Python functions to native code: put `@njit` above one.

The compiler and llvmlite load at the first compile, not here.
"""
import sys as _sys

from .base.uncollected import Uncollected as _Uncollected

with _Uncollected():
    from .api.jit import compile_options, jit, njit, trace
    from .api.signature import NAMES as _NAMES
    from .api.signature import TypeName, signature_of
    from .base.errors import CompileError, PyjitcError, TracingError, TypingError, UnsupportedError

__version__ = "0.1.0"
__all__ = ["njit", "jit", "trace", "compile_options", "signature_of", "TypeName", "PyjitcError", "CompileError", "TypingError",
           "TracingError", "UnsupportedError", *_NAMES]
globals().update(_NAMES)

_LOOP = "write the loop, or the whole-array expression, under njit"
_LATER = {"prange": "write range; loops run on one core so far", "vectorize": _LOOP, "guvectorize": _LOOP, "stencil": _LOOP,
          "cfunc": "pass the function itself to other compiled functions", "jitclass": "pass arrays, numbers and tuples of them",
          "vmap": "write the loop over the axis under njit", "grad": "write the derivative under njit"}


def __getattr__(name: str) -> object:
    """Names of other compilers: what to write instead. `from pyjitc import name` would hide what an AttributeError says."""
    if name not in _LATER:
        raise AttributeError(f"module 'pyjitc' has no attribute {name!r}")
    importing = _sys._getframe(1).f_code.co_name == "_handle_fromlist"
    raise (ImportError if importing else AttributeError)(f"pyjitc has no {name}: {_LATER[name]}")
