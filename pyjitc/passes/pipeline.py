"""The passes over typed IR, in order."""
from __future__ import annotations

from ..base.options import environment
from ..ir import core as ir
from ..ir.verify import verify, verify_module
from . import dce, gvn, inline, polling, ranges, refcount, relax, simplify, versioning

__all__ = ["run", "PASSES"]

# Passes over one function. Each has a reason to run at its place; see their headers.
PASSES = [relax, simplify, gvn, ranges, gvn, dce, versioning, polling, dce, refcount]


def run(functions: list[ir.Function], options) -> list[ir.Function]:
    """Optimise and complete a module (the entry first); returns the functions that are left."""
    check = environment("PYJITC_VERIFY") not in ("", "0")
    module = inline.run(functions, options)
    if check:
        verify_module(module, "inline")
    for fn in module:
        for one in PASSES:
            one.run(fn, options)
            if check:
                verify(fn, stage=one.__name__.rpartition(".")[2])
    return module
