"""Give the functions that inference asked for (ops/derivative.py) their bodies.

Runs before inlining. The function to be differentiated is copied with all that it calls put into it and its loop nests
written out, and simplified; forward.py or reverse.py makes the derivative of that, which is a typed function like any
other: it is inlined, vectorised and differentiated again by what comes after.
Before:  fn f.gradient(x: float64) -> (float64, (float64,)): unreachable
After:   y = ... ; gx = ... ; return (y, (gx,))
Needs: the functions that are asked for and all that they call, as inference left them.  Keeps: all other functions.
"""
from __future__ import annotations

from typing import Callable

from ...ir.core import RAISES, READS, WRITES, Function, Value
from ...ops.control import INVOKE
from ...ops.derivative import request_of
from ...ops.nest import NESTS
from .. import dce, gvn, inline, latches, messages, nests, ranges, simplify
from ..rewrite import copy_of
from . import forward, reverse
from .activity import Activity, has_rule

__all__ = ["run"]


def run(functions: list[Function], options, helpers: Callable) -> list[Function]:
    """The functions of a module that got a body. helpers: (name of a function of lib/adjoints.py, types) -> typed
    function."""
    done: dict[Function, None] = {}
    for fn in functions:
        _make(fn, options, helpers, done)
    return list(done)


def _make(fn: Function, options, helpers, done) -> None:
    request = request_of(fn)
    if request is None or fn in done:
        return
    done[fn] = None
    primal = _whole(request.primal, options, helpers, done)
    primal.name, primal.result = fn.name, request.primal.result
    varied = [primal.params[k] for k in request.wrt]
    _put_in_calls(primal, varied, options)
    transform = forward.push if request.mode == "push" else reverse.pull
    transform(primal, request, fn, helpers)
    fn.blocks = primal.blocks
    del fn.memo["derivative"]
    tidy(fn, options)


def _whole(fn: Function, options, helpers, done) -> Function:
    """A copy of a function with all that can be put into it."""
    copies: dict[Function, Function] = {}

    def copied(one: Function) -> Function:
        if one not in copies:
            _make(one, options, helpers, done)
            new = copies[one] = copy_of(one)
            new.flags = new.flags._replace(inline=True)
            for block in new.blocks:
                for inst in block.insts:
                    if one is not fn and inst.op.effects & (RAISES | READS | WRITES) and "origin" not in inst.attrs:
                        inst.attrs = {**inst.attrs, "origin": (one.qualname, one.filename)}
                    if inst.op is INVOKE and not inst.attrs["callee"].library:
                        inst.attrs["callee"] = copied(inst.attrs["callee"])
        return copies[one]

    new = copied(fn)
    module = inline.run([new], options)
    if any(inst.op in NESTS for one in module for block in one.blocks for inst in block.insts):
        nests.run(module, options)
    tidy(new, options)
    return new


def _put_in_calls(fn: Function, varied: list[Value], options) -> None:
    """Put in the library functions that stay calls, where something that varies goes through them and they have no rule
    of their own."""
    for _ in range(20):
        active = Activity(fn, varied, check=False)
        wanted = {inst.attrs["callee"] for block in fn.blocks for inst in block.insts
                  if inst.op is INVOKE and not has_rule(inst) and inst.attrs["callee"].library
                  and any(x in active for x in inst.args)}
        wanted = {callee for callee in wanted if callee not in inline.reachable(inline.callees(callee), {})}
        if not wanted:
            return
        for callee in wanted:
            callee.flags = callee.flags._replace(noinline=False)
        inline.run([fn], options)
        tidy(fn, options)


def tidy(fn: Function, options) -> None:
    for one in (messages, simplify, latches, gvn, ranges, gvn, dce, simplify, simplify, latches, dce):
        one.run(fn, options)
