"""A function in the form that derivatives are made of: all that it calls put into it, and simplified."""
from __future__ import annotations

from typing import Callable

from ...ir.core import RAISES, READS, WRITES, Function, Value
from ...ops.control import INVOKE
from ...ops.derivative import Ruled
from ...ops.nest import NESTS
from .. import dce, gvn, independent, inline, latches, messages, nests, ranges, simplify
from ..rewrite import copy_of
from .activity import Activity, has_rule

__all__ = ["put_in_calls", "tidy", "whole"]


def whole(fn: Function, options, before: Callable, keeps_nests: bool, staying: set[Function]) -> Function:
    """A copy of a function with all that can be put into it. before: called first with each function that it leads to;
    keeps_nests: whether the nests that reverse mode knows stay; staying: gets the functions that are not put in, since
    they have derivatives of their own."""
    reached = [fn]
    for one in reached:  # grows
        before(one)
        reached += [callee for callee in inline.callees(one) if callee not in reached]
        if type(one.memo.get("rules")) is Ruled and not one.flags.noinline:
            one.flags = one.flags._replace(noinline=True)
            staying.add(one)
    new = copy_of(fn)
    copies: dict[Function, Function] = {}
    while True:
        module = inline.run([new], options)
        found = False
        for one in module:
            for inst in (inst for block in one.blocks for inst in block.insts if inst.op is INVOKE):
                callee = inst.attrs["callee"]
                if not callee.library and callee not in copies.values() and not _calls_itself(callee):
                    if callee not in copies:
                        copies[callee] = _to_be_put_in(callee)
                    inst.attrs["callee"] = copies[callee]
                    found = True
        if not found:
            break
    new.flags = new.flags._replace(parallel=False)  # a derivative keeps values in the order of trips, and adds up
    independent.run(new)
    for one in module:
        for inst in (inst for block in one.blocks for inst in block.insts if inst.op in NESTS):
            inst.attrs = {name: x for name, x in inst.attrs.items() if name != "beside"}  # two products have no rule
    if not keeps_nests and any(inst.op in NESTS for one in module for block in one.blocks for inst in block.insts):
        nests.run(module, options)
    tidy(new, options)
    return new


def _to_be_put_in(fn: Function) -> Function:
    """A copy that is inlined; what may fail in it keeps its place."""
    new = copy_of(fn)
    new.flags = new.flags._replace(inline=True)
    for block in new.blocks:
        for inst in block.insts:
            if inst.op.effects & (RAISES | READS | WRITES) and "origin" not in inst.attrs:
                inst.attrs = {**inst.attrs, "origin": (fn.qualname, fn.filename)}
    return new


def _reached(fn: Function) -> list[Function]:
    found = [fn]
    for one in found:  # grows
        found += [callee for callee in inline.callees(one) if callee not in found]
    return found


def _calls_itself(fn: Function) -> bool:
    return any(fn in inline.callees(one) for one in _reached(fn))


def put_in_calls(fn: Function, varied: list[Value], options, written_out: Callable) -> None:
    """Put in the library functions that stay calls, where something that varies goes through them and they have no rule
    of their own. written_out: which nests do not stay."""
    for _ in range(20):
        if any(inst.op in NESTS and written_out(inst) for block in fn.blocks for inst in block.insts):
            nests.write_out(fn, written_out)
            tidy(fn, options)
        active = Activity(fn, varied, check=False)
        wanted = {inst.attrs["callee"] for block in fn.blocks for inst in block.insts
                  if inst.op is INVOKE and not has_rule(inst) and inst.attrs["callee"].library
                  and any(x in active for x in inst.args)}
        wanted = {callee for callee in wanted if not _calls_itself(callee)}
        if not wanted:
            return
        for callee in wanted:
            callee.flags = callee.flags._replace(noinline=False)
        inline.run([fn], options)
        tidy(fn, options)


def tidy(fn: Function, options) -> None:
    for one in (messages, simplify, latches, gvn, ranges, gvn, dce, simplify, simplify, latches, dce):
        one.run(fn, options)
