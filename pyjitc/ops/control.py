"""Terminators and constants, shared by generic and typed IR."""
from ..ir.core import CHEAP, ERRORS, FREE, GENERIC, HOST, PURE, RAISES, READS, TERMINATOR, WRITES, Op, writes
from .effects import NONDIFF, STRUCTURAL, UNVARIED

__all__ = ["CONST", "JUMP", "BRANCH", "SWITCH", "RETURN", "RAISE", "RERAISE", "UNREACHABLE", "INVOKE", "UNBOUND",
           "LOOP_HINTS", "CONTROL_OPS"]

CONST = Op("const", None, PURE, partials=UNVARIED, cost=FREE,
           doc="const {value} -> a compile-time Python value; `UNBOUND` is the unbound local")
# Attributes of the terminators that jump back to the header of a loop: name -> its meaning, and the pass that sets it.
# codegen/function.py makes loop metadata of them for LLVM.
LOOP_HINTS = {
    "novectorize": "LLVM does not vectorise, interleave or unroll the loop: it is the copy that keeps its checks "
                   "(passes/versioning.py), or too short or in need of its order (passes/hints.py)",
    "unroll": "four iterations are written as one; 'branches': those beyond a multiple of four run in a loop of their "
              "own; 'look-ups': eight iterations are written as one (passes/polling.py)",
    "ordered": "floats are summed in order, and the terms are computed in vectors (passes/polling.py)",
    "parallel": "no iteration touches what another writes (passes/polling.py; for loops over the threads of a block "
                "passes/grid.py)",
    "interleave": "the number of vectors in flight in a parallel or a short loop (passes/hints.py)",
    "vectors": "the loop is a straight line of arithmetic on elements, whose copy in vectors computes so many at once "
               "(codegen/wide.py); set where that holds for all loops of the function that LLVM might vectorise "
               "(passes/polling.py)",
    "line": "the loop begins at a line of the cache (passes/polling.py, passes/joined_sums.py)",
    "few_trips": "the loop ends after at most as many trips as a number has bits, so that it need not poll "
                 "(passes/ranges.py)",
}
_UNPOLLED = "{unpolled}: in a function whose loops handle no signals (ir/flags.py)"
_HINTS = "; ".join(f"{{{name}}}: {text}" for name, text in LOOP_HINTS.items())
JUMP = Op("jump", None, TERMINATOR, partials=STRUCTURAL, cost=CHEAP,
          doc="jump -> target. {wait}: the region of a kernel that runs next, after a barrier (passes/grid.py). "
              f"{_UNPOLLED}. Of a jump back in a loop: {_HINTS}")
BRANCH = Op("branch", None, TERMINATOR, partials=STRUCTURAL, cost=CHEAP,
            doc="branch {likely: bool or None} (condition: bool) -> true target, false target. In the header of a loop "
                "{no_poll}: the guard before the nest has found that the loop ends soon enough for signals to wait "
                "(passes/versioning.py); {most_trips: int}: the most trips of the loop; {independent}: 'prange' or "
                "'nest', its iterations do not depend on each other (passes/independent.py); 'kept' or 'adjoint', "
                "it is a loop of the derivative of such a loop (passes/parallel.py). "
                "{alike}: both targets lead to loops that do the same (passes/unboxed.py). "
                f"{_UNPOLLED}. Of a branch back in a loop: {_HINTS}")
SWITCH = Op("switch", None, TERMINATOR, partials=STRUCTURAL,
            doc=f"switch {{cases: tuple of int}} (x: integer) -> default, then one target per case. {_UNPOLLED}",
            cost=CHEAP)
RETURN = Op("return", None, TERMINATOR, partials=STRUCTURAL, doc="return (value)", cost=CHEAP)
RAISE = Op("raise", None, TERMINATOR | RAISES | writes(ERRORS) | HOST | GENERIC, partials=NONDIFF,
           doc="raise (exception or class[, cause]); leaves through unwind; generic only")
RERAISE = Op("reraise", None, TERMINATOR | RAISES | writes(ERRORS) | HOST, partials=NONDIFF,
             doc="reraise ([exception]): raise the exception again with its own traceback and no new context; without "
                 "an operand the handled one")
UNREACHABLE = Op("unreachable", None, TERMINATOR, partials=NONDIFF, cost=CHEAP,
                 doc="unreachable: control never arrives here")
INVOKE = Op("invoke", None, RAISES | READS | WRITES, partials=STRUCTURAL,
            doc="invoke {callee: typed ir.Function} (arguments) -> its result. {chunks}: the first operand is the "
                "number of calls, which run in any order and on several threads, each with its own number as that "
                "operand; the exception of the failed call with the lowest number leaves; the second operand says "
                "whether a call takes some microseconds at most; {unknown}: that is an assumption, which the time of "
                "earlier runs replaces (codegen/pool.py)")

CONTROL_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}


class _Unbound:
    __slots__ = ()

    def __repr__(self):
        return "UNBOUND"


UNBOUND = _Unbound()
