"""Decide which of a program's functions LLVM inlines, so that the size of a module is proportional to the program's.

A function of a few instructions is always inlined, and so is a larger one that the program marks with
`inline="always"`, as long as all copies of it are not too many instructions. Its callees may be as small, and their
callees too, so the size of a function includes the callees that are inlined into it; if it has become large in this way
it is not inlined. For all other functions LLVM decides, unless there are so many calls that the copies would be most of
the module, or the calls take no time beside the function: it is large, or the calls are not in loops. LLVM inlines what
is called once after it has optimised it, and optimises it a second time.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ir.cfg import LoopNest, postorder
from ..ops.control import INVOKE
from .module import SMALL

__all__ = ["callees", "callees_first", "decide", "is_outlined"]

GROWN = 240  # the most instructions of an inlined function, including those of its inlined callees
COPIES = 4000  # instructions of all copies of one larger function, for all of its calls
ASKED = 1200  # instructions of all copies of a function that the program marks with inline="always"
ONCE = 60  # the most instructions of a function that LLVM may inline where no call of it is in a loop
LEAST = 40  # instructions of the smallest library function that is an image of its own (library.py)


def is_outlined(fn: ir.Function) -> bool:
    """Whether a function is a library function that stays a call, and is large enough for an image of its own."""
    return (fn.library and fn.flags.noinline and not (fn.flags.optnone or fn.flags.parallel)
            and sum(len(block.insts) for block in fn.blocks) >= LEAST)


def decide(functions: list[ir.Function], small: float = SMALL, grown: int = GROWN, copies: float = COPIES) -> None:
    """Set the flag `llvm_inline` of the functions. For recursive ones LLVM decides."""
    sites = {fn: callees(fn) for fn in functions}
    total: dict[ir.Function, int] = {}
    for found in sites.values():
        for callee, count in found.items():
            total[callee] = total.get(callee, 0) + count
    order = callees_first(functions, sites)
    size = {fn: sum(len(block.insts) for block in fn.blocks) for fn in functions}
    asked = any(max(small, ONCE) < size[fn] <= grown for fn in functions if fn in total)
    repeated = {callee for fn in functions if asked and sites[fn] for callee in _in_loops(fn)}
    for fn in reversed(order):  # callers first
        if fn in repeated:
            repeated.update(sites[fn])
    weight: dict[ir.Function, int] = {}
    for fn in order:
        own = size[fn]
        weight[fn] = own + sum(count * weight[callee] for callee, count in sites[fn].items()
                               if callee in weight and callee.flags.llvm_inline == "always")
        way = ""
        if fn.flags.asks_inline and weight[fn] * total.get(fn, 0) <= ASKED:
            way = "always"
        elif own <= small:
            way = "always" if weight[fn] <= grown else "never"
        elif own * total.get(fn, 0) > copies or fn in total and (own > grown or own > ONCE and fn not in repeated):
            way = "never"
        fn.flags = fn.flags._replace(llvm_inline="" if fn.flags.recursive else way)


def callees(fn: ir.Function) -> dict[ir.Function, int]:
    """The functions that a function calls, each with the number of its calls."""
    found: dict[ir.Function, int] = {}
    for block in fn.blocks:
        for inst in block.insts:
            if inst.op is INVOKE:
                callee = inst.attrs["callee"]
                found[callee] = found.get(callee, 0) + 1
    return found


def _in_loops(fn: ir.Function) -> set[ir.Function]:
    """The functions that a function may call in a loop."""
    nest = LoopNest(fn)
    return {inst.attrs["callee"] for block in (fn.blocks if nest.irreducible else nest.of) for inst in block.insts
            if inst.op is INVOKE}


def callees_first(functions, sites) -> list[ir.Function]:
    """The functions in an order in which each stands behind those that it calls. sites: the result of `callees` for
    each."""
    order: list[ir.Function] = []
    seen: set[ir.Function] = set()
    for root in functions:
        if root not in seen:
            order += postorder(root, lambda fn: [callee for callee in sites[fn] if callee in sites], seen)
    return order
