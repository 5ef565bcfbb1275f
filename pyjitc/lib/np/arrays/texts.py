"""NumPy's functions that return text, also about the installation: they are called in Python."""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply
from ....ops import pyobject
from ....types.kinds import Int, Str
from ...rule import rule
from .bits import python_call

__all__ = ["CALLS"]


def _called(function, t):
    @rule(f"np.{function.__name__}")
    def found(*args, **kwargs):
        return Apply(pyobject.PY_UNBOX, python_call(function, *args, **kwargs), type=t)

    return found


_TEXTS = (np.array2string, np.array_repr, np.array_str, np.base_repr, np.binary_repr, np.format_float_positional,
          np.format_float_scientific, np.get_include)
CALLS = {**{function: _called(function, Str) for function in _TEXTS}, np.getbufsize: _called(np.getbufsize, Int)}
