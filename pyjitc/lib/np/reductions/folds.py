"""Templates of reductions, which fold the elements of an index space. passes/nests.py expands them; CPython never runs
them.

Sums of floats are pairwise with eight running sums over blocks of 128, and rows are added in order, which is NumPy's
own order (numpy/_core/src/umath/loops_utils.h.src, pairwise sum), so that float32 sums agree.
`how`: 'sum', 'prod', 'min', 'max', 'fmin', 'fmax' (of floats: without nan), 'any', 'all'; `t`: dtype of an element and
of the result.
"""
from __future__ import annotations

from functools import partial

import numpy as np

from ....infer.meaning import Apply, Const
from ....ops.arith import FADD, IADD, ILT, IMUL, ISUB
from ....ops.memory import ARRAY_LOAD, ARRAY_STORE, ARRAY_STRIDE, ARRAY_VIEW, HIDDEN, SUM_EIGHTS, item_bytes
from ....ops.math import FMAX_NUMBER, FMIN_NUMBER
from ....ops.parallel import INDEPENDENT
from ....ops.nest import ELEMENT, ELEMENT_UNIT, FLAT, IS_ARRAY, REPEATED, ROW, UNIT
from ....ops.structure import CHOOSE, SELECT
from ....types.kinds import Int
from ...build import derivatives, flagged, outlined
from ...intrinsics import as_type, identity
from ...rule import intrinsic
from ..elementwise.loops import as_row

__all__ = ["folded", "folded_axes", "dotted_rows", "dotted_columns"]

BLOCK = 128
BRIEF = 16  # the most elements of a row that is folded in a loop without vectors and polls
LOAD_PARALLEL, STORE_PARALLEL = (partial(op, parallel=True) for op in (ARRAY_LOAD, ARRAY_STORE))
CHEAP = 8  # the most operations of an element for which there is extra code for few elements
CONVERSION = 4  # the most operations of an element that is converted to another dtype
LEVELS = 6  # levels of halving of a sum on several threads; each part is longer than a part that is not halved further
PARTS = 1 << LEVELS
LARGE = 1 << 16  # the least number of elements of a sum that is computed on several threads
STRIP = 256  # columns that a thread folds at a time: with fewer, the rows of a strip are not read as fast
SHORT = 8  # elements of a row that are added to others at a time: a loop of constant length has no overhead before it


def combine(how, x, y):
    if how == "sum":
        return x + y
    if how == "prod":
        return x * y
    if how in ("fmin", "fmax"):
        return np.fmin(x, y) if how == "fmin" else np.fmax(x, y)
    if how in ("min", "max") and x.dtype.kind == "f":
        return CHOOSE(bool((x != x) | (y != y)), x + y, extreme_number(how, x, y))
    if how == "min":
        return np.minimum(x, y)
    if how == "max":
        return np.maximum(x, y)
    if how == "any":
        return x | y
    return x & y


def extreme_number(how, x, y):
    """The extreme of two numbers that are not nan: one instruction."""
    return FMAX_NUMBER(x, y) if how in ("max", "fmax") else FMIN_NUMBER(x, y)


def element(index, j, unit, t):
    """Element j of the row whose other indices are `index`."""
    if unit:
        return ELEMENT_UNIT(*index, j, type=t)
    return ELEMENT(*index, j, type=t)


def simple_row(total, index, n, how, unit, t):
    """Fold one element after the other, as NumPy does: x * 1 * 1 is not x where x is complex and infinite."""
    for j in range(n):
        total = combine(how, total, element(index, j, unit, t))
    return total


def eights(a, n, how):
    r0, r1, r2, r3 = ARRAY_LOAD(a, 0), ARRAY_LOAD(a, 1), ARRAY_LOAD(a, 2), ARRAY_LOAD(a, 3)
    r4, r5, r6, r7 = ARRAY_LOAD(a, 4), ARRAY_LOAD(a, 5), ARRAY_LOAD(a, 6), ARRAY_LOAD(a, 7)
    for j in range(8, n, 8):
        r0 = combine(how, r0, ARRAY_LOAD(a, j))
        r1 = combine(how, r1, ARRAY_LOAD(a, IADD(j, 1)))
        r2 = combine(how, r2, ARRAY_LOAD(a, IADD(j, 2)))
        r3 = combine(how, r3, ARRAY_LOAD(a, IADD(j, 3)))
        r4 = combine(how, r4, ARRAY_LOAD(a, IADD(j, 4)))
        r5 = combine(how, r5, ARRAY_LOAD(a, IADD(j, 5)))
        r6 = combine(how, r6, ARRAY_LOAD(a, IADD(j, 6)))
        r7 = combine(how, r7, ARRAY_LOAD(a, IADD(j, 7)))
    return combine(how, combine(how, combine(how, r0, r1), combine(how, r2, r3)),
                   combine(how, combine(how, r4, r5), combine(how, r6, r7)))


def fours(a, n, how):
    """NumPy counts the parts of complex numbers, so its eight running sums are four complex ones."""
    r0, r1, r2, r3 = ARRAY_LOAD(a, 0), ARRAY_LOAD(a, 1), ARRAY_LOAD(a, 2), ARRAY_LOAD(a, 3)
    for j in range(4, n, 4):
        r0 = combine(how, r0, ARRAY_LOAD(a, j))
        r1 = combine(how, r1, ARRAY_LOAD(a, IADD(j, 1)))
        r2 = combine(how, r2, ARRAY_LOAD(a, IADD(j, 2)))
        r3 = combine(how, r3, ARRAY_LOAD(a, IADD(j, 3)))
    return combine(how, combine(how, r0, r1), combine(how, r2, r3))


def few(index, n, how, t):
    """Fold one to seven elements of a row without a loop, whose overhead would exceed the work. It is no recursion
    either, since inference would type each step."""
    total = combine(how, identity(how, t), ELEMENT_UNIT(*index, 0, type=t))
    if n == 1:
        return total
    total = combine(how, total, ELEMENT_UNIT(*index, 1, type=t))
    if n == 2:
        return total
    total = combine(how, total, ELEMENT_UNIT(*index, 2, type=t))
    if n == 3:
        return total
    total = combine(how, total, ELEMENT_UNIT(*index, 3, type=t))
    if n == 4:
        return total
    total = combine(how, total, ELEMENT_UNIT(*index, 4, type=t))
    if n == 5:
        return total
    total = combine(how, total, ELEMENT_UNIT(*index, 5, type=t))
    if n == 6:
        return total
    total = combine(how, total, ELEMENT_UNIT(*index, 6, type=t))
    return total


def answer(index, n, how, t):
    """The result of `any` or `all` of a row; it stops at the first element that decides."""
    sought = np.bool_(how == "any")
    for j in range(SELECT(ILT(n, BRIEF), n, BRIEF)):
        if ELEMENT_UNIT(*index, j, type=t) == sought:
            return sought
    return ~sought


def running(t):
    """The number of partial sums of a row that are computed side by side; a row of fewer elements has one sum."""
    return 4 if t.kind == "c" else 8


@outlined
def block(a, n, how):
    """The fold of the first n elements of a row, with eight running results."""
    limit = limit_of(a.dtype)
    n = SELECT(ILT(n, limit), n, limit)  # n is not larger; with this the compiler knows it, and loops need no polls
    if n < running(a.dtype):
        total = identity(how, a.dtype)
        for j in range(n):
            total = combine(how, total, ARRAY_LOAD(a, j))
        return total
    rest = ISUB(n, n & (3 if a.dtype.kind == "c" else 7))
    total = (SUM_EIGHTS(a, rest) if a.dtype.kind == "f" and a.dtype.itemsize > 2 else fours(a, rest, how)
             if a.dtype.kind == "c" else eights(a, rest, how))
    for j in range(rest, n):
        total = combine(how, total, ARRAY_LOAD(a, j))
    return total


def extreme_row(index, n, how, unit, t):
    """(the extreme as if no element were nan, which takes one instruction for each; whether one is nan)"""
    extreme = identity(how, t)
    some_nan = False
    for j in range(n):
        x = element(index, j, unit, t)
        extreme = extreme_number(how, extreme, x)
        some_nan |= bool(x != x)
    return as_type(np.nan, t) if some_nan else extreme


def number_row(index, n, how, unit, t):
    """The extreme of the elements that are not nan; nan where all are."""
    # LLVM turns the selects into branches where it knows the value to be inf
    worst = HIDDEN(identity("max" if how == "fmax" else "min", t))
    extreme = worst
    some = False
    for j in range(n):
        x = element(index, j, unit, t)
        extreme = extreme_number(how, extreme, CHOOSE(bool(x == x), x, worst))
        some |= bool(x == x)
    return extreme if some else as_type(np.nan, t)


def brief_row(total, index, n, how, unit, t):
    """Fold few elements one after the other; their number is bounded, so that the loop needs no polls."""
    part = identity(how, t)
    for j in range(SELECT(ILT(n, BRIEF), n, BRIEF)):
        part = combine(how, part, element(index, j, unit, t))
    return part if total is None else combine(how, total, part)


@outlined
def long_row(a, count):
    """The pairwise sum of the first elements of a row: halves of halves down to blocks."""
    if count <= limit_of(a.dtype):
        return block(a, count, "sum")
    half = half_of(count, a.dtype)
    return long_row(a, half) + long_row(part_of(a, half), ISUB(count, half))


@intrinsic
def part_of(a, low):
    """The row from element `low` on. The length of the result is always 1, and must not be used."""
    step = Const(Int, item_bytes(a.type.dtype)) if a.type.layout == "C" else Apply(ARRAY_STRIDE, a, axis=0)
    return Apply(ARRAY_VIEW, a, Apply(IMUL, low, step), Const(Int, 1), step, type=a.type)


def sum_tangent(a, count, a_t, count_t):
    return long_row(a_t, count)


def sum_adjoint(a, count, a_, count_, g):
    for j in range(count):
        ARRAY_STORE(a_, j, ARRAY_LOAD(a_, j) + g)


derivatives(block, lambda a, n, a_t, n_t: block(a_t, n, "sum"), lambda a, n, a_, n_, g: sum_adjoint(a, n, a_, n_, g),
            of_complex=True)
derivatives(long_row, sum_tangent, sum_adjoint, of_complex=True)


def pairwise_row(index, first, n, how, unit, t, room):
    """The pairwise sum of n elements that are computed, or not aligned in memory. The recursion is written as a loop:
    `spans` is a stack of the remaining parts (start and count; count -1: add the last two sums), `sums` holds the sums
    so far."""
    buffer, spans, sums = room
    limit = limit_of(t)
    low, count = first, n
    todo = done = 0
    while True:
        if count > limit:
            half = half_of(count, t)
            push(spans, todo, 0, -1)
            push(spans, IADD(todo, 1), IADD(low, half), ISUB(count, half))
            todo = IADD(todo, 2)
            count = half
            continue
        if count < 0:
            done = ISUB(done, 1)
            ARRAY_STORE(sums, ISUB(done, 1), ARRAY_LOAD(sums, ISUB(done, 1)) + ARRAY_LOAD(sums, done))
        else:
            for j in range(SELECT(ILT(count, limit), count, limit)):  # the compiler knows that the loop is short
                ARRAY_STORE(buffer, j, element(index, IADD(low, j), unit, t))
            ARRAY_STORE(sums, done, block(buffer, count, how))
            done = IADD(done, 1)
        if todo == 0:
            return ARRAY_LOAD(sums, 0)
        todo = ISUB(todo, 1)
        low, count = int(ARRAY_LOAD(spans, IMUL(todo, 2))), int(ARRAY_LOAD(spans, IADD(IMUL(todo, 2), 1)))


def limit_of(t):
    """The most elements of a row that are added without halving it."""
    return BLOCK // 2 if t.kind == "c" else BLOCK


def half_of(count, t):
    if t.kind == "c":
        return ISUB(count, count & 7) >> 1
    return ISUB(count >> 1, (count >> 1) & 7)


def room_of(shape, how, t):
    """The buffers that the sum of a row needs; they are allocated once for all rows."""
    if is_pairwise(how, t):
        spans = 384 if last_size(shape, len(shape)) > limit_of(t) else 1
        return np.empty(BLOCK, t), np.empty(spans, np.int64), np.empty(spans, t)
    return ()


def is_pairwise(how, t):
    return how == "sum" and t.kind in "fc"


def push(spans, at, start, count):
    ARRAY_STORE(spans, IMUL(at, 2), np.int64(start))
    ARRAY_STORE(spans, IADD(IMUL(at, 2), 1), np.int64(count))


def row(total, index, n, how, unit, t, room):
    """`total` combined with the elements of the row."""
    if is_pairwise(how, t):
        if unit and IS_ARRAY(*index, 0, type=t, unit=True):
            if n < running(t):
                return brief_row(total, index, n, how, unit, t)
            return combine(how, total, long_row(ROW(*index, 0, type=t, unit=True), n))
        if REPEATED(most=CHEAP) and n < running(t):
            return brief_row(total, index, n, how, unit, t)
        if IS_ARRAY(*index, 0, type=t, unit=False):
            return combine(how, total, long_row(ROW(*index, 0, type=t, unit=False), n))
        return combine(how, total, pairwise_row(index, 0, n, how, unit, t, room))
    if how in ("fmin", "fmax"):
        return combine(how, total, number_row(index, n, how, unit, t))
    if how in ("min", "max") and t.kind == "f":
        return combine(how, total, extreme_row(index, n, how, unit, t))
    if t.kind == "f" and how == "prod" and unit and REPEATED(most=0) and (n > 0) & (n < 8):
        return combine(how, total, few(index, n, how, t))
    if t.kind in "biu" and unit and REPEATED(most=CONVERSION):
        if n <= BRIEF:
            if how == "any" or how == "all":
                return combine(how, total, answer(index, n, how, t))
            return brief_row(total, index, n, how, unit, t)
    return simple_row(total, index, n, how, unit, t)


@flagged(template="fold")
def folded(shape, how, t):
    """Template: fold all elements."""
    if len(shape) == 1 and is_pairwise(how, t):
        return pairwise(shape, how, t)
    room = room_of(shape, how, t)
    if len(shape) == 1:
        if UNIT(*shape):
            return row(identity(how, t), (), shape[0], how, True, t, room)
        return row(identity(how, t), (), shape[0], how, False, t, room)
    if UNIT(*shape):
        return rows(as_row(shape) if FLAT(*shape) else shape, (), identity(how, t), how, True, t, room)
    return rows(shape, (), identity(how, t), how, False, t, room)


def pairwise(shape, how, t):
    """Template: the sum of one row."""
    n = shape[0]
    if UNIT(n) and IS_ARRAY(0, type=t, unit=True):
        if (n > 0) & (n < running(t)):
            return few((), n, how, t)
        return combine(how, identity(how, t), long_row(ROW(0, type=t, unit=True), n))
    if REPEATED(most=CHEAP) and n < running(t):
        return brief_row(None, (), n, how, False, t)
    if IS_ARRAY(0, type=t, unit=False):
        return combine(how, identity(how, t), long_row(ROW(0, type=t, unit=False), n))
    if UNIT(n):
        return combine(how, identity(how, t), pairwise_row((), 0, n, how, True, t, room_of(shape, how, t)))
    return combine(how, identity(how, t), pairwise_row((), 0, n, how, False, t, room_of(shape, how, t)))


def folded_in_parts(shape, how, t):
    """Template: fold all elements under `parallel=True`. Parts of a long sum, which are parts of NumPy's pairwise sum
    as well, are computed on several threads. Loops of other folds are marked as parallel by passes/nests.py."""
    if not is_pairwise(how, t):
        return folded(shape, how, t)
    if len(shape) == 1:
        return parts_or_row(shape, how, t) if shape[0] >= LARGE else pairwise(shape, how, t)
    if FLAT(*shape) and last_size(shape, len(shape)) >= LARGE:
        return parts_or_row(as_row(shape), how, t)
    return folded(shape, how, t)


folded.in_parts = folded_in_parts


def parts_or_row(shape, how, t):
    if UNIT(*shape):
        return combine(how, identity(how, t), sum_of_parts(zeros(len(shape) - 1), shape[-1], how, True, t))
    return combine(how, identity(how, t), sum_of_parts(zeros(len(shape) - 1), shape[-1], how, False, t))


def sum_of_parts(index, n, how, unit, t):
    parts = np.empty(PARTS, t)
    for k in range(INDEPENDENT(PARTS, parts=True)):
        low, count = 0, n
        bit = PARTS >> 1
        for _ in range(LEVELS):  # down the tree of halves to its leaf k
            half = half_of(count, t)
            low, count = (IADD(low, half), ISUB(count, half)) if k & bit else (low, half)
            bit >>= 1
        if unit and IS_ARRAY(*index, 0, type=t, unit=True):
            total = long_row(ROW(*index, low, type=t, unit=True), count)
        else:
            total = pairwise_row(index, low, count, how, unit, t, room_of((count,), how, t))
        ARRAY_STORE(parts, k, total)
    width = PARTS >> 1
    for _ in range(LEVELS):
        for k in range(width):
            ARRAY_STORE(parts, k, ARRAY_LOAD(parts, IMUL(k, 2)) + ARRAY_LOAD(parts, IADD(IMUL(k, 2), 1)))
        width >>= 1
    return ARRAY_LOAD(parts, 0)


def rows(shape, index, total, how, unit, t, room):
    if len(index) == len(shape) - 1:
        return row(total, index, shape[-1], how, unit, t, room)
    for i in range(shape[len(index)]):
        total = rows(shape, index + (i,), total, how, unit, t, room)
    return total


@flagged(template="rows")
def dotted_rows(shape, t):
    """Template: the sums of the rows of a matrix, added in any order, as BLAS does for a matrix in memory."""
    out = np.empty(shape[0], t)
    if UNIT(*shape):
        for i in range(shape[0]):
            ARRAY_STORE(out, i, dotted_row((i,), shape[1], True, t))
    else:
        for i in range(shape[0]):
            ARRAY_STORE(out, i, dotted_row((i,), shape[1], False, t))
    return out


@flagged(template="columns")
def dotted_columns(shape, t):
    """Template: the sums of the columns of a matrix, added in any order."""
    return folded_axes(shape, (True, False), "sum", t)


def dotted_row(index, n, unit, t):
    total = identity("sum", t)
    for j in range(n):
        total = FADD(total, element(index, j, unit, t), loose=True)
    return total


def kept_shape(shape, reduced, k=0):
    if k == len(shape):
        return ()
    if reduced[k]:
        return kept_shape(shape, reduced, k + 1)
    return (shape[k],) + kept_shape(shape, reduced, k + 1)


def trailing(reduced, k):
    """The number of adjacent reduced axes that end with axis k."""
    return 0 if k < 0 or not reduced[k] else 1 + trailing(reduced, k - 1)


def last_size(shape, count):
    """The number of elements in the last `count` axes."""
    return 1 if count == 0 else IMUL(shape[-count], last_size(shape, count - 1))


def zeros(n):
    return () if n == 0 else (0,) + zeros(n - 1)


def room_of_axes(shape, reduced, how, t):
    """The buffers for sums over some axes: they are needed where the last axis is one of them. Otherwise rows are added
    to each other."""
    if reduced[len(shape) - 1]:
        return room_of(shape, how, t)
    return ()


@flagged(template="fold axes")
def folded_axes(shape, reduced, how, t):
    """Template: the array over the axes where `reduced` is False."""
    room = room_of_axes(shape, reduced, how, t)
    out = np.full(kept_shape(shape, reduced), identity(how, t))
    if UNIT(*shape):
        if trailing(reduced, len(shape) - 1) > 1 and FLAT(*shape):
            into(out, shape, reduced, (), (), how, True, True, t, room, 0, shape[-1])
        else:
            into(out, shape, reduced, (), (), how, True, False, t, room, 0, shape[-1])
    else:
        into(out, shape, reduced, (), (), how, False, False, t, room, 0, shape[-1])
    return out


def folded_axes_in_parts(shape, reduced, how, t):
    """Template: `folded_axes` under `parallel=True`. If the result keeps the first axis, each thread gets a part of
    that axis; if it keeps only the last axis, a strip of that. No thread changes the order in which elements are
    added."""
    if last_size(shape, len(shape)) < LARGE or shape[-1 if reduced[0] else 0] < (2 * STRIP if reduced[0] else 2):
        return folded_axes(shape, reduced, how, t)
    if reduced[0] and reduced[len(shape) - 1]:
        return folded_axes(shape, reduced, how, t)
    out = np.full(kept_shape(shape, reduced), identity(how, t))
    if reduced[0]:
        if UNIT(*shape):
            strips_into(out, shape, reduced, how, True, t)
        else:
            strips_into(out, shape, reduced, how, False, t)
    elif UNIT(*shape):
        if trailing(reduced, len(shape) - 1) > 1 and FLAT(*shape):
            parts_into(out, shape, reduced, how, True, True, t)
        else:
            parts_into(out, shape, reduced, how, True, False, t)
    else:
        parts_into(out, shape, reduced, how, False, False, t)
    return out


folded_axes.in_parts = folded_axes_in_parts


def strips_into(out, shape, reduced, how, unit, t):
    n = shape[-1]
    for k in range(INDEPENDENT(n // STRIP, parts=True)):
        low = IMUL(k, STRIP)
        high = IADD(low, STRIP)
        into(out, shape, reduced, (), (), how, unit, False, t, (), low, n if n - high < STRIP else high)


def parts_into(out, shape, reduced, how, unit, flat, t):
    n = shape[0]
    for k in range(INDEPENDENT(PARTS, parts=True)):
        room = room_of_axes(shape, reduced, how, t)
        for i in range(IMUL(n, k) >> LEVELS, IMUL(n, IADD(k, 1)) >> LEVELS):
            into(out, shape, reduced, (i,), (i,), how, unit, flat, t, room, 0, shape[-1])


def into(out, shape, reduced, index, place, how, unit, flat, t, room, low, high):
    """Fold the elements below `index` into out[place]. low, high: the part of the last axis, where the result keeps
    that axis."""
    k = len(index)
    last = trailing(reduced, len(shape) - 1)
    if flat and k == len(shape) - last:
        ARRAY_STORE(out, *place,
                    row(ARRAY_LOAD(out, *place), index + zeros(last - 1), last_size(shape, last), how, unit, t, room))
    elif k < len(shape) - 1:
        for i in range(shape[k]):
            into(out, shape, reduced, index + (i,), place if reduced[k] else place + (i,), how, unit, flat, t, room,
                 low, high)
    elif reduced[k]:
        ARRAY_STORE(out, *place, row(ARRAY_LOAD(out, *place), index, shape[k], how, unit, t, room))
    else:
        n = ISUB(high, low)
        rest = IADD(low, ISUB(n, n & (SHORT - 1))) if unit else low
        for first in range(low, rest, SHORT):
            for j in range(SHORT):
                add_in(out, place, index, IADD(first, j), how, unit, t)
        if unit and n & 4:
            for j in range(4):
                add_in(out, place, index, IADD(rest, j), how, unit, t)
            rest = IADD(rest, 4)
        for j in range(rest, high):
            add_in(out, place, index, j, how, unit, t)


def add_in(out, place, index, j, how, unit, t):
    """Fold an element into out[place]. No other j accesses this element: `out` is a new array."""
    STORE_PARALLEL(out, *place, j, combine(how, LOAD_PARALLEL(out, *place, j), element(index, j, unit, t)))
