"""Boolean masks: counting, copying and writing the selected elements, and finding their positions.

Masks are read as bytes that are 0 or 1. Several are handled in one register, and runs of False are skipped.
"""
from __future__ import annotations

import numpy as np

from ....infer.meaning import Apply, Call, Const, Nest
from ....ops.arith import CAST, IADD, IAND, ILT, IMUL, ISUB
from ....ops.memory import ARRAY_DIM, ARRAY_LOAD, ARRAY_STORE
from ....ops.nest import ELEMENT, ELEMENT_UNIT, FLAT, OVERLAPS, PUT, PUT_UNIT, UNIT
from ....ops.structure import SELECT, TUPLE_MAKE
from ....types import kinds as k
from ....types.kinds import Bool, Int, NpBool
from ....types.lattice import dtype_of
from ...build import derivatives, gathering, outlined, unoptimised
from ...rule import intrinsic
from ..elementwise.loops import as_row, cast0, no_array, room
from ..shapes.views import unaliased, view_as

__all__ = ["in_order", "one_axis", "count_true", "masked", "fill_masked", "put_masked", "put_selected", "find_true",
           "positions", "truths"]


FEW = 64  # a mask is sparse if it has at least so many elements for each true one


@intrinsic
def in_order(*arrays):
    """Whether all arrays have the same number of axes, more than one, and are in C order, so that they can be visited
    as one axis."""
    return Const(Bool, len({a.type.ndim for a in arrays}) == 1
                 and all(a.type.ndim > 1 and a.type.layout == "C" for a in arrays))


def one_axis(a):
    return view_as(a, (a.size,))


def sum_of_bytes(mask, start, count):
    """The number of true elements among `count` < 256. The count fits in a byte, so that a register counts many bytes
    at once."""
    some = np.uint8(0)
    for j in range(count):
        some = IADD(some, CAST(ARRAY_LOAD(mask, IADD(start, j)), type=k.uint8))
    return CAST(some, type=Int)


@outlined
def count_true(mask):
    if in_order(mask):
        return count_true(one_axis(mask))
    total = 0
    if mask.ndim == 0:
        return 1 if mask[()] else 0
    if mask.ndim == 1:
        n = len(mask)
        whole = ISUB(n, IAND(n, 127))
        for i in range(0, whole, 128):
            total = IADD(total, sum_of_bytes(mask, i, 128))
        total = IADD(total, sum_of_bytes(mask, whole, ISUB(n, whole)))
    else:
        for i in range(len(mask)):
            total = IADD(total, count_true(mask[i]))
    return total


@gathering
def masked(a, mask):
    if in_order(a, mask):
        return masked(one_axis(a), one_axis(mask))
    n = count_true(mask)
    out = np.empty(IADD(n, 1), a.dtype)[:n]  # copy_masked writes one element more than it keeps
    copy_true(out, a, mask, n)
    return out


def masked_tangent(a, mask, a_t, mask_t):
    return masked(a_t, mask)


def masked_adjoint(a, mask, a_, mask_, g):
    give_back(a_, mask, g, 0)


def give_back(a_, mask, g, taken):
    """Add the elements of g to those that the mask selects; returns how many were added."""
    for i in range(len(mask)):
        if mask.ndim > 1:
            taken = give_back(a_[i], mask[i], g, taken)
        elif mask[i]:
            a_[i] += g[taken]
            taken = IADD(taken, 1)
    return taken


derivatives(masked, masked_tangent, masked_adjoint, "mask", of_complex=True)


@outlined
def copy_true(out, a, mask, n):
    if mask.ndim == 1 and a.dtype.itemsize == 8 and a.dtype.kind in "fiu" and IMUL(n, FEW) < len(mask):
        # First find the positions, for which `out` has room: then loads of several elements overlap, instead of each
        # waiting for the search of the next position.
        places = out.view(np.int64)
        find_true((places,), mask, (), 0)
        for i in range(n):
            ARRAY_STORE(out, i, ARRAY_LOAD(a, int(ARRAY_LOAD(places, i))))
    else:
        copy_masked(out, a, mask, 0)


def any_of_eight(mask, i):
    return (ARRAY_LOAD(mask, i) | ARRAY_LOAD(mask, IADD(i, 1)) | ARRAY_LOAD(mask, IADD(i, 2))
            | ARRAY_LOAD(mask, IADD(i, 3))
            | ARRAY_LOAD(mask, IADD(i, 4)) | ARRAY_LOAD(mask, IADD(i, 5)) | ARRAY_LOAD(mask, IADD(i, 6))
            | ARRAY_LOAD(mask, IADD(i, 7)))


def copy_masked(out, a, mask, at):
    """Copy the selected elements. Every element is written, and the position advances where the mask is true, so that
    there is no branch to mispredict."""
    if mask.ndim == 1:
        n = len(mask)
        whole = ISUB(n, IAND(n, 63))
        for block in range(0, whole, 64):  # most masks have long runs of False
            some = sum_of_bytes(mask, block, 64)
            if some == 64:
                for i in range(64):
                    ARRAY_STORE(out, IADD(at, i), ARRAY_LOAD(a, IADD(block, i)))
                at = IADD(at, 64)
            elif some > 0:
                for i in range(block, IADD(block, 64), 8):
                    if any_of_eight(mask, i):
                        for j in range(i, IADD(i, 8)):
                            ARRAY_STORE(out, at, ARRAY_LOAD(a, j))
                            at = IADD(at, CAST(ARRAY_LOAD(mask, j), type=Int))
        for i in range(whole, n):
            ARRAY_STORE(out, at, ARRAY_LOAD(a, i))
            at = IADD(at, CAST(ARRAY_LOAD(mask, i), type=Int))
    else:
        for i in range(len(mask)):
            at = copy_masked(out, a[i], mask[i], at)
    return at


def fill_masked(a, mask, value):
    if in_order(a, mask):
        fill_masked(one_axis(a), one_axis(mask), value)
    elif mask.ndim == 1:
        n = len(mask)
        whole = ISUB(n, IAND(n, 63))
        for block in range(0, whole, 64):
            if sum_of_bytes(mask, block, 64) > 0:
                fill_some(a, mask, value, block, IADD(block, 64))
        fill_some(a, mask, value, whole, n)
    else:
        for i in range(len(mask)):
            fill_masked(a[i], mask[i], value)


def fill_some(a, mask, value, start, stop):
    for i in range(start, stop):
        if ARRAY_LOAD(mask, i):
            ARRAY_STORE(a, i, value)


def put_masked(a, mask, value):
    if value.ndim > 1:
        raise TypeError("NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
                        f"input has {value.ndim} dimensions")
    n = count_true(mask)
    if len(value) != n and len(value) != 1:
        raise ValueError(f"NumPy boolean array indexing assignment cannot assign {len(value)} input values to the {n} "
                         f"output values where the mask is true")
    write_masked(a, unaliased(mask, a), unaliased(value, a), 0, 0 if len(value) == 1 else 1)


def stored_where(shape, target, mask, t):
    """Template: write the elements where the mask is true. A block with some true elements is computed as a whole, in
    vectors."""
    mask = unaliased(mask, target)
    separate = OVERLAPS(target)
    fresh = room(shape, t) if separate else no_array(shape, t)
    some = np.empty(64, t)
    if UNIT(*shape):
        put_rows((target, fresh, separate), mask, as_row(shape) if in_order(target, mask) and FLAT(*shape) else shape,
                 (), some, True)
    else:
        put_rows((target, fresh, separate), mask, shape, (), some, False)
    if separate:
        put_back_where(target, fresh, mask)


def put_rows(place, mask, shape, index, some, unit):
    axis = len(index)
    if axis < len(shape) - 1:
        for i in range(shape[axis]):
            put_rows(place, mask, shape, index + (i,), some, unit)
    else:
        for block in range(0, shape[axis], 64):
            left = ISUB(shape[axis], block)
            count = SELECT(ILT(left, 64), left, 64)
            true = np.uint8(0)
            for j in range(count):
                true = IADD(true, CAST(ARRAY_LOAD(mask, *index, IADD(block, j)), type=k.uint8))
            if true != 0:
                for j in range(count):
                    if unit:
                        ARRAY_STORE(some, j, ELEMENT_UNIT(*index, IADD(block, j), type=some.dtype))
                    else:
                        ARRAY_STORE(some, j, ELEMENT(*index, IADD(block, j), type=some.dtype))
                for j in range(count):
                    if ARRAY_LOAD(mask, *index, IADD(block, j)):
                        if unit:
                            PUT_UNIT(*place, *index, IADD(block, j), ARRAY_LOAD(some, j))
                        else:
                            PUT(*place, *index, IADD(block, j), ARRAY_LOAD(some, j))


@unoptimised
def put_back_where(target, fresh, mask):
    if mask.ndim == 1:
        for i in range(len(mask)):
            if ARRAY_LOAD(mask, i):
                ARRAY_STORE(target, i, ARRAY_LOAD(fresh, i))
    else:
        for i in range(len(mask)):
            put_back_where(target[i], fresh[i], mask[i])


@intrinsic
def put_selected(a, mask, value):
    """a[mask] = value. Where the value is computed from elements that the same mask selects, passes/fusion.py makes no
    array of them."""
    if value.type.ndim != 1 or mask.type.ndim == 0 or not all(k.is_number(x.type.dtype) or x.type.dtype is NpBool
                                                              for x in (a, value)) \
            or k.is_complex(value.type.dtype) and not k.is_complex(a.type.dtype):
        return Call(put_masked, a, mask, value)
    shape = [Apply(ARRAY_DIM, a, axis=j) for j in range(a.type.ndim)]
    return Nest(stored_where, [Apply(TUPLE_MAKE, *shape, cls=None), a, mask], cast0,
                [Const(k.DType(a.type.dtype), dtype_of(a.type.dtype))], [value], into=True, ndim=a.type.ndim,
                dtype=a.type.dtype, instead=put_masked)


def write_masked(a, mask, value, at, step):
    if in_order(a, mask):
        at = write_masked(one_axis(a), one_axis(mask), value, at, step)
    elif mask.ndim == 1:
        for i in range(len(mask)):
            if ARRAY_LOAD(mask, i):
                a[i] = ARRAY_LOAD(value, at)
                at = IADD(at, step)
    else:
        for i in range(len(mask)):
            at = write_masked(a[i], mask[i], value, at, step)
    return at


def truths(a):
    """The mask that is true where `a` is not zero."""
    if a.dtype.kind in "mM":
        return a.view(np.int64) != 0
    return a if a.dtype == np.bool_ else a != 0


def positions(a):
    """The indices of the elements that are not zero: a tuple of arrays, one for each axis."""
    mask = truths(a)
    n = count_true(mask)
    outs = places(IADD(n, 1), mask.ndim)
    find_true(outs, mask, (), 0)
    return shortened(outs, n, 0)


def places(n, k):
    return () if k == 0 else (np.empty(n, np.int64),) + places(n, k - 1)


def shortened(outs, n, k):
    return () if k == len(outs) else (outs[k][:n],) + shortened(outs, n, k + 1)


def find_true(outs, mask, index, at):
    """Store the indices of true elements in outs, from position `at` on; outs have room for one more."""
    if mask.ndim == 1:
        n = len(mask)
        whole = ISUB(n, IAND(n, 63))
        for block in range(0, whole, 64):
            if sum_of_bytes(mask, block, 64) > 0:
                at = find_some(outs, mask, index, at, block, IADD(block, 64))
        at = find_some(outs, mask, index, at, whole, n)
    else:
        for i in range(len(mask)):
            at = find_true(outs, mask[i], index + (i,), at)
    return at


def find_some(outs, mask, index, at, start, stop):
    """As `find_true`, for the elements from `start` to `stop`. Every index is written, and the position advances where
    the mask is true."""
    for i in range(start, stop):
        write_index(outs, index + (i,), at, 0)
        at = IADD(at, CAST(ARRAY_LOAD(mask, i), type=Int))
    return at


def write_index(outs, index, at, k):
    if k < len(index):
        ARRAY_STORE(outs[k], at, np.int64(index[k]))
        write_index(outs, index, at, k + 1)
