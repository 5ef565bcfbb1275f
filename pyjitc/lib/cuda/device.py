"""The library as kernels see it, on any target: without memory on the heap and without BLAS."""
from __future__ import annotations

import numpy as np

from ...infer.meaning import Mismatch
from ..rule import NONE, rule
from ..intrinsics import warn
from ..py import ranges
from ..table import Library
from .threads import THREADS

__all__ = ["KernelLibrary"]


@rule("warn")
def _silent(message, cls=None):
    return NONE


@rule("np.errstate")
def _no_errstate(**options):
    raise Mismatch("np.errstate has no meaning in a kernel: floating-point errors are ignored there",
                   "test the result: np.isfinite, np.isnan")


class KernelLibrary(Library):

    def __init__(self):
        super().__init__()
        self.replace({**THREADS, range: ranges.in_kernel, warn: _silent, np.errstate: _no_errstate})
