"""numba.cuda.libdevice: the functions of CUDA's library of mathematics that have a counterpart in math or NumPy. Those
whose names end in f take and return float32; the fast ones are the same functions.
"""
from __future__ import annotations

import math

import numpy as np

from .absent import module_attribute

# Names of libdevice -> NumPy's function.
_UNARY = {name: getattr(np, name) for name in "sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt "
          "cbrt fabs floor ceil trunc rint".split()}
_UNARY.update({f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan sinh cosh tanh".split()})
_BINARY = {name: getattr(np, name) for name in "fmod fmax fmin copysign hypot".split()}
_BINARY.update(pow=np.power, atan2=np.arctan2)


def _unary(function, t):
    return lambda x: function(t(x))


def _binary(function, t):
    return lambda x, y: function(t(x), t(y))


for _made, _table in ((_unary, _UNARY), (_binary, _BINARY)):
    for _name, _function in _table.items():
        globals().update({_name: _made(_function, np.float64), f"{_name}f": _made(_function, np.float32)})
fast_sinf, fast_cosf, fast_tanf, fast_expf, fast_powf = sinf, cosf, tanf, expf, powf  # noqa: F821
fast_logf, fast_log2f, fast_log10f = logf, log2f, log10f  # noqa: F821
erf, erfc = math.erf, math.erfc


def rsqrt(x):
    return np.float64(1.0) / np.sqrt(np.float64(x))


def rsqrtf(x):
    return np.float32(1.0) / np.sqrt(np.float32(x))


def fast_fdividef(x, y):
    return np.float32(x) / np.float32(y)


__getattr__ = module_attribute("cuda.libdevice")
