"""np.errstate in compiled code, which neither warns of floating-point errors nor raises for them (docs/semantics.md):
asking for silence changes nothing, asking for an exception is an error of the compilation."""
from __future__ import annotations

import numpy as np

from ...infer.meaning import Const, Mismatch
from ...types import kinds as k

__all__ = ["CALLS", "METHODS", "State"]

_KINDS = ("all", "divide", "over", "under", "invalid")
_FINE = ("ignore", "warn", "print")


def entered():
    return None


def left(kind, error, trace):
    return None


class State:
    """The context manager."""

    __enter__ = staticmethod(entered)
    __exit__ = staticmethod(left)


_STATE = State()


def _errstate(args, kwargs):
    if args:
        raise Mismatch("errstate.__init__() takes 1 positional argument but %d were given" % (len(args) + 1))
    for key, x in kwargs.items():
        if key == "call":
            raise Mismatch("np.errstate with call= is not compiled", "test the result: np.isfinite, np.isnan")
        if key not in _KINDS:
            raise Mismatch(f"errstate.__init__() got an unexpected keyword argument '{key}'")
        if x.type is k.NoneType:
            continue
        if not isinstance(x.value, str):
            raise Mismatch(f"np.errstate({key}=) must be a text that is known at compile time")
        if x.value not in (*_FINE, "raise", "call", "log"):
            raise Mismatch(f"invalid error mode '{x.value}'", exception=ValueError)
        if x.value not in _FINE:
            raise Mismatch(f"np.errstate({key}='{x.value}') is not compiled: compiled code does not look at floating-point errors",
                           "test the result: np.isfinite, np.isnan")
    return Const(k.Singleton(_STATE), _STATE)


CALLS = {np.errstate: _errstate}
METHODS: dict = {}
