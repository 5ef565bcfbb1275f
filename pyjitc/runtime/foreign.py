"""Which arguments have no native type, so that code compiled for any Python object is theirs."""
from __future__ import annotations

import enum

import numpy as np

from ..types.typeof import typeof
from .dispatcher import Callable_

__all__ = ["is_foreign"]

# Some of their values have a native type.
_SOMETIMES = (int, tuple, list, dict, set, frozenset, np.ndarray, np.dtype, np.generic, enum.Enum, type)


def is_foreign(value) -> bool | None:
    """False: the value has a native type; True: none of its class has; None: it has none, others of its class may."""
    if isinstance(value, Callable_) or type(value).__name__ == "NativeIterator":
        return False
    try:
        return typeof(value, _function) is None
    except (TypeError, OverflowError):
        return None if isinstance(value, _SOMETIMES) else True


def _function(value):
    return value if type(value).__name__ == "function" else None
