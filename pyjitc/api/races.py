"""The object that `njit(parallel=True, debug="races")` returns."""
from __future__ import annotations

from functools import wraps

from ..base.lazy import lazy

__all__ = ["watched"]

_races = lazy("pyjitc.pipeline.races")


def watched(function, options):
    """A function whose calls check iterations of parallel loops for races. They are slow: a million operations take
    seconds."""
    @wraps(function)
    def watching(*args, **kwargs):
        return _races.call(function, options, args, kwargs)

    watching.py_func = function
    return watching
