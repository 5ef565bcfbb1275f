"""The passes over typed IR, in order."""
from __future__ import annotations

from ..ir import core as ir
from . import dce, gvn, inline, polling, refcount, relax, simplify, versioning

__all__ = ["run", "PASSES"]

# Passes over one function. Each has a reason to run at its place; see their headers.
PASSES = [relax, simplify, gvn, dce, versioning, polling, dce, refcount]


def run(functions: list[ir.Function], options) -> list[ir.Function]:
    """Optimise and complete a module (the entry first); returns the functions that are left."""
    module = inline.run(functions, options)
    for fn in module:
        for one in PASSES:
            one.run(fn, options)
    return module
