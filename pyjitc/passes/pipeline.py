"""The passes over typed IR, in order."""
from __future__ import annotations

from ..ir import core as ir
from . import dce, gvn, inline, latches, polling, ranges, refcount, relax, simplify, speculate, versioning

__all__ = ["run", "PASSES"]

# Passes over one function. Each has a reason to run at its place; see their headers.
PASSES = [relax, simplify, latches, gvn, ranges, gvn, dce, versioning, speculate, polling, dce, refcount]


def run(functions: list[ir.Function], options, check=None) -> list[ir.Function]:
    """Optimise and complete a module (the entry first); returns the functions that are left.
    check: called with a list of functions and the name of the pass that left them, or None."""
    module = inline.run(functions, options)
    if check:
        check(module, "inline")
    for fn in module:
        for one in PASSES:
            one.run(fn, options)
            if check:
                check([fn], one.__name__.rpartition(".")[2])
    return module
