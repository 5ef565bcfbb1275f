"""Which arguments have no native type, so that code compiled for any Python object accepts them."""
from __future__ import annotations

import enum

import numpy as np

from ..base.lazy import lazy
from ..types.typeof import typeof
from .dispatcher import Callable_

native_iterators = lazy(f"{__package__}.native_iterators")

__all__ = ["is_foreign"]

# Classes whose values have a native type in some cases only.
_SOMETIMES = (int, tuple, list, dict, set, frozenset, np.ndarray, np.dtype, np.generic, enum.Enum, type)


def is_foreign(value) -> bool | None:
    """False: the value has a native type; True: no value of its class has; None: this value has none, but others of its
    class may have."""
    if isinstance(value, Callable_):
        return False
    if type(value).__name__ == "NativeIterator":
        return None if native_iterators.token_of(value) is None else False  # an exhausted iterator has no state
    try:
        return typeof(value, _function) is None
    except (TypeError, OverflowError):
        return None if isinstance(value, _SOMETIMES) else True


def _function(value):
    return value if type(value).__name__ == "function" else None
