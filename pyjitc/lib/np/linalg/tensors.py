"""Contractions: einsum, tensordot, inner, outer, vdot, kron, cross, trace.

A contraction of two arrays becomes a stack of matrix products: views sort the axes into those of the stack, of the
rows, of the columns and those that are summed; the copies that make them contiguous cost less than the product.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, NotConstant, NotNative, Throw
from ....ops.arith import IADD, IMUL
from ....ops.memory import ARRAY_DIM, ARRAY_STRIDE, ARRAY_VIEW
from ....ops.structure import TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Array, DType
from ....types.lattice import dtype_of, promote
from ...build import NUMPY, compiled, outlined
from ...rule import ArrayLike, Constant, NONE, methods, rule
from ...intrinsics import store_all, strided
from ..elementwise import elementwise
from ...py import conversions
from .products import as_array, converted, dot, dot_product, matmul, of_type, retyped
from ..reductions.reductions import put_out
from ..shapes.views import ONE, ZERO, item_bits, shape_text

__all__ = ["CALLS", "METHODS"]


# -- views by labels

class Part:
    """An operand with a label for each axis. `x` may be a Call, which has no type yet, so its type is stored too."""

    def __init__(self, x: Expr, t, labels: str, dims=None):
        self.x, self.type, self.labels = x, t, labels
        self.dims = dims or {c: Apply(ARRAY_DIM, x, axis=n) for n, c in enumerate(labels)}

    def step(self, c):
        """The stride of the axis with label c (of the diagonal, where c occurs twice)."""
        total = None
        for n, other in enumerate(self.labels):
            if other == c:
                stride = Apply(ARRAY_STRIDE, self.x, axis=n)
                total = stride if total is None else Apply(IADD, total, stride)
        return total

    def view(self, labels: str):
        """The view with the axes in the order of `labels`."""
        if labels == self.labels:
            return self
        t = Array(self.type.dtype, len(labels), "A", self.type.writable, self.type.aligned)
        x = Apply(ARRAY_VIEW, self.x, ZERO, *(self.dims[c] for c in labels), *(self.step(c) for c in labels), type=t)
        return Part(x, t, labels, {c: self.dims[c] for c in labels})


def _size(dims):
    total = ONE
    for n in dims:
        total = n if total is ONE else Apply(IMUL, total, n)
    return total


def _contiguous(x: Expr, t, dims) -> Expr:
    """A contiguous array with another shape of the same number of elements."""
    step, strides = Const(k.Int, item_bits(t) // 8), []
    for n in reversed(dims):
        strides.insert(0, step)
        step = Apply(IMUL, step, n)
    return Apply(ARRAY_VIEW, x, ZERO, *dims, *strides, type=Array(t, len(dims)))


def flat(x: Expr) -> Expr:
    """The elements of a contiguous array as a vector."""
    return _contiguous(x, x.type.dtype, [_size([Apply(ARRAY_DIM, x, axis=i) for i in range(x.type.ndim)])])


def copied(a):
    fresh = np.empty(a.shape, a.dtype)
    store_all(fresh, a)
    return fresh


def product3(a, b):
    return matmul(strided(a), strided(b))


def _stacked(part: Part, groups) -> Expr:
    """The operand with one axis for each group of labels."""
    t = part.type.dtype
    if all(len(g) <= 1 for g in groups):
        view = part.view("".join(groups))
        return Apply(ARRAY_VIEW, view.x, ZERO, *(view.dims[g] if g else ONE for g in groups),
                     *(view.step(g) if g else ZERO for g in groups),
                     type=Array(t, len(groups), "A", False, part.type.aligned))
    view = part.view("".join(groups))
    return _contiguous(Call(copied, view.x), t, [_size(view.dims[c] for c in g) for g in groups])


def _pair(a: Part, b: Part, kept: str) -> Part:
    """The contraction of two operands to the labels in `kept`."""
    both = [c for c in dict.fromkeys(a.labels) if c in b.labels]
    stack = "".join(c for c in both if c in kept)
    summed = "".join(c for c in both if c not in kept)
    a, b = _reduced(a, kept + summed), _reduced(b, kept + summed)
    rows = "".join(c for c in a.labels if c not in both)
    columns = "".join(c for c in b.labels if c not in both)
    left, right = _stacked(a, (stack, rows, summed)), _stacked(b, (stack, summed, columns))
    labels = stack + rows + columns
    dims = {c: a.dims.get(c) or b.dims[c] for c in labels}
    found = Call(product3, left, right)
    t = a.type.dtype
    return Part(_contiguous(found, t, [dims[c] for c in labels]), Array(t, len(labels)), labels, dims)


def _reduced(part: Part, kept: str) -> Part:
    """The part, summed over the labels that are not in `kept`; repeated labels become diagonals."""
    distinct = "".join(dict.fromkeys(part.labels))
    part = part.view(distinct)
    rest = "".join(c for c in distinct if c in kept)
    if rest == distinct:
        return part
    gone = tuple(n for n, c in enumerate(distinct) if c not in kept)
    t = part.type.dtype
    found = Call(summed_over, part.x, Const(k.Tuple((k.Int,) * len(gone)), gone), Const(DType(t), dtype_of(t)))
    return Part(found, Array(t, len(rest)), rest, {c: part.dims[c] for c in rest})


def summed_over(a, axes, t):
    if len(axes) == a.ndim:
        return np.full((), np.any(a) if t == np.bool_ else np.sum(a, dtype=t))
    if t == np.bool_:
        return np.any(a, axis=axes)
    return np.sum(a, axis=axes, dtype=t)


def contract(parts, output: str) -> Part:
    if len(parts) == 1:
        found = _reduced(parts[0], output)
        return found.view(output)
    found = parts[0]
    for n, part in enumerate(parts[1:], 1):
        later = output + "".join(p.labels for p in parts[n + 1:])
        found = _pair(found, part, "".join(dict.fromkeys(later)))
    return found


# -- einsum

def _parse(text: str, ndims):
    """(labels of each operand, labels of the result). Source: numpy.einsum's documentation."""
    text = text.replace(" ", "")
    if any(not (c.isalpha() and c.isascii()) and c not in ",->" for c in text.replace("...", "")):
        bad = next(c for c in text.replace("...", "") if not c.isalpha() and c not in ",->")
        raise Mismatch(f"invalid subscript '{bad}' in einstein sum subscripts string, subscripts must be letters",
                       exception=ValueError)
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ndims):
        raise Mismatch("more operands provided to einstein sum function than specified in the subscripts string"
                       if len(ndims) < len(inputs)
                       else "fewer operands provided to einstein sum function than specified in the subscripts string",
                       exception=ValueError)
    inputs, more = zip(*(_named(n, labels, ndim) for n, (labels, ndim) in enumerate(zip(inputs, ndims))))
    more = max(more, key=len)  # labels of the axes that '...' stands for
    if not arrow:
        named = left.replace("...", "").replace(",", "")
        output = more + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    elif "..." in output:
        output = output.replace("...", more)
    elif more:
        raise Mismatch("output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                       "provided to broadcast the extra dimensions.", exception=ValueError)
    for c in output:
        if not any(c in labels for labels in inputs):
            raise Mismatch(f"einstein sum subscripts string included output subscript '{c}' which never appeared in "
                           f"an input",
                           exception=ValueError)
        if output.count(c) > 1:
            raise Mismatch(f"einstein sum subscripts string includes output subscript '{c}' multiple times",
                           exception=ValueError)
    return inputs, output


_UNNAMED = "".join(map(chr, range(0x100, 0x140)))  # labels of the axes that '...' stands for, the last axis first


def _named(n, labels, ndim):
    """(the labels of an operand, one for each axis; the labels of the axes that its '...' stands for)"""
    first, dots, last = labels.partition("...")
    count = ndim - len(first) - len(last)
    if count < 0:
        raise Mismatch(f"einstein sum subscripts string contains too many subscripts for operand {n}",
                       exception=ValueError)
    if count and not dots:
        raise Mismatch("operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                       "provided to broadcast the extra dimensions.", exception=ValueError)
    more = _UNNAMED[:count][::-1]
    return first + more + last, more


def common_length(lengths, shapes, places):
    """The common length of the axes with one label; axes of length 1 are broadcast."""
    n = 1
    for i in range(len(lengths)):
        if lengths[i] != 1:
            if n != 1 and lengths[i] != n:
                cannot_broadcast(shapes, places)
            n = lengths[i]
    return n


@outlined
def cannot_broadcast(shapes, places):
    raise ValueError(f"operands could not be broadcast together with remapped shapes [original->remapped]: "
                     f"{remapped(shapes, places, 0)}")


def remapped(shapes, places, i):
    if i == len(shapes):
        return ""
    return f"{shape_text(shapes[i])}->({lengths_text(shapes[i], places[i], 0, '')}) {remapped(shapes, places, i + 1)}"


def lengths_text(shape, places, j, before):
    """The lengths in the order of all labels, as text; leading new axes are not shown."""
    if j == len(places):
        return ""
    if places[j] < 0:
        return (lengths_text(shape, places, j + 1, before) if before == ""
                else f"{before}newaxis{lengths_text(shape, places, j + 1, ',')}")
    return f"{before}{shape[places[j]]}{lengths_text(shape, places, j + 1, ',')}"


def stretched(n, stride):
    return 0 if n == 1 else stride


def diagonal_lengths(x, lengths, operand, c):
    for i in range(1, len(lengths)):
        if lengths[i] != lengths[0]:
            raise ValueError(f"dimensions in operand {operand} for collapsing index '{c}' don't match ({lengths[0]} "
                             f"!= {lengths[i]})")
    return x


def _tuple(parts):
    return Apply(TUPLE_MAKE, *parts, cls=None)


def _checked(operands, inputs, output):
    """The operands after checks of their lengths; axes with the same label then have one length."""
    order = output + "".join(sorted(set("".join(inputs)) - set(output)))
    places = tuple(tuple(labels.find(c) for c in order) for labels in inputs)
    shapes = _tuple([_tuple([Apply(ARRAY_DIM, x, axis=i) for i in range(x.type.ndim)]) for x in operands])
    found, common = [], {}
    for c in order:
        lengths = [Apply(ARRAY_DIM, x, axis=labels.index(c)) for x, labels in zip(operands, inputs) if c in labels]
        if len(lengths) > 1:
            common[c] = Call(common_length, _tuple(lengths), shapes,
                             Const(k.Tuple(tuple(k.Tuple((k.Int,) * len(order)) for _ in places)), places))
    for n, (x, labels) in enumerate(zip(operands, inputs)):
        t = x.type
        for c in dict.fromkeys(labels):
            lengths = [Apply(ARRAY_DIM, x, axis=i) for i, other in enumerate(labels) if other == c]
            if len(lengths) > 1:
                x = Call(diagonal_lengths, x, _tuple(lengths), Const(k.Int, n), Const(k.Str, c))
        if any(c in common for c in labels):
            own = [Apply(ARRAY_DIM, x, axis=i) for i in range(len(labels))]
            steps = [Apply(ARRAY_STRIDE, x, axis=i) for i in range(len(labels))]
            t = Array(t.dtype, t.ndim, "A", False, t.aligned)
            x = Apply(ARRAY_VIEW, x, ZERO, *(common.get(c, size) for c, size in zip(labels, own)),
                      *(Call(stretched, size, step) if c in common else step
                        for c, size, step in zip(labels, own, steps)), type=t)
        found.append(Part(x, t, labels))
    return found


def _finished(part: Part, output: str, view: bool) -> Expr:
    moved = part.view(output)
    if not output:
        return Call(item_of, moved.x)
    return moved.x if view or part.labels == output else Call(copied, moved.x)


def item_of(x):
    return x[()]


@rule("np.einsum")
def _einsum(*operands, out=None, optimize=False, **kwargs):
    if not operands or operands[0].type is not k.Str or not operands[0].known:
        raise NotNative("einsum takes its subscripts as a constant string", "write np.einsum('ij,jk->ik', a, b)")
    for key in kwargs:
        raise NotNative(f"einsum with {key}= is not compiled yet")
    subscripts, *operands = operands
    if any(not isinstance(x.type, Array) for x in operands):
        return CallValue(elementwise.constant_of(np.einsum), subscripts, *(
            x if isinstance(x.type, Array) else CallValue(elementwise.constant_of(np.asarray), x) for x in operands),
            keywords={"out": out or NONE})
    if not operands:
        return Throw(ValueError, "must specify the einstein sum subscripts string and at least one operand, or at "
                                 "least one operand and its corresponding subscripts list")
    inputs, output = _parse(subscripts.value, [x.type.ndim for x in operands])
    t = operands[0].type.dtype
    for x in operands[1:]:
        t = promote(t, x.type.dtype)
    if out is None:
        return _sum_of_products(operands, inputs, output, t)
    out = as_array("einsum", out)
    if out.type.ndim != len(output):
        return Throw(ValueError, f"out parameter does not have the correct number of dimensions, has {out.type.ndim} "
                                 f"but should have {len(output)}")
    if not np.can_cast(dtype_of(t), dtype_of(out.type.dtype), "safe"):
        raise Mismatch(f"Iterator requested dtype could not be cast from {dtype_of(t)!r} to "
                       f"{dtype_of(out.type.dtype)!r}, the operand {len(operands)} dtype, according to the rule 'safe'")
    return Call(put_out, _sum_of_products(operands, inputs, output, t), out)


def _sum_of_products(operands, inputs, output, t):
    parts = _checked(operands, inputs, output)
    if len(parts) == 1:
        if set(inputs[0]) == set(output):
            return _finished(parts[0], output, True)
        return _finished(_reduced(parts[0], output), output, False)
    return _finished(contract([_same_type(part, t) for part in parts], output), output, False)


def _same_type(part: Part, t) -> Part:
    if part.type.dtype is t and part.type.aligned:
        return part
    x = Call(converted, part.x, Const(DType(t), dtype_of(t)))
    return Part(x, Array(t, part.type.ndim), part.labels, part.dims)


# -- tensordot and functions that it implements

_LABELS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def check_tensordot(x, first, second):
    for i in range(len(first)):
        if first[i] != second[i]:
            raise ValueError("shape-mismatch for sum")
    return x


def _constant_axes(axes: Expr, a: Expr):
    if not axes.known:
        raise NotConstant("the axes of tensordot must be known at compile time",
                          "write tuples of constants, as in axes=((1,), (0,))")
    value = axes.value
    if isinstance(value, (int, np.integer)):
        return list(range(a.type.ndim - value, a.type.ndim)), list(range(value))
    first, second = ([x] if isinstance(x, (int, np.integer)) else list(x) for x in value)
    return first, second


@rule("np.tensordot")
def _tensordot(a, b, axes=2):
    a, b = as_array("tensordot", a), as_array("tensordot", b)
    first, second = _constant_axes(axes, a)
    if (len(first) != len(second)
        or any(not -x.type.ndim <= n < x.type.ndim for x, part in ((a, first), (b, second)) for n in part)):
        if len(first) == len(second):
            return Throw(IndexError, "tuple index out of range")
        return Throw(ValueError, "shape-mismatch for sum")
    first, second = [n % a.type.ndim for n in first], [n % b.type.ndim for n in second]
    left = list(_LABELS[:a.type.ndim])
    right = list(_LABELS[26:26 + b.type.ndim])
    for n, m in zip(first, second):
        right[m] = left[n]
    output = "".join([c for n, c in enumerate(left) if n not in first]
                     + [c for n, c in enumerate(right) if n not in second])
    t = promote(a.type.dtype, b.type.dtype)
    parts = [_same_type(Part(x, x.type, "".join(labels)), t) for x, labels in ((a, left), (b, right))]
    parts[0].x = Call(check_tensordot, parts[0].x, _tuple([Apply(ARRAY_DIM, a, axis=n) for n in first]),
                      _tuple([Apply(ARRAY_DIM, b, axis=n) for n in second]))
    return _pair(*parts, output).view(output).x


def check_inner(a, b):
    if a.shape[-1] != b.shape[-1]:
        turned = np.swapaxes(b, -1, -2) if b.ndim > 1 else b  # NumPy multiplies by this matrix
        raise ValueError(f"shapes {shape_text(a.shape)} and {shape_text(turned.shape)} not aligned: "
                         f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[-1]} (dim {max(b.ndim - 2, 0)})")


def inner(a, b):
    check_inner(a, b)
    return dot(a, b.T)


def inner_of_many(a, b):
    check_inner(a, b)
    return np.tensordot(a, b, axes=(-1, -1))


@rule("np.inner")
def _inner(a: ArrayLike, b: ArrayLike, /):
    if a.type.ndim == 0 or b.type.ndim == 0:
        return dot_product(a, b)
    if b.type.ndim > 2:
        return Call(inner_of_many, a, b)
    return Call(inner, *retyped(a, b))


def _vector(x: Expr, t) -> Expr:
    """The elements of an array as a vector of type t."""
    if x.type.ndim == 1:
        return of_type(x, t)
    fresh = Call(converted, x, Const(DType(t), dtype_of(t)))
    n = _size([Apply(ARRAY_DIM, x, axis=i) for i in range(x.type.ndim)])
    return Call(strided_of, _contiguous(fresh, t, [n]))


def strided_of(a):
    return strided(a)


def vdot(a, b):
    if len(a) != len(b):
        raise ValueError(f"cannot reshape array of size {len(b)} into shape ({len(a)},)")
    if a.dtype.kind == "c":
        return dot(strided(np.conj(a)), b)
    return dot(a, b)


@rule("np.vdot")
def _vdot(a: ArrayLike, b: ArrayLike, /):
    t = promote(a.type.dtype, b.type.dtype)
    return Call(vdot, _vector(a, t), _vector(b, t))


def outer_product(a, b):
    return np.multiply(a[:, None], b[None, :])


def outer_into(a, b, out):
    return np.multiply(a[:, None], b[None, :], out=out)


@rule("np.outer")
def _outer(a: ArrayLike, b: ArrayLike, out=None):
    vectors = [_vector(a, a.type.dtype), _vector(b, b.type.dtype)]
    if out:
        return Call(outer_into, *vectors, out)
    return Call(outer_product, *vectors)


# -- kron, cross, trace

THREE_ONLY = NUMPY >= (2, 5)  # before, np.cross accepted vectors of two components


def kron_product(a, b):
    return np.multiply(a, b)


@rule("np.kron")
def _kron(a: ArrayLike, b: ArrayLike):
    ndim = max(a.type.ndim, b.type.ndim)
    spread, dims = [], []
    for x, second in ((a, False), (b, True)):
        missing = ndim - x.type.ndim
        shape, strides = [], []
        for n in range(ndim):
            own = (ONE, ZERO) if n < missing else (Apply(ARRAY_DIM, x, axis=n - missing),
                                                   Apply(ARRAY_STRIDE, x, axis=n - missing))
            for size, stride in ((ONE, ZERO), own) if second else (own, (ONE, ZERO)):
                shape.append(size)
                strides.append(stride)
            dims.append(own[0])
        spread.append(Apply(ARRAY_VIEW, x, ZERO, *shape, *strides,
                            type=Array(x.type.dtype, 2 * ndim, "A", False, x.type.aligned)))
    t = promote(a.type.dtype, b.type.dtype)
    if ndim == 0:
        return elementwise.ufunc(np.multiply, [a, b])
    return _contiguous(Call(kron_product, *spread), t, [Apply(IMUL, dims[n], dims[ndim + n]) for n in range(ndim)])


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        return cross(a, b, axis, axis, axis)
    a, b = np.asarray(a), np.asarray(b)
    if not -a.ndim <= axisa < a.ndim:
        raise np.exceptions.AxisError(axisa, a.ndim, "axisa")
    if not -b.ndim <= axisb < b.ndim:
        raise np.exceptions.AxisError(axisb, b.ndim, "axisb")
    if axisa == -1 and axisb == -1:
        found = cross_of_last(a, b)
    else:
        found = cross_of_last(np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1))
    if axisc == -1:
        return found
    if not -found.ndim <= axisc < found.ndim:
        raise np.exceptions.AxisError(axisc, found.ndim, "axisc")
    return np.moveaxis(found, -1, axisc)


def cross_of_last(a, b):
    if THREE_ONLY and (a.shape[-1] != 3 or b.shape[-1] != 3):
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {a.shape[-1]} and "
                         f"{b.shape[-1]} dimensional instead.")
    if (a.shape[-1] != 2 and a.shape[-1] != 3) or (b.shape[-1] != 2 and b.shape[-1] != 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        raise NotImplementedError("the cross product of vectors that both have two components is not compiled: write "
                                  "a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]")
    z = np.multiply(a[..., 0:1], b[..., 1:2]) - np.multiply(a[..., 1:2], b[..., 0:1])
    found = np.empty(z.shape[:-1] + (3,), z.dtype)
    found[..., 2:3] = z
    if a.shape[-1] == 2:
        found[..., 0:1] = np.multiply(a[..., 1:2], b[..., 2:3])
        found[..., 1:2] = -np.multiply(a[..., 0:1], b[..., 2:3])
    elif b.shape[-1] == 2:
        found[..., 0:1] = -np.multiply(a[..., 2:3], b[..., 1:2])
        found[..., 1:2] = np.multiply(a[..., 2:3], b[..., 0:1])
    else:
        found[..., 0:1] = np.multiply(a[..., 1:2], b[..., 2:3]) - np.multiply(a[..., 2:3], b[..., 1:2])
        found[..., 1:2] = np.multiply(a[..., 2:3], b[..., 0:1]) - np.multiply(a[..., 0:1], b[..., 2:3])
    return found


def diagonal_length(n, m, offset):
    count = min(n, m - offset) if offset >= 0 else min(n + offset, m)
    return max(count, 0)


def diagonal_start(n, m, offset, down, right):
    if diagonal_length(n, m, offset) == 0:
        return 0
    return offset * right if offset >= 0 else -offset * down


@rule("np.trace")
def _trace(a, offset=0, axis1: Constant = 0, axis2: Constant = 1, dtype=None, out=None):
    a = as_array("trace", a)
    if a.type.ndim < 2:
        return Throw(ValueError, "diag requires an array of at least two dimensions")
    if offset.type in (k.Float, k.float64):
        raise Mismatch("integer argument expected, got float")
    offset = conversions.to_index(offset)
    ndim = a.type.ndim
    places = []
    for name, x in (("axis1", axis1), ("axis2", axis2)):
        if not -ndim <= x < ndim:
            return Throw(np.exceptions.AxisError,
                         f"{name}: axis {x} is out of bounds for array of dimension {ndim}")
        places.append(x % ndim)
    if places[0] == places[1]:
        return Throw(ValueError, "axis1 and axis2 cannot be the same")
    n, m = (Apply(ARRAY_DIM, a, axis=p) for p in places)
    down, right = (Apply(ARRAY_STRIDE, a, axis=p) for p in places)
    rest = [p for p in range(ndim) if p not in places]
    dims = [*(Apply(ARRAY_DIM, a, axis=p) for p in rest), Call(diagonal_length, n, m, offset)]
    strides = [*(Apply(ARRAY_STRIDE, a, axis=p) for p in rest), Apply(IADD, down, right)]
    view = Apply(ARRAY_VIEW, a, Call(diagonal_start, n, m, offset, down, right), *dims, *strides,
                 type=Array(a.type.dtype, ndim - 1, "A", False, a.type.aligned))
    return Call(sum_of_last, view, dtype or NONE, out or NONE)


def sum_of_last(a, dtype, out):
    if a.ndim == 1:
        return put_out(np.sum(a, dtype=dtype), out)
    return put_out(np.sum(a, axis=-1, dtype=dtype), out)


CALLS = {
    np.einsum: _einsum, np.tensordot: _tensordot, np.inner: _inner, np.vdot: _vdot, np.outer: _outer, np.kron: _kron,
    np.cross: compiled(cross), np.trace: _trace,
}
METHODS = methods(trace=_trace)
