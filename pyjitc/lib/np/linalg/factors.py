"""Factorisations of matrices by loops, for an installation without LAPACK. A matrix is stored by its columns: m[j, i]
is the element in row i and column j."""
from __future__ import annotations

import numpy as np

from ...build import outlined

__all__ = ["own_lu", "own_solve", "own_cholesky"]


@outlined
def own_lu(lu, pivots):
    """Gaussian elimination with partial pivoting; returns the 1-based column of the first zero pivot, or 0. Golub and
    Van Loan, Matrix Computations, 3.4."""
    n = len(lu)
    info = 0
    for p in range(n):
        best = p
        for i in range(p + 1, n):
            if np.abs(lu[p, i]) > np.abs(lu[p, best]):
                best = i
        pivots[p] = best + 1
        if lu[p, best] == 0:
            if info == 0:
                info = p + 1
        else:
            if best != p:
                for j in range(n):
                    x = lu[j, p]
                    lu[j, p] = lu[j, best]
                    lu[j, best] = x
            for i in range(p + 1, n):
                lu[p, i] /= lu[p, p]
            for j in range(p + 1, n):
                x = lu[j, p]
                for i in range(p + 1, n):
                    lu[j, i] -= lu[p, i] * x
    return info


@outlined
def own_solve(lu, pivots, rhs):
    """Solve for the right-hand sides (rows of rhs), in place, by the factors."""
    n = len(lu)
    for c in range(len(rhs)):
        for p in range(n):
            at = int(pivots[p]) - 1
            x = rhs[c, at]
            rhs[c, at] = rhs[c, p]
            rhs[c, p] = x
        for p in range(n):
            x = rhs[c, p]
            for i in range(p + 1, n):
                rhs[c, i] -= lu[p, i] * x
        for p in range(n - 1, -1, -1):
            rhs[c, p] /= lu[p, p]
            x = rhs[c, p]
            for i in range(p):
                rhs[c, i] -= lu[p, i] * x


@outlined
def own_cholesky(work, upper):
    """Compute the lower Cholesky factor in place; returns 1 where the matrix is not positive definite."""
    n = len(work)
    if upper:  # the matrix is given by its upper triangle
        for i in range(n):
            for j in range(i):
                work[j, i] = np.conj(work[i, j])
    for j in range(n):
        for p in range(j):
            x = np.conj(work[p, j])
            for i in range(j, n):
                work[j, i] -= work[p, i] * x
        size = work[j, j].real
        if not size > 0:
            return 1
        size = np.sqrt(size)
        for i in range(j, n):
            work[j, i] /= size
    if upper:
        for i in range(n):
            for j in range(i):
                work[i, j] = np.conj(work[j, i])
    return 0
