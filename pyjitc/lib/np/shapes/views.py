"""Views of arrays by basic indexing (integers, slices, `...`, newaxis), assignments to views, and attributes of arrays.

A view is arithmetic on the byte offset and strides; single elements are loaded and stored in subscripts.py.
Source of the rules: NumPy user guide, "Indexing on ndarrays", basic indexing.
"""
from __future__ import annotations

import numpy as np

from ....base.lazy import lazy
from ....infer.meaning import Apply, Call, CallValue, Const, Expr, Mismatch, Throw
from ....ops.arith import CAST, IADD, ILT, IMUL, ISUB
from ....ops.memory import ARRAY_DATA, ARRAY_DIM, ARRAY_NEW, ARRAY_STORE, ARRAY_STRIDE, ARRAY_VIEW, CHECK_INDEX
from ....ops.structure import RETYPE, SELECT, SLICE_GET, TUPLE_GET, TUPLE_MAKE
from ....types.kinds import (Array, Bool, DType, Int, NoneType, NpBool, NpInt, Record, Slice, is_complex,
                             is_scalar, uint64)
from ....types.lattice import dtype_of, part_of
from ...build import is_sequence
from ...protocol import protocol_of
from ...intrinsics import store_all
from ...py.operators import as_int
from ...rule import intrinsic, rule

conversions = lazy("pyjitc.lib.py.conversions")

__all__ = ["getattr_", "ZERO", "ONE", "item_bits", "transpose", "transposed", "boxed",
           "each", "elements", "view_as", "read_only", "overlap", "is_contiguous", "place", "duplicate", "unaliased"]

ZERO, ONE = Const(Int, 0), Const(Int, 1)
_NO_INDEX = "slice indices must be integers or None or have an __index__ method"


def item_bits(t) -> int:
    """Size of one element of NumPy scalar type `t` in memory, in bits."""
    return 8 if t is NpBool else t.bits


def _clamped(x):
    """A uint64 as a bound of a slice: numbers beyond int64 are clamped, since no axis is so long."""
    return 9223372036854775807 if x > 9223372036854775807 else CAST(x, type=Int)


def slice_bounds(start, stop, step, n):
    """(first index, step, count) of a slice on an axis of length n. Source: CPython's PySlice_AdjustIndices."""
    if step is None:
        step = 1
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < -9223372036854775807:
        step = -9223372036854775807
    if start is None:
        start = n - 1 if step < 0 else 0
    else:
        if start < 0:
            start = IADD(start, n)
            if start < 0:
                start = -1 if step < 0 else 0
        elif start >= n:
            start = n - 1 if step < 0 else n
    if stop is None:
        stop = -1 if step < 0 else n
    else:
        if stop < 0:
            stop = IADD(stop, n)
            if stop < 0:
                stop = -1 if step < 0 else 0
        elif stop >= n:
            stop = n - 1 if step < 0 else n
    if step < 0:
        count = (ISUB(start, stop) - 1) // ISUB(0, step) + 1 if stop < start else 0
    else:
        count = (ISUB(stop, start) - 1) // step + 1 if start < stop else 0
    return start, step, count


def _clamped_bound(x: Expr, n: Expr, absent: Expr) -> Expr:
    """A bound of a slice with step 1 on an axis of length n, clamped without branches."""
    if x.type is NoneType:
        return absent
    if x.known:
        if x.value == 0:
            return ZERO
        if x.value > 0:
            return Apply(SELECT, Apply(ILT, x, n), x, n)
        x = Apply(IADD, n, x)
    else:
        x = Apply(SELECT, Apply(ILT, x, ZERO), Apply(IADD, x, n), x)
        x = Apply(SELECT, Apply(ILT, x, n), x, n)
    return Apply(SELECT, Apply(ILT, x, ZERO), ZERO, x)


def _constant(x: Expr, absent):
    return absent if x.type is NoneType else int(x.value) if x.known else None


def _unit_bounds(start, stop, n):
    """(first index, count) of a slice with step 1"""
    low, high = _constant(start, 0), _constant(stop, 0)
    if low is not None and low >= 0 and high is not None and (high < 0 or stop.type is NoneType):
        # n - low + high for every n, and the same value for a[1:-1], a[2:] and a[:-2]
        if low - high > 2**62:
            return _clamped_bound(start, n, ZERO), ZERO
        count = n if low == high else Apply(IADD, n, Const(Int, high - low))
        return (_clamped_bound(start, n, ZERO), count if low == high
                else Apply(SELECT, Apply(ILT, count, ZERO), ZERO, count))
    first = _clamped_bound(start, n, ZERO)
    count = Apply(ISUB, _clamped_bound(stop, n, n), first)
    return first, Apply(SELECT, Apply(ILT, count, ZERO), ZERO, count)


def _part(s: Expr, field: str) -> Expr:
    if s.known:
        value = getattr(s.value, field)
        if value is None:
            return Const(NoneType, None)
        if not hasattr(type(value), "__index__"):
            raise Mismatch(_NO_INDEX)
        return Const(Int, max(min(int(value), 2**63 - 1), -2**63))
    x = Apply(SLICE_GET, s, field=field)
    if x.type is NoneType:
        return x
    if x.type is uint64:
        return Call(_clamped, x)
    if x.type is not Int and x.type is not Bool and not isinstance(x.type, NpInt):
        raise Mismatch(_NO_INDEX)
    return as_int(x)


def view(a: Expr, items: list[Expr], dots: bool) -> Expr:
    """The view a[items]; every item is an integer, a Slice or None."""
    offset, shape, strides = None, [], []
    axis = 0
    # stays true while there are integers, then at most one slice of step 1, then full slices
    contiguous = a.type.layout == "C"
    fortran = a.type.layout == "F"
    led = True
    for x in items:
        t = x.type
        if t is NoneType:
            shape.append(ONE)
            strides.append(ZERO)
            continue
        n = Apply(ARRAY_DIM, a, axis=axis)
        stride = Apply(ARRAY_STRIDE, a, axis=axis)
        if isinstance(t, Slice):
            if x.known and x.value == slice(None):
                shape.append(n)
                strides.append(stride)
                led = False
            else:
                step = _part(x, "step")
                if step.type is NoneType or step.known and step.value == 1:
                    first, count = _unit_bounds(_part(x, "start"), _part(x, "stop"), n)
                    moved = Apply(IMUL, first, stride)
                    shape.append(count)
                    strides.append(stride)
                    contiguous = contiguous and led
                elif step.known and step.value == -1 and _part(x, "start").type is _part(x, "stop").type is NoneType:
                    last = Apply(SELECT, Apply(ILT, n, ONE), ZERO, Apply(ISUB, n, ONE))
                    moved = Apply(IMUL, last, stride)
                    shape.append(n)
                    strides.append(Apply(IMUL, Const(Int, -1), stride))
                    contiguous = False
                else:
                    bounds = Call(slice_bounds, _part(x, "start"), _part(x, "stop"), step, n)
                    first = Apply(TUPLE_GET, bounds, index=0)
                    moved = Apply(IMUL, first, stride)
                    shape.append(Apply(TUPLE_GET, bounds, index=2))
                    strides.append(Apply(IMUL, Apply(TUPLE_GET, bounds, index=1), stride))
                    contiguous = False
                fortran = False
                led = False
                # an empty slice may start one past the end: the pointer must not move there
                offset = moved if offset is None else Apply(IADD, offset, moved)
        else:
            contiguous = contiguous and led
            fortran = False
            at = Apply(CHECK_INDEX, as_int(x), n, axis=axis)
            # an axis of length 1 may have any stride, but then the index is 0
            is_unit = axis == {"C": a.type.ndim - 1, "F": 0}.get(a.type.layout)
            moved = Apply(IMUL, at, Const(Int, item_bits(a.type.dtype) // 8) if is_unit else stride)
            offset = moved if offset is None else Apply(IADD, offset, moved)
        axis += 1
    ndim = len(shape)
    if ndim == 0:
        contiguous = True
    layout = "C" if contiguous else "F" if fortran and not any(x.type is NoneType for x in items) else "A"
    if layout == "F" and ndim == 1:
        layout = "C"
    t = Array(a.type.dtype, ndim, layout, a.type.writable, a.type.aligned)
    return Apply(ARRAY_VIEW, a, ZERO if offset is None else offset, *shape, *strides, type=t)


def put_whole(target, value):
    if isinstance(value, np.ndarray) and value.ndim > target.ndim:
        if value.shape[0] != 1:
            raise ValueError(f"could not broadcast input array from shape {shape_text(value.shape)} into shape "
                             f"{shape_text(target.shape)}")
        put_whole(target, value[0])
    else:
        store_all(target, value)


def fill(a, value):
    if a.ndim == 0:
        a[()] = value
    elif a.ndim == 1:
        for i in range(len(a)):
            a[i] = value
    else:
        for i in range(len(a)):
            fill(a[i], value)


def copy_elements(target, source):
    if target.ndim == 0:
        target[()] = source[()]
    elif source.ndim < target.ndim:
        for i in range(len(target)):
            copy_elements(target[i], source)
    elif target.ndim == 1:
        if len(source) == 1:
            value = source[0]
            for i in range(len(target)):
                target[i] = value
        else:
            for i in range(len(target)):
                target[i] = source[i]
    elif len(source) == 1:
        for i in range(len(target)):
            copy_elements(target[i], source[0])
    else:
        for i in range(len(target)):
            copy_elements(target[i], source[i])


def place(shape, i, n):
    """The multi-index of element i, counted in C order, of an array with the lengths shape[:n]."""
    if n == 0:
        return ()
    return place(shape, i // shape[n - 1] if n > 1 else 0, n - 1) + (i % shape[n - 1],)


def shape_text(shape, k=0):
    if k == 0 and len(shape) == 1:
        return f"({shape[0]},)"
    if k == len(shape):
        return ")"
    if k == 0:
        return f"({shape[0]}{shape_text(shape, 1)}"
    return f",{shape[k]}{shape_text(shape, k + 1)}"


def low_address(a, k, low):
    if k == a.ndim:
        return low
    s = ARRAY_STRIDE_OF(a, k)
    return low_address(a, k + 1, IADD(low, IMUL(s, a.shape[k] - 1)) if s < 0 else low)


def high_address(a, k, high):
    if k == a.ndim:
        return IADD(high, a.itemsize)
    s = ARRAY_STRIDE_OF(a, k)
    return high_address(a, k + 1, IADD(high, IMUL(s, a.shape[k] - 1)) if s > 0 else high)


def ARRAY_STRIDE_OF(a, k):
    return a.strides[k]


def overlap(a, b):
    """Whether the memory ranges of two arrays overlap."""
    if a.size == 0 or b.size == 0:
        return False
    return low_address(a, 0, ARRAY_DATA(a)) < high_address(b, 0, ARRAY_DATA(b)) and \
        low_address(b, 0, ARRAY_DATA(b)) < high_address(a, 0, ARRAY_DATA(a))


@intrinsic
def is_contiguous(a):
    """Whether the type of `a` says that it is in C order."""
    return Const(Bool, a.type.layout == "C")


def duplicate(a):
    """A fresh C-ordered copy."""
    fresh = new_like(a)
    copy_elements(fresh, a)
    return fresh


def elements(x: Expr) -> list[Expr]:
    """The items of a tuple or of a list display; any other value as the only item."""
    return protocol_of(x.type).elements(x) if is_sequence(x.type) else [x]


@intrinsic
def each(function, items, *more):
    """The tuple of function(item, *more) for each item of a tuple."""
    return Apply(TUPLE_MAKE, *[CallValue(function, item, *more) for item in elements(items)], cls=None)


@intrinsic
def view_as(a, shape):
    """The elements of an array that is contiguous or has one axis, under another shape."""
    parts = elements(shape)
    t = a.type
    step = Apply(ARRAY_STRIDE, a, axis=0) if t.layout != "C" else Const(Int, item_bits(t.dtype) // 8)
    strides = []
    for n in reversed(parts):
        strides.append(step)
        step = Apply(IMUL, step, n)
    made = Array(t.dtype, len(parts), "C" if t.layout == "C" else "A", t.writable, t.aligned)
    return Apply(ARRAY_VIEW, a, ZERO, *parts, *reversed(strides), type=made)


@intrinsic
def read_only(a):
    """The array with a type that is not writable."""
    t = a.type
    return Apply(RETYPE, a, type=Array(t.dtype, t.ndim, t.layout, False, t.aligned))


@intrinsic
def is_writable(a):
    """Whether the type of `a` says so."""
    return Const(Bool, a.type.writable)


def unaliased(x, target):
    """`x`, or a copy of it where writing to the target could change it."""
    return duplicate(x) if overlap(target, x) else x


def product(shape, k, total):
    if k == len(shape):
        return total
    return product(shape, k + 1, IMUL(total, shape[k]))


def size_of(a):
    return product(a.shape, 0, 1)


@intrinsic
def new_like(a):
    """A fresh uninitialised C array of the shape and dtype of the operand."""
    dims = [Apply(ARRAY_DIM, a, axis=k) for k in range(a.type.ndim)]
    return Apply(ARRAY_NEW, *dims, type=Array(a.type.dtype, a.type.ndim), zero=False)


def transpose(a: Expr) -> Expr:
    n = a.type.ndim
    layout = {"C": "F", "F": "C", "A": "A"}[a.type.layout] if n > 1 else a.type.layout
    t = Array(a.type.dtype, n, layout, a.type.writable, a.type.aligned)
    axes = range(n - 1, -1, -1)
    return Apply(ARRAY_VIEW, a, ZERO, *(Apply(ARRAY_DIM, a, axis=k) for k in axes),
                 *(Apply(ARRAY_STRIDE, a, axis=k) for k in axes), type=t)


def boxed(a, value):
    """The 0-d array `a` with this element."""
    ARRAY_STORE(a, value)
    return a


def strided(a: Expr) -> Expr:
    """The array with a type without a layout, for reading."""
    t = Array(a.type.dtype, a.type.ndim, "A", False, a.type.aligned)
    return a if a.type is t else Apply(RETYPE, a, type=t)


def transposed(a):
    return a.T


def _size(a: Expr) -> Expr:
    total = None
    for k in range(a.type.ndim):
        n = Apply(ARRAY_DIM, a, axis=k)
        total = n if total is None else Apply(IMUL, total, n)
    return total or ONE


def _component(a: Expr, offset: int) -> Expr:
    """The view of the real or imaginary parts."""
    n, part = a.type.ndim, part_of(a.type.dtype)
    t = Array(part, n, "A" if n else "C", a.type.writable, a.type.aligned)
    return Apply(ARRAY_VIEW, a, Const(Int, offset * part.bits // 8), *(Apply(ARRAY_DIM, a, axis=k) for k in range(n)),
                 *(Apply(ARRAY_STRIDE, a, axis=k) for k in range(n)), type=t)


def _real(a: Expr) -> Expr:
    return _component(a, 0) if is_complex(a.type.dtype) else a


def _imag(a: Expr) -> Expr:
    if is_complex(a.type.dtype):
        return _component(a, 1)
    dims = [Apply(ARRAY_DIM, a, axis=k) for k in range(a.type.ndim)]
    zeros = Apply(ARRAY_NEW, *dims, type=Array(a.type.dtype, a.type.ndim), zero=True)
    return Apply(RETYPE, zeros, type=Array(a.type.dtype, a.type.ndim, "C", False))


def _turned(a: Expr) -> Expr:
    """a.mT"""
    n = a.type.ndim
    if n < 2:
        return Throw(ValueError, "matrix transpose with ndim < 2 is undefined")
    if n == 2:
        return transpose(a)
    axes = [*range(n - 2), n - 1, n - 2]
    return Apply(ARRAY_VIEW, a, ZERO, *(Apply(ARRAY_DIM, a, axis=k) for k in axes),
                 *(Apply(ARRAY_STRIDE, a, axis=k) for k in axes),
                 type=Array(a.type.dtype, n, "A", a.type.writable, a.type.aligned))


ATTRIBUTES = {
    "shape": lambda a: Apply(TUPLE_MAKE, *(Apply(ARRAY_DIM, a, axis=k) for k in range(a.type.ndim)), cls=None),
    "strides": lambda a: Apply(TUPLE_MAKE, *(Apply(ARRAY_STRIDE, a, axis=k) for k in range(a.type.ndim)), cls=None),
    "ndim": lambda a: Const(Int, a.type.ndim),
    "size": _size,
    "itemsize": lambda a: Const(Int, item_bits(a.type.dtype) // 8),
    "nbytes": lambda a: Apply(IMUL, _size(a), Const(Int, item_bits(a.type.dtype) // 8)),
    "dtype": lambda a: Const(DType(a.type.dtype), dtype_of(a.type.dtype)),
    "T": transpose, "mT": _turned, "real": _real, "imag": _imag,
}
@rule("np.ndarray.fill")
def _fill(a, value, /):
    if not a.type.writable:
        return Throw(ValueError, "assignment destination is read-only")
    if is_scalar(value.type) and not isinstance(a.type.dtype, Record):
        dtype = a.type.dtype
        value = conversions.discarding(value, dtype, conversions.assign(conversions.element(value, dtype), dtype))
    return Call(fill, a, value)


METHODS = {
    "fill": _fill,
}


def getattr_(a: Expr, name: str):
    """The attribute as an expression, or None where arrays have no attribute of this name."""
    rule = ATTRIBUTES.get(name)
    return rule(a) if rule is not None else None
