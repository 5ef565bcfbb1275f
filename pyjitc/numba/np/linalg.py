"""numba.np.linalg: the function of LAPACK that packages take from there to solve a system of equations in place."""
from __future__ import annotations

import numpy as np

from ...lib.py.foreign import farray
from ..absent import module_attribute
from ..extending import register_jitable
from ..types import as_dtype

__all__ = ["LAPACK"]


class LAPACK:
    """The class that numba.np.linalg calls `_LAPACK`."""

    def numba_xgesv(self, dtype):
        """A function of the kind of the numbers, n, how many right sides there are, and the matrices A and B with their
        first strides, in the order of Fortran. The function replaces B by the solution of A X = B, and keeps A and the
        pivots as they are. The result is 0, or 1 where A is singular."""
        number = as_dtype(dtype).type

        @register_jitable
        def gesv(kind, n, sides, a, stride_a, pivots, b, stride_b):
            matrix, right = farray(a, (n, n), number), farray(b, (n, sides), number)
            try:
                right[:, :] = np.linalg.solve(matrix, right)
            except np.linalg.LinAlgError:
                return 1
            return 0

        return gesv


_LAPACK = LAPACK
__getattr__ = module_attribute("np.linalg")
