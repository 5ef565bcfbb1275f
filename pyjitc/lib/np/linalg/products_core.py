"""Products of two vectors, of a matrix and a vector, of two matrices, and of stacks of matrices, and their derivatives.

Products of floats and complex numbers call BLAS where it can read the arrays (contiguous rows or columns); others are
copied first. Small products, integers, booleans and half floats are loops over packed panels.
"""
from __future__ import annotations

import numpy as np

from ....ops.arith import IADD, IMUL, ISHR
from ....ops.blas import BLAS, BLAS_THREADS
from ....ops.math import MULADD
from ....ops.memory import ADD_ROWS, ARRAY_DATA, ARRAY_LOAD, ARRAY_STORE, DOT, POLL, ROWS, SMALL_PRODUCT
from ....runtime import blas
from ...build import batched, derivatives, outlined, unoptimised
from ...intrinsics import store_all, strided
from ..shapes import views

FOUND = blas.found("dgemm")
AT_ONCE = 1 << 19  # bytes of the rows of a matrix that two products read, one after the other
FEW = 8  # the most rows of a matrix whose product with a LARGE one is a loop of our own
LARGE, MANY = 1 << 21, 256  # bytes and rows of that matrix: BLAS copies it, and it does not stay in the nearer caches
PART = 2048  # bytes of each of ROWS rows of that matrix that stay in the nearest cache
BLOCK = 256  # rows of it that are added up before they are added to the result, for a smaller rounding error
LONG = 10000  # elements of vectors from which on BLAS may use several threads
SMALL = 250 if FOUND else 2000  # multiplications up to which loops are faster than BLAS, or than packed panels
SOME = 32  # small products between two polls for signals: their matrices stay in the nearest cache
PANEL = 128  # rows and columns of the packed part of the second matrix


def worked(count):
    """Let Python handle signals now and then, in loops over products, too: functions of BLAS and LAPACK, which do not,
    make about this many multiplications."""
    POLL(ISHR(count, 3))


# -- two vectors

def plain_dot(a, b, n):
    total = a.dtype.type(0)
    for i in range(n):
        total = total + ARRAY_LOAD(a, i) * ARRAY_LOAD(b, i)
    return total


def in_vectors(a):
    """Whether there are operations on vectors of such elements: float32 and float64."""
    return a.dtype.kind == "f" and a.dtype.itemsize > 2


def side_by_side(a):
    return a.strides[0] == a.itemsize


def vector_dot(a, b):
    if in_vectors(a):
        if FOUND and len(a) >= LONG:
            return long_dot(a, b)
        return DOT(a, b)
    return other_dot(a, b)


@unoptimised
def long_dot(a, b):
    worked(len(a))
    if a.strides[0] > 0 and b.strides[0] > 0 and a.strides[0] % a.itemsize == 0 and b.strides[0] % b.itemsize == 0:
        return BLAS(len(a), a, a.strides[0] // a.itemsize, b, b.strides[0] // a.itemsize, name="dot", result="number",
                    writes="none")
    return DOT(a, b)


@outlined
def other_dot(a, b):
    n = len(a)
    if a.dtype == np.bool_:
        for i in range(n):
            if a[i] and b[i]:
                return np.True_
        return np.False_
    elif a.dtype == np.float16:
        total = np.float32(0)
        for i in range(n):
            total += np.float32(a[i]) * np.float32(b[i])
        return np.float16(total)
    elif FOUND and a.dtype.kind == "c":
        if n >= 64 and side_by_side(a) and side_by_side(b):
            # a product with a matrix of one row: BLAS functions with complex results have no common calling convention
            y = np.empty(1, a.dtype)
            BLAS(True, n, 1, 1.0, a, n, b, 1, 0.0, y, 1, name="gemv", writes="last")
            return y[0]
        return plain_dot(a, b, n)
    else:
        return plain_dot(a, b, n)


def dot_tangent(a, b, a_t, b_t):
    if a_t is None:
        return vector_dot(a, b_t)
    if b_t is None:
        return vector_dot(a_t, b)
    return vector_dot(a_t, b) + vector_dot(a, b_t)


def dot_adjoint(a, b, a_, b_, g):
    if a_ is not None:
        add_multiple(a_, conjugated(b), g)
    if b_ is not None:
        add_multiple(b_, conjugated(a), g)


def conjugated(x):
    """The complex conjugate: what an adjoint is multiplied with."""
    return np.conj(x) if x.dtype.kind == "c" else x


def add_multiple(y, x, factor):
    """y += factor * x"""
    for i in range(len(y)):
        ARRAY_STORE(y, i, ARRAY_LOAD(y, i) + factor * ARRAY_LOAD(x, i))


def add_multiples(y, x, factor):
    """add_multiple for a batch; some x or factors may be the same for all examples."""
    y += x * (factor[:, np.newaxis] if isinstance(factor, np.ndarray) else factor)


batched(add_multiple, add_multiples)
derivatives(long_dot, dot_tangent, dot_adjoint, "a b", of_complex=True)
derivatives(other_dot, dot_tangent, dot_adjoint, "a b", of_complex=True)


# -- matrix and vector

def blas_rows(a):
    """Whether BLAS can read the matrix by rows: the elements of a row are contiguous, and rows do not overlap."""
    return (a.strides[1] == a.itemsize or a.shape[1] == 1) and a.strides[0] >= a.itemsize * a.shape[1] and \
        a.strides[0] % a.itemsize == 0 and a.strides[0] > 0


@unoptimised
def packed(a):
    """A copy in C order."""
    fresh = np.empty(a.shape, a.dtype)
    for i in range(a.shape[0]):
        if a.ndim == 1:
            ARRAY_STORE(fresh, i, ARRAY_LOAD(a, i))
        else:
            for j in range(a.shape[1]):
                ARRAY_STORE(fresh, i, j, ARRAY_LOAD(a, i, j))
    return strided(fresh)


def lead(stride, itemsize, least):
    return max(stride // itemsize, least, 1)


def plain_matvec(y, a, x):
    for i in range(len(y)):
        y[i] = vector_dot(a[i], x)


def short_matvec(y, a, x):
    for i in range(len(y)):
        total = y.dtype.type(0)
        for j in range(len(x)):
            total = total + ARRAY_LOAD(a, i, j) * ARRAY_LOAD(x, j)
        ARRAY_STORE(y, i, total)


@outlined
def matvec(y, a, x):
    """y[:] = a @ x; y shares no memory with a and x."""
    m, n = a.shape
    if FOUND and a.dtype.kind in "fc" and a.dtype != np.float16:
        if m * n < 64 or not (y.strides[0] > 0 and y.strides[0] % y.itemsize == 0):
            short_matvec(y, a, x)
        else:
            if not (x.strides[0] > 0 and x.strides[0] % x.itemsize == 0):
                x = packed(x)
            rows = blas_rows(a)
            if not rows and not blas_rows(a.T):
                a = packed(a)
                rows = True
            worked(IMUL(m, n))
            BLAS(rows, n if rows else m, m if rows else n, 1.0,
                 a, lead(a.strides[0], a.itemsize, n) if rows else lead(a.strides[1], a.itemsize, m),
                 x, x.strides[0] // x.itemsize, 0.0, y, y.strides[0] // y.itemsize, name="gemv",
                 writes="last")
    else:
        plain_matvec(y, a, x)


def matvec_tangent(y, a, x, y_t, a_t, x_t):
    if a_t is None:
        matvec(y_t, a, x_t)
    elif x_t is None:
        matvec(y_t, a_t, x)
    else:
        matvec(y_t, a_t, x)
        other = np.empty(len(y), y.dtype)
        matvec(strided(other), a, x_t)
        y_t += other


def matvec_adjoint(y, a, x, y_, a_, x_, g):
    if a_ is not None:
        for i in range(a.shape[0]):
            add_multiple(a_[i], conjugated(x), ARRAY_LOAD(y_, i))
    if x_ is not None:
        part = np.empty(len(x), y.dtype)
        matvec(strided(part), strided(conjugated(a.T)), y_)
        x_ += part
    y_[...] = 0


derivatives(matvec, matvec_tangent, matvec_adjoint, "a x", "y", True)


@outlined
def matvec_pair(y, z, a, x, left, chained):
    m, n = a.shape
    at_once = AT_ONCE // (n * a.itemsize + 1)
    if (at_once == 0 or IMUL(m, n) < 4096 or not blas_rows(a) or x.strides[0] <= 0 or not chained
        and left.strides[0] <= 0):
        matvec(y, a, x)
        if chained:
            matvec(z, a.T, strided(y))
        else:
            matvec(z, a.T, left)
    else:
        for first in range(0, m, at_once):
            last = min(first + at_once, m)
            part, sums = a[first:last], y[first:last]
            matvec(sums, part, x)
            if chained:
                add_rows(z, part, sums, first)
            else:
                add_rows(z, part, left[first:last], first)


def add_rows(z, part, terms, first):
    BLAS(False, part.shape[1], part.shape[0], 1.0, part, lead(part.strides[0], part.itemsize, part.shape[1]),
         terms, terms.strides[0] // terms.itemsize, part.dtype.type(0.0 if first == 0 else 1.0), z, 1, name="gemv")


# -- two matrices

def accumulate(total, x, y):
    if isinstance(x, np.bool_):
        return total | (x & y)
    if isinstance(x, (np.float64, np.float32)):
        return MULADD(x, y, total)  # BLAS adds short rows in the same way, to the last bit
    return total + x * y


def is_small(c, a):
    """Whether the product c of two matrices, of which `a` is the first, has at most SMALL multiplications."""
    return IMUL(IMUL(c.shape[-2], c.shape[-1]), a.shape[-1]) <= SMALL


def small(c, a, b):
    """c[...] = a @ b for small matrices."""
    if in_vectors(a) and b.strides[1] == b.itemsize:
        SMALL_PRODUCT(c, a, b, 0, 1)
    else:
        plain_small(c, a, b)


def plain_small(c, a, b):
    m, n = c.shape
    inner = a.shape[1]
    for i in range(m):
        for j in range(n):
            total = c.dtype.type(0)
            for p in range(min(inner, SMALL)):  # a loop that is known to be short needs no poll for signals
                total = accumulate(total, ARRAY_LOAD(a, i, p), ARRAY_LOAD(b, p, j))
            ARRAY_STORE(c, i, j, total)


def panels(c, a, b):
    """The product by panels: those of b are packed, and a row of c is accumulated in a buffer, so that the inner loop
    is vectorised."""
    m, n = c.shape
    inner = a.shape[1]
    packed = np.empty((PANEL, PANEL), c.dtype)
    row = np.empty(PANEL, c.dtype)
    for j0 in range(0, n, PANEL):
        nj = min(PANEL, n - j0)
        for p0 in range(0, inner, PANEL):
            np_ = min(PANEL, inner - p0)
            for p in range(np_):
                for j in range(nj):
                    ARRAY_STORE(packed, p, j, ARRAY_LOAD(b, IADD(p0, p), IADD(j0, j)))
            for i in range(m):
                if p0 == 0:
                    for j in range(nj):
                        ARRAY_STORE(row, j, c.dtype.type(0))
                else:
                    for j in range(nj):
                        ARRAY_STORE(row, j, ARRAY_LOAD(c, i, IADD(j0, j)))
                for p in range(np_):
                    x = ARRAY_LOAD(a, i, IADD(p0, p))
                    for j in range(nj):
                        ARRAY_STORE(row, j, accumulate(ARRAY_LOAD(row, j), x, ARRAY_LOAD(packed, p, j)))
                for j in range(nj):
                    ARRAY_STORE(c, i, IADD(j0, j), ARRAY_LOAD(row, j))


@outlined
def own_matmat(c, a, b):
    inner = a.shape[1]
    if inner == 0:
        views.fill(c, c.dtype.type(0))
    elif is_small(c, a):
        small(c, a, b)
    else:
        panels(c, a, b)


def few_rows(c, a, b):
    """The product of a few rows and a matrix whose rows are contiguous. The matrix is read once, in order; ROWS rows of
    it are added up for two results at a time, while the rows behind them are loaded."""
    m, n = c.shape
    inner = a.shape[1]
    whole = inner - inner % ROWS
    part = PART // c.itemsize
    sums = np.zeros(c.shape, c.dtype)
    views.fill(c, c.dtype.type(0))
    for p in range(0, whole, ROWS):
        for j in range(0, n, part):
            for i in range(0, m - 1, 2):
                ADD_ROWS(sums, a, b, i, p, j, min(part, n - j), count=2)
            if m % 2 == 1:
                ADD_ROWS(sums, a, b, m - 1, p, j, min(part, n - j), count=1)
        if (p + ROWS) % BLOCK == 0 or p + ROWS == whole:
            c += sums
            views.fill(sums, c.dtype.type(0))
    for p in range(whole, inner):
        for i in range(m):
            x = ARRAY_LOAD(a, i, p)
            for j in range(n):
                ARRAY_STORE(c, i, j, MULADD(ARRAY_LOAD(b, p, j), x, ARRAY_LOAD(c, i, j)))


@outlined
def matmat(c, a, b):
    """c[...] = a @ b; c is in C order and shares no memory with a and b."""
    m, n = c.shape
    inner = a.shape[1]
    if a.dtype == np.float16:
        wide = np.empty(c.shape, np.float32)
        own_matmat(wide, as_single(a), as_single(b))
        store_all(c, wide)
    elif FOUND and a.dtype.kind in "fc":
        if is_small(c, a):
            small(c, a, b)
        else:
            worked(IMUL(IMUL(m, n), inner))
            same = (ARRAY_DATA(a) == ARRAY_DATA(b) and a.strides[0] == b.strides[1] and a.strides[1] == b.strides[0]
                    and m == n)
            rows_a = blas_rows(a)
            if not rows_a and not blas_rows(a.T):
                a = packed(a)
                rows_a = True
            if same:  # a matrix times its own transpose: the result is symmetric to the last bit, as in NumPy
                BLAS(rows_a, m, inner, 1.0, a, lead(a.strides[0], a.itemsize, inner) if rows_a
                     else lead(a.strides[1], a.itemsize, m),
                     0.0, c, n, name="syrk", letters="U", writes="last")
                mirror(c)
                return
            rows_b = blas_rows(b)
            if (a.dtype.kind == "f" and rows_b and 1 < m <= FEW and inner >= MANY
                    and IMUL(inner, n) * b.itemsize >= LARGE and BLAS_THREADS() <= 2):
                few_rows(c, a, b)
                return
            if not rows_b and not blas_rows(b.T):
                b = packed(b)
                rows_b = True
            # the columns of the transposed product are the rows of the result
            BLAS(not rows_b, not rows_a, n, m, inner, 1.0,
                 b, lead(b.strides[0], b.itemsize, n) if rows_b else lead(b.strides[1], b.itemsize, inner),
                 a, lead(a.strides[0], a.itemsize, inner) if rows_a else lead(a.strides[1], a.itemsize, m),
                 0.0, c, n, name="gemm", writes="last")
    else:
        own_matmat(c, a, b)


def matmat_of_batch(c, a, b):
    """The products of a batch in which at least one of the two matrices differs between examples. If all examples share
    the right matrix, one product computes them all."""
    if b.ndim == 2:
        matmat(c.reshape((-1, c.shape[2])), strided(a.reshape((-1, a.shape[2]))), b)
    else:
        products(c, a, b)


batched(matmat, matmat_of_batch)


def product_tangent(product, c, a, b, c_t, a_t, b_t):
    if a_t is None:
        product(c_t, a, b_t)
    elif b_t is None:
        product(c_t, a_t, b)
    else:
        product(c_t, a_t, b)
        other = np.empty(c.shape, c.dtype)
        product(other, a, b_t)
        c_t += other


def matmat_tangent(c, a, b, c_t, a_t, b_t):
    product_tangent(matmat, c, a, b, c_t, a_t, b_t)


def matmat_adjoint(c, a, b, c_, a_, b_, g):
    if a_ is not None:
        part = np.empty(a.shape, c.dtype)
        matmat(part, strided(c_), strided(conjugated(b.T)))
        a_ += part
    if b_ is not None:
        part = np.empty(b.shape, c.dtype)
        matmat(part, strided(conjugated(a.T)), strided(c_))
        b_ += part
    c_[...] = 0


derivatives(matmat, matmat_tangent, matmat_adjoint, "a b", "c", True)
derivatives(own_matmat, matmat_tangent, matmat_adjoint, "a b", "c", True)


@unoptimised
def mirror(c):
    """Copy the triangle that BLAS has computed to the other one."""
    for i in range(len(c)):
        for j in range(i):
            ARRAY_STORE(c, j, i, ARRAY_LOAD(c, i, j))


def as_single(a):
    wide = np.empty(a.shape, np.float32)
    store_all(wide, a)
    return strided(wide)


# -- stacks of matrices

@outlined
def stacked(c, a, b):
    """c[...] = a @ b over the leading axes, which are broadcast."""
    products(c, a, b)


def products(c, a, b):
    if in_vectors(a) and c.shape[-2] > 1 and c.shape[-1] > 1 and is_small(c, a):
        side_by_side = b.strides[-1] == b.itemsize
        copies = np.empty((0 if side_by_side else SOME, b.shape[-2], b.shape[-1]), b.dtype)
        small_products(c, a, b, side_by_side, copies)
    else:
        each_product(c, a, b)


def small_products(c, a, b, side_by_side, copies):
    """side_by_side: whether the elements of a row of b are, else they are copied first."""
    if c.ndim == 2:
        small(c, a, b)
    elif c.ndim == 3:
        for first in range(0, len(c), SOME):
            count = min(SOME, len(c) - first)
            if side_by_side:
                SMALL_PRODUCT(c, a, b, first, count)
            else:
                for i in range(count):
                    copies[i] = part(b, 3, first + i)
                SMALL_PRODUCT(c[first:], a if a.ndim == 2 or len(a) == 1 else a[first:], copies, 0, count)
    else:
        for i in range(len(c)):
            small_products(c[i], part(a, c.ndim, i), part(b, c.ndim, i), side_by_side, copies)


def each_product(c, a, b):
    if c.ndim == 2:
        if c.shape[1] == 1:
            matvec(c[:, 0], a, b[:, 0])
        elif c.shape[0] == 1:
            matvec(c[0], b.T, a[0])
        else:
            matmat(c, a, b)
    else:
        for i in range(len(c)):
            each_product(c[i], part(a, c.ndim, i), part(b, c.ndim, i))


def stacked_tangent(c, a, b, c_t, a_t, b_t):
    product_tangent(stacked, c, a, b, c_t, a_t, b_t)


def stacked_adjoint(c, a, b, c_, a_, b_, g):
    add_products(c_, a, b, a_, b_)
    c_[...] = 0


def add_products(c_, a, b, a_, b_):
    """Add the adjoints of each product to those of its two matrices, which may belong to several products."""
    if c_.ndim == 2:
        if a_ is not None:
            add_product(a_, c_, conjugated(b.T))
        if b_ is not None:
            add_product(b_, conjugated(a.T), c_)
    else:
        for i in range(len(c_)):
            if a_ is None:
                add_products(c_[i], part(a, c_.ndim, i), part(b, c_.ndim, i), None, part(b_, c_.ndim, i))
            elif b_ is None:
                add_products(c_[i], part(a, c_.ndim, i), part(b, c_.ndim, i), part(a_, c_.ndim, i), None)
            else:
                add_products(c_[i], part(a, c_.ndim, i), part(b, c_.ndim, i), part(a_, c_.ndim, i),
                             part(b_, c_.ndim, i))


def add_product(total, x, y):
    found = np.empty(total.shape, total.dtype)
    each_product(found, strided(x), strided(y))
    total += found


derivatives(stacked, stacked_tangent, stacked_adjoint, "a b", "c", True)


def part(a, ndim, i):
    if a.ndim < ndim:
        return a
    return a[0 if len(a) == 1 else i]
