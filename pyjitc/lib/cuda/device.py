"""The library as kernels see it, on any target: without memory on the heap and without BLAS."""
from __future__ import annotations

import numpy as np

from ...infer.meaning import Const, Mismatch
from ...types.kinds import NoneType
from ..intrinsics import warn
from ..py import ranges
from ..table import Library
from .threads import THREADS

__all__ = ["KernelLibrary"]


def _silent(args, kwargs):
    return Const(NoneType, None)


def _no_errstate(args, kwargs):
    raise Mismatch("np.errstate has no meaning in a kernel: floating-point errors are ignored there",
                   "test the result: np.isfinite, np.isnan")


class KernelLibrary(Library):

    def __init__(self):
        super().__init__()
        self.replace({**THREADS, range: ranges.in_kernel, warn: _silent, np.errstate: _no_errstate})
