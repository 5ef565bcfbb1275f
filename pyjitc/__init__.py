"""pyjitc compiles ordinary numeric Python functions to native code: put `@njit` above one.

The compiler and llvmlite load at the first compile, not here.
"""
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
