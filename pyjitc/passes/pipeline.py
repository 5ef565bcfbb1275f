"""The passes over typed IR, in order."""
from __future__ import annotations

from typing import Any

from ..base.lazy import lazy
from ..ir import core as ir
from ..ir.cfg import is_straight
from ..ops import arith, memory
from ..ops.control import CONST
from ..ops.derivative import request_of
from ..ops.elementary import is_ours
from ..ops.nest import NESTS
from ..ops.parallel import INDEPENDENT
from ..types.kinds import Bool, DefaultDict, Deque, List
from . import dce, gvn, inline, messages, refcount, relax, simplify

__all__ = ["run", "run_device", "run_to_regions", "PASSES"]

derivatives = lazy(f"{__package__}.derivatives.make")  # programs that ask for derivatives load it
restarts, device, nans, nests = (lazy(f"{__package__}.{name}") for name in ("restarts", "device", "nans", "nests"))

# Passes that are loaded where a function has loops, or one of the operations that they look for: a first call pays for
# each module.
(accumulators, elementary, flags, frame, independent, inspector, latches, localtables, natives, parallel, polling,
 ranges, reboxing, reload, speculate, texts, unroll, versioning) = (
    lazy(f"{__package__}.{name}")
    for name in ("accumulators", "elementary", "flags", "frame", "independent", "inspector", "latches", "localtables",
                 "natives", "parallel", "polling", "ranges", "reboxing", "reload", "speculate", "texts", "unroll",
                 "versioning"))
_IN_LOOPS = {accumulators, inspector, flags, latches, parallel, polling, reload, speculate, unroll, versioning}
_LOOK_FOR = {
    independent: {INDEPENDENT}.__contains__,
    inspector: arith.CONVERSIONS.__contains__,
    accumulators: {memory.ARRAY_STORE}.__contains__,
    frame: {memory.ARRAY_NEW}.__contains__,
    ranges: lambda op: (op in arith.RANGED or op is memory.CHECK_INDEX or op is arith.IAND
                        or op.bounds and op is not memory.ARRAY_DIM),
    localtables: lambda op: op.name in ("dict_new", "set_new", "dict_ask"),
    reboxing: lambda op: op.name == "list_append",
    reload: {memory.ARRAY_LOAD}.__contains__,
    speculate: lambda op: op.wrapping or op is arith.IAND,
    texts: lambda op: op.name in ("str_char", "str_slice", "str_append", "str_reversed", "text_call", "py_format",
                                  "native_piece"),
    versioning: lambda op: (op.wrapping or op is arith.CHECK_NONNEG or op is memory.CHECK_INDEX or op is arith.ISHL
                            or op is arith.ISHR),
}

# Passes over one function. Each has a reason to run at its place; see their headers.
PASSES: list[Any] = [
    messages, relax, simplify, latches, independent, localtables, gvn, texts, ranges, gvn, reload, dce, parallel,
    elementary, versioning, inspector, flags, speculate, accumulators, unroll, polling, dce, frame, reboxing, refcount,
]
_GIVES = frozenset(("py_unbox", "object_call", "text_call"))  # by name: few programs load them
_FIRST = PASSES[:3]  # after these, `natives` looks at the functions of a module together


def _loops(functions: list[ir.Function], options, check) -> list[ir.Function]:
    """The module with library functions inlined and nests written out: of a function that has no nest, nothing is
    loaded for them."""
    module = inline.run(functions, options)
    if check:
        check(module, "inline")
    if any(inst.op in NESTS for fn in module for block in fn.blocks for inst in block.insts):
        module = nests.run(module, options)
        if check:
            check(module, "nests")
    return module


def run(functions: list[ir.Function], options, body, helpers, check=None) -> list[ir.Function]:
    """Optimise and complete a module (the entry first); returns the functions that are left.
    body: what computes an elementary function, see `elementary.run`; helpers: see `derivatives.make.run`; check: called
    with a list of functions and the name of the pass that left them, or None."""
    if any(request_of(fn) for fn in functions):
        made = derivatives.run(functions, options, helpers)
        if check:
            check(made, "derivatives")
    if options.debug:
        nans.run(functions)
    module = _loops(functions, options, check)
    kept, own = module[:1], {fn: fn for fn in module}
    begun = _begun(kept, own, options, helpers, check) if _makes_lists(module) else ()
    for fn in kept:  # grows: a call in a dead branch needs no callee
        for one in _wanted(fn, len(_FIRST) if fn in begun else 0):
            if one is elementary:
                one.run(fn, body, own)
            else:
                one.run(fn, options)
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        kept += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in kept)
    redo = options.objects and options.overflow == "raise" and not kept[0].library
    if redo or any([_asks(inst) for fn in kept for block in fn.blocks for inst in block.insts]):
        restarts.run(kept, redo)
        if check:
            check(kept, "restarts")
    return kept


def _makes_lists(module: list[ir.Function]) -> bool:
    """Whether there may be native lists. Threads would count references to them without a lock."""
    return not any([fn.flags.parallel for fn in module]) and any(
        [inst.op.name == "list_new" or inst.op.name in _GIVES and type(inst.result.type) in (DefaultDict, Deque, List)
         for fn in module for block in fn.blocks for inst in block.insts])


def _begun(kept, own, options, helpers, check) -> list[ir.Function]:
    """The functions of a module that makes lists, after the first passes and with its native lists."""
    found = kept[:]
    for fn in found:  # grows
        for one in _FIRST:
            one.run(fn, options)
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        found += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in found)
    natives.run(found, helpers, own)
    if check:
        check(found, "natives")
    return found


def run_to_regions(functions: list[ir.Function], options) -> list[ir.Function]:
    """The same as far as parallel loops are regions; for an interpreter of the IR."""
    kept = _loops(functions, options, None)[:1]
    for fn in kept:  # grows
        for one in _wanted(fn):
            if PASSES.index(one) > PASSES.index(parallel):
                break
            one.run(fn, options)
        kept += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in kept)
    return kept


def _asks(inst: ir.Inst) -> bool:
    """Whether a load may find another class than the code was compiled for, in an object that may change."""
    return "restart" in inst.op.attrs and (inst.args[0].inst is None or inst.args[0].inst.op is not CONST)


def _wanted(fn: ir.Function, first: int = 0):
    """The passes, from this one on, that the function has work for when their turn comes."""
    straight = None  # whether the function has no loops, once that is known
    for one in PASSES[first:]:
        if one is parallel and not fn.flags.parallel:
            continue
        if one in _IN_LOOPS:
            if straight is None:
                straight = is_straight(fn)
            if straight:
                if one is polling:
                    fn.flags = fn.flags._replace(skips_loop_passes=True)  # as polling does
                continue
        if one in _LOOK_FOR:
            wanted = any(map(_LOOK_FOR[one], {inst.op for block in fn.blocks for inst in block.insts}))
        elif one is elementary:
            wanted = any(is_ours(inst) for block in fn.blocks for inst in block.insts)
        else:
            wanted = one is not flags or any(p.type is Bool for block in fn.blocks for p in block.params)
        if wanted:
            yield one
            if one is elementary:
                straight = None  # a body may have brought loops; no other pass makes one where there is none


# No copies of loops without checks, which a GPU has none of; no signals, no references.
DEVICE_PASSES: list[Any] = [messages, relax, simplify, latches, independent, gvn, ranges, elementary, simplify, gvn,
                            dce]


def run_device(functions: list[ir.Function], options, body, recursive, check=None) -> list[ir.Function]:
    """The same for a GPU; UnsupportedError for what it cannot do. body: as above, or None where elementary functions
    stay operations; recursive: a module -> the functions in it that call themselves."""
    module = _loops(functions, options, check)
    device.lower(module)
    if check:
        check(module, "device")
    own = {fn: fn for fn in module}
    for fn in module:  # grows
        for one in DEVICE_PASSES:
            if one is not elementary:
                one.run(fn, options)
            elif body is not None:
                one.run(fn, body, own)
                module += [callee for callee in inline.callees(fn) if callee not in module]
            if check:
                check([fn], one.__name__.rpartition(".")[2])
        device.keep_small(fn)
        if check:
            check([fn], "keep_small")
    device.check(module, recursive(module))
    return module
