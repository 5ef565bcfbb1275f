"""Drop the checks that options turn off.

boundscheck=False keeps the meaning of negative indices and assumes that all indices are in range; overflow='wrap' makes
64-bit ints wrap, as well as NumPy integers that are stored in arrays of shorter ones;
error_model='numpy' lets Python numbers be divided by zero.
Before:  y = iadd_ck x, c          After:  y = iadd x, c
Needs: nothing.  Keeps: everything else. Does nothing with the default options.
"""
from __future__ import annotations

from ..ir import core as ir
from ..ops.arith import CAST, CHECK_NONZERO, FIT
from ..ops.memory import CHECK_INDEX
from ..ops.structure import RETYPE
from .rewrite import drop_check

__all__ = ["run"]


def run(fn: ir.Function, options) -> None:
    wrap, unchecked = options.overflow == "wrap", not options.boundscheck
    divides = options.error_model == "numpy"
    for block in fn.blocks:
        for inst in block.insts:
            if wrap and inst.op.wrapping is not None:
                drop_check(inst)
            elif wrap and inst.op is FIT:
                inst.op, inst.attrs = CAST, {"type": inst.result.type}
                inst.unwind = None
            elif divides and inst.op is CHECK_NONZERO:
                inst.op, inst.attrs = RETYPE, {"type": inst.result.type}
                inst.unwind = None
            elif unchecked and inst.op is CHECK_INDEX:
                inst.attrs = {**inst.attrs, "unchecked": True}
                inst.unwind = None
