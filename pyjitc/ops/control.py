"""Terminators and constants, shared by generic and typed IR."""
from ..ir.core import GENERIC, HOST, PURE, RAISES, READS, TERMINATOR, WRITES, Op

__all__ = ["CONST", "JUMP", "BRANCH", "SWITCH", "RETURN", "RAISE", "RERAISE", "UNREACHABLE", "INVOKE", "UNBOUND", "CONTROL_OPS"]

CONST = Op("const", None, PURE, doc="const {value} -> a compile-time Python value; `UNBOUND` is the unbound local")
JUMP = Op("jump", None, TERMINATOR, doc="jump -> target")
BRANCH = Op("branch", None, TERMINATOR, doc="branch (condition: bool) -> true target, false target")
SWITCH = Op("switch", None, TERMINATOR, doc="switch {cases: tuple of int} (x: integer) -> default, then one target per case")
RETURN = Op("return", None, TERMINATOR, doc="return (value)")
RAISE = Op("raise", None, TERMINATOR | RAISES | WRITES | HOST | GENERIC,
           doc="raise (exception or class[, cause]); leaves through unwind; generic only")
RERAISE = Op("reraise", None, TERMINATOR | RAISES | WRITES | HOST,
             doc="reraise ([exception]): raise it again with its own traceback, no new context; without operand the handled one")
UNREACHABLE = Op("unreachable", None, TERMINATOR, doc="unreachable: control never arrives")
INVOKE = Op("invoke", None, RAISES | READS | WRITES, doc="invoke {callee: typed ir.Function} (arguments) -> its result")

CONTROL_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}


class _Unbound:
    __slots__ = ()

    def __repr__(self):
        return "UNBOUND"


UNBOUND = _Unbound()
