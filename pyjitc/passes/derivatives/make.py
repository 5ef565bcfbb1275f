"""Make the bodies of the derivatives that inference requested (ops/derivative.py).

Runs before inlining. The function to be differentiated is copied, its calls are inlined, and it is simplified;
forward.py or reverse.py makes the derivative of the copy, which is a typed function like any other: later passes inline
and vectorise it, and it can be differentiated again.
Before:  fn f.gradient(x: float64) -> (float64, (float64,)): unreachable
After:   y = ... ; gx = ... ; return (y, (gx,))
Needs: the functions that are asked for and all that they call, as inference left them.  Keeps: all other functions.
"""
from __future__ import annotations

from functools import cache
from typing import Callable

from ...ir.core import Function
from ...ops.derivative import request_of
from .. import inline
from . import forward, reverse, transposed
from .activity import is_known
from .divided import divide
from .prepare import put_in_calls, canonicalise, whole

__all__ = ["run"]


def run(functions: list[Function], options, helpers: Callable) -> list[Function]:
    """Make the bodies, and return the functions of the module that got one. helpers: (name of a function of
    lib/adjoints.py, types) -> typed function."""
    done: dict[Function, None] = {}
    helpers = cache(helpers)
    again = _differentiated_again(functions[0])
    staying: set[Function] = set()  # functions with derivatives of their own, which are inlined afterwards

    def make(fn: Function) -> None:
        request = request_of(fn)
        if request is None or fn in done:
            return
        done[fn] = None
        if fn in again:  # there is no derivative of a schedule, so its memory has no limit
            request = request._replace(memory=0)
        pushes = request.mode == "push"
        body = whole(request.primal, options, make, not pushes, staying, helpers, fn in again)
        body.name, body.result = fn.name, request.primal.result
        if request.memory:
            divide(body, request.wrt, request.memory, helpers, staying)
        put_in_calls(body, [body.params[n] for n in request.wrt], options,
                     lambda nest: pushes or not is_known(nest), not pushes or fn in again)
        (forward.push if pushes else reverse.pull)(body, request, fn, helpers)
        fn.blocks = body.blocks
        fn.flags = fn.flags._replace(parallel=request.primal.flags.parallel)
        fn.memo["tape"] = body.memo.pop("tape", None)
        del fn.memo["derivative"]
        canonicalise(fn, options)
        if not pushes:
            reverse.drop_copies(fn)
            transposed.run(fn)

    reached = functions[:1]
    for fn in reached:  # appended to during the iteration
        make(fn)
        reached += dict.fromkeys(callee for callee in inline.callees(fn) if callee not in reached)
    for fn in staying:
        fn.flags = fn.flags._replace(noinline=False)
    return list(done)


def _differentiated_again(entry: Function) -> set[Function]:
    """The derivatives in a module of which another derivative is made."""
    found: set[Function] = set()
    work = [(entry, False)]
    for fn, inside in work:  # appended to during the iteration
        request = request_of(fn)
        more = [(callee, inside) for callee in inline.callees(fn)]
        if request is not None:
            more.append((request.primal, True))
            found.update([fn] if inside else ())
        work += [one for one in dict.fromkeys(more) if one not in work]
    return found
