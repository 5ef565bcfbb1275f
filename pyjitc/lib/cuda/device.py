"""The library as kernels see it, without memory on the heap and without BLAS; and as a GPU sees it: elementary
functions are single operations there, in the precision of their operands.

For the CPU they are already written out as code that vectorises, and float32 in double; what they become on a GPU is
decided later, by what else is asked for (`fastmath`, libdevice).
"""
from __future__ import annotations

import numpy as np

from ...infer.meaning import Apply, Const, Mismatch
from ...ops import math as m
from ...types.kinds import NoneType, NpFloat
from ..intrinsics import warn
from ..py import ranges
from ..table import Library
from .threads import THREADS

__all__ = ["DeviceLibrary", "KernelLibrary"]


_OPS = {np.exp: m.EXP, np.exp2: m.EXP2, np.expm1: m.EXPM1, np.log: m.LOG, np.log2: m.LOG2, np.log10: m.LOG10,
        np.log1p: m.LOG1P, np.sin: m.SIN, np.cos: m.COS, np.tan: m.TAN, np.arcsin: m.ASIN, np.arccos: m.ACOS,
        np.arctan: m.ATAN, np.sinh: m.SINH, np.cosh: m.COSH, np.tanh: m.TANH, np.arcsinh: m.ASINH, np.arccosh: m.ACOSH,
        np.arctanh: m.ATANH, np.cbrt: m.CBRT, np.sqrt: m.SQRT, np.arctan2: m.ATAN2, np.hypot: m.HYPOT, np.power: m.POW,
        np.float_power: m.POW}


def _direct(op, usual):
    def rule(args, kwargs):
        t = args[0].type if args else None
        if not kwargs and isinstance(t, NpFloat) and all(x.type is t for x in args):
            return Apply(op, *args)
        return usual(args, kwargs)

    return rule


def _silent(args, kwargs):
    return Const(NoneType, None)


def _no_errstate(args, kwargs):
    raise Mismatch("np.errstate has no meaning in a kernel: floating-point errors are ignored there",
                   "test the result: np.isfinite, np.isnan")


class KernelLibrary(Library):
    """For kernels on any target."""

    def __init__(self):
        super().__init__()
        self.replace({**THREADS, range: ranges.in_kernel, warn: _silent, np.errstate: _no_errstate})


class DeviceLibrary(KernelLibrary):
    def __init__(self):
        super().__init__()
        self.replace({function: _direct(op, self.rule_for(function)) for function, op in _OPS.items()})
