"""From a Python function and argument types to native code: the whole pipeline, in order.

Loaded on the first compile only. Each stage hands its result to the next; nothing is kept but memo tables of
things that never change (the library, the generic IR of a function).
"""
from __future__ import annotations

import threading

from ..front import functions
from ..front.build import build
from ..infer.specialise import specialise
from ..lib.table import Library

__all__ = ["typed_ir"]

_LIBRARY = Library()
LOCK = threading.RLock()


def typed_ir(function, types, options):
    """Typed IR before any pass: (functions, spec, dependencies). Raises CompileError."""
    return specialise(function, types, library=_LIBRARY, build=build, prototype=functions.prototype_of,
                      nested=functions.nested, options=options)
