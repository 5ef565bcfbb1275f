"""np.matmul, the operator @ and np.dot: their rules, shapes and errors.

How arrays of one and two dimensions, and stacks of them, are multiplied is in products_core.py; products by other names
(np.inner, np.einsum, np.linalg.outer) are in tensors.py and vectors.py.
"""
from __future__ import annotations

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Call, CallValue, Const, Expr, Mismatch, NotNative, Nest, Throw
from ....types import kinds as k
from ....types.kinds import Array, DType, NoneType, is_number
from ....types.lattice import dtype_of, numpy_counterpart, promote
from ...build import a_type, convert
from ...rule import NONE, methods, rule
from ...intrinsics import store_all, strided
from ..shapes import views
from ..elementwise.loops import in_order
from ..shapes.views import shape_text
from .products_core import matmat, matvec, matvec_pair, stacked, vector_dot

__all__ = ["CALLS", "METHODS", "again", "as_array", "retyped"]

elementwise, folds = lazy("pyjitc.lib.np.elementwise.elementwise"), lazy("pyjitc.lib.np.reductions.folds")

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

