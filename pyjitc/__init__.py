"""pyjitc compiles ordinary numeric Python functions to native code: put `@njit` above one.

The compiler and llvmlite load at the first compile, not here.
"""
from .base.finder import find_quickly as _find_quickly

if type(__spec__.loader).__name__ == "SourceFileLoader":
    _find_quickly(__path__[0])

from .base.absent import absent as _absent
from .base.uncollected import Uncollected as _Uncollected

with _Uncollected():
    from . import types
    from .api.jit import compile_options, jit, njit, trace
    from .api.signature import NAMES as _NAMES
    from .api.signature import TypeName, signature_of
    from .base.lazy import lazy as _lazy
    from .base.errors import CompileError, PyjitcError, TracingError, TypingError, UnsupportedError

_vectorize, _stencil = _lazy("pyjitc.api.vectorize"), _lazy("pyjitc.api.stencil")
_cfunc, _foreign = _lazy("pyjitc.api.cfunc"), _lazy("pyjitc.lib.py.foreign")

__version__ = "0.1.0"
__all__ = ["njit", "jit", "trace", "compile_options", "signature_of", "TypeName", "PyjitcError", "CompileError",
           "TypingError", "TracingError", "UnsupportedError", "vectorize", "guvectorize", "stencil", "cfunc",
           "carray", "farray",           *_NAMES]
globals().update(_NAMES)

_ONE = "loops run on one core so far"
_OWN = "call a function that njit compiles"
_LATER = {"prange": f"write range; {_ONE}",
          "jitclass": "use a named tuple, whose methods are compiled; what changes goes into an array",
          "generated_jit": "write `if` on the types under njit: x.ndim == 1, isinstance(x, float)",
          "objmode": "do that part outside the compiled function",
          "typed": "use an array or a tuple; lists and dicts are not compiled yet", "set_num_threads": _ONE,
          "get_num_threads": _ONE, "overload": _OWN, "intrinsic": _OWN, "extending": _OWN,
          "literal_unroll": "loop over the tuple itself",
          "literally": "njit(static_argnames=...) makes a value a constant",
          "typeof": "call the function: its .signatures show the types of its arguments",
          "vmap": "write the loop over the axis under njit", "grad": "write the derivative under njit"}

# names of other compilers, and what most programs do not load
__getattr__ = _absent("pyjitc", _LATER, {
    "vectorize": _vectorize, "guvectorize": _vectorize, "stencil": _stencil, "cfunc": _cfunc, "carray": _foreign,
    "farray": _foreign})
# as numba.types
types.__getattr__ = _absent(types.__name__,
                            {name: f"names of types are in pyjitc itself: pyjitc.{name}" for name in _NAMES})
