"""Terminators and constants, shared by generic and typed IR."""
from ..ir.core import CHEAP, ERRORS, FREE, GENERIC, HOST, PURE, RAISES, READS, TERMINATOR, WRITES, Op, writes
from .effects import NONDIFF, STRUCTURAL, UNVARIED

__all__ = ["CONST", "JUMP", "BRANCH", "SWITCH", "RETURN", "RAISE", "RERAISE", "UNREACHABLE", "INVOKE", "UNBOUND",
           "CONTROL_OPS"]

CONST = Op("const", None, PURE, partials=UNVARIED, cost=FREE,
           doc="const {value} -> a compile-time Python value; `UNBOUND` is the unbound local")
JUMP = Op("jump", None, TERMINATOR, partials=STRUCTURAL, cost=CHEAP,
          doc="jump -> target. Of a way back in a loop: {slow_loop}: LLVM need not vectorise it; {unroll}, "
              "{unroll_full}: it is to be unrolled; {parallel}: no iteration touches what another writes; "
              "{interleave}: vectors at once; {wait}: passes/grid.py; {brief}: the loop ends after few trips")
BRANCH = Op("branch", None, TERMINATOR, partials=STRUCTURAL, cost=CHEAP,
            doc="branch {likely: bool or None} (condition: bool) -> true target, false target. {row}: of a loop that "
                "the guard before its nest found short; of a way back: {slow_loop}, {unroll}, {unroll_full}, "
                "{parallel}, {interleave}, {brief}")
SWITCH = Op("switch", None, TERMINATOR, partials=STRUCTURAL,
            doc="switch {cases: tuple of int} (x: integer) -> default, then one target per case", cost=CHEAP)
RETURN = Op("return", None, TERMINATOR, partials=STRUCTURAL, doc="return (value)", cost=CHEAP)
RAISE = Op("raise", None, TERMINATOR | RAISES | writes(ERRORS) | HOST | GENERIC, partials=NONDIFF,
           doc="raise (exception or class[, cause]); leaves through unwind; generic only")
RERAISE = Op("reraise", None, TERMINATOR | RAISES | writes(ERRORS) | HOST, partials=NONDIFF,
             doc="reraise ([exception]): raise it again with its own traceback, no new context; without operand the "
                 "handled one")
UNREACHABLE = Op("unreachable", None, TERMINATOR, partials=NONDIFF, cost=CHEAP,
                 doc="unreachable: control never arrives")
INVOKE = Op("invoke", None, RAISES | READS | WRITES, partials=STRUCTURAL,
            doc="invoke {callee: typed ir.Function} (arguments) -> its result")

CONTROL_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}


class _Unbound:
    __slots__ = ()

    def __repr__(self):
        return "UNBOUND"


UNBOUND = _Unbound()
