"""Products of arrays: matmul, dot, vdot, inner, outer, tensordot, kron, cross, trace.

Products of floats and complex numbers call BLAS where it can read the arrays (contiguous rows or columns); others are
copied first. Small products, integers, booleans and half floats are loops over packed panels.
"""
from __future__ import annotations

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Call, CallValue, Const, Expr, Mismatch, NotNative, Nest, Throw
from ....ops.arith import IADD, IMUL, ISHR
from ....ops.blas import BLAS, BLAS_THREADS
from ....ops.math import MULADD
from ....ops.memory import ADD_ROWS, ARRAY_DATA, ARRAY_LOAD, ARRAY_STORE, DOT, POLL, ROWS, SMALL_PRODUCT
from ....runtime import blas
from ....types import kinds as k
from ....types.kinds import Array, DType, NoneType, is_number
from ....types.lattice import dtype_of, numpy_counterpart, promote
from ...build import batched, convert, derivatives, outlined, a_type, unoptimised
from ...rule import NONE, methods, rule
from ...intrinsics import store_all, strided
from ..shapes import views
from ..elementwise.loops import in_order
from ..shapes.views import shape_text

__all__ = ["CALLS", "METHODS", "again", "as_array", "retyped"]

elementwise, folds = lazy("pyjitc.lib.np.elementwise.elementwise"), lazy("pyjitc.lib.np.reductions.folds")

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


# -- np.matmul

_SIGNATURE = "with signature (n?,k),(k,m?)->(n?,m?)"


def check_inner(a, b):
    if a.shape[-1] != b.shape[0 if b.ndim == 1 else -2]:
        raise ValueError("matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                         f"(n?,k),(k,m?)->(n?,m?) (size {b.shape[0 if b.ndim == 1 else -2]} is different from "
                         f"{a.shape[-1]})")


def matvec_shape(a, x):
    check_inner(a, x)
    return a.shape


def rows_by_vector(a, x):
    y = np.empty(a.shape[0], a.dtype)
    matvec(y, strided(a), strided(x))
    return y


def vecmat_shape(x, a):
    check_inner(x, a)
    return a.shape


def vector_by_rows(column, a):
    y = np.empty(a.shape[1], a.dtype)
    matvec(y, strided(a).T, strided(column)[:, 0])
    return y


def both_products(a, right, column, mode, sure, ready):
    """Two products of one matrix, which is read from memory once: the second product of some rows follows the first
    while these rows are in the cache.

    mode 0: (a @ right, left @ a), where left is the only column of `column`. 1: (a @ right, (a @ right) @ a); `column`
    is not used. 2: as 0, but the second product is computed only if `sure`. 3: the second product, for the place in the
    program where it is needed after a call with mode 2: `ready` if `sure`, else it is computed now."""
    a, x = strided(a), strided(right)
    m, n = a.shape
    if mode == 3:
        if sure:
            return ready, ready
        z = np.empty(n, a.dtype)
        matvec(z, a.T, strided(column)[:, 0])
        return z, z
    y = np.empty(m, a.dtype)
    z = np.empty(n, a.dtype)
    if mode == 1:
        matvec_pair(y, z, a, x, x, True)
    elif mode == 0 or sure:
        matvec_pair(y, z, a, x, strided(column)[:, 0], False)
    else:
        matvec(y, a, x)
    return y, z


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


def times(x, y):
    return x * y


def matmul(a, b):
    check_inner(a, b)
    if a.ndim == 1 and b.ndim == 1:
        return vector_dot(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        if b.ndim == 1:
            y = np.empty(a.shape[0], a.dtype)
            matvec(y, a, b)
            return y
        if a.ndim == 1:
            y = np.empty(b.shape[1], a.dtype)
            matvec(y, b.T, a)
            return y
        c = np.empty((a.shape[0], b.shape[1]), a.dtype)
        matmat(c, a, b)
        return c
    if a.ndim == 1:
        c = np.empty(b.shape[:-2] + (b.shape[-1],), a.dtype)
        stacked(c[..., None, :], a[None, :], b)
    elif b.ndim == 1:
        c = np.empty(a.shape[:-1], a.dtype)
        stacked(c[..., None], a, b[:, None])
    else:
        c = np.empty(stack_shape(a.shape, b.shape, max(a.ndim, b.ndim) - 1) + (a.shape[-2], b.shape[-1]), a.dtype)
        stacked(c, a, b)
    return c


def all_rows(a, b):
    """A stack in C order times one matrix: one product with all rows of the stack."""
    rows = views.view_as(a, (views.product(a.shape[:-1], 0, 1), a.shape[-1]))
    return views.view_as(np.matmul(rows, b), a.shape[:-1] + (b.shape[1],))


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


def axis_length(shape, back):
    """The length of the axis `back` positions before the last; 1 where there is no such axis."""
    return shape[len(shape) - 1 - back] if back < len(shape) else 1


def stack_shape(a, b, back):
    """The broadcast shape of the leading axes of two stacks."""
    if back < 2:
        return ()
    n, m = axis_length(a, back), axis_length(b, back)
    if n != m and n != 1 and m != 1:
        raise ValueError("operands could not be broadcast together with remapped shapes [original->remapped]: "
                         f"{shape_text(a)}->({stack_text(a, 0)}newaxis,newaxis) "
                         f"{shape_text(b)}->({stack_text(b, 0)}newaxis,newaxis)  and requested shape ({a[-2]},{b[-1]})")
    return (m if n == 1 else n,) + stack_shape(a, b, back - 1)


def stack_text(shape, k):
    return "" if k >= len(shape) - 2 else f"{shape[k]},{stack_text(shape, k + 1)}"


def matmul_into(out, a, b):
    """np.matmul(a, b, out)"""
    check_inner(a, b)
    check_out(out, a, b)
    store_all(out, matmul(a, b))
    return out


def check_out(out, a, b):
    if a.ndim > 1 and out.shape[-2 if b.ndim > 1 else -1] != a.shape[-2]:
        wrong_core(0, out.shape[-2 if b.ndim > 1 else -1], a.shape[-2])
    if b.ndim > 1 and out.shape[-1] != b.shape[-1]:
        wrong_core(1 if a.ndim > 1 else 0, out.shape[-1], b.shape[-1])


def wrong_core(axis, n, wanted):
    raise ValueError(f"matmul: Output operand 0 has a mismatch in its core dimension {axis}, with gufunc signature "
                     f"(n?,k),(k,m?)->(n?,m?) (size {n} is different from {wanted})")


def of_type(a: Expr, t) -> Expr:
    """The array as an operand of a product: its elements converted to type t and aligned, with any layout."""
    if a.type.dtype is not t or not a.type.aligned:
        a = Call(converted, a, Const(DType(t), dtype_of(t)))
        return Call(forgotten, a)
    return views.strided(a)


def converted(a, t):
    fresh = np.empty(a.shape, t)
    store_all(fresh, a)
    return fresh


def forgotten(a):
    return strided(a)


def as_array(name: str, x: Expr) -> Expr:
    """The operand of a product; raises Mismatch where it is no array."""
    if isinstance(x.type, Array):
        return x
    raise NotNative(f"np.{name} of {a_type(x.type)} is not compiled", "pass arrays")


def retyped(*args: Expr):
    """The operands converted to their common element type."""
    t = args[0].type.dtype
    for x in args[1:]:
        t = promote(t, x.type.dtype)
    return [of_type(x, t) for x in args]


@rule("np.matmul")
def _matmul(x1, x2, /, out=None, **options):
    if options or any(isinstance(x.type, (k.Tuple, k.Struct)) for x in (x1, x2)):
        return again(np.matmul, x1, x2, out, options)
    return product(x1, x2, out)


def product(a, b, out=None, inplace=False):
    """The expression of a @ b, or of a @= b."""
    for n, x in enumerate((a, b)):
        if is_number(x.type) or as_array("matmul", x).type.ndim == 0:
            return Throw(ValueError,
                         f"matmul: Input operand {n} does not have enough dimensions (has 0, gufunc core {_SIGNATURE} "
                         "requires 1)")
    if out is None and a.type.ndim > 2 and b.type.ndim == 2 and a.type.layout == "C":
        return Call(all_rows, a, b)
    operands = retyped(a, b)
    if (out is None and a.type.ndim == 2 and b.type.ndim == 1 and a.type.dtype is b.type.dtype
        and a.type.dtype in (k.float32, k.float64)):
        return Nest(folds.dotted_rows, [Call(matvec_shape, a, b)], times, [], [a, b], ndim=2, dtype=a.type.dtype,
                    kept=0, instead=rows_by_vector)
    if (out is None and a.type.ndim == 1 and b.type.ndim == 2 and a.type.dtype is b.type.dtype
        and a.type.dtype in (k.float32, k.float64)):
        column = views.view(a, [Const(k.Slice(NoneType, NoneType, NoneType), slice(None)), Const(NoneType, None)],
                            False)
        return Nest(folds.dotted_columns, [Call(vecmat_shape, a, b)], times, [], [column, b], ndim=2,
                    dtype=a.type.dtype, kept=1, instead=vector_by_rows, beside=both_products)
    if out is None:
        return Call(matmul, *operands)
    if not isinstance(out.type, Array):
        raise Mismatch("return arrays must be of ArrayType")
    if inplace and (a.type.ndim == 0 or b.type.ndim < 2):
        return Throw(ValueError,
                     "inplace matrix multiplication requires the first operand to have at least one and the second at "
                     "least two dimensions.")
    t, into = dtype_of(promote(a.type.dtype, b.type.dtype)), dtype_of(out.type.dtype)
    if not np.can_cast(t, into, "same_kind"):
        raise Mismatch(f"Cannot cast ufunc 'matmul' output from {t!r} to {into!r} with casting rule 'same_kind'")
    if not out.type.writable:
        return Throw(ValueError, "output array is read-only")
    return Call(matmul_into, out, *operands)


def operator(args, inplace):
    """The rule of the operator @."""
    return product(*args, args[0] if inplace else None, inplace)


# -- np.dot

def check_aligned(a, b):
    k = 0 if b.ndim == 1 else b.ndim - 2
    if a.shape[-1] != b.shape[k]:
        raise ValueError(f"shapes {shape_text(a.shape)} and {shape_text(b.shape)} not aligned: "
                         f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[k]} (dim {k})")


def dot(a, b):
    check_aligned(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b)
    c = np.empty(a.shape[:-1] + dot_tail(b.shape), a.dtype)
    dot_rows(c, a, b)
    return c


def dot_tail(shape):
    return () if len(shape) == 1 else shape[:-2] + (shape[-1],)


def dot_rows(c, a, b):
    if b.ndim == 1:
        if a.ndim == 2:
            matvec(c, a, b)
        else:
            for i in range(len(a)):
                dot_rows(c[i], a[i], b)
    elif a.ndim > 1:
        for i in range(len(a)):
            dot_rows(c[i], a[i], b)
    elif b.ndim == 2:
        matvec(c, b.T, a)
    else:
        for i in range(len(b)):
            dot_rows(c[i], a, b[i])


def dot_into(out, a, b):
    result = dot(a, b)
    if not (out.size == 0 or has_rows(out, out.ndim - 1, out.itemsize)):
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be "
                         "a C-Array)")
    if out.shape != result.shape:
        raise ValueError("output array has wrong dimensions")
    store_all(out, result)
    return out


def has_rows(a, axis, step):
    """Whether the axes of an array from the first to `axis` are in C order. step: the stride that `axis` must have."""
    if axis < 0:
        return True
    if a.shape[axis] != 1 and a.strides[axis] != step:
        return False
    return has_rows(a, axis - 1, step * a.shape[axis])


@rule("np.dot")
def _dot(a, b, out=None):
    return dot_product(a, b, out)


def dot_product(a, b, out=None):
    """The expression of np.dot(a, b, out)."""
    for x in (a, b):
        if not isinstance(x.type, Array) and not is_number(x.type):
            raise NotNative(f"np.dot of {a_type(x.type)} is not compiled", "pass arrays")
    scalar = not all(isinstance(x.type, Array) and x.type.ndim for x in (a, b))
    if scalar:
        if out is not None:
            raise NotNative("np.dot of a number with out= is not compiled", "multiply")
        # NumPy converts numbers to arrays first, so Python numbers are not weak here.
        a, b = (elementwise.item(convert(x, numpy_counterpart(x.type)) if is_number(x.type) else x) for x in (a, b))
        return (elementwise.ufunc(np.multiply, [a, b]) if any(isinstance(x.type, Array) for x in (a, b))
                else Call(product_of, a, b))
    operands = retyped(a, b)
    if out is None:
        return Call(dot, *operands)
    t = promote(a.type.dtype, b.type.dtype)
    ndim = a.type.ndim + b.type.ndim - 2
    if not isinstance(out.type, Array):
        raise Mismatch("'out' must be an array")
    if out.type.dtype is not t or out.type.ndim != ndim or ndim == 0:
        return Throw(ValueError, "output array is not acceptable (must have the right datatype, number of dimensions, "
                                 "and be a C-Array)")
    if not out.type.writable:
        return Throw(ValueError, "output array is read-only")
    return Call(dot_into, out, *operands)


def product_of(a, b):
    return a * b


def with_keywords(function, x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, subok=True):
    """The rule of a product with keyword arguments of ufuncs."""
    a, b = as_operand(x1, dtype, casting), as_operand(x2, dtype, casting)
    if out is None:
        return in_order(function(a, b), order)
    np.copyto(out, function(a, b))
    return out


def as_operand(x, dtype, casting):
    x = x if isinstance(x, np.ndarray) else np.asarray(x)
    return x if dtype is None else x.astype(dtype, casting=casting)


def again(function, x1, x2, out, options):
    """The call of a product whose operands must be converted to arrays, or which has keyword arguments of ufuncs."""
    return CallValue(elementwise.constant_of(with_keywords), elementwise.constant_of(function), x1, x2, out or NONE,
                     keywords=options)


CALLS = {np.matmul: _matmul, np.dot: _dot}
METHODS = methods(dot=_dot)

