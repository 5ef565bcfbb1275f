"""The passes over typed IR, in order."""
from __future__ import annotations

from ..base.lazy import lazy
from ..ir import core as ir
from ..ops import arith, memory
from . import (
    dce, flags, gvn, inline, latches, messages, polling, ranges, refcount, relax, simplify, speculate, versioning,
)

__all__ = ["run", "run_device", "PASSES"]

device, nans = lazy(f"{__package__}.device"), lazy(f"{__package__}.nans")

# Passes that are loaded where a function has one of the operations that they look for: a first call pays for each
# module.
ahead, frame, reload = (lazy(f"{__package__}.{name}") for name in ("ahead", "frame", "reload"))
_LOOK_FOR = {ahead: arith.CONVERSIONS, frame: {memory.ARRAY_NEW}, reload: {memory.ARRAY_LOAD}}

# Passes over one function. Each has a reason to run at its place; see their headers.
PASSES = [
    messages, relax, simplify, latches, gvn, ranges, gvn, reload, dce, versioning, ahead, speculate, flags, polling,
    dce,
    frame, refcount,
]


def run(functions: list[ir.Function], options, check=None) -> list[ir.Function]:
    """Optimise and complete a module (the entry first); returns the functions that are left.
    check: called with a list of functions and the name of the pass that left them, or None."""
    if options.debug:
        nans.run(functions)
    module = inline.run(functions, options)
    if check:
        check(module, "inline")
    kept = module[:1]
    for fn in kept:  # grows: a call in a dead branch needs no callee
        for one in PASSES:
            wanted = _LOOK_FOR.get(one)
            if wanted and not any(inst.op in wanted for block in fn.blocks for inst in block.insts):
                continue
            one.run(fn, options)
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        kept += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in kept)
    return kept


# No copies of loops without checks, which a GPU has none of; no signals, no references.
DEVICE_PASSES = [messages, relax, simplify, latches, gvn, ranges, simplify, gvn, dce]


def run_device(functions: list[ir.Function], options, replacement, recursive, check=None) -> list[ir.Function]:
    """The same for a GPU; UnsupportedError for what it cannot do. replacement: see `device.lower`; recursive: a module
    -> the functions in it that call themselves."""
    module = inline.run(functions, options)
    while device.lower(module, replacement):
        module = inline.run(module, options)
    if check:
        check(module, "device")
    for fn in module:
        for one in DEVICE_PASSES:
            one.run(fn, options)
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        device.keep_small(fn)
        if check:
            check([fn], "keep_small")
    device.check(module, recursive(module))
    return module
